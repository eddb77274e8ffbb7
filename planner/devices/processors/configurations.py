"""Measured configurations: processors, real storage and CPU time of a transaction, published or from a user's CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.errors import InputError
from planner.library import data_path
from planner.reports.csv_table import Allowed, read_csv
from planner.reports.table import PublishedTable, read_table
from planner.units import GIB, MILLISECOND

PUBLISHED: Final = {"5.2": "table-3.csv", "5.3": "table-4.csv"}
TIMES: Final = (
    ("emulation_cpu_ms", "cp_cpu_ms"),
    ("cpu_ms",),
    ("itr",),
)  # what gives the CPU time of a transaction
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
    what = f"measured configurations with the columns {HEADER}"
    table = read_csv(path, (), what)
    table.require(("processors",), what)
    times = next((choice for choice in TIMES if all(map(table.has, choice))), None)
    if times is None:
        raise table.missing(", or ".join(" and ".join(choice) for choice in TIMES), what)
    whole, above_zero = Allowed(whole=True, zero=False), Allowed(zero=False)
    numbers = {
        name: table.known(name, whole if name == "processors" else above_zero)
        for name in ("processors", "real_storage_GB", *times)
    }
    for name in ("processors", *times):
        if None in numbers[name]:
            raise table.error(numbers[name].index(None), name, "is empty: expected a number")
    names = table.texts("run")
    return tuple(
        _configuration(
            names[row] or f"line {line}",
            {name: cell[0] for name, cells in numbers.items() if (cell := cells[row])},
        )
        for row, line in enumerate(table.lines)
    )


def _configuration(name: str, numbers: Mapping[str, float]) -> Configuration:
    """One row: its numbers by heading."""
    processors = numbers["processors"]
    if "itr" in numbers:
        emulation, cp = processors / numbers["itr"], None
    elif "cpu_ms" in numbers:
        emulation, cp = numbers["cpu_ms"] * MILLISECOND, None
    else:
        emulation, cp = (numbers[f"{part}_cpu_ms"] * MILLISECOND for part in ("emulation", "cp"))
    storage = numbers.get("real_storage_GB")
    return Configuration(
        name=name, processors=int(processors), real_storage=None if storage is None else storage * GIB,
        emulation_time=emulation, cp_time=cp,
    )  # fmt: skip
