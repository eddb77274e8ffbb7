"""Where the checkout is and what is in it, for the tests of the house."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "planner"


@cache
def repository_files() -> list[Path]:
    """Files that git tracks or would track; every file of an unpacked archive without git."""
    if not (ROOT / ".git").exists():
        return sorted(path for path in ROOT.rglob("*") if path.is_file() and ".venv" not in path.parts)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return sorted(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    named = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


@cache
def trees() -> dict[str, ast.Module]:
    """Every module, parsed once for all tests that read the code."""
    collecting = gc.isenabled()
    gc.disable()  # half a million nodes stay: to look for what could go takes as long as to parse
    try:
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}
    finally:
        if collecting:
            gc.enable()


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node, without the expressions in it, of which there are ten times as many."""
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        for node in getattr(tree, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


def setup_cfg() -> ConfigParser:
    """Return setup.cfg as it is."""
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def setup_list(section: str, key: str) -> list[str]:
    """Lines of a list in setup.cfg, without comments."""
    lines = setup_cfg()[section][key].splitlines()
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
