"""Tables of measurements in CSV: columns by the names of their header, every cell checked, errors with their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports.csv_cells import CsvCells, read_cells, shown
from planner.reports.csv_numbers import WANTED_TIME, ZERO_OR_ABOVE, Allowed, date, refuse, seconds
from planner.results import Array
from planner.units import half_digit

Value = TypeVar("Value")
COUNTER_SIZE: Final = 2**32  # monitor counters have 32 bits


@dataclass(frozen=True, slots=True)
class CsvTable(CsvCells):
    """The rows of a CSV file below its header, by column; whatever the case of the headings."""

    @property
    def names(self) -> tuple[str, ...]:
        """Headings in upper case."""
        return tuple(name.upper() for name in self.header)

    def has(self, name: str) -> bool:
        """Whether there is such a column.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        bool
            True where there is.
        """
        return name.upper() in self.names

    def require(self, names: Sequence[str], what: str) -> None:
        """Refuse a table without these columns.

        Parameters
        ----------
        names : sequence of str
            Their headings.
        what : str
            What the file should hold, for messages.

        Raises
        ------
        ReportError
            One is missing.
        """
        missing = [name for name in names if not self.has(name)]
        if missing:
            raise self.missing(", ".join(missing), what)

    def missing(self, names: str, what: str) -> ReportError:
        """Make the error of a column that is not there.

        Parameters
        ----------
        names : str
            What is missing.
        what : str
            What the file should hold.

        Returns
        -------
        ReportError
            At the end of the header.
        """
        return self.error_at(self.header_line, len(self.header), f"missing {names}: expected {what}")

    def refuse_others(self, known: Sequence[str]) -> None:
        """Refuse a column that means nothing; one without heading and cells is what trailing commas leave.

        Parameters
        ----------
        known : sequence of str
            All headings that there may be.

        Raises
        ------
        ReportError
            Another heading, or a cell below none.
        """
        names = {name.upper() for name in known}
        for index, (name, heading) in enumerate(zip(self.names, self.header, strict=True)):
            if name and name not in names:
                problem = f"unknown column {heading!r}: known are {', '.join(known)}"
                raise self.error_at(self.header_line, index, problem)
            full = next((line for line, row in zip(self.lines, self.rows, strict=True) if row[index]), None)
            if not name and full is not None:
                problem = f"a cell in a column without a heading: known are {', '.join(known)}"
                raise self.error_at(full, index, problem)

    def error(self, row: int, name: str, problem: str) -> ReportError:
        """Make the error of one cell.

        Parameters
        ----------
        row : int
            Row, counted from 0 below the header.
        name : str
            Heading.
        problem : str
            What is wrong and what was expected.

        Returns
        -------
        ReportError
            With line and column of the cell.
        """
        return ReportError(
            self.path, f"{name} {problem}", line=self.lines[row], column=self.column(row, name)
        )

    def column(self, row: int, name: str) -> int:
        """Find where a cell begins.

        Parameters
        ----------
        row : int
            Row, counted from 0 below the header.
        name : str
            Heading.

        Returns
        -------
        int
            Character in its line, counted from 1.
        """
        return self.column_at(self.lines[row], self.names.index(name.upper()))

    def words(self, name: str) -> list[str]:
        """Read a column of words.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        list of str
            Without blanks around them.

        Raises
        ------
        ReportError
            An empty cell.
        """
        return self._read(name, lambda cell: cell if cell else refuse(), "expected a name")

    def counts(self, name: str, most: int = COUNTER_SIZE - 1) -> NDArray[np.int64]:
        """Read a column of whole numbers.

        Parameters
        ----------
        name : str
            Heading.
        most : int, optional
            Largest number allowed.

        Returns
        -------
        ndarray of int
            The numbers.

        Raises
        ------
        ReportError
            A cell that is no whole number from 0 to `most`.
        """

        def whole(cell: str) -> int:
            value = int(cell) if cell.isascii() and cell.isdigit() else refuse()
            return value if value <= most else refuse()

        return np.array(self._read(name, whole, f"expected a whole number from 0 to {most}"), dtype=np.int64)

    def numbers(self, name: str) -> Array:
        """Read a column of numbers, zero or above.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        ndarray
            The numbers.

        Raises
        ------
        ReportError
            A cell that is no finite number of zero or more.
        """
        cells = self._read(name, ZERO_OR_ABOVE.read, ZERO_OR_ABOVE.expected(name))
        return np.array(cells, dtype=np.float64)

    def known(self, name: str, allowed: Allowed = ZERO_OR_ABOVE) -> list[tuple[float, float] | None]:
        """Read a column of numbers, or nothing, with what their digits leave open.

        Parameters
        ----------
        name : str
            Heading.
        allowed : Allowed, optional
            Which numbers; zero or above where not given.

        Returns
        -------
        list of tuple of float or None
            Number and half a unit of its last digit, in the unit of the column; None for an empty cell, or where there
            is no such column.

        Raises
        ------
        ReportError
            A cell that is neither empty nor such a number.
        """
        if not self.has(name):
            return [None] * len(self.rows)
        return self._read(
            name,
            lambda cell: (allowed.read(cell), half_digit(cell)) if cell else None,
            allowed.expected(name),
        )

    def counts_or_none(self, name: str, most: float, *, zero: bool = True) -> list[int | None]:
        """Read a column of whole numbers, or nothing.

        Parameters
        ----------
        name : str
            Heading.
        most : float
            Largest number allowed.
        zero : bool, optional
            Whether 0 is allowed.

        Returns
        -------
        list of int or None
            The numbers; None for an empty cell, or where there is no such column.

        Raises
        ------
        ReportError
            A cell that is neither empty nor such a number.
        """
        found = self.known(name, Allowed(whole=True, zero=zero, most=most))
        return [None if each is None else int(each[0]) for each in found]

    def texts(self, name: str) -> list[str]:
        """Read a column of words or nothing.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        list of str
            Without blanks around them; empty for an empty cell, or where there is no such column.
        """
        if not self.has(name):
            return [""] * len(self.rows)
        index = self.names.index(name.upper())
        return [row[index] for row in self.rows]

    def times(self, name: str) -> tuple[Array, datetime | None]:
        """Read a column of times.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        times : ndarray
            Seconds since the first row, or the numbers themselves where the column holds seconds [s].
        start : datetime or None
            What the seconds count from; None where the column holds seconds.

        Raises
        ------
        ReportError
            A cell that is no time, or of another kind than the first one.
        """
        cells = [row[self.names.index(name.upper())] for row in self.rows]
        start = date(cells[0])
        known: dict[str, float] = {}
        for row, cell in enumerate(cells):
            if cell not in known:
                try:
                    known[cell] = seconds(cell, start)
                except (ValueError, TypeError):
                    also = " like the first one" if row else ""
                    raise self.error(row, name, f"{shown(cell)}: {WANTED_TIME}{also}") from None
        return np.array([known[cell] for cell in cells]), start

    def _read(self, name: str, convert: Callable[[str], Value], wanted: str) -> list[Value]:
        """Convert every cell of a column; the first that does not convert is the error."""
        index = self.names.index(name.upper())
        known: dict[str, Value] = {}
        values = []
        for number, row in enumerate(self.rows):
            cell = row[index]
            if cell not in known:
                try:
                    known[cell] = convert(cell)
                except ValueError:
                    raise self.error(number, name, f"{shown(cell)}: {wanted}") from None
            values.append(known[cell])
        return values


def read_csv(
    path: Path | str, required: Sequence[str], what: str, *, known: Sequence[str] | None = None
) -> CsvTable:
    """Read a table in CSV.

    Parameters
    ----------
    path : Path or str
        Text in UTF-8, cells separated by commas; empty lines are passed over.
    required : sequence of str
        Headings that must be there, whatever their case and order.
    what : str
        What the file should hold, for messages.
    known : sequence of str, optional
        All headings that there may be; others are passed over where None.

    Returns
    -------
    CsvTable
        The rows, at least one.

    Raises
    ------
    ReportError
        The file is no such table, a heading is missing, doubled or not among the known ones, or a row has another
        length.
    """
    columns = f"{what} with the columns {', '.join(required)}" if required else what
    cells = read_cells(path, columns, required)
    table = CsvTable(cells.path, cells.header, cells.header_line, cells.rows, cells.lines, cells.text)
    if known is not None:
        table.refuse_others(known)
    return table
