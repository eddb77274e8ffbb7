"""The one door to files: whatever was measured, in whatever format, as tables of documented columns."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from planner.errors import InputError, ReportError
from planner.measurements import choose
from planner.measurements.columnar import is_columnar, read_columnar
from planner.reports import schema

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from planner.reports.any_table import TableHead
    from planner.reports.csv_table import CsvTable
    from planner.reports.membership import Membership

STANDARD_INPUT: Final = "-"
TWO_BYTES: Final = (b"\xff\xfe", b"\xfe\xff")  # first bytes of text with two bytes a character
NEARLY: Final = (  # how what is no measurement begins, and the way out
    (rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|LZIP", "compressed: expected it unpacked (gunzip, bunzip2, xz -d)"),
    (rb"PK\x03\x04", "a workbook (.xlsx) or another zip file: expected it saved as CSV, or unpacked"),
    (rb"%PDF", "a PDF: expected what it was printed from, as text"),
    (rb"(?i)\s*<(?:!doctype\s+)?html", "a page of HTML: expected the file itself, as text"),
    (rb"(?:[^\x00-\x09\x0b\x0c\x0e-\x3f]*[\x40\x15\x25]){20}", "text in EBCDIC: expected a transfer as text, to ASCII"),
    (rb"\s*\d+ +\d+ \S+(?: \d+){11}", "counters of /proc/diskstats: expected what iostat -x -t 60 prints"),
)  # fmt: skip
LISTING: Final = re.compile(rb"FCX\d|Label/ID|Data Space|^ ?[0-9A-F]{4} +(?:33[89]0|->)", re.MULTILINE)
HEAD: Final = 65_536  # bytes that tell what a file is
Data = Any
"""A path, ``-`` for standard input, a file object, bytes, a data frame of polars or pandas, or several of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was read, as tables of `planner.reports.schema`; docs/formats.md explains their columns.

    Attributes
    ----------
    devices : polars.DataFrame
        A row a device (or volume) and interval.
    supply : polars.DataFrame
        A row an alias pool and interval: requests for an alias, those that found none free.
    storage : polars.DataFrame
        A row a shared data space and interval: its pages, and how they are paged.
    notes : tuple of str
        Whole sentences: rows that were damaged, and how a file was understood where it leaves that open.
    what : tuple of str
        What each source was.
    missing : tuple of planner.reports.schema.Missing
        Rows that could not be read: device, pool, system, begin.
    columns : tuple of str
        For each table, what every column was taken for.
    """

    devices: pl.DataFrame
    supply: pl.DataFrame
    storage: pl.DataFrame
    notes: tuple[str, ...] = ()
    what: tuple[str, ...] = ()
    missing: tuple[schema.Missing, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def frame(self) -> pl.DataFrame:
        """The first table that has rows: devices, supply, storage."""
        return next((each for each in (self.devices, self.supply, self.storage) if each.height), self.devices)


def _utf_8(data: bytes) -> bytes:
    """Text as it is, or from two bytes a character, as spreadsheets and PowerShell save it."""
    return data.decode("utf-16", "replace").encode() if data.startswith(TWO_BYTES) else data


@dataclass(slots=True)
class Source:
    """Something to read: its `path` (a name, for messages), and its content once it is needed."""

    path: Path
    frame: pl.DataFrame | None = None
    content: bytes | None = None
    _table: CsvTable | None = None

    @property
    def head(self) -> bytes:
        """The first bytes."""
        if self.frame is not None:
            return b""
        if self.content is not None:
            return _utf_8(self.content[:HEAD])
        from planner.reports.lines import unreadable

        try:
            with self.path.open("rb") as file:
                return _utf_8(file.read(HEAD))
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error, WANTED) from error

    @property
    def data(self) -> bytes:
        """All bytes."""
        if self.content is None:
            self.content = self.path.read_bytes()
        return _utf_8(self.content)

    @property
    def headings(self) -> frozenset[str]:
        """Headings of a table in lower case: of a data frame, or the first line of text with a comma; none else."""
        if self.frame is not None:
            return frozenset(name.lower() for name in self.frame.columns)
        text = self.head.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
        line = next((line for line in text.split(b"\n") if line.replace(b",", b"").strip()), b"")
        names = re.split("[,;\t]", line.decode("utf-8", "replace"))  # whoever reads it refuses all but commas
        return frozenset(name.strip(' "').lower() for name in names) if len(names) > 1 else frozenset()

    def cells(self, what: str) -> CsvTable:
        """Cells below headings, of CSV or of a data frame."""
        if self._table is None:
            from planner.reports.csv_table import of_frame, read_csv

            if self.frame is not None:
                self._table = of_frame(self.path, self.frame)
            else:
                self._table = read_csv(self.path, (), what, data=self.data)
        return self._table


@dataclass(frozen=True, slots=True)
class Span:
    """Which rows are wanted: of a `system` (the name of one that is not said), from `start` on, before `end`."""

    system: str | None = None
    start: datetime | None = None
    end: datetime | None = None


EVERYTHING: Final = Span()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a caller says beside the source: `members` of pools, whether counters are `deltas`, the `span`, the `map`.

    `map` says which column of a table is which field.
    """

    members: Membership | None = None
    deltas: bool | None = None
    span: Span = EVERYTHING
    map: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A format: its `name`, how it is recognized by content, and what reads it, at once or part by part."""

    name: str
    recognizes: Callable[[Source], bool]
    read: Callable[[Source, Options], schema.Tables | Iterator[schema.Tables]]


def _archive(source: Source, options: Options) -> schema.Tables:
    """An archive that planner collect wrote."""
    from planner.measurements.archive import open_archive

    archive, span = open_archive(source.path), options.span
    systems = None if span.system is None else [span.system]
    frames = {
        table: archive.read(table, systems=systems, start=span.start, end=span.end) for table in schema.TABLES
    }
    missing = archive.missing(systems=systems, start=span.start, end=span.end)
    return schema.Tables(**frames, missing=missing, what="an archive")  # type: ignore[arg-type] # mypy takes the names for any field


def _listings(source: Source, options: Options) -> schema.Tables:
    """Listings of Performance Toolkit, of either report."""
    from planner.reports.any_listing import read_tables

    try:
        return read_tables(source.path, source.content)
    except ReportError as error:
        if not LISTING.search(source.head):
            raise _unknown(source) from error
        raise


def _counters(source: Source, options: Options) -> schema.Tables:
    """Volume counters."""
    from planner.reports.volume_counters import count_volumes, volumes_frame

    counted = count_volumes(
        source.path, options.members, deltas=options.deltas, table=source.cells("volume counters")
    )
    frame, notes = volumes_frame(counted)
    return schema.Tables(devices=frame, notes=tuple(notes), what="volume counters (MRIODDEV)")


def _supply(source: Source, options: Options) -> schema.Tables:
    """Supply counters."""
    from planner.reports.supply import read_supply, supply_frame

    pools = read_supply(source.path, source.cells("supply counters"))
    return schema.Tables(supply=supply_frame(pools, source.path), what="supply counters (MRIODHPP)")


def _volumes(source: Source, options: Options) -> schema.Tables:
    """Tables of volumes."""
    from planner.reports.any_table import read_any_frame, read_any_table

    if source.frame is not None:
        return read_any_frame(source.cells("a table of volumes"), options.map)
    return read_any_table(source.path, source.data, options.map)


def _layout(source: Source) -> TableHead | None:
    """Where the headings of a table of volumes stand."""
    from planner.reports.any_table import TableHead, layout_of
    from planner.reports.column_names import plan_of

    if source.frame is not None:
        return TableHead(0, "", plan_of(source.frame.columns))
    text = source.head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return layout_of(text.decode("utf-8", "replace"))


def _unknown(source: Source) -> ReportError:
    """Say of a table that is none of volumes which columns it has, which are missing, and which may be them."""
    from planner.reports.column_names import listed
    from planner.reports.linux import is_lsdasd

    head = source.head
    problem = next((words for begin, words in NEARLY if re.match(begin, head)), None)
    if problem is None and head and is_lsdasd(head):
        problem = (
            "lsdasd says who shares a pool, not what was measured: give it by --pools, beside measurements"
        )
    if problem is None and source.frame is None and not head.strip():
        problem = f"the file is empty; {WANTED}"
    if problem is not None:
        return ReportError(source.path, problem)
    layout = _layout(source)
    if layout is None:
        return ReportError(source.path, f"of no known format; {WANTED}")
    if not layout.plan.taken:
        found = f"found are the columns {listed(layout.plan.unused)}"
        return ReportError(source.path, f"of no known format; {WANTED}; {found}: --map says which is which")
    return ReportError(source.path, f"of no known format: {layout.plan.refusal()}", line=layout.line or None)


def _monitor(source: Source, options: Options) -> Iterator[schema.Tables]:
    """z/VM monitor data, some samples at a time."""
    from planner.reports.monitor.reader import batches

    return batches(source.path, source.content, pools_known=options.members is not None)


def _zos(source: Source, options: Options) -> schema.Tables:
    """z/OS, SMF 74-1 or 78-3."""
    from planner.reports import zos

    frame = source.frame if source.frame is not None else zos.read_csv(source.path, source.data)
    return zos.read_frame(source.path, frame)


def _of_bytes(recognizes: str, reads: str) -> dict[str, Any]:
    """What in `planner.reports` recognizes the first bytes of a file, and what reads all of them."""

    def function(name: str) -> Any:
        module, _, name = name.rpartition(".")
        return getattr(importlib.import_module(f"planner.reports.{module}"), name)

    return {
        "recognizes": lambda source: source.frame is None and function(recognizes)(source.head),
        "read": lambda source, options: function(reads)(source.path, source.data),
    }


def _is_monitor(source: Source) -> bool:
    from planner.reports.monitor.records import is_monitor

    return source.frame is None and is_monitor(source.head)


def _is_zos(source: Source) -> bool:
    from planner.reports.zos import is_devices, is_pools

    return is_devices(source.headings) or is_pools(source.headings)


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


def _has(*names: str) -> Callable[[Source], bool]:
    return lambda source: source.headings >= {name.lower() for name in names}


def _is_volumes(source: Source) -> bool:
    text = source.frame is not None or b"\x00" not in source.head
    layout = _layout(source) if text else None
    return layout is not None and not layout.plan.missing


def is_listing(source: Data) -> bool:
    """Tell whether a source is read as listings of Performance Toolkit."""
    (only,) = _sources(source)
    reader = next((each for each in READERS if each.recognizes(only)), None)
    return reader is not None and reader.read is _listings and LISTING.search(only.head) is not None


def standard_input(path: Path) -> bytes | None:
    """Content of standard input where the path is ``-``; None for any other."""
    return sys.stdin.buffer.read() if str(path) == STANDARD_INPUT else None


def is_folder(path: Path) -> bool:
    """Tell a folder; what cannot be looked at is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_archive(source: Source) -> bool:
    return source.frame is None and source.content is None and is_folder(source.path)


def _has_page_head(source: Source) -> bool:
    from planner.reports.listing import HEAD as PAGE_HEAD

    return any(PAGE_HEAD.match(line) for line in source.head.decode("latin-1").split("\n"))


def _is_listing(source: Source) -> bool:
    return source.frame is None and b"\x00" not in source.head


TABLE: Final = Reader(name="a table of volumes", recognizes=_is_volumes, read=_volumes)
# A new format is one module of `planner.reports` and one line here; the first that recognizes a source reads it.
READERS: Final = (
    Reader(name="an archive", recognizes=_is_archive, read=_archive),
    Reader(name="pages of Performance Toolkit", recognizes=_has_page_head, read=_listings),  # needs no other reader
    Reader(name="RMF reports in XML", **_of_bytes("rmf_xml.is_rmf_xml", "rmf.read_rmf")),
    Reader(name="a table of this planner", recognizes=lambda source: _schema_of(source) is not None, read=_ready),
    Reader(name="supply counters", recognizes=_has("IODHPP_HPPTRIES", "IODHPP_HPPFAILS"), read=_supply),
    Reader(name="volume counters", recognizes=_has("device", "IODDEV_SCGSSCH"), read=_counters),
    Reader(name="SMF 74-1 or 78-3 of SMF Explorer", recognizes=_is_zos, read=_zos),
    TABLE,
    Reader(name="z/VM monitor data", recognizes=_is_monitor, read=_monitor),
    Reader(name="iostat", **_of_bytes("iostat.is_iostat", "iostat.read_iostat")),
    Reader(
        name="statistics of the DASD driver",
        **_of_bytes("dasd_statistics.is_dasd_statistics", "dasd_statistics.tables"),
    ),
    Reader(name="listings of Performance Toolkit", recognizes=_is_listing, read=_listings),
)  # fmt: skip
WANTED: Final = (
    "expected measurements: DEVICE (FCX108) or DSPACESH (FCX134) listings, z/VM monitor data, volume or supply "
    "counters, SMF 74-1 or 78-3 of SMF Explorer, RMF reports in XML, iostat -x, statistics of the DASD driver of "
    "Linux, or a table of volumes with the columns device or volume, io_rate and service_ms"
)


def read(
    source: Data,
    members: Membership | Path | str | None = None,
    *,
    system: str | None = None,
    start: datetime | str | None = None,
    end: datetime | str | None = None,
    interval: str | None = None,
    deltas: bool | None = None,
    map: str | Mapping[str, str] | None = None,
) -> Measured:
    """Read measurements, whatever their format: the content says what they are, not the name of the file.

    Parameters
    ----------
    source : path, str, file object, bytes, data frame, or a sequence of these
        What to read: any format of docs/formats.md, data frames of polars and pandas, an archive; ``-`` is standard
        input.
    members : Membership, Path or str, optional
        Which device belongs to which alias pool, or the file that says so (docs/supply.md).
    system : str, optional
        Of an archive, the system to read; else the name of the system, for rows whose source does not say it.
    start, end : datetime or str, optional
        Only intervals that begin at `start` or later and before `end`, by the clock of the system.
    interval : str, optional
        One interval of each device instead of all: ``worst`` (in which most I/Os of its pool wait), ``mean``, or a time
        such as ``2026-03-01T10:15``.
    deltas : bool, optional
        Whether rows of volume counters hold what was counted since the row before; decided by their numbers where None.
    map : str or mapping, optional
        Which column of a table is which field, where its heading does not say it: ``{"io_rate": "IOPS", "service_us":
        "Svc"}``, or ``"io_rate=IOPS,service_us=Svc"``.

    Returns
    -------
    Measured
        Devices, supply and storage, each a table of polars, and notes.

    Raises
    ------
    InputError
        No source at all, or one of no known kind.
    ReportError
        A source cannot be read, is of no known format, or is damaged beyond single rows.

    Examples
    --------
    >>> measured = read("data/hyperpav/522A-2-aliases.listing")
    >>> measured.devices.select("device", "kind", "io_rate", "io_rate_high").rows()[0]
    ('522A', 'base', 552.0, 552.5)
    """
    span = Span(system, choose.moment(start, "start"), choose.moment(end, "end"))
    parts = list(read_parts(source, members, span, deltas=deltas, map=map))
    if not parts:
        raise InputError("source", source, "at least one file or data frame")
    frames = {
        name: schema.join(columns, [getattr(part, name) for part in parts])
        for name, columns in schema.TABLES.items()
    }
    if frames["supply"]["aliases"].null_count():
        from planner.reports.zos import with_aliases

        frames["supply"] = with_aliases(frames["supply"], frames["devices"])
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    what = dict.fromkeys(each for part in parts for each in part.what)
    if interval is not None:
        frames["devices"] = choose.at_interval(frames["devices"], interval)
    missing = tuple(each for part in parts for each in part.missing)
    columns = tuple(dict.fromkeys(each for part in parts for each in part.columns))
    return Measured(**frames, notes=tuple(notes), what=tuple(what), missing=missing, columns=columns)


def read_parts(
    source: Data,
    members: Membership | Path | str | None = None,
    span: Span = EVERYTHING,
    *,
    deltas: bool | None = None,
    map: str | Mapping[str, str] | None = None,
) -> Iterator[Measured]:
    """Read as `read` does, a part at a time: one a source, more where a file is read by and by."""
    known = membership(members)
    from planner.reports.column_names import read_map

    options = Options(members=known, deltas=deltas, span=span, map=read_map(map))
    for each in _sources(source):
        for tables in _read_one(each, options):
            frames = {
                name: schema.empty(columns) if (frame := getattr(tables, name)) is None else frame
                for name, columns in schema.TABLES.items()
            }
            for name, columns in schema.TABLES.items():
                schema.refuse_implausible(columns, frames[name])
            notes = tables.notes
            if known is not None:
                from planner.reports.linux import LinuxDevices, name_devices
                from planner.reports.membership import with_pools

                if isinstance(known, LinuxDevices):
                    frames["devices"] = name_devices(frames["devices"], known)
                frames["devices"] = with_pools(frames["devices"], known)
                notes = (*notes, *getattr(known, "notes", ()))
            if span.system is not None:
                import polars as pl

                filled = pl.col("system").fill_null(span.system)
                frames = {name: frame.with_columns(filled) for name, frame in frames.items()}
            lost = _lost(tables.missing, frames["devices"], span.system, known)
            if span.start is not None or span.end is not None:
                frames = {name: choose.within(frame, span.start, span.end) for name, frame in frames.items()}
                lost = choose.within(lost, span.start, span.end)
            yield Measured(
                **frames, notes=notes, what=(tables.what,) if tables.what else (), missing=schema.lost_rows(lost),
                columns=(tables.columns,) if tables.columns else (),
            )  # fmt: skip


def _lost(
    missing: Sequence[schema.Missing], devices: pl.DataFrame, system: str | None, known: Membership | None
) -> pl.DataFrame:
    """Rows that could not be read, with system, first interval and pool where their reader could not say them."""
    import polars as pl

    found = []
    for each in missing:
        member = known.members.get(each.name or "") if known is not None else None
        pool, alias = (
            (each.pool, each.alias) if member is None else (member.pool, member.role == schema.ALIAS)
        )
        found.append(replace(each, system=each.system or system, pool=pool, alias=alias))
    first = pl.lit(devices["start"].min(), pl.Datetime("us"))
    return schema.lost_frame(found).with_columns(pl.col("start").fill_null(first))


def _read_one(source: Source, options: Options) -> Iterator[schema.Tables]:
    if options.map and is_folder(source.path):
        raise InputError(
            "map", ", ".join(options.map), f"it with a table: the archive {source.path} has its columns"
        )
    for reader in (TABLE,) if options.map else READERS:
        if options.map or reader.recognizes(source):
            found = reader.read(source, options)
            yield from (found,) if isinstance(found, schema.Tables) else found
            return
    raise _unknown(source)


def membership(members: Membership | Path | str | None) -> Membership | None:
    """Read the file that says which device belongs to which pool, where it is one."""
    if isinstance(members, str | Path):
        from planner.reports.linux import is_lsdasd, read_lsdasd
        from planner.reports.membership import read_membership

        source = Source(Path(members))
        return read_lsdasd(members) if is_lsdasd(source.head) else read_membership(members)
    return members


def _sources(source: Data) -> Iterator[Source]:
    """Cut what a caller gave into single sources."""
    if isinstance(source, str | Path):
        if str(source) == STANDARD_INPUT:
            yield Source(Path("standard input"), content=sys.stdin.buffer.read())
            return
        path = Path(source)
        yield (
            Source(path)
            if is_folder(path) or not is_columnar(path)
            else Source(path, frame=read_columnar(path))
        )
    elif isinstance(source, bytes | bytearray):
        yield Source(Path("bytes"), content=bytes(source))
    elif (frame := _frame(source)) is not None:
        yield Source(Path("data frame"), frame=frame)
    elif isinstance(source, io.IOBase) or hasattr(source, "read"):
        yield _opened(source)
    elif isinstance(source, Sequence):
        for each in source:
            yield from _sources(each)
    else:
        raise InputError(
            "source", type(source).__name__, "a path, a file object, a data frame, or several of them"
        )


def _opened(file: IO[Any]) -> Source:
    content = file.read()
    name = getattr(file, "name", None)
    path = Path(name) if isinstance(name, str) else Path("file object")
    return Source(path, content=content.encode() if isinstance(content, str) else content)


def _frame(source: object) -> pl.DataFrame | None:
    """A data frame of polars or pandas as polars; None for anything else."""
    module = type(source).__module__.partition(".")[0]
    if module == "polars":
        import polars as pl

        frame = source.collect() if isinstance(source, pl.LazyFrame) else source
        return frame if isinstance(frame, pl.DataFrame) else None
    return _from_pandas(source) if module == "pandas" else None  # type: ignore[arg-type]


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    """Columns of pandas, missing ones null; without pyarrow, which polars would ask for."""
    import polars as pl

    columns = []
    if any(name is not None for name in frame.index.names):  # a column that was made the index
        frame = frame.reset_index()
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "fiub":
            columns.append(pl.Series(str(name), column.to_numpy(), nan_to_null=True))
        elif str(column.dtype).startswith(("datetime64[", "timedelta64[")) and "," not in str(column.dtype):
            unit = "datetime64[us]" if column.dtype.kind == "M" else "timedelta64[us]"
            columns.append(pl.Series(str(name), column.to_numpy().astype(unit)))
        else:
            gone = column.isna()
            values = [None if missing else value for value, missing in zip(column, gone, strict=True)]
            columns.append(pl.Series(str(name), values, strict=False))
    return pl.DataFrame(columns)
