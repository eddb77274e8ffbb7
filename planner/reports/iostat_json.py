"""What iostat prints as JSON: runs of reports as in its text; cut off, several in one file, with a stray comma."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from planner.errors import ReportError
from planner.reports.iostat_text import KNOWN, USED, DiskLine, DiskReport, IostatRun
from planner.reports.lines import read_text

WANTED: Final = "expected what iostat -x -t -o JSON 60 prints, with S_TIME_FORMAT=ISO set"

REPORT: Final = frozenset({"timestamp", "avg-cpu", "disk"})

_BEGIN: Final = re.compile(r'\{\s*"sysstat"\s*:')
_STRAY: Final = re.compile(r",(?=\s*[,}\]])")
_COMMA: Final = re.compile(r"(?<=: )([0-9]+),([0-9]+)(?=\s*[,}\]])")  # of a language with decimal commas
_STATISTICS: Final = re.compile(r'"statistics"\s*:\s*\[')
_STRUCTURE: Final = re.compile(r"[\[\]{}:,]")


class _TwiceError(ValueError):
    """A key that stands twice in an object, of which JSON would take the last."""


def is_json(head: bytes) -> bool:
    """Tell by its first bytes whether a file is what iostat prints as JSON."""
    return (
        head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        and b'"sysstat"' in head[:1000]
        and b'"hosts"' in head
    )


def read_runs(path: Path, data: bytes) -> tuple[list[IostatRun], list[str]]:
    """Read all runs of a file, and notes on what was lost."""
    text = read_text(path, data, WANTED)
    begins = [match.start() for match in _BEGIN.finditer(text)]
    if not begins or text[: begins[0]].strip():
        raise ReportError(path, f"no hosts; {WANTED}")
    runs: list[IostatRun] = []
    notes: list[str] = []
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        reader = _JsonReader(path, text.count("\n", 0, begin) + 1, notes)
        runs += reader.runs(_STRAY.sub(" ", _COMMA.sub(r"\1.\2", text[begin:end].rstrip())))
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
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _TwiceError(next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k])))
        return found

    def runs(self, text: str) -> list[IostatRun]:
        """Its runs; of one that is cut off the reports before that."""
        try:
            document, end = self.decoder.raw_decode(text)
            if text[end:].strip():
                raise json.JSONDecodeError("Extra data", text, end)
        except _TwiceError as error:
            raise self.error(f"{error.args[0]!r:.40} twice for one device") from None
        except RecursionError:
            raise self.error("lists or objects nested too deeply") from None
        except json.JSONDecodeError as error:
            if _STRUCTURE.search(text, error.pos):
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
                self.notes.append(
                    f"{self.path}, line {number}: the file is cut off in report {len(reports) + 1}, which is left out; "
                    "the reports before it are whole"
                )
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
        run = IostatRun(host.get("nodename"), host.get("release"), in_lines=False)
        for number, each in enumerate(self._objects("statistics", host.get("statistics", [])), 1):
            if unknown := each.keys() - REPORT:
                raise self.error(f"report {number}: {min(unknown)!r:.40} is none of iostat")
            time = each.get("timestamp")
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
