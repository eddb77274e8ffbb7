"""Commands of README.md, CONTRIBUTING.md and docs/: what they show and what is printed; ``make examples`` rewrites it.

A ``console`` block holds one command; a ``text`` block right below it, folded or not, what it prints. There a line
``...`` stands for any lines: those above it are the first ones printed, those below it the last.
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

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CUT = "..."
BLOCK = re.compile(
    r"(```console\n\$ )(?P<command>[^\n]*)(\n```\n)"
    r"(?:((?:\s|</?(?:details|summary)>[^\n]*\n)*```text\n)(?P<output>.*?)```)?",
    re.DOTALL,
)


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
    """All commands of the console blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = [_example(page.name, block) for block in BLOCK.finditer(text)]
    assert len(found) == text.count("```console"), f"{page.name}: a console block holds one command"
    return found


def _example(page: str, block: re.Match[str]) -> Example:
    return Example(page, block["command"], block["output"] or "")


def rewritten(page: Path) -> str:
    """The text of a page with what its commands print now."""

    def fresh(block: re.Match[str]) -> str:
        example = _example(page.name, block)
        code, printed = example.run()
        assert code == 0, f"{page.name}: {example.command}"
        if not example.output:
            return block[0]
        start, end = block.span("output")
        at = block.start()
        return block[0][: start - at] + example.cut(printed) + "\n" + block[0][end - at :]

    return BLOCK.sub(fresh, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    os.chdir(ROOT)
    names = sys.argv[1:]
    for page in PAGES:
        if not names or page.name in names:
            page.write_text(rewritten(page), encoding="utf-8")
