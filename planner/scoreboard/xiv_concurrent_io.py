"""The report on concurrent I/O for XIV: two runs of twenty guests, and one of their paging devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.devices.paging import PagingDevice
from planner.library import read_model, read_source
from planner.published.paging import XIV_REQUESTS, predicted_concurrent
from planner.scoreboard.figure import Figure, Kind
from planner.scoreboard.span import Span
from planner.scoreboard.tables import Cell, Rule, Said, given, identity, not_modelled, table_figures
from planner.units import FRAME, KILOBYTE

REPORT: Final = "xiv-concurrent-io"
PERCENT: Final = 0.01
RUNS: Final = ("serialized", "concurrent")
AHEAD: Final = "from the serialized run alone: two transfers at a time instead of one"
TOUCHES: Final = "what a guest does between two page faults"


def figures() -> Iterator[Figure]:
    """Every number of both tables.

    Yields
    ------
    Figure
        In the order of print.
    """
    follows = {
        "Tx/sec": not_modelled(TOUCHES),
        "DASD Page Rate": _page_rate,
        "Tx per CPU-sec": identity(_per_second, "Tx/sec over total busy"),
        "ITR": identity(
            lambda at: at.at("Tx/sec").over(at.at("avg busy").times(PERCENT)), "Tx/sec over avg busy"
        ),
        "total busy": identity(_total_busy, "guest + c-CP + nc-CP"),
        "guest busy": not_modelled(TOUCHES),
        "c-CP busy": _cp_busy,
        "nc-CP busy": _cp_busy,
        "avg busy": identity(lambda at: at.at("total busy").over(_cores()), "total busy over the cores"),
        "T/V ratio": identity(
            lambda at: at.at("total busy").over(at.at("guest busy")), "total over guest busy"
        ),
    }
    yield from table_figures(REPORT, "table-1", {row: _compared(rule) for row, rule in follows.items()})
    columns = {
        "device_number": given(),
        "block_bytes": given(),
        "rate_kb_per_s": _device,
        "transfers": _device,
    }
    yield from table_figures(REPORT, "table-2", columns, by_row=False, skip=("run_id", "device_number"))


def _compared(rule: Rule) -> Rule:
    """The columns delta and pct follow from the two runs."""

    def both(at: Cell) -> Said:
        before, after = (at.beside(run) for run in RUNS)
        if at.column == "delta":
            return Said(kind="identity", predicted=after.minus(before), note="concurrent - serialized")
        if at.column == "pct":
            growth = after.over(before).minus(Span.exactly(1.0)).times(100.0)
            return Said(kind="identity", predicted=growth, note="delta over serialized")
        return rule(at)

    return both


def _cores() -> float:
    return float(read_source(REPORT)["method"]["cores"])


def _per_second(at: Cell) -> Span:
    return at.at("Tx/sec").over(at.at("total busy").times(PERCENT))


def _total_busy(at: Cell) -> Span:
    return at.at("guest busy").plus(at.at("c-CP busy")).plus(at.at("nc-CP busy"))


def _asked(run: str) -> tuple[PagingDevice, Kind, str]:
    """The device of a run: its own model, or the concurrent one predicted from the serialized run."""
    if run == "serialized":
        return (
            PagingDevice.from_model(read_model("paging-xiv-serialized")),
            "fitted",
            "model paging-xiv-serialized",
        )
    return predicted_concurrent(), "transferred", AHEAD


def _page_rate(at: Cell) -> Said:
    device, kind, note = _asked(at.column)
    rate = read_source(REPORT)["method"]["devices"] * float(device.closed(XIV_REQUESTS).page_rate)
    return Said(kind=kind, predicted=Span.exactly(rate), group=_group(kind), note=note)


def _cp_busy(at: Cell) -> Said:
    """CP time per page of the run's own model; no law gives the concurrent one from the serialized one."""
    device = PagingDevice.from_model(read_model(f"paging-xiv-{at.column}"))
    system = device.cp_system_time or 0.0
    each = system if at.row == "nc-CP busy" else device.cp_time - system
    predicted = at.at("DASD Page Rate").times(each / PERCENT)
    return Said(kind="fitted", predicted=Span.exactly(predicted.value), group="CP time",
                note=f"model paging-xiv-{at.column}")  # fmt: skip


def _device(at: Cell) -> Said:
    device, kind, note = _asked(at.row.lower())
    answer = device.closed(XIV_REQUESTS)
    value = (
        float(answer.transfer_rate)
        if at.column == "transfers"
        else float(answer.page_rate) * FRAME / KILOBYTE
    )
    return Said(kind=kind, predicted=Span.exactly(value), group=_group(kind), note=note)


def _group(kind: Kind) -> str:
    """A model of one run meets it by construction: no accuracy is stated for that."""
    return "throughput" if kind == "transferred" else ""
