"""M/M/c//N and M/PH/c//N: 50-digit references, identities, monotonicity, large populations, quantiles, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaincc, gammaln

from planner import InputError
from planner.queueing import Steady, _phases, erlang_b, finite_source, mmc
from tests import tolerances
from tests.brief import examples
from tests.queueing.references import columns, relative_error

PLAIN = columns("finite_source")
PHASES = columns("closed_phases")
QUANTITIES = {
    "throughput": "throughput",
    "in_service": "in_service",
    "queue_length": "queue_length",
    "delay": "delay_probability",
}


@pytest.mark.parametrize("column", QUANTITIES)
def test_agrees_with_the_references(column: str) -> None:
    arguments = [PLAIN[name] for name in ("population", "think_time", "service_time", "servers")]
    steady = finite_source(*arguments, inflation=PLAIN["inflation"])
    found, wanted = getattr(steady, QUANTITIES[column]), PLAIN[column]
    assert (relative_error(found, wanted, floor=tolerances.LEAST_NORMAL) <= tolerances.EXACT).all()
    # Without inflation other sums are used: the same scenarios by themselves.
    some = PLAIN["inflation"] == 0
    found = getattr(finite_source(*(a[some] for a in arguments)), QUANTITIES[column])
    assert (relative_error(found, wanted[some], floor=tolerances.LEAST_NORMAL) <= tolerances.EXACT).all()


@pytest.mark.parametrize("column", [*QUANTITIES, "in_gap"])
def test_phases_and_gaps_agree_with_the_references(column: str) -> None:
    steady = finite_source(
        PHASES["population"], PHASES["think_time"], 1.0, PHASES["servers"],
        scv=PHASES["scv"], inflation=PHASES["inflation"], redrive_time=PHASES["redrive_time"],
    )  # fmt: skip
    found = getattr(steady, QUANTITIES.get(column, column))
    error = relative_error(found, PHASES[column], floor=tolerances.LEAST_NORMAL)
    assert (error <= tolerances.EXACT_CLOSED_PHASES).all()


CLOSED = {
    "population": st.integers(1, 120),
    "think": st.floats(1e-4, 1e4),
    "servers": st.integers(1, 40),
}


@given(**CLOSED, inflation=st.sampled_from([0.0, 0.1, 1.0, 3.0]))
def test_identities(population: int, think: float, servers: int, inflation: float) -> None:
    steady = finite_source(population, think, 1.0, servers, inflation=inflation)
    cycle = think + steady.response_time
    assert np.isclose(steady.throughput * cycle, population, rtol=1e-11)
    assert np.isclose(steady.queue_length, steady.throughput * steady.wait_time, rtol=tolerances.IDENTITY)
    assert np.isclose(steady.in_service, steady.throughput * steady.service_time, rtol=tolerances.IDENTITY)
    assert 0 <= steady.delay_probability <= 1 + tolerances.ROUNDING
    assert steady.stable


@given(**CLOSED)
def test_one_more_requester_or_server_never_slows_the_station(
    population: int, think: float, servers: int
) -> None:
    here = finite_source(population, think, 1.0, servers)
    more = finite_source(population + 1, think, 1.0, servers)
    faster = finite_source(population, think, 1.0, servers + 1)
    longer = finite_source(population, think * 1.01, 1.0, servers)
    slack = 1 + 1e-12
    assert more.throughput * slack >= here.throughput
    assert more.wait_time * slack >= here.wait_time
    assert faster.wait_time <= here.wait_time * slack
    assert faster.throughput * slack >= here.throughput
    assert longer.throughput <= here.throughput * slack
    nudged = finite_source(population, think * (1 + 1e-9), 1.0, servers)
    assert np.isclose(nudged.throughput, here.throughput, rtol=1e-8)
    assert np.isclose(nudged.wait_time, here.wait_time, rtol=1e-6)


@given(**CLOSED)
def test_an_arrival_sees_the_station_with_one_requester_less(
    population: int, think: float, servers: int
) -> None:
    """Arrival theorem: the delay probability is the time share of full servers with N - 1 requesters."""
    steady = finite_source(population + 1, think, 1.0, servers)
    others = np.arange(population + 1)
    served = np.minimum(others, servers)
    logs = gammaln(population + 1) - gammaln(population - others + 1) - others * np.log(think)
    logs = logs - np.cumsum(np.log(np.maximum(served, 1)))
    distribution = np.exp(logs - logs.max())
    full = distribution[others >= servers].sum() / distribution.sum()
    assert np.isclose(steady.delay_probability, full, rtol=1e-10, atol=1e-280)


@given(load=st.floats(0.05, 0.9), servers=st.integers(1, 5))
@settings(max_examples=10)
def test_many_requesters_that_think_long_are_poisson(load: float, servers: int) -> None:
    population = 100_000
    closed = finite_source(population, population / (load * servers), 1.0, servers)
    assert np.isclose(closed.wait_time, mmc(load * servers, 1.0, servers).wait_time, rtol=1e-3 / (1 - load))


def test_one_server_is_erlangs_loss_system_seen_from_the_thinkers() -> None:
    population = np.arange(1, 200)
    busy = 1 - erlang_b(3.7, population)  # M/M/1//N: an idle server is a full group of N thinkers
    steady = finite_source(population, 3.7, 1.0, 1)
    assert np.allclose(steady.utilization, busy, rtol=1e-11, atol=0)


def test_a_hundred_thousand_requesters() -> None:
    think = np.array([1.0, 1.0, 1e-6])
    steady = finite_source(100_000, think, [1e-5, 1e-2, 1.0], [1, 1010, 3])
    assert np.allclose(steady.throughput * (think + steady.response_time), 100_000, rtol=1e-10)
    assert np.isclose(steady.throughput[2], 3.0, rtol=1e-12)
    assert (steady.wait_time > 0).all()


@pytest.mark.first(5)
@pytest.mark.parametrize("inflation", [0.0, 0.3, 1.0, 9.0, 100.0])
@pytest.mark.parametrize("load", [0.0004, 0.204, 0.5, 3.0])
def test_a_thousand_requesters_more_change_the_method_but_not_the_law(inflation: float, load: float) -> None:
    """From 1,001 requesters on the sums start at the most likely state; also where there are two such states."""
    for population, servers in ((1500, 2), (1500, 40), (1001, 1000)):
        think = population / load
        steady = finite_source(population, think, 1.0, servers, inflation=inflation)
        n = np.arange(1, population + 1)
        served = np.minimum(n, servers)
        steps = np.log((population - n + 1) / think * (1 + inflation * (served - 1)) / served)
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        distribution = np.exp(logs - logs.max())
        distribution /= distribution.sum()
        present = np.arange(population + 1)
        assert np.isclose(
            steady.queue_length,
            (distribution * np.maximum(present - servers, 0)).sum(),
            rtol=1e-9,
            atol=1e-200,
        )
        assert np.isclose(steady.in_service, (distribution * np.minimum(present, servers)).sum(), rtol=1e-9)
        assert np.isclose(steady.throughput * (think + steady.response_time), population, rtol=1e-10)


def test_no_think_time_keeps_everyone_at_the_station() -> None:
    steady = finite_source([5, 2, 3], 0.0, 2.0, [2, 2, 4])
    assert steady.throughput.tolist() == [1.0, 1.0, 1.5]
    assert steady.queue_length.tolist() == [3.0, 0.0, 0.0]
    assert steady.delay_probability.tolist() == [1.0, 0.0, 0.0]
    phased = finite_source(5, 0.0, 2.0, 2, scv=[0.5, 2.0], redrive_time=0.1)
    assert np.allclose(phased.throughput, 2 / 2.1, rtol=1e-12)


@pytest.mark.long
def test_scalar_equals_array_element() -> None:
    generator = np.random.default_rng(4)
    size = 300
    n, c = generator.integers(1, 60, size), generator.integers(1, 20, size)
    z, s = generator.uniform(0.01, 100, size), generator.uniform(0.1, 2, size)
    together = finite_source(n, z, s, c)
    for name in together.quantities():
        alone = [getattr(finite_source(*one), name) for one in zip(n, z, s, c, strict=True)]
        assert np.allclose(getattr(together, name), alone, rtol=tolerances.IDENTITY, atol=0), name


def test_mixed_arguments_go_each_to_its_own_method() -> None:
    inflation, gap, scv = [0.0, 0.2, 0.0, 0.2, 0.0], [0.0, 0.0, 0.1, 0.1, 0.0], [1.0, 1.0, 1.0, 0.5, 2.0]
    together = finite_source(6, 1.0, 1.0, 2, scv=scv, inflation=inflation, redrive_time=gap)
    for k in range(5):
        alone = finite_source(6, 1.0, 1.0, 2, scv=scv[k], inflation=inflation[k], redrive_time=gap[k])
        assert np.isclose(together.throughput[k], alone.throughput, rtol=tolerances.IDENTITY)
        assert np.isclose(together.wait_time[k], alone.wait_time, rtol=tolerances.IDENTITY)


@pytest.mark.long
@given(
    scv=st.floats(0.12, 12),
    population=st.integers(1, 8),
    servers=st.integers(1, 3),
    think=st.floats(0.05, 20),
)
@examples(60)
def test_wait_rises_with_scv_without_jumps(scv: float, population: int, servers: int, think: float) -> None:
    low, nudged, high = finite_source(
        population, think, 1.0, servers, scv=[scv, scv * (1 + 1e-8), scv * 1.1]
    ).throughput
    assert np.isclose(low, nudged, rtol=1e-6)
    if servers == 1:
        assert high <= low * (1 + 1e-12)


def test_phases_at_scv_one_and_next_to_it_agree() -> None:
    steady = finite_source(12, 2.0, 1.0, 4, scv=[1.0, 1 - 1e-9, 1 + 1e-9])
    assert np.allclose(steady.wait_time, steady.wait_time[0], rtol=1e-7)


def test_stated_sizes_are_solved() -> None:
    gap_alone = finite_source(200, 10.0, 1.0, 16, redrive_time=0.05)
    assert np.isclose(gap_alone.throughput * (10 + gap_alone.response_time), 200, rtol=1e-10)
    phases = finite_source(12, 0.2, 1.0, 8, scv=[0.25, 0.5, 4.0], redrive_time=0.05)
    assert np.allclose(phases.throughput * (0.2 + phases.response_time), 12, rtol=1e-10)
    assert np.allclose(phases.in_service, phases.throughput, rtol=1e-10)


# --- quantiles ---


@given(**CLOSED, p=st.floats(0.02, 0.999))
@examples(60)
def test_wait_quantile_meets_its_closed_form(population: int, think: float, servers: int, p: float) -> None:
    """P(W > t) / P(W > 0) = Q(N - c, c (Z + t) / S) / Q(N - c, c Z / S), Q the regularized gamma function."""
    steady = finite_source(population, think, 1.0, servers)
    wait = steady.wait_quantile(p)
    room, load = population - servers, servers * think
    if wait > 0 and gammaincc(room, load) > 1e-12:
        tail = steady.delay_probability * gammaincc(room, load + servers * wait) / gammaincc(room, load)
        assert np.isclose(tail, 1 - p, rtol=1e-8)
    if wait == 0:
        assert steady.delay_probability <= (1 - p) * (1 + 1e-9)


@given(population=st.integers(2, 40), servers=st.integers(1, 10), think=st.floats(0.1, 30))
@examples(20)
def test_mean_of_the_response_law_is_the_mean_response(population: int, servers: int, think: float) -> None:
    """Integrate the quantile function over p by a Gauss rule in a variable that tames the tail."""
    steady = finite_source(population, think, 1.0, servers)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    u = (nodes + 1) / 2
    p = 1 - (1 - u) ** 4
    mean = (steady.response_quantile(p) * 4 * (1 - u) ** 3 * weights / 2).sum()
    assert np.isclose(mean, steady.response_time, rtol=1e-4)


def test_quantiles_where_the_law_is_not_known_are_refused() -> None:
    with pytest.raises(InputError, match="wait_quantile"):
        finite_source(5, 1.0, 1.0, 2, scv=2.0).wait_quantile(0.9)
    with pytest.raises(InputError, match="response_quantile"):
        finite_source(5, 1.0, 1.0, 2, redrive_time=0.1).response_quantile(0.9)
    inflated = finite_source(5, 1.0, 1.0, 2, inflation=0.1)
    assert inflated.wait_quantile(0.9) > 0
    with pytest.raises(InputError, match="response_quantile"):
        inflated.response_quantile(0.9)


def test_quantiles_do_not_follow_later_changes_of_the_arguments() -> None:
    think = np.array([1.0, 2.0])
    steady = finite_source(5, think, 1.0, 2)
    before = steady.wait_quantile(0.9)
    think[:] = 100.0
    assert np.array_equal(steady.wait_quantile(0.9), before)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"population": 0}, "population = 0"),
        ({"population": 2.5}, "population = 2.5"),
        ({"think_time": -1.0}, "think_time = -1.0 s"),
        ({"think_time": np.nan}, "think_time = nan s"),
        ({"service_time": 0.0}, "service_time = 0.0 s"),
        ({"servers": 0}, "servers = 0"),
        ({"scv": -0.5}, "scv = -0.5"),
        ({"scv": 0.0}, "scv = 0.0"),
        ({"scv": 0.01, "servers": 4}, "servers = 4"),
        ({"inflation": -0.1}, "inflation = -0.1"),
        ({"redrive_time": -1e-9}, "redrive_time = -1e-09 s"),
        ({"population": 100_000, "redrive_time": 0.1}, "population = 100000"),
        ({"population": [1, 2], "servers": [1, 2, 3]}, "shapes"),
        ({"population": []}, "population"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], told: str) -> None:
    good: dict[str, object] = {"population": 5, "think_time": 1.0, "service_time": 1.0, "servers": 2}
    with pytest.raises(InputError, match=told):
        finite_source(**{**good, **change})  # type: ignore[arg-type]


def test_one_service_in_very_many_that_never_ends_leaves_the_short_ones() -> None:
    """The long branch carries half of the work however rare it is: .95 by 120 digits of the chain."""
    steady = finite_source(4, 1.0, 1.0, 1, scv=[1e12, 1e16, 1e20, 1e30])
    assert np.allclose(steady.throughput, 0.95, rtol=1e-11)


@pytest.mark.parametrize(
    ("people", "servers", "scv", "gap"), [(60, 1, 0.2, 0.0), (40, 3, 3.0, 0.1), (30, 2, 0.5, 0.0)]
)
def test_levels_that_are_left_out_leave_no_trace(
    people: int, servers: int, scv: float, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far above or below what is present probabilities are too small to count: all levels give the same digits."""

    def solved() -> list[Steady]:
        thinks = (1e-9, 0.01, 0.5, 100.0, 1e4)
        return [finite_source(people, think, 1.0, servers, scv=scv, redrive_time=gap) for think in thinks]

    few = solved()
    monkeypatch.setattr(_phases, "most_present", lambda n, *_: n)
    monkeypatch.setattr(_phases, "least_present", lambda *_: 0)
    for one, every in zip(few, solved(), strict=True):
        for name in ("throughput", "queue_length", "delay_probability", "response_time"):
            np.testing.assert_allclose(getattr(one, name), getattr(every, name), rtol=1e-13)


def test_few_levels_are_solved_where_the_others_are_rare() -> None:
    one = np.ones(1)
    station = _phases.Station(
        servers=2, service=one, distribution=_phases.phase_type(0.5 * one, 2), inflation=0 * one, gap=None
    )
    assert _phases.most_present(100, 1e4 * one, station) < 15
    assert _phases.most_present(100, 10.0 * one, station) == 100
    assert _phases.least_present(100, 1e-9 * one, station) > 95
    assert _phases.least_present(100, 100.0 * one, station) == 0


@pytest.mark.parametrize("inflation", [0.0, 0.3])
def test_where_nobody_waits_only_the_mean_of_the_service_counts(inflation: float) -> None:
    """Each has a server: the chain of phases and gaps gives what exponential service does."""
    people, think, one = np.arange(1.0, 6.0), np.full(5, 0.7), np.ones(5)
    found = finite_source(people, 0.7, 1.0, 5, scv=0.2, inflation=inflation, redrive_time=0.1)
    chain = _phases.closed_in_phases(people, think, one, 5 * one, 0.2 * one, inflation * one, 0.1 * one)
    for values, right in zip((found.throughput, found.in_service, found.queue_length), chain, strict=False):
        np.testing.assert_allclose(values, right, rtol=1e-13, atol=1e-15)


def test_many_large_chains_are_refused_before_they_take_hours() -> None:
    with pytest.raises(
        InputError, match=r"scv = 0.05: expected nearer to 1: 500 stations of 210 states per level"
    ):
        finite_source(200, np.linspace(10.0, 20.0, 500), 1.0, 2, scv=0.05)
