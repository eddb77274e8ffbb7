"""How far the answer for one pool may be off: other readings, other possible laws, the errors of the law."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.calibrate.possible import central, smeared
from planner.calibrate.spread import points
from planner.demand import Law
from planner.devices import Performance, Pool
from planner.errors import InfeasibleError
from planner.measurements import Run
from planner.results import Array
from planner.sizing.fewest import fewest
from planner.sizing.target import Target

NORMAL_90: Final = 1.645
LEAST_THINK: Final = 0.01  # of the think time that was read: next to none
DRAWS: Final = 256  # laws that stand for all that are possible


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


def moved_laws(pool: Pool, law: Law, rows: Performance, in_use: int) -> list[Pool]:
    """The pool at both ends of what the calibration and the error of the law allow, axis by axis.

    The law read the think times as well, from response times that it tells no better than its error.

    Parameters
    ----------
    pool : Pool
        The pool under the preferred reading.
    law : Law
        Inflation and redrive gap, with the axes of what is possible.
    rows : Performance
        The pool solved for each count from 0.
    in_use : int
        Aliases at the time of the measurement.

    Returns
    -------
    list of Pool
        Two an axis: the upper end and the lower one.
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


def needed(pool: Pool, rows: Performance, target: Target, run: Run) -> int:
    """Fewest aliases under another law; as many as there can be where none are enough.

    Parameters
    ----------
    pool : Pool
        The pool under that law.
    rows : Performance
        What is solved of it, for each count from 0.
    target : Target
        What must be achieved.
    run : Run
        The measurement, for the addresses that there are.

    Returns
    -------
    int
        A count.

    Raises
    ------
    ConvergenceError
        The pool could not be solved.
    """
    met = target.met(rows)
    if met.any():
        return int(np.argmax(met))
    try:
        return fewest(pool, target, run)[0]
    except InfeasibleError:
        return run.most_aliases


def interval(
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

    Parameters
    ----------
    of : callable
        The value.
    solved : sequence of Performance
        Under each reading, the preferred one first.
    moved : sequence of Performance
        Under the preferred one with `moved_laws`.
    law : Law
        For its error.
    in_use : int
        Aliases at the time of the measurement.
    known : int or None
        Count at which the value was measured; None where it was fitted, or the demand has grown since.

    Returns
    -------
    low, high : ndarray, shape (counts,)
        Both ends, 90 %.
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
