"""Totals of volumes as a table, and the reader of such tables: those made here and those that people write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner import render
from planner.errors import ReportError
from planner.reports.csv_table import CsvTable, read_csv
from planner.reports.membership import device_words
from planner.reports.volume_counters import VolumeTotal
from planner.units import MILLISECOND, MOST_ALIASES

NEEDED: Final = ("io_rate", "service_ms")
NAMES: Final = ("device", "volume")
ALIASES: Final = ("pool_aliases", "aliases")
TIMES: Final = ("service_ms", "response_ms", "pend_ms", "disconnect_ms")
WANTED: Final = "a table of volumes (volume or device)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A number of a cell: `value`, and `half` a unit of its last digit, both in SI."""

    value: float
    half: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalRow:
    """One volume of such a file."""

    volume: str  # its name: a device number where the column is `device`
    pool: str | None  # its pool
    aliases: int | None  # aliases of that pool
    seconds: float | None  # time measured [s]; None where the file does not say
    io_rate: Known  # I/Os of the volume, those of its aliases among them [1/s]
    alias_rate: float  # I/Os of its aliases [1/s]
    service: Known | None  # mean times [s]; None where they were not measured, `service` without I/O only
    response: Known | None
    queued: Known | None  # mean I/Os queued; None where it was not measured
    pend: float | None  # mean times, parts of the service time [s]; None where they were not measured
    disconnect: float | None
    path: Path  # the file
    line: int  # where the row stands in it
    is_device: bool = False  # whether `volume` is a device number

    def error(self, problem: str) -> ReportError:
        """Make the error of this row."""
        return ReportError(self.path, problem, line=self.line)


def totals_table(volumes: Sequence[VolumeTotal]) -> render.Table:
    """Lay out volumes as columns; `read_totals` reads the CSV of it."""

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
    """Read volumes, one a row: what `planner read COUNTERS.csv --volume-totals --csv` writes, or a table like it."""
    table = read_csv(path, NEEDED, WANTED)
    key = _one_of(table, NAMES)
    names = device_words(table) if key == "device" else table.words("volume")
    pools = table.texts("pool")
    _check_twice(table, key, names, pools)
    numbers = {name: table.known(name) for name in ("io_rate", "queued", "interval_s", "alias_rate", *TIMES)}
    for name in ("io_rate", "alias_rate"):
        if table.has(name) and None in numbers[name]:
            raise table.error(numbers[name].index(None), name, "is empty: expected a number")
    column = next((name for name in ALIASES if table.has(name)), None)
    nothing: list[int | None] = [None] * len(names)
    aliases = table.counts_or_none(column, MOST_ALIASES) if column else nothing
    _check_pools(table, column, pools, aliases)
    rows = []
    for row, name in enumerate(names):
        cells = {heading: values[row] for heading, values in numbers.items()}
        rate, service = _known(cells["io_rate"]), _known(cells["service_ms"], MILLISECOND)
        assert rate is not None
        if rate.value > 0 and (service is None or service.value == 0):
            raise table.error(
                row, "service_ms", "is empty or 0: expected the service time of a volume with I/O"
            )
        pend, disconnect, seconds, by_aliases = (
            None if cells[part] is None else cells[part][0]  # type: ignore[index]
            for part in ("pend_ms", "disconnect_ms", "interval_s", "alias_rate")
        )
        found = TotalRow(
            volume=name,
            pool=pools[row] or None,
            aliases=aliases[row],
            seconds=seconds,
            io_rate=rate,
            alias_rate=by_aliases or 0.0,
            service=service,
            response=_known(cells["response_ms"], MILLISECOND),
            queued=_known(cells["queued"]),
            pend=None if pend is None else pend * MILLISECOND,
            disconnect=None if disconnect is None else disconnect * MILLISECOND,
            path=table.path,
            line=table.lines[row],
            is_device=key == "device",
        )
        _check_row(table, row, found)
        rows.append(found)
    return tuple(rows)


def _one_of(table: CsvTable, names: Sequence[str]) -> str:
    for name in names:
        if table.has(name):
            return name
    raise table.missing(" or ".join(names), f"{WANTED} with the columns {', '.join(NEEDED)}")


def _check_twice(table: CsvTable, key: str, names: list[str], pools: list[str]) -> None:
    """A device stands in the file once, a volume of another name once in its pool."""
    known: dict[tuple[str, str], int] = {}
    for row, name in enumerate(names):
        where = ("" if key == "device" else pools[row], name)
        if where in known:
            line = table.lines[known[where]]
            raise table.error(
                row, key, f"{name} a second time, first in line {line}: expected each volume once"
            )
        known[where] = row


def _check_pools(table: CsvTable, column: str | None, pools: list[str], aliases: list[int | None]) -> None:
    """Rows of a pool say the same of its aliases."""
    first: dict[str, int] = {}
    for row, pool in enumerate(pools):
        known = aliases[first.setdefault(pool, row)]
        if column and pool and aliases[row] != known:
            line, shown = table.lines[first[pool]], "none" if known is None else known
            raise table.error(
                row, column, f"of pool {pool} is not {shown} as in line {line}: expected one number"
            )


def _check_row(table: CsvTable, row: int, found: TotalRow) -> None:
    """Response, queue and service must not contradict each other, nor rate and service the devices."""
    rate, service, response = found.io_rate, found.service, found.response
    if service is None or rate.value <= 0:
        return
    queue = found.queued
    if response is not None:
        wait = response.value - service.value
        room = response.half + service.half
        if wait < -room:
            raise table.error(row, "response_ms", "is below service_ms: expected service and wait together")
        if queue is not None:
            least, most = (rate.value - rate.half) * (wait - room), (rate.value + rate.half) * (wait + room)
            if not least - queue.half <= queue.value <= most + queue.half:
                problem = (
                    f"is not what io_rate x (response - service) allows, {max(least, 0):.3g} to {most:.3g}"
                )
                raise table.error(row, "queued", f"{problem}: they contradict each other")
    devices = 1 + (found.aliases or 0)
    busy = (rate.value - rate.half) * (service.value - service.half)
    if (queue is not None or response is not None) and busy > devices:
        raise table.error(
            row, "io_rate", f"x service_ms keeps {busy:.3g} devices busy: expected at most {devices}, base and aliases"
        )  # fmt: skip


def _known(cell: tuple[float, float] | None, unit: float = 1.0) -> Known | None:
    return None if cell is None else Known(value=cell[0] * unit, half=cell[1] * unit)
