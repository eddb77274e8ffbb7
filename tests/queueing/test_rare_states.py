"""States too rare for the rounding of the others keep their digits wherever a chain is eliminated."""

from math import factorial

import numpy as np
import pytest
from mpmath import mp, mpf

from planner.queueing._levels import dwell_times, stationary
from planner.queueing.pools import lumped
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.independent import solve_single
from planner.queueing.pools.lumped import solve_lumped, stationary_distribution
from planner.queueing.pools.pool import check_pools
from tests.queueing.alias_pool import open_chain
from tests.queueing.alias_pool.open_chain import solve_open_chain


def checked(volumes, population=None, think_time=None, arrival_rate=None):
    return check_pools(
        volumes=volumes, service_time=1.0, population=population, think_time=think_time, arrival_rate=arrival_rate,
        inflation=0.0, redrive_time=0.0,
    )  # fmt: skip


def pool_of(*arguments, **rates):
    return checked(*arguments, **rates).pool(0)


def steps_of(size):
    """Moves of a birth-death chain."""
    here = np.arange(size - 1)
    return np.append(here, here + 1), np.append(here + 1, here)


@pytest.mark.parametrize("size", [40, 150])
def test_a_chain_keeps_states_of_probability_1e_minus_280(size):
    rise = 10.0 ** (-280.0 / size)
    rates = np.append(np.full(size - 1, rise), np.ones(size - 1))
    distribution, _ = stationary_distribution(*steps_of(size), rates, size)
    np.testing.assert_allclose(distribution / distribution[0], rise ** np.arange(size), rtol=1e-8)


def test_a_chain_that_mixes_is_solved_by_sweeps_alone(monkeypatch):
    """Factorizing takes the memory that sweeps save: only chains that mix slowly are."""

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(lumped, "_direct", refused)
    size = 150
    rates = np.append(np.full(size - 1, 0.5), np.ones(size - 1))
    distribution, _ = stationary_distribution(*steps_of(size), rates, size)
    np.testing.assert_allclose(distribution[:40] / distribution[0], 0.5 ** np.arange(40), rtol=1e-6)


def test_a_block_that_is_hardly_ever_left():
    """Two states that turn into each other a million million times before one of them is left."""
    moves, leaves = np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([[1e-18, 0.0]])
    np.testing.assert_allclose(dwell_times(moves, leaves)[0], [[1e18, 1e18], [1e18, 1e18]], rtol=1e-12)
    np.testing.assert_allclose(
        stationary(np.array([[[0.0, 1e-200], [1.0, 0.0]]]))[0], [1.0, 1e-200], rtol=1e-14
    )


def test_states_that_are_left_for_good_have_no_weight():
    """The first state leads to the others and none of them back: they have the distribution of a chain of their own."""
    moves = np.array([[0.0, 5.0, 1.0], [0.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    np.testing.assert_allclose(stationary(moves[None])[0], [0.0, 0.6, 0.4], rtol=1e-14)
    np.testing.assert_allclose(stationary(np.array([[[0.0, 1.0], [0.0, 0.0]]]))[0], [0.0, 1.0])


def test_fails_of_an_open_volume_with_many_aliases():
    """One volume is M/M/(A+1): its fails are the arrivals that find all servers busy, Erlang's formula."""
    aliases, load = 24, mpf("0.01")
    servers = aliases + 1
    weights = [load**n / mp.factorial(n) for n in range(servers)]
    last = load**servers / mp.factorial(servers) * servers / (servers - load)
    elements = PoolElements.of_pools(
        checked([1], arrival_rate=[0.01]), np.array([0]), np.array([aliases * 1.0])
    )
    outcome, _ = solve_single(elements)
    assert outcome.fails[0, 0] == pytest.approx(float(load * last / (mp.fsum(weights) + last)), rel=1e-10)


def test_flows_of_open_volumes_balance_at_every_number_of_aliases(monkeypatch):
    """``p(D+1) (D+1) = tries(D)`` down to the rarest D; with 100 aliases the distribution overflowed."""
    found = []
    monkeypatch.setattr(open_chain, "_outcome", lambda *summed: found.append(summed))
    for rate, aliases in ((0.001, 30), (0.001, 100), (0.7, 40)):
        solve_open_chain(pool_of([2], arrival_rate=[rate]), aliases)
        _, levels, kept, distributions, _ = found.pop()
        distribution = np.array([each.sum() for each in distributions])
        tries = np.array([
            (each @ (levels.arrivals(level) * (level.own > 0))).sum()
            for level, each in zip(kept, distributions, strict=True)
        ])  # fmt: skip
        busy = np.arange(1.0, aliases)
        seen = distribution[1:aliases] > 1e-290
        assert seen.sum() > 20
        np.testing.assert_allclose(
            (distribution[1:aliases] * busy)[seen], tries[: aliases - 1][seen], rtol=1e-10
        )


def test_requesters_that_hardly_ever_come_together():
    """With a server for each, N S / (S + Z) are in service on average."""
    people, think = 6, 1e8
    outcome = solve_lumped(pool_of([1], [people], [think]), people - 1)
    alone = 1.0 / (1.0 + think)
    whole = outcome.free_distribution @ np.arange(people)[::-1] + outcome.base_in_service[0]
    assert whole == pytest.approx(people * alone, rel=1e-10)
    assert 0.0 < outcome.free_distribution[0] < factorial(people) * alone ** (people - 1)
