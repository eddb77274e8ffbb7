"""The report on fast CCW translation: CP time per MB, and data rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.library import read_model
from planner.scoreboard.figure import Figure
from planner.scoreboard.span import Span
from planner.scoreboard.tables import Cell, Said, not_modelled, table_figures

REPORT: Final = "fast-ccw"


def figures() -> Iterator[Figure]:
    """Every number of the table of results.

    Yields
    ------
    Figure
        In the order of print.
    """
    rates = not_modelled("data rate of disks that the report does not describe")
    rules = {"cp_ms_per_mb": _cp_time, "read_kb_per_s": rates, "write_kb_per_s": rates}
    yield from table_figures(REPORT, "results", rules, by_row=False)


def _cp_time(at: Cell) -> Said:
    """CP time per MB of file, fitted to all sixteen runs by three combinations of costs."""
    model = read_model("channel-program")
    (run,) = (run for run in model.fit.runs if run.name == at.row)
    return Said(kind="fitted", predicted=Span.exactly(run.predicted), group="CP time", note=model.title)
