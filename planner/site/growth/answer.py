"""From when on a limit no longer holds: level, trend and date of exhaustion of measured series, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, ClassVar, Final

import numpy as np

from planner import render
from planner.answer import Answer, record, tabled
from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import column
from planner.render.text import counted, listed
from planner.site.growth import dates
from planner.site.growth.dates import (
    AHEAD,
    DETAILS,
    FEWEST_DAYS,
    FIGURES,
    HORIZON,
    Future,
    Goal,
    Limit,
)
from planner.site.growth.draws import TrendDraws
from planner.site.growth.model import MONTH, YEAR
from planner.site.series import WEEKDAYS, Daily, SeriesLabel
from planner.sizing.gaps import Gaps, all_missing, all_notes, first_words, worst_code
from planner.units import ends, given, is_number, percent, readable

MOST_LOADS: Final = 12  # whose levels, shifts and patterns the text shows
NAMED: Final = 5  # days or series that a sentence lists
DOUBTFUL: Final = 0.1  # probability from which on it is said that growth may be by percent
TOO_MANY: Final = "too many"
MANY: Final = ("aliases", "addresses")  # units whose limits are spoken of in the plural
COUNTED: Final = ("", "share", *MANY)  # units that the name of a limit says


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Growth(Answer):
    """From when on each limit no longer holds, in order of date."""

    PICTURE: ClassVar[str] = "planner.site.growth.pictures:draw"
    COLUMNS: ClassVar = FIGURES
    ROWS: ClassVar = "limits"

    limits: tuple[Limit, ...]  # what breaks first comes first
    horizon: int  # days ahead that were looked at
    rate: float | None  # growth a year that was given in place of the fitted one; compounds
    events: tuple[tuple[date, float], ...]  # days and factors that were given
    daily: Daily  # the measured days
    fit: TrendDraws  # draws for the series of `daily`, in their order
    order: tuple[int, ...]  # which series of `daily` each limit belongs to
    further: tuple[str, ...] = ()  # notes on where the limits come from
    gaps: Mapping[str, Gaps] = field(default_factory=dict)  # members that were not read, by pool
    unanswered: bool = False  # whether a pool has no answer, which a note says
    basis: str = ""  # over which days needs are decided, where those are not all that were measured

    @property
    def headline(self) -> str:
        """What could not be read; what breaks first, and when; over which days needs are decided."""
        lacking = first_words(self.gaps, "limits may come earlier than said")
        said = sentence(self.limits[0], self.rate, self.horizon)
        if len(self.limits) > 1:
            within = sum(each.verdict in {"already", "within horizon"} for each in self.limits)
            said = (
                f"{within} of {len(self.limits)} limits {'is' if within == 1 else 'are'} reached within "
                f"{ahead(self.horizon)}. {'First' if within else 'Next'}: {said}"
            )
        return f"{lacking}{said} {self.basis}".rstrip()

    @property
    def exit_code(self) -> int:
        """2 where members could not be read, or a pool has no answer."""
        return 2 if self.unanswered else worst_code(self.gaps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions, what was found in the days, and what to do."""
        found = [*all_notes(self.gaps), *self.further, *self.daily.notes]
        if self.rate is not None:
            found.append(
                f"Growth of {percent(self.rate)} a year compounds from the last measured day on; "
                "the trend shown is the measured one."
            )
        elif any(each.trend is not None for each in self.limits):
            found.append(
                "Dates and levels hold if loads go on as they did, without a further level shift; "
                "--growth and --event say otherwise."
            )
        found += [f"From {day} on the load is {signed(factor - 1)}." for day, factor in sorted(self.events)]
        found += notes_on_loads(self.limits) + notes_on_days(self.limits)
        if len(loads(self.limits)) > MOST_LOADS:
            found.append("Levels, level shifts and patterns of all loads are in --json.")
        if any(each.trend is not None and not each.long for each in self.limits):
            found.append("Less than two years seldom tell a yearly season from a trend.")
        return tuple(found)

    def sections(self) -> tuple[render.Section, ...]:
        """Limits in order of date, what is needed ahead, and of few loads their levels ahead, shifts and pattern."""
        several = len({each.measured.system for each in self.limits}) > 1

        def table(rows: Sequence[tuple[Any, ...]], *labels: str) -> render.Table:
            named = [(label.name if several else label.what, *row) for label, *row in rows]
            return tabled(named, map(column, ("what", *labels)))

        ahead = [f"in {days} days" for days in AHEAD]
        rows = [
            (
                each.measured, amount(each.now, each.measured.unit),
                None if each.trend is None else "{1} % ({0} to {2})".format(*ends(each.trend * 100, 1)),
                None if each.limit is None else amount(each.limit, ""), each.reached or each.verdict,
                each.reached_low and f"{each.reached_low} to {each.reached_high or 'later'}",  # or beyond the horizon
            )
            for each in self.limits
        ]  # fmt: skip
        needs = [
            (each.measured, *map(_needed, each.needs), *[None] * (1 + len(AHEAD) - len(each.needs)))
            for each in self.limits
            if each.needs
        ]
        found = [
            render.Section(
                table=table(rows, "now", "trend a year", "limit", "date", "90 % range"),
                caption="Ranges are 90 % intervals.",
            ),
            render.Section(table=table(needs, "now", *ahead), title="Needed, by the queueing model"),
        ]
        grow = loads(self.limits)
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
            (each.grows, *(readable(factor, 2, zeros=True) for factor in each.week),
             each.month_end and f"{each.month_end[0]}: {readable(each.month_end[1].value, 2, zeros=True)}")
            for each in grow
            if each.trend is not None
        ]  # fmt: skip
        pattern = table(weeks, *WEEKDAYS, "month end").filled(("what", *WEEKDAYS))
        return (
            *found,
            render.Section(table=table(levels, *ahead), title="Level of a busy day"),
            render.Section(table=table(shifts, "from", "by", "90 % range"), title="Level shifts"),
            render.Section(table=pattern, title="Pattern, as a share of the busiest weekday"),
        )

    def plain_figures(self) -> dict[str, Any]:
        """Limits, and the loads that they rest on."""

        def said(label: SeriesLabel, day: date, name: str, size: Interval, **more: int) -> dict[str, Any]:
            three = {name: size.value, f"{name}_low": size.low, f"{name}_high": size.high}
            return {"system": label.system, "what": label.what, **more, "date": day.isoformat(), **three}

        grow = loads(self.limits)
        return {
            "limits": [record(each, FIGURES) for each in self.limits],
            "levels": [
                said(each.grows, each.last + timedelta(days=days), "level", size, days=days)
                for each in grow
                for days, size in zip(AHEAD, each.levels, strict=False)
            ],
            "needs": [
                said(each.measured, each.last + timedelta(days=days), "needed", size, days=days)
                for each in self.limits
                for days, size in zip((0, *AHEAD), each.needs, strict=False)
            ],
            "shifts": [said(each.grows, it.day, "size", it.size) for each in grow for it in each.shifts],
            "series": [record(each, DETAILS) for each in grow],
            "volumes_missing": all_missing(self.gaps),
            "horizon_days": self.horizon,
            "growth_per_year": self.rate,
            "events": [{"date": day.isoformat(), "factor": factor} for day, factor in self.events],
        }

    @property
    def future(self) -> Future:
        """Draws of the levels from the last day on."""
        return future_of(self.daily, self.fit, self.rate, self.events)


def growth(
    daily: Daily,
    limit: float | Sequence[float | None] | None = None,
    *,
    horizon: int = HORIZON,
    rate: float | None = None,
    events: Sequence[tuple[date, float]] = (),
    notes: Sequence[str] = (),
) -> Growth:
    """Find from when on limits no longer hold.

    Each series is a straight line times a weekly pattern with level shifts and month ends, and noise that is correlated
    from day to day; intervals hold what all of these leave open (docs/growth.md).
    """
    if not isinstance(daily, Daily):
        raise InputError("daily", type(daily).__name__, "what `planner.site.series.read_series` returns")
    limits = _limits(limit, len(daily.series))
    pairs = enumerate(zip(daily.series, limits, strict=True))
    goals = [Goal.at(k, measured, None, limit) for k, (measured, limit) in pairs]
    fit = dates.fitted(daily)
    return answer_goals(daily, fit, goals, horizon=horizon, rate=rate, events=events, notes=notes)


def answer_goals(
    daily: Daily,
    fit: TrendDraws,
    goals: Sequence[Goal],
    *,
    horizon: int,
    rate: float | None,
    events: Sequence[tuple[date, float]],
    notes: Sequence[str],
) -> Growth:
    """Put goals in order of the date at which each is reached."""
    last = daily.day(int(np.flatnonzero(np.isfinite(daily.values).any(axis=0))[-1]))
    dates.check_given(rate, events, horizon, last)
    index = np.array([goal.series for goal in goals], dtype=np.intp)
    chosen = replace(daily, series=tuple(daily.series[k] for k in index), values=daily.values[index])
    picked = fit.pick(index)
    answer = dates.answers(chosen, picked, goals, horizon, future_of(chosen, picked, rate, events))
    order = sorted(range(len(answer)), key=lambda k: _urgency(answer[k]))
    return Growth(
        limits=tuple(answer[k] for k in order), horizon=horizon, rate=rate, events=tuple(events), daily=chosen,
        fit=picked, order=tuple(order), further=tuple(notes),
    )  # fmt: skip


def future_of(
    daily: Daily, fit: TrendDraws, rate: float | None, events: Sequence[tuple[date, float]]
) -> Future:
    """Levels from the last day of each series on."""
    return Future.of(fit, rate, [((day - daily.first).days, factor) for day, factor in events])


def _limits(limit: float | Sequence[float | None] | None, series: int) -> list[float | None]:
    """One limit a series."""
    each = list(limit) if isinstance(limit, Iterable) and not isinstance(limit, str) else [limit] * series
    if len(each) != series:
        raise InputError("limit", f"{len(each)} limits", f"one, or one for each of {series} series")
    for value in each:
        if value is not None and not (is_number(value) and 0 < value < math.inf):
            raise InputError(
                "limit", value, "a finite number above zero, in the unit of the series, such as 5000"
            )
    return [None if value is None else float(value) for value in each]


def _urgency(limit: Limit) -> tuple[int, date, date, str]:
    """Order of what breaks first: by date, then by the early end of its range."""
    far = date.max
    rank = ("already", "within horizon", "not within horizon", "too few days", None).index(limit.verdict)
    return rank, limit.reached or far, limit.reached_low or far, limit.measured.name


def signed(share: float) -> str:
    """By how much something is higher or lower."""
    return f"{percent(abs(share))} {'higher' if share >= 0 else 'lower'}"


def amount(value: float, unit: str) -> str:
    """A level with its unit."""
    if unit in COUNTED:
        return TOO_MANY if math.isinf(value) else given(value) if unit in MANY else readable(value)
    return f"{readable(value)}{'/s' if unit == '1/s' else f' {unit}' if unit else ''}"


def ahead(days: int) -> str:
    """How long the horizon is; in days where it is no whole number of years."""
    whole = round(days / YEAR)
    near = whole and abs(days - whole * YEAR) < 0.01 * YEAR
    return counted(whole, "year") if near else counted(days, "day")


def sentence(limit: Limit, rate: float | None, horizon: int) -> str:
    """What one series does to its limit."""
    name, unit = limit.measured.name, limit.measured.unit
    be, do, reach = ("are", "do", "exceed") if unit in MANY else ("is", "does", "reaches")
    if limit.limit is None:
        return f"{name} {be} at {amount(limit.now, unit)} on a busy day; {_trend(limit)}."
    end = amount(limit.limit, unit)
    if limit.verdict == "already":
        doubtful = limit.reached_high is None or limit.reached_high > limit.last
        now = _needed(limit.needs[0]) if doubtful and limit.needs else amount(limit.now, unit)
        begun = " or before" if limit.reached == limit.first else ""
        since = f"since {limit.reached}{begun}{f' ({_between(limit)})' if doubtful else ''}"
        return f"{name} {be} above {end} already: {now} on a busy day, {since}."
    if limit.verdict == "too few days":
        few = f"no trend, {counted(limit.days, 'day')} {'is' if limit.days == 1 else 'are'} too few"
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
        idle = limit.days >= FEWEST_DAYS and not limit.now
        return f"no trend: {'no load is left' if idle else 'too few days'}"
    falls = limit.trend.high < 0
    low, value, high = ends(sorted((-100 if falls else 100) * float(end) for end in limit.trend), 1)
    year = f"{value} % a year (90 %: {low} % to {high} %)"
    if limit.trend.low <= 0 <= limit.trend.high:
        return f"no clear trend, {year}"
    return f"{'its load' if limit.needs else 'it'} {'falls' if falls else 'grows'} by {year}"


def notes_on_loads(limits: Sequence[Limit]) -> list[str]:
    """What is said of each load: of the first of a kind in a sentence each, of how many more."""
    found = []
    for words, one, many in OF_LOADS:
        said = [text for each in loads(limits) if (text := words(each))]
        found += said[:NAMED]
        if (more := len(said) - NAMED) > 0:
            found.append(f"{counted(more, 'more load')} {one if more == 1 else many}: see --json.")
    return found


def _changed(limit: Limit) -> str:
    """When its trend changed, and what it was before."""
    if (it := limit.change) is None:
        return ""
    low, before, high = ends(it.before * 100, 1)
    return (
        f"The trend of {limit.grows.name} changed about {it.day} (90 %: {it.earliest} to {it.latest}); "
        f"before, it was {before} % a year (90 %: {low} % to {high} %)."
    )


def _seasonal(limit: Limit) -> str:
    """When in the year it is highest and lowest."""
    if (it := limit.season) is None:
        return ""
    return (
        f"{limit.grows.name} has a yearly season: highest about {it.busiest:%m-%d} ({_change(it.high)}), "
        f"lowest about {it.quietest:%m-%d} ({_change(it.low)})."
    )


def _wanders(limit: Limit) -> str:
    """By how much its level wanders beside its line."""
    if not limit.wandering:
        return ""
    by = percent(limit.wandering, 2)
    return f"{limit.grows.name} wanders beside its line, by about {by} in a year; its ranges let it go on."


def _by_percent(limit: Limit) -> str:
    """Where it matters to the date by more than a month that it may grow by percent."""
    straight, compounded = (day or date.max for day in limit.by_kind)
    if not DOUBTFUL <= limit.compounds < 1 or abs((straight - compounded).days) <= MONTH:
        return ""
    line, by_percent = (day or "beyond the horizon" for day in limit.by_kind)
    return (
        f"{limit.grows.name} may grow by percent (chance {percent(limit.compounds, 2)}): {by_percent}; "
        f"in a straight line: {line}."
    )


OF_LOADS: Final[Sequence[tuple[Callable[[Limit], str], str, str]]] = (
    (_changed, "changed its trend", "changed their trend"),
    (_seasonal, "has a yearly season", "have a yearly season"),
    (_wanders, "wanders beside its line", "wander beside their lines"),
    (_by_percent, "may grow by percent", "may grow by percent"),
)


def _change(share: Interval) -> str:
    low, value, high = ends(share * 100, 1)
    return f"{'+' if share.value > 0 else ''}{value} %; 90 %: {low} % to {high} %"


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
    if any(each.shifts for each in each_load):
        found.append("A level shift is no trend: the line goes on from the level after the last one.")
    if any(each.correlation > correlated for each in limits):
        found.append(
            "Where one day is much like the next, many days say little more than a few: the ranges are wide for it."
        )
    if any(each.verdict == "too few days" for each in limits):
        found.append(
            "Give the growth with --growth, as 20%/year, or measure longer: a trend needs months of days."
        )
    return found


def _needed(need: Interval) -> str:
    """A count with its range; inf is more than there are addresses for."""
    low, value, high = (
        "not solved" if math.isnan(end) else readable(end) if math.isfinite(end) else TOO_MANY for end in need
    )
    return value if low == high else f"{value} ({low} to {high})"


def loads(limits: Sequence[Limit]) -> list[Limit]:
    """The first limit of each load: what grows is said once."""
    return list({each.grows: each for each in reversed(limits)}.values())[::-1]
