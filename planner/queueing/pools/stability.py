"""Stability of open classes in a pool: the aliases that they hold if their queues never end."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from planner.queueing.checks import TINY
from planner.queueing.pools.field.device_rates import slowed
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.independent import without_aliases
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import MOST_DEVICES, CheckedPools
from planner.results import Array, Flags

ROUNDS: Final = 200
CLOSE: Final = 1e-12  # relative change of the aliases held at which they are found


def aliases_in_use(pools: PoolElements) -> Array:
    """Mean aliases that one volume of each class must hold for its queue not to grow, (elements, classes).

    With an endless queue, the base of a volume serves ``1 / (S + g)``; aliases have to take the rest of the load.
    Their I/Os slow each other down: with growth i for each further I/O in service, the aliases held are a birth-death
    process with death rate ``a / (c + i a)`` and a negative binomial distribution with r = 1 + c / i. The overloaded
    volumes together hold all aliases of the pool. If one holds h on average, a share s of all, its aliases end ``h /
    (c + i - i s + i h)`` I/Os, and its base works at ``(c + i - i s) / (c + i - i s + i h)`` of its rate: exact if
    these volumes are equal and there is no gap; with one within .7 % (a growth i as of `slowed`; simulated, up to 16
    aliases a volume, inflation .3, gap .2). Closed classes and loads below the base need none: their queues end.
    """
    load = pools.arrival_rate * pools.service
    inflation, gap = _inflation_and_gap(pools)
    cycle = 1.0 + gap
    missing = np.maximum(load - 1.0 / cycle, 0.0)
    share = _shares(pools, missing, inflation, gap)
    need, spare, settled = np.zeros_like(load), np.ones_like(load), np.zeros(load.shape, dtype=bool)
    for _ in range(ROUNDS):
        growth = _growth(inflation, gap, 1.0 - share + need)
        alone, spare = growth * (1.0 - share) + cycle, 1.0 - growth * load
        more = np.divide(alone * missing, spare, out=np.full_like(load, np.inf), where=spare > 0.0)
        settled |= more <= need * (1.0 + CLOSE)  # it rises from round to round, in each pool for itself
        if settled.all():
            break
        need = np.where(settled, need, more)
    # If the load just fills the base and aliases add no capacity, no number of them is enough.
    return np.where((missing > 0.0) | ((load >= 1.0 / cycle) & (spare <= 0.0)), need, 0.0)


def _growth(inflation: Array, gap: Array, others: Array) -> Array:
    """Slowing by each of some other devices, which slow nobody while in their gap, all in service times."""
    cycle = 1.0 + gap
    return np.asarray(inflation * (1.0 - gap / (cycle + slowed(inflation, np.ones_like(gap), cycle, others))))


def _shares(pools: PoolElements, missing: Array, inflation: Array, gap: Array) -> Array:
    """Share of one volume of each class in all aliases, which `missing` rates want."""
    wanted = missing * (_growth(inflation, gap, np.zeros_like(gap)) + 1.0 + gap)
    return np.asarray(wanted / np.maximum(pools.over_volumes(wanted), TINY)[:, None])


def fewest_to_be_stable(scenarios: CheckedPools) -> Array:
    """Fewest aliases with which no queue of a pool grows without bound, shape (scenarios,)."""
    every = np.arange(scenarios.unit.size)
    pools = PoolElements.of_pools(scenarios, every, np.zeros(every.size))
    needed = np.zeros(every.size)
    over = _overloaded(pools).any(axis=-1)
    single = pools.volumes.sum(axis=-1) == 1.0
    several = np.flatnonzero(over & ~single)
    part = pools.of(several)
    needed[several] = np.floor(part.over_volumes(aliases_in_use(part))) + 1.0
    known: dict[OneVolume, float] = {}  # equal volumes are solved once
    for at in np.flatnonzero(over & single).tolist():
        volume = _only(pools, at)
        if volume not in known:
            known[volume] = _of_one_volume(volume)
        needed[at] = known[volume]
    return needed


def solve_saturated(pools: PoolElements) -> Outcome:
    """Limit of unstable pools: overloaded volumes hold all aliases, the others have only their bases."""
    over = _overloaded(pools)
    alone = without_aliases(replace(pools, volumes=np.where(over, 0.0, pools.volumes)))
    inflation, gap = _inflation_and_gap(pools)
    missing = np.where(over, pools.arrival_rate * pools.service - 1.0 / (1.0 + gap), 0.0)
    # Queues grow in proportion to the unserved load, and aliases take from each in proportion to its growth.
    share = _shares(pools, missing, inflation, gap)
    held = pools.aliases[:, None] * share
    by_base, by_alias = (each / pools.service for each in _ends_in_overload(held, share, inflation, gap))
    serving = 1.0 - pools.redrive_time[:, None] * by_base
    beside_it = held - pools.redrive_time[:, None] * by_alias
    for at in np.flatnonzero(pools.volumes.sum(axis=-1) == 1.0).tolist():
        found = one_in_overload(_only(pools, at), int(pools.aliases[at]))
        for each, value in zip((by_base, by_alias, serving, beside_it), found, strict=True):
            each[at, over[at]] = value
    # Near stability the shares would give some volumes more than their arrival rate.
    most = pools.arrival_rate / np.maximum(by_base + by_alias, TINY)
    by_base, by_alias, serving, beside_it = (
        np.minimum(most, 1.0) * each for each in (by_base, by_alias, serving, beside_it)
    )
    saturated = {
        "throughput": by_base + by_alias,
        "tries": pools.arrival_rate,
        "fails": pools.arrival_rate,
        "queue": np.full(over.shape, np.inf),
        "base_pickups": by_base,
        "alias_pickups": by_alias,
        "base_in_service": serving,
        "alias_in_service": beside_it,
    }
    joined = {name: np.where(over, saturated[name], getattr(alone, name)) for name in PER_CLASS}
    free_distribution = np.zeros_like(alone.free_distribution)
    free_distribution[:, 0] = 1.0
    return replace(
        alone, free_distribution=free_distribution, stable=np.zeros(pools.aliases.size, dtype=bool), **joined
    )


class OneVolume(NamedTuple):
    """The only volume of a pool, in the pool's unit of time: inflation [1], gap of its devices."""

    arrival_rate: float
    service: float
    inflation: float
    gap: float


def _only(pools: PoolElements, at: int) -> OneVolume:
    """The only volume of a pool."""
    k = int(np.argmax(pools.volumes[at]))
    given = pools.arrival_rate[at, k], pools.service[at, k], pools.inflation[at], pools.redrive_time[at]
    return OneVolume(*map(float, given))


def _of_one_volume(volume: OneVolume) -> float:
    """Fewest own aliases that serve a single overloaded volume; inf if inflation cancels their capacity."""

    def is_stable(aliases: int) -> bool:
        by_base, by_alias, *_ = one_in_overload(volume, aliases)
        return volume.arrival_rate < by_base + by_alias

    enough = 1
    while not is_stable(enough):
        enough *= 2
        if enough > MOST_DEVICES:
            return float(np.inf)
    counts = range(enough // 2 + 1, enough + 1)
    return float(counts[bisect_left(counts, True, key=is_stable)])


def one_in_overload(volume: OneVolume, aliases: int) -> tuple[float, float, float, float]:
    """Rates of base and aliases of a single volume with a queue that never ends, and the I/Os in service on each.

    Its devices always have work, so that their states form a closed network of a station that serves n at the rate
    n / s(n) and a delay, the gap: p(b, j) is s(1) ... s(n) g^(1-b) C(A, j) g^(A-j) with n = b + j in service
    (Baskett, Chandy, Muntz and Palacios 1975).
    """
    _, service, inflation, gap = volume
    base, beside = np.meshgrid([0, 1], np.arange(aliases + 1), indexing="ij")
    present = base + beside
    times = service * (1.0 + inflation * np.arange(aliases + 1.0))
    logs = np.append(0.0, np.cumsum(np.log(times)))[present]
    logs = (
        logs
        + np.append(0.0, np.cumsum(np.log(np.arange(aliases, 0, -1) / np.arange(1, aliases + 1))))[beside]
    )
    in_gap = 1 - base + aliases - beside
    logs = logs + in_gap * np.log(max(gap, TINY))
    distribution = np.exp(logs - logs.max()) * ((gap > 0) | (in_gap == 0))
    distribution /= distribution.sum()
    time = np.append(times[:1], times)[present]
    by_base, by_alias, with_base, with_alias = (
        float(np.sum(distribution * each)) for each in (base / time, beside / time, base, beside)
    )
    return by_base, by_alias, with_base, with_alias


def _overloaded(pools: PoolElements) -> Flags:
    """Open classes that their bases alone cannot serve, (elements, classes)."""
    load = pools.arrival_rate * pools.service
    full = load >= 1.0 / (1.0 + pools.redrive_time[:, None] / pools.service)
    return np.asarray((pools.volumes > 0.0) & ~pools.closed & full)


def _inflation_and_gap(pools: PoolElements) -> tuple[Array, Array]:
    """Inflation, shape (elements, 1), and gap in service times of each class, shape (elements, classes)."""
    return pools.inflation[:, None], pools.redrive_time[:, None] / pools.service


def _ends_in_overload(held: Array, share: Array, inflation: Array, gap: Array) -> tuple[Array, Array]:
    """Rates of base and aliases of an overloaded volume, as in `aliases_in_use` [1/service time]."""
    growth = _growth(inflation, gap, 1.0 - share + held)
    apart = growth * (1.0 - share) + 1.0 + gap
    return apart / ((1.0 + gap) * (apart + growth * held)), held / (apart + growth * held)


def most_in_overload(volumes: Array, held: Array, inflation: Array | float, gap: Array) -> Array:
    """Throughput of each of equal volumes with endless queues and `held` aliases each [1/service time]."""
    by_base, by_alias = _ends_in_overload(held, 1.0 / volumes, np.asarray(inflation), gap)
    return by_base + by_alias
