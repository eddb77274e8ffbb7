"""The pages of docs/ say what the planner says: each command is run and its output compared."""

from __future__ import annotations

import re
import shlex

import pytest

from planner.cli import main
from tests.checkout import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
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
