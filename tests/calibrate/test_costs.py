"""Costs fitted to tables: linear least squares by hand, devices that are known, what is refused and by which words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from planner.calibrate.cost_fit import CostFit, CostModel, _unseen, fit_costs
from planner.calibrate.costs import (
    CHANNEL_HEADINGS,
    DISK_HEADINGS,
    PAGING_HEADINGS,
    PROCESSOR_HEADINGS,
    cpu_time,
    fit_channel_program,
    fit_disk,
    fit_paging,
    fit_processors,
    fit_scaling,
)
from planner.calibrate.data_file import Measurements
from planner.calibrate.error_bar import intervals
from planner.calibrate.kinds import model_of_costs
from planner.calibrate.least_squares import GIVEN, LeastSquares, MeasuredFigure, with_likely_error
from planner.devices import ChannelProgram, PagingDevice
from planner.errors import CalibrationError, ReportError
from planner.quantity import Quantity
from planner.reports import Printed
from planner.results import Array
from planner.units import MEGABYTE

FIRST = Quantity("first", low=0, high=50)
SLOPE = Quantity("slope", low=0, high=50)


def exponential(values: list[float], **more: Any) -> CostFit:
    """Fit exp(first + slope k): in logarithms a straight line."""
    measured = [
        MeasuredFigure(run=f"run {k}", quantity="s", factor=1.0, value=value, half=0.0)
        for k, value in enumerate(values)
    ]
    law = CostModel(
        kind="line", parameters=(FIRST, SLOPE), start=(1.0, 1.0), validity={"k": (0.0, 1.0)}, population=2,
        predict=lambda at: [math.exp(at["first"] + k * at["slope"]) for k in range(len(values))], **more,
    )  # fmt: skip
    return fit_costs(measured, law)


NOISE = np.array([0.3, -0.2, -0.35, 0.1, 0.25, -0.1])
LOGS = 2.0 + 0.5 * np.arange(6) + NOISE


def test_a_straight_line_is_that_of_least_squares_with_the_textbook_errors() -> None:
    """Estimates, residual error on n - 2 degrees, standard errors, correlation, and Student's 90 %."""
    found = exponential(np.exp(LOGS).tolist())
    design = np.stack([np.ones(6), np.arange(6.0)], axis=-1)
    best, (squares,), *_ = np.linalg.lstsq(design, LOGS, rcond=None)
    error = math.sqrt(squares / 4)
    # each parameter is believed to be of its own size, or that of its start, by 100 %: next to nothing
    belief = np.diag(1 / np.maximum(best, 1.0) ** 2)
    covariance = np.linalg.inv(design.T @ design / found.model_error**2 + belief)
    assert (found.value("first"), found.value("slope")) == pytest.approx(tuple(best), rel=1e-4)
    assert found.model_error == pytest.approx(error, rel=0.02)
    assert found.degrees == 4
    for k, key in enumerate(("first", "slope")):
        estimate = found.estimates[key]
        size = math.sqrt(covariance[k, k])
        assert estimate.standard_error == pytest.approx(size, rel=1e-3)
        assert estimate.status == "fitted"
        assert estimate.start == 1.0
        reach = size * t.ppf(0.95, 4)
        assert estimate.low == pytest.approx(best[k] - reach, abs=0.1 * reach)
        assert estimate.high == pytest.approx(best[k] + reach, abs=0.1 * reach)
    expected = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    assert found.correlation == {("slope", "first"): pytest.approx(expected, rel=1e-3)}
    uncertain = np.array(found.uncertainty.covariance)
    wider = (t.ppf(0.95, 4) / 1.6448536269514722) ** 2
    assert uncertain == pytest.approx(covariance * wider, rel=1e-3)
    assert found.uncertainty.center == pytest.approx(tuple(best), rel=1e-3)
    assert (found.kind, found.population, dict(found.validity)) == ("line", 2, {"k": (0.0, 1.0)})
    off = design @ best - LOGS
    assert [each.off_by for each in found.comparisons] == pytest.approx(
        (off / found.model_error).tolist(), abs=1e-2
    )
    assert [each.predicted for each in found.comparisons] == pytest.approx(
        np.exp(design @ best).tolist(), rel=1e-3
    )
    assert [each.measured for each in found.comparisons] == pytest.approx(np.exp(LOGS).tolist())
    sizes = found.model_error * np.exp(LOGS)
    assert [each.sigma for each in found.comparisons] == pytest.approx(sizes.tolist(), rel=1e-6)


def test_a_line_that_fits_has_the_floor_of_the_error_and_no_degrees() -> None:
    found = exponential(np.exp(2.0 + 0.5 * np.arange(6)).tolist())
    assert (found.value("first"), found.value("slope")) == pytest.approx((2.0, 0.5), rel=1e-5)
    assert (found.model_error, found.degrees) == (0.02, GIVEN)


@pytest.mark.parametrize(("error", "seen"), [(0.003, False), (0.01, True), (0.0199, True), (0.05, True)])
def test_an_error_below_its_floor_counts_where_student_makes_it_the_wider_one(
    error: float, *, seen: bool
) -> None:
    """Three points leave one degree, whose Student's t is 3.84 times as wide: more than the floor from 0.52 % on."""
    scatter = error * np.array([1.0, -2.0, 1.0]) / math.sqrt(6)
    found = exponential(np.exp(2.0 + 0.5 * np.arange(3) + scatter).tolist())
    assert (found.model_error, found.degrees) == pytest.approx(
        (error, 1) if seen else (0.02, GIVEN), rel=0.02
    )
    width = max(0.02 * t.ppf(0.95, GIVEN), error * t.ppf(0.95, 1))
    slope = found.estimates["slope"]
    assert slope.low is not None
    assert 0.5 - slope.low == pytest.approx(width / math.sqrt(2), rel=0.12)


def test_coefficients_at_a_bound_count_where_the_law_says_so() -> None:
    """Two at least of six figures: four degrees, whatever the fit took, and the error grows with what is lost."""
    falling = np.exp(2.0 - 0.1 * np.arange(6) + NOISE).tolist()  # the slope is at its bound
    free, counted = exponential(falling), exponential(falling, coefficients=2)
    assert free.estimates["slope"].status == counted.estimates["slope"].status == "at its bound"
    assert (free.degrees, counted.degrees) == (5, 4)
    assert counted.model_error == pytest.approx(free.model_error * math.sqrt(5 / 4))
    most = exponential(falling, coefficients=9)
    assert most.degrees == 0
    assert most.model_error == pytest.approx(free.model_error * math.sqrt(5))
    slope = free.estimates["slope"]
    assert (slope.value, slope.low, slope.standard_error) == (0.0, 0.0, 0.0)
    mean = float(np.mean(np.log(falling)))
    assert free.value("first") == pytest.approx(mean, rel=1e-4)
    assert free.correlation == {}


def test_figures_that_no_device_gives_together_are_refused_by_the_worst_of_them() -> None:
    with pytest.raises(CalibrationError, match="s of run 1 fits worst"):
        exponential([10.0, 1000.0, 12.0, 11.0, 10.0])
    assert exponential([10.0, 18.0, 12.0, 11.0, 10.0]).model_error < 0.5


def test_what_no_figure_tells_is_not_determined() -> None:
    """Of a + b alone neither is known; of a third parameter nothing at all."""
    assert _unseen(np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])).tolist() == [True, True, True]
    assert _unseen(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])).tolist() == [False, False, True]
    assert _unseen(np.array([[1.0, 5e-3], [1.0, 5e-3]])).tolist() == [False, True]
    assert _unseen(np.eye(2)).tolist() == [False, False]
    measured = [MeasuredFigure(run="a", quantity="s", factor=1.0, value=3.0, half=0.0)]
    law = CostModel(kind="sum", parameters=(FIRST, SLOPE), start=(1.0, 1.0), validity={},
                  predict=lambda at: [at["first"] + at["slope"]])  # fmt: skip
    found = fit_costs(measured, law)
    assert found.value("first") + found.value("slope") == pytest.approx(3.0, rel=1e-4)
    assert {each.status for each in found.estimates.values()} == {"not determined"}
    assert {(each.low, each.high) for each in found.estimates.values()} == {(None, None)}
    held = fit_costs(measured, law, {"slope": 1.0})
    assert held.value("first") == pytest.approx(2.0, rel=1e-4)
    assert held.estimates["first"].status == "fitted"


class Plain(LeastSquares):
    """Nothing but numbers for `likely_error`."""


def likely(off: Array, slope: Array, *, shrunk: bool, rounding: float = 0.0, prior: float = 0.0) -> float:
    problem = Plain()
    problem.__dict__.update(rounding=np.full(len(off), rounding), scale=np.ones(len(off)))
    width = slope.shape[1]
    belief = np.eye(width) * prior
    return problem.likely_error(off, slope, np.zeros(width), belief, shrunk=shrunk)


@pytest.mark.parametrize(("shrunk", "more"), [(False, 0), (True, 1)])
@pytest.mark.parametrize("width", [1, 2])
def test_parameters_take_degrees_of_freedom_of_the_error(width: int, shrunk: bool, more: int) -> None:
    """Residuals of a straight line: the sum of their squares over n - k (Patterson and Thompson 1971)."""
    design = np.stack([np.ones(6), np.arange(6.0)], axis=-1)[:, :width]
    off = 2.0 * NOISE
    residuals = off - design @ np.linalg.lstsq(design, off, rcond=None)[0]
    expected = math.sqrt(residuals @ residuals / (6 - width + more))
    assert likely(off, design, shrunk=shrunk) == pytest.approx(expected, rel=0.02)
    # rounding is part of it, and known
    rounded = likely(off, design, shrunk=False, rounding=0.6 * expected)
    whole = residuals @ residuals / (6 - width)
    assert rounded == pytest.approx(math.sqrt(whole - (0.6 * expected) ** 2), rel=0.03)
    # a parameter that is known to be nothing takes none
    assert likely(off, design, shrunk=False, prior=1e6) == pytest.approx(math.sqrt(off @ off / 6), rel=0.02)


def test_an_error_is_between_the_floor_and_one() -> None:
    nothing = np.zeros((4, 1))
    assert likely(np.full(4, 1e-6), nothing, shrunk=True, prior=1.0) == 0.02
    assert likely(np.full(4, 1e-6), nothing, shrunk=False, prior=1.0) == pytest.approx(0.02**2)
    assert likely(np.full(4, 50.0), nothing, shrunk=False, prior=1.0) == pytest.approx(1.0)


def test_a_repeated_fit_is_settled_at_two_percent() -> None:
    assert with_likely_error(1.0, lambda found: (found, 1.019), lambda _, error: error, 3) == 1.0
    assert with_likely_error(1.0, lambda found: (found, 1 / 1.019), lambda _, error: error, 3) == 1.0
    assert with_likely_error(1.0, lambda found: (found, 0.97), lambda _, error: error, 3) == 0.97
    assert with_likely_error(1.0, lambda found: (found, 1.03), lambda _, error: error, 3) == 1.03


FACTORS = {
    each.file_key: each.factor
    for each in (*DISK_HEADINGS, *PAGING_HEADINGS, *CHANNEL_HEADINGS, *PROCESSOR_HEADINGS) if not each.words
}  # fmt: skip


def row(words: dict[str, str] | None = None, name: str = "run", **printed: float) -> Measurements:
    """A row of a table, numbers in the units of its headings."""
    numbers = {key: Printed(value * FACTORS[key], 0.0) for key, value in printed.items()}
    return Measurements(name=name, path=Path("runs.csv"), line=2, numbers=numbers, words=words or {},
                        columns={key: 3 + k for k, key in enumerate(printed)})  # fmt: skip


def refused(fit: Any, *rows: Measurements) -> str:
    with pytest.raises(ReportError) as problem:
        fit(list(rows))
    return str(problem.value)


COST = {"write": (100.0, 40.0, 900.0), "off": (80.0, 30.0, 700.0), "miss": (120.0, 35.0, 800.0),
        "hit": (60.0, 20.0, 0.0)}  # microseconds of CP, of the guest, of waiting  # fmt: skip


def transaction(
    cache: str, read: float, written: float, hits: float | None = None, **more: float
) -> Measurements:
    """A run of known costs, at 64 KB read and 32 KB written in all."""
    share = {"write": written / 32, "off": read / 64 if cache == "off" else 0.0}
    if cache == "on":
        share |= {"miss": read / 64 * (1 - (hits or 0)), "hit": read / 64 * (hits or 0)}
    cp, virtual, wait = (sum(part * COST[key][k] for key, part in share.items()) for k in range(3))
    numbers = {"rate": 1e6 / (cp + virtual + wait), "cp_us": cp, "virtual_us": virtual, "read_kb": read,
               "write_kb": written, "channel_mb_per_s": 17.0, **more}  # fmt: skip
    if hits is not None:
        numbers["hit_ratio"] = hits
    return row({"cache": cache}, **numbers)


RUNS = [
    transaction("off", 64, 0, virtual_ios=4), transaction("off", 0, 32, virtual_ios=2),
    transaction("on", 64, 0, 0.0, virtual_ios=8), transaction("on", 64, 0, 1.0, virtual_ios=10),
    transaction("on", 32, 16, 0.5, virtual_ios=99),
]  # fmt: skip


def test_the_parts_of_a_known_transaction_are_found() -> None:
    found = fit_disk(RUNS)
    for part, costs in COST.items():
        for cost, microseconds in zip(("cp_time", "virtual_time", "wait_time"), costs, strict=True):
            assert found.value(f"{part}_{cost}") == pytest.approx(microseconds * 1e-6, rel=1e-3, abs=2e-7), (
                part
            )
    facts = {key: found.value(key) for key in ("read_bytes", "write_bytes", "channel_rate")}
    assert facts == pytest.approx({"read_bytes": 65536, "write_bytes": 32768, "channel_rate": FACTORS[
        "channel_mb_per_s"] * 17})  # fmt: skip
    # of whole transactions only: half of one has half of the I/Os, and another mix of hits another number
    assert found.value("virtual_ios_off") == pytest.approx(3)
    assert found.value("virtual_ios_cached") == pytest.approx(9)
    assert "measured_hit_ratio" not in found.estimates
    assert dict(found.validity) == {
        "requesters": (1.0, 1.0),
        "processors": (1.0, 1.0),
        "hit_ratio": (0.0, 1.0),
    }
    assert (found.population, found.kind) == (1, "disk")
    assert found.model_error == 0.02
    assert len(found.comparisons) == 15
    assert [each.predicted for each in found.comparisons] == pytest.approx(
        [each.measured for each in found.comparisons], rel=1e-3
    )


def test_a_cache_measured_at_one_ratio_says_so_and_shares_the_processor_time() -> None:
    """Hits and misses are not told apart: by convention hits wait for nothing, their time is parted as measured."""
    found = fit_disk([transaction("on", 64, 0, 0.6)])
    assert found.value("measured_hit_ratio") == 0.6
    assert dict(found.validity)["hit_ratio"] == (0.6, 0.6)
    assert found.value("hit_wait_time") == pytest.approx(0.0, abs=1e-6)
    cp, virtual = found.value("hit_cp_time"), found.value("hit_virtual_time")
    whole_cp, whole_virtual = 0.4 * 120 + 0.6 * 60, 0.4 * 35 + 0.6 * 20
    assert cp / (cp + virtual) == pytest.approx(whole_cp / (whole_cp + whole_virtual), rel=1e-2)
    assert 0.4 * found.value("miss_cp_time") + 0.6 * cp == pytest.approx(whole_cp * 1e-6, rel=1e-3)


@pytest.mark.parametrize("requesters", [1, 4])
def test_hits_that_may_cost_nothing_have_a_range(requesters: int) -> None:
    """Measured at one ratio, a hit may take no time at all; that divided by zero. The truth is 80 us of a processor."""
    model = model_of_costs(fit_disk([transaction("on", 64, 0, 0.1)]), title="one ratio", files=[])
    asked = {"mode": "cached", "hit_ratio": 1.0, "requesters": requesters, "processors": 1, "disks": 1}
    found = intervals(model, [asked])
    assert found["rate"].low[0] < 1 / 80e-6 < found["rate"].high[0] and found["cp"].low[0] == 0
    assert found["processors_busy"].high[0] == 1


def test_writing_costs_what_reading_as_much_does_where_nothing_tells_them_apart() -> None:
    found = fit_disk([transaction("off", 64, 32)])
    for cost, k in (("cp_time", 0), ("virtual_time", 1)):
        assert found.value(f"write_{cost}") == pytest.approx(found.value(f"off_{cost}") / 2, rel=1e-2)
        whole = (COST["write"][k] + COST["off"][k]) * 1e-6
        assert found.value(f"write_{cost}") + found.value(f"off_{cost}") == pytest.approx(whole, rel=1e-3)


def test_without_a_rate_nothing_is_known_of_waiting() -> None:
    less = row({"cache": "off"}, cp_us=80.0, virtual_us=30.0, read_kb=64.0, channel_mb_per_s=17.0)
    found = fit_disk([less])
    assert found.value("off_cp_time") == pytest.approx(80e-6, rel=1e-3)
    assert found.value("off_wait_time") == pytest.approx(0.0, abs=1e-6)
    assert "write_cp_time" not in found.estimates
    assert "hit_ratio" not in found.validity


@pytest.mark.parametrize(
    ("numbers", "words", "problem"),
    [
        ({"cp_us": 0.0}, "off", "expected a number above zero in one of rate, cp_us, virtual_us"),
        ({"rate": 100.0}, "on", "expected a hit_ratio, 0 to 1, since the cache is on"),
        ({"rate": 100.0, "read_kb": 0.0, "write_kb": 0.0}, "off", "expected read_kb or write_kb above zero"),
        ({"rate": 1000.0, "cp_us": 800.0, "virtual_us": 360.0}, "off",
         "one requester at 1000 transactions/s has 1000 us for each, and its processor time is 1160 us"),
    ],
)  # fmt: skip
def test_rows_of_a_disk_that_say_nothing_or_too_much_are_refused(
    numbers: dict[str, float], words: str, problem: str
) -> None:
    given = {"read_kb": 64.0, "channel_mb_per_s": 17.0, **numbers}
    assert problem in refused(fit_disk, row({"cache": words}, **given))
    fine = row(
        {"cache": "off"}, rate=1000.0, cp_us=800.0, virtual_us=340.0, read_kb=64.0, channel_mb_per_s=17.0
    )
    assert fit_disk([fine]).model_error < 0.5
    written = row({"cache": "on"}, rate=100.0, cp_us=80.0, virtual_us=30.0, read_kb=0.0, write_kb=32.0,
                  channel_mb_per_s=17.0)  # fmt: skip
    assert fit_disk([written]).value("write_cp_time") == pytest.approx(
        80e-6, rel=1e-3
    )  # nothing read, nothing hit


def test_runs_of_two_channels_are_two_paths() -> None:
    other = row({"cache": "off"}, rate=100.0, read_kb=64.0, channel_mb_per_s=18.0)
    assert "expected the same channel_mb_per_s in all rows" in refused(fit_disk, RUNS[0], other)


def test_a_known_paging_device_is_found() -> None:
    """Solved by the device itself at several numbers of requests; what is not measured is assumed."""
    truth = PagingDevice(
        service_time=2e-3, pages_per_transfer=6.0, queue_depth=3, cp_time=5e-6, cp_system_time=2e-6
    )
    rows = []
    for outstanding, think in ((2, 0.0), (5, 1500.0), (9, 400.0)):
        solved = truth.closed(outstanding, think * 1e-6)
        rows.append(row(outstanding=outstanding, queue_depth=3, think_us=think,
                        transfer_rate=float(solved.transfer_rate), page_rate=float(solved.page_rate),
                        cp_us_per_page=5.0, cp_system_us_per_page=2.0))  # fmt: skip
    found = fit_paging(rows)
    assert found.value("service_time") == pytest.approx(2e-3, rel=1e-4)
    assert found.value("pages_per_transfer") == pytest.approx(6.0, rel=1e-4)
    assert found.value("cp_time") == pytest.approx(5e-6, rel=1e-4)
    assert found.value("cp_system_time") == pytest.approx(2e-6, rel=1e-4)
    assert (found.value("queue_depth"), found.value("outstanding")) == (3, 9)  # of the last run
    assert found.estimates["outstanding"].status == "fixed"
    assert dict(found.validity) == {"outstanding": (2.0, 9.0)}
    assert (found.population, found.kind, found.model_error) == (9, "paging", 0.02)
    assert len(found.comparisons) == 12
    less = fit_paging([row(outstanding=2, queue_depth=1, transfer_rate=250.0)])
    assert (less.value("pages_per_transfer"), less.value("cp_time")) == (1.0, 0.0)
    assert "cp_system_time" not in less.estimates
    assert less.value("service_time") == pytest.approx(1 / 250, rel=1e-3)  # always a request there


@pytest.mark.long
def test_a_transfer_moves_a_page_but_for_15_percent() -> None:
    def rates(pages: float) -> Measurements:
        return row(outstanding=2, queue_depth=1, transfer_rate=100.0, page_rate=pages)

    assert "found a page_rate of 84.9 and a transfer_rate of 100" in refused(fit_paging, rates(84.9))
    found = fit_paging([rates(130.0), rates(85.1)])
    assert found.value("pages_per_transfer") == pytest.approx(math.sqrt(1.30 * 0.851), rel=1e-2)


def test_requests_come_back_after_their_think_time_at_the_earliest() -> None:
    """Two requests at 100/s come back every 20 ms."""
    problem = refused(fit_paging, row(outstanding=2, queue_depth=1, transfer_rate=100.0, think_us=20_000))
    assert (
        "2 requests at 100 transfers/s come back every 2e+04 us, no longer than their think_us of 2e+04"
        in problem
    )
    found = fit_paging([row(outstanding=1, queue_depth=1, transfer_rate=100.0, think_us=9000)])
    assert found.value("service_time") == pytest.approx(1e-3, rel=1e-3)
    # with as many servers as requests the cycle less the thinking, with one of them no more than 1 / rate
    start = found.estimates["service_time"].start
    assert start == pytest.approx(1e-3)
    several = fit_paging([row(outstanding=4, queue_depth=2, transfer_rate=100.0, think_us=5000)])
    assert several.estimates["service_time"].start == pytest.approx(2 / 100)
    assert fit_paging([row(outstanding=2, queue_depth=9, transfer_rate=100.0)]).estimates[
        "service_time"
    ].start == pytest.approx(2 / 100)


PROGRAM = ChannelProgram(
    ssch_time=5e-4, ssch_64_time=4e-4, fast_ccw_time=0.0, slow_ccw_time=9e-4, read_factor=1.4
)


def program(bits: int, way: str, written: float, read: float, law: ChannelProgram = PROGRAM) -> Measurements:
    moved = written + read
    time = moved * law.time_per_mb(bits, fast=way == "fast", read_share=read / moved)
    return row({"bits": str(bits), "translation": way}, cp_ms=time * 1e3, written_mb=written, read_mb=read)


def every_program(law: ChannelProgram = PROGRAM) -> list[Measurements]:
    mixes = ((100.0, 0.0), (0.0, 50.0))
    return [program(bits, way, *mix, law) for bits in (31, 64) for way in ("fast", "slow") for mix in mixes]


def test_the_costs_of_known_channel_programs_are_found() -> None:
    found = fit_channel_program(every_program())
    for key in ("ssch_time", "ssch_64_time", "slow_ccw_time", "read_factor"):
        assert found.value(key) == pytest.approx(getattr(PROGRAM, key), rel=1e-3), key
    assert list(found.estimates) == [
        "ssch_time",
        "ssch_64_time",
        "fast_ccw_time",
        "slow_ccw_time",
        "read_factor",
    ]
    fast = found.estimates["fast_ccw_time"]
    assert (fast.value, fast.standard_error, fast.status, fast.low) == (0.0, 0.0, "not determined", 0.0)
    assert fast.high == found.value("ssch_time")  # part of it, at most all
    assert dict(found.validity) == {"bits": (31.0, 64.0), "read_share": (0.0, 1.0)}
    assert found.estimates["read_factor"].start == 1.0


def test_reading_costs_what_writing_does_unless_the_runs_say_otherwise() -> None:
    same = ChannelProgram(ssch_time=5e-4, ssch_64_time=4e-4, fast_ccw_time=0.0, slow_ccw_time=9e-4)
    factor = fit_channel_program(every_program(same)).estimates["read_factor"]
    assert (factor.value, factor.status, factor.standard_error) == (1.0, "fixed", factor.standard_error)
    assert factor.low is not None
    assert factor.high is not None
    assert factor.low < 1 < factor.high
    assert 1 - factor.low == pytest.approx(factor.high - 1, rel=1e-2)
    assert factor.high - factor.low == pytest.approx(4 * factor.standard_error, rel=1e-2)
    written = fit_channel_program(
        [program(bits, way, 10.0, 10.0) for bits in (31, 64) for way in ("fast", "slow")]
    )
    assert written.estimates["read_factor"].status == "fixed"  # one mix tells nothing of it
    assert written.value("read_factor") == 1.0
    assert dict(written.validity)["read_share"] == (0.5, 0.5)
    known = fit_channel_program(every_program(), {"read_factor": 1.4})
    assert (known.value("read_factor"), known.estimates["read_factor"].status) == (1.4, "fixed")
    assert known.value("ssch_time") == pytest.approx(5e-4, rel=1e-3)


def test_costs_that_no_run_touches_are_not_determined() -> None:
    narrow = fit_channel_program([program(31, "fast", 100.0, 0.0), program(31, "fast", 50.0, 0.0)])
    assert narrow.value("ssch_time") == pytest.approx(5e-4, rel=1e-3)
    for key in ("ssch_64_time", "slow_ccw_time"):
        estimate = narrow.estimates[key]
        assert (estimate.value, estimate.status, estimate.high) == (0.0, "not determined", None)
        assert (estimate.standard_error, estimate.start, estimate.low) == (0.0, 0.0, 0.0)
    given = fit_channel_program([program(31, "fast", 100.0, 0.0)], {"fast_ccw_time": 2e-4})
    assert (given.value("fast_ccw_time"), given.estimates["fast_ccw_time"].status) == (2e-4, "fixed")
    assert given.value("ssch_time") == pytest.approx(3e-4, rel=1e-3)
    wide = model_of_costs(fit_channel_program([program(64, "fast", 100.0, 0.0)]), title="64-bit", files=[])
    asked = {"bits": 31, "translation": "fast", "read_share": 0.0, "data_rate": MEGABYTE}
    found = intervals(wide, [asked])  # a Start Subchannel of 31 bits may cost nothing: that was refused
    assert found["cp"].low[0] == 0 and found["cp"].high[0] > 5e-4
    assert (found["saving"].low[0], found["saving"].high[0]) == (0, 1)
    nothing = row({"bits": "31", "translation": "fast"}, cp_ms=1.0, written_mb=0.0)
    assert "expected written_mb or read_mb above zero" in refused(fit_channel_program, nothing)


def test_a_search_for_costs_begins_at_their_size() -> None:
    """The cheapest run tells the Start Subchannels; the others how much more there may be."""
    found = fit_channel_program([program(31, "fast", 10.0, 0.0), program(31, "slow", 10.0, 0.0)])
    assert found.estimates["ssch_time"].start == pytest.approx(5e-4)
    assert found.estimates["slow_ccw_time"].start == pytest.approx(9e-4)
    alike = ChannelProgram(ssch_time=5e-4, ssch_64_time=0.0, fast_ccw_time=0.0, slow_ccw_time=0.0)
    same = fit_channel_program([program(31, "fast", 10.0, 0.0, alike), program(31, "slow", 10.0, 0.0, alike)])
    assert same.estimates["slow_ccw_time"].start == pytest.approx(2.5e-4)
    assert FACTORS["written_mb"] == MEGABYTE


def test_the_time_of_a_transaction_comes_from_whichever_columns_tell_it() -> None:
    """14 fully busy processors at 560/s: 25 ms each."""
    assert cpu_time(row(processors=4, cpu_ms=18.0, itr=4 / 18e-3)).value == pytest.approx(18e-3)
    assert cpu_time(row(processors=4, emulation_cpu_ms=12.0, cp_cpu_ms=3.0)).value == pytest.approx(15e-3)
    rates = Measurements(name="", path=Path("runs.csv"), line=2, words={},
                         numbers={"processors": Printed(14.0, 0.0), "itr": Printed(560.0, 0.5)})  # fmt: skip
    assert cpu_time(rates).value == pytest.approx(25e-3)
    assert cpu_time(rates).resolution == pytest.approx(25e-3 * 0.5 / 560)
    with pytest.raises(
        ReportError, match="expected a number in cpu_ms, in emulation_cpu_ms and cp_cpu_ms, or in itr"
    ):
        cpu_time(row(processors=4, emulation_cpu_ms=12.0))
    for itr in (1e300, 1e-4):
        with pytest.raises(
            ReportError, match="ms of CPU time a transaction: expected between a nanosecond and 1,000 s"
        ):
            cpu_time(row(processors=4, itr=itr))


def test_few_configurations_of_processors_leave_few_degrees() -> None:
    """Three coefficients of five runs leave two; of four or three only two are counted."""

    def runs(count: int) -> list[Measurements]:
        ns = (1, 2, 4, 8, 16)[:count]
        off = (0.08, -0.08, 0.08, -0.08, 0.08)
        return [row(name=str(n), processors=n, cpu_ms=20.0 * (1 + 0.02 * (n - 1)) * math.exp(off[k]))
                for k, n in enumerate(ns)]  # fmt: skip

    assert [fit_scaling(runs(count)).degrees for count in (2, 3, 4, 5)] == [0, 1, 2, 2]
    found = fit_processors(runs(5))
    assert dict(found.validity) == {"processors": (1.0, 16.0)}
    assert found.estimates["cpu_time"].start == pytest.approx(20e-3 * 1.02 * math.exp(-0.08))
    assert [each.quantity for each in found.comparisons] == ["cpu_ms"] * 5
    assert [each.run for each in found.comparisons] == ["1", "2", "4", "8", "16"]


@pytest.mark.parametrize(
    ("headings", "whole", "nothing", "at_most_one"),
    [
        (DISK_HEADINGS, set(), {"hit_ratio", "cp", "virtual", "read", "write"}, {"hit_ratio"}),
        (PAGING_HEADINGS, {"outstanding", "queue_depth"}, {"think"}, set()),
        (CHANNEL_HEADINGS, set(), {"written", "read"}, set()),
        (PROCESSOR_HEADINGS, {"processors"}, set(), set()),
    ],
)  # fmt: skip
def test_of_what_is_measured_some_may_be_nothing_and_counts_are_whole(
    headings: Sequence[Quantity], whole: set[str], nothing: set[str], at_most_one: set[str]
) -> None:
    """Rates and sizes cannot be nothing where something was measured; times and shares can."""
    assert {each.key for each in headings if each.whole} == whole
    assert {each.key for each in headings if each.zero} == nothing
    assert {each.key for each in headings if each.high == 1.0} == at_most_one
