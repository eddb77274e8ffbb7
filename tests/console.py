"""Reads the console blocks of a page: each command after `$` and the output that is shown below it."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "$ "


def commands(page: Path) -> list[tuple[str, str]]:
    """Every command of a page with its output, in order."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        assert block.startswith(PROMPT), f"{page.name}: a console block begins with its command"
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip("\n")))
    return found
