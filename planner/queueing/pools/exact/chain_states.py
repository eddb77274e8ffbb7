"""States and moves of a small closed pool whose equal volumes are exchangeable, free of any rate.

A volume is (base, in_service, in_gap, queued): the base is IDLE, SERVES or is in its GAP; aliases it holds
are in service or in their gap. A pool is, class by class, how many of its volumes are in which state. A move
carries what drives it and how many drive it, so that one chain serves all rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.results import Array

IDLE, SERVES, GAP = 0, 1, 2

Volume = tuple[int, int, int, int]
State = tuple[tuple[tuple[Volume, int], ...], ...]
Drive = tuple[str, int, int]
"""What drives a move: ("think", class, 0), ("service", class, number in service), ("base_gap", 0, 0) or
("alias_gap", 0, 0)."""
Move = tuple[State, Drive, float]
"""The next state, the drive, and how many independent drives of that kind lead there."""


@dataclass(frozen=True, eq=False)
class LumpedStates:
    """The states of a pool, its moves, and what is read off each state."""

    source: NDArray[np.int64]  # Of each move: states it joins, and the index of its drive in `drives`
    target: NDArray[np.int64]
    drive: NDArray[np.int64]
    weight: Array  # How many drives of that kind make the move [1]
    drives: tuple[Drive, ...]  # Every drive that occurs
    queued: Array  # Totals over the volumes of a class, shape (states, classes) [1]
    base_serves: Array
    alias_serves: Array
    thinking: Array
    thinking_at_busy: Array
    # Volumes whose base serves with a queue behind it, by the number in service of the volume, shape (in
    # service, states, classes) [1]
    turns: Array
    free: NDArray[np.int64]  # Free aliases, shape (states,) [1]

    @property
    def size(self) -> int:
        """Number of states [1]."""
        return int(self.free.size)


@dataclass(frozen=True)
class PoolLayout:
    """What fixes the states: aliases, volumes and requesters of each class, and which devices have a gap."""

    aliases: int
    volumes: tuple[int, ...]
    population: tuple[int, ...]
    base_gap: bool
    alias_gap: bool


@lru_cache(maxsize=64)
def lumped_states(layout: PoolLayout, most: int) -> LumpedStates:
    """Enumerate the states that the empty pool can reach."""
    empty: State = tuple((((IDLE, 0, 0, 0), count),) for count in layout.volumes)
    index = {empty: 0}
    states = [empty]
    drives: dict[Drive, int] = {}
    moves: list[tuple[int, int, int, float]] = []
    for here, state in enumerate(states):
        for following, drive, weight in _moves(state, layout):
            there = index.setdefault(following, len(states))
            if there == len(states):
                if there == most:
                    raise InputError(
                        "method", "exact", f"a pool of at most {most} states for the exact chain"
                    )
                states.append(following)
            moves.append((here, there, drives.setdefault(drive, len(drives)), weight))
    source, target, drive_index = (np.array([move[i] for move in moves], dtype=np.int64) for i in range(3))
    return LumpedStates(
        source,
        target,
        drive_index,
        np.array([move[3] for move in moves]),
        tuple(drives),
        *_totals(states, layout),
    )


def _moves(state: State, layout: PoolLayout) -> Iterator[Move]:
    """Every way out of a state."""
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
                    after = (GAP if layout.base_gap else SERVES, serving, in_gap, queued - 1)
                yield _replace(state, k, volume, after), ("service", k, in_service), float(count)
            if base == GAP:
                yield (
                    _replace(state, k, volume, (SERVES, serving, in_gap, queued)),
                    ("base_gap", 0, 0),
                    float(count),
                )
            if in_gap:
                after = (base, serving + 1, in_gap - 1, queued)
                yield _replace(state, k, volume, after), ("alias_gap", 0, 0), float(count * in_gap)
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
    layout: PoolLayout,
) -> Iterator[Move]:
    """An alias that ended at volume `left` takes a waiting I/O, each equally likely."""
    total = sum(queued for _, _, queued in waiting)
    k_left, before = left
    changed = (before[0], before[1] - 1, before[2], before[3])
    for k, volume, queued in waiting:
        same = (k, volume) == (k_left, before)
        # The volume that the alias left is one of those like it: it has before[3] of their `queued`.
        choices = [(volume, queued - before[3]), (changed, before[3])] if same else [(volume, queued)]
        for chosen, share in choices:
            if share:
                yield _replace(freed, k, chosen, _picked(chosen, layout)), drive, weight * share / total


def _picked(volume: Volume, layout: PoolLayout) -> Volume:
    base, serving, in_gap, queued = volume
    if layout.alias_gap:
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
    """The state with one volume of class k changed, sorted again."""
    volumes = dict(state[k])
    if volumes[before] == 1:
        del volumes[before]
    else:
        volumes[before] -= 1
    volumes[after] = volumes.get(after, 0) + 1
    return (*state[:k], tuple(sorted(volumes.items())), *state[k + 1 :])


def _totals(
    states: list[State], layout: PoolLayout
) -> tuple[Array, Array, Array, Array, Array, Array, NDArray[np.int64]]:
    """Per state and class totals, in the order of the fields of `LumpedStates` from `queued` on."""
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
