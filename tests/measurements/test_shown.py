"""Pictures of measurements show what is printed."""

from __future__ import annotations

import polars as pl
import pytest

from planner.library import data_path
from planner.measurements import Measured, read
from planner.measurements.shown import MOST_BARS, MeasuredAnswer
from planner.reports import read_devices, schema


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["522A-0-aliases", "pool-0-aliases", "pool-16-aliases"])
def test_bars_reach_the_printed_response_time_or_service_and_wait_where_none_is_printed(name: str) -> None:
    path = data_path("hyperpav", f"{name}.listing")
    (listing,) = read_devices(path)
    axes = MeasuredAnswer(read(path)).plot()
    tops = [bar.get_y() + bar.get_height() for bar in axes.containers[-1]]
    expected = []
    for row in listing.rows:
        assert row.service and row.queued and row.io_rate
        service = row.service.value + row.queued.value / row.io_rate.value
        expected.append(1e3 * (service if row.response is None else row.response.value))
    assert tops == pytest.approx(expected)
    assert [label.get_text() for label in axes.get_xticklabels()] == [row.address for row in listing.rows]
    assert "[ms]" in axes.get_ylabel()


def test_of_many_devices_the_longest_are_drawn_in_their_order() -> None:
    count = MOST_BARS + 20
    frame = pl.DataFrame({
        "device": [f"{0x2000 + k:04X}" for k in range(count)], "io_rate": [1.0] * count,
        "service_ms": [1.0 + (k % 40) for k in range(count)], "queued": [0.0] * count,
    })  # fmt: skip
    axes = MeasuredAnswer(read(frame)).plot()
    shown = [f"{0x2000 + k:04X}" for k in range(count) if k % 40 >= 10]
    assert [label.get_text() for label in axes.get_xticklabels()] == shown


def test_devices_of_two_systems_have_bars_of_their_own() -> None:
    frame = pl.DataFrame({
        "system": ["A", "B"], "device": ["522A"] * 2, "io_rate": [10.0] * 2, "service_ms": [1.0, 4.0],
        "queued": [0.0] * 2,
    })  # fmt: skip
    axes = MeasuredAnswer(read(frame)).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["A/522A", "B/522A"]


def test_pools_of_two_systems_have_bars_of_their_own() -> None:
    rows = pl.DataFrame({
        "system": ["A", "A", "B", "B"], "pool": ["0"] * 4, "time": [60.0, 120.0] * 2, "interval": [60.0] * 4,
        "tries": [100] * 4, "fails": [10, 10, 50, 50], "aliases": [4] * 4,
    })  # fmt: skip
    supply = schema.frame(schema.SUPPLY, dict(rows.to_dict()), rows.height)
    none = schema.empty(schema.DEVICES)
    axes = MeasuredAnswer(Measured(devices=none, supply=supply, storage=schema.empty(schema.STORAGE))).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A/0", "B/0"]
    assert [bar.get_width() for bar in axes.containers[0]] == [10.0, 50.0]


def test_bars_are_the_printed_resident_pages() -> None:
    (bars,) = MeasuredAnswer(read(data_path("real-storage", "128-users.listing"))).plot().containers
    assert sum(bar.get_width() for bar in bars) == 14 * 1_049_000 + 1_025_000 + 505_000
