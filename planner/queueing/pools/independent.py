"""The two ends of a pool at which its volumes do not meet: no aliases, or more than closed volumes can use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from planner.queueing.pools.base_phases import base_phases, phased_volume_law
from planner.queueing.pools.device_rates import Gaps
from planner.queueing.pools.lumped import MAX_STATES, solve_lumped
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.queueing.pools.service_variation import with_variation
from planner.queueing.pools.single_open import solve_single_open
from planner.queueing.pools.volume_law import VolumeRates, arrival_rates

PER_CLASS: Final = (
    "throughput",
    "tries",
    "fails",
    "queue",
    "base_pickups",
    "alias_pickups",
    "base_in_service",
    "alias_in_service",
)


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
        True without aliases, for closed pools with one for every requester but the first of each volume, and for a
        single volume with exponential service that is small enough for the exact chain.
    """
    if pool.bases == 1 and pool.scv == 1.0:
        return not pool.closed[0] or _states_of_one(pool, aliases) <= MAX_STATES
    return aliases == 0 or aliases >= pool.most_beyond


def _states_of_one(pool: Pool, aliases: int) -> float:
    """Upper bound on the states of a single closed volume: requesters present, state of the base, aliases in a gap."""
    bases = 2 + (pool.redrive_time > 0.0)
    in_gap = 1 + min(aliases, int(pool.population[0])) * (pool.alias_redrive_time > 0.0)
    return float((pool.population[0] + 1.0) * bases * in_gap)


def solve_one(pool: Pool, k: int, aliases: int) -> Outcome:
    """Solve one volume of class k with aliases of its own, exactly.

    Parameters
    ----------
    pool : Pool
        The pool it comes from.
    k : int
        Its class.
    aliases : int
        Aliases of this volume alone [1].

    Returns
    -------
    Outcome
        The exact answer.
    """
    names = ("population", "think_time", "arrival_rate")
    alone = replace(pool, volumes=np.ones(1), **{name: getattr(pool, name)[[k]] for name in names})
    if not pool.closed[k]:
        return with_variation(alone, aliases, solve_single_open(alone, aliases))
    if pool.scv != 1.0 and aliases == 0:
        return _without_alias(alone)
    useful = min(aliases, int(pool.population[k]) - 1)
    outcome = solve_lumped(alone, useful)
    return replace(
        outcome,
        free_law=np.pad(outcome.free_law, (aliases - useful, 0)),
        tries_by_free=np.pad(outcome.tries_by_free, (aliases - useful, 0)),
    )


def _without_alias(alone: Pool) -> Outcome:
    """Solve a closed volume without aliases whose base serves in phases."""
    base = base_phases(alone.scv, alone.redrive_time)
    waiting = np.arange(alone.population[0])
    picks = np.minimum(waiting, 1.0)
    none, one = np.zeros_like(waiting), np.ones_like(waiting)
    rates = VolumeRates(none, none, picks, 1.0 - picks, one, Gaps(), 0.0)
    idle, phases = phased_volume_law(alone, 0, rates, base)
    busy = phases.sum(axis=1)
    idle_arrivals, busy_arrivals = arrival_rates(alone, 0, waiting.size)
    tries = np.atleast_1d(busy @ busy_arrivals)
    return Outcome(
        throughput=idle @ idle_arrivals + tries,
        tries=tries,
        fails=tries,
        queue=np.atleast_1d(busy @ waiting),
        base_pickups=tries,
        alias_pickups=np.zeros(1),
        base_in_service=busy.sum() - alone.redrive_time * tries,
        alias_in_service=np.zeros(1),
        free_law=np.ones(1),
        tries_by_free=tries,
        residual=0.0,
    )


def solve_independent(pool: Pool, aliases: int) -> Outcome:
    """Solve one volume of each class by itself, exactly.

    Parameters
    ----------
    pool : Pool
        A pool for which `is_independent` holds.
    aliases : int
        Its aliases [1].

    Returns
    -------
    Outcome
        The exact answer.
    """
    if pool.bases == 1:
        return solve_one(pool, 0, aliases)
    alone = [
        solve_one(pool, k, 0 if aliases == 0 else int(pool.population[k]) - 1) for k in range(pool.classes)
    ]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in alone]) for name in PER_CLASS
    }
    held, tries = np.ones(1), np.zeros(1)
    for count, outcome in zip(pool.volumes, alone, strict=True):
        for _ in range(int(count)):
            more = outcome.free_law[::-1]
            tries = np.convolve(tries, more) + np.convolve(held, outcome.tries_by_free[::-1])
            held = np.convolve(held, more)
    unused = (aliases + 1 - held.size, 0)
    return Outcome(
        free_law=np.pad(held[::-1], unused),
        tries_by_free=np.pad(tries[::-1], unused),
        residual=max(each.residual for each in alone),
        **joined,
    )
