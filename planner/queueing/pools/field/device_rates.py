"""Rates at which base and aliases of a volume end I/Os, with inflation and gaps; correction of waits for gaps."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.queueing.pools.field.elements import PoolElements, State
from planner.queueing.pools.field.given_total import CLOSE, Split, ratio
from planner.queueing.pools.outcome import Outcome
from planner.results import Array, Flags


def idle_base_alias_ends(elements: PoolElements, state: State, size: int) -> Array:
    """Rate at which the aliases of a volume with idle base end; all its I/Os hold one; (elements, classes, d)."""
    service, beyond = elements.service[..., None], np.arange(float(size))
    cycle, others = service + state.alias_gap[..., None], np.maximum(beyond - 1.0, 0.0)
    return np.asarray(beyond / (cycle + slowed(elements.inflation[:, None, None], service, cycle, others)))


def busy_base_ends(elements: PoolElements, state: State, parts: Split, empty: Array) -> tuple[Array, Array]:
    """Rates of the base and of the aliases of a busy-base volume with d I/Os beyond the base.

    The number of its aliases is hypergeometric with mean ``alias_share d``; the rates are averages over it to second
    order, for a service time ``service (1 + inflation (n - 1))`` with n in service. A device in its gap is not in
    service. `empty` is the probability that none of the d waits, shape (elements, classes, D, d).
    """
    service = elements.service[..., None, None]
    beyond, total = np.arange(float(empty.shape[-1])), np.arange(empty.shape[-2])
    any_waits = (total > elements.aliases[:, None])[:, None, :, None]
    base_gap, alias_gap = (each[..., None, None] for each in (state.base_gap, state.alias_gap))
    redrive = elements.redrive_time[:, None, None, None]
    on_base = service
    if elements.redrive_time.any():
        on_base = service + gap_now(redrive, base_gap, True) - 0.5 * redrive * empty
    on_alias = service + gap_now(redrive, alias_gap, any_waits)
    share = parts.alias_share[..., None]
    held = share * beyond
    if not elements.inflation.any():
        held *= 1.0 / on_alias
        return np.broadcast_to(1.0 / on_base, empty.shape), held
    at_busy = parts.at_busy[:, None, :, None]
    spread = np.minimum(np.maximum(at_busy - beyond, 0.0) / np.maximum(at_busy - 1.0, CLOSE), 1.0)
    inflation = elements.inflation[:, None, None, None]
    later = slowed(inflation, service, on_alias, parts.held[..., None])
    each = inflation * service * (service + later)
    growth = each / (on_alias + later)
    alone = each / (on_base + later)
    alone += on_alias - growth
    varies = (growth * (1.0 - share) * share) * (beyond * spread)
    base = growth * held  # slowing by aliases
    aliases = alone + base
    base += on_base
    np.reciprocal(base, out=base)
    np.reciprocal(aliases, out=aliases)
    # Multiply one by one: far from the solution the cube of a rate would overflow.
    alone = alone * varies
    alone *= aliases
    alone *= aliases
    held -= alone
    aliases *= held
    varies *= growth
    varies *= base
    varies *= base
    varies += 1.0
    base *= varies
    return base, aliases


def slowed(inflation: Array, service: Array, cycle: Array, others: Array) -> Array:
    """Time by which others slow an I/O whose device is in service and gap for a `cycle`, if they are so like itself.

    It is x = inflation x service x others x (service + x) / (cycle + x), since a device in its gap slows nobody.
    """
    most = inflation * service * others
    half = 0.5 * (most - cycle)
    return np.asarray(half + np.sqrt(half**2 + most * service))


def gap_now(gap: Array, mean: Array, waits: bool | Flags) -> Array:
    """Mean gap of an I/O in service, given the probability that one waits now.

    Whether it was picked up was decided when it started, at most one service ago: use halfway between the current and
    the average value. Both keep the time lost to gaps equal to the pickups times the gap.
    """
    return np.asarray(0.5 * (mean + gap * waits))


DEPTH: Final = 5.4
"""How fast a deeper queue makes the pool behave like one server: fitted to simulated open pools. The error on others is
printed by `python -m tests.queueing.alias_pool.accuracy`, for open pools with a redrive time."""


@np.errstate(all="ignore")  # 0 / 0 is allowed
def with_gap_wait(elements: PoolElements, outcome: Outcome) -> Outcome:
    """Correct the wait for two moments of service, in pools with only open classes.

    A gap g before a share f of the I/Os adds ``f g`` to the mean, ``2 f (g + g^2)`` to the second moment. The wait is
    that of exponential service times ``(1 + C2) / ((1 - C2) / w + 2 C2)`` (Kimura 1986): w is the ratio for constant
    service, 1/2 for one server, closer to 1 with many aliases and a short queue.
    """
    opened = (~elements.closed | (elements.volumes <= 0.0)).all(axis=-1) & ~elements.independent
    opened &= elements.redrive_time > 0.0
    if not opened.any():
        return outcome

    whole = elements.over_volumes
    every = whole(outcome.throughput)
    service = ratio(whole(outcome.throughput * elements.service), every, 1.0)
    mean, square = np.ones_like(every), np.full_like(every, 2.0)
    gap = elements.redrive_time / service
    for pickups in (outcome.base_pickups, outcome.alias_pickups):
        share = ratio(whole(pickups), every)
        mean, square = mean + share * gap, square + 2.0 * share * gap * (1.0 + gap)
    scv = square / mean**2 - 1.0
    depth = ratio(whole(outcome.queue), whole(outcome.fails * elements.service))
    one = elements.aliases + 1.0
    constant = 0.5 + 0.5 * elements.aliases / one / (1.0 + DEPTH * np.sqrt(np.maximum(depth, 0.0)))
    factor = np.where(opened, (1.0 + scv) / ((1.0 - scv) / constant + 2.0 * scv), 1.0)[:, None]
    in_gap = outcome.in_gap(elements)
    return replace(outcome, queue=factor * (outcome.queue + in_gap) - in_gap)
