"""Dates and times as spreadsheets and z/OS write them; a date that may be two days is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from planner.reports.moments import read_moment

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TWO_DIGITS: Final = 100  # years below are of this century
MONTHS_A_YEAR: Final = 12
_TIME: Final = r"(?:[ T:,-]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,:](\d{1,6}))?\d*)?\s*([AaPp][Mm])?)?"
_NUMBERS: Final = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})" + _TIME)
_NAMED: Final = re.compile(r"(\d{1,2})[ -]?([A-Za-z]{3})[A-Za-z]*\.?[ -]?(\d{2,4})" + _TIME)
_OF_DAY: Final = re.compile(
    r"(\d{1,2})[:.](\d{2})[:.](\d{2})(?:[.,]\d+)?|(\d{1,2}):(\d{2})(?:\s*[AaPp][Mm])?"
)
_LENGTH: Final = re.compile(r"(?:0 days )?(\d{1,4}):(\d{2}):(\d{2}(?:[.,]\d+)?)")


def is_time_of_day(cell: str) -> bool:
    """Tell a time without a date."""
    return _OF_DAY.fullmatch(cell) is not None


def read_length(cell: str) -> float | None:
    """Length of an interval such as 00:15:00 [s]; None for anything else."""
    match = _LENGTH.fullmatch(cell)
    if match is None:
        return None
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3].replace(",", "."))


def read_dates(cells: Sequence[str]) -> list[datetime | None] | None:
    """Read dates with or without times, in one form; empty cells are None.

    Returns None where a day and a month could change places in all of them. ValueError names a cell that is no date.
    """
    try:
        return [_iso(cell) for cell in cells]
    except ValueError:
        pass
    parts = [_parts(cell) if cell else None for cell in cells]
    turned = [each for each in parts if each is not None and each[0] == "?"]
    first = any(each[1][0] > MONTHS_A_YEAR for each in turned)
    second = any(each[1][1] > MONTHS_A_YEAR for each in turned)
    if turned and first == second:
        if first:
            raise ValueError(next(cell for cell in cells if cell))
        return None
    found: list[datetime | None] = []
    for cell, each in zip(cells, parts, strict=True):
        if each is None:
            found.append(None)
            continue
        one, two, three = each[1]
        day = (three, two, one) if each[0] == "." or first else (three, one, two)
        year, month, of_month = day if each[0] in "?." else (one, two, three)
        try:
            found.append(datetime(year + 2000 if year < TWO_DIGITS else year, month, of_month) + each[2])
        except (ValueError, OverflowError):
            raise ValueError(cell) from None
    return found


def _iso(cell: str) -> datetime | None:
    if cell.isdigit():
        raise ValueError(cell)
    return read_moment(cell) if cell else None


def _parts(cell: str) -> tuple[str, tuple[int, int, int], timedelta]:
    """The form of a date ("." day first, "?" day or month first, "y" year first), its numbers, and its time."""
    named = _NAMED.fullmatch(cell) if cell.isascii() else None
    if named is not None and named[2].lower() in MONTHS:
        numbers = int(named[3]), MONTHS.index(named[2].lower()) + 1, int(named[1])
        return "y", numbers, _of_day(cell, named.groups()[3:])
    match = _NUMBERS.fullmatch(cell) if cell.isascii() else None
    if match is None:
        raise ValueError(cell)
    one, two, three = int(match[1]), int(match[3]), int(match[4])
    form = "y" if len(match[1]) > 2 else "." if match[2] == "." else "?"  # noqa: PLR2004 - digits of a day
    return form, (one, two, three), _of_day(cell, match.groups()[4:])


def _of_day(cell: str, parts: Sequence[str | None]) -> timedelta:
    hour, minute, second, fraction, half = parts
    if hour is None:
        return timedelta()
    hours, minutes, seconds = int(hour), int(minute or 0), int(second or 0)
    if half:
        if not 1 <= hours <= MONTHS_A_YEAR:
            raise ValueError(cell)
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    if hours > 24 or minutes > 59 or seconds > 59 or (hours == 24 and minutes + seconds):  # noqa: PLR2004 - of a day
        raise ValueError(cell)
    return timedelta(
        hours=hours, minutes=minutes, seconds=seconds, microseconds=int((fraction or "0").ljust(6, "0"))
    )
