"""Closed networks too large for the exact solution: the Linearizer, with a distribution of requests at a station."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing._product_form import StationGroup, log_series
from planner.queueing.checks import TINY
from planner.results import Array

# Estimates of how the shares change with one requester less: Chandy and Neuse (1982) stop after 3; 8 leave about 1e-4
# of the distance to the limit (tests/queueing/test_multiclass.py).
LEVELS: Final = 8
NOTHING: Final = 1e-18  # negligible probability
REACH: Final = 2000  # most requests at one copy in the distribution of a station with several servers


@dataclass(slots=True, kw_only=True)
class _Station:
    """One group; `gain` (scenarios, n) is (n + 1) f(n + 1) / f(n), `log_weight` ln f(n); both None if simple.

    `tilt` (scenarios, classes) and `end`, its number of n, are where the next search for a given mean starts.
    """

    group: StationGroup
    gain: Array | None = None
    log_weight: Array | None = None
    tilt: Array | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """State of an iteration: numbers (scenarios, classes, groups) and throughput (scenarios, classes)."""

    full: Array
    think: Array
    demands: Array
    queue: Array
    rate: Array


def solve(
    full: Array, think: Array, groups: Sequence[StationGroup],
    near: tuple[Array, Array, Array] | None = None, starts: dict[tuple[int, int], _State] | None = None,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Throughput (scenarios, classes), numbers (.., groups), open numbers (scenarios, groups), changes of the shares.

    `near` has throughput, numbers and changes of a similar network; its changes are kept. `starts` keeps the result of
    every step: its initial value in the next network. Chandy and Neuse (1982): the shares of a class at the stations
    change by the same amount when one requester leaves, at any population. A station with several servers or open
    requests is, to an arrival, a birth-death process with births that slow down as the rest of the network empties.
    """
    stations = [_station(group, full) for group in groups]
    demands = np.stack([group.demand for group in groups], axis=-1)
    classes = full.shape[-1]
    rate = full / np.maximum(think + demands.sum(-1), TINY)
    first = (rate, rate[..., None] * demands, np.zeros((*demands.shape, classes)))
    rate, queue, deviation = near or first
    state = _State(full=full, think=think, demands=demands, rate=rate, queue=queue)
    kept = {} if starts is None else starts

    def step(level: int, gone: int, first: _State) -> _State:
        known = kept.get((level, gone)) or kept.get((level - 1, gone)) or first
        found = _core(replace(first, rate=known.rate, queue=known.queue), stations, deviation)
        kept[level, gone] = found
        return found

    state = step(-1, classes, state)
    for level in range(0 if near else LEVELS):
        share = _over(state.queue, full[..., None])
        for s in range(classes):
            less = full.copy()
            less[:, s] = np.maximum(less[:, s] - 1, 0)
            part = _over(less, full)
            fewer = replace(state, full=less, queue=state.queue * part[..., None], rate=state.rate * part)
            found = _over(step(level, s, fewer).queue, less[..., None]) - share
            deviation[..., s] += 0.5 * (found - deviation[..., s])  # full steps may oscillate
        state = step(level, classes, state)
    opened = [_open_number(station, state.queue[..., k].sum(-1)) for k, station in enumerate(stations)]
    return state.rate, state.queue, np.stack(opened, axis=-1), deviation


def _station(group: StationGroup, full: Array) -> _Station:
    if group.service_rates is None or group.service_rates.shape[-1] == 1:
        return _Station(group=group)
    visiting = np.where((group.demand > 0).any(axis=0), full, 0.0).sum(-1)
    length = min(int(visiting.max()), REACH) + 1
    # above this n the weights are a geometric series
    settled = min(length, group.service_rates.shape[-1]) + 1
    weights = log_series(group.service_rates, group.load, settled)
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
    """Quotient, 0 where the divisor is 0."""
    return np.asarray(np.where(of > 0, number / np.where(of > 0, of, 1.0), 0.0))


def _seen(state: _State, deviation: Array) -> Array:
    """Requests that an arrival of each class finds at each group, shape (scenarios, groups, classes)."""
    full = state.full
    share = _over(state.queue, full[..., None])
    less = np.maximum(full[:, :, None] - np.eye(full.shape[-1])[None], 0.0)
    return np.asarray((less[:, :, None, :] * np.maximum(share[..., None] + deviation, 0.0)).sum(1))


def _core(
    state: _State,
    stations: Sequence[_Station],
    deviation: Array,
    *,
    settled: float = 1e-11,
    restart: int = 25,
    mixing: tuple[float, float] = (-20.0, 0.9),
    most: int = 2000,
) -> _State:
    """Fixed point of the arrival theorem: numbers at the stations, for one population.

    Anderson's mixing of two steps (1965), since plain iteration is slow where a station is nearly saturated.
    It restarts every `restart` steps, with half steps from then on; the mixing factor is limited to `mixing`.
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
    """Residence time of each class at each group, from the requests that an arrival finds."""
    found = np.empty_like(state.demands)
    for k, station in enumerate(stations):
        group, demand = station.group, state.demands[..., k]
        each = seen[:, k] / group.copies[:, None]
        if group.service_rates is None:
            found[..., k] = demand
        elif station.gain is None:
            found[..., k] = demand * (1 + each) / (group.service_rates[:, :1] - group.load[:, None])
        else:
            comes = (demand > 0).any(axis=0)
            found[..., k] = 0.0
            if not comes.any():  # only open requests come here
                continue
            found[:, comes, k] = demand[:, comes] * _stretch(station, each[:, comes], k, state)
    return found


def _stretch(station: _Station, each: Array, k: int, state: _State) -> Array:
    """Mean of (n + 1) / rate(n + 1) over the n that each class finds at a copy, shape (scenarios, classes).

    p(n) is proportional to f(n) z^n times the weight of the rest of the network with n requesters less:
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
    means = np.minimum(each, np.maximum(visiting[:, None] - 1, 0.0) * (1 - 1e-9))
    found, shortest = np.asarray(means), max(station.end or 100, int(1.1 * means.max()) + 2)
    for end in (shortest, station.gain.shape[-1]):
        log_weight, gain = station.log_weight[:, :end], station.gain[:, :end]
        weight = log_weight + _left_over(alone, drag, visiting, log_weight.shape[-1])
        found, distribution, tilt = _tilted(weight, gain, means, tilt=station.tilt)
        held = np.flatnonzero(distribution.max(axis=(0, 1)) > NOTHING)[-1]
        if end >= station.gain.shape[-1] or held < end - 1:
            station.tilt, station.end = tilt, 2 + int(held * 1.1)
            break
    return found


def _left_over(alone: Array, drag: Array, visiting: Array, length: int) -> Array:
    """Ln of the weight of the rest with n requesters less, n = 0, 1, ..., shape (scenarios, length)."""
    left = visiting[:, None] - np.arange(1, length)[None]  # others elsewhere when the n-th arrives
    least = np.maximum(left, 1.0)
    step = -np.log(np.maximum(alone[:, None] / least + drag[:, None], TINY))
    step = np.where(left >= 1, step, -np.inf)
    return np.concatenate([np.zeros((len(alone), 1)), np.cumsum(step, axis=-1)], axis=-1)


def _tilted(
    weight: Array, gain: Array, means: Array, most: int = 60, tilt: Array | None = None
) -> tuple[Array, Array, Array]:
    """Mean of `gain` under weight(n) z^n with given `means`; that distribution; ln z, searched from `tilt`.

    For a mean too large for `REACH`, all servers are busy and the gain is extrapolated in proportion.
    """
    counts = np.arange(weight.shape[-1], dtype=np.float64)
    asked, means = means, np.minimum(means, 0.9 * REACH)
    moments = np.stack([counts**0, counts, counts**2], axis=-1)
    far = 800.0  # largest |ln z|
    low, high = np.full(means.shape, -far), np.full(means.shape, far)
    if tilt is None:
        tilt = weight[:, :1] - weight[:, 1:2] + np.log(np.maximum(means, TINY))
        tilt = np.clip(tilt, 1 - far, far - 1)
    distribution, whole, mean, spread = weight[:, None], means, means, means
    for _ in range(most):
        log = weight[:, None, :] + tilt[..., None] * counts
        distribution = np.exp(log - log.max(-1, keepdims=True))
        whole, mean, square = np.moveaxis(distribution @ moments, -1, 0)
        mean = mean / whole
        spread = np.maximum(square / whole - mean**2, TINY)
        # Newton's method ends here; its last step is applied to the mean of `gain` below
        off = np.abs(mean - means) > 1e-8 * np.minimum(1 + means, spread)
        if not off.any():
            break
        low, high = np.where(mean < means, tilt, low), np.where(mean < means, high, tilt)
        step = tilt + np.clip(means - mean, -5 * spread, 5 * spread) / spread
        step = np.where((step <= low) | (step >= high), (low + high) / 2, step)
        tilt = np.where(off, step, tilt)
    found, slope = np.moveaxis(distribution @ np.stack([gain, gain * counts], axis=-1), -1, 0) / whole
    slope = (slope - found * mean) / spread
    return np.asarray((found + slope * (means - mean)) * (1 + asked) / (1 + means)), distribution, tilt


def _open_number(station: _Station, closed: Array) -> Array:
    """Mean open requests of a group, given its closed ones; linear for one server."""
    group = station.group
    if group.service_rates is None or not group.load.any():
        return np.asarray(group.load * group.copies)
    if station.gain is None:
        return np.asarray(group.load / (group.service_rates[:, -1] - group.load) * (group.copies + closed))
    assert station.log_weight is not None
    means = (closed / group.copies)[:, None]
    return np.asarray(group.load * group.copies * _tilted(station.log_weight, station.gain, means)[0][:, 0])
