"""In every picture each published point is inside the axes and drawn over the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from planner.advice import channel_programs
from planner.advice.disk import Setting, disk_rates
from planner.advice.paging import paging_devices
from planner.advice.paging_capacity import Question, paging_capacity
from planner.advice.paging_load import Load

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def points(axes: Axes, style_of: str = "") -> list[tuple[float, float]]:
    """Places of all markers, each inside the axes and above every line; of one marker only where it is given."""
    lines = [line for line in axes.lines if line.get_linestyle() != "None"]
    found = []
    caps = ("_", "|")  # of the bars of an interval
    drawn = (line for line in axes.lines if line.get_linestyle() == "None" and line.get_marker() not in caps)
    for marks in drawn:
        if style_of and marks.get_marker() not in style_of:
            continue
        assert all(marks.get_zorder() > line.get_zorder() for line in lines)
        found += list(zip(np.ravel(marks.get_xdata()), np.ravel(marks.get_ydata()), strict=True))
    (left, right), (bottom, top) = axes.get_xlim(), sorted(axes.get_ylim())
    assert all(left <= x <= right and bottom <= y <= top for x, y in found)
    return found


@pytest.mark.long
def test_paging_rests_on_the_published_runs() -> None:
    above = paging_devices(Load(page_rate=1000.0, guests=20)).plot()
    figure = above.get_figure(root=True)
    assert figure is not None
    found = points(figure.axes[1])
    rates = [564, 1376, 283.0 * 24635 / 4 / 283.0, 45001 / 4]
    assert sorted(float(x) for x, _ in found) == pytest.approx(sorted(rates), rel=1e-4)


def approximately(places: list[tuple[float, float]]) -> list[object]:
    """The places in order, to rounding."""
    return [pytest.approx(place) for place in sorted(places)]


@pytest.mark.long
def test_the_answer_is_in_the_picture_of_devices_to_buy() -> None:
    """Where the marks stand is what the table says; so it does below."""
    bought = paging_devices(Load(page_rate=5000.0, guests=20))
    counts = [
        (at.count, row) for row, each in enumerate(bought.choices) if (at := each.outcome) and each.feasible
    ]
    assert sorted(points(bought.plot(), "D")) == approximately(counts)


@pytest.mark.long
def test_the_answer_is_in_the_picture_of_devices_that_are_there_and_in_that_of_what_they_carry() -> None:
    there = paging_devices(Load(page_rate=5000.0, guests=20), count=8)
    carried = paging_capacity(Question(devices=8, guests=20))
    rates = [(5000.0, 1e3 * at.response_time) for each in there.choices if (at := each.outcome)]
    assert sorted(points(there.plot(), "D")) == approximately(rates)
    most = [(each.amount, 1e3 * each.outcome.response_time) for each in carried.rows if each.outcome]
    assert sorted(points(carried.plot(), "D")) == approximately(most)


@pytest.mark.long
def test_the_lines_of_paging_go_through_the_answers() -> None:
    """The line is interpolated in a sweep of think times, the answer solved by itself."""
    axes = paging_devices(Load(page_rate=5000.0, guests=20), count=8).plot()
    lines = [np.asarray(line.get_xydata()) for line in axes.lines if len(np.asarray(line.get_xdata())) > 3]
    for x, y in points(axes, "D"):
        near = [float(line[line[:, 0] == x, 1][0]) for line in lines if x in line[:, 0]]
        assert min(abs(each / y - 1) for each in near) < 2e-3


RUNS = {1: [6.38, 27.74, 34.75, 428.84, 474.86, 476.82]}


@pytest.mark.long
@pytest.mark.parametrize(("requesters", "processors"), [(1, 1), (8, 2)])
def test_xedit(requesters: int, processors: int) -> None:
    setting = Setting(workload="xedit", hit_ratio=0.9, requesters=requesters, processors=processors)
    answer = disk_rates(setting)
    found = points(answer.plot())
    published = [(x, y) for x, y in found if x != 0.9]
    assert sorted(float(y) for _, y in published) == pytest.approx(RUNS[1])
    assert {float(x) for x, _ in published} == {0.0, 1.0}
    asked = sorted(float(y) for x, y in found if x == 0.9)
    assert asked == pytest.approx(sorted(float(row["rate"]) for row in answer.to_dict()["rows"]))


@pytest.mark.long
def test_iozone() -> None:
    found = points(disk_rates(Setting(workload="iozone", hit_ratio=0.25)).plot())
    published = [(x, y) for x, y in found if x != 0.25]
    assert sorted(float(x) for x, _ in published) == [0, 0, 0, 0, 0.5, 0.5]
    scsi = 1 / (100 * (1 / 40038.83 + 1 / 40163.31 + 1 / 57217.09 + 1 / 57426.30))
    assert max(float(y) for _, y in published) == pytest.approx(scsi, rel=1e-5)


@pytest.mark.long
def test_disks_of_many_requesters_are_drawn():
    """All places of a line together are more numbers than a network is solved with."""
    asked = Setting(workload="xedit", hit_ratio=0.9, requesters=64, processors=9, disks=40)
    answer = disk_rates(asked, ["eckd-minidisk"])
    cached = next(row for row in answer.rows if row.mode == "cached")
    assert cached.rate.value in [y for _, y in points(answer.plot(), "D")]


def test_channel_programs_stand_at_their_mix_and_so_does_what_was_asked() -> None:
    answer = channel_programs(64, 0.7)
    axes = answer.plot()
    assert len(points(axes, "o")) == 8
    assert len(points(axes, "^")) == 8
    assert all(abs(x) < 0.02 for x, _ in points(axes, "o"))
    assert all(abs(x - 0.5) < 0.02 for x, _ in points(axes, "^"))
    assert points(axes, "D") == [(0.7, pytest.approx(1e3 * float(answer.time_per_mb.value)))]
