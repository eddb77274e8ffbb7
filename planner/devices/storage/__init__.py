"""Storage limits and frame budgets: arithmetic on what CP keeps for each segment, nothing to fit."""

from planner.devices.storage.frames import FrameBudget, frame_budget, guest_frame_budget
from planner.devices.storage.limit import Limit
from planner.devices.storage.limits import StorageBudget, StorageLimits
from planner.devices.storage.releases import Release, release, releases

__all__ = [
    "FrameBudget",
    "Limit",
    "Release",
    "StorageBudget",
    "StorageLimits",
    "frame_budget",
    "guest_frame_budget",
    "release",
    "releases",
]
