"""Balance of one base against the pool: the chance that it is busy, given the pool's D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.results import Array


@dataclass(frozen=True, eq=False)
class PoolFlows:
    """Flows of the whole pool by D.

    Attributes
    ----------
    total : ndarray
        The window of D, shape (D,) [1].
    tries : ndarray
        Arrivals that find their base busy; D rises [1/service time].
    pickups : ndarray
        I/Os that bases take from their own queue; D falls [1/service time].
    alias_ends : ndarray
        I/Os that aliases end; D falls [1/service time].
    """

    total: Array
    tries: Array
    pickups: Array
    alias_ends: Array

    @property
    def falls(self) -> Array:
        """Rate at which D falls by one [1/service time]."""
        return self.alias_ends + self.pickups

    def law(self) -> Array:
        """Law of D on its window, p(D+1) falls(D+1) = p(D) tries(D), shape (D,) [1]."""
        steps = np.log(self.tries[:-1]) - np.log(self.falls[1:])
        logarithm = np.concatenate([[0.0], np.cumsum(steps)])
        law = np.exp(logarithm - logarithm.max())
        return np.asarray(law / law.sum())


@dataclass(frozen=True, eq=False)
class BaseFlows:
    """Flows of one base of a class, or of one volume, given D.

    Attributes
    ----------
    arrivals : ndarray
        Arrival rate while the base is idle, shape (D,) [1/service time].
    idles : ndarray
        Rate at which the busy base ends with its own queue empty, shape (D,) [1/service time].
    tries, pickups : ndarray
        Share of this volume in the pool's tries and pickups, shape (D,) [1/service time].
    """

    arrivals: Array
    idles: Array
    tries: Array
    pickups: Array


def idle_given_total(pool: PoolFlows, base: BaseFlows, top: bool) -> Array:
    """Probability that a base is idle given D, from its balance with the other volumes.

    While the base is idle, D changes by the other volumes' tries and pickups and by the aliases alone, which
    couples the probability at D to those at D - 1 and D + 1: a diagonally dominant tridiagonal system.

    Parameters
    ----------
    pool : PoolFlows
        Flows of the pool.
    base : BaseFlows
        Flows of the base and its volume.
    top : bool
        Whether the window ends at the largest D there is.

    Returns
    -------
    ndarray
        Probabilities, shape (D,) [1].
    """
    from scipy.linalg.lapack import dgtsv

    others_try = np.maximum(pool.tries - base.tries, 0.0)
    if top:
        others_try[-1] = 0.0
    falls_while_idle = pool.alias_ends + np.maximum(pool.pickups - base.pickups, 0.0)
    falls = pool.falls
    diagonal = base.arrivals + base.idles + others_try + falls_while_idle
    above = -(pool.tries[:-1] * falls_while_idle[1:] / falls[1:])
    below = -(falls[1:] * others_try[:-1] / pool.tries[:-1])
    *_, idle, _ = dgtsv(below, diagonal, above, base.idles)
    return np.asarray(np.clip(idle, 0.0, 1.0))
