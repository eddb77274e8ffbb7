"""Pictures of measurements show what is printed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from numpy.testing import assert_allclose

from planner.errors import InputError
from planner.library import data_path
from planner.measurements import read
from planner.measurements.shown import MOST_BARS, MeasuredAnswer, frame_table
from planner.page import of_answer
from planner.render.table import to_csv
from planner.reports import read_devices, schema
from tests.checkout import ROOT


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


@pytest.mark.parametrize("name", ["iostat.json", "monitor.monwrite", "smf74-1.csv", "rmf.xml"])
def test_what_read_writes_is_read_back_with_both_ends(name: str, tmp_path: Path) -> None:
    """So that the answers are the same; newer kernels overstate how busy a disk is, and its low end is 0."""
    before = read(ROOT / "docs" / "examples" / name).devices
    written = tmp_path / "written.csv"
    written.write_text(to_csv(frame_table(before, "devices")), encoding="utf-8")
    after = read(written).devices
    numbers = [f"{key}{end}" for key in schema.DEVICE_NUMBERS for end in schema.ENDS]
    found, wanted = (each.select(numbers).cast(pl.Float64).to_numpy() for each in (after, before))
    assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


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


def test_what_other_commands_draw_is_left_to_them() -> None:
    found = MeasuredAnswer(read(data_path("real-storage", "128-users.listing")))
    with pytest.raises(
        InputError, match="expected rows of devices; `planner aliases supply` and `storage usage`"
    ):
        found.plot()
    assert "<table" in of_answer(found, command="", sources=[]).html


def test_a_number_without_upper_end_is_shown() -> None:
    """Such as the mean of a histogram whose last class is open; all rows may be such."""
    found = read(b"volume,io_rate,service_ms,queued\nV,755,1.3,1.84\n")
    open_ended = read(found.devices.with_columns(queued_high=pl.lit(float("inf"))))
    table = frame_table(open_ended.devices, "devices")
    assert table.records()[0]["queued"] == 1.84
    assert "queued" in MeasuredAnswer(open_ended).text()
