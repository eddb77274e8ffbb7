"""Moments: what a clock shows, and how far it is from UTC where the source says so; 10:00Z is 12:00+02:00 everywhere.

A table of the schema has `start`, by the clock of the system, and `utc_offset`, null where nothing says it. What
compares, sorts or groups times does so by what is here, so that an hour that a clock shows twice stays two hours.
"""

from __future__ import annotations

import re
from calendar import isleap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from planner.lazy import pl

MOMENT: Final = "_moment"
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ORDERS: Final = ("mdy", "dmy", "ymd")
YEARS: Final = (1900, 2199)  # of clocks that were set; the first is the epoch of the TOD clock
DateParts = tuple[tuple[str, ...], tuple[int, ...], timedelta]
"""Orders of year, month and day that the numbers of a date may have, these, and the time of day."""
Part = str | None
_TIME: Final = (
    r"(?:[ T:,-]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,:](\d{1,6}))?\d*)?\s*([AaPp]\.?[Mm]\.?)?)?"
)
_NUMBERS: Final = re.compile(r"(?a)(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})" + _TIME)
_NAMED: Final = re.compile(r"(?a)(\d{1,2})[ -]?([A-Za-z]{3})[A-Za-z]*\.?[ -]?(\d{2,4})" + _TIME)
_DAY_OF_YEAR: Final = re.compile(r"(?a)([12]\d{3})[.-](\d{3})" + _TIME)  # as z/OS writes dates
_OF_DAY: Final = re.compile(
    r"(\d{1,2})[:.](\d{2})[:.](\d{2})(?:[.,]\d+)?|(\d{1,2}):(\d{2})(?:\s*[AaPp][Mm])?"
)
_LENGTH: Final = re.compile(r"(?:0 days )?(\d{1,4}):(\d{2}):(\d{2}(?:[.,]\d+)?)")


def read_moment(text: str) -> datetime:
    """Read a date with or without a time and an offset; ValueError for anything else."""
    if not text.isascii():
        raise ValueError(text)
    return datetime.fromisoformat(text.strip())


def clock(moments: Sequence[datetime | None]) -> tuple[list[datetime | None], list[int | None]]:
    """What the clock shows at each moment, and its offset from UTC [s]."""
    offsets = [None if each is None else each.utcoffset() for each in moments]
    shown = [None if each is None else each.replace(tzinfo=None) for each in moments]
    return shown, [None if each is None else round(each.total_seconds()) for each in offsets]


def moment_of(row: Mapping[str, Any]) -> datetime:
    """When a row of the schema began, with its offset where it is known."""
    start, offset = row["start"], row["utc_offset"]
    found: datetime = start if offset is None else start.replace(tzinfo=timezone(timedelta(seconds=offset)))
    return found


def clock_of_zone(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The same of a column of times in a time zone, as polars keeps them."""
    offset = column.dt.base_utc_offset() + column.dt.dst_offset()
    return column.dt.replace_time_zone(None), offset.dt.total_seconds().cast(pl.Int32)


def shown_by(bound: datetime) -> pl.Expr:
    """`start` by the clock that a moment is given in; by its own where either says no offset."""
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
    known = pl.col("utc_offset").is_not_null().all()
    utc = pl.col("start") - pl.duration(seconds=pl.col("utc_offset"))
    known = known.over(over) if over else known
    return frame.with_columns(pl.when(known).then(utc).otherwise(pl.col("start")).alias(MOMENT))


INTERVAL: Final = (MOMENT, "_undated")
"""Columns of `with_intervals` in which rows of one interval of a system agree."""


def with_intervals(frame: pl.DataFrame, *over: str) -> pl.DataFrame:
    """Add `MOMENT`, and where there is none file and source: rows of one moment are of one interval, whatever files."""
    where = pl.concat_str("file", "source", separator=" ", ignore_nulls=True)
    undated = pl.when(pl.col("start").is_null()).then(where).alias(INTERVAL[1])
    return with_moments(frame.with_columns(undated), *over)


def is_time_of_day(cell: str) -> bool:
    """Whether a text is a time without a date."""
    return _OF_DAY.fullmatch(cell) is not None


def read_length(cell: str) -> float | None:
    """Length of an interval such as 00:15:00 [s]; None for anything else."""
    match = _LENGTH.fullmatch(cell)
    if match is None:
        return None
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3].replace(",", "."))


def dated(dates: Sequence[DateParts]) -> list[list[datetime]]:
    """What dates may be by an order of year, month and day that all may have: nothing, one reading, or several."""
    found: dict[tuple[datetime, ...], None] = {}
    for order in ORDERS:
        if all(order in orders for orders, *_ in dates):
            with suppress(ValueError, OverflowError):
                found[tuple(_in_order(order, numbers) + of_day for _, numbers, of_day in dates)] = None
    return list(map(list, found))


def _in_order(order: str, numbers: Sequence[int]) -> datetime:
    of = dict(zip(order, numbers, strict=True))
    year = of["y"] + 2000 if of["y"] < 100 else of["y"]  # noqa: PLR2004 - of this century
    return _of_a_clock(datetime(year, of["m"], of["d"]))


def read_dates(cells: Sequence[str], *, month_first: bool = False) -> list[datetime | None] | None:
    """Read dates in one form, empty cells as None; else ValueError.

    None where day and month may change places, unless the source says that the month is first.
    """
    with suppress(ValueError):
        return [_iso(cell) for cell in cells]
    full = list(filter(None, cells))
    parts = list(map(_parts, full))
    found = dated(parts)
    if not found:
        alone = (cell for cell, each in zip(full, parts, strict=True) if not dated([each]))
        raise ValueError(next(alone, full[0]))
    if len(found) > 1 and not month_first:
        return None
    moments = iter(found[0])  # of several the one with the month first
    return [next(moments) if cell else None for cell in cells]


def _iso(cell: str) -> datetime | None:
    if cell.isdigit():
        raise ValueError(cell)
    return _of_a_clock(read_moment(cell)) if cell else None


def _of_a_clock(moment: datetime) -> datetime:
    """Refuse a year that no clock shows."""
    if not YEARS[0] <= moment.year <= YEARS[1]:
        raise ValueError(moment)
    return moment


def _parts(cell: str) -> DateParts:
    """Take a date apart."""
    if (named := _NAMED.fullmatch(cell)) and named[2].lower() in MONTHS:
        numbers = int(named[3]), MONTHS.index(named[2].lower()) + 1, int(named[1])
        return ("ymd",), numbers, time_of_day(cell, *named.groups()[3:])
    if counted := _DAY_OF_YEAR.fullmatch(cell):
        year, days = int(counted[1]), int(counted[2])
        if not 1 <= days <= 365 + isleap(year):
            raise ValueError(cell)
        return ("ymd",), (year, 1, 1), timedelta(days=days - 1) + time_of_day(cell, *counted.groups()[2:])
    if (match := _NUMBERS.fullmatch(cell)) is None:
        raise ValueError(cell)
    orders = ("ymd",) if len(match[1]) > 2 else ("dmy",) if match[2] == "." else ("mdy", "dmy")  # noqa: PLR2004 - digits
    return orders, (int(match[1]), int(match[3]), int(match[4])), time_of_day(cell, *match.groups()[4:])


def time_of_day(cell: str, hour: Part, minute: Part, second: Part, fraction: Part, half: Part) -> timedelta:
    """Time since midnight; a ValueError with the cell where there is none such."""
    if hour is None:
        return timedelta()
    hours, minutes, seconds = int(hour), int(minute or 0), int(second or 0)
    if half:
        if not 1 <= hours <= len(MONTHS):
            raise ValueError(cell)
        hours = hours % 12 + (12 if half[0] in "Pp" else 0)
    if hours > 24 or minutes > 59 or seconds > 59 or (hours == 24 and minutes + seconds):  # noqa: PLR2004 - of a day
        raise ValueError(cell)
    microseconds = int((fraction or "0").ljust(6, "0"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds)
