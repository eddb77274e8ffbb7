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
    steps = np.diff(free).astype(np.float64)

    def mark(begin: int, law: Array, flow: Array, steps: Array) -> float:
        """Go on from one end while the tries of the interval find none there."""
        found = float(begin)
        for i, step in enumerate(steps.tolist()):
            expected = interval * flow[: i + 1].sum()
            passed = _survival(law[i:], flow[i + 1 :], flow[i], interval) if expected > none else 1.0
            found += step * passed
            if passed < none:
                break
        return found

    # From above, the process ends where a try takes the alias that it has just got.
    return mark(free[0], law, flow, steps), mark(free[-1], law[-2::-1], flow[:0:-1], -steps[::-1])


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
