"""How the aliases of one volume slow each other and its base down: averages over their number, not at its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.results import Array

MAX_LOG: Final = 600.0
TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class AliasChain:
    """One volume whose aliases come at a given rate while its base is busy, at each D, for every class.

    Attributes
    ----------
    mean : ndarray
        Mean aliases while the base is busy, shape (classes, D) [1].
    base : ndarray
        Mean rate of the busy base, shape (classes, D) [1/service time].
    base_by_alias : ndarray
        The same, each state weighed by its aliases, shape (classes, D) [1/service time].
    per_alias_idle, per_alias_busy : ndarray
        Mean rate of the aliases for each that is held, base idle and base busy, shape (classes, D) [1/service time].
    """

    mean: Array
    base: Array
    base_by_alias: Array
    per_alias_idle: Array
    per_alias_busy: Array


def alias_chain(
    births: Array,
    arrivals: Array,
    idle_share: Array,
    *,
    growth: Array,
    base_time: Array,
    beside_base: Array,
    alone: Array,
    most: int,
) -> AliasChain:
    """Solve the chain (base idle or busy, aliases a) by ratios from the largest a down, in positive terms.

    The base ends at rate ``1 / (base_time + growth a)``, the aliases at ``a / (beside_base + growth a)`` beside a busy base and
    ``a / (alone + growth a)`` beside an idle one.

    Parameters
    ----------
    births : ndarray
        Rate at which the volume gets aliases while its base is busy, shape (classes, D) [1/service time].
    arrivals : ndarray
        Arrival rate at an idle base, shape (classes, D) [1/service time].
    idle_share : ndarray
        Share of the base's ends that leave it idle, shape (classes, D) [1].
    growth, base_time, beside_base, alone : ndarray
        Of the times above, shape (classes, D) [service times].
    most : int
        Largest number of aliases of one volume [1].

    Returns
    -------
    AliasChain
        Averages over the stationary law.
    """
    count = np.arange(float(most + 1))[:, None, None]
    base = 1.0 / (base_time + growth * count)
    busy_ends = count / (beside_base + growth * count)
    idle_ends = count / np.maximum(alone + growth * count, TINY)
    leave_idle = arrivals + idle_ends
    idle_per_busy = np.empty_like(base)  # probability base idle over base busy, at each a
    log_step = np.zeros_like(base)  # ln P(busy, a) / P(busy, a - 1)
    idle_per_busy[most] = idle_share * base[most] / leave_idle[most]
    for a in range(most - 1, -1, -1):
        from_above = idle_per_busy[a + 1] * idle_ends[a + 1]
        falls = (from_above + busy_ends[a + 1]) / births
        idle_per_busy[a] = (idle_share * base[a] + from_above / falls) / leave_idle[a]
        log_step[a + 1] = -np.log(falls)
    log_law = np.cumsum(log_step, axis=0)
    busy = np.exp(np.maximum(log_law - log_law.max(axis=0), -MAX_LOG))
    idle = busy * idle_per_busy
    mean, mean_idle = (count * busy).sum(axis=0), (count * idle).sum(axis=0)
    total = busy.sum(axis=0)
    return AliasChain(
        mean=mean / total,
        base=(base * busy).sum(axis=0) / total,
        base_by_alias=(base * count * busy).sum(axis=0) / np.maximum(mean, TINY),
        per_alias_idle=(idle_ends * idle).sum(axis=0) / np.maximum(mean_idle, TINY),
        per_alias_busy=(busy_ends * busy).sum(axis=0) / np.maximum(mean, TINY),
    )
