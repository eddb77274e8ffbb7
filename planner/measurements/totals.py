"""Volume totals to runs: volumes with the I/Os of base and aliases together, and the pools that they form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from planner.errors import InputError
from planner.measurements.run import Interval, Measurement, Run
from planner.reports.volume_totals import TotalRow

LEAST_ERROR: Final = 0.01  # relative; no measured system keeps to a law better than this


def totals_runs(rows: Sequence[TotalRow]) -> list[Run]:
    """Assemble volumes and pools.

    Parameters
    ----------
    rows : sequence of TotalRow
        Totals of volumes, whose pool is known where aliases worked for them.

    Returns
    -------
    list of Run
        One for each pool, one for each volume in no pool; those without I/O are left out.

    Raises
    ------
    InputError
        Aliases worked for a volume in no pool, the queue was not measured, or nothing did I/O.
    """
    groups: dict[str, list[TotalRow]] = {}
    for row in rows:
        if row.pool is None and row.alias_rate > 0:
            raise InputError(
                "pool",
                None,
                f"the pool of {row.device}, for which aliases worked; read the counters with --pools",
            )
        groups.setdefault(row.device if row.pool is None else f"pool {row.pool}", []).append(row)
    runs = [_run(name, group) for name, group in groups.items() if any(row.io_rate > 0 for row in group)]
    if not runs:
        raise InputError("io_rate", 0.0, "a volume with I/O; there is none", "1/s")
    return sorted(runs, key=lambda run: -run.queued)


def _run(name: str, rows: Sequence[TotalRow]) -> Run:
    """One system; its volumes count as equal, like those of a listing in which aliases are at work."""
    working = [row for row in rows if row.io_rate > 0]
    aliases = rows[0].pool_aliases or 0
    rate = sum(row.io_rate for row in working)
    queues = [row.queued for row in working if row.queued is not None]
    if len(queues) < len(working):
        raise InputError("queued", None, "the mean queue of each volume; the counters had no queue column")
    pool = rows[0].pool is not None
    services = [(row.service or 0.0) * row.io_rate / rate for row in working]
    behind = max(
        sum((getattr(row, part) or 0.0) * row.io_rate for row in working) for part in ("pend", "disconnect")
    )
    error = max(LEAST_ERROR, 1.0 / math.sqrt(sum(row.io_rate * row.seconds for row in working)))
    notes = (
        [f"{len(rows) - len(working)} bases without I/O need no alias"] if len(working) < len(rows) else []
    )
    if len(working) > 1:
        notes.append("volumes taken as equal")
    part = Measurement(
        volumes=len(working),
        aliases=aliases,
        io_rate=_about(rate, error),
        service=_about(sum(services), error),
        queued=_about(sum(queues), error),
        queue_shown=sum(queues),
    )
    return Run(
        name=name, aliases=aliases, classes=(part,), pool=pool, path_share=behind / rate / max(sum(services), 1e-300),
        source="volume totals", notes=tuple(notes),
    )  # fmt: skip


def _about(value: float, error: float) -> Interval:
    return Interval(value * (1.0 - error), value, value * (1.0 + error))
