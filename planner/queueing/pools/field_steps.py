"""One alias count by a mean field, iteration by iteration, from where another count ended or afresh.

What takes no iteration is one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.errors import ConvergenceError
from planner.queueing.pools.independent import is_independent, solve_independent
from planner.queueing.pools.mean_field import Field, extended, mean_field_steps
from planner.queueing.pools.open_field import OpenState, is_plain_open, open_field_steps
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.queueing.pools.service_variation import with_variation
from planner.queueing.pools.stability import is_stable, solve_saturated

State = Field | OpenState


def field_steps(
    pool: Pool, aliases: int, start: State | None = None
) -> Iterator[tuple[Outcome, State | None]]:
    """Solve one alias count; what needs no mean field is answered at once.

    Parameters
    ----------
    pool : Pool
        Any pool.
    aliases : int
        Its aliases [1].
    start : Field or OpenState, optional
        Where another alias count, or a pool of as many classes, ended. Where it leads nowhere, or belongs to the other
        sort of pool, the iteration begins afresh.

    Yields
    ------
    tuple of (Outcome, Field or OpenState or None)
        The answer so far and the state of its iteration, None where there was none; the last one has settled.

    Raises
    ------
    ConvergenceError
        An iteration that did not settle.
    """
    solved = pool if pool.closed.any() else replace(pool, scv=1.0)
    for outcome, state in _steps(solved, aliases, start):
        yield outcome if pool.closed.any() else with_variation(pool, aliases, outcome), state


def continued(earlier: State | None, last: State | None, aliases: int) -> State | None:
    """Where another alias count of a sweep begins: the last one, carried on where that is known how.

    Parameters
    ----------
    earlier, last : Field or OpenState or None
        Where the iterations of the last two counts ended.
    aliases : int
        The next count [1].

    Returns
    -------
    Field or OpenState or None
        Where to begin.
    """
    if isinstance(last, Field):
        return extended(earlier if isinstance(earlier, Field) else None, last, aliases)
    return last


def _steps(pool: Pool, aliases: int, start: State | None) -> Iterator[tuple[Outcome, State | None]]:
    if not is_stable(pool, aliases):
        yield solve_saturated(pool, aliases), None
    elif is_independent(pool, aliases):
        yield solve_independent(pool, aliases), None
    else:
        try:
            yield from _iterations(pool, aliases, start)
        except ConvergenceError:
            if start is None:
                raise
            yield from _iterations(pool, aliases, None)


def _iterations(pool: Pool, aliases: int, start: State | None) -> Iterator[tuple[Outcome, State]]:
    if is_plain_open(pool):
        yield from open_field_steps(pool, aliases, start if isinstance(start, OpenState) else None)
    else:
        yield from mean_field_steps(pool, aliases, start if isinstance(start, Field) else None)
