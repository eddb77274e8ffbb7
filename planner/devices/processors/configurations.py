"""Measured configurations: processors, real storage and CPU time of a transaction, published or from a user's CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.errors import InputError, ReportError
from planner.library import data_path
from planner.reports.table import PublishedTable, read_table
from planner.units import GIB, MILLISECOND

PUBLISHED: Final = {"5.2": "table-3.csv", "5.3": "table-4.csv"}
HEADER: Final = (
    "processors, and cpu_ms or emulation_cpu_ms and cp_cpu_ms or itr; run and real_storage_GB are optional"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One measured configuration.

    `name` tells the run; `processors` share the work; `real_storage` [bytes] is None where it is not known;
    `emulation_time` and `cp_time` [s] are the CPU times of a transaction in guests and in CP. Where only
    their sum is known, `emulation_time` is the sum and `cp_time` None.
    """

    name: str
    processors: int
    real_storage: float | None
    emulation_time: float
    cp_time: float | None

    @property
    def cpu_time(self) -> float:
        """CPU time of a transaction [s]."""
        return self.emulation_time + (self.cp_time or 0.0)

    @property
    def internal_throughput(self) -> float:
        """Transactions of fully busy processors [1/s]."""
        return self.processors / self.cpu_time


def published(release: str = "5.3") -> tuple[Configuration, ...]:
    """Take the configurations of Table 3 (z/VM 5.2) or Table 4 (z/VM 5.3) of the report on real storage.

    Parameters
    ----------
    release : str, optional
        ``5.2`` or ``5.3``.

    Returns
    -------
    tuple of Configuration
        In the order of the table. The split of 5.2 into emulation and CP contradicts Table 1 (see the
        errata), so only its total is taken.

    Raises
    ------
    InputError
        Another release.

    Examples
    --------
    >>> [configuration.processors for configuration in published()]
    [3, 6, 8, 10, 12]
    """
    if release not in PUBLISHED:
        raise InputError("release", release, f"a release that was measured: {', '.join(PUBLISHED)}")
    table = read_table(data_path("real-storage", PUBLISHED[release]))
    return tuple(_published(table, run, split=release != "5.2") for run in table.columns[2:])


def _published(table: PublishedTable, run: str, *, split: bool) -> Configuration:
    emulation = "Emul CPU/Tx (p)" if split else "Total CPU/Tx (p)"
    return Configuration(
        name=run,
        processors=int(table.value("Processors", run)),
        real_storage=table.value("Real Storage (GB)", run, GIB),
        emulation_time=table.value(emulation, run, MILLISECOND),
        cp_time=table.value("CP CPU/Tx (p)", run, MILLISECOND) if split else None,
    )


def read_configurations(path: Path) -> tuple[Configuration, ...]:
    """Read measured configurations from a CSV file.

    Parameters
    ----------
    path : Path
        One row a configuration, with a header: ``processors``, and ``cpu_ms``, or ``emulation_cpu_ms`` and
        ``cp_cpu_ms``, or ``itr`` [1/s]; ``run`` and ``real_storage_GB`` are optional, other columns are
        passed over.

    Returns
    -------
    tuple of Configuration
        In the order of the file.

    Raises
    ------
    ReportError
        The file cannot be read, a column is missing, or a cell holds no number above zero.
    """
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True))
    except OSError as error:
        raise ReportError(
            path, f"cannot be read: {error.strerror}; expected a CSV file with {HEADER}"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReportError(path, f"expected a CSV file with {HEADER}: {error}") from error
    header = [name.strip() for name in lines[0]] if lines else []
    times = _times(path, header)
    found = []
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise ReportError(path, f"expected {len(header)} cells, found {len(cells)}", line=number)
        row = dict(zip(header, cells, strict=True))
        found.append(_configuration(path, number, row, times))
    if not found:
        raise ReportError(path, "expected at least one row below the header")
    return tuple(found)


def _times(path: Path, header: Sequence[str]) -> tuple[str, ...]:
    """Columns that give the CPU time of a transaction."""
    if len(set(header)) < len(header):
        raise ReportError(path, "expected each column once", line=1)
    choices = (("emulation_cpu_ms", "cp_cpu_ms"), ("cpu_ms",), ("itr",))
    times = next((choice for choice in choices if set(choice) <= set(header)), None)
    if times is None or "processors" not in header:
        raise ReportError(
            path, f"expected a header with {HEADER}; found {', '.join(header) or 'none'}", line=1
        )
    return times


def _configuration(path: Path, line: int, row: Mapping[str, str], times: tuple[str, ...]) -> Configuration:
    processors = _number(path, line, row, "processors")
    if processors != int(processors):
        raise ReportError(path, f"processors {row['processors']!r}: expected a whole number", line=line)
    numbers = [_number(path, line, row, name) for name in times]
    if times == ("itr",):
        emulation, cp = processors / numbers[0], None
    else:
        emulation, cp = numbers[0] * MILLISECOND, numbers[1] * MILLISECOND if len(numbers) > 1 else None
    storage = (
        _number(path, line, row, "real_storage_GB") * GIB if row.get("real_storage_GB", "").strip() else None
    )
    return Configuration(
        name=row.get("run", "").strip() or f"line {line}", processors=int(processors), real_storage=storage,
        emulation_time=emulation, cp_time=cp,
    )  # fmt: skip


def _number(path: Path, line: int, row: Mapping[str, str], name: str) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ReportError(path, f"{name} {row[name]!r}: expected a number above zero", line=line)
    return value
