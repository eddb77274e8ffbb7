"""Closed networks of several classes: exact fractions, a recursion over populations, a whole chain, bad input."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, factorial

import mpmath
import numpy as np
import pytest

from planner import ConvergenceError, InputError
from planner.queueing import _linearizer, closed_network, finite_source, mmc, mva
from planner.queueing._product_form import StationGroup, multi_server_rates, series
from tests.queueing.lattice import by_enumeration, full_population

EXACT = 1e-9  # issue: exact against exact
APPROXIMATE = 0.05  # issue: the Linearizer against exact


def by_fractions(demands, population, think, servers, copies):  # type: ignore[no-untyped-def]
    """Throughputs by convolution in exact fractions, every copy a station of its own (Buzen 1973)."""
    classes = len(population)
    lattice = list(product(*(range(n + 1) for n in population)))
    constants = {
        at: Fraction(1) * np.prod([Fraction(think[r]) ** at[r] / factorial(at[r]) for r in range(classes)])
        for at in lattice
    }
    for k, (width, many) in enumerate(zip(servers, copies, strict=True)):
        weight = {}
        for at in lattice:
            number = sum(at)
            found = Fraction(factorial(number))
            for j in range(1, number + 1):
                found /= min(j, width)
            for r in range(classes):
                found *= (Fraction(demands[r][k]) / many) ** at[r] / factorial(at[r])
            weight[at] = found
        for _ in range(many):
            constants = {
                at: sum(
                    weight[part] * constants[tuple(a - b for a, b in zip(at, part, strict=True))]
                    for part in product(*(range(a + 1) for a in at))
                )
                for at in lattice
            }
    full = tuple(population)
    fewer = [tuple(n - (r == k) for k, n in enumerate(full)) for r in range(classes)]
    return [float(constants[at] / constants[full]) for at in fewer]


def random_network(seed: int):  # type: ignore[no-untyped-def]
    """Demands, population, think times and servers of a small network; about half of them think."""
    rng = np.random.default_rng(seed)
    classes, stations = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    demands = rng.exponential(1.0, (classes, stations)) * rng.choice([1.0, 0.1], (classes, stations))
    population = rng.integers(1, 6 if classes > 1 else 30, classes)
    think = rng.exponential(2.0, classes) * rng.integers(0, 2)
    servers = rng.choice([1.0, 1.0, 2.0, 3.0, 5.0, np.inf], stations)
    return demands, population, think, servers


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_equal_stations_are_the_convolution_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    demands = rng.integers(1, 9, (2, 2)) / 8
    think = rng.integers(0, 9, 2) / 4
    servers, copies, population = rng.integers(1, 4, 2), rng.integers(1, 4, 2), rng.integers(1, 4, 2)
    steady = closed_network(demands, population, think, servers, copies=copies)
    expected = by_fractions(
        demands.tolist(), population.tolist(), think.tolist(), servers.tolist(), copies.tolist()
    )
    assert steady.exact
    assert np.allclose(steady.throughput, expected, rtol=EXACT, atol=0)


@pytest.mark.parametrize("servers", [[1, 1, 1], [2, 1, 1], [2, 3, 1], [1, 2, np.inf], [4, 4, 4]])
@pytest.mark.parametrize("think", [[0.0, 0.0], [2.0, 0.5]])
def test_two_classes_are_the_product_form(servers: list[float], think: list[float]) -> None:
    demands = np.array([[0.4, 0.9, 0.2], [0.7, 0.1, 0.5]])
    throughput, queue = by_enumeration((3, 2), demands, think, servers)
    steady = closed_network(demands, [3, 2], think_time=think, servers=servers)
    assert np.allclose(steady.throughput, throughput, rtol=1e-12)
    assert np.allclose(steady.queue_length, queue, rtol=1e-12)


def test_equal_classes_are_one_class() -> None:
    two = closed_network([[1.0, 0.5, 0.2]] * 2, [3, 4], 2.0, [3, 1, 2])
    one = mva([1.0, 0.5, 0.2], 7, think_time=2.0, servers=[3, 1, 2])
    assert np.isclose(two.throughput.sum(), one.throughput[-1], rtol=1e-12)
    assert np.allclose(two.queue_length.sum(0), one.queue_length[-1], rtol=1e-12)


def test_a_class_without_requesters_changes_nothing() -> None:
    two = closed_network([[1.0, 0.5], [9.0, 9.0]], [4, 0])
    assert np.isclose(two.throughput[0], mva([1.0, 0.5], 4).throughput[-1], rtol=1e-12)
    assert two.throughput[1] == two.queue_length[1].sum() == 0


@pytest.mark.long
def test_a_hundred_random_networks_are_those_of_the_recursion() -> None:
    for seed in range(100):
        demands, population, think, servers = random_network(seed)
        throughput, queue = full_population(demands, population, think, servers)
        found = closed_network(demands, population, think, servers, method="exact")
        assert np.allclose(found.throughput, throughput, rtol=EXACT, atol=0)
        assert np.allclose(found.queue_length, queue, rtol=EXACT, atol=1e-9 * queue.max())


@pytest.mark.long
@pytest.mark.parametrize("single", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_linearizer_is_near_the_exact_solution(single: bool) -> None:
    """A hundred networks of two classes of 5 to 19: median within .1 %, all within the 5 % of the issue."""
    errors = []
    for stations in range(1, 5):
        rng = np.random.default_rng(stations)
        demands = rng.exponential(1.0, (25, 2, stations)) * rng.choice([1.0, 0.1], (25, 2, stations))
        population = rng.integers(5, 20, (25, 2))
        think = rng.exponential(2.0, (25, 2)) * rng.integers(0, 2, (25, 1))
        servers = np.ones(stations) if single else rng.choice([1.0, 2.0, 3.0, 5.0, np.inf], (25, stations))
        exact = closed_network(demands, population, think, servers, method="exact").throughput
        near = closed_network(demands, population, think, servers, method="linearizer").throughput
        errors += np.abs(near / exact - 1).max(-1).tolist()
    assert np.median(errors) <= 0.001
    assert max(errors) <= (0.01 if single else APPROXIMATE)


def chandy_neuse(demands, population, think, copies, load):  # type: ignore[no-untyped-def]
    """Queues of the Linearizer (1982) as its equations stand, one server a copy: repeated until nothing changes."""
    classes, stations = demands.shape
    shares: dict[int, np.ndarray] = {}
    deviation = np.zeros((classes, stations, classes))
    people = {gone: population - (np.arange(classes) == gone) for gone in range(-1, classes)}
    for _ in range(40):
        for gone, full in people.items():
            share = shares.get(gone, np.full((classes, stations), 1.0 / stations))
            for _ in range(1000):
                before, seen = share, np.empty((classes, stations))
                for r in range(classes):
                    others = full - (np.arange(classes) == r)
                    seen[r] = np.maximum(others, 0) @ (share + deviation[:, :, r])
                residence = demands * (1 + seen / copies) / (1 - load)
                share = residence / (think + residence.sum(-1))[:, None]
                if np.abs(share - before).max() < 1e-14:
                    break
            shares[gone] = share
        for gone in range(classes):
            there = (people[gone] > 0)[:, None]
            deviation[:, :, gone] += np.where(there, shares[gone] - shares[-1], 0.0) - deviation[:, :, gone]
    return shares[-1] * population[:, None]


@pytest.mark.first(1)
@pytest.mark.parametrize("population", [[6, 3], [4, 1], [0, 9], [1, 1]])
def test_the_linearizer_solves_the_equations_of_chandy_and_neuse(
    population: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_linearizer, "LEVELS", 40)  # 8 leave some 1e-4 of the way
    demands = np.array([[0.2, 0.8, 0.5], [0.7, 0.3, 0.4]])
    think, copies, load = np.array([2.0, 1.5]), np.array([1, 3, 1]), np.array([0.0, 0.2, 0.4])
    expected = chandy_neuse(demands, np.array(population), think, copies, load)
    found = closed_network(demands, population, think, copies=copies, open_load=load, method="linearizer")
    assert np.allclose(found.queue_length, expected, rtol=1e-7, atol=1e-9)
    open_number = (
        copies * load / (1 - load) * (1 + expected.sum(0) / copies)
    )  # of a queue of both, at each copy
    assert np.allclose(found.open_number, open_number, rtol=1e-7)


@pytest.mark.long
def test_the_linearizer_solves_scenarios_side_by_side_as_each_alone() -> None:
    """Alone, a station with one server or with one for everybody needs no distribution of who is there."""
    servers = np.array([[1, 1], [2, 1], [np.inf, 1], [1, 3], [3, np.inf], [2, 2]])
    population = np.array([[5, 4], [3, 0], [7, 2], [30, 1], [1, 1], [6, 6]])
    demands = np.array([[0.4, 0.9], [0.7, 0.1]])
    copies, load = np.array([1, 2]), np.array([0.0, 0.3])
    together = closed_network(
        demands, population, 0.5, servers, copies=copies, open_load=load, method="linearizer"
    )
    for k, people in enumerate(population):
        alone = closed_network(
            demands, people, 0.5, servers[k], copies=copies, open_load=load, method="linearizer"
        )
        assert np.allclose(together.queue_length[k], alone.queue_length, rtol=1e-7, atol=1e-9)
        # The distribution of open ones reaches to the largest population of those that are asked together.
        assert np.allclose(together.open_number[k], alone.open_number, rtol=1e-3)


@pytest.mark.long
def test_the_linearizer_is_near_the_exact_solution_with_several_servers_and_open_requests() -> None:
    """The bound is its own error on these, as measured: .6 % of the throughput, 2.5 % of the numbers."""
    demands = np.array([[0.5, 1.9], [0.9, 1.3]])
    population = np.array([[9, 6], [16, 2], [2, 5]])
    arguments = {"servers": [1, 3], "open_load": [0.1, 0.8], "copies": [1, 2]}
    exact, near = (
        closed_network(demands, population, [2.0, 4.0], method=method, **arguments)
        for method in ("exact", "linearizer")
    )
    assert np.allclose(near.throughput, exact.throughput, rtol=0.006)
    assert np.allclose(near.queue_length, exact.queue_length, rtol=0.025)
    assert np.allclose(near.open_number, exact.open_number, rtol=0.025)


CREEPING = {"demands": [[0.2, 0.999, 1.0]], "population": [60], "method": "linearizer"}


def test_nearly_saturated_stations_settle_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stations share the queue; mixing finds it in 50 steps a population, plain repetition not in 500."""
    far = closed_network(**CREEPING).throughput
    exact = closed_network(**CREEPING | {"method": "exact"}).throughput
    assert np.allclose(far, exact, rtol=1e-4)
    core = _linearizer._core
    monkeypatch.setattr(_linearizer, "_core", partial(core, most=50))
    assert (closed_network(**CREEPING).throughput == far).all()
    monkeypatch.setattr(_linearizer, "_core", partial(core, most=500, mixing=(0.0, 0.0)))
    with pytest.raises(ConvergenceError, match="500"):
        closed_network(**CREEPING)


def test_a_law_tilted_to_a_mean_is_the_binomial_one() -> None:
    """Weights C(N, n) and mean N p: E n (n - 1) = N (N - 1) p^2, from nobody to everybody, in few Newton steps."""
    most = 40
    counts = np.arange(most + 1.0)
    weight = np.log([comb(most, n) for n in range(most + 1)])
    share = np.array([[1e-9, 1e-3, 0.2], [0.5, 0.9, 0.999], [1e-9, 0.2, 1 - 1e-9]])
    for rows, steps in ((slice(2), 14), (slice(3), 60)):
        p = share[rows]
        found, *_ = _linearizer._tilted(
            np.tile(weight, (len(p), 1)), np.tile(counts * (counts - 1), (len(p), 1)), most * p, steps
        )
        assert np.allclose(found, most * (most - 1) * p**2, rtol=1e-8, atol=0)


def test_open_requests_beside_closed_ones_are_the_balance_of_the_whole_chain() -> None:
    """Two closed requesters and open ones at two stations: every state up to 70 open ones, solved by its balance."""
    think, works, rate = 1.3, [0.5, 0.4], [0.8, 0.0]
    servers, most = [2, 1], 70
    states = [(a, b, k) for a in range(3) for b in range(3 - a) for k in range(most + 1)]
    index = {state: i for i, state in enumerate(states)}
    balance = np.zeros((len(states), len(states)))

    def move(state, target, speed):  # type: ignore[no-untyped-def]
        if speed > 0 and target in index:
            balance[index[target], index[state]] += speed
            balance[index[state], index[state]] -= speed

    for a, b, k in states:  # a closed requester thinks, then visits station 0, then station 1
        move((a, b, k), (a + 1, b, k), (2 - a - b) / think)
        here = a + k
        speed = min(here, servers[0]) / works[0]
        if here:
            move((a, b, k), (a - 1, b + 1, k), speed * a / here)
            move((a, b, k), (a, b, k - 1), speed * k / here)
        move((a, b, k), (a, b - 1, k), 1 / works[1] if b else 0.0)
        move((a, b, k), (a, b, k + 1), rate[0])
    balance[0] = 1.0
    chances = np.linalg.solve(balance, np.eye(len(states))[0])
    number = np.array(states, dtype=float).T @ chances
    steady = closed_network([works], [2], think, servers, open_load=[rate[0] * works[0], 0.0])
    assert np.allclose(steady.queue_length[0], number[:2], rtol=1e-8)
    assert np.isclose(steady.open_number[0], number[2], rtol=1e-8)
    near = closed_network(
        [works], [2], think, servers, open_load=[rate[0] * works[0], 0.0], method="linearizer"
    )
    assert np.allclose(near.throughput, steady.throughput, rtol=APPROXIMATE)


def test_a_station_with_a_server_for_everybody_is_a_delay() -> None:
    """Nobody ever waits there, so that no distribution of who is there is needed, but with open requests beside."""
    nobody = np.zeros(2)
    assert multi_server_rates(np.array([3.0, 4.0]), 3, nobody) is None
    assert multi_server_rates(np.array([np.inf, np.inf]), 9, nobody) is None
    some = multi_server_rates(np.array([2.0, 4.0]), 3, nobody)
    assert some is not None and some.tolist() == [[1, 2, 2], [1, 2, 3]]
    beside = multi_server_rates(np.array([3.0, 4.0]), 3, nobody + 0.1)
    assert beside is not None and beside.tolist() == [[1, 2, 3, 3], [1, 2, 3, 4]]


@pytest.mark.parametrize(("servers", "load"), [(800, 400.0), (1000, 900.0), (3000, 5.0)])
def test_open_requests_at_very_many_servers_are_the_sum_over_their_number(servers: int, load: float) -> None:
    """X = f(2) / f(3) / D with f(n) the sum over k of C(n + k, k) load^k / product of min(j, c), j up to n + k."""
    found = closed_network([[0.2]], [3], servers=servers, open_load=load).throughput[0]
    weights = []
    for n in (2, 3):
        term = total = 1 / mpmath.factorial(n)
        for k in range(1, 4000):
            term *= mpmath.mpf(load) * (n + k) / k / min(n + k, servers)
            total += term
        weights.append(total)
    assert np.isclose(found, float(weights[0] / weights[1]) / 0.2, rtol=1e-11)


def test_open_requests_without_closed_ones_are_an_open_queue() -> None:
    steady = closed_network([[1e-12]], [1], 1e6, [3], open_load=[2.4])
    alone = mmc(2.4, 1.0, 3)
    assert np.isclose(steady.open_number[0], alone.queue_length + alone.in_service, rtol=1e-9)


@pytest.mark.parametrize(("servers", "load"), [(3, 2.4), (8, 0.05)])
def test_the_linearizer_takes_stations_that_only_open_requests_visit(servers: int, load: float) -> None:
    steady = closed_network(
        [[0.5, 0.0], [0.3, 0.0]], [3, 4], 1.0, [1, servers], open_load=[0.0, load], method="linearizer"
    )
    alone = mmc(load, 1.0, servers)
    assert np.isclose(steady.open_number[1], alone.queue_length + alone.in_service, rtol=1e-9)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.0), (1, 1e-6), (2, 0.0), (2, 1e-6), (4, 3.5)])
@pytest.mark.parametrize("times", [1e-7, 1e7])
def test_weights_outside_the_range_of_float64_keep_their_quotients(
    servers: int, load: float, times: float
) -> None:
    service_rates = np.minimum(np.arange(1.0, servers + 1), servers)[None]
    group = StationGroup(
        demand=np.ones((1, 1)), service_rates=service_rates, copies=np.ones(1), load=np.array([load])
    )
    (found,) = series(group, np.array([times]), 120)
    assert found.max() == 1.0 and np.isfinite(found).all()
    n = 119 if times > 1 else 1
    weights = []
    for closed in (n, n + 1):
        term = total = mpmath.mpf(1) / mpmath.fprod(min(j, servers) for j in range(1, closed + 1))
        for k in range(1, 4000):
            term *= mpmath.mpf(load) * (closed + k) / k / min(closed + k, servers)
            total += term
        weights.append(total)
    assert np.isclose(found[n + 1] / found[n], float(weights[1] / weights[0] * times), rtol=1e-11)


@pytest.mark.parametrize("servers", [1, 3])
def test_open_requests_that_closed_ones_hardly_meet_are_an_open_queue(servers: int) -> None:
    """A hundred closed requests there at once are rarer than float64 holds."""
    steady = closed_network([[1, 1e-5]], [100], 0.0, [1, servers], open_load=[0.0, 0.5])
    alone = mmc(0.5, 1.0, servers)
    assert np.isclose(steady.open_number[1], alone.queue_length + alone.in_service, rtol=1e-4)


@pytest.mark.parametrize("servers", [1, 2, 7, 64])
def test_one_station_is_the_closed_queue(servers: int) -> None:
    counts = np.arange(1, 120)[:, None]
    steady = closed_network([[1.3]], counts, 20.0, servers)
    closed = finite_source(counts[:, 0], 20.0, 1.3, servers)
    assert np.allclose(steady.throughput[:, 0], closed.throughput, rtol=EXACT, atol=0)


def test_balanced_stations_have_the_closed_form() -> None:
    """N requesters over M equal stations: N / ((N + M - 1) S / M), in one group or in many."""
    together = closed_network([[1.0]], [20], copies=[20])
    apart = closed_network([[0.05] * 20], [20])
    assert np.isclose(together.throughput[0], 20 / (39 / 20), rtol=1e-12)
    assert np.isclose(apart.throughput[0], together.throughput[0], rtol=1e-12)


def test_scenarios_side_by_side_are_each_alone() -> None:
    population = np.array([[3, 0], [0, 4], [3, 4]])
    demands = np.array([[0.4, 0.9], [0.7, 0.1]])
    together = closed_network(demands, population, 0.5, [2, 1], copies=[1, 3])
    for k, people in enumerate(population):
        alone = closed_network(demands, people, 0.5, [2, 1], copies=[1, 3])
        assert np.allclose(together.throughput[k], alone.throughput, rtol=1e-12)
        assert np.allclose(together.queue_length[k], alone.queue_length, rtol=1e-12)
    assert (together.throughput[population == 0] == 0).all()


def test_little_and_utilization() -> None:
    for seed in range(20):
        demands, population, think, servers = random_network(500 + seed)
        steady = closed_network(demands, population, think, servers)
        whole = steady.queue_length.sum(-1) + steady.throughput * think
        assert np.allclose(whole, population, rtol=1e-9)
        assert (steady.utilization <= 1 + 1e-9).all()


def test_many_requesters_go_to_the_linearizer_and_the_largest_exact_ones_do_not_overflow() -> None:
    largest = closed_network([[0.2, 1.0]], [400], 30.0, [8, 1], copies=[1, 4])
    assert largest.exact
    apart = mva([0.2, *[0.25] * 4], 400, 30.0, [8, 1, 1, 1, 1])
    assert np.isclose(largest.throughput[0], apart.throughput[-1], rtol=EXACT)
    beyond = closed_network([[0.2, 1.0]], [401], 30.0, [8, 1], copies=[1, 4])
    assert not beyond.exact
    assert np.isclose(beyond.throughput[0], largest.throughput[0], rtol=1e-3)


def test_more_requesters_than_a_law_holds_wait_at_the_station_that_is_always_busy() -> None:
    """All 8 servers work: 8 a second, and whoever does not think waits."""
    found = closed_network([[1.0]], [5000], 50.0, [8])
    assert np.isclose(found.throughput[0], 8, rtol=1e-6)
    assert np.isclose(found.queue_length[0, 0], 5000 - 8 * 50, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"demands": [0.1], "population": [1]}, "classes, stations"),
        ({"demands": [[0.1]], "population": [1, 2]}, "as many classes"),
        ({"demands": [[0.1]], "population": [1.5]}, "a whole number"),
        ({"demands": [[-0.1]], "population": [1]}, "zero or above"),
        ({"demands": [[0.0]], "population": [1]}, "some demand"),
        ({"demands": [[0.1]], "population": [1], "servers": [0.5]}, "at least 1"),
        ({"demands": [[0.1]], "population": [1], "open_load": [1.0]}, "below 1 servers"),
        ({"demands": [[0.1]], "population": [1], "servers": [2.5], "open_load": [0.1]}, "whole number"),
        (
            {"demands": [[0.1, 0.1]], "population": [1], "servers": [[3, 4], [2, 2.5]], "open_load": 0.1},
            "servers = 2.5: .*whole number",
        ),
        (
            {"demands": [[0.1, 0.1]], "population": [1], "servers": [4, 2], "open_load": [3.9, 2.0]},
            "open_load = 2.0 erlang: .*below 2 servers",
        ),
        ({"demands": [[0.1]], "population": [1], "servers": 10**12, "open_load": 0.1}, "at most 5000"),
        ({"demands": [[0.1]], "population": [1], "servers": "two"}, "servers = 'two'"),
        ({"demands": [[0.1]], "population": [1], "servers": [True]}, "servers"),
        ({"demands": [[0.1]], "population": [1], "method": "guess"}, "exact, linearizer"),
        ({"demands": [[0.1]], "population": [1], "method": ["exact"]}, "exact, linearizer"),
        ({"demands": [[0.1], [0.1]], "population": [40, 40], "method": "exact"}, "at most 1000"),
        ({"demands": [[0.1]], "population": [1], "copies": [1, 2, 3]}, "broadcast"),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        closed_network(**arguments)  # type: ignore[arg-type]
