"""The fit: shipped models are what their data give, known parameters are found, one outlier is named."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner import calibrate, library
from planner.calibrate.problem import KEYS, totals
from planner.errors import CalibrationError, InputError
from planner.interval import Interval
from planner.measurements import Run, intervals, read, system_runs
from planner.published.hyperpav import FITTED
from planner.reports import Printed

SHIPPED = ("hyperpav-volume-runs", "hyperpav-pool-runs", "hyperpav")


def runs_of(model: library.Model) -> list[Run]:
    files = [library.data_path(source.file) for source in model.source]
    return [run for file in files for rows in intervals(read(file)) for run in system_runs(rows)]


@cache
def fitted(name: str) -> calibrate.Fit:
    """A shipped model, fitted again with its number of requesters."""
    model = library.read_model(name)
    return calibrate.fit(runs_of(model), population=model.population or 0)


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_is_what_its_data_give(name: str) -> None:
    model = library.read_model(name)
    for source in model.source:
        assert library.sha256(library.data_path(source.file)) == source.sha256
    found = fitted(name)
    for estimate in found.estimates.values():
        shipped = model.parameters[estimate.parameter.file_key]
        assert estimate.value == pytest.approx(shipped.value, rel=1e-3)
        assert estimate.standard_error == pytest.approx(shipped.standard_error, rel=1e-2)
    assert found.outliers == model.fit.outliers


def test_every_shipped_model_is_fitted() -> None:
    assert set(SHIPPED) <= set(FITTED)


def test_the_published_runs_are_met_within_the_model_error() -> None:
    model = library.read_model("hyperpav")
    rates = {run.name: run for run in model.fit.runs if run.quantity == "io_rate"}
    errors = {name: run.predicted / run.measured - 1 for name, run in rates.items()}
    assert len(errors) == 6
    outlier = {name for name in errors if name in model.fit.outliers}
    assert outlier == {"Y040181P 522A +1"}
    assert max(abs(error) for name, error in errors.items() if name not in outlier) <= 0.04


def made_up(values: dict[str, float], volumes: int, aliases: int, population: int) -> Run:
    """A run as our own law has it: the fit must find the values again."""
    blank = calibrate.Observation(
        name="", volumes=volumes, aliases=aliases, population=population, figures={}
    )
    row = np.array([[values[key] for key in KEYS]])
    rate, service, queued = (float(total) for total in totals([blank], population, row)[0, 0])

    def all_of(value: float) -> Interval:
        return Interval(*(np.full(volumes, value) for _ in range(3)))

    return Run(
        name=f"{volumes}+{aliases}", aliases=aliases, pool=volumes > 1, volumes=tuple(f"{k}" for k in range(volumes)),
        io_rate=all_of(rate / volumes), service=all_of(service), queued=all_of(queued / volumes),
        queue_shown=np.full(volumes, queued / volumes),
    )  # fmt: skip


@pytest.mark.long
def test_known_parameters_are_found_within_their_errors() -> None:
    values = {"service_time": 0.8e-3, "think_time": 0.4e-3, "inflation": 0.08, "redrive_time": 0.03e-3}
    runs = [
        made_up(values, volumes, aliases, 4) for volumes, aliases in ((1, 0), (1, 1), (1, 3), (6, 0), (6, 9))
    ]
    found = calibrate.fit(runs, population=4)
    assert found.outliers == ()
    for key, value in values.items():
        assert abs(found.value(key) - value) <= 2 * found.estimates[key].standard_error, key
    assert found.value("service_time") == pytest.approx(values["service_time"], rel=0.02)


def test_a_fixed_parameter_stays() -> None:
    values = {"service_time": 0.8e-3, "think_time": 0.4e-3, "inflation": 0.08, "redrive_time": 0.03e-3}
    runs = [made_up(values, 1, aliases, 4) for aliases in (0, 1, 3)]
    found = calibrate.fit(runs, population=4, fixed={"think_time": 0.5e-3})
    assert found.value("think_time") == 0.5e-3
    assert found.estimates["think_time"].standard_error == 0


@pytest.mark.long
def test_requesters_are_found_where_two_alias_counts_tell_them() -> None:
    values = {"service_time": 0.8e-3, "think_time": 0.4e-3, "inflation": 0.08, "redrive_time": 0.03e-3}
    found = calibrate.fit([made_up(values, 1, aliases, 4) for aliases in (0, 1, 5)])
    assert found.population == 4
    assert found.population_status == "fitted"
    assert found.populations[4] > 0.9


@pytest.mark.long
def test_requesters_of_a_pool_are_found() -> None:
    found = calibrate.fit(runs_of(library.read_model("hyperpav-pool-runs")))
    assert (found.population, found.population_status) == (3, "fitted")


@pytest.mark.long
def test_rates_with_their_requesters_are_enough() -> None:
    rows = [observation(a, 4, io_rate=rate) for a, rate in ((0, 1150.0), (1, 1900.0), (5, 2900.0))]
    found = calibrate.fit(rows)
    assert found.population_status == "fixed"
    assert 0.5e-3 < found.value("service_time") < 1.2e-3


def test_what_one_server_cannot_tell_is_not_determined_and_open() -> None:
    inflation = calibrate.fit([observation(0, 3, io_rate=755.0, service_time=1.3e-3)]).estimates["inflation"]
    assert inflation.status == "not determined"
    assert inflation.low is None
    assert inflation.high is None
    assert inflation.value == pytest.approx(calibrate.PRIORS["inflation"].median, rel=0.01)


def test_a_service_time_that_nothing_tells_is_an_error() -> None:
    with pytest.raises(CalibrationError, match="service time"):
        calibrate.fit([observation(0, 3, queued=1.84)])


def test_more_in_the_system_than_requesters_is_a_contradiction() -> None:
    with pytest.raises(InputError, match="contradict each other"):
        observation(0, 2, io_rate=755.0, response_time=3.7e-3)


@pytest.mark.long
def test_the_outlier_is_named_with_its_lead_and_kept_in_the_report() -> None:
    found = fitted("hyperpav-volume-runs")
    assert found.outlier is not None
    assert found.outlier.run == "Y040181P 522A +1"
    assert found.outlier.gap > 0
    assert sum(each.run == found.outlier.run for each in found.comparisons) == 3
    assert "outlier, not fitted: Y040181P 522A +1" in found.text()


def test_a_large_disagreement_widens_the_model_error() -> None:
    rows = [
        observation(a, 4, io_rate=rate, service_time=0.8e-3)
        for a, rate in ((0, 1000.0), (0, 1150.0), (0, 1300.0))
    ]
    assert calibrate.fit(rows, find_outlier=False).model_error > 2 * calibrate.MODEL_ERROR


@pytest.mark.long
def test_text_data_and_notebook_say_the_same() -> None:
    found = fitted("hyperpav-pool-runs")
    data = found.to_dict()
    assert data["parameters"]["inflation"]["value"] == found.value("inflation")
    assert (
        data["parameters"]["inflation"]["low"]
        < found.value("inflation")
        < data["parameters"]["inflation"]["high"]
    )
    assert len(data["residuals"]) == 9
    for text in (found.text(), found._repr_html_()):
        assert "think_time_s" in text
        assert "3 requesters a volume (given)" in text


def observation(aliases: int, population: int, **figures: float) -> calibrate.Observation:
    """One volume with numbers of 1 % resolution."""
    return calibrate.Observation(
        name=f"+{aliases}", volumes=1, aliases=aliases, population=population,
        figures={key: Printed(value, 0.01 * value) for key, value in figures.items()},
    )  # fmt: skip


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(InputError, match="at least one measurement"):
        calibrate.fit([], population=3)
