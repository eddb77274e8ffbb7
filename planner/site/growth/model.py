"""The linear model of daily series under autoregressive noise: its posterior, and the structure found step by step.

The busy-hour level of a day is ``level(t) * season(t) * week(weekday) * month_end``, ``level`` a straight line with
steps. The product is linearized about the last estimate and fitted by generalized least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from scipy.special import logsumexp

from planner.results import Array, ArrayFields, Flags, Integers

YEAR: Final = 365.25  # days
STEPS: Final = 6  # certain level shifts of one series
LEAST_NOISE: Final = 1e-4  # share of the level: what the printed digits leave of a series without noise
LEAST_FACTOR: Final = 0.02
PHIS: Final = np.array([-0.3, -0.1, 0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.84, 0.89, 0.93, 0.96, 0.98])
CERTAIN: Final = np.log(99.0)  # log odds from which a shift is named
LIKELY: Final = np.log(20.0)  # and from which an unlike day or a month end is
BUSY: Final = 0.85  # of the busiest weekday; those from here on are one kind
TINY: Final = 1e-300  # in place of no load, which nothing can be a share of
COARSE: Final = slice(2, None, 3)  # of `PHIS`, where the likeliest one is enough
SPREADS: Final = (0.002, 0.01, 0.03, 0.1)  # of the factors of busy weekdays: standard deviations
SPELLS: Final = (2, 3, 4, 6, 8, 11, 15)  # days in a row that may be unlike the others: bridge days, year ends
EVERY: Final = 5  # days, on any weekday in turn, from one possible bend to the next
FEWEST_SEASONAL: Final = 365  # days from the first measured one to the last from which on a season is sought
TWO_YEARS: Final = 730  # days that tell a season from a trend
HARMONICS: Final = (1, 2, 4, 8, 16)  # of a year that a season may have
LEAST_SEASON: Final = 0.05
ROUNDS: Final = 14  # of looking for changes; twice as many where a season makes them begin anew
DRIFT: Final = 0.5  # a year, of the factor of a weekday less busy than the busiest: standard deviation
MONTH: Final = YEAR / 12  # days over which a level that wanders goes evenly from one knot to the next
MOST_KNOTS: Final = 60
WANDERINGS: Final = (0.04, 0.08, 0.16, 0.32)  # of such a level in a year: standard deviations
WANDERS: Final = 1 / 100  # odds of one; with 1/20 fewer than nine of ten trends that stopped are named


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
    "season": ChangePrior(
        1 / 20, 0.2
    ),  # each number of harmonics; the size of the first, the others' in inverse order
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
    steps: list[list[int]] = field(default_factory=list)
    pulses: list[list[int]] = field(default_factory=list)

    def pick(self, these: Integers) -> SeriesState:
        """Only these series."""
        return replace(
            self, steps=[self.steps[k] for k in these], pulses=[self.pulses[k] for k in these],
            **{name: getattr(self, name)[these] for name in BY_SERIES},
        )  # fmt: skip

    def put(self, these: Integers, other: SeriesState) -> None:
        """Write these series back."""
        for name in BY_SERIES:
            getattr(self, name)[these] = getattr(other, name)
        for index, k in enumerate(these):
            self.steps[k], self.pulses[k] = other.steps[index], other.pulses[index]

    @property
    def waves(self) -> int:
        """Columns of the season, the last ones of the model."""
        return 2 * int(self.harmonics.max(initial=0))

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


# What a state holds of each series in an array of its own.
BY_SERIES: Final = (
    "values", "there", "years", "level", "week", "growth", "jump", "month", "month_form", "busy", "spread",
    "form", "whole_year", "harmonics", "season", "last", "wandering", "chance",
)  # fmt: skip


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
    log_weight: Array  # (series,) log of the product of the row weights
    knots: slice  # columns of a level that wanders


@dataclass(slots=True)
class Solved:
    """The posterior under one phi."""

    evidence: Array  # (series,) log
    mean: Array  # (series, columns)
    covariance: Array  # (series, columns, columns) over the noise variance
    rest: Array  # (series,) residual sum of squares
    white: Whitened
    ridge: Array


def waves_of(years: Array, waves: int) -> Array:
    """Cosine and sine of each harmonic of the year, so many in all, so many years after a day; (..., waves)."""
    angle = 2 * np.pi * years[..., None] * (1 + np.arange(waves) // 2)
    return np.asarray(np.where(np.arange(waves) % 2, np.sin(angle), np.cos(angle)))


def ramps_of(day: Integers, knots: int) -> Array:
    """How far each of so many months has gone, the last one first, so many days after the last day; (..., knots)."""
    return np.clip(day[..., None] / MONTH + 1 + np.arange(knots), 0.0, 1.0)


def linear(state: SeriesState, *, proportional: bool = True) -> Linear:
    """Columns: constant, trend, weekdays, month end, steps found so far, drifts of weekdays, harmonics, response.

    A weekday that is less busy may grow otherwise than the busiest: its factor is that of the last day, and drifts.
    Columns are derivatives of the level, the sum of coefficients times these (Euler). A step c of a line a + bt adds c,
    or multiplies by 1 + c / a.
    """
    series, days = state.values.shape
    most = max((len(steps) for steps in state.steps), default=0)
    quiet = np.cumsum(~state.busy, axis=1) * ~state.busy  # number of each less busy weekday, from 1
    drifts, waves, ramps = int(quiet.max(initial=0)), state.waves, state.ramps
    knots = 10 + most + drifts
    known = knots + ramps.shape[2]
    noise, rows = state.noise, MeasuredDays.of(state.there)
    grown, jump = proportional * state.growth[:, None] * state.years, proportional * state.jump
    weight, slope = noise * (1 + grown) / state.level, noise * (1 + jump) / state.level
    columns = np.zeros((series, days, known + waves + 1))
    columns[:, :, 0] = noise * (1 - grown * jump) / state.level
    columns[:, :, 1] = slope * state.years
    week = state.week[:, state.weekday]
    columns[:, np.arange(days), 2 + state.weekday] = noise / week
    month_end = state.in_month_end
    columns[:, :, 9] = np.where(month_end, noise / state.month[:, None], 0.0)
    used = np.ones((series, known + waves), dtype=bool)
    used[:, known:] = np.arange(waves) // 2 < state.harmonics[:, None]
    columns[:, :, known:-1] = (
        (noise / state.season)[:, :, None] * waves_of(state.years, waves) * used[:, None, known:]
    )
    used[:, 9] = state.month_form >= 0
    since = state.years - np.where(rows.there, state.years, 0.0).max(axis=1, keepdims=True)
    for number in range(1, drifts + 1):
        columns[:, :, 9 + most + number] = np.where(quiet[:, state.weekday] == number, noise * since, 0.0)
        used[:, 9 + most + number] = quiet.max(axis=1) >= number
    for k, steps in enumerate(state.steps):
        used[k, 10 + len(steps) : 10 + most] = False
        for index, day in enumerate(steps):
            columns[k, day:, 10 + index] = weight[k, day:]
    offset = (week - 1) / week + np.where(month_end, (state.month[:, None] - 1) / state.month[:, None], 0.0)
    offset += (state.season - 1) / state.season
    columns[:, :, -1] = noise * (state.values / (state.level * state.season * state.factor) + offset)
    columns[:, :, knots:known] = weight[:, :, None] * ramps
    columns[~rows.there] = 0.0
    used[:, knots:known] = ramps.any(axis=1)
    prior = np.zeros((series, known + waves))
    prior[:, 10 : 10 + most] = 1 / PRIORS["step"].size ** 2
    prior[:, knots:known] = 12 / np.maximum(state.wandering[:, None], WANDERINGS[0]) ** 2
    prior[:, 2:9] = np.where(state.busy, 1 / state.spread[:, None] ** 2, 1.0)
    prior[:, 9] = 1 / PRIORS["month"].size ** 2
    prior[:, 10 + most : knots] = 1 / DRIFT**2
    prior[:, known:] = ((1 + np.arange(waves) // 2) / PRIORS["season"].size) ** 2
    return Linear(
        rows=rows,
        columns=columns,
        lagged=np.take_along_axis(columns, rows.before[:, :, None], axis=1),
        weight=weight,
        lagged_weight=np.take_along_axis(weight, rows.before, axis=1),
        slope=slope,
        lagged_slope=np.take_along_axis(slope, rows.before, axis=1),
        years=state.years,
        prior=prior,
        used=used,
        count=rows.there.sum(axis=1) - 2,
        log_weight=np.where(rows.there, np.log(noise), 0.0).sum(axis=1),
        knots=slice(knots, known),
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


def solve(model: Linear, phi: float) -> Solved:
    """Posterior of the coefficients under one phi."""
    white = whiten(model, phi)
    return settle(model, white, np.swapaxes(white.columns, 1, 2) @ white.columns)


def settle(model: Linear, white: Whitened, gram: Array) -> Solved:
    """The same from the inner products of the whitened columns."""
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
    return Whitened(
        columns=(model.columns - rho[:, :, None] * model.lagged) * inverse[:, :, None],
        step_start=model.weight * inverse,
        step_after=(model.weight - rho * model.lagged_weight) * inverse,
        slope_after=(model.slope - rho * model.lagged_slope) * inverse,
        pulse_after=-rho * model.lagged_weight * inverse,
        log_scale=np.log(scale, where=there, out=np.zeros_like(scale)).sum(axis=1),
    )


def refine(state: SeriesState, solved: list[Solved]) -> None:
    """Take over the coefficients of the likeliest phi."""
    evidence = np.array([each.evidence for each in solved])
    best = np.argmax(evidence, axis=0)
    mean = np.array([each.mean for each in solved])[best, np.arange(best.size)]
    first = np.maximum(mean[:, :1], 0.05)
    state.growth = np.clip(mean[:, 1] / first[:, 0], -2, 10)
    state.jump = np.zeros_like(state.level)
    for k, steps in enumerate(state.steps):
        for index, day in enumerate(steps):
            state.jump[k, day:] += mean[k, 10 + index] / first[k]
    ramps, end = state.ramps, mean.shape[1] - state.waves
    state.jump += (ramps @ mean[:, end - ramps.shape[2] : end, None])[:, :, 0] / first
    state.level = np.maximum((mean[:, :1] + mean[:, 1:2] * state.years) * (1 + state.jump), 0.1)
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
    first = np.argmax(there, axis=1)
    years = (np.arange(values.shape[1]) - first[:, None]) / YEAR
    week = first_week(values, weekday)
    busy = week >= BUSY
    week = week / np.sum(np.where(busy, week, 0), axis=1, keepdims=True) * busy.sum(axis=1, keepdims=True)
    series = len(values)
    return SeriesState(
        values=np.where(there, values, 0.0), there=there, years=years, weekday=weekday,
        month_forms=month_forms,
        level=np.ones_like(values), week=np.maximum(week, LEAST_FACTOR), growth=np.zeros(series),
        jump=np.zeros_like(values), month=np.ones(series),
        month_form=np.full(series, -1), busy=busy, spread=np.full(series, 0.1), form=np.zeros(series, dtype=np.intp),
        whole_year=there.shape[1] - np.argmax(there[:, ::-1], axis=1) - first >= FEWEST_SEASONAL,
        harmonics=np.zeros(series, dtype=np.intp), season=np.ones_like(values),
        last=there.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1), wandering=np.zeros(series),
        chance=np.zeros((series, len(WANDERINGS))),
        steps=[[] for _ in range(series)], pulses=[[] for _ in range(series)],
    )  # fmt: skip


def solved_coarsely(state: SeriesState) -> list[Solved]:
    """The posterior under some of the correlations."""
    model = linear(state)
    return [solve(model, phi) for phi in PHIS[COARSE]]


def choose(state: SeriesState, name: str, values: Sequence[float]) -> None:
    """Take for one of its arrays the value of each series that the measurements are likeliest under."""
    evidence = []
    for value in values:
        setattr(state, name, np.full(len(state.values), value))
        evidence.append(log_sum(np.array([each.evidence for each in solved_coarsely(state)])))
    setattr(state, name, np.array(values)[np.argmax(np.array(evidence), axis=0)])


def search(state: SeriesState) -> None:
    """Add steps, month ends and unlike days one by one until none is certain."""
    active = np.arange(len(state.values))
    for number in range(2 * ROUNDS):
        part = state.pick(active)
        for _ in range(1 if number else 2):
            refine(part, solved_coarsely(part))
        choose(part, "form", range(3))  # of noise: in proportion to load, to the level only, of one size
        changed = extend(part)
        state.put(active, part)
        active = active[changed & (state.whole_year[active] | (number + 1 < ROUNDS))]
        if active.size == 0:
            break
    choose(state, "spread", SPREADS)
    for _ in range(3):  # linearizations after the last step was found
        refine(state, solved_coarsely(state))


def extend(state: SeriesState) -> Flags:
    """Take over the likeliest further column of each series, where it is certain; returns where."""
    odds = further(state)
    changed = np.zeros(len(state.values), dtype=bool)
    for k in range(len(changed)):
        chance = {name: float(each[k].max()) for name, each in odds.items()}
        chance["step"], bend = (float(log_sum(odds[kind][k])) for kind in ("step", "bend"))
        del chance["bend"]  # draws average over one
        if bend > chance["step"]:
            del chance["step"]
        # In a year, a season and a bend look alike: at the same odds of both the season must be the likelier by far.
        odds_of_bend = PRIORS["bend"].odds * odds["bend"].shape[1]
        if bend + LIKELY + np.log(PRIORS["season"].odds / odds_of_bend) > chance["season"]:
            del chance["season"]
        kind = max(chance, key=lambda name: chance[name])
        if chance[kind] < (CERTAIN if kind == "step" else LIKELY):
            continue
        unlike = 0.1 * (state.there[k].sum() + len(state.pulses[k])) - len(state.pulses[k])
        place = np.unravel_index(int(np.argmax(odds[kind][k])), odds[kind][k].shape)
        begin = int(place[-1])
        length = SPELLS[int(place[0])] if kind == "spell" else 1
        if kind == "month":
            state.month_form[k] = begin
        elif kind == "season":  # what was found without it may have been part of it
            state.harmonics[k], state.jump[k] = HARMONICS[begin], 0.0
            state.there[k, state.pulses[k]] = True
            state.steps[k], state.pulses[k] = [], []
        elif kind == "step" and len(state.steps[k]) < STEPS:
            state.steps[k] = sorted([*state.steps[k], begin])
        elif kind in {"pulse", "spell"} and length <= unlike:
            days = [day for day in range(begin, begin + length) if state.there[k, day]]
            state.pulses[k] = sorted([*state.pulses[k], *days])
            state.there[k, days] = False
        else:
            continue
        changed[k] = True
    return changed


def named_odds(state: SeriesState) -> Array:
    """Log odds of what was found, but for unlike days."""
    found = np.array([len(steps) * np.log(PRIORS["step"].odds) for steps in state.steps])
    found += np.where(state.month_form >= 0, np.log(PRIORS["month"].odds), 0.0)
    return np.asarray(found + np.where(state.harmonics > 0, np.log(PRIORS["season"].odds), 0.0))


def evidence_of(state: SeriesState) -> Array:
    """Log evidence of each series under what was found, with the odds of that."""
    return np.asarray(
        log_sum(np.array([each.evidence for each in solved_coarsely(state)])) + named_odds(state)
    )


def further_changes(state: SeriesState) -> Array:
    """By how much one further change in place of none, averaged over all of them, raises the log evidence."""
    odds = further(state)
    none = np.zeros((len(state.values), 1))
    return log_sum(np.concatenate([odds["step"], odds["bend"], none], axis=1), axis=1)


def wandered(state: SeriesState) -> Array:
    """Log evidence without further changes, of a level that wanders by each of `WANDERINGS`; (numbers, series)."""
    model, found = linear(replace(state, wandering=np.full(len(state.values), WANDERINGS[0]))), []
    prior = model.prior.copy()
    for phi in PHIS[COARSE]:
        white = whiten(model, phi)
        gram = np.swapaxes(white.columns, 1, 2) @ white.columns
        for size in WANDERINGS:
            model.prior[:, model.knots] = prior[:, model.knots] * (WANDERINGS[0] / size) ** 2
            found.append(settle(model, white, gram).evidence)
    return np.asarray(log_sum(np.array(found).reshape(-1, len(WANDERINGS), len(prior))) + named_odds(state))


def wanderers(state: SeriesState, least: float = -3.0) -> tuple[Integers, SeriesState, Array]:
    """Series that may wander, as lines that do, with the changes found or without; and their log odds against those.

    Changes and a level that wanders explain the same days, so that whole descriptions are compared, not one after the
    other. Odds below `least` are left out.
    """
    rival = state.pick(np.arange(len(state.values)))
    rival.steps, rival.jump = [[] for _ in rival.steps], np.zeros_like(rival.jump)
    for _ in range(2):
        refine(rival, solved_coarsely(rival))
    found, bare = wandered(state), wandered(rival)
    changed = np.flatnonzero(log_sum(found) > log_sum(bare))
    rival.put(changed, state.pick(changed))
    bare[:, changed] = found[:, changed]
    odds = np.log(WANDERS / len(WANDERINGS))
    these = np.flatnonzero(log_sum(bare) + odds - evidence_of(state) > least)
    rival, found = rival.pick(these), bare[:, these]
    if these.size == 0:
        return these, rival, found[0]
    for _ in range(2):
        rival.wandering = np.array(WANDERINGS)[np.argmax(found, axis=0)]
        for _ in range(2):
            refine(rival, solved_coarsely(rival))
        found = wandered(rival)
    rival.chance = np.exp(found - log_sum(found)).T
    steady = state.pick(these)
    for_it, against = log_sum(found) + further_changes(rival), evidence_of(steady) + further_changes(steady)
    return these, rival, odds + for_it - against


def further(state: SeriesState) -> dict[str, Array]:
    """Log odds of each kind of further column, at each day or of each form."""
    model = linear(state)
    ends = state.month_forms[None, :, :] * np.where(model.rows.there, state.noise, 0.0)[:, None, :]
    lagged = np.take_along_axis(ends, np.broadcast_to(model.rows.before[:, None, :], ends.shape), axis=2)
    found: dict[str, list[Array]] = {"base": [], "step": [], "bend": [], "pulse": [], "month": []}
    spells, coarse = [], []
    for index, phi in enumerate(PHIS):
        solved = solve(model, phi)
        own = solved.evidence[:, None]
        found["base"].append(own)
        steps = step_products(solved.white)
        found["step"].append(own + step_candidates(model, solved, steps).gain)
        found["bend"].append(own + bend_candidates(model, solved).gain)
        found["pulse"].append(own + pulse_gains(model, solved))
        rho = correlation(model.rows, phi)
        white = (ends - rho[:, None, :] * lagged) * (model.rows.there / np.sqrt(1 - rho**2))[:, None, :]
        found["month"].append(own + month_gains(state, model, solved, white))
        if index in range(*COARSE.indices(len(PHIS))):
            coarse.append(own)
            spells.append(own[:, :, None] + spell_gains(model, solved, steps))
    none = log_sum(np.array(found["base"]))
    gains = {kind: log_sum(np.array(found[kind])) - none for kind in ("step", "bend", "pulse", "month")}
    gains["spell"] = log_sum(np.array(spells)) - log_sum(np.array(coarse))[:, :, None]
    gains["season"] = season_gains(state, log_sum(np.array(coarse)))
    return {kind: gain + np.log(PRIORS[kind].odds) for kind, gain in gains.items()}


StepProducts = tuple[Array, Array, Array]  # what `step_products` gives


@dataclass(frozen=True, slots=True, eq=False)
class AddedColumns(ArrayFields):
    """One more column, at each day or of each form: how far it raises the evidence, and its coefficient."""

    gain: Array  # (series, candidates) log Bayes factor
    with_base: Array  # (series, candidates, columns) inner products with the columns
    mean: Array  # (series, candidates)
    precision: Array  # (series, candidates) over the noise variance
    rest: Array  # (series, candidates) residual sum of squares


def weigh(
    model: Linear, solved: Solved, products: Array, norm: Array, size: float | Array, *, far: bool = False
) -> AddedColumns:
    """Bayes factor of each candidate column of about a size, by its inner products with columns and response."""
    base, response = products[:, :, :-1], products[:, :, -1]
    count = model.count[:, None]
    freedom = np.maximum(count, 1)
    turned = base @ solved.covariance
    precision = np.maximum(norm - np.einsum("ijk,ijk->ij", turned, base), 1e-12)
    pull = response - np.einsum("ijk,ik->ij", base, solved.mean)
    rest0 = solved.rest[:, None]
    least = LEAST_NOISE**2 * freedom
    best = np.maximum(rest0 - pull**2 / precision, least)
    # A coefficient may lie far outside what is usual, such as a spike of a hundred times the level.
    spread = size**2 + (pull / precision) ** 2 if far else size**2
    ridge = best / freedom / spread
    rest = np.maximum(rest0 - pull**2 / (precision + ridge), least)
    gain = 0.5 * np.log(ridge / (precision + ridge)) - 0.5 * count * np.log(rest / rest0)
    return AddedColumns(gain, base, pull / (precision + ridge), precision + ridge, rest)


def step_candidates(model: Linear, solved: Solved, steps: StepProducts) -> AddedColumns:
    """A level shift on each measured day after the first."""
    products, norm, _ = steps
    found = weigh(model, solved, products, norm, PRIORS["step"].size)
    there = model.rows.there
    return replace(found, gain=np.where(there & (model.rows.gap > 0), found.gain, -np.inf))


def bend_days(there: Flags) -> Integers:
    """Every fifth day from the first measured one of each series, whatever others began with; the last day at most."""
    first, steps = np.argmax(there, axis=1), EVERY * np.arange(-(-there.shape[1] // EVERY))
    return np.asarray(np.minimum(first[:, None] + steps, there.shape[1] - 1))


def bend_candidates(model: Linear, solved: Solved) -> AddedColumns:
    """A further slope from each of `bend_days` on that was measured: the trend less its value there, after it."""
    white, there = solved.white, model.rows.there
    trend, after = white.columns[:, :, 1], white.slope_after
    sums = np.stack([trend[:, :, None] * white.columns, after[:, :, None] * white.columns])
    squares = np.stack([trend**2, trend * after, after**2])
    series, at = np.arange(len(there))[:, None], bend_days(there)
    of_trend, of_after = (np.cumsum(sums[:, :, ::-1], axis=2)[:, :, ::-1] - sums)[:, series, at]
    square, both, plain = (np.cumsum(squares[:, :, ::-1], axis=2)[:, :, ::-1] - squares)[:, series, at]
    begin = model.years[series, at]
    # Not the last day in place of a later one.
    whole = np.diff(at, axis=1, prepend=at[:, :1] - EVERY) == EVERY
    products, norm = of_trend - begin[:, :, None] * of_after, square - 2 * begin * both + begin**2 * plain
    variance = solved.rest / np.maximum(model.count, 1) * solved.covariance[:, 1, 1]
    growth = np.maximum(solved.mean[:, 1] ** 2 - variance, 0.0)  # all of a growth may stop
    size = np.sqrt(PRIORS["bend"].size ** 2 + growth)[:, None]
    found = weigh(model, solved, products, np.maximum(norm, 0.0), size)
    return replace(found, gain=np.where(there[series, at] & whole & (begin > 0), found.gain, -np.inf))


def step_products(white: Whitened) -> StepProducts:
    """Inner products of a step on each day with the columns and with itself, and what it has with any earlier one."""
    after = white.columns * white.step_after[:, :, None]
    beyond = np.cumsum(after[:, ::-1], axis=1)[:, ::-1] - after
    square = white.step_after**2
    beyond_square = np.cumsum(square[:, ::-1], axis=1)[:, ::-1] - square
    return (
        beyond + white.columns * white.step_start[:, :, None],
        beyond_square + white.step_start**2,
        beyond_square + white.step_after * white.step_start,
    )


def spell_gains(model: Linear, solved: Solved, steps: StepProducts) -> Array:
    """Gain of some days in a row unlike the others, from each day on; (series, lengths, days)."""
    products, norm, shared = steps
    there, days = model.rows.there, norm.shape[1]
    measured = np.where(there, np.arange(days), days - 1)
    following = np.minimum.accumulate(measured[:, ::-1], axis=1)[:, ::-1]  # measured day from each on
    gains = []
    for length in SPELLS:
        end = following[:, np.minimum(np.arange(days) + length, days - 1)]
        difference = products - np.take_along_axis(products, end[:, :, None], axis=1)
        own, common = np.take_along_axis(norm, end, axis=1), np.take_along_axis(shared, end, axis=1)
        apart = np.maximum(norm + own - 2 * common, 1e-12)
        gain = weigh(model, solved, difference, apart, PRIORS["spell"].size, far=True).gain
        gains.append(np.where(there & (np.arange(days) + length < days), gain, -np.inf))
    return np.stack(gains, axis=1)


def pulse_gains(model: Linear, solved: Solved) -> Array:
    """One day unlike the others."""
    white, rows = solved.white, model.rows
    following = np.zeros_like(white.columns)  # the whitened row of the next measured day, at each day
    following_weight = np.zeros_like(white.pulse_after)
    series, day = np.nonzero(rows.there & (rows.gap > 0))
    before = rows.before[series, day]
    following[series, before] = white.columns[series, day]
    following_weight[series, before] = white.pulse_after[series, day]
    products = white.columns * white.step_start[:, :, None] + following * following_weight[:, :, None]
    norm = white.step_start**2 + following_weight**2
    return np.where(
        rows.there, weigh(model, solved, products, norm, PRIORS["pulse"].size, far=True).gain, -np.inf
    )


def month_gains(state: SeriesState, model: Linear, solved: Solved, white: Array, fewest: int = 3) -> Array:
    """Each form of a month end, a whitened column of `white`, that was seen at the `fewest` or more."""
    gain = weigh(
        model, solved, white @ solved.white.columns, (white**2).sum(axis=2), PRIORS["month"].size
    ).gain
    enough = (state.month_forms[None] * model.rows.there[:, None, :]).sum(axis=2) >= fewest
    return np.where(enough & (state.month_form < 0)[:, None], gain, -np.inf)


def season_gains(state: SeriesState, none: Array) -> Array:
    """Each number of harmonics above what there is, where enough was measured; (series, numbers)."""
    gains = np.full((len(none), len(HARMONICS)), -np.inf)
    sought = np.flatnonzero(state.whole_year & (state.harmonics < HARMONICS[-1]))
    part = state.pick(sought)
    for index, number in enumerate(HARMONICS if sought.size else ()):
        trial = replace(part, harmonics=np.full(sought.size, number))
        gain = log_sum(np.array([each.evidence for each in solved_coarsely(trial)])) - none[sought, 0]
        gains[sought, index] = np.where(part.harmonics < number, gain, -np.inf)
    return gains
