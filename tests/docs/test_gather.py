"""What the site is made of: its links, a complete table of contents, one line where the extra is missing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
