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


def bounds_picture(headline: str, name: str, unit: str, found: Found, axes: Axes | None) -> Axes:
    """Throughput with its 90 % interval beside what each part would allow."""
    return comparison_picture(headline, [(name, found)], unit, axes)


def comparison_picture(
    headline: str, pairs: Sequence[tuple[str, Found]], unit: str, axes: Axes | None
) -> Axes:
    """Bounds as bars and the throughput as a point with its interval, for one system or two."""
    (axes,) = style.begin(axes, headline, height=1.8 + 0.45 * max(2, len(pairs) * 3))
    names = [n for n in dict.fromkeys(n for _, f in pairs for n, _ in f.ranked())]
    labels = ["throughput", *names]
    height, several = 0.8 / len(pairs), len(pairs) > 1
    for k, ((name, found), color, hatch) in enumerate(
        zip(pairs, cycle(style.COLORS), cycle(style.HATCHES), strict=False)
    ):
        bounds = dict(found.ranked())
        places = [labels.index(n) + k * height for n in bounds]
        bars = axes.barh(
            places, list(bounds.values()), height=0.9 * height, color=color, hatch=hatch, alpha=0.6,
            label=f"most that a part allows, {name}" if several else "most that a part allows",
        )  # fmt: skip
        axes.bar_label(
            bars, [style.rounded(value, 3) for value in bounds.values()], padding=4, fontsize="small"
        )
        rate = found.throughput
        if rate.value is not None and rate.low is not None and rate.high is not None:
            off = [[rate.value - rate.low], [rate.high - rate.value]]
            axes.errorbar(
                [rate.value], [k * height], xerr=off, fmt="o", color=color, capsize=4, zorder=style.ABOVE,
                label=f"{name}, {style.NINETY}" if several else f"throughput, {style.NINETY}",
            )  # fmt: skip
            style.name_point(axes, style.rounded(rate.value, 3), (rate.high, k * height), color)
    axes.set_yticks([k + 0.4 - 0.4 / len(pairs) if several else k for k in range(len(labels))], labels)
    axes.invert_yaxis()
    style.logarithmic(axes, "x")
    axes.set_xlabel(f"throughput [{unit}]")
    axes.margins(x=0.15)
    style.legend_below(axes, 2)
    return axes


def grid_picture(
    headline: str, along: str, unit: str, lines: Mapping[str, Sequence[tuple[float, float, float, float]]],
    words: Sequence[str] | None, axes: Axes | None,
) -> Axes:  # fmt: skip
    """Throughput over what varies, one line for each combination of the rest, with the 90 % band; most is marked."""
    (axes,) = style.begin(axes, headline)
    top, best, named = 0.0, (0.0, 0.0, ""), []
    looks = zip(lines.items(), cycle(style.COLORS), cycle(style.MARKERS), cycle(style.LINES), strict=False)
    for k, ((label, points), color, (marker, size), line) in enumerate(looks):
        x, value, low, high = zip(*points, strict=True)
        axes.plot(x, value, marker=marker, markersize=size / 2, linestyle=line, color=color,
                  label=None if label else "throughput")  # fmt: skip
        axes.fill_between(
            x, low, high, color=color, alpha=style.BAND, linewidth=0, label=None if k else style.NINETY
        )
        top = max(top, *(h for h in high if math.isfinite(h)))
        best = max(best, *((v, -at, color) for at, v in zip(x, value, strict=True)))
        if label:
            named.append((value[-1], label, color))
    if best[2]:
        axes.plot(
            [-best[1]],
            [best[0]],
            "D",
            color=style.MEASURED,
            markersize=8,
            fillstyle="none",
            zorder=style.ABOVE,
        )
        style.name_point(axes, f"most: {style.rounded(best[0], 3)}", (-best[1], best[0]), best[2])
    places = [at for points in lines.values() for at, *_ in points]
    if words is not None:
        axes.set_xticks(range(len(words)), words)
    elif all(float(at).is_integer() for at in places):
        style.whole_numbers(axes)
    axes.set(xlabel=along, ylabel=f"throughput [{unit}]", ylim=(0, 1.1 * top or 1.0))
    style.plain(axes)
    style.name_lines(axes, named)
    style.legend_below(axes)
    return axes
