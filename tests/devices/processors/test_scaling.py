"""Scaling with processors: published configurations left out one by one, extrapolation, intervals, gains."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.devices.processors import (
    Configuration,
    Processors,
    gain_table,
    gains,
    nearest,
    published,
    scaling,
)
from planner.devices.processors.interval import transaction_time_interval
from planner.errors import InputError

MEDIAN, WORST = 0.05, 0.08  # of the ITR of a configuration predicted from the other four
FIVE = scaling(published())  # the fits take seconds
THREE = scaling(published()[:3])
FEWEST_PERCENT = 13  # of an interval around an extrapolation from 3, 6 and 8 processors


def test_each_published_configuration_is_predicted_from_the_other_four() -> None:
    answer = FIVE
    errors = [
        one.itr / row.internal_throughput - 1 for one, row in zip(answer.left_out(), published(), strict=True)
    ]
    assert errors == pytest.approx(answer.chosen.errors)
    assert statistics.median(map(abs, errors)) <= MEDIAN
    assert max(map(abs, errors)) <= WORST


def test_what_is_left_out_is_not_looked_at() -> None:
    rows = published()
    alone = next(trial for trial in scaling(rows[:4]).trials if trial.parts == FIVE.chosen.parts)
    itr = 12 / sum(float(law.device.transaction_time(12)) for law in alone.laws)
    assert FIVE.chosen.left_out[4] == pytest.approx(itr)


def test_each_interval_holds_what_was_left_out() -> None:
    for one, row in zip(FIVE.left_out(), published(), strict=True):
        assert one.low <= row.internal_throughput <= one.high


def test_an_extrapolation_says_how_little_it_knows() -> None:
    few = THREE
    for row in published()[3:]:
        one = few.predict(row.processors)
        assert one.low <= row.internal_throughput <= one.high
        assert 100 * (1 - one.low / one.itr) >= FEWEST_PERCENT
        assert 100 * (one.high / one.itr - 1) >= FEWEST_PERCENT


def test_intervals_widen_with_the_distance() -> None:
    answer = FIVE
    widths = [one.high / one.low for one in map(answer.predict, (12, 14, 16, 24))]
    assert widths == sorted(widths)


def test_emulation_and_cp_apart_do_better() -> None:
    best, other = FIVE.trials
    assert (best.parts, other.parts) == ("emulation+CP", "total")
    assert best.rms < other.rms
    assert best.worst < other.worst


def rows_of(device: Processors, counts: tuple[int, ...]) -> list[Configuration]:
    return [
        Configuration(name=f"{n}", processors=n, real_storage=None, cp_time=None,
                      emulation_time=float(device.transaction_time(n)))
        for n in counts
    ]  # fmt: skip


@pytest.mark.parametrize(
    "device",
    [
        Processors(cpu_time=0.02),
        Processors(cpu_time=0.02, contention=0.03),
        Processors(cpu_time=0.02, contention=0.03, coherency=0.001),
    ],
)
def test_a_law_is_found_again(device: Processors) -> None:
    answer = scaling(rows_of(device, (1, 2, 4, 8, 16, 32)))
    found = answer.chosen.laws[0].device
    assert found.cpu_time == pytest.approx(device.cpu_time, rel=1e-5)
    assert (found.contention, found.coherency) == pytest.approx(
        (device.contention, device.coherency), abs=1e-6
    )
    assert answer.predict(64).itr == pytest.approx(float(device.internal_throughput(64)), rel=1e-4)
    assert answer.predict(64).low < answer.predict(64).itr < answer.predict(64).high


def test_three_configurations_leave_the_left_out_unbounded() -> None:
    answer = THREE
    assert all(one.low == 0 and math.isinf(one.high) for one in answer.left_out())
    assert answer.table().records()[0]["left_out_high"] is None
    assert answer.plot().get_ylim()[0] == 0


@pytest.mark.parametrize("rows", [published()[:2], (), (published()[0],) * 3])
def test_too_few_configurations(rows: tuple[Configuration, ...]) -> None:
    with pytest.raises(InputError, match="at least 3"):
        scaling(rows)


@pytest.mark.parametrize("processors", [0, -1, 1.5, math.nan, math.inf])
def test_processors_outside_the_domain(processors: float) -> None:
    with pytest.raises(InputError, match="whole number"):
        FIVE.predict(processors)  # type: ignore[arg-type]


@given(slope=st.floats(0.001, 0.01), wanted=st.integers(2, 40))
def test_without_bounds_the_interval_is_the_classical_one(slope: float, wanted: int) -> None:
    # Times on a line t1 + a (n - 1) whose relative noise is the floor: the bounds at 0 are far away. Expected from the
    # normal equations of weighted least squares, with Student's quantile for two degrees of freedom, 2.91999.
    counts = [1, 20, 21, 40]
    times = [1e-2 * (1 + slope * 100 * (n - 1)) for n in counts]
    low, high = transaction_time_interval(counts, times, wanted)
    sums = [sum((n - 1) ** k / t**2 for n, t in zip(counts, times, strict=True)) for k in (0, 1, 2)]
    x, center = wanted - 1, 1e-2 * (1 + slope * 100 * (wanted - 1))
    leverage = (sums[2] - 2 * x * sums[1] + x * x * sums[0]) / (sums[0] * sums[2] - sums[1] ** 2)
    quantile = 2.91999 * 0.02
    # The new measurement v weighs 1 / v^2, so the ends solve (v - center)^2 = q^2 (v^2 + leverage).
    a, b, c = 1 - quantile**2, -2 * center, center**2 - quantile**2 * leverage
    root = math.sqrt(b * b - 4 * a * c)
    assert low == pytest.approx((-b - root) / (2 * a), rel=1e-4)
    assert high == pytest.approx((-b + root) / (2 * a), rel=1e-4)


def test_too_few_measurements_bound_nothing() -> None:
    assert transaction_time_interval([3, 6], [0.02, 0.02], 8) == (0.0, math.inf)


def test_gains_are_the_four_measured_pairs() -> None:
    assert [one.contention for one in gains()] == [2159, 0, 352, 291]
    assert [one.throughput for one in gains()] == pytest.approx([0.103, 0.01, 0.155, 0.216])
    assert gains()[3].cp_cpu == pytest.approx(-0.363)
    assert nearest(0.0).configuration == "2"
    assert nearest(300.0).configuration == "4"
    assert gain_table(300.0).marks == ("", "recommended", "", "")
    assert set(gain_table().marks) == {""}


def test_the_picture_is_figure_1() -> None:
    axes = FIVE.plot(published("5.2"), "z/VM 5.2")
    drawn = {line.get_label(): np.asarray(line.get_xydata()) for line in axes.lines}
    assert drawn["ITR"][:, 1].round(3).tolist() == [1.0, 2.028, 2.711, 3.016, 3.586]
    assert drawn["z/VM 5.2"][:, 1].round(3).tolist() == [0.873, 1.634]
    assert drawn["processors"][:, 1].round(3).tolist() == [1.0, 2.0, 2.667, 3.333, 4.0]
    assert drawn["ITR"][:, 0].tolist() == [64, 128, 160, 200, 239]


def test_shown_as_frame_and_html() -> None:
    answer = FIVE
    assert list(answer.to_frame()["processors"]) == [3, 6, 8, 10, 12]
    assert "APU064G1" in answer._repr_html_()
