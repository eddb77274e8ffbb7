"""Pictures of growth: a series with trend, band, limit and date; all limits in order of date."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from planner import style
from planner.render.text import sentence_case
from planner.site.growth.answer import MANY, Growth, amount
from planner.site.growth.dates import Limit


def draw(answer: Growth, axes: style.Axes | None) -> style.Axes:
    """A series with trend, band, limit and date; of several limits, all in order of date."""
    return _limits(answer, axes) if len(answer.limits) > 1 else _series(answer, axes)


def _series(answer: Growth, axes: style.Axes | None) -> style.Axes:
    """Measured days, the busy-day level with its 90 % band, the limit and the date it is reached."""
    limit, series, daily, fit = answer.limits[0], answer.order[0], answer.daily, answer.fit
    what = f"Busy hour of each day, its level and trend, {style.NINETY} bands."
    (axes,) = style.begin(
        axes, f"{_title(limit)}. {_ends(limit)}{what}", title=_title(limit), below=_ends(limit) + what
    )
    measured = np.flatnonzero(np.isfinite(daily.values[series])).tolist()
    points: Any = axes  # matplotlib converts dates; its types do not say so
    points.plot([daily.day(at) for at in measured], daily.values[series, measured], ".", color=style.MEASURED,
              markersize=3, label="measured, busy hour of each day", zorder=style.ABOVE)  # fmt: skip
    last = int(fit.last[series])
    reached = limit.reached_high or limit.reached or daily.day(last)
    end = min(max((reached - daily.day(last)).days + 90, 365), answer.horizon)  # and some days after the date
    past = np.arange(int(fit.first[series]), last + 1)
    ahead = np.unique(np.linspace(0, end, 200).astype(int))
    future = answer.future
    levels = np.array([future.at(int(step))[series] for step in ahead[1:]])
    draws = np.concatenate([fit.path(series, past), levels.T], axis=1)
    days = [daily.day(at) for at in (*past, *(last + ahead[1:]))]
    low, middle, high = np.quantile(draws, (0.05, 0.5, 0.95), axis=0)
    points.plot(days, middle, color=style.COLORS[0], linewidth=1.2, label="level of a busy day")
    points.fill_between(days, low, high, color=style.COLORS[0], alpha=style.BAND, linewidth=0, label="90 %")
    unit = limit.grows.unit
    top = max(np.nanmax(daily.values[series]), middle.max())
    if limit.limit is not None and np.isfinite(limit.load):
        axes.axhline(limit.load, color=style.COLORS[1], linestyle="--", linewidth=1, label="limit")
        _mark_date(axes, limit, days[-1])
        top = max(top, limit.load)
    axes.set(
        ylim=(0, 1.25 * top),
        ylabel=f"{_named(limit.grows.what)}{f' [{unit}]' if unit else ''}",
    )
    style.dated(axes)
    axes.legend(frameon=False, loc="lower right", fontsize="small")
    return axes


def _mark_date(axes: style.Axes, limit: Limit, end: date) -> None:
    """The range of the date as a bar on the limit, the date as a mark that is named."""
    points: Any = axes
    if limit.reached_low is not None:
        ends = [limit.reached_low, limit.reached_high or end]
        points.plot(ends, [limit.load, limit.load], color=style.COLORS[1], linewidth=5, alpha=0.5,
                    solid_capstyle="butt", label="90 % of the date")  # fmt: skip
    if limit.reached is not None:
        place = limit.reached, limit.load
        points.plot(*place, "D", color=style.COLORS[1], markersize=6)
        points.annotate(
            f"{limit.reached:%b %Y}", place, textcoords="offset points", xytext=(0, 8), ha="center"
        )


def _title(limit: Limit) -> str:
    name = sentence_case(_named(limit.measured.name))
    if limit.limit is None:
        return f"{name}: {amount(limit.now, limit.measured.unit)} on a busy day"
    words = {
        "already": "is past {} already", "too few days": "and {}: too few days for a date",
        "within horizon": f"reaches {{}} in {limit.reached or date.max:%B %Y}",
        "not within horizon": "does not reach {} within the horizon", "": "and {}: no verdict",
    }[limit.verdict or ""]  # fmt: skip
    return f"{name} {words.format(amount(limit.limit, limit.measured.unit))}"


def _named(what: str) -> str:
    """A column of a file as people say it."""
    return what.replace("io_rate", "I/O rate").replace("_", " ")


def _ends(limit: Limit) -> str:
    """Between which months it is reached."""
    if limit.reached is None or limit.reached_low is None:
        return ""
    low, high = (end and f"{end:%B %Y}" for end in (limit.reached_low, limit.reached_high))
    within = f"within {low}" if low == high else f"{low} {f'to {high}' if high else 'or later'}"
    return f"{style.NINETY}: {within}. "


def _limits(answer: Growth, axes: style.Axes | None) -> style.Axes:
    """What breaks first: one row a limit, its date as a mark and the 90 % range as a bar."""
    limits = answer.limits
    dated = [limit for limit in limits if limit.reached_low is not None or limit.reached is not None]
    shown = dated[:40]  # rows that one picture can show
    first = next((limit for limit in shown if limit.reached is not None), None)
    title = "No limit is reached within the horizon"
    if first is not None and first.reached is not None:
        name = style.shortened(first.measured.what, 40)
        many = first.measured.unit in MANY
        title = f"{sentence_case(name)} {'run' if many else 'runs'} out first, in {first.reached:%B %Y}"
        if first.verdict == "already":
            title = f"{sentence_case(name)} {'are' if many else 'is'} past the limit already"
    rest, later = len(limits) - len(dated), len(dated) - len(shown)
    words = f"When each limit is reached, by the trend, with its {style.NINETY} range."
    words += f" {later} later ones are not drawn." if later else ""
    words += f" {rest} more without a date." if rest else ""
    (axes,) = style.begin(axes, words, title=title, height=1.8 + 0.32 * max(len(shown), 2))
    points: Any = axes
    begin = max(limit.last for limit in limits)
    end = begin + timedelta(days=answer.horizon)
    several = len({limit.measured.system for limit in shown}) > 1
    for row, limit in enumerate(shown):
        if limit.reached_low is not None:
            points.plot([limit.reached_low, limit.reached_high or end], [row, row], color=style.COLORS[0],
                        linewidth=6, alpha=0.4, solid_capstyle="butt")  # fmt: skip
            if limit.reached_high is None:
                points.plot([end], [row], ">", color=style.COLORS[0], markersize=7)
        if limit.reached is not None:
            points.plot([limit.reached], [row], "D", color=style.COLORS[1], markersize=6)
            points.annotate(f"{limit.reached:%b %Y}", (limit.reached, row), xytext=(0, 6), textcoords="offset points",
                            ha="center", fontsize="small")  # fmt: skip
    points.axvline(begin, color=style.MEASURED, linewidth=1, label="last measured day")
    points.plot([], [], "D", color=style.COLORS[1], linestyle="none", label="limit reached")
    points.plot([], [], color=style.COLORS[0], linewidth=6, alpha=0.4, label="90 %; arrow: or later")
    axes.set_yticks(range(len(shown)), [_row(limit, several=several) for limit in shown])
    axes.set(
        ylim=(max(len(shown), 2) - 0.4, -0.8), xlim=(begin - timedelta(days=30), end + timedelta(days=45))
    )
    style.dated(axes)
    style.legend_below(axes)
    return axes


def _row(limit: Limit, *, several: bool) -> str:
    name = limit.measured.name if several else limit.measured.what
    return name if limit.limit is None else f"{name}: {amount(limit.limit, limit.measured.unit)}"
