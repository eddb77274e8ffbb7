"""From a measurement to the demand behind it: closed with so many requesters, or open; every reading that fits.

Rate X, service S and queue Q of a device are tied by the queueing law. For a population N the law leaves one
free number, the think time in units of the service time, z = Z / S0: it fixes X S0 and Q, hence S0 = (X S0) / X.
A reading of N is the z that strains the printed digits of S and Q least; it is kept if both lie inside what
the digits leave open. An open reading has the utilization as its free number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.demand.inversion import InversionTarget, balance
from planner.demand.law import Law
from planner.devices import Pool, VolumeClass
from planner.measurements import Run
from planner.units import MILLISECOND

POPULATIONS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32)
FAR_FROM_SATURATED: Final = 0.7  # utilization of a device below which an open reading is preferred
PASSES: Final = 2  # to the service time of a lone I/O
LEAST_THINK: Final = 1e-3  # think time over service time
IDLE_RANGE: Final = (1e-4, 1e6)  # idle capacity over load


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One demand of the volumes of a pool that a measurement speaks for.

    Attributes
    ----------
    pool : Pool
        The volumes and what they are asked for.
    strain : float
        How far the printed digits are strained; 1 is the limit of what they leave open.
    """

    pool: Pool
    strain: float = 0.0

    @property
    def fits(self) -> bool:
        """Whether the reading lies inside the rounding."""
        return self.strain <= 1.0

    @property
    def requesters(self) -> float:
        """Of all volumes; open arrivals are more than any."""
        people = ((part.volumes, part.population) for part in self.pool.classes)
        return sum(math.inf if math.isnan(each) else volumes * each for volumes, each in people)

    def words(self) -> str:
        """The demand of the first volume in a few words.

        Returns
        -------
        str
            For a sentence.
        """
        first = self.pool.classes[0]
        if math.isnan(first.population):
            return f"open arrivals, {first.arrival_rate:.0f}/s a volume"
        think = first.think_time / MILLISECOND
        return f"about {first.population:.0f} requesters a volume with {think:.3g} ms between I/Os"


def readings_of_pool(measured: Run, law: Law) -> tuple[Reading, ...]:
    """Find all demands that fit a measurement, the preferred one first.

    The preferred reading is the open one where it fits and the devices are far from saturated, else the smallest
    population that fits. Where nothing fits, the reading that strains the rounding least is the only one. Where the
    queue was not measured, arrivals are taken as open: rate and service alone do not tell.

    Parameters
    ----------
    measured : Run
        Rates, service and queue of equal volumes.
    law : Law
        Inflation and redrive gap of the devices; its model error widens the queue where aliases are at work.

    Returns
    -------
    tuple of Reading
        At least one.

    Raises
    ------
    ConvergenceError
        A pool could not be solved.
    """
    if not measured.queue_known:
        return (_arrivals(measured, law),)
    return _preferred(measured, _read(measured, law))


def preferred_reading(
    measured: Run, law: Law, among: Collection[float] = (*POPULATIONS, math.inf)
) -> Reading | None:
    """The first of `readings_of_pool` of a pool with aliases at work, without solving the others; None where none fits.

    `among` are the numbers of requesters of a volume that are tried, inf for open arrivals.

    Raises
    ------
    ConvergenceError
        The pool could not be solved.
    """
    opened = None
    if math.inf in among:
        (opened,) = _read(measured, law, ())
        if opened.fits and measured.busy < FAR_FROM_SATURATED:
            return opened
    for population in POPULATIONS:
        if population in among:
            (closed,) = _read(measured, law, (population,), opened=False)
            if closed.fits:
                return closed
    return opened if opened is not None and opened.fits else None


def _preferred(measured: Run, found: Sequence[Reading]) -> tuple[Reading, ...]:
    """Those that fit, the preferred one first; the nearest where none fits. The open one is the last of `found`."""
    kept = [reading for reading in found if reading.fits]
    if not kept:
        return (min(found, key=lambda reading: reading.strain),)
    if math.isinf(kept[-1].requesters) and measured.busy < FAR_FROM_SATURATED:
        return (kept[-1], *kept[:-1])
    return tuple(kept)


def _read(measured: Run, law: Law, of: Sequence[int] = POPULATIONS, *, opened: bool = True) -> list[Reading]:
    """Readings of a measurement, fitting or not: every population, then open arrivals."""
    target = InversionTarget.of(measured, law)
    populations = np.array(of, dtype=float)
    # Little's law: the cycle of a requester, N / X, is its think time, service and wait. It bounds the search.
    service, queued = target.service, target.queued
    cycle = populations * measured.bases / (target.rate * service.value)
    response = (service.high + queued.high / target.rate) / service.value
    limits = np.maximum(LEAST_THINK, 0.5 * (cycle - 1.5 * response)), np.maximum(2 * LEAST_THINK, cycle)
    nothing = np.zeros(0)
    think, alone, strain = balance(target, populations, limits, closed=True) if of else (nothing,) * 3
    volumes, rate = measured.bases, measured.total_rate.value

    def reading(service_time: float, off: float, **demand: float) -> Reading:
        part = VolumeClass(volumes=volumes, **demand)
        pool = Pool(
            classes=(part,), service_time=service_time, inflation=law.inflation, redrive_time=law.redrive_time
        )
        return Reading(pool=pool, strain=off)

    closed = [
        reading(float(s), float(off), population=float(n), think_time=float(z * s))
        for n, z, s, off in zip(populations, think, alone, strain, strict=True)
    ]
    if not opened:
        return closed
    least, most = (np.full(1, end) for end in IDLE_RANGE)  # of the open one: idle capacity over the load
    _, open_alone, open_strain = balance(target, np.ones(1), (least, most), closed=False)
    return [*closed, reading(float(open_alone[0]), float(open_strain[0]), arrival_rate=rate / volumes)]


def _arrivals(measured: Run, law: Law) -> Reading:
    """Open arrivals at the measured rate; the service time of a lone I/O from that of the aliases in use."""
    part = VolumeClass(volumes=measured.bases, arrival_rate=measured.total_rate.value / measured.bases)
    alone = measured.mean_service.value
    pool = Pool(classes=(part,), service_time=alone, inflation=law.inflation, redrive_time=law.redrive_time)
    for _ in range(PASSES if measured.aliases and law.inflation else 0):
        inflated = float(pool.solve(measured.aliases).service_time[0])
        pool = replace(pool, service_time=pool.service_time * measured.mean_service.value / inflated)
    return Reading(pool=pool)
