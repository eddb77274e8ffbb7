"""How busy the requests of an interval find a group of servers at most and at least.

The number of busy servers moves by single steps. In equilibrium as many requests lead from k to k + 1 as ends lead
back, so the law p and the flow of requests that find k tell all: the mean time from k to k + 1 is
``sum over j <= k of p(j) / flow(k)``, and from k + 1 to k it is ``sum over j > k of p(j) / flow(k)``. A level that is
rarely reached is reached after an exponential time (Keilson, 1979, Markov Chain Models, chapter 8), so no request of an
interval t finds n or more with probability ``P(n or fewer at the start) exp(-t / H(n + 1))``, H the mean time to the
level: exact in the limit of rare levels.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.results import Array

TINY: Final = 1e-290  # below it a state is never seen
NEVER: Final = 1e200  # mean time, in intervals, of what does not happen
INSTANT: Final = 1e-12  # mean time that divides in place of 0
LONG: Final = 700.0  # exponent beyond which a chance is 0
SOME: Final = 1e-15  # chance of any try that is left where none is likely


def most_found(law: Array, flow: Array, interval: ArrayLike, servers: int) -> Array:
    """Law of the most busy servers that a request finds in an interval."""
    below = np.maximum(np.cumsum(law, axis=-1), TINY)
    rise = np.divide(below, flow, out=np.full_like(below, NEVER), where=flow > TINY)
    reach = np.minimum(np.cumsum(rise * below, axis=-1) / below, NEVER)[..., : servers + 1]
    none_from = below[..., : servers + 1] * _unreached(interval, reach)
    none_from = np.minimum.accumulate(none_from[..., ::-1], axis=-1)[..., ::-1]
    none_at_all = np.minimum(none_from[..., :1], 1.0 - SOME)
    return np.maximum(np.diff(none_from, axis=-1, append=1.0), 0.0) / (1.0 - none_at_all)


def fewest_found(law: Array, flow: Array, interval: ArrayLike, servers: int) -> Array:
    """Law of the fewest busy servers that a request finds in an interval."""
    above = np.cumsum(law[..., ::-1], axis=-1)[..., ::-1]
    back = np.concatenate([np.zeros_like(flow[..., :1]), flow[..., :-1]], axis=-1)
    fall = np.divide(above, back, out=np.full_like(above, NEVER), where=back > TINY) * above
    fall[..., 0] = 0.0
    sums = np.cumsum(fall[..., ::-1], axis=-1)[..., ::-1]
    over = above[..., 1 : servers + 1]
    reach = np.minimum(sums[..., 1 : servers + 1] / np.maximum(over, TINY), NEVER)
    more_than = np.minimum.accumulate(over * _unreached(interval, reach), axis=-1)
    return np.maximum(-np.diff(more_than, axis=-1, prepend=1.0, append=0.0), 0.0)


def _unreached(interval: ArrayLike, reach: Array) -> Array:
    """Chance that a level is not reached in the interval."""
    length = np.asarray(interval, dtype=np.float64)[..., None]
    chance: Array = np.exp(-np.minimum(length / np.maximum(reach, INSTANT), LONG))
    return chance
