"""The one loop: processor time of CP and page writes load the stations that the guests' progress depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing import _linearizer
from planner.queueing._product_form import Network, Rest, StationGroup, multi_server_rates
from planner.queueing._roots import increasing_root
from planner.results import Array, Integers, by_key
from planner.system.stations import NEARLY, Cycle, PagingGroup, VolumeGroup, refuse, solve_volumes

ROUNDS: Final = 60
SETTLED: Final = 1e-10  # relative change of loads, or of the times of I/Os, at which the loop ends


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
    full: Array  # (scenarios, classes) customers: requesters, or virtual processors where these are fewer
    think: Array  # (scenarios, classes) time between two units of one
    near: tuple[Array, Array, Array] | None = None  # a solution for other loads

    def shared(self, at: Integers, system: Array) -> StationGroup:
        """The processors that CP leaves."""
        demand = np.stack(
            [(c.own_time + c.charged_time) * (not c.dedicated) for c in self.loop.cycles], axis=-1
        )[at]
        left = np.maximum(self.loop.processors[at] - system, 1e-6)
        nobody = np.zeros(len(at))
        rates = multi_server_rates(left, int(self.full.sum(-1).max()), nobody)
        if rates is not None and (left < 1).any():
            rates = np.minimum(rates, left[:, None])
        return StationGroup(demand=demand, service_rates=rates, copies=np.ones(len(at)), load=nobody)

    def all_groups(self, at: Integers, loads: Sequence[Array]) -> list[StationGroup]:
        """The processors, the paging groups of some scenarios, page writes beside the reads, and bursts at these."""
        found = [self.shared(at, loads[0])]
        for group, load in zip(self.loop.groups, loads[1:], strict=True):
            demand = self.loop.visits(group) * group.service[:, None]
            most = int(np.where((demand > 0).any(axis=0), self.full, 0.0).sum(-1).max(initial=1.0))
            found.append(group.group(demand[at], load, most, at))
        if self.loop.writes.any():
            found += [self.burst(*pair, at) for pair in zip(self.loop.groups, loads[1:], strict=True)]
        return found

    def burst(self, group: PagingGroup, load: Array, at: Integers) -> StationGroup:
        """Where reads wait longer since the page writes of others come with their reads, and not each alone.

        As M^X/M/1 has it, bursts of B transfers are to a read like E[B (B - 1)] / 2 x their rate x service time more
        devices; of its own earlier writes it meets one less each, since they follow a read that has ended. Two powers
        are fitted to simulations (84 systems, as those of `tests/system/test_coupled.py`): bursts fade with the guests
        that wait (4), at devices deeper than 2 with the servers that are idle (depth / 2 - 1).
        """
        visits, writes, full = self.loop.visits(group)[at], self.loop.writes[at], self.full[at]
        depth = group.depth[at] if group.aliases is None else np.full(len(at), np.inf)
        each = group.service[at] / (group.devices[at] * depth)  # work of a transfer, all servers together [s]
        # reads of a guest where nobody waits, then as many as give the writes of `load`
        own = visits / self.loop.shortest()[:, at].T
        own = own * (load / np.maximum((full * own * writes).sum(-1), 1e-300))[:, None]
        reads, few = full * own, np.floor(writes)
        rate, written = np.maximum(reads.sum(-1), 1e-300), np.minimum((load + group.other[at]) * each, NEARLY)
        busy = np.minimum(written + rate * each, NEARLY)
        held = group.service[at] + group.devices[at] * each * busy / (1 - busy)
        # share of the time that guests, weighed by their reads, are not at the devices
        away = np.maximum(1 - held * (reads * own).sum(-1) / rate, 0.0)
        # rate x E[B (B - 1)] / 2, B - 1 one of the two next whole numbers of `writes`
        met = (reads * (few + 1) * (writes - few / 2)).sum(-1, keepdims=True) - own * writes
        more = np.maximum(met, 0.0) * (each * away**4 * busy ** np.maximum(depth / 2 - 1, 0.0))[:, None]
        copies, one = np.maximum((reads * more).sum(-1) / rate, 1e-15), np.ones((len(at), 1))
        return StationGroup(
            demand=visits * each[:, None] * more, service_rates=one, copies=copies, load=written
        )

    def throughput(self, at: Integers, loads: Sequence[Array]) -> Array:
        """Rates of all classes for given loads, shape (scenarios asked, classes)."""
        if not self.loop.exact:
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
        if self.loop.exact:
            rates, queue, opened = Network.of(self.full, self.think, groups).solve()
        else:
            rates, queue, opened, deviation = _linearizer.solve(
                self.full, self.think, groups, starts=self.loop.starts
            )
            near = rates, queue, deviation
        opened = np.where(opened > 0, opened, np.stack([g.load * g.copies for g in groups], axis=-1))
        first = len(loads)
        for k, burst in enumerate(groups[first:]):
            # A write waits for those of its own burst, too; at a deeper device where others keep it busy.
            own = burst.copies * burst.load ** np.minimum(self.loop.groups[k].depth - 1, 1)
            opened[:, first + k] += own
        parts = (len(opened), 1 + (len(groups) > first), first - 1)
        present, opened = (each[:, 1:].reshape(parts).sum(1) for each in (queue.sum(1), opened))
        visiting = np.empty_like(opened)
        for k, (group, station) in enumerate(zip(self.loop.groups, groups[1:], strict=False)):
            # Nothing waits at a delay: open transfers are all in service.
            whole = (loads[1 + k] + group.other) * group.service
            opened[:, k] = np.where(np.isinf(group.depth), whole, opened[:, k])
            visiting[:, k] = np.where(station.demand > 0, self.full, 0.0).sum(-1)
        return Loads(rates=rates, present=present, opened=opened, visiting=visiting, loads=loads, near=near)


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
    away: Array = field(init=False)  # (classes, scenarios) between two units [s]

    def run(self) -> Loads:
        """Throughput of every class, and what the stations hold, of scenarios that were checked."""
        pools = by_key(((group.pool, group.pool or group.name), group) for group in self.volumes)
        self.times = self.alone()
        unit = self.shortest()
        self.away = self._between(
            unit - np.reshape([c.without_processor(self.times) for c in self.cycles], unit.shape)
        )
        plain = np.tile(-np.eye(len(unit)), (len(self.processors), 1, 1))
        short = np.asarray(np.reshape([c.short for c in self.cycles], unit.shape).any(axis=0))[:, None, None]
        inverse, step, was = plain, np.zeros(unit.T.shape), np.zeros(unit.T.shape)
        found, moved = self._network(None), np.inf
        for _ in range(ROUNDS):
            before = self.times
            for group in self.volumes:
                group.update(self.cycles, found.rates, before)
            for together in pools.values():
                solve_volumes(together)
            self.times = {name: time for group in self.volumes for name, time in group.times().items()}
            pairs = [(self.times[name], old) for name, old in before.items()]
            pairs += zip(self.loads(found.rates), found.loads, strict=True)
            off = ((self._between(self._busy(found.rates)) - self.away) / unit).T
            moved = max((float(_changes(now, old).max()) for now, old in pairs), default=0.0)
            moved = max(moved, float(np.abs(off).max(initial=0.0)))
            if moved <= SETTLED:
                return found
            inverse, was = np.where(short, _secant(inverse, step, off - was), plain), off
            moves = -unit * (inverse @ off[..., None])[..., 0].T
            self.away, moves = np.maximum(self.away + moves, 0.0), np.maximum(moves, -self.away)
            step = (moves / unit).T
            found = self._network(found)
        raise ConvergenceError("the loop of volumes, paging and processors", moved, ROUNDS)

    def shortest(self) -> Array:
        """Shortest time of a unit of each cycle, shape (classes, scenarios) [s]."""
        each = [c.alone(self.groups, self.times) for c in self.cycles]
        return np.maximum(np.reshape(each, (-1, len(self.processors))), 1e-300)

    def _between(self, busy: Array) -> Array:
        """Time between two units of each customer, the same shape [s]; virtual processors are `busy` in a unit."""
        each = [c.away(known, self.times) for c, known in zip(self.cycles, busy, strict=True)]
        return np.reshape(each, busy.shape)

    def _busy(self, rates: Array) -> Array:
        """Time of a unit in the network and on dedicated processors, the same shape [s]."""
        dedicated = [c.elsewhere(self.times) - c.without_processor(self.times) for c in self.cycles]
        customers = np.reshape([c.customers for c in self.cycles], self.away.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(customers / rates.T - self.away + np.reshape(dedicated, self.away.shape))

    def alone(self) -> dict[str, Array]:
        """Time of an I/O of each cycle that finds its volume idle [s]."""
        return {
            c.name: group.service for group in self.volumes for c in self.cycles if group.name in c.volumes
        }

    def check(self) -> None:
        """Open transfers and I/Os need room, guests that wait for nothing some time of their own."""
        for group in self.groups:
            most = group.capacity()
            why = "{other:.4g} other transfers/s come to paging[{name}], which carries {most:.4g}/s at most"
            refuse(group.other >= most, why, other=group.other, name=group.name, most=most)
        for volume in self.volumes:
            volume.check()
        nothing = {cycle.name: np.zeros(len(self.processors)) for cycle in self.cycles}
        for cycle in self.cycles:
            endless = (cycle.requesters > 0) & (cycle.alone(self.groups, nothing) <= 0)
            why = "nothing that guests[{name}] do but their I/Os takes time; a touch, io or think_time above 0 does"
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
        full = np.stack([c.customers for c in self.cycles], axis=-1)
        solver = GuestNetwork(self, full, self.away.T, before.near if before else None)
        if not (before or self.exact):
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

    def _root(self, solver: GuestNetwork, mix: Array, size: Array, at: Integers) -> Array:
        """The part of a mix of loads that agrees with the progress under it; `size` is that of the whole mix."""

        def excess(part: Array, row: Array) -> Array:
            at = row.astype(np.int64)
            now = solver.throughput(at, list(part * mix[:, at]))
            return np.asarray(part - self._size(now, at) / np.maximum(size[at], 1e-300))

        none = np.zeros(len(at))
        return np.asarray(increasing_root(excess, none, none + 2, (at.astype(np.float64),)) * mix[:, at])

    def _size(self, rates: Array, at: Integers) -> Array:
        """One number that stands for the progress: cycles a second, each in its shortest time."""
        return np.asarray((rates * self.shortest()[:, at].T).sum(-1))

    @property
    def writes(self) -> Array:
        """Page writes a read of each cycle, shape (scenarios, classes)."""
        return np.reshape([c.writes for c in self.cycles], (-1, len(self.processors))).T

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
        writes = [self.reads(group, rates * self.writes) for group in self.groups]
        system = np.zeros(len(rates))
        for group, written in zip(self.groups, writes, strict=True):
            system = system + group.cp_system * (self.reads(group, rates) + written + group.other)
        return [np.where(np.isfinite(self.processors), system, 0.0), *writes]


def _secant(inverse: Array, step: Array, change: Array) -> Array:
    """Inverse Jacobians (scenarios,) that also map the last change of residuals to its step, unless nearly none."""
    reach = (inverse @ change[..., None])[..., 0]
    known = (step * reach).sum(-1)
    known = np.where(np.abs(known) > 1e-6 * (step**2).sum(-1), known, np.inf)[:, None, None]
    return np.asarray(inverse + (step - reach)[..., None] * (step[:, None] @ inverse) / known)


def _changes(one: Array, other: Array) -> Array:
    """Difference, relative to the larger of two; none where both are zero."""
    return np.asarray(np.abs(one - other) / np.maximum(np.maximum(one, other), 1e-300))


def _open_only(group: PagingGroup) -> Array:
    """Mean number of transfers of others where nobody else comes: of the station without closed requests."""
    nobody = np.zeros((len(group.devices), 1))
    station = group.group(nobody, nobody[:, 0], 1, np.arange(len(nobody)))
    queued = Network.of(nobody, nobody + 1, [station]).solve()[2][:, 0]
    return np.where(queued > 0, queued, group.other * group.service)
