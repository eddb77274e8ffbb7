"""The Universal Scalability Law: throughput over concurrency with contention and coherency, and its fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import CalibrationError, InputError
from planner.queueing import checks
from planner.results import Array, Result, quantity

# Free parameters after gamma: the special cases, from the simplest to the full law.
LAWS: Final[dict[str, tuple[int, ...]]] = {"linear": (), "amdahl": (1,), "usl": (1, 2)}
WORTH: Final = 0.95  # a richer law has to lower the leave-one-out error at least this far
STARTS: Final = ((0.0, 0.0), (0.05, 1e-4), (0.5, 1e-2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scalability(Result):
    """A fitted scalability law.

    Attributes
    ----------
    law : str
        "linear" (alpha = beta = 0), "amdahl" (beta = 0) or "usl": the one with the least leave-one-out error.
    leave_one_out : dict of str to float
        Root mean square error of predicting each point from the others, by law [1/s].
    residuals : ndarray
        Measured less fitted throughput [1/s].
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
        """Concurrency of the largest throughput, sqrt((1 - alpha) / beta); inf where it never falls."""
        return _peak(self.alpha, self.beta)

    @property
    def peak_throughput(self) -> Array:
        """Largest throughput [1/s]: gamma / alpha in the limit without coherency, inf for linear scaling."""
        n = self.peak_concurrency
        if np.isfinite(n):
            return usl(n, self.gamma, self.alpha, self.beta)
        return np.asarray(self.gamma / self.alpha if self.alpha > 0 else np.inf)

    def throughput(self, n: ArrayLike) -> Array:
        """Throughput that the fitted law gives.

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


def usl(n: ArrayLike, gamma: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Array:
    """Throughput by the Universal Scalability Law.

    X(n) = gamma n / (1 + alpha (n - 1) + beta n (n - 1)).

    Parameters
    ----------
    n : array_like
        Concurrency (processors, requesters), above 0.
    gamma : array_like
        Throughput at n = 1 [1/s].
    alpha : array_like
        Contention: share of the work that is serial; 0 or more.
    beta : array_like
        Coherency: cost of keeping each pair consistent; 0 or more.

    Returns
    -------
    ndarray
        Throughput in the broadcast shape [1/s].

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Gunther, Guerrilla Capacity Planning (2007), eq. 4.31; Amdahl (1967) is beta = 0.

    Examples
    --------
    >>> usl([1, 8, 32], 1000.0, 0.05, 1e-3).round(0).tolist()
    [1000.0, 5685.0, 9024.0]
    """
    concurrency, rate, contention, coherency = checks.broadcast(
        n=checks.positive("n", n),
        gamma=checks.positive("gamma", gamma, "1/s"),
        alpha=checks.nonnegative("alpha", alpha),
        beta=checks.nonnegative("beta", beta),
    )
    slowed = 1 + (contention + coherency * concurrency) * (concurrency - 1)
    if (slowed <= 0).any():
        raise InputError(
            "n", float(concurrency[slowed <= 0].flat[0]), "1 or more where contention is this strong"
        )
    return rate * concurrency / slowed


def fit_usl(n: ArrayLike, throughput: ArrayLike) -> Scalability:
    """Fit the Universal Scalability Law by least squares, coefficients never negative.

    Linear scaling, Amdahl's law and the full law are each fitted; the simplest stays unless a richer one predicts
    left-out points better.

    Parameters
    ----------
    n : array_like, shape (points,)
        Concurrency of each measurement, 1 or more; at least two different values.
    throughput : array_like, shape (points,)
        Measured throughput [1/s].

    Returns
    -------
    Scalability
        Parameters with standard errors (0 where a special case fixes one, NaN where no degree of freedom is left
        or the parameter stands at its bound of 0).

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
    # A law is only tried where leaving out a point still determines it.
    tried = {name: free for name, free in LAWS.items() if len(free) + 2 <= distinct or name == "linear"}
    errors = {
        name: scale * _leave_one_out(concurrency, measured / scale, free) for name, free in tried.items()
    }
    chosen = "linear"
    for name in tried:
        if errors[name] < WORTH * errors[chosen]:
            chosen = name
    values, deviations = _fit(concurrency, measured / scale, LAWS[chosen])
    values, deviations = values * [scale, 1, 1], deviations * [scale, 1, 1]
    return Scalability(
        gamma=values[0], alpha=values[1], beta=values[2],
        gamma_error=deviations[0], alpha_error=deviations[1], beta_error=deviations[2],
        law=chosen, leave_one_out=errors, residuals=measured - usl(concurrency, *values),
    )  # fmt: skip


def _peak(alpha: Array, beta: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.sqrt(np.maximum((1 - alpha) / np.where(beta > 0, beta, 1), 1.0)) if beta > 0 else np.inf
        )


def _curve(values: Array, n: Array) -> Array:
    return values[0] * n / (1 + values[1] * (n - 1) + values[2] * n * (n - 1))


def _fit(n: Array, x: Array, free: tuple[int, ...]) -> tuple[Array, Array]:
    """Gamma, alpha, beta and their standard errors for a scaled throughput."""
    from scipy.optimize import least_squares

    places = np.array([0, *free])

    def spread(some: Array) -> Array:
        values = np.zeros(3)
        values[places] = some
        return values

    best = None
    for start in STARTS:
        first = np.array([float(np.max(x / n)), *start])[places]
        found = least_squares(
            lambda some: _curve(spread(some), n) - x, first, bounds=(0, np.inf), x_scale="jac",
            xtol=1e-15, ftol=1e-15, gtol=1e-15,
        )  # fmt: skip
        if found.success and (best is None or found.cost < best.cost):
            best = found
    if best is None:
        raise CalibrationError("the scalability law: least squares did not converge")
    return spread(best.x), _deviations(spread(best.x), n, 2 * float(best.cost), places)


def _deviations(values: Array, n: Array, squares: float, places: NDArray[np.int64]) -> Array:
    """Standard errors from the Jacobian at the fit; parameters at their bound are held there."""
    deviations = np.zeros(3)
    at_bound = places[(places > 0) & (values[places] <= 1e-12)]  # noqa: PLR2004 - zero but for the last digits
    held = np.setdiff1d(places, at_bound)
    deviations[at_bound] = np.nan
    freedom = n.size - held.size
    curve = _curve(values, n)
    slowed = curve / (values[0] * n)
    gradient = np.stack(
        [curve / values[0], -curve * slowed * (n - 1), -curve * slowed * n * (n - 1)], axis=1
    )[:, held]
    if freedom < 1 or np.linalg.matrix_rank(gradient) < held.size:
        deviations[held] = np.nan
        return deviations
    _, triangle = np.linalg.qr(gradient)
    covariance = np.linalg.inv(triangle) @ np.linalg.inv(triangle).T
    deviations[held] = np.sqrt(squares / freedom * np.diag(covariance))
    return deviations


def _leave_one_out(n: Array, x: Array, free: tuple[int, ...]) -> float:
    """Root mean square error of each point from a fit to the others."""
    misses = []
    for point in range(n.size):
        others = np.arange(n.size) != point
        values, _ = _fit(n[others], x[others], free)
        misses.append(_curve(values, n[point : point + 1])[0] - x[point])
    return float(np.sqrt(np.mean(np.square(misses))))
