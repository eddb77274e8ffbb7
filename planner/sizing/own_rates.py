"""Steady demand of unequal volumes that share aliases in use: each asks for its own rate, and waits as it did.

A volume with x I/Os a second, s in service and w queued, has N requesters that think ``Z = N / x - s - w`` (Little's
law). How many they are is one number for the pool: k times the I/Os present at each volume, open arrivals where it has
no end. The model of the pool predicts rate and queue for each k. In simulated pools of steady volumes some k predicts
both as measured; of bursty ones none does: with few requesters the rate is too high, with many the queue too short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from planner.demand.device_model import DeviceModel
from planner.demand.read import NO_WAIT, RATIO_ERROR, WAIT_ERROR
from planner.demand.steady import Candidate
from planner.measurements import Run
from planner.queueing.pools.result import PoolSteady
from planner.queueing.pools.solve import solve_pools
from planner.results import Array, Integers
from planner.sizing.volumes import pool_of

FIRST: Final = 2.5  # requesters of each I/O present, tried first
OTHERS: Final = (5.0, 10.0, 25.0, math.inf, 1.5, 1.0)
# The demand is bursty if those first ones have more than this rate and less than this queue, over the measured ones.
BURSTY_RATE, BURSTY_QUEUE = 1.1, 0.8
# Standard deviations, of rate and wait together, up to which the nearest fits and others count beside it, and by which
# they are about as near: next to saturation any number of requesters is.
FITS, BESIDE, ALIKE = 1.5, 2.0, 0.5
NEARLY_OPEN: Final = 25.0  # from which on as long a queue leaves open arrivals out
MOST_QUEUED: Final = 150.0  # I/Os, beyond which solving takes minutes
SPREAD: Final = 0.2  # of rates and service times of volumes that are solved as equal ones, in logarithms
LEAST_THINK: Final = 1e-3  # service times


class Predicted(NamedTuple):
    """Queue and rate over the measured ones, and how far off [standard deviations]; `alone` of a lone I/O [s]."""

    requesters: float
    alone: Array
    queue: float
    rate: float
    off: float

    @property
    def shorter(self) -> bool:
        """Whether more requesters may predict the queue better."""
        return self.queue < (1.0 if self.requesters >= NEARLY_OPEN else 1.0 + BESIDE * WAIT_ERROR)


def at_own_rates(runs: Sequence[Run], device_model: DeviceModel) -> list[tuple[Candidate, ...]]:
    """Steady demands that predict each measurement, alone, with queue and aliases in use; likeliest first, or none."""
    tried = {k: run for k, run in enumerate(runs) if run.total_queue.value <= MOST_QUEUED}
    guesses = [(run, run.service.value) for run in tried.values()]
    first = _predicted(guesses, FIRST, device_model, passes=2)
    found = {
        k: [one]
        for k, one in zip(tried, first, strict=True)
        if one.rate < BURSTY_RATE or one.queue > BURSTY_QUEUE
    }
    for times in OTHERS:
        going = [k for k, some in found.items() if times < FIRST or some[-1].shorter]
        more = _predicted([(runs[k], found[k][0].alone) for k in going], times, device_model)
        for k, one in zip(going, more, strict=True):
            found[k].append(one)
    kept = (_kept(found.get(k, ())) for k in range(len(runs)))
    return [
        tuple(_demand_of(run, one, device_model) for one in some)
        for run, some in zip(runs, kept, strict=True)
    ]


def _kept(found: Sequence[Predicted]) -> list[Predicted]:
    """Those that are near, if one fits: first the middle one of all that are about as near as the nearest."""
    kept = sorted((one for one in found if one.off <= BESIDE), key=lambda one: one.requesters)
    least = min((one.off for one in kept), default=math.inf)
    if least > FITS:
        return []
    alike = [one for one in kept if one.off <= least + ALIKE]
    first = alike[len(alike) // 2]
    return [first, *(one for one in kept if one is not first)]


def _predicted(
    cases: Sequence[tuple[Run, Array]], times: float, device_model: DeviceModel, passes: int = 1
) -> list[Predicted]:
    """Predicted measurements with numbers of requesters, from a guess of the service time of a lone I/O."""
    if not cases:
        return []
    groups = [_nearly_equal(run) for run, _ in cases]
    of = np.repeat(np.arange(len(cases)), [each.size for each in groups]), np.concatenate(groups)
    volumes = np.zeros((len(cases), int(of[1].max()) + 1))
    np.add.at(volumes, of, 1.0)

    def mean(values: Sequence[Array]) -> Array:
        found = np.zeros_like(volumes)
        np.add.at(found, of, np.concatenate(values))
        return np.where(volumes > 0, found / np.maximum(volumes, 1.0), 1.0)

    own = [run.io_rate.value for run, _ in cases]
    rate, queue = mean(own), mean([run.queued.value for run, _ in cases])
    service = mean([each * run.service.value for each, (run, _) in zip(own, cases, strict=True)]) / rate
    alone = mean([each * guess for each, (_, guess) in zip(own, cases, strict=True)]) / rate
    demand = np.where(volumes > 0, _demand(rate, service, queue, times), np.nan)
    aliases = [run.aliases for run, _ in cases]
    steady = _solved(aliases, volumes, demand, alone, device_model)
    for _ in range(passes - 1):
        known = np.isfinite(steady.service_time) & (volumes > 0)
        alone = alone * (service / np.where(known, steady.service_time, service)).round(9)
        steady = _solved(aliases, volumes, demand, alone, device_model)
    rate, queue, busy = np.array(
        [(run.total_rate.value, run.total_queue.value, run.load) for run, _ in cases]
    ).T
    total = np.nansum(volumes * steady.throughput, axis=1) / rate
    waiting = np.nansum(volumes * (steady.queue_length - steady.in_gap), axis=1)
    longer = np.where(steady.converged, (waiting + NO_WAIT * busy) / (queue + NO_WAIT * busy), np.inf)
    off = np.hypot(np.log(longer) / WAIT_ERROR, (total - 1.0) / RATIO_ERROR).round(9)
    scale = alone / service
    return [
        Predicted(
            times, scale[k, group] * run.service.value, float(longer[k]), float(total[k]), float(off[k])
        )
        for k, ((run, _), group) in enumerate(zip(cases, groups, strict=True))
    ]


def _solved(
    aliases: Sequence[int], volumes: Array, demand: Array, alone: Array, device_model: DeviceModel
) -> PoolSteady:
    people, think, rate = demand
    return solve_pools(
        aliases, volumes=volumes, population=people, think_time=think, arrival_rate=rate, service_time=alone,
        **device_model.parameters,
    )  # fmt: skip


def _demand(rate: Array, service: Array, queue: Array, times: float) -> Array:
    """Requesters, think times [s] and arrival rates [1/s] of volumes, nan where of the other sort, (3, volumes)."""
    nothing = np.full(rate.shape, np.nan)
    if math.isinf(times):
        return np.array([nothing, nothing, rate])
    present = rate * service + queue
    people = np.maximum(np.ceil((times * present).round(6)), np.where(queue > 0.0, 2.0, 1.0))
    return np.array([people, np.maximum((people - present) / rate, LEAST_THINK * service), nothing])


def _nearly_equal(run: Run) -> Integers:
    """Group of each volume."""
    steps = np.floor(np.log([run.io_rate.value, run.service.value]) / SPREAD)
    return np.unique(steps, axis=1, return_inverse=True)[1].ravel()


def _demand_of(run: Run, found: Predicted, device_model: DeviceModel) -> Candidate:
    """Each volume by itself."""
    people, think, rate = _demand(run.io_rate.value, run.service.value, run.queued.value, found.requesters)
    pool = pool_of(device_model, found.alone, population=people, think_time=think, arrival_rate=rate)
    return Candidate(pool=pool, residual=found.off / FITS)
