"""The least-squares problem of every fit: figures, predictions, priors and bounds; and its solution."""

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

MODEL_ERROR: Final = 0.02  # floor: small residuals do not prove small errors elsewhere
GIVEN: Final = 200.0  # degrees of freedom if the error is not estimated: Student's t is then normal


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """One measured figure, compared in logarithms unless it has a `scale`."""

    run: str  # its run
    quantity: str  # what was measured, with the unit as a suffix
    factor: float  # SI units in one of them
    value: float  # value, and half its printed resolution, SI
    half: float
    # The model error is a share of this, where the figure is compared without logarithms.
    scale: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One `measured` number of a `run` and its prediction (`predicted`), in the unit with which `quantity` ends.

    `sigma`: standard deviation in the fit, in that unit; `off_by`: prediction less measurement in these, on its scale.
    """

    run: str
    quantity: str
    measured: float
    predicted: float
    sigma: float
    off_by: float


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """Figures and their model: `predict`, `beliefs`, `bounds`; points have the shape (sets, free)."""

    STEP: ClassVar[float]  # of the finite differences of the Jacobian
    CENTRAL: ClassVar[bool]  # whether differences are central
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
        """Predictions, SI, shape (sets, figures)."""
        raise NotImplementedError

    def beliefs(self, points: Array) -> Array:
        """Residuals of priors and conventions in standard deviations, shape (sets, beliefs)."""
        raise NotImplementedError

    @cached_property
    def _logs(self) -> Array:
        """Logarithms of the figures compared in logarithms, else nan, shape (figures,)."""
        return np.array([math.log(each.value) if each.scale is None else math.nan for each in self.figures])

    @cached_property
    def rounding(self) -> Array:
        """Standard deviation by rounding, relative for figures compared in logarithms, shape (figures,)."""
        halves = [each.half / (each.value if each.scale is None else 1.0) for each in self.figures]
        return np.array(halves) / math.sqrt(3)

    @cached_property
    def scale(self) -> Array:
        """Scale of the model error of each figure, shape (figures,)."""
        return np.array([1.0 if each.scale is None else each.scale for each in self.figures])

    @cached_property
    def sigma(self) -> Array:
        """Standard deviation of every figure: rounding and model error, shape (figures,)."""
        return np.asarray(np.hypot(self.rounding, self.model_error * self.scale))

    def off(self, points: Array) -> Array:
        """Prediction minus measurement, shape (sets, figures)."""
        predicted, plain = self.predict(points), np.isnan(self._logs)
        values = np.array([each.value for each in self.figures])
        return np.where(plain, predicted - values, np.log(np.maximum(predicted, 1e-300)) - self._logs)

    def residuals(self, points: Array) -> Array:
        """Residuals of figures and beliefs in standard deviations, shape (sets, figures + beliefs)."""
        return np.concatenate([self.off(points) / self.sigma, self.beliefs(points)], axis=-1)

    def compared(self, at: Array) -> tuple[Comparison, ...]:
        """Every figure and its prediction."""
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
        """Degrees of freedom of the model error, `GIVEN` at its floor, where it is not estimated."""
        return GIVEN if self.model_error <= MODEL_ERROR else max(left, 1.0)

    def around(self, at: Array) -> tuple[Array, Array]:
        """Residuals at a point and their Jacobian, in one evaluation: many sets cost little more than one."""
        steps = self.STEP * np.eye(len(at))
        sides = [at + steps, at - steps] if self.CENTRAL else [at + steps]
        found = self.residuals(np.concatenate([at[None], *sides]))
        ahead, behind = found[1 : len(at) + 1], found[len(at) + 1 :] if self.CENTRAL else found[0]
        return found[0], (ahead - behind).T / (self.STEP * (1 + self.CENTRAL))

    def minimum(self, start: Array, most: int, *, within: bool = True) -> OptimizeResult:
        """Minimize from one start; unless `within`, first without bounds, which is quicker and enough inside them."""
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
        """Estimate the model error from the residuals of a fit.

        With r the differences at the solution, J their Jacobian, V(t) = rounding^2 + (t scale)^2 on the diagonal and P
        the precision of the priors, t maximizes

            -1/2 (ln det V + ln det(J' V^-1 J + P) + min_d [(r + J d)' V^-1 (r + J d) + priors]) - ln t

        (Patterson and Thompson 1971). The priors count as further data of known variance. 1 / t is the usual prior of a
        scale, so that a few residuals do not give a large error by chance; it and the floor are for `shrunk` only.
        """
        candidates = np.geomspace(MODEL_ERROR, 1.0, 120)
        candidates = candidates if shrunk else np.append(MODEL_ERROR * candidates, candidates)
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
    """Repeat a fit with the model error that its residuals suggest; `of` returns the error used and that one."""
    for _ in range(most):
        before, error = of(found)
        if max(error / before, before / error) < settled:
            break
        found = again(found, error)
    return found
