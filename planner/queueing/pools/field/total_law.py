"""Laws of sums: the total over many volumes, with or without one of them, in positive arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.errors import ConvergenceError
from planner.results import Array


@dataclass(frozen=True, eq=False)
class CountLaw:
    """A law on the whole numbers `first`, `first + 1`, ..."""

    first: int  # Smallest number of the window [1]
    values: Array  # Probabilities, up to a factor, shape (numbers,) [1]
    least: float  # What is dropped at either end of a sum, relative to the largest probability [1]

    def __mul__(self, other: CountLaw) -> CountLaw:
        """Law of the sum of two independent counts, scaled to a maximum of 1 and trimmed where negligible."""
        values = np.convolve(self.values, other.values)
        if not (largest := values.max()) > 0.0:  # rates of the volumes ran away
            raise ConvergenceError("mean field of the alias pool: law of the total", np.inf, 0)
        values /= largest
        if values[0] > self.least and values[-1] > self.least:
            return CountLaw(self.first + other.first, values, self.least)
        kept = np.flatnonzero(values > self.least)
        return CountLaw(self.first + other.first + int(kept[0]), values[kept[0] : kept[-1] + 1], self.least)

    def power(self, count: int) -> CountLaw:
        """Law of the sum of `count` independent counts."""
        if count == 0:
            return CountLaw(0, np.ones(1), self.least)
        square, result = self, None
        while True:
            if count & 1:
                result = square if result is None else result * square
            count >>= 1
            if not count:
                break
            square = square * square
        return self if result is None else result

    def window(self, least: float) -> Array:
        """Numbers whose probability is above `least` of the largest, shape (numbers,) [1]."""
        kept = np.flatnonzero(self.values > least * self.values.max())
        return np.arange(self.first + kept[0], self.first + kept[-1] + 1.0)

    def at(self, numbers: Array) -> Array:
        """Probability of each of the whole `numbers`, 0 outside the window; any shape."""
        index = numbers.astype(np.int64) - self.first
        inside = (index >= 0) & (index < self.values.size)
        return np.where(inside, self.values[np.where(inside, index, 0)], 0.0)


def leave_one_out(laws: list[CountLaw], volumes: list[int]) -> tuple[list[CountLaw], CountLaw]:
    """Law of the total over all volumes but one of class k, for every k; and over all."""
    but_one = [law.power(count - 1) for law, count in zip(laws, volumes, strict=True)]
    whole = [less * law for less, law in zip(but_one, laws, strict=True)]
    left_out = list(but_one)
    before, after = whole[0], whole[-1]
    for k in range(1, len(laws)):
        left_out[k] = before * left_out[k]
        left_out[-1 - k] = left_out[-1 - k] * after
        before, after = before * whole[k], whole[-1 - k] * after
    return left_out, before
