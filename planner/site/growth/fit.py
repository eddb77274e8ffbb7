"""Level, trend, weekly pattern and level shifts of many daily series: the fit, and what is left of too few days."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array
from planner.site.growth.draws import TrendDraws, draw
from planner.site.growth.model import STEPS
from planner.site.growth.search import BUSY, TINY, first_week, search, start

CHUNK: Final = 50  # series at once: their arrays stay near the processor
WORKDAYS: Final = 5


def fit_days(
    values: Array, weekday: NDArray[np.intp], month_forms: Array, *, draws: int = 400, seed: int = 1
) -> TrendDraws:
    """TrendDraws every series: (series, days) busy-hour levels, nan where missing."""
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
    return TrendDraws(
        first_level=drawn["first_level"] * unit, slope=drawn["slope"] * unit, proportional=drawn["proportional"],
        shift_day=drawn["shift_day"], shift_size=drawn["shift_size"], week=drawn["week"] / head,
        first=np.argmax(measured, axis=1), last=values.shape[1] - 1 - np.argmax(measured[:, ::-1], axis=1),
        measured=np.concatenate([state.rows.there for state in states]).sum(axis=1),
        steps=tuple(tuple(each) for state in states for each in state.steps),
        pulses=tuple(tuple(each) for state in states for each in state.pulses),
        month_form=np.concatenate([state.month_form for state in states]), month=drawn["month"],
        phi=drawn["phi"].mean(axis=1), fitted=np.ones(series, dtype=bool),
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
