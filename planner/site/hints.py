"""What is known of every interval before any is solved: how it compares with others, and what a full answer costs."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.demand import Law
from planner.demand.steady import POPULATIONS
from planner.interval import Interval
from planner.results import Array
from planner.site.groups import VOLUME, Series
from planner.site.spill import spilled, spilled_in_use
from planner.site.steady_table import BURSTY, KINDS, OPEN, sorts
from planner.sizing.target import DEFAULT_WAIT_SHARE, Target

FEATURES: Final = 7
LEAST_WAIT: Final = 1e-3  # service times
FLOOR: Final = -0.5
MOST_TABLES: Final = 3  # numbers of aliases in use for which demands are read
SORTED: Final = 10  # regimes from here on are readings
IDLE: Final = 1000  # added where nothing waits with aliases in use
BURSTY_ALONE, STEADY_ALONE, HOT_ALONE = 2, 3, 4  # without aliases in use
READINGS: Final = (*POPULATIONS, math.inf)  # as KINDS
# Costs of a full answer, in units of a pool of bursty volumes without aliases in use (40 ms for 64 volumes).
COST_STEADY, COST_READING, COST_BURSTY = 2.0, 3.0, 15.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hints:
    """Intervals of one group that have I/O, arrays over them: see `planner.site.screen.Screen`.

    `possible` says which of `READINGS` may fit, (intervals, readings).
    """

    features: Array
    regime: NDArray[np.int64]
    least: Array
    most: Array
    cost: Array
    possible: NDArray[np.bool_]

    def readings(self, at: int) -> Collection[float]:
        """Readings that may fit an interval."""
        return [READINGS[k] for k in np.flatnonzero(self.possible[at])]

    @classmethod
    def of(cls, series: Series, picked: NDArray[np.int64], law: Law, target: Target) -> Hints:
        """Of some intervals of a group."""
        queued, used = series.queued[picked], series.in_use[picked]
        regime = np.where(np.isnan(queued), 0, np.where(queued <= 0, 1, BURSTY_ALONE)) + 5 * (used > 0)
        possible = np.ones((picked.size, len(KINDS)), dtype=bool)
        guess = np.zeros(picked.size)
        if series.group.kind != VOLUME and target.no_alias is None:
            _read_in_use(series, picked, law, regime, possible)
            _guess(series, picked, law, target, guess, regime)
        least, most = _bounds(series, picked, target, bursty=regime == SORTED + BURSTY)
        # Open arrivals are tried first, then requesters up to the number that fits.
        tried = np.array([1.0 + possible[k, : KINDS.index(each)].sum() if each in KINDS else possible[k].sum()
                          for k, each in enumerate((regime % IDLE - SORTED).tolist())])  # fmt: skip
        tried = np.where(regime % IDLE == SORTED + OPEN, 1.0, tried)
        in_use = COST_STEADY + COST_READING * tried + np.where(regime == SORTED + BURSTY, COST_BURSTY, 0.0)
        cost = np.where(regime >= SORTED, in_use, np.where(regime == BURSTY_ALONE, 1.0, COST_STEADY))
        return cls(
            features=_features(series, picked, guess), regime=regime, least=least, most=most, cost=cost,
            possible=possible,
        )  # fmt: skip


def _features(series: Series, picked: NDArray[np.int64], guess: Array) -> Array:
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
            np.log1p(np.maximum(guess, FLOOR)),
        ]
    )


def _guess(
    series: Series,
    picked: NDArray[np.int64],
    law: Law,
    target: Target,
    guess: Array,
    regime: NDArray[np.int64],
) -> None:
    """Guess counts of intervals of bursty volumes, and tell apart those of steady ones without aliases in use."""
    alone = (regime > 0) & (series.in_use[picked] == 0)
    if alone.any():
        spill = spilled(series, law, target, _where(series, picked[alone]))
        guess[alone] = spill.count[picked[alone]]
        steady = np.where(spill.hot, HOT_ALONE, STEADY_ALONE)
        regime[alone] = np.where(spill.steady, steady, BURSTY_ALONE)[picked[alone]]
    beside = regime == SORTED + BURSTY
    if beside.any():
        guess[beside] = spilled_in_use(series, law, target, _where(series, picked[beside]))[picked[beside]]


def _where(series: Series, picked: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of some intervals, (intervals,)."""
    mask = np.zeros(series.start.size, dtype=bool)
    mask[picked] = True
    return mask


def _read_in_use(
    series: Series,
    picked: NDArray[np.int64],
    law: Law,
    regime: NDArray[np.int64],
    possible: NDArray[np.bool_],
) -> None:
    """Tell what the demand is read as with aliases in use, and which readings may fit."""
    queued, used = series.queued[picked], series.in_use[picked]
    there = np.isfinite(queued) & (used > 0)
    counts, many = np.unique(used[there], return_counts=True)
    for count in counts[np.argsort(-many)][:MOST_TABLES]:
        some = there & (used == count)
        at = picked[some]
        volumes = max(round(float(np.median(series.volumes[at]))), 1)
        read, possible[some] = sorts(
            series.io_rate[at], Interval(*(end[at] for end in series.service)),
            Interval(*(end[at] for end in series.queue)), volumes=volumes, aliases=int(count), law=law,
        )  # fmt: skip
        regime[some] = SORTED + read + np.where(queued[some] <= 0, IDLE, 0)


def _bounds(
    series: Series, picked: NDArray[np.int64], target: Target, *, bursty: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Counts that a measurement which meets or misses the target with the aliases in use leaves open."""
    load, rate = np.maximum(series.load[picked], 1e-12), np.maximum(series.io_rate[picked], 1e-12)
    used = series.in_use[picked].astype(np.float64)
    there = np.isfinite(series.queued[picked]) & (target.no_alias is None)
    most = np.where(there & met(target, load, rate, series.queue.value[picked]), used, np.inf)
    missed = there & (used > 0) & bursty & ~met(target, load, rate, np.maximum(series.queue.low[picked], 0.0))
    return np.where(missed, used + 1.0, 0.0), most


def met(target: Target, load: Array, rate: Array, queue: Array) -> NDArray[np.bool_]:
    """Whether I/Os in service, rate [1/s] and I/Os queued meet a target, (intervals,)."""
    limits = ((queue / rate, target.wait), ((load + queue) / rate, target.response), (queue, target.queued))
    given = [np.asarray(value <= limit) for value, limit in limits if limit is not None]
    return np.asarray(np.all(given, axis=0)) if given else np.asarray(queue <= DEFAULT_WAIT_SHARE * load)
