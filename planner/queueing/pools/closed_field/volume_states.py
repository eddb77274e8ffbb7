"""States of one closed volume and D, the I/Os of the pool that no base holds, and the moves between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VolumeMoves:
    """Moves from one state and D to others, each numbered D times states plus state, shape (moves,) each."""

    start: Counts  # Where they begin and end
    to: Counts
    rate: Array  # Their rates [1/service time]

    @classmethod
    def joined(cls, parts: list[VolumeMoves]) -> VolumeMoves:
        """All of them."""
        return cls(
            *(np.concatenate([getattr(each, name) for each in parts]) for name in ("start", "to", "rate"))
        )


@dataclass(frozen=True, eq=False)
class VolumeStates:
    """States of one closed volume at every D; rates of its devices are in their own pace, 1 for all where alone."""

    aliases: int  # Aliases of the pool [1]
    busy: Counts  # I/Os on its base, on aliases, behind its base, shape (states,) [1]
    held: Counts
    queue: Counts
    arrivals: Array  # Rate at which its requesters come, shape (states,) [1/service time]
    possible: NDArray[np.bool_]  # Which states there are at which D, shape (states, D)
    # What the others have: the D at which as many I/Os wait as theirs, or as many aliases are held as theirs
    # where none of theirs waits, shape (states, D) [1]
    others: Counts
    slower: Array  # By which its I/Os in service slow each other down, shape (states,) [1]
    # Of arrivals, of the base that picks up an I/O or becomes idle, of its aliases and of those of the others
    arriving: VolumeMoves
    picking: VolumeMoves
    idling: VolumeMoves
    own_ends: VolumeMoves
    other_ends: VolumeMoves

    @property
    def theirs(self) -> Array:
        """Aliases that the others hold, shape (states, D) [1]."""
        in_use = np.minimum(np.arange(self.possible.shape[1]), self.aliases)
        return np.asarray(np.maximum(in_use - self.held[:, None], 0.0))

    def plain_at(self, total: int) -> int:
        """The state with a busy base, and as little else as the others leave at a D."""
        allowed = self.possible[:, total] & (self.busy == 1)
        return int(np.argmin(np.where(allowed, self.held + self.queue, self.busy.size + 1)))

    def rising(self, tries: Array) -> VolumeMoves:
        """Tries of the others."""
        return _moves(self.possible, np.arange(self.busy.size), 1, tries[self.others])

    def falling(self, pickups: Array) -> VolumeMoves:
        """Pickups of the others."""
        return _moves(self.possible, np.arange(self.busy.size), -1, pickups[self.others])


def states_of(pool: CheckedPool, k: int, aliases: int, levels: int) -> VolumeStates:
    """States and moves of a volume."""
    people = int(pool.population[k])
    busy, held, queue = _counts(people)
    number = np.full((2, people + 2, people + 1), -1)
    number[busy, held, queue] = np.arange(busy.size)
    arrivals = (people - busy - held - queue) / pool.think_time[k]
    total = np.arange(levels)
    waiting, in_use = np.maximum(total - aliases, 0), np.minimum(total, aliases)
    possible = (held[:, None] <= in_use) & (queue[:, None] <= waiting)
    possible &= total - (held + queue)[:, None] <= pool.most_beyond - (people - 1.0)
    at_others = waiting - queue[:, None]
    others = np.where(at_others > 0, aliases + at_others, in_use - held[:, None])
    full, comes = total >= aliases, arrivals[:, None] + np.zeros(levels)
    own: Array = np.where(waiting > 0, queue[:, None] / np.maximum(waiting, 1), 0.0)
    theirs: Array = np.maximum(in_use - held[:, None], 0.0)
    one, stays = busy == 1, np.arange(busy.size)
    slower = pool.service_growth((busy + held).astype(np.float64))
    held_ends = (held / slower)[:, None]
    own_ends: list[tuple[Counts, Array]] = [
        (number[busy, held - 1, queue], held_ends * (1.0 - own)),
        (number[busy, held, queue - 1], held_ends * own),
    ]
    other_ends = [(number[busy, held + 1, queue - 1], theirs * own), (stays, theirs * (1.0 - own))]
    none = np.zeros(levels)
    return VolumeStates(
        aliases=aliases,
        busy=busy,
        held=held,
        queue=queue,
        arrivals=arrivals,
        possible=possible,
        others=np.clip(others, 0, levels - 1),
        arriving=VolumeMoves.joined(
            [
                _moves(possible, number[1, held, 0], 0, comes * ~one[:, None]),
                _moves(possible, number[busy, held + 1, queue], 1, comes * (one[:, None] & ~full)),
                _moves(possible, number[busy, held, queue + 1], 1, comes * (one[:, None] & full)),
            ]
        ),
        slower=slower,
        picking=_moves(possible, number[busy, held, queue - 1], -1, ((queue > 0) / slower)[:, None] + none),
        idling=_moves(possible, number[0, held, 0], 0, ((one & (queue == 0)) / slower)[:, None] + none),
        own_ends=VolumeMoves.joined([_moves(possible, to, -1, rate) for to, rate in own_ends]),
        other_ends=VolumeMoves.joined([_moves(possible, to, -1, rate) for to, rate in other_ends]),
    )


def _counts(people: int) -> tuple[Counts, Counts, Counts]:
    """On the base, on aliases, behind the base, of every state: behind an idle base none waits."""
    idle = [(0, held, 0) for held in range(people + 1)]
    busy = [(1, held, queue) for queue in range(people) for held in range(people - queue)]
    states = np.array(idle + busy, dtype=np.int64)
    return states[:, 0], states[:, 1], states[:, 2]


def _moves(possible: NDArray[np.bool_], to: Counts, rise: int, rate: Array) -> VolumeMoves:
    """Moves to other states where D rises so much, those that are possible."""
    count, levels = possible.shape
    state, level = np.nonzero(possible & (rate > 0.0))
    after = np.clip(level + rise, 0, levels - 1)
    there = (after == level + rise) & (to[state] >= 0) & possible[to[state], after]
    state, level, after = state[there], level[there], after[there]
    return VolumeMoves(level * count + state, after * count + to[state], rate[state, level])
