"""Volume counters: the report's own example, wraps and restarts, deltas, and no I/O counted twice."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner import render
from planner.errors import ReportError
from planner.measurements import Measured, intervals, read, volume_runs
from planner.measurements.shown import MeasuredAnswer
from planner.reports.membership import Membership, read_membership
from planner.reports.moments import moment_of
from planner.reports.supply import VOLUME_COLUMNS as COLUMNS

UNIT = 128e-6
HEADER = ",".join([*COLUMNS, "queue"])
# Columns: ssch, fpt, cnt, ddt of the base; the same of the aliases. 1.2 ms at 400/s and 1.4 ms at 700/s for 800 s.
EXAMPLE = (320_000, 0, 3_000_000, 0, 560_000, 0, 6_125_000, 0)


def written(tmp_path: Path, *rows: tuple[object, ...], header: str = HEADER) -> Path:
    path = tmp_path / "counters.csv"
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def members(tmp_path: Path, *rows: str, header: str = "device,role,pool") -> Membership:
    path = tmp_path / "pools.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return read_membership(path)


def read_volume_totals(
    path: Path, membership: Membership | None = None, *, deltas: bool | None = None
) -> Measured:
    """The intervals of each volume added up, as ``--volume-totals`` does."""
    return read(path, membership, interval="mean", deltas=deltas)


def volumes(totals: Measured) -> list[Any]:
    """Volumes with their numbers as attributes, and how many I/Os they did."""
    return [
        SimpleNamespace(**each, ios=round(each["io_rate"] * each["interval"]))
        for each in totals.devices.rows(named=True)
    ]


def one(tmp_path: Path, *rows: tuple[object, ...], header: str = HEADER, deltas: bool | None = None) -> Any:
    (volume,) = volumes(read_volume_totals(written(tmp_path, *rows, header=header), deltas=deltas))
    return volume


def test_the_example_of_the_report(tmp_path: Path) -> None:
    volume = one(tmp_path, (0, "522A", *[0] * 8, 0), (800, "522A", *EXAMPLE, 2.2))
    assert volume.io_rate == 1100
    assert volume.io_rate - volume.alias_rate == 400
    assert volume.connect == pytest.approx((400 * 1.2e-3 + 700 * 1.4e-3) / 1100, rel=1e-14)
    assert round(1e3 * (volume.connect or 0), 2) == 1.33
    assert volume.response == pytest.approx((volume.service or 0) + 2.2 / 1100, rel=1e-14)


def test_all_parts_add_up_to_service(tmp_path: Path) -> None:
    volume = one(tmp_path, (0, "1", *[5] * 8, 0), (10, "1", 105, 6, 7, 8, 205, 105, 205, 305, 0))
    assert volume.ios == 300
    assert volume.pend == pytest.approx(101 * UNIT / 300)
    assert volume.connect == pytest.approx(202 * UNIT / 300)
    assert volume.disconnect == pytest.approx(303 * UNIT / 300)
    assert volume.service == pytest.approx(606 * UNIT / 300)


def test_wraps_gaps_and_restarts(tmp_path: Path) -> None:
    top = 2**32
    rows = [
        (0, "522A", top - 1500, top - 2500, 0, 0, *[0] * 4, 1),
        (10, "522A", top - 500, top - 500, 10, 0, *[0] * 4, 1),
        (20, "522A", 500, 1500, 20, 0, *[0] * 4, 2),
        (50, "522A", 3500, 7500, 50, 0, *[0] * 4, 3),
        (60, "522A", 100, 200, 1, 0, *[0] * 4, 9),
        (70, "522A", 1100, 2200, 11, 0, *[0] * 4, 1),
    ]
    totals = read_volume_totals(written(tmp_path, *rows))
    (volume,) = volumes(totals)
    assert volume.ios == 6000
    assert volume.interval == 60
    assert volume.pend == pytest.approx((2000 + 2000 + 6000 + 2000) * UNIT / 6000)
    assert volume.queued == pytest.approx((10 * 1 + 10 * 2 + 30 * 3 + 10 * 1) / 60)
    assert any("started again" in note for note in totals.notes)


@pytest.mark.parametrize("autumn", [False, True])
def test_an_interval_begins_by_the_clock_of_its_record(autumn: bool, tmp_path: Path) -> None:
    """Where summer time begins or ends, records an hour apart show none or two hours in between."""
    shown = (
        ["02:00+02:00", "02:00+01:00", "03:00+01:00"]
        if autumn
        else ["01:00+01:00", "03:00+02:00", "04:00+02:00"]
    )
    times = [f"2026-10-25T{each[:5]}:00{each[5:]}" for each in shown]
    counted = [(time, "522A", 1000 * k, 5000 * k, 0, 0, *[0] * 4, 1) for k, time in enumerate(times)]
    volumes = read(written(tmp_path, *counted)).devices
    pools = [f"{time},3,{1000 * k},0,4,8,8" for k, time in enumerate(times)]
    supply = "time,pool,IODHPP_HPPTRIES,IODHPP_HPPFAILS,IODHPP_HPPMINCT,IODHPP_HPPMAXCT,aliases"
    path = tmp_path / "supply.csv"
    path.write_text("\n".join([supply, *pools]) + "\n")
    for found in (volumes, read(path).supply):
        assert found["interval"].to_list() == [3600.0, 3600.0]
        begun = [moment_of(row).isoformat() for row in found.select("start", "utc_offset").rows(named=True)]
        assert begun == times[:2]


def test_deltas_by_their_interval(tmp_path: Path) -> None:
    volume = one(
        tmp_path, (800, "522A", *EXAMPLE, 800, 2.2), (1600, "522A", *EXAMPLE, 800, 2.2),
        header=",".join([*COLUMNS, "interval_s", "queue"]),
    )  # fmt: skip
    assert volume.io_rate == 1100
    assert volume.interval == 1600


@pytest.mark.parametrize("dated", [True, False])
def test_what_was_counted_is_asked_as_it_stands_and_from_its_table(tmp_path: Path, *, dated: bool) -> None:
    """Queue, response and service time of a counter have no rounding that could hide the last digit of a float."""
    rows = [
        (f"2026-03-01T10:{k:02}:00" if dated else 60 * k, "522A",
         *(k * n + k * k for n in (7001, 1303, 20011, 907, 5003, 1009, 17011, 811)), 0.1 + k * 0.37)
        for k in range(12)
    ]  # fmt: skip
    measured = read(written(tmp_path, *rows))
    table = tmp_path / "table.csv"
    table.write_text(render.to_csv(MeasuredAnswer(measured).table()), encoding="utf-8")
    for each in (measured, read(table)):
        runs = [volume_runs(one)[0] for one in intervals(each)]
        assert [run.total_queue.value for run in runs] == pytest.approx(
            [0.1 + k * 0.37 for k in range(1, 12)]
        )


def test_an_interval_of_nothing_among_others_is_refused(tmp_path: Path) -> None:
    rows = [(800, "522A", *EXAMPLE, 800, 2.2), (1600, "522A", *EXAMPLE, 0, 2.2)]
    with pytest.raises(ReportError, match=r"line 3, .*interval_s is 0: expected a time above 0"):
        one(tmp_path, *rows, header=",".join([*COLUMNS, "interval_s", "queue"]))


def test_deltas_by_the_clock(tmp_path: Path) -> None:
    rows = [(800 * k, "522A", *EXAMPLE, 2.2) for k in range(4)]
    assert one(tmp_path, *rows, deltas=True).io_rate == 1100
    with pytest.raises(ReportError, match="`deltas`"):
        one(tmp_path, *rows)


def test_deltas_are_seen_where_they_cannot_be_counters(tmp_path: Path) -> None:
    rows = [(10 * k, "522A", n, *[0] * 7, 0) for k, n in enumerate((50, 100, 40, 90, 30, 70))]
    totals = read_volume_totals(written(tmp_path, *rows))
    assert volumes(totals)[0].ios == 330
    assert any("fall too often" in note for note in totals.notes)


def test_aliases_are_no_volumes(tmp_path: Path) -> None:
    rows = [
        (0, "522A", *[0] * 8, 0), (800, "522A", *EXAMPLE, 2.2), (0, "5249", *[0] * 8, 0),
        (800, "5249", *EXAMPLE[4:], *[0] * 4, 0),
    ]  # fmt: skip
    path = written(tmp_path, *rows)
    known = members(tmp_path, "522A,base,3", "5249-5250,alias,3")
    for membership in (
        None,
        known,
    ):  # without members by what they did: just what the base says of its aliases
        totals = read_volume_totals(path, membership)
        assert [volume.device for volume in volumes(totals)] == ["522A"]
        assert sum(volume.ios for volume in volumes(totals)) == 880_000
    assert volumes(read_volume_totals(path, known))[0].pool_aliases == 8


def test_members_from_the_bits_of_the_records(tmp_path: Path) -> None:
    header = ",".join([*COLUMNS, "IODDEV_RDEVHPBA", "IODDEV_RDEVHPAL", "IODDEV_RDEVHPPL"])
    rows = [(t, "522A", *(n * t for n in range(1, 9)), 1, 0, 7) for t in (0, 60)]
    rows += [(t, "5249", *(n * t for n in range(1, 9)), 0, 1, 7) for t in (0, 60)]
    (volume,) = volumes(read_volume_totals(written(tmp_path, *rows, header=header)))
    assert (volume.device, volume.pool, volume.pool_aliases) == ("522A", "7", 1)


def test_an_unnamed_alias_is_told(tmp_path: Path) -> None:
    rows = [
        (0, "522A", *[0] * 8, 0),
        (800, "522A", *EXAMPLE, 0),
        (0, "5249", *[0] * 8, 0),
        (800, "5249", 9, *[0] * 8),
    ]
    totals = read_volume_totals(written(tmp_path, *rows))
    assert totals.devices.height == 2
    assert any("--pools" in note for note in totals.notes)


def test_the_table_reads_back(tmp_path: Path) -> None:
    path = written(tmp_path, (0, "522A", *[0] * 8, 0), (800, "522A", *EXAMPLE, 2.2))
    totals = read_volume_totals(path, members(tmp_path, "522A-5231,base,3", "5249-5250,alias,3"))
    saved = tmp_path / "totals.csv"
    saved.write_text(render.to_csv(MeasuredAnswer(totals).table()), encoding="utf-8")
    (row,) = read(saved).devices.rows(named=True)
    (volume,) = volumes(totals)
    assert (row["device"], row["pool"], row["pool_aliases"]) == ("522A", "3", 8)
    assert (row["io_rate"], row["alias_rate"], row["queued"]) == (
        volume.io_rate,
        volume.alias_rate,
        volume.queued,
    )
    assert row["service"] == pytest.approx(volume.service, rel=1e-14)


BAD = {
    "missing": ((), "time,IODDEV_SCGSSCH", "missing device, IODDEV_SCMFPTIM", 1),
    "backwards": (((0, "1", *[500] * 8, 0), (9, "1", *[600] * 8, 0), (18, "1", *[550] * 8, 0)), HEADER, "backwards", 4),
    "one record": (((0, "1", *[500] * 8, 0), (0, "2", *[1] * 8, 0), (9, "2", *[2] * 8, 0)), HEADER,
                   "one record only", 2),
    "device": (((0, "XYZ", *[5] * 8, 0), (9, "XYZ", *[6] * 8, 0)), HEADER, "hexadecimal", 2),
    "range": (((0, "1-2", *[5] * 8, 0), (9, "1-2", *[6] * 8, 0)), HEADER, "one a row", 2),
    "same time": (((0, "1", *[5] * 8, 0), (0, "1", *[6] * 8, 0)), HEADER, "the same as in line 2", 3),
    "queue": (((0, "1", *[5] * 8, -1), (9, "1", *[6] * 8, 0)), HEADER, "zero or above", 2),
    "two queues": (((0, "1", *[5] * 8, 1, 1),), HEADER + ",queued", "both look like the queue", 2),
    "nothing": (((0, "1", *[5] * 8, 0), (9, "1", *[5] * 8, 0)), HEADER, "no device counted anything", 1),
    "no interval": (((0, "1", *[5] * 8, 0),), ",".join([*COLUMNS, "interval_s"]), "above 0", 2),
}  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.parametrize("case", BAD)
def test_damage_is_named_by_its_line(case: str, tmp_path: Path) -> None:
    rows, header, words, line = BAD[case]
    path = written(tmp_path, *(rows or ((1, 2),)), header=header)
    with pytest.raises(ReportError, match=words) as caught:
        read_volume_totals(path)
    assert caught.value.line == line
    assert caught.value.column is not None


BAD_MEMBERS = {
    "role": (("522A,boss,3",), "device,role,pool", "expected base or alias"),
    "twice": (("522A-522F,base,3", "522B,alias,3"), "device,role,pool", "522B a second time"),
    "twice the same": (("522A,base,3", "522A,base,3"), "device,role,pool", "522A a second time"),
    "in two pools": (
        ("522A,1,0,3", "522A,1,0,4"),
        "device,IODDEV_RDEVHPBA,IODDEV_RDEVHPAL,IODDEV_RDEVHPPL",
        "522A a second time",
    ),
    "columns": (("522A,3",), "device,pool", "missing role"),
    "bits": (("522A,1,3",), "device,IODDEV_RDEVHPBA,IODDEV_RDEVHPPL", "missing IODDEV_RDEVHPAL"),
    "both": (("522A,1,1,3",), "device,IODDEV_RDEVHPBA,IODDEV_RDEVHPAL,IODDEV_RDEVHPPL", "both 1"),
    "pool": (("522A,1,0,",), "device,IODDEV_RDEVHPBA,IODDEV_RDEVHPAL,IODDEV_RDEVHPPL", "number of the pool"),
    "backwards": (("5231-522A,base,3",), "device,role,pool", "lower to a higher"),
}


@pytest.mark.parametrize("case", BAD_MEMBERS)
def test_members_that_cannot_be(case: str, tmp_path: Path) -> None:
    rows, header, words = BAD_MEMBERS[case]
    with pytest.raises(ReportError, match=words):
        members(tmp_path, *rows, header=header)


def test_counters_of_two_systems_are_refused_and_one_is_named(tmp_path: Path) -> None:
    rows = [("VM1", time, "522A", *(part * (time > 0) for part in EXAMPLE), 0) for time in (0, 60)]
    path = written(tmp_path, *rows, header=f"system,{HEADER}")
    assert read(path).devices["system"].to_list() == ["VM1"]
    path = written(tmp_path, rows[0], ("VM2", *rows[1][1:]), header=f"system,{HEADER}")
    with pytest.raises(ReportError, match=r"line 3, column 1: system is 'VM2'"):
        read(path)
