"""Exact small pools with open volumes: block elimination over the levels of D, as many as their tail asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from planner.errors import InputError
from planner.queueing._levels import dwell_times, stationary
from planner.queueing.pools.exact.levels import Level, Levels
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

TRUNCATION: Final = 1e-8
"""Share of the mean queue that may lie beyond the last level."""
MOST_VOLUMES: Final = 4
"""Volumes up to which a pool is solved by levels."""
FIRST_QUEUE: Final = 8
"""I/Os waiting at which the tail is first looked at."""
GROWTH: Final = 1.25
"""By how much longer the queue is when it is looked at again."""
SLOPE_OVER: Final = 4
"""Levels over which the fall of the law at its end is taken."""
LARGE: Final = 1e200
"""Weight of a level from which on all of them are scaled down, so that none overflows."""


@dataclass(frozen=True)
class ChainSize:
    """What may be spent on the elimination."""

    states: int  # States of all levels together [1]
    per_level: int  # States of one level, which is solved densely [1]


FULL: Final = ChainSize(states=50_000, per_level=1_000)
"""Two volumes with 300 I/Os waiting, three with 40: about half a second."""


def solve_open_chain(pool: CheckedPool, aliases: int, size: ChainSize = FULL) -> Outcome:
    """Solve a small pool with open classes exactly, but for a tail that is bounded.

    D moves by one, so that the levels form a block tridiagonal chain: with T the generator of a level watched only
    while D is there or below, ``T[D] = local[D] + down[D] (-T[D-1])^-1 up[D-1]`` and
    ``law[D-1] = law[D] down[D] (-T[D-1])^-1``.
    Levels are added until what lies beyond the last one, were it to go on as it ended, is 1e-8 of the mean queue.
    """
    _check(pool)
    levels = Levels(pool, aliases)
    below: Level | None = None
    here, above = levels.level(0), levels.level(1)
    kept: list[Level] = []
    steps: list[Array] = []
    reduced, up = np.zeros((0, 0)), np.zeros((0, 0))
    check, states = aliases + FIRST_QUEUE, 0
    while True:
        moves = levels.moves(below, here, above)
        local = moves.within
        if below is not None:
            steps.append(moves.down @ dwell_times(reduced[None], up.sum(axis=1)[None])[0])
            local += steps[-1] @ up
        reduced, up = local, moves.up
        kept.append(here)
        states += here.size
        if here.total >= check:
            laws = _laws(reduced, steps)
            share = _beyond(kept, laws)
            if share <= TRUNCATION:
                return _outcome(pool, levels, kept, laws, share)
            check = aliases + int(GROWTH * here.waiting) + 1
        if states + above.size > size.states or above.size > size.per_level:
            raise InputError(
                "method",
                "exact",
                f"a pool whose queue ends within {size.states} states, {size.per_level} of them with one "
                f'number waiting: use "mean-field" (up to {here.waiting} waiting were not enough)',
            )
        below, here, above = here, above, levels.level(here.total + 2)


def _check(pool: CheckedPool) -> None:
    """Only what the levels know."""
    if pool.bases > MOST_VOLUMES:
        expected = f'at most {MOST_VOLUMES} volumes where a class is open: use "mean-field"'
        raise InputError("method", "exact", expected)
    if pool.slowed:
        expected = (
            'neither inflation nor redrive time where several volumes have open classes: use "mean-field"'
        )
        raise InputError("method", "exact", expected)


def _laws(reduced: Array, steps: list[Array]) -> list[Array]:
    """Law of every level; arrivals that would lead beyond the last one are lost."""
    laws = [stationary(reduced[None])[0]]
    for step in reversed(steps):
        laws.append(laws[-1] @ step)
        if (largest := float(laws[-1].max())) > LARGE:  # what is so much rarer is nothing
            laws = [law / largest for law in laws]
    laws.reverse()
    whole = sum(float(law.sum()) for law in laws)
    return [law / whole for law in laws]


def _beyond(levels: list[Level], laws: list[Array]) -> float:
    """Share of the mean queue beyond the last level, were the law to go on falling as it did."""
    law = np.array([each.sum() for each in laws])
    waiting = np.array([level.waiting for level in levels], dtype=np.float64)
    if not law[-1] > 0.0:
        return 0.0
    ratio = float((law[-1] / law[-1 - SLOPE_OVER]) ** (1.0 / SLOPE_OVER))
    if ratio >= 1.0:
        return np.inf
    beyond = law[-1] * ratio / (1.0 - ratio) * (waiting[-1] + 1.0 / (1.0 - ratio))
    return float(beyond / (law @ waiting))


def _outcome(
    pool: CheckedPool, levels: Levels, kept: list[Level], laws: list[Array], share: float
) -> Outcome:
    """Sum over the states."""
    aliases = levels.aliases
    sums: dict[str, Any] = {name: np.zeros(pool.bases) for name in PER_CLASS}
    free_law, tries_by_free = np.zeros((2, aliases + 1))
    for level, law in zip(kept, laws, strict=True):
        busy, queued = level.own > 0, np.maximum(level.own - 1, 0)
        arrivals = levels.arrivals(level)
        tries = law @ (arrivals * busy)
        sums["throughput"] += law @ arrivals
        sums["tries"] += tries
        sums["base_in_service"] += law @ busy
        free = max(aliases - level.total, 0)
        free_law[free] += law.sum()
        tries_by_free[free] += tries.sum()
        if level.total >= aliases:
            sums["fails"] += tries
        if level.waiting:
            sums["queue"] += law @ queued
            sums["base_pickups"] += law @ (queued > 0) * levels.pace
            sums["alias_pickups"] += (law * levels.alias_ends(level)) @ queued / level.waiting
    sums["alias_in_service"] = (sums["tries"] - sums["fails"] + sums["alias_pickups"]) / levels.pace
    per_volume: dict[str, Any] = {
        name: np.bincount(levels.volume_class, weights=values) / pool.volumes for name, values in sums.items()
    }
    per_volume["throughput"] = np.where(pool.closed, per_volume["throughput"], pool.arrival_rate)
    return Outcome(**per_volume, free_law=free_law, tries_by_free=tries_by_free, residual=share)
