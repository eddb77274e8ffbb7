"""Exact small closed pools whose service is not exponential: every base and alias in phases, a gap the first of them.

A volume is (phase of its base, -1 where idle; phases of the aliases it holds, ascending; I/Os waiting). A pool is,
class by class, how many of its volumes are in which state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.queueing.pools.exact.closed_chain import stationary_law
from planner.queueing.pools.field.base_phases import ServicePhases, service_phases
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

MAX_STATES: Final = 10_000
"""States up to which a pool is solved exactly in phases."""

Volume = tuple[int, tuple[int, ...], int]
State = tuple[tuple[tuple[Volume, int], ...], ...]
IDLE: Final[Volume] = (-1, (), 0)


@dataclass(frozen=True, eq=False)
class PhasedChain:
    """Moves of the chain: from which state to which, and how often."""

    states: list[State]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    rates: Array

    @property
    def size(self) -> int:
        """Number of states [1]."""
        return len(self.states)


@dataclass(frozen=True, eq=False)
class _Class:
    """One volume of a class and its devices; rates in units of its own service time."""

    people: int
    think_time: float
    own: float
    inflation: float
    base: ServicePhases
    alias: ServicePhases

    @classmethod
    def of(cls, pool: CheckedPool, k: int) -> _Class:
        """Class k of a closed pool."""
        own = float(pool.service[k])
        return cls(
            people=int(pool.population[k]),
            think_time=float(pool.think_time[k]),
            own=own,
            inflation=pool.inflation,
            base=service_phases(pool.scv, pool.redrive_time / own),
            alias=service_phases(pool.scv, pool.alias_redrive_time / own),
        )

    def in_service(self, volume: Volume) -> tuple[int, int]:
        """I/Os in service on the base and on aliases: gaps are no service."""
        return int(volume[0] >= self.base.gaps), sum(each >= self.alias.gaps for each in volume[1])

    def thinking(self, volume: Volume) -> int:
        """Requesters without an I/O."""
        return self.people - (volume[0] >= 0) - len(volume[1]) - volume[2]

    def pace(self, volume: Volume) -> float:
        """Rate of one unit of phase rate while the I/Os of the volume slow each other down [1/service time]."""
        return 1.0 / (self.own * (1.0 + self.inflation * max(sum(self.in_service(volume)) - 1, 0)))

    def arrival(self, volume: Volume, alias_free: bool) -> Iterator[tuple[Volume, float]]:
        """Where an arrival leads, with its rate."""
        phase, held, waiting = volume
        rate = self.thinking(volume) / self.think_time
        if phase < 0:
            yield from (((new, held, 0), rate * p) for new, p in _begins(self.base.start))
        elif alias_free:
            yield from ((_with(volume, new), rate * p) for new, p in _begins(self.alias.start))
        else:
            yield (phase, held, waiting + 1), rate

    def base_moves(self, volume: Volume) -> Iterator[tuple[Volume, float]]:
        """Where the busy base leads: to its next phase, to the next I/O of its queue, or to rest."""
        phase, held, waiting = volume
        pace = self.pace(volume) if phase >= self.base.gaps else 1.0 / self.own
        for new in np.flatnonzero(self.base.moves[phase]).tolist():
            yield (new, held, waiting), self.base.moves[phase, new] * pace
        ends = self.base.leaves[phase] * pace
        if ends > 0.0 and waiting:
            yield from (((new, held, waiting - 1), ends * p) for new, p in _begins(self.base.restart))
        elif ends > 0.0:
            yield (-1, held, 0), ends

    def alias_moves(self, volume: Volume) -> Iterator[tuple[Volume, float, bool]]:
        """Where its aliases lead: to their next phase, or (True) away from the volume."""
        for each in sorted(set(volume[1])):
            pace = self.pace(volume) if each >= self.alias.gaps else 1.0 / self.own
            pace *= volume[1].count(each)
            left = _without(volume, each)
            for new in np.flatnonzero(self.alias.moves[each]).tolist():
                yield _with(left, new), self.alias.moves[each, new] * pace, False
            if self.alias.leaves[each] > 0.0:
                yield left, self.alias.leaves[each] * pace, True

    def picked_up(self, volume: Volume) -> Iterator[tuple[Volume, float]]:
        """Where an alias that takes one of its waiting I/Os leads, with its chance."""
        fewer = (volume[0], volume[1], volume[2] - 1)
        yield from ((_with(fewer, new), p) for new, p in _begins(self.alias.restart))


def phased_states(pool: CheckedPool, k: int, aliases: int) -> int:
    """Number of states of one volume of class k by itself; `aliases` at most one for every requester but the first."""
    own = float(pool.service[k])
    base = service_phases(pool.scv, pool.redrive_time / own).start.size
    alias = service_phases(pool.scv, pool.alias_redrive_time / own).start.size
    waiting = int(pool.population[k]) - 1 - aliases
    return (base + 1) * comb(aliases + alias, alias) + base * waiting * comb(aliases + alias - 1, aliases)


def solve_phased(pool: CheckedPool, aliases: int) -> Outcome:
    """Solve a closed pool exactly, for the two-moment law of service and exponential gaps.

    Raises InputError where there are more than 10,000 states.
    """
    classes = [_Class.of(pool, k) for k in range(pool.classes)]
    chain = _chain(pool, classes, aliases)
    law, residual = stationary_law(chain, chain.rates)
    sums = np.zeros((chain.size, 6, pool.classes))
    free = np.zeros(chain.size, dtype=np.int64)
    for i, state in enumerate(chain.states):
        free[i] = aliases - _held(state)
        for k, volumes in enumerate(state):
            for volume, count in volumes:
                sums[i, :, k] += count * np.array(_counted(classes[k], volume))
    arrivals, at_busy, queued, on_base, on_alias, picks = sums.transpose(1, 0, 2) / pool.volumes
    fails = law @ (at_busy * (free == 0)[:, None])
    base_pickups = law @ picks
    return Outcome(
        throughput=law @ arrivals,
        tries=law @ at_busy,
        fails=fails,
        queue=law @ queued,
        base_pickups=base_pickups,
        alias_pickups=np.maximum(fails - base_pickups, 0.0),
        base_in_service=law @ on_base,
        alias_in_service=law @ on_alias,
        free_law=np.bincount(free, weights=law, minlength=aliases + 1).astype(np.float64),
        tries_by_free=np.bincount(free, weights=law * (at_busy @ pool.volumes), minlength=aliases + 1).astype(
            np.float64
        ),
        residual=residual,
    )


def _counted(one: _Class, volume: Volume) -> tuple[float, ...]:
    """Of one volume: arrivals, tries, I/Os waiting, in service on base and aliases, pickups of the base."""
    phase, _, waiting = volume
    arrivals = one.thinking(volume) / one.think_time
    on_base, on_alias = one.in_service(volume)
    picks = one.base.leaves[phase] * one.pace(volume) if phase >= 0 and waiting else 0.0
    return arrivals, arrivals * (phase >= 0), waiting, on_base, on_alias, picks


def _chain(pool: CheckedPool, classes: list[_Class], aliases: int) -> PhasedChain:
    """All states that the empty pool can reach, and the moves between them."""
    empty: State = tuple(((IDLE, int(count)),) for count in pool.volumes)
    number = {empty: 0}
    states = [empty]
    moves: list[tuple[int, int, float]] = []
    for here, state in enumerate(states):
        for following, rate in _moves(state, classes, aliases):
            there = number.setdefault(following, len(states))
            if there == len(states):
                if there == MAX_STATES:
                    expected = f"a pool of at most {MAX_STATES} states where scv is not 1, or the mean field"
                    raise InputError("method", "exact", expected)
                states.append(following)
            moves.append((here, there, rate))
    source, target, rates = (np.array(column) for column in zip(*moves, strict=True))
    return PhasedChain(states, source.astype(np.int64), target.astype(np.int64), rates.astype(np.float64))


def _moves(state: State, classes: list[_Class], aliases: int) -> Iterator[tuple[State, float]]:
    """Every way out of a state, with its rate."""
    alias_free = _held(state) < aliases
    for k, volumes in enumerate(state):
        one = classes[k]
        for volume, count in volumes:
            if one.thinking(volume):
                for after, rate in one.arrival(volume, alias_free):
                    yield _replaced(state, k, volume, after), count * rate
            if volume[0] >= 0:
                for after, rate in one.base_moves(volume):
                    yield _replaced(state, k, volume, after), count * rate
            for after, rate, ended in one.alias_moves(volume):
                freed = _replaced(state, k, volume, after)
                if not ended:
                    yield freed, count * rate
                    continue
                for following, chance in _taken(freed, classes):
                    yield following, count * rate * chance


def _taken(freed: State, classes: list[_Class]) -> Iterator[tuple[State, float]]:
    """An alias that ended takes a waiting I/O of the pool, each equally likely, or becomes free."""
    waiting = sum(count * volume[2] for volumes in freed for volume, count in volumes)
    if not waiting:
        yield freed, 1.0
    for k, volumes in enumerate(freed):
        for volume, count in volumes:
            if volume[2]:
                for after, chance in classes[k].picked_up(volume):
                    yield _replaced(freed, k, volume, after), chance * count * volume[2] / waiting


def _held(state: State) -> int:
    """Busy aliases."""
    return sum(count * len(volume[1]) for volumes in state for volume, count in volumes)


def _replaced(state: State, k: int, before: Volume, after: Volume) -> State:
    """The state with one volume of class k changed, sorted again."""
    volumes = dict(state[k])
    volumes[before] -= 1
    if not volumes[before]:
        del volumes[before]
    volumes[after] = volumes.get(after, 0) + 1
    return (*state[:k], tuple(sorted(volumes.items())), *state[k + 1 :])


def _begins(law: Array) -> list[tuple[int, float]]:
    """Phases in which a service may begin, and how likely each is."""
    return [(int(phase), float(law[phase])) for phase in np.flatnonzero(law)]


def _with(volume: Volume, phase: int) -> Volume:
    """The same with one more busy alias."""
    return volume[0], tuple(sorted((*volume[1], phase))), volume[2]


def _without(volume: Volume, phase: int) -> Volume:
    """The same with one busy alias less."""
    at = volume[1].index(phase)
    return volume[0], volume[1][:at] + volume[1][at + 1 :], volume[2]
