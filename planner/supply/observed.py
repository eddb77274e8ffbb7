"""What the supply counters of one pool say about the load of its aliases, gathered for the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.reports.supply import PoolSupply
from planner.results import Array

STEADY: Final = 0.02  # relative standard deviation of the load below which it counts as constant
LEVELS: Final = 5
BLOCKS: Final = 24
LEAST_FOR_DISPERSION: Final = 100  # intervals, with fails for that of the fails
NORMAL_95: Final = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispersion:
    """Variances of counts over their mean, from differences between adjacent intervals, and their standard errors.

    `tries`, `fails` and `joint` (covariance over mean fails); errors likewise. Fails are None where too few intervals
    have any.
    """

    tries: float
    tries_error: float
    fails: float | None
    fails_error: float
    joint: float
    joint_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The counters of one pool with its present aliases.

    Attributes
    ----------
    aliases : int
        Aliases in use.
    tries, fails : int
        Counted with these aliases.
    fail_error : float
        Standard error of the share of fails, relative.
    level_tries : ndarray, shape (levels,)
        Tries of an interval at each level of load.
    level_intervals : ndarray, shape (levels,)
        Intervals at each level.
    most_found, fewest_found : ndarray, shape (levels, aliases + 1)
        Intervals in which the most busy aliases that a try found were so many; the fewest.
    contradicting : int
        Intervals whose MINCT is above 0 although a try failed, or 0 although none did; their water marks are left out.
    dispersion : Dispersion or None
        None where there are too few intervals.
    length : float
        Usual length of an interval [s]; nan where there is none.
    never_busy : int
        Aliases that could have been taken away without a single fail.
    """

    aliases: int
    tries: int
    fails: int
    fail_error: float
    level_tries: Array
    level_intervals: Array
    most_found: Array
    fewest_found: Array
    contradicting: int
    dispersion: Dispersion | None
    length: float
    never_busy: int

    @property
    def fail_fraction(self) -> float:
        """Fails over tries, 0 where nothing was tried."""
        return self.fails / self.tries if self.tries else 0.0

    def merged(self) -> Observed:
        """All levels of load taken as one.

        Returns
        -------
        Observed
            With one level.
        """
        intervals = self.level_intervals.sum()
        return replace(
            self,
            level_tries=np.array([self.level_tries @ self.level_intervals / intervals]),
            level_intervals=np.array([intervals]),
            most_found=self.most_found.sum(axis=0, keepdims=True),
            fewest_found=self.fewest_found.sum(axis=0, keepdims=True),
        )


def observe(supply: PoolSupply) -> Observed:
    """Gather what the fit needs.

    Parameters
    ----------
    supply : PoolSupply
        Counters of one pool.

    Returns
    -------
    Observed
        Of the intervals with the aliases that are in use now.
    """
    now = _now(supply)
    tries, fails = supply.tries[now].astype(float), supply.fails[now].astype(float)
    plain = supply.plain & now
    each = supply.tries[plain].astype(float)
    level, level_tries = _levels(each)
    with_tries = each > 0
    agree = (supply.fails[plain] > 0) == (supply.fewest[plain] == 0)
    marked = with_tries & agree
    busy = [supply.in_use - marks[plain][marked] for marks in (supply.fewest, supply.most)]
    counted = [_histogram(level[marked], found, level_tries.size, supply.in_use) for found in busy]
    if not supply.marked:
        counted[1] *= 0.0
    return Observed(
        aliases=supply.in_use,
        tries=int(tries.sum()),
        fails=int(fails.sum()),
        fail_error=_fail_error(tries, fails),
        level_tries=level_tries,
        level_intervals=np.bincount(level, minlength=level_tries.size).astype(float),
        most_found=counted[0],
        fewest_found=counted[1],
        contradicting=int((with_tries & ~agree).sum()),
        dispersion=_dispersion(supply, now),
        length=float(np.median(supply.length[plain])) if plain.any() else float("nan"),
        never_busy=_never_busy(supply, now),
    )


def _now(supply: PoolSupply) -> NDArray[np.bool_]:
    """Intervals at the end of the file with the present number of aliases throughout."""
    same = (supply.aliases == supply.in_use)[::-1]
    since = len(same) if same.all() else int(np.argmin(same))
    now = np.zeros(len(same), dtype=bool)
    now[len(same) - since :] = True
    if since < len(same):
        now[len(same) - since] = False  # the change fell into this interval
    return now


def _never_busy(supply: PoolSupply, now: NDArray[np.bool_]) -> int:
    """One less than the fewest free aliases that a try found: with that many fewer it would still have found one."""
    asked = now & (supply.tries > 0)
    if not now.any():
        return 0
    if not asked.any():
        return supply.in_use
    return max(int(supply.fewest[asked].min()) - 1, 0)


def _levels(tries: Array) -> tuple[NDArray[np.int64], Array]:
    """Level of load of each interval and tries of an interval at each level.

    What adjacent intervals share is load; what they do not is chance, and is taken out of the tries of an interval.
    """
    if tries.size == 0 or tries.sum() == 0:
        return np.zeros(tries.size, dtype=np.int64), np.zeros(1)
    off = tries - tries.mean()
    shared = (
        float(np.clip((off[1:] @ off[:-1]) / max(off @ off, 1e-300), 0.0, 1.0)) if tries.size > 1 else 0.0
    )
    load = np.maximum(tries.mean() + shared * off, 0.0)
    if load.std() < STEADY * load.mean():
        return np.zeros(tries.size, dtype=np.int64), np.array([tries.mean()])
    order = np.argsort(load, kind="stable")
    share = np.cumsum(load[order]) / load.sum()
    level = np.empty(tries.size, dtype=np.int64)
    level[order] = np.minimum((share * LEVELS).astype(np.int64), LEVELS - 1)
    _, level = np.unique(level, return_inverse=True)
    of_level = np.bincount(level, weights=load) / np.bincount(level)
    return level, np.maximum(of_level, np.finfo(float).tiny)


def _histogram(level: NDArray[np.int64], found: NDArray[np.int64], levels: int, aliases: int) -> Array:
    counts = np.bincount(level * (aliases + 1) + found, minlength=levels * (aliases + 1))
    return counts.reshape(levels, aliases + 1).astype(np.float64)


def _fail_error(tries: Array, fails: Array) -> float:
    """Relative standard error of fails over tries, by blocks of adjacent intervals; nan where there are too few."""
    if not fails.sum() or tries.size < BLOCKS:
        return float("nan")
    edges = np.linspace(0, tries.size, BLOCKS + 1).astype(np.int64)[:-1]
    off = np.add.reduceat(fails - fails.sum() / tries.sum() * tries, edges)
    spread = BLOCKS / (BLOCKS - 1) * (off @ off)
    return float(np.sqrt(spread) / fails.sum())


def _dispersion(supply: PoolSupply, now: NDArray[np.bool_]) -> Dispersion | None:
    """Half the mean square of differences: slow changes of the load drop out."""
    both = (supply.plain & now)[1:] & (supply.plain & now)[:-1]
    tries = supply.tries.astype(float)
    fails = supply.fails.astype(float)
    step_tries, step_fails = np.diff(tries)[both], np.diff(fails)[both]
    count, mean = int(both.sum()), tries[supply.plain & now]
    if count < LEAST_FOR_DISPERSION or mean.sum() == 0 or not step_tries.any():
        return None
    mean_tries, mean_fails = mean.mean(), fails[supply.plain & now].mean()
    of_tries = 0.5 * float((step_tries**2).mean())
    of_fails = 0.5 * float((step_fails**2).mean())
    joint = 0.5 * float((step_tries * step_fails).mean())
    error = np.sqrt(3.0 / count)  # of a variance from differences of normal numbers, relative
    some = int((fails[supply.plain & now] > 0).sum()) >= LEAST_FOR_DISPERSION and of_fails > 0
    joint_error = np.sqrt((of_tries * of_fails + joint**2) * 1.5 / count)
    return Dispersion(
        tries=of_tries / mean_tries,
        tries_error=float(error * of_tries / mean_tries),
        fails=of_fails / mean_fails if some else None,
        fails_error=float(error * of_fails / mean_fails) if some else float("nan"),
        joint=joint / mean_fails if some else float("nan"),
        joint_error=float(joint_error / mean_fails) if some else float("nan"),
    )
