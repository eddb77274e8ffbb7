"""What one series will do to its limit, as data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from planner.interval import Interval
from planner.site.series import SeriesLabel

Verdict = Literal["already", "within horizon", "not within horizon", "too few days"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A level shift: the day it begins on, and its size as a share of the level before it, 90 %."""

    day: date
    size: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What one series will do to its limit."""

    measured: SeriesLabel  # system, what, unit
    first: date  # first and last measured day
    last: date
    days: int  # measured days
    now: float  # on the last day: the busy-day level, that of a typical working day's busy hour
    trend: Interval | None  # straight-line change a year as a share of the level on the first day, 90 %
    limit: float | None  # where it ends, in the same unit
    load: float  # load at which it ends, in the unit of the load; inf where none within reach is too much
    grows: SeriesLabel  # the load that grows; what the limit is of, where that is the load itself
    reached: date | None  # first day on which level times weekly pattern passes the limit
    reached_low: date | None
    reached_high: date | None
    verdict: Verdict | None  # "already", "within horizon", "not within horizon", "too few days"
    levels: tuple[Interval, ...]  # busy-day level of the load 90, 180 and 365 days after the last one, 90 %
    needs: tuple[Interval, ...]  # what `now` becomes by then, where that is not the load itself
    week: tuple[float, ...]  # factor of each weekday from Monday on, at most 1
    month_end: tuple[str, Interval] | None  # which days about a month end differ, and by which factor
    shifts: tuple[Shift, ...]  # level shifts, in order of time
    unlike: tuple[date, ...]  # days unlike all others (holidays, outages), left out of the fit
    correlation: float  # of the noise of one day with that of the next

    def record(self) -> dict[str, Any]:
        """The limit as ``--json`` shows it."""
        trend = self.trend
        return {
            "system": self.measured.system,
            "what": self.measured.what,
            "unit": self.measured.unit,
            "now": self.now,
            "trend_per_year": None if trend is None else float(trend.value),
            "trend_low": None if trend is None else float(trend.low),
            "trend_high": None if trend is None else float(trend.high),
            "limit": self.limit,
            "date": iso(self.reached),
            "date_low": iso(self.reached_low),
            "date_high": iso(self.reached_high),
            "verdict": self.verdict,
        }

    def details(self) -> dict[str, Any]:
        """What the limit rests on, as ``--json`` shows it."""
        month = self.month_end
        return {
            "system": self.grows.system,
            "what": self.grows.what,
            "first_day": iso(self.first),
            "last_day": iso(self.last),
            "days": self.days,
            "week": list(self.week),
            "month_end": None if month is None else month[0],
            "month_end_factor": None if month is None else month[1].value,
            "month_end_low": None if month is None else month[1].low,
            "month_end_high": None if month is None else month[1].high,
            "unlike_days": [iso(day) for day in self.unlike],
            "correlation": self.correlation,
        }


def iso(day: date | None) -> str | None:
    """A date as ``--json`` shows it."""
    return None if day is None else day.isoformat()
