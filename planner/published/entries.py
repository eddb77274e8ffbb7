"""What goes into a model file: rounded values, their status and error, the tables they come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from planner import library
from planner.reports import Printed, PublishedTable, read_table

MODEL_ERROR: Final = 0.02  # floor of the relative error of a law, where it is asked what it was not fitted to


def table(publication: str, name: str) -> PublishedTable:
    """Open a published table.

    Parameters
    ----------
    publication : str
        Folder below data/.
    name : str
        File in it, without ending.

    Returns
    -------
    PublishedTable
        Its cells.

    Raises
    ------
    ReportError
        There is no such file, or it is no table.
    """
    return read_table(library.data_path(publication, f"{name}.csv"))


def source(*tables: PublishedTable) -> tuple[library.Source, ...]:
    """Name the tables that a model was fitted to.

    Parameters
    ----------
    *tables : PublishedTable
        The tables.

    Returns
    -------
    tuple of library.Source
        One a table.
    """
    shelf = library.data_path()
    return tuple(
        library.Source(file=found.path.relative_to(shelf).as_posix(), sha256=library.sha256(found.path))
        for found in tables
    )


def rounded(value: float) -> float:
    """Six significant digits: what a fit can mean, and the same on every machine.

    Parameters
    ----------
    value : float
        Any number.

    Returns
    -------
    float
        The rounded number.
    """
    return float(f"{value:.6g}")


def relative_error(*numbers: Printed) -> float:
    """Standard error of a product or quotient of printed numbers, of its value.

    Parameters
    ----------
    *numbers : Printed
        Factors, each spread evenly over what prints like it.

    Returns
    -------
    float
        The relative standard error.
    """
    return math.hypot(*(number.resolution / number.value for number in numbers)) / math.sqrt(3)


def fitted(value: float, relative: float) -> library.Parameter:
    """Enter a fitted parameter.

    Parameters
    ----------
    value : float
        Estimate.
    relative : float
        Its standard error, of its value.

    Returns
    -------
    library.Parameter
        The entry.
    """
    return library.Parameter(
        value=rounded(value), standard_error=rounded(abs(value) * relative), status="fitted"
    )


def fixed(value: float) -> library.Parameter:
    """Enter a parameter that is known or assumed.

    Parameters
    ----------
    value : float
        Its value.

    Returns
    -------
    library.Parameter
        The entry.
    """
    return library.Parameter(value=rounded(value), status="fixed")


def compared(name: str, quantity: str, measured: Printed, predicted: float) -> library.Run:
    """Enter a measured number beside what the model says.

    Parameters
    ----------
    name : str
        The run.
    quantity : str
        What was measured, with its unit as a suffix.
    measured : Printed
        As published.
    predicted : float
        By the model, in the same unit.

    Returns
    -------
    library.Run
        The entry; sigma is that of the printed digits.
    """
    return library.Run(
        name=name,
        quantity=quantity,
        measured=rounded(measured.value),
        predicted=rounded(predicted),
        sigma=rounded(measured.resolution / math.sqrt(3)),
    )


def misfit(runs: Sequence[library.Run]) -> float:
    """Largest relative difference between measured and predicted, and not below the floor of the law's error.

    Parameters
    ----------
    runs : sequence of library.Run
        The comparisons.

    Returns
    -------
    float
        Relative error, of the measured value.
    """
    return rounded(max(MODEL_ERROR, *(abs(run.predicted / run.measured - 1) for run in runs)))
