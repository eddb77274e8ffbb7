"""A text file as blocks of lines, found by NumPy: where each line begins and ends, and its number.

The same lines as `planner.reports.listing.split_lines` makes, without a Python object a line.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports.listing import EXPECTED, Line, unreadable

BLOCK: Final = 2**20  # bytes: small enough for the cache, large enough to hide the cost of a call
LINE_FEED, FORM_FEED, CARRIAGE_RETURN, TAB, DELETE, BLANK = 10, 12, 13, 9, 127, 32
_MARKS: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_END_OF_FILE: Final = b"\x1a"
Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one block: `data` and the same as `buffer`; for each its start, its end (exclusive), its number.

    `edges` says where a line of the file begins whose part follows a form feed; `following` is the number of the first
    line of the next block. The block ends without a line end where `is_open`.
    """

    data: bytes
    buffer: NDArray[np.uint8]
    starts: Positions
    ends: Positions
    numbers: Positions
    edges: Positions
    following: int
    is_open: bool

    def text(self, index: int) -> str:
        """Decode a line: UTF-8, or else a one-byte code."""
        return decoded(self.data[self.starts[index] : self.ends[index]])

    def line(self, index: int) -> Line:
        """Make a line with its place in the file."""
        before = self.data[self.edges[index] : self.starts[index]]
        return Line(int(self.numbers[index]), self.text(index), len(decoded(before)))


def decoded(data: bytes) -> str:
    """Decode UTF-8, or else a one-byte code that contains ASCII."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_lines(path: Path, data: bytes | None = None) -> Iterator[Lines]:
    """Cut a file, or its content, into blocks of lines; a ReportError says that it is no text, or empty."""
    try:
        with path.open("rb") if data is None else io.BytesIO(data) as file:
            number, seen = 1, False
            for block, is_last in _blocks(_as_bytes(path, file)):
                lines = _split(path, block, number, is_last=is_last)
                number = lines.following
                seen = seen or bool(block.strip())
                yield lines
    except (OSError, ValueError) as error:
        if isinstance(error, ReportError):
            raise
        raise unreadable(path, error, EXPECTED) from error
    if not seen:
        raise ReportError(path, f"the file is empty; {EXPECTED}")


def _as_bytes(path: Path, file: BinaryIO) -> BinaryIO:
    """Skip a byte order mark; two-byte codes become UTF-8."""
    mark = file.read(3)
    if mark[:2] in _MARKS:
        try:
            return io.BytesIO((mark + file.read()).decode(_MARKS[mark[:2]]).encode())
        except UnicodeDecodeError:
            file.seek(0)
            return file  # its zeros say that it is not text
    if mark != b"\xef\xbb\xbf":
        file.seek(0)
    return file


def _blocks(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Read blocks that end with a line feed, as long as there is one; and whether each is the last."""
    parts: list[bytes] = []
    while chunk := file.read(BLOCK):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*parts, chunk[:end]]), False
            parts = []
        parts.append(chunk[end:])
    yield b"".join(parts).rstrip(_END_OF_FILE), True


def _split(path: Path, data: bytes, first: int, *, is_last: bool) -> Lines:
    """Find the lines of a block."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    places = np.flatnonzero(buffer < BLANK)
    kinds = buffer[places]
    if not (kinds == LINE_FEED).all() or DELETE in data:
        return _split_mixed(
            path, data, buffer, places[kinds != TAB], kinds[kinds != TAB], first, is_last=is_last
        )
    starts = np.concatenate([[0], places + 1])
    ends = np.concatenate([places, [len(data)]])
    is_open = bool(starts[-1] < len(data))
    if not is_open and not is_last:
        starts, ends = starts[:-1], ends[:-1]
    return Lines(
        data, buffer, starts, ends, first + np.arange(starts.size), starts, first + places.size, is_open
    )


def _split_mixed(
    path: Path, data: bytes, buffer: NDArray[np.uint8], places: Positions, kinds: NDArray[np.uint8], first: int, *,
    is_last: bool,
) -> Lines:  # fmt: skip
    """Find lines that end in other ways, or hold form feeds; what is no text is refused."""
    is_end, runs = _line_ends(places, kinds)
    wrong = ~np.isin(kinds, (LINE_FEED, FORM_FEED, CARRIAGE_RETURN))
    deleted = np.flatnonzero(buffer == DELETE)
    if wrong.any() or deleted.size:
        at = min([*places[wrong][:1], *deleted[:1]])
        line = first + int(is_end[: np.searchsorted(places, at)].sum())
        raise ReportError(path, f"not text: it holds the character 0x{buffer[at]:02X}; {EXPECTED}", line=line)
    cuts = is_end | (kinds == FORM_FEED)
    places, runs, at_end = places[cuts], runs[cuts], is_end[cuts]
    starts = np.concatenate([[0], places + 1])
    ends = np.concatenate([places - runs, [len(data)]])
    numbers = first + np.concatenate([[0], np.cumsum(at_end)])
    begins = np.concatenate([[True], at_end])  # whether a piece begins its line
    edges = np.maximum.accumulate(np.where(begins, starts, 0))
    fed = np.concatenate([~at_end, [False]]) | ~begins
    keep = np.ones(starts.size, dtype=bool)
    for index in np.flatnonzero(fed):  # beside a form feed, what is blank is nothing
        keep[index] = bool(decoded(data[starts[index] : ends[index]]).strip())
    is_open = bool(starts[-1] < len(data))
    if not is_open and not is_last:
        keep[-1] = False
    following = first + int(at_end.sum())
    return Lines(data, buffer, starts[keep], ends[keep], numbers[keep], edges[keep], following, is_open)


def _line_ends(places: Positions, kinds: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], Positions]:
    """Which control characters end a line, and how many carriage returns stand before each line feed.

    A line ends with a line feed and the carriage returns before it, or with a carriage return that belongs to none.
    """
    count = places.size
    index = np.arange(count)
    is_return = kinds == CARRIAGE_RETURN
    followed = np.zeros(count, dtype=bool)
    followed[:-1] = (np.diff(places) == 1) & np.isin(kinds[1:], (LINE_FEED, CARRIAGE_RETURN))
    stops = np.where(is_return & followed, count - 1, index)
    stop = np.minimum.accumulate(stops[::-1])[
        ::-1
    ]  # where the run of returns that a character stands in ends
    absorbed = is_return & followed & (kinds[stop] == LINE_FEED)
    before = np.maximum.accumulate(np.where(absorbed, -1, index))
    previous = np.concatenate([[-1], before[:-1]])
    runs = np.where(kinds == LINE_FEED, index - previous - 1, 0)
    return (kinds == LINE_FEED) | (is_return & ~absorbed), runs
