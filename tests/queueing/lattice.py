"""Exact mean value analysis of several classes over all their populations: the reference of `closed_network`.

R_rk(n) = D_rk (1 + Q_k(n - e_r)) at a queue, D_rk at a delay, and with c servers D_rk/c (1 + Q_k(n - e_r) + sum over
j < c - 1 of (c - 1 - j) p_k(j | n - e_r)); the empty station from the network without it (Reiser and Lavenberg 1980;
Casale 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Populations by class, shape (points, classes), the last class fastest; the step back of one requester."""

    points: Indices
    strides: Indices

    @classmethod
    def up_to(cls, full: Indices) -> Lattice:
        """All populations from none to the full one."""
        axes = np.meshgrid(*(np.arange(n + 1) for n in full), indexing="ij")
        strides = np.cumprod(np.append(1, full[:0:-1] + 1))[::-1]
        return cls(points=np.stack([axis.ravel() for axis in axes], axis=-1), strides=strides)

    def levels(self) -> list[Indices]:
        """Points of 1, 2, ... requesters in all."""
        total = self.points.sum(-1)
        order = np.argsort(total, kind="stable")
        return np.split(order, np.cumsum(np.bincount(total))[:-1])[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeNetwork:
    """Demands (scenarios, classes, stations), think times (scenarios, classes), servers (stations; inf a delay)."""

    demands: Array
    think: Array
    servers: Array

    def without(self, station: int) -> LatticeNetwork:
        """The same network less one station."""
        keep = np.arange(self.servers.size) != station
        return LatticeNetwork(demands=self.demands[..., keep], think=self.think, servers=self.servers[keep])


def solve(network: LatticeNetwork, lattice: Lattice) -> tuple[Array, Array]:
    """Throughput (scenarios, points, classes) and residence times (scenarios, points, classes, stations)."""
    return _solve(network, lattice, tuple(range(network.servers.size)), network, {})


Known = dict[tuple[int, ...], tuple[Array, Array]]


def _solve(
    network: LatticeNetwork, lattice: Lattice, names: tuple[int, ...], part: LatticeNetwork, known: Known
) -> tuple[Array, Array]:
    """Solve the stations `names`; each network met on the way, by its stations, is solved once."""
    if names not in known:
        multiple = np.flatnonzero((part.servers > 1) & np.isfinite(part.servers))
        fewer = {
            int(k): _solve(network, lattice, names[:k] + names[k + 1 :], part.without(int(k)), known)[0]
            for k in multiple
        }
        known[names] = _recursion(part, lattice, fewer)
    return known[names]


def _recursion(network: LatticeNetwork, lattice: Lattice, without: dict[int, Array]) -> tuple[Array, Array]:
    """The recursion over populations; `without` is the throughput of the network less a multi-server station."""
    scenarios, classes, stations = network.demands.shape
    points = len(lattice.points)
    throughput = np.zeros((scenarios, points, classes))
    residence = np.zeros((scenarios, points, classes, stations))
    queue = np.zeros((scenarios, points, stations))
    queues = np.where(np.isinf(network.servers), 0.0, 1.0)
    service_rates = np.where(np.isinf(network.servers), 1.0, network.servers)
    # P(j requests at a station | population), j = 0..servers - 1; the empty network has none anywhere.
    idle = {k: np.zeros((scenarios, points, int(network.servers[k]))) for k in without}
    for distribution in idle.values():
        distribution[:, 0, 0] = 1.0
    for here in lattice.levels():
        for r in range(classes):
            at = here[lattice.points[here, r] > 0]
            before = at - lattice.strides[r]
            ahead = 1 + queues * queue[:, before]
            for k, distribution in idle.items():
                ahead[..., k] += distribution[:, before, :-1] @ np.arange(distribution.shape[-1] - 1, 0, -1)
            residence[:, at, r] = network.demands[:, None, r] / service_rates * ahead
            time = network.think[:, None, r] + residence[:, at, r].sum(-1)
            with np.errstate(divide="ignore"):  # a part of a network may take no time at all
                throughput[:, at, r] = lattice.points[at, r] / time
        with np.errstate(invalid="ignore"):
            flow = throughput[:, here, :, None] * residence[:, here]
        queue[:, here] = np.where(np.isfinite(flow), flow, 0).sum(-2)
        for k, distribution in idle.items():
            _next_law(distribution, network.demands[..., k], throughput, without[k], lattice, here)
    return throughput, residence


def _next_law(
    distribution: Array, demand: Array, throughput: Array, without: Array, lattice: Lattice, here: Indices
) -> None:
    """P(j | n) = sum over classes of D X / j P(j - 1 | n - 1), and P(0 | n) from the network without the station."""
    first = np.argmax(lattice.points[here] > 0, axis=-1)
    before = here - lattice.strides[first]
    distribution[:, here, 0] = distribution[:, before, 0] * (
        throughput[:, here, first] / without[:, here, first]
    )
    for r in range(lattice.strides.size):
        at = here[lattice.points[here, r] > 0]
        passing = demand[:, None, r] * throughput[:, at, r]
        for j in range(1, distribution.shape[-1]):
            distribution[:, at, j] += passing / j * distribution[:, at - lattice.strides[r], j - 1]


def full_population(demands: Array, population: Indices, think: Array, servers: Array) -> tuple[Array, Array]:
    """Throughput (classes,) and numbers (classes, stations) with all requesters there."""
    effective = np.where(servers >= population.sum(), np.inf, servers)  # a server for everybody
    lattice = Lattice.up_to(population)
    network = LatticeNetwork(demands=demands[None], think=think[None], servers=effective)
    throughput, residence = (each[0, -1] for each in solve(network, lattice))
    return throughput, throughput[:, None] * residence


def weights(population: tuple[int, ...], demands: np.ndarray, think: list[float], servers: list[float]):  # type: ignore[no-untyped-def, type-arg]
    """Product form (Baskett et al. 1975): every way to spread the requesters over the stations, with its weight."""
    classes, stations = demands.shape
    ways = [
        [spread for spread in product(range(n + 1), repeat=stations) if sum(spread) <= n] for n in population
    ]
    for spreads in product(*ways):
        at = np.array(spreads)
        weight = 1.0
        for k in range(stations):
            here = at[:, k].sum()
            weight *= factorial(here) / prod(min(j, servers[k]) for j in range(1, here + 1))
            weight *= prod(demands[r, k] ** at[r, k] / factorial(at[r, k]) for r in range(classes))
        for r in range(classes):
            thinking = population[r] - at[r].sum()
            weight *= think[r] ** thinking / factorial(thinking)
        yield at, weight


def by_enumeration(population, demands, think, servers):  # type: ignore[no-untyped-def]
    """Throughput by class and mean numbers by class and station."""
    total, queue = 0.0, 0.0
    for at, weight in weights(population, demands, think, servers):
        total, queue = total + weight, queue + weight * at
    fewer = [tuple(n - (r == k) for k, n in enumerate(population)) for r in range(len(population))]
    throughput = [sum(w for _, w in weights(one, demands, think, servers)) / total for one in fewer]
    return np.array(throughput), queue / total
