"""The count of one interval alone: what `planner aliases` recommends, without its ranges, rows and other readings."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.demand import Law, Reading
from planner.demand.pooled import PoolReadings, read_pool, read_pools
from planner.demand.steady import POPULATIONS, preferred_reading
from planner.errors import InfeasibleError, PlannerError
from planner.interval import Interval
from planner.measurements.run import Run
from planner.sizing.bounds import spaced
from planner.sizing.comparison import held_to_measurement
from planner.sizing.fewest import fewest
from planner.sizing.pool import Asked, demand_in_use, is_steady, preferred_demand
from planner.sizing.search import aliases
from planner.demand import Target, log_excess
from planner.sizing.volume import count_of_volume

EVERY: Final = (*POPULATIONS, math.inf)
VOLUMES_AT_ONCE: Final = 512  # rows of volumes that are read together


@dataclass(frozen=True, slots=True)
class Point:
    """A recommended `count`, and the real number `smooth` of aliases with which the model just meets the target.

    The count is `smooth` rounded up, but for measurements that meet the target with the aliases in use, or miss it.
    """

    count: int
    smooth: float


def points(
    runs: Sequence[Run], law: Law, target: Target, among: Sequence[Collection[float]] = ()
) -> list[Point | PlannerError]:
    """`point` of many intervals: bursty pools without aliases in use are read together, which costs less.

    `among` are the readings tried of each interval, as of `point`; all where left out.
    """
    found: list[Point | PlannerError] = []
    waiting: list[int] = []
    for k, run in enumerate(runs):
        try:
            alone = run.pool and run.queue_known and not run.aliases and target.no_alias is None
            if alone:
                run.check()
            if alone and not is_steady(run, law):
                waiting.append(k)
                found.append(Point(0, 0.0))
            else:
                found.append(point(run, law, target, among=among[k] if among else EVERY))
        except PlannerError as problem:
            found.append(problem)
    size = 0
    batch: list[int] = []
    for k in waiting:
        size += runs[k].bases
        batch.append(k)
        if size >= VOLUMES_AT_ONCE or k == waiting[-1]:
            pools = read_pools([_asked(runs[each]) for each in batch], law=law)
            for each, pool in zip(batch, pools, strict=True):
                try:
                    found[each] = _held(runs[each], target, _of_bursty(runs[each], pool, target))
                except PlannerError as problem:
                    found[each] = problem
            size, batch = 0, []
    return found


def point(run: Run, law: Law, target: Target, *, among: Collection[float] = EVERY) -> Point:
    """Find the count that `planner.sizing.aliases` recommends for one interval.

    `among` are the steady readings that are tried where aliases are in use: numbers of requesters of a volume, inf for
    open arrivals; without any the pool is bursty.

    Raises
    ------
    PlannerError
        As `planner.sizing.aliases`.
    """
    if target.no_alias is not None:
        count = aliases(run, law, target=target).recommended
        return Point(count, count - 0.5)
    run.check()
    if not run.pool and run.queue_known:
        return Point(*count_of_volume(run, law, target))
    demand = _demand(run, law, among)
    if demand is None:
        pool = read_pool(*_asked(run), aliases=run.aliases, law=law)
        return _held(run, target, _of_bursty(run, pool, target))
    asked = Asked.of(demand, run, 0.0)
    try:
        count, tried = fewest(asked.main, target, run)
    except InfeasibleError as error:
        raise InfeasibleError(f"{run.name}: {error}") from None
    return _held(
        run, target, Point(count, _crossing(count, {k: each.log_excess for k, each in tried.items()}))
    )


def _asked(run: Run) -> tuple[Interval, Interval, Interval]:
    return run.io_rate, run.service, spaced(run.queued)


def _held(run: Run, target: Target, found: Point) -> Point:
    return Point(held_to_measurement(found.count, run, target, 0.0), found.smooth)


def _demand(run: Run, law: Law, among: Collection[float]) -> Reading | None:
    """The preferred demand of the volumes; None where the pool is bursty."""
    if run.queue_known and run.bases > 1 and run.aliases:
        reading = preferred_reading(run, law, among)
        if reading is not None:
            return demand_in_use(run, law, reading)
        if run.total_queue.value > 0:
            return None
    return preferred_demand(run, law)


def _crossing(count: int, known: dict[int, float]) -> float:
    """Where a straight line through the logarithms of the excess at the count and one below it is zero."""
    if count - 1 in known and count in known:
        before, after = known[count - 1], known[count]
        return (
            count - 1 + before / max(before - after, 1e-12) if math.isfinite(before - after) else count - 0.5
        )
    if count == 0 and 0 in known:
        return max(known[0], -1.0)
    return count - 0.5


def _of_bursty(run: Run, pool: PoolReadings, target: Target) -> Point:
    """Of bursty volumes."""
    asked = target.of_readings()
    found = pool.predict(np.arange(run.most_aliases + 1))
    if not asked.met(found).any():
        raise InfeasibleError(
            f"{run.name}: no count up to {run.most_aliases} aliases meets the target ({target})"
        )
    first = int(np.argmax(asked.met(found)))
    excess = log_excess(target, found.wait, found.service, found.queue)
    known = {k: float(excess[k]) for k in (first - 1, first) if k >= 0}
    return Point(pool.point_and_range(asked)[0], _crossing(first, known))
