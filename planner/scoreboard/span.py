"""Interval arithmetic over printed numbers: what their rounding leaves open of a sum, product or quotient."""

from __future__ import annotations

from typing import NamedTuple, Self

from planner.reports import Printed, PublishedTable

HAIR = 1e-9  # relative; ends that touch count as touching


class Span(NamedTuple):
    """A number of one sign, and the ends of what rounding leaves open: `low`, `value`, `high`."""

    low: float
    value: float
    high: float

    @classmethod
    def of(cls, printed: Printed) -> Self:
        """Take a printed number with its resolution."""
        return cls(printed.value - printed.resolution, printed.value, printed.value + printed.resolution)

    @classmethod
    def exactly(cls, value: float) -> Self:
        """Take a number that is known."""
        return cls(value, value, value)

    def plus(self, other: Span) -> Span:
        """Sum."""
        return Span(self.low + other.low, self.value + other.value, self.high + other.high)

    def minus(self, other: Span) -> Span:
        """Difference."""
        return Span(self.low - other.high, self.value - other.value, self.high - other.low)

    def times(self, other: Span | float) -> Span:
        """Product."""
        two = other if isinstance(other, Span) else Span.exactly(other)
        ends = [a * b for a in (self.low, self.high) for b in (two.low, two.high)]
        return Span(min(ends), self.value * two.value, max(ends))

    def over(self, other: Span | float) -> Span:
        """Quotient; the divisor does not hold 0."""
        two = other if isinstance(other, Span) else Span.exactly(other)
        return self.times(Span(1 / two.high, 1 / two.value, 1 / two.low))

    def meets(self, other: Span) -> bool:
        """Whether some number lies in both."""
        hair = HAIR * max(abs(self.value), abs(other.value))
        return self.low <= other.high + hair and other.low <= self.high + hair


def cell(table: PublishedTable, row: str, column: str) -> Span:
    """Take a cell of a published table, in the printed unit.

    Parameters
    ----------
    table : PublishedTable
        The table.
    row, column : str
        Where it stands.

    Returns
    -------
    Span
        The number with its rounding.

    Raises
    ------
    ReportError
        The cell holds no number.
    """
    text = table.text(row, column)
    sign = -1.0 if text.startswith("-") else 1.0
    if sign > 0:
        return Span.of(table.printed(row, column))
    digits = Printed.from_text(text[1:])
    return Span(-digits.high, -digits.value, -digits.low)
