"""Many pools at once: the count of each as `planner.sizing.need` finds it, and what it brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from planner.demand import Law, Target
from planner.devices import Performance
from planner.errors import InputError, PlannerError
from planner.sizing.need import Need, need
from planner.sizing.overview import Subsystem
from planner.sizing.pool_count import MeasuredPool, PoolCount, Traffic


def subsystem(
    pools: Sequence[MeasuredPool],
    law: Law,
    *,
    target: Target | None = None,
    growth: float = 0.0,
    notes: Sequence[str] = (),
    done: Callable[[int], None] | None = None,
) -> Subsystem:
    """Find the smallest number of aliases that meets a target for each of many pools.

    Count and range are those of `planner.sizing.need`, as for one pool.

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
    needs = need([pool.runs for pool in pools], law, target, growth)
    found = []
    for pool, each in zip(pools, needs, strict=True):
        found.append(_row(pool, each))
        if done is not None:
            done(1)
    return Subsystem(
        pools=tuple(found), target=target, growth=growth, remarks=tuple(notes), measured=tuple(pools), law=law
    )


def _row(pool: MeasuredPool, found: Need) -> PoolCount:
    """The row of one pool; without an answer, why."""
    if not pool.runs:
        return PoolCount(
            name=pool.name, volumes=pool.volumes, in_use=pool.aliases, recommended=0, range=(0, 0), rule_of_thumb=0,
            classic=0, notes=("no I/O",),
        )  # fmt: skip
    run = pool.runs[-1]
    now = None
    if run.queue_known:
        now = Traffic(
            io_rate=float(run.total_rate.value),
            response_time=run.mean_response,
            queued=float(run.total_queue.value),
        )
    unanswered = PoolCount(
        name=pool.name, volumes=pool.volumes, in_use=pool.aliases, rule_of_thumb=run.rule_of_thumb, now=now,
        problem=found.problem, exit_code=found.exit_code,
    )  # fmt: skip
    sized, count = found.sized, found.count
    if sized is None or count is None or found.low is None or found.high is None:
        return unanswered
    try:
        rows, _ = sized.sweep
        classic = sized.classic()
    except PlannerError as problem:
        return replace(unanswered, problem=str(problem), exit_code=problem.exit_code)
    return PoolCount(
        name=pool.name, volumes=pool.volumes, in_use=pool.aliases, recommended=count, range=(found.low, found.high),
        rule_of_thumb=run.rule_of_thumb, classic=classic, now=_traffic(rows, run.aliases), then=_traffic(rows, count),
        grouping_error=sized.grouping_error,
        notes=("bursty volumes",) if found.decided == "bursty demand" else run.notes,
    )  # fmt: skip


def _traffic(rows: Performance, count: int) -> Traffic:
    k = min(count, rows.aliases.size - 1)
    return Traffic(
        io_rate=float(rows.io_rate[k]),
        response_time=float(rows.response_time[k]),
        queued=float(rows.queued[k]),
    )
