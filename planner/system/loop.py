"""The one loop: processor time of CP and page writes load the stations that the guests' progress depends on.

First what stands in it: the cycle of a guest, groups of paging devices and of volumes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.errors import ConvergenceError, InfeasibleError, InputError
from planner.queueing import _linearizer
from planner.queueing._product_form import Network, Rest, StationGroup, log_series, paces
from planner.queueing._roots import increasing_root
from planner.queueing.multiclass import small_enough
from planner.queueing.pools.solve import solve_pools
from planner.queueing.pools.stability import most_in_overload
from planner.results import Array
from planner.system.description import Entry

NEARLY: Final = 1 - 1e-9  # share of a station that open requests may take while a root is sought
LOADS: Final = 1 - np.geomspace(1.0, 0.05, 10)[1:]  # of its limit: random arrivals at a pool are solved there


class CannotRunError(InfeasibleError):
    """Scenarios, those of `wrong`, that cannot run; the message is that of the first."""

    def __init__(self, wrong: NDArray[np.bool_], why: str, named: Mapping[str, Array | str]) -> None:
        self.wrong, self.why, self.named = wrong, why, named
        super().__init__(f"the system cannot run: {self.reason(int(np.argmax(wrong)))}")

    def reason(self, k: int) -> str:
        """Why the k-th scenario cannot run."""
        return self.why.format(
            **{name: each if isinstance(each, str) else each[k] for name, each in self.named.items()}
        )


def refuse(wrong: NDArray[np.bool_], why: str, **named: Array | str) -> None:
    """Refuse scenarios that cannot run; `why` takes what is `named`."""
    if wrong.any():
        raise CannotRunError(wrong, why, named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What the guests of a group do between two waits, in units of one page touch or one I/O.

    `requesters`, `touches` a unit, processor times `own_time` and `charged_time` [s], transfers by `paging` group and
    I/Os by `volumes` group a unit, page `writes` a read, `think` time [s]; or, `opened`, units that come at random at
    `rate` [1/s]. All of shape (scenarios,).
    """

    name: str
    guest: Entry
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

    def elsewhere(self, times: Mapping[str, Array]) -> Array:
        """Time of a unit that needs no station of the network: think time, volumes, dedicated processors [s]."""
        time = self.think + (self.own_time + self.charged_time) * self.dedicated
        for name, visits in self.volumes.items():
            time = time + visits * times[name]
        return np.asarray(time)

    def alone(self, groups: Iterable[PagingGroup], times: Mapping[str, Array]) -> Array:
        """Shortest time of a unit, where nothing queues but at volumes [s]."""
        time = self.elsewhere(times) + (self.own_time + self.charged_time) * (not self.dedicated)
        for group in groups:
            if group.name in self.paging:
                time = time + self.paging[group.name] * group.service
        return np.asarray(time)


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

    def capacity(self) -> Array:
        """Transfers that all devices carry at most [1/s]."""
        return np.asarray(self.devices * self.capacity_each / self.service)

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
        # of all scenarios, whichever are asked: what is solved of them is kept
        gap = np.round(self.gap / self.service, 9)
        rows = np.stack([self.devices, self.aliases, np.round(self.inflation, 9), gap], axis=-1)
        unique, inverse = np.unique(rows, axis=0, return_inverse=True)
        return pool_paces(unique, max(far, 1))[np.ravel(inverse)[at]]


def pool_paces(pools: Array, most: int) -> Array:
    """Pace of pools by the requests in them, 1 to `most`, each sent to any volume with the same chance; (pools, most).

    A row of `pools` is volumes, aliases, inflation, gap over service time. A request finds about what one request fewer
    would hold (the arrival theorem), so with n of them a response is that of random arrivals at a mean of n - 1 in the
    pool; beyond the loads that are solved the pool nears its limit. Nothing waits while aliases and one base are enough
    for all. Exact without aliases; else up to 6 % below simulations.
    """
    requests, found = np.arange(1.0, most + 1), []
    rows = pools.tolist()
    for (_, aliases, *_), (limit, present, service, wait) in zip(
        rows, _random(tuple(map(tuple, rows))), strict=True
    ):
        far = max(present[-1], most) * 20.0  # times what they hold, where a pool works at its limit
        known, ends = np.append(present, far), (service[-1], far / limit - service[-1])
        time, waits = (
            np.interp(requests - 1, known, np.append(each, end))
            for each, end in zip((service, wait), ends, strict=True)
        )
        found.append(np.minimum(requests / (time + np.where(requests <= 1 + aliases, 0.0, waits)), limit))
    return np.asarray(np.maximum.accumulate(found, axis=-1))


@lru_cache(maxsize=64)
def _random(pools: tuple[tuple[float, ...], ...]) -> list[tuple[float, Array, Array, Array]]:
    """Limit of each pool, and requests present, service and wait of random arrivals, from none to nearly the limit."""
    volumes, aliases, inflation, gap = np.array(pools).T
    limit = most_in_overload(volumes, aliases / volumes, inflation, gap)
    rate = limit[:, None] * LOADS
    steady = solve_pools(
        aliases[:, None], volumes=volumes[:, None, None], arrival_rate=rate[..., None], service_time=1.0,
        inflation=inflation[:, None], redrive_time=gap[:, None],
    )  # fmt: skip
    service = np.where(inflation[:, None] > 0, steady.service_time[..., 0], 1.0)
    wait = steady.queue_length[..., 0] / rate
    found = []
    for k, known in enumerate(steady.converged & np.isfinite(wait)):
        one, late = np.append(1.0, service[k, known]), np.append(0.0, wait[k, known])
        present = volumes[k] * np.append(0.0, rate[k, known]) * (one + late)
        found.append((float(volumes[k] * limit[k]), present, one, late))
    return found


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
    # Volumes, requesters, think time and I/O rate of those with one more requester and of the others.
    _parts: tuple[Array, ...] = ()

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
        if self.opened:
            why = "{rate:.4g} I/Os/s come to volumes[{name}], which carry {most:.4g}/s at most"
            refuse(self.rate >= self.capacity(), why, rate=self.rate, name=self.name, most=self.capacity())

    def update(self, cycles: Sequence[Cycle], rates: Array, response: Array) -> None:
        """Take what the rest of the system leaves of each cycle, where an I/O took so long; rates by cycle."""
        users = [(rates[:, k], c) for k, c in enumerate(cycles) if self.name in c.volumes]
        nobody = np.zeros(len(self.count))
        people = sum((c.requesters for _, c in users), nobody)
        flow = sum((rate * c.volumes[self.name] for rate, c in users), nobody)
        self.flow = self.rate if self.opened else flow
        if self.opened:
            none = np.full((len(self.count), 1), np.nan)
            self._parts = self.count[:, None], none, none, (self.rate / self.count)[:, None]
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            think = np.where(flow > 0, np.maximum(people / flow - response, 0.0), np.inf)
        each, more = people // self.count, people % self.count
        requesters = np.stack([each + 1, each], axis=-1)
        volumes = np.where(requesters > 0, np.stack([more, self.count - more], axis=-1), 0.0)
        self._parts = volumes, requesters, np.stack([think, think], axis=-1), np.full_like(volumes, np.nan)

    def station(self) -> dict[str, Array]:
        """One volume, as a listing shows it: the gap of a device counts neither as service nor as queue."""
        rate, queued = self.solved["transfers"], self.solved["queued"]
        wait = np.where(rate > 0, queued / np.where(rate > 0, rate, 1.0), 0.0)
        share = self.aliases / self.count if self.pool else self.aliases
        return {
            "devices": self.count,
            "capacity": self.capacity() / self.count,
            "transfers": rate,
            "utilization": self.solved["served"] / (1 + share),
            "queue_length": queued,
            "wait": wait,
            "response": wait + self.solved["service"],
        }


def solve_volumes(groups: Sequence[VolumeGroup]) -> None:
    """Solve the volumes of a pool, or of a group without one: means of a volume of each group."""
    first = groups[0]
    own = [np.stack([g.service, g.inflation, g.gap, g.aliases], axis=-1) for g in groups]
    if any((each[:, :3] != own[0][:, :3]).any() for each in own):
        raise InputError(
            f"pool[{first.pool}]", "volumes of different service times", "one service time, inflation and gap"
        )
    parts = [np.concatenate(each, axis=-1) for each in zip(*(g._parts for g in groups), strict=True)]
    shape = parts[0].shape
    wide = 1 if first.pool else shape[-1]  # without a pool each volume is alone
    pools = np.concatenate([each.reshape(len(first.count) * wide, -1) for each in parts], axis=-1)
    width = pools.shape[-1] // len(parts)
    if not first.pool:
        pools[:, 0] = np.minimum(pools[:, 0], 1.0)
    rows = np.concatenate([pools, np.repeat(own[0], wide, axis=0)], axis=-1)
    # those of one pool are the same to eleven significant digits
    known = np.where(np.isfinite(rows), rows, -1.0)  # nobody thinks without end
    size = 10.0 ** (11 - np.ceil(np.log10(np.maximum(np.abs(known), 1e-30))))
    alike = np.round(known * size) / size
    _, at, back = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    busy = (rows[at, :width] > 0).any(axis=-1)
    found = np.zeros((4, len(at), width))
    if busy.any():
        volumes, people, think, rate, times = np.split(rows[at[busy]], width * np.arange(1, 5), axis=-1)
        service, inflation, gap, aliases = times.T
        steady = queueing.alias_pool(
            aliases, volumes=volumes, population=people, think_time=think, arrival_rate=rate,
            service_time=np.repeat(service[:, None], width, axis=-1), inflation=inflation, redrive_time=gap,
        )  # fmt: skip
        flow, queue, served = steady.throughput, steady.queue_length, steady.throughput * steady.service_time
        found[:, busy] = flow, np.maximum(queue - steady.in_gap, 0.0), served, queue + served
    each = np.where(parts[0] > 0, found[:, np.ravel(back)].reshape(4, *shape), 0.0) * parts[0]
    ends = np.cumsum([g._parts[0].shape[-1] for g in groups])
    for group, own_parts in zip(groups, np.split(each, ends[:-1], axis=-1), strict=True):
        flow, queued, served, time = own_parts.sum(axis=-1) / group.count
        some = np.where(flow > 0, flow, 1.0)
        service = np.where(flow > 0, served / some, group.service)
        group.solved = {"transfers": flow, "queued": queued, "served": served, "service": service,
                        "time": np.where(flow > 0, time / some, service)}  # fmt: skip


ROUNDS: Final = 60
SETTLED: Final = 1e-10  # relative change of loads, or of the times of I/Os, at which the loop ends

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """A solved network: `rates` (scenarios, classes); closed numbers, open numbers and visitors of the paging groups.

    `present`, `opened` and `visiting` are of shape (scenarios, groups); `loads` holds CP system time and page writes;
    `near` is what the Linearizer starts from where loads are nearly the same.
    """

    rates: Array
    present: Array
    opened: Array
    visiting: Array
    loads: list[Array]
    near: tuple[Array, Array, Array] | None = None


@dataclass(frozen=True)
class GuestNetwork:
    """The network of processors and paging groups; volumes are delays whose length the loop knows."""

    loop: Loop
    full: Array  # (scenarios, classes) requesters
    think: Array  # (scenarios, classes) time of a unit that needs no station of the network
    near: tuple[Array, Array, Array] | None = None  # a solution for other loads

    @cached_property
    def exact(self) -> bool:
        """Whether it is small enough for the exact solution."""
        return small_enough(self.full)

    @cached_property
    def most(self) -> int:
        """Requesters in all, at most."""
        return int(self.full.sum(-1).max())

    def shared(self, at: Rows, system: Array) -> StationGroup:
        """The processors that CP leaves."""
        demand = np.stack(
            [(c.own_time + c.charged_time) * (not c.dedicated) for c in self.loop.cycles], axis=-1
        )[at]
        left = np.maximum(self.loop.processors[at] - system, 1e-6)
        nobody = np.zeros(len(at))
        pace = paces(left, self.most, nobody)
        if pace is not None and (left < 1).any():
            pace = np.minimum(pace, left[:, None])
        return StationGroup(demand=demand, pace=pace, copies=np.ones(len(at)), load=nobody)

    def all_groups(self, at: Rows, loads: Sequence[Array]) -> list[StationGroup]:
        """The processors, then the paging groups of some scenarios, page writes beside the reads."""
        found = [self.shared(at, loads[0])]
        for group, load in zip(self.loop.groups, loads[1:], strict=True):
            demand = self.loop.visits(group) * group.service[:, None]
            most = int(np.where((demand > 0).any(axis=0), self.full, 0.0).sum(-1).max(initial=1.0))
            found.append(group.group(demand[at], load, most, at))
        return found

    def throughput(self, at: Rows, loads: Sequence[Array]) -> Array:
        """Rates of all classes for given loads, shape (scenarios asked, classes)."""
        if not self.exact:
            assert self.near is not None
            rates, queue, deviation = self.near
            near = rates[at], queue[at], deviation[at]
            return _linearizer.solve(self.full[at], self.think[at], self.all_groups(at, loads), near)[0]
        # All but the processors, scaled by the asymptotic bounds of the whole.
        groups = self.all_groups(at, [np.zeros(len(at)), *loads[1:]])
        whole = Network.of(self.full[at], self.think[at], groups)
        shape = tuple(int(n) + 1 for n in self.full.max(axis=0))
        rest = Rest.of(replace(whole, groups=whole.groups[1:], shape=shape))
        return rest.throughput(self.shared(at, loads[0]))

    def finish(self, loads: list[Array]) -> Loads:
        """Rates, and numbers at the paging groups."""
        groups = self.all_groups(np.arange(len(self.full)), loads)
        near = None
        if self.exact:
            rates, queue, opened = Network.of(self.full, self.think, groups).solve()
        else:
            rates, queue, opened, deviation = _linearizer.solve(
                self.full, self.think, groups, starts=self.loop.starts
            )
            near = rates, queue, deviation
        opened = np.where(opened > 0, opened, np.stack([g.load * g.copies for g in groups], axis=-1))[:, 1:]
        visiting = np.empty_like(opened)
        for k, (group, station) in enumerate(zip(self.loop.groups, groups[1:], strict=True)):
            # Nothing waits at a delay: open transfers are all in service.
            whole = (loads[1 + k] + group.other) * group.service
            opened[:, k] = np.where(np.isinf(group.depth), whole, opened[:, k])
            visiting[:, k] = np.where(station.demand > 0, self.full, 0.0).sum(-1)
        return Loads(
            rates=rates,
            present=queue[:, :, 1:].sum(1),
            opened=opened,
            visiting=visiting,
            loads=loads,
            near=near,
        )


@dataclass(slots=True)
class Loop:
    """Cycles of guests, paging groups, volumes and the processors that are left, for many scenarios."""

    cycles: list[Cycle]
    groups: list[PagingGroup]
    volumes: list[VolumeGroup]
    processors: Array
    times: dict[str, Array] = field(default_factory=dict)
    starts: dict[tuple[int, int], Any] = field(default_factory=dict)
    exact: bool = True

    def run(self) -> Loads:
        """Throughput of every class, and what the stations hold, of scenarios that were checked."""
        pools: dict[tuple[str, str], list[VolumeGroup]] = {}
        for group in self.volumes:
            pools.setdefault((group.pool, group.pool or group.name), []).append(group)
        self.times = {group.name: group.service for group in self.volumes}
        found, moved = self._network(None), np.inf
        for _ in range(ROUNDS):
            before = self.times
            for group in self.volumes:
                group.update(self.cycles, found.rates, before[group.name])
            for together in pools.values():
                solve_volumes(together)
            self.times = {group.name: group.solved["time"] for group in self.volumes}
            pairs = [(self.times[name], old) for name, old in before.items()]
            pairs += zip(self.loads(found.rates), found.loads, strict=True)
            moved = max((float(_changes(now, old).max()) for now, old in pairs), default=0.0)
            if moved <= SETTLED:
                return found
            found = self._network(found)
        raise ConvergenceError("the loop of volumes, paging and processors", moved, ROUNDS)

    def check(self) -> None:
        """Open transfers and I/Os need room, guests that wait for nothing some time of their own."""
        for group in self.groups:
            most = group.capacity()
            why = "{other:.4g} other transfers/s come to paging[{name}], which carries {most:.4g}/s at most"
            refuse(group.other >= most, why, other=group.other, name=group.name, most=most)
        for volume in self.volumes:
            volume.check()
        times = {volume.name: volume.service for volume in self.volumes}
        for cycle in self.cycles:
            endless = (cycle.requesters > 0) & (cycle.alone(self.groups, times) <= 0)
            why = "nothing that guests[{name}] do takes any time; a touch_time, io_time or think_time above 0 does"
            refuse(endless, why, name=cycle.name)

    def _network(self, before: Loads | None) -> Loads:
        """Solve for the feedback, from what the last times of I/Os gave."""
        size = len(self.processors)
        zero = [np.zeros(size) for _ in range(1 + len(self.groups))]
        if not self.cycles:
            opened = np.array([_open_only(group) for group in self.groups]).reshape(-1, size).T
            rates, nobody = np.zeros((size, 0)), np.zeros_like(opened)
            loads = self.loads(rates)
            return Loads(rates=rates, present=nobody, opened=opened, visiting=nobody + 1, loads=loads)
        full = np.stack([c.requesters for c in self.cycles], axis=-1)
        think = np.stack([c.elsewhere(self.times) for c in self.cycles], axis=-1)
        solver = GuestNetwork(self, full, think, before.near if before else None)
        self.exact = solver.exact
        if not (before or solver.exact):
            solver = replace(solver, near=solver.finish(zero).near)
        return solver.finish(self._balanced(solver, np.stack(before.loads if before else zero)))

    def _balanced(self, solver: GuestNetwork, loads: Array, burst: int = 12) -> list[Array]:
        """Loads, shape (kinds, scenarios), that agree with the progress under them, by Broyden's method (1965).

        It begins, and again after each `burst` of steps, at the root along the mix that was nearest so far.
        """
        every, plain = np.arange(loads.shape[-1]), np.tile(-np.eye(len(loads)), (loads.shape[-1], 1, 1))
        rates = solver.throughput(every, list(loads))
        mix, whole, least = loads, np.zeros(every.size), np.full(every.size, np.inf)
        far, unit, inverse, step = least, np.maximum(loads, 1e-300), plain, np.zeros(loads.T.shape)
        was = step
        for k in range(int(loads.any()), ROUNDS * burst):
            after, size = np.stack(self.loads(rates)), self._size(rates, every)
            far = np.max(list(map(_changes, after, loads)), axis=0)
            at = np.flatnonzero(far > SETTLED)
            if at.size == 0:
                return list(loads)
            mix, whole, least = (
                np.where(far < least, *pair) for pair in ((after, mix), (size, whole), (far, least))
            )
            new = loads.copy()
            if k % burst == 0:
                new[:, at] = self._root(solver, mix, whole, at)
                least = np.full(every.size, np.inf)
                unit, inverse, step = np.maximum(new, 1e-300), plain, np.zeros(loads.T.shape)
            else:
                off = ((after - loads) / unit).T
                inverse, was = _secant(inverse, step, off - was), off
                new = np.clip(loads - unit * (inverse @ off[..., None])[..., 0].T, loads / 4, 4 * loads)
                new = np.where(far > SETTLED, new, loads)
                step = ((new - loads) / unit).T
            loads = new
            rates[at] = solver.throughput(at, list(loads[:, at]))
        raise ConvergenceError("the loop of paging and processors", float(far.max()), ROUNDS)

    def _root(self, solver: GuestNetwork, mix: Array, size: Array, at: Rows) -> Array:
        """The part of a mix of loads that agrees with the progress under it; `size` is that of the whole mix."""

        def excess(part: Array, row: Array) -> Array:
            at = row.astype(np.int64)
            now = solver.throughput(at, list(part * mix[:, at]))
            return np.asarray(part - self._size(now, at) / np.maximum(size[at], 1e-300))

        none = np.zeros(len(at))
        return np.asarray(increasing_root(excess, none, none + 2, (at.astype(np.float64),)) * mix[:, at])

    def _size(self, rates: Array, at: Rows) -> Array:
        """One number that stands for the progress: cycles a second, each in its shortest time."""
        alone = np.stack(
            [np.maximum(c.alone(self.groups, self.times), 1e-300)[at] for c in self.cycles], axis=-1
        )
        return np.asarray((rates * alone).sum(-1))

    def visits(self, group: PagingGroup) -> Array:
        """Page reads of a unit of each cycle, shape (scenarios, classes) [transfers]."""
        nobody = np.zeros(len(self.processors))
        columns = [c.paging.get(group.name, nobody) for c in self.cycles]
        return np.reshape(columns, (-1, len(nobody))).T

    def reads(self, group: PagingGroup, rates: Array) -> Array:
        """Page reads of a group [transfers/s]."""
        return np.asarray((rates * self.visits(group)).sum(-1))

    def loads(self, rates: Array) -> list[Array]:
        """CP system time [processors], and open page writes of each paging group [1/s] beside the closed reads."""
        changed = np.reshape([c.writes for c in self.cycles], (-1, len(rates))).T
        writes = [self.reads(group, rates * changed) for group in self.groups]
        system = sum(
            (
                g.cp_system * (self.reads(g, rates) + w + g.other)
                for g, w in zip(self.groups, writes, strict=True)
            ),
            np.zeros(len(rates)),
        )
        return [np.where(np.isfinite(self.processors), system, 0.0), *writes]


def _secant(inverse: Array, step: Array, change: Array) -> Array:
    """Inverse Jacobians, one a scenario, that also map a change of the residuals to the step that made it.

    Those of steps that changed next to nothing stay as they are.
    """
    reach = (inverse @ change[..., None])[..., 0]
    known = (step * reach).sum(-1)
    known = np.where(np.abs(known) > 1e-6 * (step**2).sum(-1), known, np.inf)[:, None, None]
    return np.asarray(inverse + (step - reach)[..., None] * (step[:, None] @ inverse) / known)


def _changes(one: Array, other: Array) -> Array:
    """Difference, relative to the larger of two; none where both are zero."""
    return np.asarray(np.abs(one - other) / np.maximum(np.maximum(one, other), 1e-300))


def _open_only(group: PagingGroup) -> Array:
    """Mean number of transfers of others where nobody else comes: the law of the station beside no closed request."""
    nobody, at = np.zeros(len(group.devices)), np.arange(len(group.devices))
    station = group.group(nobody[:, None], nobody, 1, at)
    delayed = group.other * group.service
    if station.pace is None:
        return delayed
    first, second = log_series(station.pace, station.load, 1).T
    queued = station.load * station.copies * np.exp(second - first)
    return np.where(np.isinf(group.depth), delayed, queued)
