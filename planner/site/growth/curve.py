"""Aliases that open arrivals need over the load: a smooth curve through a few solved loads.

The real number of aliases with which the target is just met is a smooth, nearly straight function of the load. At a
count near it the logarithm of the excess over the target is nearly straight too; it falls by about 1 / sqrt(count)
with each alias more, since what is asked for is spread by the root of its mean. So one solution a load fixes the curve
there. Where the curve passes near a whole number, that number is solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

FEWEST: Final = 3.0  # aliases below which the law of the root is too rough
MARGIN: Final = (
    0.1  # aliases from a whole number within which that is solved; the curve misses by .07 at most
)
FAR: Final = 1.5  # aliases from the count that was solved, from which another one is
WIDE: Final = 2.0  # largest over smallest load from which on a fourth load is solved
MOST_MISS: Final = 0.5  # aliases by which the curve may miss a further load
STEPS: Final = 5  # of the search for a load
LARGEST: Final = 5.0  # logarithm of the excess, of either sign, beyond which a solution says too little
INVERSIONS: Final = 60


@dataclass(slots=True)
class NeedCurve:
    """`solve` gives the logarithm of the excess at a count and a multiple of the load; `most` is the largest count.

    `nodes` are the real counts at the loads that were solved, `fall` that of the logarithm with one alias more, times
    the root of the count, and `margin` that of the whole numbers.
    """

    solve: Callable[[int, float], float]
    most: int
    nodes: dict[float, float] = field(default_factory=dict)
    fall: float = math.nan
    margin: float = MARGIN

    @classmethod
    def through(
        cls,
        solve: Callable[[int, float], float],
        most: int,
        first: tuple[float, int, float, float],
        loads: Sequence[float],
    ) -> NeedCurve | None:
        """Through loads from the least to the most; None where it would not be sure.

        `first` is a load, its count, and the logarithms of the excess with one alias less and with the count.
        """
        times, count, before, at = first
        fall = before - at
        if count < FEWEST or not 0.0 < fall < LARGEST:
            return None
        found = cls(solve, most, {times: count - 1 + before / fall}, fall * math.sqrt(count - 0.5))
        low, high = min(loads), max(loads)
        for each in (low, high):
            if each not in found.nodes and not found.add(each):
                return None
        if high > WIDE * low:
            gaps = sorted(found.nodes)
            wide = max(range(len(gaps) - 1), key=lambda k: gaps[k + 1] - gaps[k])
            middle = 0.5 * (gaps[wide] + gaps[wide + 1])
            told = found.real(middle)
            if not found.add(middle):
                return None
            miss = abs(found.nodes[middle] - told)
            if miss > MOST_MISS:
                return None
            found.margin = max(MARGIN, 0.5 * miss)
        return found

    def add(self, times: float) -> bool:
        """Solve one more load; False where its count is too small, too large, or not found."""
        count = round(self.real(times))
        for _ in range(STEPS):
            if not FEWEST <= count <= self.most:
                return False
            excess = self.solve(count, times)
            if not abs(excess) < LARGEST:
                return False
            real = count + excess * math.sqrt(count) / self.fall
            if abs(real - count) <= FAR:
                self.nodes[times] = real
                return real >= FEWEST - 1
            count = round(real)
        return False

    def real(self, times: float) -> float:
        """The curve: a polynomial through the nodes, straight beyond them."""
        loads = np.array(sorted(self.nodes))
        counts = np.array([self.nodes[each] for each in loads.tolist()])
        if loads.size == 1:
            return float(counts[0] * times / loads[0])
        inside = float(np.clip(times, loads[0], loads[-1]))
        beyond = times - inside
        two = slice(None, 2) if beyond < 0 else slice(-2, None)
        slope = float(np.diff(counts[two])[0] / np.diff(loads[two])[0])
        weights = [
            math.prod((inside - other) / (own - other) for other in loads.tolist() if other != own)
            for own in loads.tolist()
        ]
        return float(counts @ weights) + beyond * slope

    def count(self, times: float) -> int:
        """Smallest count that meets the target."""
        real = self.real(times)
        near = round(real)
        if abs(real - near) > self.margin:
            return math.ceil(real)
        return near if self.solve(near, times) <= 0.0 else near + 1

    def largest(self, aliases: int, reach: float, nearness: float) -> float | None:
        """Multiple of the load up to which so many aliases do; inf beyond `reach`, None where it is not found."""
        if not FEWEST <= aliases <= self.most:
            return None
        times = min(self._of(aliases, 4.0 * reach), reach)
        before: tuple[float, float] | None = None
        for _ in range(STEPS):
            excess = self.solve(aliases, times)
            if excess <= 0.0 and times >= reach:
                return math.inf
            if not abs(excess) < LARGEST:
                return None
            rise = self._rise(aliases, times) if before is None else _slope(before, (times, excess))
            if not rise > 0.0:
                return None
            change = min(max(-excess / rise, -1.0), 1.0)
            before = times, excess
            times = min(times * math.exp(change), reach)
            if abs(change) < nearness:
                return times
        return None

    def _rise(self, aliases: int, times: float) -> float:
        """Of the logarithm of the excess at so many aliases with that of the load, by the curve."""
        step = 0.01 * times
        return (self.real(times + step) - self.real(times)) / step * times * self.fall / math.sqrt(aliases)

    def _of(self, aliases: int, most: float) -> float:
        """Load at which the curve is at so many aliases, up to `most`."""
        low, high = 0.0, most
        for _ in range(INVERSIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.real(middle) <= aliases else (low, middle)
        return low


def _slope(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Of the logarithm of the excess with that of the load, between two that were solved; nan where they are one."""
    away = math.log(second[0] / first[0])
    return (second[1] - first[1]) / away if away else math.nan
