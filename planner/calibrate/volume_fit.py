"""Fit of volumes and pools to measured runs, with its outlier and its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.calibrate.calibration import Estimate, Fit, Outlier, correlations, given, known_parameters
from planner.calibrate.error_bar import PROBABILITY
from planner.calibrate.least_squares import with_likely_error
from planner.calibrate.posterior import PosteriorSample, posterior_sample, quantiles
from planner.calibrate.problem import (
    KEYS,
    PARAMETERS,
    PRIORS,
    Observation,
    Problem,
    Solution,
    at_bound_as_well,
    more_requesters_as_well,
    observe,
    saturated,
    search,
    starts,
)
from planner.devices.parameters import POPULATION
from planner.errors import CalibrationError, InputError
from planner.library import Status
from planner.measurements import Run

# Number of likeliest populations that are tried with a run left out or a parameter at a bound.
POPULATIONS_NEAR: Final = 3


def fit(
    runs: Sequence[Run | Observation],
    *,
    population: int | None = None,
    fixed: Mapping[str, float] | None = None,
    find_outlier: bool = True,
    intervals: bool = True,
) -> Fit:
    """Fit service time, think time, inflation, redrive gap and requesters to runs of volumes and pools.

    Rates, service and response times are compared in logarithms; waits and queues are not: their model error is a share
    of the response time or of all I/Os present.

    Parameters
    ----------
    runs : sequence of Run or Observation
        Measurements of volumes and pools that share the parameters.
    population : int, optional
        Requesters per volume, N; estimated if None and no run has it.
    fixed : mapping, optional
        Known parameters, SI, by name.
    find_outlier : bool, optional
        Whether one run may be named and left out, if there are three or more.
    intervals : bool, optional
        Whether to compute intervals and the model error; without, the model error is at its floor.

    Returns
    -------
    Fit
        Estimates with standard errors and all residuals.

    Raises
    ------
    InputError
        No runs, an unknown parameter, or measurements that contradict each other.
    CalibrationError
        The fit did not converge, or not even the service time is determined.
    """
    observations = _observations(runs, population)
    known = known_parameters(PARAMETERS, fixed)
    given = all(run.population is not None for run in observations)
    count = sorted(run.population or 0 for run in observations)[len(observations) // 2] if given else None
    problem = Problem(observations=observations, fixed=known, priors=PRIORS)
    solutions = search(problem, count)
    outlier = None
    if find_outlier:
        outlier, solutions = _without_outlier(problem, count, solutions)
    if intervals:
        solutions = with_likely_error(
            solutions, _errors,
            lambda found, error: search(replace(found[0].problem, model_error=error), None, near=found), 3,
        )  # fmt: skip
        _check_error(solutions[0])
    left = _left(solutions[0])
    degrees = solutions[0].problem.degrees(left)
    posterior = posterior_sample(solutions, degrees) if intervals else None
    best = solutions[0]
    if posterior is not None:
        likeliest = posterior.components[0].population
        best = next(each for each in solutions if each.population == likeliest)
        _check_service(best, posterior)
    busy = saturated(best)
    endless = busy and "think_time" not in known
    more = not given and (endless or (posterior is not None and more_requesters_as_well(solutions)))
    return Fit(
        population=best.population,
        population_status="fixed" if given else "not determined" if more else "fitted",
        estimates=_estimates(
            best, posterior, sorted(solutions, key=lambda each: each is not best), more=more
        ),
        comparisons=replace(best.problem, observations=observations).compared(best.logs),
        chi_square=best.chi_square,
        model_error=best.problem.model_error,
        degrees=degrees,
        correlation=correlations([KEYS[k] for k in best.problem.free], best.covariance),
        posterior=posterior,
        outlier=outlier,
        saturated=busy,
        observations=observations,
        degrees_left=left,
    )


def _observations(runs: Sequence[Run | Observation], population: int | None) -> tuple[Observation, ...]:
    population = None if population is None else int(POPULATION.taken(population))
    if not runs:
        raise InputError("runs", 0, "at least one measurement")
    found = tuple(run if isinstance(run, Observation) else observe(run) for run in runs)
    if population is not None:
        if all(run.population not in {None, population} for run in found):
            problem = f"{found[0].population}, as {found[0].name} says, or a table that leaves it out"
            raise InputError("population", population, problem)
        found = tuple(run if run.population else replace(run, population=population) for run in found)
    names = [run.name for run in found]
    found = tuple(
        replace(run, name=f"{run.name} ({names[: k + 1].count(run.name)})")
        if names.count(run.name) > 1
        else run
        for k, run in enumerate(found)
    )
    if not any(run.figures for run in found):
        raise InputError("measurements", "none", "a rate or a time")
    if all(set(run.figures) <= {"queued"} for run in found):
        raise CalibrationError("queues alone do not determine a service time: give a rate or a time")
    return found


def _without_outlier(
    problem: Problem, count: int | None, whole: list[Solution], drop: float = 25.0, fewest: int = 3
) -> tuple[Outlier | None, list[Solution]]:
    """Leave out the run whose removal lowers chi-square most, if by more than `drop`.

    With fewer than `fewest` runs, any of them could be the outlier.
    """
    least = min(each.chi_square for each in whole)
    if least <= drop or len(problem.observations) < fewest:
        return None, whole
    reduced = [
        replace(problem, observations=problem.observations[:k] + problem.observations[k + 1 :])
        for k in range(len(problem.observations))
    ]
    near = whole[:POPULATIONS_NEAR]
    misfits = [min(each.chi_square for each in search(others, count, near)) for others in reduced]
    first, second = np.argsort(misfits)[:2]
    if least - misfits[first] <= drop:
        return None, whole
    named = Outlier(
        run=problem.observations[first].name,
        drop=least - misfits[first],
        gap=misfits[second] - misfits[first],
        second=problem.observations[second].name,
    )
    return named, search(reduced[first], count)


def _errors(solutions: list[Solution]) -> tuple[float, float]:
    """Model error used in a fit, and the one that its residuals suggest."""
    problem, residuals, jacobian = solutions[0].problem, solutions[0].residuals, solutions[0].jacobian
    figures, sigma = len(problem.scale), problem.sigma
    return problem.model_error, problem.likely_error(
        residuals[:figures] * sigma, jacobian[:figures] * sigma[:, None], residuals[figures:], jacobian[figures:]
    )  # fmt: skip


def _left(solution: Solution) -> float:
    """Degrees of freedom: figures less the effective number of parameters."""
    figures = len(solution.problem.scale)
    slope = solution.jacobian[:figures]
    return max(figures - float(np.trace(slope @ solution.covariance @ slope.T)), 0.0)


def _check_error(best: Solution, most: float = 0.3) -> None:
    """Refuse runs that no single model fits (all known ones are within .1); name the worst figure."""
    error = best.problem.model_error
    if error < most:
        return
    figures = best.problem.figures
    worst = figures[int(np.argmax(np.abs(best.residuals[: len(figures)])))]
    raise CalibrationError(
        f"the measurements contradict each other: with the best parameters they are {error:.0%} off, most of all "
        f"the {worst.quantity} of {worst.run}; calibrate with runs of one workload, and leave out those that were "
        "not steady"
    )


def _check_service(best: Solution, posterior: PosteriorSample, most: float = 0.5) -> None:
    """Refuse a service time with a standard deviation of its logarithm above `most`."""
    if "service_time" in best.problem.fixed:
        return
    low, high = posterior.interval("service_time", 0.68)
    if np.log(high / low) / 2 > most:
        raise CalibrationError(
            f"not even the service time is determined: {low * 1e3:.3g} to {high * 1e3:.3g} ms fit as well; give "
            "service or response times, or a run in which the devices are busy"
        )


def _estimates(
    best: Solution, posterior: PosteriorSample | None, solutions: Sequence[Solution], *, more: bool
) -> dict[str, Estimate]:
    problem, covariance, values = best.problem, best.covariance, best.values
    start = problem.values(starts(problem)[0][None])[0]
    found = {}
    for k, parameter in enumerate(PARAMETERS):
        key = parameter.key
        if key in problem.fixed:
            found[key] = given(parameter, values[key])
            continue
        error = float(np.sqrt(covariance[problem.free.index(k), problem.free.index(k)]))
        status = _status(best, k)
        ends = (None, None) if posterior is None else _interval(solutions, posterior, key, status, more=more)
        found[key] = Estimate(parameter, values[key], values[key] * error, status, float(start[k]), *ends)
    alone = found["service_time"]
    high = None if alone.status == "fixed" else alone.high
    if posterior is not None and high is not None and found["inflation"].low is None:
        found["service_time"] = replace(alone, high=max(high, _without_inflation(best, posterior)))
    return found


def _without_inflation(best: Solution, posterior: PosteriorSample) -> float:
    """Upper end of the service time of a lone I/O [s], 90 %, where nothing inflates what was measured.

    The figures determine service x (1 + inflation x others); the prior of inflation alone keeps it from none.
    """
    one, other = (best.problem.free.index(KEYS.index(key)) for key in ("service_time", "inflation"))
    slope = min(max(-best.covariance[one, other] / best.covariance[other, other], 0.0), 0.99)
    others = slope / (1 - slope) / best.values["inflation"]
    alone, inflation = (posterior.values[:, KEYS.index(key)] for key in ("service_time", "inflation"))
    (high,) = quantiles(alone * (1 + inflation * others), posterior.weights, [(1 + PROBABILITY) / 2])
    return float(high)


def _status(best: Solution, k: int) -> Status:
    """How a value was obtained."""
    place = best.problem.free.index(k)
    low, high = best.problem.bounds
    if min(best.logs[place] - low[place], high[place] - best.logs[place]) < 0.01:  # noqa: PLR2004 - 1 % of the bound
        return "at its bound"
    return "not determined" if best.undetermined(KEYS[k]) else "fitted"


def _interval(
    solutions: Sequence[Solution], posterior: PosteriorSample, key: str, status: Status, *, more: bool
) -> tuple[float | None, float | None]:
    """Central 90 % interval; open where the data, without the prior, do not exclude the bound."""
    low, high = posterior.interval(key, PROBABILITY)
    parameter = PARAMETERS[KEYS.index(key)]
    think, tried = key == "think_time", solutions[:POPULATIONS_NEAR]
    vague = status != "fitted"
    near_zero = key == "inflation" or (think and saturated(solutions[0]))  # of priors that exclude it
    short = (vague or near_zero) and at_bound_as_well(tried, key, parameter.low)
    long = (think and more) or (vague and at_bound_as_well(tried, key, parameter.high))
    return None if short else low, None if long else high
