"""Every error says where, what and what was expected, and knows its exit code."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from planner import advice, supply, system
from planner.advice.disk import Setting
from planner.advice.paging import Load
from planner.errors import (
    CalibrationError,
    ConvergenceError,
    InfeasibleError,
    InputError,
    MissingExtraError,
    PlannerError,
    ReportError,
)
from planner.measurements.over_time import read_supplies
from planner.site.example import example_series
from planner.site.growth import growth
from planner.site.question import site
from planner.site.series import Daily, read_series
from planner.whatif import predict


def test_input_error_names_argument_value_unit_and_what_is_wanted() -> None:
    error = InputError("service_time", -1.0, "a time above zero", "s")
    assert str(error) == "service_time = -1.0 s: expected a time above zero"
    assert (error.argument, error.value, error.unit) == ("service_time", -1.0, "s")
    assert str(InputError("kind", "tape", "a known kind")) == "kind = 'tape': expected a known kind"
    assert str(InputError("mode", None, "off or cached")) == "mode is not given: expected off or cached"
    assert str(InputError("scv", np.float64(-1.0), "a share")) == "scv = -1.0: expected a share"
    assert str(InputError("service", 1.3e-3 / 1e-3, "less", "ms")) == "service = 1.3 ms: expected less"


@pytest.mark.parametrize(
    ("line", "column", "where"),
    [(None, None, "f.listing"), (3, None, "f.listing, line 3"), (3, 7, "f.listing, line 3, column 7")],
)
def test_report_error_names_file_line_and_column(line: int | None, column: int | None, where: str) -> None:
    error = ReportError("f.listing", "expected a number", line=line, column=column)
    assert str(error) == f"{where}: expected a number"
    assert error.path == Path("f.listing")


def test_convergence_error_shows_its_residual() -> None:
    message = "the mean field did not converge: residual 0.0123 after 50 iterations"
    assert str(ConvergenceError("the mean field", 0.01234, 50)) == message


def test_a_missing_extra_says_what_to_type() -> None:
    assert str(MissingExtraError("pandas", "notebook")).endswith("pip install 'zvm-planner[notebook]'")


@pytest.mark.parametrize(
    ("kind", "builtin", "exit_code"),
    [
        (InputError, ValueError, 2),
        (ReportError, ValueError, 2),
        (CalibrationError, PlannerError, 2),
        (ConvergenceError, PlannerError, 2),
        (MissingExtraError, ImportError, 2),
        (InfeasibleError, PlannerError, 1),
    ],
)
def test_errors_are_built_in_ones_too_and_know_their_exit_code(
    kind: type[PlannerError], builtin: type[Exception], exit_code: int
) -> None:
    assert issubclass(kind, PlannerError)
    assert issubclass(kind, builtin)
    assert kind.exit_code == exit_code


XIV = system.template("xiv")
CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "limit as text": (lambda: growth(series(), "5000"), "limit = '5000'"),
    "limit true": (lambda: growth(series(), True), "limit = True"),
    "rate as text": (lambda: growth(series(), 5000, rate="20%"), "rate = '20%'"),
    "percent for a share": (lambda: growth(series(), 5000, rate=20), "rate = 20: expected a share a year"),
    "horizon as text": (lambda: growth(series(), 5000, horizon="18months"), "horizon = '18months'"),
    "event as text": (lambda: growth(series(), 5000, events=["2027-03-01:+30%"]), "events = '2027"),
    "a time, no day": (lambda: growth(series(), 5000, events=[(datetime(2027, 3, 1), 1.3)]), "events = (datetime"),
    "one event alone": (lambda: growth(series(), 5000, events=(date(2027, 3, 1), 1.3)), "events = datetime.date"),
    "factor as text": (lambda: growth(series(), 5000, events=[(date(2027, 3, 1), "30%")]), "events = "),
    "a frame, no series": (lambda: growth(example_series(days=40, seed=1), 5000), "daily = 'DataFrame'"),
    "read_share as text": (lambda: advice.channel_programs(64, "30%"), "read_share = '30%'"),
    "data_rate as text": (lambda: advice.channel_programs(64, 0.3, data_rate="50MB/s"), "data_rate = '50MB/s'"),
    "several page rates": (lambda: Load(page_rate=[1000, 2000]), "page_rate = [1000, 2000] 1/s"),
    "several hit ratios": (
        lambda: advice.disk_rates(Setting(workload="xedit", hit_ratio=[0.1, 0.9])),
        "hit_ratio = [0.1, 0.9]",
    ),
    "no system": (lambda: system.solve(None), "system is not given"),
    "settings of numbers": (lambda: system.solve(XIV, [3]), "settings = [3]"),
    "no settings": (lambda: system.solve(XIV, None), "settings is not given"),
    "no source": (lambda: site([]), "source = []"),
    "counters unread": (lambda: supply.judge("counters.csv"), "pools = 'counters.csv'"),
    "listing unread": (lambda: advice.storage_usage("MY.listing"), "listings = 'MY.listing'"),
    "settings as typed": (lambda: predict("hyperpav", ["aliases=8"]), "settings = ['aliases=8']: expected values by"),
    "one varied as typed": (lambda: predict("hyperpav", over="aliases=8"), "over = 'aliases=8': expected values by"),
    "several counts": (lambda: advice.scaling().predict([14, 15]), "processors = [14, 15]: expected one count"),  # type: ignore[arg-type]
    "one of several counts": (lambda: advice.scaling().rates(14), "processors = 14: expected a list of counts"),  # type: ignore[arg-type]
    "no counters": (lambda: read_supplies(None), "source = 'NoneType': expected a path"),
    "no counters among files": (lambda: read_supplies(["counters.csv", 3]), "source = 'int': expected a path"),
    "bytes for GB": (lambda: advice.frame_budget(in_use=256, resident_pages=50), "in_use = 256 bytes"),
}  # fmt: skip


def series() -> Daily:
    return read_series(example_series(days=40, seed=1))


@pytest.mark.parametrize("name", CALLS)
def test_what_a_question_cannot_take_is_refused_by_its_name(name: str) -> None:
    call, said = CALLS[name]
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value).startswith(said)


def test_a_series_that_is_missing_says_what_was_expected_of_it() -> None:
    """It listed the formats of devices."""
    with pytest.raises(
        ReportError, match=r"^missing.csv: no such file; expected a measured series with the columns"
    ):
        read_series("missing.csv")


@pytest.mark.long
def test_numbers_of_numpy_and_single_texts_are_taken_as_those_of_python(tmp_path: Path) -> None:
    daily = series()
    assert growth(daily, np.int64(5000)).headline == growth(daily, 5000).headline
    assert advice.channel_programs(np.float64(64), 0.3).headline == advice.channel_programs(64, 0.3).headline
    more = system.solve(XIV, ["storage.real=1088GiB"])
    assert system.solve(XIV, "storage.real=1088GiB").to_dict() == more.to_dict()
    path = tmp_path / "my.csv"
    path.write_text("processors,itr\n1,10.0\n2,19.0\n3,27.0\n", encoding="utf-8")
    assert advice.scaling(str(path)).headline == advice.scaling(path).headline
