"""The volumes of a pool given D, and how the I/Os that wait lie on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import Elements, State
from planner.queueing.pools.field.volume_law import fitted_tilts, of_the_others, tilted, volume_law
from planner.results import Array

CLOSE: Final = 1e-12
"""Share that is taken for 0, and for all."""


def ratio(part: Array | float, whole: Array, otherwise: float | Array = 0.0) -> Array:
    """Quotient, and what to take where there is nothing to divide by; callers ignore what that raises."""
    return np.where(whole > TINY, part / whole, otherwise)


@dataclass(frozen=True, eq=False)
class GivenTotal:
    """Volumes given D, under their laws as if independent but for their sum; shape (elements, classes, D) each."""

    busy: Array  # Weight of d with the base busy, shape (elements, classes, D, d) [1]
    per_busy: Array  # One over the sum of these weights, 0 where a base cannot be busy [1]
    busy_share: Array  # Probability that the base is busy [1]
    beyond_idle: Array  # Mean d with the base idle, busy [1]
    beyond_busy: Array
    arrivals_idle: Array  # Mean arrival rate with the base idle, busy [1/service time]
    arrivals_busy: Array
    beside: Array  # Other I/Os beyond the base that one at a busy-base volume sees there [1]
    arrivals_beside: Array  # Mean arrival rate with the base busy, weighted by d [1/service time]
    ends_idle: Array  # Mean rate at which aliases end with the base idle [1/service time]
    never_idle: NDArray[np.bool_]  # Where a base cannot be idle
    known: NDArray[np.bool_]  # D that rounding does not hide, shape (elements, D)
    waits: Array  # I/Os of the pool that wait, shape (elements, D) [1]
    holds: Array  # Aliases that are busy, shape (elements, D) [1]
    log_tilt: Array  # Logarithms of the tilts, shape (elements, tilts) [1]
    tail: Array  # Largest probability of the last d of a volume that may have more, shape (elements,) [1]


def given_total(
    elements: Elements, state: State, arrivals: tuple[Array, Array], idle_ends: Array
) -> GivenTotal:
    """Condition one volume of each class on D: a law of its own, times that of all others at the rest of D."""
    totals, size = state.ends_given.shape[-1], idle_ends.shape[-1]
    log_busy, idle_to_busy = volume_law(elements, state, *arrivals, idle_ends)
    log_law = log_busy + np.log1p(idle_to_busy)
    log_tilt = fitted_tilts(elements, state, log_law)
    others = of_the_others(elements, log_law, log_tilt, totals)
    own = tilted(log_busy, log_tilt[:, log_tilt.shape[-1] // 2, None])[:, 0]
    idle, beyond = own * idle_to_busy, np.arange(float(size))
    rest = np.array(sliding_window_view(others, size, axis=-1)[..., ::-1], order="C")  # of D - d
    wanted = [idle, idle * beyond, idle * arrivals[0], idle * idle_ends, own, own * beyond, own * arrivals[1]]
    wanted += [wanted[-1] * beyond, own * beyond * np.maximum(beyond - 1.0, 0.0)]
    sums = (rest @ np.stack(wanted, axis=-1)).transpose(3, 0, 1, 2)
    per_idle, per_busy = ratio(1.0, sums[0]), ratio(1.0, sums[4])
    both = sums[0] + sums[4]
    known = ((both > 0.0) | (elements.volumes[..., None] == 0.0)).all(axis=1)
    law = np.exp(log_busy) * (1.0 + idle_to_busy)
    longer = (elements.most_of_one > size) & (elements.volumes > 0.0)
    rest *= own[:, :, None]
    waits, holds = elements.waits_and_holds(totals)
    return GivenTotal(
        busy=rest,
        per_busy=per_busy,
        busy_share=ratio(sums[4], both),
        beyond_idle=sums[1] * per_idle,
        beyond_busy=sums[5] * per_busy,
        arrivals_idle=sums[2] * per_idle,
        arrivals_busy=sums[6] * per_busy,
        beside=ratio(sums[8], sums[5]),
        arrivals_beside=ratio(sums[7], sums[5]),
        ends_idle=sums[3] * per_idle,
        never_idle=sums[0] <= 0.0,
        known=_around_the_mean(known, state.mean_total),
        waits=waits,
        holds=holds,
        log_tilt=log_tilt,
        tail=np.where(longer, law[..., -1] / law.sum(axis=-1), 0.0).max(axis=-1),
    )


def _around_the_mean(known: NDArray[np.bool_], mean: Array) -> NDArray[np.bool_]:
    """Of what is known the stretch around the mean."""
    if known.all():
        return known
    at = np.clip(np.rint(mean), 0, known.shape[-1] - 1).astype(np.int64)[:, None]
    gaps = np.cumsum(~known, axis=-1)
    return np.asarray(known & (gaps == np.take_along_axis(gaps, at, axis=-1)))


@dataclass(frozen=True, eq=False)
class Split:
    """The I/Os that no base holds, given D; of a class shape (elements, classes, D)."""

    held: Array  # Of a class, on aliases [1]
    held_idle: Array  # Of a class, on aliases while the base is idle [1]
    waiting: Array  # Of a class, waiting [1]
    alias_share: Array  # Share that holds an alias of those at busy-base volumes [1]
    at_busy: Array  # Of all classes at busy-base volumes, shape (elements, D) [1]


def split(elements: Elements, state: State, given: GivenTotal, busy: Array) -> Split:
    """Split D over the classes, on aliases and waiting: as their balances say, once they are known.

    Before, and for volumes that do not meet, as their laws say, whoever waits.
    """
    count, total = elements.volumes[..., None], np.arange(float(busy.shape[-1]))
    waits, holds = given.waits, given.holds
    idle, at_busy = count * (1.0 - busy) * given.beyond_idle, count * busy * given.beyond_busy
    idle, at_busy = np.array([idle, at_busy]) * ratio(total, (idle + at_busy).sum(axis=1), 1.0)[:, None]
    share = np.minimum(ratio(waits, at_busy.sum(axis=1)), 1.0 - CLOSE)[:, None]
    meet = state.meet(elements)
    held, waiting = (
        _normalized(np.where(_some(count * balance, whole, meet), count * balance, by_law), whole)
        for balance, by_law, whole in (
            (state.held_given, idle + at_busy * (1.0 - share), holds),
            (state.queue_given, at_busy * share, waits),
        )
    )
    little = 0.02  # share of what a class holds that busy bases hold at least, and that waits
    idle = np.minimum(idle, (1.0 - little) * held)
    trusted = elements.trusted[..., None]
    change = trusted + (1.0 - trusted) * ratio(at_busy, held - idle + waiting, 1.0)
    held, waiting = _normalized(idle + (held - idle) * change, holds), _normalized(waiting * change, waits)
    room = count * (elements.population[..., None] - 1.0) * busy - (held - idle)  # for what waits
    room = np.where(elements.closed[..., None], np.maximum(room, little * waiting), np.inf)
    waiting = _normalized(np.minimum(waiting, room), waits)
    at_busy = held - idle + waiting
    return Split(held, idle, waiting, ratio(held - idle, at_busy, 1.0), at_busy.sum(axis=1))


def _some(values: Array, whole: Array, meet: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where the balances of classes are known, shape (elements, 1, D)."""
    known = 1e-3  # share of the pool's I/Os below which they have not been looked at
    return np.asarray(meet[:, None] & (values.sum(axis=1) > known * whole))[:, None]


def _normalized(values: Array, whole: Array) -> Array:
    """Values that sum to the whole over the classes."""
    return np.asarray(values * ratio(whole, values.sum(axis=1))[:, None])


def own_queue_empty(alias_share: Array, at_busy: Array, waiting: Array, size: int) -> Array:
    """Probability that none of the d I/Os beyond the base of one volume waits, shape (elements, classes, D, d).

    Of the I/Os at busy-base volumes `alias_share` hold an alias; that all d of one volume do is
    hypergeometric: the product over j < d of (share x total - j)+ / (total - j).
    """
    drawn = np.arange(size - 1.0)
    # Where none waits, all d hold one of very many.
    at_busy = np.where(waiting > 0.0, at_busy, 2.0**60)[:, None, :, None]
    chance = np.ones((*alias_share.shape, size))
    held = alias_share[..., None] * at_busy - drawn
    np.maximum(held, 0.0, out=held)
    held *= 1.0 / np.maximum(at_busy - drawn, CLOSE)
    np.minimum(held, 1.0, out=held)
    np.cumprod(held, axis=-1, out=chance[..., 1:])
    return chance
