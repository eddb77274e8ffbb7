"""What a reader keeps from sample to sample: the system, its configuration, pairs of records, and what to say."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planner.reports import schema
from planner.reports.monitor.layouts import Kind, PoolBits, Words, full_number
from planner.results import Array, Flags, Integers

NUMBERS: Final = 2**16  # pool numbers, and device numbers of a subchannel set
MOST_EVENTS: Final = 1e6  # 1/s; no device, pool or data space counts faster
REASONS: Final = {
    "stopped": "measurement was switched off in between (D6R14)",
    "restarted": "their counters started again",
    "contradict": "their counts in 16 and in 32 bits contradict each other",
    "came": "there is no record of them in the sample before",
    "went": "the sample after has no record of them",
}
LEFT_OUT: Final = ("stopped", "restarted", "contradict", "came")
SECOND: Final = 1e6  # us
Columns = dict[str, NDArray[Any]]


def previous(keys: NDArray[Any], samples: Integers) -> tuple[Integers, Integers | None]:
    """Row of the same key one sample before, in order of samples, or -1; and a second row of a key in one, if any."""
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
    """Rows `now` that have a row `before`."""

    now: Integers
    before: Integers

    @classmethod
    def of(cls, before: Integers) -> Pairs:
        """Pairs of rows from the row before each, -1 without one."""
        now = np.flatnonzero(before >= 0)
        return cls(now, before[now])

    def rows(self, every: Columns) -> Columns:
        """Columns of the rows `now`."""
        return {name: values[self.now] for name, values in every.items()}

    def rise(self, counter: Words) -> Words:
        """Rise of a counter modulo 2**32."""
        return counter[self.now] - counter[self.before]

    def counted(self, counter: Words, most: Array) -> tuple[Words, Flags]:
        """Rise of a counter, and where it started again: it fell, and had it wrapped, it rose by more than `most`."""
        rise = self.rise(counter)
        return rise, (counter[self.now] < counter[self.before]) & (rise > most)


class Notes:
    """Collects sentences, and counts of rows by reason and name."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}
        self.counted: dict[tuple[str, str], Counter[str]] = {}
        self.samples = 0

    def add(self, sentence: str) -> None:
        """Say something, once."""
        self.said.setdefault(sentence)

    def count(self, record: str, reason: str, name: str) -> None:
        """Count a row of a kind of record that a reason of `REASONS` left out, or after which one is missing."""
        self.counted.setdefault((record, reason), Counter())[name] += 1

    def sentences(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.said, *(self._sentence(*key) for key in self.counted))

    def _sentence(self, record: str, reason: str, most: int = 5) -> str:
        names = self.counted[record, reason]
        each = names.most_common(most)
        shown = ", ".join(name if times == 1 else f"{name} ({times} times)" for name, times in each)
        others = f" and {len(names) - most} others" if len(names) > most else ""
        rows = names.total()
        times, left_out = ("time", "interval is") if rows == 1 else ("times", "intervals are")
        what = f"{left_out} left out" if reason in LEFT_OUT else times
        return f"{record}: {rows} {what}, {REASONS[reason]}: {shown}{others}"


@dataclass(slots=True)
class DeviceConfiguration:
    """What sample configuration records say: devices by subchannel, types, bases of classic aliases."""

    numbers: dict[int, int] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    bases: dict[int, int] = field(default_factory=dict)

    def add(self, rows: NDArray[Any]) -> None:
        """Take device configuration records (D1R6)."""
        numbers = full_number(rows["RDEVSID"], rows["RDEVDEV"]).tolist()
        bases = full_number(rows["CALRDEVSID"], rows["CALRDEVDEV"]).tolist()
        columns = (rows["RDEVSID"].tolist(), numbers, rows["RDEVDVID"].tolist(), bases)
        for sid, number, type_, base in zip(*columns, strict=True):
            self.numbers[sid] = number
            self.types[number] = f"{type_:04X}" if type_ else ""
            if base and base != number:
                self.bases[number] = base


def highest(device: Integers | Words) -> int:
    """Number of device numbers that there are: those of one subchannel set, or of all."""
    return NUMBERS * (4 if (device >= NUMBERS).any() else 1)


@dataclass(frozen=True, slots=True)
class Static:
    """Type, role and base of every device number, from the configuration."""

    types: pl.Series
    alias_of: pl.Series
    eckd: Flags
    known: Flags
    alias: Flags
    helped: Flags  # bases of classic aliases

    @classmethod
    def of(cls, configuration: DeviceConfiguration, most: int) -> Static:
        """Spread the configuration over all device numbers below `most`."""
        most = max(most, highest(np.array([*configuration.types], np.int64)))
        flags = np.zeros((4, most), bool)
        types: list[str | None] = [None] * most
        alias_of = types.copy()
        for device, type_ in configuration.types.items():
            types[device] = type_ or None
            flags[1, device] = True
            flags[0, device] = type_ in schema.ECKD_DISKS
        for device, base in configuration.bases.items():
            if flags[0, device] and flags[0, base]:  # a base of another kind is none
                types[device], alias_of[device] = f"->{base:04X}", f"{base:04X}"
                flags[2, device] = flags[3, base] = True
        return cls(pl.Series(types, dtype=pl.String), pl.Series(alias_of, dtype=pl.String), *flags)


@dataclass(slots=True)
class RecordedSystem:
    """What is known of the system that the records come from, and the last sample of each kind of record."""

    name: str | None = None
    ipl: int = 0
    offset: int | None = None  # s; its clock less UTC
    format_1: bool | None = None
    configuration: DeviceConfiguration = field(default_factory=DeviceConfiguration)
    static: Static | None = None
    length: int = 0  # of its device records
    shift: int | None = None
    wide: bool | None = None  # whether counts of I/Os have 32 bits
    bits: PoolBits | None = None
    queue: tuple[str, str] | None = None  # fields: I/Os found, high-frequency samples
    labels: dict[int, str | None] = field(default_factory=dict)
    samples: int = 0  # that ended
    since: dict[Kind, int] = field(default_factory=dict)  # first sample that has a kind of record
    end: int | None = None  # of the last [us]
    lengths: deque[float] = field(default_factory=lambda: deque(maxlen=99))  # of the last intervals
    last: dict[Kind, Columns] = field(default_factory=dict)
    open: dict[Kind, Columns] = field(default_factory=dict)  # rows of a sample that has not ended
    stops: list[tuple[int, int]] = field(default_factory=list)  # device, us


@dataclass(slots=True)
class SampleSpan:
    """Samples that ended in a piece of a file: number of the first, ends of the one before and of each [us, UTC]."""

    path: Path
    system: RecordedSystem
    first: int
    times: Integers
    known: bool  # whether there was a sample before
    pools: Columns | None = None

    def elapsed(self, sample: Integers) -> Array:
        """Length of the interval that ends with each sample [s]."""
        return np.asarray((np.diff(self.times) / SECOND)[sample - self.first])

    def common(self, sample: Integers, line: NDArray[np.uint32]) -> dict[str, Any]:
        """Columns that rows of all tables have."""
        offset = self.system.offset or 0
        start = self.times[sample - self.first] + offset * 1_000_000
        return {
            "system": self.system.name,
            "start": pl.Series(start).cast(pl.Datetime("us")),
            "utc_offset": offset,
            "interval": self.elapsed(sample),
            "file": str(self.path),
            "line": line,
        }

    def usual(self) -> float:
        """Usual length of an interval [s]."""
        return median(self.system.lengths) if self.system.lengths else 0.0

    def aliases(self, sample: Integers, pool: NDArray[np.uint32], member: Flags) -> pl.Series:
        """Aliases of the pool that each row belongs to; null where the sample says nothing of it."""
        if self.pools is None:
            return pl.Series([None], dtype=pl.UInt16).new_from_index(0, sample.size)
        names, place = np.unique(self.pools["HPPOOLNM"], return_inverse=True)
        where = np.zeros(NUMBERS, np.int64)
        where[names] = np.arange(1, names.size + 1)
        table = np.zeros((self.times.size, names.size + 1), np.int64)
        table[self.pools["sample"] - self.first, place + 1] = self.pools["HPPNALIS"] + 1
        found = table[sample - self.first, where[pool]] - 1
        return pl.Series(found).set(pl.Series((found < 0) | ~member), None).cast(pl.UInt16)


def moment(time: int) -> str:
    """UTC of a time [us since 1970] for a message."""
    try:
        found = datetime(1970, 1, 1) + timedelta(microseconds=time)
        return found.isoformat(sep=" ", timespec="milliseconds")
    except OverflowError:
        return f"{time} us since 1970"


@cache
def hexadecimal(most: int) -> pl.Series:
    """Device numbers below `most`."""
    return pl.Series([f"{number:04X}" for number in range(most)])
