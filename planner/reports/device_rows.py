"""Rows of the DEVICE listing of Performance Toolkit (FCX108): real devices, with rates, times and queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.csv_table import HALVES
from planner.reports.lines import BLANK, Line, Lines
from planner.reports.printed import Columns, Printed, is_number
from planner.results import Array, Flags, Integers
from planner.units import MILLISECOND

DEVICE: Final = "FCX108"
HEADINGS: Final = (
    "Addr", "Type", "Label/ID", "Links", "ths", "I/O", "Avoid",
    "Pend", "Disc", "Conn", "Serv", "Resp", "CUWt", "Qued",
)  # fmt: skip
NAMES: Final = HEADINGS[:3]
COUNTS: Final = HEADINGS[3:5]
MEASURED: Final = {  # field: heading, SI units in one printed unit
    "io_rate": ("I/O", 1.0),
    "avoided": ("Avoid", 1.0),
    "pend": ("Pend", MILLISECOND),
    "disconnect": ("Disc", MILLISECOND),
    "connect": ("Conn", MILLISECOND),
    "service": ("Serv", MILLISECOND),
    "response": ("Resp", MILLISECOND),
    "cu_wait": ("CUWt", MILLISECOND),
    "queued": ("Qued", 1.0),
}
NUMBERS: Final = {**dict.fromkeys(COUNTS, 1.0), **dict(MEASURED.values())}  # heading: SI units in one
ADDRESS: Final = re.compile(r"[0-9A-F]{4}")
ALIAS: Final = re.compile(r"->([0-9A-F]{4})")
TYPE: Final = re.compile(r"->[0-9A-F]{4}|[^->][^>]*")
_DISK_ROW: Final = re.compile(r".? *[0-9A-F]{4} +(?:33[89]0(?:-\w+)?|9336(?:-\w+)?|->[0-9A-F]{4})(?: |$)")
_ROW_START: Final = re.compile(r" *[0-9A-F]{4}(?: *$| +[-0-9])")  # an address, then a type or nothing
_RULE: Final = re.compile(r"[ ._]*")
_GROUP: Final = "<-- Device Descr"
SUMMARY: Final = ">>"  # rows such as a sum over all devices; none in a published listing, never a device
SCREEN_END: Final = ("Command ===>", "Select a device", "F1=Help")  # what a screen shows below its rows

APART: Final = "a row apart from its table: expected rows without a blank line between them"
NO_HEAD: Final = f"a DEVICE table without its page head: expected '{DEVICE}  Run ...' above it"
# Characters right of the last heading that a cell may reach; another row would begin beyond.
JOINED: Final = 16
LONGEST_CELL: Final = 8  # characters, that fit a number of 64 bits
LONGEST_LINE: Final = 512
_POINT, _ZERO = b".0"
_POWERS: Final = 10.0 ** np.arange(LONGEST_CELL + 1)
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One row: a real device as the listing shows it, in SI; numbers are None where it prints dots.

    `address` is its number, four hexadecimal digits, `type` such as ``3390-3``, or ``->522A`` for a classic alias,
    `label` volume label or owner, empty where blank; `links` and `paths` are counts. `io_rate` and `avoided` are I/Os
    started and avoided by minidisk caching; `pend`, `disconnect`, `connect`, `service`, `response` and `cu_wait` mean
    times of one I/O, `queued` is the mean number waiting; `line` is that of the file. Performance Toolkit adds up
    `service` from its rounded parts, and prints no response time of a volume that an alias serves.
    """

    address: str
    type: str
    label: str
    links: int | None
    paths: int | None
    io_rate: Printed | None
    avoided: Printed | None
    pend: Printed | None
    disconnect: Printed | None
    connect: Printed | None
    service: Printed | None
    response: Printed | None
    cu_wait: Printed | None
    queued: Printed | None
    line: int

    @property
    def alias_of(self) -> str | None:
        """Address of the base of a classic alias, else None."""
        alias = ALIAS.fullmatch(self.type)
        return alias[1] if alias else None

    @property
    def is_classic_alias(self) -> bool:
        """Whether the type names a base (``->522A``)."""
        return self.alias_of is not None

    @property
    def is_hyperpav_alias(self) -> bool:
        """Whether label is blank and type names no base: a HyperPAV alias has no volume of its own."""
        return not self.label and not self.is_classic_alias


def is_header(line: Line) -> bool:
    """Whether this is the lower line of the heading, which shows where the columns are."""
    words = line.text.split()
    return words[:2] == list(HEADINGS[:2]) or len(set(HEADINGS) & set(words)) > len(HEADINGS) // 2


def is_heading(line: Line) -> bool:
    """Whether this is the upper line of the heading, a rule, or the dots that mark sortable columns."""
    return line.text.lstrip(" ").startswith(_GROUP) or _RULE.fullmatch(line.text) is not None


def columns_below(path: Path, above: Line, line: Line) -> Columns:
    """Find the columns; the line above the headings must say that the times are in milliseconds."""
    if "(msec)" not in above.text:
        wanted = "'<-- Device Descr. --> ... Time (msec) ...'"
        raise above.error(path, f"expected the upper line of the heading, {wanted}")
    return Columns.from_header(path, line, HEADINGS)


def _address(columns: Columns, line: Line) -> str:
    """Device address that opens a row, empty where none stands in its column, apart from its neighbors."""
    span = columns.spans["Addr"]
    apart = not (line.text[: span.start] + line.text[span.stop : span.stop + 1]).strip(" ")
    address = line.text[span.start : span.stop]
    return address if apart and ADDRESS.fullmatch(address) else ""


def looks_like_row(columns: Columns, line: Line) -> bool:
    """Whether a line is a row, sound or damaged, rather than text that follows the table."""
    if _address(columns, line) or _ROW_START.match(line.text):
        return True
    return sum(map(is_number, line.text.split())) > len(NUMBERS) // 2


def read_row(columns: Columns, line: Line) -> tuple[tuple[str, str, str], list[Printed | None]]:
    """Read one row by its columns: address, type and label, and the numbers of `NUMBERS`."""
    path, start = columns.path, columns.spans["Addr"].start
    address = _address(columns, line)
    if not address:
        wanted = f"a row, with a device address (four hexadecimal digits) in column {line.offset + start + 1}"
        raise line.error(path, f"{line.text.strip()[:40]!r}: expected {wanted}, or a blank line", start)
    kind = columns.word(line, "Type", following="Label/ID")
    if not TYPE.fullmatch(kind):
        wanted = "expected a device type such as 3390-3, or ->522A for an alias"
        raise line.error(path, f"Type {kind!r}: {wanted}", columns.spans["Type"].start)
    label = columns.word(line, "Label/ID")
    for name in COUNTS:
        columns.count(line, name)
    numbers = [columns.number(line, name, factor) for name, factor in NUMBERS.items()]
    columns.close(line, HEADINGS[-1])
    return (address, kind, label), numbers


def is_summary(text: str) -> bool:
    """Whether a line, from its first character on, is a sum over devices such as ``>> All DASD <<``."""
    return text.startswith(SUMMARY) and any(mark in text[len(SUMMARY) :] for mark in (SUMMARY, "<<"))


def may_be_row(text: str, few: int = 5) -> bool:
    """Whether a line that stands outside of a table looks like a row: it has more than `few` numbers."""
    numbers = sum(is_number(word.rstrip("kM")) for word in text.split())
    return numbers > few or _DISK_ROW.match(text) is not None


class Words(dict[bytes, int]):
    """Number of the word in each cell of a column, the empty one first; what is no word has the number -1."""

    def __init__(self, is_word: Callable[[str], object]) -> None:
        super().__init__()
        self.is_word = is_word
        self.words = [""]
        self.numbers = {"": 0}

    def number(self, word: str) -> int:
        """Give a word its number."""
        found = self.numbers.setdefault(word, len(self.words))
        if found == len(self.words):
            self.words.append(word)
        return found

    def of_cells(self, characters: Bytes) -> Integers:
        """Number of the word in each cell, from its characters, shape (width, rows)."""
        cells = np.ascontiguousarray(characters.T).view(f"S{len(characters)}").ravel().tolist()
        return np.fromiter(map(self.__getitem__, cells), np.int64, len(cells))

    def __missing__(self, cell: bytes) -> int:
        """Read a cell that is met for the first time."""
        word = cell.decode("ascii", "replace").rstrip(" ")
        sound = cell.isascii() and " " not in word and word.isprintable() and self.is_word(word)
        self[cell] = self.number(word) if sound or not word else -1
        return self[cell]


@dataclass(slots=True)
class ColumnRows:
    """What the lines of one block hold where they are sound rows, an element a line; numbers in SI, nan for dots."""

    sound: Flags
    line: Integers
    listing: Integers  # number of the listing that each is of, -1 for none
    names: Integers  # address, type and label by their numbers among the words, shape (3, lines)
    values: Array  # of `NUMBERS`, shape (numbers, lines)
    halves: Array

    @classmethod
    def empty(cls, lines: Integers) -> ColumnRows:
        """Make rows of which none is sound, from the numbers of their lines."""
        names = np.zeros((len(NAMES), lines.size), dtype=np.int64)
        values, halves = np.empty((2, len(NUMBERS), lines.size))
        return cls(np.zeros(lines.size, dtype=bool), lines, np.full(lines.size, -1), names, values, halves)

    def take(self, index: Integers) -> ColumnRows:
        """Some of them."""
        return ColumnRows(*(getattr(self, each.name)[..., index] for each in fields(self)))

    def put(self, index: int, columns: Columns, line: Line, words: Sequence[Words]) -> None:
        """Set a row that the careful reader takes."""
        names, numbers = read_row(columns, line)
        self.names[:, index] = [known.number(word) for known, word in zip(words, names, strict=True)]
        found = [each or Printed(np.nan, np.nan) for each in numbers]
        self.values[:, index] = [each.value for each in found]
        self.halves[:, index] = [each.resolution for each in found]

    def parse(self, lines: Lines, columns: Columns, first: int, last: int, words: Sequence[Words]) -> None:
        """Find the sound rows among the lines from `first` up to `last`, which stand below one heading."""
        address, kind, label = (columns.spans[heading] for heading in NAMES)
        kind = slice(kind.start, label.start - 1)
        end = columns.spans[HEADINGS[-1]].stop
        lengths = lines.ends[first:last] - lines.starts[first:last]
        pick = first + np.flatnonzero((lengths >= end) & (lengths <= LONGEST_LINE))
        if not pick.size:
            return
        characters, sound = _characters(lines, pick, columns.width + JOINED)
        blanks = [*range(address.start), address.stop, kind.stop, label.stop, end]
        if end == columns.width:
            blanks += range(end, len(characters))
        sound &= (characters[blanks] == BLANK).all(axis=0)
        cells = zip(words, (address, kind, label), strict=True)
        names = np.array([known.of_cells(characters[span]) for known, span in cells])
        sound &= (names[:2] > 0).all(axis=0) & (names[2] >= 0)
        digits = characters - _ZERO  # what is no digit wraps around to 10 and above
        for number, (heading, factor) in enumerate(NUMBERS.items()):
            cell = columns.cells[heading]
            values, decimals, fine = _numbers_in(characters, digits, cell.start, cell.stop)
            sound &= fine & ((decimals == 0) | (heading not in COUNTS))
            self.values[number, pick] = values * factor
            self.halves[number, pick] = HALVES[decimals] * factor
        self.sound[pick], self.names[:, pick] = sound, names


def _characters(lines: Lines, pick: Integers, most: int) -> tuple[Bytes, Flags]:
    """Characters of lines by column, blank beyond their ends, shape (columns, lines); and whether the rest is blank."""
    starts = lines.starts[pick]
    lengths = lines.ends[pick] - starts
    shortest, longest = int(lengths.min()), int(lengths.max())
    found = np.full((min(most, longest) + 1, pick.size), BLANK, dtype=np.uint8)
    rest = np.ones(pick.size, dtype=bool)
    for column in range(longest):
        row = found[column] if column < most else np.empty(pick.size, dtype=np.uint8)
        np.take(lines.buffer, starts + column, out=row, mode="clip")
        if column >= shortest:
            row[column >= lengths] = BLANK
        if column >= most:
            rest &= row == BLANK
    return found, rest


def _numbers_in(
    characters: Bytes, digits: Bytes, start: int, end: int, dots: int = 3
) -> tuple[Array, Integers, Flags]:
    """Number in the cells between two columns, nan where it is only dots; its decimals; whether it is sound."""
    first, rows = max(start, end - LONGEST_CELL), characters.shape[1]
    value = np.zeros(rows, dtype=np.int32)
    points, decimals = np.zeros((2, rows), dtype=np.uint8)
    begun, some, wrong = np.zeros((3, rows), dtype=bool)
    for row, digit in zip(characters[first:end], digits[first:end], strict=True):
        is_blank = row == BLANK
        if is_blank.all():
            wrong |= begun
            continue
        is_digit, is_point = digit < 10, row == _POINT  # noqa: PLR2004
        wrong |= ~(is_digit | is_point | is_blank) | (is_blank & begun)
        begun |= ~is_blank
        some |= is_digit
        decimals += is_digit & (points > 0)
        points += is_point
        np.copyto(value, value * 10 + digit, where=is_digit)
    none = ~some & (points >= dots)
    sound = ~wrong & (none | (some & ((points == 0) | ((points == 1) & (decimals > 0)))))
    if first > start:  # a number that is wider is looked at with care
        sound &= np.asarray((characters[start : first + 1] == BLANK).all(axis=0))
    elif start:  # what fills its cell must be apart from its neighbor
        sound &= (characters[first] == BLANK) | (characters[first - 1] == BLANK)
    places = decimals.astype(np.int64)
    values = value / _POWERS[places]
    values[none] = np.nan
    return values, places, sound
