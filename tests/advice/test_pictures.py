"""In every picture each published point is inside the axes and drawn over the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from planner.advice import channel_programs
from planner.advice.disk import Setting, disk_rates
from planner.advice.paging import Load, paging_devices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def points(axes: Axes) -> list[tuple[float, float]]:
    """Places of all markers, each inside the axes and above every line."""
    lines = [line for line in axes.lines if line.get_linestyle() != "None"]
    found = []
    caps = "_"  # of the bars of an interval
    drawn = (line for line in axes.lines if line.get_linestyle() == "None" and line.get_marker() != caps)
    for marks in drawn:
        assert all(marks.get_zorder() > line.get_zorder() for line in lines)
        found += list(zip(np.ravel(marks.get_xdata()), np.ravel(marks.get_ydata()), strict=True))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert all(left <= x <= right and bottom <= y <= top for x, y in found)
    return found


def test_paging() -> None:
    found = points(paging_devices(Load(page_rate=1000.0, guests=20)).plot())
    rates = [564, 1376, 283.0 * 24635 / 4 / 283.0, 45001 / 4]
    assert sorted(float(x) for x, _ in found) == pytest.approx(sorted(rates), rel=1e-4)


@pytest.mark.parametrize(("requesters", "processors"), [(1, 1), (8, 2)])
def test_xedit(requesters: int, processors: int) -> None:
    setting = Setting(workload="xedit", hit_ratio=0.9, requesters=requesters, processors=processors)
    found = points(disk_rates(setting).plot())
    assert sorted(float(y) for _, y in found) == pytest.approx([6.38, 27.74, 34.75, 428.84, 474.86, 476.82])
    assert {float(x) for x, _ in found} == {0.0, 1.0}


def test_iozone() -> None:
    found = points(disk_rates(Setting(workload="iozone", hit_ratio=0.5)).plot())
    assert len(found) == 6
    assert sorted(float(x) for x, _ in found) == [0, 0, 0, 0, 0.5, 0.5]
    scsi = 1 / (100 * (1 / 40038.83 + 1 / 40163.31 + 1 / 57217.09 + 1 / 57426.30))
    assert max(float(y) for _, y in found) == pytest.approx(scsi, rel=1e-5)


def test_channel_programs() -> None:
    found = points(channel_programs(64, 0.5).plot())
    assert len(found) == 16
    assert len(set(found)) == 16
