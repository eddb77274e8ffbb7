"""The count of one interval alone: what `planner aliases` recommends, without its ranges, rows and other readings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.demand import Law, Reading
from planner.demand.pooled import read_pool
from planner.demand.steady import preferred_reading
from planner.errors import InfeasibleError
from planner.measurements.run import Run
from planner.results import Array
from planner.sizing.bounds import spaced
from planner.sizing.comparison import met_already
from planner.sizing.fewest import fewest
from planner.sizing.pool import Asked, demand_in_use, preferred_demand
from planner.sizing.search import aliases
from planner.sizing.target import Target


@dataclass(frozen=True, slots=True)
class Point:
    """A recommended `count`, and the real number `smooth` that it was rounded up from: where the target is just met."""

    count: int
    smooth: float


def point(run: Run, law: Law, target: Target, *, bursty: bool = False) -> Point:
    """Find the count that `planner.sizing.aliases` recommends for one interval.

    `bursty` says that no steady demand explains it by far, so that none is tried.

    Raises
    ------
    PlannerError
        As `planner.sizing.aliases`.
    """
    if not run.pool or target.no_alias is not None:
        count = aliases(run, law, target=target).recommended
        return Point(count, count - 0.5)
    run.check()
    demand = None if bursty else _demand(run, law)
    if demand is None:
        found = _bursty(run, law, target)
    else:
        asked = Asked.of(demand, run, 0.0)
        try:
            count, tried = fewest(asked.main, target, run)
        except InfeasibleError as error:
            raise InfeasibleError(f"{run.name}: {error}") from None
        found = Point(count, _crossing(count, {k: each.log_excess for k, each in tried.items()}))
    if found.count > run.aliases and met_already(run, target, 0.0):
        return Point(run.aliases, min(found.smooth, run.aliases))
    return found


def _demand(run: Run, law: Law) -> Reading | None:
    """The preferred demand of the volumes; None where the pool is bursty."""
    if run.queue_known and run.bases > 1 and run.aliases:
        reading = preferred_reading(run, law)
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


def _bursty(run: Run, law: Law, target: Target) -> Point:
    """Of bursty volumes."""
    pool = read_pool(run.io_rate, run.service, spaced(run.queued), aliases=run.aliases, law=law)
    asked = target.of_readings()
    sweep = np.arange(run.most_aliases + 1)
    found = pool.predict(sweep)
    if not asked.met(found).any():
        raise InfeasibleError(
            f"{run.name}: no count up to {run.most_aliases} aliases meets the target ({target})"
        )
    count = pool.point_and_range(asked)[0]
    excess = _log_excess(target, found.wait, found.service, found.queue)
    return Point(
        count, _crossing(count, {k: float(excess[k]) for k in (count - 1, count) if 0 <= k < excess.size})
    )


def _log_excess(target: Target, wait: Array, service: Array, queue: Array) -> Array:
    """Logarithm of what is reached over what is allowed."""
    limits = ((wait, target.wait), (wait + service, target.response), (queue, target.queued))
    ratios = [np.divide(value, limit) for value, limit in limits if limit]
    excess = np.max(ratios, axis=0) if ratios else wait / (0.05 * service)
    return np.asarray(np.log(np.clip(excess, 1e-12, 1e12)))
