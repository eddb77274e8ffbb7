"""Erlang's formulas of loss (B) and delay (C), their logarithms, and the loads that lead to a given probability."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from planner.queueing import checks
from planner.queueing._erlang import inverse_blocking, log_inverse_blocking
from planner.queueing._roots import increasing_root
from planner.results import Array

WIDENING: Final = 1e-9  # by which the ends of a bracket are moved apart against rounding, in ln of the load


def erlang_b(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request finds all servers busy and is lost (M/M/c/c).

    1/B = sum over j = 0..c of c! / (c - j)! a^-j, all terms positive.

    Parameters
    ----------
    offered_load : array_like
        Arrival rate times service time, a [erlang]; 0 is allowed.
    servers : array_like
        Servers c, 0 or more.

    Returns
    -------
    ndarray
        Blocking probability in the broadcast shape; 0 where it underflows (see `log_erlang_b`).

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Erlang (1917); Jagerman, Bell System Technical Journal 53 (1974), theorem 3.

    Examples
    --------
    >>> float(erlang_b(2.0, 3).round(4))
    0.2105
    """
    a, c = _checked(offered_load, servers, least=0)
    return 1 / inverse_blocking(a, c)


def log_erlang_b(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Natural logarithm of Erlang's B, which itself underflows at light load.

    Parameters
    ----------
    offered_load : array_like
        Arrival rate times service time, a [erlang]; 0 is allowed.
    servers : array_like
        Servers c, 0 or more.

    Returns
    -------
    ndarray
        ln B in the broadcast shape; -inf at no load.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Erlang (1917); the Poisson law by Loader, Fast and Accurate Computation of Binomial Probabilities (2000).

    Examples
    --------
    >>> float(log_erlang_b(1e3, 1e5).round(3))
    -361523.694
    """
    return -log_inverse_blocking(*_checked(offered_load, servers, least=0))


def erlang_c(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request has to wait (M/M/c).

    C = c / ((c - a) / B + a) with Erlang's B.

    Parameters
    ----------
    offered_load : array_like
        Arrival rate times service time, a [erlang]; 0 is allowed.
    servers : array_like
        Servers c.

    Returns
    -------
    ndarray
        Delay probability in the broadcast shape; 1 where the load reaches the servers.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Erlang (1917); Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8.

    Examples
    --------
    >>> float(erlang_c(2.0, 3).round(4))
    0.4444
    """
    a, c = _checked(offered_load, servers, least=1)
    with np.errstate(over="ignore"):
        return c / (np.maximum(c - a, 0) * inverse_blocking(np.minimum(a, c), c) + np.minimum(a, c))


def log_erlang_c(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Natural logarithm of Erlang's C, which itself underflows at light load.

    Parameters
    ----------
    offered_load : array_like
        Arrival rate times service time, a [erlang]; 0 is allowed.
    servers : array_like
        Servers c.

    Returns
    -------
    ndarray
        ln C in the broadcast shape; -inf at no load, 0 where the load reaches the servers.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Erlang (1917); Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8.

    Examples
    --------
    >>> float(log_erlang_c(1e3, 1e5).round(3))
    -361523.684
    """
    a, c = _checked(offered_load, servers, least=1)
    return _log_c(np.minimum(a, c), c)


def erlang_b_load(blocking_probability: ArrayLike, servers: ArrayLike) -> Array:
    """Offered load at which a given share of the requests is lost: the inverse of `erlang_b`.

    Parameters
    ----------
    blocking_probability : array_like
        Erlang's B, inside (0, 1).
    servers : array_like
        Servers c.

    Returns
    -------
    ndarray
        Offered load in the broadcast shape [erlang].

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Jagerman, Bell System Technical Journal 53 (1974), section VI.

    Examples
    --------
    >>> float(erlang_b_load(0.01, 10).round(3))
    4.461
    """
    target, c = checks.broadcast(
        blocking_probability=checks.probability("blocking_probability", blocking_probability),
        servers=checks.count("servers", servers),
    )
    wanted = np.log(target)
    # B <= a^c / c! and the carried load a (1 - B) < c enclose the root; the widening covers their rounding.
    low = (wanted + gammaln(c + 1)) / c - WIDENING
    high = np.log(c) - np.log1p(-target) + WIDENING
    return np.exp(
        increasing_root(lambda x, goal, k: -log_inverse_blocking(np.exp(x), k) - goal, low, high, (wanted, c))
    )


def erlang_c_load(delay_probability: ArrayLike, servers: ArrayLike) -> Array:
    """Offered load at which a given share of the requests has to wait: the inverse of `erlang_c`.

    Parameters
    ----------
    delay_probability : array_like
        Erlang's C, inside (0, 1).
    servers : array_like
        Servers c.

    Returns
    -------
    ndarray
        Offered load in the broadcast shape [erlang], below the servers.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8, solved for the load.

    Examples
    --------
    >>> float(erlang_c_load(0.1, 10).round(3))
    5.986
    """
    target, c = checks.broadcast(
        delay_probability=checks.probability("delay_probability", delay_probability),
        servers=checks.count("servers", servers),
    )
    wanted = np.log(target)
    # C <= a / c bounds the root below.
    return np.exp(increasing_root(_excess_c, np.log(c) + wanted - WIDENING, np.log(c), (wanted, c)))


def _excess_c(log_load: Array, wanted: Array, c: Array) -> Array:
    return _log_c(np.minimum(np.exp(log_load), c), c) - wanted


def _log_c(a: Array, c: Array) -> Array:
    """Ln C = ln c - ln((c - a)/B + a), a <= c; where 1/B overflows the second term is nothing."""
    log_inverse = log_inverse_blocking(a, c)
    with np.errstate(over="ignore", divide="ignore"):
        spare = np.log(c - a) + log_inverse
        return np.log(c) - np.where(np.isneginf(spare), np.log(a), np.logaddexp(spare, np.log(a)))


def _checked(offered_load: ArrayLike, servers: ArrayLike, *, least: int) -> list[Array]:
    return checks.broadcast(
        offered_load=checks.nonnegative("offered_load", offered_load, "erlang"),
        servers=checks.count("servers", servers, least=least),
    )
