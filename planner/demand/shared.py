"""Readings of a pool whose aliases are at work: its volumes taken as equal, turned around by the pool's own solution."""

from __future__ import annotations

from typing import NamedTuple

from planner.demand.law import Law
from planner.demand.steady import Reading, readings
from planner.measurements import Run


class _Ends(NamedTuple):
    low: float
    value: float
    high: float

    def widened(self, by: float) -> _Ends:
        """Both ends outward."""
        return _Ends(self.low - by, self.value, self.high + by)


class _Total(NamedTuple):
    """All volumes of a run together."""

    volumes: int
    aliases: int
    io_rate: _Ends
    service: _Ends
    queued: _Ends
    queue_known: bool
    utilization: float


def shared_readings(run: Run, law: Law) -> tuple[Reading, ...]:
    """Demands that the whole pool may have, the preferred one first."""
    total = _Total(
        volumes=run.bases, aliases=run.aliases, io_rate=_Ends(*run.total_rate), service=_Ends(*run.mean_service),
        queued=_Ends(*run.total_queue), queue_known=run.queue_known, utilization=run.busy,
    )  # fmt: skip
    return readings(total, law)  # type: ignore[arg-type]
