"""What every pool of a site needs over its days: `site` asks, `need_of` answers a part, `combine` joins the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import units
from planner.demand import Law
from planner.errors import InputError, PlannerError
from planner.measurements.choose import moment
from planner.measurements.read import Data
from planner.results import Array
from planner.site import executors
from planner.site.deciding import busy_intervals, deciding, outside_busy_hour, time_quantile
from planner.site.groups import POOL, VOLUME, Group, Series, series_of
from planner.site.hints import met
from planner.site.parts import DEFAULT_MEET, DEFAULT_MODEL, SitePart, parts_of, rows_of_part, supply_of_part
from planner.site.point import Point, points
from planner.site.pool_need import NeedSeries, PoolNeed
from planner.site.screen import Checked, Screen
from planner.site.site_answer import SiteAnswer
from planner.site.supplied import supplied
from planner.site.teach import hour_class, taught
from planner.sizing.pool_count import MeasuredPool
from planner.sizing.search import aliases
from planner.sizing.subsystem import subsystem
from planner.sizing.target import Target

if TYPE_CHECKING:
    import polars as pl

MEETS: Final = (0.99, 0.95)
QUEUE_UNKNOWN: Final = (
    "no queue measured: arrivals are taken as open, and the range holds no bursts; "
    "rows with queue or response decide more"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartNeeds:
    """What the groups of a part need, and how well interpolated intervals agreed with full answers."""

    pools: tuple[PoolNeed, ...]
    checked: Checked = field(default_factory=Checked)
    rows: int = 0


def site(
    source: Data,
    *,
    members: Path | str | None = None,
    system: str | None = None,
    start: datetime | str | None = None,
    end: datetime | str | None = None,
    pool: str | None = None,
    target: Target | None = None,
    meet: float | str = DEFAULT_MEET,
    model: Path | str = DEFAULT_MODEL,
    curves: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
) -> SiteAnswer:
    """Tell what every pool, and every volume with aliases of its own, needs over its days.

    Parameters
    ----------
    source : path, data frame, or a sequence of these
        An archive of `planner collect`, or whatever `planner.measurements.read` takes.
    members : Path or str, optional
        Members of alias pools (columns device, role, pool), or pools that several systems share (columns system, pool,
        ssid).
    system : str, optional
        Only this one.
    start, end : datetime or str, optional
        Only intervals from then on, before then.
    pool : str, optional
        Only this one.
    target : Target, optional
        What the aliases must achieve; by default queueing is gone.
    meet : float or str, optional
        Share of the busy time in which they must, ``"99%"`` or 0.99.
    model : Path or str, optional
        The law: a model file, or the name of a shipped model.
    curves : bool, optional
        Whether each pool has the whole answer of the interval that decides.
    scheduler : str, optional
        Address of a Dask scheduler, as ``tcp://HOST:8786``.
    workers : int, optional
        Local processes.

    Returns
    -------
    SiteAnswer
        One row a pool, those that are short first.

    Raises
    ------
    InputError
        No measurements of devices, no such system or pool, or a share outside 0 to 1.
    ReportError
        A file cannot be read.
    """
    share = units.share(meet, "meet", zero=False)
    if not 0.0 < share <= 1.0:
        raise InputError("meet", meet, "a share above 0 and at most 100%")
    asked = {"law": Law.from_model(model), "target": target or Target(), "meet": share, "curves": curves}
    begin, stop = moment(start, "start"), moment(end, "end")
    parts, notes = parts_of(
        source, members=members, system=system, start=begin, end=stop, pool=pool, asked=asked
    )
    found = executors.run(need_of, parts, scheduler=scheduler, workers=workers)
    answer = combine(found, target=asked["target"], meet=share, notes=notes)  # type: ignore[arg-type]
    return replace(answer, law=asked["law"])  # type: ignore[arg-type]


def need_of(part: SitePart, before_teaching: Callable[[PoolNeed], object] | None = None) -> PartNeeds:
    """What the groups of a part need: read, screened, solved where it decides.

    `before_teaching` is shown each group with the range of the one interval that decides.
    """
    frame = rows_of_part(part)
    every: list[Series] = []
    without: list[PoolNeed] = []
    for group, found in series_of(frame, part.groups):
        if isinstance(found, str):
            without.append(_without(group, found))
        else:
            every.append(found)

    def solve(
        wanted: Sequence[tuple[int, int]], among: Sequence[Collection[float]]
    ) -> list[Point | PlannerError]:
        runs = [every[group].run(interval) for group, interval in wanted]
        there = [k for k, run in enumerate(runs) if run is not None]
        solved = points([runs[k] for k in there], part.law, part.target, [among[k] for k in there])  # type: ignore[misc]
        found: list[Point | PlannerError] = [Point(0, -1.0)] * len(runs)
        for k, each in zip(there, solved, strict=True):
            found[k] = each
        return found

    screen = Screen.of(every, solve, part.law, part.target)
    screen.run()
    counters = supply_of_part(part)
    pools = []
    for k, each in enumerate(every):
        alone = _need(part, each, screen, k, counters)
        if before_teaching is not None:
            before_teaching(alone)
        pools.append(_taught(part, each, screen, np.flatnonzero(screen.group == k), alone))
    return PartNeeds(pools=(*pools, *without), checked=screen.checked, rows=frame.height)


def _without(group: Group, problem: str) -> PoolNeed:
    nothing = np.zeros(0)
    none = np.zeros(0, dtype=bool)
    series = NeedSeries(
        start=np.zeros(0, dtype="datetime64[us]"), seconds=nothing, needed=nothing, in_use=nothing, io_rate=nothing,
        response=nothing, queued=nothing, busy=none, in_full=none,
    )  # fmt: skip
    kind = VOLUME if group.kind == VOLUME else POOL
    return PoolNeed(
        system=group.system, pool=group.name, kind=kind, volumes=0, in_use=0, problem=problem, series=series
    )


def _need(
    part: SitePart, series: Series, screen: Screen, index: int, counters: pl.DataFrame | None
) -> PoolNeed:
    """One group: what decides is solved first, then all is put together."""
    members = np.flatnonzero(screen.group == index)
    where = screen.interval[members]
    busy = busy_intervals(series.load, (series.io_rate > 0) & series.complete)
    weigh = busy[where] * series.seconds[where]
    shares = [*MEETS, *([part.meet] if part.meet not in MEETS else [])]
    if members.size:
        screen.settle(index, np.nanmax, lambda some: np.ones(some.size))
        for share in shares:
            screen.settle(index, partial(_at, weigh, share), lambda some: weigh)
    counts = screen.counts()[members]
    needed = np.where(series.complete & (series.io_rate <= 0), 0.0, np.nan)
    needed[where] = counts
    in_full = np.zeros(busy.size, dtype=bool)
    in_full[[int(screen.interval[at]) for at in members if int(at) in screen.known]] = True
    problems = [screen.problems[int(at)] for at in members if int(at) in screen.problems]
    notes = list(series.notes)
    if members.size and np.isnan(series.queued[where]).any():
        notes.append(QUEUE_UNKNOWN)
    if problems:
        notes.append(
            f"{len(problems)} of the intervals solved have no answer, the first because of this: {problems[0]}"
        )
    shown = NeedSeries(
        start=series.start, seconds=series.seconds, needed=needed, in_use=series.in_use.astype(float),
        io_rate=series.io_rate, response=series.response, queued=series.queued, busy=busy, in_full=in_full,
    )  # fmt: skip
    found = PoolNeed(
        system=series.group.system, pool=series.group.name, kind=VOLUME if series.group.kind == VOLUME else POOL,
        volumes=int(series.volumes.max(initial=0)), in_use=int(series.in_use[-1]), intervals=int(busy.size),
        busy_intervals=int(busy.sum()), solved_in_full=int(in_full.sum()),
        short_intervals=int((busy & (needed > series.in_use)).sum()), shares=part.shares.get(series.group.name, {}),
        notes=tuple(notes), series=shown,
    )  # fmt: skip
    told = None if counters is None else supplied(counters, series.group.system, series.group.name)
    found = replace(found, supply="" if told is None else told.words)
    found = replace(found, rules=rules(series, found, part.meet, None if told is None else told.high_water))
    known = np.isfinite(needed)
    unknown = not known.any() or (busy.any() and not known[busy].any())
    if unknown or len(problems) == int(in_full.sum()) + len(problems) > 0:
        return replace(found, problem=problems[0] if problems else "no interval with all of its numbers")
    decided = {share: time_quantile(needed[busy], series.seconds[busy], share) for share in shares}
    if not busy.any():  # measured, and never any I/O
        decided = dict.fromkeys(shares, 0.0)
    worst = int(np.nanargmax(np.where(known, needed + 1e-9 * np.nan_to_num(series.load), -1.0)))
    first = series.start[worst]
    found = replace(
        found, needed_worst=int(needed[worst]), needed_99=int(decided[0.99]), needed_95=int(decided[0.95]),
        needed=int(decided[part.meet]), worst_start=None if np.isnat(first) else first.item(),
    )  # fmt: skip
    return _ranged(part, series, found)


def rules(series: Series, found: PoolNeed, meet: float, high_water: int | None) -> dict[str, int | None]:
    """What the rules of the field say: of the busy intervals, the one that is reached in the share asked for."""
    busy = found.series.busy
    thumb = np.asarray(series.in_use + np.ceil(np.round(series.thumb, 6)), dtype=np.float64)
    queue = time_quantile(thumb[busy], series.seconds[busy], meet)
    return {
        "in_use_plus_queue": None if math.isnan(queue) else int(queue),
        "high_water": high_water,
        "paths_less_one": None if math.isnan(series.paths) else int(series.paths) - 1,
    }


def _at(seconds: Array, share: float, counts: Array) -> float:
    return time_quantile(np.where(seconds > 0, counts, np.nan), seconds, share)


def _ranged(part: SitePart, series: Series, found: PoolNeed) -> PoolNeed:
    """Put the range of the count beside it: that of the interval that decides it."""
    if not found.busy_intervals:
        return replace(found, needed_low=0, needed_high=0)
    needed = found.needed
    assert needed is not None
    at = _deciding(part, series, found)
    run = series.run(at)
    if run is None:
        return replace(found, needed_low=needed, needed_high=needed)
    away = outside_busy_hour(found.name, series.start, series.seconds, series.io_rate, at)
    found = replace(found, run=run, notes=(*found.notes, away) if away else found.notes)
    try:
        if part.curves or not run.pool:
            answer = aliases(run, part.law, target=part.target)
            ends: tuple[int | None, int | None] = answer.range
            found = replace(found, answer=answer if part.curves else None)
        else:
            pool = MeasuredPool(name=found.pool, volumes=found.volumes, aliases=run.aliases, runs=(run,))
            (count,) = subsystem([pool], part.law, target=part.target).pools
            if count.range is None:
                return replace(found, notes=(*found.notes, f"no range: {count.problem}"))
            ends = count.range
    except PlannerError as problem:
        return replace(found, notes=(*found.notes, f"no range: {problem}"))
    least, most = ends
    low = needed if least is None else min(least, needed)
    high = needed if most is None else max(most, needed)
    return replace(found, needed_low=low, needed_high=high, taught_by=1)


def _taught(
    part: SitePart, series: Series, screen: Screen, members: NDArray[np.int64], found: PoolNeed
) -> PoolNeed:
    """Narrow the range by what all intervals of the hour class say together; it never becomes wider."""
    if found.needed_low is None or found.needed_high is None or not found.needed or not found.busy_intervals:
        return found
    at = _deciding(part, series, found)
    smooth = np.full(series.start.size, np.nan)
    for place in members:
        if int(place) in screen.known:
            smooth[int(screen.interval[place])] = screen.known[int(place)].smooth
    classes = hour_class(series.start)
    for alike in (classes == classes[at], np.ones(classes.size, dtype=bool)):
        some = np.where(alike & found.series.busy, smooth, np.nan)
        wait, met, missed = measured_against(series, part.target)
        lesson = taught(
            some, series.load, wait, at, count=found.needed, in_use=series.in_use, met=met, missed=missed
        )
        if lesson is not None:
            low, high = max(lesson.low, found.needed_low), min(lesson.high, found.needed_high)
            return replace(found, needed_low=low, needed_high=high, taught_by=lesson.intervals)
    return found


def measured_against(series: Series, target: Target) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Mean wait [service times] of each interval, and whether it meets the target for sure, or misses it for sure."""
    load, rate = np.maximum(series.load, 1e-12), np.maximum(series.io_rate, 1e-12)
    wait = np.where(np.isfinite(series.queued), series.queued / load, np.nan)
    met_high, met_low = (met(target, load, rate, queue) for queue in (series.queue.high, series.queue.low))
    there = np.isfinite(series.queued)
    return wait, there & met_high, there & ~met_low


def _deciding(part: SitePart, series: Series, found: PoolNeed) -> int:
    """Interval that stands for the count."""
    at = deciding(found.series.needed, series.load, series.seconds, found.series.busy, part.meet)
    assert at is not None
    return at


def combine(
    results: Sequence[Any], *, target: Target, meet: float = DEFAULT_MEET, notes: Sequence[str] = ()
) -> SiteAnswer:
    """Join what was found of the parts of a site."""
    pools: list[PoolNeed] = []
    checked, failed = Checked(), []
    for each in results:
        if isinstance(each, PartNeeds):
            pools += each.pools
            checked = checked.plus(each.checked)
        else:
            failed.append((str(each.name), str(each.problem)))
    return SiteAnswer(
        pools=tuple(sorted(pools, key=_order)), target=target, meet=meet, checked=checked, remarks=tuple(notes),
        failed=tuple(failed),
    )  # fmt: skip


def _order(need: PoolNeed) -> tuple[int, float, str, str]:
    """Those that are short first, by how much they lack; then those without an answer; most to gain next."""
    from planner.site.pool_need import VERDICTS

    weight = -need.to_add if need.to_add else -need.to_gain
    return (
        VERDICTS.index(need.verdict),
        float(weight) if math.isfinite(weight) else 0.0,
        need.system,
        need.pool,
    )
