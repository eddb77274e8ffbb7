"""What every method says of one pool with one alias count, in units of the service time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner.queueing.pools.field.base_balance import PoolFlows
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

TINY = float(np.finfo(float).tiny)
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
