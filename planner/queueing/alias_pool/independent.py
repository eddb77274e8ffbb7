"""The two ends of a pool at which its closed volumes do not meet: no aliases, or more than the requesters can use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.queueing.alias_pool.lumped import solve_lumped
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.results import Array


def is_independent(pool: Pool, aliases: int) -> bool:
    """Whether the volumes of a pool do not influence each other.

    Parameters
    ----------
    pool : Pool
        Any pool.
    aliases : int
        Its aliases [1].

    Returns
    -------
    bool
        True for closed pools without aliases or with one for every requester beyond the first of each volume.
    """
    return bool(pool.closed.all()) and (aliases == 0 or aliases >= pool.volumes @ (pool.population - 1.0))


def solve_independent(pool: Pool, aliases: int) -> Outcome:
    """Solve one volume of each class by itself, exactly.

    Parameters
    ----------
    pool : Pool
        A closed pool for which `is_independent` holds.
    aliases : int
        Its aliases [1].

    Returns
    -------
    Outcome
        The exact answer.
    """
    alone = []
    held = np.ones(1)
    for k, count in enumerate(pool.volumes):
        one = replace(
            pool,
            volumes=np.ones(1),
            **{name: getattr(pool, name)[[k]] for name in ("population", "think_time", "arrival_rate")},
        )
        own = min(aliases, int(pool.population[k]) - 1)
        alone.append(solve_lumped(one, own))
        for _ in range(int(count)):
            held = np.convolve(held, alone[-1].free_law[::-1])
    free_law = np.zeros(aliases + 1)
    free_law[aliases - np.arange(held.size)] = held
    return Outcome(
        free_law=free_law,
        residual=max(each.residual for each in alone),
        **{name: _joined(alone, name) for name in PER_CLASS},
    )


PER_CLASS = (
    "throughput",
    "tries",
    "fails",
    "queue",
    "base_pickups",
    "alias_pickups",
    "base_in_service",
    "alias_in_service",
)


def _joined(alone: list[Outcome], name: str) -> Array:
    return np.concatenate([getattr(each, name) for each in alone])
