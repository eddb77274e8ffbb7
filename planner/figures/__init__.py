"""The published figures that were not displayed, redrawn, and for each report its points beside the model's band."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from planner.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw", "save_figures"]

# File name -> module, function. The first five carry the names by which the reports call them.
FIGURES: Final = {
    "530stgf1": ("real_storage", "scaling_over_storage"),
    "scsiit": ("emulated_fba", "iozone_per_transaction"),
    "scsiiv": ("emulated_fba", "iozone_per_virtual_io"),
    "scsixt": ("emulated_fba", "xedit_per_transaction"),
    "scsipt": ("emulated_fba", "page_fault_cost"),
    "hyperpav-volume": ("hyperpav", "volume_over_aliases"),
    "hyperpav-pool": ("hyperpav", "pool_over_aliases"),
    "real-storage": ("real_storage", "rate_over_processors"),
    "emulated-fba": ("emulated_fba", "rates_over_hit_ratio"),
    "fast-ccw": ("fast_ccw", "cp_time_per_mb"),
    "xiv-concurrent-io": ("xiv", "rate_over_requests"),
}


def draw(name: str) -> Axes:
    """Draw one figure.

    Parameters
    ----------
    name : str
        One of `FIGURES`.

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
    if name not in FIGURES:
        raise InputError("figure", name, f"one of {', '.join(FIGURES)}")
    module, function = FIGURES[name]
    axes: Axes = getattr(import_module(f"{__name__}.{module}"), function)()
    return axes


def save_figures(folder: Path, form: Literal["png", "svg"] = "png", *, force: bool = False) -> Iterator[Path]:
    """Draw all figures into a folder, one after the other.

    Parameters
    ----------
    folder : Path
        Where; it is made where it is missing.
    form : {"png", "svg"}, optional
        Kind of file.
    force : bool, optional
        Whether existing files may be written over.

    Yields
    ------
    Path
        Each file when it is written.

    Raises
    ------
    InputError
        The folder cannot be made or written to, or a file exists and `force` is not given.
    """
    from planner import files

    files.make_folder(folder)
    paths = {name: folder / f"{name}.{form}" for name in FIGURES}
    for path in paths.values():
        files.writable(path, force=force)
    for name, path in paths.items():
        files.save_axes(draw(name), path, force=force)
        yield path
