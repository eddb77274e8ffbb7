"""What the site is made of: its links, a complete table of contents, one line where the extra is missing."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from planner.explain import TOPICS
from planner.reports import schema
from tests.checkout import ROOT

SCRIPT = ROOT / "docs" / "gather.py"


@pytest.fixture
def gather() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gather", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_page_that_is_not_there_has_no_entry_and_every_other_one_has(
    gather: ModuleType, tmp_path: Path
) -> None:
    for name in ("index", "here", "new"):
        (tmp_path / f"{name}.md").write_text("# A page\n", encoding="utf-8")
    index = "```{toctree}\n:caption: Use\n\nhere\ngone\nnotebooks/*\n```\n"
    found = gather.whole_toctree(index, tmp_path)
    assert "gone" not in found
    assert "here\nnotebooks/*\n" in found
    assert ":caption: More\n:hidden:\n\nnew\n" in found


def test_links_of_the_checkout_become_links_of_the_site(gather: ModuleType) -> None:
    text = "[a](../notebooks/01_x.ipynb) [b](docs/aliases.md) [c](../CHANGELOG.md#x) [d](CONTRIBUTING.md)"
    assert (
        gather.inside(text)
        == "[a](notebooks/01_x.ipynb) [b](aliases.md) [c](changelog.md#x) [d](contributing.md)"
    )


def test_short_titles_are_entries_and_pages_below_others_are_no_more_of_their_own(
    gather: ModuleType, tmp_path: Path
) -> None:
    for name in ("index", "methods", "readings", "aliases"):
        (tmp_path / f"{name}.md").write_text("# A page\n", encoding="utf-8")
    found = gather.whole_toctree("```{toctree}\n\nAliases <aliases>\nMethods <methods>\n```\n", tmp_path)
    assert "Aliases <aliases>\nMethods <methods>\n" in found
    assert "readings" not in found
    assert gather.below("methods", tmp_path) == "\n```{toctree}\n:hidden:\n\nreadings\n```\n"
    assert gather.below("aliases", tmp_path) == ""


def test_the_sidebar_is_at_most_twenty_nouns(gather: ModuleType) -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    entries = [line for block in gather.TOCTREE.findall(index) for line in block.splitlines() if "<" in line]
    assert len(entries) <= 20
    assert all(len(line.split(" <")[0].split()) == 1 for line in entries)


@pytest.mark.long
def test_every_formula_is_typeset_and_every_column_is_explained(gather: ModuleType) -> None:
    """What is generated from the code: nothing of LaTeX is left outside of formulas."""
    formulas, columns = gather.formulas(), gather.columns()
    outside = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", formulas, flags=re.DOTALL)
    assert "\\" not in outside
    for name in TOPICS:
        assert f"`planner explain {name}`" in formulas
    for table in schema.TABLES.values():
        for column in table:
            if not column.key.endswith(("_low", "_high")):
                assert f"| `{column.key}` | {column.dtype} | {column.unit} | {column.meaning} |" in columns


def test_a_missing_extra_is_one_line_that_says_what_to_install(tmp_path: Path) -> None:
    """In an interpreter that finds none of the builders."""
    code = (
        "import importlib.util as u, runpy, sys; find = u.find_spec; "
        "u.find_spec = lambda name, *more: None if name in ('sphinx', 'furo') else find(name, *more); "
        f"sys.argv = ['gather.py', {str(tmp_path / 'site')!r}, 'none']; "
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("sphinx")
    assert line.endswith("pip install 'zvm-planner[notebook,docs]'")
    assert not (tmp_path / "site").exists()


def test_output_that_a_page_cuts_is_folded_whole_below_its_answer(gather: ModuleType) -> None:
    command = "planner aliases volume data/hyperpav/522A-0-aliases.listing"
    text = f"Before.\n\n```console\n$ {command}\n```\n\n```text\n522A: 2\n...\nNext\n```\n\nAfter.\n"
    found = gather.folded(text)
    head, _, fold = found.partition("<details>")
    assert head.endswith("```text\n522A: 2\n```\n\n")
    assert "..." not in found
    assert "I/O rate" in fold and "Next: add 2 aliases" in fold
    assert found.endswith("</details>\n\n\nAfter.\n")
    whole = text.replace("...\n", "")
    assert gather.folded(whole) == whole
