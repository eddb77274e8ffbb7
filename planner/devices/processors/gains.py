"""What z/VM 5.3 brings over 5.2: four measured pairs of runs, a table and no law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner import render
from planner.library import data_path
from planner.reports.table import read_table
from planner.units import GIB

PERCENT: Final = 0.01
LABELS: Final = {"throughput": "throughput", "total_cpu": "CPU", "virtual_cpu": "virtual", "cp_cpu": "CP"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """One pair of runs, Table 1 of the report on real storage.

    `configuration` numbers it; `contention` is page reads per second of processor time on 5.2 [1/s];
    `real_storage` [bytes]; `processors` of `processor_model`; `throughput`, `total_cpu`, `virtual_cpu` and
    `cp_cpu` are changes from 5.2 to 5.3 [share], the CPU times those of a transaction.
    """

    configuration: str
    contention: float
    real_storage: float
    processors: int
    processor_model: str
    throughput: float
    total_cpu: float
    virtual_cpu: float
    cp_cpu: float


def gains() -> tuple[Gain, ...]:
    """Take the four pairs as published.

    Returns
    -------
    tuple of Gain
        In the order of the table. The throughput of configuration 4 contradicts Tables 3 and 4 (see the
        errata).

    Examples
    --------
    >>> [round(gain.throughput, 3) for gain in gains()]
    [0.103, 0.01, 0.155, 0.216]
    """
    table = read_table(data_path("real-storage", "table-1.csv"))
    return tuple(
        Gain(
            configuration=name,
            contention=table.value("Contention (z/VM 5.2 Pageins/CPU-sec)", name),
            real_storage=table.value("Real Storage", name, GIB),
            processors=int(table.value("Processors", name)),
            processor_model=table.text("Processor Type/Model", name),
            throughput=table.value("Throughput", name, PERCENT),
            total_cpu=table.value("Total CPU/tx", name, PERCENT),
            virtual_cpu=table.value("Virtual CPU/tx", name, PERCENT),
            cp_cpu=table.value("CP CPU/tx", name, PERCENT),
        )
        for name in table.columns[2:]
    )


def nearest(contention: float) -> Gain:
    """Find the pair whose contention is nearest.

    Parameters
    ----------
    contention : float
        Page reads per second of processor time [1/s].

    Returns
    -------
    Gain
        As measured; nothing is interpolated.

    Examples
    --------
    >>> nearest(340.0).configuration
    '3'
    """
    return min(gains(), key=lambda gain: abs(gain.contention - contention))


def gain_table(contention: float | None = None) -> render.Table:
    """Lay out the pairs, least contention first.

    Parameters
    ----------
    contention : float, optional
        The pair nearest to it is marked [1/s].

    Returns
    -------
    render.Table
        Changes in percent.
    """
    rows = sorted(gains(), key=lambda gain: gain.contention)
    near = None if contention is None else nearest(contention)
    changes = {name: [100 * getattr(row, name) for row in rows] for name in LABELS}
    return render.Table(
        columns=(
            render.Column(name="contention", unit="1/s", label="pageins", values=[row.contention for row in rows]),
            render.Column(name="real_storage", unit="GB", label="storage",
                          values=[row.real_storage / GIB for row in rows]),
            render.Column(name="processors", unit="", values=[row.processors for row in rows]),
            render.Column(name="processor_model", unit="", label="model", values=[row.processor_model for row in rows]),
            *(
                render.Column(name=f"{name}_change", unit="percent", label=LABELS[name], values=values, decimals=1)
                for name, values in changes.items()
            ),
        ),
        marks=tuple("recommended" if row == near else "" for row in rows),
    )  # fmt: skip
