"""What a fit found: parameters with their errors, residuals, an outlier; as text, data and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from planner import render
from planner.calibrate.observation import shown
from planner.calibrate.spread import Spread
from planner.devices.parameters import Parameter
from planner.library import Status

STRONG_CORRELATION: Final = 0.9
LIKELY: Final = 0.05  # share from which a number of requesters is mentioned


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A fitted parameter.

    Attributes
    ----------
    parameter : Parameter
        What was fitted.
    value : float
        Estimate, SI; the median of the prior where the data say nothing.
    relative_error : float
        Standard error of its logarithm; 0 where it was fixed.
    status : str
        "fitted", "fixed", "not determined" or "at its bound".
    start : float
        Where a search began, SI.
    low, high : float or None
        Ends of the 90 % interval, SI; None where it is open, or was not worked out.
    """

    parameter: Parameter
    value: float
    relative_error: float
    status: Status
    start: float
    low: float | None
    high: float | None

    @property
    def standard_error(self) -> float:
        """Standard error in the parameter's own unit."""
        return self.value * self.relative_error

    def errors(self) -> tuple[str, str, str, str]:
        """Standard error, the same in percent, and both ends of the interval, as people read them.

        Returns
        -------
        tuple of str
            Four cells of a table.
        """
        low, high = ("open" if end is None else f"{end:.3g}" for end in (self.low, self.high))
        return f"{self.standard_error:.2g}", f"{100 * self.relative_error:.1f}", low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measured number beside what the law says.

    Attributes
    ----------
    run : str
        Name of the run.
    figure : str
        "io_rate" [1/s], "service_time", "response_time" or "wait_time" [s], or "queued" [I/Os].
    measured, predicted : float
        Both sides.
    sigma : float
        Standard deviation that gave the measurement its weight, in the same unit.
    off_by : float
        What the law says beyond the measurement, in standard deviations on the scale of the fit.
    """

    run: str
    figure: str
    measured: float
    predicted: float
    sigma: float
    off_by: float

    def natural(self) -> tuple[str, float, float, float]:
        """Both sides in the units of a listing.

        Returns
        -------
        tuple
            Name with unit suffix, measured, predicted, sigma.
        """
        name, measured = shown(self.figure, self.measured)
        return name, measured, shown(self.figure, self.predicted)[1], shown(self.figure, self.sigma)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """The run that does not belong to the others.

    Attributes
    ----------
    run : str
        Its name.
    drop : float
        By how much chi-square falls without it.
    gap : float
        Chi-square without the second candidate less chi-square without this one.
    second : str
        The run that comes next.
    """

    run: str
    drop: float
    gap: float
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A law fitted to runs.

    Attributes
    ----------
    population : int
        Requesters a volume, given or likeliest.
    population_status : str
        "fixed", "fitted" or "not determined".
    estimates : dict
        Estimates by parameter key.
    comparisons : tuple of Comparison
        Every measurement beside the law, the outlier included.
    chi_square : float
        Sum of the squared residuals of runs and priors that were fitted.
    model_error : float
        Relative standard deviation of the law.
    degrees : float
        Degrees of freedom of its estimate.
    correlation : dict
        Correlation of the logarithms of two parameters.
    spread : Spread or None
        What else the data allow; None where it was not asked for.
    outlier : Outlier or None
        The run that was left out.
    """

    population: int
    population_status: Status
    estimates: dict[str, Estimate]
    comparisons: tuple[Comparison, ...]
    chi_square: float
    model_error: float
    degrees: float
    correlation: dict[tuple[str, str], float]
    spread: Spread | None
    outlier: Outlier | None

    @property
    def outliers(self) -> tuple[str, ...]:
        """Names of the runs that were left out."""
        return () if self.outlier is None else (self.outlier.run,)

    @property
    def populations(self) -> dict[int, float]:
        """Probability of each number of requesters, the likeliest first."""
        if self.spread is None:
            return {self.population: 1.0}
        return {each.population: each.weight for each in self.spread.components}

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

    def parameter_table(self) -> render.Table:
        """One row a parameter.

        Returns
        -------
        render.Table
            Values in SI units, as a model file has them.
        """
        heads = ("parameter", "value", "+/-", "%", "from", "to", "start", "")
        rows = [
            (
                each.parameter.file_key,
                f"{each.value:.4g}",
                *(("",) * 4 if each.status == "fixed" else each.errors()),
                f"{each.start:.3g}",
                each.status,
            )
            for each in self.estimates.values()
        ]
        columns = zip(heads, zip(*rows, strict=True), strict=True)
        return render.Table(columns=tuple(render.Column(name=n, unit="", values=v) for n, v in columns))

    def residual_table(self) -> render.Table:
        """One row a measured number, marked where the run was left out.

        Returns
        -------
        render.Table
            In the units of a listing.
        """
        rows = [each.natural() for each in self.comparisons]
        return render.Table(
            columns=(
                render.Column(name="run", unit="", values=[each.run for each in self.comparisons]),
                render.Column(name="quantity", unit="", values=[name for name, *_ in rows]),
                render.Column(name="measured", unit="", values=[f"{measured:.4g}" for _, measured, *_ in rows]),
                render.Column(name="law", unit="", values=[f"{predicted:.4g}" for *_, predicted, _ in rows]),
                render.Column(name="off by", unit="sigma", decimals=1,
                              values=[each.off_by for each in self.comparisons]),
            ),
            marks=tuple("in use" if each.run in self.outliers else "" for each in self.comparisons),
        )  # fmt: skip

    def notes(self) -> list[str]:
        """What the tables do not say.

        Returns
        -------
        list of str
            Sentences.
        """
        lines = [f"model error {self.model_error:.1%}; intervals hold 90 %"]
        if self.outlier is not None:
            lines.append(
                f"* outlier, not fitted: {self.outlier.run}: without it chi-square falls by {self.outlier.drop:.0f}; "
                f"the next candidate, {self.outlier.second}, is {self.outlier.gap:.1f} behind"
            )
        open_ones = [
            each.parameter.key for each in self.estimates.values() if each.status == "not determined"
        ]
        if open_ones:
            lines.append(
                f"not determined by these data: {', '.join(open_ones)}; kept at what is believed of such devices, and "
                "all that is possible counts in the intervals of predictions"
            )
        for (one, other), value in self.correlation.items():
            if abs(value) > STRONG_CORRELATION:
                lines.append(f"{one} and {other} are correlated: {value:.2f}")
        return lines

    def headline(self) -> str:
        """Requesters of a volume, given or estimated.

        Returns
        -------
        str
            One line.
        """
        if self.population_status == "fixed":
            return f"{self.population} requesters a volume (given)"
        others = [f"{n} ({share:.0%})" for n, share in self.populations.items() if share >= LIKELY]
        doubt = ", not determined" if self.population_status == "not determined" else ""
        return f"about {self.population} requesters a volume{doubt}; likely: {', '.join(others)}"

    def text(self) -> str:
        """Parameters with their errors, and every measurement beside the law.

        Returns
        -------
        str
            Two tables and what to know of them.
        """
        tables = (render.to_text(self.parameter_table()), render.to_text(self.residual_table()))
        return "\n".join([self.headline(), *[f"{table}\n" for table in tables],
                          *[render.wrap(line) for line in self.notes()]])  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; an open end of an interval is None.

        Returns
        -------
        dict
            Parameters and residuals by name with unit suffix.
        """
        keys = ("run", "quantity", "measured", "predicted", "sigma", "off_by")
        return {
            "population": {
                "value": self.population,
                "status": self.population_status,
                "probability": {str(n): share for n, share in self.populations.items()},
            },
            "parameters": {
                each.parameter.file_key: {
                    "value": each.value, "standard_error": each.standard_error, "percent": 100 * each.relative_error,
                    "low": each.low, "high": each.high, "start": each.start, "status": each.status,
                }
                for each in self.estimates.values()
            },
            "residuals": [
                dict(zip(keys, (each.run, *each.natural(), each.off_by), strict=True))
                for each in self.comparisons
            ],
            "model_error": self.model_error,
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.degrees,
            "correlations": [
                {"parameters": list(pair), "correlation": value}
                for pair, value in self.correlation.items()
                if abs(value) > STRONG_CORRELATION
            ],
            "outlier": None if self.outlier is None else {
                "run": self.outlier.run, "chi_square_drop": self.outlier.drop, "chi_square_gap": self.outlier.gap,
                "second_candidate": self.outlier.second,
            },
        }  # fmt: skip

    def _repr_html_(self) -> str:
        tables = render.to_html(self.parameter_table()) + render.to_html(self.residual_table())
        return f"<p>{self.headline()}</p>{tables}" + "".join(f"<p>{line}</p>" for line in self.notes())
