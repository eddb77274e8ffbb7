"""Unequal volumes grouped into classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.queueing.pools import alias_pool, group_pools, group_volumes


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
    found = group_pools([5, 6], [{"service_time": 1.0, "arrival_rate": rates}] * 2, tolerance=0.02)
    apart = alias_pool([5, 6], volumes=np.ones(16), arrival_rate=rates, service_time=1.0)
    for grouped, wait in zip(found, apart.wait_time, strict=True):
        assert grouped.groups.volumes.size <= 12
        assert grouped.error <= 0.02
        np.testing.assert_allclose(grouped.wait_time, wait, rtol=0.02, atol=2e-4)


@pytest.mark.long
def test_a_pool_is_grouped_as_beside_others():
    """One that is refused, a think time too far from its service time, stops no other."""
    rng = np.random.default_rng(4)
    pools = [
        {"service_time": 1e-3, "arrival_rate": rng.uniform(50.0, 700.0, 20)},
        {"service_time": 1e-3, "population": [2] * 3, "think_time": [1e-3, 1e-3, 1e10]},
        {
            "service_time": rng.uniform(1e-3, 4e-3, 12),
            "population": [3] * 12,
            "think_time": rng.uniform(1e-3, 9e-3, 12),
        },
    ]
    arguments = {"inflation": 0.16, "redrive_time": 6e-5}
    beside = group_pools([4, 1, 7], pools, **arguments)
    alone = [
        group_pools(aliases, [pool], **arguments)[0] for aliases, pool in zip([4, 1, 7], pools, strict=True)
    ]
    assert beside[1] is alone[1] is None
    for one, other in ((beside[0], alone[0]), (beside[2], alone[2])):
        np.testing.assert_array_equal(one.wait_time, other.wait_time)
        np.testing.assert_array_equal(one.groups.group, other.groups.group)
        assert one.error == other.error


def test_equal_volumes_need_one_class():
    (grouped,) = group_pools(3, [{"service_time": 1.0, "arrival_rate": [0.6] * 8}])
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
    (grouped,) = group_pools(2, [{"service_time": 1.0, "arrival_rate": rates}], tolerance=1e-6)
    assert grouped.groups.volumes.tolist() == [2, 3, 4, 5]
    assert grouped.error == 0.0
