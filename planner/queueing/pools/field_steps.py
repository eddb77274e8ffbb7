"""One alias count by a mean field, iteration by iteration, from where another count ended or afresh.

What takes no iteration is one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.errors import ConvergenceError
from planner.queueing.pools.independent import is_independent, solve_independent
from planner.queueing.pools.mean_field import Field, mean_field_steps
from planner.queueing.pools.open_field import open_field_steps, suits_open_field
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import Pool
from planner.queueing.pools.service_variation import with_variation
from planner.queueing.pools.stability import is_stable, solve_saturated

Step = tuple[Outcome, Field | None]


def field_steps(pool: Pool, aliases: int, start: Field | None = None) -> Iterator[Step]:
    """Solve one alias count.

    Parameters
    ----------
    pool : Pool
        Any pool.
    aliases : int
        Its aliases [1].
    start : Field, optional
        Where another alias count, or a pool of as many classes, ended; where it leads nowhere the iteration begins
        afresh. Open pools without inflation and gaps settle as soon without one.

    Yields
    ------
    tuple of (Outcome, Field or None)
        The answer so far and the state of its iteration, None where nothing begins from it; the last one has settled.

    Raises
    ------
    ConvergenceError
        An iteration that did not settle.
    """
    solved = pool if pool.closed.any() else replace(pool, scv=1.0)
    for outcome, field in _steps(solved, aliases, start):
        yield outcome if pool.closed.any() else with_variation(pool, aliases, outcome, pool.scv), field


def _steps(pool: Pool, aliases: int, start: Field | None) -> Iterator[Step]:
    if not is_stable(pool, aliases):
        yield solve_saturated(pool, aliases), None
    elif is_independent(pool, aliases):
        yield solve_independent(pool, aliases), None
    else:
        yield from _by_field(pool, aliases, start)


def _by_field(pool: Pool, aliases: int, start: Field | None) -> Iterator[Step]:
    """The field that knows open classes best where it suits and settles; else that of any pool, afresh if need be."""
    if suits_open_field(pool, aliases):
        try:
            yield from ((outcome, None) for outcome in open_field_steps(pool, aliases))
            return
        except ConvergenceError:
            if pool.even and not (pool.closed.any() or pool.slowed):
                raise
    try:
        yield from mean_field_steps(pool, aliases, start)
    except ConvergenceError:
        if start is None:
            raise
        yield from mean_field_steps(pool, aliases)
