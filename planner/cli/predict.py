"""``planner predict``: ask a calibrated model."""

from __future__ import annotations

from typing import Annotated

import typer

from planner import files
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


@options.expanded
def predict(
    model: ModelFile,
    settings: Settings = None,
    *,
    form: options.PlotForm,
) -> None:
    """Predict with 90 % intervals; a question outside of what was measured is answered with a warning."""
    from planner import library, whatif

    found = library.read_model(model)
    asked = options.once((whatif.parse_setting(text, found.kind) for text in settings or []), "--set")
    answer = whatif.predict(found, asked)
    warn(answer.warnings, form)
    options.show(answer, form)


def warn(warnings: tuple[str, ...], form: options.Form) -> None:
    """Say on standard error where a question leaves what was measured, if the answer is for a program."""
    for warning in warnings if form.json or form.csv or form.output else ():
        files.complain(f"planner: {warning}")
