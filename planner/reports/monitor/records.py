"""From a file to monitor records: the frame around them, their pages, and the headers of all pages side by side.

Control records of MONWRITE, or control elements of /dev/monreader, say for each run of records whether it holds sample
or event data and from which address to which it stood in storage. MONWRITE writes a control record of 4096 bytes and
then the whole pages of each run; /dev/monreader delivers an element of 12 bytes and then just the bytes of its run.
Records never cross a page of 4096 bytes, by address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports.lines import bytes_of
from planner.reports.monitor.layouts import HEADER, HIGHEST_DOMAIN, PAGE, Kind, Records
from planner.results import Flags, Integers

SAMPLE: Final = 0xE2  # 'S'
EVENT: Final = 0xC5  # 'E'
FIRST: Final = 40  # bytes of a control record before its elements
ELEMENT: Final = 12

ElementTable = NDArray[np.void]

_ELEMENT: Final = np.dtype([("flag", "u1"), ("", "V3"), ("start", ">u4"), ("end", ">u4")])


@dataclass(slots=True)
class Chunk:
    """Bytes of some whole runs: where each page of records begins and ends in them, and whether it holds events."""

    data: NDArray[np.uint8]
    begins: Integers
    ends: Integers
    events: Flags
    position: Integers  # of each page, in the file

    def byte(self, page: int, offset: int) -> int:
        """Place in the file of an offset of the data that lies in a page."""
        return int(self.position[page] + offset - self.begins[page])


def is_monwrite(head: bytes) -> bool:
    """Whether a file begins with a control record and a page of records."""
    first = elements(head[:PAGE])
    if len(head) < PAGE + HEADER or not len(first):
        return False
    at = PAGE + int(first["start"][0]) % PAGE
    return is_header(head[at : at + HEADER]) if at + HEADER <= len(head) else True


def is_capture(head: bytes) -> bool:
    """Whether a file begins with a control element and a record."""
    return len(elements(head[:ELEMENT], 0)) > 0 and is_header(head[ELEMENT : ELEMENT + HEADER])


def is_monitor(head: bytes) -> bool:
    """Whether a file is monitor data, or was before it was cut or transferred as text, by its first bytes."""
    damaged = len(head) > FIRST and head[FIRST] in b"\xe2\xc5SE" and head[:FIRST].count(0) > FIRST // 2
    return is_monwrite(head) or is_capture(head) or damaged


def is_header(header: bytes) -> bool:
    """Whether bytes can be the header of a record."""
    sized = len(header) >= HEADER and HEADER <= int.from_bytes(header[:2], "big") <= PAGE
    return sized and not any(header[2:4]) and header[4] <= HIGHEST_DOMAIN


def elements(block: bytes, first: int = FIRST, most: int = 2**30) -> ElementTable:
    """Elements from a byte on, those before the first that is neither sample nor event; none if one is absurd.

    Each run has room for a record, and at most `most` bytes: the storage of the monitor is smaller.
    """
    table = np.frombuffer(block[first:], _ELEMENT, max(len(block) - first, 0) // ELEMENT)
    other = (table["flag"] != SAMPLE) & (table["flag"] != EVENT)
    found = table[: int(other.argmax())] if other.any() else table
    size = found["end"].astype(np.int64) - found["start"] + 1
    return found if ((size >= HEADER) & (size <= most)).all() else found[:0]


def chunks(path: Path, data: bytes | None = None, *, chunk: int | None = None) -> Iterator[Chunk]:
    """Read a file of either form, or its bytes, some whole runs at a time: as many bytes as stay in the cache."""
    with bytes_of(path, data, "expected z/VM monitor data") as file:
        head = file.read(2 * PAGE)
        file.seek(0)
        monwrite = is_monwrite(head)
        if not monwrite and not is_capture(head):
            raise ReportError(path, not_monitor(head))
        yield from _gather(_runs(file, path, monwrite=monwrite), chunk or 4 * 2**20)


def not_monitor(head: bytes) -> str:
    """Say why a file is no monitor data, and what to do where it was transferred as text."""
    found = head[:12].hex(" ").upper()
    at_40 = f", and {head[FIRST]:02X} at byte {FIRST + 1}" if len(head) > FIRST else ""
    problem = (
        f"begins with {found or 'nothing'}{at_40}: expected monitor data, a MONWRITE file with E2 or C5 at byte 41 and "
        "records from byte 4097 on, or a capture of /dev/monreader with E2 or C5 at byte 1 and a record at byte 13"
    )
    if len(head) > FIRST and (head[FIRST] in b"SE" or head[0] in b"SE"):
        problem += "; it was perhaps transferred as text: transfer it in binary"
    return problem


def _runs(file: BinaryIO, path: Path, *, monwrite: bool) -> Iterator[Chunk]:
    """Sets of a file: a control record and its pages, or a control element and its bytes."""
    position, length = 0, PAGE if monwrite else ELEMENT
    control, content = ("record", "a set of {} pages") if monwrite else ("element", "a run of records")
    while block := file.read(length):
        if len(block) < length:
            raise ReportError(path, _cut(position, f"a control {control}", length, len(block)))
        table = elements(block, FIRST if monwrite else 0)
        if not len(table):
            found = (block[FIRST : FIRST + ELEMENT] if monwrite else block).hex(" ").upper()
            problem = (
                f"{found} at byte {FIRST + 1} of what should be a control record: expected its first element, which "
                "begins with E2 or C5; pages before it are missing or too many"
                if monwrite
                else f"{found} is no control element: expected E2 or C5, a start and an end address"
            )
            raise ReportError(path, f"byte {position + 1}: {problem}{_way_out(position)}")
        begins, ends, events, size = windows(table, padded=monwrite)
        data = file.read(size)
        if len(data) < size:
            what = content.format(size // PAGE)
            raise ReportError(path, _cut(position, what, size + length, len(data) + length))
        yield Chunk(np.frombuffer(data, np.uint8), begins, ends, events, begins + (position + length))
        position += length + size


def _cut(position: int, what: str, wanted: int, found: int) -> str:
    return (
        f"ends within {what} that begins at byte {position + 1} and needs {wanted} bytes: {found} are there"
        f"{_way_out(position)}"
    )


def _way_out(position: int) -> str:
    return f"; the file is whole up to there: head -c {position}" if position else ""


def windows(table: ElementTable, *, padded: bool) -> tuple[Integers, Integers, Flags, int]:
    """Where each page of records begins and ends in the bytes of a set, whether it holds events, and their number."""
    start, end = table["start"].astype(np.int64), table["end"].astype(np.int64)
    pages = (end >> 12) - (start >> 12) + 1
    size = pages * PAGE if padded else end - start + 1
    origin = np.cumsum(size) - size - (0 if padded else start % PAGE)
    run = np.repeat(np.arange(len(table)), pages)
    number = np.arange(run.size) - np.repeat(np.cumsum(pages) - pages, pages)
    page = origin[run] + number * PAGE
    begins = np.where(number == 0, page + start[run] % PAGE, page)
    ends = np.where(number == pages[run] - 1, page + end[run] % PAGE + 1, page + PAGE)
    return begins, ends, table["flag"][run] == EVENT, int(size.sum())


def _gather(runs: Iterator[Chunk], chunk: int) -> Iterator[Chunk]:
    """Join sets until there are enough bytes to be worth decoding at once."""
    held: list[Chunk] = []
    size = 0
    for run in runs:
        held.append(run)
        size += run.data.size
        if size >= chunk:
            yield _join(held)
            held, size = [], 0
    if held:
        yield _join(held)


def _join(held: list[Chunk]) -> Chunk:
    before = np.cumsum([0] + [run.data.size for run in held[:-1]])
    moved = [
        replace(run, begins=run.begins + at, ends=run.ends + at) for run, at in zip(held, before, strict=True)
    ]
    return Chunk(*(np.concatenate([getattr(run, each.name) for run in moved]) for each in fields(Chunk)))


@dataclass(slots=True)
class Walk:
    """The records of a chunk in the order of the file: offset in `data`, length, kind, page, whether an event."""

    chunk: Chunk
    offset: Integers
    length: Integers
    kind: Integers
    page: Integers
    event: Flags
    first: int  # number of its first record in the file, from 1

    def byte(self, record: int) -> int:
        """Place of a record in the file, from 1."""
        return self.chunk.byte(int(self.page[record]), int(self.offset[record])) + 1


def overlapping(data: NDArray[np.uint8], form: Any) -> Records:
    """View of bytes as items of a type that begin at every byte."""
    type_ = np.dtype(form)
    return np.ndarray((max(data.size - type_.itemsize + 1, 0),), type_, buffer=data, strides=(1,))


def walk(chunk: Chunk, path: Path, first: int) -> Walk:
    """Find all records of a chunk; a header that is none is an error with its place."""
    headers = overlapping(chunk.data, ">u8")
    at, page = chunk.begins.copy(), np.arange(chunk.begins.size)
    found: list[tuple[Integers, Integers, Integers]] = []
    while page.size:
        left = chunk.ends[page] - at
        short = left < HEADER
        header = headers[np.where(short, 0, at)].astype(np.int64)
        length = np.where(short, 0, (header >> 48) & 0xFFFF)
        wrong = (length < HEADER) | ((header >> 32) & 0xFFFF != 0) | (length > left)
        wrong |= (header >> 24) & 0xFF > HIGHEST_DOMAIN
        if wrong.any():
            for k in np.flatnonzero(wrong).tolist():
                _check_padding(chunk, path, int(page[k]), int(at[k]))
            keep = ~wrong
            at, page, header, length = at[keep], page[keep], header[keep], length[keep]
        what = (header >> 8 & 0xFF0000) | (header & 0xFFFF)
        found.append((page, at, what << 16 | length))
        going = (what != Kind.END_OF_FRAME) & (at + length < chunk.ends[page])
        at, page = (at + length)[going], page[going]
    return _in_order(chunk, found, first)


def _in_order(chunk: Chunk, found: list[tuple[Integers, Integers, Integers]], first: int) -> Walk:
    """Put the records of all steps in the order of the file: pages one after the other."""
    pages = chunk.begins.size
    offset = np.zeros((pages, len(found)), np.int64)
    packed = np.zeros((pages, len(found)), np.int64)
    for step, (page, at, both) in enumerate(found):
        offset[page, step], packed[page, step] = at, both
    there = packed > 0
    of_page = np.broadcast_to(np.arange(pages)[:, None], there.shape)[there]
    both = packed[there]
    return Walk(chunk, offset[there], both & 0xFFFF, both >> 16, of_page, chunk.events[of_page], first)


def _check_padding(chunk: Chunk, path: Path, page: int, at: int) -> None:
    """What follows the last record of a page is zeros, or there is no telling what was lost."""
    rest = chunk.data[at : int(chunk.ends[page])]
    if rest.any():
        header = rest[:HEADER].tobytes().hex(" ").upper()
        found = f"byte {chunk.byte(page, at) + 1}: {header} is no record header"
        length = f"a length of {HEADER} to {PAGE} that ends within the page"
        wanted = f"expected {length}, two zero bytes and a domain of 0 to {HIGHEST_DOMAIN}"
        raise ReportError(path, f"{found}: {wanted}")
