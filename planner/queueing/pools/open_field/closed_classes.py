"""The closed classes of a pool beside its open ones, each by the chain of one of its volumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.queueing.pools.closed_field.volume_chain import ClosedGiven, Others, agreeing, closed_given
from planner.queueing.pools.closed_field.volume_states import VolumeStates, states_of
from planner.queueing.pools.field.base_balance import PoolFlows
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array


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
