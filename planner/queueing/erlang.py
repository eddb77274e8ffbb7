"""Erlang's formulas of loss (B) and delay (C).

1/B(c, a) = sum over j of c!/(c - j)! a^-j. Three ways, each where it is exact to working precision:

* few servers: that sum by Horner's rule, scenarios of equal c together, two operations per term;
* many, loads up to c + 5 sqrt(c): Poisson probabilities, 1/B = P(X <= c) / P(X = c), with Loader's deviance (2000);
* many, larger loads: two dozen terms of the continued fraction of the incomplete gamma function (Legendre).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc, gammaln

from planner.queueing import checks
from planner.results import Array

Way = Callable[[Array, Array], Array]
FEW: Final = 128  # most servers for Horner's rule; their factorial fits into float64


def inverse_blocking(load: Array, servers: Array) -> Array:
    """1/B in the broadcast shape of the arguments; inf where B underflows; servers 0 or more."""
    return _by_size(load, servers, _few, lambda a, c: np.exp(_log_inverse_many(a, c)))


def log_inverse_blocking(load: Array, servers: Array) -> Array:
    """Logarithm of 1/B, finite even where B underflows; inf without load."""
    result = _by_size(load, servers, lambda a, c: np.log(_few(a, c)), _log_inverse_many)
    lost = np.isinf(result) & (load > 0)  # Horner's rule overflowed: 1/B = c! a^-c e^a P(X <= c)
    a, c = load[lost], servers[lost]
    result[lost] = gammaln(c + 1) - c * np.log(a) + a + np.log(gammaincc(c + 1, a))
    return result


def _by_size(load: Array, servers: Array, of_few: Way, of_many: Way) -> Array:
    """Apply one function of flat arrays for few servers and one for many; result in the broadcast shape."""
    shape, load, servers = load.shape, load.ravel(), servers.ravel()
    many = servers > FEW
    with np.errstate(over="ignore", divide="ignore"):
        if not many.any():
            return of_few(load, servers).reshape(shape)
        result = np.empty(load.size)
        result[many] = of_many(load[many], servers[many])
        result[~many] = of_few(load[~many], servers[~many])
    return result.reshape(shape)


def _few(load: Array, servers: Array) -> Array:
    """Horner's rule, grouped by the number of servers (radix sort of bytes)."""
    if servers.size == 0:
        return np.empty(0)
    if servers[0] == servers[-1] and (servers == servers[0]).all():
        result = np.empty(load.size)
        for start in range(0, load.size, checks.BLOCK):
            part = slice(start, start + checks.BLOCK)
            result[part] = _horner(load[part], int(servers[0]))
        return result
    result = np.empty(load.size)
    keys = servers.astype(np.uint8)
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(keys))
    for count in np.flatnonzero(np.diff(ends, prepend=0)):
        first = ends[count - 1] if count else 0
        for start in range(first, ends[count], checks.BLOCK):
            index = order[start : min(start + checks.BLOCK, ends[count])]
            result[index] = _horner(load.take(index), int(count))
    return result


def _horner(load: Array, count: int) -> Array:
    """Sum of c!/(c - j)! a^-j, the powers of 1/a with coefficients c!/k!."""
    if count == 0:
        return np.ones_like(load)
    inverse_load = np.reciprocal(load)
    coefficient = [1.0]  # c!/k! for k = c down to 0
    for k in range(count, 0, -1):
        coefficient.append(coefficient[-1] * k)
    value = inverse_load * coefficient[-1]
    value += coefficient[-2]
    for term in coefficient[-3::-1]:
        value *= inverse_load
        value += term
    return value


def _log_inverse_many(load: Array, servers: Array) -> Array:
    result = np.full(load.size, np.inf)
    heavy = load > servers + 5.0 * np.sqrt(servers)  # 30 terms of the continued fraction are enough
    light = (load > 0) & ~heavy
    a, c = load[light], servers[light]
    result[light] = np.log(gammaincc(c + 1, a)) - log_poisson(c, a)
    a, c = load[heavy], servers[heavy]
    rest = np.zeros_like(a)
    for i in range(30, 0, -1):
        rest = i * (c + 1 - i) / (a - c + 2 * i + rest)
    result[heavy] = np.log(a / (a - c + rest))
    return result


def log_poisson(k: Array, mean: Array) -> Array:
    """Logarithm of P(X = k), X Poisson and k above FEW: Loader's saddle point form, without cancellation."""
    return -_stirling_error(k) - deviance(k, mean) - 0.5 * np.log(2 * np.pi * k)


def deviance(k: Array, mean: Array) -> Array:
    """K ln(k / mean) + mean - k, accurate even for k close to the mean."""
    distance = (k - mean) / (k + mean)
    square = distance * distance
    series, close = np.zeros_like(square), 0.1
    for j in range(9, 0, -1):  # terms of the series of the deviance
        series = (series + 1 / (2 * j + 1)) * square
    near = (k - mean) * distance + 2 * k * distance * series
    return np.where(np.abs(distance) < close, near, k * np.log(k / mean) + mean - k)


def _stirling_error(k: Array) -> Array:
    """Logarithm of k! - ln(sqrt(2 pi k) (k / e)^k) to 1e-16, for k above FEW."""
    return (1 / 12 - (1 / 360 - 1 / 1260 / (k * k)) / (k * k)) / k


@checks.documented
def erlang_b(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request finds all servers busy and is lost (M/M/c/c).

    1/B = sum over j = 0..c of c! / (c - j)! a^-j, all terms positive.

    Parameters
    ----------
    servers : array_like
        Servers c, 0 or more.

    Returns
    -------
    ndarray
        Blocking probability in the broadcast shape; 0 where it underflows.

    References
    ----------
    Erlang (1917); Jagerman, Bell System Technical Journal 53 (1974), theorem 3.

    Examples
    --------
    >>> float(erlang_b(2.0, 3).round(4))
    0.2105
    """
    # zero servers are allowed
    given = checks.checked(offered_load=offered_load) | {"servers": checks.count("servers", servers, least=0)}
    return 1 / inverse_blocking(*checks.broadcast(**given))


@checks.documented
def erlang_c(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request has to wait (M/M/c).

    C = c / ((c - a) / B + a) with Erlang's B.

    Returns
    -------
    ndarray
        Delay probability in the broadcast shape; 1 where the load is not below the servers.

    References
    ----------
    Erlang (1917); Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8.

    Examples
    --------
    >>> float(erlang_c(2.0, 3).round(4))
    0.4444
    """
    a, c = checks.arguments(offered_load=offered_load, servers=servers)
    with np.errstate(over="ignore"):
        return c / (np.maximum(c - a, 0) * inverse_blocking(np.minimum(a, c), c) + np.minimum(a, c))
