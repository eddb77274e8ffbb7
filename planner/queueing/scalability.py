"""The Universal Scalability Law: throughput over concurrency with contention and coherency, and its fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner import style
from planner.errors import CalibrationError, InputError
from planner.queueing import checks
from planner.results import Array, Result, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Free parameters besides gamma: the special cases, from the simplest to the full model.
LAWS: Final[dict[str, tuple[int, ...]]] = {"linear": (), "amdahl": (1,), "usl": (1, 2)}
WORTH: Final = 0.95  # a richer model must lower the leave-one-out error at least by this factor
STARTS: Final = ((0.0, 0.0), (0.05, 1e-4), (0.5, 1e-2))  # contention and coherency from which fits begin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scalability(Result):
    """A fitted scalability model.

    `law` is "linear" (alpha = beta = 0), "amdahl" (beta = 0) or "usl", that of least `leave_one_out`: by model, root
    mean square error of each point predicted from the others [1/s]. `residuals`: measured minus fitted.
    """

    gamma: Array = quantity("throughput of one", "1/s")
    alpha: Array = quantity("contention")
    beta: Array = quantity("coherency")
    gamma_error: Array = quantity("standard error of the throughput of one", "1/s")
    alpha_error: Array = quantity("standard error of contention")
    beta_error: Array = quantity("standard error of coherency")
    law: str
    leave_one_out: dict[str, float]
    residuals: NDArray[np.float64]

    @property
    def peak_concurrency(self) -> Array:
        """Concurrency of the largest throughput, sqrt((1 - alpha) / beta), at least 1; inf if it never falls."""
        if self.alpha + self.beta >= 1 and (self.beta > 0 or self.alpha > 1):
            return np.asarray(1.0)
        return np.asarray(np.sqrt((1 - self.alpha) / self.beta) if self.beta > 0 else np.inf)

    @property
    def peak_throughput(self) -> Array:
        """Largest throughput [1/s]: gamma / alpha in the limit without coherency, inf for linear scaling."""
        n = self.peak_concurrency
        if np.isfinite(n):
            return usl(n, self.gamma, self.alpha, self.beta)
        return np.asarray(self.gamma / self.alpha if self.alpha > 0 else np.inf)

    def throughput(self, n: ArrayLike) -> Array:
        """Throughput by the fitted model.

        Parameters
        ----------
        n : array_like
            Concurrency, above 0.

        Returns
        -------
        ndarray
            Throughput [1/s].
        """
        return usl(n, self.gamma, self.alpha, self.beta)

    def plot(self, x: str | None = None, y: str | None = None, axes: Axes | None = None) -> Axes:
        """Draw throughput over concurrency with the error of predicting a measurement from the others."""
        if x is not None or y is not None or self.gamma.size != 1:
            return Result.plot(self, x, y, axes)
        axes = axes or style.new_axes()
        # a model without a peak is drawn up to 32
        n = np.linspace(1.0, min(2 * float(self.peak_concurrency), 32.0), 100)
        rate, error = self.throughput(n), self.leave_one_out[self.law]
        axes.fill_between(n, rate - error, rate + error, color=style.COLORS[0], alpha=style.BAND,
                          label="error of a point from the others")  # fmt: skip
        axes.plot(n, rate, color=style.COLORS[0], label=self.law)
        axes.set(xlabel="concurrency", ylabel="throughput [1/s]", ylim=(0, None))
        axes.legend(frameon=False)
        return axes


@checks.documented
def usl(n: ArrayLike, gamma: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Array:
    """Throughput by the Universal Scalability Law.

    X(n) = gamma n / (1 + alpha (n - 1) + beta n (n - 1)).

    Returns
    -------
    ndarray
        Throughput in the broadcast shape [1/s].

    References
    ----------
    Gunther, Guerrilla Capacity Planning (2007), eq. 4.31; Amdahl (1967) is beta = 0.

    Examples
    --------
    >>> usl([1, 8, 32], 1000.0, 0.05, 1e-3).round(0).tolist()
    [1000.0, 5690.0, 9034.0]
    """
    concurrency, rate, contention, coherency = checks.arguments(n=n, gamma=gamma, alpha=alpha, beta=beta)
    slowed = 1 + (contention + coherency * concurrency) * (concurrency - 1)
    if (slowed <= 0).any():
        raise InputError(
            "n", float(concurrency[slowed <= 0].flat[0]), "1 or more where contention is this strong"
        )
    return rate * concurrency / slowed


def fit_usl(n: ArrayLike, throughput: ArrayLike) -> Scalability:
    """Fit the Universal Scalability Law by least squares, coefficients never negative.

    Of linear scaling, Amdahl's law and the full model, a richer one is kept only if it predicts left-out points better.

    Parameters
    ----------
    n : array_like, shape (points,)
        Concurrency of each measurement, 1 or more; at least two different values.
    throughput : array_like, shape (points,)
        Measured throughput [1/s].

    Returns
    -------
    Scalability
        Parameters with standard errors: 0 if fixed by the law, NaN at the bound of 0 or without degree of freedom.

    Raises
    ------
    InputError
        An argument outside its domain, or arrays of different length.
    CalibrationError
        The fit did not converge.

    References
    ----------
    Gunther, Guerrilla Capacity Planning (2007), section 5.5; leave-one-out error: Stone, Journal of the Royal
    Statistical Society B 36 (1974).

    Examples
    --------
    >>> fit = fit_usl([1, 2, 4, 8, 16, 32], usl([1, 2, 4, 8, 16, 32], 1000.0, 0.05, 1e-3))
    >>> fit.law, round(float(fit.alpha), 4), round(float(fit.peak_concurrency), 1)
    ('usl', 0.05, 30.8)
    """
    concurrency = checks.positive("n", n)
    measured = checks.positive("throughput", throughput, "1/s")
    if concurrency.ndim != 1 or concurrency.shape != measured.shape:
        raise InputError(
            "throughput", list(measured.shape), f"one number for each n, shape {list(concurrency.shape)}"
        )
    if (concurrency < 1).any():
        raise InputError("n", float(concurrency.min()), "1 or more")
    distinct = np.unique(concurrency).size
    if distinct < 2:  # noqa: PLR2004 - a curve needs two points
        raise InputError("n", concurrency.tolist(), "at least two different values")
    scale = float(measured.max())
    scaled = measured / scale
    # A model is tried only if it is determined with one point left out.
    tried = {name: free for name, free in LAWS.items() if len(free) + 2 <= distinct or not free}
    fits = {name: _fit(concurrency, scaled, free, STARTS) for name, free in tried.items()}
    errors = {name: _leave_one_out(concurrency, scaled, tried[name], fits[name]) for name in tried}
    chosen = "linear"
    perfect = 1e-9  # relative to the largest throughput: a model without error needs no improvement
    for name in tried:
        if errors[chosen] > perfect and errors[name] < WORTH * errors[chosen]:
            chosen = name
    values = fits[chosen] * [scale, 1, 1]
    deviations = _deviations(fits[chosen], concurrency, scaled, tried[chosen]) * [scale, 1, 1]
    return Scalability(
        gamma=values[0],
        alpha=values[1],
        beta=values[2],
        gamma_error=deviations[0],
        alpha_error=deviations[1],
        beta_error=deviations[2],
        law=chosen,
        leave_one_out={name: scale * error for name, error in errors.items()},
        residuals=measured - usl(concurrency, *values),
    )


def _curve(values: Array, n: Array) -> Array:
    throughput: Array = values[0] * n / (1 + values[1] * (n - 1) + values[2] * n * (n - 1))
    return throughput


def _fit(n: Array, x: Array, free: tuple[int, ...], starts: tuple[tuple[float, float], ...]) -> Array:
    """Gamma, alpha and beta for a scaled throughput; parameters that are not free are 0."""
    from scipy.optimize import least_squares

    values = np.zeros(3)
    if not free:
        values[0] = n @ x / (n @ n)
        return values
    places = np.array([0, *free])

    def residuals(some: Array) -> Array:
        values[places] = some
        return _curve(values, n) - x

    def gradient(some: Array) -> Array:
        values[places] = some
        return _gradient(values, n)[:, places]

    tight = partial(least_squares, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    firsts = [np.array([float(np.max(x / n)), *start])[places] for start in starts]
    found = [tight(residuals, first, gradient, bounds=(0, np.inf)) for first in firsts]
    converged = [one for one in found if one.success]
    if not converged:
        raise CalibrationError("the scalability model: least squares did not converge")
    values[places] = min(converged, key=lambda one: float(one.cost)).x
    return values


def _gradient(values: Array, n: Array) -> Array:
    """Derivatives of the throughput by gamma, alpha and beta, one row per point."""
    share = n / (1 + values[1] * (n - 1) + values[2] * n * (n - 1))
    slope = -values[0] * share * share * (n - 1) / n
    return np.stack([share, slope, slope * n], axis=1)


def _deviations(values: Array, n: Array, x: Array, free: tuple[int, ...]) -> Array:
    """Standard errors from the gradient at the fit, with parameters at their bound fixed."""
    places = np.array([0, *free])
    deviations = np.zeros(3)
    zero = 1e-10  # a smaller coefficient is at its bound
    at_bound = places[(places > 0) & (values[places] <= zero)]
    held = np.setdiff1d(places, at_bound)
    deviations[at_bound] = np.nan
    freedom = n.size - held.size
    gradient = _gradient(values, n)[:, held]
    if freedom < 1 or np.linalg.matrix_rank(gradient) < held.size:
        deviations[held] = np.nan
        return deviations
    spread = np.linalg.inv(np.linalg.qr(gradient).R)
    squares = np.square(_curve(values, n) - x).sum()
    deviations[held] = np.sqrt(squares / freedom * np.square(spread).sum(1))
    return deviations


def _leave_one_out(n: Array, x: Array, free: tuple[int, ...], fit: Array) -> float:
    """Root mean square error of each point by a fit to the others, started at the fit to all."""
    misses = []
    for point in range(n.size):
        others = np.arange(n.size) != point
        values = _fit(n[others], x[others], free, ((float(fit[1]), float(fit[2])), STARTS[1]))
        misses.append(_curve(values, n[point]) - x[point])
    return float(np.sqrt(np.mean(np.square(misses))))
