"""Readings of a pool whose aliases are at work: volumes taken as equal, turned around by the pool's own solution."""

from __future__ import annotations

from planner.demand.law import Law
from planner.demand.steady import Reading, readings
from planner.demand.total import Ends, Measurement
from planner.measurements import Run


def shared_readings(run: Run, law: Law) -> tuple[Reading, ...]:
    """Demands that the whole pool may have, the preferred one first."""
    total = Measurement(
        volumes=run.bases, aliases=run.aliases, io_rate=Ends(*run.total_rate), service=Ends(*run.mean_service),
        queued=Ends(*run.total_queue), queue_known=run.queue_known, utilization=run.busy,
    )  # fmt: skip
    return readings(total, law)
