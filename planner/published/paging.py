"""Paging devices from the published runs: two XIV runs of twenty guests, two runs of one guest that thrashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from planner import library
from planner.calibrate.paging import fit_paging
from planner.devices.paging import PagingDevice
from planner.published.entries import compared, exactly, published_model, quotient, run, table
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
    facts = library.read_source(XIV)
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
        # What the law is off by where it was asked ahead: the concurrent page rate from the serialized run.
        model_error=abs(ahead / measured - 1),
        validity={"outstanding": (1.0, float(XIV_REQUESTS)), "page_rate": (pages.value, pages.value)},
    )


def _thrash(kind: str, name: str, channel: str) -> library.Model:
    found = table(THRASH, "table-3")
    rate = found.printed("Paging rate", name)
    one = run(
        name, found, outstanding=exactly(1), queue_depth=exactly(1), transfer_rate=rate, page_rate=rate,
        think_us=found.printed("Total/tx", name, MICROSECOND), cp_us_per_page=found.printed("CP/tx", name, MICROSECOND),
    )  # fmt: skip
    facts = library.read_source(THRASH)
    return published_model(
        fit_paging([one], {"pages_per_transfer": 1.0}),
        title=f"Paging device {kind}: {facts['title']}, run {name}",
        tables=[found],
        environment=environment(facts, channel),
        validity={"page_rate": (rate.value, rate.value)},
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
