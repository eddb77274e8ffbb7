"""The picture of scaling: throughput over processors, measured, by the law, and each left out of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.processors import Scaling

FURTHER: Final = 1.15  # drawn beyond what was measured and asked
WIDEST: Final = 3  # times what was measured: a range that goes further is cut there
MOST_COUNTS: Final = 60  # at which the law is asked
ASIDE: Final = 0.012  # of the axis: crosses stand beside the dots that they are to meet


def draw(found: Scaling, axes: Axes | None) -> Axes:
    """Law with its band, measured configurations, each of them from the others, what was asked for."""
    (axes,) = style.begin(axes, found.headline)
    rows = sorted(found.configurations, key=lambda row: row.processors)
    asked = [*found.counts, *([] if found.needed is None else [found.needed.count])]
    most = max(row.processors for row in rows)
    widest = 0 if found.needed is None else min(found.needed.high or 0, WIDEST * most)
    last = math.ceil(max(FURTHER * most, widest + 1, *(1.1 * count + 1 for count in asked or [0])))
    counts = sorted(
        {*np.linspace(1, last, min(last, MOST_COUNTS)).round().astype(int).tolist(), most, *asked}
    )
    law, n = found.rates(counts), np.array(counts)
    axes.fill_between(
        n, law.low, law.high, color=style.COLORS[0], alpha=style.BAND, label=style.NINETY, linewidth=0
    )
    for part, line, label in ((n <= most, "-", "law"), (n >= most, ":", "law, beyond what was measured")):
        axes.plot(n[part], law.value[part], line, color=style.COLORS[0], label=label)
    out = [
        one
        for _, one in sorted(
            zip(found.configurations, found.left_out, strict=True), key=lambda p: p[0].processors
        )
    ]
    ends = [[one.value - one.low, one.high - one.value] for one in out]
    bars = np.transpose(ends) if np.isfinite(ends).all() else None
    axes.errorbar(
        [row.processors - ASIDE * last for row in rows], [one.value for one in out], bars, fmt="x",
        color=style.COLORS[1], markersize=7, capsize=3,
        label="from the other runs" + ("" if bars is None else f", {style.NINETY}"),
    )  # fmt: skip
    axes.plot(
        [row.processors for row in rows], [row.internal_throughput for row in rows], "o", color=style.MEASURED,
        markersize=5, zorder=style.ABOVE, label="measured",
    )  # fmt: skip
    if found.older:
        axes.plot(
            [row.processors for row in found.older], [row.internal_throughput for row in found.older], "s",
            color=style.MEASURED, fillstyle="none", zorder=style.ABOVE, label="measured, release before",
        )  # fmt: skip
    _answers(found, axes)
    bounded = np.where(np.isfinite(law.high), law.high, 0.0)
    highest = max(float(bounded.max()), 1.2 * max(row.internal_throughput for row in rows))
    axes.set(
        xlabel="processors",
        ylabel="ITR [transactions/s]",
        xlim=(0, last),
        ylim=(0, min(highest, 3 * float(law.value.max()))),
    )
    style.plain(axes)
    style.whole_numbers(axes)
    style.legend_below(axes, 4)
    return axes


def _answers(found: Scaling, axes: Axes) -> None:
    """The counts that were asked for with their throughput, or the throughput with the count that it takes."""
    for count in found.counts:
        one = found.predict(count)
        ends = [[one.value - one.low], [one.high - one.value]] if math.isfinite(one.high) else None
        axes.errorbar([count], [one.value], ends, fmt="D", color=style.MEASURED, markersize=7, fillstyle="none",
                      capsize=5, zorder=style.ABOVE)  # fmt: skip
        style.name_point(axes, f"{count}: {one.value:.4g}/s", (count, one.value), style.MEASURED, above=False)
    if found.needed is not None and found.wanted is not None:
        at = found.needed
        axes.axhline(found.wanted, color=style.MEASURED, linestyle=(0, (4, 3)), linewidth=1, label="wanted")
        axes.axvspan(
            at.low - 0.5, (at.high or axes.get_xlim()[1]) + 0.5, color=style.RANGE, zorder=0, label="range"
        )
        axes.plot([at.count], [found.predict(at.count).value], "D", color=style.MEASURED, markersize=7,
                  fillstyle="none", zorder=style.ABOVE)  # fmt: skip
        style.name_point(
            axes, f"{at.count} processors", (at.count, found.wanted), style.MEASURED, above=False
        )
