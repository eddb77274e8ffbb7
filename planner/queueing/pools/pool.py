"""Pools as classes of equal volumes, and checks of many pools at once.

A call passes through four shapes: `CheckedPools`, all that were asked for, in the caller's units; `PoolElements`, a row
for each alias count of each pool, in service times, for methods that solve rows side by side; `OnePool`, a pool with
its active classes only, for methods that solve one at a time; `StateLayout`, the whole numbers on which the states of
its chain depend, which pools with other times and rates share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.results import Array, Flags, Integers

MOST_DEVICES = 4096
"""Most bases and aliases together, to bound time and memory."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OnePool:
    """Active classes of equal volumes that share aliases; times in units of their mean uninflated service time."""

    volumes: Array  # Volumes of each class, shape (classes,) [1]
    population: Array  # Requesters at each volume, `nan` for an open class, shape (classes,) [1]
    think_time: (
        Array  # Mean think time of a requester, `nan` for an open class, shape (classes,) [service times]
    )
    arrival_rate: (
        Array  # Arrivals at each volume, `nan` for a closed class, shape (classes,) [1/service time]
    )
    service_time: float  # The unit of time: the mean service time of the volumes [s]
    service: Array  # Mean service time of an I/O served alone, shape (classes,) [service times]
    # Relative growth of the service time with each further I/O in service at the same volume [1]
    inflation: float = 0.0
    # Gap of a device before an I/O that had to wait is started [service times]
    redrive_time: float = 0.0

    @property
    def classes(self) -> int:
        """Number of classes [1]."""
        return int(self.volumes.size)

    @property
    def bases(self) -> int:
        """Number of volumes, each with its base device [1]."""
        return int(self.volumes.sum())

    @cached_property
    def closed(self) -> Flags:
        """Which classes are closed, shape (classes,) [bool]."""
        return np.isfinite(self.population)

    def service_growth(self, in_service: Array) -> Array:
        """Factor of the service time with `in_service` I/Os of the volume in service [1]."""
        return 1.0 + self.inflation * np.maximum(in_service - 1.0, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckedPools:
    """Checked pools, scenarios flat on the first axis; classes without volumes or arrivals are not active."""

    shape: tuple[int, ...]  # Shape of the scenarios as given
    volumes: Array  # Shape (scenarios, classes) each, in the caller's units
    population: Array
    think_time: Array
    arrival_rate: Array
    service_time: Array
    unit: Array  # Mean service time of the volumes, shape (scenarios,) [s]
    inflation: Array  # Shape (scenarios,) [1]
    redrive_time: Array  # Shape (scenarios,) [s]

    @property
    def closed(self) -> Flags:
        """Which classes are closed; those without volumes are not."""
        return np.isfinite(self.population)

    @cached_property
    def active(self) -> Flags:
        """Which classes have volumes with arrivals."""
        return (self.volumes > 0.0) & (self.closed | (self.arrival_rate > 0.0))

    @cached_property
    def service(self) -> Array:
        """Service time of each class, in units of the mean of its pool."""
        return self.service_time / self.unit[:, None]

    def pool(self, scenario: int) -> OnePool:
        """Pool of one scenario, with its active classes only."""
        here, unit = self.active[scenario], float(self.unit[scenario])
        return OnePool(
            volumes=self.volumes[scenario, here],
            population=self.population[scenario, here],
            think_time=self.think_time[scenario, here] / unit,
            arrival_rate=self.arrival_rate[scenario, here] * unit,
            service_time=unit,
            service=self.service[scenario, here],
            inflation=float(self.inflation[scenario]),
            redrive_time=float(self.redrive_time[scenario]) / unit,
        )


def check_pools(
    *,
    volumes: ArrayLike,
    service_time: ArrayLike,
    population: ArrayLike | None = None,
    think_time: ArrayLike | None = None,
    arrival_rate: ArrayLike | None = None,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> CheckedPools:
    """Check the arguments of `alias_pool`."""
    count = _numbers("volumes", volumes, None)
    classes = count.shape[-1]
    whole = "a whole number of volumes, 1 or more, in each class; 0 where other pools of the call have more classes"
    _refuse("volumes", count, ~((count >= 0.0) & (count == np.rint(count)) & (count <= MOST_DEVICES)), whole)
    _refuse("volumes", count.max(axis=-1), ~(count.max(axis=-1) > 0.0), "at least one volume in each pool")
    asked = {
        "service_time": _numbers(
            "service_time", service_time, None if np.ndim(service_time) == 0 else classes, "s"
        ),
        "population": _numbers("population", population, classes),
        "think_time": _numbers("think_time", think_time, classes, "s"),
        "arrival_rate": _numbers("arrival_rate", arrival_rate, classes, "1/s"),
    }
    by_pool = {
        "inflation": checks.nonnegative("inflation", inflation),
        "redrive_time": checks.nonnegative("redrive_time", redrive_time, "s"),
    }
    shapes = [
        count.shape[:-1],
        *(each.shape[:-1] for each in asked.values()),
        *(each.shape for each in by_pool.values()),
    ]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        names = ["volumes", *asked, *by_pool]
        shown = ", ".join(f"{name} {each}" for name, each in zip(names, shapes, strict=True))
        raise InputError("shapes", shown, "leading dimensions that broadcast against each other") from None

    def flat(values: Array) -> Array:
        return np.array(np.broadcast_to(values, (*shape, classes)), dtype=np.float64).reshape(-1, classes)

    count, rows = flat(count), {name: flat(values) for name, values in asked.items()}
    used = count > 0.0
    for values in rows.values():
        values[~used] = np.nan
    one = {name: np.array(np.broadcast_to(values, shape)).reshape(-1) for name, values in by_pool.items()}
    service, unit = _service_times(rows.pop("service_time"), count)
    _check_classes(used, rows["population"], rows["think_time"], rows["arrival_rate"])
    checked = CheckedPools(shape=shape, volumes=count, service_time=service, unit=unit, **rows, **one)
    _check_ratios(checked)
    return checked


def check_aliases(aliases: ArrayLike, scenarios: CheckedPools) -> tuple[Array, Integers]:
    """Check the alias counts; return them and the scenario of each, in the shape of the results."""
    try:
        counts = np.array(checks.plain(aliases), dtype=np.float64)  # a copy: the caller's array may change
    except (TypeError, ValueError):
        raise InputError("aliases", aliases, "whole numbers") from None
    if counts.size == 0:
        raise InputError("aliases", aliases, "a number or an array of numbers")
    scenario = np.arange(scenarios.unit.size).reshape(scenarios.shape)
    try:
        counts, scenario = (np.array(each) for each in np.broadcast_arrays(counts, scenario))
    except ValueError:
        shown = f"aliases {counts.shape}, pools {scenarios.shape}"
        raise InputError("aliases", shown, "shapes that broadcast against each other") from None
    bases = scenarios.volumes.sum(axis=-1)[scenario]
    wrong = ~((counts >= 0) & (counts <= MOST_DEVICES - bases) & (counts == np.rint(counts)))
    if wrong.any():
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        most, beside = int(MOST_DEVICES - bases[first]), int(bases[first])
        expected = f"a whole number from 0 to {most} ({MOST_DEVICES} less {beside} bases)"
        raise InputError("aliases", float(counts[first]), expected)
    return counts, scenario


def _numbers(name: str, value: ArrayLike | None, classes: int | None, unit: str = "") -> Array:
    """Numbers with the classes on the last axis; all `nan` if the argument was not given."""
    if value is None:
        return np.full(classes or 1, np.nan)
    try:
        values = np.atleast_1d(np.array(checks.plain(value), dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(name, value, "numbers, one for each class of volumes", unit) from None
    if values.size == 0:
        raise InputError(name, value, "one value for each class of volumes", unit)
    if classes is not None and values.shape[-1] != classes:
        raise InputError(name, value, f"one value for each of the {classes} classes that volumes has", unit)
    return values


def _refuse(name: str, values: Array, wrong: Flags, expected: str, unit: str = "") -> None:
    """Refuse the first wrong value."""
    if np.any(wrong):
        raise InputError(name, float(np.asarray(values)[wrong].ravel()[0]), expected, unit)


def _service_times(times: Array, volumes: Array) -> tuple[Array, Array]:
    """Service time of each class, and their mean over the volumes of a pool."""
    used = volumes > 0.0
    wrong = used & ~((times >= 1.0 / checks.LARGEST) & (times <= checks.LARGEST))
    _refuse("service_time", times, wrong, "a finite time above 0, one for all classes or one for each", "s")
    known = np.where(used, times, 0.0)
    largest = known.max(axis=-1)
    alike = np.where(used, times == largest[:, None], True).all(axis=-1)
    mean = np.where(alike, largest, (known * volumes).sum(axis=-1) / volumes.sum(axis=-1))
    return np.where(used, times, mean[:, None]), mean


def _check_classes(used: Flags, population: Array, think_time: Array, arrival_rate: Array) -> None:
    """Check that each class is either closed (population and think time) or open (arrival rate)."""
    closed, opened = ~np.isnan(population), ~np.isnan(arrival_rate)
    for both, have in ((True, "both"), (False, "neither")):
        wrong = used & (closed == opened) & (closed == both)
        wanted = f"population or arrival_rate for each class, not {have}"
        _refuse("arrival_rate", arrival_rate, wrong, wanted, "1/s")
    wrong, wanted = (
        used & (closed == np.isnan(think_time)),
        "a think time for each class with a population, and no other",
    )
    _refuse("think_time", think_time, wrong, wanted, "s")
    wrong = used & opened & ~((arrival_rate >= 0.0) & (arrival_rate <= checks.LARGEST))
    _refuse("arrival_rate", arrival_rate, wrong, "a finite rate, 0 or more", "1/s")
    whole = (population >= 1.0) & (population < np.inf) & (population == np.rint(population))
    _refuse("population", population, used & closed & ~whole, "a whole number of requesters, 1 or more")
    moderate = (think_time >= 1.0 / checks.LARGEST) & (think_time <= checks.LARGEST)
    _refuse("think_time", think_time, used & closed & ~moderate, "a finite time above 0", "s")


def _check_ratios(pools: CheckedPools, farthest: float = 1e12) -> None:
    """Refuse times and rates so far from the mean service time that rounding would affect the others."""
    unit, near = pools.unit, 1.0 / farthest
    for name, dimension, power, least in (
        ("service_time", "s", 1, near), ("think_time", "s", 1, near), ("arrival_rate", "1/s", -1, near),
        ("inflation", "", 0, 0.0), ("redrive_time", "s", 1, 0.0),
    ):  # fmt: skip
        values = getattr(pools, name)
        scale = unit**power if values.ndim == 1 else (unit**power)[:, None]
        relative = values / scale
        wrong = ~(np.isnan(relative) | (relative == 0.0) | ((relative >= least) & (relative <= farthest)))
        if wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            of, mean = float(np.broadcast_to(scale, wrong.shape)[at]), float(unit[at[0]])
            wanted = f"a number from {least * of:.3g} to {farthest * of:.3g} for service of {mean:.3g} s"
            raise InputError(name, float(values[at]), wanted, dimension)
