"""Rows of DSPACESH by columns: what is taken is what the careful reader takes; the rest is left to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import ReportError
from planner.reports.any_listing import read_tables
from planner.reports.dspacesh import data_spaces_of
from planner.reports.dspacesh_columns import plain_rows
from planner.reports.frames import storage_frame
from planner.reports.listing import Document
from planner.reports.listing_scan import scan
from tests.reports.test_dspacesh import DAMAGED, SMALL, SPLIT, joined

PATH = Path("some.listing")


def both(text: str) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """By columns, and with care; None where either does not take it."""
    try:
        pages = scan(PATH, text.encode()).spaces
    except ReportError:
        return None, None
    try:
        careful = storage_frame(data_spaces_of(Document(path=PATH, preamble=(), pages=tuple(pages))))
    except ReportError:
        careful = None
    return plain_rows(PATH, pages), careful


@pytest.mark.parametrize("text", [SMALL, SPLIT, joined(SPLIT), SPLIT + "\n" + SMALL], ids=range(4))
def test_what_is_published_is_plain_and_the_same(text: str) -> None:
    plain, careful = both(text)
    assert plain is not None
    assert careful is not None
    assert plain.equals(careful)


def test_rare_cells_are_the_same() -> None:
    plain, careful = both(SMALL.replace("524k  508k  508k", "  2M 1049k  ...."))
    assert plain is not None
    assert careful is not None
    assert plain.equals(careful)
    assert plain["total"][0] == 2e6
    assert plain["resident_below_2gb"][0] is None
    assert both(SMALL.replace("524k  508k  508k", "  2M 1049k ....k")) == (None, None)


@pytest.mark.parametrize(
    "name", [name for name in DAMAGED if name not in {"another report", "empty", "no listing"}]
)
def test_what_is_refused_with_care_is_not_taken(name: str) -> None:
    plain, careful = both(DAMAGED[name][0])
    assert careful is None
    assert plain is None
    with pytest.raises(ReportError, match=DAMAGED[name][1]):
        read_tables(PATH, DAMAGED[name][0].encode())


BASE = joined(SPLIT)
CHANGES = st.lists(
    st.tuples(st.integers(0, len(SPLIT) - 1), st.sampled_from(" .0k9M\nX"), st.booleans()), max_size=3
)


@given(changes=CHANGES, split=st.booleans())
def test_damaged_text_is_taken_as_with_care_or_not_at_all(
    changes: Sequence[tuple[int, str, bool]], split: bool
) -> None:
    text = SPLIT if split else BASE
    for place, character, replaces in changes:
        at = place % len(text)
        text = text[:at] + character + text[at + replaces :]
    plain, careful = both(text)
    if plain is not None:
        assert careful is not None
        assert plain.equals(careful)
