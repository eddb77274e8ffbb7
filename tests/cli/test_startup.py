"""A command imports what it needs: no picture, no frame and no symbol before one is asked for."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.cli.test_help import ALL, EXAMPLE, OWN, put

SLOW = {"matplotlib", "pandas", "sympy", "IPython"}
CALCULATED = {"numpy", "scipy", "planner.queueing"}
LIMITS = "storage limits --release 5.3 --real-storage 256GB --resident-pages 50"
# One process runs a group in this order: what one imports, the later ones have. After each, what must not be there.
FIRST = {"--help": SLOW, LIMITS: SLOW | CALCULATED, "explain usl": SLOW - {"sympy"}}
OTHERS = {
    "explain --help": SLOW,
    "explain no-such-topic": SLOW,
    "figures --help": SLOW,
    "aliases volume data/hyperpav/522A-2-aliases.listing": SLOW,
    "paging --page-rate 1000/s": SLOW,
}
COMMANDS = FIRST | OTHERS
RUN = """
import contextlib, io, json, os, sys
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(line)
    files = (str(getattr(module, "__file__", None)) for module in list(sys.modules.values()))
    print(json.dumps([list(sys.modules), sum(os.stat(name).st_size for name in files if name.endswith(".py"))]))
"""


def imported(*lines: str) -> list[tuple[set[str], int]]:
    """Modules, and bytes of their sources, that a fresh interpreter has after each line."""
    command = [sys.executable, "-c", RUN, json.dumps(lines)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [(set(names), size) for names, size in map(json.loads, done.stdout.splitlines())]


def after(command: str) -> tuple[set[str], int]:
    """What is there after a command and those of its group before it."""
    return ran(command in FIRST)[command]


@cache
def ran(first: bool) -> dict[str, tuple[set[str], int]]:
    """What is there after each command of a group."""
    group = FIRST if first else OTHERS
    lines = [f"from planner.cli import main; main({shlex.split(command)!r})" for command in group]
    return dict(zip(group, imported(*lines), strict=True))


@pytest.mark.first(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_slow_packages_wait_until_they_are_asked_for(command: str) -> None:
    assert not after(command)[0] & COMMANDS[command]


def test_a_topic_is_explained_in_symbols() -> None:
    """What is looked for above is seen where it is there."""
    assert "sympy" in after("explain usl")[0]
    assert after(LIMITS)[0] < after("explain usl")[0]


def test_help_costs_no_more_than_typer_and_numpy() -> None:
    """Held by what is imported, which no load of the machine changes; the time follows it."""
    ((modules, size),) = imported("import typer, numpy")
    found, of_them = after("--help")
    assert len(found) <= 1.3 * len(modules)
    assert of_them <= 1.3 * size


# Examples of the help draw, explain in symbols, or write where they are run; each is told apart here.
ASKED_FOR = ("explain", "figures", "report")
ALL_EXAMPLES = """
import contextlib, io, json, shlex, shutil, sys
from planner.cli import main
for words in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(words) == 0, words
    slow = sorted({slow!r} & {{name.partition('.')[0] for name in sys.modules}})
    if slow:
        print(shlex.join(words), *slow)
        break
"""


@pytest.mark.slow
def test_no_example_of_the_help_imports_what_it_does_not_need(tmp_path: Path) -> None:
    for name in OWN:
        put(name, tmp_path)
    examples = [shlex.split(text) for command in ALL.values() for text in EXAMPLE.findall(command.help)]
    asked = [words for words in examples if words[0] not in ASKED_FOR and "--plot" not in words]
    assert len(asked) > len(examples) / 2
    done = subprocess.run(
        [sys.executable, "-c", ALL_EXAMPLES.format(slow=SLOW)], cwd=tmp_path, input=json.dumps(asked),
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stdout
