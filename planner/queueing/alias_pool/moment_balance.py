"""Balance of a mean of one volume against the pool, given D: its queue and its aliases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded

from planner.queueing.alias_pool.base_balance import PoolFlows
from planner.results import Array


@dataclass(frozen=True, eq=False)
class MeanFlows:
    """What changes the mean m(D) of some count of one volume; all rates given D, shape (D,) [1/service time].

    Attributes
    ----------
    rises, falls : ndarray
        Rate at which D rises, falls.
    lost : ndarray
        Part of `falls` at which one of the count is lost, for each of the count.
    leaves : ndarray
        Rate at which the count is lost while D stays.
    enters : ndarray
        Gains of the mean while D stays.
    enters_rising : ndarray
        Gains of the mean by moves that raise D, at the D before the move.
    enters_falling : ndarray
        The same for moves that lower D.
    """

    rises: Array
    falls: Array
    lost: Array
    leaves: Array
    enters: Array
    enters_rising: Array
    enters_falling: Array


def mean_given_total(pool: PoolFlows, flows: MeanFlows) -> Array:
    """Mean of a count of one volume given D.

    The balance couples m(D) to m(D - 1) and m(D + 1), by the ratios of the law of D, which are those of the pool's flows:
    ``m (rises + falls + leaves) = enters + p(D-1)/p(D) (m rises + enters_rising)(D-1)
    + p(D+1)/p(D) (m (falls - lost) + enters_falling)(D+1)``.

    Parameters
    ----------
    pool : PoolFlows
        Flows of the pool.
    flows : MeanFlows
        Flows of the count.

    Returns
    -------
    ndarray
        The mean, 0 or more, shape (D,) [1].
    """
    up, down = pool.falls[1:] / pool.tries[:-1], pool.tries[:-1] / pool.falls[1:]
    rises = flows.rises.copy()
    rises[-1] = 0.0
    bands = np.zeros((3, rises.size))
    bands[0, 1:] = -down * (flows.falls - flows.lost)[1:]
    bands[1] = rises + flows.falls + flows.leaves
    bands[2, :-1] = -up * rises[:-1]
    right = flows.enters.copy()
    right[1:] += up * flows.enters_rising[:-1]
    right[:-1] += down * flows.enters_falling[1:]
    if bands[1, 0] == 0.0:
        bands[1, 0] = 1.0
    return np.maximum(solve_banded((1, 1), bands, right, overwrite_ab=True, check_finite=False), 0.0)
