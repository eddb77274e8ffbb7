"""From a measurement to the demand behind it: closed with so many requesters, or open; every reading that fits.

Rate X, service S and queue Q of a device are tied by the queueing law. For a population N the law leaves one
free number, the think time in units of the service time, z = Z / S0: it fixes X S0 and Q, hence S0 = (X S0) / X.
A reading of N is the z that strains the printed digits of S and Q least; it is kept if both lie inside what
the digits leave open. An open reading has the utilization as its free number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner import queueing
from planner.demand.inversion import Targets, balance, shared
from planner.demand.law import Law
from planner.devices import VolumeClass
from planner.measurements import Run
from planner.units import MILLISECOND

POPULATIONS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32)
FAR_FROM_SATURATED: Final = 0.7  # utilization of a device below which an open reading is preferred
PASSES: Final = 2  # to the service time of a lone I/O
LEAST_THINK: Final = 1e-3  # think time over service time
IDLE_RANGE: Final = (1e-4, 1e6)  # idle capacity over load


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One demand that a measurement speaks for.

    Attributes
    ----------
    kind : str
        "closed" or "open".
    volumes : int
        Equal volumes.
    io_rate : float
        As measured, of all volumes [1/s].
    service_time : float
        Of an I/O that is alone on its volume [s].
    strain : float
        How far the printed digits are strained; 1 is the limit of what they leave open.
    population : int or None
        Requesters of one volume, where closed.
    think_time : float or None
        From the end of an I/O to the next of the same requester, where closed [s].
    arrival_rate : float or None
        Of one volume, where open [1/s].
    """

    kind: str
    volumes: int
    io_rate: float
    service_time: float
    strain: float
    population: int | None = None
    think_time: float | None = None
    arrival_rate: float | None = None

    @property
    def fits(self) -> bool:
        """Whether the reading lies inside the rounding."""
        return self.strain <= 1.0

    def words(self) -> str:
        """The demand in a few words.

        Returns
        -------
        str
            For a sentence.
        """
        if self.population is None:
            return f"open arrivals, {self.arrival_rate:.0f}/s a volume"
        think = (self.think_time or 0.0) / MILLISECOND
        return f"about {self.population} requesters a volume with {think:.3g} ms between I/Os"

    def volume_class(self, growth: float = 0.0) -> tuple[VolumeClass, ...]:
        """The volumes under this demand, grown: a rate grows as it is, requesters to the next whole number.

        Parameters
        ----------
        growth : float, optional
            Share by which the demand grows.

        Returns
        -------
        tuple of VolumeClass
            One class, or two where the grown requesters do not divide evenly among the volumes.
        """
        if self.arrival_rate is not None:
            return (VolumeClass(volumes=self.volumes, arrival_rate=self.arrival_rate * (1 + growth)),)
        assert self.population is not None and self.think_time is not None
        requesters = math.ceil(round(self.population * self.volumes * (1 + growth), 9))
        each, more = divmod(requesters, self.volumes)
        parts = ((self.volumes - more, each), (more, each + 1))
        return tuple(
            VolumeClass(volumes=volumes, population=population, think_time=self.think_time)
            for volumes, population in parts
            if volumes > 0
        )


def readings(measured: Run, law: Law) -> tuple[Reading, ...]:
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
    return readings_of([measured], law)[0]


def readings_of(measurements: Sequence[Run], law: Law) -> list[tuple[Reading, ...]]:
    """Find the demands of many measurements; those of volumes that share no alias are solved at once.

    Parameters
    ----------
    measurements : sequence of Run
        Each as for `readings`.
    law : Law
        As for `readings`.

    Returns
    -------
    list of tuple of Reading
        As `readings` gives them, one a measurement.

    Raises
    ------
    ConvergenceError
        A pool could not be solved.
    """
    found: dict[int, tuple[Reading, ...]] = {}
    alone = []
    for k, measured in enumerate(measurements):
        if not measured.queue_known:
            found[k] = (_arrivals(measured, law),)
        elif shared(measured):
            found[k] = _preferred(measured, *_read([measured], law))
        else:
            alone.append(k)
    if alone:
        chosen = [measurements[k] for k in alone]
        for k, measured, each in zip(alone, chosen, _read(chosen, law), strict=True):
            found[k] = _preferred(measured, each)
    return [found[k] for k in range(len(measurements))]


def preferred_reading(measured: Run, law: Law) -> Reading | None:
    """The first of `readings` of a pool with aliases at work, without solving the others; None where none fits.

    Raises
    ------
    ConvergenceError
        The pool could not be solved.
    """
    (opened,) = _read([measured], law, ())[0]
    if opened.fits and measured.busy < FAR_FROM_SATURATED:
        return opened
    for population in POPULATIONS:
        closed = _read([measured], law, (population,), opened=False)[0][0]
        if closed.fits:
            return closed
    return opened if opened.fits else None


def _preferred(measured: Run, found: Sequence[Reading]) -> tuple[Reading, ...]:
    """Those that fit, the preferred one first; the nearest where none fits. The open one is the last of `found`."""
    kept = [reading for reading in found if reading.fits]
    if not kept:
        return (min(found, key=lambda reading: reading.strain),)
    if kept[-1].kind == "open" and measured.busy < FAR_FROM_SATURATED:
        return (kept[-1], *kept[:-1])
    return tuple(kept)


def _read(
    measurements: Sequence[Run], law: Law, of: Sequence[int] = POPULATIONS, *, opened: bool = True
) -> list[list[Reading]]:
    """Readings of each measurement, fitting or not: every population, then open arrivals."""
    targets = Targets(measurements, law)
    populations = np.array(of, dtype=float)
    # Little's law: the cycle of a requester, N / X, is its think time, service and wait. It bounds the search.
    service, queued = targets.service, targets.queued
    work = (targets.rate * service[:, 1])[:, None]
    cycle = populations * targets.volumes[:, None] / work
    response = ((service[:, 2] + queued[:, 2] / targets.rate) / service[:, 1])[:, None]
    limits = np.maximum(LEAST_THINK, 0.5 * (cycle - 1.5 * response)), np.maximum(2 * LEAST_THINK, cycle)
    nothing = np.zeros((len(measurements), 0))
    think, alone, strain = balance(targets, populations, limits, closed=True) if of else (nothing,) * 3
    least, most = (np.full((len(measurements), 1), end) for end in IDLE_RANGE)
    open_alone = open_strain = nothing
    if opened:
        _, open_alone, open_strain = balance(targets, np.ones(1), (least, most), closed=False)
    found = []
    for k, measured in enumerate(measurements):
        volumes, rate = measured.bases, measured.total_rate.value
        closed = [
            Reading(kind="closed", volumes=volumes, io_rate=rate, service_time=float(s), strain=float(off),
                    population=int(n), think_time=float(z * s))
            for n, z, s, off in zip(populations, think[k], alone[k], strain[k], strict=True)
        ]  # fmt: skip
        # Of the open reading the free number is the idle capacity over the load.
        last = [
            Reading(kind="open", volumes=volumes, io_rate=rate, service_time=float(s), strain=float(off),
                    arrival_rate=rate / volumes)
            for s, off in zip(open_alone[k], open_strain[k], strict=True)
        ]  # fmt: skip
        found.append([*closed, *last])
    return found


def _arrivals(measured: Run, law: Law) -> Reading:
    """Open arrivals at the measured rate; the service time of a lone I/O from that of the aliases in use."""
    rate, alone = measured.total_rate.value / measured.bases, measured.mean_service.value
    for _ in range(PASSES if measured.aliases and law.inflation else 0):
        steady = queueing.alias_pool(
            measured.aliases, volumes=measured.bases, arrival_rate=rate, service_time=alone,
            inflation=law.inflation, redrive_time=law.redrive_time,
        )  # fmt: skip
        alone *= measured.mean_service.value / float(steady.service_time[0])
    return Reading(kind="open", volumes=measured.bases, io_rate=measured.total_rate.value, service_time=alone,
                   strain=0.0, arrival_rate=rate)  # fmt: skip
