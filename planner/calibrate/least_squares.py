"""The least-squares problem that every fit is: figures, what a model predicts, beliefs and bounds; and its solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

import numpy as np

from planner.results import Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

MODEL_ERROR: Final = 0.02  # floor: residuals of a good fit say nothing about what it was not fitted to
GIVEN: Final = 200.0  # degrees of freedom of an error that is not estimated: Student's t is normal


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """One measured figure, compared in logarithms unless it has a `scale`."""

    run: str  # its run
    quantity: str  # what was measured, with the unit as a suffix
    factor: float  # SI units in one of them
    value: float  # value, and half of what the printed digits leave open, SI
    half: float
    # What the relative error of the model is taken of, where it is compared plainly.
    scale: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One `measured` number of a `run` beside what the law says (`predicted`), in the unit that `quantity` ends in.

    `sigma` is the standard deviation that gave it its weight, in that unit; `off_by` law less measurement, in standard
    deviations on the scale of the fit.
    """

    run: str
    quantity: str
    measured: float
    predicted: float
    sigma: float
    off_by: float


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """Figures, and what a model gives for them: `predict`, `beliefs`, `bounds`; points have the shape (sets, free)."""

    STEP: ClassVar[float]  # of the differences of the Jacobian
    CENTRAL: ClassVar[bool]  # whether they are taken on both sides
    TOLERANCE: ClassVar[float]  # relative change of chi-square or of a point at which the search ends
    model_error: float = MODEL_ERROR  # relative standard deviation of the model

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        """What was measured."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest points, each of shape (free,)."""
        raise NotImplementedError

    def predict(self, points: Array) -> Array:
        """What the model says, SI, shape (sets, figures)."""
        raise NotImplementedError

    def beliefs(self, points: Array) -> Array:
        """Priors and conventions in their standard deviations, shape (sets, beliefs)."""
        raise NotImplementedError

    @cached_property
    def _logs(self) -> Array:
        """Logarithms of the figures compared so, nan for the others, shape (figures,)."""
        return np.array([math.log(each.value) if each.scale is None else math.nan for each in self.figures])

    @cached_property
    def rounding(self) -> Array:
        """Standard deviation that the printed digits leave, relative where figures are compared so, (figures,)."""
        halves = [each.half / (each.value if each.scale is None else 1.0) for each in self.figures]
        return np.array(halves) / math.sqrt(3)

    @cached_property
    def scale(self) -> Array:
        """What the error of the model is taken of, shape (figures,)."""
        return np.array([1.0 if each.scale is None else each.scale for each in self.figures])

    @cached_property
    def sigma(self) -> Array:
        """Standard deviation of every figure: rounding and model error, shape (figures,)."""
        return np.asarray(np.hypot(self.rounding, self.model_error * self.scale))

    def off(self, points: Array) -> Array:
        """Model less measurement, shape (sets, figures)."""
        predicted, plain = self.predict(points), np.isnan(self._logs)
        values = np.array([each.value for each in self.figures])
        return np.where(plain, predicted - values, np.log(np.maximum(predicted, 1e-300)) - self._logs)

    def residuals(self, points: Array) -> Array:
        """Figures and beliefs, each in its standard deviations, shape (sets, figures + beliefs)."""
        return np.concatenate([self.off(points) / self.sigma, self.beliefs(points)], axis=-1)

    def compared(self, at: Array) -> tuple[Comparison, ...]:
        """Every figure beside the model."""
        rows = zip(self.figures, self.off(at[None])[0].tolist(), self.sigma.tolist(), strict=True)
        found = []
        for each, off, sigma in rows:
            size = each.value if each.scale is None else 1.0
            predicted = each.value * math.exp(off) if each.scale is None else each.value + off
            found.append(
                Comparison(
                    run=each.run, quantity=each.quantity, measured=each.value / each.factor,
                    predicted=predicted / each.factor, sigma=sigma * size / each.factor, off_by=off / sigma,
                )
            )  # fmt: skip
        return tuple(found)

    def degrees(self, left: float) -> float:
        """Degrees of freedom of the error of the model, which is not estimated where it is at its floor."""
        return GIVEN if self.model_error <= MODEL_ERROR else max(left, 1.0)

    def around(self, at: Array) -> tuple[Array, Array]:
        """Residuals at a point and their slope there; one evaluation: a model costs little more for many sets."""
        steps = self.STEP * np.eye(len(at))
        found = self.residuals(
            np.concatenate([at[None], at + steps, *([at - steps] if self.CENTRAL else [])])
        )
        ahead, behind = found[1 : len(at) + 1], found[len(at) + 1 :] if self.CENTRAL else found[0]
        return found[0], (ahead - behind).T / (self.STEP * (1 + self.CENTRAL))

    def minimum(self, start: Array, most: int, *, within: bool = True) -> OptimizeResult:
        """Go downhill from one start; not `within` the bounds first, which is quicker, where that stays in them."""
        from scipy.optimize import least_squares

        low, high = self.bounds

        @lru_cache(maxsize=1)
        def known(at: bytes) -> tuple[Array, Array]:
            return self.around(np.frombuffer(at))

        def residuals(at: Array) -> Array:
            return known(at.tobytes())[0]

        def jacobian(at: Array) -> Array:
            return known(at.tobytes())[1]

        inside, ends = np.clip(start, low + 2 * self.STEP, high - 2 * self.STEP), self.TOLERANCE
        downhill = partial(
            least_squares, residuals, inside, jac=jacobian, xtol=ends, ftol=ends,
            gtol=min(ends, 1e-8), max_nfev=most,
        )  # fmt: skip
        if not within:
            found = downhill(method="lm")
            if ((found.x > low) & (found.x < high)).all():
                return found
        return downhill(bounds=(low, high))

    def likely_error(
        self, off: Array, slope: Array, belief: Array, belief_slope: Array, *, shrunk: bool = True
    ) -> float:
        """Estimate the model error that the residuals of a fit speak for.

        With r the differences at the solution, J their Jacobian, V(t) = rounding^2 + (t scale)^2 on the diagonal and P
        the precision of the priors, t maximizes

            -1/2 (ln det V + ln det(J' V^-1 J + P) + min_d [(r + J d)' V^-1 (r + J d) + priors]) - ln t

        (Patterson and Thompson 1971; the priors count as further data of known variance, 1 / t is the usual prior of a
        scale and keeps a few residuals from being taken for a large error; without it where not `shrunk`).
        """
        candidates = np.geomspace(MODEL_ERROR, 1.0, 120)
        variance = self.rounding**2 + (candidates[:, None] * self.scale) ** 2
        weighted: Array = slope.T / variance[:, None, :]
        hessian = weighted @ slope + belief_slope.T @ belief_slope
        gradient = weighted @ off + belief_slope.T @ belief
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        misfit = (off**2 / variance).sum(-1) + belief @ belief - (gradient * step).sum(-1)
        _, log_det = np.linalg.slogdet(hessian)
        prior = 2 * np.log(candidates) if shrunk else 0.0
        return float(candidates[np.argmin(np.log(variance).sum(-1) + log_det + misfit + prior)])


Fitted = TypeVar("Fitted")


def with_likely_error(
    found: Fitted,
    of: Callable[[Fitted], tuple[float, float]],
    again: Callable[[Fitted, float], Fitted],
    most: int,
    settled: float = 1.02,
) -> Fitted:
    """Repeat a fit with the model error that its residuals speak for; `of` tells the error it had, and that one."""
    for _ in range(most):
        before, error = of(found)
        if max(error / before, before / error) < settled:
            break
        found = again(found, error)
    return found
