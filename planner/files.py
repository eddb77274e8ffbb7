"""Write answers and pictures to files and standard output: completely or not at all; overwrite only with `force`."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.errors import InputError, ReportError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES: Final = (".png", ".svg", ".pdf")


def save(text: str, path: Path, *, force: bool = False) -> None:
    """Write text to a file; an existing one only with `force`."""
    writable(path, force=force)
    try:
        data = (text if text.endswith("\n") else text + "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise InputError("output", wrong, "text in UTF-8; a name or title has bytes that are not") from None
    with replacing(path, "output") as beside:
        beside.write_bytes(data)


@contextmanager
def replacing(path: Path, argument: str) -> Iterator[Path]:
    """Write a temporary file next to the file (or a link's target), then move it into place; write a pipe directly."""
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            yield target
            return
        beside = target.with_name(f".planner-{secrets.token_hex(8)}{target.suffix}")
        beside.touch(exist_ok=False)
        try:
            if target.exists():  # its permissions stay
                shutil.copymode(target, beside)
            yield beside
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(argument, str(path), f"a file that can be written ({error.strerror})") from error


def named_in_text(path: Path) -> Path:
    """A path whose name is text; refused where it has bytes that are not, since tables and archives hold names."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        problem = (
            "its name has bytes that are no text in UTF-8: expected another name, or a file as `- < FILE`"
        )
        raise ReportError(path, problem) from None
    return path


def say(text: str) -> None:
    """Write to standard output, all of it."""
    if sys.stdout is None:
        raise InputError("output", "standard output", "a place that can be written (it is closed)")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence("stdout")
        raise SystemExit(0) from None
    except OSError as error:
        silence("stdout")
        wanted = f"a place that can be written ({error.strerror})"
        raise InputError("output", "standard output", wanted) from error


def complain(text: str) -> None:
    """Write a paragraph to standard error, wrapped to its width; a failure to write is ignored."""
    if sys.stderr is None:
        return
    import textwrap

    from planner.render import WIDTH, safe

    width = WIDTH
    if sys.stderr.isatty() or "COLUMNS" in os.environ:
        width = max(shutil.get_terminal_size((width, 24)).columns, width // 2)
    lines = textwrap.wrap(safe.line(text), width, subsequent_indent="  ", break_long_words=False,
                          break_on_hyphens=False)  # fmt: skip
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        said = "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)
        print(said, file=sys.stderr, flush=True)
    except OSError:
        silence("stderr")


def can_write_errors() -> bool:
    """Write a blank line to standard error and return whether that worked."""
    try:
        os.write(2, b"\n")
    except OSError:
        silence("stderr")
        return False
    return True


def silence(stream: str) -> None:
    """Discard what a stream still holds, so that closing it at exit does not fail again."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 # a device, not a path of the user
        try:
            os.dup2(nowhere.fileno(), getattr(sys, stream).fileno())
        except (OSError, AttributeError, ValueError):
            setattr(sys, stream, None)


def writable(path: Path, argument: str = "output", *, force: bool = False) -> None:
    """Refuse a path that exists (without `force`) or whose folder does not."""
    try:
        if str(path) == "-":
            raise InputError(argument, "-", "a file; standard output has the answer")
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(argument, str(path), "a file in a folder that exists")
        if path.is_symlink() and not path.exists():
            raise InputError(argument, str(path), "a file; this link leads nowhere")
        if path.exists() and not force:
            raise InputError(argument, str(path), "a new file; `force` writes over an existing one")
        path.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(argument, str(path), f"a file that can be written ({reason})") from error


def make_folder(path: Path | str) -> Path:
    """Make a folder, and its parents, where missing."""
    if str(path) == "-":
        raise InputError("output", "-", "a folder")
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("output", str(path), f"a folder that can be made ({error.strerror})") from error
    return folder


def drawable(path: Path, *, force: bool = False) -> None:
    """Refuse a path to which no picture can be written."""
    if path.suffix.lower() not in PICTURES:
        raise InputError("plot", str(path), f"a file name that ends in {' or '.join(PICTURES)}")
    writable(path, "plot", force=force)


def save_axes(axes: Axes, path: Path, *, force: bool = False) -> None:
    """Write a picture as PNG, SVG (its text as text) or PDF, depending on the suffix."""
    from planner.style import title_of

    drawable(path, force=force)
    kind = path.suffix.lower().removeprefix(".")
    with replacing(path, "plot") as beside:
        if kind == "svg":
            beside.write_text(svg(axes), encoding="utf-8")
            return
        about: Any = {"metadata": {"Title": title_of(axes)}} if kind == "pdf" else {}
        with _as_text(axes):
            axes.get_figure(root=True).savefig(beside, dpi=150, format=kind, **about)  # type: ignore[union-attr]


def svg(axes: Axes) -> str:
    """Write a picture as SVG: text as text, a title, light and dark colors; equal pictures give equal bytes."""
    from planner.style import themed, title_of

    target = io.StringIO()
    about: Any = {"Title": title_of(axes), "Date": None}
    with _as_text(axes), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the viewer has its own fonts
        axes.get_figure(root=True).savefig(target, format="svg", metadata=about)  # type: ignore[union-attr]
    return themed(target.getvalue())


@contextmanager
def _as_text(axes: Axes) -> Iterator[None]:
    """Keep text as text, without mathematical notation: a dollar sign in a name stays one."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for text in axes.get_figure(root=True).findobj(Text):  # type: ignore[union-attr]
        text.set_parse_math(False)
    plain: Any = {
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "planner",
        "pdf.fonttype": 42,
    }
    with rc_context(plain):
        yield
