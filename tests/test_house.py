"""Packaging names every folder, nothing is imported early, no line names a machine, no file is large."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

import planner
from tests.checkout import PACKAGE, ROOT, modules, repository_files, setup_cfg, setup_list, statements, trees

SHELVES = ("data", "models")
LARGEST_FILE = 1_000_000  # bytes
# Written so that this file does not match itself.
MACHINE_PATH = re.compile(r"/(?:home|root|work|Users)/|[.][.]/[s]hared/|[A-Z]:\\\\Users")


def run_python(code: str, *, path: Path = ROOT) -> str:
    """What a fresh interpreter prints for `code` with `path` in front of its modules."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def folders_to_install() -> set[str]:
    """Dotted name of every package that the wheel has to carry: code, and each shelf."""
    code = {name for name, path in modules().items() if path.name == "__init__.py"}
    return code | {f"planner.{shelf}" for shelf in SHELVES}


def test_setup_cfg_lists_every_package_of_code_and_both_shelves() -> None:
    assert set(setup_list("options", "packages")) == folders_to_install()


def test_every_file_of_a_shelf_is_package_data() -> None:
    """A folder of data needs no line of its own: patterns reach one level down."""
    stated = setup_cfg()["options.package_data"]
    keys = ("*", "planner.data", "planner.models")
    patterns = [pattern.strip() for key in keys for pattern in stated[key].split(",")]
    shelved = [
        path.relative_to(ROOT) for path in repository_files() if path.relative_to(ROOT).parts[0] in SHELVES
    ]
    assert {len(path.parts) for path in shelved} == {2, 3}
    inside = [path.relative_to(path.parts[0]) for path in shelved]
    left_behind = [path for path in inside if not any(fnmatch(str(path), pattern) for pattern in patterns)]
    assert not left_behind


@pytest.mark.parametrize("shelf", SHELVES)
def test_a_shelf_is_data_beside_the_package_not_code_inside_it(shelf: str) -> None:
    assert (ROOT / shelf / "README.md").is_file()
    assert not (PACKAGE / shelf).exists()
    assert not list((ROOT / shelf).rglob("*.py"))


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_import_planner_imports_nothing_else() -> None:
    loaded = run_python(
        "import sys; before = set(sys.modules); import planner; "
        "new = set(sys.modules) - before; tops = {name.partition('.')[0] for name in new};"
        "print(*(tops - sys.stdlib_module_names), *(name for name in new if name.startswith('planner.')))"
    )
    assert loaded == "planner"


def test_an_error_class_costs_no_numpy() -> None:
    assert run_python("import sys, planner; planner.InputError; print('numpy' in sys.modules)") == "False"


NAMES = set(dir(planner)) - {"__version__"}


def test_the_front_door_shows_just_what_it_exports() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    aliases = [alias for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.asname == alias.name for alias in aliases), "mypy takes no other import for an export"
    assert {alias.name for alias in aliases} == NAMES
    assert {"aliases", "read", "Target", "InputError", "queueing", "system"} < NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(planner, name).__name__.rpartition(".")[2] == name


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'planner' has no attribute 'erlangen'"):
        planner.erlangen  # noqa: B018 - the access is the test


def test_numpy_raises_instead_of_warning() -> None:
    with pytest.raises(FloatingPointError):
        np.divide(1.0, np.zeros(2))


def text_lines(path: Path) -> list[str]:
    """Lines of a text file; none of a picture."""
    content = path.read_bytes()
    return [] if b"\0" in content else content.decode("utf-8", errors="replace").splitlines()


def test_no_line_names_a_path_of_a_machine() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in repository_files()
        for number, line in enumerate(text_lines(path), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert not named


@pytest.mark.parametrize("folder", ["home", "root", "work", "Users"])
def test_a_path_of_a_machine_is_seen(folder: str) -> None:
    assert MACHINE_PATH.search(f"open('/{folder}/someone/listing')")


def test_no_error_of_a_library_names_an_option() -> None:
    """People in Python read the argument; `planner.cli.options.expanded` says the option to those who typed it."""
    library = (path for path in modules().values() if path.parent.name != "cli")
    assert not [
        path for path in library if re.search(r'InputError\(\s*"--', path.read_text(encoding="utf-8"))
    ]


def test_no_file_is_large() -> None:
    large = [str(path.relative_to(ROOT)) for path in repository_files() if path.stat().st_size > LARGEST_FILE]
    assert not large


def test_python_and_license_are_stated_once_and_agree() -> None:
    metadata, options = setup_cfg()["metadata"], setup_cfg()["options"]
    assert metadata["version"] == "attr: planner.__version__"
    assert options["python_requires"] == ">=3.11"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause")
    assert metadata["license_expression"] == "BSD-3-Clause"


def test_every_picture_takes_its_axes_from_the_one_style() -> None:
    own = [name for name, path in modules().items() if "import Figure\n" in path.read_text(encoding="utf-8")
           and "from matplotlib.figure" in path.read_text(encoding="utf-8")]  # fmt: skip
    assert own == ["planner.style"]


@pytest.mark.slow
def test_a_wheel_carries_its_shelves_and_finds_them(tmp_path: Path) -> None:
    clean = tmp_path / "checkout"  # a copy, so that the build leaves nothing in the checkout
    for path in repository_files():
        copy = clean / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir"]
    build = [*pip_wheel, str(tmp_path), str(clean)]
    subprocess.run(build, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("*.whl")
    target = tmp_path / "target"
    inside = target / "planner"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    shipped = {path.relative_to(inside) for path in inside.rglob("*") if path.is_file()}
    expected = {
        path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.relative_to(ROOT)
        for path in repository_files()
        if path.relative_to(ROOT).parts[0] in {"planner", *SHELVES}
    }
    assert shipped == expected
    found = run_python(
        "import planner; from planner import library; print(library.__file__);"
        "print(library.data_path('README.md')); print(library._shelf('models'))",
        path=target,
    )
    assert [Path(line) for line in found.splitlines()] == [
        inside / "library.py",
        inside / "data" / "README.md",
        inside / "models",
    ]


def test_models_are_made_by_the_makefile() -> None:
    assert "write_models(Path('models'))" in (ROOT / "Makefile").read_text(encoding="utf-8")


DOORS = [
    name
    for name, path in modules().items()
    if "= door(" in path.read_text(encoding="utf-8") and name != "planner"
]


@pytest.mark.parametrize("name", DOORS)
def test_a_door_hands_out_just_what_it_names(name: str) -> None:
    """Each public name comes from the module that the types say, and nothing else does."""
    package = importlib.import_module(name)
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(name)
        for alias in node.names
    }
    assert set(typed) == set(package.__all__) == set(dir(package))
    for each, module in typed.items():
        assert package.__getattr__(each) is getattr(importlib.import_module(str(module)), each)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_no_class_name_is_used_twice() -> None:
    """One name, one thing: who reads it in one room knows it in the next."""
    found: dict[str, list[str]] = {}
    for name, tree in trees().items():
        for node in statements(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    assert not {each: where for each, where in found.items() if len(where) > 1}
