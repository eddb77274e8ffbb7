"""The one loop: processor time of CP and page writes load the stations that the guests' progress depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner import queueing
from planner.errors import ConvergenceError
from planner.queueing import _linearizer
from planner.queueing._product_form import Network, Rest, StationGroup, paces
from planner.queueing._roots import increasing_root
from planner.queueing.multiclass import small_enough
from planner.results import Array
from planner.system.stations import Cycle, PagingGroup, VolumeGroup, refuse, solve_volumes

ROUNDS: Final = 60
SETTLED: Final = 1e-10  # relative change of loads, or of the times of I/Os, at which the loop ends

Rows = NDArray[np.int64]


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


@dataclass(frozen=True)
class GuestNetwork:
    """The network of processors and paging groups; volumes are delays whose length the loop knows."""

    loop: Loop
    full: Array  # (scenarios, classes) requesters
    think: Array  # (scenarios, classes) time of a unit that needs no station of the network

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
            return _linearizer.solve(self.full[at], self.think[at], self.all_groups(at, loads))[0]
        written = any(load.any() for load in loads[1:])
        rest = self._rest(at, loads[1:]) if written else _picked(self._unwritten, at)
        return rest.throughput(self.shared(at, loads[0]))

    @cached_property
    def _unwritten(self) -> Rest:
        """All but the processors where nothing is written, solved once."""
        nothing = np.zeros(len(self.full))
        return self._rest(np.arange(len(self.full)), [nothing for _ in self.loop.groups])

    def _rest(self, at: Rows, writes: Sequence[Array]) -> Rest:
        """All but the processors; scaled by the asymptotic bounds of the whole."""
        groups = self.all_groups(at, [np.zeros(len(at)), *writes])
        whole = Network.of(self.full[at], self.think[at], groups)
        shape = tuple(int(n) + 1 for n in self.full.max(axis=0))
        return Rest.of(replace(whole, groups=whole.groups[1:], shape=shape))

    def finish(self, rates: Array, loads: list[Array]) -> Loads:
        """Numbers at the paging groups, beside the rates."""
        groups = self.all_groups(np.arange(len(self.full)), loads)
        if self.exact:
            rates, queue, opened = Network.of(self.full, self.think, groups).solve()
        else:
            rates, queue, opened = _linearizer.solve(self.full, self.think, groups)
        opened = np.where(opened > 0, opened, np.stack([g.load * g.copies for g in groups], axis=-1))[:, 1:]
        visiting = np.empty_like(opened)
        for k, (group, station) in enumerate(zip(self.loop.groups, groups[1:], strict=True)):
            # Nothing waits at a delay: open transfers are all in service.
            whole = (loads[1 + k] + group.other) * group.service
            opened[:, k] = np.where(np.isinf(group.depth), whole, opened[:, k])
            visiting[:, k] = np.where(station.demand > 0, self.full, 0.0).sum(-1)
        return Loads(
            rates=rates, present=queue[:, :, 1:].sum(1), opened=opened, visiting=visiting, loads=loads
        )


def _picked(rest: Rest, at: Rows) -> Rest:
    """Some scenarios of it."""

    def picked(of: Any) -> Any:
        values = {each.name: getattr(of, each.name) for each in fields(of)}
        return replace(
            of, **{key: value[at] for key, value in values.items() if isinstance(value, np.ndarray)}
        )

    if len(at) == len(rest.full):
        return rest
    network = replace(picked(rest.network), groups=tuple(map(picked, rest.network.groups)))
    return Rest(network, rest.full[at], tuple(each[at] for each in rest.fewer))


@dataclass(slots=True)
class Loop:
    """Cycles of guests, paging groups, volumes and the processors that are left, for many scenarios."""

    cycles: list[Cycle]
    groups: list[PagingGroup]
    volumes: list[VolumeGroup]
    processors: Array
    times: dict[str, Array] = field(default_factory=dict)
    exact: bool = True

    def run(self) -> Loads:
        """Throughput of every class, and what the stations hold."""
        self._check_open()
        pools: dict[tuple[str, str], list[VolumeGroup]] = {}
        for group in self.volumes:
            pools.setdefault((group.pool, group.pool or group.name), []).append(group)
        self.times = {group.name: group.service for group in self.volumes}
        found, moved = self._network(), np.inf
        for _ in range(ROUNDS):
            before = self.times
            for group in self.volumes:
                group.update(self.cycles, found.rates, before[group.name])
            for together in pools.values():
                solve_volumes(together)
            self.times = {group.name: group.solved["time"] for group in self.volumes}
            moved = max((_change(self.times[name], old) for name, old in before.items()), default=0.0)
            if moved <= SETTLED:
                return found
            found = self._network()
        raise ConvergenceError("the loop between volumes and the rest of the system", moved, ROUNDS)

    def _check_open(self) -> None:
        """Open transfers and I/Os need room."""
        for group in self.groups:
            capacity = group.devices * group.capacity_each / group.service
            why = "{other:.4g} other transfers/s come to paging[{name}], which carries {most:.4g}/s at most"
            refuse(group.other >= capacity, why, other=group.other, name=group.name, most=capacity)
        for volume in self.volumes:
            volume.check()

    def _network(self) -> Loads:
        """Solve for the feedback: one scalar root, along the mix of the loads that the last answer had."""
        size = len(self.processors)
        zero, every = [np.zeros(size) for _ in range(1 + len(self.groups))], np.arange(size)
        if not self.cycles:
            opened = np.array([_open_only(group) for group in self.groups]).reshape(-1, size).T
            nobody = np.zeros_like(opened)
            return Loads(
                rates=np.zeros((size, 0)), present=nobody, opened=opened, visiting=nobody + 1, loads=zero
            )
        full = np.stack([c.requesters for c in self.cycles], axis=-1)
        think = np.stack([c.elsewhere(self.times) for c in self.cycles], axis=-1)
        solver = GuestNetwork(self, full, think)
        self.exact = solver.exact
        rates = solver.throughput(every, zero)
        loads, off = self.loads(rates), np.inf
        if not any((load > 0).any() for load in loads):
            return solver.finish(rates, zero)
        for _ in range(ROUNDS):
            loads = self._root(solver, loads, self._size(rates, every))
            rates = solver.throughput(every, loads)
            after = self.loads(rates)
            off = max(_change(b, a) for a, b in zip(after, loads, strict=True))
            if off <= SETTLED:
                return solver.finish(rates, loads)
            loads = after
        raise ConvergenceError("the loop of paging and processors", off, ROUNDS)

    def _root(self, solver: GuestNetwork, mix: Sequence[Array], size: Array) -> list[Array]:
        """The part of a mix of loads that agrees with the progress under it; `size` is that of the whole mix."""

        def excess(part: Array, row: Array) -> Array:
            at = row.astype(np.int64)
            now = solver.throughput(at, [part * load[at] for load in mix])
            return np.asarray(part - self._size(now, at) / np.maximum(size[at], 1e-300))

        none = np.zeros(len(size))
        part = increasing_root(excess, none, none + 2, (np.arange(len(size), dtype=np.float64),))
        return [part * load for load in mix]

    def _size(self, rates: Array, at: Rows) -> Array:
        """One number that stands for the progress: cycles a second, each in its shortest time."""
        alone = np.stack(
            [np.maximum(c.alone(self.groups, self.times), 1e-300)[at] for c in self.cycles], axis=-1
        )
        return np.asarray((rates * alone).sum(-1))

    def visits(self, group: PagingGroup) -> Array:
        """Page reads of a unit of each cycle, shape (scenarios, classes) [transfers]."""
        nobody = np.zeros((len(self.processors), 0))
        columns = [c.paging.get(group.name, nobody.sum(-1)) for c in self.cycles]
        return np.stack(columns, axis=-1) if columns else nobody

    def reads(self, group: PagingGroup, rates: Array) -> Array:
        """Page reads of a group [transfers/s]."""
        return np.asarray((rates * self.visits(group)).sum(-1))

    def loads(self, rates: Array) -> list[Array]:
        """CP system time [processors], and open page writes of each paging group [1/s] beside the closed reads."""
        changed = np.stack([c.writes for c in self.cycles], axis=-1)
        writes = [self.reads(group, rates * changed) for group in self.groups]
        system = sum(
            (
                g.cp_system * (self.reads(g, rates) + w + g.other)
                for g, w in zip(self.groups, writes, strict=True)
            ),
            np.zeros(len(rates)),
        )
        return [np.where(np.isfinite(self.processors), system, 0.0), *writes]


def _change(one: Array, other: Array) -> float:
    """Largest difference, relative to the larger of two; none where both are zero."""
    size = np.maximum(np.maximum(one, other), 1e-300)
    return float((np.abs(one - other) / size).max())


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
