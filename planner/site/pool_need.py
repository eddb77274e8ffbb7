"""What one pool or volume needs over its intervals: the count in each, and what follows from all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

if TYPE_CHECKING:
    from planner.measurements import Run
    from planner.sizing.answer import AliasAnswer

SHORT: Final = "short"
ENOUGH: Final = "enough"
TOO_MANY: Final = "too many"
UNKNOWN: Final = "unknown"
VERDICTS: Final = (SHORT, UNKNOWN, TOO_MANY, ENOUGH)  # in the order of the answer
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeedSeries:
    """One pool over time, arrays (intervals,), in the order of time.

    `start` (datetime64[us], NaT without a date), `seconds`, `needed` (nan where not answered, inf where no count
    serves), `in_use`, `io_rate` [1/s], `response` [s] (nan where no queue was measured), `queued`, `busy`.
    """

    start: NDArray[np.datetime64]
    seconds: Array
    needed: Array
    in_use: Array
    io_rate: Array
    response: Array
    queued: Array
    busy: Flags

    def hours(self) -> Array:
        """Largest need seen in each hour of the week, (7, 24), Monday first; nan where nothing was measured."""
        found = np.full(7 * 24, np.nan)
        there = ~np.isnat(self.start) & np.isfinite(self.needed)
        hour = self.start[there].astype("datetime64[h]").astype(np.int64)
        place = (hour + 3 * 24) % (7 * 24)  # 1970-01-01 was a Thursday
        np.fmax.at(found, place, self.needed[there])
        return found.reshape(7, 24)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolNeed:
    """What one pool, or one volume with its own aliases, needs."""

    system: str  # whose
    pool: str
    kind: str = "pool"  # "pool" or "volume"
    volumes: int  # volumes, and aliases in the last interval
    in_use: int
    needed_worst: int | None = None  # count that meets the target in the worst interval
    needed_99: int | None = None
    needed_95: int | None = None
    needed: int | None = None
    needed_low: int | None = None  # 90 % range of `needed`
    needed_high: int | None = None
    worst_start: datetime | None = None  # when the worst interval began
    intervals: int = 0  # all; the busy ones; those with I/O that were solved
    busy_intervals: int = 0
    solved_in_full: int = 0
    short_intervals: int = 0
    decided_start: datetime | None = None  # when the interval began that stands for `needed`
    shares: dict[str, float] = field(default_factory=dict)  # of a control unit of several systems
    rules: dict[str, int | None] = field(default_factory=dict)  # what the rules of the field would have said
    supply: str = ""  # what the supply counters say, in a few words; empty where there are none
    notes: tuple[str, ...] = ()  # gaps, members without rows, and the like
    problem: str | None = None  # why there is no answer
    series: NeedSeries  # over time
    answer: AliasAnswer | None = None  # the whole answer of the interval that decides; None unless asked for
    run: Run | None = None  # the measurement of the interval that decides, for whoever asks more of it

    @property
    def name(self) -> str:
        """System and pool."""
        return f"{self.system}/{self.pool}" if self.system else self.pool

    @property
    def verdict(self) -> str:
        """Short where the count does not do, too many where even the upper end of its range is below what is in use."""
        if self.needed is None or self.needed_high is None:
            return UNKNOWN
        if self.needed > self.in_use:
            return SHORT
        return TOO_MANY if self.needed_high < self.in_use else ENOUGH

    @property
    def to_add(self) -> int:
        """Aliases missing."""
        return max((self.needed or 0) - self.in_use, 0)

    @property
    def to_gain(self) -> int:
        """Device numbers that can be given back for sure."""
        return self.in_use - (self.needed_high or 0) if self.verdict == TOO_MANY else 0

    @property
    def short_share(self) -> float:
        """Share of the busy intervals that need more than was in use."""
        return self.short_intervals / self.busy_intervals if self.busy_intervals else 0.0

    @property
    def hours(self) -> Array:
        """Largest need of each hour of the week, (7, 24), Monday first; nan where nothing was measured."""
        return self.series.hours()

    @property
    def busiest_hour(self) -> str:
        """Hour of the week with the largest need, as "Tue 10"; empty without dates."""
        hours = self.hours
        if not np.isfinite(hours).any():
            return ""
        day, hour = divmod(int(np.nanargmax(hours)), 24)
        return f"{WEEKDAYS[day]} {hour:02d}"

    def to_dict(self) -> dict[str, Any]:
        """One row of ``--json``."""
        start, decided = self.worst_start, self.decided_start
        return {
            "system": self.system, "pool": self.pool, "volumes": self.volumes, "in_use": self.in_use,
            "needed_worst": self.needed_worst, "needed_99": self.needed_99, "needed_95": self.needed_95,
            "needed_low": self.needed_low, "needed_high": self.needed_high, "verdict": self.verdict,
            "worst_start": None if start is None else start.isoformat(), "intervals": self.intervals,
            "busy_intervals": self.busy_intervals, "solved_in_full": self.solved_in_full,
            "kind": self.kind, "needed": self.needed, "short_intervals": self.short_intervals,
            "taught_by": 1, "to_add": self.to_add, "to_gain": self.to_gain,
            "busiest_hour": self.busiest_hour or None, "rules": self.rules, "supply": self.supply or None,
            "shares": self.shares, "notes": list(self.notes), "problem": self.problem,
            "decided_start": None if decided is None else decided.isoformat(),
        }  # fmt: skip
