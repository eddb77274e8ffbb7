"""Pictures of systems: throughput beside its bounds, and over a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from planner import style
from planner.system.figures import Found

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bounds_picture(name: str, unit: str, found: Found, axes: Axes | None) -> Axes:
    """Throughput with its 90 % interval beside what each part would allow."""
    axes = comparison_picture([(name, found)], unit, axes)
    axes.set_title(name)
    return axes


def comparison_picture(pairs: Sequence[tuple[str, Found]], unit: str, axes: Axes | None) -> Axes:
    """Bounds as bars and the throughput as a point with its interval, for one system or two."""
    axes = axes or style.new_axes(7.5, 1.6 + 0.5 * max(2, len(pairs) * 3))
    names = [n for n in dict.fromkeys(n for _, f in pairs for n, _ in f.ranked())]
    labels = ["throughput", *names]
    height = 0.8 / len(pairs)
    for k, ((name, found), color, hatch) in enumerate(
        zip(pairs, cycle(style.COLORS), cycle(style.HATCHES), strict=False)
    ):
        bounds = dict(found.ranked())
        places = [labels.index(n) + k * height for n in bounds]
        axes.barh(places, list(bounds.values()), height=0.9 * height, color=color, hatch=hatch, alpha=0.6,
                  label=f"bound, {name}" if len(pairs) > 1 else "bound")  # fmt: skip
        rate = found.throughput
        if rate.value is not None and rate.low is not None and rate.high is not None:
            off = [[rate.value - rate.low], [rate.high - rate.value]]
            axes.errorbar([rate.value], [k * height], xerr=off, fmt="o", color=color, capsize=4,
                          label=f"{name}, 90 %" if len(pairs) > 1 else "throughput, 90 %")  # fmt: skip
    axes.set_yticks([k + 0.4 - 0.4 / len(pairs) if len(pairs) > 1 else k for k in range(len(labels))], labels)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"throughput [{unit}]")
    axes.legend(frameon=False, fontsize="small")
    return axes


def grid_picture(
    name: str, along: str, unit: str, lines: Mapping[str, Sequence[tuple[float, float, float, float]]],
    words: Sequence[str] | None, axes: Axes | None,
) -> Axes:  # fmt: skip
    """Throughput over what varies, one line for each combination of the rest, with the 90 % band."""
    axes = axes or style.new_axes()
    top = 0.0
    looks = zip(lines.items(), cycle(style.COLORS), cycle(style.MARKERS), cycle(style.LINES), strict=False)
    for (label, points), color, (marker, size), line in looks:
        x, value, low, high = zip(*points, strict=True)
        axes.plot(
            x,
            value,
            marker=marker,
            markersize=size / 2,
            linestyle=line,
            color=color,
            label=label or "throughput",
        )
        axes.fill_between(x, low, high, color=color, alpha=style.BAND, linewidth=0)
        top = max(top, *(h for h in high if math.isfinite(h)))
    if words is not None:
        axes.set_xticks(range(len(words)), words)
    axes.set(xlabel=along, ylabel=f"throughput [{unit}]", title=name, ylim=(0, 1.05 * top or 1.0))
    axes.legend(frameon=False, title="band: 90 %")
    return axes
