"""Open pools whose service is not exponential: how much longer or shorter the wait is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool

DEPTH: Final = 5.4
"""How fast a deeper queue makes the pool behave like one server; fitted to simulated open pools."""


def wait_factor(pool: Pool, aliases: int, outcome: Outcome) -> float:
    """Ratio of the wait in an open pool to that of exponential service, for a two-moment law.

    In the form of Kimura (1986), ``(1 + C2) / ((1 - C2) / w + 2 C2)``: w is the ratio for constant service, 1/2 for
    one server, nearer to 1 where aliases are many and the queue is short.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases [1].
    outcome : Outcome
        Its solution for exponential service.

    Returns
    -------
    float
        The factor [1].
    """
    fails = float(outcome.fails @ pool.volumes)
    depth = float(outcome.queue @ pool.volumes) / fails if fails > 0.0 else 0.0
    constant = 0.5 + 0.5 * aliases / (aliases + 1.0) / (1.0 + DEPTH * np.sqrt(depth))
    return float((1.0 + pool.scv) / ((1.0 - pool.scv) / constant + 2.0 * pool.scv))


def with_variation(pool: Pool, aliases: int, outcome: Outcome) -> Outcome:
    """Wait of the two-moment law in place of that of exponential service.

    Parameters
    ----------
    pool : Pool
        An open pool.
    aliases : int
        Its aliases [1].
    outcome : Outcome
        Its solution for exponential service.

    Returns
    -------
    Outcome
        The same with other queues; an I/O in its gap is not affected.
    """
    if pool.scv == 1.0 or not outcome.stable:
        return outcome
    in_gap = outcome.in_gap(pool)
    return replace(outcome, queue=wait_factor(pool, aliases, outcome) * (outcome.queue + in_gap) - in_gap)
