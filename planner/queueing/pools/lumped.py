"""Small pools with exchangeable equal volumes: states and moves without rates, and their stationary distributions.

A volume is (base, in_service, in_gap, queued): the base is IDLE, SERVES or is in its GAP; its aliases are in service or
in their gap. The state of a pool is, by class, the number of volumes in each state. A move has a drive and a number of
drives, so that one chain serves all rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from planner.errors import ConvergenceError, InputError
from planner.queueing._levels import stationary
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import OnePool
from planner.results import Array, Integers

if TYPE_CHECKING:
    from scipy import sparse


IDLE, SERVES, GAP = 0, 1, 2

Volume = tuple[int, int, int, int]
State = tuple[tuple[tuple[Volume, int], ...], ...]
Drive = tuple[str, int, int]
"""Cause of a move: ("think", class, 0), ("service", class, number in service) or ("gap", 0, 0)."""
Move = tuple[State, Drive, float]
"""The next state, the drive, and how many independent drives of that kind lead there."""


@dataclass(frozen=True, eq=False)
class LumpedStates:
    """The states of a pool, its moves, and figures of each state."""

    source: Integers  # Of each move: source and target state, and the index of its drive in `drives`
    target: Integers
    drive: Integers
    weight: Array  # Number of such drives that cause the move [1]
    drives: tuple[Drive, ...]  # Every drive that occurs
    queued: Array  # Totals over the volumes of a class, shape (states, classes) [1]
    base_serves: Array
    alias_serves: Array
    thinking: Array
    thinking_at_busy: Array
    # Volumes whose base serves with a queue behind it, by the number in service of the volume, shape (in
    # service, states, classes) [1]
    turns: Array
    free: Integers  # Free aliases, shape (states,) [1]

    @property
    def size(self) -> int:
        """Number of states [1]."""
        return int(self.free.size)


@dataclass(frozen=True)
class StateLayout:
    """What determines the states: aliases, volumes and requesters of each class, and whether devices have a gap."""

    aliases: int
    volumes: tuple[int, ...]
    population: tuple[int, ...]
    gap: bool


@lru_cache(maxsize=64)
def lumped_states(layout: StateLayout, most: int) -> LumpedStates:
    """Enumerate the states reachable from the empty pool."""
    if number_of_states(layout) > most:
        raise InputError("method", "exact", f"a pool of at most {most} states for the exact chain")
    empty: State = tuple((((IDLE, 0, 0, 0), count),) for count in layout.volumes)
    index = {empty: 0}
    states = [empty]
    drives: dict[Drive, int] = {}
    moves: list[tuple[int, int, int, float]] = []
    for here, state in enumerate(states):
        for following, drive, weight in _moves(state, layout):
            there = index.setdefault(following, len(states))
            if there == len(states):
                states.append(following)
            moves.append((here, there, drives.setdefault(drive, len(drives)), weight))
    sources, targets, driven, weights = map(np.array, zip(*moves, strict=True))
    return LumpedStates(sources, targets, driven, weights, tuple(drives), *_totals(states, layout))


def number_of_states(layout: StateLayout, most: float = 1e9) -> float:
    """Number of states of a pool, at most `most` [1].

    A volume of N requesters that holds h <= N - 1 aliases is idle, or has up to N - 1 - h in its queue, which is empty
    while an alias is free. With a gap each of the h, and the base if it can have a queue, is in service or in its gap;
    without any waiting there is no gap. m equal volumes with n states each have C(n + m - 1, m).
    """
    aliases = layout.aliases
    spare = sum(count * (people - 1) for count, people in zip(layout.volumes, layout.population, strict=True))
    gap = layout.gap and spare > aliases

    def by_held(*, queues: bool) -> Array:
        whole = np.append(1.0, np.zeros(aliases))
        for count, people in zip(layout.volumes, layout.population, strict=True):
            some = np.zeros((count + 1, aliases + 1))
            some[0, 0] = 1.0
            for held in range(min(people, aliases + 1)):
                busy = (1 + (gap and people > 1)) * (people - held if queues else 1)
                states = (held + 1 if gap else 1) * (1 + busy)
                before = some.copy()
                ways = 1.0  # combinations of states of equal volumes
                for more in range(1, min(count, aliases // held if held else count) + 1):
                    ways *= (states + more - 1) / more
                    some[more:, more * held :] += (
                        ways * before[: count + 1 - more, : aliases + 1 - more * held]
                    )
                some = np.minimum(some, most)
            whole = np.minimum(np.convolve(whole, some[-1])[: aliases + 1], most)
        return whole

    calm = by_held(queues=False)
    return min(float(calm[:-1].sum() + by_held(queues=True)[-1]), most)


def _moves(state: State, layout: StateLayout) -> Iterator[Move]:
    """All moves out of a state."""
    held = sum(count * (volume[1] + volume[2]) for volumes in state for volume, count in volumes)
    waiting = [
        (k, volume, count * volume[3])
        for k, volumes in enumerate(state)
        for volume, count in volumes
        if volume[3]
    ]
    for k, volumes in enumerate(state):
        for volume, count in volumes:
            base, serving, in_gap, queued = volume
            thinking = layout.population[k] - (base != IDLE) - serving - in_gap - queued
            in_service = (base == SERVES) + serving
            if thinking:
                after = _arrival(volume, held < layout.aliases)
                yield _replace(state, k, volume, after), ("think", k, 0), float(count * thinking)
            if base == SERVES:
                after = (IDLE, serving, in_gap, 0)
                if queued:
                    after = (GAP if layout.gap else SERVES, serving, in_gap, queued - 1)
                yield _replace(state, k, volume, after), ("service", k, in_service), float(count)
            if base == GAP:
                yield (
                    _replace(state, k, volume, (SERVES, serving, in_gap, queued)),
                    ("gap", 0, 0),
                    float(count),
                )
            if in_gap:
                after = (base, serving + 1, in_gap - 1, queued)
                yield _replace(state, k, volume, after), ("gap", 0, 0), float(count * in_gap)
            if serving:
                freed = _replace(state, k, volume, (base, serving - 1, in_gap, queued))
                drive = ("service", k, in_service)
                if not waiting:
                    yield freed, drive, float(count * serving)
                yield from _alias_turns(freed, drive, count * serving, (k, volume), waiting, layout)


def _alias_turns(
    freed: State,
    drive: Drive,
    weight: int,
    left: tuple[int, Volume],
    waiting: list[tuple[int, Volume, int]],
    layout: StateLayout,
) -> Iterator[Move]:
    """Moves of an alias that ended at volume `left` and takes a waiting I/O, each equally likely."""
    total = sum(queued for _, _, queued in waiting)
    k_left, before = left
    changed = (before[0], before[1] - 1, before[2], before[3])
    for k, volume, queued in waiting:
        same = (k, volume) == (k_left, before)
        # The volume that the alias left is one of several in the same state, with before[3] of their `queued`.
        choices = [(volume, queued - before[3]), (changed, before[3])] if same else [(volume, queued)]
        for chosen, share in choices:
            if share:
                yield _replace(freed, k, chosen, _picked(chosen, layout)), drive, weight * share / total


def _picked(volume: Volume, layout: StateLayout) -> Volume:
    base, serving, in_gap, queued = volume
    if layout.gap:
        return (base, serving, in_gap + 1, queued - 1)
    return (base, serving + 1, in_gap, queued - 1)


def _arrival(volume: Volume, alias_free: bool) -> Volume:
    base, serving, in_gap, queued = volume
    if base == IDLE:
        return (SERVES, serving, in_gap, queued)
    if alias_free:
        return (base, serving + 1, in_gap, queued)
    return (base, serving, in_gap, queued + 1)


def _replace(state: State, k: int, before: Volume, after: Volume) -> State:
    """The state after a change of one volume of class k, sorted."""
    volumes = dict(state[k])
    if volumes[before] == 1:
        del volumes[before]
    else:
        volumes[before] -= 1
    volumes[after] = volumes.get(after, 0) + 1
    return (*state[:k], tuple(sorted(volumes.items())), *state[k + 1 :])


def _totals(
    states: list[State], layout: StateLayout
) -> tuple[Array, Array, Array, Array, Array, Array, Integers]:
    """Totals per state and class, in the order of the fields of `LumpedStates` from `queued` on."""
    shape = (len(states), len(layout.volumes))
    queued, base_serves, alias_serves, thinking, at_busy = (np.zeros(shape) for _ in range(5))
    turns = np.zeros((min(layout.aliases, max(layout.population)) + 2, *shape))
    held = np.zeros(len(states), dtype=np.int64)
    for i, state in enumerate(states):
        for k, volumes in enumerate(state):
            for (base, serving, in_gap, waiting), count in volumes:
                idle_requesters = layout.population[k] - (base != IDLE) - serving - in_gap - waiting
                queued[i, k] += count * waiting
                base_serves[i, k] += count * (base == SERVES)
                alias_serves[i, k] += count * serving
                thinking[i, k] += count * idle_requesters
                at_busy[i, k] += count * idle_requesters * (base != IDLE)
                turns[serving + 1, i, k] += count * (base == SERVES and waiting > 0)
                held[i] += count * (serving + in_gap)
    return queued, base_serves, alias_serves, thinking, at_busy, turns, layout.aliases - held


MAX_STATES = 30_000
"""Most states of a closed pool that is solved exactly."""
MAX_SWEEPS = 3000
"""Most Gauss-Seidel sweeps."""
SETTLED = 1e-14
"""Change, relative to the largest flow, at which the sweeps end."""
RESIDUAL = 1e-10
"""Largest acceptable imbalance of the flows, relative to the largest flow."""


def solve_lumped(pool: OnePool, aliases: int, most: int = MAX_STATES) -> Outcome:
    """Solve a closed pool exactly, for exponential service, think times and gaps; open classes are refused."""
    if not pool.closed.all():
        raise InputError("method", "exact", 'closed classes only: use "mean-field" for open ones')
    volumes, people = (tuple(each.astype(np.int64).tolist()) for each in (pool.volumes, pool.population))
    layout = StateLayout(aliases, volumes, people, pool.redrive_time > 0.0)
    states = lumped_states(layout, most)
    rates = np.array([drive_rate(pool, drive) for drive in states.drives])
    move_rates = states.weight * rates[states.drive]
    distribution, residual = stationary_distribution(states.source, states.target, move_rates, states.size)
    per_volume = 1.0 / pool.volumes
    at_busy = states.thinking_at_busy / pool.think_time
    fails = distribution @ (at_busy * (states.free == 0)[:, None]) * per_volume
    turn_rate = 1.0 / pool.service_growth(np.arange(float(states.turns.shape[0])))
    base_pickups = turn_rate @ (distribution @ states.turns) * per_volume / pool.service
    return Outcome(
        throughput=distribution @ states.thinking / pool.think_time * per_volume,
        tries=distribution @ at_busy * per_volume,
        fails=fails,
        queue=distribution @ states.queued * per_volume,
        base_pickups=base_pickups,
        alias_pickups=np.maximum(
            fails - base_pickups, 0.0
        ),  # a base or an alias picks up each I/O that failed
        base_in_service=distribution @ states.base_serves * per_volume,
        alias_in_service=distribution @ states.alias_serves * per_volume,
        free_distribution=np.bincount(states.free, weights=distribution, minlength=aliases + 1).astype(
            np.float64
        ),
        residual=residual,
    )


def stationary_distribution(
    source: Integers, target: Integers, move_rates: Array, size: int, dense: int = 100
) -> tuple[Array, float]:
    """Stationary distribution of the chain with moves from `source` to `target`, and the residual of its balance.

    Balance is written for the flow out of each state, `flow = step @ flow`; columns of `step` sum to 1. Up to `dense`
    states are eliminated. Gauss-Seidel sweeps use positive terms only and need no fill-in; a chain that mixes too
    slowly for them is narrow enough to be factorized.
    """
    outflow = np.bincount(source, weights=move_rates, minlength=size)
    from scipy import sparse

    inflow = sparse.csr_array((move_rates, (target, source)), shape=(size, size))
    step = (inflow @ sparse.diags_array(1.0 / outflow)).tocsc()
    flow = np.full(size, 1.0 / size)
    if size > dense:
        flow, change = _gauss_seidel(step, flow)
        if change > SETTLED:
            flow, _ = _gauss_seidel(step, np.maximum(_direct(step, int(flow.argmax())), 0.0), 20)
    else:
        flow = stationary(step.toarray().T[None])[0]
    residual = float(np.abs(flow - step @ flow).max() / flow.max())
    if not residual <= RESIDUAL:
        raise ConvergenceError("exact chain of the pool", residual, MAX_SWEEPS)
    distribution = np.maximum(flow, 0.0) / outflow
    return distribution / distribution.sum(), residual


def _gauss_seidel(step: sparse.csc_array, flow: Array, most: int = MAX_SWEEPS) -> tuple[Array, float]:
    """Sweep until every flow settles, rare ones too; return the flow and its last change, relative to the largest."""
    from scipy import sparse
    from scipy.sparse import linalg

    size = step.shape[0]
    lower = (sparse.eye_array(size, format="csc") - sparse.tril(step, -1, format="csc")).tocsc()
    solver = linalg.splu(lower, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    upper = sparse.triu(step, format="csr")
    change = np.inf
    for _ in range(most):
        swept = solver.solve(upper @ flow)
        swept /= swept.sum()
        moved = np.abs(swept - flow)
        change = float(moved.max() / swept.max())
        settled = change <= SETTLED and bool((moved <= 1e-9 * swept).all())
        flow = swept
        if settled:
            break
    return flow, change


def _direct(step: sparse.csc_array, reference: int) -> Array:
    """Solve with the flow out of one likely state set to 1."""
    from scipy import sparse
    from scipy.sparse import linalg

    size = step.shape[0]
    others = np.delete(np.arange(size), reference)
    matrix = (sparse.eye_array(size, format="csc") - step).tocsc()
    inner = matrix[:, others][others]
    right = -matrix[:, [reference]].toarray().ravel()[others]
    return np.insert(np.asarray(linalg.splu(inner.tocsc()).solve(right)), reference, 1.0)


def drive_rate(pool: OnePool, drive: Drive) -> float:
    """Rate of one drive of the chain."""
    kind, k, in_service = drive
    if kind == "think":
        return float(1.0 / pool.think_time[k])
    if kind == "service":
        return float(1.0 / pool.service_growth(np.array(float(in_service))) / pool.service[k])
    return 1.0 / pool.redrive_time
