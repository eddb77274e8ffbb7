"""Rows of DEVICE listings by columns: every sound row of a block of lines at once, what is odd left to be looked at.

A row is sound here if the careful reader of `planner.reports.device` takes it, and prints the same numbers; a row that
is not may still be good, such as one with a letter outside ASCII.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.device_rows import MEASURED, NUMBERS, Device
from planner.reports.lines import BLANK, Lines, Positions
from planner.reports.printed import Columns
from planner.results import Array
from planner.units import half_digit

JOINED: Final = (
    16  # characters right of the last heading that a cell may reach; another row would begin beyond
)
LONGEST_CELL: Final = 8
_PACKED: Final = 8  # characters that fit a number
LONGEST_LINE: Final = 512
FACTORS: Final = tuple(factor for _, _, factor in MEASURED.values())
_POINT, _ZERO, _LETTER_A = b".0A"
_DOTS: Final = 3  # that say, at least, that a number is not available
_POWERS: Final = 10.0 ** np.arange(LONGEST_CELL + 1)
_HALVES: Final = np.array([half_digit("." + "0" * decimals) for decimals in range(LONGEST_CELL + 1)])
Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The columns below one heading, as numbers."""

    columns: Columns
    cells: tuple[slice, ...]
    address: slice
    type: slice
    label: slice
    end: int
    width: int

    @classmethod
    def of(cls, columns: Columns) -> ColumnLayout:
        """Take the places from headings."""
        spans = columns.spans
        return cls(
            columns=columns,
            cells=tuple(columns.cell(name) for name in NUMBERS),
            address=spans["Addr"],
            type=slice(spans["Type"].start, spans["Label/ID"].start - 1),
            label=spans["Label/ID"],
            end=spans[NUMBERS[-1]].stop,
            width=columns.width,
        )


@dataclass(slots=True)
class Words:
    """Different words of a column by number, the empty one first; what is no word has the number -1."""

    is_word: Callable[[str], bool]
    words: list[str] = field(default_factory=lambda: [""])
    numbers: dict[str, int] = field(default_factory=lambda: {"": 0})
    _known: dict[int, tuple[NDArray[Any], NDArray[np.int64]]] = field(default_factory=dict)

    def number(self, word: str) -> int:
        """Give a word its number."""
        found = self.numbers.setdefault(word, len(self.words))
        if found == len(self.words):
            self.words.append(word)
        return found

    def of_cells(self, characters: Bytes) -> NDArray[np.int64]:
        """Number of the word in each cell, from its characters, shape (width, rows)."""
        width, rows = characters.shape
        room = max(_PACKED, width)
        cells = np.full((rows, room), BLANK, dtype=np.uint8)
        cells[:, :width] = characters.T
        packed: NDArray[Any] = cells.view(np.uint64 if room == _PACKED else f"S{room}").ravel()
        known, numbers = self._known.get(room, (packed[:0], np.zeros(0, dtype=np.int64)))
        index, found = _lookup(known, packed)
        if not found.all():
            fresh = np.unique(packed[~found])
            known = np.concatenate([known, fresh])
            numbers = np.concatenate([numbers, [self._of_cell(each.tobytes()) for each in fresh]])
            order = np.argsort(known)
            self._known[room] = known, numbers = known[order], numbers[order]
            index, _ = _lookup(known, packed)
        return numbers[index]

    def _of_cell(self, cell: bytes) -> int:
        word = cell.decode("ascii", "replace").rstrip(" \0")
        sound = cell.isascii() and " " not in word and word.isprintable() and self.is_word(word)
        return self.number(word) if sound or not word else -1


def _lookup(known: NDArray[Any], cells: NDArray[Any]) -> tuple[NDArray[np.int64], Mask]:
    """Places of cells among known ones, in order; and which are there."""
    if not known.size:
        return np.zeros(cells.size, dtype=np.int64), np.zeros(cells.size, dtype=bool)
    index = np.minimum(np.searchsorted(known, cells), known.size - 1)
    return index, known[index] == cells


@dataclass(slots=True)
class ColumnRows:
    """What the lines of one block hold where they are sound rows, an element a line; numbers in SI, nan for dots."""

    sound: Mask
    address: NDArray[np.int64]
    type: NDArray[np.int64]
    label: NDArray[np.int64]
    counts: Array
    values: Array
    halves: Array

    @classmethod
    def empty(cls, lines: int) -> ColumnRows:
        """Make rows of which none is sound."""
        address, kind, label = np.zeros((3, lines), dtype=np.int64)
        shape = (len(FACTORS), lines)
        sound = np.zeros(lines, dtype=bool)
        return cls(sound, address, kind, label, np.empty((2, lines)), np.empty(shape), np.empty(shape))

    def put(self, index: int, device: Device, types: Words, labels: Words) -> None:
        """Set a row that the careful reader took."""
        self.address[index] = int(device.address, 16)
        self.type[index], self.label[index] = types.number(device.type), labels.number(device.label)
        self.counts[:, index] = [np.nan if each is None else each for each in (device.links, device.paths)]
        printed = [getattr(device, name) for name in MEASURED]
        self.values[:, index] = [np.nan if each is None else each.value for each in printed]
        self.halves[:, index] = [np.nan if each is None else each.resolution for each in printed]

    def parse(
        self, lines: Lines, layout: ColumnLayout, first: int, last: int, types: Words, labels: Words
    ) -> None:
        """Find the sound rows among the lines from `first` up to `last`, which stand below one heading."""
        lengths = lines.ends[first:last] - lines.starts[first:last]
        pick = first + np.flatnonzero((lengths >= layout.end) & (lengths <= LONGEST_LINE))
        if not pick.size:
            return
        characters, rest = _characters(lines, pick, layout.width + JOINED)
        sound = rest & _frame_is_sound(characters, layout)
        address, fine = _hexadecimal(characters[layout.address])
        sound &= fine
        kinds, names = (
            words.of_cells(characters[place])
            for words, place in ((types, layout.type), (labels, layout.label))
        )
        sound &= (kinds > 0) & (names >= 0)
        digits = characters - _ZERO  # what is no digit wraps around to 10 and above
        for position, cell in enumerate(layout.cells):
            values, decimals, fine = _numbers_in(characters, digits, cell.start, cell.stop)
            sound &= fine
            if position < len(layout.cells) - len(FACTORS):
                sound &= decimals == 0
                self.counts[position, pick] = values
            else:
                number = position - (len(layout.cells) - len(FACTORS))
                self.values[number, pick] = values * FACTORS[number]
                self.halves[number, pick] = _HALVES[decimals] * FACTORS[number]
        self.sound[pick], self.address[pick], self.type[pick], self.label[pick] = sound, address, kinds, names


def _characters(lines: Lines, pick: Positions, most: int) -> tuple[Bytes, Mask]:
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


def _frame_is_sound(characters: Bytes, layout: ColumnLayout) -> Mask:
    """Whether it is blank where it must be: around address and words, and right of the last number."""
    places = layout.address, layout.type, layout.label
    blanks = [*range(layout.address.start), *(place.stop for place in places), layout.end]
    if layout.end == layout.width:
        blanks += range(layout.end, len(characters))
    return np.asarray((characters[blanks] == BLANK).all(axis=0))


def _hexadecimal(characters: Bytes) -> tuple[NDArray[np.int64], Mask]:
    """Numbers of four hexadecimal digits, in capitals; and which are such."""
    digits, letters = characters - _ZERO, characters - _LETTER_A
    is_digit, is_letter = digits < 10, letters < 6  # noqa: PLR2004
    places = np.where(is_digit, digits, letters + 10)
    found = np.zeros(characters.shape[1], dtype=np.int64)
    for place in places:
        found = found * 16 + place
    return found, np.asarray((is_digit | is_letter).all(axis=0))


def _numbers_in(
    characters: Bytes, digits: Bytes, start: int, end: int
) -> tuple[Array, NDArray[np.int64], Mask]:
    """Number in the cells between two columns, nan where it is dots; its decimals; whether it is sound."""
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
    none = ~some & (points >= _DOTS)
    sound = ~wrong & (none | (some & ((points == 0) | ((points == 1) & (decimals > 0)))))
    if first > start:  # a number that is wider is looked at with care
        sound &= np.asarray((characters[start : first + 1] == BLANK).all(axis=0))
    elif start:  # what fills its cell must be apart from its neighbor
        sound &= (characters[first] == BLANK) | (characters[first - 1] == BLANK)
    places = decimals.astype(np.int64)
    values = value / _POWERS[places]
    values[none] = np.nan
    return values, places, sound
