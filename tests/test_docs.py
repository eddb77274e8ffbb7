"""README and docs/ say what the planner says: each command is run and its output, where shown, compared."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from planner.cli import main
from tests.checkout import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: Path) -> list[tuple[str, str, str]]:
    """Page, command and shown output of every console block; a block may hold several commands."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((page.name, command, output))
    return found


COMMANDS = [found for page in PAGES for found in commands(page)]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("page", "command", "output"), COMMANDS, ids=lambda text: text[:40])
def test_commands_print_what_is_shown(
    page: str, command: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *words = shlex.split(command)
    assert program == "planner", page
    assert main(expanded(words)) == 0, page
    printed = capsys.readouterr().out
    assert printed.strip() if not output.strip() else printed.strip() == output.strip()


def expanded(words: list[str]) -> list[str]:
    """File names as a shell expands them."""
    return [
        name
        for word in words
        for name in (sorted(str(path) for path in Path().glob(word)) if "*" in word else [word])
    ]


LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (page.parent / target).exists()]


PYTHON = [
    (page.name, block)
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
]


@pytest.mark.parametrize(("page", "block"), PYTHON, ids=lambda text: text[:20])
def test_python_runs(page: str, block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, page, page, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
