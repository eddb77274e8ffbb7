"""Volume counters (monitor record MRIODDEV) from a CSV file: what each volume did, by its base and all its aliases.

The fields IODDEV_SC... of a base tell what the base device did, IODDEV_PAV... what all aliases did on its behalf; times
are in units of 128 microseconds. Alias devices have records of their own whose I/Os stand in the record of their base
already: they are no volumes, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.csv_table import CsvTable
from planner.reports.membership import BITS, Membership, device_words, members_of, with_pools
from planner.reports.supply import (
    OFTEN,
    Backwards,
    Counts,
    check_order,
    clock_after,
    places,
    steps,
    steps_of,
    system_of,
)
from planner.results import Array
from planner.units import MONITOR_TIME

BASE: Final = ("IODDEV_SCGSSCH", "IODDEV_SCMFPTIM", "IODDEV_SCMCNTIM", "IODDEV_SCMDDTIM")
ALIAS: Final = ("IODDEV_PAVSSCH", "IODDEV_PAVFPTIM", "IODDEV_PAVCNTIM", "IODDEV_PAVDDTIM")
COLUMNS: Final = ("time", "device", *BASE, *ALIAS)
WHAT: Final = "volume counters (MRIODDEV)"
INTERVAL: Final = "interval_s"
SAY_DELTAS: Final = "; where each row holds what was counted since the row before, say --deltas"
QUEUES: Final = ("queue", "queued", "qued", "base_queue", "req_qued")


@dataclass(frozen=True, slots=True)
class CountedVolumes:
    """Intervals of volume counters, one device after the other, and how they were read.

    `devices` are the names, each interval `of` one of them; `counted` (8, intervals) are I/Os and times [s] of base and
    aliases, `seconds` the length of each interval, `ends` and `rows` its end and the row of the file that closes it,
    `queued` the queue in it. Times count from `start`; `notes` say how rows were taken.
    """

    table: CsvTable
    system: str | None
    devices: list[str]
    of: NDArray[np.int64]
    counted: Array
    seconds: Array
    ends: Array
    rows: NDArray[np.int64]
    queued: Array | None
    start: datetime | None
    membership: Membership | None
    notes: tuple[str, ...]

    def totals(self, values: Array) -> Array:
        """Add up the intervals of each device, the last axis."""
        return np.add.reduceat(values, np.searchsorted(self.of, np.arange(len(self.devices))), axis=-1)


def count_volumes(table: CsvTable, membership: Membership | None, *, deltas: bool | None) -> CountedVolumes:
    """Read volume counters interval by interval."""
    table.require(COLUMNS, f"{WHAT} with the columns {', '.join(COLUMNS)}")
    system = system_of(table)
    members = dict(sorted(places(device_words(table)).items()))
    times, start = table.times("time")
    counters = np.array([table.counts(name) for name in (*BASE, *ALIAS)])
    queue = _queue_column(table)
    queued = None if queue is None else table.numbers(queue)
    lengths = table.numbers(INTERVAL) if table.has(INTERVAL) else None
    for device, of_device in members.items():
        check_order(table, of_device, times[of_device], f"device {device}")
    notes = []
    as_deltas = lengths is not None if deltas is None else deltas
    if deltas is None and lengths is None and _look_like_deltas(counters, times, list(members.values())):
        as_deltas = True
        taken = "rows are read as counted since the row before"
        notes.append(f"The I/Os fall too often for counters that rise: {taken}.")
    parts = [
        _count(table, device, of_device, times, counters, lengths, deltas=as_deltas)
        for device, of_device in members.items()
    ]
    each_counted, each_seconds, each_rows, each_restarts = zip(*parts, strict=True)
    counted = np.concatenate(each_counted, axis=1)
    if not counted.any():
        problem = "no device counted anything: expected counters that rise"
        raise ReportError(table.path, problem + ("" if as_deltas else SAY_DELTAS), line=1, column=1)
    if as_deltas and lengths is None:
        notes.append("The first row of each device only starts the clock.")
    if restarts := sum(each_restarts):
        notes.append(f"{restarts} intervals in which counters started again are left out.")
    if membership is None and all(map(table.has, BITS)):
        membership = Membership(table.path, members_of(table))
    rows, of = np.concatenate(each_rows), np.repeat(np.arange(len(parts)), [each.size for each in each_rows])
    return CountedVolumes(
        table, system, list(members), of, counted, np.concatenate(each_seconds), times[rows], rows,
        None if queued is None else queued[rows], start, membership, tuple(notes),
    )  # fmt: skip


def _queue_column(table: CsvTable) -> str | None:
    """Name of the column that holds the queue."""
    found = [name for name in QUEUES if table.has(name)]
    if len(found) > 1:
        raise table.error(0, found[1], f"and {found[0]} both look like the queue: expected one of them")
    return found[0] if found else None


def _look_like_deltas(counters: Counts, times: Array, members: Sequence[NDArray[np.int64]]) -> bool:
    """Whether the counters would begin anew, or run backwards, so often that they cannot be such that rise."""
    anew, taken = 0, 0
    for rows in members:
        taken += rows.size - 1
        try:
            anew += int(steps(counters[:, rows], np.diff(times[rows])).restarted.sum())
        except Backwards:
            anew += int((np.diff(counters[0, rows]) < 0).sum())
    return anew > 1 and anew > OFTEN * taken


def _count(
    table: CsvTable,
    device: str,
    rows: NDArray[np.int64],
    times: Array,
    counters: Counts,
    lengths: Array | None,
    *,
    deltas: bool,
) -> tuple[Array, Array, NDArray[np.int64], int]:
    """What one device counted in its intervals, their lengths, the rows that close them, and how many restarted."""
    counted, length = counters[:, rows], np.diff(times[rows])
    use = np.ones(rows.size, dtype=bool)
    restarts = 0
    if not (deltas and lengths is not None):
        if rows.size == 1:
            wanted = f"expected two, or a column {INTERVAL} that says what time the row counts"
            raise table.error(int(rows[0]), "device", f"{device} has one record only: {wanted}")
        use[0] = False
    if deltas:
        seconds = lengths[rows] if lengths is not None else np.concatenate([[0.0], length])
        if not (seconds[use] > 0).all():
            at = int(rows[use][np.argmin(seconds[use])])
            raise table.error(at, INTERVAL, "is 0: expected a time above 0")
    else:
        step = steps_of(table, rows, (*BASE, *ALIAS), counted, length, SAY_DELTAS)
        counted, seconds = np.insert(step.counted, 0, 0, axis=1), np.concatenate([[0.0], length])
        use[1:] = ~step.restarted
        restarts = int(step.restarted.sum())
    if not use.any():
        raise table.error(int(rows[0]), "device", f"{device} started again between its only records")
    found = counted[:, use].astype(np.float64)
    found[[1, 2, 3, 5, 6, 7]] *= MONITOR_TIME
    return found, seconds[use], rows[use], restarts


def alias_devices(counted: CountedVolumes) -> tuple[list[str], list[str]]:
    """List the devices that are aliases, as members or their counts say, and notes on how that is known."""
    devices, roles = counted.devices, counted.membership.members if counted.membership else {}
    aliases = [device for device in devices if device in roles and roles[device].role == "alias"]
    notes = []
    if counted.membership is None:
        own, by_aliases = counted.totals(counted.counted[[0, 4]])
        alone = (by_aliases == 0) & (own > 0)
        idle = [device for device, each in zip(devices, alone, strict=True) if each]
        if idle and by_aliases.any() and by_aliases.sum() == own[alone].sum():
            aliases = idle
            same = "did just what the bases say of their aliases"
            notes.append(f"{', '.join(idle)} {same}: left out as aliases.")
        elif idle and by_aliases.any():
            shown = "those in the file are shown like volumes; name them by --pools"
            notes.append(f"Nothing says which devices are aliases: {shown}.")
    elif outside := [device for device in devices if device not in roles]:
        notes.append(f"In no pool: {', '.join(outside)}.")
    return aliases, [*notes, *counted.notes]


def numbers_of(counted: Array, seconds: Array, queued: Array | None) -> dict[str, Array]:
    """Rates [1/s] and mean times of an I/O [s] from what was counted, shape (8, intervals); nan without I/O."""
    ios, times = counted[0] + counted[4], counted[1:4] + counted[5:8]
    some = np.where(ios > 0, ios, np.nan)
    pend, connect, disconnect = times / some
    found = {
        "io_rate": ios / seconds, "alias_rate": counted[4] / seconds, "pend": pend, "connect": connect,
        "disconnect": disconnect, "service": times.sum(axis=0) / some,
    }  # fmt: skip
    if queued is not None:
        found |= {"queued": queued, "response": found["service"] + queued / (some / seconds)}
    return found


def volumes_frame(counted: CountedVolumes) -> tuple[pl.DataFrame, list[str]]:
    """Intervals of volume counters, those of devices that are aliases left out, and notes on how they were read."""
    aliases, notes = alias_devices(counted)
    names = np.array(counted.devices)[counted.of]
    kept = np.flatnonzero(~np.isin(names, aliases))
    seconds = counted.seconds[kept]
    queued = None if counted.queued is None else counted.queued[kept]
    data: dict[str, Any] = {
        "device": names[kept].tolist(), "kind": schema.VOLUME, "interval": seconds, "file": str(counted.table.path),
        "system": counted.system,
        "source": None if counted.start else [f"until {end:.10g} s" for end in counted.ends[kept].tolist()],
        "line": counted.table.line_numbers[counted.rows[kept]],
        **clock_after(counted.start, counted.ends[kept] - seconds),
    }  # fmt: skip
    for name, values in numbers_of(counted.counted[:, kept], seconds, queued).items():
        data |= schema.exact(name, values)
    return with_pools(schema.frame(schema.DEVICES, data, kept.size), counted.membership), notes
