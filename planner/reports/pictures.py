"""What a listing looks like: bars, one a device or a data space, with nothing but what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner import style
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from planner.reports.device import DeviceListing
    from planner.reports.device_rows import Device
    from planner.reports.dspacesh import DataSpaceListing

PARTS: Final = ("pend", "disconnect", "connect")
FEWEST: Final = 6  # devices that a picture has room for
MOST_SIDE_BY_SIDE: Final = 10  # names that are read without turning the head


def device_times(listing: DeviceListing) -> Axes:
    """Draw of what the response time of each device consists.

    Parameters
    ----------
    listing : DeviceListing
        Its rows.

    Returns
    -------
    matplotlib.axes.Axes
        Bars of the three parts of service and of the wait; a device without I/O has none.
    """
    heights = {
        part: [value.value / MILLISECOND if (value := getattr(row, part)) else 0.0 for row in listing.rows]
        for part in PARTS
    }
    axes = style.new_axes()
    style.stacked(
        axes, [row.address for row in listing.rows], {**heights, "wait": list(map(_wait, listing.rows))}
    )
    axes.set_xlim(-1, max(len(listing.rows), FEWEST))
    axes.margins(y=0.25)  # for the legend
    axes.legend(frameon=False, loc="upper center", ncols=4)
    axes.tick_params(axis="x", rotation=90 if len(listing.rows) > MOST_SIDE_BY_SIDE else 0)
    axes.set(xlabel="device", ylabel="time of an I/O [ms]", title=str(listing))
    return axes


def _wait(row: Device) -> float:
    """Response less service [ms]; 0 where the listing prints no response time."""
    if row.response is None or row.service is None:
        return 0.0
    return max(row.response.value - row.service.value, 0.0) / MILLISECOND


def resident_pages(listing: DataSpaceListing) -> Axes:
    """Draw how many pages of each data space are resident.

    Parameters
    ----------
    listing : DataSpaceListing
        Its rows.

    Returns
    -------
    matplotlib.axes.Axes
        A bar a data space, where its pages are printed.
    """
    rows = [(row.name, row.resident.value) for row in listing.rows if row.resident is not None]
    axes = style.new_axes()
    axes.barh([name for name, _ in rows], [pages for _, pages in rows], color=style.COLORS[0])
    axes.invert_yaxis()
    axes.ticklabel_format(axis="x", style="plain")
    axes.set(xlabel="resident [pages of 4 KB]", ylabel="data space", title=str(listing))
    return axes
