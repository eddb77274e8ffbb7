"""Performance Toolkit listings in general: text of a file, its pages, and what a page head says.

A file may hold any number of pages of any reports, with other text around them. A page opens with a head
line, ``FCXnnn  Run yyyy/mm/dd hh:mm:ss`` when printed, ``FCXnnn  CPU ... Interval hh:mm:ss - hh:mm:ss`` on a
screen, and lasts until the next head line. What its lines mean is for the reader of that report to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

from planner.errors import ReportError

EXPECTED: Final = "expected a Performance Toolkit listing as a text file"
SECONDS_PER_DAY: Final = 86_400
_BYTE_ORDER_MARKS: Final = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_END_OF_FILE: Final = "\x1a"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")

_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_STAMP: Final = rf"[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}} {_CLOCK}"
HEAD: Final = re.compile(r"(?P<carriage>[01+-]?) *FCX(?P<report>[0-9]{3}) +(?P<kind>Run|CPU)(?= )")
_PRINTED: Final = re.compile(rf".*? Run (?P<produced>{_STAMP})(?: |$)")
_SCREEN: Final = re.compile(rf".*? Interval (?P<start>{_CLOCK}) *- *(?P<end>{_CLOCK})(?: |$)")
_FROM_TO: Final = re.compile(rf" *(?P<word>From|To) +(?P<stamp>{_STAMP})(?: |$)")
_FOR: Final = re.compile(r" *For +(?P<seconds>[0-9]+) Secs +[0-9:]+(?P<rest> .*|)$")
_RUN: Final = re.compile(
    r" +(?:Result of (?P<result>.+?) Run|This is a performance report for (?P<system>\S+))"
)
CARRIAGE: Final = frozenset("01+-")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its `number`, its `text`, and `offset`, the characters in front of the text."""

    number: int
    text: str
    offset: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether nothing is printed on it."""
        return not self.text.strip()

    def error(self, path: Path, problem: str, position: int | None = None) -> ReportError:
        """Say what is wrong with this line."""
        column = None if position is None else self.offset + position + 1
        return ReportError(path, problem, line=self.number, column=column)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """What a page head says; None or empty where it does not say it.

    `report` is the id such as ``FCX108``, `produced` when the listing was made, `start` and `end` the
    measured interval (times of day without a date on a screen), `interval` its length as printed [s], `run`
    the name of the measurement, `system` that of the system.
    """

    report: str
    produced: datetime | None = None
    start: datetime | time | None = None
    end: datetime | time | None = None
    interval: float | None = None
    run: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a report: what its `head` says, its `first` line, and all `lines` below that."""

    head: PageHead
    first: Line
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file: its `path`, its `preamble` (the lines before the first page head) and its `pages`."""

    path: Path
    preamble: tuple[Line, ...]
    pages: tuple[Page, ...]

    def listings(self, report: str, name: str) -> list[tuple[PageHead, list[Page]]]:
        """Pages of one report, those that repeat a head together."""
        pages = [page for page in self.pages if page.head.report == report]
        if not pages:
            others = ", ".join(dict.fromkeys(page.head.report for page in self.pages))
            found = f"holds {others} only" if others else "holds no Performance Toolkit listing"
            raise ReportError(
                self.path, f"{found}; expected a {name} listing, which starts with '{report}  Run ...'"
            )
        return [(head, list(same)) for head, same in groupby(pages, lambda page: page.head)]


def read_bytes(path: Path) -> bytes:
    """Read a file that should hold a listing; a ReportError where it is missing, a folder or not readable."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error, EXPECTED) from error


def unreadable(path: Path, error: Exception, expected: str) -> ReportError:
    """Make the error of a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return ReportError(path, f"no such file; {expected}")
    if isinstance(error, IsADirectoryError):
        return ReportError(path, f"this is a folder; {expected}")
    return ReportError(path, f"cannot be opened ({error}); {expected}")


def read_text(path: Path, data: bytes | None = None) -> str:
    """Decode text: UTF-8, UTF-16 with a byte order mark, or a one-byte code that contains ASCII.

    A ReportError says that the file cannot be read, is empty or not text; `data` is its content where that is known.
    """
    data = read_bytes(path) if data is None else data
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.rstrip(_END_OF_FILE)
    if not text.strip():
        raise ReportError(path, f"the file is empty; {EXPECTED}")
    if control := _CONTROL.search(text):
        line = len(list(_text_lines(text[: control.start()])))
        raise ReportError(
            path, f"not text: it holds the character 0x{ord(control[0]):02X}; {EXPECTED}", line=line
        )
    return text


def split_lines(text: str) -> tuple[Line, ...]:
    r"""Cut text into lines as an editor numbers them; a form feed ends a line without counting as one.

    Examples
    --------
    >>> [(line.number, line.text, line.offset) for line in split_lines("a\r\n\fb")]
    [(1, 'a', 0), (2, 'b', 1)]
    """
    lines = []
    for number, text_line in enumerate(_text_lines(text), start=1):
        offset = 0
        for part in text_line.split("\f"):
            if part.strip() or "\f" not in text_line:
                lines.append(Line(number, part, offset))
            offset += len(part) + 1
    return tuple(lines)


def _text_lines(text: str) -> Iterator[str]:
    """Cut text at LF, CR, and at any number of CR before a LF, in linear time."""
    *ended, last = text.split("\n")
    for part in ended:
        yield from part.rstrip("\r").split("\r")
    yield from last.split("\r")


def read_pages(path: Path, data: bytes | None = None) -> Document:
    """Cut a file, or its content, into the pages of its listings, in the order of the file.

    Where head lines carry ASA carriage control in column 1, the control characters of their pages are replaced by
    blanks. A ReportError says that it cannot be read as text, or that a page head is damaged.
    """
    lines = split_lines(read_text(path, data))
    heads = [index for index, line in enumerate(lines) if HEAD.match(line.text)]
    pages = []
    for index, following in pairwise([*heads, len(lines)]):
        page = lines[index:following]
        if lines[index].text[0] in CARRIAGE:
            page = tuple(
                replace(line, text=" " + line.text[1:]) if line.text[:1] in CARRIAGE else line
                for line in page
            )
        pages.append(Page(head=read_head(path, page), first=page[0], lines=page[1:]))
    return Document(path=path, preamble=lines[: heads[0]] if heads else lines, pages=tuple(pages))


def read_head(path: Path, page: tuple[Line, ...]) -> PageHead:
    """Read the head line and the lines From, To, For that follow it up to a rule or a blank line."""
    first = page[0]
    match = HEAD.match(first.text)
    assert match is not None  # a page is cut at such a line
    head = PageHead(report=f"FCX{match['report']}")
    if match["kind"] == "CPU":
        return _screen_head(path, first, head)
    printed = _PRINTED.match(first.text)
    if printed is None:
        raise first.error(path, "damaged page head: expected 'Run yyyy/mm/dd hh:mm:ss'", match.start("kind"))
    head = replace(head, produced=_moment(path, first, printed, "produced"))
    for line in page[1:]:
        if not line.text.strip(" _"):
            break
        head = _interval_line(path, line, head) if not line.is_blank else head
    if (head.start is None) != (head.end is None):
        there, missing = ("From", "To") if head.end is None else ("To", "From")
        raise first.error(
            path, f"a page head with '{there}' alone: expected '{missing} yyyy/mm/dd hh:mm:ss', too"
        )
    if isinstance(head.start, datetime) and isinstance(head.end, datetime) and head.end <= head.start:
        raise first.error(path, f"the interval ends at {head.end} but starts at {head.start}")
    return head


def _interval_line(path: Path, line: Line, head: PageHead) -> PageHead:
    """Add what a line From, To or For says; other lines of a head say nothing that is kept."""
    word = line.text.split(maxsplit=1)[0]
    if word in {"From", "To"}:
        found = _FROM_TO.match(line.text)
        if found is None:
            raise line.error(path, f"expected '{word} yyyy/mm/dd hh:mm:ss'", line.text.index(word))
        moment = _moment(path, line, found, "stamp")
        return replace(head, start=moment) if word == "From" else replace(head, end=moment)
    if word == "For":
        found = _FOR.match(line.text)
        if found is None:
            raise line.error(path, "expected 'For nnn Secs hh:mm:ss'", line.text.index(word))
        run = _RUN.match(found["rest"])
        name = run["result"] or run["system"] if run else ""
        system = run["system"] or "" if run else ""
        return replace(head, interval=float(found["seconds"]), run=name.strip(), system=system)
    return head


def _screen_head(path: Path, line: Line, head: PageHead) -> PageHead:
    """Read the interval of a screen; it shows times of day only and may pass midnight."""
    found = _SCREEN.match(line.text)
    if found is None:
        raise line.error(
            path, "damaged page head: expected 'Interval hh:mm:ss - hh:mm:ss'", line.text.index("CPU")
        )
    start, end = (_clock(path, line, found, name) for name in ("start", "end"))
    seconds = [moment.hour * 3600 + moment.minute * 60 + moment.second for moment in (start, end)]
    return replace(head, start=start, end=end, interval=float((seconds[1] - seconds[0]) % SECONDS_PER_DAY))


def _moment(path: Path, line: Line, match: re.Match[str], name: str) -> datetime:
    try:
        return datetime.strptime(match[name], "%Y/%m/%d %H:%M:%S")
    except ValueError as error:
        raise line.error(path, f"no such date and time: {match[name]!r}", match.start(name)) from error


def _clock(path: Path, line: Line, match: re.Match[str], name: str) -> time:
    try:
        return time.fromisoformat(match[name])
    except ValueError as error:
        raise line.error(path, f"no such time of day: {match[name]!r}", match.start(name)) from error


def heading(
    name: str, start: datetime | time | None, end: datetime | time | None, interval: float | None
) -> str:
    """Say in one line which measurement a listing is."""
    moments = [
        moment.isoformat(" ") if isinstance(moment, datetime) else f"{moment}"
        for moment in (start, end)
        if moment is not None
    ]
    length = "" if interval is None else f"{interval:g} s"
    return ", ".join(filter(None, (name, " to ".join(moments), length)))
