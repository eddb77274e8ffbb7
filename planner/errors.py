"""Every error the planner raises on purpose; anything else that escapes is a bug."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

__all__ = [
    "CalibrationError",
    "ConvergenceError",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "PlannerError",
    "ReportError",
]


class PlannerError(Exception):
    """Base class. `exit_code` is what the command line returns for it."""

    exit_code = 2


class InputError(PlannerError, ValueError):
    """A value outside its domain; the message names the argument, the value, its unit and what is allowed.

    Parameters
    ----------
    argument : str
        Name of the offending argument, as the caller spelled it.
    value : object
        What was given.
    expected : str
        What would have been accepted.
    unit : str, optional
        Unit of `value`; empty for counts and text.
    """

    def __init__(self, argument: str, value: object, expected: str, unit: str = "") -> None:
        self.argument, self.value, self.expected, self.unit = argument, value, expected, unit
        if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
            value = value.item()  # type: ignore[attr-defined] # its repr is the number, not np.float64(...)
        if isinstance(value, float):
            value = float(f"{value:.15g}")  # 1.3, not 1.2999999999999998
        shown = f"{value!r} {unit}" if unit else f"{value!r}"
        given = f"{argument} is not given" if value is None else f"{argument} = {shown}"
        super().__init__(f"{given}: expected {expected}")

    @classmethod
    def unless_one_of(cls, argument: str, value: object, known: Collection[str]) -> None:
        """Refuse a value of `argument`, as the caller spelled it, that is not among the `known` ones."""
        if value not in known:
            raise cls(argument, value, f"one of {', '.join(known)}")


class ReportError(PlannerError, ValueError):
    """A file that is not what it should be; the message names file, line, column and what was expected.

    Parameters
    ----------
    path : Path or str
        The file.
    problem : str
        What is wrong and what was expected instead.
    line : int, optional
        Line in the file, counted from 1.
    column : int, optional
        Character in the line, counted from 1.
    """

    def __init__(
        self, path: Path | str, problem: str, *, line: int | None = None, column: int | None = None
    ) -> None:
        self.path, self.problem, self.line, self.column = Path(path), problem, line, column
        where = str(path)
        if line is not None:
            where += f", line {line}"
            if column is not None:
                where += f", column {column}"
        super().__init__(f"{where}: {problem}")


class CalibrationError(PlannerError):
    """A fit that failed; it gives no result."""


class ConvergenceError(PlannerError):
    """An iteration that did not converge.

    Parameters
    ----------
    what : str
        The iteration, in the user's words.
    residual : float
        Residual at the last iteration; dimensionless unless `what` says otherwise.
    iterations : int
        Number of iterations.
    """

    def __init__(self, what: str, residual: float, iterations: int) -> None:
        self.what, self.residual, self.iterations = what, residual, iterations
        known = f": residual {residual:.3g}" if residual < float("inf") else ""
        super().__init__(f"{what} did not converge{known} after {iterations} iterations")


class InfeasibleError(PlannerError):
    """A question that has no answer; the message says what is missing."""

    exit_code = 1


class MissingExtraError(PlannerError, ImportError):
    """An optional package is not installed; the message gives the command that installs it.

    Parameters
    ----------
    package : str
        The package.
    extra : str
        The extra of this distribution that includes it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'zvm-planner[{extra}]'")
