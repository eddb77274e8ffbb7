"""A command imports what it needs: no picture, no frame and no symbol before one is asked for."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.cli.test_help import ALL, EXAMPLE, OWN

SLOW = {"matplotlib", "pandas", "sympy", "IPython"}
SHOW = (
    "import sys; from planner.cli import main; main({arguments!r});"
    "print(*sorted({slow!r} & {{name.partition('.')[0] for name in sys.modules}}), file=sys.stderr)"
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--help", ""),
        ("explain --help", ""),
        ("explain no-such-topic", ""),
        ("figures --help", ""),
        ("storage limits --release 5.3 --real-storage 256GB --resident-pages 50", ""),
        ("aliases volume data/hyperpav/522A-2-aliases.listing", ""),
        ("paging --page-rate 1000/s", ""),
        ("explain usl", "sympy"),
    ],
)
def test_slow_packages_wait_until_they_are_asked_for(arguments: str, expected: str) -> None:
    code = SHOW.format(arguments=arguments.split(), slow=SLOW)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == expected


COUNT = (
    "import sys, contextlib, io\n"
    "with contextlib.redirect_stdout(io.StringIO()):\n    {run}\n"
    "print(len(sys.modules), sum(len(open(m.__file__, 'rb').read()) for m in list(sys.modules.values()) "
    "if str(getattr(m, '__file__', None)).endswith('.py')))"
)


def imported(run: str) -> tuple[int, int]:
    """Modules, and bytes of their sources, that a fresh interpreter has after `run`."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(run=run)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules, size = map(int, done.stdout.split())
    return modules, size


def test_help_costs_no_more_than_typer_and_numpy() -> None:
    """Held by what is imported, which no load of the machine changes; the time follows it."""
    base = imported("import typer, numpy")
    told = imported("from planner.cli import main; main(['--help'])")
    assert told[0] <= 1.3 * base[0]
    assert told[1] <= 1.3 * base[1]


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
    for name, source in OWN.items():
        shutil.copy(source, tmp_path / name)
    examples = [shlex.split(text) for command in ALL.values() for text in EXAMPLE.findall(command.help)]
    asked = [words for words in examples if words[0] not in ASKED_FOR and "--plot" not in words]
    assert len(asked) > len(examples) / 2
    done = subprocess.run(
        [sys.executable, "-c", ALL_EXAMPLES.format(slow=SLOW)], cwd=tmp_path, input=json.dumps(asked),
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stdout
