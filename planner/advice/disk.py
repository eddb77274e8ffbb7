"""Transaction rates of disk paths, with and without minidisk cache; the hit ratio at which two kinds are equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from planner import library, render, style
from planner.answer import Answer, nested
from planner.calibrate.error_bar import interval
from planner.devices.disk import DiskPath, DiskPerformance, Mode
from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import column
from planner.results import Array
from planner.units import MEGABYTE, MICROSECOND, ends, given, is_number, readable

WORKLOADS: Final = {
    "xedit": ("eckd-minidisk", "emulated-fba"),
    "iozone": ("eckd-dedicated", "eckd-minidisk", "emulated-fba", "native-scsi"),
}
MEASURED_ON: Final = "2064-109, z/VM 5.1.0; ECKD on ESCON, SCSI on FCP"
COMPARED: Final = ("emulated-fba", "eckd-minidisk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A scenario: `workload`, `hit_ratio`, `requesters`, `processors`, and the `disks` that share the data."""

    workload: str
    hit_ratio: float
    requesters: int = 1
    processors: int = 1
    disks: int = 1

    def solve(self, path: DiskPath, mode: Mode, hit_ratio: ArrayLike | None = None) -> DiskPerformance:
        """Solve a path at the hit ratio of the setting, or at other ones, in their shape."""
        ratio = self.hit_ratio if hit_ratio is None else hit_ratio
        return path.solve(
            mode, ratio, requesters=self.requesters, processors=self.processors, disks=self.disks
        )

    def bounded(self, path: DiskPath, mode: Mode, hit_ratio: ArrayLike) -> Array:
        """Transactions at some hit ratios, at most the limit of the channel [1/s]."""
        at = self.solve(path, mode, hit_ratio)
        return np.minimum(at.rate, at.channel_bound)

    def rate(self, kind: str, mode: Mode, ratios: Sequence[float], path: DiskPath) -> Interval:
        """Transactions with their 90 % interval, at most the limit of the channel, shape (ratios,) [1/s].

        A rate above the limit keeps its relative error: the model of the channel is no better.
        """
        numbers = {"requesters": self.requesters, "processors": self.processors, "disks": self.disks}
        scenarios = [{"mode": mode, "hit_ratio": float(ratio), **numbers} for ratio in ratios]
        found = interval("rate", library.read_model(f"disk-{self.workload}-{kind}"), scenarios)
        carried = self.solve(path, mode, ratios).channel_bound
        found = found * np.minimum(carried / found.value, 1.0)
        return Interval(*(np.minimum(end, carried) for end in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskRow:
    """A kind of disk in one mode: its `path`, its performance `at` a `setting`, its `rate` with 90 % ends [1/s]."""

    kind: str
    mode: Mode
    path: DiskPath
    at: DiskPerformance
    rate: Interval
    setting: Setting

    @property
    def name(self) -> str:
        """Kind and mode, for people."""
        return f"{self.kind}, {self.mode}" if self.mode == "cached" else f"{self.kind}, cache off"

    @property
    def limit(self) -> str:
        """What limits the rate: the channel, processors or disks if nearly always busy, else the requesters."""
        rate, at = float(self.at.rate), self.at
        if self.in_doubt or (self.setting.requesters > 1 and rate >= float(at.channel_bound) * (1 - 1e-9)):
            return "channel"
        bounds = {"processors": float(at.processor_bound), "disks": float(at.disk_bound)}
        name = min(bounds, key=lambda key: bounds[key])
        # a bound is named if the rate comes close to it
        return name if rate > 0.9 * bounds[name] else "requesters"

    @property
    def in_doubt(self) -> bool:
        """Whether the rate itself, not only that of the underlying run, exceeds the limit of the channel."""
        return float(self.at.rate) > float(self.at.channel_bound) * (1 + 1e-9)

    @property
    def hit_ratio(self) -> float | None:
        """Hit ratio; None without cache."""
        return self.setting.hit_ratio if self.mode == "cached" else None

    @property
    def data_rate(self) -> float:
        """Data moved [bytes/s]."""
        return float(self.rate.value) * (self.path.read_bytes + self.path.write_bytes)

    @property
    def cpu(self) -> float:
        """Processor time of a transaction, in CP and in the guest [s]."""
        return float(self.at.cp_time) + float(self.at.virtual_time)

    @property
    def ios(self) -> float | None:
        """Virtual I/Os of a transaction, if known."""
        return self.path.virtual_ios(self.mode)

    def per_io(self, time: Array) -> float | None:
        """A processor time of a transaction over its virtual I/Os [us]."""
        return self.ios and float(time) / self.ios / MICROSECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskAnswer(Answer):
    """Rates of each kind of disk in a `setting`: `rows` by kind and mode; the `break_even_hit_ratio` of two, if any."""

    PICTURE: ClassVar[str] = "planner.advice.pictures:draw_disk"

    COLUMNS: ClassVar = (
        column("kind", "", "kind"), column("mode", "", "cache"), column("hit_ratio", "", "hits", 3),
        column("rate", "1/s", "rate", 2, "rate.value"), column("data_rate", "MB/s", "moved", 1, "data_rate"),
        column("cp", "us", "CP", 1, "at.cp_time"), column("virtual", "us", "virtual", 1, "at.virtual_time"),
        column("cp_per_virtual_io", "us", "CP/vio", 1, lambda row: row.per_io(row.at.cp_time)),
        column("virtual_per_virtual_io", "us", "virtual/vio", 1, lambda row: row.per_io(row.at.virtual_time)),
        column("processors", "", "processors", 2, lambda row: float(row.rate.value) * row.cpu),
        column("rate_per_processor", "1/s", "rate/processor", 1, lambda row: 1 / row.cpu),
        column("io_rate_per_processor", "1/s", "vio/processor", 1, lambda row: row.ios and row.ios / row.cpu),
        column("limit", "", "limit"), column("rate_low", "1/s", "at least", 1, "rate.low"),
        column("rate_high", "1/s", "at most", 1, "rate.high"),
    )  # fmt: skip
    ROWS: ClassVar = "rows"
    PARTS: ClassVar = (
        (f"Transactions, at least and at most: {style.NINETY}",
         "kind mode hit_ratio rate rate_low rate_high data_rate limit"),
        ("Processor time of a transaction, and of its virtual I/Os (vio)",
         "kind mode cp virtual cp_per_virtual_io virtual_per_virtual_io"),
        ("Processors busy, and rates per busy processor",
         "kind mode processors rate_per_processor io_rate_per_processor"),
    )  # fmt: skip
    FIGURES: ClassVar = (
        column("workload", of="setting.workload"), column("requesters", of="setting.requesters"),
        column("processor_count", of="setting.processors"), column("disks", of="setting.disks"),
        nested("rows", "rows", (*COLUMNS, column("rate_as_measured", of="at.rate"),
                                column("channel_rate", of="at.channel_bound"))),
        column("break_even_hit_ratio"),
    )  # fmt: skip

    setting: Setting
    rows: tuple[DiskRow, ...]
    break_even_hit_ratio: float | None

    @property
    def headline(self) -> str:
        """The fastest row that is not in doubt, then the doubtful ones."""
        at = self.setting
        asked = (
            f"{at.workload}, hit ratio {given(at.hit_ratio)}, {render.counted(at.requesters, 'requester')}, "
            f"{render.counted(at.processors, 'processor')}, {render.counted(at.disks, 'disk')}"
        )
        undoubted = [row for row in self.rows if not row.in_doubt]
        best = max(undoubted, key=lambda row: float(row.at.rate), default=None)
        parts = []
        if best is not None:
            low, rate, high = ends(best.rate)
            sure = " of those without a doubtful run" * any(row.in_doubt for row in self.rows)
            parts.append(f"fastest{sure} is {best.name}: {rate}/s ({low} to {high}, {style.NINETY})")
        parts += [
            f"{row.name}: at most {readable(row.rate.value)}/s, the limit of its channel (the measured "
            f"{readable(float(row.at.rate))}/s cannot have come from the disk)"
            for row in self.rows
            if row.in_doubt
        ]
        return f"{asked}: {'; '.join(parts)}."

    def marks(self) -> Iterable[str]:
        """Mark rows in doubt."""
        return ("in doubt" if row.in_doubt else "" for row in self.rows)

    def sections(self) -> tuple[render.Section, ...]:
        """Rates with their 90 % intervals, then the cost of a transaction, then rates per processor."""
        rates, *others = Answer.sections(self)
        doubt = "! limit of the channel; the underlying run moved more"
        return (replace(rates, caption=doubt if any(self.marks()) else ""), *others)

    @property
    def notes(self) -> tuple[str, ...]:
        """The break-even hit ratio, assumptions, and measurements that cannot be right."""
        lines = [self._break_even()] if set(COMPARED) <= set(self.cached) else []
        lines += [
            f"{row.kind}, {row.mode}: the underlying run shows no wait for the disk and moves "
            f"{readable(float(row.at.rate_alone * row.at.bytes_moved) / MEGABYTE)} MB/s through a channel of "
            f"{readable(row.path.channel_rate / MEGABYTE)} MB/s: its misses did not come from the disk. The channel "
            f"carries {readable(float(row.at.channel_bound))} transactions/s, the limit used here."
            for row in self.rows
            if float(row.at.rate_alone) > float(row.at.channel_bound)  # of one requester, as measured
        ]
        other = [
            kind
            for kind, row in self.cached.items()
            if row.path.measured_hit_ratio not in {None, self.setting.hit_ratio}
        ]
        if other:
            lines.append(
                f"Processor time of {', '.join(other)} with cache was measured at hit ratio .5 only, for hits and "
                "misses together; how it divides is a convention. Rates follow from elapsed times, measured for each."
            )
        if self.setting.requesters > 1 or self.setting.processors > 1:
            lines.append(
                "One requester on one processor was measured; more are modeled as a closed queueing network."
            )
        return (*lines, f"Measured on {MEASURED_ON}.")

    @property
    def cached(self) -> dict[str, DiskRow]:
        """The rows with minidisk cache, by kind."""
        return {row.kind: row for row in self.rows if row.mode == "cached"}

    def _break_even(self) -> str:
        if self.break_even_hit_ratio is not None:
            kinds = " and ".join(COMPARED)
            return f"{kinds}, both cached, are last equal at hit ratio {readable(self.break_even_hit_ratio)}."
        rows = [self.cached[kind] for kind in COMPARED]
        channels = " and ".join(readable(row.path.channel_rate / MEGABYTE) for row in rows)
        faster = max(reversed(rows), key=lambda row: float(row.rate.value))
        return f"{faster.kind} is faster at every hit ratio; but the channels differ: {channels} MB/s."


def disk_paths(workload: str, kinds: Sequence[str] = ()) -> dict[str, DiskPath]:
    """Read the shipped disk paths of a workload by kind of disk; all measured ones if `kinds` is empty."""
    InputError.unless_one_of("workload", workload, WORKLOADS)
    for kind in kinds:
        if kind not in WORKLOADS[workload]:
            raise InputError("kind", kind, f"one of {', '.join(WORKLOADS[workload])} ({workload})")
    return {
        kind: DiskPath.from_model(library.read_model(f"disk-{workload}-{kind}"))
        for kind in kinds or WORKLOADS[workload]
    }


def disk_rates(setting: Setting, kinds: Sequence[str] = ()) -> DiskAnswer:
    """Transaction rate of each kind of disk, with and without minidisk cache.

    Parameters
    ----------
    setting : Setting
        Workload, hit ratio, requesters, processors, disks.
    kinds : sequence of str, optional
        Kinds of disk; all measured ones if empty.

    Returns
    -------
    DiskAnswer
        One row per kind and mode.

    Raises
    ------
    InputError
        An unknown workload or kind, or a number outside its domain.
    """
    if not is_number(setting.hit_ratio):
        raise InputError("hit_ratio", setting.hit_ratio, "one number from 0 to 1")
    paths = disk_paths(setting.workload, kinds)
    rows = tuple(
        DiskRow(kind=kind, mode=mode, path=path, at=setting.solve(path, mode), setting=setting,
                rate=setting.rate(kind, mode, [setting.hit_ratio], path)[0])
        for kind, path in paths.items()
        for mode in path.modes
    )  # fmt: skip
    return DiskAnswer(setting=setting, rows=rows, break_even_hit_ratio=_break_even(setting, paths))


def _break_even(setting: Setting, paths: Mapping[str, DiskPath]) -> float | None:
    """Highest hit ratio at which both cached paths have the same rate; None if one is always faster."""
    from scipy.optimize import brentq

    if not set(COMPARED) <= set(paths):
        return None
    one, other = (paths[kind] for kind in COMPARED)

    def difference(ratio: float) -> float:
        return float(setting.bounded(one, "cached", ratio) - setting.bounded(other, "cached", ratio))

    grid = np.linspace(0.0, 1.0, 501)  # hit ratios between which a break-even is sought
    rates = [setting.bounded(path, "cached", grid) for path in (one, other)]
    (crossings,) = np.nonzero(np.diff(rates[0] > rates[1]))
    if not crossings.size:
        return None
    last = int(crossings[-1])
    return float(brentq(difference, grid[last], grid[last + 1], xtol=1e-9))
