"""What pools need as their loads grow: the interval that decides today, at many loads, all pools at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Final

import numpy as np

from planner import parallel
from planner.demand import DeviceModel, Target
from planner.interval import Interval
from planner.lazy import pl
from planner.measurements.choose import Group, rows_of
from planner.measurements.over_time import over_time
from planner.measurements.run import Run
from planner.site.growth.dates import Goal
from planner.site.parts import DEFAULT_MEET
from planner.site.pool_need import PoolCases, deciding, outside_busy_hour, whole
from planner.site.series import SeriesLabel, began
from planner.sizing.comparison import Count
from planner.sizing.gaps import below_floor, floor_words
from planner.sizing.need import Need, need
from planner.sizing.sized import ReadCache
from planner.units import percent, readable

NEARNESS: Final = 0.005  # of a load that a limit is met at


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolQuestion:
    """A pool with the `rows` of its last days, from `begin` on, at loads of `now` and `ahead`, up to `reach` [1/s]."""

    label: SeriesLabel
    series: int
    group: Group
    rows: pl.DataFrame
    begin: date
    now: float
    ahead: tuple[tuple[float, ...], ...]
    reach: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolLimits:
    """Limits of a pool, notes, and what its measurement lacks with its name; `answered`: whether no problem left none.

    `away` says where it is decided outside of its busy hour; a pool that did nothing has no limits either.
    """

    goals: tuple[Goal, ...] = ()
    notes: tuple[str, ...] = ()
    measured: tuple[tuple[str, str], ...] = ()
    away: str = ""
    answered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeedsByLoad:
    """What a pool needs at multiples of the load of today; with a `limit`, whether that is more than this many.

    `needs` are counts with their ranges: inf where no count does, nan where none was solved. More demand needs no fewer
    than less does: candidates are counted in whole aliases, each for itself, and a quantile of them may step back.
    """

    limit: int | None = None
    needs: dict[float, Interval] = field(default_factory=dict)

    def take(self, times: float, need: Need) -> None:
        """Keep what was found at a multiple."""
        low, high = (need.rank if end is None else float(end) for end in (need.low, need.high))
        self.needs[times] = Interval(low, need.rank, high)

    def further(self, limit: int, reach: float) -> set[float]:
        """Multiples up to `reach` to ask next: those about a limit of counts, and of both ends."""
        if reach not in self.needs:
            return {reach}
        return set().union(*(_between(self.counts(end), limit) for end in ("low", "value", "high")))

    def counts(self, end: str) -> dict[float, float]:
        """Counts at one end of their ranges, or the counts themselves, by multiple, rising: the most on the way from 1.

        Below 1 it is the least, so that what is needed today stands as `planner site` has it.
        """
        times = np.sort(list(self.needs))
        found = np.array([getattr(self.needs[each], end) for each in times])
        now = int(np.searchsorted(times, 1.0))
        known = np.concatenate([np.fmin.accumulate(found[now::-1])[:0:-1], np.fmax.accumulate(found[now:])])
        return dict(zip(times.tolist(), np.where(np.isnan(found), found, known).tolist(), strict=True))

    def at(self, times: float) -> Interval:
        """Count and range at a multiple that was asked."""
        return Interval(*(self.counts(end)[times] for end in ("low", "value", "high")))

    def largest(self, limit: int) -> Interval:
        """Multiple up to which this many aliases do; inf where none that was solved needs more."""
        found = []
        for end in ("high", "value", "low"):
            counts = self.counts(end)
            within, above = _step(counts, limit)
            known = math.isfinite(above) and not math.isnan(counts[above])
            found.append(within if known else math.inf)
        return Interval(*found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecidedPool:
    """A pool as the interval that decides it was measured; what it needs ahead, and where it passes a limit."""

    asked: PoolQuestion
    run: Run
    in_use: int
    away: str
    ahead: NeedsByLoad = field(default_factory=NeedsByLoad)
    passed: dict[int, NeedsByLoad] = field(default_factory=dict)  # by limit

    def times(self, load: float) -> float:
        """Multiple of the load of today."""
        return min(load / self.asked.now, 100.0)  # times the load of today

    def wanted(self) -> list[tuple[NeedsByLoad, set[float]]]:
        """What to ask next: today and ahead; then where limits are passed."""
        if not self.ahead.needs:
            return [(self.ahead, {1.0, *(self.times(load) for step in self.asked.ahead for load in step)})]
        for limit in (self.in_use, self.run.most_aliases):
            if limit not in self.passed:
                self.passed[limit] = NeedsByLoad(limit=limit, needs=dict(self.ahead.needs))
        reach = self.times(self.asked.reach)
        return [(each, each.further(limit, reach)) for limit, each in self.passed.items()]

    def limits(self, how: str) -> PoolLimits:
        """Aliases in use, and addresses of the control unit."""
        now = self.ahead.at(1.0)
        steps = ([self.ahead.at(self.times(load)) for load in step] for step in self.asked.ahead)
        needs = [now, *(Interval(low.low, middle.value, high.high) for low, middle, high in steps)]
        run = self.run  # of whose volumes each has an address, too
        count = Count(whole(now.value), None, None, self.in_use, below_floor(run))
        kinds = (("aliases", 0, self.in_use), ("addresses", run.bases + run.idle, run.most_aliases))
        goals = tuple(
            Goal(
                series=self.asked.series,
                measured=replace(self.asked.label, what=f"{what} of {self.asked.group.pool}", unit=what),
                now=now.value + plus, limit=float(limit + plus),
                load=self.passed[limit].largest(limit) * self.asked.now,
                needs=tuple(each + float(plus) for each in needs),
            )
            for what, plus, limit in kinds[count.too_quiet :]
        )  # fmt: skip
        notes = [how]
        if count.too_quiet:
            notes += [f"{self.asked.label.name}: too quiet for its aliases to matter, with {floor_words()}."]
        every = [self.ahead, *self.passed.values()]
        unsolved = [times for each in every for times, count in each.needs.items() if math.isnan(count.value)]
        if unsolved:
            notes.append(
                f"{self.asked.label.name}: what it needs from {readable(min(unsolved) * self.asked.now)}/s on could "
                "not be solved; limits that no smaller load reaches are left open."
            )
        name = replace(self.asked.label, what=self.asked.group.pool).name
        measured = tuple((note.rstrip(".") + ".", name) for note in run.notes)
        return PoolLimits(goals=goals, notes=tuple(notes), measured=measured, away=self.away)


def answer_pools(
    pools: Sequence[PoolQuestion],
    device_model: DeviceModel,
    target: Target,
    workers: int | None = None,
    at_once: int = 12,
) -> list[PoolLimits]:
    """Limits of each pool, a few `at_once` in a process; a pool without an answer says why."""
    parts = [pools[first : first + at_once] for first in range(0, len(pools), at_once)]
    answer = partial(answer_part, device_model=device_model, target=target)
    found: list[PoolLimits] = []
    for part, each in zip(parts, parallel.run(answer, parts, workers=workers), strict=True):
        if isinstance(each, parallel.Failed):
            names = f"{part[0].label.name} to {part[-1].label.what}"
            problem = f"{names} have no answer: {each.problem}"
            found.append(PoolLimits(notes=(problem,), answered=False))
        else:
            found += each
    return found


def answer_part(part: Sequence[PoolQuestion], device_model: DeviceModel, target: Target) -> list[PoolLimits]:
    """Each pool of a part of a site."""
    decided = decided_pools(part, device_model, target)
    pools = [each for each in decided if isinstance(each, DecidedPool)]
    ask = partial(need, device_model=device_model, target=target, known=ReadCache())
    while wanted := [(pool.run, *each) for pool in pools for each in pool.wanted() if each[1]]:
        _ask(wanted, ask)
    how = (
        f"Target of the aliases: {target}. A pool needs what it needs in {percent(DEFAULT_MEET)} of the busy "
        "time of its last 28 days: the interval that decides is grown as the busy hours grow."
    )
    return [each.limits(how) if isinstance(each, DecidedPool) else each for each in decided]


def _ask(wanted: Sequence[tuple[Run, NeedsByLoad, set[float]]], ask: Callable[..., list[Need]]) -> None:
    """What each pool needs at multiples of its load, all of them at once: counts, or whether limits are enough."""
    asked = [(run, loads, times) for run, loads, some in wanted for times in sorted(some)]
    limits = [loads.limit for _, loads, _ in asked]
    growth, enough = [times - 1.0 for *_, times in asked], None if None in limits else limits
    found = ask([(run,) for run, _, _ in asked], growth=growth, enough=enough)
    for (_, loads, times), one in zip(asked, found, strict=True):
        loads.take(times, one)


def _step(counts: dict[float, float], limit: int) -> tuple[float, float]:
    """Loads about which counts pass a limit or are no longer solved; the second is inf where they do not."""
    within = 0.0
    for times in sorted(counts):
        if not counts[times] <= limit:
            return within, times
        within = times
    return within, math.inf


def _between(counts: dict[float, float], limit: int, unsolved: float = 0.1) -> set[float]:
    """Loads inside of the bracket of a step; none where it is narrow enough (`unsolved` above it), or is no step."""
    low, high = _step(counts, limit)
    low = max(low, 1e-3)
    if math.isinf(high) or high <= low * (1 + (unsolved if math.isnan(counts[high]) else NEARNESS)):
        return set()
    # loads between two that have a limit between them, asked at once
    return set(np.geomspace(low, high, 6)[1:-1].tolist())


def decided_pools(
    pools: Sequence[PoolQuestion], device_model: DeviceModel, target: Target
) -> list[DecidedPool | PoolLimits]:
    """Each pool with the interval that decides it, as `planner site` has it of the same days; or why there is none."""
    recent = [_busy_cases(pool) for pool in pools]
    cases = [case for each in recent if isinstance(each, PoolCases) for case in each.cases.values()]
    needs = iter(need(cases, device_model, target, ranges=False))
    return [
        PoolLimits(notes=(each,), answered=False)
        if isinstance(each, str)
        else _decided(pool, each, [next(needs) for _ in each.cases])
        for pool, each in zip(pools, recent, strict=True)
    ]


def _busy_cases(pool: PoolQuestion) -> PoolCases | str:
    """The busy intervals of a pool over its recent days, as `planner site` takes them; or why it has no answer."""
    ((_, series),) = over_time(rows_of(pool.rows.lazy(), [pool.group]), [pool.group])
    if isinstance(series, str):
        return no_answer(pool.label, series)
    every = PoolCases.of(series)
    return replace(every, cases={k: case for k, case in every.cases.items() if every.busy[k]})


def _decided(pool: PoolQuestion, asked: PoolCases, needs: Sequence[Need]) -> DecidedPool | PoolLimits:
    """A pool as the interval that decides it measured it."""
    series = asked.pool
    counts = asked.needed(needs)
    at = deciding(counts, series.load, series.seconds, asked.busy, DEFAULT_MEET, asked.mattering)
    if at is None:
        problems = asked.problems(needs)
        first = next(iter(problems), None)
        if first is None:
            return PoolLimits(notes=(f"{pool.label.name}: none in its recent days, to grow from.",))
        problem = no_answer(pool.label, problems[first], began(series.start, first))
        return PoolLimits(notes=(problem,), answered=False)
    away = outside_busy_hour(series.group.words, series.start, series.seconds, series.io_rate, at)
    return DecidedPool(asked=pool, run=asked.cases[at][-1], in_use=int(series.in_use[-1]), away=away)


def no_answer(label: SeriesLabel, problem: object, begun: datetime | None = None) -> str:
    """Why a load is left out; `begun` says when the first interval began that has the problem."""
    return f"{label.name} has no answer{f' at {begun:%Y-%m-%d %H:%M}' if begun else ''}: {problem}"
