"""The least-squares problem of volumes and pools: prediction, residuals, priors, model error, solution, search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import queueing
from planner.calibrate.observation import LOGARITHMIC, Observation
from planner.devices import Pool, VolumeClass
from planner.devices.parameters import INFLATION, REDRIVE_TIME, SERVICE_TIME, THINK_TIME
from planner.errors import CalibrationError, ConvergenceError
from planner.quantity import Quantity
from planner.results import Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

PARAMETERS: Final[tuple[Quantity, ...]] = (SERVICE_TIME, THINK_TIME, INFLATION, REDRIVE_TIME)
KEYS: Final = tuple(parameter.key for parameter in PARAMETERS)


def totals(observations: Sequence[Observation], population: float, values: Array) -> Array:
    """Ask the law for the totals of all runs, shape (sets, runs, 3) [1]."""
    requesters = np.array([float(run.population or population) for run in observations])
    found = np.empty((len(values), len(observations), 3))
    apart = np.array([_independent(run, n) for run, n in zip(observations, requesters, strict=True)])
    if apart.any():
        found[:, apart] = _own_queues(
            [run for run, alone in zip(observations, apart, strict=True) if alone], requesters[apart], values
        )
    known: dict[tuple[int, int, int], list[list[float]]] = {}  # a run measured twice is solved once
    for k, run in enumerate(observations):
        if apart[k]:
            continue
        pool = (run.volumes, run.aliases, int(requesters[k]))
        if pool not in known:
            known[pool] = [_pool(*pool, row) for row in values]
        found[:, k] = known[pool]
    return found


def _independent(run: Observation, population: float) -> bool:
    """Whether no volume can be without an alias because of another volume."""
    return run.aliases == 0 or run.volumes == 1 or run.aliases >= run.volumes * (population - 1)


def _own_queues(observations: Sequence[Observation], requesters: Array, values: Array) -> Array:
    """Volumes that do not compete for aliases: each is a closed queue of its own, all solved side by side."""
    servers = np.minimum(np.array([1.0 + run.aliases for run in observations]), requesters)
    volumes = np.array([float(run.volumes) for run in observations])
    service, think, inflation, gap = (values[:, k, None] for k in range(len(PARAMETERS)))
    steady = queueing.finite_source(
        requesters, think, service, servers, inflation=inflation, redrive_time=gap
    )
    queued = np.maximum(steady.queue_length - steady.in_gap, 0.0)
    return np.stack([volumes * steady.throughput, steady.service_time, volumes * queued], axis=-1)


def _pool(volumes: int, aliases: int, population: int, row: Array) -> list[float]:
    """Volumes that compete for aliases."""
    service, think, inflation, gap = (float(value) for value in row)
    demand = VolumeClass(volumes=volumes, population=population, think_time=think)
    pool = Pool(classes=(demand,), service_time=service, inflation=inflation, redrive_time=gap)
    found = pool.solve([aliases])
    return [float(found.io_rate[0]), float(found.service_time[0]), float(found.queued[0])]


def figure(name: str, found: Array) -> Array:
    """Take one figure from totals, on the scale on which it is compared, shape (...,)."""
    rate, service, queued = found[..., 0], found[..., 1], found[..., 2]
    value: Array = {
        "io_rate": rate,
        "service_time": service,
        "response_time": service + queued / rate,
        "wait_time": queued / rate,
        "queued": queued,
    }[name]
    return np.log(value) if name in LOGARITHMIC else value


def differences(observations: Sequence[Observation], population: float, values: Array) -> Array:
    """Law less measurement, for every figure of every run, shape (sets, figures) [1]."""
    found = totals(observations, population, values)
    columns = [
        figure(name, found[:, k]) - (np.log(value) if name in LOGARITHMIC else value)
        for k, run in enumerate(observations)
        for name, (value, _) in run.figures.items()
    ]
    return np.stack(columns, axis=-1)


MODEL_ERROR: Final = 0.02  # floor: residuals of a good fit say nothing about what it was not fitted to
SETTLED: Final = 1.02  # ratio of two model errors that count as equal
GIVEN: Final = 200.0  # degrees of freedom of an error that is not estimated: Student's t is normal


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
    candidates = np.geomspace(MODEL_ERROR, 1.0, 120)
    variance = rounding**2 + (candidates[:, None] * scale) ** 2
    weighted: Array = slope.T / variance[:, None, :]
    hessian = weighted @ slope + belief_slope.T @ belief_slope
    gradient = weighted @ off + belief_slope.T @ belief
    step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    misfit = (off**2 / variance).sum(-1) + belief @ belief - (gradient * step).sum(-1)
    _, log_det = np.linalg.slogdet(hessian)
    prior = 2 * np.log(candidates) if shrunk else 0.0
    return float(candidates[np.argmin(np.log(variance).sum(-1) + log_det + misfit + prior)])


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
    """What is fitted: runs, what is known, what is believed, and the relative error of the law."""

    observations: tuple[Observation, ...]  # the runs
    fixed: Mapping[str, float]  # known parameters by key, SI
    priors: Mapping[str, Prior]  # priors of the others by key
    model_error: float  # relative standard deviation of the law
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
        """All parameters from the logarithms of the free ones, shape (sets, 4)."""
        found = np.empty((len(logs), len(KEYS)))
        for key, value in self.fixed.items():
            found[:, KEYS.index(key)] = value
        found[:, self.free] = np.exp(np.clip(logs, *self.bounds))
        return found

    def beliefs(self, logs: Array) -> Array:
        """How far the free parameters are from their priors, in standard deviations, shape (sets, priors)."""
        known = {key: np.full(len(logs), math.log(value)) for key, value in self.fixed.items() if value > 0}
        at = known | {KEYS[k]: logs[:, place] for place, k in enumerate(self.free)}
        columns = [
            (at[key] - (0.0 if key == "inflation" else at["service_time"]) - math.log(prior.median)) / prior.spread
            for key, prior in self.priors.items()
            if key not in self.fixed
        ]  # fmt: skip
        return np.stack(columns, axis=-1) if columns else np.empty((len(logs), 0))

    def residuals(self, logs: Array, population: float) -> Array:
        """Figures and priors, each in its standard deviations, shape (sets, figures + priors)."""
        off = differences(self.observations, population, self.values(logs)) / self.sigma
        return np.concatenate([off, self.beliefs(logs)], axis=-1)


POPULATIONS: Final = (*range(1, 13), 14, 16, 20, 24, 32, 48, 64)
TOLERANCE: Final = 1e-7  # of the least squares: relative change of chi-square or of the logarithms
STEP: Final = 1e-4  # of the differences of the Jacobian, in logarithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The best parameters for one number of requesters."""

    problem: Problem  # what was fitted
    population: int  # requesters of one volume
    logs: Array  # (free,) natural logarithms of the free parameters
    residuals: Array  # (figures + priors,) in standard deviations
    jacobian: Array  # (figures + priors, free) change of the residuals with the logarithms

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
            # of the least squares from one start: what needs more creeps along a valley without an end
            # where only an order of chi-square is asked
            found = _minimum(problem, population, start, 16 if rough else 60)
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


FAR_BEHIND: Final = 9.0  # log of the odds against a population, from which it is left out
BEHIND_IN_A_ROW: Final = 2  # populations far behind the best before the search ends


def starts(problem: Problem, population: int) -> list[Array]:
    """Where a search begins: the best of several think times and inflations, each of shape (free,)."""
    alone = math.log(_service_guess(problem.observations, population))
    guess = {key: math.log(prior.median) + (0.0 if key == "inflation" else alone)
             for key, prior in PRIORS.items()}  # fmt: skip
    found = []
    for think, inflation in product((0.02, 0.1, 0.5, 2.5), (0.02, 0.2)):  # think over service time
        growth = {"think_time": alone + math.log(think), "inflation": math.log(inflation)}
        at = {"service_time": alone, **guess, **growth}
        found.append(np.array([at[KEYS[k]] for k in problem.free]))
    misfit = (problem.residuals(np.array(found), population) ** 2).sum(-1)
    return [found[k] for k in np.argsort(misfit)[:2]]  # of those, the best are followed


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
    """Fit the number of requesters that is given, or all that the data allow."""
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


OPEN_CHI_SQUARE: Final = 2.71  # rise of chi-square below which a bound is not excluded, 90 %
ALWAYS_BUSY: Final = 0.95  # share of time that the devices of a saturated run are at work, at least


def misfit(solution: Solution) -> float:
    """Chi-square of the measurements alone."""
    figures = solution.residuals[: len(solution.problem.scale)]
    return float(figures @ figures)


def at_bound_as_well(solutions: Sequence[Solution], key: str, bound: float) -> bool:
    """Profile: whether a parameter at a bound fits nearly as well, its prior set aside."""
    least = min(map(misfit, solutions))
    place = solutions[0].problem.free.index(KEYS.index(key))
    for each in solutions:
        priors = {name: prior for name, prior in each.problem.priors.items() if name != key}
        held = replace(each.problem, priors=priors, fixed={**each.problem.fixed, key: bound})
        try:
            found = solve(held, each.population, [np.delete(each.logs, place)], rough=True)
        except CalibrationError:
            continue
        if misfit(found) - least < OPEN_CHI_SQUARE:
            return True
    return False


def more_requesters_as_well(solutions: Sequence[Solution]) -> bool:
    """Profile: whether the largest number of requesters tried fits nearly as well, priors of think times aside.

    Where volumes share aliases, that number counts only if the search went so far: pools with many requesters take
    long to solve, and alias counts that matter tell the requesters.
    """
    most = max(solutions, key=lambda each: each.population)
    shared = any(run.volumes > 1 and run.aliases > 0 for run in most.problem.observations)
    if shared and most.population < POPULATIONS[-1]:
        return False
    priors = {name: prior for name, prior in most.problem.priors.items() if name != "think_time"}
    begin = [most.logs.copy()]
    if "think_time" not in most.problem.fixed:
        place = most.problem.free.index(KEYS.index("think_time"))
        begin[0][place] += np.log(POPULATIONS[-1] / most.population)
    try:
        found = solve(replace(most.problem, priors=priors), POPULATIONS[-1], [most.logs, *begin])
    except CalibrationError:
        return False
    return misfit(found) - min(map(misfit, solutions)) < OPEN_CHI_SQUARE


def saturated(best: Solution) -> bool:
    """Whether every run kept all its devices busy, with requesters to spare."""
    runs = best.problem.observations
    values = np.array([[best.values[key] for key in KEYS]])
    found = totals(runs, best.population, values)[0]
    devices = np.array([float(run.volumes + run.aliases) for run in runs])
    requesters = np.array([float(run.volumes * (run.population or best.population)) for run in runs])
    busy = found[:, 0] * (found[:, 1] + values[0, KEYS.index("redrive_time")]) / devices
    return bool((busy >= ALWAYS_BUSY).all() and (requesters > devices).all())
