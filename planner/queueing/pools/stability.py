"""Whether the open classes of a pool are served: how many aliases they hold where their queues never end."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.queueing.pools.independent import solve_one
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

TINY: Final = float(np.finfo(float).tiny)


def aliases_in_use(pool: CheckedPool) -> Array:
    """Mean aliases that one volume of each class must hold for its queue not to grow.

    With a queue that never ends the base of a volume serves ``1 / (S + g)``; aliases have to take the rest of the
    load. What they serve slows itself down: with growth i for each further I/O in service the aliases held are a
    birth-death process with death rate ``a / (c + i a)``, whose law is negative binomial with r = 1 + c / i, and the
    mean m that serves the load L solves ``r / (r + m) / (1 + g) + m / (i (r + m)) = L``. Closed classes and loads
    below the base need none: their queues end.
    """
    load = np.where(pool.closed, 0.0, pool.arrival_rate * pool.service)
    base, growth, beside = _rates_in_overload(pool)
    missing = np.maximum(load - base, 0.0)
    spare = 1.0 - growth * load
    need = np.divide((growth + beside) * missing, spare, out=np.full_like(load, np.inf), where=spare > 0.0)
    return np.where(missing > 0.0, need, 0.0)


def aliases_to_be_stable(pool: CheckedPool) -> float:
    """Fewest aliases with which no queue grows without bound."""
    if not _overloaded(pool).any():
        return 0.0
    return float(np.floor(float(pool.volumes @ aliases_in_use(pool))) + 1.0)


def is_stable(pool: CheckedPool, aliases: int) -> bool:
    """Whether no queue of the pool grows without bound: the sum of `aliases_in_use` is below its aliases."""
    return not _overloaded(pool).any() or float(pool.volumes @ aliases_in_use(pool)) < aliases


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
    wanted = missing * (
        growth + beside
    )  # queues grow as I/Os are missing, and aliases take of each as it grows
    held = aliases * wanted / max(float(pool.volumes @ wanted), TINY)
    by_base = base * (growth + beside) / (growth + beside + growth * held) / pool.service
    by_alias = held / (growth + beside + growth * held) / pool.service
    saturated = {
        "throughput": by_base + by_alias,
        "tries": pool.arrival_rate,
        "fails": pool.arrival_rate,
        "queue": np.full(pool.classes, np.inf),
        "base_pickups": by_base,
        "alias_pickups": by_alias,
        "base_in_service": 1.0 - pool.redrive_time * by_base,
        "alias_in_service": held - pool.alias_redrive_time * by_alias,
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


def _overloaded(pool: CheckedPool) -> NDArray[np.bool_]:
    """Open classes whose bases alone do not serve them."""
    load = np.where(pool.closed, 0.0, pool.arrival_rate * pool.service)
    return np.logical_not(pool.closed) & (load >= 1.0 / (1.0 + pool.redrive_time / pool.service))


def _rates_in_overload(pool: CheckedPool) -> tuple[Array, Array, Array]:
    """Of one volume whose queue never ends, all in its own service times, shape (classes,) each.

    What its base serves, by how much an alias slows the others down, and the time of an alias beside the base.
    """
    gap, alias_gap = pool.redrive_time / pool.service, pool.alias_redrive_time / pool.service
    growth = pool.inflation / (1.0 + alias_gap)
    return 1.0 / (1.0 + gap), growth, 1.0 + pool.inflation / (1.0 + gap) - growth + alias_gap
