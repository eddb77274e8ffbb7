"""What volumes without aliases ask of a pool, for all intervals at once: read once on a grid, then interpolated.

`planner.demand.pooled` reads every volume of an interval, and draws one reading of each many times. The mean and the
variance of the aliases that a volume would use depend on its load and its wait alone, but for the redrive gap: both are
tabulated over a grid of volumes that it has read, for each stratum of the weight of its readings. Draws sum them up
over the volumes of an interval; of a negative binomial number O of that mean and variance follows the queue
HELD E[(O - A)+] of a draw, and of all draws the quantile that the full answer takes. It is near the full answer, and
its error changes smoothly: it is what is interpolated between full answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from planner.demand import Law
from planner.demand.answer import POINT, quantile
from planner.demand.pooled import (
    HELD,
    LARGEST_TIE,
    LAW_ERROR,
    MULTIPLES,
    SPREAD,
    UNIFORM,
    USUAL,
    along,
    open_queue,
)
from planner.demand.pooled import LONGEST_WAIT as LONGEST_READ
from planner.demand.pooled import SATURATED_WAIT as ASKED_WAIT
from planner.demand.priors import FAR_FROM_SATURATED, MIXED_UP_TO, STEADY_UP_TO
from planner.demand.read import read_volumes
from planner.demand.readings import SATURATED_LOAD, SATURATED_WAIT
from planner.demand.unlimited import asked
from planner.interval import Interval
from planner.results import Array
from planner.sizing.target import DEFAULT_WAIT_SHARE, Target

if TYPE_CHECKING:
    from planner.site.groups import Series

LOADS: Final = np.concatenate(
    [np.geomspace(0.005, 0.1, 9)[:-1], np.linspace(0.1, 0.97, 22), [0.984, 0.986, 1.0, 1.05, 1.15]]
)  # busy, with the redrive gap; from .985 on a volume that waits for long never idles
RATIOS: Final = np.concatenate([[0.05, 0.4, 0.8, 1.0, 1.09, 1.11, 1.3, 1.49], np.geomspace(1.51, 120, 28)])
GAPS: Final = (0.0, 0.1)  # redrive gap in service times
MOST: Final = 192  # aliases
LEAST_QUEUE: Final = 1e-9
STRATA: Final = 32  # of the weight of the readings of a volume
SLACK: Final = 1e-9
SERVICE: Final = 1e-3  # s, of the volumes of the grid
DRAWS: Final = 64
FEW_DRAWS: Final = 64  # for each of several multiples
INTERVALS_AT_ONCE: Final = 64
SORT_FROM: Final = (0.05, 1.11, 1.51)  # ratios of volumes that are steady, mixed and bursty
SORT_TO: Final = (1.09, 1.49, 120.0)
LONGEST_WAIT: Final = 60.0  # service times; volumes that wait longer do not idle
HALF_DIGIT: Final = 0.01  # relative, of the numbers of the grid: as of measured volumes


@lru_cache(maxsize=8)
def _tables(inflation: float, gap: float) -> tuple[Array, Array]:
    """What volumes of the grid ask for, over their squared load, (loads, ratios, 2 STRATA): means, then variances.

    Beside it, over load, rate and 1, I/Os in service, rate and growth of the service time with enough aliases, (loads,
    ratios, 3).
    """
    load, ratio = (each.ravel() for each in np.meshgrid(LOADS / (1 + gap), RATIOS, indexing="ij"))
    law = Law(inflation=inflation, redrive_time=gap * SERVICE, model_error=0.0)
    poisson = open_queue(load, np.full(load.size, gap))
    queue = np.maximum(np.minimum(ratio * poisson, LONGEST_WAIT * load), poisson * np.minimum(ratio, 1.0))
    queue = np.where(
        (load * (1 + gap) > SATURATED_LOAD) & (queue > SATURATED_WAIT * load), ASKED_WAIT * load, queue
    )

    def exact(values: Array) -> Interval:
        return Interval(values * (1 - HALF_DIGIT), values, values * (1 + HALF_DIGIT))

    read = read_volumes(exact(load / SERVICE), exact(np.full(load.size, SERVICE)), exact(queue), law=law)
    asks = asked(read)
    number = np.arange(asks.usage.shape[0], dtype=np.float64)
    mean, square = (np.tensordot(number**power, asks.usage, axes=1) for power in (1, 2))
    places = (np.arange(STRATA) + 0.5) / STRATA
    which = np.array([np.searchsorted(np.cumsum(each), places) for each in asks.weight])
    which = np.minimum(which, asks.weight.shape[1] - 1)
    found = [np.take_along_axis(each, which, axis=1) for each in (mean, square - mean**2)]
    scaled = np.concatenate(found, axis=1) / load[:, None] ** 2
    shape = (LOADS.size, RATIOS.size)
    busy, rate = asks.mean(asks.busy) / load, asks.mean(asks.rate) / (load / SERVICE)
    growth = busy / np.maximum(rate, 1e-12)
    paces = np.stack([busy, rate, np.maximum(growth, 1.0)], axis=1)
    return scaled.reshape(*shape, 2 * STRATA), paces.reshape(*shape, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Spill:
    """What the volumes of each interval would spill: arrays (intervals,).

    `count` is the real number of aliases with which the target is just met; `steady` says whether every volume is
    steady, so that the pool has an exact solution, which differs; `hot`, whether one is so busy that its requesters
    count, a whole number that changes from interval to interval.
    """

    count: Array
    steady: NDArray[np.bool_]
    hot: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Volumes:
    """Rows of volumes in the order of their intervals: arrays (rows,), and `first` row of each of the `intervals`."""

    intervals: NDArray[np.int64]
    first: NDArray[np.int64]
    rate: Array
    load: Array
    gap: Array
    poisson: Array
    queued: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, series: Series, law: Law, which: NDArray[np.bool_]) -> _Volumes:
        """Of some intervals."""
        import polars as pl

        from planner.site.groups import INTERVAL

        rows = series.frame.filter(
            pl.col("kind").is_in(["base", "volume"]) & (pl.col("io_rate") > 0) & pl.col("service").is_not_null()
            & pl.col(INTERVAL).is_in(series.rows[which].tolist())
        ).sort(INTERVAL, maintain_order=True)  # fmt: skip
        rate, service = (rows[name].to_numpy().astype(float) for name in ("io_rate", "service"))
        waiting = pl.coalesce(
            "queued", ((pl.col("response") - pl.col("service")) * pl.col("io_rate")).clip(lower_bound=0.0)
        )
        queued, low, high = (
            rows.select(each).to_series().fill_null(0.0).to_numpy().astype(float)
            for each in (waiting, pl.coalesce("queued_low", waiting), pl.coalesce("queued_high", waiting))
        )
        load = np.maximum(rate * service, 1e-9)
        gap = law.redrive_time / np.maximum(service, 1e-9)
        found, first = np.unique(rows[INTERVAL].to_numpy(), return_index=True)
        return cls(
            intervals=found.astype(np.int64), first=first.astype(np.int64), rate=rate, load=load, gap=gap, low=low,
            queued=queued, high=high, poisson=np.maximum(open_queue(load, gap), LEAST_QUEUE),
        )  # fmt: skip

    def at(self, rate: Array, service: Array) -> _Volumes:
        """At so many times the rate and the service time."""
        load, gap = self.load * rate * service, self.gap / service
        return replace(self, load=load, gap=gap, poisson=np.maximum(open_queue(load, gap), LEAST_QUEUE))

    def sums(self, values: Array) -> Array:
        """Over the volumes of each interval."""
        return np.asarray(np.add.reduceat(values, self.first), dtype=np.float64)

    def drawn(self, ratio: Array, inflation: float, draws: int = DRAWS) -> Array:
        """Mean and variance of what all volumes ask for, (2, intervals, draws)."""
        ends = np.append(self.first, self.load.size)
        place = np.arange(self.load.size) - np.repeat(self.first, np.diff(ends))
        strata = np.random.default_rng(draws).permuted(
            np.tile(np.arange(draws) * STRATA // draws, (place.max(initial=0) + 1, 1)), axis=1
        )
        asks = np.zeros((2, self.first.size, draws))
        for begin in range(0, self.first.size, INTERVALS_AT_ONCE):
            stop = min(begin + INTERVALS_AT_ONCE, self.first.size)
            part, starts = slice(ends[begin], ends[stop]), ends[begin:stop] - ends[begin]
            each = _looked_up(self.load[part], self.gap[part], ratio[part], inflation, asks=True)
            for k in range(2):
                picked = np.take_along_axis(
                    each[:, k * STRATA : (k + 1) * STRATA], strata[place[part]], axis=1
                )
                asks[k, begin:stop] = np.add.reduceat(picked, starts, axis=0)
        return asks


def spilled(series: Series, law: Law, target: Target, which: NDArray[np.bool_]) -> Spill:
    """What is asked of a pool in some of its intervals, without aliases in use."""
    volumes = _Volumes.of(series, law, which)
    # What a volume is read as follows from the queue less half a digit, how much it asks for from the queue itself.
    ratio, least = (np.maximum(each, 0.0) / volumes.poisson for each in (volumes.queued, volumes.low))
    ratio, sort = _sorted(ratio, least)
    asks = volumes.drawn(ratio, law.inflation)
    busy = volumes.sums(
        _looked_up(volumes.load, volumes.gap, ratio, law.inflation, asks=False)[:, 0] * volumes.load
    )
    rates, alone = volumes.sums(volumes.rate), volumes.sums(volumes.queued)
    equal = np.ones(asks.shape[1:])
    count = _crossing(asks[0], asks[1], equal, busy, rates, alone, target)
    at = np.searchsorted(volumes.intervals, series.rows[which])
    found = Spill(np.zeros(which.size), np.ones(which.size, dtype=bool), np.zeros(which.size, dtype=bool))
    found.count[which] = count[at]
    found.steady[which] = ~np.logical_or.reduceat(sort > 0, volumes.first)[at]
    found.hot[which] = np.logical_or.reduceat(volumes.load >= FAR_FROM_SATURATED, volumes.first)[at]
    return found


def spilled_in_use(series: Series, law: Law, target: Target, which: NDArray[np.bool_]) -> Array:
    """The real number of aliases of some intervals with aliases in use, 0 elsewhere, as `pooled.read_pool` finds it.

    All volumes have one multiple of the wait of Poisson arrivals; multiples and draws count as far as the queue is the
    measured one.
    """
    volumes = _Volumes.of(series, law, which)
    at = np.searchsorted(volumes.intervals, series.rows[which])
    in_use = np.zeros(volumes.first.size)
    in_use[at] = series.in_use[which]
    measured = volumes.sums(volumes.queued)
    digits = np.sqrt(volumes.sums((np.maximum(volumes.high - volumes.queued, 0.0) * UNIFORM) ** 2))
    error = np.hypot(LAW_ERROR, digits / np.maximum(measured + digits, LEAST_QUEUE))
    means, variances, logs, ties = [], [], [], []
    for multiple in MULTIPLES:
        alone = _without(volumes, float(multiple), measured, law)
        asks = alone.drawn(_of_multiple(alone, float(multiple)), law.inflation, FEW_DRAWS)
        queue = HELD * _beyond(np.maximum(asks[0], 1e-9), asks[1], in_use[:, None])
        off = np.log((queue + digits[:, None]) / np.maximum(measured + digits, LEAST_QUEUE)[:, None])
        logs.append(-0.5 * ((off / error[:, None]) ** 2 + ((multiple - USUAL) / SPREAD) ** 2))
        ties.append(np.exp(np.clip(-off, -math.log(LARGEST_TIE), math.log(LARGEST_TIE))))
        means.append(asks[0])
        variances.append(asks[1])
    busy = volumes.sums(volumes.load)
    likely = np.concatenate(logs, axis=1)
    likely = np.exp(likely - likely.max(axis=1, keepdims=True))
    count = _crossing(
        np.concatenate(means, axis=1), np.concatenate(variances, axis=1), likely, busy, volumes.sums(volumes.rate),
        np.full(busy.size, np.inf), target, np.concatenate(ties, axis=1),
    )  # fmt: skip
    found = np.zeros(which.size)
    found[which] = count[at]
    return found


def _without(volumes: _Volumes, multiple: float, measured: Array, law: Law) -> _Volumes:
    """The volumes as they would be without aliases, as `pooled.read_pool` finds them; `measured` queue of each pool."""
    size = np.diff(np.append(volumes.first, volumes.load.size))

    def reached(guess: _Volumes) -> tuple[Array, Array, Array]:
        ratio = _of_multiple(guess, multiple)
        paces = _looked_up(guess.load, guess.gap, ratio, law.inflation, asks=False)
        longest = np.maximum(LONGEST_READ * guess.load, guess.poisson)
        waiting = volumes.sums(np.minimum(np.exp(multiple) * guess.poisson, longest))
        left = np.repeat(np.minimum(measured / np.maximum(waiting, LEAST_QUEUE), 1.0), size)
        return left, left + (1 - left) * np.maximum(paces[:, 1], 1e-6), paces[:, 2]

    left, before, growth = reached(volumes)
    rate = 1.0 / before
    left, after, growth = reached(volumes.at(rate, growth ** (left - 1)))
    step = along(np.log(before), np.log(before / (after * rate)))
    return volumes.at(rate**step, growth ** (left - 1))


def _of_multiple(volumes: _Volumes, multiple: float) -> Array:
    """Ratio of every volume to the wait of Poisson arrivals, no wait being longer than can be read."""
    ratio = np.minimum(np.exp(multiple), np.maximum(LONGEST_READ * volumes.load / volumes.poisson, 1.0))
    return _sorted(ratio, ratio)[0]


def _sorted(ratio: Array, least: Array) -> tuple[Array, NDArray[np.int64]]:
    """Ratios on the side of the grid where `least`, without half a digit, has them; 0 steady, 1 mixed, 2 bursty."""
    sort = np.searchsorted([STEADY_UP_TO, MIXED_UP_TO], least - SLACK)
    return np.clip(ratio, np.array(SORT_FROM)[sort], np.array(SORT_TO)[sort]), sort.astype(np.int64)


def _looked_up(load: Array, gap: Array, ratio: Array, inflation: float, *, asks: bool) -> Array:
    """The tables at some volumes, (volumes, columns): what they ask for or how fast they go.

    Linear between points of the grid and gaps.
    """
    x = np.interp(np.log(load * (1 + gap)), np.log(LOADS), np.arange(LOADS.size))
    y = np.interp(np.log(ratio), np.log(RATIOS), np.arange(RATIOS.size))
    z = np.interp(gap, GAPS, np.arange(len(GAPS)))
    corner = [
        np.minimum(each.astype(int), size - 2)
        for each, size in ((x, LOADS.size), (y, RATIOS.size), (z, len(GAPS)))
    ]
    share = [each - low for each, low in zip((x, y, z), corner, strict=True)]
    found = np.zeros((load.size, 2 * STRATA if asks else 3))
    for step in np.ndindex(2, 2, 2):
        weight = np.prod([each if up else 1 - each for each, up in zip(share, step, strict=True)], axis=0)
        i, j, k = (low + up for low, up in zip(corner, step, strict=True))
        for gap_at in range(len(GAPS)):
            some = np.flatnonzero((k == gap_at) & (weight > 0))
            if some.size:
                table = _tables(inflation, GAPS[gap_at])[0 if asks else 1]
                found[some] += weight[some, None] * table[i[some], j[some]]
    return found * load[:, None] ** 2 if asks else found


def _crossing(
    mean: Array, variance: Array, weight: Array, busy: Array, rate: Array, alone: Array, target: Target,
    ties: Array | float = 1.0,
) -> Array:  # fmt: skip
    """Where the queue of what is asked beyond the aliases meets the target.

    `mean`, `variance`, `weight` and `ties`, by which the queue is multiplied, are (intervals, draws).
    """
    busy, rate = np.maximum(busy, 1e-12), np.maximum(rate, 1e-12)

    def excess(counts: NDArray[np.int64]) -> Array:
        beyond = _beyond(np.maximum(mean, 1e-9), variance, counts[:, None].astype(np.float64))
        queue = np.minimum(HELD * quantile(beyond * ties, weight, POINT), alone)
        wait, service = queue / rate, busy / rate
        limits = ((wait, target.wait), (wait + service, target.response), (queue, target.queued))
        given = [value / limit for value, limit in limits if limit]
        most = np.max(given, axis=0) if given else wait / (DEFAULT_WAIT_SHARE * service)
        return np.asarray(np.log(np.clip(most, 1e-12, 1e12)))

    low, high = np.full(busy.size, -1), np.full(busy.size, MOST)
    while (high - low > 1).any():
        middle = (low + high) // 2
        met = excess(np.maximum(middle, 0)) <= 0
        low, high = np.where(met, low, middle), np.where(met, middle, high)
    after, before = excess(high), excess(np.maximum(high - 1, 0))
    between = high - 1 + before / np.maximum(before - after, 1e-9)
    return np.asarray(np.where(high == 0, np.maximum(after, -1.0), np.minimum(between, MOST)))


def _beyond(mean: Array, variance: Array, counts: Array) -> Array:
    """Mean excess over so many of a negative binomial number of this mean and variance."""
    spread = np.maximum(variance, 1.0001 * mean)
    p = mean / spread
    r = mean * p / (1 - p)
    # E[(D - A)+] = mean P(D' >= A) - A P(D > A), D' of one success more.
    above = betainc(counts + 1.0, r, 1 - p)
    above_next = betainc(np.maximum(counts, 1e-9), r + 1.0, 1 - p)
    return np.asarray(np.maximum(mean * above_next - counts * above, 0.0))
