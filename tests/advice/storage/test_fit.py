"""How much real storage has room for is the inverse of what it takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.storage import (
    frame_budget,
    guest_frame_budget,
    guests_that_fit,
    resident_pages_that_fit,
)
from planner.advice.storage.usage import _span
from planner.errors import InfeasibleError
from planner.units import GIB


@given(each=st.integers(1, 200), touched=st.sampled_from([0.05, 0.25, 0.7, 1.0]), real=st.integers(64, 4096))
def test_one_guest_more_would_not_fit(each: int, touched: float, real: int) -> None:
    asked = {"guest_storage": each * GIB, "instantiated": touched}
    try:
        found = guests_that_fit(**asked, real_storage=real * GIB)
    except InfeasibleError:
        assert guest_frame_budget(guests=1, **asked).real_storage_bytes > real * GIB
        return
    assert found.low <= found.count == found.high
    assert guest_frame_budget(guests=found.count, **asked).real_storage_bytes <= real * GIB
    assert guest_frame_budget(guests=found.count + 1, **asked).real_storage_bytes > real * GIB


@given(used=st.integers(1, 20_000), real=st.integers(1, 1024))
def test_one_page_more_in_each_segment_would_not_fit(used: int, real: int) -> None:
    try:
        found = resident_pages_that_fit(in_use=used * GIB, real_storage=real * GIB)
    except InfeasibleError as error:
        assert "they hold up to" in str(error)
        assert frame_budget(in_use=used * GIB, resident_pages=1).real_storage_bytes > real * GIB
        return
    assert found.budget.real_storage_bytes <= real * GIB
    if found.count < 256:
        more = frame_budget(in_use=used * GIB, resident_pages=found.count + 1)
        assert more.real_storage_bytes > real * GIB


def test_the_published_guests_do_not_fit_and_that_is_said() -> None:
    """XIV report: 20 guests of 88 GB with 70 % touched overcommit 1024 GB."""
    found = guests_that_fit(guest_storage="88GB", instantiated=0.7, real_storage="1024GB")
    assert found.count == 16
    assert "up to 16 guests fit in 1,024 GB" in found.headline
    with pytest.raises(InfeasibleError, match=r"62\.09 GB would hold one"):
        guests_that_fit(guest_storage="88GB", instantiated=0.7, real_storage="24GB")


def test_what_a_refusal_names_as_the_way_out_does_fit() -> None:
    """512 GB of which 97 % are touched: 496.64 GB of pages, and 258 frames for each 256 of them, 500.5206 GB."""
    with pytest.raises(InfeasibleError, match=r"500\.53 GB would hold one.* no more than 96\.89%"):
        guests_that_fit(guest_storage="512GB", real_storage="500GB", instantiated=0.97)
    assert guests_that_fit(guest_storage="512GB", real_storage="500GB", instantiated=0.9689).count == 1
    assert guests_that_fit(guest_storage="512GB", real_storage="500.53GB", instantiated=0.97).count == 1
    with pytest.raises(InfeasibleError, match=r"need at least 5\.01 GB.* they hold up to 426\.66 GB"):
        resident_pages_that_fit(in_use="426.7GB", real_storage="5GB")
    assert resident_pages_that_fit(in_use="426.66GB", real_storage="5GB").count == 1


@pytest.mark.parametrize(
    ("days", "words"),
    [(0.001101, "95.1 s"), (0.01, "14.4 minutes"), (0.5, "12 hours"), (4.81, "4.81 days"), (0.0, "0 s")],
)
def test_a_span_has_the_unit_that_people_read(days: float, words: str) -> None:
    assert _span(days) == words


def test_the_low_end_has_pages_in_every_segment() -> None:
    """1 % of a guest of 1 GB: 2,622 pages, and 1,024 PGMBKs of two frames where each segment has some of them."""
    found = guests_that_fit(guest_storage="1GB", instantiated=0.01, real_storage="256GB")
    assert (found.low, found.high) == (2**26 // (2621.44 + 2048), 25401)
    assert "up to 25,401 guests (14,371 to 25,401)" in found.headline
    assert "The range is from" in found.notes[0]
    assert not any("range" in note for note in guests_that_fit(
        guest_storage="88GB", instantiated=0.7, real_storage="256GB").notes)  # fmt: skip


def test_one_guest_is_said_in_the_singular() -> None:
    asked = {"guest_storage": 88 * GIB, "instantiated": 0.7}
    assert "up to 1 guest fits in" in guests_that_fit(**asked, real_storage=70 * GIB).headline
    assert "up to 2 guests fit in" in guests_that_fit(**asked, real_storage=140 * GIB).headline


def test_a_share_of_many_digits_fits_as_its_neighbors_do() -> None:
    """The densest spreading was rounded below itself, and refused as `resident_pages` that nobody gave."""
    asked = {"guest_storage": "88GB", "real_storage": "1024GB"}
    found = guests_that_fit(**asked, instantiated=0.4967749370471999)
    assert found.count == guests_that_fit(**asked, instantiated=0.496775).count
    assert "touched 49.677" in found.headline
