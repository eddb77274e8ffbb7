"""Closed pools of any size: a mean field around D, the I/Os of the pool that no base holds.

Given D the pool is known: min(D, A) aliases are busy and (D - A)+ I/Os wait. What has to agree are the law of
one volume, the chance that its base is busy given D, and how the waiting I/Os split over the volumes. Each
follows from the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.alias_pool.base_balance import BaseFlows, PoolFlows, idle_given_total
from planner.queueing.alias_pool.device_rates import Gaps, busy_base_ends, idle_base_alias_ends
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.queueing.alias_pool.queue_split import own_queue_empty, waiting_shares
from planner.queueing.alias_pool.total_law import CountLaw, leave_one_out
from planner.queueing.alias_pool.volume_law import volume_law
from planner.results import Array

MAX_ITERATIONS = 200
SETTLED = 1e-9
"""Change of throughput and queue in one iteration, relative to the throughput, at which it stops."""
OWN_BALANCE = 2
"""Iterations before the bases get their own balance equation; until then they follow the law of one volume."""
DAMPED = 15
"""Iterations after which the rates of a volume move half of the way only, which ends two-cycles."""
ODDS_EXPONENT = 0.9
WINDOW = 1e-20
"""Probability of D, relative to the largest, from which on it counts; what is left out must not show in its neighbors."""
NOTHING = 1e-9
TINY = float(np.finfo(float).tiny)

AnyFlows = TypeVar("AnyFlows", PoolFlows, BaseFlows)


@dataclass(frozen=True, eq=False)
class VolumeRates:
    """What one volume of a class sees of the pool, by its own d.

    Attributes
    ----------
    alias_ends, base_picks, base_idles : ndarray
        With the base busy: aliases end, the base ends and takes from its own queue, or becomes idle,
        each of shape (d,) [1/service time].
    gaps : Gaps
        Mean gaps of its devices.
    log_odds : float
        Logarithm of the odds of its I/Os to wait, relative to the other classes [1].
    """

    alias_ends: Array
    base_picks: Array
    base_idles: Array
    gaps: Gaps
    log_odds: float


@dataclass(frozen=True, eq=False)
class Field:
    """State of the iteration.

    Attributes
    ----------
    aliases : int
        The alias count it belongs to [1].
    rates : tuple of VolumeRates
        Of each class.
    pool : PoolFlows or None
        Flows of the pool, once known.
    bases : tuple of BaseFlows
        Of each class, once known.
    total : ndarray
        Window of D of `busy`, shape (D,) [1].
    busy : tuple of ndarray
        Probability that a base of a class is busy given D, known from another alias count, shape (D,) [1].
    """

    aliases: int
    rates: tuple[VolumeRates, ...]
    pool: PoolFlows | None = None
    bases: tuple[BaseFlows, ...] = ()
    total: Array = field(default_factory=lambda: np.zeros(1))
    busy: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class ClassGivenTotal:
    """One class given D.

    Attributes
    ----------
    beyond : ndarray
        d = 0, 1, ..., shape (d,) [1].
    busy : ndarray
        Probability that a base is busy, shape (D,) [1].
    weight_idle, weight_busy : ndarray
        Law of d with the base idle, busy, shape (D, d) [1].
    likelihood : ndarray
        Likelihood of D given d with the base busy, relative to that given a busy base, shape (D, d) [1].
    """

    beyond: Array
    busy: Array
    weight_idle: Array
    weight_busy: Array
    likelihood: Array


@dataclass(frozen=True, eq=False)
class VolumeEnds:
    """Rates at which the devices of one volume end I/Os.

    Attributes
    ----------
    idle_alias_ends : ndarray
        Of its aliases while its base is idle, shape (d,) [1/service time].
    busy_alias_ends, base_picks, base_idles : ndarray
        With its base busy: of its aliases, of the base to its own queue, of the base to rest, shape (D, d)
        [1/service time].
    """

    idle_alias_ends: Array
    busy_alias_ends: Array
    base_picks: Array
    base_idles: Array


def solve_mean_field(pool: Pool, aliases: int, start: Field | None = None) -> tuple[Outcome, Field]:
    """Solve a closed pool of any size by the mean field.

    Parameters
    ----------
    pool : Pool
        A closed pool.
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
        The iteration did not settle.
    """
    state = _first_field(pool, aliases) if start is None else _shifted(start, aliases)
    least = 3 if pool.classes == 1 else 6
    before, residual = np.zeros((2, pool.classes)), np.inf
    for iteration in range(MAX_ITERATIONS):
        following, outcome = _iterate(pool, state, iteration >= OWN_BALANCE or start is not None)
        state = _damped(state, following) if iteration >= DAMPED else following
        now = np.array([outcome.throughput, outcome.queue])
        residual = float(np.abs(now - before).sum() / now[0].sum())
        if iteration >= least and residual <= SETTLED:
            return replace(outcome, residual=residual), state
        before = now
    raise ConvergenceError("mean field of the alias pool", residual, MAX_ITERATIONS)


def _first_field(pool: Pool, aliases: int) -> Field:
    """Begin with some of the I/Os beyond the base waiting."""
    rates = []
    for requesters in pool.population:
        beyond = np.arange(requesters)
        picks = 0.3 * (beyond > 0)
        rates.append(VolumeRates(0.7 * beyond, picks, 1.0 - picks, Gaps(), 0.0))
    return Field(aliases, tuple(rates))


def _shifted(start: Field, aliases: int) -> Field:
    """Where another alias count begins: its bases are as busy as they were at the same number waiting."""
    return replace(start, aliases=aliases, pool=None, total=start.total + (aliases - start.aliases))


def _damped(old: Field, new: Field) -> Field:
    """Half of the way."""
    rates = tuple(
        replace(
            after,
            alias_ends=0.5 * (before.alias_ends + after.alias_ends),
            base_picks=0.5 * (before.base_picks + after.base_picks),
            base_idles=0.5 * (before.base_idles + after.base_idles),
        )
        for before, after in zip(old.rates, new.rates, strict=True)
    )
    return replace(new, rates=rates)


def _iterate(pool: Pool, state: Field, own_balance: bool) -> tuple[Field, Outcome]:
    """One pass: volume laws, bases given D, split of the queue, flows and law of D, rates of a volume."""
    total, classes = _given_total(pool, state, own_balance)
    volumes = pool.volumes[:, None]
    idle_d = volumes * np.array([(1.0 - each.busy) * (each.weight_idle @ each.beyond) for each in classes])
    busy_d = volumes * np.array([each.busy * (each.weight_busy @ each.beyond) for each in classes])
    predicted = idle_d.sum(axis=0) + busy_d.sum(axis=0)
    scale = np.divide(total, predicted, out=np.ones_like(total), where=predicted > NOTHING)
    idle_d, busy_d = idle_d * scale, busy_d * scale
    waiting = np.maximum(total - state.aliases, 0.0)
    waits = waiting_shares(busy_d, np.array([rates.log_odds for rates in state.rates]), waiting)
    at_busy = total - idle_d.sum(axis=0)
    ends = [
        _ends(pool, rates.gaps, each, 1.0 - share, at_busy, waiting)
        for rates, each, share in zip(state.rates, classes, waits, strict=True)
    ]
    flows, bases = _flows(pool, total, scale, classes, ends)
    law = flows.law()
    outcome = _outcome(pool, state.aliases, law, flows, bases, classes, idle_d + busy_d, busy_d * waits)
    rates = tuple(
        _seen_by_volume(law, each, end, old)
        for each, end, old in zip(classes, ends, state.rates, strict=True)
    )
    busy = tuple(each.busy for each in classes)
    return Field(state.aliases, _adjusted(pool, rates, outcome), flows, bases, total, busy), outcome


def _given_total(pool: Pool, state: Field, own_balance: bool) -> tuple[Array, list[ClassGivenTotal]]:
    """The window of D, and each class given D."""
    laws = [_law_of(pool, k, rates) for k, rates in enumerate(state.rates)]
    left_out, whole = leave_one_out(
        [CountLaw(0, idle + busy) for idle, busy in laws], [int(count) for count in pool.volumes]
    )
    most = float(pool.volumes @ (pool.population - 1.0))
    total = whole.window(WINDOW)
    classes = []
    for k, ((idle, busy), others) in enumerate(zip(laws, left_out, strict=True)):
        beyond = np.arange(pool.population[k])
        likelihood = others.at(total[:, None] - beyond)
        joint_idle, joint_busy = idle * likelihood, busy * likelihood
        sum_idle, sum_busy = joint_idle.sum(axis=1), joint_busy.sum(axis=1)
        busy_share = sum_busy / (sum_idle + sum_busy)
        if state.pool is None and state.busy:
            busy_share = np.interp(total, state.total, state.busy[k])
        elif own_balance and state.pool is not None:
            own = _on_window(state.bases[k], state.pool.total, total)
            flows = _on_window(state.pool, state.pool.total, total)
            idle_share = idle_given_total(flows, own, top=bool(total[-1] >= most))
            busy_share = np.where(sum_idle > 0.0, np.where(sum_busy > 0.0, 1.0 - idle_share, 0.0), 1.0)
        per_idle, per_busy = _reciprocal(sum_idle), _reciprocal(sum_busy)
        classes.append(
            ClassGivenTotal(
                beyond, busy_share, joint_idle * per_idle, joint_busy * per_busy, likelihood * per_busy
            )
        )
    return total, classes


def _law_of(pool: Pool, k: int, rates: VolumeRates) -> tuple[Array, Array]:
    """Law of one volume of class k, base idle and base busy."""
    requesters = pool.population[k]
    beyond = np.arange(requesters)
    return volume_law(
        idle_arrivals=(requesters - beyond) / pool.think_time[k],
        busy_arrivals=(requesters - 1.0 - beyond) / pool.think_time[k],
        idle_alias_ends=idle_base_alias_ends(pool, rates.gaps, beyond),
        busy_alias_ends=rates.alias_ends,
        base_picks=rates.base_picks,
        base_idles=rates.base_idles,
    )


def _ends(
    pool: Pool, gaps: Gaps, given: ClassGivenTotal, alias_share: Array, at_busy: Array, waiting: Array
) -> VolumeEnds:
    """Rates of one volume given D and d."""
    base, aliases = busy_base_ends(pool, gaps, alias_share, at_busy, given.beyond)
    empty = own_queue_empty(alias_share, at_busy, waiting, given.beyond)
    return VolumeEnds(
        idle_base_alias_ends(pool, gaps, given.beyond), aliases, base * (1.0 - empty), base * empty
    )


def _flows(
    pool: Pool, total: Array, scale: Array, classes: list[ClassGivenTotal], ends: list[VolumeEnds]
) -> tuple[PoolFlows, tuple[BaseFlows, ...]]:
    """Flows of every class given D, and of the pool."""
    bases = []
    tries, pickups, alias_ends = (np.zeros_like(total) for _ in range(3))
    for k, (given, end) in enumerate(zip(classes, ends, strict=True)):
        thinking = pool.population[k] - given.beyond
        base = BaseFlows(
            arrivals=given.weight_idle @ thinking / pool.think_time[k],
            idles=_mean(given.weight_busy, end.base_idles),
            tries=given.busy * (given.weight_busy @ (thinking - 1.0)) / pool.think_time[k],
            pickups=given.busy * _mean(given.weight_busy, end.base_picks),
        )
        idle_ends = (1.0 - given.busy) * (given.weight_idle @ end.idle_alias_ends)
        busy_ends = given.busy * _mean(given.weight_busy, end.busy_alias_ends)
        tries += pool.volumes[k] * base.tries
        pickups += pool.volumes[k] * base.pickups
        alias_ends += pool.volumes[k] * scale * (idle_ends + busy_ends)
        bases.append(base)
    return PoolFlows(total, tries, pickups, alias_ends), tuple(bases)


def _seen_by_volume(law: Array, given: ClassGivenTotal, ends: VolumeEnds, old: VolumeRates) -> VolumeRates:
    """Rates by d alone: averages over D, as one busy volume with d sees it."""
    weight = given.likelihood * (law * given.busy)[:, None]
    weight /= np.maximum(weight.sum(axis=0), TINY)
    return replace(
        old,
        alias_ends=(weight * ends.busy_alias_ends).sum(axis=0),
        base_picks=(weight * ends.base_picks).sum(axis=0),
        base_idles=(weight * ends.base_idles).sum(axis=0),
    )


def _outcome(
    pool: Pool,
    aliases: int,
    law: Array,
    flows: PoolFlows,
    bases: tuple[BaseFlows, ...],
    classes: list[ClassGivenTotal],
    held: Array,
    waits: Array,
) -> Outcome:
    """Averages over D; `held` and `waits` are per class the I/Os beyond the base and those of them that wait."""
    busy = np.array([given.busy @ law for given in classes])
    tries = np.array([base.tries @ law for base in bases])
    arrivals = np.array(
        [((1.0 - given.busy) * base.arrivals) @ law for given, base in zip(classes, bases, strict=True)]
    )
    fails = np.array([base.tries[flows.total >= aliases] @ law[flows.total >= aliases] for base in bases])
    base_pickups = np.array([base.pickups @ law for base in bases])
    share = waits / np.maximum(flows.total - aliases, 1.0)
    alias_pickups = (share * flows.alias_ends) @ law / pool.volumes
    free = np.bincount(
        np.maximum(aliases - flows.total, 0.0).astype(np.int64), weights=law, minlength=aliases + 1
    )
    outcome = Outcome(
        throughput=arrivals + tries,
        tries=tries,
        fails=fails,
        queue=waits @ law / pool.volumes,
        base_pickups=base_pickups,
        alias_pickups=alias_pickups,
        base_in_service=busy - pool.redrive_time * base_pickups,
        alias_in_service=(held - waits) @ law / pool.volumes - pool.alias_redrive_time * alias_pickups,
        free_law=free,
        residual=np.inf,
    )
    return outcome


def _adjusted(pool: Pool, rates: tuple[VolumeRates, ...], outcome: Outcome) -> tuple[VolumeRates, ...]:
    """Gaps of the devices by how often they pick up; odds to wait by how far pickups fall short of fails."""
    picked = outcome.base_pickups + outcome.alias_pickups
    correction = ODDS_EXPONENT * np.log(np.maximum(outcome.fails, TINY) / np.maximum(picked, TINY))
    correction -= correction.mean()
    on_base = outcome.throughput - outcome.tries + outcome.base_pickups
    on_alias = outcome.tries - outcome.fails + outcome.alias_pickups
    base_gap = pool.redrive_time * outcome.base_pickups / np.maximum(on_base, TINY)
    alias_gap = pool.alias_redrive_time * outcome.alias_pickups / np.maximum(on_alias, TINY)
    return tuple(
        replace(each, gaps=Gaps(base_gap[k], alias_gap[k]), log_odds=each.log_odds + correction[k])
        for k, each in enumerate(rates)
    )


def _mean(weight: Array, values: Array) -> Array:
    """Average over d at each D."""
    return np.asarray(np.einsum("ij,ij->i", weight, values))


def _reciprocal(sums: Array) -> Array:
    """As a column; 0 where D is out of reach."""
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0)[:, None]


def _on_window(flows: AnyFlows, known: Array, wanted: Array) -> AnyFlows:
    """Flows on another window of D, constant beyond its ends."""
    if known[0] == wanted[0] and known.size == wanted.size:
        return flows
    return replace(
        flows, **{item.name: np.interp(wanted, known, getattr(flows, item.name)) for item in fields(flows)}
    )
