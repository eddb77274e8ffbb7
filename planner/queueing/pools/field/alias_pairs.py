"""What a waiting I/O sees of the aliases: a slow one waits while aliases are held by slow ones, and they do not end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.queueing.pools.field.base_balance import PoolFlows
from planner.queueing.pools.pool import TINY
from planner.results import Array

ROUNDS: Final = 3
"""Rounds in which the pairs are fitted to the sums that are known (Deming and Stephan 1940)."""
EDGE: Final = 1e-7
"""Probability of D, relative to the largest, beyond which what aliases hold goes on as there."""
SHORTEST: Final = 5
"""Queues above 0 that are always solved for."""
LEAST: Final = 1e-30
FARTHEST: Final = 1e6
"""Bounds on pairs and on the factors that fit them, where the iteration is far off."""


@dataclass(frozen=True, eq=False)
class WaitingSees:
    """One I/O that waits at a volume of each class, given D."""

    queue: Array  # I/Os waiting at one volume, shape (classes, D) [1]
    tries: (
        Array  # Tries of the pool, and pickups by bases, as it sees them, shape (classes, D) [1/service time]
    )
    pickups: Array
    picks_each: Array  # Its own chance to be taken by its base, shape (classes, D) [1/service time]
    joins: Array  # Aliases held by each class where an I/O joins the queue, times that rate, shape (k, j, D)
    beside: Array  # Other waiting I/Os of class j beside one of class k, shape (k, j, D) [1]


def end_of_law(law: Array, first: int) -> int:
    """Where the D end that matter for what aliases hold; beyond, they go on as there."""
    likely = int(np.flatnonzero(law > EDGE * law.max())[-1])
    return min(max(likely, first + SHORTEST) + 1, law.size)


def ends_beside_waiting(
    pool: PoolFlows, sees: WaitingSees, pace: Array, held: Array, volumes: Array, ends: Array, aliases: int
) -> Array:
    """Rate at which aliases end as an I/O sees them that waits at a volume of each class, shape (classes, D).

    Pairs of an I/O that waits at class k and one that class j has on an alias have a balance of their own: they come
    with a try that joins the queue and with a pickup beside one that goes on to wait, and go with either of the two.
    Both their sums are known, over j and over k. `held` is what all volumes of a class hold, `ends` the answer so far.
    """
    from scipy.linalg.lapack import dgtsv

    first = int(aliases) + 1
    last = end_of_law(pool.law(), first)
    here = slice(first, last)
    waiting = pool.total[here] - aliases
    rise = pool.tries[first : last - 1] / pool.falls[first + 1 : last]  # p(D+1) / p(D)
    fall = pool.falls[here] / pool.tries[first - 1 : last - 1]  # p(D-1) / p(D)
    classes = volumes.size
    result = ends.copy()
    pairs = np.zeros((classes, classes, waiting.size))
    for k in range(classes):
        others = ends[k, here] * (aliases - 1.0) / aliases
        tries = sees.tries[k, here].copy()
        tries[-1] = 0.0
        stays = np.maximum(sees.pickups[k, here] - sees.picks_each[k, here], 0.0) + others * (
            1.0 - 1.0 / waiting
        )
        born = sees.queue[k, here] * ends[k, here] / waiting
        for j in range(classes):
            right = sees.joins[k, j, first - 1 : last - 1] * fall
            right[:-1] += (born * sees.beside[k, j, here])[1:] * rise
            diagonal = tries + sees.pickups[k, here] + pace[j, here] + others
            *_, pairs[k, j], _ = dgtsv(-(tries[:-1] * fall[1:]), diagonal, -(stays[1:] * rise), right)
    pairs = np.clip(pairs, LEAST, 1.0 / LEAST)
    by_row = aliases * sees.queue[:, here]
    by_column = waiting * held[:, here]
    for _ in range(ROUNDS):
        pairs *= _factor(by_column, np.einsum("k,kjd->jd", volumes, pairs))[None]
        pairs *= _factor(by_row, pairs.sum(axis=1))[:, None]
    seen = np.einsum("kjd,jd->kd", pairs, pace[:, here])
    found = np.divide(
        seen, sees.queue[:, here], out=np.array(ends[:, here]), where=sees.queue[:, here] > TINY
    )
    taken = volumes @ (sees.queue[:, here] * found)
    share = found * (waiting / np.maximum(taken, TINY))
    result[:, here] = share * pool.alias_ends[here]
    result[:, last:] = share[:, -1:] * pool.alias_ends[last:]
    return result


def _factor(wanted: Array, have: Array) -> Array:
    """What leads from one to the other, within reason."""
    return np.clip(wanted / np.maximum(have, LEAST), 1.0 / FARTHEST, FARTHEST)
