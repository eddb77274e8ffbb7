"""What every method says of one pool with one alias count, in units of the service time, and whether it is in balance.

An answer that breaks its own balance, of requesters, busy servers or bounds, is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.base_balance import PoolFlows
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

TOLERANCE: Final = 0.01
"""Relative error allowed in N = X (Z + R), in busy servers = X S, and of any bound."""
BY_TOTAL: Final = 0.03
"""Difference allowed between the busy aliases by the law of D and by what they serve, relative to all busy servers."""
PER_CLASS: Final = (
    "throughput",
    "tries",
    "fails",
    "queue",
    "base_pickups",
    "alias_pickups",
    "base_in_service",
    "alias_in_service",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """One solved pool; per class arrays are per volume, shape (classes,)."""

    # I/Os, I/Os that found their base busy, and those that found no free alias either [1/service time]
    throughput: Array
    tries: Array
    fails: Array
    queue: Array  # Mean number in queue; an I/O in its gap has left the queue [1]
    base_pickups: Array  # Waiting I/Os taken by their base, by an alias [1/service time]
    alias_pickups: Array
    base_in_service: Array  # Mean number in service on the base, on aliases [1]
    alias_in_service: Array
    free_law: Array  # Probability of 0, 1, ... free aliases, shape (aliases + 1,) [1]
    tries_by_free: (
        Array  # Rate of tries that find 0, 1, ... free aliases, shape (aliases + 1,) [1/service time]
    )
    residual: float  # What the solver left [1]
    stable: bool = True  # False where a queue grows without bound

    def in_units_of(self, pool: CheckedPool, k: int) -> Outcome:
        """What `CheckedPool.of_one` came to for class k, in the units of time of its pool."""
        rates = ("throughput", "tries", "fails", "base_pickups", "alias_pickups", "tries_by_free")
        changed: dict[str, Any] = {name: getattr(self, name) / pool.service[k] for name in rates}
        return replace(self, **changed)

    def per_volume(self) -> dict[str, Array]:
        """Arrays of one number a class."""
        return {name: getattr(self, name) for name in PER_CLASS}

    def in_gap(self, pool: CheckedPool) -> Array:
        """Mean number of I/Os of one volume in the gap of their device, shape (classes,) [1]."""
        return pool.redrive_time * self.base_pickups + pool.alias_redrive_time * self.alias_pickups

    def mean_gaps(self, pool: CheckedPool) -> tuple[Array, Array]:
        """Mean gap per I/O of a base and of an alias, waiting or not, shape (classes,) [service times]."""
        on_base = self.throughput - self.tries + self.base_pickups
        on_alias = self.tries - self.fails + self.alias_pickups
        return (
            pool.redrive_time * self.base_pickups / np.maximum(on_base, TINY),
            pool.alias_redrive_time * self.alias_pickups / np.maximum(on_alias, TINY),
        )

    @property
    def free_aliases(self) -> float:
        """Mean number of free aliases [1]."""
        return float(self.free_law @ np.arange(self.free_law.size))


def by_free(aliases: int, flows: PoolFlows, law: Array) -> tuple[Array, Array]:
    """Law of the free aliases and the tries that find them so, from the law of D."""
    free = np.maximum(aliases - flows.total, 0.0).astype(np.int64)
    probability, tries = (
        np.bincount(free, weights=weights, minlength=aliases + 1).astype(np.float64)
        for weights in (law, law * flows.tries)
    )
    return probability, tries


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
