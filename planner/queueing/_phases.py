"""Stations in phases, many scenarios at once: scenarios of equal shape are solved side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.queueing._birth_death import saturated_with_gaps
from planner.queueing._levels import OpenSolution, solve_closed, solve_crowded, solve_open
from planner.queueing._station import Station, phase_count, phase_type, state_count
from planner.results import Array

LARGEST_LEVEL: Final = 1_000  # states of one level: the solution inverts matrices of this size
LARGEST_CHAIN: Final = 200_000  # states of all levels of a closed station


def closed_in_phases(n: Array, z: Array, s: Array, c: Array, scv: Array, i: Array, g: Array) -> Array:
    """Sums of closed stations with phases or gaps, as `Steady.from_sums` takes them."""
    c, phases = np.minimum(n, c), _phases(scv)
    result = np.empty((6, n.size))
    for index, (servers, width, gapped, population, crowded) in shapes(c, phases, g > 0, n, z <= s):
        states = _checked_size(servers, width, gapped)
        if states * population > LARGEST_CHAIN:
            raise InputError(
                "population", population, f"at most {LARGEST_CHAIN // states}: {states} states a level"
            )
        for part in _batches(index, states):
            station = _station(servers, width, gapped, s[part], scv[part], i[part], g[part])
            solve = solve_crowded if crowded else solve_closed
            result[:, part] = solve(population, z[part], station)
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Scenarios solved side by side: which, at what station, and what came out."""

    index: NDArray[np.int64]
    station: Station
    solution: OpenSolution


def open_in_phases(
    rate: Array, s: Array, c: Array, scv: Array, largest: int = LARGEST_LEVEL
) -> Iterator[Batch]:
    """Stable open stations with phases and at most `largest` states a level, batch by batch."""
    zero = np.zeros_like(s)
    for index, (servers, width) in shapes(c, _phases(scv)):
        for part in _batches(index, _checked_size(servers, width, 0, largest)):
            station = _station(servers, width, 0, s[part], scv[part], zero[part], zero[part])
            yield Batch(index=part, station=station, solution=solve_open(rate[part], station))


def open_with_gaps(rate: Array, s: Array, c: Array, i: Array, g: Array) -> tuple[Array, NDArray[np.bool_]]:
    """M/M/c with gaps: sums as `Steady.from_sums` takes them, and where it is stable.

    Saturated servers never idle: their throughput, service and gaps are those of `saturated_with_gaps`.
    """
    capacity, busy = saturated_with_gaps(s, c, i, g)
    stable = rate < capacity
    result = np.stack([capacity, busy, np.full_like(s, np.inf), c - busy, np.ones_like(s), busy / capacity])
    one = np.ones_like(s)
    inside = np.flatnonzero(stable)
    for chosen, (servers,) in shapes(c[inside]):
        states = _checked_size(servers, 1, 1)
        for part in _batches(inside[chosen], states):
            station = _station(servers, 1, 1, s[part], one[part], i[part], g[part])
            result[:, part] = solve_open(rate[part], station).sums
    return result, stable


def _phases(scv: Array) -> NDArray[np.int64]:
    if not (scv > 0).all():
        raise InputError("scv", 0.0, "above zero: deterministic service has no finite chain of phases")
    return phase_count(scv)


def _checked_size(servers: int, width: int, gapped: int, largest: int = LARGEST_LEVEL) -> int:
    phases = width + gapped
    # With two phases or more there are more states than servers, and than phases: no need to count them all.
    least = max(servers, phases)
    states = least if least > largest and phases > 1 else state_count(servers, phases)
    if states > largest:
        told = f"at most {largest} states a level; {phases} phases of a server make {states} or more"
        raise InputError("servers", servers, told)
    return states


def shapes(
    *keys: Array | NDArray[np.int64] | NDArray[np.bool_],
) -> Iterator[tuple[NDArray[np.int64], tuple[int, ...]]]:
    """Scenarios of each combination of whole numbers."""
    if keys[0].size == 0:
        return
    distinct, number = np.unique(
        np.stack([np.asarray(key, dtype=np.int64) for key in keys]), axis=1, return_inverse=True
    )
    order = np.argsort(number.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(number.ravel()))
    for column, index in enumerate(np.split(order, ends[:-1])):
        yield index, tuple(int(value) for value in distinct[:, column])


def _batches(index: NDArray[np.int64], states: int) -> Iterator[NDArray[np.int64]]:
    size = max(1, 2_000_000 // states**2)  # matrix elements of one kind held side by side
    for start in range(0, len(index), size):
        yield index[start : start + size]


def _station(servers: int, width: int, gapped: int, s: Array, scv: Array, i: Array, g: Array) -> Station:
    law = phase_type(scv, width)
    return Station(servers=servers, service=s, law=law, inflation=i, gap=g if gapped else None)
