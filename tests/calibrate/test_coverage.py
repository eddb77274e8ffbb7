"""Intervals hold what they promise: 200 seeded cases, with and without an error of the law.

The seeds were set before the first look and are not those on which the method was developed. Expected values come from
the law itself; what is tested is the fit.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from planner import calibrate, queueing, whatif
from planner.calibrate import Observation, error_bar
from planner.calibrate.costs import fit_processors
from planner.calibrate.kinds import model_of_costs
from planner.devices.processors import Processors
from planner.reports import Printed
from tests.calibrate.cases import Case, draw
from tests.calibrate.test_processors import row

CASES = 200
SEEDS = {0.02: 53, 0.0: 54}
HALF_A_REQUESTER = 0.5


@dataclass
class Tally:
    """What was inside: of parameters by key (95 %), of later measurements (90 %), with the widths of those.

    `bounded` counts only predictions whose interval has both ends; of the cases whose every row was saturated,
    `open_parameters` tells whether the think time was left open, `open_predictions` whether predictions beyond what was
    measured were, where nobody counted the requesters; of counted ones none is.
    """

    parameters: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    later: list[bool] = field(default_factory=list)
    bounded: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    open_parameters: list[bool] = field(default_factory=list)
    open_predictions: list[bool] = field(default_factory=list)


def tally(model_error: float) -> Tally:
    random = np.random.default_rng(SEEDS[model_error])
    found = Tally()
    for _ in range(CASES):
        case = draw(random, model_error=model_error)
        fit = calibrate.fit(case.rows)
        assert fit.posterior is not None
        for key, true in case.truth.items():
            if key == "population" and fit.population_status == "fixed":
                continue
            found.parameters[key].append(_holds(fit, key, true))
        _predictions(found, case, fit)
        if case.saturated:
            assert fit.saturated
            found.open_parameters.append(fit.estimates["think_time"].low is None)
            assert fit.population_status == "fixed" or fit.population_interval()[1] is None
    return found


def _holds(fit: calibrate.Fit, key: str, true: float) -> bool:
    """Whether the 95 % interval holds the truth."""
    assert fit.posterior is not None
    low, high = fit.posterior.interval(key, 0.95)
    if key == "population":  # an integer: its interval is told by the integers in it
        return low - HALF_A_REQUESTER <= true and (
            fit.population_interval()[1] is None or true <= high + HALF_A_REQUESTER
        )
    estimate = fit.estimates[key]
    return (estimate.low is None or low <= true) and (estimate.high is None or true <= high)


def _predictions(found: Tally, case: Case, fit: calibrate.Fit) -> None:
    model = calibrate.to_model(fit, kind="volume", title="", files=[], runs=case.rows)
    counts = sorted(case.later)
    answer = whatif.predict(model, {}, {"aliases": [float(count) for count in counts]})
    most = max(row.aliases for row in case.rows)
    for low, high, count in zip(
        answer.values["io_rate"].low, answer.values["io_rate"].high, counts, strict=True
    ):
        found.later.append(bool(low <= case.later[count] <= high))
        if np.isfinite(high):
            found.bounded.append(found.later[-1])
            found.widths.append(float(np.log(high / low)))
        if case.saturated and count > most and fit.population_status != "fixed":
            found.open_predictions.append(bool(np.isposinf(high)))
        elif fit.population_status == "fixed":
            assert np.isfinite(high)


@pytest.mark.slow
def test_with_an_error_of_the_law_intervals_hold_what_they_promise() -> None:
    found = tally(0.02)
    assert 0.85 <= np.mean(found.later) <= 0.95
    assert 0.85 <= np.mean(found.bounded) <= 0.95
    shares = {key: float(np.mean(inside)) for key, inside in found.parameters.items()}
    assert len(shares) == 5
    assert min(shares.values()) >= 0.80
    assert np.mean(list(shares.values())) >= 0.90
    # Where every row is saturated, nothing tells the think time from none, nor, of requesters that nobody counted,
    # how much more would be asked.
    assert len(found.open_predictions) >= 20
    assert all(found.open_predictions)
    assert np.mean(found.open_parameters) >= 0.9


@pytest.mark.slow
def test_with_rounding_only_the_intervals_are_not_too_narrow() -> None:
    found = tally(0.0)
    assert np.mean(found.bounded) >= 0.85
    assert np.median(found.widths) <= 0.20  # of the logarithm of the rate: +/- 10 %
    assert all(found.open_predictions)


def pool_without_inflation(random: np.random.Generator) -> tuple[float, list[Observation]]:
    """Service time of a lone I/O [s], and two or three runs with an error of 2 % where nothing inflates it."""
    volumes, people = random.integers((3, 2), (9, 6))
    alone, think, gap = np.exp(random.uniform(np.log([4e-4, 0.03, 0.01]), np.log([4e-3, 2.0, 0.2])))
    rows = []
    for aliases in random.permutation([0, 1, 2, 4, 8])[: random.integers(2, 4)].tolist():
        steady = queueing.alias_pool(
            aliases, volumes=volumes, population=people, think_time=think * alone, service_time=alone,
            redrive_time=gap * alone,
        )  # fmt: skip
        rate, served = volumes * float(steady.throughput.sum()), float(steady.service_time.mean())
        queue = volumes * float((steady.queue_length - steady.in_gap).sum())
        off = 0.02 * random.standard_normal(3)
        queue = max(queue + off[2] * (rate * served + queue), 0.0)
        figures = {
            "io_rate": Printed(float(round(rate * np.exp(off[0]))), 0.5),
            "service_time": Printed(round(1e3 * served * np.exp(off[1]), 1) * 1e-3, 0.05e-3),
            "queued": Printed(round(queue, 2), 0.005 * volumes),
        }
        rows.append(Observation(name=f"+{aliases}", volumes=int(volumes), aliases=aliases, population=int(people),
                                figures=figures))  # fmt: skip
    return float(alone), rows


@pytest.mark.slow
def test_intervals_hold_a_service_time_that_nothing_inflates() -> None:
    """The prior of inflation excludes none: intervals of 90 % held .68 to .77. The seed is not one looked at before."""
    random, held, widths = np.random.default_rng(2029), [], []
    for _ in range(40):
        alone, rows = pool_without_inflation(random)
        fit = calibrate.fit(rows)
        service, inflation = fit.estimates["service_time"], fit.estimates["inflation"]
        assert service.low is not None and service.high is not None and fit.posterior is not None
        held.append((service.low <= alone <= service.high, inflation.low is None))
        low, high = fit.posterior.interval("service_time", 0.9)
        widths.append((service.high / service.low - 1) / (high / low - 1))
    assert (np.mean(held, axis=0) >= 0.88).all()
    assert np.median(widths) <= 1.25


@pytest.mark.long
def test_intervals_hold_scaling_coefficients_that_are_zero_small_or_large() -> None:
    """The seed was not among those on which the method was chosen."""
    random, noise, held = np.random.default_rng(1002), 0.03, defaultdict(list)
    cases = product(
        ((1, 2, 4), (1, 2, 4, 8), (3, 6, 8, 10, 12)), (0.0, 0.02), (0.0, 3e-4, 2e-3, 1e-2), range(16)
    )
    for counts, contention, coherency, _ in cases:
        truth = Processors(cpu_time=0.02, contention=contention, coherency=coherency)
        far = np.array([counts[1], counts[-1], 3 * counts[-1]], dtype=np.float64)
        times = (
            counts / truth.internal_throughput(counts) * np.exp(noise * random.standard_normal(len(counts)))
        )
        fit = fit_processors([row(*each) for each in zip(counts, times.tolist(), strict=True)])
        for key in ("cpu_time", "contention", "coherency"):
            low, high = fit.estimates[key].low, fit.estimates[key].high
            assert low is not None and high is not None
            held[key, coherency].append(low <= getattr(truth, key) <= high)
        rate = error_bar.interval(
            "itr", model_of_costs(fit, title="simulated", files=[]), [{"processors": n} for n in far.tolist()]
        )
        later = truth.internal_throughput(far) * np.exp(noise * random.standard_normal(3))
        for name, inside in zip(
            ("within", "within", "far"), (rate.low <= later) & (later <= rate.high), strict=True
        ):
            held[name, coherency].append(bool(inside))
    shares = {key: float(np.mean(inside)) for key, inside in held.items()}
    assert min(shares.values()) >= 0.88, shares
