"""Straight lines through days whose noise is serially correlated: the likelihood of many series at once.

Noise is a first-order autoregression, seen through gaps: two measured days k days apart correlate by phi**k. Given phi
the model is linear and everything but phi is integrated out in closed form (Zellner 1971, An Introduction to Bayesian
Inference in Econometrics, sections 3.1 and 4.1), so that an uncertain phi widens the intervals as it must.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

PHIS: Final = np.array([-0.3, -0.1, 0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.84, 0.89, 0.93, 0.96, 0.98])
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MeasuredDays:
    """Measured days of each series: where they are, and how far back the one before lies."""

    there: Mask  # (series, days)
    before: NDArray[np.intp]  # (series, days) day of the measured one before; itself where none
    gap: NDArray[np.intp]  # (series, days) days since; 0 where none

    @staticmethod
    def of(there: Mask) -> MeasuredDays:
        """Find the measured day before each day."""
        series, days = there.shape
        day = np.arange(days)
        last = np.maximum.accumulate(np.where(there, day, -1), axis=1)
        before = np.concatenate([np.full((series, 1), -1), last[:, :-1]], axis=1)
        gap = np.where(before < 0, 0, day - before)
        return MeasuredDays(there, np.where(before < 0, day, before), gap)

    def lag(self, columns: Array) -> Array:
        """Each column at the measured day before; shape (series, days, columns)."""
        return np.take_along_axis(columns, self.before[:, :, None], axis=1)


@dataclass(slots=True)
class Whitened:
    """What one phi makes of the rows: independent ones of equal variance."""

    columns: Array  # (series, days, columns + 1), the response last
    step_start: Array  # (series, days) a step column on its first day
    step_after: Array  # and on the days after it
    pulse_after: Array  # a column of one day on the measured day after it
    log_scale: Array  # (series,) log of the determinant of the scaling


def correlation(rows: MeasuredDays, phi: float) -> Array:
    """Of the noise of each day with that of the measured day before; 0 where there is none."""
    with np.errstate(under="ignore"):
        powers = phi ** np.arange(1.0 + rows.gap.max(initial=0))
    powers[0] = 0.0
    return np.asarray(powers[rows.gap])


def whiten(
    rows: MeasuredDays, columns: Array, lagged: Array, weight: Array, lagged_weight: Array, phi: float
) -> Whitened:
    """Take from each measured day what the one before predicts, and scale the rest to unit variance."""
    rho = correlation(rows, phi)
    scale = np.sqrt(1 - rho**2)
    inverse = rows.there / scale
    white = (columns - rho[:, :, None] * lagged) * inverse[:, :, None]
    return Whitened(
        columns=white,
        step_start=weight * inverse,
        step_after=(weight - rho * lagged_weight) * inverse,
        pulse_after=-rho * lagged_weight * inverse,
        log_scale=np.log(scale, where=rows.there, out=np.zeros_like(scale)).sum(axis=1),
    )
