"""Bands of predicted figures over the readings that are kept, tied to the measurement."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.demand.answer import point_and_range
from planner.demand.prediction import AliasTarget
from planner.demand.readings import MEASURED_CONCURRENCY, Readings
from planner.interval import Interval
from planner.results import Array

RELATIVE_ERROR: Final = 0.07
RISING: Final = ("rate",)
FALLING: Final = ("wait", "queue", "response")


def band(readings: Readings, counts: ArrayLike, figure: str, target: AliasTarget | None = None) -> Interval:
    """One figure with its 90 % band over the kept readings, the measurement at the aliases in use.

    The value is that of the chosen reading. Every reading is scaled to meet the measured figure exactly; away from
    the aliases in use the band is 7 % wider (for rates: held by 96 % of simulated volumes). With more aliases neither
    end of a rate falls, and neither end of a wait, queue or response rises.

    Parameters
    ----------
    readings : Readings
        Of the volumes.
    counts : array_like of int
        Aliases, (counts,).
    figure : str
        One of "rate", "wait", "service", "queue", "response".
    target : AliasTarget, optional
        By which the reading is chosen.

    Returns
    -------
    Interval
        Arrays (volumes, counts).
    """
    counts = np.atleast_1d(np.asarray(counts, dtype=np.int64))
    in_use = readings.in_use.astype(np.int64)
    most = int(max(counts.max(), in_use.max()))
    every = np.arange(most + 1)
    chosen = point_and_range(readings, target).chosen
    volumes = np.arange(readings.volumes)
    kept = readings.kept.copy()
    kept[volumes, chosen] = True
    found = []
    for inflated_to in (np.inf, MEASURED_CONCURRENCY):
        values = getattr(readings.predict(every, inflated_to), figure)
        found.append(values)
        if readings.law.inflation == 0 or most < MEASURED_CONCURRENCY:
            break
    measured = _measured(readings, figure)
    if readings.growth == 0:
        found = [_tied(values, in_use, measured) for values in found]
    value = found[0][volumes, chosen]
    wide = np.concatenate(found, axis=1)
    kept = np.tile(kept, len(found))[:, :, None] & np.isfinite(wide)
    low = np.min(np.where(kept, wide, np.inf), axis=1)
    high = np.max(
        np.where(kept | (np.isposinf(wide) & np.tile(readings.kept, len(found))[:, :, None]), wide, -np.inf),
        axis=1,
    )
    low, high = np.minimum(low, value), np.maximum(high, value)
    low, high = low * (1 - RELATIVE_ERROR), high * (1 + RELATIVE_ERROR)
    if readings.growth == 0:
        here = volumes, in_use
        low[here], value[here], high[here] = measured.low, measured.value, measured.high
    if figure in RISING or figure in FALLING:
        sign = 1.0 if figure in RISING else -1.0
        anchor = in_use if readings.growth == 0 else np.zeros_like(in_use)
        low, value, high = (sign * _rising(sign * each, anchor) for each in (low, value, high))
    return Interval(low[:, counts], value[:, counts], high[:, counts])


def _measured(readings: Readings, figure: str) -> Interval:
    """The figure as measured, (volumes,)."""
    rows = readings.others[-1] if readings.others else readings.rows
    service = Interval(rows.service_low, rows.service, rows.service_high)
    queue = Interval(np.maximum(rows.queue_low, 0.0), rows.queue, rows.queue_high)
    wait = Interval(*(end / rows.rate for end in queue))
    known = {"service": service, "queue": queue, "wait": wait, "response": service + wait}
    return known.get(figure, Interval(rows.rate_low, rows.rate, rows.rate_high))


def _tied(values: Array, in_use: NDArray[np.int64], measured: Interval) -> Array:
    """Every reading scaled so that it meets the measurement at the aliases in use; one that is nothing there stays."""
    here = np.take_along_axis(values, in_use[:, None, None], axis=2)
    usable = (here > 0) & np.isfinite(here) & (measured.value[:, None, None] > 0)
    factor = np.where(usable, measured.value[:, None, None] / np.where(usable, here, 1.0), 1.0)
    tied: Array = values * factor
    return tied


def _rising(values: Array, anchor: NDArray[np.int64]) -> Array:
    """Monotone in the count, starting from the anchor and kept there: cumulated upward above it, downward below it."""
    above = np.arange(values.shape[1]) >= anchor[:, None]
    upward = np.maximum.accumulate(np.where(above, values, -np.inf), axis=1)
    downward = np.minimum.accumulate(np.where(above, np.inf, values)[:, ::-1], axis=1)[:, ::-1]
    here = np.take_along_axis(values, anchor[:, None], axis=1)
    return np.where(above, upward, np.minimum(downward, here))
