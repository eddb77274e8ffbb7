"""The pictures of predictions: figures over what was varied; of one scenario, where it stands in what is around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import style
from planner.quantity import Quantity, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.whatif.predict import Prediction

BELOW: Final = "response"  # the second figure, where the kind has it
LEGEND: Final = 8  # lines that are named at their ends


def draw(found: Prediction, axes: Axes | None, figure: str | None = None) -> Axes:
    """A grid over what was varied first; a single scenario within a line through it."""
    around = None if found.keys else found.around()
    shown = around or found
    figures = [each for each in found.figures if each.key == figure] or _two(found.figures)
    result = found.headline.removeprefix(f"{found.title}: ").removesuffix(".")
    panels = style.begin(
        axes,
        found.headline,
        title=result,
        below=f"{found.title}.",
        panels=1 if axes is not None else len(figures),
    )
    for panel, each in zip(panels, figures, strict=False):
        _panel(shown, each, panel)
        if not found.keys:
            _mark(found, shown, each, panel)
    first = _varied(shown)[0]
    column = {column.name: column for column in shown.table().columns}[first]
    unit = f" [{column.unit}]" if column.unit not in {"", "share"} else ""
    panels[-1].set_xlabel(f"{first.replace('_', ' ')}{unit}")
    style.legend_below(panels[-1])
    return panels[0]


def _two(figures: Sequence[Quantity]) -> list[Quantity]:
    """The first figure, and the response time where there is one."""
    return [figures[0], *(each for each in figures[1:] if each.key == BELOW)]


def _varied(found: Prediction) -> tuple[str, ...]:
    return found.keys or tuple(found.known)


def _panel(found: Prediction, shown: Quantity, axes: Axes) -> None:
    """One figure with its band, a line for each value of what was varied besides."""
    first, *others = _varied(found)
    columns = {column.name: column for column in found.table().columns}
    lines: dict[tuple[Value, ...], list[int]] = {}
    for k, each in enumerate(found.settings):
        lines.setdefault(tuple(each[key] for key in others), []).append(k)
    x = columns[first].values
    low, best, high = (np.asarray(end) / shown.factor for end in found.values[shown.key])
    finite = np.concatenate([part[np.isfinite(part)] for part in (best, high)])
    top = 1.1 * float(finite.max(initial=0.0)) or 1.0
    words = any(isinstance(value, str) for value in x)
    named = []
    looks = zip(lines.values(), cycle(style.COLORS), cycle(style.LINES), cycle(style.MARKERS), strict=False)
    for number, (places, color, line, (marker, _)) in enumerate(looks):
        label = ", ".join(found.worded(columns[key], places[0]) for key in others)
        at = [x[k] for k in places]
        ends = np.nan_to_num(low[places], nan=0.0), np.clip(high[places], None, 2 * top)
        band = style.NINETY if number == 0 else None
        if words:
            off = np.maximum(0.0, [best[places] - ends[0], ends[1] - best[places]])
            axes.errorbar(at, best[places], off, fmt=marker, color=color, capsize=5, label=label or band)
            continue
        axes.plot(at, best[places], line, marker=marker, color=color, markersize=3.5, linewidth=1.2,
                  label=None if label and len(lines) <= LEGEND else label or "law")  # fmt: skip
        style.band(axes, at, *ends, color, band)
        if label:
            named.append((float(best[places[-1]]), label, color))
    axes.set(ylabel=f"{shown.label} [{shown.unit}]" if shown.unit else shown.label, ylim=(0, top))
    if not words:
        if found.known[first].whole:
            style.whole_numbers(axes)
        _measured_range(found, first, x, axes)
    if len(lines) <= LEGEND and all(math.isfinite(end) for end, _, _ in named):
        style.name_lines(axes, named)


def _measured_range(found: Prediction, key: str, x: Sequence[Any], axes: Axes) -> None:
    """Gray strip over what was measured, where the picture leaves it."""
    if found.model is None or key not in found.model.validity:
        return
    factor = found.scale(key)
    low, high = (end / factor for end in found.model.validity[key])
    if low > min(x) or high < max(x):
        inside = max(low, min(x)), min(high, max(x))
        if inside[0] < inside[1]:
            axes.axvspan(*inside, color=style.RANGE, zorder=0, label="measured range")


def _mark(found: Prediction, around: Prediction, shown: Quantity, axes: Axes) -> None:
    """The scenario that was asked for, with its interval."""
    first = _varied(around)[0]
    low, best, high = (float(np.asarray(end)[0]) / shown.factor for end in found.values[shown.key])
    value = found.settings[0][first]
    place = value if isinstance(value, str) else float(value) / found.scale(first)
    ends = [[max(best - low, 0.0)], [high - best if math.isfinite(high) else 0.0]]
    known = math.isfinite(low) and math.isfinite(best)
    axes.errorbar(
        [place], [best], ends if known else None, fmt="D", color=style.MEASURED, fillstyle="none", markersize=8,
        capsize=5, zorder=style.ABOVE, label=f"asked for, {style.NINETY}" if known else "asked for",
    )  # fmt: skip
