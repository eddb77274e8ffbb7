"""Every report, one line each; imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from planner.published.report import PublishedReport

# One module a report, in the order in which the scoreboard shows them.
REPORTS: Final = ("hyperpav", "real_storage", "xiv_concurrent_io", "emulated_fba", "fast_ccw")


def reports() -> list[PublishedReport]:
    """All reports."""
    return [import_module(f"planner.published.{name}").REPORT for name in REPORTS]
