"""CSV files of counters: columns by the names of their header, every cell checked, errors with line and column."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Never, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.results import Array
from planner.units import half_digit

Value = TypeVar("Value")
COUNTER_SIZE: Final = 2**32  # monitor counters have 32 bits
WANTED_NUMBER: Final = "expected a finite number, zero or above"
WANTED_TIME: Final = "expected a time such as 2007-05-27T15:01:00, or a number of seconds"


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The rows of a CSV file below its header.

    Attributes
    ----------
    path : Path
        The file.
    names : tuple of str
        Headings in upper case, without blanks around them.
    rows : list of list of str
        Cells; each row has as many as the header.
    lines : list of int
        Line in the file of each row.
    text : list of str
        The lines of the file.
    """

    path: Path
    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    text: list[str]

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
        index, line = self.names.index(name.upper()), self.lines[row]
        column = _cell_start(self.text[line - 1], index) + 1
        return ReportError(self.path, f"{name} {problem}", line=line, column=column)

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
        return self._read(name, lambda cell: cell if cell else _refuse(), "expected a name")

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
            value = int(cell) if cell.isascii() and cell.isdigit() else _refuse()
            return value if value <= most else _refuse()

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
        return np.array(self._read(name, _number, WANTED_NUMBER), dtype=np.float64)

    def known(self, name: str) -> list[tuple[float, float] | None]:
        """Read a column of numbers, zero or above, or nothing, with what their digits leave open.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        list of tuple of float or None
            Number and half a unit of its last digit; None for an empty cell.

        Raises
        ------
        ReportError
            A cell that is neither empty nor a finite number of zero or more.
        """
        return self._read(
            name, lambda cell: (_number(cell), half_digit(cell)) if cell else None, WANTED_NUMBER
        )

    def counts_or_none(self, name: str, most: int) -> list[int | None]:
        """Read a column of whole numbers, or nothing.

        Parameters
        ----------
        name : str
            Heading.
        most : int
            Largest number allowed.

        Returns
        -------
        list of int or None
            The numbers; None for an empty cell.

        Raises
        ------
        ReportError
            A cell that is neither empty nor a whole number from 0 to `most`.
        """

        def whole(cell: str) -> int | None:
            if not cell:
                return None
            value = _number(cell)
            return int(value) if value.is_integer() and value <= most else _refuse()

        return self._read(name, whole, f"expected a whole number from 0 to {most}")

    def texts(self, name: str) -> list[str]:
        """Read a column of words or nothing.

        Parameters
        ----------
        name : str
            Heading.

        Returns
        -------
        list of str
            Without blanks around them; empty for an empty cell.
        """
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
        start = _date(cells[0])
        known: dict[str, float] = {}
        for row, cell in enumerate(cells):
            if cell not in known:
                try:
                    known[cell] = _seconds(cell, start)
                except (ValueError, TypeError):
                    also = " like the first one" if row else ""
                    raise self.error(row, name, f"{cell!r}: {WANTED_TIME}{also}") from None
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
                    raise self.error(number, name, f"{cell!r}: {wanted}") from None
            values.append(known[cell])
        return values


def read_csv(path: Path | str, required: Sequence[str], what: str) -> CsvTable:
    """Read a CSV file with a header.

    Parameters
    ----------
    path : Path or str
        Text in UTF-8, cells separated by commas; empty lines are passed over.
    required : sequence of str
        Headings that must be there, whatever their case and order; others may be there too.
    what : str
        What the file should hold, for messages.

    Returns
    -------
    CsvTable
        The rows, at least one.

    Raises
    ------
    ReportError
        The file cannot be read or is empty, a heading is missing or doubled, or a row has another length.
    """
    path = Path(path)
    columns = f"expected {what} with the columns {', '.join(required)}"
    text = _lines(path)
    cells = [(number, row) for number, row in _parsed(path, text) if any(row)]
    if not cells:
        raise ReportError(path, f"an empty file: {columns}", line=1, column=1)
    (line, header), *body = cells
    names = tuple(name.upper() for name in header)
    missing = [name for name in required if name.upper() not in names]
    if missing:
        column = len(text[line - 1]) + 1
        raise ReportError(path, f"missing {', '.join(missing)}: {columns}", line=line, column=column)
    for index, name in enumerate(names):
        if name and name in names[:index]:
            column = _cell_start(text[line - 1], index) + 1
            raise ReportError(path, f"a second column {header[index]}", line=line, column=column)
    if not body:
        raise ReportError(
            path, f"no rows below the header: {columns}", line=line, column=len(text[line - 1]) + 1
        )
    for number, row in body:
        if len(row) != len(names):
            column = _cell_start(text[number - 1], min(len(names), len(row))) + 1
            problem = f"{len(row)} cells: expected {len(names)}, as many as the header has"
            raise ReportError(path, problem, line=number, column=column)
    return CsvTable(path, names, [row for _, row in body], [number for number, _ in body], text)


def _lines(path: Path) -> list[str]:
    """Lines of a text file without their ends."""
    try:
        return path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise ReportError(path, f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        done = error.object[: error.start]
        line, column = done.count(b"\n") + 1, error.start - done.rfind(b"\n")
        raise ReportError(path, "no text in UTF-8", line=line, column=column) from error


def _parsed(path: Path, text: list[str]) -> list[tuple[int, list[str]]]:
    """Cells of each line, without blanks around them; a cell may not run over a line end."""
    reader = csv.reader(text, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for before, row in enumerate(reader):
            if reader.line_num != before + 1:
                raise ReportError(path, "a quotation mark that is not closed", line=before + 1, column=1)
            rows.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        line = len(rows) + 1  # where the row that failed began
        raise ReportError(path, f"no CSV ({error})", line=line, column=1) from error
    return rows


def _cell_start(text: str, index: int) -> int:
    """Position in a line where a cell begins, blanks passed over; the end of the line where there is none."""
    position = 0
    while index and position < len(text):
        quoted = text[position] == '"'
        while position < len(text) and (quoted or text[position] != ","):
            position += 1
            if quoted and text[position : position + 1] == '"':
                quoted = False
        position, index = position + 1, index - 1
    while text[position : position + 1] == " ":
        position += 1
    return min(position, len(text))


def _date(cell: str) -> datetime | None:
    """A date with time, None for anything else; digits alone are seconds."""
    try:
        float(cell)
    except ValueError:
        try:
            return datetime.fromisoformat(cell)
        except ValueError:
            return None
    return None


def _seconds(cell: str, start: datetime | None) -> float:
    if start is None:
        value = float(cell)
        return value if math.isfinite(value) else _refuse()
    when = _date(cell)
    return (when - start).total_seconds() if when is not None else _refuse()


def _number(cell: str) -> float:
    value = float(cell) if "_" not in cell else _refuse()
    return value if math.isfinite(value) and value >= 0 else _refuse()


def _refuse() -> Never:
    raise ValueError
