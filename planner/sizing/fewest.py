"""The smallest number of aliases that meets a target: of many pools at once, by bisection over solved counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.demand import Target
from planner.devices import Performance, Pool, solve_pools
from planner.errors import PlannerError
from planner.results import Array

DEVIATIONS: Final = 2.0
"""Standard deviations of the aliases in use, were there any number of them, by which a first guess exceeds their mean."""

Answer = int | PlannerError | None
"""A count; None where no count meets the target."""


def first_guess(pool: Pool) -> int:
    """Guess the count: the mean of the aliases in use if there were any number of them, and two deviations."""
    mean = 0.0
    for part, service in zip(pool.classes, pool.service_times, strict=True):
        if math.isnan(part.population):
            load = part.arrival_rate * service
            idle = math.exp(-load)
        else:
            share = service / (service + part.think_time)
            load, idle = part.population * share, (1.0 - share) ** part.population
        mean += part.volumes * max(load - 1.0 + idle, 0.0)
    return round(mean + DEVIATIONS * math.sqrt(mean))


def most_useful(pool: Pool, most: int) -> int:
    """Largest count worth trying: an alias for every requester but the first of each volume, if there are addresses."""
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    return int(min(most, enough))


def excess_of(target: Target, rows: Performance) -> Array:
    """What is reached over what is allowed, a count each."""
    return target.excess(rows.io_rate, rows.service_time, rows.queued, rows.no_alias)


Solve = Callable[[Sequence[int], Sequence[Array]], Sequence[Performance | PlannerError]]
"""Curves of some of the demands, by their places, at counts of their own."""


def fewest(solve: Solve, target: Target, guess: Sequence[int], most: Sequence[int]) -> list[Answer]:
    """Find the smallest count of each demand that meets the target, up to `most`; more aliases never make it worse.

    Each round solves one count of every demand that is still open, all together: the guess first, then away from it in
    doubled steps, then by halves.
    """
    limit = np.asarray(most, dtype=np.int64)
    low, high = np.full(limit.shape, -1, dtype=np.int64), limit + 1
    count = np.clip(np.asarray(guess, dtype=np.int64), 0, limit)
    step = np.maximum(count // 8, 1)
    failed: dict[int, PlannerError] = {}
    while places := [k for k in np.flatnonzero(high - low > 1).tolist() if k not in failed]:
        for k, rows in zip(places, solve(places, [count[[k]].astype(np.float64) for k in places]), strict=True):
            if isinstance(rows, PlannerError):
                failed[k] = rows
            elif excess_of(target, rows)[0] <= 1.0:
                high[k] = count[k]
            else:
                low[k] = count[k]
        count, step = _following(low, high, limit, step)
    return [failed.get(k, None if high[k] > limit[k] else int(high[k])) for k in range(limit.size)]


def fewest_of_pools(pools: Sequence[Pool], target: Target, most: int) -> list[Answer]:
    """The same of pools as they are."""
    return fewest(
        lambda places, counts: solve_pools([pools[k] for k in places], counts), target, list(map(first_guess, pools)),
        [most_useful(pool, most) for pool in pools],
    )  # fmt: skip


def _following(
    low: NDArray[np.int64], high: NDArray[np.int64], limit: NDArray[np.int64], step: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count to try next, and the step after it."""
    upward, downward = high > limit, low < 0
    count = np.where(
        upward & downward, high, np.where(upward, np.minimum(low + step, limit), np.where(downward, high - step, 0))
    )
    between = ~upward & ~downward
    count = np.where(between, (low + high) // 2, np.maximum(count, 0))
    return count.astype(np.int64), np.where(between, step, 2 * step)
