"""One closed volume beside the rest of its pool: an exact chain of its own states and D, given what the others do.

A state is the base of the volume, the aliases it holds and the queue behind its base, so that all of its own moves are
exact. The others try, and pick up I/Os from their queues, at rates that depend on what they have of the D. Only the
means of these rates given D are known: the rates are such that the means agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing.pools.closed_field.volume_states import VolumeStates
from planner.queueing.pools.field.base_balance import resized
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.pool import TINY
from planner.results import Array

RIDGE: Final = 1e-3
"""Added to the normal equations: what this volume hides of the others stays as it was."""
LEAST: Final = 1e-9
"""Least tries of the others, so that every D can be reached [1/service time]."""
MOST_STATES: Final = 60_000
MOST_WORK: Final = 2e9
"""States of one volume at all D, and these times the square of its own states, up to which its chain is solved."""
HIGHER: Final = 1e4
"""How much more probable a D may be than the one taken as known; where it is more, rounding counts in rarer states."""
MAX_PEAKS: Final = 3
"""Times that a chain is solved, each from the most probable D of the last time."""


@dataclass(frozen=True, eq=False)
class Others:
    """What the others do, by what they have of the D, shape (D,) each."""

    tries: Array  # Their tries, and their pickups from their own queues [1/service time]
    pickups: Array

    @classmethod
    def of(cls, tries: Array, pickups: Array, aliases: int, most: float) -> Others:
        """Within what is possible."""
        pickups = np.clip(pickups, 0.0, most)
        pickups[: aliases + 1] = 0.0
        return cls(np.maximum(tries, LEAST), pickups)

    def resized(self, levels: int) -> Others:
        """Of more D or fewer."""
        return Others(resized(self.tries, levels), resized(self.pickups, levels))


@dataclass(frozen=True, eq=False)
class ClosedGiven:
    """One closed volume given D."""

    states: VolumeStates  # Its states
    chance: Array  # Their probabilities, shape (states, D) [1]

    @property
    def busy(self) -> Array:
        """Probability that its base is busy, shape (D,) [1]."""
        return np.asarray(self.states.busy @ self.chance)

    @property
    def queue(self) -> Array:
        """Mean queue, shape (D,) [1]."""
        return np.asarray(self.states.queue @ self.chance)

    @property
    def queue_variance(self) -> Array:
        """Variance of the queue, shape (D,) [1]."""
        return np.asarray(np.maximum(self.states.queue**2 @ self.chance - self.queue**2, 0.0))

    @property
    def with_queue(self) -> Array:
        """Probability that a busy base has a queue, shape (D,) [1]."""
        return self._mean(self.states.queue > 0, self.states.busy == 1)

    @property
    def at_idle(self) -> Array:
        """Arrivals while its base is idle, shape (D,) [1/service time]."""
        return self._mean(self.states.arrivals, self.states.busy == 0)

    @property
    def tries(self) -> Array:
        """Arrivals that find its base busy, shape (D,) [1/service time]."""
        return np.asarray((self.states.busy * self.states.arrivals) @ self.chance)

    @property
    def held_at_busy(self) -> Array:
        """Mean aliases that it holds while its base is busy, shape (D,) [1]."""
        return self._mean(self.states.held, self.states.busy == 1)

    @property
    def held(self) -> Array:
        """Mean aliases that it holds, shape (D,) [1]."""
        return np.asarray(self.states.held @ self.chance)

    @property
    def unhindered(self) -> Array:
        """Arrivals that find its base idle, shape (D,) [1/service time]."""
        return np.asarray(((1 - self.states.busy) * self.states.arrivals) @ self.chance)

    @property
    def turns(self) -> Array:
        """Chance that a base has a queue to turn to, in its own pace, shape (D,) [1]."""
        return np.asarray(((self.states.queue > 0) / self.states.slower) @ self.chance)

    @property
    def own_ends(self) -> Array:
        """Aliases that it holds, in their own pace, shape (D,) [1]."""
        return np.asarray((self.states.held / self.states.slower) @ self.chance)

    def alias_pickups(self, own_pace: Array, pace_of_others: Array) -> Array:
        """Its I/Os that aliases pick up, its own or others, shape (D,) [1/service time]."""
        states = self.states
        waiting = np.maximum(np.arange(self.chance.shape[1]) - states.aliases, 1)
        ends = (states.held / states.slower)[:, None] * own_pace + states.theirs * pace_of_others
        return np.asarray((states.queue[:, None] * ends * self.chance).sum(axis=0) / waiting)

    def _mean(self, values: NDArray[Any], where: NDArray[np.bool_]) -> Array:
        """Mean in some of the states, shape (D,)."""
        chance = self.chance[where]
        return np.asarray(values[where] @ chance / np.maximum(chance.sum(axis=0), TINY))


def closed_given(
    states: VolumeStates, k: int, paces: Paces, others: Others, pace_of_others: Array, law: Array
) -> ClosedGiven:
    """Solve the chain of one volume and D, and condition it on D.

    An alias of the others ends at `pace_of_others`, shape (states, D). The balances are banded. The most probable D, of
    the chain itself where `law` is another one, is taken as known to be there; what D there is follows.
    """
    from scipy.linalg.lapack import dgbsv

    count, levels = states.possible.shape
    if count * levels > MOST_STATES or count**3 * levels > MOST_WORK:
        raise ConvergenceError("alias pool, nearly unstable: the law of its queue", float(law[-1]), levels)
    moves = (
        (states.arriving, np.ones(1)),
        (states.picking, paces.queued[k : k + 1]),
        (states.idling, paces.alone[k : k + 1]),
        (states.own_ends, np.repeat(paces.alias[k], count)),
        (states.other_ends, pace_of_others.T.ravel()),
        (states.rising(others.tries), np.ones(1)),
        (states.falling(others.pickups), np.ones(1)),
    )
    band = max(int(np.abs(each.to - each.start).max(initial=0)) for each, _ in moves)
    size, rows, middle = count * levels, 3 * band + 1, 2 * band
    where, rate = [], []
    for each, pace in moves:
        paced = each.rate * (pace if pace.size == 1 else pace[each.start])
        where += [each.start * rows + middle + each.to - each.start, each.start * rows + middle]
        rate += [paced, -paced]
    matrix = np.bincount(np.concatenate(where), np.concatenate(rate), size * rows).reshape(size, rows).T
    matrix[middle, np.flatnonzero(~states.possible.T.ravel())] = 1.0
    likely, joint = int(np.argmax(law)), np.zeros(size)
    for _ in range(MAX_PEAKS):
        known = likely * count + states.plain_at(likely)
        column = np.arange(max(known - band, 0), min(known + band + 1, size))
        balances, right = matrix.copy(order="F"), np.zeros(size)
        balances[middle + known - column, column] = 0.0
        balances[middle, known] = right[known] = 1.0
        *_, joint, _ = dgbsv(band, band, balances, right, overwrite_ab=True, overwrite_b=True)
        size_at = np.abs(joint).reshape(levels, count).sum(axis=1)  # what rounding lost may be below 0
        before, likely = likely, int(np.argmax(size_at))
        if not size_at[likely] > HIGHER * size_at[before]:
            break
    chance = np.maximum(joint, 0.0).reshape(levels, count).T
    whole = chance.sum(axis=0)
    reached = np.flatnonzero(whole > TINY)
    if not reached.size:  # the others ran away
        raise ConvergenceError("mean field of the alias pool: a closed volume beside the others", np.inf, 0)
    nearest = (
        reached[np.abs(np.arange(levels)[:, None] - reached).argmin(axis=1)]
        if reached.size < levels
        else reached
    )
    return ClosedGiven(states, (chance / np.maximum(whole, TINY))[:, nearest])


def agreeing(others: Others, given: ClosedGiven, tries: Array, pickups: Array, most: float) -> Others:
    """Change what the others do such that their means given D are as they should be."""
    every = np.ones_like(given.chance)
    more_tries, more_pickups = _changes(given, every, (tries, pickups), (others.tries, others.pickups))
    return Others.of(others.tries + more_tries, others.pickups + more_pickups, given.states.aliases, most)


def agreeing_pace(pace: Array, given: ClosedGiven, ends: Array, least: float, most: float) -> Array:
    """The same of the rate at which one alias of the others ends, by what they have; `ends` is that of all of them."""
    (more,) = _changes(given, given.states.theirs, (ends,), (pace,))
    return np.clip(pace + more, least, most)


def _changes(
    given: ClosedGiven, count: Array, wanted: tuple[Array, ...], values: tuple[Array, ...]
) -> Iterator[Array]:
    """Changes of values by what the others have such that, times `count`, their means given D are as wanted.

    By regularized least squares; the normal equations are banded.
    """
    from scipy.linalg import solveh_banded

    states, levels = given.states, given.chance.shape[1]
    chance = given.chance * count
    lag = np.arange(levels) - states.others
    longest = int(lag.max())
    weight = np.bincount((lag * levels + np.arange(levels)).ravel(), chance.ravel(), (longest + 1) * levels)
    weight = weight.reshape(longest + 1, levels)  # of what the others have, D less the lag
    normal = np.zeros((longest + 1, levels))
    for apart in range(longest + 1):
        for n in range(apart, longest + 1):
            normal[apart, : levels - n] += (weight[n] * weight[n - apart])[n:]
    normal[0] += RIDGE
    missing = [
        mean - np.einsum("sd,sd->d", chance, each[states.others])
        for mean, each in zip(wanted, values, strict=True)
    ]
    right = [sum(np.pad((row * each)[n:], (0, n)) for n, row in enumerate(weight)) for each in missing]
    return iter(solveh_banded(normal, np.column_stack(right), lower=True, check_finite=False).T)
