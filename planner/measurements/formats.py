"""The formats: how each is recognized by content, what reads it, and what is said of what is none of them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.errors import InputError, ReportError
from planner.lazy import pl
from planner.render.text import listed
from planner.reports import schema
from planner.reports.any_listing import read_tables
from planner.reports.csv_table import CsvTable, in_utf8, of_frame, read_csv
from planner.reports.lines import PACKED, TWO_BYTES, read_bytes
from planner.reports.listing import HEAD as PAGE_HEAD
from planner.reports.membership import Membership, is_lsdasd

if TYPE_CHECKING:
    from planner.reports.volumes import TableHead

NEARLY: Final = (  # how what is no measurement begins, and the way out
    *PACKED,
    (rb"(?s:.{0,2000})(?:D I R E C T   A C C E S S   D E V I C E|R M F +|RPT VERSION \S+ RMF)",
     "a report of RMF as text: expected the XML of the RMF postprocessor"),
    (rb"%PDF", "a PDF: expected what it was printed from, as text"),
    (rb"(?i)\s*<(?:!doctype\s+)?html", "a page of HTML: expected the file itself, as text"),
    (rb"(?:[^\x00-\x09\x0b\x0c\x0e-\x3f]*[\x40\x15\x25]){20}", "text in EBCDIC: expected a transfer as text, to ASCII"),
    (rb'[^"\n\0]*(?:"[^"\n\0]*"[^"\n\0]*)*"[^"\n\0]*\r?\n',
     "a heading that goes on in a second line: expected all on one"),
    (rb"(?i)(?:#[^\n]*\n)*(?=[^\n]*(?:vol|dev))[^\n,;\t]*(?:rate|iops|ssch)[^\n,;\t]*\n",
     "a table with blanks or other signs between its columns: expected commas, semicolons or tabs"),
    (rb"(?i)(?s:.{0,2000}?)\bDevice [0-9A-F]{4} is an? (?:base|alias)",
     "CP QUERY PAV says who shares a pool, not what was measured: expected a table of it (device, role, pool) by "
     "`members`, beside measurements"),
    (rb"(?i)(?s:.{0,2000}?)(?:^|\n)DASD [0-9A-F]{4} ", "CP QUERY DASD prints no rates: expected a DEVICE listing"),
    (rb'\s*[{\[]\s*["{\[]', "JSON, but not what iostat -x -o JSON prints: expected a table as CSV"),
    (rb"\S+\t-?\d+\t[^\t\n]*\t\S+\t\S+\t-?[\d.,]+\n|(?s:.{0,200})<!DOCTYPE sysstat",
     "this is sadf of sar; expected what sar -d prints"),
    (rb'(?i)[^\n]*[,;\t"]r/s[,;\t"]', "a table made of iostat -x, reads and writes apart: expected what iostat "
     "printed, or columns of both together: their rates added, and the mean of their waits by these as response"),
    (rb"(?s)\xd5\x96\x21|\x96\xd5.\x21", "a daily file of sadc: expected what sar -d -f prints of it"),
    (rb"\s*\d+ +\d+ \S+(?: \d+){11}", "counters of /proc/diskstats: expected what iostat -x -t 60 prints"),
    (rb"(?:[\t\r\n -~]\0){16}|(?:\0[\t\r\n -~]){16}",
     "text of two bytes a character (UTF-16) without a byte order mark: expected it saved as UTF-8, as by "
     "`iconv -f UTF-16LE -t UTF-8` (UTF-16BE where zeros come first)"),
)  # fmt: skip
LISTING: Final = re.compile(rb"FCX\d|Label/ID|Data Space|^ ?[0-9A-F]{4} +(?:33[89]0|->)", re.MULTILINE)
STANDARD_INPUT: Final = "-"
HEAD: Final = 65_536  # bytes that tell what a file is
WANTED: Final = (
    "expected measurements: DEVICE (FCX108) or DSPACESH (FCX134) listings, z/VM monitor data, volume or supply "
    "counters, SMF 74-1 or 78-3 of SMF Explorer, RMF reports in XML, iostat -x, sar -d, statistics of the DASD "
    "driver of Linux, or a table of volumes with the columns device or volume, io_rate and service_ms"
)


# Colors, erased ends of lines, titles of windows, as a terminal's record has them; what moves about in it stays.
TERMINAL: Final = re.compile(
    rb"\x1b(?:\[[0-9;]*[mK]|\[\?[0-9;]*[hl]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\([0-9A-B])"
)


def _plain(data: bytes) -> bytes:
    """Text from two bytes a character, as spreadsheets and PowerShell save it, and without a terminal's colors."""
    data = data.decode("utf-16", "replace").encode() if data.startswith(TWO_BYTES) else data
    return TERMINAL.sub(b"", data) if b"\x1b" in data and b"\0" not in data else data


@dataclass
class Source:
    """Something to read: its `path` (a name, for messages), and its content once it is needed, or what was read.

    `wanted`: what is expected of a file that cannot be opened; measurements unless it says so.
    """

    path: Path
    frame: pl.DataFrame | None = None
    content: bytes | None = None
    tables: schema.Tables | None = None
    wanted: str = WANTED

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        return b"" if self.frame is not None else _plain(self._bytes(HEAD))

    @cached_property
    def data(self) -> bytes:
        """All bytes."""
        return _plain(self._bytes())

    def _bytes(self, most: int | None = None) -> bytes:
        """The first bytes as they are; all where None."""
        return read_bytes(self.path, self.wanted, most) if self.content is None else self.content[:most]

    @cached_property
    def text(self) -> str:
        """The first lines of text, as an editor ends them."""
        text = in_utf8(self.head.removeprefix(b"\xef\xbb\xbf")).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return text.decode("utf-8", "replace")

    @cached_property
    def headings(self) -> frozenset[str]:
        """Headings of a table in lower case: of a data frame, or the first line of text with a comma; none else."""
        if self.frame is not None:
            return frozenset(name.lower() for name in self.frame.columns)
        line = next((line for line in self.text.split("\n") if line.replace(",", "").strip()), "")
        names = re.split("[,;\t]", line)  # whoever reads it refuses all but commas
        return frozenset(name.strip(' "').lower() for name in names) if len(names) > 1 else frozenset()

    def cells(self, what: str) -> CsvTable:
        """Cells below headings, of CSV or of a data frame."""
        if self.frame is not None:
            return of_frame(self.path, self.frame)
        return read_csv(self.path, (), what, data=self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a caller says: `members` of pools, whether counters are `deltas`, `map` of columns to fields, which rows.

    These are of a `system` (the name of one that is not said), from `start` on, before `end`.
    """

    members: Membership | None = None
    deltas: bool | None = None
    map: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    start: datetime | None = None
    end: datetime | None = None


Reader = Callable[[Source, Options], schema.Tables | Iterator[schema.Tables]]
"""What reads a format, at once or part by part."""


def _archive(source: Source, options: Options) -> schema.Tables:
    """An archive that planner collect wrote."""
    from planner.measurements.archive import open_archive

    archive = open_archive(source.path)
    systems = None if options.system is None else [options.system]
    chosen: dict[str, Any] = {"systems": systems, "start": options.start, "end": options.end}
    frames: dict[str, Any] = {table: archive.read(table, **chosen) for table in schema.TABLES}
    return schema.Tables(**frames, missing=archive.missing(**chosen), what="an archive")


def _listings(source: Source, options: Options) -> schema.Tables:
    """Listings of Performance Toolkit, of either report."""
    try:
        return read_tables(source.path, source.content)
    except ReportError as error:
        if not LISTING.search(source.head):
            raise _unknown(source) from error
        if b"\t" in source.head:
            problem = (
                f"{error.problem}; its tabs are read as blanks up to every eighth column: expected blanks"
            )
            raise ReportError(error.path, problem, line=error.line, column=error.column) from error
        raise


def _counters(source: Source, options: Options) -> schema.Tables:
    """Volume counters."""
    from planner.reports.supply import read_volume_counters

    return read_volume_counters(source.cells("volume counters"), options.members, deltas=options.deltas)


def _volumes(source: Source, options: Options) -> schema.Tables:
    """Tables of volumes."""
    from planner.reports.volumes import read_any_table, read_volumes

    if source.frame is not None:
        return read_volumes(source.cells("a table of volumes"), options.map)
    return read_any_table(source.path, source.data, options.map)


def _layout(source: Source) -> TableHead | None:
    """Where the headings of a table of volumes stand."""
    from planner.reports.column_names import plan_of
    from planner.reports.volumes import TableHead, layout_of

    if source.frame is not None:
        return TableHead(0, "", plan_of(source.frame.columns))
    return layout_of(source.text)


def _unknown(source: Source) -> ReportError:
    """Say of a table that is none of volumes which columns it has, which are missing, and which may be them."""
    head = source.head
    problem = next((words for begin, words in NEARLY if re.match(begin, head)), None)
    if problem is None and head and is_lsdasd(head):
        problem = (
            "lsdasd says who shares a pool, not what was measured: give it by `members`, beside measurements"
        )
    if problem is None and source.frame is None and not head.strip():
        problem = f"the file is empty; {WANTED}"
    if problem is not None:
        return ReportError(source.path, problem)
    layout = _layout(source)
    if layout is None:
        return ReportError(source.path, f"of no known format; {WANTED}")
    if not layout.plan.taken or b"\0" in head:
        found = f"found are the columns {listed(layout.plan.unused)}"
        if source.frame is None and re.search(rb"[\x00-\x08\x0e-\x1f]", head):
            return ReportError(source.path, f"of no known format; {WANTED}; found are bytes that are no text")
        return ReportError(source.path, f"of no known format; {WANTED}; {found}: `map` says which is which")
    return ReportError(source.path, f"of no known format: {layout.plan.refusal()}", line=layout.line or None)


def _read_before(source: Source, options: Options) -> schema.Tables:
    """What was read before, as `Measured` has it."""
    assert source.tables is not None
    return source.tables


def _monitor(source: Source, options: Options) -> Iterator[schema.Tables]:
    """z/VM monitor data, some samples at a time."""
    from planner.reports.monitor.reader import batches

    return batches(source.path, source.content, pools_known=options.members is not None)


def _function(name: str) -> Any:
    """A function of `planner.reports`, imported where it is called."""
    module, _, name = name.rpartition(".")
    return getattr(importlib.import_module(f"planner.reports.{module}"), name)


def _begins(recognizes: str) -> Callable[[Source], bool]:
    """Whether the first bytes of a file are what a function of `planner.reports` recognizes."""
    return lambda source: source.frame is None and _function(recognizes)(source.head)


def _bytes(reads: str) -> Callable[[Source, Options], schema.Tables]:
    """What a function of `planner.reports` makes of all bytes of a file."""
    return lambda source, options: _function(reads)(source.path, source.data)


def _cells(reads: str, what: str) -> Callable[[Source, Options], schema.Tables]:
    """What a function of `planner.reports` makes of the cells of a table."""
    return lambda source, options: _function(reads)(source.cells(what))


def _ready(source: Source, options: Options) -> schema.Tables:
    """Tables that have the columns of the schema already, such as `Measured.devices`."""
    assert source.frame is not None
    name = _schema_of(source) or "devices"
    frame = schema.conform(schema.TABLES[name], source.frame, source.path)
    return schema.Tables(**{name: frame}, what=f"a table of {name}")  # type: ignore[arg-type]


def _schema_of(source: Source) -> str | None:
    """Name of the table whose own columns a data frame has."""
    keys = {"devices": {"device", "kind", "io_rate_low"}, "supply": {"pool", "tries", "fewest_free"},
            "storage": {"owner", "resident_low"}}  # fmt: skip
    names = source.headings if source.frame is not None else frozenset()
    return next((name for name, needed in keys.items() if needed <= names), None)


def _has_heading(begin: str) -> Callable[[Source], bool]:
    """Whether a heading, in lower case, begins so."""
    return lambda source: any(name.startswith(begin) for name in source.headings)


def is_volumes(source: Source) -> bool:
    """Whether a table is one of volumes, by its headings."""
    text = source.frame is not None or b"\x00" not in source.head
    layout = _layout(source) if text else None
    return layout is not None and not layout.plan.missing


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; what cannot be looked at is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_read_once(path: Path | str) -> bool:
    """Whether something can be read only once: standard input, or a pipe such as ``<(zcat FILE)`` of a shell."""
    try:
        return str(path) == STANDARD_INPUT or Path(path).is_fifo()
    except (OSError, ValueError):
        return False


# How each format is recognized by content, and what reads it; the first that recognizes a source reads it. A new format
# is one module of `planner.reports` and one line here.
READERS: Final[Mapping[Callable[[Source], object], Reader]] = {
    lambda source: source.tables is not None: _read_before,
    lambda source: source.frame is None and source.content is None and is_folder(source.path): _archive,
    lambda source: any(map(PAGE_HEAD.match, source.head.decode("latin-1").split("\n"))): _listings,
    _begins("rmf.is_rmf_xml"): _bytes("rmf.read_rmf"),
    _schema_of: _ready,
    _has_heading("iodhpp_hpp"): _cells("supply.read_counters", "supply counters"),
    _has_heading("ioddev_scgssch"): _counters,
    lambda source: _function("zos.is_smf")(source.headings): _cells(
        "zos.read_smf", "SMF 74-1 or 78-3 of SMF Explorer"
    ),
    _begins("iostat.is_iostat"): _bytes("iostat.read_iostat"),
    is_volumes: _volumes,
    _begins("monitor.records.is_monitor"): _monitor,
    _begins("dasd_statistics.is_dasd_statistics"): _bytes("dasd_statistics.tables"),
    lambda source: source.frame is None and b"\x00" not in source.head: _listings,
}


def tables_of(source: Source, options: Options) -> Iterator[schema.Tables]:
    """Read a source with the first reader that recognizes it."""
    if options.map and (source.tables is not None or is_folder(source.path)):
        what = "what was read before" if source.tables is not None else f"the archive {source.path}"
        raise InputError("map", ", ".join(options.map), f"it with a table: {what} has its columns")
    recognized = (reader for recognizes, reader in READERS.items() if recognizes(source))
    reader = _volumes if options.map else next(recognized, None)
    if reader is None:
        raise _unknown(source)
    if options.deltas is not None and reader is not _counters:
        raise InputError(
            "deltas", options.deltas, "it with volume counters (MRIODDEV), whose rows are counts"
        )
    found = reader(source, options)
    yield from (found,) if isinstance(found, schema.Tables) else found
