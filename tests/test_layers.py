"""Imports point down only, never in a circle; read from the source, so those in functions and for types count."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.checkout import modules, statements, trees

# From the top down, as DESIGN section 2 has them; a module may import from its own layer and from those below.
LAYERS = (
    ("cli", "__main__"),
    ("site", "system", "page", "published", "explain"),
    ("sizing", "supply", "whatif", "advice"),
    ("demand",),
    ("calibrate",),
    ("measurements",),
    ("devices", "reports", "library"),
    ("queueing",),
    (
        "results",
        "lazy",
        "answer",
        "render",
        "files",
        "parallel",
        "sliders",
        "style",
        "interval",
        "quantity",
        "units",
        "errors",
    ),
)
LAYER_OF = {part: level for level, layer in enumerate(LAYERS) for part in layer}


def imported(tree: ast.Module, module: str, *, is_package: bool, known: Iterable[str]) -> Iterator[str]:
    """Modules of the package that a source imports, wherever in the file and for whatever purpose it does."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") if is_package else module.split(".")[:-1]
            above = ".".join(base[: len(base) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (above, node.module or "") if part)
            for alias in node.names:
                name = f"{source}.{alias.name}"
                if name in known or source in known:
                    yield name if name in known else source


@cache
def edges() -> dict[str, set[str]]:
    known = modules()
    return {
        name: set(
            imported(
                trees()[name],
                name,
                is_package=path.name == "__init__.py",
                known=known,
            )
        )
        - {name}
        for name, path in known.items()
        if name != "planner"  # it names what it hands out and imports it when asked for (tests/test_house.py)
    }


def part(module: str) -> str:
    """Return the name that a module's layer goes by: what follows `planner.`."""
    return module.split(".")[1] if "." in module else ""


def test_every_module_has_its_layer() -> None:
    homeless = {part(name) for name in modules()} - set(LAYER_OF) - {""}
    assert not homeless, f"no layer of DESIGN section 2 holds {', '.join(sorted(homeless))}"


def test_imports_point_down() -> None:
    upward = [
        f"{name} imports {target}"
        for name, targets in edges().items()
        for target in targets
        if part(target) and LAYER_OF[part(target)] < LAYER_OF.get(part(name), len(LAYERS))
    ]
    assert not upward, "; ".join(sorted(upward))


def test_no_import_cycles() -> None:
    try:
        TopologicalSorter(edges()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import planner.units", ["planner.units"]),
        ("from planner import units", ["planner.units"]),
        ("from planner.units import parse", ["planner.units"]),
        ("from planner import __version__", ["planner"]),
        ("from .erlang import erlang_b", ["planner.queueing.erlang"]),
        ("from . import erlang", ["planner.queueing.erlang"]),
        ("from ..units import parse", ["planner.units"]),
        ("def f():\n    from planner import units", ["planner.units"]),
        ("if TYPE_CHECKING:\n    from planner import units", ["planner.units"]),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from planner import units", ["planner.units"]),
        ("import numpy", []),
    ],
)
def test_the_reader_of_imports_sees_each_spelling(source: str, expected: list[str]) -> None:
    known = ["planner", "planner.units", "planner.queueing", "planner.queueing.erlang"]
    found = imported(ast.parse(source), "planner.queueing.single_station", is_package=False, known=known)
    assert list(found) == expected
