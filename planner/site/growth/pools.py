"""What pools need as their loads grow: the interval that decides today, at many loads, up to the loads of its limits.

Parts of some pools each are shared out to the processors of this machine; in a part, one call of `need` asks for all
pools.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import Law
from planner.errors import InfeasibleError, PlannerError
from planner.interval import Interval
from planner.measurements.run import Run
from planner.results import Array
from planner.site import executors
from planner.site.deciding import busy_intervals, deciding, outside_busy_hour
from planner.site.groups import POOL, Group, Series, keyed, series_of
from planner.site.growth.goals import Goal
from planner.site.parts import DEFAULT_MEET
from planner.site.series import SeriesLabel
from planner.sizing.need import Need, need
from planner.sizing.target import Target

if TYPE_CHECKING:
    import polars as pl

POOLS_AT_ONCE: Final = 12  # a part: all processes are busy to the end
NEARNESS: Final = 0.005  # of a load that a limit is met at
INSIDE: Final = 4  # loads between two that have a limit between them, asked at once
MOST_GROWN: Final = 100.0  # times the load of today
LEAST_GROWN: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolQuestion:
    """A pool with the `rows` of its last days, from `begin` on, at loads of `now` and `ahead`, up to `reach` [1/s]."""

    label: SeriesLabel
    series: int
    pool: str
    rows: pl.DataFrame
    begin: date
    now: float
    ahead: tuple[tuple[float, ...], ...]
    reach: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolQuestions:
    """A part of a site; `name` is for messages."""

    name: str
    pools: tuple[PoolQuestion, ...]
    law: Law
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolLimits:
    """Limits of a pool, and notes; `away` says where it is decided outside of its busy hour."""

    goals: tuple[Goal, ...] = ()
    notes: tuple[str, ...] = ()
    away: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecidedPool:
    """A pool as the interval that decides it was measured, and its needs at multiples of the load of today."""

    asked: PoolQuestion
    run: Run
    in_use: int
    away: str
    needs: dict[float, Interval] = field(default_factory=dict)

    @property
    def volumes(self) -> int:
        """Those without I/O too."""
        return self.run.bases + self.run.idle

    def times(self, load: float) -> float:
        """Multiple of the load of today."""
        return min(load / self.asked.now, MOST_GROWN)

    def passing(self, limit: int, end: int) -> tuple[float, float]:
        """Loads about which an end of the range passes a limit or is no longer solved; the second inf: none asked."""
        within = 0.0
        for times in sorted(self.needs):
            if not tuple(self.needs[times])[end] <= limit:
                return within, times
            within = times
        return within, math.inf

    def between(self) -> Iterator[float]:
        """Loads to ask next: between two that have a limit between them."""
        for limit in (self.in_use, self.run.most_aliases):
            for end in range(3):
                low, high = self.passing(limit, end)
                low = max(low, LEAST_GROWN)
                if math.isfinite(high) and high > low * (1 + NEARNESS):
                    yield from np.geomspace(low, high, INSIDE + 2)[1:-1].tolist()

    def largest_load(self, limit: int) -> Interval:
        """Load up to which so many aliases do [1/s]; inf where no load that was solved needs more."""
        found = []
        for end in (2, 1, 0):
            low, high = self.passing(limit, end)
            known = math.isfinite(high) and not math.isnan(self.needs[high].value)
            found.append(low * self.asked.now if known else math.inf)
        return Interval(*found)

    def limits(self, how: str) -> PoolLimits:
        """Aliases in use, and addresses of the control unit."""
        steps = [[self.needs[self.times(load)] for load in step] for step in self.asked.ahead]
        later = [Interval(low.low, middle.value, high.high) for low, middle, high in steps]
        kinds = (("aliases", 0, self.in_use), ("addresses", self.volumes, self.run.most_aliases))
        goals = tuple(
            Goal(
                series=self.asked.series,
                measured=replace(self.asked.label, what=f"{what} of pool {self.asked.pool}", unit=what),
                now=self.needs[1.0].value + plus, limit=float(limit + plus), load=self.largest_load(limit),
                needs=tuple(each + float(plus) for each in later),
            )
            for what, plus, limit in kinds
        )  # fmt: skip
        notes = [how, *(note.rstrip(".") + "." for note in self.run.notes)]
        unsolved = [times for times, each in self.needs.items() if math.isnan(each.value)]
        if unsolved:
            notes.append(
                f"{self.asked.label.name}: what it needs from {min(unsolved) * self.asked.now:.4g}/s on could not be "
                "solved; limits that no smaller load reaches are left open."
            )
        return PoolLimits(goals=goals, notes=tuple(notes), away=self.away)


def answer_pools(
    pools: Sequence[PoolQuestion], law: Law, target: Target, workers: int | None = None
) -> list[PoolLimits]:
    """Limits of each pool; a pool without an answer says why."""
    parts = [
        PoolQuestions(
            name=f"{some[0].label.name} to {some[-1].label.what}", pools=tuple(some), law=law, target=target
        )
        for first in range(0, len(pools), POOLS_AT_ONCE)
        if (some := pools[first : first + POOLS_AT_ONCE])
    ]
    found: list[PoolLimits] = []
    for each in executors.run(answer_part, parts, workers=workers):
        if isinstance(each, executors.Failed):
            found.append(PoolLimits(notes=(f"{each.name} have no answer: {each.problem}",)))
        else:
            found += each
    return found


def answer_part(part: PoolQuestions) -> list[PoolLimits]:
    """Each pool of a part."""
    decided = decided_pools(part)
    pools = [each for each in decided if isinstance(each, DecidedPool)]
    some = [
        {1.0, *(each.times(load) for step in each.asked.ahead for load in step), each.times(each.asked.reach)}
        for each in pools
    ]
    while any(some):
        _ask(pools, some, part)
        some = [set(each.between()) for each in pools]
    how = (
        f"Target of the aliases: {part.target}. A pool needs what it needs in {DEFAULT_MEET:.0%} of the busy time of "
        "its last 28 days: the interval that decides is grown as the busy hours grow."
    )
    return [
        each.limits(how) if isinstance(each, DecidedPool) else PoolLimits(notes=(each,)) for each in decided
    ]


def _ask(pools: Sequence[DecidedPool], times: Sequence[set[float]], part: PoolQuestions) -> None:
    """What each pool needs at multiples of its load, all of them at once."""
    asked = [(pool, each) for pool, some in zip(pools, times, strict=True) for each in sorted(some)]
    found = need([(pool.run,) for pool, _ in asked], part.law, part.target, [each - 1.0 for _, each in asked])
    for (pool, each), one in zip(asked, found, strict=True):
        pool.needs[each] = _range(one)


def _range(found: Need) -> Interval:
    """A count with its range; inf where no count does, nan where it was not solved."""
    if found.count is None:
        none = math.inf if found.exit_code == InfeasibleError.exit_code else math.nan
        return Interval(none, none, none)
    ends = (found.count if end is None else end for end in (found.low, found.count, found.high))
    return Interval(*(float(end) for end in ends))


def decided_pools(part: PoolQuestions) -> list[DecidedPool | str]:
    """Each pool with the interval that decides it, as `planner site` has it of the same days; or why there is none."""
    recent = [_recent(pool) for pool in part.pools]
    asked = [(days, at) for days in recent if isinstance(days, RecentDays) for at in days.runs]
    found = need([(days.runs[at],) for days, at in asked], part.law, part.target, ranges=False)
    for (days, at), one in zip(asked, found, strict=True):
        if one.count is None:
            days.problems.append(one.problem)
        else:
            days.needed[at] = one.count
    return [
        days if isinstance(days, str) else days.decided(pool)
        for pool, days in zip(part.pools, recent, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecentDays:
    """A pool over its recent days: the runs of its busy intervals, what each of them needs, and why some have none."""

    series: Series
    runs: dict[int, Run]
    needed: Array
    problems: list[str]

    def decided(self, asked: PoolQuestion) -> DecidedPool | str:
        """The pool as the interval that decides it measured it."""
        series = self.series
        known = np.isfinite(self.needed)
        at = deciding(self.needed, series.load, series.seconds, known, DEFAULT_MEET)
        if at is None:
            return no_answer(asked.label, self.problems[0] if self.problems else "no I/O in its recent days")
        away = outside_busy_hour(series.group.words, series.start, series.seconds, series.io_rate, at)
        return DecidedPool(asked=asked, run=self.runs[at], in_use=int(series.in_use[-1]), away=away)


def _recent(pool: PoolQuestion) -> RecentDays | str:
    """A pool over its recent days, as `planner site` takes it; or why it has no answer."""
    group = Group(pool.label.system, POOL, pool.pool)
    ((_, series),) = series_of(keyed(pool.rows, [group]), [group])
    if isinstance(series, str):
        return no_answer(pool.label, series)
    runs: dict[int, Run] = {}
    problems = []
    for at in np.flatnonzero(busy_intervals(series.load, (series.io_rate > 0) & series.complete)).tolist():
        try:
            run = series.run(at)
        except PlannerError as problem:
            problems.append(str(problem))
        else:
            runs |= {} if run is None else {at: run}
    return RecentDays(series=series, runs=runs, needed=np.full(series.start.size, np.nan), problems=problems)


def no_answer(label: SeriesLabel, problem: object) -> str:
    """Why a load is left out."""
    return f"{label.name} has no answer: {problem}"
