"""The volumes of a pool one by one: what each asks for under a reading, and which of them count as one class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner import queueing
from planner.demand import Law, Reading
from planner.devices import Pool, VolumeClass
from planner.measurements import Measurement, Run
from planner.queueing.pools.grouping import VolumeGroups, alias_pool_of_volumes, group_volumes
from planner.results import Array
from planner.sizing.fewest import first_guess

TOLERANCE: Final = 0.02  # relative error of the wait of a volume that grouping may make
MOST_CLASSES: Final = 8
FEW_CLASSES: Final = 3  # of exactly equal volumes: nothing is gained by grouping them
EQUAL: Final = 1e-6
LEAST_THINK: Final = 1e-3  # think time over service time
THINK_GRID: Final = 400
LONGEST_THINK: Final = 1e6
SPREAD_IN_USE: Final = 0.25  # relative difference of rates within a class, where aliases are in use
PASSES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demands:
    """What each volume asks for.

    Attributes
    ----------
    population, think_time, arrival_rate : ndarray
        As of `planner.queueing.alias_pool`, one a volume, nan where of the other sort, shape (volumes,).
    service_time : float
        Of an I/O that is alone on its volume, the mean weighted by rate [s].
    """

    population: Array
    think_time: Array
    arrival_rate: Array
    service_time: float

    def grown(self, growth: float) -> Demands:
        """Let the demand grow: rates as they are, requesters to the next whole number, the busiest volumes first.

        Parameters
        ----------
        growth : float
            Share by which the demand grows.

        Returns
        -------
        Demands
            Of as many volumes.
        """
        population = self.population.copy()
        for kind in np.unique(population[~np.isnan(population)]):
            members = np.flatnonzero(self.population == kind)
            members = members[np.argsort(self.think_time[members], kind="stable")]
            requesters = math.ceil(round(kind * members.size * (1 + growth), 9))
            each, more = divmod(requesters, members.size)
            population[members] = each
            population[members[:more]] += 1
        return Demands(population=population, think_time=self.think_time, service_time=self.service_time,
                       arrival_rate=self.arrival_rate * (1 + growth))  # fmt: skip

    def pool(self, law: Law, most_aliases: int) -> tuple[Pool, float]:
        """Group volumes of nearly equal demand, in as few classes as the error allows.

        Parameters
        ----------
        law : Law
            Inflation and redrive gap.
        most_aliases : int
            Aliases that there are addresses for; the error is judged at a guess of the count needed.

        Returns
        -------
        Pool
            The classes.
        float
            Largest change of the wait of a volume when the classes were last made finer; inf where there is no room
            for finer ones [share].
        """
        each = {
            "population": self.population, "think_time": self.think_time, "arrival_rate": self.arrival_rate
        }  # fmt: skip
        groups = group_volumes(**each, spread=EQUAL)
        if groups.volumes.size <= FEW_CLASSES:
            return self._pool(groups, law), 0.0
        guess = min(first_guess(self._pool(groups, law)), most_aliases)
        solved = alias_pool_of_volumes(
            guess, service_time=self.service_time, tolerance=TOLERANCE, most_classes=MOST_CLASSES,
            inflation=law.inflation, redrive_time=law.redrive_time, **each,
        )  # fmt: skip
        return self._pool(solved.groups, law), solved.error

    def _pool(self, groups: VolumeGroups, law: Law) -> Pool:
        classes = tuple(
            VolumeClass(volumes=int(n), population=float(p), think_time=float(z), arrival_rate=float(r))
            for n, p, z, r in zip(
                groups.volumes, groups.population, groups.think_time, groups.arrival_rate, strict=True
            )
        )
        return Pool(
            classes=classes, service_time=self.service_time, inflation=law.inflation, redrive_time=law.redrive_time
        )  # fmt: skip


def demands(reading: Sequence[Reading], run: Run, law: Law) -> Demands:
    """Tell what each volume asks for: its own rate, with the requesters that were read for its class.

    A volume whose rate differs from that of its class by no more than the printed digits allow counts as equal to it.

    Parameters
    ----------
    reading : sequence of Reading
        One for each class of the run.
    run : Run
        The measurement.
    law : Law
        Inflation and redrive gap.

    Returns
    -------
    Demands
        One a volume, class after class.
    """
    population, think, arrivals = [], [], []
    for each, part in zip(reading, run.classes, strict=True):
        nothing = np.full(part.volumes, np.nan)
        rates = _own_rates(part)
        if each.population is None:
            population.append(nothing)
            think.append(nothing)
            arrivals.append(rates)
        else:
            own = _think_times(each, part, rates, law)
            population.append(np.full(part.volumes, float(each.population)))
            think.append(own)
            arrivals.append(nothing)
    weights = [each.io_rate for each in reading]
    return Demands(
        population=np.concatenate(population),
        think_time=np.concatenate(think),
        arrival_rate=np.concatenate(arrivals),
        service_time=float(np.average([each.service_time for each in reading], weights=weights)),
    )


def _own_rates(part: Measurement) -> Array:
    """Rates of the volumes; those that the digits of the service time let be equal to the mean are the mean."""
    mean = part.io_rate.value / part.volumes
    if not part.rates:
        return np.full(part.volumes, mean)
    rates = np.array(part.rates)
    if not part.queue_known:
        return rates
    room = (part.service.high - part.service.value) / part.service.value
    return np.where(np.abs(rates / mean - 1) <= room, mean, rates)


def _think_times(reading: Reading, part: Measurement, rates: Array, law: Law) -> Array:
    """Think time at which each volume has its own rate with the aliases in use."""
    assert reading.population is not None and reading.think_time is not None
    mean = part.io_rate.value / part.volumes
    if np.all(rates == mean):
        return np.full(rates.size, reading.think_time)
    own = (
        _think_alone(reading, rates, law)
        if part.aliases == 0
        else _think_in_use(reading, part.aliases, rates, law)
    )
    return np.where(rates == mean, reading.think_time, own)


def _think_alone(reading: Reading, rates: Array, law: Law) -> Array:
    """Without aliases: the rate falls with the think time; the one of a lone volume is turned around."""
    service = reading.service_time
    think = np.geomspace(LEAST_THINK * service, LONGEST_THINK * service, THINK_GRID)
    rate = queueing.finite_source(
        reading.population or 1, think, service, 1, inflation=law.inflation, redrive_time=law.redrive_time
    ).throughput
    # Between the points of the grid rate x (think + response) = requesters holds the curve better than the rate does.
    found: Array = np.exp(np.interp(np.log(rates), np.log(rate[::-1]), np.log(think[::-1])))
    return found


def _think_in_use(reading: Reading, aliases: int, rates: Array, law: Law) -> Array:
    """With aliases: think time = requesters / rate - response, the response of its class in the whole pool."""
    people, service = float(reading.population or 1), reading.service_time
    population = np.full(rates.size, people)
    groups = group_volumes(population=population, think_time=1.0 / rates, spread=SPREAD_IN_USE)
    class_rate = 1.0 / groups.think_time
    floor = LEAST_THINK * service
    think = np.maximum(
        people / class_rate - people * rates.size / rates.sum() + (reading.think_time or 0.0), floor
    )
    response = people / class_rate - think
    for _ in range(PASSES):
        steady = queueing.alias_pool(
            aliases, volumes=groups.volumes, population=groups.population, think_time=think, service_time=service,
            inflation=law.inflation, redrive_time=law.redrive_time,
        )  # fmt: skip
        response = people / steady.throughput - think
        think = np.maximum(people / class_rate - response, floor)
    return np.maximum(people / rates - groups.at_own_rate(response), floor)
