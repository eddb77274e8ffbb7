"""The README and the pages of docs/ say what the planner says: each command is run and its output compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from planner.cli import main
from tests.checkout import ROOT
from tests.console import commands

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [(page.name, command, output) for page in PAGES for command, output in commands(page)]
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_shows_a_command(page: Path) -> None:
    assert commands(page)


@pytest.mark.parametrize(("page", "command", "output"), SHOWN, ids=lambda text: text[:60])
def test_commands_print_what_is_shown(
    page: str, command: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word, *arguments = shlex.split(command)
    assert word == "planner", page
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip("\n") == output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_a_block_of_several_commands_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ planner a\none\n\ntwo\n$ planner b\n```\n\n```console\n$ planner c\n3\n```\n"
    )
    assert commands(page) == [("planner a", "one\n\ntwo"), ("planner b", ""), ("planner c", "3")]
