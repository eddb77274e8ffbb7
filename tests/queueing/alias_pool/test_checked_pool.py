"""A pool in units of its service time, what its volumes see by themselves, and the exact limit of a short gap."""

import numpy as np
import pytest

from planner.queueing import alias_pool
from planner.queueing.pools.pool import OnePool, check_pools


def mixed() -> OnePool:
    """Closed and open volumes whose services last 2, 3 and 5 ms."""
    return check_pools(
        volumes=[4, 2, 1], service_time=[2e-3, 3e-3, 5e-3], population=[3, np.nan, 6],
        think_time=[1e-2, np.nan, 4e-2], arrival_rate=[np.nan, 70.0, np.nan], inflation=0.2,
        redrive_time=6e-5,
    ).pool(0)  # fmt: skip


@pytest.mark.parametrize("k", [0, 1, 2])
def test_one_volume_by_itself_has_its_own_times(k: int) -> None:
    """Seconds do not depend on the unit: one volume in units of its own service is still the volume that was given."""
    one = mixed().of_one(k)
    assert one.volumes.tolist() == [1.0] and one.service.tolist() == [1.0]
    assert one.service_time == pytest.approx((2e-3, 3e-3, 5e-3)[k])
    np.testing.assert_allclose(one.population, [(3.0, np.nan, 6.0)[k]])
    np.testing.assert_allclose(one.think_time * one.service_time, [(1e-2, np.nan, 4e-2)[k]])
    np.testing.assert_allclose(one.arrival_rate / one.service_time, [(np.nan, 70.0, np.nan)[k]])
    assert one.redrive_time * one.service_time == pytest.approx(6e-5)
    assert one.inflation == 0.2


@pytest.mark.parametrize("gap", [0.0, 1e-6, 2e-4])
def test_however_short_a_gap_is_it_counts(gap: float) -> None:
    """A base and an alias that never idle: each takes its service and its gap for every I/O."""
    found = alias_pool(
        1, volumes=1, population=8, think_time=1e-9, service_time=1.0, redrive_time=gap,
        method="exact",
    )  # fmt: skip
    assert found.base_throughput == pytest.approx(1.0 / (1.0 + gap), rel=1e-7)
    assert found.alias_throughput == pytest.approx(1.0 / (1.0 + gap), rel=1e-7)
