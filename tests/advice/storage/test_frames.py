"""Frame budgets against the report on real storage and the XIV report, and their domain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.storage import FrameBudget, StorageBudget, frame_budget, guest_frame_budget
from planner.errors import InputError
from planner.units import FRAME, GIB, SEGMENT

GUESTS: dict[str, Any] = {"guests": 20, "guest_storage": "88GB", "instantiated": 0.7}


@pytest.mark.parametrize(
    ("users", "ptrm_pages", "spaces", "gigabytes"),
    [(4, 507_904, 1, 2.9), (5, 634_880, 1, 3.6), (128, 16_252_928, 16, 93.0)],
)
def test_the_segment_thrashers_of_table_2(users: int, ptrm_pages: int, spaces: int, gigabytes: float) -> None:
    budget = frame_budget(in_use=users * 62 * GIB, resident_pages=1, real_storage="120GB")
    assert budget.pgmbk_frames == ptrm_pages
    assert budget.page_frames == ptrm_pages // 2
    assert budget.ptrm_spaces == spaces
    assert round(budget.real_storage_bytes / GIB, 1) == gigabytes
    assert not budget.notes


def test_two_pages_a_segment_need_124_gb_of_120() -> None:
    budget = frame_budget(in_use="7936GB", resident_pages=2, real_storage="120GB")
    assert budget.real_storage_bytes == 124 * GIB
    assert budget.overcommit_with_pgmbks == pytest.approx(124 / 120)
    assert "4 GB more" in budget.text()


def test_xiv_guests_are_overcommitted_1_2_to_1() -> None:
    budget = guest_frame_budget(**GUESTS, real_storage="1024GB")
    assert budget.page_frames * FRAME == 1232 * GIB
    assert budget.pgmbk_frames == 2 * 1232 * 1024
    assert budget.ptrm_spaces == 3
    assert budget.overcommit == pytest.approx(1232 / 1024)
    assert round(budget.overcommit or 0, 1) == 1.2
    assert budget.overcommit_with_pgmbks == pytest.approx(1232 * 258 / 256 / 1024)


def test_spread_pages_need_more_pgmbks() -> None:
    spread = guest_frame_budget(**GUESTS, resident_pages=179.2)
    assert spread.segments == 20 * 88 * 1024
    assert spread.page_frames * FRAME == 1232 * GIB
    with pytest.raises(InputError, match=r"at least 179\.2"):
        guest_frame_budget(**GUESTS, resident_pages=179)


def test_guests_of_several_sizes_are_the_sum_of_each_size() -> None:
    together = guest_frame_budget(guests=[60, 4], guest_storage=["16GB", "128GB"], instantiated=0.7)
    alone = [
        guest_frame_budget(guests=n, guest_storage=each, instantiated=0.7)
        for n, each in ((60, "16GB"), (4, "128GB"))
    ]
    assert together.page_frames == sum(each.page_frames for each in alone)
    assert together.pgmbk_frames == sum(each.pgmbk_frames for each in alone)
    for numbers in ([60], [60, 4, 1], 60):
        with pytest.raises(InputError, match="one number for each size"):
            guest_frame_budget(guests=numbers, guest_storage=["16GB", "128GB"], instantiated=0.7)


def test_without_real_storage_there_is_no_ratio() -> None:
    budget = frame_budget(in_use="900GB", resident_pages=1)
    assert budget.overcommit is None and budget.overcommit_with_pgmbks is None
    assert budget.to_dict()["overcommit"] is None
    assert (budget.page_frames, budget.pgmbk_frames, budget.ptrm_spaces) == (921_600, 1_843_200, 2)


def test_little_storage_is_not_none() -> None:
    """130 frames and 1 MB read 0 GB, and so did what exceeds 1,241.62 GB."""
    small = guest_frame_budget(guests=1, guest_storage="1MB", instantiated=0.5)
    assert small.headline.startswith("0.000496 GB of real storage hold 0.000977 GB of in-use")
    more = guest_frame_budget(guests=20, guest_storage="88GB", instantiated=0.7, real_storage="1241.62GB")
    assert more.notes[0].startswith("0.005 GB more than")


def test_more_than_16_spaces_are_remarked() -> None:
    assert frame_budget(in_use="8TB", resident_pages=1).notes == ()
    assert "17 PTRM" in frame_budget(in_use=8 * 1024 * GIB + 1, resident_pages=1).notes[0]


@given(megabytes=st.integers(1, 10**8), pages=st.integers(1, 256))
def test_a_budget_fits_the_real_storage_it_asks_for(megabytes: int, pages: int) -> None:
    budget = frame_budget(in_use=megabytes * SEGMENT, resident_pages=pages)
    limits = (
        StorageBudget(release="5.3", real_storage=budget.real_storage_bytes, resident_pages=pages)
        .limits()
        .limits
    )
    assert limits[0].segments == megabytes
    less = (
        StorageBudget(release="5.3", real_storage=budget.real_storage_bytes - 1, resident_pages=pages)
        .limits()
        .limits
    )
    assert less[0].segments == megabytes - 1


@given(guests=st.integers(1, 1000), gigabytes=st.integers(1, 10**4), percent=st.integers(1, 100))
def test_guests_count_every_instantiated_page(guests: int, gigabytes: int, percent: int) -> None:
    budget = guest_frame_budget(guests=guests, guest_storage=gigabytes * GIB, instantiated=percent * 0.01)
    pages = Fraction(guests * gigabytes * GIB * percent, 100 * FRAME)
    assert budget.page_frames == math.ceil(pages)
    assert budget.segments == math.ceil(Fraction(budget.page_frames, 256))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"instantiated": 1.01}, r"at most 1 \(100%\)"),
        ({"instantiated": 0.0}, "above 0"),
        ({"instantiated": math.nan}, "above 0"),
        ({"instantiated": math.inf}, "above 0"),
        ({"guests": 0}, "guests"),
        ({"guests": 1.5}, "guests"),
        ({"guest_storage": "0GB"}, "guest_storage"),
        ({"resident_pages": 300}, "1 to 256"),
        ({"real_storage": -1}, "real_storage"),
    ],
)
def test_outside_the_domain(changed: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        guest_frame_budget(**{**GUESTS, **changed})


def test_shown_as_frame_and_html() -> None:
    budget = guest_frame_budget(**GUESTS, real_storage="1024GB")
    assert list(budget.to_frame()["frames"]) == [322_961_408, 2_523_136, 325_484_544]
    assert "1.20" in budget._repr_html_()


@pytest.mark.parametrize(("share", "words"), [(0.33333, "33.3 %"), (0.004, "0.4 %"), (0.70001, "70 %")])
def test_the_resident_pages_that_a_refusal_names_are_enough(share: float, words: str) -> None:
    """It said that 85.33 pages were wanted, refused them, and called 0.4 % of the pages 0 %."""

    def ask(pages: float) -> FrameBudget:
        return guest_frame_budget(guests=10, guest_storage="88GB", instantiated=share, resident_pages=pages)

    with pytest.raises(InputError, match=f": {words} of all pages") as refused:
        ask(1.0)
    least = float(str(refused.value).partition("at least ")[2].partition(":")[0])
    assert ask(least).page_frames == math.ceil(10 * 88 * 2**18 * Fraction(str(share)))
