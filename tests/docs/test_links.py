"""Every link of the pages leads somewhere; those out of the checkout are listed here, and not followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import links

EXTERNAL = {
    "https://keepachangelog.com/en/1.1.0/",
    "https://semver.org/",
}


@pytest.mark.parametrize("page", [page for page in links.PAGES if page.exists()], ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert not list(links.broken(page))


def test_links_that_leave_the_checkout_are_known() -> None:
    found = {
        each for page in links.PAGES if page.exists() for each in links.links(page) if links.is_external(each)
    }
    assert found == EXTERNAL


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A page: with `code`, yes?\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md#a-page-with-code-yes) [b](there.md#no) [c](gone.md) `[d](code.md)`", encoding="utf-8"
    )
    assert list(links.broken(page)) == ["there.md#no: no such heading", "gone.md: no such file"]


def test_a_site_is_followed_from_its_first_page(tmp_path: Path) -> None:
    chain = ("index", "one", "two", "three")
    for name, following in zip(chain, (*chain[1:], "index"), strict=True):
        (tmp_path / f"{name}.html").write_text(f'<a id="x" href="{following}.html#x">', encoding="utf-8")
    (tmp_path / "alone.html").write_text(
        '<img src="gone.png"><script src="https://a.b/c.js"></script>', encoding="utf-8"
    )
    assert sorted(links.problems(tmp_path)) == [
        "alone.html is inf clicks from the first page",
        "alone.html loads https://a.b/c.js from the net",
        "alone.html: gone.png does not exist",
        "three.html is 3 clicks from the first page",
    ]
