"""Measured runs to the parameters of volume and pool: least squares in logarithms with weak stated priors.

Every run speaks by its total rate, its mean service time and its summed queue. Rates and service times are compared
in logarithms; the queue in I/Os, with the model error taken of all I/Os present. One run that does not belong to
the others is looked for and named; it stays in the report and out of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from planner import library, render
from planner.devices import Performance, Pool, VolumeClass
from planner.devices.parameters import INFLATION, REDRIVE_TIME, SERVICE_TIME, THINK_TIME, Parameter
from planner.errors import CalibrationError, ConvergenceError, InputError
from planner.measurements import Run
from planner.results import Array
from planner.units import MILLISECOND

MODEL_ERROR: Final = (
    0.02  # floor of the relative error of the law, where it is asked what it was not fitted to
)
OUTLIER_CHI_SQUARE: Final = 25.0  # drop of chi-square, left out, from which a run is called an outlier
RUNS_FOR_OUTLIER: Final = 3  # with two, either could be the one that does not belong
PARAMETERS: Final[tuple[Parameter, ...]] = (SERVICE_TIME, THINK_TIME, INFLATION, REDRIVE_TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Log-normal prior of a parameter.

    Attributes
    ----------
    median : float
        Median; of a time in units of the service time.
    spread : float
        Standard deviation of the logarithm.
    """

    median: float
    spread: float


PRIORS: Final[Mapping[str, Prior]] = {
    "inflation": Prior(median=0.12, spread=1.0),
    "redrive_time": Prior(median=0.05, spread=1.0),
    "think_time": Prior(median=0.12, spread=1.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A fitted parameter.

    Attributes
    ----------
    parameter : Parameter
        What was fitted.
    value : float
        Estimate, SI.
    relative_error : float
        Standard error of its logarithm; 0 where it was fixed.
    """

    parameter: Parameter
    value: float
    relative_error: float

    @property
    def standard_error(self) -> float:
        """Standard error in the parameter's own unit."""
        return self.value * self.relative_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measured number beside what the law says.

    Attributes
    ----------
    run : str
        The run, as `run_name` names it.
    figure : str
        "log io_rate" and "log service" (natural logarithms of [1/s] and [s]), or "queued" [I/Os].
    measured, predicted : float
        Both sides.
    sigma : float
        Standard deviation that gave the measurement its weight.
    """

    run: str
    figure: str
    measured: float
    predicted: float
    sigma: float

    def natural(self) -> tuple[str, float, float]:
        """Both sides in the units of a listing.

        Returns
        -------
        tuple
            Name with unit suffix, measured, predicted.
        """
        if self.figure == "log io_rate":
            return "io_rate", math.exp(self.measured), math.exp(self.predicted)
        if self.figure == "log service":
            return "service_ms", math.exp(self.measured) / MILLISECOND, math.exp(self.predicted) / MILLISECOND
        return self.figure, self.measured, self.predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A law fitted to runs.

    Attributes
    ----------
    population : int
        Requesters a volume that the fit assumed.
    estimates : dict
        Estimates by parameter key.
    comparisons : tuple of Comparison
        Every measurement beside the law, outliers included.
    chi_square : float
        Sum of the squared residuals of runs and priors that were fitted.
    outliers : tuple of str
        Runs that were left out, named as in `comparisons`.
    """

    population: int
    estimates: dict[str, Estimate]
    comparisons: tuple[Comparison, ...]
    chi_square: float
    outliers: tuple[str, ...] = ()

    def value(self, key: str) -> float:
        """Fitted value of a parameter.

        Parameters
        ----------
        key : str
            Parameter key.

        Returns
        -------
        float
            Value in SI units.
        """
        return self.estimates[key].value

    def text(self) -> str:
        """Parameters with their errors, and every measurement beside the law.

        Returns
        -------
        str
            Two tables.
        """
        found = list(self.estimates.values())
        parameters = render.Table(
            columns=(
                render.Column(name="parameter", unit="", values=[e.parameter.file_key for e in found]),
                render.Column(name="value", unit="", values=[f"{e.value:.4g}" for e in found]),
                render.Column(name="+/-", unit="", values=[f"{e.standard_error:.2g}" for e in found]),
                render.Column(name="%", unit="", values=[100 * e.relative_error for e in found], decimals=1),
            )
        )  # fmt: skip
        shown = [comparison.natural() for comparison in self.comparisons]
        residuals = render.Table(
            columns=(
                render.Column(name="run", unit="", values=[c.run for c in self.comparisons]),
                render.Column(name="quantity", unit="", values=[name for name, _, _ in shown]),
                render.Column(name="measured", unit="", values=[f"{measured:.4g}" for _, measured, _ in shown]),
                render.Column(name="law", unit="", values=[f"{predicted:.4g}" for _, _, predicted in shown]),
                render.Column(name="off by", unit="sigma", decimals=1,
                              values=[(c.predicted - c.measured) / c.sigma for c in self.comparisons]),
            ),
            marks=tuple("in use" if c.run in self.outliers else "" for c in self.comparisons),
        )  # fmt: skip
        lines = [
            f"{self.population} requesters a volume",
            render.to_text(parameters),
            "",
            render.to_text(residuals),
        ]
        if self.outliers:
            lines.append(f"* outlier, not fitted: {', '.join(self.outliers)}")
        return "\n".join(lines)


def fit(
    runs: Sequence[Run],
    *,
    population: int,
    fixed: Mapping[str, float] | None = None,
    priors: Mapping[str, Prior] = PRIORS,
    find_outlier: bool = True,
) -> Fit:
    """Fit service time, think time, inflation and redrive gap of one law to runs of volumes and pools.

    Parameters
    ----------
    runs : sequence of Run
        Measurements of volumes and pools that share the parameters.
    population : int
        Requesters a volume, N.
    fixed : mapping, optional
        Parameters that are known, SI, by name.
    priors : mapping, optional
        Weak priors of the others.
    find_outlier : bool, optional
        Whether one run may be named and left out, if there are three or more.

    Returns
    -------
    Fit
        Estimates with standard errors and all residuals.

    Raises
    ------
    InputError
        No runs.
    CalibrationError
        The fit did not converge.
    """
    if not runs:
        raise InputError("runs", 0, "at least one measurement")
    known = dict(fixed or {})
    whole = _fit(runs, (), population, known, priors)
    if not find_outlier or len(runs) < RUNS_FOR_OUTLIER:
        return whole
    # Chi-square is compared without the residuals of the run itself: what the others gain by its absence.
    candidates = [(_fit(runs, (k,), population, known, priors), k) for k in range(len(runs))]
    best, _ = min(candidates, key=lambda item: item[0].chi_square)
    return best if whole.chi_square - best.chi_square > OUTLIER_CHI_SQUARE else whole


def _fit(
    runs: Sequence[Run], left_out: tuple[int, ...], population: int, fixed: Mapping[str, float],
    priors: Mapping[str, Prior],
) -> Fit:  # fmt: skip
    """Fit without the runs in `left_out`; they are still compared."""
    from scipy.optimize import least_squares

    free = [parameter for parameter in PARAMETERS if parameter.key not in fixed]
    used = [run for k, run in enumerate(runs) if k not in left_out]
    scale = float(np.median([run.service for run in used]))
    start = {"service_time": scale, **{key: prior.median * (1.0 if key == "inflation" else scale)
                                       for key, prior in priors.items()}}  # fmt: skip

    def values(logs: Array) -> dict[str, float]:
        return {**fixed, **{p.key: math.exp(x) for p, x in zip(free, logs, strict=True)}}

    def residuals(logs: Array) -> Array:
        at = values(logs)
        rows = [(c.predicted - c.measured) / c.sigma for run in used for c in compare(run, at, population)]
        weak = [
            (math.log(at[key] / (1.0 if key == "inflation" else at["service_time"]) / prior.median))
            / prior.spread
            for key, prior in priors.items()
            if key not in fixed
        ]
        return np.array(rows + weak)

    try:
        solution = least_squares(
            residuals,
            [math.log(start[p.key]) for p in free],
            bounds=([math.log(p.low) for p in free], [math.log(p.high) for p in free]),
            x_scale=0.1,
            diff_step=[1e-4] * len(free),
        )
    except ConvergenceError as error:
        raise CalibrationError(f"the law could not be solved while fitting: {error}") from error
    if not solution.success:
        raise CalibrationError(f"least squares did not converge: {solution.message}")
    jacobian = np.asarray(solution.jac, dtype=np.float64)
    covariance = np.linalg.pinv(jacobian.T @ jacobian)
    at = values(solution.x)
    estimates = {
        p.key: Estimate(parameter=p, value=at[p.key], relative_error=float(math.sqrt(covariance[k, k])))
        for k, p in enumerate(free)
    }
    for parameter in PARAMETERS:
        if parameter.key in fixed:
            estimates[parameter.key] = Estimate(
                parameter=parameter, value=at[parameter.key], relative_error=0.0
            )
    return Fit(
        population=population,
        estimates=estimates,
        comparisons=tuple(c for run in runs for c in compare(run, at, population)),
        chi_square=float(solution.fun @ solution.fun),
        outliers=tuple(run_name(runs[k]) for k in left_out),
    )


def run_name(run: Run) -> str:
    """Name a run so that runs of one system can be told apart.

    Parameters
    ----------
    run : Run
        A measurement.

    Returns
    -------
    str
        Source, system and aliases in use.
    """
    return " ".join(filter(None, (run.source, run.name, f"+{run.aliases}")))


def predict(run: Run, values: Mapping[str, float], population: int) -> Performance:
    """Ask the law for the totals of a run.

    Parameters
    ----------
    run : Run
        Says how many volumes share how many aliases.
    values : mapping
        service_time [s], think_time [s], inflation, redrive_time [s].
    population : int
        Requesters a volume.

    Returns
    -------
    Performance
        Shape (1,).
    """
    demand = VolumeClass(volumes=run.bases, population=population, think_time=values["think_time"])
    pool = Pool(
        classes=(demand,),
        service_time=values["service_time"],
        inflation=values["inflation"],
        redrive_time=values["redrive_time"],
    )
    return pool.solve([run.aliases])


def compare(run: Run, values: Mapping[str, float], population: int) -> list[Comparison]:
    """Rate [1/s] and service time [s] (logarithms), and queue [I/Os], measured and predicted.

    Parameters
    ----------
    run : Run
        The measurement.
    values : mapping
        Parameters as for `predict`.
    population : int
        Requesters a volume.

    Returns
    -------
    list of Comparison
        Three; measured, predicted and sigma of the first two are natural logarithms.
    """
    guess = predict(run, values, population)
    rates = [part.io_rate for part in run.classes]
    half_rate = sum(rate.high - rate.low for rate in rates) / 2
    half_service = max(part.service.high - part.service.value for part in run.classes)
    half_queue = sum(part.queued.high - part.queued.low for part in run.classes) / 2
    present = run.io_rate * run.service + run.queued
    pairs = (
        ("log io_rate", math.log(run.io_rate), math.log(guess.io_rate[0]), half_rate / run.io_rate, MODEL_ERROR),
        ("log service", math.log(run.service), math.log(guess.service_time[0]), half_service / run.service,
         MODEL_ERROR),
        ("queued", run.queued, float(guess.queued[0]), half_queue, MODEL_ERROR * present),
    )  # fmt: skip
    return [
        Comparison(run=run_name(run), figure=figure, measured=measured, predicted=predicted,
                   sigma=math.hypot(half / math.sqrt(3), model))
        for figure, measured, predicted, half, model in pairs
    ]  # fmt: skip


def to_model(
    found: Fit, *, kind: str, title: str, files: Sequence[Path], runs: Sequence[Run]
) -> library.Model:
    """Turn a fit into what a model file holds.

    Parameters
    ----------
    found : Fit
        The fit.
    kind : str
        Device kind.
    title : str
        What was measured, in words.
    files : sequence of Path
        The measurements.
    runs : sequence of Run
        What was read from them; they bound the validity.

    Returns
    -------
    library.Model
        Ready to be written.

    Raises
    ------
    ReportError
        A file cannot be read.
    """
    rows = []
    for comparison in found.comparisons:
        quantity, measured, predicted = comparison.natural()
        sigma = comparison.sigma * (measured if comparison.figure.startswith("log") else 1.0)
        rows.append(library.Run(name=comparison.run, quantity=quantity, measured=_rounded(measured),
                                predicted=_rounded(predicted), sigma=_rounded(sigma)))  # fmt: skip
    counts = [run.aliases for run in runs]
    bases = [run.bases for run in runs]
    return library.Model(
        kind=kind,
        title=title or ", ".join(path.stem for path in files),
        source=tuple(library.Source(file=_shelf_name(path), sha256=library.sha256(path)) for path in files),
        population=found.population,
        parameters={
            estimate.parameter.file_key: library.Parameter(
                value=_rounded(estimate.value),
                standard_error=_rounded(estimate.standard_error),
                status="fitted" if estimate.relative_error > 0 else "fixed",
            )
            for estimate in found.estimates.values()
        },
        fit=library.Fit(runs=tuple(rows), model_error=MODEL_ERROR, outliers=found.outliers),
        validity={
            "aliases": (float(min(counts)), float(max(counts))),
            "volumes": (float(min(bases)), float(max(bases))),
        },
    )


def _rounded(value: float) -> float:
    """Six significant digits: what a fit can mean, and the same on every machine."""
    return float(f"{value:.6g}")


def _shelf_name(path: Path) -> str:
    """Name of a file as seen from data/, or its own name where it lies elsewhere."""
    shelf = library.data_path()
    resolved = path.resolve()
    return resolved.relative_to(shelf).as_posix() if resolved.is_relative_to(shelf) else path.name
