"""Queues that were sampled: how far off the mean of few samples may be, and that the range holds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import planner
from planner.demand import DeviceModel
from planner.library import data_path
from planner.measurements import Run, intervals, volume_runs
from planner.measurements.ends import sampled
from planner.measurements.read import read
from planner.site.question import site
from planner.sizing.need import need

DEVICE = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02)


def table(folder: Path, samples: str, queued: str = "0.90") -> Run:
    """One volume, busy for 60 % of the time."""
    path = folder / "volume.csv"
    path.write_text(f"volume,io_rate,service_ms,queued,queue_samples\nV1,300.0,2.00,{queued},{samples}\n")
    (run,) = volume_runs(intervals(read(path))[0])
    return run


def test_the_ends_are_a_standard_error_of_an_mm1_queue_away(tmp_path: Path) -> None:
    """60 % busy M/M/1: .9 wait, in state n + 1 with probability .4 x .6^(n + 1); its variance is summed here."""
    run = table(tmp_path, "30")
    waiting = np.arange(2000.0)
    chance = 0.4 * 0.6 ** (waiting + 1)
    mean, square = chance @ waiting, chance @ waiting**2
    assert mean == pytest.approx(0.9)
    for end in run.ends:
        queue = float(end.total_queue.value)
        # Variance in proportion to that of the same busy share: q + k q^2.
        k = (square - mean**2 - mean) / mean**2
        assert abs(queue - 0.9) == pytest.approx(np.sqrt((queue + k * queue**2) / 30), rel=1e-6)
    low, high = (float(end.total_queue.value) for end in run.ends)
    assert low < 0.9 < high
    assert any("By 30 samples" in note for note in run.notes)


@pytest.mark.long
def test_the_range_holds_what_both_ends_need(tmp_path: Path) -> None:
    run = table(tmp_path, "30", "2.50")
    (found,) = need([(run,)], DEVICE)
    (plain,), *ends = need([(replace(run, ends=()),)], DEVICE), *(need([(end,)], DEVICE) for end in run.ends)
    each = [plain, *(end for (end,) in ends)]
    assert found.count == plain.count
    assert (found.low, found.high) == (min(one.low for one in each), max(one.high for one in each))
    assert found.high > plain.high


@pytest.mark.parametrize("samples", ["", "0", "1000000"])
def test_a_queue_that_is_known_has_no_ends(tmp_path: Path, samples: str) -> None:
    assert not table(tmp_path, samples).ends


def test_no_io_seen_waiting_is_no_proof(tmp_path: Path) -> None:
    """With none in m samples the upper end is where one in 1 / m more waits than a standard error."""
    low, high = (float(end.total_queue.value) for end in table(tmp_path, "30", "0.00").ends)
    k = 2 / 0.6 - 1
    assert low == 0.0 and high == pytest.approx((1 / 30) / (1 - k / 30))


def test_errors_of_several_volumes_add_up_as_squares(tmp_path: Path) -> None:
    """Four equal volumes: the error of their sum is twice that of one."""
    run = table(tmp_path, "10000")
    four = replace(
        replace(run, ends=(), notes=()), pool=True, volumes=("A", "B", "C", "D"), queue_shown=np.full(4, 0.9),
        **{
            name: type(whole := getattr(run, name))(*(np.repeat(end, 4) for end in whole))
            for name in ("io_rate", "service", "queued")
        },
    )  # fmt: skip
    one = sampled(replace(run, ends=()), 40)
    pool = sampled(four, 40)
    (low, high), (below, above) = (
        [float(end.total_queue.value) for end in each.ends] for each in (one, pool)
    )
    assert above - below == pytest.approx(2 * (high - low), rel=0.2)
    assert above - below < 2.05 * (high - low)


def test_listings_are_sampled_every_two_seconds() -> None:
    """The published runs took ten minutes."""
    devices = read(data_path("hyperpav", "522A-0-aliases.listing")).devices
    assert devices["queue_samples"].to_list() == [300]


@pytest.mark.long
def test_the_worst_of_many_intervals_is_said_to_be_so_by_chance(tmp_path: Path) -> None:
    path = tmp_path / "day.csv"
    rows = (
        f"V1,2026-03-02T{10 + k}:00:00,60,300.0,2.00,{queued},30\n" for k, queued in enumerate((0.9, 1.2))
    )
    path.write_text("volume,start,interval_s,io_rate,service_ms,queued,queue_samples\n" + "".join(rows))
    answer = planner.aliases(path, model="none")
    assert any("by chance as well" in note for note in answer.notes)
    assert any("by chance as well" in note for note in site([path], model="none").notes)
    path.write_text(path.read_text().replace(",30\n", ",\n"))
    assert not any("by chance" in note for note in planner.aliases(path, model="none").notes)
