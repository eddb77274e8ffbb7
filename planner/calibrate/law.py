"""The law that is fitted: totals of runs for many sets of parameters at once, and how far they are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from planner import queueing
from planner.calibrate.observation import LOGARITHMIC, Observation
from planner.devices import Pool, VolumeClass
from planner.devices.parameters import INFLATION, REDRIVE_TIME, SERVICE_TIME, THINK_TIME
from planner.quantity import Quantity
from planner.results import Array

PARAMETERS: Final[tuple[Quantity, ...]] = (SERVICE_TIME, THINK_TIME, INFLATION, REDRIVE_TIME)
KEYS: Final = tuple(parameter.key for parameter in PARAMETERS)


def totals(observations: Sequence[Observation], population: float, values: Array) -> Array:
    """Ask the law for the totals of all runs, shape (sets, runs, 3) [1]."""
    requesters = np.array([float(run.population or population) for run in observations])
    found = np.empty((len(values), len(observations), 3))
    apart = np.array([_independent(run, n) for run, n in zip(observations, requesters, strict=True)])
    if apart.any():
        found[:, apart] = _own_queues(
            [run for run, alone in zip(observations, apart, strict=True) if alone], requesters[apart], values
        )
    known: dict[tuple[int, int, int], list[list[float]]] = {}  # a run measured twice is solved once
    for k, run in enumerate(observations):
        if apart[k]:
            continue
        pool = (run.volumes, run.aliases, int(requesters[k]))
        if pool not in known:
            known[pool] = [_pool(*pool, row) for row in values]
        found[:, k] = known[pool]
    return found


def _independent(run: Observation, population: float) -> bool:
    """Whether no volume can be without an alias because of another volume."""
    return run.aliases == 0 or run.volumes == 1 or run.aliases >= run.volumes * (population - 1)


def _own_queues(observations: Sequence[Observation], requesters: Array, values: Array) -> Array:
    """Volumes that do not compete for aliases: each is a closed queue of its own, all solved side by side."""
    servers = np.minimum(np.array([1.0 + run.aliases for run in observations]), requesters)
    volumes = np.array([float(run.volumes) for run in observations])
    service, think, inflation, gap = (values[:, k, None] for k in range(len(PARAMETERS)))
    steady = queueing.finite_source(
        requesters, think, service, servers, inflation=inflation, redrive_time=gap
    )
    queued = np.maximum(steady.queue_length - steady.in_gap, 0.0)
    return np.stack([volumes * steady.throughput, steady.service_time, volumes * queued], axis=-1)


def _pool(volumes: int, aliases: int, population: int, row: Array) -> list[float]:
    """Volumes that compete for aliases."""
    service, think, inflation, gap = (float(value) for value in row)
    demand = VolumeClass(volumes=volumes, population=population, think_time=think)
    pool = Pool(classes=(demand,), service_time=service, inflation=inflation, redrive_time=gap)
    found = pool.solve([aliases])
    return [float(found.io_rate[0]), float(found.service_time[0]), float(found.queued[0])]


def figure(name: str, found: Array) -> Array:
    """Take one figure from totals, on the scale on which it is compared, shape (...,)."""
    rate, service, queued = found[..., 0], found[..., 1], found[..., 2]
    value: Array = {
        "io_rate": rate,
        "service_time": service,
        "response_time": service + queued / rate,
        "wait_time": queued / rate,
        "queued": queued,
    }[name]
    return np.log(value) if name in LOGARITHMIC else value


def differences(observations: Sequence[Observation], population: float, values: Array) -> Array:
    """Law less measurement, for every figure of every run, shape (sets, figures) [1]."""
    found = totals(observations, population, values)
    columns = [
        figure(name, found[:, k]) - (np.log(value) if name in LOGARITHMIC else value)
        for k, run in enumerate(observations)
        for name, (value, _) in run.figures.items()
    ]
    return np.stack(columns, axis=-1)
