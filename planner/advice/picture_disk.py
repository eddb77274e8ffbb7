"""The picture of disk rates: transactions over the hit ratio of the minidisk cache, with the published runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from planner import library, style
from planner.devices.disk import DiskPath
from planner.units import KILOBYTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.disk import DiskAnswer, DiskRow

DRAWN: Final = 41  # hit ratios of a band
FINE: Final = 201  # of a line
OFF: Final = {"cached": ("-", "cached"), "off": ("--", "cache off")}


def draw(found: DiskAnswer, axes: Axes | None) -> Axes:
    """Rate of each kind with and without cache, what was asked for, the published runs of one requester."""
    (axes,) = style.begin(axes, found.headline, height=5.2)
    kinds = list(dict.fromkeys(row.kind for row in found.rows))
    named = []
    for row in found.rows:
        color = style.COLORS[kinds.index(row.kind) % len(style.COLORS)]
        end = _line(axes, found, row, color)
        named.append((end, f"{row.kind}, {OFF[row.mode][1]}", color))
        at = found.setting.hit_ratio
        axes.plot(
            [at],
            [row.bounded],
            "D",
            color=color,
            markeredgecolor=style.MEASURED,
            markersize=6,
            zorder=style.ABOVE - 1,
        )
    axes.axvline(
        found.setting.hit_ratio,
        color=style.MEASURED,
        linewidth=0.8,
        label=f"asked for: {found.setting.hit_ratio:g}",
    )
    _published(axes, found, kinds)
    style.logarithmic(axes, "y")
    axes.set(xlim=(0, 1), xlabel="hit ratio of the minidisk cache", ylabel="transactions [1/s]")
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _line(axes: Axes, found: DiskAnswer, row: DiskRow, color: str) -> float:
    """One kind in one mode with its band; where it ends."""
    setting, line = found.setting, OFF[row.mode][0]
    ratio = np.linspace(0, 1, FINE)
    rates = setting.bounded(row.path, row.mode, ratio)
    axes.plot(ratio, rates, line, color=color)
    places = np.linspace(0, 1, DRAWN if row.mode == "cached" else 2)
    band = setting.rate(row.kind, row.mode, places.tolist(), row.path)
    first = not axes.get_legend_handles_labels()[0]
    axes.fill_between(
        places,
        band.low,
        band.high,
        color=color,
        alpha=style.BAND,
        linewidth=0,
        label=style.NINETY if first else None,
    )
    return float(rates[-1])


def _published(axes: Axes, found: DiskAnswer, kinds: list[str]) -> None:
    """Published runs of one requester; hollow where a run moved more than its channel carries."""
    paths = {row.kind: row.path for row in found.rows}
    shown = {True: "published run, one requester", False: "published, more than the channel carries"}
    for kind, path in paths.items():
        marker, size = style.MARKERS[kinds.index(kind) % len(style.MARKERS)]
        color = style.COLORS[kinds.index(kind) % len(style.COLORS)]
        for place, rate in measured_rates(found.setting.workload, kind, path):
            bound = (
                found.setting.solve(path, "cached", place).channel_bound if "cached" in path.modes else np.inf
            )
            sound = rate <= float(bound)
            label = shown.pop(sound, None)
            axes.plot(
                [place], [rate], marker, color=color, fillstyle="full" if sound else "none", markersize=size,
                zorder=style.ABOVE, clip_on=False, label=label,
            )  # fmt: skip


def measured_rates(workload: str, kind: str, path: DiskPath) -> list[tuple[float, float]]:
    """Hit ratio and transactions per second of the published runs; those without cache stand at 0."""
    runs = library.read_model(f"disk-{workload}-{kind}").fit.runs
    if workload == "xedit":  # without cache, all misses, all hits
        return [(place, run.measured) for place, run in zip((0.0, 0.0, 1.0), runs, strict=True)]
    times: dict[str, float] = {}
    for run in runs:  # the four phases of a run, KB/s
        name = run.name.partition(" ")[0]
        times[name] = times.get(name, 0.0) + path.read_bytes / 2 / KILOBYTE / run.measured
    places = (0.0, path.measured_hit_ratio or 0.0)
    return [(place, 1 / time) for place, time in zip(places, times.values(), strict=False)]
