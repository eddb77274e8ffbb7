"""Exact small pools with open volumes: block elimination over the levels of D, as many as the tail asks for."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.queueing.pools.open_levels import Level, Levels
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.results import Array

TRUNCATION: Final = 1e-8
"""Share of the mean queue that may lie beyond the last level."""
FIRST_CHECK: Final = 8
GROWTH: Final = 1.25
DISTANCE = 4


def solve_open_chain(pool: Pool, aliases: int, most: float) -> Outcome | None:
    levels = Levels(pool, aliases)
    here, above = levels.level(0), levels.level(1)
    below: Level | None = None
    kept: list[Level] = []
    steps: list[Array] = []
    reduced: Array | None = None
    ups: Array | None = None
    cost = 0.0
    check = aliases + FIRST_CHECK
    while True:
        moves = levels.moves(below, here, above)
        outflow = moves.within.sum(axis=1) + moves.up.sum(axis=1) + moves.down.sum(axis=1)
        local = moves.within - np.diag(outflow)
        if reduced is not None:
            step = np.linalg.solve(-reduced.T, moves.down.T).T
            steps.append(step)
            local += step @ ups
        reduced, ups = local, moves.up
        kept.append(here)
        cost += here.size**3
        if here.total >= check:
            laws = _laws(reduced, ups, steps)
            share = _beyond(kept, laws)
            if share <= TRUNCATION:
                return _outcome(pool, levels, kept, laws, share)
            check = int(aliases + (here.total - aliases) * GROWTH) + 1
        if cost > most:
            return None
        below, here, above = here, above, levels.level(here.total + 2)


def _laws(reduced, ups, steps):
    """Law of every level, arrivals at the last one that would lead beyond it lost."""
    top = reduced + np.diag(ups.sum(axis=1))
    top[:, 0] = 1.0
    right = np.zeros(top.shape[0])
    right[0] = 1.0
    laws = [np.linalg.solve(top.T, right)]
    for step in reversed(steps):
        laws.append(laws[-1] @ step)
    laws.reverse()
    whole = sum(float(law.sum()) for law in laws)
    return [law / whole for law in laws]


def _beyond(levels, laws):
    """Share of the mean queue beyond the last level, were it to go on as it ended."""
    mass = np.array([law.sum() for law in laws])
    waiting = np.array([level.waiting for level in levels])
    queue = mass @ waiting
    if mass[-1] == 0.0:
        return 0.0
    ratio = (mass[-1] / mass[-1 - DISTANCE]) ** (1.0 / DISTANCE)
    if not ratio < 1.0:
        return np.inf
    return mass[-1] * ratio / (1.0 - ratio) * (waiting[-1] + 1.0 / (1.0 - ratio)) / queue


def _outcome(pool, levels, kept, laws, residual):
    classes, aliases = pool.classes, levels.aliases
    of_class = np.zeros((levels.volume_class.size, classes))
    of_class[np.arange(levels.volume_class.size), levels.volume_class] = 1.0
    per_volume = 1.0 / pool.volumes
    sums = {name: np.zeros(classes) for name in ("throughput", "tries", "fails", "queue", "base_pickups", "alias_pickups", "base_in_service", "alias_in_service")}
    free_law, by_free = np.zeros((2, aliases + 1))
    for level, law in zip(kept, laws, strict=True):
        busy = level.own > 0
        queued = np.maximum(level.own - 1, 0)
        arrive = law @ levels.arrivals(level)
        at_busy = law @ (levels.arrivals(level) * busy)
        sums["throughput"] += arrive @ of_class
        sums["tries"] += at_busy @ of_class
        if level.total >= aliases:
            sums["fails"] += at_busy @ of_class
        sums["queue"] += law @ queued @ of_class
        sums["base_pickups"] += law @ (queued > 0) @ of_class
        if level.waiting:
            sums["alias_pickups"] += (aliases / level.waiting) * (law @ queued) @ of_class
        sums["base_in_service"] += law @ busy @ of_class
        free = max(aliases - level.total, 0)
        free_law[free] += law.sum()
        by_free[free] += at_busy.sum()
    values = {name: value * per_volume for name, value in sums.items()}
    values["throughput"] = np.where(pool.closed, values["throughput"], pool.arrival_rate)
    values["alias_in_service"] = values["tries"] - values["fails"] + values["alias_pickups"]
    return Outcome(**values, free_law=free_law, tries_by_free=by_free, residual=float(residual))
