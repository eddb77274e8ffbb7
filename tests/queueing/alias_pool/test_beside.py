"""Closed volumes beside open ones that overload their bases, and gaps of open pools: against exact chains."""

import numpy as np
import pytest

from planner.queueing.pools.closed_field.volume_chain import Others, agreeing, closed_given
from planner.queueing.pools.closed_field.volume_states import states_of
from planner.queueing.pools.exact.open_chain import solve_open_chain
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.independent import solve_independent
from planner.queueing.pools.open_field.open_field import open_field_steps, suits_open_field
from planner.queueing.pools.pool import check_pool
from planner.queueing.pools.service_variation import scv_with_gaps

NAN = float("nan")


def pool_of(volumes, arrival_rate, population=None, think_time=None, **law):
    plain = {"scv": 1.0, "inflation": 0.0, "redrive_time": 0.0, "alias_redrive_time": None}
    return check_pool(
        volumes=volumes, service_time=1.0, population=population, think_time=think_time, arrival_rate=arrival_rate,
        **{**plain, **law},
    )  # fmt: skip


def settled(pool, aliases):
    *_, outcome = open_field_steps(pool, aliases)
    return outcome


@pytest.mark.parametrize(
    ("aliases", "volumes", "population", "think_time", "arrival_rate"),
    [
        (1, [1, 1], [5, NAN], [7.0, NAN], [NAN, 1.458]),
        (3, [1, 1, 1], [2, NAN, NAN], [0.85, NAN, NAN], [NAN, 2.1, 1.2]),
        (2, [1, 1, 1], [4, 2, NAN], [2.0, 5.0, NAN], [NAN, NAN, 1.9]),
        (1, [1, 2], [3, NAN], [1.0, NAN], [NAN, 1.2]),
        (2, [2, 1], [3, NAN], [1.0, NAN], [NAN, 1.7]),
    ],
)
def test_mixed_field_against_exact_chains(aliases, volumes, population, think_time, arrival_rate):
    pool = pool_of(volumes, arrival_rate, population, think_time)
    assert suits_open_field(pool, aliases)
    exact, field = solve_open_chain(pool, aliases), settled(pool, aliases)
    np.testing.assert_allclose(field.throughput, exact.throughput, rtol=5e-4)
    np.testing.assert_allclose(field.queue, exact.queue, rtol=5e-3)
    np.testing.assert_allclose(field.tries, exact.tries, rtol=2e-3)
    np.testing.assert_allclose(field.fails, exact.fails, rtol=2e-3)
    np.testing.assert_allclose(field.free_law, exact.free_law, atol=1e-3)


def test_a_hot_volume_beside_many_closed_ones_settles():
    """It was refused. Simulated, 8 million I/Os: waits .7048 +- .0009, .7197 +- .0010 and 43.6 +- .6."""
    pool = pool_of([22, 13, 1], [NAN, NAN, 2.7389], [5, 3, NAN], [6.6099, 2.2167, NAN])
    outcome = settled(pool, 2)
    np.testing.assert_allclose(outcome.queue / outcome.throughput, [0.7048, 0.7197, 43.6], rtol=0.02)


def test_one_volume_alone_has_all_that_no_base_holds():
    pool, aliases, levels = pool_of([1], None, [4], [2.0]), 2, 4
    states = states_of(pool, 0, aliases, levels)
    nothing = Others(np.full(levels, 1e-9), np.zeros(levels))
    paces = Paces(np.ones(1), np.ones(1), np.ones((1, levels)))
    given = closed_given(states, 0, paces, nothing, np.ones(states.possible.shape), np.ones(levels))
    np.testing.assert_allclose(given.queue, [0.0, 0.0, 0.0, 1.0], atol=1e-7)
    np.testing.assert_allclose(given.held_at_busy, [0.0, 1.0, 2.0, 2.0], atol=1e-7)
    # Behind a busy base with d more I/Os three less d requesters think.
    np.testing.assert_allclose(given.tries / given.busy, (3.0 - np.arange(4.0)) / 2.0, atol=1e-7)


def test_a_chain_takes_its_own_most_probable_number_as_known():
    """Told that D is smallest where the others make it rise 540 times in a row, it filled the rest by rounding."""
    pool, aliases, levels = pool_of([1, 1], [NAN, 1.3], [3, NAN], [2.0, NAN]), 2, 540
    states = states_of(pool, 0, aliases, levels)
    others = Others.of(np.full(levels, 14.6), np.full(levels, 11.0), aliases, 99.0)
    paces = Paces(np.ones(2), np.ones(2), np.ones((2, levels)))
    low, high = np.eye(levels)[0], np.eye(levels)[-1]
    told_low, told_high = (
        closed_given(states, 0, paces, others, np.ones(states.possible.shape), law) for law in (low, high)
    )
    np.testing.assert_allclose(told_low.busy, told_high.busy, atol=1e-9)
    np.testing.assert_allclose(told_low.queue, told_high.queue, atol=1e-9)


def test_what_the_others_do_is_found_from_its_means():
    pool, aliases, levels = pool_of([2, 1], [NAN, 1.3], [4, NAN], [1.7, NAN]), 3, 60
    states = states_of(pool, 0, aliases, levels)
    paces = Paces(np.ones(2), np.ones(2), np.ones((2, levels)))
    law, alike = np.exp(-0.1 * np.arange(levels)), np.ones(states.possible.shape)
    has = np.arange(levels)
    truth = Others.of(
        1.0 + 0.5 / (1.0 + np.exp(-has / 9.0)), 1.0 - np.exp(-(has - aliases) / 5.0), aliases, 2.0
    )
    given = closed_given(states, 0, paces, truth, alike, law)
    seen = [(given.chance * values[states.others]).sum(axis=0) for values in (truth.tries, truth.pickups)]
    found = Others.of(np.ones(levels), np.zeros(levels), aliases, 2.0)
    for _ in range(40):
        given = closed_given(states, 0, paces, found, alike, law)
        found = agreeing(found, given, *seen, 2.0)
    np.testing.assert_allclose(found.tries[:40], truth.tries[:40], rtol=0.02)
    np.testing.assert_allclose(found.pickups[:40], truth.pickups[:40], atol=0.05)


def test_requesters_are_counted_at_every_state():
    states = states_of(pool_of([1], None, [5], [1.0]), 0, 2, 12)
    for moves, change in ((states.arriving, 1), (states.picking, -1), (states.idling, -1)):
        count = states.busy.size
        people = states.busy + states.held + states.queue
        assert np.all(people[moves.to % count] - people[moves.start % count] == change)
    for moves, change in ((states.own_ends, -1), (states.other_ends, 0)):
        assert np.all(moves.to // count - moves.start // count == -1)
        assert np.all(people[moves.to % count] - people[moves.start % count] == change)


@pytest.mark.parametrize(
    ("aliases", "rate", "gap"), [(1, 1.2, 0.08), (3, 1.5, 0.08), (1, 0.7, 0.2), (2, 2.4, 0.04)]
)
def test_open_volume_with_gaps_against_its_exact_chain(aliases, rate, gap):
    pool = pool_of([1], [rate], redrive_time=gap)
    exact, field = solve_independent(pool, aliases), settled(pool, aliases)
    np.testing.assert_allclose(field.queue + field.in_gap(pool), exact.queue + exact.in_gap(pool), rtol=0.03)
    np.testing.assert_allclose(field.tries, exact.tries, rtol=1e-3)


def test_service_after_a_gap_varies_as_two_steps_do():
    # Where nearly every I/O has to wait, service and gap are two exponential steps: variance 1 + g^2, mean 1 + g.
    pool = pool_of([1], [3.6], redrive_time=0.1)
    outcome = settled(pool, 3)
    waits = float(((outcome.base_pickups + outcome.alias_pickups) / outcome.throughput)[0])
    assert waits > 0.85
    whole = (1.0 + 0.1**2) / 1.1**2
    assert scv_with_gaps(pool, outcome) == pytest.approx(1.0 + waits * (whole - 1.0), abs=0.02)


def test_which_pools_the_open_field_takes():
    hot, cool = [NAN, 1.3], [NAN, 0.9]
    mixed = {"population": [4, NAN], "think_time": [2.0, NAN]}
    assert suits_open_field(pool_of([20, 1], hot, **mixed), 1)
    assert suits_open_field(pool_of([3, 4], [0.4, 0.9]), 2)
    assert suits_open_field(pool_of([3, 4], [0.4, 0.9], redrive_time=0.1), 2)
    assert not suits_open_field(pool_of([20, 1], hot, **mixed), 2)  # most of the aliases serve others
    assert not suits_open_field(pool_of([20, 9], hot, **mixed), 3)  # many overloaded volumes
    assert not suits_open_field(pool_of([20, 1], cool, **mixed), 1)
    assert not suits_open_field(pool_of([20, 1], hot, inflation=0.1, **mixed), 1)
    assert not suits_open_field(pool_of([20, 1], hot, population=[40, NAN], think_time=[2.0, NAN]), 1)
    assert not suits_open_field(pool_of([3], None, [4], [2.0]), 1)
