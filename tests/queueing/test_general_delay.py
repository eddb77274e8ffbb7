"""Quantiles of M/G/c: M/M/c as a special case, known distributions of one server, means, simulation, refusals."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from planner import InputError
from planner.queueing import mgc, mmc
from planner.results import Array
from tests.brief import examples
from tests.queueing.test_general_service import service

SHARES = np.array([0.05, 0.5, 0.9, 0.99, 0.99999])


@pytest.mark.parametrize("servers", [1, 2, 8])
@pytest.mark.parametrize("utilization", [0.3, 0.8, 0.97])
def test_exponential_service_is_mmc(servers: int, utilization: float) -> None:
    load = utilization * servers
    chain, closed = mgc(load / 2, 2.0, servers, 1.0, "exact"), mmc(load / 2, 2.0, servers)
    for name in ("wait_quantile", "response_quantile"):
        found, wanted = getattr(chain, name)(SHARES), getattr(closed, name)(SHARES)
        assert np.allclose(found, wanted, rtol=1e-10, atol=1e-12), name


@given(load=st.floats(0.1, 0.95), p=st.floats(0.1, 0.9999))
@examples(30)
def test_one_server_with_deterministic_service_is_the_law_of_erlang(load: float, p: float) -> None:
    """P(W <= t) = (1 - rho) sum over j <= t of (rho (j - t))^j / j! exp(-rho (j - t)) (Erlang 1909)."""
    wait = mgc(load, 1.0, 1, 0.0, "exact").wait_quantile(p)
    if wait < 6:  # the sum cancels further out
        j = np.arange(int(wait) + 1)
        factorial = np.cumprod(np.maximum(j, 1).astype(float))
        reached = (1 - load) * (((load * (j - wait)) ** j) / factorial * np.exp(-load * (j - wait))).sum()
        assert np.isclose(reached, max(p, 1 - load), rtol=1e-9)


@pytest.mark.parametrize("load", [0.3, 0.9])
@pytest.mark.parametrize("p", [1 - 1e-8, 1 - 1e-12])
def test_rare_waits_with_deterministic_service_keep_their_digits(load: float, p: float) -> None:
    """The distribution of Erlang (1909), as above, in as many digits as its sum loses."""
    wait = float(mgc(load, 1.0, 1, 0.0).wait_quantile(p))
    with mpmath.workdps(300):
        rho, t = mpmath.mpf(load), mpmath.mpf(wait)
        terms = [
            (rho * (j - t)) ** j / mpmath.factorial(j) * mpmath.exp(rho * (t - j))
            for j in range(int(wait) + 1)
        ]
        missed = float(1 - (1 - rho) * sum(terms))
    assert np.isclose(missed, 1 - p, rtol=1e-9, atol=0)


@pytest.mark.parametrize("servers", [2, 50, 1000])
def test_waits_with_deterministic_service_end_exponentially(servers: int) -> None:
    """Far out the tail falls at the rate load (z - 1), z > 1 with servers ln z = load (z - 1)."""
    load, shares = 0.99 * servers, np.array([1 - 1e-7, 1 - 1e-12])
    steady = mgc(load, 1.0, servers, 0.0)
    z = brentq(lambda z: servers * np.log(z) - load * (z - 1), 1 + 1e-5, 2.0, xtol=1e-15, rtol=1e-15)
    apart = float(np.diff(steady.wait_quantile(shares))[0])
    assert np.isclose(apart, np.log((1 - shares[0]) / (1 - shares[1])) / (load * (z - 1)), rtol=1e-9)


@pytest.mark.parametrize(("servers", "scv"), [(1, 0.3), (1, 10.0), (2, 0.5), (3, 0.0), (3, 0.7), (4, 2.0)])
def test_mean_of_the_quantiles_is_the_mean(servers: int, scv: float) -> None:
    """The mean is the integral of the quantiles, split where waiting begins and taken to the fourth power beyond."""
    steady = mgc(0.75 * servers, 1.0, servers, scv, "exact")
    nodes, weights = np.polynomial.legendre.leggauss(40)
    u = (nodes + 1) / 2
    delay = float(steady.delay_probability)
    quantiles = steady.wait_quantile(1 - delay * (1 - u) ** 4)
    mean = delay * (quantiles * 4 * (1 - u) ** 3 * weights / 2).sum()
    # Deterministic service has waits with kinks at each service time.
    assert np.isclose(mean, steady.wait_time, rtol=1e-3 if scv == 0 else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "scv"), [(1, 0.5), (2, 0.0), (3, 0.3), (3, 4.0)])
def test_simulation_agrees(servers: int, scv: float) -> None:
    """Shares of simulated waits and responses below the quantiles; Kiefer and Wolfowitz, many runs side by side."""
    generator = np.random.default_rng(servers)
    load, runs, warm, arrivals = 0.7 * servers, 500, 1000, 3000
    steady = mgc(load, 1.0, servers, scv, "exact")
    p = np.array([0.6, 0.9, 0.99])
    limits = np.stack([steady.wait_quantile(p), steady.response_quantile(p)])
    below: Array = np.zeros((runs, 2, 3))
    free = np.zeros((runs, servers))
    for arrival in range(arrivals):
        own = service(generator, scv, runs)
        wait = free[:, 0].copy()
        if arrival >= warm:
            below += np.stack([wait, wait + own], axis=1)[:, :, None] <= limits + 1e-12
        free[:, 0] += own
        free = np.maximum(free - generator.exponential(1 / load, runs)[:, None], 0)
        free.sort(axis=1)
    shares = below / (arrivals - warm)
    error = shares.std(axis=0, ddof=1) / np.sqrt(runs)
    reached = np.maximum(p, [[1 - steady.delay_probability], [0.0]])
    assert (np.abs(shares.mean(axis=0) - reached) <= 4 * error).all()


def test_shapes_saturation_and_idleness() -> None:
    steady = mgc([[0.0], [1.0], [2.5]], 1.0, 2, [0.0, 0.5, 2.0], "exact")
    quantile = steady.response_quantile(0.9)
    assert quantile.shape == (3, 3)
    assert np.isinf(quantile[2]).all()
    assert quantile[0, 0] == 1.0
    assert (quantile[1] > quantile[0]).all()
    assert (steady.wait_quantile(0.9)[0] == 0).all()


def test_quantiles_rise_with_the_share_and_the_load() -> None:
    steady = mgc(np.array([[1.0], [1.5], [1.9]]), 1.0, 2, 0.6, "exact")
    for quantile in (steady.wait_quantile(SHARES), steady.response_quantile(SHARES)):
        assert (np.diff(quantile, axis=0) >= 0).all()
        assert (np.diff(quantile, axis=1) >= 0).all()


@pytest.mark.long
def test_scenarios_side_by_side_are_each_alone() -> None:
    """A wait that is short beside one whose tail goes on for hundreds of services."""
    load, scv = np.array([0.4, 1.2, 1.98]), np.array([0.5, 2.0, 0.0])
    for each in (scv, 0.6):
        together = mgc(load, 1.0, 2, each, "exact")
        apart = [mgc(load[k], 1.0, 2, np.broadcast_to(each, 3)[k], "exact") for k in range(3)]
        for name in ("wait_quantile", "response_quantile"):
            for share in (0.9, 0.999999):
                expected = [float(getattr(alone, name)(share)) for alone in apart]
                assert np.allclose(getattr(together, name)(share), expected, rtol=1e-9), name


def test_closed_forms_know_no_quantiles() -> None:
    for method in ("auto", "kimura_1986"):
        with pytest.raises(InputError, match="wait_quantile"):
            mgc(1.0, 1.0, 2, 0.5, method).wait_quantile(0.9)
    assert mgc(1.0, 1.0, 2, [0.0, 1.0]).wait_quantile(0.9).shape == (2,)  # "auto" was exact here


@pytest.mark.slow
def test_chains_too_large_for_a_law_are_refused() -> None:
    with pytest.raises(InputError, match="servers = 300"):
        mgc(150.0, 1.0, 300, 2.0, "exact").wait_quantile(0.9)
    with pytest.raises(InputError, match="arrival_rate"):
        mgc(1.999999999, 1.0, 2, 0.0, "exact").wait_quantile(0.9)
