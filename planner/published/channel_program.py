"""Channel programs from the published runs: sixteen times per MB of file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from planner import library
from planner.calibrate.channel_program import fit_channel_program
from planner.published.entries import exactly, published_model, run, table
from planner.reports import Printed, PublishedTable
from planner.units import MILLISECOND

PUBLICATION: Final = "fast-ccw"
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
    """Tell the runs by their tokens ``smmffr``.

    Parameters
    ----------
    found : PublishedTable
        The table of results.

    Returns
    -------
    tuple of CcwRun
        One a row.
    """
    method = library.read_source(PUBLICATION)["method"]
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


def calibrate_channel_program() -> library.Model:
    """Fit the costs of channel programs to the sixteen runs.

    Returns
    -------
    library.Model
        The costs, and all sixteen figures beside the law.

    Raises
    ------
    CalibrationError
        The fit did not converge.
    """
    found = table(PUBLICATION, "results")
    rows = [
        run(
            each.name, found, {"bits": str(each.bits), "translation": "fast" if each.fast else "slow"},
            cp_ms=Printed(each.time_per_mb, each.clock_error), written_mb=exactly(1.0),
            read_mb=exactly(float(each.passes - 1)),
        )
        for each in ccw_runs(found)
    ]  # fmt: skip
    facts = library.read_source(PUBLICATION)
    return published_model(
        fit_channel_program(rows), title=f"{facts['title']}: sixteen runs", tables=[found],
        environment=facts["environment"],
    )  # fmt: skip
