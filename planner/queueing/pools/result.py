"""The result of `alias_pool`, for every alias count and class of volumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPools
from planner.results import Array, Flags, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolSteady(Result):
    """Stationary behavior of pools, for each alias count.

    Arrays of the pool have the shape of `aliases`, broadcast with that of the pools; arrays by class are per volume and
    have the classes on one more axis. A class without volumes, which pads a pool with fewer classes than others, has
    rates and queues of 0.

    * `aliases`: aliases of the pool [1].
    * `volumes`: volumes of each class [1].
    * `throughput`: I/Os of one volume [1/s].
    * `queue_length`: mean number waiting at one volume, including I/Os in their gap: throughput x wait time [1].
    * `wait_time` and `response_time`: mean wait; wait and service [s].
    * `service_time`: mean service, inflated [s].
    * `in_gap`: mean I/Os of one volume in the gap of their device; a measurement prints `queue_length - in_gap` as
      queued [1].
    * `tries_rate` and `fails_rate`: I/Os of one volume that found their base busy; those that found no free alias
      either [1/s].
    * `base_throughput` and `alias_throughput`: I/Os of one volume served by its base and by aliases [1/s].
    * `base_in_service` and `alias_in_service`: mean I/Os of one volume in service on its base (its utilization) and on
      aliases [1].
    * `pool_throughput` and `pool_queue_length`: sums over all volumes [1/s], [1].
    * `fail_fraction`: fails over tries, 0 without tries [1].
    * `free_aliases`: mean free aliases [1].
    * `residual`: imbalance of the chain or last change of the iteration, relative, inf if out of room [1].
    * `free_alias_distribution`: probability of 0, 1, ... free aliases, shape aliases x (largest count + 1) [1].
    * `stable`: False where a queue grows without bound.
    * `aliases_to_be_stable`: fewest aliases with which no queue does, shape () [1].
    * `converged`: False without a solution: the numbers are nan.
    * `method`: "exact" or "mean-field".
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
    free_alias_distribution: Array
    stable: Flags
    converged: Flags
    method: str

    @property
    def base_service_time(self) -> Array:
        """Mean service time of an I/O on its base, as a device row of a listing shows it [s]."""
        return _ratio(self.base_in_service, self.base_throughput)

    @property
    def alias_service_time(self) -> Array:
        """Mean service time of an I/O on an alias, 0 if aliases serve none [s]."""
        return _ratio(self.alias_in_service, self.alias_throughput)

    def _aligned(self, name: str) -> Array:
        """Repeat numbers of a pool for each class: the table has a row per alias count and class."""
        values = np.asarray(getattr(self, name))
        return values[..., None] if name != "volumes" and values.ndim < self.throughput.ndim else values


def pool_steady(
    scenarios: CheckedPools,
    elements: PoolElements,
    shape: tuple[int, ...],
    outcome: Outcome,
    converged: Flags,
    needed: Array,
    method: str,
) -> PoolSteady:
    """Convert an outcome to SI units and the shape of the arguments; nan where it did not converge."""
    classes = elements.volumes.shape[-1]
    here, failed = elements.volumes > 0.0, ~converged

    def by_class(values: Array) -> Array:
        return np.asarray(values).reshape((*shape, classes))

    def by_pool(values: Array | Flags) -> Array:
        return np.asarray(values, dtype=np.float64).reshape(shape)

    def found(values: Array) -> Array:
        # Rounding and the last step of an iteration may leave small negative numbers; `balanced` bounds them.
        values = np.where(here, np.maximum(values, 0.0), 0.0)
        return np.asarray(np.where(failed[:, None], np.nan, values), dtype=np.float64)

    unit = elements.unit[:, None]
    throughput, in_gap = found(outcome.throughput), found(outcome.in_gap(elements))
    queue = found(outcome.queue) + in_gap
    base_service, alias_service = found(outcome.base_in_service), found(outcome.alias_in_service)
    tries, fails = found(outcome.tries), found(outcome.fails)
    unhindered = np.maximum(throughput - tries, 0.0)  # if a queue grows, more I/Os arrive than are served
    on_base = np.minimum(unhindered + found(outcome.base_pickups), throughput)
    service = unit * _ratio(base_service + alias_service, throughput, elements.service)
    wait = unit * _ratio(queue, throughput)
    count = elements.volumes

    def whole(values: Array) -> Array:
        return np.asarray(np.where(count > 0.0, count * values, 0.0).sum(axis=-1))

    free_distribution = np.where(failed[:, None], np.nan, outcome.free_distribution).reshape(*shape, -1)
    free_distribution.flags.writeable = False
    free = np.where(failed, np.nan, outcome.free_aliases)
    return PoolSteady(
        aliases=by_pool(elements.aliases),
        volumes=scenarios.volumes.reshape(*scenarios.shape, classes),
        throughput=by_class(throughput / unit),
        queue_length=by_class(queue),
        wait_time=by_class(wait),
        response_time=by_class(wait + service),
        service_time=by_class(service),
        in_gap=by_class(in_gap),
        tries_rate=by_class(tries / unit),
        fails_rate=by_class(fails / unit),
        base_throughput=by_class(on_base / unit),
        alias_throughput=by_class((throughput - on_base) / unit),
        base_in_service=by_class(base_service),
        alias_in_service=by_class(alias_service),
        pool_throughput=by_pool(whole(throughput) / unit[:, 0]),
        pool_queue_length=by_pool(whole(queue)),
        fail_fraction=by_pool(_ratio(whole(fails), whole(tries), np.where(failed, np.nan, 0.0))),
        free_aliases=by_pool(free),
        residual=by_pool(np.asarray(outcome.residual)),
        aliases_to_be_stable=needed.reshape(scenarios.shape),
        free_alias_distribution=free_distribution,
        stable=by_pool(np.asarray(outcome.stable)).astype(bool),
        converged=by_pool(converged).astype(bool),
        method=method,
    )


def _ratio(part: Array, whole: Array, otherwise: float | Array = 0.0) -> Array:
    """Quotient, or `otherwise` where the divisor is 0."""
    found = np.array(np.broadcast_to(otherwise, np.shape(whole)), dtype=np.float64)
    return np.asarray(np.divide(part, whole, out=found, where=~(whole <= 0.0)))
