"""Closed networks: product form by enumeration, identities, single stations, bounds, bad input."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import InputError
from planner.queueing import finite_source, mva, network
from tests import tolerances
from tests.brief import examples
from tests.queueing.lattice import by_enumeration


@pytest.mark.parametrize("servers", [[1, 1], [3, 1], [2, 4], [2, np.inf]])
def test_one_class_is_the_product_form_at_every_population(servers: list[float]) -> None:
    demands = np.array([[0.8, 0.3]])
    steady = mva(demands[0], 7, think_time=1.5, servers=servers)
    for n in range(1, 8):
        throughput, queue = by_enumeration((n,), demands, [1.5], servers)
        assert np.isclose(steady.throughput[n - 1], throughput[0], rtol=1e-12)
        assert np.allclose(steady.queue_length[n - 1], queue[0], rtol=1e-12)


@pytest.mark.parametrize("servers", [1, 2, 7, 64])
def test_one_station_is_the_closed_queue_for_the_whole_curve(servers: int) -> None:
    steady = mva([1.3], 300, think_time=20.0, servers=servers)
    closed = finite_source(np.arange(1, 301), 20.0, 1.3, servers)
    assert np.allclose(steady.throughput, closed.throughput, rtol=1e-11, atol=0)
    assert np.allclose(steady.queue_length[:, 0], closed.queue_length + closed.in_service, rtol=1e-11, atol=0)
    assert np.allclose(steady.utilization[:, 0], closed.utilization, rtol=1e-11, atol=0)


DEMANDS = st.lists(st.floats(1e-3, 10), min_size=1, max_size=4)


@given(demands=DEMANDS, population=st.integers(1, 30), think=st.floats(0, 50), servers=st.integers(1, 5))
@examples(50)
def test_identities_and_monotonicity(
    demands: list[float], population: int, think: float, servers: int
) -> None:
    counts = [servers, *[1] * (len(demands) - 1)]
    steady = mva(demands, population, think_time=think, servers=counts)
    n = np.arange(1, population + 1)
    assert np.allclose(steady.throughput * (think + steady.response_time), n, rtol=tolerances.IDENTITY)
    assert np.allclose(steady.queue_length.sum(-1) + steady.throughput * think, n, rtol=tolerances.IDENTITY)
    assert np.allclose(steady.queue_length, steady.throughput[:, None] * steady.residence_time)
    assert (np.diff(steady.throughput) >= -1e-12 * steady.throughput[-1]).all()
    assert (steady.utilization <= 1 + 1e-12).all()


def test_a_balanced_network_is_its_closed_form() -> None:
    """X(n) = n / (D (n + K - 1)) at K equal queues without think time."""
    n = np.arange(1, 13)
    assert np.allclose(mva([0.5, 0.5, 0.5], 12).throughput, n / (0.5 * (n + 2)), rtol=1e-12)


@given(demands=DEMANDS, population=st.integers(1, 60), think=st.floats(0, 50))
@examples(50)
def test_throughput_lies_between_the_balanced_job_bounds(
    demands: list[float], population: int, think: float
) -> None:
    """Zahorjan, Sevcik, Eager and Galler (1982); Lazowska et al. (1984), table 5.2."""
    found = mva(demands, population, think_time=think).throughput[-1]
    total, most, mean, fewer = sum(demands), max(demands), np.mean(demands), population - 1
    low = population / (think + total + fewer * most / (1 + think / (population * total)))
    high = population / (think + total + fewer * mean / (1 + think / total))
    assert low * (1 - 1e-11) <= found <= min(high, 1 / most) * (1 + 1e-11)


def test_scenarios_side_by_side_are_scenarios_alone() -> None:
    generator = np.random.default_rng(7)
    demands, think = generator.uniform(0.1, 2, (5, 4, 3)), generator.uniform(0, 5, (5, 1))
    together = mva(demands, 9, think_time=think, servers=[2, 1, 1])
    assert together.throughput.shape == (5, 4, 9)
    alone = mva(demands[3, 2], 9, think_time=think[3, 0], servers=[2, 1, 1])
    assert np.allclose(together.queue_length[3, 2], alone.queue_length, rtol=1e-13)


def test_a_saturated_multi_server_station_keeps_its_digits() -> None:
    """Where p(0) = 1 - sum would lose everything: 2,000 requesters at 32 servers that never idle."""
    steady = mva([1.0, 0.001], 2000, servers=[32, 1])
    assert np.isclose(steady.throughput[-1], 32.0, rtol=1e-12)
    assert np.isclose(steady.queue_length[-1].sum(), 2000, rtol=1e-12)


def test_the_table_has_a_row_for_each_population_and_station() -> None:
    columns = {column.name: list(column.values) for column in mva([0.2, 0.1], 3).table().columns}
    assert columns["station"] == [0, 1] * 3
    assert columns["population"] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (([0.1, -0.2], 3), "demands = -0.2 s"),
        (([0.1, np.nan], 3), "demands = nan s"),
        (([0.0, 0.0], 3), "demands = 0.0 s"),
        (([], 3), "demands"),
        (([0.1], 0), "population"),
        (([0.1], 2.5), "population = 2.5"),
        (([[0.1]], [[1]]), "population"),
        (([[0.1], [0.2]], [1, 2]), "closed_network"),
        ((0.1, 3), "demands"),
        (([0.1], 3, -1.0), "think_time = -1.0 s"),
        (([0.1, 0.2], 3, 0.0, [1, 2, 3]), "servers"),
        (([0.1, 0.2], 3, 0.0, [1, 0]), "servers = 0"),
        (([0.1, 0.2], 3, 0.0, [1, 1.5]), "servers = 1.5"),
        (([0.1, 0.2], 3, 0.0, "2"), "servers = '2'"),
        (([0.1, 0.2], 3, 0.0, [True, True]), "servers"),
        (([0.1] * 9, 3, 0.0, [2] * 9), "servers = 9"),
        (([0.1] * 60, 99_999), "at most 83332 requesters with 60 stations"),
        (([0.1], 10**7), "population = 10000000: expected at most 100000 requesters"),
        (([[0.1], [0.2]], 3, [1.0, 2.0, 3.0]), "shapes"),
    ],
)
def test_bad_input_is_named(arguments: tuple[object, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        mva(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("double", [0, 1, 3])
def test_each_multi_server_station_halves_how_many_requesters_are_answered(
    double: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_check_size", partial(network._check_size, requesters=40))
    servers, most = [1] * (4 - double) + [2] * double, 40 // 2**double
    assert mva([0.1] * 4, most, servers=servers).throughput.size == most
    with pytest.raises(InputError, match="population"):
        mva([0.1] * 4, most + 1, servers=servers)
