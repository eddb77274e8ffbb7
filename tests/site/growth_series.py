"""Seeded series whose level, trend and shift are known: what the growth method is tuned on and judged with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.results import Array

WEEKS = (
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 0.5),
    (0.95, 1.0, 0.98, 1.0, 0.92, 0.4, 0.35),
    (1.0, 0.97, 0.97, 0.95, 0.9, 0.85, 0.8),
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
)


YEARS_AFTER = 6


@dataclass(frozen=True, kw_only=True)
class Known:
    """Series with their truth, one row a series; the first day is a Monday."""

    values: Array  # (series, days), nan where missing
    first: Array  # level on the first day
    trend: Array  # a year, as a share of `first`
    phi: Array
    week: Array  # (series, 7)
    shift: Array  # share, 0 where none
    shift_day: Array
    proportional: np.ndarray
    factor: Array  # (series, days and years after them) season and walk beside the line
    compounds: bool  # whether `trend` is the logarithm of growth by percents

    def level(self, day: Array | int) -> Array:
        """Level without noise on a day (series,) or a column of days."""
        return self.level_of(self.trend, day) * self.factor[np.arange(self.first.size), day]

    def level_of(self, trend: Array, day: Array | int) -> Array:
        grown = trend * np.asarray(day) / 365.25
        line = np.exp(grown) if self.compounds else 1 + grown
        after = np.asarray(day) >= self.shift_day
        return self.first * np.where(
            self.proportional,
            line * np.where(after, 1 + self.shift, 1),
            line + np.where(after, self.shift, 0),
        )


def make(
    seed: int,
    *,
    series: int = 300,
    days: int = 400,
    flat: bool = False,
    sd: tuple[float, float] = (0.02, 0.10),
    shifts: float = 1 / 3,
    additive: float = 0.5,
    phi: tuple[float, float] = (0.0, 0.9),
    walk: float = 0.0,
    season: float = 0.0,
    percent: float = 0.0,
) -> Known:
    """Trend 0 to 60 %/year, a weekly pattern, AR(1) noise to .9, 5 % gaps, a level shift in a third.

    `walk` is the standard deviation of the logarithm of a level that wanders, in a year; `season` the half range of a
    sine of a year; `percent` a growth a year that compounds, in place of a straight trend.
    """
    rng = np.random.default_rng(seed)
    first = np.exp(rng.uniform(np.log(50), np.log(20000), series))
    trend = np.zeros(series) if flat else rng.uniform(0, 0.6, series)
    trend = np.full(series, np.log1p(percent / 100)) if percent else trend
    correlation = rng.uniform(*phi, series)
    sigma = rng.uniform(*sd, series)
    week = np.array([WEEKS[k] for k in rng.integers(0, len(WEEKS), series)])
    has = rng.random(series) < shifts
    shift = np.where(has, rng.uniform(0.08, 0.5, series) * rng.choice([-1, 1, 1], series), 0.0)
    shift_day = np.where(has, rng.uniform(0.1, 0.9, series) * days, 10**6).astype(int)
    beside = np.random.default_rng(seed + 1)
    years = np.arange(days + YEARS_AFTER * 366) / 365.25
    steps = beside.standard_normal((series, years.size)) * walk / np.sqrt(365.25)
    phase = beside.uniform(0, 1, (series, 1))
    known = Known(
        factor=np.exp(np.cumsum(steps, axis=1)) * (1 + season * np.sin(2 * np.pi * (years + phase))),
        values=np.empty(0),
        first=first,
        compounds=percent != 0,
        trend=trend,
        phi=correlation,
        week=week,
        shift=shift,
        shift_day=shift_day,
        proportional=rng.random(series) < 0.5,
    )
    day = np.arange(days)
    level = np.array([known.level(d) for d in day]).T
    noise = np.empty((series, days))
    noise[:, 0] = rng.standard_normal(series)
    for d in range(1, days):
        noise[:, d] = correlation * noise[:, d - 1] + np.sqrt(1 - correlation**2) * rng.standard_normal(
            series
        )
    noise *= sigma[:, None]
    mean = level * week[:, day % 7]
    is_additive = rng.random(series) < additive
    values = np.where(is_additive[:, None], mean + first[:, None] * noise, mean * (1 + noise))
    values[rng.random(values.shape) < 0.05] = np.nan
    return Known(**{**known.__dict__, "values": np.maximum(values, 0)})
