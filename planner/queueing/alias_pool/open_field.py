"""Open pools of any size: a mean field around D, with balance equations for the bases, the queues and the aliases.

Given D the pool is known: min(D, A) aliases are busy and (D - A)+ I/Os wait. Unknown are, for each class and given D, the
chance that a base is busy, the mean queue of a volume and the chance that a busy base has one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.alias_pool.alias_chain import alias_chain
from planner.queueing.alias_pool.base_balance import BaseFlows, PoolFlows, idle_given_total
from planner.queueing.alias_pool.device_rates import Gaps
from planner.queueing.alias_pool.moment_balance import MeanFlows, mean_given_total
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.queueing.alias_pool.queue_law import nodes, own_queue_waiting
from planner.results import Array

MAX_ITERATIONS: Final = 200
MAX_TOTAL: Final = 8000
"""Largest D; a pool that needs more is nearly unstable."""
SETTLED: Final = 1e-8
TAIL: Final = 1e-11
STEP: Final = 0.7
GROWTH: Final = 1.4
TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class OpenField:
    """State of the iteration; arrays given D = 0, 1, ... of shape (classes, D).

    Attributes
    ----------
    aliases : int
        The alias count it belongs to [1].
    busy : ndarray
        Probability that a base is busy [1].
    queue : ndarray
        Mean waiting at one volume [1].
    waiting : ndarray
        Probability that the own queue of a busy base is not empty [1].
    on_idle, on_busy : ndarray
        Mean aliases of one volume while its base is idle, busy, times the probability of that [1].
    gaps : tuple of Gaps
        Mean gaps of the devices of each class.
    """

    aliases: int
    busy: Array
    queue: Array
    waiting: Array
    on_idle: Array
    on_busy: Array
    gaps: tuple[Gaps, ...]
    births: Array


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
    field = _first_field(pool, aliases) if start is None else _shifted(start, aliases)
    residual = np.inf
    for _ in range(MAX_ITERATIONS):
        flows, bases, ends = _flows(pool, field)
        law = flows.law()
        if law[-1] > TAIL:
            field = _longer(pool, field)
            continue
        following = _step(pool, field, flows, bases, ends)
        residual = float(np.abs(following.busy - field.busy).sum(axis=0) @ law)
        outcome = _outcome(pool, following, law, flows, bases)
        gaps = tuple(Gaps(*each) for each in zip(*outcome.mean_gaps(pool), strict=True))
        field = replace(following, gaps=gaps)
        if residual <= SETTLED:
            return replace(outcome, residual=residual), field
    raise ConvergenceError("mean field of the open alias pool", residual, MAX_ITERATIONS)


@dataclass(frozen=True, eq=False)
class OpenEnds:
    """Rates given D of one volume of each class, shape (classes, D) [1/service time].

    Attributes
    ----------
    base : ndarray
        Of a busy base.
    idle_aliases, busy_aliases : ndarray
        Of its aliases while the base is idle, busy, times the probability of that.
    """

    base: Array
    idle_aliases: Array
    busy_aliases: Array
    base_by_alias: Array


def _first_field(pool: Pool, aliases: int) -> OpenField:
    """Begin with bases as busy as without aliases allowed to matter, and most of the queue where the load exceeds 0.6."""
    load = pool.arrival_rate
    longest = int(aliases + 40 + 4 * pool.volumes @ load)
    total = np.arange(longest + 1.0)
    busy = np.repeat((load / (1.0 + load))[:, None], total.size, axis=1)
    share = np.maximum(load - 0.6, 0.02 * load)
    share /= pool.volumes @ share
    queue = share[:, None] * np.maximum(total - aliases, 0.0)
    mean = queue / np.maximum(busy, TINY)
    held = np.minimum(total, aliases) / pool.volumes.sum()
    return OpenField(
        aliases, busy, queue, mean / (1.0 + mean), held * (1.0 - busy), held * busy, (Gaps(),) * pool.classes,np.maximum(held*np.ones_like(busy),1e-6)
    )


def _resized(field: OpenField, aliases: int, before: int, after: int) -> OpenField:
    """The field of another window of D, constant beyond its ends; the queue is left to be scaled."""
    changed = {}
    for name in ("busy", "queue", "waiting", "on_idle", "on_busy", "births"):
        values = getattr(field, name)
        if before < 0:
            values = values[:, -before:]
        changed[name] = np.pad(values, ((0, 0), (max(before, 0), after)), mode="edge")
    return replace(field, aliases=aliases, **changed)


def _longer(pool: Pool, field: OpenField) -> OpenField:
    """The field up to a larger D."""
    size = field.busy.shape[1]
    if size > MAX_TOTAL:
        raise ConvergenceError("open alias pool, nearly unstable: its queue", float(size), MAX_TOTAL)
    return _scaled(pool, _resized(field, field.aliases, 0, int(size * (GROWTH - 1.0)) + 10))


def _shifted(start: OpenField, aliases: int) -> OpenField:
    """Where another alias count begins: everything as it was at the same number waiting."""
    return _resized(start, aliases, aliases - start.aliases, 0)


def _scaled(pool: Pool, field: OpenField) -> OpenField:
    """The field with the waiting I/Os that D says."""
    waiting = np.maximum(np.arange(field.queue.shape[1]) - field.aliases, 0.0)
    return replace(field, queue=_with_sum(field.queue, pool.volumes, waiting))


def _with_sum(values: Array, volumes: Array, wanted: Array) -> Array:
    """The values scaled so that the pool has the wanted total at each D."""
    total = volumes @ values
    return values * np.divide(wanted, total, out=np.zeros_like(total), where=total > 0.0)


def _ends(pool: Pool, field: OpenField, total: Array) -> OpenEnds:
    """Rates of the devices; the aliases of one volume are overdispersed, as they slow each other down.

    Alone, the aliases of a volume are a birth-death process with death rate a / (c + i a), whose law is negative binomial with
    r = 1 + c / i: mean m, mean rate m / (c + i + i m), and 1 - p = r / (r + m) in place of 1 / (1 + i m) for the base. That the
    pool has no more than min(D, A) takes the share of one volume off the variance.
    """
    if LOCAL:
        full=(total>field.aliases)[None,:]
        base_gap = pool.redrive_time*field.waiting
        alias_gap = pool.alias_redrive_time*full*np.ones_like(field.waiting)
    else:
        base_gap = np.array([each.base for each in field.gaps])[:, None]
        alias_gap = np.array([each.alias for each in field.gaps])[:, None]
    if pool.inflation == 0.0:
        one = np.ones_like(field.busy)
        return OpenEnds(one / (1.0 + base_gap), field.on_idle / (1.0 + alias_gap), field.on_busy / (1.0 + alias_gap),one / (1.0 + base_gap))
    growth = pool.inflation / (1.0 + alias_gap)*np.ones_like(field.busy)
    beside_base = 1.0 + pool.inflation / (1.0 + base_gap) - growth + alias_gap
    alone = 1.0 - growth + alias_gap
    held = field.on_busy / np.maximum(field.busy, TINY)
    spare = 1.0 + base_gap
    births = field.births
    n=np.minimum(total, field.aliases)
    share = held / np.maximum(n, np.maximum(held, TINY))
    most=int(min(field.aliases,4*held.max()+24))
    out=[]
    for k in range(pool.classes):
        nu=births[k]
        for _ in range(2):
            ch=alias_chain(nu,np.full_like(nu,pool.arrival_rate[k]),1-field.waiting[k],growth=growth[k],base_time=spare[k]+0*nu,beside_base=beside_base[k],alone=alone[k],most=most)
            nu=nu*np.maximum(held[k],1e-9)/ch.mean
            nu=np.clip(nu,1e-9,1e4)
        births[k]=nu
        out.append(ch)
    kap=KAPPA(share)
    det_base=1/(spare+growth*held); det_busy=1/(beside_base+growth*held)
    m0=field.on_idle/np.maximum(1-field.busy,TINY)
    det_idle=1/np.maximum(alone+growth*np.maximum(m0,1),.5)
    cb=np.array([c.base for c in out]);ci=np.array([c.per_alias_idle for c in out]);cy=np.array([c.per_alias_busy for c in out])
    mix=lambda a,b:(1-share*kap)*a+share*kap*b
    return OpenEnds(mix(cb,det_base), field.on_idle*mix(ci,det_idle), field.on_busy*mix(cy,det_busy),mix(np.array([c.base_by_alias for c in out]),det_base))

KAPPA=lambda s:1.

LOCAL=False


def _flows(pool: Pool, field: OpenField) -> tuple[PoolFlows, tuple[BaseFlows, ...], OpenEnds]:
    """Flows of every class given D, and of the pool."""
    total = np.arange(float(field.busy.shape[1]))
    ends = _ends(pool, field, total)
    load = pool.arrival_rate[:, None]
    tries = load * field.busy
    pickups = ends.base * field.busy * field.waiting
    idles = ends.base * (1.0 - field.waiting)
    flows = PoolFlows(
        total, pool.volumes @ tries, pool.volumes @ pickups, pool.volumes @ (ends.idle_aliases + ends.busy_aliases)
    )
    arrivals = np.broadcast_to(load, tries.shape)
    bases = tuple(BaseFlows(*each) for each in zip(arrivals, idles, tries, pickups, strict=True))
    return flows, bases, ends


def _step(
    pool: Pool, field: OpenField, flows: PoolFlows, bases: tuple[BaseFlows, ...], ends: OpenEnds
) -> OpenField:
    """Balance equations for every class, then the law of its queue."""
    busy, queue, on_idle, on_busy = [], [], [], []
    for k, base in enumerate(bases):
        busy.append(1.0 - idle_given_total(flows, base, top=True))
        queue.append(_queue(flows, base, field, k) if pool.classes > 1 else field.queue[k])
        if pool.inflation > 0.0:
            idle, beside = _held(flows, base, field, ends, k)
            on_idle.append(idle)
            on_busy.append(beside)
    waiting = np.maximum(flows.total - field.aliases, 0.0)
    following = replace(
        field,
        busy=field.busy + STEP * (np.array(busy) - field.busy),
        queue=field.queue + STEP * (_with_sum(np.array(queue), pool.volumes, waiting) - field.queue),
    )
    held = np.minimum(flows.total, field.aliases)
    if pool.inflation > 0.0:
        both = _with_sum(np.array([on_idle, on_busy]).sum(axis=0), pool.volumes, held)
        share = np.array(on_idle) / np.maximum(np.array(on_idle) + np.array(on_busy), TINY)
        on_idle_now, on_busy_now = both * share, both * (1.0 - share)
    else:  # the split does not matter
        on_idle_now = np.broadcast_to(held / pool.volumes.sum(), field.busy.shape) * (1.0 - following.busy)
        on_busy_now = np.broadcast_to(held / pool.volumes.sum(), field.busy.shape) * following.busy
    return replace(
        following,
        on_idle=field.on_idle + STEP * (on_idle_now - field.on_idle),
        on_busy=field.on_busy + STEP * (on_busy_now - field.on_busy),
        waiting=_own_queue(pool, following, flows, ends),
    )


def _queue(flows: PoolFlows, base: BaseFlows, field: OpenField, k: int) -> Array:
    """Mean queue of one volume given D, from its balance above D = A."""
    waiting = flows.total - field.aliases
    some = waiting > 0.0
    own = np.divide(base.pickups, field.queue[k], out=np.ones_like(base.pickups), where=field.queue[k] > 0.0)
    lost = flows.alias_ends / np.maximum(waiting, 1.0) + own
    lost[waiting == 1.0] = flows.falls[waiting == 1.0]  # the last one that waits, wherever it does
    nothing = np.zeros_like(waiting)
    from_full = slice(field.aliases, None)
    part = PoolFlows(*(getattr(flows, name)[from_full] for name in ("total", "tries", "pickups", "alias_ends")))
    queue = nothing.copy()
    queue[from_full] = mean_given_total(
        part,
        MeanFlows(
            rises=part.tries,
            falls=part.falls,
            lost=np.where(some, lost, 0.0)[from_full],
            leaves=nothing[from_full],
            enters=nothing[from_full],
            enters_rising=base.tries[from_full],
            enters_falling=nothing[from_full],
        ),
    )
    return queue


def _held(
    flows: PoolFlows, base: BaseFlows, field: OpenField, ends: OpenEnds, k: int
) -> tuple[Array, Array]:
    """Mean aliases of one volume given D, with its base idle and with it busy."""
    full = flows.total >= field.aliases
    waiting = np.maximum(flows.total - field.aliases, 1.0)
    others_try = np.maximum(flows.tries - base.tries, 0.0)
    others_fall = flows.alias_ends + np.maximum(flows.pickups - base.pickups, 0.0)
    nothing = np.zeros_like(waiting)
    idle = mean_given_total(
        flows,
        MeanFlows(
            rises=others_try,
            falls=others_fall,
            lost=_per_one(ends.idle_aliases[k], field.on_idle[k]),
            leaves=base.arrivals,
            enters=field.on_busy[k] * ends.base_by_alias[k]*(1-field.waiting[k]),
            enters_rising=nothing,
            enters_falling=nothing,
        ),
    )
    picked = np.where(flows.total > field.aliases, flows.alias_ends * field.queue[k] / waiting, 0.0)
    beside = mean_given_total(
        flows,
        MeanFlows(
            rises=others_try + base.arrivals,
            falls=flows.falls,
            lost=_per_one(ends.busy_aliases[k], field.on_busy[k]),
            leaves=ends.base_by_alias[k]*(1-field.waiting[k]),
            enters=idle * base.arrivals,
            enters_rising=np.where(full, 0.0, base.tries),
            enters_falling=picked,
        ),
    )
    return idle, beside


def _per_one(rate: Array, count: Array) -> Array:
    return np.divide(rate, count, out=np.zeros_like(rate), where=count > TINY)


def _own_queue(pool: Pool, field: OpenField, flows: PoolFlows, ends: OpenEnds) -> Array:
    """Chance that the own queue of a busy base is not empty, from the law at some D and interpolated to all."""
    waiting = np.zeros_like(field.busy)
    longest = field.busy.shape[1] - 1 - field.aliases
    at = nodes(longest)
    index = field.aliases + at.astype(np.int64)
    queue = field.queue[:, index]
    relative = flows.alias_ends[index] / at / (pool.volumes @ ends.base[:, index] / pool.bases)
    chance = own_queue_waiting(pool.volumes, field.busy[:, index], queue, at, relative)
    mean = queue / np.maximum(field.busy[:, index], TINY)
    everywhere = np.log(np.arange(1.0, longest + 1.0))
    some = slice(field.aliases + 1, None)
    for k in range(pool.classes):
        per_mean = np.interp(everywhere, np.log(at), chance[k] / np.maximum(mean[k], TINY))
        waiting[k, some] = np.minimum(per_mean * field.queue[k, some] / np.maximum(field.busy[k, some], TINY), 1.0)
    return waiting


def _outcome(
    pool: Pool, field: OpenField, law: Array, flows: PoolFlows, bases: tuple[BaseFlows, ...]
) -> Outcome:
    """Averages over D."""
    full = flows.total >= field.aliases
    tries = np.array([base.tries @ law for base in bases])
    fails = np.array([base.tries[full] @ law[full] for base in bases])
    base_pickups = np.array([base.pickups @ law for base in bases])
    share = field.queue / np.maximum(flows.total - field.aliases, 1.0)
    alias_pickups = (share * flows.alias_ends) @ law
    held = (field.on_idle + field.on_busy) @ law
    if pool.inflation == 0.0:
        gap = np.array([each.alias for each in field.gaps])
        held = (1.0 + gap) * (tries - fails + alias_pickups)
    free = np.maximum(field.aliases - flows.total, 0.0).astype(np.int64)
    return Outcome(
        throughput=pool.arrival_rate.copy(),
        tries=tries,
        fails=fails,
        queue=field.queue @ law,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=field.busy @ law - pool.redrive_time * base_pickups,
        alias_in_service=held - pool.alias_redrive_time * alias_pickups,
        free_law=np.bincount(free, weights=law, minlength=field.aliases + 1).astype(np.float64),
        residual=np.inf,
    )
