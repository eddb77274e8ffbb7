"""The report on concurrent I/O for XIV: two runs of twenty guests, and one of their paging devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner import library, style
from planner.calibrate.error_bar import interval
from planner.calibrate.paging import fitted as fit_paging
from planner.devices.paging import PagingDevice
from planner.interval import Interval
from planner.published.report import (
    Cell,
    Origin,
    PublishedFigure,
    PublishedReport,
    Rule,
    Said,
    compared,
    exactly,
    given,
    identity,
    known,
    not_modelled,
    published_model,
    quotient,
    run,
    table,
    table_figures,
)
from planner.published.whole_system import MODEL, calibrate_whole_system, compared_figures
from planner.reports import Printed
from planner.units import FRAME, KILOBYTE, PERCENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER: Final = "xiv-concurrent-io"
PAGE_RATE_RESOLUTION: Final = (
    500.0  # page rates of the runs are rounded to thousands, whatever their decimals
)
XIV_REQUESTS: Final = (
    2  # a fault read that a guest waits for and a page write that follows, one guest a device
)
XIV_RUNS: Final = {"xiv-serialized": ("serialized", 1), "xiv-concurrent": ("concurrent", 2)}
RUNS: Final = ("serialized", "concurrent")
AHEAD: Final = "from the serialized run alone: two transfers at a time instead of one"
TOUCHES: Final = "what a guest does between two page faults"
HALF_A_BOX: Final = 0.3


def models() -> dict[str, library.Model]:
    """Both kinds of device (Table 2, and CP time per page from Table 1), and the whole system of the serialized run."""
    return {
        MODEL: calibrate_whole_system(),
        **{f"paging-{kind}": _xiv(kind, column, depth) for kind, (column, depth) in XIV_RUNS.items()},
    }


def xiv_device(column: str, queue_depth: int) -> PagingDevice:
    """One XIV device as a run had it, two requests outstanding."""
    busy, device = table(FOLDER, "table-1"), table(FOLDER, "table-2")
    transfers = device.value(column.title(), "transfers")
    pages = busy.value("DASD Page Rate", column)
    system = busy.value("nc-CP busy", column, PERCENT) / pages
    return PagingDevice(
        service_time=min(queue_depth, XIV_REQUESTS) / transfers,
        pages_per_transfer=device.value(column.title(), "rate_kb_per_s", KILOBYTE) / FRAME / transfers,
        queue_depth=queue_depth,
        cp_time=system + busy.value("c-CP busy", column, PERCENT) / pages,
        cp_system_time=system,
        outstanding=XIV_REQUESTS,
    )


def predicted_concurrent() -> PagingDevice:
    """The concurrent XIV device as the serialized run alone predicts it: two places instead of one, nothing else."""
    return replace(xiv_device("serialized", 1), queue_depth=2)


def _xiv(kind: str, column: str, depth: int) -> library.Model:
    busy, device_table = table(FOLDER, "table-1"), table(FOLDER, "table-2")
    kilobytes = device_table.printed(column.title(), "rate_kb_per_s", KILOBYTE / FRAME)
    transfers = device_table.printed(column.title(), "transfers")
    pages = Printed(busy.value("DASD Page Rate", column), PAGE_RATE_RESOLUTION)
    system, user = (busy.printed(row, column, PERCENT) for row in ("nc-CP busy", "c-CP busy"))
    found = fit_paging(
        [
            run(
                f"{column} 5070", device_table, outstanding=exactly(XIV_REQUESTS), queue_depth=exactly(depth),
                transfer_rate=transfers, page_rate=kilobytes, cp_us_per_page=quotient(system + user, pages),
                cp_system_us_per_page=quotient(system, pages),
            )
        ]
    )  # fmt: skip
    facts = library.read_source(FOLDER)
    devices = facts["method"]["devices"]
    one = xiv_device(column, depth).closed(XIV_REQUESTS)
    measured = busy.value("DASD Page Rate", "concurrent")
    ahead = float(predicted_concurrent().closed(XIV_REQUESTS).page_rate) * devices
    return published_model(
        found,
        title=f"Paging device {kind}: {facts['title']}, run {busy.text('run ID', column)}",
        tables=[busy, device_table],
        environment=facts["environment"],
        runs=(
            compared(f"{column} 5070", "transfer_rate", transfers, float(one.transfer_rate)),
            compared(column, "page_rate", pages, devices * float(one.page_rate)),
        ),
        # Error of the one true prediction: the concurrent page rate from the serialized run.
        model_error=abs(ahead / measured - 1),
        validity={"outstanding": (1.0, float(XIV_REQUESTS)), "page_rate": (pages.value, pages.value)},
    )


def cells() -> Iterator[PublishedFigure]:
    """Every number of both tables; and those that the coupled model of the whole system speaks of, once more."""
    follows = {
        "Tx/sec": not_modelled(TOUCHES),
        "DASD Page Rate": _page_rate,
        "Tx per CPU-sec": identity(_per_second, "Tx/sec over total busy"),
        "ITR": identity(lambda at: at["Tx/sec"] / (at["avg busy"] * PERCENT), "Tx/sec over avg busy"),
        "total busy": identity(_total_busy, "guest + c-CP + nc-CP"),
        "guest busy": not_modelled(TOUCHES),
        "c-CP busy": _cp_busy,
        "nc-CP busy": _cp_busy,
        "avg busy": identity(lambda at: at["total busy"] / _cores(), "total busy over the cores"),
        "T/V ratio": identity(lambda at: at["total busy"] / at["guest busy"], "total over guest busy"),
    }
    yield from table_figures(FOLDER, "table-1", {row: _compared(rule) for row, rule in follows.items()})
    columns = {
        "device_number": given(),
        "block_bytes": given(),
        "rate_kb_per_s": _device,
        "transfers": _device,
    }
    yield from table_figures(FOLDER, "table-2", columns, by_row=False, skip=("run_id", "device_number"))
    yield from compared_figures()


def _compared(rule: Rule) -> Rule:
    """The columns delta and pct follow from the two runs."""

    def both(at: Cell) -> Said:
        before, after = (at.beside(run) for run in RUNS)
        if at.column == "delta":
            return Said("identity", after - before, note="concurrent - serialized")
        if at.column == "pct":
            growth = (after / before - 1.0) * 100.0
            return Said("identity", growth, note="delta over serialized")
        return rule(at)

    return both


def _cores() -> float:
    return float(library.read_source(FOLDER)["method"]["cores"])


def _per_second(at: Cell) -> Interval:
    return at["Tx/sec"] / (at["total busy"] * PERCENT)


def _total_busy(at: Cell) -> Interval:
    return at["guest busy"] + at["c-CP busy"] + at["nc-CP busy"]


def _asked(run: str) -> tuple[PagingDevice, Origin, str]:
    """The device of a run: its own model, or the concurrent one predicted from the serialized run."""
    if run == "serialized":
        return (
            PagingDevice.from_model(library.read_model("paging-xiv-serialized")),
            "fitted",
            "model paging-xiv-serialized",
        )
    return predicted_concurrent(), "transferred", AHEAD


def _page_rate(at: Cell) -> Said:
    device, kind, note = _asked(at.column)
    rate = library.read_source(FOLDER)["method"]["devices"] * float(device.closed(XIV_REQUESTS).page_rate)
    return Said(kind, known(rate), _group(kind), note=note)


def _cp_busy(at: Cell) -> Said:
    """CP time per page of the run's own model; no law gives the concurrent one from the serialized one."""
    device = PagingDevice.from_model(library.read_model(f"paging-xiv-{at.column}"))
    system = device.cp_system_time or 0.0
    each = system if at.row == "nc-CP busy" else device.cp_time - system
    predicted = at["DASD Page Rate"] * (each / PERCENT)
    return Said("fitted", known(predicted.value), "CP time", note=f"model paging-xiv-{at.column}")  # fmt: skip


def _device(at: Cell) -> Said:
    device, kind, note = _asked(at.row.lower())
    answer = device.closed(XIV_REQUESTS)
    value = (
        float(answer.transfer_rate)
        if at.column == "transfers"
        else float(answer.page_rate) * FRAME / KILOBYTE
    )
    return Said(kind, known(value), _group(kind), note=note)


def _group(kind: Origin) -> str:
    """A model of one run meets it by construction: no accuracy is stated for that."""
    return "throughput" if kind == "transferred" else ""


def rate_over_requests() -> Axes:
    """Transfers per second of one device over the requests outstanding."""
    model = library.read_model("paging-xiv-serialized")
    devices = {"Serialized": PagingDevice.from_model(model), "Concurrent": predicted_concurrent()}
    printed_rates = table(FOLDER, "table-2")
    requests = np.arange(1, 5)
    asked = [
        {"outstanding": float(each), "think_time": 0.0, "arrival_rate": 0.0, "scv": 1.0} for each in requests
    ]
    predicted = float(devices["Concurrent"].closed(XIV_REQUESTS).transfer_rate)
    reached = printed_rates.value("Concurrent", "transfers")
    (axes,) = style.begin(
        None,
        f"Paging to XIV with two transfers at a time: {predicted:.0f}/s predicted from the serialized run, "
        f"{reached:.0f}/s measured.",
    )
    looks = zip(devices.items(), style.COLORS, ("", "////"), ("o", "s"), strict=False)
    for (name, device), color, hatch, marker in looks:
        rate = device.closed(requests).transfer_rate
        within = interval("transfer_rate", model, asked, {"queue_depth": float(device.queue_depth)})
        known = "fitted" if name == "Serialized" else "predicted from serialized"
        # Requests are whole: a box for each, nothing between them.
        ends = (requests[:, None] + [-HALF_A_BOX, HALF_A_BOX, np.nan]).ravel()
        box = np.repeat(rate, 3)
        axes.fill_between(
            ends, np.repeat(within.low, 3), np.repeat(within.high, 3), facecolor=color, alpha=style.BAND, hatch=hatch,
            edgecolor=color, label=f"{name.lower()}, {known}, {style.NINETY}",
        )  # fmt: skip
        axes.plot(ends, box, color=color)
        axes.plot(
            XIV_REQUESTS, printed_rates.value(name, "transfers"), marker, color=style.MEASURED, zorder=style.ABOVE,
            label=f"measured, {name.lower()}",
        )  # fmt: skip
    axes.set(
        xlabel="requests outstanding at one device", ylabel="transfers of one device [1/s]", ylim=(0, None),
    )  # fmt: skip
    style.whole_numbers(axes)
    style.legend_below(axes, 2)
    return axes


REPORT: Final = PublishedReport(
    folder=FOLDER, cells=cells, models=models, pictures={"xiv-concurrent-io": rate_over_requests}
)
