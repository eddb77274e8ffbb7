"""Pools over their intervals: grouping, uneven and missing intervals, clocks that are set back, what is refused."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from planner.demand import DeviceModel, Target
from planner.library import data_path
from planner.measurements.choose import POOL, SYSTEM, VOLUME, groups_of, rows_of
from planner.measurements.over_time import over_time
from planner.site.parts import SitePart
from planner.site.question import need_of, site
from tests.site.large_site import pool_rows

DEVICE = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)


def small(**changes: object) -> pl.DataFrame:
    """Two volumes over six intervals, no queue measured."""
    frame = pool_rows("unknown", seed=1, volumes=2, intervals=6)
    return frame.with_columns(**{name: pl.lit(value) for name, value in changes.items()})


def series(frame: pl.DataFrame) -> object:
    """Of the only group of a table."""
    groups = groups_of(frame.lazy())
    ((_, found),) = over_time(rows_of(frame.lazy(), groups), groups)
    return found


def need(frame: pl.DataFrame) -> object:
    """Of the only group of a table."""
    groups = groups_of(frame.lazy())
    part = SitePart(
        name="one",
        groups=tuple(groups),
        frame=rows_of(frame.lazy(), groups),
        device_model=DEVICE,
        target=Target(),
    )
    (found,) = need_of(part)
    return found


def test_pools_volumes_and_aliases_without_a_pool_are_groups() -> None:
    """A named pool; volumes by themselves; all devices of a system where aliases work for nobody knows whom."""
    named = small()
    alone = small().with_columns(pl.lit(None, dtype=pl.String).alias("pool"))
    lost = alone.with_columns(
        pl.lit("SYS2").alias("system"), pl.Series("kind", ["base", "alias"] * 6, dtype=alone["kind"].dtype)
    )
    found = {
        (each.system, each.kind, each.name) for each in groups_of(pl.concat([named, alone, lost]).lazy())
    }
    assert found == {
        ("SYS1", POOL, "P1"), ("SYS1", VOLUME, "0001"), ("SYS1", VOLUME, "0002"), ("SYS2", SYSTEM, "all devices"),
    }  # fmt: skip


def test_sums_are_those_of_the_rows() -> None:
    """Load is the sum of rate x service: Little's law for the devices in service."""
    frame = small()
    found = series(frame)
    by_hand = frame.group_by("start").agg((pl.col("io_rate") * pl.col("service")).sum()).sort("start")
    np.testing.assert_allclose(found.load, by_hand["io_rate"], rtol=1e-12)  # type: ignore[attr-defined]
    assert np.isnan(found.queued).all()  # type: ignore[attr-defined]


def test_a_pool_of_aliases_alone_has_no_answer() -> None:
    """The message names the pool and what is missing."""
    frame = small().with_columns(pl.Series("kind", ["alias"] * 12, dtype=small()["kind"].dtype))
    found = need(frame)
    assert found.verdict == "unknown"  # type: ignore[attr-defined]
    assert "SYS1/P1" in found.problem  # type: ignore[attr-defined]
    assert "base device" in found.problem  # type: ignore[attr-defined]


def test_gaps_and_lengths_and_missing_members_are_told() -> None:
    """A gap of half an hour, an interval of another length, one without a volume, one without most of them."""
    frame = pool_rows("unknown", seed=1, volumes=4, intervals=8)
    start = datetime(2026, 3, 2)
    frame = frame.filter(~pl.col("start").is_in([start + timedelta(minutes=15 * k) for k in (2, 3)]))
    frame = frame.with_columns(
        pl.when(pl.col("start") == start + timedelta(minutes=105))
        .then(1800.0)
        .otherwise(pl.col("interval"))
        .alias("interval")
    )
    first = pl.col("start") == start
    frame = frame.filter(~(first & (pl.col("device") == "0001")))
    second = pl.col("start") == start + timedelta(minutes=15)
    frame = frame.filter(~(second & pl.col("device").is_in(["0001", "0002", "0003"])))
    found = need(frame)
    told = "; ".join(found.notes)  # type: ignore[attr-defined]
    assert "1 gap, 0.5 hours" in told
    assert "intervals of 900 to 1,800 s" in told
    assert "1 of 6 intervals lack rows of some volumes, the first at 2026-03-02 00:00: taken as" in told
    assert (
        "1 of 6 intervals lack rows of half of the volumes or more, the first at 2026-03-02 00:15: not"
        in told
    )
    assert np.isnan(found.series.needed).tolist() == [False, True, False, False, False, False]  # type: ignore[attr-defined]


@pytest.mark.long
def test_lengths_that_no_source_says_are_the_usual_time_to_the_next_interval() -> None:
    """Quarters of an hour on end have no gap, without one of them there is one; a shorter one overlaps nothing."""
    frame = pool_rows("unknown", seed=1, volumes=2, intervals=8).with_columns(
        interval=pl.lit(None, pl.Float64)
    )
    start = frame["start"].min() + pl.duration(minutes=15)
    assert series(frame).seconds.tolist() == [900.0] * 8  # type: ignore[attr-defined]
    assert "gap" not in "; ".join(need(frame).notes)  # type: ignore[attr-defined]
    told = "; ".join(need(frame.filter(pl.col("start") != start)).notes)  # type: ignore[attr-defined]
    assert "1 gap, 0.25 hours without measurements" in told
    early = pl.when(pl.col("start") == start).then(start + pl.duration(minutes=5)).otherwise("start")
    moved = frame.with_columns(start=early)
    assert series(moved).seconds.tolist() == [900.0, 600.0] + [900.0] * 6  # type: ignore[attr-defined]
    assert "longer than the time" not in "; ".join(need(moved).notes)  # type: ignore[attr-defined]


@pytest.mark.long
def test_a_clock_set_forward_leaves_no_gap_where_its_offset_is_known() -> None:
    """Six quarters of an hour on end: summer time begins after the third, by the wall clock an hour later."""
    frame = small(utc_offset=3600)
    summer = pl.col("start") >= pl.col("start").min() + pl.duration(minutes=45)
    later = frame.with_columns(
        pl.when(summer).then(pl.col("start") + pl.duration(hours=1)).otherwise("start"),
        utc_offset=pl.when(summer).then(7200).otherwise(3600).cast(pl.Int32),
    )
    assert "gap" not in "; ".join(need(later).notes)  # type: ignore[attr-defined]
    unknown = later.with_columns(utc_offset=pl.lit(None, pl.Int32))
    assert "1 gap, 1 hour" in "; ".join(need(unknown).notes)  # type: ignore[attr-defined]
    longer = later.with_columns(pl.col("interval") + 300.0)
    assert "6 intervals" not in (told := "; ".join(need(longer).notes))  # type: ignore[attr-defined]
    assert "5 intervals longer than the time to the next one" in told


@pytest.mark.long
def test_a_clock_set_back_is_two_hours_with_its_offset_and_refused_without() -> None:
    """An hour comes twice where summer time ends, here four intervals, and no hour is lost where it begins."""
    hour = pl.col("start") < pl.col("start").min() + pl.duration(hours=1)
    frame = small(utc_offset=7200).filter(hour)
    again = small(utc_offset=3600).filter(hour)
    both = pl.concat([frame, again.select(frame.columns)])
    found = need(both)
    assert found.intervals == 8  # type: ignore[attr-defined]
    assert "clock set back by 4 intervals" in "; ".join(found.notes)  # type: ignore[attr-defined]
    begun = pl.col("start") - pl.col("start").min() + datetime(2026, 3, 29, 3)
    summer = again.with_columns(
        begun - pl.duration(hours=2), pl.lit(3600, dtype=pl.Int32).alias("utc_offset")
    )
    onward = again.with_columns(begun, pl.lit(7200, dtype=pl.Int32).alias("utc_offset"))
    told = "; ".join(need(pl.concat([summer, onward])).notes)  # type: ignore[attr-defined]
    assert "gap" not in told  # 02:00+01:00 is 03:00+02:00
    assert "clock set back" not in told
    first = pl.col("device") == pl.col("device").min()
    utc = frame.with_columns(
        pl.col("start") - pl.duration(hours=2), pl.lit(0, dtype=pl.Int32).alias("utc_offset")
    )
    assert need(pl.concat([frame.filter(first), utc.filter(~first)])).intervals == 4  # type: ignore[attr-defined]
    assert "a second time" in need(pl.concat([frame, utc])).problem  # type: ignore[attr-defined]
    twice = pl.concat([small(), small()])
    problem = need(twice).problem  # type: ignore[attr-defined]
    assert "a second time" in problem
    assert "utc_offset" in problem


def test_intervals_without_io_need_nothing() -> None:
    """A pool that never did any I/O is answered, without solving anything."""
    frame = small().with_columns(io_rate=0.0, io_rate_low=0.0, io_rate_high=0.0)
    found = need(frame)
    assert found.needed_worst == found.needed_99 == 0  # type: ignore[attr-defined]
    assert found.solved_in_full == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("hour", [0, 13])
def test_hours_of_the_week_begin_on_monday(hour: int) -> None:
    """2 March 2026 is a Monday."""
    frame = small().with_columns(pl.col("start") + pl.duration(hours=hour))
    found = need(frame)
    day, at = np.argwhere(np.isfinite(found.series.hours()))[0]  # type: ignore[attr-defined]
    assert (day, at) == (0, hour)


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("names", "moved"),
    [
        (("522A-2-aliases", "pool-8-aliases"), True),
        (("522A-2-aliases", "522A-0-aliases"), False),
        (("522A-0-aliases", "pool-8-aliases"), False),
        (("pool-8-aliases",), False),
    ],
)
def test_a_volume_that_moves_from_classic_aliases_to_a_pool_is_named(
    names: tuple[str, ...], moved: bool
) -> None:
    note = (
        "522A: classic PAV aliases in some intervals, HyperPAV aliases in others; left out of the pool at all times"
        " (--from and --to keep both apart)."
    )
    remarks = site([data_path("hyperpav", f"{name}.listing") for name in names]).remarks
    assert [each for each in remarks if "classic PAV" in each] == [note] * moved
