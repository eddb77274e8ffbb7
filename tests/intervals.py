"""Interval arithmetic over printed rounding: a printed number stands for all numbers that print like it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.units import half_digit


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def printed(cls, digits: str) -> Interval:
        half = half_digit(digits)
        return cls(float(digits) - half, float(digits) + half)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, factor: float) -> Interval:
        return Interval(*sorted((self.low * factor, self.high * factor)))

    def __truediv__(self, other: Interval) -> Interval:
        assert other.low > 0
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def meets(self, other: Interval) -> bool:
        """Whether some number lies in both, up to the rounding of floating point."""
        slack = 1e-12 * max(abs(self.low), abs(self.high), abs(other.low), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack
