"""``planner predict``: ask a calibrated model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import options

if TYPE_CHECKING:
    from planner.whatif import Answer

HELP = """Ask a model for one scenario.

Example: planner predict hyperpav --set aliases=8 --set volumes=8"""

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL.toml", help="Model file, or the name of a shipped model.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="As aliases=2 or think_time=0.2ms; may be repeated."),
]


@options.expanded
def predict(
    model: ModelFile,
    settings: Settings = None,
    *,
    form: options.Form,
) -> None:
    """Predict with 90 % intervals; a question beyond what was measured is answered with a warning."""
    from planner.library import read_model
    from planner.whatif import parse_setting, predict

    found = read_model(model)
    answer = predict(
        found, options.once((parse_setting(text, found.kind) for text in settings or []), "--set")
    )
    warn(answer)
    options.show(answer, form)


def warn(answer: Answer) -> None:
    """Say on standard error where a question leaves what was measured."""
    for warning in answer.warnings:
        typer.echo(f"planner: {warning}", err=True)
