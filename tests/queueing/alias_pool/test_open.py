"""Open and mixed pools: known limits, exact chains of one volume, stability and saturation."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.queueing import finite_source, mmc
from planner.queueing.pools import alias_pool
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.independent import solve_single
from planner.queueing.pools.lumped import solve_lumped
from planner.queueing.pools.outcome import PER_CLASS
from planner.queueing.pools.pool import check_pools


def test_one_open_volume_equals_mmc():
    pool = alias_pool([0, 1, 3, 12], volumes=1, arrival_rate=0.9, service_time=1.0)
    alone = mmc(0.9, 1.0, [1, 2, 4, 13])
    np.testing.assert_allclose(pool.wait_time[:, 0], alone.wait_time, rtol=1e-9, atol=1e-15)
    assert pool.method == "exact"


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [{"redrive_time": 0.2}, {"inflation": 0.1}, {"redrive_time": 0.1, "inflation": 0.1}]
)
def test_one_open_volume_is_the_limit_of_many_requesters(arguments):
    rate = 1.2
    requesters = np.array([1500, 3000])
    pool = alias_pool(2, volumes=1, arrival_rate=rate, service_time=1.0, **arguments)
    closed = finite_source(requesters, requesters / rate, 1.0, 3, **arguments)
    limit = 2.0 * closed.wait_time[1] - closed.wait_time[0]  # the difference falls as one over the requesters
    np.testing.assert_allclose(pool.wait_time, [limit], rtol=1e-4)


@pytest.mark.parametrize(("load", "inflation", "gap", "aliases"), [(0.3, 0.0, 0.06, 26), (1.5, 0.16, 1, 36)])
def test_one_volume_with_ample_aliases_agrees_with_its_chain(load, inflation, gap, aliases):
    arguments = {
        "volumes": 1, "arrival_rate": load, "service_time": 1.0, "inflation": inflation, "redrive_time": gap,
    }  # fmt: skip
    scenario = check_pools(**arguments)
    elements = PoolElements.of_pools(scenario, np.array([0]), np.array([aliases * 1.0]))
    assert elements.ample
    pool, (chain, _) = alias_pool(aliases, **arguments), solve_single(elements)
    present = (chain.base_in_service + chain.alias_in_service + chain.queue + chain.in_gap(elements))[0]
    np.testing.assert_allclose(pool.response_time, present / load, rtol=1e-10)
    np.testing.assert_allclose(pool.tries_rate, chain.tries[0], rtol=1e-10)
    np.testing.assert_allclose(pool.base_in_service, chain.base_in_service[0], rtol=1e-10)


@pytest.mark.parametrize("gap", [0.0, 0.05, 3.0])
def test_single_volumes_agree_with_the_chain_of_their_states_one_by_one(gap):
    """Ten drawn closed volumes, solved side by side by levels, against chains that count every requester's state."""
    random = np.random.default_rng(5)
    people = random.integers(2, 12, 10)
    aliases = np.minimum(random.integers(1, 9, 10), people - 1)
    closed = check_pools(
        volumes=np.ones((10, 1)), population=people[:, None], think_time=random.uniform(0.05, 8.0, (10, 1)),
        service_time=2.0, inflation=0.3, redrive_time=2.0 * gap,
    )  # fmt: skip
    found, _ = solve_single(PoolElements.of_pools(closed, np.arange(10), aliases * 1.0))
    for k, count in enumerate(aliases.tolist()):
        chain = solve_lumped(closed.pool(k), count)
        for name in (*PER_CLASS, "free_distribution"):
            values, right = getattr(found, name)[k], getattr(chain, name)
            np.testing.assert_allclose(values[: right.size], right, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("arrival_rate", [0.4, 2.5])
def test_all_that_failed_of_an_open_volume_is_picked_up_and_all_arrivals_end(arrival_rate):
    aliases = np.array([1.0, 4.0, 4.0, 9.0])[arrival_rate > 1.0 :]
    scenario = check_pools(
        volumes=1, arrival_rate=arrival_rate, service_time=1.0, inflation=0.1, redrive_time=0.05
    )
    found, _ = solve_single(PoolElements.of_pools(scenario, np.zeros(aliases.size, dtype=int), aliases))
    np.testing.assert_allclose(found.base_pickups + found.alias_pickups, found.fails, rtol=1e-11)
    base = arrival_rate - found.tries + found.base_pickups
    ended = found.tries - found.fails + found.alias_pickups
    held = found.alias_in_service[:, 0] + 0.05 * found.alias_pickups[:, 0]
    np.testing.assert_allclose(base + ended, arrival_rate, rtol=1e-11)
    np.testing.assert_allclose(aliases - found.free_aliases, held, rtol=1e-10)


@pytest.mark.parametrize(("aliases", "volumes"), [(0, [3, 2]), (0, [1, 1])])
def test_without_aliases_open_and_closed_volumes_are_alone(aliases, volumes):
    nan = float("nan")
    pool = alias_pool(
        aliases, volumes=volumes, population=[3, nan], think_time=[2.0, nan], arrival_rate=[nan, 0.6],
        service_time=1.0,
    )  # fmt: skip
    assert pool.wait_time[0] == pytest.approx(float(finite_source(3, 2.0, 1.0, 1).wait_time), rel=1e-9)
    assert pool.wait_time[1] == pytest.approx(float(mmc(0.6, 1.0, 1).wait_time), rel=1e-9)


def test_many_aliases_leave_no_queue():
    pool = alias_pool(100, volumes=[40, 10], arrival_rate=[0.3, 0.9], service_time=1.0)
    assert np.all(pool.queue_length < 1e-9)
    base_alone = np.array([0.3, 0.9])
    np.testing.assert_allclose(pool.base_throughput, base_alone / (1.0 + base_alone), rtol=1e-6)
    np.testing.assert_allclose(100 - pool.free_aliases, 40 * 0.09 / 1.3 + 10 * 0.81 / 1.9, rtol=1e-6)


@pytest.mark.first(1)
@pytest.mark.parametrize("volumes", [1, 3, 14])
@pytest.mark.parametrize("load", [0.4, 2.4, 5.8])
@pytest.mark.parametrize(("slowed", "near"), [(0.3, 3e-5), (0.55, 3e-5), (0.75, 3e-5), (0.85, 1e-4)])
def test_open_volumes_that_nearly_saturate_by_inflation_follow_the_negative_binomial_law(
    volumes: int, load: float, slowed: float, near: float
):
    """With aliases for all, I/Os of a volume die at n / (1 + inflation (n - 1)): their mean is load / (1 - slowed)."""
    mean, deviation = load / (1.0 - slowed), np.sqrt(load) / (1.0 - slowed)
    aliases = int(volumes * mean + 9.0 * deviation * np.sqrt(volumes)) + 30
    pool = alias_pool(aliases, volumes=volumes, arrival_rate=load, service_time=1.0, inflation=slowed / load)
    assert float(pool.service_time[0]) == pytest.approx(1.0 / (1.0 - slowed), rel=near)
    assert float(pool.queue_length[0]) < 1e-3 * mean


def test_open_pools_with_ample_aliases_follow_the_law_wherever_they_begin():
    """Aliases for all but 1e-9 of the I/Os, drawn: service time 1 / (1 - slowed), busy aliases by both countings."""
    random = np.random.default_rng(11)
    load, slowed, volumes = (
        10 ** random.uniform(-0.7, 0.8, 120),
        random.uniform(0.0, 0.88, 120),
        np.arange(120) % 20 + 1,
    )
    mean, deviation = load / (1.0 - slowed), np.sqrt(load) / (1.0 - slowed)
    aliases = np.ceil(volumes * mean + 7.0 * deviation * np.sqrt(volumes) + 25.0 / (1.0 - slowed)) + 5
    pool = alias_pool(
        aliases, volumes=volumes[:, None], arrival_rate=load[:, None], service_time=1.0, inflation=slowed / load,
        redrive_time=0.1,
    )  # fmt: skip
    assert pool.method == "exact"
    np.testing.assert_allclose(pool.service_time[:, 0], 1.0 / (1.0 - slowed), rtol=1e-9)
    np.testing.assert_allclose(
        aliases - pool.free_aliases, volumes * (mean - pool.base_in_service[:, 0]), rtol=1e-6
    )
    assert not pool.queue_length.any()


def test_a_large_population_that_thinks_long_is_open():
    arguments = {"volumes": [6, 20], "service_time": 1.0, "method": "mean-field"}
    rates = np.array([0.9, 0.3])
    opened = alias_pool(5, arrival_rate=rates, **arguments)
    closed = [alias_pool(5, population=[n, n], think_time=n / rates, **arguments) for n in (60, 120)]
    pool_wait = [float(each.pool_queue_length / each.pool_throughput) for each in (*closed, opened)]
    assert 2.0 * pool_wait[1] - pool_wait[0] == pytest.approx(pool_wait[2], rel=0.02)
    # The open field alone knows how the volumes of a small pool depend on each other: a class differs by more.
    limit = 2.0 * closed[1].wait_time - closed[0].wait_time
    np.testing.assert_allclose(limit, opened.wait_time, rtol=0.03)


def test_mixed_classes_of_one_kind_do_not_depend_on_their_order():
    nan = float("nan")
    classes = np.array([[4.0, 3.0, 2.0, nan], [6.0, nan, nan, 0.7], [3.0, nan, nan, 1.1]])
    names = ("volumes", "population", "think_time", "arrival_rate")
    one = alias_pool(5, service_time=1.0, **dict(zip(names, classes.T, strict=True)))
    other = alias_pool(5, service_time=1.0, **dict(zip(names, classes[::-1].T, strict=True)))
    np.testing.assert_allclose(other.wait_time[::-1], one.wait_time, rtol=1e-6)


@pytest.mark.long
@given(
    rates=st.lists(st.floats(0.05, 1.3), min_size=1, max_size=3),
    volumes=st.integers(2, 12),
    aliases=st.integers(0, 30),
)
@example(
    rates=[1.0, 1.25, 1.25], volumes=2, aliases=2
)  # odds that are corrected too boldly swing without end
@example(rates=[1.0625, 1.0625, 0.5], volumes=4, aliases=1)  # odds that creep
def test_open_pool_is_unstable_just_where_its_aliases_run_out(rates, volumes, aliases):
    need = volumes * sum(max(rate - 1.0, 0.0) for rate in rates)
    assume(abs(need - aliases) > 0.3 * aliases)  # nearly unstable pools take their time
    pool = alias_pool(aliases, volumes=[volumes] * len(rates), arrival_rate=rates, service_time=1.0)
    overloaded = np.array(rates) >= 1.0
    assert bool(pool.stable) is (need < aliases or not overloaded.any())
    np.testing.assert_array_equal(np.isinf(pool.wait_time), overloaded & ~pool.stable)
    if overloaded.any():
        assert pool.aliases_to_be_stable == np.floor(need) + 1


def test_saturated_pool_serves_what_its_devices_can():
    pool = alias_pool([0, 2, 3], volumes=[4, 10], arrival_rate=[0.75, 0.25], service_time=2.0)
    np.testing.assert_array_equal(pool.stable, [False, False, True])
    assert pool.aliases_to_be_stable == 3
    np.testing.assert_allclose(pool.pool_throughput[:2], [(4 + 0) / 2.0 + 2.5, (4 + 2) / 2.0 + 2.5])
    assert np.all(np.isinf(pool.wait_time[:2, 0]))
    np.testing.assert_allclose(pool.wait_time[:2, 1], float(mmc(0.25, 2.0, 1).wait_time), rtol=1e-9)
    assert np.all(pool.free_aliases[:2] == 0.0)
    assert np.all(np.isfinite(pool.wait_time[2]))


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.2])
def test_saturated_volume_against_its_chain(gap: float):
    """All devices of a lone volume always have work; a closed volume with many requesters says how much they do."""
    arguments = {"service_time": 1.0, "inflation": 0.16, "redrive_time": gap}
    for aliases in (1, 3, 8):
        most = alias_pool(aliases, volumes=1, population=60, think_time=0.01, **arguments).pool_throughput
        over = alias_pool(aliases, volumes=1, arrival_rate=1.05 * float(most), **arguments)
        assert not over.stable and over.aliases_to_be_stable > aliases
        np.testing.assert_allclose(over.pool_throughput, most, rtol=1e-6)
        below = alias_pool(aliases, volumes=1, arrival_rate=0.9 * float(most), **arguments)
        assert below.stable and below.aliases_to_be_stable <= aliases


def test_inflation_that_no_alias_can_serve():
    pool = alias_pool(50, volumes=2, arrival_rate=4.5, service_time=1.0, inflation=0.25)
    assert not pool.stable
    assert np.isinf(pool.aliases_to_be_stable)


def test_nothing_arrives():
    pool = alias_pool(3, volumes=[2, 4], arrival_rate=[0.0, 0.0], service_time=1.0)
    assert pool.pool_throughput == 0.0
    assert pool.fail_fraction == 0.0
    assert pool.free_aliases == 3.0


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"arrival_rate": -1.0}, "arrival_rate"),
        ({"arrival_rate": float("inf")}, "arrival_rate"),
        ({"population": 3}, "arrival_rate"),
        ({"think_time": 3.0}, "think_time"),
        ({"method": "exact", "volumes": 5}, "method"),
        ({"volumes": [3, 3], "arrival_rate": [1.0, 1.0, 1.0]}, "arrival_rate"),
    ],
)
def test_bad_open_input_is_named(change, argument):
    arguments = {"volumes": 4, "arrival_rate": 0.5, "service_time": 1.0, **change}
    with pytest.raises(InputError) as caught:
        alias_pool(2, **arguments)
    assert caught.value.argument == argument
