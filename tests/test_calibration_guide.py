"""The guide to calibration: its commands run, its columns and keys are those of the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from planner.calibrate import CALIBRATORS
from planner.calibrate.data_file import COLUMNS
from planner.calibrate.kinds import COSTS
from planner.cli import main
from planner.devices import KINDS
from planner.library import read_model
from planner.whatif.predict import keys_of
from tests.checkout import ROOT

GUIDE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (planner .*)$", GUIDE, re.MULTILINE)


@pytest.mark.long
def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    assert len(COMMANDS) >= 3
    for command in COMMANDS:
        assert main(shlex.split(command)[1:]) == 0, command


def test_it_names_every_column_and_key() -> None:
    headings = [heading.file_key for table in COSTS.values() for heading in table.headings]
    for name in (
        *COLUMNS,
        *headings,
        *(question.key for kind in KINDS.values() for question in kind.QUESTIONS),
    ):
        assert f"`{name}`" in GUIDE, name
    for name in ("volume", "pool"):
        for key in keys_of(name):
            assert f"`{key}`" in GUIDE, key


def test_every_kind_can_be_calibrated_and_asked() -> None:
    assert set(CALIBRATORS) == set(KINDS)


@pytest.mark.parametrize(
    ("example", "kind", "shipped"),
    [
        ("xedit-emulated-fba", "disk", "disk-xedit-emulated-fba"),
        ("iozone-eckd-minidisk", "disk", "disk-iozone-eckd-minidisk"),
        ("fast-ccw", "channel-program", "channel-program"),
    ],
)
def test_its_examples_are_the_published_runs_and_give_the_shipped_models(
    example: str, kind: str, shipped: str, tmp_path: Path
) -> None:
    """The examples are typed from the published tables; the shipped models are made of the tables themselves."""
    table, model = ROOT / "docs" / "examples" / f"{example}.csv", tmp_path / "m.toml"
    assert main(["calibrate", str(table), "--kind", kind, "-o", str(model)]) == 0
    found, wanted = read_model(model).parameters, read_model(shipped).parameters
    assert set(found) == set(wanted)
    for key, entry in wanted.items():
        assert found[key].value == pytest.approx(entry.value, rel=3e-3, abs=1e-9), key
