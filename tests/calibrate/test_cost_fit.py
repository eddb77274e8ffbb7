"""Fits of few costs: intervals hold what they promise, bounds and what is not determined are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner import whatif
from planner.calibrate.cost_fit import CostModel, fit_costs
from planner.calibrate.costs import fit_channel_program, fit_disk, fit_paging
from planner.calibrate.data_file import Measurements
from planner.calibrate.error_bar import interval
from planner.calibrate.kinds import model_of_costs
from planner.calibrate.least_squares import MeasuredFigure
from planner.devices import ChannelProgram
from planner.errors import CalibrationError, InputError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.units import MEGABYTE

CASES = 60
SEED = 17


def row(words: dict[str, str], **numbers: float) -> Measurements:
    printed = {key: Printed(value, 0.0) for key, value in numbers.items()}
    return Measurements(name="run", path=Path("runs.csv"), line=2, numbers=printed, words=words)


@pytest.mark.long
def test_intervals_of_parameters_and_predictions_hold_90_percent() -> None:
    """Made of known costs with an error of 4 % a run; the seed was set before the first look."""
    random = np.random.default_rng(SEED)
    held: dict[str, list[bool]] = {}
    ways = [(bits, way) for bits in (31, 64) for way in ("fast", "slow") for _ in range(2)]
    for _ in range(CASES):
        truth = ChannelProgram(
            ssch_time=float(random.uniform(2e-4, 1e-3)), ssch_64_time=float(random.uniform(1e-4, 1e-3)),
            fast_ccw_time=0.0, slow_ccw_time=float(random.uniform(2e-4, 2e-3)),
        )  # fmt: skip
        errors = np.exp(0.04 * random.standard_normal(len(ways) + 1))
        runs = [
            row({"bits": str(bits), "translation": way}, written_mb=100.0 * MEGABYTE,
                cp_ms=100 * truth.time_per_mb(bits, fast=way == "fast") * float(error))
            for (bits, way), error in zip(ways, errors[1:], strict=True)
        ]  # fmt: skip
        found = fit_channel_program(runs)
        for key in ("ssch_time", "ssch_64_time", "slow_ccw_time"):
            low, high = found.estimates[key].low, found.estimates[key].high
            assert low is not None
            assert high is not None
            held.setdefault(key, []).append(low <= getattr(truth, key) <= high)
        model = model_of_costs(found, title="", files=[])
        answer = whatif.predict(model, {"bits": "64", "translation": "slow"})
        later = truth.time_per_mb(64, fast=False) * errors[0]
        held.setdefault("later", []).append(
            bool(answer.values["cp"].low[0] <= later <= answer.values["cp"].high[0])
        )
    shares = {key: float(np.mean(inside)) for key, inside in held.items()}
    assert min(shares.values()) >= 0.83, shares
    assert max(shares.values()) <= 0.98, shares


@pytest.mark.long
def test_an_assumed_read_factor_leaves_its_uncertainty_to_predictions() -> None:
    """Few reads: of 100 such predictions of reads only, 73 held without it. The seed was not one looked at before."""
    random, held = np.random.default_rng(3361), []
    for _ in range(100):
        cost = dict(
            zip(
                ("ssch_time", "ssch_64_time", "slow_ccw_time"),
                random.uniform(2e-4, 1e-3, 3).tolist(),
                strict=True,
            )
        )
        truth = ChannelProgram(
            **cost, fast_ccw_time=0.0, read_factor=float(np.exp(0.05 * random.standard_normal()))
        )
        runs = [
            row({"bits": str(bits), "translation": way}, written_mb=(100 - read) * MEGABYTE, read_mb=read * MEGABYTE,
                cp_ms=100 * truth.time_per_mb(bits, fast=way == "fast", read_share=read / 100)
                * float(np.exp(0.03 * random.standard_normal())))
            for bits in (31, 64) for way in ("fast", "slow") for read in (0.0, 30.0)
        ]  # fmt: skip
        model = model_of_costs(fit_channel_program(runs), title="", files=[])
        found = interval(
            "cp", model, [{"bits": "64", "translation": "slow", "read_share": 1.0, "data_rate": 1.0}]
        )
        later = truth.time_per_mb(64, fast=False, read_share=1.0) * np.exp(0.03 * random.standard_normal())
        held.append(bool(found.low[0] <= later <= found.high[0]))
    assert 0.85 <= np.mean(held) <= 0.98


def test_costs_above_their_bounds_are_a_contradiction_not_a_traceback() -> None:
    """The search began above the largest cost: 0.006 MB that took two hours of a processor."""
    runs = [
        row({"bits": "64", "translation": "slow"}, written_mb=0.0061 * MEGABYTE, cp_ms=7e3),
        row(
            {"bits": "31", "translation": "fast"},
            written_mb=17.0 * MEGABYTE,
            read_mb=0.7 * MEGABYTE,
            cp_ms=1.7e4,
        ),
        row({"bits": "64", "translation": "fast"}, written_mb=5.94e6 * MEGABYTE, cp_ms=0.285),
    ]
    with pytest.raises(CalibrationError, match="contradict each other"):
        fit_channel_program(runs)


CACHED = {"cache": "on"}
SIZES = {"read_kb": 4e5, "channel_mb_per_s": 1e8}


def test_only_what_no_run_touches_is_left_to_conventions() -> None:
    """With hits alone measured at ratio 1, and both at .5, misses follow: nothing is left to agree on."""
    runs = [
        row(CACHED, hit_ratio=1.0, rate=400.0, cp_us=1.5e-3, virtual_us=0.6e-3, **SIZES),
        row(CACHED, hit_ratio=0.5, rate=50.0, cp_us=4e-3, virtual_us=0.7e-3, **SIZES),
    ]
    found = fit_disk(runs).estimates
    assert {
        found[f"{part}_{cost}"].status for part in ("hit", "miss") for cost in ("cp_time", "wait_time")
    } == {"fitted"}
    assert found["miss_cp_time"].value == pytest.approx(2 * 4e-3 - 1.5e-3, rel=1e-3)
    one = fit_disk(runs[1:]).estimates
    assert {one[f"{part}_cp_time"].status for part in ("hit", "miss")} == {"not determined"}
    assert one["hit_cp_time"].low is None
    assert one["hit_wait_time"].value == pytest.approx(0.0, abs=1e-6)  # the convention


def test_a_fitted_model_whose_cost_would_be_far_below_zero_can_be_asked() -> None:
    """Hits that take 7 % less than their processor time: the wait is 0, 3.7 standard deviations from its center."""
    waits = [({"cache": "off"}, {}, 2e-2), (CACHED, {"hit_ratio": 0.0}, 1e-2), (CACHED, {"hit_ratio": 0.5}, 5e-3),
             (CACHED, {"hit_ratio": 1.0}, -0.07 * 3e-3)]  # fmt: skip
    runs = [
        row(words, rate=1 / (3e-3 + wait), cp_us=2e-3, virtual_us=1e-3, **ratio, **SIZES)
        for words, ratio, wait in 2 * waits
    ]
    model = model_of_costs(fit_disk(runs), title="simulated", files=[])
    assert model.parameters["hit_wait_time_s"].value == 0
    rate = whatif.predict(model, {"mode": "cached", "hit_ratio": 0.9}).values["rate"]
    assert rate.low[0] <= 1 / (3e-3 + 1e-3) <= rate.high[0]


def test_an_error_that_nothing_shows_is_said_to_be_assumed() -> None:
    """Of 100 single rows with an error of 8 %, 28 had the service time in its interval."""
    runs = [row({}, outstanding=2, queue_depth=1, transfer_rate=283.0)]
    one, both = fit_paging(runs), fit_paging([*runs, *runs])
    assert "2 % is assumed" in one.notes[0]
    assert "intervals hold 90 %." in both.notes[0]
    asked = {"outstanding": 2.0, "queue_depth": 1.0}
    said, unsaid = (
        whatif.predict(model_of_costs(each, title="", files=[]), asked).notes for each in (one, both)
    )
    assert one.notes[0] in said
    assert "assumed" not in " ".join(unsaid)


SLOPE = Quantity(key="slope", symbol="b", unit="s", low=0, high=10, default=0, meaning="growth")
FIRST = Quantity(key="first", symbol="a", unit="s", low=0, high=10, default=0, meaning="at nothing")


def line(values: list[float]) -> tuple[list[MeasuredFigure], CostModel]:
    measured = [
        MeasuredFigure(run=str(k), quantity="s", factor=1.0, value=value, half=0.0)
        for k, value in enumerate(values)
    ]
    law = CostModel(
        kind="line", parameters=(FIRST, SLOPE), start=(1.0, 0.1), validity={},
        predict=lambda at: [at["first"] + k * at["slope"] for k in range(len(values))],
    )  # fmt: skip
    return measured, law


def test_a_cost_that_would_be_negative_is_at_its_bound_and_says_so() -> None:
    found = fit_costs(*line([1.0, 0.99, 0.97, 0.96]))
    slope = found.estimates["slope"]
    assert (slope.value, slope.status) == (0.0, "at its bound")
    assert slope.low == 0
    assert slope.high is not None
    assert 0 < slope.high < 0.05
    assert "at its bound" in found.text()


def test_correlations_are_told() -> None:
    """Two points with equal errors: slope and first value have the correlation -1 / sqrt(2)."""
    found = fit_costs(*line([1.0, 1.0001]))
    assert found.correlation["slope", "first"] == pytest.approx(-(2**-0.5), abs=0.05)
    assert found.estimates["slope"].standard_error == pytest.approx(0.02 * 2**0.5, rel=0.1)


def test_what_is_fixed_stays() -> None:
    found = fit_costs(*line([1.0, 1.1, 1.2]), {"slope": 0.1})
    assert (found.value("slope"), found.estimates["slope"].status) == (0.1, "fixed")
    with pytest.raises(InputError, match="one of first, slope"):
        fit_costs(*line([1.0, 1.1]), {"speed": 1.0})
    with pytest.raises(InputError, match="at least one parameter left"):
        fit_costs(*line([1.0, 1.1]), {"slope": 0.1, "first": 1.0})
    with pytest.raises(InputError, match="0 to 10"):
        fit_costs(*line([1.0, 1.1]), {"slope": 11.0})


def test_measurements_of_different_devices_are_refused() -> None:
    with pytest.raises(CalibrationError, match="contradict each other"):
        fit_costs(*line([1.0, 100.0, 1.0, 100.0, 1.0]))
