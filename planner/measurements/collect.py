"""Writes the archive: what is new in it, whole or not at all, never twice, never in contradiction."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

import polars as pl

from planner import render
from planner.answer import Answer, tabled
from planner.errors import InputError, ReportError
from planner.files import named_in_text
from planner.measurements import archive as layout
from planner.measurements.anonymize import Names
from planner.measurements.archive import LOST, TABLES, Archive, Folder, StoredPart
from planner.measurements.read import Data, options_of, read_parts
from planner.quantity import column
from planner.render.text import counted
from planner.reports import schema
from planner.reports.csv_table import first_true
from planner.reports.membership import Membership
from planner.reports.moments import MOMENT, moment_of, with_moments
from planner.results import by_key

LOCK: Final = "archive.lock"  # empty; who writes to the archive locks it
BESIDE: Final = ".planner-"  # begins the name of what is not yet in its place
SLACK: Final = timedelta(seconds=1.5)  # clocks of heads are whole seconds: intervals may overlap by as much
TIMES: Final = ("start", "utc_offset")  # when it began, by a clock that may be another one
KEYS: Final = {
    "devices": ("device", "label", "pool"), "supply": ("pool",), "storage": ("owner", "name"), LOST: ("name", "pool")
}  # fmt: skip
KEY: Final = "_key"
NEW: Final = "_new"  # whether a row is not in the archive


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collected(Answer):
    """What a run added to an archive."""

    FIGURES: ClassVar = (
        column("archive", of=lambda found: str(found.archive)),
        *map(column, ("added", "known", "systems", "files")),
    )

    archive: Path  # its folder
    added: dict[str, int]  # rows by table that are new, and that were there
    known: dict[str, int]
    systems: tuple[str, ...]  # systems that the sources speak of
    files: int  # sources read
    notes: tuple[str, ...] = ()  # what was left open

    @property
    def headline(self) -> str:
        """How many rows are new."""
        new, old = sum(self.added.values()), sum(self.known.values())
        known = f"; {counted(old, 'row')} known already" if old else ""
        return f"{counted(new, 'row')} added to {self.archive} from {counted(self.files, 'file')}{known}."

    def table(self) -> render.Table:
        """A row a table."""
        rows = zip(self.added, self.added.values(), self.known.values(), strict=True)
        return tabled(rows, map(column, ("table", "added", "known")))


@dataclass(slots=True)
class _Run:
    """Rows that wait to be moved into the archive: staged files by the folder that they belong to."""

    archive: Archive
    staging: Path
    there: dict[Folder, list[StoredPart]]  # parts of the archive
    staged: dict[Folder, list[Path]] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=lambda: dict.fromkeys(schema.TABLES, 0))
    known: dict[str, int] = field(default_factory=lambda: dict.fromkeys(schema.TABLES, 0))
    systems: set[str] = field(default_factory=set)


def size_of(source: Data) -> int:
    """Bytes of a file or folder; 0 of what is neither."""
    if not isinstance(source, (str, Path)):
        return 0
    path = Path(source)
    every = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in every if each.is_file())


def collect(
    sources: Sequence[Data],
    path: Path | str,
    *,
    members: Membership | Path | str | None = None,
    system: str | None = None,
    names: Names | None = None,
    map: str | Mapping[str, str] | None = None,
    done: Callable[[int], None] = lambda size: None,
) -> Collected:
    """Add measurements to an archive; it is made where there is none."""
    path, options = named_in_text(Path(path)), options_of(members, map)
    with _locked(path) as archive, _staging(archive) as staging:
        run = _Run(archive, staging, by_key((part.folder, part) for part in archive.parts))
        notes: dict[str, None] = {}
        for source in sources:
            for measured in read_parts(source, options):
                _add(run, measured, system, names, notes)
            done(size_of(source))
        _commit(run)
    return Collected(
        archive=path, added=run.added, known=run.known, systems=tuple(sorted(run.systems)), files=len(sources),
        notes=tuple(notes),
    )  # fmt: skip


@contextmanager
def _locked(path: Path) -> Iterator[Archive]:
    """Make the archive where there is none, and keep others from writing to it meanwhile."""
    lock, made, new = None, False, False
    try:
        if not path.exists():
            path.mkdir(parents=True, exist_ok=True)
            made = True
        if not _is_new(path):
            layout.open_archive(path)  # what is none is refused before anything is written
        place = layout.own(path, LOCK)
        if os.path.lexists(place) and not place.is_file():
            raise ReportError(place, "no file: expected the empty file that `planner collect` wrote")
        lock = place.open("ab")
        _lock(lock, path)
        new = _is_new(path)
        if new:
            layout.own(path, layout.PARTS).touch()
            _replace(path, layout.ABOUT, layout.ABOUT_TEXT)
        archive = layout.open_archive(path)
        if archive.version < layout.VERSION:  # columns that it does not know come with the first new part
            _replace(path, layout.ABOUT, layout.ABOUT_TEXT)
    except OSError as error:
        wanted = f"a folder that can be written to ({error.strerror})"
        raise InputError("output", str(path), wanted) from error
    else:
        try:
            yield archive
        except ReportError:  # a source was refused; whatever ends a run otherwise leaves an empty archive
            if new and not layout.own(path, layout.PARTS).stat().st_size:
                _unmake(path, folder=made)
            raise
    finally:
        if lock is not None:
            lock.close()


def _unmake(path: Path, *, folder: bool) -> None:
    """Take away an archive that was made for measurements that were then refused."""
    with suppress(OSError):
        for name in (layout.ABOUT, layout.PARTS, LOCK):
            layout.own(path, name).unlink(missing_ok=True)
        if folder:
            path.rmdir()


def _is_new(path: Path) -> bool:
    """Whether a folder is empty, or holds only what a run left that was ended while it made the archive."""
    return path.is_dir() and all(
        each.name == LOCK
        or each.name.startswith(BESIDE)
        or (each.name == layout.PARTS and each.is_file() and not each.stat().st_size)
        for each in path.iterdir()
    )


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock a file until it is closed; the system does so too when the process ends."""
    try:
        import fcntl
    except ImportError:
        return  # no such locks on this system
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("output", str(path), "an archive that no other run writes to; wait for it") from None


@contextmanager
def _staging(archive: Archive) -> Iterator[Path]:
    """A folder for what is not yet part of the archive; what a killed run left there is gone."""
    try:
        _sweep(archive)
        place = Path(tempfile.mkdtemp(prefix=BESIDE, dir=archive.path))
        try:
            yield place
        except BaseException:
            _sweep(archive)
            raise
        shutil.rmtree(place)
    except OSError as error:
        wanted = f"a folder that can be written to ({error.strerror or error}); the archive is as it was"
        raise InputError("output", str(archive.path), wanted) from error


def _sweep(archive: Archive) -> None:
    """Where a run was ended, take away what it left: files not yet in their place, and parts that are not listed."""
    path = archive.path
    left = [each for each in path.iterdir() if each.name.startswith(BESIDE)]
    if not left:
        return
    known, top = {part.name for part in archive.parts}, path.resolve()
    for file in (file for table in TABLES for file in path.glob(f"{table}/*/*/*{layout.SUFFIX}")):
        name = file.relative_to(path).as_posix()
        if name not in known and layout.is_part(name) and file.resolve() == top / name:
            file.unlink()
    for each in left:
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)


def _add(
    run: _Run, measured: schema.Tables, system: str | None, names: Names | None, notes: dict[str, None]
) -> None:
    """Stage the rows of one part of a source."""
    notes.update(dict.fromkeys(measured.notes))
    for table in schema.TABLES:
        frame: pl.DataFrame = getattr(measured, table)
        _check_dates(frame, table)
        if frame["system"].null_count() and system is None:
            file = frame.filter(pl.col("system").is_null())["file"][0]
            note = (
                f"{file}: names no system; its rows are kept as {layout.UNKNOWN!r} (--system gives the name)."
            )
            notes[note] = None
        rows = layout.stored(table, _named(table, frame, system, names))
        # rows with and without an offset apart: each are compared by one clock
        for _, alike in rows.group_by("system", pl.col("utc_offset").is_null(), maintain_order=True):
            ordered = _without_doubles(_sorted(table, alike))
            for part in [(folder, of_day, _near(run, folder)) for folder, of_day in _by_day(table, ordered)]:
                _stage(run, *part)
    for folder, rows in _by_day(LOST, _named(LOST, schema.lost_frame(measured.missing), system, names)):
        _stage_lost(run, folder, rows)


def _check_dates(frame: pl.DataFrame, table: str) -> None:
    """Refuse rows without date or length: they could be of any time."""
    dates = "start of each row (sar and iostat print it with S_TIME_FORMAT=ISO)"
    for name, none, wanted in (
        ("start", "date with one meaning", dates), ("interval", "length", "interval of each row"),
    ):  # fmt: skip
        if (missing := first_true(frame[name].is_null())) is not None:
            row = frame.row(missing, named=True)
            problem = f"{table} whose interval has no {none}: expected {wanted}, to keep it in an archive"
            raise ReportError(row["file"] or "data frame", problem, line=row["line"])


def _key(table: str) -> pl.Expr:
    """What a row is about, as one word."""
    named = pl.concat_str(*(pl.col(name).fill_null("") for name in KEYS[table]), separator="=")
    if table == "devices":  # a volume without device number is known by name and pool
        named = pl.when(pl.col("device").is_null()).then(named).otherwise("device")
    return named.alias(KEY)


def _sorted(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Order rows of a system by what they are about, and time: equal values stand together, and take little room."""
    keyed = with_moments(frame.with_columns(_key(table), pl.lit(True).alias(NEW)), KEY)
    return keyed.sort(KEY, MOMENT, maintain_order=True)


def _same_key() -> pl.Expr:
    return pl.col(KEY) == pl.col(KEY).shift()


def _begins_early() -> pl.Expr:
    """Whether a row begins before the one above it ends."""
    end = pl.col(MOMENT) + pl.duration(microseconds=(pl.col("interval") * 1e6).cast(pl.Int64))
    return pl.col(MOMENT) + SLACK < end.shift()


def _without_doubles(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows that stand there twice; refuse those that overlap and differ, unless neither is `NEW`."""
    measured = [name for name in frame.columns if name not in (*schema.ORIGIN, *TIMES, KEY, NEW)]
    overlaps = frame.select(_same_key() & _begins_early()).to_series().fill_null(False)
    if not overlaps.any():
        return frame
    equal = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift()) for name in measured)
    doubled = frame.select(_same_key() & equal).to_series().fill_null(False)
    wrong = overlaps & ~doubled & (frame[NEW] | frame[NEW].shift())
    if (row := first_true(wrong)) is not None:
        pair = [frame.row(row, named=True), frame.row(row - 1, named=True)]
        new, old = pair if pair[0][NEW] else pair[::-1]
        raise _contradiction(new, old, "" if old[NEW] else f" (archive, {new['system']})")
    return _without_doubles(frame.filter(~doubled)) if doubled.any() else frame


def _contradiction(row: dict[str, Any], other: dict[str, Any], where: str) -> ReportError:
    """Say of two rows what does not go together."""
    name = row[KEY].strip("=").replace("=", " of ")
    there = f"{other['file']}, line {other['line']}{where}"
    if row[MOMENT] != other[MOMENT] or row["interval"] != other["interval"]:
        spans = [f"{moment_of(each)} for {each['interval']:g} s" for each in (row, other)]
        problem = f"{name}: the interval {spans[0]} overlaps {spans[1]} in {there}: expected each time once"
        return ReportError(row["file"], problem, line=row["line"])
    measured = (each for each in row if each not in (*schema.ORIGIN, *TIMES, KEY, NEW))
    different = next(each for each in measured if row[each] != other[each])
    numbers = f"{different} is {row[different]}, there {other[different]}"
    problem = (
        f"{name} at {moment_of(row)} is not as in {there}: {numbers}; expected the same, or another interval"
    )
    return ReportError(row["file"], problem, line=row["line"])


def _named(table: str, frame: pl.DataFrame, system: str | None, names: Names | None) -> pl.DataFrame:
    """Rows whose system has a name, all names as in the archive."""
    frame = frame.with_columns(pl.col("system").fill_null(system or layout.UNKNOWN))
    frame = frame if names is None else names.apply(table, frame)
    assert frame.columns == [column.key for column in TABLES[table]]
    return frame


def _by_day(table: str, frame: pl.DataFrame) -> Iterator[tuple[Folder, pl.DataFrame]]:
    """Rows of each system and day."""
    day = pl.col("start").dt.date().alias("day")
    for (of_system, of_day), rows in frame.group_by("system", day, maintain_order=True):
        yield (table, of_system, of_day), rows


def _near(run: _Run, folder: Folder) -> list[Path]:
    """Files, of the archive or staged, whose intervals may reach into a day."""
    table, system, day = folder
    days = (day - timedelta(days=1), day, day + timedelta(days=1))
    return [file for each in days for file in _files(run, (table, system, each))]


def _stage(run: _Run, folder: Folder, rows: pl.DataFrame, there: Sequence[Path]) -> None:
    """Write rows beside the archive, those left out that are in the files `there`."""
    table = folder[0]
    run.systems.add(folder[1])
    height = rows.height
    if there:
        rows = _new_rows(run, folder, rows, there)
        run.known[table] += height - rows.height
    run.added[table] += rows.height
    _write(run, folder, rows)


def _stage_lost(run: _Run, folder: Folder, rows: pl.DataFrame) -> None:
    """Write what could not be read beside the archive, unless it stands there."""
    run.systems.add(folder[1])
    rows = layout.stored(LOST, rows).unique(maintain_order=True)
    for file in _files(run, folder):
        there = layout.collected(layout.scan_files(LOST, [file]).select(rows.columns), lambda: [file])  # noqa: B023 - called at once
        rows = rows.join(there, on=rows.columns, how="anti", nulls_equal=True)
    _write(run, folder, rows)


def _files(run: _Run, folder: Folder) -> list[Path]:
    """Files of a folder, of the archive or staged."""
    return [*(run.archive.file(part) for part in run.there.get(folder, ())), *run.staged.get(folder, ())]


def _write(run: _Run, folder: Folder, rows: pl.DataFrame) -> None:
    if rows.height:
        staged = run.staged.setdefault(folder, [])
        place = run.staging / layout.folder_of(*folder) / f"{len(staged)}{layout.SUFFIX}"
        place.parent.mkdir(parents=True, exist_ok=True)
        _write_file(place, rows.select(*layout.stored_columns(folder[0])))
        staged.append(place)


def _write_file(place: Path, rows: pl.DataFrame) -> None:
    """Write one file; where the disk is full, polars says that what it writes is damaged."""
    try:
        rows.write_parquet(place, compression="zstd")
    except pl.exceptions.ComputeError as error:
        raise OSError(str(error).rpartition("IO error: ")[-1]) from error


def _new_rows(run: _Run, folder: Folder, rows: pl.DataFrame, there: Sequence[Path]) -> pl.DataFrame:
    """Rows that are not in these files; what overlaps them and differs is refused."""
    lazy = layout.scan_files(folder[0], there).with_columns(_key(folder[0]))
    starts, margin = rows["start"], pl.duration(days=1)
    near = pl.col("start").is_between(pl.lit(starts.min()) - margin, pl.lit(starts.max()) + margin)
    times = (KEY, "start", "utc_offset", "interval")
    old = layout.collected(lazy.filter(near).select(times), lambda: there)
    both = with_moments(pl.concat([old, rows.select(times)]), KEY).sort(KEY, MOMENT, maintain_order=True)
    if not both.select((_same_key() & _begins_early()).any()).item():
        return rows
    columns = [name for name in rows.columns if name not in {NEW, MOMENT}]
    full = layout.collected(lazy.filter(near).select(columns), lambda: there)
    every = pl.concat([full.with_columns(pl.lit(False).alias(NEW)), rows.select(*columns, NEW)])
    ordered = with_moments(every, KEY).sort(KEY, MOMENT, NEW, maintain_order=True)
    return _without_doubles(ordered).filter(NEW)


def _commit(run: _Run) -> None:
    """Make what was staged part of the archive: files first, which count for nothing, then all at once the list."""
    path, new = run.archive.path, []
    for folder, files in run.staged.items():
        for file in _joined(folder, files):
            with file.open("rb+") as content:  # reaches the disk before it is counted on
                os.fsync(content.fileno())
            digest = layout.sha256_of(file)
            name = f"{layout.folder_of(*folder)}/{digest[: layout.DIGEST]}{layout.SUFFIX}"
            place = layout.own(path, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
            new.append(StoredPart(name, digest))
    if new:
        every = sorted((*run.archive.parts, *new), key=lambda part: part.name)
        _replace(path, layout.PARTS, "".join(f"{part.digest}  {part.name}\n" for part in every))


def _joined(folder: Folder, files: Sequence[Path], most: int = 2**21) -> list[Path]:
    """Make one file of those of a folder, unless these have too many rows."""
    if len(files) == 1:
        return list(files)
    frame = pl.concat([pl.read_parquet(file, hive_partitioning=False) for file in files])
    if frame.height > most:
        return list(files)
    table, place = folder[0], files[0].with_name(f"all{layout.SUFFIX}")
    _write_file(place, _sorted(table, frame).select(*layout.stored_columns(table)))
    for file in files:
        file.unlink()
    return [place]


def _replace(archive: Path, name: str, text: str) -> None:
    """Write a small file of an archive whole or not at all; what has its name, be it a link, is replaced."""
    handle, beside = tempfile.mkstemp(dir=archive, prefix=BESIDE)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(archive / name)
    finally:
        Path(beside).unlink(missing_ok=True)
