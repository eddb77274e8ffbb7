"""Closed volumes by chains beside each other: against exact chains, and the balances that they keep."""

import numpy as np
import pytest

from planner.queueing.pools import alias_pool
from planner.queueing.pools.closed_field.closed_field import closed_field_steps, suits_closed_field
from planner.queueing.pools.closed_field.volume_chain import Others, agreeing_pace, closed_given
from planner.queueing.pools.closed_field.volume_states import states_of
from planner.queueing.pools.exact.closed_chain import solve_lumped
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.outcome import TOLERANCE, imbalances
from planner.queueing.pools.pool import check_pool

NEAR = {"rtol": 0.1, "atol": 0.02}  # a tenth; waits below 2 % of the service time do not count


def pool_of(volumes, service, population, think_time, **law):
    given = {"scv": 1.0, "inflation": 0.0, "redrive_time": 0.0, "alias_redrive_time": None, **law}
    return check_pool(
        volumes=volumes,
        service_time=service,
        population=population,
        think_time=think_time,
        arrival_rate=None,
        **given,
    )


def settled(pool, aliases):
    return list(closed_field_steps(pool, aliases))[-1]


@pytest.mark.parametrize(
    ("aliases", "service", "population", "think_time"),
    [
        (1, [1.0, 1.0], [3, 3], [1.0, 2.0]),
        (2, [1.0, 10.0], [4, 3], [2.0, 9.0]),
        (3, [2.0, 0.16, 1.5], [3, 5, 3], [12.0, 0.08, 3.0]),
        (2, [0.2, 1.0, 4.0], [2, 4, 2], [0.1, 1.0, 2.0]),
    ],
)
def test_closed_field_against_exact_chains(aliases, service, population, think_time):
    pool = pool_of([1] * len(service), service, population, think_time)
    exact, field = solve_lumped(pool, aliases), settled(pool, aliases)
    np.testing.assert_allclose(field.throughput, exact.throughput, rtol=0.02)
    np.testing.assert_allclose(field.queue / field.throughput, exact.queue / exact.throughput, **NEAR)
    np.testing.assert_allclose(field.free_law, exact.free_law, atol=0.02)


@pytest.mark.parametrize("law", [{"inflation": 0.2}, {"redrive_time": 0.08}])
def test_closed_field_with_inflation_and_gaps(law):
    pool = pool_of([2, 1], 1.0, [3, 3], [1.0, 3.0], **law)
    exact, field = solve_lumped(pool, 2), settled(pool, 2)
    np.testing.assert_allclose(field.throughput, exact.throughput, rtol=0.01)
    whole = [(each.queue + each.in_gap(pool)) / each.throughput for each in (field, exact)]
    np.testing.assert_allclose(*whole, **NEAR)


def test_a_quick_volume_among_slow_ones():
    """With one rule for the whole queue it lost a third of its requesters at a long queue: waits 40 % too long."""
    service = [2.0892, 0.1628, 1.4993, 0.2512, 0.8148, 1.768, 0.4145]
    think = np.array([5.8565, 0.4991, 1.8606, 7.125, 1.7189, 0.6722, 2.5924]) * service
    pool = pool_of([1] * 7, service, [4, 5, 6, 2, 4, 4, 3], think)
    field = settled(pool, 7)
    # 20 million moves of a simulation of the same chain, standard errors about 1 %
    simulated = np.array([0.0139, 0.2069, 0.0330, 0.0244, 0.0487, 0.0230, 0.0607])
    np.testing.assert_allclose(field.queue / field.throughput / pool.service, simulated, rtol=NEAR["rtol"])
    assert max(imbalances(pool, 7, field).values()) < TOLERANCE


def test_what_one_alias_of_the_others_ends_is_found_from_its_mean():
    pool, aliases, levels = pool_of([1, 1], [1.0, 3.0], [4, 4], [2.0, 2.0]), 3, 7
    states = states_of(pool, 0, aliases, levels)
    paces = Paces(np.ones(2), np.ones(2), np.ones((2, levels)))
    others, law = Others(np.full(levels, 0.7), np.zeros(levels)), np.exp(-0.3 * np.arange(levels))
    truth = 0.3 + 0.1 * np.arange(levels)
    given = closed_given(states, 0, paces, others, truth[states.others], law)
    ends = (given.chance * states.theirs * truth[states.others]).sum(axis=0)
    found = np.ones(levels)
    for _ in range(200):
        found = agreeing_pace(found, given, ends, 0.1, 2.0)
    seen = (given.chance * states.theirs * found[states.others]).sum(axis=0)
    np.testing.assert_allclose(seen[1:], ends[1:], rtol=0.01)


def test_which_pools_the_closed_field_takes():
    assert suits_closed_field(pool_of([3, 1], [1.0, 2.0], [4, 2], [1.0, 1.0]), 2)
    assert suits_closed_field(pool_of([3], 1.0, [4], [1.0], inflation=0.1), 2)
    assert not suits_closed_field(pool_of([3], 1.0, [40], [1.0]), 2)
    assert not suits_closed_field(pool_of([3], 1.0, [4], [1.0], scv=2.0), 2)
    opened = check_pool(
        volumes=[3], service_time=1.0, population=None, think_time=None, arrival_rate=[0.3], scv=1.0, inflation=0.0,
        redrive_time=0.0, alias_redrive_time=None,
    )  # fmt: skip
    assert not suits_closed_field(opened, 2)


def test_unequal_closed_volumes_are_answered_by_their_chains():
    law = {
        "volumes": [1, 1, 1],
        "service_time": [2.0, 0.2, 1.0],
        "population": [3, 4, 2],
        "think_time": [6.0, 0.2, 1.0],
    }
    mean_field, exact = (alias_pool(2, method=method, **law) for method in ("mean-field", "exact"))
    np.testing.assert_allclose(mean_field.wait_time, exact.wait_time, **NEAR)
    np.testing.assert_allclose(mean_field.service_time, exact.service_time, rtol=TOLERANCE)
