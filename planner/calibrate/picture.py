"""The pictures of calibrations: what was measured and what the law says, and below how far they are apart in sigma."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.calibrate.error_bar import interval
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.calibrate.calibration import Calibration, Fit
    from planner.calibrate.problem import Observation

WIDE: Final = 1.645  # standard deviations on each side: 90 %
# Figure of an observation -> that of the law, how an axis names it, SI in its unit.
SHOWN: Final = {
    "io_rate": ("io_rate", "I/O rate [1/s]", 1.0),
    "response_time": ("response", "response time [ms]", MILLISECOND),
    "service_time": ("service", "service time [ms]", MILLISECOND),
    "queued": ("queued", "I/Os queued", 1.0),
    "wait_time": ("wait", "wait [ms]", MILLISECOND),
}


def draw_fit(found: Fit, axes: Axes | None) -> Axes:
    """The law of volumes or pools over their aliases, with the runs; below the residuals."""
    if found.model is None or found.spread is None:
        return draw_costs(found, axes)
    axes, *below = style.begin(axes, found.headline, panels=2)
    runs = found.observations
    key = max(SHOWN, key=lambda each: sum(each in run.figures for run in runs))
    figure, label, unit = SHOWN[key]
    shown = [run for run in runs if key in run.figures]
    groups = sorted({run.volumes for run in shown})
    for volumes, color, line, (marker, _) in zip(
        groups, cycle(style.COLORS), cycle(style.LINES), cycle(style.MARKERS), strict=False
    ):
        of = [run for run in shown if run.volumes == volumes]
        words = f", {volumes} volumes" if len(groups) > 1 else ""
        counts = _counts(of)
        asked = [{"aliases": float(k), "volumes": float(volumes)} for k in counts]
        law = interval(figure, found.model, asked)
        low, high = np.asarray(law.low) / unit, np.minimum(law.high, 1e3 * np.max(law.value)) / unit
        style.band(axes, counts, low, high, color, style.NINETY if volumes == groups[0] else None)
        axes.plot(counts, np.asarray(law.value) / unit, line, color=color, label=f"law{words}")
        axes.plot(
            [run.aliases for run in of], [run.figures[key].value / unit for run in of], marker, color=style.MEASURED,
            markersize=7, fillstyle="none", zorder=style.ABOVE, clip_on=False, label=f"measured{words}",
        )  # fmt: skip
    left_out = [run for run in shown if run.name in found.outliers]
    if left_out:
        axes.plot(
            [run.aliases for run in left_out], [run.figures[key].value / unit for run in left_out], "o", color="none",
            markeredgecolor=style.COLORS[1], markeredgewidth=2, markersize=16, zorder=style.ABOVE, clip_on=False,
            label="outlier, not fitted",
        )  # fmt: skip
    axes.set_ylabel(label)
    if len(groups) > 1:
        style.logarithmic(axes, "y")
    else:
        axes.set_ylim(0, None)
    style.whole_numbers(axes)
    if below:
        places = [float(run.aliases) for run in runs for _ in run.figures]
        gap = min((b - a for a, b in pairwise(sorted(set(places)))), default=1.0)
        _residuals(found, places, 0.1 * max(gap, 0.5), below[0])
        axes.legend(frameon=False, fontsize="small")
    (below[0] if below else axes).set_xlabel("aliases")
    style.legend_below(below[0] if below else axes)
    return axes


def _counts(runs: Sequence[Observation]) -> list[int]:
    """Alias counts at which the law is drawn, those of the runs among them."""
    most = max(max(run.aliases for run in runs) + 1, 2)
    # alias counts at which the law is asked
    grid = {round(count) for count in np.linspace(0, most, min(most + 1, 9))}
    return sorted(grid | {run.aliases for run in runs})


def _residuals(found: Calibration, places: Sequence[float], step: float, axes: Axes) -> None:
    """Law less measurement in standard deviations, figures of a run side by side, with the strip that holds 90 %."""
    rows = found.comparisons
    axes.axhspan(-WIDE, WIDE, color=style.RANGE, zorder=0, label=f"{style.NINETY} of the figures")
    axes.axhline(0, color="0.6", linewidth=1)
    quantities = list(dict.fromkeys(each.quantity for each in rows))
    for k, (quantity, color, (marker, _)) in enumerate(
        zip(quantities, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    ):
        of = [
            (x + _aside(k, quantities, step), each)
            for x, each in zip(places, rows, strict=True)
            if each.quantity == quantity
        ]
        axes.plot(
            [x for x, _ in of], [each.off_by for _, each in of], marker, color=color, markersize=6, clip_on=False,
            label=_words(quantity),
        )  # fmt: skip
        ringed = [(x, each.off_by) for x, each in of if each.run in found.outliers]
        if ringed:
            axes.plot(
                *zip(*ringed, strict=True), "o", color="none", markeredgecolor=style.COLORS[1], markersize=16,
                clip_on=False,
            )  # fmt: skip
    most = max(2.0, *(1.2 * abs(each.off_by) for each in rows if math.isfinite(each.off_by)))
    axes.set(ylabel="law less measurement [sigma]", ylim=(-most, most))


def _aside(k: int, quantities: Sequence[str], step: float) -> float:
    """How far a figure of a run is drawn from the middle."""
    return step * (k - (len(quantities) - 1) / 2)


def _words(quantity: str) -> str:
    """A heading such as service_ms as people read it: service."""
    for suffix in ("_ms", "_us", "_us_per_page"):
        if quantity.endswith(suffix):
            return quantity.removesuffix(suffix).replace("_", " ")
    return "I/O rate" if quantity == "io_rate" else quantity.replace("_", " ")


def _axis(quantity: str) -> str:
    """A heading such as cp_ms as an axis has it: cp [ms]."""
    words = _words(quantity)
    unit = quantity[len(words) + 1 :].replace("_per_", "/")
    return f"{words} [{unit}]" if unit else words


def draw_costs(found: Calibration, axes: Axes | None) -> Axes:
    """Measured numbers of all runs beside the law with its error; below the residuals."""
    axes, *below = style.begin(axes, found.headline, panels=2)
    rows = found.comparisons
    names = list(dict.fromkeys(each.run for each in rows))
    quantities = list(dict.fromkeys(each.quantity for each in rows))
    seen: list[float] = []
    for k, (quantity, color, (marker, _)) in enumerate(
        zip(quantities, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    ):
        of = [each for each in rows if each.quantity == quantity]
        x = [names.index(each.run) + _aside(k, quantities, 0.1) for each in of]
        law, measured = (np.array([getattr(each, key) for each in of]) for key in ("predicted", "measured"))
        if len(quantities) > 1:  # of several units: in percent of the law
            measured, law = (100.0 * each / np.where(law == 0.0, np.nan, law) for each in (measured, law))
        seen += measured[measured > 0].tolist()
        half = WIDE * found.model_error * np.abs(law)
        axes.errorbar(
            x, law, half, fmt="_", color=color, markersize=10, capsize=3, linewidth=1.2,
            label=f"law, {style.NINETY}" if k == 0 else None,
        )  # fmt: skip
        axes.plot(
            x, measured, marker, color=style.MEASURED, markersize=6, fillstyle="none", zorder=style.ABOVE,
            label="measured" if k == 0 else None,
        )  # fmt: skip
    if max(seen) > 30.0 * min(seen):  # ratio of numbers from which their axis is logarithmic
        style.logarithmic(axes, "y")
    else:
        axes.set_ylim(0, None)
    axes.set_ylabel(_axis(quantities[0]) if len(quantities) == 1 else "share of the law [%]")
    last = below[0] if below else axes
    room = 6  # for this many names, or one of twice as many letters
    turned = len(names) >= room or max(map(len, names)) > 2 * room
    rotation, ha = (30, "right") if turned else (0, "center")
    last.set_xticks(range(len(names)), names, rotation=rotation, ha=ha, fontsize="small")
    if below:
        _residuals(found, [float(names.index(each.run)) for each in rows], 0.1, last)
        axes.legend(frameon=False, fontsize="small")
    style.legend_below(last)
    return axes
