"""The DEVICE listing of Performance Toolkit (FCX108): one row a real device, with rates, times and queue.

The rows start below the line ``Addr Type ... Qued`` and end at a blank line or at the end of the page. A line
among them that is no row is an error, never skipped; so is a row that stands anywhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner import render
from planner.errors import ReportError
from planner.reports.columns import WHOLE, Columns, is_number
from planner.reports.listing import Document, Head, Line, Page, heading, read_pages
from planner.reports.printed import Printed
from planner.tabular import Tabular
from planner.units import MILLISECOND

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

REPORT: Final = "FCX108"
HEADINGS: Final = (
    "Addr", "Type", "Label/ID", "Links", "ths", "I/O", "Avoid",
    "Pend", "Disc", "Conn", "Serv", "Resp", "CUWt", "Qued",
)  # fmt: skip
NUMBERS: Final = HEADINGS[3:]
MEASURED: Final = {  # field: heading, unit as shown, SI units in one printed unit
    "io_rate": ("I/O", "1/s", 1.0),
    "avoided": ("Avoid", "1/s", 1.0),
    "pend": ("Pend", "ms", MILLISECOND),
    "disconnect": ("Disc", "ms", MILLISECOND),
    "connect": ("Conn", "ms", MILLISECOND),
    "service": ("Serv", "ms", MILLISECOND),
    "response": ("Resp", "ms", MILLISECOND),
    "cu_wait": ("CUWt", "ms", MILLISECOND),
    "queued": ("Qued", "", 1.0),
}
PRINTED_DECIMALS: Final = 9  # more than any listing prints
SHOWN: Final = {
    "device": "device", "type": "type", "label": "label", "io_rate": "I/O rate", "pend": "pend",
    "disconnect": "disc", "connect": "conn", "service": "service", "response": "response", "queued": "queued",
}  # fmt: skip

_ADDRESS: Final = re.compile(r"[0-9A-F]{4}")
_ALIAS: Final = re.compile(r"->([0-9A-F]{4})")
_TYPE: Final = re.compile(r"->[0-9A-F]{4}|[^->][^>]*")
_ROW_START: Final = re.compile(r" *[0-9A-F]{4}(?: *$| +[-0-9])")  # an address, then a type or nothing
_RULE: Final = re.compile(r"[ ._]*")
_GROUP: Final = "<-- Device Descr"
_SUMMARY: Final = ">>"  # rows such as a sum over all devices; none in a published listing, never a device
_SCREEN_END: Final = ("Command ===>", "Select a device", "F1=Help")  # what a screen shows below its rows

_NO_HEAD: Final = f"a DEVICE table without its page head: expected '{REPORT}  Run ...' above it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One row: a real device as the listing shows it; numbers are None where it prints dots.

    Attributes
    ----------
    address : str
        Device number, four hexadecimal digits.
    type : str
        Device type such as ``3390-3``, or ``->522A`` for a classic alias.
    label : str
        Volume label or owner; empty where blank.
    links, paths : int or None
        Minidisk links and channel paths.
    io_rate, avoided : Printed or None
        I/Os started and I/Os avoided by minidisk caching [1/s].
    pend, disconnect, connect, service, response, cu_wait : Printed or None
        Mean times of one I/O [s]. Performance Toolkit adds up `service` from its rounded parts (see
        `service_from_parts`), and does not print the response time of a volume once an alias serves it.
    queued : Printed or None
        Mean number of I/Os waiting for the device.
    line : int
        Line in the file.
    """

    address: str
    type: str
    label: str
    links: int | None
    paths: int | None
    io_rate: Printed | None
    avoided: Printed | None
    pend: Printed | None
    disconnect: Printed | None
    connect: Printed | None
    service: Printed | None
    response: Printed | None
    cu_wait: Printed | None
    queued: Printed | None
    line: int

    @property
    def alias_of(self) -> str | None:
        """Address of the base of a classic alias, else None."""
        alias = _ALIAS.fullmatch(self.type)
        return alias[1] if alias else None

    @property
    def is_classic_alias(self) -> bool:
        """Whether the type names a base (``->522A``)."""
        return self.alias_of is not None

    @property
    def is_hyperpav_alias(self) -> bool:
        """Whether label is blank and type names no base: a HyperPAV alias has no volume of its own."""
        return not self.label and not self.is_classic_alias

    @property
    def service_from_parts(self) -> Printed | None:
        """Pend + disconnect + connect [s], with the resolution that a sum of three rounded numbers has."""
        if self.pend is None or self.disconnect is None or self.connect is None:
            return None
        return self.pend + self.disconnect + self.connect


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
        """Lay out what people look at first, within 80 columns; `device_table` has everything.

        Returns
        -------
        render.Table
            One row a device.
        """
        return device_table([self], resolution=False).only(SHOWN)

    def _repr_html_(self) -> str:
        return render.to_html(device_table([self], resolution=False))

    def to_frame(self) -> pd.DataFrame:
        """Return every number of the listing as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row a device, units in the column names.
        """
        return render.to_frame(device_table([self], resolution=False))

    def plot(self) -> Axes:
        """Draw of what the response time of each device consists.

        Returns
        -------
        matplotlib.axes.Axes
            Bars of the times that the listing shows.
        """
        from planner.reports.pictures import device_times

        return device_times(self)


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
    document = read_pages(Path(path), data)
    _refuse_stray_tables(document)
    listings = document.listings(REPORT, "DEVICE")
    return tuple(_listing(document.path, head, pages) for head, pages in listings)


def _refuse_stray_tables(document: Document) -> None:
    """Refuse a DEVICE table that does not stand below a head of its own: its interval is unknown."""
    elsewhere = [page.lines for page in document.pages if page.head.report != REPORT]
    for line in (line for lines in (document.preamble, *elsewhere) for line in lines):
        if _is_header(line):
            raise line.error(document.path, _NO_HEAD)


def _listing(path: Path, head: Head, pages: list[Page]) -> DeviceListing:
    """Join the pages of one listing; no device may stand on two of their rows."""
    first = pages[0].first
    rows = tuple(row for page in pages for row in _page_rows(path, page))
    if not rows:
        raise first.error(
            path, "a listing without rows: expected at least one device below 'Addr Type ... Qued'"
        )
    lines: dict[str, int] = {}
    for row in rows:
        if row.address in lines:
            problem = f"device {row.address} a second time: it is listed in line {lines[row.address]} already"
            raise ReportError(path, problem, line=row.line)
        lines[row.address] = row.line
    return DeviceListing(
        report=REPORT, run=head.run, start=head.start, end=head.end, interval=head.interval,
        path=path, line=first.number, rows=rows, system=head.system,
    )  # fmt: skip


def _page_rows(path: Path, page: Page) -> Iterator[Device]:
    """Walk down a page: its head, the heading, one block of rows, a gap, other text."""
    columns: Columns | None = None
    above, state = page.first, "head"
    for line in page.lines:
        if _is_header(line):
            if state == "text":
                raise line.error(path, _NO_HEAD)
            columns, state = _columns(path, above, line), "heading"
        elif line.is_blank or _is_heading(line):
            state = "gap" if state == "rows" else state
        elif columns is not None:
            if state == "rows" and line.text.lstrip(" ").startswith(_SCREEN_END):
                state = "text"
            elif state in {"heading", "rows"}:
                if not line.text.lstrip(" ").startswith(_SUMMARY):
                    yield _row(columns, line)
                state = "rows"
            elif _looks_like_row(columns, line):
                raise line.error(
                    path, "a row apart from its table: expected rows without a blank line between them"
                )
            else:
                state = "text"
        above = line
    if columns is None:
        raise page.first.error(path, f"expected the heading line '{' '.join(HEADINGS)}' below this head")


def _is_header(line: Line) -> bool:
    """Whether this is the lower line of the heading, which tells where the columns are."""
    words = line.text.split()
    return words[:2] == list(HEADINGS[:2]) or len(set(HEADINGS) & set(words)) > len(HEADINGS) // 2


def _is_heading(line: Line) -> bool:
    """Whether this is the upper line of the heading, a rule, or the dots that mark sortable columns."""
    return line.text.lstrip(" ").startswith(_GROUP) or _RULE.fullmatch(line.text) is not None


def _columns(path: Path, above: Line, line: Line) -> Columns:
    """Find the columns; the line above the headings must say that the times are in milliseconds."""
    if "(msec)" not in above.text:
        raise above.error(
            path, "expected the upper line of the heading, '<-- Device Descr. --> ... Time (msec) ...'"
        )
    return Columns.from_header(path, line, HEADINGS)


def _address(columns: Columns, line: Line) -> str:
    """Device address that opens a row, empty where none stands in its column, apart from its neighbors."""
    span = columns.spans["Addr"]
    apart = not (line.text[: span.start] + line.text[span.end : span.end + 1]).strip(" ")
    address = line.text[span.start : span.end]
    return address if apart and _ADDRESS.fullmatch(address) else ""


def _looks_like_row(columns: Columns, line: Line) -> bool:
    """Whether a line is a row, sound or damaged, rather than text that follows the table."""
    if _address(columns, line) or _ROW_START.match(line.text):
        return True
    return sum(map(is_number, line.text.split())) > len(NUMBERS) // 2


def _row(columns: Columns, line: Line) -> Device:
    """Read one row by its columns."""
    path, start = columns.path, columns.spans["Addr"].start
    address = _address(columns, line)
    if not address:
        wanted = f"a row, with a device address (four hexadecimal digits) in column {line.offset + start + 1}"
        raise line.error(path, f"{line.text.strip()[:40]!r}: expected {wanted}, or a blank line", start)
    kind = columns.word(line, "Type", following="Label/ID")
    if not _TYPE.fullmatch(kind):
        wanted = "expected a device type such as 3390-3, or ->522A for an alias"
        raise line.error(path, f"Type {kind!r}: {wanted}", columns.spans["Type"].start)
    label = columns.word(line, "Label/ID")
    links, paths = (columns.count(line, name) for name in ("Links", "ths"))
    measured = {field: columns.number(line, name, factor) for field, (name, _, factor) in MEASURED.items()}
    columns.close(line, HEADINGS[-1])
    return Device(
        address=address, type=kind, label=label, links=links, paths=paths, line=line.number, **measured
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
