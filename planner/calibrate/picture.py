"""The pictures of calibrations: measurements and model, and below them the residuals in sigma."""

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
# Order of preference among figures that equally many runs have.
LIKELIEST: Final = ("io_rate", "response_time", "service_time", "queued", "wait_time")


def draw_fit(found: Fit, axes: style.Axes | None) -> style.Axes:
    """The model of volumes or pools over their aliases, with the runs; the residuals below."""
    if found.model is None or found.posterior is None:
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
        curve = interval(figure.key, found.model, asked)
        low, high = np.asarray(curve.low) / unit, np.minimum(curve.high, 1e3 * np.max(curve.value)) / unit
        style.band(axes, counts, low, high, color, style.NINETY if volumes == groups[0] else None)
        axes.plot(counts, np.asarray(curve.value) / unit, line, color=color, label=f"model{words}")
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
    """Alias counts at which the model is drawn, including those of the runs."""
    most = max(max(run.aliases for run in runs) + 1, 2)
    # at most nine equally spaced counts
    grid = {round(count) for count in np.linspace(0, most, min(most + 1, 9))}
    return sorted(grid | {run.aliases for run in runs})


def _by_quantity(
    found: Calibration, places: Sequence[float], step: float
) -> Iterator[tuple[str, str, str, list[float], list[Comparison]]]:
    """Each quantity with its color, marker and figures; the quantities of a run are drawn side by side."""
    quantities = list(dict.fromkeys(each.quantity for each in found.comparisons))
    looks = zip(quantities, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    for k, (quantity, color, (marker, _)) in enumerate(looks):
        aside = step * (k - (len(quantities) - 1) / 2)
        pairs = zip(places, found.comparisons, strict=True)
        of = [(x + aside, each) for x, each in pairs if each.quantity == quantity]
        yield quantity, color, marker, [x for x, _ in of], [each for _, each in of]


def _residuals(found: Calibration, places: Sequence[float], step: float, axes: style.Axes) -> None:
    """Prediction minus measurement in standard deviations, figures of a run side by side, with a 90 % band."""
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
    axes.set(ylabel="model minus measurement [sigma]", ylim=(-most, most))


def _end(
    found: Calibration, places: Sequence[float], step: float, panels: Sequence[style.Axes]
) -> style.Axes:
    """Draw the residuals if there is a panel for them, and the legends; return the last panel."""
    if len(panels) > 1:
        _residuals(found, places, step, panels[-1])
        panels[0].legend(frameon=False, fontsize="small")
    style.legend_below(panels[-1])
    return panels[-1]


def _words(quantity: str) -> str:
    """Words of a heading: service for service_ms."""
    words = re.sub("_(ms|us|us_per_page)$", "", quantity)
    return "I/O rate" if words == "io_rate" else words.replace("_", " ")


def _axis(quantity: str) -> str:
    """Axis label of a heading: cp [ms] for cp_ms."""
    words = _words(quantity)
    unit = quantity[len(words) + 1 :].replace("_per_", "/")
    return f"{words} [{unit}]" if unit else words


def draw_costs(found: Calibration, axes: style.Axes | None) -> style.Axes:
    """Measured numbers of all runs and the model with its error; the residuals below."""
    axes, *below = style.begin(axes, found.headline, panels=2)
    rows = found.comparisons
    names = list(dict.fromkeys(each.run for each in rows))
    places = [float(names.index(each.run)) for each in rows]
    quantities = list(dict.fromkeys(each.quantity for each in rows))
    seen: list[float] = []
    for quantity, color, marker, x, of in _by_quantity(found, places, 0.1):
        model, measured = (np.array([getattr(each, key) for each in of]) for key in ("predicted", "measured"))
        if len(quantities) > 1:  # different units: in percent of the prediction
            measured, model = (
                100.0 * each / np.where(model == 0.0, np.nan, model) for each in (measured, model)
            )
        seen += measured[measured > 0].tolist()
        half = WIDE * found.model_error * np.abs(model)
        axes.errorbar(
            x, model, half, fmt="_", color=color, markersize=10, capsize=3, linewidth=1.2,
            label=f"model, {style.NINETY}" if quantity == quantities[0] else None,
        )  # fmt: skip
        axes.plot(
            x, measured, marker, color=style.MEASURED, markersize=6, fillstyle="none", zorder=style.ABOVE,
            label="measured" if quantity == quantities[0] else None,
        )  # fmt: skip
    if max(seen) > 30.0 * min(seen):  # above this ratio the axis is logarithmic
        style.logarithmic(axes, "y")
    else:
        axes.set_ylim(0, None)
    axes.set_ylabel(_axis(quantities[0]) if len(quantities) == 1 else "share of the prediction [%]")
    last = _end(found, places, 0.1, [axes, *below])
    room = 6  # for this many names, or a name of twice as many letters
    turned = len(names) >= room or max(map(len, names)) > 2 * room
    rotation, ha = (30, "right") if turned else (0, "center")
    last.set_xticks(range(len(names)), names, rotation=rotation, ha=ha, fontsize="small")
    return axes
