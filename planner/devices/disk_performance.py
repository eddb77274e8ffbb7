"""What a disk path does: the parts of a transaction with their times, and transactions per second with their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.results import Array, Result, quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Part of a transaction: `cp_time`, `virtual_time` and `wait_time` for the disk [s]."""

    cp_time: float = 0.0
    virtual_time: float = 0.0
    wait_time: float = 0.0

    @property
    def elapsed(self) -> float:
        """Time that one requester takes for it [s]."""
        return self.cp_time + self.virtual_time + self.wait_time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiskPerformance(Result):
    """Transactions of a disk path and what they cost, one element a scenario.

    `channel_bound` is what the data rate of one channel allows, `rate_alone` what one requester reaches.
    """

    rate: Array = quantity("transactions", "1/s")
    cp_time: Array = quantity("CP time per transaction", "s")
    virtual_time: Array = quantity("virtual time per transaction", "s")
    wait_time: Array = quantity("disk wait of one requester", "s")
    bytes_moved: Array = quantity("moved through the channel per transaction", "bytes")
    rate_alone: Array = quantity("transactions of one requester", "1/s")
    processor_bound: Array = quantity("bound of the processors", "1/s")
    disk_bound: Array = quantity("bound of the disks", "1/s")
    channel_bound: Array = quantity("bound of the channel", "1/s")
    derived: ClassVar[dict[str, tuple[str, str]]] = {"processors": ("processors busy", "")}

    @property
    def processors(self) -> Array:
        """Processors busy."""
        return self.rate * (self.cp_time + self.virtual_time)
