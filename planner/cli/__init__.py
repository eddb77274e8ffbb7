"""The command `planner`: one short file a command, imported when its turn comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


ORDER = (
    "aliases", "storage", "system", "processors", "paging", "disk", "calibrate", "predict", "whatif", "growth",
    "scoreboard", "figures", "explain", "read", "collect", "example",
)  # fmt: skip
INTERRUPTED = 130  # 128 and the number of the signal, as shells count
HELP = """Capacity planning for z/VM disk I/O and storage.

Start with a Performance Toolkit DEVICE listing: planner aliases pool LISTING

Without one, type the numbers of one volume, as below. Each command shows an example of its own: planner COMMAND --help

Example: planner aliases volume --rate 755/s --service 1.3ms --queue 1.84"""


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
        collect,
        disk,
        example,
        explain,
        figures,
        growth,
        paging,
        predict,
        processors,
        read,
        scoreboard,
        storage,
        system,
        whatif,
    )
    from planner.cli import options as options_of_all

    class InOrder(options_of_all.Once):
        """Lists commands by what people ask first, not by how they were added."""

        def list_commands(self, ctx: Any) -> list[str]:
            return sorted(super().list_commands(ctx), key=ORDER.index)

    app = typer.Typer(
        name="planner",
        cls=InOrder,
        no_args_is_help=True,
        context_settings=options_of_all.CONTEXT,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help=HELP,
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

    app.add_typer(aliases.app, name="aliases", short_help="Count the aliases that a volume or a pool needs.")
    app.add_typer(storage.app, name="storage")
    app.command(name="paging", help=paging.HELP)(paging.paging)
    app.add_typer(disk.app, name="disk", short_help="Compare disks, minidisk cache, channel programs.")
    app.command(name="processors", help=processors.HELP)(processors.processors)
    app.command(name="system", help=system.HELP)(system.system)
    app.command(name="calibrate", help=calibrate.HELP)(calibrate.calibrate)
    app.command(name="predict", help=predict.HELP)(predict.predict)
    app.command(name="whatif", help=whatif.HELP)(whatif.whatif)
    app.command(name="scoreboard", help=scoreboard.HELP)(scoreboard.scoreboard)
    app.command(name="read", help=read.HELP, short_help="Print measurements, or what an archive holds.")(
        read.read
    )
    app.command(name="collect", help=collect.HELP, short_help="Collect measurements in an archive.")(collect.collect)
    app.command(name="explain", help=explain.HELP)(explain.explain)
    app.command(name="figures", help=figures.HELP)(figures.figures)
    app.command(name="growth", help=growth.HELP, short_help="Find from when on a limit no longer holds.")(
        growth.growth
    )
    app.command(name="example", help=example.HELP, short_help="Make a seeded year of a site.")(
        example.example
    )
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
        0 answered, 1 no feasible answer, 2 bad input or no convergence, 130 interrupted.
    """
    from planner import files
    from planner.errors import PlannerError

    try:
        build()(args=arguments, prog_name="planner")
    except SystemExit as done:
        return int(done.code or 0)
    except PlannerError as error:
        files.complain(f"planner: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        files.complain("planner: interrupted")
        return INTERRUPTED
    except OSError:
        if files.heard():
            raise
        return PlannerError.exit_code  # the command line was refused, and nobody can be told why
    return 0
