"""What every pool of a site needs over its days: `site` asks, `need_of` answers a part, `combine` joins the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from planner.measurements.archive import open_archive
from planner.measurements.choose import moment
from planner.measurements.read import Data, is_folder, read
from planner.results import Array
from planner.site import executors
from planner.site.groups import POOL, VOLUME, Group, Series, groups_of, keyed, rows_of, series_of
from planner.site.point import Point, point
from planner.site.pool_need import BUSY, NeedSeries, PoolNeed, time_quantile
from planner.site.screen import Checked, Screen
from planner.site.shared import Shared, check_members, is_shared, joined, read_shared
from planner.site.site_answer import SiteAnswer
from planner.site.supplied import supplied
from planner.site.teach import hour_class, taught
from planner.site.track import Dated, Tracked, TrackRecord, tracked_of
from planner.sizing.pool_count import MeasuredPool
from planner.sizing.search import aliases
from planner.sizing.subsystem import subsystem
from planner.sizing.target import DEFAULT_WAIT_SHARE, Target

if TYPE_CHECKING:
    import polars as pl

POOLS_AT_ONCE: Final = 8
VOLUMES_AT_ONCE: Final = 256
DEFAULT_MODEL: Final = "hyperpav"
DEFAULT_MEET: Final = 0.99
MEETS: Final = (0.99, 0.95)
QUEUE_UNKNOWN: Final = (
    "no queue measured: arrivals are taken as open, and the range holds no bursts; "
    "rows with queue or response decide more"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Some groups of a site, small enough to send away.

    Attributes
    ----------
    name : str
        For messages.
    groups : tuple of Group
        Which pools and volumes.
    archive : Path or None
        Where their rows are; `frame` holds them, and `supply` the counters, where None.
    shares : dict
        Of pools that systems share, the share of each in the load.
    start, end : datetime or None
        Which intervals.
    law, target, meet, curves
        As of `site`.
    """

    name: str
    groups: tuple[Group, ...]
    archive: Path | None = None
    frame: pl.DataFrame | None = None
    supply: pl.DataFrame | None = None
    shares: dict[str, dict[str, float]] = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None
    law: Law
    target: Target
    meet: float = DEFAULT_MEET
    curves: bool = False


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


def track_record(
    source: Data, since: datetime | str, *, members: Path | str | None = None, system: str | None = None,
    start: datetime | str | None = None, end: datetime | str | None = None, pool: str | None = None,
    target: Target | None = None, model: Path | str = DEFAULT_MODEL, scheduler: str | None = None,
    workers: int | None = None,
) -> TrackRecord:  # fmt: skip
    """Set what is told from before a date, for the aliases in use since, against what was measured since.

    Parameters
    ----------
    source, members, system, start, end, pool, target, model, scheduler, workers
        As of `site`.
    since : datetime or str
        When the aliases were changed.

    Returns
    -------
    TrackRecord
        One row a compared interval of the pools whose aliases changed.

    Raises
    ------
    InputError
        As of `site`; or no date.
    ReportError
        A file cannot be read.
    """
    when = moment(since, "since")
    if when is None:
        raise InputError("since", since, "a day or a time such as 2026-03-01")
    asked = {"law": Law.from_model(model), "target": target or Target()}
    begin, stop = moment(start, "start"), moment(end, "end")
    parts, notes = parts_of(
        source, members=members, system=system, start=begin, end=stop, pool=pool, asked=asked
    )
    pools: list[Tracked] = []
    unchanged, remarks = 0, list(notes)
    for each in executors.run(
        tracked_of, [Dated(part=part, since=when) for part in parts], scheduler, workers
    ):
        if isinstance(each, executors.Failed):
            remarks.append(f"No record of {each.name}: {each.problem}")
            continue
        pools += each[0]
        unchanged += each[1]
    return TrackRecord(pools=tuple(pools), since=when, unchanged=unchanged, remarks=tuple(remarks))


def parts_of(
    source: Data,
    *,
    members: Path | str | None,
    system: str | None,
    start: datetime | None,
    end: datetime | None,
    pool: str | None,
    asked: dict[str, Any],
) -> tuple[list[Part], tuple[str, ...]]:
    """Cut a site into parts: some pools of one system each; and what reading it left open."""
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    only = sources[0]
    shared: Shared = {}
    path: Path | str = ""
    if members is not None and is_shared(members):
        shared, path, members = read_shared(members), members, None
    archive = None
    said: tuple[str, ...] = ()
    if members is None and len(sources) == 1 and isinstance(only, (str, Path)) and is_folder(Path(only)):
        archive = open_archive(Path(only))
        systems = None if system is None else [system]
        rows = archive.scan("devices", systems=systems, start=start, end=end)
        supply = None
    else:
        measured = read(source, members, system=system, start=start, end=end)
        rows, supply, said = measured.devices.lazy(), measured.supply, measured.notes
    every = groups_of(rows)
    parts, notes = [], list(said)
    if shared:
        check_members(shared, every, path)
        gone = {member for some in shared.values() for member in some}
        every = [each for each in every if (each.system, each.name) not in gone]
        for ssid, some in shared.items():
            group, frame, shares, left_out = joined(rows, ssid, some)
            if pool is not None and pool not in (group.name, group.words):
                continue
            if left_out:
                notes.append(
                    f"{group.words}: {left_out} intervals that not all of its systems measured are left out."
                )
            parts.append(
                Part(
                    name=group.words,
                    groups=(group,),
                    frame=keyed(frame, [group]),
                    shares={ssid: shares},
                    **asked,
                )
            )
    if not (parts and pool is not None):
        every = chosen(every, pool, str(source)) if every or not parts else []
        for few in cut(every):
            where = {"archive": archive.path, "start": start, "end": end} if archive is not None else {
                "frame": rows_of(rows, few), "supply": supply
            }  # fmt: skip
            parts.append(Part(name=_name(few), groups=few, **where, **asked))
    return parts, tuple(notes)


def chosen(groups: Sequence[Group], pool: str | None, source: str) -> list[Group]:
    """Groups that are asked for: of this pool, or all."""
    if not groups:
        raise InputError("source", source, "devices or volumes with intervals; there are none")
    if pool is None:
        return list(groups)
    found = [each for each in groups if pool in (each.name, each.words)]
    if not found:
        names = [each.words for each in groups if each.kind != VOLUME] or [each.words for each in groups]
        raise InputError("pool", pool, f"one of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}")  # noqa: PLR2004
    return found


def cut(groups: Sequence[Group]) -> list[tuple[Group, ...]]:
    """A few groups of one system and kind each."""
    found: list[tuple[Group, ...]] = []
    for system, volumes in dict.fromkeys((each.system, each.kind == VOLUME) for each in groups):
        some = [each for each in groups if (each.system, each.kind == VOLUME) == (system, volumes)]
        size = VOLUMES_AT_ONCE if volumes else POOLS_AT_ONCE
        found += [tuple(some[first : first + size]) for first in range(0, len(some), size)]
    return found


def _name(groups: Sequence[Group]) -> str:
    return groups[0].words if len(groups) == 1 else f"{groups[0].words} to {groups[-1].name}"


def rows_of_part(part: Part) -> pl.DataFrame:
    """Rows of the groups of a part, wherever they are."""
    if part.frame is not None:
        return part.frame
    assert part.archive is not None
    systems = sorted({each.system for each in part.groups})
    lazy = open_archive(part.archive).scan("devices", systems=systems, start=part.start, end=part.end)
    return rows_of(lazy, part.groups)


def supply_of_part(part: Part) -> pl.DataFrame | None:
    """Supply counters of the pools of a part; None without any."""
    import polars as pl

    if part.archive is None:
        return part.supply
    pools = [each.name for each in part.groups if each.kind == POOL]
    archive = open_archive(part.archive)
    if not pools or not archive.files("supply"):
        return None
    systems = sorted({each.system for each in part.groups})
    lazy = archive.scan("supply", systems=systems, start=part.start, end=part.end)
    return lazy.filter(pl.col("pool").is_in(pools)).collect()


def need_of(part: Part, before_teaching: Callable[[PoolNeed], object] | None = None) -> PartNeeds:
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

    def solve(group: int, interval: int, bursty: bool) -> Point:
        run = every[group].run(interval)
        return Point(0, -1.0) if run is None else point(run, part.law, part.target, bursty=bursty)

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


def _need(part: Part, series: Series, screen: Screen, index: int, counters: pl.DataFrame | None) -> PoolNeed:
    """One group: what decides is solved first, then all is put together."""
    members = np.flatnonzero(screen.group == index)
    where = screen.interval[members]
    busy = np.zeros(series.start.size, dtype=bool)
    if members.size:
        busy[where] = series.load[where] >= BUSY * np.quantile(series.load[where], 0.99)
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
    if not known.any() or len(problems) == int(in_full.sum()) + len(problems) > 0:
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


def _ranged(part: Part, series: Series, found: PoolNeed) -> PoolNeed:
    """Put the range of the count beside it: that of the interval that decides it."""
    if not found.busy_intervals:
        return replace(found, needed_low=0, needed_high=0)
    needed = found.needed
    assert needed is not None
    at = deciding(found)
    run = series.run(at)
    if run is None:
        return replace(found, needed_low=needed, needed_high=needed)
    found = replace(found, run=run)
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
    part: Part, series: Series, screen: Screen, members: NDArray[np.int64], found: PoolNeed
) -> PoolNeed:
    """Narrow the range by what all intervals of the hour class say together; it never becomes wider."""
    if found.needed_low is None or found.needed_high is None or not found.needed or not found.busy_intervals:
        return found
    at = deciding(found)
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
    ends = []
    for queue in (series.queue.high, series.queue.low):
        limits = (
            (queue / rate, target.wait), ((load + queue) / rate, target.response), (queue, target.queued)
        )  # fmt: skip
        given = [value <= limit for value, limit in limits if limit is not None]
        ends.append(np.logical_and.reduce(given) if given else queue <= DEFAULT_WAIT_SHARE * load)
    there = np.isfinite(series.queued)
    return wait, there & ends[0], there & ~ends[1]


def deciding(found: PoolNeed) -> int:
    """Interval that stands for the count: busy, solved in full, of that count, or the nearest one."""
    series = found.series
    far = np.abs(np.where(series.busy, series.needed, np.inf) - (found.needed or 0))
    far = np.where(np.isnan(far), np.inf, far) + np.where(series.in_full, 0.0, 0.4)
    return int(np.argmin(far))


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
