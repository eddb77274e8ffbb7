"""The search for parameters: where it begins, and every number of requesters that the data allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from planner.calibrate.law import KEYS
from planner.calibrate.observation import Observation
from planner.calibrate.problem import PRIORS, Problem
from planner.calibrate.solution import POPULATIONS, Solution, solve
from planner.errors import CalibrationError
from planner.results import Array

FAR_BEHIND: Final = 9.0  # log of the odds against a population, from which it is left out
BEHIND_IN_A_ROW: Final = 2  # populations far behind the best before the search ends
THINK_STARTS: Final = (0.02, 0.1, 0.5, 2.5)  # think over service time
INFLATION_STARTS: Final = (0.02, 0.2)
STARTS: Final = 2  # of those, the best are followed


def starts(problem: Problem, population: int) -> list[Array]:
    """Where a search begins: the best of several think times and inflations, each of shape (free,)."""
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
