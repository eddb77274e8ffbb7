"""Reads a file of listings without being told which: every report that there is a reader for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner import render
from planner.errors import ReportError
from planner.reports import device, device_rows, dspacesh, schema
from planner.reports.device import DeviceListing, listings_of
from planner.reports.device_frame import DevicesFrame
from planner.reports.dspacesh import DataSpaceListing, data_spaces_of
from planner.reports.dspacesh_columns import plain_rows
from planner.reports.frames import storage_frame
from planner.reports.listing import Document, Page
from planner.reports.listing_scan import Scanned, scan

if TYPE_CHECKING:
    import polars as pl

MOST_IN_FULL: Final = 20  # damaged rows
Listing = DeviceListing | DataSpaceListing

# Report: what people call it, its reader, and the table of everything that it prints.
READERS: Final[dict[str, tuple[str, Callable[..., tuple[Listing, ...]], Callable[[Any], render.Table]]]] = {
    device_rows.REPORT: ("DEVICE", device.read_devices, device.device_table),
    dspacesh.REPORT: ("DSPACESH", dspacesh.read_data_spaces, dspacesh.data_space_table),
}


def read_listings(path: Path | str, data: bytes | None = None) -> dict[str, tuple[Listing, ...]]:
    """Read every listing of a file, of whatever report; a damaged row is an error.

    Examples
    --------
    >>> list(read_listings("data/real-storage/5-users.listing"))
    ['FCX134']
    """
    return _found(scan(Path(path), data, strict=True))


def read_with_notes(
    path: Path, data: bytes | None = None
) -> tuple[dict[str, tuple[Listing, ...]], list[str]]:
    """Read every listing of a file, and name its damaged rows."""
    scanned = scan(path, data)
    return _found(scanned), damage_notes(scanned)


def _found(scanned: Scanned) -> dict[str, tuple[Listing, ...]]:
    found: dict[str, tuple[Listing, ...]] = {}
    if scanned.listings:
        found[device_rows.REPORT] = listings_of(scanned)
    if scanned.spaces:
        found[dspacesh.REPORT] = data_spaces_of(
            Document(path=scanned.path, preamble=(), pages=tuple(scanned.spaces))
        )
    if not found:
        raise nothing(scanned.path, scanned.reports)
    return found


def listing_table(report: str, listings: tuple[Listing, ...]) -> render.Table:
    """Lay out everything that the listings of one report print."""
    return READERS[report][2](listings)


def _storage(path: Path, pages: Sequence[Page]) -> pl.DataFrame:
    """Rows of DSPACESH pages: by columns where all are plain, else as the careful reader takes them."""
    plain = plain_rows(path, pages)
    if plain is not None:
        return plain
    return storage_frame(data_spaces_of(Document(path=path, preamble=(), pages=tuple(pages))))


def read_tables(path: Path, data: bytes | None = None) -> schema.Tables:
    """Read every listing of a file, or of its content, into tables; damaged rows of DEVICE are named in notes."""
    taken = DevicesFrame()
    scanned = scan(path, data, take=taken.take)
    spaces = _storage(path, scanned.spaces) if scanned.spaces else None
    if not scanned.listings and spaces is None:
        raise nothing(path, scanned.reports)
    found = [report for report in READERS if report in scanned.reports]
    devices = taken.frame(scanned) if scanned.listings else None
    notes = [*damage_notes(scanned), *_head_notes(scanned)]
    if devices is not None:
        notes += _role_notes(path, devices)
    return schema.Tables(
        devices=devices,
        storage=spaces,
        notes=tuple(notes),
        missing=tuple(_missing(text) for listing in scanned.listings for _, text in listing.damaged),
        what=" and ".join(READERS[report][0] for report in found) + " listings",
    )


def _missing(text: str) -> schema.Missing:
    """What a damaged row was of: its device, or the base of a classic alias, since that cannot be read whole."""
    base = re.search(r"->([0-9A-F]{4})\b", text) or re.match(r"([0-9A-F]{4})\s", text)
    return schema.Missing(name=base[1] if base else None)


def damage_notes(scanned: Scanned) -> list[str]:
    """Name every damaged row, the first ones in full."""
    damaged = [each for listing in scanned.listings for each in listing.damaged]
    notes = [f"{error}; the row is left out: {text}" for error, text in damaged[:MOST_IN_FULL]]
    if more := damaged[MOST_IN_FULL:]:
        lines = ", ".join(f"{error.line}" for error, _ in more)
        notes.append(f"{scanned.path}: {len(more)} more rows are damaged and left out, in lines {lines}.")
    return notes


def _head_notes(scanned: Scanned) -> list[str]:
    """Say where a page head does not tell the time: on a screen, or since lines of it are missing or damaged."""
    pages = [(each.head, each.first.number) for each in scanned.listings]
    pages += [(each.head, each.first.number) for each in scanned.spaces]
    notes = []
    if any(isinstance(head.start, time) for head, _ in pages):
        notes.append(f"{scanned.path}: a screen shows no date; the day of its intervals is unknown.")
    for wanted, lost, without in (
        ("From ... and To ...", "the time", [line for head, line in pages if head.start is None]),
        ("For nnn Secs ...", "the length", [line for head, line in pages if head.interval is None]),
        (
            "Result of ... Run', or 'This is a performance report for ...", "the name",
            [line for head, line in pages if not head.run and not isinstance(head.start, time)],
        ),
    ):  # fmt: skip
        if without:
            others = f" and of {len(without) - 1} more" if len(without) > 1 else ""
            notes.append(
                f"{scanned.path}, line {without[0]}: a page head without '{wanted}': {lost} of its "
                f"interval{others} is unknown."
            )
    return notes


def _role_notes(path: Path, devices: pl.DataFrame) -> list[str]:
    """Name rows whose role their numbers contradict: a base that lost its label would be taken for an alias."""
    import polars as pl

    alias = pl.col("kind") == schema.ALIAS
    lost = {
        "has no label, as HyperPAV aliases have none, but a queue or links: is its label lost?": (
            alias & ((pl.col("queued") > 0) | (pl.col("links") > 0))
        ),
        "has another device as its type, without the arrow (->) of a classic alias: is it lost?": (
            (pl.col("kind") == schema.OTHER) & pl.col("type").is_in(pl.col("device").unique().implode())
        ),
    }
    notes = []
    for words, wrong in lost.items():
        rows = devices.filter(wrong)
        if rows.height:
            more = f"; so {rows.height - 1} more" if rows.height > 1 else ""
            notes.append(f"{path}, line {rows['line'][0]}: {rows['device'][0]} {words}{more}")
    return notes


def nothing(path: Path, reports: Iterable[str]) -> ReportError:
    """Make the error of a file that holds no listing with a reader, but these reports."""
    wanted = " or ".join(f"a {name} listing ({report})" for report, (name, _, _) in READERS.items())
    there = ", ".join(reports)
    held = f"holds {there} only" if there else "holds no Performance Toolkit listing"
    return ReportError(path, f"{held}; expected {wanted}, with its page head 'FCXnnn  Run ...'")
