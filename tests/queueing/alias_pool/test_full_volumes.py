"""Pools that closed volumes keep full: by arithmetic, against chains of one volume, and by their balance."""

import numpy as np
import pytest

from planner.queueing import alias_pool
from planner.queueing.pools.full_volumes import HARDLY, _by_chain, solve_full_volumes, suits_full_volumes
from planner.queueing.pools.outcome import imbalances
from planner.queueing.pools.pool import check_pool

NAN = np.nan


def pool_of(volumes, population, think_time, arrival_rate=None, **law):
    plain = {
        "service_time": 1.0,
        "scv": 1.0,
        "inflation": 0.0,
        "redrive_time": 0.0,
        "alias_redrive_time": None,
    }
    return check_pool(
        volumes=volumes,
        population=population,
        think_time=think_time,
        arrival_rate=arrival_rate,
        **{**plain, **law},
    )


def test_full_volumes_alone_share_the_aliases():
    """Every base and every alias is always busy, whatever the service: 40 and 8 of them, for 40 volumes alike."""
    for scv in (0.5, 1.0, 3.0):
        pool = pool_of([40], [5], [1e-9], scv=scv)
        assert suits_full_volumes(pool, 8)
        outcome = solve_full_volumes(pool, 8)
        assert outcome.throughput == pytest.approx(48 / 40, rel=1e-9)
        assert outcome.queue == pytest.approx(5 - 48 / 40, rel=1e-6)
        assert outcome.base_in_service == pytest.approx(1.0, rel=1e-9)


def test_an_open_volume_is_a_queue_with_impatience():
    """A waiting I/O is taken at the rate 1 / W beside W that wait: p(j) = p(j-1) a / (1 + j / W), summed by hand."""
    pool = pool_of([1, 40], [NAN, 5], [NAN, 1e-9], [0.1, NAN])
    outcome = solve_full_volumes(pool, 1)
    waiting = float(outcome.queue @ pool.volumes)
    law = [1.0]
    for j in range(1, 60):
        law.append(law[-1] * 0.1 / (1.0 + j / waiting))
    whole = law[0] / 0.1 + sum(law)
    assert outcome.queue[0] == pytest.approx(sum(j * p for j, p in enumerate(law)) / whole, rel=1e-4)
    assert outcome.tries[0] == pytest.approx(0.1 * sum(law) / whole, rel=1e-6)


@pytest.mark.parametrize("law", [{}, {"redrive_time": 0.08}, {"inflation": 0.3}])
def test_answers_are_in_balance_and_near_the_field(law):
    pool = pool_of([5, 20], [4, 3], [2.0, 1e-5], **law)
    outcome = solve_full_volumes(pool, 3)
    assert max(imbalances(pool, 3, outcome).values()) < 1e-6
    field = alias_pool(
        3,
        volumes=[5, 20],
        population=[4, 3],
        think_time=[2.0, 1e-5],
        service_time=1.0,
        method="mean-field",
        **law,
    )
    np.testing.assert_allclose(outcome.throughput, field.throughput, rtol=0.01)
    np.testing.assert_allclose(outcome.queue + outcome.in_gap(pool), field.queue_length, rtol=0.03)


def test_an_open_volume_with_gaps_is_solved_as_one_without_where_they_vanish():
    """But for more aliases than there are on one volume, which its chain leaves out."""
    plain = solve_full_volumes(pool_of([2, 20], [NAN, 4], [NAN, 1e-9], [0.4, NAN]), 2)
    gaps = solve_full_volumes(pool_of([2, 20], [NAN, 4], [NAN, 1e-9], [0.4, NAN], redrive_time=1e-7), 2)
    np.testing.assert_allclose(gaps.queue, plain.queue, rtol=3e-4)
    np.testing.assert_allclose(gaps.tries, plain.tries, rtol=3e-4)


@pytest.mark.parametrize(
    ("law", "queue", "serving"),
    [({"redrive_time": 0.5}, 0.2168, 0.3), ({"inflation": 1.0}, 0.1195, 0.3 * 1.0199)],
)
def test_an_open_volume_is_slowed_by_gaps_or_by_inflation_alone(law, queue, serving):
    """Simulated (4 million I/Os, one in the gap counts as queued): error of the queue 1 %, of the service .2 %.

    As one without them it would queue .156 and .1155.
    """
    pool = pool_of([5, 20], [NAN, 3], [NAN, 1e-5], [0.3, NAN], **law)
    outcome = solve_full_volumes(pool, 3)
    assert outcome.queue[0] + outcome.in_gap(pool)[0] == pytest.approx(queue, rel=0.03)
    in_service = outcome.base_in_service[0] + outcome.alias_in_service[0]
    assert in_service == pytest.approx(serving, rel=0.006)


def test_a_pool_that_the_field_does_not_balance_is_answered():
    """Simulated (3 million I/Os): the open volume waits .1093 +- .0066, a closed one 3.8796 +- .0024."""
    pool = alias_pool(
        1,
        volumes=[1, 40],
        population=[NAN, 5],
        think_time=[NAN, 1e-6],
        arrival_rate=[0.1, NAN],
        service_time=1.0,
    )
    np.testing.assert_allclose(pool.wait_time, [0.1093, 3.8796], atol=2 * 0.0066)


def test_which_pools_are_full():
    assert suits_full_volumes(pool_of([40], [2], [1e-6]), 8)
    assert not suits_full_volumes(pool_of([40], [2], [1e-6]), 0)
    assert not suits_full_volumes(pool_of([40], [2], [1e-6]), 35)  # hardly an I/O waits
    assert not suits_full_volumes(pool_of([40], [2], [0.1]), 8)
    assert not suits_full_volumes(pool_of([40, 2], [2, 3], [1e-6, 1.0], scv=2.0), 8)


@pytest.mark.parametrize(("people", "aliases", "at_once"), [(100, 3, 4), (14, 3, 4), (21, 30, 21)])
def test_a_volume_is_full_by_what_its_devices_can_serve(people, aliases, at_once):
    """As many think as I/Os end in a think time: of those served at once, by devices or of the requesters there are."""
    volumes = [20 if people == 21 else 1, 1]
    for share, full in ((0.99, True), (1.01, False)):
        think = np.array([0.5 * 1e-3, share * 3e-3]) * HARDLY / at_once  # the slower class decides
        pool = pool_of(volumes, [people] * 2, think, service_time=[1e-3, 3e-3], scv=2.0)
        assert suits_full_volumes(pool, aliases) is full


@pytest.mark.parametrize(("people", "aliases"), [(2, 5), (3, 3), (4, 2)])
@pytest.mark.parametrize("think", [0.5, 2.0])
def test_a_volume_whose_waiting_ios_are_taken_at_once_is_a_group_of_servers(people, aliases, think):
    """Of base and aliases: the states of a closed group, p(n) = p(n - 1) (N - n + 1) / Z / min(n, 1 + A), by hand."""
    pool = pool_of([1], [people], [think])
    found = _by_chain(pool, 0, aliases, 1e7)
    law = [1.0]
    for n in range(1, people + 1):
        law.append(law[-1] * (people - n + 1) / think / min(n, 1 + aliases))
    served = sum(min(n, 1 + aliases) * each for n, each in enumerate(law)) / sum(law)
    queued = sum(max(n - 1 - aliases, 0) * each for n, each in enumerate(law)) / sum(law)
    assert found["base_in_service"] + found["alias_in_service"] == pytest.approx(served, rel=1e-5)
    assert found["queue"] == pytest.approx(queued, abs=1e-5)


@pytest.mark.parametrize("rate", [1e-3, 1e-5])
def test_however_seldom_aliases_take_an_io_they_do(rate):
    """By themselves as often as the queue has it, each for a service time."""
    found = _by_chain(pool_of([1], [4], [2.0]), 0, 3, rate)
    assert found["queue"] > 0.1
    assert found["alias_in_service"] == pytest.approx(rate * found["queue"], rel=1e-9)
