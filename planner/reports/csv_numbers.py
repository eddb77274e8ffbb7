"""Numbers and times in cells of CSV files: which are allowed, and how a message says what was expected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Never

WANTED_TIME: Final = "expected a time such as 2007-05-27T15:01:00, or a number of seconds"
UNITS: Final = {  # by the end of a heading, the longer ones first
    "_us_per_page": "us", "_mb_per_s": "MB/s", "_kb": "KB", "_mb": "MB", "_GB": "GB", "_ms": "ms", "_us": "us",
    "_s": "s", "rate": "1/s", "itr": "1/s",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The numbers that a column may hold.

    Attributes
    ----------
    whole, zero : bool
        Whether only whole numbers are allowed, and whether 0 is.
    most : float
        Largest number.
    """

    whole: bool = False
    zero: bool = True
    most: float = math.inf

    def read(self, cell: str) -> float:
        """Read a number.

        Parameters
        ----------
        cell : str
            Its digits.

        Returns
        -------
        float
            The number, in the unit of its column.

        Raises
        ------
        ValueError
            No such number, or not allowed.

        Examples
        --------
        >>> Allowed(zero=False).read("1.30")
        1.3
        """
        value = float(cell) if cell.isascii() and "_" not in cell else refuse()
        fits = math.isfinite(value) and (value > 0 or (self.zero and value == 0)) and value <= self.most
        return value if fits and (value.is_integer() or not self.whole) else refuse()

    def expected(self, heading: str) -> str:
        """Say what a column may hold.

        Parameters
        ----------
        heading : str
            Its heading, which ends in its unit.

        Returns
        -------
        str
            For a message.

        Examples
        --------
        >>> Allowed().expected("service_ms")
        'expected a number, zero or above [ms]'
        >>> Allowed(whole=True, most=255).expected("aliases")
        'expected a whole number from 0 to 255'
        """
        unit = next((f" [{unit}]" for end, unit in UNITS.items() if heading.endswith(end)), "")
        what = "a whole number" if self.whole else "a number"
        if self.zero and math.isfinite(self.most):
            return f"expected {what} from 0 to {self.most:.10g}{unit}"
        least = ", zero or above" if self.zero else " above zero"
        most = f", at most {self.most:.10g}" if math.isfinite(self.most) else ""
        return f"expected {what}{least}{most}{unit}"


ZERO_OR_ABOVE: Final = Allowed()


def date(cell: str) -> datetime | None:
    """Read a date with time.

    Parameters
    ----------
    cell : str
        What stands there.

    Returns
    -------
    datetime or None
        None for anything else; digits alone are seconds.
    """
    try:
        float(cell)
    except ValueError:
        try:
            return datetime.fromisoformat(cell)
        except ValueError:
            return None
    return None


def seconds(cell: str, start: datetime | None) -> float:
    """Read a time.

    Parameters
    ----------
    cell : str
        What stands there.
    start : datetime or None
        What seconds are counted from; None where the cell holds them itself.

    Returns
    -------
    float
        Time [s].

    Raises
    ------
    ValueError
        No such time.
    """
    if start is None:
        value = float(cell)
        return value if math.isfinite(value) else refuse()
    when = date(cell)
    return (when - start).total_seconds() if when is not None else refuse()


def refuse() -> Never:
    """Refuse a cell; the table that it stands in tells its place.

    Raises
    ------
    ValueError
        Always.
    """
    raise ValueError
