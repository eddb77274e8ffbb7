"""One row of the DEVICE listing of Performance Toolkit (FCX108): a real device, with rates, times and queue.

The rows start below the line ``Addr Type ... Qued`` and end at a blank line or at the end of the page. What is among
them and no row is said with its line and column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.reports.lines import Line
from planner.reports.printed import Columns, Printed, is_number
from planner.units import MILLISECOND

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

_ADDRESS: Final = re.compile(r"[0-9A-F]{4}")
ALIAS: Final = re.compile(r"->([0-9A-F]{4})")
TYPE: Final = re.compile(r"->[0-9A-F]{4}|[^->][^>]*")
_DISK_ROW: Final = re.compile(r".? *[0-9A-F]{4} +(?:33[89]0(?:-\w+)?|9336(?:-\w+)?|->[0-9A-F]{4})(?: |$)")
_ANYWHERE: Final = 5  # numbers of a line that make it a row, wherever it stands
_ROW_START: Final = re.compile(r" *[0-9A-F]{4}(?: *$| +[-0-9])")  # an address, then a type or nothing
_RULE: Final = re.compile(r"[ ._]*")
_GROUP: Final = "<-- Device Descr"
SUMMARY: Final = ">>"  # rows such as a sum over all devices; none in a published listing, never a device
SCREEN_END: Final = ("Command ===>", "Select a device", "F1=Help")  # what a screen shows below its rows

APART: Final = "a row apart from its table: expected rows without a blank line between them"
NO_HEAD: Final = f"a DEVICE table without its page head: expected '{REPORT}  Run ...' above it"


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
        alias = ALIAS.fullmatch(self.type)
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


def is_header(line: Line) -> bool:
    """Whether this is the lower line of the heading, which tells where the columns are."""
    words = line.text.split()
    return words[:2] == list(HEADINGS[:2]) or len(set(HEADINGS) & set(words)) > len(HEADINGS) // 2


def is_heading(line: Line) -> bool:
    """Whether this is the upper line of the heading, a rule, or the dots that mark sortable columns."""
    return line.text.lstrip(" ").startswith(_GROUP) or _RULE.fullmatch(line.text) is not None


def columns_below(path: Path, above: Line, line: Line) -> Columns:
    """Find the columns; the line above the headings must say that the times are in milliseconds."""
    if "(msec)" not in above.text:
        raise above.error(
            path, "expected the upper line of the heading, '<-- Device Descr. --> ... Time (msec) ...'"
        )
    return Columns.from_header(path, line, HEADINGS)


def _address(columns: Columns, line: Line) -> str:
    """Device address that opens a row, empty where none stands in its column, apart from its neighbors."""
    span = columns.spans["Addr"]
    apart = not (line.text[: span.start] + line.text[span.stop : span.stop + 1]).strip(" ")
    address = line.text[span.start : span.stop]
    return address if apart and _ADDRESS.fullmatch(address) else ""


def looks_like_row(columns: Columns, line: Line) -> bool:
    """Whether a line is a row, sound or damaged, rather than text that follows the table."""
    if _address(columns, line) or _ROW_START.match(line.text):
        return True
    return sum(map(is_number, line.text.split())) > len(NUMBERS) // 2


def read_row(columns: Columns, line: Line) -> Device:
    """Read one row by its columns."""
    path, start = columns.path, columns.spans["Addr"].start
    address = _address(columns, line)
    if not address:
        wanted = f"a row, with a device address (four hexadecimal digits) in column {line.offset + start + 1}"
        raise line.error(path, f"{line.text.strip()[:40]!r}: expected {wanted}, or a blank line", start)
    kind = columns.word(line, "Type", following="Label/ID")
    if not TYPE.fullmatch(kind):
        wanted = "expected a device type such as 3390-3, or ->522A for an alias"
        raise line.error(path, f"Type {kind!r}: {wanted}", columns.spans["Type"].start)
    label = columns.word(line, "Label/ID")
    links, paths = (columns.count(line, name) for name in ("Links", "ths"))
    measured = {field: columns.number(line, name, factor) for field, (name, _, factor) in MEASURED.items()}
    columns.close(line, HEADINGS[-1])
    return Device(
        address=address, type=kind, label=label, links=links, paths=paths, line=line.number, **measured
    )  # fmt: skip


def is_type(word: str) -> bool:
    """Whether a word is a device type, or the arrow of a classic alias."""
    return TYPE.fullmatch(word) is not None


def is_summary(text: str) -> bool:
    """Whether a line, from its first character on, is a sum over devices such as ``>> All DASD <<``."""
    return text.startswith(SUMMARY) and any(mark in text[len(SUMMARY) :] for mark in (SUMMARY, "<<"))


def may_be_row(text: str) -> bool:
    """Whether a line that stands outside of a table looks like one of the rows of one, whole or broken."""
    words = text.split()
    numbers = sum(is_number(word.rstrip("kM")) for word in words)
    return numbers > _ANYWHERE or _DISK_ROW.match(text) is not None
