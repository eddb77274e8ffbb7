"""M/G/c: 50-digit references, the stated errors of the closed forms, limits, a simulation, bad input."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from planner import InputError
from planner.queueing import mgc, mmc
from planner.queueing.general_service import CLOSED_FORMS, COMPARED_SCV, KNOWN_ERRORS, METHODS, least_residual
from planner.results import Array
from tests import tolerances
from tests.brief import examples
from tests.queueing.references import columns, relative_error

REGULAR = columns("deterministic")
PHASES = columns("open_phases")


def promised(load: Array, servers: Array) -> Array:
    near = load / servers > 0.985
    return np.where(near, tolerances.EXACT_OPEN_PHASES_NEAR, tolerances.EXACT_OPEN_PHASES)


@pytest.mark.parametrize(("column", "name"), [("wait_time", "wait_time"), ("delay", "delay_probability")])
def test_deterministic_service_agrees_with_the_references(column: str, name: str) -> None:
    steady = mgc(REGULAR["load"], 1.0, REGULAR["servers"], 0.0, "exact")
    error = relative_error(getattr(steady, name), REGULAR[column])
    assert (error <= promised(REGULAR["load"], REGULAR["servers"])).all()


@pytest.mark.parametrize(("column", "name"), [("wait_time", "wait_time"), ("delay", "delay_probability")])
def test_phase_type_service_agrees_with_the_references(column: str, name: str) -> None:
    steady = mgc(PHASES["load"], 1.0, PHASES["servers"], PHASES["scv"], "exact")
    error = relative_error(getattr(steady, name), PHASES[column])
    assert (error <= promised(PHASES["load"], PHASES["servers"])).all()
    assert (steady.known_error == 0).all()


@pytest.mark.slow
def test_sixteen_servers_with_four_stages_keep_the_identities() -> None:
    """969 states a level, beyond what 50 digits can check: flow and the neighboring closed forms do."""
    rho = np.array([0.5, 0.9, 0.99])
    steady = mgc(16 * rho, 1.0, 16, 0.25, "exact")
    assert np.allclose(steady.wait_time, mgc(16 * rho, 1.0, 16, 0.25, "takahashi_1977").wait_time, rtol=0.015)
    between = mgc(16 * rho, 1.0, 16, [[0.26], [0.24]], "boxma_cohen_huffels_1979").wait_time
    assert (between[1] < steady.wait_time * 1.03).all()


def test_chains_of_very_uneven_services_keep_their_digits() -> None:
    """The same chain in 80 digits; with one server Pollaczek and Khinchine."""
    from planner.queueing._phases import open_in_phases

    steady = mgc([1.6, 1.6, 1.98], 1.0, 2, [1e4, 1e8, 1e6], "exact")
    waits = [8001.6666244691381641, 80000001.668571259716, 24502548.847493522958]
    delays = [0.731408764849934826, 0.73142856944326583229, 0.98665553041445472808]
    assert np.allclose(steady.wait_time, waits, rtol=1e-12)
    assert np.allclose(steady.delay_probability, delays, rtol=1e-12)
    load, scv = np.array([0.2, 0.999, 0.999999, 0.9]), np.array([1e12, 1e4, 2.0, 0.3])
    for part, _, solution in open_in_phases(load, np.ones(4), np.ones(4), scv):
        a = load[part]
        wanted = a**2 * (1 + scv[part]) / (2 * (1 - a))
        assert np.allclose(solution.sums[2], wanted, rtol=1e-9)


def test_phase_chains_serve_what_arrives() -> None:
    """Requests in service equal the offered load: a check of the whole chain that no closed form enters."""
    from planner.queueing._phases import open_in_phases

    load = np.array([0.3, 1.5, 5.0, 9.9, 15.8])
    servers = np.array([1.0, 2.0, 8.0, 10.0, 16.0])
    for scv in (0.4, 0.5, 3.0, 10.0):
        for part, _, solution in open_in_phases(load, np.ones(5), servers, np.full(5, scv)):
            throughput, busy, *_ = solution.sums
            assert np.allclose(throughput, load[part], rtol=1e-10)
            assert np.allclose(busy, load[part], rtol=1e-10)


def largest_scv(method: str, scv: float) -> float:
    """Cosmetatos' form ends at scv 1: its waits turn negative above, and it refuses them."""
    return min(scv, 1.0) if method == "cosmetatos_1975" else scv


def test_cosmetatos_refuses_what_lies_above_his_domain() -> None:
    with pytest.raises(InputError, match=r"scv = 1\.5: expected at most 1 for cosmetatos_1975"):
        mgc(1.0, 1.0, 2, 1.5, "cosmetatos_1975")


@given(load=st.floats(0.01, 0.98), servers=st.integers(1, 30), method=st.sampled_from(METHODS))
def test_scv_one_is_mmc(load: float, servers: int, method: str) -> None:
    steady, exponential = mgc(load * servers, 1.0, servers, 1.0, method), mmc(load * servers, 1.0, servers)
    assert np.isclose(steady.wait_time, exponential.wait_time, rtol=1e-11)
    assert np.isclose(steady.delay_probability, exponential.delay_probability, rtol=1e-11)


@given(load=st.floats(0.01, 0.98), scv=st.floats(0, 20), method=st.sampled_from(METHODS))
def test_one_server_is_pollaczek_and_khinchine(load: float, scv: float, method: str) -> None:
    scv = largest_scv(method, scv)
    wait = load * (1 + scv) / (2 * (1 - load))
    assert np.isclose(mgc(load, 1.0, 1, scv, method).wait_time, wait, rtol=1e-11)


@given(load=st.floats(0.05, 0.98), servers=st.integers(2, 64))
def test_forms_built_on_deterministic_service_return_it(load: float, servers: int) -> None:
    exact = mgc(load * servers, 1.0, servers, 0.0, "exact").wait_time
    assert exact <= mmc(load * servers, 1.0, servers).wait_time
    for method in ("auto", "kimura_1986", "boxma_cohen_huffels_1979", "takahashi_1977"):
        assert mgc(load * servers, 1.0, servers, 0.0, method).wait_time == exact


@given(
    load=st.floats(0.05, 0.97),
    servers=st.integers(1, 24),
    scv=st.floats(0.05, 8),
    method=st.sampled_from(METHODS),
)
@examples(150)
def test_wait_rises_with_load_and_scv_and_falls_with_servers(
    load: float, servers: int, scv: float, method: str
) -> None:
    if (
        method == "cosmetatos_1975"
    ):  # his M/D/c wait passes that of M/M/c where a large group is lightly loaded
        load, scv = 0.5 + load / 2, min(scv, 0.9)  # and the form ends at scv 1
    if method == "exact":
        servers, scv = min(servers, 4), max(scv, 0.2)
    a = load * servers
    here = mgc(a, 1.0, servers, scv, method).wait_time
    assert mgc(a * 1.001, 1.0, servers, scv, method).wait_time > here
    assert mgc(a, 1.0, servers + 1, scv, method).wait_time < here
    assert mgc(a, 1.0, servers, scv * 1.05, method).wait_time > here * (1 - 1e-12)
    nudged = mgc([a * (1 + 1e-9), a], 1.0, servers, [scv, scv * (1 + 1e-9)], method).wait_time
    assert np.allclose(nudged, here, rtol=1e-6, atol=0)


def compared_grid() -> tuple[Array, Array, Array]:
    """Loads, servers and scv over the region that `known_error` speaks of, where the exact chain is quick."""
    rho, servers, scv = np.meshgrid(
        [0.3, 0.5, 0.7, 0.9, 0.99], [2, 4, 8, 16], [0.26, 0.34, 0.5, 0.75, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0]
    )
    rho, servers, scv = rho.ravel(), servers.ravel().astype(float), scv.ravel()
    quick = (scv >= 0.5) | (servers <= 8) | ((scv > 0.33) & (rho < 0.6))
    return (rho * servers)[quick], servers[quick], scv[quick]


@pytest.fixture(scope="module")
def grid() -> tuple[Array, Array, Array, Array]:
    load, servers, scv = compared_grid()
    return load, servers, scv, mgc(load, 1.0, servers, scv, "exact").wait_time


@pytest.mark.long
@pytest.mark.parametrize("method", CLOSED_FORMS)
def test_known_errors_are_neither_exceeded_nor_overstated_twofold(
    method: str, grid: tuple[Array, Array, Array, Array]
) -> None:
    inside = grid[2] <= largest_scv(method, np.inf)
    load, servers, scv, exact = (each[inside] for each in grid)
    steady = mgc(load, 1.0, servers, scv, method)
    error = np.abs(steady.wait_time / exact - 1)
    assert (error <= steady.known_error).all()
    low = 0.0
    for high, stated in zip(COMPARED_SCV, KNOWN_ERRORS[method], strict=False):
        inside = (scv > low) & (scv <= high)
        assert error[inside].max() >= stated / 2
        low = high


@pytest.mark.long
def test_auto_stays_within_three_percent(grid: tuple[Array, Array, Array, Array]) -> None:
    load, servers, scv, exact = grid
    inside = (scv <= 2) & (load >= 0.49 * servers)
    steady = mgc(load, 1.0, servers, scv)
    assert inside.sum() > 50
    assert (np.abs(steady.wait_time / exact - 1)[inside] <= tolerances.AUTO_ERROR).all()


def test_auto_says_which_method_it_used_and_how_good_that_is() -> None:
    steady = mgc(
        0.8 * np.array([1, 2, 2, 2, 2, 40]), 1.0, [1, 2, 2, 2, 2, 40], [0.5, 0.0, 1.0, 0.5, 2.0, 2.0]
    )
    below, above = "takahashi_1977", "boxma_cohen_huffels_1979"
    assert steady.method.tolist() == ["exact", "exact", "exact", below, above, above]
    assert steady.known_error[:3].tolist() == [0, 0, 0]
    assert 0 < steady.known_error[3] < steady.known_error[4] * 2
    assert np.isnan(steady.known_error[5])


@given(scv=st.sampled_from([0.0, 0.5, 2.0]), servers=st.integers(1, 6), load=st.floats(1.0, 3.0))
def test_saturation_is_an_answer(scv: float, servers: int, load: float) -> None:
    for method in METHODS:
        steady = mgc(load * servers, 1.0, servers, largest_scv(method, scv), method)
        assert not steady.stable
        assert np.isinf(steady.wait_time)
        assert np.isinf(steady.queue_length)
        assert steady.throughput == servers
        assert steady.delay_probability == 1


def test_nobody_arrives() -> None:
    for method in METHODS:
        steady = mgc(0.0, 2.0, 3, 0.5, method)
        assert steady.wait_time == steady.queue_length == 0
        assert steady.response_time == 2.0


def test_very_many_servers_with_deterministic_service() -> None:
    """Square-root staffing: at a fixed surplus of standard deviations the delay probability has a limit."""
    servers = np.array([1e3, 1e4, 1e5])
    steady = mgc(servers - np.sqrt(servers), 1.0, servers, 0.0, "exact")
    m = np.arange(1, 200)
    limit = -np.expm1(-(ndtr(-np.sqrt(m)) / m).sum())  # Spitzer's series of the Gaussian random walk
    assert (np.abs(steady.delay_probability - limit) < 0.05 / np.sqrt(servers)).all()


def simulated_wait(load: float, servers: int, scv: float, seed: int) -> tuple[float, float]:
    """Mean wait and its standard error by the recursion of Kiefer and Wolfowitz, many replications side by side."""
    generator = np.random.default_rng(seed)
    runs, warm, arrivals = 400, 1500, 6000
    free = np.zeros((runs, servers))
    total = np.zeros(runs)
    for arrival in range(arrivals):
        wait = free[:, 0].copy()
        if arrival >= warm:
            total += wait
        free[:, 0] += service(generator, scv, runs)
        free = np.maximum(free - generator.exponential(1 / load, runs)[:, None], 0)
        free.sort(axis=1)
    means = total / (arrivals - warm)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(runs))


def service(generator: np.random.Generator, scv: float, size: int) -> Array:
    """Draw from the two-moment distribution."""
    if scv == 0:
        return np.ones(size)
    if scv > 1:
        first = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
        rate = np.where(generator.random(size) < first, 2 * first, 2 * (1 - first))
        return generator.exponential(1 / rate)
    k = np.ceil(1 / scv - 1e-9)
    short = (k * scv - np.sqrt(max(k * (1 + scv) - k * k * scv, 0))) / (1 + scv)
    stages = k - (generator.random(size) < short)
    return generator.gamma(stages, 1 / (k - short))


@pytest.mark.slow
@pytest.mark.parametrize("scv", [0.0, 0.3, 0.5, 2.0, 4.0])
@pytest.mark.parametrize(("servers", "utilization"), [(1, 0.6), (2, 0.75), (5, 0.8)])
def test_simulation_agrees(scv: float, servers: int, utilization: float) -> None:
    load = utilization * servers
    mean, error = simulated_wait(load, servers, scv, seed=servers)
    exact = mgc(load, 1.0, servers, scv, "exact").wait_time
    assert error < 0.02 * exact
    assert abs(mean - exact) <= tolerances.SIMULATION_SIGMAS * error


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"method": "best"}, "method = 'best'"),
        ({"scv": -0.1}, "scv = -0.1"),
        ({"scv": np.nan}, "scv = nan"),
        ({"arrival_rate": -1.0}, "arrival_rate = -1.0 1/s"),
        ({"service_time": 0.0}, "service_time = 0.0 s"),
        ({"servers": 0}, "servers = 0"),
        ({"servers": 1.5}, "servers = 1.5"),
        ({"servers": [1, 2], "scv": [1, 2, 3]}, "shapes"),
        ({"servers": 40, "scv": 0.1, "method": "exact"}, "servers = 40"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], told: str) -> None:
    good: dict[str, object] = {"arrival_rate": 1.0, "service_time": 1.0, "servers": 2, "scv": 0.5}
    with pytest.raises(InputError, match=told):
        mgc(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("servers", [2, 5, 20])
@pytest.mark.parametrize("scv", [1.5, 1e3, 1e4, 1e12])
def test_the_least_of_several_very_uneven_services_is_a_binomial_sum(servers: int, scv: float) -> None:
    """Each residual service is of either branch with chance 1/2, the least of k and c - k exponential."""
    with mpmath.workdps(40):
        skew, k = mpmath.sqrt((mpmath.mpf(scv) - 1) / (mpmath.mpf(scv) + 1)), range(servers + 1)
        rates = [mpmath.binomial(servers, j) / (servers + (2 * j - servers) * skew) for j in k]
        wanted = float(sum(rates) / 2**servers)
    assert np.isclose(least_residual(np.array([scv]), np.array([float(servers)]))[0], wanted, rtol=1e-12)
