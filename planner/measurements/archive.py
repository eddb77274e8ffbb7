"""The archive: measurements of any number of systems and days, as Parquet files that other tools read as they are.

One folder a table (devices, supply, storage), in it `system=NAME/date=YYYY-MM-DD/` with files of rows; docs/archive.md
explains columns and folders. Here it is opened, looked over and scanned; `planner.measurements.collect` writes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from planner import library
from planner.errors import InputError, ReportError
from planner.reports import schema

if TYPE_CHECKING:
    import polars as pl

VERSION: Final = 1
ABOUT: Final = "archive.toml"  # makes a folder an archive
JOURNAL: Final = ".journal"  # moves that are still to be made, if a run was killed while it made them
KIND: Final = "kind"
STAGING: Final = ".staging"
UNKNOWN: Final = "unknown"
SUFFIX: Final = ".parquet"
DIGEST: Final = 16  # hexadecimal digits of the sha256 of a part, which are its name
DOWN, UP = "_down", "_up"
DIGITS: Final = 12  # decimals of a distance to an end, so that equal ones are stored as one
Folder = tuple[str, str, date]
"""Name of a table, system, day."""


def measured_numbers(columns: Sequence[schema.Heading]) -> list[str]:
    """Numbers of a table that have two ends."""
    return [column.name.removesuffix("_low") for column in columns if column.name.endswith("_low")]


def stored_columns(table: str) -> dict[str, Any]:
    """Columns of the files of a table with their types: as in the schema, without `system`, ends as distances."""
    import polars as pl

    types = schema.dtypes(schema.TABLES[table])
    numbers = set(measured_numbers(schema.TABLES[table]))
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
    import polars as pl

    distances = [
        distance
        for name in measured_numbers(schema.TABLES[table])
        for distance in (
            (pl.col(name) - pl.col(f"{name}_low")).round(DIGITS).alias(f"{name}{DOWN}"),
            (pl.col(f"{name}_high") - pl.col(name)).round(DIGITS).alias(f"{name}{UP}"),
        )
    ]
    words = [pl.col(KIND).cast(pl.String)] if KIND in frame.columns else []
    return frame.with_columns(*distances, *words).select("system", *stored_columns(table))


def restored(table: str, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make the rows of files rows of the schema again."""
    import polars as pl

    ends = [
        end
        for name in measured_numbers(schema.TABLES[table])
        for end in (
            (pl.col(name) - pl.col(f"{name}{DOWN}")).clip(0.0).alias(f"{name}_low"),
            (pl.col(name) + pl.col(f"{name}{UP}")).alias(f"{name}_high"),
        )
    ]
    types = schema.dtypes(schema.TABLES[table])
    kinds = [pl.col(KIND).cast(types[KIND])] if KIND in types else []
    return frame.with_columns(*ends, *kinds).select(*types)


def is_archive(path: Path) -> bool:
    """Tell whether a path is an archive, or a folder that should be one."""
    return path.is_dir()


def open_archive(path: Path | str) -> Archive:
    """Open an archive.

    Parameters
    ----------
    path : Path or str
        Its folder.

    Returns
    -------
    Archive
        What is in it, without reading any rows.

    Raises
    ------
    InputError
        There is no such folder, or it is no archive.
    ReportError
        It was written by a newer planner.

    Examples
    --------
    >>> open_archive("data")
    Traceback (most recent call last):
        ...
    planner.errors.InputError: archive = 'data': expected a folder that `planner collect` wrote; it has no archive.toml
    """
    path = Path(path)
    if not path.is_dir():
        raise InputError("archive", str(path), "a folder that `planner collect` wrote; there is none")
    about = path / ABOUT
    if not about.is_file():
        raise InputError("archive", str(path), f"a folder that `planner collect` wrote; it has no {ABOUT}")
    try:
        version = library.parse_toml(about.read_text(encoding="utf-8")).get("schema")
    except (OSError, ValueError) as error:
        raise ReportError(about, f"damaged ({error}): expected schema = {VERSION}") from error
    if not isinstance(version, int) or version < 1:
        raise ReportError(about, f"schema = {version!r}: expected a whole number, {VERSION} or below")
    if version > VERSION:
        raise ReportError(
            about, f"schema {version} is newer than this planner reads, {VERSION}: expected a newer planner"
        )
    finish_moves(path)
    return Archive(path)


def finish_moves(path: Path) -> None:
    """Make the moves that a killed run left in its journal: all rows were written when it began to move."""
    journal = path / JOURNAL
    if not journal.exists():
        return
    for line in journal.read_text(encoding="utf-8").splitlines():
        staged, _, final = line.partition("\t")
        if (path / staged).exists():
            (path / final).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another run may have made the move
                (path / staged).replace(path / final)
    journal.unlink(missing_ok=True)


def folder_of(table: str, system: str, day: date) -> str:
    """Folder of the rows of a day, within an archive."""
    return f"{table}/system={quote(system, safe='')}/date={day.isoformat()}"


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive in the folder `path`."""

    path: Path

    def folders(self, table: str) -> dict[tuple[str, date], Path]:
        """Folders of the days of each system."""
        found = {}
        for folder in sorted((self.path / table).glob("system=*/date=*")):
            system = unquote(folder.parent.name.partition("=")[2])
            try:
                day = date.fromisoformat(folder.name.partition("=")[2])
            except ValueError:
                raise ReportError(folder, "no day: expected a folder such as date=2026-03-01") from None
            found[system, day] = folder
        return found

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of its systems."""
        return tuple(sorted({system for table in schema.TABLES for system, _ in self.folders(table)}))

    def files(
        self,
        table: str,
        systems: Iterable[str] | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> list[Path]:
        """List the files that may hold rows of these systems and times."""
        wanted = None if systems is None else set(systems)
        first = (
            None if start is None else (start - timedelta(days=1)).date()
        )  # whose last interval may reach into it
        last = None if end is None else end.date()
        return [
            file
            for (system, day), folder in self.folders(table).items()
            if (wanted is None or system in wanted)
            and (first is None or day >= first)
            and (last is None or day <= last)
            for file in sorted(folder.glob(f"*{SUFFIX}"))
        ]

    def scan(
        self,
        table: str = "devices",
        *,
        systems: Iterable[str] | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> pl.LazyFrame:
        """Scan a table lazily.

        Parameters
        ----------
        table : {"devices", "supply", "storage"}
            Which one.
        systems : iterable of str, optional
            Their names; all of them where None.
        start, end : datetime, optional
            Only intervals that begin at `start` or later, and before `end`; by the clock of the system.

        Returns
        -------
        polars.LazyFrame
            Columns of `planner.reports.schema`, in the order of system, day and file.

        Raises
        ------
        InputError
            There is no such table or system.
        ReportError
            A file is damaged: its content is not the one that its name says.
        """
        import polars as pl

        if table not in schema.TABLES:
            raise InputError("table", table, f"one of {', '.join(schema.TABLES)}")
        for system in systems or ():
            if system not in self.systems:
                raise InputError(
                    "system", system, f"one of {', '.join(self.systems) or 'none: the archive is empty'}"
                )
        files = self.files(table, systems, start, end)
        if not files:
            return schema.empty(schema.TABLES[table]).lazy()
        found = restored(table, scan_files(table, files))
        if start is not None:
            found = found.filter(pl.col("start") >= start)
        return found if end is None else found.filter(pl.col("start") < end)

    def read(self, table: str = "devices", **chosen: Any) -> pl.DataFrame:
        """Read what `scan` would; a ReportError names a file that is damaged."""
        return collected(self.scan(table, **chosen), lambda: self.files(table))


def digest_of(file: Path) -> str:
    """Name of a part, from its content."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:DIGEST]


def check_part(file: Path) -> None:
    """Refuse a part whose content is not the one that it is named after; other names say nothing.

    Some damage would end the process within the library that decodes it.
    """
    if not re.fullmatch(f"[0-9a-f]{{{DIGEST}}}", file.stem):
        return
    try:
        status = file.stat()
        sound = _is_sound(file, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise ReportError(file, f"cannot be read: {error.strerror}") from error
    if not sound:
        raise ReportError(
            file, "damaged (its content is another one than its name says): expected a part of the archive; restore it "
            "or take it out",
        )  # fmt: skip


@lru_cache(maxsize=1 << 16)
def _is_sound(file: Path, _size: int, _changed: int) -> bool:
    """Whether a part is what its name says; found once for a file that does not change."""
    return digest_of(file) == file.stem


def scan_files(table: str, files: Sequence[Path]) -> pl.LazyFrame:
    """Scan sound files of one table, with the system and the day that their folders say."""
    import polars as pl

    for file in files:
        check_part(file)
    return pl.scan_parquet(
        list(files), hive_partitioning=True, hive_schema={"system": pl.String, "date": pl.Date}, glob=False,
    )  # fmt: skip


def collected(lazy: pl.LazyFrame, files: Any) -> pl.DataFrame:
    """Read rows; where that fails, find out which file is damaged."""
    import polars as pl

    try:
        return lazy.collect()
    except schema.damage() as error:
        for file in files():
            try:
                pl.read_parquet(file)
            except schema.damage() as bad:
                why = str(bad).splitlines()[0][:80]
                problem = f"damaged ({why}): expected a part of the archive; restore it or take it out"
                raise ReportError(file, problem) from bad
        raise ReportError(Path("archive"), f"cannot be read ({str(error).splitlines()[0]})") from error


def about_text(extra: Mapping[str, Any] | None = None) -> str:
    """What `archive.toml` says."""
    import tomli_w

    return "# An archive of planner collect; docs/archive.md explains it.\n" + tomli_w.dumps(
        {"schema": VERSION, **(extra or {})}
    )
