"""Two stations in a circle, each with several exponential servers: a fixed population goes from one to the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp

from planner.queueing import checks
from planner.results import Array


def cyclic(
    population: ArrayLike,
    first_demand: ArrayLike,
    second_demand: ArrayLike,
    *,
    first_servers: ArrayLike = 1,
    second_servers: ArrayLike = 1,
) -> Array:
    """Throughput of a closed network of two stations, exact.

    With N requesters, demand D and c servers of a station, and n of them at it,

        f(n) = D^n / prod_{j=1..n} min(j, c),    G(N) = sum_{n=0..N} f1(n) f2(N - n),    X = G(N - 1) / G(N).

    Parameters
    ----------
    population : array_like
        Requesters N, zero or more.
    first_demand, second_demand : array_like
        Time that a requester needs of each station in one round, alone [s]; one of the two may be 0.
    first_servers, second_servers : array_like, optional
        Servers of each station.

    Returns
    -------
    ndarray
        Rounds per second [1/s], in the broadcast shape of the arguments.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Koenigsberg, Cyclic Queues (1958); Buzen, Computational Algorithms for Closed Queueing Networks (1973), eq. 3.

    Examples
    --------
    >>> cyclic([1, 2, 1000], 2e-3, 3e-3).round(1).tolist()
    [200.0, 263.2, 333.3]
    """
    both = (
        checks.nonnegative("first_demand", first_demand, "s"),
        checks.nonnegative("second_demand", second_demand, "s"),
    )
    checks.positive("first_demand + second_demand", both[0] + both[1], "s")
    n, d1, d2, c1, c2 = checks.broadcast(
        population=checks.count("population", population, least=0),
        first_demand=both[0],
        second_demand=both[1],
        first_servers=checks.count("first_servers", first_servers),
        second_servers=checks.count("second_servers", second_servers),
    )
    at_first = np.arange(int(n.max()) + 1, dtype=np.float64).reshape(-1, *(1,) * n.ndim)
    first = _log_weight(at_first, d1, c1)

    def log_constant(total: Array) -> Array:
        fits = at_first <= total
        second = _log_weight(np.where(fits, total - at_first, 0.0), d2, c2)
        return np.asarray(logsumexp(np.where(fits, first + second, -np.inf), axis=0))

    idle = n == 0
    throughput = np.exp(log_constant(np.where(idle, 0.0, n - 1)) - log_constant(n))
    return np.asarray(np.where(idle, 0.0, throughput))


def _log_weight(n: Array, demand: Array, servers: Array) -> Array:
    """Logarithm of f(n); a station without demand is always empty."""
    full = np.minimum(n, servers)
    needed = np.where(
        demand > 0, n * np.log(np.where(demand > 0, demand, 1.0)), np.where(n > 0, -np.inf, 0.0)
    )
    return np.asarray(needed - gammaln(full + 1) - (n - full) * np.log(servers))
