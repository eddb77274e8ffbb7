"""What a fit of volumes and pools found beside its parameters: requesters, what else is possible, an outlier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from planner import library, render
from planner.calibrate.calibration import Calibration, readable
from planner.calibrate.observation import Observation
from planner.calibrate.spread import Spread
from planner.library import Status
from planner.units import MILLISECOND

PROBABILITY: Final = 0.9
LIKELY: Final = 0.05  # share from which a number of requesters is mentioned


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
class Fit(Calibration):
    """A law fitted to runs of volumes and pools.

    Attributes
    ----------
    population : int
        Requesters a volume, given or likeliest.
    population_status : str
        "fixed", "fitted" or "not determined".
    chi_square : float
        Sum of the squared residuals of runs and priors that were fitted.
    spread : Spread or None
        What else the data allow; None where it was not asked for.
    outlier : Outlier or None
        The run that was left out.
    saturated : bool
        Whether all devices were busy in every run: the runs tell what the devices carry, not how much is asked.
    observations : tuple of Observation
        The runs, the outlier included, in the order of `comparisons`.
    degrees_left : float
        Fitted figures less what the parameters took of them: what `chi_square` is to be held against.
    model : planner.library.Model or None
        What can be written and asked; None where only the fit was asked for.
    """

    PICTURE: ClassVar[str] = "planner.calibrate.picture:draw_fit"

    population: int
    population_status: Status
    chi_square: float
    spread: Spread | None
    outlier: Outlier | None
    saturated: bool
    observations: tuple[Observation, ...] = ()
    degrees_left: float = 0.0
    model: library.Model | None = None

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

    def population_interval(self) -> tuple[float, float | None]:
        """Requesters of a volume, 90 %."""
        if self.population_status == "fixed" or self.spread is None:
            return self.population, self.population
        low, high = self.spread.interval("population", PROBABILITY)
        return low, None if self.population_status == "not determined" else high

    @property
    def notes(self) -> tuple[str, ...]:
        """What the tables do not say."""
        first, *others = super(Fit, self).notes
        fitted = sum(each.run not in self.outliers for each in self.comparisons)
        lines = [
            first,
            f"Chi-square {self.chi_square:.1f} at {self.degrees_left:.1f} degrees of freedom: "
            f"{render.counted(fitted, 'figure')} less what the parameters took of them.",
        ]
        if self.outlier is not None:
            lines.append(
                f"! outlier, not fitted: {self.outlier.run}: without it chi-square falls by {self.outlier.drop:.0f}; "
                f"the next candidate, {self.outlier.second}, is {self.outlier.gap:.1f} behind."
            )
        if self.saturated:
            lines.append(
                "All devices were busy in every run: the runs tell what the devices carry, not how much is asked of "
                "them; predictions for more devices have no upper end."
            )
        return (*lines, *others)

    @property
    def headline(self) -> str:
        """Requesters of a volume, given or estimated, their service time, how well the law meets the runs."""
        service, unit = self.estimates["service_time"], MILLISECOND
        ends = "" if service.low is None or service.high is None or service.status == "fixed" else (
            f" ({readable(service.low / unit)} to {readable(service.high / unit)}, 90 %)"
        )  # fmt: skip
        return (
            f"{self._requesters()}; service {readable(service.value / unit)} ms{ends}; model error "
            f"{self.model_error:.1%}."
        )

    def _requesters(self) -> str:
        if self.population_status == "fixed":
            return f"{self.population} requesters a volume (given)"
        others = [f"{n} ({share:.0%})" for n, share in self.populations.items() if share >= LIKELY]
        doubt = " or more, not determined" if self.population_status == "not determined" else ""
        likely = f" (likely: {', '.join(others)})" if len(others) > 1 or doubt else ""
        return f"About {self.population} requesters a volume{doubt}{likely}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; an open end of an interval is None."""
        low, high = self.population_interval()
        return {
            "population": {
                "value": self.population,
                "status": self.population_status,
                "low": low,
                "high": high,
                "probability": {str(n): share for n, share in self.populations.items()},
            },
            **Calibration.to_dict(self),
            "chi_square": self.chi_square,
            "chi_square_degrees": self.degrees_left,
            "saturated": self.saturated,
            "outlier": None if self.outlier is None else {
                "run": self.outlier.run, "chi_square_drop": self.outlier.drop, "chi_square_gap": self.outlier.gap,
                "second_candidate": self.outlier.second,
            },
        }  # fmt: skip
