"""Pictures of systems: throughput beside its bounds, and over a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from planner import style
from planner.system.answer import throughput_unit
from planner.system.figures import OUTSIDE, Found
from planner.units import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.system.answer import SystemAnswer, SystemComparison
    from planner.system.grid import SystemGrid


def draw_system(answer: SystemAnswer, axes: Axes | None) -> Axes:
    """Throughput with its 90 % interval beside what each part would allow."""
    return _bounds(answer.headline, [(answer.system.name, answer.found)], answer.unit, axes)


def draw_comparison(answer: SystemComparison, axes: Axes | None) -> Axes:
    """The same of both systems."""
    pairs = [(name, each.found) for name, each in zip(answer.names, (answer.one, answer.two), strict=True)]
    return _bounds(answer.headline, pairs, answer.one.unit, axes)


def _bounds(headline: str, pairs: Sequence[tuple[str, Found]], unit: str, axes: Axes | None) -> Axes:
    """Bounds as hollow points and the throughput as a full one with its interval, for one system or two."""
    names = [n for n in dict.fromkeys(n for _, f in pairs for n, _ in f.ranked())]
    labels, several = ["throughput", *names], len(pairs) > 1
    most = pairs[0][1].throughput.value
    title = "" if several or most is None else f"{readable(most)} {unit}, most limited by {names[0]}"
    (axes,) = style.begin(axes, headline, title=title, height=1.7 + 0.4 * len(labels))
    named = _apart([name for name, _ in pairs])
    for k, (name, (_, found), color, (marker, size)) in enumerate(
        zip(named, pairs, cycle(style.COLORS), cycle(style.MARKERS), strict=False)
    ):
        # of a row: two systems side by side
        bounds, off = dict(found.ranked()), (k - (len(pairs) - 1) / 2) * 0.3
        places = [labels.index(n) + off for n in bounds]
        axes.plot(
            list(bounds.values()), places, marker, color=color, markersize=min(size, 8), fillstyle="none",
            label=f"{name}: most that a part allows" if several else "most that a part allows",
        )  # fmt: skip
        for value, place in zip(bounds.values(), places, strict=True):
            style.name_point(axes, readable(value), (value, place), color, above=not k)
        rate = found.throughput
        if rate.value is not None and rate.low is not None and rate.high is not None:
            axes.plot([rate.low, rate.high], [off, off], color=color, linewidth=7, alpha=style.BAND,
                      label=None if k else style.NINETY)  # fmt: skip
            axes.plot([rate.value], [off], marker, color=color, markersize=min(size, 8), zorder=style.ABOVE,
                      label=f"{name}: throughput" if several else "throughput")  # fmt: skip
            style.name_point(axes, readable(rate.value), (rate.value, off), color, above=not k)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.6)
    if names:
        style.logarithmic(axes, "x")
    axes.set_xlabel(f"throughput [{unit}]")
    axes.margins(x=0.15)
    style.legend_below(axes, 2)
    return axes


def _apart(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them have."""
    words = [name.replace(",", "").split() for name in names]
    common = set.intersection(*map(set, words)) if len(names) > 1 else set()
    return [
        " ".join(w for w in each if w not in common) or name for each, name in zip(words, names, strict=True)
    ]


def draw_grid(answer: SystemGrid, axes: Axes | None) -> Axes:
    """Throughput over what varies, one line for each combination of the rest, with the 90 % band; most is marked."""
    first = answer.setting(0)
    words = [str(v) for v in first.values] if any(isinstance(v, str) for v in first.values) else None
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    for k, each in enumerate(answer.found):
        number = each.throughput if isinstance(each, Found) else OUTSIDE
        if number.value is not None:
            x = k if isinstance(first.values[k], str) else first.values[k]
            point = (float(x), number.value, number.low or 0.0, number.high or 0.0)
            lines.setdefault(", ".join(answer.named(k)[1:]), []).append(point)
    asked, _, result = answer.headline.partition(": ")
    (axes,) = style.begin(axes, answer.headline, title=f"{result[:1].upper()}{result[1:]}", below=f"{asked}.")
    top, best, named = 0.0, (0.0, 0.0, ""), []
    looks = zip(lines.items(), cycle(style.COLORS), cycle(style.MARKERS), cycle(style.LINES), strict=False)
    for k, ((label, points), color, (marker, size), line) in enumerate(looks):
        x, value, low, high = zip(*points, strict=True)
        axes.plot(x, value, marker=marker, markersize=size / 2, linestyle=line, color=color,
                  label=None if label else "throughput")  # fmt: skip
        style.band(axes, x, low, high, color, None if k else style.NINETY)
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
        style.name_point(axes, f"most: {readable(best[0])}", (-best[1], best[0]), best[2])
    places = [at for points in lines.values() for at, *_ in points]
    if words is not None:
        axes.set_xticks(range(len(words)), words)
    elif all(float(at).is_integer() for at in places):
        style.whole_numbers(axes)
    along = f"{first.name}{f' [{first.unit}]' if first.unit else ''}"
    axes.set(
        xlabel=along, ylabel=f"throughput [{throughput_unit(answer.system)}]", ylim=(0, 1.1 * top or 1.0)
    )
    style.name_lines(axes, named)
    style.legend_below(axes)
    return axes
