"""Figures of runs of volumes and pools, and their least-squares problem: priors, prediction, solution, search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from planner.calibrate.least_squares import LeastSquares, MeasuredFigure
from planner.devices.parameters import INFLATION, REDRIVE_TIME, SERVICE_TIME, THINK_TIME
from planner.devices.pool import equal_volumes, own_queues
from planner.errors import CalibrationError, ConvergenceError, InputError
from planner.measurements import Run
from planner.measurements.run import too_busy
from planner.quantity import Quantity
from planner.render import counted
from planner.reports import Printed
from planner.results import Array

FIGURES: Final = {  # what may be measured in a run, as named in files and pictures
    "io_rate": Quantity("io_rate", unit="1/s", label="I/O rate"),
    "service_time": Quantity("service", unit="ms", label="service time"),
    "response_time": Quantity("response", unit="ms", label="response time"),
    "wait_time": Quantity("wait", unit="ms", label="wait", zero=True),
    "queued": Quantity("queued", label="I/Os queued", zero=True),
}
# Factor, apart from rounding, by which I/Os may exceed the devices or requesters that hold them.
BEYOND: Final = 1.15
LOGARITHMIC: Final = ("io_rate", "service_time", "response_time")  # compared in logarithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run, `name`: the numbers of `volumes` and of the `aliases` that they shared, and their total `figures`.

    `population` is the requesters of one volume, None if it is to be estimated; `figures` are any of `FIGURES`:
    total I/O rate [1/s], mean service, response and wait time [s], total queue [I/Os]. `notes` say how it was read.
    """

    name: str
    volumes: int
    aliases: int
    population: int | None
    figures: Mapping[str, Printed]
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Refuse a run that contradicts itself."""
        for figure, value in self.values.items():
            if not math.isfinite(value) or value < 0 or (value == 0 and figure in LOGARITHMIC):
                raise InputError(f"{figure} of {self.name}", value, "a number above zero")
        # Devices have one I/O each in service: rate x service cannot exceed their number.
        rate, service = (self.figures.get(key) for key in ("io_rate", "service_time"))
        devices = self.volumes + self.aliases
        if rate and service and rate.low * service.low > BEYOND * devices:
            words = counted(devices, "device")
            raise too_busy(f"service_ms of {self.name}", rate.value, service.value, devices, words)
        # Requesters hold at most one I/O each: rate x response cannot exceed their number.
        if self.population is not None and self.population < self.fewest_requesters:
            raise InputError(
                f"population of {self.name}",
                self.population,
                f"at least {self.fewest_requesters}: rate x response is {self.least_present / self.volumes:.3g} a "
                "volume, and a requester has one I/O outstanding; the measurements contradict each other",
            )

    @property
    def values(self) -> dict[str, float]:
        """Measured values without their resolution."""
        return {key: figure.value for key, figure in self.figures.items()}

    @property
    def least_present(self) -> float:
        """Fewest I/Os present that the printed digits allow; 0 where unknown."""
        low = {key: figure.low for key, figure in self.figures.items()}
        rate, service = low.get("io_rate", 0.0), low.get("service_time", 0.0)
        return max(
            rate * low.get("response_time", 0.0),
            rate * (service + low.get("wait_time", 0.0)),
            rate * service + low.get("queued", 0.0),
        )

    @property
    def fewest_requesters(self) -> int:
        """Smallest number of requesters per volume that agrees with the I/Os present."""
        return max(math.ceil(self.least_present / self.volumes / BEYOND), 1)

    @property
    def present(self) -> float:
        """I/Os in service or queued according to the figures; where they are missing, at most one per device."""
        value = self.values
        devices = float(self.volumes + self.aliases)
        rate = value.get("io_rate")
        if rate is not None and "response_time" in value:
            return rate * value["response_time"]
        busy = min(rate * value["service_time"], devices) if rate and "service_time" in value else devices
        return busy + value.get("queued", (rate or 0.0) * value.get("wait_time", 0.0))

    def waits(self, share: float) -> bool:
        """Whether more than a share of the I/Os present waits, or the figures do not show it."""
        value, waits = self.values, {"queued", "wait_time", "response_time"}
        if not {"io_rate", "service_time"} <= value.keys() or not waits & value.keys():
            return True
        return self.present * (1 - share) > value["io_rate"] * value["service_time"]

    def scale(self, figure: str) -> float | None:
        """Scale of the model error: all I/Os present for a queue, response for a wait; None for logarithms."""
        if figure in LOGARITHMIC:
            return None
        if figure == "queued":
            return self.present
        value = self.values
        if "io_rate" in value:
            return self.present / value["io_rate"]
        return value.get("response_time", value["wait_time"] + value.get("service_time", 0.0))


def observe(run: Run) -> Observation:
    """Figures of a run: total rate, mean service time, total queue.

    Parameters
    ----------
    run : Run
        A measurement of a volume or a pool.

    Returns
    -------
    Observation
        Without the response time, which is service + queued / rate and adds no information.

    Raises
    ------
    InputError
        The queue of a volume was not measured.
    """
    rate, service, queued = run.total_rate, run.service, run.total_queue
    if not run.queue_known:
        raise InputError(
            f"queued of {run.name}", None, "the mean queue, or the response time, of every volume"
        )
    return Observation(
        name=" ".join(filter(None, (run.source, run.name, f"+{run.aliases}"))),
        volumes=run.bases,
        aliases=run.aliases,
        population=None,
        figures={
            "io_rate": Printed(rate.value, (rate.high - rate.low) / 2),
            "service_time": Printed(run.mean_service.value, float((service.high - service.value).max())),
            "queued": Printed(queued.value, (queued.high - queued.low) / 2),
        },
    )


PARAMETERS: Final[tuple[Quantity, ...]] = (SERVICE_TIME, THINK_TIME, INFLATION, REDRIVE_TIME)
KEYS: Final = tuple(parameter.key for parameter in PARAMETERS)


def totals(observations: Sequence[Observation], population: float, values: Array) -> Array:
    """Predicted totals of all runs, shape (sets, runs, 3)."""
    asked = [(run.volumes, run.aliases, run.population or population) for run in observations]
    # a run measured twice is solved once
    (volumes, aliases, requesters), place = np.unique(
        np.array(asked, dtype=np.float64).T, axis=1, return_inverse=True
    )
    found = np.empty((3, len(values), aliases.size))
    columns = {key: column[:, None] for key, column in zip(KEYS, values.T, strict=True)}
    # volumes that never compete for aliases: each is its own queue
    apart = (aliases == 0) | (volumes == 1) | (aliases >= volumes * (requesters - 1))
    if apart.any():
        rate, service, queued = own_queues({**columns, "population": requesters[apart]}, aliases[apart])
        found[..., apart] = volumes[apart] * rate, service, volumes[apart] * queued
    if not apart.all():
        sets = {**columns, "population": requesters[~apart]}
        found[..., ~apart] = equal_volumes(sets, volumes[~apart], aliases[~apart])[:3]
    return np.moveaxis(found, 0, -1)[:, place.ravel()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Log-normal prior: `median` (of a time, over the service time) and standard `deviation` of its logarithm."""

    median: float
    deviation: float


PRIORS: Final[Mapping[str, Prior]] = {
    "inflation": Prior(median=0.12, deviation=1.0),
    "redrive_time": Prior(median=0.05, deviation=1.0),
    "think_time": Prior(median=0.12, deviation=1.5),
}


@dataclass(frozen=True, kw_only=True)
class Problem(LeastSquares):
    """Runs, known parameters and priors of a fit; points are the logarithms of the free parameters."""

    STEP = 1e-4
    CENTRAL = False
    TOLERANCE = 1e-7
    observations: tuple[Observation, ...]  # the runs
    fixed: Mapping[str, float]  # known parameters by key, SI
    priors: Mapping[str, Prior]  # priors of the others by key
    population: int = 1  # requesters of one volume, for runs without their own number

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Indices of the parameters to fit."""
        return tuple(k for k, key in enumerate(KEYS) if key not in self.fixed)

    @cached_property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        """Every figure of every run."""
        return tuple(
            MeasuredFigure(
                run=run.name, quantity=FIGURES[name].file_key, factor=FIGURES[name].factor,
                value=figure.value, half=figure.resolution, scale=run.scale(name),
            )
            for run in self.observations
            for name, figure in run.figures.items()
        )  # fmt: skip

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Bounds of the logarithms of the free parameters."""
        low = [math.log(PARAMETERS[k].low) for k in self.free]
        return np.array(low), np.array([math.log(PARAMETERS[k].high) for k in self.free])

    def values(self, points: Array) -> Array:
        """All parameters, SI, from the logarithms of the free ones, shape (sets, 4)."""
        found = np.empty((len(points), len(KEYS)))
        for key, value in self.fixed.items():
            found[:, KEYS.index(key)] = value
        found[:, self.free] = np.exp(np.clip(points, *self.bounds))
        return found

    def predict(self, points: Array) -> Array:
        """Prediction of every figure, from the totals of the runs."""
        found = totals(self.observations, self.population, self.values(points))
        rate, service, queued = np.moveaxis(found, -1, 0)
        wait = queued / rate
        of = {"io_rate": rate, "service_time": service, "response_time": service + wait, "wait_time": wait,
              "queued": queued}  # fmt: skip
        columns = [of[name][:, k] for k, run in enumerate(self.observations) for name in run.figures]
        return np.stack(columns, axis=-1)

    def beliefs(self, points: Array) -> Array:
        """Distance of the free parameters from their priors, in standard deviations."""
        known = {key: np.full(len(points), math.log(value)) for key, value in self.fixed.items() if value > 0}
        at = known | {KEYS[k]: points[:, place] for place, k in enumerate(self.free)}
        columns = [
            (at[key] - (0.0 if key == "inflation" else at["service_time"]) - math.log(prior.median)) / prior.deviation
            for key, prior in self.priors.items()
            if key not in self.fixed
        ]  # fmt: skip
        return np.stack(columns, axis=-1) if columns else np.empty((len(points), 0))


POPULATIONS: Final = (*range(1, 13), 14, 16, 20, 24, 32, 48, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The best parameters for one number of requesters."""

    problem: Problem  # what was fitted
    logs: Array  # (free,) natural logarithms of the free parameters
    residuals: Array  # (figures + priors,) in standard deviations
    jacobian: Array  # (figures + priors, free) derivatives of the residuals by the logarithms

    @property
    def population(self) -> int:
        """Requesters of one volume."""
        return self.problem.population

    @property
    def chi_square(self) -> float:
        """Sum of the squared residuals, priors included."""
        return float(self.residuals @ self.residuals)

    @property
    def covariance(self) -> Array:
        """Covariance of the logarithms, shape (free, free)."""
        return np.asarray(np.linalg.pinv(self.jacobian.T @ self.jacobian), dtype=np.float64)

    def undetermined(self, key: str, most: float = 0.8) -> bool:
        """Whether the data hardly determine a free parameter: more than `most` of the prior's deviation is left."""
        place, prior = self.problem.free.index(KEYS.index(key)), self.problem.priors.get(key)
        return prior is not None and bool(self.covariance[place, place] > (most * prior.deviation) ** 2)

    @property
    def log_weight(self) -> float:
        """Log evidence for this number of requesters: prior 1 / N, misfit, volume of the posterior."""
        _, log_det = np.linalg.slogdet(self.jacobian.T @ self.jacobian)
        return -0.5 * (self.chi_square + float(log_det)) + math.log(share_of(self.population))

    @property
    def values(self) -> dict[str, float]:
        """All parameters by key, SI."""
        return dict(zip(KEYS, self.problem.values(self.logs[None])[0].tolist(), strict=True))


def share_of(population: int) -> float:
    """Prior weight of a population: 1 / N, times the counts that it represents on the grid."""
    place = POPULATIONS.index(population) if population in POPULATIONS else None
    if place is None:
        return 1 / population
    first = POPULATIONS[place - 1] if place else 0
    last = POPULATIONS[place + 1] if place + 1 < len(POPULATIONS) else 2 * population - first
    return (last - first) / 2 / population


def solve(problem: Problem, starts: Sequence[Array], *, rough: bool = False) -> Solution:
    """Fit the parameters for one number of requesters, from several starts; `rough` stops after a few steps."""
    best, message = None, "no start"
    for start in starts:
        try:
            # more steps follow an endless valley; a few are enough for an order of magnitude
            found = problem.minimum(start, 16 if rough else 60, within=False)
        except ConvergenceError as error:
            message = f"the model could not be solved while fitting: {error}"
            continue
        message = str(found.message)
        if (found.success or rough) and (best is None or found.cost < best.cost):
            best = found
    if best is None:
        reason = f"least squares did not converge for {problem.population} requesters: {message}"
        raise CalibrationError(reason)
    return Solution(problem=problem, logs=np.asarray(best.x), residuals=np.asarray(best.fun),
                    jacobian=np.asarray(best.jac))  # fmt: skip


def starts(problem: Problem) -> list[Array]:
    """Initial points of a search: the best two of several think times and inflations, each of shape (free,)."""
    alone = math.log(_service_guess(problem.observations, problem.population))
    gap = math.log(PRIORS["redrive_time"].median) + alone
    every = np.array([
        (alone, alone + math.log(think), math.log(inflation), gap)  # in the order of `KEYS`
        for think, inflation in product((0.02, 0.1, 0.5, 2.5), (0.02, 0.2))
    ])[:, problem.free]  # fmt: skip
    misfit = (problem.residuals(every) ** 2).sum(-1)
    return list(every[np.argsort(misfit)[:2]])


def _service_guess(observations: Sequence[Observation], population: int) -> float:
    """Median of the printed service times; else a guess below the largest that the rates allow."""
    printed = [run.figures["service_time"].value for run in observations if "service_time" in run.figures]
    if printed:
        return float(np.median(printed))
    limits = []
    for run in observations:
        value = run.values
        devices = run.volumes * min(1 + run.aliases / run.volumes, run.population or population)
        if "io_rate" in value:
            limits.append(devices / value["io_rate"])
        if "response_time" in value:
            limits.append(value["response_time"])
    return 0.7 * min(limits, default=1e-3)


def search(
    problem: Problem,
    population: int | None,
    near: Sequence[Solution] = (),
    far: float = 9.0,
    in_a_row: int = 2,
) -> list[Solution]:
    """Fit for the given number of requesters, or for all numbers that the data allow.

    A number with log weight `far` below the best is left out; `in_a_row` of them end the search.
    """
    if near:
        again = [solve(replace(problem, population=each.population), [each.logs]) for each in near]
        return sorted(again, key=lambda each: -each.log_weight)
    if population is not None:
        asked = replace(problem, population=population)
        return [solve(asked, starts(asked))]
    found: list[Solution] = []
    behind, trouble = 0, f"more than {POPULATIONS[-1]} requesters a volume; say how many"
    least = max(run.fewest_requesters for run in problem.observations)
    for count in (n for n in POPULATIONS if n >= least):
        asked = replace(problem, population=count)
        try:
            found.append(solve(asked, [found[-1].logs] if found else starts(asked)))
        except CalibrationError as error:
            trouble = str(error)
            continue
        best = max(each.log_weight for each in found)
        behind = behind + 1 if found[-1].log_weight < best - far else 0
        if behind == in_a_row:
            break
    if not found:
        raise CalibrationError(trouble)
    best = max(each.log_weight for each in found)
    return sorted((s for s in found if s.log_weight >= best - far), key=lambda each: -each.log_weight)


OPEN_CHI_SQUARE: Final = 2.71  # smallest rise of chi-square that excludes a bound, 90 %


def misfit(solution: Solution) -> float:
    """Chi-square of the measurements alone."""
    figures = solution.residuals[: len(solution.problem.scale)]
    return float(figures @ figures)


def _as_well(
    solutions: Sequence[Solution], changed: Problem, key: str, near: Sequence[Array], *, rough: bool
) -> bool:
    """Profile likelihood: whether a changed problem fits nearly as well, without the prior of a parameter."""
    priors = {name: prior for name, prior in changed.priors.items() if name != key}
    try:
        found = solve(replace(changed, priors=priors), near, rough=rough)
    except CalibrationError:
        return False
    return misfit(found) - min(map(misfit, solutions)) < OPEN_CHI_SQUARE


def at_bound_as_well(solutions: Sequence[Solution], key: str, bound: float, apart: float = 30.0) -> bool:
    """Whether a parameter at a bound fits nearly as well, and each value on the way up to it, this many times `apart`.

    What excludes a nearer value excludes the bound, where a gap of a second would be slow to solve.
    """
    place = solutions[0].problem.free.index(KEYS.index(key))

    def fits(each: Solution) -> bool:
        value, as_well = each.values[key], True
        while as_well and value != bound:
            value = bound if bound < value else min(value * apart, bound)
            changed = replace(each.problem, fixed={**each.problem.fixed, key: value})
            as_well = _as_well(solutions, changed, key, [np.delete(each.logs, place)], rough=True)
        return as_well

    return any(map(fits, solutions))


def more_requesters_as_well(solutions: Sequence[Solution]) -> bool:
    """Whether the largest number of requesters that is tried fits nearly as well."""
    most = max(solutions, key=lambda each: each.population)
    shared = any(run.volumes > 1 and run.aliases > 0 for run in most.problem.observations)
    if shared and most.population < POPULATIONS[-1]:
        return not any(run.waits(2 * most.problem.model_error) for run in most.problem.observations)
    longer = np.array([KEYS[k] == "think_time" for k in most.problem.free])
    begin = most.logs + longer * np.log(POPULATIONS[-1] / most.population)
    further = replace(most.problem, population=POPULATIONS[-1])
    return _as_well(solutions, further, "think_time", [most.logs, begin], rough=False)


def saturated(best: Solution, always: float = 0.95) -> bool:
    """Whether all devices were busy in every run, at least `always` of the time, with more requesters than devices."""
    runs = best.problem.observations
    values = np.array([[best.values[key] for key in KEYS]])
    found = totals(runs, best.population, values)[0]
    devices = np.array([float(run.volumes + run.aliases) for run in runs])
    requesters = np.array([float(run.volumes * (run.population or best.population)) for run in runs])
    busy = found[:, 0] * (found[:, 1] + values[0, KEYS.index("redrive_time")]) / devices
    return bool((busy >= always).all() and (requesters > devices).all())
