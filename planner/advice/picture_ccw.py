"""The picture of channel programs: CP time over the mix of reads and writes, with the published runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.devices.channel_program import WIDTHS
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.channel_program import CcwAnswer

SHARES: Final = (0.0, 0.5, 1.0)
ASIDE: Final = 0.008  # of the axis, between the runs of one mix
LABELS: Final = {1: "published run, written only", 2: "published run, written and read"}


def draw(found: CcwAnswer, axes: Axes | None) -> Axes:
    """Both widths and both ways of translation; the runs stand at the mix that they had."""
    (axes,) = style.begin(axes, found.headline)
    named = []
    cases = [(bits, fast) for bits in WIDTHS for fast in (True, False)]
    for k, (bits, fast) in enumerate(cases):
        color, line = style.COLORS[k], style.LINES[k]
        law = found.over(bits, SHARES, fast=fast) / MILLISECOND
        axes.fill_between(
            SHARES,
            law.low,
            law.high,
            color=color,
            alpha=style.BAND,
            linewidth=0,
            label=style.NINETY if k == 0 else None,
        )
        axes.plot(SHARES, law.value, line, color=color)
        named.append((float(law.value[-1]), f"{bits}-bit, {'fast' if fast else 'slow'}", color))
        _runs(axes, found, (bits, fast), k)
    at, (low, value, high) = found.read_share, found.time_per_mb / MILLISECOND
    axes.axvline(at, color=style.MEASURED, linewidth=0.8)
    axes.errorbar(
        [at], [value], [[value - low], [high - value]], fmt="D", color=style.MEASURED, markersize=8, fillstyle="none",
        capsize=6, zorder=style.ABOVE + 1, label=f"asked for: {at:.0%} read, {style.NINETY}",
    )  # fmt: skip
    axes.set(
        xlabel="share of the data that is read",
        ylabel="CP time per MB moved [ms]",
        ylim=(0, None),
        xlim=(-0.02, 1),
    )
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _runs(axes: Axes, found: CcwAnswer, case: tuple[int, bool], k: int) -> None:
    """Runs that only wrote stand at 0, those that read what they had written at a half."""
    for passes, (marker, label) in enumerate(zip(("o", "^"), LABELS.values(), strict=True), start=1):
        times = [
            run.time_per_mb / run.passes / MILLISECOND
            for run in found.runs
            if (run.bits, run.fast) == case and run.passes == passes
        ]
        places = 0.5 * (passes - 1) + ASIDE * (np.arange(len(times)) - (len(times) - 1) / 2)
        axes.plot(
            places, times, marker, color=style.COLORS[k], markersize=6, markeredgecolor=style.MEASURED,
            zorder=style.ABOVE, clip_on=False, linestyle="none", label=label if k == 0 else None,
        )  # fmt: skip
