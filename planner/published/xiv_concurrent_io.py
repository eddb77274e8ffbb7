"""The report on concurrent I/O for XIV: two runs of twenty guests, one paging device per run, the whole system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from planner import library, style
from planner.advice.storage import guest_frame_budget
from planner.calibrate.cost_fit import CostModel, fit_costs
from planner.calibrate.costs import fit_paging
from planner.calibrate.error_bar import interval
from planner.calibrate.least_squares import MeasuredFigure
from planner.devices.paging import SYSTEM_KIND, SYSTEM_PARAMETERS, PagingDevice
from planner.published import report
from planner.published.report import Cell, Origin, PublishedFigure, PublishedReport, Rule, Said
from planner.queueing import closed_network
from planner.reports import Printed, PublishedTable
from planner.units import FRAME, KILOBYTE, MICROSECOND, PERCENT, percent, readable

FOLDER: Final = "xiv-concurrent-io"
PAGE_RATE_RESOLUTION: Final = 500.0  # page rates of runs are rounded to thousands, whatever their decimals
XIV_REQUESTS: Final = 2  # of one guest per device: the fault read for which it waits, then a page write
XIV_RUNS: Final = {"xiv-serialized": ("serialized", 1), "xiv-concurrent": ("concurrent", 2)}
RUNS: Final = ("serialized", "concurrent")
SERIALIZED, CONCURRENT = RUNS
BUSY: Final = ("guest busy", "c-CP busy", "nc-CP busy")
AHEAD: Final = "from the serialized run alone: two transfers at a time instead of one"
TOUCHES: Final = "what a guest does between two page faults"


def models() -> dict[str, library.Model]:
    """Fit both kinds of device (Table 2, and CP time per page from Table 1), and the system of the serialized run."""
    return {
        MODEL: calibrate_whole_system(),
        **{f"paging-{kind}": _xiv(kind, column, depth) for kind, (column, depth) in XIV_RUNS.items()},
    }


def _tables() -> tuple[PublishedTable, PublishedTable]:
    """Tables of the runs, and of one device of each."""
    return report.table(FOLDER, "table-1"), report.table(FOLDER, "table-2")


def xiv_device(column: str, queue_depth: int) -> PagingDevice:
    """One XIV device as in a run, with two requests outstanding."""
    run = measured(column)
    whole, system = (part.value / run["page_rate"].value for part in _cp_times(column))
    return PagingDevice(
        service_time=min(queue_depth, XIV_REQUESTS) / run["transfers"].value,
        pages_per_transfer=run["pages_per_transfer"].value, queue_depth=queue_depth, cp_time=whole,
        cp_system_time=system, outstanding=XIV_REQUESTS,
    )  # fmt: skip


def _cp_times(run: str) -> tuple[Printed, Printed]:
    """Processor time of CP, and the part of it charged to the system."""
    user, system = (_tables()[0].printed(row, run, PERCENT) for row in BUSY[1:])
    return system + user, system


def predicted_concurrent() -> PagingDevice:
    """The concurrent XIV device predicted from the serialized run alone: only two servers instead of one."""
    return replace(xiv_device("serialized", 1), queue_depth=2)


def _xiv(kind: str, column: str, depth: int) -> library.Model:
    busy, device_table = _tables()
    transfers, pages = (measured(column)[name] for name in ("transfers", "page_rate"))
    whole, system = _cp_times(column)
    row = report.run(
        f"{column} 5070", device_table, outstanding=report.exactly(XIV_REQUESTS), queue_depth=report.exactly(depth),
        transfer_rate=transfers,
        page_rate=device_table.printed(column.title(), "rate_kb_per_s", KILOBYTE / FRAME),
        cp_us_per_page=report.quotient(whole, pages), cp_system_us_per_page=report.quotient(system, pages),
    )  # fmt: skip
    one, ahead = (each.closed(XIV_REQUESTS) for each in (xiv_device(column, depth), predicted_concurrent()))
    return report.published_model(
        fit_paging([row]),
        title=f"Paging device {kind}: {library.read_source(FOLDER)['title']}, run {busy.text('run ID', column)}",
        tables=[busy, device_table],
        environment=library.read_source(FOLDER)["environment"],
        runs=(
            report.compared(row.name, "transfer_rate", transfers, float(one.transfer_rate)),
            report.compared(column, "page_rate", pages, DEVICES * float(one.page_rate)),
        ),
        # Error of the only true prediction: the concurrent page rate from the serialized run.
        model_error=abs(float(ahead.page_rate) * DEVICES / measured(CONCURRENT)["page_rate"].value - 1),
        validity={"outstanding": (1.0, float(XIV_REQUESTS)), "page_rate": (pages.value, pages.value)},
    )


def cells() -> Iterator[PublishedFigure]:
    """Figures of both tables; figures that the model of the whole system predicts appear twice."""
    follows = {
        "Tx/sec": report.not_modelled(TOUCHES),
        "DASD Page Rate": _page_rate,
        "Tx per CPU-sec": report.identity(
            lambda at: at["Tx/sec"] / (at["total busy"] * PERCENT), "Tx/sec over total busy"
        ),
        "ITR": report.identity(lambda at: at["Tx/sec"] / (at["avg busy"] * PERCENT), "Tx/sec over avg busy"),
        "total busy": report.identity(
            lambda at: sum((at[row] for row in BUSY[1:]), at[BUSY[0]]), "guest + c-CP + nc-CP"
        ),
        "guest busy": report.not_modelled(TOUCHES),
        "c-CP busy": _cp_busy,
        "nc-CP busy": _cp_busy,
        "avg busy": report.identity(lambda at: at["total busy"] / PROCESSORS, "total busy over the cores"),
        "T/V ratio": report.identity(lambda at: at["total busy"] / at["guest busy"], "total over guest busy"),
    }
    yield from report.table_figures(
        FOLDER, "table-1", {row: _compared(rule) for row, rule in follows.items()}
    )
    columns = {"block_bytes": report.given(), "rate_kb_per_s": _device, "transfers": _device}
    yield from report.table_figures(
        FOLDER, "table-2", columns, by_row=False, skip=("run_id", "device_number")
    )
    yield from compared_figures()


def _compared(rule: Rule) -> Rule:
    """Extend a rule to the columns delta and pct, which follow from the two runs."""

    def both(at: Cell) -> Said:
        before, after = (at.beside(run) for run in RUNS)
        if at.column == "delta":
            return Said("identity", after - before, note="concurrent - serialized")
        if at.column == "pct":
            return Said("identity", (after / before - 1.0) * 100.0, note="delta over serialized")
        return rule(at)

    return both


def _asked(run: str) -> tuple[PagingDevice, Origin, str]:
    """The device of a run: its own model, or the concurrent one as predicted from the serialized run."""
    if run == "serialized":
        own = PagingDevice.from_model(library.read_model("paging-xiv-serialized"))
        return own, "fitted", "model paging-xiv-serialized"
    return predicted_concurrent(), "transferred", AHEAD


def _page_rate(at: Cell) -> Said:
    device, kind, note = _asked(at.column)
    rate = DEVICES * float(device.closed(XIV_REQUESTS).page_rate)
    return Said(kind, report.known(rate), _group(kind), note=note)


def _cp_busy(at: Cell) -> Said:
    """CP time per page by the run's own model; the serialized run does not predict the concurrent one."""
    device = PagingDevice.from_model(library.read_model(f"paging-xiv-{at.column}"))
    system = device.cp_system_time or 0.0
    each = system if at.row == "nc-CP busy" else device.cp_time - system
    predicted = at["DASD Page Rate"] * (each / PERCENT)
    return Said("fitted", report.known(predicted.value), "CP time", note=f"model paging-xiv-{at.column}")  # fmt: skip


def _device(at: Cell) -> Said:
    device, kind, note = _asked(at.row.lower())
    answer = device.closed(XIV_REQUESTS)
    value = answer.transfer_rate if at.column == "transfers" else answer.page_rate * FRAME / KILOBYTE
    return Said(kind, report.known(float(value)), _group(kind), note=note)


def _group(kind: Origin) -> str:
    """Group of a kind; empty for a fit, since a model of one run agrees with it by construction."""
    return "throughput" if kind == "transferred" else ""


def rate_over_requests() -> style.Axes:
    """Transfers per second of one device over the requests outstanding."""
    model = library.read_model("paging-xiv-serialized")
    devices = {"Serialized": PagingDevice.from_model(model), "Concurrent": predicted_concurrent()}
    _, printed_rates = _tables()
    requests = np.arange(1, 5)
    asked = [
        {"outstanding": float(each), "think_time": 0.0, "arrival_rate": math.nan, "scv": 1.0}
        for each in requests
    ]
    predicted = float(devices["Concurrent"].closed(XIV_REQUESTS).transfer_rate)
    reached = printed_rates.value("Concurrent", "transfers")
    (axes,) = style.begin(
        None,
        f"Paging to XIV with two transfers at a time: {readable(predicted)}/s predicted from the serialized run, "
        f"{readable(reached)}/s measured.",
    )
    looks = zip(devices.items(), style.COLORS, ("", "////"), ("o", "s"), strict=False)
    for (name, device), color, hatch, marker in looks:
        rate = device.closed(requests).transfer_rate
        within = interval("transfer_rate", model, asked, {"queue_depth": float(device.queue_depth)})
        known = "fitted" if name == "Serialized" else "predicted from serialized"
        # Requests are whole numbers: a box for each, no curve between them.
        ends = (requests[:, None] + [-0.3, 0.3, np.nan]).ravel()
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


MODEL: Final = "system-xiv-serialized"
TABLE: Final = "whole system"
# From the text of the report.
GUESTS, GUEST_GIB, INSTANTIATED, REAL_GIB, DEVICES, PROCESSORS = (20, 88, 0.7, 1024, 20, 64)
# Fitted figures, with the unit in which the model file shows them.
FIGURES: Final = {
    "transfers": ("transfers", 1.0),
    "pages_per_transfer": ("pages_per_transfer", 1.0),
    "touch_time": ("touch_us", MICROSECOND),
    "cp_charged": ("cp_charged_us", MICROSECOND),
    "cp_system": ("cp_system_us", MICROSECOND),
}


def calibrate_whole_system() -> library.Model:
    """Fit service time, pages per transfer and processor times to the serialized run.

    Five figures, five parameters: transfers of a device (by the closed network of guests and devices), pages of each,
    guest, charged and system processor time. The largest error of what is not used is that of the model.
    """
    figures = measured(SERIALIZED)
    the_one_system = {
        "guests": GUESTS, "devices": DEVICES, "queue_depth": 1, "processors": PROCESSORS, "real_storage_gib": REAL_GIB,
        "virtual_storage_gib": GUEST_GIB, "instantiated": INSTANTIATED,
    }  # fmt: skip
    model = CostModel(
        kind=SYSTEM_KIND,
        parameters=SYSTEM_PARAMETERS,
        start=(1.8e-3, *(figures[name].value for name in FIGURES if name != "transfers")),
        predict=lambda values: [predicted(values, 1)[name] for name in FIGURES],
        validity={key: (float(value), float(value)) for key, value in the_one_system.items()},
        population=GUESTS,
    )  # fmt: skip
    found = fit_costs(
        [
            MeasuredFigure(run=SERIALIZED, quantity=shown, factor=factor, value=figures[name].value,
                     half=figures[name].resolution)
            for name, (shown, factor) in FIGURES.items()
        ],
        model,
    )  # fmt: skip
    values = {key: estimate.value for key, estimate in found.estimates.items()}
    ahead, said = _ahead(values), predicted(values, 1)
    fitted = [
        report.compared(
            SERIALIZED, shown, Printed(figures[name].value / factor, figures[name].resolution / factor),
            said[name] / factor,
        )
        for name, (shown, factor) in FIGURES.items()
    ]  # fmt: skip
    run_id = _tables()[0].text("run ID", SERIALIZED)
    return report.published_model(
        found,
        title=f"Whole system: {library.read_source(FOLDER)['title']}, run {run_id}",
        tables=_tables(),
        environment=library.read_source(FOLDER)["environment"],
        runs=[*fitted, *ahead],
        model_error=report.misfit(ahead),
    )


def _ahead(values: Mapping[str, float]) -> list[library.ComparedRun]:
    """Predictions that were not fitted: throughput of both runs, page rate and transfers of the concurrent one."""
    wanted = [
        (SERIALIZED, 1.0, ("throughput",)),
        (CONCURRENT, math.inf, ("throughput", "page_rate", "transfers")),
    ]
    return [
        report.compared(f"{run}, predicted", name, measured(run)[name], predicted(values, depth)[name])
        for run, depth, names in wanted
        for name in names
    ]


def measured(run: str) -> dict[str, Printed]:
    """Printed figures of a run, and quotients of them."""
    busy, device = _tables()
    transfers = device.printed(run.title(), "transfers")
    all_transfers = Printed(DEVICES * transfers.value, DEVICES * transfers.resolution)
    kilobytes = device.printed(run.title(), "rate_kb_per_s", KILOBYTE / FRAME)
    touches = busy.printed("Tx/sec", run)
    return {
        "transfers": transfers,
        "pages_per_transfer": report.quotient(kilobytes, transfers),
        "touch_time": report.quotient(busy.printed("guest busy", run, PERCENT), touches),
        "cp_charged": report.quotient(busy.printed("c-CP busy", run, PERCENT), all_transfers),
        "cp_system": report.quotient(busy.printed("nc-CP busy", run, PERCENT), all_transfers),
        "throughput": touches,
        "page_rate": Printed(busy.value("DASD Page Rate", run), PAGE_RATE_RESOLUTION),
    }


def predicted(values: Mapping[str, float], depth: float) -> dict[str, float]:
    """Predictions of five parameters for the published system, with `depth` transfers at a time."""
    touches = values["pages_per_transfer"] / miss_ratio()
    own = touches * values["touch_time"] + values["cp_charged"]
    steady = closed_network(
        [[own, values["service_time"]]], [GUESTS], servers=[PROCESSORS, depth], copies=[1, DEVICES]
    )
    rate = float(steady.throughput[0])
    return {
        **{name: values[name] for name in FIGURES if name in values},
        "transfers": rate / DEVICES,
        "throughput": rate * touches,
        "page_rate": rate * values["pages_per_transfer"],
    }


def compared_figures() -> Iterator[PublishedFigure]:
    """Figures of both runs that the system model predicts, for a typical device and in percent of a processor."""
    parameters = library.read_model(MODEL).parameters
    values = {key.removesuffix("_s"): entry.value for key, entry in parameters.items()}
    fitted = {"page_rate", "transfers", "c-CP busy", "nc-CP busy"}
    for each, depth in ((SERIALIZED, 1.0), (CONCURRENT, math.inf)):
        said, figures = predicted(values, depth), measured(each)
        busy = _busy_percent(values, said)
        figures |= {name: _tables()[0].printed(name, each) for name in busy}
        for name in ("throughput", "page_rate", "transfers", *busy):
            published, value = report.printed(figures[name]), (said | busy)[name]
            # processor times of the concurrent mode are not modeled
            outside = name in busy and each == CONCURRENT
            kind: Origin = "fitted" if each == SERIALIZED and name in fitted else "transferred"
            notes = {
                "fitted": f"model {MODEL}",
                "transferred": "planner system, from the serialized run alone",
                "not modelled": "outside: processor times of another mode are not modeled; those of the serialized run "
                f"would be {percent(value / published.value - 1, signed=True)} off",
            }
            kind = "not modelled" if outside else kind
            yield PublishedFigure(
                report=FOLDER, table=TABLE, row=name, column=each, published=published, kind=kind,
                predicted=None if outside else report.known(value), group="" if name in busy else _group(kind),
                note=notes[kind],
            )  # fmt: skip


def _busy_percent(values: Mapping[str, float], said: Mapping[str, float]) -> dict[str, float]:
    """Processor times of a run with the costs of the serialized one [percent of one processor]."""
    transfers = DEVICES * said["transfers"]
    own = said["throughput"] * values["touch_time"] / PERCENT
    parts = own, *(transfers * values[key] / PERCENT for key in ("cp_charged", "cp_system"))
    return dict(zip((*BUSY, "total busy"), (*parts, sum(parts)), strict=True))


def miss_ratio() -> float:
    """Share of the instantiated pages without a frame, from the text of the report."""
    need = guest_frame_budget(
        guests=GUESTS, guest_storage=f"{GUEST_GIB}GiB", instantiated=INSTANTIATED, real_storage=f"{REAL_GIB}GiB"
    )  # fmt: skip
    frames = REAL_GIB * 2**30 / FRAME - need.pgmbk_frames
    return 1 - frames / need.page_frames


REPORT: Final = PublishedReport(
    folder=FOLDER, cells=cells, models=models, pictures={"xiv-concurrent-io": rate_over_requests}
)
