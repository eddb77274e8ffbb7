"""The commands and the Python of docs/storage.md run, and its numbers are what the planner says."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from planner.cli import main
from planner.devices.processors import published, scaling
from tests.checkout import ROOT

PAGE = (ROOT / "docs" / "storage.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (planner .*)$", PAGE, re.MULTILINE)


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_there_are_commands() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == {"storage", "processors"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_answers(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip()


def test_python_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(block, {}, "storage", "docs/storage.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_10_and_12_processors_fell_short() -> None:
    assert "fell 11 and 12 % short" in PAGE
    few = scaling(published()[:3])
    short = [row.internal_throughput / few.predict(row.processors).itr - 1 for row in published()[3:]]
    assert [round(100 * share) for share in short] == [-11, -12]
