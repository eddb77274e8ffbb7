"""The public function `alias_pool`, for any number of pools and alias counts at once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import ConvergenceError, InputError
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.field.mean_field import MOST_PASSES
from planner.queueing.pools.methods import PoolBatch, solve_all
from planner.queueing.pools.pool import check_aliases, check_pools
from planner.queueing.pools.result import PoolSteady, pool_steady
from planner.queueing.pools.stability import fewest_to_be_stable

Method = Literal["auto", "exact", "mean-field"]


def alias_pool(
    aliases: ArrayLike,
    *,
    volumes: ArrayLike,
    service_time: ArrayLike,
    population: ArrayLike | None = None,
    think_time: ArrayLike | None = None,
    arrival_rate: ArrayLike | None = None,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
    method: Method = "auto",
) -> PoolSteady:
    """Volumes, each with a base device, that share a pool of aliases.

    An I/O is served by the base of its volume if that is idle, else by a free alias, else it waits at its
    volume. A base that ends an I/O takes the next of its own queue; an alias that ends one takes a waiting
    I/O of the pool, each equally likely. With D the I/Os of the pool that no base holds, exactly min(D, A)
    aliases are busy and (D - A)+ I/Os wait.

    Any number of pools and alias counts are solved together; each answer depends on its own pool alone.

    "mean-field" solves for the distribution of one volume, the probability that its base is busy given D, and the split
    of the queue over the volumes, until they agree; its cost hardly grows with the number of volumes. It is exact if
    volumes do not interact: for a single one, without aliases, and with one for every requester except the first of
    each volume. "auto" is the same, so that answers do not jump between methods. "exact" solves the Markov chain with
    exchangeable equal volumes: closed pools up to 30,000 states. The errors of the mean field are in
    docs/aliases-methods.md.

    Parameters
    ----------
    aliases : array_like
        Aliases A of the pool, of any shape [1].
    volumes : array_like
        Volumes of each class of equal volumes, shape (..., classes); 0 pads pools with fewer classes [1].
    service_time : array_like
        Mean service time of an I/O served alone, on base or alias; one for all classes or one for each, shape
        () or (..., classes) [s].
    population : array_like, optional
        Requesters at each volume of a class, each with at most one I/O outstanding; nan where open, shape
        (..., classes) [1].
    think_time : array_like, optional
        Mean time from an answer to the next I/O of a requester, above 0; nan where open, shape
        (..., classes) [s].
    arrival_rate : array_like, optional
        Poisson arrivals at each volume of a class; nan where closed, shape (..., classes) [1/s].
    inflation : array_like, optional
        Relative growth of the service time with each further I/O in service at the same volume, shape (...) [1].
    redrive_time : array_like, optional
        Mean gap of a device before it starts an I/O that had to wait, shape (...) [s].
    method : {"auto", "exact", "mean-field"}, optional
        Solution method.

    Returns
    -------
    PoolSteady
        Pool arrays in the shape of `aliases`, broadcast with the leading dimensions (...) of the pools; arrays by class
        with the classes on one more axis. So counts and (classes,) give counts x classes; (1, counts) and
        (scenarios, 1, classes) give scenarios x counts x classes.

    Raises
    ------
    InputError
        An argument outside its domain or a factor of 1e12 away from the service time, inconsistent classes, or too many
        states, or open classes that share aliases, for "exact".
    ConvergenceError
        An iteration did not converge; the message has the index of its element.

    Notes
    -----
    The pool is exact in D, the I/Os beyond the bases: busy aliases are min(D, A), queued I/Os (D - A)^+. A = 0 is
    one M/M/1//N queue for each volume, one volume is M/M/(A+1)//N.

    References
    ----------
    Wilkinson, Theories for toll traffic engineering in the U.S.A., Bell System Technical Journal 35 (1956): traffic
    that overflows from a first group (here the bases) to a second one (the aliases).

    Examples
    --------
    Eight volumes with three requesters each, as in the published pool, with 0, 8 and 16 aliases:

    >>> pool = alias_pool([0, 8, 16], volumes=8, population=3, think_time=0.153e-3,
    ...                   service_time=1.288e-3, inflation=0.160, redrive_time=0.059e-3)
    >>> pool.pool_throughput.round(0).tolist()
    [5939.0, 10087.0, 13228.0]
    >>> pool.method
    'mean-field'
    """
    found = solve_pools(
        aliases,
        volumes=volumes,
        service_time=service_time,
        population=population,
        think_time=think_time,
        arrival_rate=arrival_rate,
        inflation=inflation,
        redrive_time=redrive_time,
        method=method,
    )
    if not found.converged.all():
        first = np.unravel_index(int(np.argmin(found.converged)), found.converged.shape)
        where = ", ".join(str(int(each)) for each in first)
        what = f"alias pool with {found.aliases[first]:.0f} aliases" + (
            f", element [{where}]" if where else ""
        )
        raise ConvergenceError(what, float(found.residual[first]), MOST_PASSES)
    return found


def solve_pools(aliases: ArrayLike, *, method: Method = "auto", **pools: Any) -> PoolSteady:
    """As `alias_pool`, but elements that did not converge are nan, and `converged` is False for them."""
    if method not in ("auto", "exact", "mean-field"):
        raise InputError("method", method, "auto, exact or mean-field")
    scenarios = check_pools(**pools)
    counts, scenario = check_aliases(aliases, scenarios)
    elements = PoolElements.of_pools(scenarios, scenario.ravel(), counts.ravel())
    needed = fewest_to_be_stable(scenarios)
    batch = PoolBatch(scenarios, scenario.ravel(), elements, elements.aliases >= needed[scenario.ravel()])
    outcome, converged, kind = solve_all(batch, method)
    return pool_steady(scenarios, elements, counts.shape, outcome, converged, needed, kind)
