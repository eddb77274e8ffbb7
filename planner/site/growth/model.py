"""The linear model of daily series under autoregressive noise, and its posterior.

The busy-hour level of a day is ``level(t) * season(t) * week(weekday) * month_end``, ``level`` a straight line with
steps. The product is linearized about the last estimate and fitted by generalized least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from scipy.special import logsumexp

from planner.results import Array, Flags, Integers
from planner.units import MOST_BARE_SHARE

YEAR: Final = 365.25  # days
STEPS: Final = 6  # certain level shifts of one series
LEAST_NOISE: Final = 1e-4  # share of the level: what the printed digits leave of a series without noise
LEAST_FACTOR: Final = 0.02
PHIS: Final = np.array([-0.3, -0.1, 0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.84, 0.89, 0.93, 0.96, 0.98])
BUSY: Final = 0.85  # of the busiest weekday; those from here on are one kind
TINY: Final = 1e-300  # in place of no load, which nothing can be a share of
EVERY: Final = 5  # days, on any weekday in turn, from one possible bend to the next
FEWEST_SEASONAL: Final = 365  # days from the first measured one to the last from which on a season is sought
TWO_YEARS: Final = 730  # days that tell a season from a trend
HARMONICS: Final = (1, 2, 4, 8, 16)  # of a year that a season may have
LEAST_SEASON: Final = 0.05
DRIFT: Final = 0.5  # a year, of the factor of a weekday less busy than the busiest: standard deviation
COMPOUNDS: Final = 0.5  # odds of growth by percent against a straight line
FASTEST: Final = np.log1p(MOST_BARE_SHARE)  # a year, of growth that compounds
MONTH: Final = YEAR / 12  # days over which a level that wanders goes evenly from one knot to the next
MOST_KNOTS: Final = 60
WANDERINGS: Final = (0.04, 0.08, 0.16, 0.32)  # of such a level in a year: standard deviations


class ChangePrior(NamedTuple):
    """What is believed of a kind of change: odds of a candidate, and the standard deviation of its size in levels."""

    odds: float
    size: float


# Chosen with two seeds of simulated series, judged by two others: python -m tests.site.growth_backtest
PRIORS: Final = {
    "step": ChangePrior(1 / 600, 0.3),  # a level shift
    "pulse": ChangePrior(1 / 300, 0.5),  # a day unlike the others: a holiday, an outage
    "spell": ChangePrior(1 / 5000, 0.5),  # such days in a row, of each length
    "bend": ChangePrior(EVERY / 10000, 0.3),  # growth that stops or changes, by levels a year
    "month": ChangePrior(1 / 20, 0.3),  # each form of a month end, once for a series
    # Each number of harmonics; the size of the first, the others' in inverse order.
    "season": ChangePrior(1 / 20, 0.2),
}


@dataclass(slots=True)
class SeriesState:
    """What is known of the series of a chunk so far; lengths of series and days as in `values`."""

    values: Array  # (series, days), about 1
    there: Flags  # (series, days) whether it was measured and is like the others
    years: Array  # (series, days) since the first measured day
    weekday: Integers  # (days,)
    month_forms: Array  # (forms, days) 1 on the days of a month end
    level: Array  # (series, days)
    week: Array  # (series, 7)
    growth: Array  # (series,) a year, share of the first day
    compounds: Flags  # (series,) whether it is by percent: the line is an exponential one
    jump: Array  # (series, days) sum of the steps so far, share of the first day
    month: Array  # (series,) factor
    month_form: Integers  # (series,) -1: none
    busy: Flags  # (series, 7) weekdays that are about as busy as the busiest
    spread: Array  # (series,) standard deviation among these
    form: Integers  # (series,) of the noise
    whole_year: Flags  # (series,) whether one was measured, so that a season is sought
    harmonics: Integers  # (series,) of the yearly season; 0: none
    season: Array  # (series, days) factor
    last: Integers  # (series,) last measured day
    wandering: Array  # (series,) standard deviation of a level that wanders, in a year, share of the first day; 0: none
    chance: Array  # (series, sizes) probability of each of `WANDERINGS`, where it wanders
    steps: Integers  # (series, STEPS) first days of the steps so far, in order; the number of days where none
    pulses: Flags  # (series, days) unlike the others

    def pick(self, these: Integers) -> SeriesState:
        """Only these series."""
        return replace(self, **{name: getattr(self, name)[these] for name in BY_SERIES})

    def put(self, these: Integers, other: SeriesState) -> None:
        """Write these series back."""
        for name in BY_SERIES:
            getattr(self, name)[these] = getattr(other, name)

    @property
    def begins(self) -> Integers:
        """The columns of `steps` that the series with the most needs."""
        return self.steps[:, : (self.steps < self.values.shape[1]).sum(axis=1).max(initial=0)]

    @property
    def waves(self) -> int:
        """Columns of the season, the last ones of the model."""
        return 2 * int(self.harmonics.max(initial=0))

    @property
    def line(self) -> Array:
        """(series, days) without steps, as a share of the first day."""
        grown = self.growth[:, None] * self.years
        return np.where(self.compounds[:, None], np.exp(grown), 1 + grown)

    @property
    def ramps(self) -> Array:
        """(series, days, knots) as `ramps_of`; 0 where the level does not wander, and in months not all measured."""
        first = np.argmax(self.years >= 0, axis=1)
        months = np.where(self.wandering > 0, (self.last - first) // MONTH, 0).astype(np.intp)
        knots = np.arange(min(months.max(initial=0), MOST_KNOTS))
        ramps = ramps_of(np.arange(self.years.shape[1]) - self.last[:, None], knots.size)
        return ramps * (knots < months[:, None])[:, None]

    @property
    def factor(self) -> Array:
        """Weekly pattern times month end on each day."""
        return self.week[:, self.weekday] * np.where(self.in_month_end, self.month[:, None], 1.0)

    @property
    def in_month_end(self) -> Flags:
        """(series, days)."""
        chosen = self.month_forms[np.maximum(self.month_form, 0)] > 0
        return chosen & (self.month_form >= 0)[:, None]

    @property
    def noise(self) -> Array:
        """What the noise of a day is not in proportion to: the rows are multiplied by it."""
        form, factor = self.form[:, None], self.factor
        return np.where(form == 0, 1.0, np.where(form == 1, factor, factor * self.level * self.season))


# What a state holds of each series, a row of an array.
BY_SERIES: Final = [each.name for each in fields(SeriesState) if each.name not in {"weekday", "month_forms"}]


@dataclass(slots=True)
class Linear:
    """The linear model of a state: columns over the days, ridge, and how many columns are free."""

    rows: MeasuredDays
    columns: Array  # (series, days, columns + 1), the response last
    lagged: Array
    weight: Array  # (series, days) of a further step
    lagged_weight: Array
    slope: Array  # (series, days) of a further slope, over the years since it began
    lagged_slope: Array
    years: Array  # (series, days) since the first measured day
    prior: Array  # (series, columns) 1 / variance of each coefficient, 0 where nothing is known
    used: Flags  # (series, columns)
    count: Array  # (series,) measured days less columns without a prior
    log_weight: Array  # (series,) log of the product of the row weights, and of the odds of the kind of line
    knots: slice  # columns of a level that wanders


@dataclass(frozen=True)
class Solved:
    """The posterior under one phi."""

    evidence: Array  # (series,) log
    mean: Array  # (series, columns)
    precision: Array  # (series, columns, columns) over that of the noise
    rest: Array  # (series,) residual sum of squares
    white: Whitened
    ridge: Array

    @cached_property
    def covariance(self) -> Array:
        """(series, columns, columns) over the noise variance; few of many solutions are asked for it."""
        return np.asarray(np.linalg.inv(self.precision))


def waves_of(years: Array, waves: int) -> Array:
    """Cosine and sine of each harmonic of the year, so many in all, so many years after a day; (..., waves)."""
    pairs = (waves + 1) // 2
    angle = 2 * np.pi * years[..., None] * np.arange(1, 1 + pairs)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(*years.shape, 2 * pairs)[..., :waves]


def ramps_of(day: Integers, knots: int) -> Array:
    """How far each of so many months has gone, the last one first, so many days after the last day; (..., knots)."""
    return np.clip(day[..., None] / MONTH + 1 + np.arange(knots), 0.0, 1.0)


def linear(state: SeriesState, *, proportional: bool = True) -> Linear:
    """Columns: constant, trend, weekdays, month end, steps found so far, drifts of weekdays, harmonics, response.

    A weekday that is less busy may grow otherwise than the busiest: its factor is that of the last day, and drifts.
    Columns are derivatives of the level, the sum of coefficients times these (Euler). The line is a + bt, or
    a exp(bt / a) where it compounds; a step c adds c, or multiplies by 1 + c / a.
    """
    series, days = state.values.shape
    quiet = np.cumsum(~state.busy, axis=1) * ~state.busy  # number of each less busy weekday, from 1
    drifts, wave = np.arange(1, 1 + quiet.max(initial=0)), np.arange(state.waves) // 2
    noise, rows, begins, ramps = state.noise, MeasuredDays.of(state.there), state.begins, state.ramps
    line = state.line
    weight = noise * np.where(proportional, line, 1.0) / state.level
    steep = np.where(state.compounds[:, None], line, 1.0) * (1 + proportional * state.jump)
    slope = noise * steep / state.level
    week, month_end = state.week[:, state.weekday], state.in_month_end
    since = state.years - np.where(rows.there, state.years, 0.0).max(axis=1, keepdims=True)
    seasonal, drifting = wave < state.harmonics[:, None], quiet[:, state.weekday, None] == drifts
    stepped = np.arange(days)[:, None] >= begins[:, None]
    constant = noise * line / state.level - slope * state.growth[:, None] * state.years
    season = (noise / state.season)[:, :, None] * waves_of(state.years, state.waves) * seasonal[:, None]
    blocks = (  # columns of a kind, which series use them, prior
        (constant[:, :, None], True, 0.0),
        ((slope * state.years)[:, :, None], True, 0.0),
        (np.where(state.weekday[:, None] == np.arange(7), (noise / week)[:, :, None], 0.0), True,
         np.where(state.busy, 1 / state.spread[:, None] ** 2, 1.0)),
        (np.where(month_end, noise / state.month[:, None], 0.0)[:, :, None], state.month_form[:, None] >= 0,
         1 / PRIORS["month"].size ** 2),
        (np.where(stepped, weight[:, :, None], 0.0), begins < days, 1 / PRIORS["step"].size ** 2),
        (np.where(drifting, (noise * since)[:, :, None], 0.0), quiet.max(axis=1)[:, None] >= drifts, 1 / DRIFT**2),
        (weight[:, :, None] * ramps, ramps.any(axis=1),
         12 / np.maximum(state.wandering[:, None], WANDERINGS[0]) ** 2),
        (season, seasonal, ((1 + wave) / PRIORS["season"].size) ** 2),
    )  # fmt: skip
    offset = (week - 1) / week + np.where(month_end, (state.month[:, None] - 1) / state.month[:, None], 0.0)
    offset += (state.season - 1) / state.season
    response = noise * (state.values / (state.level * state.season * state.factor) + offset)
    columns = np.concatenate([*(block for block, *_ in blocks), response[:, :, None]], axis=2)
    columns[~rows.there] = 0.0
    used, prior = (
        np.concatenate([np.broadcast_to(of[k], (series, of[0].shape[2])) for of in blocks], axis=1)
        for k in (1, 2)
    )
    knots = 10 + begins.shape[1] + drifts.size
    # Either kind of line is as likely a priori at each level and slope of the middle day.
    long = np.take_along_axis(state.years, state.last[:, None], axis=1)[:, 0]
    even = np.where(state.compounds, np.log(COMPOUNDS) + state.growth * long, 0.0)
    return Linear(
        rows=rows,
        columns=columns,
        lagged=columns[np.arange(series)[:, None], rows.before],
        weight=weight,
        lagged_weight=np.take_along_axis(weight, rows.before, axis=1),
        slope=slope,
        lagged_slope=np.take_along_axis(slope, rows.before, axis=1),
        years=state.years,
        prior=prior,
        used=used,
        count=rows.there.sum(axis=1) - 2,
        log_weight=np.where(rows.there, np.log(noise), 0.0).sum(axis=1) + even,
        knots=slice(knots, knots + ramps.shape[2]),
    )


def ridge_of(model: Linear, variance: Array) -> Array:
    """What the priors of the coefficients add to the diagonal; a little where there is none, 1 for unused columns."""
    return np.where(model.used, model.prior * variance[:, None] + 1e-9, 1.0)


def posterior(
    plain: Array, both: Array, response: Array, ridge: Array, count: Array
) -> tuple[Array, Array, Array]:
    """Precision over that of the noise, mean, and residual sum of squares, that of printed digits at least."""
    precision = plain + ridge[:, :, None] * np.eye(ridge.shape[1])
    mean = np.linalg.solve(precision, both[:, :, None])[:, :, 0]
    rest = response - np.sum(mean * both, axis=1)
    return precision, np.asarray(mean), np.maximum(rest, LEAST_NOISE**2 * count)


def solve(model: Linear, phi: float) -> Solved:
    """Posterior of the coefficients under one phi."""
    white = whiten(model, phi)
    return settle(model, white, white.products)


def settle(model: Linear, white: Whitened, gram: Array, fewer: int = 0) -> Solved:
    """The same from the `products` of the whitened columns, without the last `fewer` of them."""
    size = gram.shape[1] - 1 - fewer
    plain, both = gram[:, :size, :size], gram[:, :size, -1]
    response: Array = gram[:, -1, -1]
    prior = model.prior[:, :size]
    count = np.maximum(model.count, 1)
    # The ridge is in units of the noise variance: of a first guess, a tenth of the level, and of what that leaves.
    _, _, rest = posterior(plain, both, response, ridge_of(model, 0.1**2 * response / count)[:, :size], count)
    ridge = ridge_of(model, rest / count)[:, :size]
    precision, mean, rest = posterior(plain, both, response, ridge, count)
    evidence = (
        -0.5 * model.count * np.log(rest)
        - 0.5 * np.linalg.slogdet(precision)[1]
        + 0.5 * np.where(prior > 0, np.log(ridge), 0.0).sum(axis=1)
        - white.log_scale
        + model.log_weight
    )
    return Solved(evidence, mean, precision, rest, white, ridge)


def log_sum(values: Array, axis: int = 0) -> Array:
    """Logarithm of a sum of exponentials, most of which may be next to nothing."""
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(logsumexp(values, axis=axis))


@dataclass(frozen=True, slots=True)
class MeasuredDays:
    """Measured days of each series: where they are, and how far back the one before lies."""

    there: Flags  # (series, days)
    before: Integers  # (series, days) day of the measured one before; itself where none
    gap: Integers  # (series, days) days since; 0 where none

    @staticmethod
    def of(there: Flags) -> MeasuredDays:
        """Find the measured day before each day."""
        series, days = there.shape
        day = np.arange(days)
        last = np.maximum.accumulate(np.where(there, day, -1), axis=1)
        before = np.concatenate([np.full((series, 1), -1), last[:, :-1]], axis=1)
        gap = np.where(before < 0, 0, day - before)
        return MeasuredDays(there, np.where(before < 0, day, before), gap)


@dataclass(slots=True)
class Whitened:
    """What one phi makes of the rows: independent ones of equal variance."""

    columns: Array  # (series, days, columns + 1), the response last
    step_start: Array  # (series, days) a step column on its first day
    step_after: Array  # and on the days after it
    slope_after: Array  # a further slope of the days after its first, over the years since it began
    pulse_after: Array  # a column of one day on the measured day after it
    log_scale: Array  # (series,) log of the determinant of the scaling

    @property
    def products(self) -> Array:
        """Inner products of the columns, the response among them; (series, columns + 1, columns + 1)."""
        return np.asarray(np.swapaxes(self.columns, 1, 2) @ self.columns)


def correlation(rows: MeasuredDays, phi: float) -> Array:
    """Of the noise of each day with that of the measured day before; 0 where there is none."""
    with np.errstate(under="ignore"):
        powers = phi ** np.arange(1.0 + rows.gap.max(initial=0))
    powers[0] = 0.0
    return np.asarray(powers[rows.gap])


def whiten(model: Linear, phi: float) -> Whitened:
    """Take from each measured day what the one before predicts, and scale the rest to unit variance."""
    there, rho = model.rows.there, correlation(model.rows, phi)
    scale = np.sqrt(1 - rho**2)
    inverse = there / scale
    columns = rho[:, :, None] * model.lagged
    np.subtract(model.columns, columns, out=columns)
    columns *= inverse[:, :, None]
    return Whitened(
        columns=columns,
        step_start=model.weight * inverse,
        step_after=(model.weight - rho * model.lagged_weight) * inverse,
        slope_after=(model.slope - rho * model.lagged_slope) * inverse,
        pulse_after=-rho * model.lagged_weight * inverse,
        log_scale=np.log(scale, where=there, out=np.zeros_like(scale)).sum(axis=1),
    )


def refine(state: SeriesState, solved: list[Solved]) -> None:
    """Take over the coefficients of the likeliest phi."""
    best = np.argmax([each.evidence for each in solved], axis=0)
    mean = np.array([each.mean for each in solved])[best, np.arange(best.size)]
    first = np.maximum(mean[:, :1], 0.05)
    state.growth = np.clip(mean[:, 1] / first[:, 0], -2, np.where(state.compounds, FASTEST, 10))
    state.jump = np.zeros_like(state.level)
    for index, begin in enumerate(state.begins.T, start=10):
        after = np.arange(state.jump.shape[1]) >= begin[:, None]
        state.jump += np.where(after, mean[:, index, None] / first, 0.0)
    ramps, end = state.ramps, mean.shape[1] - state.waves
    state.jump += (ramps @ mean[:, end - ramps.shape[2] : end, None])[:, :, 0] / first
    straight = mean[:, :1] + mean[:, 1:2] * state.years
    line = np.where(state.compounds[:, None], first * state.line, straight)
    state.level = np.maximum(line * (1 + state.jump), 0.1)
    state.week = np.maximum(1 + mean[:, 2:9], LEAST_FACTOR)
    state.month = np.where(state.month_form >= 0, np.maximum(1 + mean[:, 9], LEAST_FACTOR), 1.0)
    if waves := state.waves:
        season = 1 + (waves_of(state.years, waves) @ mean[:, -waves:, None])[..., 0]
        state.season = np.maximum(season, LEAST_SEASON)


def first_week(values: Array, weekday: Integers, fewest: int = 4) -> Array:
    """Median of each weekday over its week, of `fewest` measured days; 1 for the busiest, and all of an idle series."""
    series = len(values)
    padded = np.pad(values, ((0, 0), (3, 3)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 7, axis=1)
    measured = np.isfinite(windows).sum(axis=2)
    around = np.where(measured >= fewest, np.nansum(windows, axis=2) / np.maximum(measured, 1), np.nan)
    ratio = np.divide(values, around, out=np.full_like(values, np.nan), where=around > 0)
    week = np.full((series, 7), np.nan)
    for day in range(7):
        of_day = ratio[:, weekday == day]
        some = np.isfinite(of_day).any(axis=1)
        week[some, day] = np.nanmedian(of_day[some], axis=1)
    top = np.nanmax(week, axis=1, keepdims=True, initial=TINY)
    factor = np.clip(np.where(np.isnan(week), 1.0, week / top), LEAST_FACTOR, 1.0)
    return np.where((factor >= BUSY).any(axis=1, keepdims=True), factor, 1.0)


def start(values: Array, weekday: Integers, month_forms: Array) -> SeriesState:
    """A level constant over time, and the weekdays' medians."""
    there = np.isfinite(values)
    first, last = np.argmax(there, axis=1), there.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)
    years = (np.arange(values.shape[1]) - first[:, None]) / YEAR
    week = first_week(values, weekday)
    busy = week >= BUSY
    week = week / np.sum(np.where(busy, week, 0), axis=1, keepdims=True) * busy.sum(axis=1, keepdims=True)
    series = len(values)
    return SeriesState(
        values=np.where(there, values, 0.0), there=there, years=years, weekday=weekday,
        month_forms=month_forms,
        level=np.ones_like(values), week=np.maximum(week, LEAST_FACTOR), growth=np.zeros(series),
        compounds=np.zeros(series, dtype=bool),
        jump=np.zeros_like(values), month=np.ones(series),
        month_form=np.full(series, -1), busy=busy, spread=np.full(series, 0.1), form=np.zeros(series, dtype=np.intp),
        whole_year=last + 1 - first >= FEWEST_SEASONAL,
        harmonics=np.zeros(series, dtype=np.intp), season=np.ones_like(values),
        last=last, wandering=np.zeros(series),
        chance=np.zeros((series, len(WANDERINGS))),
        steps=np.full((series, STEPS), values.shape[1]), pulses=np.zeros_like(there),
    )  # fmt: skip
