"""The pictures of a site: every pool beside what it needs; one pool over time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from planner import style
from planner.results import Array
from planner.site.pool_need import NeedSeries, PoolNeed
from planner.site.site_answer import SiteAnswer
from planner.site.track import TrackRecord
from planner.sizing.picture import draw_many
from planner.units import MILLISECOND

LEVELS: Final = ("not measured", "up to half of those in use", "up to all of them", "more: short")


def draw(answer: SiteAnswer, axes: style.Axes | None) -> style.Axes:
    """One pool over time; of many the counts with their ranges."""
    if len(answer.pools) == 1 and answer.pools[0].intervals:
        return _over_time(answer, axes)
    known = [each for each in answer.pools if each.needed is not None]
    noun = "pool" if all(each.kind == "pool" for each in known) else "volume"
    return draw_many(answer.headline, [(each.name, each.count) for each in known], noun, axes)


def levels(needed: Array, in_use: Array | float) -> Array:
    """Place of each need in `LEVELS`."""
    known = (2 * needed > in_use) + 1.0 + (needed > in_use)
    return np.where(np.isnan(needed), 0.0, known)


def _over_time(answer: SiteAnswer, axes: style.Axes | None) -> style.Axes:
    (need,) = answer.pools
    (axes,) = style.begin(axes, answer.headline)
    series = need.series
    dated = not bool(np.isnat(series.start).any())
    if dated and np.ptp(series.start) > np.timedelta64(14, "D"):  # else the need is drawn as a line
        return _calendar(need, axes)
    when = series.start if dated else np.arange(series.start.size)
    if need.needed_low is not None and need.needed_high is not None:
        axes.axhspan(
            need.needed_low - 0.5,
            need.needed_high + 0.5,
            color=style.RANGE,
            zorder=0,
            label=f"range, {style.NINETY}",
        )
    axes.step(when, series.needed, where="post", color=style.COLORS[0], linewidth=1, label="needed")
    axes.step(
        when, series.in_use, where="post", color=style.MEASURED, linestyle="--", linewidth=1, label="in use"
    )
    style.whole_numbers(axes, "y")
    axes.set(ylabel="aliases", ylim=(0, None), xlabel="" if dated else "interval")
    if dated:
        style.dated(axes)
    style.legend_below(axes)
    return axes


def calendar(series: NeedSeries) -> tuple[Array, np.datetime64]:
    """Level of each hour of each day, (24, days), by the interval in it that needs most; and the first day."""
    hour = series.start.astype("datetime64[h]").astype(np.int64)
    first = int(hour.min()) // 24
    found = np.zeros((int(hour.max()) // 24 - first + 1, 24))
    level = levels(series.needed, series.in_use)  # short counts where the pool is busy, as in the answer
    np.maximum.at(found.reshape(-1), hour - 24 * first, np.where(series.busy, level, np.minimum(level, 2.0)))
    return found.T, np.datetime64(first, "D")


def _calendar(need: PoolNeed, axes: style.Axes) -> style.Axes:
    """A column a day, a row an hour, in three fixed shades."""
    from matplotlib.colors import ListedColormap
    from matplotlib.dates import date2num

    found, first = calendar(need.series)
    begin: float = date2num(first)  # type: ignore[no-untyped-call]
    shown: Any = np.ma.masked_equal(found, 0.0)
    axes.imshow(
        shown, cmap=ListedColormap(style.SHADES), vmin=0.5, vmax=3.5, aspect="auto", interpolation="nearest",
        extent=(begin, begin + found.shape[1], 24, 0),
    )  # fmt: skip
    axes.xaxis_date()
    style.dated(axes)
    axes.set_yticks(range(0, 25, 6), [f"{hour:02d}:00" for hour in range(0, 25, 6)])
    axes.set_ylabel("hour of the day")
    axes.grid(visible=False)
    often = f" in {need.short_intervals:,} of {need.busy_intervals:,} busy intervals"
    words = (*LEVELS[:-1], LEVELS[-1] + often)
    for level, color in enumerate(("none", *style.SHADES)):
        if level or (found == 0).any():
            axes.plot([], [], "s", color=color, markeredgecolor=style.SOFT, markersize=9, label=words[level])
    style.legend_below(axes, 2)
    return axes


def draw_track(record: TrackRecord, axes: style.Axes | None) -> style.Axes:
    """Response times predicted, with their ranges, and measured."""
    (axes,) = style.begin(axes, record.headline)
    pairs = record.compared
    places = np.arange(1, len(pairs) + 1)
    predicted, low, high, measured = (
        np.array([getattr(each.pair, name) for each in pairs]) / MILLISECOND
        for name in ("predicted", "low", "high", "measured")
    )
    high = np.where(np.isfinite(high), high, np.nan)
    axes.vlines(places, low, high, color=style.COLORS[0], alpha=style.BAND, linewidth=6, label=style.NINETY)
    axes.plot(places, predicted, "_", color=style.COLORS[0], markersize=10, label="predicted")
    axes.plot(places, measured, "D", color=style.MEASURED, fillstyle="none", label="measured")
    axes.set_xticks(places, [each.pool.pool for each in pairs], rotation=45, ha="right")
    axes.set(ylabel="response time [ms]", ylim=(0, None))
    style.legend_below(axes)
    return axes
