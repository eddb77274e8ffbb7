"""M/M/c//N: a fixed number of requesters that think, wait and are served; with inflation and redrive gaps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.queueing.gaps import Station, closed_with_gaps
from planner.queueing.steady import Steady
from planner.results import Array

RESCALE_ABOVE: Final = 1e200
BLOCK: Final = 4096  # scenarios at a time: their vectors stay in the cache
LARGEST_GAP_STATES: Final = 20_000


def finite_source(
    population: ArrayLike,
    think_time: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    *,
    scv: ArrayLike = 1.0,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> Steady:
    """Closed queue of `population` requesters at `servers` servers (M/M/c//N, machine repair).

    With n requesters at the station and m = min(n, c) of them in service,

        (N - n + 1) / Z * p(n - 1) = m / S(m) * p(n),    S(m) = S0 (1 + inflation (m - 1)),

    a product of positive terms, summed from n = N down. A redrive gap follows a service only if a request
    waits; it occupies the server, its request still counts as waiting.

    Parameters
    ----------
    population : array_like
        Requesters N, each with at most one request outstanding.
    think_time : array_like
        Mean time Z between an answer and the next request of a requester [s]; 0 is allowed.
    service_time : array_like
        Mean service time S0 of a request served alone [s].
    servers : array_like
        Servers c.
    scv : array_like, optional
        Squared coefficient of variation of service; only 1 (exponential) is supported here.
    inflation : array_like, optional
        Relative growth of the service time with each further request in service.
    redrive_time : array_like, optional
        Mean gap before a server starts a request that had to wait [s].

    Returns
    -------
    Steady
        In the broadcast shape of the arguments; `delay_probability` is what an arrival sees (N - 1 others).

    Raises
    ------
    InputError
        An argument outside its domain, `scv` other than 1, or a gap with more than 20,000 states.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.8; the load-dependent form is Jackson (1963).

    Examples
    --------
    >>> steady = finite_source(3, 0.2e-3, 1.3e-3, [1, 2, 3])
    >>> steady.throughput.round(0).tolist()
    [769.0, 1509.0, 2000.0]
    """
    n, z, s, c, cv, i, g = checks.broadcast(
        population=checks.count("population", population),
        think_time=checks.nonnegative("think_time", think_time, "s"),
        service_time=checks.positive("service_time", service_time, "s"),
        servers=checks.count("servers", servers),
        scv=checks.nonnegative("scv", scv),
        inflation=checks.nonnegative("inflation", inflation),
        redrive_time=checks.nonnegative("redrive_time", redrive_time, "s"),
    )
    if (cv != 1).any():
        raise InputError("scv", float(cv[cv != 1].flat[0]), "1: exponential service")
    shape = n.shape
    flat = [a.ravel() for a in (n, z, s, c, i, g)]
    sums = np.empty((6, n.size))
    gap = flat[5] > 0
    for mask, solve in ((~gap, _product_form), (gap, _with_gaps)):
        where = np.flatnonzero(mask)
        for start in range(0, where.size, BLOCK):
            index = where[start : start + BLOCK]
            sums[:, index] = solve(*(a[index] for a in flat))
    return Steady.from_sums(sums.reshape(6, *shape), c)


def _product_form(n: Array, z: Array, s: Array, c: Array, i: Array, g: Array) -> Array:
    """Sum p(N - k) over k = 0..N; the term is zero by itself beyond N."""
    term = np.ones_like(z)
    total, busy, queue, rate_sum, sources, delayed = (np.zeros_like(z) for _ in range(6))
    for k in range(int(n.max()) + 1):
        present = np.maximum(n - k, 0)
        served = np.minimum(present, c)
        rate = served / (s * (1 + i * np.maximum(served - 1, 0)))
        total += term
        busy += term * served
        queue += term * (present - served)
        rate_sum += term * rate
        sources += term * k
        delayed += np.where(present >= c, term * k, 0)
        term = term * rate * (z / (k + 1))
        if term.max() > RESCALE_ABOVE:
            scale = np.where(term > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
            for array in (term, total, busy, queue, rate_sum, sources, delayed):
                array *= scale
    # With no think time the station holds everyone: an arrival then sees N - 1 others.
    thinking = sources > 0
    delay = np.where(thinking, delayed / np.where(thinking, sources, 1), n - 1 >= c)
    return np.stack([rate_sum / total, busy / total, queue / total, 0 * total, delay, busy / rate_sum])


def _with_gaps(n: Array, z: Array, s: Array, c: Array, i: Array, g: Array) -> Array:
    states = float((n * (np.minimum(n, c) + 1)).max())
    if states > LARGEST_GAP_STATES:
        raise InputError(
            "population", float(n.max()), f"at most {LARGEST_GAP_STATES} states N (c + 1) with a gap"
        )
    return closed_with_gaps(n, z, Station(service=s, servers=np.minimum(c, n), inflation=i, gap=g))
