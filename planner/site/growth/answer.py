"""From when on a limit no longer holds: level, trend and date of exhaustion of measured series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np

from planner import render
from planner.answer import Answer, record
from planner.errors import InputError
from planner.interval import Interval
from planner.site.growth import dates
from planner.site.growth.dates import AHEAD, DETAILS, FIGURES, HORIZON, Future, Goal, Limit
from planner.site.growth.draws import TrendDraws
from planner.site.growth.model import YEAR
from planner.site.growth.wording import MOST_LOADS, loads, notes_on_days, sections, sentence, signed, years
from planner.site.series import Daily, SeriesLabel
from planner.sizing.gaps import Gaps, all_missing, all_notes, first_words, worst_code
from planner.units import percent


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
        return f"{lacking}{self._first} {self.basis}".rstrip()

    @property
    def exit_code(self) -> int:
        """2 where members could not be read, or a pool has no answer."""
        return 2 if self.unanswered else worst_code(self.gaps)

    @property
    def _first(self) -> str:
        first = self.limits[0]
        said = sentence(first, self.rate, self.horizon)
        within = sum(each.verdict in {"already", "within horizon"} for each in self.limits)
        if len(self.limits) == 1:
            return said
        return (
            f"{within} of {len(self.limits)} limits {'is' if within == 1 else 'are'} reached within "
            f"{years(self.horizon)}. {'First' if within else 'Next'}: {said}"
        )

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
                "The dates hold if the trend goes on in a straight line, without a further level shift; "
                "--growth and --event say otherwise."
            )
        found += [f"From {day} on the load is {signed(factor - 1)}." for day, factor in self.events]
        found += notes_on_days(self.limits)
        span = max((each.days for each in self.limits), default=0)
        if len(loads(self.limits)) > MOST_LOADS:
            found.append("Levels, level shifts and patterns of all loads are in --json.")
        if any(each.trend is not None for each in self.limits) and span < 2 * YEAR:
            found.append("Less than two years cannot tell a yearly season from a trend.")
        return tuple(found)

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out limits, levels ahead, level shifts and the pattern of the week."""
        return sections(self.limits)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""

        def said(label: SeriesLabel, day: date, name: str, size: Interval, **more: int) -> dict[str, Any]:
            ends = {name: size.value, f"{name}_low": size.low, f"{name}_high": size.high}
            return {"system": label.system, "what": label.what, **more, "date": dates.iso(day), **ends}

        def ahead(
            each: Limit, label: SeriesLabel, name: str, sizes: Sequence[Interval]
        ) -> list[dict[str, Any]]:
            return [
                said(label, each.last + timedelta(days=days), name, size, days=days)
                for days, size in zip(AHEAD, sizes, strict=False)
            ]

        grow = loads(self.limits)
        return {
            "limits": [record(each, FIGURES) for each in self.limits],
            "levels": [row for each in grow for row in ahead(each, each.grows, "level", each.levels)],
            "needs": [
                row for each in self.limits for row in ahead(each, each.measured, "needed", each.needs)
            ],
            "shifts": [said(each.grows, it.day, "size", it.size) for each in grow for it in each.shifts],
            "series": [record(each, DETAILS) for each in grow],
            "volumes_missing": all_missing(self.gaps),
            "horizon_days": self.horizon,
            "growth_per_year": self.rate,
            "events": [{"date": dates.iso(day), "factor": factor} for day, factor in self.events],
            "notes": list(self.notes),
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
    limits = _limits(limit, len(daily.series))
    goals = [
        Goal.at(k, measured, None, limit)
        for k, (measured, limit) in enumerate(zip(daily.series, limits, strict=True))
    ]
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
    measured = np.isfinite(daily.values)
    last = daily.day(int(np.max(np.nonzero(measured.any(axis=0))[0])))
    dates.check_given(rate, events, horizon, last)
    index = np.array([goal.series for goal in goals], dtype=np.intp)
    chosen = Daily(first=daily.first, series=tuple(daily.series[k] for k in index), values=daily.values[index],
                   hours=daily.hours[index], notes=daily.notes)  # fmt: skip
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
    each = [limit] * series if limit is None or isinstance(limit, (int, float)) else list(limit)
    if len(each) != series:
        raise InputError("limit", f"{len(each)} limits", f"one, or one for each of {series} series")
    for value in each:
        if value is not None and not (np.isfinite(value) and value > 0):
            raise InputError("limit", value, "a finite number above zero")
    return [None if value is None else float(value) for value in each]


def _urgency(limit: Limit) -> tuple[int, date, date, str]:
    """Order of what breaks first: by date, then by the early end of its range."""
    far = date.max
    rank = ("already", "within horizon", "not within horizon", "too few days", None).index(limit.verdict)
    return rank, limit.reached or far, limit.reached_low or far, limit.measured.name
