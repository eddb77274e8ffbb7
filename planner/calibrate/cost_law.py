"""What goes into a fit of few costs, such as those of a disk, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planner import library
from planner.calibrate.calibration import Calibration, Estimate
from planner.quantity import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
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
        Other parameters, which no figure tells.
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
    """Enter a parameter that is known, not fitted.

    Parameters
    ----------
    parameter : Quantity
        What.
    value : float
        SI.

    Returns
    -------
    Estimate
        Fixed, without error.
    """
    return Estimate(
        parameter=parameter,
        value=value,
        standard_error=0.0,
        status="fixed",
        start=value,
        low=value,
        high=value,
    )
