"""The search for the fewest aliases: readings of the demand, sweeps of the count, bounds of the rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.calibrate import Fit, fit, observe
from planner.calibrate.possible import central, smeared
from planner.calibrate.spread import points
from planner.demand import Law, Reading, readings
from planner.devices import Performance, Pool
from planner.errors import InfeasibleError, InputError
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer
from planner.sizing.comparison import classic_aliases, gains
from planner.sizing.target import Target
from planner.sizing.wording import beside, notes, why
from planner.units import MILLISECOND

NORMAL_90: Final = 1.645
LEAST_THINK: Final = 0.01  # of the think time that was read: next to none
DRAWS: Final = 256  # laws that stand for all that are possible
CHI_SQUARE_95: Final = 3.84
ROWS_BEYOND: Final = 2
MOST_READINGS: Final = 6
MOST_AT_ONCE: Final = 32
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
    combined, fitted, left_out = _readings(several, law)
    pools = [_pool(reading, law, growth) for reading in combined]
    found = [_fewest(pool, target, run) for pool in pools]
    counts = [count for count, _ in found]
    recommended, rule = counts[0], run.rule_of_thumb
    last = min(max(recommended, rule, run.aliases) + ROWS_BEYOND, run.most_aliases)
    sweep = np.arange(last + 1, dtype=np.float64)
    solved = [_extended(pool, rows, sweep) for pool, (_, rows) in zip(pools, found, strict=True)]
    known = None if fitted or growth else run.aliases
    classic = classic_aliases(pools[0], target) if run.pool else None
    gained = gains(pools[0], solved[0], min(run.aliases, last), recommended)
    laws = _moved(pools[0], law, solved[0], min(run.aliases, last))
    moved = [pool.solve(sweep) for pool in laws]
    low, high = _rate_interval(solved, moved, law, run.aliases, known)
    needed = [*counts, *(_needed(*each, target, run) for each in zip(laws, moved, strict=True)), rule]
    return AliasAnswer(
        name=run.name,
        recommended=recommended,
        range=(min(needed), max(needed)),
        rule_of_thumb=rule,
        in_use=run.aliases,
        target=target,
        readings=tuple(combined),
        counts=tuple(counts),
        rows=solved[0],
        rate_low=low,
        rate_high=high,
        measured_rate=run.io_rate,
        classic=classic,
        gains=gained,
        why=why(combined, counts, solved, recommended),
        notes=(
            *left_out,
            *beside(recommended, classic, gained),
            *notes(run, recommended, growth, len(combined)),
        ),
    )


def _pool(reading: Sequence[Reading], law: Law, growth: float) -> Pool:
    """The pool under one reading of each of its classes; the service time is weighted by rate."""
    classes = tuple(part for each in reading for part in each.volume_class(growth))
    weights = [each.io_rate for each in reading]
    service = float(np.average([each.service_time for each in reading], weights=weights))
    return Pool(classes=classes, service_time=service, inflation=law.inflation, redrive_time=law.redrive_time)


def _readings(runs: Sequence[Run], law: Law) -> tuple[list[tuple[Reading, ...]], bool, tuple[str, ...]]:
    """Readings of a system, the preferred one first: each a reading for every class of its volumes.

    Beside them whether they were fitted to several runs, hence meet none exactly, and what was left out.
    """
    rates = [run.io_rate for run in runs]
    counts = {run.aliases for run in runs}
    if len({(run.bases, run.pool) for run in runs}) > 1:
        raise InputError("listings", [run.name for run in runs], "measurements of the same volumes")
    if len(counts) == 1 or max(rates) <= (1 + SAME_RATE) * min(rates):
        each = [readings(part, law) for part in runs[-1].classes]
        most = max(map(len, each))
        # The smallest and the largest of many readings bound the answer; a few between them show the way.
        picked = np.unique(np.linspace(0, most - 1, min(most, MOST_READINGS)).round().astype(int))
        return [tuple(some[min(k, len(some) - 1)] for some in each) for k in picked], False, ()
    return _fitted_readings(runs, law)


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


def _fewest(pool: Pool, target: Target, run: Run) -> tuple[int, Performance]:
    """Smallest count that meets the target, and all counts solved on the way to it, from 0."""
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    limit = int(min(run.most_aliases, enough))
    length = max(4, min(run.rule_of_thumb + ROWS_BEYOND + 1, MOST_AT_ONCE))
    rows = pool.solve(np.arange(min(length, limit + 1), dtype=np.float64))
    while True:
        met = target.met(rows)
        if met.any():
            return int(np.argmax(met)), rows
        if rows.aliases.size > limit:
            break
        rows = _extended(pool, rows, np.arange(min(2 * rows.aliases.size, limit + 1), dtype=np.float64))
    wait, service = rows.wait_time[-1] / MILLISECOND, rows.service_time[-1] / MILLISECOND
    raise InfeasibleError(
        f"{run.name}: no count up to {limit} aliases meets the target ({target}); with {limit} the wait is "
        f"{wait:.3g} ms, the response {wait + service:.3g} ms of which {service:.3g} ms are service, which aliases "
        "do not shorten"
    )


def _extended(pool: Pool, rows: Performance, sweep: Array) -> Performance:
    """The counts of `sweep`, from 0 up: those already solved, and the rest."""
    known = min(rows.aliases.size, sweep.size)
    if known == sweep.size:
        return rows.first(known)
    return rows.first(known).followed_by(pool.solve(sweep[known:]))


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
        return _fewest(pool, target, run)[0]
    except InfeasibleError:
        return run.most_aliases


def _rate_interval(
    solved: Sequence[Performance], moved: Sequence[Performance], law: Law, in_use: int, known: int | None
) -> tuple[Array, Array]:
    """Lowest and highest rate over the readings, widened by all that the calibration and the error of the law allow.

    The rate under each of the possible laws counts from the count in use, where the demand was read; at the count
    `known` the rate itself was measured. Between the ends of each axis the logarithm is a parabola.
    """
    rates = np.array([rows.io_rate for rows in solved])
    base = np.log(rates[0])
    at = min(in_use, base.size - 1)
    shifts = [np.log(rows.io_rate) - base for rows in moved]
    shifts = [shift - shift[at] for shift in shifts]
    steps = points(DRAWS, max(len(moved) // 2, 1))
    found = np.zeros((DRAWS, base.size))
    for k, (up, down) in enumerate(zip(shifts[::2], shifts[1::2], strict=True)):
        step = steps[:, k, None] / NORMAL_90
        found += step * (up - down) / 2 + step**2 * (up + down) / 2
    low, high = central(smeared(found, law.model_error))
    if known is not None:
        measured = np.arange(base.size) == known
        low, high = np.where(measured, 0.0, low), np.where(measured, 0.0, high)
    return rates.min(axis=0) * np.exp(np.minimum(low, 0.0)), rates.max(axis=0) * np.exp(np.maximum(high, 0.0))
