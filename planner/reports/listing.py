"""Performance Toolkit listings in general: pages, what a page head says, and how the headings of DSPACESH look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from planner.errors import ReportError
from planner.reports.device_rows import DEVICE
from planner.reports.lines import Line

_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_STAMP: Final = rf"[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}} {_CLOCK}"
HEAD: Final = re.compile(r"(?P<carriage>[01+-]?)\s*FCX(?P<report>[0-9]{3})\s+(?P<kind>Run|CPU)(?=\s)")
_PRINTED: Final = re.compile(rf".*? Run (?P<produced>{_STAMP})(?: |$)")
_SCREEN: Final = re.compile(rf".*? Interval (?P<start>{_CLOCK}) *- *(?P<end>{_CLOCK})(?: |$)")
_FROM_TO: Final = re.compile(rf" *(?P<word>From|To) +(?P<stamp>{_STAMP})(?: |$)")
_FOR: Final = re.compile(r" *For +(?P<seconds>[0-9]+) Secs +[0-9:]+(?P<rest> .*|)$")
_RUN: Final = re.compile(
    r" +(?:Result of (?P<result>.+?) Run|This is a performance report for (?P<system>\S+))"
)
_FORMS: Final = {"date and time": "%Y/%m/%d %H:%M:%S", "time of day": "%H:%M:%S"}
CARRIAGE: Final = frozenset("01+-")
DSPACESH: Final = "FCX134"
REPORTS: Final = {DEVICE: "DEVICE", DSPACESH: "DSPACESH"}
LEFT: Final = (
    "Userid", "Data", "Space", "Name", "Permt", "Pgstl", "Pgrds", "Pgwrt", "X-rds", "X-wrt", "X-mig",
)  # fmt: skip
RIGHT: Final = ("Total", "Resid", "R<2GB", "Lock", "L<2GB", "Count", "Lockd", "XSTOR", "DASD")
NO_HALF_HEAD: Final = (
    "a half of a DSPACESH listing without its page head: expected a DSPACESH listing, which starts with "
    f"'{DSPACESH}  Run ...'"
)
STRAY_ROW: Final = "a row without its page head: expected 'FCXnnn  Run ...' and a heading above it"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """What a page head says; None or empty where it does not say it.

    `report` is the id such as ``FCX108``, `produced` when the listing was made, `start` and `end` the measured interval
    (times of day without a date on a screen), `interval` its length as printed [s]; `run` and `system` are names.
    """

    report: str
    produced: datetime | None = None
    start: datetime | time | None = None
    end: datetime | time | None = None
    interval: float | None = None
    run: str = ""
    system: str = ""


def head_columns(heads: Iterable[PageHead]) -> dict[str, list[Any]]:
    """What heads say, as columns of the schema; a time of day has no date, hence is no start."""
    every = list(heads)
    return {
        "system": [head.system or None for head in every],
        "source": [head.run or None for head in every],
        "start": [head.start if isinstance(head.start, datetime) else None for head in every],
        "interval": [head.interval for head in every],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a report: what its `head` says, its `first` line, and all `lines` below that."""

    head: PageHead
    first: Line
    lines: tuple[Line, ...]


def nothing_of(path: Path, reports: Sequence[str], *wanted: str) -> ReportError:
    """Make the error of a file that holds other `reports` than those `wanted`; any of `REPORTS` where none is named."""
    found = f"holds {', '.join(reports)} only" if reports else "holds no Performance Toolkit listing"
    names = " or ".join(f"a {REPORTS[report]} listing ({report})" for report in wanted or REPORTS)
    return ReportError(path, f"{found}; expected {names}, with its page head 'FCXnnn  Run ...'")


def has_headings(line: Line, headings: Sequence[str]) -> bool:
    """Whether most of the headings stand on this line."""
    half = len(headings) // 2
    if not any(map(line.text.__contains__, headings[: half + 1])):  # which says so at once of most lines
        return False
    return len(set(headings) & set(line.text.split())) > half


def read_head(path: Path, page: tuple[Line, ...]) -> PageHead:
    """Read the head line and the lines From, To, For that follow it up to a rule or a blank line."""
    first = page[0]
    match = HEAD.match(first.text)
    assert match is not None  # a page is cut at such a line
    head = PageHead(report=f"FCX{match['report']}")
    if match["kind"] == "CPU":
        return _screen_head(path, first, head)
    printed = _PRINTED.match(first.text)
    if printed is None:
        raise first.error(path, "damaged page head: expected 'Run yyyy/mm/dd hh:mm:ss'", match.start("kind"))
    head = replace(head, produced=_moment(path, first, printed, "produced"))
    for line in takewhile(lambda line: line.text.strip(" _"), page[1:]):
        head = head if line.is_blank else _interval_line(path, line, head)
    if (head.start is None) != (head.end is None):
        there, missing = ("From", "To") if head.end is None else ("To", "From")
        wanted = f"expected '{missing} yyyy/mm/dd hh:mm:ss', too"
        raise first.error(path, f"a page head with '{there}' alone: {wanted}")
    if isinstance(head.start, datetime) and isinstance(head.end, datetime) and head.end <= head.start:
        raise first.error(path, f"the interval ends at {head.end} but starts at {head.start}")
    return head


def _interval_line(path: Path, line: Line, head: PageHead) -> PageHead:
    """Add what a line From, To or For says; other lines of a head say nothing that is kept."""
    word = line.text.split(maxsplit=1)[0]
    if word not in {"From", "To", "For"}:
        return head
    found = (_FOR if word == "For" else _FROM_TO).match(line.text)
    if found is None:
        form = "nnn Secs hh:mm:ss" if word == "For" else "yyyy/mm/dd hh:mm:ss"
        raise line.error(path, f"expected '{word} {form}'", line.text.index(word))
    if word == "For":
        run = _RUN.match(found["rest"])
        name, system = (run["result"] or run["system"], run["system"] or "") if run else ("", "")
        return replace(head, interval=float(found["seconds"]), run=name.strip(), system=system)
    moment = _moment(path, line, found, "stamp")
    return replace(head, start=moment) if word == "From" else replace(head, end=moment)


def _screen_head(path: Path, line: Line, head: PageHead) -> PageHead:
    """Read the interval of a screen; it shows times of day only and may pass midnight."""
    found = _SCREEN.match(line.text)
    if found is None:
        wanted = "expected 'Interval hh:mm:ss - hh:mm:ss'"
        raise line.error(path, f"damaged page head: {wanted}", line.text.index("CPU"))
    start, end = (_moment(path, line, found, name, "time of day") for name in ("start", "end"))
    return replace(head, start=start.time(), end=end.time(), interval=float((end - start).seconds))


def _moment(path: Path, line: Line, match: re.Match[str], name: str, what: str = "date and time") -> datetime:
    try:
        return datetime.strptime(match[name], _FORMS[what])
    except ValueError as error:
        raise line.error(path, f"no such {what}: {match[name]!r}", match.start(name)) from error
