"""Measured configurations to the scalability law of processors: least squares in logarithms of the CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from planner import library, render
from planner.calibrate.model_error import MODEL_ERROR
from planner.devices.processors import Configuration, Processors
from planner.devices.processors.law import COHERENCY, CONTENTION, CPU_TIME
from planner.errors import CalibrationError, InputError
from planner.results import Array
from planner.units import MILLISECOND

KIND: Final = "processors"
PARAMETERS: Final = (CPU_TIME, CONTENTION, COHERENCY)
FEWEST: Final = 3  # configurations, as many as parameters
NEAR: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorFit:
    """The scalability law fitted to configurations.

    Attributes
    ----------
    law : Processors
        Coefficients.
    errors : tuple of float or None
        Standard error of each, SI; None at a bound.
    configurations : tuple of Configuration
        What was measured.
    model_error : float
        Relative standard deviation of the CPU time, at least the floor.
    """

    law: Processors
    errors: tuple[float | None, ...]
    configurations: tuple[Configuration, ...]
    model_error: float

    def predicted(self) -> Array:
        """CPU time of a transaction of each configuration [s]."""
        return self.law.transaction_time([each.processors for each in self.configurations])

    def residual_table(self) -> render.Table:
        """One row a configuration.

        Returns
        -------
        render.Table
            CPU time of a transaction, measured and by the law.
        """
        predicted = self.predicted()
        measured = np.array([each.cpu_time for each in self.configurations])
        return render.Table(
            columns=(
                render.Column(name="run", unit="", values=[each.name for each in self.configurations]),
                render.Column(name="processors", unit="", values=[each.processors for each in self.configurations]),
                render.Column(name="measured_cpu", unit="ms", label="measured",
                              values=(measured / MILLISECOND).tolist()),
                render.Column(name="law_cpu", unit="ms", label="law", values=(predicted / MILLISECOND).tolist()),
                render.Column(name="off_by", unit="percent", label="off by", decimals=1,
                              values=(100 * (predicted / measured - 1)).tolist()),
            )
        )  # fmt: skip

    def text(self) -> str:
        """Coefficients with their errors, and every configuration beside the law.

        Returns
        -------
        str
            Lines.
        """
        values = (self.law.cpu_time, self.law.contention, self.law.coherency)
        lines = [
            f"{parameter.file_key} {value:.4g} " + ("at its bound" if error is None else f"+/- {error:.2g}")
            for parameter, value, error in zip(PARAMETERS, values, self.errors, strict=True)
        ]
        return "\n".join(
            [*lines, "", render.to_text(self.residual_table()), "", f"model error {self.model_error:.1%}"]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data.

        Returns
        -------
        dict
            Parameters, residuals and model error.
        """
        model = self.to_model(title="", source=())
        return {
            "parameters": {
                key: {"value": each.value, "standard_error": each.standard_error, "status": each.status}
                for key, each in model.parameters.items()
            },
            "residuals": self.residual_table().records(),
            "model_error": self.model_error,
        }

    def to_model(self, *, title: str, source: Sequence[library.Source]) -> library.Model:
        """Turn the fit into what a model file holds.

        Parameters
        ----------
        title : str
            What was measured, in words.
        source : sequence of library.Source
            The measurements.

        Returns
        -------
        library.Model
            Ready to be written.
        """
        values = (self.law.cpu_time, self.law.contention, self.law.coherency)
        rows = tuple(
            library.Run(name=each.name, quantity="cpu_ms", measured=_rounded(each.cpu_time / MILLISECOND),
                        predicted=_rounded(float(predicted) / MILLISECOND),
                        sigma=_rounded(self.model_error * each.cpu_time / MILLISECOND))
            for each, predicted in zip(self.configurations, self.predicted(), strict=True)
        )  # fmt: skip
        counts = [float(each.processors) for each in self.configurations]
        return library.Model(
            kind=KIND,
            title=title,
            source=tuple(source),
            parameters={
                parameter.file_key: library.Parameter(
                    value=_rounded(value), standard_error=None if error is None else _rounded(error),
                    status="at its bound" if error is None else "fitted",
                )
                for parameter, value, error in zip(PARAMETERS, values, self.errors, strict=True)
            },
            fit=library.Fit(runs=rows, model_error=_rounded(self.model_error)),
            validity={"processors": (min(counts), max(counts))},
        )  # fmt: skip


def fit_processors(configurations: Sequence[Configuration]) -> ProcessorFit:
    """Fit ``t(n) = t1 (1 + alpha (n - 1) + beta n (n - 1))`` to the CPU time of a transaction, in logarithms.

    Parameters
    ----------
    configurations : sequence of Configuration
        At least three different numbers of processors.

    Returns
    -------
    ProcessorFit
        Coefficients that are not negative.

    Raises
    ------
    InputError
        Too few configurations.
    CalibrationError
        The fit did not converge.

    References
    ----------
    N. J. Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31.
    """
    from scipy.optimize import least_squares

    rows = tuple(configurations)
    counts = np.array([each.processors for each in rows], dtype=np.float64)
    if len(set(counts.tolist())) < FEWEST:
        raise InputError(
            "configurations", counts.tolist(), f"at least {FEWEST} different numbers of processors"
        )
    logs = np.log([each.cpu_time for each in rows])

    def residuals(at: Array) -> Array:
        growth = 1 + at[1] * (counts - 1) + at[2] * counts * (counts - 1)
        return np.asarray(at[0] + np.log(growth) - logs)

    start = [float(logs.min()), 1e-2, 1e-4]
    bounds = ([-np.inf, 0, 0], [np.inf, 1, 1])
    found = least_squares(residuals, start, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    if not found.success:
        raise CalibrationError(f"least squares did not converge: {found.message}")
    at = np.where(found.x < NEAR, [*found.x[:1], 0.0, 0.0], found.x)
    inside = np.array([True, at[1] > 0, at[2] > 0])
    freedom = max(len(rows) - int(inside.sum()), 1)
    error = max(float(np.sqrt(found.fun @ found.fun / freedom)), MODEL_ERROR)
    slope = np.asarray(found.jac)[:, inside]
    spread = iter(error * np.sqrt(np.diag(np.linalg.pinv(slope.T @ slope))))
    errors = [float(next(spread)) if free else None for free in inside]
    first = float(np.exp(at[0]))
    return ProcessorFit(
        law=Processors(cpu_time=first, contention=float(at[1]), coherency=float(at[2])),
        errors=(None if errors[0] is None else first * errors[0], *errors[1:]),
        configurations=rows,
        model_error=error,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
