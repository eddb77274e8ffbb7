"""The picture of a formula: its answer over what drives it, for one server more and less, with your numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from planner import style, units
from planner.errors import InputError
from planner.explain.wording import sentence
from planner.quantity import Quantity
from planner.render import counted
from planner.results import Array
from planner.units import readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from planner.explain.explanation import Explanation


def draw(found: Explanation, axes: Axes | None) -> Axes:
    """The answer over one input; other lines are those of one more and one fewer of what helps."""
    topic, step = found.topic, found.answer_step
    inputs = {item.key: item for item in topic.inputs}
    over, given = inputs[topic.over], {key: float(value) for key, value in found.numbers.items()}
    at, answer = given[over.key], float(found.values[topic.answer])
    (unit, factor), (x_unit, x_factor) = units.shown(step.unit), units.shown(over.unit)
    result = f"{sentence(step.meaning)} {_said(found)}"
    (axes,) = style.begin(axes, f"{topic.title}: {result}.", title=result, below=f"{topic.title}.")
    grid, lines, top = _grid(over, at), [], 0.0
    for k, (count, words) in enumerate(_lines(found, inputs)):
        of = {**given, **({} if not topic.beside else {topic.beside: count})}
        values = np.array([_solve(found, {**of, over.key: x}) for x in grid]) / factor
        color, line = style.look(k)
        marker = "o" if over.whole else None
        axes.plot(np.array(grid) / x_factor, values, line, color=color, marker=marker, markersize=4)
        known = values[np.isfinite(values)]
        if words and known.size:
            lines.append((np.array(grid) / x_factor, values, words, color))
        top = max(top, float(known.max(initial=0.0)))
        last = np.flatnonzero(np.isfinite(values))
        if k == 0 and last.size and last[-1] < len(grid) - 1:
            saturated = grid[last[-1] + 1] / x_factor
            axes.axvline(saturated, color="0.6", linestyle=(0, (1, 2)), label="saturated from here on")
    if math.isfinite(answer):
        style.answer(axes, at / x_factor, (math.nan, answer / factor, math.nan), "your numbers")
        style.name_point(axes, _said(found), (at / x_factor, answer / factor), style.MEASURED)
        top = min(top, 4.0 * answer / factor) or top  # of the axis, in answers
    across, up = (
        f"{each.meaning} [{u}]" if u else each.meaning for each, u in ((over, x_unit), (step, unit))
    )
    axes.set(xlabel=across, ylabel=up, ylim=(0, 1.08 * top or 1.0))
    if over.whole:
        style.whole_numbers(axes)
    _name(axes, lines)
    style.legend_below(axes)
    return axes


def _name(axes: Axes, lines: Sequence[tuple[Array, Array, str, str]]) -> None:
    """Name lines at their right ends, or where they leave the picture at its top."""
    top, ends = axes.get_ylim()[1], []
    for x, values, words, color in lines:
        over = np.flatnonzero(~(values <= top))
        if not over.size:
            ends.append((float(values[-1]), words, color))
        elif over[0]:
            place = (float(x[over[0] - 1]), 0.97 * top)
            axes.annotate(words, place, xytext=(-4, 0), textcoords="offset points", ha="right", va="top",
                          color=style.ink(color), fontsize="small")  # fmt: skip
    style.name_lines(axes, ends)


def _said(found: Explanation) -> str:
    unit, factor = units.shown(found.answer_step.unit)
    text = readable(float(found.values[found.topic.answer]) / factor)
    return f"{text}{unit[1:]}" if unit.startswith("1/") else f"{text} {unit}".rstrip()


def _lines(found: Explanation, inputs: Mapping[str, Quantity]) -> Sequence[tuple[float, str]]:
    """Counts of the lines with their names; the one of the user first."""
    if not found.topic.beside:
        return [(0.0, "")]
    item = inputs[found.topic.beside]
    now = int(found.numbers[item.key])
    counts = [each for each in (now, now + 1, now - 1) if item.low <= each <= item.high]
    return [(float(each), counted(each, item.key.removesuffix("s"))) for each in counts]


def _grid(over: Quantity, at: float, points: int = 80) -> list[float]:
    """Where the answer is asked."""
    if over.whole:
        most = min(max(math.ceil(2.0 * at), at + 4), over.high)
        drawn = np.linspace(over.low, most, min(int(most - over.low) + 1, 24)).round()
        return sorted({*drawn.tolist(), at})
    most = min(2.0 * at if at else 1.0, over.high)
    return sorted({*np.linspace(max(over.low, most / points), most, points).tolist(), at})


def _solve(found: Explanation, values: Mapping[str, float]) -> float:
    """The answer by the numerical code; nan where it refuses, infinite where it is saturated."""
    try:
        return float(found.topic.numerical(values)[str(found.topic.answer)])
    except InputError:
        return math.nan
