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
    """What one series will do to its limit.

    Attributes
    ----------
    measured : SeriesLabel
        System, what, unit.
    first, last : datetime.date
        First and last measured day.
    days : int
        Measured days.
    now : float
        On the last day: the busy-day level, that of a typical working day's busy hour, or what it needs.
    trend : Interval or None
        Straight-line change a year as a share of the level on the first day, 90 %; None for too few days.
    limit : float or None
        Where it ends, in the same unit.
    load : float
        Load at which it ends, in the unit of the load; inf where none within reach is too much, nan without a limit.
    grows : SeriesLabel
        The load that grows; what the limit is of, where that is the load itself.
    reached, reached_low, reached_high : datetime.date or None
        First day on which level times weekly pattern passes the limit, and its 90 % interval; None beyond the horizon.
    verdict : str or None
        "already", "within horizon", "not within horizon", "too few days"; None without a limit.
    levels : tuple of Interval
        Busy-day level of the load 90, 180 and 365 days after the last one, 90 %.
    needs : tuple of Interval
        What `now` becomes by then, where that is not the load itself.
    week : tuple of float
        Factor of each weekday from Monday on, at most 1.
    month_end : tuple of str and Interval, or None
        Which days about a month end differ, and by which factor; None where none do.
    shifts : tuple of Shift
        Level shifts, in order of time.
    unlike : tuple of datetime.date
        Days unlike all others (holidays, outages), left out of the fit.
    correlation : float
        Of the noise of one day with that of the next.
    """

    measured: SeriesLabel
    first: date
    last: date
    days: int
    now: float
    trend: Interval | None
    limit: float | None
    load: float
    grows: SeriesLabel
    reached: date | None
    reached_low: date | None
    reached_high: date | None
    verdict: Verdict | None
    levels: tuple[Interval, ...]
    needs: tuple[Interval, ...]
    week: tuple[float, ...]
    month_end: tuple[str, Interval] | None
    shifts: tuple[Shift, ...]
    unlike: tuple[date, ...]
    correlation: float

    def record(self) -> dict[str, Any]:
        """The limit as ``--json`` shows it.

        Returns
        -------
        dict
            Dates as text.
        """
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
        """What the limit rests on, as ``--json`` shows it.

        Returns
        -------
        dict
            Days, pattern, correlation.
        """
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
