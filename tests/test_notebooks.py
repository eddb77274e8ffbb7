"""Notebooks are stored without output, use the Python API alone, assert their headline, and run from a wheel."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import notebook_counters, run_notebooks
from tests.checkout import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FOR_ANYONE = {"IPython", "ipywidgets", "matplotlib", "numpy", "pandas", "planner"}


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def code(notebook: Path) -> str:
    """All code of a notebook, without the line that tells Jupyter where to draw."""
    sources = ("".join(cell["source"]) for cell in cells(notebook, "code"))
    return "\n".join(
        line for source in sources for line in source.splitlines() if line != "%matplotlib inline"
    )


def test_there_is_one_for_each_question() -> None:
    assert [notebook.name[:3] for notebook in NOTEBOOKS] == [f"{n:02}_" for n in range(1, len(NOTEBOOKS) + 1)]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_output(notebook: Path) -> None:
    for cell in cells(notebook, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_begins_with_its_question_and_has_sliders(notebook: Path) -> None:
    first = "".join(cells(notebook, "markdown")[0]["source"])
    assert first.startswith("# ")
    assert "?" in first
    assert "explore(" in code(notebook)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_asserts_its_headline(notebook: Path) -> None:
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code(notebook))))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_uses_the_python_api_alone(notebook: Path) -> None:
    tree = ast.parse(code(notebook))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= FOR_ANYONE | sys.stdlib_module_names
    assert not [name for name in imported if name.startswith(("planner.cli", "subprocess"))]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_ends_with_what_to_do(notebook: Path) -> None:
    last = json.loads(notebook.read_text(encoding="utf-8"))["cells"][-1]
    assert last["cell_type"] == "markdown"
    assert last["source"][0] == "## What to do on Monday\n"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_answer_prints_itself(notebook: Path) -> None:
    """Headline, tables and notes come from the answer; a cell that prints its text would lose their form."""
    assert ".text()" not in code(notebook)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_simulation_stands_in_a_notebook(notebook: Path) -> None:
    assert not re.search(r"^(?:import|from) (?:heapq|random)\b", code(notebook), re.MULTILINE)


@pytest.mark.long
def test_the_counters_are_those_of_the_simulated_pool() -> None:
    assert notebook_counters.FILE.read_text(encoding="utf-8") == notebook_counters.text()


@pytest.mark.slow
def test_all_run_from_a_wheel_outside_the_checkout(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    assert run_notebooks.run(outside) == 0
    written = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(outside.glob("*.ipynb"))]
    assert len(written) == len(NOTEBOOKS)
    for notebook in written:
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        assert outputs
        assert not re.search(r"/(tmp|root|home)/", json.dumps(outputs))
