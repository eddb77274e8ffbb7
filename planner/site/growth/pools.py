"""What pools need as their loads grow: one map over parts of some pools each, on all processors of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.demand import Law, Target
from planner.errors import PlannerError
from planner.interval import Interval
from planner.site import executors
from planner.site.growth.goals import Goal
from planner.site.growth.needs import needs_of_pool
from planner.site.series import SeriesLabel

if TYPE_CHECKING:
    import polars as pl

POOLS_AT_ONCE: Final = 12  # a part: all processes are busy to the end
Answered = tuple[list[Goal], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolQuestion:
    """A pool with the `rows` of one busy hour, at the loads of `now` and `ahead`, up to `reach` [1/s]."""

    label: SeriesLabel
    series: int
    rows: pl.DataFrame
    law: Law
    target: Target
    now: float
    ahead: tuple[tuple[float, ...], ...]
    reach: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolQuestions:
    """A part of a site; `name` is for messages."""

    name: str
    pools: tuple[PoolQuestion, ...]


def answer_pools(pools: Sequence[PoolQuestion], workers: int | None = None) -> list[Answered]:
    """Limits of each pool, and notes; a pool without an answer says why."""
    parts = [
        PoolQuestions(name=f"{some[0].label.name} to {some[-1].label.what}", pools=tuple(some))
        for first in range(0, len(pools), POOLS_AT_ONCE)
        if (some := pools[first : first + POOLS_AT_ONCE])
    ]
    found: list[Answered] = []
    for each in executors.run(answer_part, parts, workers=workers):
        if isinstance(each, executors.Failed):
            found.append(([], [f"{each.name} have no answer: {each.problem}"]))
        else:
            found += each
    return found


def answer_part(part: PoolQuestions) -> list[Answered]:
    """Each pool of a part."""
    found: list[Answered] = []
    for pool in part.pools:
        try:
            found.append(_answered(pool))
        except PlannerError as problem:
            found.append(([], [f"{pool.label.name} has no answer: {problem}"]))
    return found


def _answered(pool: PoolQuestion) -> Answered:
    """Aliases in use, and addresses of the control unit."""
    needs = needs_of_pool(pool.rows, pool.law, pool.target)
    if needs is None:
        return [], []
    count, *counts = needs.counts([pool.now, *(load for step in pool.ahead for load in step)])
    later = tuple(
        Interval(low.low, middle.value, high.high)
        for low, middle, high in zip(counts[::3], counts[1::3], counts[2::3], strict=True)
    )
    goals = [
        Goal(
            series=pool.series,
            measured=SeriesLabel(system=pool.label.system, what=f"{what} of pool {needs.name}", unit=what),
            now=count.value + plus, limit=float(limit), load=needs.largest_load(limit - plus, pool.reach),
            needs=tuple(each + float(plus) for each in later),
        )
        for what, plus, limit in (
            ("aliases", 0, needs.in_use),
            ("addresses", needs.volumes, needs.volumes + needs.room),
        )
    ]  # fmt: skip
    how = f"Target of the aliases: {pool.target}; each pool is read from a recent busy hour and grown from there."
    return goals, [how, *(note.rstrip(".") + "." for note in needs.run.notes)]
