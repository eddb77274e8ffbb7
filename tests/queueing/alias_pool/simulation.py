"""Event simulation of an alias pool, the judge where no exact chain is small enough; needs numba."""

# ruff: noqa: NPY002, PLR0912, PLR0915 (numba knows the legacy generator only, and compiles one long function best)
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

try:
    from numba import njit
except ImportError:  # the tests that need it skip themselves; collecting this file must not fail

    def njit(function):
        return function


BATCHES = 20
IDLE, SERVES, GAP = 0, 1, 2


@dataclass(frozen=True)
class Simulated:
    """Means over batches and their standard errors, each (mean, error); per class values are per volume."""

    throughput: tuple[np.ndarray, np.ndarray]
    wait_time: tuple[np.ndarray, np.ndarray]
    queue_length: tuple[np.ndarray, np.ndarray]
    tries_rate: tuple[np.ndarray, np.ndarray]
    fails_rate: tuple[np.ndarray, np.ndarray]
    service_time: tuple[np.ndarray, np.ndarray]
    pool_wait_time: tuple[np.ndarray, np.ndarray]
    free_aliases: tuple[np.ndarray, np.ndarray]
    low_water: float
    high_water: float


def simulate(
    aliases,
    *,
    volumes,
    population=None,
    think_time=None,
    arrival_rate=None,
    service_time=1.0,
    scv=1.0,
    inflation=0.0,
    redrive_time=0.0,
    completions=1_000_000,
    requests=0,
    seed=1,
):
    """Run the pool for `completions` I/Os after a tenth of them as warm-up.

    `requests` is the number of alias requests of an interval over which the low and high water marks are taken.
    """
    volumes = np.atleast_1d(np.asarray(volumes, dtype=np.int64))
    classes = volumes.size
    nothing = np.full(classes, np.nan)
    people, think, rate = (
        nothing if value is None else np.broadcast_to(np.asarray(value, dtype=np.float64), (classes,)).copy()
        for value in (population, think_time, arrival_rate)
    )
    group = np.repeat(np.arange(classes), volumes)
    gaps = (redrive_time, redrive_time)
    distribution = service_law(scv)
    sums, marks = _run(
        int(aliases),
        group,
        people,
        think,
        rate,
        np.broadcast_to(np.asarray(service_time, dtype=np.float64), (classes,)).copy(),
        distribution,
        inflation,
        gaps,
        completions,
        requests,
        seed,
    )
    time = sums[:, 0, :1]
    per_volume = sums[:, 1:, :classes] / (time * volumes)[:, None, :]
    rates = {name: per_volume[:, i] for i, name in enumerate(("x", "queue", "tries", "fails", "serving"))}
    pool_wait = (rates["queue"] @ volumes) / (rates["x"] @ volumes)
    free = sums[:, 0, 1] / time[:, 0]
    return Simulated(
        throughput=_estimate(rates["x"]),
        wait_time=_estimate(rates["queue"] / rates["x"]),
        queue_length=_estimate(rates["queue"]),
        tries_rate=_estimate(rates["tries"]),
        fails_rate=_estimate(rates["fails"]),
        service_time=_estimate(rates["serving"] / rates["x"]),
        pool_wait_time=_estimate(pool_wait),
        free_aliases=_estimate(free),
        low_water=marks[0],
        high_water=marks[1],
    )


def service_law(scv):
    """Two-moment distribution of mean 1 as (kind, probability, rate or phases): see the glossary entry of scv."""
    if scv == 0.0:
        return (0, 1.0, 0.0, 0.0)
    if scv < 1.0:
        phases = int(np.ceil(1.0 / scv - 1e-12))
        short = (
            (phases * scv - np.sqrt(phases * (1.0 + scv) - phases**2 * scv)) / (1.0 + scv)
            if phases > 1
            else 0.0
        )
        short = max(short, 0.0)
        return (1, short, float(phases), phases - short)
    if scv == 1.0:
        return (1, 0.0, 1.0, 1.0)
    first = 0.5 * (1.0 + np.sqrt((scv - 1.0) / (scv + 1.0)))
    return (2, first, 2.0 * first, 2.0 * (1.0 - first))


def _estimate(values):
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(values.shape[0])


@njit
def _draw(distribution):
    kind, p, a, b = distribution
    if kind == 0:
        return 1.0
    if kind == 1:
        phases = int(a)
        if p > 0.0 and np.random.random() < p:
            phases -= 1
        work = 0.0
        for _ in range(phases):
            work -= np.log(1.0 - np.random.random())
        return work / b
    return np.random.exponential() / (a if np.random.random() < p else b)


@njit
def _run(
    aliases, group, people, think, rate, mean, distribution, inflation, gaps, completions, requests, seed
):
    np.random.seed(seed)
    bases, classes = group.size, people.size
    devices = bases + aliases
    end = np.full(devices, np.inf)
    state = np.zeros(devices, dtype=np.int64)
    volume = np.arange(devices)
    serving = np.zeros(bases, dtype=np.int64)
    present = np.zeros(bases, dtype=np.int64)
    queued = np.zeros(bases, dtype=np.int64)
    free, waiting = aliases, 0
    sums = np.zeros((BATCHES, 6, max(classes, 2)))
    in_queue, in_service = np.zeros(classes), np.zeros(classes)  # queue counts I/Os in their gap
    arrivals = np.zeros(bases)
    for v in range(bases):
        arrivals[v] = rate[group[v]] if np.isnan(people[group[v]]) else people[group[v]] / think[group[v]]
    total_rate = arrivals.sum()
    low, high, seen, intervals, low_sum, high_sum = aliases, 0, 0, 0, 0.0, 0.0
    now, done, batch, warm = 0.0, 0, -1, completions // 10
    size = completions // BATCHES
    while batch < BATCHES:
        first = np.argmin(end)
        next_arrival = now + np.random.exponential() / total_rate if total_rate > 0.0 else np.inf
        moment = min(next_arrival, end[first])
        if batch >= 0:
            step = moment - now
            sums[batch, 0, 0] += step
            sums[batch, 0, 1] += step * free
            for k in range(classes):
                sums[batch, 2, k] += step * in_queue[k]
                sums[batch, 5, k] += step * in_service[k]
        now = moment
        if next_arrival <= end[first]:
            point = np.random.random() * total_rate
            v = 0
            while v < bases - 1 and point >= arrivals[v]:
                point -= arrivals[v]
                v += 1
            k = group[v]
            present[v] += 1
            device = -1
            if state[v] == IDLE:
                device = v
            else:
                seen += 1
                low, high = min(low, free), max(high, free)
                if batch >= 0:
                    sums[batch, 3, k] += 1.0
                    if free == 0:
                        sums[batch, 4, k] += 1.0
                if free > 0:
                    free -= 1
                    for a in range(bases, devices):
                        if state[a] == IDLE:
                            device = a
                            break
                if requests > 0 and seen == requests:
                    if batch >= 0:
                        low_sum, high_sum, intervals = low_sum + low, high_sum + high, intervals + 1
                    low, high, seen = aliases, 0, 0
            if device < 0:
                queued[v] += 1
                waiting += 1
                in_queue[k] += 1.0
            else:
                volume[device], state[device] = v, SERVES
                end[device] = now + mean[k] * _draw(distribution) * (1.0 + inflation * max(serving[v], 0))
                _grow(v, 1, serving, volume, state, end, now, inflation, device)
                in_service[k] += 1.0
        else:
            v = volume[first]
            k = group[v]
            if state[first] == GAP:
                state[first] = SERVES
                end[first] = now + mean[k] * _draw(distribution) * (1.0 + inflation * serving[v])
                _grow(v, 1, serving, volume, state, end, now, inflation, first)
                in_queue[k] -= 1.0
                in_service[k] += 1.0
            else:
                done += 1
                present[v] -= 1
                in_service[k] -= 1.0
                state[first], end[first] = IDLE, np.inf
                _grow(v, -1, serving, volume, state, end, now, inflation, first)
                if batch >= 0:
                    sums[batch, 1, k] += 1.0
                next_volume = -1
                if first < bases:
                    if queued[v] > 0:
                        next_volume = v
                elif waiting > 0:
                    point = np.random.random() * waiting
                    next_volume = 0
                    while next_volume < bases - 1 and point >= queued[next_volume]:
                        point -= queued[next_volume]
                        next_volume += 1
                else:
                    free += 1
                if next_volume >= 0:
                    w = next_volume
                    queued[w] -= 1
                    waiting -= 1
                    volume[first] = w
                    gap = gaps[0] if first < bases else gaps[1]
                    if gap > 0.0:
                        state[first] = GAP
                        end[first] = now + gap * np.random.exponential()
                    else:
                        state[first] = SERVES
                        end[first] = now + mean[group[w]] * _draw(distribution) * (
                            1.0 + inflation * serving[w]
                        )
                        _grow(w, 1, serving, volume, state, end, now, inflation, first)
                        in_queue[group[w]] -= 1.0
                        in_service[group[w]] += 1.0
                if batch < 0 and done == warm:
                    batch, done = 0, 0
                elif batch >= 0 and done == size:
                    batch, done = batch + 1, 0
        if not np.isnan(people[k]):
            total_rate -= arrivals[v]
            arrivals[v] = (people[k] - present[v]) / think[k]
            total_rate += arrivals[v]
    marks = np.array([low_sum / max(intervals, 1), high_sum / max(intervals, 1)])
    return sums, marks


@njit
def _grow(v, change, serving, volume, state, end, now, inflation, but):
    """One more or one less in service at volume v: the others there slow down or speed up."""
    before = 1.0 + inflation * max(serving[v] - 1, 0)
    serving[v] += change
    if inflation == 0.0:
        return
    after = 1.0 + inflation * max(serving[v] - 1, 0)
    for device in range(end.size):
        if device != but and volume[device] == v and state[device] == SERVES:
            end[device] = now + (end[device] - now) * after / before
