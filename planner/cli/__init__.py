"""The command `planner`: its commands, grouped in files by subject, each imported when it runs."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    import typer


# Most frequent questions first: the module with a typer app or function of that name (its docstring is the help), and a
# short line for the list of commands if the help begins with a long one.
COMMANDS: Final = {
    "aliases": ("aliases", "Count the aliases that a volume or a pool needs."),
    "storage": ("systems", "Find the storage limit that is met first."),
    "system": ("systems", "Answer for a whole system from one file."),
    "processors": ("hardware", ""),
    "paging": ("hardware", "Count paging devices for a page rate."),
    "disk": ("hardware", "Compare disks, minidisk cache, channel programs."),
    "calibrate": ("models", ""),
    "predict": ("models", ""),
    "whatif": ("models", ""),
    "site": ("sites", "Find what every pool needs over its days."),
    "growth": ("sites", "Find the day on which a limit is reached."),
    "report": ("sites", "Write one HTML page with every answer."),
    "scoreboard": ("models", ""),
    "figures": ("models", ""),
    "explain": ("models", ""),
    "read": ("data", "Print measurements, or what an archive holds."),
    "collect": ("data", "Collect measurements in an archive."),
    "example": ("data", "Make a seeded year of a site."),
}
ORDER: Final = tuple(COMMANDS)
SIGNALED = 128  # plus the number of the signal, as in shells
# Signals that end a process; Python raises an exception for SIGINT only.
ENDING: Final = ("SIGTERM", "SIGHUP")
HELP = """Capacity planning for z/VM disk I/O and storage.

Start with a Performance Toolkit DEVICE listing: planner aliases pool LISTING

Without a listing, type the numbers of one volume, as below. Each command shows an example: planner COMMAND --help

Example: planner aliases volume --rate 755/s --service 1.3ms --queue 1.84"""


def build(words: list[str] | None = None) -> typer.Typer:
    """Assemble the command line."""
    import typer

    from planner import __version__
    from planner.cli import options as options_of_all

    class InOrder(options_of_all.Once):
        """Lists commands in the order of `COMMANDS`, not of their definition."""

        asked_of_files = ("aliases pool", "aliases volume", "report", "read")

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
        """Declare the options of all commands."""

    wanted = words[:1] if words and words[0] in COMMANDS else COMMANDS
    for name in wanted:
        module, short = COMMANDS[name]
        command = getattr(import_module(f"{__name__}.{module}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=short or None)
        else:
            app.command(name=name, short_help=short or None)(command)
    return app


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    try:
        with _unwinding():
            return _run(arguments)
    except KeyboardInterrupt:  # may come during an import, so only `signal` and `sys` are used
        return _interrupted(signal.SIGINT)


def _interrupted(number: int) -> int:
    """Print that the command was interrupted; return the exit code for the signal."""
    with suppress(AttributeError, OSError, ValueError):
        print("planner: interrupted", file=sys.stderr, flush=True)
    return SIGNALED + number


@contextmanager
def _unwinding() -> Iterator[None]:
    """End on a signal as on an error, without half-written files or child processes; ignored ones (nohup) stay so."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(_interrupted(number))

    wanted = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    changed = []
    with suppress(ValueError):  # not the main thread
        for each in wanted:
            if signal.getsignal(each) is signal.SIG_DFL:
                signal.signal(each, end)
                changed.append(each)
    try:
        yield
    finally:
        for each in changed:
            signal.signal(each, signal.SIG_DFL)


def _run(arguments: list[str] | None) -> int:
    """Run one command and return its exit code."""
    from planner import files
    from planner.cli import printing
    from planner.errors import PlannerError

    try:
        words = sys.argv[1:] if arguments is None else arguments
        printing.WORDS.set(words)
        build(words)(args=arguments, prog_name="planner")
    except SystemExit as done:
        interrupted = done.code == SIGNALED + signal.SIGINT  # of which typer says nothing
        return _interrupted(signal.SIGINT) if interrupted else int(done.code or 0)
    except PlannerError as error:
        files.complain(f"planner: {error}")
        return error.exit_code
    except OSError:
        if files.can_write_errors():
            raise
        return PlannerError.exit_code  # the command line was refused, and the reason cannot be printed
    return 0
