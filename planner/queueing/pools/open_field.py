"""Open pools of any size by a mean field around D: the volumes given D, and how the waiting I/Os lie on them.

Without inflation and gaps it does not matter which I/O holds an alias.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.base_balance import BaseFlows, PoolFlows, idle_given_total
from planner.queueing.pools.open_balance import OpenGiven, Waiting, busier_beside_idle, queue_given_total
from planner.queueing.pools.open_window import OpenWindow
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import Pool
from planner.queueing.pools.queue_law import fitted_queue_law
from planner.results import Array

MAX_ITERATIONS: Final = 300
SETTLED: Final = 1e-8
STILL_GOOD: Final = 1e-6
"""Change that will do at last, near saturation, where it falls slowly."""
STEP: Final = 0.85
"""Share of the way that an iteration goes: some changes come back with the opposite sign."""
MISFIT: Final = 1e-5
"""How far the law of the queue may be, on average over D, from the busy bases and queues that it should have."""
LEAST_QUEUE: Final = 0.01
"""Queue of one volume that its changes are held against where it is shorter."""
TINY: Final = float(np.finfo(float).tiny)


def is_plain_open(pool: Pool) -> bool:
    """Whether every class is open and no I/O slows another down or waits for a gap.

    Parameters
    ----------
    pool : Pool
        Any pool.

    Returns
    -------
    bool
        Whether `open_field_steps` solves it.
    """
    return not (pool.closed.any() or pool.slowed)


def open_field_steps(pool: Pool, aliases: int) -> Iterator[Outcome]:
    """Solve an open pool by the mean field, iteration by iteration.

    Parameters
    ----------
    pool : Pool
        Open classes only, stable with the aliases, without inflation and gaps.
    aliases : int
        Its aliases [1].

    Yields
    ------
    Outcome
        The answer so far; the last one has settled.

    Raises
    ------
    ConvergenceError
        The iteration did not settle, or the pool is too nearly unstable.
    """
    rates, volumes = pool.arrival_rate, pool.volumes
    window = OpenWindow.of(aliases)
    given, weights = window.begin(rates, volumes)
    residual = misfit = np.inf
    for iteration in range(1, MAX_ITERATIONS + 1):
        at = window.evaluated
        law_of_queue, weights = fitted_queue_law(
            window.queues, aliases, volumes, weights, given.busy[:, at], given.queue[:, at]
        )
        beside = tuple(
            window.at_queues(each) for each in (law_of_queue.none_beside_none, law_of_queue.mean_beside_none)
        )
        none = np.zeros((rates.size, aliases + 1))
        given = OpenGiven(
            given.busy, given.queue, np.hstack([none, window.at_queues(law_of_queue.with_queue)])
        )
        flows = _flows(pool, window, given)
        law = flows.law()
        following = _balanced(pool, window, given, flows, beside)
        residual, misfit = _change(given, following, law), window.misfit(law_of_queue, given, law)
        wider = window.wider(law)
        settled = residual <= (SETTLED if iteration < MAX_ITERATIONS else STILL_GOOD)
        yield _outcome(pool, window, given, flows, law, residual if wider is window else np.inf)
        if settled and misfit <= MISFIT and wider is window:
            return
        step = np.concatenate([following.busy - given.busy, following.queue - given.queue])
        given = _moved(given, STEP * step, window, volumes)
        if wider is not window:
            given, weights = window.moved_to(wider, given, weights, volumes)
            window = wider
    raise ConvergenceError("mean field of the alias pool", max(residual, misfit), MAX_ITERATIONS)


def _flows(pool: Pool, window: OpenWindow, given: OpenGiven) -> PoolFlows:
    """Flows of the whole pool."""
    return PoolFlows(
        window.total,
        (pool.volumes * pool.arrival_rate) @ given.busy,
        pool.volumes @ given.picks,
        np.minimum(window.total, float(window.aliases)),
    )


def _balanced(
    pool: Pool, window: OpenWindow, given: OpenGiven, flows: PoolFlows, beside: tuple[Array, ...]
) -> OpenGiven:
    """Bases and queues by their balances, the other volumes as the law of the queue shows them."""
    rates, full = pool.arrival_rate, window.aliases + 1
    beside_none, beside_mean = beside
    busy, queue = np.zeros_like(given.busy), np.zeros_like(given.queue)
    for k in range(pool.classes):
        others = pool.volumes - (np.arange(pool.classes) == k)
        early = busier_beside_idle(rates, k, window.total[:full], flows.tries[:full], given.busy[:, :full])
        late = 1.0 - (1.0 - given.busy[:, full:]) * beside_none[k]
        picks = 1.0 - (1.0 - given.picks[:, full:]) * beside_none[k]
        base = BaseFlows(
            arrivals=np.full_like(window.total, rates[k]),
            idles=1.0 - given.with_queue[k],
            tries=flows.tries - (others * rates) @ np.hstack([early, late]),
            pickups=flows.pickups - np.concatenate([np.zeros(full), others @ picks]),
        )
        busy[k] = 1.0 - idle_given_total(flows, base, top=True)
        tries = rates[k] + (others * rates) @ np.maximum(
            1.0 - (1.0 - given.busy[:, full:]) * beside_mean[k], 0.0
        )
        picks = 1.0 + others @ np.maximum(1.0 - (1.0 - given.picks[:, full:]) * beside_mean[k], 0.0)
        own = given.picks[k]
        volume = Waiting(
            arrivals=rates[k] * given.busy[k],
            picks_each=np.divide(own, given.queue[k], out=np.ones_like(own), where=given.queue[k] > TINY),
            tries=np.concatenate([flows.tries[:full], tries]),
            pickups=np.concatenate([flows.pickups[:full], picks]),
        )
        queue[k] = queue_given_total(flows, volume, window.waiting)
    return OpenGiven(busy, _scaled(queue, window, pool.volumes), given.with_queue)


def _scaled(queue: Array, window: OpenWindow, volumes: Array) -> Array:
    """Queues that sum to what waits."""
    whole = volumes @ queue
    return queue * np.divide(window.waiting, whole, out=np.zeros_like(whole), where=whole > 0.0)


def _moved(given: OpenGiven, step: Array, window: OpenWindow, volumes: Array) -> OpenGiven:
    """Add a step."""
    classes = volumes.size
    return OpenGiven(
        np.clip(given.busy + step[:classes], 0.0, 1.0),
        _scaled(np.maximum(given.queue + step[classes:], 0.0), window, volumes),
        given.with_queue,
    )


def _change(before: OpenGiven, after: OpenGiven, law: Array) -> float:
    """Largest change of a busy base, or of a queue relative to it."""
    busy = np.abs(after.busy - before.busy) @ law
    queue = np.abs(after.queue - before.queue) @ law / np.maximum(after.queue @ law, LEAST_QUEUE)
    return float(max(busy.max(), queue.max()))


def _outcome(
    pool: Pool, window: OpenWindow, given: OpenGiven, flows: PoolFlows, law: Array, residual: float
) -> Outcome:
    """Average over D."""
    aliases = window.aliases
    tries = pool.arrival_rate[:, None] * given.busy
    fails = tries[:, aliases:] @ law[aliases:]
    alias_pickups = (given.queue / np.maximum(window.waiting, 1.0) * flows.alias_ends) @ law
    free_law, tries_by_free = by_free(aliases, flows, law)
    return Outcome(
        throughput=pool.arrival_rate.copy(),
        tries=tries @ law,
        fails=fails,
        queue=given.queue @ law,
        base_pickups=given.picks @ law,
        alias_pickups=alias_pickups,
        base_in_service=given.busy @ law,
        alias_in_service=tries @ law - fails + alias_pickups,
        free_law=free_law,
        tries_by_free=tries_by_free,
        residual=residual,
    )
