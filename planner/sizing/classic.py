"""What classic PAV would take for the same target: the volumes of many pools, each with aliases of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.demand import Target
from planner.devices import Pool, Volume, VolumeClass
from planner.results import Array

MOST_OF_ONE_VOLUME: Final = 32  # aliases that a search for a single volume tries


def classic_aliases(pools: Sequence[Pool], target: Target) -> list[int | None]:
    """Count the aliases that the volumes of each pool would take with classic PAV, each volume with its own."""
    classes = [
        (pool, replace(part, service_time=service))
        for pool in pools
        for part, service in zip(pool.classes, pool.service_times, strict=True)
    ]
    population = np.array([part.population for _, part in classes])
    most = np.fmin(population - 1.0, MOST_OF_ONE_VOLUME)
    found = np.full(len(classes), np.nan)
    for count in range(MOST_OF_ONE_VOLUME + 1):
        open_yet = np.flatnonzero(np.isnan(found) & (count <= most))
        if open_yet.size:
            figures = _alone([classes[k] for k in open_yet], count, with_fails=not target.of_waits)
            found[open_yet[target.met(*figures)]] = count
    takes = found * np.array([part.volumes for _, part in classes])
    ends = np.cumsum([len(pool.classes) for pool in pools])[:-1]
    sums = [float(each.sum()) for each in np.split(takes, ends)]
    return [None if np.isnan(total) else int(total) for total in sums]


def _alone(classes: Sequence[tuple[Pool, VolumeClass]], aliases: int, *, with_fails: bool) -> Array:
    """Rate, service time, queue, share and rate of tries without alias, as if its pool were of volumes of one class.

    Each volume has so many aliases of its own; shape (5, classes).
    """
    if with_fails:
        return _one_by_one(classes, aliases)
    service, inflation, gap, bases = np.array(
        [(part.service_time, pool.inflation, pool.redrive_time, pool.bases) for pool, part in classes]
    ).T
    population, think, rate = np.array(
        [(part.population, part.think_time, part.arrival_rate) for _, part in classes]
    ).T
    rows = np.full((5, len(classes)), np.nan)
    closed = ~np.isnan(population)

    def keep(where: NDArray[np.bool_], steady: queueing.Steady) -> None:
        queued = np.maximum(steady.queue_length - steady.in_gap, 0.0)
        rows[:3, where] = bases[where] * steady.throughput, steady.service_time, bases[where] * queued

    if closed.any():
        keep(closed, queueing.finite_source(
            population[closed], think[closed], service[closed], 1.0 + aliases, inflation=inflation[closed],
            redrive_time=gap[closed],
        ))  # fmt: skip
    if not closed.all():
        keep(~closed, queueing.mmc(
            rate[~closed], service[~closed], 1.0 + aliases, inflation=inflation[~closed], redrive_time=gap[~closed]
        ))  # fmt: skip
    return rows


def _one_by_one(classes: Sequence[tuple[Pool, VolumeClass]], aliases: int) -> Array:
    """The same with the tries that fail, which only the chain of a pool tells."""
    solved = []
    for pool, part in classes:
        one = VolumeClass(
            population=part.population, think_time=part.think_time, arrival_rate=part.arrival_rate
        )
        rows = Volume(
            demand=one, service_time=part.service_time, inflation=pool.inflation,
            redrive_time=pool.redrive_time,
        ).solve([float(aliases)])  # fmt: skip
        bases = pool.bases
        solved.append(
            (
                bases * rows.io_rate[0], rows.service_time[0], bases * rows.queued[0], rows.no_alias[0],
                bases * rows.fails[0],
            )
        )  # fmt: skip
    return np.array(solved).T
