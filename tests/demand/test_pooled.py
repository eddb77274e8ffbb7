"""Pools of unequal, partly bursty volumes: distributions with unlimited servers, sums, rows with aliases in use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import poisson

from planner import queueing
from planner.demand import (
    DeviceModel,
    Target,
    drawn_pool,
    pool_draws,
    pooled,
    read_volumes,
    unlimited,
)
from planner.demand.drawn_pool import PoolRow
from planner.demand.pooled import read_pool_at_several
from planner.demand.read import make_rows, poisson_ratio
from planner.interval import Interval
from tests.demand.volumes import read_pool

DEVICE = DeviceModel(inflation=0.1, redrive_time=5e-5, model_error=0.02)
RATES = np.array([100.0, 250.0, 40.0, 300.0])
SERVICES = np.array([1e-3, 2e-3, 5e-3, 0.5e-3])
QUEUES = np.array([0.3, 1.2, 0.8, 0.05])


def rows(queues: np.ndarray = QUEUES, rates: np.ndarray = RATES) -> tuple[Interval, Interval, Interval]:
    return Interval.around(rates, 0.05), Interval.around(SERVICES, 5e-6), Interval.around(queues, 0.005)


@pytest.mark.parametrize("inflation", [0.0, 0.1])
def test_laws_with_unlimited_servers_carry_the_load(inflation: float) -> None:
    """Every I/O is served at once: mean in service is the load, single ones have the distribution of M/M/inf."""
    device_model = DeviceModel(inflation=inflation, redrive_time=0.0, model_error=0.02)
    loads = RATES * SERVICES
    candidates = read_volumes(
        *rows(np.where(loads < 0.15, loads**2 / (1 - loads), QUEUES)), device_model=device_model
    )
    distributions, mean, _ = unlimited.present(candidates, 600)  # long tails reach far
    used = np.nonzero(candidates.used)
    np.testing.assert_allclose(distributions.sum(axis=0), 1.0, rtol=1e-9)
    load, batch = candidates.demands.load[used], candidates.demands.batch[used]
    opened = (np.isfinite(load) & (candidates.demands.on_load[used] < 4)) | np.isfinite(batch)
    n = np.arange(601)
    if inflation == 0:
        np.testing.assert_allclose(mean[opened], load[opened], rtol=1e-6)
        assert used[1][0] == 0
        poisson = distributions[:, 0]
        load = candidates.demands.load[0, 0]
        np.testing.assert_allclose(poisson[:4], np.exp(-load) * load ** n[:4] / [1, 1, 2, 6], rtol=1e-9)


def test_the_base_of_a_poisson_volume_is_a_loss_system() -> None:
    device_model = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
    loads = RATES * SERVICES
    candidates = read_volumes(*rows(loads**2 / (1 - loads)), device_model=device_model)
    distributions, mean, flow = unlimited.present(candidates, 160)
    poisson = np.nonzero(candidates.used)[1] == 0
    busy = unlimited.base_busy(candidates, mean, flow)[poisson]
    expected = 1 - 1 / (1 + candidates.demands.load[:, 0])
    np.testing.assert_allclose(busy, expected)
    usage, _ = unlimited.alias_distribution(distributions[:, poisson], busy, np.arange(161.0))
    # What the base does not carry overflows: the load less its busy share (Erlang 1917).
    np.testing.assert_allclose(np.arange(161) @ usage, candidates.demands.load[:, 0] - expected, rtol=1e-6)


def test_draws_of_certain_candidates_are_the_convolution() -> None:
    """One reading a volume leaves nothing to draw: E[(O - A)+] of the sum, here by brute force."""
    loads = RATES * SERVICES
    read = read_volumes(
        *rows(loads**2 / (1 - loads)),
        device_model=DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02),
    )
    only = np.zeros_like(read.weight)
    only[:, 0] = 1.0
    use = unlimited.alias_use(replace(read, weight=only))
    total = np.ones(1)
    for volume in range(RATES.size):
        total = np.convolve(total, use.usage[:, volume])
    expected = [float(np.maximum(np.arange(total.size) - a, 0) @ total) for a in range(6)]
    n = np.arange(total.size)
    longer = drawn_pool.held(np.arange(6.0), n @ total, n**2 @ total - (n @ total) ** 2)
    np.testing.assert_allclose(
        pool_draws.drawn(use, 5, 4), np.outer(longer * expected, np.ones(4)), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("spare", [1.5, 2.0, 2.5])
def test_what_is_queued_of_poisson_arrivals_at_many_servers(spare: float) -> None:
    """Unlimited servers hold a Poisson number beyond c; Erlang's delay system with 10,000 servers queues exactly so."""
    servers, mean = 10_000, 10_000 - 100 * spare
    beyond = poisson(mean).expect(lambda n: np.maximum(n - servers, 0.0), lb=servers, ub=servers + 1500)
    expected = queueing.mmc(mean, 1.0, servers).queue_length / beyond
    np.testing.assert_allclose(drawn_pool.held(np.array(float(servers)), mean, mean), expected, rtol=0.03)


def test_the_law_of_the_queue_is_near_exact_solutions() -> None:
    """Poisson volumes: closer than the error that the model is given, where the queue is not negligible."""
    read = read_pool(*rows(np.array([0.011, 0.5, 0.05, 0.0265])), device_model=DEVICE)
    counts = np.arange(1, 4)
    exact = queueing.alias_pool(
        counts,
        volumes=[1, 1, 1, 1],
        arrival_rate=RATES,
        service_time=SERVICES,
        inflation=0.1,
        redrive_time=5e-5,
    )
    expected = (exact.queue_length - exact.in_gap).sum(axis=-1)
    off = np.log(read.queued(counts) / expected)
    assert (np.abs(off[expected > 0.01]) < 3 * drawn_pool.MODEL_ERROR).all()


def test_without_aliases_the_queues_are_those_measured_and_never_rise() -> None:
    pool = read_pool(*rows(), device_model=DEVICE)
    queue = pool.queued(np.arange(30))
    assert queue[0] == pytest.approx(QUEUES.sum())
    assert (np.diff(queue) <= 1e-12).all()
    np.testing.assert_allclose(pool.volume_queues([0, 2]).sum(axis=0), queue[[0, 2]])
    point, low, high = pool.point_and_range()
    assert 0 < low <= point < high
    assert pool.point_and_range(Target(queued=2.0))[0] < point


def test_few_aliases_carry_no_more_than_they_can() -> None:
    """Bases and aliases in service are no more than the bases without any and the aliases, however long the queue."""
    random = np.random.default_rng(4)
    rates, busy = random.uniform(200.0, 900.0, 64), np.append(random.uniform(0.1, 0.7, 60), np.full(4, 0.99))
    queues = busy**2 / (1 - busy) * random.uniform(1.0, 4.0, 64)
    service = Interval.around(busy / rates, 5e-6)
    pool = read_pool(
        Interval.around(rates, 0.05), service, Interval.around(queues, 0.005), device_model=DEVICE
    )
    assert pool.saturated
    counts = np.arange(len(pool.queues))
    found = pool.predict(counts)
    assert (found.rate * found.service <= busy.sum() + counts + 1e-6).all()
    assert found.queue[5] > 0.8 * queues.sum()  # it was a third of the queue


def test_draws_that_want_fewer_aliases_bring_no_more_than_these_serve() -> None:
    """The queue is that of one draw, the rate that of all of them."""
    random = np.random.default_rng(17)
    busy, service = np.minimum(random.lognormal(-1.8, 0.9, 32), 0.85), random.uniform(0.4e-3, 1.5e-3, 32)
    queues = busy**2 / (1 - busy) * random.uniform(1.0, 8.0, 32)
    columns = (
        Interval.around(busy / service, 0.05),
        Interval.around(service, 5e-6),
        Interval.around(queues, 0.005),
    )
    pool = read_pool(*columns, device_model=DEVICE)
    counts = np.arange(len(pool.queues))
    found = pool.predict(counts)
    assert (found.rate * found.service <= busy.sum() + counts + 1e-3).all()


def test_the_queue_falls_in_proportion_to_the_aliases_in_use() -> None:
    """The solver's closed pools, of which most waits without aliases."""
    pool = {"volumes": 32, "service_time": 1.0, "population": 20, "think_time": 20 / 3}
    alone, quarter, half, enough = queueing.alias_pool([0, 13, 26, 200], **pool).pool_queue_length.tolist()
    use = queueing.alias_pool(200, **pool)
    wanted = 32 * float(use.alias_in_service[0])
    assert enough < 1e-9
    for queue, count in ((quarter, 13), (half, 26)):
        assert queue == pytest.approx(alone * (1 - count / wanted), abs=0.08 * alone)


@pytest.mark.long
def test_a_row_with_aliases_in_use_is_solved_by_the_pool() -> None:
    """The queue that the pool itself predicts with two aliases, read again with two in use, needs about as many."""
    alone = read_pool(*rows(), device_model=DEVICE)
    queues = alone.volume_queues([2])[:, 0]
    again = read_pool(*rows(queues), aliases=2, device_model=DEVICE)
    assert again.queued([2])[0] == pytest.approx(queues.sum(), rel=drawn_pool.MODEL_ERROR)
    expected, point = alone.point_and_range()[0], again.point_and_range()[0]
    assert point > 2 and abs(point - expected) <= max(2, 0.4 * expected)


def test_growth_asks_for_no_fewer() -> None:
    assert (
        read_pool(*rows(), device_model=DEVICE, growth=0.3).point_and_range()[0]
        >= read_pool(*rows(), device_model=DEVICE).point_and_range()[0]
    )


IN_USE = (  # the burstiest way, and one that never idles
    (np.full(4, 100.0), np.full(4, 2e-3), np.full(4, 0.1), 8),
    (np.array([491.1, 462.1, 191.1, 206.2]), np.array([2.034, 0.57, 1.07, 1.56]) * 1e-3,
     np.array([6.0, 0.293, 0.265, 0.104]), 3),
)  # fmt: skip


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(("rate", "service", "queued", "aliases"), IN_USE)
def test_below_the_aliases_in_use_the_queue_is_convex(
    rate: np.ndarray, service: np.ndarray, queued: np.ndarray, aliases: int
) -> None:
    """E[(O - A)+] is; each alias less costs rate, where rows were copies of each other."""
    columns = Interval.around(rate, 0.05), Interval.around(service, 5e-6), Interval.around(queued, 0.005)
    found = read_pool(*columns, aliases=aliases, device_model=DEVICE).predict(np.arange(aliases + 1))
    chord = np.linspace(found.queue[0], found.queue[-1], aliases + 1)
    assert (found.queue <= chord + 1e-9).all()
    assert found.rate[-2] < found.rate[-1] and found.queue[-2] > found.queue[-1]


@pytest.mark.long
def test_with_more_demand_services_are_no_shorter() -> None:
    """Without aliases the grown pool would queue without bound, which said that nothing of the rise was left."""
    rate, service, queued, aliases = IN_USE[0]
    columns = Interval.around(rate, 0.05), Interval.around(service, 5e-6), Interval.around(queued, 0.005)
    measured = read_pool(*columns, aliases=aliases, device_model=DEVICE)
    grown = replace(read_pool(*columns, aliases=aliases, device_model=DEVICE, growth=1.0), before=measured)
    one, other = (each.predict(np.arange(9, 20)) for each in (measured, grown))
    assert (other.service >= one.service).all() and (other.rate > one.rate).all()


@pytest.mark.long
def test_a_second_count_narrows_what_the_draws_leave_open() -> None:
    """The queues of the latest row come back where it was measured; met and missed rows bound the count."""
    alone = rows()
    few = rows(QUEUES / 3, RATES * 1.02)
    one = read_pool(*alone, device_model=DEVICE)
    two = read_pool_at_several([PoolRow(*few, 2), PoolRow(*alone, 0)], device_model=DEVICE)  # in any order
    assert two.in_use == 0 and two.others[0][0] == 2
    measured = QUEUES.sum() / 3
    assert abs(np.log(two.queued([2])[0] / measured)) <= 0.05
    assert abs(np.log(one.queued([2])[0] / measured)) > 0.05
    queues = two.queued(np.arange(40))
    assert (np.diff(queues) <= 1e-12).all() and queues[0] == pytest.approx(QUEUES.sum())
    spread = [float(np.ptp([pool.queued([3], share)[0] for share in (0.1, 0.9)])) for pool in (one, two)]
    assert spread[1] < spread[0]
    point, low, high = two.point_and_range()
    assert 3 <= low <= point <= high  # two aliases missed the target
    met = read_pool_at_several(
        [PoolRow(*alone, 0), PoolRow(*rows(np.zeros(4)), 6)], device_model=DEVICE
    ).point_and_range()
    assert met[0] <= 6


def test_digits_leave_a_queue_open_as_a_uniform_error_of_each_volume_does() -> None:
    """Variances add up: of numbers drawn evenly within half a digit of each queue."""
    halves = np.array([0.005, 0.05, 0.02, 0.3])
    row = make_rows(*rows()[:2], Interval.around(QUEUES + 1, halves), 0)
    within = (np.arange(100_000) + 0.5) / 50_000 - 1
    expected = np.sqrt(sum((half * within).var() for half in halves))
    missed, _ = drawn_pool.missed_by(np.zeros(1), row)  # ln of digits over the queue and digits
    total = row.queue.sum()
    assert total / (np.exp(-missed[0]) - 1) == pytest.approx(expected, rel=1e-6)


def test_a_row_with_nearly_the_whole_queue_says_nothing_of_the_rates() -> None:
    """From a fifth of the queue on that is gone: less, and the digits say more than the aliases."""
    pool = read_pool(*rows(), device_model=DEVICE)
    for gone, says in ((0.1, False), (0.19, False), (0.21, True), (0.6, True)):
        shares = pooled._rise_shares(pool, make_rows(*rows(QUEUES * (1 - gone)), 2))
        assert (shares != (1.0, 1.0)) is says
        assert all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.long
def test_growth_after_two_rows_asks_for_no_fewer() -> None:
    several = [PoolRow(*rows(), 0), PoolRow(*rows(QUEUES / 3, RATES * 1.02), 2)]
    plain, more = (read_pool_at_several(several, device_model=DEVICE, growth=growth) for growth in (0.0, 0.5))
    counts = np.arange(30)
    assert (more.queued(counts) >= plain.queued(counts) - 1e-9).all()


def in_use(hot: float = 0.8, scale: float = 1.0) -> tuple[Interval, Interval, Interval]:
    """A pool with a volume that seldom idles, as it may look with aliases at work."""
    loads = np.append(np.linspace(0.1, 0.5, 11), hot) * scale
    service = np.linspace(1e-3, 2e-3, loads.size)
    return (
        Interval.around(loads / service, 0.05),
        Interval.around(service, 5e-7),
        Interval.around(loads, 0.005),
    )


@pytest.mark.long
def test_with_the_aliases_in_use_the_queue_is_the_measured_one() -> None:
    """Each draw is tied to it, so that their quantile is it too, but for draws that miss it more than threefold."""
    row = in_use()
    found = read_pool(*row, aliases=4, device_model=DEVICE)
    assert found.queued(4)[0] == pytest.approx(float(row[2].value.sum()), rel=0.02)


@pytest.mark.long
def test_nearly_equal_measurements_have_nearly_equal_queues() -> None:
    """Half a percent more load: queues change by some percent, far from the aliases in use by less than by half."""
    counts = np.arange(4, 16)
    before = read_pool(*in_use(), aliases=4, device_model=DEVICE).queued(counts)
    for scale in (1.005, 1.01, 1.015, 1.02):
        after = read_pool(*in_use(scale=scale), aliases=4, device_model=DEVICE).queued(counts)
        change = np.abs(np.log(after / before))
        assert change[:4].max() < 0.1 and change.max() < 0.35
        before = after


@pytest.mark.long
def test_the_aliases_in_use_raise_the_rates_to_the_measured_ones() -> None:
    """The rate without aliases is one that they raise to what was measured, also of a volume that hardly idles."""
    rate, service, queued = in_use(hot=0.93)
    alone = pooled._as_without(make_rows(rate, service, queued, 0), [slice(0, rate.value.size)], DEVICE)
    shape = (pooled.MULTIPLES.size, -1)
    left = np.minimum(queued.value.sum() / alone.rows.queue.reshape(shape).sum(axis=1, keepdims=True), 1.0)
    free, slow, _ = (each.reshape(shape) for each in unlimited.service_rates(alone))
    missed = np.log((left * slow + (1 - left) * free) / rate.value)
    assert np.sqrt((missed**2).mean()) < 0.2


@pytest.mark.parametrize("multiple", [1.0, 1.5])
@pytest.mark.parametrize("inflation, gap", [(0.0, 0.0), (0.1, 5e-5)])
def test_a_wait_of_just_as_long_as_a_rule_begins_at_is_told_alike(
    multiple: float, inflation: float, gap: float
) -> None:
    """Pools are read at whole multiples of the Poisson wait: whether rounding makes them more must not matter."""
    device_model = DeviceModel(inflation=inflation, redrive_time=gap, model_error=0.02)
    rng = np.random.default_rng(17)
    service = rng.uniform(3e-4, 6e-3, 300)
    load = rng.uniform(0.05, 0.8, 300)
    queue = multiple * pooled.open_queue(load, device_model.redrive_time / service)
    exactly = [Interval(each, each, each) for each in (load / service, service, queue)]
    ratio = poisson_ratio(make_rows(*exactly, 0), device_model)
    assert (ratio == multiple).all()


def test_multiples_reach_from_even_service_to_phases_of_overload() -> None:
    """Constant service halves the wait of Poisson arrivals (Pollaczek and Khinchine); steps are finest about 1."""
    multiples = np.exp(pooled.MULTIPLES)
    assert multiples[0] < 0.5 and 1.0 in multiples
    assert 40.0 <= multiples[-1] <= 60.0
    steps = multiples[1:] / multiples[:-1]
    assert steps.min() > 1.3 and steps.max() < 2.6
    below, above = steps[multiples[1:] <= 1.0], steps[multiples[1:] > 1.0]
    assert (np.diff(below) < 0.0).all() and (above[1:] > 0.95 * above[:-1]).all()


def test_volumes_that_agree_on_their_waits_may_all_be_hits_and_misses_of_a_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each waits four times as long as of exponential service: with scv 7 the exact model of a pool needs far fewer."""
    device_model = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
    load, service = np.array([0.2, 0.3, 0.4, 0.25, 0.35, 0.3]), 2e-3
    alike = 4.0 * load**2 / (1 - load)

    def read(queue: np.ndarray) -> drawn_pool.DrawnPool:
        row = (Interval.around(load / service, 0.05), Interval.around(np.full(6, service), 5e-6))
        return read_pool(*row, Interval.around(queue, 0.005), device_model=device_model)

    # All bases and aliases as one station wait less than the pool: it needs as many at least.
    queues = queueing.mgc(load.sum() / service, service, np.arange(6, 20), 7.0).queue_length
    found = read(alike)
    low = found.point_and_range()[1]
    assert np.argmax(queues <= 0.05 * load.sum()) <= low <= 3
    unlike = read(alike * np.array([0.3, 2.9, 0.3, 2.9, 0.3, 2.9]))
    weights = [pool_draws._alike(each.candidates) for each in (found, unlike)]
    assert weights[0] == pytest.approx(1.0, abs=0.01) and weights[1] < 0.6
    monkeypatch.setattr(pool_draws, "SLOW", 1e-12)
    assert read(alike).point_and_range()[1] == low
    monkeypatch.setattr(pool_draws, "CACHED", 1e-12)
    assert read(alike).point_and_range()[1] > 3


@pytest.mark.long
@pytest.mark.parametrize("together", [True, False])
def test_rates_of_all_volumes_may_change_slowly(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lognormal over the interval, of all by one factor or of each by its own: the mean over the solved pools."""
    rng = np.random.default_rng(5)
    spread, levels = 1.0, 24
    z = rng.standard_normal((levels, 1) if together else (levels, 6))
    means, service = np.array([0.05, 0.1, 0.2, 0.3, 0.15, 0.25]), 2e-3
    loads = np.minimum(means * np.exp(spread * z - spread**2 / 2), 0.95)
    solved = queueing.alias_pool(
        np.arange(9),
        volumes=np.ones((levels, 1, 6)),
        arrival_rate=loads[:, None] / service,
        service_time=service,
    )
    rates, queues = (each.mean(axis=0) for each in (solved.throughput, solved.queue_length))
    busy = (solved.base_in_service + solved.alias_in_service).mean(axis=0)
    needed = int(np.argmax(queues.sum(axis=1) <= 0.05 * busy.sum(axis=1)))
    device_model = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)

    def low_and_high() -> tuple[int, int]:
        row = (Interval.around(rates[0], 0.05), Interval.around(np.full(6, service), 5e-6))
        return read_pool(
            *row, Interval.around(queues[0], 0.005), device_model=device_model
        ).point_and_range()[1:]

    low, high = low_and_high()
    assert low <= needed <= high
    monkeypatch.setattr(pool_draws, "SLOW", 1e-12)
    assert low_and_high()[0] > max(needed, low)
