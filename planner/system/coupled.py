"""The coupled model, storage -> misses -> transfers -> pages -> throughput, for many scenarios of one structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from planner.devices.storage import FRAMES_PER_PGMBK, PAGES_PER_PTRM_SPACE
from planner.queueing import usl
from planner.results import Array, Flags, Integers
from planner.system.description import Entry, System
from planner.system.loop import Loads, Loop
from planner.system.stations import CannotRunError, Cycle, PagingGroup, VolumeGroup, of_one, refuse
from planner.units import FRAME, GIB

SLACK: Final = 1e-9  # a guest that just fits is not refused for the rounding of floating point
ALMOST: Final = 1e-12
ONE_WAIT: Final = "guests, one wait at a time"

Values = Mapping[tuple[str, str, str], Array]
Floats = dict[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScenarios:
    """One structure, many scenarios: `values` by table, name and key, (scenarios,); `cost` of processor times.

    `central`: the scenario that each was moved from, which has to run. `exact`: whether the network is solved exactly.
    """

    system: System
    values: Values
    cost: Array
    central: Integers
    exact: bool = True

    def __len__(self) -> int:
        """Count the scenarios."""
        return len(self.cost)

    def at(self, entry: Entry, key: str, default: float = 0.0) -> Array:
        """A number of a table in every scenario."""
        found = self.values.get((entry.table, entry.name, key))
        return np.full(len(self), default) if found is None else found

    def known(self, entry: Entry, key: str) -> bool:
        """Whether it is known at all."""
        return (entry.table, entry.name, key) in self.values

    def without(self, wrong: Flags) -> SystemScenarios:
        """The same with what they were moved from in place of some."""
        at = np.where(wrong, self.central, np.arange(len(self)))
        values = {place: each[at] for place, each in self.values.items()}
        return replace(self, values=values, cost=self.cost[at])


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What storage says, shape (scenarios,): its `figures` by name, in pages or bytes; `miss` by name of the guests."""

    figures: Floats
    miss: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFigures:
    """All figures of all scenarios, each of shape (scenarios,), SI; by name where there are several.

    `stations` holds transfers, their capacity, utilization, queue_length, wait and response of one device, `bounds`
    throughputs, `page_capacity` pages that all devices carry, `stopped` why a scenario cannot run: only `storage`,
    `miss_ratio` and `bounds`, at the mix of its central one, say something of it.
    """

    storage: Storage | None
    throughput: Array | None
    miss_ratio: Array | None
    page_rate: Array
    page_capacity: Array
    io_rate: Array
    guests: dict[str, Array]
    stations: dict[str, Floats]
    processors: Floats
    bounds: Floats
    stopped: NDArray[np.object_]
    exact: bool = True


def storage_of(case: SystemScenarios) -> Storage | None:
    """Pages, frames and misses; None where the file has no storage or no guest with pages."""
    entry = case.system.one("storage")
    guests = [guest for guest in case.system.of("guests") if case.known(guest, "virtual")]
    if entry is None or not guests:
        return None
    free = case.at(entry, "real") - case.at(entry, "other") - case.at(entry, "minidisk_cache")
    keys = ("count", "virtual", "instantiated", "pages_per_segment")
    count, virtual, share, dense = (np.array([case.at(guest, key) for guest in guests]) for key in keys)
    each = virtual * share
    tables = each / (dense * FRAME) * FRAMES_PER_PGMBK * FRAME
    pages, pgmbk = (count * each).sum(axis=0), (count * tables).sum(axis=0)
    frames, whole = free - pgmbk, each + tables
    left = free - (pages + pgmbk - count * whole)
    fitting = np.floor(np.maximum(left / whole, 0.0) * (1 + SLACK))
    fit = {f"guests_that_fit {guest.name}": most for guest, most in zip(guests, fitting, strict=True)}
    missing = np.maximum(pages - frames, 0.0)
    missing = np.where(missing <= SLACK * pages, 0.0, missing)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(pages > 0, np.minimum(missing / pages, 1.0), 0.0)
    real = case.at(entry, "real")
    figures = {
        "overcommitment": pages / real, "frames_for_pages": frames / FRAME, "pages_without_frame": missing / FRAME,
        "storage_without_paging": real - frames + pages, "ptrm_spaces": pgmbk / (PAGES_PER_PTRM_SPACE * FRAME), **fit,
    }  # fmt: skip
    return Storage(figures=figures, miss={guest.name: _miss(case, guest, share) for guest in guests})


def _miss(case: SystemScenarios, guest: Entry, share: Array) -> Array:
    """Misses per page visit: given, or by the way of touching, from the share of pages without a frame."""
    if case.known(guest, "miss_ratio"):
        return case.at(guest, "miss_ratio")
    if guest.word("touching") == "cyclic, oldest first":
        return np.where(share > 0, 1.0, 0.0)
    if guest.word("touching") == "cyclic, random steal":
        return _random_steal(share)
    return share


def _random_steal(share: Array) -> Array:
    """M = 1 - exp(-M P / F), the root above 0 by Lambert's W: pages touched in a circle, any page stolen."""
    ratio = 1 / np.clip(1 - share, 1e-12, 1 - SLACK)
    with np.errstate(under="ignore"):
        return np.where(share > 0, 1 + lambertw(-ratio * np.exp(-ratio), 0).real / ratio, 0.0)


def _check_storage(case: SystemScenarios, storage: Storage) -> None:
    """Refuse what cannot run: no frames left, pages that have nowhere to go, more pages than page space."""
    real, found = case.values["storage", "", "real"], storage.figures
    frames, missing = found["frames_for_pages"] * FRAME, found["pages_without_frame"] * FRAME
    refuse(
        frames <= 0,
        "CP, minidisk cache and the page tables (PGMBKs) of the guests take {taken:.4g} of {real:.4g} GiB of real "
        "storage; no frame is left for pages", taken=(real - frames) / GIB, real=real / GIB,
    )  # fmt: skip
    groups = case.system.of("paging")
    without = "{missing:.4g} GiB of pages have no frame"
    if not groups:
        why = f"{without} and no [[paging]] takes them; {{needed:.4g}} GiB of real storage hold all"
        refuse(missing > 0, why, missing=missing / GIB, needed=found["storage_without_paging"] / GIB)
    elif all(case.known(group, "space") for group in groups):
        space = sum((case.at(g, "devices") * case.at(g, "space") for g in groups), np.zeros(len(case)))
        why = f"{without}, and the paging devices have room for {{space:.4g}} GiB"
        refuse(missing > space, why, missing=missing / GIB, space=space / GIB)


def outcome_of(case: SystemScenarios) -> SystemFigures:
    """Solve all scenarios; those that were moved to where nothing runs are named, central ones are refused."""
    storage, stopped = storage_of(case), np.full(len(case), "", dtype=object)
    runs, kept, (moving, loop) = case, storage, _parts(case, storage)
    every, whole = moving, loop
    while True:
        try:
            _check(runs, kept, moving, loop)
            break
        except CannotRunError as error:
            if error.wrong[case.central].any():
                raise
            for k in np.flatnonzero(error.wrong):
                stopped[k] = error.reason(int(k))
            runs = runs.without(error.wrong)
            kept = storage_of(runs)
            moving, loop = _parts(runs, kept)
    found = loop.run()
    if runs is not case:  # bounds of what cannot run are its own, at the mix of what runs in its place
        pairs = zip(found.loads, whole.loads(found.rates), strict=True)
        found = replace(found, loads=[np.where(stopped == "", *pair) for pair in pairs])
        for volume, solved in zip(whole.volumes, loop.volumes, strict=True):
            volume.update(whole.cycles, found.rates, whole.alone())
            volume.solved = solved.solved
    return _figures(case, storage, every, whole, found, stopped)


def _parts(case: SystemScenarios, storage: Storage | None) -> tuple[list[Cycle], Loop]:
    """All guests that do something, and the loop of those that wait."""
    cycles = [_cycle(case, guest, storage) for guest in case.system.of("guests")]
    moving = [cycle for cycle in cycles if cycle is not None]
    closed = [cycle for cycle in moving if not cycle.opened]
    groups = [_paging_group(case, entry) for entry in case.system.of("paging")]
    volumes = [_volume_group(case, entry, moving) for entry in case.system.of("volumes")]
    limit, held, opened = _processors(case, moving)
    return moving, Loop(closed, groups, volumes, limit - held - opened, exact=case.exact)


def customers_of(case: SystemScenarios) -> Array:
    """Customers of the network by group of guests that waits, shape (scenarios, groups)."""
    cycles = _parts(case, storage_of(case))[1].cycles
    return np.reshape([cycle.customers for cycle in cycles], (-1, len(case))).T


def _check(case: SystemScenarios, storage: Storage | None, moving: Sequence[Cycle], loop: Loop) -> None:
    """Refuse what cannot run."""
    if storage is not None:
        _check_storage(case, storage)
    for cycle in moving:
        misses = _misses(case, cycle.guest, storage)
        if misses is not None and not cycle.paging:
            why = "guests[{name}] misses pages and names no paging devices (pages_from)"
            refuse(misses * cycle.touches > 0, why, name=cycle.name)
    limit, held, opened = _processors(case, moving)
    why = "of {limit:g} processors dedicated guests hold {held:g} and I/Os that come at random take {opened:.4g}"
    refuse(loop.processors <= 0, why, limit=limit, held=held, opened=opened)
    loop.check()


def _scaling(case: SystemScenarios) -> Array:
    """Growth of processor times from the processors they were measured on to those that there are."""
    entry = case.system.one("processors")
    if entry is None or not case.known(entry, "measured") or not case.known(entry, "coherency"):
        return np.ones(len(case))
    alpha, beta = case.at(entry, "contention"), case.at(entry, "coherency")
    there, measured = case.at(entry, "count"), case.at(entry, "measured")
    return np.asarray(there / usl(there, 1.0, alpha, beta) * usl(measured, 1.0, alpha, beta) / measured)


def _misses(case: SystemScenarios, guest: Entry, storage: Storage | None) -> Array | None:
    """Misses per page visit of a guest, by storage or as given; None where nothing is known of them."""
    if storage is not None and guest.name in storage.miss:
        return storage.miss[guest.name]
    return case.at(guest, "miss_ratio") if case.known(guest, "miss_ratio") else None


def _cycle(case: SystemScenarios, guest: Entry, storage: Storage | None) -> Cycle | None:
    """Work of a guest between two of its waits, by unit: a page touch, or an I/O; None where it does nothing."""
    io = bool(guest.word("io_to"))
    if not io and not case.known(guest, "touch_time"):
        return None
    ones = np.ones(len(case))
    touches = case.at(guest, "touches_per_io") if io else ones
    misses = _misses(case, guest, storage)
    # Where nothing is paged the mode of the paging devices does not matter.
    scaling = _scaling(case) * (np.where(misses > 0, case.cost, 1.0) if misses is not None else 1.0)
    reads, write, charged = np.zeros(len(case)), case.at(guest, "changed"), np.zeros(len(case))
    if guest.word("pages_from") and misses is not None:
        group = case.system.named("paging", guest.word("pages_from"))
        reads = misses / (case.at(guest, "touches_per_visit", 1.0) * case.at(group, "pages_per_transfer"))
        charged = case.at(guest, "cp_charged") * scaling
    touch = case.at(guest, "touch_time") * scaling
    through = 1 - case.at(guest, "reads", 1.0) * case.at(guest, "cache_hit")
    opened = io and case.known(guest, "io_rate")
    processors = case.at(guest, "processors", 1.0)
    requesters = case.at(guest, "requesters") if case.known(guest, "requesters") else processors
    return Cycle(
        name=guest.name,
        guest=guest,
        count=case.at(guest, "count"),
        requesters=case.at(guest, "count") * requesters,
        touches=touches,
        own_time=touches * touch + case.at(guest, "io_time") * _scaling(case) * io,
        charged_time=touches * reads * charged,
        paging={guest.word("pages_from"): touches * reads} if guest.word("pages_from") else {},
        writes=write,
        volumes={guest.word("io_to"): through} if io else {},
        think=case.at(guest, "think_time") * (io and not opened),
        dedicated=bool(case.at(guest, "dedicated")[0]),
        opened=opened,
        rate=case.at(guest, "count") * case.at(guest, "io_rate") * opened,
        ios=ones * io,
        virtual_processors=case.at(guest, "count") * processors,
    )


def _timed(case: SystemScenarios, entry: Entry) -> tuple[Entry | None, Callable[[str], Array]]:
    """The pool of a group of devices, and what takes its times: from the group, or else from the pool."""
    pool = case.system.pool_of(entry)
    return pool, lambda key: case.at(entry if pool is None or case.known(entry, key) else pool, key)


def _paging_group(case: SystemScenarios, entry: Entry) -> PagingGroup:
    pool, time = _timed(case, entry)
    return PagingGroup(
        name=entry.name,
        devices=case.at(entry, "devices"),
        depth=case.at(entry, "depth", 1.0),
        service=time("service_time"),
        pages=case.at(entry, "pages_per_transfer"),
        cp_system=case.at(entry, "cp_system") * _scaling(case) * case.cost,
        other=case.at(entry, "other_transfers"),
        aliases=None if pool is None else case.at(pool, "aliases"),
        inflation=time("inflation"),
        gap=time("redrive_time"),
    )


def _volume_group(case: SystemScenarios, entry: Entry, cycles: Sequence[Cycle]) -> VolumeGroup:
    pool, time = _timed(case, entry)
    users = [cycle for cycle in cycles if entry.name in cycle.volumes]
    return VolumeGroup(
        name=entry.name,
        pool=entry.word("pool"),
        count=case.at(entry, "count"),
        aliases=case.at(entry, "aliases") if pool is None else case.at(pool, "aliases"),
        service=time("service_time"),
        inflation=time("inflation"),
        gap=time("redrive_time"),
        opened=bool(users) and all(each.opened for each in users),
        mixed=len({each.opened for each in users}) > 1,
        rate=sum((each.rate * each.volumes[entry.name] for each in users), np.zeros(len(case))),
    )


def _processors(case: SystemScenarios, cycles: Sequence[Cycle]) -> tuple[Array, Array, Array]:
    """Processors, inf where none are described; what dedicated guests hold of them; what open I/Os take."""
    entry = case.system.one("processors")
    if entry is None:
        return np.full(len(case), np.inf), np.zeros(len(case)), np.zeros(len(case))
    count = case.at(entry, "count")
    # One fewer, as elasticity asks, may be fewer than are guaranteed.
    limit = count - case.at(entry, "withheld") * np.maximum(count - case.at(entry, "guaranteed"), 0.0)
    held = sum((c.virtual_processors for c in cycles if c.dedicated), np.zeros(len(case)))
    opened = sum((c.rate * c.own_time for c in cycles if c.opened), np.zeros(len(case)))
    return limit, held, opened


def _figures(
    case: SystemScenarios, storage: Storage | None, moving: Sequence[Cycle], loop: Loop, found: Loads,
    stopped: NDArray[np.object_],
) -> SystemFigures:  # fmt: skip
    """Every figure, from throughputs and queues."""
    rates = {c.name: found.rates[:, k] for k, c in enumerate(loop.cycles)}
    rates |= {c.name: c.rate for c in moving if c.opened}
    zero = np.zeros(len(case))
    touching = [c for c in moving if case.known(c.guest, "touch_time")]
    touched = sum((rates[c.name] * c.touches for c in touching), zero)
    ios = sum((rates[c.name] * c.ios for c in moving), zero)
    transfers = {
        group.name: loop.reads(group, found.rates) + written
        for group, written in zip(loop.groups, found.loads[1:], strict=True)
    }
    pages = sum((transfers[group.name] * group.pages for group in loop.groups), zero)
    page_capacity = sum(((group.capacity() - group.other) * group.pages for group in loop.groups), zero)
    stations = {
        group.name: _paging_station(group, transfers[group.name], k, found)
        for k, group in enumerate(loop.groups)
    } | {volume.name: volume.station() for volume in loop.volumes}
    own = sum((rates[c.name] * c.own_time for c in moving), zero)
    charged = sum((rates[c.name] * c.charged_time for c in moving), zero)
    system = sum((g.cp_system * (transfers[g.name] + g.other) for g in loop.groups), zero)
    throughput = touched if touching else ios if moving else None
    processors = {"guest_busy": own, "cp_charged_busy": charged, "cp_system_busy": system,
                  "total_busy": own + charged + system}  # fmt: skip
    bounds: Floats = {}
    if throughput is not None:
        bounds = _bounds(case, moving, loop, transfers, throughput, processors)
    return SystemFigures(
        storage=storage,
        throughput=throughput,
        miss_ratio=_mean_miss(case, storage, touching, rates),
        page_rate=pages,
        page_capacity=page_capacity,
        io_rate=ios,
        guests=rates,
        stations=stations,
        processors=processors,
        bounds=bounds,
        stopped=stopped,
        exact=loop.exact,
    )


def _mean_miss(
    case: SystemScenarios, storage: Storage | None, touching: Sequence[Cycle], rates: Floats
) -> Array | None:
    """Misses per page visit over all guests: weighted by their touches where these are known."""
    ratios = {c.name: _misses(case, c.guest, storage) for c in touching}
    given = {name: miss for name, miss in ratios.items() if miss is not None}
    if given:
        weights = {c.name: rates[c.name] * c.touches + 1e-300 for c in touching if c.name in given}
        whole = sum(weights.values(), np.zeros_like(next(iter(weights.values()))))
        return np.asarray(sum(weights[name] / whole * miss for name, miss in given.items()))
    if storage is None:
        return None
    return np.asarray(np.mean(list(storage.miss.values()), axis=0))


def _paging_station(group: PagingGroup, transfers: Array, k: int, found: Loads) -> Floats:
    """One device of a group: all transfers, closed reads and open writes alike."""
    whole, service = transfers + group.other, group.service_at(found.present[:, k])
    served = whole * service
    waiting = np.maximum(found.present[:, k] + found.opened[:, k] - served, 0.0)
    waiting = np.where(np.isinf(group.depth) | (waiting <= ALMOST * served), 0.0, waiting)
    each = served / group.devices
    people = np.maximum(found.visiting[:, k], 1e-300)
    # Nothing waits and nothing is full: the share of time in which a device has any transfer under way.
    any_under_way = 1 - (1 - np.minimum(each / people, 1.0)) ** people
    utilization = np.where(np.isinf(group.depth), any_under_way, each / group.capacity_each)
    capacity, transfers, queued = (a / group.devices for a in (group.capacity(), whole, waiting))
    return of_one(group.devices, capacity, transfers, queued, service, utilization)


def _bounds(
    case: SystemScenarios, moving: Sequence[Cycle], loop: Loop, transfers: Floats, throughput: Array,
    processors: Floats,
) -> Floats:  # fmt: skip
    """Throughput that each part alone would allow; stations and processors at the mix of the answer."""
    touching = any(case.known(c.guest, "touch_time") for c in moving)
    units = {c.name: c.touches if touching else c.ios for c in moving}
    telling = [c for c in moving if units[c.name].any()]
    waits = [c for c in telling if not c.opened]
    found: Floats = {}
    at_random = sum((c.rate * units[c.name] for c in telling if c.opened), np.zeros(len(case)))
    with np.errstate(divide="ignore", invalid="ignore"):
        if waits:
            times = loop.alone()
            found[ONE_WAIT] = sum(
                (c.requesters * units[c.name] / c.alone(loop.groups, times) for c in waits), at_random
            )
            busy = {c.name: c.own_time + c.charged_time for c in waits}
            if all(each.any() for each in busy.values()):
                found["virtual processors"] = sum(
                    (c.virtual_processors * units[c.name] / busy[c.name] for c in waits), at_random
                )
        for group in loop.groups:
            if not np.isinf(group.depth).all():
                capacity = group.capacity() - group.other
                found[f"paging {group.name}"] = throughput * capacity / transfers[group.name]
        for volume in loop.volumes:  # of others, what they carry does not bound what the throughput counts
            if any(volume.name in c.volumes for c in telling):
                found[f"volumes {volume.name}"] = throughput * volume.capacity() / volume.flow
        entry = case.system.one("processors")
        if entry is not None and (processors["total_busy"] > 0).any():
            others = sum((g.cp_system * g.other for g in loop.groups), np.zeros(len(case)))
            left = case.at(entry, "count") - others
            found["processors"] = throughput * left / (processors["total_busy"] - others)
    return {name: np.where(np.isnan(values), np.inf, values) for name, values in found.items()}
