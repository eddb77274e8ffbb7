"""A CSV file as cells: the one opener of such files; what is no table is refused with line and column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.errors import ReportError
from planner.render.text import counted

SEPARATORS: Final = {";": "semicolons", "\t": "tabs"}  # of what spreadsheets call CSV, too
LONGEST: Final = 40  # characters of a cell that a message repeats


@dataclass(frozen=True, slots=True)
class CsvCells:
    """The cells of a CSV file, without blanks around them.

    Attributes
    ----------
    path : Path
        The file.
    header : tuple of str
        Headings as they stand there; one may be empty.
    header_line : int
        Line in the file of the header.
    rows : list of list of str
        Cells below it; each row has as many as the header.
    lines : list of int
        Line in the file of each row.
    text : list of str
        The lines of the file.
    """

    path: Path
    header: tuple[str, ...]
    header_line: int
    rows: list[list[str]]
    lines: list[int]
    text: list[str]

    def column_at(self, line: int, index: int) -> int:
        """Find where a cell begins.

        Parameters
        ----------
        line : int
            Line in the file.
        index : int
            Which cell of it, counted from 0; one behind the last is the end of the line.

        Returns
        -------
        int
            Character in the line, counted from 1.
        """
        return _cell_start(self.text[line - 1], index) + 1

    def error_at(self, line: int, index: int, problem: str) -> ReportError:
        """Make the error of a place.

        Parameters
        ----------
        line : int
            Line in the file.
        index : int
            Which cell of it, counted from 0; one behind the last is the end of the line.
        problem : str
            What is wrong and what was expected.

        Returns
        -------
        ReportError
            With line and column.
        """
        return ReportError(self.path, problem, line=line, column=self.column_at(line, index))


def shown(cell: str) -> str:
    """Quote a cell in a message.

    Parameters
    ----------
    cell : str
        What stands there.

    Returns
    -------
    str
        In quotation marks; a long one by its beginning.

    Examples
    --------
    >>> shown("fast"), shown("9" * 50)
    ("'fast'", "'9999999999999999999999999999999999999999...'")
    """
    return repr(cell if len(cell) <= LONGEST else cell[:LONGEST] + "...")


def read_cells(path: Path | str, expected: str, required: Sequence[str] = ()) -> CsvCells:
    """Open a CSV file: text in UTF-8, cells separated by commas, a header and at least one row.

    A byte order mark is passed over, and so are lines of nothing but blanks and commas. A cell in quotation marks may
    hold commas; it may not run over the end of its line.

    Parameters
    ----------
    path : Path or str
        The file.
    expected : str
        What it should hold, for messages.
    required : sequence of str, optional
        Headings that must be there, in whatever case.

    Returns
    -------
    CsvCells
        Header and rows.

    Raises
    ------
    ReportError
        The file cannot be read or is empty, has other separators than commas, no row, a heading missing or (in whatever
        case) twice, or a row of another length.
    """
    path = Path(path)
    text = _lines(path, expected)
    found = [(line, cells) for line, cells in _parsed(path, text) if any(cells)]
    if not found:
        raise ReportError(path, f"an empty file: expected {expected}", line=1, column=1)
    (first, header), *body = found
    cells = CsvCells(path, tuple(header), first, [row for _, row in body], [line for line, _ in body], text)
    _check_header(cells, expected, required)
    if not body:
        raise cells.error_at(first, len(header), f"no rows below the header: expected {expected}")
    for line, row in body:
        if len(row) != len(header):
            problem = f"{counted(len(row), 'cell')}: expected {len(header)}, as many as the header has"
            raise cells.error_at(line, min(len(header), len(row)), problem)
    return cells


def _lines(path: Path, expected: str) -> list[str]:
    """Lines of a text file without their ends."""
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ReportError(path, f"cannot be read ({error.strerror}): expected {expected}") from error
    except UnicodeDecodeError as error:
        done = error.object[: error.start]
        line, column = done.count(b"\n") + 1, error.start - done.rfind(b"\n")
        problem = f"no text in UTF-8: expected {expected}, saved as CSV in UTF-8"
        raise ReportError(path, problem, line=line, column=column) from error
    # Not splitlines(): it also breaks lines where no editor does, and every number of a line after it would be wrong.
    return content.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parsed(path: Path, text: list[str]) -> list[tuple[int, list[str]]]:
    """Cells of each line; a cell may not run over a line end."""
    reader = csv.reader(text, strict=True)
    rows: list[tuple[int, list[str]]] = []
    open_quote = "a quotation mark that is not closed in its line: expected a second one"
    try:
        for before, row in enumerate(reader):
            if reader.line_num != before + 1:
                raise ReportError(path, open_quote, line=before + 1, column=1)
            rows.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        line = len(rows) + 1  # where the row that failed began
        inside = reader.line_num != line or "end of data" in str(error)
        problem = open_quote if inside else f"no CSV ({error})"
        raise ReportError(path, problem, line=line, column=1) from error
    return rows


def _check_header(cells: CsvCells, expected: str, required: Sequence[str]) -> None:
    """Missing headings before doubled ones: a file without header has numbers in its place, and some may be equal."""
    line, header = cells.header_line, cells.header
    if len(header) == 1:
        for mark, name in SEPARATORS.items():
            if mark in header[0]:
                problem = f"cells separated by {name}: expected commas between cells and points in numbers"
                column = cells.text[line - 1].index(mark) + 1
                raise ReportError(cells.path, problem, line=line, column=column)
    names = [name.upper() for name in header]
    missing = [name for name in required if name.upper() not in names]
    if missing:
        raise cells.error_at(line, len(header), f"missing {', '.join(missing)}: expected {expected}")
    for index, name in enumerate(names):
        if name and name in names[:index]:
            raise cells.error_at(line, index, f"a second column {header[index]}: expected each column once")


def _cell_start(text: str, index: int) -> int:
    """Position in a line where a cell begins, blanks passed over; the end of the line where there is none."""
    position = 0
    while index and position < len(text):
        quoted, inside = text[position] == '"', False
        while position < len(text) and (inside or text[position] != ","):
            inside ^= quoted and text[position] == '"'
            position += 1
        position, index = position + 1, index - 1
    while text[position : position + 1] == " ":
        position += 1
    return min(position, len(text))
