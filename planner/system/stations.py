"""What stands in the loop: the cycle of a guest, groups of paging devices and of volumes, and the network of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from planner import queueing
from planner.errors import InfeasibleError, InputError
from planner.queueing._product_form import StationGroup, multi_server_rates
from planner.queueing.pools.solve import solve_pools
from planner.queueing.pools.stability import most_in_overload
from planner.results import Array, Flags, Integers
from planner.system.description import Entry

ALIKE: Final = 1e-13  # change of the share of time that requesters are at a volume, at which it is known
NEARLY: Final = 1 - 1e-9  # share of a station that open requests may take while a root is sought
LOADS: Final = 1 - np.geomspace(1.0, 0.05, 10)[1:]  # of its limit: random arrivals at a pool are solved there


class CannotRunError(InfeasibleError):
    """Scenarios, those of `wrong`, that cannot run; the message is that of the first."""

    def __init__(self, wrong: Flags, why: str, named: Mapping[str, Array | str]) -> None:
        self.wrong, self.why, self.named = wrong, why, named
        super().__init__(f"the system cannot run: {self.reason(int(np.argmax(wrong)))}")

    def reason(self, k: int) -> str:
        """Why the k-th scenario cannot run."""
        return self.why.format(
            **{name: each if isinstance(each, str) else each[k] for name, each in self.named.items()}
        )


def refuse(wrong: Flags, why: str, **named: Array | str) -> None:
    """Refuse scenarios that cannot run; `why` takes what is `named`."""
    if wrong.any():
        raise CannotRunError(wrong, why, named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """What the guests of a group do between two waits, in units of one page touch or one I/O.

    Of all its `count` guests `requesters` and `virtual_processors`; `touches` a unit, processor times `own_time` and
    `charged_time` [s], transfers by `paging` group and I/Os by `volumes` group a unit, page `writes` a read, `think`
    time [s]; or, `opened`, units that come at random at `rate` [1/s]. All of shape (scenarios,).
    """

    name: str
    guest: Entry
    count: Array
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

    def without_processor(self, times: Mapping[str, Array]) -> Array:
        """Time of a unit that needs no virtual processor [s]; `times` of an I/O are by name of the cycle."""
        return np.asarray(self.think + sum(visits * times[self.name] for visits in self.volumes.values()))

    def elsewhere(self, times: Mapping[str, Array]) -> Array:
        """Time of a unit that needs no station of the network: think time, volumes, dedicated processors [s]."""
        return self.without_processor(times) + (self.own_time + self.charged_time) * self.dedicated

    @property
    def short(self) -> Flags:
        """Where requesters may wait for virtual processors: there are fewer, and a unit needs one for some time."""
        works = sum(self.paging.values(), self.own_time + self.charged_time) > 0
        return np.asarray((self.requesters > self.virtual_processors) & works)

    @property
    def customers(self) -> Array:
        """Customers of the network: requesters, or the virtual processors that these wait for."""
        return np.where(self.short, self.virtual_processors, self.requesters)

    def away(self, busy: Array, times: Mapping[str, Array]) -> Array:
        """Time between two units of a customer, outside of the network [s].

        A virtual processor is `busy` while a unit runs, waits for a processor, or reads a page. The requesters of a
        guest are a closed queue at its virtual processors, M/M/V//N, whose throughput says how long one is idle.
        """
        elsewhere, short = self.elsewhere(times), self.short
        if not short.any():
            return elsewhere
        each, thinks = self.virtual_processors / self.count, self.without_processor(times)
        people, busy = self.requesters / self.count, np.where(short, busy, 1.0)
        queue = queueing.finite_source(people, thinks, busy, each)
        return np.where(
            short, np.maximum(each / queue.throughput - busy + elsewhere - thinks, 0.0), elsewhere
        )

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
        """Service time with this many transfers at the group: it grows with those in service on the same volume."""
        if self.aliases is None or not self.inflation.any():
            return self.service
        served = np.minimum(present, self.devices + self.aliases) / self.devices
        return np.asarray(self.service * (1 + self.inflation * np.maximum(served - 1, 0.0)))

    def group(self, demand: Array, writes: Array, most: int, at: Integers) -> StationGroup:
        """The station that a network sees, with open transfers beside the closed ones."""
        devices = self.devices[at]
        load = (writes + self.other[at]) * self.service[at] / devices
        if self.aliases is None:
            depth = self.depth[at]
            load = np.where(np.isinf(depth), 0.0, np.minimum(load, depth * NEARLY))
            return StationGroup(
                demand=demand, service_rates=multi_server_rates(depth, most, load), copies=devices, load=load
            )
        rates = self._pool_service_rates(most, load * devices, at)
        load = np.minimum(load * devices, rates[:, -1] * NEARLY)
        return StationGroup(demand=demand, service_rates=rates, copies=np.ones(len(at)), load=load)

    def _pool_service_rates(self, most: int, load: Array, at: Integers) -> Array:
        """Service rates of the whole pool, one row a scenario; long enough to hold the open transfers, too."""
        assert self.aliases is not None
        far = most if not load.any() else most + math.ceil(4 * float(load.max())) + 20
        # of all scenarios, whichever are asked: what is solved of them is kept
        gap = np.round(self.gap / self.service, 9)
        rows = np.stack([self.devices, self.aliases, np.round(self.inflation, 9), gap], axis=-1)
        unique, inverse = np.unique(rows, axis=0, return_inverse=True)
        return pool_service_rates(unique, max(far, 1))[np.ravel(inverse)[at]]


def pool_service_rates(pools: Array, most: int) -> Array:
    """Service rates of pools by their requests, 1 to `most`, sent to any volume with the same chance; (pools, most).

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
    _parts: tuple[Array, ...] = ()
    # Of the guests, by group: requesters, I/Os a second, time from the end of an I/O to the next.
    _names: list[str] = field(default_factory=list)
    _people: Array = field(default_factory=lambda: np.zeros((0, 1)))
    _flows: Array = field(default_factory=lambda: np.zeros((0, 1)))
    _think: Array = field(default_factory=lambda: np.zeros((0, 1)))
    _mean_think: Array = field(default_factory=lambda: np.zeros(1))

    def capacity(self) -> Array:
        """I/Os that volumes and aliases carry at most [1/s]; aliases of a pool as if nobody else used them."""
        devices = self.count + self.aliases * (1.0 if self.pool else self.count)
        return np.asarray(devices / self.service)

    def check(self) -> None:
        """Refuse what the model does not hold, and I/Os that come faster than they can be served."""
        if self.mixed:
            raise InputError(
                f"volumes[{self.name}]",
                "guests that wait and I/Os that come at random",
                "one of them; split the volumes",
            )
        if self.opened:
            volumes, held = (self.count, self.aliases / self.count) if self.pool else (1.0, self.aliases)
            gap = self.gap / self.service
            each = most_in_overload(volumes + 0.0 * held, held, self.inflation, gap) / self.service
            why = "{rate:.4g} I/Os/s come to volumes[{name}], which carry {most:.4g}/s at most"
            most = self.count * each
            refuse(self.rate >= most, why, rate=self.rate, name=self.name, most=most)

    def update(self, cycles: Sequence[Cycle], rates: Array, times: Mapping[str, Array]) -> None:
        """Take what the rest of the system leaves of each cycle, where an I/O took so long; rates by cycle."""
        users = [c for c in cycles if self.name in c.volumes]
        flows = [rates[:, k] * c.volumes[self.name] for k, c in enumerate(cycles) if self.name in c.volumes]
        self._people = np.reshape([c.requesters for c in users], (-1, len(self.count)))
        self._flows, times_now = np.reshape([flows, [times[c.name] for c in users]], (2, *self._people.shape))
        people, flow, present = (each.sum(0) for each in (self._people, self._flows, self._flows * times_now))
        self.flow = self.rate if self.opened else flow
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(self._flows > 0, np.maximum(self._people / self._flows - times_now, 0.0), np.inf)
            think = np.where(flow > 0, np.maximum((people - present) / flow, 0.0), np.inf)
        self._think, self._mean_think, self._names = own, think, [c.name for c in users]
        self._parts = self._dealt(people, think)

    def times(self) -> dict[str, Array]:
        """Time of an I/O by cycle [s]: as long as those make it that it meets, the others without its own requester.

        That is the arrival theorem; equal requesters, as they were solved, say how long one that is met makes it.
        """
        found, people = self.solved, self._people.sum(0)
        if len(self._names) == 1:
            return {self._names[0]: found["time"]}
        late = found["time"] - self.service
        met = found["transfers"] * self.count * found["time"] * (1 - 1 / np.maximum(people, 1.0))
        each = _per(late, met, 0.0)
        alike = self._present(people[None] - 1, self._mean_think[None], each)
        each = _per(late, alike, 0.0)
        known = {}
        for k, name in enumerate(self._names):
            others = np.array(self._people)
            others[k] -= 1
            known[name] = self.service + each * self._present(others, self._think, each)
        return known

    def _present(self, people: Array, think: Array, each: Array) -> Array:
        """I/Os at the volumes of groups of requesters; `each` is how much longer an I/O takes for one that it meets."""
        people, here = np.maximum(people, 0.0), np.zeros_like(think)
        for _ in range(1000):
            times = self.service + each * np.maximum((people * here).sum(0) - here, 0.0)
            before, here = here, np.where(np.isfinite(think), times / (think + times), 0.0)
            if np.max(np.abs(here - before), initial=0.0) <= ALIKE:
                break
        return np.asarray((people * here).sum(0))

    def _dealt(self, people: Array, think: Array) -> tuple[Array, ...]:
        """Volumes, requesters, think time and I/O rate of the volumes with one more requester and of the others."""
        if self.opened:
            none = np.full((len(self.count), 1), np.nan)
            return self.count[:, None], none, none, (self.rate / self.count)[:, None]
        each, more = people // self.count, people % self.count
        requesters = np.stack([each + 1, each], axis=-1)
        think = np.stack([think, think], axis=-1)
        some = (requesters > 0) & np.isfinite(think)  # of a minidisk cache that answers all, nothing comes
        volumes = np.where(some, np.stack([more, self.count - more], axis=-1), 0.0)
        return volumes, requesters, np.where(some, think, 1.0), np.full_like(volumes, np.nan)

    def station(self) -> dict[str, Array]:
        """One volume, as a listing shows it: the gap of a device counts neither as service nor as queue."""
        found, times = self.solved, self.times()
        transfers, queued = found["transfers"], found["queued"]
        if len(times) > 1:  # each group of guests has times of its own
            late = (self._flows * (np.stack([*times.values()]) - self.service)).sum(0)
            alike = transfers * self.count * (found["time"] - self.service)
            queued = queued * _per(late, alike, 1.0)
            transfers = self.flow / self.count
        share = self.aliases / self.count if self.pool else self.aliases
        return of_one(
            self.count, self.capacity() / self.count, transfers, queued, found["service"],
            transfers * found["service"] / (1 + share),
        )  # fmt: skip


def of_one(
    devices: Array, capacity: Array, transfers: Array, queued: Array, service: Array, utilization: Array
) -> dict[str, Array]:
    """Figures of one of this many devices: what it carries, its transfers, what waits there and how long."""
    wait = _per(queued, transfers, 0.0)
    return {
        "devices": devices, "capacity": capacity, "transfers": transfers, "utilization": utilization,
        "queue_length": queued, "wait": wait, "response": wait + service,
    }  # fmt: skip


def _per(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """Quotient, or something else where the whole is not above zero."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), otherwise)


def solve_volumes(groups: Sequence[VolumeGroup]) -> None:
    """Solve the volumes of a pool, or of a group without one: means of a volume of each group."""
    first = groups[0]
    if any(
        np.any(getattr(g, key) != getattr(first, key))
        for g in groups
        for key in ("service", "inflation", "gap")
    ):
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
    own = np.stack([first.service, first.inflation, first.gap, first.aliases], axis=-1)
    rows = np.concatenate([pools, np.repeat(own, wide, axis=0)], axis=-1)
    # those of one pool are the same to eleven significant digits
    known = np.where(np.isfinite(rows), rows, -1.0)
    size = 10.0 ** (11 - np.ceil(np.log10(np.maximum(np.abs(known), 1e-30))))
    alike = np.round(known * size) / size
    _, at, back = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    busy = (rows[at, :width] > 0).any(axis=-1)
    found = np.zeros((4, len(at), width))
    if busy.any():
        *asked, own = np.split(rows[at[busy]], [width, 2 * width, 3 * width, 4 * width], axis=-1)
        volumes, people, think, rate = asked
        service, inflation, gap, aliases = own.T
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
        service = _per(served, flow, group.service)
        times = _per(time, flow, service)
        group.solved = {"transfers": flow, "queued": queued, "service": service, "time": times}
