"""Level, trend, weekly pattern and level shifts of many daily series, with draws of what they leave open.

The busy-hour level of a day is ``level(t) * week(weekday) * month_end``, ``level`` a straight line with steps. The
product is linearized about the last estimate and fitted by generalized least squares with autoregressive noise. Steps
are found one by one; one that is not certain stays in as an average over all days it may have happened on, and over
none, so that a shift is not taken for trend and a doubtful one widens the interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array
from planner.site.growth_ar import PHIS, Mask, MeasuredDays, Whitened, correlation, whiten

YEAR: Final = 365.25  # days
CHUNK: Final = 50  # series at once: their arrays stay near the processor
STEPS: Final = 6  # certain level shifts of one series
ROUNDS: Final = 14
SETTLING: Final = 3  # linearizations after the last step was found
STEP_ODDS: Final = 1 / 600  # prior odds of a level shift on one day
STEP_SIZE: Final = 0.3  # standard deviation of a shift, as a share of the level
PULSE_ODDS: Final = 1 / 300  # prior odds that one day is unlike the others: a holiday, an outage
PULSE_SIZE: Final = 0.5
SPELLS: Final = (2, 3, 4, 6, 8, 11, 15)  # days in a row that may be unlike the others: bridge days, year ends
SPELL_ODDS: Final = 1 / 5000  # prior odds of each length on each day
MONTH_ODDS: Final = 1 / 20  # prior odds of each form of a month end
MONTH_SIZE: Final = 0.3
CERTAIN: Final = np.log(99.0)  # log odds from which a shift is named
LIKELY: Final = np.log(20.0)  # and from which an unlike day or a month end is
EDGE: Final = 2  # measured days that a level must have on either side of a shift
MONTH_ENDS: Final = 3  # that a form must be seen at
BUSY: Final = 0.85  # of the busiest weekday; those from here on are one kind
WORKDAYS: Final = 5
MEASURED_OF_WEEK: Final = 4
FIRST_NOISE: Final = 0.1  # share of the level
LEAST_NOISE: Final = 1e-4  # share of the level: what the printed digits leave of a series without noise
TINY: Final = 1e-300  # in place of no load, which nothing can be a share of
LEAST_FACTOR: Final = 0.02
SPREADS: Final = (0.002, 0.01, 0.03, 0.1)  # of the factors of weekdays that are about as busy as the busiest
COARSE: Final = slice(2, None, 3)  # of `PHIS`, where the likeliest one is enough
FORMS: Final = 3  # of noise: in proportion to load, to the level only, of one size


@dataclass(slots=True)
class State:
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

    def pick(self, these: NDArray[np.intp]) -> State:
        """Only these series."""
        rows = MeasuredDays(self.rows.there[these], self.rows.before[these], self.rows.gap[these])
        return State(
            self.values[these], rows, self.years[these], self.weekday, self.month_forms, self.level[these],
            self.week[these], self.growth[these], self.month[these], self.month_form[these], self.busy[these],
            self.spread[these], self.form[these], [self.steps[k] for k in these], [self.pulses[k] for k in these],
        )  # fmt: skip

    def put(self, these: NDArray[np.intp], other: State) -> None:
        """Write these series back."""
        for name in (
            "values",
            "years",
            "level",
            "week",
            "growth",
            "month",
            "month_form",
            "busy",
            "spread",
            "form",
        ):
            getattr(self, name)[these] = getattr(other, name)
        self.rows.there[these], self.rows.before[these], self.rows.gap[these] = (
            other.rows.there, other.rows.before, other.rows.gap,
        )  # fmt: skip
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

    def noise(self, form: NDArray[np.intp]) -> Array:
        """What the noise of a day is not in proportion to: the rows are multiplied by it."""
        factor = self.factor
        return np.where(form[:, None] == 0, 1.0, np.where(form[:, None] == 1, factor, factor * self.level))


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


def linear(state: State, form: NDArray[np.intp], proportional: bool, months: bool = False) -> Linear:
    """Columns: constant, trend, seven weekdays, month end, the steps found so far, response."""
    series, days = state.values.shape
    most = max((len(steps) for steps in state.steps), default=0)
    noise = state.noise(form)
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
    prior[:, 9] = 1 / MONTH_SIZE**2
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


def solve(state: State, model: Linear, phi: float) -> Solved:
    """Posterior of the coefficients under one phi."""
    white = whiten(state.rows, model.columns, model.lagged, model.weight, model.lagged_weight, phi)
    gram = np.swapaxes(white.columns, 1, 2) @ white.columns
    size = gram.shape[1] - 1
    plain, both = gram[:, :size, :size], gram[:, :size, size]
    response: Array = gram[:, size, size]
    count = np.maximum(model.count, 1)
    # The ridge is in units of the noise variance: of a first guess, a tenth of the level, and of what that leaves.
    first = ridge_of(model, FIRST_NOISE**2 * response / count)
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


@dataclass(slots=True)
class Candidates:
    """One more column, at each day or of each form: how far it raises the evidence, and its coefficient."""

    gain: Array  # (series, candidates) log Bayes factor
    with_base: Array  # (series, candidates, columns) inner products with the columns
    mean: Array  # (series, candidates)
    precision: Array  # (series, candidates) over the noise variance
    rest: Array  # (series, candidates) residual sum of squares


def weigh(
    solved: Solved, count: Array, products: Array, norm: Array, size: float, *, far: bool = False
) -> Candidates:
    """Bayes factor of each candidate column, given its inner products with columns and response."""
    base, response = products[:, :, :-1], products[:, :, -1]
    turned = base @ solved.covariance
    precision = np.maximum(norm - np.sum(turned * base, axis=2), 1e-12)
    pull = response - (base @ solved.mean[:, :, None])[:, :, 0]
    rest0 = solved.rest[:, None]
    least = LEAST_NOISE**2 * np.maximum(count, 1)[:, None]
    best = np.maximum(rest0 - pull**2 / precision, least)
    # A coefficient may lie far outside what is usual, such as a spike of a hundred times the level.
    spread = size**2 + (pull / precision) ** 2 if far else size**2
    ridge = best / np.maximum(count, 1)[:, None] / spread
    rest = np.maximum(rest0 - pull**2 / (precision + ridge), least)
    gain = 0.5 * np.log(ridge / (precision + ridge)) - 0.5 * count[:, None] * np.log(rest / rest0)
    return Candidates(gain, base, pull / (precision + ridge), precision + ridge, rest)


def step_candidates(state: State, solved: Solved, count: Array) -> Candidates:
    """A level shift on each day; days without a measurement, and those at the edges, are none."""
    products, norm, _ = step_products(solved.white)
    found = weigh(solved, count, products, norm, STEP_SIZE)
    rank = np.cumsum(state.rows.there, axis=1)
    inside = state.rows.there & (rank > EDGE) & (rank <= rank[:, -1:] - EDGE)
    found.gain = np.where(inside, found.gain, -np.inf)
    return found


def step_products(white: Whitened) -> tuple[Array, Array, Array]:
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


def spell_candidates(state: State, solved: Solved, count: Array) -> Array:
    """Gain of some days in a row unlike the others, from each day on; (series, lengths, days)."""
    products, norm, shared = step_products(solved.white)
    days = norm.shape[1]
    measured = np.where(state.rows.there, np.arange(days), days - 1)
    following = np.minimum.accumulate(measured[:, ::-1], axis=1)[:, ::-1]  # measured day from each on
    gains = []
    for length in SPELLS:
        end = following[:, np.minimum(np.arange(days) + length, days - 1)]
        difference = products - np.take_along_axis(products, end[:, :, None], axis=1)
        own, common = np.take_along_axis(norm, end, axis=1), np.take_along_axis(shared, end, axis=1)
        gain = weigh(
            solved, count, difference, np.maximum(norm + own - 2 * common, 1e-12), PULSE_SIZE, far=True
        ).gain
        gains.append(np.where(state.rows.there & (np.arange(days) + length < days - EDGE), gain, -np.inf))
    return np.stack(gains, axis=1)


def pulse_candidates(state: State, solved: Solved, count: Array) -> Candidates:
    """One day unlike the others."""
    white, there = solved.white, state.rows.there
    following = np.zeros_like(white.columns)  # the whitened row of the next measured day, at each day
    following_weight = np.zeros_like(white.pulse_after)
    series, day = np.nonzero(there & (state.rows.gap > 0))
    before = state.rows.before[series, day]
    following[series, before] = white.columns[series, day]
    following_weight[series, before] = white.pulse_after[series, day]
    products = white.columns * white.step_start[:, :, None] + following * following_weight[:, :, None]
    norm = white.step_start**2 + following_weight**2
    found = weigh(solved, count, products, norm, PULSE_SIZE, far=True)
    found.gain = np.where(there, found.gain, -np.inf)
    return found


def month_candidates(state: State, solved: Solved, model: Linear, phi: float) -> Candidates:
    """Each form of a month end."""
    ends = model.forms
    rho = correlation(state.rows, phi)
    white = (ends[:, :, :, 0] - rho[:, None, :] * ends[:, :, :, 1]) * (
        state.rows.there / np.sqrt(1 - rho**2)
    )[:, None, :]
    products = white @ solved.white.columns
    found = weigh(solved, model.count, products, (white**2).sum(axis=2), MONTH_SIZE)
    enough = (state.month_forms[None] * state.rows.there[:, None, :]).sum(axis=2) >= MONTH_ENDS
    found.gain = np.where(enough & (state.month_form < 0)[:, None], found.gain, -np.inf)
    return found


def log_sum(values: Array, axis: int = 0) -> Array:
    """Logarithm of a sum of exponentials."""
    top = np.max(values, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.sum(np.exp(values - top), axis=axis)) + np.squeeze(top, axis))


def refine(state: State, solved: list[Solved]) -> None:
    """Take over the coefficients of the likeliest phi."""
    evidence = np.array([each.evidence for each in solved])
    best = np.argmax(evidence, axis=0)
    mean = np.array([each.mean for each in solved])[best, np.arange(best.size)]
    line = mean[:, :1] + mean[:, 1:2] * state.years
    state.growth = np.clip(mean[:, 1] / np.maximum(mean[:, 0], 0.05), -2, 10)
    for k, steps in enumerate(state.steps):
        for index, day in enumerate(steps):
            line[k, day:] += mean[k, 10 + index]
    state.level = np.maximum(line, 0.1)
    state.week = np.maximum(1 + mean[:, 2:9], LEAST_FACTOR)
    state.month = np.where(state.month_form >= 0, np.maximum(1 + mean[:, 9], LEAST_FACTOR), 1.0)


def first_week(values: Array, weekday: NDArray[np.intp]) -> Array:
    """Median of each weekday over the running week about it; 1 for the busiest, and for all of an idle series."""
    series = len(values)
    padded = np.pad(values, ((0, 0), (3, 3)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 7, axis=1)
    measured = np.isfinite(windows).sum(axis=2)
    around = np.where(
        measured >= MEASURED_OF_WEEK, np.nansum(windows, axis=2) / np.maximum(measured, 1), np.nan
    )
    ratio = np.divide(values, around, out=np.full_like(values, np.nan), where=around > 0)
    week = np.full((series, 7), np.nan)
    for day in range(7):
        of_day = ratio[:, weekday == day]
        some = np.isfinite(of_day).any(axis=1)
        week[some, day] = np.nanmedian(of_day[some], axis=1)
    top = np.nanmax(week, axis=1, keepdims=True, initial=TINY)
    factor = np.clip(np.where(np.isnan(week), 1.0, week / top), LEAST_FACTOR, 1.0)
    return np.where((factor >= BUSY).any(axis=1, keepdims=True), factor, 1.0)


def start(values: Array, weekday: NDArray[np.intp], month_forms: Array) -> State:
    """A level constant over time, and the weekdays' medians."""
    there = np.isfinite(values)
    first = np.argmax(there, axis=1)
    years = (np.arange(values.shape[1]) - first[:, None]) / YEAR
    week = first_week(values, weekday)
    busy = week >= BUSY
    week = week / np.sum(np.where(busy, week, 0), axis=1, keepdims=True) * busy.sum(axis=1, keepdims=True)
    series = len(values)
    return State(
        values=np.where(there, values, 0.0), rows=MeasuredDays.of(there), years=years, weekday=weekday,
        month_forms=month_forms,
        level=np.ones_like(values), week=np.maximum(week, LEAST_FACTOR), growth=np.zeros(series), month=np.ones(series),
        month_form=np.full(series, -1), busy=busy, spread=np.full(series, 0.1), form=np.zeros(series, dtype=np.intp),
        steps=[[] for _ in range(series)], pulses=[[] for _ in range(series)],
    )  # fmt: skip


def choose_form(state: State) -> None:
    """Take the form of the noise that the measurements are likeliest under."""
    evidence = []
    for form in range(FORMS):
        model = linear(state, np.full(len(state.values), form), proportional=True)
        evidence.append(log_sum(np.array([solve(state, model, phi).evidence for phi in PHIS[COARSE]])))
    state.form = np.argmax(np.array(evidence), axis=0)


def choose_spread(state: State) -> None:
    """Take the standard deviation of the busy weekdays' factors that the measurements are likeliest under."""
    evidence = []
    for spread in SPREADS:
        state.spread = np.full(len(state.values), spread)
        model = linear(state, state.form, proportional=True)
        evidence.append(log_sum(np.array([solve(state, model, phi).evidence for phi in PHIS[COARSE]])))
    state.spread = np.array(SPREADS)[np.argmax(np.array(evidence), axis=0)]


def search(state: State) -> None:
    """Add steps, month ends and unlike days one by one until none is certain."""
    active = np.arange(len(state.values))
    for number in range(ROUNDS):
        part = state.pick(active)
        for _ in range(2 if number == 0 else 1):
            model = linear(part, part.form, proportional=True)
            refine(part, [solve(part, model, phi) for phi in PHIS[COARSE]])
        if number == 0:
            choose_form(part)
            choose_spread(part)
        if number:
            choose_form(part)
        changed = extend(part)
        state.put(active, part)
        active = active[changed]
        if active.size == 0:
            break
    for _ in range(SETTLING):
        model = linear(state, state.form, proportional=True)
        refine(state, [solve(state, model, phi) for phi in PHIS[COARSE]])


def extend(state: State) -> Mask:
    """Take over the likeliest further column of each series, where it is certain; returns where."""
    odds = further(state)
    changed = np.zeros(len(state.values), dtype=bool)
    for k in range(len(changed)):
        chance = {name: float(each[k].max()) for name, each in odds.items()}
        chance["step"] = float(log_sum(odds["step"][k]))
        kind = max(chance, key=lambda name: chance[name])
        if chance[kind] < (CERTAIN if kind == "step" else LIKELY):
            continue
        unlike = 0.1 * (state.rows.there[k].sum() + len(state.pulses[k])) - len(state.pulses[k])
        place = np.unravel_index(int(np.argmax(odds[kind][k])), odds[kind][k].shape)
        begin = int(place[-1])
        length = SPELLS[int(place[0])] if kind == "spell" else 1
        if kind == "month":
            state.month_form[k] = begin
        elif kind == "step" and len(state.steps[k]) < STEPS:
            state.steps[k] = sorted([*state.steps[k], begin])
        elif kind in {"pulse", "spell"} and length <= unlike:
            days = [day for day in range(begin, begin + length) if state.rows.there[k, day]]
            state.pulses[k] = sorted([*state.pulses[k], *days])
            state.rows.there[k, days] = False
        else:
            continue
        changed[k] = True
    if changed.any():
        state.rows = MeasuredDays.of(state.rows.there)
    return changed


def further(state: State) -> dict[str, Array]:
    """Log odds of each kind of further column, at each day or of each form."""
    model = linear(state, state.form, proportional=True, months=True)
    found: dict[str, list[Array]] = {"base": [], "step": [], "pulse": [], "month": []}
    spells, coarse = [], []
    for index, phi in enumerate(PHIS):
        solved = solve(state, model, phi)
        own = solved.evidence[:, None]
        found["base"].append(own)
        found["step"].append(own + step_candidates(state, solved, model.count).gain)
        found["pulse"].append(own + pulse_candidates(state, solved, model.count).gain)
        found["month"].append(own + month_candidates(state, solved, model, phi).gain)
        if index in range(*COARSE.indices(len(PHIS))):
            coarse.append(own)
            spells.append(own[:, :, None] + spell_candidates(state, solved, model.count))
    none = log_sum(np.array(found["base"]))
    return {
        "step": log_sum(np.array(found["step"])) - none + np.log(STEP_ODDS),
        "pulse": log_sum(np.array(found["pulse"])) - none + np.log(PULSE_ODDS),
        "month": log_sum(np.array(found["month"])) - none + np.log(MONTH_ODDS),
        "spell": log_sum(np.array(spells)) - log_sum(np.array(coarse))[:, :, None] + np.log(SPELL_ODDS),
    }


@dataclass(frozen=True, slots=True)
class Fit:
    """What the days of many series leave open: draws of line, weekly factors and shifts, and what was named."""

    first_level: Array  # (series, draws) on the first measured day
    slope: Array  # (series, draws) a year
    proportional: Mask  # (series, draws) whether shifts multiply the line or add to it
    shift_day: NDArray[np.intp]  # (series, draws, shifts) -1 where none; the last one is doubtful
    shift_size: Array  # (series, draws, shifts) as a share of the first level
    week: Array  # (series, draws, 7) 1 for the busiest weekday
    first: NDArray[np.intp]  # (series,) first measured day
    last: NDArray[np.intp]
    measured: NDArray[np.intp]  # (series,) measured days, without those unlike the others
    steps: tuple[tuple[int, ...], ...]  # days of the certain shifts
    pulses: tuple[tuple[int, ...], ...]  # days unlike the others
    month_form: NDArray[np.intp]  # (series,) -1: none
    month: Array  # (series, draws) factor
    phi: Array  # (series,) mean
    fitted: Mask  # (series,) False where only the level is known

    def beside(self, other: Fit, own: NDArray[np.intp], others: NDArray[np.intp]) -> Fit:
        """Put two fits together; `own` and `others` are the places of their series."""
        order = np.argsort(np.concatenate([own, others]))
        joined: dict[str, Any] = {}
        for item in fields(self):
            first, second = getattr(self, item.name), getattr(other, item.name)
            if isinstance(first, tuple):
                joined[item.name] = tuple((first + second)[k] for k in order)
            else:
                joined[item.name] = np.concatenate([first, second])[order]
        return Fit(**joined)

    def pick(self, these: NDArray[np.intp]) -> Fit:
        """Only these series, in this order; one may come twice."""
        picked: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            picked[item.name] = tuple(value[k] for k in these) if isinstance(value, tuple) else value[these]
        return Fit(**picked)

    @property
    def shifted(self) -> tuple[Array, Array]:
        """What all shifts together multiply the line by, and what they add to it."""
        total = self.shift_size.sum(axis=2)
        return np.where(self.proportional, np.maximum(1 + total, 0.0), 1.0), np.where(
            self.proportional, 0.0, total * self.first_level
        )

    def level(self, day: NDArray[np.intp] | float) -> Array:
        """Draws of the busy-day level on a day on or after the last; (series, draws)."""
        times, plus = self.shifted
        years = (np.asarray(day) - self.first)[:, None] / YEAR
        return (self.first_level + self.slope * years) * times + plus

    def path(self, series: int, days: NDArray[np.intp]) -> Array:
        """Draws of the busy-day level of one series on many days; (draws, days)."""
        size = np.zeros((self.slope.shape[1], days.size))
        for index in range(self.shift_day.shape[2]):
            day = self.shift_day[series, :, index, None]
            size += np.where((day >= 0) & (days >= day), self.shift_size[series, :, index, None], 0.0)
        first, slope = self.first_level[series, :, None], self.slope[series, :, None]
        line = first + slope * (days - self.first[series]) / YEAR
        shifted: Array = np.where(self.proportional[series, :, None], line * (1 + size), line + size * first)
        return shifted


def draw(state: State, count: int, generator: np.random.Generator) -> dict[str, Array]:
    """Draws from the posterior, over phi, over a further doubtful step, and over both forms of a step."""
    parts, evidence = [], []
    for proportional in (False, True):
        part, weight = draw_form(state, proportional, count, generator)
        parts.append(part)
        evidence.append(weight)
    both = np.array(evidence)
    share = np.exp(both[1] - np.logaddexp(both[0], both[1]))
    second = generator.random((len(share), count)) < share[:, None]
    return {
        name: np.where(second.reshape(*second.shape, *[1] * (value.ndim - 2)), parts[1][name], value)
        for name, value in parts[0].items()
    }


def draw_form(
    state: State, proportional: bool, count: int, generator: np.random.Generator
) -> tuple[dict[str, Array], Array]:
    """Draws where shifts are of one size, or in proportion to the level; and the evidence of that."""
    model = linear(state, state.form, proportional)
    solutions, candidates = [], []
    for phi in PHIS:
        solved = solve(state, model, phi)
        solutions.append(solved)
        candidates.append(step_candidates(state, solved, model.count))
    series, days = state.values.shape
    weights = np.empty((series, len(PHIS), days + 1))
    for index, (solved, found) in enumerate(zip(solutions, candidates, strict=True)):
        weights[:, index, 0] = solved.evidence
        weights[:, index, 1:] = solved.evidence[:, None] + found.gain + np.log(STEP_ODDS)
    flat = weights.reshape(series, -1)
    total = log_sum(flat, axis=1)
    with np.errstate(under="ignore"):
        share = np.exp(flat - total[:, None])
    edges = np.cumsum(share, axis=1)
    at = (np.arange(count) + generator.random((series, 1))) / count * edges[:, -1:]
    which = np.array([np.searchsorted(edge, place) for edge, place in zip(edges, at, strict=True)])
    which = np.minimum(generator.permuted(which, axis=1), flat.shape[1] - 1)
    phi, day = np.divmod(which, days + 1)
    size = solutions[0].mean.shape[1]
    row = np.arange(series)[:, None]
    covariance = np.array([each.covariance for each in solutions])
    root = np.linalg.cholesky(covariance)[phi, row]  # (series, draws, columns, columns)
    mean = np.array([each.mean for each in solutions])[phi, row]
    step = day > 0
    place = np.maximum(day - 1, 0)
    base = np.stack([each.with_base for each in candidates])[phi, row, place]
    middle = np.stack([each.mean for each in candidates])[phi, row, place]
    precision = np.stack([each.precision for each in candidates])[phi, row, place]
    rest = np.where(
        step,
        np.stack([each.rest for each in candidates])[phi, row, place],
        np.array([each.rest for each in solutions])[phi, row],
    )
    freedom = np.maximum(model.count, 1)[:, None]
    sigma = np.sqrt(rest / generator.chisquare(np.broadcast_to(freedom, rest.shape)))
    shift = np.where(step, middle + sigma * generator.standard_normal(step.shape) / np.sqrt(precision), 0.0)
    turned = (covariance[phi, row] @ base[..., None])[..., 0]
    normal = generator.standard_normal((series, count, size))
    drawn = mean - turned * shift[:, :, None] + sigma[:, :, None] * (root @ normal[..., None])[..., 0]
    level = np.maximum(drawn[:, :, 0], LEAST_FACTOR)
    sizes = np.full((series, count, STEPS + 1), 0.0)
    dates = np.full((series, count, STEPS + 1), -1)
    for k, certain in enumerate(state.steps):
        many = len(certain)
        sizes[k, :, :many] = drawn[k, :, 10 : 10 + many]
        dates[k, :, :many] = certain
    sizes[:, :, -1], dates[:, :, -1] = shift, np.where(step, place, -1)
    result = {
        "first_level": level,
        "slope": drawn[:, :, 1],
        "proportional": np.full(level.shape, proportional),
        "shift_day": dates,
        "shift_size": sizes / level[:, :, None],
        "week": 1 + drawn[:, :, 2:9],
        "month": np.where(state.month_form[:, None] >= 0, 1 + drawn[:, :, 9], 1.0),
        "phi": PHIS[phi],
    }
    return result, total


def fit_days(
    values: Array, weekday: NDArray[np.intp], month_forms: Array, *, draws: int = 400, seed: int = 1
) -> Fit:
    """Fit every series: (series, days) busy-hour levels, nan where missing."""
    generator = np.random.default_rng(seed)
    series = len(values)
    scale = np.nanmedian(values, axis=1)
    scale = np.where(scale > 0, scale, np.maximum(np.nanmean(values, axis=1), 1e-300))
    parts = []
    states = []
    for begin in range(0, series, CHUNK):
        these = slice(begin, min(begin + CHUNK, series))
        week0 = first_week(values[these], weekday)
        top = np.where(week0 >= BUSY, 1.0, np.nan)[:, weekday] * values[these]
        unit = np.nanmedian(top, axis=1)
        unit = np.where(unit > 0, unit, scale[these])
        scale[these] = unit
        state = start(values[these] / unit[:, None], weekday, month_forms)
        search(state)
        parts.append(draw(state, draws, generator))
        states.append(state)
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    top = np.argmax(drawn["week"].mean(axis=1), axis=1)
    head = np.take_along_axis(drawn["week"], top[:, None, None], axis=2)  # (series, draws, 1)
    unit = scale[:, None] * head[:, :, 0]
    measured = np.isfinite(values)
    return Fit(
        first_level=drawn["first_level"] * unit, slope=drawn["slope"] * unit, proportional=drawn["proportional"],
        shift_day=drawn["shift_day"], shift_size=drawn["shift_size"], week=drawn["week"] / head,
        first=np.argmax(measured, axis=1), last=values.shape[1] - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=np.concatenate([state.rows.there for state in states]).sum(axis=1),
        steps=tuple(tuple(each) for state in states for each in state.steps),
        pulses=tuple(tuple(each) for state in states for each in state.pulses),
        month_form=np.concatenate([state.month_form for state in states]), month=drawn["month"],
        phi=drawn["phi"].mean(axis=1), fitted=np.ones(series, dtype=bool),
    )  # fmt: skip


def short_fit(values: Array, weekday: NDArray[np.intp], draws: int, *, seed: int = 1) -> Fit:
    """The level alone, from the working days, of series that are too short for a trend or hold no load."""
    generator = np.random.default_rng(seed)
    series, days = values.shape
    level = np.zeros((series, draws))
    for k, row in enumerate(values):
        known = np.isfinite(row)
        working = known & (weekday < WORKDAYS)
        found = row[working if working.any() else known]
        level[k] = np.median(generator.choice(found, (draws, found.size)), axis=1)
    measured = np.isfinite(values)
    return Fit(
        first_level=np.maximum(level, TINY), slope=np.zeros((series, draws)),
        proportional=np.zeros((series, draws), dtype=bool), shift_day=np.full((series, draws, STEPS + 1), -1),
        shift_size=np.zeros((series, draws, STEPS + 1)), week=np.ones((series, draws, 7)),
        first=np.argmax(measured, axis=1), last=days - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=measured.sum(axis=1), steps=((),) * series, pulses=((),) * series,
        month_form=np.full(series, -1), month=np.ones((series, draws)), phi=np.full(series, np.nan),
        fitted=np.zeros(series, dtype=bool),
    )  # fmt: skip
