"""Measurements as users have them, DEVICE listings or CSV, to the runs that a fit compares.

The columns of a CSV file are documented in docs/calibration.md. Empty cells stand for what was not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from planner.calibrate.observation import Figure, Observation, observe
from planner.calibrate.tables import Row, read_rows
from planner.errors import InputError, ReportError
from planner.measurements import listing_run, totals_runs, volume_runs
from planner.reports import read_devices
from planner.reports.printed import Printed
from planner.reports.volume_totals import read_totals
from planner.units import MILLISECOND

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


def _csv_observations(path: Path, kind: str) -> list[Observation]:
    """One run a row, or one device a row where there is a column `role`; totals of supplied counters as they are."""
    header, rows = read_rows(path)
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
