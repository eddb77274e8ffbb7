"""Notebooks are stored without output, use the Python API alone, assert their headline, and run from a wheel."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, repository_files

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
    assert "interact(" in code(notebook)


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


@pytest.mark.slow
def test_all_run_from_a_wheel_outside_the_checkout(tmp_path: Path) -> None:
    clean, target = tmp_path / "checkout", tmp_path / "target"
    for path in repository_files():  # a copy, so that the build leaves nothing in the checkout
        copy = clean / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(clean)]
    subprocess.run(build, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    shutil.rmtree(clean)
    outside = tmp_path / "outside"
    shutil.copytree(ROOT / "notebooks", outside)
    run = [sys.executable, "-m", "pytest", "--nbmake", "-q", "-p", "no:cacheprovider", str(outside)]
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run(run, cwd=outside, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{len(NOTEBOOKS)} passed" in done.stdout
