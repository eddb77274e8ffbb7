"""Mutants: small changes of the code, each of which some test must notice. ``make mutants``, or

``python -m tests.mutants --count 300 --seed 1 [--room queueing]``

A sample of changes is drawn from `ROOMS`, each made in a copy of the checkout. The tests run under coverage before, to
tell which come through the changed line: only they run, the quickest first, until one fails; those that come
through its module where the line is run as that is imported. What no test notices is named, and so is what
none of the quickest notices that together take as long as is asked for (`--seconds`).

Each mutant has a process of its own, forked from one that holds the other packages but nothing of this project.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest
from coverage import CoverageData

from tests import contexts

WANTED: Final = 0.9  # share of the mutants that the tests notice, at least
LOADED: Final = (
    "pytest", "hypothesis", "hypothesis.extra.numpy", "numpy", "scipy.optimize", "scipy.stats", "scipy.linalg",
    "scipy.sparse.linalg", "scipy.integrate", "sympy", "polars", "pydantic", "typer.testing", "rich.console",
    "matplotlib.figure", "matplotlib.backends.backend_agg",
)  # fmt: skip
FORKS: Final = multiprocessing.get_context("forkserver")
MOST_BYTES: Final = 8 << 30  # of one mutant
AS_SLOW: Final = 4  # times as long as the tests took under coverage, and
STARTED: Final = 30.0  # [s] to collect them
ROOT: Final = Path(__file__).parents[1]
MODULE: Final = "the module"
LEFT: Final = shutil.ignore_patterns(
    ".git", ".venv*", ".*cache", ".hypothesis", "build", "__pycache__", "*.egg-info"
)
ANSWERS: Final = (
    "tests/test_sizing.py", "tests/test_alias_question.py", "tests/test_alias_answers.py", "tests/test_subsystem.py",
    "tests/test_many_answers.py", "tests/test_one_number.py", "tests/test_worst.py", "tests/test_missing.py",
    "tests/cli/test_aliases.py", "tests/cli/test_pools.py", "tests/test_docs.py", "tests/test_readme.py",
)  # fmt: skip
ROOMS: Final = {
    "queueing": ("tests/queueing", "tests/devices", "tests/pinned"),
    "calibrate": ("tests/calibrate", "tests/published", "tests/cli/test_calibrate.py"),
    "explain": ("tests/explain",),
    "demand": ("tests/demand", "tests/pinned", *ANSWERS),
    "sizing": ("tests/sizing", "tests/pinned", *ANSWERS),
    "reports": ("tests/reports", "tests/measurements", "tests/cli/test_read.py", "tests/fuzz", "tests/pinned"),
}  # fmt: skip
COMPARED: Final = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SIGNS: Final = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Pow: "**", ast.Mod: "%",
}  # fmt: skip
REVERSED: Final = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
COUNTED: Final = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Pow: "*",
    ast.Mod: "*",
}
NAMED: Final = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
                "floor": "ceil", "ceil": "floor", "argmin": "argmax",
                "argmax": "argmin"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change: characters `start` to `end` of `path` become `text`."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    function: str

    def words(self, source: str) -> str:
        """Say where and what."""
        old = source[self.start : self.end]
        return f"{self.path.relative_to(ROOT)}:{self.line} in {self.function}: {old!r} -> {self.text!r}"


class Changes(ast.NodeVisitor):
    """All changes of a file; nothing in annotations, messages, tests of types and flags of dataclasses."""

    def __init__(self, path: Path) -> None:
        self.path, self.source = path, path.read_text(encoding="utf-8")
        self.encoded = self.source.encode()
        self.begins = [0]
        for line in self.encoded.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))
        self.function = MODULE
        self.found: list[Mutant] = []
        self.visit(ast.parse(self.source))

    def place(self, line: int | None, column: int | None) -> int:
        """Character of a place that the parser tells in lines and bytes."""
        return len(self.encoded[: self.begins[(line or 1) - 1] + (column or 0)].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression stands."""
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def change(self, node: ast.expr, at: tuple[int, int] | None, text: str) -> None:
        """Add a change."""
        if at is not None:
            self.found.append(Mutant(self.path, node.lineno, *at, text, self.function))

    def sign(self, left: ast.expr, right: ast.expr, old: str) -> tuple[int, int] | None:
        """Where a sign stands between two operands."""
        first, last = self.span(left)[1], self.span(right)[0]
        at = self.source.find(old, first, last)
        return None if at < 0 or "#" in self.source[first:last] else (at, at + len(old))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Remember the function; its decorators and annotations stay."""
        outer, self.function = self.function, node.name
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for part in node.body:
            self.visit(part)
        self.function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Leave the decorators."""
        for part in node.body:
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave the annotation."""
        if node.value is not None:
            self.visit(node.value)

    def leave(self, node: ast.AST) -> None:
        """Leave messages as they are."""

    visit_Raise = visit_JoinedStr = visit_Assert = leave  # noqa: N815

    def visit_keyword(self, node: ast.keyword) -> None:
        """Leave what only guards against mistakes."""
        if node.arg not in {"strict", "copy", "slots", "frozen", "kw_only", "kind"}:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Compare otherwise."""
        kind = type(node.ops[0])
        if len(node.ops) == 1:
            at = self.sign(node.left, node.comparators[0], SIGNS[kind])
            self.change(node, at, COMPARED[kind])
            if kind in REVERSED:
                self.change(node, at, REVERSED[kind])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Reckon otherwise, but with numbers only."""
        kind = type(node.op)
        sides = (node.left, node.right)
        textual = any(isinstance(each, ast.JoinedStr | ast.List | ast.Tuple) for each in sides)
        textual |= any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in sides)
        if kind in COUNTED and not textual:
            self.change(node, self.sign(node.left, node.right, SIGNS[kind]), COUNTED[kind])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap and with or."""
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self.change(node, self.sign(node.values[0], node.values[1], old), new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Take a not away."""
        if isinstance(node.op, ast.Not):
            start = self.span(node)[0]
            self.change(node, (start, start + len("not ")), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change a number."""
        if type(node.value) is int:
            self.change(node, self.span(node), f"({node.value!r} + 1)")
        elif type(node.value) is float:
            self.change(node, self.span(node), f"({node.value!r} * 1.5 + 1e-3)")
        elif isinstance(node.value, bool):
            self.change(node, self.span(node), str(not node.value))

    def visit_Name(self, node: ast.Name) -> None:
        """Take the opposite function."""
        if node.id in NAMED:
            self.change(node, self.span(node), NAMED[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Take the opposite function."""
        if node.attr in NAMED:
            end = self.span(node)[1]
            self.change(node, (end - len(node.attr), end), NAMED[node.attr])
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> None:
        """Turn a condition around; what is for types alone stays."""
        if getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        at = self.span(node.test)
        self.change(node.test, at, f"(not ({self.source[slice(*at)]}))")
        self.generic_visit(node)

    visit_IfExp = visit_While = visit_If  # noqa: N815


def sample(rooms: list[str], count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Changes drawn from all of these rooms, each as likely."""
    every = [
        (room, mutant)
        for room in rooms
        for path in sorted((ROOT / "planner" / room).rglob("*.py"))
        for mutant in Changes(path).found
    ]
    random = Random(seed)
    return random.sample(every, min(count, len(every)))


class Reached:
    """Tests that come through each line of the code, the quickest first; all of them must pass as the code stands."""

    def __init__(self, copy: Path, rooms: list[str]) -> None:
        self._copy = copy
        files = dict.fromkeys(path for room in rooms for path in ROOMS[room])
        data, seconds = copy / ".coverage", copy / "seconds.json"
        plain = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.contexts", *files)
        own = {"PYTHONPATH": str(copy), "COVERAGE_FILE": str(data), contexts.SECONDS: str(seconds)}
        source = ("run", "--source", str(copy / "planner"), "-m", "pytest")
        command = [sys.executable, "-m", "coverage", *source, *plain]
        done = subprocess.run(command, cwd=copy, env={**os.environ, **own}, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
        self._seconds: dict[str, float] = json.loads(seconds.read_text(encoding="utf-8"))
        self._data = CoverageData(str(data))
        self._data.read()

    def tests(self, path: Path, mutant: Mutant) -> list[str]:
        """Tests that come through a line; through the module, where the line is run as it is imported."""
        lines = self._data.contexts_by_lineno(str(self._copy / path))
        near = [] if mutant.function == MODULE else self._sorted(lines.get(mutant.line, []))
        return near or self._sorted(each for found in lines.values() for each in found)

    def quickest(self, path: Path, mutant: Mutant, seconds: float) -> tuple[list[str], float]:
        """Those of them that take so long together, at least one, and their time [s]."""
        taken: list[str] = []
        total = 0.0
        for each in self.tests(path, mutant):
            if taken and total + self._seconds[each] > seconds:
                break
            taken.append(each)
            total += self._seconds[each]
        return taken, total

    def _sorted(self, contexts: Iterable[str]) -> list[str]:
        """Tests by their time."""
        return sorted(
            {each for each in contexts if each in self._seconds}, key=lambda each: self._seconds[each]
        )


def run(copy: Path, tests: Sequence[str], seconds: float) -> str:
    """Run tests in the copy until one fails: "noticed", "survived" or "too slow"."""
    process = FORKS.Process(target=_tests, args=(str(copy), list(tests)))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        return "too slow"
    return "noticed" if process.exitcode else "survived"  # what ends the interpreter is noticed too


def _tests(copy: str, tests: list[str]) -> None:
    """Run tests in this process, with the project as it stands in the copy."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    os.chdir(copy)
    os.environ["PYTHONPATH"] = copy  # for the commands that tests start
    sys.path.insert(0, copy)
    for name in [each for each in sys.modules if each.partition(".")[0] in {"planner", "models", "tests"}]:
        del sys.modules[name]
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    plain = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    loaded = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # what is loaded before is not rewritten
    os._exit(int(pytest.main([*plain, *loaded, *tests])))


def tried(copy: Path, reached: Reached, drawn: tuple[str, Mutant], seconds: float) -> str:
    """Make a change in a copy, run its tests there and take it back; say what was found."""
    room, mutant = drawn
    path = mutant.path.relative_to(ROOT)
    place = copy / path
    text = place.read_text(encoding="utf-8")
    tests, needed = reached.quickest(path, mutant, seconds)
    place.write_text(text[: mutant.start] + mutant.text + text[mutant.end :], encoding="utf-8")
    begin = time.monotonic()
    try:
        found = run(copy, tests or ROOMS[room], STARTED + AS_SLOW * (needed if tests else seconds))
    finally:
        place.write_text(text, encoding="utf-8")
    print(f"{found:9} {time.monotonic() - begin:4.0f} s  {mutant.words(text)}", flush=True)
    return found


def main() -> int:
    """Draw a sample, try each mutant, name what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="of the sample, those that were tried before")
    parser.add_argument("--seconds", type=float, default=150.0, help="of tests for one mutant")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--room", action="append", choices=list(ROOMS))
    asked = parser.parse_args()
    rooms = asked.room or list(ROOMS)
    os.environ.update(CI="true", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as folder:
        copies: queue.Queue[Path] = queue.Queue()
        for job in range(asked.jobs):
            copy = Path(folder) / str(job)
            shutil.copytree(ROOT, copy, ignore=LEFT)
            copies.put(copy)
        reached = Reached(Path(folder) / "0", rooms)

        def one(drawn: tuple[str, Mutant]) -> str:
            copy = copies.get()
            try:
                return tried(copy, reached, drawn, asked.seconds)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(asked.jobs) as pool:
            found = list(pool.map(one, sample(rooms, asked.count, asked.seed)[asked.skip :]))
    slow = found.count("too slow")
    noticed = found.count("noticed") + slow
    print(f"{noticed} of {len(found)} noticed ({noticed / max(len(found), 1):.0%}), {slow} of them by time")
    return int(noticed < WANTED * len(found))


if __name__ == "__main__":
    FORKS.set_forkserver_preload(list(LOADED))
    raise SystemExit(main())
