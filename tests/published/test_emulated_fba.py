"""The redrawn figures show what the tables print."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from planner.library import data_path
from planner.published import emulated_fba
from planner.reports import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN: dict[Callable[[], Axes], tuple[str, str, str]] = {
    emulated_fba.iozone_per_transaction: ("table-1", "CP/tx", "Total/tx"),
    emulated_fba.iozone_per_virtual_io: ("table-1", "CP/vio", "Total/vio"),
    emulated_fba.xedit_per_transaction: ("table-2", "CP/tx", "Total/tx"),
    emulated_fba.page_fault_cost: ("table-3", "CP/tx", "Total/tx"),
}


@pytest.mark.parametrize("draw", DRAWN)
def test_bars_are_the_printed_numbers(draw: Callable[[], Axes]) -> None:
    name, below, total = DRAWN[draw]
    table = read_table(data_path("emulated-fba", f"{name}.csv"))
    runs = [run for run in table.columns[2:] if table.text(total, run) != "na"]
    axes = draw()
    cp, virtual = axes.containers
    assert [bar.get_height() for bar in cp] == [table.value(below, run) for run in runs]
    tops = [bar.get_y() + bar.get_height() for bar in virtual]
    assert tops == pytest.approx([table.value(total, run) for run in runs])
    assert axes.get_ylim()[1] > max(tops)
    parts = [table.value(below, run) for run in runs]
    assert [text.get_text() for text in axes.texts] == [
        f"{top:,.0f}\nCP {part:,.0f}" for top, part in zip(tops, parts, strict=True)
    ]
    assert "us" in axes.get_ylabel()
