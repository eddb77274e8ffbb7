"""The count of one interval alone is the one that `planner.sizing.aliases` recommends."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.demand import Law
from planner.demand.pooled import read_pool, read_pools
from planner.errors import PlannerError
from planner.measurements.run import Run
from planner.site.groups import Series, groups_of, rows_of, series_of
from planner.site.hints import Hints
from planner.site.point import point, points
from planner.sizing import Target, aliases
from planner.sizing.bounds import spaced
from planner.sizing.comparison import held_to_measurement
from tests.site.large_site import SORTS, pool_rows

LAW = Law.from_model("hyperpav")


def series(sort: str, seed: int, volumes: int = 6, intervals: int = 6) -> Series:
    frame = pool_rows(sort, seed=seed, intervals=intervals, volumes=volumes, seconds=7200.0)
    groups = groups_of(frame.lazy())
    ((_, found),) = series_of(rows_of(frame.lazy(), groups), groups)
    assert isinstance(found, Series)
    return found


def runs(of: Series) -> list[Run]:
    found = [of.run(k) for k in range(of.start.size)]
    return [run for run in found if run is not None]


@settings(max_examples=12)
@given(
    sort=st.sampled_from(SORTS),
    seed=st.integers(0, 10_000),
    target=st.sampled_from([Target(), Target(wait=1e-4), Target(queued=0.2), Target(response=3e-3)]),
)
def test_the_count_is_that_of_the_whole_answer(sort: str, seed: int, target: Target) -> None:
    run = runs(series(sort, seed))[seed % 6]
    try:
        whole = aliases(run, LAW, target=target).recommended
    except PlannerError as problem:
        with pytest.raises(type(problem)):
            point(run, LAW, target)
        return
    assert point(run, LAW, target).count == whole


@settings(max_examples=6)
@given(sort=st.sampled_from(SORTS), seed=st.integers(0, 10_000))
def test_many_at_once_and_with_hints_are_those_of_each(sort: str, seed: int) -> None:
    of = series(sort, seed)
    hints = Hints.of(of, np.arange(of.start.size), LAW, Target())
    together = points(runs(of), LAW, Target(), [hints.readings(k) for k in range(of.start.size)])
    for run, found in zip(runs(of), together, strict=True):
        alone = point(run, LAW, Target())
        assert not isinstance(found, PlannerError)
        assert found.count == alone.count
        assert found.smooth == pytest.approx(alone.smooth, rel=1e-6, abs=1e-6)


def volume_runs_of(sort: str, seed: int) -> list[Run]:
    """One volume in no pool, over its intervals."""
    frame = pool_rows(sort, seed=seed, intervals=6, volumes=1, seconds=7200.0).with_columns(
        pool=pl.lit(None, dtype=pl.String), pool_aliases=pl.lit(None, dtype=pl.Int64)
    )
    groups = groups_of(frame.lazy())
    ((_, found),) = series_of(rows_of(frame.lazy(), groups), groups)
    assert isinstance(found, Series)
    return runs(found)


@settings(max_examples=12)
@given(
    sort=st.sampled_from(["steady", "bursty", "unknown"]),
    seed=st.integers(0, 10_000),
    target=st.sampled_from([Target(), Target(wait=1e-4), Target(queued=0.05)]),
)
def test_the_count_of_a_volume_is_its_real_number_rounded_up(sort: str, seed: int, target: Target) -> None:
    for run in volume_runs_of(sort, seed):
        found = point(run, LAW, target)
        assert found.count == aliases(run, LAW, target=target).recommended
        rounded = max(math.ceil(found.smooth), 0)
        assert found.count in (rounded, held_to_measurement(rounded, run, target, 0.0))


def test_the_real_number_of_a_volume_falls_as_more_wait_is_allowed() -> None:
    """Without jumps of its own: halved steps of the target halve the largest step of the number, at least nearly."""
    run = max(volume_runs_of("bursty", 5), key=lambda each: each.total_queue.value)
    waits = np.geomspace(2e-5, 1e-2, 33)
    smooth = np.array([point(run, LAW, Target(wait=float(wait))).smooth for wait in waits])
    assert smooth[0] > 3.0 and smooth[-1] < 0.0
    assert (np.diff(smooth[smooth > -0.99]) < 0.0).all()
    assert np.abs(np.diff(smooth)).max() < 0.75 * np.abs(np.diff(smooth[::2])).max()


def test_pools_read_together_are_those_read_alone() -> None:
    some = runs(series("bursty", 3))
    asked = [(run.io_rate, run.service, spaced(run.queued)) for run in some]
    for each, pool in zip(asked, read_pools(asked, law=LAW), strict=True):
        alone = read_pool(*each, law=LAW)
        # A search ends where all queues are within 1e-8 (rowwise.NEAR); what is asked for follows less closely.
        assert pool.queued(np.arange(9)) == pytest.approx(alone.queued(np.arange(9)), rel=1e-4)


def test_the_guess_is_near_the_count_of_bursty_volumes() -> None:
    """It is what is interpolated around, so that it need not be right: within a fifth, or an alias."""
    of = series("bursty", 5, volumes=24, intervals=12)
    hints = Hints.of(of, np.arange(of.start.size), LAW, Target())
    guess = np.expm1(hints.features[:, -1])
    smooth = np.array([point(run, LAW, Target()).smooth for run in runs(of)])
    assert np.abs(guess - smooth) == pytest.approx(np.zeros(smooth.size), abs=1.0 + 0.2 * float(smooth.max()))
    assert np.corrcoef(guess, smooth)[0, 1] > 0.99
