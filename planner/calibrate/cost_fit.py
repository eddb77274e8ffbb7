"""Fit of measured costs to the parameters of a device: the model, the least squares, the errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from planner import library
from planner.calibrate.calibration import Calibration, Estimate, correlations, given, known_parameters
from planner.calibrate.error_bar import bounded, stretch
from planner.calibrate.least_squares import (
    GIVEN,
    MODEL_ERROR,
    LeastSquares,
    MeasuredFigure,
    with_likely_error,
)
from planner.errors import CalibrationError
from planner.library import Status
from planner.quantity import Quantity
from planner.results import Array, Flags

SEEN: Final = 1e-6  # share of the largest singular value above which a direction changes the figures


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """How figures follow from the parameters."""

    kind: str  # device kind
    parameters: tuple[Quantity, ...]  # what is fitted
    start: tuple[float, ...]  # initial values, SI, above zero
    predict: Callable[[Mapping[str, float]], Sequence[float]]
    conventions: Callable[[Mapping[str, float]], Sequence[float]] = lambda values: ()  # zero by them
    held: tuple[Estimate, ...] = ()  # parameters that no figure determines
    validity: Mapping[str, tuple[float, float]]  # range that the measurements cover, by key
    population: int | None = None  # requesters during the measurement
    coefficients: int | None = None  # parameters that count against the degrees of freedom even at a bound


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFit(Calibration):
    """The costs of a device of a `kind`, fitted to tables of measurements.

    `validity`: range of the tables, by key; `population`: requesters, or None; `uncertainty`: of the parameters.
    """

    kind: str
    validity: Mapping[str, tuple[float, float]]
    population: int | None
    uncertainty: library.Uncertainty


@dataclass(frozen=True, kw_only=True)
class CostProblem(LeastSquares):
    """Figures, model and scales; points are values over `scales`, `size` are the initial values."""

    STEP = 1e-6
    CENTRAL = True
    TOLERANCE = 1e-15
    measured: tuple[MeasuredFigure, ...]
    model: CostModel
    known: Mapping[str, float]
    free: tuple[Quantity, ...]
    scales: Array
    size: Array
    firmness: float = 1.0  # factor on the usual weight of the initial values

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        """What was measured."""
        return self.measured

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest values over `scales`."""
        low, high = (np.array([getattr(each, end) for each in self.free]) for end in ("low", "high"))
        return low / self.scales, high / self.scales

    def _values(self, points: Array) -> Iterator[dict[str, float]]:
        keys = [each.key for each in self.free]
        rows = (points * self.scales).tolist()
        return ({**self.known, **dict(zip(keys, row, strict=True))} for row in rows)

    def predict(self, points: Array) -> Array:
        """Prediction of every figure."""
        return np.array([self.model.predict(values) for values in self._values(points)], dtype=np.float64)

    def beliefs(self, points: Array) -> Array:
        """Residuals of the conventions, with little weight, then of the initial values, with even less."""
        weight = 1e-3  # of a convention, relative to a measured figure with an error of 100 %
        start = self.firmness * weight**2 * (points - 1)
        wishes = np.array([self.model.conventions(values) for values in self._values(points)])
        return np.concatenate([weight * wishes, start], axis=-1)


@dataclass(frozen=True, kw_only=True)
class CostSolution:
    """The solution of a problem, rescaled to the values there."""

    problem: CostProblem
    at: Array  # (free,)

    @classmethod
    def of(cls, problem: CostProblem, begin: Array, near: float = 1e-5) -> CostSolution:
        """Solve; a value `near` a bound is put on it, a negligible one keeps its scale."""
        found, place = problem.minimum(begin, 2000), begin
        # Too few figures leave a narrow curved valley: follow it from the initial values by lowering their weight.
        for firmness in () if found.success else np.geomspace(1e6, 1.0, 7).tolist():
            found = replace(problem, firmness=firmness).minimum(place, 2000)
            place = found.x
        if not found.success:
            raise CalibrationError(f"least squares did not converge: {found.message}")
        low, high = problem.bounds
        at = np.where(found.x - low < near, low, np.where(high - found.x < near, high, found.x))
        factor = np.where(at > 0.01, at, 1.0)  # noqa: PLR2004 - a parameter far below its initial value counts as zero
        return cls(problem=replace(problem, scales=problem.scales * factor), at=at / factor)

    @cached_property
    def inside(self) -> Flags:
        """Which parameters are not at a bound, shape (free,)."""
        low, high = self.problem.bounds
        return np.asarray((self.at > low) & (self.at < high))

    @cached_property
    def off(self) -> Array:
        """Logarithm of prediction over measurement, shape (figures,)."""
        return np.asarray(self.problem.off(self.at[None])[0])

    @cached_property
    def slope(self) -> Array:
        """Derivatives of `off` by the parameters, shape (figures, free)."""
        sigma = self.problem.sigma
        return np.asarray(self.problem.around(self.at)[1][: len(sigma)] * sigma[:, None])

    @cached_property
    def belief(self) -> Array:
        """Weak prior on the parameters, relative to their value or initial value, whichever is larger, (free, free)."""
        scales = self.problem.scales
        return np.asarray(np.diag(scales / np.maximum(self.problem.size, self.at * scales)))

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom."""
        singular = np.linalg.svd(self.slope[:, self.inside], compute_uv=False)
        return len(self.off) - int((singular > SEEN * singular.max(initial=0.0)).sum())

    @cached_property
    def likely(self) -> float:
        """Model error that the residuals suggest, below its floor as well; 0 without degrees of freedom."""
        if self.freedom < 1:
            return 0.0
        slope, belief = self.slope[:, self.inside], self.belief[self.inside][:, self.inside]
        return self.problem.likely_error(self.off, slope, np.zeros(len(belief)), belief, shrunk=False)

    def with_error(self, error: float) -> CostSolution:
        """Fit again with another model error."""
        return CostSolution.of(replace(self.problem, model_error=error), self.at)


def fit_costs(
    measured: Sequence[MeasuredFigure], model: CostModel, fixed: Mapping[str, float] | None = None
) -> CostFit:
    """Fit the parameters of a model to measured figures."""
    known = known_parameters(model.parameters, fixed)
    free = [k for k, parameter in enumerate(model.parameters) if parameter.key not in known]
    start = np.array([min(model.start[k], model.parameters[k].high) for k in free])
    problem = CostProblem(
        measured=tuple(measured), model=model, known=known, free=tuple(model.parameters[k] for k in free), scales=start,
        size=start,
    )  # fmt: skip
    first = CostSolution.of(problem, np.ones(len(free)))
    found = with_likely_error(
        first, lambda each: (each.problem.model_error, max(each.likely, MODEL_ERROR)), CostSolution.with_error, 4
    )  # fmt: skip
    return _result(found.with_error(found.problem.model_error))  # from the scales of the solution


def _result(found: CostSolution, most: float = 0.5) -> CostFit:
    """Result of a solution; above a model error of `most` the measurements do not describe one device."""
    problem, at, inside, belief = found.problem, found.at, found.inside, found.belief
    if problem.model_error > most:
        worst = problem.measured[int(np.argmax(np.abs(found.off)))]
        raise CalibrationError(
            f"the measurements contradict each other: no device of kind {problem.model.kind} is within "
            f"{problem.model_error:.0%} of them; {worst.quantity} of {worst.run} fits worst"
        )
    slope = found.slope / problem.sigma[:, None]
    degrees, wider = _degrees(found)
    covariance = np.linalg.inv(slope.T @ slope + belief.T @ belief)
    own, own_belief = slope[:, inside], belief[inside][:, inside]
    within = np.asarray(np.linalg.inv(own.T @ own + own_belief.T @ own_belief))
    errors = np.zeros(len(at))
    errors[inside] = np.sqrt(np.diag(within))
    # A bound stops the estimate, not the distribution: that is centered at the unbounded solution.
    pull = slope.T @ (found.off / problem.sigma)
    wide = covariance * (wider * stretch(max(degrees, 1))) ** 2 * np.outer(problem.scales, problem.scales)
    uncertainty = library.Uncertainty(
        parameters=tuple(parameter.file_key for parameter in problem.free),
        **rounded_normal((at - covariance @ pull) * problem.scales, wide),
    )
    unseen = _unseen(slope)
    estimates = _estimates(found, errors, unseen, uncertainty)
    seen = np.flatnonzero(inside & ~unseen)  # parameters that the figures determine
    places = np.searchsorted(np.flatnonzero(inside), seen)
    return CostFit(
        kind=problem.model.kind,
        estimates={each.parameter.key: each for each in (*estimates, *problem.model.held)},
        comparisons=problem.compared(at),
        model_error=problem.model_error * wider,
        degrees=float(degrees),
        degrees_left=float(found.freedom),
        correlation=correlations([problem.free[k].key for k in seen], within[np.ix_(places, places)]),
        validity=problem.model.validity,
        population=problem.model.population,
        uncertainty=uncertainty,
    )


def _degrees(found: CostSolution) -> tuple[float, float]:
    """Degrees of freedom of the model error, and its factor for coefficients at a bound, which count as fitted.

    With s the error of the residuals and f its floor, half of a 90 % interval is max(s t, f z) of Student's t and the
    normal distribution: few small residuals do not prove that the error is no more than the floor.
    """
    problem, part = found.problem, found.likely / MODEL_ERROR
    if problem.model.coefficients is None:
        wide = part * stretch(max(found.freedom, 1)) > 1
        return (found.freedom, min(part, 1.0)) if wide else (GIVEN, 1.0)
    left = max(len(problem.measured) - problem.model.coefficients, 0)
    return left, math.sqrt(max(found.freedom / max(left, 1), 1.0))


def _unseen(slope: Array, part: float = 1e-2) -> Flags:
    """Which parameters have a component above `part` in a direction in which no figure changes, shape (free,)."""
    _, singular, directions = np.linalg.svd(slope, full_matrices=True)
    seen = int((singular > SEEN * singular.max()).sum())
    return np.asarray((np.abs(directions[seen:]) > part).any(axis=0))


def rounded_normal(center: Array, covariance: Array) -> dict[str, Any]:
    """A normal distribution, rounded for a model file."""
    center_row, *rows = (tuple(map(library.rounded, row)) for row in (center.tolist(), *covariance.tolist()))
    return {"center": center_row, "covariance": tuple(rows)}


def _estimates(
    solution: CostSolution, errors: Array, unseen: Flags, uncertainty: library.Uncertainty
) -> Iterator[Estimate]:
    problem, at = solution.problem, solution.at * solution.problem.scales
    draws = bounded(uncertainty, problem.free, 400)  # parameter sets for the intervals
    lows, highs = np.quantile(draws, (0.05, 0.95), axis=0)
    for parameter, start in zip(problem.model.parameters, problem.model.start, strict=True):
        if parameter.key in problem.known:
            yield given(parameter, problem.known[parameter.key])
            continue
        k = problem.free.index(parameter)
        value, error = float(at[k]), float(errors[k] * problem.scales[k])
        status: Status = "not determined" if unseen[k] else "fitted" if solution.inside[k] else "at its bound"
        ends = (None, None) if unseen[k] else (min(float(lows[k]), value), max(float(highs[k]), value))
        yield Estimate(parameter, value, error, status, start, *ends)
