"""A newcomer's path: from a clone to an answer of one's own in less than five commands, as docs/start.md shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from planner.library import data_path
from tests.checkout import ROOT

PAGE = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
(BLOCK,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = BLOCK.splitlines()


def test_it_takes_less_than_five_commands() -> None:
    assert len(COMMANDS) < 5
    assert COMMANDS[0].startswith("git clone REPOSITORY ")
    assert COMMANDS[-1].endswith(" MY.listing")


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive cannot be cloned")
def test_the_commands_lead_to_an_answer(tmp_path: Path) -> None:
    """Clones what is committed, installs from the package index."""
    listing = tmp_path / "MY.listing"
    shutil.copy(data_path("hyperpav", "522A-0-aliases.listing"), listing)
    script = BLOCK.replace("REPOSITORY", str(ROOT)).replace("MY.listing", str(listing))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "522A: 2 aliases" in done.stdout.rpartition("pool 522A-5231")[2]
