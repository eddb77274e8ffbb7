"""The small fit: shipped models are what their data give, known parameters are found, one outlier is named."""

from __future__ import annotations

import re

import pytest

from planner import calibrate, library
from planner.errors import InputError
from planner.measurements import Interval, Measurement, Run, listing_run
from planner.reports import read_devices

SHIPPED = ("hyperpav", "hyperpav-volume-runs", "hyperpav-pool-runs")


def runs_of(model: library.Model) -> list[Run]:
    return [listing_run(read_devices(library.data_path(source.file))[0]) for source in model.source]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_is_what_its_data_give(name: str) -> None:
    model = library.read_model(name)
    for source in model.source:
        assert library.sha256(library.data_path(source.file)) == source.sha256
    found = calibrate.fit(runs_of(model), population=model.population or 0)
    for estimate in found.estimates.values():
        shipped = model.parameters[estimate.parameter.file_key]
        assert estimate.value == pytest.approx(shipped.value, rel=1e-3)
        assert estimate.standard_error == pytest.approx(shipped.standard_error, rel=1e-2)
    assert found.outliers == model.fit.outliers


def test_models_are_made_by_the_makefile() -> None:
    makefile = (library.data_path().parent / "Makefile").read_text(encoding="utf-8")
    made = set(re.findall(r"-o models/([\w-]+)\.toml", makefile))
    assert set(SHIPPED) <= made


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
    part = Measurement(
        volumes=volumes, aliases=aliases, io_rate=Interval(1, 1, 1), service=Interval(1, 1, 1),
        queued=Interval(0, 0, 0), queue_shown=0.0,
    )  # fmt: skip
    blank = Run(name=f"{volumes}+{aliases}", aliases=aliases, classes=(part,), pool=volumes > 1)
    found = calibrate.predict(blank, values, population)
    rate, service, queued = float(found.io_rate[0]), float(found.service_time[0]), float(found.queued[0])
    part = Measurement(
        volumes=volumes, aliases=aliases, io_rate=Interval(rate, rate, rate),
        service=Interval(service, service, service), queued=Interval(queued, queued, queued), queue_shown=queued,
    )  # fmt: skip
    return Run(name=blank.name, aliases=aliases, classes=(part,), pool=volumes > 1)


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


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(InputError, match="at least one measurement"):
        calibrate.fit([], population=3)
