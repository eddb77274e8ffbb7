"""Volume totals to runs: volumes with the I/Os of base and aliases together, and the pools that they form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from planner.errors import InputError
from planner.measurements.classes import equal_classes
from planner.measurements.run import ADDRESSES_PER_CONTROL_UNIT, Interval, Measurement, Run
from planner.reports.volume_totals import Known, TotalRow

LEAST_ERROR: Final = 0.01  # relative; no measured system keeps to a law better than this
NO_QUEUE: Final = (
    "The queue was not measured: arrivals are taken as open, at the measured rates; requesters that wait for their "
    "own I/Os would queue less"
)


def totals_runs(rows: Sequence[TotalRow], *, queue_needed: bool = True) -> list[Run]:
    """Assemble volumes and pools.

    Parameters
    ----------
    rows : sequence of TotalRow
        Totals of volumes, whose pool is known where aliases worked for them.
    queue_needed : bool, optional
        Whether a volume whose queue was not measured is an error.

    Returns
    -------
    list of Run
        One for each pool, one for each volume in no pool, longest queue first; those without I/O are left out.

    Raises
    ------
    InputError
        Aliases worked for a volume in no pool, or nothing did I/O.
    ReportError
        The queue was not measured.
    """
    runs = [run for _, run in by_pool(rows, queue_needed=queue_needed) if run is not None]
    if not runs:
        raise InputError("io_rate", 0.0, "a volume with I/O; there is none", "1/s")
    return sorted(runs, key=lambda run: -run.queued)


def by_pool(rows: Sequence[TotalRow], *, queue_needed: bool) -> list[tuple[tuple[TotalRow, ...], Run | None]]:
    """Assemble volumes and pools in the order of the file, those without I/O too.

    Parameters
    ----------
    rows : sequence of TotalRow
        Totals of volumes, whose pool is known where aliases worked for them.
    queue_needed : bool
        Whether a volume whose queue was not measured is an error.

    Returns
    -------
    list of tuple
        Rows of each pool or volume in no pool, and its run; None without I/O.

    Raises
    ------
    InputError
        Aliases worked for a volume in no pool.
    ReportError
        The queue was not measured, though it is needed or others of the pool say theirs; or a pool has more addresses
        than a control unit.
    """
    groups: dict[tuple[bool, str], list[TotalRow]] = {}
    for row in rows:
        if row.pool is None and row.alias_rate > 0:
            raise InputError(
                "pool",
                None,
                f"the pool of {row.volume}, for which aliases worked; read the counters with --pools",
            )
        groups.setdefault((row.pool is not None, row.pool or row.volume), []).append(row)
    for (_, name), group in groups.items():
        room = ADDRESSES_PER_CONTROL_UNIT - (group[0].aliases or 0)
        if len(group) > room:
            raise group[room].error(
                f"pool {name} has {len(group)} volumes and {group[0].aliases or 0} aliases: expected at most "
                f"{ADDRESSES_PER_CONTROL_UNIT} addresses, one logical control unit"
            )
    return [
        (tuple(group), _run(f"pool {name}" if pooled else name, group, queue_needed=queue_needed))
        for (pooled, name), group in groups.items()
    ]


def _run(name: str, rows: Sequence[TotalRow], *, queue_needed: bool) -> Run | None:
    """One system: classes of equal volumes, or all of them together where aliases worked for any."""
    working = [row for row in rows if row.io_rate.value > 0]
    if not working:
        return None
    aliases = rows[0].aliases or 0
    queues = [_queue(row) for row in working]
    missing = [row for row, queue in zip(working, queues, strict=True) if queue is None]
    if missing and (queue_needed or len(missing) < len(working)):
        raise missing[0].error(
            f"{missing[0].volume}: expected queued or response_ms, the mean queue of each volume"
        )
    if aliases or missing:
        groups = [list(range(len(working)))]
    else:
        present = [row.io_rate.value * _service(row).value + queue.value
                   for row, queue in zip(working, queues, strict=True) if queue]  # fmt: skip
        groups = equal_classes([row.io_rate.value for row in working], present)
    notes = (
        [f"{len(rows) - len(working)} bases without I/O need no alias"] if len(working) < len(rows) else []
    )
    if missing:
        notes.append(NO_QUEUE)
    elif aliases and len(working) > 1:
        notes.append("Requesters read as if the volumes were equal; each asks at its own rate")
    work = sum(row.io_rate.value * _service(row).value for row in working)
    behind = max(
        sum((getattr(row, part) or 0.0) * row.io_rate.value for row in working)
        for part in ("pend", "disconnect")
    )
    return Run(
        name=name,
        aliases=aliases,
        classes=tuple(_measure([working[k] for k in group], [queues[k] for k in group]) for group in groups),
        pool=rows[0].pool is not None,
        path_share=behind / work if any(row.pend is not None for row in working) else None,
        source="volume totals",
        notes=tuple(notes),
    )


def _measure(rows: Sequence[TotalRow], queues: Sequence[Interval | None]) -> Measurement:
    """Totals of the volumes of one class."""
    rate = sum(row.io_rate.value for row in rows)
    counted = [row.io_rate.value * row.seconds for row in rows if row.seconds]
    error = max(LEAST_ERROR, 1.0 / math.sqrt(sum(counted)) if counted else 0.0)
    services = [_service(row) for row in rows]
    service = sum(row.io_rate.value * each.value for row, each in zip(rows, services, strict=True)) / rate
    half = sum(row.io_rate.value * each.half for row, each in zip(rows, services, strict=True)) / rate
    known = [queue for queue in queues if queue is not None]
    queued = (
        Interval(*(sum(ends) for ends in zip(*known, strict=True))) if known else Interval(0.0, 0.0, math.inf)
    )
    return Measurement(
        volumes=len(rows),
        aliases=rows[0].aliases or 0,
        io_rate=_about(rate, max(error * rate, sum(row.io_rate.half for row in rows))),
        service=_about(service, max(error * service, half)),
        queued=Interval(min(queued.low, queued.value * (1.0 - error)), queued.value,
                        max(queued.high, queued.value * (1.0 + error))),
        queue_shown=queued.value,
        rates=tuple(row.io_rate.value for row in rows),
    )  # fmt: skip


def _service(row: TotalRow) -> Known:
    assert row.service is not None  # the reader refuses volumes with I/O without it
    return row.service


def _queue(row: TotalRow) -> Interval | None:
    """Queue as it was measured, or by Little's law from the response; None where neither was."""
    if row.queued is not None:
        return _about(row.queued.value, row.queued.half)
    if row.response is None:
        return None
    service, rate = _service(row), row.io_rate
    wait, room = row.response.value - service.value, row.response.half + service.half
    low, high = max(wait - room, 0.0) * (rate.value - rate.half), (wait + room) * (rate.value + rate.half)
    return Interval(low, max(wait, 0.0) * rate.value, max(high, 0.0))


def _about(value: float, half: float) -> Interval:
    return Interval(max(value - half, 0.0), value, value + half)
