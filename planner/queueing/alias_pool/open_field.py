"""Open pools of any size: a mean field around D, with balance equations for the bases, the queues and the aliases.

Given D the pool is known: min(D, A) aliases are busy and (D - A)+ I/Os wait. Unknown are, for each class and given D, the
chance that a base is busy, the mean queue of a volume and the chance that a busy base has one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.alias_pool.base_balance import idle_given_total
from planner.queueing.alias_pool.device_rates import Gaps
from planner.queueing.alias_pool.open_flows import (
    OpenField,
    OpenFlows,
    aliases_given_total,
    open_flows,
    open_outcome,
    queue_given_total,
    waiting_given_total,
    with_sum,
)
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.results import Array

MAX_ITERATIONS: Final = 200
MAX_TOTAL: Final = 8000
"""Largest D; a pool that needs more is nearly unstable."""
SETTLED: Final = 1e-8
"""Change of tries and queue in one iteration, relative to their sum, at which it stops."""
TAIL: Final = 1e-11
STEP: Final = 0.7
GROWTH: Final = 1.4
LIGHT: Final = 0.6
"""Load of a base up to which a volume is thought to queue little, to begin with."""
TINY: Final = float(np.finfo(float).tiny)


def solve_open_field(pool: Pool, aliases: int, start: OpenField | None = None) -> tuple[Outcome, OpenField]:
    """Solve an open pool by the mean field.

    Parameters
    ----------
    pool : Pool
        An open pool, stable with its aliases.
    aliases : int
        Its aliases, at least one [1].
    start : OpenField, optional
        Where the iteration of another alias count ended.

    Returns
    -------
    tuple of (Outcome, OpenField)
        The answer, and where the iteration ended.

    Raises
    ------
    ConvergenceError
        The iteration did not settle, or the pool is so nearly unstable that its queue exceeds every bound.
    """
    field = (
        _first_field(pool, aliases)
        if start is None
        else _resized(pool, start, aliases, aliases - start.aliases, 0)
    )
    before, residual, iteration = np.zeros((2, pool.classes)), np.inf, 0
    while iteration < MAX_ITERATIONS:
        flows = open_flows(pool, field)
        law = flows.pool.law()
        if law[-1] > TAIL:
            field = _longer(pool, field)
            continue
        iteration += 1
        outcome = open_outcome(pool, field, flows, law)
        now = np.array([outcome.tries, outcome.queue])
        residual = float(np.abs(now - before).sum() / max(now.sum(), TINY))
        if residual <= SETTLED:
            return replace(outcome, residual=residual), field
        before = now
        field = _step(pool, field, flows, outcome)
    raise ConvergenceError("mean field of the open alias pool", residual, MAX_ITERATIONS)


def _first_field(pool: Pool, aliases: int) -> OpenField:
    """Begin with bases as in a loss system and the queue at the busiest volumes."""
    load = pool.arrival_rate
    total = np.arange(aliases + 41.0 + np.ceil(4.0 * pool.volumes @ load))
    busy = np.repeat((load / (1.0 + load))[:, None], total.size, axis=1)
    share = np.maximum(load - LIGHT, 0.02 * load)
    queue = with_sum(share[:, None] * np.ones_like(total), pool.volumes, np.maximum(total - aliases, 0.0))
    mean = queue / np.maximum(busy, TINY)
    held = np.minimum(total, aliases) / pool.bases
    return OpenField(
        aliases=aliases,
        busy=busy,
        queue=queue,
        waiting=mean / (1.0 + mean),
        on_idle=held * (1.0 - busy),
        on_busy=held * busy,
        births=np.maximum(held, 1e-6) * np.ones_like(busy),
        gaps=(Gaps(),) * pool.classes,
    )


def _longer(pool: Pool, field: OpenField) -> OpenField:
    """The field up to a larger D."""
    size = field.total.size
    if size > MAX_TOTAL:
        raise ConvergenceError("open alias pool, nearly unstable: its queue", float(size), MAX_TOTAL)
    return _resized(pool, field, field.aliases, 0, int(size * (GROWTH - 1.0)) + 10)


def _resized(pool: Pool, field: OpenField, aliases: int, before: int, after: int) -> OpenField:
    """The field of another window of D, moved by `before`, with everything as it was at the same number waiting."""
    moved = {}
    for name in ("busy", "queue", "waiting", "on_idle", "on_busy", "births"):
        values = getattr(field, name)[:, max(-before, 0) :]
        moved[name] = np.pad(values, ((0, 0), (max(before, 0), after)), mode="edge")
    field = replace(field, aliases=aliases, **moved)
    return replace(field, queue=with_sum(field.queue, pool.volumes, field.pool_waiting))


def _step(pool: Pool, field: OpenField, flows: OpenFlows, outcome: Outcome) -> OpenField:
    """Balance equations of every class, then the law of its queue."""
    classes = range(pool.classes)
    busy = np.array([1.0 - idle_given_total(flows.pool, base, top=True) for base in flows.bases])
    following = replace(
        field,
        busy=_toward(field.busy, busy),
        births=flows.births,
        gaps=tuple(Gaps(*each) for each in zip(*outcome.mean_gaps(pool), strict=True)),
    )
    if pool.classes > 1:
        queue = np.array([queue_given_total(flows, field, k) for k in classes])
        queue = with_sum(queue, pool.volumes, field.pool_waiting)
        following = replace(following, queue=_toward(field.queue, queue))
    on_idle, on_busy = _aliases(pool, following, flows)
    return replace(
        following,
        on_idle=_toward(field.on_idle, on_idle),
        on_busy=_toward(field.on_busy, on_busy),
        waiting=waiting_given_total(pool, following, flows),
    )


def _aliases(pool: Pool, field: OpenField, flows: OpenFlows) -> tuple[Array, Array]:
    """Mean aliases of one volume of each class, base idle and base busy; evenly where it makes no difference."""
    held = np.minimum(field.total, field.aliases)
    if pool.inflation == 0.0:
        even = np.broadcast_to(held / pool.bases, field.busy.shape)
        return even * (1.0 - field.busy), even * field.busy
    both = np.array([aliases_given_total(flows, field, k) for k in range(pool.classes)])
    scaled = with_sum(both.sum(axis=1), pool.volumes, held)
    idle_share = both[:, 0] / np.maximum(both.sum(axis=1), TINY)
    return scaled * idle_share, scaled * (1.0 - idle_share)


def _toward(old: Array, new: Array) -> Array:
    return old + STEP * (new - old)
