"""Measurements in CSV: each kind of device documents its headings, and one reader checks every cell."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.errors import ReportError
from planner.reports import Printed

Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One column of a table of measurements.

    Attributes
    ----------
    name : str
        As the header has it, the unit as a suffix.
    meaning : str
        What stands there.
    factor : float
        SI units in one.
    needed : bool
        Whether the column, and a number in each of its cells, must be there.
    whole, zero : bool
        Whether only whole numbers are allowed, and whether 0 is.
    most : float
        Largest number.
    words : tuple of str
        What a cell may say, where it holds no number.
    """

    name: str
    meaning: str
    factor: float = 1.0
    needed: bool = False
    whole: bool = False
    zero: bool = False
    most: float = math.inf
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """One row of a table: a run.

    Attributes
    ----------
    name : str
        Names the run in a report.
    path : Path
        The file.
    line : int
        Its line in it.
    numbers : mapping
        Printed numbers, SI, by heading; nothing where the cell is empty.
    words : mapping
        Words by heading.
    """

    name: str
    path: Path
    line: int
    numbers: Mapping[str, Printed]
    words: Mapping[str, str]

    def value(self, heading: str, default: float = 0.0) -> float:
        """Take a number.

        Parameters
        ----------
        heading : str
            Name of its column.
        default : float, optional
            Where the cell is empty.

        Returns
        -------
        float
            SI.
        """
        found = self.numbers.get(heading)
        return default if found is None else found.value

    def error(self, problem: str) -> ReportError:
        """Make an error of this row.

        Parameters
        ----------
        problem : str
            What is wrong and what was expected.

        Returns
        -------
        ReportError
            With file and line.
        """
        return ReportError(self.path, problem, line=self.line)


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, Row]]]:
    """Read header and rows of a CSV file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    tuple
        Headings; line and cells by heading of each row.

    Raises
    ------
    ReportError
        The file cannot be read, has no row, repeats a heading, or a row is too short or too long.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReportError(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(path, "expected a table in CSV, found bytes that are no text") from error
    lines = [(n, cells) for n, cells in enumerate(csv.reader(io.StringIO(content)), start=1) if cells]
    if len(lines) < 2:  # noqa: PLR2004 - a header and a row
        raise ReportError(path, "expected a header and at least one row", line=1)
    header = [name.strip() for name in lines[0][1]]
    if len(set(header)) < len(header):
        raise ReportError(path, "expected each column once", line=1)
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise ReportError(path, f"expected {len(header)} cells, found {len(cells)}", line=number)
    return header, [(n, dict(zip(header, (c.strip() for c in cells), strict=True))) for n, cells in lines[1:]]


def read_measurements(paths: Sequence[Path], headings: Sequence[Heading]) -> list[Measurements]:
    """Read runs from CSV files of one kind.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    headings : sequence of Heading
        Columns of the kind, beside `run`, which names the runs.

    Returns
    -------
    list of Measurements
        One a row, in order.

    Raises
    ------
    ReportError
        A file cannot be read, a column is missing or unknown, or a cell holds what its column does not allow.
    """
    found = []
    names = ["run", *(each.name for each in headings)]
    for path in paths:
        header, rows = read_rows(path)
        unknown = [name for name in header if name not in names]
        missing = [each.name for each in headings if each.needed and each.name not in header]
        if unknown or missing:
            what = f"unknown column {unknown[0]!r}" if unknown else f"expected a column {missing[0]}"
            raise ReportError(path, f"{what}; known are {', '.join(names)}", line=1)
        found += [_measurements(path, line, row, headings) for line, row in rows]
    return found


def _measurements(path: Path, line: int, row: Row, headings: Sequence[Heading]) -> Measurements:
    numbers, words = {}, {}
    for heading in headings:
        text = row.get(heading.name, "")
        if not text and not heading.needed:
            continue
        if heading.words:
            if text not in heading.words:
                wanted = " or ".join(heading.words)
                raise ReportError(
                    path, f"expected {wanted} in column {heading.name}, found {text!r}", line=line
                )
            words[heading.name] = text
        else:
            numbers[heading.name] = _number(path, line, heading, text)
    return Measurements(
        name=row.get("run") or f"{path.stem} line {line}", path=path, line=line, numbers=numbers, words=words
    )


def _number(path: Path, line: int, heading: Heading, text: str) -> Printed:
    try:
        printed = Printed.from_text(text)
    except ValueError:
        printed = Printed(math.nan, 0.0)
    value = printed.value
    fits = math.isfinite(value) and (value > 0 or (heading.zero and value == 0)) and value <= heading.most
    if not fits or (heading.whole and not value.is_integer()):
        what = "a whole number" if heading.whole else "a number"
        least = "of zero or more" if heading.zero else "above zero"
        most = f", at most {heading.most:g}" if math.isfinite(heading.most) else ""
        raise ReportError(
            path, f"expected {what} {least}{most} in column {heading.name}, found {text!r}", line=line
        )
    return Printed(value * heading.factor, printed.resolution * heading.factor)
