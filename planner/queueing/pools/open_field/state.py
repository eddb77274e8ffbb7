"""Where the mean field of a pool with open classes stands: its volumes given D, and what flows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.queueing.pools.closed_field.volume_chain import ClosedGiven, Others, agreeing, closed_given
from planner.queueing.pools.closed_field.volume_states import VolumeStates, states_of
from planner.queueing.pools.field.alias_pairs import end_of_law
from planner.queueing.pools.field.base_balance import PoolFlows, held_given_total
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.open_field.balances import Arrivals, VolumesGiven, held_by_base
from planner.queueing.pools.open_field.window import OpenWindow
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

LEAST: Final = 1e-9
"""Aliases held, as the volumes have them, up to which they are not scaled to what is busy."""


@dataclass(frozen=True, eq=False)
class ClosedClasses:
    """The closed classes of a pool, each by one of its volumes; none in an open pool."""

    others: Mapping[int, Others]  # What the others do beside a volume of a class
    given: Mapping[int, ClosedGiven]  # That volume given D

    @classmethod
    def begin(
        cls, pool: CheckedPool, aliases: int, paces: Paces, flows: PoolFlows, own: tuple[Array, Array]
    ) -> ClosedClasses:
        """Chains beside others that do what they do on average."""
        tries, pickups = own
        others = {
            int(k): Others.of(flows.tries - tries[k], flows.pickups - pickups[k], aliases, pool.bases - 1.0)
            for k in np.flatnonzero(pool.closed)
        }
        states = {k: states_of(pool, k, aliases, flows.total.size) for k in others}
        return cls(others, _solved(states, paces, others, flows.law()))

    def agreeing(
        self, pool: CheckedPool, paces: Paces, flows: PoolFlows, own: tuple[Array, Array]
    ) -> ClosedClasses:
        """Chains beside others whose means agree better with the flows of the pool."""
        tries, pickups = own
        others = {
            k: agreeing(
                each, self.given[k], flows.tries - tries[k], flows.pickups - pickups[k], pool.bases - 1.0
            )
            for k, each in self.others.items()
        }
        states = {k: each.states for k, each in self.given.items()}
        return ClosedClasses(others, _solved(states, paces, others, flows.law()))

    def moved_to(self, pool: CheckedPool, aliases: int, paces: Paces, law: Array) -> ClosedClasses:
        """Go on with more or fewer D."""
        others = {k: each.resized(law.size) for k, each in self.others.items()}
        states = {k: states_of(pool, k, aliases, law.size) for k in others}
        return ClosedClasses(others, _solved(states, paces, others, law))

    @property
    def states(self) -> int:
        """States of all of them, at all D [1]."""
        return sum(each.chance.size for each in self.given.values())

    def into(self, rows: Array, name: str) -> Array:
        """Take what the chains say."""
        filled = rows.copy()
        for k, each in self.given.items():
            filled[k] = getattr(each, name)
        return filled


def _solved(
    states: Mapping[int, VolumeStates], paces: Paces, others: Mapping[int, Others], law: Array
) -> dict[int, ClosedGiven]:
    alike = {k: np.broadcast_to(paces.alias[k], each.possible.shape) for k, each in states.items()}
    return {k: closed_given(each, k, paces, others[k], alike[k], law) for k, each in states.items()}


NOTHING_CLOSED: Final = ClosedClasses({}, {})


@dataclass(frozen=True, eq=False)
class OpenState:
    """One step of the iteration."""

    pool: CheckedPool  # The pool
    window: OpenWindow  # The D that count
    paces: Paces  # How fast devices end
    given: VolumesGiven  # Its volumes given D
    closed: ClosedClasses  # Chains of its closed classes, which `given` agrees with
    arrivals: Arrivals  # Arrivals at its volumes
    picks: Array  # Rate at which a base takes I/Os from its own queue, shape (classes, D) [1/service time]
    flows: PoolFlows  # Flows of the pool
    law: Array  # Law of D, shape (D,) [1]
    held: Array  # Mean aliases that one volume holds, shape (classes, D) [1]
    # Rate at which aliases end as an I/O sees them that waits at a volume, shape (classes, D); None where service times
    # are alike [1/service time]
    queued_ends: Array | None = None

    @classmethod
    def of(
        cls,
        pool: CheckedPool,
        window: OpenWindow,
        paces: Paces,
        given: VolumesGiven,
        closed: ClosedClasses = NOTHING_CLOSED,
        held: Array | None = None,
        queued_ends: Array | None = None,
    ) -> OpenState:
        """What flows from the volumes given D."""
        given = replace(
            given,
            busy=closed.into(given.busy, "busy"),
            with_queue=closed.into(given.with_queue, "with_queue"),
        )
        arrivals = Arrivals.of(pool, given, held)
        arrivals = Arrivals(
            closed.into(arrivals.at_idle, "at_idle"),
            closed.into(arrivals.tries, "tries"),
            closed.into(arrivals.held_at_busy, "held_at_busy"),
        )
        picks = paces.queued[:, None] * given.busy * given.with_queue
        busy = np.minimum(window.total, float(window.aliases))
        if held is None:
            held = arrivals.tries * pool.service[:, None]
        whole = pool.volumes @ held
        held = held * np.divide(busy, whole, out=np.ones_like(whole), where=whole > LEAST)
        alias_ends = busy * paces.alias[0] if pool.even else pool.volumes @ (held * paces.alias)
        flows = PoolFlows(window.total, pool.volumes @ arrivals.tries, pool.volumes @ picks, alias_ends)
        return cls(pool, window, paces, given, closed, arrivals, picks, flows, flows.law(), held, queued_ends)

    @property
    def alias_pickups(self) -> Array:
        """Waiting I/Os of one volume that aliases take, shape (classes,) [1/service time]."""
        waiting = np.maximum(self.window.waiting, 1.0)
        return np.asarray((self.given.queue / waiting * self.ends_where_queued()) @ self.law)

    def held_by_base(self) -> tuple[Array, Array]:
        """Mean aliases that a volume holds with its base idle and busy, shape (classes, D) each [1]."""
        at_idle, at_busy = held_by_base(self.pool, self.held, self.given.busy)
        in_use = np.minimum(self.window.total, float(self.window.aliases))
        return at_idle, np.minimum(at_busy, in_use)

    def ends_where_idle(self) -> Array:
        """Rate at which aliases end while the base of a volume is idle, shape (classes, D) [1/service time]."""
        return self._ends_where(self.held_by_base()[0])

    def ends_where_queued(self) -> Array:
        """The same as an I/O that waits at a volume sees it; all that are taken add up."""
        if self.pool.even:
            return np.broadcast_to(self.flows.alias_ends, self.given.queue.shape)
        if self.queued_ends is not None:
            return self._all_taken(self.queued_ends)
        return self._all_taken(self._ends_where(self.held_by_base()[1]))

    def _all_taken(self, ends: Array) -> Array:
        """Rates as the I/Os that wait see them, scaled to what all of them together see."""
        taken = self.pool.volumes @ (self.given.queue * ends)
        whole = self.window.waiting * self.flows.alias_ends
        return ends * np.divide(whole, taken, out=np.ones_like(whole), where=taken > 0.0)

    def _ends_where(self, own: Array) -> Array:
        """Rate at which aliases end where one volume holds `own` of them, and the others the rest."""
        if self.pool.even:
            return np.broadcast_to(self.flows.alias_ends, own.shape)
        busy = np.minimum(self.window.total, float(self.window.aliases))
        rest = np.maximum(busy - self.held, TINY)
        others = self.flows.alias_ends - self.paces.alias * self.held
        return np.asarray(self.paces.alias * own + others * (busy - own) / rest)

    def held_by_balance(self) -> Array:
        """Mean aliases that one volume holds, from what it takes and gives back, shape (classes, D) [1]."""
        if self.pool.even:
            return self.held
        picked = self.given.queue / np.maximum(self.window.waiting, 1.0) * self.ends_where_queued()
        joins = np.where(self.window.total < self.window.aliases, self.arrivals.tries, 0.0)
        tries, pickups = self._beside_held(self.arrivals.tries), self._beside_held(self.picks)
        rows = zip(tries, pickups, self.paces.alias, joins, picked, strict=True)
        held = np.array([held_given_total(self.flows, *row, self.window.aliases) for row in rows])
        last = end_of_law(self.law, self.window.aliases + 1)
        held[:, last:] = held[:, last - 1 : last]
        return held

    def _beside_held(self, each: Array) -> Array:
        """Tries or pickups of the pool as an I/O that one volume has on an alias sees them, shape (classes, D).

        Its own volume has a busy base more often, and one requester less to come where it is closed. All that are seen
        add up.
        """
        volumes, held = self.pool.volumes, np.maximum(self.held, TINY)
        people = np.where(self.pool.closed, self.pool.population, np.inf)
        left = np.maximum(1.0 - 1.0 / np.maximum(people - 1.0, 1.0), 0.0)[:, None]
        own = each * np.where(self.pool.closed[:, None], self.held_by_base()[1] / held * left, 1.0)
        seen = np.maximum(volumes @ each - each + own, 0.0)
        mean = volumes @ (held * seen) / (volumes @ held)
        return np.asarray(seen * np.divide(volumes @ each, mean, out=np.ones_like(mean), where=mean > LEAST))

    def paces_now(self) -> Paces:
        """How fast devices end, from the share of I/Os that they pick up."""
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
        """Average over D."""
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
            alias_in_service=(tries - fails + alias_pickups) * pool.service,
            free_law=free_law,
            tries_by_free=tries_by_free,
            residual=residual,
        )
