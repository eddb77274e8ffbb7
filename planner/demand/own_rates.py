"""Steady demand of unequal volumes that share aliases in use: each asks for its own rate, and waits as it did.

A volume with x I/Os a second, s in service and w queued, has N requesters that think ``Z = N / x - s - w`` (Little's
law). How many they are is one number for the pool: k times the I/Os present at each volume, open arrivals where it has
no end. The model of the pool predicts rate and queue for each k; those that it predicts as measured are candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from planner.demand.device_model import DeviceModel
from planner.demand.read import RATIO_ERROR, WAIT_ERROR
from planner.demand.steady import Candidate
from planner.devices import Pool, VolumeClass
from planner.measurements import Run
from planner.queueing.pools.result import PoolSteady
from planner.queueing.pools.solve import solve_pools
from planner.results import Array

REQUESTERS: Final = (1.0, 1.5, 2.5, 5.0, 10.0, 25.0, math.inf)  # of the I/Os present
SPREAD: Final = 0.2  # of rates, and of service times, of volumes that are solved as equal ones, in logarithms
FITS: Final = 1.5  # standard deviations of rate and wait together
BESIDE: Final = 2.0  # up to which others count for the range where one fits
MOST_QUEUED: Final = 150.0
SCREEN: Final = 2.5
LEAST_THINK: Final = 1e-3  # service times


def at_own_rates(runs: Sequence[Run], device_model: DeviceModel) -> list[tuple[Candidate, ...]]:
    """Steady demands that predict each measurement, the nearest first; none where nothing steady does.

    Requesters queue less than Poisson arrivals of their rates: where those queue less than was measured, nothing fits.

    Parameters
    ----------
    runs : sequence of Run
        Measurements of pools with a queue and aliases in use; none changes the candidates of another.
    device_model : DeviceModel
        Inflation and redrive gap of the devices.

    Returns
    -------
    list of tuple of Candidate
        One a measurement.
    """
    found: list[list[Candidate]] = [[] for _ in runs]
    going = [k for k, run in enumerate(runs) if run.total_queue.value <= MOST_QUEUED]
    alone = [run.service.value for run in runs]
    some = _predicted([(runs[k], SCREEN) for k in going], [alone[k] for k in going], device_model, passes=2)
    for k, each in zip(going, some, strict=True):
        alone[k] = each.service
        found[k].append(each)
    going = [k for k in going if not (found[k][0].rate > 1.1 and found[k][0].queue < 0.8)]
    for times in REQUESTERS:
        if times == SCREEN:
            continue
        if times > SCREEN:
            going = [k for k in going if _on(found[k])]
        some = _predicted([(runs[k], times) for k in going], [alone[k] for k in going], device_model)
        for k, each in zip(going, some, strict=True):
            found[k].append(each)
    kept = [sorted((each for each in some if each.off <= BESIDE), key=lambda each: each.off) for some in found]
    return [
        tuple(each.candidate(run, device_model) for each in some) if some and some[0].off <= FITS else ()
        for run, some in zip(runs, kept, strict=True)
    ]


def _on(found: Sequence[Predicted]) -> bool:
    last = found[-1]
    return last.queue < (1.0 if last.times >= 25.0 else 1.0 + BESIDE * WAIT_ERROR)


class Predicted(NamedTuple):
    times: float
    service: Array
    queue: float
    rate: float
    off: float

    def candidate(self, run: Run, device_model: DeviceModel) -> Candidate:
        return Candidate(pool=_pool(run, self.times, self.service, device_model), residual=self.off / FITS)


def _predicted(
    cases: Sequence[tuple[Run, float]], services: Sequence[Array], device_model: DeviceModel, passes: int = 1
) -> list[Predicted]:
    """What each predicts."""
    if not cases:
        return []
    groups = [_alike(run) for run, _ in cases]
    shape = len(cases), max(each.max() + 1 for each in groups)
    volumes, service, alone = np.zeros(shape), np.ones(shape), np.ones(shape)
    demand = np.full((3, *shape), np.nan)
    for k, ((run, times), group) in enumerate(zip(cases, groups, strict=True)):
        many = np.bincount(group)
        there = slice(many.size)
        volumes[k, there] = many
        x = run.io_rate.value
        rate, busy, queue, lone = (np.bincount(group, weights=each) / many for each in (x, x * run.service.value, run.queued.value, x * services[k]))
        service[k, there], alone[k, there] = busy / rate, lone / rate
        demand[:, k, there] = _demand(rate, busy / rate, queue, times)
    aliases = np.array([run.aliases for run, _ in cases])
    rate, queue, busy = np.array([(run.total_rate.value, run.total_queue.value, run.io_rate.value @ run.service.value) for run, _ in cases]).T
    for k in range(passes):
        steady = _solved(aliases, volumes, demand, alone, device_model)
        if k < passes - 1:
            alone *= service / np.where(np.isfinite(steady.service_time) & (volumes > 0), steady.service_time, service)
    known = steady.converged
    waiting = np.nansum(volumes * (steady.queue_length - steady.in_gap), axis=1)
    total = np.nansum(volumes * steady.throughput, axis=1) / rate
    spare = 0.015 * busy
    ratio = (waiting + spare) / (queue + spare)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.hypot(np.log(ratio) / WAIT_ERROR, (total - 1.0) / RATIO_ERROR)
    off = np.where(known & np.isfinite(off), off, np.inf)
    ratio = np.where(known, ratio, np.inf)
    return [
        Predicted(times, (alone / service)[k, group] * run.service.value, float(ratio[k]), float(total[k]), float(off[k]))
        for k, ((run, times), group) in enumerate(zip(cases, groups, strict=True))
    ]


def _solved(aliases: Array, volumes: Array, demand: Array, alone: Array, device_model: DeviceModel) -> PoolSteady:
    return solve_pools(
        aliases, volumes=volumes, population=demand[0], think_time=demand[1], arrival_rate=demand[2],
        service_time=alone, inflation=device_model.inflation, redrive_time=device_model.redrive_time,
    )


def _demand(rate: Array, service: Array, queue: Array, times: float) -> Array:
    """Requesters, think times and arrival rates of volumes, nan where of the other sort, (3, volumes)."""
    nothing = np.full(rate.shape, np.nan)
    if math.isinf(times):
        return np.array([nothing, nothing, rate])
    present = rate * service + queue
    people = np.maximum(np.ceil(np.round(times * present, 6)), np.where(queue > 0.0, 2.0, 1.0))
    return np.array([people, np.maximum((people - present) / rate, LEAST_THINK * service), nothing])


def _alike(run: Run) -> Array:
    """Class of each volume."""
    steps = np.floor(np.log([run.io_rate.value, run.service.value]) / SPREAD)
    return np.unique(steps, axis=1, return_inverse=True)[1].ravel()


def _pool(run: Run, times: float, alone: Array, device_model: DeviceModel) -> Pool:
    service = run.service.value
    people, think, rate = _demand(run.io_rate.value, service, run.queued.value, times)
    each = zip(people.tolist(), think.tolist(), rate.tolist(), alone.tolist(), strict=True)
    classes = tuple(
        VolumeClass(population=n, think_time=z, arrival_rate=x, service_time=s) for n, z, x, s in each
    )
    return Pool(classes=classes, service_time=float(alone.mean()), inflation=device_model.inflation, redrive_time=device_model.redrive_time)
