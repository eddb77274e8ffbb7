"""Exact closed pools of one volume whose service is not exponential: base and aliases in phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.base_phases import ServicePhases, service_phases
from planner.queueing.pools.lumped import stationary_law
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.results import Array

MAX_STATES: Final = 10_000
"""States up to which one volume is solved exactly."""

State = tuple[int, tuple[int, ...], int]
"""Phase of the base (-1 where idle), phases of the busy aliases in ascending order, I/Os waiting."""


@dataclass(frozen=True, eq=False)
class Chain:
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
class _Volume:
    """One volume and its devices."""

    pool: Pool
    aliases: int
    base: ServicePhases
    alias: ServicePhases

    def in_service(self, state: State) -> tuple[int, int]:
        """I/Os in service on the base and on aliases: gaps are no service."""
        phase, held, _ = state
        return int(phase >= self.base.gaps), sum(each >= self.alias.gaps for each in held)

    def thinking(self, state: State) -> float:
        """Requesters without an I/O."""
        return float(self.pool.population[0]) - (state[0] >= 0) - len(state[1]) - state[2]

    def moves(self, state: State) -> Iterator[tuple[State, float]]:
        """Where a state goes, and at which rate."""
        phase, held, waiting = state
        arrivals = self.thinking(state) / float(self.pool.think_time[0])
        if arrivals > 0.0:
            if phase < 0:
                yield from (((new, held, 0), arrivals * p) for new, p in _begins(self.base.start))
            elif len(held) < self.aliases:
                yield from ((_with(state, new), arrivals * p) for new, p in _begins(self.alias.start))
            else:
                yield (phase, held, waiting + 1), arrivals
        growth = float(self.pool.service_growth(np.array(float(sum(self.in_service(state))))))
        if phase >= 0:
            yield from self._base_moves(state, growth if phase >= self.base.gaps else 1.0)
        for each in sorted(set(held)):
            slower = (growth if each >= self.alias.gaps else 1.0) / held.count(each)
            yield from self._alias_moves(state, each, slower)

    def _base_moves(self, state: State, slower: float) -> Iterator[tuple[State, float]]:
        phase, held, waiting = state
        for new in np.flatnonzero(self.base.moves[phase]):
            yield (int(new), held, waiting), self.base.moves[phase, new] / slower
        ends = self.base.leaves[phase] / slower
        if ends > 0.0 and waiting > 0:
            yield from (((new, held, waiting - 1), ends * p) for new, p in _begins(self.base.restart))
        elif ends > 0.0:
            yield (-1, held, 0), ends

    def _alias_moves(self, state: State, each: int, slower: float) -> Iterator[tuple[State, float]]:
        phase, held, waiting = state
        at = held.index(each)
        others = held[:at] + held[at + 1 :]
        for new in np.flatnonzero(self.alias.moves[each]):
            yield _with((phase, others, waiting), int(new)), self.alias.moves[each, new] / slower
        ends = self.alias.leaves[each] / slower
        if ends > 0.0 and waiting > 0:
            begins = _begins(self.alias.restart)
            yield from ((_with((phase, others, waiting - 1), new), ends * p) for new, p in begins)
        elif ends > 0.0:
            yield (phase, others, 0), ends


def phased_states(pool: Pool, k: int, aliases: int) -> int:
    """Number of states of one closed volume with aliases of its own, base and aliases in phases.

    Parameters
    ----------
    pool : Pool
        The pool.
    k : int
        A closed class.
    aliases : int
        Aliases of this volume alone, at most one for every requester but the first [1].

    Returns
    -------
    int
        States [1].
    """
    base = service_phases(pool.scv, pool.redrive_time).start.size
    alias = service_phases(pool.scv, pool.alias_redrive_time).start.size
    waiting = int(pool.population[k]) - 1 - aliases
    return (base + 1) * comb(aliases + alias, alias) + base * waiting * comb(aliases + alias - 1, aliases)


def solve_single_closed(pool: Pool, aliases: int) -> Outcome:
    """Solve one closed volume exactly, for the two-moment law of service and exponential gaps.

    Parameters
    ----------
    pool : Pool
        One closed class of one volume.
    aliases : int
        Its aliases, at most one for every requester but the first [1].

    Returns
    -------
    Outcome
        The exact answer.

    Raises
    ------
    ConvergenceError
        The linear system could not be solved.
    """
    volume = _Volume(
        pool,
        aliases,
        service_phases(pool.scv, pool.redrive_time),
        service_phases(pool.scv, pool.alias_redrive_time),
    )
    chain = _chain(volume)
    law, residual = stationary_law(chain, chain.rates)
    thinking = np.array([volume.thinking(state) for state in chain.states]) / pool.think_time[0]
    busy = np.array([state[0] >= 0 for state in chain.states])
    free = np.array([aliases - len(state[1]) for state in chain.states])
    waiting = np.array([state[2] for state in chain.states])
    serving = np.array([volume.in_service(state) for state in chain.states])
    at_busy = law * thinking * busy
    tries_by_free = np.bincount(free, weights=at_busy, minlength=aliases + 1).astype(np.float64)
    on_base, on_alias = law @ serving
    throughput, tries, fails = law @ thinking, at_busy.sum(), float(tries_by_free[0])
    growth = pool.service_growth(serving.sum(axis=1).astype(np.float64))
    leaves = np.append(volume.base.leaves, 0.0)[[state[0] for state in chain.states]] / growth
    base_pickups = float(law @ (leaves * (waiting > 0)))
    return Outcome(
        throughput=np.atleast_1d(throughput),
        tries=np.atleast_1d(tries),
        fails=np.atleast_1d(fails),
        queue=np.atleast_1d(law @ waiting),
        base_pickups=np.atleast_1d(base_pickups),
        alias_pickups=np.atleast_1d(max(fails - base_pickups, 0.0)),
        base_in_service=np.atleast_1d(on_base),
        alias_in_service=np.atleast_1d(on_alias),
        free_law=np.bincount(free, weights=law, minlength=aliases + 1).astype(np.float64),
        tries_by_free=tries_by_free,
        residual=residual,
    )


def _chain(volume: _Volume) -> Chain:
    """All states and the moves between them."""
    phases, population = range(volume.alias.start.size), int(volume.pool.population[0])
    idle_or_busy = range(-1, volume.base.start.size)
    states: list[State] = []
    for count in range(volume.aliases + 1):
        for held in combinations_with_replacement(phases, count):
            states += [(phase, held, 0) for phase in idle_or_busy]
            if count == volume.aliases:
                longest = population - 1 - count
                states += [(phase, held, n) for phase in idle_or_busy[1:] for n in range(1, longest + 1)]
    number = {state: i for i, state in enumerate(states)}
    moves = [(i, number[new], rate) for i, state in enumerate(states) for new, rate in volume.moves(state)]
    source, target, rates = (np.array(column) for column in zip(*moves, strict=True))
    return Chain(states, source.astype(np.int64), target.astype(np.int64), rates.astype(np.float64))


def _begins(law: Array) -> list[tuple[int, float]]:
    """Phases in which a service may begin, and how likely each is."""
    return [(int(phase), float(law[phase])) for phase in np.flatnonzero(law)]


def _with(state: State, phase: int) -> State:
    """The same with one more busy alias."""
    return state[0], tuple(sorted((*state[1], phase))), state[2]
