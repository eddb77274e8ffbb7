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
MOST_REQUESTS: Final = 6


def rate_over_requests() -> Axes:
    """Transfers per second of one device over the requests outstanding.

    Returns
    -------
    matplotlib.axes.Axes
        Serialized as fitted, concurrent as predicted from it, with the error of the prediction; the two
        published rates.
    """
    model = read_model("paging-xiv-serialized")
    devices = {"Serialized": PagingDevice.from_model(model), "Concurrent": predicted_concurrent()}
    table = read_table(data_path(PUBLICATION, "table-2.csv"))
    requests = np.arange(1, MOST_REQUESTS + 1)
    error = model.fit.model_error
    axes = style.new_axes()
    looks = zip(devices.items(), style.COLORS, style.LINES, ("o", "s"), strict=False)
    for (name, device), color, line, marker in looks:
        rate = device.closed(requests).transfer_rate
        axes.fill_between(requests, rate * (1 - error), rate * (1 + error), color=color, alpha=style.BAND)
        known = "fitted" if name == "Serialized" else "predicted from serialized"
        axes.plot(requests, rate, line, color=color, label=f"{name.lower()}, {known}")
        axes.plot(
            XIV_REQUESTS, table.value(name, "transfers"), marker, color=style.MEASURED, zorder=style.ABOVE,
            label=f"measured, {name.lower()}",
        )  # fmt: skip
    axes.set(
        xlabel="requests outstanding at one device", ylabel="transfers of one device [1/s]", ylim=(0, None),
        title=f"Paging to XIV; bands: ±{error:.0%}, seen in the prediction of the page rate",
    )  # fmt: skip
    style.whole_numbers(axes)
    axes.legend(frameon=False, loc="lower right")
    return axes
