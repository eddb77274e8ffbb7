"""Tables for programs: CSV, JSON, and data frames of pandas and polars."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from planner.errors import MissingExtraError
from planner.render import safe
from planner.render.table import Table, plain

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def to_csv(table: Table) -> str:
    """Render a table as CSV with unit suffixes in the header; infinite is ``inf``, not available is empty.

    A text that a spreadsheet would take for a formula has an apostrophe before it.

    Parameters
    ----------
    table : Table
        What to write.

    Returns
    -------
    str
        CSV text.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in zip(*(column.values for column in table.columns), strict=True):
        writer.writerow(["" if value is None else safe.csv_cell(plain(value, finite=False)) for value in row])
    return buffer.getvalue()


def to_json(value: Any) -> str:
    """Render nested dictionaries and lists as JSON; infinite and undefined numbers become null.

    Parameters
    ----------
    value : object
        Dictionaries, lists, tuples, arrays, numbers, text, None.

    Returns
    -------
    str
        JSON text with an indent of two.
    """
    return safe.json(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def to_frame(table: Table) -> pd.DataFrame:
    """Turn a table into a pandas data frame, units in the column names.

    Parameters
    ----------
    table : Table
        What to convert.

    Returns
    -------
    pandas.DataFrame
        One row a row, columns named ``name [unit]``.

    Raises
    ------
    MissingExtraError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "notebook") from error
    return pd.DataFrame(_named(table))


def to_polars(table: Table) -> pl.DataFrame:
    """Turn a table into a polars data frame, units in the column names.

    Parameters
    ----------
    table : Table
        What to convert.

    Returns
    -------
    polars.DataFrame
        One row a row, columns named ``name [unit]``.
    """
    import polars as pl

    return pl.DataFrame([pl.Series(name, values, strict=False) for name, values in _named(table).items()])


def _named(table: Table) -> dict[str, list[Any]]:
    names = [f"{c.name} [{c.unit}]" if c.unit not in {"", "share"} else c.name for c in table.columns]
    return {name: list(c.values) for name, c in zip(names, table.columns, strict=True)}
