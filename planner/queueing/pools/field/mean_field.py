"""Any pools: a mean field around D, the I/Os of the pool that no base holds, for many pools and counts at once.

Given D, min(D, A) aliases are busy and (D - A)+ I/Os wait. In each pool, of at least one volume of each class, the
following have to agree; each follows from the others:

1. The distribution of one volume, ``f(b, d)``: whether its base is busy, and the number of I/Os beyond the base.
2. The volumes given D: ``P(b, d | D) ~ f(b, d) R(D - d)``, R the distribution of the sum of all other d (1 and 2:
   `given_total`).
3. The base, given D: its balance against the pool, instead of 2 (`balance`).
4. Waiting I/Os of a volume, and those on aliases, given D: their balances against the pool (`balance`); whether its
   own queue is empty is hypergeometric (`given_total`).
5. Rates of bases and aliases, with inflation and gaps to second order (`device_rates`), the resulting flows, and the
   distribution of D, ``p(D+1) falls(D+1) = p(D) tries(D)`` (`balance`).
6. The rates seen by one volume: those of 5, averaged over D with weight ``P(D | busy, d)``. They give the next 1.

An answer depends on its own pool alone: every sum is over axes of that pool, with sizes chosen for that pool, and
elements that have settled are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner.queueing.checks import TINY
from planner.queueing.pools.field.balance import Flows, busy_given_total, waiting_and_held
from planner.queueing.pools.field.device_rates import busy_base_ends, idle_base_alias_ends
from planner.queueing.pools.field.elements import (
    CAREFUL,
    CREEPING,
    FOLLOWED,
    PoolElements,
    Size,
    State,
    by_size,
    first_sizes,
    rounded,
)
from planner.queueing.pools.field.given_total import (
    GivenTotal,
    Split,
    given_total,
    own_queue_empty,
    ratio,
    split,
)
from planner.queueing.pools.outcome import Outcome
from planner.results import Array, Flags, Integers

SETTLED: Final = 1e-6
"""Change of throughput, queue and service in a pass, over the throughput, below which an element is settled."""
STILL_GOOD: Final = 1e-5
"""Acceptable change after the last pass."""
LEAST_PASSES: Final = 4
MOST_PASSES: Final = 200
FIRST_PASSES: Final = 80
"""Most passes of a first attempt; the second takes smaller steps: of 120 random pools of unequal closed and open
volumes (1 to 29 aliases, inflation .16) as many have an answer with 80 as with 200."""
CUT: Final = 1e-9
"""Probability of the largest D, or d, above which the arrays are enlarged."""
CUT_OFF: Final = 1e-2
"""Probability of the largest d above which the arrays are enlarged fourfold."""
MOST_CELLS: Final = 2_000_000
"""Largest number of D times d of one element, over all classes, that is solved."""
LITTLE_CELLS: Final = 500_000
"""The same for a nearly critical pool: of 120 random ones that wanted more (1 to 3 classes) none converged with it."""
MOST_WORK: Final = 60_000_000
"""Largest number of passes times D times d of one element: several seconds."""
LITTLE_WORK: Final = 15_000_000
"""The same for a nearly critical pool, where the distribution of D may have two distant peaks: a second."""
STEERED: Final = (
    "alias_ends", "base_picks", "base_idles", "arrivals_given", "idles_given", "tries_given", "picks_given",
    "ends_idle_given", "ends_given", "base_gap", "alias_gap",
)  # fmt: skip
"""Fields of a state that are relaxed by `gain`."""


@dataclass(frozen=True, eq=False)
class Pass:
    """Result of one pass."""

    outcome: Outcome  # With distributions by D
    state: State
    edge: Array  # Probability of the largest known D, 0 if there are no larger ones, shape (elements,) [1]
    hidden: Flags  # Whether rounding hides D that matter
    tail: Array  # Probability of the last d of volumes that may have more [1]


def solve_field(elements: PoolElements, cells: int = 240_000) -> tuple[Outcome, Flags]:
    """Solve every element, `cells` numbers of D times d at a time; return the outcome and which ones converged."""
    count, classes = elements.volumes.shape
    outcome = Outcome.empty(elements)
    converged = np.zeros(count, dtype=bool)
    waiting: dict[Size, list[tuple[Integers, State | None]]] = {
        size: [(which, None)]
        for size, which in by_size(*first_sizes(elements), np.ones(count, dtype=np.int64))
        if (LEAST_PASSES - 1) * size.totals * size.beyond * classes <= MOST_WORK
    }
    while waiting:
        size = min(waiting)
        parts = waiting.pop(size)
        which = np.concatenate([part for part, _ in parts])
        state = State.joined(
            [State.first(elements.of(part), size) if begun is None else begun for part, begun in parts]
        )
        step = max(cells // (size.totals * size.beyond * classes), 1)
        if which.size > step:
            waiting[size] = [(which[step:], state.of(slice(step, None)))]
        few = step // 2 if which.size > step else 0
        moved = _settle(elements, which[:step], state.of(slice(step)), size, few, outcome, converged)
        for later, index, begun in moved:
            waiting.setdefault(later, []).append((index, begun))
    return outcome, converged


def _settle(
    elements: PoolElements,
    which: Integers,
    state: State,
    size: Size,
    few: int,
    outcome: Outcome,
    converged: Flags,
) -> list[tuple[Size, Integers, State]]:
    """Iterate until all but `few` have settled, failed or need another size; write settled ones, return the rest.

    The rest continue together with others of their size: a pass of few costs nearly as much as one of many.
    """
    moved = []
    here = elements.of(which)
    while which.size > few:
        found = one_pass(here, state)
        size_of = np.maximum(np.abs(found.state.answer[:, 0]).sum(axis=1), TINY)
        with np.errstate(over="ignore"):  # a diverging element fails
            change = np.abs(found.state.change).sum(axis=(1, 2)) / size_of
        number = found.state.passes
        lost = ~np.isfinite(change)
        totals, beyond, tilts = _wanted(here, found, size)
        wants = (totals != size.totals) | (beyond != size.beyond) | (tilts != size.tilts)
        larger = ~lost & wants & (number > 1) & (number % 2 == 1)
        room = np.where(here.nearly_critical, LITTLE_CELLS, MOST_CELLS)
        too_large = larger & (totals * beyond * here.volumes.shape[1] > room)
        cells = size.totals * size.beyond * here.volumes.shape[1]
        work = np.where(here.nearly_critical, LITTLE_WORK, MOST_WORK)
        most = np.where(state.again, MOST_PASSES, FIRST_PASSES)
        spent = (number >= most) | (number * cells > work)
        enough = np.where(spent, STILL_GOOD, SETTLED)
        settled = ~wants & ~lost & (change <= enough) & (number >= LEAST_PASSES)
        fails = ~settled & (lost | spent | too_large)
        again = fails & ~state.again & ~(spent & here.nearly_critical)  # a second attempt would take as long
        leaves = settled | (fails & ~again)
        if leaves.any():
            # With fewer aliases more I/Os are present, and a nearly critical pool outgrows its room all the more.
            outgrown = fails & here.nearly_critical & (spent | too_large)
            left = replace(found.outcome, residual=np.where(outgrown, np.inf, change)).of(leaves)
            outcome.write(which[leaves], _by_free(here.aliases[leaves], left))
            converged[which[leaves]] = settled[leaves]
        larger &= ~(leaves | again)
        state = found.state
        for bigger, index in by_size(totals[larger], beyond[larger], tilts[larger]) if larger.any() else []:
            at = np.flatnonzero(larger)[index]
            moved.append((bigger, which[at], state.of(at).resized(bigger)))
        if again.any():
            part = here.of(again)
            for first, index in by_size(*first_sizes(part), np.ones(again.sum(), dtype=np.int64)):
                moved.append((first, which[again][index], State.first(part.of(index), first, again=True)))
        stays = ~(leaves | larger | again)
        if not stays.all():
            which, here, state = which[stays], here.of(stays), state.of(stays)
    return [*moved, (size, which, state)] if which.size else moved


def _wanted(elements: PoolElements, found: Pass, size: Size) -> tuple[Integers, Integers, Integers]:
    """Array sizes for D, d and tilts with which each element should continue."""
    cut = np.where(elements.independent, 1e-17, CUT)  # the distribution of independent volumes is exact
    closed = elements.all_closed
    totals = np.where(found.edge > cut, rounded(np.array(size.totals + 1.0), closed), size.totals)
    more = (found.tail > cut) & (size.beyond < totals)
    longer = np.where(found.tail > CUT_OFF, 4.0, 1.0) * size.beyond + 1.0
    beyond = np.where(more, np.minimum(rounded(longer, closed), totals), size.beyond)
    tilts = np.where(found.hidden, min(4 * size.tilts, 16), size.tilts)
    return totals.astype(np.int64), beyond.astype(np.int64), tilts.astype(np.int64)


def one_pass(elements: PoolElements, state: State) -> Pass:
    """Update all distributions once."""
    size = state.alias_ends.shape[-1]
    arrivals = elements.arrivals(size)
    idle_ends = idle_base_alias_ends(elements, state, size)
    with np.errstate(all="ignore"):  # a diverging element leaves the batch as not converged
        given = given_total(elements, state, arrivals, idle_ends)
        busy = busy_given_total(elements, state, given)
        parts = split(elements, state, given, busy)
        empty = own_queue_empty(parts.alias_share, parts.at_busy, given.waits, size)
        base_ends, alias_ends = busy_base_ends(elements, state, parts, empty)
        idles = base_ends * empty
        rates = alias_ends, base_ends - idles, idles
        flows = _flows(elements, given, parts, busy, (alias_ends, base_ends, idles))
        distribution = flows.distribution(given, elements.most_beyond)
        outcome, following = _averages(elements, state, parts, busy, flows, distribution)
        seen = _seen_by_volume(state, given.busy, distribution[:, None] * busy * given.per_busy, rates)
        queue, held = waiting_and_held(elements, given, parts, flows, following.meet(elements))
        following = replace(following, **seen, log_tilt=given.log_tilt, queue_given=queue, held_given=held)
        following = _steered(state, following)
    return Pass(outcome, following, *_edges(elements, given, distribution), given.tail)


def _flows(
    elements: PoolElements, given: GivenTotal, parts: Split, busy: Array, rates: tuple[Array, Array, Array]
) -> Flows:
    """Flows of one volume of each class and of the pool given D; `rates` of aliases, base, and base with empty queue.

    Distributions give the rate per base without a queue, alias, or thinking requester; balances give their numbers. A
    mean queue q is nonempty with probability ``q / (1 + more)``, `more` in proportion to q as if it were geometric.
    """
    beyond = np.arange(float(given.busy.shape[-1]))
    alias_ends, base_ends, idles, beside = (
        np.einsum("ekij,ekij->eki", given.busy, each) * given.per_busy for each in (*rates, beyond * rates[1])
    )
    beside = ratio(beside, given.beyond_busy, base_ends)
    closed, think_time = elements.closed[..., None], elements.think_time[..., None]
    others, idle, held, queue = elements.population[..., None] - 1.0, 1.0 - busy, parts.held, parts.waiting

    queue_by_distribution = busy * given.beyond_busy * (1.0 - parts.alias_share)
    longer = ratio(beside * queue_by_distribution, busy * (base_ends - idles), 1.0) - 1.0
    longer = np.maximum(np.minimum(longer, given.waits[:, None] - 1.0), 0.0)
    queued = queue / (1.0 + longer * ratio(queue, queue_by_distribution, 1.0))
    pickups = np.minimum(beside * queued, busy * base_ends)
    idles = ratio(busy * base_ends - pickups, busy, idles)

    thinks = np.maximum(others * busy - (held - parts.held_idle) - queue, 0.0)
    by_balance = np.where(closed & (given.arrivals_busy > 0.0), thinks / think_time, 0.0)
    tries_by_distribution = busy * given.arrivals_busy
    trusted = np.where(closed, elements.trusted[..., None], 0.0)
    tries = tries_by_distribution + trusted * (by_balance - tries_by_distribution)
    arrivals_beside = given.arrivals_beside * ratio(tries, tries_by_distribution, 1.0)
    held_idle = ratio(parts.held_idle, idle, given.beyond_idle)
    arrivals = np.where(closed, np.maximum(others + 1.0 - held_idle, 0.0) / think_time, given.arrivals_idle)
    held_by_distribution = idle * given.beyond_idle + busy * given.beyond_busy * parts.alias_share
    end_rate = ratio(
        idle * given.ends_idle + busy * alias_ends, held_by_distribution, 1.0 / elements.service[..., None]
    )
    ends = held * end_rate
    whole = (elements.volumes[..., None] * np.array([tries, pickups, ends])).sum(axis=-2)
    # While a base is idle, the aliases that its volume does not hold belong to others.
    holds = given.holds[:, None]
    elsewhere = ratio(whole[2][:, None] - ends, holds - held, end_rate)
    held_idle = np.minimum(held_idle, holds)
    ends_idle = held_idle * end_rate + (holds - held_idle) * elsewhere
    return Flows(arrivals, idles, tries, pickups, ends, ends_idle, arrivals_beside, beside, *whole)


def _averages(
    elements: PoolElements,
    state: State,
    parts: Split,
    busy: Array,
    flows: Flows,
    distribution: Array,
) -> tuple[Outcome, State]:
    """Average over D: the outcome, with distributions still by D, and the next state except for its rates.

    Aliases serve tries less fails and what they pick up, each with the service time given D.
    """
    total = np.arange(float(distribution.shape[-1]))
    full = total >= elements.aliases[:, None]
    part = parts.waiting / np.maximum(total - elements.aliases[:, None], 1.0)[:, None]
    by_total = np.array([
        flows.tries, np.where(full[:, None], flows.tries, 0.0), flows.pickups, part * flows.pool_ends[:, None],
        (1.0 - busy) * flows.arrivals, parts.held, parts.waiting, flows.alias_ends, busy,
    ])  # fmt: skip
    tries, fails, base_pickups, alias_pickups, unhindered, held, waiting, ended, in_use = (
        by_total * distribution[:, None]
    ).sum(axis=-1)
    # Each I/O that failed is picked up once, by base or alias.
    scale = ratio(fails, base_pickups + alias_pickups, 1.0)
    base_pickups, alias_pickups = scale * base_pickups, scale * alias_pickups
    throughput = np.where(elements.closed, unhindered + tries, elements.arrival_rate)
    each = ratio(held, ended, elements.service)
    gap = elements.redrive_time[:, None]
    served = tries - fails + alias_pickups
    outcome = Outcome(
        throughput=throughput,
        tries=tries,
        fails=fails,
        queue=waiting,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=in_use - gap * base_pickups,
        alias_in_service=served * each - gap * alias_pickups,
        free_distribution=distribution,
        residual=np.full(distribution.shape[0], np.inf),
        stable=np.ones(distribution.shape[0], dtype=bool),
    )
    in_service = outcome.base_in_service + outcome.alias_in_service
    answer = np.stack([outcome.throughput, outcome.queue, in_service], axis=1)
    change = answer - state.answer
    reach = np.where(distribution > CUT, total, np.nan)
    # Waiting I/Os of the pool below which its volumes do not interact, and above which they do again.
    nobody, somebody = 1e-9, 1e-6
    in_all = (elements.volumes * outcome.queue).sum(axis=-1)
    following = replace(
        state,
        passes=state.passes + 1,
        nobody_waits=((state.passes == 1) | state.nobody_waits)
        & (in_all < np.where(state.nobody_waits, somebody, nobody)),
        answer=answer,
        change=change,
        base_gap=gap * base_pickups / np.maximum(throughput - tries + base_pickups, TINY),
        alias_gap=gap * alias_pickups / np.maximum(served, TINY),
        mean_total=(distribution * total).sum(axis=-1),
        least_total=np.fmin.reduce(reach, axis=-1),
        largest_total=np.fmax.reduce(reach, axis=-1),
        arrivals_given=flows.arrivals,
        idles_given=flows.idles,
        tries_given=flows.tries,
        picks_given=flows.pickups,
        ends_given=flows.pool_ends,
        ends_idle_given=flows.ends_idle,
    )
    return outcome, following


def _steered(state: State, found: State, *, turns: float = 0.25, creeps: float = 0.6, soon: int = 4) -> State:
    """Relax the step from one state to the next, full steps in the first passes (Aitken's relaxation).

    If a change reverses part of the last one, ``kept`` < 0, a factor of ``gain / (1 - kept)`` leads to their common
    limit; a factor that was too small, with ``kept`` near 1, is enlarged again.
    """
    axes = (1, 2)
    kept = ratio((found.change * state.change).sum(axis=axes), np.square(state.change).sum(axis=axes))
    swings, slow = kept < -turns, (kept > creeps) & (state.gain < 1.0)
    factor = 1.0 / (1.0 - np.minimum(np.maximum(kept, -2.0), 0.5))
    gain = np.where((swings | slow) & (state.passes >= soon), factor, 1.0) * state.gain
    least, most = np.where(state.again, [[CREEPING], [CAREFUL]], [[CAREFUL], [1.0]])
    gain = np.minimum(np.maximum(gain, least), most)
    # Occasionally the numbers from balances are extrapolated to their limit: successive changes shrink by a constant
    # factor.
    every, far, late = 8, 0.95, 13
    leaps = (kept > creeps) & (state.passes % every == 0) & (state.passes >= late) & (gain == 1.0)
    leap = np.where(leaps, 1.0 / (1.0 - np.minimum(kept, far)), gain)
    going = np.where(state.passes > FOLLOWED, gain, 1.0)
    moved = {}
    for names, share in ((STEERED, going), (("queue_given", "held_given"), leap)):
        for name in names if (share != 1.0).any() else ():
            before, after = getattr(state, name), getattr(found, name)
            way = share.reshape(-1, *(1,) * (before.ndim - 1))
            moved[name] = np.maximum(before + way * (after - before), 0.0)
    return replace(found, gain=gain, **moved)


def _by_free(aliases: Array, by_total: Outcome) -> Outcome:
    """The outcome with the distribution of free aliases, (elements, free), instead of that of D."""
    most, size = int(aliases.max()), by_total.free_distribution.shape[-1]
    total = aliases.astype(np.int64)[:, None] - np.arange(most + 1)
    here = (total > 0) & (total < size)
    at = np.clip(total, 0, size - 1)
    full = np.arange(size) >= aliases[:, None]
    distribution = by_total.free_distribution
    free_distribution = np.where(here, np.take_along_axis(distribution, at, axis=-1), 0.0)
    free_distribution += np.where(total == 0, distribution[:, :1], 0.0)
    free_distribution[:, 0] = np.where(full, distribution, 0.0).sum(axis=-1)
    return replace(by_total, free_distribution=free_distribution)


def _seen_by_volume(
    state: State, busy: Array, chance: Array, rates: tuple[Array, Array, Array]
) -> dict[str, Any]:
    """Average the rates over D as seen by one busy volume with d; an impossible d gets the rates of the nearest one."""
    weight = busy * chance[..., None]
    known = weight.sum(axis=2)
    some = known > TINY
    per = ratio(1.0, known)
    beyond = np.arange(known.shape[-1])
    now = np.array([np.einsum("ekij,ekij->ekj", weight, rate) for rate in rates]) * per
    if not some.all():
        first, last = some.argmax(axis=-1), beyond[-1] - some[..., ::-1].argmax(axis=-1)
        nearest = np.clip(beyond, first[..., None], last[..., None])
        before = np.stack([state.alias_ends, state.base_picks, state.base_idles])
        now = np.where(some.any(axis=-1)[..., None], np.take_along_axis(now, nearest[None], axis=-1), before)
    return dict(zip(("alias_ends", "base_picks", "base_idles"), now, strict=True))


def _edges(elements: PoolElements, given: GivenTotal, distribution: Array) -> tuple[Array, Flags]:
    """Probability of the largest D if more are possible, and whether rounding hides D that matter."""
    rows, largest = np.arange(distribution.shape[0]), distribution.shape[-1] - 1
    first, last = given.known.argmax(axis=-1), largest - given.known[:, ::-1].argmax(axis=-1)
    low, top = distribution[rows, first], np.where(last < elements.most_beyond, distribution[rows, last], 0.0)
    hidden = ((last < largest) & (top > CUT)) | ((first > 0) & (low > CUT))
    return np.where(last < largest, 0.0, top), hidden
