"""Moments: what a clock shows, and how far it is from UTC where the source says so; 10:00Z is 12:00+02:00 everywhere.

A table of the schema has `start`, by the clock of the system, and `utc_offset`, null where nothing says it. What
compares, sorts or groups times does so by what is here, so that an hour that a clock shows twice stays two hours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import polars as pl

MOMENT: Final = "_moment"


def read_moment(text: str) -> datetime:
    """Read a date with or without a time and an offset; ValueError for anything else."""
    if not text.isascii():
        raise ValueError(text)
    return datetime.fromisoformat(text.strip())


def clock(moments: Sequence[datetime | None]) -> tuple[list[datetime | None], list[int | None]]:
    """What the clock shows at each moment, and its offset from UTC [s]."""
    offsets = [None if each is None else each.utcoffset() for each in moments]
    return (
        [None if each is None else each.replace(tzinfo=None) for each in moments],
        [None if each is None else round(each.total_seconds()) for each in offsets],
    )


def moment_of(row: Mapping[str, Any]) -> datetime:
    """When a row of the schema began, with its offset where it is known."""
    start, offset = row["start"], row["utc_offset"]
    found: datetime = start if offset is None else start.replace(tzinfo=timezone(timedelta(seconds=offset)))
    return found


def clock_of_zone(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The same of a column of times in a time zone, as polars keeps them."""
    import polars as pl

    offset = column.dt.base_utc_offset() + column.dt.dst_offset()
    return column.dt.replace_time_zone(None), offset.dt.total_seconds().cast(pl.Int32)


def shown_by(bound: datetime) -> pl.Expr:
    """`start` by the clock that a moment is given in; by its own where either says no offset."""
    import polars as pl

    offset = bound.utcoffset()
    if offset is None:
        return pl.col("start")
    there = pl.col("utc_offset")
    moved = pl.col("start") + pl.duration(microseconds=round(offset.total_seconds() * 1e6))
    return pl.when(there.is_null()).then(pl.col("start")).otherwise(moved - pl.duration(seconds=there))


def before(bound: datetime) -> pl.Expr:
    """Whether an interval begins before a moment."""
    return shown_by(bound) < bound.replace(tzinfo=None)


def with_moments(frame: pl.DataFrame, *over: str) -> pl.DataFrame:
    """Add the column `MOMENT`: `start` in UTC where all rows of a group say their offset, else as it is."""
    import polars as pl

    known = pl.col("utc_offset").is_not_null().all()
    utc = pl.col("start") - pl.duration(seconds=pl.col("utc_offset"))
    known = known.over(over) if over else known
    return frame.with_columns(pl.when(known).then(utc).otherwise(pl.col("start")).alias(MOMENT))
