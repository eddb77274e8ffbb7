"""What pools need as their loads grow: today's count is that of `planner site`, and limits lie where counts step."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from planner.demand import DeviceModel, Target
from planner.interval import Interval
from planner.library import data_path
from planner.measurements.choose import POOL, Group, groups_of, moved
from planner.measurements.read import read
from planner.reports import schema
from planner.site.growth.dates import Goal
from planner.site.growth.limits import GrowthQuestion, site_growth
from planner.site.growth.pools import (
    NEARNESS,
    NeedsByLoad,
    PoolQuestion,
    answer_pools,
    decided_pools,
)
from planner.site.pool_need import busy_intervals, deciding, outside_busy_hour
from planner.site.question import site
from planner.site.series import SeriesLabel
from planner.sizing.need import need
from tests.checkout import ROOT

DEVICE_MODEL = DeviceModel.from_model("hyperpav")
GIVEN = GrowthQuestion(device_model=DEVICE_MODEL, target=Target())
SITE = ROOT / "docs" / "examples" / "site.csv"
HOURLY = np.arange("2026-03-02", "2026-03-05", dtype="datetime64[h]").astype("datetime64[us]")


def test_an_interval_decides_by_its_count_then_by_its_load() -> None:
    needed, load = np.array([1.0, 2.0, 2.0, 2.0, 9.0, np.nan]), np.array([3.0, 1.0, 2.5, 2.0, 9.0, 9.0])
    busy, seconds = np.array([True, True, True, True, False, True]), np.ones(6)
    assert deciding(needed, load, seconds, busy, 1.0) == 2  # of the largest counts the one with most load
    assert deciding(needed, load, seconds, busy, 0.5) == 1
    assert deciding(needed, load, np.array([9.0, 1, 1, 1, 1, 1]), busy, 0.5) == 0  # shares are of time
    assert deciding(np.full(6, np.nan), load, seconds, busy, 0.5) is None
    assert deciding(needed, np.ones(6), seconds, busy, 1.0) == 1  # of equals the first, as the worst is


def test_busy_is_a_quarter_of_the_busiest_among_those_that_count() -> None:
    load = np.array([1.0, 0.25, 0.24, 50.0])
    assert busy_intervals(load, np.array([True, True, True, False])).tolist() == [True, True, False, False]
    assert not busy_intervals(load, np.zeros(4, dtype=bool)).any()


@pytest.mark.parametrize(("at", "said"), [(26, "02:00 on 2026-03-03"), (33, ""), (34, "10:00 on 2026-03-03")])
def test_an_interval_outside_of_the_busy_hour_is_said(at: int, said: str) -> None:
    rate = np.where(np.arange(72) % 24 == 9, 100.0, 10.0)
    found = outside_busy_hour("P1", HOURLY, np.full(72, 3600.0), rate, at)
    assert found == (f"P1 is decided at {said}, not in its busy hour at 09:00" if said else "")
    assert outside_busy_hour("P1", HOURLY, np.full(72, 7.5 * 3600), rate, 26) == ""  # reaches into it
    undated = HOURLY.copy()
    undated[3] = np.datetime64("NaT", "s")
    assert outside_busy_hour("P1", undated, np.full(72, 3600.0), rate, at) == ""


def test_where_all_hours_are_as_busy_there_is_no_busy_hour() -> None:
    rate = np.random.default_rng(5).uniform(95.0, 100.0, 72)
    assert outside_busy_hour("P1", HOURLY, np.full(72, 3600.0), np.full(72, 100.0), 34) == ""
    assert all(outside_busy_hour("P1", HOURLY, np.full(72, 3600.0), rate, at) == "" for at in range(72))


def two_pools(days: int = 15) -> pl.DataFrame:
    """Two pools at night and at ten; at night P1 has fewer I/Os that take longer."""
    rng = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for day in range(days):
        for hour in (2, 10):
            for pool in (1, 2):
                storm = pool == 1 and hour == 2
                for volume in (1, 2):
                    rate = (150.0 if hour == 2 else 250.0) * rng.uniform(0.9, 1.1)
                    service = 4.0 if storm else 1.0
                    rows.append({
                        "system": "SYS1", "start": datetime(2026, 3, 2, hour) + timedelta(days=day),
                        "interval_s": 3600, "pool": f"P{pool}", "aliases": 2, "device": f"{pool}00{volume}",
                        "io_rate": round(rate, 1), "service_ms": service,
                    })  # fmt: skip
    return pl.DataFrame(rows)


def over_days(*names: str, days: int = 15) -> pl.DataFrame:
    """Listings of one system, each for some days, one behind the other."""
    found = [read(data_path("hyperpav", f"{name}.listing")).devices for name in names]
    return pl.concat(
        each.with_columns(
            system=pl.lit("VM1"),
            start=pl.lit(datetime(2026, 3, 2, 10) + timedelta(days=k * days + day)).cast(pl.Datetime("us")),
        )
        for k, each in enumerate(found)
        for day in range(days)
    )  # fmt: skip


@pytest.mark.long
def test_hyperpav_devices_of_no_known_pool_are_one_pool_as_in_the_site() -> None:
    """Growth had the busy share of each base alone, of volumes whose I/Os are mostly those of aliases."""
    frame = over_days("pool-8-aliases")
    growing = site_growth(read(frame), GIVEN, horizon=30)
    (needed,) = site(frame).pools
    now = {each.measured.what: (each.now, each.limit) for each in growing.limits}
    assert now == {
        "aliases of all devices": (needed.needed, needed.in_use),
        "addresses of all devices": (needed.needed + 8, 256),  # type: ignore[operator]
    }


@pytest.mark.long
def test_a_volume_that_moves_from_classic_aliases_to_a_pool_is_left_out_of_it_and_named() -> None:
    growing = site_growth(read(over_days("522A-2-aliases", "pool-8-aliases")), GIVEN, horizon=30)
    assert any(note.startswith("522A: classic PAV aliases in some intervals") for note in growing.notes)
    what = {each.measured.what: each for each in growing.limits}
    assert set(what) == {"busy share of volume 522A", "aliases of all devices", "addresses of all devices"}
    addresses, aliases = what["addresses of all devices"], what["aliases of all devices"]
    assert addresses.now - aliases.now == 7  # type: ignore[operator]  # bases without 522A


@pytest.mark.parametrize("pools", [["P1", "P2"], ["P1", None]])
def test_a_volume_that_changes_its_pool_is_named(pools: list[str | None]) -> None:
    """It lacked rows in both pools, and a volume that is in a pool by now was to get aliases of its own."""
    frame = two_pools(days=20).with_columns(
        pool=pl.when((pl.col("device") == "1001") & (pl.col("start") >= datetime(2026, 3, 12)))
        .then(pl.lit(pools[1]))
        .otherwise(pl.col("pool"))
    )  # fmt: skip
    said = "1001: not in the same pool at all times; each pool counts a volume only while it is in it"
    measured = read(frame).devices.lazy()
    assert [note.startswith(said) for note in moved(measured, groups_of(measured))] == [True]
    stays = measured.filter(pl.col("device") != "1001")
    assert moved(stays, groups_of(stays)) == []


@pytest.mark.long
def test_the_need_of_today_is_that_of_the_site() -> None:
    """One of the pools is decided by its nights, and both answers say so."""
    frame = two_pools()
    growing = site_growth(read(frame), GIVEN, horizon=30)
    needed = {need.pool: need for need in site(frame).pools}
    now = {each.measured.what: each for each in growing.limits}
    for pool in ("P1", "P2"):
        assert now[f"aliases of pool {pool}"].now == needed[pool].needed
        assert now[f"aliases of pool {pool}"].limit == needed[pool].in_use == 2
    assert needed["P1"].needed > needed["P2"].needed  # type: ignore[operator]
    said = "SYS1/P1 is decided at 02:00 on 2026-03-"
    assert said in " ".join(growing.notes)
    assert said.removeprefix("SYS1/P1 is ") in " ".join(needed["P1"].notes)  # the need names its pool itself
    assert "P2 is decided" not in " ".join((*growing.notes, *needed["P2"].notes))
    assert "other days" not in growing.headline  # all of them were asked


@pytest.mark.long
def test_a_pool_too_quiet_to_matter_is_not_above_its_limit() -> None:
    """The site says that it has enough."""
    frame = two_pools(2).with_columns(pl.col("io_rate") / 100, service_ms=1.3, queued=0.02)
    growing = site_growth(read(frame), GIVEN, horizon=30)
    assert {need.verdict for need in site(frame).pools} == {"enough"}
    assert {each.measured.what for each in growing.limits} == {"addresses of pool P1", "addresses of pool P2"}
    assert " ".join(growing.notes).count("too quiet for its aliases to matter") == 2


@pytest.mark.long
def test_what_decides_outside_of_the_busy_hour_is_said_whole_of_the_first_pools() -> None:
    """No sentence is cut off as a long name is."""
    (night,) = two_pools(2).partition_by("pool")[:1]
    pools = [f"PAYMENTS-{number}" for number in range(7)]
    frame = pl.concat(
        night.with_columns(pool=pl.lit(pool), device=pl.lit(f"{k}") + pl.col("device").str.slice(1))
        for k, pool in enumerate(pools)
    )
    notes = site_growth(read(frame), GIVEN, horizon=30).notes
    said = [note for note in notes if "decided" in note]
    assert said[0].startswith("SYS1/PAYMENTS-0 is decided at 02:00 on 2026-03-0")
    assert said[0].endswith(", not in its busy hour at 10:00.")
    assert len(said) == 6
    assert said[5] == "2 further pools are decided outside of the busy hour."


@pytest.mark.long
def test_of_many_days_the_last_ones_count_and_that_is_said() -> None:
    growing = site_growth(read(SITE), GIVEN)
    needed = {need.pool: need.needed for need in site(SITE, start="2026-12-04").pools}
    now = {each.measured.what: each.now for each in growing.limits}
    assert {pool: now[f"aliases of pool {pool}"] for pool in needed} == needed
    assert "the last 28 days of each pool, from 2026-12-04 on" in growing.headline


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Two days of a pool."""
    devices = read(SITE).devices
    return devices.filter((pl.col("pool") == "P1") & (pl.col("start") >= datetime(2026, 12, 30)))


def test_more_demand_needs_no_fewer_and_today_stands() -> None:
    """Counts of candidates step back where whole aliases are rounded; what could not be solved stays unknown."""
    needs = {
        1.2: Interval(8.0, 11.0, 40.0), 0.9: Interval(9.0, 9.0, 44.0), 1.0: Interval(9.0, 10.0, 43.0),
        0.8: Interval(8.0, 9.0, 41.0), 1.5: Interval(10.0, np.nan, 50.0), 2.0: Interval(9.0, 12.0, np.inf),
    }  # fmt: skip
    found = NeedsByLoad(needs=needs)
    assert found.counts("low") == {0.8: 8, 0.9: 9, 1.0: 9, 1.2: 9, 1.5: 10, 2.0: 10}
    assert found.counts("high") == {0.8: 41, 0.9: 43, 1.0: 43, 1.2: 43, 1.5: 50, 2.0: np.inf}
    np.testing.assert_array_equal(list(found.counts("value").values()), [9, 9, 10, 11, np.nan, 12])
    assert tuple(found.at(1.2)) == (9.0, 11.0, 43.0)


def question(rows: pl.DataFrame, number: int = 1, reach: float = 1.6) -> PoolQuestion:
    rate = 500.0
    return PoolQuestion(
        label=SeriesLabel(system="SYS1", what=f"I/O rate of pool P{number}", unit="1/s"), series=number,
        group=Group("SYS1", POOL, "P1"), rows=rows, begin=date(2026, 12, 30), now=rate,
        ahead=((rate, 1.1 * rate, 1.2 * rate),) * 3, reach=reach * rate,
    )  # fmt: skip


@pytest.mark.long
def test_loads_of_limits_are_where_one_alias_more_is_needed(rows: pl.DataFrame) -> None:
    asked = question(rows)
    (pool,) = decided_pools([asked], DEVICE_MODEL, Target())
    assert not isinstance(pool, str)
    (found,) = answer_pools([asked], DEVICE_MODEL, Target())
    aliases, addresses = found.goals
    assert (aliases.limit, addresses.limit) == (3.0, 256.0)
    times = [end / asked.now for end in (aliases.load.low, aliases.load.value, aliases.load.high)]
    assert times == sorted(times)
    within, above, at_ahead, much = need(
        [(pool.run,)] * 4,
        DEVICE_MODEL,
        growth=[times[1] - 1, times[1] * (1 + NEARNESS) - 1, 0.1, 0.6],
        ranges=False,
    )
    assert (within.count, above.count) == (3, 4)
    assert (aliases.needs[0].value, aliases.needs[1].value) == (aliases.now, at_ahead.count)
    assert addresses.now == aliases.now + 2
    assert much.count is not None
    assert much.count < 254
    assert addresses.load.value == np.inf  # no load that was asked about needs as many


@pytest.mark.long
def test_a_limit_that_is_passed_already_lies_below_the_load_of_today(rows: pl.DataFrame) -> None:
    queues = [pl.lit(None, pl.Float64).alias(name) for name in ("queued_low", "queued", "queued_high")]
    none = rows.with_columns(pl.lit(1, pl.UInt16).alias("pool_aliases"), *queues)
    (found,) = answer_pools([question(none, reach=1.0)], DEVICE_MODEL, Target())
    assert found.goals[0].now is not None
    assert found.goals[0].now > found.goals[0].limit == 1.0  # type: ignore[operator]
    assert 0 < found.goals[0].load.value < 500.0


@pytest.mark.long
def test_a_pool_that_cannot_be_read_is_named_and_the_others_are_answered(rows: pl.DataFrame) -> None:
    broken = rows.with_columns(
        pl.lit("base", pl.Enum(schema.KINDS)).alias("kind"), pl.lit(None).alias("service")
    )
    idle = rows.with_columns(pl.lit(0.0).alias("io_rate"))
    asked = [question(rows, 1, reach=1.0), question(broken, 2), question(idle, 3)]
    first, second, third = answer_pools(asked, DEVICE_MODEL, Target())
    assert [goal.measured.what for goal in first.goals] == ["aliases of pool P1", "addresses of pool P1"]
    assert second.goals == third.goals == ()
    assert second.notes[0].startswith("I/O rate of pool P2 of SYS1 has no answer")
    assert third.notes == ("I/O rate of pool P3 of SYS1: none in its recent days, to grow from.",)
    assert (first.answered, second.answered, third.answered) == (True, False, True)


@pytest.mark.long
def test_a_pool_without_an_answer_is_no_success() -> None:
    """As of `aliases pool` and `site`."""
    busy = pl.when(pl.col("pool") == "P2").then(99.0).otherwise(pl.col("service_ms"))
    frame = two_pools(3).with_columns(busy.alias("service_ms"), pl.lit(0.1).alias("queued"))
    found = site_growth(read(frame), GIVEN, horizon=30)
    assert "I/O rate of pool P2 of SYS1 has no answer" in " ".join(found.notes)
    assert (found.exit_code, site(frame).exit_code) == (2, 2)


@pytest.mark.slow
def test_many_pools_have_the_same_answers_in_processes(rows: pl.DataFrame) -> None:
    asked = [replace(question(rows, reach=1.0), series=number) for number in range(14)]

    def plain(workers: int) -> list[list[tuple[Any, ...]]]:
        def parts(goal: Goal) -> tuple[Any, ...]:
            return goal.series, goal.now, goal.limit, goal.load, goal.needs

        return [
            [parts(goal) for goal in each.goals]
            for each in answer_pools(asked, DEVICE_MODEL, Target(), workers)
        ]

    assert plain(1) == plain(2)
