"""What counters counted between two samples: wraps, counters that begin anew, devices that come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.monitor.blocks import Integers

Words = NDArray[np.uint32]
MOST_EVENTS: Final = 1e6  # 1/s; no device, pool or data space counts faster


def previous(keys: NDArray[Any], samples: Integers) -> tuple[Integers, Integers | None]:
    """Row of the same key one sample before, or -1; and the second of two rows of one key in one sample, where any.

    Rows stand in order of their samples.
    """
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    apart = samples[order[1:]] - samples[order[:-1]]
    twice = np.flatnonzero(same & (apart == 0))
    before = np.full(keys.size, -1, np.int64)
    next_to = same & (apart == 1)
    before[order[1:][next_to]] = order[:-1][next_to]
    return before, order[twice + 1] if twice.size else None


@dataclass(slots=True)
class Pairs:
    """Rows `now` that have a row `before`; as slices where they stand in the same order, sample after sample."""

    now: Integers | slice
    before: Integers | slice

    @classmethod
    def of(cls, before: Integers) -> Pairs:
        """Pairs of rows from the row before each, -1 without one."""
        now = np.flatnonzero(before >= 0)
        then = before[now]
        if now.size and now[-1] - now[0] == now.size - 1 and (now - then == now[0] - then[0]).all():
            first, step = int(now[0]), int(now[0] - then[0])
            return cls(slice(first, first + now.size), slice(first - step, first - step + now.size))
        return cls(now, then)

    def rise(self, counter: Words) -> Words:
        """Rise of a counter modulo 2**32."""
        return counter[self.now] - counter[self.before]

    def fell(self, counter: Words) -> NDArray[np.bool_]:
        """Whether a counter is lower than before."""
        return counter[self.now] < counter[self.before]
