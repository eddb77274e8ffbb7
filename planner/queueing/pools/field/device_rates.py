"""Rates at which the base and the aliases of one volume end I/Os, with inflation and gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

TINY = 1e-12
"""What divides in place of 0 where one I/O is beyond the bases."""


@dataclass(frozen=True)
class Gaps:
    """Mean gap per I/O of a device that holds one, whether or not this I/O had to wait."""

    base: float = 0.0  # Gap times the share of I/Os that were picked up from a queue [service times]
    alias: float = 0.0


def idle_base_alias_ends(pool: CheckedPool, service: Array, gap: Array, beyond: Array) -> Array:
    """Rate at which the aliases of a volume with idle base end, all of its I/Os holding one; shape (classes, d)."""
    growth = pool.inflation * service**2 / (service + gap)
    return np.asarray(beyond / (service + growth * np.maximum(beyond - 1.0, 0.0) + gap))


def busy_base_ends(
    pool: CheckedPool,
    service: Array,
    base_gap: Array,
    alias_gap: Array,
    alias_share: Array,
    at_busy: Array,
    beyond: Array,
    *,
    waits: Array,
    any_waits: Array,
) -> tuple[Array, Array]:
    """Rates of the base and of the aliases of a busy-base volume with d I/Os beyond the base.

    The aliases it holds are hypergeometric with mean ``alias_share d``; the rates are their averages to second order,
    for a service time ``service (1 + inflation (n - 1))`` with n in service. While a gap lasts the device is not in
    service. All arguments broadcast to (classes, D, d).
    """
    on_base = service + gap_now(pool.redrive_time, base_gap, waits)
    on_alias = service + gap_now(pool.alias_redrive_time, alias_gap, any_waits)
    held = alias_share * beyond
    if pool.inflation == 0.0:
        return 1.0 / on_base, held / on_alias
    spread = np.minimum(np.maximum(at_busy - beyond, 0.0) / np.maximum(at_busy - 1.0, TINY), 1.0)
    each = pool.inflation * service**2
    growth = each / on_alias
    slower = growth * held
    base_time = on_base + slower
    alone = each / on_base + (on_alias - growth)
    alias_time = alone + slower
    # Divided one by one: the cube of a time far from the solution would overflow.
    varies = growth * (1.0 - alias_share) * held * spread
    base = (1.0 + growth * varies / base_time / base_time) / base_time
    aliases = (held - alone * varies / alias_time / alias_time) / alias_time
    return base, aliases


def gap_now(gap: float, mean: float | Array, waits: Array) -> Array:
    """Mean gap that an I/O in service had, where the chance that one waits now is known.

    Whether it was picked up was settled when it began, one service ago at most: halfway between what holds now and what
    holds on average. Either keeps the time lost to gaps equal to the pickups times the gap.
    """
    return np.asarray(0.5 * (mean + gap * waits))


@dataclass(frozen=True, eq=False)
class Paces:
    """Rates at which devices end where no I/O slows another down."""

    queued: Array  # Of a base with a queue and without, shape (classes,) [1/service time]
    alone: Array
    alias: Array  # Of an alias with an I/O of a class given D, shape (classes, D) [1/service time]

    @classmethod
    def of(cls, pool: CheckedPool, base_gap: Array, alias_gap: float, waiting: Array) -> Paces:
        """From the mean gaps of all I/Os."""
        queued, alone = (
            1.0 / (pool.service + gap_now(pool.redrive_time, base_gap, np.full_like(base_gap, waits)))
            for waits in (1.0, 0.0)
        )
        mean = np.full_like(waiting, alias_gap)
        waits = np.where(waiting > 0.0, 1.0, 0.0)
        gaps = gap_now(pool.alias_redrive_time, mean, waits)
        return cls(queued, alone, 1.0 / (pool.service[:, None] + gaps))
