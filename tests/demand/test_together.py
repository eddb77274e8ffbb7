"""How much bursts come together: the copula, batches with a long tail, and counts of simulated pools."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import planner
from planner.demand import DeviceModel, chains, kinds, read_volumes
from planner.demand.drawn_pool import PoolRow
from planner.demand.pooled import read_pool_at_several, read_pools
from planner.demand.together import _all_at_once, _partly, beyond, in_batches, in_rare_bursts, queued
from planner.demand.unlimited import alias_use
from planner.errors import InputError, ReportError
from planner.interval import Interval
from planner.reports.membership import read_membership
from planner.sizing.need import need
from planner.supply import judge
from tests.demand import judged
from tests.demand.arrivals import drawn, least

RANDOM = np.random.default_rng(5)
DISTRIBUTIONS = RANDOM.dirichlet(np.full(6, 0.6), 4).T  # distributions of four volumes, a column each
MEAN = float(np.arange(6) @ DISTRIBUTIONS.sum(axis=1))
DEVICE = DeviceModel(inflation=0.1, redrive_time=3e-5, model_error=0.02)


def exact(values: float | list[float]) -> Interval:
    found = np.asarray(values, dtype=float)
    return Interval(found, found, found)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95, 1.0])
def test_the_mean_of_the_sum_does_not_depend_on_the_share(share: float) -> None:
    chances = _all_at_once(DISTRIBUTIONS) if share == 1.0 else _partly(DISTRIBUTIONS, np.full(4, share))
    assert chances.sum() == pytest.approx(1.0, abs=1e-6)
    assert np.arange(chances.size) @ chances == pytest.approx(MEAN, abs=1e-5)


def test_independent_volumes_are_convolved() -> None:
    expected = np.ones(1)
    for each in DISTRIBUTIONS.T:
        expected = np.convolve(expected, each)
    np.testing.assert_allclose(_partly(DISTRIBUTIONS, np.zeros(4)), expected, atol=1e-12)


@pytest.mark.long
def test_all_at_once_is_the_sum_of_the_quantiles_of_one_number() -> None:
    """Against two million equally spaced uniform numbers."""
    at = (np.arange(2_000_000) + 0.5) / 2_000_000
    below = np.cumsum(DISTRIBUTIONS, axis=0)
    below[-1] = 1.0
    sums = np.sum([np.searchsorted(column, at) for column in below.T], axis=0)
    np.testing.assert_allclose(_all_at_once(DISTRIBUTIONS), np.bincount(sums) / at.size, atol=5e-6)


def test_a_part_of_the_volumes_together_is_the_convolution_of_both_parts() -> None:
    """Two volumes all at once, to the step of the sum over the common number, and two on their own."""
    found = _partly(DISTRIBUTIONS, np.array([1.0, 1.0, 0.0, 0.0]))
    expected = np.convolve(
        np.convolve(_all_at_once(DISTRIBUTIONS[:, :2]), DISTRIBUTIONS[:, 2]), DISTRIBUTIONS[:, 3]
    )
    counts = np.arange(found.size)
    for aliases in range(8):
        excess = np.maximum(counts - aliases, 0)
        assert excess @ found == pytest.approx(excess[: expected.size] @ expected, rel=0.04, abs=2e-3)


def test_more_comes_beyond_the_aliases_the_more_comes_together() -> None:
    """Convex order: for every count of aliases, in every pool of one demand."""
    rate, service = exact([300.0] * 4), exact([1e-3] * 4)
    read = read_volumes(rate, service, exact([0.4] * 4), device_model=DEVICE)
    use = alias_use(read)
    queues = [beyond(use, 40, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for less, more in pairwise(queues):
        assert (more >= less - 1e-5).all()  # of the sum over the common number
    assert queues[-1][6] > 2 * queues[0][6]


def test_batches_with_a_long_tail_keep_their_moments() -> None:
    """Of lognormal sizes of sigma 1 and mean 1: e and e cubed; exponential parts have 2 and 6 times powers."""
    weight, mean = chains.LONG_TAILED.T
    assert weight.sum() == pytest.approx(1.0, abs=1e-15)
    assert weight @ mean == pytest.approx(1.0, abs=1e-14)
    assert 2 * weight @ mean**2 == pytest.approx(math.e, rel=1e-13)
    assert 6 * weight @ mean**3 == pytest.approx(math.e**3, rel=1e-13)


def test_batches_with_a_long_tail_solve_their_chain() -> None:
    """Against the stationary distribution of the chain written out level by level, 4,000 of them."""
    load, mean, share, most = 0.3, 8.0, 0.6, 5
    station = chains.DeviceStation(most=most, inflation=0.1, gap=np.array([0.02]))
    one = np.ones(1)
    found = chains.batches(station, load * one, mean * one, share * one, chains.LONG_TAILED)
    sizes = 1 + (mean - 1) * chains.LONG_TAILED[:, 1]
    tail = (chains.LONG_TAILED[:, :1] * (1 - 1 / sizes[:, None]) ** np.arange(4000)).sum(
        axis=0
    )  # of more than k
    for devices in range(1, most + 1):
        over = devices / (1 + 0.1 * (devices - 1) + 0.02)
        chances = np.zeros(4001)
        chances[0] = 1.0
        for n in range(1, 4001):
            pace = n / (1 + 0.1 * (n - 1)) if n <= devices else over
            up = load * share / mean * (tail[:n] @ chances[n - 1 :: -1]) + load * (1 - share) * chances[n - 1]
            chances[n] = up / pace
        chances /= chances.sum()
        queue = np.maximum(np.arange(4001) - devices, 0) @ chances
        assert found.queue[devices - 1, 0] == pytest.approx(queue, rel=1e-9)


def test_a_long_wait_at_low_utilization_keeps_a_flush_in_its_range() -> None:
    """25 service times at 5 % busy: phases of overload need 3 aliases, one flush of pages dozens."""
    (found,) = need([[planner.measurements.from_numbers(
        io_rate=exact(50.0), service=exact(1e-3), queued=exact(1.25), response=None)]], DEVICE)  # fmt: skip
    assert found.high is not None and found.high >= 60
    assert found.low is not None and found.low <= 5


@pytest.mark.long
def test_rows_without_aliases_bracket_and_a_second_row_decides() -> None:
    case = drawn("striped", 7, 1)[0]
    count, _, high, together = judged.answers(case, [0])
    assert count < case.needed <= 1.25 * together
    assert together > high
    again = judged.answers(case, [0, int(count)])
    assert abs(again[0] - case.needed) <= max(0.25 * case.needed, 1)
    assert math.isnan(again[3])


@pytest.mark.first(2)
@pytest.mark.parametrize(("share", "least"), [(0.0, 0), (0.5, 1), (1.0, 2)])
def test_declared_shares_rise(share: float, least: int) -> None:
    rate, service, queue = exact([300.0] * 6), exact([1e-3] * 6), exact([0.15] * 6)
    rows = [PoolRow(rate, service, queue, 0, each) for each in (np.nan, share)]
    unknown, known = (pool.point_and_range()[0] for pool in read_pools(rows, device_model=DEVICE))
    assert known >= unknown + least


def test_what_rows_with_aliases_show_is_held_by_the_range_of_the_same_share_declared() -> None:
    """Rare bursts of all volumes need fourfold; a declared share does not deny them."""
    rate, service, queue = exact([60.4, 41.7]), exact([0.75e-3, 0.7e-3]), exact([0.0876, 0.0042])
    rows = [PoolRow(rate, service, queue, 4, each) for each in (np.nan, 1.0)]
    shown, (point, low, high) = (pool.point_and_range() for pool in read_pools(rows, device_model=DEVICE))
    assert low <= point <= high and low <= shown[0] <= high


@pytest.mark.long
def test_volumes_that_are_declared_one_by_one_share_the_common_number_alone() -> None:
    rate, service, queue = exact([300.0] * 6), exact([1e-3] * 6), exact([0.15] * 6)
    counts = []
    for known in (np.zeros(6), np.array([1.0, 1, 1, 0, 0, 0]), np.ones(6)):
        (pool,) = read_pools([PoolRow(rate, service, queue, 0, known)], device_model=DEVICE)
        counts.append(pool.point_and_range()[0])
    assert counts[0] < counts[1] < counts[2]


@pytest.mark.long
def test_one_share_fits_two_rows_of_volumes_that_act_together() -> None:
    rate, service, queue = exact([300.0] * 6), exact([1e-3] * 6), exact([0.15] * 6)
    alone = PoolRow(rate, service, queue)
    (pool,) = read_pools([alone], device_model=DEVICE)
    use = in_batches(pool.candidates)
    for share in (0.0, 1.0):
        seen = 1.5 * beyond(use if share else alias_use(pool.candidates), 4, share)[4] / 6
        found = read_pool_at_several(
            [alone, PoolRow(rate, service, exact([seen] * 6), 4)], device_model=DEVICE
        )
        assert found.together is not None
        low, value, high = found.together
        assert low <= share <= high
        assert abs(value - share) <= 0.35


@pytest.mark.parametrize("said", ["some", "1.5", "-0.1", "150%"])
def test_a_share_outside_0_to_1_is_refused(said: str) -> None:
    with pytest.raises(InputError, match="none, full, or a share from 0 to 1"):
        planner.aliases(rate=700.0, service=1e-3, queue=0.5, volumes=4, together=said)


def test_one_volume_has_no_others() -> None:
    with pytest.raises(InputError, match="one volume has no others"):
        planner.aliases(rate=700.0, service=1e-3, queue=0.5, together="full")


def test_members_say_how_far_their_volumes_come_together(tmp_path: Path) -> None:
    path = tmp_path / "members.csv"
    path.write_text("device,role,pool,together\n5200-5201,base,P,full\n5202,base,P,\n5203,alias,P,\n")
    members = read_membership(path).members
    assert [members[name].together for name in ("5200", "5201", "5202")] == [1.0, 1.0, None]
    path.write_text("device,role,pool,together\n5200,base,P,partly\n")
    with pytest.raises(ReportError, match=r"line 2.*together.*none, full, or a share"):
        read_membership(path)


def test_columns_stand_kind_by_kind() -> None:
    """Each kind in one stretch, as the JSON names it."""
    assert (kinds.KINDS[kinds.LONG], kinds.KINDS[kinds.SLOW]) == ("long batches", "slow phases")
    for layout in (kinds.COARSE, kinds.FINE):
        assert np.unique(layout.kind).size == len(kinds.KINDS)
        assert (np.diff(layout.kind) >= 0).all()


@pytest.mark.first(3)
@pytest.mark.parametrize(("inflation", "gap"), [(0.0, 0.0), (0.1, 0.0), (0.176, 5e-5)])
@pytest.mark.parametrize("wait", [3.0, 8.0, 15.0])
def test_batches_that_come_at_once_queue_as_their_chain_says(
    inflation: float, gap: float, wait: float
) -> None:
    """Of one volume, whose chain is solved without the distribution of what lies beyond."""
    device_model = DeviceModel(inflation=inflation, redrive_time=gap, model_error=0.02)
    read = read_volumes(exact([100.0]), exact([1e-3]), exact([0.1 * wait]), device_model=device_model)
    column = int(np.argmax(read.layout.kind == kinds.BATCHES))
    read = replace(read, weight=1.0 * (np.arange(read.layout.kind.size) == column)[None])
    counts = np.arange(round(wait / 3), round(3 * wait))
    found = queued([(in_batches(read), 1.0)], int(counts[-1]), device_model, 1e-3)[counts, 0]
    np.testing.assert_allclose(found, read.predict(counts).queue[0, column], rtol=0.12)


def test_rare_bursts_explain_the_rows_and_last_longest() -> None:
    """Every volume waits as measured without aliases, steady ones are as they were; more lies far beyond the bases."""
    read = read_volumes(
        exact([300.0] * 4), exact([1e-3] * 4), exact([0.6, 0.6, 0.6, 0.12]), device_model=DEVICE
    )
    assert read.steady.tolist() == [False, False, False, True]
    batches = beyond(in_batches(read), 60, 1.0)
    for use in in_rare_bursts(read):
        np.testing.assert_allclose(use.mean(use.alone), read.rows.queue, rtol=0.05)
        assert (beyond(use, 60, 1.0)[30:] > 1.5 * batches[30:]).all()


@pytest.mark.long
def test_counters_of_a_striped_pool_say_how_many_it_needs() -> None:
    """Measured with .6, 1 and 1.5 times its need: verdict, count within a quarter, range."""
    for right, count, low, high, needed in judged.supplied(drawn("striped", 7, 1)[0]):
        assert right
        assert low <= needed <= high
        assert abs(count - needed) <= max(0.25 * needed, 1)


@pytest.mark.long
def test_counted_fails_are_never_explained_away() -> None:
    """Rare bursts need more aliases than any smooth load that is fitted to them: those in use are not to spare."""
    case = drawn("checkpoints", 7, 1)[0]
    needed = least(lambda aliases: case.fails(aliases) <= 0.05)
    (pool,) = judge([case.supply(needed)], no_alias=0.05).pools
    assert pool.verdict == "enough"
    assert abs(pool.aliases_needed - needed) <= 0.1 * needed
