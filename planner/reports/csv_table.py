"""Tables in CSV: one opener for every such file, columns by the names of their header, errors with line and column."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Never, Self

import numpy as np

from planner.errors import ReportError
from planner.lazy import pl
from planner.render import safe
from planner.render.text import counted
from planner.reports.lines import END_OF_FILE, PACKED, read_bytes
from planner.reports.moments import read_moment
from planner.results import Array, Flags, Integers
from planner.units import PRINTED, half_digit

COUNTER_SIZE: Final = 2**32  # monitor counters have 32 bits
SEPARATORS: Final = (",", ";", "\t")  # of what spreadsheets call CSV, too
WANTED_TIME: Final = "expected a time such as 2007-05-27T15:01:00, or a number of seconds"
UNITS: Final = {  # by the end of a heading, the longer ones first
    "_us_per_page": "us", "_mb_per_s": "MB/s", "_kb": "KB", "_mb": "MB", "_GB": "GB", "_ms": "ms", "_us": "us",
    "_s": "s", "rate": "1/s", "itr": "1/s",
}  # fmt: skip
_CONTROLS: Final = bytes(set(range(32)) - set(b"\n\r\t")) + b"\x7f"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_THOUSANDS: Final = r"^[0-9]{1,3}(\.[0-9]{3})+$"
HALVES: Final = np.array([half_digit("." + "0" * decimals) for decimals in range(340)])


def refuse() -> Never:
    """Refuse a cell; the table that it stands in says its place."""
    raise ValueError


def check_width(path: Path, columns: int, line: int | None = None, most: int = 4096) -> None:
    """Refuse a table wider than any: what is done with columns takes the square of their number."""
    if columns > most:
        raise ReportError(path, f"{columns} columns: expected at most {most}", line=line)


def shown(cell: str, most: int = 40) -> str:
    """Quote a cell in a message; a long one by its beginning."""
    return repr(cell if len(cell) <= most else cell[:most] + "...")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The numbers that a column may hold: whether only `whole` ones, whether `zero`, and at `most` which."""

    whole: bool = False
    zero: bool = True
    most: float = math.inf

    def read(self, cell: str) -> float:
        """Read a number, in the unit of its column; ValueError where there is none, or one not allowed.

        >>> Allowed(zero=False).read("1.30")
        1.3
        """
        value = float(cell) if cell.isascii() and "_" not in cell else refuse()
        if value == 0 and any(digit in cell.lower().partition("e")[0] for digit in "123456789"):
            refuse()  # smaller than a float can be, not zero
        fits = math.isfinite(value) and (value > 0 or (self.zero and value == 0)) and value <= self.most
        return value if fits and (value.is_integer() or not self.whole) else refuse()

    def refuses(self, values: pl.Series) -> pl.Series:
        """Which numbers of a column are not allowed; a missing one is."""
        wrong = ~values.is_finite() | (values < 0) | (values > self.most) | ((values == 0) & (not self.zero))
        return wrong | (values.floor() != values) if self.whole else wrong

    def expected(self, heading: str) -> str:
        """Say what a column may hold, for a message.

        >>> Allowed().expected("service_ms")
        'expected a number, zero or above [ms]'
        >>> Allowed(whole=True, most=255).expected("aliases")
        'expected a whole number from 0 to 255'
        """
        unit = next((f" [{unit}]" for end, unit in UNITS.items() if heading.endswith(end)), "")
        what = "a whole number" if self.whole else "a number"
        if self.zero and math.isfinite(self.most):
            return f"expected {what} from 0 to {self.most:.10g}{unit}"
        least = ", zero or above" if self.zero else " above zero"
        most = f", at most {self.most:.10g}" if math.isfinite(self.most) else ""
        return f"expected {what}{least}{most}{unit}"


ZERO_OR_ABOVE: Final = Allowed()


def read_date(cell: str) -> datetime | None:
    """Read a date with time; None for anything else, digits alone are seconds."""
    try:
        float(cell)
    except ValueError:
        with suppress(ValueError):
            return read_moment(cell)
    return None


def seconds(cell: str, start: datetime | None) -> float:
    """Read a time in seconds since `start`, or as it is where that is None; ValueError where there is no such time."""
    if start is None:
        value = float(cell) if cell.isascii() and "_" not in cell else refuse()
        return value if math.isfinite(value) else refuse()
    when = read_date(cell)
    return (when - start).total_seconds() if when is not None else refuse()


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The rows of a CSV file below its header, by column; headings in whatever case, cells without blanks around them.

    `path` is the file, `data` its text (none of a table that is no text), `header` the headings as they stand there
    (one may be empty), `header_line` their line, `cells` a polars frame of strings with a column a heading,
    `line_numbers` the line in the file of each row.
    """

    path: Path
    data: bytes
    header: tuple[str, ...]
    header_line: int
    cells: pl.DataFrame
    line_numbers: Integers
    separator: str = ","

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Headings in upper case."""
        return tuple(name.upper() for name in self.header)

    def __len__(self) -> int:
        """Count the rows."""
        return self.cells.height

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name.upper() in self.names

    def series(self, name: str) -> pl.Series:
        """Take the cells of a column; empty ones where there is no such column."""
        if not self.has(name):
            return pl.Series(name, [""]).new_from_index(0, len(self))
        return self.cells.to_series(self.names.index(name.upper()))

    def only(self, rows: Flags) -> Self:
        """Make a table of some of the rows."""
        return replace(self, cells=self.cells.filter(rows), line_numbers=self.line_numbers[rows])

    def require(self, names: Sequence[str], what: str) -> None:
        """Refuse a table without these columns; `what` is what the file should hold, for the message."""
        self.require_as(names, with_columns(what, names))

    def require_as(self, names: Sequence[str], expected: str) -> None:
        """The same where the message has words of its own for the columns."""
        if missing := [name for name in names if not self.has(name)]:
            raise self.missing(", ".join(missing), expected)

    def missing(self, names: str, what: str) -> ReportError:
        """Make the error of a column that is not there, at the end of the header."""
        return self.error_at(self.header_line, len(self.header), f"missing {names}: expected {what}")

    def refuse_others(self, known: Sequence[str]) -> None:
        """Refuse a column that means nothing; one without heading and cells is what trailing commas leave."""
        names = {name.upper() for name in known}
        for index, (name, heading) in enumerate(zip(self.names, self.header, strict=True)):
            if name and name not in names:
                problem = f"unknown column {heading!r}: known are {', '.join(known)}"
                raise self.error_at(self.header_line, index, problem)
            full = None if name else first_true(self.cells.to_series(index) != "")
            if full is not None:
                problem = f"a cell in a column without a heading: known are {', '.join(known)}"
                raise self.error_at(int(self.line_numbers[full]), index, problem)

    def column_at(self, line: int, index: int) -> int:
        """Find the character, counted from 1, where a cell of a line begins; one behind the last is the line's end."""
        return (_cell_start(self.text(line), index, self.separator) if self.data else index) + 1

    def text(self, line: int) -> str:
        """A line of the file."""
        return self.data.split(b"\n", line)[line - 1].decode()

    def error_at(self, line: int, index: int, problem: str) -> ReportError:
        """Make the error of a place: a line of the file and a cell of it, counted from 0."""
        return ReportError(self.path, problem, line=line, column=self.column_at(line, index))

    def error(self, row: int, name: str, problem: str) -> ReportError:
        """Make the error of one cell: a row, counted from 0 below the header, and a heading."""
        line = int(self.line_numbers[row])
        return self.error_at(line, self.names.index(name.upper()), f"{name} {problem}")

    def column(self, row: int, name: str) -> int:
        """Find the character of its line, counted from 1, where the cell of a row begins."""
        return self.column_at(int(self.line_numbers[row]), self.names.index(name.upper()))

    def refuse(self, wrong: pl.Series, name: str, expected: str) -> None:
        """Refuse a column with cells that are not as expected."""
        if (row := first_true(wrong)) is not None:
            raise self.error(row, name, f"{shown(self.series(name)[row])}: expected {expected}")

    def words(self, name: str) -> list[str]:
        """Read a column of words; an empty cell is an error."""
        found = self.text_series(name)
        self.refuse(found == "", name, "a name")
        return found.to_list()

    def texts(self, name: str) -> list[str]:
        """Read a column of words or nothing; empty strings where there is no such column."""
        return self.text_series(name).to_list()

    def text_series(self, name: str) -> pl.Series:
        """Read a column of words or nothing; control characters in them are an error."""
        column = self.series(name)
        self.refuse(column.str.contains(_CONTROL.pattern), name, "text without control characters")
        return column.str.replace(safe.PROTECTED, "${1}")

    def counts(self, name: str, most: int = COUNTER_SIZE - 1) -> Integers:
        """Read a column of whole numbers from 0 to `most`."""
        column = self.series(name)
        values = column.cast(pl.Int64, strict=False)
        wrong = ~column.str.contains(r"^[0-9]+$") | values.is_null() | (values > most)
        self.refuse(wrong, name, f"a whole number from 0 to {most}")
        return values.to_numpy().astype(np.int64, copy=False)

    def numbers(self, name: str) -> Array:
        """Read a column of numbers, zero or above."""
        values, _ = self.printed(name)
        if (row := first_true(values.is_null())) is not None:
            raise self.error(row, name, f"'': {ZERO_OR_ABOVE.expected(name)}")
        return values.to_numpy().astype(np.float64, copy=False)

    def printed(self, name: str, allowed: Allowed = ZERO_OR_ABOVE) -> tuple[pl.Series, pl.Series]:
        """Read a column of numbers or nothing, and half a unit of the last digit of each, in the unit of the column."""
        column = self.series(name)
        values = column.cast(pl.Float64, strict=False)
        full = column != ""
        # A zero with other digits in it is too small for a float; so is a whole number that is none.
        doubtful, zero = allowed.refuses(values), values == 0
        if zero.any():
            doubtful |= zero & column.str.contains("^[^eE]*[1-9]")
        for row in np.flatnonzero((full & doubtful.fill_null(True)).to_numpy()):
            try:
                allowed.read(column[int(row)])
            except ValueError:
                problem = f"{shown(column[int(row)])}: {allowed.expected(name)}"
                raise self.error(int(row), name, problem) from None
        return values, _halves(column).set(~full, None)

    def times(self, name: str) -> tuple[Array, datetime | None]:
        """Read a column of times: seconds since the first row and that moment, or seconds as they are and None."""
        start = read_date(self.series(name)[0])
        return self.mapped(name, lambda cell: seconds(cell, start), WANTED_TIME, float).to_numpy(), start

    def mapped(self, name: str, convert: Callable[[str], Any], wanted: str, dtype: Any) -> pl.Series:
        """Convert a column, each different cell once; the error of one that does not convert says what is wanted."""
        column = self.series(name)
        known = {}
        for cell in column.unique(maintain_order=True):
            try:
                known[cell] = convert(cell)
            except (ValueError, TypeError):
                row = int(column.index_of(cell) or 0)
                also = " like the first one" if row and wanted == WANTED_TIME else ""
                raise self.error(row, name, f"{shown(cell)}: {wanted}{also}") from None
        return column.replace_strict(list(known), list(known.values()), return_dtype=dtype)


def first_true(mask: pl.Series | Flags) -> int | None:
    """Index of the first true element."""
    return next(iter(pl.Series(mask).fill_null(False).arg_true()), None)


def _halves(column: pl.Series) -> pl.Series:
    """Half a unit of the last digit of numbers in a column of strings, some of which may be empty."""
    point = column.str.find(".", literal=True)
    decimals = (column.str.len_bytes() - point - 1).fill_null(0).to_numpy()
    halves = pl.Series(column.name, HALVES[np.minimum(decimals, HALVES.size - 1)])
    exponents = column.str.contains("e", literal=True) | column.str.contains("E", literal=True)
    for row in np.flatnonzero(exponents.to_numpy()):
        halves[int(row)] = half_digit(column[int(row)])
    return halves


def _half_of(numbers: pl.Series) -> float:
    """Half a unit of the last digit of a column of numbers, each in its fewest digits; 0 of numbers that were computed.

    >>> _half_of(pl.Series(["1.5", "1.25"])), _half_of(pl.Series(["1.5", "0.30000000000000004"]))
    (0.005, 0.0)
    """
    digits = numbers.str.replace(r"[eE].*", "").str.replace(".", "", literal=True)
    computed = (digits.str.strip_chars_start("-0").str.len_bytes() > PRINTED).any()
    return 0.0 if computed or not len(numbers) else float(_halves(numbers).min())  # type: ignore[arg-type]


def read_csv(
    path: Path | str, required: Sequence[str], expected: str, *, data: bytes | None = None
) -> CsvTable:
    """Open a CSV file: text in UTF-8, cells separated by commas, semicolons or tabs, a header and at least one row.

    A byte order mark, lines of blanks and commas only, and the header once more are ignored. A cell in quotation marks
    may hold commas, but no line end. A ReportError names what is wrong, and was `expected`: the file cannot be read or
    is empty, has no row, a `required` heading missing, one twice (in whatever case), or a row of another length.
    """
    path = Path(path)
    data = normal(path, expected, data)
    table = _by_columns(path, data)
    if table is not None:
        _check_header(table, expected, required)
        return table
    header = data.decode().lstrip().partition("\n")[0]
    table = by_lines(path, data, expected, required, max(SEPARATORS, key=header.count))
    for name in filter(None, table.header if table.separator != "," else ()):
        wanted = "no point before three digits, which may be thousands"
        table.refuse(table.series(name).str.contains(_THOUSANDS), name, wanted)
    return table


def with_columns(what: str, names: Sequence[str]) -> str:
    """What is expected, for a message: a table of something with the columns that it must have."""
    return f"{what} with the columns {', '.join(names)}" if names else what


def normal(path: Path, expected: str, data: bytes | None) -> bytes:
    """Content of a file in UTF-8, without byte order mark, lines ended by line feeds alone."""
    data = read_bytes(path, f"expected {expected}") if data is None else data
    data = data.removeprefix(b"\xef\xbb\xbf").rstrip(END_OF_FILE)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if packed := [way_out for begin, way_out in PACKED if re.match(begin, data)]:
                raise ReportError(path, packed[0]) from error
            line = data.count(b"\n", 0, error.start) + 1
            column = error.start - data.rfind(b"\n", 0, error.start)
            problem = f"no text in UTF-8: expected {expected}, saved as CSV in UTF-8"
            raise ReportError(path, problem, line=line, column=column) from error
    # Not splitlines(): it also breaks lines where no editor does, and every number of a line after it would be wrong.
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def in_utf8(data: bytes) -> bytes:
    """Text of a spreadsheet that saves Windows-1252 as UTF-8; any other stays as it is, to be refused or read."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with suppress(UnicodeDecodeError):
            if error.reason != "unexpected end of data" and b"\0" not in data:
                return data.decode("cp1252").encode()
    return data


def _by_columns(path: Path, data: bytes) -> CsvTable | None:
    """Take a plain table apart by polars; None where it is not plain."""
    content = data.strip(b"\n")
    if not _is_plain(data, content):
        return None
    check_width(path, content.partition(b"\n")[0].count(b",") + 1, 1)
    cells = pl.read_csv(content, has_header=False, infer_schema=False, quote_char=None).fill_null("")
    if not content.isascii() or b" " in content or b"\t" in content:
        cells = cells.with_columns(pl.all().str.strip_chars())
    first = len(data) - len(data.lstrip(b"\n")) + 1
    lines = np.arange(first, first + cells.height)
    full = cells.select(pl.any_horizontal(pl.all() != "")).to_series()
    header = cells.row(full.arg_max() or 0)
    again = (pl.nth(k) == name for k, name in enumerate(header))  # as where files were put together
    body = full & ~cells.select(pl.all_horizontal(again)).to_series()
    if not body.any():
        return None
    line = int(lines[full.arg_max() or 0])
    return CsvTable(path, data, header, line, cells.filter(body), lines[body.to_numpy()])


def _is_plain(data: bytes, content: bytes) -> bool:
    """Whether a table has no quotation marks, no control characters, and as many commas in each line."""
    if b'"' in data or len(data.translate(None, _CONTROLS)) != len(data):
        return False
    commas = {line.count(b",") for line in content.split(b"\n")}
    return b"\n" in content and len(commas) == 1 and commas != {0}


def by_lines(
    path: Path, data: bytes, expected: str, required: Sequence[str] = (), separator: str = ","
) -> CsvTable:
    """Take any table apart line by line, and say where it is none."""
    every = parsed(path, data.decode().split("\n"), separator)
    found = [(line, cells) for line, cells in every if any(cells)]
    if not found:
        raise ReportError(path, f"an empty file: expected {expected}", line=1, column=1)
    (first, header), *body = found
    body = [(line, _fitted(row, header)) for line, row in body]
    body = [each for each in body if each[1] != header]  # files put together have it again
    check_width(path, len(header), first)
    rows = [row for _, row in body if len(row) == len(header)]
    lines = np.array([line for line, row in body if len(row) == len(header)], dtype=np.int64)
    table = CsvTable(path, data, tuple(header), first, frame_of(rows, len(header)), lines, separator)
    _check_header(table, expected, required)
    if not body:
        raise table.error_at(first, len(header), f"no rows below the header: expected {expected}")
    for line, row in body:
        if len(row) != len(header):
            problem = f"{counted(len(row), 'cell')}: expected {len(header)}, as many as the header has"
            raise table.error_at(line, min(len(header), len(row)), problem)
    return table


def _fitted(row: list[str], header: Sequence[str]) -> list[str]:
    """A row as wide as the header, if only empty cells, or ones without a heading, make the difference."""
    fits = not any(row[len(header) :]) and not any(header[len(row) :])
    return row[: len(header)] + [""] * (len(header) - len(row)) if fits else row


def frame_of(rows: Sequence[Sequence[str]], width: int) -> pl.DataFrame:
    """Cells of rows of one width as a frame."""
    return pl.DataFrame(rows, schema=[(f"{k}", pl.String) for k in range(width)], orient="row")


def parsed(path: Path, text: list[str], separator: str = ",") -> list[tuple[int, list[str]]]:
    """Cells of each line; a cell may not run over a line end."""
    reader = csv.reader(text, strict=True, delimiter=separator)
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
        raise ReportError(path, open_quote if inside else f"no CSV ({error})", line=line, column=1) from error
    return rows


def _check_header(table: CsvTable, expected: str, required: Sequence[str]) -> None:
    """Missing headings before doubled ones: a file without header has numbers in its place, and some may be equal."""
    line, header = table.header_line, table.header
    table.require_as(required, expected)
    for index, name in enumerate(table.names):
        if name and name in table.names[:index]:
            raise table.error_at(line, index, f"a second column {header[index]}: expected each column once")


def _cell_start(text: str, index: int, separator: str) -> int:
    """Position in a line where a cell begins, blanks ignored; the end of the line where there is none."""
    cell = rf'(?:(?:"[^"]*"?[^"{separator}]*)++|(?!")[^{separator}]*+)'  # in quotation marks, or plain
    start = re.match(rf"(?:{cell}{separator}){{{index}}} *", text)
    return start.end() if start else len(text)


def of_frame(path: Path, frame: pl.DataFrame) -> CsvTable:
    """Make a table of a data frame; its rows are its lines."""
    check_width(path, frame.width)
    return FrameTable(path, b"", tuple(frame.columns), 0, frame, np.arange(1, frame.height + 1))


class FrameTable(CsvTable):
    """The columns of a data frame, where words may be words and numbers numbers."""

    def series(self, name: str) -> pl.Series:
        """Take a column as strings, empty where a value is missing."""
        column = super().series(name)
        if column.dtype in (pl.Datetime, pl.Time):
            column = column.dt.to_string("iso:strict")
        elif column.dtype.is_float():
            column = column.fill_nan(None)
            whole = column.cast(pl.Int64, strict=False)  # pandas makes 7.0 of 7 beside a missing one
            column = whole if (whole == column).all() else column
        try:
            return column.cast(pl.String).fill_null("").str.strip_chars()
        except pl.exceptions.PolarsError:  # of two kinds: of nested values, and of a column of objects
            problem = f"column {name} is of type {column.dtype}: expected text, numbers or times"
            raise ReportError(self.path, problem) from None

    def printed(self, name: str, allowed: Allowed = ZERO_OR_ABOVE) -> tuple[pl.Series, pl.Series]:
        """Read a column of numbers; all have the finest digits of one, since a frame drops zeros at the end."""
        if not (column := super().series(name)).dtype.is_numeric():
            return super().printed(name, allowed)
        values = column.cast(pl.Float64).fill_nan(None)
        if (row := first_true(allowed.refuses(values))) is not None:
            raise self.error(row, name, f"{values[row]}: {allowed.expected(name)}")
        return values, values * 0.0 + _half_of(column.filter(values.is_not_null()).cast(pl.String))
