"""Answers and pictures to files: never over an existing one without leave, and refused before any work is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES: Final = (".png", ".svg")


def save(text: str, path: Path, *, force: bool = False) -> None:
    """Write text to a file; an existing one only with `force`.

    Parameters
    ----------
    text : str
        What to write; a missing last line feed is added.
    path : Path
        Where.
    force : bool, optional
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        The file exists and `force` is not given, or its folder cannot be written to.
    """
    writable(path, force=force)
    try:
        path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError("output", str(path), f"a file that can be written ({error.strerror})") from error


def writable(path: Path, *, force: bool = False) -> None:
    """Refuse a path that exists (without `force`) or whose folder does not.

    Parameters
    ----------
    path : Path
        Where something is about to be written.
    force : bool, optional
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        The file exists and `force` is not given, it is a folder, or its folder does not exist.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError("output", str(path), "a file in a folder that exists")
    if path.exists() and not force:
        raise InputError("output", str(path), "a new file; --force writes over an existing one")


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is missing.

    Parameters
    ----------
    path : Path
        The folder.

    Raises
    ------
    InputError
        There is a file of that name on the way, or the folder cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("output", str(path), f"a folder that can be made ({error.strerror})") from error


def drawable(path: Path, *, force: bool = False) -> None:
    """Refuse a path that no picture can be written to.

    Parameters
    ----------
    path : Path
        Where a picture is about to be written.
    force : bool, optional
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        Another ending than .png or .svg, the file exists and `force` is not given, or its folder does not exist.
    """
    if path.suffix.lower() not in PICTURES:
        raise InputError("plot", str(path), f"a file name that ends in {' or '.join(PICTURES)}")
    writable(path, force=force)


def save_axes(axes: Axes, path: Path, *, force: bool = False) -> None:
    """Write a picture as PNG or SVG, by the ending of its name.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        What was drawn.
    path : Path
        Where, ending in .png or .svg.
    force : bool, optional
        Whether an existing file may be written over.

    Raises
    ------
    InputError
        Another ending, the file exists and `force` is not given, or it cannot be written.
    """
    drawable(path, force=force)
    figure = axes.get_figure(root=True)
    assert figure is not None
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError("plot", str(path), f"a file that can be written ({error.strerror})") from error
