"""When each report of iostat was printed: dates in the forms of many languages, and how long its interval is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from planner.errors import ReportError

DAY: Final = timedelta(days=1)
ORDERS: Final = ("mdy", "dmy", "ymd")
CENTURY: Final = 2000

_SIGNS: Final = str.maketrans({"年": "-", "月": "-", "日": " ", "时": ":", "時": ":", "分": ":", "秒": " "})
_FORM: Final = re.compile(
    r"(?:Time: ?)?(?:(?P<date>[0-9]{1,4}(?P<sign>[./-])[0-9]{1,2}[./-][0-9]{2,4})\.?[ T]+)?"
    r"(?P<before>上午|下午|오전|오후)? ?(?P<clock>[0-9]{1,2}[:.][0-9]{2}[:.][0-9]{2}) ?(?P<half>AM|PM|am|pm)?"
)


def is_time(text: str) -> bool:
    """Tell a line that holds a time and nothing else."""
    return _iso(text) is not None or _FORM.fullmatch(_plain(text)) is not None


def _plain(text: str) -> str:
    return " ".join(text.translate(_SIGNS).replace(": ", " ").split()) if "秒" in text else text.strip()


def _iso(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip()) if text.isascii() and "T" in text else None
    except ValueError:
        return None
    return found


def moments(texts: Sequence[str | None]) -> tuple[list[datetime | None], list[datetime | None]]:
    """Read times of one run: moments where the date has one meaning, and clocks, on whatever day, for their distance.

    05/06/24 is May or June: what the other times of the run, the sign between the numbers and a clock of 12 hours leave
    open is not guessed.
    """
    iso = [None if text is None else _iso(text) for text in texts]
    if all(iso):
        return iso, iso
    parts = [None if text is None else _parts(text) for text in texts]
    if None in parts:
        return [None] * len(texts), [None] * len(texts)
    found = {order: dates for order in ORDERS if (dates := _dated(parts, order)) is not None}  # type: ignore[arg-type]
    several = list(dict.fromkeys(map(tuple, found.values())))
    rising = [each for each in several if all(now > before for before, now in pairwise(each))]
    near = [
        each
        for each in rising
        if len({moment.date() for moment in each}) > 1
        and all(now.date() - before.date() <= DAY for before, now in pairwise(each))
    ]
    for choice in (several, rising, near):
        if len(choice) == 1:
            return list(choice[0]), list(choice[0])
    return [None] * len(texts), _clocks(parts)  # type: ignore[arg-type]


def _parts(text: str) -> tuple[str, str, int] | None:
    """Date, its sign (with a clock of 12 hours: 12), and the second of the day."""
    match = _FORM.fullmatch(_plain(text))
    if match is None:
        return None
    hour, minute, second = (int(each) for each in re.split("[:.]", match["clock"]))
    late = (match["half"] or "").upper() == "PM" or match["before"] in ("下午", "오후")
    if match["half"] or match["before"]:
        if not 1 <= hour <= 12:  # noqa: PLR2004 - a clock of 12 hours
            return None
        hour = hour % 12 + 12 * late
    if hour > 23 or minute > 59 or second > 60:  # noqa: PLR2004 - a clock
        return None
    sign = "12" if match["half"] and match["sign"] == "/" else match["sign"] or ""
    return match["date"] or "", sign, hour * 3600 + minute * 60 + second


def _dated(parts: Sequence[tuple[str, str, int]], order: str) -> list[datetime] | None:
    """Moments by one order of day, month and year; None where it is not theirs."""
    found = []
    for date, sign, seconds in parts:
        numbers = re.split("[./-]", date)
        if len(numbers) < len(order):
            return None
        whole_year = len(numbers[0]) > 2  # noqa: PLR2004 - digits
        if not whole_year and ((sign == "." and order != "dmy") or (sign in ("/", "12") and order == "ymd")):
            return None
        if sign == "12" and order != "mdy":
            return None
        of = dict(zip(order, numbers, strict=True))
        if len(of["d"]) > 2 or len(of["m"]) > 2:  # noqa: PLR2004
            return None
        year = int(of["y"]) + (CENTURY if len(of["y"]) <= 2 else 0)  # noqa: PLR2004
        try:
            found.append(datetime(year, int(of["m"]), int(of["d"])) + timedelta(seconds=seconds))
        except (ValueError, OverflowError):
            return None
    return found


def _clocks(parts: Sequence[tuple[str, str, int]]) -> list[datetime | None]:
    """Clocks on a day after another where they turn back on another date; None throughout where they do so on one."""
    found: list[datetime | None] = []
    day = datetime(CENTURY, 1, 1)
    for k, (date, _, seconds) in enumerate(parts):
        if k and seconds <= parts[k - 1][2] and (date != parts[k - 1][0] or not date):
            day += DAY
        found.append(day + timedelta(seconds=seconds))
    return found


def lengths(path: Path, clocks: Sequence[datetime | None], lines: Sequence[int]) -> list[float | None]:
    """Length of each interval [s], from one report to the next; None for the first, and where there are no times."""
    found: list[float | None] = [None] * len(clocks)
    for k in range(1, len(clocks)):
        before, now = clocks[k - 1], clocks[k]
        if before is None or now is None:
            continue
        if (now.tzinfo is None) != (before.tzinfo is None):
            problem = f"reports {k} and {k + 1}: expected both times with their offset from UTC, or neither"
            raise ReportError(path, problem, line=lines[k])
        found[k] = (now - before).total_seconds()
        if (now - before).total_seconds() <= 0:
            problem = f"report {k + 1} at {now} follows one at {before}: expected reports in order of time"
            raise ReportError(path, problem, line=lines[k])
    return found
