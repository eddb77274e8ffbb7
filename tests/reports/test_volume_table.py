"""Tables of volumes that people write: the columns they may have, and every way to be wrong, with line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import ReportError
from planner.measurements import read
from planner.reports.volume_totals import read_totals


def table(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "volumes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_least_that_a_table_can_say(tmp_path: Path) -> None:
    (row,) = read_totals(table(tmp_path, "Volume,IO_Rate,service_ms", "PROD01,755,1.30"))
    assert (row.volume, row.pool, row.aliases, row.queued, row.response) == ("PROD01", None, None, None, None)
    assert row.service is not None
    assert (row.io_rate.value, row.io_rate.half) == (755, 0.5)
    assert (row.service.value, row.service.half) == (pytest.approx(1.3e-3), pytest.approx(5e-6))
    assert not row.is_device


def test_all_that_it_can_say_in_any_order(tmp_path: Path) -> None:
    header = "queued,aliases,lcu,pool,device,response_ms,service_ms,io_rate"
    rows = read_totals(table(tmp_path, header, "1.84,8,07,A,522a,3.7,1.3,755", ",8,07,A,522B,,,0"))
    assert [row.volume for row in rows] == ["522A", "522B"]
    assert [row.pool for row in rows] == ["A", "A"]
    assert [row.aliases for row in rows] == [8, 8]
    assert rows[0].response is not None and rows[0].queued is not None
    assert rows[0].response.value == pytest.approx(3.7e-3)
    assert rows[0].queued.half == pytest.approx(0.005)
    assert rows[1].service is None
    assert [row.line for row in rows] == [2, 3]


def test_volumes_of_one_name_may_stand_in_several_pools(tmp_path: Path) -> None:
    rows = read_totals(table(tmp_path, "pool,volume,io_rate,service_ms", "A,01,1,1", "B,01,1,1"))
    assert [(row.pool, row.volume) for row in rows] == [("A", "01"), ("B", "01")]


BAD = {
    "no name": (("io_rate,service_ms", "755,1.3"), "missing device", 1, 19),
    "no rate": (("volume,service_ms", "A,1.3"), "missing io_rate", 1, 18),
    "empty rate": (("volume,io_rate,service_ms", "A,,1.3"), "io_rate is empty", 2, 3),
    "word as rate": (("volume,io_rate,service_ms", "A,fast,1.3"), "'fast'", 2, 3),
    "negative": (("volume,io_rate,service_ms", "A,1,1.3", "B,-755,1.3"), "'-755'", 3, 3),
    "infinite": (("volume,io_rate,service_ms", "A,inf,1.3"), "'inf': expected a number, zero or above .1/s.", 2, 3),
    "not a number": (("volume,io_rate,service_ms", "A,1,nan"), "'nan': expected a number, zero or above .ms.", 2, 5),
    "no service": (("volume,io_rate,service_ms", "A,755,"), "service_ms is empty or 0", 2, 7),
    "service of zero": (("volume,io_rate,service_ms", "A,755,0"), "service_ms is empty or 0", 2, 7),
    "a volume twice": (("volume,io_rate,service_ms", "A,1,1", "B,1,1", "A,2,1"), "first in line 2", 4, 1),
    "a device twice": (("pool,device,io_rate,service_ms", "1,522A,1,1", "2,522a,2,1"), "first in line 2", 3, 3),
    "no device number": (("device,io_rate,service_ms", "PROD01,1,1"), "hexadecimal", 2, 1),
    "two alias counts": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,4", "1,B,1,1,5"), "as in line 2", 3, 9),
    "part of an alias": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,4.5"), "whole number", 2, 9),
    "too many aliases": (("pool,volume,io_rate,service_ms,aliases", "1,A,1,1,256"), "0 to 255", 2, 9),
    "response below service": (("volume,io_rate,service_ms,response_ms", "A,100,1.3,1.1"), "below service_ms", 2, 11),
    "queue against response": (
        ("volume,io_rate,service_ms,response_ms,queued", "A,100,1.3,2.3,5"), "contradict each other", 2, 15,
    ),
    "busier than there are devices": (
        ("volume,io_rate,service_ms,queued", "A,1000,1.30,0.5"), "at most 1, base and aliases", 2, 3,
    ),
    "a short row": (("volume,io_rate,service_ms", "A,1"), "2 cells", 2, 4),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_an_error_with_its_place(case: str, tmp_path: Path) -> None:
    lines, problem, line, column = BAD[case]
    with pytest.raises(ReportError, match=problem) as caught:
        read_totals(table(tmp_path, *lines))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_the_one_table_tells_volumes_apart_by_pool_and_devices_by_number(tmp_path: Path) -> None:
    """Volumes of one name may stand in several pools; a device number is one device, whatever its pool."""
    volumes = read(table(tmp_path, "pool,volume,io_rate,service_ms", "A,01,1,1", "B,01,1,1")).devices
    assert volumes.select("pool", "label").rows() == [("A", "01"), ("B", "01")]
    for key, rows in (("volume", ("A,01,1,1", "A,01,2,1")), ("device", ("A,522A,1,1", "B,522A,1,1"))):
        with pytest.raises(ReportError, match=r"line 3, .*a second time, first in line 2"):
            read(table(tmp_path, f"pool,{key},io_rate,service_ms", *rows))
