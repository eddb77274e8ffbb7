"""A command imports what it needs: no picture, no frame and no symbol before one is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkout import ROOT

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
