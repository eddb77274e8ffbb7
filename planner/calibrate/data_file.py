"""Measurements as users have them, DEVICE listings or CSV, to the runs that a fit compares.

The columns of a CSV file are documented in docs/calibration.md. Empty cells stand for what was not measured.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from planner.calibrate.law import PARAMETERS
from planner.calibrate.observation import Figure, Observation, observe
from planner.errors import InputError, ReportError
from planner.measurements import listing_run, totals_runs, volume_runs
from planner.reports import read_devices
from planner.reports.printed import Printed
from planner.reports.volume_totals import read_totals
from planner.units import MILLISECOND, parse, parse_count

MEASURED: Final = {
    "io_rate": ("io_rate", 1.0),
    "service_ms": ("service_time", MILLISECOND),
    "response_ms": ("response_time", MILLISECOND),
    "wait_ms": ("wait_time", MILLISECOND),
    "queued": ("queued", 1.0),
}
COUNTS: Final = ("population", "aliases", "volumes")
NAMES: Final = ("run", "device", "role")
COLUMNS: Final = (*NAMES, *COUNTS, *MEASURED)
TOTALS: Final = "pool_aliases"  # a column that only a table of volume totals has
ROLES: Final = ("base", "alias")

Row = dict[str, str]


def read_observations(paths: Sequence[Path], kind: str) -> list[Observation]:
    """Read all measurements of a volume or a pool.

    Parameters
    ----------
    paths : sequence of Path
        DEVICE listings, or CSV files (by their ending).
    kind : {"volume", "pool"}
        What they were measured of.

    Returns
    -------
    list of Observation
        One a run.

    Raises
    ------
    ReportError
        A file cannot be read, or a row is not what its header promises.
    InputError
        The listing does not hold such a system.
    """
    found: list[Observation] = []
    for path in paths:
        if path.suffix.lower() == ".csv":
            found += _csv_observations(path, kind)
            continue
        for listing in read_devices(path):
            runs = volume_runs(listing) if kind == "volume" else [listing_run(listing)]
            found += [observe(run) for run in runs]
    return found


def known_values(settings: Sequence[str]) -> dict[str, float]:
    """Read what is known of the parameters, as ``think_time=0.2ms``.

    Parameters
    ----------
    settings : sequence of str
        Key and value of each; a time carries its unit.

    Returns
    -------
    dict
        SI values by key.

    Raises
    ------
    InputError
        No such parameter, or no such value.

    Examples
    --------
    >>> known_values(["think_time=0.2ms", "inflation=0"])
    {'think_time': 0.0002, 'inflation': 0.0}
    """
    units = {parameter.key: parameter.unit for parameter in PARAMETERS}
    found = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or key not in units:
            raise InputError("--fix", setting, f"KEY=VALUE with a key of {', '.join(units)}")
        zero = key != "service_time"
        found[key] = (
            parse(text, "time", argument=key, zero=zero) if units[key] else parse_count(text, argument=key)
        )
    return found


def _csv_observations(path: Path, kind: str) -> list[Observation]:
    """One run a row, or one device a row where there is a column `role`; totals of supplied counters as they are."""
    header, rows = _rows(path)
    if TOTALS in header:
        return [observe(run) for run in totals_runs(read_totals(path))]
    unknown = [name for name in header if name not in COLUMNS]
    if unknown:
        raise ReportError(path, f"unknown column {unknown[0]!r}; known are {', '.join(COLUMNS)}", line=1)
    by_device = "role" in header
    wanted = () if by_device else ("aliases", "volumes") if kind == "pool" else ("aliases",)
    missing = [name for name in wanted if name not in header]
    if missing or not set(header) & set(MEASURED):
        what = missing[0] if missing else f"one of {', '.join(MEASURED)}"
        raise ReportError(path, f"expected a column {what}; known are {', '.join(COLUMNS)}", line=1)
    if by_device:
        return _by_device(path, rows)
    return [_observation(path, line, row, kind) for line, row in rows]


def _rows(path: Path) -> tuple[list[str], list[tuple[int, Row]]]:
    try:
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReportError(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(path, "expected a table in CSV, found bytes that are no text") from error
    lines = [(n, cells) for n, cells in enumerate(csv.reader(io.StringIO(content)), start=1) if cells]
    if len(lines) < 2:  # noqa: PLR2004 - a header and a row
        raise ReportError(path, "expected a header and at least one row", line=1)
    header = [name.strip() for name in lines[0][1]]
    if len(set(header)) < len(header):
        raise ReportError(path, "expected each column once", line=1)
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise ReportError(path, f"expected {len(header)} cells, found {len(cells)}", line=number)
    return header, [(n, dict(zip(header, (c.strip() for c in cells), strict=True))) for n, cells in lines[1:]]


def _count(path: Path, line: int, row: Row, name: str, least: int) -> int | None:
    text = row.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or int(text) < least:
        raise ReportError(
            path, f"expected a count of at least {least} in column {name}, found {text!r}", line=line
        )
    return int(text)


def _figures(path: Path, line: int, row: Row) -> dict[str, Figure]:
    found = {}
    for column, (name, factor) in MEASURED.items():
        text = row.get(column, "")
        if not text:
            continue
        try:
            printed = Printed.from_text(text, factor)
        except ValueError as error:
            raise ReportError(
                path, f"expected a number in column {column}, found {text!r}", line=line
            ) from error
        found[name] = Figure(printed.value, printed.resolution)
    if not found:
        raise ReportError(path, f"expected a number in one of {', '.join(MEASURED)}", line=line)
    return found


def _observation(path: Path, line: int, row: Row, kind: str) -> Observation:
    aliases = _count(path, line, row, "aliases", 0)
    volumes = _count(path, line, row, "volumes", 1)
    if aliases is None or (kind == "pool" and volumes is None):
        raise ReportError(
            path, f"expected a count of {'aliases' if aliases is None else 'volumes'}", line=line
        )
    if kind == "volume" and (volumes or 1) > 1:
        raise ReportError(path, f"expected 1 volume, found {volumes}: several are a pool", line=line)
    figures = _figures(path, line, row)
    try:
        return Observation(
            name=row.get("run") or f"{path.stem} line {line}",
            volumes=volumes or 1,
            aliases=aliases,
            population=_count(path, line, row, "population", 1),
            figures=figures,
        )
    except InputError as error:
        raise ReportError(path, str(error), line=line) from error


def _by_device(path: Path, rows: Sequence[tuple[int, Row]]) -> list[Observation]:
    """Add up the devices of each run; rates and queues add, times are weighted by rate."""
    runs: dict[str, list[tuple[int, Row]]] = {}
    for line, row in rows:
        if row["role"] not in ROLES:
            raise ReportError(
                path, f"expected {' or '.join(ROLES)} in column role, found {row['role']!r}", line=line
            )
        runs.setdefault(row.get("run") or path.stem, []).append((line, row))
    return [_sum(path, name, devices) for name, devices in runs.items()]


def _sum(path: Path, name: str, devices: Sequence[tuple[int, Row]]) -> Observation:
    found = [(row["role"], _figures(path, line, row)) for line, row in devices]
    line = devices[0][0]
    if any({"io_rate", "service_time"} - set(figures) for _, figures in found):
        raise ReportError(path, "expected io_rate and service_ms of every device", line=line)
    bases = [figures for role, figures in found if role == "base"]
    if not bases:
        raise ReportError(path, f"expected a base among the devices of {name}", line=line)
    total = sum(figures["io_rate"].value for _, figures in found)
    if total <= 0:
        raise ReportError(path, f"expected a device of {name} with a rate above zero", line=line)
    service = sum(f["io_rate"].value * f["service_time"].value for _, f in found) / total
    figures = {
        "io_rate": Figure(total, sum(f["io_rate"].half for _, f in found)),
        "service_time": Figure(service, max(f["service_time"].half for _, f in found)),
    }
    if all("queued" in f for f in bases):
        figures["queued"] = Figure(
            sum(f["queued"].value for f in bases), sum(f["queued"].half for f in bases)
        )
    populations = {_count(path, n, row, "population", 1) for n, row in devices if row["role"] == "base"}
    if len(populations) > 1:
        raise ReportError(path, f"expected one population for all bases of {name}", line=line)
    return Observation(name=name, volumes=len(bases), aliases=len(found) - len(bases), population=populations.pop(),
                       figures=figures)  # fmt: skip
