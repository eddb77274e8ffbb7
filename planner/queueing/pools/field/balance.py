"""Balance of one base against the pool: the chance that it is busy, given D; and the law of D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import Elements, State
from planner.queueing.pools.field.given_total import GivenTotal, ratio
from planner.results import Array


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows given D: of one volume, shape (elements, classes, D), and of the pool, shape (elements, D)."""

    arrivals: Array  # Arrival rate while the base is idle [1/service time]
    idles: Array  # Rate at which the busy base ends with its own queue empty [1/service time]
    tries: Array  # Arrivals that find the base busy [1/service time]
    pickups: Array  # I/Os that the base takes from its own queue [1/service time]
    alias_ends: Array  # I/Os that aliases of the volume end [1/service time]
    pool_tries: Array  # D rises [1/service time]
    pool_pickups: Array  # D falls [1/service time]
    pool_ends: Array  # D falls [1/service time]

    def law(self, given: GivenTotal, most: Array) -> Array:
        """Law of D, ``p(D+1) falls(D+1) = p(D) tries(D)``, shape (elements, D) [1]."""
        falls = np.maximum(self.pool_pickups + self.pool_ends, TINY)
        steps = np.log(np.maximum(self.pool_tries[:, :-1], TINY)) - np.log(falls[:, 1:])
        total = np.arange(falls.shape[-1])
        possible = given.known & (total <= most[:, None])
        # Steps between D that are not known count for nothing.
        logs = np.zeros_like(falls)
        np.cumsum(np.where(possible[:, 1:] & possible[:, :-1], steps, 0.0), axis=-1, out=logs[:, 1:])
        logs = np.where(possible, logs, -np.inf)
        law = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(law / law.sum(axis=-1, keepdims=True))


def busy_given_total(elements: Elements, state: State, given: GivenTotal) -> Array:
    """Probability that a base is busy given D, shape (elements, classes, D): from its balance once flows are known.

    While the base is idle, D changes by the other volumes' tries and pickups and by the aliases alone, which couples
    the probability at D to those at D - 1 and D + 1: a diagonally dominant tridiagonal system. Those of all classes and
    elements stand in one, with nothing between the last D of one and the first of the next. Volumes that do not meet
    need none: they are independent but for their sum.
    """
    followed = 2  # passes in which bases follow the law of one volume
    balanced = (state.passes >= followed) & ~elements.independent & ~state.nobody_waits
    if not balanced.any():
        return given.busy_share
    count = elements.volumes[..., None]
    tries, pickups = (
        (count * each).sum(axis=1, keepdims=True) for each in (state.tries_given, state.picks_given)
    )
    ends, total = state.ends_given[:, None], np.arange(tries.shape[-1])
    others_try = np.maximum(tries - state.tries_given, 0.0)
    others_try[..., -1] = 0.0
    others_try = np.where(total < elements.most_beyond[:, None, None], others_try, 0.0)
    falls_while_idle = ends + np.maximum(pickups - state.picks_given, 0.0)
    falls = ends + pickups
    diagonal = state.arrivals_given + state.idles_given + others_try + falls_while_idle
    below, above = np.zeros_like(diagonal), np.zeros_like(diagonal)
    below[..., 1:] = -falls[..., 1:] * ratio(others_try, np.broadcast_to(tries, diagonal.shape))[..., :-1]
    above[..., :-1] = (
        -tries[..., :-1] * ratio(falls_while_idle, np.broadcast_to(falls, diagonal.shape))[..., 1:]
    )
    used = given.known[:, None] & (diagonal > TINY)
    below, above, right = (np.where(used, each, 0.0) for each in (below, above, state.idles_given))
    idle = _tridiagonal(below, above, right, np.where(used, diagonal, 1.0))
    busy = 1.0 - np.minimum(np.maximum(idle, 0.0), 1.0)
    busy = np.where(given.never_idle, 1.0, np.where(given.per_busy > 0.0, busy, 0.0))
    return np.where(balanced[:, None, None], busy, given.busy_share)


def _tridiagonal(below: Array, above: Array, right: Array, diagonal: Array) -> Array:
    """Solve systems side by side, the unknowns of each on the last axis."""
    from scipy.linalg.lapack import dgtsv

    if diagonal.shape[-1] == 1:
        return right / diagonal
    *_, solution, _ = dgtsv(below.ravel()[1:], diagonal.ravel(), above.ravel()[:-1], right.ravel())
    return np.asarray(solution).reshape(diagonal.shape)
