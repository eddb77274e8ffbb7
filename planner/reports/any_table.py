"""Any table of volumes: headings, separators, decimal marks, thousands, units; what could be two numbers is refused."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.column_names import NO_UNIT, RATES, TIMES, UNIT_WORDS, Plan, Taken, plan_of
from planner.reports.csv_table import CsvTable, FrameTable, by_lines, check_width, normal, read_cells, shown
from planner.reports.volumes import NUMBERS, read_volumes

if TYPE_CHECKING:
    import polars as pl

WANTED: Final = "a table of volumes"
SEPARATORS: Final = (",", ";", "\t")
NOTHING: Final = ("n/a", "na", "nan", "null", "none", "-", "--", "---", ".", "....", "#n/a", "n.a.", "nil", "?", "<na>",
                  "missing", "not available")  # fmt: skip
_BOTH: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:,\d{3})+\.\d+")
_ONE: Final = re.compile(r"(\d*)([.,])(\d*)")
_GROUPS: Final = {mark: re.compile(rf"\d{{1,3}}(?:\{mark}\d{{3}})+") for mark in ".,"}


@dataclass(frozen=True, slots=True)
class TableHead:
    """Where the headings stand: `line` from 1, what `separator` cells have, and the `plan` of the columns."""

    line: int
    separator: str
    plan: Plan


def layout_of(text: str, given: Mapping[str, str] | None = None) -> TableHead | None:
    """Find the headings of a table of volumes among the first lines; where none is whole, the most promising ones."""
    best: TableHead | None = None
    for number, line in enumerate(text.split("\n")[:60], 1):  # titles and blank lines may stand above
        separator = max(SEPARATORS, key=line.count)
        if not line.strip(" ,;\t") or separator not in line:
            continue
        try:
            headings = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except (csv.Error, StopIteration):
            continue
        if sum(map(bool, headings)) <= 1:
            continue
        here = {heading.lower() for heading in headings}
        asked = {name: each for name, each in (given or {}).items() if each.strip().lower() in here}
        found = TableHead(number, separator, plan_of(headings, asked))
        if not found.plan.missing and len(asked) == len(given or {}):
            return found
        if best is None or len(found.plan.taken) > len(best.plan.taken):
            best = found
    return best


def read_any_table(path: Path, data: bytes, given: Mapping[str, str]) -> schema.Tables:
    """Read a table of volumes in CSV, whatever its headings; `given` says which column is which field."""
    data = normal(path, WANTED, data)
    layout = layout_of(data.decode(), given)
    if layout is None:
        raise ReportError(path, f"an empty file, or no table: expected {WANTED}", line=1, column=1)
    lines = data.split(b"\n", layout.line)
    below = b"\n" * (layout.line - 1) + b"\n".join(lines[layout.line - 1 :])
    if layout.separator == ",":
        table = read_cells(path, WANTED, data=below)
    else:
        table = by_lines(path, below, WANTED, separator=layout.separator)
    return _read(table, plan_of(table.header, given))


def read_any_frame(table: CsvTable, given: Mapping[str, str]) -> schema.Tables:
    """Read a data frame of volumes."""
    check_width(table.path, len(table.header))
    return _read(table, plan_of(table.header, given))


def _read(table: CsvTable, plan: Plan) -> schema.Tables:
    if plan.missing or plan.doubts:
        raise table.error_at(table.header_line, len(table.header), plan.refusal())
    return read_volumes(*cleaned(table, plan))


def cleaned(table: CsvTable, plan: Plan) -> tuple[CsvTable, Plan]:
    """Take units from a row of units, nothing from words such as n/a, and write numbers with points only."""
    import polars as pl

    fields = [field for field in plan.taken if field in NUMBERS or field in ("interval", "aliases")]
    if _is_units(table, plan):
        plan = _with_units(table, plan)
        table = replace(table, cells=table.cells.slice(1), line_numbers=table.line_numbers[1:])
    cells, columns = table.cells, {}
    changed = commas = False
    for field in fields:
        index = table.names.index(plan.taken[field].heading.upper())
        column = cells.to_series(index)
        if column.dtype != pl.String:
            continue
        nothing = column.str.to_lowercase().str.strip_chars().is_in(NOTHING) | column.str.contains(r"^\*+$")
        if nothing.any():
            column = column.set(nothing.fill_null(False), "")
            changed = True
        commas |= bool(column.str.contains(",", literal=True).any())
        columns[index] = column
    if not (changed or commas):
        return table, plan
    decimals = _decimals(table, columns) if commas else ""
    for index, column in columns.items():
        plain = _plain_numbers(column, decimals) if commas else column
        cells = cells.with_columns(plain.alias(cells.columns[index]))
    return replace(table, cells=cells), plan


def _is_units(table: CsvTable, plan: Plan) -> bool:
    """Whether the first row says units."""
    if isinstance(table, FrameTable) or len(table) <= 1:
        return False
    cells = [table.series(each.heading)[0] for field, each in plan.taken.items() if field in NUMBERS]
    words = [_unit(cell) for cell in cells]
    return None not in words and any(words)


def _unit(cell: str) -> str | None:
    """Unit of a cell; empty for one that says there is none, None for anything else."""
    word = cell.strip(" ()[]").lower()
    return "" if word in NO_UNIT else UNIT_WORDS.get(word)


def _with_units(table: CsvTable, plan: Plan) -> Plan:
    taken = dict(plan.taken)
    for field, each in plan.taken.items():
        unit = _unit(table.series(each.heading)[0]) if field in TIMES or field in RATES else None
        if unit:
            if each.unit and each.unit != unit:
                raise table.error(0, each.heading, f"{unit!r}: expected {each.unit}, as its heading says")
            taken[field] = Taken(each.heading, unit)
    return Plan(taken, plan.unused, False, plan.doubts)


def _decimals(table: CsvTable, columns: Mapping[int, pl.Series]) -> str:
    """What stands before the decimals of the numbers of a table: point or comma."""
    marks: dict[str, tuple[int, int]] = {}
    doubt: tuple[int, int] | None = None
    for index, column in columns.items():
        for row, cell in enumerate(column.to_list()):
            if "," not in cell and "." not in cell:
                continue
            mark = decimal_mark(cell)
            if mark is None and "," in cell:
                doubt = doubt or (row, index)
            elif mark is not None:
                marks.setdefault(mark, (row, index))
    if len(marks) > 1:
        (row, index), problem = (
            marks[","],
            "a decimal comma, and decimal points elsewhere: expected one of them",
        )
    elif not marks and doubt is not None:
        (row, index), problem = doubt, "is its comma one of decimals or of thousands? expected decimal points"
    else:
        return next(iter(marks), ".")
    raise table.error_at(int(table.line_numbers[row]), index, f"{shown(columns[index][row])}: {problem}")


def decimal_mark(cell: str) -> str | None:
    """What a number has before its decimals; None where the mark could also be one of thousands.

    >>> decimal_mark("1,3"), decimal_mark("1,234"), decimal_mark("0,543"), decimal_mark("1.234,5")
    (',', None, ',', ',')
    """
    if _BOTH.fullmatch(cell):
        return max(".,", key=cell.rfind)
    match = _ONE.fullmatch(cell)
    if match is None:
        return None
    whole = match[1]
    thousands = len(match[3]) == 3 and 0 < len(whole) <= 3 and not whole.startswith("0")  # noqa: PLR2004 - digits
    return None if thousands else match[2]


def _plain_numbers(column: pl.Series, decimal: str) -> pl.Series:
    """Cells as float() takes them; what is no such number stays as it is, to be refused."""
    thousands = "," if decimal == "." else "."

    def plain(cell: str) -> str:
        if "." not in cell and "," not in cell:
            return cell
        whole, mark, digits = cell.partition(decimal)
        grouped = thousands not in whole or _GROUPS[thousands].fullmatch(whole) is not None
        if not (cell.isascii() and grouped) or thousands in digits or decimal in digits:
            return f"{cell} ?" if decimal == "," and "." in cell else cell
        whole = whole.replace(thousands, "")
        return f"{whole}.{digits}" if mark else whole

    import polars as pl

    return pl.Series(column.name, list(map(plain, column.to_list())), dtype=pl.String)
