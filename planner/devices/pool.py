"""A HyperPAV pool: volumes, each with its base device, that share aliases I/O by I/O."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from planner import queueing
from planner.devices import parameters
from planner.devices.free_aliases import free_marks
from planner.results import Array, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeClass:
    """Equal volumes and what they are asked for: `population` and `think_time` [s], or `arrival_rate` [1/s].

    Numbers that a class of the other sort has are nan.
    """

    volumes: int = 1
    population: float = math.nan
    think_time: float = math.nan
    arrival_rate: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Performance(Result):
    """What a listing would show of a volume or pool, one element an alias count.

    Wait time is queued / I/O rate and response time is service + wait, as a listing has them: the redrive gap of an
    I/O that waited is in neither.

    Attributes
    ----------
    aliases, io_rate, service_time, queued, base_rate : ndarray, shape (counts,)
        Totals of all volumes.
    no_alias : ndarray, shape (counts,)
        Fails / tries: chance that an I/O in need of an alias finds none; 0 where nothing was tried.
    tries, fails : ndarray, shape (counts,)
        How often an alias is asked for, and how often none is free [1/s].
    fewest_free, most_free : ndarray, shape (counts,)
        Medians over the minutes of the fewest and the most free aliases that a try finds.
    volume_rates, volume_responses : ndarray, shape (counts, classes)
        I/O rate [1/s] and response time [s] of one volume of each class, its aliases included.
    """

    aliases: Array = quantity("aliases")
    io_rate: Array = quantity("I/O rate", "1/s")
    service_time: Array = quantity("service time", "s")
    queued: Array = quantity("queued")
    no_alias: Array = quantity("no alias")
    base_rate: Array = quantity("I/O rate of the bases", "1/s")
    tries: Array = quantity("tries for an alias", "1/s")
    fails: Array = quantity("tries that failed", "1/s")
    fewest_free: Array = quantity("fewest free aliases")
    most_free: Array = quantity("most free aliases")
    volume_rates: Array
    volume_responses: Array
    derived: ClassVar[dict[str, tuple[str, str]]] = {
        "wait_time": ("wait time", "s"),
        "response_time": ("response time", "s"),
    }

    def first(self, counts: int) -> Performance:
        """Keep the first elements.

        Parameters
        ----------
        counts : int
            How many.

        Returns
        -------
        Performance
            Shape (counts,).
        """
        return replace(self, **{item.name: getattr(self, item.name)[:counts] for item in fields(self)})

    def followed_by(self, other: Performance) -> Performance:
        """Join the elements of another sweep of the same pool.

        Parameters
        ----------
        other : Performance
            Shape (more,).

        Returns
        -------
        Performance
            Shape (counts + more,).
        """
        pairs = {item.name: (getattr(self, item.name), getattr(other, item.name)) for item in fields(self)}
        return replace(self, **{name: np.concatenate(pair) for name, pair in pairs.items()})

    @property
    def wait_time(self) -> Array:
        """Mean time queued [s]."""
        return self.queued / self.io_rate

    @property
    def response_time(self) -> Array:
        """Mean service plus wait [s]."""
        return self.service_time + self.wait_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Volumes that share aliases; an alias serves any of them, a base only its own.

    Attributes
    ----------
    classes : tuple of VolumeClass
        Classes of equal volumes.
    service_time : float
        Of an I/O that is alone on its volume [s].
    inflation : float
        Relative growth of the service time with each further I/O in service on the volume.
    redrive_time : float
        Gap of a device that takes a waiting I/O [s].
    """

    classes: tuple[VolumeClass, ...]
    service_time: float
    inflation: float = 0.0
    redrive_time: float = 0.0
    PARAMETERS: ClassVar[tuple[parameters.Parameter, ...]] = (
        parameters.SERVICE_TIME,
        parameters.INFLATION,
        parameters.REDRIVE_TIME,
        parameters.THINK_TIME,
        parameters.POPULATION,
        parameters.VOLUMES,
    )

    @property
    def bases(self) -> int:
        """Number of volumes, hence of base devices."""
        return sum(part.volumes for part in self.classes)

    def solve(self, aliases: ArrayLike) -> Performance:
        """Solve the pool for each alias count.

        Parameters
        ----------
        aliases : array_like, shape (counts,)
            Aliases in the pool.

        Returns
        -------
        Performance
            Totals of the pool, shape (counts,).

        Raises
        ------
        InputError
            A parameter outside its domain.
        ConvergenceError
            The pool could not be solved.

        Notes
        -----
        The law is `planner.queueing.alias_pool`.

        Examples
        --------
        >>> pool = Pool(classes=(VolumeClass(volumes=2, population=3, think_time=2e-4),), service_time=1.3e-3)
        >>> bool(pool.solve([4]).queued[0] < 1e-9)
        True
        """
        counts = np.atleast_1d(np.asarray(aliases))
        steady = queueing.alias_pool(
            counts,
            volumes=[part.volumes for part in self.classes],
            population=[part.population for part in self.classes],
            think_time=[part.think_time for part in self.classes],
            arrival_rate=[part.arrival_rate for part in self.classes],
            service_time=self.service_time,
            inflation=self.inflation,
            redrive_time=self.redrive_time,
        )
        volumes = np.array([part.volumes for part in self.classes], dtype=float)
        total = steady.throughput @ volumes
        fewest, most = free_marks(steady)
        return Performance(
            aliases=counts,
            io_rate=total,
            service_time=(steady.throughput * steady.service_time) @ volumes / total,
            queued=(steady.queue_length - steady.in_gap) @ volumes,
            no_alias=steady.fail_fraction,
            base_rate=steady.base_throughput @ volumes,
            tries=steady.tries_rate @ volumes,
            fails=steady.fails_rate @ volumes,
            fewest_free=fewest,
            most_free=most,
            volume_rates=steady.throughput,
            volume_responses=steady.service_time + (steady.queue_length - steady.in_gap) / steady.throughput,
        )
