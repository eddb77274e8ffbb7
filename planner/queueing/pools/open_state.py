"""Where the mean field of a pool with open classes stands: its volumes given D, and what flows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.queueing.pools.base_balance import PoolFlows
from planner.queueing.pools.closed_classes import ClosedClasses
from planner.queueing.pools.device_rates import Paces
from planner.queueing.pools.open_balance import Arrivals, VolumesGiven
from planner.queueing.pools.open_window import OpenWindow
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import Pool
from planner.results import Array

TINY: Final = float(np.finfo(float).tiny)
NOTHING_CLOSED: Final = ClosedClasses({}, {})


@dataclass(frozen=True, eq=False)
class OpenState:
    """One step of the iteration.

    Attributes
    ----------
    pool : Pool
        The pool.
    window : OpenWindow
        The D that count.
    paces : Paces
        How fast devices end.
    given : VolumesGiven
        Its volumes given D.
    closed : ClosedClasses
        Chains of its closed classes, which `given` agrees with.
    arrivals : Arrivals
        Arrivals at its volumes.
    picks : ndarray
        Rate at which a base takes I/Os from its own queue, shape (classes, D) [1/service time].
    flows : PoolFlows
        Flows of the pool.
    law : ndarray
        Law of D, shape (D,) [1].
    """

    pool: Pool
    window: OpenWindow
    paces: Paces
    given: VolumesGiven
    closed: ClosedClasses
    arrivals: Arrivals
    picks: Array
    flows: PoolFlows
    law: Array

    @classmethod
    def of(
        cls,
        pool: Pool,
        window: OpenWindow,
        paces: Paces,
        given: VolumesGiven,
        closed: ClosedClasses = NOTHING_CLOSED,
    ) -> OpenState:
        """What flows from the volumes given D.

        Parameters
        ----------
        pool, window, paces, given, closed
            As above; of a closed class without a chain the arrivals are taken from `given`.

        Returns
        -------
        OpenState
            With the flows.
        """
        given = replace(
            given,
            busy=closed.into(given.busy, "busy"),
            with_queue=closed.into(given.with_queue, "with_queue"),
        )
        arrivals = Arrivals.of(pool, given)
        arrivals = Arrivals(
            closed.into(arrivals.at_idle, "at_idle"),
            closed.into(arrivals.tries, "tries"),
            closed.into(arrivals.held_at_busy, "held_at_busy"),
        )
        picks = paces.queued[:, None] * given.busy * given.with_queue
        flows = PoolFlows(
            window.total,
            pool.volumes @ arrivals.tries,
            pool.volumes @ picks,
            np.minimum(window.total, float(window.aliases)) * paces.alias,
        )
        return cls(pool, window, paces, given, closed, arrivals, picks, flows, flows.law())

    @property
    def alias_pickups(self) -> Array:
        """Waiting I/Os of one volume that aliases take, shape (classes,) [1/service time]."""
        waiting = np.maximum(self.window.waiting, 1.0)
        return np.asarray((self.given.queue / waiting * self.flows.alias_ends) @ self.law)

    def paces_now(self) -> Paces:
        """How fast devices end, from the share of I/Os that they pick up.

        Returns
        -------
        Paces
            The same where there are no gaps.
        """
        pool, aliases, law = self.pool, self.window.aliases, self.law
        if not pool.slowed:
            return self.paces
        picks = self.picks @ law
        on_base = ((1.0 - self.given.busy) * self.arrivals.at_idle) @ law + picks
        alias_picks = float(pool.volumes @ self.alias_pickups)
        on_alias = float(self.flows.tries[:aliases] @ law[:aliases]) + alias_picks
        return Paces.of(
            pool,
            pool.redrive_time * picks / np.maximum(on_base, TINY),
            pool.alias_redrive_time * alias_picks / max(on_alias, TINY),
            self.window.waiting,
        )

    def outcome(self, residual: float) -> Outcome:
        """Average over D.

        Parameters
        ----------
        residual : float
            What the iteration left [1].

        Returns
        -------
        Outcome
            The answer.
        """
        pool, law, aliases = self.pool, self.law, self.window.aliases
        tries = self.arrivals.tries @ law
        fails = self.arrivals.tries[:, aliases:] @ law[aliases:]
        unhindered = ((1.0 - self.given.busy) * self.arrivals.at_idle) @ law
        picks, alias_pickups = self.picks @ law, self.alias_pickups
        free_law, tries_by_free = by_free(aliases, self.flows, law)
        return Outcome(
            throughput=np.where(pool.closed, unhindered + tries, pool.arrival_rate),
            tries=tries,
            fails=fails,
            queue=self.given.queue @ law,
            base_pickups=picks,
            alias_pickups=alias_pickups,
            base_in_service=self.given.busy @ law - pool.redrive_time * picks,
            alias_in_service=tries - fails + alias_pickups,
            free_law=free_law,
            tries_by_free=tries_by_free,
            residual=residual,
        )
