"""Published tables as rows of own measurements, and the models that `planner.calibrate` makes of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner import library
from planner.calibrate.cost_law import CostFit
from planner.calibrate.model_error import MODEL_ERROR
from planner.calibrate.model_file import model_of_costs
from planner.calibrate.tables import Measurements
from planner.reports import Printed, PublishedTable, read_table


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


def run(
    name: str, of: PublishedTable, words: Mapping[str, str] | None = None, **numbers: Printed | None
) -> Measurements:
    """Tell a published run as a row of own measurements is told.

    Parameters
    ----------
    name : str
        The run.
    of : PublishedTable
        Where it stands.
    words : mapping, optional
        Words by heading.
    **numbers : Printed or None
        Numbers by heading, SI; None where not printed.

    Returns
    -------
    Measurements
        As `planner calibrate` reads them from a table.
    """
    known = {heading: number for heading, number in numbers.items() if number is not None}
    return Measurements(name=name, path=of.path, line=1, numbers=known, words=words or {})


def exactly(value: float) -> Printed:
    """Take a number that is known, not measured.

    Parameters
    ----------
    value : float
        SI.

    Returns
    -------
    Printed
        Without error.
    """
    return Printed(value, 0.0)


def quotient(over: Printed, under: Printed) -> Printed:
    """Divide printed numbers.

    Parameters
    ----------
    over, under : Printed
        Both above zero.

    Returns
    -------
    Printed
        Their ratio; its resolution stands for the standard deviations of both.
    """
    ratio = over.value / under.value
    return Printed(ratio, ratio * math.hypot(over.resolution / over.value, under.resolution / under.value))


def published_model(
    found: CostFit, *, title: str, tables: Sequence[PublishedTable], environment: Mapping[str, str],
    runs: Sequence[library.Run] | None = None, model_error: float | None = None,
    validity: Mapping[str, library.Interval] | None = None,
) -> library.Model:  # fmt: skip
    """Make a model of a fit, with what a publication says beside its tables.

    Parameters
    ----------
    found : CostFit
        The fit.
    title : str
        What was measured, in words.
    tables : sequence of PublishedTable
        Where.
    environment : mapping
        Machine, release, channel.
    runs : sequence of library.Run, optional
        Comparisons in the units of the report, instead of those of the fit.
    model_error : float, optional
        Error to expect of a prediction, where the report tells more than the fit.
    validity : mapping, optional
        Further ranges that were measured.

    Returns
    -------
    library.Model
        Ready to be written.
    """
    import msgspec

    model = model_of_costs(found, title=title, files=[table.path for table in tables])
    found_error, degrees = model.fit.model_error, model.fit.degrees_of_freedom
    fit = library.Fit(
        runs=model.fit.runs if runs is None else tuple(runs),
        model_error=found_error if model_error is None else library.rounded(model_error),
        degrees_of_freedom=degrees if model_error is None else None,
    )
    return msgspec.structs.replace(
        model, environment=dict(environment), fit=fit, validity={**model.validity, **(validity or {})}
    )


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
        measured=library.rounded(measured.value),
        predicted=library.rounded(predicted),
        sigma=library.rounded(measured.resolution / math.sqrt(3)),
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
    return library.rounded(max([MODEL_ERROR, *(abs(run.predicted / run.measured - 1) for run in runs)]))
