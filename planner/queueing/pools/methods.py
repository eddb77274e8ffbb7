"""The methods that solve pools: which takes which, and how near it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner.errors import ConvergenceError, InputError
from planner.queueing.pools.exact.lumped import MAX_STATES, solve_lumped
from planner.queueing.pools.exact.open_chain import MOST_VOLUMES, solve_open_chain
from planner.queueing.pools.field.device_rates import with_gap_wait
from planner.queueing.pools.field.elements import Elements
from planner.queueing.pools.field.mean_field import solve_field
from planner.queueing.pools.independent import (
    CROWD,
    crowded,
    may_be_crowded,
    solve_independent,
    states_of_one,
    without_aliases,
)
from planner.queueing.pools.outcome import Outcome, balanced, imbalance
from planner.queueing.pools.pool import CheckedPool, Scenarios
from planner.queueing.pools.stability import solve_saturated
from planner.results import Flags, Integers

NEARLY_FULL: Final = 0.8
"""Load of an open volume, relative to what its devices serve, from which on its queue is long."""
NEARLY_BALANCED: Final = 0.05
"""Largest relative error of a balance up to which a closed pool has an answer whose iteration did not settle: its few
volumes take rate from each other from pass to pass, while the sums stand."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Elements, and the pools that they are of."""

    scenarios: Scenarios
    scenario: Integers  # Of each element
    elements: Elements
    stable: Flags  # Whether no queue grows without bound

    def pool(self, element: int) -> tuple[CheckedPool, int]:
        """One of them by itself, its active classes alone, and its aliases."""
        return self.scenarios.pool(int(self.scenario[element])), int(self.elements.aliases[element])


Solver = Callable[[Asked, Integers], tuple[Outcome, Flags]]
"""What solves some elements, and says which of them it settles."""


@dataclass(frozen=True)
class PoolMethod:
    """One way to solve pools; `kind` is what `PoolSteady.method` says of it."""

    kind: str
    asked_by: frozenset[str]
    takes: Callable[[Asked], Flags]
    solve: Solver
    tries: bool = False  # Whether it leaves to others what it does not settle


def _any(asked: Asked) -> Flags:
    return np.ones(asked.stable.size, dtype=bool)


def _nothing_arrives(asked: Asked) -> Flags:
    return np.asarray(~(asked.elements.volumes > 0.0).any(axis=-1))


def _idle(asked: Asked, which: Integers) -> tuple[Outcome, Flags]:
    here = asked.elements.of(which)
    outcome = Outcome.empty(here)
    outcome.free_law[np.arange(which.size), here.aliases.astype(np.int64)] = 1.0
    return outcome, np.ones(which.size, dtype=bool)


def _side_by_side(solve: Callable[[Elements], Outcome]) -> Solver:
    """Solve elements in one call."""

    def solved(asked: Asked, which: Integers) -> tuple[Outcome, Flags]:
        here = asked.elements.of(which)
        outcome = solve(here)
        return outcome, balanced(here, outcome)

    return solved


def _one_by_one(solve: Callable[[CheckedPool, int], Outcome]) -> Solver:
    """Solve elements apart, equal ones once."""

    def solved(asked: Asked, which: Integers) -> tuple[Outcome, Flags]:
        here = asked.elements.of(which)
        outcome = Outcome.empty(here)
        known: dict[tuple[int, int], Outcome] = {}
        for at, element in enumerate(which.tolist()):
            pool, aliases = asked.pool(element)
            key = int(asked.scenario[element]), aliases
            if key not in known:
                known[key] = solve(pool, aliases)
            outcome.write(np.array(at), known[key], here.volumes[at] > 0.0)
        return outcome, balanced(here, outcome)

    return solved


def _by_classes(solve: Callable[[Elements], tuple[Outcome, Flags]]) -> Solver:
    """Solve elements of as many classes together: one without volumes costs as much as another."""

    def solved(asked: Asked, which: Integers) -> tuple[Outcome, Flags]:
        here = asked.elements.of(which)
        outcome = Outcome.empty(here)
        settled = np.zeros(which.size, dtype=bool)
        numbers = (here.volumes > 0.0).sum(axis=-1)
        for classes in np.unique(numbers).tolist():
            of = np.flatnonzero(numbers == classes)
            part = here.of(of)
            order = np.argsort(part.volumes <= 0.0, axis=-1, kind="stable")[:, :classes]
            found, settled[of] = solve(part.with_classes(order))
            outcome.write(of, found.spread(order, here.volumes.shape[-1]))
        return outcome, settled & balanced(here, outcome)

    return solved


def _field(elements: Elements) -> tuple[Outcome, Flags]:
    outcome, settled = solve_field(elements)
    return with_gap_wait(elements, outcome), settled


def _by_chains_of_one(asked: Asked) -> Flags:
    """Volumes that do not meet, with a gap or nearly saturated, fewer aliases than ample and few enough states."""
    elements = asked.elements
    single = elements.volumes.sum(axis=-1) == 1.0
    load = (elements.volumes * elements.arrival_rate * elements.service).sum(axis=-1)
    full = load * (1.0 + elements.inflation * elements.aliases) > NEARLY_FULL * (elements.aliases + 1.0)
    gap = elements.redrive_time > 0.0
    some = elements.independent & (gap & (elements.aliases < elements.most_beyond) | single & full)
    some[some] = ~elements.of(some).ample
    for element in np.flatnonzero(some & single).tolist():
        pool, aliases = asked.pool(element)
        some[element] = not pool.closed[0] or states_of_one(pool, aliases) <= MAX_STATES
    return np.asarray(some)


def _solve_exact(pool: CheckedPool, aliases: int) -> Outcome:
    return solve_lumped(pool, aliases) if pool.closed.all() else solve_open_chain(pool, aliases)


def _at_last(asked: Asked, which: Integers) -> tuple[Outcome, Flags]:
    """Where the field has not settled: chains of few enough states, or volumes, and pools that are nearly crowded."""
    here = asked.elements.of(which)
    outcome, found = _by_classes(partial(crowded, least=0.5 * CROWD))(asked, which)
    few = here.volumes.sum(axis=-1) <= MOST_VOLUMES
    for at in np.flatnonzero(few | here.closed.all(axis=-1)).tolist():
        with suppress(InputError, ConvergenceError):
            part, good = _one_by_one(_solve_exact)(asked, which[at : at + 1])
            if good[0]:
                outcome.write(np.array([at]), part)
                found[at] = True
    return outcome, found


EXACT: Final = frozenset({"exact"})
FIELD: Final = frozenset({"auto", "mean-field"})

METHODS: Final = (
    PoolMethod("exact", EXACT | FIELD, _nothing_arrives, _idle),
    # A limit; how overloaded volumes with inflation share the aliases is an estimate.
    PoolMethod("exact", EXACT | FIELD, lambda asked: ~asked.stable, _side_by_side(solve_saturated)),
    PoolMethod(
        "exact", EXACT | FIELD, lambda asked: asked.elements.aliases == 0.0, _side_by_side(without_aliases)
    ),
    PoolMethod("exact", EXACT | FIELD, _by_chains_of_one, _one_by_one(solve_independent)),
    # Exact but for rounding: given D the laws of volumes that do not meet are a product.
    PoolMethod("exact", EXACT | FIELD, lambda asked: asked.elements.independent, _by_classes(_field)),
    # Closed pools up to 30,000 states; two to four volumes with open classes but for 1e-8 of the mean queue.
    PoolMethod("exact", EXACT, _any, _one_by_one(_solve_exact)),
    # Throughputs to 1.5 %, where somebody always waits.
    PoolMethod(
        "mean-field", FIELD, lambda asked: may_be_crowded(asked.elements), _by_classes(crowded), tries=True
    ),
    # Waits to 5 %, 6 % with inflation or gaps, a tenth where service times differ.
    PoolMethod("mean-field", FIELD, _any, _by_classes(_field)),
)
"""Which pools, which method, how near: the first one that takes an element answers."""


def solve_all(asked: Asked, method: str) -> tuple[Outcome, Flags, str]:
    """Solve every element by the first method that takes it; which converged, and of what kind the answer is.

    A closed pool that no method settles keeps what its own came to, where that nearly balances.
    """
    elements = asked.elements
    outcome = Outcome.empty(elements)
    converged, left = np.zeros(elements.aliases.size, dtype=bool), np.ones(elements.aliases.size, dtype=bool)
    kinds = set()
    for each in METHODS:
        if method not in each.asked_by or not left.any():
            continue
        which = np.flatnonzero(left & each.takes(asked))
        if which.size:
            found, settled = each.solve(asked, which)
            outcome.write(which, found)
            converged[which], left[which] = settled, each.tries & ~settled
            kinds.add(each.kind)
    failed = np.flatnonzero(~converged)
    if failed.size and method in FIELD:
        found, settled = _at_last(asked, failed)
        outcome.write(failed[settled], found.of(settled))
        converged[failed] = settled
        closed = failed[~settled & elements.of(failed).closed.all(axis=-1)]
        converged[closed] = imbalance(elements.of(closed), outcome.of(closed)) <= NEARLY_BALANCED
    return outcome, converged, "mean-field" if "mean-field" in kinds else "exact"
