"""The base of whatever shows itself as a table; without numpy, which storage arithmetic does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner import render

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
