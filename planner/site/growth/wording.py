"""The sentences and tables of a growth answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final

from planner import render
from planner.answer import tabled
from planner.interval import Interval
from planner.quantity import column
from planner.render.text import counted, listed
from planner.site.growth.dates import AHEAD, Limit
from planner.site.growth.model import YEAR
from planner.site.series import WEEKDAYS
from planner.units import ends, given, percent, readable

MOST_LOADS: Final = 12  # whose levels, shifts and patterns the text shows
NAMED: Final = 5  # days or series that a sentence lists
TOO_MANY: Final = "too many"
MANY: Final = ("aliases", "addresses")  # units whose limits are spoken of in the plural
COUNTED: Final = ("", "share", *MANY)  # units that the name of a limit says


def signed(share: float) -> str:
    """By how much something is higher or lower."""
    return f"{percent(abs(share))} {'higher' if share >= 0 else 'lower'}"


def amount(value: float, unit: str) -> str:
    """A level with its unit."""
    if unit in COUNTED:
        return TOO_MANY if math.isinf(value) else given(value)
    return f"{readable(value)}{'/s' if unit == '1/s' else f' {unit}' if unit else ''}"


def years(days: int) -> str:
    """A horizon in years."""
    return f"{readable(days / YEAR)} years"


def ahead(days: int) -> str:
    """How long the horizon is; in days where it is no whole number of years."""
    whole = round(days / YEAR)
    return counted(whole, "year") if abs(days - whole * YEAR) < 0.01 * YEAR else counted(days, "day")


def sentence(limit: Limit, rate: float | None, horizon: int) -> str:
    """What one series does to its limit."""
    name, unit = limit.measured.name, limit.measured.unit
    be, do, reach = ("are", "do", "exceed") if unit in MANY else ("is", "does", "reaches")
    if limit.limit is None:
        return f"{name} {be} at {amount(limit.now, unit)} on a busy day; {_trend(limit)}."
    end = amount(limit.limit, unit)
    if limit.verdict == "already":
        return f"{name} {be} above {end} already: {amount(limit.now, unit)} on a busy day, since {limit.reached}."
    if limit.verdict == "too few days":
        few = f"no trend, {counted(limit.days, 'day')} are too few"
        return f"{name}: {few}; {amount(limit.now, unit)} of {end} on a busy day."
    growth = f"growth of {percent(rate)} a year" if rate is not None else _trend(limit)
    if limit.verdict == "within horizon":
        return f"{name} {reach} {end} on {limit.reached} ({_between(limit)}); {growth}."
    early = f"; on {limit.reached_low} at the earliest" if limit.reached_low else ""
    return f"{name} {do} not reach {end} within {ahead(horizon)}{early}; {growth}."


def _between(limit: Limit) -> str:
    if limit.reached_high is None:
        return f"90 %: {limit.reached_low} at the earliest, or not within the horizon"
    return f"90 %: {limit.reached_low} to {limit.reached_high}"


def _trend(limit: Limit) -> str:
    if limit.trend is None:
        return "no trend: too few days"
    low, value, high = ends(limit.trend * 100, 1)
    year = f"{value.removeprefix('-')} % a year (90 %: {low} % to {high} %)"
    if limit.trend.low <= 0 <= limit.trend.high:
        return f"no clear trend, {'-' * value.startswith('-')}{year}"
    what = "its load" if limit.needs else "it"
    return f"{what} {'grows' if limit.trend.value > 0 else 'falls'} by {year}"


def notes_on_days(limits: Sequence[Limit], correlated: float = 0.7) -> list[str]:
    """Days left out, series that ended before the others, and `correlated` noise that makes ranges wide."""
    each_load = loads(limits)
    found = []
    unlike = [each for each in each_load if each.unlike]
    if unlike:
        days = sum(len(each.unlike) for each in unlike)
        which = (
            listed([str(day) for day in unlike[0].unlike], NAMED)
            if len(unlike) == 1
            else f"in {len(unlike)} series; --json has them"
        )
        be, them = ("is", "it") if days == 1 else ("are", "them")
        found.append(
            f"{counted(days, 'day')} {be} unlike all others and left out of the fit ({which}): check {them}."
        )
    last = max((each.last for each in limits), default=date.min)
    ended = [each for each in each_load if (last - each.last) > timedelta(days=7)]
    if ended:
        names = listed([f"{each.grows.name} ({each.last})" for each in ended], NAMED)
        found.append(
            f"Not measured up to the last day, {last}: {names}. Dates count from the own last day of each."
        )
    first = min((each.first for each in limits), default=date.min)
    later = [each for each in each_load if (each.first - first) > timedelta(days=7)]
    if later:
        names = listed([f"{each.grows.name} ({each.first})" for each in later], NAMED)
        found.append(f"Measured only from a later day on: {names}.")
    shifts = [each for each in each_load if each.shifts]
    if shifts:
        found.append("A level shift is no trend: the line goes on from the level after the last one.")
    if any(each.correlation > correlated for each in limits):
        found.append(
            "Where one day is much like the next, many days say little more than a few: the ranges are wide for it."
        )
    few = [each for each in limits if each.verdict == "too few days"]
    if few:
        found.append(
            "Give the growth with --growth, as 20%/year, or measure longer: a trend needs months of days."
        )
    return found


def sections(limits: Sequence[Limit]) -> tuple[render.Section, ...]:
    """Limits in order of date, what is needed ahead, and of few loads their levels ahead, shifts and pattern."""
    several = len({each.measured.system for each in limits}) > 1

    def table(rows: Sequence[tuple[Any, ...]], *labels: str) -> render.Table:
        named = [(label.name if several else label.what, *row) for label, *row in rows]
        return tabled(named, map(column, ("what", *labels)))

    ahead = [f"in {days} days" for days in AHEAD]
    dates = [
        (
            each.measured, amount(each.now, each.measured.unit),
            None if each.trend is None else "{1} % ({0} to {2})".format(*ends(each.trend * 100, 1)),
            None if each.limit is None else amount(each.limit, ""), each.reached or each.verdict, _dates(each),
        )
        for each in limits
    ]  # fmt: skip
    needs = [
        (each.measured, *map(_needed, (Interval.around(each.now, 0.0), *each.needs)))
        for each in limits
        if each.needs
    ]
    found = [
        render.Section(
            table=table(dates, "now", "trend a year", "limit", "date", "90 % range"),
            caption="Ranges are 90 % intervals.",
        ),
        render.Section(table=table(needs, "now", *ahead), title="Needed, by the queueing model"),
    ]
    grow = loads(limits)
    if len(grow) > MOST_LOADS:
        return tuple(found)
    levels = [
        (each.grows, *("{1} ({0} to {2})".format(*ends(level)) for level in each.levels))
        for each in grow
        if each.levels
    ]
    shifts = [
        (each.grows, it.day, signed(it.size.value), f"{percent(it.size.low)} to {percent(it.size.high)}")
        for each in grow
        for it in each.shifts
    ]
    weeks = [
        (each.grows, *(readable(factor, 2, zeros=True) for factor in each.week), _month_end(each))
        for each in grow
        if each.trend is not None
    ]
    pattern = table(weeks, *WEEKDAYS, "month end").filled(("what", *WEEKDAYS))
    return (
        *found,
        render.Section(table=table(levels, *ahead), title="Level of a busy day"),
        render.Section(table=table(shifts, "from", "by", "90 % range"), title="Level shifts"),
        render.Section(table=pattern, title="Pattern, as a share of the busiest weekday"),
    )


def _dates(limit: Limit) -> str | None:
    """The range of the date; an open end is beyond the horizon."""
    if limit.reached_low is None:
        return None
    return f"{limit.reached_low} to {limit.reached_high or 'later'}"


def _needed(need: Interval) -> str:
    """A count with its range; inf is more than there are addresses for."""
    low, value, high = (
        "not solved" if math.isnan(end) else readable(end) if math.isfinite(end) else TOO_MANY for end in need
    )
    return value if low == high else f"{value} ({low} to {high})"


def _month_end(limit: Limit) -> str | None:
    if limit.month_end is None:
        return None
    return f"{limit.month_end[0]}: {readable(limit.month_end[1].value, 2, zeros=True)}"


def loads(limits: Sequence[Limit]) -> list[Limit]:
    """The first limit of each load: what grows is said once."""
    return list({each.grows: each for each in reversed(limits)}.values())[::-1]
