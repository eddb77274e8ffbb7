"""The pictures of calibrations: what was measured and what the law says, and below how far they are apart in sigma."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Final

import numpy as np

from planner import style
from planner.calibrate.calibration import Calibration, Fit
from planner.calibrate.error_bar import interval
from planner.calibrate.least_squares import Comparison
from planner.calibrate.problem import FIGURES, Observation

WIDE: Final = 1.645  # standard deviations on each side: 90 %
# What is drawn, of figures that as many runs have.
LIKELIEST: Final = ("io_rate", "response_time", "service_time", "queued", "wait_time")


def draw_fit(found: Fit, axes: style.Axes | None) -> style.Axes:
    """The law of volumes or pools over their aliases, with the runs; below the residuals."""
    if found.model is None or found.spread is None:
        return draw_costs(found, axes)
    axes, *below = style.begin(axes, found.headline, panels=2)
    runs = found.observations
    key = max(LIKELIEST, key=lambda each: sum(each in run.figures for run in runs))
    figure, unit = FIGURES[key], FIGURES[key].factor
    shown = [run for run in runs if key in run.figures]

    def points(of: Sequence[Observation]) -> tuple[list[int], list[float]]:
        return [run.aliases for run in of], [run.figures[key].value / unit for run in of]

    groups = sorted({run.volumes for run in shown})
    for volumes, color, line, (marker, _) in zip(
        groups, cycle(style.COLORS), cycle(style.LINES), cycle(style.MARKERS), strict=False
    ):
        of = [run for run in shown if run.volumes == volumes]
        words = f", {volumes} volumes" if len(groups) > 1 else ""
        counts = _counts(of)
        asked = [{"aliases": float(k), "volumes": float(volumes)} for k in counts]
        law = interval(figure.key, found.model, asked)
        low, high = np.asarray(law.low) / unit, np.minimum(law.high, 1e3 * np.max(law.value)) / unit
        style.band(axes, counts, low, high, color, style.NINETY if volumes == groups[0] else None)
        axes.plot(counts, np.asarray(law.value) / unit, line, color=color, label=f"law{words}")
        axes.plot(
            *points(of), marker, color=style.MEASURED, markersize=7, fillstyle="none", zorder=style.ABOVE,
            clip_on=False, label=f"measured{words}",
        )  # fmt: skip
    if left_out := [run for run in shown if run.name in found.outliers]:
        axes.plot(
            *points(left_out), "o", color="none", markeredgecolor=style.COLORS[1], markeredgewidth=2, markersize=16,
            zorder=style.ABOVE, clip_on=False, label="outlier, not fitted",
        )  # fmt: skip
    axes.set_ylabel(f"{figure.label} [{figure.unit}]" if figure.unit else figure.label)
    if len(groups) > 1:
        style.logarithmic(axes, "y")
    else:
        axes.set_ylim(0, None)
    style.whole_numbers(axes)
    places = [float(run.aliases) for run in runs for _ in run.figures]
    gap = min((b - a for a, b in pairwise(sorted(set(places)))), default=1.0)
    _end(found, places, 0.1 * gap, [axes, *below]).set_xlabel("aliases")
    return axes


def _counts(runs: Sequence[Observation]) -> list[int]:
    """Alias counts at which the law is drawn, those of the runs among them."""
    most = max(max(run.aliases for run in runs) + 1, 2)
    # alias counts at which the law is asked
    grid = {round(count) for count in np.linspace(0, most, min(most + 1, 9))}
    return sorted(grid | {run.aliases for run in runs})


def _by_quantity(
    found: Calibration, places: Sequence[float], step: float
) -> Iterator[tuple[str, str, str, list[float], list[Comparison]]]:
    """Each quantity with its color and marker, and its figures beside those of other quantities of their runs."""
    quantities = list(dict.fromkeys(each.quantity for each in found.comparisons))
    looks = zip(quantities, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    for k, (quantity, color, (marker, _)) in enumerate(looks):
        aside = step * (k - (len(quantities) - 1) / 2)
        pairs = zip(places, found.comparisons, strict=True)
        of = [(x + aside, each) for x, each in pairs if each.quantity == quantity]
        yield quantity, color, marker, [x for x, _ in of], [each for _, each in of]


def _residuals(found: Calibration, places: Sequence[float], step: float, axes: style.Axes) -> None:
    """Law less measurement in standard deviations, figures of a run side by side, with the strip that holds 90 %."""
    axes.axhspan(-WIDE, WIDE, color=style.RANGE, zorder=0, label=f"{style.NINETY} of the figures")
    axes.axhline(0, color="0.6", linewidth=1)
    for quantity, color, marker, x, of in _by_quantity(found, places, step):
        off = [each.off_by for each in of]
        axes.plot(x, off, marker, color=color, markersize=6, clip_on=False, label=_words(quantity))
        out = [k for k, each in enumerate(of) if each.run in found.outliers]
        if out:
            across, up = ([each[k] for k in out] for each in (x, off))
            axes.plot(across, up, "o", color="none", markeredgecolor=style.COLORS[1], markersize=16,
                      clip_on=False)  # fmt: skip
    most = max(2.0, *(1.2 * abs(each.off_by) for each in found.comparisons if math.isfinite(each.off_by)))
    axes.set(ylabel="law less measurement [sigma]", ylim=(-most, most))


def _end(
    found: Calibration, places: Sequence[float], step: float, panels: Sequence[style.Axes]
) -> style.Axes:
    """Draw the residuals where there is a panel for them, and the legends; the last panel."""
    if len(panels) > 1:
        _residuals(found, places, step, panels[-1])
        panels[0].legend(frameon=False, fontsize="small")
    style.legend_below(panels[-1])
    return panels[-1]


def _words(quantity: str) -> str:
    """A heading such as service_ms as people read it: service."""
    words = re.sub("_(ms|us|us_per_page)$", "", quantity)
    return "I/O rate" if words == "io_rate" else words.replace("_", " ")


def _axis(quantity: str) -> str:
    """A heading such as cp_ms as an axis has it: cp [ms]."""
    words = _words(quantity)
    unit = quantity[len(words) + 1 :].replace("_per_", "/")
    return f"{words} [{unit}]" if unit else words


def draw_costs(found: Calibration, axes: style.Axes | None) -> style.Axes:
    """Measured numbers of all runs beside the law with its error; below the residuals."""
    axes, *below = style.begin(axes, found.headline, panels=2)
    rows = found.comparisons
    names = list(dict.fromkeys(each.run for each in rows))
    places = [float(names.index(each.run)) for each in rows]
    quantities = list(dict.fromkeys(each.quantity for each in rows))
    seen: list[float] = []
    for quantity, color, marker, x, of in _by_quantity(found, places, 0.1):
        law, measured = (np.array([getattr(each, key) for each in of]) for key in ("predicted", "measured"))
        if len(quantities) > 1:  # of several units: in percent of the law
            measured, law = (100.0 * each / np.where(law == 0.0, np.nan, law) for each in (measured, law))
        seen += measured[measured > 0].tolist()
        half = WIDE * found.model_error * np.abs(law)
        axes.errorbar(
            x, law, half, fmt="_", color=color, markersize=10, capsize=3, linewidth=1.2,
            label=f"law, {style.NINETY}" if quantity == quantities[0] else None,
        )  # fmt: skip
        axes.plot(
            x, measured, marker, color=style.MEASURED, markersize=6, fillstyle="none", zorder=style.ABOVE,
            label="measured" if quantity == quantities[0] else None,
        )  # fmt: skip
    if max(seen) > 30.0 * min(seen):  # ratio of numbers from which their axis is logarithmic
        style.logarithmic(axes, "y")
    else:
        axes.set_ylim(0, None)
    axes.set_ylabel(_axis(quantities[0]) if len(quantities) == 1 else "share of the law [%]")
    last = _end(found, places, 0.1, [axes, *below])
    room = 6  # for this many names, or one of twice as many letters
    turned = len(names) >= room or max(map(len, names)) > 2 * room
    rotation, ha = (30, "right") if turned else (0, "center")
    last.set_xticks(range(len(names)), names, rotation=rotation, ha=ha, fontsize="small")
    return axes
