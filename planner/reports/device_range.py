"""Device numbers and ranges of them, as people and files write them: 522A, 522A-5231."""

from __future__ import annotations

from typing import Final

LAST_DEVICE: Final = 0xFFFF


def device_range(text: str) -> tuple[int, int]:
    """Read a range of device numbers, or a single one.

    Parameters
    ----------
    text : str
        One or two hexadecimal device numbers.

    Returns
    -------
    tuple of int
        First and last device number.

    Raises
    ------
    ValueError
        Not such a range, or it runs backwards; the message says what was expected.

    Examples
    --------
    >>> device_range("522A-5231") == (0x522A, 0x5231)
    True
    """
    first, dash, last = (part.strip() for part in text.partition("-"))
    try:
        low, high = int(first, 16), int(last if dash else first, 16)
    except ValueError:
        raise ValueError("device numbers in hexadecimal such as 522A-5231") from None
    if not 0 <= low <= high <= LAST_DEVICE:
        raise ValueError("a range from a lower to a higher device number, 0000 to FFFF")
    return low, high
