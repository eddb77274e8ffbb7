"""Least squares in logarithms for a given number of requesters, and how likely that number is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.calibrate.law import KEYS
from planner.calibrate.problem import Problem
from planner.errors import CalibrationError, ConvergenceError
from planner.results import Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

POPULATIONS: Final = (*range(1, 13), 14, 16, 20, 24, 32, 48, 64)
TOLERANCE: Final = 1e-7  # of the least squares: relative change of chi-square or of the logarithms
MOST_STEPS: Final = (
    60  # of the least squares from one start: what needs more creeps along a valley without an end
)
ROUGH_STEPS: Final = 16  # where only an order of chi-square is asked
STEP: Final = 1e-4  # of the differences of the Jacobian, in logarithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The best parameters for one number of requesters.

    Attributes
    ----------
    problem : Problem
        What was fitted.
    population : int
        Requesters of one volume.
    logs : ndarray, shape (free,)
        Natural logarithms of the free parameters.
    residuals : ndarray, shape (figures + priors,)
        In standard deviations.
    jacobian : ndarray, shape (figures + priors, free)
        Change of the residuals with the logarithms.
    """

    problem: Problem
    population: int
    logs: Array
    residuals: Array
    jacobian: Array

    @property
    def chi_square(self) -> float:
        """Sum of the squared residuals, priors included."""
        return float(self.residuals @ self.residuals)

    @property
    def covariance(self) -> Array:
        """Of the logarithms, shape (free, free)."""
        return np.asarray(np.linalg.pinv(self.jacobian.T @ self.jacobian), dtype=np.float64)

    @property
    def log_odds(self) -> float:
        """Logarithm of the evidence for this number of requesters: prior 1 / N, misfit, room for the parameters."""
        _, log_det = np.linalg.slogdet(self.jacobian.T @ self.jacobian)
        return -0.5 * (self.chi_square + float(log_det)) + math.log(share_of(self.population))

    @property
    def values(self) -> dict[str, float]:
        """All parameters by key, SI."""
        row = self.problem.values(self.logs[None])[0]
        return dict(zip(KEYS, row.tolist(), strict=True))


def share_of(population: int) -> float:
    """Tell the prior weight of a population: 1 / N, for all the counts that it stands for on the grid."""
    place = POPULATIONS.index(population) if population in POPULATIONS else None
    if place is None:
        return 1 / population
    first = POPULATIONS[place - 1] if place else 0
    last = POPULATIONS[place + 1] if place + 1 < len(POPULATIONS) else 2 * population - first
    return (last - first) / 2 / population


def solve(problem: Problem, population: int, starts: Sequence[Array], *, rough: bool = False) -> Solution:
    """Find the parameters for one number of requesters, from several starts; `rough` takes what a few steps reach."""
    best, message = None, "no start"
    for start in starts:
        try:
            found = _minimum(problem, population, start, ROUGH_STEPS if rough else MOST_STEPS)
        except ConvergenceError as error:
            message = f"the law could not be solved while fitting: {error}"
            continue
        message = str(found.message)
        if (found.success or rough) and (best is None or found.cost < best.cost):
            best = found
    if best is None:
        raise CalibrationError(f"least squares did not converge for {population} requesters: {message}")
    return Solution(problem=problem, population=population, logs=np.asarray(best.x),
                    residuals=np.asarray(best.fun), jacobian=np.asarray(best.jac))  # fmt: skip


def _minimum(problem: Problem, population: int, start: Array, most: int) -> OptimizeResult:
    """Go downhill from one start: without bounds, which is quicker, and with them where that leaves them."""
    from scipy.optimize import least_squares

    low, high = problem.bounds
    width = len(problem.free)
    steps = STEP * np.concatenate([np.zeros((1, width)), np.eye(width)])
    last: dict[bytes, Array] = {}

    def around(logs: Array) -> Array:
        """Residuals at a point and beside it, in one evaluation: the law costs little more for many sets."""
        if logs.tobytes() not in last:
            last.clear()
            last[logs.tobytes()] = problem.residuals(logs + steps, population)
        return last[logs.tobytes()]

    def residuals(logs: Array) -> Array:
        return np.asarray(around(logs)[0])

    def jacobian(logs: Array) -> Array:
        return np.asarray((around(logs)[1:] - around(logs)[0]).T / STEP)

    inside = np.clip(start, low + 2 * STEP, high - 2 * STEP)
    downhill = partial(
        least_squares, residuals, inside, jac=jacobian, xtol=TOLERANCE, ftol=TOLERANCE, max_nfev=most
    )
    found = downhill(method="lm")
    if ((found.x > low) & (found.x < high)).all():
        return found
    return downhill(bounds=(low, high))
