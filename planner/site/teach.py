"""Intervals teach: one demand of a pool over the intervals of an hour class, and the narrower range that follows.

One interval leaves open how its demand comes about: the range of its count is .6 to 1.8 times the count, or what the
readings of its digits span. The same pool was measured at many loads and at many waits. What its intervals ask for,
over the logarithm of the load, is one straight line: fitted by least squares it forgets the chance in each interval.
Where volumes wait for long, readings take what is batch for overload, so that long waits weigh less (LONG); intervals
that meet the target with aliases in use do not say how many fewer would, and only bound the count. What is
left is the bias that all readings of a pool share; its 90 % range was taken from simulated pools, of aliases in use, of
short waits and of long ones (docs/site.md), and held against others. A measurement that meets or misses the target
itself bounds the count of every interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

FEWEST: Final = 6  # intervals that make a line
LONG: Final = 5.0  # service times of mean wait, from which on an interval weighs less and less
LEAST: Final = 0.5  # aliases
RIDGE: Final = 0.3  # on the slope: as an interval of that many squared standard deviations
# Ends of the range: the first over the lesser of line and count, the second over the larger, 90 % (tests.site.rules).
IN_USE: Final = (0.86, 1.45)
SHORT_WAIT: Final = (0.6, 1.2)
LONG_WAIT: Final = (0.7, 1.5)
NIGHT: Final = (7, 19)  # hours between which it is day
FRIDAY: Final = 5


@dataclass(frozen=True, slots=True)
class Taught:
    """A range, and the number of intervals that it was taught by."""

    low: int
    high: int
    intervals: int


def hour_class(start: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """1 in working hours, 0 at nights and on weekends; all 0 without dates."""
    dated = ~np.isnat(start)
    hours = np.where(dated, start, np.datetime64(0, "us")).astype("datetime64[h]").astype(np.int64)
    weekday, hour = (hours // 24 + 3) % 7, hours % 24
    return np.asarray(dated & (weekday < FRIDAY) & (hour >= NIGHT[0]) & (hour < NIGHT[1]), dtype=np.int64)


def taught(
    smooth: Array, load: Array, wait: Array, at: int, *, count: int, in_use: NDArray[np.int64], met: NDArray[np.bool_],
    missed: NDArray[np.bool_],
) -> Taught | None:  # fmt: skip
    """Range of the count of interval `at` from all intervals of its class, arrays (intervals,); None from too few.

    `smooth` is what each was found to need, `wait` its mean wait [service times], `met` and `missed` say where the
    measurement itself meets the target or misses it with the aliases in use.
    """
    known = np.isfinite(smooth) & (load > 0)
    # Where nothing to speak of waits with aliases in use, any demand that they hold would have shown the same.
    smooth = np.where(met & (in_use > 0), np.nan, smooth)
    above = known & (load >= load[at]) & met
    known &= np.isfinite(smooth)
    if known.sum() < FEWEST:
        return None
    weight = np.where(known, 1.0 / (1.0 + (np.nan_to_num(wait) / LONG) ** 2), 0.0)
    logs = np.log(np.maximum(np.where(known, smooth, LEAST), LEAST))
    x = np.log(np.maximum(load, 1e-12)) - np.log(max(float(load[at]), 1e-12))
    total = weight.sum()
    center_x, center = (weight @ x) / total, (weight @ logs) / total
    spread = weight @ (x - center_x) ** 2
    slope = float(weight @ ((x - center_x) * (logs - center)) / (spread + RIDGE))
    line = float(np.exp(center - slope * center_x))
    long = float(np.median(np.nan_to_num(wait)[known])) > LONG
    less, more = IN_USE if in_use[at] > 0 else LONG_WAIT if long else SHORT_WAIT
    # The count and the line are two views of one number: the range spans both.
    low, high = less * min(line, count), more * max(line, count)
    near = known & (load <= load[at])
    if (near & missed).any():
        low = max(low, float(in_use[near & missed].max()) + 1.0)
    if above.any():
        high = min(high, float(in_use[above].min()))
    least, most = int(np.floor(round(low, 6))), int(np.ceil(round(high, 6)))
    return Taught(min(least, count), max(most, count), int(known.sum()))
