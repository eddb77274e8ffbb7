"""Flows of a pool given D, what one volume sees of them, and what they amount to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.base_balance import BaseFlows, PoolFlows
from planner.queueing.pools.field.device_rates import busy_base_ends, idle_base_alias_ends
from planner.queueing.pools.field.given_total import ClassGivenTotal
from planner.queueing.pools.field.volume_law import VolumeRates, arrival_rates
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

NOTHING: Final = 1e-9
"""I/Os beyond the bases, as the volumes have them, up to which they are not scaled to D."""
MAX_NEWTON = 30
"""Steps of Newton's method to the split at most."""
CLOSE = 1e-12
"""Share that is taken for 0, and for all."""


def waiting_shares(held_or_waiting: Array, log_odds: Array, waiting: Array) -> Array:
    """Share that waits of the I/Os beyond the base, at busy-base volumes of each class.

    The share of class k is ``odds_k x / (1 + odds_k x)``, with x such that the pool has the given number
    waiting. The equation is solved in the logit of the mean share, which is nearly linear in ln x.
    """
    total = held_or_waiting.sum(axis=0)
    share: Array = np.divide(waiting, total, out=np.zeros_like(total), where=total > CLOSE)
    np.minimum(share, 1.0 - CLOSE, out=share)
    if log_odds.size == 1:
        return share[None, :]
    shares = np.zeros_like(held_or_waiting)
    some = share > 0.0
    weight = held_or_waiting[:, some] / total[some]
    target = _logit(share[some])
    log_x = target - log_odds @ weight
    low, high = target - log_odds.max(), target - log_odds.min()  # the mean of the classes lies between them
    for _ in range(MAX_NEWTON):
        each = 1.0 / (1.0 + np.exp(-(log_x + log_odds[:, None])))
        mean = (weight * each).sum(axis=0)
        low, high = np.where(mean < share[some], log_x, low), np.where(mean < share[some], high, log_x)
        # Newton in the logit; where the mean is lost to rounding or the step leaves the bracket, halve that.
        inner = np.clip(mean, CLOSE, 1.0 - CLOSE)
        slope = (weight * each * (1.0 - each)).sum(axis=0) / (inner * (1.0 - inner))
        newton = log_x + (target - _logit(inner)) / np.maximum(slope, CLOSE)
        following = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
        step, log_x = following - log_x, following
        if np.abs(step).max(initial=0.0) < CLOSE**0.5:
            break
    shares[:, some] = 1.0 / (1.0 + np.exp(-(log_x + log_odds[:, None])))
    return shares


def own_queue_empty(alias_share: Array, at_busy: Array, waiting: Array, beyond: Array) -> Array:
    """Probability that none of the d I/Os beyond the base of one volume waits.

    Of the I/Os at busy-base volumes `alias_share` hold an alias; that all d of one volume do is
    hypergeometric: the product over j < d of (share x total - j)+ / (total - j).
    """
    drawn = beyond[:-1]
    chance = np.ones((waiting.size, beyond.size))
    held = np.maximum((alias_share * at_busy)[:, None] - drawn, 0.0)
    among = np.maximum(at_busy[:, None] - drawn, CLOSE)
    np.cumprod(np.minimum(held / among, 1.0), axis=1, out=chance[:, 1:])
    chance[waiting <= 0.0] = 1.0
    return chance


def _logit(share: Array) -> Array:
    return np.asarray(np.log(share) - np.log1p(-share))


@dataclass(frozen=True, eq=False)
class Split:
    """The I/Os that no base holds, given D, shape (classes, D) each."""

    total: Array  # The window of D, shape (D,) [1]
    held: Array  # Of a class, on aliases or waiting [1]
    waiting: Array  # Of a class, waiting [1]
    alias_share: Array  # Share that holds an alias of those at busy-base volumes [1]
    at_busy: Array  # Of all classes at busy-base volumes, shape (D,) [1]
    scale: Array  # By which the classes had to be multiplied to sum to D, shape (D,) [1]


@dataclass(frozen=True, eq=False)
class VolumeEnds:
    """Rates at which the devices of one volume end I/Os."""

    idle_alias_ends: Array  # Of its aliases while its base is idle, shape (d,) [1/service time]
    # With its base busy: of its aliases, of the base to its own queue, of the base to rest, shape (D, d)
    # [1/service time]
    busy_alias_ends: Array
    base_picks: Array
    base_idles: Array
    base_pace: Array  # Of the base, did it end independently of d, shape (D, d) [1/service time]


def split_of(
    pool: CheckedPool,
    aliases: int,
    total: Array,
    classes: list[ClassGivenTotal],
    rates: tuple[VolumeRates, ...],
) -> Split:
    """Split D over the classes and its waiting part over those with a busy base."""
    volumes = pool.volumes[:, None]
    idle = volumes * np.array([(1.0 - each.busy) * (each.weight_idle @ each.beyond) for each in classes])
    busy = volumes * np.array([each.busy * (each.weight_busy @ each.beyond) for each in classes])
    predicted = idle.sum(axis=0) + busy.sum(axis=0)
    scale = np.divide(total, predicted, out=np.ones_like(total), where=predicted > NOTHING)
    idle, busy = idle * scale, busy * scale
    waiting = np.maximum(total - aliases, 0.0)
    share = waiting_shares(busy, np.array([each.log_odds for each in rates]), waiting)
    return Split(total, idle + busy, busy * share, 1.0 - share, total - idle.sum(axis=0), scale)


def flows_of(
    pool: CheckedPool,
    aliases: int,
    split: Split,
    classes: list[ClassGivenTotal],
    rates: tuple[VolumeRates, ...],
) -> tuple[PoolFlows, tuple[BaseFlows, ...], list[VolumeEnds], Array]:
    """Flows of the pool and of every class given D; the last are the I/Os that aliases of one volume end."""
    bases, every_end, alias_ends = [], [], []
    tries, pickups = (np.zeros_like(split.total) for _ in range(2))
    for k, given in enumerate(classes):
        end = _ends(pool, aliases, split, k, given, rates[k])
        idle_arrivals, busy_arrivals = arrival_rates(pool, k, given.beyond.size)
        base = BaseFlows(
            arrivals=given.weight_idle @ idle_arrivals,
            idles=_mean(given.weight_busy, end.base_idles),
            tries=given.busy * (given.weight_busy @ busy_arrivals),
            pickups=given.busy * _mean(given.weight_busy, end.base_picks),
        )
        idle_ends = (1.0 - given.busy) * (given.weight_idle @ end.idle_alias_ends)
        busy_ends = given.busy * _mean(given.weight_busy, end.busy_alias_ends)
        tries += pool.volumes[k] * base.tries
        pickups += pool.volumes[k] * base.pickups
        alias_ends.append(split.scale * (idle_ends + busy_ends))
        bases.append(base)
        every_end.append(end)
    each = np.array(alias_ends)
    return PoolFlows(split.total, tries, pickups, pool.volumes @ each), tuple(bases), every_end, each


def _ends(
    pool: CheckedPool, aliases: int, split: Split, k: int, given: ClassGivenTotal, rates: VolumeRates
) -> VolumeEnds:
    """Rates of one volume given D and d."""
    waiting = split.total - aliases
    empty = own_queue_empty(split.alias_share[k], split.at_busy, waiting, given.beyond)
    base, held = busy_base_ends(
        pool,
        k,
        rates.gaps,
        split.alias_share[k],
        split.at_busy,
        given.beyond,
        waits=1.0 - empty,
        any_waits=np.where(waiting > 0.0, 1.0, 0.0),
    )
    idle = idle_base_alias_ends(pool, k, rates.gaps, given.beyond)
    ends = base if given.hazard is None else base * given.hazard
    return VolumeEnds(idle, held, ends * (1.0 - empty), ends * empty, base)


def seen_by_volume(law: Array, given: ClassGivenTotal, ends: VolumeEnds, old: VolumeRates) -> VolumeRates:
    """Average the rates over D, as one busy volume with d sees it."""
    weight = given.likelihood * (law * given.busy)[:, None]
    known = weight.sum(axis=0)
    inside = np.flatnonzero(known > TINY)  # a d that the window of D does not have is as the nearest it has
    if not inside.size:  # rates of the volumes ran away
        raise ConvergenceError("mean field of the alias pool: one volume beside the others", np.inf, 0)
    first, last = int(inside[0]), int(inside[-1]) + 1

    def average(values: Array) -> Array:
        result = np.einsum("ij,ij->j", weight, values)
        result[first:last] /= known[first:last]
        result[:first], result[last:] = result[first], result[last - 1]
        return np.asarray(result)

    picks, idles = average(ends.base_picks), average(ends.base_idles)
    return replace(
        old,
        idle_alias_ends=ends.idle_alias_ends,
        alias_ends=average(ends.busy_alias_ends),
        base_picks=picks,
        base_idles=idles,
        base_pace=picks + idles if given.hazard is None else average(ends.base_pace),
    )


def outcome_of(
    pool: CheckedPool,
    aliases: int,
    split: Split,
    classes: list[ClassGivenTotal],
    flows: PoolFlows,
    bases: tuple[BaseFlows, ...],
    alias_ends: Array,
    law: Array,
) -> Outcome:
    """Average over D.

    Aliases serve what comes to them, tries less fails and what they pick up, each for as long as they do given D.
    """
    full = split.total >= aliases
    busy = np.array([given.busy @ law for given in classes])
    tries = np.array([base.tries @ law for base in bases])
    unhindered = [
        (1.0 - given.busy) * base.arrivals @ law for given, base in zip(classes, bases, strict=True)
    ]
    base_pickups = np.array([base.pickups @ law for base in bases])
    share = split.waiting / np.maximum(split.total - aliases, 1.0)
    alias_pickups = (share * flows.alias_ends) @ law / pool.volumes
    fails = np.array([base.tries[full] @ law[full] for base in bases])
    free_law, tries_by_free = by_free(aliases, flows, law)
    held, ended = (split.held - split.waiting) @ law / pool.volumes, alias_ends @ law
    each = np.divide(held, ended, out=pool.service + 0.0 * held, where=ended > TINY)
    return Outcome(
        throughput=np.where(pool.closed, np.array(unhindered) + tries, pool.arrival_rate),
        tries=tries,
        fails=fails,
        queue=split.waiting @ law / pool.volumes,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=busy - pool.redrive_time * base_pickups,
        alias_in_service=(tries - fails + alias_pickups) * each - pool.alias_redrive_time * alias_pickups,
        free_law=free_law,
        tries_by_free=tries_by_free,
        residual=np.inf,
    )


def _mean(weight: Array, values: Array) -> Array:
    """Average over d at each D."""
    return np.asarray(np.einsum("ij,ij->i", weight, values))
