"""The figures that the pages on paging and disks state in prose and tables are those of the planner."""

from __future__ import annotations

import re

from planner.advice.disk import disk_paths
from planner.devices.disk import Mode
from planner.library import data_path
from planner.published.xiv_concurrent_io import predicted_concurrent
from planner.reports import read_table
from tests.checkout import ROOT

XEDIT_ROW = re.compile(r"^\| (ECKD|emulated FBA), ([^|]+) \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
KINDS = {"ECKD": "eckd-minidisk", "emulated FBA": "emulated-fba"}
RUNS: dict[str, tuple[Mode, float]] = {
    "all hits": ("cached", 1.0), "forced misses": ("cached", 0.0), "cache off": ("off", 0.0),
}  # fmt: skip


def page(name: str) -> str:
    """Text of a page in one line a paragraph, as far as searching goes."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_table_of_disks_is_what_the_planner_says() -> None:
    rows = XEDIT_ROW.findall(page("devices-methods.md"))
    assert len(rows) == 6
    printed = read_table(data_path("emulated-fba", "table-2.csv"))
    assert {row[2] for row in rows} == {printed.text("Tx/sec", run) for run in printed.columns[2:]}
    paths = disk_paths("xedit")
    for disk, run, _, planned in rows:
        mode, ratio = RUNS[run]
        assert planned == f"{float(paths[KINDS[disk]].solve(mode, ratio).rate):.2f}"


def test_the_prediction_of_the_concurrent_run_is_the_planners() -> None:
    text = " ".join(page("devices-methods.md").split())
    at = predicted_concurrent().closed(2)
    assert f"Two places instead of one give {float(at.transfer_rate):.1f}" in text
    assert f"twice the transactions {2 * 669552.07:,.0f}/s" in text
    assert f"{20 * float(at.page_rate):,.0f} pages/s" in text
