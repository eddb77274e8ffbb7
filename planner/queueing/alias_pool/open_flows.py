"""Open classes given D: rates of their devices, balance of their queues and aliases, and what they amount to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.queueing.alias_pool.alias_chain import alias_chain
from planner.queueing.alias_pool.base_balance import BaseFlows, PoolFlows
from planner.queueing.alias_pool.device_rates import Gaps, gap_now
from planner.queueing.alias_pool.moment_balance import MeanFlows, mean_given_total
from planner.queueing.alias_pool.outcome import Outcome, by_free
from planner.queueing.alias_pool.pool import Pool
from planner.queueing.alias_pool.queue_law import nodes, own_queue_waiting
from planner.results import Array

LEAST_BIRTHS: Final = 1e-9
MOST_BIRTHS: Final = 1e4
ROOM: Final = 24
"""Aliases of one volume that are told apart, beyond four times their mean."""
TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class OpenField:
    """State of the iteration; arrays given D = 0, 1, ... of shape (classes, D).

    Attributes
    ----------
    aliases : int
        The alias count it belongs to [1].
    busy : ndarray
        Probability that a base is busy [1].
    queue : ndarray
        Mean waiting at one volume [1].
    waiting : ndarray
        Probability that the own queue of a busy base is not empty [1].
    on_idle, on_busy : ndarray
        Mean aliases of one volume with its base idle, with it busy, times the probability of that [1].
    births : ndarray
        Rate at which a busy-base volume gets aliases, for the law of their number [1/service time].
    gaps : tuple of Gaps
        Mean gaps of the devices of each class.
    """

    aliases: int
    busy: Array
    queue: Array
    waiting: Array
    on_idle: Array
    on_busy: Array
    births: Array
    gaps: tuple[Gaps, ...]

    @property
    def total(self) -> Array:
        """D = 0, 1, ..., shape (D,) [1]."""
        return np.arange(float(self.busy.shape[1]))

    @property
    def pool_waiting(self) -> Array:
        """I/Os waiting in the pool, shape (D,) [1]."""
        return np.maximum(self.total - self.aliases, 0.0)


@dataclass(frozen=True, eq=False)
class OpenEnds:
    """Rates of one volume of each class given D, shape (classes, D) [1/service time].

    Attributes
    ----------
    base : ndarray
        Of a busy base.
    base_by_alias : ndarray
        The same, each state weighed by the aliases held.
    idle_aliases, busy_aliases : ndarray
        Of its aliases with the base idle, with it busy, times the probability of that.
    """

    base: Array
    base_by_alias: Array
    idle_aliases: Array
    busy_aliases: Array


@dataclass(frozen=True, eq=False)
class OpenFlows:
    """Flows given D.

    Attributes
    ----------
    pool : PoolFlows
        Of the pool.
    bases : tuple of BaseFlows
        Of one base of each class.
    ends : OpenEnds
        Of the devices of one volume of each class.
    births : ndarray
        Improved `OpenField.births`.
    """

    pool: PoolFlows
    bases: tuple[BaseFlows, ...]
    ends: OpenEnds
    births: Array


def open_flows(pool: Pool, field: OpenField) -> OpenFlows:
    """Flows of every class given D, and of the pool.

    Parameters
    ----------
    pool : Pool
        An open pool.
    field : OpenField
        State of the iteration.

    Returns
    -------
    OpenFlows
        The flows.
    """
    ends, births = _ends(pool, field)
    load = pool.arrival_rate[:, None]
    tries = load * field.busy
    pickups = ends.base * field.busy * field.waiting
    idles = ends.base * (1.0 - field.waiting)
    flows = PoolFlows(
        field.total,
        pool.volumes @ tries,
        pool.volumes @ pickups,
        pool.volumes @ (ends.idle_aliases + ends.busy_aliases),
    )
    arrivals = np.broadcast_to(load, tries.shape)
    bases = tuple(BaseFlows(*each) for each in zip(arrivals, idles, tries, pickups, strict=True))
    return OpenFlows(flows, bases, ends, births)


def _ends(pool: Pool, field: OpenField) -> tuple[OpenEnds, Array]:
    """Rates of the devices, and the births that give the aliases held."""
    mean_base = np.array([[each.base] for each in field.gaps])
    mean_alias = np.array([[each.alias] for each in field.gaps])
    base_gap = gap_now(pool.redrive_time, mean_base, field.waiting)
    alias_gap = gap_now(pool.alias_redrive_time, mean_alias, field.total > field.aliases)
    if pool.inflation == 0.0:
        base, per_alias = 1.0 / (1.0 + base_gap), 1.0 / (1.0 + alias_gap)
        return OpenEnds(base, base, field.on_idle * per_alias, field.on_busy * per_alias), field.births
    growth = pool.inflation / (1.0 + alias_gap)
    held = field.on_busy / np.maximum(field.busy, TINY)
    chain = alias_chain(
        field.births,
        pool.arrival_rate[:, None],
        1.0 - field.waiting,
        growth=growth,
        base_time=1.0 + base_gap,
        beside_base=1.0 + pool.inflation / (1.0 + base_gap) - growth + alias_gap,
        alone=1.0 - growth + alias_gap,
        most=int(min(field.aliases, 4.0 * held.max() + ROOM)),
    )
    births = field.births * held / np.maximum(chain.mean, TINY)
    ends = OpenEnds(
        base=chain.base,
        base_by_alias=chain.base_by_alias,
        idle_aliases=field.on_idle * chain.per_alias_idle,
        busy_aliases=field.on_busy * chain.per_alias_busy,
    )
    return ends, np.clip(births, LEAST_BIRTHS, MOST_BIRTHS)


def queue_given_total(flows: OpenFlows, field: OpenField, k: int) -> Array:
    """Mean queue of one volume given D, from its balance above D = A.

    Parameters
    ----------
    flows : OpenFlows
        Flows given D.
    field : OpenField
        State of the iteration.
    k : int
        The class.

    Returns
    -------
    ndarray
        Means up to a factor, shape (D,) [1].
    """
    base, queue, waiting = flows.bases[k], field.queue[k], field.pool_waiting
    own = np.divide(base.pickups, queue, out=np.ones_like(queue), where=queue > 0.0)
    lost = flows.pool.alias_ends / np.maximum(waiting, 1.0) + own
    lost[waiting == 1.0] = flows.pool.falls[waiting == 1.0]  # the last one that waits, at whatever volume
    full = slice(field.aliases, None)
    part = PoolFlows(
        *(getattr(flows.pool, name)[full] for name in ("total", "tries", "pickups", "alias_ends"))
    )
    nothing = np.zeros_like(part.total)
    result = np.zeros_like(queue)
    result[full] = mean_given_total(
        part,
        MeanFlows(
            rises=part.tries,
            falls=part.falls,
            lost=np.where(waiting > 0.0, lost, 0.0)[full],
            leaves=nothing,
            enters=nothing,
            enters_rising=base.tries[full],
            enters_falling=nothing,
        ),
    )
    return result


def aliases_given_total(flows: OpenFlows, field: OpenField, k: int) -> tuple[Array, Array]:
    """Mean aliases of one volume given D, from their balance.

    Parameters
    ----------
    flows : OpenFlows
        Flows given D.
    field : OpenField
        State of the iteration.
    k : int
        The class.

    Returns
    -------
    tuple of ndarray
        With its base idle and with it busy, times the probability of that, up to a factor, shape (D,) [1].
    """
    pool, base, ends = flows.pool, flows.bases[k], flows.ends
    others_try = np.maximum(pool.tries - base.tries, 0.0)
    others_fall = pool.alias_ends + np.maximum(pool.pickups - base.pickups, 0.0)
    to_rest = ends.base_by_alias[k] * (1.0 - field.waiting[k])
    nothing = np.zeros_like(to_rest)
    idle = mean_given_total(
        pool,
        MeanFlows(
            rises=others_try,
            falls=others_fall,
            lost=_per_one(ends.idle_aliases[k], field.on_idle[k]),
            leaves=base.arrivals,
            enters=field.on_busy[k] * to_rest,
            enters_rising=nothing,
            enters_falling=nothing,
        ),
    )
    waiting = field.pool_waiting
    busy = mean_given_total(
        pool,
        MeanFlows(
            rises=others_try + base.arrivals,
            falls=pool.falls,
            lost=_per_one(ends.busy_aliases[k], field.on_busy[k]),
            leaves=to_rest,
            enters=idle * base.arrivals,
            enters_rising=np.where(pool.total < field.aliases, base.tries, 0.0),
            enters_falling=pool.alias_ends * field.queue[k] / np.maximum(waiting, 1.0),
        ),
    )
    return idle, busy


def waiting_given_total(pool: Pool, field: OpenField, flows: OpenFlows) -> Array:
    """Probability that the own queue of a busy base is not empty, given D.

    The law of the queue is solved at some D; between them its chance per mean is interpolated in the logarithm of the
    number waiting.

    Parameters
    ----------
    pool : Pool
        The pool.
    field : OpenField
        State of the iteration.
    flows : OpenFlows
        Flows given D.

    Returns
    -------
    ndarray
        Probabilities, shape (classes, D) [1].
    """
    chance = np.zeros_like(field.busy)
    longest = field.busy.shape[1] - 1 - field.aliases
    at = nodes(longest)
    index = field.aliases + at.astype(np.int64)
    busy, queue = field.busy[:, index], field.queue[:, index]
    relative = flows.pool.alias_ends[index] / at / (pool.volumes @ flows.ends.base[:, index] / pool.bases)
    known = own_queue_waiting(pool.volumes, busy, queue, at, relative)
    per_mean = known * busy / np.maximum(queue, TINY)
    everywhere = np.log(np.arange(1.0, longest + 1.0))
    some = slice(field.aliases + 1, None)
    mean = field.queue[:, some] / np.maximum(field.busy[:, some], TINY)
    for k in range(pool.classes):
        chance[k, some] = np.minimum(np.interp(everywhere, np.log(at), per_mean[k]) * mean[k], 1.0)
    return chance


def open_outcome(pool: Pool, field: OpenField, flows: OpenFlows, law: Array) -> Outcome:
    """Averages over D.

    Parameters
    ----------
    pool : Pool
        The pool.
    field : OpenField
        State of the iteration.
    flows : OpenFlows
        Flows given D.
    law : ndarray
        Law of D, shape (D,) [1].

    Returns
    -------
    Outcome
        Its residual is left open.
    """
    full = field.total >= field.aliases
    tries = np.array([base.tries @ law for base in flows.bases])
    fails = np.array([base.tries[full] @ law[full] for base in flows.bases])
    base_pickups = np.array([base.pickups @ law for base in flows.bases])
    share = field.queue / np.maximum(field.pool_waiting, 1.0)
    alias_pickups = (share * flows.pool.alias_ends) @ law
    if pool.inflation > 0.0:
        on_aliases = (field.on_idle + field.on_busy) @ law - pool.alias_redrive_time * alias_pickups
    else:
        on_aliases = tries - fails + alias_pickups
    free_law, tries_by_free = by_free(field.aliases, flows.pool, law)
    return Outcome(
        throughput=pool.arrival_rate.copy(),
        tries=tries,
        fails=fails,
        queue=field.queue @ law,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=field.busy @ law - pool.redrive_time * base_pickups,
        alias_in_service=on_aliases,
        free_law=free_law,
        tries_by_free=tries_by_free,
        residual=np.inf,
    )


def with_sum(values: Array, volumes: Array, wanted: Array) -> Array:
    """Scale the values of all classes so that the pool has the wanted total at each D.

    Parameters
    ----------
    values : ndarray
        Per volume, shape (classes, D) [1].
    volumes : ndarray
        Volumes of each class, shape (classes,) [1].
    wanted : ndarray
        Totals, shape (D,) [1].

    Returns
    -------
    ndarray
        Scaled values.
    """
    total = volumes @ values
    return values * np.divide(wanted, total, out=np.zeros_like(total), where=total > 0.0)


def _per_one(rate: Array, count: Array) -> Array:
    return np.divide(rate, count, out=np.zeros_like(rate), where=count > TINY)
