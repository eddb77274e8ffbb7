"""From pages to records: the headers of all pages of a chunk are followed side by side, one record a step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports.monitor.blocks import Chunk, Integers
from planner.reports.monitor.layouts import END_OF_FRAME, HEADER, HIGHEST_DOMAIN, PAGE, Records, kind, name


@dataclass(slots=True)
class Walk:
    """The records of a chunk in the order of the file: offset in `data`, length, kind, page, whether an event."""

    chunk: Chunk
    offset: Integers
    length: Integers
    kind: Integers
    page: Integers
    event: NDArray[np.bool_]
    first: int  # number of its first record in the file, from 1

    def byte(self, record: int) -> int:
        """Place of a record in the file, from 1."""
        return self.chunk.byte(int(self.page[record]), int(self.offset[record])) + 1

    def numbers(self) -> Integers:
        """Number of each record in the file, from 1."""
        return np.arange(self.first, self.first + self.offset.size)


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
        going = (what != kind(END_OF_FRAME)) & (at + length < chunk.ends[page])
        at, page = (at + length)[going], page[going]
    return _in_order(chunk, found, first)


def _in_order(chunk: Chunk, found: list[tuple[Integers, Integers, Integers]], first: int) -> Walk:
    """Put the records of all steps in the order of the file: pages one after the other."""
    if not found:
        nothing = np.zeros(0, np.int64)
        return Walk(chunk, nothing, nothing, nothing, nothing, nothing.astype(bool), first)
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
        place = chunk.byte(page, at) + 1
        raise ReportError(
            path,
            f"byte {place}: {rest[:HEADER].tobytes().hex(' ').upper()} is no record header: expected a length of "
            f"{HEADER} to {PAGE} that ends within the page, two zero bytes and a domain of 0 to {HIGHEST_DOMAIN}",
        )


def describe(walk: Walk) -> str:
    """Name the kinds of records that were found, and how many of each."""
    kinds, counts = np.unique(walk.kind, return_counts=True)
    return (
        ", ".join(f"{name(int(each))} ({count})" for each, count in zip(kinds, counts, strict=True))
        or "no records"
    )
