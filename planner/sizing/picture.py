"""The pictures of alias answers: one volume or pool over its counts, many of them side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import render, style
from planner.interval import Interval
from planner.render.text import SHORT
from planner.sizing.comparison import Count
from planner.units import MILLISECOND, percent

if TYPE_CHECKING:
    from planner.sizing.answer import AliasAnswer
    from planner.sizing.many_pools import Subsystem
    from planner.sizing.many_volumes import VolumesAnswer

MOST_NAMED: Final = 40  # rows of a picture
LONG: Final = 30  # characters of a name


def draw(answer: AliasAnswer, axes: style.Axes | None) -> style.Axes:
    """Rate above, response time below; the range of the count is a strip, measurements are diamonds."""
    axes, *below = style.begin(axes, answer.headline, panels=2)
    _panel(answer, axes, "io_rate", answer.rate, 1.0)
    axes.set_ylabel("I/O rate [1/s]")
    for panel in below:
        _panel(answer, panel, "response_time", answer.response, MILLISECOND)
        _targets(answer, panel)
        _removed(answer, panel)
        panel.set(ylabel="response time [ms]", xlim=axes.get_xlim())
    last = below[0] if below else axes
    last.set_xlabel("aliases")
    style.legend_below(last, 6)
    return axes


def _panel(answer: AliasAnswer, panel: style.Axes, figure: str, band: Interval, unit: float) -> None:
    """One figure over the counts: strip of the range, band, line, recommended count, measurements."""
    values = getattr(answer.rows, figure)
    counts, (low, high) = answer.rows.aliases, answer.range
    panel.axvspan(low - 0.5, high + 0.5, color=style.RANGE, zorder=0, label="range of the count")
    bounded = np.isfinite(band.high) & np.isfinite(values)
    low, high = (np.asarray(end)[bounded] / unit for end in (band.low, band.high))
    style.band(panel, counts[bounded], low, high, style.COLORS[0], style.NINETY)
    panel.plot(counts, values / unit, "o-", color=style.COLORS[0], markersize=3, label="chosen demand")
    panel.axvline(
        answer.recommended, color=style.COLORS[0], linestyle="--", label=f"recommended: {answer.recommended}"
    )
    marked, color, label = (
        [k for k in answer.measured_at(figure) if k <= counts[-1]],
        style.MEASURED,
        "measured",
    )
    if not marked and answer.growth:
        marked, color, label = [answer.in_use], "0.5", f"in use, demand grown by {percent(answer.growth)}"
    if marked:
        panel.plot(
            marked, values[marked] / unit, "D", color=color, markersize=7, fillstyle="none", zorder=style.ABOVE,
            clip_on=False, label=label,
        )  # fmt: skip
    panel.set_ylim(0, None)
    style.whole_numbers(panel)


def _targets(answer: AliasAnswer, panel: style.Axes) -> None:
    """The longest response time that was asked for: itself, or service and the wait that is allowed."""
    target, counts = answer.target, answer.rows.aliases
    limits = []
    if target.response is not None:
        limits.append(np.full(counts.shape, target.response))
    if target.wait is not None:
        limits.append(answer.rows.service_time + target.wait)
    for values in limits:
        panel.plot(counts, values / MILLISECOND, ":", color=style.COLORS[1], label="target")


def _removed(answer: AliasAnswer, panel: style.Axes) -> None:
    """The counts that remove half and 90 % of the wait, on the way to the target."""
    if answer.recommended <= answer.in_use:
        return
    words: dict[int, str] = {}
    for share, name in ((0.5, "half"), (0.9, "90 %")):
        if (count := answer.removes(share)) is not None:
            words[count] = f"{words[count]} and {name}" if count in words else name
    for count, name in words.items():
        place = (count, answer.rows.response_time[count] / MILLISECOND)
        panel.plot(*place, "v", color=style.COLORS[2], markersize=7, zorder=style.ABOVE, linestyle="none")
        style.name_point(panel, f"{count}: {name} of the wait gone", place, style.COLORS[2])


def draw_volumes(answer: VolumesAnswer, axes: style.Axes | None) -> style.Axes:
    """Many volumes with aliases of their own."""
    rows = [(row.name, row.count) for row in answer.listed]
    return draw_many(answer.headline, rows, "volume", axes)


def draw_pools(answer: Subsystem, axes: style.Axes | None) -> style.Axes:
    """Many pools, those with an answer."""
    rows = [(row.name, row.count) for row in answer.answered]
    return draw_many(answer.headline, rows, "pool", axes)


def draw_many(
    headline: str, rows: Iterable[tuple[str, Count]], what: str, axes: style.Axes | None
) -> style.Axes:
    """Names and counts, those that lack most first: aliases in use and needed, with range, in the verdict's color."""

    def rank(row: tuple[str, Count]) -> tuple[int, int, list[tuple[int, str]]]:
        name, count = row
        return list(style.VERDICTS).index(count.verdict), -count.missing, _counting(name)

    order = sorted(rows, key=rank)
    shown = order[:MOST_NAMED]
    short = [(name, count) for name, count in order if count.verdict == SHORT]
    few = ", ".join(name for name, _ in short)
    who = few if 0 < len(short) <= 2 and len(few) <= LONG else f"{len(short)} of {len(order)} {what}s"  # noqa: PLR2004
    missing = render.counted(sum(count.missing for _, count in short), "more alias", "more aliases")
    title = (
        f"{who} {'needs' if len(short) == 1 else 'need'} {missing}"
        if short
        else f"No {what} is short of aliases"
    )
    left = f" The {MOST_NAMED} shortest of {len(order)}." if len(order) > MOST_NAMED else ""
    (axes,) = style.begin(axes, f"{headline}{left}", title=title, height=1.5 + 0.26 * max(len(shown), 3))
    most = 1
    for at, (_, count) in enumerate(shown):
        needed, in_use, color = count.needed or 0, count.in_use, style.VERDICTS[count.verdict]
        low, high = (needed if end is None else end for end in (count.low, count.high))
        axes.plot([in_use, needed], [at, at], color=color, linewidth=1.5, alpha=0.6)
        axes.plot([low, high], [at, at], color=color, linewidth=7, alpha=style.BAND, solid_capstyle="butt")
        axes.plot([needed], [at], "o", color=color, markersize=7)
        axes.plot(
            [in_use], [at], "D", color=style.MEASURED, markersize=6, fillstyle="none", zorder=style.ABOVE
        )
        words = f"{count.verdict} {abs(count.change)}" if count.change else count.verdict
        axes.annotate(
            words, (max(needed, in_use, high), at), xytext=(9, 0), textcoords="offset points", va="center", color=color,
            fontsize="small",
        )  # fmt: skip
        most = max(most, low, high, in_use)
    axes.plot(
        [], [], "D", color=style.MEASURED, markersize=6, fillstyle="none", linestyle="none", label="in use"
    )
    axes.plot([], [], "o", color="0.4", markersize=7, linestyle="none", label="needed")
    axes.plot([], [], color="0.4", linewidth=7, alpha=style.BAND, label=f"its range, {style.NINETY}")
    axes.set_yticks(range(len(shown)), [style.shortened(name, LONG) for name, _ in shown])
    axes.set(xlabel="aliases", xlim=(-0.02 * most, 1.15 * most + 1), ylim=(max(len(shown), 3) - 0.4, -0.6))
    style.whole_numbers(axes)
    style.legend_below(axes)
    return axes


def _counting(name: str) -> list[tuple[int, str]]:
    """Order in which people list names: P2 before P10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
