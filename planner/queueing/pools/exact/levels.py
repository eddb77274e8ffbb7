"""States and moves of a small pool with open volumes, level by level of D, the I/Os that no base holds.

With exponential service of one mean it does not matter which I/O an open volume has on its aliases: min(D, A) are busy.
A state is therefore D and, for each volume, the I/Os on its base and behind it; for a closed volume also the aliases it
holds, since its requesters are counted, and for every one where service times differ by class. Equal volumes are
exchangeable: their states are kept in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Level:
    """The states of one D."""

    total: int  # D [1]
    waiting: int  # I/Os waiting in the pool [1]
    own: Counts  # On the base of each volume and behind it, shape (states, volumes) [1]
    held: Counts  # Aliases that each volume holds, 0 where that is not followed, shape (states, volumes) [1]
    keys: Counts  # What the states are found by, rising, shape (states,)

    @property
    def size(self) -> int:
        """Number of states [1]."""
        return int(self.keys.size)


@dataclass(frozen=True, eq=False)
class LevelMoves:
    """Rates from the states of one level."""

    # To other states of the same level, of the next and of the last one, shape (states, states there)
    # [1/service time]
    within: Array
    up: Array
    down: Array


class Levels:
    """The levels of one pool with its aliases."""

    def __init__(self, pool: CheckedPool, aliases: int) -> None:
        self.aliases = aliases
        self.volume_class = np.repeat(np.arange(pool.classes), pool.volumes.astype(np.int64))
        closed = pool.closed[self.volume_class]
        self.pace = 1.0 / pool.service[self.volume_class]
        self._held = closed | (not pool.even)  # volumes whose aliases are followed
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

    def _choices(self, volume: int, waiting: int, busy: int) -> tuple[Counts, Counts]:
        """What one volume can have on and behind its base, and on aliases."""
        people = self._population[volume]
        own = np.arange(int(min(waiting + 1, people)) + 1)
        if not self._held[volume]:
            return own, np.zeros_like(own)
        held = np.arange(int(min(busy, people)) + 1)
        own, held = (each.ravel() for each in np.meshgrid(own, held, indexing="ij"))
        possible = own + held <= people
        return own[possible], held[possible]

    def _keys(self, total: int, own: Counts, held: Counts) -> Counts:
        """One number a state, the same for states that differ by the order of equal volumes."""
        most_held, most_own = self.aliases + 1, max(total - self.aliases, 0) + 2
        code = own * most_held + held
        for start, end in zip(self._starts, [*self._starts[1:], code.shape[1]], strict=True):
            code[:, start:end] = np.sort(code[:, start:end], axis=1)
        keys = np.zeros(code.shape[0], dtype=np.int64)
        for column in code.T:
            keys = keys * (most_own * most_held) + column
        return keys

    def moves(self, below: Level | None, here: Level, above: Level) -> LevelMoves:
        """Rates out of the states of one level."""
        within = np.zeros((here.size, here.size))
        up = np.zeros((here.size, above.size))
        down = np.zeros((here.size, 0 if below is None else below.size))

        def add(matrix: Array, level: Level, rate: NDArray[Any], own: Counts, held: Counts) -> None:
            some = np.flatnonzero(rate > 0.0)
            to = np.searchsorted(level.keys, self._keys(level.total, own[some], held[some]))
            np.add.at(matrix, (some, to), rate[some])

        for volume, unit in enumerate(np.eye(self._population.size, dtype=np.int64)):
            held, pace = unit * self._held, self.pace[volume]
            idle = here.own[:, volume] == 0
            rate = np.full(here.size, self._rate[volume])
            if np.isfinite(self._population[volume]):
                rate *= self._population[volume] - here.own[:, volume] - here.held[:, volume]
            add(within, here, rate * idle, here.own + unit, here.held)
            if here.total < self.aliases:
                add(up, above, rate * ~idle, here.own, here.held + held)
            else:
                add(up, above, rate * ~idle, here.own + unit, here.held)
            add(within, here, (here.own[:, volume] == 1) * pace, here.own - unit, here.held)
            if below is not None:
                add(down, below, (here.own[:, volume] > 1) * pace, here.own - unit, here.held)
        if below is not None:
            for rate, freed in self._alias_ends(here):
                if not here.waiting:
                    add(down, below, rate, here.own, freed)
                    continue
                for volume, unit in enumerate(np.eye(self._population.size, dtype=np.int64)):
                    share = np.maximum(here.own[:, volume] - 1, 0) / here.waiting
                    taken = freed + unit * self._held
                    add(down, below, rate * share, here.own - unit, taken)
        return LevelMoves(within, up, down)

    def _alias_ends(self, here: Level) -> list[tuple[Array, Counts]]:
        """Rates at which aliases end, of volumes not followed together and of each other, and what is held then."""
        busy = min(here.total, self.aliases)
        ends = [((busy - here.held.sum(axis=1)).astype(np.float64), here.held)]
        for volume in np.flatnonzero(self._held):
            unit = np.zeros(self._population.size, dtype=np.int64)
            unit[volume] = 1
            ends.append((here.held[:, volume] * self.pace[volume], here.held - unit))
        return ends

    def alias_ends(self, here: Level) -> Array:
        """Rate at which aliases end in each state, shape (states,) [1/service time]."""
        return np.asarray(sum(rate for rate, _ in self._alias_ends(here)))

    def arrivals(self, here: Level) -> Array:
        """Arrival rates at each volume, shape (states, volumes) [1/service time]."""
        thinking = np.where(np.isfinite(self._population), self._population - here.own - here.held, 1.0)
        return np.asarray(self._rate * thinking)
