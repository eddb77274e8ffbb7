"""Volumes that do not meet, solved one by one: where a gap follows what waited, the field is not exact for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from planner.queueing.pools.exact.lumped import solve_lumped, solve_single_open
from planner.queueing.pools.field.elements import Elements
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.queueing.single_station import finite_source, mmc


def without_aliases(elements: Elements) -> Outcome:
    """Pools without aliases, whose volumes are single stations, side by side: a try fails and the base picks it up."""
    here = elements.volumes > 0.0
    closed, opened = here & elements.closed, here & ~elements.closed
    outcome = Outcome.empty(elements)
    outcome.free_law[:] = 1.0
    gap = np.broadcast_to(elements.redrive_time[:, None], here.shape)
    for some in (closed, opened):
        if not some.any():
            continue
        steady = (
            finite_source(
                elements.population[some],
                elements.think_time[some],
                elements.service[some],
                1,
                redrive_time=gap[some],
            )
            if some is closed
            else mmc(elements.arrival_rate[some], elements.service[some], 1, redrive_time=gap[some])
        )
        outcome.throughput[some] = steady.throughput
        outcome.queue[some] = steady.queue_length - steady.in_gap
        outcome.base_in_service[some] = steady.in_service
        for name in ("tries", "fails", "base_pickups"):
            getattr(outcome, name)[some] = steady.throughput * steady.delay_probability
    return outcome


def solve_one(pool: CheckedPool, k: int, aliases: int) -> Outcome:
    """Solve one volume of class k with aliases of its own, exactly."""
    alone = pool.of_one(k)
    if not pool.closed[k]:
        return solve_single_open(alone, aliases).in_units_of(pool, k)
    useful = min(aliases, int(pool.population[k]) - 1)
    outcome = solve_lumped(alone, useful)
    free_law = np.pad(outcome.free_law, (aliases - useful, 0))
    return replace(outcome.in_units_of(pool, k), free_law=free_law)


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
    held = np.ones(1)
    for count, outcome in zip(pool.volumes, alone, strict=True):
        for _ in range(int(count)):
            held = np.convolve(held, outcome.free_law[::-1])
    return Outcome(
        free_law=np.pad(held[::-1], (aliases + 1 - held.size, 0)),
        residual=max(each.residual for each in alone),
        **joined,
    )


def states_of_one(pool: CheckedPool, aliases: int) -> float:
    """Upper bound on the states of a single closed volume: requesters present, state of the base, aliases in a gap."""
    bases = 2 + (pool.redrive_time > 0.0)
    in_gap = 1 + min(aliases, int(pool.population[0])) * (pool.redrive_time > 0.0)
    return float((pool.population[0] + 1.0) * bases * in_gap)
