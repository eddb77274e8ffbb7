"""Pictures of the advice: channel programs, cached disk, paging, processors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

import numpy as np

from planner import library, style
from planner.advice.channel_program import WAYS, CcwAnswer
from planner.advice.disk import DiskAnswer, DiskRow, Setting
from planner.advice.paging import PagingAnswer
from planner.advice.paging_capacity import PagingCapacity
from planner.advice.paging_load import Load, PagingKind
from planner.advice.processors import Scaling
from planner.calibrate.error_bar import interval
from planner.devices.channel_program import WIDTHS
from planner.devices.disk import DiskPath
from planner.interval import Interval
from planner.results import Array
from planner.units import KILOBYTE, MILLISECOND, given, percent, readable

SHARES: Final = (0.0, 0.5, 1.0)


def draw_channel_program(found: CcwAnswer, axes: style.Axes | None) -> style.Axes:
    """CP time over the mix for both widths and translations, with the runs at their mix."""
    (axes,) = style.begin_result(axes, found.headline)
    named = []
    for k, (bits, fast) in enumerate(product(WIDTHS, (True, False))):
        color, line = style.look(k)
        curve = found.over(bits, SHARES, fast=fast) / MILLISECOND
        style.band(axes, SHARES, curve.low, curve.high, color, style.NINETY if k == 0 else None)
        axes.plot(SHARES, curve.value, line, color=color)
        named.append((float(curve.value[-1]), f"{bits}-bit, {WAYS[fast]}", color))
        _ccw_runs(axes, found, (bits, fast), k)
    at = found.read_share
    axes.axvline(at, color=style.MEASURED, linewidth=0.8)
    style.answer(axes, at, found.time_per_mb / MILLISECOND, f"asked for: {percent(at)} read, {style.NINETY}")
    axes.set(xlabel="share of the data that is read", ylabel="CP time per MB moved [ms]")
    axes.set(ylim=(0, None), xlim=(-0.02, 1))
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _ccw_runs(axes: style.Axes, found: CcwAnswer, case: tuple[int, bool], k: int) -> None:
    """Draw runs that only wrote at 0, and runs that read what they had written at one half."""
    for passes, marker, label in ((1, "o", "written only"), (2, "^", "written and read")):
        times = [
            run.time_per_mb / run.passes / MILLISECOND
            for run in found.runs
            if (run.bits, run.fast) == case and run.passes == passes
        ]
        places = 0.5 * (passes - 1) + 0.008 * (np.arange(len(times)) - (len(times) - 1) / 2)
        axes.plot(
            places, times, marker, color=style.COLORS[k], markersize=6, markeredgecolor=style.MEASURED,
            zorder=style.ABOVE, clip_on=False, linestyle="none", label=None if k else f"published run, {label}",
        )  # fmt: skip


def draw_disk(found: DiskAnswer, axes: style.Axes | None) -> style.Axes:
    """Rate of each kind with and without cache, the answer, and the published runs of one requester."""
    (axes,) = style.begin_result(axes, found.headline, height=5.2)
    at, paths = found.setting.hit_ratio, {row.kind: row.path for row in found.rows}
    named = []
    for row in found.rows:
        color, _ = style.look(list(paths).index(row.kind))
        named.append((_disk_line(axes, found, row, color), row.name, color))
        axes.plot([at], [row.rate.value], "D", color=color, markeredgecolor=style.MEASURED, markersize=6,
                  zorder=style.ABOVE - 1)  # fmt: skip
    axes.axvline(at, color=style.MEASURED, linewidth=0.8, label=f"asked for: {given(at)}")
    _disk_runs(axes, found.setting, paths)
    style.logarithmic(axes, "y")
    axes.set(xlim=(0, 1), xlabel="hit ratio of the minidisk cache", ylabel="transactions [1/s]")
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _disk_line(axes: style.Axes, found: DiskAnswer, row: DiskRow, color: str) -> float:
    """Draw one kind in one mode with its band; return its last value."""
    setting, ratio = found.setting, np.linspace(0, 1, 201)
    rates = setting.bounded(row.path, row.mode, ratio)
    axes.plot(ratio, rates, "-" if row.mode == "cached" else "--", color=color)
    places = np.linspace(0, 1, 41 if row.mode == "cached" else 2)
    # One by one: with many requesters, all hit ratios together would need too much storage.
    bands = [setting.rate(row.kind, row.mode, [place], row.path) for place in places.tolist()]
    band = Interval(*(np.concatenate(ends) for ends in zip(*bands, strict=True)))
    first = not axes.get_legend_handles_labels()[0]
    style.band(axes, places, band.low, band.high, color, style.NINETY if first else None)
    return float(rates[-1])


def _disk_runs(axes: style.Axes, setting: Setting, paths: Mapping[str, DiskPath]) -> None:
    """Draw published runs of one requester; hollow where a run moved more than its channel carries."""
    shown = {"full": "published run, one requester", "none": "published, more than the channel carries"}
    for k, (kind, path) in enumerate(paths.items()):
        marker, size = style.MARKERS[k % len(style.MARKERS)]
        for place, rate in measured_rates(setting.workload, kind, path):
            bound = setting.solve(path, "cached", place).channel_bound if "cached" in path.modes else np.inf
            fill: Any = "full" if rate <= float(bound) else "none"
            axes.plot(
                [place], [rate], marker, color=style.look(k)[0], fillstyle=fill, markersize=size, zorder=style.ABOVE,
                clip_on=False, label=shown.pop(fill, None),
            )  # fmt: skip


def measured_rates(workload: str, kind: str, path: DiskPath) -> list[tuple[float, float]]:
    """Hit ratio and transactions per second of the published runs; 0 is without cache."""
    runs = library.read_model(f"disk-{workload}-{kind}").fit.runs
    if workload == "xedit":  # without cache, all misses, all hits
        return [(place, run.measured) for place, run in zip((0.0, 0.0, 1.0), runs, strict=True)]
    times: dict[str, float] = {}
    for run in runs:  # the four phases of a run, KB/s
        name = run.name.partition(" ")[0]
        times[name] = times.get(name, 0.0) + path.read_bytes / 2 / KILOBYTE / run.measured
    places = (0.0, path.measured_hit_ratio or 0.0)
    return [(place, 1 / time) for place, time in zip(places, times.values(), strict=False)]


KNEE: Final = 0.97  # share of the largest page rate, above which a band would be vertical
RATES: Final = 24  # page rates per line
OF_ALL: Final = "page rate of all devices [1/s]"
TWO: Final[dict[str, Any]] = {"panels": 2, "shared": False, "height": 7.0}


def draw_paging(found: PagingAnswer, axes: style.Axes | None) -> style.Axes:
    """Response over the number of devices, or over the page rate of the installed ones; the measured runs below."""
    if found.devices is None:
        known = [(each.kind.name, each.outcome) for each in found.choices if each.feasible]
        counts = [f"{at.count} {name}" for name, at in known if at]
        either = " or ".join(filter(None, (", ".join(counts[:-1]), counts[-1])))
        title = f"{given(found.load.page_rate)} pages/s need {either} devices"
        axes, *below = style.begin(axes, found.headline, title=title, **TWO)
        _over_counts(axes, found)
    else:
        axes, *below = style.begin_result(axes, found.headline, **TWO)
        _over_rates(axes, found, found.devices)
    _paging_runs(below, [choice.kind for choice in found.choices])
    return axes


def draw_capacity(found: PagingCapacity, axes: style.Axes | None) -> style.Axes:
    """Response of the installed devices over pages or guests; the measured runs below."""
    axes, *below = style.begin_result(axes, found.headline, **TWO)
    at, rows = found.question, found.rows
    for k, row in enumerate(rows):
        if row.amount is None or row.outcome is None:
            continue
        grid = row.amount * np.array([*np.linspace(0.05, 1.0, RATES), 1.02, 1.05, 1.1, 1.2])
        whole = {*np.maximum(np.round(grid), 1.0), row.amount}
        amounts = grid.tolist() if at.per_guest is None else sorted(whole)
        _paging_line(axes, k, row.kind, at.devices, amounts, [at.load(each) for each in amounts])
        ends = np.reshape([row.amount - row.low, row.high - row.amount], (2, 1))
        name = f"{readable(row.amount)} {row.kind.name}"
        _paging_answer(axes, k, (row.amount, row.outcome.response_time), ends, name, above=bool(k % 2))
    what = OF_ALL if at.per_guest is None else "guests"
    _finish(axes, what, at.load(1.0), [row.kind for row in found.feasible])
    _paging_runs(below, [row.kind for row in rows])
    return axes


def _over_counts(axes: style.Axes, found: PagingAnswer) -> None:
    """A row per kind: number of devices with its interval, and their response time against the target."""
    ends = (choice.most or choice.outcome.count for choice in found.choices if choice.outcome)
    last = 1.9 * max(ends, default=1) + 1
    for k, choice in enumerate(found.choices):
        at, color = choice.outcome, style.look(k)[0]
        target = readable(found.load.target_of(choice.kind.device) / MILLISECOND)
        if at is None or not choice.feasible:
            axes.annotate(f"no count meets {target} ms", (0.02, k), xycoords=("axes fraction", "data"), va="center",
                          color=style.SOFT, fontsize="small")  # fmt: skip
            continue
        low = choice.least or at.count
        high = at.count if choice.least is None else choice.most or last
        axes.plot([low, high], [k, k], color=color, linewidth=9, alpha=style.BAND, solid_capstyle="round",
                  label=None if k else f"its range, {style.NINETY}")  # fmt: skip
        axes.plot([at.count], [k], "D", color=color, markersize=8, zorder=style.ABOVE, linestyle="None")
        beside = f", {style.NINETY}: {choice.span}" if low < high else ""
        words = f"{at.count}{beside}; {readable(at.response_time / MILLISECOND)} ms, at most {target} ms"
        axes.annotate(words, (at.count, k), xytext=(0, 9), textcoords="offset points", ha="center", fontsize="small",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
    axes.set_yticks(range(len(found.choices)), [choice.kind.name for choice in found.choices])
    axes.set(xlabel="devices", xlim=(0, last), ylim=(len(found.choices) - 0.5, -0.5))
    style.whole_numbers(axes)


def _over_rates(axes: style.Axes, found: PagingAnswer, count: int) -> None:
    """Response of the installed devices over the page rate, with the given rate marked."""
    load = found.load
    for k, choice in enumerate(found.choices):
        device, at = choice.kind.device, choice.outcome
        full = count * device.capacity
        if load.requests is not None:
            full = min(full, load.requests * device.pages_per_transfer / device.service_time)
        rates = full * np.append(np.linspace(0.05, 0.9, RATES), [0.95, 0.98, 0.995])
        if load.page_rate < rates[-1]:
            rates = np.unique(np.append(rates, load.page_rate))
        loads = [replace(load, page_rate=rate) for rate in rates]
        _paging_line(axes, k, choice.kind, count, rates.tolist(), loads)
        if at is not None and math.isfinite(at.response_time):
            others = [other.outcome.response_time for other in found.choices if other.outcome]
            above = _above(at.response_time, others)
            _paging_answer(axes, k, (load.page_rate, at.response_time), None, choice.kind.name, above=above)
        else:
            axes.annotate(
                f"{choice.kind.name}: saturated", (rates[-1], 0), xytext=(0, 4), textcoords="offset points", ha="right",
                color=style.ink(style.look(k)[0]), fontsize="small",
            )  # fmt: skip
    axes.axvline(load.page_rate, color=style.MEASURED, linewidth=1, label="page rate asked for")
    _finish(axes, OF_ALL, load, [choice.kind for choice in found.choices])


def _paging_line(
    axes: style.Axes, k: int, kind: PagingKind, count: int, x: Sequence[float], loads: Sequence[Load]
) -> None:
    """Response time of a kind with its band, and its target."""
    color, look = style.look(k)
    low, value, high = np.transpose([[*kind.within(load, count)[1]] for load in loads]) / MILLISECOND
    if loads[0].target is None:
        target = loads[0].target_of(kind.device) / MILLISECOND
        axes.plot([x[0], x[-1]], [target, target], linestyle=(0, (1, 3)), color=color)
    known = np.isfinite(low)
    label = None if axes.get_legend_handles_labels()[0] else style.NINETY
    style.band(axes, np.asarray(x)[known], low[known], np.minimum(high[known], 1e6), color, label)
    axes.plot(x, value, look, color=color, linewidth=1.5)


def _paging_answer(
    axes: style.Axes, k: int, at: tuple[float, float], ends: Array | None, name: str, *, above: bool
) -> None:
    """Mark the answer of a kind at (load, response time), with its range and name."""
    color, (x, y) = style.look(k)[0], (at[0], at[1] / MILLISECOND)
    axes.errorbar(
        [x], [y], xerr=ends, fmt="D", color=color, markeredgecolor=style.MEASURED, markersize=6, capsize=4,
        zorder=style.ABOVE,
    )  # fmt: skip
    style.name_point(axes, name, (x, y), color, above=above)


def _above(value: float, values: Sequence[float]) -> bool:
    """Whether there is more room above a point than below it."""
    over, under = ([abs(each - value) for each in values if sign * (each - value) > 0] for sign in (1, -1))
    return min(over, default=math.inf) > min(under, default=math.inf)


def _finish(axes: style.Axes, what: str, load: Load, drawn: Sequence[PagingKind]) -> None:
    """Draw the target; set scales and labels of the axes."""
    targets = [load.target_of(kind.device) / MILLISECOND for kind in drawn]
    if load.target is not None:
        axes.axhline(targets[0], color=style.MEASURED, linestyle=(0, (4, 3)), linewidth=1, label="target")
    else:
        axes.plot([], [], linestyle=(0, (1, 3)), color="0.3", label="twice the service")
    style.logarithmic(axes, "x")
    axes.set(xlabel=what, ylabel="response time [ms]", ylim=(0, 1.5 * max(targets)))
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _paging_runs(below: Sequence[style.Axes], kinds: Sequence[PagingKind]) -> None:
    """Draw one device of each kind with the measured number of requests, its band, and the published run."""
    if not below:  # the axes of the user are one panel
        return
    (axes,) = below
    for k, kind in enumerate(kinds):
        color, look = style.look(k)
        device, requests = kind.device, kind.model.population
        assert requests is not None
        think = np.append(0.0, np.geomspace(1e-3, 30.0, 100)) * device.service_time
        line = device.closed(requests, think)
        asked = {"outstanding": float(requests), "arrival_rate": math.nan, "scv": 1.0}
        band = interval("response", kind.model, [{**asked, "think_time": float(each)} for each in think])
        axes.plot(line.page_rate, line.response_time / MILLISECOND, look, color=color)
        shown = line.page_rate < KNEE * line.page_rate.max()
        low, high = band.low[shown] / MILLISECOND, band.high[shown] / MILLISECOND
        style.band(axes, line.page_rate[shown], low, high, color, style.NINETY if k == 0 else None)
        first = kind.model.fit.runs[0]
        measured = first.measured * (device.pages_per_transfer if first.quantity == "transfer_rate" else 1.0)
        # The run's response time was not printed: the model gives it at the printed rate.
        at = float(np.interp(-measured, -line.page_rate, line.response_time)) / MILLISECOND
        axes.plot(
            [measured], [at], "o", color=color, markersize=8, zorder=style.ABOVE, clip_on=False,
            label="published rate, response by the model" if k == 0 else None,
        )  # fmt: skip
        style.name_point(axes, kind.name, (measured, at), color)
    style.logarithmic(axes, "x")
    axes.set(xlabel="page rate of one device [1/s]", ylabel="response time [ms]", ylim=(0, None))
    style.legend_below(axes)


def draw_processors(found: Scaling, axes: style.Axes | None) -> style.Axes:
    """Model with its band, measured configurations, leave-one-out predictions, and the answer."""
    (axes,) = style.begin(axes, found.headline)
    rows = sorted(found.compared, key=lambda row: row.measured.processors)
    places = np.array([row.measured.processors for row in rows])
    measured, out = [row.measured.internal_throughput for row in rows], [row.predicted for row in rows]
    asked = [*found.counts, *([] if found.needed is None else [found.needed.count])]
    most = int(places.max())
    widest = 0 if found.needed is None else min(found.needed.high or 0, 3 * most)
    last = math.ceil(max(1.15 * most, widest + 1, *(1.1 * count + 1 for count in asked or [0])))
    counts = sorted({*np.linspace(1, last, min(last, 60)).round().astype(int).tolist(), most, *asked})
    curve, n = found.rates(counts), np.array(counts)
    style.band(axes, n, curve.low, curve.high, style.COLORS[0], style.NINETY)
    for part, line, label in ((n <= most, "-", "model"), (n >= most, ":", "model, extrapolated")):
        axes.plot(n[part], curve.value[part], line, color=style.COLORS[0], label=label)
    ends = [[one.value - one.low, one.high - one.value] for one in out]
    bars = np.transpose(ends) if np.isfinite(ends).all() else None
    axes.errorbar(
        places - 0.012 * last, [one.value for one in out], bars, fmt="x", color=style.COLORS[1], markersize=7,
        capsize=3, label="from the other runs" + ("" if bars is None else f", {style.NINETY}"),
    )  # fmt: skip
    axes.plot(places, measured, "o", color=style.MEASURED, markersize=5, zorder=style.ABOVE, label="measured")
    if found.older:
        axes.plot(
            [row.processors for row in found.older], [row.internal_throughput for row in found.older], "s",
            color=style.MEASURED, fillstyle="none", zorder=style.ABOVE, label="measured, previous release",
        )  # fmt: skip
    _answers(found, axes)
    highest = max(float(np.where(np.isfinite(curve.high), curve.high, 0.0).max()), 1.2 * max(measured))
    axes.set(xlabel="processors", xlim=(0, last))
    axes.set(ylabel="ITR [transactions/s]", ylim=(0, min(highest, 3 * float(curve.value.max()))))
    style.whole_numbers(axes)
    style.legend_below(axes, 4)
    return axes


def _answers(found: Scaling, axes: style.Axes) -> None:
    """Mark the given counts with their throughput, or the given throughput with the count it needs."""
    for count in found.counts:
        one = found.predict(count)
        style.answer(axes, count, one)
        words = f"{count}: {readable(one.value)}/s"
        style.name_point(axes, words, (count, one.value), style.MEASURED, above=False)
    if found.needed is not None and found.wanted is not None:
        at = found.needed
        axes.axhline(found.wanted, color=style.MEASURED, linestyle=(0, (4, 3)), linewidth=1, label="wanted")
        end = (at.high or axes.get_xlim()[1]) + 0.5
        axes.axvspan(at.low - 0.5, end, color=style.RANGE, zorder=0, label="range")
        style.answer(axes, at.count, (math.nan, found.predict(at.count).value, math.nan))
        words = f"{at.count} processors"
        style.name_point(axes, words, (at.count, found.wanted), style.MEASURED, above=False)
