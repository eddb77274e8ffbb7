"""The fit of few costs to measured figures: error of the law, standard errors, what is not determined or possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.calibration import Comparison, Estimate
from planner.calibrate.cost_law import SEEN, CostFit, CostLaw, CostProblem, MeasuredFigure, given
from planner.calibrate.error_bar import cut_off, stretch
from planner.calibrate.model_error import GIVEN, MODEL_ERROR
from planner.errors import CalibrationError, InputError
from planner.library import Status
from planner.results import Array

LEAN: Final = 1e-2  # part of such a direction that a parameter must have to count as not determined
PASSES: Final = 4
SETTLED: Final = 1.02
CONTRADICTION: Final = 0.5  # model error from which the measurements do not describe one device
DRAWS: Final = 400  # parameter sets that intervals are taken of
ENDS: Final = (0.05, 0.95)


def fit_costs(
    measured: Sequence[MeasuredFigure], law: CostLaw, fixed: Mapping[str, float] | None = None
) -> CostFit:
    """Fit the parameters of a law to measured figures."""
    known = _known(law, fixed or {})
    free = [k for k, parameter in enumerate(law.parameters) if parameter.key not in known]
    if not free:
        raise InputError("fix", ", ".join(known), "at least one parameter left to fit")
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
    return CostFit(
        kind=problem.law.kind,
        estimates={each.parameter.key: each for each in (*estimates, *problem.law.held)},
        comparisons=_comparisons(problem, at),
        model_error=problem.error * wider,
        degrees=float(degrees),
        correlation=_correlation(problem, inside, unseen, within),
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


def _correlation(
    problem: CostProblem, inside: Array, unseen: Array, covariance: Array
) -> dict[tuple[str, str], float]:
    """Of the parameters that the figures tell; `covariance` is that of those between their bounds."""
    error = np.sqrt(np.diag(covariance))
    places = [k for k, which in enumerate(np.flatnonzero(inside)) if not unseen[which]]
    keys = [problem.free[k].key for k in np.flatnonzero(inside)]
    return {
        (keys[i], keys[j]): float(covariance[i, j] / error[i] / error[j])
        for i in places
        for j in places
        if j < i
    }


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
