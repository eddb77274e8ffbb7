"""A published table as its CSV file holds it: cells by row and column, each with the digits that were printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.errors import InputError, ReportError
from planner.reports.printed import Printed


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """Cells of one published table.

    `path` is the file, `columns` its header, `rows` maps the first cell of each row to all its cells by column.
    """

    path: Path
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]

    def text(self, row: str, column: str) -> str:
        """A cell as printed.

        Parameters
        ----------
        row : str
            First cell of its row.
        column : str
            Heading of its column.

        Returns
        -------
        str
            The digits or words.

        Raises
        ------
        InputError
            There is no such row or column.
        """
        if row not in self.rows:
            raise InputError("row", row, f"one of {', '.join(self.rows)}")
        if column not in self.columns:
            raise InputError("column", column, f"one of {', '.join(self.columns)}")
        return self.rows[row][column]

    def printed(self, row: str, column: str, factor: float = 1.0) -> Printed:
        """A cell as a number with the resolution of its digits.

        Parameters
        ----------
        row : str
            First cell of its row.
        column : str
            Heading of its column.
        factor : float, optional
            SI units in one printed unit.

        Returns
        -------
        Printed
            Value and resolution in SI units.

        Raises
        ------
        InputError
            There is no such row or column.
        ReportError
            The cell holds no number.
        """
        text = self.text(row, column)
        try:
            return Printed.from_text(text, factor)
        except ValueError as error:
            raise ReportError(
                self.path, f"expected a number in row {row}, column {column}, found {text!r}"
            ) from error

    def value(self, row: str, column: str, factor: float = 1.0) -> float:
        """A cell as a plain number.

        Parameters
        ----------
        row : str
            First cell of its row.
        column : str
            Heading of its column.
        factor : float, optional
            SI units in one printed unit.

        Returns
        -------
        float
            The value in SI units.

        Raises
        ------
        InputError
            There is no such row or column.
        ReportError
            The cell holds no number.
        """
        return self.printed(row, column, factor).value


def read_table(path: Path) -> PublishedTable:
    """Read the CSV file of a published table.

    Parameters
    ----------
    path : Path
        A CSV file with a header; the first cell of each row names it.

    Returns
    -------
    PublishedTable
        Its cells.

    Raises
    ------
    ReportError
        The file cannot be read, has no header, or a row is unnamed, repeated, too short or too long.
    """
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
    except OSError as error:
        raise ReportError(path, f"cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReportError(path, f"expected a table in CSV: {error}") from error
    if not lines or not lines[0]:
        raise ReportError(path, "expected a header", line=1)
    columns = tuple(lines[0])
    rows: dict[str, dict[str, str]] = {}
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) != len(columns):
            raise ReportError(path, f"expected {len(columns)} cells, found {len(cells)}", line=number)
        if not cells[0] or cells[0] in rows:
            raise ReportError(path, f"expected a new name in the first cell, found {cells[0]!r}", line=number)
        rows[cells[0]] = dict(zip(columns, cells, strict=True))
    return PublishedTable(path=path, columns=columns, rows=rows)
