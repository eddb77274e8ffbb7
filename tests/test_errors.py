"""Every error says where, what and what was expected, and knows its exit code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner.errors import (
    CalibrationError,
    ConvergenceError,
    InfeasibleError,
    InputError,
    MissingExtraError,
    PlannerError,
    ReportError,
)


def test_input_error_names_argument_value_unit_and_what_is_wanted() -> None:
    error = InputError("service_time", -1.0, "a time above zero", "s")
    assert str(error) == "service_time = -1.0 s: expected a time above zero"
    assert (error.argument, error.value, error.unit) == ("service_time", -1.0, "s")
    assert str(InputError("kind", "tape", "a known kind")) == "kind = 'tape': expected a known kind"
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
