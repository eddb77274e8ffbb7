"""Queueing laws turned around: the free number of a demand at which service and queue strain their digits alike.

For a population the free number is the think time in units of the service time, for open arrivals the idle capacity
over the load. Many measurements are turned around at once, one row each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.devices import VolumeClass
from planner.errors import ConvergenceError
from planner.measurements import Run
from planner.results import Array

if TYPE_CHECKING:
    from planner.demand.law import Law

Indices = NDArray[np.int64]

PASSES: Final = 2
APART: Final = 0.05  # between the passes, in the logarithm of the free number
FAR_OFF: Final = 1e6  # strain beyond which it is all the same


def shared(measured: Run) -> bool:
    """Tell whether several volumes shared aliases: they are then one system.

    Parameters
    ----------
    measured : Run
        Equal volumes.

    Returns
    -------
    bool
        True where they did.
    """
    return measured.bases > 1 and measured.aliases > 0


class Targets:
    """Queue, service and rate of several measurements as columns, one row a measurement.

    The law's own error counts where it had to be extrapolated to aliases.

    Parameters
    ----------
    measurements : sequence of Run
        Those of volumes without shared aliases, or a single one.
    law : Law
        Inflation and redrive gap.

    Attributes
    ----------
    queued, service : ndarray
        Low end, value and high end, shape (measurements, 3) [1], [s].
    rate, volumes, servers : ndarray
        Of each measurement, shape (measurements,) [1/s], [1], [1].
    """

    def __init__(self, measurements: Sequence[Run], law: Law) -> None:
        self.measurements = measurements
        self.law = law
        queues, services = [], []
        for measured in measurements:
            queued, service = measured.total_queue, measured.mean_service
            if measured.aliases:
                present = queued.value + measured.total_rate.value * service.value
                queued = queued.widened(law.model_error * present)
                service = service.widened(law.model_error * service.value)
            queues.append(tuple(queued))
            services.append(tuple(service))
        self.queued, self.service = np.array(queues), np.array(services)
        self.rate = np.array([measured.total_rate.value for measured in measurements])
        self.volumes = np.array([measured.bases for measured in measurements], dtype=float)
        self.servers = np.array([1.0 + measured.aliases for measured in measurements])

    def strains(
        self, log_free: Array, candidates: Array, gap: Array, rows: Indices, *, closed: bool
    ) -> tuple[Array, Array, Array]:
        """Tell how far a guess lies off.

        Parameters
        ----------
        log_free : ndarray
            Logarithm of the free number, in units of the service time.
        candidates : ndarray
            Populations; anything for open arrivals.
        gap : ndarray
            Redrive gap in units of the service time.
        rows : ndarray of int
            Run of each element.
        closed : bool
            Whether the demand is closed.

        Returns
        -------
        tuple of ndarray
            Service time of a lone I/O [s], strain of the service time, strain of the queue.
        """
        busy, queue, growth = self._predict(np.exp(log_free), candidates, gap, rows, closed=closed)
        times = busy / self.rate[rows]
        return times, _strain(self.service[rows], times * growth), _strain(self.queued[rows], queue)

    def _predict(
        self, free: Array, populations: Array, gap: Array, rows: Indices, *, closed: bool
    ) -> tuple[Array, Array, Array]:
        """Ask the queueing law in units of the service time: busy service, queue, growth of the service time."""
        servers, n, inflation = self.servers[rows], self.volumes[rows], self.law.inflation
        if shared(self.measurements[0]):
            largest = np.ones_like(free) if closed else 1 / (1 + gap)
            asked = [
                {"population": k, "think_time": z, "gap": g} if closed else {"arrival_rate": top / (1 + z), "gap": g}
                for k, z, g, top in zip(populations.flat, free.flat, gap.flat, largest.flat, strict=True)
            ]  # fmt: skip
            answers = np.array([_pool(self.measurements[0], self.law, **demand) for demand in asked])
            busy, queue, growth = answers.T.reshape(3, *free.shape)
            return busy, queue, growth
        if closed:
            steady = queueing.finite_source(
                populations, free, 1.0, servers, inflation=inflation, redrive_time=gap
            )
        else:
            largest = _saturation(servers, inflation, gap)
            steady = queueing.mmc(largest / (1 + free), 1.0, servers, inflation=inflation, redrive_time=gap)
        return n * steady.throughput, n * (steady.queue_length - steady.in_gap), steady.service_time


def _strain(intervals: Array, guess: Array) -> Array:
    """How far guesses lie off, as `Interval.strain` tells it, for intervals on the last axis."""
    low, value, high = np.moveaxis(intervals, -1, 0)
    half = np.where(guess >= value, high - value, value - low)
    strain: Array = (guess - value) / np.maximum(half, np.maximum(1e-9 * np.abs(value), 1e-12))
    return strain


def balance(
    targets: Targets, candidates: Array, limits: tuple[Array, Array], *, closed: bool
) -> tuple[Array, Array, Array]:
    """Find, for each candidate, the free number where the strains of queue and service cancel; both fall with it.

    Parameters
    ----------
    targets : Targets
        What was measured.
    candidates : ndarray
        Populations; one element of anything for open arrivals.
    limits : tuple of ndarray
        Ends of the search, shape (measurements, candidates).
    closed : bool
        Whether the demand is closed.

    Returns
    -------
    tuple of ndarray
        The free number, the service time of a lone I/O [s] and the larger strain, shape (measurements, candidates).
        A candidate that cannot balance them stays at the nearer limit.
    """
    shape = limits[0].shape
    rows = np.repeat(np.arange(shape[0]), shape[1]).reshape(shape)
    which = np.broadcast_to(candidates, shape)
    alone = targets.service[rows, 1]
    left, right = (np.log(end) for end in limits)
    near, free, strain = (left, right), alone, alone
    for _ in range(PASSES):  # the gap is a time: in units of S0 it is known only once S0 is
        gap = targets.law.redrive_time / alone
        free, found = _root(targets, (left, right), near, (which, gap, rows), closed=closed)
        near = (
            np.where(found, np.maximum(free - APART, left), left),
            np.where(found, np.minimum(free + APART, right), right),
        )
        alone, of_service, of_queue = targets.strains(free, which, gap, rows, closed=closed)
        strain = np.maximum(np.abs(of_service), np.abs(of_queue))
    return np.exp(free), alone, strain


def _root(
    targets: Targets, ends: tuple[Array, Array], near: tuple[Array, Array],
    arguments: tuple[Array, Array, Indices], *, closed: bool,
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """Logarithm of the free number where both strains add up to zero, and whether there is one; else the nearer limit.

    It is looked for between `near`, and where it is not there between both ends.
    """
    from scipy.optimize import elementwise

    def balance(log_free: Array, which: Array, gaps: Array, rows: Indices) -> Array:
        _, of_service, of_queue = targets.strains(log_free, which, gaps, rows, closed=closed)
        total: Array = np.clip(of_service + of_queue, -FAR_OFF, FAR_OFF)
        return total

    root = elementwise.find_root(balance, near, args=arguments, tolerances={"xatol": 1e-9})
    free, found = np.array(root.x), np.array(root.success)
    missed = ~found
    if missed.any():
        which, gaps, rows = arguments
        rest = which[missed], gaps[missed], rows[missed]
        limits = left, right = ends[0][missed], ends[1][missed]
        if (near[0][missed] > left).any() or (near[1][missed] < right).any():
            free[missed], found[missed] = _root(targets, limits, limits, rest, closed=closed)
        else:
            free[missed] = np.where(balance(left, *rest) > 0, right, left)
    return free, found


def _saturation(servers: Array, inflation: float, gap: Array) -> Array:
    """Largest open load of one volume with its own aliases."""
    return queueing.mmc(1e9, 1.0, servers, inflation=inflation, redrive_time=gap).throughput


def _pool(measured: Run, law: Law, *, gap: float, **demand: float) -> tuple[float, float, float]:
    """Busy service, queue and service growth of a pool in units of the service time; saturation is infinite."""
    nan = math.nan
    part = VolumeClass(volumes=measured.bases, **{k: float(v) for k, v in demand.items()})
    try:
        steady = queueing.alias_pool(
            measured.aliases, volumes=[part.volumes], population=[part.population], think_time=[part.think_time],
            arrival_rate=[part.arrival_rate], service_time=1.0, inflation=law.inflation, redrive_time=gap,
        )  # fmt: skip
    except ConvergenceError:
        return nan, math.inf, nan
    n = part.volumes
    return (
        float(n * steady.throughput[0]),
        float(n * (steady.queue_length[0] - steady.in_gap[0])),
        float(steady.service_time[0]),
    )
