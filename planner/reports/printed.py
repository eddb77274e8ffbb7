"""A number as a report prints it: its value and how well the printed digits fix it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.units import half_digit


@dataclass(frozen=True, slots=True)
class Printed:
    """A non-negative number read off a report, in SI units.

    Attributes
    ----------
    value : float
        The number as printed, in the SI unit of its column.
    resolution : float
        Half a unit of the last printed digit, in the same unit. What was measured lies within
        ``value - resolution`` and ``value + resolution`` if the report rounds.

    Examples
    --------
    >>> queued = Printed.from_text("1.84")
    >>> queued.value, queued.resolution
    (1.84, 0.005)
    >>> Printed.from_text(".0", factor=1e-3).low
    0.0
    """

    value: float
    resolution: float

    @classmethod
    def from_text(cls, digits: str, factor: float = 1.0) -> Printed:
        """Take the value and the resolution from printed digits.

        Examples
        --------
        >>> Printed.from_text("755")
        Printed(value=755.0, resolution=0.5)
        """
        return cls(float(digits) * factor, half_digit(digits) * factor)

    @property
    def low(self) -> float:
        """Smallest number that prints like this one, not below zero."""
        return max(0.0, self.value - self.resolution)

    @property
    def high(self) -> float:
        """Largest number that prints like this one."""
        return self.value + self.resolution

    def __add__(self, other: Printed) -> Printed:
        """Sum of two printed numbers; the resolutions add up, since the rounding of both is unknown."""
        return Printed(self.value + other.value, self.resolution + other.resolution)
