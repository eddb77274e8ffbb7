"""The pictures of alias answers: one volume or pool over its counts, many of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.interval import Interval
from planner.results import Array
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.sizing.answer import AliasAnswer
    from planner.sizing.many import VolumesAnswer
    from planner.sizing.overview import Subsystem

MOST_NAMED: Final = 20  # names on the axis of a picture
LONG: Final = 5  # characters of a name that is turned


def draw(answer: AliasAnswer, axes: Axes | None) -> Axes:
    """Rate above, response time below; the range of the count is a strip, measurements are diamonds."""
    axes, *below = style.begin(axes, answer.headline, panels=2)
    _panel(answer, axes, answer.rows.io_rate, answer.rate, 1.0)
    axes.set_ylabel("I/O rate [1/s]")
    style.plain(axes)
    for panel in below:
        _panel(answer, panel, answer.rows.response_time, answer.response, MILLISECOND)
        _targets(answer, panel)
        panel.set(ylabel="response time [ms]", xlim=axes.get_xlim())
    last = below[0] if below else axes
    last.set_xlabel("aliases")
    style.legend_below(last, 6)
    return axes


def _panel(answer: AliasAnswer, panel: Axes, values: Array, band: Interval, unit: float) -> None:
    """One figure over the counts: strip of the range, band, line, recommended count, measurements."""
    counts, (low, high) = answer.rows.aliases, answer.range
    panel.axvspan(low - 0.5, high + 0.5, color=style.RANGE, zorder=0, label="range of the count")
    bounded = np.isfinite(band.high) & np.isfinite(values)
    panel.fill_between(
        counts[bounded], np.asarray(band.low)[bounded] / unit, np.asarray(band.high)[bounded] / unit,
        color=style.COLORS[0], alpha=style.BAND, label=style.NINETY, linewidth=0,
    )  # fmt: skip
    panel.plot(counts, values / unit, "o-", color=style.COLORS[0], markersize=3, label="chosen reading")
    panel.axvline(
        answer.recommended, color=style.COLORS[0], linestyle="--", label=f"recommended: {answer.recommended}"
    )
    measured = [] if answer.growth else [k for k in answer.measured if k <= counts[-1]]
    if measured:
        panel.plot(
            measured, values[measured] / unit, "D", color=style.MEASURED, markersize=7, fillstyle="none",
            zorder=style.ABOVE, clip_on=False, label="measured",
        )  # fmt: skip
    elif answer.growth:
        now = answer.in_use
        panel.plot(
            [now], [values[now] / unit], "D", color="0.5", markersize=7, fillstyle="none", zorder=style.ABOVE,
            clip_on=False, label=f"in use, demand grown by {answer.growth:.0%}",
        )  # fmt: skip
    panel.set_ylim(0, None)
    style.whole_numbers(panel)


def _targets(answer: AliasAnswer, panel: Axes) -> None:
    """The longest response time that was asked for: itself, or service and the wait that is allowed."""
    target, counts = answer.target, answer.rows.aliases
    limits = []
    if target.response is not None:
        limits.append(np.full(counts.shape, target.response))
    if target.wait is not None:
        limits.append(answer.rows.service_time + target.wait)
    for values in limits:
        panel.plot(counts, values / MILLISECOND, ":", color=style.COLORS[1], label="target")


def draw_volumes(answer: VolumesAnswer, axes: Axes | None) -> Axes:
    """Many volumes with aliases of their own."""
    rows = answer.answers
    return draw_many(
        answer.headline, [each.name for each in rows], [each.recommended for each in rows],
        [each.range for each in rows], [each.in_use for each in rows], "volume", axes,
    )  # fmt: skip


def draw_pools(answer: Subsystem, axes: Axes | None) -> Axes:
    """Many pools, those with an answer."""
    rows = answer.answered
    return draw_many(
        answer.headline, [each.name for each in rows], [each.recommended or 0 for each in rows],
        [each.range or (0, 0) for each in rows], [each.in_use for each in rows], "pool", axes,
    )  # fmt: skip


def draw_many(
    headline: str,
    names: Sequence[str],
    counts: Sequence[int],
    spans: Sequence[tuple[int, int]],
    in_use: Sequence[int],
    what: str,
    axes: Axes | None,
) -> Axes:
    """Recommended aliases of each with their range, beside those in use; most wanting first."""
    (axes,) = style.begin(axes, headline)
    order = sorted(range(len(names)), key=lambda k: in_use[k] - counts[k])
    places = np.arange(1, len(order) + 1)
    few = len(order) <= MOST_NAMED
    room = 1.0 / max(len(order), 1)
    size = max(1.0, min(6.0, 300.0 * room))
    chosen = np.array([counts[k] for k in order])
    ends = np.array([spans[k] for k in order]).reshape(-1, 2).T
    axes.errorbar(
        places, chosen, np.abs(ends - chosen), fmt="o", color=style.COLORS[0], markersize=size, capsize=3 if few else 0,
        elinewidth=max(0.5, min(2.0, 200.0 * room)), label="recommended, with its range",
    )  # fmt: skip
    axes.plot(
        places, [in_use[k] for k in order], "D", color=style.MEASURED, markersize=size, fillstyle="none", clip_on=False,
        zorder=style.ABOVE, label="in use",
    )  # fmt: skip
    style.whole_numbers(axes, "y")
    if few:
        shown = [names[k] for k in order]
        turned = max(map(len, shown), default=0) > LONG
        axes.set_xticks(places, shown, rotation=45 if turned else 0, ha="right" if turned else "center")
        for place, count in zip(places, chosen, strict=True):
            style.name_point(axes, f"{count}", (place, count), style.COLORS[0])
    else:
        style.whole_numbers(axes)
        what = f"{what}s, those that want most first"
    axes.set(xlabel=what, ylabel="aliases", ylim=(0, None))
    style.legend_below(axes)
    return axes
