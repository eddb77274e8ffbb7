"""Published tables, cell by cell: a rule a row says what each number is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.errors import ReportError
from planner.library import data_path
from planner.reports import PublishedTable, read_table
from planner.scoreboard.figure import Figure, Kind
from planner.scoreboard.span import Span, cell

NUMBER: Final = re.compile(
    r"-?(\d+\.?\d*|\.\d+)"
)  # other cells are words, identifiers or say that there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell with its table; `at` takes a number of the same column."""

    table: PublishedTable
    row: str
    column: str

    def at(self, row: str) -> Span:
        """Another number of the same column."""
        return cell(self.table, row, self.column)

    def beside(self, column: str) -> Span:
        """Another number of the same row."""
        return cell(self.table, self.row, column)

    @property
    def value(self) -> Span:
        """The number itself."""
        return cell(self.table, self.row, self.column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said of a cell: the fields of a `Figure` beyond its place and its number."""

    kind: Kind
    predicted: Span | None = None
    group: str = ""
    erratum: str = ""
    outlier: bool = False
    note: str = ""


Rule = Callable[[Cell], Said]


def given(note: str = "configuration") -> Rule:
    """Rule of a row that is put in."""
    return lambda _: Said(kind="input", note=note)


def not_modelled(reason: str) -> Rule:
    """Rule of a row that no law of the planner speaks of."""
    return lambda _: Said(kind="not modelled", note=reason)


def identity(follows: Callable[[Cell], Span], note: str, errata: Mapping[str, str] | None = None) -> Rule:
    """Rule of a row that follows from others; `errata` names the columns where it does not hold, and why."""
    known = dict(errata or {})

    def rule(at: Cell) -> Said:
        return Said(kind="identity", predicted=follows(at), note=note, erratum=known.get(at.column, ""))

    return rule


def table_figures(
    report: str,
    file: str,
    rules: Mapping[str, Rule],
    *,
    skip: tuple[str, ...] = ("unit",),
    by_row: bool = True,
) -> Iterator[Figure]:
    """Walk through a published table.

    Parameters
    ----------
    report : str
        Folder in data/.
    file : str
        Table in it, without ending.
    rules : mapping
        What a number is, by row (by column where `by_row` is False); every row that holds a number has one.
    skip : tuple of str, optional
        Columns that are no part of the print.
    by_row : bool, optional
        Whether `rules` go by row.

    Yields
    ------
    Figure
        One a number, in the order of print.

    Raises
    ------
    ReportError
        A number that no rule speaks of.
    """
    table = read_table(data_path(report, f"{file}.csv"))
    for row in table.rows:
        for column in table.columns[1:]:
            if column in skip or NUMBER.fullmatch(table.text(row, column)) is None:
                continue
            place = row if by_row else column
            if place not in rules:
                raise ReportError(table.path, f"no rule says what the numbers of {place!r} are")
            at = Cell(table=table, row=row, column=column)
            said = _fields(rules[place](at))
            yield Figure(report=report, table=file, row=row, column=column, published=at.value, **said)


def _fields(said: Said) -> dict[str, Any]:
    return {
        name: getattr(said, name) for name in ("kind", "predicted", "group", "erratum", "outlier", "note")
    }
