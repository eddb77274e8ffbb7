"""The pictures of alias answers: one volume or pool over its counts, many of them side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import style
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.sizing.answer import AliasAnswer

TITLE_WIDTH: Final = 76  # characters
MOST_NAMED: Final = 20  # names on the axis of a picture


def draw(answer: AliasAnswer, axes: Axes | None) -> Axes:
    """Rate above, response time below; the range of the count is a strip, measurements are diamonds."""
    below = None
    if axes is None:
        axes, below = style.axes_and_below()
    counts = answer.rows.aliases
    measured = [] if answer.growth else [k for k in answer.measured if k <= counts[-1]]
    panels: list[tuple[Any, Any, Any, float]] = [(axes, answer.rows.io_rate, answer.rate, 1.0)]
    if below is not None:
        panels.append((below, answer.rows.response_time, answer.response, MILLISECOND))
    for panel, values, band, unit in panels:
        low, high = answer.range
        panel.axvspan(low - 0.5, high + 0.5, color=style.RANGE, zorder=0, label="range of the count")
        bounded = np.isfinite(band.high) & np.isfinite(values)
        panel.fill_between(
            counts[bounded], band.low[bounded] / unit, band.high[bounded] / unit, color=style.COLORS[0],
            alpha=style.BAND, label="90 %", linewidth=0,
        )  # fmt: skip
        panel.plot(counts, values / unit, "o-", color=style.COLORS[0], markersize=3, label="chosen reading")
        panel.axvline(
            answer.recommended,
            color=style.COLORS[0],
            linestyle="--",
            label=f"recommended: {answer.recommended}",
        )
        if measured:
            panel.plot(
                measured, values[measured] / unit, "D", color=style.MEASURED, markersize=7, fillstyle="none",
                zorder=style.ABOVE, clip_on=False, label="measured",
            )  # fmt: skip
        panel.set_ylim(0, None)
        style.whole_numbers(panel)
    axes.set(ylabel="I/O rate [1/s]", title=textwrap.fill(answer.headline, TITLE_WIDTH))
    if below is None:
        axes.set_xlabel("aliases")
    else:
        below.set(xlabel="aliases", ylabel="response time [ms]", xlim=axes.get_xlim())
    (below or axes).legend(
        frameon=False, ncols=len(panels) + 3, loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize="small"
    )
    return axes


def draw_many(
    names: Sequence[str], counts: Sequence[int], spans: Sequence[tuple[int, int]], in_use: Sequence[int], what: str,
    axes: Axes | None,
) -> Axes:  # fmt: skip
    """Recommended aliases of each with their range, beside those in use; most wanting first."""
    axes = style.new_axes() if axes is None else axes
    order = sorted(range(len(names)), key=lambda k: in_use[k] - counts[k])
    places = list(range(1, len(order) + 1))
    room = 1.0 / max(len(order), 1)
    size = max(1.0, min(6.0, 300.0 * room))
    axes.vlines(
        places, [spans[k][0] for k in order], [spans[k][1] for k in order], color=style.COLORS[0], alpha=style.BAND,
        linewidth=max(0.5, min(6.0, 200.0 * room)), label="range",
    )  # fmt: skip
    axes.plot(
        places,
        [counts[k] for k in order],
        "_",
        color=style.COLORS[0],
        markersize=2 * size,
        label="recommended",
    )
    axes.plot(
        places, [in_use[k] for k in order], "o", color=style.MEASURED, markersize=size, fillstyle="none", clip_on=False,
        label="in use",
    )  # fmt: skip
    style.whole_numbers(axes, "y")
    if len(order) <= MOST_NAMED:
        axes.set_xticks(places, [names[k] for k in order], rotation=45, ha="right")
    axes.set(xlabel=what, ylabel="aliases", ylim=(0, None))
    axes.set_title(f"{len(order)} {what}s: {sum(counts)} aliases, {sum(in_use)} in use")
    axes.legend(frameon=False)
    return axes
