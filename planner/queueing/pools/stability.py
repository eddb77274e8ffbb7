"""Whether the open classes of a pool are served: how many aliases they hold where their queues never end."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from planner.queueing.checks import TINY
from planner.queueing.pools.independent import solve_one
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import MOST_DEVICES, CheckedPool, Scenarios
from planner.results import Array


def aliases_in_use(pool: CheckedPool) -> Array:
    """Mean aliases that one volume of each class must hold for its queue not to grow.

    With a queue that never ends the base of a volume serves ``1 / (S + g)``; aliases have to take the rest of the load.
    What they serve slows itself down: with growth i for each further I/O in service the aliases held are a birth-death
    process with death rate ``a / (c + i a)``, whose law is negative binomial with r = 1 + c / i. All overloaded volumes
    hold the aliases of the pool together; of one that holds h on average, a share s of all, the aliases then end ``h /
    (c + i - i s + i h)`` I/Os, and the base works at ``(c + i - i s) / (c + i - i s + i h)`` of its pace: exact where
    these volumes are alike and there is no gap. Closed classes and loads below the base need none: their queues end.
    """
    load = np.where(pool.closed, 0.0, pool.arrival_rate * pool.service)
    base, growth, beside = _rates_in_overload(pool)
    missing = np.maximum(load - base, 0.0)
    spare = 1.0 - growth * load
    alone = growth + beside - growth * _shares(pool, missing * (growth + beside))
    need = np.divide(alone * missing, spare, out=np.full_like(load, np.inf), where=spare > 0.0)
    # A base that its load just fills, and aliases that bring nothing: no number of them is enough.
    return np.where((missing > 0.0) | ((load >= base) & (spare <= 0.0)), need, 0.0)


def _shares(pool: CheckedPool, wanted: Array) -> Array:
    """Share of one volume of each class in what all want."""
    return np.asarray(wanted / max(float(pool.volumes @ wanted), TINY))


def aliases_to_be_stable(pool: CheckedPool) -> float:
    """Fewest aliases with which no queue grows without bound."""
    if not _overloaded(pool).any():
        return 0.0
    if pool.bases == 1:
        return _of_one_volume(pool)
    return float(np.floor(float(pool.volumes @ aliases_in_use(pool))) + 1.0)


def fewest_to_be_stable(scenarios: Scenarios) -> Array:
    """Fewest aliases with which no queue of a pool grows without bound, shape (scenarios,)."""
    load = np.where(
        scenarios.active & ~scenarios.closed, scenarios.arrival_rate * scenarios.service_time, 0.0
    )
    gap = scenarios.redrive_time[:, None] / scenarios.service_time
    needed, nearly = np.zeros(scenarios.unit.size), 1.0 - 1e-9
    for scenario in np.flatnonzero((load * (1.0 + gap) >= nearly).any(axis=-1)).tolist():
        needed[scenario] = aliases_to_be_stable(scenarios.pool(scenario))
    return needed


def solve_saturated(pool: CheckedPool, aliases: int) -> Outcome:
    """What an unstable pool comes to: overloaded volumes hold all aliases, the others are left to their bases."""
    over = _overloaded(pool)
    alone = [solve_one(pool, k, 0) if not over[k] else None for k in range(pool.classes)]
    values = {
        name: np.array([np.nan if each is None else getattr(each, name)[0] for each in alone])
        for name in PER_CLASS
    }
    base, growth, beside = _rates_in_overload(pool)
    missing = np.where(over, np.where(pool.closed, 0.0, pool.arrival_rate * pool.service) - base, 0.0)
    # Queues grow as I/Os are missing, and aliases take of each as it grows.
    share = _shares(pool, missing * (growth + beside))
    held, apart = aliases * share, growth + beside - growth * share
    by_base = base * apart / (apart + growth * held) / pool.service
    by_alias = held / (apart + growth * held) / pool.service
    serving = 1.0 - pool.redrive_time * by_base
    beside_it = held - pool.alias_redrive_time * by_alias
    if pool.bases == 1:
        by_base, by_alias, serving, beside_it = (np.full(1, each) for each in _one_in_overload(pool, aliases))
    saturated = {
        "throughput": by_base + by_alias,
        "tries": pool.arrival_rate,
        "fails": pool.arrival_rate,
        "queue": np.full(pool.classes, np.inf),
        "base_pickups": by_base,
        "alias_pickups": by_alias,
        "base_in_service": serving,
        "alias_in_service": beside_it,
    }
    joined = {name: np.where(over, saturated[name], values[name]) for name in PER_CLASS}
    free_law = np.zeros(aliases + 1)
    free_law[0] = 1.0
    return Outcome(
        free_law=free_law,
        tries_by_free=free_law * float(joined["tries"] @ pool.volumes),
        residual=0.0,
        stable=False,
        **joined,
    )


def _of_one_volume(pool: CheckedPool) -> float:
    """Fewest aliases of its own that serve a single overloaded volume; inf where inflation takes what they bring."""

    def is_stable(aliases: int) -> bool:
        by_base, by_alias, *_ = _one_in_overload(pool, aliases)
        return float(pool.arrival_rate[0]) < by_base + by_alias

    enough = 1
    while not is_stable(enough):
        enough *= 2
        if enough > MOST_DEVICES:
            return float(np.inf)
    counts = range(enough // 2 + 1, enough + 1)
    return float(counts[bisect_left(counts, True, key=is_stable)])


def _one_in_overload(pool: CheckedPool, aliases: int) -> tuple[float, float, float, float]:
    """Rates of base and aliases of a single volume whose queue never ends, and the I/Os that each has in service.

    Its devices always have work, so that their states are a closed network of a station that serves n at the rate
    n / s(n) and two delays, the gaps: p(b, j) is s(1) ... s(n) g^(1-b) C(A, j) h^(A-j) with n = b + j in service
    (Baskett, Chandy, Muntz and Palacios 1975).
    """
    gap, alias_gap = float(pool.redrive_time), float(pool.alias_redrive_time)
    base, beside = np.meshgrid([0, 1], np.arange(aliases + 1), indexing="ij")
    present = base + beside
    times = float(pool.service[0]) * pool.service_growth(np.arange(1.0, aliases + 2.0))
    logs = np.append(0.0, np.cumsum(np.log(times)))[present]
    logs = (
        logs
        + np.append(0.0, np.cumsum(np.log(np.arange(aliases, 0, -1) / np.arange(1, aliases + 1))))[beside]
    )
    logs = (
        logs
        + np.where(base == 0, np.log(max(gap, TINY)), 0.0)
        + (aliases - beside) * np.log(max(alias_gap, TINY))
    )
    law = np.exp(logs - logs.max()) * ((gap > 0) | (base == 1)) * ((alias_gap > 0) | (beside == aliases))
    law /= law.sum()
    time = np.append(times[:1], times)[present]
    by_base, by_alias, with_base, with_alias = (
        float(np.sum(law * each)) for each in (base / time, beside / time, base, beside)
    )
    return by_base, by_alias, with_base, with_alias


def _overloaded(pool: CheckedPool) -> NDArray[np.bool_]:
    """Open classes whose bases alone do not serve them."""
    load = np.where(pool.closed, 0.0, pool.arrival_rate * pool.service)
    return np.logical_not(pool.closed) & (load >= 1.0 / (1.0 + pool.redrive_time / pool.service))


def _rates_in_overload(pool: CheckedPool) -> tuple[Array, Array, Array]:
    """Rate of its base, slowing by an alias, time of an alias [services] of overloaded volumes, (classes,) each."""
    gap, alias_gap = pool.redrive_time / pool.service, pool.alias_redrive_time / pool.service
    growth = pool.inflation / (1.0 + alias_gap)
    return 1.0 / (1.0 + gap), growth, 1.0 + pool.inflation / (1.0 + gap) - growth + alias_gap
