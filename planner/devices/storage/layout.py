"""What CP keeps for virtual storage: segments, their PGMBKs, the data spaces that hold those; and checks of sizes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from planner import units
from planner.errors import InputError
from planner.units import FRAME, GIB, SEGMENT

PAGES_PER_SEGMENT: Final = SEGMENT // FRAME
FRAMES_PER_PGMBK: Final = 2  # contiguous; 8 KB
PAGES_PER_PTRM_SPACE: Final = 4 * GIB // FRAME
SEGMENTS_PER_PTRM_SPACE: Final = PAGES_PER_PTRM_SPACE // FRAMES_PER_PGMBK
TWO_GB_FRAMES: Final = 2 * GIB // FRAME

_FINEST: Final = 10**6  # denominators of shares and means that people type


def size(argument: str, value: float | str) -> int:
    """Take a size in bytes, or as text with its unit.

    Parameters
    ----------
    argument : str
        Its name, for messages.
    value : float or str
        A number [bytes], or text such as ``256GB``.

    Returns
    -------
    int
        The size, rounded up to whole bytes [bytes].

    Raises
    ------
    InputError
        The unit is missing or unknown, or the size is not finite and above zero.

    Examples
    --------
    >>> size("real_storage", "2GB")
    2147483648
    """
    number = units.parse(value, "storage", argument=argument) if isinstance(value, str) else value
    if isinstance(number, bool) or not math.isfinite(number) or number <= 0:
        raise InputError(argument, value, "a size above zero, such as 256 * 2**30 or '256GB'", "bytes")
    return math.ceil(number)


def pages_per_segment(argument: str, value: float) -> Fraction:
    """Take a mean number of resident pages for each in-use segment.

    Parameters
    ----------
    argument : str
        Its name, for messages.
    value : float
        The mean [pages].

    Returns
    -------
    Fraction
        The mean, exact to six decimals [pages].

    Raises
    ------
    InputError
        Below 1 (such a segment is not in use) or above 256 (a segment has no more pages).

    Examples
    --------
    >>> pages_per_segment("resident_pages", 2.5)
    Fraction(5, 2)
    """
    if not 1 <= value <= PAGES_PER_SEGMENT:
        raise InputError(argument, value, f"1 to {PAGES_PER_SEGMENT} pages in each in-use 1 MB segment")
    return Fraction(value).limit_denominator(_FINEST)


def share(argument: str, value: float) -> Fraction:
    """Take a share above zero, one at most.

    Parameters
    ----------
    argument : str
        Its name, for messages.
    value : float
        The share [share].

    Returns
    -------
    Fraction
        The share, exact to six decimals [share].

    Raises
    ------
    InputError
        Not above 0, or above 1.

    Examples
    --------
    >>> share("instantiated", 70 * 0.01)
    Fraction(7, 10)
    """
    exact = Fraction(value).limit_denominator(_FINEST) if math.isfinite(value) else Fraction(0)
    if not 0 < exact <= 1:
        raise InputError(argument, value, "a share above 0 and at most 1 (100%)")
    return exact


def count(argument: str, value: int) -> int:
    """Take a count of at least one.

    Parameters
    ----------
    argument : str
        Its name, for messages.
    value : int
        The count.

    Returns
    -------
    int
        The count.

    Raises
    ------
    InputError
        Not a whole number of at least 1.

    Examples
    --------
    >>> count("guests", 20)
    20
    """
    if isinstance(value, bool) or not 1 <= value < math.inf or value != int(value):
        raise InputError(argument, value, "a whole number of at least 1")
    return int(value)
