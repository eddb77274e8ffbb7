"""What stands in the loop: the cycle of a guest, groups of paging devices and of volumes, and the network of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.errors import InfeasibleError, InputError
from planner.queueing import _linearizer
from planner.queueing._product_form import Network, Rest, StationGroup, paces
from planner.queueing.multiclass import LARGEST_EXACT, LARGEST_POPULATION
from planner.queueing.spread_pool import spread_pace
from planner.results import Array
from planner.system.description import Entry

NEARLY: Final = 1 - 1e-9  # share of a station that open requests may take while a root is sought
PARTS: Final = 9  # decimals of inflation and gap by which two pools of paging volumes count as one
SAME: Final = 11  # significant digits by which two pools count as one


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What the guests of a group do between two waits, in units of one page touch or one I/O.

    `requesters`, `touches` a unit, processor times `own_time` and `charged_time` [s], transfers by `paging` group and
    I/Os by `volumes` group a unit, page `writes` a read, `think` time [s]; or, `opened`, units that come at random at
    `rate` [1/s]. All of shape (scenarios,).
    """

    name: str
    guest: Entry
    miss: Array | None
    requesters: Array
    touches: Array
    own_time: Array
    charged_time: Array
    paging: Mapping[str, Array]
    writes: Array
    volumes: Mapping[str, Array]
    think: Array
    dedicated: bool
    opened: bool
    rate: Array
    ios: Array
    virtual_processors: Array

    def alone(self, groups: Sequence[PagingGroup], volumes: Mapping[str, Array]) -> Array:
        """Shortest time of a unit, where nothing queues [s]."""
        time = self.think + self.own_time + self.charged_time
        for group in groups:
            if group.name in self.paging:
                time = time + self.paging[group.name] * group.service
        for name, visits in self.volumes.items():
            time = time + visits * volumes[name]
        return np.asarray(time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """A solved network: `rates` (scenarios, classes); closed numbers, open numbers and visitors of the paging groups.

    `present`, `opened` and `visiting` are of shape (scenarios, groups); `loads` holds CP system time and page writes.
    """

    rates: Array
    present: Array
    opened: Array
    visiting: Array
    loads: list[Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingGroup:
    """Equal paging devices; `aliases` where they are volumes of a HyperPAV pool. All of shape (scenarios,), SI."""

    name: str
    devices: Array
    depth: Array
    service: Array
    pages: Array
    cp_system: Array
    other: Array
    aliases: Array | None
    inflation: Array
    gap: Array

    @property
    def capacity_each(self) -> Array:
        """Transfers that one device, with its part of the aliases, works on at most; in those that are alone."""
        if self.aliases is None:
            return self.depth
        each = 1 + self.aliases / self.devices
        return np.asarray(each / (1 + self.inflation * (each - 1)) / (1 + self.gap / self.service))

    def service_at(self, present: Array) -> Array:
        """Service time with so many transfers at the group: it grows with those in service on the same volume."""
        if self.aliases is None or not self.inflation.any():
            return self.service
        served = np.minimum(present, self.devices + self.aliases) / self.devices
        return np.asarray(self.service * (1 + self.inflation * np.maximum(served - 1, 0.0)))

    def group(self, demand: Array, writes: Array, most: int, at: NDArray[np.int64]) -> StationGroup:
        """The station that a network sees, with open transfers beside the closed ones."""
        devices = self.devices[at]
        load = (writes + self.other[at]) * self.service[at] / devices
        if self.aliases is None:
            depth = self.depth[at]
            load = np.where(np.isinf(depth), 0.0, np.minimum(load, depth * NEARLY))
            return StationGroup(demand=demand, pace=paces(depth, most, load), copies=devices, load=load)
        pace = self._pool_paces(most, load * devices, at)
        load = np.minimum(load * devices, pace[:, -1] * NEARLY)
        return StationGroup(demand=demand, pace=pace, copies=np.ones(len(at)), load=load)

    def _pool_paces(self, most: int, load: Array, at: NDArray[np.int64]) -> Array:
        """Pace of the whole pool, one row a scenario; long enough to hold the open transfers, too."""
        assert self.aliases is not None
        far = most if not load.any() else most + math.ceil(4 * float(load.max())) + 20
        gap = np.round(self.gap[at] / self.service[at], PARTS)
        rows = np.stack(
            [self.devices[at], self.aliases[at], np.round(self.inflation[at], PARTS), gap], axis=-1
        )
        unique, inverse = np.unique(rows, axis=0, return_inverse=True)
        found = [
            spread_pace(int(devices), int(aliases), max(far, 1), inflation=float(inflation), gap=float(gap))[
                0
            ]
            for devices, aliases, inflation, gap in unique
        ]
        return np.array(found)[np.ravel(inverse)]


class Loop(Protocol):
    """What the stations ask of the loop that they stand in."""

    cycles: list[Cycle]
    groups: list[PagingGroup]
    volumes: list[VolumeGroup]
    processors: Array
    times: dict[str, Array]
    exact: bool


@dataclass(slots=True, kw_only=True)
class VolumeGroup:
    """Equal volumes; `aliases` of each, or of the `pool`. All numbers of shape (scenarios,), SI.

    Each guest's minidisk lies on one of them: the requesters are dealt out evenly and stay where they are.
    """

    name: str
    pool: str
    count: Array
    aliases: Array
    service: Array
    inflation: Array
    gap: Array
    opened: bool
    mixed: bool
    rate: Array
    flow: Array = field(default_factory=lambda: np.zeros(0))
    solved: dict[str, Array] = field(default_factory=dict)
    known: dict[tuple[Any, ...], dict[str, dict[str, float]]] = field(default_factory=dict)

    def capacity(self) -> Array:
        """I/Os that volumes and aliases carry at most [1/s]; aliases of a pool as if nobody else used them."""
        devices = self.count + self.aliases * (1.0 if self.pool else self.count)
        return np.asarray(devices / self.service)

    def check(self) -> None:
        """Refuse what the law does not hold, and I/Os that come faster than they can be served."""
        if self.mixed:
            raise InputError(
                f"volumes[{self.name}]",
                "guests that wait and I/Os that come at random",
                "one of them; split the volumes",
            )
        if self.opened and (self.rate >= self.capacity()).any():
            k = int(np.argmax(self.rate >= self.capacity()))
            raise InfeasibleError(
                f"the system cannot run: {self.rate[k]:.4g} I/Os/s come to volumes[{self.name}], which carry "
                f"{self.capacity()[k]:.4g}/s at most"
            )

    def update(self, loop: Loop, found: Loads) -> None:
        """Solve the volumes for what the rest of the system leaves of each cycle, and take the time of an I/O."""
        users = [(k, c) for k, c in enumerate(loop.cycles) if self.name in c.volumes]
        people = sum((c.requesters for _, c in users), np.zeros(len(self.count)))
        flow = sum((found.rates[:, k] * c.volumes[self.name] for k, c in users), np.zeros(len(self.count)))
        self.flow = self.rate if self.opened else flow
        if not self.opened and not (people > 0).any():
            self.solved = {}
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            think = np.where(flow > 0, np.maximum(people / flow - loop.times[self.name], 0.0), np.inf)
        together = [v for v in loop.volumes if self.pool and v.pool == self.pool]
        self._people, self._think = people, think
        if together and (self is not together[-1]):
            return  # a pool is solved once all of its volumes know what is asked of them
        for group in together or [self]:
            group.solved = {
                key: np.zeros(len(self.count)) for key in ("transfers", "queued", "served", "time", "service")
            }
        for k in range(len(self.count)):
            for name, row in _solved(together or [self], k, self.known).items():
                group = next(each for each in (together or [self]) if each.name == name)
                for key, value in row.items():
                    group.solved[key][k] = value
        for group in together or [self]:
            loop.times[group.name] = group.solved["time"]

    _people: Array = field(default_factory=lambda: np.zeros(0))
    _think: Array = field(default_factory=lambda: np.zeros(0))

    def station(self) -> dict[str, Array]:
        """One volume, as a listing shows it: the gap of a device counts neither as service nor as queue."""
        if not self.solved:
            zero = np.zeros(len(self.count))
            return {"devices": self.count, "transfers": zero, "utilization": zero, "queue_length": zero, "wait": zero,
                    "response": self.service, "service": self.service}  # fmt: skip
        rate, queued = self.solved["transfers"], self.solved["queued"]
        wait = np.where(rate > 0, queued / np.where(rate > 0, rate, 1.0), 0.0)
        share = self.aliases / self.count if self.pool else self.aliases
        return {
            "devices": self.count,
            "transfers": rate,
            "utilization": self.solved["served"] / (1 + share),
            "queue_length": queued,
            "wait": wait,
            "response": wait + self.solved["service"],
            "service": self.solved["service"],
        }


def _solved(
    groups: Sequence[VolumeGroup], k: int, known: dict[tuple[Any, ...], dict[str, dict[str, float]]]
) -> dict[str, dict[str, float]]:
    """One scenario of the volumes of a pool, or of a group without one: means of a volume of each group."""
    first = groups[0]
    if len({(float(g.service[k]), float(g.inflation[k]), float(g.gap[k])) for g in groups}) > 1:
        raise InputError(
            f"pool[{first.pool}]", "volumes of different service times", "one service time, inflation and gap"
        )
    parts: list[tuple[VolumeGroup, int, float, float, float]] = []
    for group in groups:
        count = int(group.count[k])
        if group.opened:
            parts.append((group, count, math.nan, math.nan, float(group.rate[k]) / count))
            continue
        people = int(group._people[k]) if group._people.size else 0
        more = people % count
        for volumes, each in ((more, people // count + 1), (count - more, people // count)):
            if volumes and each:
                parts.append((group, volumes, float(each), float(group._think[k]), math.nan))
    shared = bool(first.pool)
    numbers = (first.service[k], first.inflation[k], first.gap[k], first.aliases[k])
    key = tuple(
        f"{x:.{SAME}g}" if isinstance(x, float) else x
        for x in (*map(float, numbers), *(y for g, *rest in parts for y in (g.name, *rest)))
    )
    if key not in known:
        found = {
            group.name: dict.fromkeys(("transfers", "queued", "served", "time", "service"), 0.0)
            for group in groups
        }
        solve = _pool_rows if shared else _own_rows
        for (group, volumes, *_), row in zip(parts, solve(parts, first, k), strict=True):
            for name, value in row.items():
                found[group.name][name] += value * volumes / float(group.count[k])
        for group in groups:
            row = found[group.name]
            row["service"] = (
                row["served"] / row["transfers"] if row["transfers"] > 0 else float(group.service[k])
            )
            row["time"] = row["time"] / row["transfers"] if row["transfers"] > 0 else row["service"]
        known[key] = found
    return known[key]


Parts = Sequence[tuple[VolumeGroup, int, float, float, float]]


def _pool_rows(parts: Parts, first: VolumeGroup, k: int) -> list[dict[str, float]]:
    """Every class of equal volumes of a pool: rate, queued, in service, and rate times the time of an I/O."""
    steady = queueing.alias_pool(
        [int(first.aliases[k])],
        volumes=[volumes for _, volumes, *_ in parts],
        population=[people for _, _, people, _, _ in parts],
        think_time=[think for _, _, _, think, _ in parts],
        arrival_rate=[rate for *_, rate in parts],
        service_time=float(first.service[k]),
        inflation=float(first.inflation[k]),
        redrive_time=float(first.gap[k]),
    )
    rate, queue, gap = steady.throughput[0], steady.queue_length[0], steady.in_gap[0]
    served = rate * steady.service_time[0]
    return [
        {"transfers": float(rate[j]), "queued": max(float(queue[j] - gap[j]), 0.0), "served": float(served[j]),
         "time": float(queue[j] + served[j])}
        for j in range(len(parts))
    ]  # fmt: skip


def _own_rows(parts: Parts, first: VolumeGroup, k: int) -> list[dict[str, float]]:
    """Volumes with aliases of their own."""
    rows = []
    servers = 1 + int(first.aliases[k])
    service, inflation, gap = float(first.service[k]), float(first.inflation[k]), float(first.gap[k])
    for _, _, people, think, rate in parts:
        if math.isnan(people):
            alone = queueing.alias_pool(
                [servers - 1],
                volumes=1,
                arrival_rate=rate,
                service_time=service,
                inflation=inflation,
                redrive_time=gap,
            )
            flow, queue, pause = (
                float(a[0, 0]) for a in (alone.throughput, alone.queue_length, alone.in_gap)
            )
            served = flow * float(alone.service_time[0, 0])
        else:
            steady = queueing.finite_source(
                int(people), think, service, min(servers, int(people)), inflation=inflation, redrive_time=gap
            )
            flow, queue, pause = (float(a) for a in (steady.throughput, steady.queue_length, steady.in_gap))
            served = float(steady.in_service)
        rows.append(
            {"transfers": flow, "queued": max(queue - pause, 0.0), "served": served, "time": queue + served}
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """The network of processors and paging groups; volumes are delays whose length the loop knows."""

    loop: Loop
    full: Array
    think: Array
    most: int
    rest: Callable[[NDArray[np.int64], Sequence[Array]], Rest] | None

    def groups(self, at: NDArray[np.int64], writes: Sequence[Array]) -> list[StationGroup]:
        """The paging groups of some scenarios, page writes beside the reads."""
        found = []
        for k, group in enumerate(self.loop.groups):
            zero = np.zeros(len(self.full))
            demand = np.stack(
                [c.paging.get(group.name, zero) * group.service for c in self.loop.cycles], axis=-1
            )
            most = int(np.where((demand > 0).any(axis=0), self.full, 0.0).sum(-1).max(initial=1.0))
            found.append(group.group(demand[at], writes[k], most, at))
        return found

    def shared(self, at: NDArray[np.int64], system: Array) -> StationGroup:
        """The processors that CP leaves."""
        zero = np.zeros(len(self.full))
        demand = np.stack(
            [zero if c.dedicated else c.own_time + c.charged_time for c in self.loop.cycles], axis=-1
        )[at]
        left = np.maximum(self.loop.processors[at] - system, 1e-6)
        nobody = np.zeros(len(at))
        pace = paces(left, self.most, nobody)
        if pace is not None and (left < 1).any():
            pace = np.minimum(pace, left[:, None])
        return StationGroup(demand=demand, pace=pace, copies=np.ones(len(at)), load=nobody)

    def throughput(self, at: NDArray[np.int64], loads: Sequence[Array]) -> Array:
        """Rates of all classes for given loads, shape (scenarios asked, classes)."""
        if not self.loop.cycles:
            return np.zeros((len(at), 0))
        if self.rest is None:
            groups = [self.shared(at, loads[0]), *self.groups(at, loads[1:])]
            return _linearizer.solve(self.full[at], self.think[at], groups)[0]
        return self.rest(at, loads[1:]).throughput(self.shared(at, loads[0]))

    def finish(self, rates: Array, loads: list[Array]) -> Loads:
        """Numbers at the paging groups, beside the rates."""
        scenarios, count = len(self.full), len(self.loop.groups)
        if not self.loop.cycles:
            opened = np.zeros((scenarios, count))
            for k, group in enumerate(self.loop.groups):
                opened[:, k] = _open_only(group)
            return Loads(rates=rates, present=np.zeros((scenarios, count)), opened=opened,
                         visiting=np.ones((scenarios, count)), loads=loads)  # fmt: skip
        every = np.arange(scenarios)
        groups = [self.shared(every, loads[0]), *self.groups(every, loads[1:])]
        if self.rest is None:
            rates, queue, opened = _linearizer.solve(self.full, self.think, groups)
        else:
            rates, queue, opened = Network.of(self.full, self.think, groups).solve()
        free = np.stack([g.load * g.copies for g in groups], axis=-1)
        opened = np.where(opened > 0, opened, free)
        for k, group in enumerate(
            self.loop.groups
        ):  # nothing waits at a delay: open transfers are all in service
            whole = (loads[1 + k] + group.other) * group.service
            opened[:, 1 + k] = np.where(np.isinf(group.depth), whole, opened[:, 1 + k])
        visiting = np.stack(
            [np.where(g.demand > 0, self.full, 0.0).sum(-1) for g in groups[1:]], axis=-1
        ) if count else np.zeros((scenarios, 0))  # fmt: skip
        return Loads(
            rates=rates, present=queue[:, :, 1:].sum(1), opened=opened[:, 1:], visiting=visiting, loads=loads
        )


def _open_only(group: PagingGroup) -> Array:
    """Mean number of transfers of others where nobody else comes."""
    found = np.zeros(len(group.devices))
    some = group.other > 0
    if some.any():
        steady = queueing.mmc(
            group.other[some] / group.devices[some], group.service[some], group.capacity_each[some]
        )
        found[some] = group.devices[some] * (steady.queue_length + steady.in_service)
    return found


def network(loop: Loop) -> Solver:
    """Make the network for the times that the volumes have now; exact where it is small."""
    cycles = loop.cycles
    if not cycles:
        size = len(loop.processors)
        return Solver(loop=loop, full=np.zeros((size, 0)), think=np.zeros((size, 0)), most=0, rest=None)
    full = np.stack([c.requesters for c in cycles], axis=-1)
    think = np.stack([_elsewhere(c, loop.times) for c in cycles], axis=-1)
    points = math.prod(int(n) + 1 for n in full.max(axis=0))
    most = int(full.sum(-1).max())
    loop.exact = points <= LARGEST_EXACT and most <= LARGEST_POPULATION
    solver = Solver(loop=loop, full=full, think=think, most=most, rest=None)
    if not loop.exact:
        return solver
    kept: dict[str, Rest] = {}

    def rest(at: NDArray[np.int64], writes: Sequence[Array]) -> Rest:
        if any(load.any() for load in writes):
            return Rest.of(_partial(solver, at, writes))
        every = np.arange(len(full))
        if "all" not in kept:
            kept["all"] = Rest.of(_partial(solver, every, [np.zeros(len(full)) for _ in writes]))
        whole = kept["all"]
        return whole if len(at) == len(full) else _picked(whole, at)

    return Solver(loop=loop, full=full, think=think, most=most, rest=rest)


def _partial(solver: Solver, at: NDArray[np.int64], writes: Sequence[Array]) -> Network:
    """All but the processors; scaled by the asymptotic bounds of the whole."""
    groups = solver.groups(at, writes)
    zero = np.zeros(len(at))
    whole = Network.of(solver.full[at], solver.think[at], [solver.shared(at, zero), *groups])
    return Network(full=whole.full, think=whole.think, groups=tuple(groups), scale=whole.scale,
                   shape=tuple(int(n) + 1 for n in solver.full.max(axis=0)))  # fmt: skip


def _picked(rest: Rest, at: NDArray[np.int64]) -> Rest:
    """Some scenarios of it."""
    net = rest.network
    groups = tuple(
        StationGroup(
            demand=g.demand[at],
            pace=None if g.pace is None else g.pace[at],
            copies=g.copies[at],
            load=g.load[at],
        )
        for g in net.groups
    )
    part = Network(
        full=net.full[at], think=net.think[at], groups=groups, scale=net.scale[at], shape=net.shape
    )
    return Rest(part, rest.full[at], tuple(each[at] for each in rest.fewer))


def _elsewhere(cycle: Cycle, times: Mapping[str, Array]) -> Array:
    """Time of a unit that needs no station of the network: think time, volumes, dedicated processors."""
    time = cycle.think
    for name, visits in cycle.volumes.items():
        time = time + visits * times[name]
    if cycle.dedicated:
        time = time + cycle.own_time + cycle.charged_time
    return np.asarray(time)
