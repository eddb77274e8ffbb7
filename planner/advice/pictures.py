"""Pictures of the advice: channel programs, cached disk, paging, processors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner import library, style
from planner.advice.paging_capacity import Load, PagingKind, curve
from planner.calibrate.error_bar import interval
from planner.devices.channel_program import WIDTHS
from planner.devices.disk import DiskPath
from planner.results import Array
from planner.units import KILOBYTE, MILLISECOND, given, percent, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.channel_program import CcwAnswer
    from planner.advice.disk import DiskAnswer, DiskRow
    from planner.advice.paging import PagingAnswer
    from planner.advice.paging_capacity import PagingCapacity
    from planner.advice.processors import Scaling

SHARES: Final = (0.0, 0.5, 1.0)
LABELS: Final = {1: "published run, written only", 2: "published run, written and read"}


def _begin(axes: Axes | None, headline: str, **options: Any) -> list[Axes]:
    """A headline that says what was asked, a colon and the result: the result comes first."""
    asked, _, result = headline.partition(": ")
    return style.begin(
        axes, headline, title=f"{result[:1].upper()}{result[1:]}", below=f"{asked}.", **options
    )


def draw_channel_program(found: CcwAnswer, axes: Axes | None) -> Axes:
    """Both widths and both ways of translation; the runs stand at the mix that they had."""
    (axes,) = _begin(axes, found.headline)
    named = []
    cases = [(bits, fast) for bits in WIDTHS for fast in (True, False)]
    for k, (bits, fast) in enumerate(cases):
        color, line = style.COLORS[k], style.LINES[k]
        law = found.over(bits, SHARES, fast=fast) / MILLISECOND
        style.band(axes, SHARES, law.low, law.high, color, style.NINETY if k == 0 else None)
        axes.plot(SHARES, law.value, line, color=color)
        named.append((float(law.value[-1]), f"{bits}-bit, {'fast' if fast else 'slow'}", color))
        _ccw_runs(axes, found, (bits, fast), k)
    at, (low, value, high) = found.read_share, found.time_per_mb / MILLISECOND
    axes.axvline(at, color=style.MEASURED, linewidth=0.8)
    axes.errorbar(
        [at], [value], [[value - low], [high - value]], fmt="D", color=style.MEASURED, markersize=8, fillstyle="none",
        capsize=6, zorder=style.ABOVE + 1, label=f"asked for: {percent(at)} read, {style.NINETY}",
    )  # fmt: skip
    axes.set(
        xlabel="share of the data that is read",
        ylabel="CP time per MB moved [ms]",
        ylim=(0, None),
        xlim=(-0.02, 1),
    )
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _ccw_runs(axes: Axes, found: CcwAnswer, case: tuple[int, bool], k: int) -> None:
    """Runs that only wrote stand at 0, those that read what they had written at a half."""
    for passes, (marker, label) in enumerate(zip(("o", "^"), LABELS.values(), strict=True), start=1):
        times = [
            run.time_per_mb / run.passes / MILLISECOND
            for run in found.runs
            if (run.bits, run.fast) == case and run.passes == passes
        ]
        places = 0.5 * (passes - 1) + 0.008 * (np.arange(len(times)) - (len(times) - 1) / 2)
        axes.plot(
            places, times, marker, color=style.COLORS[k], markersize=6, markeredgecolor=style.MEASURED,
            zorder=style.ABOVE, clip_on=False, linestyle="none", label=label if k == 0 else None,
        )  # fmt: skip


OFF: Final = {"cached": ("-", "cached"), "off": ("--", "cache off")}


def draw_disk(found: DiskAnswer, axes: Axes | None) -> Axes:
    """Rate of each kind with and without cache, what was asked for, the published runs of one requester."""
    (axes,) = _begin(axes, found.headline, height=5.2)
    kinds = list(dict.fromkeys(row.kind for row in found.rows))
    named = []
    for row in found.rows:
        color = style.COLORS[kinds.index(row.kind) % len(style.COLORS)]
        end = _disk_line(axes, found, row, color)
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
        label=f"asked for: {given(found.setting.hit_ratio)}",
    )
    _disk_runs(axes, found, kinds)
    style.logarithmic(axes, "y")
    axes.set(xlim=(0, 1), xlabel="hit ratio of the minidisk cache", ylabel="transactions [1/s]")
    style.name_lines(axes, named)
    style.legend_below(axes, 4)
    return axes


def _disk_line(axes: Axes, found: DiskAnswer, row: DiskRow, color: str) -> float:
    """One kind in one mode with its band; where it ends."""
    setting, line = found.setting, OFF[row.mode][0]
    ratio = np.linspace(0, 1, 201)
    rates = setting.bounded(row.path, row.mode, ratio)
    axes.plot(ratio, rates, line, color=color)
    places = np.linspace(0, 1, 41 if row.mode == "cached" else 2)
    band = setting.rate(row.kind, row.mode, places.tolist(), row.path)
    first = not axes.get_legend_handles_labels()[0]
    style.band(axes, places, band.low, band.high, color, style.NINETY if first else None)
    return float(rates[-1])


def _disk_runs(axes: Axes, found: DiskAnswer, kinds: list[str]) -> None:
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


KNEE: Final = 0.97  # of the largest page rate: above, a band over the rate would stand upright
RATES: Final = 24  # page rates of a line
PUBLISHED: Final = "page rate of one device [1/s]"


def draw_paging(found: PagingAnswer, axes: Axes | None) -> Axes:
    """Response over the devices to buy, or over the page rate of those there are; below what it rests on."""
    counts = [
        f"{at.count} {each.kind.name}" for each in found.choices if each.feasible and (at := each.outcome)
    ]
    title = " or ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))
    if found.devices is None and title:
        rate = given(found.load.page_rate)
        title = f"{rate} pages/s take {title} devices"
        axes, *below = style.begin(axes, found.headline, title=title, panels=2, shared=False, height=7.0)
    else:
        axes, *below = _begin(axes, found.headline, panels=2, shared=False, height=7.0)
    if found.devices is None:
        _over_counts(axes, found)
    else:
        _over_rates(axes, found, found.devices)
    for panel in below:
        _paging_runs(panel, [choice.kind for choice in found.choices])
    return axes


def draw_capacity(found: PagingCapacity, axes: Axes | None) -> Axes:
    """Response over the pages or guests of the devices there are; below what it rests on."""
    axes, *below = _begin(axes, found.headline, panels=2, shared=False, height=7.0)
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
        _paging_line(
            axes, k, row.kind, amounts, [at.load(each) for each in amounts], [at.devices] * len(amounts)
        )
        ends = np.reshape([row.amount - row.low, row.high - row.amount], (2, 1))
        name = f"{readable(row.amount)} {row.kind.name}"
        _paging_answer(axes, k, (row.amount, row.outcome.response_time), ends, name, above=bool(k % 2))
    what = "guests" if at.per_guest is not None else "page rate of all devices [1/s]"
    _finish(axes, what, at.load(1.0), [row.kind for row in rows if row.amount is not None])
    for panel in below:
        _paging_runs(panel, [row.kind for row in rows])
    return axes


def _over_counts(axes: Axes, found: PagingAnswer) -> None:
    """A row each kind: how many devices, the interval of that, and what they do beside the target."""
    ends = (choice.most or choice.outcome.count for choice in found.choices if choice.outcome)
    last = 1.9 * max(ends, default=1) + 1
    for k, choice in enumerate(found.choices):
        at, color = choice.outcome, _look(k)[0]
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


def _over_rates(axes: Axes, found: PagingAnswer, count: int) -> None:
    """Response of the devices there are over the page rate; the one asked for marked."""
    load = found.load
    for k, choice in enumerate(found.choices):
        device, at = choice.kind.device, choice.outcome
        full = count * device.capacity
        if load.requests is not None:
            full = min(full, load.requests * device.pages_per_transfer / device.service_time)
        rates = full * np.append(np.linspace(0.05, 0.9, RATES), [0.95, 0.98, 0.995])
        if load.page_rate < rates[-1]:
            rates = np.unique(np.append(rates, load.page_rate))
        _paging_line(
            axes,
            k,
            choice.kind,
            rates.tolist(),
            [replace(load, page_rate=rate) for rate in rates],
            [count] * len(rates),
        )
        if at is not None and math.isfinite(at.response_time):
            above = _above(
                at.response_time, [other.outcome.response_time for other in found.choices if other.outcome]
            )
            _paging_answer(axes, k, (load.page_rate, at.response_time), None, choice.kind.name, above=above)
        else:
            axes.annotate(
                f"{choice.kind.name}: saturated", (rates[-1], 0), xytext=(0, 4), textcoords="offset points", ha="right",
                color=style.ink(_look(k)[0]), fontsize="small",
            )  # fmt: skip
    axes.axvline(load.page_rate, color=style.MEASURED, linewidth=1, label="page rate asked for")
    _finish(axes, "page rate of all devices [1/s]", load, [choice.kind for choice in found.choices])


def _look(k: int) -> tuple[str, str]:
    return style.COLORS[k % len(style.COLORS)], style.LINES[k % len(style.LINES)]


def _paging_line(
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
    label = None if axes.get_legend_handles_labels()[0] else style.NINETY
    style.band(axes, np.asarray(x)[known], low[known], np.minimum(high[known], 1e6), color, label)
    axes.plot(x, value, look, color=color, linewidth=1.5)


def _paging_answer(
    axes: Axes, k: int, at: tuple[float, float], ends: Array | None, name: str, *, above: bool
) -> None:
    """The answer of a kind (what is asked for, response time), its range and its name."""
    color, (x, y) = _look(k)[0], (at[0], at[1] / MILLISECOND)
    axes.errorbar(
        [x], [y], xerr=ends, fmt="D", color=color, markeredgecolor=style.MEASURED, markersize=6, capsize=4,
        zorder=style.ABOVE,
    )  # fmt: skip
    style.name_point(axes, name, (x, y), color, above=above)


def _above(value: float, values: Sequence[float]) -> bool:
    """Whether there is more room above a point than below it."""
    over, under = ([abs(each - value) for each in values if sign * (each - value) > 0] for sign in (1, -1))
    return min(over, default=math.inf) > min(under, default=math.inf)


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


def _paging_runs(axes: Axes, kinds: Sequence[PagingKind]) -> None:
    """One device of each kind with as many requests as were measured, its band, and the published run."""
    for k, kind in enumerate(kinds):
        color, look = style.COLORS[k % len(style.COLORS)], style.LINES[k % len(style.LINES)]
        device, requests = kind.device, kind.model.population
        assert requests is not None
        think = np.append(0.0, np.geomspace(1e-3, 30.0, 100)) * device.service_time
        line = device.closed(requests, think)
        asked = {"outstanding": float(requests), "arrival_rate": 0.0, "scv": 1.0}
        scenarios = [{**asked, "think_time": float(each)} for each in think]
        band = interval("response", kind.model, scenarios)
        axes.plot(line.page_rate, line.response_time / MILLISECOND, look, color=color)
        shown = line.page_rate < KNEE * line.page_rate.max()
        low, high = band.low[shown] / MILLISECOND, band.high[shown] / MILLISECOND
        style.band(axes, line.page_rate[shown], low, high, color, style.NINETY if k == 0 else None)
        first = kind.model.fit.runs[0]
        measured = first.measured * (device.pages_per_transfer if first.quantity == "transfer_rate" else 1.0)
        # The run's response time was not printed: it is that of the law, at the printed rate.
        at = float(np.interp(-measured, -line.page_rate, line.response_time)) / MILLISECOND
        axes.plot(
            [measured], [at], "o", color=color, markersize=8, zorder=style.ABOVE, clip_on=False,
            label="published rate, response by the law" if k == 0 else None,
        )  # fmt: skip
        style.name_point(axes, kind.name, (measured, at), color)
    style.logarithmic(axes, "x")
    axes.set(xlabel=PUBLISHED, ylabel="response time [ms]", ylim=(0, None))
    style.legend_below(axes)


def draw_processors(found: Scaling, axes: Axes | None) -> Axes:
    """Law with its band, measured configurations, each of them from the others, what was asked for."""
    (axes,) = style.begin(axes, found.headline)
    rows = sorted(found.configurations, key=lambda row: row.processors)
    asked = [*found.counts, *([] if found.needed is None else [found.needed.count])]
    most = max(row.processors for row in rows)
    widest = 0 if found.needed is None else min(found.needed.high or 0, 3 * most)
    last = math.ceil(max(1.15 * most, widest + 1, *(1.1 * count + 1 for count in asked or [0])))
    counts = sorted({*np.linspace(1, last, min(last, 60)).round().astype(int).tolist(), most, *asked})
    law, n = found.rates(counts), np.array(counts)
    style.band(axes, n, law.low, law.high, style.COLORS[0], style.NINETY)
    for part, line, label in ((n <= most, "-", "law"), (n >= most, ":", "law, beyond what was measured")):
        axes.plot(n[part], law.value[part], line, color=style.COLORS[0], label=label)
    out = [
        one
        for _, one in sorted(
            zip(found.configurations, found.left_out, strict=True), key=lambda p: p[0].processors
        )
    ]
    ends = [[one.value - one.low, one.high - one.value] for one in out]
    bars = np.transpose(ends) if np.isfinite(ends).all() else None
    axes.errorbar(
        [row.processors - 0.012 * last for row in rows], [one.value for one in out], bars, fmt="x",
        color=style.COLORS[1], markersize=7, capsize=3,
        label="from the other runs" + ("" if bars is None else f", {style.NINETY}"),
    )  # fmt: skip
    axes.plot(
        [row.processors for row in rows], [row.internal_throughput for row in rows], "o", color=style.MEASURED,
        markersize=5, zorder=style.ABOVE, label="measured",
    )  # fmt: skip
    if found.older:
        axes.plot(
            [row.processors for row in found.older], [row.internal_throughput for row in found.older], "s",
            color=style.MEASURED, fillstyle="none", zorder=style.ABOVE, label="measured, release before",
        )  # fmt: skip
    _answers(found, axes)
    bounded = np.where(np.isfinite(law.high), law.high, 0.0)
    highest = max(float(bounded.max()), 1.2 * max(row.internal_throughput for row in rows))
    axes.set(
        xlabel="processors",
        ylabel="ITR [transactions/s]",
        xlim=(0, last),
        ylim=(0, min(highest, 3 * float(law.value.max()))),
    )
    style.whole_numbers(axes)
    style.legend_below(axes, 4)
    return axes


def _answers(found: Scaling, axes: Axes) -> None:
    """The counts that were asked for with their throughput, or the throughput with the count that it takes."""
    for count in found.counts:
        one = found.predict(count)
        ends = [[one.value - one.low], [one.high - one.value]] if math.isfinite(one.high) else None
        axes.errorbar([count], [one.value], ends, fmt="D", color=style.MEASURED, markersize=7, fillstyle="none",
                      capsize=5, zorder=style.ABOVE)  # fmt: skip
        style.name_point(
            axes, f"{count}: {readable(one.value)}/s", (count, one.value), style.MEASURED, above=False
        )
    if found.needed is not None and found.wanted is not None:
        at = found.needed
        axes.axhline(found.wanted, color=style.MEASURED, linestyle=(0, (4, 3)), linewidth=1, label="wanted")
        axes.axvspan(
            at.low - 0.5, (at.high or axes.get_xlim()[1]) + 0.5, color=style.RANGE, zorder=0, label="range"
        )
        axes.plot([at.count], [found.predict(at.count).value], "D", color=style.MEASURED, markersize=7,
                  fillstyle="none", zorder=style.ABOVE)  # fmt: skip
        style.name_point(
            axes, f"{at.count} processors", (at.count, found.wanted), style.MEASURED, above=False
        )
