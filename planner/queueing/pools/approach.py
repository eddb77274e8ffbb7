"""One alias count of a pool solved as far as its caller needs: a search needs few digits of what it discards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from planner.queueing.pools.field.mean_field import Field
from planner.queueing.pools.independent import active_classes, nothing_arrives, with_idle, without_idle
from planner.queueing.pools.methods import AT_LAST, FIELD, Step, solution_steps
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import check_aliases, check_pool
from planner.queueing.pools.result import PoolSteady, pool_steady
from planner.queueing.pools.solve import solve_quickly

DEFAULTS: Final[dict[str, Any]] = {
    "population": None,
    "think_time": None,
    "arrival_rate": None,
    "scv": 1.0,
    "inflation": 0.0,
    "redrive_time": 0.0,
    "alias_redrive_time": None,
}


class Approach:
    """An alias pool on its way to the answer of `alias_pool`, iteration by iteration.

    Parameters
    ----------
    aliases : int
        Aliases of the pool [1].
    start : Approach, optional
        Another alias count of it, or a pool much like it, solved to some point: it begins from there.
    **pool : Any
        As `alias_pool` takes them, for its method "auto".

    Raises
    ------
    InputError
        As `alias_pool`.
    """

    def __init__(self, aliases: int, *, start: Approach | None = None, **pool: Any) -> None:
        self._pool = check_pool(**{**DEFAULTS, **pool})
        self._counts = check_aliases([aliases], self._pool)
        self._field: Field | None = None
        self._method = "exact"
        self._steps = self._begun(int(aliases), start)
        self._outcome: Outcome | None = None

    def _begun(self, aliases: int, start: Approach | None) -> Iterator[Step]:
        if not active_classes(self._pool).any():
            return iter([(nothing_arrives(self._pool, aliases), None)])
        active = without_idle(self._pool)
        quick = solve_quickly(active, self._counts)
        if quick is not None:
            return iter([(quick[0], None)])
        self._method = "mean-field"
        alike = start is not None and without_idle(start._pool).classes == active.classes
        begin = start._field if start is not None and alike else None
        return solution_steps(active, aliases, FIELD | AT_LAST, begin)

    def closer(self) -> bool:
        """Go one iteration on.

        Returns
        -------
        bool
            False where the answer had settled before.

        Raises
        ------
        ConvergenceError
            The iteration did not settle.
        """
        step = next(self._steps, None)
        if step is not None:
            self._outcome, self._field = step
        return step is not None

    @property
    def residual(self) -> float:
        """Change of throughput and queue in the last iteration, relative to the throughput; inf before the first."""
        return np.inf if self._outcome is None else self._outcome.residual

    def so_far(self) -> PoolSteady:
        """Answer as good as it is now.

        Returns
        -------
        PoolSteady
            Of one alias count, shape (1,).

        Raises
        ------
        ConvergenceError
            The first iteration failed.
        """
        if self._outcome is None:
            self.closer()
        assert self._outcome is not None
        whole = (
            self._outcome
            if self._outcome.throughput.size == self._pool.classes
            else with_idle(self._pool, self._outcome)
        )
        return pool_steady(self._pool, self._counts, [whole], self._method)

    def settled(self) -> PoolSteady:
        """Go on to the end.

        Returns
        -------
        PoolSteady
            What `alias_pool` answers, shape (1,).

        Raises
        ------
        ConvergenceError
            The iteration did not settle.
        """
        while self.closer():
            pass
        return self.so_far()
