"""Closed and mixed pools of any size: a mean field around D, the I/Os of the pool that no base holds.

Given D the pool is known: min(D, A) aliases are busy and (D - A)+ I/Os wait. What has to agree are the law of one
volume, the chance that its base is busy given D, and how the waiting I/Os split over the volumes. Each follows from the
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.pools.field.device_rates import Gaps
from planner.queueing.pools.field.flows import flows_of, outcome_of, seen_by_volume, split_of
from planner.queueing.pools.field.given_total import KnownBusy, KnownFlows, classes_given_total
from planner.queueing.pools.field.volume_law import VolumeRates, first_rates, with_enough_room, with_size_of
from planner.queueing.pools.fixed_point import Effort, Passed, passes
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

EFFORT: Final = Effort("mean field of the alias pool", passes=600, work=6e7, settled=1e-8, still_good=1e-6)
"""Work in cells of D by d, over all classes: about eight seconds."""
OWN_BALANCE: Final = 2
"""Iterations before the bases get their own balance; until then they follow the law of one volume."""
DAMPED: Final = 13
"""Iterations after which a change that turns back makes the rates of a volume move half of the way only."""
TURNS: Final = 0.25
"""Share of the last change that has to be turned back for that."""
FIRST_LEAP: Final = 16
LEAP_EVERY: Final = 8
"""Iterations at which odds that creep are sent where their geometric sequence ends (Aitken 1926)."""
LEAP_PAYS: Final = 0.3
"""By how much the steps of the odds must have shrunk since the last leap for another."""
CREEP: Final = (0.6, 0.995)
"""Ratios of successive steps of the odds between which they creep."""
SAME_WAY: Final = 0.99
"""Cosine between two steps of the odds from which on they go the same way."""
ODDS_EXPONENT: Final = 0.9
"""Share of the error of the odds that a pass takes away."""
WINDOW: Final = 1e-20
"""Probability of D, were the volumes independent and relative to the largest, from which on it counts at first."""
WIDEST: Final = 1e-250
"""The same at which a pool is too nearly unstable."""
CUT: Final = 1e-11
"""Probability of the largest D of the window from which on the window is widened."""


@dataclass(frozen=True, eq=False)
class Field:
    """State of the iteration."""

    aliases: int  # The alias count it belongs to [1]
    rates: tuple[VolumeRates, ...]  # Of each class
    known: KnownFlows | KnownBusy | None  # What is known of the bases given D
    odds_step: Array  # By which the logarithms of the odds were last changed, shape (classes,) [1]
    window: float = WINDOW  # Probability of D from which on it counts, were the volumes independent [1]
    busy: KnownBusy | None = None  # Busy bases given D, to begin another alias count with

    @property
    def cells(self) -> float:
        """Numbers of D by d, over all classes, of an iteration [1]."""
        levels = 0 if self.busy is None else self.busy.total.size
        return float(levels * sum(each.alias_ends.size for each in self.rates))


def mean_field_steps(
    pool: CheckedPool, aliases: int, start: Field | None = None
) -> Iterator[tuple[Outcome, Field]]:
    """Solve a closed or mixed pool of any size by the mean field, iteration by iteration."""
    iteration = _MeanField(
        pool, _first_field(pool, aliases) if start is None else _moved(start, pool, aliases)
    )
    iteration.own_balance = start is not None
    effort = replace(EFFORT, first=4 if pool.classes == 1 else 7)
    for outcome in passes(iteration, effort):
        yield outcome, iteration.following


class _MeanField:
    """The iteration: what a pass leads to, whether it is damped, and how far the odds crept at the last leap."""

    def __init__(self, pool: CheckedPool, field: Field) -> None:
        self._pool, self._field, self.following = pool, field, field
        self._answer, self._last = np.zeros((2, 2, pool.classes))
        self._number, self._damped, self._creep = 0, False, np.inf
        self.own_balance = False  # Whether the bases have their own balance from the first pass on

    def evaluated(self, number: int) -> Passed:
        """One pass."""
        self._number = number
        self.following, outcome = _iterate(self._pool, self._field, self.own_balance or number > OWN_BALANCE)
        now = np.array([outcome.throughput, outcome.queue])
        change, last = now - self._answer, self._last
        turned = float((change * last).sum()) < -TURNS * float((last * last).sum())
        self._damped |= number > DAMPED and turned
        self._answer, self._last = now, change
        residual = float(np.abs(change).sum() / max(np.abs(now[0]).sum(), TINY))
        return Passed(outcome, residual, self._field.window == self.following.window, self.following.cells)

    def move(self) -> None:
        """Send odds that creep to their end, and go half of the way where changes turn back."""
        following, still = self.following, float(np.abs(self.following.odds_step).max())
        leaps = self._number > FIRST_LEAP and (self._number - 1) % LEAP_EVERY == 0
        if leaps and still < LEAP_PAYS * self._creep:
            following, self._creep = _leapt(self._field, following), still
        self._field = _damped(self._field, following) if self._damped else following


def _wide_enough(pool: CheckedPool, window: float, total: Array, law: Array) -> float:
    """A wider window where the law of D has not ended with it; queues that grow together reach further than apart."""
    if law[-1] <= CUT or total[-1] >= pool.most_beyond:
        return window
    if window <= WIDEST:
        raise ConvergenceError(
            "alias pool, nearly unstable: the law of its queue", float(law[-1]), EFFORT.passes
        )
    return float(max(window**1.5, WIDEST))


def _first_field(pool: CheckedPool, aliases: int) -> Field:
    """Begin with some of the I/Os beyond the base waiting."""
    return Field(
        aliases,
        tuple(first_rates(pool, k) for k in range(pool.classes)),
        None,
        np.zeros(pool.classes),
    )


def _moved(start: Field, pool: CheckedPool, aliases: int) -> Field:
    """Where another alias count begins: its bases are as busy as they were at the same number waiting."""
    known = start.busy
    if known is not None:
        known = replace(known, total=known.total + (aliases - start.aliases))
    rates = tuple(with_size_of(pool, k, each) for k, each in enumerate(start.rates))
    return replace(start, aliases=aliases, rates=rates, known=known)


def extended(earlier: Field | None, last: Field | None, aliases: int) -> Field | None:
    """Where another alias count of a sweep begins: the last one, carried on as it came from the one before."""
    if earlier is None or last is None or last.aliases == earlier.aliases:
        return last
    part = (aliases - last.aliases) / (last.aliases - earlier.aliases)
    if part > 1.0:
        return last
    rates = tuple(now.continued(before, part) for before, now in zip(earlier.rates, last.rates, strict=True))
    return replace(last, rates=rates)


def _damped(old: Field, new: Field) -> Field:
    """Half of the way."""
    rates = tuple(after.halfway(before) for before, after in zip(old.rates, new.rates, strict=True))
    return replace(new, rates=rates)


def _leapt(old: Field, new: Field) -> Field:
    """Send odds that creep the same way by a constant ratio to the end of their sequence."""
    last, step = old.odds_step, new.odds_step
    size = float(np.sqrt((step @ step) * (last @ last)))
    if size <= EFFORT.settled**2:
        return new
    ratio = float(step @ last) / float(last @ last)
    if float(step @ last) < SAME_WAY * size or not CREEP[0] < ratio < CREEP[1]:
        return new
    leap = step * ratio / (1.0 - ratio)
    rates = tuple(replace(each, log_odds=each.log_odds + float(leap[k])) for k, each in enumerate(new.rates))
    return replace(new, rates=rates)


def _iterate(pool: CheckedPool, field: Field, own_balance: bool) -> tuple[Field, Outcome]:
    """One pass: volume laws, bases given D, split of the queue, flows and law of D, rates of a volume."""
    rates, laws = zip(*(with_enough_room(pool, k, each) for k, each in enumerate(field.rates)), strict=True)
    known = field.known if own_balance or isinstance(field.known, KnownBusy) else None
    given = classes_given_total(pool, rates, laws, known, field.window)
    split = split_of(pool, field.aliases, given, rates)
    flows, bases, ends, alias_ends = flows_of(pool, field.aliases, split, given, rates)
    law = flows.law()
    outcome = outcome_of(pool, field.aliases, split, given.busy, flows, bases, alias_ends, law)
    step = ODDS_EXPONENT * _odds_error(outcome)
    log_odds = step + np.array([each.log_odds for each in rates])
    gaps = [Gaps(*each) for each in zip(*outcome.mean_gaps(pool), strict=True)]
    seen: dict[int, VolumeRates] = {}
    for group, end in zip(given.groups, ends, strict=True):
        seen.update(seen_by_volume(law, given, group, end, gaps, log_odds))
    following = Field(
        aliases=field.aliases,
        rates=tuple(seen[k] for k in range(pool.classes)),
        known=KnownFlows(flows, bases),
        odds_step=step,
        window=_wide_enough(pool, field.window, given.total, law),
        busy=KnownBusy(given.total, given.busy),
    )
    return following, outcome


def _odds_error(outcome: Outcome) -> Array:
    """How far, in the logarithm, the pickups of each class fall short of its fails, relative to the other classes."""
    picked = outcome.base_pickups + outcome.alias_pickups
    error = np.log(np.maximum(outcome.fails, TINY)) - np.log(np.maximum(picked, TINY))
    return np.asarray(error - error.sum() / error.size)
