"""Gathers what the documentation site is made of: pages, notebooks with their output, and what the code says itself.

Help of the commands, formulas and columns of the tables are pages that are generated.

``python docs/gather.py FOLDER NOTEBOOKS`` fills FOLDER for Sphinx; NOTEBOOKS holds the notebooks as they ran.
"""

from __future__ import annotations

import contextlib
import html
import importlib.util
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILDERS = ("sphinx", "myst_nb", "numpydoc", "furo")
OF_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
}
# Pages below others: the sidebar shows the first of each line, the others when it is opened.
BELOW = {
    "methods": (
        "aliases-methods", "readings", "together", "supply-methods", "growth-methods", "devices-methods",
        "system-methods", "calibration-methods", "decisions",
    ),
    "formats": ("columns", "damage", "monitor", "linux", "zos", "archive", "cluster", "scale"),
    "scoreboard": ("figures",),
    "gallery": ("notebooks/*",),
    "glossary": ("formulas",),
    "contributing": ("security", "changelog"),
}  # fmt: skip
NOT_SEARCHED = ("changelog", "contributing", "decisions")  # they name everything and answer nothing
ENTRY = re.compile(r"^(?:.* <)?([\w/*-]+)>?$")
TOCTREE = re.compile(r"(?<=```{toctree}\n)(.*?)(?=```)", re.DOTALL)
OPTION = re.compile(r"^:\w+:")
PICTURE = re.compile(r"!\[([^\]]+)\]\((pictures/[\w-]+\.svg)\)")
FIGURE = "notebooks/pictures/{name}.svg"
NARROW = 4.8  # inches of a picture for a narrow screen
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
        themed_notebook(path, site / "notebooks" / path.name)
    for name, page in (("commands", commands), ("formulas", formulas), ("columns", columns)):
        (site / f"{name}.md").write_text(page(), encoding="utf-8")
    gallery = site / "gallery.md"
    shown = gallery.read_text(encoding="utf-8").replace("<!-- notebooks -->", notebook_gallery(site))
    gallery.write_text(shown.replace("<!-- pictures -->", picture_gallery(site)), encoding="utf-8")
    with_example(site)
    for page in site.glob("*.md"):
        text = inside(folded(page.read_text(encoding="utf-8"))) + below(page.stem, site)
        text = for_phones(text, site)
        head = "---\nnosearch: true\n---\n" if page.stem in NOT_SEARCHED else ""
        page.write_text(head + text, encoding="utf-8")
    index = site / "index.md"
    index.write_text(whole_toctree(index.read_text(encoding="utf-8"), site), encoding="utf-8")


def inside(text: str) -> str:
    """Links of the checkout as links of the site."""
    for name, page in OF_THE_ROOT.items():
        text = re.sub(rf"\]\((\.\./)?{re.escape(name)}", f"]({page}", text)
    return text.replace("](../notebooks/", "](notebooks/").replace("](docs/", "](")


def folded(text: str) -> str:
    """Output that a page cuts: the answer stays, and below it stands all that the command prints, folded."""
    sys.path.insert(0, str(ROOT))  # the command of a block is found and run as `make examples` does
    from tests.examples import BLOCK, CUT, Example

    def whole(block: re.Match[str]) -> str:
        lines = (block["output"] or "").splitlines()
        if CUT not in lines:
            return block[0]
        with contextlib.chdir(ROOT):
            _, printed = Example("", block["command"], "").run()
        answer = "\n".join(lines[: lines.index(CUT)]).rstrip()
        fold = f"<details>\n<summary>All that it prints</summary>\n\n```text\n{printed}\n```\n\n</details>\n"
        head = block[0][: block.start("output") - block.start()]
        return f"{head}{answer}\n```\n\n{fold}"

    return BLOCK.sub(whole, text)


def below(name: str, site: Path) -> str:
    """The hidden table of contents of a page that others stand below."""
    pages = [each for each in BELOW.get(name, ()) if "*" in each or (site / f"{each}.md").exists()]
    glob = ":glob:\n" if any("*" in each for each in pages) else ""
    return f"\n```{{toctree}}\n:hidden:\n{glob}\n" + "\n".join(pages) + "\n```\n" if pages else ""


def whole_toctree(index: str, site: Path) -> str:
    """Entries without a page go, pages without an entry come at the end."""

    def with_a_page(found: re.Match[str]) -> str:
        kept = [
            line for line in found[0].splitlines()
            if not line or OPTION.match(line) or "*" in line or (site / f"{entry(line)}.md").exists()
        ]  # fmt: skip
        return "\n".join(kept) + "\n"

    index = TOCTREE.sub(with_a_page, index)
    listed = {entry(line) for block in TOCTREE.findall(index) for line in block.splitlines()}
    listed.update(each for pages in BELOW.values() for each in pages)
    more = sorted(path.stem for path in site.glob("*.md") if path.stem not in listed | {"index"})
    entries = "\n".join(more)
    return index + (f"\n```{{toctree}}\n:caption: More\n:hidden:\n\n{entries}\n```\n" if more else "")


def with_example(site: Path) -> None:
    """Let the page about reports show one, as `planner report` writes it."""
    from planner.cli import main

    extra = site / "extra"
    extra.mkdir(exist_ok=True)
    listing = str(ROOT / "data" / "hyperpav" / "pool-8-aliases.listing")
    with contextlib.redirect_stdout(io.StringIO()):
        main(["report", listing, "--growth", "20%,50%", "-o", str(extra / "example.html")])
    page = site / "report.md"
    frame = '<iframe src="example.html" title="A report" loading="lazy"></iframe>'
    shown = f'{frame}\n\n<a href="example.html">This report on a page of its own</a>'
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- example -->", shown), encoding="utf-8")


def narrow(place: str, site: Path) -> str:
    """Where a picture stands drawn narrow: the same type on half of the width."""
    sys.path.insert(0, str(ROOT))
    from planner import files, style
    from tests.pictures import PICTURES

    name = Path(place).name
    for folder in ("pictures", "narrow"):
        (site / "extra" / folder).mkdir(parents=True, exist_ok=True)
    if not (site / "extra" / "narrow" / name).exists():
        shutil.copy(HERE / place, site / "extra" / "pictures")
        with patch.dict(style.begin.__kwdefaults__, width=NARROW):
            files.save_axes(PICTURES[Path(place).stem](), site / "extra" / "narrow" / name)
    return f"narrow/{name}"


def for_phones(text: str, site: Path) -> str:
    """Pictures of a page as they are and, for narrow screens, drawn narrow."""

    def both(found: re.Match[str]) -> str:
        words, place = found.groups()
        source = f'<source media="(max-width: 40rem)" srcset="{narrow(place, site)}">'
        return f'<picture>{source}<img src="{place}" alt="{html.escape(words)}"></picture>'

    return PICTURE.sub(both, text)


def themed_notebook(path: Path, to: Path) -> None:
    """Copy a notebook whose pictures get a dark side, as those of the pages have."""
    from planner.style import themed

    found = json.loads(path.read_text(encoding="utf-8"))
    for output in (each for cell in found["cells"] for each in cell.get("outputs", ())):
        if "image/svg+xml" in output.get("data", {}):
            output["data"]["image/svg+xml"] = themed("".join(output["data"]["image/svg+xml"]))
    to.write_text(json.dumps(found), encoding="utf-8")


def entry(line: str) -> str:
    """The page that a line of a table of contents names, with a title of its own or without."""
    found = ENTRY.match(line)
    return found[1] if found else ""


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
            (site / place).write_text(drawn, encoding="utf-8")
        image = f"[![{title}]({place})](notebooks/{path.name})\n" if drawn is not None else ""
        items.append(f"{image}[{title}](notebooks/{path.name})\n")
    return ":::{container} gallery\n\n" + "\n".join(items) + "\n:::\n"


def picture_gallery(site: Path) -> str:
    """Every picture of the pages once, with the words that describe it, leading to its page."""
    shown = {
        picture: f'<p><a href="{page.stem}.html"><img src="{narrow(picture, site)}" alt="">{html.escape(words)}</a></p>'
        for page in sorted(site.glob("*.md"), reverse=True)
        for words, picture in PICTURE.findall(page.read_text(encoding="utf-8"))
    }
    return ":::{container} gallery\n\n" + "\n".join(shown[name] for name in sorted(shown)) + "\n:::\n"


def pictures(cells: list[dict]) -> Iterator[str]:  # type: ignore[type-arg] # as JSON gives it
    """Each picture that a notebook shows, SVG."""
    for cell in cells:
        for output in cell.get("outputs", ()):
            if "image/svg+xml" in output.get("data", {}):
                yield "".join(output["data"]["image/svg+xml"])


def formulas() -> str:
    """Every formula that `planner explain` has, typeset, with its standard numbers."""
    from planner.explain import TOPICS, explain

    lines = [
        "# Formulas",
        "",
        "What `planner explain TOPIC --latex` prints: each step in symbols, with numbers, its value. Other numbers: "
        "`planner explain TOPIC NAME=VALUE`.",
        "",
    ]
    for name in TOPICS:
        lines += [*typeset(name, explain(name).latex()), ""]
    return "\n".join(lines)


def typeset(name: str, latex: str) -> Iterator[str]:
    """A formula in LaTeX as a section of a page."""
    rows = False
    for line in latex.splitlines():
        text = re.sub(r"\\([%&_#])", r"\1", line)
        if found := re.match(r"\\paragraph\{(.*?)\} ?(.*)", text):
            title, rest = found.groups()
            heads = {"Assumptions": "**Assumptions**\n", "Source": f"\n**Source**: {rest}"}
            yield heads.get(title, f"## {title}\n\n`planner explain {name}`\n")
        elif "tabular" in text:
            rows = "begin" in text
            yield "| symbol | meaning | value |\n|---|---|---|" if rows else ""
        elif rows:
            yield "| " + " | ".join(text.removesuffix(" \\\\").split(" & ")) + " |"
        elif text.startswith("\\item "):
            yield "- " + text.removeprefix("\\item ")
        elif text.startswith("\\begin{align"):
            yield "\n$$\n\\begin{aligned}"
        elif text.startswith("\\end{align"):
            yield "\\end{aligned}\n$$\n"
        elif not re.match(r"\\(begin|end)\{itemize", text):
            yield line if line.lstrip().startswith(("&", "\\")) or " &= " in line else text


def columns() -> str:
    """The tables that every reader fills: columns with type, unit and meaning."""
    from planner.reports.schema import TABLES

    lines = [
        "# Columns",
        "",
        "What every reader returns. A measured number stands beside its ends, `_low` and `_high`, not shown here.",
    ]
    for name, headings in TABLES.items():
        lines += ["", f"## {name}", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{each.key}` | {each.dtype} | {each.unit} | {each.meaning} |"
            for each in headings
            if not each.key.endswith(("_low", "_high"))
        ]
    return "\n".join(lines) + "\n"


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
