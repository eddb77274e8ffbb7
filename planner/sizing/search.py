"""The search for the fewest aliases of one volume or pool, with the sweep over all counts that its answer shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.demand import Law
from planner.errors import InfeasibleError, InputError
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer
from planner.sizing.bounds import interval, moved_laws, needed, span
from planner.sizing.classic import classic_aliases
from planner.sizing.comparison import gains
from planner.sizing.fewest import Tried, fewest
from planner.sizing.pools import pools_of, read_demands
from planner.sizing.target import Target
from planner.sizing.wording import beside, grouping, notes, why

ROWS_BEYOND: Final = 2


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
        Growth below -1 or not finite, or measurements of different systems.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        A pool could not be solved.
    """
    target = target or Target()
    if not math.isfinite(growth) or growth < 0:
        raise InputError("growth", growth, "a share of zero or more")
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    run = several[-1]
    combined, fitted, left_out = read_demands(several, law)
    pools, grouping_error = pools_of(combined, run, law, growth)
    counts: list[int] = []
    begin: int | None = None
    tried: dict[int, Tried] = {}
    for pool in pools:
        try:
            begin, tried = fewest(pool, target, run, begin, tried)
        except InfeasibleError as error:
            raise InfeasibleError(f"{run.name}: {error}") from None
        counts.append(begin)
    recommended, rule = counts[0], run.rule_of_thumb
    last = min(max(recommended, rule or 0, run.aliases) + ROWS_BEYOND, run.most_aliases)
    sweep = np.arange(last + 1, dtype=np.float64)
    solved = [pool.solve(sweep) for pool in pools]
    known = None if fitted or growth else run.aliases
    classic = classic_aliases(pools[:1], target)[0] if run.pool else None
    gained = gains(pools[0], solved[0], min(run.aliases, last), recommended)
    laws = moved_laws(pools[0], law, solved[0], min(run.aliases, last))
    moved = [pool.solve(sweep) for pool in laws]
    rate_low, rate_high = interval(lambda rows: rows.io_rate, solved, moved, law, run.aliases, known)
    response_low, response_high = interval(
        lambda rows: rows.response_time, solved, moved, law, run.aliases, known
    )
    wanted = [needed(*each, target, run) for each in zip(laws, moved, strict=True)]
    return AliasAnswer(
        name=run.name,
        recommended=recommended,
        range=span([*counts, *wanted], rule),
        rule_of_thumb=rule,
        in_use=run.aliases,
        target=target,
        readings=tuple(combined),
        counts=tuple(counts),
        rows=solved[0],
        rate_low=rate_low,
        rate_high=rate_high,
        response_low=response_low,
        response_high=response_high,
        measured_rate=run.io_rate,
        classic=classic,
        gains=gained,
        grouping_error=grouping_error,
        why=why(run, combined, counts, solved, recommended),
        notes=(
            *left_out,
            *beside(recommended, classic, gained),
            *grouping(run, pools[0], grouping_error),
            *notes(run, recommended, growth, len(combined)),
        ),
    )
