"""What a reader keeps of a system from sample to sample, and the samples that ended in a piece of the file."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.monitor.blocks import Integers
from planner.reports.monitor.decide import PoolBits
from planner.reports.monitor.devices import NUMBERS, DeviceConfiguration, Static
from planner.results import Array

if TYPE_CHECKING:
    import polars as pl

SECOND: Final = 1e6  # us
USUAL: Final = 99  # samples that the usual length of an interval is the median of
Columns = dict[str, NDArray[Any]]


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
    since: dict[int, int] = field(default_factory=dict)  # first sample that has a kind of record
    end: int | None = None  # of the last [us]
    lengths: deque[float] = field(default_factory=lambda: deque(maxlen=USUAL))
    last: dict[int, Columns] = field(default_factory=dict)
    open: dict[int, Columns] = field(default_factory=dict)  # rows of a sample that has not ended
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
        import polars as pl

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

    def aliases(self, sample: Integers, pool: NDArray[np.uint32], member: NDArray[np.bool_]) -> pl.Series:
        """Aliases of the pool that each row belongs to; null where the sample says nothing of it."""
        import polars as pl

        if self.pools is None:
            return pl.Series([None], dtype=pl.UInt16).new_from_index(0, sample.size)
        names, place = np.unique(self.pools["rows"]["HPPOOLNM"], return_inverse=True)
        where = np.zeros(NUMBERS, np.int64)
        where[names] = np.arange(1, names.size + 1)
        table = np.zeros((self.times.size, names.size + 1), np.int64)
        table[self.pools["sample"] - self.first, place + 1] = self.pools["rows"]["HPPNALIS"] + 1
        found = table[sample - self.first, where[pool]] - 1
        series = pl.Series(found)
        return series.set(pl.Series((found < 0) | ~member), None).cast(pl.UInt16)


def moment(time: int) -> str:
    """UTC of a time [us since 1970] for a message."""
    try:
        return (datetime(1970, 1, 1) + timedelta(microseconds=time)).isoformat(
            sep=" ", timespec="milliseconds"
        )
    except OverflowError:
        return f"{time} us since 1970"


@cache
def hexadecimal(most: int) -> pl.Series:
    """Device numbers below `most`."""
    import polars as pl

    return pl.Series([f"{number:04X}" for number in range(most)])


@cache
def decimal() -> pl.Series:
    """All pool numbers, and null."""
    import polars as pl

    return pl.Series([str(number) for number in range(NUMBERS)] + [None])
