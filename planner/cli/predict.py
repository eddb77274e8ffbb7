"""``planner predict``: ask a calibrated model."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli import options

HELP = """Ask a model for one scenario.

Example: planner predict hyperpav --set aliases=8 --set volumes=8"""

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL.toml", help="Model file, or the name of a shipped model.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="As aliases=2 or think_time=0.2ms; may be repeated."),
]


def predict(
    model: ModelFile,
    settings: Settings = None,
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Predict with 90 % intervals; a question beyond what was measured is answered with a warning."""
    from planner.library import read_model
    from planner.whatif import parse_setting, predict

    answer = predict(read_model(model), dict(parse_setting(text) for text in settings or []))
    for warning in answer.warnings:
        typer.echo(f"planner: {warning}", err=True)
    table = answer.table()
    options.emit(answer.text(), table.records()[0], table, json=json, csv=csv, output=output, force=force)
