"""The pictures of paging answers: how many devices, what those that there are do, how much they carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.advice.paging_load import Load, PagingKind, curve
from planner.calibrate.error_bar import interval
from planner.results import Array
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.paging import PagingAnswer
    from planner.advice.paging_capacity import PagingCapacity

FARTHEST_THINK: Final = 30.0  # service times between two requests of the least loaded point of a line
RATES: Final = 24  # page rates of a line
SATURATED: Final = 1e6  # ms, drawn where a response is infinite
NEARLY: Final = 0.995  # of what devices carry: the last point of a line
PUBLISHED: Final = "page rate of one device [1/s]; points: published rates, response by the law"


def draw(found: PagingAnswer, axes: Axes | None) -> Axes:
    """Response over the devices to buy, or over the page rate of those there are; below what it rests on."""
    counts = [
        f"{at.count} {each.kind.name}" for each in found.choices if each.feasible and (at := each.outcome)
    ]
    title = " or ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))
    title = title if found.devices is None and len(title) <= style.LONGEST else ""
    axes, *below = style.begin(axes, found.headline, title=title, panels=2, shared=False, height=7.0)
    if found.devices is None:
        _over_counts(axes, found)
    else:
        _over_rates(axes, found, found.devices)
    for panel in below:
        _published(panel, [choice.kind for choice in found.choices])
    return axes


def draw_capacity(found: PagingCapacity, axes: Axes | None) -> Axes:
    """Response over the pages or guests of the devices there are; below what it rests on."""
    axes, *below = style.begin(axes, found.headline, panels=2, shared=False, height=7.0)
    at, rows = found.question, found.rows
    for k, row in enumerate(rows):
        if row.amount is None or row.outcome is None:
            continue
        grid = row.amount * np.array([*np.linspace(0.05, 1.0, RATES), 1.02, 1.05, 1.1, 1.2])
        amounts = (
            sorted({*np.maximum(np.round(grid), 1.0), row.amount})
            if at.per_guest is not None
            else grid.tolist()
        )
        _line(axes, k, row.kind, amounts, [at.load(each) for each in amounts], [at.devices] * len(amounts))
        ends = np.reshape([row.amount - row.low, row.high - row.amount], (2, 1))
        _answer(
            axes,
            k,
            row.amount,
            row.outcome.response_time,
            ends,
            f"{style.rounded(row.amount)} {row.kind.name}",
        )
    what = "guests" if at.per_guest is not None else "page rate of all devices [1/s]"
    _finish(axes, what, at.load(1.0), [row.kind for row in rows if row.amount is not None])
    for panel in below:
        _published(panel, [row.kind for row in rows])
    return axes


def _over_counts(axes: Axes, found: PagingAnswer) -> None:
    """A row each kind: how many devices, the interval of that, and what they do beside the target."""
    for k, choice in enumerate(found.choices):
        at, color = choice.outcome, _look(k)[0]
        target = style.rounded(found.load.target_of(choice.kind.device) / MILLISECOND)
        if at is None or not choice.feasible:
            axes.annotate(f"no count meets {target} ms", (0.02, k), xycoords=("axes fraction", "data"), va="center",
                          color=style.SOFT, fontsize="small")  # fmt: skip
            continue
        low, high = choice.least or at.count, choice.most or at.count
        axes.plot([low, high], [k, k], color=color, linewidth=9, alpha=style.BAND, solid_capstyle="round",
                  label=None if k else f"its range, {style.NINETY}")  # fmt: skip
        axes.plot([at.count], [k], "D", color=color, markersize=8, zorder=style.ABOVE, linestyle="None")
        ends = f", {style.NINETY}: {low} to {high}" if low < high else ""
        words = f"{at.count}{ends}; {style.rounded(at.response_time / MILLISECOND)} ms, at most {target} ms"
        axes.annotate(words, (max(high, at.count), k), xytext=(10, 0), textcoords="offset points", va="center",
                      fontsize="small")  # fmt: skip
    most = max((choice.most or choice.outcome.count for choice in found.choices if choice.outcome), default=1)
    axes.set_yticks(range(len(found.choices)), [choice.kind.name for choice in found.choices])
    axes.set(xlabel="devices", xlim=(0, 1.9 * most + 1), ylim=(len(found.choices) - 0.5, -0.5))
    style.whole_numbers(axes)


def _over_rates(axes: Axes, found: PagingAnswer, count: int) -> None:
    """Response of the devices there are over the page rate; the one asked for marked."""
    load = found.load
    for k, choice in enumerate(found.choices):
        device, at = choice.kind.device, choice.outcome
        full = count * device.capacity
        if load.requests is not None:
            full = min(full, load.requests * device.pages_per_transfer / device.service_time)
        rates = full * np.append(np.linspace(0.05, 0.9, RATES), [0.95, 0.98, NEARLY])
        if load.page_rate < rates[-1]:
            rates = np.unique(np.append(rates, load.page_rate))
        _line(
            axes,
            k,
            choice.kind,
            rates.tolist(),
            [replace(load, page_rate=rate) for rate in rates],
            [count] * len(rates),
        )
        if at is not None and math.isfinite(at.response_time):
            _answer(axes, k, load.page_rate, at.response_time, None, choice.kind.name)
        else:
            axes.annotate(
                f"{choice.kind.name}: saturated", (rates[-1], 0), xytext=(0, 4), textcoords="offset points", ha="right",
                color=_look(k)[0], fontsize="small",
            )  # fmt: skip
    axes.axvline(load.page_rate, color=style.MEASURED, linewidth=1, label="page rate asked for")
    _finish(axes, "page rate of all devices [1/s]", load, [choice.kind for choice in found.choices])


def _look(k: int) -> tuple[str, str]:
    return style.COLORS[k % len(style.COLORS)], style.LINES[k % len(style.LINES)]


def _line(
    axes: Axes, k: int, kind: PagingKind, x: Sequence[float], loads: Sequence[Load], counts: Sequence[int]
) -> None:
    """Response time of a kind with the band of what one device carries, and the longest that is accepted."""
    color, look = _look(k)
    curves = [curve(kind.device, load, n) for load, n in zip(loads, counts, strict=True)]
    value, low, high = (
        np.array(
            [
                np.interp(load.page_rate / end, *known, right=np.inf)
                for load, known in zip(loads, curves, strict=True)
            ]
        )
        / MILLISECOND
        for end in (1.0, kind.error[1], kind.error[0])
    )
    if loads[0].target is None:
        target = loads[0].target_of(kind.device) / MILLISECOND
        axes.plot([x[0], x[-1]], [target, target], linestyle=(0, (1, 3)), color=color)
    known = np.isfinite(low)
    axes.fill_between(
        np.asarray(x)[known], low[known], np.minimum(high[known], SATURATED), color=color, alpha=style.BAND,
        linewidth=0, label=None if axes.get_legend_handles_labels()[0] else style.NINETY,
    )  # fmt: skip
    axes.plot(x, value, look, color=color, linewidth=1.5)


def _answer(axes: Axes, k: int, x: float, response: float, ends: Array | None, name: str) -> None:
    """The answer of a kind, its range and its name."""
    color, y = _look(k)[0], response / MILLISECOND
    axes.errorbar(
        [x], [y], xerr=ends, fmt="D", color=color, markeredgecolor=style.MEASURED, markersize=6, capsize=4,
        zorder=style.ABOVE,
    )  # fmt: skip
    style.name_point(axes, name, (x, y), color, above=bool(k % 2))


def _finish(axes: Axes, what: str, load: Load, drawn: Sequence[PagingKind]) -> None:
    """Target, scales, names of the axes."""
    targets = [load.target_of(kind.device) / MILLISECOND for kind in drawn]
    if load.target is not None:
        axes.axhline(targets[0], color=style.MEASURED, linestyle=(0, (4, 3)), linewidth=1, label="target")
    else:
        axes.plot([], [], linestyle=(0, (1, 3)), color="0.3", label="twice the service")
    style.logarithmic(axes, "x")
    axes.set(xlabel=what, ylabel="response time [ms]", ylim=(0, 1.5 * max(targets)))
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _published(axes: Axes, kinds: Sequence[PagingKind]) -> None:
    """One device of each kind with as many requests as were measured, its band, and the published run."""
    for k, kind in enumerate(kinds):
        color, look = style.COLORS[k % len(style.COLORS)], style.LINES[k % len(style.LINES)]
        device, requests = kind.device, kind.model.population
        assert requests is not None
        think = np.append(0.0, np.geomspace(1e-3, FARTHEST_THINK, 100)) * device.service_time
        line = device.closed(requests, think)
        asked = {"outstanding": float(requests), "arrival_rate": 0.0, "scv": 1.0}
        scenarios = [{**asked, "think_time": float(each)} for each in think]
        band = interval("response", kind.model, scenarios)
        axes.plot(line.page_rate, line.response_time / MILLISECOND, look, color=color)
        axes.fill_between(
            line.page_rate, band.low / MILLISECOND, band.high / MILLISECOND, color=color, alpha=style.BAND,
            label=style.NINETY if k == 0 else None, linewidth=0,
        )  # fmt: skip
        first = kind.model.fit.runs[0]
        measured = first.measured * (device.pages_per_transfer if first.quantity == "transfer_rate" else 1.0)
        # The run's response time was not printed: it is that of the law, at the printed rate.
        at = float(np.interp(-measured, -line.page_rate, line.response_time)) / MILLISECOND
        axes.plot(
            [measured], [at], "o", color=color, markersize=8, zorder=style.ABOVE, clip_on=False,
            label="published run" if k == 0 else None,
        )  # fmt: skip
        style.name_point(axes, kind.name, (measured, at), color)
    style.logarithmic(axes, "x")
    axes.set(xlabel=PUBLISHED, ylabel="response time [ms]", ylim=(0, None))
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
