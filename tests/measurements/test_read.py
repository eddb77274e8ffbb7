"""One door to files: whatever the source, its content says what it is, and the table is the same."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import re
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import planner
from planner.cli import main
from planner.errors import InputError, ReportError
from planner.library import data_path
from planner.measurements import read
from planner.measurements.read import members_from
from planner.reports import schema
from planner.reports.any_listing import read_devices
from planner.site.series import read_series
from planner.units import half_digit
from tests.brief import examples
from tests.checkout import ROOT
from tests.reports.printing import HEAD, page, row

LISTING = ROOT / "data" / "hyperpav" / "pool-8-aliases.listing"
VOLUME = LISTING.with_name("522A-2-aliases.listing")
SUBSYSTEM = ROOT / "docs" / "examples" / "subsystem.csv"
COUNTERS = ROOT / "docs" / "examples" / "volume-counters.csv"
SUPPLY = ROOT / "docs" / "examples" / "supply-counters.csv"


def without_file(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("file", "line")


@pytest.mark.first(1)
@pytest.mark.parametrize("path", [LISTING, SUBSYSTEM, COUNTERS, SUPPLY], ids=lambda path: path.name)
def test_every_way_in_gives_the_same_table(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = without_file(read(path).frame)
    misnamed = tmp_path / "named.parquet"
    misnamed.write_bytes(path.read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with path.open() as text, path.open("rb") as binary:
        for source in (
            str(path),
            misnamed,
            "-",
            path.read_bytes(),
            text,
            binary,
            io.StringIO(path.read_text()),
            [path],
        ):
            assert_frame_equal(without_file(read(source).frame), expected, check_exact=True)


@pytest.mark.parametrize(
    ("number", "value", "problem"),
    [
        ("io_rate", "1e40", "V1: io_rate = 1e+40 1/s: expected at most 1e+09 1/s"),
        ("service_ms", "1e12", "V1: service = 1e+09 s: expected at most 1e+06 s"),
        ("queued", "1e10", "V1: queued = 1e+10: expected at most 1e+09"),
        (
            "io_rate",
            "1e-300",
            "V1: io_rate = 1e-300 1/s: expected 0 if idle, or at least 1e-09 1/s: with less",
        ),
        (
            "service_ms",
            "1e-300",
            "V1: service = 1e-303 s: expected 0 if idle, or at least 1e-12 s: with less",
        ),
    ],
)
def test_numbers_that_no_device_has_are_refused(
    number: str, value: str, problem: str, tmp_path: Path
) -> None:
    """Whatever the format: as CSV, and as JSON of iostat."""
    usual = {"io_rate": "755", "service_ms": "1.3", "queued": "1"}
    rows = {"volume": usual, "V1": {**usual, number: value}, "V2": usual, "V3": usual}
    table = "\n".join(
        ",".join([name, *(row if name == "volume" else row.values())]) for name, row in rows.items()
    )
    with pytest.raises(ReportError, match=re.escape(f"line 2: {problem}")):
        read(table.encode())
    disk = '{"disk": [{"disk_device": "dasda", "r/s": 1e40, "w/s": 1.0, "r_await": 1.0, "w_await": 1.0}]}'
    hosts = f'{{"sysstat": {{"hosts": [{{"statistics": [{disk}, {disk}]}}]}}}}'
    with pytest.raises(ReportError, match=r"dasda: r/s is .1e40.: expected a number"):
        read(hosts.encode())


@pytest.mark.parametrize("path", [LISTING, SUBSYSTEM, SUPPLY], ids=lambda path: path.name)
def test_its_own_tables_are_read_again(path: Path, tmp_path: Path) -> None:
    frame = read(path).frame
    frame.write_parquet(tmp_path / "a")
    frame.write_ipc(tmp_path / "b")
    for source in (
        frame,
        frame.lazy(),
        tmp_path / "a",
        tmp_path / "b",
        pd.DataFrame(frame.to_dict(as_series=False)),
    ):
        assert_frame_equal(read(source).frame, frame, check_exact=True)


def test_data_frames_have_numbers_words_and_times() -> None:
    data = {
        "volume": ["A", "B"],
        "io_rate": [755.25, 0.0],
        "service_ms": [1.3, None],
        "start": ["2026-03-01T10:15:00+02:00"] * 2,
    }
    for source in (pl.DataFrame(data), pd.DataFrame(data)):
        devices = read(source).devices
        assert devices["io_rate_low"].to_list() == [755.245, 0.0] and devices["io_rate"].to_list() == [
            755.25,
            0.0,
        ]
        assert devices["service_high"].to_list() == [pytest.approx(1.45e-3), None]
        assert devices["label"].to_list() == ["A", "B"]
        assert devices["kind"].to_list() == [schema.VOLUME] * 2
        assert devices["utc_offset"].to_list() == [7200, 7200]
        assert str(devices["start"][0]) == "2026-03-01 10:15:00"


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A pool in CSV; each column has its decimals, and the last digit of one of its cells at least is not zero."""
    volumes, moments = draw(st.integers(1, 4)), draw(st.integers(1, 2))

    def column(low: int, high: int) -> list[str]:
        decimals, rows = draw(st.integers(0, 3)), volumes * moments
        whole = st.integers(low * 10**decimals, high * 10**decimals)
        numbers = draw(st.lists(whole, min_size=rows, max_size=rows))
        numbers[-1] += numbers[-1] % 10 == 0
        return [f"{number / 10**decimals:.{decimals}f}" for number in numbers]

    unit, factor = draw(st.sampled_from([("ms", 1), ("us", 1000)]))
    names = [f"2026-03-0{1 + k}T10:00,V{volume},2" for k in range(moments) for volume in range(volumes)]
    rows = zip(names, column(1, 600), column(factor, 3 * factor), column(0, 2), strict=True)
    return "\n".join([f"start,volume,aliases,io_rate,service ({unit}),queued", *map(",".join, rows)])


@pytest.mark.long
@given(tables())
def test_a_frame_is_read_as_the_file_that_it_came_from(table: str) -> None:
    expected = without_file(read(table.encode()).devices)
    for frame in (pl.read_csv(table.encode()), pd.read_csv(io.StringIO(table))):
        assert_frame_equal(without_file(read(frame).devices), expected, check_exact=True)


@pytest.mark.long
def test_a_frame_is_answered_as_the_file_that_it_came_from() -> None:
    """Of one pool; `test_what_was_read_is_a_source` asks of three."""
    heading, *rows = SUBSYSTEM.read_text(encoding="utf-8").splitlines(keepends=True)
    text = heading + "".join(row for row in rows if row.startswith("21,"))
    expected = planner.aliases(text.encode()).to_dict()
    for frame in (pl.read_csv(io.StringIO(text)), pd.read_csv(io.StringIO(text))):
        assert planner.aliases(frame).to_dict() == expected


@pytest.mark.parametrize(
    ("numbers", "half"),
    [
        ([1.5, 1.25], 0.005), ([7.0, 12.0], 0.05), ([7, 12], 0.5), ([0.1 + 0.2, 1.5], 0.0), ([1 / 3, None], 0.0),
        ([1e-7, 2.0], 5e-8), ([12.789012, 0.5], 5e-7), ([1.5, None], 0.05),
    ],
)  # fmt: skip
def test_a_column_of_a_frame_has_the_digits_of_its_finest_number(
    numbers: list[float | None], half: float
) -> None:
    """Computed ones, of more digits than anybody prints, are exact."""
    data = {"volume": ["A", "B"], "io_rate": [9, 0], "service_ms": [1.0, 1.0], "queued": numbers}
    for frame in (pl.DataFrame(data), pd.DataFrame(data)):
        devices = read(frame).devices
        assert devices["queued"].to_list() == numbers
        assert (devices["queued_high"] - devices["queued"]).drop_nulls().to_list() == pytest.approx(
            [half] * (2 - numbers.count(None)), rel=1e-6
        )


def test_a_data_frame_is_refused_by_row_and_column() -> None:
    with pytest.raises(
        ReportError, match=r"data frame, line 2, column 2: io_rate -1.0: expected a number, zero or above"
    ):
        read(pl.DataFrame({"device": ["522A", "522B"], "io_rate": [1.0, -1.0], "service_ms": [1.0, 1.0]}))


def test_what_read_csv_writes_is_read_again_with_its_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(LISTING), "--csv"]) == 0
    path = tmp_path / "again"
    path.write_text(capsys.readouterr().out)
    again, first = read(path).devices, read(LISTING).devices
    for name in (
        "device",
        "kind",
        "label",
        "type",
        "io_rate",
        "service_low",
        "queued_high",
        "start",
        "interval",
        "links",
    ):
        if first[name].dtype == pl.Float64:
            assert again[name].to_numpy() == pytest.approx(first[name].to_numpy(), rel=1e-12)
        else:
            assert again[name].to_list() == first[name].to_list()


@pytest.mark.long
@examples(25)
@given(
    st.lists(st.tuples(st.integers(0, 99999), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30)
)
def test_numbers_of_csv_are_those_that_were_written(cells: list[tuple[int, int, int]]) -> None:
    """The digits are the reference: value, and half a unit of the last digit, from the integers."""
    texts = [f"{digits / 10**places:.{places}f}" + ("", "e1", "E-2")[kind] for digits, places, kind in cells]
    text = "volume,io_rate,service_ms\n" + "".join(f"v{k},{cell},1\n" for k, cell in enumerate(texts))
    devices = read(text.encode()).devices
    shift = {0: 1.0, 1: 10.0, 2: 0.01}
    for found, high, cell, (digits, places, kind) in zip(
        devices["io_rate"], devices["io_rate_high"], texts, cells, strict=True
    ):
        assert found == pytest.approx(digits / 10**places * shift[kind], rel=1e-15)
        assert high - found == pytest.approx(half_digit(cell), rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("cell", [[1.0], timedelta(seconds=1), pd.Period("2026-01")])
def test_a_column_of_another_type_is_named(cell: object) -> None:
    with pytest.raises(ReportError, match=r"data frame: column service_ms is of type .*: expected text"):
        read(pl.DataFrame({"volume": ["A"], "io_rate": [1], "service_ms": [cell]}, strict=False))


def test_numbers_of_a_frame_as_text_may_have_blanks_around_them() -> None:
    frame = pl.DataFrame({"volume": ["A", " B "], "io_rate": [" 450", "12 "], "service_ms": ["1.3", " 2.0 "]})
    devices = read(frame).devices
    assert devices["io_rate"].to_list() == [450.0, 12.0] and devices["label"].to_list() == ["A", "B"]


@pytest.mark.long
def test_many_intervals_of_one_table() -> None:
    lines = "device,start,interval_s,io_rate,service_ms,queued\n" + "".join(
        f"522A,2026-03-01T{hour:02d}:00:00,3600,{100 * hour},1.0,{hour % 5}\n" for hour in range(24)
    )
    devices = read(lines.encode()).devices
    assert devices.height == 24
    assert read(lines.encode(), start="2026-03-01T06:00", end="2026-03-01T08:00").devices[
        "io_rate"
    ].to_list() == [600, 700]
    assert read(lines.encode(), interval="worst").devices["io_rate"].to_list() == [
        1900
    ]  # the last with a queue of 4
    assert read(lines.encode(), interval="2026-03-01T05:30").devices["io_rate"].to_list() == [500]
    (mean,) = read(lines.encode(), interval="mean").devices.rows(named=True)
    assert mean["io_rate"] == pytest.approx(1150)
    assert mean["queued"] == pytest.approx(sum(hour % 5 for hour in range(24)) / 24)
    assert mean["interval"] == 24 * 3600
    twice = lines + "522A,2026-03-01T05:00:00,3600,500,1.0,0\n"
    with pytest.raises(
        ReportError, match=r"line 26, column 1: device 522A a second time at .*, first in line 7"
    ):
        read(twice.encode())
    with pytest.raises(
        InputError, match="interval = '2026-03-02T05:30': expected a time within a measured interval"
    ):
        read(lines.encode(), interval="2026-03-02T05:30")


def test_mean_service_is_a_mean_over_ios() -> None:
    lines = (
        "device,start,interval_s,io_rate,service_ms\n522A,2026-03-01,60,100,1.0\n522A,2026-03-02,60,300,2.0\n"
    )
    (mean,) = read(lines.encode(), interval="mean").devices.rows(named=True)
    assert mean["service"] == pytest.approx((100 * 1e-3 + 300 * 2e-3) / 400)


def test_a_mean_is_over_all_intervals_of_a_pool_and_one_for_each_number_of_aliases() -> None:
    """A device without a row did no I/O, as one with a row of zero; a pool before it had aliases is another one."""
    header = "pool,device,start,interval_s,io_rate,service_ms,queued,aliases\n"

    def rows(zero: bool) -> str:
        return header + "".join(
            f"{pool},{device},2026-03-0{day},60,{100 * (day == 3 or device != '522B')},1.0,.5,{8 * (day > 2)}\n"
            for day in (1, 2, 3, 4)
            for pool, device in (("7", "522A"), ("7", "522B"), ("8", "622A"))
            if zero or day == 3 or device != "522B"
        )

    columns = ("device", "start", "interval", "io_rate", "pool_aliases")
    found = [
        read(rows(zero).encode(), interval="mean").devices.select(columns).sort(columns).rows()
        for zero in (True, False)
    ]
    first, third = (datetime(2026, 3, day) for day in (1, 3))
    assert found[0] == [
        ("522A", first, 120.0, 100.0, 0), ("522A", third, 120.0, 100.0, 8),
        ("522B", first, 120.0, 0.0, 0), ("522B", third, 120.0, 50.0, 8),
        ("622A", first, 120.0, 100.0, 0), ("622A", third, 120.0, 100.0, 8),
    ]  # fmt: skip
    assert found[1] == [row for row in found[0] if row[3]]


@pytest.mark.long
def test_a_mean_of_listings_before_and_after_aliases_is_two() -> None:
    listings = [data_path("hyperpav", f"pool-{many}-aliases.listing") for many in (0, 8)]
    answer = planner.aliases(listings, interval="mean")
    assert (answer.recommended, answer.range) == (15, (14, 15))


def test_an_interval_without_rows_of_aliases_that_were_there_is_of_the_same_mean() -> None:
    """Aliases that did nothing in a quarter of an hour have no row of it, though a sample caught an I/O that waits."""
    lines = "device,kind,start,interval_s,io_rate,service_ms,queued\n" + "".join(
        f"{device},{kind},2026-03-02T00:{minute:02},900,{rate},1.2,{queue}\n"
        for minute in (0, 15, 30)
        for device, kind, rate, queue in (("5000", "base", 300, 0.2), ("51F0", "alias", 40, 0))
        if minute != 15 or kind == "base"
    )
    found = read(lines.encode(), interval="mean").devices.sort("device")
    assert found["interval"].to_list() == [2700.0, 2700.0]
    assert found["io_rate"].to_list() == pytest.approx([300.0, 80 / 3])


def test_a_pool_has_one_worst_interval() -> None:
    lines = "pool,device,start,interval_s,io_rate,service_ms,queued\n" + "".join(
        f"7,{device},2026-03-0{day},60,100,1.0,{queue}\n"
        for day, queues in ((1, (3, 0)), (2, (2, 2)), (3, (0, 3)))
        for device, queue in zip(("522A", "522B"), queues, strict=True)
    )
    worst = read(lines.encode(), interval="worst").devices
    assert worst["queued"].to_list() == [2, 2]


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("path", [VOLUME, LISTING, SUBSYSTEM])
def test_what_was_read_is_a_source(path: Path) -> None:
    """Looked at, then asked of: with the answer of the file."""
    once = read(path)
    again = read([once])
    for name in schema.TABLES:
        assert_frame_equal(getattr(again, name), getattr(once, name))
    assert (again.what, again.files, again.notes) == (once.what, (str(path),), once.notes)
    assert planner.aliases(once).to_dict() == planner.aliases(path).to_dict()
    with pytest.raises(InputError, match="it with a table: what was read before has its columns"):
        read(once, map={"io_rate": "IOPS"})
    with pytest.raises(InputError, match="deltas = True: expected it with volume counters"):
        read(once, deltas=True)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """As <(zcat FILE) of a shell: a second look at it finds nothing, or waits for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"volume,io_rate,service_ms\nA,500,1.3\n"
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read(pipe).devices["label"].to_list() == ["A"]
    writer.join()


def test_a_system_is_one_of_those_that_a_file_names_else_its_name() -> None:
    lines = "system,device,io_rate,service_ms\nA,522A,500,1.3\nB,522A,700,\nB,522B,300,1.3\n,522C,100,1.3\n"
    measured = read(lines.encode(), system="B")
    assert measured.devices.select("system", "io_rate").rows() == [("B", 300.0), ("B", 100.0)]
    assert [each.system for each in read(lines.encode(), system="A").missing] == []
    assert read(lines.encode(), system="C").devices["system"].to_list() == ["A", "B", "C"]
    with pytest.raises(InputError, match=r"system = 'C': expected one of A, B$"):
        read(lines.rpartition(",522C")[0].encode(), system="C")


def test_files_without_dates_have_one_worst_interval(tmp_path: Path) -> None:
    paths = [tmp_path / "light.csv", tmp_path / "heavy.csv"]
    for path, rate, queue in zip(paths, (500, 755), (0.5, 1.84), strict=True):
        path.write_text(f"device,io_rate,service_ms,queued\n522A,{rate},1.3,{queue}\n522B,{rate},1.3,0.1\n")
    worst = read(paths, interval="worst").devices
    assert worst.select("device", "io_rate", "file").rows() == [
        ("522A", 755.0, str(paths[1])),
        ("522B", 755.0, str(paths[1])),
    ]


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("", "none has a date"),
        ("2026-03-01T10:00", "they begin from 2026-03-01 10:00:00 to 2026-03-01 10:00:00"),
    ],
)
def test_a_moment_that_was_not_measured_says_what_was(start: str, told: str) -> None:
    lines = f"start,device,io_rate,service_ms\n{start},522A,500,1.3\n"
    with pytest.raises(InputError, match=told):
        read(lines.encode(), interval="2026-03-02T10:00")


def test_members_set_pool_and_role(tmp_path: Path) -> None:
    members = tmp_path / "members.csv"
    members.write_text("device,role,pool\n522A-522D,base,7\n5230-5233,alias,7\n")
    devices = read(LISTING, members).devices
    pooled = devices.filter(pl.col("pool") == "7")
    assert pooled["device"].to_list()[:4] == ["522A", "522B", "522C", "522D"]
    assert set(pooled["pool_aliases"]) == {4}
    assert devices.filter(pl.col("pool").is_null()).height == devices.height - pooled.height


def test_kinds_of_devices() -> None:
    rows = (
        row("1000"),
        row("1001", label=""),
        row("1002", type="->1000"),
        row("1003", type="CTCA", label=""),
    )
    assert read(page(*rows).encode()).devices["kind"].to_list() == ["base", "alias", "classic alias", "other"]


def test_the_table_says_what_the_listing_says() -> None:
    """Two ways from the same rows: the objects, one by one, and the columns."""
    devices = read(LISTING).devices
    (listing,) = read_devices(LISTING)
    for name in ("io_rate", "queued", "service"):
        printed = [getattr(row, name) for row in listing.rows]
        assert devices[name].to_list() == [each.value for each in printed]
        halves = (devices[f"{name}_high"] - devices[name]).to_list()
        assert halves == pytest.approx([each.resolution for each in printed])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", "of no known format; expected measurements: DEVICE"),
        ("volume;io_rate;service_ms\nA;1;1,3;2\n", "line 2, column 9: 4 cells: expected 3"),
        ("volume,io_rate,service_ms\n", "no rows below the header"),
        (
            "volume,io_rate,service_ms\n\x1b[2JA,1,1\n",
            r"line 2, column 1: volume '.x1b.2JA': expected text without control",
        ),
        ("volume,io_rate,service_ms\nA,1e-400,1\n", "line 2, column 3: io_rate '1e-400'"),
        (
            "device,io_rate,service_ms\n0x522A,1,1\n",
            "line 2, column 1: device '0x522A': expected device numbers",
        ),
        ("device,io_rate,service_ms\n5_22A,1,1\n", "device '5_22A'"),
        ("device,io_rate,service_ms\n+5,1,1\n", r"device '.5'"),
        ("device,io_rate,service_ms\n٥٢٢,1,1\n", "device '٥٢٢'"),
        ("device,start,io_rate,service_ms\n522A,٢٠٢٦-03-01,1,1\n", "start '٢٠٢٦-03-01': expected a time"),
        ("", "the file is empty"),
        ("\x00\x01\x02\x03", "of no known format"),
        (
            "volume,io_rate,x\nA,1,1\n".encode("utf-16-le").decode(),
            "UTF-16.* without a byte order mark: expected it",
        ),
        (
            "volume,io_rate,x\nA,1,1\n".encode("utf-16-be").decode(),
            "UTF-16.* without a byte order mark: expected it",
        ),
        ("volume,io_rate,\x01\0\nA,1,1\n", "found are bytes that are no text"),
        ('\x7fELF\x00"a\nb\n', "of no known format"),
    ],
)
def test_what_is_no_measurement_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read(text.encode())


def test_members_of_pools_that_are_compressed_are_refused_as_measurements_are(tmp_path: Path) -> None:
    path = tmp_path / "pools.csv.gz"
    path.write_bytes(gzip.compress(b"device,role,pool\n522A,base,1\n"))
    with pytest.raises(ReportError, match="gz: compressed, or several files in one: expected it unpacked"):
        read(LISTING, path)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (gzip.compress(LISTING.read_bytes()), "compressed, or several files in one: expected it unpacked"),
        (bz2.compress(LISTING.read_bytes()), "compressed, or several files in one: expected it unpacked"),
        (lzma.compress(LISTING.read_bytes()), "compressed, or several files in one: expected it unpacked"),
        (bytes(257) + b"ustar" + bytes(300), "several files in one: expected it unpacked"),
        (b"\xd0\xcf\x11\xe0" + bytes(500), "a workbook .*: expected it saved as CSV"),
        (
            b"1       D I R E C T   A C C E S S   D E V I C E\n",
            "RMF as text: expected the XML of the RMF postprocessor",
        ),
        (b"/sys/kernel/debug/dasd/dasda/statistics:disabled\n", "were off; dasdstat -e starts them"),
        (
            b'Volser,"IOPS\n(1/s)",Svc\nA,1,1\n',
            "a heading that goes on in a second line: expected all on one",
        ),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF: expected what it was printed from"),
        (b"<!DOCTYPE html>\n<html></html>", "a page of HTML: expected the file itself"),
        (LISTING.read_text(encoding="utf-8").encode("cp500"), "text in EBCDIC: expected a transfer as text"),
        (
            b" 94       0 dasda 1 2 3 4 5 6 7 8 9 10 11\n",
            "counters of /proc/diskstats: expected what iostat -x",
        ),
        (
            (ROOT / "docs" / "examples" / "lsdasd.txt").read_bytes(),
            "lsdasd says who shares .* give it by `members`",
        ),
        (
            b"Device 522A is a base HyperPAV volume in pool 0\n",
            "CP QUERY PAV says who shares a pool.* by `members`",
        ),
        (
            b"q dasd\nDASD 0200 CP SYSTEM VMRES 12\nReady; T=0.01/0.01 1:00\n",
            "CP QUERY DASD prints no rates: expected a DEV",
        ),
        (b'[{"volume": "A", "io_rate": 5, "service_ms": 1}]', "JSON, but not what iostat -x -o JSON prints"),
        (
            b"# hostname;interval;timestamp;DEV;tps;await\nh;600;2026-11-20 09:10:01 UTC;sda;5;1.2\n",
            "this is sadf; .*sar -d",
        ),
        (
            b"h\t600\t2026-11-20 09:10:01 UTC\tdev94-0\ttps\t430.75\n",
            "this is sadf of sar; expected what sar -d prints",
        ),
        (
            b'<?xml version="1.0"?>\n<!DOCTYPE sysstat PUBLIC "DTD">\n',
            "this is sadf of sar; expected what sar -d prints",
        ),
        (
            b'{"sysstat": {"hosts": [{"statistics": [{"timestamp": {"date": "2026-11-20", "time": "09:10:01"}}]}]}}',
            "this is sadf -j of sar; expected what sar -d prints",
        ),
        (
            b"Device,r/s,w/s,r_await,w_await,%util\ndasda,9,1,.5,.7,2\n",
            "reads and writes apart: .* rates added",
        ),
        (
            b"Device,IOPS,Svc\ndasda,9,1\n",
            "line 2, column 1: Device 'dasda': .* names: `map` volume=Device",
        ),
        (b"volume io_rate service_ms\nA      500     0.5\n", "expected commas, semicolons or tabs"),
        (b"# of RMF\nVolser|IOPS|Svc\nA|500|0.5\n", "expected commas, semicolons or tabs"),
        (b"procs ---memory---\n r  b   swpd\n 1  0  0 1 1\n", "of no known format"),
        (
            b"Linux 5.10 (h) 01/01/24\n\n12:00:01 AM  DEV  tps  rkB/s\n12:10:01 AM dev8-0 1.0 2.0\n",
            "line 4: sar -d of an old release, or iostat without -x: response times are missing",
        ),
    ],
)
def test_what_is_much_like_a_measurement_is_refused_for_what_it_is(data: bytes, problem: str) -> None:
    with pytest.raises(ReportError, match=problem):
        read(data)


@pytest.mark.parametrize(
    "name", ["docs/examples/iostat.json", "docs/examples/rmf.xml", "docs/examples/lsdasd.txt"]
)
def test_two_bytes_a_character_read_as_one(name: str, tmp_path: Path) -> None:
    """PowerShell redirects so."""
    text = (ROOT / name).read_text(encoding="utf-8").replace(' encoding="UTF-8"', "")
    path = tmp_path / "wide"
    path.write_bytes(text.encode("utf-16"))
    if "lsdasd" in name:
        plain, wide = (members_from(each) for each in (ROOT / name, path))
        assert plain is not None and wide is not None and plain.members == wide.members
        return
    assert read(path).devices.drop("file").equals(read(text.encode()).devices.drop("file"))


def test_what_cannot_be_opened_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / "none", tmp_path / ("x" * 300)):
        with pytest.raises(ReportError, match=r"no such file|cannot be opened"):
            read(path)
        assert main(["read", str(path)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    with pytest.raises(InputError, match="at least one file"):
        read([])
    with pytest.raises(InputError, match="expected a path, a file object, a data frame"):
        read(5)


def test_four_hundred_ranges_of_members_are_refused_at_once(tmp_path: Path) -> None:
    """Spread out all together they would take gigabytes."""
    path = tmp_path / "members.csv"
    path.write_text("device,role,pool\n" + "".join(f"0-{0xFFFF - k:X},base,{k}\n" for k in range(400)))
    with pytest.raises(ReportError, match="line 3, column 1: device 0000 a second time"):
        read(LISTING, path)


@pytest.mark.parametrize("path", [LISTING, SUBSYSTEM], ids=lambda path: path.name)
def test_the_command_reads_standard_input(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(path), "--csv"]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert main(["read", "-", "--csv"]) == 0
    assert capsys.readouterr().out.replace("standard input", str(path)) == expected


def test_the_command_names_damaged_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.listing"
    path.write_text(page(row("522A"), row("522B", label="BW PVS"), row("522C")))
    assert main(["read", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"line {HEAD.count(chr(10)) + 6}, column 14: Label/ID 'BW PVS  '" in shown.replace(
        "BW PVS '", "BW PVS  '"
    )
    assert main(["read", str(path), "--csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 3
    assert "Label/ID" in captured.err


def test_a_device_with_a_queue_and_no_io_is_named() -> None:
    """It hangs, or another system holds it; a rate that rounds to 0 with a queue to match does not."""
    table = b"volume,rate,service_ms,queued\nA,0,1.3,0.5\nB,300,1.3,0.5\nC,0,1.3,0.01\nD,0,1.3,0\n"
    notes = read(table).notes
    assert [
        note for note in notes if note.startswith("A (bytes, line 2) did no I/O while 0.5 waited")
    ] == list(notes)


def test_what_pandas_has_and_is_no_table_is_refused() -> None:
    frame = pd.DataFrame({"volume": ["A"], "io_rate": [755.0], "service_ms": [1.3]})
    with pytest.raises(
        InputError, match=r"source = 'volume, io_rate, service_ms, io_rate': .*each column once"
    ):
        read(pd.concat([frame, frame[["io_rate"]]], axis=1))
    with pytest.raises(InputError, match="source = 'Series': expected a path"):
        read(frame["io_rate"])
    series = pd.DataFrame(
        {"start": pd.date_range("2026-01-01", periods=3, freq="h"), "io_rate": [1.0, 2.0, 3.0]}
    )
    assert read_series(series).values.shape == (1, 1)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    "made", [pl.read_csv, lambda path: io.BytesIO(path.read_bytes()), pd.read_csv, Path.read_bytes]
)
def test_measurements_without_a_name_are_as_many_as_files(
    tmp_path: Path, made: Callable[[Path], Any]
) -> None:
    """The same volume at two numbers of aliases, without dates: what tells them apart is the source of each."""
    paths = [tmp_path / f"{aliases}.csv" for aliases in (0, 2, 3)]
    for path, aliases, rate in zip(paths, (0, 2, 3), (700, 900, 910), strict=True):
        path.write_text(
            f"volume,io_rate,service_ms,queued,aliases\nA,{rate}.25,1.25,1.25,{aliases}\n", encoding="utf-8"
        )
    found, named = planner.read([made(path) for path in paths]), planner.read(paths)
    assert found.devices.drop("file", "line").equals(named.devices.drop("file", "line"))
    assert found.devices["file"].n_unique() == len(found.files) == 3
    assert planner.aliases([made(path) for path in paths]).headline == planner.aliases(paths).headline


PLAIN = (
    b"system,device,start,interval_s,io_rate,service_ms,queued\nS,522A,2026-03-01T10:15,600,755,1.3,1.84\n"
)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("1e300", "interval = 1e+300 s: expected 0.001 to 1"),
        ("9e12", "interval = 9e+12 s: expected 0.001 to 1"),
        ("1e-9", "interval = 1e-09 s: expected 0.001 to 1"),
    ],
)
def test_lengths_of_no_interval_are_refused(value: str, problem: str) -> None:
    text = PLAIN.decode().replace(",600,", f",{value},")
    with pytest.raises(ReportError, match=re.escape(f"line 2: 522A: {problem}")):
        read(text.encode())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, end) for name in ("io_rate", "service", "queued") for end in (math.nan, -5.0)),
        *(("io_rate_low", value) for value in (math.nan, -1.0)),
        *(("io_rate_high", value) for value in (math.nan, -1.0)),
        *(("interval", value) for value in (math.nan, 0.0, -600.0)),
        *(("together", value) for value in (math.nan, 7.0)),
        ("utc_offset", -90_000),
        ("pool_aliases", 256),
    ],
)
def test_a_table_of_columns_of_the_schema_is_as_sound_as_what_readers_make(name: str, value: float) -> None:
    found = read(PLAIN).devices
    with pytest.raises(ReportError, match=f"522A: {name} = {value:g}.*: expected"):
        read(found.with_columns(pl.lit(value, found.schema[name]).alias(name)))


@pytest.mark.parametrize(
    "start", ["9999-12-31T23:59", "9999-12-31 23:59", "0001-01-01T00:00+14:00", "31.12.2200", "01JAN1899"]
)
def test_years_that_no_clock_shows_are_refused(start: str, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=re.escape(f"line 2, column 8: start '{start}': expected")):
        read(PLAIN.replace(b"2026-03-01T10:15", start.encode()))
    series = tmp_path / "series.csv"
    series.write_text(f"start,io_rate\n{start},5\n")
    with pytest.raises(ReportError, match=re.escape(f"line 2, column 1: start '{start}': expected")):
        read_series(series)


def test_times_of_a_frame_that_no_clock_shows_are_refused() -> None:
    found = read(PLAIN).devices
    for far in (2**62, -(2**62)):
        with pytest.raises(ReportError, match=r"522A: start = .*: expected 1900"):
            read(found.with_columns(start=pl.lit(far).cast(pl.Datetime("us"))))
