"""Runs as figures and the problem of their fit: what is present, what is asked of the law, where a search begins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from planner import queueing
from planner.calibrate import Observation, fit, interval, to_model
from planner.calibrate import problem as problem_module
from planner.calibrate.problem import (
    KEYS,
    PARAMETERS,
    POPULATIONS,
    PRIORS,
    Problem,
    Solution,
    _service_guess,
    at_bound_as_well,
    misfit,
    more_requesters_as_well,
    saturated,
    search,
    share_of,
    solve,
    starts,
    totals,
)
from planner.devices.pool import equal_volumes
from planner.errors import CalibrationError, InputError
from planner.reports import Printed
from planner.results import Array

TRUE = {"service_time": 0.8e-3, "think_time": 0.4e-3, "inflation": 0.08, "redrive_time": 0.03e-3}


def observed(
    volumes: int = 1, aliases: int = 0, population: int | None = None, half: float = 0.0, **figures: float
) -> Observation:
    return Observation(
        name=f"{volumes}+{aliases}", volumes=volumes, aliases=aliases, population=population,
        figures={key: Printed(value, half * value) for key, value in figures.items()},
    )  # fmt: skip


def row(**changed: float) -> Array:
    return np.array([[{**TRUE, **changed}[key] for key in KEYS]])


def alone(population: float, aliases: float, values: dict[str, float] = TRUE) -> tuple[float, float, float]:
    """One volume by the queueing model itself: rate, service time, queue without the I/O in its gap."""
    steady = queueing.finite_source(
        population, values["think_time"], values["service_time"], min(1 + aliases, population),
        inflation=values["inflation"], redrive_time=values["redrive_time"],
    )  # fmt: skip
    return float(steady.throughput), float(steady.service_time), float(steady.queue_length - steady.in_gap)


def made(
    aliases: int, population: int | None, values: dict[str, float] = TRUE, requesters: float = 4
) -> Observation:
    """A run of one volume as the queueing model has it."""
    rate, service, queued = alone(requesters, aliases, values)
    return observed(
        1, aliases, population, half=1e-4, io_rate=rate, service_time=service, queued=max(queued, 0.0)
    )


@pytest.mark.parametrize(
    ("figures", "present"),
    [
        ({"io_rate": 500.0, "response_time": 4e-3}, 2.0),
        ({"io_rate": 500.0, "response_time": 4e-3, "service_time": 1e-3, "queued": 9.0}, 2.0),
        ({"io_rate": 500.0, "service_time": 1e-3, "queued": 0.7}, 1.2),
        ({"io_rate": 500.0, "service_time": 1e-3, "wait_time": 3e-3}, 2.0),
        ({"io_rate": 500.0, "service_time": 8.5e-3}, 4.0),  # no more in service than there are devices
        ({"queued": 0.7, "io_rate": 500.0}, 4.7),  # all busy, where nothing tells how many are
        ({"io_rate": 500.0, "wait_time": 2e-3}, 5.0),
        ({"service_time": 1e-3}, 4.0),
    ],
)
def test_what_is_present_is_in_service_or_waits(figures: dict[str, float], present: float) -> None:
    """Of three volumes with one alias: Little's law."""
    assert observed(3, 1, **figures).present == pytest.approx(present)


@pytest.mark.parametrize(
    ("figures", "least"),
    [
        ({"io_rate": 500.0, "response_time": 4e-3}, 0.99**2 * 2.0),
        ({"io_rate": 500.0, "service_time": 1e-3, "queued": 0.7}, 0.99**2 * 0.5 + 0.99 * 0.7),
        ({"io_rate": 500.0, "service_time": 1e-3, "wait_time": 3e-3}, 0.99**2 * 2.0),
        ({"io_rate": 500.0, "wait_time": 3e-3}, 0.99**2 * 1.5),
        ({"queued": 0.7}, 0.99 * 0.7),
        ({"io_rate": 500.0, "response_time": 4e-3, "queued": 3.0}, 0.99 * 3.0),
        ({"io_rate": 500.0}, 0.0),
    ],
)
def test_the_least_that_is_present_is_that_of_the_lower_ends(figures: dict[str, float], least: float) -> None:
    run = observed(half=0.01, **figures)
    assert run.least_present == pytest.approx(least)
    assert run.fewest_requesters == max(math.ceil(least / 1.15), 1)


def test_a_figure_below_its_own_digits_counts_as_nothing() -> None:
    run = Observation(name="", volumes=1, aliases=0, population=None, figures={
        "io_rate": Printed(0.3, 0.5), "service_time": Printed(1e-3, 0.0), "queued": Printed(0.0, 0.005),
    })  # fmt: skip
    assert run.least_present == 0.0


@pytest.mark.parametrize(("rate", "fewest"), [(459.5, 1), (460.5, 2), (919.0, 2), (921.0, 3)])
def test_requesters_hold_at_most_one_each_but_for_15_percent(rate: float, fewest: int) -> None:
    """Two volumes, response 5 ms: 460/s are 2.3, 1.15 a volume."""
    figures = {"io_rate": rate, "response_time": 5e-3}
    assert observed(2, 0, **figures).fewest_requesters == fewest
    assert observed(2, 0, population=fewest, **figures).population == fewest
    if fewest > 1:
        with pytest.raises(
            InputError, match=f"at least {fewest}: rate x response is {rate * 5e-3 / 2:.3g} a volume"
        ):
            observed(2, 0, population=fewest - 1, **figures)


@pytest.mark.parametrize(
    ("figures", "allowed"),
    [({"queued": 0.0}, True), ({"wait_time": 0.0}, True), ({"io_rate": 0.0}, False), ({"service_time": 0.0}, False),
     ({"response_time": 0.0}, False), ({"queued": -0.1}, False), ({"io_rate": math.inf}, False),
     ({"queued": math.nan}, False)],
)  # fmt: skip
def test_only_queues_and_waits_may_be_nothing(figures: dict[str, float], allowed: bool) -> None:
    if allowed:
        assert observed(**figures).values == figures
    else:
        with pytest.raises(InputError, match="a number above zero"):
            observed(**figures)


def test_the_error_of_the_law_is_taken_of_all_that_is_present() -> None:
    """Of a queue all I/Os, of a wait the response; rates and times are compared in logarithms."""
    run = observed(1, 0, io_rate=500.0, service_time=1e-3, queued=0.7)
    assert [run.scale(each) for each in ("io_rate", "service_time", "response_time")] == [None] * 3
    assert run.scale("queued") == pytest.approx(1.2)
    run = observed(1, 0, io_rate=500.0, service_time=1e-3, wait_time=3e-3)
    assert run.scale("wait_time") == pytest.approx(4e-3)
    run = observed(1, 0, service_time=1e-3, wait_time=3e-3)
    assert run.scale("wait_time") == pytest.approx(4e-3)
    assert observed(1, 0, wait_time=3e-3).scale("wait_time") == pytest.approx(3e-3)
    assert observed(1, 0, wait_time=3e-3, response_time=9e-3).scale("wait_time") == pytest.approx(9e-3)


def test_volumes_without_shared_aliases_are_queues_of_their_own() -> None:
    """No alias, one volume, or an alias for every requester but the first: whatever the others do."""
    cases = [(1, 0, 4), (1, 2, 4), (5, 0, 3), (3, 9, 4), (3, 30, 4), (2, 2, 2)]
    runs = [observed(volumes, aliases, population) for volumes, aliases, population in cases]
    found = totals(runs, 99, row())[0]
    for (volumes, aliases, population), totalled in zip(cases, found.tolist(), strict=True):
        rate, service, queued = alone(
            population, aliases if volumes == 1 else 0 if aliases == 0 else population
        )
        assert totalled == pytest.approx([volumes * rate, service, volumes * queued], abs=1e-12)


@pytest.mark.long
def test_a_shared_pool_is_the_alias_pool_and_every_set_of_parameters_its_own() -> None:
    runs = [observed(3, 2, 4), observed(1, 1, 4), observed(3, 2, 4), observed(3, 2, 2), observed(3, 8, 4)]
    values = np.concatenate([row(), row(service_time=1e-3), row(think_time=1e-4)])
    found = totals(runs, 4, values)
    for at, each in zip(values, found, strict=True):
        asked = dict(zip(KEYS, at.tolist(), strict=True))
        for run, totalled in zip(runs, each.tolist(), strict=True):
            if run.volumes == 1:
                assert totalled == pytest.approx(list(alone(4, 1, asked)))
                continue
            pool = queueing.alias_pool(run.aliases, volumes=run.volumes, population=run.population, **asked)
            rate = float(pool.pool_throughput)
            assert totalled[0] == pytest.approx(rate, rel=1e-6)
            assert totalled[1] == pytest.approx(float(np.ravel(pool.service_time)[0]), rel=1e-6)
            assert (
                rate * (asked["think_time"] + totalled[1]) + totalled[2] < 3 * run.population
            )  # but for the gap
    assert found[:, 0] == pytest.approx(found[:, 2], rel=1e-12)  # the same run measured twice


def test_requesters_of_the_run_come_before_those_of_the_fit() -> None:
    said, open_ = observed(1, 1, 3), observed(1, 1, None)
    assert totals([said], 7, row())[0, 0] == pytest.approx(list(alone(3, 1)))
    assert totals([open_], 7, row())[0, 0] == pytest.approx(list(alone(7, 1)))


@pytest.mark.parametrize("fixed", [{}, {"redrive_time": 0.0}, {"service_time": 1e-3, "inflation": 0.2}])
def test_points_are_the_logarithms_of_what_is_not_known(fixed: dict[str, float]) -> None:
    problem = Problem(observations=(made(0, 4),), fixed=fixed, priors=PRIORS)
    free = [key for key in KEYS if key not in fixed]
    assert [KEYS[k] for k in problem.free] == free
    low, high = problem.bounds
    declared = {each.key: each for each in PARAMETERS}
    assert np.exp(low).tolist() == pytest.approx([declared[key].low for key in free])
    assert np.exp(high).tolist() == pytest.approx([declared[key].high for key in free])
    point = np.log([TRUE[key] for key in free])
    values = problem.values(np.stack([point, low - 9, high + 9]))
    assert values[0] == pytest.approx([{**TRUE, **fixed}[key] for key in KEYS])
    assert values[1] == pytest.approx([fixed.get(key, declared[key].low) for key in KEYS])
    assert values[2] == pytest.approx([fixed.get(key, declared[key].high) for key in KEYS])


def test_every_figure_of_every_run_is_asked_of_the_law() -> None:
    figures = {
        "io_rate": 900.0,
        "service_time": 1e-3,
        "response_time": 2e-3,
        "wait_time": 1e-3,
        "queued": 1.0,
    }
    runs = (observed(1, 0, 4, **figures), observed(1, 2, 4, queued=0.5, io_rate=1000.0))
    problem = Problem(observations=runs, fixed={}, priors=PRIORS)
    (predicted,) = problem.predict(np.log(row()))
    expected = []
    for run in runs:
        rate, service, queued = alone(4, run.aliases)
        of = {"io_rate": rate, "service_time": service, "response_time": service + queued / rate,
              "wait_time": queued / rate, "queued": queued}  # fmt: skip
        expected += [of[key] for key in run.figures]
    assert predicted == pytest.approx(expected)
    shown = [(each.run, each.quantity, each.factor, each.value, each.scale) for each in problem.figures]
    assert shown[0] == ("1+0", "io_rate", 1.0, 900.0, None)
    assert shown[1] == ("1+0", "service_ms", 1e-3, 1e-3, None)
    assert shown[5] == ("1+2", "queued", 1.0, 0.5, runs[1].scale("queued"))


def test_beliefs_are_log_normal_times_in_units_of_the_service_time() -> None:
    problem = Problem(observations=(made(0, 4),), fixed={}, priors=PRIORS)

    def at(service: float = 1e-3, **logs: float) -> Array:
        """Parameters so many standard deviations from their medians."""
        sized = {"service_time": 0.0, **{key: math.log(p.median) + logs.get(key, 0.0) * p.deviation
                                         for key, p in PRIORS.items()}}  # fmt: skip
        return np.array([[sized[key] + (0.0 if key == "inflation" else math.log(service)) for key in KEYS]])

    order = list(PRIORS)
    for service in (1e-3, 5e-3):
        assert problem.beliefs(at(service)) == pytest.approx(np.zeros((1, 3)), abs=1e-12)
        for k, key in enumerate(order):
            assert problem.beliefs(at(service, **{key: 2.0}))[0] == pytest.approx(
                [2.0 * (j == k) for j in range(3)]
            )
    # what is known is believed already, and its size is that of the others
    known = Problem(
        observations=(made(0, 4),), fixed={"service_time": 2e-3, "redrive_time": 0.0}, priors=PRIORS
    )
    point = np.array(
        [[math.log(2e-3 * PRIORS["think_time"].median) + 1.5, math.log(PRIORS["inflation"].median) - 1.0]]
    )
    order_free = [KEYS[k] for k in known.free]
    point = point if order_free[0] == "think_time" else point[:, ::-1]
    found = dict(
        zip([key for key in PRIORS if key not in known.fixed], known.beliefs(point)[0].tolist(), strict=True)
    )
    assert found == pytest.approx({"inflation": -1.0, "think_time": 1.0})
    none = Problem(observations=(made(0, 4),), fixed=dict.fromkeys(PRIORS, 0.1), priors=PRIORS)
    assert none.beliefs(np.zeros((5, 1))).shape == (5, 0)


def test_the_prior_of_requesters_is_one_over_their_number_for_all_that_a_count_stands_for() -> None:
    """Up to 12 each stands for itself; then halfway to its neighbors; the last for as much on its far side."""
    for n in range(1, 12):
        assert share_of(n) == pytest.approx(1 / n)
    assert share_of(12) == pytest.approx(1.5 / 12)
    assert share_of(14) == pytest.approx(2 / 14)
    assert share_of(64) == pytest.approx(16 / 64)
    assert share_of(13) == pytest.approx(1 / 13)  # one that was given
    assert share_of(100) == pytest.approx(1 / 100)
    covered = sum(share_of(n) * n for n in POPULATIONS)
    assert covered == pytest.approx(64 + 8 - 0.5)
    assert (POPULATIONS[:12], POPULATIONS[-1]) == (tuple(range(1, 13)), 64)
    assert list(POPULATIONS) == sorted(set(POPULATIONS))


def solution(problem: Problem, **changed: float) -> Solution:
    """A solution at the true parameters, whatever the runs say."""
    at = np.log([{**TRUE, **changed}[KEYS[k]] for k in problem.free])
    residuals, jacobian = problem.around(at)
    return Solution(problem=problem, logs=at, residuals=residuals, jacobian=jacobian)


def test_odds_fall_with_misfit_requesters_and_what_the_parameters_were_free_to_take() -> None:
    """Laplace: exp(-chi-square / 2) / sqrt(det of the curvature) / N."""
    slope = np.array([[3.0, 0.0], [4.0, 2.0], [0.0, 1.0]])
    problem = Problem(observations=(made(0, 5),), fixed={}, priors={}, population=5)
    found = Solution(problem=problem, logs=np.zeros(2), residuals=np.array([1.0, 2.0, 2.0]), jacobian=slope)
    determinant = (9 + 16) * (4 + 1) - 8**2
    assert found.chi_square == pytest.approx(9)
    assert found.log_weight == pytest.approx(-4.5 - math.log(determinant) / 2 - math.log(5))
    assert found.covariance == pytest.approx(np.linalg.inv(slope.T @ slope))
    assert found.population == 5


def test_a_search_begins_with_the_median_service_time_or_what_the_rates_allow() -> None:
    printed = [observed(service_time=each) for each in (1e-3, 9e-3, 2e-3)] + [observed(io_rate=1.0)]
    assert _service_guess(printed, 3) == pytest.approx(2e-3)
    assert _service_guess([observed(2, 0, io_rate=500.0)], 3) == pytest.approx(0.7 * 2 / 500)
    assert _service_guess([observed(2, 2, io_rate=500.0)], 3) == pytest.approx(0.7 * 4 / 500)
    assert _service_guess([observed(2, 20, io_rate=500.0)], 3) == pytest.approx(
        0.7 * 6 / 500
    )  # as many as requesters
    assert _service_guess([observed(2, 20, 2, io_rate=500.0)], 3) == pytest.approx(0.7 * 4 / 500)
    both = [observed(2, 0, io_rate=500.0), observed(response_time=3e-3)]
    assert _service_guess(both, 3) == pytest.approx(0.7 * 3e-3)
    assert _service_guess([observed(queued=1.0)], 3) == pytest.approx(0.7e-3)


def test_a_search_is_followed_from_the_two_best_of_eight_points() -> None:
    problem = Problem(
        observations=tuple(made(a, 4) for a in (0, 1, 3)), fixed={}, priors=PRIORS, population=4
    )
    first, second = starts(problem)
    service = float(np.median([run.figures["service_time"].value for run in problem.observations]))
    everything = []
    for think in (0.02, 0.1, 0.5, 2.5):
        for inflation in (0.02, 0.2):
            at = {"service_time": service, "think_time": think * service, "inflation": inflation,
                  "redrive_time": PRIORS["redrive_time"].median * service}  # fmt: skip
            point = np.log([at[key] for key in KEYS])
            everything.append((float((problem.residuals(point[None]) ** 2).sum()), point))
    everything.sort(key=lambda each: each[0])
    assert first == pytest.approx(everything[0][1])
    assert second == pytest.approx(everything[1][1])


def test_the_solution_is_the_true_law_and_a_given_number_is_kept() -> None:
    problem = Problem(
        observations=tuple(made(a, None) for a in (0, 1, 3)), fixed={}, priors={}, model_error=0.02
    )
    (found,) = search(problem, 4)
    assert found.population == 4
    assert found.values == pytest.approx(TRUE, rel=0.02)
    assert found.chi_square < 0.01
    (again,) = search(replace(problem, model_error=0.05), None, near=[found])
    assert again.problem.model_error == 0.05
    assert again.population == 4


@pytest.fixture(scope="module")
def searched() -> list[Solution]:
    """All numbers of requesters that three runs of four of them allow."""
    runs = tuple(made(a, None) for a in (0, 1, 3))
    return search(Problem(observations=runs, fixed={}, priors=PRIORS), None)


def test_all_numbers_of_requesters_that_the_runs_allow_are_found_the_likeliest_first(
    searched: list[Solution],
) -> None:
    odds = [each.log_weight for each in searched]
    assert searched[0].population == 4
    assert odds == sorted(odds, reverse=True)
    assert min(odds) >= odds[0] - 9
    least = max(run.fewest_requesters for run in searched[0].problem.observations)
    assert all(each.population >= least for each in searched)
    assert len({each.population for each in searched}) == len(searched)
    again = search(searched[0].problem, None, near=searched[::-1])
    assert [each.population for each in again] == [each.population for each in searched]


def test_a_misfit_is_that_of_the_figures_without_the_priors(searched: list[Solution]) -> None:
    for each in searched:
        off = each.problem.off(each.logs[None])[0] / each.problem.sigma
        assert misfit(each) == pytest.approx(float(off @ off))
        assert misfit(each) < each.chi_square


def busy_volume(think: float, population: int, aliases: tuple[int, ...]) -> Solution:
    values = {**TRUE, "think_time": think}
    runs = tuple(made(a, population, values, population) for a in aliases)
    problem = Problem(observations=runs, fixed={}, priors=PRIORS, population=population)
    return solution(problem, think_time=think)


@pytest.mark.parametrize(
    ("think", "population", "aliases", "expected"),
    [
        (1e-6, 8, (0, 1), True),  # always work for two devices, and six more requesters
        (1e-6, 2, (0, 1), False),  # no requester to spare
        (1e-6, 8, (0, 7), False),  # none with all eight
        (2e-2, 8, (0, 1), False),  # mostly thinking
    ],
)
def test_devices_are_saturated_where_all_of_them_were_busy_in_every_run(
    think: float,
    population: int,
    aliases: tuple[int, ...],
    expected: bool,
) -> None:
    assert saturated(busy_volume(think, population, aliases)) is expected


def test_the_gap_of_a_device_counts_as_busy() -> None:
    """Half of the time between two I/Os is the gap: the device has no more to give."""
    values = {**TRUE, "redrive_time": 0.8e-3, "think_time": 1e-6, "inflation": 1e-3}
    problem = Problem(observations=(made(0, 8, values, 8),), fixed={}, priors=PRIORS, population=8)
    assert saturated(
        solution(problem, **{key: values[key] for key in ("redrive_time", "think_time", "inflation")})
    )


@pytest.mark.long
def test_a_parameter_at_its_bound_fits_as_well_where_nothing_tells_it() -> None:
    """One device tells nothing of the growth with more in service; three counts do, and the think time as well."""
    one = Problem(observations=(made(0, 4),), fixed={}, priors=PRIORS, population=4)
    found = solve(one, starts(one))
    bound = {each.key: each for each in PARAMETERS}
    assert at_bound_as_well([found], "inflation", bound["inflation"].low)
    assert at_bound_as_well([found], "inflation", bound["inflation"].high)
    values = {**TRUE, "inflation": 0.5}
    three = Problem(
        observations=tuple(made(a, 4, values) for a in (0, 1, 3)), fixed={}, priors=PRIORS, population=4
    )
    known = solve(three, starts(three))
    assert not at_bound_as_well([known], "inflation", bound["inflation"].low)
    assert not at_bound_as_well([known], "inflation", bound["inflation"].high)
    # one of several numbers of requesters is enough
    assert at_bound_as_well([found, found], "inflation", bound["inflation"].low)


def test_more_requesters_fit_as_well_where_think_time_makes_up_for_them() -> None:
    """At one count of aliases a longer think time does; three counts tell the requesters."""
    light = {**TRUE, "think_time": 30e-3, "redrive_time": 0.0}
    known = {"fixed": {"redrive_time": 0.0}, "priors": PRIORS, "population": 4}
    one = Problem(observations=(made(0, None, light),), **known)  # type: ignore[arg-type]
    assert more_requesters_as_well([solve(one, starts(one))])
    heavy = {**light, "think_time": 0.1e-3}
    three = Problem(observations=tuple(made(a, None, heavy) for a in (0, 1, 3)), **known)  # type: ignore[arg-type]
    assert not more_requesters_as_well([solve(three, starts(three))])


@pytest.mark.parametrize(
    ("volumes", "aliases", "population", "asked"),
    [(2, 1, 4, False), (2, 1, 64, True), (2, 0, 4, True), (1, 1, 4, True), (1, 0, 4, True)],
)
def test_of_a_shared_pool_more_requesters_are_asked_only_where_the_most_were_tried(
    volumes: int, aliases: int, population: int, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = observed(volumes, aliases, None, io_rate=100.0, service_time=0.8e-3, queued=0.01)
    one = Problem(observations=(run,), fixed={}, priors=PRIORS, population=population)
    at = np.log([TRUE[key] for key in KEYS])
    found = Solution(problem=one, logs=at, residuals=np.zeros(6), jacobian=np.eye(6, 4))
    seen: list[tuple[Problem, list[Array]]] = []

    def solved(further: Problem, begin: list[Array], **_: bool) -> Solution:
        seen.append((further, begin))
        return found

    monkeypatch.setattr(problem_module, "solve", solved)
    assert more_requesters_as_well([found]) is asked
    assert len(seen) == asked
    for further, (same, longer) in seen:
        assert (further.population, set(further.priors)) == (64, {"inflation", "redrive_time"})
        assert same.tolist() == at.tolist()
        moved = (longer - at).tolist()  # of as many more requesters, each thinks as much longer
        assert moved == pytest.approx(
            [math.log(64 / population) if key == "think_time" else 0.0 for key in KEYS]
        )


def odds_of(problem: Problem, odds: float) -> Solution:
    """A solution with these odds: the curvature is one, the misfit makes up for the prior."""
    misfits = -2.0 * (odds - math.log(share_of(problem.population)))
    return Solution(problem=problem, logs=np.zeros(4), residuals=np.array([math.sqrt(misfits), 0, 0, 0]),
                    jacobian=np.eye(4))  # fmt: skip


def test_a_search_ends_at_the_second_number_of_requesters_in_a_row_that_is_far_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Odds by number: 3 -20, 4 -10, 5 -19.5 (behind), 6 -18 (not), 7 and 8 -20 (behind)."""
    known = {1: -99.0, 2: -50.0, 3: -20.0, 4: -10.0, 5: -19.5, 6: -18.0, 7: -20.0, 8: -20.0}
    tried: list[int] = []

    def solved(problem: Problem, begin: list[Array], **_: bool) -> Solution:
        tried.append(problem.population)
        if problem.population == failing:
            raise CalibrationError("least squares did not converge")
        return odds_of(problem, known.get(problem.population, -40.0))

    monkeypatch.setattr(problem_module, "solve", solved)
    monkeypatch.setattr(problem_module, "starts", lambda problem: [np.zeros(4)])
    problem = Problem(
        observations=(observed(1, 0, io_rate=100.0, response_time=5e-3),), fixed={}, priors=PRIORS
    )
    failing = 0
    found = search(problem, None)
    assert tried == list(range(1, 9))
    assert [each.population for each in found] == [4, 6]
    tried.clear()
    failing = 4  # is passed over
    assert [each.population for each in search(problem, None)] == [6, 5, 3, 7, 8]
    many = Problem(observations=(observed(1, 0, io_rate=500.0, response_time=8e-3),), fixed={}, priors=PRIORS)
    tried.clear()
    failing = 0
    search(many, None)
    assert tried[0] == 4  # rate x response over 1.15


@pytest.mark.long
def test_a_far_bound_is_not_asked_where_a_nearer_value_is_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated: 5 volumes of 3 requesters, 0.325 ms, 8 aliases; a gap of a second took minutes."""
    rows = [
        Observation(
            name=f"+{aliases}", volumes=5, aliases=aliases, population=None,
            figures={
                "io_rate": Printed(rate, 0.5), "service_time": Printed(service, 5e-6), "queued": Printed(queued, 5e-3),
            },
        )
        for aliases, rate, service, queued in ((5, 25658.0, 0.40e-3, 4.62), (8, 31275.0, 0.41e-3, 1.14))
    ]  # fmt: skip
    asked = []

    def solved(values: dict[str, Array], volumes: Array, aliases: Array) -> Array:
        asked.append(float(values["redrive_time"].max()))
        assert asked[-1] < 0.1  # a three-hundredfold service time
        return equal_volumes(values, volumes, aliases)

    monkeypatch.setattr(problem_module, "equal_volumes", solved)
    found = fit(rows)
    assert asked
    assert found.estimates["redrive_time"].high is not None


def test_more_i_os_in_service_than_devices_are_refused_with_the_service_time_that_fits() -> None:
    """The utilization law: 1000/s of 1.3 ms keep 1.3 devices busy; 15 % more than all is what a listing may err by."""
    with pytest.raises(
        InputError, match=r"service_ms of 1\+0 = 1\.3 ms: expected at most 1 ms at 1000/s: 1 device"
    ):
        observed(io_rate=1000.0, service_time=1.3e-3)
    assert observed(io_rate=1000.0, service_time=1.14e-3).figures
    assert observed(aliases=1, io_rate=1000.0, service_time=1.3e-3).figures


@pytest.mark.long
def test_runs_without_a_queue_leave_the_requesters_open() -> None:
    """Two numbers of requesters that never wait give the same rows: what fewer aliases bring has no upper end."""
    rows = [
        observed(8, aliases, half=1e-3, io_rate=4480.0, service_time=0.93e-3, queued=0.0)
        for aliases in (8, 16)
    ]
    found = fit(rows)
    assert found.population_status == "not determined"
    model = to_model(found, kind="pool", title="", files=[], runs=rows)
    scenarios = [{"aliases": float(aliases), "volumes": 8.0} for aliases in (4, 8)]
    queued, rate = (interval(figure, model, scenarios) for figure in ("queued", "io_rate"))
    assert np.isposinf(queued.high[0])
    assert np.isfinite([queued.high[1], *rate.high]).all()
    known = interval("queued", model, scenarios, {"population": 2.0})
    assert np.isfinite(known.high).all()
