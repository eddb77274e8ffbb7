"""A queue that was not measured: the range of the count, against models that need no reading of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner.demand import DeviceModel, chains
from planner.errors import InfeasibleError
from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.measurements.ends import MOST_USED, QUEUED
from planner.sizing.need import need
from tests.brief import examples

EXACT = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
SERVICE = 1e-3


def offered(busy: float, volumes: int = 1, aliases: int = 0) -> Run:
    rate, pool = busy / SERVICE, volumes > 1
    return from_numbers(
        io_rate=Interval(rate, rate, rate), service=Interval(SERVICE, SERVICE, SERVICE), volumes=volumes,
        aliases=aliases, pool=pool,
    )  # fmt: skip


@pytest.mark.parametrize("busy", [0.1, 0.4, 0.7, 1.5])
def test_the_range_goes_most_of_the_way_to_batches_of_five(busy: float) -> None:
    """Their own count, by the chain M^X/M/c: the queue alone is that of other bursts, too, which need fewer."""
    (found,) = need([(offered(busy),)], EXACT)
    station = chains.DeviceStation(most=40, inflation=0.0, gap=np.zeros(1))
    batches = chains.batches(station, np.array([busy]), np.array([QUEUED]), np.ones(1))
    poisson = chains.batches(station, np.array([busy]), np.ones(1), np.ones(1))
    of_batches, of_poisson = (int(np.argmax(each.queue[:, 0] <= 0.05 * busy)) for each in (batches, poisson))
    assert found.count == of_poisson
    assert found.high is not None
    assert 0.5 * of_batches < found.high <= 1.25 * of_batches


@pytest.mark.long
@examples(20, 4)
@given(
    busy=st.floats(0.05, 2.5), more=st.floats(1.05, 2.0), volumes=st.integers(1, 6), aliases=st.integers(0, 5)
)
def test_the_least_is_what_devices_must_be_busy_and_more_load_needs_no_fewer(
    busy: float, more: float, volumes: int, aliases: int
) -> None:
    runs = [offered(busy * times, volumes, aliases) for times in (1.0, more)]
    less, later = need([(run,) for run in runs], EXACT)
    for found, times in ((less, 1.0), (later, more)):
        assert found.low is not None and found.count is not None and found.high is not None
        assert found.low == min(math.ceil(round(volumes * max(times * busy - 1.0, 0.0), 9)), found.count)
        assert found.low <= found.count <= found.high
    assert (later.low, later.count) >= (less.low, less.count)
    assert later.high is not None and less.high is not None and later.high >= less.high - 1


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("growth", [0.1, -0.1, 0.0])
def test_a_load_that_the_aliases_in_use_just_carry_needs_what_its_neighbours_need(growth: float) -> None:
    """Six volumes keep nine devices busy at 1.5; next to it no queue settles with the three aliases in use."""
    runs = [offered(busy, volumes=6, aliases=3) for busy in (1.49, 1.4967, 1.4995, 1.5)]
    found = need([(run,) for run in runs], EXACT, growth=growth)
    assert len({(each.low, each.count, each.high) for each in found}) == 1
    assert found[0].count is not None


@pytest.mark.long
def test_the_end_is_the_same_demand_at_a_rate_that_one_device_carries() -> None:
    run = offered(1.5, volumes=3, aliases=4)
    (end,) = run.ends
    assert not run.queue_known and end.queue_known
    assert end.io_rate.value * SERVICE == pytest.approx(MOST_USED)
    assert end.queued.value == pytest.approx(MOST_USED * (QUEUED / (1 - MOST_USED) - 1))
    declared = planner.aliases(rate=600.0, service=SERVICE, volumes=3, kind="pool", together="full")
    alone = planner.aliases(rate=600.0, service=SERVICE, volumes=3, kind="pool", together="none")
    assert declared.recommended == alone.recommended
    assert declared.range[1] > alone.range[1]  # what was declared counts for the bursts


def test_the_growth_of_an_end_is_that_of_the_question() -> None:
    now, double = offered(0.3), offered(0.6)
    (grown,), (there,) = need([(now,)], EXACT, growth=1.0), need([(double,)], EXACT)
    assert (grown.low, grown.count) == (there.low, there.count)
    assert grown.high is not None and there.high is not None
    assert abs(grown.high - there.high) <= 0.25 * there.high


@pytest.mark.first(1)
@pytest.mark.parametrize("queue", [None, 0.0, 0.5, 10.0])
@pytest.mark.parametrize("growth", [60.0, 300.0, 3e3, 1e6])
@pytest.mark.parametrize("volumes", [1, 3])
def test_no_growth_is_too_large_for_words(queue: float | None, growth: float, volumes: int) -> None:
    """Numpy raises where a number overflows."""
    run = offered(0.3, volumes, 3)
    if queue is not None:
        queued = np.full(volumes, queue)
        run = replace(run, queued=Interval(queued, queued, queued), queue_shown=queued, ends=())
    device_model = DeviceModel(inflation=0.176, redrive_time=7e-5, model_error=0.02)
    (found,) = need([(run,)], device_model, growth=growth)
    if growth * 0.3 * volumes > 2e3:
        assert (found.count, found.exit_code) == (None, InfeasibleError.exit_code)
        assert "devices would be busy" in found.problem
    else:
        assert (found.count is None) == bool(found.problem)
