"""README and docs/ say what the planner says: each command is run and its output, where shown, compared."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.examples import PAGES, Example, examples

COSTLY = (
    "growth docs/examples/site.csv",
    "site docs/examples/site.csv",
    "aliases pool docs/examples/subsystem.csv",
)
EXAMPLES = [
    pytest.param(example, marks=pytest.mark.long if example.command.endswith(COSTLY) else ())
    for page in PAGES
    for example in examples(page)
]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.first(2)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.page} {example.command}"[:60])
def test_commands_print_what_is_shown(example: Example) -> None:
    """`make examples` writes the blocks again; look at what changed before you commit it."""
    code, printed = example.run()
    assert code == 0
    assert example.cut(printed) == example.output.strip() if example.output.strip() else printed


def test_a_cut_stands_for_lines_between_the_first_and_the_last() -> None:
    assert Example("page", "planner", "one\n...\nfour\n").cut("one\ntwo\nthree\nfour") == "one\n...\nfour"
    assert Example("page", "planner", "one\n...\n").cut("changed\ntwo") == "changed\n..."
    with pytest.raises(AssertionError, match="nothing is left out"):
        Example("page", "planner", "one\n...\ntwo\n").cut("one\ntwo")


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


@pytest.mark.first(1)
@pytest.mark.parametrize(("page", "block"), PYTHON, ids=lambda text: text[:20])
def test_python_runs(page: str, block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, page, page, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
