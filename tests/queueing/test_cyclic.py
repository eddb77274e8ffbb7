"""Two stations in a circle against three laws that share no code with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import queueing
from planner.errors import InputError

COUNTS = st.integers(1, 40)
TIMES = st.floats(1e-5, 1.0)


def mean_value(population: int, demands: tuple[float, float]) -> float:
    """Mean value analysis of two single servers (Reiser and Lavenberg, 1980)."""
    queue, throughput = [0.0, 0.0], 0.0
    for n in range(1, population + 1):
        response = [demand * (1 + length) for demand, length in zip(demands, queue, strict=True)]
        throughput = n / sum(response)
        queue = [throughput * time for time in response]
    return throughput


def by_states(n: int, demands: tuple[float, float], servers: tuple[int, int]) -> float:
    """Throughput from the balance equations, solved as a linear system."""
    up = [min(n - k, servers[1]) / demands[1] for k in range(n)]  # to the first station
    down = [min(k, servers[0]) / demands[0] for k in range(n + 1)]
    generator = np.zeros((n + 1, n + 1))
    for k in range(n):
        generator[k, k + 1], generator[k + 1, k] = up[k], down[k + 1]
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(n + 1)])
    share = np.linalg.lstsq(system, np.append(np.zeros(n + 1), 1.0), rcond=None)[0]
    return float(share @ np.array(down))


@given(COUNTS, TIMES, TIMES)
def test_single_servers_are_mean_value_analysis(n: int, first: float, second: float) -> None:
    assert queueing.cyclic(n, first, second) == pytest.approx(mean_value(n, (first, second)), rel=1e-9)


@given(COUNTS, TIMES, TIMES, st.integers(1, 8))
def test_a_server_for_everyone_is_a_think_time(n: int, first: float, second: float, servers: int) -> None:
    found = queueing.cyclic(n, first, second, first_servers=servers, second_servers=n)
    machine_repair = queueing.finite_source(n, second, first, servers).throughput
    assert found == pytest.approx(float(machine_repair), rel=1e-9)


@pytest.mark.parametrize("servers", [(1, 1), (2, 3), (5, 1), (4, 9)])
def test_the_balance_equations_say_the_same(servers: tuple[int, int]) -> None:
    found = queueing.cyclic(7, 3e-3, 5e-3, first_servers=servers[0], second_servers=servers[1])
    assert found == pytest.approx(by_states(7, (3e-3, 5e-3), servers), rel=1e-9)


@given(COUNTS, TIMES, TIMES, st.integers(1, 8), st.integers(1, 8))
def test_bounds_and_monotony(n: int, first: float, second: float, p: int, d: int) -> None:
    rates = queueing.cyclic(np.arange(1, n + 2), first, second, first_servers=p, second_servers=d)
    assert rates[0] == pytest.approx(1 / (first + second))
    assert (np.diff(rates) >= -1e-9 * rates[1:]).all()
    bound = np.minimum(np.arange(1, n + 2) / (first + second), min(p / first, d / second))
    assert (rates <= bound * (1 + 1e-9)).all()


def test_a_station_without_demand_is_not_there() -> None:
    assert queueing.cyclic([1, 5], 0, 2e-3, second_servers=2).tolist() == pytest.approx([500, 1000])
    assert queueing.cyclic([1, 5], 2e-3, 0).tolist() == pytest.approx([500, 500])


def test_nobody_does_nothing() -> None:
    assert queueing.cyclic(0, 1.0, 1.0) == 0


def test_a_large_population_neither_overflows_nor_underflows() -> None:
    assert queueing.cyclic(20_000, 1e-6, 3e-6, second_servers=2) == pytest.approx(2 / 3e-6)


@pytest.mark.parametrize("demands", [(0, 0), (-1, 1), (float("nan"), 1)])
def test_bad_demands_are_refused(demands: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="demand"):
        queueing.cyclic(1, *demands)
