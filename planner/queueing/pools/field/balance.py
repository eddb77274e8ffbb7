"""Balances of one volume against the pool, given D: base busy, I/Os waiting, aliases held; the distribution of D."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.queueing.checks import TINY
from planner.queueing.pools.field.elements import PoolElements, State
from planner.queueing.pools.field.given_total import GivenTotal, Split, ratio
from planner.results import Array, Flags


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows given D: of one volume, shape (elements, classes, D), and of the pool, shape (elements, D)."""

    arrivals: Array  # Arrival rate while the base is idle [1/service time]
    idles: Array  # Rate at which the busy base ends with its own queue empty [1/service time]
    tries: Array  # Arrivals that find the base busy [1/service time]
    pickups: Array  # I/Os that the base takes from its own queue [1/service time]
    alias_ends: Array  # I/Os that aliases of the volume end [1/service time]
    ends_idle: Array  # I/Os that the aliases of the pool end while its base is idle [1/service time]
    arrivals_beside: Array  # Arrivals while the base is busy, as seen by an I/O beyond it [1/service time]
    ends_beside: Array  # I/Os that the busy base ends, as seen by an I/O beyond it [1/service time]
    pool_tries: Array  # D rises [1/service time]
    pool_pickups: Array  # D falls [1/service time]
    pool_ends: Array  # D falls [1/service time]

    @cached_property
    def steps(self) -> Array:
        """Logarithm of ``p(D+1) / p(D) = tries(D) / falls(D+1)``, shape (elements, D - 1) [1]."""
        falls = np.maximum(self.pool_pickups + self.pool_ends, TINY)
        return np.log(np.maximum(self.pool_tries[:, :-1], TINY)) - np.log(falls[:, 1:])

    def distribution(self, given: GivenTotal, most: Array) -> Array:
        """Distribution of D, shape (elements, D) [1]."""
        steps, total = self.steps, np.arange(self.pool_tries.shape[-1])
        possible = given.known & (total <= most[:, None])
        # Steps between unknown D count as 0.
        logs = np.zeros_like(self.pool_tries)
        np.cumsum(np.where(possible[:, 1:] & possible[:, :-1], steps, 0.0), axis=-1, out=logs[:, 1:])
        logs = np.where(possible, logs, -np.inf)
        distribution = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(distribution / distribution.sum(axis=-1, keepdims=True))


def busy_given_total(elements: PoolElements, state: State, given: GivenTotal) -> Array:
    """Probability that a base is busy given D, shape (elements, classes, D): from its balance once flows are known.

    While the base is idle, D changes only by the other volumes' tries and pickups and by the aliases, which couples the
    probability at D to those at D - 1 and D + 1: a diagonally dominant tridiagonal system. The systems of all classes
    and elements are concatenated, with zeros between the last D of one and the first of the next. Volumes that do not
    interact need none: they are independent except for their sum.
    """
    balanced = state.meet(elements)
    if not balanced.any():
        return given.busy_share
    count = elements.volumes[..., None]
    own = np.array([state.tries_given, state.picks_given])
    tries, pickups = (count * own).sum(axis=-2, keepdims=True)
    ends, total = state.ends_given[:, None], np.arange(tries.shape[-1])
    others_try = np.maximum(tries - state.tries_given, 0.0)
    others_try[..., -1] = 0.0
    others_try = np.where(total < elements.most_beyond[:, None, None], others_try, 0.0)
    falls_while_idle = state.ends_idle_given + np.maximum(pickups - state.picks_given, 0.0)
    falls = ends + pickups
    idle = _over_totals(
        state.arrivals_given + state.idles_given + others_try + falls_while_idle,
        falls[..., 1:] * ratio(others_try, tries)[..., :-1],
        tries[..., :-1] * ratio(falls_while_idle, falls)[..., 1:],
        state.idles_given,
        given.known[:, None],
    )
    busy = 1.0 - np.minimum(np.maximum(idle, 0.0), 1.0)
    busy = np.where(given.never_idle, 1.0, np.where(given.per_busy > 0.0, busy, 0.0))
    return np.where(balanced[:, None, None], busy, given.busy_share)


def waiting_and_held(
    elements: PoolElements, given: GivenTotal, parts: Split, flows: Flows, meet: Flags
) -> tuple[Array, Array]:
    """I/Os of one volume that wait, and that hold an alias, given D, shape (elements, classes, D) each.

    If volumes do not `meet` (interact) in the next pass, their own distributions are used.

    The mean number q(D) of a volume decreases at some falls of D and increases at some rises; events at other volumes
    only carry it to D + 1 or D - 1. With p the distribution of D, ``T`` its rises and ``F`` its falls as seen by q,
    ``p(D) (T + F)(D) q(D) = p(D-1) (T q + gain)(D-1) + p(D+1) (F q - loss + found)(D+1)``:

    * waiting I/Os gain the tries that find no alias free; each of the W waiting is lost to its base, or to one W-th of
      the ending aliases. It sees its own base, and of the other pickups those of the other W - 1;
    * I/Os on aliases gain the tries that find one free and are lost when they end; when an alias ends while I/Os wait,
      a volume gains in proportion to its waiting I/Os.

    What one volume has above its mean, the others lack. Others whose requesters return at once then try as often as at
    a smaller D; if all volumes are closed, the others' tries grow with their thinking requesters.
    """
    volumes, total = elements.volumes[..., None], np.arange(flows.pool_tries.shape[-1])
    queue, held = parts.waiting, parts.held
    if volumes.shape[1] == 1 or not meet.any():  # all volumes equal, or none interact
        return queue, held
    bounded = np.asarray(elements.closed.all(axis=-1))[:, None, None]
    waits, holds = given.waits[:, None], given.holds[:, None]
    below = total < elements.aliases[:, None, None]
    tries, pickups, ends = (each[:, None] for each in (flows.pool_tries, flows.pool_pickups, flows.pool_ends))
    most = np.minimum(elements.most_beyond, total.size - 1.0)[:, None, None]
    rising = (tries > 0.0) & np.asarray(total < most)

    def over_volumes(values: Array) -> Array:
        return np.asarray((volumes * values).sum(axis=-2, keepdims=True))

    def seen(own: Array, others: Array, whole: Array, weight: Array) -> Array:
        """Rate seen by an I/O: its own volume's, plus the others', scaled so that the volumes together see `whole`."""
        every, by_own = over_volumes(weight) * whole, over_volumes(weight * own)
        left = ratio(np.maximum(every - by_own, 0.0), over_volumes(weight * others))
        found = own + np.where(bounded, others, others * left)
        return np.asarray(found * ratio(every, over_volumes(weight * found)))

    # Each waiting I/O is picked up by its base; a single one sees no other pickup. Other bases pick up W - 1 instead of
    # W, which matters less if their queues are longer.
    each = np.minimum(ratio(flows.pickups, queue), flows.ends_beside)
    longer = np.maximum(ratio(queue * flows.ends_beside, flows.pickups, 1.0) - 1.0, 0.0) * flows.pickups
    others_pick = np.maximum(pickups - flows.pickups, 0.0)
    longer = np.maximum(ratio(over_volumes(longer) - longer, others_pick), 0.0)
    fewer = ratio(np.maximum(waits - 1.0, 0.0), waits)
    shorter = others_pick * fewer * (1.0 + longer) / (1.0 + longer * fewer)
    think_rate = np.where(elements.closed, elements.trusted / elements.think_time, 0.0)[..., None]
    others_try = np.maximum(tries - flows.tries, 0.0)
    if elements.closed.any():
        present = held + queue
        others = over_volumes(present) - present
        more = np.minimum(np.maximum(1.0 + given.beside - present, 0.0), others)
        think_rate_of_others = ratio(over_volumes(think_rate * present) - think_rate * present, others)
        think_rate_of_others = np.where(bounded, think_rate_of_others, 0.0)
        by_distribution = (1.0 - elements.trusted[..., None]) * flows.tries
        fall = np.zeros_like(by_distribution)
        fall[..., 1:] = np.maximum(by_distribution[..., :-1] - by_distribution[..., 1:], 0.0)
        others_try += more * (think_rate_of_others + over_volumes(fall) - fall)
    at_busy = ratio(parts.held - parts.held_idle, parts.held)
    own = at_busy * flows.ends_beside * np.minimum(given.beside * (1.0 - parts.alias_share), 1.0)
    tries_seen, picks_seen, tries_held, picks_held = seen(
        np.array([
            flows.arrivals_beside, np.where(waits == 1.0, each, flows.ends_beside),
            at_busy * flows.arrivals_beside, own,
        ]),
        np.array([others_try, shorter, others_try, others_pick]),
        np.array([tries, pickups, tries, pickups]),
        np.array([queue, queue, held, held]),
    )  # fmt: skip
    steps = np.minimum(np.maximum(flows.steps, -300.0), 300.0)[:, None]
    ups_and_downs = np.exp(steps), np.exp(-steps)
    waiting = _carried(
        ups_and_downs,
        (np.where(rising, tries_seen, 0.0), picks_seen + ends),
        (flows.tries, np.where(rising, think_rate, 0.0), queue),
        each + ratio(ends, waits),
        np.zeros_like(queue),
        given.known[:, None] & (waits > 0.0),
    )
    waiting = np.minimum(waiting, elements.most_of_one[..., None] - 1.0)
    picks = np.where(bounded, picks_held, pickups)
    end_rate = ratio(flows.alias_ends, held, 1.0 / elements.service[..., None])
    holding = _carried(
        ups_and_downs,
        (
            np.where(rising, tries_held, 0.0),
            picks + np.maximum(ends - ratio(ends, holds), 0.0) + end_rate,
        ),
        (np.where(below, flows.tries, 0.0), np.where(below & rising, think_rate, 0.0), held),
        end_rate,
        waiting * ratio(ends, waits),
        given.known[:, None] & (holds > 0.0),
    )
    return waiting, holding


def _carried(
    ups_and_downs: tuple[Array, ...],
    moves: tuple[Array, Array],
    gains: tuple[Array, Array, Array],
    loss: Array,
    found: Array,
    here: Flags,
) -> Array:
    """Mean number of a volume given D, 0 where it must be 0; shape (elements, classes, D) each.

    `gains` are the gain at the previous number, its decrease per unit, and that number; `ups_and_downs` are
    ``p(D+1) / p(D)`` and ``p(D) / p(D+1)``.
    """
    (up, down), (rises, falls), (gain, fewer, before) = ups_and_downs, moves, gains
    right = np.zeros(rises.shape)
    right[..., 1:] = down * (gain + fewer * before)[..., :-1]
    right[..., :-1] += up * found[..., 1:]
    from_below, from_above = down * (rises - fewer)[..., :-1], up * np.maximum(falls - loss, 0.0)[..., 1:]
    return np.maximum(_over_totals(rises + falls, from_below, from_above, right, here), 0.0)


def _over_totals(diagonal: Array, from_below: Array, from_above: Array, right: Array, here: Flags) -> Array:
    """Solve balances that couple each D to D - 1 and D + 1; 0 where not `here`."""
    from scipy.linalg.lapack import dgtsv

    here = here & (diagonal > TINY)
    right, diagonal = np.where(here, right, 0.0), np.where(here, diagonal, 1.0)
    pair = here[..., 1:] & here[..., :-1]
    below, above = np.zeros(diagonal.shape), np.zeros(diagonal.shape)
    below[..., 1:], above[..., :-1] = np.where(pair, -from_below, 0.0), np.where(pair, -from_above, 0.0)
    if diagonal.shape[-1] == 1:
        return right / diagonal
    *_, solution, _ = dgtsv(below.ravel()[1:], diagonal.ravel(), above.ravel()[:-1], right.ravel())
    return np.asarray(solution).reshape(diagonal.shape)
