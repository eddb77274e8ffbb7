"""Faster fixed points: the next guess of an iteration from its last steps."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.results import Array

DEPTH: Final = 6
"""Steps that are remembered."""
SINGULAR: Final = 1e-6
"""Share of the largest singular value below which a direction is not followed."""
FARTHEST: Final = 20.0
"""Sum of the coefficients beyond which the extrapolation is not trusted."""


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
