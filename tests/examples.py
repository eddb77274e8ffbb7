"""Console blocks of README.md and docs/: what they show and what is printed; ``make examples`` rewrites them.

A line ``...`` of a block stands for any lines: those above it are the first ones printed, those below it the last.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from planner.cli import main
from tests.checkout import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CUT = "..."
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A command as a page has it, and the output that stands below it; empty where the page shows none."""

    page: str
    command: str
    output: str

    def cut(self, printed: str) -> str:
        """What the page shows of this output: as many lines above and below its cut as it has now."""
        lines, shown = printed.splitlines(), self.output.strip("\n").splitlines()
        if CUT not in shown:
            return printed
        above = shown.index(CUT)
        below = len(shown) - above - 1
        assert CUT not in shown[above + 1 :], f"{self.page}: two cuts in {self.command}"
        assert above + below < len(lines), f"{self.page}: nothing is left out of {self.command}"
        return "\n".join([*lines[:above], CUT, *lines[len(lines) - below :]])

    def run(self) -> tuple[int, str]:
        """Exit code, and what the command prints, in the checkout."""
        program, *words = shlex.split(self.command)
        assert program == "planner", self.page
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = main(expanded(words))
        return code, printed.getvalue().strip()


def expanded(words: list[str]) -> list[str]:
    """File names as a shell expands them."""
    return [
        name
        for word in words
        for name in (sorted(str(path) for path in Path().glob(word)) if "*" in word else [word])
    ]


def examples(page: Path) -> list[Example]:
    """All commands of the console blocks of a page; a block may hold several."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [example for block in blocks for example in _examples(page.name, block)]


def _examples(page: str, block: str) -> list[Example]:
    parts = (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    return [Example(page, command, output) for command, _, output in parts]


def rewritten(page: Path) -> str:
    """The text of a page with what its commands print now."""

    def fresh(block: re.Match[str]) -> str:
        lines = []
        for example in _examples(page.name, block[0]):
            code, printed = example.run()
            assert code == 0, f"{page.name}: {example.command}"
            lines += [f"$ {example.command}", *([example.cut(printed)] if example.output.strip() else [])]
        return "\n".join(lines) + "\n"

    return BLOCK.sub(fresh, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    os.chdir(ROOT)
    names = sys.argv[1:]
    for page in PAGES:
        if not names or page.name in names:
            page.write_text(rewritten(page), encoding="utf-8")
