"""How far the CPU time of a transaction may lie off where it was not measured: an interval that lets scaling bend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.results import Array

CONFIDENCE: Final = 0.9
MODEL_ERROR_FLOOR: Final = 0.02  # residuals of a good fit say nothing about what was not measured
USL_FROM: Final = 5  # measurements: fewer leave three coefficients less than two degrees of freedom
FAR: Final = 1e3  # times the fitted time; an interval that reaches so far has no end on that side


def transaction_time_interval(
    processors: Sequence[int], times: Sequence[float], wanted: int
) -> tuple[float, float]:
    """Bound the CPU time of a transaction on a number of processors that was not measured.

    Parameters
    ----------
    processors : sequence of int
        Measured numbers of processors.
    times : sequence of float
        CPU time of a transaction on each [s].
    wanted : int
        Number of processors asked for.

    Returns
    -------
    shortest, longest : float
        Ends of the 90 % interval; 0 and infinity where nothing bounds it [s].

    Notes
    -----
    In the CPU time, ``t(n) = t1 + a (n - 1) + b n (n - 1)`` with no negative coefficient, the scalability
    laws are linear. The interval holds all times that, added as one more measurement, raise the least
    squared relative misfit by no more than ``(q s)^2``: q is Student's quantile for the degrees of freedom,
    s the residual error or 2 %, whichever is larger. Without bounds on the coefficients that is the
    classical prediction interval. The law may bend whichever law was chosen for the prediction: up to four
    measurements Amdahl's (b = 0), from five on the whole law.

    References
    ----------
    N. R. Draper and H. Smith, Applied Regression Analysis, 1998, section 1.4 (prediction interval); N. J.
    Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31.

    Examples
    --------
    >>> low, high = transaction_time_interval([3, 6, 8], [0.0188, 0.0186, 0.0185], 12)
    >>> low < 0.0186 < high
    True
    """
    from scipy.optimize import brentq
    from scipy.stats import t

    counts, measured = np.array(processors, dtype=np.float64), np.array(times, dtype=np.float64)
    coefficients = 3 if len(counts) >= USL_FROM else 2
    freedom = len(counts) - coefficients
    if freedom < 1:
        return 0.0, math.inf
    fitted, misfit = _fit(counts, measured, coefficients)
    sigma = max(math.sqrt(misfit / freedom), MODEL_ERROR_FLOOR)
    allowed = (float(t.ppf((1 + CONFIDENCE) / 2, freedom)) * sigma) ** 2
    center = float((_basis(np.array([float(wanted)]))[:, :coefficients] @ fitted)[0])

    def excess(factor: float) -> float:
        more = np.append(counts, wanted), np.append(measured, factor * center)
        return _fit(*more, coefficients)[1] - misfit - allowed

    shortest = brentq(excess, 1 / FAR, 1.0) * center if excess(1 / FAR) > 0 else 0.0
    longest = brentq(excess, 1.0, FAR) * center if excess(FAR) > 0 else math.inf
    return shortest, longest


def _basis(processors: Array) -> Array:
    """What each coefficient multiplies, one column each."""
    return np.stack([np.ones_like(processors), processors - 1, processors * (processors - 1)], axis=-1)


def _fit(processors: Array, times: Array, coefficients: int) -> tuple[Array, float]:
    """Coefficients [s] with the least squared relative misfit, and that misfit."""
    from scipy.optimize import nnls

    found, misfit = nnls(_basis(processors)[:, :coefficients] / times[:, None], np.ones_like(times))
    return found, misfit**2
