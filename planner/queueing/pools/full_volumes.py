"""Pools that closed volumes keep full: their requesters hardly think, so that all aliases are always busy.

A full volume has an I/O on its base and N - 1 beyond it, on aliases or waiting. All aliases being busy, whoever finds a
base busy waits, and an alias takes each waiting I/O of the pool at the same rate, the aliases that end over those that
wait. With that rate r the volumes do not meet: on a full one ``(N - 1 - h) r`` leads from h to h + 1 aliases; any other
has a chain of its base, its aliases and its queue. r is such that all of them hold as many aliases as there are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing._elimination import stationary
from planner.queueing.pools.outcome import PER_CLASS, Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

HARDLY: Final = 1e-3
"""Requesters of a volume that think, on average, up to which it is full."""
LONGEST: Final = 4000
"""Longest queue of an open volume that is counted; where it is longer the base is never idle."""
MOST_STATES: Final = 600
"""States of one volume, which are solved densely."""
BEYOND: Final = 1e-9
"""Probability of the longest queue from which on it is longer."""
MOST_OPEN: Final = 24
"""I/Os of an open volume at most where a chain is solved for it."""
LOST: Final = 1e-6
"""Probability that it has as many, up to which more do not matter."""
SPARE: Final = 10.0
"""Waiting I/Os of full volumes from which on their number hardly varies."""
IDLE, SERVES, GAP = 0, 1, 2  # what a base does
SLOWEST: Final = 1e-9
QUICKEST: Final = 1e9
"""Rates between which waiting I/Os are taken by aliases [1/service time]."""


def suits_full_volumes(pool: CheckedPool, aliases: int) -> bool:
    """Whether full volumes have more than all aliases, and the others have exponential service."""
    full = _full(pool, aliases)
    beyond = float(pool.volumes @ np.where(full, pool.population - 1.0, 0.0))
    small = all(_states(pool, int(k), aliases) <= MOST_STATES for k in np.flatnonzero(~full))
    return bool(0 < aliases <= beyond - SPARE and (full.all() or (small and pool.scv == 1.0)))


def _full(pool: CheckedPool, aliases: int) -> NDArray[np.bool_]:
    """Classes whose requesters would hardly think even with aliases for all of them."""
    people = np.where(pool.closed, pool.population, 1.0)
    most = (1.0 + np.minimum(aliases, people - 1.0)) / pool.service
    return np.asarray(pool.closed & (most * pool.think_time <= HARDLY))


def _people(pool: CheckedPool, k: int) -> int:
    """Requesters of a volume, of an open one I/Os at most."""
    return int(pool.population[k]) if pool.closed[k] else MOST_OPEN


def _states(pool: CheckedPool, k: int, aliases: int) -> float:
    people = float(_people(pool, k))
    return (people + 1.0) * (min(aliases, people) + 1.0) * (2 + (pool.redrive_time > 0.0)) / 2.0


def solve_full_volumes(pool: CheckedPool, aliases: int) -> Outcome:
    """Solve for the rate at which aliases take a waiting I/O."""
    from scipy.optimize import brentq

    full, plain = _full(pool, aliases), pool.inflation == 0.0 and pool.redrive_time == 0.0

    def each(rate: float) -> dict[str, Array]:
        rows = [
            _of_full(pool, k, rate)
            if full[k]
            else _of_open(pool, k, rate)
            if plain and not pool.closed[k]
            else _by_chain(pool, k, aliases, rate)
            for k in range(pool.classes)
        ]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def missing(log_rate: float) -> float:
        return aliases - float(pool.volumes @ each(float(np.exp(log_rate)))["held"])

    ends = np.log(SLOWEST), np.log(QUICKEST)
    if not missing(ends[0]) > 0.0 > missing(ends[1]):
        raise ConvergenceError("alias pool of full volumes: the aliases that they hold", missing(ends[1]), 0)
    found = each(float(np.exp(brentq(missing, *ends, xtol=1e-13))))
    if (lost := float(found["lost"].max())) > LOST:
        raise ConvergenceError("alias pool of full volumes: the law of an open queue", lost, MOST_OPEN)
    free_law = np.zeros(aliases + 1)
    free_law[0] = 1.0
    per_class: dict[str, Any] = {name: found[name] for name in PER_CLASS}
    return Outcome(
        **per_class,
        free_law=free_law,
        tries_by_free=free_law * float(pool.volumes @ found["tries"]),
        residual=abs(aliases - float(pool.volumes @ found["held"])) / aliases,
    )


def _row(
    pool: CheckedPool,
    k: int,
    throughput: float,
    tries: float,
    queue: float,
    base_pickups: float,
    base: float,
    held: float,
    aliases_end: float,
) -> dict[str, float]:
    """What one volume comes to; as many I/Os are picked up by aliases as end there."""
    return {
        "throughput": throughput,
        "tries": tries,
        "fails": tries,
        "queue": queue,
        "base_pickups": base_pickups,
        "alias_pickups": aliases_end,
        "base_in_service": base,
        "alias_in_service": held - pool.alias_redrive_time * aliases_end,
        "held": held,
        "lost": 0.0,
    }


def _of_full(pool: CheckedPool, k: int, rate: float) -> dict[str, float]:
    """A volume whose base always has the next I/O: a birth-death process of the aliases that it holds."""
    beyond = float(pool.population[k]) - 1.0
    held = np.arange(beyond + 1.0)
    time = pool.service[k] * pool.service_growth(1.0 + held)
    ends = held / (time + pool.alias_redrive_time)
    logs = np.concatenate([[0.0], np.cumsum(np.log((beyond - held[:-1]) * rate) - np.log(ends[1:]))])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    base_pickups, mean, aliases_end = (
        float(law @ values) for values in (1.0 / (time + pool.redrive_time), held, ends)
    )
    throughput = base_pickups + aliases_end
    queue = beyond - mean - throughput * float(pool.think_time[k])
    base = 1.0 - pool.redrive_time * base_pickups
    return _row(pool, k, throughput, throughput, queue, base_pickups, base, mean, aliases_end)


def _of_open(pool: CheckedPool, k: int, rate: float) -> dict[str, float]:
    """An open volume without inflation and gap: it does not matter which of its I/Os aliases hold."""
    arrivals, pace = float(pool.arrival_rate[k]), 1.0 / float(pool.service[k])
    queue = np.arange(LONGEST + 1.0)
    logs = np.concatenate([[0.0], np.cumsum(np.log(arrivals) - np.log(pace + queue[1:] * rate))])
    busy = np.exp(logs - logs.max())
    idle = float(busy[0]) * pace / arrivals
    busy /= idle + busy.sum()
    tries, taken = arrivals * float(busy.sum()), rate * float(busy @ queue)
    if busy[-1] > BEYOND:  # so long a queue that its base is always busy
        tries, taken = arrivals, max(arrivals - pace, 0.0)
    held = taken * (1.0 / pace + pool.alias_redrive_time)
    return _row(pool, k, arrivals, tries, taken / rate, tries - taken, (arrivals - taken) / pace, held, taken)


def _by_chain(pool: CheckedPool, k: int, aliases: int, rate: float) -> dict[str, float]:
    """A volume that is not full: a chain of its base, its aliases and its queue."""
    people, gap = _people(pool, k), pool.redrive_time
    states = [
        (base, held, queue)
        for base in ((IDLE, SERVES, GAP) if gap > 0.0 else (IDLE, SERVES))
        for held in range(min(aliases, people) + 1)
        for queue in (range(people) if base else range(1))
        if (base > 0) + held + queue <= people
    ]
    number = {state: i for i, state in enumerate(states)}
    base, held, queue = np.array(states).T
    thinking = people - (base > 0) - held - queue
    growth = pool.service_growth(np.maximum((base == 1) + held, 1.0))
    time = pool.service[k] * growth
    moves = np.zeros((len(states), len(states)))
    come = thinking / pool.think_time[k] if pool.closed[k] else pool.arrival_rate[k] * (thinking > 0)
    arrivals, ends = np.asarray(come), held / (time + pool.alias_redrive_time)
    for i, (b, h, q) in enumerate(states):
        for to, pace in (
            ((SERVES, h, 0) if b == IDLE else (b, h, q + 1), arrivals[i]),
            ((GAP if gap > 0.0 else SERVES, h, q - 1) if q else (IDLE, h, 0), (b == SERVES) / time[i]),
            ((SERVES, h, q), (b == GAP) / gap if gap > 0.0 else 0.0),
            ((b, h - 1, q), ends[i]),
            ((b, h + 1, q - 1), q * rate),
        ):
            if pace > 0.0 and to in number:
                moves[i, number[to]] += pace
    law = stationary(moves[None])[0]
    row = _row(
        pool,
        k,
        float(law @ arrivals),
        float(law @ (arrivals * (base > 0))),
        float(law @ queue),
        float(law @ ((base == 1) * (queue > 0) / time)),
        float(law @ (base == 1)),
        float(law @ held),
        float(law @ ends),
    )
    return row | {"lost": 0.0 if pool.closed[k] else float(law @ (thinking == 0))}
