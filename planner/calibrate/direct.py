"""Least squares for laws with few costs, such as those of disks, paging devices, channel programs and processors.

Residuals are differences of logarithms, weighted by the printed digits and by the error of the law (restricted
likelihood with a floor). Costs are sought plainly between their bounds, since many are zero. What the figures leave
open is settled by conventions, which are given next to no weight, and reported as not determined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.calibration import Calibration, Comparison, Estimate
from planner.calibrate.model_error import MODEL_ERROR, restricted_estimate
from planner.calibrate.possible import cut_off
from planner.devices.parameters import Parameter
from planner.errors import CalibrationError, InputError
from planner.library import Status
from planner.results import Array

CONVENTION: Final = 1e-3  # weight of a convention, of a measured figure of 100 % error
WIDTH: Final = 1.0  # relative standard deviation of what the figures leave open
STEP: Final = 1e-6  # of the differences of the Jacobian
NEAR: Final = 1e-5  # of the scale of a parameter: at its bound
UNSEEN: Final = 1e-6  # of the largest singular value: a direction in which no figure changes
LEAN: Final = 1e-2  # part of such a direction that a parameter must have to count as not determined
PASSES: Final = 4
SETTLED: Final = 1.02
GIVEN: Final = 200.0  # degrees of freedom of an error that is not estimated
CONTRADICTION: Final = 0.5  # model error from which the measurements do not describe one device
DRAWS: Final = 400  # parameter sets that intervals are taken of
ENDS: Final = (0.05, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measured figure.

    Attributes
    ----------
    run : str
        Its run.
    quantity : str
        What was measured, with the unit as a suffix.
    factor : float
        SI units in one of them.
    value, half : float
        Value, and half of what the printed digits leave open, SI.
    """

    run: str
    quantity: str
    factor: float
    value: float
    half: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLaw:
    """How figures follow from the parameters.

    Attributes
    ----------
    kind : str
        Device kind.
    parameters : tuple of Parameter
        What is fitted.
    start : tuple of float
        Where the search begins, SI, above zero.
    predict : callable
        From values by key to all figures in their order, SI.
    conventions : callable or None
        From values by key to what shall be zero where the figures leave it open, dimensionless.
    held : tuple of Estimate
        Other parameters, which no figure tells.
    validity : mapping
        Range that the measurements cover, by key.
    population : int or None
        Requesters while it was measured.
    """

    kind: str
    parameters: tuple[Parameter, ...]
    start: tuple[float, ...]
    predict: Callable[[Mapping[str, float]], Sequence[float]]
    conventions: Callable[[Mapping[str, float]], Sequence[float]] | None = None
    held: tuple[Estimate, ...] = ()
    validity: Mapping[str, tuple[float, float]]
    population: int | None = None


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


def given(parameter: Parameter, value: float) -> Estimate:
    """Enter a parameter that is known, not fitted.

    Parameters
    ----------
    parameter : Parameter
        What.
    value : float
        SI.

    Returns
    -------
    Estimate
        Fixed, without error.
    """
    return Estimate(
        parameter=parameter,
        value=value,
        standard_error=0.0,
        status="fixed",
        start=value,
        low=value,
        high=value,
    )


def fit_costs(
    measured: Sequence[Measured], law: CostLaw, fixed: Mapping[str, float] | None = None
) -> CostFit:
    """Fit the parameters of a law to measured figures.

    Parameters
    ----------
    measured : sequence of Measured
        Figures above zero, in the order of the law.
    law : CostLaw
        How they follow from the parameters.
    fixed : mapping, optional
        Parameters that are known, SI, by key.

    Returns
    -------
    CostFit
        Estimates with standard errors and all residuals.

    Raises
    ------
    InputError
        A fixed parameter that the law does not have, or outside its bounds.
    CalibrationError
        The fit did not converge, or the measurements contradict each other.
    """
    known = _known(law, fixed or {})
    free = [k for k, parameter in enumerate(law.parameters) if parameter.key not in known]
    if not free:
        raise InputError("fix", ", ".join(known), "at least one parameter left to fit")
    problem = _Problem(
        measured=tuple(measured),
        law=law,
        known=known,
        free=tuple(law.parameters[k] for k in free),
        scale=np.array([law.start[k] for k in free]),
        error=MODEL_ERROR,
    )
    at = np.ones(len(free))
    for _ in range(PASSES):
        at = problem.minimum(at)
        problem, at = problem.rescaled(at)
        error = problem.likely_error(at)
        settled = max(error / problem.error, problem.error / error) < SETTLED
        problem = problem if settled else replace(problem, error=error)
        if settled:
            break
    return _result(problem, problem.minimum(at))


def _known(law: CostLaw, fixed: Mapping[str, float]) -> dict[str, float]:
    bounds = {parameter.key: parameter for parameter in law.parameters}
    for key, value in fixed.items():
        if key not in bounds:
            raise InputError("fix", key, f"one of {', '.join(bounds)}")
        if not bounds[key].low <= value <= bounds[key].high:
            raise InputError(key, value, f"{bounds[key].low:g} to {bounds[key].high:g}", bounds[key].unit)
    return dict(fixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """Figures, law and scales; points are values over `scale`."""

    measured: tuple[Measured, ...]
    law: CostLaw
    known: Mapping[str, float]
    free: tuple[Parameter, ...]
    scale: Array
    error: float

    @property
    def rounding(self) -> Array:
        """Relative standard deviation that the printed digits leave, shape (figures,)."""
        return np.asarray([each.half / each.value / math.sqrt(3) for each in self.measured], dtype=np.float64)

    @property
    def sigma(self) -> Array:
        return np.asarray(np.hypot(self.rounding, self.error))

    @property
    def bounds(self) -> tuple[Array, Array]:
        low, high = (np.array([getattr(each, end) for each in self.free]) for end in ("low", "high"))
        return low / self.scale, high / self.scale

    def values(self, at: Array) -> dict[str, float]:
        return {**self.known, **{p.key: float(v) for p, v in zip(self.free, at * self.scale, strict=True)}}

    def off(self, at: Array) -> Array:
        """Logarithms of law over measurement, shape (figures,)."""
        predicted = np.asarray(self.law.predict(self.values(at)), dtype=np.float64)
        logs = np.log(np.maximum(predicted, 1e-300)) - np.log([each.value for each in self.measured])
        return np.asarray(logs)

    def residuals(self, at: Array) -> Array:
        """Figures in standard deviations, then conventions of little weight, then the start of still less."""
        conventions = [] if self.law.conventions is None else self.law.conventions(self.values(at))
        slack = CONVENTION * np.asarray(conventions, dtype=np.float64)
        return np.concatenate([self.off(at) / self.sigma, slack, CONVENTION**2 * (at - 1)])

    def minimum(self, at: Array) -> Array:
        from scipy.optimize import least_squares

        low, high = self.bounds
        begin = np.clip(at, low + STEP, high - STEP)
        found = least_squares(
            self.residuals, begin, bounds=(low, high), jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000
        )  # fmt: skip
        if not found.success:
            raise CalibrationError(f"least squares did not converge: {found.message}")
        return np.asarray(np.where(found.x - low < NEAR, low, np.where(high - found.x < NEAR, high, found.x)))

    def rescaled(self, at: Array) -> tuple[_Problem, Array]:
        """The same problem in units of the point, for parameters that are not at their bounds."""
        factor = np.where(at > 0.01, at, 1.0)  # noqa: PLR2004 - far below its start a parameter counts as zero
        return replace(self, scale=self.scale * factor), at / factor

    def slope(self, at: Array) -> Array:
        """Change of the logarithms with the point, shape (figures, free)."""
        steps = STEP * np.eye(len(at))
        low = self.bounds[0]
        columns = []
        for step in steps:
            before = at - step if (at - step >= low).all() else at
            width = (at + step - before).sum()
            columns.append((self.off(at + step) - self.off(before)) / width)
        return np.stack(columns, axis=-1)

    def likely_error(self, at: Array) -> float:
        inside = self.inside(at)
        width = int(inside.sum())
        return restricted_estimate(
            self.off(at), self.slope(at)[:, inside], rounding=self.rounding, scale=np.ones(len(self.measured)),
            belief=np.zeros(width), belief_slope=np.eye(width) / WIDTH,
        )  # fmt: skip

    def inside(self, at: Array) -> Array:
        """Which parameters are not at a bound, shape (free,)."""
        low, high = self.bounds
        return np.asarray((at > low) & (at < high))


def _result(problem: _Problem, at: Array) -> CostFit:
    if problem.error > CONTRADICTION:
        worst = problem.measured[int(np.argmax(np.abs(problem.off(at))))]
        raise CalibrationError(
            f"the measurements contradict each other: no device of kind {problem.law.kind} is within "
            f"{problem.error:.0%} of them; the worst is {worst.quantity} of {worst.run}"
        )
    inside, slope = problem.inside(at), problem.slope(at) / problem.sigma[:, None]
    degrees = GIVEN
    if problem.error > MODEL_ERROR:
        degrees = max(len(problem.measured) - np.linalg.matrix_rank(slope[:, inside], UNSEEN * 50), 1)
    covariance = np.linalg.inv(slope.T @ slope + np.eye(len(at)) / WIDTH**2)
    own = slope[:, inside]
    errors = np.zeros(len(at))
    errors[inside] = np.sqrt(np.diag(np.linalg.inv(own.T @ own + np.eye(own.shape[1]) / WIDTH**2)))
    # A bound holds the estimate, not what is possible: that lies around where the figures pull it, cut off there.
    pull = slope.T @ (problem.off(at) / problem.sigma)
    uncertainty = _uncertainty(
        problem, at - covariance @ pull, np.asarray(covariance * _stretch(degrees) ** 2)
    )
    unseen = _unseen(slope)
    estimates = _estimates(problem, at, errors, unseen, uncertainty)
    return CostFit(
        kind=problem.law.kind,
        estimates={each.parameter.key: each for each in (*estimates, *problem.law.held)},
        comparisons=_comparisons(problem, at),
        model_error=problem.error,
        degrees=float(degrees),
        correlation=_correlation(problem, inside, unseen, own),
        validity=problem.law.validity,
        population=problem.law.population,
        uncertainty=uncertainty,
    )


def _stretch(degrees: float) -> float:
    """How much further Student's t reaches than the normal distribution, at 90 %."""
    from scipy.stats import norm, t

    return float(t.ppf(ENDS[1], degrees) / norm.ppf(ENDS[1]))


def _unseen(slope: Array) -> Array:
    """Which parameters have a part in a direction in which no figure changes, shape (free,)."""
    _, singular, directions = np.linalg.svd(slope, full_matrices=True)
    seen = int((singular > UNSEEN * singular.max()).sum())
    return np.asarray((np.abs(directions[seen:]) > LEAN).any(axis=0))


def _uncertainty(problem: _Problem, center: Array, covariance: Array) -> library.Uncertainty:
    scaled = covariance * np.outer(problem.scale, problem.scale)
    return library.Uncertainty(
        parameters=tuple(parameter.file_key for parameter in problem.free),
        center=tuple(library.rounded(value) for value in (center * problem.scale).tolist()),
        covariance=tuple(tuple(library.rounded(value) for value in row) for row in scaled.tolist()),
    )


def _estimates(
    problem: _Problem, at: Array, errors: Array, unseen: Array, uncertainty: library.Uncertainty
) -> list[Estimate]:
    draws = cut_off(uncertainty, problem.free, DRAWS)
    lows, highs = np.quantile(draws, ENDS, axis=0)
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
            Estimate(
                parameter=parameter, value=value, standard_error=float(errors[k] * problem.scale[k]), status=status,
                start=start[parameter.key], low=None if unseen[k] else low, high=None if unseen[k] else high,
            )
        )  # fmt: skip
    return found


def _correlation(problem: _Problem, inside: Array, unseen: Array, own: Array) -> dict[tuple[str, str], float]:
    """Of the parameters that the figures tell; `own` is the slope of those inside their bounds."""
    covariance = np.linalg.inv(own.T @ own + np.eye(own.shape[1]) / WIDTH**2)
    error = np.sqrt(np.diag(covariance))
    places = [k for k, which in enumerate(np.flatnonzero(inside)) if not unseen[which]]
    keys = [problem.free[k].key for k in np.flatnonzero(inside)]
    return {
        (keys[i], keys[j]): float(covariance[i, j] / error[i] / error[j])
        for i in places
        for j in places
        if j < i
    }


def _comparisons(problem: _Problem, at: Array) -> tuple[Comparison, ...]:
    rows = zip(problem.measured, problem.off(at).tolist(), problem.sigma.tolist(), strict=True)
    return tuple(
        Comparison(
            run=each.run, quantity=each.quantity, measured=each.value / each.factor,
            predicted=each.value / each.factor * float(np.exp(off)), sigma=sigma * each.value / each.factor,
            off_by=off / sigma,
        )
        for each, off, sigma in rows
    )  # fmt: skip
