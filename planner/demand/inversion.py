"""Queueing laws turned around: the free number of a demand at which service and queue strain their digits alike.

For a population the free number is the think time in units of the service time, for open arrivals the idle capacity
over the load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.demand.law import Law
from planner.demand.rowwise import on_edge
from planner.errors import ConvergenceError
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array

PASSES: Final = 2
APART: Final = 0.05  # between the passes, in the logarithm of the free number
FAR_OFF: Final = 1e6  # strain beyond which it is all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class InversionTarget:
    """A measurement of equal volumes as the law is asked for it: its own error counts where aliases are at work."""

    run: Run
    law: Law
    queued: Interval
    service: Interval

    @classmethod
    def of(cls, run: Run, law: Law) -> Self:
        """Widen what was measured by the error of the law."""
        queued, service = run.total_queue, run.mean_service
        if run.aliases:
            queued = queued.widened(law.model_error * (queued.value + run.total_rate.value * service.value))
            service = service.widened(law.model_error * service.value)
        return cls(run=run, law=law, queued=queued, service=service)

    @property
    def rate(self) -> float:
        """Of all volumes [1/s]."""
        return float(self.run.total_rate.value)

    def strains(
        self, log_free: Array, candidates: Array, gap: Array, *, closed: bool
    ) -> tuple[Array, Array, Array]:
        """Service time of a lone I/O [s] and strains of service and queue at a guess, (candidates,).

        The gap is in units of the service time; candidates are populations, or anything for open arrivals.
        """
        busy, queue, growth = self._predict(np.exp(log_free), candidates, gap, closed=closed)
        times = busy / self.rate
        return times, _strain(self.service, times * growth), _strain(self.queued, queue)

    def _predict(
        self, free: Array, populations: Array, gap: Array, *, closed: bool
    ) -> tuple[Array, Array, Array]:
        """Ask the queueing law in units of the service time: busy service, queue, growth of the service time."""
        run, inflation = self.run, self.law.inflation
        if run.bases > 1 and run.aliases > 0:  # volumes that share aliases are one system
            largest = np.ones_like(free) if closed else 1 / (1 + gap)
            each = zip(populations.flat, free.flat, gap.flat, largest.flat, strict=True)
            answers = np.array([
                _pool(run, self.law, gap=g, population=k, think_time=z) if closed
                else _pool(run, self.law, gap=g, arrival_rate=top / (1 + z))
                for k, z, g, top in each
            ])  # fmt: skip
            busy, queue, growth = answers.T.reshape(3, *free.shape)
            return busy, queue, growth
        devices = 1.0 + run.aliases
        if closed:
            steady = queueing.finite_source(
                populations, free, 1.0, devices, inflation=inflation, redrive_time=gap
            )
        else:
            largest = queueing.mmc(1e9, 1.0, devices, inflation=inflation, redrive_time=gap).throughput
            steady = queueing.mmc(largest / (1 + free), 1.0, devices, inflation=inflation, redrive_time=gap)
        n = run.bases
        return n * steady.throughput, n * (steady.queue_length - steady.in_gap), steady.service_time


def _strain(known: Interval, guess: Array) -> Array:
    """How far guesses lie off, in halves of what the digits leave open."""
    half = np.where(guess >= known.value, known.high - known.value, known.value - known.low)
    strain: Array = (guess - known.value) / np.maximum(half, np.maximum(1e-9 * np.abs(known.value), 1e-12))
    return strain


def balance(
    target: InversionTarget, candidates: Array, limits: tuple[Array, Array], *, closed: bool
) -> tuple[Array, Array, Array]:
    """Find, for each candidate, the free number where the strains of queue and service cancel; both fall with it.

    `candidates` are populations, one element of anything for open arrivals; `limits` the ends of the search. Returns
    the free number, the service time of a lone I/O [s] and the larger strain, (candidates,). A candidate that cannot
    balance them stays at the nearer limit.
    """
    alone = np.full(candidates.shape, target.service.value)
    left, right = (np.log(end) for end in limits)
    near, free, strain = (left, right), alone, alone
    for _ in range(PASSES):  # the gap is a time: in units of S0 it is known only once S0 is
        gap = target.law.redrive_time / alone
        free, found = _root(target, (left, right), near, (candidates, gap), closed=closed)
        near = (
            np.where(found, np.maximum(free - APART, left), left),
            np.where(found, np.minimum(free + APART, right), right),
        )
        alone, of_service, of_queue = target.strains(free, candidates, gap, closed=closed)
        strain = np.maximum(np.abs(of_service), np.abs(of_queue))
    return np.exp(free), alone, on_edge(strain)


def _root(
    target: InversionTarget, ends: tuple[Array, Array], near: tuple[Array, Array], arguments: tuple[Array, Array], *,
    closed: bool,
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """Logarithm of the free number where both strains add up to zero, and whether there is one; else the nearer limit.

    It is looked for between `near`, and where it is not there between both ends.
    """
    from scipy.optimize import elementwise

    def balance(log_free: Array, which: Array, gaps: Array) -> Array:
        _, of_service, of_queue = target.strains(log_free, which, gaps, closed=closed)
        total: Array = np.clip(of_service + of_queue, -FAR_OFF, FAR_OFF)
        return total

    root = elementwise.find_root(balance, near, args=arguments, tolerances={"xatol": 1e-9})
    free, found = np.array(root.x), np.array(root.success)
    missed = ~found
    if missed.any():
        which, gaps = arguments
        rest = which[missed], gaps[missed]
        limits = left, right = ends[0][missed], ends[1][missed]
        if (near[0][missed] > left).any() or (near[1][missed] < right).any():
            free[missed], found[missed] = _root(target, limits, limits, rest, closed=closed)
        else:
            free[missed] = np.where(balance(left, *rest) > 0, right, left)
    return free, found


def _pool(
    measured: Run, law: Law, *, gap: float, population: float = math.nan,
    think_time: float = math.nan, arrival_rate: float = math.nan,
) -> tuple[float, float, float]:  # fmt: skip
    """Busy service, queue and service growth of a pool in units of the service time; saturation is infinite."""
    n = measured.bases
    try:
        steady = queueing.alias_pool(
            measured.aliases, volumes=[n], population=[population], think_time=[think_time],
            arrival_rate=[arrival_rate], service_time=1.0, inflation=law.inflation,
            redrive_time=gap,
        )  # fmt: skip
    except ConvergenceError:
        return math.nan, math.inf, math.nan
    return (
        float(n * steady.throughput[0]),
        float(n * (steady.queue_length[0] - steady.in_gap[0])),
        float(steady.service_time[0]),
    )
