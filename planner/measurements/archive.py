"""The archive: measurements of systems and days as Parquet files (docs/archive.md); here it is opened and scanned."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import polars as pl

from planner import library
from planner.errors import InputError, ReportError
from planner.files import named_in_text
from planner.measurements.choose import within
from planner.reports import schema

VERSION: Final = 5  # 2 has no utilization, 3 no rows that could not be read, 4 no samples of a queue
OLDEST: Final = 2
ABOUT: Final = "archive.toml"  # makes a folder an archive
ABOUT_TEXT: Final = f"# An archive of planner collect; docs/archive.md explains it.\nschema = {VERSION}\n"
PARTS: Final = "parts.sha256"  # the list of its parts, as sha256sum writes it
SINCE: Final = {"queue": 5, "utilization": 3, "together": 3}  # version that columns so named came with
WAY_OUT: Final = f"expected a part of the archive; restore it, or take it out and its line out of {PARTS}"
KIND: Final = "kind"
UNKNOWN: Final = "unknown"
SUFFIX: Final = ".parquet"
DIGEST: Final = 16  # hexadecimal digits of the sha256 of a part, which are its name
LOST: Final = "missing"  # table of rows that could not be read
TABLES: Final = {**schema.TABLES, LOST: schema.LOST}
_PART: Final = re.compile(rf"(?P<folder>.*)/(?P<stem>[0-9a-f]{{{DIGEST}}})\{SUFFIX}")
_SHA256: Final = re.compile("[0-9a-f]{64}")
DOWN, UP = "_down", "_up"
DIGITS: Final = 12  # decimals of a distance to an end, so that equal ones are stored as one
_LOOKED_AT: Final[set[Path]] = set()  # parts whose rows are sound; their names say their content
Folder = tuple[str, str, date]
"""Name of a table, system, day."""


def stored_columns(table: str) -> dict[str, Any]:
    """Columns of the files of a table with their types: as in the schema, without `system`, ends as distances."""
    types = schema.dtypes(TABLES[table])
    numbers = schema.numbers_of(TABLES[table])
    found: dict[str, Any] = {}
    for name, dtype in types.items():
        stem, _, end = name.rpartition("_")
        if end in {"low", "high"} and stem in numbers:
            found[f"{stem}{DOWN if end == 'low' else UP}"] = dtype
        elif name != "system":
            found[name] = pl.String if name == KIND else dtype  # other tools know no enumerations
    return found


def stored(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Lay rows out as the files hold them; `system` stays, since it says which folder they belong to."""
    numbers = schema.numbers_of(TABLES[table])
    down = [(pl.col(name) - pl.col(f"{name}_low")).round(DIGITS).alias(f"{name}{DOWN}") for name in numbers]
    up = [(pl.col(f"{name}_high") - pl.col(name)).round(DIGITS).alias(f"{name}{UP}") for name in numbers]
    words = [pl.col(KIND).cast(pl.String)] if KIND in frame.columns else []
    return frame.with_columns(*down, *up, *words).select("system", *stored_columns(table))


def restored(table: str, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make the rows of files rows of the schema again."""
    numbers, types = schema.numbers_of(TABLES[table]), schema.dtypes(TABLES[table])
    low = []
    for name in numbers:  # an end at 0 is there again, not what rounding left of its distance
        end = pl.col(name) - pl.col(f"{name}{DOWN}")
        low.append(pl.when(end < 10.0**-DIGITS).then(0.0).otherwise(end).alias(f"{name}_low"))
    high = [(pl.col(name) + pl.col(f"{name}{UP}")).alias(f"{name}_high") for name in numbers]
    kinds = [pl.col(KIND).cast(types[KIND])] if KIND in types else []
    return frame.with_columns(*low, *high, *kinds).select(*types)


def open_archive(path: Path | str) -> Archive:
    """Open an archive.

    >>> open_archive("data")
    Traceback (most recent call last):
        ...
    planner.errors.ReportError: data: expected a folder that `planner collect` wrote; it has no archive.toml
    """
    path = named_in_text(Path(path))
    if not path.is_dir():
        raise ReportError(path, "expected a folder that `planner collect` wrote; there is none")
    if not os.path.lexists(path / ABOUT):
        raise ReportError(path, f"expected a folder that `planner collect` wrote; it has no {ABOUT}")
    about, text = path / ABOUT, own_text(path, ABOUT)
    try:
        version = library.parse_toml(text).get("schema")
    except ValueError as error:
        raise ReportError(about, f"damaged ({error}): expected schema = {VERSION}") from error
    if not isinstance(version, int) or version < OLDEST:
        raise ReportError(about, f"schema = {version!r}: expected a whole number, {OLDEST} to {VERSION}")
    if version > VERSION:
        problem = f"schema {version} is newer than this planner reads, {VERSION}"
        raise ReportError(about, f"{problem}: expected a newer planner")
    return Archive(path, version, tuple(sorted(_listed(path), key=lambda part: part.name)))


def own(archive: Path, name: str) -> Path:
    """Path of a file or folder of an archive; refused where a link leads out of it."""
    place = archive / name
    try:
        inside = place.resolve().is_relative_to(archive.resolve())
    except (OSError, RuntimeError):  # links in a circle
        inside = False
    if not inside:
        raise ReportError(place, "a link that leads out of the archive: expected a file or folder in it")
    return place


def own_text(archive: Path, name: str) -> str:
    """Text of a file of an archive."""
    place = own(archive, name)
    if not place.is_file():
        raise ReportError(place, "missing or no file: expected the file that `planner collect` wrote")
    try:
        return place.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(place, f"damaged ({error}): expected text in UTF-8") from error


def folder_of(table: str, system: str, day: date) -> str:
    """Folder of the rows of a day, within an archive."""
    return f"{table}/system={quote(system, safe='')}/date={day.isoformat()}"


@lru_cache(maxsize=1 << 16)
def folder_named(name: str) -> Folder | None:
    """Table, system and day of a folder; None where `folder_of` gives no such name."""
    table, _, rest = name.partition("/")
    system, _, day = rest.removeprefix("system=").partition("/date=")
    try:
        found = table, unquote(system, errors="strict"), date.fromisoformat(day)
    except ValueError:
        return None
    return found if table in TABLES and folder_of(*found) == name else None


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A file of rows: its `name`, which is its path within the archive, and its sha256."""

    name: str
    digest: str

    @property
    def folder(self) -> Folder:
        """Table, system and day."""
        found = folder_named(self.name.rpartition("/")[0])
        assert found is not None
        return found


def is_part(name: str, digest: str = "") -> bool:
    """Whether a part, of that sha256 where it is given, may have such a name."""
    match = _PART.fullmatch(name)
    return bool(match and match["stem"].startswith(digest[:DIGEST]) and folder_named(match["folder"]))


def _listed(path: Path) -> Iterator[StoredPart]:
    """Parts that the list of an archive names."""
    seen = set()
    for number, line in enumerate(own_text(path, PARTS).splitlines(), 1):
        digest, _, name = line.partition("  ")
        if not _SHA256.fullmatch(digest) or not is_part(name, digest) or name in seen:
            wanted = "the sha256 of a part, two blanks, and once its name, as `planner collect` wrote them"
            raise ReportError(path / PARTS, f"{line[:200]!r}: expected {wanted}", line=number)
        seen.add(name)
        yield StoredPart(name, digest)


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive in the folder `path`, of this `version`, with its `parts`."""

    path: Path
    version: int
    parts: tuple[StoredPart, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of its systems."""
        return tuple(sorted({part.folder[1] for part in self.parts}))

    def files(
        self,
        table: str,
        systems: Iterable[str] | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> list[Path]:
        """List the files, all of them sound, that may hold rows of these systems and times."""
        wanted = set(self.systems if systems is None else systems)
        first, last = date.min.toordinal(), date.max.toordinal()
        # The last interval of the day before may reach into it; by another clock it may be another day.
        if start is not None:
            first = start.toordinal() - (1 if start.tzinfo is None else 2)
        if end is not None:
            last = end.toordinal() + (0 if end.tzinfo is None else 1)
        found = [
            self.file(part)
            for part in self.parts
            for of_table, system, day in [part.folder]
            if of_table == table and system in wanted and first <= day.toordinal() <= last
        ]
        _refuse_strange(table, found)
        return found

    def every_file(self) -> list[Path]:
        """List all files, those of each table."""
        return [file for table in TABLES for file in self.files(table)]

    def file(self, part: StoredPart) -> Path:
        """File of a part; refused where it is missing or its content is another one than the list says."""
        place = own(self.path, part.name)
        try:
            status = place.stat()
            state = status.st_size, status.st_mtime_ns
            problem = _damage(place, part, *state) if stat.S_ISREG(status.st_mode) else "no file"
        except FileNotFoundError:
            problem = "missing"
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        if problem:
            raise ReportError(place, f"{problem}: {WAY_OUT}")
        return place

    def scan(
        self,
        table: str = "devices",
        *,
        systems: Iterable[str] | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> pl.LazyFrame:
        """Scan a table lazily."""
        InputError.unless_one_of("table", table, TABLES)
        for system in systems or ():
            InputError.unless_one_of("system", system, self.systems or ["none: the archive is empty"])
        files = self.files(table, systems, start, end)
        if not files:
            return schema.empty(TABLES[table]).lazy()
        return within(restored(table, scan_files(table, files)), start, end)

    def read(self, table: str = "devices", **chosen: Any) -> pl.DataFrame:
        """Read what `scan` would; a ReportError names a file that is damaged."""
        return collected(self.scan(table, **chosen), lambda: self.files(table))

    def missing(self, **chosen: Any) -> tuple[schema.Missing, ...]:
        """Rows that could not be read, unless they were collected from another copy."""
        lost = self.read(LOST, **chosen)
        if not lost.height:
            return ()
        name = pl.coalesce("device", "label").alias("name")
        there = self.scan("devices", **chosen).select("system", "start", name, own=True)
        left = lost.lazy().join(there, on=["system", "start", "name", "own"], how="anti")
        return schema.lost_rows(collected(left, self.every_file))


def sha256_of(file: Path) -> str:
    """Sha256 of the content of a file; its first digits name a part."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@lru_cache(maxsize=1 << 16)
def _damage(file: Path, part: StoredPart, _size: int, _changed: int) -> str:
    """What is wrong with a part, or nothing; found once for a file that does not change."""
    if sha256_of(file) != part.digest:
        return "damaged (its content is another one than its name says)"
    try:
        columns = pl.read_parquet_schema(file)
    except schema.damage() as error:
        return f"damaged ({str(error).splitlines()[0][:80]})"
    since = {name: SINCE.get(name.partition("_")[0], OLDEST) for name in stored_columns(part.folder[0])}
    version = max((since.get(name, OLDEST) for name in columns), default=OLDEST)
    known = {name: dtype for name, dtype in stored_columns(part.folder[0]).items() if since[name] <= version}
    return "" if columns == known else "has other columns"


def _refuse_strange(table: str, files: Sequence[Path]) -> None:
    """Refuse rows of another day than their folder says, or such as no reader gives; each file is looked at once."""
    new = [file for file in files if file not in _LOOKED_AT]
    if new and _strange(table, new):
        for file in new:
            if problem := _strange(table, [file]):
                raise ReportError(file, f"damaged ({problem}): {WAY_OUT}")
    _LOOKED_AT.update(new)


def _strange(table: str, files: Sequence[Path]) -> str:
    """What is wrong with rows of these files, or nothing."""
    rows = scan_files(table, files)
    checks = {"rows of another day": pl.col("start").dt.date().ne_missing(pl.col("date"))}
    if KIND in stored_columns(table):
        checks["rows of no known kind"] = ~pl.col(KIND).is_in(schema.KINDS)
    try:
        found = rows.select(wrong.any().alias(problem) for problem, wrong in checks.items())
        for problem, wrong in found.collect(engine="streaming").row(0, named=True).items():
            if wrong:
                return problem
        schema.refuse_implausible(TABLES[table], restored(table, rows))
    except ReportError as error:
        return error.problem
    except schema.damage() as error:
        return str(error).splitlines()[0][:80]
    return ""


def scan_files(table: str, files: Sequence[Path]) -> pl.LazyFrame:
    """Scan sound files of one table, with the system and the day that their folders say."""
    return pl.scan_parquet(
        list(files), hive_partitioning=True, hive_schema={"system": pl.String, "date": pl.Date}, glob=False,
        schema=stored_columns(table), missing_columns="insert",
    )  # fmt: skip


def collected(lazy: pl.LazyFrame, files: Callable[[], Sequence[Path]]) -> pl.DataFrame:
    """Read rows; where that fails, find out which file is damaged."""
    with naming_damage(files):
        return lazy.collect()


@contextmanager
def naming_damage(files: Callable[[], Sequence[Path]]) -> Iterator[None]:
    """Where rows of these files cannot be read, find out which one is damaged, whatever its sha256 says."""
    try:
        yield
    except schema.damage() as error:
        for file in files():
            try:
                pl.read_parquet(file)
            except schema.damage() as bad:
                why = str(bad).splitlines()[0][:80]
                raise ReportError(file, f"damaged ({why}): {WAY_OUT}") from bad
        raise ReportError(Path("archive"), f"cannot be read ({str(error).splitlines()[0]})") from error
