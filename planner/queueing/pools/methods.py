"""The methods that solve a pool, in the order in which they are asked, and the loop that asks them.

An answer that breaks its own balance, or an iteration that does not settle, goes on to the next method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import Final

from planner.errors import ConvergenceError, InputError
from planner.queueing.pools.closed_field.closed_field import closed_field_steps, suits_closed_field
from planner.queueing.pools.exact.closed_chain import solve_lumped
from planner.queueing.pools.exact.open_chain import (
    FULL,
    MOST_VOLUMES,
    QUICK,
    is_small_chain,
    solve_open_chain,
)
from planner.queueing.pools.exact.phased_chain import solve_phased
from planner.queueing.pools.field.mean_field import Field, mean_field_steps
from planner.queueing.pools.full_volumes import solve_full_volumes, suits_full_volumes
from planner.queueing.pools.independent import is_independent, solve_independent
from planner.queueing.pools.open_field.open_field import open_field_steps, suits_open_field
from planner.queueing.pools.outcome import Outcome, check_balance
from planner.queueing.pools.pool import CheckedPool
from planner.queueing.pools.service_variation import with_variation
from planner.queueing.pools.stability import is_stable, solve_saturated

Step = tuple[Outcome, Field | None]

APART: Final = 2.0
"""Longest service time over the shortest, from which on a pool has chains of its classes."""
AUTO_STATES: Final = 1_000
"""Bound on the states up to which "auto" solves several closed volumes exactly, in about the time of the mean field."""
LAST_STATES: Final = 1_000_000
"""The same where no field gave an answer; the states themselves may be 30,000."""


@dataclass(frozen=True)
class PoolMethod:
    """One way to solve a pool; `kind` is what `PoolSteady.method` says of it, `near` how near it is."""

    name: str
    kind: str
    passes: frozenset[str]
    takes: Callable[[CheckedPool, int], bool]
    steps: Callable[[CheckedPool, int, Field | None], Iterator[Step]]
    near: str


def solution_steps(
    pool: CheckedPool, aliases: int, passes: frozenset[str], start: Field | None
) -> Iterator[Step]:
    """Solve one alias count by the first method of `METHODS` that takes it and whose answer is in balance.

    `start` is where another alias count, or a pool of as many classes, ended. The last step has settled.
    """
    refused: ConvergenceError | InputError | None = None
    for method in METHODS:
        if not (passes & method.passes and method.takes(pool, aliases)):
            continue
        try:
            step = None
            for step in method.steps(pool, aliases, start):
                yield step
            assert step is not None
            check_balance(pool, aliases, step[0])
        except (ConvergenceError, InputError) as error:
            refused = refused or error
            continue
        return
    raise refused or InputError("method", "exact", "the mean field where scv is not 1")


def may_be_quick(pool: CheckedPool, largest: int) -> bool:
    """Whether an exact chain may cost no more than the field; with open classes its size is not known beforehand."""
    if pool.scv != 1.0:
        return False
    if pool.bases == 1:
        return is_independent(pool, largest)
    if not pool.closed.all():
        return is_small_chain(pool)
    return _few_closed_states(pool, AUTO_STATES)


def _once(
    solve: Callable[[CheckedPool, int], Outcome],
) -> Callable[[CheckedPool, int, Field | None], Iterator[Step]]:
    """Steps of a method that takes no iteration."""

    def steps(pool: CheckedPool, aliases: int, _start: Field | None) -> Iterator[Step]:
        yield solve(pool, aliases), None

    return steps


def _open_steps(pool: CheckedPool, aliases: int, _start: Field | None) -> Iterator[Step]:
    exponential = pool if pool.closed.any() else replace(pool, scv=1.0)
    for outcome in open_field_steps(exponential, aliases):
        yield _varied(pool, aliases, outcome), None


def _closed_steps(pool: CheckedPool, aliases: int, _start: Field | None) -> Iterator[Step]:
    for outcome in closed_field_steps(pool, aliases):
        yield outcome, None


def _field_steps(pool: CheckedPool, aliases: int, start: Field | None) -> Iterator[Step]:
    """The field of any pool, afresh where another one's end leads nowhere."""
    exponential = pool if pool.closed.any() else replace(pool, scv=1.0)
    try:
        for outcome, field in mean_field_steps(exponential, aliases, start):
            yield _varied(pool, aliases, outcome), field
    except ConvergenceError:
        if start is None:
            raise
        yield from _field_steps(pool, aliases, None)


def _varied(pool: CheckedPool, aliases: int, outcome: Outcome) -> Outcome:
    """Of open classes alone the wait of the two-moment law."""
    return outcome if pool.closed.any() else with_variation(pool, aliases, outcome, pool.scv)


def _apart(pool: CheckedPool) -> bool:
    """Whether service times differ by more than the field of any pool can do with the mean of what aliases hold."""
    return float(pool.service.max()) > APART * float(pool.service.min())


def _few_closed_states(pool: CheckedPool, most: int) -> bool:
    """Whether a bound on the states of a closed pool is small enough."""
    bound = 1
    kinds = 1 + (pool.alias_redrive_time > 0.0)
    bases = 1 + (pool.redrive_time > 0.0)
    for count, people in zip(pool.volumes.astype(int), pool.population.astype(int), strict=True):
        one = comb(people - 1 + kinds, kinds) + bases * comb(people + kinds, kinds + 1)
        bound *= comb(count + one - 1, count)
    return bound <= most


def _closed(pool: CheckedPool, _aliases: int) -> bool:
    """Closed classes alone, exponential service."""
    return bool(pool.closed.all()) and pool.scv == 1.0


def _opened(pool: CheckedPool, _aliases: int) -> bool:
    """Some open class, exponential service."""
    return not pool.closed.all() and pool.scv == 1.0


EXACT: Final = frozenset({"exact"})
QUICKLY: Final = frozenset({"quick"})
FIELD: Final = frozenset({"field"})
AT_LAST: Final = frozenset({"last"})

METHODS: Final = (
    PoolMethod(
        "saturated", "exact", EXACT | QUICKLY | FIELD, lambda pool, aliases: not is_stable(pool, aliases),
        _once(solve_saturated), "a limit; how overloaded volumes with inflation share the aliases is an estimate",
    ),
    PoolMethod(
        "independent volumes", "exact", EXACT | QUICKLY | FIELD, is_independent,
        _once(solve_independent), "exact; open volumes with scv other than 1 by a two-moment law",
    ),
    PoolMethod(
        "closed chain in phases", "exact", EXACT, lambda pool, _: bool(pool.closed.all()) and pool.scv != 1.0,
        _once(solve_phased), "exact, up to 10,000 states",
    ),
    PoolMethod(
        "closed chain", "exact", EXACT | QUICKLY, _closed, _once(solve_lumped), "exact, up to 30,000 states",
    ),
    PoolMethod(
        "chain of levels", "exact", EXACT, _opened,
        _once(lambda pool, aliases: solve_open_chain(pool, aliases, FULL)), "but for 1e-8 of the mean queue",
    ),
    PoolMethod(
        "short chain of levels", "exact", QUICKLY, _opened,
        _once(lambda pool, aliases: solve_open_chain(pool, aliases, QUICK)), "but for 1e-8 of the mean queue",
    ),
    PoolMethod(
        "field of open volumes", "mean-field", FIELD, suits_open_field, _open_steps,
        "waits to 5 %, 10 % with scv and where service times differ",
    ),
    PoolMethod(
        "field of closed volumes", "mean-field", FIELD,
        lambda pool, aliases: _apart(pool) and suits_closed_field(pool, aliases), _closed_steps, "waits to a tenth",
    ),
    PoolMethod(
        "field of any pool", "mean-field", FIELD, lambda *_: True, _field_steps,
        "waits to 5 %, 6 % with inflation, 10 % with scv, a fifth where service times differ",
    ),
    PoolMethod(
        "full volumes", "mean-field", FIELD, suits_full_volumes, _once(solve_full_volumes),
        "where the field is out of balance since requesters hardly think: waits to a tenth",
    ),
    PoolMethod(
        "chain of levels at last", "exact", AT_LAST,
        lambda pool, aliases: _opened(pool, aliases) and pool.bases <= MOST_VOLUMES and not pool.slowed,
        _once(lambda pool, aliases: solve_open_chain(pool, aliases, FULL)), "but for 1e-8 of the mean queue",
    ),
    PoolMethod(
        "closed chain at last", "exact", AT_LAST,
        lambda pool, aliases: _closed(pool, aliases) and _few_closed_states(pool, LAST_STATES),
        _once(solve_lumped), "exact, up to 30,000 states",
    ),
    PoolMethod(
        "field of closed volumes, alike", "mean-field", FIELD,
        lambda pool, aliases: not _apart(pool) and suits_closed_field(pool, aliases), _closed_steps,
        "where the field of any pool is out of balance: waits to a tenth",
    ),
)  # fmt: skip
"""Which pool, which method, how near: the first one that takes a pool and gives an answer in balance answers."""
