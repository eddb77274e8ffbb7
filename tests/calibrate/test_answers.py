"""What a calibration says of itself: cells, notes, headline, data; what goes into a model; outliers and statuses."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner import calibrate, library
from planner.calibrate import Estimate, Fit, Observation, Outlier
from planner.calibrate.calibration import Calibration, correlations, known_parameters
from planner.calibrate.calibration import given as entered
from planner.calibrate.data_file import Chosen
from planner.calibrate.kinds import Task, known_values, to_model
from planner.calibrate.least_squares import GIVEN, LeastSquares, MeasuredFigure
from planner.calibrate.problem import KEYS, PARAMETERS, PRIORS, Problem, Solution
from planner.calibrate.volume_fit import _check_error, _check_service, _left, _observations, _status
from planner.errors import CalibrationError, InputError
from planner.library import data_path
from planner.quantity import Quantity
from planner.reports import Printed
from planner.results import Array
from tests.calibrate.test_problem import TRUE, made, observed

TIME = Quantity("wait", unit="s", low=1e-6, high=10.0)
BARE = Quantity("growth", low=0.0, high=2.0)


def estimate(**changed: Any) -> Estimate:
    known = {"parameter": TIME, "value": 2e-3, "standard_error": 1e-4, "status": "fitted", "start": 1e-3,
             "low": 1.8e-3, "high": 2.2e-3, **changed}  # fmt: skip
    return Estimate(**known)


def test_an_estimate_is_shown_in_the_unit_of_people_with_its_error_in_percent() -> None:
    assert estimate().percent == pytest.approx(5.0)
    assert estimate().cells() == ("2.00 ms", "0.1", "5", "1.80", "2.20", "1")
    assert estimate(parameter=BARE, value=0.0, standard_error=0.0, low=None, high=0.5, start=0.25).cells() == (
        "0", "0", "", "open", "0.500", "0.25",
    )  # fmt: skip
    assert estimate(low=1.8e-3, high=None).cells()[3:5] == ("1.80", "open")
    assert estimate(status="fixed").cells() == ("2.00 ms", "", "", "", "", "1")
    known = entered(TIME, 3e-3)
    assert (known.value, known.standard_error, known.status, known.start) == (3e-3, 0.0, "fixed", 3e-3)
    assert (known.low, known.high) == (3e-3, 3e-3)
    assert estimate(value=0.0).percent is None


def calibration(**changed: Any) -> Calibration:
    known = {"estimates": {"wait": estimate(), "growth": estimate(parameter=BARE, status="not determined")},
             "comparisons": (), "model_error": 0.031, "degrees": 4.0, "degrees_left": 4.0,
             "correlation": {("a", "b"): 0.95, ("a", "c"): -0.91, ("b", "c"): 0.89}, **changed}  # fmt: skip
    return Calibration(**known)


def test_a_calibration_tells_its_error_what_is_unknown_and_what_is_hardly_told_apart() -> None:
    found = calibration()
    assert found.headline == "2 parameters, 0 figures: model error 3.1 %."
    assert found.notes[0] == "Model error 3.1 %; intervals hold 90 %."
    assert found.notes[1].startswith("Not determined by these data: growth; kept at what the table shows")
    assert found.notes[2:] == ("a and b are correlated: 0.95.", "a and c are correlated: -0.91.")
    assert found.strong_correlations() == {("a", "b"): 0.95, ("a", "c"): -0.91}
    data = found.to_dict()
    assert data["correlations"] == [
        {"parameters": ["a", "b"], "correlation": 0.95}, {"parameters": ["a", "c"], "correlation": -0.91},
    ]  # fmt: skip
    assert (data["model_error"], data["degrees_of_freedom"]) == (0.031, 4.0)
    assert data["parameters"]["wait_s"] == {
        "value": 2e-3, "standard_error": 1e-4, "percent": pytest.approx(5.0), "low": 1.8e-3, "high": 2.2e-3,
        "start": 1e-3, "status": "fitted",
    }  # fmt: skip
    assert len(calibration(estimates={"wait": estimate()}, correlation={}).notes) == 1


def test_correlations_are_covariances_over_both_errors() -> None:
    covariance = np.array([[4.0, 3.0, -1.0], [3.0, 9.0, 0.0], [-1.0, 0.0, 1.0]])
    assert correlations(("x", "y", "z"), covariance) == {
        ("y", "x"): pytest.approx(0.5), ("z", "x"): pytest.approx(-0.5), ("z", "y"): 0.0,
    }  # fmt: skip


def test_known_parameters_lie_within_their_bounds_and_leave_one_to_fit() -> None:
    zero = Quantity("gap", low=1e-3, high=1.0, zero=True)
    assert known_parameters((zero, BARE), {"gap": 0.0}) == {"gap": 0.0}
    assert known_parameters((zero, TIME), {"wait": 10.0}) == {"wait": 10.0}
    assert known_parameters((zero, TIME), None) == {}
    for key, value, span in (("wait", 0.0, "1e-06 to 10"), ("gap", 1.1, "0 to 1"), ("gap", -0.1, "0 to 1")):
        with pytest.raises(InputError, match=f"{key} = .*: expected {span}"):
            known_parameters((zero, TIME, BARE), {key: value})


class Two(LeastSquares):
    """A figure compared in logarithms and one compared plainly, both 10 % above their measurements."""

    figures = (
        MeasuredFigure(run="a", quantity="rate", factor=1.0, value=50.0, half=0.0),
        MeasuredFigure(run="b", quantity="wait_ms", factor=1e-3, value=2e-3, half=0.0, scale=4e-3),
    )

    def predict(self, points: Array) -> Array:
        return np.array([[55.0, 2.2e-3]])


def test_a_comparison_is_in_the_unit_of_its_quantity_its_error_on_the_scale_of_the_fit() -> None:
    rate, wait = Two(model_error=0.05).compared(np.zeros(1))
    assert (rate.run, rate.quantity, rate.measured, rate.predicted) == (
        "a",
        "rate",
        50.0,
        pytest.approx(55.0),
    )
    assert rate.sigma == pytest.approx(2.5)
    assert rate.off_by == pytest.approx(math.log(1.1) / 0.05)
    assert (wait.measured, wait.predicted) == (pytest.approx(2.0), pytest.approx(2.2))
    assert wait.sigma == pytest.approx(0.05 * 4.0)
    assert wait.off_by == pytest.approx(1.0)


@pytest.fixture(scope="module")
def fit() -> Fit:
    """Three rows of a volume with four requesters, which are given, made by the queueing model."""
    return calibrate.fit([made(a, 4) for a in (0, 1, 3)])


@pytest.fixture(scope="module")
def free_fit() -> Fit:
    """The same without their requesters, and without a gap, which is quicker."""
    values = {**TRUE, "redrive_time": 0.0}
    return calibrate.fit([made(a, None, values) for a in (0, 1, 3)], fixed={"redrive_time": 0.0})


def test_the_headline_says_how_many_requesters_and_how_sure(fit: Fit, free_fit: Fit) -> None:
    service = fit.estimates["service_time"]
    assert service.low is not None
    assert service.high is not None
    assert fit.headline.startswith("4 requesters a volume (given); service ")
    assert f"model error {fit.model_error * 100:.0f} %." in fit.headline
    assert ", 90 %)" in fit.headline
    assert free_fit.headline.startswith("About 4 requesters a volume")
    likely = {n: share for n, share in free_fit.populations.items() if share >= 0.05}
    assert ("(likely:" in free_fit.headline) == (len(likely) > 1)
    open_ = replace(free_fit, population_status="not determined")
    assert " or more, not determined" in open_.headline
    assert ("(likely:" in open_.headline) == (len(likely) > 1)
    alone = replace(open_, posterior=None)  # one candidate is no choice
    assert alone.headline.startswith(
        f"About {alone.population} requesters a volume or more, not determined; service "
    )
    for changed in ({"low": None}, {"high": None}, {"status": "fixed"}):
        other = {**fit.estimates, "service_time": replace(service, **changed)}  # type: ignore[arg-type]
        assert ", 90 %)" not in replace(fit, estimates=other).headline


def test_requesters_have_their_own_interval(fit: Fit, free_fit: Fit) -> None:
    assert fit.population_interval() == (4, 4)
    assert replace(free_fit, posterior=None).population_interval() == (free_fit.population,) * 2
    assert replace(free_fit, posterior=None).populations == {free_fit.population: 1.0}
    low, high = free_fit.population_interval()
    assert high is not None
    assert low <= 4 <= high
    assert replace(free_fit, population_status="not determined").population_interval() == (low, None)
    assert sum(free_fit.populations.values()) == pytest.approx(1.0)
    shares = list(free_fit.populations.values())
    assert shares == sorted(shares, reverse=True)
    data = free_fit.to_dict()["population"]
    assert (data["value"], data["low"], data["high"]) == (4, low, high)
    assert data["probability"] == {str(n): share for n, share in free_fit.populations.items()}


def test_notes_count_the_figures_that_were_fitted_and_name_what_was_not(fit: Fit) -> None:
    chi = fit.notes[1]
    assert chi.startswith("Chi-square ")
    assert "9 figures less those that the parameters use up" in chi
    assert not [line for line in fit.notes if "outlier" in line or "All devices" in line]
    odd = replace(fit, outlier=Outlier(run="1+1", drop=41.0, gap=12.0, second="1+0"), saturated=True)
    assert "6 figures less" in odd.notes[1]
    assert odd.notes[2] == (
        "! outlier, not fitted: 1+1: without it chi-square falls by 41; the next candidate, 1+0, is 12 behind."
    )
    assert odd.notes[3].startswith("All devices were busy in every run")
    assert odd.notes[3].endswith("the demand on more devices follows from the number of requesters alone.")
    assert replace(odd, population_status="not determined").notes[3].endswith("have no upper end.")
    assert odd.outliers == ("1+1",)
    assert odd.to_dict()["outlier"] == {
        "run": "1+1", "chi_square_drop": 41.0, "chi_square_gap": 12.0, "second_candidate": "1+0",
    }  # fmt: skip
    assert fit.to_dict()["outlier"] is None
    marks = odd.residual_table().marks
    assert [bool(mark) for mark in marks] == [each.run == "1+1" for each in odd.comparisons]


def test_a_fit_finds_the_law_its_rows_were_made_of(fit: Fit, free_fit: Fit) -> None:
    for found in (fit, free_fit):
        assert found.population == 4
        for key, value in TRUE.items():
            each = found.estimates[key]
            if each.status == "fixed":
                continue
            assert abs(math.log(each.value / value)) < 3 * each.standard_error / each.value, key
            assert each.low is None or each.low < each.value
            assert each.high is None or each.value < each.high
        assert found.model_error == 0.02
        assert found.degrees == GIVEN
        assert 5 < found.degrees_left < 9  # nine figures, four parameters of which priors tell a part
        assert not found.saturated
    assert (fit.population_status, free_fit.population_status) == ("fixed", "fitted")
    assert fit.correlation.keys() == {(KEYS[i], KEYS[j]) for i in range(4) for j in range(i)}
    assert [each.run for each in fit.comparisons] == ["1+0"] * 3 + ["1+1"] * 3 + ["1+3"] * 3


def outlying(count: int = 4, off: float = 1.5, **how: Any) -> Fit:
    """Rows of one law, of which the second one is off."""
    runs = [made(a, 4, {**TRUE, "redrive_time": 0.0}) for a in (0, 1, 2, 3)[:count]]
    rate = runs[1].figures["io_rate"]
    runs[1] = replace(runs[1], figures={**runs[1].figures, "io_rate": Printed(rate.value / off, 0.1)})
    return calibrate.fit(runs, fixed={"redrive_time": 0.0}, intervals=False, **how)


def test_the_row_that_does_not_belong_is_left_out_and_named() -> None:
    found = outlying()
    assert found.outlier is not None
    assert found.outlier.run == "1+1"
    assert found.outlier.second != "1+1"
    assert found.outlier.drop > 25
    assert 0 < found.outlier.gap < found.outlier.drop
    assert found.value("service_time") == pytest.approx(TRUE["service_time"], rel=0.03)
    assert len(found.comparisons) == 12
    assert found.chi_square < 25 < outlying(find_outlier=False).chi_square
    assert found.chi_square + found.outlier.drop == pytest.approx(
        outlying(find_outlier=False).chi_square, rel=0.05
    )


def test_of_runs_with_one_name_only_the_outlier_is_left_out() -> None:
    """All runs of its name were marked, and fewer figures counted than the fit has degrees of freedom."""
    runs = [replace(made(a, 4, {**TRUE, "redrive_time": 0.0}), name="mine") for a in (0, 1, 2, 3)]
    rate = runs[1].figures["io_rate"]
    runs[1] = replace(runs[1], figures={**runs[1].figures, "io_rate": Printed(rate.value / 1.5, 0.1)})
    found = calibrate.fit(runs, fixed={"redrive_time": 0.0}, intervals=False)
    assert found.outliers == ("mine (2)",)
    assert sum(each.run in found.outliers for each in found.comparisons) == 3
    assert found.degrees_left < 9
    assert [line for line in found.notes if "9 figures less" in line]


@pytest.mark.long
def test_known_requesters_that_differ_are_taken_alike_in_any_order() -> None:
    """The model was that of the first row's requesters: predictions changed with the order of the rows."""
    runs = [made(a, count, TRUE, count) for count in (3, 4, 5) for a in (0, 2)]
    assert {
        calibrate.fit(each, intervals=False).population for each in (runs, runs[::-1], runs[2:] + runs[:2])
    } == {4}


def test_of_two_rows_either_could_be_the_one_and_a_small_misfit_names_none() -> None:
    assert outlying(2).outlier is None
    assert outlying(3, 1.01).outlier is None
    assert outlying(3, 1.5).outlier is not None


def test_without_intervals_none_are_worked_out() -> None:
    found = outlying(3, 1.01)
    assert found.posterior is None
    assert {(each.low, each.high) for key, each in found.estimates.items() if key != "redrive_time"} == {
        (None, None)
    }
    assert (found.model_error, found.degrees) == (0.02, GIVEN)


def linear(error: float = 0.1, residuals: tuple[float, ...] = (1.0, -2.0, 0.5)) -> Solution:
    """Three figures, one of them told by a parameter alone, whatever the law."""
    runs = (observed(1, 0, 4, io_rate=500.0, service_time=1e-3, queued=0.2),)
    problem = Problem(observations=runs, fixed={}, priors=PRIORS, population=4, model_error=error)
    jacobian = np.concatenate([np.eye(3, 4), np.zeros((3, 4)), np.diag([0.0, 0.0, 0.0, 1.0])])[:6]
    return Solution(problem=problem, logs=np.log([TRUE[key] for key in KEYS]),
                    residuals=np.array([*residuals, 0.0, 0.0, 0.0]), jacobian=jacobian)  # fmt: skip


def test_degrees_are_the_figures_less_what_the_parameters_took() -> None:
    assert _left(linear()) == pytest.approx(0.0, abs=1e-9)  # three figures, three parameters
    assert linear().problem.degrees(_left(linear())) == 1.0
    assert linear(0.02).problem.degrees(0.0) == GIVEN
    half = linear()
    soft = replace(
        half, jacobian=np.concatenate([np.eye(3, 4), np.eye(3, 4)])
    )  # priors as sharp as the figures
    assert _left(soft) == pytest.approx(1.5)
    assert soft.problem.degrees(_left(soft)) == pytest.approx(1.5)


def test_runs_that_no_law_gives_together_are_refused_with_the_worst_of_them() -> None:
    _check_error(linear(0.29))
    with pytest.raises(CalibrationError, match=r"they are 31% off, most of all the service_ms of 1\+0"):
        _check_error(linear(0.31))
    with pytest.raises(CalibrationError, match=r"most of all the queued of 1\+0"):
        _check_error(linear(0.31, (1.0, -2.0, 9.0)))


def test_a_status_says_how_a_value_came_about() -> None:
    """Next to a bound, told by the prior alone (more than .8 of its width left), or fitted."""
    problem = linear().problem
    logs = np.log([TRUE[key] for key in KEYS])
    for k, parameter in enumerate(PARAMETERS):

        def at(value: float, error: float, k: int = k) -> Solution:
            moved, jacobian = logs.copy(), np.eye(6, 4)
            moved[k], jacobian[k, k] = math.log(value), 1 / error
            return Solution(problem=problem, logs=moved, residuals=np.zeros(6), jacobian=jacobian)

        for bound, sign in ((parameter.low, 1), (parameter.high, -1)):
            assert _status(at(bound * math.exp(sign * 0.009), 0.01), k) == "at its bound"
            assert _status(at(bound * math.exp(sign * 0.011), 0.01), k) == "fitted"
        prior = PRIORS.get(parameter.key)
        width = 1.0 if prior is None else prior.deviation
        assert _status(at(TRUE[parameter.key], 0.79 * width), k) == "fitted"
        assert _status(at(TRUE[parameter.key], 0.81 * width), k) == (
            "fitted" if prior is None else "not determined"
        )


class Known:
    """A sample whose service time is known within a factor."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def interval(self, key: str, probability: float) -> tuple[float, float]:
        assert (key, probability) == ("service_time", 0.68)
        return 1e-3 / self.factor, 1e-3 * self.factor


def test_a_service_time_known_within_a_factor_of_1_65_is_known() -> None:
    """exp(.5): half a logarithm on each side."""
    _check_service(linear(), Known(1.6))  # type: ignore[arg-type]
    with pytest.raises(
        CalibrationError, match=r"not even the service time is determined: 0\.588 to 1\.7 ms fit as well"
    ):
        _check_service(linear(), Known(1.7))  # type: ignore[arg-type]
    fixed = replace(linear(), problem=replace(linear().problem, fixed={"service_time": 1e-3}))
    _check_service(fixed, Known(9.0))  # type: ignore[arg-type]


def test_requesters_that_a_row_says_stay_and_others_are_those_given() -> None:
    said, silent = observed(1, 0, 3, io_rate=100.0, service_time=1e-3), observed(1, 0, io_rate=100.0)
    assert [run.population for run in _observations([said, silent], None)] == [3, None]
    assert [run.population for run in _observations([said, silent], 7)] == [3, 7]
    with pytest.raises(InputError, match="population = 0: expected a count of at least 1"):
        _observations([said], 0)
    assert _observations([silent], 1)[0].population == 1
    with pytest.raises(InputError, match=r"measurements = .*: expected a rate or a time"):
        _observations([observed(), observed()], None)
    assert len(_observations([observed(), silent], None)) == 2
    with pytest.raises(CalibrationError, match="queues alone"):
        _observations([observed(queued=1.0), observed()], None)
    assert len(_observations([observed(queued=1.0), silent], None)) == 2


def test_a_model_holds_what_the_fit_found_and_what_its_runs_cover(fit: Fit, free_fit: Fit) -> None:
    runs = [made(a, None) for a in (0, 1, 3)]
    path = data_path("hyperpav", "522A-2-aliases.listing")
    model = to_model(free_fit, kind="volume", title="", files=[path], runs=runs)
    assert (model.kind, model.population, model.title) == ("volume", 4, "522A-2-aliases")
    assert model.source[0].file == "hyperpav/522A-2-aliases.listing"
    assert dict(model.validity) == {"aliases": (0.0, 3.0), "volumes": (1.0, 1.0), "population": (4.0, 4.0)}
    assert to_model(fit, kind="volume", title="mine", files=[], runs=runs).title == "mine"
    for each in free_fit.estimates.values():
        kept = model.parameters[each.parameter.file_key]
        assert kept.value == pytest.approx(each.value, rel=1e-5)
        assert kept.status == each.status
        assert (kept.low is None, kept.high is None) == (each.low is None, each.high is None)
        assert kept.low is None or kept.low == pytest.approx(each.low, rel=1e-5)
        assert kept.high is None or kept.high == pytest.approx(each.high, rel=1e-5)
    assert model.fit.degrees_of_freedom is None
    assert not model.fit.saturated
    assert model.alternatives is not None
    assert {each.population: each.share for each in model.alternatives} == pytest.approx(
        free_fit.populations, rel=1e-5
    )
    never_idle = replace(fit, degrees=3.0, saturated=True, posterior=None, population_status="not determined")
    busy = to_model(never_idle, kind="pool", title="", files=[], runs=runs)
    known = replace(never_idle, population_status="fixed")
    assert not to_model(known, kind="pool", title="", files=[], runs=runs).fit.saturated
    assert (busy.fit.degrees_of_freedom, busy.fit.saturated, busy.alternatives) == (3.0, True, None)
    assert [(each.name, each.quantity) for each in busy.fit.runs] == [
        (each.run, each.quantity) for each in fit.comparisons
    ]
    bound = replace(fit.estimates["inflation"], status="at its bound", standard_error=0.0)
    at_bound = to_model(replace(fit, estimates={**fit.estimates, "inflation": bound}), kind="volume", title="",
                        files=[], runs=runs).parameters["inflation"]  # fmt: skip
    assert at_bound.standard_error is None
    fixed = entered(PARAMETERS[KEYS.index("inflation")], 0.1)
    told = replace(fit, estimates={**fit.estimates, "inflation": fixed}, posterior=None)
    known = to_model(told, kind="volume", title="", files=[], runs=runs)
    assert known.parameters["inflation"].standard_error == 0.0
    assert model.alternatives[0].parameters == ("service_time_s", "think_time_s", "inflation")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["think_time"], "fix = 'think_time': expected KEY=VALUE with a key of service_time"),
        (["speed=3"], "KEY=VALUE with a key of"), (["inflation=0.1", "inflation=0.2"], "inflation twice"),
    ],
)  # fmt: skip
def test_what_is_known_is_said_once_by_its_name(settings: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        known_values(settings)
    assert known_values(["inflation=0.1", "think_time=2ms"]) == {"inflation": 0.1, "think_time": 2e-3}


@pytest.mark.parametrize(
    ("kind", "how", "problem"),
    [
        ("tape", {}, "kind = 'tape': expected one of volume, pool, paging"),
        ("volume", {"population": 0}, "population = 0: expected a count of at least 1"),
        (
            "paging",
            {"population": 3},
            "population = 3: expected none: a paging has no requesters",
        ),
        (
            "disk",
            {"chosen": Chosen(pool="P")},
            "pool = 'P': expected none: a disk is fitted to a table of runs",
        ),
    ],
)
def test_what_does_not_fit_the_kind_is_refused(kind: str, how: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        calibrate.calibrate(kind, Task(files=[], **how))


def test_observations_of_a_volume_are_named_by_source_and_aliases() -> None:
    (run,) = calibrate.read_observations([data_path("hyperpav", "522A-2-aliases.listing")], "volume")
    assert run.name.endswith("522A +2")
    assert isinstance(run, Observation)
    assert run.figures["io_rate"].value == 1619
    assert run.figures["io_rate"].resolution == pytest.approx(3 * 0.5)  # three devices, each to a unit
    assert run.figures["service_time"].resolution == pytest.approx(0.15e-3)  # the sum of three printed parts
    assert library.read_model("hyperpav-volume-runs").kind == "volume"
