"""The limits of a site from its measurements over time: pools through the queueing model, devices, storage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from planner.demand import DeviceModel, Target
from planner.devices.storage import FRAMES_PER_PGMBK, StorageLimit, ptrm_limit, real_storage_limit
from planner.devices.storage import release as find_release
from planner.errors import InputError, PlannerError, ReportError
from planner.interval import Interval
from planner.lazy import pl
from planner.measurements.choose import GROUP_KEYS, VOLUME, Group, group_keys, groups_of, moved
from planner.measurements.observed import service_times
from planner.measurements.read import Measured
from planner.measurements.rows import Rows
from planner.render.text import counted, listed, sentence_case
from planner.reports import schema
from planner.reports.moments import MOMENT, with_moments
from planner.results import Array, by_key
from planner.site.growth.answer import NAMED, Growth, answer_goals, future_of
from planner.site.growth.dates import AHEAD, ENDS, HORIZON, Goal, check_given, fitted
from planner.site.growth.pools import PoolLimits, PoolQuestion, answer_pools, no_answer
from planner.site.parts import DEFAULT_MEET, check_together, declared
from planner.site.series import SeriesLabel, aligned, busy_hours, daily_medians, jump_note, leap
from planner.sizing.gaps import MEMBERS, Gaps
from planner.units import GIB, SEGMENT, percent

BUSY: Final = 0.9  # share at which a device is full
AS_MEASURED: Final = Interval(1.0, 1.0, 1.0)
RECENT: Final = 28  # days, the last ones of a pool, by which its need of today is decided
Kind = Literal["pool", "volume", "storage"]
TOO_SHORT: Final = "measured for less than half of any hour, too short for a busy hour; measure days"
NOT_MEASURED: Final = "volumes or storage with dates over several days: the column start of docs/formats.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthQuestion:
    """What a site says besides: real storage [bytes], resident pages a segment, model, target, `together`."""

    device_model: DeviceModel
    target: Target
    together: float | None = None
    real_storage: int | None = None
    resident_pages: float | None = None


def site_growth(
    measured: Measured,
    given: GrowthQuestion,
    *,
    horizon: int = HORIZON,
    rate: float | None = None,
    events: Sequence[tuple[date, float]] = (),
    workers: int | None = None,
    gaps: Mapping[str, Gaps] | None = None,
) -> Growth:
    """Find what breaks first: every pool, every volume with aliases of its own, and in-use storage."""
    check_given(rate, events, horizon, date.min)
    for table in (measured.devices, measured.storage):
        schema.refuse_twice(table)
    groups = groups_of(measured.devices.lazy())
    said_together = [*check_together(given.together, groups), *moved(measured.devices.lazy(), groups)]
    devices = group_keys(declared(measured.devices, given.together).lazy()).collect()
    notes = [*said_together, *measured.notes]
    volumes, unmeasured = _volume_series(devices, notes)
    every = [*_pool_series(devices, notes), *volumes, *_storage_series(measured.storage, notes)]
    series, off = _of_one_clock(every)
    off += unmeasured
    notes += off
    if not series:
        raise _nothing(measured, off)
    daily = aligned([(each.measured, each.first, each.levels) for each in series], notes)
    fit = fitted(daily, workers)
    future = future_of(daily, fit, rate, events)
    reach = future.highest(horizon) / future.own  # times the level of today
    ahead = [future.at(step) / future.own for step in AHEAD]
    level = np.median(future.level, axis=1)
    larger = math.prod(max(factor, 1) for _, factor in events)
    goals: list[Goal] = []
    said: list[str] = []
    pools: list[PoolQuestion] = []
    for index, each in enumerate(series):
        now = float(level[index])
        if each.kind == "volume":
            goals.append(_volume_goal(each, index))
        elif each.kind == "storage":
            goals += _storage_goals(each, index, given, now)
        elif now <= 0.0:
            said.append(f"{each.measured.name}: none on its last day, to grow from.")
        else:
            loads = tuple(tuple((now * np.quantile(step[index], ENDS)).tolist()) for step in ahead)
            most = now * max(float(np.quantile(reach[index], ENDS[-1])) * larger, 1.0)
            pools.append(_pool_question(each, index, now, loads, most))
    answered = answer_pools(pools, given.device_model, given.target, workers)
    goals += [goal for found in answered for goal in found.goals]
    said += _remarks(answered)
    if not goals:
        if said:
            raise _nothing(measured, said)
        raise InputError("measurements", "nothing with a limit", "a pool, a volume or storage")
    answer = answer_goals(daily, fit, goals, horizon=horizon, rate=rate, events=events, notes=said)
    unanswered = not all(found.answered for found in answered)
    return replace(answer, basis=_basis(pools, series), gaps=gaps or {}, unanswered=unanswered)


def _remarks(answered: Sequence[PoolLimits]) -> list[str]:
    """Notes of the pools; what measurements lack, by name unless all do; which are decided outside of busy hours."""
    notes = [note for found in answered for note in found.notes]
    lacking = by_key(pair for found in answered for pair in found.measured)
    for note, names in lacking.items():
        notes.append(
            note if len(names) == len(answered) else f"{sentence_case(listed(names, NAMED))}: {note}"
        )
    away = [f"{found.away}." for found in answered if found.away]
    if len(away) > NAMED:
        more = counted(len(away) - NAMED, "further pool is", "further pools are")
        away[NAMED:] = [f"{more} decided outside of the busy hour."]
    return list(dict.fromkeys([*notes, *away]))


def _nothing(measured: Measured, problems: Sequence[str]) -> PlannerError:
    """Say what is wrong with measurements of which no load has an answer."""
    if not problems:
        dates = [*measured.devices["start"], *measured.storage["start"]]
        why = "the devices are no DASD" if any(dates) else "no interval has a date"
        return measured.without(f"{NOT_MEASURED} ({why})" if dates else NOT_MEASURED)
    files = measured.frame["file"].drop_nulls().unique(maintain_order=True).to_list() or ["data frame"]
    more = f" and {counted(len(files) - 1, 'further file')}" if len(files) > 1 else ""
    return ReportError(f"{files[0]}{more}", "; ".join(each.rstrip(".") for each in problems))


def _basis(pools: Sequence[PoolQuestion], series: Sequence[GrowingLoad]) -> str:
    """Over which days the aliases needed are decided, where more were measured; empty where not."""
    begin = min((pool.begin for pool in pools if pool.begin > series[pool.series].first), default=None)
    if begin is None:
        return ""
    return (
        f"Aliases needed are those of {percent(DEFAULT_MEET)} of the busy time of the last {RECENT} days of each "
        f"pool, from {begin} on; over other days `planner site` may say otherwise."
    )


def _of_one_clock(series: Sequence[GrowingLoad]) -> tuple[list[GrowingLoad], list[str]]:
    """Loads with a busy hour, without a leap over more days than were measured; the others are named and left out."""
    kept, short, notes = [], [], []
    for each in series:
        if not np.isfinite(each.levels).any():
            short.append(each.measured.name)
            continue
        found = leap(each.levels)
        if found is None:
            kept.append(each)
            continue
        day = each.first + timedelta(days=found[0])
        notes.append(
            f"{each.measured.name} leaps {found[1]} days to {day}, more than were measured: left out; correct its "
            "clock, or ask from there on (--from)."
        )
    return kept, [*([f"{listed(short, NAMED)}: {TOO_SHORT}."] if short else []), *notes]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrowingLoad:
    """One load over time: whose it is, the busy hour of each day, and the rows that its limits follow from.

    It may be `times` as large, where it was not measured.
    """

    kind: Kind
    measured: SeriesLabel
    first: date
    levels: Array
    rows: pl.DataFrame
    times: Interval = AS_MEASURED


def _pool_question(
    load: GrowingLoad, index: int, now: float, ahead: tuple[tuple[float, ...], ...], reach: float
) -> PoolQuestion:
    """What is asked of a pool, by its last days."""
    begin = load.rows["start"].max().date() - timedelta(days=RECENT - 1)  # type: ignore[union-attr]
    rows = load.rows.filter(pl.col("start") >= pl.lit(begin).cast(pl.Datetime("us")))
    return PoolQuestion(
        label=load.measured, series=index, group=_group(rows), rows=rows, begin=begin, now=now, ahead=ahead,
        reach=reach,
    )  # fmt: skip


def _volume_goal(load: GrowingLoad, index: int) -> Goal:
    """A device that is full."""
    at = Interval(BUSY / load.times.high, BUSY, BUSY / load.times.low)
    return Goal(series=index, measured=load.measured, now=None, limit=BUSY, load=at)


def _storage_goals(load: GrowingLoad, index: int, given: GrowthQuestion, now: float) -> list[Goal]:
    """PTRM data spaces, and real storage where it was given."""
    limits: dict[str, StorageLimit] = {}
    release = load.rows["release"].drop_nulls()
    spaces = find_release(release[-1]).ptrm_spaces if release.len() else None
    if spaces is not None:
        limits["in-use virtual storage, PTRM"] = ptrm_limit(spaces)
    if given.real_storage is not None and given.resident_pages is not None:
        pages = Fraction(given.resident_pages).limit_denominator(10**6)
        limits["in-use virtual storage, real storage"] = real_storage_limit(given.real_storage, pages)
    return [
        Goal.at(index, replace(load.measured, what=what), now, limit.in_use_virtual_bytes / GIB)
        for what, limit in limits.items()
    ]


def _load(
    kind: Kind, label: SeriesLabel, sums: pl.DataFrame, rows: pl.DataFrame, notes: list[str]
) -> GrowingLoad:
    """A load by the column `load` of its sums in order of time; where its unit seems to change, `notes` say so."""
    first, levels, _ = busy_hours(sums["start"].to_numpy(), sums["load"].to_numpy())
    notes += jump_note(label.name, first, levels)
    return GrowingLoad(kind=kind, measured=label, first=first, levels=levels, rows=rows)


def _sums(rows: pl.DataFrame, **of: pl.Expr) -> pl.DataFrame:
    """Sums over the rows of each interval, in order of time."""
    return (
        with_moments(rows)
        .group_by(MOMENT, maintain_order=True)
        .agg(pl.col("start").first(), **of)
        .sort("start", MOMENT)
    )


def _pool_series(devices: pl.DataFrame, notes: list[str]) -> list[GrowingLoad]:
    """I/O rate of each pool, interval by interval; HyperPAV devices of no known pool are one, as in `planner site`."""
    rows = devices.filter(
        (pl.col(GROUP_KEYS[0]) != VOLUME) & (pl.col("kind") != schema.OTHER) & pl.col("start").is_not_null()
    )
    found: list[GrowingLoad] = []
    for part in rows.partition_by("system", *GROUP_KEYS, maintain_order=True):
        group = _group(part)
        system, pool = group.system, group.pool
        sums = _sums(part.drop_nulls("io_rate"), load=pl.col("io_rate").sum(), members=pl.len())
        if not sums.height:
            continue
        whole = sums.filter(pl.col("members") >= MEMBERS * pl.col("members").median())
        if whole.height < sums.height:
            left = sums.height - whole.height
            notes.append(f"{sentence_case(pool)}: {left} intervals without half of its volumes are left out.")
        measured = SeriesLabel(system=system, what=f"I/O rate of {pool}", unit="1/s")
        found.append(_load("pool", measured, whole, part, notes))
        worked = part.filter((pl.col("io_rate") > 0) & (pl.col("service") > 0))
        if worked.height:
            name = f"service time of {pool}" + (f" of {system}" if system else "")
            notes += jump_note(name, *daily_medians(worked["start"].to_numpy(), worked["service"].to_numpy()))
    return found


def _group(rows: pl.DataFrame) -> Group:
    """Whose rows these are."""
    system, kind, name = rows.select("system", *GROUP_KEYS).row(0)
    return Group(system or "", kind, name)


def _volume_series(devices: pl.DataFrame, notes: list[str]) -> tuple[list[GrowingLoad], list[str]]:
    """Busy share of each volume in no pool, with its own aliases; and why some are left out."""
    rows = devices.filter(
        (pl.col(GROUP_KEYS[0]) == VOLUME)
        & pl.col("start").is_not_null()
        & pl.col("kind").is_in([schema.BASE, schema.VOLUME])
    )
    found: list[GrowingLoad] = []
    off, others = [], []
    for (system, device, label), own in rows.partition_by(
        "system", "device", "label", as_dict=True, maintain_order=True
    ).items():
        what = f"busy share of volume {device or label}"
        measured = SeriesLabel(system=system or "", what=what, unit="share")
        name, part = measured.name.removeprefix("busy share of "), own.sort("start")
        try:
            service = service_times(Rows(part))
        except InputError as problem:
            off.append(no_answer(measured, problem) + ".")
            continue
        rate = part["io_rate"].to_numpy()
        own_aliases = (part["pool_aliases"].fill_null(0) * (part["kind"] == schema.VOLUME)).to_numpy()
        load = np.where(rate == 0, 0.0, rate * service.value / (1 + own_aliases))
        served = (rate > 0) & np.isfinite(load)
        lacking = int(((rate > 0) & ~served).sum())
        if lacking and not served.any():
            off.append(f"The service time of {name} was not measured: left out.")
            continue
        if lacking:
            notes.append(f"{measured.name} leaves out {counted(lacking, 'interval')} without a service time.")
        one = _load("volume", measured, part.select("start").with_columns(load=load), part, notes)
        if part["service"].is_null().to_numpy()[served].any():
            others.append(name)
            last = np.flatnonzero(served)[-1]
            recent = served & (part["start"] > part["start"][int(last)] - timedelta(days=RECENT)).to_numpy()
            low, value, high = (float(rate[recent] @ end[recent]) for end in service)
            one = replace(one, times=Interval(low / value, 1.0, high / value))
        found.append(one)
    if others:
        notes.append(
            f"The service time of {listed(others, NAMED)} was not measured: it is taken from the other figures; "
            "the ranges of the dates hold how far these leave it open today."
        )
    return found, off


def _storage_series(storage: pl.DataFrame, notes: list[str]) -> list[GrowingLoad]:
    """In-use virtual storage of each system, by the resident pages of its PTRM data spaces."""
    rows = storage.filter(
        (pl.col("owner") == "SYSTEM") & pl.col("name").str.starts_with("PTRM") & pl.col("start").is_not_null()
    )
    found: list[GrowingLoad] = []
    for (system,), part in rows.partition_by("system", as_dict=True, maintain_order=True).items():
        sums = _sums(part, load=pl.col("resident").sum() * SEGMENT / FRAMES_PER_PGMBK / GIB)
        measured = SeriesLabel(system=system or "", what="in-use virtual storage", unit="GB")
        found.append(_load("storage", measured, sums, part, notes))
    return found
