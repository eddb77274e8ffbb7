"""The relative error of the law itself: restricted maximum likelihood, with a floor."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.results import Array

MODEL_ERROR: Final = 0.02  # floor: residuals of a good fit say nothing about what it was not fitted to
GIVEN: Final = 200.0  # degrees of freedom of an error that is not estimated: Student's t is normal
LARGEST: Final = 1.0
GRID: Final = 120


def restricted_estimate(
    off: Array,
    slope: Array,
    *,
    rounding: Array,
    scale: Array,
    belief: Array,
    belief_slope: Array,
    shrunk: bool = True,
) -> float:
    """Estimate the model error that the residuals of a fit speak for.

    With r the differences at the solution, J their Jacobian, V(t) = rounding^2 + (t scale)^2 on the diagonal and P the
    precision of the priors, t maximizes

        -1/2 (ln det V + ln det(J' V^-1 J + P) + min_d [(r + J d)' V^-1 (r + J d) + priors]) - ln t

    (Patterson and Thompson 1971; the priors count as further data of known variance, 1 / t is the usual prior of a
    scale and keeps a few residuals from being taken for a large error).
    """
    candidates = np.geomspace(MODEL_ERROR, LARGEST, GRID)
    variance = rounding**2 + (candidates[:, None] * scale) ** 2
    weighted: Array = slope.T / variance[:, None, :]
    hessian = weighted @ slope + belief_slope.T @ belief_slope
    gradient = weighted @ off + belief_slope.T @ belief
    step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    misfit = (off**2 / variance).sum(-1) + belief @ belief - (gradient * step).sum(-1)
    _, log_det = np.linalg.slogdet(hessian)
    prior = 2 * np.log(candidates) if shrunk else 0.0
    return float(candidates[np.argmin(np.log(variance).sum(-1) + log_det + misfit + prior)])
