"""z/OS: reports of the RMF postprocessor; DEVICE reports as rows of volumes, IOQ reports as supply of HyperPAV pools.

Headings are recognized as those of any table. Sums that a report prints are compared with its rows. The elements of the
XML are those of public samples of the format (ddsml: postprocessor, segment, part, table, row, col). No document type,
hence no entity, is read; depth and size are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Never
from xml.parsers import expat

import numpy as np
import polars as pl

from planner.errors import ReportError
from planner.render.text import counted, listed
from planner.reports import schema, volumes
from planner.reports.column_names import Plan, heading_words, plan_of
from planner.reports.csv_table import Allowed, CsvTable, check_width, frame_of, shown
from planner.reports.moments import read_dates
from planner.reports.volumes import NOTHING, NUMBERS, SHOWN, read_volumes
from planner.units import half_digit

WANTED: Final = "expected the XML of the RMF postprocessor with a DEVICE or an IOQ report"
MOST_BYTES: Final = 2**30
MOST_DEPTH: Final = 32
MOST_TEXT: Final = 4096  # characters of a cell
ROOT: Final = b"<ddsml"
HEAD: Final = {  # element: attribute of a report that has its text
    "resname": "system", "display-start": "start", "display-end": "end", "report-interval": "length",
}  # fmt: skip
_LENGTH: Final = re.compile(r"(\d{1,4}):(\d{2})[:.](\d{3})")


@dataclass(slots=True)
class XmlTable:
    """One table: the `segment` that it stands in, its `headings`, and of each row line, type and cells."""

    segment: str
    headings: list[str] = field(default_factory=list)
    rows: list[tuple[int, str, list[str]]] = field(default_factory=list)


@dataclass(slots=True)
class RmfReport:
    """One report of an interval: its `metric` such as DEVICE, and what its head says."""

    metric: str = ""
    system: str = ""
    start: str = ""
    end: str = ""
    length: str = ""
    american: bool = True
    begin: datetime | None = None  # of the interval; None where its date has no one meaning
    until: datetime | None = None
    tables: list[XmlTable] = field(default_factory=list)

    @property
    def source(self) -> str | None:
        """What distinguishes the interval from others where its date has no one meaning."""
        return self.start or None if self.begin is None else None

    @property
    def seconds(self) -> float | None:
        """Length of the interval [s]."""
        match = _LENGTH.fullmatch(self.length)
        if match is not None:
            return int(match[1]) * 60 + int(match[2]) + int(match[3]) / 1000
        found = (self.until - self.begin).total_seconds() if self.begin and self.until else 0.0
        return found if found > 0 else None


def is_rmf_xml(head: bytes) -> bool:
    """Whether a file is XML of RMF, by its first bytes."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and ROOT in head


def reports(path: Path, data: bytes) -> Iterator[RmfReport]:
    """Reports of one document, or of several one behind the other."""
    if len(data) > MOST_BYTES:
        wanted = f"expected at most {MOST_BYTES / 2**30:.3g} GiB of XML"
        raise ReportError(path, f"{len(data) / 2**30:.3g} GiB: {wanted}")
    encoding = None
    with suppress(UnicodeDecodeError):  # text that was made of another code still says that one
        data.decode()
        encoding = "utf-8"
    starts = [match.start() for match in re.finditer(rb"<\?xml\s", data)] or [0]
    starts[0] = 0
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        document = data[start:end].lstrip(b"\xef\xbb\xbf \t\r\n")
        yield from _Parser(path, data.count(b"\n", 0, start), encoding).reports(document)


class _Parser:
    """Takes one document apart."""

    def __init__(self, path: Path, before: int, encoding: str | None) -> None:
        self.path, self.before = path, before
        self.open: list[str] = []
        self.found: list[RmfReport] = []
        self.text: list[str] = []
        self.size = 0
        self.segment = ""
        self.row_type = ""
        self.cells: list[str] = []
        self.expat = expat.ParserCreate(encoding)
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = self.add
        self.expat.StartDoctypeDeclHandler = self.doctype

    def reports(self, data: bytes) -> list[RmfReport]:
        """What it holds."""
        try:
            self.expat.Parse(data, True)
        except expat.ExpatError as error:
            problem = f"no whole XML ({expat.ErrorString(error.code)}): {WANTED}"
            line, column = self.before + error.lineno, error.offset + 1
            raise ReportError(self.path, problem, line=line, column=column) from None
        except LookupError as error:  # an encoding that there is no codec for
            raise ReportError(self.path, f"{error}: {WANTED}") from None
        return self.found

    def refuse(self, problem: str) -> Never:
        """Raise the error of the place."""
        raise ReportError(self.path, problem, line=self.line)

    @property
    def line(self) -> int:
        """Line in the file."""
        return self.before + self.expat.CurrentLineNumber

    def doctype(self, *_: object) -> None:
        """Refuse declarations: they may hold entities."""
        self.refuse(f"a document type declaration, which RMF does not write; {WANTED}")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if len(self.open) >= MOST_DEPTH:
            self.refuse(f"more than {MOST_DEPTH} elements within each other; {WANTED}")
        self.open.append(name)
        self.text, self.size = [], 0
        if name == "postprocessor":
            self.found.append(RmfReport())
            self.segment = ""
        elif not self.found:
            return
        elif name == "metric":
            self.found[-1].metric = attributes.get("id", "").strip().upper()
        elif name == "display-start":
            self.found[-1].american = attributes.get("locale", "en-us").lower().startswith("en-us")
        elif name == "table":
            self.found[-1].tables.append(XmlTable(self.segment))
        elif name == "row":
            self.row_type, self.cells = attributes.get("type", "").upper(), []

    def add(self, text: str) -> None:
        """Take text of an element."""
        self.size += len(text)
        if self.size > MOST_TEXT and text.strip():
            self.refuse(f"more than {MOST_TEXT} characters of text in an element; {WANTED}")
        self.text.append(text)

    def end(self, name: str) -> None:
        """End an element."""
        self.open.pop()
        text, self.text, self.size = "".join(self.text).strip(), [], 0
        if not self.found:
            return
        report, parent = self.found[-1], self.open[-1] if self.open else ""
        table = report.tables[-1] if report.tables and "table" in self.open else None
        if name in HEAD:
            setattr(report, HEAD[name], text)
        elif name == "name" and parent == "segment":
            self.segment = text
        elif table is not None and name == "col":
            (table.headings if parent == "column-headers" else self.cells).append(" ".join(text.split()))
        elif table is not None and name == "row":
            width = len(table.headings)
            check_width(self.path, width, self.line)
            if width not in (0, len(self.cells)):
                found = counted(len(self.cells), "cell")
                self.refuse(f"{found}: expected {width}, as many as the table has headings")
            table.rows.append((self.line, self.row_type, self.cells))


SUM: Final = "SUM"
NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}")
SUMS: Final = re.compile(volumes.SUMS)
NOT_DISK: Final = re.compile(r"(?i)tape|communication|graphic|character|unit record")
LCU: Final = ("lcu", "logicalcontrolunit")
POOL_FIGURES: Final = (  # headings of an IOQ report: ratio of waits, most aliases in use, I/Os of a channel path
    (("hpavwait", "hyperpavwait", "hpavwaitratio", "hwait"), Allowed(most=1)),
    (("hpavmax", "hyperpavmax", "hmax"), Allowed(most=2**16 - 1, whole=True)),
    (
        ("chpidtaken", "channelpathtaken", "chpathtaken", "taken", "pathtaken"),
        Allowed(most=schema.LARGEST["1/s"]),
    ),
)
_POOL: Final = pl.col("pool").str.to_uppercase().str.zfill(4)
ELSEWHERE: Final = (  # where the time may go if not into the queue: report, heading, which row, words
    ("CHAN", re.compile(r"(?i)(?=.*total)(?=.*util)"), max, "the busiest channel path"),
    ("CACHE", re.compile(r"(?i)read.*(?:h/r|hit)"), min, "the lowest share of reads in the cache"),
)


def read_rmf(path: Path, data: bytes) -> schema.Tables:
    """Read every report of a file."""
    every = list(reports(path, data))
    texts = [text for report in every for text in (report.start, report.end)]
    with suppress(ValueError):
        dates = read_dates(texts, month_first=all(report.american for report in every)) or ()
        for report, begin, until in zip(every, dates[::2], dates[1::2], strict=False):
            report.begin, report.until = begin, until
    notes: list[str] = []
    read = [
        _devices(path, report, table, plan, notes)
        for report in every if report.metric == "DEVICE"
        for table in report.tables if not NOT_DISK.search(table.segment)
        for plan in [plan_of(table.headings)] if not plan.missing
    ]  # fmt: skip
    devices = schema.join(schema.DEVICES, [found.devices for found in read])
    supply = _supply(path, every, devices, notes)
    metrics = list(dict.fromkeys(report.metric or "without a name" for report in every))
    if not read and not supply.height:
        without = "without a table of devices or of HyperPAV pools"
        raise ReportError(path, f"RMF reports {listed(metrics) or 'none'} {without}; {WANTED}")
    used = {"DEVICE", "IOQ", *_elsewhere(path, every, notes)}
    if others := [metric for metric in metrics if metric not in used]:
        notes.append(f"{path}: nothing is taken from the reports {listed(others)}.")
    devices = devices.with_columns(_POOL)
    if not supply.height and devices["pool"].count():
        notes.append(f"{path}: {schema.NO_IOQ}")
    return schema.Tables(
        devices=devices, supply=supply, notes=tuple(dict.fromkeys(notes)), what="RMF reports in XML",
        missing=tuple(each for found in read for each in found.missing), columns=read[0].columns if read else "",
    )  # fmt: skip


def _elsewhere(path: Path, every: Sequence[RmfReport], notes: list[str]) -> set[str]:
    """Note the figures of channels and cache that say most of response times; the reports that they are from."""
    used = set()
    for metric, heading, worst, words in ELSEWHERE:
        found = [
            (float(cells[at]), line, cells[0], name)
            for report in every if report.metric.startswith(metric)
            for table in report.tables
            for at, name in enumerate(table.headings) if heading.search(name)
            for line, kind, cells in table.rows if kind != SUM and NUMBER.fullmatch(cells[at])
        ]  # fmt: skip
        if found:
            value, line, of, name = worst(found)
            notes.append(f"{path}, line {line}: {words}: {of}, {name} {value:g}.")
            used |= {report.metric for report in every if report.metric.startswith(metric)}
    return used


def _devices(path: Path, report: RmfReport, table: XmlTable, plan: Plan, notes: list[str]) -> schema.Tables:
    """Rows of volumes of a DEVICE report; devices without any number are offline, sums are compared."""
    place = {name.upper(): index for index, name in enumerate(table.headings)}
    at = {name: place[each.heading.upper()] for name, each in plan.taken.items()}
    numbers = [index for name, index in at.items() if name in NUMBERS]
    key = at["device"] if "device" in at else at["volume"]
    sums, offline, rows = [], [], []
    for line, kind, cells in table.rows:
        if kind == SUM or SUMS.match(cells[key]):
            sums.append(cells)
        elif all(cells[index].lower() in ("", *NOTHING) for index in numbers):
            offline.append(cells[key])
        else:
            rows.append((line, cells))
    if offline:
        notes.append(f"{path}: without any number, offline, left out: {listed(offline, SHOWN)}.")
    if not rows:
        return schema.Tables()
    begin, seconds = report.begin, report.seconds
    if report.start and begin is None:
        unknown = "the days of its intervals are unknown"
        notes.append(f"{path}: {report.start!r} is no time with one meaning: {unknown}.")
    header = [*table.headings, "system", "start", "interval_s", "run"]
    said = [report.system, "" if begin is None else begin.isoformat(), "" if seconds is None else f"{seconds:.10g}",
            report.source or ""]  # fmt: skip
    lines = np.array([line for line, _ in rows], dtype=np.int64)
    frame = frame_of([[*cells, *said] for _, cells in rows], len(header))
    found = read_volumes(CsvTable(path, b"", tuple(header), rows[0][0], frame, lines), {})
    notes += found.notes
    lost: Iterable[schema.Missing] = ()
    if not found.missing:
        units = pl.Series([cells[at["pool"]] if "pool" in at else "" for _, cells in rows], dtype=pl.String)
        lost = _unlike_sums(path, found.devices.with_columns(pool=units), sums, at, notes)
    return schema.Tables(devices=found.devices, missing=(*found.missing, *lost), columns=found.columns)


def _unlike_sums(
    path: Path, devices: pl.DataFrame, sums: Sequence[list[str]], at: Mapping[str, int], notes: list[str]
) -> Iterator[schema.Missing]:
    """Compare the rates of devices with the sums that the report prints of them."""
    for cells in sums:
        pool = cells[at["pool"]] if "pool" in at else ""
        try:
            said, half = float(cells[at["io_rate"]]), half_digit(cells[at["io_rate"]])
        except ValueError:
            continue
        some = devices.filter(pl.col("pool") == pool) if pool else devices
        low, high = float(some["io_rate_low"].sum()), float(some["io_rate_high"].sum())
        if low - half > said or said > high + half:
            of, total = f"LCU {pool}" if pool else "all", f"{some['io_rate'].sum():.6g} I/Os a second"
            report = f"the report says {said:.6g}: rows are missing."
            notes.append(f"{path}: the devices of {of} add up to {total}, {report}")
            yield schema.Missing(name=None, pool=pool or None)


def _supply(
    path: Path, reports: Sequence[RmfReport], devices: pl.DataFrame, notes: list[str]
) -> pl.DataFrame:
    """Rows of the table of pools from IOQ reports: the ratio of I/Os that found no alias, of the I/Os of the unit."""
    found = [
        (report, line, lcu, *numbers)
        for report in reports if report.metric == "IOQ"
        for table in report.tables
        for lcu, (line, *numbers) in _units(path, table).items()
    ]  # fmt: skip
    if not found:
        return schema.empty(schema.SUPPLY)
    schema.refuse_twice(devices)
    sums = devices.group_by("system", "source", "start", _POOL).agg(pl.col("io_rate").sum())
    rates = {(*key, pool): rate for *key, pool, rate in sums.iter_rows()}
    rows = []
    for report, line, lcu, wait, most, taken in found:
        rate = rates.get((report.system or None, report.source, report.begin, lcu), taken)
        tries = None if rate is None or report.seconds is None else round(rate * report.seconds)
        rows.append({
            "system": report.system or None, "source": report.source, "start": report.begin,
            "interval": report.seconds, "pool": lcu,
            "tries": tries, "fails": None if tries is None or wait is None else round(wait * tries),
            "most_used": most, "line": line,
        })  # fmt: skip
    unknown = sorted({row["pool"] for row in rows if row["tries"] is None})
    notes.append(
        f"{path}: requests for an alias are taken as all I/Os of the control unit, fails as HPAV WAIT of them, "
        "to half of its last digit."
    )
    if unknown:
        notes.append(f"{path}: no I/O rate of LCU {listed(unknown)}: give its DEVICE report.")
    types = {name: type_ for name, type_ in schema.dtypes(schema.SUPPLY).items() if name in rows[0]}
    whole = pl.DataFrame(rows, schema=types, strict=False).with_columns(
        restarted=False, plain=True, time=pl.col("start").dt.epoch("us") / 1e6 + pl.col("interval"),
        file=pl.lit(str(path)),
    )  # fmt: skip
    return schema.conform(schema.SUPPLY, whole, path)


def _units(path: Path, table: XmlTable) -> dict[str, tuple[Any, ...]]:
    """Of each control unit with HyperPAV: line, ratio of waits, most aliases in use, I/Os of its paths a second."""
    words = [heading_words(heading)[0] for heading in table.headings]

    def place(names: Sequence[str]) -> int | None:
        return next((words.index(name) for name in names if name in words), None)

    lcu_at, places = place(LCU), [place(names) for names, _ in POOL_FIGURES]
    if lcu_at is None or None in places[:2]:
        return {}

    def number(line: int, cells: Sequence[str], at: int | None, allowed: Allowed) -> float | None:
        """A number of the report; None where there is none."""
        if at is None or cells[at].lower() in ("", *NOTHING):
            return None
        try:
            return allowed.read(cells[at])
        except ValueError:
            problem = f"{table.headings[at]} {shown(cells[at])}: {allowed.expected(table.headings[at])}"
            raise ReportError(path, problem, line=line) from None

    found: dict[str, list[Any]] = {}
    lcu = ""
    for line, kind, cells in table.rows:
        lcu = cells[lcu_at] or lcu
        if not re.fullmatch(r"[0-9A-Fa-f]{1,4}", lcu):
            continue
        unit = found.setdefault(lcu.upper().zfill(4), [line, None, None, None])
        figures = zip(places, POOL_FIGURES, strict=True)
        wait, most, taken = (number(line, cells, at, allowed) for at, (_, allowed) in figures)
        unit[1] = wait if unit[1] is None else unit[1]
        unit[2] = most if unit[2] is None else unit[2]
        if kind != SUM and taken is not None:
            unit[3] = (unit[3] or 0.0) + taken
    return {lcu: tuple(unit) for lcu, unit in found.items() if unit[1] is not None or unit[2] is not None}
