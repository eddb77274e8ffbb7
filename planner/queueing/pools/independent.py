"""Volumes that do not meet: those without arrivals, all where there are no aliases or more than they can use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.exact.closed_chain import MAX_STATES, solve_lumped
from planner.queueing.pools.exact.phased_chain import MAX_STATES as MAX_PHASED
from planner.queueing.pools.exact.phased_chain import phased_states, solve_phased
from planner.queueing.pools.exact.single_open import solve_single_open
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.queueing.pools.service_variation import with_variation


def is_independent(pool: CheckedPool, aliases: int) -> bool:
    """Whether the volumes of a pool do not influence each other."""
    if pool.bases == 1 and pool.scv == 1.0:
        return not pool.closed[0] or _states_of_one(pool, aliases) <= MAX_STATES
    if aliases == 0 or aliases >= pool.most_beyond:
        return True
    return bool(pool.bases == 1 and pool.closed[0]) and phased_states(pool, 0, aliases) <= MAX_PHASED


def _states_of_one(pool: CheckedPool, aliases: int) -> float:
    """Upper bound on the states of a single closed volume: requesters present, state of the base, aliases in a gap."""
    bases = 2 + (pool.redrive_time > 0.0)
    in_gap = 1 + min(aliases, int(pool.population[0])) * (pool.alias_redrive_time > 0.0)
    return float((pool.population[0] + 1.0) * bases * in_gap)


def solve_one(pool: CheckedPool, k: int, aliases: int) -> Outcome:
    """Solve one volume of class k with aliases of its own, exactly."""
    alone = pool.of_one(k)
    if not pool.closed[k]:
        opened = with_variation(alone, aliases, solve_single_open(alone, aliases), alone.scv)
        return opened.in_units_of(pool, k)
    useful = min(aliases, int(pool.population[k]) - 1)
    # Too many phases for the chain: with an alias for everybody nobody waits, whatever the service.
    phased = pool.scv != 1.0 and (useful == 0 or phased_states(pool, k, useful) <= MAX_PHASED)
    outcome = solve_phased(alone, useful) if phased else solve_lumped(alone, useful)
    return replace(
        outcome.in_units_of(pool, k),
        free_law=np.pad(outcome.free_law, (aliases - useful, 0)),
        tries_by_free=np.pad(outcome.tries_by_free / pool.service[k], (aliases - useful, 0)),
    )


def solve_independent(pool: CheckedPool, aliases: int) -> Outcome:
    """Solve one volume of each class by itself, exactly."""
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


def active_classes(pool: CheckedPool) -> NDArray[np.bool_]:
    """Which classes have arrivals."""
    return np.logical_or(pool.closed, pool.arrival_rate > 0.0)


def without_idle(pool: CheckedPool) -> CheckedPool:
    """Leave out the volumes without arrivals."""
    active = active_classes(pool)
    if active.all():
        return pool
    names = ("volumes", "population", "think_time", "arrival_rate", "service")
    return replace(pool, **{name: getattr(pool, name)[active] for name in names})


def with_idle(pool: CheckedPool, outcome: Outcome) -> Outcome:
    """Put the volumes without arrivals back."""
    active = active_classes(pool)
    if active.all():
        return outcome
    whole: dict[str, Any] = {name: np.zeros(pool.classes) for name in PER_CLASS}
    for name, values in whole.items():
        values[active] = getattr(outcome, name)
    return replace(outcome, **whole)


def nothing_arrives(pool: CheckedPool, aliases: int) -> Outcome:
    """Answer for a pool without any arrival."""
    zeros: dict[str, Any] = {name: np.zeros(pool.classes) for name in PER_CLASS}
    free_law = np.zeros(aliases + 1)
    free_law[aliases] = 1.0
    return Outcome(free_law=free_law, tries_by_free=np.zeros(aliases + 1), residual=0.0, **zeros)
