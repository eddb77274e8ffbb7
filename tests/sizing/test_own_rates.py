"""Steady demand of unequal volumes with aliases in use: what produced a row is found again, bursts are not steady."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner import queueing
from planner.demand import DeviceModel
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array
from planner.sizing.need import need
from planner.sizing.own_rates import at_own_rates

LOADS = np.array([2.1, 0.9, 0.3, 0.12, 0.05, 0.05])  # devices kept busy
SERVICES = np.array([1.0, 0.8, 1.5, 1.0, 0.7, 1.2]) * 1e-3
MODEL = DeviceModel(inflation=0.1, redrive_time=3e-5, model_error=0.02)
ALIASES = 3


def demand(requesters: float) -> dict[str, Array]:
    """Open arrivals, or so many requesters for each device that a volume keeps busy."""
    if np.isinf(requesters):
        return {"arrival_rate": LOADS / SERVICES}
    people = np.ceil(requesters * LOADS) + 1.0
    return {"population": people, "think_time": (people / LOADS - 1.0) * SERVICES}


def solved(requesters: float, aliases: float | Array) -> tuple[Array, Array, Array]:
    """Rate [1/s], service time [s] and queue of each volume by the exact solution."""
    found = queueing.alias_pool(
        aliases, volumes=np.ones(LOADS.size, dtype=int), service_time=SERVICES, inflation=MODEL.inflation,
        redrive_time=MODEL.redrive_time, **demand(requesters),
    )  # fmt: skip
    return found.throughput, found.service_time, found.queue_length - found.in_gap


def measured(requesters: float, aliases: int = ALIASES, times: float = 1.0) -> Run:
    """Such volumes as measured, their queues so many times as long."""
    rate, service, queue = solved(requesters, aliases)
    digits = (rate, 0.05), (service, 5e-6), (times * queue, 0.005)
    io_rate, service_time, queued = (Interval(np.maximum(v - half, 0.0), v, v + half) for v, half in digits)
    return Run(
        name="pool", pool=True, aliases=aliases, volumes=tuple("ABCDEF"), io_rate=io_rate, service=service_time,
        queued=queued, queue_shown=queued.value,
    )  # fmt: skip


def needed(requesters: float) -> int:
    """Smallest count with which a twentieth of a service time is waited."""
    rate, service, queue = solved(requesters, np.arange(1.0, 30.0))
    met = queue.sum(axis=-1) <= 0.05 * (rate * service).sum(axis=-1)
    return int(np.argmax(met)) + 1


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("requesters", [4.0, 12.0, np.inf])
def test_the_demand_that_was_measured_is_found(requesters: float) -> None:
    """Count and range from one row against the solution of the demand that made it."""
    (found,) = need([(measured(requesters),)], MODEL)
    assert found.decided == "steady demand"
    assert found.count is not None
    assert found.low is not None
    assert found.high is not None
    assert abs(found.count - needed(requesters)) <= 1
    assert found.low <= needed(requesters) <= found.high <= 2 * needed(requesters)


def test_requesters_reproduce_what_was_measured() -> None:
    """Rate and wait of each volume follow from requesters and think time: Little's law."""
    run = measured(12.0)
    ((nearest, *_),) = at_own_rates([run], MODEL)
    assert nearest.fits
    for part, rate, service, queue in zip(
        nearest.pool.classes, run.io_rate.value, run.service.value, run.queued.value, strict=True
    ):
        if np.isnan(part.arrival_rate) and part.think_time > 0.01 * service:
            assert part.population / rate == pytest.approx(part.think_time + service + queue / rate)


@pytest.mark.long
def test_longer_queues_are_bursty() -> None:
    """Three times the queue of Poisson arrivals at the same rates: no requesters wait so long."""
    run = measured(np.inf, times=3.0)
    assert at_own_rates([run], MODEL) == [()]
    (found,) = need([(run,)], MODEL)
    assert found.decided == "bursty demand"


@pytest.mark.long
def test_bursts_of_open_arrivals_are_within_the_bands() -> None:
    """No alias changes the rate of open arrivals, nor their service time where nothing waits."""
    run = measured(np.inf, times=3.0)
    answer = need([(run,)], MODEL)[0].answer
    assert answer is not None
    more = answer.rows.aliases >= ALIASES
    assert (answer.rate.low[more] <= run.total_rate.value).all()
    assert (answer.rate.high[more] >= run.total_rate.value).all()
    assert answer.response.low[-1] <= run.mean_service.value


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("times", [3.0, 10.0, 30.0])
def test_the_rate_of_bursts_lies_between_open_arrivals_and_requesters(times: float) -> None:
    """Requesters that wait no more send at most response over service times as much: half of it, in logarithms."""
    run = measured(np.inf, times=times)
    answer = need([(run,)], MODEL)[0].answer
    assert answer is not None
    rise = answer.rows.io_rate / run.total_rate.value
    service, wait = run.mean_service.value, run.total_queue.value / run.total_rate.value
    assert 1.0 < rise[-1] < np.sqrt((service + wait) / service)
    assert (np.diff(rise[ALIASES:]) >= 0.0).all()
    assert (answer.rate.high[ALIASES:] >= (1 - 1e-9) * rise[ALIASES:] ** 2 * run.total_rate.value).all()


@pytest.mark.long
@pytest.mark.parametrize(("requesters", "times"), [(12.0, 1.0), (np.inf, 3.0)])
def test_a_wait_with_fewer_aliases_is_off_by_a_share_of_its_change(requesters: float, times: float) -> None:
    """Steady or bursty: three tenths of the logarithms, and nothing at the aliases that were measured."""
    run = measured(requesters, times=times)
    answer = need([(run,)], MODEL)[0].answer
    assert answer is not None
    now = run.total_queue.value / run.total_rate.value
    wait = (answer.response.value - answer.rows.service_time)[:ALIASES]
    high = (answer.response.high - answer.rows.service_time)[:ALIASES]
    assert (wait > now).all() and (high >= wait * (wait / now) ** 0.3).all()
    assert answer.response.high[ALIASES] == pytest.approx(answer.response.value[ALIASES], rel=0.05)


@pytest.mark.long
def test_a_measurement_is_read_as_if_alone() -> None:
    """Other measurements, of more classes and longer queues, change nothing."""
    runs = [measured(4.0), measured(np.inf, 4), measured(12.0, times=3.0)]
    together, alone = at_own_rates(runs, MODEL), [at_own_rates([run], MODEL)[0] for run in runs]
    assert repr(together) == repr(alone)  # nan is no number, and equal here


def test_queues_too_long_to_solve_are_not_tried() -> None:
    """Hundreds queued take minutes to solve: such a demand is read as bursty."""
    assert at_own_rates([measured(np.inf, times=1000.0)], MODEL) == [()]


@pytest.mark.long
def test_a_volume_beyond_its_base_and_all_aliases_is_no_open_demand() -> None:
    """Two devices cannot carry 2.09: the row was its throughput, and more aliases never bring less of it."""
    rate, service, queue = (
        np.array([1900.0, 300.0, 120.0]),
        np.array([1.1e-3, 1e-3, 1.2e-3]),
        np.array([3.1, 0.3, 0.05]),
    )
    run = replace(
        measured(12.0), aliases=1, volumes=tuple("ABC"), io_rate=Interval(rate - 0.5, rate, rate + 0.5),
        service=Interval(service - 5e-5, service, service + 5e-5), queued=Interval(queue - 0.05, queue, queue + 0.05),
        queue_shown=queue,
    )  # fmt: skip
    (found,) = need([(run,)], DeviceModel.from_model("hyperpav"))
    assert found.answer is not None
    rows = found.answer.rows
    assert (np.diff(rows.queued[1:]) < 0.0).all()  # each alias is of use while something waits
    assert found.answer.readings[0].kind != "open"
