"""One open volume against its pool, given D: its queue, and what it sees of the other volumes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from planner.queueing.pools.field.base_balance import PoolFlows
from planner.queueing.pools.field.volume_law import arrival_rates, volume_law
from planner.queueing.pools.open_field.queue_weights import LEAST_SHARE
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array


@dataclass(frozen=True, eq=False)
class VolumesGiven:
    """Volumes given D, shape (classes, D) each."""

    busy: Array  # Probability that a base is busy [1]
    queue: Array  # Mean I/Os waiting at one volume [1]
    with_queue: Array  # Probability that a busy base has a queue [1]


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Arrivals at one volume given D, shape (classes, D) each."""

    at_idle: Array  # Rate while its base is idle [1/service time]
    tries: Array  # Rate of those that find it busy, times the chance of that [1/service time]
    held_at_busy: Array  # Mean aliases that a closed volume holds while its base is busy, 0 for open ones [1]

    @classmethod
    def of(cls, pool: CheckedPool, given: VolumesGiven, held: Array | None = None) -> Arrivals:
        """Arrivals at open volumes, and at closed ones that hold so many aliases, none where that is not known."""
        rates = np.where(pool.closed, pool.population / pool.think_time, pool.arrival_rate)[:, None]
        none = np.zeros_like(given.busy)
        if held is None or not pool.closed.any():
            return cls(rates + none, tries_where(pool, given.busy, given.queue, none), none)
        at_idle, at_busy = held_by_base(pool, held, given.busy)
        closed = pool.closed[:, None]
        thinking = np.maximum(pool.population[:, None] - at_idle, LEAST_SHARE)
        at_busy = np.where(closed, at_busy, 0.0)
        return cls(
            np.where(closed, thinking / pool.think_time[:, None], rates),
            tries_where(pool, given.busy, given.queue, at_busy),
            at_busy,
        )


def held_by_base(pool: CheckedPool, held: Array, busy: Array) -> tuple[Array, Array]:
    """Mean aliases that a volume holds with its base idle and busy, from their mean: as with many aliases."""
    at_idle = held * idle_shares(pool)[:, None]
    busy = np.maximum(busy, TINY)
    return at_idle, np.maximum(held - (1.0 - busy) * at_idle, 0.0) / busy


@lru_cache(maxsize=16)
def idle_shares(pool: CheckedPool) -> Array:
    """What a volume of each class holds with its base idle, as a share of its mean, did nobody wait; shape (classes,).

    Of an open one with a arrivals in a service time ``a b + a m0 = 2 m1`` and ``m1 = (1 + a) m0``, its base being busy
    with chance b, for the means m0, m1 of what it holds with the base idle, busy.
    """
    load = np.where(pool.closed, 0.0, pool.arrival_rate * pool.service)
    shares = (1.0 + load) / (2.0 + load)
    for k in np.flatnonzero(pool.closed).tolist():
        size, pace = int(pool.population[k]), 1.0 / float(pool.service[k])
        idle_arrivals, busy_arrivals = arrival_rates(pool, k, size)
        beyond = np.arange(float(size))
        ends, none = beyond * pace, np.zeros(size)
        idle, busy = volume_law(
            idle_arrivals=idle_arrivals,
            busy_arrivals=busy_arrivals,
            idle_alias_ends=ends,
            busy_alias_ends=ends,
            base_picks=none,
            base_idles=none + pace,
        )
        mean = float((idle + busy) @ beyond)
        shares[k] = float(idle @ beyond) / float(idle.sum()) / mean if mean > 0.0 else 1.0
    return shares


def tries_where(pool: CheckedPool, busy: Array, queue: Array, held_at_busy: Array) -> Array:
    """Tries of one volume of each class where it is as busy and has such a queue.

    Of a closed volume the requesters that think: ``((N - 1 - a) b - q) / Z``, all means.
    """
    closed = pool.closed[:, None]
    if not closed.any():
        return pool.arrival_rate[:, None] * busy
    others = np.where(closed, pool.population[:, None] - 1.0, 0.0)
    think_time = np.where(closed, pool.think_time[:, None], 1.0)
    thinking = np.maximum((others - held_at_busy) * busy - queue, LEAST_SHARE * others * busy)
    return np.where(closed, thinking / think_time, pool.arrival_rate[:, None] * busy)


def more_beside_idle(rate: float, share: Array, total: Array, tries: Array, most: Array) -> Array:
    """Tries of other volumes where an open one is idle and no I/O waits.

    An idle volume holds fewer aliases, so that the others hold more of the D and try as at a larger D. A
    volume holds aliases in proportion to its tries. With enough of them, ``a b + a m0 = 2 m1`` and ``m1 = (1 + a) m0``
    for its arrivals a in a service time, its base being busy with chance b, and the means m0, m1 of what it holds with
    the base idle, busy: ``(1 + a) / (2 + a)`` times as many while its base is idle as on average.
    """
    fewer = share * total / (2.0 + rate)
    further = np.divide(fewer, 1.0 - share, out=np.zeros_like(share), where=share < 1.0)
    slope = np.diff(tries, axis=1, prepend=tries[:, :1])
    return np.asarray(np.clip(tries + slope * further, 0.0, most))


@dataclass(frozen=True, eq=False)
class Waiting:
    """The queue of one volume, and the pool as an I/O that waits there sees it, shape (D,) each."""

    arrivals: Array  # I/Os that join the queue or, with an alias free, do not [1/service time]
    picks_each: Array  # Pickups by the base of the volume for each I/O that waits there [1/service time]
    tries: Array  # Tries and pickups of the pool, weighed by the queue of the volume [1/service time]
    pickups: Array
    alias_ends: Array  # I/Os that aliases end, weighed by the queue of the volume [1/service time]
    # By how much each I/O that waits lowers the arrivals: one over the think time where the volume is closed
    # [1/service time]
    fewer: float = 0.0


def queue_given_total(pool: PoolFlows, volume: Waiting, waiting: Array, queue: Array) -> Array:
    """Mean queue of one volume given D, from its balance.

    Arrivals at the busy base lengthen it, the base and the aliases shorten it, and D moves meanwhile: a tridiagonal
    system in the means.
    """
    from scipy.linalg.lapack import dgtsv

    first = int(np.count_nonzero(waiting == 0.0))
    here, rise = slice(first, None), pool.tries / np.append(pool.falls[1:], np.inf)  # p(D+1) / p(D)
    fall = 1.0 / rise[first - 1 : -1]  # p(D-1) / p(D)
    tries = volume.tries.copy()
    tries[-1] = 0.0
    diagonal = (tries + volume.pickups + volume.alias_ends)[here]
    by_others = volume.pickups - volume.picks_each
    stays = np.maximum(by_others[here] + volume.alias_ends[here] * (1.0 - 1.0 / waiting[here]), 0.0)
    above = -stays[1:] * rise[first:-1]
    below = -(tries[first:-1] - volume.fewer) * fall[1:]
    joins = (volume.arrivals + volume.fewer * queue)[first - 1 : -1]
    *_, queue, _ = dgtsv(below, diagonal, above, joins * fall)
    return np.concatenate([np.zeros(first), np.maximum(queue, 0.0)])
