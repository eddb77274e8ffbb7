"""Measured costs to the parameters of a device that is linear in them: the model, its fit, its errors.

Residuals are differences of logarithms, weighted by the printed digits and by the error of the law. Costs are sought
plainly between their bounds. What the figures leave open is settled by conventions, which have next to no weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.calibration import Calibration, Comparison, Estimate, correlations, known_parameters
from planner.calibrate.data_file import Measurements
from planner.calibrate.error_bar import cut_off, stretch
from planner.calibrate.problem import GIVEN, MODEL_ERROR, SETTLED, restricted_estimate
from planner.errors import CalibrationError
from planner.library import Status
from planner.quantity import Quantity
from planner.results import Array

CONVENTION: Final = 1e-3  # weight of a convention, of a measured figure of 100 % error
STEP: Final = 1e-6  # of the differences of the Jacobian
SEEN: Final = 1e-6  # of the largest singular value: from there on figures change
NEAR: Final = 1e-5  # of the scale of a parameter: at its bound


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """One measured figure."""

    run: str  # its run
    quantity: str  # what was measured, with the unit as a suffix
    factor: float  # SI units in one of them
    value: float  # value, and half of what the printed digits leave open, SI
    half: float

    @classmethod
    def of(cls, run: Measurements, name: str, factor: float) -> MeasuredFigure:
        """A number of a run by its heading."""
        value, half = run.numbers[name].value, run.numbers[name].resolution
        return cls(run=run.name, quantity=name, factor=factor, value=value, half=half)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLaw:
    """How figures follow from the parameters."""

    kind: str  # device kind
    parameters: tuple[Quantity, ...]  # what is fitted
    start: tuple[float, ...]  # where the search begins, SI, above zero
    predict: Callable[[Mapping[str, float]], Sequence[float]]
    conventions: Callable[[Mapping[str, float]], Sequence[float]] | None = None
    held: tuple[Estimate, ...] = ()  # other parameters, which no figure determines
    validity: Mapping[str, tuple[float, float]]  # range that the measurements cover, by key
    population: int | None = None  # requesters while it was measured
    coefficients: int | None = None  # parameters that count against the degrees of freedom even at a bound


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFit(Calibration):
    """The costs of a device, fitted to tables of measurements.

    Attributes
    ----------
    kind : str
        Device kind.
    validity : mapping
        Range that the measurements cover, by key.
    population : int or None
        Requesters while it was measured.
    uncertainty : library.Uncertainty
        What the figures leave open.
    """

    kind: str
    validity: Mapping[str, tuple[float, float]]
    population: int | None
    uncertainty: library.Uncertainty


def given(parameter: Quantity, value: float) -> Estimate:
    """Enter a parameter that is known, not fitted."""
    return Estimate(parameter, value, 0.0, "fixed", value, value, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostProblem:
    """Figures, law and scales; points are values over `scale`, `size` is what the parameters had at the start."""

    measured: tuple[MeasuredFigure, ...]
    law: CostLaw
    known: Mapping[str, float]
    free: tuple[Quantity, ...]
    scale: Array
    size: Array
    error: float

    @property
    def rounding(self) -> Array:
        """Relative standard deviation that the printed digits leave, shape (figures,)."""
        return np.asarray([each.half / each.value / math.sqrt(3) for each in self.measured], dtype=np.float64)

    @property
    def sigma(self) -> Array:
        """Relative standard deviation of every figure: digits and error of the law, shape (figures,)."""
        return np.asarray(np.hypot(self.rounding, self.error))

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest values over `scale`, each of shape (free,)."""
        low, high = (np.array([getattr(each, end) for each in self.free]) for end in ("low", "high"))
        return low / self.scale, high / self.scale

    def values(self, at: Array) -> dict[str, float]:
        """Tell all parameters at a point."""
        return {**self.known, **{p.key: float(v) for p, v in zip(self.free, at * self.scale, strict=True)}}

    def off(self, at: Array) -> Array:
        """Compare law and measurement at a point, shape (figures,)."""
        predicted = np.asarray(self.law.predict(self.values(at)), dtype=np.float64)
        logs = np.log(np.maximum(predicted, 1e-300)) - np.log([each.value for each in self.measured])
        return np.asarray(logs)

    def residuals(self, at: Array) -> Array:
        """Line up what is minimized: figures, then conventions of little weight, then the start of still less."""
        conventions = [] if self.law.conventions is None else self.law.conventions(self.values(at))
        slack = CONVENTION * np.asarray(conventions, dtype=np.float64)
        return np.concatenate([self.off(at) / self.sigma, slack, CONVENTION**2 * (at - 1)])

    def minimum(self, at: Array) -> Array:
        """Find the point of least squares, shape (free,)."""
        from scipy.optimize import least_squares

        low, high = self.bounds
        begin = np.clip(at, low + STEP, high - STEP)
        found = least_squares(
            self.residuals, begin, bounds=(low, high), jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000
        )  # fmt: skip
        if not found.success:
            raise CalibrationError(f"least squares did not converge: {found.message}")
        return np.asarray(np.where(found.x - low < NEAR, low, np.where(high - found.x < NEAR, high, found.x)))

    def rescaled(self, at: Array) -> tuple[CostProblem, Array]:
        """Put the problem in units of a point, where that is not next to nothing."""
        factor = np.where(at > 0.01, at, 1.0)  # noqa: PLR2004 - far below its start a parameter counts as zero
        return replace(self, scale=self.scale * factor), at / factor

    def slope(self, at: Array) -> Array:
        """Tell how the logarithms change with the point, shape (figures, free)."""
        steps = STEP * np.eye(len(at))
        low = self.bounds[0]
        columns = []
        for step in steps:
            before = at - step if (at - step >= low).all() else at
            width = (at + step - before).sum()
            columns.append((self.off(at + step) - self.off(before)) / width)
        return np.stack(columns, axis=-1)

    def likely_error(self, at: Array) -> float:
        """Estimate the error of the law from its residuals (`planner.calibrate.problem`)."""
        inside, slope = self.inside(at), self.slope(at)
        if self.freedom(at, slope) < 1:
            return self.error
        belief = self.belief(at)[inside][:, inside]
        return restricted_estimate(
            self.off(at), slope[:, inside], rounding=self.rounding, scale=np.ones(len(self.measured)),
            belief=np.zeros(len(belief)), belief_slope=belief, shrunk=False,
        )  # fmt: skip

    def belief(self, at: Array) -> Array:
        """How little is believed of the parameters, to their own size or that of their start, shape (free, free)."""
        return np.asarray(np.diag(self.scale / np.maximum(self.size, at * self.scale)))

    def freedom(self, at: Array, slope: Array) -> int:
        """Count degrees of freedom."""
        singular = np.linalg.svd(slope[:, self.inside(at)], compute_uv=False)
        return len(self.measured) - int((singular > SEEN * singular.max(initial=0.0)).sum())

    def inside(self, at: Array) -> Array:
        """Tell which parameters are not at a bound, shape (free,)."""
        low, high = self.bounds
        return np.asarray((at > low) & (at < high))


LEAN: Final = 1e-2  # part of such a direction that a parameter must have to count as not determined
CONTRADICTION: Final = 0.5  # model error from which the measurements do not describe one device


def fit_costs(
    measured: Sequence[MeasuredFigure], law: CostLaw, fixed: Mapping[str, float] | None = None
) -> CostFit:
    """Fit the parameters of a law to measured figures."""
    known = known_parameters(law.parameters, fixed, lambda _: False)
    free = [k for k, parameter in enumerate(law.parameters) if parameter.key not in known]
    problem = CostProblem(
        measured=tuple(measured),
        law=law,
        known=known,
        free=tuple(law.parameters[k] for k in free),
        scale=np.array([law.start[k] for k in free]),
        size=np.array([law.start[k] for k in free]),
        error=MODEL_ERROR,
    )
    at = np.ones(len(free))
    for _ in range(4):
        at = problem.minimum(at)
        problem, at = problem.rescaled(at)
        error = problem.likely_error(at)
        settled = max(error / problem.error, problem.error / error) < SETTLED
        problem = problem if settled else replace(problem, error=error)
        if settled:
            break
    return _result(problem, problem.minimum(at))


def _result(problem: CostProblem, at: Array) -> CostFit:
    if problem.error > CONTRADICTION:
        worst = problem.measured[int(np.argmax(np.abs(problem.off(at))))]
        raise CalibrationError(
            f"the measurements contradict each other: no device of kind {problem.law.kind} is within "
            f"{problem.error:.0%} of them; the worst is {worst.quantity} of {worst.run}"
        )
    inside, slope, belief = problem.inside(at), problem.slope(at) / problem.sigma[:, None], problem.belief(at)
    degrees, wider = _degrees(problem, at, slope)
    covariance = np.linalg.inv(slope.T @ slope + belief.T @ belief)
    own, own_belief = slope[:, inside], belief[inside][:, inside]
    within = np.linalg.inv(own.T @ own + own_belief.T @ own_belief)
    errors = np.zeros(len(at))
    errors[inside] = np.sqrt(np.diag(within))
    # A bound holds the estimate, not what is possible: that lies around where the figures pull it, cut off there.
    pull = slope.T @ (problem.off(at) / problem.sigma)
    uncertainty = _uncertainty(
        problem, at - covariance @ pull, np.asarray(covariance * (wider * stretch(max(degrees, 1))) ** 2)
    )
    unseen = _unseen(slope)
    estimates = _estimates(problem, at, errors, unseen, uncertainty)
    seen = np.flatnonzero(np.logical_and(inside, np.logical_not(unseen)))  # parameters that the figures tell
    places = np.searchsorted(np.flatnonzero(inside), seen)
    return CostFit(
        kind=problem.law.kind,
        estimates={each.parameter.key: each for each in (*estimates, *problem.law.held)},
        comparisons=_comparisons(problem, at),
        model_error=problem.error * wider,
        degrees=float(degrees),
        correlation=correlations([problem.free[k].key for k in seen], within[np.ix_(places, places)]),
        validity=problem.law.validity,
        population=problem.law.population,
        uncertainty=uncertainty,
    )


def _degrees(problem: CostProblem, at: Array, slope: Array) -> tuple[float, float]:
    """Degrees of freedom of the error of the law, and by what it grows since coefficients at a bound count as well.

    Without any degree of freedom (0) nothing bounds what a law that may bend says of other arguments.
    """
    between = max(problem.freedom(at, slope), 1)
    if problem.law.coefficients is None:
        return GIVEN if problem.error <= MODEL_ERROR else between, 1.0
    left = max(len(problem.measured) - problem.law.coefficients, 0)
    return left, math.sqrt(max(between / max(left, 1), 1.0))


def _unseen(slope: Array) -> Array:
    """Which parameters have a part in a direction in which no figure changes, shape (free,)."""
    _, singular, directions = np.linalg.svd(slope, full_matrices=True)
    seen = int((singular > SEEN * singular.max()).sum())
    return np.asarray((np.abs(directions[seen:]) > LEAN).any(axis=0))


def _uncertainty(problem: CostProblem, center: Array, covariance: Array) -> library.Uncertainty:
    scaled = covariance * np.outer(problem.scale, problem.scale)
    return library.Uncertainty(
        parameters=tuple(parameter.file_key for parameter in problem.free),
        center=tuple(library.rounded(value) for value in (center * problem.scale).tolist()),
        covariance=tuple(tuple(library.rounded(value) for value in row) for row in scaled.tolist()),
    )


def _estimates(
    problem: CostProblem, at: Array, errors: Array, unseen: Array, uncertainty: library.Uncertainty
) -> list[Estimate]:
    draws = cut_off(uncertainty, problem.free, 400)  # parameter sets that intervals are taken of
    lows, highs = np.quantile(draws, (0.05, 0.95), axis=0)
    inside = problem.inside(at)
    start = dict(zip([p.key for p in problem.law.parameters], problem.law.start, strict=True))
    found = []
    for parameter in problem.law.parameters:
        if parameter.key in problem.known:
            found.append(given(parameter, problem.known[parameter.key]))
            continue
        k = problem.free.index(parameter)
        value = float(at[k] * problem.scale[k])
        status: Status = "not determined" if unseen[k] else "fitted" if inside[k] else "at its bound"
        low, high = min(float(lows[k]), value), max(float(highs[k]), value)
        found.append(
            Estimate(parameter, value, float(errors[k] * problem.scale[k]), status, start[parameter.key],
                None if unseen[k] else low, None if unseen[k] else high)
        )  # fmt: skip
    return found


def _comparisons(problem: CostProblem, at: Array) -> tuple[Comparison, ...]:
    rows = zip(problem.measured, problem.off(at).tolist(), problem.sigma.tolist(), strict=True)
    return tuple(
        Comparison(
            run=each.run, quantity=each.quantity, measured=each.value / each.factor,
            predicted=each.value / each.factor * float(np.exp(off)), sigma=sigma * each.value / each.factor,
            off_by=off / sigma,
        )
        for each, off, sigma in rows
    )  # fmt: skip
