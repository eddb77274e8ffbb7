"""Erlang's formulas of loss (B) and delay (C)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from planner.queueing import checks
from planner.results import Array


def erlang_b(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request finds all servers busy and is lost (M/M/c/c).

    1/B(0) = 1,  1/B(k) = 1 + k / a * 1/B(k - 1); all terms positive.

    Parameters
    ----------
    offered_load : array_like
        Arrival rate times service time, a [erlang]; 0 is allowed.
    servers : array_like
        Servers c, 0 or more.

    Returns
    -------
    ndarray
        Blocking probability in the broadcast shape.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Erlang (1917); the recursion is in Jagerman, Bell System Technical Journal 53 (1974), eq. 2.

    Examples
    --------
    >>> float(erlang_b(2.0, 3).round(4))
    0.2105
    """
    a, c = checks.broadcast(
        offered_load=checks.nonnegative("offered_load", offered_load, "erlang"),
        servers=checks.count("servers", servers, least=0),
    )
    inverse = np.ones(a.shape)
    load = np.where(a > 0, a, 1.0)
    with np.errstate(over="ignore"):  # 1/B beyond 1e308 is B = 0
        for k in range(1, int(c.max()) + 1):
            inverse = np.where(k <= c, 1 + k / load * inverse, inverse)
    return np.where(a > 0, 1 / inverse, (c == 0) * 1.0)


def erlang_c(offered_load: ArrayLike, servers: ArrayLike) -> Array:
    """Probability that a request has to wait (M/M/c).

    C = B / (1 - rho (1 - B)) with rho = a / c and Erlang's B.

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
    a, c = checks.broadcast(
        offered_load=checks.nonnegative("offered_load", offered_load, "erlang"),
        servers=checks.count("servers", servers),
    )
    blocking = erlang_b(a, c)
    saturated = a >= c
    idle = np.where(saturated, 1.0, 1 - a / c * (1 - blocking))
    return np.where(saturated, 1.0, blocking / idle)
