"""Linux on Z: iostat, lsdasd, and the statistics of the DASD driver, in the forms that public pages print."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError, ReportError
from planner.measurements.read import members_from, read
from planner.reports import schema
from planner.reports.dasd_statistics import EDGES, is_dasd_statistics, read_dasd_statistics, tables
from planner.reports.iostat import is_iostat, read_iostat
from planner.reports.membership import Member, is_lsdasd, name_devices, read_lsdasd
from planner.sizing import aliases
from planner.sizing.answer import AliasAnswer

UIDS = """\
Bus-ID     Name     UID
==============================================================================
0.0.c28a   dasda    IBM.750000000TH031.c280.0a
0.0.c28b   dasdb    IBM.750000000TH031.c280.0b.00000000000037400000000000000000
0.0.c2fe   alias    IBM.750000000TH031.c280.xx
0.1.c2ff   alias    IBM.750000000TH031.c280.xx
0.0.c300   dasdc    IBM.750000000TH031.c300.00
"""


def file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "given"
    path.write_text(content, encoding="utf-8")
    return path


class TestLsdasd:
    def test_equal_first_three_parts_share_a_pool(self, tmp_path: Path) -> None:
        found = read_lsdasd(file(tmp_path, UIDS))
        pool = "IBM.750000000TH031.c280"
        assert found.of(pool, "base") == ["C28A", "C28B"]
        assert found.of(pool, "alias") == ["0.1.C2FF", "C2FE"]
        assert found.members["C300"] == Member("base", "IBM.750000000TH031.c300")
        assert found.names == {"dasda": "C28A", "dasdb": "C28B", "dasdc": "C300"}
        assert is_lsdasd(UIDS.encode()) and not is_lsdasd(b"device,role,pool\n0.0.c28a,base,A\n")

    LONG = (
        "0.0.c28a/dasda/94:0\n  status:\t\t\t\tactive\n  type: \t\t\t\tECKD (ESE)\n  blksz:\t\t\t\t4096\n"
        "  uid:  \t\t\t\tIBM.750000000TH031.c280.0a\n  paths_installed: \t\t\t12 13\n\n"
        "0.0.c2fe\n  status:\t\t\t\talias\n  type: \t\t\t\tECKD\n  uid:  \t\t\t\tIBM.750000000TH031.c280.xx\n\n"
        "0.0.0190\n  status:\t\t\t\toffline\n  uid:  \t\t\t\t\n"
    )
    PLAIN = (
        "Bus-ID    Status    Name      Device  Type         BlkSz  Size      Blocks\n" + "=" * 80 + "\n"
        "0.0.c28a  active    dasda     94:0    ECKD         4096   7043MB    1803060\n"
        "0.0.c28b  active(ro)  dasdb     94:4    ECKD (ESE)   4096   7043MB    1803060\n"
        "0.0.c28c  n/f       dasdd     94:12   ECKD                          \n"
        "0.0.c2fe  alias                       ECKD\n"
        "0.0.e000  active    dasdc     94:8    FBA          512    100MB     204800\n"
        "0.0.0190  offline\n"
    )
    COMPATIBLE = (
        "0.0.c28a(ECKD) at ( 94:  0) is dasda      : active at blocksize 4096, 1803060 blocks, 7043 MB\n"
        "0.0.c28b(ECKD) at ( 94:  4) is dasdb  (ro): active at blocksize 4096, 1803060 blocks, 7043 MB\n"
        "0.0.c28c(ECKD) at ( 94: 12) is dasdd      : n/f\n0.0.c2fe(ECKD) : alias\n"
        "0.0.e000(FBA ) at ( 94:  8) is dasdc      : active at blocksize 512, 204800 blocks, 100 MB\n"
        "0.0.0190(none) : offline\n"
    )

    def test_the_long_form_says_what_uids_say(self, tmp_path: Path) -> None:
        assert is_lsdasd(self.LONG.encode())
        found = read_lsdasd(file(tmp_path, self.LONG))
        pool = "IBM.750000000TH031.c280"
        assert found.of(pool, "base") == ["C28A"] and found.of(pool, "alias") == ["C2FE"]
        assert found.names == {"dasda": "C28A"} and "0190" in found.notes[0]

    @pytest.mark.parametrize("content", [PLAIN, COMPATIBLE])
    def test_without_uids_all_eckd_devices_are_one_pool_and_that_is_said(
        self, tmp_path: Path, content: str
    ) -> None:
        assert is_lsdasd(content.encode())
        found = read_lsdasd(file(tmp_path, content))
        assert found.of("all", "base") == ["C28A", "C28B", "C28C"] and found.of("all", "alias") == ["C2FE"]
        assert found.names == {"dasda": "C28A", "dasdb": "C28B", "dasdc": "E000", "dasdd": "C28C"}
        assert "no uids" in found.notes[0] and "with 1 alias; lsdasd -u" in found.notes[0]

    @pytest.mark.parametrize("content", [UIDS, PLAIN])
    def test_a_record_of_a_terminal_and_short_numbers_say_the_same(
        self, tmp_path: Path, content: str
    ) -> None:
        wanted = members_from(file(tmp_path, content))
        lines = content.replace("alias ", "\x1b[31malias\x1b[0m\x1b[K ")
        record = (
            f"Authorized use only\n\x1b]0;lnx1\x07[root@lnx1 ~]# lsdasd\n{lines}[root@lnx1 ~]# exit\nlogout\n"
        )
        for text in (record, content.replace("\n0.0.", "\n")):
            assert members_from(file(tmp_path, text)) == wanted

    def test_an_fba_disk_is_no_volume_of_a_pool(self, tmp_path: Path) -> None:
        disk = numbers("300.00", "100.00", "2.00", "6.00")
        second = report("2024-05-14T10:13:33+0200", dasda=disk, dasdb=disk, dasdc=disk)
        measured = read(file(tmp_path, iostat(BOOT, second)), self.written(tmp_path))
        assert measured.devices.select("label", "device", "kind", "pool", "pool_aliases").rows() == [
            ("dasda", "C28A", "volume", "all", 1), ("dasdb", "C28B", "volume", "all", 1),
            ("dasdc", "E000", "other", None, None),
        ]  # fmt: skip

    def written(self, tmp_path: Path) -> Path:
        """The plain form as a file."""
        path = tmp_path / "lsdasd"
        path.write_text(self.PLAIN, encoding="utf-8")
        return path

    @pytest.mark.long
    def test_members_answer_a_pool_question(self, tmp_path: Path) -> None:
        """What the command does: --pools takes lsdasd where it takes CSV."""
        disk = numbers("300.00", "100.00", "2.00", "6.00")
        second = report("2024-05-14T10:13:33+0200", dasda=disk, dasdb=disk)
        answer = aliases(file(tmp_path, iostat(BOOT, second)), kind="pool", members=self.written(tmp_path))
        assert isinstance(answer, AliasAnswer)
        assert answer.name == "pool all" and answer.in_use == 1 and answer.range[0] <= answer.recommended

    @pytest.mark.parametrize(
        ("old", "new", "match"),
        [
            ("0.0.c28b", "0.0.c28a", "line 4, column 1: 0.0.c28a a second time"),
            ("0.0.c2fe", "0.0.c2f", "line 6, column 1: '0.0.c2f' is no bus id"),
            ("offline", "of line", "line 8, column 1: 'of line' is no status, name or uid of 0.0.0190"),
        ],
    )
    def test_damage_to_the_plain_form(self, tmp_path: Path, old: str, new: str, match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read_lsdasd(file(tmp_path, self.PLAIN.replace(old, new)))

    def test_devices_without_uid_and_aliases_of_one_base_are_named(self, tmp_path: Path) -> None:
        more = UIDS + "0.0.0190 offline\n0.0.c2fd alias IBM.750000000TH031.c280.0b\n"
        found = read_lsdasd(file(tmp_path, more))
        assert "0190, C2FD" in found.notes[0] and "C2FD" not in found.members

    @pytest.mark.parametrize(
        ("content", "match"),
        [
            (UIDS + "0.0.c28a dasdz IBM.7.c.01\n", "line 8, column 1: 0.0.c28a a second time"),
            (UIDS + "garbage\n", "line 8, column 1: 'garbage' is no bus id"),
            ("Bus-ID Name UID\n", "no device with a uid"),
            (UIDS.replace("0.0.c28a", "0.0.c2#a"), "line 3, column 1: '0.0.c2#a' is no bus id"),
        ],
    )
    def test_refusals(self, tmp_path: Path, content: str, match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read_lsdasd(file(tmp_path, content))


@pytest.mark.parametrize("mark", ["\f", "\x85", "\u2028"])
def test_lines_count_as_in_an_editor(mark: str) -> None:
    """Nothing but a line feed begins the next number, and of these only a form feed ends a line."""
    disk = f"Linux 5.14.0 (a)\n{mark}\nDevice r/s w/s r_await w_await aqu-sz %util\ndasda 1.0 1.0 1.0 x.0 0.0 0.1\n\n"
    for reader, content, line in (
        (read_lsdasd, f"# {mark}\n{UIDS}garbage\n", 9),
        (read_iostat, disk, 4),
        (read_dasd_statistics, f"# {mark}\n{DEBUGFS.replace('total_requests 40', 'start_time x')}", 3),
    ):
        with pytest.raises(ReportError) as raised:
            reader("given", content.encode())
        assert raised.value.line == line
    if mark != "\f":
        with pytest.raises(ReportError, match=r"line 4, column 1: 'das\sdb .* is no status, name or uid"):
            read_lsdasd("given", UIDS.replace("dasdb", f"das{mark}db").encode())


def report(time: str | None, **disks: dict[str, str]) -> dict[str, Any]:
    listed = [{"disk_device": name, **numbers} for name, numbers in disks.items()]
    return {"disk": listed} if time is None else {"timestamp": time, "disk": listed}


def iostat(*reports: dict[str, Any]) -> str:
    """A run of iostat on one host; words between # are printed bare."""
    host = {"nodename": "lnx1", "sysname": "Linux", "number-of-cpus": 4, "statistics": list(reports)}
    return json.dumps({"sysstat": {"hosts": [host]}}).replace('"#', "").replace('#"', "")


def numbers(reads: str, writes: str, read_wait: str, write_wait: str, **others: str) -> dict[str, str]:
    """Numbers as iostat prints them: bare, with their decimals."""
    given_ = {
        "r/s": reads,
        "w/s": writes,
        "r_await": read_wait,
        "w_await": write_wait,
        "aqu-sz": "1.00",
        **others,
    }
    return {name: f"#{value}#" for name, value in given_.items()}


BOOT = report("2024-05-14T10:12:33+0200", dasda=numbers("1.00", "1.00", "9.00", "9.00"))


def test_a_lost_line_between_two_devices_of_lsdasd_is_refused() -> None:
    """Found by fuzzing: the attributes of the second device became those of the first."""
    device = "0.0.{}/dasd{}/94:0\n  status:\tactive\n  uid:\tIBM.1.c280.0a\n"
    text = device.format("262f", "a") + device.format("d7f2", "b")
    assert len(read_lsdasd("given", text.encode()).members) == 2
    with pytest.raises(ReportError, match=r"line 4: status a second time for 0\.0\.262f"):
        read_lsdasd("given", text.replace("0.0.d7f2/dasdb/94:0\n", "").encode())


class TestIostat:
    def test_rates_and_waits_are_mixed_by_their_rates(self, tmp_path: Path) -> None:
        second = report("2024-05-14T10:13:33+0200", dasda=numbers("300.00", "100.00", "2.00", "6.00"),
                        sda=numbers("0.00", "0.00", "0.00", "0.00"))  # fmt: skip
        content = iostat(BOOT, second)
        assert is_iostat(content.encode()[:1000])
        found = read_iostat(file(tmp_path, content))
        assert found.devices is not None
        row, idle = found.devices.rows(named=True)
        assert row["system"] == "lnx1" and row["label"] == "dasda" and row["kind"] == "volume"
        assert row["start"].isoformat() == "2024-05-14T10:12:33" and row["utc_offset"] == 7200
        assert row["interval"] == 60.0 and row["io_rate"] == 400.0 and row["response"] == pytest.approx(0.003)
        assert row["io_rate_low"] == pytest.approx(399.99) and row["io_rate_high"] == pytest.approx(400.01)
        assert (
            row["response_low"] < row["response"] - 4.9e-6 and row["response_high"] > row["response"] + 4.9e-6
        )
        assert row["service"] is None and row["queued"] is None
        assert idle["kind"] == "other" and idle["io_rate"] == 0 and idle["response"] is None
        assert "since the system was started, is left out" in found.notes[0]

    def test_discards_and_flushes_of_newer_releases_count(self, tmp_path: Path) -> None:
        more = {"d/s": "50.00", "d_await": "1.00", "f/s": "50.00", "f_await": "4.00"}
        second = report("2024-05-14T10:13:33+0200", dasda=numbers("300.00", "100.00", "2.00", "6.00", **more))
        found = read_iostat(file(tmp_path, iostat(BOOT, second)))
        assert found.devices is not None
        row = found.devices.row(0, named=True)
        assert row["io_rate"] == 500.0 and row["response"] == pytest.approx((0.6 + 0.6 + 0.05 + 0.2) / 500)

    def test_device_numbers_and_pools_come_from_lsdasd(self, tmp_path: Path) -> None:
        second = report("2024-05-14T10:13:33+0200", dasda=numbers("3.00", "1.00", "2.00", "6.00"))
        found = read_iostat(file(tmp_path, iostat(BOOT, second)))
        assert found.devices is not None
        named = name_devices(found.devices, read_lsdasd(file(tmp_path, UIDS)))
        assert named["device"].to_list() == ["C28A"]

    @pytest.mark.parametrize(
        ("times", "start", "seconds"),
        [
            (("05/06/24 10:12:33", "05/06/24 10:13:33"), None, 60.0),  # May or June, a minute in any case
            (("05/06/24 23:59:33", "05/07/24 00:00:33"), datetime(2024, 5, 6, 23, 59, 33), 60.0),  # else it is a month
            (("14.05.2024 10:12:33", "14.05.2024 10:13:33"), datetime(2024, 5, 14, 10, 12, 33), 60.0),
            (("05.06.24 10:12:33", "05.06.24 10:13:33"), datetime(2024, 6, 5, 10, 12, 33), 60.0),
            (("14/05/24 10:12:33", "14/05/24 10:13:33"), datetime(2024, 5, 14, 10, 12, 33), 60.0),
            (("2024年05月14日 10时12分33秒", "2024年05月14日 10时13分33秒"), datetime(2024, 5, 14, 10, 12, 33), 60.0),
            (("2024-05-14 12:12:33 a.m.", "2024-05-14 12:13:33 a.m."), datetime(2024, 5, 14, 0, 12, 33), 60.0),
            (("Time: 11:59:30 PM", "Time: 12:00:30 AM"), None, 60.0),
            ((None, None), None, None),
        ],
    )  # fmt: skip
    def test_dates_of_several_languages(
        self, tmp_path: Path, times: tuple[str, str], start: datetime | None, seconds: float | None
    ) -> None:
        disk = numbers("3.00", "1.00", "2.00", "6.00")
        found = read_iostat(file(tmp_path, iostat(*(report(time, dasda=disk) for time in times))))
        assert found.devices is not None
        assert found.devices.select("start", "interval").row(0) == (start, seconds)
        assert (start is None) == any("S_TIME_FORMAT=ISO" in note for note in found.notes)

    def test_american_times_have_one_meaning(self, tmp_path: Path) -> None:
        disk = numbers("3.00", "1.00", "2.00", "6.00")
        times = ("05/14/2024 11:59:30 AM", "05/14/2024 12:00:30 PM")
        found = read_iostat(file(tmp_path, iostat(*(report(time, dasda=disk) for time in times))))
        assert found.devices is not None and found.devices["interval"].to_list() == [60.0]

    @pytest.mark.parametrize(
        ("content", "match"),
        [
            (iostat(BOOT)[:-20], "perhaps cut off"),
            (iostat(BOOT, BOOT), "expected reports in order of time"),
            (iostat(BOOT, report(None, dasda={"r/s": "x"})), "r/s is 'x': expected a number"),
            (iostat(BOOT, report(None, dasda={"r/s": "#1.00#"})), "without -x: response times are missing; use -x"),
            *(
                (iostat(BOOT, report(None, dasda=numbers("1.00", "1.00", wrong, "9.00"))), "r_await is .*: expected")
                for wrong in ("true", "null", "[1.00]", "{}", "NaN", "-1.00")
            ),
            (iostat(BOOT, {"disk": "dasda"}), "disk is 'dasda': expected a list of objects"),
            (iostat(BOOT, {"disk": [1]}), "disk is .'1'.: expected a list of objects"),
            (iostat(BOOT, 3), "statistics is .*: expected a list of objects"),
            (iostat(BOOT, BOOT).replace('"lnx1"', "[1]"), "nodename is .'1'.: expected a text"),
            ('{"sysstat": {"hosts": true}}', "hosts is True: expected a list of objects"),
            ('{"sysstat": {"hosts": ' + "[" * 100_000, "nested too deeply"),
            ('{"sysstat": {}}', "no hosts"),
            ('{"sysstat": {"hosts": []}}', "no hosts"),
        ],
    )  # fmt: skip
    def test_refusals(self, tmp_path: Path, content: str, match: str) -> None:
        with pytest.raises(ReportError, match=match):
            read_iostat(file(tmp_path, content))


def histogram(**counts: int) -> str:
    """Thirty-two counts; ``at_3=7`` puts 7 into class 3."""
    found = [0] * 32
    for name, count in counts.items():
        found[int(name.removeprefix("at_"))] = count
    return " ".join(map(str, found))


DEBUGFS = f"""\
start_time 1283518578.085869197
total_requests 40
total_sectors 320
total_pav 10
total_hpf 40
histogram_sectors {histogram(at_1=40)}
histogram_io_times {histogram(at_8=30, at_9=10)}
histogram_io_times_weighted {histogram(at_5=40)}
histogram_time_build_to_ssch {histogram(at_0=30, at_8=10)}
histogram_time_ssch_to_irq {histogram(at_8=40)}
histogram_time_ssch_to_irq_weighted {histogram(at_5=40)}
histogram_time_irq_to_end {histogram(at_0=40)}
histogram_ccw_queue_length {histogram(at_1=20, at_2=10, at_3=10)}
total_read_requests 30
"""


def printed(**counts: int) -> str:
    """A histogram as dasdstat prints it, eight columns (`-c 8`)."""
    numbers = histogram(**counts).split()
    return "\n".join("".join(f"{number:>8}" for number in numbers[k : k + 8]) for k in range(0, 32, 8))


DASDSTAT = f"""\
--------------------------------------------------------------------------------
statistics data for statistic: dasdc
start time of data collection: Fri Dec 11 14:22:18 CET 2015

7 dasd I/O requests
with 4000 sectors(512B each)
3 requests used a PAV alias device
7 requests used HPF
   __<4    ___8    __16    __32    __64    _128    _256    _512
   __1k    __2k    __4k    __8k    _16k    _32k    _64k    128k
   _256    _512    __1M    __2M    __4M    __8M    _16M    _32M
   _64M    128M    256M    512M    __1G    __2G    __4G    _>4G
Histogram of sizes (512B secs)
{printed(at_8=7)}
Histogram of I/O times (microseconds)
{printed(at_9=7)}
Histogram of I/O time between ssch and irq
{printed(at_7=7)}
# of req in chanq at enqueuing (0..31)
{printed(at_1=4, at_2=3)}
"""


PROC = f"""\
7 dasd I/O requests
with 4000 sectors(512B each)
Scale Factor is  2
   __<4    ___8    __16    __32
Histogram of sizes (512B secs)
{printed(at_8=3)}
Histogram of I/O times (microseconds)
{printed(at_9=3)}
Histogram of I/O times per sector
{printed(at_2=3)}
Histogram of I/O time between ssch and irq
{printed(at_7=3)}
# of req in chanq at enqueuing (1..32)
{printed(at_1=2, at_2=1)}
"""


class TestDasdStatistics:
    def test_the_sum_over_all_devices_is_no_volume(self, tmp_path: Path) -> None:
        assert is_dasd_statistics(PROC.encode())
        (found,) = read_dasd_statistics(file(tmp_path, PROC))
        assert found.all_devices and found.requests == 7 and found.histograms["service"][7] == 6
        table = tables(file(tmp_path, PROC))
        assert table.devices is not None and not table.devices.height
        assert "a sum over volumes is none" in table.notes[0]

    def test_tunedasd_prints_one_device(self, tmp_path: Path) -> None:
        """Its scale is written small; its name is not printed, so that of the file stands for it."""
        (found,) = read_dasd_statistics(
            file(tmp_path, PROC.replace("Scale Factor is  2", "Scale factor is 2 "))
        )
        assert not found.all_devices and found.histograms["queue"].tolist()[:3] == [0, 4, 2]

    def test_reads_and_writes_of_the_long_form_do_not_count_twice(self, tmp_path: Path) -> None:
        part = DASDSTAT.split("\n\n", 1)[1]
        reads = part.replace("7 dasd I/O requests", "5 dasd I/O read requests").replace(
            "3 requests used a PAV", "2 requests used a PAV"
        )
        writes = part.replace("7 dasd I/O requests", "2 dasd I/O write requests").replace(
            "3 requests used a PAV", "1 requests used a PAV"
        )
        second = DASDSTAT.replace("dasdc", "dasdd")
        long = f"{DASDSTAT}\n{reads}\n{writes}\n{second}\n{reads}\n{writes}"
        short = read_dasd_statistics(file(tmp_path, f"{DASDSTAT}\n{second}"))
        for one, other in zip(read_dasd_statistics(file(tmp_path, long)), short, strict=True):
            assert (one.name, one.requests, one.via_alias, one.sectors) == (
                other.name,
                other.requests,
                3,
                4000,
            )
            assert all((one.histograms[key] == other.histograms[key]).all() for key in other.histograms)

    def test_statistics_that_were_off_are_named(self, tmp_path: Path) -> None:
        off = "Statistics are off - they might be switched on using 'echo set on > /proc/dasd/statistics'\n"
        assert is_dasd_statistics(off.encode())
        with pytest.raises(ReportError, match="were off; dasdstat -e starts them"):
            read_dasd_statistics(file(tmp_path, off))

    def test_alias_use_and_queue_lengths_come_straight_out(self, tmp_path: Path) -> None:
        (found,) = read_dasd_statistics(file(tmp_path, DEBUGFS))
        assert found.alias_share == 0.25 and found.start == 1283518578.085869197
        assert found.queue_length is not None
        assert found.queue_length[:4].tolist() == [0, 0.5, 0.25, 0.25]
        service = found.mean("service")
        assert service is not None  # class 8 is 512 to 1024 microseconds
        assert (service.low, service.high) == (512e-6, 1024e-6) and 700e-6 < service.value < 780e-6

    def test_what_dasdstat_prints_is_the_same(self, tmp_path: Path) -> None:
        assert is_dasd_statistics(DASDSTAT.encode()) and is_dasd_statistics(DEBUGFS.encode())
        (found,) = read_dasd_statistics(file(tmp_path, DASDSTAT))
        assert (found.name, found.requests, found.via_alias, found.sectors) == ("dasdc", 7, 3, 4000)
        assert found.queue_length is not None and found.queue_length[1] == pytest.approx(4 / 7)
        service, response = found.mean("service"), found.mean("response")
        assert service is not None and response is not None
        assert service.low == 256e-6 and response.low == 1024e-6
        assert found.mean("wait") is None

    def test_several_devices_by_grep_or_head(self, tmp_path: Path) -> None:
        names = ("dasda", "dasdb", "global", "0.0.c28a")
        place = "/sys/kernel/debug/dasd/{}/statistics"
        grep = "".join(f"{place.format(name)}:{line}\n" for name in names for line in DEBUGFS.splitlines())
        head = "\n".join(f"==> {place.format(name)} <==\n{DEBUGFS}" for name in names)
        for content in (grep, head):
            assert [each.name for each in read_dasd_statistics(file(tmp_path, content))] == list(names)
        found = tables(file(tmp_path, grep), interval=10.0)
        assert found.devices is not None
        assert found.devices.select("label", "io_rate", "alias_rate").rows() == [
            ("dasda", 4.0, 1.0),
            ("dasdb", 4.0, 1.0),
        ]
        assert "global, 0.0.c28a left out" in found.notes[0]

    def test_without_the_time_counted_there_are_no_rates(self, tmp_path: Path) -> None:
        found = tables(file(tmp_path, DEBUGFS))
        assert found.devices is not None and found.devices["io_rate"].null_count() == 1
        assert found.devices["service"].null_count() == 0 and "no rates" in found.notes[0]

    def test_averages_of_newer_kernels_come_first(self, tmp_path: Path) -> None:
        more = DEBUGFS.replace(
            "histogram_sectors", "avg_total 900\navg_ssch_to_irq 700\nhistogram_sectors", 1
        )
        (found,) = read_dasd_statistics(file(tmp_path, more))
        service = found.mean("service")
        assert (
            service is not None
            and service.low == pytest.approx(700e-6)
            and service.high == pytest.approx(701e-6)
        )

    def test_two_readings_of_one_device(self, tmp_path: Path) -> None:
        (before,) = read_dasd_statistics(file(tmp_path, DEBUGFS))
        later = DEBUGFS.replace("total_requests 40", "total_requests 50").replace(
            histogram(at_8=40), histogram(at_8=40, at_9=10)
        )
        (now,) = read_dasd_statistics(file(tmp_path, later))
        found = now.since(before)
        assert found.requests == 10 and found.histograms["service"].tolist()[8:10] == [0, 10]
        with pytest.raises(InputError, match="at most 40"):
            before.since(now)

    def test_the_average_between_two_readings_is_that_of_the_requests_between(self, tmp_path: Path) -> None:
        """40 requests of 700 us, then 50 of 740: the ten between took 50 x 740 - 40 x 700 = 9,000 us together."""
        first = DEBUGFS.replace("histogram_sectors", "avg_ssch_to_irq 700\nhistogram_sectors", 1)
        later = first.replace("total_requests 40", "total_requests 50").replace("irq 700", "irq 740")
        (before,), (now,) = (read_dasd_statistics(file(tmp_path, text)) for text in (first, later))
        service = now.since(before).mean("service")
        assert service is not None
        # Printed averages are cut off: 700 stands for 700 to 701.
        assert (service.low, service.high) == (
            pytest.approx((50 * 740 - 40 * 701) * 1e-6 / 10),
            pytest.approx((50 * 741 - 40 * 700) * 1e-6 / 10),
        )
        assert service.low <= service.value <= service.high
        assert now.since(now).mean("service") is None

    @pytest.mark.parametrize(
        ("old", "new", "match"),
        [
            ("total_pav 10", "total_pav 41", "41 requests used an alias, of 40"),
            (f"io_times {histogram(at_8=30, at_9=10)}", "io_times 1 2 3", "line 7: .* has 3 numbers: expected 32"),
            ("total_sectors 320", "total_requests 40", "a second time"),
            ("histogram_sectors", "histogram_io_times", "histogram_io_times a second time"),
            ("total_requests 40\n", "", "no number of requests"),
        ],
    )  # fmt: skip
    def test_refusals(self, tmp_path: Path, old: str, new: str, match: str) -> None:
        assert old in DEBUGFS
        with pytest.raises(ReportError, match=match):
            read_dasd_statistics(file(tmp_path, DEBUGFS.replace(old, new)))
        with pytest.raises(ReportError, match="no statistics"):
            read_dasd_statistics(file(tmp_path, ""))


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=50))
def test_the_mean_of_any_times_lies_within_that_of_their_histogram(microseconds: list[int]) -> None:
    counts = np.histogram(np.array(microseconds) * 1e-6, [*EDGES[:-1].tolist(), 1e9])[0]
    content = f"total_requests {len(microseconds)}\nhistogram_time_ssch_to_irq {' '.join(map(str, counts))}\n"
    (found,) = read_dasd_statistics("given", content.encode())
    mean = found.mean("service")
    assert mean is not None
    assert mean.low <= mean.value <= mean.high
    assert mean.low * (1 - 1e-9) <= np.mean(microseconds) * 1e-6 <= mean.high * (1 + 1e-9)


def test_the_tables_have_the_columns_of_the_schema(tmp_path: Path) -> None:
    frame = tables(file(tmp_path, DEBUGFS)).devices
    assert frame is not None and frame.columns == [column.key for column in schema.DEVICES]


@pytest.mark.parametrize("kind", ["volume", "pool"])
def test_statistics_without_rates_are_no_measurement_of_aliases(kind: str) -> None:
    with pytest.raises(
        InputError, match=r"there is none; .*: the statistics do not say how long they counted"
    ):
        aliases("docs/examples/dasd-statistics.txt", kind=kind)
