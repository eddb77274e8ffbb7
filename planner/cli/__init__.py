"""The command `planner`: one short file a command, imported when its turn comes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def build() -> typer.Typer:
    """Assemble the command line.

    Returns
    -------
    typer.Typer
        The application with all commands.
    """
    import typer

    from planner import __version__
    from planner.cli import (
        aliases,
        calibrate,
        disk,
        paging,
        predict,
        processors,
        read,
        scoreboard,
        storage,
        whatif,
    )

    app = typer.Typer(
        name="planner",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="Capacity planning for z/VM disk I/O and storage.\n\n"
        "Start with a Performance Toolkit DEVICE listing: planner aliases pool LISTING",
    )

    def version(shown: bool) -> None:
        if shown:
            typer.echo(__version__)
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        """Take the options of all commands."""

    app.add_typer(aliases.app, name="aliases")
    app.add_typer(storage.app, name="storage")
    app.command(name="paging", help=paging.HELP)(paging.paging)
    app.add_typer(disk.app, name="disk")
    app.command(name="processors", help=processors.HELP)(processors.processors)
    app.command(name="calibrate", help=calibrate.HELP)(calibrate.calibrate)
    app.command(name="predict", help=predict.HELP)(predict.predict)
    app.command(name="whatif", help=whatif.HELP)(whatif.whatif)
    app.command(name="scoreboard", help=scoreboard.HELP)(scoreboard.scoreboard)
    app.command(name="read", help=read.HELP)(read.read)
    return app


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : list of str, optional
        Words after `planner`; those of the process where None.

    Returns
    -------
    int
        0 answered, 1 no feasible answer, 2 bad input or no convergence.
    """
    from planner.errors import PlannerError

    try:
        build()(args=arguments, prog_name="planner")
    except SystemExit as done:
        return int(done.code or 0)
    except PlannerError as error:
        print(f"planner: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has gone; there is nobody to tell
    return 0
