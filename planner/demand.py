"""From a measurement to the demand behind it: closed with so many requesters, or open; every reading that fits.

Rate X, service S and queue Q of a device are tied by the queueing law. For a population N the law leaves one
free number, the think time in units of the service time, z = Z / S0: it fixes X S0 and Q, hence S0 = (X S0) / X.
A reading of N is the z that strains the printed digits of S and Q least; it is kept if both lie inside what
the digits leave open. An open reading has the utilization as its free number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from planner import queueing
from planner.calibrate.possible import possible
from planner.devices import VolumeClass
from planner.devices.parameters import INFLATION, REDRIVE_TIME
from planner.errors import ConvergenceError, InputError, ReportError
from planner.library import Model, read_model
from planner.measurements import Interval, Measurement
from planner.results import Array
from planner.units import MILLISECOND

POPULATIONS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32)
FAR_FROM_SATURATED: Final = 0.7  # utilization of a device below which an open reading is preferred
KINDS_WITH_ALIASES: Final = ("volume", "pool")
SETS: Final = 64  # parameter sets of a model
LEAST_STEP: Final = 1e-6  # in logarithms: what is known so well needs no axis
PASSES: Final = 2
FAR_OFF: Final = 1e6  # strain beyond which it is all the same
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """What a model file says of the devices.

    Attributes
    ----------
    inflation : float
        Relative growth of the service time with each further I/O in service on the volume.
    redrive_time : float
        Gap before a device starts an I/O that had to wait [s].
    model_error : float
        Relative error of a rate where the law is asked what it was not fitted to.
    axes : tuple
        What else the calibration allows: steps of one standard deviation in the logarithms of inflation and gap, each
        independent of the others; empty where nothing else is known.
    """

    inflation: float
    redrive_time: float
    model_error: float
    axes: tuple[tuple[float, float], ...] = ()

    @classmethod
    def from_model(cls, model: Path | str) -> Self:
        """Take the law from a model file.

        Parameters
        ----------
        model : Path or str
            The file, or the name of a shipped model.

        Returns
        -------
        Law
            Inflation and redrive gap, with all that the calibration left open of them.

        Raises
        ------
        ReportError
            The file cannot be read as a model.
        InputError
            The model is of another kind, or no shipped model has that name.
        """
        found = read_model(model)
        if found.kind not in KINDS_WITH_ALIASES:
            raise InputError(
                "model", str(model), f"a model of kind {' or '.join(KINDS_WITH_ALIASES)}, not {found.kind}"
            )
        values = {}
        for key in (INFLATION.file_key, REDRIVE_TIME.file_key):
            if key not in found.parameters:
                raise ReportError(str(model), f"expected `parameters.{key}`")
            values[key] = found.parameters[key]
        inflation, gap = values[INFLATION.file_key], values[REDRIVE_TIME.file_key]
        return cls(
            inflation=inflation.value,
            redrive_time=gap.value,
            model_error=found.fit.model_error,
            axes=_axes(found),
        )

    def moved(self, axis: tuple[float, float], steps: float) -> tuple[float, float]:
        """Go along one of the `axes`.

        Parameters
        ----------
        axis : tuple of float
            One of them.
        steps : float
            How many standard deviations.

        Returns
        -------
        tuple of float
            Inflation, and redrive gap [s].
        """
        return self.inflation * math.exp(axis[0] * steps), self.redrive_time * math.exp(axis[1] * steps)


def _axes(model: Model) -> tuple[tuple[float, float], ...]:
    """Principal axes, about the estimates, of the parameter sets that `planner predict` takes its intervals of."""
    known = possible(model, SETS)
    pairs = [(key, known.sets[key], known.best[key]) for key in (INFLATION.key, REDRIVE_TIME.key)]
    off = np.stack([np.log(column / best) if best > 0 else 0 * column for _, column, best in pairs])
    sizes, directions = np.linalg.eigh(off @ off.T / off.shape[1])
    steps = np.sqrt(np.maximum(sizes, 0.0)) * directions
    return tuple((float(x), float(y)) for x, y in steps.T if math.hypot(x, y) > LEAST_STEP)


Strains = Callable[[Array, Array, Array], tuple[Array, Array, Array]]


def readings(measured: Measurement, law: Law) -> tuple[Reading, ...]:
    """Find all demands that fit a measurement, the preferred one first.

    The preferred reading is the open one where it fits and the devices are far from saturated, else the smallest
    population that fits. Where nothing fits, the reading that strains the rounding least is the only one.

    Parameters
    ----------
    measured : Measurement
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
    found = [*_closed(measured, law), _open(measured, law)]
    kept = [reading for reading in found if reading.fits]
    if not kept:
        return (min(found, key=lambda reading: reading.strain),)
    opened = [reading for reading in kept if reading.kind == "open"]
    if opened and measured.utilization < FAR_FROM_SATURATED:
        return (*opened, *(reading for reading in kept if reading.kind == "closed"))
    return tuple(kept)


def _targets(measured: Measurement, law: Law) -> tuple[Interval, Interval]:
    """Queue and service per volume set; the law's own error counts where it had to be extrapolated to aliases."""
    if measured.aliases == 0:
        return measured.queued, measured.service
    present = measured.queued.value + measured.io_rate.value * measured.service.value
    return (
        measured.queued.widened(law.model_error * present),
        measured.service.widened(law.model_error * measured.service.value),
    )


def _balance(
    measured: Measurement, law: Law, candidates: Array, limits: tuple[Array, Array], *, closed: bool
) -> tuple[Array, Array, Array]:
    """Find, for each candidate, the free number where the strains of queue and service cancel; both fall with it.

    Returns it with S0 [s] and the larger strain. A candidate that cannot balance them stays at the nearer limit.
    """
    queued, service = _targets(measured, law)
    alone = np.full(candidates.shape, measured.service.value)
    free = strain = alone
    for _ in range(PASSES):  # the gap is a time: in units of S0 it is known only once S0 is
        gap = law.redrive_time / alone

        def strains(log_free: Array, which: Array, gaps: Array) -> tuple[Array, Array, Array]:
            busy, queue, growth = _predict(measured, law, np.exp(log_free), which, gaps, closed=closed)
            times = busy / measured.io_rate.value
            of_service = np.array([service.strain(value) for value in times * growth])
            of_queue = np.array([queued.strain(value) for value in queue])
            return times, of_service, of_queue

        free = _root(strains, candidates, gap, limits)
        alone, of_service, of_queue = strains(free, candidates, gap)
        strain = np.maximum(np.abs(of_service), np.abs(of_queue))
    return np.exp(free), alone, strain


def _root(strains: Strains, candidates: Array, gap: Array, limits: tuple[Array, Array]) -> Array:
    """Logarithm of the free number where both strains add up to zero, or the limit nearer to it."""
    from scipy.optimize import elementwise

    def balance(log_free: Array, which: Array, gaps: Array) -> Array:
        _, of_service, of_queue = strains(log_free, which, gaps)
        total: Array = np.clip(of_service + of_queue, -FAR_OFF, FAR_OFF)
        return total

    left, right = (np.log(end) for end in limits)
    found = elementwise.find_root(balance, (left, right), args=(candidates, gap), tolerances={"xatol": 1e-9})
    at_left = balance(left, candidates, gap)
    return np.where(found.success, found.x, np.where(at_left > 0, right, left))


def _predict(
    measured: Measurement, law: Law, free: Array, populations: Array, gap: Array, *, closed: bool
) -> tuple[Array, Array, Array]:
    """Ask the queueing law in units of the service time: busy service, queue, growth of the service time."""
    servers, n = 1 + measured.aliases, measured.volumes
    shared = n > 1 and measured.aliases > 0
    largest = 1.0 if closed else _saturation(servers, shared, law.inflation, gap)
    if shared:
        asked = [{"population": k, "think_time": z, "gap": g} if closed else {"arrival_rate": top / (1 + z), "gap": g}
                 for k, z, g, top in np.broadcast(populations, free, gap, largest)]  # fmt: skip
        busy, queue, growth = zip(*(_pool(measured, law, **demand) for demand in asked), strict=True)
        return np.array(busy), np.array(queue), np.array(growth)
    if closed:
        steady = queueing.finite_source(
            populations, free, 1.0, servers, inflation=law.inflation, redrive_time=gap
        )
    else:
        steady = queueing.mmc(largest / (1 + free), 1.0, servers, inflation=law.inflation, redrive_time=gap)
    return n * steady.throughput, n * (steady.queue_length - steady.in_gap), steady.service_time


def _saturation(servers: int, shared: bool, inflation: float, gap: Array) -> Array:
    """Largest open load of one volume: of its base alone in a pool, of base and aliases if they are its own."""
    if shared:
        return 1 / (1 + gap)
    return queueing.mmc(1e9, 1.0, servers, inflation=inflation, redrive_time=gap).throughput


def _closed(measured: Measurement, law: Law) -> list[Reading]:
    """Readings for every population, fitting or not."""
    populations = np.array(POPULATIONS, dtype=float)
    # Little's law: the cycle of a requester, N / X, is its think time, service and wait. It bounds the search.
    cycle = populations * measured.volumes / measured.io_rate.value / measured.service.value
    response = (
        measured.service.high + measured.queued.high / measured.io_rate.value
    ) / measured.service.value
    limits = np.maximum(LEAST_THINK, 0.5 * (cycle - 1.5 * response)), np.maximum(2 * LEAST_THINK, cycle)
    think, alone, strain = _balance(measured, law, populations, limits, closed=True)
    return [
        Reading(kind="closed", volumes=measured.volumes, io_rate=measured.io_rate.value, service_time=float(s),
                strain=float(off), population=int(n), think_time=float(z * s))
        for n, z, s, off in zip(populations, think, alone, strain, strict=True)
    ]  # fmt: skip


def _open(measured: Measurement, law: Law) -> Reading:
    """The open reading; its free number is the idle capacity over the load."""
    limits = tuple(np.array([end]) for end in IDLE_RANGE)
    _, alone, strain = _balance(measured, law, np.ones(1), (limits[0], limits[1]), closed=False)
    return Reading(kind="open", volumes=measured.volumes, io_rate=measured.io_rate.value, service_time=float(alone[0]),
                   strain=float(strain[0]), arrival_rate=measured.io_rate.value / measured.volumes)  # fmt: skip


def _pool(measured: Measurement, law: Law, *, gap: float, **demand: float) -> tuple[float, float, float]:
    """Busy service, queue and service growth of a pool in units of the service time; saturation is infinite."""
    nan = math.nan
    part = VolumeClass(volumes=measured.volumes, **{k: float(v) for k, v in demand.items()})
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
