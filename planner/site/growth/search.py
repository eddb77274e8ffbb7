"""The structure of each series, found step by step: shifts, unlike days, month ends, and the form of the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array
from planner.site.growth.model import (
    LEAST_FACTOR,
    LEAST_NOISE,
    PHIS,
    PRIORS,
    STEPS,
    YEAR,
    Linear,
    Mask,
    MeasuredDays,
    SeriesState,
    Solved,
    Whitened,
    correlation,
    linear,
    log_sum,
    solve,
)

CERTAIN: Final = np.log(99.0)  # log odds from which a shift is named
LIKELY: Final = np.log(20.0)  # and from which an unlike day or a month end is
BUSY: Final = 0.85  # of the busiest weekday; those from here on are one kind
TINY: Final = 1e-300  # in place of no load, which nothing can be a share of
COARSE: Final = slice(2, None, 3)  # of `PHIS`, where the likeliest one is enough


def refine(state: SeriesState, solved: list[Solved]) -> None:
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


def first_week(values: Array, weekday: NDArray[np.intp], fewest: int = 4) -> Array:
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


def start(values: Array, weekday: NDArray[np.intp], month_forms: Array) -> SeriesState:
    """A level constant over time, and the weekdays' medians."""
    there = np.isfinite(values)
    first = np.argmax(there, axis=1)
    years = (np.arange(values.shape[1]) - first[:, None]) / YEAR
    week = first_week(values, weekday)
    busy = week >= BUSY
    week = week / np.sum(np.where(busy, week, 0), axis=1, keepdims=True) * busy.sum(axis=1, keepdims=True)
    series = len(values)
    return SeriesState(
        values=np.where(there, values, 0.0), rows=MeasuredDays.of(there), years=years, weekday=weekday,
        month_forms=month_forms,
        level=np.ones_like(values), week=np.maximum(week, LEAST_FACTOR), growth=np.zeros(series), month=np.ones(series),
        month_form=np.full(series, -1), busy=busy, spread=np.full(series, 0.1), form=np.zeros(series, dtype=np.intp),
        steps=[[] for _ in range(series)], pulses=[[] for _ in range(series)],
    )  # fmt: skip


def solved_coarsely(state: SeriesState) -> list[Solved]:
    """The posterior under some of the correlations."""
    model = linear(state)
    return [solve(state, model, phi) for phi in PHIS[COARSE]]


def likelihood(state: SeriesState) -> Array:
    """Log evidence of what was measured, (series,)."""
    return log_sum(np.array([each.evidence for each in solved_coarsely(state)]))


def choose_form(state: SeriesState) -> None:
    """Take the form of the noise that the measurements are likeliest under."""
    evidence = []
    for form in range(3):  # of noise: in proportion to load, to the level only, of one size
        state.form = np.full(len(state.values), form)
        evidence.append(likelihood(state))
    state.form = np.argmax(np.array(evidence), axis=0)


def choose_spread(state: SeriesState, spreads: tuple[float, ...] = (0.002, 0.01, 0.03, 0.1)) -> None:
    """Take the standard deviation of the busy weekdays' factors that the measurements are likeliest under."""
    evidence = []
    for spread in spreads:
        state.spread = np.full(len(state.values), spread)
        evidence.append(likelihood(state))
    state.spread = np.array(spreads)[np.argmax(np.array(evidence), axis=0)]


def search(state: SeriesState) -> None:
    """Add steps, month ends and unlike days one by one until none is certain."""
    active = np.arange(len(state.values))
    for number in range(14):
        part = state.pick(active)
        for _ in range(1 if number else 2):
            refine(part, solved_coarsely(part))
        choose_form(part)
        if not number:
            choose_spread(part)
        changed = extend(part)
        state.put(active, part)
        active = active[changed]
        if active.size == 0:
            break
    for _ in range(3):  # linearizations after the last step was found
        refine(state, solved_coarsely(state))


def extend(state: SeriesState) -> Mask:
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


def further(state: SeriesState) -> dict[str, Array]:
    """Log odds of each kind of further column, at each day or of each form."""
    model = linear(state, months=True)
    found: dict[str, list[Array]] = {"base": [], "step": [], "pulse": [], "month": []}
    spells, coarse = [], []
    for index, phi in enumerate(PHIS):
        solved = solve(state, model, phi)
        own = solved.evidence[:, None]
        found["base"].append(own)
        steps = step_products(solved.white)
        found["step"].append(own + step_candidates(state, solved, model.count, steps).gain)
        found["pulse"].append(own + pulse_candidates(state, solved, model.count).gain)
        found["month"].append(own + month_candidates(state, solved, model, phi).gain)
        if index in range(*COARSE.indices(len(PHIS))):
            coarse.append(own)
            spells.append(own[:, :, None] + spell_candidates(state, solved, model.count, steps))
    none = log_sum(np.array(found["base"]))
    gains = {kind: log_sum(np.array(found[kind])) - none for kind in ("step", "pulse", "month")}
    gains["spell"] = log_sum(np.array(spells)) - log_sum(np.array(coarse))[:, :, None]
    return {kind: gain + np.log(PRIORS[kind].odds) for kind, gain in gains.items()}


SPELLS: Final = (2, 3, 4, 6, 8, 11, 15)  # days in a row that may be unlike the others: bridge days, year ends
EDGE: Final = 2  # measured days that a level must have on either side of a shift

StepProducts = tuple[Array, Array, Array]  # what `step_products` gives


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
    precision = np.maximum(norm - np.einsum("ijk,ijk->ij", turned, base), 1e-12)
    pull = response - np.einsum("ijk,ik->ij", base, solved.mean)
    rest0 = solved.rest[:, None]
    least = LEAST_NOISE**2 * np.maximum(count, 1)[:, None]
    best = np.maximum(rest0 - pull**2 / precision, least)
    # A coefficient may lie far outside what is usual, such as a spike of a hundred times the level.
    spread = size**2 + (pull / precision) ** 2 if far else size**2
    ridge = best / np.maximum(count, 1)[:, None] / spread
    rest = np.maximum(rest0 - pull**2 / (precision + ridge), least)
    gain = 0.5 * np.log(ridge / (precision + ridge)) - 0.5 * count[:, None] * np.log(rest / rest0)
    return Candidates(gain, base, pull / (precision + ridge), precision + ridge, rest)


def step_candidates(state: SeriesState, solved: Solved, count: Array, steps: StepProducts) -> Candidates:
    """A level shift on each day; days without a measurement, and those at the edges, are none."""
    products, norm, _ = steps
    found = weigh(solved, count, products, norm, PRIORS["step"].size)
    rank = np.cumsum(state.rows.there, axis=1)
    inside = state.rows.there & (rank > EDGE) & (rank <= rank[:, -1:] - EDGE)
    found.gain = np.where(inside, found.gain, -np.inf)
    return found


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


def spell_candidates(state: SeriesState, solved: Solved, count: Array, steps: StepProducts) -> Array:
    """Gain of some days in a row unlike the others, from each day on; (series, lengths, days)."""
    products, norm, shared = steps
    days = norm.shape[1]
    measured = np.where(state.rows.there, np.arange(days), days - 1)
    following = np.minimum.accumulate(measured[:, ::-1], axis=1)[:, ::-1]  # measured day from each on
    gains = []
    for length in SPELLS:
        end = following[:, np.minimum(np.arange(days) + length, days - 1)]
        difference = products - np.take_along_axis(products, end[:, :, None], axis=1)
        own, common = np.take_along_axis(norm, end, axis=1), np.take_along_axis(shared, end, axis=1)
        apart = np.maximum(norm + own - 2 * common, 1e-12)
        gain = weigh(solved, count, difference, apart, PRIORS["spell"].size, far=True).gain
        gains.append(np.where(state.rows.there & (np.arange(days) + length < days - EDGE), gain, -np.inf))
    return np.stack(gains, axis=1)


def pulse_candidates(state: SeriesState, solved: Solved, count: Array) -> Candidates:
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
    found = weigh(solved, count, products, norm, PRIORS["pulse"].size, far=True)
    found.gain = np.where(there, found.gain, -np.inf)
    return found


def month_candidates(
    state: SeriesState, solved: Solved, model: Linear, phi: float, fewest: int = 3
) -> Candidates:
    """Each form of a month end that was seen at the `fewest` or more."""
    ends = model.forms
    rho = correlation(state.rows, phi)
    white = (ends[:, :, :, 0] - rho[:, None, :] * ends[:, :, :, 1]) * (
        state.rows.there / np.sqrt(1 - rho**2)
    )[:, None, :]
    products = white @ solved.white.columns
    found = weigh(solved, model.count, products, (white**2).sum(axis=2), PRIORS["month"].size)
    enough = (state.month_forms[None] * state.rows.there[:, None, :]).sum(axis=2) >= fewest
    found.gain = np.where(enough & (state.month_form < 0)[:, None], found.gain, -np.inf)
    return found
