"""The overflow group against textbook distributions, the exact chain of its counters, and a pool without queues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats

from planner.errors import InputError
from planner.queueing import alias_pool, overflow_group
from planner.queueing.overflow import fewest_found, most_found

LOADS = st.floats(0.01, 60.0)
PEAKEDNESSES = st.floats(1.001, 5.0)


@given(LOADS, st.integers(0, 80))
def test_poisson(load: float, servers: int) -> None:
    group = overflow_group(load, 1.0, servers)
    assert group.fail_fraction == pytest.approx(stats.poisson.sf(servers - 1, load), rel=1e-8, abs=1e-12)


@given(LOADS, PEAKEDNESSES, st.integers(0, 80))
def test_negative_binomial(load: float, peakedness: float, servers: int) -> None:
    group = overflow_group(load, peakedness, servers)
    distribution = stats.nbinom(load / (peakedness - 1.0), 1.0 / peakedness)
    k = np.arange(group.distribution.shape[-1])
    assert group.distribution == pytest.approx(distribution.pmf(k), rel=1e-6, abs=1e-9)
    beyond = (
        k[k > servers] * distribution.pmf(k[k > servers])
    ).sum() / load  # flow up from k is flow down from k + 1
    assert group.fail_fraction == pytest.approx(beyond, rel=1e-6, abs=1e-8)


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.integers(0, 70))
def test_binomial(sources: int, share: float, servers: int) -> None:
    group = overflow_group(sources * share, 1.0 - share, servers)
    expected = stats.binom.sf(servers - 1, sources - 1, share)  # an arrival sees the others
    assert group.fail_fraction == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(LOADS, st.floats(0.01, 4.0), st.integers(1, 40))
def test_the_law_keeps_what_it_was_given(load: float, peakedness: float, servers: int) -> None:
    group = overflow_group(load, peakedness, servers)
    k = np.arange(group.distribution.shape[-1])
    assert group.distribution.sum() == pytest.approx(1.0)
    assert group.distribution @ k == pytest.approx(load, rel=1e-6)
    if peakedness >= 1.0:  # below, whole requests may not come as evenly
        assert group.distribution @ (k - load) ** 2 == pytest.approx(load * peakedness, rel=1e-5)
    shares = group.fail_fraction_with(np.arange(60))
    assert (np.diff(shares) <= 1e-15).all()
    assert shares[servers] == pytest.approx(group.fail_fraction, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("load", "peakedness"), [(0.1, 0.5), (0.5, 0.1), (2.5, 0.01)])
def test_requests_come_as_evenly_as_whole_ones_can(load: float, peakedness: float) -> None:
    """Nothing with a mean of .1 varies by less than what is one in a tenth of all cases: a variance of .09, not .05."""
    group = overflow_group(load, peakedness, 3)
    k = np.arange(group.distribution.shape[-1])
    assert group.distribution @ k == pytest.approx(load, rel=1e-12)
    part = load % 1
    assert group.distribution @ (k - load) ** 2 == pytest.approx(part * (1 - part), rel=0.06)


def test_elements_are_scalars() -> None:
    load, peakedness = np.array([0.5, 3.0, 8.0]), np.array([[0.7], [1.0], [1.6]])
    together = overflow_group(load, peakedness, 5)
    for i in range(3):
        for j in range(3):
            alone = overflow_group(load[j], peakedness[i, 0], 5)
            assert together.fail_fraction[i, j] == pytest.approx(float(alone.fail_fraction), rel=1e-12)
            assert together.dispersions()[1][i, j] == pytest.approx(float(alone.dispersions()[1]), rel=1e-9)


@pytest.mark.parametrize(("load", "peakedness", "servers"), [(2.0, 1.0, 3), (4.0, 0.5, 5), (1.5, 1.8, 4)])
def test_dispersions_against_the_chain_itself(load: float, peakedness: float, servers: int) -> None:
    """Variance of counts of a Markov-modulated arrival process, by the deviation matrix of the generator."""
    group = overflow_group(load, peakedness, servers)
    size = group.distribution.size
    up = np.where(
        group.distribution > 0, group.flow / np.where(group.distribution > 0, group.distribution, 1.0), 0.0
    )
    up[-1] = 0.0
    generator = np.diag(up[:-1], 1) + np.diag(np.arange(1.0, size), -1)
    generator -= np.diag(generator.sum(axis=1))
    flat = np.outer(np.ones(size), group.distribution)
    deviation = linalg.inv(flat - generator) - flat
    jumps = np.diag(up[:-1], 1)
    fails = jumps * (np.arange(size) >= servers)[:, None]

    def covariance(one: np.ndarray, other: np.ndarray) -> float:
        both = (
            float(group.distribution @ (one * (other > 0)).sum(axis=1))
            if one is other
            else float(group.distribution @ fails.sum(axis=1))
        )
        return both + float(
            group.distribution @ (one @ deviation @ other + other @ deviation @ one) @ np.ones(size)
        )

    tries_mean, fails_mean = group.distribution @ jumps.sum(axis=1), group.distribution @ fails.sum(axis=1)
    tries, failing, joint = group.dispersions()
    assert tries == pytest.approx(covariance(jumps, jumps) / tries_mean, rel=1e-6)
    assert failing == pytest.approx(covariance(fails, fails) / fails_mean, rel=1e-6)
    assert joint == pytest.approx(covariance(jumps, fails) / fails_mean, rel=1e-6)


def test_a_poisson_stream_to_many_servers_counts_like_poisson() -> None:
    tries, fails, joint = overflow_group(3.0, 1.0, 400).dispersions()
    assert (tries, fails, joint) == (pytest.approx(1.0), 1.0, 0.0)


def test_rare_marks_against_the_chain_itself() -> None:
    """No request of an interval finds n busy or more: the chain with an absorbing level, by its exponential."""
    group = overflow_group(2.0, 1.0, 8)
    up = np.full(40, 2.0)
    for interval in (50.0, 400.0):
        cumulated = np.cumsum(group.found(interval * 2.0)[0])
        for level in (6, 7):  # found at most `level`: level + 2 is never reached
            states = level + 2
            generator = np.diag(up[: states - 1], 1) + np.diag(np.arange(1.0, states), -1)
            generator -= np.diag(up[:states] + np.arange(states))
            exact = float(group.distribution[:states] @ linalg.expm(interval * generator) @ np.ones(states))
            assert cumulated[level] == pytest.approx(exact, abs=0.01)


def test_rare_lows_against_the_chain_itself() -> None:
    """No request of an interval finds n busy or fewer: the chain that ends where one does, by its exponential."""
    rate, most = 8.0, 40
    distribution = stats.poisson.pmf(np.arange(most), rate)
    generator = np.diag(np.full(most - 1, rate), 1) + np.diag(np.arange(1.0, most), -1)
    generator -= np.diag(generator.sum(axis=1))
    for interval in (20.0, 100.0):
        cumulated = np.cumsum(fewest_found(distribution, rate * distribution, interval, 20))
        for level in (0, 1):
            going = generator.copy()
            going[np.arange(level + 1), np.arange(level + 1) + 1] = 0.0  # a request that finds so few ends it
            exact = float(distribution @ linalg.expm(interval * going) @ np.ones(most))
            assert 1.0 - cumulated[level] == pytest.approx(exact, abs=0.02)


@given(LOADS, st.floats(0.2, 3.0), st.integers(1, 30), st.floats(0.1, 1e6))
def test_marks_are_laws(load: float, peakedness: float, servers: int, tries: float) -> None:
    group = overflow_group(load, peakedness, servers)
    for distribution in group.found(tries):
        assert (distribution >= 0.0).all()
        assert distribution.sum() == pytest.approx(1.0)
    states = np.arange(servers + 1)
    (most, fewest), (longer_most, longer_fewest) = group.found(tries), group.found(10 * tries)
    assert longer_most @ states >= most @ states - 1e-9
    assert longer_fewest @ states <= fewest @ states + 1e-9


def test_a_level_that_is_certain() -> None:
    distribution, flow = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 5.0])
    assert most_found(distribution, flow, 10.0, 2) == pytest.approx([0.0, 0.0, 1.0])
    assert fewest_found(distribution, flow, 10.0, 2) == pytest.approx([0.0, 0.0, 1.0])


@pytest.mark.parametrize("servers", [6, 8, 10])
def test_a_pool_of_many_open_volumes_comes_close(servers: int) -> None:
    """The overflow of one server has Wilkinson's mean and peakedness; of many together it is as peaked."""
    load, volumes = 0.3, 24
    overflow = load**2 / (1 + load)  # of one server, lost
    peakedness = 1 - overflow + load / (1 + 1 + overflow - load)
    pool = alias_pool(servers, volumes=volumes, arrival_rate=load, service_time=1.0)
    tries = float(pool.tries_rate[0]) * volumes
    group = overflow_group(tries, peakedness, servers)
    assert group.fail_fraction == pytest.approx(float(pool.fail_fraction), rel=0.25)


@pytest.mark.parametrize(
    ("load", "peakedness", "servers", "argument"),
    [(0.0, 1.0, 1, "load"), (1.0, 0.0, 1, "peakedness"), (1.0, 1.0, -1, "servers"), (1.0, 1.0, 1.5, "servers"),
     (float("nan"), 1.0, 1, "load"), (1e5, 1.0, 1, "load")],
)  # fmt: skip
def test_outside_the_domain(load: float, peakedness: float, servers: float, argument: str) -> None:
    with pytest.raises(InputError) as caught:
        overflow_group(load, peakedness, servers)  # type: ignore[arg-type]
    assert caught.value.argument == argument


@pytest.mark.parametrize("servers", [-1, 7.9, float("nan"), "8"])
def test_other_numbers_of_servers_are_whole_ones(servers: object) -> None:
    with pytest.raises(InputError, match="servers"):
        overflow_group(3.0, 1.0, 8).fail_fraction_with(servers)  # type: ignore[arg-type]


@pytest.mark.parametrize("tries", [-1.0, float("nan"), None])
def test_tries_of_an_interval_are_numbers(tries: object) -> None:
    group = overflow_group(3.0, 1.0, 8)
    with pytest.raises(InputError, match="tries"):
        group.found(tries)  # type: ignore[arg-type]
