"""Answers about paging devices, disks, channel programs, storage and processors; imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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
    "CcwAnswer",
    "DiskAnswer",
    "FrameBudget",
    "PagingAnswer",
    "Scaling",
    "StorageBudget",
    "StorageLimits",
    "StorageUsage",
    "channel_programs",
    "disk_rates",
    "frame_budget",
    "guest_frame_budget",
    "paging_devices",
    "scaling",
    "storage_usage",
]

_ROOMS: Final = ("channel_program", "disk", "paging", "processors", "storage")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for room in _ROOMS:
            module = import_module(f"{__name__}.{room}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
