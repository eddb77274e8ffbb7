"""A text file as blocks of lines, found by NumPy: where each line begins and ends, and its number."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.results import Integers

EXPECTED: Final = "expected a Performance Toolkit listing as a text file"
BLOCK: Final = 2**20  # bytes: small enough for the cache, large enough to hide the cost of a call
LINE_FEED, FORM_FEED, TAB, DELETE, BLANK = 10, 12, 9, 127, 32
TWO_BYTES: Final = (b"\xff\xfe", b"\xfe\xff")  # first bytes of text with two bytes a character
PACKED: Final = (  # how files begin that hold others, and the way out
    (rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|LZIP|7z\xbc\xaf|:CFF|(?s:.{257})ustar",
     "compressed, or several files in one: expected it unpacked (gunzip, bunzip2, xz -d, zstd -d, tar -x, vmarc unpk)"),
    (rb"PK\x03\x04|\xd0\xcf\x11\xe0", "a workbook (.xlsx) or another zip file: expected it saved as CSV, or unpacked"),
)  # fmt: skip
END_OF_FILE: Final = b"\x1a"


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


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one block: `data` and the same as `buffer`; for each its start, its end (exclusive), its number.

    `edges` says where a line of the file begins whose part follows a form feed; `following` is the number of the first
    line of the next block. The block ends without a line end where `is_open`.
    """

    data: bytes
    buffer: NDArray[np.uint8]
    starts: Integers
    ends: Integers
    numbers: Integers
    edges: Integers
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


@contextmanager
def bytes_of(path: Path, data: bytes | None, expected: str) -> Iterator[BinaryIO]:
    """Open a file, or its content; a ReportError where it is missing, a folder or not readable."""
    try:
        with path.open("rb") if data is None else io.BytesIO(data) as file:
            yield file
    except ReportError:
        raise
    except (OSError, ValueError) as error:
        known: dict[type, str] = {FileNotFoundError: "no such file", IsADirectoryError: "this is a folder"}
        problem = known.get(type(error), f"cannot be opened ({error})")
        raise ReportError(path, f"{problem}; {expected}") from error


def read_bytes(path: Path, expected: str = EXPECTED, most: int | None = None) -> bytes:
    """Read a whole file, or its first bytes."""
    with bytes_of(path, None, expected) as file:
        return file.read(-1 if most is None else most)


def read_text(path: Path, data: bytes | None = None, expected: str = EXPECTED) -> str:
    """Read a whole file of text as `read_lines` does."""
    return decoded(b"".join([lines.data for lines in read_lines(path, data, expected)]))


def numbered(text: str) -> list[tuple[int, str]]:
    """Lines of such a text with their numbers, as `read_lines` cuts them; `str.splitlines` also does at U+0085."""
    return [(number, part) for number, line in enumerate(text.split("\n"), 1) for part in line.split("\f")]


def read_lines(
    path: Path, data: bytes | None = None, expected: str = EXPECTED, *, tabs: bool = False
) -> Iterator[Lines]:
    """Cut a file, or its content, into blocks of lines as an editor numbers them; a form feed only ends a line.

    Where columns count, `tabs` become blanks up to every eighth one.
    """
    number, seen = 1, False
    with bytes_of(path, data, expected) as file:
        for block, is_last in _blocks(_as_bytes(file)):
            text = block.expandtabs() if tabs and b"\t" in block else block
            lines = _split(path, text, number, expected, is_last=is_last)
            number = lines.following
            seen = seen or bool(block.strip())
            yield lines
    if not seen:
        raise ReportError(path, f"the file is empty; {expected}")


def _as_bytes(file: BinaryIO) -> BinaryIO:
    """Skip a byte order mark; two-byte codes become UTF-8."""
    mark = file.read(3)
    if mark.startswith(TWO_BYTES):
        try:
            return io.BytesIO((mark + file.read()).decode("utf-16").encode())
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
    yield b"".join(parts).rstrip(END_OF_FILE), True


def _split(path: Path, data: bytes, first: int, expected: str, *, is_last: bool) -> Lines:
    """Find the lines of a block; what is no text is refused."""
    if b"\r" in data:  # any number of them before a line feed, or one alone, is the end of a line
        *ended, last = data.split(b"\n")
        data = b"\n".join([*(part.rstrip(b"\r") for part in ended), last]).replace(b"\r", b"\n")
    buffer = np.frombuffer(data, dtype=np.uint8)
    places = np.flatnonzero(buffer < BLANK)
    places = places[buffer[places] != TAB]
    is_end, is_feed = buffer[places] == LINE_FEED, buffer[places] == FORM_FEED
    if DELETE in data or not (is_end | is_feed).all():
        at = min([*places[~(is_end | is_feed)][:1], *np.flatnonzero(buffer == DELETE)[:1]])
        line = first + int(is_end[: np.searchsorted(places, at)].sum())
        raise ReportError(path, f"not text: it holds the character 0x{buffer[at]:02X}; {expected}", line=line)
    starts, ends = np.concatenate([[0], places + 1]), np.concatenate([places, [len(data)]])
    begins = np.concatenate([[True], is_end])  # whether a piece begins its line
    keep = np.ones(starts.size, dtype=bool)
    # Beside a form feed, what is blank is nothing.
    for index in np.flatnonzero(np.append(is_feed, False) | ~begins):
        keep[index] = bool(decoded(data[starts[index] : ends[index]]).strip())
    is_open = bool(starts[-1] < len(data))
    if not is_open and not is_last:
        keep[-1] = False
    numbers = first + np.concatenate([[0], np.cumsum(is_end)])
    edges = np.maximum.accumulate(np.where(begins, starts, 0))
    return Lines(
        data, buffer, starts[keep], ends[keep], numbers[keep], edges[keep], int(numbers[-1]), is_open
    )
