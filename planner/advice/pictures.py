"""Pictures of the answers: published runs as points, the law as lines; the points are drawn last and never cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import library
from planner.devices.channel_program import WIDTHS, ChannelProgram
from planner.style import ABOVE, BAND, COLORS, LINES, MARKERS, new_axes
from planner.units import KILOBYTE, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.advice.disk import Setting
    from planner.advice.paging_kinds import Kind
    from planner.devices.disk import DiskPath

WORKLOADS: Final = {"xedit": "XEDIT loop", "iozone": "Linux iozone"}
WIDE: Final = 2.0  # standard deviations on each side: about 95 % of the runs
FARTHEST_THINK: Final = 30.0  # service times between two requests of the least loaded point of a line


def paging_response(kinds: Sequence[Kind]) -> Axes:
    """Response time of one device against its page rate, with as many requests as were measured.

    Parameters
    ----------
    kinds : sequence of Kind
        Kinds of paging device.

    Returns
    -------
    matplotlib.axes.Axes
        A line and the published run a kind.
    """
    axes = new_axes()
    for color, look, kind in zip(COLORS, LINES, kinds, strict=False):
        device, requests = kind.device, kind.model.population
        assert requests is not None
        think = np.append(0.0, np.geomspace(1e-3, FARTHEST_THINK, 100)) * device.service_time
        line = device.closed(requests, think)
        response, error = line.response_time / MILLISECOND, kind.model.fit.model_error
        axes.plot(line.page_rate, response, look, color=color, label=kind.name)
        axes.fill_between(
            line.page_rate, response * (1 - error), response * (1 + error), color=color, alpha=BAND
        )
        measured = _measured_page_rate(kind)
        # The run's response time was not printed: it is that of the law, at the printed rate.
        at = np.interp(-measured, -line.page_rate, line.response_time)
        axes.plot(measured, at / MILLISECOND, "o", color=color, markersize=8, zorder=ABOVE, clip_on=False)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("page rate of one device [1/s]")
    axes.set_ylabel("response time of a transfer [ms]")
    axes.set_title("Points: published page rates, response by the law", fontsize="medium")
    axes.legend(frameon=False)
    return axes


def _measured_page_rate(kind: Kind) -> float:
    """Page rate of one device in the published run [1/s]."""
    first = kind.model.fit.runs[0]
    pages = kind.device.pages_per_transfer if first.quantity == "transfer_rate" else 1.0
    return first.measured * pages


def rate_over_hit_ratio(setting: Setting, paths: Mapping[str, DiskPath]) -> Axes:
    """Transactions per second against the hit ratio, of every path that goes through the minidisk cache.

    Parameters
    ----------
    setting : Setting
        Workload, requesters, processors, disks.
    paths : mapping
        Path by kind of disk.

    Returns
    -------
    matplotlib.axes.Axes
        A line a kind, dashed without cache, and the published runs of one requester.
    """
    from matplotlib.ticker import LogLocator

    axes = new_axes(width=8.0)
    ratio = np.linspace(0, 1, 201)
    for color, (marker, size), (kind, path) in zip(COLORS, MARKERS, paths.items(), strict=False):
        error = library.read_model(f"disk-{setting.workload}-{kind}").fit.model_error
        numbers = {"requesters": setting.requesters, "processors": setting.processors, "disks": setting.disks}
        if "cached" in path.modes:
            cached = path.solve("cached", ratio, **numbers)
            axes.plot(ratio, cached.rate, color=color, label=f"{kind}, cached")
            axes.fill_between(
                ratio, cached.rate * (1 - error), cached.rate * (1 + error), color=color, alpha=BAND
            )
        off = path.solve("off", ratio, **numbers)
        axes.plot(ratio, off.rate, color=color, linestyle="--", label=f"{kind}, no cache")
        axes.fill_between(ratio, off.rate * (1 - error), off.rate * (1 + error), color=color, alpha=BAND)
        for place, rate in _measured_rates(setting.workload, kind, path):
            axes.plot(place, rate, marker, color=color, markersize=size, zorder=ABOVE, clip_on=False)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_xlim(0, 1)
    axes.set_xlabel("hit ratio of the minidisk cache")
    axes.set_ylabel("transactions [1/s]")
    title = WORKLOADS[setting.workload]
    title += f", {setting.requesters} requesters" if setting.requesters > 1 else ""
    axes.set_title(f"{title}; points: published runs, one requester", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0))
    return axes


def _measured_rates(workload: str, kind: str, path: DiskPath) -> list[tuple[float, float]]:
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


def cp_time_per_mb(law: ChannelProgram) -> Axes:
    """CP time per MB of the sixteen published runs beside the law.

    Parameters
    ----------
    law : ChannelProgram
        The costs.

    Returns
    -------
    matplotlib.axes.Axes
        A bar a width and way of translation; the runs as points, those that also read halved per MB moved.
    """
    axes = new_axes()
    fit = library.read_model("channel-program").fit
    cases = [(bits, fast) for bits in WIDTHS for fast in (True, False)]
    for place, (bits, fast) in enumerate(cases):
        height = law.time_per_mb(bits, fast=fast) / MILLISECOND
        axes.bar(place, height, yerr=WIDE * fit.model_error * height, color="#cccccc", width=0.7, capsize=8)
        token = ("6" if bits == max(WIDTHS) else "3", "F1" if fast else "F0")
        for passes, marker in ((0, "o"), (1, "^")):
            shown = [
                run.measured / (1 + passes)
                for run in fit.runs
                if (run.name[0], run.name[3:5], int(run.name[5])) == (*token, passes)
            ]
            axes.plot(place + np.array([-0.24, -0.12]) + 0.36 * passes, shown, marker,
                      color=COLORS[passes], zorder=ABOVE, clip_on=False,
                      label=("write only", "write and read")[passes] if place == 0 else None)  # fmt: skip
    axes.set_xticks(range(len(cases)), [f"{bits}-bit, {'fast' if fast else 'slow'}" for bits, fast in cases])
    axes.set_ylabel("CP time per MB moved [ms]")
    axes.set_title("Bars: law, with where 95% of the runs lie; points: published runs", fontsize="medium")
    axes.legend(frameon=False)
    return axes
