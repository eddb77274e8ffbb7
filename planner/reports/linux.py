"""Linux on Z: rates and response times by `iostat -x -o JSON`, and which devices share a pool by `lsdasd -u`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.listing import read_bytes
from planner.reports.membership import Member, Membership
from planner.reports.moments import clock, read_moment
from planner.results import Array
from planner.units import MILLISECOND, half_digit

if TYPE_CHECKING:
    import polars as pl

KINDS_OF_REQUEST: Final = {"r/s": "r_await", "w/s": "w_await", "d/s": "d_await", "f/s": "f_await"}
BLOCK_DEVICE: Final = re.compile(r"dasd[a-z]+")
AMERICAN: Final = "%m/%d/%Y %I:%M:%S %p"  # what iostat prints without a language
ALIAS: Final = "alias"
HYPERPAV: Final = "xx"  # unit address in the uid of a HyperPAV alias
UID_PARTS: Final = 4
WANTED_IOSTAT: Final = "expected what iostat -x -t -o JSON 60 prints, with S_TIME_FORMAT=ISO set"
WANTED_LSDASD: Final = "expected what lsdasd -u prints: bus id, name, uid"

_BUS_ID: Final = re.compile(r"([0-9a-f])\.([0-3])\.([0-9a-f]{4})")
_HEAD: Final = re.compile(r"Bus-ID|=+$")


@dataclass(frozen=True, slots=True)
class LinuxDevices(Membership):
    """Members of pools by device number, and the device number of each block device (`names`); `notes` beside it."""

    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_lsdasd(head: bytes) -> bool:
    """Tell by its first bytes whether a file is what lsdasd -u prints."""
    lines = [line.split() for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    rows = [words for words in lines if _BUS_ID.fullmatch(words[0])]
    return bool(rows) and any(word.count(".") >= UID_PARTS - 1 for words in rows for word in words[1:])


def read_lsdasd(path: Path | str, data: bytes | None = None) -> LinuxDevices:
    """Read which devices share HyperPAV aliases: those whose uids begin with the same three parts."""
    path = Path(path)
    text = (read_bytes(path) if data is None else data).decode("utf-8", "replace")
    members: dict[str, Member] = {}
    names: dict[str, str] = {}
    skipped: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or _HEAD.match(words[0]):
            continue
        match = _BUS_ID.fullmatch(words[0])
        if match is None:
            raise ReportError(
                path, f"{words[0]!r} is no bus id such as 0.0.c28a; {WANTED_LSDASD}", line=number, column=1
            )
        device = match[3].upper() if match[1] + match[2] == "00" else words[0].upper()
        if device in members or device in skipped:
            raise ReportError(path, f"{words[0]} a second time", line=number, column=1)
        uid = words[-1].split(".")
        if len(words) < 3 or len(uid) < UID_PARTS:  # noqa: PLR2004 - bus id, name, uid
            skipped.append(device)
            continue
        is_alias = words[1] == ALIAS
        if is_alias and uid[3] != HYPERPAV:
            skipped.append(device)  # of one base, not of a pool
            continue
        members[device] = Member("alias" if is_alias else "base", ".".join(uid[:3]))
        if not is_alias:
            names[words[1]] = device
    if not members:
        raise ReportError(path, f"no device with a uid; {WANTED_LSDASD}")
    notes = (f"{path}: without a uid, or alias of one base only: {', '.join(skipped)}",) if skipped else ()
    return LinuxDevices(path, members, names, notes)


def name_devices(frame: pl.DataFrame, devices: LinuxDevices) -> pl.DataFrame:
    """Set the device number of rows that have the name of a block device only."""
    import polars as pl

    if not devices.names:
        return frame
    names, numbers = list(devices.names), list(devices.names.values())
    named = pl.col("label").replace_strict(names, numbers, default=None, return_dtype=pl.String)
    return frame.with_columns(pl.coalesce("device", named).alias("device"))


def is_iostat(head: bytes) -> bool:
    """Tell by its first bytes whether a file is what iostat prints as JSON."""
    return head.lstrip().startswith(b"{") and b'"sysstat"' in head[:1000] and b'"hosts"' in head


def read_iostat(path: Path | str, data: bytes | None = None) -> schema.Tables:
    """Read the reports of iostat; the first of each run, which counts since the system was started, is left out.

    The response time is the mean of the waits of reads, writes, discards and flushes, by their rates; it includes the
    queue in Linux. Service time and queue are not in it: `aqu-sz` counts requests in service too.
    """
    path = Path(path)
    text = (read_bytes(path) if data is None else data).decode("utf-8", "replace")
    try:
        hosts = json.loads(text, parse_float=str, parse_int=str)["sysstat"]["hosts"]
    except json.JSONDecodeError as error:
        problem = f"{error.msg}: {WANTED_IOSTAT}; the run was perhaps cut off"
        raise ReportError(path, problem, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise ReportError(path, f"lists or objects nested too deeply; {WANTED_IOSTAT}") from None
    except (KeyError, TypeError):
        raise ReportError(path, f"no hosts; {WANTED_IOSTAT}") from None
    notes: dict[str, None] = {}
    frames = [_host(path, host, notes) for host in _objects(path, "hosts", hosts)]
    return schema.Tables(devices=schema.join(schema.DEVICES, frames), notes=tuple(notes), what="iostat")


def _objects(path: Path, name: str, value: object) -> list[dict[str, Any]]:
    """Take a list of objects; JSON may hold anything in its place."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ReportError(path, f"{name} is {value!r:.60}: expected a list of objects; {WANTED_IOSTAT}")
    return value


def _host(path: Path, host: Mapping[str, Any], notes: dict[str, None]) -> pl.DataFrame:
    """Rows of one host."""
    reports = _objects(path, "statistics", host.get("statistics", []))
    if not isinstance(host.get("nodename", ""), str):
        raise ReportError(path, f"nodename is {host['nodename']!r:.60}: expected a text; {WANTED_IOSTAT}")
    if len(reports) < 2:  # noqa: PLR2004 - since the start, and one interval
        raise ReportError(
            path,
            f"{len(reports)} report of {host.get('nodename', 'a host')}: the first counts since the system was "
            f"started; {WANTED_IOSTAT}",
        )
    notes[
        f"{path}: the first report of {host.get('nodename', 'a host')}, since the system was started, is left out"
    ] = None
    times = [_moment(report.get("timestamp")) for report in reports]
    if None in times:
        notes[f"{path}: no times, or none in a form with one meaning: {WANTED_IOSTAT}"] = None
    rows = [
        (k, disk)
        for k, report in enumerate(reports)
        if k
        for disk in _objects(path, "disk", report.get("disk", []))
    ]
    if not rows:
        raise ReportError(path, f"no disks; {WANTED_IOSTAT}")
    names = [_name(path, disk, k) for k, disk in rows]
    data: dict[str, Any] = _clock(path, times, [k for k, _ in rows]) | {
        "system": host.get("nodename"),
        "label": names,
        "kind": [schema.VOLUME if BLOCK_DEVICE.fullmatch(name) else schema.OTHER for name in names],
        "file": str(path),
        "line": [k + 1 for k, _ in rows],
    }
    return schema.frame(schema.DEVICES, data | _numbers(path, rows), len(rows))


def _name(path: Path, disk: Mapping[str, Any], report: int) -> str:
    name = disk.get("disk_device")
    if not isinstance(name, str):
        raise ReportError(path, f"report {report + 1}: a disk without disk_device; {WANTED_IOSTAT}")
    return name


def _moment(text: object) -> datetime | None:
    """Time of a report; None where it has none or one that can be read in two ways."""
    if not isinstance(text, str):
        return None
    for read in (read_moment, lambda each: datetime.strptime(each, AMERICAN)):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _clock(path: Path, times: list[datetime | None], of_row: list[int]) -> dict[str, Any]:
    """Start, offset from UTC and length of the interval of each row, from the times of the reports."""
    starts: list[datetime | None] = [None] * len(times)
    offsets: list[int | None] = [None] * len(times)
    lengths: list[float | None] = [None] * len(times)
    for k in range(1, len(times)):
        before, now = times[k - 1], times[k]
        if before is None or now is None:
            continue
        if (now.tzinfo is None) != (before.tzinfo is None):
            raise ReportError(
                path, f"reports {k} and {k + 1}: expected both times with their offset from UTC, or neither"
            )
        seconds = (now - before).total_seconds()
        if seconds <= 0:
            raise ReportError(
                path, f"report {k + 1} at {now} follows one at {before}: expected reports in order of time"
            )
        (starts[k],), (offsets[k],) = clock([before])
        lengths[k] = seconds
    return {
        "start": [starts[k] for k in of_row],
        "utc_offset": [offsets[k] for k in of_row],
        "interval": [lengths[k] for k in of_row],
    }


def _numbers(path: Path, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """Rate and response time of each row, with what their digits leave open."""
    rates, awaits = [], []
    for rate, wait in KINDS_OF_REQUEST.items():
        rates.append(_column(path, rows, rate, needed=rate in ("r/s", "w/s"), unit=1.0))
        awaits.append(_column(path, rows, wait, needed=rate in ("r/s", "w/s"), unit=MILLISECOND))
    low, total, high = np.sum(rates, axis=0)
    corners = [
        _mix([each[end] for each, end in zip(rates, ends, strict=True)], [each[side] for each in awaits])
        for side in (0, 2)
        for ends in product((0, 2), repeat=len(rates))
    ]
    response = {
        "response": _mix([each[1] for each in rates], [each[1] for each in awaits]),
        "response_low": np.fmin.reduce(corners),
        "response_high": np.fmax.reduce(corners),
    }
    return {"io_rate": total, "io_rate_low": low, "io_rate_high": high} | {
        name: _null(np.where(total > 0, values, np.nan)) for name, values in response.items()
    }


def _mix(rates: list[Array], awaits: list[Array]) -> Array:
    """Mean of waits by their rates; NaN without any."""
    total = np.sum(rates, axis=0)
    busy = np.sum([rate * wait for rate, wait in zip(rates, awaits, strict=True)], axis=0)
    return np.asarray(np.divide(busy, total, out=np.full(total.shape, np.nan), where=total > 0))


def _null(values: Array) -> pl.Series:
    import polars as pl

    return pl.Series(values, nan_to_null=True)


def _column(
    path: Path, rows: Sequence[tuple[int, Mapping[str, Any]]], name: str, *, needed: bool, unit: float
) -> tuple[Array, Array, Array]:
    """A number of each row between what its digits leave open; zero where older releases do not have it."""
    cells = [disk.get(name, None if needed else "0") for _, disk in rows]
    known: dict[str, tuple[float, float]] = {}
    for (report, disk), cell in zip(rows, cells, strict=True):
        if isinstance(cell, str) and cell in known:
            continue
        try:
            if not isinstance(cell, str):  # numbers are kept as they are printed
                raise TypeError
            value, half = float(cell), half_digit(cell)
            if not 0 <= value < float("inf"):
                raise ValueError
        except (TypeError, ValueError):
            raise ReportError(
                path,
                f"report {report + 1}, {disk['disk_device']}: {name} is {cell!r:.60}: expected a number; "
                f"{WANTED_IOSTAT}",
            ) from None
        known[cell] = (value, 0.0 if value == 0 and not needed else half)
    found = np.array([known[cell] for cell in cells]).T.reshape(2, -1) * unit
    return np.maximum(found[0] - found[1], 0.0), found[0], found[0] + found[1]
