"""The law of one volume: is its base busy, and how many of its I/Os does the base not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.device_rates import Gaps
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

FIRST_SIZE: Final = 30
"""d of an open volume that are counted at first."""
MOST: Final = 3000
"""Largest d of an open volume."""
TAIL: Final = 1e-12
"""Probability of the largest d from which on more are counted."""
GROWTH: Final = 1.4
"""By how many times as many."""
LARGE: Final = 1e200
"""Weight of a state from which on all of them are scaled down, so that none overflows."""

VolumeLaw = tuple[Array, Array]
"""Probability of each d with the base idle, and with it busy, shape (d,) [1]."""

BUSY_RATES: Final = ("alias_ends", "base_picks", "base_idles", "base_pace")
"""Rates of a volume with a busy base."""


@dataclass(frozen=True, eq=False)
class VolumeRates:
    """What one volume of a class sees of the pool, by its own d."""

    idle_alias_ends: Array  # With the base idle: aliases end, shape (d,) [1/service time]
    # With the base busy: aliases end, the base ends and takes from its own queue, or becomes idle, each of
    # shape (d,) [1/service time]
    alias_ends: Array
    base_picks: Array
    base_idles: Array
    # With the base busy: the base ends, did it do so independently of d, shape (d,) [1/service time]
    base_pace: Array
    gaps: Gaps  # Mean gaps of its devices
    log_odds: float  # Logarithm of the odds of its I/Os to wait, relative to the other classes [1]

    def halfway(self, before: VolumeRates) -> VolumeRates:
        """Rates in the middle between those before and these; these where the two differ in length."""
        if before.alias_ends.size != self.alias_ends.size:
            return self
        return self._with(BUSY_RATES, lambda name: 0.5 * (getattr(before, name) + getattr(self, name)))

    def continued(self, before: VolumeRates, part: float) -> VolumeRates:
        """Rates `part` of a step further on from those before through these; these where the two differ in length."""
        if before.alias_ends.size != self.alias_ends.size:
            return self

        def further(name: str) -> Array:
            now = getattr(self, name)
            return np.asarray(np.clip(now + part * (now - getattr(before, name)), 0.5 * now, 2.0 * now))

        odds = self.log_odds + part * (self.log_odds - before.log_odds)
        return replace(self._with(BUSY_RATES, further), log_odds=odds)

    def cut(self, size: int) -> VolumeRates:
        """For fewer d."""
        return self._with(("idle_alias_ends", *BUSY_RATES), lambda name: getattr(self, name)[:size])

    def longer(self, more: int) -> VolumeRates:
        """For more d, where aliases go on as they ended and the base is as at the last one."""
        edge = self._with(BUSY_RATES, lambda name: np.pad(getattr(self, name), (0, more), mode="edge"))
        aliases = ("idle_alias_ends", "alias_ends")
        return edge._with(aliases, lambda name: _continued(getattr(self, name), more))

    def _with(self, names: tuple[str, ...], changed: Callable[[str], Array]) -> VolumeRates:
        rates: dict[str, Any] = {name: changed(name) for name in names}
        return replace(self, **rates)


def first_rates(pool: CheckedPool, k: int) -> VolumeRates:
    """Where the iteration begins: some of the I/Os beyond the base wait."""
    size = int(pool.population[k]) if pool.closed[k] else FIRST_SIZE
    beyond = np.arange(float(size))
    picks = np.where(beyond > 0.0, 0.3, 0.0)
    pace = 1.0 / pool.service[k]
    return VolumeRates(
        beyond * pace,
        0.7 * beyond * pace,
        picks * pace,
        (1.0 - picks) * pace,
        np.full(size, pace),
        Gaps(),
        0.0,
    )


@lru_cache(maxsize=128)
def arrival_rates(pool: CheckedPool, k: int, size: int) -> tuple[Array, Array]:
    """Arrival rates at one volume by d, base idle and base busy."""
    if not pool.closed[k]:
        rates = np.full(size, pool.arrival_rate[k])
        return rates, rates
    thinking = pool.population[k] - np.arange(float(size))
    return thinking / pool.think_time[k], (thinking - 1.0) / pool.think_time[k]


def law_of_volume(pool: CheckedPool, k: int, rates: VolumeRates) -> VolumeLaw:
    """Law of one volume of class k."""
    idle_arrivals, busy_arrivals = arrival_rates(pool, k, rates.alias_ends.size)
    return volume_law(
        idle_arrivals=idle_arrivals,
        busy_arrivals=busy_arrivals,
        idle_alias_ends=rates.idle_alias_ends,
        busy_alias_ends=rates.alias_ends,
        base_picks=rates.base_picks,
        base_idles=rates.base_idles,
    )


def with_enough_room(pool: CheckedPool, k: int, rates: VolumeRates) -> tuple[VolumeRates, VolumeLaw]:
    """The law of one volume; rates of an open class are longer where what lies beyond their last d counts."""
    law = law_of_volume(pool, k, rates)
    if pool.closed[k] or law[1][-1] <= TAIL:
        return rates, law
    size = rates.alias_ends.size
    if size > MOST:
        raise ConvergenceError("alias pool, nearly unstable: the queue of an open volume", float(size), MOST)
    rates = rates.longer(int(size * (GROWTH - 1.0)) + 10)
    return rates, law_of_volume(pool, k, rates)


def with_size_of(pool: CheckedPool, k: int, rates: VolumeRates) -> VolumeRates:
    """Cut or extend rates that come from another pool to the d that a class can have."""
    if not pool.closed[k] or (more := int(pool.population[k]) - rates.alias_ends.size) == 0:
        return rates
    if rates.alias_ends.size == 1:  # nothing was ever beyond the base
        return first_rates(pool, k)
    if more > 0:
        return rates.longer(more)
    return rates.cut(int(pool.population[k]))


def _continued(values: Array, more: int) -> Array:
    """Values that go on as they ended."""
    slope = max(float(values[-1] - values[-2]), 0.0)
    return np.concatenate([values, values[-1] + slope * np.arange(1.0, more + 1.0)])


def volume_law(
    *,
    idle_arrivals: Array,
    busy_arrivals: Array,
    idle_alias_ends: Array,
    busy_alias_ends: Array,
    base_picks: Array,
    base_idles: Array,
) -> VolumeLaw:
    """Stationary law of (base idle or busy, d), solved from the largest d down in positive terms.

    An arrival makes an idle base busy and otherwise raises d; an alias that ends lowers d; a base that ends
    takes the next I/O of its own queue (d falls) or becomes idle. The flows through the cut between d and d +
    1 and out of the idle state agree: ``busy[d] busy_arrivals[d] = idle[d+1] idle_alias_ends[d+1] + busy[d+1]
    (busy_alias_ends + base_picks)[d+1]`` and ``idle[d] (idle_arrivals + idle_alias_ends)[d] = busy[d]
    base_idles[d] + idle[d+1] idle_alias_ends[d+1]``.
    """
    size = idle_arrivals.size
    idle, busy = [0.0] * size, [0.0] * size
    busy[-1] = 1.0
    leave_idle = (idle_arrivals + idle_alias_ends).tolist()
    idle_falls = idle_alias_ends.tolist()
    busy_falls = (busy_alias_ends + base_picks).tolist()
    rises, idles = busy_arrivals.tolist(), base_idles.tolist()
    idle[-1] = idles[-1] / leave_idle[-1]
    for d in range(size - 2, -1, -1):
        from_above = idle[d + 1] * idle_falls[d + 1]
        busy[d] = (from_above + busy[d + 1] * busy_falls[d + 1]) / rises[d]
        idle[d] = (busy[d] * idles[d] + from_above) / leave_idle[d]
        if busy[d] > LARGE:
            busy[d:] = [value / LARGE for value in busy[d:]]
            idle[d:] = [value / LARGE for value in idle[d:]]
    total = sum(idle) + sum(busy)
    return np.array(idle) / total, np.array(busy) / total
