"""Flows of a pool given D, what one volume sees of them, and what they amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing.pools.field.base_balance import BaseFlows, PoolFlows
from planner.queueing.pools.field.device_rates import Gaps, busy_base_ends, idle_base_alias_ends
from planner.queueing.pools.field.given_total import ClassGroup, GivenTotal
from planner.queueing.pools.field.volume_law import VolumeRates, arrival_rates
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

NOTHING: Final = 1e-9
"""I/Os beyond the bases, as the volumes have them, up to which they are not scaled to D."""
MAX_NEWTON = 30
"""Steps of Newton's method to the split at most."""
CELLS_AT_ONCE: Final = 30_000
"""Numbers of D by d of which rates are found at a time."""
CLOSE = 1e-12
"""Share that is taken for 0, and for all."""
LARGEST_EXPONENT: Final = 700.0
"""Of e, as a number."""


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
    weight, share = held_or_waiting[:, some] / total[some], share[some]
    target = _logit(share)
    log_x = target - log_odds @ weight
    low, high = target - log_odds.max(), target - log_odds.min()  # the mean of the classes lies between them
    for _ in range(MAX_NEWTON):
        each = _logistic(log_x + log_odds[:, None])
        waits = weight * each
        mean = waits.sum(axis=0)
        below = mean < share
        low, high = np.where(below, log_x, low), np.where(below, high, log_x)
        # Newton in the logit; where the mean is lost to rounding or the step leaves the bracket, halve that.
        inner = np.minimum(np.maximum(mean, CLOSE), 1.0 - CLOSE)
        slope = (waits * (1.0 - each)).sum(axis=0) / (inner * (1.0 - inner))
        newton = log_x + (target - _logit(inner)) / np.maximum(slope, CLOSE)
        following = np.where((low <= newton) & (newton <= high), newton, 0.5 * (low + high))
        step, log_x = following - log_x, following
        if np.abs(step).max(initial=0.0) < CLOSE**0.5:
            break
    shares[:, some] = _logistic(log_x + log_odds[:, None])
    return shares


def own_queue_empty(alias_share: Array, at_busy: Array, waiting: Array, beyond: Array) -> Array:
    """Probability that none of the d I/Os beyond the base of one volume waits, shape (classes, D, d).

    Of the I/Os at busy-base volumes `alias_share` hold an alias; that all d of one volume do is
    hypergeometric: the product over j < d of (share x total - j)+ / (total - j).
    """
    some = slice(int((waiting <= 0.0).sum()), None)
    drawn, at_busy = beyond[:-1], at_busy[some, None]
    chance = np.ones((len(alias_share), waiting.size, beyond.size))
    held = np.maximum(alias_share[:, some, None] * at_busy - drawn, 0.0)
    held /= np.maximum(at_busy - drawn, CLOSE)
    np.minimum(held, 1.0, out=held)
    np.cumprod(held, axis=-1, out=chance[:, some, 1:])
    return chance


def _logistic(value: Array) -> Array:
    """Inverse of the logit, as good as 0 far below."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(-value, LARGEST_EXPONENT))))


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
    """Rates at which the devices of one volume of each class of a group end I/Os."""

    idle_alias_ends: Array  # Of its aliases while its base is idle, shape (classes, d) [1/service time]
    # With its base busy: of its aliases, of the base to its own queue, of the base to rest, shape (classes, D, d)
    # [1/service time]
    busy_alias_ends: Array
    base_picks: Array
    base_idles: Array
    base_pace: Array  # Of the base, did it end independently of d, shape (classes, D, d) [1/service time]


def split_of(pool: CheckedPool, aliases: int, given: GivenTotal, rates: tuple[VolumeRates, ...]) -> Split:
    """Split D over the classes and its waiting part over those with a busy base."""
    total = given.total
    idle = pool.volumes[:, None] * (1.0 - given.busy) * given.beyond_idle
    busy = pool.volumes[:, None] * given.busy * given.beyond_busy
    predicted = idle.sum(axis=0) + busy.sum(axis=0)
    scale = np.divide(total, predicted, out=np.ones_like(total), where=predicted > NOTHING)
    idle, busy = idle * scale, busy * scale
    waiting = np.maximum(total - aliases, 0.0)
    share = waiting_shares(busy, np.array([each.log_odds for each in rates]), waiting)
    return Split(total, idle + busy, busy * share, 1.0 - share, total - idle.sum(axis=0), scale)


def flows_of(
    pool: CheckedPool, aliases: int, split: Split, given: GivenTotal, rates: tuple[VolumeRates, ...]
) -> tuple[PoolFlows, BaseFlows, list[VolumeEnds], Array]:
    """Flows of the pool and of every class given D; the last are the I/Os that aliases of one volume end."""
    flows, every_end = np.empty((6, pool.classes, split.total.size)), []
    for group in given.groups:
        classes, idle, busy = group.classes.tolist(), group.weight_idle, group.weight_busy
        end = _ends(pool, aliases, split, group, [rates[k].gaps for k in classes])
        each = np.array([arrival_rates(pool, k, group.beyond.size) for k in classes])
        flows[:, group.classes] = (
            _mean_of_d(idle, each[:, 0]),
            _mean(busy, end.base_idles),
            _mean_of_d(busy, each[:, 1]),
            _mean(busy, end.base_picks),
            _mean_of_d(idle, end.idle_alias_ends),
            _mean(busy, end.busy_alias_ends),
        )
        every_end.append(end)
    arrivals, idles, tries, pickups, idle_ends, busy_ends = flows
    bases = BaseFlows(arrivals, idles, given.busy * tries, given.busy * pickups)
    alias_ends = split.scale * ((1.0 - given.busy) * idle_ends + given.busy * busy_ends)
    whole = (pool.volumes @ each for each in (bases.tries, bases.pickups, alias_ends))
    return PoolFlows(split.total, *whole), bases, every_end, alias_ends


def _ends(pool: CheckedPool, aliases: int, split: Split, group: ClassGroup, gaps: list[Gaps]) -> VolumeEnds:
    """Rates of one volume of each class given D and d, some D at a time so that what they pass through stays near."""
    levels, (classes, _, size) = split.total.size, group.weight_idle.shape
    service, (base_gap, alias_gap) = pool.service[group.classes, None], _columns(gaps)
    idle = idle_base_alias_ends(pool, service, alias_gap, group.beyond)
    step = max(CELLS_AT_ONCE // (classes * size), 1)
    if levels <= step:
        return VolumeEnds(idle, *_busy_ends(pool, aliases, split, group, (base_gap, alias_gap), slice(None)))
    ends = np.empty((4, classes, levels, size))
    for first in range(0, levels, step):
        rows = slice(first, first + step)
        for whole, part in zip(
            ends, _busy_ends(pool, aliases, split, group, (base_gap, alias_gap), rows), strict=True
        ):
            whole[:, rows] = part
    return VolumeEnds(idle, *ends)


def _columns(gaps: list[Gaps]) -> Array:
    """Mean gaps of bases and of aliases, shape (2, classes, 1)."""
    return np.array([(each.base, each.alias) for each in gaps]).T[..., None]


def _busy_ends(
    pool: CheckedPool, aliases: int, split: Split, group: ClassGroup, gaps: tuple[Array, Array], rows: slice
) -> tuple[Array, Array, Array, Array]:
    """The last four of `VolumeEnds` at some D."""
    waiting, share, at_busy = (
        split.total[rows] - aliases,
        split.alias_share[group.classes, rows],
        split.at_busy[rows],
    )
    empty = own_queue_empty(share, at_busy, waiting, group.beyond)
    waits = 1.0 - empty
    base_gap, alias_gap = gaps
    base, held = busy_base_ends(
        pool,
        pool.service[group.classes, None, None],
        base_gap[:, None],
        alias_gap[:, None],
        share[..., None],
        at_busy[:, None],
        group.beyond,
        waits=waits,
        any_waits=np.where(waiting > 0.0, 1.0, 0.0)[:, None],
    )
    ends = base if group.hazard is None else base * group.hazard[:, rows]
    return held, ends * waits, ends * empty, base


def seen_by_volume(
    law: Array, given: GivenTotal, group: ClassGroup, ends: VolumeEnds, gaps: list[Gaps], log_odds: Array
) -> dict[int, VolumeRates]:
    """Average the rates over D, as one busy volume with d of each class of a group sees it."""
    weight = group.likelihood * (law * given.busy[group.classes])[..., None]
    known = weight.sum(axis=1)
    every = [ends.busy_alias_ends, ends.base_picks, ends.base_idles]
    if group.hazard is not None:
        every.append(ends.base_pace)
    seen = np.array([np.einsum("kij,kij->kj", weight, values) for values in every])
    if not (known > TINY).all():  # a d that the window of D does not have is as the nearest it has
        at = _nearest(known > TINY, group.sizes)
        seen, known = seen[(slice(None), *at)], known[at]
    seen /= known
    aliases, picks, idles = seen[:3]
    pace = picks + idles if group.hazard is None else seen[3]
    return {
        k: VolumeRates(
            idle_alias_ends=ends.idle_alias_ends[row, :size],
            alias_ends=aliases[row, :size],
            base_picks=picks[row, :size],
            base_idles=idles[row, :size],
            base_pace=pace[row, :size],
            gaps=gaps[k],
            log_odds=float(log_odds[k]),
        )
        for row, (k, size) in enumerate(zip(group.classes.tolist(), group.sizes, strict=True))
    }


def _nearest(known: NDArray[np.bool_], sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Class and d of the nearest d that is known, shape (classes, d)."""
    beyond = np.arange(known.shape[1])
    known = known & (beyond < np.array(sizes)[:, None])
    if not known.any(axis=1).all():  # rates of the volumes ran away
        raise ConvergenceError("mean field of the alias pool: one volume beside the others", np.inf, 0)
    first, last = known.argmax(axis=1), beyond[-1] - known[:, ::-1].argmax(axis=1)
    return np.arange(len(known))[:, None], np.clip(beyond, first[:, None], last[:, None])


def outcome_of(
    pool: CheckedPool,
    aliases: int,
    split: Split,
    busy: Array,
    flows: PoolFlows,
    bases: BaseFlows,
    alias_ends: Array,
    law: Array,
) -> Outcome:
    """Average over D; `busy` are the bases given D.

    Aliases serve what comes to them, tries less fails and what they pick up, each for as long as they do given D.
    """
    full = split.total >= aliases
    tries, base_pickups = bases.tries @ law, bases.pickups @ law
    unhindered = ((1.0 - busy) * bases.arrivals) @ law
    share = split.waiting / np.maximum(split.total - aliases, 1.0)
    alias_pickups = (share * flows.alias_ends) @ law / pool.volumes
    fails = bases.tries[:, full] @ law[full]
    free_law, tries_by_free = by_free(aliases, flows, law)
    held, ended = (split.held - split.waiting) @ law / pool.volumes, alias_ends @ law
    each = np.divide(held, ended, out=pool.service + 0.0 * held, where=ended > TINY)
    return Outcome(
        throughput=np.where(pool.closed, unhindered + tries, pool.arrival_rate),
        tries=tries,
        fails=fails,
        queue=split.waiting @ law / pool.volumes,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=busy @ law - pool.redrive_time * base_pickups,
        alias_in_service=(tries - fails + alias_pickups) * each - pool.alias_redrive_time * alias_pickups,
        free_law=free_law,
        tries_by_free=tries_by_free,
        residual=np.inf,
    )


def _mean(weight: Array, values: Array) -> Array:
    """Average over d at each D."""
    return np.asarray(np.einsum("kij,kij->ki", weight, values))


def _mean_of_d(weight: Array, values: Array) -> Array:
    """The same of what depends on the class and d alone."""
    return np.asarray((weight @ values[..., None])[..., 0])
