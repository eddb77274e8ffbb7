"""Volumes without arrivals: left out of the pool that is solved, and put back into its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import Pool


def active_classes(pool: Pool) -> NDArray[np.bool_]:
    """Which classes have arrivals.

    Parameters
    ----------
    pool : Pool
        Any pool.

    Returns
    -------
    ndarray of bool
        False for open classes of rate 0, shape (classes,).
    """
    return np.logical_or(pool.closed, pool.arrival_rate > 0.0)


def without_idle(pool: Pool) -> Pool:
    """Leave out the volumes without arrivals.

    Parameters
    ----------
    pool : Pool
        A pool with at least one class that has arrivals.

    Returns
    -------
    Pool
        Its active classes.
    """
    active = active_classes(pool)
    if active.all():
        return pool
    names = ("volumes", "population", "think_time", "arrival_rate", "service")
    return replace(pool, **{name: getattr(pool, name)[active] for name in names})


def with_idle(pool: Pool, outcome: Outcome) -> Outcome:
    """Put the volumes without arrivals back.

    Parameters
    ----------
    pool : Pool
        The whole pool.
    outcome : Outcome
        Of its active classes.

    Returns
    -------
    Outcome
        Zeros for the classes without arrivals.
    """
    active = active_classes(pool)
    if active.all():
        return outcome
    whole: dict[str, Any] = {name: np.zeros(pool.classes) for name in PER_CLASS}
    for name, values in whole.items():
        values[active] = getattr(outcome, name)
    return replace(outcome, **whole)


def nothing_arrives(pool: Pool, aliases: int) -> Outcome:
    """Answer for a pool without any arrival.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases, all of them free [1].

    Returns
    -------
    Outcome
        Zeros.
    """
    zeros: dict[str, Any] = {name: np.zeros(pool.classes) for name in PER_CLASS}
    free_law = np.zeros(aliases + 1)
    free_law[aliases] = 1.0
    return Outcome(free_law=free_law, tries_by_free=np.zeros(aliases + 1), residual=0.0, **zeros)
