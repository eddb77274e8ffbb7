"""The classes of volumes given D, the I/Os of the pool that no base holds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

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
CELLS_TOGETHER: Final = 30_000
"""Numbers of D by d up to which classes are worked through together: what fits into a cache."""


@dataclass(frozen=True, eq=False)
class CountLaw:
    """A law on the whole numbers `first`, `first + 1`, ..."""

    first: int  # Smallest number of the window [1]
    values: Array  # Probabilities, shape (numbers,) [1]
    least: float  # Probability up to which either end of a sum is dropped [1]

    def __mul__(self, other: CountLaw) -> CountLaw:
        """Law of the sum of two independent counts, trimmed where negligible."""
        if self.values.size == 1 or other.values.size == 1:  # one of them is known
            longer = other if self.values.size == 1 else self
            return CountLaw(self.first + other.first, longer.values, self.least)
        values = np.convolve(self.values, other.values)
        if values[0] > self.least and values[-1] > self.least:
            return CountLaw(self.first + other.first, values, self.least)
        (kept,) = (values > self.least).nonzero()
        if not kept.size:  # rates of the volumes ran away
            raise ConvergenceError("mean field of the alias pool: law of the total", np.inf, 0)
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


def of_the_rest(laws: list[CountLaw], total: Array, size: int) -> Array:
    """Probability of ``total - d`` for d = 0, 1, ..., shape (laws, totals, size); `total` counts by ones."""
    least = int(total[0]) - size + 1
    numbers = np.zeros((len(laws), total.size + size - 1))  # from `least` on
    for row, law in zip(numbers, laws, strict=True):
        begin, skipped = max(law.first - least, 0), max(least - law.first, 0)
        values = law.values[skipped : skipped + max(row.size - begin, 0)]
        row[begin : begin + values.size] = values
    # One row on, one d back: a view, without the cost of making it by a function.
    by_law, step = numbers.strides
    shape, first = (len(laws), total.size, size), (size - 1) * step
    return np.ndarray(shape, np.float64, numbers, first, (by_law, step, -step))


AnyFlows = TypeVar("AnyFlows", PoolFlows, BaseFlows)


@dataclass(frozen=True, eq=False)
class ClassGroup:
    """Classes of about as many d, side by side, given D; one of fewer d than the largest has weight 0 beyond them."""

    classes: NDArray[np.int64]  # Which they are
    sizes: list[int]  # Numbers of d of each [1]
    beyond: Array  # d = 0, 1, ... of the largest, shape (d,) [1]
    weight_idle: Array  # Law of d with the base idle, busy, shape (classes, D, d) [1]
    weight_busy: Array
    # Likelihood of D given d with the base busy, relative to that given a busy base, shape (classes, D, d) [1]
    likelihood: Array
    # By which a busy base ends faster than on average, shape (classes, D, d); None for exponential service [1]
    hazard: Array | None = None


@dataclass(frozen=True, eq=False)
class GivenTotal:
    """All classes given D."""

    total: Array  # The window of D, shape (D,) [1]
    busy: Array  # Probability that a base is busy, shape (classes, D) [1]
    beyond_idle: Array  # Mean d with the base idle, busy, shape (classes, D) [1]
    beyond_busy: Array
    groups: list[ClassGroup]  # Laws of d


@dataclass(frozen=True, eq=False)
class KnownFlows:
    """Flows of an earlier iteration, from which the bases get their own balance."""

    pool: PoolFlows  # Of the pool
    bases: BaseFlows  # Of each class


@dataclass(frozen=True, eq=False)
class KnownBusy:
    """Busy bases of another alias count."""

    total: Array  # Window of D, moved to the same numbers waiting, shape (D,) [1]
    busy: Array  # Probability that a base of each class is busy, shape (classes, D) [1]


def classes_given_total(
    pool: CheckedPool,
    rates: tuple[VolumeRates, ...],
    laws: tuple[VolumeLaw, ...],
    known: KnownFlows | KnownBusy | None,
    window: float,
) -> GivenTotal:
    """Condition every class on D; `laws` are those of one volume of each under its rates.

    A volume given D is weighed by the chance that all others have the rest. Whether its base is busy is better known
    from its own balance given D, once flows are known.
    """
    left_out, whole = leave_one_out(
        [CountLaw(0, idle + busy, window * MARGIN) for idle, busy in laws],
        [int(count) for count in pool.volumes],
    )
    total = whole.window(window)
    members = side_by_side([idle.size for idle, _ in laws], total.size)
    if total.size * sum(len(group) * laws[group[-1]][0].size for group in members) > MOST_CELLS:
        raise ConvergenceError("alias pool, nearly unstable: its queues are too long", np.inf, 0)
    found, groups = np.empty((4, pool.classes, total.size)), []
    for classes in members:
        group, here = _group_given_total(classes, laws, left_out, total)
        found[:, group.classes] = here
        groups.append(group)
    sum_idle, sum_busy, beyond_idle, beyond_busy = found
    if isinstance(known, KnownBusy):
        busy = known.busy[:, _nearest(known.total, total)]
    elif isinstance(known, KnownFlows):
        known = _on_window(known, total)
        idle = idle_given_total(known.pool, known.bases, top=bool(total[-1] >= pool.most_beyond))
        busy = np.where(sum_idle > 0.0, np.where(sum_busy > 0.0, 1.0 - idle, 0.0), 1.0)
    else:
        busy = sum_busy / (sum_idle + sum_busy)
    if pool.scv != 1.0:
        groups = _with_hazards(pool, rates, laws, total, groups)
    return GivenTotal(total, busy, beyond_idle, beyond_busy, groups)


def side_by_side(sizes: list[int], totals: int) -> list[list[int]]:
    """Classes that are worked through together: none has more than twice the d of another; the largest is the last."""
    groups: list[list[int]] = []
    for k in sorted(range(len(sizes)), key=sizes.__getitem__):
        last = groups[-1] if groups else []
        cells = (len(last) + 1) * sizes[k] * totals
        if last and sizes[k] <= 2 * sizes[last[0]] and cells <= CELLS_TOGETHER:
            last.append(k)
        else:
            groups.append([k])
    return groups


def _group_given_total(
    classes: list[int], laws: tuple[VolumeLaw, ...], left_out: list[CountLaw], total: Array
) -> tuple[ClassGroup, Array]:
    """Condition some classes on D; likelihood of D, and mean d, with the base idle and busy, shape (4, classes, D)."""
    sizes = [laws[k][0].size for k in classes]
    law = np.zeros((2, len(classes), 1, sizes[-1]))
    for row, k in enumerate(classes):
        law[0, row, 0, : sizes[row]], law[1, row, 0, : sizes[row]] = laws[k]
    likelihood = of_the_rest([left_out[k] for k in classes], total, sizes[-1])
    weight = law * likelihood
    beyond = np.arange(float(sizes[-1]))
    sums = weight @ np.ones_like(beyond)
    per_sum = np.divide(1.0, sums, out=np.zeros(sums.shape), where=sums >= TINY)[..., None]  # 0 out of reach
    weight *= per_sum
    group = ClassGroup(np.array(classes), sizes, beyond, weight[0], weight[1], likelihood * per_sum[1])
    return group, np.concatenate([sums, weight @ beyond])


def _with_hazards(
    pool: CheckedPool,
    rates: tuple[VolumeRates, ...],
    laws: tuple[VolumeLaw, ...],
    total: Array,
    groups: list[ClassGroup],
) -> list[ClassGroup]:
    """Tell how fast the bases of each class end; the closed ones are too small for D to run away."""
    mean, variance = 0.0, 0.0
    for count, (idle, busy) in zip(pool.volumes, laws, strict=True):
        law, beyond = idle + busy, np.arange(float(idle.size))
        own = float(law @ beyond)
        mean += count * own
        variance += count * float(law @ (beyond - own) ** 2)
    result = []
    for group in groups:
        hazards = np.ones_like(group.weight_busy)
        for k, size, into, weight in zip(
            group.classes.tolist(), group.sizes, hazards, group.weight_busy, strict=True
        ):
            hazard = base_hazard(pool, k, rates[k])
            if not pool.closed[k]:
                hazard = hazard_given_total(hazard, weight[:, :size], total, mean, variance**0.5)
            into[:, :size] = hazard
        result.append(replace(group, hazard=hazards))
    return result


def _nearest(total: Array, wanted: Array) -> NDArray[np.int64]:
    """Where one window of D has the D of another, or those next to them; both count by ones."""
    return np.asarray(np.clip(wanted - total[0], 0.0, total.size - 1.0), dtype=np.int64)


def _on_window(known: KnownFlows, wanted: Array) -> KnownFlows:
    """Flows on another window of D, constant beyond its ends."""
    total = known.pool.total
    if total[0] == wanted[0] and total.size == wanted.size:
        return known
    nearest = _nearest(total, wanted)

    def moved(flows: AnyFlows) -> AnyFlows:
        return replace(
            flows, **{item.name: getattr(flows, item.name)[..., nearest] for item in fields(flows)}
        )

    return KnownFlows(moved(known.pool), moved(known.bases))
