"""Loads that would count twice are refused by every question that adds intervals up, by the same check."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import planner
from planner.demand import DeviceModel, Target
from planner.errors import ReportError
from planner.measurements.read import read
from planner.reports import schema
from planner.reports.schema import refuse_twice
from planner.site.growth.limits import GrowthQuestion, site_growth
from planner.site.question import site

BEGIN = datetime(2026, 3, 2)
TWICE = "V1 a second time at 2026-03-02 00:00:00.*, first in line"


def hours(step: int, many: int = 24) -> pl.DataFrame:
    """Two volumes of a pool, an interval each so many hours."""
    starts = [BEGIN + timedelta(hours=step * k) for k in range(many // step)]
    count = len(starts)
    return pl.DataFrame(
        {"volume": ["V1", "V2"] * count, "pool": "P", "aliases": 2, "io_rate": 200.0, "service_ms": 2.0,
         "queued": 0.5, "start": [start for start in starts for _ in range(2)], "interval_s": 3600.0 * step}
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("interval", [None, "mean"])
@pytest.mark.parametrize(("names", "left_out"), [("P", []), ("V1, V2", ["pool", "aliases"])])
def test_intervals_that_overlap_are_said_by_aliases_and_site_alike(
    interval: str | None, names: str, left_out: list[str]
) -> None:
    table = hours(8).drop(left_out).with_columns(interval_s=57600.0)
    said = "longer than the time to the next one, the first of 57,600 s at 2026-03-02T00:00:00 with 28,800 s"
    found = planner.aliases(table, interval=interval)
    (note,) = (each for each in found.notes if "longer" in each)
    assert note.startswith(f"{names}: {2 * len(names.split())} intervals {said}")
    assert any(said in each for each in site(table).notes)
    assert not any(
        "longer" in each for each in planner.aliases(hours(8).drop(left_out), interval=interval).notes
    )


def test_rows_without_a_time_below_one_with_a_time_stand_twice_too() -> None:
    first, second = read(hours(24)).devices.iter_slices(1)
    undated = second.with_columns(start=pl.lit(None, pl.Datetime("us")))
    with pytest.raises(
        ReportError, match=r"V2 a second time, first in line 2 .*expected each interval of it once$"
    ):
        refuse_twice(pl.concat([first, undated, undated]))


def ask_growth(sources: object) -> object:
    return site_growth(
        read(sources), GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target())
    )


def ask_site(sources: object) -> object:
    return site(sources)


def ask_aliases(sources: object) -> object:
    return planner.aliases(sources, interval="mean")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """An archive, and the table that it was made of."""
    folder = tmp_path_factory.mktemp("twice")
    hours(1).write_csv(folder / "site.csv", datetime_format="%Y-%m-%dT%H:%M")
    from planner.measurements.collect import collect

    collect([folder / "site.csv"], folder / "archive")
    return [folder / "archive", folder / "site.csv"]


@pytest.mark.parametrize("ask", [ask_growth, ask_site, ask_aliases])
def test_what_would_count_twice_is_refused(ask: Callable[[object], object], collected: list[Path]) -> None:
    """The same file twice, an archive and its source, hours beside two hours."""
    for sources in ([collected[1], collected[1]], collected, [hours(1), hours(2)]):
        with pytest.raises(ReportError, match=TWICE):
            ask(sources)


def test_equal_rows_of_two_files_are_said_to_be_equal(collected: list[Path]) -> None:
    """Exports that overlap: an archive takes each row once. Rows that differ have no such way out."""
    table, again = hours(1), hours(1)
    for sources in ([collected[1], collected[1]], [table, again]):
        with pytest.raises(
            ReportError, match=r"the two rows are equal: .*planner collect.* takes each row once"
        ):
            read_at(sources)
    for sources in ([table, hours(2)], [table, again.with_columns(queued=0.6)]):
        with pytest.raises(ReportError, match=TWICE) as caught:
            read_at(sources)
        assert "planner collect" not in str(caught.value)


def read_at(sources: list[Path] | list[pl.DataFrame]) -> object:
    return read(sources, interval="worst")


def test_data_spaces_count_once() -> None:
    space = {"system": "A", "start": [BEGIN] * 2, "owner": "SYSTEM", "name": ["PTRM0000", "PTRM0001"]}
    rows = schema.frame(schema.STORAGE, {**space, "resident": [1.0, 2.0]})
    refuse_twice(rows)
    with pytest.raises(ReportError, match="PTRM0000 of SYSTEM a second time at 2026-03-02"):
        refuse_twice(pl.concat([rows, rows[:1]]))
    summer, winter = (rows.with_columns(pl.lit(each, pl.Int32).alias("utc_offset")) for each in (7200, 3600))
    refuse_twice(pl.concat([summer, winter[:1]]))
    with pytest.raises(ReportError, match="a second time at 2026-03-02 00:00:00, first in data frame"):
        refuse_twice(pl.concat([rows, winter[:1]]))  # only one of them says its clock


@pytest.mark.long
def test_an_hour_that_clocks_repeat_adds_up_to_nothing_higher() -> None:
    """All hours have their offset, and clocks go back at three each night: the rate stays what each of them says."""
    steady = hours(1).with_columns(queued=0.2, aliases=0)  # quick to solve
    days = [steady.with_columns(pl.col("start") + timedelta(days=day)) for day in range(20)]
    start = pl.col("start")
    nights = (start - BEGIN).dt.total_days() + (start.dt.hour() >= 3)
    rows = read([pl.concat(days)]).devices.with_columns(
        (7200 - 3600 * nights).cast(pl.Int32).alias("utc_offset")
    )
    again = rows.filter(start.dt.hour() == 2).with_columns(pl.col("utc_offset") - 3600)
    given = GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target())
    plain, repeated = (
        site_growth(read(frame), given).to_dict()["limits"][0]["now"]
        for frame in (rows, pl.concat([rows, again]))
    )
    assert repeated == pytest.approx(plain)
