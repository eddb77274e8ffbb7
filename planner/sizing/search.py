"""The search for the fewest aliases: readings of the demand, sweeps of the count, bounds of the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.calibrate import Fit, fit, observe
from planner.calibrate.possible import central, smeared
from planner.calibrate.spread import points
from planner.demand import Law, Reading, readings_of
from planner.devices import Performance, Pool
from planner.errors import InfeasibleError, InputError
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer
from planner.sizing.classic import classic_aliases
from planner.sizing.comparison import gains
from planner.sizing.fewest import fewest
from planner.sizing.target import Target
from planner.sizing.volumes import demands
from planner.sizing.wording import beside, grouping, notes, why

NORMAL_90: Final = 1.645
LEAST_THINK: Final = 0.01  # of the think time that was read: next to none
DRAWS: Final = 256  # laws that stand for all that are possible
CHI_SQUARE_95: Final = 3.84
ROWS_BEYOND: Final = 2
MOST_READINGS: Final = 6
LARGEST_FITTED_POPULATION: Final = 16
WORSE_IN_A_ROW: Final = 3  # populations far behind the best before the search ends
SAME_RATE: Final = 0.03  # several listings of one rate say nothing about the requesters


def aliases(
    runs: Run | Sequence[Run], law: Law, *, target: Target | None = None, growth: float = 0.0
) -> AliasAnswer:
    """Find the smallest number of aliases that meets a target.

    Parameters
    ----------
    runs : Run or sequence of Run
        One measurement of a volume or pool, or several of the same system with different alias counts, of which
        the last is the present state.
    law : Law
        Inflation and redrive gap, with their errors.
    target : Target, optional
        What must be achieved; by default queueing is gone.
    growth : float, optional
        Share by which the demand grows first.

    Returns
    -------
    AliasAnswer
        Counts are totals, aliases in use included.

    Raises
    ------
    InputError
        Growth below -1 or not finite, or measurements of different systems.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        A pool could not be solved.
    """
    target = target or Target()
    if not math.isfinite(growth) or growth < 0:
        raise InputError("growth", growth, "a share of zero or more")
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    run = several[-1]
    combined, fitted, left_out = read_demands(several, law)
    pools, grouping_error = pools_of(combined, run, law, growth)
    counts, begin = [], None
    for pool in pools:
        try:
            begin, _ = fewest(pool, target, run, begin)
        except InfeasibleError as error:
            raise InfeasibleError(f"{run.name}: {error}") from None
        counts.append(begin)
    recommended, rule = counts[0], run.rule_of_thumb
    last = min(max(recommended, rule or 0, run.aliases) + ROWS_BEYOND, run.most_aliases)
    sweep = np.arange(last + 1, dtype=np.float64)
    solved = [pool.solve(sweep) for pool in pools]
    known = None if fitted or growth else run.aliases
    classic = classic_aliases(pools[:1], target)[0] if run.pool else None
    gained = gains(pools[0], solved[0], min(run.aliases, last), recommended)
    laws = _moved(pools[0], law, solved[0], min(run.aliases, last))
    moved = [pool.solve(sweep) for pool in laws]
    rate_low, rate_high = _interval(lambda rows: rows.io_rate, solved, moved, law, run.aliases, known)
    response_low, response_high = _interval(
        lambda rows: rows.response_time, solved, moved, law, run.aliases, known
    )
    needed = [_needed(*each, target, run) for each in zip(laws, moved, strict=True)]
    return AliasAnswer(
        name=run.name,
        recommended=recommended,
        range=span([*counts, *needed], rule),
        rule_of_thumb=rule,
        in_use=run.aliases,
        target=target,
        readings=tuple(combined),
        counts=tuple(counts),
        rows=solved[0],
        rate_low=rate_low,
        rate_high=rate_high,
        response_low=response_low,
        response_high=response_high,
        measured_rate=run.io_rate,
        classic=classic,
        gains=gained,
        grouping_error=grouping_error,
        why=why(run, combined, counts, solved, recommended),
        notes=(
            *left_out,
            *beside(recommended, classic, gained),
            *grouping(run, pools[0], grouping_error),
            *notes(run, recommended, growth, len(combined)),
        ),
    )


def span(counts: Sequence[int], rule_of_thumb: int | None) -> tuple[int, int]:
    """Smallest and largest count, the rule of thumb among them.

    Parameters
    ----------
    counts : sequence of int
        Under each reading.
    rule_of_thumb : int or None
        None where the queue was not measured.

    Returns
    -------
    tuple of int
        Both ends.
    """
    every = [*counts, *([] if rule_of_thumb is None else [rule_of_thumb])]
    return min(every), max(every)


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


def _moved(pool: Pool, law: Law, rows: Performance, in_use: int) -> list[Pool]:
    """The pool at both ends of what the calibration and the error of the law allow, axis by axis.

    The law read the think times as well, from response times that it tells no better than its error.
    """
    longer, shorter = (
        replace(
            pool,
            classes=tuple(
                replace(
                    part, think_time=max(part.think_time + sign * float(error), LEAST_THINK * part.think_time)
                )
                for part, error in zip(
                    pool.classes, NORMAL_90 * law.model_error * rows.volume_responses[in_use], strict=True
                )
            ),
        )
        for sign in (1.0, -1.0)
    )
    found = [] if all(math.isnan(part.think_time) for part in pool.classes) else [longer, shorter]
    for axis in law.axes:
        for sign in (1.0, -1.0):
            inflation, gap = law.moved(axis, sign * NORMAL_90)
            found.append(replace(pool, inflation=inflation, redrive_time=gap))
    return found


def _needed(pool: Pool, rows: Performance, target: Target, run: Run) -> int:
    """Fewest aliases under another law, `rows` of which are solved; as many as there can be where none are enough."""
    met = target.met(rows)
    if met.any():
        return int(np.argmax(met))
    try:
        return fewest(pool, target, run)[0]
    except InfeasibleError:
        return run.most_aliases


def _interval(
    of: Callable[[Performance], Array],
    solved: Sequence[Performance],
    moved: Sequence[Performance],
    law: Law,
    in_use: int,
    known: int | None,
) -> tuple[Array, Array]:
    """Smallest and largest value over the readings, widened by all that calibration and error of the law allow.

    The value under each of the possible laws counts from the count in use, where the demand was read; at the count
    `known` it was measured. Between the ends of each axis the logarithm is a parabola. Where a queue may grow without
    bound there is no upper end.
    """
    values = np.array([of(rows) for rows in solved])
    others = np.array([of(rows) for rows in moved]).reshape(len(moved), values.shape[1])
    bounded = np.isfinite(values).all(axis=0) & np.isfinite(others).all(axis=0)
    base = np.log(np.where(bounded, values[0], 1.0))
    at = min(in_use, base.size - 1)
    shifts = np.log(np.where(bounded, others, 1.0)) - base
    shifts -= shifts[:, at, None]
    steps = points(DRAWS, max(len(moved) // 2, 1))
    found = np.zeros((DRAWS, base.size))
    for k, (up, down) in enumerate(zip(shifts[::2], shifts[1::2], strict=True)):
        step = steps[:, k, None] / NORMAL_90
        found += step * (up - down) / 2 + step**2 * (up + down) / 2
    low, high = central(smeared(found, law.model_error))
    if known is not None:
        measured = np.arange(base.size) == known
        low, high = np.where(measured, 0.0, low), np.where(measured, 0.0, high)
    least = values.min(axis=0) * np.exp(np.minimum(low, 0.0))
    most = values.max(axis=0) * np.exp(np.maximum(high, 0.0))
    return least, np.where(bounded, most, np.inf)
