"""The report on concurrent I/O for XIV: transfers of one device, serialized and concurrent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from planner import style
from planner.devices.paging import PagingDevice
from planner.library import data_path, read_model
from planner.published.paging import XIV_REQUESTS, predicted_concurrent
from planner.reports import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLICATION: Final = "xiv-concurrent-io"
MOST_REQUESTS: Final = 4
HALF_A_BOX: Final = 0.3


def rate_over_requests() -> Axes:
    """Transfers per second of one device over the requests outstanding.

    Returns
    -------
    matplotlib.axes.Axes
        Serialized as fitted, concurrent as predicted from it, each with the error that was seen in predicting
        the page rate; the two published rates.
    """
    model = read_model("paging-xiv-serialized")
    devices = {"Serialized": PagingDevice.from_model(model), "Concurrent": predicted_concurrent()}
    table = read_table(data_path(PUBLICATION, "table-2.csv"))
    requests = np.arange(1, MOST_REQUESTS + 1)
    error = model.fit.model_error
    axes = style.new_axes()
    looks = zip(devices.items(), style.COLORS, ("", "////"), ("o", "s"), strict=False)
    for (name, device), color, hatch, marker in looks:
        rate = device.closed(requests).transfer_rate
        known = "fitted" if name == "Serialized" else "predicted from serialized"
        # Requests are whole: a box for each, nothing between them.
        ends = (requests[:, None] + [-HALF_A_BOX, HALF_A_BOX, np.nan]).ravel()
        box = np.repeat(rate, 3)
        axes.fill_between(
            ends, box * (1 - error), box * (1 + error), facecolor=color, alpha=style.BAND, hatch=hatch,
            edgecolor=color, label=f"{name.lower()}, {known}, ±{error:.0%}",
        )  # fmt: skip
        axes.plot(ends, box, color=color)
        axes.plot(
            XIV_REQUESTS, table.value(name, "transfers"), marker, color=style.MEASURED, zorder=style.ABOVE,
            label=f"measured, {name.lower()}",
        )  # fmt: skip
    axes.set(
        xlabel="requests outstanding at one device", ylabel="transfers of one device [1/s]", ylim=(0, None),
        title="Paging to XIV, one transfer at a time or two",
    )  # fmt: skip
    style.whole_numbers(axes)
    axes.legend(frameon=False, loc="lower right")
    return axes
