"""Closed and mixed pools of any size: a mean field around D, the I/Os of the pool that no base holds.

Given D the pool is known: min(D, A) aliases are busy and (D - A)+ I/Os wait. What has to agree are the law of one
volume, the chance that its base is busy given D, and how the waiting I/Os split over the volumes. Each follows from the
others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.alias_pool.device_rates import Gaps
from planner.queueing.alias_pool.field_flows import flows_of, outcome_of, seen_by_volume, split_of
from planner.queueing.alias_pool.given_total import KnownBusy, KnownFlows, classes_given_total
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.queueing.alias_pool.service_variation import felt_think_time
from planner.queueing.alias_pool.volume_law import VolumeRates, first_rates, with_enough_room
from planner.results import Array

MAX_ITERATIONS: Final = 200
SETTLED: Final = 1e-9
"""Change of throughput and queue in one iteration, relative to the throughput, at which it stops."""
OWN_BALANCE: Final = 2
"""Iterations before the bases get their own balance; until then they follow the law of one volume."""
DAMPED: Final = 15
"""Iterations after which the rates of a volume move half of the way only, which ends two-cycles."""
ODDS_EXPONENT: Final = 0.9
WINDOW: Final = 1e-20
"""Probability of D, were the volumes independent and relative to the largest, from which on it counts at first."""
WIDEST: Final = 1e-250
CUT: Final = 1e-11
"""Probability of the largest D of the window from which on the window is widened."""
TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Field:
    """State of the iteration.

    Attributes
    ----------
    aliases : int
        The alias count it belongs to [1].
    rates : tuple of VolumeRates
        Of each class.
    known : KnownFlows, KnownBusy or None
        What is known of the bases given D.
    think_time : ndarray
        Think time of each class with which exponential service gives the throughput, shape (classes,) [service times].
    window : float
        Probability of D from which on it counts, were the volumes independent [1].
    busy : KnownBusy or None
        Busy bases given D, to begin another alias count with.
    """

    aliases: int
    rates: tuple[VolumeRates, ...]
    known: KnownFlows | KnownBusy | None
    think_time: Array
    window: float = WINDOW
    busy: KnownBusy | None = None


def solve_mean_field(pool: Pool, aliases: int, start: Field | None = None) -> tuple[Outcome, Field]:
    """Solve a closed or mixed pool of any size by the mean field.

    Parameters
    ----------
    pool : Pool
        A pool, its open classes stable with its aliases.
    aliases : int
        Its aliases [1].
    start : Field, optional
        Where the iteration of another alias count ended.

    Returns
    -------
    tuple of (Outcome, Field)
        The answer, and where the iteration ended.

    Raises
    ------
    ConvergenceError
        The iteration did not settle, or the pool is too nearly unstable.
    """
    field = _first_field(pool, aliases) if start is None else _moved(start, aliases)
    least = 3 if pool.classes == 1 else 6
    before, residual = np.zeros((2, pool.classes)), np.inf
    for iteration in range(MAX_ITERATIONS):
        own_balance = iteration >= OWN_BALANCE or start is not None
        following, outcome = _iterate(pool, field, own_balance)
        field = _damped(field, following) if iteration >= DAMPED else following
        now = np.array([outcome.throughput, outcome.queue])
        residual = float(np.abs(now - before).sum() / now[0].sum())
        if iteration >= least and residual <= SETTLED and field.window == following.window:
            return replace(outcome, residual=residual), field
        before = now
    raise ConvergenceError("mean field of the alias pool", residual, MAX_ITERATIONS)


def _wide_enough(pool: Pool, window: float, total: Array, law: Array) -> float:
    """A wider window where the law of D has not ended with it; queues that grow together reach further than apart."""
    if law[-1] <= CUT or total[-1] >= pool.most_beyond:
        return window
    if window <= WIDEST:
        raise ConvergenceError(
            "alias pool, nearly unstable: the law of its queue", float(law[-1]), MAX_ITERATIONS
        )
    return float(max(window**1.5, WIDEST))


def _first_field(pool: Pool, aliases: int) -> Field:
    """Begin with some of the I/Os beyond the base waiting."""
    return Field(aliases, tuple(first_rates(pool, k) for k in range(pool.classes)), None, pool.think_time)


def _moved(start: Field, aliases: int) -> Field:
    """Where another alias count begins: its bases are as busy as they were at the same number waiting."""
    known = start.busy
    if known is not None:
        known = replace(known, total=known.total + (aliases - start.aliases))
    return replace(start, aliases=aliases, known=known)


def _damped(old: Field, new: Field) -> Field:
    """Half of the way."""
    rates = tuple(after.halfway(before) for before, after in zip(old.rates, new.rates, strict=True))
    return replace(new, rates=rates)


def _iterate(pool: Pool, field: Field, own_balance: bool) -> tuple[Field, Outcome]:
    """One pass: volume laws, bases given D, split of the queue, flows and law of D, rates of a volume."""
    felt = replace(pool, think_time=field.think_time)
    rates = tuple(with_enough_room(felt, k, each) for k, each in enumerate(field.rates))
    known = field.known if own_balance or isinstance(field.known, KnownBusy) else None
    total, classes = classes_given_total(felt, rates, known, field.window)
    split = split_of(felt, field.aliases, total, classes, rates)
    flows, bases, ends = flows_of(felt, field.aliases, split, classes, rates)
    outcome = outcome_of(felt, field.aliases, split, classes, flows, bases)
    law = flows.law()
    seen = tuple(
        seen_by_volume(law, given, end, old) for given, end, old in zip(classes, ends, rates, strict=True)
    )
    following = Field(
        aliases=field.aliases,
        rates=_adjusted(pool, seen, outcome),
        known=KnownFlows(flows, bases),
        think_time=felt_think_time(pool, field.aliases, outcome),
        window=_wide_enough(pool, field.window, total, law),
        busy=KnownBusy(total, tuple(given.busy for given in classes)),
    )
    return following, outcome


def _adjusted(pool: Pool, rates: tuple[VolumeRates, ...], outcome: Outcome) -> tuple[VolumeRates, ...]:
    """Gaps of the devices by how often they pick up; odds to wait by how far pickups fall short of fails."""
    picked = outcome.base_pickups + outcome.alias_pickups
    correction = ODDS_EXPONENT * np.log(np.maximum(outcome.fails, TINY) / np.maximum(picked, TINY))
    correction -= correction.mean()
    base_gap, alias_gap = outcome.mean_gaps(pool)
    return tuple(
        replace(each, gaps=Gaps(base_gap[k], alias_gap[k]), log_odds=each.log_odds + correction[k])
        for k, each in enumerate(rates)
    )
