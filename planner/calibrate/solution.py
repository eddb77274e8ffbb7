"""Least squares in logarithms for a given number of requesters, and for every number that the data allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.calibrate.law import KEYS, PARAMETERS, differences
from planner.calibrate.observation import Observation
from planner.errors import CalibrationError, ConvergenceError
from planner.results import Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

POPULATIONS: Final = (*range(1, 13), 14, 16, 20, 24, 32, 48, 64)
FAR_BEHIND: Final = 9.0  # log of the odds against a population, from which it is left out
BEHIND_IN_A_ROW: Final = 2  # populations far behind the best before the search ends
TOLERANCE: Final = 1e-7  # of the least squares: relative change of chi-square or of the logarithms
STEP: Final = 1e-4  # of the differences of the Jacobian, in logarithms
THINK_STARTS: Final = (0.02, 0.1, 0.5, 2.5)  # think over service time
INFLATION_STARTS: Final = (0.02, 0.2)
STARTS: Final = 2  # of those, the best are followed


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Log-normal prior of a parameter.

    Attributes
    ----------
    median : float
        Median; of a time in units of the service time.
    spread : float
        Standard deviation of the logarithm.
    """

    median: float
    spread: float


PRIORS: Final[Mapping[str, Prior]] = {
    "inflation": Prior(median=0.12, spread=1.0),
    "redrive_time": Prior(median=0.05, spread=1.0),
    "think_time": Prior(median=0.12, spread=1.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is fitted: runs, what is known, what is believed, and the relative error of the law.

    Attributes
    ----------
    observations : tuple of Observation
        The runs.
    fixed : mapping
        Known parameters by key, SI.
    priors : mapping
        Priors of the others by key.
    model_error : float
        Relative standard deviation of the law.
    """

    observations: tuple[Observation, ...]
    fixed: Mapping[str, float]
    priors: Mapping[str, Prior]
    model_error: float
    free: tuple[int, ...] = field(init=False)
    rounding: Array = field(init=False)
    scale: Array = field(init=False)

    def __post_init__(self) -> None:
        """Work out what every evaluation needs."""
        set_once = object.__setattr__
        set_once(self, "free", tuple(k for k, key in enumerate(KEYS) if key not in self.fixed))
        pairs = [(run, name) for run in self.observations for name in run.figures]
        set_once(self, "rounding", np.array([run.spread(name) for run, name in pairs]))
        set_once(self, "scale", np.array([run.scale(name) for run, name in pairs]))

    @property
    def sigma(self) -> Array:
        """Standard deviation of every figure: rounding and model error, shape (figures,)."""
        return np.hypot(self.rounding, self.model_error * self.scale)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Logarithms between which the free parameters are sought."""
        low = [math.log(PARAMETERS[k].low) for k in self.free]
        return np.array(low), np.array([math.log(PARAMETERS[k].high) for k in self.free])

    def values(self, logs: Array) -> Array:
        """All parameters from the logarithms of the free ones.

        Parameters
        ----------
        logs : ndarray, shape (sets, free)
            Natural logarithms.

        Returns
        -------
        ndarray, shape (sets, 4)
            SI.
        """
        found = np.empty((len(logs), len(KEYS)))
        for key, value in self.fixed.items():
            found[:, KEYS.index(key)] = value
        found[:, self.free] = np.exp(np.clip(logs, *self.bounds))
        return found

    def beliefs(self, logs: Array) -> Array:
        """How far the free parameters are from their priors, in standard deviations.

        Parameters
        ----------
        logs : ndarray, shape (sets, free)
            Natural logarithms.

        Returns
        -------
        ndarray, shape (sets, priors)
            One column a prior.
        """
        known = {key: np.full(len(logs), math.log(value)) for key, value in self.fixed.items() if value > 0}
        at = known | {KEYS[k]: logs[:, place] for place, k in enumerate(self.free)}
        columns = [
            (at[key] - (0.0 if key == "inflation" else at["service_time"]) - math.log(prior.median)) / prior.spread
            for key, prior in self.priors.items()
            if key not in self.fixed
        ]  # fmt: skip
        return np.stack(columns, axis=-1) if columns else np.empty((len(logs), 0))

    def residuals(self, logs: Array, population: float) -> Array:
        """Figures and priors, each in its standard deviations.

        Parameters
        ----------
        logs : ndarray, shape (sets, free)
            Natural logarithms of the free parameters.
        population : float
            Requesters of one volume.

        Returns
        -------
        ndarray, shape (sets, figures + priors)
            Their squares add up to chi-square.
        """
        off = differences(self.observations, population, self.values(logs)) / self.sigma
        return np.concatenate([off, self.beliefs(logs)], axis=-1)


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
    """Tell the prior weight of a population: 1 / N, for all the counts that it stands for on the grid.

    Parameters
    ----------
    population : int
        Requesters of one volume.

    Returns
    -------
    float
        Not normalized.
    """
    place = POPULATIONS.index(population) if population in POPULATIONS else None
    if place is None:
        return 1 / population
    first = POPULATIONS[place - 1] if place else 0
    last = POPULATIONS[place + 1] if place + 1 < len(POPULATIONS) else 2 * population - first
    return (last - first) / 2 / population


def solve(problem: Problem, population: int, starts: Sequence[Array]) -> Solution:
    """Find the parameters for one number of requesters, from several starts.

    Parameters
    ----------
    problem : Problem
        What to fit.
    population : int
        Requesters of one volume.
    starts : sequence of ndarray, shape (free,)
        Natural logarithms to begin with.

    Returns
    -------
    Solution
        The best that was found.

    Raises
    ------
    CalibrationError
        No start led to a minimum.
    """
    best, message = None, "no start"
    for start in starts:
        try:
            found = _minimum(problem, population, start)
        except ConvergenceError as error:
            message = f"the law could not be solved while fitting: {error}"
            continue
        message = str(found.message)
        if found.success and (best is None or found.cost < best.cost):
            best = found
    if best is None:
        raise CalibrationError(f"least squares did not converge for {population} requesters: {message}")
    return Solution(problem=problem, population=population, logs=np.asarray(best.x),
                    residuals=np.asarray(best.fun), jacobian=np.asarray(best.jac))  # fmt: skip


def _minimum(problem: Problem, population: int, start: Array) -> OptimizeResult:
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
    found = least_squares(residuals, inside, jac=jacobian, method="lm", xtol=TOLERANCE, ftol=TOLERANCE)
    if ((found.x > low) & (found.x < high)).all():
        return found
    return least_squares(residuals, inside, jac=jacobian, bounds=(low, high), xtol=TOLERANCE, ftol=TOLERANCE)


def starts(problem: Problem, population: int) -> list[Array]:
    """Where a search begins: the best of several think times and inflations at a likely service time.

    Parameters
    ----------
    problem : Problem
        What to fit.
    population : int
        Requesters of one volume.

    Returns
    -------
    list of ndarray, shape (free,)
        Natural logarithms.
    """
    alone = math.log(_service_guess(problem.observations, population))
    guess = {key: math.log(prior.median) + (0.0 if key == "inflation" else alone)
             for key, prior in PRIORS.items()}  # fmt: skip
    found = []
    for think, inflation in product(THINK_STARTS, INFLATION_STARTS):
        growth = {"think_time": alone + math.log(think), "inflation": math.log(inflation)}
        at = {"service_time": alone, **guess, **growth}
        found.append(np.array([at[KEYS[k]] for k in problem.free]))
    misfit = (problem.residuals(np.array(found), population) ** 2).sum(-1)
    return [found[k] for k in np.argsort(misfit)[:STARTS]]


def _service_guess(observations: Sequence[Observation], population: int) -> float:
    """Median of the printed service times; else what the rates allow at most."""
    printed = [run.figures["service_time"].value for run in observations if "service_time" in run.figures]
    if printed:
        return float(np.median(printed))
    limits = []
    for run in observations:
        value = {key: figure.value for key, figure in run.figures.items()}
        devices = run.volumes * min(1 + run.aliases / run.volumes, run.population or population)
        if "io_rate" in value:
            limits.append(devices / value["io_rate"])
        limits += [value[key] for key in ("response_time",) if key in value]
    return 0.7 * min(limits, default=1e-3)


def search(problem: Problem, population: int | None, near: Sequence[Solution] = ()) -> list[Solution]:
    """Fit the number of requesters that is given, or all that the data allow.

    Parameters
    ----------
    problem : Problem
        What to fit.
    population : int or None
        Requesters of one volume, where known.
    near : sequence of Solution, optional
        Solutions of a similar problem; only their populations are tried, from where they ended.

    Returns
    -------
    list of Solution
        The best first; those far behind are left out.

    Raises
    ------
    CalibrationError
        No population led to a minimum.
    """
    if near:
        again = [solve(problem, each.population, [each.logs]) for each in near]
        return sorted(again, key=lambda each: -each.log_odds)
    if population is not None:
        return [solve(problem, population, starts(problem, population))]
    found: list[Solution] = []
    behind, trouble = 0, f"more than {POPULATIONS[-1]} requesters a volume; say how many"
    least = max(run.fewest_requesters for run in problem.observations)
    for count in (n for n in POPULATIONS if n >= least):
        begin = [found[-1].logs] if found else starts(problem, count)
        try:
            found.append(solve(problem, count, begin))
        except CalibrationError as error:
            trouble = str(error)
            continue
        best = max(each.log_odds for each in found)
        behind = behind + 1 if found[-1].log_odds < best - FAR_BEHIND else 0
        if behind == BEHIND_IN_A_ROW:
            break
    if not found:
        raise CalibrationError(trouble)
    best = max(each.log_odds for each in found)
    return sorted((s for s in found if s.log_odds >= best - FAR_BEHIND), key=lambda each: -each.log_odds)
