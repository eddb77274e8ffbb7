"""The published figures, redrawn from the published tables."""

from planner.figures.emulated_fba import (
    iozone_per_transaction,
    iozone_per_virtual_io,
    page_fault_cost,
    xedit_per_transaction,
)

__all__ = ["iozone_per_transaction", "iozone_per_virtual_io", "page_fault_cost", "xedit_per_transaction"]
