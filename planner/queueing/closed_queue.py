"""M/M/c//N and M/PH/c//N: a fixed number of requesters that think, wait and are served; inflation, redrive gaps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.queueing import checks
from planner.queueing._birth_death import closed_product_form
from planner.queueing._phases import closed_in_phases
from planner.queueing._stages import FiniteSourceDelay
from planner.queueing.steady import Steady

LEAST_GAP: Final = 1e-30  # service times; a shorter redrive gap changes nothing that a float64 holds


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

    a product of positive terms. A redrive gap follows a service only if a request waits; it occupies the server,
    its request still counts as waiting. With `scv` other than 1 service goes through exponential phases (Erlang
    stages below 1, two balanced branches above) and the chain over all phases is solved exactly; so it is with a
    gap. Those chains hold at most 1,000 states a level and 200,000 in all.

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
        Squared coefficient of variation of service, above 0; 1 is exponential.
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
        An argument outside its domain, or a chain with phases or gaps that is too large.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.8; the load-dependent form is Jackson (1963); the chains
    are solved as in Gaver, Jacobs and Latouche (1984), section 3.

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
    shape = n.shape
    g = np.where(g < LEAST_GAP * s, 0.0, g)
    flat = [a.ravel() for a in (n, z, s, c, cv, i, g)]
    n, z, s, c, cv, i, g = flat
    phased = ((cv != 1) | (g > 0)) if (cv != 1).any() or g.any() else None
    if phased is None:
        sums = closed_product_form(n, z, s, c, i if i.any() else None)
    else:
        sums = np.empty((6, n.size))
        sums[:, phased] = closed_in_phases(*(a[phased] for a in flat))
        if not phased.all():
            sums[:, ~phased] = closed_product_form(*(a[~phased] for a in (n, z, s, c, i)))
    sums, servers = sums.reshape(6, *shape), c.reshape(shape)
    if phased is not None:
        return Steady.from_sums(sums, servers)
    # The law keeps its own numbers: the caller's arrays may change.
    kept = {"n": n, "z": z, "s": s, "c": c, "inflation": i}
    law = FiniteSourceDelay(**{key: a.reshape(shape).copy() for key, a in kept.items()}, delay=sums[4])
    return Steady.from_sums(sums, servers, law)
