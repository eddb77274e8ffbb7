"""Counts of every interval from full answers of a few: interpolated between them, with an error that the run measures.

Full answers are given where the interpolation is least sure, at intervals drawn at random, which tell its error, and
wherever they decide a count that is reported. The counts of all others are interpolated over load, queue, unevenness
and aliases in use.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from planner.demand import Law
from planner.errors import PlannerError
from planner.results import Array
from planner.site.groups import Series
from planner.site.hints import FEATURES, FLOOR, Hints
from planner.site.kriging import FEWEST, Surface
from planner.site.point import Point
from planner.demand import Target

Solve = Callable[[Sequence[tuple[int, int]], Sequence[Collection[float]]], Sequence[Point | PlannerError]]

MOST_COST: Final = 800.0  # of one pool, on average, before those that decide, in units of `_costs`
AT_ONCE: Final = 24  # intervals: where there are no more, all are solved
MOST_DECIDING: Final = 12  # for each count that is reported
SURE: Final = 0.005  # mean chance of another count at which no further interval is solved
FEWEST_CHECKED: Final = 6  # of a pool, on average
MISSED: Final = 0.02  # share of the intervals drawn last whose count was another one, with which to go on
RANDOM: Final = 4  # one in so many is drawn at random
ROUNDS: Final = 8
WIDTH: Final = 2.0  # standard deviations within which an interval may decide
LARGEST_MISS: Final = 0.75  # aliases; less sure counts are rounded up
LEAST_FACTOR, LARGEST_FACTOR = 0.5, 5.0
NORMAL_90: Final = 1.645
LEAST_ROUND: Final = 4  # intervals of one pool, on average
RARE: Final = 0.1  # share of the intervals below which a sort of demand begins with fewer


@dataclass(slots=True)
class Checked:
    """Intervals that were interpolated, then solved in full: drawn at random, so that they tell the error.

    `same` count, `short` by more than one, of `tried`.
    """

    tried: int = 0
    same: int = 0
    within_one: int = 0
    short: int = 0

    def add(self, guess: float, count: int) -> None:
        """One interval."""
        self.tried += 1
        self.same += guess == count
        self.within_one += abs(guess - count) <= 1
        self.short += count - guess > 1

    def plus(self, other: Checked) -> Checked:
        """Both together."""
        return Checked(
            self.tried + other.tried, self.same + other.same, self.within_one + other.within_one,
            self.short + other.short,
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class Screen:
    """The intervals of some groups: what was solved of them, and what is interpolated.

    Arrays are over all intervals with I/O of all groups: `group` and `interval`, `features` (intervals, features), and
    `regime`, within which answers change smoothly; `least` and `most` counts that the measurement leaves open, and
    the `cost` of a full answer.
    """

    group: NDArray[np.int64]
    interval: NDArray[np.int64]
    features: Array
    regime: NDArray[np.int64]
    least: Array
    most: Array
    cost: Array
    solve: Solve
    groups: int
    hints: tuple[Hints, ...]
    known: dict[int, Point] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    checked: Checked = field(default_factory=Checked)
    smooth: Array = field(default_factory=lambda: np.zeros(0))
    error: Array = field(default_factory=lambda: np.zeros(0))
    factor: float = 1.0

    @classmethod
    def of(cls, every: Sequence[Series], solve: Solve, law: Law, target: Target) -> Screen:
        """Of groups over time; `solve` answers intervals in full."""
        picked = [np.flatnonzero((each.io_rate > 0) & each.complete) for each in every]
        hints = tuple(Hints.of(each, k, law, target) for each, k in zip(every, picked, strict=True))
        return cls(
            group=np.repeat(np.arange(len(every)), [each.size for each in picked]),
            interval=np.concatenate([*picked, np.zeros(0, dtype=np.int64)]),
            features=np.concatenate([*(each.features for each in hints), np.zeros((0, FEATURES))]),
            regime=np.concatenate([*(each.regime for each in hints), np.zeros(0, dtype=np.int64)]),
            least=np.concatenate([*(each.least for each in hints), np.zeros(0)]),
            most=np.concatenate([*(each.most for each in hints), np.zeros(0)]),
            cost=np.concatenate([*(each.cost for each in hints), np.zeros(0)]),
            solve=solve, groups=len(every), hints=hints,
        )  # fmt: skip

    def run(self) -> None:
        """Solve what is needed for sure counts of all intervals."""
        first = [
            at for group in range(self.groups) for at in self._first(np.flatnonzero(self.group == group))
        ]
        self._solve(first)
        self._fit()
        left = MOST_COST * self.groups - self._spent()
        each = left / ROUNDS
        while left > 0:
            doubt = self.doubt()
            open_ = np.flatnonzero(~self.done())
            checked = self.checked.tried >= FEWEST_CHECKED * self.groups and not self._missed
            if open_.size == 0 or (checked and float(doubt[open_].mean()) < SURE):
                break
            # So many that those left are sure, at most a part of what may be spent.
            before = self._spent()
            wanted = max(math.ceil(float(doubt[open_].sum()) - SURE * open_.size), LEAST_ROUND * self.groups)
            self._next(open_, doubt, min(wanted, max(int(each / float(self.cost[open_].mean())), 1)))
            left -= self._spent() - before
            self._fit()

    def _spent(self) -> float:
        """Cost of what was solved."""
        return float(self.cost[self.done()].sum())

    def done(self) -> NDArray[np.bool_]:
        """Whether an interval was solved, or could not be."""
        found = np.zeros(self.group.size, dtype=bool)
        found[[*self.known, *self.problems]] = True
        return found

    def counts(self) -> Array:
        """Count of each interval: solved, else interpolated; nan where it could not be solved."""
        found = self._bounded(self.smooth + np.maximum(WIDTH * self.error - LARGEST_MISS, 0.0))
        for at, each in self.known.items():
            found[at] = each.count
        found[list(self.problems)] = np.nan
        return found

    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest count that the error of the interpolation allows, both the count itself where solved."""
        low, high = (self._bounded(self.smooth + sign * WIDTH * self.error) for sign in (-1.0, 1.0))
        exact = self.counts()
        done = self.done()
        return np.where(done, exact, low), np.where(done, exact, high)

    def _bounded(self, smooth: Array) -> Array:
        """Counts, within what the measurement leaves open."""
        return np.clip(np.maximum(np.ceil(smooth), 0.0), self.least, self.most)

    def doubt(self) -> Array:
        """Chance of another count than the interpolated one."""
        count = self._bounded(self.smooth)
        error = np.maximum(self.error, 1e-9)
        below = np.where(count > self.least, ndtr((count - 1 - self.smooth) / error), 0.0)
        above = np.where(count < self.most, 1.0 - ndtr((count - self.smooth) / error), 0.0)
        return np.asarray(below + above)

    def settle(
        self, group: int, quantity: Callable[[Array], float], which: Callable[[NDArray[np.int64]], Array]
    ) -> None:
        """Solve intervals of a group until a count that follows from them is the same at both ends of their bounds.

        `quantity` makes it from the counts of the group, `which` weighs the intervals that may decide it.
        """
        members = np.flatnonzero(self.group == group)
        for _ in range(MOST_DECIDING):
            low, high = (each[members] for each in self.bounds())
            least, most = quantity(low), quantity(high)
            if least == most or not np.isfinite(most):
                return
            open_ = (high > low) & (high > least - 0.5) & (low < most + 0.5) & (which(members) > 0)
            open_ &= ~self.done()[members]
            if not open_.any():
                return
            middle = 0.5 * (least + most)
            near = np.where(open_, np.abs(self.smooth[members] - middle), np.inf)
            if quantity is np.nanmax:
                near = np.where(open_, -self.smooth[members] - self.error[members], np.inf)
            self._solve([int(members[np.argmin(near)])])

    def _solve(self, wanted: Iterable[int]) -> None:
        """Answer intervals in full, those that were not yet."""
        new = [at for at in dict.fromkeys(wanted) if at not in self.known and at not in self.problems]
        asked = [(int(self.group[at]), int(self.interval[at])) for at in new]
        for at, found in zip(new, self.solve(asked, self._among(new)), strict=True):
            if isinstance(found, Point):
                self.known[at] = found
            else:
                self.problems[at] = str(found)

    def _among(self, places: Sequence[int]) -> list[Collection[float]]:
        """Readings that may fit each of some intervals."""
        first = np.searchsorted(self.group, np.arange(self.groups))
        return [self.hints[self.group[at]].readings(at - int(first[self.group[at]])) for at in places]

    def _first(self, members: NDArray[np.int64]) -> list[int]:
        """Intervals to begin with: the ends and the middle of load and queue in each regime, and some at random."""
        if members.size <= AT_ONCE:
            return [int(at) for at in members]
        found = []
        for regime in np.unique(self.regime[members]):
            some = members[self.regime[members] == regime]
            load, wait = self.features[some, 0], self.features[some, 1]
            order, by_wait = some[np.argsort(load, kind="stable")], some[np.argsort(wait, kind="stable")]
            few = some.size < RARE * members.size
            found += [order[-1], by_wait[-1], order[0]]
            found += (
                [] if few else [order[order.size // 2], by_wait[by_wait.size // 2], order[order.size // 5]]
            )
        return [int(at) for at in found]

    def _next(self, open_: NDArray[np.int64], doubt: Array, size: int) -> None:
        """Solve the least sure intervals, and some drawn at random, which tell the error."""
        seed = zlib.crc32(np.ascontiguousarray(open_[:64]).tobytes()) + len(self.known)
        generator = np.random.default_rng(seed)
        drawn = generator.choice(open_, min(max(size // RANDOM, 1), open_.size), replace=False)
        counts = self.counts()
        chances = doubt[open_] + 1e-6
        others = generator.choice(
            open_, min(size - drawn.size, open_.size), replace=False, p=chances / chances.sum()
        )
        self._solve([int(at) for at in (*drawn, *others)])
        there = [at for at in drawn.tolist() if at in self.known]
        for at in there:
            self.checked.add(float(counts[at]), self.known[at].count)
        self._missed = sum(counts[at] != self.known[at].count for at in there) > MISSED * len(there)

    def _fit(self) -> None:
        """Interpolate within each regime; an error of the past that was larger than told makes it larger."""
        before, error = self.smooth, self.error
        self.smooth = np.full(self.group.size, 0.0)
        self.error = np.full(self.group.size, 10.0)
        solved = np.array(sorted(self.known), dtype=np.int64)
        values = np.array([self.known[int(at)].smooth for at in solved])
        if before.size and solved.size:
            fresh = solved[self._fresh[solved]]
            if fresh.size:
                truth = np.array([self.known[int(at)].smooth for at in fresh])
                off = np.abs(truth - before[fresh]) / np.maximum(error[fresh] / self.factor, 1e-6)
                self._ratios = np.append(self._ratios, off)[-MOST_RATIOS * self.groups :]
                worst = float(np.quantile(self._ratios, 0.9)) / NORMAL_90
                self.factor = float(np.clip(worst, LEAST_FACTOR, LARGEST_FACTOR))
        for regime in np.unique(self.regime):
            here = np.flatnonzero(self.regime == regime)
            chosen = self.regime[solved] == regime
            if chosen.sum() < FEWEST:
                if chosen.any():
                    self.smooth[here] = float(values[chosen].max())
                continue
            # What is interpolated is what the guess, the last feature, misses.
            guess = self.features[:, -1]
            missed = np.log1p(np.maximum(values[chosen], FLOOR)) - guess[solved[chosen]]
            mean, spread = Surface.of(self.features[solved[chosen]], missed).predict(self.features[here])
            mean = np.clip(mean + guess[here], np.log1p(FLOOR), np.log(257.0))
            self.smooth[here] = np.expm1(mean)
            self.error[here] = np.exp(mean) * np.minimum(spread * self.factor, 3.0)
        self._fresh = ~self.done()

    _missed: bool = False
    _fresh: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _ratios: Array = field(default_factory=lambda: np.zeros(0))


MOST_RATIOS: Final = 24  # of a pool, on average: the last ones, since the first of few intervals are far off
