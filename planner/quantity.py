"""A quantity, declared once: parameters, questions, figures and columns of files follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner import units
from planner.errors import InputError

__all__ = ["Quantity"]

Value = float | str
LARGEST_GRID: Final = 10_000  # values of a range, combinations of a grid


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that has a number or a word: what a model file holds, a user sets, a table has or an answer shows.

    * `key`: its name, without unit.
    * `meaning`: what it is.
    * `unit`: a key of `planner.units.UNITS`, in which its number is kept or, for columns and figures, shown.
    * `low` and `high`: smallest and largest value, in that unit.
    * `zero`: whether 0 is allowed although `low` lies above it, where a fit cannot go.
    * `whole`: whether it is a count.
    * `words`: what it may say, where it is no number.
    * `default`: what holds where nothing is said.
    * `symbol`: how equations call it.
    * `example`: how one sets it.
    * `label`: how people read it in a table.
    * `decimals`: digits after the point at most, for people.
    * `digits`: significant digits, for people.
    * `error_of`: figure whose size the error of the law is a part of; its own where empty.
    * `dtype`: polars type of its column in a table.
    * `open_above`: whether it has no upper end where nothing bounds what is asked of the device.
    * `of`: takes it from a row; or the path to an attribute, as ``outcome.response_time``, whose numbers are SI; None
      where it is an attribute or an entry of that name, in `unit`.
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
    decimals: int | None = 2
    digits: int | None = units.DIGITS
    error_of: str = ""
    dtype: str = "Float64"
    open_above: bool = False
    of: Callable[[Any], Any] | str | None = None

    @property
    def file_key(self) -> str:
        """Name with its unit as a suffix, as files have it."""
        return self.key + units.suffix(self.unit)

    @property
    def factor(self) -> float:
        """SI units in one of `unit`; 1 where it is a word for people."""
        return units.UNITS[self.unit].factor if self.unit in units.UNITS else 1.0

    @property
    def span(self) -> str:
        """A range of it as one types it."""
        return units.SPANS.get(units.UNITS[self.unit].dimension, "0:1:0.1")

    def in_row(self, row: Any) -> Any:
        """Take it from a row: a number in `unit`, a word, or None where there is none."""
        if isinstance(self.of, str):
            return self._at(row, self.of)
        if self.of is not None:
            return self.of(row)
        return row[self.file_key] if isinstance(row, Mapping) else getattr(row, self.key)

    def _at(self, row: Any, path: str) -> Any:
        """Follow a path, to a number in `unit` where it ends at one; None where something on the way is."""
        for name in path.split("."):
            row = None if row is None else getattr(row, name)
        value = row.item() if getattr(row, "shape", None) == () else row
        return value if self.factor == 1 or value is None else value / self.factor

    def read(self, text: str) -> Value:
        """Read what it is set to.

        >>> Quantity(key="think_time", unit="s").read("0.2ms")
        0.0002
        """
        return self.taken(text if self.words else self._number(text), text)

    def taken(self, value: Any, shown: Any = None) -> Value:
        """Take one of its words or an allowed number in `unit`; `shown` is the text that it was read from.

        >>> Quantity(key="hit_ratio", unit="share", high=1.0).taken(1.5)
        Traceback (most recent call last):
        planner.errors.InputError: hit_ratio = 1.5 share: expected a number of at least 0, at most 1
        """
        shown = value if shown is None else shown
        if self.words:
            word = f"{value:g}" if units.is_number(value) else value
            if not isinstance(word, str) or word not in self.words:
                raise InputError(self.key, shown, " or ".join(self.words))
            return word
        try:
            number = float(value) if units.is_number(value) else math.nan
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or not self.holds(number):
            noun = "a count" if self.whole else "a number"
            most = "" if math.isinf(self.high) else f", at most {self.high:g}"
            raise InputError(self.key, shown, f"{noun} of at least {self.low:g}{most}", self.unit)
        return number

    def _number(self, text: str) -> float:
        dimension = units.UNITS[self.unit].dimension
        if dimension and (dimension != "share" or text.strip().endswith("%")):
            zero = self.zero or self.low <= 0
            return units.parse(text, dimension, argument=self.key, zero=zero)
        return units.parse_count(text, argument=self.key)

    def plain(self, value: Value, factor: float = 1.0) -> Value | int:
        """A value as programs read it, in a unit of so many SI units."""
        if isinstance(value, str) or math.isinf(value):
            return value if isinstance(value, str) else "unlimited"
        return int(value) if self.whole else value / factor

    def holds(self, value: float) -> bool:
        """Tell whether a number is allowed."""
        inside = self.low <= value <= self.high or (value == 0 and self.zero)
        return inside and (not self.whole or float(value).is_integer())


def column(
    key: str, unit: str = "", label: str = "", decimals: int | None = None,
    of: Callable[[Any], Any] | str | None = None, digits: int | None = units.DIGITS,
) -> Quantity:  # fmt: skip
    """Declare a column of an answer."""
    return Quantity(key=key, unit=unit, label=label, decimals=decimals, of=of, digits=digits)


def span(
    text: str, read: Callable[[str], Value], step: Callable[[str], Value], *, whole: bool, expected: str, example: str,
    argument: str = "over",
) -> tuple[float, ...]:  # fmt: skip
    """Read KEY=first:last:step, both ends included; whole numbers step by 1 without it; errors name `argument`."""
    _, sign, value = text.partition("=")
    parts = [part.strip() for part in value.split(":")]
    if not sign or len(parts) not in ({2, 3} if whole else {3}):
        raise InputError(argument, text, expected)
    low, high = (float(read(part)) for part in parts[:2])
    try:
        by = float(step(parts[2])) if parts[2:] else 1.0
    except InputError as error:
        raise InputError(argument, text, f"a step with its unit, as in {example}; {error}") from error
    if by <= 0 or high < low:
        raise InputError(argument, text, f"a range that runs upward by a step above zero, as {example}")
    count = math.floor((high - low) / by + 1e-9) + 1
    if count > LARGEST_GRID:
        raise InputError(argument, text, f"at most {LARGEST_GRID} values")
    return tuple(min(low + by * k, high) for k in range(count))  # not beyond the end by rounding


def vary(over: Iterable[tuple[str, Hashable]], fixed: Collection[Hashable]) -> None:
    """Refuse what varies and is set as well; `over` is what messages call it, and what it is."""
    for name, what in over:
        if what in fixed:
            raise InputError("over", name, "a key that is not set as well")


def listed(known: Mapping[str, Quantity]) -> str:
    """Name quantities with their units, for a message."""
    return ", ".join(f"{key} [{each.unit}]" if each.unit else key for key, each in known.items())
