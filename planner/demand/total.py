"""All volumes of a run together, as the readings of a pool with aliases in use take it."""

from __future__ import annotations

from typing import NamedTuple


class Ends(NamedTuple):
    """A number and what its digits leave open."""

    low: float
    value: float
    high: float

    def widened(self, by: float) -> Ends:
        """Both ends outward."""
        return Ends(self.low - by, self.value, self.high + by)


class Measurement(NamedTuple):
    """Totals over `volumes` volumes with `aliases` in use [1/s], [s], [I/Os]."""

    volumes: int
    aliases: int
    io_rate: Ends
    service: Ends
    queued: Ends
    queue_known: bool
    utilization: float
