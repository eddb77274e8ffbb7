"""Service times that are not exponential: how much longer or shorter the wait is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.results import Array

DEPTH: Final = 5.4
"""How fast a deeper queue makes the pool behave like one server; fitted to simulated open pools."""
FEEDBACK: Final = 2.2
"""How far requesters that wait are missing among the arrivals; fitted to simulated closed pools."""
LEAST_THINK: Final = 0.05
TINY: Final = float(np.finfo(float).tiny)


def wait_factor(pool: Pool, aliases: int, outcome: Outcome) -> Array:
    """Ratio of the wait to that of exponential service, for a two-moment law.

    In the form of Kimura (1986), ``(1 + C2) / ((1 - C2) / w + 2 C2)``: w is the ratio for constant service, 1/2 for
    one server, nearer to 1 where aliases are many and the queue is short.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases [1].
    outcome : Outcome
        Its solution for exponential service.

    Returns
    -------
    ndarray
        One factor a class, shape (classes,) [1].
    """
    if pool.scv == 1.0:
        return np.ones(pool.classes)
    fails = float(outcome.fails @ pool.volumes)
    depth = float(outcome.queue @ pool.volumes) / fails if fails > 0.0 else 0.0
    alone = 0.5 + 0.5 * aliases / (aliases + 1.0) / (1.0 + DEPTH * np.sqrt(depth))
    think = np.where(pool.closed, outcome.throughput * pool.think_time, np.inf)
    feedback = FEEDBACK / np.maximum(think, TINY)
    constant = alone + (1.0 - alone) * feedback / (1.0 + feedback)
    if pool.closed.any() and not pool.closed.all():
        constant = np.where(pool.closed, constant, _beside_closed(pool, outcome, constant, alone))
    return np.asarray((1.0 + pool.scv) / ((1.0 - pool.scv) / constant + 2.0 * pool.scv))


def _beside_closed(pool: Pool, outcome: Outcome, constant: Array, alone: float) -> Array:
    """Ratio for constant service of open classes that wait for the aliases of closed ones.

    The queue of the pool varies as its closed classes let it, as far as they cause it; that counts for what is
    picked up by aliases, not for what waits for its own base.
    """
    waits = outcome.fails * pool.volumes
    closed_waits = np.where(pool.closed, waits, 0.0)
    of_closed = float(constant @ closed_waits) / max(float(closed_waits.sum()), TINY)
    by_alias = outcome.alias_pickups / np.maximum(outcome.fails, TINY)
    share = float(closed_waits.sum()) / max(float(waits.sum()), TINY) * by_alias
    return np.asarray(alone + max(of_closed - alone, 0.0) * share)


def felt_think_time(pool: Pool, aliases: int, outcome: Outcome) -> Array:
    """Think time with which exponential service gives the throughput: the change of the wait is added to it.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases [1].
    outcome : Outcome
        Its solution with the think time felt before.

    Returns
    -------
    ndarray
        Think times, nan for open classes, shape (classes,) [service times].
    """
    if pool.scv == 1.0:
        return pool.think_time
    wait = (outcome.queue + outcome.in_gap(pool)) / outcome.throughput
    longer = (wait_factor(pool, aliases, outcome) - 1.0) * wait
    return np.maximum(LEAST_THINK * pool.think_time, pool.think_time + longer)


def with_variation(pool: Pool, aliases: int, outcome: Outcome) -> Outcome:
    """Wait of the two-moment law in place of that of exponential service.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases [1].
    outcome : Outcome
        Its solution, closed classes with the think time they feel.

    Returns
    -------
    Outcome
        The same with other queues; an I/O in its gap is not affected.
    """
    if pool.scv == 1.0 or not outcome.stable:
        return outcome
    in_gap = outcome.in_gap(pool)
    return replace(outcome, queue=wait_factor(pool, aliases, outcome) * (outcome.queue + in_gap) - in_gap)
