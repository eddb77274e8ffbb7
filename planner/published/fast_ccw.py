"""The report on fast CCW translation: CP time per MB of sixteen runs, and data rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from planner import library
from planner.advice.channel_program import WAYS, channel_programs, token
from planner.calibrate.costs import fit_channel_program
from planner.published import report
from planner.published.report import PublishedFigure, PublishedReport, Rule
from planner.reports import Printed
from planner.units import MEGABYTE, MILLISECOND

FOLDER: Final = "fast-ccw"


def models() -> dict[str, library.Model]:
    """Fit the costs of channel programs to the sixteen runs."""
    found, facts = report.table(FOLDER, "results"), library.read_source(FOLDER)
    rows = []
    for name in found.rows:
        bits, fast, passes = token(name)
        # Half range of the difference of two CP QUERY TIME values, which have hundredths of a second; the file is
        # larger for some guests.
        clock_error = 0.01 / math.sqrt(2) / facts["method"][f"file_mb_{name[0]}"]
        rows.append(
            report.run(
                name, found, {"bits": str(bits), "translation": WAYS[fast]},
                cp_ms=Printed(found.value(name, "cp_ms_per_mb", MILLISECOND), clock_error),
                written_mb=report.exactly(MEGABYTE), read_mb=report.exactly(float(passes - 1) * MEGABYTE),
            )
        )  # fmt: skip
    model = report.published_model(
        fit_channel_program(rows), title=f"{facts['title']}: sixteen runs", tables=[found],
        environment=facts["environment"],
    )  # fmt: skip
    return {"channel-program": model}


def cells() -> Iterator[PublishedFigure]:
    """Figures of the table of results."""
    rates = report.not_modelled("data rate of disks that the report does not describe")
    rules: dict[str, Rule] = {
        "cp_ms_per_mb": lambda at: report.fitted("channel-program", at.row, "CP time"),
        "read_kb_per_s": rates,
        "write_kb_per_s": rates,
    }
    yield from report.table_figures(FOLDER, "results", rules, by_row=False)


REPORT: Final = PublishedReport(
    folder=FOLDER,
    cells=cells,
    models=models,
    pictures={"fast-ccw": lambda: channel_programs(31, 0.0).plot()},
)
