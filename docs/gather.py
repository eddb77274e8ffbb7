"""Gathers what the documentation site is made of: pages, changelog, notebooks with their output, help of the commands.

``python docs/gather.py FOLDER NOTEBOOKS`` fills FOLDER for Sphinx; NOTEBOOKS holds the notebooks as they ran.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILDERS = ("sphinx", "myst_nb", "numpydoc", "furo")
OF_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
}
TOCTREE = re.compile(r"(?<=```{toctree}\n)(.*?)(?=```)", re.DOTALL)
OPTION = re.compile(r"^:\w+:")
FIGURE = "notebooks/pictures/{name}.png"
COLUMNS = "96"  # of a page of help


def missing_extra() -> str:
    """One line that says what to install, or nothing."""
    missing = [name for name in BUILDERS if importlib.util.find_spec(name) is None]
    return f"{', '.join(missing)} not installed: pip install 'zvm-planner[notebook,docs]'" if missing else ""


def gather(site: Path, notebooks: Path) -> None:
    """Fill the folder."""
    shutil.copytree(HERE, site, ignore=shutil.ignore_patterns("gather.py", "__pycache__"))
    for name, page in OF_THE_ROOT.items():
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, site / page)
    (site / "notebooks").mkdir()
    for path in sorted(notebooks.glob("*.ipynb")):
        shutil.copy(path, site / "notebooks")
    (site / "commands.md").write_text(commands(), encoding="utf-8")
    gallery = site / "gallery.md"
    shown = gallery.read_text(encoding="utf-8").replace("<!-- notebooks -->", notebook_gallery(site))
    gallery.write_text(shown, encoding="utf-8")
    for page in site.glob("*.md"):
        page.write_text(inside(page.read_text(encoding="utf-8")), encoding="utf-8")
    index = site / "index.md"
    index.write_text(whole_toctree(index.read_text(encoding="utf-8"), site), encoding="utf-8")


def inside(text: str) -> str:
    """Links of the checkout as links of the site."""
    for name, page in OF_THE_ROOT.items():
        text = re.sub(rf"\]\((\.\./)?{re.escape(name)}", f"]({page}", text)
    return text.replace("](../notebooks/", "](notebooks/").replace("](docs/", "](")


def whole_toctree(index: str, site: Path) -> str:
    """Entries without a page go, pages without an entry come at the end."""

    def with_a_page(found: re.Match[str]) -> str:
        kept = [
            line for line in found[0].splitlines()
            if not line or OPTION.match(line) or "*" in line or (site / f"{line}.md").exists()
        ]  # fmt: skip
        return "\n".join(kept) + "\n"

    index = TOCTREE.sub(with_a_page, index)
    listed = {line for block in TOCTREE.findall(index) for line in block.splitlines()}
    more = sorted(path.stem for path in site.glob("*.md") if path.stem not in listed | {"index"})
    entries = "\n".join(more)
    return index + (f"\n```{{toctree}}\n:caption: More\n:hidden:\n\n{entries}\n```\n" if more else "")


def notebook_gallery(site: Path) -> str:
    """A picture and the question of each notebook."""
    (site / "notebooks" / "pictures").mkdir()
    items = []
    for path in sorted((site / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        title = cells[0]["source"][0].lstrip("# ").strip()
        drawn = next(pictures(cells), None)
        place = FIGURE.format(name=path.stem)
        if drawn is not None:
            (site / place).write_bytes(drawn)
        image = f"[![{title}]({place})](notebooks/{path.name})\n" if drawn is not None else ""
        items.append(f"{image}[{title}](notebooks/{path.name})\n")
    return ":::{container} gallery\n\n" + "\n".join(items) + "\n:::\n"


def pictures(cells: list[dict]) -> Iterator[bytes]:  # type: ignore[type-arg] # as JSON gives it
    """Each picture that a notebook shows, PNG."""
    for cell in cells:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                yield base64.b64decode(output["data"]["image/png"])


def commands() -> str:
    """The help of every command, as a page."""
    from planner.cli import COMMANDS

    lines = [
        "# Commands",
        "",
        "What `--help` says. Every command also has `--json`, `--csv` and `-o FILE`.",
        "",
    ]
    for name in COMMANDS:
        lines += [f"## planner {name}", "", "```text", *help_of([name]), "```", ""]
        for part in parts_of(name):
            lines += [f"### planner {name} {part}", "", "```text", *help_of([name, part]), "```", ""]
    return "\n".join(lines)


def parts_of(name: str) -> list[str]:
    """Commands of a group."""
    import typer.main

    from planner.cli import build

    found = typer.main.get_command(build())
    command = found.get_command(typer.Context(found), name)  # type: ignore[attr-defined] # a group
    return list(getattr(command, "commands", {}))


def help_of(words: list[str]) -> list[str]:
    """Lines that a command prints for --help."""
    from planner.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return [line.rstrip() for line in printed.getvalue().strip("\n").splitlines()]


if __name__ == "__main__":
    if problem := missing_extra():
        print(problem, file=sys.stderr)
        sys.exit(2)
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = COLUMNS
    os.environ["NO_COLOR"] = "1"
    gather(*map(Path, sys.argv[1:]))
