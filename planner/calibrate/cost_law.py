"""What goes into a fit of few costs, such as those of a disk, and what comes out; its least squares.

Residuals are differences of logarithms, weighted by the printed digits and by the error of the law. Costs are sought
plainly between their bounds. What the figures leave open is settled by conventions, which have next to no weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.calibration import Calibration, Estimate
from planner.calibrate.model_error import restricted_estimate
from planner.errors import CalibrationError
from planner.quantity import Quantity
from planner.results import Array

CONVENTION: Final = 1e-3  # weight of a convention, of a measured figure of 100 % error
WIDTH: Final = 1.0  # relative standard deviation of what the figures leave open
STEP: Final = 1e-6  # of the differences of the Jacobian
SEEN: Final = 1e-6  # of the largest singular value: from there on figures change
NEAR: Final = 1e-5  # of the scale of a parameter: at its bound


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """One measured figure.

    Attributes
    ----------
    run : str
        Its run.
    quantity : str
        What was measured, with the unit as a suffix.
    factor : float
        SI units in one of them.
    value, half : float
        Value, and half of what the printed digits leave open, SI.
    """

    run: str
    quantity: str
    factor: float
    value: float
    half: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLaw:
    """How figures follow from the parameters.

    Attributes
    ----------
    kind : str
        Device kind.
    parameters : tuple of Quantity
        What is fitted.
    start : tuple of float
        Where the search begins, SI, above zero.
    predict : callable
        From values by key to all figures in their order, SI.
    conventions : callable or None
        From values by key to what shall be zero where the figures leave it open, dimensionless.
    held : tuple of Estimate
        Other parameters, which no figure determines.
    validity : mapping
        Range that the measurements cover, by key.
    population : int or None
        Requesters while it was measured.
    coefficients : int or None
        Parameters that count against the degrees of freedom even at a bound, where the law may bend although the
        measurements show no sign of it; those between their bounds where None.
    """

    kind: str
    parameters: tuple[Quantity, ...]
    start: tuple[float, ...]
    predict: Callable[[Mapping[str, float]], Sequence[float]]
    conventions: Callable[[Mapping[str, float]], Sequence[float]] | None = None
    held: tuple[Estimate, ...] = ()
    validity: Mapping[str, tuple[float, float]]
    population: int | None = None
    coefficients: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFit(Calibration):
    """The costs of a device, fitted to tables of measurements.

    Attributes
    ----------
    kind : str
        Device kind.
    validity : mapping
        Range that the measurements cover, by key.
    population : int or None
        Requesters while it was measured.
    uncertainty : library.Uncertainty
        What the figures leave open.
    """

    kind: str
    validity: Mapping[str, tuple[float, float]]
    population: int | None
    uncertainty: library.Uncertainty


def given(parameter: Quantity, value: float) -> Estimate:
    """Enter a parameter that is known, not fitted."""
    return Estimate(
        parameter=parameter,
        value=value,
        standard_error=0.0,
        status="fixed",
        start=value,
        low=value,
        high=value,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostProblem:
    """Figures, law and scales; points are values over `scale`, `size` is what the parameters had at the start."""

    measured: tuple[MeasuredFigure, ...]
    law: CostLaw
    known: Mapping[str, float]
    free: tuple[Quantity, ...]
    scale: Array
    size: Array
    error: float

    @property
    def rounding(self) -> Array:
        """Relative standard deviation that the printed digits leave, shape (figures,)."""
        return np.asarray([each.half / each.value / math.sqrt(3) for each in self.measured], dtype=np.float64)

    @property
    def sigma(self) -> Array:
        """Relative standard deviation of every figure: digits and error of the law, shape (figures,)."""
        return np.asarray(np.hypot(self.rounding, self.error))

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest values over `scale`, each of shape (free,)."""
        low, high = (np.array([getattr(each, end) for each in self.free]) for end in ("low", "high"))
        return low / self.scale, high / self.scale

    def values(self, at: Array) -> dict[str, float]:
        """Tell all parameters at a point."""
        return {**self.known, **{p.key: float(v) for p, v in zip(self.free, at * self.scale, strict=True)}}

    def off(self, at: Array) -> Array:
        """Compare law and measurement at a point, shape (figures,)."""
        predicted = np.asarray(self.law.predict(self.values(at)), dtype=np.float64)
        logs = np.log(np.maximum(predicted, 1e-300)) - np.log([each.value for each in self.measured])
        return np.asarray(logs)

    def residuals(self, at: Array) -> Array:
        """Line up what is minimized: figures, then conventions of little weight, then the start of still less."""
        conventions = [] if self.law.conventions is None else self.law.conventions(self.values(at))
        slack = CONVENTION * np.asarray(conventions, dtype=np.float64)
        return np.concatenate([self.off(at) / self.sigma, slack, CONVENTION**2 * (at - 1)])

    def minimum(self, at: Array) -> Array:
        """Find the point of least squares, shape (free,)."""
        from scipy.optimize import least_squares

        low, high = self.bounds
        begin = np.clip(at, low + STEP, high - STEP)
        found = least_squares(
            self.residuals, begin, bounds=(low, high), jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000
        )  # fmt: skip
        if not found.success:
            raise CalibrationError(f"least squares did not converge: {found.message}")
        return np.asarray(np.where(found.x - low < NEAR, low, np.where(high - found.x < NEAR, high, found.x)))

    def rescaled(self, at: Array) -> tuple[CostProblem, Array]:
        """Put the problem in units of a point, where that is not next to nothing."""
        factor = np.where(at > 0.01, at, 1.0)  # noqa: PLR2004 - far below its start a parameter counts as zero
        return replace(self, scale=self.scale * factor), at / factor

    def slope(self, at: Array) -> Array:
        """Tell how the logarithms change with the point, shape (figures, free)."""
        steps = STEP * np.eye(len(at))
        low = self.bounds[0]
        columns = []
        for step in steps:
            before = at - step if (at - step >= low).all() else at
            width = (at + step - before).sum()
            columns.append((self.off(at + step) - self.off(before)) / width)
        return np.stack(columns, axis=-1)

    def likely_error(self, at: Array) -> float:
        """Estimate the error of the law from its residuals (`planner.calibrate.model_error`)."""
        inside, slope = self.inside(at), self.slope(at)
        if self.freedom(at, slope) < 1:
            return self.error
        belief = self.belief(at)[inside][:, inside]
        return restricted_estimate(
            self.off(at), slope[:, inside], rounding=self.rounding, scale=np.ones(len(self.measured)),
            belief=np.zeros(len(belief)), belief_slope=belief, shrunk=False,
        )  # fmt: skip

    def belief(self, at: Array) -> Array:
        """How little is believed of the parameters, to their own size or that of their start, shape (free, free)."""
        return np.asarray(np.diag(self.scale / np.maximum(self.size, at * self.scale) / WIDTH))

    def freedom(self, at: Array, slope: Array) -> int:
        """Count degrees of freedom."""
        singular = np.linalg.svd(slope[:, self.inside(at)], compute_uv=False)
        return len(self.measured) - int((singular > SEEN * singular.max(initial=0.0)).sum())

    def inside(self, at: Array) -> Array:
        """Tell which parameters are not at a bound, shape (free,)."""
        low, high = self.bounds
        return np.asarray((at > low) & (at < high))
