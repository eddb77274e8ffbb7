"""Storage limits, frame budgets and the use of each limit; without numpy, so that the calculator starts quickly."""

from planner.advice.storage.frames import (
    FrameBudget,
    StorageFit,
    frame_budget,
    guest_frame_budget,
    guests_that_fit,
    resident_pages_that_fit,
)
from planner.advice.storage.limits import StorageBudget, StorageLimits
from planner.advice.storage.usage import StorageUsage, storage_usage

__all__ = [
    "FrameBudget", "StorageBudget", "StorageFit", "StorageLimits", "StorageUsage", "frame_budget",
    "guest_frame_budget", "guests_that_fit", "resident_pages_that_fit", "storage_usage",
]  # fmt: skip
