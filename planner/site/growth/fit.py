"""Level, trend, weekly pattern and level shifts of many daily series: the fit, and what is left of too few days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import parallel
from planner.errors import PlannerError
from planner.results import Array
from planner.site.growth.draws import TrendDraws, draw
from planner.site.growth.model import STEPS
from planner.site.growth.search import BUSY, TINY, first_week, search, start

CHUNK: Final = 50  # series at once: their arrays stay near the processor
PAYS: Final = 4  # chunks from which on more processes than this one pay
WORKDAYS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SomeSeries:
    """Series that are fitted together, and what their draws begin with."""

    name: str  # for messages
    values: Array  # (series, days) busy-hour levels, nan where missing
    weekday: NDArray[np.intp]  # (days,)
    month_forms: Array  # (forms, days)
    draws: int
    seed: tuple[int, int]


def fit_days(
    values: Array,
    weekday: NDArray[np.intp],
    month_forms: Array,
    *,
    draws: int = 400,
    seed: int = 1,
    workers: int | None = 1,
) -> TrendDraws:
    """TrendDraws every series: (series, days) busy-hour levels, nan where missing; many of them in some processes."""
    parts = [
        SomeSeries(
            name=f"series {begin + 1} to {min(begin + CHUNK, len(values))}", values=values[begin : begin + CHUNK],
            weekday=weekday, month_forms=month_forms, draws=draws, seed=(seed, begin),
        )
        for begin in range(0, len(values), CHUNK)
    ]  # fmt: skip
    if len(parts) < PAYS:
        return TrendDraws.joined([fit_some(part) for part in parts])
    fits: list[TrendDraws] = []
    for found in parallel.run(fit_some, parts, workers=workers):
        if isinstance(found, parallel.Failed):
            raise PlannerError(f"the trend of {found.name} has no answer: {found.problem}")
        fits.append(found)
    return TrendDraws.joined(fits)


def fit_some(part: SomeSeries) -> TrendDraws:
    """Level, trend, pattern and shifts of some series."""
    values, weekday = part.values, part.weekday
    scale = np.nanmedian(values, axis=1)
    scale = np.where(scale > 0, scale, np.maximum(np.nanmean(values, axis=1), 1e-300))
    top = np.where(first_week(values, weekday) >= BUSY, 1.0, np.nan)[:, weekday] * values
    unit = np.nanmedian(top, axis=1)
    unit = np.where(unit > 0, unit, scale)
    state = start(values / unit[:, None], weekday, part.month_forms)
    search(state)
    drawn: dict[str, Any] = draw(state, part.draws, np.random.default_rng(part.seed))
    busiest = np.argmax(drawn["week"].mean(axis=1), axis=1)
    head = np.take_along_axis(drawn["week"], busiest[:, None, None], axis=2)  # (series, draws, 1)
    # Of two weekdays as busy the mean share of one may pass 1 by the noise of the draws.
    head *= (drawn["week"] / head).mean(axis=1).max(axis=1)[:, None, None]
    unit = unit[:, None] * head[:, :, 0]
    measured = np.isfinite(values)
    return TrendDraws(
        first_level=drawn["first_level"] * unit, slope=drawn["slope"] * unit, proportional=drawn["proportional"],
        shift_day=drawn["shift_day"], shift_size=drawn["shift_size"], week=drawn["week"] / head,
        first=np.argmax(measured, axis=1), last=values.shape[1] - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=state.rows.there.sum(axis=1), steps=tuple(tuple(each) for each in state.steps),
        pulses=tuple(tuple(each) for each in state.pulses), month_form=state.month_form, month=drawn["month"],
        phi=drawn["phi"].mean(axis=1), fitted=np.ones(len(values), dtype=bool),
    )  # fmt: skip


def short_fit(values: Array, weekday: NDArray[np.intp], draws: int, *, seed: int = 1) -> TrendDraws:
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
    return TrendDraws(
        first_level=np.maximum(level, TINY), slope=np.zeros((series, draws)),
        proportional=np.zeros((series, draws), dtype=bool), shift_day=np.full((series, draws, STEPS + 1), -1),
        shift_size=np.zeros((series, draws, STEPS + 1)), week=np.ones((series, draws, 7)),
        first=np.argmax(measured, axis=1), last=days - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=measured.sum(axis=1), steps=((),) * series, pulses=((),) * series,
        month_form=np.full(series, -1), month=np.ones((series, draws)), phi=np.full(series, np.nan),
        fitted=np.zeros(series, dtype=bool),
    )  # fmt: skip
