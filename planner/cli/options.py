"""Options that every command shares, and the one way in which an answer leaves the planner."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner import files, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")]
Force = Annotated[bool, typer.Option("--force", help="Write over existing files.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw to FILE.png or FILE.svg.")]
Model = Annotated[
    str, typer.Option("--model", metavar="FILE", help="Model file, or the name of a shipped model.")
]


def by_kind(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Tell tables from listings by the endings of their names.

    Parameters
    ----------
    paths : sequence of Path
        Files that a command was given.

    Returns
    -------
    tables, listings : list of Path
        Those that end in .csv, and all others.
    """
    tables = [path for path in paths if path.suffix.lower() == ".csv"]
    return tables, [path for path in paths if path not in tables]


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that work is going on, where it may take more than two seconds.

    Parameters
    ----------
    what : str
        What is being done.

    Yields
    ------
    None
        While it is done.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def draw(plot: Callable[[], Axes], path: Path | None, *, force: bool) -> None:
    """Draw to the file that ``--plot`` names, if it was given; a file that cannot be written is refused first.

    Parameters
    ----------
    plot : callable
        Makes the axes.
    path : Path or None
        Where to draw.
    force : bool
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        No picture can be written there.
    """
    if path is not None:
        files.drawable(path, force=force)
        files.save_axes(plot(), path, force=force)


def emit(
    text: str, data: Any, table: render.Table, *, json: bool, csv: bool, output: Path | None, force: bool
) -> None:
    """Print an answer, or write it to a file, in the form that was asked for.

    Parameters
    ----------
    text : str
        For people.
    data : object
        For ``--json``.
    table : render.Table
        For ``--csv``.
    json, csv : bool
        What was asked for; text where neither.
    output : Path or None
        Where to write; standard output where None.
    force : bool
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        Both JSON and CSV, or a file that cannot be written.
    """
    from planner.errors import InputError

    if json and csv:
        raise InputError("--json --csv", "both", "one of them")
    answer = render.to_json(data) if json else render.to_csv(table) if csv else text
    if output is None:
        typer.echo(answer.rstrip("\n"))
    else:
        files.save(answer, output, force=force)
