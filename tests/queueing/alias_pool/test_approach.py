"""A pool on its way to its answer ends where `alias_pool` does, wherever it began."""

import numpy as np
import pytest

from planner.errors import ConvergenceError, InputError
from planner.queueing import Approach, alias_pool
from planner.queueing.pools import methods
from planner.queueing.pools.fixed_point import DEPTH, FARTHEST, Acceleration

NAN = np.nan
SLOWED = {"service_time": 1.3e-3, "inflation": 0.16, "redrive_time": 6e-5}
CLOSED = {"volumes": [4, 9], "population": [3, 24], "think_time": [2e-3, 9e-2], **SLOWED}
OTHER = {"volumes": [4, 9], "population": [24, 2], "think_time": [5e-2, 6e-3], **SLOWED}
MIXED = {
    "volumes": [4, 9],
    "population": [3, NAN],
    "think_time": [2e-3, NAN],
    "arrival_rate": [NAN, 250],
    **SLOWED,
}
LONE = {"volumes": [4, 9], "population": [1, 24], "think_time": [2e-3, 9e-2], **SLOWED}
OPEN = {"volumes": [4, 9], "arrival_rate": [500, 150], "service_time": 1.3e-3}
KINDS = {
    "closed": CLOSED,
    "other": OTHER,
    "mixed": MIXED,
    "lone": LONE,
    "open": OPEN,
    "varying": {**OPEN, "scv": 2.0},
    "partly idle": {**OPEN, "volumes": [4, 9, 3], "arrival_rate": [500, 150, 0]},
    "idle": {**OPEN, "arrival_rate": [0, 0]},
    "exact": {"volumes": 2, "population": 2, "think_time": 1e-3, "service_time": 1e-3},
    "saturated": {**OPEN, "arrival_rate": [900, 150]},
}


def the_same(left, right, rel):
    for name in ("throughput", "queue_length", "service_time", "tries_rate", "fails_rate", "free_alias_law"):
        expected = getattr(right, name)
        room = rel * np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        assert getattr(left, name) == pytest.approx(expected, rel=rel, abs=room), name


@pytest.mark.parametrize("aliases", [0, 1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_where_alias_pool_does(kind, aliases):
    approach = Approach(aliases, **KINDS[kind])
    expected = alias_pool([aliases], **KINDS[kind])
    settled = approach.settled()
    the_same(settled, expected, 0.0)  # the same steps, hence the same digits
    assert settled.method == expected.method
    assert not approach.closer()
    assert approach.residual == expected.residual


@pytest.mark.parametrize("begin", KINDS)
@pytest.mark.parametrize("kind", ["closed", "other", "mixed", "lone", "open"])
def test_where_it_began_does_not_show(kind, begin):
    """Another count, another sort of demand, more requesters or fewer, classes that do not fit."""
    expected = alias_pool([4], **KINDS[kind])
    for count, steps in ((2, 3), (5, 1), (4, 100), (3, 0)):
        start = Approach(count, **KINDS[begin])
        for _ in range(steps):
            start.closer()
        the_same(Approach(4, start=start, **KINDS[kind]).settled(), expected, 3e-6)


def test_each_step_is_an_answer_that_comes_nearer():
    expected = alias_pool([3], **CLOSED).pool_queue_length
    approach, off = Approach(3, **CLOSED), []
    while approach.closer():
        off.append(abs(float((approach.so_far().pool_queue_length / expected)[0]) - 1.0))
    assert len(off) > 8
    assert max(off[4:]) < 0.1 > 1e3 * max(off[8:])


def test_a_beginning_that_leads_nowhere_is_left(monkeypatch):
    steps = methods.mean_field_steps

    def stuck(pool, aliases, start=None):
        yield next(steps(pool, aliases, start))
        if start is not None:
            raise ConvergenceError("mean field", 1.0, 600)
        yield from steps(pool, aliases)

    start = Approach(2, **CLOSED)
    start.settled()
    sweep, last = alias_pool([1, 2, 4], **CLOSED), alias_pool([4], **CLOSED)
    monkeypatch.setattr(methods, "mean_field_steps", stuck)
    the_same(Approach(4, start=start, **CLOSED).settled(), last, 0.0)
    the_same(alias_pool([1, 2, 4], **CLOSED), sweep, 3e-6)


def test_an_answer_is_there_before_it_is_asked_to_come_closer():
    assert Approach(4, **CLOSED).residual == np.inf
    assert Approach(4, **CLOSED).so_far().pool_throughput[0] > 0.0


def accelerated(matrix, offset, weight, steps):
    """Where the acceleration goes on ``matrix x + offset``, from 0."""
    acceleration, now = Acceleration(), np.zeros(offset.size)
    for _ in range(steps):
        now = acceleration.following(now, matrix @ now + offset, weight)
    return now


RATES = np.array([0.7, 0.4, -0.3, -0.6])  # at which four unknowns, mixed, come nearer


def mixed_map():
    turn, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(4, 4)))
    return turn @ np.diag(RATES) @ turn.T, np.array([1.0, 2.0, -1.0, 0.5])


def test_the_acceleration_of_a_linear_map_ends_one_step_after_its_unknowns():
    """Walker and Ni (2011), theorem 2.2: as GMRES does; plain repetition leaves .7 to the fifth power of the way."""
    matrix, offset = mixed_map()
    end = np.linalg.solve(np.eye(4) - matrix, offset)
    for weight in (np.ones(4), np.array([1.0, 0.5, 1.5, 2.0])):
        assert accelerated(matrix, offset, weight, 5) == pytest.approx(end, rel=1e-8)
        assert np.abs(accelerated(matrix, offset, weight, 4) - end).max() > 1e-4


def test_the_acceleration_knows_no_units():
    """Unknowns in other units, what they count in the inverse of these: the same steps."""
    matrix, offset = mixed_map()
    unit, weight = np.array([1e3, 1.0, 0.02, 7.0]), np.array([1.0, 2.0, 0.5, 1.0])
    for steps in range(1, 5):
        plain = accelerated(matrix, offset, weight, steps)
        other = accelerated(matrix * unit[:, None] / unit, offset * unit, weight / unit, steps)
        assert other / unit == pytest.approx(plain, rel=1e-8)


def test_the_acceleration_follows_what_counts():
    """An unknown that counts all but alone is at its end after two steps, whatever the others do."""
    matrix, offset = np.diag([0.9, -0.5, 0.7]), np.array([1.0, 1.0, 1.0])
    for which in range(3):
        weight = np.where(np.arange(3) == which, 1.0, 1e-9)
        found = accelerated(matrix, offset, weight, 2)
        assert found[which] == pytest.approx(1.0 / (1.0 - matrix[which, which]), rel=1e-9)


def test_the_acceleration_takes_no_leap_and_forgets_what_ran_away():
    """A rate r asks for a leap of r / (1 - r) steps: beyond `FARTHEST` it begins anew with a plain step."""
    for rate, leaps in ((1.0 - 1.1 / FARTHEST, True), (1.0 - 0.9 / FARTHEST, False)):
        acceleration = Acceleration()
        now = acceleration.following(np.zeros(1), np.ones(1), np.ones(1))
        assert now == 1.0
        then = 1.0 + rate
        found = acceleration.following(now, np.array([then]), np.ones(1))
        assert found == pytest.approx(1.0 / (1.0 - rate) if leaps else then, rel=1e-9)
    endless = acceleration.following(np.ones(1), np.array([np.inf]), np.ones(1))
    assert np.isinf(endless)
    assert acceleration.following(np.ones(1), np.array([2.0]), np.ones(1)) == 2.0


def test_the_acceleration_remembers_the_last_steps_alone():
    """As one that has seen nothing but these."""
    long, short = Acceleration(), Acceleration()
    steps = np.random.default_rng(3).normal(size=(DEPTH + 4, 2, 9))
    for now, then in steps[:-1]:
        long.following(now, then, np.ones(9))
    for now, then in steps[-DEPTH - 1 : -1]:
        short.following(now, then, np.ones(9))
    found = [each.following(*steps[-1], np.ones(9)) for each in (long, short)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="aliases"):
        Approach(-1, **CLOSED)
    with pytest.raises(InputError, match="think_time"):
        Approach(1, **{**CLOSED, "think_time": [0.0, 1.0]})
