"""The front door: `alias_pool`, and which method answers."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Literal

from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing.pools.field.base_phases import LEAST_SCV
from planner.queueing.pools.field.mean_field import Field, extended
from planner.queueing.pools.independent import active_classes, nothing_arrives, with_idle, without_idle
from planner.queueing.pools.methods import AT_LAST, EXACT, FIELD, QUICKLY, may_be_quick, solution_steps
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool, check_aliases, check_pool
from planner.queueing.pools.result import PoolSteady, pool_steady
from planner.results import Array

Method = Literal["auto", "exact", "mean-field"]


def alias_pool(
    aliases: ArrayLike,
    *,
    volumes: ArrayLike,
    service_time: ArrayLike,
    population: ArrayLike | None = None,
    think_time: ArrayLike | None = None,
    arrival_rate: ArrayLike | None = None,
    scv: float = 1.0,
    inflation: float = 0.0,
    redrive_time: float = 0.0,
    alias_redrive_time: float | None = None,
    method: Method = "auto",
) -> PoolSteady:
    """Volumes, each with a base device, that share a pool of aliases.

    An I/O is served by the base of its volume if that is idle, else by a free alias, else it waits at its
    volume. A base that ends an I/O takes the next of its own queue; an alias that ends one takes a waiting
    I/O of the pool, each equally likely. With D the I/Os of the pool that no base holds, exactly min(D, A)
    aliases are busy and (D - A)+ I/Os wait.

    "exact" solves the Markov chain in which equal volumes are exchangeable: closed pools up to 30,000 states, in
    phases up to 10,000 where `scv` is not 1; with open classes, exponential service and neither inflation nor gaps,
    two to four volumes up to the D beyond which less than 1e-8 of the mean queue lies, within 50,000 states.
    "mean-field" solves for the law of
    one volume, the chance that its base is busy given D, and the split of the queue over the volumes, until
    they agree; its cost hardly grows with the number of volumes. Without inflation open volumes follow from
    their balances and a law of how the queue lies on all of them; where up to 6 of them overload their bases, a
    closed volume of up to 16 requesters has a chain of its own beside them. Where service is not exponential and
    a class is closed, bases go through the phases of the two-moment law; of open classes alone the wait is
    corrected by a fitted two-moment law. "auto" takes the exact chain where that costs no more: for one volume,
    for closed pools where a bound on the states is below 1,000, and for two or three volumes with open classes
    whose queue ends within 6,000 states, else the mean field; a sweep is answered by one method throughout, and
    `method` says by which. Where service times differ by class, the chains follow whose I/O every alias serves; the
    field knows it on average (docs/aliases-methods.md has its errors). Without aliases and with one for every
    requester but the first of each volume the volumes are independent: exact in either method, as is a single closed
    volume in phases up to 10,000 states.

    Parameters
    ----------
    aliases : array_like
        Aliases A of the pool; a sweep may have one axis, shape () or (aliases,) [1].
    volumes : array_like
        Volumes of each class of equal volumes, shape (classes,) [1].
    service_time : array_like
        Mean service time of an I/O served alone, on base and alias alike; one for all classes or one for each, shape
        () or (classes,) [s].
    population : array_like, optional
        Requesters at each volume of a class, each with at most one I/O outstanding; nan where open, shape
        (classes,) [1].
    think_time : array_like, optional
        Mean time from an answer to the next I/O of a requester, above 0; nan where open, shape (classes,)
        [s].
    arrival_rate : array_like, optional
        Poisson arrivals at each volume of a class; nan where closed, shape (classes,) [1/s].
    scv : float, optional
        Squared coefficient of variation of the service time; with closed classes less than 1/20 is taken as
        1/20 [1].
    inflation : float, optional
        Relative growth of the service time with each further I/O in service at the same volume [1].
    redrive_time : float, optional
        Mean gap of a device before it starts an I/O that had to wait [s].
    alias_redrive_time : float, optional
        The same for aliases, `redrive_time` where not given [s].
    method : {"auto", "exact", "mean-field"}, optional
        How to solve it.

    Returns
    -------
    PoolSteady
        Per class arrays of shape aliases x classes, or (classes,) for one count; pool arrays of the shape of
        `aliases`.

    Raises
    ------
    InputError
        An argument outside its domain or a million million times away from the service time, classes that do not fit
        together, or more states than "exact" takes.
    ConvergenceError
        An iteration that did not settle.

    Notes
    -----
    The pool is exact in D, the I/Os beyond the bases: busy aliases are min(D, A), queued I/Os (D - A)^+. A = 0 is
    one M/M/1//N queue for each volume, one volume is M/M/(A+1)//N; with `scv` M/PH/1//N and M/PH/(A+1)//N.

    References
    ----------
    Wilkinson, Theories for toll traffic engineering in the U.S.A., Bell System Technical Journal 35 (1956): traffic
    that overflows from a first group (here the bases) to a second (the aliases).

    Examples
    --------
    Eight volumes with three requesters each, as the published pool, with 0, 8 and 16 aliases:

    >>> pool = alias_pool([0, 8, 16], volumes=8, population=3, think_time=0.153e-3,
    ...                   service_time=1.288e-3, inflation=0.160, redrive_time=0.059e-3)
    >>> pool.pool_throughput.round(0).tolist()
    [5939.0, 10095.0, 13228.0]
    >>> pool.method
    'mean-field'
    """
    if method not in ("auto", "exact", "mean-field"):
        raise InputError("method", method, "auto, exact or mean-field")
    pool = check_pool(
        volumes=volumes,
        service_time=service_time,
        population=population,
        think_time=think_time,
        arrival_rate=arrival_rate,
        scv=scv,
        inflation=inflation,
        redrive_time=redrive_time,
        alias_redrive_time=alias_redrive_time,
    )
    counts = check_aliases(aliases, pool)
    if not active_classes(pool).any():
        return pool_steady(
            pool, counts, [nothing_arrives(pool, int(count)) for count in counts.ravel()], "exact"
        )
    active = without_idle(pool)
    solved, answered_by = _solve(active, counts.ravel(), method)
    return pool_steady(pool, counts, [with_idle(pool, outcome) for outcome in solved], answered_by)


def _solve(pool: CheckedPool, counts: Array, method: Method) -> tuple[list[Outcome], str]:
    """Solve every count, and say by which method."""
    if method == "exact":
        if pool.scv != 1.0 and not (pool.closed.all() and pool.scv >= LEAST_SCV):
            expected = "the mean field where scv is below 1/20, or not 1 and a class is open"
            raise InputError("method", "exact", expected)
        return _each(pool, counts, EXACT), "exact"
    if method == "auto" and (quick := solve_quickly(pool, counts)) is not None:
        return quick, "exact"
    return _each(pool, counts, FIELD | AT_LAST if method == "auto" else FIELD), "mean-field"


def solve_quickly(pool: CheckedPool, counts: Array) -> list[Outcome] | None:
    """Solve by exact chains where they cost no more than the mean field; None where there are too many states."""
    if may_be_quick(pool, int(counts.max())):
        with suppress(InputError):
            return _each(pool, counts, QUICKLY)
    return None


def _each(pool: CheckedPool, counts: Array, passes: frozenset[str]) -> list[Outcome]:
    """Solve from the fewest aliases up, each count beginning where the last one ended."""
    outcomes: dict[int, Outcome] = {}
    earlier: Field | None = None
    field: Field | None = None
    for count in sorted({int(count) for count in counts}):
        steps = solution_steps(pool, count, passes, extended(earlier, field, count))
        outcomes[count], following = deque(steps, maxlen=1).pop()
        if following is not None:
            earlier, field = field, following
    return [outcomes[int(count)] for count in counts]
