"""Draws of what the days of many series leave open, uncertain steps averaged over all days they may be on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from itertools import chain, product
from typing import Any, Final

import numpy as np
from scipy.special import expit, gammaincinv, ndtri

from planner import parallel
from planner.errors import PlannerError
from planner.results import Array, Flags, Integers
from planner.site.growth.changes import (
    SPELLS,
    bend_days,
    of_kind,
    search,
    steps_and_bends,
    wanderers,
    with_further,
)
from planner.site.growth.model import (
    BUSY,
    HARMONICS,
    LEAST_FACTOR,
    LEAST_SEASON,
    MONTH,
    MOST_KNOTS,
    PHIS,
    PRIORS,
    STEPS,
    TINY,
    WANDERINGS,
    YEAR,
    SeriesState,
    first_week,
    linear,
    log_sum,
    ramps_of,
    solve,
    start,
    waves_of,
)

FARTHEST_EXPONENT: Final = 100.0  # of growth that compounds
OF_SOME_COLUMNS: Final = ("season", "wander")  # draws of as many columns as the series with the most has


@dataclass(frozen=True, slots=True)
class TrendDraws:
    """What the days of many series leave open: draws of line, weekly factors and shifts, and what was named."""

    first_level: Array  # (series, draws) on the first measured day
    slope: Array  # (series, draws) a year; where it compounds, as a share of the first level times this
    bend: Array  # (series, draws) by how much it had changed, a year; 0 where it had not
    bend_years: Array  # (series, draws) when, since the first measured day
    compounds: Flags  # (series, draws) whether the line is first_level * exp(slope * years / first_level)
    proportional: Flags  # (series, draws) whether shifts multiply the line or add to it
    shift_day: Integers  # (series, draws, shifts) -1 where none; the last one is doubtful
    shift_size: Array  # (series, draws, shifts) as a share of the first level
    week: Array  # (series, draws, 7) 1 for the busiest weekday
    first: Integers  # (series,) first measured day
    last: Integers
    measured: Integers  # (series,) measured days, without those unlike the others
    steps: tuple[tuple[int, ...], ...]  # days of the certain shifts
    pulses: tuple[tuple[int, ...], ...]  # days unlike the others
    month_form: Integers  # (series,) -1: none
    month: Array  # (series, draws) factor
    wander: Array  # (series, draws, knots) of the level in each month, the last one first; share of the first level
    wandering: Array  # (series, draws) standard deviation in a year of what follows
    season: Array  # (series, draws, waves) of harmonics of the year from the first day on; 0 where less than others
    phi: Array  # (series,) mean
    fitted: Flags  # (series,) False where only the level is known

    @classmethod
    def joined(cls, parts: Sequence[TrendDraws]) -> TrendDraws:
        """Series of several fits, one after the other."""
        joined: dict[str, Any] = {}
        for item in fields(cls):
            values = [getattr(part, item.name) for part in parts]
            tuples = isinstance(values[0], tuple)
            if item.name in OF_SOME_COLUMNS:
                values = with_columns(values)
            joined[item.name] = tuple(chain.from_iterable(values)) if tuples else np.concatenate(values)
        return cls(**joined)

    def pick(self, these: Integers) -> TrendDraws:
        """Only these series, in this order; one may come twice."""
        picked: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            picked[item.name] = tuple(value[k] for k in these) if isinstance(value, tuple) else value[these]
        for name in OF_SOME_COLUMNS:
            used = np.flatnonzero(picked[name].any(axis=(0, 1)))
            picked[name] = picked[name][:, :, : used.max(initial=-1) + 1]
        return TrendDraws(**picked)

    def shifts(self, further: Array | float = 0.0) -> tuple[Array, Array]:
        """What all shifts, and `further` as a share of the first level, multiply the line by, and what they add."""
        total = self.shift_size.sum(axis=2) + self.wander.sum(axis=2) + further
        return np.where(self.proportional, np.maximum(1 + total, 0.0), 1.0), np.where(
            self.proportional, 0.0, total * self.first_level
        )

    def level(self, day: Integers | float) -> Array:
        """Draws of the busy-day level on a day on or after the last, in its season; (series, draws)."""
        ahead = wandered_ahead(np.asarray(day) - self.last, self.slope.shape[1])
        times, plus = self.shifts(self.wandering * ahead)
        years = (np.asarray(day) - self.first)[:, None] / YEAR
        return (self.base(years) * times + plus) * self.season_on(day)

    def base(self, years: Array, at: Any = ...) -> Array:
        """The line without shifts so many years after its first day; (series, draws), or what `at` picks."""
        first, slope, bend, begin, compounds = (
            each[at] for each in (self.first_level, self.slope, self.bend, self.bend_years, self.compounds)
        )
        grown = slope * years - bend * np.minimum(years, begin)
        compounded = first * np.exp(np.minimum(grown / first, FARTHEST_EXPONENT))
        return np.asarray(np.where(compounds, compounded, first + grown))

    @property
    def steep(self) -> Array:
        """What a slope is multiplied by on the last day: shifts, and what has compounded; (series, draws)."""
        grown = self.base((self.last - self.first)[:, None] / YEAR) / self.first_level
        return np.where(self.compounds, grown, 1.0) * self.shifts()[0]

    def compounding(self, rate: float) -> TrendDraws:
        """From the level of the last day on, this growth a year and nothing else, beside the season."""
        grown = math.log1p(rate)
        level = self.level(self.last) / self.season_on(self.last)
        first = np.maximum(level * np.exp(-grown * (self.last - self.first)[:, None] / YEAR), TINY)
        gone = ("bend", "wandering", "shift_size", "wander")
        none = {name: np.zeros_like(getattr(self, name)) for name in gone}
        return replace(self, first_level=first, slope=grown * first, compounds=first > 0, **none)

    def season_on(self, day: Integers | float) -> Array:
        """Factor of the season on a day of each series; (series, draws)."""
        waves = waves_of(np.asarray((day - self.first) / YEAR), self.season.shape[2])
        return np.asarray(np.maximum(1 + (self.season * waves[:, None]).sum(axis=2), LEAST_SEASON))

    def season_path(self, series: int, days: Integers) -> Array:
        """Factor of the season of one series on many days; (draws, days)."""
        waves = waves_of((days - self.first[series]) / YEAR, self.season.shape[2])
        return np.asarray(np.maximum(1 + self.season[series] @ waves.T, LEAST_SEASON))

    @property
    def seasonal(self) -> Flags:
        """(series,) whether there is a season."""
        return np.asarray(self.season.any(axis=(1, 2)))

    def path(self, series: int, days: Integers) -> Array:
        """Draws of the busy-day level of one series on many days, in its season; (draws, days)."""
        return self.line(series, days) * self.season_path(series, days)

    def line(self, series: int, days: Integers) -> Array:
        """The same without the season."""
        size = np.zeros((self.slope.shape[1], days.size))
        for index in range(self.shift_day.shape[2]):
            day = self.shift_day[series, :, index, None]
            size += np.where((day >= 0) & (days >= day), self.shift_size[series, :, index, None], 0.0)
        size += self.wander[series] @ ramps_of(days - self.last[series], self.wander.shape[2]).T
        size += self.wandering[series, :, None] * wandered_ahead(days - self.last[series], len(size)).T
        line = self.base((days - self.first[series]) / YEAR, (series, slice(None), None))
        plus = size * self.first_level[series, :, None]
        return np.where(self.proportional[series, :, None], line * np.maximum(1 + size, 0.0), line + plus)


LIKELIER: Final = 0.5  # probability from which on something doubtful is named
# Normal numbers of a draw: of a further column, constant, trend, weekdays, month end, then of each kind that some have.
OF_STEPS: Final = 11
OF_DRIFTS: Final = OF_STEPS + STEPS
OF_HARMONICS: Final = OF_DRIFTS + 7
OF_KNOTS: Final = OF_HARMONICS + 2 * HARMONICS[-1]
NORMALS: Final = OF_KNOTS + MOST_KNOTS


@lru_cache(maxsize=8)
def even_numbers(count: int, columns: int, *, mirrored: bool) -> Array:
    """Middles of equal parts of 0 to 1 in random orders, (count, columns): a Latin hypercube (McKay et al. 1979).

    The second half of the draws are neighbors of the first, or their mirror images: means of what is linear in them
    are exact. Every series has the same numbers, so that its draws depend on nothing that stands beside it.
    """
    half = -(-count // 2)
    orders = np.random.default_rng(1 + mirrored).permuted(np.tile(np.arange(half), (columns, 1)), axis=1)
    first = (orders.T + 0.25) / half
    return np.concatenate([first, 1.0 - first if mirrored else first + 0.5 / half])[:count]


def wandered_ahead(ahead: Array, count: int) -> Array:
    """By how much a level wanders so many days after the last, of a standard deviation of 1 in a year; (..., draws)."""
    months = 12 * int(1 + np.max(ahead, initial=0) // YEAR)
    gone = np.clip(ahead[..., None] / MONTH - np.arange(months), 0.0, 1.0)
    numbers = even_numbers(count, NORMALS + months, mirrored=True)[:, NORMALS:]
    return np.asarray(gone @ ndtri(numbers).T / math.sqrt(12))


def choices(count: int) -> dict[str, Array]:
    """Even numbers by which each draw chooses, by what it chooses."""
    names = "place", "variance", "form", "wandering", "wanders"
    numbers = even_numbers(count, len(names) + STEPS + 1, mirrored=False)
    by: dict[str, Array] = dict(zip(names, numbers.T, strict=False))
    return by | {"endings": numbers[:, len(names) :]}


def draw(state: SeriesState, count: int) -> dict[str, Array]:
    """Draws from the posterior, over phi, a further doubtful step, both kinds of line and of step, and its end."""
    by = choices(count)
    kinds = [of_kind(state, np.full(len(state.values), compounds)) for compounds in (False, True)]
    parts, evidence = zip(*(draw_form(*form, by) for form in product(kinds, (False, True))), strict=True)
    weight = np.array(evidence)
    with np.errstate(under="ignore"):
        share = np.cumsum(np.exp(weight - log_sum(weight)), axis=0)
    drawn: dict[str, Any] = parts[0]
    for edge, part in zip(share, parts[1:], strict=False):
        drawn = {name: chosen(by["form"] > edge[:, None], part[name], drawn[name]) for name in drawn}
    at = (by["wandering"] > np.cumsum(state.chance, axis=1)[:, :-1, None]).sum(axis=1)
    drawn["wandering"] = np.where(state.wandering[:, None] > 0, np.array(WANDERINGS)[at], 0.0)
    passes = by["endings"] < may_pass(state, drawn["shift_day"])
    drawn["shift_size"][passes], drawn["shift_day"][passes] = 0.0, -1
    return drawn


def chosen(these: Flags, values: Array, others: Array) -> Array:
    """Draws from the first where `these` (series, draws) say so, else from the others."""
    return np.where(these.reshape(*these.shape, *[1] * (values.ndim - 2)), values, others)


def let_wander(state: SeriesState, drawn: dict[str, Array]) -> None:
    """Take as many draws from levels that wander as these are likely."""
    these, rival, odds = wanderers(state)
    if these.size == 0:
        return
    count, share = drawn["slope"].shape[1], expit(odds)
    taken = choices(count)["wanders"] < share[:, None]
    for name, values in draw(rival, count).items():
        both = [drawn[name], values]
        if name in OF_SOME_COLUMNS:
            both = with_columns(both)
        drawn[name], of_rival = both
        drawn[name][these] = chosen(taken, of_rival, drawn[name][these])
    state.steps[these[share > LIKELIER]] = rival.steps[share > LIKELIER]


def with_columns(values: Sequence[Array]) -> list[Array]:
    """Further columns of 0, as many as the most have; (series, draws, columns)."""
    most = max(value.shape[2] for value in values)
    return [np.pad(value, ((0, 0), (0, 0), (0, most - value.shape[2]))) for value in values]


def numbers_of(state: SeriesState, columns: int, knots: int) -> list[int]:
    """Which normal number each column has: those of its kind, however many of another kind some series have."""
    steps, waves = state.begins.shape[1], state.waves
    drifts = columns - 10 - steps - knots - waves
    kinds = (1, 10), (OF_STEPS, steps), (OF_DRIFTS, drifts), (OF_KNOTS, knots), (OF_HARMONICS, waves)
    return [first + k for first, many in kinds for k in range(many)]


def draw_form(state: SeriesState, proportional: bool, by: dict[str, Array]) -> tuple[dict[str, Array], Array]:
    """Draws where shifts are of one size, or in proportion to the level; and the evidence of that."""
    count = len(by["place"])
    normals = ndtri(even_numbers(count, NORMALS, mirrored=True))
    model = linear(state, proportional=proportional)
    solutions = [solve(model, phi) for phi in PHIS]
    candidates = [steps_and_bends(model, solved) for solved in solutions]
    series, days = state.values.shape
    weights = [with_further(solved, found) for solved, found in zip(solutions, candidates, strict=True)]
    flat = np.concatenate(weights, axis=1)
    total = log_sum(flat, axis=1)
    with np.errstate(under="ignore"):
        share = np.exp(flat - total[:, None])
    edges = np.cumsum(share, axis=1)
    which = np.array([np.searchsorted(edge, by["place"] * edge[-1]) for edge in edges])
    which = np.minimum(which, flat.shape[1] - 1)
    phi, which = np.divmod(which, weights[0].shape[1])
    size = solutions[0].mean.shape[1]
    row = np.arange(series)[:, None]
    mean = np.array([each.mean for each in solutions])[phi, row]
    added, bent, at = which > 0, which > days, np.maximum(which - 1, 0)
    taken, middle, precision, with_added = (
        np.stack([getattr(each, name) for each in candidates])[phi, row, at]
        for name in ("taken", "mean", "precision", "rest")
    )
    rest = np.where(added, with_added, np.array([each.rest for each in solutions])[phi, row])
    freedom = np.maximum(model.count, 1)[:, None]
    chi_square = 2.0 * gammaincinv(freedom / 2.0, by["variance"])
    sigma = np.sqrt(rest / chi_square)
    size_of = np.where(added, middle + sigma * normals[:, 0] / np.sqrt(precision), 0.0)
    waves, knots = state.waves, model.knots
    own = numbers_of(state, size, knots.stop - knots.start)
    root = np.linalg.cholesky(np.array([each.covariance for each in solutions]))
    # (series, draws, columns)
    noise = (normals[:, own] @ np.swapaxes(root, 2, 3))[phi, row, np.arange(count)]
    drawn = mean - taken * size_of[:, :, None] + sigma[:, :, None] * noise
    level = np.maximum(drawn[:, :, 0], LEAST_FACTOR)
    sizes = np.full((series, count, STEPS + 1), 0.0)
    dates = np.full((series, count, STEPS + 1), -1)
    certain, many = state.steps[:, None] < days, state.begins.shape[1]
    sizes[:, :, :many] = np.where(certain[:, :, :many], drawn[:, :, 10 : 10 + many], 0.0)
    dates[:, :, :-1] = np.where(certain, state.steps[:, None], -1)
    sizes[:, :, -1], dates[:, :, -1] = np.where(bent, 0.0, size_of), np.where(added & ~bent, at, -1)
    bend = np.where(bent, size_of, 0.0)
    known = np.arange(waves) // 2 < state.harmonics[:, None, None]
    season = np.where(known, drawn[:, :, size - waves :], 0.0)
    day_of_bend = np.take_along_axis(bend_days(model.rows.there), np.where(bent, at - days, 0), axis=1)
    result = {
        "first_level": level,
        "slope": drawn[:, :, 1] + bend,
        "bend": bend,
        "bend_years": np.where(bent, np.take_along_axis(state.years, day_of_bend, axis=1), 0.0),
        "compounds": np.repeat(state.compounds[:, None], count, axis=1),
        "proportional": np.full(level.shape, proportional),
        "shift_day": dates,
        "shift_size": sizes / level[:, :, None],
        "week": 1 + drawn[:, :, 2:9],
        "month": np.where(state.month_form[:, None] >= 0, 1 + drawn[:, :, 9], 1.0),
        "season": season,
        "wander": np.where(model.used[:, None, knots], drawn[:, :, knots], 0.0) / level[:, :, None],
        "phi": PHIS[phi],
    }
    return result, total


def may_pass(state: SeriesState, begin: Integers) -> Array:
    """Probability that a step of the last days is no level shift, but days unlike the others that are not over."""
    last = state.there.shape[1] - np.argmax(state.there[:, ::-1], axis=1)
    long = last[:, None, None] - begin  # days so far
    lasting = (np.array(SPELLS) >= long[..., None]).sum(axis=3) * PRIORS["spell"].odds
    lasting += (long == 1) * PRIORS["pulse"].odds
    return np.asarray(np.where(begin < 0, 0.0, lasting / (lasting + PRIORS["step"].odds)))


WORKDAYS: Final = 5


def fit_days(
    values: Array,
    weekday: Integers,
    month_forms: Array,
    *,
    draws: int = 400,
    workers: int | None = 1,
    at_once: int = 50,  # their arrays stay near the processor
    pays: int = 4,  # parts from which on more processes than this one pay
) -> TrendDraws:
    """Fit every series: (series, days) busy-hour levels, nan where missing; many of them in some processes."""
    parts = [values[begin : begin + at_once] for begin in range(0, len(values), at_once)]
    fit = partial(fit_some, weekday=weekday, month_forms=month_forms, draws=draws)
    if len(parts) < pays:
        return TrendDraws.joined([fit(part) for part in parts])
    fits: list[TrendDraws] = []
    for k, found in enumerate(parallel.run(fit, parts, workers=workers)):
        if isinstance(found, parallel.Failed):
            which = f"series {k * at_once + 1} to {k * at_once + len(parts[k])}"
            raise PlannerError(f"the trend of {which} has no answer: {found.problem}")
        fits.append(found)
    return TrendDraws.joined(fits)


def fit_some(values: Array, weekday: Integers, month_forms: Array, draws: int) -> TrendDraws:
    """Level, trend, pattern and shifts of some series, (series, days); nan where a day is missing."""
    scale = np.nanmedian(values, axis=1)
    scale = np.where(scale > 0, scale, np.maximum(np.nanmean(values, axis=1), 1e-300))
    top = np.where(first_week(values, weekday) >= BUSY, 1.0, np.nan)[:, weekday] * values
    unit = np.nanmedian(top, axis=1)
    unit = np.where(unit > 0, unit, scale)
    state = start(values / unit[:, None], weekday, month_forms)
    search(state)
    drawn: dict[str, Any] = draw(state, draws)
    let_wander(state, drawn)
    busiest = np.argmax(drawn["week"].mean(axis=1), axis=1)
    head = np.take_along_axis(drawn["week"], busiest[:, None, None], axis=2)  # (series, draws, 1)
    # Of two weekdays as busy the mean share of one may pass 1 by the noise of the draws.
    head *= (drawn["week"] / head).mean(axis=1).max(axis=1)[:, None, None]
    unit = unit[:, None] * head[:, :, 0]
    drawn |= {name: drawn[name] * unit for name in ("first_level", "slope", "bend")}
    drawn |= {"week": drawn["week"] / head, "phi": drawn["phi"].mean(axis=1)}
    return TrendDraws(
        **drawn, first=np.argmax(np.isfinite(values), axis=1), last=state.last, measured=state.there.sum(axis=1),
        steps=tuple(tuple(each[each < values.shape[1]].tolist()) for each in state.steps),
        pulses=tuple(tuple(np.flatnonzero(each).tolist()) for each in state.pulses), month_form=state.month_form,
        fitted=np.ones(len(values), dtype=bool),
    )  # fmt: skip


def short_fit(values: Array, weekday: Integers, draws: int) -> TrendDraws:
    """The level alone, from the working days, of series that are too short for a trend or hold no load."""
    series, days = values.shape
    level = np.zeros((series, draws))
    for k, row in enumerate(values):
        known = np.isfinite(row)
        working = known & (weekday < WORKDAYS)
        found = row[working if working.any() else known]
        level[k] = np.median(np.random.default_rng(1).choice(found, (draws, found.size)), axis=1)
    measured, none = np.isfinite(values), np.zeros((series, draws))
    return TrendDraws(
        first_level=np.maximum(level, TINY), slope=none, bend=none, bend_years=none, wandering=none,
        compounds=none > 0, proportional=none > 0, shift_day=np.full((series, draws, STEPS + 1), -1),
        shift_size=np.zeros((series, draws, STEPS + 1)), week=np.ones((series, draws, 7)),
        first=np.argmax(measured, axis=1), last=days - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=measured.sum(axis=1), steps=((),) * series, pulses=((),) * series,
        month_form=np.full(series, -1), month=np.ones((series, draws)),
        season=np.zeros((series, draws, 0)), wander=np.zeros((series, draws, 0)),
        phi=np.full(series, np.nan), fitted=np.zeros(series, dtype=bool),
    )  # fmt: skip
