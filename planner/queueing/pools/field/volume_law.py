"""The law of one volume: is its base busy, and how many of its I/Os does the base not hold; and that of all the others.

Sums of the volumes' d are found by discrete Fourier transforms of tilted laws, ``f(d) x^d`` normalized: rounding is
relative to the most likely sum, so that x makes one near those wanted. Where one tilt does not reach far enough, the
laws of several are joined, each where it is the most accurate.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import Elements, State
from planner.results import Array

FAST: Final = np.unique([2**i * 3**j * 5**k for i in range(16) for j in range(10) for k in range(7)])
"""Lengths that transforms are quick at."""


def volume_law(
    elements: Elements, state: State, idle_arrivals: Array, busy_arrivals: Array, idle_ends: Array
) -> tuple[Array, Array]:
    """Logarithm of the weight of d with a busy base, and how much more likely an idle one is, (elements, classes, d).

    An arrival makes an idle base busy and otherwise raises d; an alias that ends lowers d; a base that ends takes the
    next I/O of its own queue (d falls) or becomes idle. The flows through the cut between d and d + 1 and out of the
    idle state agree: ``busy[d] busy_arrivals[d] = idle[d+1] idle_ends[d+1] + busy[d+1] (alias_ends + picks)[d+1]`` and
    ``idle[d] (idle_arrivals + idle_ends)[d] = busy[d] idles[d] + idle[d+1] idle_ends[d+1]``: solved from the largest d
    down, in ratios.
    """
    size = idle_ends.shape[-1]
    last = np.where(elements.closed, np.minimum(elements.population, size), size) - 1.0
    # One array a d, next to each other: what follows goes from d to d.
    rises, falls, ends, idles, leaves = (
        np.ascontiguousarray(each.transpose(2, 0, 1))
        for each in (
            np.maximum(busy_arrivals, TINY),
            state.alias_ends + state.base_picks,
            idle_ends,
            state.base_idles,
            np.maximum(idle_arrivals + idle_ends, TINY),
        )
    )
    beyond = np.arange(size)[:, None, None]
    per_rise, per_leave = 1.0 / rises, np.where(beyond <= last, 1.0 / leaves, 0.0)
    below = np.where(
        beyond[:-1] < last, falls[1:] * per_rise[:-1], 1.0
    )  # from the last d on nothing is above
    idle_to_busy, ratio = np.empty_like(rises), np.ones_like(rises)
    idle_to_busy[-1] = idles[-1] * per_leave[-1]
    for d in range(size - 2, -1, -1):
        from_idle = idle_to_busy[d + 1] * ends[d + 1]
        step = ratio[d]
        np.multiply(from_idle, per_rise[d], out=step)
        step += below[d]
        np.maximum(step, TINY, out=step)
        from_idle /= step
        from_idle += idles[d]
        np.multiply(from_idle, per_leave[d], out=idle_to_busy[d])
    log_busy = np.cumsum(np.log(ratio[::-1]), axis=0)[::-1]
    log_busy = np.where(beyond <= last, log_busy - log_busy.max(axis=0), -np.inf)
    log_busy, idle_to_busy = (
        np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (log_busy, idle_to_busy)
    )
    return log_busy, idle_to_busy


def tilted(log_law: Array, log_tilt: Array) -> Array:
    """Law of d in proportion to ``f(d) x^d``, its largest value 1; shape (elements, tilts, classes, d)."""
    exponent = log_law[:, None] + log_tilt[:, :, None, None] * np.arange(float(log_law.shape[-1]))
    return np.asarray(np.exp(exponent - exponent.max(axis=-1, keepdims=True)))


def fitted_tilts(
    elements: Elements, state: State, log_law: Array, *, first_steps: int = 14, later_steps: int = 2
) -> Array:
    """Logarithms of the tilts with which the mean of all d is what is wanted: Newton's method within a bracket."""
    tilts = state.log_tilt.shape[-1]
    wanted = state.mean_total[:, None]
    if tilts > 1:
        share = (np.arange(tilts) + 0.5) / tilts
        wanted = (
            state.least_total[:, None] + np.subtract(state.largest_total, state.least_total)[:, None] * share
        )
    most = elements.most_beyond[:, None]
    edge, steepest = 0.02, 60.0  # share of all I/Os, or number of them, that a mean keeps from the ends
    wanted = np.clip(wanted, edge, np.maximum(np.where(np.isfinite(most), most * (1.0 - edge), wanted), edge))
    tilt = state.log_tilt
    powers = np.arange(float(log_law.shape[-1]))[:, None] ** np.arange(3.0)
    low, high = np.full(tilt.shape, -steepest), np.full(tilt.shape, steepest)
    begins = state.passes[:, None] == 0
    for step in range(first_steps if begins.any() else later_steps):
        whole, first, second = (tilted(log_law, tilt) @ powers).transpose(3, 0, 1, 2)
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
    """Powers with whole exponents, one for each row, by squaring."""
    left = exponent.astype(np.int64)[..., None]
    most, result = int(left.max()), np.ones_like(values)
    while True:
        result = np.where(left & 1 == 1, result * values, result)
        left, most = left >> 1, most >> 1
        if not most:
            return result
        values = values * values


def of_the_others(elements: Elements, log_law: Array, log_tilt: Array, totals: int) -> Array:
    """Law of the sum of all volumes but one of class k, times the first tilt, at ``1 - size, ..., totals - 1``.

    Shape (elements, classes, size + totals - 1); 0 where rounding hides it.
    """
    size, classes = log_law.shape[-1], elements.volumes.shape[-1]
    points = int(FAST[np.searchsorted(FAST, totals + size + totals // 2)])
    laws = tilted(log_law, log_tilt)
    whole_law = laws.sum(axis=-1, keepdims=True)
    transform = np.fft.rfft(laws / whole_law, points)
    count = elements.volumes[:, None]
    less = whole_power(transform, np.broadcast_to(np.maximum(count - 1.0, 0.0), transform.shape[:-1]))
    whole = np.where(count[..., None] > 0.0, less * transform, 1.0)
    if classes > 1:  # all before, times all after
        less[:, :, 1:] *= np.cumprod(whole[:, :, :-1], axis=2)
        less[:, :, :-1] *= np.cumprod(whole[:, :, :0:-1], axis=2)[:, :, ::-1]
    law = np.fft.irfft(less, points)[..., :totals]
    law = np.where(law > 1e-13 * law.max(axis=-1, keepdims=True), law, 0.0)
    law = _joined(law, elements, log_law, log_tilt, whole_law) if log_tilt.shape[-1] > 1 else law[:, 0]
    return np.concatenate([np.zeros((*law.shape[:2], size - 1)), law], axis=-1)


def _joined(law: Array, elements: Elements, log_law: Array, log_tilt: Array, whole_law: Array) -> Array:
    """One law from those of all tilts, each where it is largest relative to its own maximum; as by the middle tilt."""
    tilts = log_tilt.shape[-1]
    exponent = log_law[:, None] + log_tilt[:, :, None, None] * np.arange(float(log_law.shape[-1]))
    log_sum = exponent.max(axis=-1) + np.log(whole_law[..., 0])  # of f(d) x^d
    count = np.where(elements.volumes > 0.0, elements.volumes, 0.0)[:, None]
    every = (count * log_sum).sum(axis=-1, keepdims=True) - log_sum  # all but one of class k
    logs = np.log(np.maximum(law, TINY)) + every[..., None]
    middle = tilts // 2
    logs -= (log_tilt - log_tilt[:, middle : middle + 1])[:, :, None, None] * np.arange(float(law.shape[-1]))
    best = (law / np.maximum(law.max(axis=-1, keepdims=True), TINY)).argmax(axis=1)[:, None]
    chosen = np.take_along_axis(logs, best, axis=1)[:, 0]
    exists = np.take_along_axis(law, best, axis=1)[:, 0] > 0.0
    largest = np.where(exists, chosen, -np.inf).max(axis=-1, keepdims=True)
    return np.where(exists, np.exp(np.maximum(chosen - largest, -690.0)), 0.0)
