"""Many pools and counts in one call: shapes, and that an answer depends on its own pool alone."""

import numpy as np
import pytest

from planner.errors import ConvergenceError, InputError
from planner.queueing import alias_pool
from planner.queueing.pools.solve import solve_pools

NAN = np.nan
BY_CLASS = (
    "throughput",
    "wait_time",
    "service_time",
    "tries_rate",
    "fails_rate",
    "in_gap",
    "base_in_service",
)
BY_POOL = ("pool_throughput", "pool_queue_length", "fail_fraction", "free_aliases", "stable")


def mixed_pools(count, seed=3):
    """Random pools of three closed and open classes, some of which have no volumes."""
    rng = np.random.default_rng(seed)
    closed = rng.random((count, 3)) < 0.5
    load, population = rng.uniform(0.05, 1.1, (count, 3)), rng.integers(1, 7, (count, 3)).astype(float)
    volumes = rng.integers(0, 5, (count, 3))
    volumes[:, 0] += 1
    return {
        "volumes": volumes,
        "population": np.where(closed, population, NAN),
        "think_time": np.where(closed, np.maximum(population / load - 1.0, 0.3), NAN),
        "arrival_rate": np.where(closed, NAN, load),
        "service_time": rng.uniform(0.5, 2.0, (count, 3)),
        "inflation": rng.choice([0.0, 0.1], count),
        "redrive_time": rng.choice([0.0, 0.05], count),
    }


def row(pools, which):
    """Some pools of a call."""
    return {name: values[which] for name, values in pools.items()}


def assert_same(found, expected, classes=slice(None)):
    for name in BY_POOL:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
    for name in BY_CLASS:
        np.testing.assert_allclose(
            getattr(found, name)[..., classes], getattr(expected, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_shapes_broadcast():
    pools = {"volumes": np.ones((5, 1, 2)), "arrival_rate": np.full((5, 1, 2), 0.6), "service_time": 1.0}
    found = alias_pool([[0, 1, 2]], **pools)
    assert found.pool_throughput.shape == found.stable.shape == found.aliases.shape == (5, 3)
    assert found.throughput.shape == found.wait_time.shape == (5, 3, 2)
    assert found.free_alias_distribution.shape == (5, 3, 3)
    assert found.aliases_to_be_stable.shape == (5, 1)
    one = alias_pool([0, 1, 2], volumes=[1, 1], arrival_rate=[0.6, 0.6], service_time=1.0)
    assert one.throughput.shape == (3, 2) and one.aliases_to_be_stable.shape == ()
    assert_same(found, alias_pool(np.tile([0, 1, 2], (5, 1)), **pools))
    by_pool = alias_pool(
        1, volumes=[1, 1], arrival_rate=[0.6, 0.6], service_time=1.0, inflation=[0.0, 0.1, 0.2]
    )
    assert by_pool.wait_time.shape == (3, 2)
    assert len(by_pool.table().columns[0].values) == 6


@pytest.mark.parametrize("many", [6, pytest.param(24, marks=pytest.mark.long)])
def test_a_batch_answers_as_each_pool_alone(many):
    pools, counts = mixed_pools(many), np.arange(many) % 6
    together = solve_pools(counts, **pools)
    assert together.converged.all()
    for i in range(many):
        alone = solve_pools(int(counts[i]), **row(pools, i))
        for name in (*BY_POOL, *BY_CLASS):
            np.testing.assert_allclose(
                getattr(together, name)[i], getattr(alone, name), rtol=1e-9, atol=1e-12, err_msg=name
            )


@pytest.mark.long
def test_order_of_pools_does_not_matter():
    pools, counts, order = mixed_pools(16), np.arange(16) % 5, np.random.default_rng(1).permutation(16)
    straight, shuffled = solve_pools(counts, **pools), solve_pools(counts[order], **row(pools, order))
    np.testing.assert_allclose(shuffled.wait_time, straight.wait_time[order], rtol=1e-9, atol=1e-12)


@pytest.mark.long
def test_order_of_classes_does_not_matter():
    pools, counts = mixed_pools(16), np.arange(16) % 5
    swapped = {name: values[:, [2, 0, 1]] if values.ndim > 1 else values for name, values in pools.items()}
    straight, turned = solve_pools(counts, **pools), solve_pools(counts, **swapped)
    np.testing.assert_allclose(turned.wait_time, straight.wait_time[:, [2, 0, 1]], rtol=1e-6, atol=1e-9)


def test_classes_without_volumes_do_not_matter():
    arguments = {"service_time": 1.0, "inflation": 0.1}
    plain = solve_pools([1, 3], volumes=[2, 3], arrival_rate=[0.4, 0.9], **arguments)
    padded = solve_pools([1, 3], volumes=[2, 0, 3, 0], arrival_rate=[0.4, NAN, 0.9, 7.0], **arguments)
    assert_same(padded, plain, [0, 2])
    for name in ("throughput", "wait_time", "queue_length"):
        assert not getattr(padded, name)[:, [1, 3]].any()


def test_a_class_split_in_two_is_the_same_pool():
    arguments = {"service_time": 1.0, "inflation": 0.1, "method": "mean-field"}
    whole = alias_pool(3, volumes=[4, 2], population=[9, 5], think_time=[6.0, 2.0], **arguments)
    split = alias_pool(3, volumes=[1, 2, 3], population=[9, 5, 9], think_time=[6.0, 2.0, 6.0], **arguments)
    np.testing.assert_allclose(split.wait_time[[0, 1, 2]], whole.wait_time[[0, 1, 0]], rtol=1e-5)


@pytest.mark.first(1)
@pytest.mark.parametrize("small", [{"inflation": 1e-9}, {"redrive_time": 1e-9}])
@pytest.mark.parametrize("service", [1.0, [0.4, 1.6, 1.0]])
def test_no_jump_where_inflation_or_gaps_begin(small, service):
    """It was 43 %: another method answered from the smallest inflation on."""
    pool = {"volumes": [2, 3, 1], "arrival_rate": [0.9, 0.5, 1.1], "service_time": service}
    counts = np.arange(2, 9)
    np.testing.assert_allclose(
        alias_pool(counts, **pool, **small).wait_time,
        alias_pool(counts, **pool).wait_time,
        rtol=1e-4,
        atol=1e-9,
    )


@pytest.mark.long
def test_what_does_not_converge_is_nan_and_named(monkeypatch):
    monkeypatch.setattr("planner.queueing.pools.field.mean_field.MOST_CELLS", 40_000)
    monkeypatch.setattr("planner.queueing.pools.field.mean_field.MOST_WORK", 3e5)
    pools = {"volumes": [[2, 1], [2, 1]], "arrival_rate": [[0.3, 0.4], [0.9, 1.9999]], "service_time": 1.0}
    found = solve_pools([2, 1], **pools)
    assert found.converged.tolist() == [True, False]
    assert np.isnan(found.wait_time[1]).all() and np.isfinite(found.wait_time[0]).all()
    with pytest.raises(ConvergenceError, match=r"1 aliases, element \[1\]"):
        alias_pool([2, 1], **pools)


def test_saturated_and_idle_pools_stand_beside_others():
    found = alias_pool(
        1,
        volumes=[[1, 1], [2, 1], [1, 1]],
        arrival_rate=[[0.0, 0.0], [1.9, 0.2], [0.5, 0.5]],
        service_time=1.0,
    )
    assert found.stable.tolist() == [True, False, True]
    assert found.free_aliases[0] == 1.0 and np.isinf(found.wait_time[1, 0])
    assert found.aliases_to_be_stable.tolist() == [0.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        ("volumes", {"volumes": [[1, 1], [0, 0]]}),
        ("volumes", {"volumes": [[1, 1], [1, 1.5]]}),
        ("arrival_rate", {"arrival_rate": [[0.1, 0.2], [0.1, NAN]]}),
        ("service_time", {"service_time": [[1.0, 1.0], [1.0, -1.0]]}),
        ("aliases", {"aliases": [1, 2, 3]}),
        ("shapes", {"inflation": [0.1, 0.1, 0.1]}),
    ],
)
def test_what_is_wrong_is_named(argument, change):
    plain = {
        "aliases": [1, 2],
        "volumes": [[1, 1], [2, 1]],
        "arrival_rate": [[0.1, 0.2], [0.3, 0.4]],
        "service_time": 1.0,
    }
    with pytest.raises(InputError) as caught:
        alias_pool(**{**plain, **change})
    assert caught.value.argument == argument
