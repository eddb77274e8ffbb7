"""Exact small pools with open volumes, a reference for the mean field: elimination over the levels of D, up to a tail.

A level has the states with one D, the I/Os that no base holds. With exponential service of one mean it does not matter
which I/O an open volume has on its aliases: min(D, A) are busy. A state is therefore D and, for each volume, the I/Os
on its base and in its queue; also the aliases it holds if it is closed, since its requesters are counted, or if service
times differ by class. Equal volumes are exchangeable: their states are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final
from unittest import mock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.queueing._levels import LARGE, dwell_times, stationary
from planner.queueing.pools import PoolSteady, alias_pool, methods
from planner.queueing.pools.lumped import solve_lumped
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import OnePool
from planner.results import Array, Integers


@dataclass(frozen=True, eq=False)
class Level:
    """The states of one D."""

    total: int  # D [1]
    waiting: int  # I/Os waiting in the pool [1]
    own: Integers  # I/Os on the base of each volume and in its queue, shape (states, volumes) [1]
    held: Integers  # Aliases that each volume holds, 0 if not tracked, shape (states, volumes) [1]
    keys: Integers  # Sorted keys to look up states, shape (states,)

    @property
    def size(self) -> int:
        """Number of states [1]."""
        return int(self.keys.size)


class Levels:
    """The levels of one pool at one alias count."""

    def __init__(self, pool: OnePool, aliases: int) -> None:
        self.aliases = aliases
        self.volume_class = np.repeat(np.arange(pool.classes), pool.volumes.astype(np.int64))
        closed = pool.closed[self.volume_class]
        self.service_rate = 1.0 / pool.service[self.volume_class]
        self._held = closed | (pool.service != 1.0).any()  # volumes whose aliases are tracked
        self._not_held = bool(not self._held.all())
        self._population = np.where(closed, pool.population[self.volume_class], np.inf)
        self._rate = pool.arrival_rate[self.volume_class]
        self._rate[closed] = 1.0 / pool.think_time[self.volume_class[closed]]
        self._starts = np.flatnonzero(np.diff(self.volume_class, prepend=-1))

    def level(self, total: int) -> Level:
        """The states of one D."""
        waiting, busy = max(total - self.aliases, 0), min(total, self.aliases)
        rows = np.zeros((1, 0), dtype=np.int64)
        held = np.zeros((1, 0), dtype=np.int64)
        queue_left, alias_left = np.array([waiting]), np.array([busy])
        for volume in range(self._population.size):
            own, on_alias = self._choices(volume, waiting, busy)
            queued = np.maximum(own - 1, 0)
            fits = (queued <= queue_left[:, None]) & (on_alias <= alias_left[:, None])
            before, choice = np.nonzero(fits)
            rows = np.column_stack([rows[before], own[choice]])
            held = np.column_stack([held[before], on_alias[choice]])
            queue_left = queue_left[before] - queued[choice]
            alias_left = alias_left[before] - on_alias[choice]
        whole = (queue_left == 0) & ((alias_left == 0) | self._not_held)
        keys, first = np.unique(self._keys(total, rows[whole], held[whole]), return_index=True)
        return Level(total, waiting, rows[whole][first], held[whole][first], keys)

    def _choices(self, volume: int, waiting: int, busy: int) -> tuple[Integers, Integers]:
        """Possible I/Os of one volume on its base and in its queue, and on aliases."""
        people = self._population[volume]
        own = np.arange(int(min(waiting + 1, people)) + 1)
        if not self._held[volume]:
            return own, np.zeros_like(own)
        held = np.arange(int(min(busy, people)) + 1)
        own, held = (each.ravel() for each in np.meshgrid(own, held, indexing="ij"))
        possible = own + held <= people
        return own[possible], held[possible]

    def _keys(self, total: int, own: Integers, held: Integers) -> Integers:
        """One key per state, the same for states that differ only by the order of equal volumes."""
        most_held, most_own = self.aliases + 1, max(total - self.aliases, 0) + 2
        code = own * most_held + held
        for start, end in zip(self._starts, [*self._starts[1:], code.shape[1]], strict=True):
            code[:, start:end] = np.sort(code[:, start:end], axis=1)
        keys = np.zeros(code.shape[0], dtype=np.int64)
        for column in code.T:
            keys = keys * (most_own * most_held) + column
        return keys

    def moves(self, below: Level | None, here: Level, above: Level) -> tuple[Array, Array, Array]:
        """Rates to other states of a level, of the next and of the previous one, each (states, states there)."""
        within = np.zeros((here.size, here.size))
        up = np.zeros((here.size, above.size))
        down = np.zeros((here.size, 0 if below is None else below.size))

        def add(matrix: Array, level: Level, rate: NDArray[Any], own: Integers, held: Integers) -> None:
            some = np.flatnonzero(rate > 0.0)
            to = np.searchsorted(level.keys, self._keys(level.total, own[some], held[some]))
            np.add.at(matrix, (some, to), rate[some])

        for volume, unit in enumerate(np.eye(self._population.size, dtype=np.int64)):
            held, service_rate = unit * self._held, self.service_rate[volume]
            idle = here.own[:, volume] == 0
            rate = np.full(here.size, self._rate[volume])
            if np.isfinite(self._population[volume]):
                rate *= self._population[volume] - here.own[:, volume] - here.held[:, volume]
            add(within, here, rate * idle, here.own + unit, here.held)
            if here.total < self.aliases:
                add(up, above, rate * ~idle, here.own, here.held + held)
            else:
                add(up, above, rate * ~idle, here.own + unit, here.held)
            add(within, here, (here.own[:, volume] == 1) * service_rate, here.own - unit, here.held)
            if below is not None:
                add(down, below, (here.own[:, volume] > 1) * service_rate, here.own - unit, here.held)
        if below is not None:
            for rate, freed in self._alias_ends(here):
                if not here.waiting:
                    add(down, below, rate, here.own, freed)
                    continue
                for volume, unit in enumerate(np.eye(self._population.size, dtype=np.int64)):
                    share = np.maximum(here.own[:, volume] - 1, 0) / here.waiting
                    taken = freed + unit * self._held
                    add(down, below, rate * share, here.own - unit, taken)
        return within, up, down

    def _alias_ends(self, here: Level) -> list[tuple[Array, Integers]]:
        """Rates at which aliases end (untracked volumes together, others each), and the aliases held after that."""
        busy = min(here.total, self.aliases)
        ends = [((busy - here.held.sum(axis=1)).astype(np.float64), here.held)]
        for volume in np.flatnonzero(self._held):
            unit = np.zeros(self._population.size, dtype=np.int64)
            unit[volume] = 1
            ends.append((here.held[:, volume] * self.service_rate[volume], here.held - unit))
        return ends

    def alias_ends(self, here: Level) -> Array:
        """Rate at which aliases end in each state, shape (states,) [1/service time]."""
        return np.asarray(sum(rate for rate, _ in self._alias_ends(here)))

    def arrivals(self, here: Level) -> Array:
        """Arrival rates at each volume, shape (states, volumes) [1/service time]."""
        thinking = np.where(np.isfinite(self._population), self._population - here.own - here.held, 1.0)
        return np.asarray(self._rate * thinking)


TRUNCATION: Final = 1e-8
"""Largest acceptable share of the mean queue above the last level."""
MOST_VOLUMES: Final = 4
"""Most volumes of a pool that is solved by levels."""


def solve_open_chain(
    pool: OnePool, aliases: int, *, most: int = 50_000, most_per_level: int = 1_000
) -> Outcome:
    """Solve a small pool with open classes exactly, except for a bounded tail.

    D changes by one, so that the levels form a block tridiagonal chain: with T the generator of a level, observed only
    while D is there or below, ``T[D] = local[D] + down[D] (-T[D-1])^-1 up[D-1]`` and
    ``distribution[D-1] = distribution[D] down[D] (-T[D-1])^-1``.
    Levels are added until the tail above is 1e-8 of the mean queue.
    """
    _check(pool)
    levels = Levels(pool, aliases)
    below: Level | None = None
    here, above = levels.level(0), levels.level(1)
    kept: list[Level] = []
    steps: list[Array] = []
    reduced, up = np.zeros((0, 0)), np.zeros((0, 0))
    check, states = aliases + 8, 0  # level at which the tail is first checked
    while True:
        local, rising, down = levels.moves(below, here, above)
        if below is not None:
            steps.append(down @ dwell_times(reduced[None], up.sum(axis=1)[None])[0])
            local += steps[-1] @ up
        reduced, up = local, rising
        kept.append(here)
        states += here.size
        if here.total >= check:
            distributions = _distributions(reduced, steps)
            share = _beyond(kept, distributions)
            if share <= TRUNCATION:
                return _outcome(pool, levels, kept, distributions, share)
            check = aliases + int(1.25 * here.waiting) + 1
        if states + above.size > most or above.size > most_per_level:
            wanted = (
                f"a pool with at most {most} states, {most_per_level} of them with one "
                f'number waiting: use "mean-field" (up to {here.waiting} waiting were not enough)'
            )
            raise InputError("method", "exact", wanted)
        below, here, above = here, above, levels.level(here.total + 2)


def _check(pool: OnePool) -> None:
    """Refuse pools that the levels cannot represent."""
    if pool.bases > MOST_VOLUMES:
        raise InputError("method", "exact", f"at most {MOST_VOLUMES} volumes where a class is open")
    if pool.inflation > 0.0 or pool.redrive_time > 0.0:
        raise InputError("method", "exact", "neither inflation nor redrive time where a class is open")


def _distributions(reduced: Array, steps: list[Array]) -> list[Array]:
    """Distribution on every level; arrivals at the last one are lost."""
    distributions = [stationary(reduced[None])[0]]
    for step in reversed(steps):
        distributions.append(distributions[-1] @ step)
        if (largest := float(distributions[-1].max())) > LARGE:  # much rarer states are negligible
            distributions = [distribution / largest for distribution in distributions]
    distributions.reverse()
    whole = sum(float(distribution.sum()) for distribution in distributions)
    return [distribution / whole for distribution in distributions]


def _beyond(levels: list[Level], distributions: list[Array]) -> float:
    """Share of the mean queue above the last level, if probabilities continue to fall at the same rate."""
    distribution = np.array([each.sum() for each in distributions])
    waiting = np.array([level.waiting for level in levels], dtype=np.float64)
    if not distribution[-1] > 0.0:
        return 0.0
    ratio = float(
        (distribution[-1] / distribution[-5]) ** (1.0 / 4.0)
    )  # rate of fall over the last four levels
    if ratio >= 1.0:
        return np.inf
    beyond = distribution[-1] * ratio / (1.0 - ratio) * (waiting[-1] + 1.0 / (1.0 - ratio))
    return float(beyond / (distribution @ waiting))


def _outcome(
    pool: OnePool, levels: Levels, kept: list[Level], distributions: list[Array], share: float
) -> Outcome:
    """Sum over the states."""
    aliases = levels.aliases
    sums: dict[str, Any] = {name: np.zeros(pool.bases) for name in PER_CLASS}
    free_distribution = np.zeros(aliases + 1)
    for level, distribution in zip(kept, distributions, strict=True):
        busy, queued = level.own > 0, np.maximum(level.own - 1, 0)
        arrivals = levels.arrivals(level)
        tries = distribution @ (arrivals * busy)
        sums["throughput"] += distribution @ arrivals
        sums["tries"] += tries
        sums["base_in_service"] += distribution @ busy
        free_distribution[max(aliases - level.total, 0)] += distribution.sum()
        if level.total >= aliases:
            sums["fails"] += tries
        if level.waiting:
            sums["queue"] += distribution @ queued
            sums["base_pickups"] += distribution @ (queued > 0) * levels.service_rate
            sums["alias_pickups"] += (distribution * levels.alias_ends(level)) @ queued / level.waiting
    sums["alias_in_service"] = (sums["tries"] - sums["fails"] + sums["alias_pickups"]) / levels.service_rate
    per_volume: dict[str, Any] = {
        name: np.bincount(levels.volume_class, weights=values) / pool.volumes for name, values in sums.items()
    }
    per_volume["throughput"] = np.where(pool.closed, per_volume["throughput"], pool.arrival_rate)
    return Outcome(**per_volume, free_distribution=free_distribution, residual=share)


def _solve_exact(pool: OnePool, aliases: int) -> Outcome:
    return solve_lumped(pool, aliases) if pool.closed.all() else solve_open_chain(pool, aliases)


WITH_OPEN: Final = tuple(
    replace(each, solve=methods._one_by_one(_solve_exact)) if each.asked_by == methods.EXACT else each
    for each in methods.METHODS
)


def exact_pool(aliases: ArrayLike, **pools: Any) -> PoolSteady:
    """As `alias_pool` by the method "exact", small pools with open classes too."""
    with mock.patch.object(methods, "METHODS", WITH_OPEN):
        return alias_pool(aliases, method="exact", **pools)
