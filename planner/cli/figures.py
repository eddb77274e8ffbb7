"""``planner figures``: the published figures, redrawn."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import files
from planner.cli import options

HELP = """Draw the published figures.

Those that the reports do not display, and for each report its measurements beside the model.

Example: planner figures -o pictures --format svg"""


class Format(StrEnum):
    """Kinds of picture."""

    png = "png"
    svg = "svg"


def figures(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to.")],
    form: Annotated[Format, typer.Option("--format", help="Kind of file.")] = Format.png,
    force: options.Force = False,
) -> None:
    """Draw all, print the name of each file."""
    from rich.console import Console
    from rich.progress import track

    from planner.published import figures as known
    from planner.published import save_figures

    bar = Console(stderr=True)
    drawn = save_figures(output, form.value, force=force)
    for path in track(
        drawn, "Drawing", total=len(known()), console=bar, disable=not bar.is_terminal, transient=True
    ):
        files.say(str(path))
