"""Servers in phases: the two-moment distribution of service, and the states and rates of a station.

scv 1/k is Erlang-k; between 1/k and 1/(k - 1) a request has k - 1 or k equal stages (Tijms 1994, eq. A.3: mixed
Erlang); above 1 it takes one of two exponential branches with balanced means (hyperexponential).

At level n, n requests are at the station and min(n, c) servers occupied, each in one phase; a state is the number of
servers in each phase: a composition. A redrive gap is an additional first phase, which a server enters if it ends a
service while a request waits, and leaves to start one. Scenarios with equal servers and phases are solved together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np

from planner.errors import InputError
from planner.queueing._birth_death import saturated_with_gaps
from planner.queueing._levels import (
    LARGE,
    Blocks,
    closed_by,
    inverse_dominant,
    level_ratios,
    stationary,
    tail_ratio,
)
from planner.results import Array, Flags, Integers

LEAST_SCV: Final = 1e-8  # a service of a hundred million stages is practically deterministic


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseType:
    """Service of mean 1, one scenario per element of the first axis, all with K phases.

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


def phase_count(scv: Array) -> Integers:
    """Number of phases: 1 for scv 1, 2 above, k for scv in [1/k, 1/(k-1)); scv above 0."""
    same = 1e-12  # relative tolerance, so that an scv of 1/3 is Erlang-3
    stages = np.ceil((1 - same) / np.maximum(scv, LEAST_SCV))
    return np.where(np.abs(scv - 1) <= same, 1, np.where(scv > 1, 2, np.maximum(stages, 2))).astype(np.int64)


def phase_type(scv: Array, phases: int) -> PhaseType:
    """Service distribution of scenarios with the same number of phases."""
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
    start[two, 0], start[two, 1] = branch_shares(scv[two])
    moves[two], leaves[two] = 0.0, 2 * start[two]
    return PhaseType(start=start, moves=moves, leaves=leaves)


def branch_shares(scv: Array) -> tuple[Array, Array]:
    """Probabilities of the two branches with balanced means, for scv above 1; the rate of each is twice that."""
    first = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
    return first, 0.5 / first / (scv + 1)


def mixed_erlang(scv: Array, stages: float | None = None) -> tuple[Array, Array, Array]:
    """Stages k, share of the services with k - 1 stages, and the rate of a stage, for mean 1 and 0 < scv <= 1."""
    scv = np.maximum(scv, LEAST_SCV)
    k = np.full(scv.shape, stages) if stages is not None else phase_count(scv).astype(np.float64)
    inside = np.maximum(k * (1 + scv) - k * k * scv, 0.0)
    short = np.clip((k * scv - np.sqrt(inside)) / (1 + scv), 0.0, 1.0)
    return k, short, k - short


@lru_cache(maxsize=4096)
def states(occupied: int, phases: int) -> Integers:
    """Compositions of `occupied` servers over `phases`, shape (states, phases), in lexicographic order."""
    if phases == 1:
        return np.array([[occupied]])
    rest = [states(occupied - first, phases - 1) for first in range(occupied + 1)]
    first = np.repeat(np.arange(occupied + 1), [len(each) for each in rest])
    return np.column_stack([first, np.concatenate(rest)])


def state_count(occupied: int, phases: int) -> int:
    """Number of compositions."""
    return math.comb(occupied + phases - 1, phases - 1)


@lru_cache(maxsize=4096)
def change(occupied: int, phases: int, leave: int, enter: int) -> tuple[Integers, Integers]:
    """Rows of `states` with a server in phase `leave`, and those where it is in phase `enter` instead; -1 is idle."""
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
    """Servers, their service distribution in units of `service` [s], inflation, and the mean gap [s] or None."""

    servers: int
    service: Array
    distribution: PhaseType
    inflation: Array
    gap: Array | None

    @property
    def phases(self) -> int:
        """Phases of a server, including the gap."""
        return self.distribution.phases + self.first

    @property
    def first(self) -> int:
        """Index of the first phase of service: 1 with a gap, else 0."""
        return int(self.gap is not None)

    def in_gap(self, level: int) -> Array:
        """Servers in their gap, by state."""
        here = states(min(level, self.servers), self.phases)
        return here[:, 0].astype(np.float64) if self.first else np.zeros(len(here))

    def served(self, level: int) -> Array:
        """Requests in service, by state."""
        return min(level, self.servers) - self.in_gap(level)

    def speed(self, level: int) -> Array:
        """Factor of the phase rates [1/s], scenario x state: slower with more in service."""
        more = np.maximum(self.served(level) - 1, 0)
        return 1 / (self.service[:, None] * (1 + self.inflation[:, None] * more))

    def ends(self, level: int) -> Array:
        """Total rate at which services end [1/s], scenario x state."""
        here = states(min(level, self.servers), self.phases)[:, self.first :]
        return self.speed(level) * (self.distribution.leaves @ here.T)

    def local(self, level: int) -> Array:
        """Rates between different states of a level [1/s], scenario x state x state."""
        occupied, first = min(level, self.servers), self.first
        here, speed = states(occupied, self.phases), self.speed(level)
        rates = np.zeros((len(self.service), len(here), len(here)))
        for phase, after in np.argwhere(self.distribution.moves.any(0)):
            source, target = change(occupied, self.phases, phase + first, after + first)
            each = self.distribution.moves[:, phase, after, None] * here[source, phase + first]
            rates[:, source, target] += each * speed[:, source]
        if self.gap is not None:
            for after in np.flatnonzero(self.distribution.start.any(0)).tolist():
                source, target = change(occupied, self.phases, 0, after + 1)
                rates[:, source, target] += (
                    self.distribution.start[:, after, None] * here[source, 0] / self.gap[:, None]
                )
        return rates

    def down(self, level: int) -> Array:
        """Rates to the level below [1/s]: a service ends, and its server takes a waiting request or becomes idle."""
        occupied, first = min(level, self.servers), self.first
        here, speed = states(occupied, self.phases), self.speed(level)
        picks = level > self.servers
        below = state_count(occupied - (not picks), self.phases)
        rates = np.zeros((len(self.service), len(here), below))
        for phase in np.flatnonzero(self.distribution.leaves.any(0)).tolist():
            each = self.distribution.leaves[:, phase, None] * here[:, phase + first] * speed
            for after, share in self._after(picks):
                source, target = change(occupied, self.phases, phase + first, after)
                rates[:, source, target] += share[:, None] * each[:, source]
        return rates

    def blocks(self) -> Blocks:
        """Rates within a level and down by level, each made once: levels above c + 1 have those of c + 1."""
        made = cache(lambda level: (self.local(level), self.down(level)))
        return lambda level: made(min(level, self.servers + 1))

    def up(self, level: int) -> Array | None:
        """Transition probabilities of an arrival; None if it waits, so that the state stays the same."""
        if level >= self.servers:
            return None
        shares = np.zeros(
            (len(self.service), state_count(level, self.phases), state_count(level + 1, self.phases))
        )
        for phase in np.flatnonzero(self.distribution.start.any(0)).tolist():
            source, target = change(level, self.phases, -1, phase + self.first)
            shares[:, source, target] = self.distribution.start[:, phase, None]
        return shares

    def entered(self, level: int, matrix: Array) -> Array:
        """Transition probabilities of an arrival times a matrix."""
        up = self.up(level)
        return matrix if up is None else np.asarray(up @ matrix)

    def _after(self, picks: bool) -> list[tuple[int, Array]]:
        """Phases that follow the end of a service, with their probabilities."""
        certain = np.ones(len(self.service))
        if not picks:
            return [(-1, certain)]
        if self.gap is not None:
            return [(0, certain)]
        begins = np.flatnonzero(self.distribution.start.any(0)).tolist()
        return [(phase, self.distribution.start[:, phase]) for phase in begins]


RARE: Final = 1e-18  # probability of levels that are left out, relative to that of their neighbors


def most_present(n: int, think: Array, station: Station) -> int:
    """Level of a closed station above which all are `RARE`: above c each is rarer by N / Z times S / c at least."""
    leaves = station.distribution.leaves
    rest = np.maximum(1.0 / np.where(leaves > 0.0, leaves, np.inf).min(axis=-1), 1.0)
    # S, the longest mean of the rest of a service, of a slowed server with its gap.
    service = station.service * rest * (1.0 + station.inflation * (station.servers - 1))
    gap = 0.0 if station.gap is None else station.gap
    ratio = float((n / think * (service + gap) / station.servers).max())
    return n if ratio >= 1.0 else min(n, station.servers + math.ceil(math.log(RARE) / math.log(ratio)))


def least_present(n: int, think: Array, station: Station) -> int:
    """Level below which all are `RARE`: k think with at most a Poisson weight, of the rate at which services end."""
    ends = station.servers * station.distribution.leaves.max(axis=-1) / station.service
    weights = np.cumsum(np.log((ends * think).max() / np.arange(1.0, n + 1.0)))
    rare = np.flatnonzero(weights < math.log(RARE))
    return n - int(rare[0]) - 1 if rare.size else 0


def solve_closed(n: int, think: Array, station: Station) -> Array:
    """Sums of a closed station of n requesters, for `steady_of`."""
    most = most_present(n, think, station)

    def rise(level: int, times: Array) -> Array:
        return ((n - level) / think)[:, None, None] * station.entered(level, times)

    ratios = level_ratios(station.blocks(), rise, most)
    sums = Sums(station)
    distribution = np.ones((len(think), 1))
    for level in range(most + 1):
        distribution = sums.add(level, distribution, (n - level) / think)
        if level < most:
            distribution = _times(distribution, ratios[level])
    return sums.result()


def solve_crowded(n: int, think: Array, station: Station) -> Array:
    """As `solve_closed`, for think times up to the service time: from the full station down.

    Here ``p_n = p_{n+1} D_{n+1} (-T_n)^-1`` with T_n = A_n + D_n (-T_{n-1})^-1 lambda_{n-1} U_{n-1}, which includes the
    levels below n; upward, the ratios of neighboring levels would overflow as the think time vanishes.
    """
    steps: list[Array] = []
    blocks, least = station.blocks(), min(least_present(n, think, station), n - 1)
    moves = station.local(least)
    for level in range(least, n):
        arrivals = ((n - level) / think)[:, None, None]
        times, up = inverse_dominant(closed_by(moves, arrivals)), station.up(level)
        local, down = blocks(level + 1)
        steps.append(down @ times)
        moves = local + arrivals * (steps[-1] if up is None else steps[-1] @ up)
    sums = Sums(station)
    distribution = stationary(moves)
    for level in range(n, least - 1, -1):
        distribution = sums.add(level, distribution, (n - level) / think)
        if level > least:
            distribution = _times(distribution, steps[level - least - 1])
    return sums.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSolution:
    """Solution of an open chain: the sums, the distribution at level c (normalized), R, and the sum of its powers."""

    sums: Array
    full: Array
    ratio: Array
    powers: Array


def solve_open(rate: Array, station: Station) -> OpenSolution:
    """Solve an open station below saturation (Latouche and Ramaswami 1993)."""
    top, arrivals, blocks = station.servers, rate[:, None, None], station.blocks()
    local, down = blocks(top + 1)
    ratio, times, areas = tail_ratio(arrivals * np.eye(local.shape[-1]), local, down)
    ratios = level_ratios(
        blocks, lambda level, dwell: arrivals * station.entered(level, dwell), top, ratio @ down
    )
    sums = Sums(station)
    distribution = np.ones((len(rate), 1))
    for level in range(top):
        distribution = _times(sums.add(level, distribution, rate), ratios[level])
    full = sums.add(top, distribution, rate)
    scale = sums.scale.copy()
    # sum of the levels above c
    sums.add(top, rate[:, None] * _times(full, times), rate)
    full = full * (sums.scale / scale)[:, None]
    sums.values[2] += rate * _times(full, areas)[:, 0]
    full /= sums.values[0][:, None]
    powers = np.eye(ratio.shape[-1]) + arrivals * times
    return OpenSolution(sums=sums.result(), full=full, ratio=ratio, powers=powers)


def _times(distribution: Array, matrix: Array) -> Array:
    return (distribution[:, None, :] @ matrix)[:, 0, :]


class Sums:
    """Running sums over the levels of a chain, rescaled if they become too large."""

    def __init__(self, station: Station) -> None:
        self.station = station
        # total, in service, waiting, in gap, rate of service, arrivals, delayed arrivals
        self.values = np.zeros((7, len(station.service)))
        self.scale = np.ones(len(station.service))

    def add(self, level: int, distribution: Array, arrivals: Array) -> Array:
        """Add one level with its (unnormalized) distribution; return that, rescaled like the sums."""
        station = self.station
        mass, gaps = distribution.sum(-1), distribution @ station.in_gap(level)
        waiting = mass * max(level - station.servers, 0) + gaps
        ends = (distribution * station.ends(level)).sum(-1)
        source = mass * arrivals
        delayed = source if level >= station.servers else np.zeros_like(source)
        self.values += [mass, distribution @ station.served(level), waiting, gaps, ends, source, delayed]
        scale = np.where(mass > LARGE, 1 / LARGE, 1.0)
        self.values *= scale
        self.scale *= scale
        return distribution * scale[:, None]

    def result(self) -> Array:
        """Throughput [1/s], in service, waiting, in gap, delay probability, service time [s]."""
        total, busy, waiting, gaps, ends, source, delayed = self.values
        means = (busy / total, waiting / total, gaps / total)
        return np.stack([ends / total, *means, delayed / source, busy / ends])


LARGEST_LEVEL: Final = 1_000  # states of a level, hence size of the matrices to invert
LARGEST_CHAIN: Final = (
    200_000  # states of a closed station; many stations take at most as long as the largest one
)


def closed_in_phases(n: Array, z: Array, s: Array, c: Array, scv: Array, i: Array, g: Array) -> Array:
    """Sums of closed stations with phases or gaps, for `steady_of`."""
    z = np.maximum(z, 1e-15 * s)  # stands for no think time, to working precision
    result = np.empty((6, n.size))
    for part, station, (population, crowded) in _stations(s, np.minimum(n, c), scv, i, g, n, z <= s):
        solve = solve_crowded if crowded else solve_closed
        result[:, part] = solve(population, z[part], station)
    return result


def open_in_phases(
    rate: Array, s: Array, c: Array, scv: Array, i: Array | None = None, g: Array | None = None, *,
    largest: int = LARGEST_LEVEL,
) -> Iterator[tuple[Integers, Station, OpenSolution]]:  # fmt: skip
    """Solve stable open stations with at most `largest` states per level; yield indices, station, solution."""
    none = np.zeros_like(s)
    every = _stations(s, c, scv, none if i is None else i, none if g is None else g, largest=largest)
    for part, station, _ in every:
        yield part, station, solve_open(rate[part], station)


def open_with_gaps(rate: Array, s: Array, c: Array, i: Array, g: Array) -> tuple[Array, Flags]:
    """M/M/c with gaps: sums for `steady_of`, and where it is stable; saturated as of `saturated_with_gaps`."""
    capacity, busy = saturated_with_gaps(s, c, i, g)
    stable = rate < capacity
    one = np.ones_like(s)
    result = np.stack([capacity, busy, np.full_like(s, np.inf), c - busy, one, busy / capacity])
    inside = np.flatnonzero(stable)
    for part, _, solution in open_in_phases(*(each[inside] for each in (rate, s, c, one, i, g))):
        result[:, inside[part]] = solution.sums
    return result, stable


def _stations(
    s: Array, c: Array, scv: Array, i: Array, g: Array, *keys: Array | Flags, largest: int = LARGEST_LEVEL
) -> Iterator[tuple[Integers, Station, tuple[int, ...]]]:  # fmt: skip
    """Scenarios to solve together, their station and their common `keys`, the population (number of levels) first."""
    if not (scv > 0).all():
        raise InputError("scv", 0.0, "above zero, as 0.1: constant service has no chain of phases")
    for index, (servers, width, gapped, *rest) in shapes(c, phase_count(scv), g > 0, *keys):
        states = _checked_size(servers, width + gapped, largest)
        if rest and rest[0] > (most := LARGEST_CHAIN // states):
            raise InputError("population", rest[0], f"at most {most}: {states} states per level")
        if rest and len(index) * rest[0] * states**3 > LARGEST_CHAIN * LARGEST_LEVEL**2:
            wanted = (
                f"nearer to 1: {len(index):,} stations of {states} states per level take hours; ask for fewer"
            )
            raise InputError("scv", float(scv[index[0]]), wanted)
        most = min(2_000_000, 20_000_000 // max(rest[0], 1)) if rest else 2_000_000
        size = max(
            1, most // states**2
        )  # bounds the matrix elements in memory: of a level, of all levels of a closed one
        for start in range(0, len(index), size):
            part = index[start : start + size]
            distribution = phase_type(scv[part], width)
            gap = g[part] if gapped else None
            yield (
                part,
                Station(
                    servers=servers, service=s[part], distribution=distribution, inflation=i[part], gap=gap
                ),
                tuple(rest),
            )


def _checked_size(servers: int, phases: int, largest: int) -> int:
    # With two or more phases there are more states than servers or phases, so large ones need not be counted.
    least = max(servers, phases)
    states = least if least > largest and phases > 1 else state_count(servers, phases)
    if states > largest:
        wanted = f"at most {largest} states per level; {phases} phases per server make {states} or more"
        raise InputError("servers", servers, wanted)
    return states


def shapes(*keys: Array | Integers | Flags) -> Iterator[tuple[Integers, tuple[int, ...]]]:
    """Group scenarios by their combination of whole numbers."""
    if keys[0].size == 0:
        return
    distinct, number = np.unique(
        np.stack([np.asarray(key, dtype=np.int64) for key in keys]), axis=1, return_inverse=True
    )
    order = np.argsort(number.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(number.ravel()))
    for column, index in enumerate(np.split(order, ends[:-1])):
        yield index, tuple(int(value) for value in distinct[:, column])
