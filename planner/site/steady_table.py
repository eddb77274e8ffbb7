"""Which steady demand a pool with aliases in use is read as, for all intervals at once, from curves of one pool.

`planner.demand.steady` reads an interval by solving the pool some hundred times. Here the curve of each number of
requesters, and that of open arrivals, is solved once a pool and interpolated. It only sorts intervals: the answers
within one sort change smoothly; what is read of an interval that is solved in full is not taken from here.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.demand import Law
from planner.demand.steady import FAR_FROM_SATURATED, POPULATIONS
from planner.errors import PlannerError
from planner.interval import Interval
from planner.results import Array

POINTS: Final = 14  # of a curve that are solved
FINE: Final = 240  # between them
IDLE: Final = (0.05, 60.0)  # idle capacity over load of open arrivals
THINK: Final = (0.02, 60.0)  # times the population
BURSTY: Final = 99
OPEN: Final = 100
KINDS: Final = (*POPULATIONS, OPEN)
UNLIKELY: Final = 1.5  # strain of a curve from which on its reading does not fit
FAR_OFF: Final = 1e6


def sorts(
    rate: Array, service: Interval, queued: Interval, *, volumes: int, aliases: int, law: Law
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Preferred reading of each interval, (intervals,): requesters of a volume, `OPEN` or `BURSTY`.

    Beside it which of `KINDS` may fit at all, (intervals, kinds); all of them where nothing waits.
    """
    work = rate * service.value
    queued = queued.widened(law.model_error * (queued.value + work))
    service = service.widened(law.model_error * service.value)
    gap = law.redrive_time / max(float(np.median(service.value)), 1e-12)
    strains = np.full((len(KINDS), rate.size), np.inf)
    for k, kind in enumerate(KINDS):
        curve = _curve(kind, volumes, aliases, law.inflation, gap)
        if curve is not None:
            strains[k] = _strain(curve, rate, service, queued)
    fits = strains <= 1.0
    opened = fits[-1] & (work / (volumes + aliases) < FAR_FROM_SATURATED)
    first = np.array(KINDS)[np.argmax(fits, axis=0)]
    found = np.where(opened, OPEN, np.where(fits.any(axis=0), first, BURSTY))
    nearest = np.array(KINDS)[np.argmin(strains, axis=0)]
    idle = queued.value <= 0
    possible = (strains < UNLIKELY) | idle
    return np.asarray(np.where((found == BURSTY) & idle, nearest, found), dtype=np.int64), possible.T


def _curve(
    kind: int, volumes: int, aliases: int, inflation: float, gap: float
) -> tuple[Array, Array, Array] | None:
    """Busy service, queue and growth of the service time along the free number, in units of the service time."""
    low, high = IDLE if kind == OPEN else (THINK[0], THINK[1] * kind)
    grid = np.geomspace(low, high, POINTS)
    rows = []
    for free in grid:
        demand: dict[str, list[float]] = (
            {"arrival_rate": [1.0 / ((1.0 + gap) * (1.0 + free))]}
            if kind == OPEN
            else {"population": [float(kind)], "think_time": [float(free)]}
        )
        try:
            steady = queueing.alias_pool(
                aliases,
                volumes=[volumes],
                service_time=1.0,
                inflation=inflation,
                redrive_time=gap,
                **demand,  # type: ignore[arg-type]
            )
        except PlannerError:
            continue
        queue = volumes * float(steady.queue_length[0] - steady.in_gap[0])
        if math.isfinite(queue):
            rows.append(
                (math.log(free), volumes * float(steady.throughput[0]), queue, float(steady.service_time[0]))
            )
    if len(rows) < 3:  # noqa: PLR2004 - no curve
        return None
    logs, busy, queue_, growth = np.array(rows).T
    fine = np.linspace(logs[0], logs[-1], FINE)
    return (
        np.exp(np.interp(fine, logs, np.log(busy))),
        np.exp(np.interp(fine, logs, np.log(np.maximum(queue_, 1e-12)))),
        np.interp(fine, logs, growth),
    )


def _strain(curve: tuple[Array, Array, Array], rate: Array, service: Interval, queued: Interval) -> Array:
    """Strain where those of service and queue cancel, (intervals,)."""
    busy, queue, growth = curve
    alone = busy / rate[:, None]
    of_service = _off(service, alone * growth)
    of_queue = _off(queued, np.broadcast_to(queue, alone.shape))
    total = of_service + of_queue  # both fall with the free number
    at = np.argmax(total <= 0, axis=1)
    never = ~(total <= 0).any(axis=1)
    at = np.where(never, total.shape[1] - 1, np.maximum(at, 1))
    rows = np.arange(rate.size)
    before, after = total[rows, at - 1], total[rows, at]
    part = np.clip(before / np.where(before == after, 1.0, before - after), 0.0, 1.0)
    ends = [(1 - part) * each[rows, at - 1] + part * each[rows, at] for each in (of_service, of_queue)]
    return np.asarray(np.maximum(np.abs(ends[0]), np.abs(ends[1])))


def _off(interval: Interval, guess: Array) -> Array:
    """How far a guess lies off, as `Interval.strain` tells it, (intervals, points)."""
    low, value, high = (np.asarray(end)[:, None] for end in interval)
    half = np.where(guess >= value, high - value, value - low)
    half = np.maximum(half, np.maximum(1e-9 * np.abs(value), 1e-12))
    return np.asarray(np.clip((guess - value) / half, -FAR_OFF, FAR_OFF))
