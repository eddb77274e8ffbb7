"""Device numbers and ranges of them, as people and files write them: 522A, 522A-5231."""

from __future__ import annotations

import re
from typing import Final

LAST_DEVICE: Final = 0x3FFFF  # z/OS writes the subchannel set, 0 to 3, before four digits
_DIGITS: Final = re.compile(
    r"[0-9A-Fa-f]{1,5}"
)  # not all that int() takes: 0x522A, 5_22A, +5, digits of other scripts


def device_range(text: str) -> tuple[int, int]:
    """Read a range of device numbers, or a single one.

    Examples
    --------
    >>> device_range("522A-5231") == (0x522A, 0x5231)
    True
    """
    first, dash, last = (part.strip() for part in text.partition("-"))
    last = last if dash else first
    if not (_DIGITS.fullmatch(first) and _DIGITS.fullmatch(last)):
        raise ValueError("device numbers in hexadecimal such as 522A-5231")
    low, high = int(first, 16), int(last, 16)
    if not low <= high <= LAST_DEVICE:
        raise ValueError("a range from a lower to a higher device number, 0000 to 3FFFF")
    return low, high
