"""Limits of a site: pools through the queueing model, volumes by utilization, storage by its data spaces."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from planner.demand import DeviceModel, Target
from planner.errors import InputError, ReportError
from planner.measurements.collect import collect
from planner.measurements.read import Measured, read
from planner.reports import schema
from planner.site.example import FIRST, GROWTH, SHIFT, daily_levels, example_volumes
from planner.site.growth import Growth
from planner.site.growth.limits import GrowthQuestion, site_growth
from tests.checkout import ROOT


@pytest.fixture(scope="module")
def given() -> GrowthQuestion:
    return GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target())


@pytest.fixture(scope="module")
def site() -> Measured:
    return read(ROOT / "docs" / "examples" / "site.csv")


@pytest.fixture(scope="module")
def answer(site: Measured, given: GrowthQuestion) -> Growth:
    return site_growth(site, given)


def by_name(answer: Growth) -> dict[str, Any]:
    return {each.measured.what: each for each in answer.limits}


def test_the_files_of_the_documentation_are_what_the_maker_makes() -> None:
    folder = ROOT / "docs" / "examples"
    made = example_volumes(pools=3, volumes=2, hours=1)
    assert made.write_csv() == (folder / "site.csv").read_text(encoding="utf-8")
    levels = daily_levels(365, 0.25, SHIFT, np.random.default_rng(1))
    known = np.flatnonzero(np.isfinite(levels))
    starts = [FIRST + timedelta(days=int(day)) for day in known]
    busy_hours = pl.DataFrame({"start": starts, "io_rate": np.round(3000 * levels[known], 1)})
    assert busy_hours.write_csv() == (folder / "io-rate.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(("aliases", "queues"), [(0, True), (100, False)])
def test_an_example_with_aliases_for_all_has_no_queues(aliases: int, queues: bool) -> None:
    made = example_volumes(days=3, pools=1, volumes=1, aliases=aliases, hours=2)
    assert made["queued"].is_finite().all()
    assert (made["queued"] > 0).all() if queues else (made["queued"] == 0).all()


def test_the_example_has_growth_weeks_month_ends_a_shift_and_gaps() -> None:
    levels = daily_levels(3650, 0.25, SHIFT, np.random.default_rng(4))
    assert np.isnan(levels).mean() == pytest.approx(0.04, abs=0.01)
    weekday = (FIRST.weekday() + np.arange(3650)) % 7
    line = (1 + 0.25 * np.arange(3650) / 365.25) * np.where(np.arange(3650) >= 1825, 1 + SHIFT, 1)
    assert np.nanmean((levels / line)[weekday == 6]) == pytest.approx(0.4, abs=0.01)
    assert np.nanmax(levels / line) > 1.2


@pytest.mark.long
def test_trends_and_shift_are_those_the_example_was_made_with(answer: Growth) -> None:
    limits = by_name(answer)
    for number, growth in enumerate(GROWTH[:3], start=1):
        limit = limits[f"aliases of pool P{number}"]
        of_last = growth / (1 + growth * (limit.last - FIRST).days / 365.25)
        assert limit.trend.low - 0.02 <= of_last <= limit.trend.high + 0.02
    (shift,) = limits["aliases of pool P2"].shifts
    assert shift.size.low <= SHIFT <= shift.size.high
    assert abs((shift.day - FIRST).days - 183) <= 1


@pytest.mark.long
def test_what_breaks_first_comes_first(answer: Growth) -> None:
    dates = [each.reached for each in answer.limits if each.reached]
    assert dates == sorted(dates)
    assert answer.limits[0].measured.what == "aliases of pool P1"
    assert "First: aliases of pool P1" in answer.headline


@pytest.mark.long
def test_an_archive_is_a_site(answer: Growth, given: GrowthQuestion, tmp_path: Path) -> None:
    collect([ROOT / "docs" / "examples" / "site.csv"], tmp_path / "archive")
    kept = site_growth(read(tmp_path / "archive"), given)
    assert kept.to_dict()["limits"][:2] == answer.to_dict()["limits"][:2]


@pytest.mark.long
def test_the_date_is_when_the_level_passes_the_load(answer: Growth) -> None:
    first = answer.limits[0]
    days = (first.reached - first.last).days
    after, before = (np.median(answer.future.at(ahead)[answer.order[0]]) for ahead in (days + 3, days - 14))
    assert after > first.load * 0.99
    assert before < first.load
    assert first.now <= first.limit < by_name(answer)["aliases of pool P1"].needs[-1].high + 1


@pytest.mark.slow
def test_growth_and_events_go_through_the_model_too(site: Measured, given: GrowthQuestion) -> None:
    calm = by_name(site_growth(site, given, rate=0.0))
    assert {each.verdict for each in calm.values()} == {"not within horizon"}
    event = datetime(2027, 3, 1).date()
    shocked = by_name(site_growth(site, given, rate=0.0, events=[(event, 2.5)]))
    assert shocked["aliases of pool P1"].reached == event
    assert shocked["aliases of pool P1"].needs[-1].value > shocked["aliases of pool P1"].now


def short_pool(days: int) -> Measured:
    """Two busy hours a day of two volumes that share one alias and often wait."""
    random, rows = np.random.default_rng(3), []
    for hour in range(2 * days):
        start = datetime(2026, 3, 2, 9) + timedelta(days=hour // 2, hours=hour % 2)
        for volume in ("2000", "2001"):
            busy = random.uniform(0.75, 0.9)
            rows.append(
                {"start": start, "interval_s": 3600, "device": volume, "pool": "P1", "aliases": 1,
                 "io_rate": f"{busy / 1e-3:.0f}", "service_ms": "1.00", "queued": f"{2 * busy**2:.2f}"}
            )  # fmt: skip
    return read(pl.DataFrame(rows))


@pytest.mark.long
@pytest.mark.parametrize("days", [3, 20])
def test_a_pool_whose_whole_range_is_short_today_was_short_on_the_last_day_at_the_latest(days: int) -> None:
    given = GrowthQuestion(device_model=DeviceModel.from_model("hyperpav"), target=Target())
    answer = site_growth(short_pool(days), given, rate=0.2, workers=1)
    short = by_name(answer)["aliases of pool P1"]
    assert (
        short.verdict == "already" and short.needs[0].low > short.limit and short.reached_high <= short.last
    )
    for less, more in pairwise(short.needs):
        assert less.low <= more.low and less.value <= more.value and less.high <= more.high
    assert short.needs[0].value == short.now
    assert f"{short.now:g} ({short.needs[0].low:g} to {short.needs[0].high:g})" in str(answer)


def table(days: int, values: Any, **columns: Any) -> pl.DataFrame:
    first = datetime(2026, 1, 5)
    starts = [first + timedelta(days=k) for k in range(days)]
    return schema.frame(schema.DEVICES, {"start": starts, "interval": [86400.0] * days, "io_rate": values,
                                         "io_rate_low": values, "io_rate_high": values, **columns}, days)  # fmt: skip


def measured(devices: pl.DataFrame | None = None, storage: pl.DataFrame | None = None) -> Measured:
    return Measured(
        devices=schema.empty(schema.DEVICES) if devices is None else devices,
        supply=schema.empty(schema.SUPPLY),
        storage=schema.empty(schema.STORAGE) if storage is None else storage,
    )


def test_a_volume_of_its_own_is_full_at_ninety_percent(given: GrowthQuestion) -> None:
    rates = np.linspace(300, 600, 200)
    devices = table(200, rates, device=["522A"] * 200, kind=["volume"] * 200, service=[1e-3] * 200)
    (limit,) = site_growth(measured(devices), given).limits
    assert limit.measured.what == "busy share of volume 522A"
    assert limit.now == pytest.approx(0.6, rel=0.01)
    # 300/s in 199 days: .9 is reached 199 days after .6.
    assert abs((limit.reached - limit.last).days - 199) <= 4


def test_aliases_of_a_volume_share_its_busy_time(given: GrowthQuestion) -> None:
    """Three devices at 1,500/s of 1.3 ms each are .65 busy; once one was 1.95."""
    columns = {"kind": ["volume"] * 20, "service": [1.3e-3] * 20, "pool_aliases": [2] * 20}
    (limit,) = site_growth(measured(table(20, [1500.0] * 20, device=["522A"] * 20, **columns)), given).limits
    assert limit.now == pytest.approx(0.65)


@pytest.mark.parametrize(
    "columns",
    [
        schema.exact("response", [2e-3] * 20) | schema.exact("utilization", [0.3] * 20),
        schema.exact("utilization", [0.3] * 20),
        schema.exact("response", [2e-3] * 20) | schema.exact("queued", [0.3] * 20),
    ],
    ids=["bracket", "utilization", "rest of response"],
)
def test_a_service_time_that_was_not_measured_is_taken_from_the_other_figures(
    given: GrowthQuestion, columns: dict[str, Any]
) -> None:
    """300 I/Os a second that keep a device busy for .3 of the time take 1 ms."""
    devices = table(20, [300.0] * 20, label=["dasda"] * 20, kind=["volume"] * 20, **columns)
    found = site_growth(measured(devices), given)
    assert found.limits[0].now == pytest.approx(0.3, rel=0.01)
    assert "The service time of volume dasda was not measured: it is taken" in " ".join(found.notes)


@pytest.mark.long
def test_the_date_is_open_as_far_as_the_service_time(given: GrowthQuestion) -> None:
    """A kernel that overstates the utilization proves no more than that the device may be as busy."""
    rates = np.linspace(300, 400, 200)
    numbers = schema.exact("response", [2e-3] * 200) | schema.exact("utilization", rates / 500)
    columns = numbers | {"device": ["C28A"] * 200, "kind": ["volume"] * 200}
    exact, wide = (
        site_growth(measured(table(200, rates, **columns | more)), given).limits[0]
        for more in ({}, {"utilization_low": [0.0] * 200})
    )
    assert exact.now == pytest.approx(0.8, rel=0.01)
    assert (exact.reached - exact.reached_low).days < 14
    assert wide.now < exact.now
    assert (wide.reached - wide.reached_low).days > 90


def test_what_has_no_service_time_is_left_out_and_named(given: GrowthQuestion) -> None:
    rates, volume = [300.0] * 20, {"kind": ["volume"] * 20}
    bare = table(20, rates, label=["dasda"] * 20, **volume)
    half = table(20, rates, label=["dasdb"] * 20, service=[1e-3, None] * 10, **volume)
    idle = table(20, [0.0] * 20, label=["dasdc"] * 20, **volume)
    found = site_growth(measured(pl.concat([bare, half, idle])), given)
    now = {each.measured.what: each.now for each in found.limits}
    assert now == {"busy share of volume dasdb": pytest.approx(0.3), "busy share of volume dasdc": 0.0}
    assert "The service time of volume dasda was not measured: left out." in found.notes
    assert "busy share of volume dasdb leaves out 10 intervals without a service time." in found.notes
    with pytest.raises(ReportError, match=r"^data frame: The service time of volume dasda was not measured"):
        site_growth(measured(bare), given)


def test_a_few_days_without_load_are_none(given: GrowthQuestion) -> None:
    idle = table(3, [0.0] * 3, device=["522A"] * 3, kind=["volume"] * 3, service=[1e-3] * 3)
    assert "no trend, 3 days are too few; 0 of 0.9" in site_growth(measured(idle), given).headline
    assert "no trend, 1 day is too few; 0 of 0.9" in site_growth(measured(idle[:1]), given).headline
    busy = idle.with_columns(
        io_rate=pl.lit(165.054942), io_rate_low=pl.lit(165.0), io_rate_high=pl.lit(165.1)
    )
    assert "too few; 0.165 of 0.9" in site_growth(measured(busy), given).headline


@pytest.mark.long
@pytest.mark.parametrize("pool", ["", ",pool"])
def test_minutes_are_too_short_for_growth_and_that_is_said(given: GrowthQuestion, pool: str) -> None:
    """They have dates: what is missing is an hour, of which half was measured."""
    rows = [f"522A,2026-03-01T10:0{k},60,300,1.0{pool and ',P'}\n" for k in range(2)]
    hours = [f"522B,2026-03-0{k},3600,300,1.0{pool and ',Q'}\n" for k in (1, 2, 3)]
    head = f"device,start,interval_s,io_rate,service_ms{pool}\n"
    what = f"{'I/O rate of pool P' if pool else 'busy share of volume 522A'}: measured for less than half of any hour"
    with pytest.raises(ReportError, match=what):
        site_growth(read("".join([head, *rows]).encode()), given)
    found = site_growth(read("".join([head, *rows, *hours]).encode()), given)
    assert any(note.startswith(what) for note in found.notes)


def test_storage_in_use_meets_its_data_spaces_and_real_storage(given: GrowthQuestion) -> None:
    days, spaces = 120, 2
    first = datetime(2026, 1, 5)
    frames = []
    for number in range(spaces):
        pages = 1e6 * (1 + np.arange(days) / 365.25)
        frames.append(
            schema.frame(schema.STORAGE, {
                "start": [first + timedelta(days=k) for k in range(days)], "owner": "SYSTEM",
                "name": f"PTRM000{number}",
                "release": "5.3", "resident": pages, "resident_low": pages, "resident_high": pages,
            }, days)
        )  # fmt: skip
    answer = site_growth(
        measured(storage=pl.concat(frames)), replace(given, real_storage=256 * 2**30, resident_pages=50)
    )
    limits = by_name(answer)
    ptrm = limits["in-use virtual storage, PTRM"]
    # Two pages of a PGMBK stand for a segment of 1 MB: 2 million pages on the first day map 1,000,000 MB.
    assert ptrm.now == pytest.approx(1e6 / 1024 * (1 + 119 / 365.25), rel=0.01)
    assert ptrm.trend.value == pytest.approx(1 / (1 + 119 / 365.25), abs=0.02)
    assert ptrm.limit == pytest.approx(16 * 512, rel=0.01)
    assert limits["in-use virtual storage, real storage"].limit < ptrm.limit


@pytest.mark.long
def test_a_pool_that_appears_or_ends_counts_its_own_days_and_is_named(
    site: Measured, given: GrowthQuestion
) -> None:
    pool, start = pl.col("pool"), pl.col("start")
    devices = site.devices.filter(
        ((pool == "P1") & (start >= datetime(2026, 5, 1))) | ((pool == "P3") & (start < datetime(2026, 9, 1)))
    )
    found = site_growth(replace(site, devices=devices), given)
    notes = " ".join(found.notes)
    assert re.search("Not measured up to the last day, 2026-12-3[01]: I/O rate of pool P3", notes)
    assert "Measured only from a later day on: I/O rate of pool P1" in notes
    trend = by_name(found)["aliases of pool P1"].trend
    # .35 of the level on January 1 is .35 / (1 + .35 x 364 / 365.25) = .26 of that on December 31.
    assert trend.low - 0.02 < 0.26 < trend.high + 0.02


@pytest.mark.long
def test_intervals_with_half_of_the_volumes_are_left_out_and_said(
    site: Measured, given: GrowthQuestion
) -> None:
    rows = site.devices.filter((pl.col("pool") == "P1") & (pl.col("start") >= datetime(2026, 12, 1)))
    rows = rows.with_columns(pl.col("io_rate") * 0.4, pl.col("queued") * 0.1)  # which any count serves
    two = rows.filter((pl.col("device") == "0001") | (pl.col("start").dt.day() != 13))
    third = rows.filter((pl.col("device") == "0001") & (pl.col("start").dt.day() != 13))
    two = pl.concat([two, third.with_columns(pl.lit("00F1").alias("device"))])
    notes = " ".join(site_growth(replace(site, devices=two), given, horizon=30).notes)
    assert "intervals without half of its volumes are left out" in notes


@pytest.mark.long
def test_a_unit_that_changes_in_one_series_of_many_is_said(given: GrowthQuestion) -> None:
    rates = np.where(np.arange(100) < 50, 300.0, 300000.0)
    devices = table(100, rates, device=["522A"] * 100, kind=["volume"] * 100, service=[1e-3] * 100)
    assert "as if its unit had changed" in " ".join(site_growth(measured(devices), given).notes)


def test_without_dates_there_is_nothing_to_grow(given: GrowthQuestion) -> None:
    with pytest.raises(InputError, match="dates"):
        site_growth(measured(), given)


@pytest.mark.long
@pytest.mark.parametrize("both", [False, True])
def test_what_a_measurement_lacks_is_said_of_its_pool(
    site: Measured, given: GrowthQuestion, both: bool
) -> None:
    """By name, except where all pools lack it."""
    lacks = pl.lit(True) if both else pl.col("pool") == "P3"
    rows = site.devices.filter(
        pl.col("pool").is_in(["P1", "P3"]) & (pl.col("start") >= datetime(2026, 12, 10))
    )
    queues = [
        pl.when(~lacks).then(pl.col(name)).alias(name) for name in ("queued", "queued_low", "queued_high")
    ]
    found = site_growth(replace(site, devices=rows.with_columns(queues)), given)
    (note,) = (note for note in found.notes if "The queue was not measured" in note)
    assert note.partition("The queue")[0] == ("" if both else "Pool P3 of SYS1: ")
