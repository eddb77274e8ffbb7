"""Answers about paging devices, disks, channel programs, storage and processors; imported on first use."""

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

__getattr__, __dir__ = door(__name__)
