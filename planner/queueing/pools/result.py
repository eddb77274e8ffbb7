"""The result of `alias_pool`: every count of a sweep, every class of volumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from planner import render
from planner.queueing.checks import positive
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.queueing.pools.stability import aliases_to_be_stable
from planner.queueing.pools.water_marks import water_marks
from planner.results import Array, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolSteady(Result):
    """Stationary behavior of a pool, for each alias count.

    Per class arrays are per volume and have shape aliases x classes, or (classes,) for one alias count;
    arrays of the pool have the shape of `aliases`.

    Attributes
    ----------
    aliases : ndarray
        Aliases of the pool [1].
    volumes : ndarray
        Volumes of each class [1].
    throughput : ndarray
        I/Os of one volume [1/s].
    queue_length : ndarray
        Mean waiting at one volume, an I/O in its gap included: throughput x wait time [1].
    wait_time, response_time : ndarray
        Mean wait; wait and service [s].
    service_time : ndarray
        Mean service, inflated [s].
    in_gap : ndarray
        Mean I/Os of one volume in the gap of their device; a measurement prints `queue_length - in_gap` as
        queued [1].
    tries_rate, fails_rate : ndarray
        I/Os of one volume that found their base busy; those that found no free alias either [1/s].
    base_throughput, alias_throughput : ndarray
        I/Os of one volume that its base, that aliases served [1/s].
    base_in_service, alias_in_service : ndarray
        Mean I/Os of one volume in service on its base (its utilization), on aliases [1].
    pool_throughput, pool_queue_length : ndarray
        Sums over all volumes [1/s], [1].
    fail_fraction : ndarray
        Fails over tries, 0 where nothing was tried [1].
    free_aliases : ndarray
        Mean free aliases [1].
    residual : ndarray
        What the solver left: the imbalance of the chain or the last change of the iteration, relative [1].
    free_alias_law : ndarray
        Probability of 0, 1, ... free aliases, shape aliases x (largest count + 1) [1].
    tries_by_free : ndarray
        Rate of tries that find 0, 1, ... free aliases, shape aliases x (largest count + 1) [1/s].
    stable : ndarray of bool
        False where a queue grows without bound.
    aliases_to_be_stable : ndarray
        Fewest aliases with which none does, shape () [1].
    method : str
        "exact" or "mean-field".
    """

    derived: ClassVar[dict[str, tuple[str, str]]] = {
        "base_service_time": ("service on bases", "s"),
        "alias_service_time": ("service on aliases", "s"),
    }

    aliases: Array = quantity("aliases")
    volumes: Array = quantity("volumes")
    throughput: Array = quantity("I/O rate of a volume", "1/s")
    queue_length: Array = quantity("waiting")
    wait_time: Array = quantity("wait", "s")
    response_time: Array = quantity("response", "s")
    service_time: Array = quantity("service", "s")
    in_gap: Array = quantity("in gap")
    tries_rate: Array = quantity("tries", "1/s")
    fails_rate: Array = quantity("fails", "1/s")
    base_throughput: Array = quantity("I/O rate of the base", "1/s")
    alias_throughput: Array = quantity("I/O rate by aliases", "1/s")
    base_in_service: Array = quantity("in service on the base")
    alias_in_service: Array = quantity("in service on aliases")
    pool_throughput: Array = quantity("I/O rate of the pool", "1/s")
    pool_queue_length: Array = quantity("waiting in the pool")
    fail_fraction: Array = quantity("fails of tries")
    free_aliases: Array = quantity("free aliases")
    residual: Array = quantity("residual")
    aliases_to_be_stable: Array = quantity("aliases to be stable")
    free_alias_law: Array
    tries_by_free: Array
    stable: NDArray[np.bool_]
    method: str

    @property
    def base_service_time(self) -> Array:
        """Mean service time of an I/O on its base, as a device row of a listing shows it [s]."""
        return _ratio(self.base_in_service, self.base_throughput)

    @property
    def alias_service_time(self) -> Array:
        """Mean service time of an I/O on an alias, 0 where aliases serve none [s]."""
        return _ratio(self.alias_in_service, self.alias_throughput)

    def water_marks(self, tries: float) -> tuple[Array, Array]:
        """Mean of the fewest and of the most free aliases that I/Os in need of one find over an interval.

        Parameters
        ----------
        tries : float
            I/Os that find their base busy during the interval, above 0 [1].

        Returns
        -------
        tuple of ndarray
            Low and high water marks, of the shape of `aliases` [1].

        Raises
        ------
        InputError
            `tries` is no finite number above 0.
        """
        count = float(positive("tries", tries))
        marks = [
            water_marks(law[: int(aliases) + 1], found[: int(aliases) + 1], count)
            for aliases, law, found in zip(
                self.aliases.ravel(),
                self.free_alias_law.reshape(self.aliases.size, -1),
                self.tries_by_free.reshape(self.aliases.size, -1),
                strict=True,
            )
        ]
        low, high = np.array(marks).T.reshape(2, *self.aliases.shape)
        return low, high

    def table(self) -> render.Table:
        """All numbers as columns, one row a class of an alias count.

        Returns
        -------
        render.Table
            Columns in SI units.
        """
        named = self.quantities()
        shape = self.throughput.shape
        columns = []
        for name, (label, unit) in named.items():
            values = np.asarray(getattr(self, name))
            if name not in ("volumes", "aliases_to_be_stable") and values.ndim < self.throughput.ndim:
                values = values[..., None]
            cells = np.broadcast_to(values, shape).ravel().tolist()
            columns.append(render.Column(name=name, unit=unit, label=label, values=cells))
        return render.Table(columns=tuple(columns))


def pool_steady(pool: CheckedPool, aliases: Array, outcomes: list[Outcome], method: str) -> PoolSteady:
    """Join the outcomes of a sweep, in SI units."""

    def per_class(values: list[Array]) -> Array:
        # What rounding and the last step of an iteration leave below 0 is 0; `check_balance` bounds it.
        return np.maximum(np.array(values), 0.0).reshape(*aliases.shape, pool.classes)

    second = pool.service_time
    throughput = per_class([each.throughput for each in outcomes])
    in_gap = per_class([each.in_gap(pool) for each in outcomes])
    queue = per_class([each.queue for each in outcomes]) + in_gap
    base_service = per_class([each.base_in_service for each in outcomes])
    alias_service = per_class([each.alias_in_service for each in outcomes])
    tries = per_class([each.tries for each in outcomes])
    unhindered = np.maximum(throughput - tries, 0.0)  # where a queue grows more I/Os come than are served
    on_base = np.minimum(unhindered + per_class([each.base_pickups for each in outcomes]), throughput)
    fails = per_class([each.fails for each in outcomes])
    service = second * _ratio(base_service + alias_service, throughput, pool.service)
    wait = second * _ratio(queue, throughput)
    laws, found = np.zeros((2, len(outcomes), int(aliases.max()) + 1))
    for i, each in enumerate(outcomes):
        laws[i, : each.free_law.size] = each.free_law
        found[i, : each.tries_by_free.size] = each.tries_by_free / second
    return PoolSteady(
        aliases=aliases,
        volumes=pool.volumes,
        throughput=throughput / second,
        queue_length=queue,
        wait_time=wait,
        response_time=wait + service,
        service_time=service,
        in_gap=in_gap,
        tries_rate=tries / second,
        fails_rate=fails / second,
        base_throughput=on_base / second,
        alias_throughput=(throughput - on_base) / second,
        base_in_service=base_service,
        alias_in_service=alias_service,
        pool_throughput=throughput @ pool.volumes / second,
        pool_queue_length=queue @ pool.volumes,
        fail_fraction=_ratio(fails @ pool.volumes, tries @ pool.volumes),
        free_aliases=np.array([each.free_aliases for each in outcomes]).reshape(aliases.shape),
        residual=np.array([each.residual for each in outcomes]).reshape(aliases.shape),
        aliases_to_be_stable=np.array(aliases_to_be_stable(pool)),
        free_alias_law=_read_only(laws.reshape(*aliases.shape, laws.shape[1])),
        tries_by_free=_read_only(found.reshape(*aliases.shape, laws.shape[1])),
        stable=np.array([each.stable for each in outcomes]).reshape(aliases.shape),
        method=method,
    )


def _ratio(part: Array, whole: Array, otherwise: float | Array = 0.0) -> Array:
    """Quotient, and what to say where there is nothing to divide by."""
    whole = np.asarray(whole)
    return np.asarray(
        np.divide(part, whole, out=np.broadcast_to(otherwise, whole.shape).copy(), where=whole > 0.0)
    )


def _read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values
