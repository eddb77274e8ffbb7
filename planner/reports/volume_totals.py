"""Totals of volumes as a table, and that table read back from its CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner import render
from planner.reports.csv_table import CsvTable, read_csv
from planner.reports.membership import device_words
from planner.reports.volume_counters import VolumeTotal
from planner.units import MILLISECOND

NEEDED: Final = (
    "device", "pool", "pool_aliases", "interval_s", "io_rate", "alias_rate", "pend_ms", "disconnect_ms", "service_ms",
    "queued",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalRow:
    """One volume of such a file.

    Attributes
    ----------
    device : str
        Base device number.
    pool : str or None
        Its pool.
    pool_aliases : int or None
        Aliases of that pool.
    seconds : float
        Time measured [s].
    io_rate, alias_rate : float
        I/Os of the volume, those of its aliases among them [1/s].
    pend, disconnect, service : float or None
        Mean times [s]; None without I/O.
    queued : float or None
        Mean I/Os queued; None where it was not measured.
    """

    device: str
    pool: str | None
    pool_aliases: int | None
    seconds: float
    io_rate: float
    alias_rate: float
    pend: float | None
    disconnect: float | None
    service: float | None
    queued: float | None


def totals_table(volumes: Sequence[VolumeTotal]) -> render.Table:
    """Lay out volumes as columns; `read_totals` reads the CSV of it.

    Parameters
    ----------
    volumes : sequence of VolumeTotal
        The volumes.

    Returns
    -------
    render.Table
        One row a volume, rates [1/s] and times [ms].
    """

    def times(values: list[float | None]) -> list[float | None]:
        return [None if value is None else value / MILLISECOND for value in values]

    columns = (
        ("device", "", [v.device for v in volumes], "device", None),
        ("pool", "", [v.pool for v in volumes], "pool", None),
        ("pool_aliases", "", [v.pool_aliases for v in volumes], "aliases", 0),
        ("interval", "s", [v.seconds for v in volumes], "measured", 0),
        ("io_rate", "1/s", [v.io_rate for v in volumes], "I/O rate", None),
        ("base_rate", "1/s", [v.base_rate for v in volumes], "base", None),
        ("alias_rate", "1/s", [v.alias_rate for v in volumes], "aliases", None),
        ("pend", "ms", times([v.pend for v in volumes]), "pend", 3),
        ("connect", "ms", times([v.connect for v in volumes]), "connect", 3),
        ("disconnect", "ms", times([v.disconnect for v in volumes]), "disc", 3),
        ("service", "ms", times([v.service for v in volumes]), "service", 3),
        ("queued", "", [v.queued for v in volumes], "queued", 2),
        ("response", "ms", times([v.response for v in volumes]), "response", 3),
    )
    return render.Table(
        columns=tuple(
            render.Column(name=name, unit=unit, values=values, label=label, decimals=decimals)
            for name, unit, values, label, decimals in columns
        )
    )


def read_totals(path: Path | str) -> tuple[TotalRow, ...]:
    """Read the CSV file that `planner read COUNTERS.csv --volume-totals --csv` writes.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    tuple of TotalRow
        One a volume.

    Raises
    ------
    ReportError
        The file is no such table, or a volume stands in it twice.
    """
    table = read_csv(path, NEEDED, "volume totals")
    devices = device_words(table)
    for row, device in enumerate(devices):
        if device in devices[:row]:
            raise table.error(row, "device", f"{device} a second time: expected each volume once")
    number = {name: table.numbers_or_none(name) for name in NEEDED[2:]}
    for name in ("interval_s", "io_rate", "alias_rate"):
        _no_gaps(table, name, number[name])
    pools = [row[table.names.index("POOL")] or None for row in table.rows]
    return tuple(
        TotalRow(
            device=device,
            pool=pools[row],
            pool_aliases=None
            if number["pool_aliases"][row] is None
            else int(number["pool_aliases"][row] or 0),
            seconds=number["interval_s"][row] or 0.0,
            io_rate=number["io_rate"][row] or 0.0,
            alias_rate=number["alias_rate"][row] or 0.0,
            pend=_seconds(number["pend_ms"][row]),
            disconnect=_seconds(number["disconnect_ms"][row]),
            service=_seconds(number["service_ms"][row]),
            queued=number["queued"][row],
        )
        for row, device in enumerate(devices)
    )


def _no_gaps(table: CsvTable, name: str, values: list[float | None]) -> None:
    if None in values:
        raise table.error(values.index(None), name, "is empty: expected a number")


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds * MILLISECOND
