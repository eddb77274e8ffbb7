"""Service times that differ by class: plain chains, limits, identities, and the mean field against the exact chains."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.queueing import finite_source, mmc
from planner.queueing.pools import alias_pool, group_pools, group_volumes
from planner.queueing.pools.pool import _service_times
from tests.brief import examples
from tests.queueing.alias_pool.open_chain import exact_pool
from tests.queueing.alias_pool.simulation import simulate
from tests.queueing.alias_pool.test_open_chain import plain_chain

NAN = float("nan")
NAMES = (
    "throughput",
    "queue_length",
    "wait_time",
    "service_time",
    "tries_rate",
    "fails_rate",
    "base_in_service",
)
KINDS = {
    "closed": {"volumes": [2, 3], "population": [3, 4], "think_time": [1e-3, 4e-3]},
    "open": {"volumes": [4, 3], "arrival_rate": [300.0, 700.0]},
    "mixed": {
        "volumes": [2, 3],
        "population": [3, NAN],
        "think_time": [1e-3, NAN],
        "arrival_rate": [NAN, 700.0],
    },
}


@pytest.mark.first(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arguments", [{}, {"inflation": 0.1, "redrive_time": 5e-5}], ids=["", "slowed"])
def test_one_time_for_each_class_is_one_for_all_where_they_are_equal(kind, arguments):
    one = alias_pool([0, 2, 5], service_time=1.1e-3, **KINDS[kind], **arguments)
    each = alias_pool([0, 2, 5], service_time=[1.1e-3, 1.1e-3], **KINDS[kind], **arguments)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(each, name), getattr(one, name))


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("aliases", "volumes", "service", "most"),
    [
        (1, [(3, 2.0), (2, 0.5)], [0.4, 3.0], 50),
        (1, [(2, 2.0), (2, 0.5), (2, 1.0)], [0.4, 3.0, 1.0], 50),
        (1, [0.3, 0.15], [0.5, 4.0], 50),
        (2, [0.8, 0.2], [1.5, 4.0], 50),
        (2, [(3, 2.0), 0.2], [0.5, 3.0], 30),
    ],
    ids=["closed", "three closed", "open", "overloaded", "mixed"],
)
def test_exact_chains_equal_a_plain_chain(aliases, volumes, service, most):
    closed = [isinstance(volume, tuple) for volume in volumes]
    pool = exact_pool(
        aliases,
        volumes=[1] * len(volumes),
        population=[
            volume[0] if is_closed else NAN for volume, is_closed in zip(volumes, closed, strict=True)
        ],
        think_time=[
            volume[1] if is_closed else NAN for volume, is_closed in zip(volumes, closed, strict=True)
        ],
        arrival_rate=[
            NAN if is_closed else volume for volume, is_closed in zip(volumes, closed, strict=True)
        ],
        service_time=service,
    )
    for name, value in plain_chain(aliases, volumes, most, service).items():
        np.testing.assert_allclose(getattr(pool, name), value, rtol=2e-6, err_msg=name)


@pytest.mark.parametrize("method", ["exact", "mean-field"])
def test_without_aliases_every_volume_is_alone(method):
    service = np.array([3e-3, 0.4e-3])
    closed = alias_pool(
        0, volumes=[2, 3], population=[3, 4], think_time=[1e-3, 4e-3], service_time=service, inflation=0.2,
        redrive_time=5e-5, method=method,
    )  # fmt: skip
    alone = finite_source([3, 4], [1e-3, 4e-3], service, 1, inflation=0.2, redrive_time=5e-5)
    np.testing.assert_allclose(closed.throughput, alone.throughput, rtol=1e-9)
    np.testing.assert_allclose(closed.wait_time, alone.wait_time, rtol=1e-9)
    opened = alias_pool(0, volumes=[2, 3], arrival_rate=[200.0, 900.0], service_time=service, method=method)
    np.testing.assert_allclose(opened.wait_time, mmc([200.0, 900.0], service, 1).wait_time, rtol=1e-9)


@pytest.mark.parametrize("method", ["exact", "mean-field"])
def test_an_alias_for_every_requester_but_the_first_leaves_no_queue(method):
    service, think = np.array([3e-3, 0.4e-3]), np.array([1e-3, 4e-3])
    pool = alias_pool(
        2 * 2 + 3 * 3,
        volumes=[2, 3],
        population=[3, 4],
        think_time=think,
        service_time=service,
        method=method,
    )
    np.testing.assert_array_equal(pool.wait_time, 0.0)
    np.testing.assert_allclose(pool.throughput, np.array([3, 4]) / (think + service), rtol=1e-10)
    np.testing.assert_allclose(pool.service_time, service, rtol=1e-10)


@pytest.mark.long
@given(
    service=st.lists(st.floats(0.3e-3, 6e-3), min_size=2, max_size=2),
    think=st.lists(st.floats(0.3e-3, 20e-3), min_size=2, max_size=2),
    aliases=st.integers(0, 4),
    inflation=st.sampled_from([0.0, 0.2]),
    gap=st.sampled_from([0.0, 5e-5]),
)
@examples(20)
def test_exact_balances(service, think, aliases, inflation, gap):
    pool = alias_pool(
        aliases, volumes=[1, 2], population=[3, 2], think_time=think, service_time=service, inflation=inflation,
        redrive_time=gap, method="exact",
    )  # fmt: skip
    cycle = np.array(think) + pool.response_time
    np.testing.assert_allclose(pool.throughput * cycle, [3.0, 2.0], rtol=1e-9)
    assert np.all(pool.service_time >= np.array(service) * (1.0 - 1e-9))
    if inflation == 0.0:
        np.testing.assert_allclose(pool.service_time, service, rtol=1e-9)
    held = aliases - pool.free_aliases
    np.testing.assert_allclose((pool.alias_in_service + pool.in_gap) @ [1, 2] >= held - 1e-9, True)


@pytest.mark.long
def test_stability_counts_the_aliases_that_the_load_of_each_class_needs():
    """A volume offers rate x service; what its base does not serve, aliases must hold, whatever the unit of time."""
    service, rate = np.array([4e-3, 0.5e-3, 1e-3]), np.array([700.0, 3000.0, 500.0])
    need = 2 * (2.8 - 1.0) + 1 * (1.5 - 1.0)
    pool = alias_pool([4, 5], volumes=[2, 1, 3], arrival_rate=rate, service_time=service, method="mean-field")
    assert float(pool.aliases_to_be_stable) == np.floor(need) + 1 == 5
    assert pool.stable.tolist() == [False, True]
    assert np.isinf(pool.wait_time[0, :2]).all()
    assert np.isfinite(pool.wait_time[0, 2])
    served = pool.throughput[0] * service
    np.testing.assert_allclose(
        served @ [2, 1, 3], 3 + 4 + 3 * 0.5, rtol=1e-9
    )  # bases and aliases of the first two
    short = rate - pool.throughput[0]  # aliases take of a queue as it grows
    missing = rate - 1.0 / service
    np.testing.assert_allclose(short[0] / missing[0], short[1] / missing[1], rtol=1e-9)


def test_unit_of_time_does_not_matter():
    arguments = {"volumes": [2, 3], "population": [3, 4]}
    seconds = alias_pool(2, think_time=[1.0, 4.0], service_time=[3.0, 0.4], redrive_time=0.03, **arguments)
    millis = alias_pool(
        2, think_time=[1e-3, 4e-3], service_time=[3e-3, 0.4e-3], redrive_time=3e-5, **arguments
    )
    np.testing.assert_allclose(millis.throughput, seconds.throughput * 1e3, rtol=1e-8)
    np.testing.assert_allclose(millis.wait_time, seconds.wait_time / 1e3, rtol=1e-6)
    np.testing.assert_allclose(millis.tries_rate, seconds.tries_rate * 1e3, rtol=1e-6)
    np.testing.assert_allclose(millis.free_alias_distribution, seconds.free_alias_distribution, rtol=1e-6)


@pytest.mark.parametrize("bad", [[1.0, 2.0, 3.0], [1.0, 0.0], [1.0, NAN], [1.0, np.inf]])
def test_bad_service_times_are_named(bad):
    with pytest.raises(InputError) as caught:
        alias_pool(1, volumes=[1, 1], arrival_rate=[0.1, 0.1], service_time=bad)
    assert caught.value.argument == "service_time"


@given(
    st.lists(st.tuples(st.floats(10.0, 500.0), st.floats(0.3e-3, 6e-3)), min_size=1, max_size=40),
    st.floats(0.0, 1.0),
)
def test_groups_keep_the_load(volumes, spread):
    rate, service = np.array(volumes).T
    groups = group_volumes(arrival_rate=rate, service_time=service, spread=spread)
    load = groups.volumes * groups.arrival_rate * groups.service_time
    np.testing.assert_allclose(load.sum(), rate @ service, rtol=1e-9)
    assert sorted(set(groups.group.tolist())) == list(range(groups.volumes.size))
    for k in range(groups.volumes.size):
        members = service[groups.group == k]
        assert np.ptp(members) <= spread * max(members.max(), service.mean()) * (1 + 1e-9)


def test_groups_read_between_classes_of_one_service_time_only():
    groups = group_volumes(
        arrival_rate=[400.0, 100.0, 150.0, 50.0], service_time=[1e-3, 1e-3, 5e-3, 5e-3], spread=0.1
    )
    assert groups.group.tolist() == [2, 3, 0, 1]
    assert groups.kind.tolist() == [0, 0, 1, 1]
    np.testing.assert_array_equal(groups.at_own_rate(np.array([10.0, 4.0, 3.0, 1.0])), [3.0, 1.0, 10.0, 4.0])


def test_between_and_beyond_classes_values_follow_the_nearest_two():
    """A bent curve: each volume lies on the straight line through its two neighbours, the outermost on the last one."""
    rate = np.array([100.0, 110.0, 200.0, 210.0, 230.0, 400.0, 420.0, 900.0, 910.0, 990.0])
    groups = group_volumes(arrival_rate=rate, service_time=np.full(rate.size, 1e-3), spread=0.15)
    known = groups.arrival_rate[::-1]  # rising
    assert known.size == 4 and (np.diff(known) > 0).all()
    values = known**2
    slope = np.diff(values) / np.diff(known)
    segment = np.clip([np.count_nonzero(known < each) - 1 for each in rate], 0, 2)
    expected = values[segment] + slope[segment] * (rate - known[segment])
    np.testing.assert_allclose(groups.at_own_rate(values[::-1]), np.maximum(expected, 0.0), rtol=1e-12)


def test_volumes_of_two_service_times_are_two_classes():
    service = [1e-3] * 4 + [4e-3] * 4
    (grouped,) = group_pools(3, [{"service_time": service, "arrival_rate": [200.0] * 8}])
    classes = alias_pool(3, volumes=[4, 4], service_time=[4e-3, 1e-3], arrival_rate=[200.0, 200.0])
    assert grouped.groups.volumes.tolist() == [4.0, 4.0]
    assert grouped.error == 0.0
    np.testing.assert_allclose(grouped.wait_time, np.repeat(classes.wait_time[::-1], 4), rtol=1e-9)


def small_pools(kind, count, seed):
    """Two or three volumes whose service times lie between 1 and 20, solved by both methods: wait, exact, service."""
    rng = np.random.default_rng(seed)
    while count:
        classes = int(rng.integers(2, 4)) if kind == "closed" else 2
        service = np.exp(rng.uniform(0.0, np.log(20.0), classes))
        load, aliases = rng.uniform(0.1, 1.5, classes), int(rng.integers(1, 4))
        if kind == "open" and 1.2 * np.maximum(load - 1.0, 0.0).sum() > aliases:
            continue
        think = service * np.exp(rng.uniform(np.log(0.3), np.log(8.0), classes))
        arguments = {
            "closed": {"population": rng.integers(2, 5, classes), "think_time": think},
            "open": {"arrival_rate": load / service},
        }[kind]
        solved = [
            solve(aliases, volumes=np.ones(classes), service_time=service, **arguments)
            for solve in (alias_pool, exact_pool)
        ]
        yield *solved, service
        count -= 1


@cache
def errors_beside_chains(kind):
    """Errors of throughputs, and of waits over response times, the largest of each pool."""
    found = [
        (
            np.max(np.abs(field.throughput / exact.throughput - 1)),
            np.max(np.abs(field.wait_time - exact.wait_time) / exact.response_time),
        )
        for field, exact, _ in small_pools(kind, 15, 17)
    ]
    return np.array(found).T


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "worst"), [("closed", 0.05), pytest.param("open", 0.12, marks=pytest.mark.slow)]
)
def test_mean_field_against_exact_chains(kind, worst):
    """Response times; the smallest pools are the hardest: there one volume holds most of the aliases."""
    throughput, wait = errors_beside_chains(kind)
    assert np.max(throughput) <= 0.04
    assert np.max(wait) <= worst
    assert np.median(wait) <= 0.01


BEYOND = pytest.mark.xfail(reason="3.14 %, not 3", raises=AssertionError)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["closed", pytest.param("open", marks=[pytest.mark.slow, BEYOND])])
def test_nine_in_ten_small_pools_are_within_three_percent_of_their_chains(kind):
    _, wait = errors_beside_chains(kind)
    assert np.quantile(wait, 0.9) <= 0.03


@pytest.mark.slow
def test_simulation_of_two_service_times_against_an_exact_chain():
    pytest.importorskip("numba")
    pool = {"volumes": [1, 2], "population": [3, 4], "think_time": [1.0, 2.0], "service_time": [3.0, 0.5]}
    arguments = {"inflation": 0.16, "redrive_time": 0.05}
    exact = alias_pool(2, method="exact", **pool, **arguments)
    run = simulate(2, completions=2_000_000, **pool, **arguments)
    for name in ("throughput", "wait_time", "service_time", "tries_rate", "fails_rate", "free_aliases"):
        mean, error = getattr(run, name)
        assert np.all(np.abs(mean - getattr(exact, name)) <= 4.0 * error), name


def test_the_mean_service_time_is_that_of_the_volumes_and_exact_where_all_are_alike():
    times, volumes = (
        np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 9.0]]),
        np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 0.0]]),
    )
    each, mean = _service_times(times, volumes)
    assert mean[0] == 0.1  # a sum of three tenths is no three tenths
    assert mean[1] == pytest.approx(0.125, rel=1e-15)
    np.testing.assert_array_equal(each[1], [0.1, 0.2, mean[1]])
