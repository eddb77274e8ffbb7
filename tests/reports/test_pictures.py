"""Pictures of listings show what is printed."""

from __future__ import annotations

import pytest

from planner.library import data_path
from planner.reports import read_data_spaces, read_devices


@pytest.mark.parametrize("name", ["522A-0-aliases", "pool-0-aliases", "pool-16-aliases"])
def test_bars_reach_the_printed_response_time_and_the_service_where_none_is_printed(name: str) -> None:
    (listing,) = read_devices(data_path("hyperpav", f"{name}.listing"))
    axes = listing.plot()
    tops = [bar.get_y() + bar.get_height() for bar in axes.containers[-1]]
    printed = [row.response or row.service for row in listing.rows]
    assert tops == pytest.approx([1e3 * number.value for number in printed if number is not None])
    assert [label.get_text() for label in axes.get_xticklabels()] == [row.address for row in listing.rows]
    assert "[ms]" in axes.get_ylabel()


def test_bars_are_the_printed_resident_pages() -> None:
    (listing,) = read_data_spaces(data_path("real-storage", "128-users.listing"))
    (bars,) = listing.plot().containers
    assert sum(bar.get_width() for bar in bars) == 14 * 1_049_000 + 1_025_000 + 505_000
