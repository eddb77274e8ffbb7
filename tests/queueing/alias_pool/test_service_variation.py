"""Closed and mixed pools whose service is not exponential: exact ends, identities, simulation of small pools."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.queueing import finite_source, mgc
from planner.queueing.pools import alias_pool
from planner.queueing.pools.exact import phased_chain
from planner.queueing.pools.exact.closed_chain import solve_lumped
from planner.queueing.pools.exact.phased_chain import solve_phased
from planner.queueing.pools.outcome import PER_CLASS
from planner.queueing.pools.pool import check_pool
from tests.queueing.alias_pool.simulation import simulate

NAN = float("nan")
SCV = [0.25, 0.4, 2.0, 4.0]


@pytest.mark.parametrize("gap", [0.0, 0.1])
@pytest.mark.parametrize("scv", SCV)
def test_without_aliases_every_volume_is_alone(scv, gap):
    pool = alias_pool(
        0, volumes=[5, 60, 3], population=[4, 2, 1], think_time=[2.0, 1.0, 3.0], service_time=1.0, scv=scv,
        redrive_time=gap,
    )  # fmt: skip
    alone = finite_source([4, 2, 1], [2.0, 1.0, 3.0], 1.0, 1, scv=scv, redrive_time=gap)
    np.testing.assert_allclose(pool.throughput, alone.throughput, rtol=1e-12)
    np.testing.assert_allclose(pool.wait_time, alone.wait_time, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pool.in_gap, alone.in_gap, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("gap", "alias_gap"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (0.1, 0.1)])
@pytest.mark.parametrize("scv", [0.3, 2.0])
def test_the_states_of_a_volume_are_as_many_as_its_chain_has(scv, gap, alias_gap):
    """Counted beforehand, to choose the method, and by enumeration; with gaps some cannot be reached."""
    for population in (1, 2, 5):
        pool = check_pool(
            volumes=[1], population=[population], think_time=[2.0], arrival_rate=None, service_time=1.0, scv=scv,
            inflation=0.0, redrive_time=gap, alias_redrive_time=alias_gap,
        )  # fmt: skip
        for aliases in range(population):
            chain = phased_chain._chain(pool, [phased_chain._Class.of(pool, 0)], aliases)
            counted = phased_chain.phased_states(pool, 0, aliases)
            assert counted >= chain.size if gap or alias_gap else counted == chain.size


@pytest.mark.parametrize("scv", SCV)
def test_without_aliases_open_and_closed_volumes_are_alone(scv):
    pool = alias_pool(
        0, volumes=[5, 2], population=[4, NAN], think_time=[2.0, NAN], arrival_rate=[NAN, 0.7], service_time=1.0,
        scv=scv,
    )  # fmt: skip
    assert pool.wait_time[0] == pytest.approx(
        float(finite_source(4, 2.0, 1.0, 1, scv=scv).wait_time), rel=1e-12
    )
    assert pool.wait_time[1] == pytest.approx(float(mgc(0.7, 1.0, 1, scv).wait_time), rel=1e-12)


@pytest.mark.parametrize("law", [{}, {"inflation": 0.2}, {"inflation": 0.1, "redrive_time": 0.05}])
@pytest.mark.parametrize("scv", SCV)
def test_one_volume_equals_finite_source(scv, law):
    pool = alias_pool([1, 2, 4], volumes=1, population=6, think_time=0.8, service_time=1.0, scv=scv, **law)
    alone = finite_source(6, 0.8, 1.0, [2, 3, 5], scv=scv, **law)
    np.testing.assert_allclose(pool.throughput[:, 0], alone.throughput, rtol=1e-10)
    np.testing.assert_allclose(pool.wait_time[:, 0], alone.wait_time, rtol=1e-10)
    np.testing.assert_allclose(pool.service_time[:, 0], alone.service_time, rtol=1e-10)
    np.testing.assert_allclose(pool.in_gap[:, 0], alone.in_gap, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(
        (pool.fails_rate / pool.throughput)[:, 0], alone.delay_probability, rtol=1e-10, atol=1e-14
    )


def test_the_chain_in_phases_meets_the_exponential_one():
    law = {"volumes": 1, "population": 5, "think_time": 1.0, "service_time": 1.0, "redrive_time": 0.1}
    nearly = alias_pool([0, 1, 3, 4], scv=1.0 + 1e-9, **law)
    exact = alias_pool([0, 1, 3, 4], method="exact", **law)
    for name in ("tries_rate", "fails_rate", "base_in_service", "alias_in_service", "free_alias_law"):
        np.testing.assert_allclose(getattr(nearly, name), getattr(exact, name), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("scv", [0.25, 4.0])
def test_nearly_exponential_pools_are_exponential_ones(scv):
    law = {"volumes": [4, 6], "population": [4, NAN], "think_time": [2.0, NAN], "arrival_rate": [NAN, 0.8]}
    one = alias_pool(4, service_time=1.0, **law)
    near = alias_pool(4, service_time=1.0, scv=1.0 + 1e-4 * (scv - 1.0), **law)
    np.testing.assert_allclose(near.wait_time, one.wait_time, rtol=1e-3)
    far = alias_pool(4, service_time=1.0, scv=scv, **law)
    assert np.all((far.wait_time > one.wait_time) == (scv > 1.0))


@settings(max_examples=30)
@given(
    volumes=st.integers(2, 30),
    population=st.integers(2, 12),
    think_time=st.floats(0.2, 10.0),
    share=st.floats(0.0, 1.2),
    scv=st.sampled_from([0.0, 0.1, 0.25, 2.0, 4.0, 10.0]),
)
def test_identities_of_closed_pools(volumes, population, think_time, share, scv):
    aliases = int(min(share * volumes * (population - 1), 256 - volumes))
    pool = alias_pool(
        aliases, volumes=volumes, population=population, think_time=think_time, service_time=1.0, scv=scv
    )
    np.testing.assert_allclose(pool.throughput * (think_time + pool.response_time), population, rtol=5e-3)
    np.testing.assert_allclose(pool.wait_time * pool.throughput, pool.queue_length, rtol=1e-12)
    np.testing.assert_allclose(pool.service_time, 1.0, rtol=5e-3)
    np.testing.assert_allclose(pool.free_alias_law.sum(), 1.0, rtol=1e-9)
    assert np.all(pool.fails_rate <= pool.tries_rate * (1.0 + 1e-9))
    assert np.all(pool.tries_rate <= pool.throughput * (1.0 + 1e-9))


@pytest.mark.slow
@pytest.mark.parametrize("scv", [0.25, 4.0])
def test_small_pools_against_simulation(scv):
    """From two volumes on, where one alias that lasts long holds up the whole pool."""
    pytest.importorskip("numba")
    rng = np.random.default_rng([13, int(10 * scv)])
    beyond = 0
    for seed in range(20):
        volumes, population = int(rng.integers(2, 7)), int(rng.integers(2, 8))
        think = float(np.exp(rng.uniform(np.log(0.3), np.log(8.0))))
        need = volumes * (population / (1.0 + think) - 1.0 + (think / (1.0 + think)) ** population)
        law = {
            "volumes": volumes,
            "population": population,
            "think_time": think,
            "service_time": 1.0,
            "scv": scv,
        }
        aliases = max(1, round(need * rng.uniform(0.25, 1.3)))
        pool, run = alias_pool(aliases, **law), simulate(aliases, completions=1_000_000, seed=seed, **law)
        assert abs(pool.throughput[0] / run.throughput[0][0] - 1.0) <= 0.01
        off = abs(pool.wait_time[0] - run.wait_time[0][0]) - 2.0 * run.wait_time[1][0]
        beyond += off > max(0.1 * run.wait_time[0][0], 0.02)
        assert off <= max(0.15 * run.wait_time[0][0], 0.02)
        missed = abs(pool.fails_rate[0] - run.fails_rate[0][0])
        assert missed <= max(0.08 * run.fails_rate[0][0], 0.01)
    assert beyond <= 2


def test_chain_in_phases_is_the_lumped_chain_for_exponential_service():
    pool = check_pool(
        volumes=[2, 1], population=[2, 3], think_time=[1.0, 2.0], service_time=[0.4, 3.0], arrival_rate=None, scv=1.0,
        inflation=0.2, redrive_time=0.05, alias_redrive_time=0.1,
    )  # fmt: skip
    phased, lumped = solve_phased(pool, 2), solve_lumped(pool, 2)
    for name in (*PER_CLASS, "free_law", "tries_by_free"):
        np.testing.assert_allclose(
            getattr(phased, name), getattr(lumped, name), rtol=1e-9, atol=1e-13, err_msg=name
        )


@pytest.mark.parametrize(("scv", "limit"), [(0.5, 0.05), (4.0, 0.13)])
def test_mean_field_against_the_chain_in_phases(scv, limit):
    law = {"volumes": [2, 1], "population": [3, 3], "think_time": [1.0, 2.0], "service_time": 1.0, "scv": scv}
    exact, field = (alias_pool(2, method=method, **law) for method in ("exact", "mean-field"))
    assert exact.method == "exact"
    np.testing.assert_allclose(exact.throughput * (law["think_time"] + exact.response_time), 3.0, rtol=1e-9)
    np.testing.assert_allclose(exact.service_time, 1.0, rtol=1e-9)
    np.testing.assert_allclose(field.wait_time, exact.wait_time, rtol=limit)
    np.testing.assert_allclose(field.throughput, exact.throughput, rtol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("scv", [0.5, 4.0])
def test_simulation_against_the_chain_in_phases(scv):
    pytest.importorskip("numba")
    law = {
        "volumes": [2, 1],
        "population": [3, 3],
        "think_time": [1.0, 2.0],
        "service_time": [0.5, 2.0],
        "scv": scv,
    }
    exact, run = alias_pool(2, method="exact", **law), simulate(2, completions=2_000_000, **law)
    for name in ("throughput", "wait_time", "tries_rate", "fails_rate", "free_aliases"):
        mean, error = getattr(run, name)
        assert np.all(np.abs(mean - getattr(exact, name)) <= 4.0 * error), name
