"""The load behind supply counters where the volumes are known: the reading of their demand that fits both."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.demand import Law, candidates_of_pool
from planner.devices import Pool
from planner.measurements import Run
from planner.results import Array
from planner.supply.observed import Observed
from planner.units import ADDRESSES

TRIES_TRUST: Final = (
    0.03  # relative errors of what a pool of equal volumes says of the tries and of the fails
)
FAILS_TRUST: Final = 0.1
FAILS_FLOOR: Final = 1e-4
CHI_SQUARE_95: Final = 3.84
WORST: Final = 25.0  # squared distance beyond which the volumes do not explain the counters
SWEEP: Final = 8
NEGLIGIBLE: Final = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedVolumes:
    """Pools that explain both what the volumes did and what the counters show: `pools`, the likeliest first.

    `words` says the demand of the first of them.
    """

    pools: tuple[Pool, ...]
    words: str

    def fail_fractions(self, most: int) -> Array:
        """Share of tries that would fail with 0, 1, ... aliases."""
        return np.array([_sweep(pool, most) for pool in self.pools])


def fit_volumes(run: Run, law: Law, observed: Observed) -> FittedVolumes | None:
    """Choose among the demands that the volumes allow those that give the tries and fails that were counted."""
    if not observed.tries or not math.isfinite(observed.length) or not run.aliases:
        return None
    rate = (
        float(observed.level_tries @ observed.level_intervals / observed.level_intervals.sum())
        / observed.length
    )
    found = [(_distance(reading.pool, observed, rate), reading) for reading in candidates_of_pool(run, law)]
    found.sort(key=lambda item: item[0])
    least, best = found[0]
    if not least <= WORST:
        return None
    near = tuple(reading.pool for distance, reading in found if distance <= least + CHI_SQUARE_95)
    return FittedVolumes(pools=near, words=best.words())


def _distance(pool: Pool, observed: Observed, rate: float) -> float:
    """Squared distance of tries and fails, in the logarithm, over how far the pool is trusted."""
    rows = pool.solve([observed.aliases])
    tries, share = float(rows.tries[0]), float(rows.no_alias[0])
    if tries <= 0.0:
        return math.inf
    off = math.log((share + FAILS_FLOOR) / (observed.fail_fraction + FAILS_FLOOR))
    return (math.log(tries / rate) / TRIES_TRUST) ** 2 + (off / FAILS_TRUST) ** 2


def _sweep(pool: Pool, most: int) -> Array:
    """Solve more and more aliases until fails are negligible; 1 where the pool is not stable."""
    shares = np.zeros(most + 1)
    room = min(most, ADDRESSES - pool.bases)
    for first in range(0, room + 1, SWEEP):
        counts = np.arange(first, min(first + SWEEP, room + 1), dtype=np.float64)
        rows = pool.solve(counts)
        shares[first : first + counts.size] = np.where(np.isfinite(rows.queued), rows.no_alias, 1.0)
        if shares[first + counts.size - 1] < NEGLIGIBLE:
            return shares
    shares[room + 1 :] = shares[room]
    return shares
