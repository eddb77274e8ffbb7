"""The one driver of all fields: passes until they settle, within a budget; and faster fixed points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.outcome import Outcome
from planner.results import Array

DEPTH: Final = 6
"""Steps that are remembered."""
SINGULAR: Final = 1e-6
"""Share of the largest singular value below which a direction is not followed."""
FARTHEST: Final = 20.0
"""Sum of the coefficients beyond which the extrapolation is not trusted."""


@dataclass(frozen=True)
class Effort:
    """What a field may spend, and what it takes for settled."""

    name: str  # What does not converge, for the error
    passes: int  # Passes at most [1]
    work: float  # Work of all passes at most, in units of its own [1]
    settled: float  # Change in one pass at which it stops [1]
    still_good: float  # The same where passes or work are spent [1]
    first: int = 1  # The first pass that may have settled [1]


@dataclass(frozen=True, eq=False)
class Passed:
    """What one pass found."""

    outcome: Outcome  # The answer so far
    change: float  # Relative change that the pass made [1]
    whole: bool  # Whether the window of D is wide enough for it
    work: float  # What it cost [1]
    misfit: float = 0.0  # How far off is what else has to fit [1]
    fits: bool = True  # Whether that is near enough


class Iteration(Protocol):
    """What a field goes through."""

    def evaluated(self, number: int) -> Passed:
        """Apply its map once, as pass `number`, from 1 on."""

    def move(self) -> None:
        """Go on from what was found: some of the way, accelerated, on another window."""


def passes(iteration: Iteration, effort: Effort) -> Iterator[Outcome]:
    """Go on until a pass changes little enough: one answer a pass, the last one settled."""
    spent, number, off = 0.0, 0, np.inf
    for number in range(1, effort.passes + 1):
        found = iteration.evaluated(number)
        spent += found.work
        off = max(found.change, found.misfit)
        if not np.isfinite(found.change + found.misfit):
            break
        yield replace(found.outcome, residual=found.change if found.whole else np.inf)
        last = number == effort.passes or spent > effort.work
        enough = effort.still_good if last else effort.settled
        if found.whole and found.fits and found.change <= enough and number >= effort.first:
            return
        if last:
            break
        iteration.move()
    if spent > effort.work:
        raise ConvergenceError("alias pool, nearly unstable: its queues are too long", off, number)
    raise ConvergenceError(effort.name, off, number)


class Acceleration:
    """Anderson's (1965) acceleration of ``x = g(x)``, in the form of Walker and Ni (2011).

    Of the last steps those are combined whose changes ``g - x``, taken as linear, cancel the present one.
    """

    def __init__(self) -> None:
        self._before: tuple[Array, Array] | None = None
        self._changes: list[Array] = []
        self._moves: list[Array] = []

    def restart(self) -> None:
        """Forget the steps: the unknowns are others now."""
        self._before = None
        self._changes, self._moves = [], []

    def following(self, now: Array, then: Array, weight: Array) -> Array:
        """Where to go from `now`, which one step leads to `then`; `weight` is what each unknown counts."""
        change = then - now
        if self._before is not None:
            self._changes.append(change - self._before[0])
            self._moves.append(then - self._before[1])
            del self._changes[:-DEPTH], self._moves[:-DEPTH]
        self._before = change, then
        if not self._changes:
            return then
        basis, missing = np.stack(self._changes, axis=1) * weight[:, None], change * weight
        if not (np.isfinite(basis).all() and np.isfinite(missing).all()):  # the iteration ran away
            self.restart()
            return then
        coefficients, *_ = np.linalg.lstsq(basis, missing, rcond=SINGULAR)
        if not float(np.abs(coefficients).sum()) <= FARTHEST:
            self.restart()
            return then
        return np.asarray(then - np.stack(self._moves, axis=1) @ coefficients)
