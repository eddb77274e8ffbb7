"""Numbers as a listing prints them, in fixed columns read off its header line; and published tables of printed numbers.

Numbers stand right-aligned under the last character of their heading, words left-aligned under the first.
A blank cell therefore shifts nothing, and whatever does not stand in its column is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from planner.errors import InputError, ReportError
from planner.reports.csv_table import read_cells, shown
from planner.reports.lines import Line
from planner.units import half_digit

MOST_KNOWN: Final = 2**14  # texts that are kept with what they say
WHOLE: Final = 0.5  # resolution of a number printed without decimals
NO_SUFFIXES: Final[Mapping[str, float]] = MappingProxyType({})
_HEADING: Final = re.compile(r"\S+")
_NUMBER: Final = re.compile(r"[0-9]+|[0-9]*\.[0-9]+")
_NOT_AVAILABLE: Final = re.compile(r"\.{3,}")


@dataclass(frozen=True, slots=True)
class Printed:
    """A non-negative number read off a report, in SI units.

    `value`: the number as printed, in the SI unit of its column; `resolution`: half a unit of the last printed digit,
    in the same unit. What was measured lies within ``value - resolution`` and ``value + resolution`` if the report
    rounds.

    Examples
    --------
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

        Examples
        --------
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
    """Tell whether text is what a listing prints for a number.

    Examples
    --------
    >>> [is_number(text) for text in (".2", "755", "....", "-1", "1k", "")]
    [True, True, True, False, False, False]
    """
    return bool(_NUMBER.fullmatch(text) or _NOT_AVAILABLE.fullmatch(text))


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns below one header line.

    `path` is the file, `spans` holds for each heading its first to last character, `width` is the end of
    the last of them; `cells` are those of the numbers, as far as they were asked for, `known` what stood in them, and
    `halves` what stood in many of them side by side: most of a listing are the same few.
    """

    path: Path
    spans: dict[str, slice]
    width: int
    cells: dict[str, slice] = field(default_factory=dict, init=False, repr=False, compare=False)
    known: dict[tuple[str, str], Printed | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    halves: dict[tuple[str, str], dict[str, Printed | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def from_header(cls, path: Path, line: Line, required: Sequence[str]) -> Columns:
        """Find the columns in a header line."""
        found = [match for match in _HEADING.finditer(line.text) if match[0] in required]
        names = [match[0] for match in found]
        for position, name in enumerate(required):
            if names[position : position + 1] != [name]:
                at = found[position].start() if position < len(found) else len(line.text)
                raise line.error(
                    path, f"expected the headings {' '.join(required)}; {name} is not in place", at
                )
        if len(names) > len(required):
            extra = found[len(required)]
            raise line.error(path, f"a second heading {extra[0]}", extra.start())
        if number := next((match for match in _HEADING.finditer(line.text) if is_number(match[0])), None):
            raise line.error(path, f"a number {number[0]} among the headings", number.start())
        spans = {match[0]: slice(*match.span()) for match in _HEADING.finditer(line.text)}
        return cls(path, spans, max(span.stop for span in spans.values()))

    def cell(self, name: str) -> slice:
        """Characters that belong to a number: from the end of the heading before to the end of its own."""
        if name not in self.cells:
            end = self.spans[name].stop
            before = max((span.stop for span in self.spans.values() if span.stop < end), default=0)
            self.cells[name] = slice(before, end)
        return self.cells[name]

    def word(self, line: Line, name: str, following: str | None = None) -> str:
        """Read a word, left-aligned under its heading."""
        start = self.spans[name].start
        end = self.spans[following].start - 1 if following else self.spans[name].stop
        text = line.text[start:end]
        word = text.rstrip(" ")
        if " " in word or not word.isprintable():
            raise line.error(
                self.path, f"{name} {text!r}: expected one word from column {start + 1} on", start
            )
        if word and line.text[end : end + 1].strip(" "):
            raise line.error(self.path, f"{name} {text!r} runs into the next column: expected a blank", end)
        return word

    def number(
        self, line: Line, name: str, factor: float = 1.0, *, suffixes: Mapping[str, float] = NO_SUFFIXES
    ) -> Printed | None:
        """Read a number, right-aligned under its heading."""
        span = self.cells.get(name) or self.cell(name)
        if len(line.text) < span.stop:
            problem = f"the row is cut short: expected {name} to end in column {line.offset + span.stop}"
            raise line.error(self.path, problem, len(line.text))
        key = name, line.text[max(span.start - 1, 0) : span.stop]
        if key not in self.known:
            if len(self.known) > MOST_KNOWN:
                self.known.clear()
            self.known[key] = self._number(line, name, span, factor, suffixes)
        return self.known[key]

    def numbers(
        self, line: Line, headings: Mapping[str, str], suffixes: Mapping[str, float] = NO_SUFFIXES
    ) -> dict[str, Printed | None]:
        """Read numbers that stand side by side, by field."""
        first, *_, last = headings.values()
        key = first, line.text[max(self.cell(first).start - 1, 0) : self.spans[last].stop]
        if key not in self.halves:
            if len(self.halves) > MOST_KNOWN:
                self.halves.clear()
            self.halves[key] = {
                name: self.number(line, heading, suffixes=suffixes) for name, heading in headings.items()
            }
        return self.halves[key]

    def _number(
        self, line: Line, name: str, span: slice, factor: float, suffixes: Mapping[str, float]
    ) -> Printed | None:
        cell = line.text[span]
        digits = cell.lstrip(" ")
        start = span.stop - len(digits)
        if _NOT_AVAILABLE.fullmatch(digits):
            return None
        if digits[-1:] in suffixes:
            digits, factor = digits[:-1], factor * suffixes[digits[-1:]]
        if not _NUMBER.fullmatch(digits):
            wanted = (
                f"expected a number that ends in column {line.offset + span.stop}, such as .2, 1.84 or 755"
            )
            raise line.error(self.path, f"{name} {cell.strip()!r}: {wanted}", min(start, span.stop - 1))
        if start == span.start and line.text[start - 1 : start].strip(" "):
            raise line.error(
                self.path, f"{name} {digits!r} touches the column before: expected a blank", start
            )
        return Printed.from_text(digits, factor)

    def count(self, line: Line, name: str) -> int | None:
        """Read a whole number, right-aligned under its heading; see `number`."""
        printed = self.number(line, name)
        if printed is None:
            return None
        if printed.resolution != WHOLE:
            raise line.error(
                self.path, f"{name} {printed.value:g}: expected a whole number", self.cell(name).start
            )
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
    """Cells of one published table.

    `path` is the file, `columns` its header, `rows` maps the first cell of each row to all its cells by column.
    """

    path: Path
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]

    def text(self, row: str, column: str) -> str:
        """A cell as printed."""
        if row not in self.rows:
            raise InputError("row", row, f"one of {', '.join(self.rows)}")
        if column not in self.columns:
            raise InputError("column", column, f"one of {', '.join(self.columns)}")
        return self.rows[row][column]

    def printed(self, row: str, column: str, factor: float = 1.0) -> Printed:
        """A cell as a number with the resolution of its digits."""
        text = self.text(row, column)
        try:
            return Printed.from_text(text, factor)
        except ValueError as error:
            raise ReportError(
                self.path, f"expected a number in row {row}, column {column}, found {text!r}"
            ) from error

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
    cells = read_cells(path, "a published table")
    rows: dict[str, dict[str, str]] = {}
    for line, row in zip(cells.lines, cells.rows, strict=True):
        if not row[0] or row[0] in rows:
            raise cells.error_at(line, 0, f"{shown(row[0])}: expected a new name in the first cell")
        rows[row[0]] = dict(zip(cells.header, row, strict=True))
    return PublishedTable(path=cells.path, columns=cells.header, rows=rows)
