"""The one question about aliases: how many an interval of a volume or pool needs. Every command asks it here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import Law, Target
from planner.errors import ConvergenceError, InfeasibleError, InputError, PlannerError
from planner.interval import Interval
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.bursty_pool import size_bursty_pools
from planner.sizing.pool import SizedPool, count_together, others_together, size_pools
from planner.sizing.sized import Sized
from planner.sizing.volume import size_volumes

IDLE: Final = "no I/O"
Case = Sequence[Run]
"""Measurements of one volume or pool, with different numbers of aliases, the present state last; none without I/O."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """How many aliases one interval needs."""

    count: int | None = 0  # smallest count that meets the target, aliases in use included
    low: int | None = 0  # its 90 % range; None where there is no answer, or none was wanted
    high: int | None = 0
    decided: str = IDLE  # what it rests on: "no I/O", "steady demand", "bursty demand", or "saturated"
    problem: str = ""  # why there is no answer; empty where there is one
    exit_code: int = 0  # what a command returns for the problem
    sized: Sized | None = None  # what was read, for whoever asks more of it; None where no ranges were wanted

    @property
    def rank(self) -> float:
        """The count as a number: inf where no count meets the target, nan where another reason leaves none."""
        if self.count is not None:
            return float(self.count)
        return math.inf if self.exit_code == InfeasibleError.exit_code else math.nan

    @property
    def answer(self) -> AliasAnswer | None:
        """The whole answer, with its curve; None without I/O and where there is no answer."""
        return self.sized.answer() if self.sized is not None and not self.problem else None


def need(
    cases: Sequence[Case],
    law: Law,
    target: Target | None = None,
    growth: ArrayLike = 0.0,
    *,
    ranges: bool = True,
) -> list[Need]:
    """Find the smallest number of aliases that meets a target, for each of many intervals."""
    shares = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(cases),)).tolist()
    sized = size(cases, law, target or Target(), shares, every=ranges)
    if ranges:
        others_together([each for each in sized if isinstance(each, SizedPool) and each.counted])
    return [Need() if each is None else _answered(each, ranges=ranges) for each in sized]


def size(
    cases: Sequence[Case], law: Law, target: Target, growth: Sequence[float], *, every: bool = True
) -> list[Sized | PlannerError | None]:
    """Read every case and find its counts, side by side, only these where not `every`; None where there is no I/O."""
    measured = [tuple(map(ordered, case)) for case in cases]
    found: list[Sized | PlannerError | None] = [None] * len(cases)
    volumes: list[int] = []
    pools: list[int] = []
    for k, case in enumerate(measured):
        if not case or growth[k] <= -1.0:
            continue
        try:
            _check(case)
        except PlannerError as problem:
            found[k] = problem
            continue
        (volumes if case[-1].bases == 1 and case[-1].queue_known else pools).append(k)

    def of(places: Sequence[int]) -> tuple[list[tuple[Run, ...]], Law, Target, list[float]]:
        return [measured[k] for k in places], law, target, [growth[k] for k in places]

    steady = size_pools(*of(pools), every=every)
    bursty = [k for k, each in zip(pools, steady, strict=True) if each is None]
    for places, sized in (
        (volumes, size_volumes(*of(volumes))), (pools, steady), (bursty, size_bursty_pools(*of(bursty)))
    ):  # fmt: skip
        for k, each in zip(places, sized, strict=True):
            found[k] = each
    count_together([each for each in found if isinstance(each, SizedPool)])
    unsolved = [k for k, each in enumerate(found) if isinstance(each, SizedPool) and each.unsolved]
    read = [k for k in unsolved if measured[k][-1].queue_known]
    for k, each in zip(read, size_bursty_pools(*of(read)), strict=True):
        found[k] = each  # candidates of each volume alone need no solution of the pool
    if every:
        _with_ends(found, measured, law, target, growth)
    return found


def _with_ends(
    found: list[Sized | PlannerError | None], cases: Sequence[Case], law: Law, target: Target, growth: Sequence[float]
) -> None:  # fmt: skip
    """Read those without a measured service time at both ends of what it may be; their ranges hold what comes of it."""
    asked = [
        (k, tuple(run.ends[side] if run.ends else run for run in case))
        for k, case in enumerate(cases)
        if isinstance(found[k], Sized) and case[-1].ends
        for side in (0, 1)
    ]
    if not asked:
        return
    ends = size([case for _, case in asked], law, target, [growth[k] for k, _ in asked])
    for (k, _), end in zip(asked, ends, strict=True):
        sized = found[k]
        assert isinstance(sized, Sized)
        sized.at_ends = (*sized.at_ends, end)


def ordered(run: Run) -> Run:
    """The volumes in the order of what was measured of them, so that no answer depends on that of a file."""
    numbers = [
        np.broadcast_to(end, run.io_rate.value.shape)
        for each in (run.io_rate, run.service, run.queued, (run.together,))
        for end in each
    ]
    order = np.lexsort([run.queue_shown, *(-each for each in numbers[::-1])])
    if (order == np.arange(order.size)).all():
        return run
    rate, service, queued = (
        Interval(*(np.broadcast_to(end, order.shape)[order] for end in each))
        for each in (run.io_rate, run.service, run.queued)
    )
    return replace(
        run, volumes=tuple(run.volumes[k] for k in order), io_rate=rate, service=service, queued=queued,
        queue_shown=run.queue_shown[order],
        together=run.together if np.ndim(run.together) == 0 else np.asarray(run.together)[order],
    )  # fmt: skip


def _check(case: Case) -> None:
    """Refuse measurements of different systems, and one that contradicts itself."""
    if len({(run.bases, run.pool) for run in case}) > 1:
        raise InputError("listings", [run.name for run in case], "measurements of the same volumes")
    for run in case:
        run.check()


def _answered(sized: Sized | PlannerError, *, ranges: bool) -> Need:
    """Count and range of what was read, or why there is none."""
    if isinstance(sized, PlannerError):
        return _unanswered(sized, None)
    try:
        low, high = sized.range if ranges else (None, None)
        return Need(
            count=sized.count, low=low, high=high, decided=sized.decided, sized=sized if ranges else None
        )  # fmt: skip
    except PlannerError as problem:
        return _unanswered(problem, sized)


def _unanswered(problem: PlannerError, sized: Sized | None) -> Need:
    # What did not converge, and by how much, is no word for a user.
    words = "it could not be solved" if isinstance(problem, ConvergenceError) else str(problem)
    return Need(
        count=None, low=None, high=None, decided=sized.decided if sized else "", problem=words,
        exit_code=problem.exit_code, sized=sized,
    )  # fmt: skip
