"""Each chain against the same demand as a dense generator matrix, and against the models that it equals in a limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner import queueing
from planner.demand import chains, kinds
from tests.demand import dense
from tests.demand import simulation as sim

LEVELS = 260
DEVICES = (1, 2, 3, 5)
SLOWED = ((0.0, 0.0), (0.15, 0.06))


def station(inflation: float, gap: float, most: int = 8) -> chains.DeviceStation:
    return chains.DeviceStation(most=most, inflation=inflation, gap=np.array([gap]))


def check(found: chains.Figures, states: list[tuple[int, ...]], moves, inflation: float, gap: float) -> None:
    for c in DEVICES:
        down = [dense.service_rate(n, c, inflation, gap) for n in range(LEVELS + 2)]
        expected = dense.figures(states, lambda state, down=down: moves(state, down), c, inflation, gap)
        got = [float(a[c - 1, 0]) for a in (found.rate, found.queue, found.gap, found.busy)]
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-9)


@pytest.mark.first(1)
@pytest.mark.parametrize(("inflation", "gap"), SLOWED)
@pytest.mark.parametrize(("rate", "mean", "share"), [(0.4, 3.5, 1.0), (0.7, 2.0, 0.5), (0.1, 6.0, 0.3)])
def test_geometric_batches(rate: float, mean: float, share: float, inflation: float, gap: float) -> None:
    def moves(state, down):
        n = state[0]
        yield (n - 1,), down[n]
        for k in range(1, LEVELS - n + 1):
            single = (1 - share) * rate if k == 1 else 0.0
            yield (n + k,), share * rate / mean * (1 - 1 / mean) ** (k - 1) / mean + single

    found = chains.batches(station(inflation, gap), *(np.array([x]) for x in (rate, mean, share)))
    check(found, [(n,) for n in range(LEVELS + 1)], moves, inflation, gap)


@pytest.mark.parametrize(("inflation", "gap"), SLOWED)
@pytest.mark.parametrize(("rate", "mean"), [(0.4, 3.0), (0.6, 2.4), (0.1, 9.7)])
def test_fixed_batches(rate: float, mean: float, inflation: float, gap: float) -> None:
    whole, rest = int(mean), mean - int(mean)

    def moves(state, down):
        n = state[0]
        yield (n - 1,), down[n]
        yield (n + whole,), rate / mean * (1 - rest)
        yield (n + whole + 1,), rate / mean * rest

    found = chains.fixed_batches(station(inflation, gap), np.array([rate]), np.array([mean]))
    check(found, [(n,) for n in range(LEVELS + 1)], moves, inflation, gap)


@pytest.mark.parametrize(("inflation", "gap"), SLOWED)
@pytest.mark.parametrize(("population", "think"), [(1, 0.5), (3, 0.1), (7, 4.0), (30, 20.0), (4, 1e-4)])
def test_requesters(population: int, think: float, inflation: float, gap: float) -> None:
    def moves(state, down):
        n = state[0]
        yield (n - 1,), down[n]
        yield (n + 1,), (population - n) / think

    found = chains.requesters(
        station(inflation, gap), np.array([float(population)]), np.array([think]), np.ones(1)
    )
    check(found, [(n,) for n in range(population + 1)], moves, inflation, gap)


@pytest.mark.parametrize(("inflation", "gap"), SLOWED)
@pytest.mark.parametrize(("rate", "on_rate", "on_time"), [(0.3, 0.6, 5.0), (0.1, 1.6, 12.0), (0.5, 4.0, 2.0)])
def test_phases(rate: float, on_rate: float, on_time: float, inflation: float, gap: float) -> None:
    share = rate / on_rate
    begin = share / (1 - share) / on_time

    def moves(state, down):
        n, on = state
        yield (n - 1, on), down[n]
        yield (n + 1, on), on_rate if on else 0.0
        yield (n, 1 - on), 1 / on_time if on else begin

    found = chains.phases(station(inflation, gap), *(np.array([x]) for x in (rate, on_rate, on_time)))
    check(found, [(n, on) for n in range(LEVELS + 1) for on in (0, 1)], moves, inflation, gap)


@pytest.mark.parametrize("c", DEVICES)
def test_single_arrivals_are_the_open_queue(c: int) -> None:
    one = np.ones(1)
    expected = queueing.mmc(0.8, 1.0, c, inflation=0.1)
    for found in (
        chains.batches(station(0.1, 0.0), 0.8 * one, one, one),
        chains.batches(station(0.1, 0.0), 0.8 * one, 5 * one, 0 * one),
        chains.fixed_batches(station(0.1, 0.0), 0.8 * one, one),
        chains.variable(station(0.1, 0.0), 0.8 * one, one),
    ):
        assert found.queue[c - 1, 0] == pytest.approx(float(expected.queue_length), rel=1e-9)
        assert found.busy[c - 1, 0] == pytest.approx(float(expected.in_service), rel=1e-9)


@pytest.mark.parametrize("c", DEVICES)
def test_requesters_always_active_are_the_closed_queue(c: int) -> None:
    people, think = (
        np.array([1.0, 3.0, 9.0, 40.0, 400.0, 3000.0]),
        np.array([0.1, 0.7, 5.0, 60.0, 300.0, 1e4]),
    )
    expected = queueing.finite_source(people, think, 1.0, c, inflation=0.2)
    at = chains.DeviceStation(most=8, inflation=0.2, gap=np.zeros(people.size))
    found = chains.requesters(at, people, think, np.ones(people.size))
    np.testing.assert_allclose(found.rate[c - 1], expected.throughput, rtol=1e-10)
    np.testing.assert_allclose(found.queue[c - 1], expected.queue_length, rtol=1e-9, atol=1e-12)


def test_slow_phases_are_open_queues_in_turn_and_what_phases_come_to() -> None:
    rate, strong = np.array([0.3]), np.array([0.8])
    for share in (1.0, 0.15):
        found = chains.slow_phases(station(0.1, 0.0), rate, strong, np.array([share]))
        least = (1 - share) * 0.3
        on = (0.3 - least) / (0.8 - least)
        for c in DEVICES:
            high, low = (queueing.mmc(max(each, 1e-12), 1.0, c, inflation=0.1) for each in (0.8, least))
            for name, of_mmc in (("queue", "queue_length"), ("busy", "in_service"), ("rate", "throughput")):
                expected = on * getattr(high, of_mmc) + (1 - on) * getattr(low, of_mmc)
                assert getattr(found, name)[c - 1, 0] == pytest.approx(float(expected), rel=1e-9)
    at = station(0.1, 0.05)
    found, limit = (
        chains.slow_phases(at, rate, strong, np.ones(1)),
        chains.phases(at, rate, strong, np.array([1e7])),
    )
    for name in ("rate", "queue", "gap", "busy", "waits"):
        np.testing.assert_allclose(getattr(found, name), getattr(limit, name), rtol=2e-5, atol=1e-12)


def test_short_and_strong_phases_are_batches() -> None:
    """With R to infinity at R D fixed, each on time is a batch of geometric size 1 + R D (counting none out)."""
    rate, mean = 0.3, 4.0
    strong = 1e6
    # I/Os of one on time: geometric from 0 with mean R D; given at least one, their mean is 1 + R D.
    expected = chains.batches(station(0.1, 0.05), np.array([rate]), np.array([mean]), np.ones(1))
    found = chains.phases(
        station(0.1, 0.05), np.array([rate]), np.array([strong]), np.array([(mean - 1) / strong])
    )
    np.testing.assert_allclose(found.queue, expected.queue, rtol=1e-4)


def test_groups_sum_their_own_waits() -> None:
    inflation, gap, k, rate = 0.1, 0.05, 7, 0.2
    found = chains.groups(station(inflation, gap), np.array([rate]), np.array([float(k)]))
    for c in DEVICES:
        times = [1 / dense.service_rate(n, c, inflation, gap) for n in range(1, k + 1)]
        wait = sum(max(n - c, 0) * t for n, t in zip(range(1, k + 1), times, strict=True)) * rate / k
        busy = sum(min(n, c) * t for n, t in zip(range(1, k + 1), times, strict=True)) * rate / k
        assert found.queue[c - 1, 0] == pytest.approx(wait)
        assert (found.busy + found.gap)[c - 1, 0] == pytest.approx(busy)


def test_a_group_that_finds_a_device_for_each_never_waits() -> None:
    for size in (1.0, 2.0, 3.4, 4.0):
        found = chains.groups(station(0.1, 0.05), np.array([0.2]), np.array([size]))
        enough = int(np.ceil(size)) - 1
        assert (found.queue[enough:] == 0).all() and (found.gap[enough:] == 0).all()
        assert (found.queue[:enough] > 0.005).all()


def test_constant_service_serves_groups_in_rounds() -> None:
    """Seven I/Os on three devices: three at once, three after one service with its gap, one after two."""
    found = chains.groups(station(0.1, 0.05), np.array([0.2]), np.array([7.0]), 1.0)
    expected = 0.2 / 7 * (3 * 0 + 3 * 1 + 1 * 2) * (1.2 + 0.05)
    assert found.queue[2, 0] == pytest.approx(expected)
    # One device serves one after the other, whatever its service.
    alone = chains.groups(station(0.1, 0.05), np.array([0.2]), np.array([7.0]))
    assert found.queue[0, 0] == pytest.approx(alone.queue[0, 0])


@pytest.mark.long
def test_open_arrivals_beside_groups_against_simulation() -> None:
    rate, many, single, inflation, gap = 0.15, 7, 0.1, 0.1, 0.03
    groups = chains.groups(station(inflation, gap), np.array([rate]), np.array([float(many)]))
    found = chains.beside(station(inflation, gap), groups, np.array([single]))
    parts = np.array([[sim.PERIODIC, many, many / rate, 0, 0], [sim.POISSON, single, 0, 0, 0]], dtype=float)
    for aliases in (0, 2, 4):
        row = sim.simulate(
            parts, np.zeros(2, dtype=np.int64), np.ones(1), 1.0, inflation, gap, aliases, 200_000, 7 + aliases
        )[:, 0]
        assert found.rate[aliases, 0] == pytest.approx(row[0], rel=0.02)
        assert ((found.queue + found.gap) / found.rate)[aliases, 0] == pytest.approx(row[3], rel=0.15)


def test_what_is_served_beside_a_demand_is_the_sum() -> None:
    """Rate, service and gaps of both; only the queue is longer than the sum."""
    one, two = (np.array([x]) for x in (0.2, 0.1))
    groups = chains.groups(station(0.1, 0.05), one, np.array([3.0]))
    opened = chains.batches(station(0.1, 0.05), two, np.ones(1), np.ones(1))
    both = chains.beside(station(0.1, 0.05), groups, two)
    for name in ("rate", "busy", "gap"):
        np.testing.assert_allclose(getattr(both, name), getattr(groups, name) + getattr(opened, name))
    assert (both.queue[:2] > (groups.queue + opened.queue)[:2]).all()


def test_nothing_beside_leaves_a_demand_alone() -> None:
    groups = chains.groups(station(0.1, 0.05), np.array([0.2]), np.array([7.0]))
    assert chains.beside(station(0.1, 0.05), groups, np.zeros(1)) is groups


def test_saturation_is_an_answer() -> None:
    one = np.ones(1)
    for found in (
        chains.batches(station(0.0, 0.1), one, 2 * one, one),
        chains.fixed_batches(station(0.0, 0.1), one, 2.5 * one),
        chains.phases(station(0.0, 0.1), one, 2 * one, one),
    ):
        assert np.isinf(found.queue[0, 0]) and np.isfinite(found.queue[1:, 0]).all()
        assert found.rate[0, 0] == pytest.approx(1 / 1.1)
        # Its device is always busy, .1 of every 1.1 with the gap before an I/O.
        assert found.busy[0, 0] == pytest.approx(1 / 1.1) and found.gap[0, 0] == pytest.approx(0.1 / 1.1)


@pytest.mark.parametrize("c", DEVICES)
def test_next_to_saturation_the_queue_is_what_is_idle_turned_over(c: int) -> None:
    """Heavy traffic (Kingman 1961): the queue times what is left of the devices goes to a limit, and is not cut off."""
    left = np.array([1e-3, 5e-4, 1e-5])
    rate, one = c * (1.0 - left), np.ones(3)
    devices = chains.DeviceStation(most=c, inflation=0.0, gap=np.zeros(3))
    for found in (
        chains.batches(devices, rate, 2 * one, one),
        chains.fixed_batches(devices, rate, 2.5 * one),
        chains.phases(devices, rate, 2 * rate, one),
    ):
        limit = found.queue[c - 1] * left
        assert np.isfinite(limit).all()
        np.testing.assert_allclose(limit, limit[-1], rtol=0.02)


def test_between_whole_numbers_of_requesters_figures_are_linear() -> None:
    def figures(population: float) -> np.ndarray:  # type: ignore[type-arg]
        asked = (np.array([x]) for x in (population, 2.0, 0.8))
        found = chains.requesters(station(0.1, 0.05), *asked)
        return np.array([found.rate, found.queue, found.gap, found.busy])

    np.testing.assert_allclose(figures(2.3), 0.7 * figures(2.0) + 0.3 * figures(3.0), rtol=1e-12)
    np.testing.assert_allclose(figures(0.4), 0.4 * figures(1.0), rtol=1e-12, atol=1e-15)
    assert (figures(3.0)[0] > figures(2.0)[0] * 1.1).all()


@pytest.mark.parametrize("most", [255])
def test_many_devices_stay_finite(most: int) -> None:
    wide = chains.DeviceStation(most=most, inflation=0.18, gap=np.full(3, 0.06))
    rate = np.array([0.02, 0.5, 0.95])
    for found in (
        chains.batches(wide, rate, np.array([50.0, 5.0, 2.0]), np.ones(3)),
        chains.fixed_batches(wide, rate * 0.9, np.array([300.0, 5.5, 2.0])),
        chains.phases(wide, rate, rate * 4, np.array([1.0, 100.0, 1e6])),
        chains.requesters(wide, np.array([2.0, 30.5, 500.0]), np.array([1e-6, 10.0, 1e5]), np.ones(3)),
        chains.groups(wide, rate * 0.9, np.array([1.0, 31.5, 400.0])),
    ):
        later = found.queue[1:]
        assert np.isfinite(later).all() and (later >= 0).all()
        assert (np.diff(found.queue[1:], axis=0) <= 1e-9).all()


@pytest.mark.parametrize(("scv", "error"), [(0.25, 0.2), (2.0, 0.1), (4.0, 0.2), (10.0, 0.5)])
@pytest.mark.parametrize("busy", [0.3, 0.6, 0.9])
def test_variable_service_waits_as_the_exact_law_says(scv: float, error: float, busy: float) -> None:
    for devices in (1, 2, 3, 5):
        rate = busy * devices
        found = chains.variable(station(0.0, 0.0), np.array([rate]), np.array([(1 + scv) / 2]))
        expected = queueing.mgc(rate, 1.0, devices, scv, method="exact").queue_length
        wanted = 1e-9 if devices == 1 else error
        np.testing.assert_allclose(found.queue[devices - 1, 0], expected, rtol=wanted)


def test_variable_service_is_no_faster_where_devices_saturate() -> None:
    found = chains.variable(station(0.0, 0.0), np.array([3.0]), np.array([8.0]))
    assert np.isinf(found.queue[:3, 0]).all() and np.isfinite(found.queue[3:, 0]).all()
    assert (np.diff(found.queue[3:, 0]) < 0).all()


def test_a_base_in_phases_is_a_chain_of_four_states() -> None:
    """Busy or not, on or off; an arrival that finds it busy goes elsewhere. In slow phases two bases in turn."""
    rate, on_rate, on_time, growth = 0.4, 1.6, 7.0, 1.3
    share = rate / on_rate
    start = share / (1 - share) / on_time
    states = [(busy, on) for busy in (0, 1) for on in (0, 1)]
    flow = np.zeros((4, 4))
    for k, (busy, on) in enumerate(states):
        flow[k, states.index((1 - busy, on))] = 1 / growth if busy else on_rate * on
        flow[k, states.index((busy, 1 - on))] = 1 / on_time if on else start
    balance = flow.T - np.diag(flow.sum(axis=1))
    balance[0] = 1.0
    chance = np.linalg.solve(balance, np.eye(4)[0])
    one = np.ones(1)
    part = replace(
        kinds.Demands.empty((1,)),
        load=rate * one,
        on_load=on_rate * one,
        on_time=on_time * one,
        share=0.25 * one,
    )
    found = kinds.base_busy(np.array([kinds.ON_OFF]), part, one, growth * one)
    assert found[0] == pytest.approx(chance[2:].sum(), rel=1e-12)
    on, back, of_time = (float(each[0]) for each in kinds._on_busy(part, growth * one, 0.0 * one))
    assert (on, on * back) == pytest.approx((chance[3], chance[2]), rel=1e-12)
    assert of_time == pytest.approx(chance[1] + chance[3], rel=1e-12)
    least, high = 0.75 * rate * growth, on_rate * growth
    of_time = 0.25 * rate / (on_rate - 0.75 * rate)
    expected = of_time * high / (1 + high) + (1 - of_time) * least / (1 + least)
    assert kinds.base_busy(np.array([kinds.SLOW]), part, one, growth * one)[0] == pytest.approx(
        expected, rel=1e-12
    )
    # What waited is served while on: so much more of the time, less what then finds the base busy.
    more = kinds.base_busy(np.array([kinds.SLOW]), part, one, growth * one, 0.1)[0]
    assert more == pytest.approx(expected + 0.1 / (1 + high), rel=1e-12)
