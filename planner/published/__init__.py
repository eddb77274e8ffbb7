"""Published reports, one module each (cells, fits of its models, figures), and the scoreboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from planner import files, library, style
from planner.errors import InputError
from planner.published.board import Scoreboard, reports

__all__ = [
    "calibrate_all", "draw", "figures", "save_figures", "scoreboard", "write_left_out",
    "write_models",
]  # fmt: skip


def scoreboard(done: Callable[[int], None] | None = None) -> Scoreboard:
    """Compare every published figure with the planner.

    Parameters
    ----------
    done : callable, optional
        Receives the number of figures since the last call, about `board.FIGURES` in all.

    Returns
    -------
    Scoreboard
        All reports.

    Raises
    ------
    ReportError
        A shipped file is missing.
    """
    found = []
    for figure in (figure for report in reports() for figure in report.cells()):
        found.append(figure)
        if done is not None:
            done(1)
    return Scoreboard(figures=tuple(found))


def figures() -> dict[str, Callable[[], style.Axes]]:
    """Drawing function of each figure, by file name.

    Returns
    -------
    dict
        First the figures that the reports name but do not display.
    """
    found = reports()
    parts = *(report.figures for report in found), *(report.pictures for report in found)
    return {name: picture for each in parts for name, picture in each.items()}


def draw(name: str) -> style.Axes:
    """Draw one figure.

    Parameters
    ----------
    name : str
        One of `figures`.

    Returns
    -------
    matplotlib.axes.Axes
        The picture, labeled with units.

    Raises
    ------
    InputError
        No such figure.

    Examples
    --------
    >>> draw("scsipt").get_ylabel()
    'processor time [us]'
    """
    known = figures()
    InputError.unless_one_of("figure", name, known)
    return known[name]()


def save_figures(
    folder: Path | str, form: Literal["png", "svg"] = "png", *, force: bool = False
) -> Iterator[Path]:
    """Draw all figures into a folder, one after the other.

    Parameters
    ----------
    folder : Path or str
        The folder; it is made if missing.
    form : {"png", "svg"}, optional
        Kind of file.
    force : bool, optional
        Whether existing files may be written over.

    Yields
    ------
    Path
        Each file after it is written.

    Raises
    ------
    InputError
        The folder cannot be made or written to, or a file exists and `force` is not given.
    """
    made = files.make_folder(folder)
    paths = {name: made / f"{name}.{form}" for name in figures()}
    for path in paths.values():
        files.writable(path, force=force)
    for name, path in paths.items():
        files.save_axes(draw(name), path, force=force)
        yield path


def calibrate_all() -> dict[str, library.Model]:
    """Fit every shipped model again.

    Returns
    -------
    dict
        Model by name of its file in models/.

    Raises
    ------
    CalibrationError
        A fit did not converge.
    """
    return {name: model for report in reports() for name, model in report.models().items()}


def write_models(folder: Path | str) -> None:
    """Write every model file again.

    Parameters
    ----------
    folder : Path or str
        The folder, such as ``models``.
    """
    for name, model in calibrate_all().items():
        library.write_model(model, Path(folder) / f"{name}.toml", force=True)


def write_left_out(folder: Path | str) -> None:
    """Write the models that were fitted without some runs again.

    Parameters
    ----------
    folder : Path or str
        The folder, such as ``models/left-out``.
    """
    made = files.make_folder(folder)
    for report in reports():
        if fits := report.left_out():
            library.write_parameters(fits, made / f"{report.folder}.toml", force=True)
