"""Counters that only rise, have 32 bits and begin anew with the system: what they counted between two records.

A counter that is lower than before has wrapped, has begun anew, or is an error:

* It wrapped if the step over 2**32 is no longer than `WRAP_SLACK` times its fastest step elsewhere in the file allows
  for the elapsed time (than a hundredth of its range where there is no other step).
* Otherwise all counters of the record began anew: each fell or had stood at 0, and the first of them, which counts
  events, has since counted no more than its fastest step elsewhere allows. What it counted before, after the last
  record, is lost; what it shows was counted since.
* Anything else is an error. So is a restart where no other step tells how fast the counter is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

COUNTER_SIZE: Final = 2**32
WRAP_SLACK: Final = 10.0
BLIND_WRAP: Final = COUNTER_SIZE / 100
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Steps:
    """What counters counted between records."""

    counted: Counts  # (counters, records - 1) counted between a record and the next
    restarted: NDArray[np.bool_]  # (records - 1,) whether the counters began anew
    wrapped: NDArray[np.bool_]  # (counters, records - 1) whether a counter passed 2**32


@dataclass(eq=False)  # not frozen: an exception takes its traceback on the way
class Backwards(Exception):  # noqa: N818 - becomes a ReportError where file and line are known
    """A counter that fell without a wrap or a restart: `counter` and `record` by index."""

    counter: int
    record: int

    def problem(self, counters: Counts) -> str:
        """Say what is wrong."""
        now, before = counters[self.counter, self.record], counters[self.counter, self.record - 1]
        return (
            f"runs backwards, from {before} to {now}: expected it to rise, to wrap at 2**32, or to begin anew "
            "together with the other counters of the record"
        )


def steps(counters: Counts, elapsed: Array) -> Steps:
    """Tell what counters counted between records.

    Examples
    --------
    >>> found = steps(np.array([[4294966000, 4294967000, 704, 20]]), np.full(3, 60.0))
    >>> found.counted.tolist(), found.restarted.tolist()
    ([[1000, 1000, 20]], [False, False, True])
    """
    change = np.diff(counters, axis=1)
    fell = change < 0
    forward = ~fell.any(axis=0)
    fastest = (change / elapsed)[:, forward].max(axis=1) if forward.any() else None
    over = change + COUNTER_SIZE
    allowed = BLIND_WRAP if fastest is None else WRAP_SLACK * fastest[:, None] * elapsed
    wrapped = fell & (over <= allowed)
    restarted: NDArray[np.bool_] = np.asarray((fell & ~wrapped).any(axis=0))
    for step in np.flatnonzero(restarted):
        before, now = counters[:, step], counters[:, step + 1]
        together = bool(((now < before) | (before == 0)).all())
        if fastest is None or not together or now[0] > fastest[0] * elapsed[step]:
            raise Backwards(int(np.argmax(fell[:, step])), int(step) + 1)
    counted = np.where(restarted, counters[:, 1:], np.where(wrapped, over, change))
    return Steps(counted, restarted, np.asarray(wrapped & ~restarted))
