"""Rows of one interval of the one table, as arrays; and the choice among them that a question makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.lazy import pl
from planner.measurements.choose import JOINED, joined_intervals
from planner.measurements.read import Measured
from planner.reports.membership import device_range
from planner.reports.moments import INTERVAL, MOMENT, with_intervals
from planner.reports.schema import ALIAS, BASE, VOLUME, refuse_twice
from planner.results import Array, Flags, Integers

Kept = TypeVar("Kept")
Words = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Columns(Generic[Kept]):
    """Columns of rows by name, read when asked for; all missing where the table does not have one."""

    rows: Rows
    read: Callable[[pl.DataFrame, str], Kept]

    def __getitem__(self, name: str) -> Kept:
        """One of them."""
        return self.rows.column(name, lambda whole: self.read(whole.table, name))


def _floats(frame: pl.DataFrame, name: str) -> Array:
    if name not in frame.columns:
        return np.full(frame.height, np.nan)
    return frame[name].to_numpy().astype(np.float64)  # nan for each null


def _words(frame: pl.DataFrame, name: str) -> Words:
    values = frame[name].to_list() if name in frame.columns else [None] * frame.height
    return np.array(values, dtype=object)


def _interval(frame: pl.DataFrame, name: str) -> Interval:
    return Interval(*(_floats(frame, f"{name}{end}") for end in ("_low", "", "_high")))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of the one table, mostly those of one interval of one file; its columns as arrays.

    `table`: the table that they stand in; `index`: which of its rows, all where None; `known`: columns of the whole
    table, each made once for all rows that are taken from it.
    """

    table: pl.DataFrame
    index: Integers | None = None
    known: dict[str, Any] = field(default_factory=dict, repr=False)

    def column(self, name: str, made: Callable[[Rows], Kept]) -> Kept:
        """An array over the rows, or an interval of arrays; `made` once of the whole table, then known by `name`."""
        if name not in self.known:
            self.known[name] = made(Rows(self.table, None, self.known))
        found: Kept = self.known[name] if self.index is None else self.known[name][self.index]
        return found

    @property
    def file(self) -> Path:
        """Where they stand."""
        return Path(self._first("file") or "data frame")

    @property
    def source(self) -> str:
        """Name of the measurement."""
        return self._first("source") or ""

    @property
    def start(self) -> datetime | None:
        """When the interval began; None where the source does not say."""
        found: datetime | None = self._first("start")
        return found

    def _first(self, name: str) -> Any:
        return self.words[name][0] if len(self) else None

    @property
    def words(self) -> _Columns[Words]:
        """Columns such as device, label, kind or pool, shape (rows,), None where the source says nothing."""
        return _Columns(self, _words)

    @property
    def numbers(self) -> _Columns[Interval]:
        """Measured columns such as io_rate or service, shape (rows,), SI, nan where the source says nothing."""
        return _Columns(self, _interval)

    def filled(self, name: str) -> Array:
        """Take the value of a number."""
        return self.column(f"{name} or 0", lambda whole: np.nan_to_num(whole.numbers[name].value))

    def _plain(self, name: str) -> Array:
        return self.column(name, lambda whole: _floats(whole.table, name))

    @property
    def pool_aliases(self) -> Array:
        """Aliases of the pool of each row, shape (rows,); nan where the source says nothing."""
        return self._plain("pool_aliases")

    @property
    def together(self) -> Array | float:
        """How much the I/Os of each row come together with those of others, shape (rows,) or nan where all unknown."""
        found = self._plain("together")
        return math.nan if np.isnan(found).all() else found

    @property
    def queue_samples(self) -> float:
        """Fewest samples that a queue of them is the mean of; nan where none was sampled."""
        return float(np.fmin.reduce(self._plain("queue_samples"), initial=math.nan))

    @property
    def joined(self) -> int:
        """Most measured intervals that a row is the mean of."""
        return int(np.fmax.reduce(self._plain(JOINED), initial=1.0))

    @property
    def seconds(self) -> Array:
        """Time that each row was measured, shape (rows,) [s]; nan where the source says nothing."""
        return self._plain("interval")

    @property
    def line(self) -> Integers:
        """Line of the file, shape (rows,)."""
        return np.nan_to_num(self._plain("line")).astype(np.int64)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.table.height) if self.index is None else self.index.size

    def __getitem__(self, index: Any) -> Rows:
        """Some of the rows."""
        found = np.asarray(index)
        found = found.nonzero()[0] if found.dtype == bool else found.astype(np.int64, copy=False)
        return Rows(self.table, found if self.index is None else self.index[found], self.known)

    def error(self, row: int, problem: str) -> ReportError:
        """Say what is wrong with a row."""
        return ReportError(self._file_of(row), problem, line=int(self.line[row]))

    def _file_of(self, row: int) -> Path:
        return Path(self.words["file"][row] or self.file)

    @property
    def names(self) -> list[str]:
        """Device number of each row; its label where it has none."""
        return list(self.column("name", _names).tolist())

    def of_kind(self, *kinds: str) -> Flags:
        """Which rows are of some kinds."""
        return self.column(" ".join(kinds), lambda whole: np.isin(whole.words["kind"].astype(str), kinds))

    @property
    def is_base(self) -> Flags:
        """Whether a row is a volume that may have aliases."""
        return self.of_kind(BASE, VOLUME)

    @property
    def is_alias(self) -> Flags:
        """Whether a row is a HyperPAV alias."""
        return self.of_kind(ALIAS)

    @property
    def pooled(self) -> Flags:
        """Which rows name their pool, shape (rows,)."""
        return self.column("pooled", lambda whole: np.not_equal(whole.words["pool"], np.array(None)))

    def required(self, name: str) -> Interval:
        """Take a number that every row must have."""
        found = self.numbers[name]
        missing = np.flatnonzero(np.isnan(found.value))
        if missing.size:
            row = int(missing[0])
            wanted = f"a number in line {self.line[row]} of {self._file_of(row)}; there is none"
            raise InputError(f"{name} of device {self.names[row]}", None, wanted)
        return found


def _names(rows: Rows) -> Words:
    pairs = zip(rows.words["device"], rows.words["label"], strict=True)
    return np.array([str(device if device is not None else label) for device, label in pairs], dtype=object)


def intervals(measured: Measured) -> list[Rows]:
    """Cut the table of devices into its intervals.

    Parameters
    ----------
    measured : Measured
        What was read.

    Returns
    -------
    list of Rows
        The newest last where all have a date, else in the order of reading. Rows of one moment are one interval, from
        whatever files; without a date those of each file and source are.

    Raises
    ------
    ReportError
        A device twice in one interval.
    """
    if not measured.devices.height:
        return []
    refuse_twice(measured.devices)
    frame = joined_intervals(measured.devices)
    parts = with_intervals(frame, "system").partition_by("system", *INTERVAL, maintain_order=True)
    if all(part[MOMENT][0] is not None for part in parts):
        parts.sort(key=lambda part: str(part[MOMENT][0]))
    return [Rows(part.drop(INTERVAL)) for part in parts]


class Devices:
    """Device numbers, ranges and labels, as people type them: ``522A``, ``522A-5231``, ``522A,522C``, ``BWPVS0``.

    Parameters
    ----------
    text : str
        What was typed.
    argument : str
        Where, for an error message.
    labels : bool
        Whether volume labels may stand among them.
    """

    def __init__(self, text: str, argument: str, *, labels: bool = True) -> None:
        if not isinstance(text, str):
            raise InputError(argument, text, "device numbers in one text, such as '522A,5230-5234'")
        self.text, self.argument = text, argument
        self.ranges: list[tuple[int, int]] = []
        self.labels: set[str] = set()
        for word in filter(None, (part.strip() for part in text.split(","))):
            try:
                self.ranges.append(device_range(word))
            except ValueError as error:
                if not labels or "lower to a higher" in str(error):
                    raise InputError(argument, word, str(error)) from None
            self.labels.add(word.upper())
        if not self.labels and not self.ranges:
            raise InputError(argument, text, "device numbers such as 522A, 522A-5231 or 522A,522C")

    def chosen(self, rows: Rows) -> Flags:
        """Which rows are meant."""
        words = zip(rows.names, rows.words["label"], rows.words["device"], strict=True)
        return np.array([self._means(*each) for each in words], dtype=bool)

    def means(self, name: str) -> bool:
        """Whether a device is meant of which only its number or label is known."""
        number = name if name and set(name) <= set("0123456789ABCDEF") else None
        return self._means(name, None, number)

    def _means(self, name: str, label: str | None, device: str | None) -> bool:
        if not self.labels.isdisjoint((name.upper(), (label or "").upper())):
            return True
        return device is not None and any(low <= int(device, 16) <= high for low, high in self.ranges)


def shown(names: Sequence[str], most: int = 4) -> str:
    """Name devices in short: runs of adjacent numbers as ranges, at most a few of them."""
    runs: list[list[str]] = []
    for name in sorted(set(names)):
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ", ".join(parts[:most]) + (", ..." if len(parts) > most else "")


def _follows(first: str, second: str) -> bool:
    try:
        return int(second, 16) == int(first, 16) + 1
    except ValueError:
        return False
