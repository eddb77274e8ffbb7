"""A quantity, declared once: parameters, questions, figures and columns of files follow from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner import units
from planner.errors import InputError

Value = float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """Something that has a number or a word: what a model file holds, a user sets, a table has or an answer shows.

    Attributes
    ----------
    key : str
        Its name, without unit.
    meaning : str
        What it is.
    unit : str
        A key of `planner.units.UNITS`, in which its number is kept or, for columns and figures, shown.
    low, high : float
        Smallest and largest value, in that unit.
    zero : bool
        Whether 0 is allowed although `low` lies above it, where a fit cannot go.
    whole : bool
        Whether it is a count.
    words : tuple of str
        What it may say, where it is no number.
    default : float, str or None
        What holds where nothing is said.
    symbol : Any
        How equations call it.
    example : str
        How one sets it.
    label : str
        How people read it in a table.
    decimals : int
        Digits after the point, for people.
    error_of : str
        Figure whose size the error of the law is a part of; its own where empty.
    open_above : bool
        Whether it has no upper end where nothing bounds what is asked of the device.
    """

    key: str
    meaning: str = ""
    unit: str = ""
    low: float = 0.0
    high: float = math.inf
    zero: bool = False
    whole: bool = False
    words: tuple[str, ...] = ()
    default: Any = None
    symbol: Any = ""
    example: str = ""
    label: str = ""
    decimals: int = 2
    error_of: str = ""
    open_above: bool = False

    @property
    def file_key(self) -> str:
        """Name with its unit as a suffix, as files have it."""
        return self.key + units.suffix(self.unit)

    @property
    def factor(self) -> float:
        """SI units in one of `unit`."""
        return units.UNITS[self.unit].factor

    @property
    def span(self) -> str:
        """A range of it as one types it."""
        return units.SPANS.get(units.UNITS[self.unit].dimension, "0:1:0.1")

    def read(self, text: str) -> Value:
        """Read what it is set to.

        Parameters
        ----------
        text : str
            A quantity with its unit, a bare number or a word.

        Returns
        -------
        float or str
            In SI units.

        Raises
        ------
        InputError
            No such value, or a unit is missing.

        Examples
        --------
        >>> Quantity(key="think_time", unit="s").read("0.2ms")
        0.0002
        """
        if self.words:
            if text not in self.words:
                raise InputError(self.key, text, " or ".join(self.words))
            return text
        value = self._number(text)
        if not self.holds(value):
            noun = "a count" if self.whole else "a number"
            most = "" if math.isinf(self.high) else f", at most {self.high:g}"
            raise InputError(self.key, text, f"{noun} of at least {self.low:g}{most}", self.unit)
        return value

    def _number(self, text: str) -> float:
        dimension = units.UNITS[self.unit].dimension
        if dimension and (dimension != "share" or text.strip().endswith("%")):
            zero = self.zero or self.low <= 0
            return units.parse(text, dimension, argument=self.key, zero=zero)
        return units.parse_count(text, argument=self.key)

    def holds(self, value: float) -> bool:
        """Tell whether a number is allowed.

        Parameters
        ----------
        value : float
            In SI units.

        Returns
        -------
        bool
            Within the bounds, whole where it is a count.
        """
        inside = self.low <= value <= self.high or (value == 0 and self.zero)
        return inside and (not self.whole or float(value).is_integer())


def listed(known: Mapping[str, Quantity]) -> str:
    """Name quantities with their units, for a message.

    Parameters
    ----------
    known : mapping
        By key.

    Returns
    -------
    str
        In the order of the mapping.
    """
    return ", ".join(f"{key} [{each.unit}]" if each.unit else key for key, each in known.items())
