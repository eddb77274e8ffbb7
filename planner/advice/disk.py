"""Transactions a disk path carries, with and without minidisk cache; the hit ratio at which two kinds are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner import library, render
from planner.devices.disk import DiskPath, Mode
from planner.devices.disk_performance import DiskPerformance
from planner.errors import InputError
from planner.tabular import Tabular
from planner.units import MEGABYTE, MICROSECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORKLOADS: Final = {
    "xedit": ("eckd-minidisk", "emulated-fba"),
    "iozone": ("eckd-dedicated", "eckd-minidisk", "emulated-fba", "native-scsi"),
}
GRID: Final = 501  # hit ratios among which a break-even is looked for
NEARLY: Final = 0.9  # share of a bound from which the bound is named
COMPARED: Final = ("emulated-fba", "eckd-minidisk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is asked: `workload`, `hit_ratio`, `requesters`, `processors`, `disks` that the data are spread over."""

    workload: str
    hit_ratio: float
    requesters: int = 1
    processors: int = 1
    disks: int = 1

    def solve(self, path: DiskPath, mode: Mode, hit_ratio: ArrayLike | None = None) -> DiskPerformance:
        """Solve a path for the setting.

        Parameters
        ----------
        path : DiskPath
            The path.
        mode : {"off", "cached"}
            Without minidisk cache, or through it.
        hit_ratio : array_like, optional
            Instead of the setting's own.

        Returns
        -------
        DiskPerformance
            In the shape of the hit ratio.
        """
        ratio = self.hit_ratio if hit_ratio is None else hit_ratio
        return path.solve(
            mode, ratio, requesters=self.requesters, processors=self.processors, disks=self.disks
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskRow:
    """A kind of disk in one mode: `kind`, `mode`, its `path`, what it does (`at`) in a `setting`."""

    kind: str
    mode: Mode
    path: DiskPath
    at: DiskPerformance
    setting: Setting

    @property
    def limit(self) -> str:
        """What bounds the rate: the channel, processors or disks if nearly always busy, else too few requesters."""
        rate, at = float(self.at.rate), self.at
        if self.setting.requesters > 1 and rate >= float(at.channel_bound) * (1 - 1e-9):
            return "channel"
        bounds = {"processors": float(at.processor_bound), "disks": float(at.disk_bound)}
        name = min(bounds, key=lambda key: bounds[key])
        return name if rate > NEARLY * bounds[name] else "requesters"

    @property
    def beats_channel(self) -> bool:
        """Whether one requester, as measured, moves more than the channel carries."""
        return float(self.at.rate_alone) > float(self.at.channel_bound)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` shows of the row.

        Returns
        -------
        dict
            Numbers with their unit as a suffix.
        """
        at, ios = self.at, self.path.virtual_ios(self.mode)
        rate, cp, virtual = float(at.rate), float(at.cp_time), float(at.virtual_time)
        return {
            "kind": self.kind,
            "mode": self.mode,
            "hit_ratio": self.setting.hit_ratio if self.mode == "cached" else None,
            "rate": rate,
            "data_rate_mb_per_s": rate * (self.path.read_bytes + self.path.write_bytes) / MEGABYTE,
            "cp_us": cp / MICROSECOND,
            "virtual_us": virtual / MICROSECOND,
            "cp_per_virtual_io_us": None if ios is None else cp / ios / MICROSECOND,
            "virtual_per_virtual_io_us": None if ios is None else virtual / ios / MICROSECOND,
            "processors": float(at.processors),
            "rate_per_processor": 1 / (cp + virtual),
            "io_rate_per_processor": None if ios is None else ios / (cp + virtual),
            "limit": self.limit,
            "channel_rate": float(at.channel_bound),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskAnswer(Tabular):
    """Rates of each kind of disk in a `setting`: `rows`, and `break_even_hit_ratio`, where two kinds are equal."""

    setting: Setting
    rows: tuple[DiskRow, ...]
    break_even_hit_ratio: float | None

    def records(self) -> list[dict[str, Any]]:
        """All rows as dictionaries.

        Returns
        -------
        list of dict
            One a kind and mode.
        """
        return [row.to_dict() for row in self.rows]

    def table(self) -> render.Table:
        """One row a kind and mode.

        Returns
        -------
        render.Table
            Rate, data rate, processor times, processors busy, what one processor carries, what bounds the rate.
        """
        records = self.records()

        def column(name: str, unit: str, label: str, decimals: int | None = None) -> render.Column:
            empty = render.Column(name=name, unit=unit, label=label, decimals=decimals, values=())
            return replace(empty, values=[record[empty.key] for record in records])

        return render.Table(
            columns=(
                column("kind", "", "kind"),
                column("mode", "", "cache"),
                column("hit_ratio", "", "hits", 3),
                column("rate", "1/s", "rate", 2),
                column("data_rate", "MB/s", "moved", 1),
                column("cp", "us", "CP", 1),
                column("virtual", "us", "virtual", 1),
                column("cp_per_virtual_io", "us", "CP/vio", 1),
                column("virtual_per_virtual_io", "us", "virtual/vio", 1),
                column("processors", "", "processors", 2),
                column("rate_per_processor", "1/s", "rate/processor", 1),
                column("io_rate_per_processor", "1/s", "vio/processor", 1),
                column("limit", "", "limit"),
            )
        )

    def notes(self) -> list[str]:
        """What else is to be said.

        Returns
        -------
        list of str
            Sentences: the break-even hit ratio, what was not measured, what was measured and cannot be so.
        """
        lines = [self._break_even()] if self._both() else []
        lines += [
            f"{row.kind}, {row.mode}: the run that this rests on shows no wait for the disk and moves "
            f"{float(row.at.rate_alone * row.at.bytes_moved) / MEGABYTE:.0f} MB/s through a channel of "
            f"{row.path.channel_rate / MEGABYTE:.0f} MB/s: its misses did not come from the disk. The channel "
            f"carries {float(row.at.channel_bound):.1f} transactions/s, and no more is promised to several requesters."
            for row in self.rows
            if row.beats_channel
        ]
        beyond = [
            row.kind
            for row in self.rows
            if row.mode == "cached" and row.path.measured_hit_ratio not in {None, self.setting.hit_ratio}
        ]
        if beyond:
            lines.append(
                f"Processor time of {', '.join(beyond)} with cache was measured at hit ratio .5 only, over hits and "
                "misses together; its division is a convention. Rates rest on elapsed times, measured for each."
            )
        if self.setting.requesters > 1 or self.setting.processors > 1:
            lines.append(
                "One requester on one processor was measured; more are a closed network of processors and disks."
            )
        return lines

    def _both(self) -> bool:
        cached = {row.kind for row in self.rows if row.mode == "cached"}
        return set(COMPARED) <= cached

    def _break_even(self) -> str:
        if self.break_even_hit_ratio is not None:
            kinds = " and ".join(COMPARED)
            return f"{kinds}, both cached, are last equal at hit ratio {self.break_even_hit_ratio:.4f}."
        one, other = (
            next(row for row in self.rows if row.kind == k and row.mode == "cached") for k in COMPARED
        )
        channels = " and ".join(f"{row.path.channel_rate / MEGABYTE:.0f}" for row in (one, other))
        faster = one if float(one.at.rate) > float(other.at.rate) else other
        return f"{faster.kind} is the faster one at every hit ratio; channels of {channels} MB/s are compared, too."

    def text(self) -> str:
        """The answer for people.

        Returns
        -------
        str
            A headline, the table, the notes.
        """
        at = self.setting
        head = (
            f"{at.workload}, hit ratio {at.hit_ratio:g}, {render.counted(at.requesters, 'requester')}, "
            f"{render.counted(at.processors, 'processor')}, {render.counted(at.disks, 'disk')} "
            "(2064-109, z/VM 5.1.0; ECKD on ESCON, SCSI on FCP)"
        )
        return "\n".join(
            [render.wrap(head), "", render.to_text(self.table()), "", *map(render.wrap, self.notes())]
        )

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` shows.

        Returns
        -------
        dict
            `rows` and `break_even_hit_ratio`, beside the question.
        """
        at = self.setting
        return {
            "workload": at.workload,
            "requesters": at.requesters,
            "processor_count": at.processors,
            "disks": at.disks,
            "rows": self.records(),
            "break_even_hit_ratio": self.break_even_hit_ratio,
            "notes": self.notes(),
        }

    def plot(self) -> Axes:
        """Draw the rate against the hit ratio, with the published runs.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner.advice.pictures import rate_over_hit_ratio

        return rate_over_hit_ratio(self.setting, {row.kind: row.path for row in self.rows})


def disk_paths(workload: str, kinds: Sequence[str] = ()) -> dict[str, DiskPath]:
    """Read the shipped disk paths of a workload.

    Parameters
    ----------
    workload : str
        "xedit" or "iozone".
    kinds : sequence of str, optional
        Kinds of disk; all that were measured where empty.

    Returns
    -------
    dict
        Path by kind.

    Raises
    ------
    InputError
        No such workload, or the workload was not measured on that kind.
    """
    if workload not in WORKLOADS:
        raise InputError("workload", workload, f"one of {', '.join(WORKLOADS)}")
    for kind in kinds:
        if kind not in WORKLOADS[workload]:
            raise InputError("kind", kind, f"one of {', '.join(WORKLOADS[workload])} ({workload})")
    return {
        kind: DiskPath.from_model(library.read_model(f"disk-{workload}-{kind}"))
        for kind in kinds or WORKLOADS[workload]
    }


def disk_rates(setting: Setting, kinds: Sequence[str] = ()) -> DiskAnswer:
    """Ask what each kind of disk carries, with and without minidisk cache.

    Parameters
    ----------
    setting : Setting
        Workload, hit ratio, requesters, processors, disks.
    kinds : sequence of str, optional
        Kinds of disk; all that were measured where empty.

    Returns
    -------
    DiskAnswer
        One row a kind and mode.

    Raises
    ------
    InputError
        An unknown workload or kind, or a number outside its domain.
    """
    paths = disk_paths(setting.workload, kinds)
    rows = tuple(
        DiskRow(kind=kind, mode=mode, path=path, at=setting.solve(path, mode), setting=setting)
        for kind, path in paths.items()
        for mode in path.modes
    )
    return DiskAnswer(setting=setting, rows=rows, break_even_hit_ratio=_break_even(setting, paths))


def _break_even(setting: Setting, paths: dict[str, DiskPath]) -> float | None:
    """Highest hit ratio at which both cached paths carry the same rate; None where one is faster throughout."""
    from scipy.optimize import brentq

    if not set(COMPARED) <= set(paths):
        return None
    one, other = (paths[kind] for kind in COMPARED)

    def difference(ratio: float) -> float:
        return float(setting.solve(one, "cached", ratio).rate - setting.solve(other, "cached", ratio).rate)

    grid = np.linspace(0.0, 1.0, GRID)
    rates = [setting.solve(path, "cached", grid).rate for path in (one, other)]
    (crossings,) = np.nonzero(np.diff(rates[0] > rates[1]))
    if not crossings.size:
        return None
    last = int(crossings[-1])
    return float(brentq(difference, grid[last], grid[last + 1], xtol=1e-9))
