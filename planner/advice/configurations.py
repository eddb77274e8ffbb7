"""Measured configurations of processors: published ones, those in a file, and the gain from one release to the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from planner import library, render
from planner.answer import tabled
from planner.calibrate.costs import PROCESSOR_HEADINGS, PROCESSOR_NEEDED, TIMES, cpu_time
from planner.calibrate.data_file import Measurements, read_measurements
from planner.errors import InputError
from planner.quantity import column
from planner.reports import Printed, read_table
from planner.units import GIB, MILLISECOND

REPORT: Final = "real-storage"
PUBLISHED: Final = {  # table of a release, and its rows of CPU times; of 5.2, only the sum agrees with Table 1
    "5.2": ("table-3.csv", {"cpu_ms": "Total CPU/Tx (p)"}),
    "5.3": ("table-4.csv", {"emulation_cpu_ms": "Emul CPU/Tx (p)", "cp_cpu_ms": "CP CPU/Tx (p)"}),
}
CONTENTION: Final = "Contention (z/VM 5.2 Pageins/CPU-sec)"
CHANGES: Final = {
    "throughput": ("throughput", "Throughput"), "total_cpu": ("CPU", "Total CPU/tx"),
    "virtual_cpu": ("virtual", "Virtual CPU/tx"), "cp_cpu": ("CP", "CP CPU/tx"),
}  # fmt: skip
WANTED: Final = (
    "measured configurations with the columns processors, and cpu_ms or emulation_cpu_ms and cp_cpu_ms or itr; run and "
    "real_storage_GB are optional"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredConfiguration:
    """One measured configuration.

    `name` is the run; `processors` share the work; `real_storage` [bytes] is None if unknown;
    `emulation_time` and `cp_time` [s] are the CPU times of a transaction in guests and in CP; where only the sum is
    known, it is `emulation_time`, and `cp_time` None. `rounding` is half the resolution of the printed sum [s].
    """

    name: str
    processors: int
    real_storage: float | None
    emulation_time: float
    cp_time: float | None
    rounding: float = 0.0

    @property
    def cpu_time(self) -> float:
        """CPU time of a transaction [s]."""
        return self.emulation_time + (self.cp_time or 0.0)

    @property
    def internal_throughput(self) -> float:
        """Transaction rate at full utilization [1/s]."""
        return self.processors / self.cpu_time

    @property
    def run(self) -> Measurements:
        """The configuration as a run for `planner calibrate`."""
        numbers = {
            "processors": Printed(float(self.processors), 0.0),
            "cpu_ms": Printed(self.cpu_time, self.rounding),
        }
        return Measurements(name=self.name, path=Path(), line=1, numbers=numbers, words={})


def published(release: str = "5.3") -> tuple[MeasuredConfiguration, ...]:
    """Read the configurations of Table 3 (z/VM 5.2) or Table 4 (z/VM 5.3) of the report on real storage."""
    InputError.unless_one_of("release", release, PUBLISHED)
    name, times = PUBLISHED[release]
    table = read_table(library.data_path(REPORT, name))
    return tuple(
        _read(Measurements(name=run, path=Path(), line=1, words={}, numbers={
            "processors": table.printed("Processors", run),
            "real_storage_GB": table.printed("Real Storage (GB)", run, GIB),
            **{heading: table.printed(row, run, MILLISECOND) for heading, row in times.items()},
        }))
        for run in table.columns[2:]
    )  # fmt: skip


def read_configurations(path: Path) -> tuple[MeasuredConfiguration, ...]:
    """Read measured configurations from a CSV file."""
    rows = read_measurements(
        [path], PROCESSOR_HEADINGS, PROCESSOR_NEEDED, expected=WANTED, one_of=TIMES, others=True
    )
    return tuple(_read(row) for row in rows)


def _read(row: Measurements) -> MeasuredConfiguration:
    total, numbers = cpu_time(row), row.numbers
    apart = "cpu_ms" not in numbers and "cp_cpu_ms" in numbers
    return MeasuredConfiguration(
        name=row.name,
        processors=int(row.value("processors")),
        real_storage=row.value("real_storage_GB") or None,
        emulation_time=row.value("emulation_cpu_ms") if apart else total.value,
        cp_time=row.value("cp_cpu_ms") if apart else None,
        rounding=total.resolution,
    )


def gain_table(contention: float | None = None) -> render.Table:
    """The four measured pairs of z/VM 5.3 and 5.2, least contention first; no model, the nearest is marked."""
    table = read_table(library.data_path(REPORT, "table-1.csv"))
    # page reads per CPU-second on 5.2
    contentions = {pair: table.value(CONTENTION, pair) for pair in table.columns[2:]}
    at = contention or 0.0
    near = None if contention is None else min(contentions, key=lambda pair: abs(contentions[pair] - at))
    columns = (
        column("contention", "1/s", "pageins", of=contentions.get),
        column("real_storage", "GB", "storage", of=partial(table.value, "Real Storage")),
        column("processors", of=lambda pair: int(table.value("Processors", pair))),
        column("processor_model", label="model", of=partial(table.text, "Processor Type/Model")),
        *(
            column(f"{key}_change", "percent", label, 1, partial(table.value, row))
            for key, (label, row) in CHANGES.items()
        ),
    )
    pairs = sorted(contentions, key=contentions.__getitem__)
    return tabled(pairs, columns, ("nearest" if pair == near else "" for pair in pairs))
