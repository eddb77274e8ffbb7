"""From when on a limit no longer holds: level, trend and date of exhaustion of measured series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import render
from planner.answer import Answer
from planner.errors import InputError
from planner.interval import Interval
from planner.results import Array
from planner.site.growth_dates import Future, passed_days, passing_days, quantiles
from planner.site.growth_fit import Fit, fit_days, short_fit
from planner.site.growth_given import HORIZON, check_given
from planner.site.growth_limit import Limit, Shift, Verdict, iso
from planner.site.growth_wording import AHEAD, notes_on_days, percent, sentence, signed
from planner.site.series import Daily

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_DAYS: Final = 15  # 14 days are two of each weekday: too few for a trend
WIDEST_TREND: Final = 2.0  # a year; a 90 % interval wider than from -100 % to +100 % says nothing
TWO_YEARS: Final = 730  # measured days from which a season could be told from a trend
ENDS: Final = (0.05, 0.5, 0.95)
DRAWS: Final = 400
DOUBTFUL_REACH: Final = 7  # days
LIKELIER: Final = 0.5  # probability from which a doubtful shift is named
MONTH_ENDS: Final = (
    "last working day", "last two working days", "last three working days", "first working day",
    "last and first working day", "last day",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Growth(Answer):
    """From when on each limit no longer holds, in order of date.

    Attributes
    ----------
    limits : tuple of Limit
        What breaks first comes first.
    horizon : int
        Days ahead that were looked at.
    rate : float or None
        Growth a year that was given in place of the fitted one; compounds.
    events : tuple of tuple
        Days and factors that were given.
    daily : Daily
        The measured days.
    fit : Fit
        Draws for the series of `daily`, in their order.
    order : tuple of int
        Which series of `daily` each limit belongs to.
    further : tuple of str
        Notes on where the limits come from.
    """

    limits: tuple[Limit, ...]
    horizon: int
    rate: float | None
    events: tuple[tuple[date, float], ...]
    daily: Daily
    fit: Fit
    order: tuple[int, ...]
    further: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What breaks first, and when."""
        first = self.limits[0]
        said = sentence(first, self.rate, self.horizon)
        within = sum(each.verdict in {"already", "within horizon"} for each in self.limits)
        if len(self.limits) == 1:
            return said
        years = self.horizon / 365.25
        return (
            f"{within} of {len(self.limits)} limits {'is' if within == 1 else 'are'} reached within {years:.3g} years. "
            f"{'First: ' if within else ''}{said}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions, what was found in the days, and what to do."""
        found = [*self.further, *self.daily.notes]
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
        if any(each.trend is not None for each in self.limits) and span < TWO_YEARS:
            found.append("Less than two years cannot tell a yearly season from a trend.")
        return tuple(found)

    def table(self) -> render.Table:
        """Lay out the limits with all keys of ``--json``.

        Returns
        -------
        render.Table
            One row a limit.
        """
        records = [each.record() for each in self.limits]
        names = tuple(records[0]) if records else ("system",)
        return render.Table(
            columns=tuple(
                render.Column(name=name, unit="", values=[record[name] for record in records])
                for name in names
            )
        )

    def sections(self) -> tuple[render.Section, ...]:
        """Lay out limits, levels ahead, level shifts and the pattern of the week.

        Returns
        -------
        tuple of render.Section
            Those that say something.
        """
        from planner.site import growth_wording as wording

        return (
            render.Section(table=wording.limit_table(self.limits), caption="Ranges are 90 % intervals."),
            render.Section(table=wording.level_table(self.limits), title="Level of a busy day ahead"),
            render.Section(table=wording.shift_table(self.limits), title="Level shifts"),
            render.Section(
                table=wording.week_table(self.limits), title="Pattern, as a share of the busiest weekday"
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data.

        Returns
        -------
        dict
            `limits` and what they rest on.
        """
        levels = [
            {
                "system": each.measured.system, "what": each.measured.what, "days": ahead,
                "date": iso(each.last + timedelta(days=ahead)), "level": level.value, "level_low": level.low,
                "level_high": level.high,
            }
            for each in self.limits
            for ahead, level in zip(AHEAD, each.levels, strict=False)
        ]  # fmt: skip
        shifts = [
            {
                "system": each.measured.system, "what": each.measured.what, "date": iso(shift.day),
                "size": shift.size.value, "size_low": shift.size.low, "size_high": shift.size.high,
            }
            for each in self.limits
            for shift in each.shifts
        ]  # fmt: skip
        return {
            "limits": [each.record() for each in self.limits],
            "levels": levels,
            "shifts": shifts,
            "series": [each.details() for each in self.limits],
            "horizon_days": self.horizon,
            "growth_per_year": self.rate,
            "events": [{"date": iso(day), "factor": factor} for day, factor in self.events],
            "notes": list(self.notes),
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the series with trend, band, limit and date; of several limits, all in order of date.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes where None.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn.
        """
        from planner.site.growth_pictures import draw_limits, draw_series

        return draw_series(self, 0, axes) if len(self.limits) == 1 else draw_limits(self, axes)

    def level(self, ahead: int, series: int = 0) -> Interval:
        """Busy-day level some days after the last one.

        Parameters
        ----------
        ahead : int
            Days after the last measured day.
        series : int, optional
            Which limit, in their order.

        Returns
        -------
        Interval
            90 %, in the unit of the series.

        Raises
        ------
        InputError
            Before the last day, or no such limit.
        """
        if ahead < 0 or not 0 <= series < len(self.limits):
            raise InputError(
                "ahead, series", (ahead, series), "a day from the last one on, and one of the limits"
            )
        return _interval(self.future.at(ahead)[self.order[series]])

    @property
    def future(self) -> Future:
        """Draws of the levels from the last day on."""
        events = [((day - self.daily.first).days, factor) for day, factor in self.events]
        return Future.of(self.fit, self.rate, events)


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

    Parameters
    ----------
    daily : Daily
        Busy-hour level of each day.
    limit : float or sequence of float or None, optional
        Limit of all series or of each, in their units.
    horizon : int, optional
        How far ahead to look [days].
    rate : float, optional
        Growth a year in place of the fitted one; compounds.
    events : sequence of tuple, optional
        Days, and the factor by which the load is higher from each on.
    notes : sequence of str, optional
        Where limits and levels come from.

    Returns
    -------
    Growth
        One limit a series, in order of date.

    Raises
    ------
    InputError
        A limit that is not above zero, an event on a measured day, or another argument outside its domain.
    """
    limits = _limits(limit, len(daily.series))
    measured = np.isfinite(daily.values)
    last = daily.day(int(np.max(np.nonzero(measured.any(axis=0))[0])))
    check_given(rate, events, horizon, last)
    fit = fitted(daily)
    answer = _answers(
        daily, fit, limits, horizon, rate, [((day - daily.first).days, factor) for day, factor in events]
    )
    order = sorted(range(len(answer)), key=lambda k: _urgency(answer[k]))
    return Growth(
        limits=tuple(answer[k] for k in order), horizon=horizon, rate=rate, events=tuple(events), daily=daily, fit=fit,
        order=tuple(order), further=tuple(notes),
    )  # fmt: skip


def fitted(daily: Daily) -> Fit:
    """Fit the series that have days enough; of the others only the level is known."""
    days = np.isfinite(daily.values).sum(axis=1)
    enough = (days >= FEWEST_DAYS) & (np.nan_to_num(daily.values).max(axis=1) > 0)
    weekday = (np.arange(daily.values.shape[1]) + daily.first.weekday()) % 7
    short = short_fit(daily.values[~enough], weekday, DRAWS)
    if not enough.any():
        return short
    full = fit_days(daily.values[enough], weekday, month_forms(daily.first, weekday.size), draws=DRAWS)
    return full.beside(short, np.flatnonzero(enough), np.flatnonzero(~enough))


def month_forms(first: date, days: int) -> Array:
    """Days of each form of a month end, in the order of `MONTH_ENDS`; (forms, days) of 0 and 1."""
    day = np.datetime64(first, "D") + np.arange(days)
    month = day.astype("datetime64[M]")
    begin, end = month.astype("datetime64[D]"), (month + 1).astype("datetime64[D]")
    work = np.is_busday(day)
    left = np.busday_count(day, end)  # working days of the month from this one on
    gone = np.busday_count(begin, day)
    last = [work & (left <= k) for k in (1, 2, 3)]
    first_one = work & (gone == 0)
    forms = np.array([*last, first_one, last[0] | first_one, end - day == np.timedelta64(1, "D")])
    return forms.astype(np.float64)


def _limits(limit: float | Sequence[float | None] | None, series: int) -> Array:
    """One limit a series, nan where none."""
    each = [limit] * series if limit is None or isinstance(limit, (int, float)) else list(limit)
    if len(each) != series:
        raise InputError("limit", f"{len(each)} limits", f"one, or one for each of {series} series")
    values = np.array([np.nan if value is None else value for value in each], dtype=np.float64)
    for given, value in zip(each, values, strict=True):
        if given is not None and not (np.isfinite(value) and value > 0):
            raise InputError("limit", given, "a finite number above zero")
    return values


def _answers(
    daily: Daily, fit: Fit, limits: Array, horizon: int, rate: float | None, events: list[tuple[int, float]]
) -> list[Limit]:
    """One limit a series, in the order of the series."""
    future = Future.of(fit, rate, events)
    weekday = (fit.last + daily.first.weekday()) % 7
    with np.errstate(invalid="ignore"):
        days = passing_days(fit, future, np.where(np.isnan(limits), np.inf, limits), weekday, horizon)
    now = np.median(future.level, axis=1)
    for k in np.flatnonzero(now > limits).tolist():
        past = passed_days(fit, k, float(limits[k]), int((daily.first.weekday() + fit.first[k]) % 7))
        days[k] = np.where(np.isfinite(past), past, days[k])
    dates = quantiles(days, ENDS)
    trends = quantiles(fit.slope / fit.first_level, ENDS)
    ahead = [quantiles(future.at(step), ENDS) for step in AHEAD]
    found = []
    for k, measured in enumerate(daily.series):
        trend = Interval(*trends[:, k]) if fit.measured[k] >= FEWEST_DAYS and fit.fitted[k] else None
        few = rate is None and (trend is None or trend.high - trend.low > WIDEST_TREND)
        idle = fit.measured[k] >= FEWEST_DAYS and np.nanmax(daily.values[k]) == 0
        verdict = _verdict(limits[k], now[k], few and not idle, dates[1, k])
        known = verdict in {"already", "within horizon", "not within horizon"}
        low, middle, high = (daily.day(at) if known and np.isfinite(at) else None for at in dates[:, k])
        found.append(
            Limit(
                measured=measured, first=daily.day(int(fit.first[k])), last=daily.day(int(fit.last[k])),
                days=int(np.isfinite(daily.values[k]).sum()), now=float(now[k]), trend=trend,
                limit=None if np.isnan(limits[k]) else float(limits[k]),
                reached=middle, reached_low=low, reached_high=high, verdict=verdict,
                levels=() if few else tuple(Interval(*(float(end) for end in level[:, k])) for level in ahead),
                week=tuple(np.minimum(fit.week[k].mean(axis=0), 1.0).tolist()),
                month_end=None if fit.month_form[k] < 0
                else (MONTH_ENDS[int(fit.month_form[k])], _interval(fit.month[k])),
                shifts=_shifts(daily, fit, k), unlike=tuple(daily.day(day) for day in fit.pulses[k]),
                correlation=float(fit.phi[k]),
            )
        )  # fmt: skip
    return found


def _verdict(limit: float, now: float, few: bool, day: float) -> Verdict | None:
    if np.isnan(limit):
        return None
    if now > limit:
        return "already"
    if few:
        return "too few days"
    return "within horizon" if np.isfinite(day) else "not within horizon"


def _shifts(daily: Daily, fit: Fit, series: int) -> tuple[Shift, ...]:
    """The certain level shifts, and one more where it is likelier than not."""
    there = fit.shift_day[series, :, -1] >= 0
    days = {day: np.full(there.size, True) for day in fit.steps[series]}
    if there.mean() > LIKELIER:
        days.setdefault(int(np.median(fit.shift_day[series, there, -1])), there)
    found = []
    for day, draws in sorted(days.items()):
        reach = 0 if draws.all() else DOUBTFUL_REACH  # a doubtful one may lie some days off
        before, after = fit.path(series, np.array([day - 1 - reach, day + reach]))[draws].T
        found.append(Shift(day=daily.day(day), size=_interval(after / np.maximum(before, 1e-300) - 1)))
    return tuple(found)


def _interval(draws: Array) -> Interval:
    return Interval(*(float(end) for end in np.quantile(draws, ENDS)))


def _urgency(limit: Limit) -> tuple[int, date, date, str]:
    """Order of what breaks first: by date, then by the early end of its range."""
    far = date.max
    rank = {"already": 0, "within horizon": 1, "not within horizon": 2, "too few days": 3, None: 4}[
        limit.verdict
    ]
    return rank, limit.reached or far, limit.reached_low or far, limit.measured.name
