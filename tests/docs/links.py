"""Links of the pages and of the site that is made of them; ``python -m tests.docs.links HTML`` checks a built site."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tests.checkout import ROOT

PAGES = (
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "SECURITY.md",
            "models/README.md",
            "data/README.md",
        )
    ),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
)
CODE = re.compile(r"^( *)```.*?^\1```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^()\s>]+)>?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
MOST_CLICKS = 2


def text_of(page: Path) -> str:
    """A page without its code; of a notebook its words."""
    content = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(content)["cells"]
        content = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return CODE.sub("", content)


def anchors(page: Path) -> set[str]:
    """What a link can name on a page, as GitHub and MyST make it of headings."""
    return {slug(title) for title in HEADING.findall(page.read_text(encoding="utf-8"))}


def slug(title: str) -> str:
    """Anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def links(page: Path) -> list[str]:
    """Targets of all links and pictures of a page."""
    return LINK.findall(text_of(page))


def is_external(target: str) -> bool:
    """Whether it leads out of the checkout."""
    return bool(urlsplit(target).scheme)


def broken(page: Path) -> Iterator[str]:
    """Links that lead to no file, or to no heading of it."""
    for target in links(page):
        if is_external(target):
            continue
        name, _, anchor = target.partition("#")
        place = page.parent / unquote(name) if name else page
        if not place.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(place):
            yield f"{target}: no such heading"


class Page(NamedTuple):
    """What a page of the site names: its anchors, where its links lead, and what it loads."""

    anchors: set[str]
    links: list[str]
    loads: list[str]


class Reader(HTMLParser):
    """Collects them."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page(set(), [], [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links of a tag."""
        given = {name: value for name, value in attrs if value}
        self.page.anchors.update(value for name, value in given.items() if name in {"id", "name"})
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        elif tag == "link" and "href" in given and given.get("rel") != "canonical":
            self.page.loads.append(given["href"])
        elif "src" in given:
            self.page.loads.append(given["src"])


def read_site(site: Path) -> dict[Path, Page]:
    """Every page of a built site."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        found[path.resolve()] = reader.page
    return found


def place_of(page: Path, target: str) -> tuple[Path, str]:
    """File and anchor that a link of a page leads to."""
    parts = urlsplit(target)
    return ((page.parent / unquote(parts.path)).resolve() if parts.path else page), parts.fragment


def problems(site: Path) -> list[str]:
    """Links without a target, anything from the net, pages that take too many clicks."""
    pages = read_site(site)
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        found += [
            f"{where} loads {each} from the net" for each in page.loads if re.match(r"(https?:)?//", each)
        ]
        for target in (*page.links, *page.loads):
            if re.match(r"\w+:|//", target):
                continue
            place, anchor = place_of(path, target)
            if not place.exists():
                found.append(f"{where}: {target} does not exist")
            elif anchor and place in pages and unquote(anchor) not in pages[place].anchors:
                found.append(f"{where}: {target} has no such anchor")
    return found + [
        f"{path.relative_to(site.resolve())} is {clicks:.0f} clicks from the first page"
        for path, clicks in clicks_to(site, pages).items()
        if clicks > MOST_CLICKS and path.name != "search.html"  # a form leads there
    ]


def clicks_to(site: Path, pages: dict[Path, Page]) -> dict[Path, float]:
    """Clicks from the first page to every other one; inf where no link leads there."""
    first = (site / "index.html").resolve()
    clicks = {first: 0.0}
    waiting = deque([first])
    while waiting:
        path = waiting.popleft()
        for target in pages[path].links:
            place, _ = place_of(path, target) if not is_external(target) else (path, "")
            if place in pages and place not in clicks:
                clicks[place] = clicks[path] + 1
                waiting.append(place)
    return {path: clicks.get(path, float("inf")) for path in pages}


def main(site: Path) -> int:
    """Say what is wrong with a site, and how large it is."""
    found = problems(site)
    pages = read_site(site)
    reached = max(clicks for path, clicks in clicks_to(site, pages).items() if path.name != "search.html")
    print(*found, sep="\n", end="\n" if found else "")
    print(
        f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, at most {reached:.0f} clicks"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
