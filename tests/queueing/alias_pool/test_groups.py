"""Unequal volumes grouped into classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.queueing.pools import alias_pool, alias_pool_of_volumes, group_volumes


@given(st.lists(st.just(0.0) | st.floats(1e-9, 500.0), min_size=1, max_size=40), st.floats(0.0, 1.0))
def test_groups_keep_volumes_and_load(rates, spread):
    groups = group_volumes(arrival_rate=rates, spread=spread)
    assert groups.volumes.sum() == len(rates)
    np.testing.assert_allclose(groups.volumes @ groups.arrival_rate, np.sum(rates), rtol=1e-12)
    for k in range(groups.volumes.size):
        members = np.array(rates)[groups.group == k]
        assert np.ptp(members) <= spread * max(members.max(), np.mean(rates)) * (1 + 1e-12)
        assert members.size == groups.volumes[k]


def test_closed_groups_hold_equal_populations():
    nan = float("nan")
    groups = group_volumes(
        population=[3, 3, 4, nan],
        think_time=[1.0, 1.02, 1.0, nan],
        arrival_rate=[nan, nan, nan, 0.5],
        spread=0.1,
    )
    assert groups.volumes.tolist() == [1.0, 2.0, 1.0]
    np.testing.assert_array_equal(groups.population, [4.0, 3.0, nan])
    assert groups.group.tolist() == [1, 1, 0, 2]
    assert groups.think_time[1] == pytest.approx(2.0 / (1.0 + 1.0 / 1.02))


def test_grouped_pool_is_near_the_ungrouped_one():
    rng = np.random.default_rng(3)
    rates = rng.uniform(0.2, 1.1, 16)
    grouped = alias_pool_of_volumes([5, 6], service_time=1.0, arrival_rate=rates, tolerance=0.02)
    apart = alias_pool([5, 6], volumes=np.ones(16), arrival_rate=rates, service_time=1.0)
    assert grouped.groups.volumes.size <= 12
    assert grouped.error <= 0.02
    np.testing.assert_allclose(grouped.wait_time, apart.wait_time, rtol=0.02, atol=2e-4)


def test_equal_volumes_need_one_class():
    grouped = alias_pool_of_volumes(3, service_time=1.0, arrival_rate=[0.6] * 8)
    assert grouped.groups.volumes.tolist() == [8.0]
    assert grouped.error == 0.0


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"spread": 0.1}, "arrival_rate"),
        ({"arrival_rate": [1.0], "spread": -1.0}, "spread"),
        ({"arrival_rate": [1.0, 2.0], "population": [1.0], "spread": 0.1}, "population"),
    ],
)
def test_bad_groups_are_named(arguments, argument):
    with pytest.raises(InputError) as caught:
        group_volumes(**arguments)
    assert caught.value.argument == argument


def test_classes_that_cannot_be_made_finer_end_the_search() -> None:
    """Far apart, equal within: coarse classes err by more than the tolerance, the finest ones by nothing."""
    rates = [0.9] * 2 + [0.7] * 3 + [0.55] * 4 + [0.3] * 5
    grouped = alias_pool_of_volumes(2, service_time=1.0, arrival_rate=rates, tolerance=1e-6)
    assert grouped.groups.volumes.tolist() == [2, 3, 4, 5]
    assert grouped.error == 0.0
