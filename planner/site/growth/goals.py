"""What becomes of limits: fits of the series, dates of exhaustion, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np

from planner.interval import Interval
from planner.results import Array
from planner.site.growth.dates import Future, Limit, Shift, Verdict, passed_days, passing_days, quantiles
from planner.site.growth.draws import TrendDraws, fit_days, short_fit
from planner.site.growth.wording import AHEAD
from planner.site.series import Daily, SeriesLabel

FEWEST_DAYS: Final = 15  # 14 days are two of each weekday: too few for a trend
ENDS: Final = (0.05, 0.5, 0.95)
DRAWS: Final = 400
MONTH_ENDS: Final = (
    "last working day", "last two working days", "last three working days", "first working day",
    "last and first working day", "last day",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A limit of a series: `now` and `limit` as people know them, `load` at which it is reached, in the series' unit.

    `load` has a low end where readings of a measurement differ; it is inf where no load within reach is too much, and
    nan where there is no limit. `needs` are what `now` becomes 90, 180 and 365 days ahead; `now` is the level where
    None.
    """

    series: int
    measured: SeriesLabel
    now: float | None
    limit: float | None
    load: Interval
    needs: tuple[Interval, ...] = ()

    @classmethod
    def at(cls, series: int, measured: SeriesLabel, now: float | None, limit: float | None) -> Goal:
        """A limit of the load itself."""
        load = Interval.around(math.nan if limit is None else limit, 0.0)
        return cls(series=series, measured=measured, now=now, limit=limit, load=load)


def fitted(daily: Daily, workers: int | None = None) -> TrendDraws:
    """Fit the series that have days enough, in so many processes; of the others only the level is known."""
    days = np.isfinite(daily.values).sum(axis=1)
    enough = (days >= FEWEST_DAYS) & (np.nan_to_num(daily.values).max(axis=1) > 0)
    weekday = (np.arange(daily.values.shape[1]) + daily.first.weekday()) % 7
    short = short_fit(daily.values[~enough], weekday, DRAWS)
    if not enough.any():
        return short
    full = fit_days(
        daily.values[enough], weekday, month_forms(daily.first, weekday.size), draws=DRAWS, workers=workers
    )
    order = np.concatenate([np.flatnonzero(enough), np.flatnonzero(~enough)])
    return TrendDraws.joined([full, short]).pick(np.argsort(order))


def month_forms(first: date, days: int) -> Array:
    """Days of each form of a month end, in the order of `MONTH_ENDS`; (forms, days) of 0 and 1."""
    day = np.datetime64(first, "D") + np.arange(days).astype("timedelta64[D]")
    month = day.astype("datetime64[M]")
    begin, end = month.astype("datetime64[D]"), (month + np.timedelta64(1, "M")).astype("datetime64[D]")
    work = np.is_busday(day)
    left = np.busday_count(day, end)  # working days of the month from this one on
    gone = np.busday_count(begin, day)
    last = [work & (left <= k) for k in (1, 2, 3)]
    first_one = work & (gone == 0)
    forms = np.array([*last, first_one, last[0] | first_one, end - day == np.timedelta64(1, "D")])
    return forms.astype(np.float64)


def answers(
    daily: Daily, fit: TrendDraws, goals: Sequence[Goal], horizon: int, future: Future
) -> list[Limit]:
    """What becomes of each goal; series of `daily` and `fit` are those of the goals, one by one."""
    now = np.median(future.level, axis=1)
    dates = _dates(daily, fit, future, goals, now, horizon)
    trends = quantiles(fit.slope / fit.first_level, ENDS)
    ahead = [quantiles(future.at(step), ENDS) for step in AHEAD]
    found = []
    for k, goal in enumerate(goals):
        trend = Interval(*trends[:, k]) if fit.measured[k] >= FEWEST_DAYS and fit.fitted[k] else None
        few = future.rate is None and (trend is None or _says_nothing(trend))
        idle = fit.measured[k] >= FEWEST_DAYS and np.nanmax(daily.values[k]) == 0
        verdict = _verdict(goal.load.value, now[k], few and not idle, dates[1, k])
        known = verdict in {"already", "within horizon", "not within horizon"}
        low, middle, high = (daily.day(at) if known and np.isfinite(at) else None for at in dates[:, k])
        found.append(
            Limit(
                measured=goal.measured, first=daily.day(int(fit.first[k])), last=daily.day(int(fit.last[k])),
                days=int(np.isfinite(daily.values[k]).sum()), now=float(now[k]) if goal.now is None else goal.now,
                trend=trend, limit=goal.limit, load=float(goal.load.value), grows=daily.series[k],
                reached=middle, reached_low=low, reached_high=high, verdict=verdict,
                levels=() if few else tuple(Interval(*(float(end) for end in level[:, k])) for level in ahead),
                needs=() if few else goal.needs, week=tuple(np.minimum(fit.week[k].mean(axis=0), 1.0).tolist()),
                month_end=None if fit.month_form[k] < 0
                else (MONTH_ENDS[int(fit.month_form[k])], _interval(fit.month[k])),
                shifts=_shifts(daily, fit, k), unlike=tuple(daily.day(day) for day in fit.pulses[k]),
                correlation=float(fit.phi[k]),
            )
        )  # fmt: skip
    return found


def _says_nothing(trend: Interval) -> bool:
    """Whether a trend is known to no better than 100 % a year to either side, or than itself where it is larger."""
    least = 1.0 if trend.low <= 0.0 <= trend.high else max(1.0, abs(trend.value))
    return bool((trend.high - trend.low) / 2 > least)


def _dates(
    daily: Daily, fit: TrendDraws, future: Future, goals: Sequence[Goal], now: Array, horizon: int
) -> Array:
    """Low end, median and high end of the day on which each load is passed; (3, goals), inf where never."""
    weekday = (fit.last + daily.first.weekday()) % 7
    found = np.empty((len(ENDS), len(goals)))
    loads = np.array([tuple(goal.load) for goal in goals]).T
    before: tuple[Array, Array] | None = None
    for row, load in enumerate(np.where(np.isnan(loads), np.inf, loads)):
        if before is None or not np.array_equal(before[0], load):
            days = passing_days(fit, future, load, weekday, horizon)
            for k in np.flatnonzero(now > load).tolist():
                past = passed_days(fit, k, float(load[k]), int((daily.first.weekday() + fit.first[k]) % 7))
                days[k] = np.where(np.isfinite(past), past, days[k])
            before = load, days
        found[row] = quantiles(before[1], ENDS[row : row + 1])[0]
    return found


def _verdict(limit: float, now: float, few: bool, day: float) -> Verdict | None:
    if np.isnan(limit):
        return None
    if now > limit:
        return "already"
    if few:
        return "too few days"
    return "within horizon" if np.isfinite(day) else "not within horizon"


def _shifts(daily: Daily, fit: TrendDraws, series: int, named: float = 0.5) -> tuple[Shift, ...]:
    """The certain level shifts, and a doubtful one from the probability `named` on."""
    there = fit.shift_day[series, :, -1] >= 0
    days = {day: np.full(there.size, True) for day in fit.steps[series]}
    if there.mean() > named:
        days.setdefault(int(np.median(fit.shift_day[series, there, -1])), there)
    found = []
    # of the first level: less is no level that a shift can be a share of
    least = 0.01 * float(np.median(np.abs(fit.first_level[series])))
    for day, draws in sorted(days.items()):
        reach = 0 if draws.all() else 7  # a doubtful one may lie some days off
        before, after = fit.path(series, np.array([day - 1 - reach, day + reach]))[draws].T
        found.append(
            Shift(day=daily.day(day), size=_interval(np.maximum(after, 0.0) / np.maximum(before, least) - 1))
        )
    return tuple(found)


def _interval(draws: Array) -> Interval:
    return Interval(*(float(end) for end in np.quantile(draws, ENDS)))
