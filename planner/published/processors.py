"""Processors from the published runs: scaling on z/VM 5.3."""

from __future__ import annotations

from typing import Final

from planner import library
from planner.calibrate.processors import fit_processors
from planner.published.entries import exactly, published_model, run, table
from planner.units import MILLISECOND

PUBLICATION: Final = "real-storage"
RELEASE: Final = "5.3"


def calibrate_processors() -> library.Model:
    """Fit the scalability law to the five configurations of Table 4.

    Returns
    -------
    library.Model
        CPU time of a transaction, contention, coherency.

    Raises
    ------
    CalibrationError
        The fit did not converge.
    """
    found = table(PUBLICATION, "table-4")
    runs = [
        run(
            name, found, processors=exactly(found.value("Processors", name)),
            emulation_cpu_ms=found.printed("Emul CPU/Tx (p)", name, MILLISECOND),
            cp_cpu_ms=found.printed("CP CPU/Tx (p)", name, MILLISECOND),
        )
        for name in found.columns[2:]
    ]  # fmt: skip
    fit = fit_processors(runs)
    machine = table(PUBLICATION, "table-1").text("Processor Type/Model", "4")
    return published_model(
        fit,
        title=f"{library.read_source(PUBLICATION)['title']}: Apache on z/VM {RELEASE}",
        tables=[found],
        environment={"machine": machine, "release": f"z/VM {RELEASE}", "channel": "not stated"},
    )
