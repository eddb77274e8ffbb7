"""Closed pools of few requesters a volume: a chain of one volume of each class with D, beside the others.

A state is the base of the volume, the aliases it holds and the queue behind its base, so that all of its own moves are
exact. What the others try, pick up and end depends on what they have of the D; the rates are such that their means
given D are what their own chains say. So slow I/Os stay on aliases while quick ones come and go, and the requesters of
a volume that has most of the queue are waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from planner.queueing.pools.closed_field.volume_chain import (
    LEAST,
    ClosedGiven,
    Others,
    agreeing,
    agreeing_pace,
    closed_given,
)
from planner.queueing.pools.closed_field.volume_states import VolumeStates, states_of
from planner.queueing.pools.field.base_balance import PoolFlows, resized
from planner.queueing.pools.field.device_rates import Paces
from planner.queueing.pools.fixed_point import Acceleration, Effort, Passed, passes
from planner.queueing.pools.open_field.window import OpenWindow
from planner.queueing.pools.outcome import Outcome, by_free
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

MOST_REQUESTERS: Final = 16
"""Requesters of a volume up to which its chain is worth its cost."""
STEP: Final = 0.6
"""Share of the way that an iteration goes: some changes come back with the opposite sign."""
EFFORT: Final = Effort(
    "mean field of the alias pool: closed volumes", passes=100, work=4e9, settled=1e-6, still_good=1e-4
)
"""Work in states of one volume, cubed, times D: about five seconds."""
CALM: Final = 0.02
"""Change below which the window of D is widened, and steps are accelerated."""
RUNS_AWAY: Final = np.errstate(all="ignore")
"""What runs away shows in the residual."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What the iteration is about, shape (classes, D) each: means of one volume given D, and what is beside it."""

    tries: Array  # [1/service time]
    picks: Array  # I/Os that its base takes from its own queue [1/service time]
    ends: Array  # I/Os that its aliases end [1/service time]
    held: Array  # Aliases that it holds [1]
    # By what the others have: their tries, pickups, and the rate at which one alias of theirs ends [1/service time]
    others_tries: Array
    others_picks: Array
    others_pace: Array

    def stacked(self) -> Array:
        """All of them in one array."""
        return np.stack([getattr(self, item.name) for item in fields(self)])

    def resized(self, levels: int) -> Unknowns:
        """Of more D or fewer."""
        return Unknowns(*resized(self.stacked(), levels))


def suits_closed_field(pool: CheckedPool, _aliases: int) -> bool:
    """Whether all classes are closed, of few requesters and exponential service, and there are others."""
    closed = bool(pool.closed.all()) and pool.scv == 1.0 and pool.bases > 1
    return closed and float(pool.population.max()) <= MOST_REQUESTERS


def closed_field_steps(pool: CheckedPool, aliases: int) -> Iterator[Outcome]:
    """Solve a closed pool by chains of its volumes, iteration by iteration."""
    return passes(_ClosedField(pool, aliases), EFFORT)


class _ClosedField:
    """The iteration: unknowns, the devices' paces and the window of D."""

    def __init__(self, pool: CheckedPool, aliases: int) -> None:
        self._pool = pool
        self._window = self._fitted = OpenWindow.of(aliases, most=max(pool.most_beyond - aliases, 1.0))
        self._paces = Paces.of(pool, np.zeros(pool.classes), 0.0, self._window.waiting)
        self._states = _states(pool, self._window)
        self._now = _first(pool, self._window, self._paces)
        self._acceleration, self._answer, self._change = Acceleration(), np.zeros((2, pool.classes)), np.inf

    @RUNS_AWAY
    def evaluated(self, _number: int) -> Passed:
        """Solve the chains beside the unknowns."""
        self._chains = _Chains.of(self._pool, self._window, self._paces, self._states, self._now)
        outcome, before = self._chains.outcome(), self._answer
        self._answer = np.array([outcome.throughput, outcome.queue])
        self._change = float(np.abs(self._answer - before).sum() / np.abs(self._answer[0]).sum())
        self._fitted = self._window.fitted(self._chains.law) if self._change < CALM else self._window
        work = sum(float(each.busy.size**3 * each.possible.shape[1]) for each in self._states)
        return Passed(outcome, self._change, self._fitted is self._window, work)

    @RUNS_AWAY
    def move(self) -> None:
        """Part of the way to what the chains say, accelerated once calm."""
        old, chains = self._now.stacked(), self._chains
        moved = old + STEP * (chains.found().stacked() - old)
        if self._change < CALM:
            size = np.maximum(np.abs(old) @ chains.law, TINY)[:, :, None]
            weight = (np.sqrt(chains.law) / size).ravel()
            moved = self._acceleration.following(old.ravel(), moved.ravel(), weight).reshape(old.shape)
        self._now = Unknowns(*np.maximum(moved, 0.0))
        self._paces = _paces_now(self._pool, chains, chains.outcome())
        if self._fitted is not self._window:
            self._acceleration.restart()
            size_now = self._fitted.total.size
            self._window, self._now = self._fitted, self._now.resized(size_now)
            self._paces = replace(self._paces, alias=resized(self._paces.alias, size_now))
            self._states = _states(self._pool, self._window)


@dataclass(frozen=True, eq=False)
class _Chains:
    """The chains of all classes beside what the others are taken to do."""

    pool: CheckedPool
    window: OpenWindow
    paces: Paces
    now: Unknowns
    flows: PoolFlows
    law: Array
    given: list[ClosedGiven]

    @classmethod
    def of(
        cls, pool: CheckedPool, window: OpenWindow, paces: Paces, states: list[VolumeStates], now: Unknowns
    ) -> _Chains:
        """Solve them."""
        flows = _flows(pool, window, now)
        law = flows.law()
        given = [
            closed_given(
                each,
                k,
                paces,
                Others.of(now.others_tries[k], now.others_picks[k], window.aliases, np.inf),
                now.others_pace[k][each.others],
                law,
            )
            for k, each in enumerate(states)
        ]
        return cls(pool, window, paces, now, flows, law, given)

    def found(self) -> Unknowns:
        """What the chains say, and the others such that their means agree better with it."""
        pool, now, paces, window = self.pool, self.now, self.paces, self.window
        tries = np.array([each.tries for each in self.given])
        picks = paces.queued[:, None] * np.array([each.turns for each in self.given])
        ends = paces.alias * np.array([each.own_ends for each in self.given])
        held = np.array([each.held for each in self.given])
        found = replace(now, tries=tries, picks=picks, ends=ends, held=held)
        flows = _flows(pool, window, found)
        most = pool.bases * float(paces.queued.max())
        slowest = (
            paces.alias / pool.service_growth(np.minimum(pool.population, window.aliases + 1.0))[:, None]
        )
        others, others_pace = [], []
        for k, each in enumerate(self.given):
            old = Others.of(now.others_tries[k], now.others_picks[k], window.aliases, most)
            others.append(agreeing(old, each, flows.tries - tries[k], flows.pickups - picks[k], most))
            left = flows.alias_ends - ends[k]
            beside = pool.volumes > (np.arange(pool.classes) == k)  # classes of which there are others
            least, quickest = float(slowest[beside].min()), float(paces.alias[beside].max())
            others_pace.append(agreeing_pace(now.others_pace[k], each, left, least, quickest))
        return replace(
            found,
            others_tries=np.array([each.tries for each in others]),
            others_picks=np.array([each.pickups for each in others]),
            others_pace=np.array(others_pace),
        )

    def outcome(self) -> Outcome:
        """Average over D."""
        pool, law, aliases = self.pool, self.law, self.window.aliases
        tries = np.array([each.tries for each in self.given])
        picks = self.paces.queued * np.array([each.turns @ law for each in self.given])
        alias_pickups = np.array(
            [
                each.alias_pickups(self.paces.alias[k], self.now.others_pace[k][each.states.others]) @ law
                for k, each in enumerate(self.given)
            ]
        )
        free_law, tries_by_free = by_free(aliases, self.flows, law)
        return Outcome(
            throughput=np.array([(each.tries + each.unhindered) @ law for each in self.given]),
            tries=tries @ law,
            fails=tries[:, aliases:] @ law[aliases:],
            queue=np.array([each.queue @ law for each in self.given]),
            base_pickups=picks,
            alias_pickups=alias_pickups,
            base_in_service=np.array([each.busy @ law for each in self.given]) - pool.redrive_time * picks,
            alias_in_service=np.array([each.held @ law for each in self.given])
            - pool.alias_redrive_time * alias_pickups,
            free_law=free_law,
            tries_by_free=tries_by_free,
            residual=np.inf,
        )


def _states(pool: CheckedPool, window: OpenWindow) -> list[VolumeStates]:
    return [states_of(pool, k, window.aliases, window.total.size) for k in range(pool.classes)]


def _flows(pool: CheckedPool, window: OpenWindow, now: Unknowns) -> PoolFlows:
    """Flows of the pool; as many aliases end as are in use."""
    in_use = np.minimum(window.total, float(window.aliases))
    held = pool.volumes @ now.held
    scale = np.divide(in_use, held, out=np.ones_like(held), where=held > TINY)
    volumes = pool.volumes
    tries = np.maximum(volumes @ now.tries, LEAST)  # so that every D can be reached
    return PoolFlows(window.total, tries, volumes @ now.picks, volumes @ now.ends * scale)


def _first(pool: CheckedPool, window: OpenWindow, paces: Paces) -> Unknowns:
    """Where to begin: what is beyond the bases lies on the volumes as they would have it without aliases."""
    load = pool.population * pool.service / (pool.service + pool.think_time)
    busy = np.minimum(load / (1.0 + load), 0.95)[:, None]
    share = np.maximum(load - 0.6, 0.02 * load)
    share = (share / (pool.volumes @ share))[:, None]
    held = share * np.minimum(window.total, float(window.aliases))
    queue = np.minimum(share * window.waiting, (pool.population - 1.0)[:, None])
    thinking = np.maximum((pool.population - 1.0)[:, None] * busy - held - queue, 0.02 * busy)
    tries = thinking / pool.think_time[:, None]
    picks = busy * np.minimum(queue, 0.9) * paces.queued[:, None]
    typical = np.full_like(tries, paces.alias.mean())
    whole = pool.volumes @ tries, pool.volumes @ picks
    return Unknowns(
        tries, picks, held * paces.alias, held, np.maximum(whole[0] - tries, 0.0), whole[1] - picks, typical
    )


def _paces_now(pool: CheckedPool, chains: _Chains, outcome: Outcome) -> Paces:
    """How fast devices end, from the share of I/Os that they pick up."""
    if pool.redrive_time == 0.0 and pool.alias_redrive_time == 0.0:
        return chains.paces
    base_gap, _ = outcome.mean_gaps(pool)
    picked = float(pool.volumes @ outcome.alias_pickups)
    on_alias = float(pool.volumes @ (outcome.tries - outcome.fails)) + picked
    alias_gap = pool.alias_redrive_time * picked / max(on_alias, TINY)
    return Paces.of(pool, base_gap, alias_gap, chains.window.waiting)
