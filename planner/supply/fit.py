"""The load behind supply counters: mean holding time and peakedness of the aliases, by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from planner.demand import DeviceModel, candidates_of_pools
from planner.devices import Pool
from planner.measurements import Run
from planner.queueing import OverflowGroup, overflow_group
from planner.reports.supply import Counts, PoolSupply
from planner.results import Array, Flags, Integers
from planner.units import ADDRESSES

NORMAL_95: Final = 1.96
CHI_SQUARE_95: Final = 3.84
# How far the model is trusted, by the counters and the ranges of simulated days (tests/supply/test_simulated_days.py).
FAIL_TRUST: Final = 0.02  # relative error of the share of fails
DISPERSION_TRUST: Final = 0.1  # relative error of the dispersions
MARKS_TRUST: Final = 60.0  # intervals that the water marks count as
FLOOR: Final = 1e-4  # chance that a water mark is another than the model knows of
FEWEST_FAILS: Final = 20  # from here on what is fitted passes through what was counted
TRIES_TRUST: Final = 0.03  # relative errors of what a pool of equal volumes says of tries and fails
FAILS_TRUST: Final = 0.1
WORST: Final = 25.0  # squared distance beyond which the volumes do not explain the counters
SATURATED: Final = 1.0 - 1e-9  # a share of fails nearer to 1 is known by too few digits to divide by the rest
LEAST_PEAKEDNESS, MOST_PEAKEDNESS = 0.04, 20.0  # from and to which is sought
LEAST_LOAD: Final = 1e-3  # erlang
MOST_LOAD: Final = 1200.0  # with any peakedness few enough states


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispersion:
    """Variances of counts over their mean, from differences between adjacent intervals, each with its standard error.

    `tries`, `fails` and `joint` (covariance over mean fails), which are None where too few intervals have any fails.
    """

    tries: tuple[float, float]
    fails: tuple[float, float] | None
    joint: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The counters of one pool with its present aliases."""

    aliases: int  # aliases in use
    seconds: float  # in which these were counted, since the last change of aliases
    tries: int
    fails: int
    fail_error: float  # standard error of the share of fails, relative
    level_tries: Array  # (levels,) tries of an interval at each level of load
    level_intervals: Array  # (levels,) intervals at each level
    most_found: Array
    fewest_found: Array  # (levels, aliases + 1)
    last_taken: int  # intervals whose MINCT is 0 although no try failed: it found one, and took it
    contradicting: int  # intervals whose MINCT is above 0 although a try failed
    dispersion: Dispersion | None  # none where there are too few intervals
    length: float  # usual length of an interval [s]; nan where there is none
    never_busy: int  # aliases that could have been taken away without a single fail
    served: float = 0.0  # share of the fails that did not wait: an alias of another control unit served them

    @property
    def fail_fraction(self) -> float:
        """Fails over tries, 0 where nothing was tried."""
        return self.fails / self.tries if self.tries else 0.0

    @property
    def mean_tries(self) -> float:
        """Tries of an interval, over all levels of load."""
        return float(self.level_tries @ self.level_intervals / self.level_intervals.sum())

    def counted_share(self, fails: Array) -> Array:
        """Share of tries counted as fails, from `fails` (..., 2), those with these aliases and one more if all wait.

        What is served elsewhere is lost to the group: it finds the distribution cut off above the number of aliases.
        """
        waits, beyond = fails[..., 0], fails[..., 1]
        lost = np.where(
            beyond < SATURATED, (waits - beyond) / np.maximum(1.0 - beyond, 1.0 - SATURATED), waits
        )
        return np.asarray(self.served * lost + (1.0 - self.served) * waits)


def observe(supply: PoolSupply) -> Observed:
    """Gather what the fit needs."""
    now = since_change(supply)
    tries, fails = supply.tries[now].astype(float), supply.fails[now].astype(float)
    plain = supply.plain & now
    each = supply.tries[plain].astype(float)
    level, level_tries = _load_levels(each)
    with_tries = each > 0
    agree = (supply.fails[plain] == 0) | (supply.fewest[plain] == 0)
    marked = with_tries & agree
    fewest, most = (_found(supply, marks) for marks in (supply.fewest, supply.most))
    busy = [supply.in_use - found[plain][marked] for found in (fewest, most)]
    counted = [_histogram(level[marked], found, level_tries.size, supply.in_use) for found in busy]
    if not supply.marked:
        counted[1] *= 0.0
    return Observed(
        aliases=supply.in_use,
        seconds=float(supply.length[now].sum()),
        tries=int(tries.sum()),
        fails=int(fails.sum()),
        fail_error=_fail_error(tries, fails),
        level_tries=level_tries,
        level_intervals=np.bincount(level, minlength=level_tries.size).astype(float),
        most_found=counted[0],
        fewest_found=counted[1],
        last_taken=int((fewest > supply.fewest)[plain].sum()),
        contradicting=int((with_tries & ~agree).sum()),
        dispersion=_dispersion(supply, now),
        length=float(np.median(supply.length[plain])) if plain.any() else float("nan"),
        never_busy=_never_busy(supply, fewest, now),
    )


def observe_alone(supply: PoolSupply) -> Observed | None:
    """Gather it as if no alias had been borrowed: what one served found none of its own; None if none was borrowed."""
    now = since_change(supply)
    borrowed = np.zeros_like(supply.tries) if supply.borrowed is None else supply.borrowed
    fails = np.minimum(supply.fails + borrowed, supply.tries)
    none_own, failed = int(fails[now].sum()), int(supply.fails[now].sum())
    if none_own == failed:
        return None
    found = observe(replace(supply, fails=fails, marked=False))
    known = found.dispersion  # that of fails holds for such as wait
    return replace(
        found, served=(none_own - failed) / none_own,
        dispersion=None if known is None else replace(known, fails=None, joint=None),
    )  # fmt: skip


def _found(supply: PoolSupply, marks: Counts) -> Counts:
    """Free aliases that a try found: where none failed, one at least, whether or not a mark counts the one it took."""
    served = (supply.tries > 0) & (supply.fails == 0)
    return np.maximum(marks, np.where(served, np.minimum(supply.aliases, 1), 0))


def since_change(supply: PoolSupply) -> Flags:
    """Intervals at the end of the file with the present number of aliases throughout."""
    other = np.flatnonzero(supply.aliases != supply.in_use)
    first = other[-1] + 2 if other.size else 0  # into the interval after the last of them the change fell
    return np.asarray(np.arange(supply.aliases.size) >= first)


def _never_busy(supply: PoolSupply, fewest: Counts, now: Flags) -> int:
    """One less than the fewest free aliases that a try found: with that many fewer it would still have found one."""
    if not now.any():
        return 0
    found = fewest[now & (supply.tries > 0)]
    return max(int(found.min()) - 1, 0) if found.size else supply.in_use


def _load_levels(tries: Array, levels: int = 5) -> tuple[Integers, Array]:
    """Level of load of each interval, tries at each level: what adjacent intervals share is load, the rest chance."""
    if tries.size == 0 or tries.sum() == 0:
        return np.zeros(tries.size, dtype=np.int64), np.zeros(1)
    off = tries - tries.mean()
    shared = float(np.clip((off[1:] @ off[:-1]) / max(off @ off, 1e-300), 0.0, 1.0))
    load = np.maximum(tries.mean() + shared * off, 0.0)
    if load.std() < 0.02 * load.mean():  # it counts as constant
        return np.zeros(tries.size, dtype=np.int64), np.array([tries.mean()])
    order = np.argsort(load, kind="stable")
    share = np.cumsum(load[order]) / load.sum()
    level = np.empty(tries.size, dtype=np.int64)
    level[order] = np.minimum((share * levels).astype(np.int64), levels - 1)
    _, level = np.unique(level, return_inverse=True)
    return level, np.maximum(np.bincount(level, weights=load) / np.bincount(level), np.finfo(float).tiny)


def _histogram(level: Integers, found: Integers, levels: int, aliases: int) -> Array:
    counts = np.bincount(level * (aliases + 1) + found, minlength=levels * (aliases + 1))
    return counts.reshape(levels, aliases + 1).astype(np.float64)


def _fail_error(tries: Array, fails: Array, blocks: int = 24) -> float:
    """Relative standard error of fails over tries, by blocks of adjacent intervals; nan where there are too few."""
    if not fails.sum() or tries.size < blocks:
        return float("nan")
    edges = np.linspace(0, tries.size, blocks + 1).astype(np.int64)[:-1]
    off = np.add.reduceat(fails - fails.sum() / tries.sum() * tries, edges)
    return float(np.sqrt(blocks / (blocks - 1) * (off @ off)) / fails.sum())


def _dispersion(supply: PoolSupply, now: Flags, fewest: int = 100) -> Dispersion | None:
    """Half the mean square of differences, of `fewest` intervals at least: slow changes of the load drop out."""
    plain = supply.plain & now
    both = plain[1:] & plain[:-1]
    tries, fails = supply.tries.astype(float), supply.fails.astype(float)
    step_tries, step_fails = np.diff(tries)[both], np.diff(fails)[both]
    count = int(both.sum())
    if count < fewest or not step_tries.any():
        return None
    mean_tries, mean_fails = tries[plain].mean(), fails[plain].mean()
    of_tries = 0.5 * float((step_tries**2).mean())
    of_fails = 0.5 * float((step_fails**2).mean())
    joint = 0.5 * float((step_tries * step_fails).mean())
    error = math.sqrt(3.0 / count)  # of a variance from differences of normal numbers, relative
    some = int((fails[plain] > 0).sum()) >= fewest and of_fails > 0
    joint_error = float(np.sqrt((of_tries * of_fails + joint**2) * 1.5 / count))
    return Dispersion(
        tries=(of_tries / mean_tries, error * of_tries / mean_tries),
        fails=(of_fails / mean_fails, error * of_fails / mean_fails) if some else None,
        joint=(joint / mean_fails, joint_error / mean_fails) if some else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedVolumes:
    """`pools` that explain both volumes and counters, the likeliest first, whose demand `words` say."""

    pools: tuple[Pool, ...]
    words: str

    def fail_fractions(self, most: int) -> Array:
        """Share of tries that would fail with 0, 1, ... aliases."""
        return np.array([_sweep(pool, most) for pool in self.pools])


def fit_volumes(run: Run, device_model: DeviceModel, observed: Observed) -> FittedVolumes | None:
    """Choose among the demands that the volumes allow those that give the tries and fails that were counted."""
    if not observed.tries or not math.isfinite(observed.length) or not run.aliases:
        return None
    rate = observed.mean_tries / observed.length
    demands = candidates_of_pools([run], device_model)[0]
    found = [(_distance(demand.pool, observed, rate), demand) for demand in demands]
    found.sort(key=lambda item: item[0])
    least, best = found[0]
    if not least <= WORST:
        return None
    near = tuple(demand.pool for distance, demand in found if distance <= least + CHI_SQUARE_95)
    return FittedVolumes(pools=near, words=best.words())


def _distance(pool: Pool, observed: Observed, rate: float) -> float:
    """Squared distance of tries and fails, in the logarithm, over how far the pool is trusted."""
    more = min(observed.aliases + bool(observed.served), ADDRESSES - pool.bases)
    rows = pool.solve([observed.aliases, more])
    tries, share = float(rows.tries[0]), float(rows.no_alias[0])
    if more > observed.aliases:
        share = float(observed.counted_share(rows.no_alias))
    if tries <= 0.0:
        return math.inf
    off = math.log((share + FLOOR) / (observed.fail_fraction + FLOOR))
    return (math.log(tries / rate) / TRIES_TRUST) ** 2 + (off / FAILS_TRUST) ** 2


def _sweep(pool: Pool, most: int, step: int = 8, negligible: float = 1e-4) -> Array:
    """Solve more and more aliases until fails are negligible; 1 where the pool is not stable."""
    shares = np.zeros(most + 1)
    room = min(most, ADDRESSES - pool.bases)
    for first in range(0, room + 1, step):
        counts = np.arange(first, min(first + step, room + 1), dtype=np.float64)
        rows = pool.solve(counts)
        shares[first : first + counts.size] = np.where(np.isfinite(rows.queued), rows.no_alias, 1.0)
        if shares[first + counts.size - 1] < negligible:
            return shares
    shares[room + 1 :] = shares[room]
    return shares


_Misfit = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The load of the aliases."""

    load: float  # mean requests in an infinite group at the mean rate of tries [erlang]
    peakedness: float  # variance over mean of these requests
    shares: Array  # (levels,) share of the tries at each level of load
    factors: Array  # (levels,) load at each level over the mean
    also: Array  # (points, 2) load and peakedness at the edge of what the counters allow, 95 %
    determined: bool  # whether the counters deny the smallest load that was tried, with this peakedness

    def fail_fractions(self, most: int) -> Array:
        """Share of tries that would fail with 0, 1, ... aliases, for the fit and those at the edge."""
        load, peakedness = np.array([(self.load, self.peakedness), *self.also]).T
        group = overflow_group(load[:, None] * self.factors, peakedness[:, None], most)
        fails: Array = np.einsum("l,pls->ps", self.shares, group.fail_fraction_with(np.arange(most + 1)))
        return fails

    def fails_dispersion(self, aliases: int) -> float:
        """Variance over mean of the fails counted with this many aliases."""
        _, fails, _ = overflow_group(self.load, self.peakedness, aliases).dispersions()
        return max(float(fails), 1.0)


def fit(observed: Observed) -> Fitted | None:
    """Find the load that makes the counters likeliest."""
    if observed.level_intervals @ observed.level_tries <= 0:
        return None
    shares, factors = _levels(observed)
    misfit = partial(_misfit, observed)
    peakedness = np.linspace(np.log(LEAST_PEAKEDNESS), np.log(MOST_PEAKEDNESS), 25)
    most = min(max(10.0 * observed.aliases, 20.0), MOST_LOAD)  # where nine of ten tries fail
    bounds = np.log(LEAST_LOAD), np.log(most)
    loads = np.tile(np.linspace(*bounds, 112 + observed.aliases // 2), (25, 1))
    loads, values = _valley(misfit, peakedness, loads, bounds)
    for _ in range(2):  # closer and closer around what the counters allow
        step, some = peakedness[1] - peakedness[0], peakedness[_near(values).any(axis=1)]
        best = np.take_along_axis(loads, values.argmin(axis=1)[:, None], axis=1)[:, 0]
        closer = np.linspace(max(some[0] - step, peakedness[0]), min(some[-1] + step, peakedness[-1]), 25)
        loads = np.interp(closer, peakedness, best)[:, None] + np.linspace(-0.4, 0.4, 33)
        peakedness = closer
        loads, values = _valley(misfit, peakedness, np.clip(loads, *bounds), bounds)
    row, column = np.unravel_index(np.argmin(values), values.shape)
    near = _near(values)
    ends = np.where(near, loads, np.inf).min(axis=1), np.where(near, loads, -np.inf).max(axis=1)
    edge = np.concatenate([np.stack([end, peakedness], axis=1)[near.any(axis=1)] for end in ends])
    return Fitted(
        load=float(np.exp(loads[row, column])),
        peakedness=float(np.exp(peakedness[row])),
        shares=shares,
        factors=factors,
        also=np.exp(edge),
        determined=bool(loads[row][near[row]].min() > loads[row].min()),
    )


def _near(values: Array) -> Flags:
    """Which misfits the counters allow, 95 %."""
    return np.asarray(values <= values.min() + CHI_SQUARE_95)


def _levels(observed: Observed) -> tuple[Array, Array]:
    """Share of the tries at each level of load, and the load there over the mean."""
    weights = observed.level_intervals * observed.level_tries
    return weights / weights.sum(), observed.level_tries * observed.level_intervals.sum() / weights.sum()


def _misfit(observed: Observed, points: Array) -> Array:
    """-2 ln likelihood of each point (logarithms of load and peakedness) but for a constant."""
    shares, factors = _levels(observed)
    load, peakedness = np.exp(points.T)
    group = overflow_group(load[:, None] * factors, peakedness[:, None], observed.aliases)
    trust = min(1.0, MARKS_TRUST / max(observed.level_intervals.sum(), 1.0))
    tries = np.broadcast_to(observed.level_tries, group.load.shape)
    total: Array = np.zeros(group.load.shape[0])
    marks = observed.most_found, observed.fewest_found
    for found, chances in zip(marks, group.found(tries), strict=True):
        total -= 2.0 * trust * (found * np.log(np.maximum(chances, 0.0) + FLOOR)).sum(axis=(1, 2))
    if observed.fails:
        known = np.nan_to_num(observed.fail_error, nan=1.0 / np.sqrt(observed.fails))
        share = observed.counted_share(group.fail_fraction_with([observed.aliases, observed.aliases + 1]))
        expected = np.log(np.maximum(share @ shares, FLOOR * observed.fail_fraction))
        total += (expected - np.log(observed.fail_fraction)) ** 2 / (known**2 + FAIL_TRUST**2)
    total += points[:, 1] ** 2  # prior: the logarithm of the peakedness is 0, with a standard deviation of 1
    return total + _dispersion_misfit(observed, group, shares)


def _dispersion_misfit(observed: Observed, group: OverflowGroup, shares: Array) -> Array:
    """Squared distances of the dispersions, levels weighed by their tries and fails."""
    seen = observed.dispersion
    if seen is None:
        return np.zeros(group.load.shape[0])
    tries, fails, joint = group.dispersions()
    total = _square(tries @ shares, *seen.tries)
    if seen.fails is not None and seen.joint is not None:
        of_fails = shares * group.fail_fraction
        of_fails = of_fails / np.maximum(of_fails.sum(axis=1, keepdims=True), 1e-300)
        total = total + _square((fails * of_fails).sum(axis=1), *seen.fails)
        total = total + _square((joint * of_fails).sum(axis=1), *seen.joint)
    return total


def _square(expected: Array, seen: float, error: float) -> Array:
    """Squared distance over the errors of the measurement and of the model."""
    return np.asarray((expected - seen) ** 2 / (error**2 + (DISPERSION_TRUST * expected) ** 2))


def _valley(
    misfit: _Misfit, peakedness: Array, loads: Array, bounds: tuple[float, float]
) -> tuple[Array, Array]:
    """Loads tried with each peakedness and their misfits, closer and closer around the best, both (peakedness, tried).

    What the counters allow is a valley, often long, narrow and bent: no curvature at its lowest point shows its ends.
    """
    reach = np.diff(loads, axis=1).max()
    tried, found = [], []
    for _ in range(5):
        points = np.stack([loads, np.broadcast_to(peakedness[:, None], loads.shape)], axis=-1)
        tried.append(loads)
        # part by part: the smaller the load and the peakedness, the fewer states they need
        rows = [np.array_split(each, 1 + loads.shape[1] // 30, axis=1) for each in np.array_split(points, 6)]
        found.append(
            np.block([[misfit(part.reshape(-1, 2)).reshape(part.shape[:2]) for part in row] for row in rows])
        )
        best = np.take_along_axis(loads, found[-1].argmin(axis=1)[:, None], axis=1)
        loads = np.clip(best + np.linspace(-reach, reach, 9), *bounds)
        reach /= 4.0
    return np.concatenate(tried, axis=1), np.concatenate(found, axis=1)
