"""Every answer shows itself: HTML in Jupyter, a data frame and a picture with units; long tables are shortened."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from planner import calibrate, queueing, render, sizing, whatif
from planner.advice.channel_program import channel_programs
from planner.advice.disk import Setting, disk_rates
from planner.advice.paging import paging_devices
from planner.advice.paging_count import Load
from planner.demand import Law
from planner.devices.processors import published, scaling
from planner.devices.storage import StorageBudget, guest_frame_budget
from planner.explain import explain
from planner.library import data_path, read_model
from planner.measurements import volume_runs
from planner.measurements.storage import storage_usage
from planner.reports import read_devices
from planner.reports.dspacesh import read_data_spaces
from planner.reports.supply import read_supply
from planner.supply import judge
from planner.tabular import Tabular
from tests.checkout import ROOT, modules


def aliases() -> Any:
    (listing,) = read_devices(data_path("hyperpav", "522A-0-aliases.listing"))
    return sizing.aliases(volume_runs(listing)[0], Law.from_model("hyperpav"))


ANSWERS = {
    "Answer": lambda: whatif.predict(read_model("hyperpav-volume-runs"), {}, {"aliases": [0.0, 1.0]}),
    "Calibration": lambda: calibrate.fit(
        volume_runs(read_devices(data_path("hyperpav", "522A-0-aliases.listing"))[0])
    ),
    "AliasAnswer": aliases,
    "CcwAnswer": lambda: channel_programs(64, 0.3),
    "DiskAnswer": lambda: disk_rates(Setting(workload="xedit", hit_ratio=0.9)),
    "Explanation": lambda: explain("usl"),
    "FrameBudget": lambda: guest_frame_budget(
        guests=20, guest_storage="88GB", instantiated=0.7, real_storage="1024GB"
    ),
    "PagingAnswer": lambda: paging_devices(Load(page_rate=1000.0, guests=4)),
    "Scaling": lambda: scaling(published()),
    "StorageLimits": lambda: StorageBudget(release="5.3", real_storage="256GB", resident_pages=50).limits(),
    "SupplyAnswer": lambda: judge(read_supply(ROOT / "docs" / "examples" / "supply-counters.csv")),
    "StorageUsage": lambda: storage_usage(read_data_spaces(data_path("real-storage", "5-users.listing"))),
}


@cache
def answer(name: str) -> Any:
    return ANSWERS[name]()


def test_every_answer_is_here() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in modules().values())
    named = set(re.findall(r"^class (\w+)\(Tabular\)", sources, re.MULTILINE)) - {"Result"}
    assert named == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_shows_itself(name: str) -> None:
    found = answer(name)
    assert isinstance(found, Tabular)
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert len(frame) == len(found.table())
    axes = found.plot()
    assert axes.get_title() or axes.get_ylabel()
    axes.figure.canvas.draw()


def test_a_queueing_result_shows_itself_with_units() -> None:
    steady = queueing.mmc([100, 500], 1.3e-3, 1)
    assert "wait_time [s]" in steady.to_frame()
    assert steady.plot("throughput", "wait_time").get_xlabel() == "throughput [1/s]"


def table(rows: int, marked: int | None = None) -> render.Table:
    marks = tuple("recommended" if k == marked else "" for k in range(rows))
    return render.Table(columns=(render.Column(name="k", unit="", values=list(range(rows))),), marks=marks)


def test_a_long_table_keeps_both_ends_and_its_marked_row() -> None:
    text = render.to_html(table(1000, marked=500))
    shown = [int(k) for k in re.findall(r"<td>(?:<b>)?(\d+)(?:</b>)?</td>", text)]
    assert shown == [*range(30), 500, *range(970, 1000)]
    assert "939 more rows" in text
    assert text.count("<tr>") == 1 + 61 + 1


def test_a_table_that_fits_is_whole() -> None:
    assert "more rows" not in render.to_html(table(60))
