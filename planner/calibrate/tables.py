"""Measurements in CSV: each kind of device documents its headings, and one reader checks every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planner.errors import ReportError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.reports.csv_table import Allowed, CsvTable, read_csv, shown


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
        """Take a number."""
        found = self.numbers.get(heading)
        return default if found is None else found.value

    def error(self, problem: str, heading: str = "") -> ReportError:
        """Make an error of this row."""
        return ReportError(self.path, problem, line=self.line, column=self.columns.get(heading))


def read_measurements(
    paths: Sequence[Path],
    headings: Sequence[Quantity],
    needed: Sequence[str],
    *,
    what: str = "measurements",
    one_of: Sequence[Sequence[str]] = (),
    others: bool = False,
) -> list[Measurements]:
    """Read runs from CSV files of one kind, one a row; `run` names them.

    Columns that are `needed` have a number or a word in every row; of the groups in `one_of` a file has at least one.
    Columns that no heading knows are refused, or ignored where there may be `others`. `what` says in messages what the
    files should hold.
    """
    known = None if others else ["run", *(each.file_key for each in headings)]
    found: list[Measurements] = []
    for path in paths:
        table = read_csv(path, needed, what, known=known)
        if one_of and not any(all(map(table.has, group)) for group in one_of):
            raise table.missing(", or ".join(" and ".join(group) for group in one_of), what)
        found += _measurements(table, [each for each in headings if table.has(each.file_key)], needed)
    return found


def _measurements(table: CsvTable, headings: Sequence[Quantity], needed: Sequence[str]) -> list[Measurements]:
    numbers = {each.file_key: _numbers(table, each, needed) for each in headings if not each.words}
    words = {each.file_key: _words(table, each, needed) for each in headings if each.words}
    return [
        Measurements(
            name=name or f"{table.path.stem} line {line}",
            path=table.path,
            line=line,
            numbers={name: cells[row] for name, cells in numbers.items() if cells[row] is not None},  # type: ignore[misc]
            words={name: cells[row] for name, cells in words.items() if cells[row]},
            columns={each.file_key: table.column(row, each.file_key) for each in headings},
        )
        for row, (name, line) in enumerate(zip(table.texts("run"), table.lines, strict=True))
    ]


def _numbers(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[Printed | None]:
    """Printed numbers of a column, SI."""
    name = heading.file_key
    allowed = Allowed(whole=heading.whole, zero=heading.zero, most=heading.high)
    found = table.known(name, allowed)
    if name in needed and None in found:
        raise table.error(found.index(None), name, f"is empty: {allowed.expected(name)}")
    return [
        None if each is None else Printed(each[0] * heading.factor, each[1] * heading.factor)
        for each in found
    ]


def _words(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[str]:
    """Words of a column."""
    name = heading.file_key
    found = table.texts(name)
    for row, text in enumerate(found):
        if text not in heading.words and (text or name in needed):
            raise table.error(row, name, f"{shown(text)}: expected {' or '.join(heading.words)}")
    return found
