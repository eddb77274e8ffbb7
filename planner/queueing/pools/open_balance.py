"""Balances of one open volume against its pool, given D: its base, its queue, and what it sees of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.queueing.pools.base_balance import PoolFlows
from planner.results import Array


@dataclass(frozen=True, eq=False)
class OpenGiven:
    """Open volumes given D, shape (classes, D) each.

    Attributes
    ----------
    busy : ndarray
        Probability that a base is busy [1].
    queue : ndarray
        Mean I/Os waiting at one volume [1].
    with_queue : ndarray
        Probability that a busy base has a queue [1].
    """

    busy: Array
    queue: Array
    with_queue: Array

    @property
    def picks(self) -> Array:
        """Rate at which a base takes I/Os from its own queue, shape (classes, D) [1/service time]."""
        return self.busy * self.with_queue


def busier_beside_idle(rates: Array, k: int, total: Array, tries: Array, busy: Array) -> Array:
    """Probability that other bases are busy where one of class k is idle and no I/O waits.

    An idle volume holds fewer aliases, so that the others hold more of the D and are as busy as at a larger D. A volume
    holds aliases in proportion to its tries. With enough of them, ``a b + a m0 = 2 m1`` and ``m1 = (1 + a) m0`` for its
    arrivals a in a service time, its base being busy with chance b, and the means m0, m1 of what it holds with the base
    idle, busy: ``(1 + a) / (2 + a)`` times as many while its base is idle as on average.

    Parameters
    ----------
    rates : ndarray
        Arrivals at one volume of each class, shape (classes,) [1/service time].
    k : int
        The class of the idle volume.
    total : ndarray
        0, 1, ... up to the aliases, shape (D,) [1].
    tries : ndarray
        Tries of the pool, shape (D,) [1/service time].
    busy : ndarray
        Probability that a base is busy, shape (classes, D) [1].

    Returns
    -------
    ndarray
        Probabilities, shape (classes, D) [1].
    """
    share = rates[k] * busy[k] / tries
    fewer = share * total / (2.0 + rates[k])
    further = np.divide(fewer, 1.0 - share, out=np.zeros_like(share), where=share < 1.0)
    slope = np.diff(busy, axis=1, prepend=busy[:, :1])
    return np.asarray(np.clip(busy + slope * further, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Waiting:
    """The queue of one volume, and the pool as an I/O that waits there sees it, shape (D,) each.

    Attributes
    ----------
    arrivals : ndarray
        I/Os that join the queue or, with an alias free, do not [1/service time].
    picks_each : ndarray
        Pickups by the base of the volume for each I/O that waits there [1/service time].
    tries, pickups : ndarray
        Tries and pickups of the pool, weighed by the queue of the volume [1/service time].
    """

    arrivals: Array
    picks_each: Array
    tries: Array
    pickups: Array


def queue_given_total(pool: PoolFlows, volume: Waiting, waiting: Array) -> Array:
    """Mean queue of one volume given D, from its balance.

    Arrivals at the busy base lengthen it, the base and the aliases shorten it, and D moves meanwhile: a tridiagonal
    system in the means.

    Parameters
    ----------
    pool : PoolFlows
        Flows of the pool, shape (D,).
    volume : Waiting
        What concerns the volume.
    waiting : ndarray
        I/Os waiting in the pool, shape (D,) [1].

    Returns
    -------
    ndarray
        Means, shape (D,) [1].
    """
    from scipy.linalg.lapack import dgtsv

    first = int(np.count_nonzero(waiting == 0.0))
    here, rise = slice(first, None), pool.tries / np.append(pool.falls[1:], np.inf)  # p(D+1) / p(D)
    fall = 1.0 / rise[first - 1 : -1]  # p(D-1) / p(D)
    tries = volume.tries.copy()
    tries[-1] = 0.0
    diagonal = (tries + volume.pickups + pool.alias_ends)[here]
    by_others = volume.pickups - volume.picks_each
    stays = np.maximum(by_others[here] + pool.alias_ends[here] * (1.0 - 1.0 / waiting[here]), 0.0)
    above = -stays[1:] * rise[first:-1]
    below = -tries[first:-1] * fall[1:]
    *_, queue, _ = dgtsv(below, diagonal, above, volume.arrivals[first - 1 : -1] * fall)
    return np.concatenate([np.zeros(first), np.maximum(queue, 0.0)])
