"""Steady demand of volumes that share aliases in use: every population of requesters that fits, or open arrivals.

The queueing model of the pool ties rate X, service time S and queue Q of equal volumes. For a population N it leaves
one free number, the think time in units of the service time, z = Z / S0: it fixes X S0 and Q, hence S0 = (X S0) / X.
The demand of N is the z at which the normalized residuals of S and Q cancel; it fits if both lie within the rounding
of the digits and the error of the model. Of open arrivals the free number is the idle capacity over the load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np

from planner.demand.device_model import DeviceModel
from planner.demand.inversion import on_edge
from planner.demand.priors import FAR_FROM_SATURATED
from planner.demand.words import milliseconds
from planner.devices import Pool, VolumeClass
from planner.interval import Interval
from planner.measurements import Run
from planner.queueing._roots import increasing_root
from planner.queueing.erlang import erlang_b
from planner.queueing.pools.solve import solve_pools
from planner.queueing.pools.stability import most_in_overload
from planner.results import Array, ArrayFields, Integers
from planner.units import readable

OPEN: Final = (math.inf,)
POPULATIONS: Final = (*range(1, 11), 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
MANY: Final = 32  # beyond these, no more than four times as many as are in service and wait
IDLE_RANGE: Final = (1e-4, 1e6)  # idle capacity over load


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A steady demand that the volumes of a pool may have, and how well it fits; `Candidates` are those of volumes.

    `pool`: the volumes and what they are asked for; `residual`: largest normalized residual of service and queue: 1 is
    the limit of what their digits leave open; `queue_short`: whether it queues less than was measured.
    """

    pool: Pool
    residual: float = 0.0
    queue_short: bool = False

    @property
    def fits(self) -> bool:
        """Whether it lies inside the rounding."""
        return self.residual <= 1.0

    @property
    def requesters(self) -> float:
        """Of all volumes; open arrivals are more than any."""
        people = ((part.volumes, part.population) for part in self.pool.classes)
        return sum(math.inf if math.isnan(each) else volumes * each for volumes, each in people)

    def words(self) -> str:
        """The demand of the first volume in a few words."""
        first = self.pool.classes[0]
        if math.isnan(first.population):
            return f"open arrivals, {readable(first.arrival_rate)}/s a volume"
        think = milliseconds(first.think_time, first.think_time)
        return f"about {readable(first.population)} requesters a volume with {think} between I/Os"


def candidates_of_pools(
    runs: Sequence[Run], device_model: DeviceModel, *, ranges: bool = True
) -> list[tuple[Candidate, ...]]:
    """Find all steady demands that fit each of many measurements, the preferred one first, all side by side.

    Preferred are open arrivals where they fit and the devices are far from saturated, else the smallest population that
    fits. Where nothing fits, the nearest is the only one. Where the queue was not measured, arrivals are taken as open:
    rate and service alone do not decide. Requesters that wait for their own I/Os queue less than Poisson arrivals of
    the same rate: where open arrivals queue less than was measured, no population fits.

    Parameters
    ----------
    runs : sequence of Run
        Rates, service and queue of equal volumes of pools; none changes the demands of another.
    device_model : DeviceModel
        Inflation and redrive gap of the devices; its model error widens the digits where aliases are at work.
    ranges : bool, optional
        Whether ranges are wanted, which take all that fit: the preferred one alone costs less.

    Returns
    -------
    list of tuple of Candidate
        One a measurement, each with at least one demand.
    """
    known = [run for run in runs if run.queue_known]
    beyond = _longer_than_any(known, device_model)
    found = [[beyond[k]] if k in beyond else [] for k in range(len(known))]

    def look(which: Iterable[int], populations: Callable[[Run], Sequence[float]]) -> None:
        asked = [(k, each) for k in which for each in populations(known[k])]
        for (k, _), one in zip(
            asked, _inverted([(known[k], each) for k, each in asked], device_model), strict=True
        ):
            found[k].append(one)

    def going() -> list[int]:
        """Those that no demand settles."""
        return [
            k for k, run in enumerate(known)
            if not _too_short(found[k]) and (ranges or not _kept(run, found[k]))
        ]  # fmt: skip

    # Next to saturation open arrivals cost most, and are not preferred. With as long a queue they are busy less: where
    # a population queues as much as was measured, they are no nearer.
    calm = {k for k in going() if known[k].busy < FAR_FROM_SATURATED}
    look(calm, lambda _: OPEN)
    if ranges:
        look(going(), lambda run: [*chain(*_populations(run, device_model))])
    else:  # the fewest often settle it
        look(going(), lambda run: _populations(run, device_model)[0])
        look(going(), lambda run: _populations(run, device_model)[1])
    late = [k for k in going() if k not in calm]
    short = (k for k in late if _kept(known[k], found[k]) or all(each.queue_short for each in found[k]))
    look(short, lambda _: OPEN)
    most = None if ranges else 1
    preferred = iter([_preferred(run, some)[:most] for run, some in zip(known, found, strict=True)])
    unknown = iter(_offered([run for run in runs if not run.queue_known], device_model))
    return [next(preferred) if run.queue_known else (next(unknown),) for run in runs]


def _longer_than_any(runs: Sequence[Run], device_model: DeviceModel) -> dict[int, Candidate]:
    """Open arrivals of those that queue longer than any steady demand, at most ``V r^2 / (1 - r)`` at devices busy r.

    A volume with devices of its own queues ``C r / (1 - r)``, Erlang's C at most r; sharing shortens that, requesters
    queue less. With inflation i open pools of 1 to 24 volumes queue up to 1 + i times as long; 1 + 2 i is allowed.
    """
    if not runs:
        return {}
    asked = _Inversions.made([(run, math.inf) for run in runs], device_model)
    busy = asked.rate * (asked.service.high + device_model.redrive_time) / (asked.volumes + asked.aliases)
    longest = np.full(busy.shape, np.inf)
    most = (1.0 + 2.0 * device_model.inflation) * asked.volumes * busy**2
    off = _residual(asked.queue, np.divide(most, 1.0 - busy, out=longest, where=busy < 1.0))
    beyond = np.flatnonzero(off < -1.0).tolist()
    found = _offered([runs[k] for k in beyond], device_model)
    return {
        k: replace(one, residual=float(-off[k]), queue_short=True)
        for k, one in zip(beyond, found, strict=True)
    }


def _populations(run: Run, device_model: DeviceModel) -> tuple[list[int], list[int]]:
    """Requesters a volume of those tried that may be in service and wait as measured: the fewest, and more."""
    in_service = run.total_rate.value * run.mean_service
    error = 2.0 * device_model.model_error * (in_service.value + run.total_queue.value)
    least = float(in_service.low + run.total_queue.low - error) / run.bases
    few = [each for each in POPULATIONS if least <= each <= 2.0 * least]
    return few, [each for each in POPULATIONS if max(least, 2.0 * least) < each <= max(MANY, 4.0 * least)]


def _too_short(found: Sequence[Candidate]) -> bool:
    """Whether the last of them are open arrivals that queue less than was measured."""
    return bool(found) and math.isinf(found[-1].requesters) and found[-1].queue_short and not found[-1].fits


def _kept(run: Run, found: Sequence[Candidate]) -> list[Candidate]:
    waits = bool(run.total_queue.low > 0.0)  # one requester a volume never does
    return [each for each in found if each.fits and not (waits and each.requesters == run.bases)]


def _preferred(run: Run, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Those that fit, the preferred one first; the nearest where none fits."""
    kept = sorted(_kept(run, found), key=lambda each: each.requesters)
    if not kept:
        return (found[-1] if _too_short(found) else min(found, key=lambda each: each.residual),)
    if math.isinf(kept[-1].requesters) and run.busy < FAR_FROM_SATURATED:
        return (kept[-1], *kept[:-1])
    return tuple(kept)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Inversions(ArrayFields):
    """Demands to be found, arrays (demands,): what was measured, widened by the error of the model."""

    volumes: Array
    aliases: Array
    rate: Array
    service: Interval
    queue: Interval
    population: Array  # inf where open

    @classmethod
    def made(cls, cases: Sequence[tuple[Run, float]], device_model: DeviceModel) -> _Inversions:
        """Of measurements with a population each."""
        volumes, aliases, rate, *ends, population = np.array([
            (run.bases, run.aliases, run.total_rate.value, *run.mean_service, *run.total_queue, population)
            for run, population in cases
        ]).T  # fmt: skip
        service, queue = Interval(*ends[:3]), Interval(*ends[3:])
        error = np.where(aliases > 0, device_model.model_error, 0.0)
        return cls(
            volumes=volumes, aliases=aliases, rate=rate, service=service.widened(error * service.value),
            queue=queue.widened(error * (queue.value + rate * service.value)), population=population,
        )  # fmt: skip

    def gap(self, log_free: Array, alone: Array, device_model: DeviceModel) -> Array:
        """Redrive gap g over the service time of a lone I/O: of open arrivals ``g + S0 = c V / (X (1 + free))``."""
        devices = self.volumes + self.aliases
        opened = devices / (self.rate * (1.0 + np.exp(log_free))) - device_model.redrive_time
        alone = np.where(
            np.isinf(self.population), np.maximum(opened, 1e-3 * device_model.redrive_time), alone
        )
        return np.asarray(device_model.redrive_time / alone)

    def predicted(self, log_free: Array, gap: Array, device_model: DeviceModel) -> tuple[Array, Array, Array]:
        """Load of all volumes [service times], their queue, and the growth of the service time, at a guess."""
        free, opened = np.exp(log_free), np.isinf(self.population)
        capacity = (1.0 + self.aliases / self.volumes) / (1.0 + gap)
        steady = solve_pools(
            self.aliases, volumes=self.volumes[:, None], service_time=1.0,
            population=np.where(opened, np.nan, self.population)[:, None],
            think_time=np.where(opened, np.nan, free)[:, None],
            arrival_rate=np.where(opened, capacity / (1.0 + free), np.nan)[:, None],
            inflation=device_model.inflation, redrive_time=gap,
        )  # fmt: skip
        queue = steady.queue_length[..., 0] - steady.in_gap[..., 0]
        return (
            self.volumes * steady.throughput[..., 0], self.volumes * np.where(np.isnan(queue), np.inf, queue),
            steady.service_time[..., 0],
        )  # fmt: skip

    def residuals(
        self, log_free: Array, alone: Array, device_model: DeviceModel
    ) -> tuple[Array, Array, Array]:
        """Service time of a lone I/O [s], from a guess of it where closed, and residuals of service and queue."""
        load, queue, growth = self.predicted(log_free, self.gap(log_free, alone, device_model), device_model)
        alone = load / self.rate
        of_service = _residual(self.service / self.service.value, alone * growth / self.service.value)
        return alone, of_service, _residual(self.queue, queue)


def _residual(known: Interval, guess: Array) -> Array:
    """Normalized residuals of guesses: 1 is half of the width of the rounding."""
    return np.asarray(np.clip(np.nan_to_num(known.residual(guess), nan=1e6, posinf=1e6), -1e6, 1e6))


def _inverted(cases: Sequence[tuple[Run, float]], device_model: DeviceModel) -> list[Candidate]:
    """Demands of measurements with a population each, fitting or not."""
    if not cases:
        return []
    asked = _Inversions.made(cases, device_model)
    free, alone, of_service, of_queue = _balanced(asked, device_model)
    residual = on_edge(np.maximum(np.abs(of_service), np.abs(of_queue)))
    columns = asked.population, np.exp(free) * alone, alone, residual, of_queue < 0.0
    each = zip(*(column.tolist() for column in columns), strict=True)
    return [_demand(run, device_model, *item) for (run, _), item in zip(cases, each, strict=True)]


def _limits(asked: _Inversions, device_model: DeviceModel) -> Array:
    """Where the free number probably lies, and where it can lie, in logarithms; (two, ends, demands).

    A requester's cycle N / X is think time, service and wait (Little's law). Of open arrivals the idle capacity over
    the load is ``c / (x S0) - 1`` for a volume's rate x and its c devices: S0 is at most the measured service time, and
    at least that over the inflation by all aliases; `_least_idle` bounds it below.
    """
    opened = np.isinf(asked.population)
    people = np.where(opened, 1.0, asked.population)
    cycle = people * asked.volumes / (asked.rate * asked.service.value)
    shortest, longest = (
        (service + queue / asked.rate) / asked.service.value
        for service, queue in ((asked.service.low, asked.queue.low), (asked.service.high, asked.queue.high))
    )
    devices = 1.0 + asked.aliases / asked.volumes
    gap = device_model.redrive_time / np.maximum(asked.service.low, device_model.redrive_time)
    inflated = 1.0 + device_model.inflation * np.minimum(asked.aliases, asked.population - 1.0)
    least = devices / (1.0 + gap) * asked.volumes / (asked.rate * asked.service.high) - 1.0
    most = devices * inflated * (1.0 + gap) * asked.volumes / (asked.rate * asked.service.low) - 1.0
    least = np.maximum(least, np.where(opened, _least_idle(asked, gap, device_model), 0.0))
    low = np.where(opened, np.clip(least, *IDLE_RANGE), np.maximum(1e-3, 0.5 * (cycle - 1.5 * longest)))
    high = np.where(opened, np.clip(most, 2 * low, IDLE_RANGE[1]), np.maximum(2e-3, cycle))
    near_low = np.where(opened, low, np.clip(cycle - longest, low, high))
    near_high = np.where(opened, high, np.clip((cycle - shortest) * inflated, near_low, high))
    return np.log([[near_low, near_high], [low, high]])


def _least_idle(asked: _Inversions, gap: Array, device_model: DeviceModel) -> Array:
    """Idle capacity over the load at which one queue for all devices is as long as the longest that was measured.

    The load is a share r of the throughput in overload. With Erlang's B of that load ``C = B / (1 - r + r B)`` find all
    devices busy, and ``C r / (1 - r)`` wait: a little less than where bases serve their own volume alone.
    """
    devices = asked.volumes + asked.aliases
    most = asked.volumes * most_in_overload(
        asked.volumes, asked.aliases / asked.volumes, device_model.inflation, gap
    )
    capacity = devices / (1.0 + gap)

    def short(log_spare: Array, devices: Array, most: Array, queue: Array) -> Array:
        spare = np.exp(log_spare)
        lost = erlang_b(most / (1.0 + spare), devices)
        return np.asarray(queue - lost * (1.0 + spare) / ((spare + lost) * spare))

    low, high = (np.full(gap.shape, math.log(each)) for each in IDLE_RANGE)
    spare = 0.9 * np.exp(increasing_root(short, low, high, (devices, most, asked.queue.high)))
    return np.asarray((1.0 + spare) * capacity / most - 1.0)


def _balanced(asked: _Inversions, device_model: DeviceModel) -> Array:
    """Where both residuals cancel, or nearest to it, (4, demands).

    Rows: logarithm of the free number, service time of a lone I/O [s], residuals of service and of queue. The gap is a
    time: of requesters, in units of S0, it is that of the best guess before, and at last that of the best one.
    """
    from scipy.optimize import elementwise

    service = asked.service
    shortest = service.low / (1.0 + device_model.inflation * asked.aliases)
    best, nearest = np.array([service.value] * 4), np.full(asked.rate.size, np.inf)

    def at(log_free: Array, some: Integers) -> Array:
        alone = np.clip(best[1, some], shortest[some], service.high[some])
        found = np.array([log_free, *asked.of(some).residuals(log_free, alone, device_model)])
        found[1] = np.where(found[1] > 0, found[1], alone)  # nan without a solution
        return found

    def total(log_free: Array, index: Array) -> Array:
        some = index.astype(np.int64)
        found = at(log_free, some)
        off = found[2] + found[3]
        nearer = np.abs(off) < nearest[some]
        best[:, some[nearer]], nearest[some[nearer]] = found[:, nearer], np.abs(off)[nearer]
        return np.asarray(off)

    left = np.arange(asked.rate.size)
    for ends in _limits(asked, device_model):
        root = elementwise.find_root(
            total, tuple(ends[:, left]), args=(left.astype(np.float64),),
            tolerances={"xatol": 1e-6, "fatol": 1e-3},
        )  # fmt: skip
        left = left[~root.success & np.isfinite(asked.population[left])]  # open: all of it was searched
        if not left.size:
            break
    if (closed := np.flatnonzero(np.isfinite(asked.population))).size:
        best[:, closed] = at(best[0, closed], closed)
    return best


def _demand(
    run: Run, device_model: DeviceModel, population: float, think: float, alone: float, residual: float, short: bool
) -> Candidate:  # fmt: skip
    """One demand, which queues too `short` or does not."""
    if math.isinf(population):
        part = VolumeClass(volumes=run.bases, arrival_rate=float(run.total_rate.value) / run.bases)
    else:
        part = VolumeClass(volumes=run.bases, population=population, think_time=think)
    pool = Pool(classes=(part,), service_time=alone, **device_model.parameters)
    return Candidate(pool=pool, residual=residual, queue_short=short)


def _offered(runs: Sequence[Run], device_model: DeviceModel) -> list[Candidate]:
    """Open arrivals at the measured rates; the service time of a lone I/O from that of the aliases in use."""
    if not runs:
        return []
    rate, service, volumes, aliases = np.array(
        [(run.total_rate.value, run.mean_service.value, run.bases, run.aliases) for run in runs],
        dtype=np.float64,
    ).T
    alone = service.copy()
    for _ in range(2 if device_model.inflation and (aliases > 0).any() else 0):
        steady = solve_pools(
            aliases, volumes=volumes[:, None], service_time=alone[:, None], arrival_rate=(rate / volumes)[:, None],
            **device_model.parameters,
        )  # fmt: skip
        inflated = steady.service_time[..., 0]
        alone = np.where((aliases > 0) & np.isfinite(inflated), alone * service / inflated, alone)
    return [
        _demand(run, device_model, math.inf, math.nan, each, 0.0, short=False)
        for run, each in zip(runs, alone.tolist(), strict=True)
    ]
