"""What a pool is: its classes of equal volumes, checked, with a mean service time as the unit of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.queueing import checks
from planner.results import Array

MOST_DEVICES = 4096
"""Bases and aliases together: keeps time and memory within bounds."""
TINY: Final = float(np.finfo(float).tiny)
"""What divides in place of 0."""
FARTHEST: Final = 1e12
"""Ratio, either way, of any time to the mean service time, beyond which rates lose their digits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckedPool:
    """Classes of equal volumes that share aliases; every time is in units of the mean uninflated service time."""

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
    scv: float = 1.0  # Squared coefficient of variation of the service time [1]
    # Relative growth of the service time with each further I/O in service at the same volume [1]
    inflation: float = 0.0
    redrive_time: float = (
        0.0  # Gap of a base, of an alias, before an I/O that had to wait is started [service times]
    )
    alias_redrive_time: float = 0.0

    @property
    def classes(self) -> int:
        """Number of classes [1]."""
        return int(self.volumes.size)

    @property
    def bases(self) -> int:
        """Number of volumes, each with its base device [1]."""
        return int(self.volumes.sum())

    @cached_property
    def closed(self) -> NDArray[np.bool_]:
        """Which classes are closed, shape (classes,) [bool]."""
        return np.isfinite(self.population)

    @property
    def even(self) -> bool:
        """Whether all classes have one service time, so that it does not matter whose I/O holds an alias."""
        return bool(np.all(self.service == 1.0))

    @cached_property
    def most_beyond(self) -> float:
        """Most I/Os that no base holds, inf with an open class [1]."""
        return float(self.volumes @ np.where(self.closed, self.population - 1.0, np.inf))

    @property
    def slowed(self) -> bool:
        """Whether I/Os of a volume slow each other down, or a device waits for a gap."""
        return self.inflation > 0.0 or self.redrive_time > 0.0 or self.alias_redrive_time > 0.0

    def service_growth(self, in_service: Array) -> Array:
        """Factor of the service time with `in_service` I/Os of the volume in service [1]."""
        return 1.0 + self.inflation * np.maximum(in_service - 1.0, 0.0)

    def of_one(self, k: int) -> CheckedPool:
        """One volume of class k by itself, its own service time as the unit of time."""
        own = float(self.service[k])
        return replace(
            self,
            volumes=np.ones(1),
            population=self.population[[k]],
            think_time=self.think_time[[k]] / own,
            arrival_rate=self.arrival_rate[[k]] * own,
            service_time=self.service_time * own,
            service=np.ones(1),
            redrive_time=self.redrive_time / own,
            alias_redrive_time=self.alias_redrive_time / own,
        )


def check_pool(
    *,
    volumes: ArrayLike,
    service_time: ArrayLike,
    population: ArrayLike | None,
    think_time: ArrayLike | None,
    arrival_rate: ArrayLike | None,
    scv: float,
    inflation: float,
    redrive_time: float,
    alias_redrive_time: float | None,
) -> CheckedPool:
    """Check the arguments of `alias_pool` and put them into units of the service time."""
    count = _per_class("volumes", volumes, None)
    classes = count.size
    service, unit = _service_times(service_time, count)
    for value in count:
        if not value >= 1 or value != round(value):
            raise InputError("volumes", float(value), "a whole number of volumes, 1 or more, in each class")
    people = _per_class("population", population, classes)
    think = _per_class("think_time", think_time, classes)
    rate = _per_class("arrival_rate", arrival_rate, classes)
    for k in range(classes):
        _check_class(people[k], think[k], rate[k])
    gap = _number("redrive_time", redrive_time, at_least=0.0, unit="s")
    alias_gap = gap
    if alias_redrive_time is not None:
        alias_gap = _number("alias_redrive_time", alias_redrive_time, at_least=0.0, unit="s")
    pool = CheckedPool(
        volumes=count,
        population=people,
        think_time=think / unit,
        arrival_rate=rate * unit,
        service_time=unit,
        service=service,
        scv=_number("scv", scv, at_least=0.0),
        inflation=_number("inflation", inflation, at_least=0.0),
        redrive_time=gap / unit,
        alias_redrive_time=alias_gap / unit,
    )
    _check_ratios(pool)
    return pool


def check_aliases(aliases: ArrayLike, pool: CheckedPool) -> Array:
    """Check the alias counts of a sweep."""
    try:
        counts = np.array(checks.plain(aliases), dtype=np.float64)  # a copy: the caller's array may change
    except (TypeError, ValueError):
        raise InputError("aliases", aliases, "whole numbers") from None
    if counts.ndim > 1 or counts.size == 0:
        raise InputError("aliases", aliases, "a number or a sequence of numbers")
    most = MOST_DEVICES - pool.bases
    for value in counts.flat:
        if not 0 <= value <= most or value != round(value):
            raise InputError(
                "aliases",
                float(value),
                f"a whole number from 0 to {most} ({MOST_DEVICES} less {pool.bases} bases)",
            )
    return counts


def _per_class(name: str, value: ArrayLike | None, classes: int | None) -> Array:
    """One value a class; `nan` throughout where the argument was not given."""
    if value is None:
        return np.full(classes or 0, np.nan)
    try:
        values = np.atleast_1d(np.array(checks.plain(value), dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(name, value, "numbers, one for each class of volumes") from None
    if values.ndim > 1 or values.size == 0:
        raise InputError(name, value, "one value for each class of volumes")
    if classes is not None and values.size != classes:
        raise InputError(name, value, f"one value for each of the {classes} classes that volumes has")
    return values


def _service_times(value: ArrayLike, volumes: Array) -> tuple[Array, float]:
    """Service time of each class, relative to their mean over the volumes, and that mean; 1 where all are equal."""
    expected = (
        f"a finite time above 0, one for all or one for each of the {volumes.size} classes that volumes has"
    )
    if np.ndim(value) == 0:
        return np.ones(volumes.size), _number("service_time", value, above=0.0, unit="s")
    times = _per_class("service_time", value, None)
    if times.size != volumes.size:
        raise InputError("service_time", value, expected, "s")
    for time in times:
        if not (time > 0.0 and _moderate(float(time))):
            raise InputError("service_time", float(time), expected, "s")
    if np.all(times == times[0]):
        return np.ones(volumes.size), float(times[0])
    mean = float(times @ volumes / volumes.sum())
    return times / mean, mean


def _check_class(population: float, think_time: float, arrival_rate: float) -> None:
    """A class is closed (population and think time) or open (arrival rate), never both or neither."""
    closed = not bool(np.isnan(population))
    if closed != bool(np.isnan(arrival_rate)):
        have = "both" if closed else "neither"
        raise InputError(
            "arrival_rate", arrival_rate, f"population or arrival_rate for each class, not {have}", "1/s"
        )
    if closed == bool(np.isnan(think_time)):
        raise InputError(
            "think_time", think_time, "a think time for each class with a population, and no other", "s"
        )
    if not closed:
        if not 0.0 <= arrival_rate <= checks.LARGEST:
            raise InputError("arrival_rate", float(arrival_rate), "a finite rate, 0 or more", "1/s")
        return
    if not 1 <= population < np.inf or population != round(population):
        raise InputError("population", float(population), "a whole number of requesters, 1 or more")
    if not (think_time > 0.0 and _moderate(think_time)):
        raise InputError("think_time", float(think_time), "a finite time above 0", "s")


def _check_ratios(pool: CheckedPool) -> None:
    """Refuse times and rates so far from the mean service time that others beside them lose their digits."""
    unit, near, any_less = pool.service_time, 1.0 / FARTHEST, 0.0
    for name, values, scale, dimension, least in (
        ("service_time", pool.service, unit, "s", near), ("think_time", pool.think_time, unit, "s", near),
        ("arrival_rate", pool.arrival_rate, 1.0 / unit, "1/s", near), ("scv", pool.scv, 1.0, "", any_less),
        ("inflation", pool.inflation, 1.0, "", any_less), ("redrive_time", pool.redrive_time, unit, "s", any_less),
        ("alias_redrive_time", pool.alias_redrive_time, unit, "s", any_less),
    ):  # fmt: skip
        for value in np.atleast_1d(values):
            if np.isnan(value) or value == 0.0 or least <= value <= FARTHEST:
                continue
            told = f"a number from {least * scale:.3g} to {FARTHEST * scale:.3g}, as service times are {unit:.3g} s"
            raise InputError(name, float(value * scale), told, dimension)


def _number(
    name: str, value: ArrayLike, *, above: float = -np.inf, at_least: float = -np.inf, unit: str = ""
) -> float:
    """One finite number within its domain."""
    expected = (
        f"one finite number above {above:g}"
        if above > -np.inf
        else f"one finite number, {at_least:g} or more"
    )
    try:
        number = float(np.asarray(checks.plain(value), dtype=np.float64)[()])
    except (TypeError, ValueError):
        raise InputError(name, value, expected, unit) from None
    if not (
        number > above
        and number >= at_least
        and (above < 0.0 or _moderate(number))
        and number <= checks.LARGEST
    ):
        raise InputError(name, number, f"{expected}, up to {checks.LARGEST:g}", unit)
    return number + 0.0  # minus zero is zero


def _moderate(number: float) -> bool:
    """Whether a number above 0 is of a magnitude that `checks` takes."""
    return 1.0 / checks.LARGEST <= number <= checks.LARGEST
