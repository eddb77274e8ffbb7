"""Fewest servers and largest load: the answer meets its target and one step further does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import InfeasibleError, InputError
from planner.queueing import max_load, mgc, min_servers, mmc
from planner.results import Array
from tests.brief import examples


def random_scenarios(count: int, seed: int, largest: float = 60) -> tuple[Array, Array, Array]:
    """Arrival rate, service time, and a target in units of the service time."""
    generator = np.random.default_rng(seed)
    service = 10 ** generator.uniform(-4, 1, count)
    return generator.uniform(0.01, largest, count) / service, service, 10 ** generator.uniform(-4, 1, count)


def check_wait(rate: Array, service: Array, target: Array) -> None:
    servers = min_servers(rate, service, wait_time=target)
    assert (mmc(rate, service, servers).wait_time <= target).all()
    several = servers > 1
    fewer = mmc(rate[several], service[several], servers[several] - 1)
    assert (fewer.wait_time > target[several]).all()


def test_wait_targets() -> None:
    rate, service, share = random_scenarios(100_000, 1)
    check_wait(rate, service, share * service)


@pytest.mark.slow
def test_a_million_wait_targets() -> None:
    rate, service, share = random_scenarios(1_000_000, 2)
    check_wait(rate, service, share * service)


def test_wait_targets_of_large_groups() -> None:
    rate, service, share = random_scenarios(2000, 3, largest=50_000)
    check_wait(rate, service, share * service * 0.01)


def test_delay_targets() -> None:
    rate, service, _ = random_scenarios(100_000, 4)
    target = 10 ** np.random.default_rng(4).uniform(-9, -0.01, rate.size)
    servers = min_servers(rate, service, delay_probability=target)
    assert (mmc(rate, service, servers).delay_probability <= target).all()
    several = servers > 1
    assert (mmc(rate, service, np.maximum(servers - 1, 1)).delay_probability > target)[several].all()


def test_quantile_targets() -> None:
    generator = np.random.default_rng(5)
    rate, service, _ = random_scenarios(5000, 5)
    p = generator.uniform(0.01, 0.9999, rate.size)
    seconds = -np.log1p(-p) * service * (1 + 10 ** generator.uniform(-3, 1, rate.size))
    servers = min_servers(rate, service, response_quantile=(p, seconds))
    assert (mmc(rate, service, servers).response_quantile(p) <= seconds * (1 + 1e-12)).all()
    several = servers > 1
    assert (mmc(rate, service, np.maximum(servers - 1, 1)).response_quantile(p) > seconds)[several].all()


@pytest.mark.parametrize("name", ["wait_time", "delay_probability"])
def test_a_target_that_is_met_exactly_is_met(name: str) -> None:
    """Ties: the target is what the model itself gives for that many servers."""
    rate, service, _ = random_scenarios(50_000, 6)
    servers = np.floor(rate * service) + np.random.default_rng(6).integers(1, 20, rate.size)
    target = getattr(mmc(rate, service, servers), name)
    normal = target > 1e-290
    found = min_servers(rate[normal], service[normal], **{name: target[normal]})
    assert np.array_equal(found, servers[normal])


def test_several_targets_take_the_most_servers() -> None:
    alone = [
        min_servers(20.0, 1.0, wait_time=0.05),
        min_servers(20.0, 1.0, delay_probability=0.01),
        min_servers(20.0, 1.0, response_quantile=(0.9, 2.31)),
    ]
    together = min_servers(20.0, 1.0, wait_time=0.05, delay_probability=0.01, response_quantile=(0.9, 2.31))
    assert len({int(servers) for servers in alone}) > 1
    assert together == max(alone)
    loads = [max_load(1.0, 20, wait_time=0.05), max_load(1.0, 20, delay_probability=0.01)]
    assert max_load(1.0, 20, wait_time=0.05, delay_probability=0.01) == min(loads)


@pytest.mark.long
@given(load=st.floats(0.1, 30), share=st.floats(1e-3, 5), scv=st.floats(0, 6))
@examples(60)
def test_variable_service_by_the_automatic_law(load: float, share: float, scv: float) -> None:
    servers = min_servers(load, 1.0, scv=scv, wait_time=share)
    assert mgc(load, 1.0, servers, scv).wait_time <= share
    if servers > 1:
        assert mgc(load, 1.0, servers - 1, scv).wait_time > share


@pytest.mark.long
@given(servers=st.integers(1, 200), share=st.floats(1e-4, 10), service=st.floats(1e-4, 10))
@examples(60)
def test_largest_load_meets_its_target_and_a_little_more_does_not(
    servers: int, share: float, service: float
) -> None:
    rate = max_load(service, servers, wait_time=share * service)
    assert mmc(rate, service, servers).wait_time <= share * service
    assert mmc(rate * (1 + 1e-12), service, servers).wait_time > share * service
    assert min_servers(rate, service, wait_time=share * service) == servers


@pytest.mark.long
@given(servers=st.integers(1, 20), scv=st.floats(0, 4), share=st.floats(1e-3, 5))
@examples(30)
def test_largest_load_with_variable_service(servers: int, scv: float, share: float) -> None:
    rate = max_load(1.0, servers, scv=scv, wait_time=share)
    assert mgc(rate, 1.0, servers, scv).wait_time <= share
    assert mgc(rate * (1 + 1e-8), 1.0, servers, scv).wait_time > share


@pytest.mark.parametrize("target", [{"delay_probability": 0.2}, {"response_quantile": (0.95, 3.5)}])
def test_largest_load_for_the_other_targets(target: dict[str, object]) -> None:
    rate = max_load(1.0, [1, 5, 50], **target)  # type: ignore[arg-type]
    assert np.array_equal(min_servers(rate, 1.0, **target), [1, 5, 50])  # type: ignore[arg-type]
    assert np.array_equal(min_servers(rate * (1 + 1e-9), 1.0, **target), [2, 6, 51])  # type: ignore[arg-type]


@given(load=st.floats(0.1, 90), share=st.floats(1e-4, 10))
def test_more_load_or_a_stricter_target_never_needs_fewer(load: float, share: float) -> None:
    here = min_servers(load, 1.0, wait_time=share)
    assert min_servers(load * 1.01, 1.0, wait_time=share) >= here
    assert min_servers(load, 1.0, wait_time=share * 0.9) >= here


def test_shapes_and_types() -> None:
    servers = min_servers([[1.0], [20.0]], 1.0, wait_time=[0.1, 1.0, 10.0])
    assert servers.shape == (2, 3)
    assert servers.dtype == np.int64
    assert min_servers(0.0, 1.0, wait_time=1e-6) == 1
    with np.errstate(all="raise"):
        for target in ({"wait_time": 1e-6}, {"delay_probability": 0.1}, {"response_quantile": (0.5, 2.0)}):
            assert min_servers(1e-310, 1.0, **target) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "a target"),
        ({"wait_time": 0.0}, "wait_time = 0.0 s"),
        ({"wait_time": np.nan}, "wait_time = nan s"),
        ({"delay_probability": 1.0}, "delay_probability = 1.0"),
        ({"response_quantile": (1.5, 1.0)}, r"response_quantile\[0\] = 1.5"),
        ({"response_quantile": (0.9, -1.0)}, r"response_quantile\[1\] = -1.0 s"),
        ({"response_quantile": 0.9}, "a pair"),
        ({"response_quantile": (0.9, 9.0), "scv": 2.0}, "scv = 2.0"),
        ({"wait_time": 1.0, "scv": -1.0}, "scv = -1.0"),
        ({"wait_time": [1.0, 2.0], "scv": [1.0, 1.0, 1.0]}, "shapes"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        min_servers(1.0, 1.0, **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=told):
        max_load(1.0, 3, **arguments)  # type: ignore[arg-type]


def test_a_quantile_shorter_than_service_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="service takes 2"):
        min_servers(1.0, 1.0, response_quantile=(0.9, 2.3))
    with pytest.raises(InfeasibleError, match="service takes 2"):
        min_servers(1.0, 1.0, response_quantile=(0.9, [5.0, 2.3]))  # one of several is enough
    with pytest.raises(InfeasibleError, match="service takes 2"):
        max_load(1.0, 3, response_quantile=(0.9, 2.3))
