"""Volume counters (monitor record MRIODDEV) from a CSV file: what each volume did, by its base and all its aliases.

The fields IODDEV_SC... of a base tell what the base device did, IODDEV_PAV... what all aliases did on its behalf; times
are in units of 128 microseconds. Alias devices have records of their own whose I/Os stand in the record of their base
already: they are no volumes, and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ReportError
from planner.reports import schema, supply
from planner.reports.csv_table import CsvTable
from planner.reports.membership import BITS, Membership, members_of, with_pools
from planner.reports.volumes import device_series
from planner.results import Array
from planner.units import MONITOR_TIME

BASE: Final = ("IODDEV_SCGSSCH", "IODDEV_SCMFPTIM", "IODDEV_SCMCNTIM", "IODDEV_SCMDDTIM")
ALIAS: Final = ("IODDEV_PAVSSCH", "IODDEV_PAVFPTIM", "IODDEV_PAVCNTIM", "IODDEV_PAVDDTIM")
COLUMNS: Final = ("time", "device", *BASE, *ALIAS)
WHAT: Final = "volume counters (MRIODDEV)"
INTERVAL: Final = "interval_s"
SAY_DELTAS: Final = "; where each row holds what was counted since the row before, say `deltas`"
QUEUES: Final = ("queue", "queued", "qued", "base_queue", "req_qued")


def read_counters(table: CsvTable, membership: Membership | None, *, deltas: bool | None) -> schema.Tables:
    """Read volume counters interval by interval; devices that are aliases are left out."""
    table.require(COLUMNS, WHAT)
    system = supply.system_of(table)
    table.words("device")  # none is empty
    members = dict(sorted(supply.places(device_series(table).to_list()).items()))
    times, start = table.times("time")
    counters = np.array([table.counts(name) for name in (*BASE, *ALIAS)])
    queue = _queue_column(table)
    lengths = table.numbers(INTERVAL) if table.has(INTERVAL) else None
    for device, of_device in members.items():
        supply.check_order(table, of_device, times[of_device], f"device {device}")
    notes = []
    as_deltas = lengths is not None if deltas is None else deltas
    if deltas is None and lengths is None and _look_like_deltas(counters, times, list(members.values())):
        as_deltas = True
        taken = "rows are read as counted since the row before"
        notes.append(f"The I/Os fall too often for counters that rise: {taken}.")
    parts = {
        device: _count(table, device, of_device, times, counters, lengths, deltas=as_deltas)
        for device, of_device in members.items()
    }
    if not any(counted.any() for counted, *_ in parts.values()):
        problem = "no device counted anything: expected counters that rise"
        raise ReportError(table.path, problem + ("" if as_deltas else SAY_DELTAS), line=1, column=1)
    if as_deltas and lengths is None:
        notes.append("The first row of each device only starts the clock.")
    if membership is None and all(map(table.has, BITS)):
        membership = Membership(table.path, members_of(table))
    did = {device: counted[[0, 4]].sum(axis=1) for device, (counted, *_) in parts.items()}
    aliases, known_by = _aliases(did, membership)
    each_counted, each_seconds, each_rows, each_restarts = zip(*parts.values(), strict=True)
    if restarts := sum(each_restarts):
        notes.append(f"{restarts} intervals in which counters started again are left out.")
    names = np.repeat(list(parts), [each.size for each in each_rows])
    kept = ~np.isin(names, aliases)
    seconds, rows = np.concatenate(each_seconds)[kept], np.concatenate(each_rows)[kept]
    ends = times[rows]
    data: dict[str, Any] = {
        "device": names[kept].tolist(), "kind": schema.VOLUME, "interval": seconds, "file": str(table.path),
        "system": system, "line": table.line_numbers[rows],
        "source": None if start else [f"until {end:.10g} s" for end in ends.tolist()],
        **supply.clock_after(start, ends - seconds),
    }  # fmt: skip
    queued = None if queue is None else table.numbers(queue)[rows]
    for name, values in numbers_of(np.concatenate(each_counted, axis=1)[:, kept], seconds, queued).items():
        data |= schema.exact(name, values)
    frame = with_pools(schema.frame(schema.DEVICES, data, rows.size), membership)
    return schema.Tables(devices=frame, notes=(*known_by, *notes), what=WHAT)


def _queue_column(table: CsvTable) -> str | None:
    """Name of the column that holds the queue."""
    found = [name for name in QUEUES if table.has(name)]
    if len(found) > 1:
        raise table.error(0, found[1], f"and {found[0]} both look like the queue: expected one of them")
    return found[0] if found else None


def _look_like_deltas(counters: supply.Counts, times: Array, members: Sequence[NDArray[np.int64]]) -> bool:
    """Whether the counters would begin anew, or run backwards, so often that they cannot be such that rise."""
    anew, taken = 0, 0
    for rows in members:
        taken += rows.size - 1
        try:
            anew += int(supply.steps(counters[:, rows], np.diff(times[rows])).restarted.sum())
        except supply.Backwards:
            anew += int((np.diff(counters[0, rows]) < 0).sum())
    return anew > 1 and anew > supply.OFTEN * taken


def _count(
    table: CsvTable,
    device: str,
    rows: NDArray[np.int64],
    times: Array,
    counters: supply.Counts,
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
        step = supply.steps_of(table, rows, (*BASE, *ALIAS), counted, length, SAY_DELTAS)
        counted, seconds = np.insert(step.counted, 0, 0, axis=1), np.concatenate([[0.0], length])
        use[1:] = ~step.restarted
        restarts = int(step.restarted.sum())
    if not use.any():
        raise table.error(int(rows[0]), "device", f"{device} started again between its only records")
    found = counted[:, use].astype(np.float64)
    found[[1, 2, 3, 5, 6, 7]] *= MONITOR_TIME
    return found, seconds[use], rows[use], restarts


def _aliases(did: Mapping[str, Array], membership: Membership | None) -> tuple[list[str], list[str]]:
    """Devices that are aliases, as members or the I/Os of each and of its aliases say; notes on how that is known."""
    if membership is not None:
        roles = membership.members
        outside = [device for device in did if device not in roles]
        notes = [f"In no pool: {', '.join(outside)}."] if outside else []
        return [device for device in did if device in roles and roles[device].role == "alias"], notes
    idle = [device for device, (own, by_aliases) in did.items() if own > 0 and not by_aliases]
    alone, of_bases = sum(did[device][0] for device in idle), sum(each for _, each in did.values())
    if not (idle and of_bases):
        return [], []
    if alone == of_bases:
        same = "did just what the bases say of their aliases"
        return idle, [f"{', '.join(idle)} {same}: left out as aliases."]
    shown = "those in the file are shown like volumes; name them by --pools"
    return [], [f"Nothing says which devices are aliases: {shown}."]


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
