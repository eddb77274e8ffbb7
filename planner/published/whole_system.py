"""The whole system of the XIV report: five parameters of its serialized run, and what they say of both runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from planner import library
from planner.advice.storage import guest_frame_budget
from planner.calibrate.cost_fit import CostLaw, fit_costs
from planner.calibrate.least_squares import MeasuredFigure
from planner.devices.touching import KIND, PARAMETERS
from planner.published.report import (
    Origin,
    PublishedFigure,
    compared,
    known,
    misfit,
    printed,
    published_model,
    quotient,
    table,
)
from planner.queueing import closed_network
from planner.reports import Printed
from planner.units import FRAME, KILOBYTE, MICROSECOND, PERCENT

XIV: Final = "xiv-concurrent-io"
MODEL: Final = "system-xiv-serialized"
TABLE: Final = "whole system"
SERIALIZED: Final = "serialized"
CONCURRENT: Final = "concurrent"
GUESTS, GUEST_GIB, INSTANTIATED, REAL_GIB, DEVICES, PROCESSORS = (
    20,
    88,
    0.7,
    1024,
    20,
    64,
)  # of the report's text
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

    Five figures and five parameters: transfers of a device (with the closed network of guests and devices), pages of a
    transfer, and guest, charged and system processor time. Throughput and the concurrent run are not used; the error
    of the law is what it is off by there at worst.
    """
    figures = measured(SERIALIZED)
    law = CostLaw(
        kind=KIND,
        parameters=PARAMETERS,
        start=(
            1.8e-3, figures["pages_per_transfer"].value, figures["touch_time"].value, figures["cp_charged"].value,
            figures["cp_system"].value,
        ),
        predict=lambda values: [predicted(values, 1)[name] for name in FIGURES],
        held=(),
        validity=_validity(),
        population=GUESTS,
    )  # fmt: skip
    found = fit_costs(
        [
            MeasuredFigure(run=SERIALIZED, quantity=shown, factor=factor, value=figures[name].value,
                     half=figures[name].resolution)
            for name, (shown, factor) in FIGURES.items()
        ],
        law,
    )  # fmt: skip
    values = {key: estimate.value for key, estimate in found.estimates.items()}
    ahead, said = _ahead(values), predicted(values, 1)
    fitted = [
        compared(
            SERIALIZED, shown, Printed(figures[name].value / factor, figures[name].resolution / factor),
            said[name] / factor,
        )
        for name, (shown, factor) in FIGURES.items()
    ]  # fmt: skip
    run_id = table(XIV, "table-1").text("run ID", SERIALIZED)
    return published_model(
        found,
        title=f"Whole system: {library.read_source(XIV)['title']}, run {run_id}",
        tables=[table(XIV, "table-1"), table(XIV, "table-2")],
        environment=library.read_source(XIV)["environment"],
        runs=[*fitted, *ahead],
        model_error=misfit(ahead),
    )


def _ahead(values: Mapping[str, float]) -> list[library.ComparedRun]:
    """What was not fitted: throughput of both runs, page rate and transfers of the concurrent one."""
    wanted = [
        (SERIALIZED, 1.0, ("throughput",)),
        (CONCURRENT, math.inf, ("throughput", "page_rate", "transfers")),
    ]
    return [
        compared(f"{run}, predicted", name, measured(run)[name], predicted(values, depth)[name])
        for run, depth, names in wanted
        for name in names
    ]


def measured(run: str) -> dict[str, Printed]:
    """What a run printed, and what follows from it by division."""
    busy, device = table(XIV, "table-1"), table(XIV, "table-2")
    transfers = device.printed(run.title(), "transfers")
    all_transfers = Printed(DEVICES * transfers.value, DEVICES * transfers.resolution)
    kilobytes = device.printed(run.title(), "rate_kb_per_s", KILOBYTE / FRAME)
    touches = busy.printed("Tx/sec", run)
    return {
        "transfers": transfers,
        "pages_per_transfer": quotient(kilobytes, transfers),
        "touch_time": quotient(busy.printed("guest busy", run, PERCENT), touches),
        "cp_charged": quotient(busy.printed("c-CP busy", run, PERCENT), all_transfers),
        "cp_system": quotient(busy.printed("nc-CP busy", run, PERCENT), all_transfers),
        "throughput": touches,
        "page_rate": Printed(busy.value("DASD Page Rate", run), 500.0),
    }


def predicted(values: Mapping[str, float], depth: float) -> dict[str, float]:
    """What five parameters say of the published system, transfers one at a time or all at once."""
    touches = values["pages_per_transfer"] / miss_ratio()
    own = touches * values["touch_time"] + values["cp_charged"]
    steady = closed_network(
        [[own, values["service_time"]]], [GUESTS], servers=[PROCESSORS, depth], copies=[1, DEVICES]
    )
    rate = float(steady.throughput[0])
    parts = {key: values[key] for key in ("pages_per_transfer", "touch_time", "cp_charged", "cp_system")}
    return {
        **parts,
        "transfers": rate / DEVICES,
        "throughput": rate * touches,
        "page_rate": rate * values["pages_per_transfer"],
    }


def compared_figures() -> Iterator[PublishedFigure]:
    """Every figure of both runs that the coupled model speaks of, with what it cannot say.

    Transfers are those of a typical device; processor times are percent of one processor.
    """
    parameters = library.read_model(MODEL).parameters
    values = {key.removesuffix("_s"): entry.value for key, entry in parameters.items()}
    for run, depth in ((SERIALIZED, 1.0), (CONCURRENT, math.inf)):
        said, printed_here = predicted(values, depth), measured(run)
        for name in ("throughput", "page_rate", "transfers"):
            fitted = run == SERIALIZED and name != "throughput"
            yield PublishedFigure(
                report=XIV, table=TABLE, row=name, column=run, published=printed(printed_here[name]),
                kind="fitted" if fitted else "transferred", predicted=known(said[name]),
                group="" if fitted else "throughput",
                note=f"model {MODEL}" if fitted else "planner system, from the serialized run alone",
            )  # fmt: skip
        yield from _busy(run, _busy_percent(values, said))


def _busy_percent(values: Mapping[str, float], said: Mapping[str, float]) -> dict[str, float]:
    """Processor times of a run at the costs of the serialized one [percent of one processor]."""
    transfers = DEVICES * said["transfers"]
    own = said["throughput"] * values["touch_time"] / PERCENT
    charged, system = (transfers * values[key] / PERCENT for key in ("cp_charged", "cp_system"))
    return {
        "guest busy": own,
        "c-CP busy": charged,
        "nc-CP busy": system,
        "total busy": own + charged + system,
    }


def _busy(run: str, said: Mapping[str, float]) -> Iterator[PublishedFigure]:
    """Processor times: fitted or predicted in their own mode, outside in the other."""
    busy = table(XIV, "table-1")
    for row, value in said.items():
        published = printed(busy.printed(row, run))
        outside = run == CONCURRENT
        notes = {
            "fitted": f"model {MODEL}",
            "transferred": "planner system, from the serialized run alone",
            "not modelled": "outside: no law gives the processor time of another mode; costs of the serialized run "
            f"would be {value / published.value - 1:+.0%} off",
        }
        kind: Origin = (
            "not modelled" if outside else "fitted" if row in {"c-CP busy", "nc-CP busy"} else "transferred"
        )
        yield PublishedFigure(
            report=XIV, table=TABLE, row=row, column=run, published=published, kind=kind,
            predicted=None if outside else known(value),
            note=notes[kind],
        )  # fmt: skip


def miss_ratio() -> float:
    """Share of the instantiated pages that have no frame, as the text of the report gives it."""
    need = guest_frame_budget(
        guests=GUESTS,
        guest_storage=f"{GUEST_GIB}GiB",
        instantiated=INSTANTIATED,
        real_storage=f"{REAL_GIB}GiB",
    )
    frames = REAL_GIB * 2**30 / FRAME - need.pgmbk_frames
    return 1 - frames / need.page_frames


def _validity() -> dict[str, Any]:
    """The one system that was measured."""
    exact = {
        "guests": GUESTS, "devices": DEVICES, "queue_depth": 1, "processors": PROCESSORS, "real_storage_gib": REAL_GIB,
        "virtual_storage_gib": GUEST_GIB, "instantiated": INSTANTIATED,
    }  # fmt: skip
    return {key: (float(value), float(value)) for key, value in exact.items()}
