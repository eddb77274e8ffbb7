"""Open pools whose service is not exponential: how much longer or shorter the wait is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool

DEPTH: Final = 5.4
"""How fast a deeper queue makes the pool behave like one server; fitted to simulated open pools."""


def wait_factor(pool: CheckedPool, aliases: int, outcome: Outcome, scv: float) -> float:
    """Ratio of the wait in an open pool to that of exponential service, for a two-moment law.

    In the form of Kimura (1986), ``(1 + C2) / ((1 - C2) / w + 2 C2)``: w is the ratio for constant service, 1/2 for
    one server, nearer to 1 where aliases are many and the queue is short.
    """
    fails = float(outcome.fails @ (pool.volumes * pool.service))
    depth = float(outcome.queue @ pool.volumes) / fails if fails > 0.0 else 0.0
    constant = 0.5 + 0.5 * aliases / (aliases + 1.0) / (1.0 + DEPTH * np.sqrt(depth))
    return float((1.0 + scv) / ((1.0 - scv) / constant + 2.0 * scv))


def scv_with_gaps(pool: CheckedPool, outcome: Outcome) -> float:
    """Squared coefficient of variation of service and gap together, over all I/Os of an open pool.

    A gap g before a share f of the I/Os adds ``f g`` to the mean, ``2 f (g + g^2)`` to the second moment: a service in
    two steps varies less than one.
    """
    mean, square = 1.0, 1.0 + pool.scv
    whole = float(pool.volumes @ outcome.throughput)
    service = float(pool.volumes @ (outcome.throughput * pool.service)) / whole
    for gap, pickups in (
        (pool.redrive_time / service, outcome.base_pickups),
        (pool.alias_redrive_time / service, outcome.alias_pickups),
    ):
        share = float(pool.volumes @ pickups) / whole
        mean += share * gap
        square += 2.0 * share * gap * (1.0 + gap)
    return square / mean**2 - 1.0


def with_variation(pool: CheckedPool, aliases: int, outcome: Outcome, scv: float) -> Outcome:
    """Wait of the two-moment law in place of that of exponential service."""
    if scv == 1.0 or not outcome.stable:
        return outcome
    in_gap = outcome.in_gap(pool)
    factor = np.where(pool.closed, 1.0, wait_factor(pool, aliases, outcome, scv))
    return replace(outcome, queue=factor * (outcome.queue + in_gap) - in_gap)
