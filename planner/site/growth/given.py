"""What people give with a growth question: a rate a year, events, how far ahead to look."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from planner.errors import InputError
from planner.site.growth.model import YEAR

HORIZON: Final = 1826  # days in five years
FARTHEST: Final = 36525  # days in a century
SPANS: Final = {"d": 1.0, "day": 1.0, "w": 7.0, "week": 7.0, "month": YEAR / 12, "y": YEAR, "year": YEAR}

_RATE: Final = re.compile(r"\s*(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*%\s*/\s*year\s*", re.ASCII)
_EVENT: Final = re.compile(r"\s*(?P<day>\S+?)\s*:\s*(?P<number>[+-](?:\d+(?:\.\d*)?|\.\d+))\s*%\s*", re.ASCII)
_SPAN: Final = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[a-z]+?)s?\s*", re.ASCII)


def parse_growth(text: str, argument: str = "--growth") -> float:
    """Read a growth rate.

    Examples
    --------
    >>> parse_growth("20%/year")
    0.2
    """
    match = _RATE.fullmatch(text)
    rate = float(match["number"]) / 100 if match else math.nan
    if not rate > -1:
        raise InputError(argument, text, "a growth above -100 %, such as 20%/year")
    return rate


def parse_event(text: str, argument: str = "--event") -> tuple[date, float]:
    """Read an event.

    Examples
    --------
    >>> parse_event("2027-03-01:+30%")
    (datetime.date(2027, 3, 1), 1.3)
    """
    match = _EVENT.fullmatch(text)
    try:
        day = date.fromisoformat(match["day"] if match else "")
    except ValueError:
        raise InputError(argument, text, "a day and a change, such as 2027-03-01:+30%") from None
    factor = 1 + float(match["number"]) / 100 if match else 0.0
    if factor <= 0:
        raise InputError(argument, text, "a change that leaves some load, such as 2027-03-01:-30%")
    return day, factor


def parse_horizon(text: str, argument: str = "--horizon") -> int:
    """Read how far ahead to look.

    Examples
    --------
    >>> parse_horizon("5years"), parse_horizon("400d")
    (1826, 400)
    """
    match = _SPAN.fullmatch(text)
    days = float(match["number"]) * SPANS[match["unit"]] if match and match["unit"] in SPANS else 0.0
    if not 1 <= days <= FARTHEST:
        raise InputError(
            argument, text, "a time from a day to 100 years, such as 5years, 18months or 400days"
        )
    return int(days)


def parse_limit(text: str, argument: str = "--limit") -> float:
    """Read a limit in the unit of its series."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(argument, text, "a number above zero in the unit of the column, such as 5000")
    return value


def check_given(rate: float | None, events: Sequence[tuple[date, float]], horizon: int, last: date) -> None:
    """Refuse a rate, events and a horizon that make no sense."""
    if rate is not None and not (math.isfinite(rate) and rate > -1):
        raise InputError("growth", rate, "a finite share a year above -1")
    if not 1 <= horizon <= FARTHEST:
        raise InputError("horizon", horizon, f"1 to {FARTHEST}", "days")
    for day, factor in events:
        if not (math.isfinite(factor) and factor > 0):
            raise InputError("event", factor, "a factor above zero")
        if day <= last:
            wanted = f"a day after the last measured one, {last}: what came before is in the measurements"
            raise InputError("event", str(day), wanted)
