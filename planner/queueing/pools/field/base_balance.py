"""Balance of one base against the pool: the chance that it is busy, given the pool's D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.errors import ConvergenceError
from planner.results import Array


def resized(rows: Array, size: int, mode: Literal["edge", "constant"] = "edge") -> Array:
    """Rows over more D that go on as they ended, or with 0, or over fewer."""
    more = [(0, 0)] * (rows.ndim - 1) + [(0, max(size - rows.shape[-1], 0))]
    return np.pad(rows, more, mode=mode)[..., :size]


@dataclass(frozen=True, eq=False)
class PoolFlows:
    """Flows of the whole pool by D."""

    total: Array  # The window of D, shape (D,) [1]
    tries: Array  # Arrivals that find their base busy; D rises [1/service time]
    pickups: Array  # I/Os that bases take from their own queue; D falls [1/service time]
    alias_ends: Array  # I/Os that aliases end; D falls [1/service time]

    @property
    def falls(self) -> Array:
        """Rate at which D falls by one [1/service time]."""
        return self.alias_ends + self.pickups

    def law(self) -> Array:
        """Law of D on its window, p(D+1) falls(D+1) = p(D) tries(D), shape (D,) [1]; of volumes that ran away none."""
        if not ((self.tries[:-1] > 0.0).all() and (self.falls[1:] > 0.0).all()):
            raise ConvergenceError("mean field of the alias pool: flows", np.inf, 0)
        steps = np.log(self.tries[:-1]) - np.log(self.falls[1:])
        logarithm = np.concatenate([[0.0], np.cumsum(steps)])
        law = np.exp(logarithm - logarithm.max())
        return np.asarray(law / law.sum())


@dataclass(frozen=True, eq=False)
class BaseFlows:
    """Flows of one volume given D, or of one of each class, shape (D,) or (classes, D) each."""

    arrivals: Array  # Arrival rate while the base is idle [1/service time]
    idles: Array  # Rate at which the busy base ends with its own queue empty [1/service time]
    tries: Array  # Share of this volume in the pool's tries and pickups [1/service time]
    pickups: Array


def idle_given_total(pool: PoolFlows, base: BaseFlows, top: bool, alias_ends: Array | None = None) -> Array:
    """Probability that a base is idle given D, from its balance with the other volumes.

    While the base is idle, D changes by the other volumes' tries and pickups and by the aliases alone, which
    couples the probability at D to those at D - 1 and D + 1: a diagonally dominant tridiagonal system. Those of
    several classes stand in one, with nothing between the last D of one and the first of the next.
    """
    from scipy.linalg.lapack import dgtsv

    others_try = np.maximum(pool.tries - base.tries, 0.0)
    if top:
        others_try[..., -1] = 0.0
    if alias_ends is None:
        alias_ends = pool.alias_ends
    falls_while_idle = alias_ends + np.maximum(pool.pickups - base.pickups, 0.0)
    falls = pool.falls
    diagonal = base.arrivals + base.idles + others_try + falls_while_idle
    if falls.size == 1:  # so little load that no I/O is ever beyond a base
        return np.asarray(base.idles / (base.arrivals + base.idles))
    from_below, from_above = np.zeros((2, falls.size))
    from_below[1:], from_above[:-1] = -pool.tries[:-1], -falls[1:]
    above = (from_below * _share(falls_while_idle, falls)).ravel()[1:]
    below = (from_above * _share(others_try, pool.tries)).ravel()[:-1]
    *_, idle, _ = dgtsv(below, diagonal.ravel(), above, base.idles.ravel())
    return np.asarray(np.minimum(np.maximum(idle, 0.0), 1.0).reshape(diagonal.shape))


def _share(part: Array, whole: Array) -> Array:
    """Part of a rate; none of one that is too small for a float64."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def held_given_total(
    pool: PoolFlows, tries: Array, pickups: Array, pace: Array, joins: Array, picked: Array, aliases: int
) -> Array:
    """Mean aliases that one volume holds given D, from its balance: a slow I/O stays while quick ones come and go.

    They rise with its tries that find a free alias, `joins`, and with its I/Os that are picked up as another ends,
    `picked`, and fall at `pace` each; meanwhile D moves: a tridiagonal system in the means. The others on aliases are
    taken as independent of one I/O: of n busy aliases that end at rate R, those beside it end at rate R (n - 1) / n.
    """
    from scipy.linalg.lapack import dgtsv

    busy, falls = np.minimum(pool.total, float(aliases)), pool.falls
    tries = tries.copy()
    tries[-1] = 0.0
    stays = pickups + pool.alias_ends * np.maximum(busy - 1.0, 0.0) / np.maximum(busy, 1.0)
    rise, fall = pool.tries[:-1] / falls[1:], falls[1:] / pool.tries[:-1]  # p(D+1) / p(D), p(D-1) / p(D)
    right = np.zeros_like(stays)
    right[1:] += joins[:-1] * fall
    right[:-1] += picked[1:] * rise
    *_, held, _ = dgtsv(-(tries[:-1] * fall), tries + stays + pace, -(stays[1:] * rise), right)
    return np.asarray(np.clip(held, 0.0, busy))
