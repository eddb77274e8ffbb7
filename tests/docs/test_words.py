"""How much there is to read: pages of at most 900 words, all of docs/ at most 20,000, outputs and tables counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
MOST = {"decisions.md": 2500}
MOST_OF_A_PAGE, MOST_OF_ALL = 900, 20_000


def words(page: Path) -> int:
    """As `wc -w` counts them."""
    return len(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_can_be_read_at_a_sitting(page: Path) -> None:
    """What is longer has two subjects: split it, cut an output by ``...``, or say it once."""
    assert words(page) <= MOST.get(page.name, MOST_OF_A_PAGE)


def test_all_pages_together() -> None:
    assert sum(map(words, PAGES)) <= MOST_OF_ALL
