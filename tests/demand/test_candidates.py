"""What candidates promise: the measured queue back, ordered ranges and bands, an answer for every queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import planner
from planner import queueing
from planner.demand import (
    Candidates,
    DeviceModel,
    Target,
    chains,
    in_words,
    inversion,
    kinds,
    point_and_range,
    priors,
    read_several,
    read_volumes,
    steady,
)
from planner.demand.read import make_rows
from planner.errors import InputError
from planner.interval import Interval
from tests.checkout import ROOT

DEVICE = DeviceModel(inflation=0.1, redrive_time=5e-5, model_error=0.02)
PLAIN = DeviceModel(inflation=0.0, redrive_time=4e-5, model_error=0.02)


def read(
    rate: object, service: object, queue: object, aliases: object = 0, device_model: DeviceModel = DEVICE
) -> Candidates:
    rates, services, queues = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (rate, service, queue))
    return read_volumes(
        Interval.around(rates, 0.05), Interval.around(services, 5e-6), Interval.around(queues, 0.005), aliases=aliases,
        device_model=device_model,
    )  # fmt: skip


@pytest.mark.parametrize("aliases", [0, 1, 3])
def test_every_burst_gives_the_measured_row_back(aliases: int) -> None:
    candidates = read([100.0, 250.0, 40.0], [1e-3, 2e-3, 3e-3], [0.2, 1.5, 0.5], aliases)
    found = candidates.predict([aliases])
    bursts = ~np.isin(candidates.layout.kind, kinds.STEADY) & candidates.used
    assert bursts.sum() > 30
    for got, measured in (
        (found.rate, candidates.rows.rate),
        (found.queue, candidates.rows.queue),
        (found.service, candidates.rows.service),
    ):
        expected = np.broadcast_to(measured[:, None], bursts.shape)[bursts]
        # Requesters always active or without think time may miss the row by the slack for rounding.
        np.testing.assert_allclose(got[..., 0][bursts], expected, rtol=0.1)
        assert np.median(np.abs(got[..., 0][bursts] / expected - 1)) < 1e-4


def test_counts_of_a_volume_ten_percent_busy_are_those_of_an_independent_prototype() -> None:
    candidates = read(
        100.0,
        1e-3,
        [0.1, 0.3, 0.8, 2.0],
        device_model=DeviceModel(inflation=0.15, redrive_time=4e-5, model_error=0.02),
    )
    counts = candidates.counts()
    column = {kind: candidates.layout.columns(kind).start for kind in range(len(kinds.KINDS))}
    for kind, expected in (
        (kinds.BATCHES, [3, 8, 20, 51]),
        (kinds.FIXED, [2, 5, 11, 28]),
        (kinds.PERIODIC, [2, 5, 12, 30]),
    ):
        np.testing.assert_allclose(counts[:, column[kind]], expected, atol=1)


def test_weights_add_up_and_unused_candidates_have_none() -> None:
    candidates = read([5.0, 100.0, 755.0], [1e-3, 1e-3, 1.3e-3], [0.0, 0.4, 1.84])
    np.testing.assert_allclose(candidates.weight.sum(axis=1), 1.0)
    assert (candidates.weight >= 0).all()
    assert np.isnan(candidates.counts()[~candidates.used]).all()


@pytest.mark.long
def test_what_cannot_give_the_row_has_no_weight() -> None:
    """At high load with aliases at work no variable service time gives the wait: the others share its weight."""
    busy = read([920.1, 4154.4, 100.0], [3.32e-3, 0.65e-3, 1e-3], [4.35, 87.21, 0.4], [3, 2, 0])
    found = busy.predict([3])
    for each in (found.rate[..., 0], found.queue[..., 0], busy.residual):
        assert np.isfinite(each[busy.used]).all()
    assert not busy.used[:2, busy.layout.kind == kinds.VARIABLE].any()
    assert busy.used[np.arange(3), point_and_range(busy).chosen].all()


@pytest.mark.parametrize("rate", [200.0, 500.0, 800.0])
def test_an_open_volume_is_read_as_open(rate: float) -> None:
    load = rate * 1e-3
    queue = load**2 / (1 - load)
    candidates = read(
        rate, 1e-3, queue, device_model=DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
    )
    assert candidates.steady[0]
    assert candidates.kind(int(point_and_range(candidates).chosen[0])) in {"poisson", "closed"}
    assert candidates.fits[0, 0]


def test_a_benchmark_volume_is_read_as_a_few_requesters() -> None:
    device_model = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.02)
    rows = Interval.around(755.0, 0.5), Interval.around(1.3e-3, 0.15e-3), Interval.around(1.84, 0.005)
    candidates = read_volumes(*rows, device_model=device_model)
    counts = point_and_range(candidates)
    assert candidates.kind(int(counts.chosen[0])) == "closed"
    assert counts.low[0] <= 2 <= counts.high[0] <= 4


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(load=st.floats(0.03, 0.95), wait=st.floats(0.01, 60.0), service=st.floats(3e-4, 6e-3))
def test_more_aliases_never_lengthen_a_wait(load: float, wait: float, service: float) -> None:
    candidates = read(load / service, service, wait * load)
    found = candidates.predict(range(12))
    wait = found.queue / found.rate
    falls = np.diff(wait, axis=-1)[np.isfinite(wait[..., :-1])]
    assert (falls[~np.isnan(falls)] <= 1e-9 * service).all()
    counts = point_and_range(candidates)
    assert 0 <= counts.low[0] <= counts.point[0] <= counts.high[0] <= counts.most[0] <= 255


@settings(max_examples=4, deadline=None)
@given(load=st.floats(0.03, 0.99), device_model=st.sampled_from([DEVICE, PLAIN]))
@example(
    load=0.96484375, device_model=PLAIN
)  # the likeliest candidate changes between the waits that bound the range
@pytest.mark.long
def test_the_high_end_never_falls_as_the_queue_grows(load: float, device_model: DeviceModel) -> None:
    queues = np.geomspace(0.02, 500.0, 16)
    counts = point_and_range(read(np.full(16, load / 1.3e-3), 1.3e-3, queues, device_model=device_model))
    assert (np.diff(counts.high) >= 0).all()


def test_every_queue_has_an_answer() -> None:
    queues = np.array([5.0, 20, 25, 30, 32, 60, 100, 500])
    device_model = DeviceModel(inflation=0.176, redrive_time=7e-5, model_error=0.02)
    counts = point_and_range(read(np.full(8, 755.0), 1.3e-3, queues, device_model=device_model))
    assert (counts.high <= 255).all() and (np.diff(counts.high) >= 0).all()
    assert counts.saturated.tolist() == [False] * 3 + [True] * 5
    assert (counts.point[3:] == 3).all()


def test_growth_moves_every_demand_by_its_share() -> None:
    candidates = read([100.0, 500.0], [1e-3, 1.3e-3], [0.3, 0.9])
    grown = candidates.grown(0.01)
    before, after = candidates.predict([0, 3]), grown.predict([0, 3])
    share = after.rate / before.rate - 1
    # Not more than the demand grows; nearly as much where nothing holds it back.
    assert np.nanmax(share) <= 0.0101
    assert np.nanmin(share[..., 1]) > 0.0
    assert (point_and_range(grown).high >= point_and_range(candidates).high).all()
    np.testing.assert_allclose(
        candidates.grown(0.1).grown(0.1).demands.load, candidates.grown(0.21).demands.load
    )


@pytest.mark.long
def test_a_second_row_tells_candidates_apart() -> None:
    one = read(100.0, 1e-3, 0.3, device_model=PLAIN)
    column = one.layout.columns(kinds.BATCHES).start
    truth = one.predict([3])
    rows = [
        (
            Interval.around(np.array([100.0]), 0.05),
            Interval.around(np.array([1e-3]), 5e-6),
            Interval.around(np.array([q]), 0.005),
            a,
        )
        for a, q in ((0, 0.3), (3, float(truth.queue[0, column, 0])))
    ]
    both = read_several(rows, device_model=PLAIN)
    counts = point_and_range(both)
    assert counts.point[0] == one.counts()[0, column]
    assert counts.high[0] - counts.low[0] < point_and_range(one).high[0] - point_and_range(one).low[0]
    assert counts.low[0] > 3  # the target was missed there
    assert point_and_range(read_several(rows[::-1], device_model=PLAIN)).point[0] == counts.point[0]


def test_what_is_tied_to_several_rows_has_the_latest_queue() -> None:
    """Likely candidates miss the queue of the latest row by no more than its digits; the first row stays."""
    rows = [
        (
            Interval.around(np.array([100.0]), 0.05),
            Interval.around(np.array([1e-3]), 5e-6),
            Interval.around(np.array([queue]), 0.005),
            aliases,
        )
        for aliases, queue in ((0, 0.3), (3, 0.1))
    ]
    both = read_several(rows, device_model=PLAIN)
    tied, free = (each.predict([0, 1, 3, 7]) for each in (both, replace(both, excess=None)))
    likely = both.weight[0] > 0.01
    np.testing.assert_allclose(tied.queue[0, likely, 2], 0.1, atol=0.005)
    np.testing.assert_allclose(tied.queue[0, :, 0], free.queue[0, :, 0], rtol=1e-12)
    assert not np.allclose(tied.queue[0, :, 2], free.queue[0, :, 2], rtol=0.1)


def test_the_range_holds_the_count_of_every_kept_reading() -> None:
    candidates = read([100.0, 250.0, 300.0], 1e-3, [0.3, 1.2, 0.4])
    counts, each = point_and_range(candidates), candidates.counts()
    least = np.where(candidates.kept, each, np.inf).min(axis=1)
    most = np.where(candidates.kept, each, -np.inf).max(axis=1)
    assert (counts.low <= least).all() and (counts.high >= most).all()
    assert (counts.low < counts.point).all()


def test_a_row_that_met_the_target_bounds_the_count() -> None:
    rows = [
        (
            Interval.around(np.array([100.0]), 0.05),
            Interval.around(np.array([1e-3]), 5e-6),
            Interval.around(np.array([q]), 0.0005),
            a,
        )
        for a, q in ((0, 0.3), (4, 0.002))
    ]
    counts = point_and_range(read_several(rows, device_model=PLAIN))
    assert counts.point[0] <= 4 and counts.high[0] <= 4


@pytest.mark.long
def test_nothing_waiting_with_aliases_is_open_above() -> None:
    counts = point_and_range(read([100.0, 100.0], 1e-3, [0.0, 0.3], [3, 3]))
    assert counts.open_above.tolist() == [True, False]
    assert counts.point[0] <= 3 < counts.low[1]


@pytest.mark.parametrize("gap", [0.0, 5e-5])
def test_one_requester_fits_every_row_in_which_nothing_waits(gap: float) -> None:
    """Alone it never waits: queue .00 at the low edge of the digits, which rounding must not decide."""
    rng = np.random.default_rng(20)
    service = rng.uniform(3e-4, 6e-3, 400).round(5)
    rate = (rng.uniform(0.01, 0.3, 400) / service).round(1)
    candidates = read(rate, service, 0.0, device_model=replace(PLAIN, redrive_time=gap))
    alone = (candidates.layout.kind == kinds.CLOSED) & (candidates.layout.number == 0)
    assert candidates.demands.population[:, alone].tolist() == [[1.0]] * 400
    assert candidates.fits[:, alone].all()


@pytest.mark.parametrize(("present", "people"), [(0.3, 1), (1.0, 1), (1.0005, 2), (2.0, 2), (2.0005, 3)])
def test_there_are_as_many_requesters_as_ios_at_once(present: float, people: int) -> None:
    """Those that wait and those in service, by Little's law, at the low end of the digits."""
    queue = max(present - 0.2, 0.0)
    exactly = [Interval(each, each, each) for each in (100.0, (present - queue) / 100.0, queue)]
    rows = make_rows(*exactly, 0)
    station = chains.DeviceStation(most=1, inflation=0.0, gap=np.zeros(1))
    assert inversion.fewest(np.zeros(1), np.zeros(1), rows, station, steady=True).tolist() == [people]


def test_a_target_is_met_at_its_limit() -> None:
    """What is exactly as long as is allowed is allowed; a hair more is not; what is unknown is not met."""
    rate, service = np.full(4, 0.5), np.full(4, 1e-3)
    queue = np.array([1e-4, 1e-4 * (1 + 1e-12), np.inf, np.nan])
    for target in (
        Target(wait=2e-4), Target(queued=1e-4), Target(response=1e-3 + 2e-4), Target(wait_share=0.2),
        Target(wait=2e-4, queued=1.0, response=1.0), Target(no_alias=0.5, wait=2e-4),
    ):  # fmt: skip
        assert target.met(rate, service, queue, 0.5).tolist() == [True, False, False, False], target
        assert target.excess(rate, service, queue, 0.5)[:1] == pytest.approx(1.0)
    assert not Target(no_alias=0.5, wait=2e-4).met(rate, service, queue, 0.51).any()
    assert not Target(no_alias=0.5).met(rate, service, queue).any()  # nobody counted the tries
    assert Target().met(0.5, 1e-3, 1e-6) and not Target(no_alias=0.5).met(0.5, 1e-3, 0.0)


def test_a_target_of_none_is_met_by_none() -> None:
    rate, service, queue = np.ones(2), np.full(2, 1e-3), np.array([0.0, 1e-9])
    for target in (Target(wait=0.0), Target(queued=0.0)):
        assert target.met(rate, service, queue).tolist() == [True, False]


def test_waits_that_are_longer_by_a_factor_meet_a_target_that_is_shorter_by_it() -> None:
    rate, service, queue = np.ones(40), np.full(40, 1e-3), np.geomspace(1e-6, 1.0, 40)
    for target in (Target(), Target(wait=2e-4), Target(queued=3e-3), Target(wait=2e-4, queued=1e-4)):
        longer = target.met(rate, service, 1.5 * queue)
        assert target.with_waits(1.5).met(rate, service, queue).tolist() == longer.tolist()
        assert 0 < longer.sum() < 40
    assert Target(response=2e-3).with_waits(1.5) == Target(response=2e-3, wait_share=0.05 / 1.5)


def test_the_longest_wait_that_meets_a_target_is_where_nothing_is_left_of_it() -> None:
    rate, service = np.geomspace(10.0, 5000.0, 5), np.geomspace(2e-3, 2e-4, 5)
    for target in (
        Target(),
        Target(wait=2e-4),
        Target(response=4e-3),
        Target(queued=0.1),
        Target(wait=2e-4, queued=0.1),
    ):
        queue = rate * target.longest_wait(rate, service)
        assert target.excess(rate, service, queue) == pytest.approx(np.ones(5))


def test_targets_of_every_sort() -> None:
    candidates = read(100.0, 1e-3, 0.5)
    default = candidates.counts()
    for target in (Target(wait=0.05e-3), Target(queued=0.005), Target(wait=0.05e-3, queued=0.5)):
        np.testing.assert_allclose(
            candidates.counts(target), default, rtol=0.2, atol=1
        )  # inflation moves the shares
    assert (candidates.counts(Target(response=3e-3)) <= default)[candidates.used].all()


def test_a_queue_not_measured_is_an_offered_load() -> None:
    candidates = read_volumes(
        Interval.around(500.0, 0.5),
        Interval.around(1e-3, 5e-6),
        Interval(0.0, 0.0, np.inf),
        device_model=DEVICE,
    )
    assert candidates.weight[0, 0] == 1.0
    assert candidates.predict([0]).rate[0, 0, 0] == pytest.approx(500.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0.0, 1e-3, 0.1), "io_rate"),
        ((100.0, -1e-3, 0.1), "service"),
        ((100.0, 1e-3, -0.1), "queued"),
        ((100.0, 1e-3, 0.1, 300), "aliases"),
    ],
)
def test_nonsense_is_refused(arguments: tuple[float, ...], named: str) -> None:
    with pytest.raises(InputError, match=named):
        read(*arguments)


def test_what_is_tried_rises_and_the_fine_tries_hold_the_coarse_ones() -> None:
    for coarse, fine in (
        (kinds.ON_LOADS, kinds.FINE_ON_LOADS),
        (kinds.ACTIVE_STEPS, kinds.FINE_ACTIVE_STEPS),
        (kinds.SHARES[::-1], kinds.FINE_SHARES[::-1]),
        (steady.POPULATIONS, range(1, 1025)),
        (kinds.CLOSED_STEPS, range(30)),
    ):
        assert (np.diff(coarse) > 0).all() and (np.diff(fine) > 0).all()
        assert set(coarse) <= set(fine)
    assert set(range(1, 11)) <= set(steady.POPULATIONS)  # few requesters are told apart one by one


def test_words_name_every_kind() -> None:
    candidates = read([100.0, 400.0], [1e-3, 1e-3], [0.15, 0.3])
    said = {
        candidates.kind(k): in_words(candidates, v, k)
        for v in range(2)
        for k in np.flatnonzero(candidates.used[v])
    }
    assert "I/Os come together" in said["batches"]
    assert "of the time" in said["active"] and "of the time" in said["on-off"]
    assert all(text and "nan" not in text for text in said.values())


def test_rows_bound_the_count_by_what_their_digits_decide() -> None:
    """With one alias the target is missed, with three it is met: more than one are needed, and at most three."""
    rows = [
        tuple(
            Interval.around(np.array([value]), half)
            for value, half in zip(row, (0.05, 5e-6, 0.005), strict=True)
        )
        for row in ((200.0, 2e-3, 0.3), (205.0, 2e-3, 0.1), (208.0, 2e-3, 0.01))
    ]
    found = read_several(
        [(*row, used) for row, used in zip(rows, (0, 1, 3), strict=True)], device_model=PLAIN
    )
    assert [each.tolist() for each in found.bounds(Target())] == [[1.0], [3.0]]
    counts = point_and_range(found)
    assert 2 <= counts.low[0] <= counts.point[0] <= counts.high[0] <= 3


@pytest.mark.parametrize("layout", [kinds.COARSE, kinds.FINE])
def test_a_finer_ladder_of_requesters_shares_the_weight_of_the_coarse_one(layout: kinds.Layout) -> None:
    """A number stands for all from itself up to the next, the last for all beyond: nothing is lost between."""
    shares = priors._requesters(layout)[0]
    active = layout.kind == kinds.ACTIVE
    assert (shares[~active] == 0.0).all()
    for own in np.unique(layout.own[active]):
        steps = layout.number[active & (layout.own == own)]
        for step, share in zip(steps, shares[active & (layout.own == own)], strict=True):
            beyond = steps[steps > step]
            after = int(beyond.min()) if beyond.size else len(priors.ACTIVE_WEIGHTS)
            assert share == pytest.approx(max(sum(priors.ACTIVE_WEIGHTS[int(step) : after]), 0.01))


def test_the_last_number_of_a_short_ladder_stands_for_all_beyond() -> None:
    short = kinds.Layout(
        kind=np.full(3, kinds.ACTIVE), number=np.array([0.0, 0.5, 2.0]), own=np.ones(3)
    )  # half a step has half of the weight
    assert priors._requesters(short)[0] == pytest.approx([0.175, 0.175 + 0.25, 0.4])


@pytest.mark.first(2)
@pytest.mark.parametrize("scv", [3.0, 6.0, 12.0])
@pytest.mark.parametrize("load", [0.2, 0.5])
def test_hits_and_misses_of_a_cache_lie_within_the_range(scv: float, load: float) -> None:
    """What Poisson arrivals need whose service varies so, by the exact model of M/G/c."""
    rate, service = load / 2e-3, 2e-3
    queues = queueing.mgc(rate, service, np.arange(1, 9), scv, method="exact").queue_length
    needed = int(np.argmax(queues <= 0.05 * load))
    device_model = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
    found = point_and_range(read(rate, service, queues[0], device_model=device_model))
    assert found.low[0] <= needed <= found.high[0]


@pytest.mark.first(2)
@pytest.mark.parametrize(("spread", "mean"), [(1.2, 0.1), (0.8, 0.3), (0.4, 0.5), (1.0, 0.05), (0.6, 0.4)])
def test_rates_that_change_slowly_within_the_interval_lie_within_the_range(
    spread: float, mean: float
) -> None:
    """Lognormal over the interval, M/M/c at each level: what waits is gone with one or two aliases."""
    z = np.linspace(-2.5, 2.5, 21)
    weight = np.exp(-(z**2) / 2)
    loads = np.minimum(mean * np.exp(spread * z - spread**2 / 2), 0.97)
    figures = queueing.mmc(loads[:, None] / 2e-3, 2e-3, np.arange(1, 9))
    queue, busy = (
        np.average(each, axis=0, weights=weight) for each in (figures.queue_length, figures.in_service)
    )
    needed = int(np.argmax(queue <= 0.05 * busy))
    device_model = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.02)
    found = point_and_range(read(busy[0] / 2e-3, 2e-3, queue[0], device_model=device_model))
    assert 1 <= needed <= 2
    assert found.low[0] <= needed <= found.high[0]


@pytest.mark.parametrize("aliases", [20, pytest.param(200, marks=pytest.mark.long)])
def test_a_queue_where_poisson_arrivals_would_have_none_divides_by_nothing(aliases: int) -> None:
    """An idle volume with so many aliases and I/Os queued: its numbers contradict each other."""
    device_model = DeviceModel(inflation=0.1, redrive_time=5e-5, model_error=0.02)
    found = read(0.01, 1e-4, 5.0, aliases=aliases, device_model=device_model)
    assert np.isfinite(found.weight).all()
    assert 1e9 < found.ratio[0] < np.inf


def test_hardly_more_than_one_io_at_once_is_no_one_ios() -> None:
    """1.04 at once was "about 1 I/Os at once"."""
    answer = planner.aliases(ROOT / "docs" / "examples" / "iostat.json", device="dasdb", interval="worst")
    assert "about 1.04 I/Os at once" in " ".join(answer.notes)
