"""``planner whatif``: grids of scenarios over a calibrated model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import options
from planner.cli.predict import ModelFile, Settings, warn

HELP = """Ask a model for a grid of scenarios.

Example: planner whatif hyperpav --set volumes=8 --over aliases=0:24"""


@options.expanded
def whatif(
    model: ModelFile,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=lo:hi:step", help="As aliases=0:24 or think_time=0.1ms:1ms:0.1ms; may be repeated."
        ),
    ],
    settings: Settings = None,
    *,
    form: options.PlotForm,
) -> None:
    """Predict every combination with 90 % intervals."""
    from planner import library, system, whatif

    if system.is_system(model):
        options.show(system.whatif(Path(model), over, settings or []), form)
        return
    found = library.read_model(model)
    answer = whatif.predict(
        found,
        options.once((whatif.parse_setting(text, found.kind) for text in settings or []), "--set"),
        options.once((whatif.parse_range(text, found.kind) for text in over), "--over"),
    )
    warn(answer.warnings, form)
    options.show(answer, form)
