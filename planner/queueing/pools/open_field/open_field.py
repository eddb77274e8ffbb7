"""Pools with open classes by a mean field around D: the volumes given D, and how the waiting I/Os lie on them.

Without inflation it does not matter which I/O of an open volume holds an alias: its base and its mean queue given D
follow from their balances. A closed volume has few states: it gets a chain of its own beside the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.alias_pairs import WaitingSees, ends_beside_waiting
from planner.queueing.pools.field.base_balance import BaseFlows, idle_given_total, resized
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.fixed_point import Acceleration, Effort, Passed, passes
from planner.queueing.pools.open_field.balances import (
    VolumesGiven,
    Waiting,
    more_beside_idle,
    queue_given_total,
    tries_where,
)
from planner.queueing.pools.open_field.queue_law import MAX_STEPS, QueueLaw, fitted_queue_law
from planner.queueing.pools.open_field.queue_weights import Weights
from planner.queueing.pools.open_field.state import ClosedClasses, OpenState
from planner.queueing.pools.open_field.window import OpenWindow
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.queueing.pools.service_variation import scv_with_gaps, with_variation
from planner.queueing.pools.stability import aliases_in_use
from planner.results import Array

OPEN: Final = Effort("mean field of the alias pool", passes=300, work=np.inf, settled=1e-8, still_good=1e-6)
"""Still good near saturation, where the change falls slowly."""
BESIDE_CLOSED: Final = replace(OPEN, passes=120, work=2e6, settled=1e-6)
"""Beside closed classes; work in states of their chains: a few seconds."""
MAX_LOST: Final = 12
FAR_OFF: Final = 0.03
"""Passes in a row whose law of the queue is so far off, after which another field is asked."""
UNEVEN: Final = 1e-4
"""Change that will do where service times differ by class."""
FEW_STEPS: Final = 3
"""Steps to the law of the queue once the change is below `CALM`."""
TRUSTED: Final = 2.0
"""Factor by which an accelerated step may change a queue: that of a rare D hardly weighs in it, and can go anywhere."""
NEARLY: Final = 0.3
"""Change below which steps are accelerated."""
UNLIKELY: Final = 1e-6
"""Probability of D, relative to the largest, up to which the law of the queue there need not be near."""
STEP: Final = 0.85
"""Share of the way that an iteration goes: some changes come back with the opposite sign."""
MISFIT: Final = 1e-5
"""How far the law of the queue may be, on average over D, from the busy bases and queues that it should have."""
MISFIT_BESIDE_CLOSED: Final = 1e-3
"""The same beside closed classes, whose longest queue the law may not let the open ones forget."""
CALM: Final = 0.1
CALM_UNEVEN: Final = 0.02
"""Change below which more D are asked for beside closed classes, and where service times differ: from far off the queue
looks endless."""
CALM_RISING: Final = 1e-3
"""The same where the law of D still rises at its end: with closed classes settled it may fall."""
LEAST_QUEUE: Final = 0.01
"""Queue of one volume that its changes are held against where it is shorter."""
FEW: Final = 6
MUCH: Final = 0.2
"""Overloaded volumes, and the share of the aliases that they need, where a mixed pool asks for this field."""
MOST_REQUESTERS: Final = 16
"""Requesters of a volume up to which its chain is worth its cost."""
LOST: Final = 0.02
"""Share of the requesters of a closed volume that may be missing from think time, service and queue."""
RUNS_AWAY: Final = np.errstate(all="ignore")
"""What runs away shows in the residual."""


def suits_open_field(pool: CheckedPool, aliases: int) -> bool:
    """Whether this field knows a pool better than the other one.

    It does where all classes are open, and where few open volumes overload their bases and need many of the aliases:
    they have most of the queue, and while it is long the others are not what they are on average.
    """
    closed = pool.closed
    if pool.inflation > 0.0 or closed.all():
        return False
    if not closed.any() or (not pool.even and pool.scv == 1.0):
        return True
    need = aliases_in_use(pool)
    few = float(pool.volumes @ (need > 0.0)) <= FEW
    much = float(pool.volumes @ need) > MUCH * aliases
    return bool(few and much and pool.population[closed].max() <= MOST_REQUESTERS and pool.scv == 1.0)


def open_field_steps(pool: CheckedPool, aliases: int) -> Iterator[Outcome]:
    """Solve a pool with open classes by the mean field, iteration by iteration."""
    effort = BESIDE_CLOSED if pool.closed.any() else OPEN
    if not pool.even:
        effort = replace(effort, settled=UNEVEN, still_good=UNEVEN)
    outcome = None
    for outcome in passes(_OpenField(pool, aliases), effort):
        yield outcome
    assert outcome is not None
    _check_requesters(pool, outcome)


class _OpenField:
    """The iteration: its state, and the weights of the law of the queue."""

    def __init__(self, pool: CheckedPool, aliases: int) -> None:
        self._state, self._weights = _first(pool, aliases)
        self._mixed = bool(pool.closed.any()) and pool.even
        self._most_misfit = MISFIT_BESIDE_CLOSED if pool.closed.any() else MISFIT
        self._change, self._lost = np.inf, 0
        self._acceleration, self._fitted = Acceleration(), self._state.window

    @RUNS_AWAY
    def evaluated(self, number: int) -> Passed:
        """The law of the queue, and from it the volumes given D."""
        most = MAX_STEPS if self._change > CALM or self._state.pool.even else FEW_STEPS
        law_of_queue, self._weights = _law_of_queue(self._state, self._weights, most)
        state = self._state = _with_queue(self._state, law_of_queue)
        self._following = _following(state, law_of_queue)
        self._change = _change(state.given, self._following.given, state.law)
        misfit = state.window.misfit(law_of_queue, state.given, state.law)
        self._lost = self._lost + 1 if misfit > FAR_OFF else 0
        if self._mixed and self._lost > MAX_LOST:
            raise ConvergenceError(OPEN.name, max(self._change, misfit), number)
        calm = np.isfinite(misfit) and self._change < self._calm()
        self._fitted = state.window.fitted(state.law) if calm else state.window
        whole, states = self._fitted is state.window, float(self._following.closed.states)
        return Passed(_answer(state), self._change, whole, states, misfit, misfit <= self._most_misfit)

    def _calm(self) -> float:
        """Change below which the window of D may be another one."""
        if not self._mixed:
            return np.inf if self._state.pool.even else CALM_UNEVEN
        return CALM_RISING if self._state.law[-1] > self._state.law[-2] else CALM

    def move(self) -> None:
        """Most of the way, accelerated once near."""
        if not self._change < NEARLY:
            self._acceleration.restart()
        self._state = _moved(self._state, self._following, self._acceleration)
        if self._fitted is not self._state.window:
            self._acceleration.restart()
            self._state, self._weights = _moved_to(self._state, self._weights, self._fitted)


def _first(pool: CheckedPool, aliases: int) -> tuple[OpenState, Weights]:
    """Where to begin."""
    window = OpenWindow.of(aliases, most=pool.most_beyond - aliases)
    given, weights = window.begin(pool)
    paces = Paces.of(pool, np.zeros(pool.classes), 0.0, window.waiting)
    state = OpenState.of(pool, window, paces, given)
    if pool.closed.any() and pool.even:
        own = (state.arrivals.tries, state.picks)
        closed = ClosedClasses.begin(pool, aliases, paces, state.flows, own)
        state = OpenState.of(pool, window, paces, given, closed)
    return state, weights


def _answer(state: OpenState) -> Outcome:
    """Averages over D, the waits of open classes by the two-moment law where a gap makes service vary less."""
    outcome = state.outcome(np.inf)
    return with_variation(state.pool, state.window.aliases, outcome, scv_with_gaps(state.pool, outcome))


def _check_requesters(pool: CheckedPool, outcome: Outcome) -> None:
    """Refuse an answer in which requesters are lost: each thinks, is served, or waits."""
    service = outcome.base_in_service + outcome.alias_in_service + outcome.in_gap(pool)
    known = outcome.throughput * pool.think_time + service + outcome.queue
    lost = float(np.max(np.abs(known / pool.population - 1.0), where=pool.closed, initial=0.0))
    if not lost <= LOST:
        raise ConvergenceError(
            "mean field of the alias pool: requesters of a closed class", lost, OPEN.passes
        )


def _law_of_queue(state: OpenState, weights: Weights, most: int) -> tuple[QueueLaw, Weights]:
    """How what waits lies on the volumes, and better weights."""
    window, at = state.window, state.window.evaluated
    weights = replace(weights, spare=weights.longest - state.arrivals.held_at_busy[:, at])
    as_bases: float | Array  # aliases, in bases that take waiting I/Os as fast
    if state.pool.even:
        as_bases = window.aliases * float(state.paces.alias[0, -1] / state.paces.queued.mean())
    else:
        as_bases = state.flows.alias_ends[at] / state.paces.queued[:, None]
    with np.errstate(all="ignore"):  # weights that run away begin again beside their neighbors
        return fitted_queue_law(
            window.queues,
            as_bases,
            state.pool.volumes,
            weights,
            state.given.busy[:, at],
            state.given.queue[:, at],
            state.law[at] > (0.0 if state.pool.even else UNLIKELY * state.law.max()),
            most,
        )


@RUNS_AWAY
def _with_queue(state: OpenState, law_of_queue: QueueLaw) -> OpenState:
    """Busy open bases have a queue as often as the law of the queue says."""
    none = np.zeros((state.pool.classes, state.window.aliases + 1))
    with_queue = np.hstack([none, state.window.at_queues(law_of_queue.with_queue)])
    given = replace(state.given, with_queue=with_queue)
    return OpenState.of(
        state.pool, state.window, state.paces_now(), given, state.closed, state.held, state.queued_ends
    )


@RUNS_AWAY
def _following(state: OpenState, law: QueueLaw) -> OpenState:
    """Open volumes by their balances beside the others as the law of the queue shows them, closed ones by chains."""
    pool, window, flows = state.pool, state.window, state.flows
    busy, queue = state.given.busy.copy(), state.given.queue.copy()
    ends_idle, ends_queued = state.ends_where_idle(), state.ends_where_queued()
    seen = np.zeros((3, *queue.shape))
    for k in np.flatnonzero(~pool.closed | (not pool.even)).tolist():
        others = pool.volumes - (np.arange(pool.classes) == k)
        tries, picks = _beside_idle(state, law, k)
        base = BaseFlows(
            arrivals=state.arrivals.at_idle[k],
            idles=state.paces.alone[k] * (1.0 - state.given.with_queue[k]),
            tries=flows.tries - others @ tries,
            pickups=flows.pickups - others @ picks,
        )
        busy[k] = 1.0 - idle_given_total(flows, base, top=True, alias_ends=ends_idle[k])
        tries, picks = _beside_waiting(state, law, k)
        own, waits = state.picks[k], state.given.queue[k]
        volume = Waiting(
            arrivals=state.arrivals.tries[k],
            picks_each=np.divide(own, waits, out=np.ones_like(own), where=waits > TINY),
            tries=_own_tries(state, law, k) + others @ tries,
            pickups=state.paces.queued[k] + others @ picks,
            alias_ends=ends_queued[k],
            fewer=1.0 / float(pool.think_time[k]) if pool.closed[k] else 0.0,
        )
        seen[:, k] = volume.tries, volume.pickups, volume.picks_each
        queue[k] = np.minimum(queue_given_total(flows, volume, window.waiting, waits), window.waiting)
    closed = state.closed.agreeing(pool, state.paces, flows, (state.arrivals.tries, state.picks))
    busy, queue = closed.into(busy, "busy"), closed.into(queue, "queue")
    longer = np.maximum(
        queue, state.given.queue
    )  # a law of D that has not settled may find no queue at its end
    spread = closed.into(longer * (1.0 + longer), "queue_variance")
    given = VolumesGiven(busy, _scaled(queue, spread, window, pool.volumes), state.given.with_queue)
    queued_ends = None if pool.even else _ends_beside_waiting(state, law, seen, ends_queued)
    return replace(state, given=given, closed=closed, held=state.held_by_balance(), queued_ends=queued_ends)


def _load(pool: CheckedPool, k: int) -> float:
    """Arrivals at an idle volume in a service time [1]."""
    rate = pool.population[k] / pool.think_time[k] if pool.closed[k] else pool.arrival_rate[k]
    return float(rate * pool.service[k])


def _own_tries(state: OpenState, law: QueueLaw, k: int) -> float | Array:
    """Arrivals at a volume as an I/O that waits there sees them."""
    pool, window = state.pool, state.window
    if not pool.closed[k]:
        return float(pool.arrival_rate[k])
    full = window.aliases + 1
    others = (pool.volumes - (np.arange(pool.classes) == k)) @ window.at_queues(law.mean_seen[k])
    queue = np.zeros_like(window.total)
    queue[full:] = np.clip(window.waiting[full:] - others, 1.0, pool.population[k] - 1.0)
    return np.asarray(
        np.maximum(pool.population[k] - 1.0 - queue - state.arrivals.held_at_busy[k], 0.0)
        / pool.think_time[k]
    )


def _ends_beside_waiting(state: OpenState, law: QueueLaw, seen: Array, ends: Array) -> Array:
    pool, window = state.pool, state.window
    volumes, full = pool.volumes, window.aliases + 1
    in_use = np.minimum(window.total, float(window.aliases))
    at_busy = state.held_by_base()[1]
    rest = (in_use - at_busy) / np.maximum(in_use - state.held, TINY)
    own = np.eye(pool.classes)[:, :, None]
    joins = (volumes[:, None] * state.held)[None] * rest[:, None]
    joins = joins + own * (at_busy - state.held * rest)[:, None]
    joins = joins * state.arrivals.tries[:, None]
    beside = np.zeros_like(joins)
    late = window.at_queues(law.mean_seen) * (volumes - np.eye(pool.classes))[:, :, None]
    late = late + own * np.maximum(window.waiting[full:] - 1.0 - late.sum(axis=1), 0.0)[:, None]
    late = late * ((window.waiting[full:] - 1.0) / np.maximum(late.sum(axis=1), TINY))[:, None]
    beside[:, :, full:] = late
    sees = WaitingSees(state.given.queue, seen[0], seen[1], seen[2], joins, beside)
    held = volumes[:, None] * state.held
    return ends_beside_waiting(state.flows, sees, state.paces.alias, held, volumes, ends, window.aliases)


def _beside_idle(state: OpenState, law: QueueLaw, k: int) -> tuple[Array, Array]:
    """Tries and pickups of one volume of each class where a base of class k is idle, shape (classes, D)."""
    pool, window, arrivals = state.pool, state.window, state.arrivals
    full = window.aliases + 1
    one, none = np.ones((pool.classes, 1)), np.zeros((pool.classes, 1))
    own = arrivals.tries[:, :full] * pool.service[:, None]
    early = more_beside_idle(
        _load(state.pool, k),
        own[k] / (pool.volumes @ own),
        window.total[:full],
        arrivals.tries[:, :full],
        tries_where(pool, one, none, none),
    )
    empty = window.at_queues(law.none_beside_none[k])
    late = tries_where(
        pool,
        1.0 - (1.0 - state.given.busy[:, full:]) * empty,
        state.given.queue[:, full:] * window.at_queues(law.mean_beside_none[:, k]),
        arrivals.held_at_busy[:, full:],
    )
    return np.hstack([early, late]), np.hstack([np.zeros_like(early), _picks_where(state, empty)])


def _beside_waiting(state: OpenState, law: QueueLaw, k: int) -> tuple[Array, Array]:
    """The same as an I/O that waits at a volume of class k sees them; with none waiting they do not matter."""
    window, full = state.window, state.window.aliases + 1
    empty = window.at_queues(law.mean_beside_none[k])
    late = tries_where(
        state.pool,
        np.maximum(1.0 - (1.0 - state.given.busy[:, full:]) * empty, 0.0),
        window.at_queues(law.mean_seen[k]),
        state.arrivals.held_at_busy[:, full:],
    )
    none = np.zeros((state.pool.classes, full))
    return np.hstack([none, late]), np.hstack([none, _picks_where(state, empty)])


def _picks_where(state: OpenState, empty: Array) -> Array:
    """Pickups of one volume of each class where its queue is empty so much more often, shape (classes, waiting)."""
    waits = (state.given.busy * state.given.with_queue)[:, state.window.aliases + 1 :]
    return np.asarray(state.paces.queued[:, None] * np.maximum(1.0 - (1.0 - waits) * empty, 0.0))


def _scaled(queue: Array, spread: Array, window: OpenWindow, volumes: Array) -> Array:
    """Queues that sum to what waits: they give way as they can vary, and then in proportion."""
    missing, give = window.waiting - volumes @ queue, volumes @ spread
    moved = np.maximum(
        queue + spread * np.divide(missing, give, out=np.zeros_like(give), where=give > TINY), 0.0
    )
    whole = volumes @ moved
    return moved * np.divide(window.waiting, whole, out=np.zeros_like(whole), where=whole > 0.0)


@RUNS_AWAY
def _moved(state: OpenState, following: OpenState, acceleration: Acceleration) -> OpenState:
    """Go most of the way."""
    now, then = state.given, following.given
    rows = [(now.busy, then.busy), (now.queue, then.queue)]
    then_ends = following.queued_ends  # None where the volumes are even
    ends = then_ends if state.queued_ends is None else state.queued_ends
    if ends is not None and then_ends is not None:
        rows += [(state.held, following.held), (ends, then_ends)]
    old, new = (np.concatenate([each[i].ravel() for each in rows]) for i in (0, 1))
    new = old + STEP * (new - old)
    weight = np.tile(np.sqrt(state.law), len(rows) * now.busy.shape[0])
    new = acceleration.following(old, new, weight)
    parts = [each.reshape(now.busy.shape) for each in np.split(new, len(rows))]
    queue = np.clip(parts[1], then.queue / TRUSTED, TRUSTED * then.queue)
    given = VolumesGiven(
        np.clip(parts[0], 0.0, 1.0),
        _scaled(queue, queue, state.window, state.pool.volumes),
        now.with_queue,
    )
    if ends is None or then_ends is None:
        return replace(following, given=given)
    least = 0.5 * np.minimum(then_ends, ends)
    return replace(
        following, given=given, held=np.maximum(parts[2], 0.0), queued_ends=np.maximum(parts[3], least)
    )


def _moved_to(state: OpenState, weights: Weights, window: OpenWindow) -> tuple[OpenState, Weights]:
    """Go on with more or fewer D."""
    pool, size = state.pool, window.total.size
    given, weights = state.window.moved_to(window, state.given, weights, pool.volumes)
    paces = replace(state.paces, alias=resized(state.paces.alias, size))
    closed = state.closed.moved_to(pool, window.aliases, paces, resized(state.law, size, "constant"))
    ends = None if state.queued_ends is None else resized(state.queued_ends, size)
    return OpenState.of(pool, window, paces, given, closed, resized(state.held, size), ends), weights


def _change(before: VolumesGiven, after: VolumesGiven, law: Array) -> float:
    """Largest change of a busy base, or of a queue relative to it."""
    busy = np.abs(after.busy - before.busy) @ law
    queue = np.abs(after.queue - before.queue) @ law / np.maximum(after.queue @ law, LEAST_QUEUE)
    return float(max(busy.max(), queue.max()))
