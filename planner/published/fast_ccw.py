"""The report on fast CCW translation: CP time per MB of sixteen runs, and data rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner import library
from planner.advice.channel_program import channel_programs
from planner.calibrate.channel_program import calibrate as fit_channel_program
from planner.published.report import (
    Cell,
    PublishedFigure,
    Report,
    Said,
    exactly,
    known,
    not_modelled,
    published_model,
    run,
    table,
    table_figures,
)
from planner.reports import Printed, PublishedTable
from planner.units import MEGABYTE, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER: Final = "fast-ccw"
TICK: Final = 0.01  # CP QUERY TIME counts in hundredths of a second [s]


@dataclass(frozen=True, slots=True, kw_only=True)
class CcwRun:
    """One published run.

    `name` is its token; `bits` the width of its I/O, `fast` its translation, `passes` how often it moves a MB of
    file (written once, read at most once), `megabytes` its file, `time_per_mb` CP time [s] per MB of file.
    """

    name: str
    bits: int
    fast: bool
    passes: int
    megabytes: float
    time_per_mb: float

    @property
    def clock_error(self) -> float:
        """What a difference of two readings of the clock leaves open of the time per MB, as half of a range [s]."""
        return TICK / math.sqrt(2) / self.megabytes


def ccw_runs(found: PublishedTable) -> tuple[CcwRun, ...]:
    """Tell the runs by their tokens ``smmffr``."""
    method = library.read_source(FOLDER)["method"]
    return tuple(
        CcwRun(
            name=name,
            bits=64 if name[0] == "6" else 31,
            fast=name[3:5] == "F1",
            passes=1 + int(name[5]),
            megabytes=method[f"file_mb_{name[0]}"],
            time_per_mb=found.value(name, "cp_ms_per_mb", MILLISECOND),
        )
        for name in found.rows
    )


def models() -> dict[str, library.Model]:
    """Fit the costs of channel programs to the sixteen runs."""
    found = table(FOLDER, "results")
    rows = [
        run(
            each.name, found, {"bits": str(each.bits), "translation": "fast" if each.fast else "slow"},
            cp_ms=Printed(each.time_per_mb, each.clock_error), written_mb=exactly(MEGABYTE),
            read_mb=exactly(float(each.passes - 1) * MEGABYTE),
        )
        for each in ccw_runs(found)
    ]  # fmt: skip
    facts = library.read_source(FOLDER)
    model = published_model(
        fit_channel_program(rows), title=f"{facts['title']}: sixteen runs", tables=[found],
        environment=facts["environment"],
    )  # fmt: skip
    return {"channel-program": model}


def cells() -> Iterator[PublishedFigure]:
    """Every number of the table of results."""
    rates = not_modelled("data rate of disks that the report does not describe")
    rules = {"cp_ms_per_mb": _cp_time, "read_kb_per_s": rates, "write_kb_per_s": rates}
    yield from table_figures(FOLDER, "results", rules, by_row=False)


def _cp_time(at: Cell) -> Said:
    """CP time per MB of file, fitted to all sixteen runs by three combinations of costs."""
    model = library.read_model("channel-program")
    (run,) = (run for run in model.fit.runs if run.name == at.row)
    return Said(kind="fitted", predicted=known(run.predicted), group="CP time", note=model.title)


def cp_time_per_mb() -> Axes:
    """CP time per MB of each width and way of translation: bars of the law, points of the runs."""
    return channel_programs(31, 0.0).plot()


REPORT: Final = Report(folder=FOLDER, cells=cells, models=models, pictures={"fast-ccw": cp_time_per_mb})
