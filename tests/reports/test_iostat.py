# ruff: noqa: E501 - lines as they are printed
"""iostat of any release: what is printed is read back, whatever the layout; what is damaged or cut off is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from planner.errors import InputError, ReportError
from planner.measurements import intervals, volume_runs
from planner.measurements.read import read
from planner.reports.iostat import exact_utilization, is_iostat, read_iostat
from tests.checkout import ROOT
from tests.reports.iostat_writer import LAYOUTS, Printed, Writing, any_writing, printed

TEXT = Writing(times="%Y-%m-%dT%H:%M:%S+0200")
DEVICE = "Device            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util\n"


def rows(content: str) -> list[tuple[object, ...]]:
    """What is read: time, name, rate, response, utilization."""
    found = read_iostat("given", content.encode()).devices
    assert found is not None
    some = found.filter(pl.col("label") != "every").select(
        "start", "label", "io_rate", "response", "utilization"
    )
    return some.rows()


def same(found: list[tuple[object, ...]], out: Printed) -> None:
    """Hold what was read against what was printed."""
    assert [row[:2] for row in found] == [row[:2] for row in out.rows]
    for got, wanted in zip(found, out.rows, strict=True):
        numbers = [[-1.0 if each is None else each for each in row[2:5]] for row in (got, wanted)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)


class TestLayouts:
    @pytest.mark.long
    @settings(max_examples=200, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_what_any_release_prints_is_read_back(self, random: Random) -> None:
        how = any_writing(random)
        how = replace(how, skip_first=how.pcp)
        out = printed(random, how, seconds=random.choice((1.0, 10.0, 60.0, 300.0)))
        if not out.rows:
            return
        assert is_iostat(out.text.encode())
        same(rows(out.text), out)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_text_and_json_of_a_release_say_the_same(self, layout: str) -> None:
        text, as_json = (
            printed(Random(5), replace(TEXT, layout=layout, json=json)) for json in (False, True)
        )
        assert rows(text.text) == rows(as_json.text) and len(text.rows) > 3

    def test_the_first_report_is_left_out_and_the_note_names_the_option_that_has_none(self) -> None:
        for json, times in product((False, True), (TEXT.times, None)):
            out = printed(Random(3), replace(TEXT, json=json, times=times))
            (note,) = (
                each for each in read_iostat("given", out.text.encode()).notes if "is left out" in each
            )
            assert "since the system was started" in note and "were iostat called with -y" in note
            same(rows(out.text), out)

    def test_two_runs_of_one_file_each_begin_with_a_report_since_the_start(self) -> None:
        for json in (False, True):
            out = printed(Random(3), replace(TEXT, json=json))
            later = out.text.replace("2026-03-0", "2026-04-0")
            found = read_iostat("given", (out.text + later).encode()).devices
            assert found is not None and found.height == 2 * len(out.rows)
            assert found["start"].dt.month().unique().sort().to_list() == [3, 4]

    def test_without_times_the_order_stands_for_them(self) -> None:
        out = printed(Random(3), replace(TEXT, times=None), reports=3)
        measured = read(out.text.encode())
        assert measured.devices["source"].unique(maintain_order=True).to_list() == ["report 2", "report 3"]
        assert measured.devices["start"].null_count() == measured.devices.height
        assert any("no times" in note for note in measured.notes)

    def test_a_clock_that_was_never_set_is_read(self) -> None:
        """Before year 1 there is no moment that the interval of the first report could have begun at."""
        text = (ROOT / "docs/examples/iostat.json").read_text(encoding="utf-8")
        early = text
        for minute in range(3):
            early = early.replace(f"2024-05-14T10:{12 + minute}:33", f"0001-01-01T00:0{minute}:33")
        assert [row[1:] for row in rows(early)] == [row[1:] for row in rows(text)]

    def test_a_single_report_is_read_and_said_to_be_one(self) -> None:
        content = f"Linux 5.14.0 (lnx1) \t05/06/24\n\n{DEVICE}dasda  300.00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n\n"
        assert rows(content) == [(None, "dasda", 400.0, pytest.approx(0.003), 0.8)]
        assert any("one report of lnx1 only" in note for note in read_iostat("given", content.encode()).notes)

    def test_decimal_commas_of_json_are_points(self) -> None:
        out = printed(Random(5), replace(TEXT, json=True)).text
        assert rows(re.sub(r"(?<=[0-9])\.(?=[0-9]{2}[,}])", ",", out)) == rows(out)

    def test_what_stands_between_reports_is_named(self) -> None:
        row = "dasda  300.00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n"
        content = f"$ iostat -x 60\n{DEVICE}{row}[...]\n{DEVICE}{row}\n^C\n"
        found = read_iostat("given", content.encode())
        assert found.devices is not None and found.devices.height == 1
        assert any(
            "3 lines not of iostat ignored, the first in line 1: $ iostat -x 60" in note
            for note in found.notes
        )

    def test_disks_by_path_have_device_numbers(self) -> None:
        content = f"{DEVICE}ccw-0.0.c28a  300.00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n\n"
        found = read_iostat("given", content.encode()).devices
        assert found is not None and found.select("device", "kind").row(0) == ("C28A", "volume")

    def test_a_counter_that_ran_backwards_leaves_its_row_out(self) -> None:
        content = (
            f"{DEVICE}dasda  300.00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n"
            "dasdb 590484765483660416.00 0.00 1.00 1.00 2.00 6.00 1.20 80.00\n\n"
        )
        found = read_iostat("given", content.encode())
        assert found.devices is not None and found.devices["label"].to_list() == ["dasda"]
        assert any("line 3: dasdb left out: r/s = 5.9e+17" in note for note in found.notes)


class TestUtilization:
    @pytest.mark.parametrize(
        ("release", "exact"),
        [("3.10.0-1062.el7", True), ("4.12.14-lp", True), ("4.18.0-305.el8.s390x", False), ("5.14.0", False),
         ("6.8.0", False), ("6.12.0", True), (None, False), ("x", False)],
    )  # fmt: skip
    def test_kernels_that_count_whole_ticks_give_an_upper_end_only(
        self, release: str | None, exact: bool
    ) -> None:
        assert exact_utilization(release) is exact
        head = "" if release is None else f"Linux {release} (lnx1) 2024-05-14\n\n"
        content = f"{head}{DEVICE}dasda  300.00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n\n"
        found = read_iostat("given", content.encode()).devices
        assert found is not None
        low, high = found.select("utilization_low", "utilization_high").row(0)
        assert low == pytest.approx(0.79995 if exact else 0.0)
        assert (
            high == pytest.approx(0.80005) if exact else 0.80005 <= high < 0.806
        )  # at 400/s few ticks are lost

    @pytest.mark.long
    @pytest.mark.first(1)
    @pytest.mark.parametrize(
        ("release", "exact"), [("5.3.0", False), ("5.14.0", False), ("6.12.0", True), ("4.12.0", True)]
    )
    def test_the_ends_hold_the_time_with_an_io_whatever_the_kernel_counts(
        self, release: str, exact: bool
    ) -> None:
        """Its counter, event by event, of simulated disks; slow ones were below the share that kernels of ticks print."""
        held, below = [], 0
        for seed, (service, load) in enumerate(product((0.0004, 0.002, 0.01, 0.04), (0.1, 0.3, 0.6, 0.9))):
            rate, seconds, used, counted = counted_by(release, service, load, seed)
            text = "".join(
                f"2026-03-01T10:{int(at // 60):02}:{int(at % 60):02}+0000\n{DEVICE}dasda {rate:.2f} 0.00 1.00 1.00 "
                f"{service * 1e3 / (1 - load):.2f} 0.00 1.20 {counted * 100:.2f}\n\n"
                for at in (0, seconds)
            )
            found = read_iostat("given", f"Linux {release} (lnx1) 2026-03-01\n\n{text}".encode()).devices
            assert found is not None
            low, high = found.select("utilization_low", "utilization_high").row(0)
            assert found["utilization"][0] == pytest.approx(counted, abs=1e-4)
            held.append(low <= used <= high)
            below += counted < 0.98 * used
            if exact:  # 60 s are 6,000 samples
                half = 1.645 * (used * (1 - used) / 6000) ** 0.5
                assert high - low == pytest.approx(2 * half + 1e-4, rel=0.25)
            else:
                assert low == 0.0 and high <= 1.0
        assert sum(held) >= (14 if exact else 16)  # 90 % of a share of samples
        assert exact or below >= 2


def counted_by(release: str, service: float, load: float, seed: int) -> tuple[float, float, float, float]:
    """Rate, seconds, share of the time with an I/O, and what a kernel counts of it, of a disk with random arrivals."""
    random, seconds, tick = Random(seed), 60.0, 0.01
    events: list[tuple[float, bool]] = []
    now = free = busy = 0.0
    while (now := now + random.expovariate(load / service)) < seconds:
        begin = max(now, free)
        free_then, free = free, begin + random.expovariate(1 / service)
        busy += free - max(now, free_then)
        events += [(now, False), (free, True)]
    present = stamp = counted = 0
    for time, is_end in sorted(events):
        passed = int(time / tick) - stamp
        if passed > 0:
            stamp += passed
            each_tick = release == "5.3.0" or (release == "5.14.0" and not is_end)
            counted += 1 if each_tick else passed * (present > 0)
        present += -1 if is_end else 1
    return len(events) / 2 / seconds, seconds, busy / seconds, min(counted * tick / seconds, 1.0)


class TestDamage:
    def test_json_that_is_cut_within_a_word_has_the_reports_before(self) -> None:
        out = printed(Random(11), replace(TEXT, json=True), reports=4)
        begin = out.text.rindex('"timestamp": "')
        for at in range(begin + len('"time'), out.text.index("\n", begin) - 2, 3):
            found = read_iostat("given", out.text[:at].encode())
            assert any("cut off in report 4" in note for note in found.notes)
            assert set(found.devices["start"]) == {row[0] for row in out.rows if row[0] != out.rows[-1][0]}

    @pytest.mark.long
    def test_a_file_that_is_cut_anywhere_gives_whole_reports_or_none(self) -> None:
        """At every place: only rows that were printed, all of each report before the cut, and a note of the loss."""
        for json in (False, True):
            out = printed(Random(11), replace(TEXT, json=json), reports=5)
            whole = rows(out.text)
            by_time = {time: [row for row in whole if row[0] == time] for time, *_ in whole}
            for at in range(len(out.text) // 3, len(out.text) - 1, 7):
                try:
                    found = read_iostat("given", out.text[:at].encode())
                except ReportError:
                    continue
                if any("one report of lnx1 only" in note for note in found.notes):
                    continue
                assert found.devices is not None
                got = found.devices.select("start", "label", "io_rate", "response", "utilization").rows()
                for time in dict.fromkeys(row[0] for row in got):
                    assert [row for row in got if row[0] == time] == by_time[time]
                    expected = [row for row in whole if row[0] <= time]
                assert got == expected
                last = out.text[:at].splitlines()[-1]
                if last.startswith(("dasd", "sda")) and out.text[at] != "\n":
                    assert any("cut off" in note for note in found.notes)

    @pytest.mark.long
    @pytest.mark.parametrize("parts", [False, True])
    def test_a_file_that_ends_with_any_line_of_its_last_report_but_the_last_says_so(
        self, *, parts: bool
    ) -> None:
        text = printed(Random(11), replace(TEXT, parts=parts), reports=4).text
        whole, lines = rows(text), text.splitlines(keepends=True)
        last = max(time for time, *_ in whole)
        stamps = [k for k, line in enumerate(lines) if line.strip() and lines[k + 1].startswith("avg-cpu")]
        for end in range(stamps[-1] + 1, len(lines)):
            cut = "".join(lines[:end])
            for content in (cut, cut.removesuffix("\n")):
                if rows(content) != whole:
                    assert rows(content) == [row for row in whole if row[0] != last]
                    assert any(
                        "cut off in report 4" in note for note in read_iostat("given", content.encode()).notes
                    )

    @pytest.mark.parametrize(
        ("content", "match"),
        [
            ("Device             tps    kB_read/s\ndasda  1.00 2.00\n\n", "iostat without -x: response times are missing; use -x"),
            (f"{DEVICE}dasda 1.00 1.00\ndasdb  1 1 1 1 1 1 1 1\n\n", "line 2: 2 numbers below 8 headings"),
            (f"{DEVICE}dasda  1 1 1 1 1 1 1 1\ndasdb 1.00 1.00\n\n", "line 3: the file is cut off in its only report"),
            (f"{DEVICE}dasda  300.00  1x0.00  1.00 1.00 2.00 6.00 1.20 80.00\n\n", "line 2, column 16: dasda: w/s is '1x0.00'"),
            (f"{DEVICE}dasda  300,00  100.00  1.00 1.00 2.00 6.00 1.20 80.00\n\n", "decimals with ',' before"),
            (f"{DEVICE}dasda  1 1 1 1 1 1 1 1\ndasda  1 1 1 1 1 1 1 1\n\n", "line 3: dasda a second time"),
            ("\ndasda  1 1 1 1 1 1 1 1\n" + DEVICE, "line 2: numbers without the headings"),
            (DEVICE.replace("w/s", "wx/s") + "dasda 1 1 1 1 1 1 1 1\n\n", "heading 'wx/s' is none of iostat"),
            (DEVICE.replace("w/s", "r/s") + "dasda 1 1 1 1 1 1 1 1\n\n", "heading 'r/s' .* stands there twice"),
            (DEVICE.replace("w_await", "f_await") + "dasda 1 1 1 1 1 1 1 1\n\n", "dasda: f/s is missing|w_await is missing"),
            ("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 1.0 2.0 3.0 4.0 5.0 6.0\n", "iostat -c prints no devices"),
            ("                    extended device statistics\nr/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device\n",
             "this is iostat of Solaris or FreeBSD; .* of Linux"),
            (f"{DEVICE}\n", "no disks"),
            ('{"sysstat": {"hosts": [{"nodename": "a", "statistics": [{"disk": [{"disk_device": "dasda", "tps": 1.00}]}]}]}}',
             "without -x: response times are missing; use -x"),
            ('{"sysstat": {"hosts": [{"nodename": "a", "statistics": [{"disk": [{"disk_device": "dasda", "r/s": 1.00, '
             '"r/s": 2.00}]}]}]}}', "'r/s' twice"),
            ('{"sysstat": {"hosts": [{"nodename": "a", "statistics": [{"disk": [{"disk_device": "dasda", "rx/s": 1.00}]}]}]}}',
             "'rx/s' is none of iostat"),
        ],
    )  # fmt: skip
    def test_refusals_say_where_and_what_would_do(self, content: str, match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read(content.encode())

    def test_a_file_that_cannot_be_opened(self, tmp_path: Path) -> None:
        with pytest.raises(ReportError, match="no such file"):
            read_iostat(tmp_path / "none")


HEADING = "Device:  rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm %util"
ROW = "dasda      0.00   2.00 99.00 7.00 224.0 224.0    4.26     1.12 10.57  7.96 84.40"


@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: "\n".join(f"> > {line}" for line in text.split("\n")),
        lambda text: "\n".join(f"# {line}" for line in text.split("\n")),
        lambda text: text.replace("dasda", "\x1b[32;1mdasda\x1b[0m").replace(
            "84.40", "\x1b[31m84.40\x1b(B\x1b[m\x1b[K"
        ),
        lambda text: text.replace("\ndasda", "\n(snip)\ndasda"),
    ],
    ids=["quoted", "a comment", "colors", "a word between"],
)
def test_a_log_as_people_keep_it_reads_the_same(disguise: Callable[[str], str]) -> None:
    plain, kept = (read(f"{text}\n".encode()).devices for text in (
        f"{HEADING}\n{ROW}", disguise(f"{HEADING}\n{ROW}"),
    ))  # fmt: skip
    assert plain.drop("line").equals(kept.drop("line"))
    assert plain["io_rate"].to_list() == [106]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            f"{HEADING.replace(' avgrq', chr(10) + 'avgrq')}\n{ROW}\n",
            "line 2: headings that go on .* wrapped",
        ),
        ("   extended device statistics\nr/s w/s %b device\n0.4 1.2 5.6 c0t0d0\n", "line 3: .*Solaris"),
    ],
)
def test_what_is_much_like_iostat_is_refused_for_what_it_is(text: str, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read_iostat("log", text.encode())


def test_disks_that_are_no_dasd_are_named() -> None:
    (rows,) = intervals(read(f"{HEADING}\n{ROW.replace('dasda', 'sda')}\n".encode()))
    with pytest.raises(InputError, match="there is none, and sda is no DASD: only those have aliases"):
        volume_runs(rows)


@pytest.mark.parametrize(
    "cpu", ["", "avg-cpu:  %user %nice %system %iowait %steal %idle\n  1.5 0.0 1.7 0.9 0.0 95.9\n\n"]
)
@pytest.mark.parametrize("lost", [0, 1])
def test_a_report_without_its_table_keeps_its_place(lost: int, cpu: str) -> None:
    """Found by fuzzing: the first interval went for the report since the system was started, whose table was lost."""
    times = [f"2026-03-01T10:0{k}:00\n" for k in range(4)] if not cpu else [""] * 4
    parts = [
        f"{time}{cpu}{'' if k == lost else f'{HEADING}{chr(10)}{ROW}{chr(10)}'}\n"
        for k, time in enumerate(times)
    ]
    found = read(("Linux 6.12.0 (a) \t2026-03-01\n\n" + "".join(parts)).encode()).devices
    kept = [k for k in (1, 2, 3) if k != lost]
    assert (found["source"] if cpu else found["start"]).to_list() == [
        f"report {k + 1}" if cpu else datetime(2026, 3, 1, 10, k - 1) for k in kept
    ]
    assert cpu or set(found["interval"]) == {60.0}


def test_samples_below_one_heading_are_reports_and_the_first_one_counts() -> None:
    """pcp iostat prints its heading once, and begins with an interval; one name twice in a sample is damage."""
    rows = [
        f"{name} 0.0 0.0 {rate} 0.0 1.0 0.0 4.0 0.1 2.5 2.5 0.0 9.0"
        for rate in (40, 60)
        for name in ("dasda", "dasdb")
    ]
    heading = "Device rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await %util"
    found = read("\n".join([f"# {heading}", *rows, ""]).encode()).devices
    assert found.select("source", "label", "io_rate").rows() == [
        ("report 1", "dasda", 40), ("report 1", "dasdb", 40), ("report 2", "dasda", 60), ("report 2", "dasdb", 60),
    ]  # fmt: skip
    stamped = [f"Tue Dec  1 18:59:{41 + k // 2} 2015 {row}" for k, row in enumerate(rows)]
    found = read("\n".join([f"# Timestamp      {heading}", *stamped, ""]).encode()).devices
    assert found["start"].to_list() == [datetime(2015, 12, 1, 18, 59, second) for second in (40, 40, 41, 41)]
    with pytest.raises(ReportError, match="line 4: dasda a second time"):
        read("\n".join([f"# Timestamp      {heading}", *stamped[:2], stamped[0], ""]).encode())


SAR = """Linux 6.12.0-1.s390x (lnx1) \t{0} \t_s390x_\t(4 CPU)

{1}        CPU     %user     %nice   %system   %iowait    %steal     %idle
{2}        all      1.00      0.00      0.70      0.02      0.01     98.00
Average:        all      1.00      0.00      0.70      0.02      0.01     98.00

{1}          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
{2}      dev94-0     12.31     20.12    101.22      0.00      9.85      0.02      1.21      1.32
{2}    dev94-104    212.31   2020.12   1101.22      0.00     14.70      0.42      1.98     31.32
{3}      dev94-0     14.31     20.12    101.22      0.00      8.48      0.02      1.21      1.52

{3}          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
{3}    dev94-104    252.31   2020.12   1101.22      0.00     12.37      0.52      2.08     38.32

{4}     LINUX RESTART      (4 CPU)

{5}          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
{6}      dev94-0     14.31     20.12    101.22      0.00      8.48      0.02      1.21      1.52
Average:      dev94-0     13.31     20.12    101.22      0.00      8.48      0.02      1.21      1.42

{1}        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
{2}         eth0      1.00      0.00      0.70      0.02      0.01     98.00      0.00      0.00
"""
CLOCKS = ("00:00:01", "00:10:01", "00:20:01", "03:11:07", "15:20:01", "15:30:01")


@pytest.mark.parametrize(
    ("day", "clocks"),
    [
        ("2026-11-20", CLOCKS),
        ("11/20/2026", CLOCKS),  # of which only one order is a date
        (
            "11/05/26",
            ("12:00:01 AM", "12:10:01 AM", "12:20:01 AM", "03:11:07 AM", "03:20:01 PM", "03:30:01 PM"),
        ),
    ],
)
def test_a_day_of_sar_has_what_iostat_has(day: str, clocks: tuple[str, ...]) -> None:
    """Each interval from the time of the row before, that of a heading at first; nothing lies across a restart."""
    found = read(SAR.format(day, *clocks).encode())
    start = datetime(2026, 11, 5 if day.endswith("26") and len(day) < 10 else 20)
    at = {minute: start + timedelta(minutes=minute, seconds=1) for minute in (0, 10, 920)}
    assert found.devices.select("start", "interval", "label", "io_rate", "utilization").rows() == [
        (at[0], 600.0, "dasda", 12.31, pytest.approx(0.0132)), (at[0], 600.0, "dasdaa", 212.31, pytest.approx(0.3132)),
        (at[10], 600.0, "dasda", 14.31, pytest.approx(0.0152)),
        (at[10], 600.0, "dasdaa", 252.31, pytest.approx(0.3832)), (at[920], 600.0, "dasda", 14.31, pytest.approx(0.0152)),
    ]  # fmt: skip
    assert found.devices["response"].to_list() == pytest.approx([1.21e-3, 1.98e-3, 1.21e-3, 2.08e-3, 1.21e-3])
    assert set(found.devices["system"]) == {"lnx1"} and set(found.devices["kind"]) == {"volume"}
    assert not found.notes


@pytest.mark.long
def test_sar_that_is_cut_off_anywhere_has_no_row_that_the_whole_has_not() -> None:
    text = SAR.format("2026-11-20", *CLOCKS)
    whole, kept = set(rows(text)), set[int]()
    for end in range(len(text) - 1, 0, -17):
        with suppress(ReportError):
            found = rows(text[:end])
            assert set(found) <= whole
            kept.add(len(found))
    assert kept >= {2, 3, 5}


def test_sar_answers_as_iostat_does() -> None:
    """The same numbers, of which iostat prints one report more."""
    sar = read(SAR.format("2026-11-20", *CLOCKS).encode()).devices
    line = "dasdaa {} {} 1.98 1.0 {}"
    heading = "Device tps aqu-sz await areq-sz %util"
    parts = [f"2026-11-20T00:{minute}:01\n{heading}\n{row}\n" for minute, row in (
        ("00", line.format(1, 1, 1)), ("10", line.format("212.31", "0.42", "31.32"))
    )]  # fmt: skip
    iostat = read(("Linux 6.12.0-1.s390x (lnx1) \t2026-11-20\n\n" + "\n".join([*parts, ""])).encode()).devices
    (mine,) = sar.filter(pl.col("label") == "dasdaa").head(1).drop("line", "file").rows()
    assert iostat.drop("line", "file").rows() == [mine]


@pytest.mark.parametrize(
    ("wrong", "right", "problem"),
    [
        ("14.31", "14.3x", "line 10, column 25: dasda: tps is '14.3x': expected a number"),
        ("      1.21      1.52", "      1.21", "line 10: 7 numbers below 8 headings"),
        ("00:20:01", "00:05:01", "follows one at"),
        ("await", "awaits", "line 7, column 87: heading 'awaits' is none of iostat"),
    ],
)
def test_damaged_sar_is_refused_by_its_line(wrong: str, right: str, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read(SAR.format("2026-11-20", *CLOCKS).replace(wrong, right).encode())


NAME_FIRST = "{time}          DEV {}\n{time}      dasda {}\n"
NAME_LAST = "{time}          {} DEV\n{time}    {} dasda\n"
NINE = datetime(2026, 11, 20, 9)


def of_sar(day: str, times: list[str], layout: str = NAME_FIRST) -> str:
    """A day of sar with an interval from each time to the next."""
    heading, row = layout.splitlines(keepends=True)
    names, cells = (
        "tps     rkB/s     wkB/s     aqu-sz    await     %util",
        "200.00  1.00  1.00  0.60  3.00  40.00",
    )
    lines = [heading.format(names, time=times[0])]
    lines += [row.format(cells, time=time) for time in times[1:]]
    return f"Linux 6.12.0-1.s390x (lnx1) \t{day} \t_s390x_\t(4 CPU)\n\n" + "".join(lines) + "\n"


@pytest.mark.parametrize(
    ("day", "clock", "change"),
    [
        ("2026-11-20", "%H:%M:%S", lambda text: text),
        ("20.11.2026", "%H:%M:%S", lambda text: re.sub(r"([0-9])\.([0-9]{2})(?![0-9.])", r"\1,\2", text)),
        ("2026年11月20日", "%H時%M分%S秒", lambda text: text),
        ("2026年11月20日", "%H时%M分%S秒", lambda text: text),
        ("2026年11月20日", "上午%I时%M分%S秒", lambda text: text),
        ("11/20/26", "%I:%M:%S %p", lambda text: text),
        ("20.11.2026", "%H.%M.%S", lambda text: text),
        ("2026-11-20", "%H:%M:%S", lambda text: f"$ sar -dp 60 10\n{text}^C\n\nAverage:   1 1 1 1 1 1 dasda\n"),
        ("2026-11-20", "%H:%M:%S", lambda text: text.replace(
            "\n\n", "\n\n08:00:00   CPU   %user\n" + "08:10:00   all    1.00\n" * 4000 + "\n", 1)),
    ],
    ids=["ISO", "de_DE", "ja_JP", "zh_CN", "zh_CN before noon", "C with 12 hours", "fi_FI", "terminal", "sar -A"],
)  # fmt: skip
@pytest.mark.parametrize("layout", [NAME_FIRST, NAME_LAST])
def test_sar_is_read_in_any_language_with_names_first_or_last(
    day: str, clock: str, change: Callable[[str], str], layout: str
) -> None:
    times = [(NINE + timedelta(minutes=minute)).strftime(clock) for minute in (0, 10, 20)]
    found = read(change(of_sar(day, times, layout)).encode())
    assert found.devices.select(
        "start", "interval", "label", "io_rate", "response", "utilization"
    ).rows() == [
        (NINE + timedelta(minutes=minute), 600.0, "dasda", 200.0, pytest.approx(0.003), pytest.approx(0.4))
        for minute in (0, 10)
    ]
    assert not found.notes


def test_sar_over_midnight_goes_on_with_the_next_day() -> None:
    """It prints the date once; so does a daily file whose last record is of the next day."""
    times = ["23:40:01", "23:50:01", "00:00:01", "00:10:01"]
    found = read(of_sar("2026-11-20", times).encode()).devices
    assert found["start"].to_list() == [datetime(2026, 11, 20, 23, 40, 1), datetime(2026, 11, 20, 23, 50, 1),
                                        datetime(2026, 11, 21, 0, 0, 1)]  # fmt: skip


def test_an_hour_that_a_clock_shows_twice_is_refused_with_the_way_out() -> None:
    with pytest.raises(ReportError, match=r"line 6: report 4 .* in order of time; with TZ=UTC they are"):
        read(of_sar("2026-10-25", ["01:50:01", "02:00:01", "02:50:01", "02:00:01"]).encode())


def test_days_of_sar_in_one_file_say_together_what_the_day_is() -> None:
    times = ["00:00:01", "12:00:01", "00:00:01"]
    days = [of_sar(f"03/0{day}/26", times) for day in (1, 2, 3)]
    alone = read(days[1].encode())
    assert alone.devices["start"].null_count() == 2
    assert any(
        "the day may be the month: expected what sar -d prints with S_TIME_FORMAT=ISO" in note
        for note in alone.notes
    )
    found = read("\n".join(days).encode()).devices["start"].to_list()
    assert found == [datetime(2026, 3, day, hour, 0, 1) for day in (1, 2, 3) for hour in (0, 12)]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"Linux 5.14.0 (a) \t03/08/26 \t_s390x_\t(4 CPU)\n\n00:00:01        CPU     %user\n00:10:01   all 1.00\n",
         "tables of sar without that of the disks; expected what sar -d prints"),
        (b"\xd5\x96\x21\x75\x00\x00\x00\x00\x0c\x07", "a daily file of sadc: expected what sar -d -f prints of it"),
        (b"\x96\xd5\x75\x21\x00\x00\x00\x00\x0c\x07", "a daily file of sadc: expected what sar -d -f prints of it"),
    ],
)  # fmt: skip
def test_what_else_sysstat_keeps_is_refused_for_what_it_is(data: bytes, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read(data)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("idle", ["first", "last", "absent"])
def test_an_interval_without_io_does_not_refuse_the_others(idle: str) -> None:
    """Found with public logs: 41 of 131 with a queue were refused because of one idle report, most often the last."""
    quiet = "dasda " + " ".join("0.00" for _ in ROW.split()[1:])
    reports = [ROW, ROW, ROW.replace("99.00", "98.00")]
    reports[0 if idle == "first" else -1] = quiet if idle != "absent" else quiet.replace("dasda", "sda  ")
    text = "\n\n".join(f"{HEADING}\n{row}" for row in [quiet, *reports])
    answer = planner.aliases(f"{text}\n\n".encode())
    assert answer.recommended == planner.aliases(f"{HEADING}\n{ROW}\n\n".encode()).recommended
    answer = planner.aliases(f"{HEADING}\n{ROW}\n\n{HEADING}\n{quiet}\n\n".encode())
    assert answer.headline == "No I/O: no alias is needed."
    assert re.search(r"the first report, .* is left out", " ".join(answer.notes))
