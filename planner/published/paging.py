"""Paging devices from the published runs: two XIV runs of twenty guests, two runs of one guest that thrashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from planner import library
from planner.devices.paging import KIND, PagingDevice
from planner.published.entries import (
    MODEL_ERROR,
    compared,
    fitted,
    fixed,
    relative_error,
    rounded,
    source,
    table,
)
from planner.reports import Printed
from planner.units import FRAME, KILOBYTE, MICROSECOND

XIV: Final = "xiv-concurrent-io"
THRASH: Final = "emulated-fba"
PERCENT: Final = 0.01
PAGE_RATE_RESOLUTION: Final = (
    500.0  # page rates of the XIV runs are rounded to thousands, whatever their decimals
)
XIV_REQUESTS: Final = (
    2  # a fault read that a guest waits for and a page write that follows, one guest a device
)
XIV_RUNS: Final = {"xiv-serialized": ("serialized", 1), "xiv-concurrent": ("concurrent", 2)}
THRASH_RUNS: Final = {"eckd": ("3390PG02", "channel_eckd"), "emulated-fba": ("SCSIPG04", "channel_scsi")}


def calibrate_paging() -> dict[str, library.Model]:
    """Fit the four kinds of paging device.

    Service time and pages per transfer of the XIV devices follow from Table 2, their CP time per page from Table 1;
    of the other two everything follows from Table 3, where one guest waits for one page at a time.

    Returns
    -------
    dict
        Model by kind of device.
    """
    return {
        **{kind: _xiv(kind, column, depth) for kind, (column, depth) in XIV_RUNS.items()},
        **{kind: _thrash(kind, run, channel) for kind, (run, channel) in THRASH_RUNS.items()},
    }


def xiv_device(column: str, queue_depth: int) -> PagingDevice:
    """One XIV device as a run had it, two requests outstanding.

    Parameters
    ----------
    column : {"serialized", "concurrent"}
        The run.
    queue_depth : int
        Transfers that the device works on at a time.

    Returns
    -------
    PagingDevice
        With the service time that gives the transfer rate of the run, its pages per transfer and CP times.
    """
    busy, device = table(XIV, "table-1"), table(XIV, "table-2")
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
    """The concurrent XIV device as the serialized run alone predicts it: two places instead of one, nothing else.

    Returns
    -------
    PagingDevice
        A prediction; no figure of the concurrent run is used.
    """
    return replace(xiv_device("serialized", 1), queue_depth=2)


def _xiv(kind: str, column: str, depth: int) -> library.Model:
    busy, device_table = table(XIV, "table-1"), table(XIV, "table-2")
    device = xiv_device(column, depth)
    transfers = device_table.printed(column.title(), "transfers")
    kilobytes = device_table.printed(column.title(), "rate_kb_per_s")
    pages = Printed(busy.value("DASD Page Rate", column), PAGE_RATE_RESOLUTION)
    system, user = busy.printed("nc-CP busy", column), busy.printed("c-CP busy", column)
    assert device.cp_system_time is not None
    facts = library.read_source(XIV)
    devices = facts["method"]["devices"]
    one = device.closed(XIV_REQUESTS)
    measured = busy.value("DASD Page Rate", "concurrent")
    ahead = float(predicted_concurrent().closed(XIV_REQUESTS).page_rate) * devices
    return library.Model(
        kind=KIND,
        title=f"Paging device {kind}: {facts['title']}, run {busy.text('run ID', column)}",
        source=source(busy, device_table),
        population=XIV_REQUESTS,
        environment=facts["environment"],
        parameters={
            "service_time_s": fitted(device.service_time, relative_error(transfers)),
            "pages_per_transfer": fitted(device.pages_per_transfer, relative_error(kilobytes, transfers)),
            "queue_depth": fixed(depth),
            "outstanding": fixed(XIV_REQUESTS),
            "cp_time_s": fitted(device.cp_time, relative_error(system + user, pages)),
            "cp_system_time_s": fitted(device.cp_system_time, relative_error(system, pages)),
        },
        fit=library.Fit(
            runs=(
                compared(f"{column} 5070", "transfer_rate", transfers, float(one.transfer_rate)),
                compared(column, "page_rate", pages, devices * float(one.page_rate)),
            ),
            # What the law is off by where it was asked ahead: the concurrent page rate from the serialized run.
            model_error=rounded(abs(ahead / measured - 1)),
        ),
        validity={"outstanding": (1.0, float(XIV_REQUESTS)), "page_rate": (pages.value, pages.value)},
    )


def _thrash(kind: str, run: str, channel: str) -> library.Model:
    found = table(THRASH, "table-3")
    rate = found.printed("Paging rate", run)
    processor = found.printed("Total/tx", run, MICROSECOND)
    cp = found.printed("CP/tx", run, MICROSECOND)
    wait = Printed(1 / rate.value - processor.value, 1 / rate.low - 1 / rate.value + processor.resolution)
    device = PagingDevice(service_time=wait.value, cp_time=cp.value)
    facts = library.read_source(THRASH)
    page_rate = float(device.closed(1, processor.value).page_rate)
    return library.Model(
        kind=KIND,
        title=f"Paging device {kind}: {facts['title']}, run {run}",
        source=source(found),
        population=1,
        environment=environment(facts, channel),
        parameters={
            "service_time_s": fitted(wait.value, relative_error(wait)),
            "pages_per_transfer": fixed(1),
            "queue_depth": fixed(1),
            "outstanding": fixed(1),
            "cp_time_s": fitted(cp.value, relative_error(cp)),
        },
        fit=library.Fit(runs=(compared(run, "page_rate", rate, page_rate),), model_error=MODEL_ERROR),
        validity={"outstanding": (1.0, 1.0), "page_rate": (rate.value, rate.value)},
    )


def environment(facts: Mapping[str, Any], channel: str) -> dict[str, str]:
    """Where a run of a publication with several channels was measured.

    Parameters
    ----------
    facts : mapping
        What source.toml says.
    channel : str
        Key of the run's channel in its table `environment`.

    Returns
    -------
    dict
        machine, release, channel.
    """
    found = facts["environment"]
    return {"machine": found["machine"], "release": found["release"], "channel": found[channel]}
