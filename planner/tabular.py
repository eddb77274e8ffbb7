"""The base of whatever shows itself as a table; without numpy, which storage arithmetic does not need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from planner import render
from planner.quantity import Quantity

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Tabular:
    """Whatever shows itself as a table: a data frame for pandas, HTML in Jupyter."""

    __slots__ = ()

    def table(self) -> render.Table:
        """Lay out what is shown.

        Returns
        -------
        render.Table
            Columns with units.

        Raises
        ------
        NotImplementedError
            A class does not say what it shows.
        """
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame with units in the column names.

        Returns
        -------
        pandas.DataFrame
            One row an element.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        return render.to_frame(self.table())

    def to_polars(self) -> pl.DataFrame:
        """Return the same as a polars data frame, which needs no extra.

        Returns
        -------
        polars.DataFrame
            One row an element.
        """
        return render.to_polars(self.table())

    def _repr_html_(self) -> str:
        return render.to_html(self.table())


def tabled(rows: Iterable[Any], columns: Iterable[Quantity], marks: Iterable[str] = ()) -> render.Table:
    """Lay out rows in the columns that are declared.

    Parameters
    ----------
    rows : iterable
        Objects, mappings, or tuples of as many values as there are columns.
    columns : iterable of Quantity
        What to take from each (`Quantity.in_row`).
    marks : iterable of str, optional
        State of each row, or "".

    Returns
    -------
    render.Table
        One row each.
    """
    found = list(rows)
    return render.Table(
        columns=tuple(
            render.Column(name=each.key, unit=each.unit, label=each.label, decimals=each.decimals,
                          values=[row[k] if each.of is None and type(row) is tuple else each.in_row(row)
                                  for row in found])
            for k, each in enumerate(columns)
        ),
        marks=tuple(marks),
    )  # fmt: skip
