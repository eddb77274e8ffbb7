"""A published table as its CSV file holds it: cells by row and column, each with the digits that were printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.errors import InputError, ReportError
from planner.reports.csv_table import read_cells, shown
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
        """A cell as printed."""
        if row not in self.rows:
            raise InputError("row", row, f"one of {', '.join(self.rows)}")
        if column not in self.columns:
            raise InputError("column", column, f"one of {', '.join(self.columns)}")
        return self.rows[row][column]

    def printed(self, row: str, column: str, factor: float = 1.0) -> Printed:
        """A cell as a number with the resolution of its digits."""
        text = self.text(row, column)
        try:
            return Printed.from_text(text, factor)
        except ValueError as error:
            raise ReportError(
                self.path, f"expected a number in row {row}, column {column}, found {text!r}"
            ) from error

    def value(self, row: str, column: str, factor: float = 1.0) -> float:
        """A cell as a plain number."""
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
        The file cannot be read, has no header or no rows, or a row is unnamed, repeated, too short or too long.
    """
    cells = read_cells(path, "a published table")
    rows: dict[str, dict[str, str]] = {}
    for line, row in zip(cells.lines, cells.rows, strict=True):
        if not row[0] or row[0] in rows:
            raise cells.error_at(line, 0, f"{shown(row[0])}: expected a new name in the first cell")
        rows[row[0]] = dict(zip(cells.header, row, strict=True))
    return PublishedTable(path=cells.path, columns=cells.header, rows=rows)
