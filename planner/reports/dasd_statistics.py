"""Statistics of the DASD driver of Linux: files of debugfs, what `dasdstat` prints of them, `/proc/dasd/statistics`.

A histogram of times has 32 classes: the first counts what is shorter than 4 microseconds, each other one twice the
times of the one before. The histogram of queue lengths is linear: how many requests stood at the start device, the new
one among them. Averages in microseconds stand beside the histograms since Linux 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.reports import schema
from planner.reports.csv_table import COUNTER_SIZE, shown
from planner.reports.lines import numbered, read_bytes, read_text
from planner.results import Array, Integers
from planner.units import MICROSECOND

CLASSES: Final = 32
EDGES: Final = np.array([0.0, *(2.0 ** (k + 1) for k in range(1, CLASSES)), np.inf]) * MICROSECOND  # s
# Mean of a class over its lower end, all logarithms in it equally likely.
LOG_UNIFORM: Final = 1 / np.log(2.0)
TOTALS: Final = {  # attribute: label in debugfs, what dasdstat prints
    "requests": ("total_requests", r"([0-9]{1,20}) dasd I/O requests"),
    "sectors": ("total_sectors", r"with ([0-9]{1,20}) sectors\(512B each\)"),
    "via_alias": ("total_pav", r"([0-9]{1,20}) requests used a PAV alias device"),
}
HISTOGRAMS: Final = {  # part of a request: label in debugfs, title that dasdstat prints, label of the average
    "response": ("histogram_io_times", "Histogram of I/O times (microseconds)", "avg_total"),
    "wait": ("histogram_time_build_to_ssch", "Histogram of I/O time till ssch", "avg_build_to_ssch"),
    "service": (
        "histogram_time_ssch_to_irq",
        "Histogram of I/O time between ssch and irq",
        "avg_ssch_to_irq",
    ),
    "end": ("histogram_time_irq_to_end", "Histogram of I/O time between irq and end", "avg_irq_to_end"),
    "queue": ("histogram_ccw_queue_length", "# of req in chanq at enqueuing", ""),
}
KEYS: Final = {label: key for table in (TOTALS, HISTOGRAMS) for key, (label, *_) in table.items()}
TITLES: Final = {title: key for key, (_, title, _) in HISTOGRAMS.items()}
BLOCK_DEVICE: Final = re.compile(r"dasd[a-z]+")
WANTED: Final = "expected files of /sys/kernel/debug/dasd/*/statistics, or dasdstat"
OFF: Final = (b"Statistics are off", b"/statistics:disabled")
WHAT: Final = "statistics of the DASD driver"

_PLACE: Final = re.compile(r"(?:==> )?(?:\S*[/:])?(?P<name>[^/\s:]+)/statistics(?: <==|:(?P<rest>.*))?$")
_COUNT: Final = re.compile(r"[0-9]{1,20}\Z")
_START: Final = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?\Z")
_NAMED: Final = re.compile(r"statistics data for statistic: (?P<name>\S+)")
_LABEL: Final = re.compile(r"[a-z][a-z0-9_]*$")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DasdStatistics:
    """What the driver counted of a device since its statistics were switched on."""

    name: str  # ``dasda``, a bus id, or ``global``; empty where the file does not say
    start: float | None  # begin of counting [s since 1970, UTC]
    requests: int  # requests; those that an alias did; sectors of 512 bytes
    via_alias: int | None
    sectors: int | None
    histograms: dict[str, Integers]  # counts in 32 classes: response, wait (build to start), service
    averages: dict[str, Interval]  # mean times since the start [s], truncated to microseconds
    line: int  # line of the file that they begin in
    all_devices: bool = False  # whether they are the sum over all DASDs

    @property
    def alias_share(self) -> float | None:
        """Share of the requests that an alias did; None without requests."""
        return None if not self.requests or self.via_alias is None else self.via_alias / self.requests

    @property
    def queue_length(self) -> Array | None:
        """Probability that a new request is the k-th at the start device, k from 0 to 31; the last is 31 or more."""
        counts = self.histograms.get("queue")
        return None if counts is None or not counts.sum() else np.asarray(counts / counts.sum())

    def mean(self, part: str) -> Interval | None:
        """Mean time of a request in a part of its way: the average where there is one, else between class ends [s]."""
        if part in self.averages:
            return self.averages[part] if self.requests else None
        counts = self.histograms.get(part)
        if counts is None or not counts.sum():
            return None
        shares = counts / counts.sum()
        low, high = float(shares @ EDGES[:-1]), float(shares[:-1] @ EDGES[1:-1])
        middles = EDGES[:-1] * LOG_UNIFORM
        middles[0] = EDGES[1] / 2
        return Interval(low, float(shares @ middles), float("inf") if counts[-1] else high)

    def since(self, before: DasdStatistics) -> DasdStatistics:
        """What was counted since an earlier reading of the same statistics."""
        if (before.name, before.start) != (self.name, self.start):
            wanted = f"an earlier reading of {self.name} that began at the same time"
            raise InputError("before", before.name, wanted)
        both = [name for name in self.histograms if name in before.histograms]
        differences = {name: self.histograms[name] - before.histograms[name] for name in both}
        requests = self.requests - before.requests
        if requests < 0 or any((each < 0).any() for each in differences.values()):
            raise InputError("before", before.requests, f"at most {self.requests} requests, as counters rise")
        pairs = {name: (getattr(self, name), getattr(before, name)) for name in TOTALS}
        totals: Any = {name: None if None in pair else pair[0] - pair[1] for name, pair in pairs.items()}
        averages = {
            name: Interval(max(total.low, 0.0), max(total.value, 0.0), total.high) / requests
            for name, mean in self.averages.items()
            if requests and name in before.averages
            for total in [mean * self.requests - before.averages[name] * before.requests]
        }
        return replace(self, start=None, histograms=differences, averages=averages, **totals)


def is_dasd_statistics(head: bytes) -> bool:
    """Whether a file holds such statistics, by its first bytes."""
    marks = (b"histogram_io_times", b"dasd I/O requests", b"statistics data for statistic:", *OFF)
    return b"\0" not in head and any(mark in head for mark in marks)


def read_dasd_statistics(path: Path | str, data: bytes | None = None) -> tuple[DasdStatistics, ...]:
    """Read all statistics in a file: one or several files of debugfs (by `cat`, `grep .` or `head`), or dasdstat."""
    path = Path(path)
    content = read_bytes(path) if data is None else data
    sections = _sections(path, read_text(path, content, WANTED) if content.strip() else "")
    if not sections and any(mark in content for mark in OFF):
        raise ReportError(path, "the statistics of the DASD driver were off; dasdstat -e starts them")
    if not sections:
        raise ReportError(path, f"no statistics: {WANTED}")
    return tuple(map(_statistics, sections))


@dataclass(slots=True)
class _Section:
    """Values of one device: name, line, numbers by key."""

    path: Path
    name: str
    line: int
    values: dict[str, list[int]] = field(default_factory=dict)
    scale: int = 1
    start: float | None = None
    printed: bool = False  # by /proc/dasd/statistics, tunedasd or dasdstat
    part: bool = False  # its reads and writes alone follow (dasdstat -l)

    @property
    def device(self) -> str:
        """For a message."""
        return self.name or "a device"

    def error(self, problem: str, line: int | None = None) -> ReportError:
        """Say what is wrong with it, or with a line of it."""
        return ReportError(self.path, problem, line=line or self.line)


def _sections(path: Path, text: str) -> list[_Section]:
    """Cut a text into devices."""
    found: list[_Section] = []
    section: _Section | None = None
    open_key: str | None = None  # histogram of dasdstat whose numbers follow
    for number, line in numbered(text):
        name, rest = _place(line)
        begins = name is not None and (section is None or section.name != name)
        begins |= rest.startswith("start_time ") and section is not None and bool(section.values)
        begins |= " dasd I/O requests" in rest and section is not None and "requests" in section.values
        if begins or (section is None and rest.strip()):
            kept = section.name if section is not None and name is None else ""
            section, open_key = _Section(path, name if name is not None else kept, number), None
            found.append(section)
        if section is not None and rest.strip():
            open_key = _line(section, number, rest.strip(), open_key)
    return [each for each in found if each.values]


def _place(text: str) -> tuple[str | None, str]:
    """Name of the device of a line, and the rest of the line."""
    if match := _NAMED.match(text.strip()) or _PLACE.match(text.strip()):
        return match["name"], match.groupdict().get("rest") or ""
    return None, text


def _line(section: _Section, number: int, text: str, open_key: str | None) -> str | None:
    """Take one line; the histogram whose numbers may follow is returned."""
    words = text.split()
    section.part |= re.fullmatch(r"[0-9]{1,20} dasd I/O (?:read|write) requests", text) is not None
    if section.part:
        return None
    if words[0] == "start_time" and len(words) == 2:  # noqa: PLR2004 - label and value
        if not _START.match(words[1]):
            raise section.error(f"start_time {shown(words[1])}: expected a number of seconds", number)
        section.start = float(words[1])
        return None
    if _LABEL.match(words[0]) and len(words) > 1 and all(map(_COUNT.match, words[1:])):
        _labelled(section, number, words)
        return None
    if all(map(_COUNT.match, words)):
        if open_key is not None:
            section.values.setdefault(open_key, []).extend(int(word) for word in words)
        return open_key
    for key, (_, pattern) in TOTALS.items():
        if match := re.fullmatch(pattern, text):
            section.values[key] = [int(match[1])]
            section.printed = True
    if match := re.match(r"Scale ([Ff])actor is\s+([0-9]{1,9})\Z", text):
        section.scale = int(match[2])
        section.printed = match[1] == "F"  # tunedasd -P, of one device, prints it small
    title = re.sub(r"\([0-9]+\.\.[0-9]+\)$", "", text).rstrip()
    if text.startswith("_"):  # headings of the classes
        return open_key
    return TITLES.get(title, "" if title.startswith("Histogram") else None)


def _labelled(section: _Section, number: int, words: list[str]) -> None:
    """A row of debugfs: a label and one number, or 32."""
    key = KEYS.get(words[0], words[0])
    wanted = CLASSES if words[0].startswith("histogram") else 1
    values = [int(word) for word in words[1:]]
    if len(values) != wanted or max(values) >= COUNTER_SIZE:
        raise section.error(f"{words[0]} has {len(values)} numbers: expected {wanted} below 2**32", number)
    if key in section.values:
        raise section.error(f"{words[0]} a second time for {section.device}", number)
    section.values[key] = values


def _statistics(section: _Section) -> DasdStatistics:
    values = section.values
    if "requests" not in values:
        raise section.error(f"no number of requests for {section.device}")
    counts = {key: values[key] for key in HISTOGRAMS if key in values}
    for key, each in counts.items():
        if len(each) != CLASSES:
            found = f"the histogram of {key} of {section.device} has {len(each)} numbers"
            raise section.error(f"{found}: expected {CLASSES}")
    totals: Any = {key: values[key][0] if key in values else None for key in TOTALS}
    if (totals["via_alias"] or 0) > totals["requests"]:
        used = f"{totals['via_alias']} requests used an alias, of {totals['requests']}"
        raise section.error(f"{used}: expected at most as many")
    averages = {
        part: (Interval(0.0, 0.5, 1.0) + values[label][0]) * MICROSECOND
        for part, (_, _, label) in HISTOGRAMS.items()
        if label and label in values
    }
    return DasdStatistics(
        name=section.name, start=section.start, averages=averages, line=section.line,
        histograms={key: np.array(each, np.int64) * section.scale for key, each in counts.items()},
        all_devices=section.printed and not section.name, **totals,
    )  # fmt: skip


def tables(path: Path | str, data: bytes | None = None, *, interval: float | None = None) -> schema.Tables:
    """Read block devices as rows of the one table; rates need the `interval` [s] that the counters cover."""
    found = read_dasd_statistics(path, data)
    named = [each for each in found if not each.all_devices]
    blocks = [each for each in named if BLOCK_DEVICE.fullmatch(each.name) or not each.name]
    others = ", ".join(each.name for each in named if each not in blocks)
    notes = []
    if len(named) < len(found):
        notes.append(
            "the statistics of all DASDs together are left out: a sum over volumes is none; "
            "/sys/kernel/debug/dasd/dasdX/statistics and tunedasd -P /dev/dasdX are of one"
        )
    if others:
        notes.append(f"{others} left out of the table: their requests are those of block devices")
    if interval is None:
        notes.append("the statistics do not say how long they counted: there are times, and no rates")
    numbers: dict[str, Any] = {}
    for name, counted in (("io_rate", "requests"), ("alias_rate", "via_alias")):
        counts = np.array([getattr(each, counted) for each in blocks], dtype=np.float64)  # nan for None
        numbers |= schema.exact(name, counts / (np.nan if interval is None else interval))
    for name in ("service", "response"):
        means = [each.mean(name) for each in blocks]
        for end, part in zip(schema.ENDS, ("value", "low", "high"), strict=True):
            numbers[f"{name}{end}"] = [None if mean is None else getattr(mean, part) for mean in means]
    labels = [each.name or Path(path).stem for each in blocks]
    rows = {
        "interval": interval, "kind": schema.VOLUME, "label": labels, "file": str(path),
        "line": [each.line for each in blocks],
    }  # fmt: skip
    frame = schema.frame(schema.DEVICES, rows | numbers, len(blocks))
    return schema.Tables(devices=frame, notes=tuple(f"{path}: {note}" for note in notes), what=WHAT)
