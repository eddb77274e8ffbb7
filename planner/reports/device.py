"""The DEVICE listing of Performance Toolkit (FCX108) as objects: a listing a measurement, a device a row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner import render
from planner.answer import Tabular
from planner.errors import ReportError
from planner.reports.columns import WHOLE
from planner.reports.device_rows import MEASURED, REPORT, Device
from planner.reports.listing import heading
from planner.reports.listing_scan import Scanned, ScannedPart, scan
from planner.reports.printed import Printed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PRINTED_DECIMALS: Final = 9  # more than any listing prints
SHOWN: Final = {
    "device": "device", "type": "type", "label": "label", "io_rate": "I/O rate", "pend": "pend",
    "disconnect": "disc", "connect": "conn", "service": "service", "response": "response", "queued": "queued",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceListing(Tabular):
    """One DEVICE listing.

    Attributes
    ----------
    report : str
        ``FCX108``.
    run : str
        Name of the measurement, empty where the head has none.
    start, end : datetime, time or None
        Measured interval; times of day where a screen shows no date.
    interval : float or None
        Its length as printed [s].
    path : Path
        The file.
    line : int
        Line of the page head.
    rows : tuple of Device
        The devices in the order of the listing.
    system : str
        Name of the system, empty where the head has none.
    """

    report: str
    run: str
    start: datetime | time | None
    end: datetime | time | None
    interval: float | None
    path: Path
    line: int
    rows: tuple[Device, ...]
    system: str = ""

    def __str__(self) -> str:
        """Say which measurement this is, in one line."""
        return heading(self.run or str(self.path), self.start, self.end, self.interval)

    def table(self) -> render.Table:
        """Lay out what people look at first, within 80 columns; `device_table` has everything."""
        return device_table([self], resolution=False).only(SHOWN)

    def _repr_html_(self) -> str:
        return render.to_html(device_table([self], resolution=False))

    def to_frame(self) -> pd.DataFrame:
        """Return every number of the listing as a pandas data frame."""
        return render.to_frame(device_table([self], resolution=False))

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
        raise nothing_of(Path(path), scanned.reports)
    return listings_of(scanned)


def nothing_of(path: Path, reports: Sequence[str]) -> ReportError:
    """Make the error of a file without DEVICE listings, which has these reports instead."""
    found = f"holds {', '.join(reports)} only" if reports else "holds no Performance Toolkit listing"
    return ReportError(path, f"{found}; expected a DEVICE listing, which starts with '{REPORT}  Run ...'")


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
    pairs = [(listing, row) for listing in listings for row in listing.rows]
    words: dict[str, list[str | int | None]] = {
        "run": [listing.run or None for listing, _ in pairs],
        "start": [None if listing.start is None else listing.start.isoformat() for listing, _ in pairs],
        "end": [None if listing.end is None else listing.end.isoformat() for listing, _ in pairs],
        "device": [row.address for _, row in pairs],
        "type": [row.type for _, row in pairs],
        "alias_of": [row.alias_of for _, row in pairs],
        "label": [row.label for _, row in pairs],
        "links": [row.links for _, row in pairs],
        "paths": [row.paths for _, row in pairs],
    }
    columns = [render.Column(name=name, unit="", values=values) for name, values in words.items()]
    columns.insert(
        3, render.Column(name="interval", unit="s", values=[listing.interval for listing, _ in pairs])
    )
    for name, (_, unit, factor) in MEASURED.items():
        printed = [getattr(row, name) for _, row in pairs]
        columns += _measured(name, unit, factor, printed)[: 1 + resolution]
    return render.Table(columns=tuple(columns))


def _measured(name: str, unit: str, factor: float, printed: Sequence[Printed | None]) -> list[render.Column]:
    """Lay out SI values in the printed unit, without the digits that converting there and back adds."""
    values = [None if item is None else round(item.value / factor, PRINTED_DECIMALS) for item in printed]
    halves = [None if item is None else round(item.resolution / factor, PRINTED_DECIMALS) for item in printed]
    finest = min((half for half in halves if half is not None), default=WHOLE)
    decimals = round(math.log10(WHOLE / finest))
    return [
        render.Column(name=name, unit=unit, values=values, decimals=decimals),
        render.Column(name=f"{name}_resolution", unit=unit, values=halves, decimals=decimals + 1),
    ]
