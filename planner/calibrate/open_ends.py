"""Where the data exclude nothing: ends of intervals that stay open, and runs that tell no demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.calibrate.law import KEYS, totals
from planner.calibrate.solution import POPULATIONS, Solution, solve
from planner.errors import CalibrationError

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
