"""The report on emulated FBA: iozone and XEDIT on disk paths, and a guest that thrashes on paging devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.devices.disk import DiskPath
from planner.devices.paging import PagingDevice
from planner.library import data_path, read_model, read_source
from planner.reports import read_table
from planner.scoreboard.figure import Figure
from planner.scoreboard.span import Span, cell
from planner.scoreboard.tables import Cell, Said, given, identity, table_figures
from planner.units import MICROSECOND

REPORT: Final = "emulated-fba"
CP_PER_VIO: Final = dict.fromkeys(("SFB9", "SFB0", "ECKD", "EMDK", "EMD0"), "cp-per-vio")
IOZONE: Final = {
    "SLN9": "native-scsi", "ECKD": "eckd-dedicated", "EMDK": "eckd-minidisk", "EMD0": "eckd-minidisk",
    "SFB9": "emulated-fba", "SFB0": "emulated-fba",
}  # fmt: skip
XEDIT: Final = {
    "SCSI4KXI": ("emulated-fba", "cached", 1.0), "SCSI4KXK": ("emulated-fba", "cached", 0.0),
    "SCSI4KXJ": ("emulated-fba", "off", 0.0), "33904KX5": ("eckd-minidisk", "cached", 1.0),
    "33904KX7": ("eckd-minidisk", "cached", 0.0), "33904KX6": ("eckd-minidisk", "off", 0.0),
}  # fmt: skip
FROM_CPU_ALONE: Final = ("SCSI4KXI", "33904KX5", "33904KX7")  # runs whose model has no wait
PAGING: Final = {"SCSIPG04": ("emulated-fba", "SCSI4KXJ"), "3390PG02": ("eckd", "33904KX6")}
OWN_WAIT: Final = "CPU time, and the wait that is left of this very run: met by construction"
ENTERS: Final = "enters the model as printed"


def figures() -> Iterator[Figure]:
    """Every number of the three tables.

    Yields
    ------
    Figure
        In the order of print.
    """
    per_vio = {
        "Vio/tx": given("count"),
        "CP/vio": identity(lambda at: at.at("CP/tx").over(at.at("Vio/tx")), "CP/tx over Vio/tx", CP_PER_VIO),
        "Virt/vio": identity(lambda at: at.at("Virt/tx").over(at.at("Vio/tx")), "Virt/tx over Vio/tx"),
        "Total/vio": identity(lambda at: at.at("CP/vio").plus(at.at("Virt/vio")), "CP/vio + Virt/vio"),
    }
    costs = {
        "CP/tx": given(ENTERS),
        "Virt/tx": given(ENTERS),
        "Total/tx": identity(lambda at: at.at("CP/tx").plus(at.at("Virt/tx")), "CP/tx + Virt/tx"),
    }
    yield from table_figures(
        REPORT, "table-1", dict.fromkeys(("IW", "RW", "IR", "RR"), _phase) | costs | per_vio
    )
    yield from table_figures(REPORT, "table-2", {"Tx/sec": _xedit} | costs | per_vio)
    yield from table_figures(REPORT, "table-3", costs | {"Paging rate": _paging, "CP/tx": _paging_cp})


def _phase(at: Cell) -> Said:
    """Data rate of an iozone phase, as the disk path was fitted to all phases of its runs."""
    model = read_model(f"disk-iozone-{IOZONE[at.column]}")
    (run,) = (run for run in model.fit.runs if run.name == f"{at.column} {at.row}")
    return Said(kind="fitted", predicted=Span.exactly(run.predicted), group="data rate", note=model.title)


def _xedit(at: Cell) -> Said:
    """Transactions per second of one requester: 1 / (CPU + wait)."""
    kind, mode, hits = XEDIT[at.column]
    path = DiskPath.from_model(read_model(f"disk-xedit-{kind}"))
    rate = float(path.solve("off" if mode == "off" else "cached", hits).rate)
    if at.column in FROM_CPU_ALONE:
        return Said(
            kind="transferred", predicted=Span.exactly(rate), group="throughput", note="from CPU time alone"
        )
    return Said(kind="fitted", predicted=Span.exactly(rate), note=OWN_WAIT)


def _paging(at: Cell) -> Said:
    """Page rate of one guest that waits for each page."""
    device = PagingDevice.from_model(read_model(f"paging-{PAGING[at.column][0]}"))
    rate = float(device.closed(1, at.at("Total/tx").value * MICROSECOND).page_rate)
    return Said(kind="fitted", predicted=Span.exactly(rate), note=OWN_WAIT)


def _paging_cp(at: Cell) -> Said:
    """CP time of a page from that of a block that XEDIT reads without minidisk cache."""
    blocks = read_source(REPORT)["method"]["xedit_blocks"]
    run = PAGING[at.column][1]
    each = cell(read_table(data_path(REPORT, "table-2.csv")), "CP/tx", run).over(blocks)
    return Said(
        kind="transferred", predicted=each, group="CP time", note=f"CP time per block of XEDIT, run {run}"
    )
