"""XML as the RMF postprocessor writes it: reports, their tables, headings and rows; what they mean says `rmf`.

The elements are those of public samples of the format (ddsml: postprocessor, segment, part, table, row, col). No
document type, hence no entity, is read; depth and size are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Never
from xml.parsers import expat

from planner.errors import ReportError
from planner.render.text import counted
from planner.reports.csv_table import check_width

WANTED: Final = "expected the XML of the RMF postprocessor with a DEVICE or an IOQ report"
MOST_BYTES: Final = 2**30
MOST_DEPTH: Final = 32
MOST_TEXT: Final = 4096  # characters of a cell
ROOT: Final = b"<ddsml"
_WHEN: Final = re.compile(r"(\d{2})/(\d{2})/(\d{4})-(\d{2})[.:](\d{2})[.:](\d{2})")
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})[-T ](\d{2})[.:](\d{2})[.:](\d{2})")
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
    tables: list[XmlTable] = field(default_factory=list)

    @property
    def begin(self) -> datetime | None:
        """When the interval began; None where the date has no one meaning."""
        return _moment(self.start, american=self.american)

    @property
    def seconds(self) -> float | None:
        """Length of the interval [s]."""
        match = _LENGTH.fullmatch(self.length)
        if match is not None:
            return int(match[1]) * 60 + int(match[2]) + int(match[3]) / 1000
        end = _moment(self.end, american=self.american)
        found = None if end is None or self.begin is None else (end - self.begin).total_seconds()
        return found if found is not None and found > 0 else None


def is_rmf_xml(head: bytes) -> bool:
    """Tell by its first bytes whether a file is XML of RMF."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and ROOT in head


def reports(path: Path, data: bytes) -> Iterator[RmfReport]:
    """Reports of one document, or of several one behind the other."""
    if len(data) > MOST_BYTES:
        raise ReportError(
            path, f"{len(data) / 2**30:.3g} GiB: expected at most {MOST_BYTES / 2**30:.3g} GiB of XML"
        )
    starts = [match.start() for match in re.finditer(rb"<\?xml\s", data)] or [0]
    starts[0] = 0
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        yield from _Parser(path, data.count(b"\n", 0, start)).reports(
            data[start:end].lstrip(b"\xef\xbb\xbf \t\r\n")
        )


class _Parser:
    """Takes one document apart."""

    def __init__(self, path: Path, before: int) -> None:
        self.path, self.before = path, before
        self.open: list[str] = []
        self.found: list[RmfReport] = []
        self.text: list[str] = []
        self.size = 0
        self.segment = ""
        self.row_type = ""
        self.cells: list[str] = []
        self.expat = expat.ParserCreate()
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
            raise ReportError(
                self.path, problem, line=self.before + error.lineno, column=error.offset + 1
            ) from None
        except (ValueError, LookupError) as error:  # an encoding that there is no codec for
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
        field_ = {
            "resname": "system",
            "display-start": "start",
            "display-end": "end",
            "report-interval": "length",
        }
        if name in field_:
            setattr(report, field_[name], text)
        elif name == "name" and parent == "segment":
            self.segment = text
        elif table is not None and name == "col":
            (table.headings if parent == "column-headers" else self.cells).append(" ".join(text.split()))
        elif table is not None and name == "row":
            if table.headings:
                check_width(self.path, len(table.headings), self.line)
                if len(self.cells) != len(table.headings):
                    self.refuse(f"{counted(len(self.cells), 'cell')}: expected {len(table.headings)}, as many as the "
                                "table has headings")  # fmt: skip
            table.rows.append((self.line, self.row_type, self.cells))


def _moment(text: str, *, american: bool) -> datetime | None:
    match, iso = _WHEN.fullmatch(text), _ISO.fullmatch(text)
    try:
        if iso is not None:
            return datetime(*map(int, iso.groups()))  # type: ignore[arg-type] # six numbers
        if match is None:
            return None
        month, day, year, *clock = map(int, match.groups())
        if not american and month != day:
            return None
        return datetime(year, month, day, *clock)  # type: ignore[arg-type] # three numbers
    except ValueError:
        return None
