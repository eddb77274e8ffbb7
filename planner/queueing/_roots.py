"""Roots of increasing functions, vectorized: where a model meets its target.

The method is that of `scipy.optimize.elementwise.find_root`, which takes two to four times as long for a few dozen
scenarios and does not say on which side of the root its answer lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.results import Array

ROUNDING: Final = 2 * np.finfo(np.float64).eps


def increasing_root(
    function: Callable[..., Array], low: Array, high: Array, arguments: Sequence[Array] = ()
) -> Array:
    """Largest x of [low, high], to working precision, at which an increasing function is not above zero.

    Chandrupatla's bracketing (1997): inverse quadratic steps where they are safe, else halving. `function` is
    called as ``function(x, *arguments)`` with the scenarios that have not converged yet. The answer is `low` if
    the function is above zero there, `high` if it is nowhere above zero.
    """
    best = np.array(np.broadcast_to(low, np.shape(high)), dtype=np.float64)
    at_low, at_high = function(best, *arguments), function(high, *arguments)
    best = np.where(at_high <= 0, high, best)
    index = np.flatnonzero((at_low <= 0) & (at_high > 0))
    x1, x2, f1, f2 = (array.ravel()[index] for array in (high, np.asarray(low) + 0 * high, at_high, at_low))
    rest = [np.broadcast_to(argument, best.shape).ravel()[index] for argument in arguments]
    half = 0.5
    share = np.full(index.size, half)
    flat = best.ravel()
    most = 400  # plain bisection of any interval of float64 needs fewer
    for _ in range(most):
        if index.size == 0:
            return flat.reshape(best.shape)
        x = x1 + share * (x2 - x1)
        f = function(x, *rest)
        same = (f > 0) == (f1 > 0)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = x, f
        flat[index] = np.where(f1 > 0, x2, x1)
        width = np.abs(x2 - x1)
        limit = ROUNDING * np.maximum(np.abs(x1), np.abs(x2)) / np.where(width > 0, width, 1)
        going = (limit < half) & (width > 0) & (f1 != 0)
        index, x1, x2, x3, f1, f2, f3, limit = (
            a[going] for a in (index, x1, x2, x3, f1, f2, f3, limit)
        )  # fmt: skip
        rest = [argument[going] for argument in rest]
        share = np.clip(_share(x1, x2, x3, f1, f2, f3), limit, 1 - limit)
    raise ConvergenceError("bracketing of a root", float(np.abs(f1).max()), most)


def enclose(function: Callable[[Array], Array], high: Array) -> Array:
    """Double each upper end until the function is above zero there."""
    while (short := function(high) <= 0).any():
        high = np.where(short, 2 * high, high)
    return high


def _share(x1: Array, x2: Array, x3: Array, f1: Array, f2: Array, f3: Array) -> Array:
    """Next step as a share of the bracket: inverse quadratic interpolation where it stays inside, else half."""
    with np.errstate(all="ignore"):
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        step = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & np.isfinite(step)
    return np.where(safe, step, 0.5)
