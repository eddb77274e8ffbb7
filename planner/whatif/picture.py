"""The pictures of predictions: figures over what was varied; of one scenario, where it stands in what is around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    first, *more = found.figures
    figures = [each for each in found.figures if each.key == figure]
    figures = figures or [first, *(each for each in more if each.key == BELOW)]
    result = found.headline.removeprefix(f"{found.title}: ").removesuffix(".")
    panels = style.begin(axes, found.headline, title=result, below=f"{found.title}.", panels=len(figures))
    for panel, each in zip(panels, figures, strict=False):  # the axes of the user are one panel
        _panel(shown, each, panel)
        if not found.keys:
            _mark(found, shown, each, panel)
    column = shown.table().columns[0]
    unit = f" [{column.shown_unit}]" if column.shown_unit else ""
    panels[-1].set_xlabel(f"{column.name.replace('_', ' ')}{unit}")
    style.legend_below(panels[-1])
    return panels[0]


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
    for k, places in enumerate(lines.values()):
        (color, line), (marker, _) = style.look(k), style.MARKERS[k % len(style.MARKERS)]
        label = ", ".join(found.worded(columns[key], places[0]) for key in others)
        at = [x[place] for place in places]
        ends = np.nan_to_num(low[places], nan=0.0), np.clip(high[places], None, 2 * top)
        band = None if k else style.NINETY
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
    within = found.values[shown.key][0] / shown.factor
    value = found.settings[0][first]
    place = value if isinstance(value, str) else float(value) / found.scale(first)
    known = math.isfinite(within.low) and math.isfinite(within.value)
    style.answer(axes, place, within, f"asked for, {style.NINETY}" if known else "asked for")
