"""The pages on paging and disks say what the planner says: each command is run and its output compared."""

from __future__ import annotations

import re
import shlex

import pytest

from planner.advice.disk import disk_paths
from planner.cli import main
from planner.devices.disk import Mode
from planner.library import data_path
from planner.reports import read_table
from tests.checkout import ROOT

PAGES = [ROOT / "docs" / name for name in ("paging.md", "disks.md")]
CONSOLE = re.compile(r"```console\n\$ (planner [^\n]*)\n(.*?)```", re.S)
COMMANDS = [
    (page.name, *found) for page in PAGES for found in CONSOLE.findall(page.read_text(encoding="utf-8"))
]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_shows_a_command(page: object) -> None:
    assert any(name == getattr(page, "name", "") for name, _, _ in COMMANDS)


@pytest.mark.parametrize(("page", "command", "output"), COMMANDS, ids=lambda text: text[:40])
def test_commands_print_what_is_shown(
    page: str, command: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)[1:]) == 0, page
    assert capsys.readouterr().out.strip() == output.strip()


XEDIT_ROW = re.compile(r"^\| (ECKD|emulated FBA), ([^|]+) \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
KINDS = {"ECKD": "eckd-minidisk", "emulated FBA": "emulated-fba"}
RUNS: dict[str, tuple[Mode, float]] = {
    "all hits": ("cached", 1.0), "forced misses": ("cached", 0.0), "cache off": ("off", 0.0),
}  # fmt: skip


def test_the_table_of_disks_is_what_the_planner_says() -> None:
    rows = XEDIT_ROW.findall((ROOT / "docs" / "disks.md").read_text(encoding="utf-8"))
    assert len(rows) == 6
    printed = read_table(data_path("emulated-fba", "table-2.csv"))
    published = {printed.text("Tx/sec", run) for run in printed.columns[2:]}
    assert {row[2] for row in rows} == published
    paths = disk_paths("xedit")
    for disk, run, _, planned in rows:
        mode, ratio = RUNS[run]
        assert planned == f"{float(paths[KINDS[disk]].solve(mode, ratio).rate):.2f}"
