"""Numbers as a listing prints them, in fixed columns read off its header line; and published tables of printed numbers.

Numbers stand right-aligned under the last character of their heading, words left-aligned under the first.
A blank cell therefore shifts nothing, and whatever does not stand in its column is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from planner.errors import InputError, ReportError
from planner.reports.csv_table import read_csv, shown
from planner.reports.lines import Line
from planner.units import half_digit

WHOLE: Final = 0.5  # resolution of a number printed without decimals
SUFFIXES: Final = {"k": 1e3, "M": 1e6}  # of numbers of pages
_HEADING: Final = re.compile(r"\S+")
_NUMBER: Final = re.compile(r"[0-9]+|[0-9]*\.[0-9]+")
_NOT_AVAILABLE: Final = re.compile(r"\.{3,}")


@dataclass(frozen=True, slots=True)
class Printed:
    """A non-negative number read off a report, in SI units.

    `value`: the number as printed, in the SI unit of its column; `resolution`: half a unit of its last digit, likewise.
    What was measured lies within ``value - resolution`` and ``value + resolution`` if the report rounds.

    >>> queued = Printed.from_text("1.84")
    >>> queued.value, queued.resolution
    (1.84, 0.005)
    >>> Printed.from_text(".0", factor=1e-3).low
    0.0
    """

    value: float
    resolution: float

    @classmethod
    def from_text(cls, digits: str, factor: float = 1.0) -> Printed:
        """Take the value and the resolution from printed digits.

        >>> Printed.from_text("755")
        Printed(value=755.0, resolution=0.5)
        """
        return cls(float(digits) * factor, half_digit(digits) * factor)

    @property
    def low(self) -> float:
        """Smallest number that prints like this one, not below zero."""
        return max(0.0, self.value - self.resolution)

    @property
    def high(self) -> float:
        """Largest number that prints like this one."""
        return self.value + self.resolution

    def __add__(self, other: Printed) -> Printed:
        """Sum of two printed numbers; the resolutions add up, since the rounding of both is unknown."""
        return Printed(self.value + other.value, self.resolution + other.resolution)


def is_number(text: str) -> bool:
    """Whether text is what a listing prints for a number.

    >>> [is_number(text) for text in (".2", "755", "....", "-1", "1k", "")]
    [True, True, True, False, False, False]
    """
    return bool(_NUMBER.fullmatch(text) or _NOT_AVAILABLE.fullmatch(text))


@lru_cache(maxsize=2**14)  # most numbers of a listing are the same few
def _number(digits: str, factor: float, *, suffixed: bool) -> Printed | None:
    """Read what stands in a cell: a number, with a suffix where it may have one, or dots; else a ValueError."""
    if _NOT_AVAILABLE.fullmatch(digits):
        return None
    if suffixed and digits[-1:] in SUFFIXES:
        digits, factor = digits[:-1], factor * SUFFIXES[digits[-1:]]
    if not _NUMBER.fullmatch(digits):
        raise ValueError(digits)
    return Printed.from_text(digits, factor)


@dataclass(slots=True)
class Columns:
    """The columns below one header line.

    `path` is the file, `spans` holds for each heading its first to last character, `width` is the end of the last of
    them; `cells` are the characters of a number: from the end of the heading before to the end of its own.
    """

    path: Path
    spans: dict[str, slice]
    width: int
    cells: dict[str, slice] = field(init=False)

    def __post_init__(self) -> None:
        """Find the cells."""
        before, self.cells = 0, {}
        for name, span in sorted(self.spans.items(), key=lambda each: each[1].stop):
            self.cells[name], before = slice(before, span.stop), span.stop

    @classmethod
    def from_header(cls, path: Path, line: Line, required: Sequence[str]) -> Columns:
        """Find the columns in a header line."""
        headings = list(_HEADING.finditer(line.text))
        found = [match for match in headings if match[0] in required]
        names = [match[0] for match in found]
        for position, name in enumerate(required):
            if names[position : position + 1] != [name]:
                at = found[position].start() if position < len(found) else len(line.text)
                wanted = f"expected the headings {' '.join(required)}"
                raise line.error(path, f"{wanted}; {name} is not in place", at)
        if len(names) > len(required):
            extra = found[len(required)]
            raise line.error(path, f"a second heading {extra[0]}", extra.start())
        if number := next((match for match in headings if is_number(match[0])), None):
            raise line.error(path, f"a number {number[0]} among the headings", number.start())
        spans = {match[0]: slice(*match.span()) for match in headings}
        return cls(path, spans, max(span.stop for span in spans.values()))

    def word(self, line: Line, name: str, following: str | None = None) -> str:
        """Read a word, left-aligned under its heading."""
        start = self.spans[name].start
        end = self.spans[following].start - 1 if following else self.spans[name].stop
        text = line.text[start:end]
        word = text.rstrip(" ")
        if " " in word or not word.isprintable():
            wanted = f"expected one word from column {start + 1} on"
            raise line.error(self.path, f"{name} {text!r}: {wanted}", start)
        if word and line.text[end : end + 1].strip(" "):
            raise line.error(self.path, f"{name} {text!r} runs into the next column: expected a blank", end)
        return word

    def number(self, line: Line, name: str, factor: float = 1.0, *, suffixed: bool = False) -> Printed | None:
        """Read a number, right-aligned under its heading."""
        span = self.cells[name]
        digits = line.text[span].lstrip(" ")
        end, start = line.offset + span.stop, span.stop - len(digits)
        if len(line.text) < span.stop:
            problem = f"the row is cut short: expected {name} to end in column {end}"
            raise line.error(self.path, problem, len(line.text))
        try:
            found = _number(digits, factor, suffixed=suffixed)
        except ValueError:
            wanted = f"expected a number that ends in column {end}, such as .2, 1.84 or 755"
            at = min(start, span.stop - 1)
            raise line.error(self.path, f"{name} {digits.strip()!r}: {wanted}", at) from None
        if found is not None and start == span.start and line.text[start - 1 : start].strip(" "):
            problem = f"{name} {digits!r} touches the column before: expected a blank"
            raise line.error(self.path, problem, start)
        return found

    def count(self, line: Line, name: str) -> int | None:
        """Read a whole number, right-aligned under its heading; see `number`."""
        printed = self.number(line, name)
        if printed is None:
            return None
        if printed.resolution != WHOLE:
            problem = f"{name} {printed.value:g}: expected a whole number"
            raise line.error(self.path, problem, self.cells[name].start)
        return int(printed.value)

    def close(self, line: Line, name: str) -> None:
        """Check that the last column that is read ends where its heading ends."""
        end = self.spans[name].stop
        rest = line.text[end:] if end == self.width else line.text[end : end + 1]
        if rest.strip(" "):
            position = end + len(rest) - len(rest.lstrip(" "))
            wanted = f"expected nothing between column {line.offset + end} and the next heading"
            raise line.error(self.path, f"text {rest.strip()!r} right of {name}: {wanted}", position)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """Cells of a published table: its `path`, its header `columns`, and `rows` by first cell, each by column."""

    path: Path
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]

    def text(self, row: str, column: str) -> str:
        """A cell as printed."""
        InputError.unless_one_of("row", row, self.rows)
        InputError.unless_one_of("column", column, self.columns)
        return self.rows[row][column]

    def printed(self, row: str, column: str, factor: float = 1.0) -> Printed:
        """A cell as a number with the resolution of its digits."""
        text = self.text(row, column)
        try:
            return Printed.from_text(text, factor)
        except ValueError as error:
            problem = f"expected a number in row {row}, column {column}, found {text!r}"
            raise ReportError(self.path, problem) from error

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
    cells = read_csv(path, (), "a published table")
    rows: dict[str, dict[str, str]] = {}
    for line, row in zip(cells.line_numbers.tolist(), cells.cells.rows(), strict=True):
        if not row[0] or row[0] in rows:
            raise cells.error_at(line, 0, f"{shown(row[0])}: expected a new name in the first cell")
        rows[row[0]] = dict(zip(cells.header, row, strict=True))
    return PublishedTable(path=cells.path, columns=cells.header, rows=rows)
