"""Pools of unequal, partly bursty volumes: laws with unlimited servers, their sum, rows with aliases in use."""

from __future__ import annotations

import numpy as np
import pytest

from planner import queueing
from planner.demand import AliasTarget, Law, pooled, read_volumes
from planner.demand.pooled import erlang_queue, read_pool
from planner.interval import Interval

LAW = Law(inflation=0.1, redrive_time=5e-5, model_error=0.02)
RATES = np.array([100.0, 250.0, 40.0, 300.0])
SERVICES = np.array([1e-3, 2e-3, 5e-3, 0.5e-3])
QUEUES = np.array([0.3, 1.2, 0.8, 0.05])


def rows(queues: np.ndarray = QUEUES, rates: np.ndarray = RATES) -> tuple[Interval, Interval, Interval]:
    return Interval.around(rates, 0.05), Interval.around(SERVICES, 5e-6), Interval.around(queues, 0.005)


@pytest.mark.parametrize("inflation", [0.0, 0.1])
def test_laws_with_unlimited_servers_carry_the_load(inflation: float) -> None:
    """Every I/O is served at once: mean in service is the load, single ones have the law of M/M/inf."""
    law = Law(inflation=inflation, redrive_time=0.0, model_error=0.02)
    loads = RATES * SERVICES
    readings = read_volumes(*rows(np.where(loads < 0.15, loads**2 / (1 - loads), QUEUES)), law=law)
    laws = pooled.present(readings, 160)
    used = readings.used & np.isfinite(laws[0])
    np.testing.assert_allclose(laws.sum(axis=0)[used], 1.0, rtol=1e-9)
    opened = used & np.isfinite(readings.demands.load) & (readings.demands.on_load < 4)
    opened |= used & np.isfinite(readings.demands.batch)
    n = np.arange(161)
    if inflation == 0:
        mean = np.tensordot(n, laws, axes=1)
        np.testing.assert_allclose(mean[opened], readings.demands.load[opened], rtol=1e-6)
        poisson = laws[:, 0, 0]
        load = readings.demands.load[0, 0]
        np.testing.assert_allclose(poisson[:4], np.exp(-load) * load ** n[:4] / [1, 1, 2, 6], rtol=1e-9)


def test_the_base_of_a_poisson_volume_is_a_loss_system() -> None:
    law = Law(inflation=0.0, redrive_time=0.0, model_error=0.02)
    loads = RATES * SERVICES
    readings = read_volumes(*rows(loads**2 / (1 - loads)), law=law)
    laws = np.nan_to_num(pooled.present(readings, 160))
    busy = pooled.base_busy(readings, laws)
    expected = 1 - 1 / (1 + readings.demands.load[:, 0])
    np.testing.assert_allclose(busy[:, 0], expected)
    usage = pooled.alias_law(laws[:, :, :1], busy[:, :1])
    n = np.arange(161)
    # What the base does not carry overflows: the load less its busy share (Erlang 1917).
    np.testing.assert_allclose(
        np.tensordot(n, usage, axes=1)[:, 0], readings.demands.load[:, 0] - expected, rtol=1e-6
    )


@pytest.mark.parametrize(("load", "servers"), [(0.7, 1), (3.0, 5), (12.0, 14)])
def test_the_real_valued_erlang_queue_is_the_whole_one(load: float, servers: int) -> None:
    expected = queueing.mmc(load, 1.0, servers).queue_length
    assert erlang_queue(load, np.array([float(servers)]))[0] == pytest.approx(float(expected), rel=1e-9)


def test_without_aliases_the_queues_are_those_measured_and_never_rise() -> None:
    pool = read_pool(*rows(), law=LAW)
    queue = pool.queued(np.arange(30))
    assert queue[0] == pytest.approx(QUEUES.sum())
    assert (np.diff(queue) <= 1e-12).all()
    np.testing.assert_allclose(pool.volume_queues([0, 2]).sum(axis=0), queue[[0, 2]])
    point, low, high = pool.point_and_range()
    assert 0 < low <= point < high
    assert pool.point_and_range(AliasTarget(queue=2.0))[0] < point


def test_a_row_with_aliases_in_use_is_solved_by_the_pool() -> None:
    """The queue that the pool itself predicts with two aliases, read again with two in use, needs about as many."""
    alone = read_pool(*rows(), law=LAW)
    queues = alone.volume_queues([2])[:, 0]
    again = read_pool(*rows(queues), aliases=2, law=LAW)
    # Readings come and go as the queue grows, so that what the pool holds rises in steps.
    assert again.queued([2])[0] == pytest.approx(queues.sum(), rel=0.25)
    expected, point = alone.point_and_range()[0], again.point_and_range()[0]
    assert point > 2 and abs(point - expected) <= max(2, 0.4 * expected)


def test_growth_asks_for_no_fewer() -> None:
    assert (
        read_pool(*rows(), law=LAW, growth=0.3).point_and_range()[0]
        >= read_pool(*rows(), law=LAW).point_and_range()[0]
    )
