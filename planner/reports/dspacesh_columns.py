"""Rows of DSPACESH listings by columns: all pages of a file at once, or none of them.

Where a row, a heading or a listing is not as the careful reader of `planner.reports.dspacesh` takes it, nothing is
returned: that one says what is wrong, or takes it after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.byte_lines import BLANK
from planner.reports.columns import CharacterSpan, Columns
from planner.reports.device_columns import HALVES, ZERO, Bytes, Mask, numbers_in
from planner.reports.device_rows import may_be_row
from planner.reports.dspacesh import PAGES, RATES, RELEASE, SUFFIXES, columns_below, looks_like_row
from planner.reports.headings import LEFT, RIGHT, is_header
from planner.reports.listing import Line, Page, PageHead
from planner.results import Array

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_HINTS: Final = (LEFT[5], RIGHT[1])  # one of the headings of each half, to look twice at
_FIRST, _LAST = b"!~"  # characters of a word


class OddError(Exception):
    """Something is not plain; the careful reader is to look at it."""


@dataclass(slots=True)
class _Half:
    """Rows of the left or right halves: their lines, the listing of each, and the layout that it stands in."""

    lines: list[Line] = field(default_factory=list)
    listing: list[int] = field(default_factory=list)
    layout: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Rows:
    """What the pages of a file hold: both halves, the layouts below their headings, what each listing says."""

    path: Path
    left: _Half = field(default_factory=_Half)
    right: _Half = field(default_factory=_Half)
    layouts: list[tuple[Columns, str]] = field(default_factory=list)
    heads: list[PageHead] = field(default_factory=list)
    releases: list[str | None] = field(default_factory=list)
    _known: dict[str, tuple[int, tuple[_Half, ...]] | None] = field(default_factory=dict)

    def take(self, page: Page) -> None:
        """Walk down a page as the careful reader does."""
        below: tuple[int, tuple[_Half, ...]] | None = None
        inside, any_heading, listing = False, False, len(self.heads) - 1
        self._look_for_release(page.first)
        for line in page.lines:
            text = line.text
            if (_HINTS[0] in text or _HINTS[1] in text) and (found := self._heading(line)) is not None:
                below, inside, any_heading = found, True, True
            elif not text.strip():
                inside = False
            elif inside and below is not None:
                for half in below[1]:
                    half.lines.append(line)
                    half.listing.append(listing)
                    half.layout.append(below[0])
            else:
                self._look_for_release(line)
                if not any_heading and may_be_row(text):
                    raise OddError
                if any_heading and (looks_like_row(LEFT, line) or looks_like_row(RIGHT, line)):
                    raise OddError

    def _heading(self, line: Line) -> tuple[int, tuple[_Half, ...]] | None:
        """Which halves a heading opens, and its layout; None for any other line."""
        if line.text not in self._known:
            names: list[tuple[str, ...]] = [each for each in (LEFT, RIGHT) if is_header(line, each)]
            if not names:
                self._known[line.text] = None
            else:
                headings = tuple(word for each in names for word in each)
                halves = tuple(self.left if each is LEFT else self.right for each in names)
                self._known[line.text] = len(self.layouts), halves
                self.layouts.append((columns_below(self.path, line, headings), headings[-1]))
        return self._known[line.text]

    def _look_for_release(self, line: Line) -> None:
        if self.releases[-1] is None and (match := RELEASE.search(line.text)):
            self.releases[-1] = match[1]


def plain_rows(path: Path, pages: Sequence[Page]) -> pl.DataFrame | None:
    """Rows of the table of storage; None where a page is for the careful reader."""
    found = _Rows(path)
    try:
        for head, same in groupby(pages, lambda page: page.head):
            found.heads.append(head)
            found.releases.append(None)
            for page in same:
                found.take(page)
        return _frame(found)
    except (OddError, ReportError):
        return None


def _frame(rows: _Rows) -> pl.DataFrame:
    left, right = rows.left, rows.right
    if left.listing != right.listing or set(left.listing) != set(range(len(rows.heads))):
        raise OddError
    listing = np.array(left.listing)
    data: dict[str, Any] = {}
    for name, values in (
        ("system", [head.system or None for head in rows.heads]),
        ("source", [head.run or None for head in rows.heads]),
        ("start", [head.start if isinstance(head.start, datetime) else None for head in rows.heads]),
        ("interval", [head.interval for head in rows.heads]),
        ("release", rows.releases),
    ):
        data[name] = [values[k] for k in left.listing]
    data["file"] = str(rows.path)
    data["line"] = np.array([line.number for line in left.lines], dtype=np.uint32)
    names, counts = _parsed(rows, left, _left), _parsed(rows, right, _right)
    for parts in (names, counts):
        for name, values in parts.items():
            data[name] = values
    for part, whole in (("resident", "total"), ("resident_below_2gb", "resident")):
        with np.errstate(invalid="ignore"):
            if (data[f"{part}_low"] > data[f"{whole}_high"]).any():
                raise OddError
    keys = set(zip(listing.tolist(), data["owner"], data["name"], strict=True))
    if len(keys) < listing.size:
        raise OddError
    return schema.frame(schema.STORAGE, {name: _null(values) for name, values in data.items()}, listing.size)


def _null(values: Any) -> Any:
    """Missing numbers as polars has them."""
    import polars as pl

    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return pl.Series(values, nan_to_null=True)
    return values


def _parsed(rows: _Rows, half: _Half, read: Any) -> dict[str, Any]:
    """Columns of one half, the rows of each layout at once and then in order."""
    layout = np.array(half.layout)
    found: dict[str, Any] = {}
    for number in np.unique(layout).tolist():
        pick = np.flatnonzero(layout == number)
        columns, last = rows.layouts[number]
        characters = _characters([half.lines[k].text for k in pick.tolist()], columns, last)
        for name, values in read(columns, characters):
            whole = found.setdefault(name, np.empty(layout.size, dtype=values.dtype))
            whole[pick] = values
    return {name: values.tolist() if values.dtype == object else values for name, values in found.items()}


def _characters(texts: Sequence[str], columns: Columns, last: str) -> Bytes:
    """Characters by column, shape (columns, rows), blank right of the last heading that is read."""
    end = columns.spans[last].end
    width = max(map(len, texts))
    try:
        data = "".join(text.ljust(max(width, end + 1)) for text in texts).encode("ascii")
    except UnicodeEncodeError:
        raise OddError from None
    found = np.frombuffer(data, dtype=np.uint8).reshape(len(texts), -1).T
    rest = found[end:] if end == columns.width else found[end : end + 1]
    if (rest != BLANK).any():
        raise OddError
    return np.ascontiguousarray(found)


def _left(columns: Columns, characters: Bytes) -> Iterator[tuple[str, Any]]:
    """Names, users and rates."""
    yield "owner", _words(characters, columns.spans["Userid"].start, columns.spans["Data"].start - 1)
    yield "name", _words(characters, columns.spans["Data"].start, columns.spans["Permt"].start - 1)
    users, halves = _numbers(characters, columns.cell("Permt"))
    if not (np.isnan(users) | (halves == HALVES[0])).all():
        raise OddError
    yield "users", users
    for name, heading in RATES.items():
        yield from _ends(name, *_numbers(characters, columns.cell(heading)))


def _right(columns: Columns, characters: Bytes) -> Iterator[tuple[str, Any]]:
    """Pages."""
    for name, heading in PAGES.items():
        yield from _ends(name, *_numbers(characters, columns.cell(heading), SUFFIXES))


def _words(characters: Bytes, start: int, end: int) -> NDArray[Any]:
    """One word a row, left-aligned."""
    cells, after = characters[start:end], characters[end]
    blank = cells == BLANK
    fine = ~blank[0] & (after == BLANK) & ~(blank[:-1] & ~blank[1:]).any(axis=0)
    if not fine.all() or not (blank | ((cells >= _FIRST) & (cells <= _LAST))).all():
        raise OddError
    packed = np.ascontiguousarray(cells.T).view(f"S{end - start}").ravel()
    words, places = np.unique(packed, return_inverse=True)
    return np.array([word.decode().rstrip() for word in words.tolist()], dtype=object)[places]


def _numbers(characters: Bytes, span: CharacterSpan, suffixes: Any = None) -> tuple[Array, Array]:
    """Numbers right-aligned in a cell, nan for dots, and half a unit of the last digit of each."""
    if not suffixes:
        values, decimals, sound = numbers_in(characters, characters - ZERO, span.start, span.end)
        factor = np.ones(1)
    else:
        cell, factor, sound = _without_suffix(characters, span, suffixes)
        values, decimals, fine = numbers_in(cell, cell - ZERO, 1, len(cell))
        sound = sound & fine & ~(np.isnan(values) & (factor != 1.0))
    if not sound.all():
        raise OddError
    return values * factor, HALVES[decimals] * factor


def _without_suffix(characters: Bytes, span: CharacterSpan, suffixes: Any) -> tuple[Bytes, Array, Mask]:
    """Cells with the character before them, their digits moved to the end, and what each is multiplied by."""
    last = characters[span.end - 1]
    factor = np.ones(last.size)
    for letter, multiple in suffixes.items():
        factor[last == ord(letter)] = multiple
    has = factor != 1.0
    before = characters[span.start - 1] if span.start else np.full(last.size, BLANK, dtype=np.uint8)
    cell = np.concatenate([before[None], characters[span.start : span.end]])
    sound = ~has | (cell[1] == BLANK) | (before == BLANK)
    cell[2:, has] = cell[1:-1, has]
    cell[1, has] = BLANK
    return cell, factor, sound


def _ends(name: str, values: Array, halves: Array) -> Iterator[tuple[str, Array]]:
    yield name, values
    yield f"{name}_low", np.maximum(values - halves, 0.0)
    yield f"{name}_high", values + halves
