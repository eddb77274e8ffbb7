"""Distributions of volumes: of one, of all others together, of each given D; and the waiting I/Os of each.

One volume: whether its base is busy, and the number d of its I/Os that the base does not hold. Sums of the volumes' d
are found by discrete Fourier transforms of tilted distributions, ``f(d) x^d`` normalized: rounding is relative to the
most likely sum, so x is chosen to make that one close to the sums wanted. If one tilt does not cover them, the
distributions of several are joined, each where it is most accurate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import PoolElements, State
from planner.results import Array, Flags

FAST: Final = np.unique([2**i * 3**j * 5**k for i in range(16) for j in range(10) for k in range(7)])
"""Lengths with fast transforms."""
CLOSE: Final = 1e-12
"""Shares this close to 0 or 1 count as 0 or 1."""


def ratio(part: Array | float, whole: Array, otherwise: float | Array = 0.0) -> Array:
    """Quotient, or `otherwise` where the divisor is 0; callers ignore floating-point warnings."""
    return np.where(whole > TINY, part / whole, otherwise)


def volume_distribution(
    elements: PoolElements,
    arrivals: tuple[Array, Array],
    idle_ends: Array,
    busy_falls: Array,
    busy_idles: Array,
) -> tuple[Array, Array]:
    """Logarithm of the weight of d with a busy base, and the ratio of idle to busy, (elements, classes, d).

    An arrival makes an idle base busy and otherwise raises d; an ending alias lowers d; a base that ends takes the next
    I/O of its own queue (d falls) or becomes idle. The flows through the cut between d and d + 1, and those of the idle
    state, balance: ``busy[d] busy_arrivals[d] = idle[d+1] idle_ends[d+1] + busy[d+1] (alias_ends + picks)[d+1]`` and
    ``idle[d] (idle_arrivals + idle_ends)[d] = busy[d] idles[d] + idle[d+1] idle_ends[d+1]``. They are solved in ratios,
    from the largest d down.
    """
    size = idle_ends.shape[-1]
    last = np.where(elements.closed, np.minimum(elements.population, size), size) - 1.0
    # One contiguous array per d: the recursion goes from d to d.
    rises, falls, ends, idles, leaves = (
        np.ascontiguousarray(each.transpose(2, 0, 1))
        for each in (
            np.maximum(arrivals[1], TINY),
            busy_falls,
            idle_ends,
            busy_idles,
            np.maximum(arrivals[0] + idle_ends, TINY),
        )
    )
    beyond = np.arange(size)[:, None, None]
    per_leave = np.where(beyond <= last, 1.0 / leaves, 0.0)
    # Nothing is above the last d.
    below = np.where(beyond[:-1] < last, np.maximum(falls[1:] / rises[:-1], TINY), 1.0)
    scale = per_leave[1:] * ends[1:] / rises[:-1]
    ended, passed_on = scale * idles[1:], scale * rises[1:]
    # Steps are busy[d] / busy[d+1]; of the flow down to d, a share is of volumes with an idle base.
    steps, share = np.ones_like(rises), np.zeros_like(rises)
    for d in range(size - 2, -1, -1):
        from_idle = passed_on[d] * share[d + 1]
        from_idle += ended[d]
        np.add(from_idle, below[d], out=steps[d])
        np.divide(from_idle, steps[d], out=share[d])
    idle_to_busy = (idles + rises * share) * per_leave
    log_busy = np.cumsum(np.log(steps[::-1]), axis=0)[::-1]
    log_busy = np.where(beyond <= last, log_busy - log_busy.max(axis=0), -np.inf)
    log_busy, idle_to_busy = (
        np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (log_busy, idle_to_busy)
    )
    return log_busy, idle_to_busy


def tilted(log_distribution: Array, log_tilt: Array) -> Array:
    """Weights ``f(d) x^d`` of d, with largest value 1; shape (elements, tilts, classes, d)."""
    exponent = log_distribution[:, None] + log_tilt[:, :, None, None] * np.arange(
        float(log_distribution.shape[-1])
    )
    return np.asarray(np.exp(exponent - exponent.max(axis=-1, keepdims=True)))


def fitted_tilts(
    elements: PoolElements, state: State, log_distribution: Array, *, first_steps: int = 14, later_steps: int = 2
) -> Array:  # fmt: skip
    """Logarithms of the tilts that give the wanted means of the sum of d: Newton's method within a bracket."""
    tilts = state.log_tilt.shape[-1]
    wanted = state.mean_total[:, None]
    if tilts > 1:
        share = (np.arange(tilts) + 0.5) / tilts
        wanted = (
            state.least_total[:, None] + np.subtract(state.largest_total, state.least_total)[:, None] * share
        )
    most = elements.most_beyond[:, None]
    edge, steepest = 0.02, 60.0  # distance of a mean from its ends, as a share of all I/Os or their number
    wanted = np.clip(wanted, edge, np.maximum(np.where(np.isfinite(most), most * (1.0 - edge), wanted), edge))
    tilt = state.log_tilt
    powers = np.arange(float(log_distribution.shape[-1]))[:, None] ** np.arange(3.0)
    low, high = np.full(tilt.shape, -steepest), np.full(tilt.shape, steepest)
    begins = state.passes[:, None] == 0
    for step in range(first_steps if begins.any() else later_steps):
        whole, first, second = (tilted(log_distribution, tilt) @ powers).transpose(3, 0, 1, 2)
        each = first / whole
        variance = second / whole - each**2
        mean = (elements.volumes[:, None] * each).sum(axis=-1)
        slope = np.maximum((elements.volumes[:, None] * variance).sum(axis=-1), 1e-9)
        below = mean < wanted
        low, high = np.where(below, tilt, low), np.where(below, high, tilt)
        newton = tilt + np.minimum(np.maximum((wanted - mean) / slope, -1.0), 1.0)
        found = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
        found = np.where(begins | (step < later_steps), found, tilt)
        if (found == tilt).all():
            break
        tilt = found
    return tilt


def whole_power(values: NDArray[np.complex128], exponent: Array) -> NDArray[np.complex128]:
    """Powers with a whole exponent per row, by squaring."""
    left = exponent.astype(np.int64)[..., None]
    most, result = int(left.max()), np.ones_like(values)
    while True:
        result = np.where(left & 1 == 1, result * values, result)
        left, most = left >> 1, most >> 1
        if not most:
            return result
        values = values * values


def of_the_others(
    elements: PoolElements, log_distribution: Array, log_tilt: Array, distributions: Array, totals: int
) -> Array:
    """Distribution of the sum of all volumes except one of class k, times the middle tilt, from 1 - size to totals - 1.

    Shape (elements, classes, size + totals - 1); 0 where rounding hides it. `distributions` are the tilted ones.
    """
    size, classes = log_distribution.shape[-1], elements.volumes.shape[-1]
    points = int(FAST[np.searchsorted(FAST, totals + size + totals // 2)])
    whole_distribution = distributions.sum(axis=-1, keepdims=True)
    transform = np.fft.rfft(distributions / whole_distribution, points)
    less = whole_power(transform, elements.volumes[:, None] - 1.0)
    if classes > 1:  # product of all before and all after
        whole = less * transform
        less[:, :, 1:] *= np.cumprod(whole[:, :, :-1], axis=2)
        less[:, :, :-1] *= np.cumprod(whole[:, :, :0:-1], axis=2)[:, :, ::-1]
    distribution = np.fft.irfft(less, points)[..., :totals]
    distribution = np.where(
        distribution > 1e-13 * distribution.max(axis=-1, keepdims=True), distribution, 0.0
    )
    distribution = (
        _joined(distribution, elements, log_distribution, log_tilt, whole_distribution)
        if log_tilt.shape[-1] > 1
        else distribution[:, 0]
    )
    return np.concatenate([np.zeros((*distribution.shape[:2], size - 1)), distribution], axis=-1)


def _joined(
    distribution: Array,
    elements: PoolElements,
    log_distribution: Array,
    log_tilt: Array,
    whole_distribution: Array,
) -> Array:
    """Join the distributions of all tilts, where largest relative to their maximum; scaled by the middle tilt."""
    tilts = log_tilt.shape[-1]
    exponent = log_distribution[:, None] + log_tilt[:, :, None, None] * np.arange(
        float(log_distribution.shape[-1])
    )
    log_sum = exponent.max(axis=-1) + np.log(whole_distribution[..., 0])  # of f(d) x^d
    # Of all volumes except one of class k.
    every = (elements.volumes[:, None] * log_sum).sum(axis=-1, keepdims=True) - log_sum
    logs = np.log(np.maximum(distribution, TINY)) + every[..., None]
    middle = tilts // 2
    logs -= (log_tilt - log_tilt[:, middle : middle + 1])[:, :, None, None] * np.arange(
        float(distribution.shape[-1])
    )
    best = (distribution / np.maximum(distribution.max(axis=-1, keepdims=True), TINY)).argmax(axis=1)[:, None]
    chosen = np.take_along_axis(logs, best, axis=1)[:, 0]
    exists = np.take_along_axis(distribution, best, axis=1)[:, 0] > 0.0
    largest = np.where(exists, chosen, -np.inf).max(axis=-1, keepdims=True)
    return np.where(exists, np.exp(np.maximum(chosen - largest, -690.0)), 0.0)


@dataclass(frozen=True, eq=False)
class GivenTotal:
    """Volumes given D, if independent except for their sum; shape (elements, classes, D) each."""

    busy: Array  # Weight of d with the base busy, shape (elements, classes, D, d) [1]
    per_busy: Array  # One over the sum of these weights, 0 where a base cannot be busy [1]
    busy_share: Array  # Probability that the base is busy [1]
    beyond_idle: Array  # Mean d with the base idle, busy [1]
    beyond_busy: Array
    arrivals_idle: Array  # Mean arrival rate with the base idle, busy [1/service time]
    arrivals_busy: Array
    beside: Array  # Other I/Os beyond the base, as seen by one at a busy-base volume [1]
    arrivals_beside: Array  # Mean arrival rate with the base busy, weighted by d [1/service time]
    ends_idle: Array  # Mean rate at which aliases end with the base idle [1/service time]
    never_idle: Flags  # Where a base cannot be idle
    known: Flags  # D not lost to rounding, shape (elements, D)
    waits: Array  # I/Os of the pool that wait, shape (elements, D) [1]
    holds: Array  # Aliases that are busy, shape (elements, D) [1]
    log_tilt: Array  # Logarithms of the tilts, shape (elements, tilts) [1]
    tail: Array  # Largest probability of the last d of a volume that may have more, shape (elements,) [1]


def given_total(
    elements: PoolElements, state: State, arrivals: tuple[Array, Array], idle_ends: Array
) -> GivenTotal:
    """Condition one volume of each class on D: its own distribution times that of all others at the rest of D."""
    totals, size = state.ends_given.shape[-1], idle_ends.shape[-1]
    falls = state.alias_ends + state.base_picks
    log_busy, idle_to_busy = volume_distribution(elements, arrivals, idle_ends, falls, state.base_idles)
    log_distribution = log_busy + np.log1p(idle_to_busy)
    log_tilt = fitted_tilts(elements, state, log_distribution)
    distributions = tilted(log_distribution, log_tilt)
    others = of_the_others(elements, log_distribution, log_tilt, distributions, totals)
    own = distributions[:, log_tilt.shape[-1] // 2] / (1.0 + idle_to_busy)
    idle, beyond = own * idle_to_busy, np.arange(float(size))
    rest = others.take(np.arange(totals)[:, None] + np.arange(size - 1, -1, -1), axis=-1)  # at D - d
    wanted = [idle, idle * beyond, idle * arrivals[0], idle * idle_ends, own, own * beyond, own * arrivals[1]]
    wanted += [wanted[-1] * beyond, wanted[-2] * np.maximum(beyond - 1.0, 0.0)]
    idles, *by_idle, busies, beyond_busy, arrivals_busy, arrivals_beside, beside = (
        rest @ np.stack(wanted, axis=-1)
    ).transpose(3, 0, 1, 2)
    per_busy, both = ratio(1.0, busies), idles + busies
    beyond_idle, arrivals_idle, ends_idle = by_idle * ratio(1.0, idles)
    distribution = np.exp(log_distribution)
    last = distribution[..., -1] / distribution.sum(axis=-1)
    rest *= own[:, :, None]
    waits, holds = elements.waits_and_holds(totals)
    return GivenTotal(
        busy=rest,
        per_busy=per_busy,
        busy_share=ratio(busies, both),
        beyond_idle=beyond_idle,
        beyond_busy=beyond_busy * per_busy,
        arrivals_idle=arrivals_idle,
        arrivals_busy=arrivals_busy * per_busy,
        beside=ratio(beside, beyond_busy),
        arrivals_beside=ratio(arrivals_beside, beyond_busy),
        ends_idle=ends_idle,
        never_idle=idles <= 0.0,
        known=_around_the_mean((both > 0.0).all(axis=1), state.mean_total),
        waits=waits,
        holds=holds,
        log_tilt=log_tilt,
        tail=np.where(elements.most_of_one > size, last, 0.0).max(axis=-1),
    )


def _around_the_mean(known: Flags, mean: Array) -> Flags:
    """The contiguous known range around the mean."""
    if known.all():
        return known
    at = np.clip(np.rint(mean), 0, known.shape[-1] - 1).astype(np.int64)[:, None]
    gaps = np.cumsum(~known, axis=-1)
    return np.asarray(known & (gaps == np.take_along_axis(gaps, at, axis=-1)))


@dataclass(frozen=True, eq=False)
class Split:
    """The I/Os of one volume that no base holds, given D; shape (elements, classes, D)."""

    held: Array  # I/Os on aliases [1]
    held_idle: Array  # I/Os on aliases while the base is idle [1]
    waiting: Array  # Waiting I/Os [1]
    alias_share: Array  # Share on aliases among those at busy-base volumes [1]
    at_busy: Array  # I/Os of the pool at busy-base volumes, shape (elements, D) [1]


def split(elements: PoolElements, state: State, given: GivenTotal, busy: Array) -> Split:
    """Split D over the volumes, on aliases and waiting, by their balances once these are known.

    Before that, and for volumes that do not interact, the distributions give the split.
    """
    count, total = elements.volumes[..., None], np.arange(float(busy.shape[-1]))
    whole = np.array([given.holds, given.waits])

    def pool(values: Array) -> Array:
        return np.asarray((count * values).sum(axis=-2))

    def normalized(values: Array, whole: Array) -> Array:
        """Scale values so that those of all volumes sum to `whole`."""
        return np.asarray(values * ratio(whole, pool(values))[..., None, :])

    idle, at_busy = (1.0 - busy) * given.beyond_idle, busy * given.beyond_busy
    idle, at_busy = np.array([idle, at_busy]) * ratio(total, pool(idle + at_busy), 1.0)[:, None]
    waits = at_busy * np.minimum(ratio(given.waits, pool(at_busy)), 1.0 - CLOSE)[:, None]
    balances = np.array([state.held_given, state.queue_given])
    computed = 1e-3  # with a smaller share of the pool's I/Os balances have not been computed
    known = state.meet(elements)[:, None] & (pool(balances) > computed * whole)
    held, waiting = normalized(
        np.where(known[..., None, :], balances, np.array([idle + at_busy - waits, waits])), whole
    )
    little = 0.02  # smallest share of a class's aliases at busy bases, and of its waiting I/Os to keep
    idle = np.minimum(idle, (1.0 - little) * held)
    trusted = elements.trusted[..., None]
    change = trusted + (1.0 - trusted) * ratio(at_busy, held - idle + waiting, 1.0)
    held, waiting = normalized(np.array([idle + (held - idle) * change, waiting * change]), whole)
    room = (elements.population[..., None] - 1.0) * busy - (held - idle)  # for waiting I/Os
    room = np.where(elements.closed[..., None], np.maximum(room, little * waiting), np.inf)
    waiting = normalized(np.minimum(waiting, room), given.waits)
    at_busy = held - idle + waiting
    return Split(held, idle, waiting, ratio(held - idle, at_busy, 1.0), pool(at_busy))


def own_queue_empty(alias_share: Array, at_busy: Array, waiting: Array, size: int) -> Array:
    """Probability that none of the d I/Os beyond the base of one volume waits, shape (elements, classes, D, d).

    Of the I/Os at busy-base volumes `alias_share` hold an alias; that all d of one volume do is
    hypergeometric: the product over j < d of (share x total - j)+ / (total - j).
    """
    drawn = np.arange(size - 1.0)
    # Without waiting I/Os all d hold an alias: as if drawn from very many.
    at_busy = np.where(waiting > 0.0, at_busy, 2.0**60)[:, None, :, None]
    chance = np.ones((*alias_share.shape, size))
    held = alias_share[..., None] * at_busy - drawn
    np.maximum(held, 0.0, out=held)
    held *= 1.0 / np.maximum(at_busy - drawn, CLOSE)
    np.minimum(held, 1.0, out=held)
    np.cumprod(held, axis=-1, out=chance[..., 1:])
    return chance
