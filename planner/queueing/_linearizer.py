"""Closed networks that are too large for their exact solution: the Linearizer, with a law of who is at a station."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing._product_form import StationGroup, copy_series
from planner.queueing.checks import TINY
from planner.results import Array

# Estimates of how the shares change with one requester less: Chandy and Neuse (1982) stop after 3; 8 leave some 1e-4 of
# the way to the limit (tests/queueing/test_multiclass.py).
LEVELS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Station:
    """One group; `gain` (scenarios, n) is (n + 1) f(n + 1) / f(n), `log_weight` the same of ln f(n); None if simple."""

    group: StationGroup
    gain: Array | None = None
    log_weight: Array | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """Where an iteration stands: numbers (scenarios, classes, groups) and throughput (scenarios, classes)."""

    full: Array
    think: Array
    demands: Array
    queue: Array
    rate: Array


def solve(full: Array, think: Array, groups: Sequence[StationGroup]) -> tuple[Array, Array, Array]:
    """Throughput (scenarios, classes), numbers (scenarios, classes, groups), open numbers (scenarios, groups).

    Chandy and Neuse (1982): the shares of a class at the stations change by the same amount when one requester
    leaves, whatever the population. Where a station has several servers or open requests, the arrival sees it as in
    a birth and death process whose births slow down as the rest of the network empties.
    """
    stations = [_station(group, int(full.sum(-1).max())) for group in groups]
    demands = np.stack([group.demand for group in groups], axis=-1)
    scenarios, classes, count = demands.shape
    deviation = np.zeros((scenarios, classes, count, classes))
    alone = np.maximum(think + demands.sum(-1), TINY)
    start = _State(
        full=full, think=think, demands=demands, rate=full / alone, queue=(full / alone)[..., None] * demands
    )
    state = _core(start, stations, deviation)
    for _ in range(LEVELS):
        share = _over(state.queue, full[..., None])
        for s in range(classes):
            less = full.copy()
            less[:, s] = np.maximum(less[:, s] - 1, 0)
            part = _over(less, full)
            fewer = replace(state, full=less, queue=state.queue * part[..., None], rate=state.rate * part)
            without = _core(fewer, stations, deviation).queue
            found = _over(without, less[..., None]) - share
            deviation[..., s] += 0.5 * (found - deviation[..., s])  # whole steps may swing without end
        state = _core(state, stations, deviation)
    opened = [_open_number(station, state.queue[..., k].sum(-1)) for k, station in enumerate(stations)]
    return state.rate, state.queue, np.stack(opened, axis=-1)


def _station(group: StationGroup, most: int) -> _Station:
    if group.pace is None or group.pace.shape[-1] == 1:
        return _Station(group=group)
    # requests at one copy that the law of a station with several servers reaches
    length = min(most, 2000) + 1
    settled = min(length, group.pace.shape[-1]) + 1  # from there on the weights are a geometric series
    weights = np.log(copy_series(group.pace, group.load, np.ones_like(group.load), settled))
    step = weights[:, -1:] - weights[:, -2:-1]
    further = np.arange(1, max(length - settled, 0) + 1)
    weights = np.concatenate([weights, weights[:, -1:] + step * further], axis=-1)
    counts = np.arange(weights.shape[-1] - 1)
    return _Station(
        group=group,
        gain=(counts + 1) * np.exp(np.diff(weights, axis=-1)),
        log_weight=weights[:, :-1],
    )


def _over(number: Array, of: Array) -> Array:
    """Quotient, 0 where there is nobody."""
    return np.asarray(np.where(of > 0, number / np.where(of > 0, of, 1.0), 0.0))


def _seen(state: _State, deviation: Array) -> Array:
    """Requests at each group that a requester of each class finds there, shape (scenarios, groups, classes)."""
    full = state.full
    share = _over(state.queue, full[..., None])
    less = np.maximum(full[:, :, None] - np.eye(full.shape[-1])[None], 0.0)
    return np.asarray((less[:, :, None, :] * np.maximum(share[..., None] + deviation, 0.0)).sum(1))


def _core(
    state: _State,
    stations: Sequence[_Station],
    deviation: Array,
    *,
    settled: float = 1e-10,
    restart: int = 25,
    mixing: tuple[float, float] = (-20.0, 0.9),
    most: int = 2000,
) -> _State:
    """Numbers at the stations that the arrival theorem gives back, for one population.

    Anderson's mixing of two steps (1965): plain repetition creeps where a station is nearly saturated.
    It starts again every `restart` steps, with half steps from then on, and goes back a share inside `mixing`.
    """
    before, old = np.zeros_like(state.queue), state.queue
    people = np.maximum(state.full.sum(-1), 1.0)[:, None, None]
    change = np.ones_like(people)
    for step in range(most):
        residence = _residence(state, stations, _seen(state, deviation))
        rate = _over(state.full, state.think + residence.sum(-1))
        off = rate[..., None] * residence - state.queue
        change = np.abs(off).max(axis=(1, 2), keepdims=True) / people
        if (change <= settled).all():
            return replace(state, queue=state.queue + off, rate=rate)
        turn = off - before
        size = (turn**2).sum(axis=(1, 2), keepdims=True)
        back = (off * turn).sum(axis=(1, 2), keepdims=True) / np.maximum(size, TINY)
        back = np.clip(back, *mixing) if step % restart else np.zeros_like(back)
        part = np.where(step < restart, 1.0, 0.5)
        mixed = (1 - back) * (state.queue + part * off) + back * (old + part * before)
        old, before = state.queue, off
        state = replace(state, queue=np.maximum(mixed, 0.0), rate=rate)
    raise ConvergenceError("mean value analysis of a closed network", float(change.max()), most)


def _residence(state: _State, stations: Sequence[_Station], seen: Array) -> Array:
    """Time of each class at each group, from what an arrival finds."""
    found = np.empty_like(state.demands)
    for k, station in enumerate(stations):
        group, demand = station.group, state.demands[..., k]
        each = seen[:, k] / group.copies[:, None]
        if group.pace is None:
            found[..., k] = demand
        elif station.gain is None:
            found[..., k] = demand * (1 + each) / (group.pace[:, :1] - group.load[:, None])
        else:
            found[..., k] = demand * _stretch(station, each, k, state)
    return found


def _stretch(station: _Station, each: Array, k: int, state: _State) -> Array:
    """Mean of (n + 1) / pace(n + 1) over what each class finds at a copy, shape (scenarios, classes).

    p(n) is in proportion to f(n) z^n times what the rest of the network weighs with n requesters less:
    the product of 1 / (Z / i + d) over the i that are left, as if each further one slowed the rest by d.
    """
    assert station.gain is not None and station.log_weight is not None
    copies, flow = station.group.copies, np.where(state.demands[..., k] > 0, state.rate, 0.0)
    share = _over(flow, flow.sum(-1, keepdims=True))
    visiting = np.where(state.demands[..., k] > 0, state.full, 0.0).sum(-1)
    here = state.queue[..., k].sum(-1) / copies
    own = state.demands[..., k] / copies[:, None]
    alone = (share * (state.think + state.demands.sum(-1) - own)).sum(-1)
    cycle = _over(visiting, flow.sum(-1))
    elsewhere = np.maximum(visiting - here, 1e-9)
    drag = np.maximum(_over(elsewhere * cycle, visiting) - alone, 0.0) / elsewhere
    weight = station.log_weight + _left_over(alone, drag, visiting, station.log_weight.shape[-1])
    return _tilted(
        weight, station.gain, np.minimum(each, np.maximum(visiting[:, None] - 1, 0.0) * (1 - 1e-9))
    )


def _left_over(alone: Array, drag: Array, visiting: Array, length: int) -> Array:
    """Ln of the weight of the rest with n requesters less, n = 0, 1, ..., shape (scenarios, length)."""
    left = visiting[:, None] - np.arange(1, length)[None]  # others that are elsewhere when the n-th comes
    least = np.maximum(left, 1.0)
    step = -np.log(np.maximum(alone[:, None] / least + drag[:, None], TINY))
    step = np.where(left >= 1, step, -np.inf)
    return np.concatenate([np.zeros((len(alone), 1)), np.cumsum(step, axis=-1)], axis=-1)


def _tilted(weight: Array, gain: Array, means: Array, most: int = 60) -> Array:
    """Mean of `gain` under the law weight(n) z^n whose mean number is given, for every class."""
    counts = np.arange(weight.shape[-1], dtype=np.float64)
    far = 800.0  # logarithms of odds that float64 still holds
    low, high = np.full(means.shape, -far), np.full(means.shape, far)
    tilt = weight[:, :1] - weight[:, 1:2] + np.log(np.maximum(means, TINY))
    tilt = np.clip(tilt, 1 - far, far - 1)
    law = np.empty((*means.shape, counts.size))
    for _ in range(most):
        log = weight[:, None, :] + tilt[..., None] * counts
        law = np.exp(log - log.max(-1, keepdims=True))
        law /= law.sum(-1, keepdims=True)
        mean = law @ counts
        # relative error of a mean at which Newton's method ends
        off = np.abs(mean - means) > 1e-13 * (1 + means)
        if not off.any():
            break
        low, high = np.where(mean < means, tilt, low), np.where(mean < means, high, tilt)
        spread = np.maximum(law @ counts**2 - mean**2, TINY)
        step = tilt + np.clip((means - mean) / spread, -5.0, 5.0)
        step = np.where((step <= low) | (step >= high), (low + high) / 2, step)
        tilt = np.where(off, step, tilt)
    return np.asarray((law * gain[:, None, :]).sum(-1))


def _open_number(station: _Station, closed: Array) -> Array:
    """Mean open requests of a group beside so many closed ones; linear where there is one server."""
    group = station.group
    if group.pace is None or not group.load.any():
        return np.asarray(group.load * group.copies)
    if station.gain is None:
        return np.asarray(group.load / (group.pace[:, -1] - group.load) * (group.copies + closed))
    assert station.log_weight is not None
    means = (closed / group.copies)[:, None]
    return np.asarray(group.load * group.copies * _tilted(station.log_weight, station.gain, means)[:, 0])
