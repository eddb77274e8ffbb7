"""Closed networks: product form by enumeration, identities, single stations, bounds, bad input."""

from __future__ import annotations

from functools import partial
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import InputError
from planner.queueing import asymptotic_bounds, balanced_job_bounds, finite_source, mva, network
from tests import tolerances


def weights(population: tuple[int, ...], demands: np.ndarray, think: list[float], servers: list[float]):  # type: ignore[no-untyped-def, type-arg]
    """Product form (Baskett et al. 1975): every way to spread the requesters over the stations, with its weight."""
    classes, stations = demands.shape
    ways = [
        [spread for spread in product(range(n + 1), repeat=stations) if sum(spread) <= n] for n in population
    ]
    for spreads in product(*ways):
        at = np.array(spreads)
        weight = 1.0
        for k in range(stations):
            here = at[:, k].sum()
            weight *= factorial(here) / prod(min(j, servers[k]) for j in range(1, here + 1))
            weight *= prod(demands[r, k] ** at[r, k] / factorial(at[r, k]) for r in range(classes))
        for r in range(classes):
            thinking = population[r] - at[r].sum()
            weight *= think[r] ** thinking / factorial(thinking)
        yield at, weight


def by_enumeration(population, demands, think, servers):  # type: ignore[no-untyped-def]
    """Throughput by class and mean numbers by class and station."""
    total, queue = 0.0, 0.0
    for at, weight in weights(population, demands, think, servers):
        total, queue = total + weight, queue + weight * at
    fewer = [tuple(n - (r == k) for k, n in enumerate(population)) for r in range(len(population))]
    throughput = [sum(w for _, w in weights(one, demands, think, servers)) / total for one in fewer]
    return np.array(throughput), queue / total


@pytest.mark.parametrize("servers", [[1, 1, 1], [2, 1, 1], [2, 3, 1], [1, 2, np.inf], [4, 4, 4]])
@pytest.mark.parametrize("think", [[0.0, 0.0], [2.0, 0.5]])
def test_two_classes_are_the_product_form(servers: list[float], think: list[float]) -> None:
    demands = np.array([[0.4, 0.9, 0.2], [0.7, 0.1, 0.5]])
    throughput, queue = by_enumeration((3, 2), demands, think, servers)
    steady = mva(demands, [3, 2], think_time=think, servers=servers)
    assert np.allclose(steady.throughput, throughput, rtol=1e-12)
    assert np.allclose(steady.queue_length, queue, rtol=1e-12)


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
@settings(max_examples=50)
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


@given(demands=DEMANDS, population=st.integers(1, 60), think=st.floats(0, 50))
@settings(max_examples=50)
def test_bounds_enclose_the_exact_solution_and_balanced_ones_are_tighter(
    demands: list[float], population: int, think: float
) -> None:
    exact = mva(demands, population, think_time=think)
    throughput, response = exact.throughput[-1], exact.response_time[-1]
    loose, tight = (bound(demands, population, think) for bound in (asymptotic_bounds, balanced_job_bounds))
    slack = 1 + 1e-11
    assert loose.throughput_low <= tight.throughput_low * slack
    assert tight.throughput_high <= loose.throughput_high * slack
    assert tight.throughput_low <= throughput * slack
    assert throughput <= tight.throughput_high * slack
    floor = 1e-11 * (think + response)
    assert tight.response_low - floor <= response <= tight.response_high + floor


def test_a_balanced_network_meets_its_bounds() -> None:
    exact = mva([0.5, 0.5, 0.5], 12)
    bounds = balanced_job_bounds([0.5, 0.5, 0.5], np.arange(1, 13))
    assert np.allclose(bounds.throughput_low, exact.throughput, rtol=1e-12)
    assert np.allclose(np.minimum(bounds.throughput_high, 2.0), exact.throughput, rtol=1e-12)


def test_scenarios_side_by_side_are_scenarios_alone() -> None:
    generator = np.random.default_rng(7)
    demands, think = generator.uniform(0.1, 2, (5, 4, 3)), generator.uniform(0, 5, (5, 1))
    together = mva(demands, 9, think_time=think, servers=[2, 1, 1])
    assert together.throughput.shape == (5, 4, 9)
    alone = mva(demands[3, 2], 9, think_time=think[3, 0], servers=[2, 1, 1])
    assert np.allclose(together.queue_length[3, 2], alone.queue_length, rtol=1e-13)
    classes = mva(generator.uniform(0.1, 2, (6, 2, 3)), [2, 3], think_time=[1.0, 2.0])
    assert classes.throughput.shape == (6, 2)
    assert classes.queue_length.shape == (6, 2, 3)


def test_equal_classes_are_one_class() -> None:
    two = mva([[1.0, 0.5, 0.2]] * 2, [3, 4], think_time=2.0, servers=[3, 1, 2])
    one = mva([1.0, 0.5, 0.2], 7, think_time=2.0, servers=[3, 1, 2])
    assert np.isclose(two.throughput.sum(), one.throughput[-1], rtol=1e-12)
    assert np.allclose(two.queue_length.sum(0), one.queue_length[-1], rtol=1e-12)


def test_a_class_without_requesters_changes_nothing() -> None:
    two = mva([[1.0, 0.5], [9.0, 9.0]], [4, 0])
    assert np.isclose(two.throughput[0], mva([1.0, 0.5], 4).throughput[-1], rtol=1e-12)
    assert two.throughput[1] == two.queue_length[1].sum() == 0


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
        (([0.1, 0.2], [1, 2]), "demands"),
        (([[0.1, 0.2]], [1, 2]), "demands"),
        (([0.1], 3, -1.0), "think_time = -1.0 s"),
        (([[0.1], [0.2]], [1, 2], [1.0, 2.0, 3.0]), "think_time"),
        (([0.1, 0.2], 3, 0.0, [1, 2, 3]), "servers"),
        (([0.1, 0.2], 3, 0.0, [1, 0]), "servers = 0"),
        (([0.1, 0.2], 3, 0.0, [1, 1.5]), "servers = 1.5"),
        (([0.1] * 9, 3, 0.0, [2] * 9), "servers = 9"),
        (([[0.1]] * 6, [60] * 6), "population"),
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


@pytest.mark.parametrize("bound", [asymptotic_bounds, balanced_job_bounds])
def test_bounds_refuse_bad_input(bound) -> None:  # type: ignore[no-untyped-def]
    for arguments, told in (
        (([-0.1], 3), "demands"),
        (([0.0], 3), "demands"),
        (([0.1], 0), "population"),
        (([0.1], 3, np.nan), "think_time"),
    ):
        with pytest.raises(InputError, match=told):
            bound(*arguments)
