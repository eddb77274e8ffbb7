"""One class of volumes given D, the I/Os of the pool that no base holds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.base_balance import BaseFlows, PoolFlows, idle_given_total
from planner.queueing.pools.field.base_phases import base_hazard, hazard_given_total
from planner.queueing.pools.field.volume_law import VolumeLaw, VolumeRates
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

MARGIN: Final = 1e-14
"""What is dropped within sums, relative to the window: it must not show at the ends of the window."""
MOST_CELLS: Final = 12_000_000
"""Numbers of D by d, over all classes, that one iteration may take: two seconds."""


@dataclass(frozen=True, eq=False)
class CountLaw:
    """A law on the whole numbers `first`, `first + 1`, ..."""

    first: int  # Smallest number of the window [1]
    values: Array  # Probabilities, up to a factor, shape (numbers,) [1]
    least: float  # What is dropped at either end of a sum, relative to the largest probability [1]

    def __mul__(self, other: CountLaw) -> CountLaw:
        """Law of the sum of two independent counts, scaled to a maximum of 1 and trimmed where negligible."""
        values = np.convolve(self.values, other.values)
        if not (largest := values.max()) > 0.0:  # rates of the volumes ran away
            raise ConvergenceError("mean field of the alias pool: law of the total", np.inf, 0)
        values /= largest
        if values[0] > self.least and values[-1] > self.least:
            return CountLaw(self.first + other.first, values, self.least)
        (kept,) = (values > self.least).nonzero()
        return CountLaw(self.first + other.first + int(kept[0]), values[kept[0] : kept[-1] + 1], self.least)

    def power(self, count: int) -> CountLaw:
        """Law of the sum of `count` independent counts."""
        if count == 0:
            return CountLaw(0, np.ones(1), self.least)
        square, result = self, None
        while True:
            if count & 1:
                result = square if result is None else result * square
            count >>= 1
            if not count:
                break
            square = square * square
        return self if result is None else result

    def window(self, least: float) -> Array:
        """Numbers whose probability is above `least` of the largest, shape (numbers,) [1]."""
        kept = np.flatnonzero(self.values > least * self.values.max())
        return np.arange(self.first + kept[0], self.first + kept[-1] + 1.0)

    def of_the_rest(self, total: Array, size: int) -> Array:
        """Probability of ``total - d`` for d = 0, ..., size - 1, shape (totals, size); `total` counts by ones."""
        least = int(total[0]) - size + 1
        numbers = np.zeros(total.size + size - 1)  # from `least` on
        begin, skipped = max(self.first - least, 0), max(least - self.first, 0)
        values = self.values[skipped : skipped + max(numbers.size - begin, 0)]
        numbers[begin : begin + values.size] = values
        step = numbers.itemsize  # one row on, one d back: a view, without the cost of making it by a function
        return np.ndarray((total.size, size), np.float64, numbers, (size - 1) * step, (step, -step))


def leave_one_out(laws: list[CountLaw], volumes: list[int]) -> tuple[list[CountLaw], CountLaw]:
    """Law of the total over all volumes but one of class k, for every k; and over all."""
    but_one = [law.power(count - 1) for law, count in zip(laws, volumes, strict=True)]
    whole = [less * law for less, law in zip(but_one, laws, strict=True)]
    left_out = list(but_one)
    before, after = whole[0], whole[-1]
    for k in range(1, len(laws)):
        left_out[k] = before * left_out[k]
        left_out[-1 - k] = left_out[-1 - k] * after
        before, after = before * whole[k], whole[-1 - k] * after
    return left_out, before


AnyFlows = TypeVar("AnyFlows", PoolFlows, BaseFlows)


@dataclass(frozen=True, eq=False)
class ClassGivenTotal:
    """One class given D."""

    beyond: Array  # d = 0, 1, ..., shape (d,) [1]
    busy: Array  # Probability that a base is busy, shape (D,) [1]
    weight_idle: Array  # Law of d with the base idle, busy, shape (D, d) [1]
    weight_busy: Array
    # Likelihood of D given d with the base busy, relative to that given a busy base, shape (D, d) [1]
    likelihood: Array
    # By which a busy base ends faster than on average, shape (D, d) or (d,); None for exponential service [1]
    hazard: Array | None


@dataclass(frozen=True, eq=False)
class KnownFlows:
    """Flows of an earlier iteration, from which the bases get their own balance."""

    pool: PoolFlows  # Of the pool
    bases: tuple[BaseFlows, ...]  # Of each class


@dataclass(frozen=True, eq=False)
class KnownBusy:
    """Busy bases of another alias count."""

    total: Array  # Window of D, moved to the same numbers waiting, shape (D,) [1]
    busy: tuple[Array, ...]  # Probability that a base of each class is busy, shape (D,) [1]


def classes_given_total(
    pool: CheckedPool,
    rates: tuple[VolumeRates, ...],
    laws: tuple[VolumeLaw, ...],
    known: KnownFlows | KnownBusy | None,
    window: float,
) -> tuple[Array, list[ClassGivenTotal]]:
    """Condition every class on D; `laws` are those of one volume of each under its rates.

    A volume given D is weighed by the chance that all others have the rest. Whether its base is busy is better known
    from its own balance given D, once flows are known.
    """
    left_out, whole = leave_one_out(
        [CountLaw(0, idle + busy, window * MARGIN) for idle, busy in laws],
        [int(count) for count in pool.volumes],
    )
    total = whole.window(window)
    if total.size * sum(idle.size for idle, _ in laws) > MOST_CELLS:
        raise ConvergenceError("alias pool, nearly unstable: its queues are too long", np.inf, 0)
    if isinstance(known, KnownFlows):
        known = _on_window(known, total)
    classes = []
    for k, ((idle, busy), others) in enumerate(zip(laws, left_out, strict=True)):
        beyond = np.arange(float(idle.size))
        likelihood = others.of_the_rest(total, idle.size)
        joint_idle, joint_busy = idle * likelihood, busy * likelihood
        sum_idle, sum_busy = joint_idle.sum(axis=1), joint_busy.sum(axis=1)
        if isinstance(known, KnownBusy):
            busy_share = np.interp(total, known.total, known.busy[k])
        elif isinstance(known, KnownFlows):
            idle_share = idle_given_total(known.pool, known.bases[k], top=bool(total[-1] >= pool.most_beyond))
            busy_share = np.where(sum_idle > 0.0, np.where(sum_busy > 0.0, 1.0 - idle_share, 0.0), 1.0)
        else:
            busy_share = sum_busy / (sum_idle + sum_busy)
        per_busy = _reciprocal(sum_busy)
        classes.append(
            ClassGivenTotal(
                beyond=beyond,
                busy=busy_share,
                weight_idle=joint_idle * _reciprocal(sum_idle),
                weight_busy=joint_busy * per_busy,
                likelihood=likelihood * per_busy,
                hazard=None,
            )
        )
    return total, classes if pool.scv == 1.0 else _with_hazards(pool, rates, laws, total, classes)


def _with_hazards(
    pool: CheckedPool,
    rates: tuple[VolumeRates, ...],
    laws: tuple[VolumeLaw, ...],
    total: Array,
    classes: list[ClassGivenTotal],
) -> list[ClassGivenTotal]:
    """Tell how fast the bases of each class end; the closed ones are too small for D to run away."""
    mean, variance = 0.0, 0.0
    for count, given, (idle, busy) in zip(pool.volumes, classes, laws, strict=True):
        law = idle + busy
        own = float(law @ given.beyond)
        mean += count * own
        variance += count * float(law @ (given.beyond - own) ** 2)
    result = []
    for k, given in enumerate(classes):
        hazard = base_hazard(pool, k, rates[k])
        if not pool.closed[k]:
            hazard = hazard_given_total(hazard, given.weight_busy, total, mean, variance**0.5)
        result.append(replace(given, hazard=hazard))
    return result


def _reciprocal(sums: Array) -> Array:
    """As a column; 0 where D is out of reach."""
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums >= TINY)[:, None]


def _on_window(known: KnownFlows, wanted: Array) -> KnownFlows:
    """Flows on another window of D, constant beyond its ends."""
    total = known.pool.total
    if total[0] == wanted[0] and total.size == wanted.size:
        return known

    def moved(flows: AnyFlows) -> AnyFlows:
        return replace(
            flows,
            **{item.name: np.interp(wanted, total, getattr(flows, item.name)) for item in fields(flows)},
        )

    return KnownFlows(moved(known.pool), tuple(moved(each) for each in known.bases))
