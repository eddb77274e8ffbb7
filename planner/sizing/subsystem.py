"""Many pools at once: the count of each, without the sweep over all counts that the answer for one pool shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.demand import Law
from planner.devices import Performance, Pool
from planner.errors import InputError, PlannerError
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.bounds import span
from planner.sizing.bursty_pool import size_bursty_pool
from planner.sizing.classic import classic_aliases
from planner.sizing.comparison import held_to_measurement
from planner.sizing.fewest import Tried
from planner.sizing.overview import Subsystem
from planner.sizing.pool import Asked, extremes, is_bursty, pool_readings
from planner.sizing.pool_count import MeasuredPool, PoolCount, Traffic
from planner.sizing.target import Target

AT_ONCE: Final = 50  # pools whose demands are read together


def subsystem(
    pools: Sequence[MeasuredPool],
    law: Law,
    *,
    target: Target | None = None,
    growth: float = 0.0,
    notes: Sequence[str] = (),
    processes: int = 1,
    done: Callable[[int], None] | None = None,
) -> Subsystem:
    """Find the smallest number of aliases that meets a target for each of many pools.

    The count is that of `planner.sizing.aliases`. Its range holds the readings of the demand and the rule of thumb: the
    preferred reading, those of the fewest and of the most requesters are asked.

    Parameters
    ----------
    pools : sequence of MeasuredPool
        One or more.
    law : Law
        Inflation and redrive gap.
    target : Target, optional
        What each pool must achieve; by default queueing is gone.
    growth : float, optional
        Share by which every demand grows first.
    notes : sequence of str, optional
        How the measurements were read, for the answer.
    processes : int, optional
        Processes to share the work; 1 works in this one.
    done : callable, optional
        Told of the number of pools that were answered since it was last called.

    Returns
    -------
    Subsystem
        One answer a pool, in the same order. A pool without a feasible count says so in its place.

    Raises
    ------
    InputError
        No pools, or a growth that is no share of zero or more.
    """
    if not pools:
        raise InputError("pools", 0, "at least one pool")
    if not 0.0 <= growth < np.inf:
        raise InputError("growth", growth, "a share of zero or more")
    target = target or Target()
    tasks = [(pools[first : first + AT_ONCE], law, target, growth) for first in range(0, len(pools), AT_ONCE)]
    found: list[PoolCount] = []
    for counts in _shared_out(tasks, processes):
        found += counts
        if done is not None:
            done(len(counts))
    return Subsystem(
        pools=tuple(found), target=target, growth=growth, remarks=tuple(notes), measured=tuple(pools), law=law
    )


Task = tuple[Sequence[MeasuredPool], Law, Target, float]


def _shared_out(tasks: Sequence[Task], processes: int) -> Iterator[list[PoolCount]]:
    """Answers of all tasks in their order."""
    if processes <= 1 or len(tasks) == 1:
        yield from map(_answer, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(processes, len(tasks)), mp_context=get_context("spawn")) as workers:
        yield from workers.map(_answer, tasks)


def _answer(task: Task) -> list[PoolCount]:
    pools, law, target, growth = task
    return _beside_classic([_count(pool, law, target, growth) for pool in pools], target)


def _beside_classic(found: Sequence[tuple[PoolCount, Pool | None]], target: Target) -> list[PoolCount]:
    """Put beside each answer what classic PAV would take; the volumes of all pools are solved together."""
    pools = [pool for _, pool in found if pool is not None]
    try:
        classic = iter(classic_aliases(pools, target))
        return [count if pool is None else replace(count, classic=next(classic)) for count, pool in found]
    except PlannerError as problem:
        if len(found) > 1:  # of one volume: the other pools keep their answers
            return [each for one in found for each in _beside_classic([one], target)]
        told = replace(found[0][0], recommended=None, range=None, then=None, notes=())
        return [replace(told, problem=str(problem), exit_code=problem.exit_code)]


def _count(pool: MeasuredPool, law: Law, target: Target, growth: float) -> tuple[PoolCount, Pool | None]:
    """The answer for one pool but for classic PAV, and the pool that was read where there is one.

    What it has no answer to is told in its place.
    """
    plain = PoolCount(name=pool.name, volumes=pool.volumes, in_use=pool.aliases)
    if not pool.runs:
        idle = replace(plain, recommended=0, range=(0, 0), rule_of_thumb=0, classic=0, notes=("no I/O",))
        return idle, None
    run = pool.runs[-1]
    plain = replace(plain, rule_of_thumb=run.rule_of_thumb)
    try:
        for each in pool.runs:
            each.check()
        if is_bursty(pool.runs, law):
            return _of_answer(plain, size_bursty_pool(pool.runs, law, target, growth)), None
        read = extremes(pool_readings(pool.runs, law)[0])
        asked = [Asked.of(reading, run, growth) for reading in read]
        now = _now(asked[0], run, growth)
        plain = replace(plain, grouping_error=asked[0].error, now=now)
        return _sized(plain, asked, run, target, growth), asked[0].main
    except PlannerError as problem:
        return replace(plain, problem=str(problem), exit_code=problem.exit_code), None


def _of_answer(plain: PoolCount, answer: AliasAnswer) -> PoolCount:
    """The row of a pool that was answered in full."""
    now, then = (
        Traffic(
            io_rate=float(answer.rows.io_rate[k]), response_time=float(answer.rows.response_time[k]),
            queued=float(answer.rows.queued[k]),
        )
        for k in (answer.in_use, answer.recommended)
    )  # fmt: skip
    return replace(
        plain, recommended=answer.recommended, range=answer.range, classic=answer.classic, now=now, then=then,
        notes=("bursty volumes",),
    )  # fmt: skip


def _now(asked: Asked, run: Run, growth: float) -> Traffic:
    """What was measured; what the law says where the demand has grown, or the queue was not measured."""
    if not growth and run.queue_known:
        return Traffic(
            io_rate=run.total_rate.value, response_time=run.mean_response, queued=run.total_queue.value
        )
    return _traffic(asked.solve(np.array([float(min(run.aliases, run.most_aliases))])))


def _sized(plain: PoolCount, asked: Sequence[Asked], run: Run, target: Target, growth: float) -> PoolCount:
    counts: list[int] = []
    begin, then = None, plain.now
    tried: dict[int, Tried] = {}
    for each in asked:
        begin, tried = each.fewest(target, run, begin, tried)
        if not counts and begin != run.aliases:
            then = _traffic(
                tried[begin].settled() if len(each.pools) == 1 and begin in tried
                else each.solve(np.array([float(begin)]))
            )  # fmt: skip
        counts.append(begin)
    recommended = held_to_measurement(counts[0], run, target, growth)
    if recommended == run.aliases:
        then = plain.now
    elif recommended != counts[0]:
        then = _traffic(asked[0].solve(np.array([float(recommended)])))
    return replace(
        plain,
        recommended=recommended,
        range=span([recommended, *counts], run.rule_of_thumb),
        notes=run.notes,
        then=then,
    )


def _traffic(rows: Performance) -> Traffic:
    return Traffic(
        io_rate=float(rows.io_rate[0]),
        response_time=float(rows.response_time[0]),
        queued=float(rows.queued[0]),
    )
