"""Measurements in CSV: each kind of device documents its headings, and one reader checks every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planner.errors import ReportError
from planner.reports import Printed
from planner.reports.csv_table import Allowed, CsvTable, read_csv, shown


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

    @property
    def allowed(self) -> Allowed:
        """The numbers of the column."""
        return Allowed(whole=self.whole, zero=self.zero, most=self.most)


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
    columns : mapping
        Where in the line the cell of a heading begins, counted from 1.
    """

    name: str
    path: Path
    line: int
    numbers: Mapping[str, Printed]
    words: Mapping[str, str]
    columns: Mapping[str, int] = field(default_factory=dict)

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

    def error(self, problem: str, heading: str = "") -> ReportError:
        """Make an error of this row.

        Parameters
        ----------
        problem : str
            What is wrong and what was expected.
        heading : str, optional
            The column at fault, where it is one.

        Returns
        -------
        ReportError
            With file and line, and the column where it is known.
        """
        return ReportError(self.path, problem, line=self.line, column=self.columns.get(heading))


def read_measurements(
    paths: Sequence[Path],
    headings: Sequence[Heading],
    *,
    what: str = "measurements",
    one_of: Sequence[Sequence[str]] = (),
    others: bool = False,
) -> list[Measurements]:
    """Read runs from CSV files of one kind, one a row; `run` names them.

    Of the groups of headings in `one_of` a file has at least one; columns that no heading knows are refused, or ignored
    where there may be `others`. `what` says in messages what the files should hold.
    """
    needed = [each.name for each in headings if each.needed]
    known = None if others else ["run", *(each.name for each in headings)]
    found: list[Measurements] = []
    for path in paths:
        table = read_csv(path, needed, what, known=known)
        if one_of and not any(all(map(table.has, group)) for group in one_of):
            raise table.missing(", or ".join(" and ".join(group) for group in one_of), what)
        found += _measurements(table, [each for each in headings if table.has(each.name)])
    return found


def _measurements(table: CsvTable, headings: Sequence[Heading]) -> list[Measurements]:
    numbers = {each: _numbers(table, each) for each in headings if not each.words}
    words = {each: _words(table, each) for each in headings if each.words}
    return [
        Measurements(
            name=name or f"{table.path.stem} line {line}",
            path=table.path,
            line=line,
            numbers={each.name: cells[row] for each, cells in numbers.items() if cells[row] is not None},  # type: ignore[misc]
            words={each.name: cells[row] for each, cells in words.items() if cells[row]},
            columns={each.name: table.column(row, each.name) for each in headings},
        )
        for row, (name, line) in enumerate(zip(table.texts("run"), table.lines, strict=True))
    ]


def _numbers(table: CsvTable, heading: Heading) -> list[Printed | None]:
    """Printed numbers of a column, SI."""
    found = table.known(heading.name, heading.allowed)
    if heading.needed and None in found:
        problem = f"is empty: {heading.allowed.expected(heading.name)}"
        raise table.error(found.index(None), heading.name, problem)
    return [
        None if each is None else Printed(each[0] * heading.factor, each[1] * heading.factor)
        for each in found
    ]


def _words(table: CsvTable, heading: Heading) -> list[str]:
    """Words of a column."""
    found = table.texts(heading.name)
    for row, text in enumerate(found):
        if text not in heading.words and (text or heading.needed):
            raise table.error(row, heading.name, f"{shown(text)}: expected {' or '.join(heading.words)}")
    return found
