"""The guide to calibration: its commands run, its columns and keys are those of the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from planner import whatif
from planner.calibrate.data_file import COLUMNS
from planner.calibrate.law import KEYS
from planner.cli import main
from tests.checkout import ROOT

GUIDE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (planner .*)$", GUIDE, re.MULTILINE)


def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    assert len(COMMANDS) >= 3
    for command in COMMANDS:
        assert main(shlex.split(command)[1:]) == 0, command


def test_it_names_every_column_and_key() -> None:
    for name in (*COLUMNS, *whatif.COUNTS, *KEYS):
        assert f"`{name}`" in GUIDE
