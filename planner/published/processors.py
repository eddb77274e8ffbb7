"""Processors from the published runs: scaling on z/VM 5.3."""

from __future__ import annotations

from typing import Final

from planner import library
from planner.calibrate.processors import fit_processors
from planner.devices.processors import published
from planner.published.entries import misfit, source, table

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
    import msgspec

    facts = library.read_source(PUBLICATION)
    model = fit_processors(published(RELEASE)).to_model(
        title=f"{facts['title']}: Apache on z/VM {RELEASE}", source=source(table(PUBLICATION, "table-4"))
    )
    machine = table(PUBLICATION, "table-1").text("Processor Type/Model", "4")
    return msgspec.structs.replace(
        model,
        environment={"machine": machine, "release": f"z/VM {RELEASE}", "channel": "not stated"},
        fit=library.Fit(runs=model.fit.runs, model_error=misfit(model.fit.runs)),
    )
