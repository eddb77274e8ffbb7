"""The one door to files: whatever was measured, in whatever format, as tables of documented columns."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.errors import InputError, ReportError
from planner.files import named_in_text
from planner.lazy import pl
from planner.measurements import choose, formats
from planner.measurements.columnar import is_columnar, read_columnar
from planner.measurements.formats import STANDARD_INPUT, Options, Source, is_read_once
from planner.render.text import counted, listed
from planner.reports import schema
from planner.reports.lines import read_bytes
from planner.reports.membership import Membership, is_lsdasd, read_lsdasd, read_membership, with_pools

if TYPE_CHECKING:
    import pandas as pd

Data = Any
"""A path, ``-`` for standard input, a file object, bytes, a data frame of polars or pandas, what was read before, or
several of these."""

NAMELESS: Final = ("bytes", "data frame", "file object")
MOST_IN_USE: Final = (
    "Pools of which nothing says how many aliases they have are taken to have the most that were in use at once: they "
    "may have more."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What was read, as tables of `planner.reports.schema`; docs/formats.md explains their columns.

    * `devices`: a row a device (or volume) and interval.
    * `supply`: a row an alias pool and interval: requests for an alias, those that found none free.
    * `storage`: a row a shared data space and interval: its pages, and how they are paged.
    * `notes`: whole sentences: rows that were damaged, and how a file was understood where it leaves that open.
    * `what`: what each source was.
    * `missing`: rows that could not be read: device, pool, system, begin.
    * `columns`: for each table, what every column was taken for.
    * `files`: name of each source.
    """

    devices: pl.DataFrame
    supply: pl.DataFrame
    storage: pl.DataFrame
    notes: tuple[str, ...] = ()
    what: tuple[str, ...] = ()
    missing: tuple[schema.Missing, ...] = ()
    columns: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def frame(self) -> pl.DataFrame:
        """The first table that has rows: devices, supply, storage."""
        return next((each for each in (self.devices, self.supply, self.storage) if each.height), self.devices)

    @property
    def source(self) -> Source:
        """What was read as a source to be read again."""
        what, columns, files = (", ".join(each) for each in (self.what, self.columns, self.files))
        tables = schema.Tables(
            devices=self.devices, supply=self.supply, storage=self.storage, notes=self.notes, what=what,
            missing=self.missing, columns=columns,
        )  # fmt: skip
        return Source(Path(files or "tables"), tables=tables)

    def without(self, wanted: str) -> InputError:
        """Make the error of sources that do not hold what is `wanted`: it says what they are."""
        found = ", ".join(self.what) or "nothing"
        return InputError("source", ", ".join(self.files), f"{wanted}; found {found}")


def opened(path: Path | str) -> Source:
    """Take a file; standard input, or a pipe, is read once, for whoever looks into it before `read` takes it."""
    if str(path) == STANDARD_INPUT:
        return Source(Path("standard input"), content=_standard_input())
    source = Source(Path(path))
    return Source(source.path, content=source.data) if is_read_once(path) else source


def _standard_input() -> bytes:
    """All bytes of standard input."""
    if sys.stdin is None:
        raise ReportError("standard input", f"it is closed; {formats.WANTED}")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise ReportError("standard input", f"cannot be read ({error.strerror}); {formats.WANTED}") from error


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
    source : path, str, file object, bytes, data frame, Measured, or a sequence of these
        What to read: any format of docs/formats.md, data frames of polars and pandas, an archive; ``-`` is standard
        input. What was read before is read again for other intervals or members.
    members : Membership, Path or str, optional
        Which device belongs to which alias pool, or the file that says so (docs/supply.md).
    system : str, optional
        The system to read, where a source names it; the name of the system, for rows whose source does not say it.
    start, end : datetime or str, optional
        Only intervals that begin at `start` or later and before `end`, by the clock of the system.
    interval : str, optional
        One interval of each device instead of all: ``worst`` (in which most I/Os of its pool wait), ``mean``, or a time
        such as ``2026-03-01T10:15``; minutes whose queues were sampled are joined to ten first, except for the mean.
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
        No source at all, or one of no known kind; no row of that system or period.
    ReportError
        A source cannot be read, is of no known format, or is damaged beyond single rows.

    Examples
    --------
    >>> measured = read("data/hyperpav/522A-2-aliases.listing")
    >>> measured.devices.select("device", "kind", "io_rate", "io_rate_high").rows()[0]
    ('522A', 'base', 552.0, 552.5)
    """
    if not (system is None or isinstance(system, str)):
        raise InputError("system", system, "the name of a system")
    options = options_of(
        members, map, deltas=deltas, system=system, start=choose.moment(start, "start"), end=choose.moment(end, "end")
    )  # fmt: skip
    parts = list(read_parts(source, options))
    if not parts:
        raise InputError("source", source, "at least one file or data frame")
    frames = {
        name: schema.join(columns, [getattr(part, name) for part in parts])
        for name, columns in schema.TABLES.items()
    }
    for name, given in (("start", start), ("end", end)):
        if given is not None and not any(frame.height for frame in frames.values()):
            raise InputError(
                name, str(given), "a period in which something was measured; what has no date is in none"
            )
    missing = tuple(each for part in parts for each in part.missing)
    if system is not None:
        named = {name for frame in frames.values() for name in frame["system"].unique()}
        if named and None not in named:
            InputError.unless_one_of("system", system, sorted(named))
        frames, missing = choose.of_system(frames, missing, system)
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    if frames["supply"]["aliases"].null_count():
        from planner.reports.zos import with_aliases, with_most_used

        devices = with_most_used(frames["devices"].lazy(), frames["supply"].lazy()).collect()
        if devices["pool_aliases"].null_count() < frames["devices"]["pool_aliases"].null_count():
            notes[MOST_IN_USE] = None
        pooled = devices.filter(pl.col("pool").is_not_null())
        if not pooled["pool_aliases"].null_count():  # IOQ is in another file
            notes = {note: None for note in notes if not note.endswith(schema.NO_IOQ)}
        frames |= {"devices": devices, "supply": with_aliases(frames["supply"], devices)}
    what, columns, files = (
        tuple(dict.fromkeys(said for part in parts if (said := getattr(part, name))))
        for name in ("what", "columns", "file")
    )
    if interval is not None:
        frames["devices"] = choose.at_interval(frames["devices"], interval)
    return Measured(**frames, notes=tuple(notes), what=what, missing=missing, columns=columns, files=files)


def options_of(
    members: Membership | Path | str | None, map: str | Mapping[str, str] | None, **others: Any
) -> Options:
    """What a caller says, files and texts read."""
    from planner.reports.column_names import read_map

    return Options(members=members_from(members), map=read_map(map), **others)


def read_parts(source: Data, options: Options) -> Iterator[schema.Tables]:
    """Read as `read` does, in parts with all tables: one a source, more of a file that is read block by block."""
    known, system = options.members, options.system
    for each in _named(sources_of(source)):
        for tables in formats.tables_of(each, options):
            frames: dict[str, Any] = {name: getattr(tables, name) for name in schema.TABLES}
            for name, columns in schema.TABLES.items():
                schema.refuse_implausible(columns, frames[name])
            notes = tables.notes
            if known is not None:
                own, frames["devices"] = frames["devices"], with_pools(frames["devices"], known)
                notes = (*notes, *known.notes, *_other_pools(own, frames["devices"], known))
            lost = _lost(tables.missing, frames["devices"], system, known)
            span = options.start, options.end
            frames = {name: choose.within(frame, *span) for name, frame in frames.items()}
            missing = schema.lost_rows(choose.within(lost, *span))
            notes = (*notes, *_stuck(frames["devices"]))
            yield replace(tables, **frames, notes=notes, missing=missing, file=str(each.path))


def _named(sources: Iterator[Source]) -> Iterator[Source]:
    """Number what has no name of its own, since measurements without dates are distinguished by their source."""
    many: Counter[str] = Counter()
    for each in sources:
        name = str(each.path)
        many[name] += each.tables is None
        known = name not in NAMELESS or many[name] <= 1
        yield each if known else replace(each, path=Path(f"{name} {many[name]}"))


def _stuck(devices: pl.DataFrame) -> tuple[str, ...]:
    """A note on devices that count as idle though I/Os waited for them."""
    found = devices.filter((pl.col("io_rate") == 0) & (pl.col("queued_low") > 0.5 * pl.col("io_rate_high")))
    if not found.height:
        return ()
    names = found.select(pl.coalesce("device", "label")).to_series().unique(maintain_order=True)
    row = found.row(0, named=True)
    where = f"{row['file'] or 'data frame'}, line {row['line']}"
    said = f"did no I/O while {row['queued']:.3g} waited: reserved by another system, or hanging? It counts as idle"
    return (f"{listed(names.to_list(), 3)} ({where}) {said}.",)


def _other_pools(own: pl.DataFrame, found: pl.DataFrame, known: Membership) -> tuple[str, ...]:
    """A note where the file of members says other pools, or other numbers of aliases, than the measurements."""
    names = ("pool", "pool_aliases")
    differ = [own[name].is_not_null() & (own[name] != found[name]) for name in names]
    if not (either := differ[0] | differ[1]).any():
        return ()
    at = int(either.arg_max() or 0)
    said, there = ({name: each[name][at] for name in names} for each in (found, own))
    many = [f"pool {said['pool']} with {counted(said['pool_aliases'], 'alias', 'aliases')}"]
    many.append(f"{there['pool']} with {there['pool_aliases'] or 0}")
    device, where = found["device"][at], own["file"][at] or "data frame"
    return (f"{known.path} says of {device} {many[0]}, {where} {many[1]}: the former is taken.",)


def _lost(
    missing: Sequence[schema.Missing], devices: pl.DataFrame, system: str | None, known: Membership | None
) -> pl.DataFrame:
    """Rows that could not be read, with system, first interval and pool where their reader could not say them."""
    found = []
    for each in missing:
        lost = replace(each, system=each.system or system)
        member = known.members.get(each.name or "") if known is not None else None
        if member is not None:
            lost = replace(lost, pool=member.pool, alias=member.role == schema.ALIAS)
        found.append(lost)
    first = pl.lit(devices["start"].min(), pl.Datetime("us"))
    return schema.lost_frame(found).with_columns(pl.col("start").fill_null(first))


def members_from(members: Membership | Path | str | None) -> Membership | None:
    """Read the file that says which device belongs to which pool, where it is one."""
    if isinstance(members, str | Path):
        wanted = "expected pool members with the columns device, role, pool, or what lsdasd -u prints"
        source = Source(Path(members), content=read_bytes(Path(members), wanted))
        return (read_lsdasd if is_lsdasd(source.head) else read_membership)(source.path, source.data)
    if not (members is None or isinstance(members, Membership)):
        raise InputError("members", members, "a file of members")
    return members


def sources_of(source: Data) -> Iterator[Source]:
    """Cut what a caller gave into single sources."""
    if isinstance(source, Source):
        if source.content is not None or source.frame is not None:
            yield source
            return
        source = source.path
    if isinstance(source, str | Path):
        if is_read_once(source):
            yield opened(source)
            return
        path = named_in_text(Path(source))
        yield Source(path, frame=read_columnar(path) if is_columnar(path) else None)
    elif isinstance(source, Measured):
        yield source.source
    elif isinstance(source, bytes | bytearray):
        yield Source(Path("bytes"), content=bytes(source))
    elif (frame := polars_frame(source)) is not None:
        yield Source(Path("data frame"), frame=frame)
    elif hasattr(source, "read"):
        content, name = source.read(), getattr(source, "name", None)
        path = named_in_text(Path(name if isinstance(name, str) else "file object"))
        yield Source(path, content=content.encode() if isinstance(content, str) else content)
    elif isinstance(source, Sequence):
        for each in source:
            yield from sources_of(each)
    else:
        wanted = "a path, a file object, a data frame, what planner.read returns, or several of them"
        raise InputError("source", type(source).__name__, wanted)


def polars_frame(source: object) -> pl.DataFrame | None:
    """A data frame of polars or pandas as polars; None for anything else."""
    module = type(source).__module__.partition(".")[0]
    if module == "polars":
        frame = source.collect() if isinstance(source, pl.LazyFrame) else source
        return frame if isinstance(frame, pl.DataFrame) else None
    return _from_pandas(source) if module == "pandas" and hasattr(source, "columns") else None  # type: ignore[arg-type]


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    """Columns of pandas, missing ones null; without pyarrow, which polars would ask for."""
    columns = []
    if any(name is not None for name in frame.index.names):  # a column that was made the index
        frame = frame.reset_index()
    if not frame.columns.is_unique:
        raise InputError("source", ", ".join(map(str, frame.columns)), "a data frame with each column once")
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
