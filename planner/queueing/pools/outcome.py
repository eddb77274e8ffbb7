"""Result of every method for pools with one alias count each, in service times, and a check of its balances."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import PoolElements
from planner.results import Array, ArrayFields, Flags, Integers

TOLERANCE: Final = 0.01
"""Allowed relative error of N = X (Z + R), of busy servers = X S, and of any bound."""
BY_TOTAL: Final = 0.03
"""Allowed difference of busy aliases by the distribution of D and by their throughput, relative to all busy servers."""
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
class Outcome(ArrayFields):
    """Solved pools; arrays by class are per volume, shape (elements, classes), or (classes,) for one pool."""

    # I/Os, I/Os that found their base busy, and those that found no free alias either [1/service time]
    throughput: Array
    tries: Array
    fails: Array
    queue: Array  # Mean number in queue; an I/O in its gap has left the queue [1]
    base_pickups: Array  # Waiting I/Os taken by their base; then by an alias [1/service time]
    alias_pickups: Array
    base_in_service: Array  # Mean number in service on the base; then on aliases [1]
    alias_in_service: Array
    free_distribution: Array  # Probability of 0, 1, ... free aliases, shape (elements, largest count + 1) [1]
    residual: float | Array  # Residual of the solver, shape (elements,) [1]
    stable: bool | Flags = True  # False where a queue grows without bound, shape (elements,)

    @classmethod
    def empty(cls, elements: PoolElements) -> Outcome:
        """Outcome of the elements without arrivals, to be filled in."""
        count = elements.aliases.size
        values: dict[str, Any] = {name: np.zeros(elements.volumes.shape) for name in PER_CLASS}
        return cls(
            **values,
            free_distribution=np.zeros((count, int(elements.aliases.max(initial=0.0)) + 1)),
            residual=np.zeros(count),
            stable=np.ones(count, dtype=bool),
        )

    def write(self, which: NDArray[Any], part: Outcome, classes: Flags | slice = slice(None)) -> None:
        """Copy the outcome of some elements, and of some of their classes, into this one."""
        for item in fields(self):
            whole, values = getattr(self, item.name), np.asarray(getattr(part, item.name))
            if item.name in PER_CLASS:
                whole[which, classes] = values
            elif item.name == "free_distribution":
                whole[which, : values.shape[-1]] = values
            else:
                whole[which] = values

    def by_class(self, order: Integers, classes: int) -> Outcome:
        """Expand an outcome of selected classes to all classes, with zeros in the others."""
        changed: dict[str, Any] = {}
        for name in PER_CLASS:
            values = np.zeros((order.shape[0], classes))
            np.put_along_axis(values, order, getattr(self, name), axis=-1)
            changed[name] = values
        return replace(self, **changed)

    def in_gap(self, pool: PoolElements) -> Array:
        """Mean number of I/Os of one volume in the gap of their device, in the shape of `queue` [1]."""
        gap = np.asarray(pool.redrive_time)[..., None]
        return np.asarray(gap * (self.base_pickups + self.alias_pickups))

    @property
    def free_aliases(self) -> Array:
        """Mean number of free aliases, shape (elements,) [1]."""
        return np.asarray((self.free_distribution * np.arange(self.free_distribution.shape[-1])).sum(axis=-1))


def balanced(elements: PoolElements, outcome: Outcome) -> Flags:
    """Which elements have finite and consistent numbers within their bounds."""
    return np.asarray(imbalance(elements, outcome) <= TOLERANCE)


def imbalance(elements: PoolElements, outcome: Outcome) -> Array:
    """Largest relative error of any balance of an element; inf where a number is negative or not finite."""
    stable = np.asarray(outcome.stable)
    here = elements.volumes > 0.0
    with np.errstate(all="ignore"):
        values = {name: np.where(here, getattr(outcome, name), 0.0) for name in PER_CLASS}
        through, work = values["throughput"], values["throughput"] * elements.service
        in_gap = np.where(here, outcome.in_gap(elements), 0.0)
        serving = values["base_in_service"] + values["alias_in_service"]
        present = through * elements.think_time + serving + in_gap + values["queue"]
        closed = here & elements.closed
        limit = np.minimum(np.where(closed, elements.population, np.inf), elements.aliases[:, None] + 1.0)
        most = 1.0 + elements.inflation[:, None] * np.maximum(limit - 1.0, 0.0)
        arrivals = np.where(stable[:, None], through, np.maximum(through, values["tries"]))
        on_base = arrivals - values["tries"] + values["base_pickups"]
        in_service = values["alias_in_service"] + elements.redrive_time[:, None] * values["alias_pickups"]
        held, devices = ((elements.volumes * each).sum(axis=-1) for each in (in_service, serving))
        in_use = elements.aliases - outcome.free_aliases
        sizes = {"queue": work, "base_in_service": work, "alias_in_service": work}
        off = [
            *(_beyond(-each, 0.0, sizes.get(name, through)) for name, each in values.items()),
            np.where(closed, np.abs(present / elements.population - 1.0), 0.0),  # requesters
            _beyond(serving, most * work, work),
            _beyond(work, serving, work),
            _beyond(values["base_in_service"], 1.0, np.ones_like(work)),
            _beyond(-on_base, 0.0, through),
            _beyond(values["tries"], arrivals, through),
            _beyond(values["fails"], values["tries"], through),
        ]
        # D gives the busy aliases, and so does their throughput.
        by_total = np.where(
            stable, TOLERANCE / BY_TOTAL * np.abs(held - in_use) / np.maximum(devices, TINY), 0.0
        )
        worst = np.stack(off).max(axis=(0, 2))
        worst = np.maximum(worst, _beyond(held, elements.aliases, np.maximum(elements.aliases, 1.0)))
        finite = np.isfinite(through).all(axis=-1)
        for each in values.values():
            finite &= ~stable | np.isfinite(each).all(axis=-1)
        # NaN, where an unbounded queue has no balance, is ignored.
        return np.where(finite, np.fmax(worst, by_total), np.inf)


def _beyond(value: Array, bound: Array | float, size: Array) -> Array:
    """Excess of a value over its bound, relative to its size."""
    return np.asarray(np.maximum(value - bound, 0.0) / np.maximum(size, TINY))
