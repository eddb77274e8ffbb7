"""Event simulation of an alias pool with exponential times that cuts supply counters at fixed intervals; needs numba.

Beside the simulation that judges `alias_pool` this one keeps counts instead of devices, which exponential times allow,
and so runs a day of a pool in about a second.
"""

# ruff: noqa: NPY002, PLR0912, PLR0915 - one loop over events, with the generator that numba compiles
from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np


@dataclass(frozen=True)
class Counters:
    """Per interval: tries, fails, fewest and most free aliases that a try found (`aliases` and 0 without tries)."""

    tries: np.ndarray
    fails: np.ndarray
    fewest: np.ndarray
    most: np.ndarray


def simulate(
    aliases, *, volumes, population=np.nan, think_time=np.nan, arrival_rate=np.nan, service_time=1.0, inflation=0.0,
    intervals, length, seed, profile=None,
):  # fmt: skip
    """Run the pool; `profile` scales the demand of each interval."""
    volumes = np.atleast_1d(np.asarray(volumes, dtype=np.int64))
    people, think, rate = (
        np.repeat(np.broadcast_to(np.asarray(value, dtype=float), volumes.shape), volumes)
        for value in (population, think_time, arrival_rate)
    )
    people = np.where(np.isnan(people), -1.0, people)
    demand = np.where(people < 0, rate, 1.0 / think)
    scale = np.ones(intervals) if profile is None else np.asarray(profile, dtype=float)
    return Counters(
        *_run(int(aliases), people, demand, 1.0 / service_time, inflation, intervals, length, scale, seed)
    )


@numba.njit(cache=True)
def _run(aliases, people, demand, end_rate, inflation, intervals, length, scale, seed):
    np.random.seed(seed)
    bases = people.size
    busy, held, queued = np.zeros(bases), np.zeros(bases), np.zeros(bases)
    arrive = np.empty(bases)
    for v in range(bases):
        arrive[v] = demand[v] * scale[0] * (people[v] if people[v] >= 0 else 1.0)
    leave = np.zeros(bases)
    arrive_sum, leave_sum = arrive.sum(), 0.0
    free, waiting = aliases, 0
    out = np.zeros((4, intervals), dtype=np.int64)
    out[2] = aliases
    warm, now, steps = 200.0 / end_rate, 0.0, 0
    interval = -1
    cut = warm
    while True:
        now += np.random.exponential() / (arrive_sum + leave_sum)
        while now >= cut:
            interval += 1
            if interval == intervals:
                return out[0], out[1], out[2], out[3]
            cut += length
            if scale[interval] != scale[max(interval - 1, 0)]:
                arrive *= scale[interval] / scale[max(interval - 1, 0)]
                arrive_sum = arrive.sum()
        point = np.random.random() * (arrive_sum + leave_sum)
        if point < arrive_sum:
            v = 0
            while v < bases - 1 and point >= arrive[v]:
                point -= arrive[v]
                v += 1
            if busy[v] == 0.0:
                busy[v] = 1.0
            else:
                if interval >= 0:
                    out[0, interval] += 1
                    out[2, interval] = min(out[2, interval], free)
                    out[3, interval] = max(out[3, interval], free)
                    if free == 0:
                        out[1, interval] += 1
                if free > 0:
                    free -= 1
                    held[v] += 1.0
                else:
                    queued[v] += 1.0
                    waiting += 1
            touched = v
        else:
            point -= arrive_sum
            v = 0
            while v < bases - 1 and point >= leave[v]:
                point -= leave[v]
                v += 1
            touched = v
            if np.random.random() * (busy[v] + held[v]) < busy[v]:
                if queued[v] > 0.0:
                    queued[v] -= 1.0
                    waiting -= 1
                else:
                    busy[v] = 0.0
            else:
                held[v] -= 1.0
                if waiting > 0:
                    point = np.random.random() * waiting
                    w = 0
                    while w < bases - 1 and point >= queued[w]:
                        point -= queued[w]
                        w += 1
                    queued[w] -= 1.0
                    waiting -= 1
                    held[w] += 1.0
                    new = held[w] + busy[w]
                    rate = end_rate * new / (1.0 + inflation * max(new - 1.0, 0.0))
                    leave_sum += rate - leave[w]
                    leave[w] = rate
                else:
                    free += 1
        v = touched
        serving = held[v] + busy[v]
        rate = end_rate * serving / (1.0 + inflation * max(serving - 1.0, 0.0))
        leave_sum += rate - leave[v]
        leave[v] = rate
        if people[v] >= 0:
            thinking = people[v] - serving - queued[v]
            rate = demand[v] * scale[max(interval, 0)] * thinking
            arrive_sum += rate - arrive[v]
            arrive[v] = rate
        steps += 1
        if steps % 100_000 == 0:  # sums of differences drift
            arrive_sum, leave_sum = arrive.sum(), leave.sum()
