"""What iostat and sar -d print as text, by the headings of any release of sysstat, and dates in many languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from planner.errors import ReportError
from planner.reports.lines import numbered, read_text
from planner.reports.moments import ORDERS, DateParts, dated, time_of_day

WANTED: Final = "expected what iostat -x -t 60 prints, or with -o JSON, or sar -d"
RATES: Final = ("r/s", "w/s", "d/s", "f/s", "tps", "rrqm/s", "wrqm/s", "drqm/s", "rqm/s")
AWAITS: Final = ("await", "r_await", "w_await", "d_await", "f_await")
USED: Final = frozenset((*RATES, *AWAITS, "aqu-sz", "avgqu-sz", "%util"))
KNOWN: Final = re.compile(
    r"tps|[rwdf]/s|[rwd]?rqm/s|%[rwd]?rqm|(?:[rwdf]_)?await|[rwd]?areq-sz|avg[rq]q-sz|avgqu-sz|aqu-sz|svctm|%util"
    r"|(?:rd_|wr_|[rwd])?(?:sec|kB|MB|GB)/s|(?:Blk|kB|MB|GB|sec)_(?:read|wrtn|dscd|w\+d)(?:/s)?"
)
_HEADER: Final = re.compile(r"\s*Linux (?P<release>\S+) \((?P<host>[^)]*)\)\s*(?P<date>\S*)")
_QUOTED: Final = re.compile(rb"^(?:[>#] ?)+", re.MULTILINE)  # by a mail, or in a comment
_OF_PCP: Final = re.compile(rb"^# (?:Timestamp +)?Device .*\n[^#\n]", re.MULTILINE)
# Of pcp iostat -t, in each row.
_STAMP: Final = re.compile(r"\w{3} \w{3} [ 0-9][0-9] [0-9:]{8} [0-9]{4}(?= )")
# Of sar, in each row and heading.
_CLOCK: Final = re.compile(
    r"(?:[上下]午)?[0-9]{1,2}[:.时時][0-9]{2}[:.分][0-9]{2}秒?(?: {1,2}[AaPp]\.?[Mm]\.?)?(?= )"
)
_OF_SAR: Final = re.compile(rf"^{_CLOCK.pattern} +(?:DEV +tps .*|tps .* DEV)$", re.MULTILINE)
_OF_SYSSTAT: Final = re.compile(rf"\s*Linux \S+ \([^)\n]*\).*\n\s*{_CLOCK.pattern}")
_DEV: Final = re.compile(r" +DEV(?= +tps )| DEV$")  # the last heading with -p of release 12 and -h
# Of the disks of the DASD driver, four minor numbers each.
_MINOR: Final = re.compile(r"(?<= )dev94-([0-9]{1,6})(?= |$)")
_NUMBER: Final = re.compile(r"[0-9]{1,30}(?:[.,][0-9]{1,4})?")
_UNIT: Final = re.compile(r"(?P<number>[0-9]{1,30}(?:[.,][0-9]{1,4})?)[kMGTP%]?")
_OTHERS: Final = {
    r"extended device statistics": "iostat of Solaris or FreeBSD",
    r"^Filesystem:? .*\bk?B/s": "cifsiostat or nfsiostat",
    r"\bKB/t +(?:tps|xfrs)\b": "iostat of FreeBSD or macOS",
    r"% tm_act": "iostat of AIX",
    r"^ *hostname;interval;timestamp;": "sadf",
}
DAY: Final = timedelta(days=1)

_SIGNS: Final = str.maketrans({"年": "-", "月": "-", "日": " ", "时": ":", "時": ":", "分": ":", "秒": " "})
_FORM: Final = re.compile(
    r"(?:Time: ?)?(?:(?P<date>[0-9]{1,4}(?P<sign>[./-])[0-9]{1,2}(?P=sign)[0-9]{2,4})\.?[ T]+)?"
    r"(?P<before>上午|下午|오전|오후)? ?(?P<clock>[0-9]{1,2}[:.][0-9]{2}[:.][0-9]{2}) ?(?P<half>[AaPp]\.?[Mm]\.?)?"
)


@dataclass(slots=True)
class DiskLine:
    """A device of a report: `line`, `name`, whether it is a `group` of several, and its `cells` by heading."""

    line: int
    name: str
    group: bool
    cells: dict[str, str]
    parts: int = 1


@dataclass(slots=True)
class DiskReport:
    """The devices of one interval, and its `time` as printed; `line` is that of its heading, or its number."""

    line: int
    time: str | None
    rows: dict[str, DiskLine] = field(default_factory=dict)
    parts: list[frozenset[str]] = field(default_factory=list)


@dataclass(slots=True)
class IostatRun:
    """One start of iostat on a `host` with a kernel `release`, None where its head is missing.

    By what wrote it (`by`: iostat, JSON, pcp or sar): in JSON places are numbers of reports; of pcp the first
    report is of an interval too; that of sar is the time at which the first interval begins.
    """

    host: str | None = None
    release: str | None = None
    by: str = "iostat"
    reports: list[DiskReport] = field(default_factory=list)


def is_text(head: bytes) -> bool:
    """Whether a file holds reports of iostat, or of a program much like it, by its first bytes."""
    text = _bare(head).decode("utf-8", "replace")
    if "FCX" in text:
        return False
    lines = [line.split() for line in text.splitlines()]
    return (
        any(_heading(words) or words[:1] == ["avg-cpu:"] for words in lines)
        or bool(_OF_SAR.search(text) or _OF_SYSSTAT.match(text))
        or (_other(text) is not None and "," not in text.partition("\n")[0])
    )


def _bare(data: bytes) -> bytes:
    """With blanks for the marks of a quotation or comment."""
    return _QUOTED.sub(lambda match: b" " * len(match[0]), data)


def _heading(words: list[str]) -> bool:
    """Whether a line is that above a table."""
    words = words[words[:1] == ["Timestamp"] :]
    named = bool(words) and "Device" in (words[0].rstrip(":"), words[-1])
    return named and not {"tps", "r/s", "w/s", "d/s", "f/s", "%util"}.isdisjoint(words)


def _other(text: str) -> str | None:
    """Name a program whose tables look much like these."""
    return next((name for mark, name in _OTHERS.items() if re.search(mark, text, re.MULTILINE)), None)


def read_runs(path: Path, data: bytes) -> tuple[list[IostatRun], list[str]]:
    """Read all runs of a file, and notes on what else it holds."""
    text = read_text(path, _bare(data), WANTED)
    by = "sar" if _OF_SAR.search(text) else "pcp" if _OF_PCP.search(data) else "iostat"
    if _OF_SYSSTAT.match(text) and by != "sar":
        raise ReportError(path, "tables of sar without that of the disks; expected what sar -d prints")
    reader = _TextReader(path, text, by)
    for number, line in numbered(text.removesuffix("\n")):
        reader.take(number, line.rstrip())
    return reader.end()


class _TextReader:
    """Lines one by one into runs."""

    def __init__(self, path: Path, text: str, by: str) -> None:
        self.path, self.runs, self.by = path, list[IostatRun](), by
        self.date = ""  # of sar
        self.last = text.rstrip().count("\n") + 1  # line with anything on it
        self.open = not text.endswith("\n")  # has no end
        self.whole = _other(text)
        self.columns: list[str] = []  # of the open table
        self.name_first, self.indent = True, 0
        self.time: str | None = None
        self.fresh, self.cpu = True, False  # the next heading begins a report; numbers of the CPU follow
        self.after_cpu = False  # no heading since those
        self.alone: tuple[int, str, bool] | None = None  # a name on a line of its own, with -h
        self.mark: str | None = None
        self.ignored: list[tuple[int, str]] = []
        self.cut: int | None = None
        self.blank_after = False

    def error(self, problem: str, line: int, column: int | None = None) -> ReportError:
        return ReportError(self.path, problem, line=line, column=column)

    def take(self, number: int, text: str) -> None:
        """One line."""
        if self.by == "pcp" and (match := _STAMP.match(text)):
            self.time, text = match[0], " " * match.end() + text[match.end() :]
        if self.by == "sar":
            text = self._row_of_sar(number, text)
        words = text.split()
        self.blank_after = not words
        if not words:
            self._close()
            return
        cpu, self.cpu = self.cpu, False
        if match := _HEADER.match(text):
            self._close()
            self._begin_run(match["host"], match["release"])
            self.fresh, self.time, self.after_cpu, self.date = True, None, False, match["date"]
        elif words[0] == "avg-cpu:":
            self._close()
            if self.after_cpu and self.time is None:
                self._without_table(number)
            self.cpu = self.fresh = self.after_cpu = True
        elif cpu and all(map(_UNIT.fullmatch, words)):
            pass
        elif _heading(words):
            self._begin(number, text, words)
        elif _iso(text) is not None or _FORM.fullmatch(_plain(text)) is not None:  # a time and nothing else
            self._close()
            if self.time is not None:
                self._without_table(number)
            self.time, self.fresh, self.after_cpu = text.strip(), True, False
        elif not (self.columns and self._row(number, text, words)):
            self._other_line(number, text, words)

    def _row_of_sar(self, number: int, text: str) -> str:
        """A line of sar -d as iostat has it; empty for lines of other tables, means, and after a restart.

        The first heading of a run has the time at which its first interval begins.
        """
        match = _CLOCK.match(text)
        if match is None:
            return text if _HEADER.match(text) else ""
        time, rest = f"{self.date} {match[0]}", text[match.end() :]
        if "RESTART" in rest:  # counters begin again
            last = self.runs[-1] if self.runs else IostatRun()
            self._begin_run(last.host, last.release)
            self.fresh = True
        blanks = " " * match.end()
        if "tps" in rest and _DEV.search(rest):
            if not self.runs or not self.runs[-1].reports:
                self.time = time
                self._without_table(number)
                self.time = None
            return blanks + _DEV.sub(lambda name: f" {'Device':>{len(name[0]) - 1}}", rest)
        if not self.columns:
            return ""
        self.time = time
        return blanks + _MINOR.sub(lambda minor: _disk_of(int(minor[1])), rest)

    def _begin_run(self, host: str | None = None, release: str | None = None) -> None:
        self.runs.append(IostatRun(host, release, self.by))

    def _close(self) -> None:
        self.columns, self.alone = [], None

    def _without_table(self, number: int) -> None:
        """A report of which nothing but its time, or the CPU, is there: its place must not be that of the next one."""
        if not self.runs:
            self._begin_run()
        self.runs[-1].reports.append(DiskReport(number, self.time))

    def _begin(self, number: int, text: str, words: list[str]) -> None:
        """A heading: of a new report, or of a further part of the last one."""
        words = words[words[:1] == ["Timestamp"] :]
        self.name_first = words[0].rstrip(":") == "Device"
        columns = words[1:] if self.name_first else words[:-1]
        if number == self.last and self.open:
            self.cut = number
        for k, name in enumerate(columns):
            if number != self.cut and (not KNOWN.fullmatch(name) or name in columns[:k]):
                problem = f"heading {name!r:.40} is none of iostat, or stands there twice; {WANTED}"
                raise self.error(problem, number, text.index(name) + 1)
        if not self.runs:
            self._begin_run()
        self._close()
        reports, there = self.runs[-1].reports, frozenset(columns)
        if (
            self.by == "sar" and not self.fresh and reports[-1].parts == [there]
        ):  # the heading again, at any row
            self.columns = columns
            return
        if self.fresh or not reports or any(there & part for part in reports[-1].parts):
            reports.append(DiskReport(number, self.time))
            self.time, self.fresh, self.after_cpu = None, False, False
        reports[-1].parts.append(there)
        self.columns, self.indent = columns, len(text) - len(text.lstrip()) * (self.by != "sar")

    def _row(self, number: int, text: str, words: list[str]) -> bool:
        """A row of the open table; False for any other line."""
        count = len(self.columns)
        deeper = len(text) - len(text.lstrip()) > self.indent
        group = deeper if self.name_first else bool(re.search(r"  \S+$", text))
        if self.name_first and len(words) == 1 and not _UNIT.fullmatch(words[0]) and self.alone is None:
            self.alone = number, words[0], group
            self.ignored.append(self.alone[:2])  # unless its numbers follow
            return True
        if not _UNIT.fullmatch(words[0]):
            self.alone = None
        line, name = number, words[0] if self.name_first else words[-1]
        cells = words[1:] if self.name_first else words[:-1]
        if self.alone is not None:
            line, name, group = self.alone
            cells, self.alone = words, None
            self.ignored.pop()
        numbers = sum(bool(_UNIT.fullmatch(word)) for word in cells)
        if numbers < min(3, count) and (numbers < len(cells) or not cells):  # too few for a row
            return False
        if number == self.last and (len(cells) < count or (self.open and not self._ends_well(cells))):
            self.cut = number
            return True
        if len(cells) != count:
            raise self.error(f"{len(cells)} numbers below {count} headings; {WANTED}", number)
        report = self._of_sample(name, number) if self.by in ("pcp", "sar") else self.runs[-1].reports[-1]
        self._add(report, DiskLine(line, name, group, {}), number, text, cells)
        return True

    def _of_sample(self, name: str, number: int) -> DiskReport:
        """Report that a row of pcp iostat or sar is of: one heading is above many, each with its devices once."""
        reports = self.runs[-1].reports
        again = name in reports[-1].rows if self.time is None else self.time != reports[-1].time
        if reports[-1].rows and again:
            reports.append(DiskReport(number, None, parts=reports[-1].parts))
        reports[-1].time = self.time
        return reports[-1]

    def _ends_well(self, cells: list[str]) -> bool:
        """Whether the last line of the file, which has no end, is whole: as many cells, as many decimals."""
        decimals = {len(cell.rstrip("%").replace(",", ".").partition(".")[2]) for cell in cells[-2:]}
        return len(cells) == len(self.columns) and len(decimals) == 1

    def _add(self, report: DiskReport, row: DiskLine, number: int, text: str, cells: list[str]) -> None:
        for name, cell in zip(self.columns, cells, strict=True):
            match = (_NUMBER if name in USED - {"%util"} else _UNIT).fullmatch(cell)
            if match is None:
                problem = f"{row.name}: {name} is {cell!r:.40}: expected a number; {WANTED}"
                raise self.error(problem, number, text.find(cell) + 1)
            digits = match[0] if name != "%util" else match["number"]
            for mark in re.findall("[.,]", digits):
                if self.mark not in (None, mark):
                    problem = f"{row.name}: {name} is {cell!r}: decimals with {self.mark!r} before"
                    raise self.error(problem, number)
                self.mark = mark
            if name in USED:
                row.cells["aqu-sz" if name == "avgqu-sz" else name] = digits.replace(",", ".")
        known = report.rows.get(row.name)
        if known is None and len(report.parts) == 1:
            report.rows[row.name] = row
            return
        if known is None or known.parts + 1 != len(report.parts):
            how = "a second time" if known else "only"
            raise self.error(f"{row.name} {how} in this report; {WANTED}", number)
        known.cells |= row.cells
        known.parts += 1

    def _other_line(self, number: int, text: str, words: list[str]) -> None:
        """A line that is not iostat's; one that looks like numbers of a device is refused."""
        inside = bool(self.columns) and number == self.last and self.open
        self._close()
        numbers = sum(bool(_UNIT.fullmatch(word)) for word in words)
        if numbers >= max(3, len(words) / 2):  # as many as in a row
            if self.whole is not None and not any(run.reports for run in self.runs):
                raise self.error(f"this is {self.whole}; {WANTED}, of Linux (sysstat)", number)
            raise self.error(f"numbers without the headings of iostat above them; {WANTED}", number)
        if all(map(KNOWN.fullmatch, words)):
            raise self.error(f"headings that go on in a second line: the lines are wrapped; {WANTED}", number)
        if inside:
            self.cut = number
        else:
            self.ignored.append((number, text.strip()))

    def end(self) -> tuple[list[IostatRun], list[str]]:
        """What was read; refused where there is no table with response times."""
        if self.alone is not None and self.alone[0] == self.last and self.open:
            self.cut = self.last
            self.ignored.pop()
        reports = self.runs[-1].reports if self.runs else []
        begun = self.after_cpu or (self.time is not None and self.by not in ("pcp", "sar"))
        if begun and reports and all(report.parts for report in reports):
            self._without_table(self.last)
            self.cut = self.last
        self.runs = [run for run in self.runs if any(report.parts for report in run.reports)]
        if not self.runs:
            what = "iostat -c prints no devices" if self.whole is None else f"this is {self.whole}"
            raise ReportError(self.path, f"{what}; {WANTED}, of Linux (sysstat)")
        for report in (report for run in self.runs for report in run.reports):
            for row in (row for row in report.rows.values() if row.parts != len(report.parts)):
                if report is self.runs[-1].reports[-1] and not (self.cut is None and self.blank_after):
                    self.cut = self.cut or self.last
                    break
                raise self.error(f"{row.name} stands in some parts of the report only; {WANTED}", row.line)
        notes = []
        if self.ignored:
            (number, text), lines = self.ignored[0], "lines" if len(self.ignored) > 1 else "line"
            where = f"the first in line {number}: {text:.60}"
            notes.append(f"{self.path}: {len(self.ignored)} {lines} not of iostat ignored, {where}")
        self._without_cut(notes)
        return self.runs, notes

    def _without_cut(self, notes: list[str]) -> None:
        """Leave out the last report where it is cut off: within a row, or after the first devices of the one before."""
        reports = self.runs[-1].reports
        names = list(reports[-1].rows)
        before = reports[-2] if len(reports) > 1 else DiskReport(0, None)
        fewer = len(names) < len(before.rows) and list(before.rows)[: len(names)] == names
        short = (fewer and not self.blank_after) or len(reports[-1].parts) < len(before.parts)
        if self.cut is None and not short:
            return
        line = self.cut or reports[-1].line
        where = f"{self.path}, line {line}: the file is cut off in report {len(reports)}"
        if len(reports) == 1:
            raise self.error(f"the file is cut off in its only report; {WANTED}", line)
        reports.pop()
        notes.append(f"{where}, which is left out; the reports before it are whole")


def _disk_of(minor: int) -> str:
    """Name of a disk of the DASD driver, dasda to dasdz, dasdaa and so on; dev94-N of a partition.

    >>> _disk_of(4), _disk_of(104), _disk_of(5)
    ('dasdb', 'dasdaa', 'dev94-5')
    """
    number, part = divmod(minor, 4)
    if part:
        return f"dev94-{minor}"
    letters = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        letters, number = chr(ord("a") + letter) + letters, number - 1
    return f"dasd{letters}"


def _plain(text: str) -> str:
    return " ".join(text.translate(_SIGNS).replace(": ", " ").split()) if "秒" in text else text.strip()


def _iso(text: str) -> datetime | None:
    try:
        if _STAMP.match(f"{text} "):
            return datetime.strptime(text.strip(), "%a %b %d %H:%M:%S %Y")
        return datetime.fromisoformat(text.strip()) if text.isascii() and "T" in text else None
    except ValueError:
        return None


def moments(texts: Sequence[str | None]) -> tuple[list[datetime | None], list[datetime | None]]:
    """Read times of one run: moments where the date has one meaning (05/06/24 may have none), else clocks."""
    iso = [None if text is None else _iso(text) for text in texts]
    if all(iso):
        return iso, iso
    try:
        parts = list(map(_parts, texts))
    except ValueError:
        return [None] * len(texts), [None] * len(texts)
    several = dated(parts)
    rising = [each for each in several if all(now > before for before, now in pairwise(each))]
    days = [[moment.date() for moment in each] for each in rising]
    near = [
        each for each, of in zip(rising, days, strict=True)
        if of[0] != of[-1] and all(now - before <= DAY for before, now in pairwise(of))
    ]  # fmt: skip
    for choice in (several, rising, near):
        if len(choice) == 1:
            return list(choice[0]), list(choice[0])
    return [None] * len(texts), _clocks(parts)


def _parts(text: str | None) -> DateParts:
    """Take a time apart; the month is first where the clock has 12 hours, the day before points."""
    match = _FORM.fullmatch(_plain(text or ""))
    if match is None:
        raise ValueError(text)
    half = match["half"] or {"上午": "AM", "오전": "AM", "下午": "PM", "오후": "PM"}.get(match["before"])
    hour, minute, second = re.split("[:.]", match["clock"])
    of_day = time_of_day(match[0], hour, minute, second, None, half)
    if match["date"] is None:
        return (), (), of_day
    numbers = match["date"].split(match["sign"])
    orders = {".": ("dmy",), "/": ("mdy",) if match["half"] else ("mdy", "dmy")}.get(match["sign"], ORDERS)
    whole_year = len(numbers[0]) > 2  # noqa: PLR2004 - digits
    return ("ymd",) if whole_year else orders, tuple(map(int, numbers)), of_day


def _clocks(parts: Sequence[DateParts]) -> list[datetime | None]:
    """Clocks on a day after another where they turn back on another date; None throughout where they do so on one."""
    found: list[datetime | None] = []
    day = datetime(2000, 1, 1)
    for k, (_, date, of_day) in enumerate(parts):
        if k and of_day <= parts[k - 1][2] and (date != parts[k - 1][1] or not date):
            day += DAY
        found.append(day + of_day)
    return found


def over_midnight(moments: Sequence[datetime | None]) -> list[datetime | None]:
    """Times of one run of sar, which prints the date once: a clock that turns back by half a day shows the next day."""
    found, days = list[datetime | None](), 0
    for before, now in pairwise((None, *moments)):
        days += before is not None and now is not None and before - now >= DAY / 2
        found.append(now and now + days * DAY)
    return found


def lengths(path: Path, clocks: Sequence[datetime | None], lines: Sequence[int]) -> list[float | None]:
    """Length of each interval [s], from one report to the next; None for the first, and where there are no times."""
    found: list[float | None] = [None] * len(clocks)
    for k, (before, now) in enumerate(pairwise(clocks), 1):
        if before is None or now is None:
            continue
        if (now.tzinfo is None) != (before.tzinfo is None):
            problem = f"reports {k} and {k + 1}: expected both times with their offset from UTC, or neither"
            raise ReportError(path, problem, line=lines[k])
        found[k] = length = (now - before).total_seconds()
        if length <= 0:
            order = "reports in order of time; with TZ=UTC they are, where a clock was set back"
            problem = f"report {k + 1} at {now} follows one at {before}: expected {order}"
            raise ReportError(path, problem, line=lines[k])
    return found
