"""Whether an answer keeps its own balance: requesters, busy servers, bounds. One that does not is no answer."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

TOLERANCE: Final = 0.01
"""Relative error allowed in N = X (Z + R), in busy servers = X S, and of any bound."""
BY_TOTAL: Final = 0.03
"""Difference allowed between the busy aliases by the law of D and by what they serve, relative to all busy servers."""
TINY: Final = float(np.finfo(float).tiny)


def check_balance(pool: CheckedPool, aliases: int, outcome: Outcome, tolerance: float = TOLERANCE) -> None:
    """Raise ConvergenceError for an outcome that is not finite, negative, out of its bounds or out of balance."""
    for name, off in imbalances(pool, aliases, outcome).items():
        if not off <= tolerance:
            raise ConvergenceError(f"alias pool: balance of its {name}", off, 0)


def imbalances(pool: CheckedPool, aliases: int, outcome: Outcome) -> dict[str, float]:
    """Largest relative error of each balance; inf where a number is negative, or not finite in a stable pool."""
    each = outcome.per_volume()
    if not (outcome.stable or np.isfinite(outcome.throughput).all()):
        return {"numbers": np.inf}
    if outcome.stable and not all(np.isfinite(values).all() for values in each.values()):
        return {"numbers": np.inf}
    through, in_gap = outcome.throughput, outcome.in_gap(pool)
    serving = outcome.base_in_service + outcome.alias_in_service
    present = through * pool.think_time + serving + in_gap + outcome.queue
    requesters = np.where(pool.closed, present, 1.0) / np.where(pool.closed, pool.population, 1.0) - 1.0
    work = through * pool.service
    most = pool.service_growth(np.minimum(np.where(pool.closed, pool.population, np.inf), aliases + 1.0))
    arrivals = through if outcome.stable else np.maximum(through, outcome.tries)
    on_base = arrivals - outcome.tries + outcome.base_pickups
    held = float(pool.volumes @ (outcome.alias_in_service + pool.alias_redrive_time * outcome.alias_pickups))
    in_use = aliases - outcome.free_aliases
    devices = float(pool.volumes @ serving)  # D says how many aliases are busy, and so does what they serve
    return {
        "numbers": max(_beyond(-values, 0.0, _size(name, work, through)) for name, values in each.items()),
        "requesters": float(np.abs(requesters).max()),
        "busy servers": max(_beyond(serving, most * work, work), _beyond(work, serving, work)),
        "bases": max(_beyond(outcome.base_in_service, 1.0, 1.0), _beyond(-on_base, 0.0, through)),
        "aliases": max(
            _beyond(held, float(aliases), max(aliases, 1.0)),
            TOLERANCE / BY_TOTAL * abs(held - in_use) / max(devices, TINY) if outcome.stable else 0.0,
        ),
        "tries": max(
            _beyond(outcome.tries, arrivals, through), _beyond(outcome.fails, outcome.tries, through)
        ),
    }


def _size(name: str, work: Array, through: Array) -> Array:
    """What a number of this kind is held against."""
    return work if name in ("queue", "base_in_service", "alias_in_service") else through


def _beyond(value: Array | float, bound: Array | float, size: Array | float) -> float:
    """By how much a value exceeds its bound, relative to its size."""
    over = np.asarray(value - np.asarray(bound), dtype=np.float64)
    scale = np.maximum(np.asarray(size, dtype=np.float64), np.finfo(float).tiny)
    return float(np.max(np.where(over > 0.0, over, 0.0) / scale))
