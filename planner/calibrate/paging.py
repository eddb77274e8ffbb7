"""Measured paging devices to service time, pages per transfer and CP time per page: `planner.devices.paging`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from planner.calibrate.calibration import given
from planner.calibrate.cost_fit import CostFit, CostLaw, fit_costs
from planner.calibrate.data_file import Measurements
from planner.devices.paging import (
    CP_SYSTEM_TIME,
    CP_TIME,
    KIND,
    OUTSTANDING,
    PAGES_PER_TRANSFER,
    QUEUE_DEPTH,
    PagingDevice,
)
from planner.devices.parameters import SERVICE_TIME
from planner.quantity import Quantity
from planner.units import MICROSECOND

HEADINGS: Final = (
    Quantity("outstanding", "requests present all the time", whole=True),
    Quantity("queue_depth", "transfers at a time; 1 is serialized", whole=True),
    Quantity("transfer_rate", "transfers of one device", "1/s"),
    Quantity("page_rate", "pages of the same device", "1/s"),
    Quantity("think", "from the end of a transfer to the next request, or 0", "us", zero=True),
    Quantity("cp", "CP time per page, charged to users and system", "us/page"),
    Quantity("cp_system", "the part of it charged to the system", "us/page"),
)
NEEDED: Final = ("outstanding", "queue_depth", "transfer_rate")
FITTED: Final = (
    (SERVICE_TIME, "transfer_rate"),
    (PAGES_PER_TRANSFER, "page_rate"),
    (CP_TIME, "cp_us_per_page"),
    (CP_SYSTEM_TIME, "cp_system_us_per_page"),
)


def fitted(runs: Sequence[Measurements], fixed: Mapping[str, float] | None = None) -> CostFit:
    """Fit one device to its runs; queue depth and requests are those of the last run."""
    for run in runs:  # a transfer moves a page at least
        if "page_rate" in run.numbers and run.value("page_rate") < 0.85 * run.value("transfer_rate"):
            raise run.error(
                f"expected at least one page a transfer, found a page_rate of {run.value('page_rate'):g} and a "
                f"transfer_rate of {run.value('transfer_rate'):g}: the measurements contradict each other",
                "page_rate",
            )
    factors = {heading.file_key: heading.factor for heading in HEADINGS}
    told = [pair for pair in FITTED if any(pair[1] in run.numbers for run in runs)]
    pairs = [(run, name) for run in runs for _, name in FITTED if name in run.numbers]
    measured = [run.figure(name, factors[name]) for run, name in pairs]
    asked = [run.value("outstanding") for run in runs]
    law = CostLaw(
        kind=KIND,
        parameters=tuple(parameter for parameter, _ in told),
        start=tuple(_start(parameter, name, runs) for parameter, name in told),
        predict=lambda values: [_figure(values, run, name) for run, name in pairs],
        held=tuple(given(*pair) for pair in _held(runs[-1], [parameter for parameter, _ in told])),
        validity={"outstanding": (min(asked), max(asked))},
        population=int(asked[-1]),
    )
    return fit_costs(measured, law, fixed)


def _figure(values: Mapping[str, float], run: Measurements, name: str) -> float:
    if name == "cp_us_per_page":
        return values["cp_time"]
    if name == "cp_system_us_per_page":
        return values["cp_system_time"]
    device = PagingDevice(
        service_time=values["service_time"], pages_per_transfer=values.get("pages_per_transfer", 1.0),
        queue_depth=int(run.value("queue_depth")),
    )  # fmt: skip
    solved = device.closed(run.value("outstanding"), run.value("think_us"))
    return float(solved.page_rate if name == "page_rate" else solved.transfer_rate)


def _start(parameter: Quantity, name: str, runs: Sequence[Measurements]) -> float:
    run = next(run for run in runs if name in run.numbers)
    if parameter is SERVICE_TIME:
        cycle = run.value("outstanding") / run.value(name) - run.value("think_us")
        if cycle <= 0:
            raise run.error(
                f"{run.value('outstanding'):g} requests at {run.value(name):g} transfers/s come back every "
                f"{run.value('outstanding') / run.value(name) / MICROSECOND:.4g} us, and their think_us is "
                f"{run.value('think_us') / MICROSECOND:.4g}: the measurements contradict each other",
                "think_us",
            )
        return min(cycle, min(run.value("outstanding"), run.value("queue_depth")) / run.value(name))
    if parameter is PAGES_PER_TRANSFER:
        return max(run.value(name) / run.value("transfer_rate"), 1.0)
    return run.value(name)


def _held(last: Measurements, told: Sequence[Quantity]) -> list[tuple[Quantity, float]]:
    """What is not fitted: how the device was run, and what stands for a figure that was not measured."""
    assumed = [
        (parameter, parameter.default) for parameter in (PAGES_PER_TRANSFER, CP_TIME) if parameter not in told
    ]
    return [*assumed, (QUEUE_DEPTH, last.value("queue_depth")), (OUTSTANDING, last.value("outstanding"))]
