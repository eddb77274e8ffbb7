"""What one pool or volume needs over its intervals: the count in each, which of them decides, and what is uneven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, PlannerError
from planner.measurements import Run
from planner.measurements.choose import SAME_LENGTH, longer, steps
from planner.measurements.over_time import RunsOverTime
from planner.quantity import column
from planner.render.text import ENOUGH, SHORT, SPARE, UNKNOWN, counted
from planner.results import Array, Flags
from planner.site.series import HOUR, WEEKDAYS, began, busy_hours, daily_medians, jump_note
from planner.sizing.comparison import Count
from planner.sizing.gaps import below_floor, least_volumes, without_rows
from planner.sizing.need import Need
from planner.supply import PoolAnswer
from planner.units import readable

TOO_MANY: Final = "too many"
VERDICTS: Final = (SHORT, UNKNOWN, TOO_MANY, ENOUGH)  # in the order of the answer


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

    @classmethod
    def none(cls) -> NeedSeries:
        """No interval at all."""
        empty: dict[str, Any] = {each.name: np.zeros(0) for each in fields(cls)}
        return cls(**empty | {"start": np.zeros(0, "datetime64[us]"), "busy": np.zeros(0, bool)})

    def hours(self) -> Array:
        """Largest need seen in each hour of the week, (7, 24), Monday first; nan where nothing was measured."""
        found = np.full(7 * 24, np.nan)
        there = ~np.isnat(self.start) & np.isfinite(self.needed)
        hour = self.start[there].astype("datetime64[h]").astype(np.int64)
        place = (hour + 3 * 24) % (7 * 24)  # 1970-01-01 was a Thursday
        np.fmax.at(found, place, self.needed[there])
        return found.reshape(7, 24)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolCases:
    """A group over time with a case for each interval, by its place, and which intervals are busy."""

    pool: RunsOverTime
    cases: Mapping[int, tuple[Run, ...]]
    busy: Flags

    @classmethod
    def of(cls, pool: RunsOverTime) -> PoolCases:
        """All intervals with rows enough that were measured without contradiction; an empty case did no I/O."""
        runs = ((int(k), pool.runs[k]) for k in np.flatnonzero(covered(pool)))
        sound = ((k, run) for k, run in runs if not isinstance(run, PlannerError))
        cases = {k: () if run is None else (run,) for k, run in sound}
        there = np.isin(np.arange(pool.start.size), [k for k, case in cases.items() if case])
        return cls(pool=pool, cases=cases, busy=busy_intervals(pool.load, there))

    def needed(self, needs: Sequence[Need]) -> Array:
        """Count of each interval, (intervals,): nan where nothing was asked or solved, inf where no count serves."""
        found = np.full(self.pool.start.size, np.nan)
        found[list(self.cases)] = [each.rank for each in needs]
        return found

    @property
    def mattering(self) -> Flags:
        """Busy intervals that are not too quiet to matter, (intervals,)."""
        loud = [k for k, case in self.cases.items() if case and not below_floor(case[-1])]
        return self.busy & np.isin(np.arange(self.busy.size), loud)

    def problems(self, needs: Sequence[Need]) -> dict[int, str]:
        """Why intervals have no count, by their place."""
        found = {k: str(each) for k, each in enumerate(self.pool.runs) if isinstance(each, PlannerError)}
        return found | {k: each.problem for k, each in zip(self.cases, needs, strict=True) if each.problem}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolNeed:
    """What one pool, or one volume with its own aliases, needs."""

    system: str  # whose
    pool: str
    kind: str = "pool"  # "pool" or "volume"
    volumes: int = 0  # volumes, and aliases in the last interval
    in_use: int = 0
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
    counters: PoolAnswer | None = None  # where they decide: what is needed is theirs
    notes: tuple[str, ...] = ()  # gaps, members without rows, and the like
    problem: str | None = None  # why there is no answer
    series: NeedSeries = field(default_factory=NeedSeries.none)  # over time
    run: Run | None = None  # the measurement of the interval that decides, for whoever asks more of it

    @property
    def name(self) -> str:
        """System and pool."""
        return f"{self.system}/{self.pool}" if self.system else self.pool

    @property
    def count(self) -> Count:
        """The count beside what is in use."""
        small = self.counters is None and self.run is not None and below_floor(self.run)
        return Count(self.needed, self.needed_low, self.needed_high, self.in_use, small)

    @property
    def verdict(self) -> str:
        """Short where the count does not do, too many where even the upper end of its range is below what is in use."""
        verdict = self.count.verdict
        return TOO_MANY if verdict == SPARE else verdict

    @property
    def exit_code(self) -> int:
        """1 where it is short, or no count serves; 2 where it has no answer for another reason."""
        if self.problem:
            return 1 if np.isinf(self.series.needed).any() else 2
        return int(self.verdict == SHORT)

    @property
    def to_add(self) -> int:
        """Aliases missing."""
        return max(self.count.change, 0)

    @property
    def to_gain(self) -> int:
        """Device numbers to spare even at the upper end of the range."""
        return self.count.spare if self.verdict == TOO_MANY else 0

    @property
    def short_share(self) -> float:
        """Share of the busy intervals that need more than was in use."""
        return self.short_intervals / self.busy_intervals if self.busy_intervals else 0.0

    @property
    def busiest_hour(self) -> str:
        """Hour of the week with the largest need, of equals the worst interval's, as "Tue 10"; empty without dates.

        An interval that no count serves needs most.
        """
        hours, worst = self.series.hours().ravel(), self.worst_start
        if not np.isfinite(hours).any():
            return ""
        place = int(np.nanargmax(hours))
        if worst is not None:
            at = 24 * worst.weekday() + worst.hour
            place = at if self.needed_worst is None or hours[at] == hours[place] else place
        day, hour = divmod(place, 24)
        return f"{WEEKDAYS[day]} {hour:02d}"


COUNTS: Final = tuple(
    column(key, label=label, decimals=0)
    for key, label in (("volumes", "volumes"), ("in_use", "in use"), ("needed_worst", "worst"), ("needed_99", "99 %"),
                       ("needed_95", "95 %"))
)  # fmt: skip
COLUMNS: Final = (
    *map(column, ("system", "pool")), *COUNTS, *map(column, ("needed_low", "needed_high", "verdict")),
    column("worst_start", of="worst_start"),
    *map(column, ("intervals", "busy_intervals", "solved_in_full", "kind", "needed", "short_intervals")),
    column("taught_by", of=lambda need: 1), *map(column, ("to_add", "to_gain")),
    column("busiest_hour", of=lambda need: need.busiest_hour or None),
    column("supply", of=lambda need: need.supply or None), column("problem"),
    column("decided_start", of="decided_start"),
)  # fmt: skip
FIGURES: Final = (*COLUMNS, *map(column, ("rules", "shares", "notes")))


BUSY: Final = 0.25  # of the load of the 99th percentile: an interval below it is not busy


def busy_intervals(load: Array, there: Flags) -> Flags:
    """Intervals with a quarter or more of the load [erlang] of the busiest ones; `there` shows which did I/O."""
    busy = np.zeros(load.size, dtype=bool)
    if there.any():
        busy[there] = load[there] >= BUSY * np.quantile(load[there], 0.99)
    return busy


def deciding(
    needed: Array, load: Array, seconds: Array, busy: Flags, share: float, mattering: Flags | None = None
) -> int | None:
    """Place of the busy interval whose count is enough for a share of the busy time; None without any.

    As in `worst_by_need` a `mattering` interval ranks above one too quiet to; of equals the busiest, then the first.
    """
    known = np.flatnonzero(busy & ~np.isnan(needed))
    if not known.size:
        return None
    matters = busy if mattering is None else mattering
    order = known[np.lexsort((-known, load[known], needed[known], matters[known]))]
    summed = np.cumsum(seconds[order])
    return int(order[np.argmax(summed >= share * summed[-1] * (1 - 1e-12))])


def time_quantile(values: Array, seconds: Array, share: float) -> float:
    """Smallest value that holds for a share of the time; nan without any."""
    at = deciding(values, np.zeros(values.size), seconds, ~np.isnan(values), share)
    return float("nan") if at is None else float(values[at])


def whole(count: float) -> int | None:
    """A count; None where it is not known, or no count serves."""
    return int(count) if np.isfinite(count) else None


ALIKE: Final = 0.1  # by which hours of the day differ that are equally busy


def outside_busy_hour(
    name: str, start: NDArray[np.datetime64], seconds: Array, io_rate: Array, at: int
) -> str:
    """Say that an interval is outside of the busy hour of its day; empty where it is not, or in an hour as busy."""
    if np.isnat(start).any():
        return ""
    try:
        first, _, hours = busy_hours(start, io_rate)
    except InputError:  # longer than a day
        return ""
    day = start[at].astype("datetime64[D]")
    hour = float(hours[int((day - np.datetime64(first)).astype(np.int64))])
    begin = float((start[at] - day) / np.timedelta64(1, "s"))
    if np.isnan(hour) or (begin < HOUR * (hour + 1) and begin + float(seconds[at]) > HOUR * hour):
        return ""
    hour_of = (start - start.astype("datetime64[D]")) / np.timedelta64(1, "s") // HOUR
    usual, here = (float(np.mean(io_rate[hour_of == each])) for each in (hour, begin // HOUR))
    if here >= (1 - ALIKE) * usual:
        return ""
    when = f"{int(begin // HOUR):02d}:{int(begin % HOUR // 60):02d}"
    return f"{name} is decided at {when} on {day}, not in its busy hour at {hour:02.0f}:00"


def covered(pool: RunsOverTime) -> Flags:
    """Intervals with rows of more than half of the volumes, (intervals,)."""
    return np.asarray(pool.bases > least_volumes(pool.bases))


def notes_of(pool: RunsOverTime) -> list[str]:
    """Say what is uneven, a note a sort."""
    dated = not bool(np.isnat(pool.start).any())
    notes = without_rows(pool.bases, lambda at: began(pool.start, at)) + _lengths(pool.seconds)
    if dated:
        notes += _gaps(pool.start, pool.seconds, pool.clock) + _units(pool)
    return notes


def _lengths(seconds: Array) -> list[str]:
    uneven = np.abs(seconds / float(np.median(seconds)) - 1) > SAME_LENGTH
    if not uneven.any():
        return []
    return [
        f"intervals of {readable(seconds.min())} to {readable(seconds.max())} s: shares are of time, and a long "
        "interval hides its worst minutes"
    ]


def _gaps(start: NDArray[np.datetime64], seconds: Array, clock: Array) -> list[str]:
    """Time without measurements, clocks that were set back, and intervals that overlap."""
    notes = []
    step, seconds = steps(start, clock), seconds[:-1]
    gaps = step > 1.5 * np.maximum(seconds, 1.0)
    if gaps.any():
        missing = readable(float((step - seconds)[gaps].sum()) / 3600.0)
        hours = "hour" if missing == "1" else "hours"
        notes.append(
            f"{counted(int(gaps.sum()), 'gap')}, {missing} {hours} without measurements: nothing is said of them"
        )
    moved = -np.nan_to_num(np.diff(clock))
    back = (moved > 0) & (step - moved < seconds)
    if back.any():
        many = counted(max(round(float((moved[back] / seconds[back]).sum())), 1), "interval")
        notes.append(f"clock set back by {many}, as where summer time ends: both hours count")
    early = step < (1 - SAME_LENGTH) * seconds
    if early.any():
        notes.append(longer(early, seconds, start.astype("datetime64[s]"), step))
    return notes


def _units(pool: RunsOverTime) -> list[str]:
    """Say where rates or service times change as a unit does."""
    there = pool.io_rate > 0
    if not there.any():
        return []
    rate = pool.io_rate[there]
    return [
        note.rstrip(".")
        for what, numbers in (("I/O rate", rate), ("service time", pool.load[there] / rate))
        for note in jump_note(what, *daily_medians(pool.start[there], numbers))
    ]
