"""The site in a browser: every page at two widths, light and dark, without overflow, complaints or dead links.

It is built here, with the notebooks as they are stored; where a builder or a browser is missing one line says so.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from matplotlib.image import imread

from tests.checkout import ROOT
from tests.docs import links
from tests.page.browser import LOADED, OWN, Page, missing, opened

BUILDERS = ("sphinx", "myst_nb", "numpydoc", "furo")
WHY = missing() or ", ".join(name for name in BUILDERS if importlib.util.find_spec(name) is None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(WHY), reason=f"the site was not looked at: {WHY}"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]
WIDTHS = (1400, 390)
# What sticks out of the column of text (the theme lets that scroll sideways) and does not scroll on its own.
OVERFLOW = """
const page = document.querySelector(".content") ?? document.documentElement;
const wide = page.scrollWidth - page.clientWidth;
if (wide <= 1) return [];
const edge = page.getBoundingClientRect().right;
const scrolls = (node) => node && !node.matches(".content") &&
  (/auto|scroll|hidden/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
const out = [...document.querySelectorAll("article *")].filter(
  (node) => node.getBoundingClientRect().right > edge + 1 && !scrolls(node.parentElement));
return [wide + " px: " + out.slice(0, 3).map((node) => node.tagName + " " + node.textContent.slice(0, 40)).join("; ")];
"""
# Words of code on several lines though they would fit into one.
BROKEN = """
const block = (node) => getComputedStyle(node).display.startsWith("inline") ? block(node.parentElement) : node;
return [...document.querySelectorAll("article code.literal span.pre")].filter((word) => {
  const range = document.createRange();
  range.selectNodeContents(word);
  const lines = [...range.getClientRects()];
  const width = lines.reduce((sum, line) => sum + line.width, 0);
  return new Set(lines.map((line) => Math.round(line.top))).size > 1 && width < 0.95 * block(word).clientWidth;
}).map((word) => word.textContent);
"""
# Text whose contrast against what is behind it is below 4.5, as WCAG 2.1 has it.
FAINT = """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const light = (rgb) => rgb.slice(0, 3).map((c) => c / 255)
  .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const rgb = parts(getComputedStyle(node).backgroundColor);
    if (rgb.length === 3 || rgb[3] > 0.5) return rgb;
  }
  return [255, 255, 255];
};
const found = new Set();
for (const node of document.querySelectorAll("article *")) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || !node.getClientRects().length || node.closest(".headerlink, mjx-container, .copybtn, svg")) continue;
  const pair = [light(parts(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
  const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
  const words = node.textContent.slice(0, 30);
  if (contrast < 4.5) found.add(`${node.tagName}.${node.className} ${contrast.toFixed(1)}: ${words}`);
}
return [...found].slice(0, 5);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without running notebooks."""
    folder = tmp_path_factory.mktemp("site")
    for command in (
        ["docs/gather.py", folder / "source", "notebooks"],
        ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", folder / "source", folder / "html"],
    ):
        done = subprocess.run(
            [sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Page]:
    with opened(site / "index.html", LOADED) as found:
        yield found


def test_no_link_is_dead(site: Path) -> None:
    assert links.problems(site) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_complains_of_nothing(site: Path, page: Page, width: int, dark: bool) -> None:
    found = {}
    for path in sorted(links.read_site(site)):
        page.go(path.as_uri(), width, dark=dark)
        seen = [*page.run(OVERFLOW), *page.run(BROKEN), *page.run(FAINT), *page.complaints()]
        seen += [url for url in page.requests() if not url.startswith(OWN)]
        if seen:
            found[path.name] = seen
    assert not found


@pytest.mark.parametrize("dark", [False, True], ids=["light system", "dark system"])
def test_pictures_follow_the_switch_of_the_site(site: Path, page: Page, dark: bool) -> None:
    """Ground of the page and corner of the picture, for each state of the switch: auto, light, dark."""
    page.go((site / "aliases.html").as_uri(), 1400, dark=dark)
    page.run("localStorage.removeItem('theme')")
    page.go((site / "aliases.html").as_uri(), 1400, dark=dark)
    seen = {}
    for _ in range(3):
        page.one(".content-icon-container .theme-toggle, .theme-toggle-content .theme-toggle").click()
        name = page.run("return document.body.dataset.theme")
        ground = page.run("return getComputedStyle(document.body).backgroundColor")
        picture = imread(BytesIO(page.one("article picture img").screenshot_as_png))
        seen[name] = (
            max(map(int, re.findall(r"\d+", ground)[:3])) < 128,
            float(picture[3, 3, :3].max()) < 0.5,
        )
    assert seen == {"auto": (dark, dark), "light": (False, False), "dark": (True, True)}


@pytest.mark.parametrize("width", WIDTHS)
def test_type_in_pictures_can_be_read_at_any_width(site: Path, page: Page, width: int) -> None:
    """The smallest type of a picture, 9 points, is at least 8 px on a phone; a desktop shows the wide picture."""
    page.go((site / "aliases.html").as_uri(), width)
    shown, natural, source = page.run(
        "const img = document.querySelector('article picture img');"
        "return [img.clientWidth, img.naturalWidth, img.currentSrc];"
    )
    assert ("/narrow/" in source) == (width < 640)
    assert 12 * shown / natural >= 8


def test_what_is_wrong_would_be_seen(site: Path, page: Page) -> None:
    """A box that sticks out, a word of code on two lines, gray text on gray, an error of a script."""
    page.go((site / "index.html").as_uri(), 390)
    page.run(
        "document.querySelector('article').insertAdjacentHTML('beforeend', `<p style='width: 2000px'>wide</p>"
        "<p style='width: 16em'>some words before <code class='literal'><span class='pre' style='display: inline'>"
        "--target-response</span></code></p><p style='color: #999; background: #777'>faint</p>`);"
        "console.error('wrong');"
    )
    for script, part in ((OVERFLOW, "wide"), (BROKEN, "--target-response"), (FAINT, "faint")):
        (line,) = page.run(script)
        assert part in line
    assert any("wrong" in line for line in page.complaints())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("how many aliases", "aliases"), ("paging devices", "paging"), ("minidisk cache", "disks")],
)
def test_a_question_finds_its_page_and_not_the_changelog(
    site: Path, page: Page, words: str, wanted: str
) -> None:
    page.go(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}", 1400)
    done = "return /finished|found/i.test(document.querySelector('.search-summary')?.textContent ?? '')"
    page.until(done)
    names = [
        Path(each.get_attribute("href").split("#")[0].split("?")[0]).stem
        for each in page.all("#search-results li a")
    ]
    assert wanted in names[:3]
    assert "changelog" not in names
