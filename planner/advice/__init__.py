"""Answers about paging devices, disks, channel programs, storage and processors; imported when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner import door

if TYPE_CHECKING:
    from planner.advice.channel_program import CcwAnswer, channel_programs
    from planner.advice.disk import DiskAnswer, disk_rates
    from planner.advice.paging import PagingAnswer, paging_devices
    from planner.advice.processors import Scaling, scaling
    from planner.advice.storage import (
        FrameBudget,
        StorageBudget,
        StorageLimits,
        StorageUsage,
        frame_budget,
        guest_frame_budget,
        storage_usage,
    )

__all__ = [
    "CcwAnswer", "DiskAnswer", "FrameBudget", "PagingAnswer", "Scaling", "StorageBudget", "StorageLimits",
    "StorageUsage", "channel_programs", "disk_rates", "frame_budget", "guest_frame_budget", "paging_devices",
    "scaling", "storage_usage",
]  # fmt: skip

# Each comes when it is asked for.
__getattr__ = door(
    __name__,
    {
        "channel_program": "CcwAnswer channel_programs",
        "disk": "DiskAnswer disk_rates",
        "paging": "PagingAnswer paging_devices",
        "processors": "Scaling scaling",
        "storage": "FrameBudget StorageBudget StorageLimits StorageUsage frame_budget guest_frame_budget storage_usage",
    },
)
