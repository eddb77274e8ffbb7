"""What becomes of limits: the day on which each is passed over all draws of a fit, with growth and events given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

import numpy as np

from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import column
from planner.results import Array, Flags, Integers
from planner.site.growth.draws import FARTHEST_EXPONENT, LIKELIER, TrendDraws, fit_days, short_fit
from planner.site.growth.model import TINY, TWO_YEARS, YEAR
from planner.site.series import Daily, SeriesLabel
from planner.units import MOST_BARE_SHARE, is_number

NEVER = np.inf


@dataclass(frozen=True, slots=True)
class Future:
    """The busy-day level of each draw from the last measured day on, as a line or compounding, times the season."""

    level: Array  # (series, draws) on the last measured day, in its season
    slope: Array  # (series, draws) a day, on that day and in its season
    rate: Array  # (series, draws) a day, by which the slope compounds
    fit: TrendDraws  # of what is ahead
    events: tuple[tuple[int, float], ...]  # day and factor, in order of time

    @staticmethod
    def of(fit: TrendDraws, rate: float | None, events: Sequence[tuple[int, float]]) -> Future:
        """Continue a fit."""
        fit = fit if rate is None else fit.compounding(rate)
        slope = fit.slope * fit.steep / YEAR * fit.season_on(fit.last)
        compounds = np.where(fit.compounds, fit.slope / fit.first_level / YEAR, 0.0)
        return Future(fit.level(fit.last), slope, compounds, fit, tuple(sorted(events)))

    @property
    def last(self) -> Integers:
        """Last measured day; (series,)."""
        return self.fit.last

    def factor(self, day: Integers | Array) -> Array:
        """What the events until a day multiply the level by."""
        found = np.ones(np.shape(day))
        for when, times in self.events:
            found = np.where(day >= when, found * times, found)
        return found

    def grown(self, ahead: Array) -> Array:
        """Level after some days, without events and in the season of the last; `ahead` (series, draws) or like it."""
        times = np.expm1(np.minimum(self.rate * ahead, FARTHEST_EXPONENT))
        times = np.divide(times, self.rate, out=0.0 * times + ahead, where=self.rate != 0)
        return self.level + self.slope * times

    def at(self, ahead: int) -> Array:
        """Level a number of days after the last; (series, draws)."""
        level = np.maximum(self.fit.level(self.last + ahead), 0.0)
        return np.asarray(level * self.factor(self.last + ahead)[:, None])

    def highest(self, ahead: int) -> Array:
        """The same in the busiest season of the year until then; (series, draws)."""
        back = range(0, 365, 5) if self.fit.seasonal.any() else (0,)
        most = np.max([self.fit.season_on(self.last + ahead - days) for days in back], axis=0)
        return np.asarray(self.at(ahead) * (most / self.fit.season_on(self.last + ahead)))

    @property
    def own(self) -> Array:
        """Level of each draw on the last measured day, no less than a hundredth of their median; (series, draws)."""
        least = np.maximum(0.01 * np.median(self.level, axis=1, keepdims=True), TINY)
        return np.maximum(self.level, least)

    def reaches(self, level: Array) -> Array:
        """Days after the last at which a level (series, draws, ...) is reached; -inf where never by growth."""
        own, slope, rate = (each[:, :, None] for each in (self.level, self.slope, self.rate))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.where(slope > 0, (level - own) / slope, -np.inf)
            found = np.where((rate == 0) | (slope <= 0), found, np.log1p(rate * found) / rate)
        return np.asarray(np.clip(np.nan_to_num(found), -1e9, 1e9))  # days


def passing_days(fit: TrendDraws, future: Future, limit: Array, weekday: Integers, horizon: int) -> Array:
    """First day on which level times weekly factor is above the limit of each draw; inf beyond the horizon."""
    best = np.full(future.level.shape, NEVER)
    wanted = limit[:, :, None] / np.maximum(fit.week, 1e-9)
    changes = [day - future.last for day in sorted({day for day, _ in future.events})]
    begins = [np.zeros_like(future.last), *(np.maximum(change, 0) for change in changes)]
    beyond = np.full_like(future.last, horizon + 1)
    ends = [*(np.minimum(change, beyond) for change in changes), beyond]
    for begin, end in zip(begins, ends, strict=True):
        times = future.factor(future.last + begin)[:, None, None]
        root = future.reaches(wanted / times)
        # What lies beyond the horizon counts as one day beyond it.
        earliest = np.maximum(np.minimum(np.floor(root), horizon) + 1, begin[:, None, None])
        day = earliest + (np.arange(7) - weekday[:, None, None] - earliest) % 7
        value = np.stack([future.grown(day[:, :, k]) for k in range(7)], axis=2) * times * fit.week
        fits = (value > limit[:, :, None]) & (day < end[:, None, None])
        best = np.minimum(best, np.where(fits, day, NEVER).min(axis=2))
    for k in np.flatnonzero(future.fit.seasonal | future.fit.wandering.any(axis=1)).tolist():
        best[k] = days_one_by_one(future, k, limit[k], int(weekday[k]), horizon)
    return best + future.last[:, None]


def days_one_by_one(future: Future, series: int, limit: Array, weekday: int, horizon: int) -> Array:
    """The same of one series that is no straight line, day by day, in days after the last; (draws,)."""
    fit, last = future.fit.pick(np.array([series])), int(future.last[series])
    best = np.full(future.level[series].shape, NEVER)
    for begin in range(0, horizon + 1, 366):
        ahead = np.arange(begin, min(begin + 366, horizon + 1))
        level = np.maximum(fit.path(0, last + ahead), 0.0)
        busy = level * fit.week[0][:, (weekday + ahead) % 7] * future.factor(last + ahead)
        above = busy > limit[:, None]
        best = np.minimum(best, np.where(above.any(axis=1), ahead[np.argmax(above, axis=1)], NEVER))
        if np.isfinite(best).all():
            break
    return best


def passed_days(fit: TrendDraws, series: int, limit: Array, weekday_of_first: int) -> Array:
    """First measured day of one series with level times weekly factor above that of each draw; inf where none."""
    days = np.arange(fit.first[series], fit.last[series] + 1)
    week = fit.week[series][:, (weekday_of_first + days - days[0]) % 7]
    above = fit.path(series, days) * week > limit[:, None]
    return np.where(above.any(axis=1), days[np.argmax(above, axis=1)], NEVER)


def quantiles(days: Array, shares: Sequence[float]) -> Array:
    """Quantiles of days (series, draws) that may be inf: the first drawn one that has the share; (shares, series)."""
    ordered = np.sort(days, axis=1)
    count = days.shape[1]
    return np.array([ordered[:, max(math.ceil(share * count - 1e-9) - 1, 0)] for share in shares])


AHEAD: Final = (90, 180, 365)  # days: three, six and twelve months
HORIZON: Final = 1826  # days in five years
FARTHEST: Final = 36525  # days in a century


def check_given(rate: float | None, events: Sequence[tuple[date, float]], horizon: int, last: date) -> None:
    """Refuse a rate, events and a horizon that make no sense."""
    if rate is not None and not (is_number(rate) and -1 < rate < MOST_BARE_SHARE):
        raise InputError(
            "rate", rate, "a share a year above -1 and below 5, such as 0.2 for 20 %; a step is an event"
        )
    if not (is_number(horizon) and 1 <= horizon <= FARTHEST and horizon % 1 == 0):
        raise InputError("horizon", horizon, f"whole days from 1 to {FARTHEST}", "days")
    for event in events:
        match event:
            case (date() as day, factor) if type(day) is date and is_number(factor) and 0 < factor < math.inf:
                if day <= last:
                    why = "what came before is in the measurements"
                    raise InputError("event", str(day), f"a day after the last measured one, {last}: {why}")
            case _:
                raise InputError(
                    "events", event, "pairs of a day and a factor above zero: [(date(2027, 3, 1), 1.3)]"
                )


Verdict = Literal["already", "within horizon", "not within horizon", "too few days"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A level shift: the day it begins on, and its size as a share of the level before it, 90 %."""

    day: date
    size: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChange:
    """When a trend became what it is now, likely and at the ends of 90 %, and what it was before, as `Limit.trend`."""

    day: date
    earliest: date
    latest: date
    before: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """Busiest and quietest day of the year after the last one, and the level on them as a share of the year's, 90 %."""

    busiest: date
    high: Interval
    quietest: date
    low: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What one series will do to its limit."""

    measured: SeriesLabel  # system, what, unit
    first: date  # first and last measured day
    last: date
    days: int  # measured days
    now: float  # on the last day: the busy-day level, that of a typical working day's busy hour
    trend: Interval | None  # straight-line change a year as a share of the level on the last day, 90 %
    limit: float | None  # where it ends, in the same unit
    load: float  # load at which it ends, in the unit of the load; inf where none within reach is too much
    grows: SeriesLabel  # the load that grows; what the limit is of, where that is the load itself
    reached: date | None  # first day on which level times weekly pattern and season passes the limit
    reached_low: date | None
    reached_high: date | None
    verdict: Verdict | None  # "already", "within horizon", "not within horizon", "too few days"
    levels: tuple[Interval, ...]  # busy-day level of the load 90, 180 and 365 days after the last one, 90 %
    needs: tuple[Interval, ...]  # `now` with its range, then by these days, where that is not the load itself
    week: tuple[float, ...]  # factor of each weekday from Monday on, at most 1; nan where none was measured
    season: Season | None  # yearly
    month_end: tuple[str, Interval] | None  # which days about a month end differ, and by which factor
    shifts: tuple[Shift, ...]  # level shifts, in order of time
    change: TrendChange | None  # where the trend was another before
    wandering: float | None  # standard deviation in a year of a level beside its line, as a share of it
    compounds: float  # probability that the load grows by percent
    by_kind: tuple[date | None, date | None]  # `reached` if it grows in a straight line, and by percent
    unlike: tuple[date, ...]  # days unlike all others (holidays, outages), left out of the fit
    correlation: float  # of the noise of one day with that of the next

    @property
    def long(self) -> bool:
        """Whether two years were measured, so that a season can be told from a trend."""
        return (self.last - self.first).days + 1 >= TWO_YEARS


FIGURES: Final = (
    *(column(name, of=f"measured.{name}") for name in ("system", "what", "unit")), column("now"),
    *(column(key, of=f"trend.{end}") for key, end in
      (("trend_per_year", "value"), ("trend_low", "low"), ("trend_high", "high"))),
    column("limit"), *(column(f"date{end}", of=f"reached{end}") for end in ("", "_low", "_high")), column("verdict"),
)  # fmt: skip
DETAILS: Final = (
    *(column(name, of=f"grows.{name}") for name in ("system", "what")),
    column("first_day", of="first"), column("last_day", of="last"), column("days"),
    column("week", of=lambda each: list(each.week)),
    *(column(f"season_{name}_date", of=f"season.{name}") for name in ("busiest", "quietest")),
    *(column(f"season_{name}{end}", of=f"season.{share}.{field}")
      for name, share in (("busiest", "high"), ("quietest", "low"))
      for end, field in (("", "value"), ("_low", "low"), ("_high", "high"))),
    column("month_end", of=lambda each: each.month_end and each.month_end[0]),
    column("month_end_factor", of=lambda each: each.month_end and each.month_end[1].value),
    column("month_end_low", of=lambda each: each.month_end and each.month_end[1].low),
    column("month_end_high", of=lambda each: each.month_end and each.month_end[1].high),
    *(column(f"trend_{key}", of=f"change.{field}") for key, field in
      (("changed", "day"), ("changed_low", "earliest"), ("changed_high", "latest"), ("before", "before.value"),
       ("before_low", "before.low"), ("before_high", "before.high"))),
    column("wandering"), column("probability_by_percent", of="compounds"),
    column("date_straight", of=lambda each: each.by_kind[0]),
    column("date_by_percent", of=lambda each: each.by_kind[1]), column("correlation"),
    column("unlike_days", of=lambda each: [day.isoformat() for day in each.unlike]),
)  # fmt: skip


FEWEST_DAYS: Final = 15  # 14 days are two of each weekday: too few for a trend
MOST_DOUBT: Final = 1.0  # a year to either side, of the line's higher end, that a trend may have
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
    nan where there is no limit. `needs` are `now` with its range, and what it becomes 90, 180 and 365 days ahead; `now`
    is the level where None.
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
    """Fit the series that have days enough, in this many processes; of the others only the level is known."""
    days = np.isfinite(daily.values).sum(axis=1)
    enough = (days >= FEWEST_DAYS) & (np.nan_to_num(daily.values).max(axis=1) > 0)
    weekday = (np.arange(daily.values.shape[1]) + daily.first.weekday()) % 7
    short = short_fit(daily.values[~enough], weekday, DRAWS)
    if not enough.any():
        return short
    forms = month_forms(daily.first, weekday.size)
    full = fit_days(daily.values[enough], weekday, forms, draws=DRAWS, workers=workers)
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
    now = _without_tiny(np.median(future.level, axis=1))
    dates = _dates(daily, fit, future, goals, now, horizon)
    slope = fit.slope * fit.steep
    steps = quantiles(slope, ENDS)
    base = _without_tiny(np.median(future.level / fit.season_on(fit.last), axis=1))  # of the year about now
    line = np.maximum(fit.first_level, future.own)  # its higher end
    low_share, _, high_share = quantiles(slope / line, ENDS)
    ahead = [_without_tiny(quantiles(future.at(step), ENDS)) for step in AHEAD]
    found = []
    for k, goal in enumerate(goals):
        fitted = fit.measured[k] >= FEWEST_DAYS and fit.fitted[k]
        trend = Interval(*(steps[:, k] / base[k])) if fitted and base[k] > 0 else None
        few = future.fit is fit and (not fitted or high_share[k] - low_share[k] > 2 * MOST_DOUBT)
        idle = fit.measured[k] >= FEWEST_DAYS and np.nanmax(daily.values[k]) == 0
        verdict = _verdict(goal.load.value, now[k], few and not idle, dates[1, k])
        known = verdict in {"already", "within horizon", "not within horizon"}
        low, middle, high, *by_kind = (
            daily.day(at) if known and np.isfinite(at) else None for at in dates[:, k]
        )
        found.append(
            Limit(
                measured=goal.measured, first=daily.day(int(fit.first[k])), last=daily.day(int(fit.last[k])),
                days=int(np.isfinite(daily.values[k]).sum()), now=float(now[k]) if goal.now is None else goal.now,
                trend=trend, limit=goal.limit, load=float(goal.load.value), grows=daily.series[k],
                reached=middle, reached_low=low, reached_high=high, verdict=verdict,
                levels=() if few else tuple(Interval(*(float(end) for end in level[:, k])) for level in ahead),
                needs=goal.needs[:1] if few else goal.needs,
                week=_week(daily, fit, k), season=_season(daily, fit, k),
                month_end=None if fit.month_form[k] < 0
                else (MONTH_ENDS[int(fit.month_form[k])], _interval(fit.month[k])),
                shifts=_shifts(daily, fit, k), change=_change(daily, fit, k, float(base[k])) if trend else None,
                wandering=_wandering(fit, k, float(base[k])), compounds=float(fit.compounds[k].mean()),
                by_kind=(by_kind[0], by_kind[1]),
                unlike=tuple(daily.day(day) for day in fit.pulses[k]),
                correlation=float(fit.phi[k]),
            )
        )  # fmt: skip
    return found


def _week(daily: Daily, fit: TrendDraws, k: int) -> tuple[float, ...]:
    known = {daily.day(int(day)).weekday() for day in np.flatnonzero(np.isfinite(daily.values[k]))}
    factors = np.minimum(fit.week[k].mean(axis=0), 1.0).tolist()
    return tuple(factor if day in known else math.nan for day, factor in enumerate(factors))


def _season(daily: Daily, fit: TrendDraws, k: int) -> Season | None:
    """Where the mean of the draws is highest and lowest."""
    if not fit.seasonal[k]:
        return None
    days = fit.last[k] + 1 + np.arange(365)
    path = fit.season_path(k, days)
    high, low = int(path.mean(axis=0).argmax()), int(path.mean(axis=0).argmin())
    return Season(
        busiest=daily.day(int(days[high])), high=_interval(path[:, high] - 1),
        quietest=daily.day(int(days[low])), low=_interval(path[:, low] - 1),
    )  # fmt: skip


def _without_tiny(levels: Array) -> Array:
    """Levels, 0 for what a fit takes in place of no load."""
    return np.where(levels > 1e10 * TINY, levels, 0.0)


def _dates(
    daily: Daily, fit: TrendDraws, future: Future, goals: Sequence[Goal], now: Array, horizon: int
) -> Array:
    """Day on which each load is passed: low end, median, high end, medians of either kind of line; inf where never.

    A need is that of a measured interval, grown: each draw passes it at this many times its own level of the last day,
    and on that day at the latest where today's need is above the limit.
    """
    weekday = (fit.last + daily.first.weekday()) % 7
    found, passed = np.full((len(ENDS) + 2, len(goals)), NEVER), []
    loads = np.array([tuple(goal.load) for goal in goals]).T
    needed = np.array([bool(goal.needs) for goal in goals])
    own = np.where(needed[:, None], future.own / np.where(needed, now, 1.0)[:, None], 1.0)
    for row, load in enumerate(np.where(np.isnan(loads), np.inf, loads)):
        limit = load[:, None] * own
        days = passing_days(fit, future, limit, weekday, horizon)
        for k in np.flatnonzero(now > load).tolist():
            past = passed_days(fit, k, limit[k], int((daily.first.weekday() + fit.first[k]) % 7))
            days[k] = np.where(np.isfinite(past), past, fit.last[k] if needed[k] else days[k])
        found[row] = quantiles(days, ENDS[row : row + 1])[0]
        passed.append(days)
    if future.fit is fit:
        _, middle, _ = passed
        found[len(ENDS) :] = [medians_of(middle, kind) for kind in (~fit.compounds, fit.compounds)]
    return found


def medians_of(days: Array, these: Flags) -> Array:
    """Median of some draws of each series, both (series, draws); inf where it has none of them."""
    picked = (each[None, some] for each, some in zip(days, these, strict=True))
    return np.array([quantiles(each, (0.5,))[0, 0] if each.size else NEVER for each in picked])


def _verdict(limit: float, now: float, few: bool, day: float) -> Verdict | None:
    if np.isnan(limit):
        return None
    if now > limit:
        return "already"
    if few:
        return "too few days"
    return "within horizon" if np.isfinite(day) else "not within horizon"


def _change(daily: Daily, fit: TrendDraws, series: int, level: float) -> TrendChange | None:
    """When the trend changed, and what it was, where that is likelier than not."""
    bent = fit.bend[series] != 0.0
    if bent.mean() <= LIKELIER:
        return None
    begin = np.quantile(fit.first[series] + fit.bend_years[series, bent] * YEAR, ENDS)
    before = (fit.slope - fit.bend) * fit.steep / level
    low, day, high = (daily.day(round(each)) for each in begin.tolist())
    return TrendChange(day=day, earliest=low, latest=high, before=_interval(before[series, bent]))


def _wandering(fit: TrendDraws, series: int, level: float) -> float | None:
    """By how much the level wanders in a year, where that is likelier than not."""
    size = fit.wandering[series]
    if (does := size > 0).mean() <= LIKELIER:
        return None
    share = np.where(fit.proportional[series], size, size * fit.first_level[series] / level)
    return float(np.sqrt(np.mean(share[does] ** 2)))


def _shifts(daily: Daily, fit: TrendDraws, series: int) -> tuple[Shift, ...]:
    """The certain level shifts, and a doubtful one that is likelier than not."""
    there = fit.shift_day[series, :, -1] >= 0
    days = {day: (fit.shift_day[series] == day).any(axis=1) for day in fit.steps[series]}
    if there.mean() > LIKELIER:
        days.setdefault(int(np.median(fit.shift_day[series, there, -1])), there)
    found = []
    # of the first level: less is no level that a shift can be a share of
    least = 0.01 * float(np.median(np.abs(fit.first_level[series])))
    for day, draws in sorted(days.items()):
        reach = 0 if draws.all() else 7  # a doubtful one may lie some days off
        before, after = fit.line(series, np.array([day - 1 - reach, day + reach]))[draws].T
        size = _interval(np.maximum(after, 0.0) / np.maximum(before, least) - 1)
        found.append(Shift(day=daily.day(day), size=size))
    return tuple(found)


def _interval(draws: Array) -> Interval:
    return Interval(*(float(end) for end in np.quantile(draws, ENDS)))
