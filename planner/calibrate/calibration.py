"""Calibrations as answers: parameters with their errors, all residuals, the outlier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final

import numpy as np

from planner import library, render, units
from planner.answer import Answer, tabled
from planner.calibrate.error_bar import PROBABILITY
from planner.calibrate.least_squares import Comparison
from planner.calibrate.posterior import PosteriorSample
from planner.calibrate.problem import Observation
from planner.errors import InputError
from planner.library import Status
from planner.quantity import Quantity, column
from planner.render.text import from_to
from planner.results import Array
from planner.units import MILLISECOND, ends, percent, readable

ESTIMATES: Final = (
    column("parameter", of=lambda each: each.parameter.file_key), column("value"), column("standard_error"),
    column("error", "percent", of=lambda each: each.percent), *map(column, ("low", "high", "start", "status")),
)  # fmt: skip


RESIDUALS: Final = (
    *map(column, ("run", "quantity", "measured")), column("law", label="predicted", of="predicted"),
    column("off by_sigma", of="off_by"),
)  # fmt: skip
SHOWN: Final = (
    *map(column, ("run", "quantity")), column("measured", of=lambda each: readable(each.measured)),
    column("law", label="predicted", of=lambda each: readable(each.predicted)),
    column("off by_sigma", "sigma", "off by", 1, of="off_by"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A `parameter` of a calibrated model and its `value`, SI (a typical one where the data do not determine it).

    `standard_error` is 0 where it was fixed; `status` is "fitted", "fixed", "not determined" or "at its bound"; `start`
    is the initial value. `low` and `high` are the ends of the 90 % interval, None where it is open or not computed.
    """

    parameter: Quantity
    value: float
    standard_error: float
    status: Status
    start: float
    low: float | None
    high: float | None

    @property
    def percent(self) -> float | None:
        """Standard error in percent of the value; None where the value is zero."""
        return 100 * self.standard_error / self.value if self.value else None

    def cells(self) -> tuple[str, ...]:
        """Value, standard error (also in percent), ends of the 90 % interval and initial value, as text."""
        unit, factor = units.shown(self.parameter.unit)
        behind = f" {unit}" if unit else ""
        start = readable(self.start / factor)
        known = (self.value if end is None else end for end in (self.low, self.value, self.high))
        low, value, high = ends(end / factor for end in known)
        if self.status == "fixed":
            return f"{value}{behind}", "", "", "", "", start
        low, high = "open" if self.low is None else low, "open" if self.high is None else high
        share = "" if self.percent is None else readable(self.percent, 1)
        return f"{value}{behind}", readable(self.standard_error / factor, digits=2), share, low, high, start


def given(parameter: Quantity, value: float) -> Estimate:
    """Make the estimate of a parameter that is known, not fitted."""
    return Estimate(parameter, value, 0.0, "fixed", value, value, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Answer):
    """A model fitted to measurements.

    `estimates` and their `correlation` are keyed by parameter; `comparisons` has every measurement and its prediction;
    `model_error` is the relative standard deviation of the model, `degrees` the degrees of freedom of its estimate;
    `degrees_left` are the figures less the parameters that they determine.
    """

    PICTURE: ClassVar[str] = "planner.calibrate.picture:draw_costs"

    estimates: dict[str, Estimate]
    comparisons: tuple[Comparison, ...]
    model_error: float
    degrees: float
    degrees_left: float
    correlation: dict[tuple[str, str], float]

    @property
    def outliers(self) -> tuple[str, ...]:
        """Names of the runs that were left out."""
        return ()

    @property
    def error_assumed(self) -> bool:
        """Whether as good as no figure is left to show the model error."""
        return self.degrees_left < 0.5  # noqa: PLR2004

    def value(self, key: str) -> float:
        """Fitted value of a parameter."""
        return self.estimates[key].value

    def table(self) -> render.Table:
        """One row per parameter, as numbers."""
        return tabled(self.estimates.values(), ESTIMATES)

    def sections(self) -> tuple[render.Section, ...]:
        """Parameters for people, and every measurement with its prediction."""
        labels = ("value", "std. error", "%", "from", "to", "start")
        rows = ((each.parameter.file_key, *each.cells(), each.status) for each in self.estimates.values())
        parameters = tabled(rows, map(column, ("parameter", *labels, "status")))
        return (
            render.Section(table=parameters, caption="std. error: standard error; from, to: 90 %."),
            render.Section(table=self._residuals(SHOWN)),
        )

    def _residuals(self, columns: Iterable[Quantity]) -> render.Table:
        marks = ("outlier" if each.run in self.outliers else "" for each in self.comparisons)
        return tabled(self.comparisons, columns, marks)

    def residual_table(self) -> render.Table:
        """One row per measured number, in its own unit, marked where the run was left out; for programs."""
        return self._residuals(RESIDUALS)

    @property
    def headline(self) -> str:
        """How well the model fits the measurements."""
        return (
            f"{render.counted(len(self.estimates), 'parameter')}, {render.counted(len(self.comparisons), 'figure')}: "
            f"model error {percent(self.model_error)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the tables do not say."""
        known = library.ASSUMED if self.error_assumed else "Model error {}; intervals hold 90 %."
        lines = [known.format(percent(self.model_error))]
        unknown = [each.parameter.key for each in self.estimates.values() if each.status == "not determined"]
        if unknown:
            lines.append(
                f"Not determined by these data: {', '.join(unknown)}; kept at what the table shows. The intervals of "
                "predictions allow for others."
            )
        for (one, other), value in self.strong_correlations().items():
            lines.append(f"{one} and {other} are correlated: {readable(value)}.")
        return tuple(lines)

    def strong_correlations(self, strong: float = 0.9) -> dict[tuple[str, str], float]:
        """Pairs of parameters that the data hardly distinguish."""
        return {pair: value for pair, value in self.correlation.items() if abs(value) > strong}

    def plain_figures(self) -> dict[str, Any]:
        """Parameters and residuals; an open end of an interval is None."""
        keys = ("value", "standard_error", "percent", "low", "high", "start", "status")
        return {
            "parameters": {
                e.parameter.file_key: {k: getattr(e, k) for k in keys} for e in self.estimates.values()
            },
            "residuals": [asdict(each) for each in self.comparisons],
            "model_error": self.model_error,
            "degrees_of_freedom": self.degrees,
            "correlations": [
                {"parameters": list(pair), "correlation": r} for pair, r in self.strong_correlations().items()
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """The `run` without which chi-square falls by `drop`, by `gap` more than without the `second` candidate."""

    run: str
    drop: float
    gap: float
    second: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit(Calibration):
    """A model fitted to runs of volumes and pools.

    `population` is the number of requesters per volume, given or likeliest; `population_status` says which, or "not
    determined". `chi_square` sums the squared residuals of the fitted runs and priors; compare it with `degrees_left`.
    `posterior` is the posterior sample, None where not requested. `observations` are the runs in the order of
    `comparisons`, including the `outlier` that was left out. `saturated`: all devices were busy in every run, so that
    the runs show the capacity of the devices, not the demand. `model` can be written to a file and asked.
    """

    PICTURE: ClassVar[str] = "planner.calibrate.picture:draw_fit"

    population: int
    population_status: Status
    chi_square: float
    posterior: PosteriorSample | None
    outlier: Outlier | None
    saturated: bool
    observations: tuple[Observation, ...]
    model: library.Model | None = None

    @property
    def outliers(self) -> tuple[str, ...]:
        """Names of the runs that were left out."""
        return () if self.outlier is None else (self.outlier.run,)

    @property
    def unbounded(self) -> bool:
        """Whether the demand on more devices has no upper bound, such as a known number of requesters."""
        return self.saturated and self.population_status == "not determined"

    @property
    def populations(self) -> dict[int, float]:
        """Probability of each number of requesters, the likeliest first."""
        if self.posterior is None:
            return {self.population: 1.0}
        return {each.population: each.weight for each in self.posterior.components}

    def population_interval(self) -> tuple[float, float | None]:
        """Requesters of a volume, 90 %."""
        if self.population_status == "fixed" or self.posterior is None:
            known = [run.population or self.population for run in self.observations]
            return min(known), max(known)
        low, high = self.posterior.interval("population", PROBABILITY)
        return low, None if self.population_status == "not determined" else high

    @property
    def notes(self) -> tuple[str, ...]:
        """What the tables do not say."""
        first, *others = super(Fit, self).notes
        fitted = sum(each.run not in self.outliers for each in self.comparisons)
        lines = [
            first,
            f"Chi-square {readable(self.chi_square)} at {readable(self.degrees_left)} degrees of freedom: "
            f"{render.counted(fitted, 'figure')} less those that the parameters use up.",
        ]
        if self.outlier is not None:
            lines.append(
                f"! outlier, not fitted: {self.outlier.run}: without it chi-square falls by "
                f"{readable(self.outlier.drop)}; the next candidate, {self.outlier.second}, is "
                f"{readable(self.outlier.gap)} behind."
            )
        if self.saturated:
            demand = "not the demand; predictions for more devices have no upper end."
            if not self.unbounded:
                demand = "and the demand on more devices follows from the number of requesters alone."
            lines.append(f"All devices were busy in every run: the runs show their capacity, {demand}")
        return (*lines, *others, *dict.fromkeys(note for run in self.observations for note in run.notes))

    @property
    def headline(self) -> str:
        """Requesters of a volume (given or estimated), service time and model error."""
        service, unit = self.estimates["service_time"], MILLISECOND
        low, value, high = ends((end or 0.0) / unit for end in (service.low, service.value, service.high))
        known = service.low is not None and service.high is not None and service.status != "fixed"
        span = f" ({low} to {high}, 90 %)" if known else ""
        return f"{self._requesters()}; service {value} ms{span}; model error {percent(self.model_error)}."

    def _requesters(self, likely: float = 0.05) -> str:
        """Requesters of a volume, with all numbers whose probability is at least `likely`."""
        if self.population_status == "fixed":
            low, high = map(str, self.population_interval())
            return f"{from_to(low, high)} {'requester' if high == '1' else 'requesters'} a volume (given)"
        others = [f"{n} ({percent(share)})" for n, share in self.populations.items() if share >= likely]
        doubt = " or more, not determined" if self.population_status == "not determined" else ""
        probable = f" (likely: {', '.join(others)})" if len(others) > 1 else ""
        return f"About {render.counted(self.population, 'requester')} a volume{doubt}{probable}"

    def plain_figures(self) -> dict[str, Any]:
        """The population as well; an open end of an interval is None."""
        low, high = self.population_interval()
        return {
            "population": {
                "value": self.population, "status": self.population_status, "low": low, "high": high,
                "probability": {str(n): share for n, share in self.populations.items()},
            },
            **Calibration.plain_figures(self),
            "chi_square": self.chi_square,
            "chi_square_degrees": self.degrees_left,
            "saturated": self.saturated,
            "outlier": None if self.outlier is None else {
                "run": self.outlier.run, "chi_square_drop": self.outlier.drop, "chi_square_gap": self.outlier.gap,
                "second_candidate": self.outlier.second,
            },
        }  # fmt: skip


def known_parameters(parameters: Sequence[Quantity], fixed: Mapping[str, float] | None) -> dict[str, float]:
    """Check the known parameters of a fit."""
    bounds = {parameter.key: parameter for parameter in parameters}
    for key, value in (fixed or {}).items():
        InputError.unless_one_of("fix", key, bounds)
        least = 0.0 if bounds[key].zero else bounds[key].low
        if not least <= value <= bounds[key].high:
            raise InputError(key, value, f"{least:g} to {bounds[key].high:g}", bounds[key].unit)
    if fixed and len(fixed) == len(bounds):
        raise InputError("fix", ", ".join(bounds), "at least one parameter left to fit")
    return dict(fixed or {})


def correlations(keys: Sequence[str], covariance: Array) -> dict[tuple[str, str], float]:
    """Correlation of each pair of parameters, from their covariance."""
    error = np.sqrt(np.diag(covariance))
    pairs = ((i, j) for i in range(len(keys)) for j in range(i))
    return {(keys[i], keys[j]): float(covariance[i, j] / (error[i] * error[j])) for i, j in pairs}
