"""Listings of any size, page by page in one pass: sound rows by columns, odd lines by the careful readers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from planner.errors import ReportError
from planner.reports import device_rows as device
from planner.reports import listing as pages
from planner.reports.device_rows import ADDRESS, DEVICE, TYPE, ColumnRows, Words
from planner.reports.lines import Line, Lines, read_lines
from planner.reports.printed import Columns
from planner.results import Integers

_HINT: Final = re.compile(rb"Addr|Pend|Disc|Conn|Serv|Resp|CUWt|Qued|Userid|Pgstl|Resid|XSTOR|DASD")
_NO_HEADING: Final = f"expected the heading line '{' '.join(device.HEADINGS)}' below this head"
_SECOND_ROW: Final = re.compile(r"(?<=.{20}) [0-9A-F]{4} +(?:33[89]0|9336|->[0-9A-F]{4})")


@dataclass(slots=True)
class Listing:
    """One DEVICE listing: what its `head` says, its `first` line, how many `rows` it has, its damaged rows."""

    head: pages.PageHead
    first: Line
    rows: int = 0
    damaged: list[tuple[ReportError, str]] = field(default_factory=list)


@dataclass(slots=True)
class OpenPage:
    """The page that is being read: its first line, those of its head so far, where in it the scan stands, its rows."""

    first: Line
    report: str
    carriage: bool
    prologue: list[Line] | None
    head: pages.PageHead | None = None
    state: str = "head"
    columns: Columns | None = None
    sound: int = 0
    damaged: int = 0
    lines: list[Line] = field(default_factory=list)


def scan(
    path: Path, data: bytes | None = None, take: Callable[[ColumnRows, Scanner], None] | None = None
) -> Scanner:
    """Read a file of listings; `take` gets the rows of each block at once."""
    scanner = Scanner(path)
    for lines in read_lines(path, data, tabs=True):
        scanner.feed(lines)
        while take is not None and scanner.parts:
            take(scanner.parts.pop(), scanner)
    scanner.finish()
    return scanner


@lru_cache(maxsize=2**14)
def _kind(raw: bytes) -> str:
    """What an odd line is, wherever it stands: a header, blank (or a rule, or an upper heading), or neither."""
    line = Line(0, raw.decode("utf-8", "replace"))
    if device.is_header(line):
        return "header"
    return "blank" if line.is_blank or device.is_heading(line) else ""


class Scanner:
    """Takes blocks of lines in order: `listings` and rows (`parts`) of DEVICE, its words, and pages of DSPACESH.

    `words` are addresses, types and labels of the rows by number; `reports` are the ids of all pages.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.listings: list[Listing] = []
        self.parts: list[ColumnRows] = []
        self.words = Words(ADDRESS.fullmatch), Words(TYPE.fullmatch), Words(str.isprintable)
        self.spaces: list[pages.Page] = []
        self.reports: list[str] = []
        self.page: OpenPage | None = None
        self.above: tuple[Lines, int] | None = None
        self._layout: Columns | None = None
        self._layouts: dict[str, Columns | None] = {}
        self._tops: dict[bytes, OpenPage] = {}
        # by number of the address
        self._last_listing, self._last_line, self._place = np.full((3, 2**16 + 1), -1)

    def feed(self, lines: Lines) -> None:
        """Read one block."""
        self.lines = lines
        count = lines.starts.size
        self.rows = ColumnRows.empty(lines.numbers)
        for first, last, layout in self._stretches(lines):
            self.rows.parse(lines, layout, first, last, self.words)
        position = 0
        for index in [*np.flatnonzero(~self.rows.sound).tolist(), count]:
            if index > position:
                self._sound_rows(position, index)
            if position <= index < count:
                position = self._page_top(index) or self._one_line(index)
        self._keep()

    def _one_line(self, index: int) -> int:
        """Read an odd line by itself; where to go on."""
        self._odd_line(index)
        self.above = self.lines, index
        return index + 1

    def _page_top(self, index: int, near: int = 20, longest: int = 2**12) -> int | None:
        """Read a page's lines to its heading that have been read before; returns where to go on, or None.

        The heading is `near` lines away at most, of `longest` characters together; so near is the id of the report.
        """
        lines = self.lines
        start = int(lines.starts[index])
        if b"FCX108" not in lines.data[start : start + near]:
            return None
        place = bisect_right(self.headers, index)
        if place == len(self.headers):
            return None
        header = self.headers[place]
        top = lines.data[start : lines.ends[header]]
        known = self._tops.get(top)
        if known is None:
            if header - index > near or len(top) > longest:
                return None
            for each in range(index, header + 1):
                if each > index and pages.HEAD.match(lines.text(each)):
                    return each  # a page without a heading: what stands above is read, go on with this one
                self._one_line(each)
            if self.page is not None and self.page.state == "heading" and lines.edges[index] == start:
                self._tops[top] = self.page
            return header + 1
        self._end_page()
        self.page = replace(known, first=lines.line(index), state="heading", prologue=None, lines=[],
                            sound=0, damaged=0)  # fmt: skip
        self._begin_listing(self.page)
        self.above = lines, header
        return header + 1

    def finish(self) -> None:
        """Close the last page and the last listing."""
        self._end_page()
        self._end_listing()

    def _stretches(self, lines: Lines) -> Iterator[tuple[int, int, Columns]]:
        """Lines that stand below headings of one layout, as far as a heading is one; they are kept in `headers`."""
        first, position = 0, lines.data.find(b"Addr")
        self.headers: list[int] = []
        while position >= 0:
            index = int(np.searchsorted(lines.starts, position, side="right")) - 1
            text = lines.text(index)
            if text not in self._layouts:
                line, self._layouts[text] = lines.line(index), None
                with suppress(ReportError):  # which is said once the page has come to it
                    if device.is_header(line):
                        self._layouts[text] = Columns.from_header(self.path, line, device.HEADINGS)
            layout = self._layouts[text]
            if layout is not None:
                self.headers.append(index)
                if self._layout is not None and self._layout is not layout:
                    yield first, index, self._layout
                first, self._layout = first if self._layout is layout else index + 1, layout
            position = lines.data.find(b"Addr", int(lines.ends[index]))
        if self._layout is not None:
            yield first, lines.starts.size, self._layout

    def _sound_rows(self, first: int, last: int) -> None:
        """Take sound rows, all of one page; they may stand below a heading only."""
        page = self.page
        if page is None or page.report != DEVICE:
            raise self.lines.line(first).error(self.path, pages.STRAY_ROW)
        if page.columns is None:
            self._row_above_heading(first)
        if page.state not in {"heading", "rows"}:
            raise self._line(first).error(self.path, device.APART)
        page.state = "rows"
        self.rows.listing[first:last] = len(self.listings) - 1
        self.listings[-1].rows += last - first
        page.sound += last - first
        self.above = self.lines, last - 1

    def _line(self, index: int) -> Line:
        """A line as its page sees it: carriage control is a blank."""
        line = self.lines.line(index)
        if self.page is not None and self.page.carriage and line.text[:1] in pages.CARRIAGE:
            return replace(line, text=" " + line.text[1:])
        return line

    def _odd_line(self, index: int) -> None:
        """Read a line that is no sound row."""
        raw = self.lines.data[self.lines.starts[index] : self.lines.ends[index]]
        if b"FCX" in raw and (match := pages.HEAD.match(text := self.lines.text(index))):
            self._end_page()
            self._open_page(self.lines.line(index), match, carriage=text[0] in pages.CARRIAGE)
            return
        page = self.page
        if page is None:
            self._outside(index, raw)
            return
        if page.prologue is not None:
            self._prologue(page, page.prologue, index)
        if page.report == pages.DSPACESH:
            page.lines.append(self._line(index))
        elif page.report == DEVICE:
            self._device_line(page, index, raw)
        elif _HINT.search(raw):
            self._refuse_tables(self._line(index))

    def _open_page(self, line: Line, head: re.Match[str], *, carriage: bool) -> None:
        report, kind = f"FCX{head['report']}", head["kind"]
        if report not in self.reports:
            self.reports.append(report)
        if carriage:
            line = replace(line, text=" " + line.text[1:])
        self.page = OpenPage(line, report, carriage, [] if kind == "Run" else None)
        if kind != "Run":
            self._head_is_read(self.page, [])

    def _prologue(self, page: OpenPage, above: list[Line], index: int) -> None:
        """Collect the lines of a page head, up to a rule, a blank line or a heading."""
        line = self._line(index)
        if not line.text.strip(" _") or device.is_header(line):
            self._head_is_read(page, above)
        elif page.report == DEVICE and device.may_be_row(line.text):
            self._row_above_heading(index)
        else:
            above.append(line)

    def _head_is_read(self, page: OpenPage, below: Sequence[Line]) -> None:
        """Understand a page head."""
        page.head, page.prologue = pages.read_head(self.path, (page.first, *below)), None
        self._begin_listing(page)

    def _begin_listing(self, page: OpenPage) -> None:
        """A DEVICE page with another head than the one before begins a listing."""
        before = self.listings[-1].head if self.listings else None
        if page.report == DEVICE and page.head is not None and page.head != before:
            self._end_listing()
            self.listings.append(Listing(page.head, page.first))

    def _device_line(self, page: OpenPage, index: int, raw: bytes) -> None:
        """Move on in a DEVICE page: head, heading, one block of rows, a gap, other text."""
        kind = _kind(raw)
        if kind == "header":
            line = self._line(index)
            if page.state == "text":
                raise line.error(self.path, device.NO_HEAD)
            above = page.first if self.above is None else self.above[0].line(self.above[1])
            page.columns = device.columns_below(self.path, above, line)
            page.state = "heading"
        elif kind == "blank":
            page.state = "gap" if page.state == "rows" else page.state
        elif page.columns is None:
            if page.prologue is None and device.may_be_row(self.lines.text(index)):
                self._row_above_heading(index)
        else:
            self._below_heading(page, page.columns, index)

    def _below_heading(self, page: OpenPage, columns: Columns, index: int) -> None:
        """A line below a heading that is neither blank nor a sound row."""
        line = self._line(index)
        text = line.text.lstrip(" ")
        if page.state == "rows" and text.startswith(device.SCREEN_END):
            page.state = "text"
        elif page.state in {"heading", "rows"}:
            if not device.is_summary(text):
                self._careful_row(page, columns, line, index)
            page.state = "rows"
        elif device.looks_like_row(columns, line):
            raise line.error(self.path, device.APART)
        else:
            self._refuse_data_spaces(line)
            page.state = "text"

    def _careful_row(self, page: OpenPage, columns: Columns, line: Line, index: int) -> None:
        """Read a row that columns did not decide: it is sound, damaged, or no row at all."""
        listing, two = self.listings[-1], _SECOND_ROW.search(line.text)
        try:
            if two:
                raise line.error(self.path, "two rows on one line: expected each on a line of its own")
            self.rows.put(index, columns, line, self.words)
        except ReportError as error:
            cut = self.lines.is_open and index == self.lines.starts.size - 1  # the file ends within the row
            if cut or two or not device.looks_like_row(columns, line):
                raise
            listing.damaged.append((error, line.text.strip()))
            page.damaged += 1
            return
        self.rows.listing[index] = len(self.listings) - 1
        listing.rows += 1
        page.sound += 1

    def _outside(self, index: int, raw: bytes) -> None:
        """A line before the first page may be any text but a table or a row of one."""
        if _HINT.search(raw):
            self._refuse_tables(self.lines.line(index))
        if device.may_be_row(self.lines.text(index)):
            raise self.lines.line(index).error(self.path, pages.STRAY_ROW)

    def _refuse_tables(self, line: Line) -> None:
        """Refuse a table that does not stand below a head of its own: its interval is unknown.

        The log of one device (FCX168), on its own page, has times in place of addresses.
        """
        if device.is_header(line) and (self.page is None or device.NAMES[0] in line.text):
            raise line.error(self.path, device.NO_HEAD)
        self._refuse_data_spaces(line)

    def _refuse_data_spaces(self, line: Line) -> None:
        if pages.has_headings(line, pages.LEFT) or pages.has_headings(line, pages.RIGHT):
            raise line.error(self.path, pages.NO_HALF_HEAD)

    def _row_above_heading(self, index: int) -> None:
        """Refuse a page whose heading is missing where its rows begin."""
        assert self.page is not None
        problem = f"{_NO_HEADING}, above the row in line {self.lines.numbers[index]}"
        raise self.page.first.error(self.path, problem)

    def _end_page(self) -> None:
        page = self.page
        if page is None:
            return
        if page.prologue is not None:
            self._head_is_read(page, page.prologue)
        assert page.head is not None
        if page.report == DEVICE and page.columns is None:
            raise page.first.error(self.path, _NO_HEADING)
        if page.damaged > 2 and not page.sound:  # noqa: PLR2004 - its heading is what is damaged
            raise self.listings[-1].damaged[-page.damaged][0]
        if page.report == pages.DSPACESH:
            self.spaces.append(pages.Page(head=page.head, first=page.first, lines=tuple(page.lines)))
        self.page = None

    def _end_listing(self) -> None:
        """A listing has rows, and more of them sound than damaged."""
        listing = self.listings[-1] if self.listings else None
        if listing is None or listing.rows > len(listing.damaged):
            return
        if listing.damaged:
            raise listing.damaged[0][0]
        problem = "a listing without rows: expected at least one device below 'Addr Type ... Qued'"
        raise listing.first.error(self.path, problem)

    def _keep(self) -> None:
        """Move the rows of the block to the table, unless a device stands in a listing twice."""
        taken = np.flatnonzero(self.rows.listing >= 0)
        if not taken.size:
            return
        rows = self.rows.take(taken)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(rows.listing)) + 1, [taken.size]])
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            self._check_twice(int(rows.listing[first]), rows.names[0, first:last], rows.line[first:last])
        self.parts.append(rows)

    def _check_twice(self, listing: int, address: Integers, line: Integers) -> None:
        """Refuse a device that stands in a listing already, or twice among these rows."""
        known, index = self._last_listing[address] == listing, np.arange(address.size)
        self._place[address[::-1]] = index[::-1]  # the first row of each
        first = self._place[address]
        if (again := known | (first < index)).any():
            row = int(again.argmax())
            before = self._last_line[address[row]] if known[row] else line[first[row]]
            device_number = self.words[0].words[address[row]]
            problem = f"device {device_number} a second time: it is listed in line {before} already"
            raise ReportError(self.path, problem, line=int(line[row]))
        self._last_listing[address], self._last_line[address] = listing, line
