"""Linux: rates, response times and utilization of disks by `iostat -x` or `sar -d`, of any release of sysstat."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from planner.errors import ReportError
from planner.queueing._roots import increasing_root
from planner.reports import iostat_text, schema
from planner.reports.iostat_text import KNOWN, USED, DiskLine, DiskReport, IostatRun
from planner.reports.lines import read_bytes, read_text
from planner.reports.moments import clock
from planner.results import Array
from planner.units import MILLISECOND, half_digit

KINDS_OF_REQUEST: Final = {"r/s": "r_await", "w/s": "w_await", "d/s": "d_await", "f/s": "f_await"}
DISK: Final = re.compile(r"dasd[a-z]{1,4}|ccw-0\.0\.([0-9a-f]{4})")  # the latter with -j PATH
EXACT_BEFORE, EXACT_FROM = (4, 17), (6, 10)
"""Kernels between these count a whole tick as busy for an I/O of any length: %util is too large."""
WHOLE_GAPS_FROM: Final = (5, 7)  # ticks between two events are counted where the later one is an end
TICK: Final = 0.01  # of IBM Z [s]
NINETY: Final = 1.645  # deviations to either side of 90 % of a normal distribution
TIMES: Final = (
    "no times, or none with one meaning: expected what iostat -x -t prints, with S_TIME_FORMAT=ISO set"
)
DATES: Final = (
    "the day may be the month: expected what sar -d prints with S_TIME_FORMAT=ISO set, or so many days in one file "
    "that only one order fits"
)


def is_iostat(head: bytes) -> bool:
    """Whether a file holds what iostat prints, by its first bytes."""
    return (_begins_as_json(head) and b'"sysstat"' in head[:1000] and b'"hosts"' in head) or (
        b"\0" not in head and iostat_text.is_text(head)
    )


def read_iostat(path: Path | str, data: bytes | None = None) -> schema.Tables:
    """Read the reports of iostat, its waits in Linux as response; the one since the system was started is left out."""
    path = Path(path)
    data = read_bytes(path) if data is None else data
    runs, notes = (_read_json if _begins_as_json(data) else iostat_text.read_runs)(path, data)
    times = _times(runs)
    numbers = range(1, len(runs) + 1) if len(runs) > 1 else [0]
    frames = [_run(path, *each, notes) for each in zip(runs, numbers, times, strict=True)]
    return schema.Tables(
        devices=schema.join(schema.DEVICES, frames),
        notes=tuple(dict.fromkeys(notes)),
        what="sar -d" if runs[0].by == "sar" else "iostat",
    )


Times = tuple[list[datetime | None], list[datetime | None]]
"""Of each report its moment, and what the clock showed."""


def _times(runs: Sequence[IostatRun]) -> list[Times]:
    """Times of each run; sar prints the date once in each, and what day and month are may show in one of them only."""
    alone = [iostat_text.moments([report.time for report in run.reports]) for run in runs]
    if runs[0].by != "sar":
        return alone
    begins, _ = iostat_text.moments([run.reports[0].time for run in runs])
    found = []
    for begin, (starts, clocks) in zip(begins, alone, strict=True):
        shown = iostat_text.over_midnight(clocks)
        first = shown[0]
        if begin is None or first is None:
            found.append((iostat_text.over_midnight(starts), shown))
        else:
            found.append(([now and begin + (now - first) for now in shown], shown))
    return found


def _run(path: Path, run: IostatRun, number: int, times: Times, notes: list[str]) -> pl.DataFrame:
    """Rows of one run, in order, by its moments and clocks; `number` is 0 where it is the only one."""
    reports = run.reports
    if not any(report.rows for report in reports):
        problem = "no disks, or none that did I/O (iostat -z leaves out the others)"
        raise ReportError(path, f"{problem}; {WANTED}")
    starts, clocks = times
    seconds = iostat_text.lengths(path, clocks, [report.line for report in reports])
    of = f" of {run.host}" if run.host else ""
    first = _first(path, run, of, notes)
    if None in starts:
        unknown = DATES if run.by == "sar" else TIMES
        notes.append(f"{path}: {unknown}; the reports are in the order of the file")
    every = [(k, row) for k, report in enumerate(reports) if k >= first for row in report.rows.values()]
    rows = [(k, row) for k, row in every if _plausible(path, row, notes)]
    known = [each for each in seconds if each is not None]
    usual = float(np.median(known)) if known else None
    intervals = [usual, *seconds[1:]]
    begin = None
    if starts[0] is not None and usual is not None and starts[0].year > 1:  # there is none before
        begin = starts[0] - timedelta(seconds=usual)
    shown, offsets = clock([begin, *starts[:-1]])
    where = [f"run {number}, report {k + 1}" if number else f"report {k + 1}" for k in range(len(reports))]
    matches = [DISK.fullmatch(row.name) for _, row in rows]
    data: dict[str, Any] = {
        "start": [shown[k] for k, _ in rows],
        "utc_offset": [offsets[k] for k, _ in rows],
        "interval": [intervals[k] for k, _ in rows],
        "source": [None if shown[k] is not None else where[k] for k, _ in rows],
        "system": run.host,
        "device": [match and match[1] and match[1].upper() for match in matches],
        "label": [row.name for _, row in rows],
        "kind": [
            schema.VOLUME if match and not row.group else schema.OTHER
            for match, (_, row) in zip(matches, rows, strict=True)
        ],
        "file": str(path),
        "line": [row.line for _, row in rows],
    }
    for _, row in rows:
        _check(path, row, in_lines=run.by != "JSON")
    length = np.array([intervals[k] for k, _ in rows], dtype=np.float64)
    numbers = _numbers([row.cells for _, row in rows], run.release, length)
    return schema.frame(schema.DEVICES, data | numbers, len(rows))


def _first(path: Path, run: IostatRun, of: str, notes: list[str]) -> int:
    """Index of the first report that is of an interval: 1 where the first counts since the system was started."""
    if run.by in ("pcp", "sar"):
        return int(run.by == "sar")
    if len(run.reports) == 1:
        notes.append(
            f"{path}: one report{of} only: unless iostat -y printed it, its rates and times are means since the system "
            "was started; iostat -x -t 60 61 measures an hour"
        )
        return 0
    as_well = "it could as well be of an interval, were iostat called with -y"
    notes.append(f"{path}: the first report{of}, since the system was started, is left out; {as_well}")
    return 1


def _plausible(path: Path, row: DiskLine, notes: list[str]) -> bool:
    """Whether the numbers of a row are of a disk; a counter that ran backwards prints others."""
    for name, cell in row.cells.items():
        limit = schema.LARGEST["1/s"] if name in iostat_text.RATES else schema.LARGEST["s"] / MILLISECOND
        if float(cell) > limit:
            of_no_disk = f"{name} = {float(cell):.3g} is of no disk"
            notes.append(f"{path}, line {row.line}: {row.name} left out: {of_no_disk}")
            return False
    return True


def _numbers(cells: Sequence[Mapping[str, str]], release: str | None, length: Array) -> dict[str, Any]:
    """Rate, response time and utilization of each row, with what their digits and the kernel leave open."""
    rates = [_column(cells, rate, 1.0) for rate in KINDS_OF_REQUEST]
    awaits = [_column(cells, wait, MILLISECOND) for wait in KINDS_OF_REQUEST.values()]
    corners = [
        _mix([each[end] for each, end in zip(rates, ends, strict=True)], [each[side] for each in awaits])
        for side in (0, 2)
        for ends in product((0, 2), repeat=len(rates))
    ]
    middle = _mix([each[1] for each in rates], [each[1] for each in awaits])
    mixed = np.array([np.fmin.reduce(corners), middle, np.fmax.reduce(corners)])
    has_tps, has_await, has_util = (
        np.array([name in each for each in cells], dtype=bool) for name in ("tps", "await", "%util")
    )
    rate = np.where(has_tps, _column(cells, "tps", 1.0), np.sum(rates, axis=0))
    response = np.where(has_await, _column(cells, "await", MILLISECOND), mixed)
    busy = np.minimum(_column(cells, "%util", 0.01), 1.0)
    if exact_utilization(release):
        busy = _of_samples(busy, length)
    else:
        busy[0], busy[2] = 0.0, _most_used(busy[2], rate[0], release)
    numbers = {
        "io_rate": rate,
        "response": np.where(rate[1] > 0, response, np.nan),
        "utilization": np.where(has_util, busy, np.nan),
    }
    ends = ("_low", "", "_high")
    return {f"{name}{end}": each[k] for name, each in numbers.items() for k, end in enumerate(ends)}


def exact_utilization(release: str | None) -> bool:
    """Whether a kernel counts as busy only the time in which an I/O is under way."""
    version = _version(release)
    return version < EXACT_BEFORE or version >= EXACT_FROM


def _version(release: str | None) -> tuple[int, int]:
    match = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", release or "")
    return (int(match[1]), int(match[2])) if match else EXACT_BEFORE


def _of_samples(busy: Array, length: Array) -> Array:
    """Ends of a utilization that is counted right: at each tick a kernel sees whether an I/O is under way.

    A share of n samples is within 90 % of its distribution between the ends of Wilson (1927).
    """
    n = np.where(np.isnan(length), np.inf, length / TICK)
    spread = NINETY * np.sqrt(busy * (1.0 - busy) / n + (NINETY / (2.0 * n)) ** 2)
    middle, whole = busy + NINETY**2 / (2.0 * n), 1.0 + NINETY**2 / n
    ends = (middle - spread) / whole, busy, (middle + spread) / whole
    return np.array([np.minimum(busy[0], ends[0][0]), busy[1], np.maximum(busy[2], ends[2][2])])


def _most_used(busy: Array, rate: Array, release: str | None) -> Array:
    """Share of the time for which I/Os may be under way where a kernel counts ticks with an event, begin or end.

    Of a share U of the time, with events at random, 2 X / U in a second of it, ticks without one are lost: with the
    tick t at most exp(-X t / U), since an I/O often begins as one ends. Kernels from 5.7 on lose ticks only before
    those that begin, U / 2 exp(-2 X t / U). So the counted share is at least U (1 - exp(-X t / U)), or
    U (1 - exp(-2 X t / U) / 2), which grow with U.
    """

    def excess(used: Array, busy: Array, rate: Array) -> Array:
        events = rate * TICK / np.maximum(used, TICK**2)
        kept = np.exp(-2.0 * events) / 2.0 if _version(release) >= WHOLE_GAPS_FROM else np.exp(-events)
        return used * (1.0 - kept) - busy

    return increasing_root(excess, np.minimum(busy, 1.0), np.ones(busy.shape), (busy, rate))


def _check(path: Path, row: DiskLine, *, in_lines: bool) -> None:
    """Refuse a row without a rate or a response time; name what would print it."""
    cells, missing = row.cells, []
    line = row.line if in_lines else None
    if "tps" not in cells:
        missing = [name for name in ("r/s", "w/s") if name not in cells]
        missing += [rate for rate, wait in KINDS_OF_REQUEST.items() if wait in cells and rate not in cells]
    waits = [] if "await" in cells else [wait for rate, wait in KINDS_OF_REQUEST.items() if rate in cells]
    if "await" not in cells and (not waits or "tps" in cells or not any(wait in cells for wait in waits)):
        problem = "sar -d of an old release, or iostat without -x: response times are missing; use -x"
        raise ReportError(path, problem, line=line)
    missing += [wait for wait in waits if wait not in cells]
    if missing:
        of = row.name if in_lines else f"report {row.line}, {row.name}"
        raise ReportError(path, f"{of}: {missing[0]} is missing; {iostat_text.WANTED}", line=line)


def _mix(rates: list[Array], awaits: list[Array]) -> Array:
    """Mean of waits by their rates; NaN without any."""
    total = np.sum(rates, axis=0)
    busy = np.sum([rate * wait for rate, wait in zip(rates, awaits, strict=True)], axis=0)
    return np.asarray(np.divide(busy, total, out=np.full(total.shape, np.nan), where=total > 0))


def _column(rows: Sequence[Mapping[str, str]], name: str, unit: float) -> Array:
    """Low, value, high by its digits of a number of each row; exactly zero where its release does not print it."""
    known: dict[str, tuple[float, float]] = {"": (0.0, 0.0)}
    cells = [row.get(name, "") for row in rows]
    for cell in set(cells) - known.keys():
        value, half = float(cell), half_digit(cell)
        known[cell] = (value, 0.0 if value == 0 and name in ("d/s", "f/s") else half)
    values, halves = np.array([known[cell] for cell in cells]).T.reshape(2, -1) * unit
    return np.array([np.maximum(values - halves, 0.0), values, values + halves])


WANTED: Final = "expected what iostat -x -t -o JSON 60 prints, with S_TIME_FORMAT=ISO set"

REPORT: Final = frozenset({"timestamp", "avg-cpu", "disk"})

_BEGIN: Final = re.compile(r'\{\s*"sysstat"\s*:')
_STRAY: Final = re.compile(r",(?=\s*[,}\]])")
_COMMA: Final = re.compile(r"(?<=: )([0-9]+),([0-9]+)(?=\s*[,}\]])")  # of a language with decimal commas
_STATISTICS: Final = re.compile(r'"statistics"\s*:\s*\[')
_STRUCTURE: Final = re.compile(r"[\[\]{}:,]")


def _begins_as_json(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _read_json(path: Path, data: bytes) -> tuple[list[IostatRun], list[str]]:
    """Read all runs, of what may be cut off, several in one file, or have a stray comma; and notes on what was lost."""
    text = read_text(path, data, WANTED)
    begins = [match.start() for match in _BEGIN.finditer(text)]
    runs: list[IostatRun] = []
    notes: list[str] = []
    for begin, end in pairwise([*begins, len(text)]):
        reader = _JsonReader(path, text.count("\n", 0, begin) + 1, notes)
        runs += reader.runs(_STRAY.sub(" ", _COMMA.sub(r"\1.\2", text[begin:end].rstrip())))
    if not runs or text[: begins[0]].strip():
        raise ReportError(path, f"no hosts; {WANTED}")
    return runs, notes


class _JsonReader:
    """One document, from a `line` of the file on."""

    def __init__(self, path: Path, line: int, notes: list[str]) -> None:
        self.path, self.line, self.notes = path, line, notes
        self.decoder = json.JSONDecoder(
            parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=self._once
        )

    def error(self, problem: str) -> ReportError:
        return ReportError(self.path, f"{problem}; {WANTED}")

    def _once(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object, in which no key may stand twice; JSON would take the last."""
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
            raise self.error(f"{twice!r:.40} twice for one device")
        return found

    def runs(self, text: str) -> list[IostatRun]:
        """Its runs; of one that is cut off the reports before that."""
        try:
            document, end = self.decoder.raw_decode(text)
            if text[end:].strip():
                raise json.JSONDecodeError("Extra data", text, end)
        except RecursionError:
            raise self.error("lists or objects nested too deeply") from None
        except json.JSONDecodeError as error:
            if _STRUCTURE.search(text, error.pos) and not error.msg.startswith("Unterminated"):
                raise self._broken(error) from None
            return [self._cut(text, error)]
        try:
            hosts = document["sysstat"]["hosts"]
        except (KeyError, TypeError):
            raise self.error("no hosts") from None
        return [self._run(host) for host in self._objects("hosts", hosts)]

    def _broken(self, error: json.JSONDecodeError) -> ReportError:
        column = error.colno if error.lineno > 1 else None
        problem = f"{error.msg}: {WANTED}; the run was perhaps cut off"
        return ReportError(self.path, problem, line=self.line + error.lineno - 1, column=column)

    def _cut(self, text: str, error: json.JSONDecodeError) -> IostatRun:
        """Reports of a document that ends too early."""
        places = list(_STATISTICS.finditer(text))
        if len(places) != 1:
            raise self._broken(error)
        host = {
            key: match[1]
            for key in ("nodename", "release")
            if (match := re.search(rf'"{key}"\s*:\s*"([^"\\]*)"', text[: places[0].start()]))
        }
        reports: list[dict[str, Any]] = []
        at = places[0].end()
        while True:
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
            if at >= len(text) or text[at] in "]}":
                break
            try:
                report, at = self.decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                number = text.count("\n", 0, at) + self.line
                cut = f"the file is cut off in report {len(reports) + 1}, which is left out"
                self.notes.append(f"{self.path}, line {number}: {cut}; the reports before it are whole")
                break
            reports.append(report)
        if not reports:
            raise self._broken(error)
        return self._run(host | {"statistics": reports})

    def _objects(self, name: str, value: object) -> list[dict[str, Any]]:
        """Take a list of objects; JSON may hold anything in its place."""
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.error(f"{name} is {value!r:.60}: expected a list of objects")
        return value

    def _run(self, host: dict[str, Any]) -> IostatRun:
        for key in ("nodename", "release"):
            if not isinstance(host.get(key, ""), str):
                raise self.error(f"{key} is {host[key]!r:.60}: expected a text")
        run = IostatRun(host.get("nodename"), host.get("release"), "JSON")
        for number, each in enumerate(self._objects("statistics", host.get("statistics", [])), 1):
            if unknown := each.keys() - REPORT:
                raise self.error(f"report {number}: {min(unknown)!r:.40} is none of iostat")
            time = each.get("timestamp")
            if isinstance(time, dict):
                raise ReportError(self.path, "this is sadf -j of sar; expected what sar -d prints")
            if time is not None and not isinstance(time, str):
                raise self.error(f"timestamp is {time!r:.60}: expected a text")
            report = DiskReport(number, time)
            for disk in self._objects("disk", each.get("disk", [])):
                row = self._row(disk, number)
                if row.name in report.rows:
                    raise self.error(f"report {number}: {row.name} a second time")
                report.rows[row.name] = row
            run.reports.append(report)  # without disks, too: its place must not be that of the next one
        return run

    def _row(self, disk: dict[str, Any], number: int) -> DiskLine:
        name = disk.get("disk_device")
        if not isinstance(name, str) or not name.strip():
            raise self.error(f"report {number}: a disk without disk_device")
        cells = {}
        for key, cell in disk.items():
            used = {"util": "%util", "avgqu-sz": "aqu-sz"}.get(key, key)
            if key != "disk_device" and not KNOWN.fullmatch(key) and not KNOWN.fullmatch(f"%{key}"):
                raise self.error(f"report {number}, {name}: {key!r:.40} is none of iostat")
            if used not in USED:
                continue
            if not isinstance(cell, str) or not re.fullmatch(r"[0-9]{1,30}(?:\.[0-9]{1,4})?", cell):
                raise self.error(f"report {number}, {name}: {key} is {cell!r:.60}: expected a number")
            cells[used] = cell
        return DiskLine(number, name.strip(), name.startswith(" "), cells)
