"""The linear model of daily series under autoregressive noise: its columns, and the posterior of their coefficients.

The busy-hour level of a day is ``level(t) * week(weekday) * month_end``, ``level`` a straight line with steps. The
product is linearized about the last estimate and fitted by generalized least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

YEAR: Final = 365.25  # days
STEPS: Final = 6  # certain level shifts of one series
LEAST_NOISE: Final = 1e-4  # share of the level: what the printed digits leave of a series without noise
LEAST_FACTOR: Final = 0.02


class ChangePrior(NamedTuple):
    """What is believed of a kind of change: its odds on a day, and the standard deviation of its size in levels."""

    odds: float
    size: float


# Chosen with two seeds of simulated series, judged by two others: python -m tests.site.growth_backtest
PRIORS: Final = {
    "step": ChangePrior(1 / 600, 0.3),  # a level shift
    "pulse": ChangePrior(1 / 300, 0.5),  # a day unlike the others: a holiday, an outage
    "spell": ChangePrior(1 / 5000, 0.5),  # such days in a row, of each length
    "month": ChangePrior(1 / 20, 0.3),  # each form of a month end, once for a series
}


@dataclass(slots=True)
class SeriesState:
    """What is known of the series of a chunk so far; lengths of series and days as in `values`."""

    values: Array  # (series, days), about 1
    rows: MeasuredDays
    years: Array  # (series, days) since the first measured day
    weekday: NDArray[np.intp]  # (days,)
    month_forms: Array  # (forms, days) 1 on the days of a month end
    level: Array  # (series, days)
    week: Array  # (series, 7)
    growth: Array  # (series,) a year, share of the first day
    month: Array  # (series,) factor
    month_form: NDArray[np.intp]  # (series,) -1: none
    busy: Mask  # (series, 7) weekdays that are about as busy as the busiest
    spread: Array  # (series,) standard deviation among these
    form: NDArray[np.intp]  # (series,) of the noise
    steps: list[list[int]] = field(default_factory=list)
    pulses: list[list[int]] = field(default_factory=list)

    def pick(self, these: NDArray[np.intp]) -> SeriesState:
        """Only these series."""
        return replace(
            self, rows=self.rows.pick(these), steps=[self.steps[k] for k in these],
            pulses=[self.pulses[k] for k in these], **{name: getattr(self, name)[these] for name in BY_SERIES},
        )  # fmt: skip

    def put(self, these: NDArray[np.intp], other: SeriesState) -> None:
        """Write these series back."""
        for name in BY_SERIES:
            getattr(self, name)[these] = getattr(other, name)
        self.rows.put(these, other.rows)
        for index, k in enumerate(these):
            self.steps[k], self.pulses[k] = other.steps[index], other.pulses[index]

    @property
    def factor(self) -> Array:
        """Weekly pattern times month end on each day."""
        return self.week[:, self.weekday] * np.where(self.in_month_end, self.month[:, None], 1.0)

    @property
    def in_month_end(self) -> Mask:
        """(series, days)."""
        chosen = self.month_forms[np.maximum(self.month_form, 0)] > 0
        return chosen & (self.month_form >= 0)[:, None]

    @property
    def noise(self) -> Array:
        """What the noise of a day is not in proportion to: the rows are multiplied by it."""
        form, factor = self.form[:, None], self.factor
        return np.where(form == 0, 1.0, np.where(form == 1, factor, factor * self.level))


# What a state holds of each series in an array of its own.
BY_SERIES: Final = (
    "values", "years", "level", "week", "growth", "month", "month_form", "busy", "spread", "form",
)  # fmt: skip


@dataclass(slots=True)
class Linear:
    """The linear model of a state: columns over the days, ridge, and how many columns are free."""

    columns: Array  # (series, days, columns + 1), the response last
    lagged: Array
    weight: Array  # (series, days) of a further step
    lagged_weight: Array
    prior: Array  # (series, columns) 1 / variance of each coefficient, 0 where nothing is known
    used: Mask  # (series, columns)
    count: Array  # (series,) measured days less columns without a prior
    log_weight: Array  # (series,) log of the product of the row weights
    forms: Array  # (series, forms, days, 2) month ends and their lag, or empty


@dataclass(slots=True)
class Solved:
    """The posterior under one phi."""

    evidence: Array  # (series,) log
    mean: Array  # (series, columns)
    covariance: Array  # (series, columns, columns) over the noise variance
    rest: Array  # (series,) residual sum of squares
    white: Whitened
    ridge: Array


def linear(state: SeriesState, *, proportional: bool = True, months: bool = False) -> Linear:
    """Columns: constant, trend, seven weekdays, month end, the steps found so far, response."""
    series, days = state.values.shape
    most = max((len(steps) for steps in state.steps), default=0)
    noise = state.noise
    shape = 1 + state.growth[:, None] * state.years if proportional else np.ones((series, days))
    weight = noise * shape / state.level
    columns = np.zeros((series, days, 11 + most))
    columns[:, :, 0] = noise / state.level
    columns[:, :, 1] = noise * state.years / state.level
    week = state.week[:, state.weekday]
    columns[:, np.arange(days), 2 + state.weekday] = noise / week
    month_end = state.in_month_end
    columns[:, :, 9] = np.where(month_end, noise / state.month[:, None], 0.0)
    used = np.ones((series, 10 + most), dtype=bool)
    used[:, 9] = state.month_form >= 0
    for k, steps in enumerate(state.steps):
        for index in range(most):
            used[k, 10 + index] = index < len(steps)
            if index < len(steps):
                columns[k, steps[index] :, 10 + index] = weight[k, steps[index] :]
    offset = (week - 1) / week + np.where(month_end, (state.month[:, None] - 1) / state.month[:, None], 0.0)
    columns[:, :, -1] = noise * (state.values / (state.level * state.factor) + offset)
    columns[~state.rows.there] = 0.0
    prior = np.zeros((series, 10 + most))
    prior[:, 2:9] = np.where(state.busy, 1 / state.spread[:, None] ** 2, 1.0)
    prior[:, 9] = 1 / PRIORS["month"].size ** 2
    free = 2 + np.array([len(steps) for steps in state.steps])
    extra = np.empty((series, 0, days, 2))
    if months:
        ends = state.month_forms[None, :, :] * np.where(state.rows.there, noise, 0.0)[:, None, :]
        lag = np.take_along_axis(ends, np.broadcast_to(state.rows.before[:, None, :], ends.shape), axis=2)
        extra = np.stack([ends, lag], axis=3)
    return Linear(
        columns=columns,
        lagged=state.rows.lag(columns),
        weight=weight,
        lagged_weight=np.take_along_axis(weight, state.rows.before, axis=1),
        prior=prior,
        used=used,
        count=state.rows.there.sum(axis=1) - free,
        log_weight=np.where(state.rows.there, np.log(noise), 0.0).sum(axis=1),
        forms=extra,
    )


def ridge_of(model: Linear, variance: Array) -> Array:
    """What the priors of the coefficients add to the diagonal; a little where there is none, 1 for unused columns."""
    return np.where(model.used, model.prior * variance[:, None] + 1e-9, 1.0)


def posterior(
    plain: Array, both: Array, response: Array, ridge: Array, count: Array
) -> tuple[Array, Array, Array]:
    """Covariance over the noise variance, mean, and residual sum of squares, that of printed digits at least."""
    covariance = np.asarray(np.linalg.inv(plain + ridge[:, :, None] * np.eye(ridge.shape[1])))
    mean = (covariance @ both[:, :, None])[:, :, 0]
    rest = response - np.sum(mean * both, axis=1)
    return covariance, np.asarray(mean), np.maximum(rest, LEAST_NOISE**2 * count)


def solve(state: SeriesState, model: Linear, phi: float) -> Solved:
    """Posterior of the coefficients under one phi."""
    white = whiten(state.rows, model.columns, model.lagged, model.weight, model.lagged_weight, phi)
    gram = np.swapaxes(white.columns, 1, 2) @ white.columns
    size = gram.shape[1] - 1
    plain, both = gram[:, :size, :size], gram[:, :size, size]
    response: Array = gram[:, size, size]
    count = np.maximum(model.count, 1)
    # The ridge is in units of the noise variance: of a first guess, a tenth of the level, and of what that leaves.
    first = ridge_of(model, 0.1**2 * response / count)  # share of the level
    _, _, rest = posterior(plain, both, response, first, count)
    ridge = ridge_of(model, rest / count)
    covariance, mean, rest = posterior(plain, both, response, ridge, count)
    evidence = (
        -0.5 * model.count * np.log(rest)
        + 0.5 * np.linalg.slogdet(covariance)[1]
        + 0.5 * np.where(model.prior > 0, np.log(ridge), 0.0).sum(axis=1)
        - white.log_scale
        + model.log_weight
    )
    return Solved(evidence, mean, covariance, rest, white, ridge)


def log_sum(values: Array, axis: int = 0) -> Array:
    """Logarithm of a sum of exponentials."""
    top = np.max(values, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.sum(np.exp(values - top), axis=axis)) + np.squeeze(top, axis))


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

    def pick(self, these: NDArray[np.intp]) -> MeasuredDays:
        """Only these series."""
        return MeasuredDays(self.there[these], self.before[these], self.gap[these])

    def put(self, these: NDArray[np.intp], other: MeasuredDays) -> None:
        """Write these series back."""
        self.there[these], self.before[these], self.gap[these] = other.there, other.before, other.gap

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
