"""Fewest and most free aliases that the tries of an interval find."""

from __future__ import annotations

import numpy as np

from planner.results import Array


def water_marks(
    free_law: Array, tries_by_free: Array, tries: float, *, none: float = 1e-9, never: float = 1e-300
) -> tuple[float, float]:
    """Mean of the fewest and of the most free aliases that the tries of an interval find.

    The free aliases are taken as a birth-death process: a try takes one at rate ``tries(f) / P(f)`` and one
    comes free at the rate that keeps the law, ``P(f) up(f) = tries(f + 1)``. That no try finds so few, or so
    many, is its survival where such a try ends it. Up to `none` expected tries count as none.
    """
    rate = float(tries_by_free.sum())
    if rate <= 0.0:
        return float(free_law.size - 1), float(free_law.size - 1)
    interval = tries / rate
    free = np.flatnonzero(free_law > never)
    law, flow = free_law[free], tries_by_free[free]
    low = float(free[0])
    for i in range(free.size - 1):  # the mark is above free[i] where every try finds more
        expected = interval * flow[: i + 1].sum()
        above = _survival(law[i:], flow[i + 1 :], flow[i], interval) if expected > none else 1.0
        low += float(free[i + 1] - free[i]) * above
        if above < none:
            break
    high = float(free[-1])
    for i in range(free.size - 1, 0, -1):  # the mark is below free[i] where every try finds fewer
        expected = interval * flow[i:].sum()
        below = (
            _survival(law[i - 1 :: -1], flow[i - 1 : 0 : -1], flow[i], interval) if expected > none else 1.0
        )
        high -= float(free[i] - free[i - 1]) * below
        if below < none:
            break
    return low, high


def _survival(law: Array, between: Array, end: float, interval: float) -> float:
    """Probability that the process has not ended after the interval, begun at any of its states.

    `between` holds the flow between each state and the next; the process ends from its first state with flow `end`. In
    the symmetric form of the generator, ``sqrt(P) Q / sqrt(P)``, survival is a sum over its eigenvalues.
    """
    from scipy.linalg import eigh_tridiagonal

    outflow = np.append(between, 0.0) + np.append(end, between)
    root = np.sqrt(law)
    values, vectors = eigh_tridiagonal(-outflow / law, between / (root[:-1] * root[1:]))
    return float((root @ vectors) ** 2 @ np.exp(np.minimum(values, 0.0) * interval))
