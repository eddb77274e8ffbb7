"""Closed pools: known limits, exact chains, the published pool, and the mean field against the exact chains."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import ConvergenceError, InputError
from planner.queueing import finite_source
from planner.queueing.pools import alias_pool, methods
from planner.queueing.pools.lumped import solve_lumped
from planner.queueing.pools.pool import check_pools
from tests.queueing.alias_pool.open_chain import exact_pool
from tests.queueing.alias_pool.simulation import simulate

PUBLISHED = {
    "population": 3, "think_time": 0.153e-3, "service_time": 1.288e-3, "inflation": 0.160, "redrive_time": 0.059e-3,
}  # fmt: skip


def test_one_volume_equals_finite_source():
    arguments = {"inflation": 0.16, "redrive_time": 0.06e-3}
    pool = alias_pool(
        [0, 1, 2, 3, 7], volumes=1, population=8, think_time=1e-3, service_time=1.3e-3, **arguments
    )
    alone = finite_source(8, 1e-3, 1.3e-3, [1, 2, 3, 4, 8], **arguments)
    np.testing.assert_allclose(pool.throughput[:, 0], alone.throughput, rtol=1e-9)
    np.testing.assert_allclose(pool.wait_time[:, 0], alone.wait_time, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(pool.service_time[:, 0], alone.service_time, rtol=1e-9)
    np.testing.assert_allclose(pool.in_gap[:, 0], alone.in_gap, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("method", ["exact", "mean-field"])
def test_without_aliases_every_volume_is_alone(method):
    pool = alias_pool(
        0, volumes=[5, 60], population=[4, 2], think_time=[2e-3, 1e-3], service_time=1e-3, redrive_time=5e-5,
        method=method,
    )  # fmt: skip
    alone = finite_source([4, 2], [2e-3, 1e-3], 1e-3, 1, redrive_time=5e-5)
    np.testing.assert_allclose(pool.throughput, alone.throughput, rtol=1e-10)
    np.testing.assert_allclose(pool.wait_time, alone.wait_time, rtol=1e-10)
    assert pool.fail_fraction == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["exact", "mean-field"])
def test_an_alias_for_every_requester_but_the_first_leaves_no_queue(method):
    enough = 5 * 3 + 6 * 1
    pool = alias_pool(
        [enough, enough + 40], volumes=[5, 6], population=[4, 2], think_time=[2e-3, 1e-3], service_time=1e-3,
        method=method,
    )  # fmt: skip
    assert np.all(pool.queue_length == 0.0)
    assert np.all(pool.fails_rate == 0.0)
    np.testing.assert_allclose(pool.throughput, [[4 / 3e-3, 2 / 2e-3]] * 2, rtol=1e-10)
    np.testing.assert_allclose(np.diff(pool.free_aliases), 40.0, rtol=1e-10)


@pytest.mark.parametrize(("aliases", "published"), [(0, 755.0), (2, 1619.0)], ids=["no alias", "two aliases"])
def test_published_volume_within_three_percent(aliases, published):
    pool = alias_pool(aliases, volumes=1, **PUBLISHED)
    assert pool.pool_throughput == pytest.approx(published, rel=0.03)


def test_published_pool():
    pool = alias_pool([0, 8, 16], volumes=8, **PUBLISHED)
    np.testing.assert_allclose(pool.pool_throughput, [5889.0, 9979.0, 13395.0], rtol=0.04)
    queued = pool.pool_queue_length - pool.in_gap @ pool.volumes
    np.testing.assert_allclose(queued, [14.4, 7.39, 0.05], rtol=0.15, atol=0.1)


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("volumes", "population", "think_time"),
    [(4, 3, 0.2), ([1, 3], [4, 2], [1.0, 4.0]), (8, 3, 0.12), (3, 6, 4.0), ([2, 2], [3, 4], [1.0, 4.0])],
)
def test_mean_field_meets_the_exact_chain(volumes, population, think_time):
    counts = np.arange(1, 7)
    arguments = {
        "volumes": volumes,
        "population": population,
        "think_time": think_time,
        "service_time": 1.0,
    }
    exact = alias_pool(counts, **arguments, method="exact")
    mean_field = alias_pool(counts, **arguments, method="mean-field")
    np.testing.assert_allclose(mean_field.throughput, exact.throughput, rtol=5e-3)
    np.testing.assert_allclose(mean_field.wait_time, exact.wait_time, rtol=0.04, atol=0.01)
    np.testing.assert_allclose(mean_field.tries_rate, exact.tries_rate, rtol=0.03, atol=0.01)
    np.testing.assert_allclose(mean_field.fails_rate, exact.fails_rate, rtol=0.03, atol=0.01)
    np.testing.assert_allclose(mean_field.free_aliases, exact.free_aliases, rtol=0.03, atol=0.01)


@given(
    volumes=st.integers(1, 3),
    population=st.integers(1, 4),
    think_time=st.floats(0.1, 20.0),
    aliases=st.integers(0, 5),
    inflation=st.sampled_from([0.0, 0.2]),
    gap=st.sampled_from([0.0, 0.05]),
)
def test_exact_balances(volumes, population, think_time, aliases, inflation, gap):
    pool = alias_pool(
        aliases, volumes=volumes, population=population, think_time=think_time, service_time=1.0,
        inflation=inflation, redrive_time=gap, method="exact",
    )  # fmt: skip
    in_system = pool.queue_length + pool.base_in_service + pool.alias_in_service
    np.testing.assert_allclose(pool.throughput * think_time, population - in_system, rtol=1e-9)
    held = volumes * (pool.alias_in_service + pool.in_gap)[0]
    assert held >= aliases - pool.free_aliases - 1e-9
    np.testing.assert_allclose(pool.free_alias_distribution.sum(), 1.0, rtol=1e-12)
    assert np.all(pool.fails_rate <= pool.tries_rate + 1e-12)


@pytest.mark.long
@given(
    volumes=st.integers(2, 40),
    population=st.integers(2, 6),
    think_time=st.floats(0.2, 10.0),
    inflation=st.sampled_from([0.0, 0.2]),
    gap=st.sampled_from([0.0, 0.05]),
)
def test_mean_field_rises_with_aliases(volumes, population, think_time, inflation, gap):
    counts = np.unique(np.linspace(0, min(volumes * (population - 1), 256 - volumes), 6).astype(int))
    pool = alias_pool(
        counts, volumes=volumes, population=population, think_time=think_time, service_time=1.0,
        inflation=inflation, redrive_time=gap, method="mean-field",
    )  # fmt: skip
    slack = 2e-3 * pool.pool_throughput[1:]
    assert np.all(np.diff(pool.pool_throughput) >= -slack)
    assert np.all(np.diff(pool.wait_time[:, 0]) <= 2e-3)


def test_more_volumes_than_a_control_unit_has_addresses():
    pool = alias_pool(128, volumes=[256], population=3, think_time=4.0, service_time=1.0)
    half = alias_pool(64, volumes=[128], population=3, think_time=4.0, service_time=1.0)
    assert pool.throughput == pytest.approx(half.throughput, rel=2e-3)
    assert pool.wait_time < half.wait_time  # a larger pool pools better


def test_equal_classes_are_one():
    arguments = {"service_time": 1.0, "method": "mean-field"}
    one = alias_pool(3, volumes=6, population=4, think_time=2.0, **arguments)
    two = alias_pool(3, volumes=[2, 4], population=[4, 4], think_time=[2.0, 2.0], **arguments)
    np.testing.assert_allclose(two.throughput, one.throughput[[0, 0]], rtol=1e-7)
    np.testing.assert_allclose(two.wait_time, one.wait_time[[0, 0]], rtol=1e-6)


def test_time_scale_and_scalar_shape():
    arguments = {"volumes": [3, 5], "population": [3, 2]}
    seconds = alias_pool([2, 4], think_time=[2.0, 3.0], service_time=1.0, redrive_time=0.03, **arguments)
    millis = alias_pool(4, think_time=[2e-3, 3e-3], service_time=1e-3, redrive_time=3e-5, **arguments)
    assert millis.throughput.shape == (2,)
    assert millis.free_aliases.shape == ()
    np.testing.assert_allclose(millis.throughput, seconds.throughput[1] * 1e3, rtol=1e-8)
    np.testing.assert_allclose(millis.wait_time, seconds.wait_time[1] / 1e3, rtol=1e-6)
    assert len(seconds.to_frame()) == 4


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"aliases": -1}, "aliases"),
        ({"aliases": 1.5}, "aliases"),
        ({"aliases": 4093}, "aliases"),
        ({"volumes": 0}, "volumes"),
        ({"volumes": [2, 2]}, "population"),
        ({"population": 0}, "population"),
        ({"population": None}, "arrival_rate"),
        ({"arrival_rate": 5.0}, "arrival_rate"),
        ({"think_time": 0.0}, "think_time"),
        ({"think_time": None}, "think_time"),
        ({"service_time": float("nan")}, "service_time"),
        ({"service_time": [1.0, 2.0]}, "service_time"),
        ({"inflation": -0.1}, "inflation"),
        ({"redrive_time": float("inf")}, "redrive_time"),
        ({"method": "guess"}, "method"),
        pytest.param({"volumes": 9, "population": 9, "method": "exact"}, "method", marks=pytest.mark.long),
    ],
)
def test_bad_input_is_named(change, argument):
    good = {"aliases": 2, "volumes": 4, "population": 3, "think_time": 1.0, "service_time": 1.0}
    arguments = {**good, **change}
    with pytest.raises(InputError) as caught:
        alias_pool(arguments.pop("aliases"), **arguments)
    assert caught.value.argument == argument


def test_whoever_fails_is_picked_up_once_so_that_service_is_what_it_is_alone():
    """Without inflation no I/O is served for longer; where classes lacked pickups it was up to 9 % off here."""
    service = np.array([1.57, 0.5, 1.1])
    found = alias_pool(
        [2, 4, 8], volumes=[2, 1, 3], population=[4, 3, np.nan], think_time=[0.3, 0.8, np.nan],
        arrival_rate=[np.nan, np.nan, 0.5], service_time=service,
    )  # fmt: skip
    np.testing.assert_allclose(found.alias_service_time, np.broadcast_to(service, (3, 3)), rtol=1e-9)
    np.testing.assert_allclose(found.base_throughput + found.alias_throughput, found.throughput, rtol=1e-9)
    assert (found.fails_rate[:2] > 0.2).all()


def test_requesters_of_a_volume_with_one_more_than_the_others():
    """They think, wait or are served; with 8 aliases 1.0 % of them were missing, and the pool had no answer."""
    people, think_time = np.array([3.0, 2.0]), np.full(2, 0.13724e-3)
    found = alias_pool(
        np.arange(9), volumes=[1, 7], population=people, think_time=think_time, service_time=1.26443e-3,
        inflation=0.1275, redrive_time=4.22e-5,
    )  # fmt: skip
    present = found.throughput * (think_time + found.response_time)
    np.testing.assert_allclose(present, np.broadcast_to(people, (9, 2)), rtol=2e-3)


def test_a_chain_of_too_many_states_is_refused():
    """They are made one by one, up to the limit."""
    pool = check_pools(
        volumes=9,
        population=9,
        think_time=1.0,
        arrival_rate=None,
        service_time=1.0,
        inflation=0.0,
        redrive_time=0.0,
    ).pool(0)
    with pytest.raises(InputError, match="at most 300 states") as caught:
        solve_lumped(pool, 2, most=300)
    assert caught.value.argument == "method"


@pytest.mark.long
def test_a_closed_pool_whose_field_is_out_of_balance_has_the_answer_of_its_chain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seven volumes whose requesters come back at once, one alias, and a volume that thinks."""
    monkeypatch.setattr(methods, "may_be_crowded", lambda elements: elements.aliases < 0.0)
    arguments = {"volumes": [1, 7], "population": [8, 5], "think_time": [2.0, 1e-3], "service_time": 1.0}
    found, exact = alias_pool([0, 1], **arguments), alias_pool(1, **arguments, method="exact")
    assert found.throughput[1] == pytest.approx(exact.throughput, rel=1e-12)
    assert found.wait_time[1] == pytest.approx(exact.wait_time, rel=1e-12)


@pytest.mark.long
def test_unequal_volumes_that_swing_have_an_answer_at_every_count() -> None:
    """Of these counts five had none, most of them where hardly anything waits any more."""
    found = alias_pool(
        np.arange(4, 22), volumes=np.ones(4), population=[43, 14, 10, 9], think_time=[7.1e-2, 7.7e-3, 2.5e-4, 1.3e-2],
        service_time=[1.49e-3, 4.2e-4, 4.1e-4, 5.1e-4], inflation=0.16, redrive_time=6e-5,
    )  # fmt: skip
    queue = found.queue_length.sum(axis=1)
    assert (np.diff(queue) < 0.0).all()
    assert (np.diff(found.throughput.sum(axis=1)) > 0.0).all()
    assert queue[0] > 1.0
    assert queue[-1] < 1e-3


@pytest.mark.long
def test_a_pool_that_is_too_large_is_said_to_be_before_its_arrays_are_made():
    think = [1e-3, 1e-3, 2e-3, 3e-3, 4e-3]
    tracemalloc.start()
    with pytest.raises(ConvergenceError):
        alias_pool(10, volumes=[1] * 5, population=[4000, 3, 3, 3, 3], think_time=think, service_time=1.3e-3)
    assert tracemalloc.get_traced_memory()[1] < 2**28
    tracemalloc.stop()


def _without_chains(monkeypatch):
    """Leave to nobody what the field does not settle."""

    def nothing(asked, which):
        return methods.Outcome.empty(asked.elements.of(which)), np.zeros(which.size, dtype=bool)

    monkeypatch.setattr(methods, "_at_last", nothing)


def test_a_volume_beside_one_whose_requesters_come_back_at_once(monkeypatch):
    """What the first has the second lacks, and fetches at once; as often as on average, there was no answer."""
    arguments = {"volumes": [1, 1], "population": [4, 8], "think_time": [3.0, 0.01], "service_time": 1.0}
    exact = alias_pool(7, method="exact", **arguments)
    _without_chains(monkeypatch)
    found = alias_pool(7, **arguments)
    assert found.method == "mean-field"
    np.testing.assert_allclose(found.throughput, exact.throughput, rtol=0.01)
    np.testing.assert_allclose(found.pool_queue_length, exact.pool_queue_length, rtol=0.06)
    np.testing.assert_allclose(found.queue_length, exact.queue_length, rtol=0.16)


@pytest.mark.parametrize(
    "arguments",
    [
        {"volumes": [1, 2], "population": [5, np.nan], "think_time": [0.03, np.nan], "arrival_rate": [np.nan, 0.8]},
        {"volumes": [1, 1, 1], "population": [5, 4, np.nan], "think_time": [0.03, 2.0, np.nan],
         "arrival_rate": [np.nan, np.nan, 0.8]},
    ],
)  # fmt: skip
def test_open_volumes_beside_one_whose_requesters_come_back_at_once(arguments, monkeypatch):
    """Neither had an answer of the field."""
    exact = exact_pool(5, service_time=1.0, **arguments)
    _without_chains(monkeypatch)
    found = alias_pool(5, service_time=1.0, **arguments)
    assert found.method == "mean-field"
    np.testing.assert_allclose(found.throughput, exact.throughput, rtol=0.006)
    np.testing.assert_allclose(found.wait_time, exact.wait_time, rtol=0.07)


HURRIED = {
    "volumes": np.ones(8), "population": [12, 11, 11, 11, 8, 6, 5, 3],
    "think_time": [7e-6, 1.65e-4, 4e-6, 1e-6, 2.09e-4, 1.181e-3, 8.36e-4, 3.76e-4],
    "service_time": [9.4e-4, 1.716e-3, 1.56e-3, 4.59e-4, 9.93e-4, 1.451e-3, 1.7e-3, 7.78e-4],
    "inflation": 0.176, "redrive_time": 6.33e-5,
}  # fmt: skip


@pytest.mark.long
def test_requesters_that_come_back_at_once_have_an_answer_at_every_count(monkeypatch):
    """Of 54 aliases, one for every requester but the first of each volume being 59, eight counts had none."""
    _without_chains(monkeypatch)
    found = alias_pool(np.arange(40, 60), **HURRIED)
    assert (np.diff(found.pool_queue_length) < 0.0).all()
    assert (np.diff(found.pool_throughput) > -5e-4 * found.pool_throughput[1:]).all()


@pytest.mark.long
def test_requesters_that_come_back_at_once_against_simulation():
    found, run = alias_pool(48, **HURRIED), simulate(48, completions=600_000, seed=1, **HURRIED)
    np.testing.assert_allclose(found.throughput, run.throughput[0], rtol=0.04)
    np.testing.assert_allclose(
        found.pool_queue_length / found.pool_throughput, run.pool_wait_time[0], rtol=0.03
    )
