"""Tables of volumes that people write: the columns they may have, and every way to be wrong, with line and column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.errors import PlannerError, ReportError
from planner.measurements import intervals, pool_runs, read


def table(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "volumes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return read(path).devices.rows(named=True)


def test_the_least_that_a_table_can_say(tmp_path: Path) -> None:
    (row,) = rows_of(table(tmp_path, "Volume,IO_Rate,service_ms", "PROD01,755,1.30"))
    assert (row["label"], row["pool"], row["pool_aliases"], row["queued"]) == ("PROD01", None, None, None)
    assert (row["io_rate"], row["io_rate_high"], row["response"], row["device"]) == (755, 755.5, None, None)
    # Perhaps a sum of three rounded parts.
    assert (row["service"], row["service_low"]) == (pytest.approx(1.3e-3), pytest.approx(1.285e-3))


def test_all_that_it_can_say_in_any_order(tmp_path: Path) -> None:
    header = "queued,aliases,lcu,pool,device,response_ms,service_ms,io_rate"
    first, second = rows_of(table(tmp_path, header, "1.84,8,07,A,522a,3.7,1.3,755", ",8,07,A,522B,,,0"))
    assert [(row["device"], row["pool"], row["pool_aliases"], row["line"]) for row in (first, second)] == [
        ("522A", "A", 8, 2), ("522B", "A", 8, 3),
    ]  # fmt: skip
    assert (first["response"], first["queued_low"]) == (pytest.approx(3.7e-3), pytest.approx(1.835))
    assert second["service"] is None


BAD = {
    "no name": (("io_rate,service_ms", "755,1.3"), "line 1: .* without device or volume"),
    "no rate": (("volume,service_ms", "A,1.3"), "line 1: .* without io_rate"),
    "empty rate": (("volume,io_rate,service_ms", "A,,1.3"), "line 2: no row has all the numbers"),
    "word as rate": (("volume,io_rate,service_ms", "A,fast,1.3"), "line 2, column 3: io_rate 'fast'"),
    "negative": (("volume,io_rate,service_ms", "A,1,1.3", "B,-755,1.3"), "line 3, column 3: io_rate '-755'"),
    "infinite": (("volume,io_rate,service_ms", "A,inf,1.3"), "column 3: io_rate 'inf': .* zero or above .1/s."),
    "not a number": (("volume,io_rate,service_ms", "A,1,nan"), "service of device A is not given: .* line 2 of"),
    "no service": (("volume,io_rate,service_ms", "A,755,"), "service of device A is not given: .* line 2 of"),
    "a volume twice": (("volume,io_rate,service_ms", "A,1,1", "B,1,1", "A,2,1"), "line 4, column 1: .* in line 2"),
    "a device twice": (("pool,device,io_rate,service_ms", "1,522A,1,1", "2,522a,2,1"), "line 3, .*first in line 2"),
    "no device number": (("device,io_rate,service_ms", "PROD01,1,1"), "line 2, column 1: .*hexadecimal"),
    "two alias counts": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,4", "1,B,1,1,5"), "as in line 2"),
    "part of an alias": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,4.5"), "line 2, column 9: .*whole"),
    "too many aliases": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,256"), "line 2, column 9: .*0 to 255"),
    "response below service": (
        ("volume,io_rate,service_ms,response_ms", "A,100,1.3,1.0"), "response of A .* at least the service time",
    ),
    "queue against response": (
        ("volume,io_rate,service_ms,response_ms,queued", "A,100,1.3,2.3,5"), "contradict each other",
    ),
    "a short row": (("volume,io_rate,service_ms", "A,1"), "line 2, column 4: 2 cells"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_an_error_with_its_place(case: str, tmp_path: Path) -> None:
    lines, problem = BAD[case]
    with pytest.raises(PlannerError, match=problem):
        pool_runs(intervals(read(table(tmp_path, *lines)))[-1])


def test_the_one_table_tells_volumes_apart_by_pool_and_devices_by_number(tmp_path: Path) -> None:
    """Volumes of one name may stand in several pools; a device number is one device, whatever its pool."""
    volumes = read(table(tmp_path, "pool,volume,io_rate,service_ms", "A,01,1,1", "B,01,1,1")).devices
    assert volumes.select("pool", "label").rows() == [("A", "01"), ("B", "01")]
    for key, rows in (("volume", ("A,01,1,1", "A,01,2,1")), ("device", ("A,522A,1,1", "B,522A,1,1"))):
        with pytest.raises(ReportError, match=r"line 3, .*a second time, first in line 2"):
            read(table(tmp_path, f"pool,{key},io_rate,service_ms", *rows))


def test_an_hour_that_a_clock_shows_twice_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Times that go on and come back are a clock set back; the same row twice on end is not."""
    header, *rows = "start,volume,io_rate,service_ms", *(f"2026-10-25T02:{k},A,1,1" for k in (10, 40, 10))
    with pytest.raises(ReportError, match=r"line 4, .* if the clock was set back, .*\+01:00"):
        read(table(tmp_path, header, *rows))
    with pytest.raises(ReportError, match=r"line 4, .*expected each interval of it once$"):
        read(table(tmp_path, header, rows[0], rows[1], rows[1]))
    hourly = [f"2026-10-25T02:00,{name},1,1" for name in "ABAB"]  # hours of several volumes
    with pytest.raises(ReportError, match=r"line 4, .* if the clock was set back"):
        read(table(tmp_path, header, *hourly))


def test_an_interval_in_a_longer_one_is_refused_with_both_lengths(tmp_path: Path) -> None:
    """As the sum of a day below its hours, or listings that all begin where the monitor was started."""
    header, *rows = (
        "start,interval_s,volume,io_rate,service_ms",
        "2026-10-25,900,A,1,1",
        "2026-10-25,86400,A,1,1",
    )
    with pytest.raises(ReportError, match=r"one is of 900 s, one of 86400: leave out what sums up"):
        read(table(tmp_path, header, *rows))


@pytest.mark.parametrize("length", ["0", "0.0", "00:00:00", "-900", "1e-400"])
def test_an_interval_has_a_length(tmp_path: Path, length: str) -> None:
    """One of none would count in the worst interval, and weigh nothing in a mean or a share of the time."""
    rows = "start,interval_s,volume,io_rate,service_ms", f"2026-10-25,{length},A,1,1"
    with pytest.raises(ReportError, match=r"line 2, .*: expected a number above zero \[s\], of seconds"):
        read(table(tmp_path, *rows))


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("name", ["A", '"A"'])
def test_tables_put_together_have_their_header_again(tmp_path: Path, separator: str, name: str) -> None:
    lines = ["volume,io_rate,service_ms", f"{name},1,1", "", "volume,io_rate,service_ms", "B,2,1"]
    found = read(table(tmp_path, *(line.replace(",", separator) for line in lines))).devices
    assert found.select("label", "io_rate", "line").rows() == [("A", 1, 2), ("B", 2, 5)]


def test_windows_1252_is_read_with_a_note(tmp_path: Path) -> None:
    text = "Volume;IO rate (1/s);Service time (µs);Pool\nPROD01;755;1300;Köln\n"
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode("cp1252"))
    found = read(path)
    assert found.devices.select("service", "pool").row(0) == (pytest.approx(1.3e-3), "Köln")
    assert found.notes[0] == f"{path}: no text in UTF-8, read as Windows-1252."
    path.write_bytes(text.encode("cp1252") + b"\x81;1;1;A\n")  # no sign of Windows-1252
    with pytest.raises(ReportError):
        read(path)
