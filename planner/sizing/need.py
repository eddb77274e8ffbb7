"""The one question about aliases: how many an interval of a volume or pool needs. Every command asks it here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import Law
from planner.errors import ConvergenceError, PlannerError
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.search import answered
from planner.sizing.target import Target

IDLE: Final = "idle"
Case = Sequence[Run]
"""Measurements of one volume or pool, with different numbers of aliases, the present state last; none without I/O."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """How many aliases one interval needs.

    Attributes
    ----------
    count : int or None
        Smallest count that meets the target, aliases in use included; None where there is no answer.
    low, high : int or None
        Its 90 % range; None where there is no answer, or none was wanted.
    decided : str
        What decided: "idle", "steady demand", "bursty demand", "saturated", "measured".
    problem : str
        Why there is no answer; empty where there is one.
    exit_code : int
        What a command returns for the problem.
    answer : AliasAnswer or None
        The whole answer, with its curve; None without I/O and where there is no answer.
    """

    count: int | None = None
    low: int | None = None
    high: int | None = None
    decided: str = ""
    problem: str = ""
    exit_code: int = 0
    answer: AliasAnswer | None = None


def need(
    cases: Sequence[Case],
    law: Law,
    target: Target | None = None,
    growth: ArrayLike = 0.0,
    *,
    ranges: bool = True,
) -> list[Need]:
    """Find the smallest number of aliases that meets a target, for each of many intervals.

    Parameters
    ----------
    cases : sequence of sequence of Run
        Of each interval its measurement, or several with different numbers of aliases, the present state last; none
        where it did no I/O.
    law : Law
        Inflation and redrive gap of the devices.
    target : Target, optional
        What must be achieved; by default the wait is at most 5 % of the service time.
    growth : array_like, optional
        Share by which the demand of each case grows first, above -1, shape () or (cases,) [1].
    ranges : bool, optional
        Whether the ranges are wanted: counts alone cost less.

    Returns
    -------
    list of Need
        One a case; a case does not change the answer to another, and one without an answer says why.
    """
    shares = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(cases),)).tolist()
    wanted = target or Target()
    return [_need(tuple(case), law, wanted, share, ranges) for case, share in zip(cases, shares, strict=True)]


def _need(case: tuple[Run, ...], law: Law, target: Target, growth: float, ranges: bool) -> Need:
    if not case or growth <= -1.0:
        return Need(count=0, low=0, high=0, decided=IDLE)
    try:
        answer = answered(case, law, target, growth)
    except ConvergenceError as problem:  # what did not converge, and by how much, is no word for a user
        return Need(problem=f"{case[-1].name} could not be solved", exit_code=problem.exit_code)
    except PlannerError as problem:
        return Need(problem=str(problem), exit_code=problem.exit_code)
    low, high = answer.range if ranges else (None, None)
    decided = "saturated" if answer.saturated else "steady demand"
    return Need(count=answer.recommended, low=low, high=high, decided=decided, answer=answer)
