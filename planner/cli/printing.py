"""The output of answers: text, JSON, CSV, pictures and pages, and the progress of long work."""

from __future__ import annotations

import functools
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from planner import files, render
from planner.answer import Answer, Tabular
from planner.cli.options import Form, is_file, sources

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS: ContextVar[Sequence[str]] = ContextVar("words")  # of the command line, for pages that show it
PATIENCE: Final = 1.0  # seconds before a progress bar shows


@contextmanager
def progress(what: str, total: int = 0, *, of_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal after the first second; parts of parallel work (`planner.parallel`) are added.

    `total` is 0 if the number of parts is unknown.
    """
    if not sys.stderr.isatty():
        yield lambda parts: None
        return
    from rich.console import Console
    from rich.progress import Progress, TransferSpeedColumn

    from planner.parallel import watched

    columns = [*Progress.get_default_columns(), *([TransferSpeedColumn()] if of_bytes else [])]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total or None)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()

    def done(parts: int) -> None:
        bar.advance(task, parts)

    def more(parts: int) -> None:
        bar.update(task, total=(bar.tasks[0].total or 0) + parts)

    try:
        with watched(more, done):
            yield done
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def said() -> str:
    """The command line, quoted for a shell."""
    return shlex.join(["planner", *WORDS.get()])


def width() -> int:
    """Columns for output: those of the terminal, 80 without one."""
    import shutil

    if sys.stdout is None or not sys.stdout.isatty():
        return render.WIDTH
    return min(max(shutil.get_terminal_size((render.WIDTH, 24)).columns, 60), 200)


def colored() -> bool:
    """Whether standard output is a terminal with color, and color is wanted (no NO_COLOR)."""
    import os

    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return wanted and sys.stdout is not None and sys.stdout.isatty()


def show(answer: Answer | Tabular, form: Form) -> None:
    """Draw an answer if wanted, print it or write it to a file, and exit with its code."""
    found: Any = answer
    draw(found.plot, form)
    if form.report is not None:
        from planner.page import of_answer

        page = of_answer(found, command=said(), sources=sources())
        files.save(page.html, form.report, force=form.force)
    on_screen = isinstance(answer, Answer) and form.output is None
    text = functools.partial(found.text, width(), color=colored()) if on_screen else found.text
    emit(text, found.to_dict, found.table, form)
    if code := getattr(answer, "exit_code", 0):
        raise typer.Exit(code)


def draw(plot: Callable[[], Axes], form: Form) -> None:
    """Draw to the file of ``--plot``, if given."""
    if form.plot is not None:
        files.save_axes(plot(), form.plot, force=form.force)


def emit(
    text: Callable[[], str], data: Callable[[], Any], table: Callable[[], render.Table], form: Form
) -> None:
    """Print an answer, or write it to a file; only the wanted format is rendered."""
    answer = render.to_json(data()) if form.json else render.to_csv(table()) if form.csv else text()
    put(answer, form.output, force=form.force)


def put(text: str, output: Path | None, *, force: bool) -> None:
    """Print a text, or write it to a file."""
    if is_file(output):
        files.save(text, output, force=force)
    else:
        files.say(text.rstrip("\n"))
