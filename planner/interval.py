"""A number with its error: the one type for the uncertainty of printed digits, fits and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from planner.units import half_digit

__all__ = ["Interval"]

Number = Any
"""A float, or an array of numpy; the ends of one interval have the same shape."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number between two ends, or arrays of them.

    Arithmetic takes the worst case: the ends of a sum are the sums of the ends, since the correlation of two roundings
    is unknown. Products and quotients are for numbers that are not negative, as all measurements are.

    `low`, `value` and `high` have one unit and one shape; `high` is inf where the number has no upper bound.

    Examples
    --------
    >>> rate, service = Interval.printed("755"), Interval.around(1.3, 0.15) * 1e-3
    >>> busy = rate * service
    >>> round(busy.low, 3), round(busy.value, 3), round(busy.high, 3)
    (0.868, 0.982, 1.095)
    """

    low: Number
    value: Number
    high: Number

    @classmethod
    def around(cls, value: Number, half: Number) -> Self:
        """Make a symmetric interval; its lower end is not negative unless the value is."""
        low = value - half
        floored = (low < 0) & (value >= 0)
        return cls(low * (1 - floored), value, value + half)

    @classmethod
    def printed(cls, digits: str, factor: float = 1.0) -> Self:
        """Read decimal digits: all numbers that round to them.

        >>> Interval.printed("755")
        Interval(low=754.5, value=755.0, high=755.5)
        """
        return cls.around(float(digits), half_digit(digits)) * factor

    def __iter__(self) -> Iterator[Number]:
        """Unpack as low, value, high."""
        return iter((self.low, self.value, self.high))

    def __getitem__(self, key: Any) -> Self:
        """Pick elements of arrays."""
        return type(self)(self.low[key], self.value[key], self.high[key])

    def __add__(self, other: Interval | Number) -> Self:
        """Add the ends."""
        low, value, high = _ends(other)
        return type(self)(self.low + low, self.value + value, self.high + high)

    def __sub__(self, other: Interval | Number) -> Self:
        """Subtract the opposite end of the other."""
        low, value, high = _ends(other)
        return type(self)(self.low - high, self.value - value, self.high - low)

    def __mul__(self, other: Interval | Number) -> Self:
        """Multiply the ends; for numbers that are not negative."""
        low, value, high = _ends(other)
        return type(self)(self.low * low, self.value * value, self.high * high)

    def __truediv__(self, other: Interval | Number) -> Self:
        """Divide by the opposite end of the other; for numbers that are not negative."""
        low, value, high = _ends(other)
        return type(self)(self.low / high, self.value / value, self.high / low)

    __radd__, __rmul__ = __add__, __mul__

    def widened(self, by: Number) -> Self:
        """Move both ends outward."""
        return type(self)(self.low - by, self.value, self.high + by)

    def where(self, kept: Any, other: Interval | Number) -> Self:
        """Keep the elements where `kept` is true; take the others from another interval or a number."""
        import numpy as np

        ends = zip(self, _ends(other), strict=True)
        return type(self)(*(np.where(kept, own, another) for own, another in ends))

    def sum(self) -> Self:
        """Add up the elements of arrays."""
        return type(self)(*(float(end.sum()) for end in self))

    def holds(self, number: Number) -> Any:
        """Whether a number lies inside, ends included."""
        return (self.low <= number) & (number <= self.high)

    def residual(self, guess: Number) -> Any:
        """Normalized residual of a guess: its distance from the value in half widths; for numbers without a unit."""
        import numpy as np

        half = np.where(guess >= self.value, self.high - self.value, self.value - self.low)
        return (guess - self.value) / np.maximum(half, np.maximum(1e-6 * np.abs(self.value), 1e-9))


def _ends(other: Interval | Number) -> tuple[Number, Number, Number]:
    """The ends of an interval, or a bare number three times."""
    return (other.low, other.value, other.high) if isinstance(other, Interval) else (other, other, other)
