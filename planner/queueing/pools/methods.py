"""The methods that solve pools: which pools each takes, and its accuracy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner.errors import ConvergenceError, InputError
from planner.queueing.pools.field.device_rates import with_gap_wait
from planner.queueing.pools.field.elements import PoolElements
from planner.queueing.pools.field.mean_field import solve_field
from planner.queueing.pools.independent import (
    CROWD,
    crowded,
    few_states,
    may_be_crowded,
    solve_ample,
    solve_single,
    without_aliases,
)
from planner.queueing.pools.lumped import MAX_STATES, solve_lumped
from planner.queueing.pools.outcome import Outcome, balanced, imbalance
from planner.queueing.pools.pool import CheckedPools, OnePool
from planner.queueing.pools.stability import solve_saturated
from planner.results import Flags, Integers

NEARLY_FULL: Final = 0.8
"""Load of an open volume, relative to the capacity of its devices, above which its queue is long."""
NEARLY_BALANCED: Final = 0.05
"""Largest relative error of a balance with which an unsettled closed pool still has an answer: its few volumes exchange
rate from pass to pass, while the sums stay."""


@dataclass(frozen=True, eq=False)
class PoolBatch:
    """Elements, and their pools."""

    scenarios: CheckedPools
    scenario: Integers  # Of each element
    elements: PoolElements
    stable: Flags  # Whether no queue grows without bound

    def pool(self, element: int) -> tuple[OnePool, int]:
        """Pool of one element, with its active classes only, and its aliases."""
        return self.scenarios.pool(int(self.scenario[element])), int(self.elements.aliases[element])


Solver = Callable[[PoolBatch, Integers], tuple[Outcome, Flags]]
"""Function that solves some elements, and returns which of them it settled."""


@dataclass(frozen=True)
class PoolMethod:
    """One way to solve pools; `kind` appears in `PoolSteady.method`."""

    kind: str
    asked_by: frozenset[str]
    takes: Callable[[PoolBatch], Flags]
    solve: Solver
    tries: bool = False  # Whether later methods get the elements it does not settle


def _any(batch: PoolBatch) -> Flags:
    return np.ones(batch.stable.size, dtype=bool)


def _nothing_arrives(batch: PoolBatch) -> Flags:
    return np.asarray(~(batch.elements.volumes > 0.0).any(axis=-1))


def _idle(batch: PoolBatch, which: Integers) -> tuple[Outcome, Flags]:
    here = batch.elements.of(which)
    outcome = Outcome.empty(here)
    outcome.free_distribution[np.arange(which.size), here.aliases.astype(np.int64)] = 1.0
    return outcome, np.ones(which.size, dtype=bool)


def _side_by_side(solve: Callable[[PoolElements], Outcome]) -> Solver:
    """Solve elements in one call."""

    def solved(batch: PoolBatch, which: Integers) -> tuple[Outcome, Flags]:
        here = batch.elements.of(which)
        outcome = solve(here)
        return outcome, balanced(here, outcome)

    return solved


def _one_by_one(solve: Callable[[OnePool, int], Outcome]) -> Solver:
    """Solve elements one by one."""

    def solved(batch: PoolBatch, which: Integers) -> tuple[Outcome, Flags]:
        here = batch.elements.of(which)
        outcome = Outcome.empty(here)
        for at, element in enumerate(which.tolist()):
            outcome.write(np.array(at), solve(*batch.pool(element)), here.volumes[at] > 0.0)
        return outcome, balanced(here, outcome)

    return solved


def _by_classes(solve: Callable[[PoolElements], tuple[Outcome, Flags]]) -> Solver:
    """Solve elements with equal numbers of classes together: an empty class costs as much as any other."""

    def solved(batch: PoolBatch, which: Integers) -> tuple[Outcome, Flags]:
        here = batch.elements.of(which)
        outcome = Outcome.empty(here)
        settled = np.zeros(which.size, dtype=bool)
        numbers = (here.volumes > 0.0).sum(axis=-1)
        for classes in np.unique(numbers).tolist():
            of = np.flatnonzero(numbers == classes)
            part = here.of(of)
            order = np.argsort(part.volumes <= 0.0, axis=-1, kind="stable")[:, :classes]
            found, settled[of] = solve(part.with_classes(order))
            outcome.write(of, found.by_class(order, here.volumes.shape[-1]))
        return outcome, settled & balanced(here, outcome)

    return solved


def _field(elements: PoolElements) -> tuple[Outcome, Flags]:
    outcome, settled = solve_field(elements)
    return with_gap_wait(elements, outcome), settled


def _single(batch: PoolBatch) -> Flags:
    """Single volumes with a gap or nearly saturated; of closed ones those with few states."""
    elements = batch.elements
    load = (elements.volumes * elements.arrival_rate * elements.service).sum(axis=-1)
    full = load * (1.0 + elements.inflation * elements.aliases) > NEARLY_FULL * (elements.aliases + 1.0)
    gap = (elements.redrive_time > 0.0) & (elements.aliases < elements.most_beyond)
    few = (elements.most_beyond == np.inf) | few_states(elements, MAX_STATES)
    return np.asarray((elements.volumes.sum(axis=-1) == 1.0) & (gap | full) & few)


def _at_last(batch: PoolBatch, which: Integers) -> tuple[Outcome, Flags]:
    """If the field did not settle a closed pool: its chain, if states are few enough, or as if it were crowded."""
    here = batch.elements.of(which)
    outcome, found = _by_classes(partial(crowded, least=0.5 * CROWD))(batch, which)
    for at in np.flatnonzero(here.closed.all(axis=-1)).tolist():
        with suppress(InputError, ConvergenceError):
            part, good = _one_by_one(solve_lumped)(batch, which[at : at + 1])
            if good[0]:
                outcome.write(np.array([at]), part)
                found[at] = True
    return outcome, found


EXACT: Final = frozenset({"exact"})
FIELD: Final = frozenset({"auto", "mean-field"})

METHODS: Final = (
    PoolMethod("exact", EXACT | FIELD, _nothing_arrives, _idle),
    # The limit; the shares of aliases among overloaded volumes with inflation are an estimate.
    PoolMethod("exact", EXACT | FIELD, lambda batch: ~batch.stable, _side_by_side(solve_saturated)),
    PoolMethod(
        "exact", EXACT | FIELD, lambda batch: batch.elements.aliases == 0.0, _side_by_side(without_aliases)
    ),
    # Exact but for a probability of 1e-9 that an I/O waits.
    PoolMethod("exact", FIELD, lambda batch: batch.elements.ample, _by_classes(solve_ample)),
    PoolMethod("exact", EXACT | FIELD, _single, _by_classes(solve_single)),
    # Exact except for rounding: given D, independent volumes have a product form.
    PoolMethod("exact", EXACT | FIELD, lambda batch: batch.elements.independent, _by_classes(_field)),
    # Closed pools up to 30,000 states; others are refused.
    PoolMethod("exact", EXACT, _any, _one_by_one(solve_lumped)),
    # Throughputs to 1.5 %, if some I/O always waits.
    PoolMethod(
        "mean-field", FIELD, lambda batch: may_be_crowded(batch.elements), _by_classes(crowded), tries=True
    ),
    # Waits to 5 %, 6 % with inflation or gaps, 10 % with different service times.
    PoolMethod("mean-field", FIELD, _any, _by_classes(_field)),
)
"""Methods with their pools and accuracies: the first one that takes an element answers."""


def solve_all(batch: PoolBatch, method: str) -> tuple[Outcome, Flags, str]:
    """Solve every element by the first method that takes it; return also which converged, and the kind of answer.

    A closed pool that no method settles keeps the result of its own method if that nearly balances.
    """
    elements = batch.elements
    outcome = Outcome.empty(elements)
    converged, left = np.zeros(elements.aliases.size, dtype=bool), np.ones(elements.aliases.size, dtype=bool)
    kinds = set()
    for each in METHODS:
        if method not in each.asked_by or not left.any():
            continue
        which = np.flatnonzero(left & each.takes(batch))
        if which.size:
            found, settled = each.solve(batch, which)
            outcome.write(which, found)
            converged[which], left[which] = settled, each.tries & ~settled
            kinds.add(each.kind)
    failed = np.flatnonzero(~converged)
    if failed.size and method in FIELD:
        found, settled = _at_last(batch, failed)
        outcome.write(failed[settled], found.of(settled))
        converged[failed] = settled
        closed = failed[~settled & elements.of(failed).closed.all(axis=-1)]
        converged[closed] = imbalance(elements.of(closed), outcome.of(closed)) <= NEARLY_BALANCED
    return outcome, converged, "mean-field" if "mean-field" in kinds else "exact"
