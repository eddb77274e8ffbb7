"""Figures 1 to 4 of "Emulated FBA on SCSI", which its text does not display, and its XEDIT runs beside the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner import style
from planner.advice.disk import Setting, disk_rates
from planner.library import data_path
from planner.reports import PublishedTable, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLICATION: Final = "emulated-fba"
NOT_AVAILABLE: Final = "na"


def iozone_per_transaction() -> Axes:
    """Figure 1: CP and virtual time per transaction of the iozone runs.

    Returns
    -------
    matplotlib.axes.Axes
        One bar a run.
    """
    return _stacked("table-1", ("CP/tx", "Virt/tx"), "Linux iozone: time per transaction")


def iozone_per_virtual_io() -> Axes:
    """Figure 2: CP and virtual time per virtual I/O of the iozone runs; native SCSI has none.

    Returns
    -------
    matplotlib.axes.Axes
        One bar a run.
    """
    return _stacked("table-1", ("CP/vio", "Virt/vio"), "Linux iozone: time per virtual I/O")


def xedit_per_transaction() -> Axes:
    """Figure 3: CP and virtual time per transaction of the XEDIT loops.

    Returns
    -------
    matplotlib.axes.Axes
        One bar a run.
    """
    return _stacked("table-2", ("CP/tx", "Virt/tx"), "XEDIT loop: time per transaction")


def page_fault_cost() -> Axes:
    """Figure 4: CP and virtual time per page fault of the RXTHRASH runs.

    Returns
    -------
    matplotlib.axes.Axes
        One bar a run.
    """
    return _stacked("table-3", ("CP/tx", "Virt/tx"), "RXTHRASH: time per page fault")


def rates_over_hit_ratio() -> Axes:
    """Transactions of the XEDIT loop over the hit ratio of the minidisk cache.

    Returns
    -------
    matplotlib.axes.Axes
        Each kind of disk with the band of its model, and the published runs.
    """
    return disk_rates(Setting(workload="xedit", hit_ratio=0.5)).plot()


def _stacked(name: str, rows: tuple[str, str], title: str) -> Axes:
    """Bars of CP time with virtual time on top, the sum written above each."""
    table = read_table(data_path(PUBLICATION, f"{name}.csv"))
    axes = style.new_axes(width=8.0)
    runs = [run for run in table.columns[2:] if table.text(rows[0], run) != NOT_AVAILABLE]
    parts = {
        label: [table.value(row, run) for run in runs]
        for row, label in zip(rows, ("CP", "virtual machine"), strict=True)
    }
    for place, total in enumerate(style.stacked(axes, runs, parts)):
        axes.annotate(f"{total:.0f}", (place, total), ha="center", va="bottom")
    axes.set_xticks(range(len(runs)), [_label(table, run) for run in runs], fontsize="small")
    axes.set_ylabel("processor time [us]")
    axes.set_title(title)
    return axes


def _label(table: PublishedTable, run: str) -> str:
    """Name of a run over what it ran on, broken into short lines."""
    import textwrap

    row = "Run Type" if "Run Type" in table.rows else "DASD Type"
    return "\n".join([run, *textwrap.wrap(table.text(row, run), 13)])
