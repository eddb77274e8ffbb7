"""Declare a quantity once: parameters, questions, figures and columns of files follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from planner import units
from planner.errors import InputError

__all__ = ["Quantity"]

Value = float | str
LARGEST_GRID: Final = 10_000  # values of a range, combinations of a grid


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a word in a model file, a setting, a table or an answer.

    * `key`: its name, without unit.
    * `meaning`: what it is.
    * `unit`: a key of `planner.units.UNITS`: the unit in which it is kept or, for columns and figures, shown.
    * `low` and `high`: smallest and largest value, in that unit.
    * `zero`: whether 0 is allowed although a fit cannot go below `low`.
    * `whole`: whether it is a count.
    * `words`: allowed words, if it is not a number.
    * `default`: value where none is given.
    * `symbol`: its symbol in equations.
    * `example`: an example of setting it.
    * `label`: its heading in a table for people.
    * `decimals`: most digits after the point, for people.
    * `digits`: significant digits, for people.
    * `error_of`: figure of which the model error is a share; this figure itself where empty.
    * `dtype`: polars type of its column in a table.
    * `open_above`: whether it has no upper end where the demand on the device has no upper bound.
    * `of`: function that takes it from a row; or an attribute path in SI units, as ``outcome.response_time``; None for
      an attribute or an entry named `key`, in `unit`.
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
        """SI units in one `unit`; 1 where the unit is only a label."""
        return units.UNITS[self.unit].factor if self.unit in units.UNITS else 1.0

    @property
    def span(self) -> str:
        """Example of a range, as users type it."""
        return units.SPANS.get(units.UNITS[self.unit].dimension, "0:1:0.1")

    def in_row(self, row: Any) -> Any:
        """Take the value from a row: a number in `unit`, a word, or None; by `of`, a date as ISO 8601 writes it."""
        if self.of is None:
            return row[self.file_key] if isinstance(row, Mapping) else getattr(row, self.key)
        value = self._at(row, self.of) if isinstance(self.of, str) else self.of(row)
        return value.isoformat() if isinstance(value, date) else value

    def _at(self, row: Any, path: str) -> Any:
        """Follow an attribute path to a value in `unit`; None if any step of it is None."""
        for name in path.split("."):
            row = None if row is None else getattr(row, name)
        value = row.item() if getattr(row, "shape", None) == () else row
        return value if self.factor == 1 or value is None else value / self.factor

    def read(self, text: str) -> Value:
        """Read a setting.

        >>> Quantity(key="think_time", unit="s").read("0.2ms")
        0.0002
        """
        return self.taken(text if self.words else self._number(text), text)

    def taken(self, value: Any, shown: Any = None) -> Value:
        """Check one of its words or a number in `unit`; `shown` is the original text, for the message.

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
        """A value for programs, in a unit of `factor` SI units."""
        if isinstance(value, str) or math.isinf(value):
            return value if isinstance(value, str) else "unlimited"
        return int(value) if self.whole else value / factor

    def holds(self, value: float) -> bool:
        """Whether a number is allowed."""
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
    """Read KEY=first:last:step, both ends included; the step of whole numbers defaults to 1; errors name `argument`."""
    _, sign, value = text.rpartition("=")
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
    count = math.ceil((high - low) / by - 1e-9) + 1  # the last step may be shorter
    if count > LARGEST_GRID:
        raise InputError(argument, text, f"at most {LARGEST_GRID} values")
    return tuple(min(low + by * k, high) for k in range(count))  # rounding must not pass the end


def vary(over: Iterable[tuple[str, Hashable]], fixed: Collection[Hashable]) -> None:
    """Refuse keys that are both varied and fixed; `over` has the name for the message and the key."""
    for name, what in over:
        if what in fixed:
            raise InputError("over", name, "a key that is not set as well")


def listed(known: Mapping[str, Quantity]) -> str:
    """Name quantities with their units, for a message."""
    return ", ".join(f"{key} [{each.unit}]" if each.unit else key for key, each in known.items())
