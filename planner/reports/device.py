"""The DEVICE listing of Performance Toolkit (FCX108) as objects: a listing a measurement, a device a row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner import render
from planner.reports.device_rows import MEASURED, REPORT, Device
from planner.reports.listing import PrintedListing, nothing_of, printed_table
from planner.reports.listing_scan import Scanned, ScannedPart, scan
from planner.reports.printed import Printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN: Final = {
    "device": "device", "type": "type", "label": "label", "io_rate": "I/O rate", "pend": "pend",
    "disconnect": "disc", "connect": "conn", "service": "service", "response": "response", "queued": "queued",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceListing(PrintedListing):
    """One DEVICE listing, with its devices as `rows` in the order of the listing."""

    rows: tuple[Device, ...]

    def table(self) -> render.Table:
        """Lay out what people look at first, within 80 columns; `device_table` has everything."""
        return device_table([self], resolution=False).only(SHOWN)

    def everything(self) -> render.Table:
        """Lay out every number, without resolutions."""
        return device_table([self], resolution=False)

    def _repr_html_(self) -> str:
        return render.to_html(self.everything())

    def plot(self) -> Axes:
        """Draw of what the response time of each device consists."""
        from planner.reports.pictures import device_times

        return device_times(f"{self}.", self.rows)


def read_devices(path: Path | str, data: bytes | None = None) -> tuple[DeviceListing, ...]:
    """Read every DEVICE listing of a file.

    Parameters
    ----------
    path : Path or str
        A text file; pages of other reports and text around the listings are ignored.
    data : bytes, optional
        Its content, where that is read already.

    Returns
    -------
    tuple of DeviceListing
        In the order of the file. Pages that repeat a head continue the listing before them.

    Raises
    ------
    ReportError
        The file cannot be read, holds no DEVICE listing, or a listing holds anything that is not a sound row.

    Examples
    --------
    >>> (listing,) = read_devices("data/hyperpav/522A-0-aliases.listing")
    >>> listing.run, listing.rows[0].io_rate
    ('Y040180P', Printed(value=755.0, resolution=0.5))
    """
    scanned = scan(Path(path), data, strict=True)
    if not scanned.listings:
        raise nothing_of(scanned.path, scanned.reports, {REPORT: "DEVICE"})
    return listings_of(scanned)


def listings_of(scanned: Scanned) -> tuple[DeviceListing, ...]:
    """Make objects of the rows of a file."""
    rows: list[list[Device]] = [[] for _ in scanned.listings]
    for part in scanned.parts:
        for listing, device in zip(part.listing.tolist(), _devices(part, scanned), strict=True):
            rows[listing].append(device)
    return tuple(
        DeviceListing(
            report=REPORT, run=each.head.run, start=each.head.start, end=each.head.end, interval=each.head.interval,
            path=scanned.path, line=each.first.number, rows=tuple(of_listing), system=each.head.system,
        )
        for each, of_listing in zip(scanned.listings, rows, strict=True)
    )  # fmt: skip


def _devices(part: ScannedPart, scanned: Scanned) -> Iterator[Device]:
    """Rows as objects."""
    rows = part.rows
    values, halves = rows.values.T.tolist(), rows.halves.T.tolist()
    for index, (line, counts) in enumerate(zip(part.line.tolist(), rows.counts.T.tolist(), strict=True)):
        links, paths = (None if math.isnan(count) else int(count) for count in counts)
        printed = (
            None if math.isnan(value) else Printed(value, half)
            for value, half in zip(values[index], halves[index], strict=True)
        )
        yield Device(
            address=f"{rows.address[index]:04X}", type=scanned.types.words[rows.type[index]],
            label=scanned.labels.words[rows.label[index]], links=links, paths=paths, line=line,
            **dict(zip(MEASURED, printed, strict=True)),
        )  # fmt: skip


def device_table(listings: Sequence[DeviceListing], *, resolution: bool = True) -> render.Table:
    """Lay out DEVICE listings as columns, each measured number with the decimals it was printed with.

    Parameters
    ----------
    listings : sequence of DeviceListing
        What `read_devices` returns.
    resolution : bool, optional
        Whether a column with half a unit of the last printed digit follows each measured number.

    Returns
    -------
    render.Table
        One row a device, listings one below the other: run, interval, device, then I/O rates [1/s], times
        [ms] and counts. None where the listing prints dots or says nothing.

    Examples
    --------
    >>> device_table([]).columns[0].name
    'run'
    """
    same = ("interval", "type", "alias_of", "label", "links", "paths")
    words = {"interval": "interval", "device": "address", **{name: name for name in same}}
    numbers = {name: (unit, factor) for name, (_, unit, factor) in MEASURED.items()}
    return printed_table(listings, words, numbers, resolution=resolution, decimals=True)
