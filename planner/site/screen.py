"""Counts of every interval from full answers of a few: interpolated between them, with an error that the run measures.

Full answers are given where the interpolation is least sure, at intervals drawn at random, which tell its error, and
wherever they decide a count that is reported. The counts of all others are interpolated over load, queue, unevenness
and aliases in use.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from planner.demand import Law
from planner.errors import PlannerError
from planner.interval import Interval
from planner.results import Array
from planner.site.groups import VOLUME, Series
from planner.site.kriging import FEWEST, Surface
from planner.site.point import Point
from planner.site.spill import spilled
from planner.site.steady_table import BURSTY, FAR, sorts
from planner.sizing.target import Target

MOST_SOLVED: Final = 48  # intervals of one pool, on average, before those that decide
MOST_DECIDING: Final = 12  # for each count that is reported
SURE: Final = 0.01  # mean chance of another count at which no further interval is solved
FEWEST_CHECKED: Final = 3  # of a pool, on average
RANDOM: Final = 4  # one in so many is drawn at random
ROUNDS: Final = 8
WIDTH: Final = 2.0  # standard deviations within which an interval may decide
LARGEST_MISS: Final = 0.75  # aliases; less sure counts are rounded up
LEAST_FACTOR, LARGEST_FACTOR = 0.5, 5.0
NORMAL_90: Final = 1.645
LEAST_WAIT: Final = 1e-3  # service times
FLOOR: Final = -0.5
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
    `regime`, within which answers change smoothly.
    """

    group: NDArray[np.int64]
    interval: NDArray[np.int64]
    features: Array
    regime: NDArray[np.int64]
    solve: Callable[[int, int, bool], Point]
    groups: int
    known: dict[int, Point] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    checked: Checked = field(default_factory=Checked)
    smooth: Array = field(default_factory=lambda: np.zeros(0))
    error: Array = field(default_factory=lambda: np.zeros(0))
    factor: float = 1.0

    @classmethod
    def of(
        cls, every: Sequence[Series], solve: Callable[[int, int, bool], Point], law: Law, target: Target
    ) -> Screen:
        """Of groups over time; `solve` answers one interval of one group in full."""
        picked = [np.flatnonzero((each.io_rate > 0) & each.complete) for each in every]
        empty = np.zeros((0, FEATURES))
        return cls(
            group=np.repeat(np.arange(len(every)), [each.size for each in picked]),
            interval=np.concatenate([*picked, np.zeros(0, dtype=np.int64)]),
            features=np.concatenate(
                [_features(each, k, law, target) for each, k in zip(every, picked, strict=True)] or [empty]
            ),
            regime=np.concatenate(
                [_regime(each, k, law) for each, k in zip(every, picked, strict=True)] or [np.zeros(0, dtype=np.int64)]
            ),
            solve=solve, groups=len(every),
        )  # fmt: skip

    def run(self) -> None:
        """Solve what is needed for sure counts of all intervals."""
        first = [
            at for group in range(self.groups) for at in self._first(np.flatnonzero(self.group == group))
        ]
        for at in dict.fromkeys(first):
            self._solve(at)
        self._fit()
        left = MOST_SOLVED * self.groups - len(self.known) - len(self.problems)
        each = max(left // ROUNDS, min(left, 2))
        while left > 0:
            doubt = self.doubt()
            open_ = np.flatnonzero(~self.done())
            checked = self.checked.tried >= FEWEST_CHECKED * self.groups
            if open_.size == 0 or (checked and float(doubt[open_].mean()) < SURE):
                break
            picked = self._next(open_, doubt, min(each, left))
            for at in picked:
                self._solve(at)
            left -= len(picked)
            self._fit()

    def done(self) -> NDArray[np.bool_]:
        """Whether an interval was solved, or could not be."""
        found = np.zeros(self.group.size, dtype=bool)
        found[[*self.known, *self.problems]] = True
        return found

    def counts(self) -> Array:
        """Count of each interval: solved, else interpolated; nan where it could not be solved."""
        found = self.rounded(self.smooth + np.maximum(WIDTH * self.error - LARGEST_MISS, 0.0))
        for at, each in self.known.items():
            found[at] = each.count
        found[list(self.problems)] = np.nan
        return found

    def bounds(self) -> tuple[Array, Array]:
        """Smallest and largest count that the error of the interpolation allows, both the count itself where solved."""
        low, high = (self.rounded(self.smooth + sign * WIDTH * self.error) for sign in (-1.0, 1.0))
        exact = self.counts()
        done = self.done()
        return np.where(done, exact, low), np.where(done, exact, high)

    @staticmethod
    def rounded(smooth: Array) -> Array:
        """Counts."""
        return np.asarray(np.maximum(np.ceil(smooth), 0.0))

    def doubt(self) -> Array:
        """Chance of another count than the interpolated one."""
        count = self.rounded(self.smooth)
        error = np.maximum(self.error, 1e-9)
        below = np.where(count > 0, ndtr((count - 1 - self.smooth) / error), 0.0)
        return np.asarray(1.0 - ndtr((count - self.smooth) / error) + below)

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
            self._solve(int(members[np.argmin(near)]))

    def _solve(self, at: int) -> None:
        if at in self.known or at in self.problems:
            return
        try:
            far = bool(self.regime[at] == SORTED + FAR)
            self.known[at] = self.solve(int(self.group[at]), int(self.interval[at]), far)
        except PlannerError as problem:
            self.problems[at] = str(problem)

    def _first(self, members: NDArray[np.int64]) -> list[int]:
        """Intervals to begin with: the ends and the middle of load and queue in each regime, and some at random."""
        if members.size <= MOST_SOLVED // 2:
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

    def _next(self, open_: NDArray[np.int64], doubt: Array, size: int) -> list[int]:
        """The least sure intervals, apart from each other, and some at random, which tell the error."""
        seed = zlib.crc32(np.ascontiguousarray(open_[:64]).tobytes()) + len(self.known)
        generator = np.random.default_rng(seed)
        drawn = generator.choice(open_, min(max(size // RANDOM, 1), open_.size), replace=False)
        counts = self.counts()
        for at in drawn:
            self._solve(int(at))
            if int(at) in self.known:
                self.checked.add(float(counts[at]), self.known[int(at)].count)
        chances = doubt[open_] + 1e-6
        others = generator.choice(
            open_, min(size - drawn.size, open_.size), replace=False, p=chances / chances.sum()
        )
        return [int(at) for at in (*drawn, *others)]

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
                self._ratios = np.append(self._ratios, off)[-MOST_RATIOS:]
                worst = float(np.quantile(self._ratios, 0.9)) / NORMAL_90
                self.factor = float(np.clip(worst, LEAST_FACTOR, LARGEST_FACTOR))
        sort = np.where(self.regime == SORTED + FAR, SORTED + BURSTY, self.regime)
        for regime in np.unique(sort):
            here = np.flatnonzero(sort == regime)
            chosen = sort[solved] == regime
            if chosen.sum() < FEWEST:
                if chosen.any():
                    self.smooth[here] = float(values[chosen].max())
                continue
            surface = Surface.of(self.features[solved[chosen]], np.log1p(np.maximum(values[chosen], FLOOR)))
            mean, spread = surface.predict(self.features[here])
            mean = np.clip(mean, np.log1p(FLOOR), np.log(257.0))
            self.smooth[here] = np.expm1(mean)
            self.error[here] = np.exp(mean) * np.minimum(spread * self.factor, 3.0)
        self._fresh = ~self.done()

    _fresh: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _ratios: Array = field(default_factory=lambda: np.zeros(0))


MOST_RATIOS: Final = 200
FEATURES: Final = 7
MOST_TABLES: Final = 3  # numbers of aliases in use for which demands are read
SORTED: Final = 10  # regimes from here on are readings


def _features(series: Series, picked: NDArray[np.int64], law: Law, target: Target) -> Array:
    """Load, wait, unevenness, where it waits, aliases in use, volumes, and the count from what spills: logarithms."""
    load = np.maximum(series.load[picked], 1e-9)
    queued = np.nan_to_num(series.queued[picked])
    return np.column_stack(
        [
            np.log(load),
            np.log(np.maximum(queued, 0.0) / load + LEAST_WAIT),
            np.log(np.maximum(series.overflow[picked], 1e-9) / load**2),
            np.log(series.crowd[picked] / load + LEAST_WAIT),
            np.log1p(series.in_use[picked]),
            np.log(np.maximum(series.volumes[picked], 1)),
            np.log1p(np.maximum(_guess(series, picked, law, target), FLOOR)),
        ]
    )


def _guess(series: Series, picked: NDArray[np.int64], law: Law, target: Target) -> Array:
    """Aliases from what the volumes spill, where each was measured alone; 0 elsewhere."""
    alone = (series.in_use[picked] == 0) & np.isfinite(series.queued[picked])
    if series.group.kind == VOLUME or not alone.any() or target.no_alias is not None:
        return np.zeros(picked.size)
    return np.where(alone, spilled(series, law, target)[picked], 0.0)


def _regime(series: Series, picked: NDArray[np.int64], law: Law) -> NDArray[np.int64]:
    """No queue measured, none there, or one; with aliases in use, what the demand is read as."""
    queued = series.queued[picked]
    used = series.in_use[picked]
    found = np.where(np.isnan(queued), 0, np.where(queued <= 0, 1, 2)) + 3 * (used > 0)
    if series.group.kind == VOLUME:
        return np.asarray(found, dtype=np.int64)
    there = np.isfinite(queued) & (used > 0)
    counts, many = np.unique(used[there], return_counts=True)
    for count in counts[np.argsort(-many)][:MOST_TABLES]:
        some = there & (used == count)
        at = picked[some]
        volumes = max(round(float(np.median(series.volumes[at]))), 1)
        found[some] = SORTED + sorts(
            series.io_rate[at], Interval(*(end[at] for end in series.service)),
            Interval(*(end[at] for end in series.queue)), volumes=volumes, aliases=int(count), law=law,
        )  # fmt: skip
    return np.asarray(found, dtype=np.int64)
