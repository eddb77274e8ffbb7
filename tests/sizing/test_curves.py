"""Bands, curves through measurements, gains and groups of volumes: arithmetic by hand and known distributions."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import planner
from planner import queueing
from planner.answer import record
from planner.demand import DeviceModel, Target, read_volumes
from planner.devices import Performance, Pool, VolumeClass
from planner.devices.pool import _unbounded
from planner.errors import ConvergenceError, PlannerError
from planner.interval import Interval
from planner.measurements import Run, from_numbers
from planner.render.text import ENOUGH, SHORT, SPARE, UNKNOWN
from planner.results import Array
from planner.sizing.bounds import MOST, Correction, band, counts_at_ends, ends_of, holding, spaced, through
from planner.sizing.bursty_pool import SizedDraws
from planner.sizing.comparison import GAINS, Count, Gain, gains, own_gains
from planner.sizing.fewest import _following, excess_of, fewest, first_guess, most_useful
from planner.sizing.need import need
from planner.sizing.pool import between, interpolated, some_counts
from planner.sizing.volume import _closed_station, _open_station, classic_aliases
from planner.sizing.volumes import (
    alike,
    each_volume,
    grouped,
    grown,
    means,
    own_rates,
    pool_of,
    rates_differ,
    think_in_use,
)
from tests.demand.accuracy import run_of
from tests.demand.simulation import CLOSED, simulate

EXACT = DeviceModel(inflation=0.0, redrive_time=0.0, model_error=0.0)
DEVICE = DeviceModel(inflation=0.16, redrive_time=6e-5, model_error=0.05, axes=((0.2, 0.0), (0.0, 0.6)))
ENDS = norm.ppf((0.5 + np.arange(9)) / 9)  # equally likely nodes of the error of a model


def rows_of(rate: list[float], service: list[float], queued: list[float], start: int = 0) -> Performance:
    nothing = np.full(len(rate), np.nan)
    x, s, q = (np.array(each) for each in (rate, service, queued))
    return Performance(
        aliases=start + np.arange(float(len(rate))), io_rate=x, service_time=s, queued=q, no_alias=nothing,
        tries=nothing, fails=nothing, fewest_free=nothing, most_free=nothing, volume_rates=x[:, None],
        volume_responses=(s + q / x)[:, None],
    )  # fmt: skip


def volume(rate: float = 700.0, service: float = 1.3e-3, queued: float = 0.8, aliases: int = 0) -> Run:
    return from_numbers(
        io_rate=Interval(0.99 * rate, rate, 1.01 * rate), service=Interval(0.95 * service, service, 1.05 * service),
        queued=Interval(0.99 * queued, queued, 1.01 * queued), aliases=aliases,
    )  # fmt: skip


def flat(values: list[list[float]], chosen: list[float], moved: list[list[float]], **how: object) -> Interval:
    given = {"device_model": EXACT, "residual": 0.0, "in_use": 0, "before": None, **how}
    shape = (-1, len(chosen))
    return band(np.array(values).reshape(shape), np.array(chosen), np.array(moved).reshape(shape), **given)  # type: ignore[arg-type]


def test_a_band_without_any_error_holds_the_readings() -> None:
    found = flat([[100.0, 120.0], [90.0, 150.0]], [95.0, 140.0], [])
    assert found.low.tolist() == pytest.approx([90.0, 120.0])
    assert found.value.tolist() == [95.0, 140.0]
    assert found.high.tolist() == pytest.approx([100.0, 150.0])


def test_the_error_of_the_law_widens_a_band_by_the_outer_nodes() -> None:
    """90 % of nine equally likely nodes are all of them; a residual of 2 doubles them, up to ten times."""
    device_model = replace(EXACT, model_error=0.05)
    for residual, times in ((0.0, 1.0), (1.0, 1.0), (2.0, 2.0), (10.0, 10.0), (50.0, 10.0)):
        found = flat([[100.0, 120.0]], [100.0, 120.0], [], device_model=device_model, residual=residual)
        reach = math.exp(times * 0.05 * ENDS[-1])
        assert found.high.tolist() == pytest.approx([100 * reach, 120 * reach])
        assert found.low.tolist() == pytest.approx([100 / reach, 120 / reach])


def test_another_law_counts_from_the_aliases_in_use_on_and_as_a_parabola() -> None:
    """Ends of an axis at e^.3 up and e^-.1 down with one alias more, at 1.645 deviations: .2 x + .1 x^2."""
    chosen, up, down = [100.0, 200.0], [110.0, 220.0 * math.exp(0.3)], [90.0, 180.0 * math.exp(-0.1)]
    found = flat([chosen], chosen, [up, down])
    assert (found.low[0], found.high[0]) == pytest.approx((100.0, 100.0))  # where the demand was read

    def moved(z: float) -> float:
        x = z / 1.645
        return 0.2 * x + 0.1 * x * x

    at = np.sort([moved(z) for z in norm.ppf((np.arange(20_000) + 0.5) / 20_000)])
    low, high = np.quantile(at, [0.05, 0.95])
    assert found.low[1] == pytest.approx(200 * math.exp(low), rel=0.02)
    assert found.high[1] == pytest.approx(200 * math.exp(high), rel=0.02)
    later = flat([chosen], chosen, [up, down], in_use=1)
    assert (later.low[1], later.high[1]) == pytest.approx((200.0, 200.0))
    assert later.low[0] < 100.0 < later.high[0]
    beyond = flat([chosen], chosen, [up, down], in_use=9)  # more in use than rows are shown
    assert (beyond.low[1], beyond.high[1]) == pytest.approx((200.0, 200.0))


def test_two_axes_are_independent_of_each_other() -> None:
    chosen, up, down = [100.0, 100.0], [100.0, 100 * math.exp(0.3)], [100.0, 100 * math.exp(-0.3)]
    one, two = flat([chosen], chosen, [up, down]), flat([chosen], chosen, [up, down, up, down])
    width = math.log(one.high[1] / 100)
    assert width == pytest.approx(0.3, rel=0.03)
    assert math.log(two.high[1] / 100) == pytest.approx(2**0.5 * width, rel=0.05)


def test_where_a_queue_may_grow_without_bound_there_is_no_upper_end() -> None:
    for values, moved in (
        ([[math.inf, 5.0]], [[4.0, 5.0]] * 2),
        ([[4.0, 5.0]], [[math.inf, 5.0], [4.0, 5.0]]),
    ):
        found = flat(values, [4.0, 5.0], moved)
        assert (found.low[0], found.high[0]) == (pytest.approx(4.0), math.inf)
        assert found.high[1] == pytest.approx(5.0)


@pytest.mark.parametrize("growth", [-0.3, -1e-9, 1e-9, 0.2])
def test_grown_demand_is_held_by_what_was_measured(growth: float) -> None:
    """A rate grows by no more than the demand, a response does not shrink; digits stay open as they were."""
    middle = np.array([100.0, 110.0])
    measured = {0: Interval(99.0, 100.0, 102.0)}
    wide, narrow = (Interval(middle * (1 - by), middle.copy(), middle * (1 + by)) for by in (0.5, 1e-3))
    rate = through(wide, measured, growth, rising=True)
    assert rate.low[0] == pytest.approx(99.0 * min(1.0, 1 + growth))
    assert rate.high[0] == pytest.approx(102.0 * max(1.0, 1 + growth))
    for found in (through(wide, measured, growth), through(narrow, measured, growth)):
        assert found.low[0] >= 99.0 if growth > 0 else found.low[0] <= 99.0
        assert found.high[0] >= 102.0 if growth > 0 else found.high[0] <= 102.0
    assert (found.low[1], found.high[1]) == pytest.approx((110 * 0.999, 110 * 1.001))  # not measured


def test_a_band_goes_through_what_was_measured_and_rates_do_not_fall() -> None:
    given = Interval(
        np.array([90.0, 80.0, 70.0]), np.array([95.0, 96.0, 97.0]), np.array([120.0, 99.0, 130.0])
    )

    def copied() -> Interval:
        return Interval(*(each.copy() for each in given))

    found = through(copied(), {1: Interval(94.0, 95.0, 96.0), 7: Interval(1.0, 1.0, 1.0)}, 0.0)
    assert (found.low.tolist(), found.high.tolist()) == ([90.0, 94.0, 70.0], [120.0, 96.0, 130.0])
    assert found.value.tolist() == [95.0, 95.0, 97.0]
    found = through(copied(), {1: Interval(94.0, 96.0, 97.0)}, 0.0, rising=True)
    assert found.low.tolist() == [90.0, 94.0, 94.0]
    assert found.high.tolist() == [97.0, 97.0, 130.0]
    unknown = through(copied(), {1: Interval(math.nan, math.nan, math.nan)}, 0.0)
    assert unknown.low.tolist() == given.low.tolist()
    outside = through(Interval(np.array([5.0]), np.array([4.0]), np.array([3.0])), {}, 0.0)
    assert (outside.low[0], outside.value[0], outside.high[0]) == (4.0, 4.0, 4.0)
    held = holding(
        Interval(np.array([1.0, 2.0]), np.array([2.0, 3.0]), np.array([3.0, 4.0])), np.array([0.5, 5.0])
    )
    assert (held.low.tolist(), held.value.tolist(), held.high.tolist()) == (
        [0.5, 2.0],
        [0.5, 5.0],
        [3.0, 5.0],
    )


def test_a_queue_has_room_of_a_fiftieth_on_either_side() -> None:
    found = spaced(
        Interval(np.array([1.0, 2.0, 0.0]), np.array([1.0, 2.5, 1.0]), np.array([2.0, 3.0, np.inf]))
    )
    assert found.low.tolist() == pytest.approx([0.98, 2.0, 0.0])
    assert found.high.tolist() == pytest.approx([2.0, 3.0, np.inf])


def test_the_ends_of_a_law_are_its_axes_and_the_error_of_the_think_time() -> None:
    run = volume()
    read = read_volumes(run.io_rate, run.service, spaced(run.queued), aliases=[0], device_model=DEVICE)
    closed = next(k for k in range(read.weight.shape[1]) if read.kind(k) == "closed" and math.isfinite(
        read.demands.think[0, k]) and read.weight[0, k] > 0)  # fmt: skip
    chosen = np.array([closed])
    ends = ends_of(read, chosen, DEVICE)
    assert len(ends) == 2 + 2 * len(DEVICE.axes)
    think, service = float(read.demands.think[0, closed]), float(read.service_time[0, closed])
    error = 0.05 * float(read.predict(np.array([0])).response[0, closed, 0]) / service * 1.645
    longer, shorter = (float(each.read.demands.think[0, closed]) for each in ends[:2])
    assert longer == pytest.approx(think + error)
    assert shorter == pytest.approx(max(think - error, 0.01 * think))
    devices = [(each.read.device_model.inflation, each.read.device_model.redrive_time) for each in ends[2:]]
    grow, gap = math.exp(0.2 * 1.645), math.exp(0.6 * 1.645)
    assert devices == [pytest.approx((0.16 * grow, 6e-5)), pytest.approx((0.16 / grow, 6e-5)),
                    pytest.approx((0.16, 6e-5 * gap)), pytest.approx((0.16, 6e-5 / gap))]  # fmt: skip
    for each in ends:
        assert each.read.weight[0].tolist() == [float(k == closed) for k in range(read.weight.shape[1])]
        assert (each.places.tolist(), each.chosen.tolist()) == ([0], [closed])
    assert len(ends_of(read, chosen, replace(DEVICE, model_error=0.0))) == 4
    assert len(ends_of(read, chosen, replace(DEVICE, axes=()))) == 2
    counts = counts_at_ends(read, chosen, DEVICE, Target())
    assert counts.shape == (6, 1)
    assert counts[0, 0] <= counts[1, 0]  # who thinks longer needs no more


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_curve_that_the_model_meets_stays_as_it_is(at: int) -> None:
    curve = rows_of([100.0, 140.0, 150.0], [1e-3, 1.1e-3, 1.2e-3], [3.0, 1.0, 0.2])
    there = curve.some([at])
    run = volume(float(there.io_rate[0]), float(there.service_time[0]), float(there.queued[0]), at)
    for growth in (0.0, 0.2):
        found = Correction.of(there, [run], growth).applied(curve)
        for name in ("io_rate", "service_time", "queued", "volume_rates", "volume_responses"):
            assert getattr(found, name) == pytest.approx(getattr(curve, name))


def test_a_correction_holds_beyond_what_was_measured_and_lies_between_within() -> None:
    """A flat model: rates 10 % and 20 % more at counts 1 and 3, service 5 % less and 5 % more."""
    curve = rows_of([100.0] * 5, [1e-3] * 5, [0.5] * 5)
    runs = [volume(110.0, 0.95e-3, 0.5, 1), volume(120.0, 1.05e-3, 0.5, 3)]
    model = curve.some([1, 3])
    found = Correction.of(model, runs, 0.0).applied(curve)
    middle = math.sqrt(110 * 120)
    assert found.io_rate.tolist() == pytest.approx([110.0, 110.0, middle, 120.0, 120.0])
    assert found.service_time.tolist() == pytest.approx(
        [0.95e-3, 0.95e-3, 1e-3 * math.sqrt(0.95 * 1.05), 1.05e-3, 1.05e-3]
    )
    assert found.queued.tolist() == pytest.approx([0.5] * 5)
    assert Correction.of(model, runs[::-1], 0.0).counts.tolist() == [1.0, 3.0]
    assert found.volume_rates[:, 0].tolist() == pytest.approx(found.io_rate.tolist())
    assert found.volume_responses[:, 0].tolist() == pytest.approx(found.response_time.tolist())
    grown_ = Correction.of(model, runs, 0.2).applied(curve)
    assert grown_.io_rate.tolist() == pytest.approx(found.io_rate.tolist())
    wide = Correction.of(model, [volume(0.5, 1.0, 4.5, 1), runs[1]], 0.2).applied(curve)
    assert 0.5 <= wide.io_rate[1] <= 0.5 * 1.2
    # No I/O waits fewer service times than it did.
    assert (wide.service_time[1], wide.queued[1]) == pytest.approx((1.0, 4.5 * wide.io_rate[1] / 0.5))
    assert wide.service_time[0] == pytest.approx(
        1e-3 * math.exp(MOST)
    )  # where nothing was measured no further
    assert wide.queued[0] == wide.queued[1]  # nor shorter than with more


def test_a_queue_without_bound_is_not_corrected() -> None:
    curve = rows_of([100.0, 120.0], [1e-3, 1e-3], [math.inf, 0.4])
    found = Correction.of(curve.some([0]), [volume(100.0, 1e-3, 3.0, 0)], 0.0)
    assert (found.queue_missed.tolist(), found.queue_models.tolist()) == ([0.0], [3.0])
    assert found.applied(curve).queued[1] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("needed", "high", "in_use", "verdict", "missing", "spare"),
    [
        (5, 7, 4, SHORT, 1, -3), (5, 7, 5, ENOUGH, 0, -2), (5, 7, 7, ENOUGH, -2, 0), (5, 7, 8, SPARE, -3, 1),
        (None, None, 8, UNKNOWN, -8, 8), (5, None, 8, UNKNOWN, -3, 8),
    ],
)  # fmt: skip
def test_a_count_is_short_enough_or_spare_for_sure(
    needed: int | None, high: int | None, in_use: int, verdict: str, missing: int, spare: int
) -> None:
    found = Count(needed, 3, high, in_use)
    assert (found.verdict, found.missing, found.spare) == (verdict, missing, spare)


def gain(volumes: int = 1, before: float = 5e-3, after: float = 2e-3) -> Gain:
    return Gain(
        volumes=volumes, rate_before=100.0, rate_after=150.0, response_before=before, response_after=after
    )


def test_a_gain_is_told_in_rate_and_response() -> None:
    assert str(gain(3)) == "3 volumes from 100 to 150/s, 5.00 to 2.00 ms"
    assert str(gain(1, after=5e-3)) == "1 volume at 100/s gains nothing"
    assert str(gain(2, after=5e-3)) == "2 volumes at 100/s gain nothing"
    assert gain(after=0.994 * 5e-3).gains
    assert not gain(after=0.996 * 5e-3).gains
    assert record(gain(2), GAINS) == {
        "volumes": 2, "io_rate_before": 100.0, "io_rate_after": 150.0, "response_before_ms": pytest.approx(5.0),
        "response_after_ms": pytest.approx(2.0),
    }  # fmt: skip


def test_gains_are_those_of_each_class_between_two_rows() -> None:
    rows = rows_of([100.0, 140.0, 150.0], [1e-3] * 3, [3.0, 1.0, 0.2])
    rates, responses = (
        np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]),
        np.array([[9.0, 90.0], [8.0, 80.0], [7.0, 70.0]]),
    )
    rows = replace(rows, volume_rates=rates, volume_responses=responses)
    pool = Pool(classes=(VolumeClass(volumes=2, arrival_rate=1.0), VolumeClass(volumes=5, arrival_rate=1.0)),
                service_time=1e-3)  # fmt: skip
    assert gains(pool, rows, 0, 2) == (
        Gain(volumes=2, rate_before=1.0, rate_after=3.0, response_before=9.0, response_after=7.0),
        Gain(volumes=5, rate_before=10.0, rate_after=30.0, response_before=90.0, response_after=70.0),
    )
    run = several((100.0, 300.0, 50.0), (1e-3, 1e-3, 2e-3), (0.1, 0.9, 0.0))
    first, second = own_gains(gains(pool, rows, 0, 2), run, np.array([0, 0, 1]))
    assert (first.rate_before, first.rate_after) == (pytest.approx(200.0), pytest.approx(600.0))
    assert first.response_before == pytest.approx((100 * 2e-3 + 300 * 4e-3) / 400)  # by rate
    assert (second.rate_before, second.rate_after, second.response_before) == pytest.approx(
        (50.0, 150.0, 2e-3)
    )
    unknown = replace(run, queued=Interval(run.queued.low, run.queued.value, np.full(3, np.inf)))
    assert own_gains(gains(pool, rows, 0, 2), unknown, np.array([0, 0, 1]))[0].response_before == 9.0


def several(
    rates: tuple[float, ...], services: tuple[float, ...], queues: tuple[float, ...], half: float = 0.05
) -> Run:
    """A pool of unlike volumes, service times known to 5 %."""
    rate, service, queue = (np.array(each) for each in (rates, services, queues))
    return Run(
        name="P", pool=True, aliases=0, volumes=tuple(f"V{k}" for k in range(rate.size)),
        io_rate=Interval(rate, rate, rate), service=Interval(service * (1 - half), service, service * (1 + half)),
        queued=Interval(queue, queue, queue), queue_shown=queue,
    )  # fmt: skip


def pool(*classes: VolumeClass, service: float = 1e-3, **how: float) -> Pool:
    return Pool(classes=classes, service_time=service, **how)


def test_each_volume_has_what_its_class_has_and_a_pool_is_put_together_again() -> None:
    given = pool(VolumeClass(volumes=2, population=3, think_time=1e-3), VolumeClass(volumes=1, arrival_rate=50.0,
                 service_time=4e-3), inflation=0.1)  # fmt: skip
    population, think, rate, service = each_volume(replace(given, classes=(replace(given.classes[0], service_time=1e-3),
                                                                          given.classes[1])))  # fmt: skip
    assert population[:2].tolist() == [3.0, 3.0]
    assert math.isnan(population[2])
    assert (rate[2], think[0]) == (50.0, 1e-3)
    assert service.tolist() == [1e-3, 1e-3, 4e-3]
    again = pool_of(
        replace(EXACT, inflation=0.1), service, population=population, think_time=think, arrival_rate=rate
    )
    assert (again.inflation, again.service_time) == (0.1, pytest.approx(2e-3))
    for before, after in zip((population, think, rate, service), each_volume(again), strict=True):
        assert np.array_equal(before, after, equal_nan=True)


@pytest.mark.long
@pytest.mark.parametrize(
    "numbers",
    [
        {"rate": 300.0, "service": 1.3e-3, "queue": 0.2},
        {"rate": 700.0, "service": 1.3e-3, "response": 1.8e-3, "queue": 0.35, "volumes": 8, "in_use": 4},
    ],
)
def test_after_growth_no_end_of_a_response_is_far_below_its_service_time(numbers: dict[str, Any]) -> None:
    """Ends counted from the row in use, whose wait grows without bound: 20 to 40 % of the service time, then a jump."""
    ends = []
    for growth in (0.0, 1e-5, 0.3, 0.4 if "volumes" in numbers else 1.3):
        found = planner.aliases(**numbers, growth=growth)
        assert isinstance(found, planner.sizing.AliasAnswer)
        at = found.recommended
        ends.append(found.response.low[at] / found.rows.service_time[at])
    assert min(ends) > 0.75
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


@pytest.mark.long
def test_rates_that_base_and_aliases_cannot_serve_grow_without_a_warning() -> None:
    """Of rates alone the response with the aliases in use is without bound: what a model moves of it is not known."""
    found = planner.aliases(rate="755/s", service="1.3ms", growth=0.3)
    assert isinstance(found, planner.sizing.AliasAnswer)
    assert math.isinf(found.response.value[0]) and math.isfinite(found.response.value[-1])


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("growth", [1e-9, 0.01, 0.2])
def test_a_measurement_that_misses_the_target_misses_it_with_more_demand(growth: float) -> None:
    """The low end fell by the alias that only the measurement asks for."""
    numbers: dict[str, Any] = {"rate": "210/s", "service": "2.21ms", "queue": "0.09", "in_use": 2}
    measured, more = (planner.aliases(kind="volume", growth=each, **numbers) for each in (0.0, growth))
    assert isinstance(measured, planner.sizing.AliasAnswer) and isinstance(more, planner.sizing.AliasAnswer)
    assert measured.range[0] == more.range[0] == 3


BURSTY_POOLS = (  # rate [1/s], service [ms] and queue of each volume; aliases in use, inflation, redrive time [us]
    ([219.4, 363.3, 44.8, 102.0, 274.6, 97.6, 57.2], [0.33, 0.44, 0.99, 1.83, 0.44, 2.72, 1.62],
     [25.39, 5.89, 0.26, 1.8, 0.02, 0.53, 3.23], 0, 0.1, 0.0),
    ([24.3, 193.6, 46.3, 398.1, 35.7, 93.8, 124.6, 53.8, 504.6, 629.4],
     [1.29, 0.34, 3.07, 0.38, 1.31, 1.36, 1.06, 2.16, 1.07, 0.44],
     [2.64, 0.6, 0.38, 7.18, 0.0, 0.03, 0.07, 0.14, 1.05, 1.05], 0, 0.18, 50.0),
    ([18.7, 317.8, 226.7, 73.5, 11.5, 51.5, 135.8, 29.9], [2.14, 1.21, 2.25, 0.84, 4.63, 0.8, 2.58, 4.62],
     [0.0, 0.02, 0.04, 0.0, 0.0, 0.0, 0.02, 0.02], 8, 0.1, 20.0),
    # The wait is 5.07 % of the service time: with 5 % more load the same queue would be less.
    ([180.7, 279.0, 313.9, 253.3], [1.2, 1.3, 1.4, 1.5], [0.0, 0.019, 0.044, 0.008], 8, 0.16, 60.0),
)  # fmt: skip


@pytest.mark.first(2)
@pytest.mark.parametrize(("rate", "service", "queued", "aliases", "inflation", "gap"), BURSTY_POOLS)
def test_a_bursty_pool_needs_no_fewer_with_more_demand_and_no_more_with_less(
    rate: list[float], service: list[float], queued: list[float], aliases: int, inflation: float, gap: float
) -> None:
    """Service times shrink with the demand, waits of its bursts do not; and a raised count widens the upper end."""
    run = run_of(np.array([rate, np.array(service) * 1e-3, queued]), aliases, listing=True, pool=True)
    device_model = DeviceModel(inflation=inflation, redrive_time=gap * 1e-6, model_error=0.02)
    growth = (-0.4, -0.05, 0.0, 0.05, 0.1, 0.3)
    found = need([(run,)] * len(growth), device_model, growth=growth)
    counts, highs = ([of(each) for each in found] for of in (attrgetter("count"), attrgetter("high")))
    assert {each.decided for each in found} == {"bursty demand"}
    assert counts == sorted(counts) and highs == sorted(highs)


@pytest.mark.parametrize("growth", [0.0, 0.25, 0.5, 1.0])
def test_demand_grows_by_its_share_in_the_mean_of_both_sides(growth: float) -> None:
    """Of four volumes with three requesters each: 12 (1 + g) of them, whole numbers on both sides."""
    sides, shares = grown(pool(VolumeClass(volumes=4, population=3, think_time=1e-3)), growth)
    assert sum(shares) == pytest.approx(1.0)
    people = [float(each_volume(side)[0].sum()) for side in sides]
    assert sum(n * share for n, share in zip(people, shares, strict=True)) == pytest.approx(12 * (1 + growth))
    for side in sides:
        each = each_volume(side)[0]
        assert each.max() - each.min() <= 1
    odd, parts = grown(pool(VolumeClass(volumes=2, population=3, think_time=1e-3)), 0.25)
    assert [float(each_volume(side)[0].sum()) for side in odd] == [7.0, 8.0]  # 7.5
    assert parts == [pytest.approx(0.5), pytest.approx(0.5)]
    several_, weights = grown(pool(VolumeClass(volumes=2, population=3, think_time=1e-3)), 0.3)  # 7.8
    assert weights == [pytest.approx(0.2), pytest.approx(0.8)]
    assert len(several_) == 2


def test_rates_grow_as_they_are_and_the_busiest_requesters_first() -> None:
    (side,), shares = grown(pool(VolumeClass(volumes=2, arrival_rate=50.0)), 0.3)
    assert shares == [1.0]
    assert each_volume(side)[2].tolist() == pytest.approx([65.0, 65.0])
    mixed = pool(
        VolumeClass(volumes=1, population=2, think_time=5e-3),
        VolumeClass(volumes=1, population=2, think_time=1e-3),
    )
    (side,), _ = grown(mixed, 0.25)  # 4 requesters become 5
    assert each_volume(side)[0].tolist() == [2.0, 3.0]  # of shorter think time
    few, many = grown(pool(VolumeClass(volumes=1, population=1, think_time=1e-3)), -0.6)[0]
    assert [float(each_volume(each)[0][0]) for each in (few, many)] == [1.0, 1.0]  # one at least


def test_figures_between_whole_numbers_are_shares_of_both_sides() -> None:
    few, many = (
        rows_of([100.0, 200.0], [1e-3, 2e-3], [1.0, 0.5]),
        rows_of([300.0, 400.0], [3e-3, 4e-3], [2.0, 0.7]),
    )
    few, many = (
        replace(each, no_alias=np.full(2, a), tries=np.full(2, b), fails=np.full(2, c))
        for each, (a, b, c) in ((few, (0.1, 10.0, 1.0)), (many, (0.3, 30.0, 9.0)))
    )
    found = interpolated([few, many], [0.25, 0.75])
    assert found.io_rate.tolist() == pytest.approx([250.0, 350.0])
    assert found.service_time[0] == pytest.approx((0.25 * 100 * 1e-3 + 0.75 * 300 * 3e-3) / 250)  # by I/Os
    assert found.queued.tolist() == pytest.approx([1.75, 0.65])
    assert (found.no_alias[0], found.tries[0], found.fails[0]) == pytest.approx((0.25, 25.0, 7.0))
    assert found.volume_rates is many.volume_rates
    assert interpolated([few, many], [0.75, 0.25]).volume_rates is few.volume_rates
    assert interpolated([few], [1.0]) is few


def test_volumes_are_alike_where_the_digits_of_their_service_times_cannot_tell_them_apart() -> None:
    """5 % of rate, of service time, and of response."""

    def groups(*rows: tuple[float, float, float]) -> list[int]:
        return alike(several(*zip(*rows, strict=True))).tolist()  # type: ignore[arg-type]

    base = (100.0, 1e-3, 0.1)  # waits 1 ms: a response of 2 ms
    assert len(set(groups(base, (95.1, 1e-3, 0.0951)))) == 1
    assert len(set(groups(base, (94.9, 1e-3, 0.0949)))) == 2
    assert len(set(groups(base, (100.0, 1.049e-3, 0.1)))) == 1
    assert len(set(groups(base, (100.0, 1.051e-3, 0.1)))) == 2
    assert len(set(groups(base, (100.0, 0.951e-3, 0.1)))) == 1
    assert len(set(groups(base, (100.0, 1e-3, 0.1099)))) == 1
    assert len(set(groups(base, (100.0, 1e-3, 0.1101)))) == 2
    found = groups((10.0, 1e-3, 0.0), base, (10.1, 1e-3, 0.0), base)
    assert found[0] == found[2] != found[1] == found[3]
    assert sorted(set(found)) == [0, 1]
    shown = means(Interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]), np.array([3.0, 4.0, 8.0])),
                  np.array([0, 1, 0]))  # fmt: skip
    assert (shown.low.tolist(), shown.value.tolist(), shown.high.tolist()) == ([2, 2], [3, 3], [5.5, 4])


def test_rates_that_the_digits_let_be_equal_are_the_mean() -> None:
    run = several((96.0, 100.0, 104.0), (1e-3,) * 3, (0.1,) * 3)
    assert own_rates(run).tolist() == pytest.approx([100.0] * 3)
    apart = several((94.0, 100.0, 106.0), (1e-3,) * 3, (0.1,) * 3)
    assert own_rates(apart).tolist() == [94.0, 100.0, 106.0]
    unknown = replace(run, queued=Interval(run.queued.low, run.queued.value, np.full(3, np.inf)))
    assert own_rates(unknown).tolist() == [96.0, 100.0, 104.0]


def test_rates_differ_from_three_percent_on() -> None:
    assert not rates_differ([volume(100.0), volume(103.0)])
    assert rates_differ([volume(103.1), volume(100.0)])
    assert not rates_differ([volume(100.0)])


def test_think_times_give_each_volume_its_own_rate_in_the_pool() -> None:
    def asked(think_time: float, **devices: float) -> Pool:
        return pool(VolumeClass(population=3.0, think_time=think_time), **devices)

    rates = np.array([300.0, 300.0, 100.0, 100.0])
    devices = {"inflation": 0.1, "redrive_time": 2e-5}
    unlike = np.array([300.0, 200.0, 100.0])
    think, equal, mixed, late, hasty = think_in_use([
        (asked(8e-3, **devices), 2, rates),
        (asked(8e-3, **devices), 2, np.full(3, 200.0)),
        (asked(14e-3, **devices), 2, unlike),
        (asked(1e-6, **devices), 0, np.array([5000.0, 10.0])),
        (asked(1e-6), 0, np.array([1010.0, 10.0])),
    ])  # fmt: skip
    assert not isinstance(think, PlannerError)
    solved = queueing.alias_pool(2, volumes=[2, 2], population=[3, 3], think_time=think[[0, 2]], service_time=1e-3,
                                 inflation=0.1, redrive_time=2e-5)  # fmt: skip
    assert np.ravel(solved.throughput).tolist() == pytest.approx([300.0, 100.0], rel=1e-3)
    assert np.ravel(equal).tolist() == [8e-3] * 3
    assert not isinstance(mixed, PlannerError)
    assert mixed[1] == 14e-3  # that of the mean
    assert mixed[0] < 14e-3 < mixed[2]
    assert isinstance(late, ConvergenceError)  # five services at once of one device
    assert not isinstance(hasty, PlannerError)
    assert hasty[0] == 1e-6  # 1 % over: no time to think
    (alone,) = think_in_use([(asked(14e-3, **devices), 2, unlike)])
    assert not isinstance(alone, PlannerError)
    assert alone.tolist() == mixed.tolist()  # whatever is asked beside it


def test_few_volumes_are_grouped_only_if_equal_and_idle_ones_have_no_class() -> None:
    given = pool(
        *(VolumeClass(volumes=v, population=n, think_time=1e-3) for v, n in ((2, 3), (1, 0), (1, 4)))
    )
    ((found, classes, error),) = grouped([given], [8])
    assert (sorted((part.volumes, part.population) for part in found.classes), error) == (
        [(1, 4.0), (2, 3.0)],
        0.0,
    )
    assert classes[2] == -1
    assert classes[0] == classes[1] != classes[3]
    many = Pool(
        classes=tuple(VolumeClass(volumes=1, arrival_rate=50.0 + k) for k in range(40)), service_time=1e-3
    )
    ((fewer, classes, error),) = grouped([many], [100])
    assert len(fewer.classes) <= 16
    assert sum(part.volumes for part in fewer.classes) == 40
    assert sum(part.volumes * part.arrival_rate for part in fewer.classes) == pytest.approx(
        sum(range(50, 90)), rel=1e-6
    )
    assert (0 < error < 0.1, classes.min(), classes.max()) == (True, 0, len(fewer.classes) - 1)


def test_stations_are_the_queueing_models_and_more_requesters_share_linearly() -> None:
    counts = np.arange(12.0)
    rate, service, queued = _open_station(DEVICE, [VolumeClass(arrival_rate=700.0)], np.array([1e-3]), counts)
    steady = queueing.mmc(700.0, 1e-3, 1 + counts, inflation=0.16, redrive_time=6e-5)
    assert rate[0] == pytest.approx(steady.throughput)
    assert service[0] == pytest.approx(steady.service_time, rel=1e-6)
    assert queued[0] == pytest.approx(np.maximum(steady.queue_length - steady.in_gap, 0.0), abs=1e-9)
    parts = [VolumeClass(population=n, think_time=1e-3) for n in (3.0, 3.25, 4.0, 0.5, 1.0)]
    rate, service, queued = _closed_station(DEVICE, parts, np.full(5, 1e-3), counts)
    for k, people in ((0, 3), (2, 4), (4, 1)):
        exact = queueing.finite_source(
            people, 1e-3, 1e-3, np.minimum(1 + counts, people), inflation=0.16, redrive_time=6e-5
        )
        assert rate[k] == pytest.approx(exact.throughput)
        assert service[k] == pytest.approx(exact.service_time)
        assert queued[k] == pytest.approx(np.maximum(exact.queue_length - exact.in_gap, 0.0), abs=1e-12)
    assert rate[1] == pytest.approx(0.75 * rate[0] + 0.25 * rate[2])
    assert queued[1] == pytest.approx(0.75 * queued[0] + 0.25 * queued[2], abs=1e-12)
    assert rate[1] * service[1] == pytest.approx(0.75 * rate[0] * service[0] + 0.25 * rate[2] * service[2])
    assert rate[3] == pytest.approx(0.5 * rate[4])  # one requester half of the time


@pytest.mark.parametrize("demand", [{"population": 4.0, "think_time": 5e-4}, {"arrival_rate": 900.0}])
@pytest.mark.parametrize("target", [Target(), Target(wait=1e-4), Target(queued=0.2)])
def test_classic_pav_takes_for_each_volume_what_it_would_alone(
    demand: dict[str, float], target: Target
) -> None:
    whole = pool(VolumeClass(volumes=3, **demand), VolumeClass(volumes=1, arrival_rate=10.0))
    total = 0
    for part in whole.classes:
        for count in range(40):
            alone = pool(replace(part, volumes=1)).solve([count])
            if target.met(4 * alone.io_rate, alone.service_time, 4 * alone.queued)[0]:
                total += part.volumes * count
                break
    assert classic_aliases(whole, target) == total
    assert classic_aliases(pool(VolumeClass(volumes=2, arrival_rate=50_000.0)), Target()) is None


def test_no_more_aliases_are_tried_than_are_of_use() -> None:
    closed = pool(
        VolumeClass(volumes=3, population=4, think_time=1e-3),
        VolumeClass(volumes=2, population=1, think_time=1e-3),
    )
    assert (most_useful(closed, 100), most_useful(closed, 7)) == (9, 7)
    assert (
        most_useful(
            pool(VolumeClass(volumes=3, population=4, think_time=1e-3), VolumeClass(arrival_rate=1.0)), 100
        )
        == 100
    )


def test_a_first_guess_is_the_mean_of_what_is_in_use_beside_the_bases_and_two_deviations() -> None:
    """Poisson: mean of (N - 1)+ is load - 1 + P(0); requesters: binomial."""
    load = 900.0 * 2e-3
    mean = 3 * (load - 1 + math.exp(-load))
    assert first_guess(pool(VolumeClass(volumes=3, arrival_rate=900.0), service=2e-3)) == round(
        mean + 2 * math.sqrt(mean)
    )
    share = 2 / 3
    mean = 5 * (4 * share - 1 + (1 - share) ** 4)
    assert first_guess(pool(VolumeClass(volumes=5, population=4, think_time=1e-3), service=2e-3)) == round(
        mean + 2 * math.sqrt(mean)
    )
    assert first_guess(pool(VolumeClass(volumes=5, population=1, think_time=1e-3), service=2e-3)) == 0


def search(
    first: int, most: int, guess: int, steep: float = 1.0, without: Container[int] = (), **known: int
) -> tuple[int | None, list[int]]:
    """Find a count whose excess falls exponentially through 1 there, some `without` one; which counts were solved."""
    asked: list[int] = []

    def solve(places: object, counts: object) -> list[Performance | ConvergenceError]:
        (at,) = [int(each[0]) for each in counts]  # type: ignore[attr-defined]
        asked.append(at)
        if at in without:
            return [ConvergenceError("a pool", 1.0, 10)]
        wait = 1e-4 * math.exp(steep * (first - 0.5 - at))
        return [rows_of([100.0], [1e-3], [100 * wait], at)]

    bounds = {key: [value] for key, value in known.items()}
    (found,) = fewest(solve, Target(wait=1e-4), [guess], [most], **bounds)  # type: ignore[arg-type]
    return found, asked  # type: ignore[return-value]


@pytest.mark.parametrize("steep", [0.02, 0.3, 3.0])
@pytest.mark.parametrize(
    ("first", "most"), [(0, 0), (0, 50), (1, 1), (7, 50), (50, 50), (51, 50), (200, 226)]
)
def test_the_fewest_are_found_in_few_rounds(first: int, most: int, steep: float) -> None:
    for guess in (0, first, most // 2, most, 999):
        found, asked = search(first, most, guess, steep)
        assert found == (first if first <= most else None)
        assert len(set(asked)) == len(asked) <= 25
        assert all(0 <= each <= most for each in asked)
    if 0 < first <= most:
        near = search(first, most, first, steep)[1]
        assert len(near) <= 7


def test_what_is_known_to_miss_or_to_meet_is_not_tried_again() -> None:
    found, asked = search(7, 50, 20, missed=6, met=8)
    assert (found, asked) == (7, [7])
    found, asked = search(7, 50, 20, missed=6, met=7)
    assert (found, asked) == (7, [])
    found, asked = search(60, 50, 20, missed=50)
    assert (found, asked) == (None, [])
    assert all(each > 3 for each in search(7, 50, 0, missed=3)[1])


@pytest.mark.parametrize("hole", range(13))
@pytest.mark.parametrize("guess", [0, 7, 12])
def test_one_count_without_a_solution_hides_no_smaller_one(hole: int, guess: int) -> None:
    """The one below it decides, also where that is all that was to be looked at."""
    assert search(7, 12, guess, without=[hole])[0] == (8 if hole == 7 else 7)  # what needs it is not solved
    assert search(7, 12, 12, without=[12], missed=11)[0] == 11
    next_to_instability = search(7, 12, guess, without=range(9))[0]
    assert next_to_instability == 9


@pytest.mark.parametrize("guess", [0, 17, 20, 40])
def test_several_counts_without_a_solution_hide_no_smaller_one(guess: int) -> None:
    """What is below them is asked in doubled steps: two of them were taken for instability."""
    found, asked = search(7, 50, guess, without=range(15, 22))
    assert found == 7
    assert len(asked) <= 25


def test_rows_without_a_solution_are_bounded_by_those_with_fewer_aliases() -> None:
    rows = rows_of([100.0] * 6, [1e-3] * 6, [math.nan, math.inf, math.nan, 0.5, math.nan, 0.2])
    rows = replace(rows, no_alias=np.array([math.nan, 1.0, math.nan, 0.3, math.nan, 0.1]))
    found = _unbounded(rows, np.array([False, True, False, True, False, True]))
    assert found.queued.tolist() == [math.inf, math.inf, math.inf, 0.5, 0.5, 0.2]
    assert found.no_alias.tolist() == [1.0, 1.0, 1.0, 0.3, 0.3, 0.1]
    assert found.aliases.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.isinf(found.volume_responses[:3]).all() and np.isfinite(found.volume_responses[3:]).all()


def test_a_step_goes_along_the_straight_line_between_two_excesses() -> None:
    """From e^2 at 10 to e^-2 at 30: half way; from afar by the slope, at most a quarter of the way."""

    def step(low: int, high: int, at_low: float, at_high: float, rounds: int = 1, slope: float = 0.1) -> int:
        one = [np.array([each]) for each in (low, high, 100)]
        real = [np.array([each]) for each in (at_low, at_high, slope)]
        return int(_following(*one, *real, rounds)[0])  # type: ignore[arg-type]

    assert step(10, 30, 2.0, -2.0) == 20
    assert step(10, 30, 1.0, -3.0) == 15
    assert step(10, 30, 1.0, -9.0) == 14  # below e^-4 the line ends
    assert step(10, 30, 2.0, -2.0, rounds=4) == 20
    assert step(10, 30, 1.0, -3.0, rounds=4) == 20  # halved every fourth round
    assert step(10, 30, math.inf, -1.0) == 20
    assert step(40, 101, 0.5, math.nan) == 45  # upward: log excess over slope
    assert step(40, 101, 9.0, math.nan) == 50  # a quarter of the way at most
    assert step(-1, 40, math.nan, -0.5) == 35
    assert step(-1, 40, math.nan, -9.0) == 30
    assert step(4, 101, 9.0, math.nan) == 6
    assert step(10, 12, 1e-9, -9.0) == 11
    assert step(40, 101, 0.01, math.nan, rounds=8) == 56  # in doubled steps from afar


def test_an_excess_is_what_is_reached_over_what_is_allowed() -> None:
    rows = rows_of([100.0, 200.0], [1e-3, 1e-3], [0.1, 0.1])
    assert excess_of(Target(wait=5e-4), rows).tolist() == pytest.approx([2.0, 1.0])
    found: Array = excess_of(Target(queued=0.05), rows)
    assert found.tolist() == pytest.approx([2.0, 2.0])
    assert all(a >= b for a, b in pairwise(excess_of(Target(), rows).tolist()))


def test_the_counts_that_are_solved_reach_over_the_table_and_stand_next_to_the_answer() -> None:
    assert some_counts(20, 7, [3]).tolist() == [0, 3, 5, 6, 7, 8, 10, 15, 20]
    assert some_counts(6, 6, [9]).tolist() == [0, 2, 3, 4, 5, 6]  # what lies beyond the table has no row


def test_candidates_are_known_where_the_preferred_one_has_no_end() -> None:
    few, chosen = np.array([0, 2, 4]), np.array([np.inf, np.inf, 4.0, 3.0, 1.0])
    assert between(np.array([9.0, 4.0, 1.0]), chosen, few) == pytest.approx([9.0, 6.0, 4.0, 3.0, 1.0])
    assert between(np.array([9.0, 8.0, 2.0]), chosen, few) == pytest.approx([9.0, 72**0.5, 8.0, 6.0, 2.0])
    assert between(np.array([np.inf, 4.0, 2.0]), chosen, few) == pytest.approx(
        [np.inf, np.inf, 4.0, 18**0.5, 2.0]
    )
    assert np.isposinf(between(np.full(3, np.inf), chosen, few)).all()


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(("in_use", "queued"), [(20, 5.0), (40, 5.0)])
def test_where_the_measured_row_raises_the_count_its_range_rises_as_well(in_use: int, queued: float) -> None:
    """With so many aliases hardly any demand leaves such a queue: the draws end lower than the curve through it."""
    pool = Run(
        name="pool", pool=True, aliases=in_use, volumes=tuple("ABCDEF"), queue_shown=np.full(6, queued),
        io_rate=Interval.around(np.linspace(200.0, 60.0, 6), 0.05), service=Interval.around(np.full(6, 2e-3), 5e-6),
        queued=Interval.around(np.full(6, queued), 0.005),
    )  # fmt: skip
    (found,) = need([(pool,)], DeviceModel(inflation=0.1, redrive_time=0.0, model_error=0.02))
    assert isinstance(found.sized, SizedDraws)
    point, _, high = found.sized.ends
    assert found.count is not None and found.count > point
    assert found.high == math.ceil(high * found.count / point)


def of_listing(rates: list[float], queues: list[float], aliases: int = 0, service: float = 1e-3) -> Run:
    """A pool as a listing has it, or one volume."""
    rows = np.array([rates, np.full(len(rates), service), queues])
    return run_of(rows, aliases, listing=False, pool=len(rates) > 1)


@pytest.mark.long
@pytest.mark.parametrize("growth", [0.0, 0.4])
@pytest.mark.parametrize(
    "run",
    [
        of_listing([700.0], [1.6]), of_listing([700.0], [0.9]),
        of_listing([300.0], [2.5]), of_listing([900.0], [0.05], 3),
        of_listing([300.0, 200.0, 100.0], [0.13, 0.05, 0.011]), of_listing([300.0, 200.0, 100.0], [1.3, 0.4, 0.011]),
        of_listing([300.0, 200.0, 100.0], [1.3, 0.4, 0.011], 2), of_listing([300.0, 200.0, 100.0], [0.0, 0.0, 0.0], 4),
    ],
)  # fmt: skip
def test_bands_of_the_table_and_the_range_of_the_count_say_the_same(run: Run, growth: float) -> None:
    """Below the upper end of the range the target may be missed, from the lower end on it may be met."""
    (found,) = need([(run,)], DEVICE, growth=growth)
    answer = found.answer
    assert answer is not None and found.low is not None and found.high is not None
    counts = answer.rows.aliases
    assert found.low < counts.size
    limit = 1.05 * answer.rows.service_time * (1 - 1e-12)
    assert (answer.response.high >= limit)[counts < found.high].all()
    assert (answer.response.low <= limit / (1 - 1e-11))[counts >= found.low].all()


@pytest.mark.long
def test_the_error_of_the_model_and_of_its_calibration_widens_the_bands_of_bursty_pools() -> None:
    run = of_listing([300.0, 200.0, 100.0], [1.3, 0.4, 0.011])
    exact, off, open_ = (
        need([(run,)], replace(EXACT, **how))[0].answer
        for how in ({}, {"model_error": 0.1}, {"inflation": 0.16, "axes": ((0.3, 0.0), (0.0, 0.0))})
    )  # fmt: skip
    assert exact is not None and off is not None and open_ is not None and exact.readings[0].kind == "bursty"
    last = exact.rows.aliases.size - 1
    wider = off.response.high[last] / exact.response.high[last]
    assert wider == pytest.approx(math.exp(1.645 * 0.1), rel=0.05)  # nothing waits: the service time alone
    given = need([(run,)], replace(EXACT, inflation=0.16))[0].answer
    assert given is not None
    assert (
        open_.response.high[-1] > given.response.high[-1] and open_.response.low[-1] < given.response.low[-1]
    )
    for each in (exact, off, open_):  # without aliases as measured
        assert (each.rate.low[0], each.rate.high[0]) == pytest.approx((600.0, 600.0), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("people", "think"), [(14, 12.0), (17, 24.0), (37, 41.0)])
def test_requesters_with_even_service_times_lie_within_the_bands(people: int, think: float) -> None:
    """They wait as briefly as fewer ones with exponential service, whose rate would rise further: to 2 %."""

    def simulated(aliases: int) -> Array:
        given = np.array([[CLOSED, people, think, 0.0, 0.0]])
        return np.asarray(
            simulate(given, np.zeros(1, int), np.ones(1), 0.5, 0.18, 0.0, aliases, 400_000, 3)[:3]
        )

    run = run_of(simulated(0) * np.array([[1000.0], [0.001], [1.0]]), 0, listing=False, pool=False)
    (found,) = need([(run,)], replace(EXACT, inflation=0.18, model_error=0.02))
    assert found.answer is not None
    for aliases in (1, 2, 3):
        (rate,), (service,), (queue,) = simulated(aliases)
        response = 1e-3 * (service + queue / rate)
        assert 0.98 * found.answer.rate.low[aliases] <= 1000.0 * rate <= found.answer.rate.high[aliases]
        assert 0.98 * found.answer.response.low[aliases] <= response <= found.answer.response.high[aliases]


@pytest.mark.long
@pytest.mark.parametrize(("queued", "aliases"), [(0.1, 4), (9.0, 3)])
def test_bands_where_the_bases_do_not_carry_their_volumes(queued: float, aliases: int) -> None:
    """Of open arrivals the queue has no end there; of requesters, whom nothing tells from them, it has one.

    Steady with few queued, bursty with many; either volume has its base and needs 1.4 devices more.
    """
    run = of_listing([2000.0, 1400.0, 300.0], [queued, 0.0, 0.0], aliases)
    (found,) = need([(run,)], replace(EXACT, model_error=0.02))
    assert found.answer is not None
    low, _, high = found.answer.response
    assert low[0] < 1.0 and np.isposinf(high[0])
    assert found.answer.rate.high[0] >= 3700.0
    assert (low[:aliases] >= low[aliases] * 0.98).all()  # nobody waits shorter with fewer


def test_a_queue_that_the_digits_hide_still_has_tries_that_fail() -> None:
    """With 0 I/Os queued, to a tenth, some still find no alias, about as by the chain of the named requesters."""
    found = planner.aliases(rate="1500.000/s", service="1.300000ms", queue="0.0", in_use=3, model="none")
    assert isinstance(found, planner.sizing.AliasAnswer)
    assert found.rows.queued[3] == found.rows.queued[4] == 0.0
    assert found.readings[0].words == "15 requesters with 8.68 ms between I/Os"
    asked = {"volumes": 1, "population": 15, "think_time": 8.68e-3, "service_time": 1.3e-3}
    alone = queueing.alias_pool(found.rows.aliases, **asked, method="exact")
    np.testing.assert_allclose(found.rows.no_alias, alone.fail_fraction, rtol=0.1)
