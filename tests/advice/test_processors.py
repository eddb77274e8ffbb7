"""Scaling with processors: published configurations left out one by one, extrapolation, intervals, gains."""

from __future__ import annotations

import math
import statistics
from functools import cache

import numpy as np
import pytest

from planner.advice.configurations import MeasuredConfiguration, gain_table, published, read_configurations
from planner.advice.processors import Scaling, scaling
from planner.devices.processors import Processors
from planner.errors import InfeasibleError, InputError, ReportError
from planner.library import read_model
from planner.whatif import predict
from tests.checkout import ROOT

MEDIAN, WORST = 0.05, 0.08  # of the ITR of a configuration predicted from the other four
FEWEST_PERCENT = 13  # of an interval around an extrapolation from 3, 6 and 8 processors


@cache
def of(count: int) -> Scaling:
    """Scaling of the first published configurations; the fits take seconds."""
    return scaling(published()[:count])


def test_each_published_configuration_is_predicted_from_the_other_four() -> None:
    errors = [
        one.value / row.internal_throughput - 1 for one, row in zip(of(5).left_out, published(), strict=True)
    ]
    assert errors == pytest.approx(of(5).errors)
    assert statistics.median(map(abs, errors)) <= MEDIAN
    assert max(map(abs, errors)) <= WORST


def test_what_is_left_out_is_not_looked_at() -> None:
    others = scaling(published()[:4])
    assert of(5).left_out[4].value == pytest.approx(float(others.device.internal_throughput(12)), rel=1e-5)


@pytest.mark.parametrize("count", [2, 12, 14, 32])
def test_the_command_and_the_model_agree(count: int) -> None:
    """`planner processors` and `planner predict processors` are one law and one error bar."""
    asked = predict(read_model("processors"), {"processors": float(count)}).values["itr"][0]
    answered = of(5).predict(count)
    assert [*answered] == pytest.approx([*asked], rel=1e-4)


def test_each_interval_holds_what_was_left_out() -> None:
    for one, row in zip(of(5).left_out, published(), strict=True):
        assert one.low <= row.internal_throughput <= one.high


def test_an_extrapolation_says_how_little_it_knows() -> None:
    few = of(3)
    for row in published()[3:]:
        one = few.predict(row.processors)
        assert one.low <= row.internal_throughput <= one.high
        assert 100 * (1 - one.low / one.value) >= FEWEST_PERCENT  # upward it scales perfectly already


def test_intervals_widen_with_the_distance() -> None:
    answer = of(5)
    widths = [one.high / one.low for one in map(answer.predict, (12, 14, 16, 24))]
    assert widths == sorted(widths)


def rows_of(device: Processors, counts: tuple[int, ...]) -> list[MeasuredConfiguration]:
    return [
        MeasuredConfiguration(name=f"{n}", processors=n, real_storage=None, cp_time=None,
                      emulation_time=float(n / device.internal_throughput(n)))
        for n in counts
    ]  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "device",
    [
        Processors(cpu_time=0.02, contention=0.03, coherency=0.001),
        Processors(cpu_time=0.02, contention=0.03),
        Processors(cpu_time=0.02),
    ],
)
def test_a_law_is_found_again(device: Processors) -> None:
    answer = scaling(rows_of(device, (1, 2, 4, 8, 16, 32)))
    found = answer.device
    assert found.cpu_time == pytest.approx(device.cpu_time, rel=1e-5)
    assert (found.contention, found.coherency) == pytest.approx(
        (device.contention, device.coherency), abs=1e-6
    )
    assert answer.predict(64).value == pytest.approx(float(device.internal_throughput(64)), rel=1e-4)
    assert answer.predict(64).low < answer.predict(64).value <= answer.predict(64).high


def test_three_configurations_leave_the_left_out_unbounded() -> None:
    answer = of(3)
    assert all(one.low == 0 and math.isinf(one.high) for one in answer.left_out)
    assert answer.table().records()[0]["left_out_high"] is None
    assert answer.plot().get_ylim()[0] == 0


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("contention", "coherency", "counts"),
    [(0.733, 1 / 3, (1, 2, 4)), (0.05, 0.02, (2, 16, 32)), (0.01, 0.3, (1, 3, 12)), (0.4, 0.05, (6, 7, 8))],
)
def test_throughput_that_falls_with_processors_takes_three_configurations(
    contention: float, coherency: float, counts: tuple[int, ...]
) -> None:
    """Two of three leave a bent valley of laws; what they predict has no error bar, and is said to have none."""
    device = Processors(cpu_time=1 / 180, contention=contention, coherency=coherency)
    answer = scaling(rows_of(device, counts), [counts[1]])
    assert answer.predict(counts[1]).value == pytest.approx(
        float(device.internal_throughput(counts[1])), rel=1e-3
    )
    assert all(one.low == 0 and math.isinf(one.high) for one in answer.left_out)
    assert "has no upper bound" in answer.notes[-1]


@pytest.mark.parametrize("rows", [published()[:2], (), (published()[0],) * 3])
def test_too_few_configurations(rows: tuple[MeasuredConfiguration, ...]) -> None:
    with pytest.raises(InputError, match="at least 3"):
        scaling(rows)


@pytest.mark.parametrize("processors", [0, -1, 1.5, math.nan, math.inf])
def test_processors_outside_the_domain(processors: float) -> None:
    with pytest.raises(InputError, match="whole number"):
        of(5).predict(processors)  # type: ignore[arg-type]


def test_gains_are_the_four_measured_pairs() -> None:
    pairs = gain_table().records()
    assert [one["contention"] for one in pairs] == [0, 291, 352, 2159]
    assert [one["throughput_change_percent"] for one in pairs] == [1.0, 21.6, 15.5, 10.3]
    assert pairs[1]["cp_cpu_change_percent"] == -36.3
    assert gain_table(0.0).marks == ("nearest", "", "", "")
    assert gain_table(300.0).marks == ("", "nearest", "", "")
    assert set(gain_table().marks) == {""}


def test_the_picture_reaches_what_was_asked_for() -> None:
    axes = scaling(counts=[30]).plot()
    drawn = {str(line.get_label()): np.asarray(line.get_xydata()) for line in axes.lines}
    ratios = drawn["measured"][:, 1] / drawn["measured"][0, 1]
    assert ratios.round(3).tolist() == [1.0, 2.028, 2.711, 3.016, 3.586]
    assert drawn["measured"][:, 0].tolist() == [3, 6, 8, 10, 12]
    assert axes.get_xlim()[1] > 30
    asked = [line.get_xydata() for line in axes.lines if line.get_marker() == "D"]
    assert np.asarray(asked[0])[0].tolist() == pytest.approx([30, float(of(5).predict(30).value)])


@pytest.mark.parametrize("wanted", [60.0, 300.0, 600.0])
def test_a_throughput_takes_the_fewest_processors_that_reach_it(wanted: float) -> None:
    needed = scaling(published(), wanted=wanted).needed
    assert needed is not None
    assert of(5).predict(needed.count).value >= wanted
    assert needed.count == 1 or of(5).predict(needed.count - 1).value < wanted
    assert needed.low <= needed.count
    assert of(5).predict(needed.low).high >= wanted
    assert (
        needed.high is None or of(5).predict(needed.high).low >= wanted > of(5).predict(needed.high - 1).low
    )


def test_a_range_of_one_count_is_one_number() -> None:
    assert scaling(published(), wanted=6.0).headline.startswith("ITR 6/s needs 1 processor (1, 90 %);")


def test_a_throughput_beyond_the_law_is_no_answer() -> None:
    with pytest.raises(InfeasibleError, match=r"more than up to 96 processors reach .* would help"):
        scaling(published(), wanted=1e5)
    with pytest.raises(InputError, match="above zero"):
        scaling(published(), wanted=0.0)
    with pytest.raises(InputError, match="wanted"):
        scaling(published(), wanted="600/s")  # type: ignore[arg-type]


def test_shown_as_frame_and_html() -> None:
    answer = of(5)
    assert list(answer.to_frame()["processors"]) == [3, 6, 8, 10, 12]
    assert "APU064G1" in answer._repr_html_()


def test_a_count_that_is_asked_twice_is_answered_once() -> None:
    assert scaling(counts=[14, 14]).headline == scaling(counts=[14]).headline


@pytest.mark.parametrize("contention", [math.nan, math.inf, -5.0])
def test_what_is_no_contention_is_refused(contention: float) -> None:
    with pytest.raises(InputError, match="contention"):
        scaling(contention=contention)


def test_a_bare_count_is_refused() -> None:
    with pytest.raises(InputError, match=r"counts = 14: expected numbers of processors, such as \[14\]"):
        scaling(counts=14)  # type: ignore[arg-type]


def test_a_table_holds_what_was_asked() -> None:
    answer = scaling(counts=[14], wanted=700.0)
    asked, wanted = answer.table().records()[-2:]
    one, needed = answer.predict(14), answer.needed
    assert needed is not None
    assert [asked[f"predicted_itr{end}"] for end in ("_low", "", "_high")] == [*one]
    assert [wanted[f"processors{end}"] for end in ("_low", "", "_high")] == [
        needed.low,
        needed.count,
        needed.high,
    ]
    assert (asked["processors"], wanted["wanted_itr"]) == (14, 700.0)
    assert len(answer.to_dict()["configurations"]) == len(answer.configurations)


def test_what_a_wrong_file_should_hold_is_said_once() -> None:
    with pytest.raises(ReportError) as caught:
        read_configurations(ROOT / "docs/examples/supply-counters.csv")
    assert str(caught.value).endswith("run and real_storage_GB are optional")


def test_counts_in_place_of_configurations_are_refused() -> None:
    with pytest.raises(InputError, match="measured configurations; `counts` are predicted"):
        scaling([14, 16])  # type: ignore[list-item]
