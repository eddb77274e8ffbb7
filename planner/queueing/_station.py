"""Servers in phases: the two-moment law of service, and the states and rates of a station.

scv 1/k is Erlang-k; between 1/k and 1/(k - 1) a request has k - 1 or k equal stages (Tijms 1994, eq. A.3: mixed
Erlang); above 1 it takes one of two exponential branches with balanced means (hyperexponential).

A level n is the number of requests at the station; min(n, c) servers are occupied, each in one phase. A state of
a level is how many servers are in each phase: a composition. A redrive gap is one more phase, the first: entered
by a server that ends a service while a request waits, left to the start of a service. Scenarios with the same
servers and phases are solved side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

SAME: Final = 1e-12  # relative; an scv written as 1/3 is Erlang-3
LEAST_SCV: Final = 1e-8  # with a hundred million stages nobody can tell a service from a deterministic one


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseType:
    """Service of mean 1, one element of the first axis a scenario, all with the same number of phases K.

    start : shape (scenarios, K), probability of the first phase; moves : (scenarios, K, K), rates between phases;
    leaves : (scenarios, K), rates of ending the service.
    """

    start: Array
    moves: Array
    leaves: Array

    @property
    def phases(self) -> int:
        """Number of phases K."""
        return int(self.start.shape[-1])


def phase_count(scv: Array) -> NDArray[np.int64]:
    """Phases of the law: 1 for exponential, 2 above, k for scv in [1/k, 1/(k-1)); scv above 0."""
    stages = np.ceil((1 - SAME) / np.maximum(scv, LEAST_SCV))
    return np.where(np.abs(scv - 1) <= SAME, 1, np.where(scv > 1, 2, np.maximum(stages, 2))).astype(np.int64)


def phase_type(scv: Array, phases: int) -> PhaseType:
    """Build the law for scenarios that have the same number of phases."""
    start, leaves = np.zeros((scv.size, phases)), np.zeros((scv.size, phases))
    moves = np.zeros((scv.size, phases, phases))
    if phases == 1:
        start[:], leaves[:] = 1.0, 1.0
        return PhaseType(start=start, moves=moves, leaves=leaves)
    _, short, rate = mixed_erlang(np.minimum(scv, 1.0), stages=float(phases))
    stage = np.arange(phases - 1)
    start[:, 0], start[:, 1] = 1 - short, short
    moves[:, stage, stage + 1] = rate[:, None]
    leaves[:, -1] = rate
    two = scv > 1
    skew = np.sqrt((scv[two] - 1) / (scv[two] + 1))
    start[two, 0], start[two, 1] = (1 + skew) / 2, (1 - skew) / 2
    moves[two], leaves[two] = 0.0, 2 * start[two]
    return PhaseType(start=start, moves=moves, leaves=leaves)


def mixed_erlang(scv: Array, stages: float | None = None) -> tuple[Array, Array, Array]:
    """Stages k, share of the services with k - 1 stages, and the rate of a stage, for mean 1 and 0 < scv <= 1."""
    scv = np.maximum(scv, LEAST_SCV)
    k = np.full(scv.shape, stages) if stages is not None else phase_count(scv).astype(np.float64)
    inside = np.maximum(k * (1 + scv) - k * k * scv, 0.0)
    short = np.clip((k * scv - np.sqrt(inside)) / (1 + scv), 0.0, 1.0)
    return k, short, k - short


Indices = NDArray[np.int64]


@lru_cache(maxsize=256)
def states(occupied: int, phases: int) -> Indices:
    """Compositions of `occupied` servers over `phases`, shape (states, phases), in lexicographic order."""
    if phases == 1:
        return np.array([[occupied]])
    parts = [
        np.column_stack([np.full(len(rest), first), rest])
        for first in range(occupied + 1)
        for rest in (states(occupied - first, phases - 1),)
    ]
    return np.concatenate(parts)


def state_count(occupied: int, phases: int) -> int:
    """Number of compositions."""
    return comb(occupied + phases - 1, phases - 1)


@lru_cache(maxsize=4096)
def change(occupied: int, phases: int, leave: int, enter: int) -> tuple[Indices, Indices]:
    """Rows of `states` with a server in phase `leave`, and the rows where it is in phase `enter` instead.

    -1 stands for no phase: the server was, or becomes, idle.
    """
    here = states(occupied, phases)
    source = np.arange(len(here)) if leave < 0 else np.flatnonzero(here[:, leave] > 0)
    there = here[source].copy()
    if leave >= 0:
        there[:, leave] -= 1
    if enter >= 0:
        there[:, enter] += 1
    target = states(occupied - (leave >= 0) + (enter >= 0), phases)
    base = (occupied + 2) ** np.arange(phases, dtype=object)[::-1]  # exact integers of any size
    row = {key: number for number, key in enumerate(target @ base)}
    return source, np.array([row[key] for key in there @ base], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """Servers, their service law in units of `service` [s], inflation, and the mean gap [s] or None."""

    servers: int
    service: Array
    law: PhaseType
    inflation: Array
    gap: Array | None

    @property
    def phases(self) -> int:
        """Phases of a server, the gap included."""
        return self.law.phases + self.first

    @property
    def first(self) -> int:
        """Index of the first phase of service: 1 where there is a gap."""
        return int(self.gap is not None)

    def in_gap(self, level: int) -> Array:
        """Servers in their gap, by state."""
        here = states(min(level, self.servers), self.phases)
        return here[:, 0].astype(np.float64) if self.first else np.zeros(len(here))

    def served(self, level: int) -> Array:
        """Requests in service, by state."""
        return min(level, self.servers) - self.in_gap(level)

    def speed(self, level: int) -> Array:
        """Rate of one unit of phase rate [1/s], scenario x state: slower with more in service."""
        more = np.maximum(self.served(level) - 1, 0)
        return 1 / (self.service[:, None] * (1 + self.inflation[:, None] * more))

    def ends(self, level: int) -> Array:
        """Total rate at which services end [1/s], scenario x state."""
        here = states(min(level, self.servers), self.phases)[:, self.first :]
        return self.speed(level) * (self.law.leaves @ here.T)

    def local(self, level: int) -> Array:
        """Rates between different states of a level [1/s], scenario x state x state."""
        occupied, first = min(level, self.servers), self.first
        here, speed = states(occupied, self.phases), self.speed(level)
        rates = np.zeros((len(self.service), len(here), len(here)))
        for phase, after in np.argwhere(self.law.moves.any(0)):
            source, target = change(occupied, self.phases, phase + first, after + first)
            each = self.law.moves[:, phase, after, None] * here[source, phase + first]
            rates[:, source, target] += each * speed[:, source]
        if self.gap is not None:
            for after in np.flatnonzero(self.law.start.any(0)).tolist():
                source, target = change(occupied, self.phases, 0, after + 1)
                rates[:, source, target] += (
                    self.law.start[:, after, None] * here[source, 0] / self.gap[:, None]
                )
        return rates

    def down(self, level: int) -> Array:
        """Rates to the level below [1/s]: a service ends, and its server takes a waiting request or idles."""
        occupied, first = min(level, self.servers), self.first
        here, speed = states(occupied, self.phases), self.speed(level)
        picks = level > self.servers
        below = state_count(occupied - (not picks), self.phases)
        rates = np.zeros((len(self.service), len(here), below))
        for phase in np.flatnonzero(self.law.leaves.any(0)).tolist():
            each = self.law.leaves[:, phase, None] * here[:, phase + first] * speed
            for after, share in self._after(picks):
                source, target = change(occupied, self.phases, phase + first, after)
                rates[:, source, target] += share[:, None] * each[:, source]
        return rates

    def up(self, level: int) -> Array | None:
        """Where an arrival leads, probabilities; None where the state stays the same (it waits)."""
        if level >= self.servers:
            return None
        shares = np.zeros(
            (len(self.service), state_count(level, self.phases), state_count(level + 1, self.phases))
        )
        for phase in np.flatnonzero(self.law.start.any(0)).tolist():
            source, target = change(level, self.phases, -1, phase + self.first)
            shares[:, source, target] = self.law.start[:, phase, None]
        return shares

    def _after(self, picks: bool) -> list[tuple[int, Array]]:
        """Phases that follow the end of a service, with their probabilities."""
        certain = np.ones(len(self.service))
        if not picks:
            return [(-1, certain)]
        if self.gap is not None:
            return [(0, certain)]
        begins = np.flatnonzero(self.law.start.any(0)).tolist()
        return [(phase, self.law.start[:, phase]) for phase in begins]
