"""What `make test` leaves out is never all there is of a name or a command: of each some test has no mark."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import planner
from tests.checkout import ROOT, modules, setup_list, trees
from tests.test_docstrings import names_all

LONG = re.compile(r"pytest\.mark\.(long|slow)\b")
NIGHTLY = {"write_left_out"}  # fits every model again
EXAMPLE_LINE = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)


def marked(node: ast.stmt) -> bool:
    """Whether a test, a class or a whole file is left out; one of whose cases only some are marked is not."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return any(LONG.fullmatch(ast.unparse(each)) for each in node.decorator_list)
    return (
        isinstance(node, ast.Assign)
        and "pytestmark" in ast.unparse(node)
        and bool(LONG.search(ast.unparse(node)))
    )


def unmarked(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a file, without the tests that are left out."""
    if not any(isinstance(node, ast.Assign) and marked(node) for node in body):
        for node in body:
            if isinstance(node, ast.ClassDef) and not marked(node):
                yield from unmarked(node.body)
            elif not marked(node) and not isinstance(node, ast.Import | ast.ImportFrom):
                yield node


def words(body: Iterable[ast.stmt]) -> set[str]:
    """Names that statements speak of; imports name what they do not use."""
    found = [each for node in body for each in ast.walk(node)]
    return {each.id for each in found if isinstance(each, ast.Name)} | {
        each.attr for each in found if isinstance(each, ast.Attribute)
    }


def public() -> set[str]:
    """Names that rooms hand out."""
    found = {name for name in dir(planner) if not isinstance(getattr(planner, name), ModuleType | str)}
    for name, path in modules().items():
        for node in trees()[name].body if path.name == "__init__.py" else ():
            if isinstance(node, ast.Assign) and names_all(node):
                found |= set(ast.literal_eval(node.value))
    return found


@pytest.mark.long
def test_no_public_name_is_tested_only_where_there_is_a_mark() -> None:
    """Examples of docstrings count, since they run without one."""
    texts = [path.read_text(encoding="utf-8") for path in modules().values()]
    shown = {
        word for text in texts for line in EXAMPLE_LINE.findall(text) for word in re.findall(r"\w+", line)
    }
    tests = [
        ast.parse(path.read_text(encoding="utf-8")).body for path in Path(ROOT, "tests").rglob("test_*.py")
    ]
    short = shown.union(*(words(unmarked(body)) for body in tests))
    names = public()
    assert len(names & short) > 100
    assert (names & set[str]().union(*map(words, tests))) - short == NIGHTLY


def test_the_example_of_every_command_runs_without_a_mark() -> None:
    source = (ROOT / "tests" / "cli" / "test_help.py").read_text(encoding="utf-8")
    tests = {
        node.name: node for node in unmarked(ast.parse(source).body) if isinstance(node, ast.FunctionDef)
    }
    decorators = [ast.unparse(each) for each in tests["test_help_has_an_example_that_runs"].decorator_list]
    assert decorators == ["pytest.mark.parametrize('words', ALL, ids=' '.join)"]


def test_what_is_marked_is_left_out() -> None:
    source = "@pytest.mark.long\ndef test_a(): alpha()\n@pytest.mark.first(1)\ndef test_b(): room.beta()\n"
    assert [node.name for node in unmarked(ast.parse(source).body)] == ["test_b"]
    assert not list(unmarked(ast.parse("pytestmark = [pytest.mark.slow]\n" + source).body))


def test_the_makefile_and_ci_run_what_the_marks_say() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^(test|test-all|nightly): .*\n\t(.*)$", makefile, re.MULTILINE))
    assert '-m "not long and not slow"' in recipes["test"]
    assert "-m" not in recipes["test-all"].replace("$(PYTEST)", "").split()
    assert '-m "not slow"' in " ".join(setup_list("tool:pytest", "addopts"))
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").endswith("\nmake test-all\n")
