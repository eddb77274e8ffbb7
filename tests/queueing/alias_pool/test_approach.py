"""A pool on its way to its answer ends where `alias_pool` does, wherever it began."""

import numpy as np
import pytest

from planner.errors import ConvergenceError, InputError
from planner.queueing import Approach, alias_pool
from planner.queueing.pools import methods

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


def test_bad_input_is_named():
    with pytest.raises(InputError, match="aliases"):
        Approach(-1, **CLOSED)
    with pytest.raises(InputError, match="think_time"):
        Approach(1, **{**CLOSED, "think_time": [0.0, 1.0]})
