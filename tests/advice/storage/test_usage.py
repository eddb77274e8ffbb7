"""DSPACESH listings to storage in use: sums with their interval, share of every limit, growth, days left."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.advice.storage import StorageUsage, storage_usage
from planner.errors import InputError
from planner.library import data_path
from planner.reports.dspacesh import DataSpaceListing, read_data_spaces
from planner.reports.printed import Printed
from planner.units import GIB, SEGMENT


def listing(users: int) -> DataSpaceListing:
    (found,) = read_data_spaces(data_path("real-storage", f"{users}-users.listing"))
    return found


def at(day: float, pages: float, resolution: float = 500.0) -> DataSpaceListing:
    """The listing of 5 users, with other pages and another time."""
    base = listing(5)
    rows = (replace(base.rows[0], resident=Printed(pages, resolution)),)
    return replace(base, rows=rows, end=datetime(2007, 6, 1) + timedelta(days=day))


def shares(usage: StorageUsage) -> dict[str, float]:
    return {limit.name: usage.used(limit).value for limit in usage.limits}


@pytest.mark.parametrize(
    ("users", "spaces", "pages", "computed_gb", "full"),
    [(4, 1, 508_000, 248, 0), (5, 1, 635_000, 310, 0), (128, 16, 16_210_064, 7936, 14)],
)
def test_the_published_listings(users: int, spaces: int, pages: int, computed_gb: float, full: int) -> None:
    """A full space holds 2^20 pages, however they are rounded (1049k)."""
    latest = storage_usage([listing(users)]).latest
    assert latest.spaces == spaces
    assert latest.resident.value == pages
    assert latest.in_use.value == pages / 2 * SEGMENT
    assert latest.resident.high - latest.resident.value == 500 * (spaces - full)
    holds = latest.in_use.low <= computed_gb * GIB <= latest.in_use.high
    assert holds == (users != 128)  # the listing of 128 users lies below the calculation; see the errata


def test_fewer_spaces_than_there_are_are_refused() -> None:
    assert storage_usage([listing(128)], ptrm_spaces=16).latest.spaces == 16
    with pytest.raises(InputError, match="at least the 16"):
        storage_usage([listing(128)], ptrm_spaces=15)


def test_97_percent_below_2_gb_and_the_total_is_not_corrected() -> None:
    usage = storage_usage([listing(4)])
    assert usage.release == "5.2"
    assert round(100 * shares(usage)["PGMBK-below-2GB"]) == 97
    assert any(
        "524,000 pages in total" in note and "neither corrected nor used" in note for note in usage.notes
    )
    assert listing(4).rows[0].total == Printed(524_000.0, 500.0)
    assert not any("in total" in note for note in storage_usage([listing(5)]).notes)


def test_5_users_would_be_121_percent_on_52() -> None:
    usage = storage_usage([listing(5)], release="5.2")
    assert round(100 * shares(usage)["PGMBK-below-2GB"]) == 121
    assert "from z/VM 5.3; the limits are those of 5.2" in " ".join(usage.notes)


def test_128_users_are_near_8_tb() -> None:
    usage = storage_usage([listing(128)], real_storage="120GB", resident_pages=1)
    assert shares(usage) == {
        "real-storage": pytest.approx(8_105_032 / 10_485_760), "PTRM-data-spaces": pytest.approx(8_105_032 / 2**23),
    }  # fmt: skip
    assert any("14 of the PTRM data spaces are full" in note for note in usage.notes)
    assert {limit.kind for limit in usage.limits} == {"soft", "hard"}
    assert usage.growth is None and usage.days(usage.limits[0]) is None


@given(start=st.integers(1000, 500_000), pace=st.integers(1000, 100_000), days=st.integers(1, 1000))
def test_days_to_the_limit(start: int, pace: int, days: int) -> None:
    # A step of `pace` pages in so many days, continued up to one PTRM space.
    usage = storage_usage([at(0, start), at(days, start + pace)], ptrm_spaces=1)
    (limit,) = usage.limits
    left = usage.days(limit)
    assert left is not None
    assert left.value == pytest.approx((2**20 - start - pace) / (pace / days))
    assert left.low < left.value < left.high
    assert usage.to_dict()["limits"][0]["days_to_limit"] == pytest.approx(left.value)


def test_three_listings_give_the_least_squares_slope() -> None:
    usage = storage_usage([at(2, 104_000), at(0, 100_000), at(1, 101_000)])
    assert usage.latest.resident.value == 104_000  # the last by time, not by place
    assert usage.growth is not None
    assert usage.growth.value == pytest.approx(2000 / 2 * SEGMENT)
    assert usage.growth.high - usage.growth.value == pytest.approx(500 / 2 * SEGMENT)


def test_the_interval_of_the_growth_is_the_widest_that_rounding_allows() -> None:
    usage = storage_usage([at(0, 100_000), at(1, 101_000)])
    assert usage.growth is not None
    assert list(usage.growth) == pytest.approx([0.0, 500 * SEGMENT, 1000 * SEGMENT])
    days = usage.days(usage.limits[0])
    assert days is not None and days.high == float("inf")
    assert usage.to_dict()["limits"][0]["days_to_limit_high"] is None


def test_without_growth_there_are_no_days() -> None:
    usage = storage_usage([at(0, 100_000), at(1, 90_000)])
    assert usage.to_dict()["limits"][0]["days_to_limit"] is None
    assert usage.table().records()[0]["days_to_limit"] is None


def test_a_limit_that_is_passed_has_no_days_left() -> None:
    usage = storage_usage([at(0, 500_000), at(1, 600_000)], release="5.2")
    days = usage.days(usage.limits[0])
    assert days is not None and days.value == 0.0


def test_other_data_spaces_do_not_count() -> None:
    base = listing(5)
    other = replace(base.rows[0], name="SHARED", owner="MAINT")
    assert storage_usage([replace(base, rows=(*base.rows, other))]).latest.spaces == 1


@pytest.mark.parametrize(
    ("listings", "options", "expected"),
    [
        ([], {}, "at least one"),
        ([listing(5), listing(5)], {}, "each of a different time"),
        ([listing(5), replace(listing(128), end=time(23, 0))], {}, "with dates"),
        ([replace(listing(5), release=None)], {}, "the z/VM release; the listing does not"),
        ([replace(listing(5), release="6.4")], {}, "5.2, 5.3"),
        ([replace(listing(5), rows=(replace(listing(5).rows[0], owner="MAINT"),))], {}, "PTRM"),
        (
            [replace(listing(5), rows=(replace(listing(5).rows[0], resident=None),))],
            {},
            "resident pages of PTRM0000",
        ),
        ([listing(5)], {"real_storage": "120GB"}, "both"),
        ([listing(5)], {"resident_pages": 1}, "both"),
        ([listing(5)], {"real_storage": "120GB", "resident_pages": 300}, "1 to 256"),
        ([listing(5)], {"ptrm_spaces": 0}, "ptrm_spaces"),
    ],
)
def test_bad_input(listings: list[DataSpaceListing], options: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        storage_usage(listings, **options)


def test_an_unknown_release_can_be_overridden() -> None:
    usage = storage_usage([replace(listing(5), release="6.4")], release="6.3", ptrm_spaces=128)
    assert shares(usage)["PTRM-data-spaces"] == pytest.approx(317_500 / (128 * 524_288))
    assert "6.4" in " ".join(usage.notes)


def test_a_release_with_unverified_spaces_says_so() -> None:
    assert any("not verified for 7.3" in note for note in storage_usage([listing(5)], release="7.3").notes)


def test_shown_as_frame_and_html() -> None:
    usage = storage_usage([at(0, 100_000), at(1, 110_000)])
    assert list(usage.to_frame()["limit"]) == ["PTRM-data-spaces"]
    assert "time left" in usage._repr_html_()
