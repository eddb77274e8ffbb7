"""Reads a file of listings without being told which: every report that there is a reader for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import Any, Final

from planner import render
from planner.errors import ReportError
from planner.reports import device, dspacesh, schema
from planner.reports.device import DeviceListing
from planner.reports.dspacesh import DataSpaceListing
from planner.reports.frames import devices_frame, storage_frame
from planner.reports.listing import read_bytes, read_pages

Listing = DeviceListing | DataSpaceListing

# Report: what people call it, its reader, and the table of everything that it prints.
READERS: Final[dict[str, tuple[str, Callable[..., tuple[Listing, ...]], Callable[[Any], render.Table]]]] = {
    device.REPORT: ("DEVICE", device.read_devices, device.device_table),
    dspacesh.REPORT: ("DSPACESH", dspacesh.read_data_spaces, dspacesh.data_space_table),
}


def read_listings(path: Path | str, data: bytes | None = None) -> dict[str, tuple[Listing, ...]]:
    """Read every listing of a file, of whatever report.

    Parameters
    ----------
    path : Path or str
        A text file.
    data : bytes, optional
        Its content, where that is read already.

    Returns
    -------
    dict
        Listings by their report, such as ``FCX108``, those that the file holds.

    Raises
    ------
    ReportError
        The file cannot be read, holds no listing that there is a reader for, or one that is damaged.

    Examples
    --------
    >>> list(read_listings("data/real-storage/5-users.listing"))
    ['FCX134']
    """
    path = Path(path)
    data = read_bytes(path) if data is None else data
    there = dict.fromkeys(page.head.report for page in read_pages(path, data).pages)
    found = {report: reader(path, data) for report, (_, reader, _) in READERS.items() if report in there}
    if found:
        return found
    for _, reader, _ in READERS.values():  # a table without its head is told by the reader that knows it
        try:
            reader(path, data)
        except ReportError as error:
            if error.line is not None:
                raise
    wanted = " or ".join(f"a {name} listing ({report})" for report, (name, _, _) in READERS.items())
    held = f"holds {', '.join(there)} only" if there else "holds no Performance Toolkit listing"
    raise ReportError(path, f"{held}; expected {wanted}, with its page head 'FCXnnn  Run ...'")


def listing_table(report: str, listings: tuple[Listing, ...]) -> render.Table:
    """Lay out everything that the listings of one report print.

    Parameters
    ----------
    report : str
        Such as ``FCX108``.
    listings : tuple
        Its listings.

    Returns
    -------
    render.Table
        One row a device or a data space, with the printed resolution of each number.
    """
    return READERS[report][2](listings)


def read_tables(path: Path, data: bytes) -> schema.Tables:
    """Read every listing of a file, or of its content, into tables."""
    found = read_listings(path, data)
    devices, spaces = found.get(device.REPORT, ()), found.get(dspacesh.REPORT, ())
    notes = [
        f"{path}: a screen shows no date, so the day of {listing} is unknown."
        for listing in (*devices, *spaces)
        if isinstance(listing.start, time)
    ]
    return schema.Tables(
        devices=devices_frame(devices) if devices else None,  # type: ignore[arg-type]
        storage=storage_frame(spaces) if spaces else None,  # type: ignore[arg-type]
        notes=tuple(notes),
        what=" and ".join(f"{READERS[report][0]} listings" for report in found),
    )
