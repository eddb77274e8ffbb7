"""The one question: the fewest aliases of a volume or pool that meet a target."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.demand import Law, Target
from planner.errors import InputError, PlannerError
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.need import size


def aliases(
    runs: Run | Sequence[Run], law: Law, *, target: Target | None = None, growth: float = 0.0
) -> AliasAnswer:
    """Find the smallest number of aliases that meets a target.

    Parameters
    ----------
    runs : Run or sequence of Run
        One measurement of a volume or pool, or several of the same system with different alias counts, of which
        the last is the present state.
    law : Law
        Inflation and redrive gap, with their errors.
    target : Target, optional
        What must be achieved; by default queueing is gone.
    growth : float, optional
        Share by which the demand grows first.

    Returns
    -------
    AliasAnswer
        Counts are totals, aliases in use included.

    Raises
    ------
    InputError
        Growth below zero or not finite, measurements of different systems, or one that contradicts itself.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        A pool could not be solved.
    """
    if not math.isfinite(growth) or growth < 0:
        raise InputError("growth", growth, "a share of zero or more")
    case = (runs,) if isinstance(runs, Run) else tuple(runs)
    (sized,) = size([case], law, target or Target(), [growth])
    if isinstance(sized, PlannerError):
        raise sized
    if sized is None:
        raise InputError("runs", 0, "one measurement or more")
    return sized.answer()
