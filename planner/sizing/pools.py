"""The pools that a measurement may stand for: readings of its classes combined, or fitted to several runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.calibrate import Fit, fit, observe
from planner.demand import Law, Reading, readings_of
from planner.devices import Pool
from planner.errors import InputError
from planner.measurements import Run
from planner.sizing.bounds import NORMAL_90
from planner.sizing.volumes import demands

CHI_SQUARE_95: Final = 3.84
MOST_READINGS: Final = 6
LARGEST_FITTED_POPULATION: Final = 16
WORSE_IN_A_ROW: Final = 3  # populations far behind the best before the search ends
SAME_RATE: Final = 0.03  # several listings of one rate say nothing about the requesters


def pools_of(
    combined: Sequence[Sequence[Reading]], run: Run, law: Law, growth: float
) -> tuple[list[Pool], float]:
    """Make a pool of each reading, its volumes at their own rates where these are known.

    Parameters
    ----------
    combined : sequence of sequence of Reading
        Readings for each class of the run, or one for all its volumes together.
    run : Run
        The measurement.
    law : Law
        Inflation and redrive gap.
    growth : float
        Share by which the demand grows first.

    Returns
    -------
    list of Pool
        One a reading.
    float
        Relative error of a wait that grouping the volumes of the first pool makes; inf where there is no room for
        finer groups.
    """
    pools, errors = [], []
    for reading in combined:
        if len(reading) == len(run.classes) and any(part.rates for part in run.classes) and run.pool:
            asked = demands(reading, run, law).grown(growth)
            pool, error = asked.pool(law, run.most_aliases)
        else:
            classes = tuple(part for each in reading for part in each.volume_class(growth))
            service = float(np.average([each.service_time for each in reading],
                                       weights=[each.io_rate for each in reading]))  # fmt: skip
            pool = Pool(
                classes=classes, service_time=service, inflation=law.inflation, redrive_time=law.redrive_time
            )
            error = 0.0
        pools.append(pool)
        errors.append(error)
    return pools, errors[0]


def read_demands(runs: Sequence[Run], law: Law) -> tuple[list[tuple[Reading, ...]], bool, tuple[str, ...]]:
    """Read the demand of a system.

    Parameters
    ----------
    runs : sequence of Run
        Measurements of it, the present state last.
    law : Law
        Inflation and redrive gap.

    Returns
    -------
    list of tuple of Reading
        The preferred one first: each a reading for every class of its volumes.
    bool
        Whether they were fitted to several runs, hence meet none exactly.
    tuple of str
        What was left out.

    Raises
    ------
    InputError
        Measurements of different systems.
    """
    rates = [run.io_rate for run in runs]
    counts = {run.aliases for run in runs}
    if len({(run.bases, run.pool) for run in runs}) > 1:
        raise InputError("listings", [run.name for run in runs], "measurements of the same volumes")
    if len(counts) == 1 or max(rates) <= (1 + SAME_RATE) * min(rates):
        return combined_readings(readings_of(runs[-1].classes, law)), False, ()
    return _fitted_readings(runs, law)


def combined_readings(each: Sequence[tuple[Reading, ...]]) -> list[tuple[Reading, ...]]:
    """Combine the readings of classes to readings of the whole, the preferred one first.

    Parameters
    ----------
    each : sequence of tuple of Reading
        Of each class.

    Returns
    -------
    list of tuple of Reading
        Each a reading for every class.
    """
    most = max(map(len, each))
    # The smallest and the largest of many readings bound the answer; a few between them show the way.
    picked = np.unique(np.linspace(0, most - 1, min(most, MOST_READINGS)).round().astype(int))
    return [tuple(some[min(k, len(some) - 1)] for some in each) for k in picked]


def _fitted_readings(
    runs: Sequence[Run], law: Law
) -> tuple[list[tuple[Reading, ...]], bool, tuple[str, ...]]:
    """Several alias counts at once: every population whose least-squares fit is nearly as good as the best."""
    fixed = {"inflation": law.inflation, "redrive_time": law.redrive_time}
    fits: list[Fit] = []
    fewest = max(observe(run).fewest_requesters for run in runs)
    for population in range(fewest, max(fewest, LARGEST_FITTED_POPULATION) + 1):
        fits.append(fit(runs, population=population, fixed=fixed, intervals=False))
        behind = [item.chi_square > min(f.chi_square for f in fits) + CHI_SQUARE_95 for item in fits]
        if behind[-WORSE_IN_A_ROW:] == [True] * WORSE_IN_A_ROW:
            break
    best = min(fits, key=lambda item: item.chi_square)
    measured = len(best.comparisons)
    found = [
        Reading(
            kind="closed",
            volumes=runs[-1].bases,
            population=item.population,
            think_time=item.value("think_time"),
            service_time=item.value("service_time"),
            io_rate=runs[-1].io_rate,
            strain=math.sqrt(item.chi_square / measured) / NORMAL_90,
        )
        for item in fits
        if item.chi_square <= best.chi_square + CHI_SQUARE_95
    ]
    left_out = tuple(f"{name} does not belong to the other runs and was left out." for name in best.outliers)
    return [(reading,) for reading in found], True, left_out
