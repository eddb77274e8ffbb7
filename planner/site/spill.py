"""What volumes without aliases ask of a pool, for all intervals at once: read once on a grid, then interpolated.

`planner.demand.pooled` reads every volume of an interval. The mean and the variance of the aliases that a volume would
use depend on its load and its wait alone, but for the redrive gap: both are tabulated over a grid of volumes that it
has read, and summed over the volumes of every interval. Of a negative binomial number O of that mean and variance
follows the queue HELD E[(O - A)+], which is near the full answer, and its error changes smoothly: it is what is
interpolated between full answers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.special import betainc

from planner.demand import Law
from planner.demand.pooled import HELD, open_queue
from planner.demand.read import read_volumes
from planner.demand.unlimited import asked
from planner.interval import Interval
from planner.results import Array

if TYPE_CHECKING:
    from planner.site.groups import Series
    from planner.sizing.target import Target

LOADS: Final = np.concatenate(
    [np.geomspace(0.005, 0.1, 9)[:-1], np.linspace(0.1, 0.97, 22), [0.984, 0.986, 1.0, 1.05, 1.15]]
)  # busy, with the redrive gap; from .985 on a volume that waits for long never idles
RATIOS: Final = np.concatenate([[0.05, 0.4, 0.8, 1.0, 1.09, 1.11, 1.3, 1.49], np.geomspace(1.51, 120, 28)])
GAPS: Final = (0.0, 0.1)  # redrive gap in service times
MOST: Final = 192  # aliases
LEAST_QUEUE: Final = 1e-9
LONGEST_WAIT: Final = 60.0  # service times; volumes that wait longer do not idle
HALF_DIGIT: Final = 0.01  # relative, of the numbers of the grid: as of measured volumes


@lru_cache(maxsize=8)
def _tables(inflation: float, gap: float) -> tuple[Array, Array, Array]:
    """Mean and variance of the aliases used, and I/Os in service over the load, (loads, ratios)."""
    load, ratio = (each.ravel() for each in np.meshgrid(LOADS / (1 + gap), RATIOS, indexing="ij"))
    law = Law(inflation=inflation, redrive_time=gap * 1e-3, model_error=0.0)
    poisson = open_queue(load, np.full(load.size, gap))
    queue = np.maximum(np.minimum(ratio * poisson, LONGEST_WAIT * load), poisson * np.minimum(ratio, 1.0))

    def exact(values: Array) -> Interval:
        return Interval(values * (1 - HALF_DIGIT), values, values * (1 + HALF_DIGIT))

    read = read_volumes(exact(load / 1e-3), exact(np.full(load.size, 1e-3)), exact(queue), law=law)
    asks = asked(read)
    mean = asks.mean(np.tensordot(np.arange(asks.usage.shape[0]), asks.usage, axes=1))
    variance = np.maximum(asks.crowd - mean**2, 0.0)
    shape = (LOADS.size, RATIOS.size)
    return mean.reshape(shape), variance.reshape(shape), (asks.mean(asks.busy) / load).reshape(shape)


def spilled(series: Series, law: Law, target: Target) -> Array:
    """Real number of aliases with which the target is just met, (intervals,), for intervals without aliases in use."""
    import polars as pl

    from planner.site.groups import INTERVAL

    rows = series.frame.filter(
        pl.col("kind").is_in(["base", "volume"]) & (pl.col("io_rate") > 0) & pl.col("service").is_not_null()
    )
    rate, service = (rows[name].to_numpy().astype(float) for name in ("io_rate", "service"))
    queued = rows.select(
        pl.coalesce("queued", ((pl.col("response") - pl.col("service")) * pl.col("io_rate")).clip(lower_bound=0.0))
    ).to_series().fill_null(0.0).to_numpy().astype(float)  # fmt: skip
    load = np.maximum(rate * service, 1e-9)
    gap = law.redrive_time / np.maximum(service, 1e-9)
    poisson = np.maximum(open_queue(load, gap), LEAST_QUEUE)
    ratio = np.clip(np.maximum(queued, 0.0) / poisson, RATIOS[0], RATIOS[-1])
    at = np.stack(
        [
            np.interp(np.log(load * (1 + gap)), np.log(LOADS), np.arange(LOADS.size)),
            np.interp(np.log(ratio), np.log(RATIOS), np.arange(RATIOS.size)),
        ]
    )
    mean, variance, busy = (_between_gaps(k, at, gap, law.inflation) for k in range(3))
    small = np.where(load < LOADS[0], load / LOADS[0], 1.0)
    place = np.searchsorted(np.sort(series.rows), rows[INTERVAL].to_numpy())
    order = np.argsort(np.argsort(series.rows))
    many = series.rows.size
    asks_mean, asks_variance, in_service, whole_rate, alone = (
        np.asarray(np.bincount(place, weights=each, minlength=many)[order], dtype=np.float64)
        for each in (mean * small, variance * small, busy * load, rate, queued)
    )
    return _crossing(asks_mean, asks_variance, in_service, whole_rate, alone, target)


def _between_gaps(which: int, at: Array, gap: Array, inflation: float) -> Array:
    """One of the tables at points of the grid, between the gaps that were read."""
    found = np.array(
        [map_coordinates(_tables(inflation, each)[which], at, order=1, mode="nearest") for each in GAPS]
    )
    place = np.interp(gap, GAPS, np.arange(len(GAPS)))
    low = np.minimum(place.astype(int), len(GAPS) - 2)
    rows = np.arange(gap.size)
    part = place - low
    return np.asarray((1 - part) * found[low, rows] + part * found[low + 1, rows])


def _crossing(mean: Array, variance: Array, busy: Array, rate: Array, alone: Array, target: Target) -> Array:
    """Where the queue of what is asked beyond the aliases meets the target."""
    counts = np.arange(MOST + 1.0)
    beyond = _beyond(np.maximum(mean, 1e-9)[:, None], variance[:, None], counts)
    queue = np.minimum(HELD * beyond, alone[:, None])
    busy, rate = np.maximum(busy, 1e-12)[:, None], np.maximum(rate, 1e-12)[:, None]
    wait, service = queue / rate, busy / rate
    limits = ((wait, target.wait), (wait + service, target.response), (queue, target.queued))
    given = [value / limit for value, limit in limits if limit]
    excess = np.max(given, axis=0) if given else wait / (0.05 * service)
    logs = np.log(np.clip(excess, 1e-12, 1e12))
    first = np.where((logs <= 0).any(axis=1), np.argmax(logs <= 0, axis=1), MOST)
    rows = np.arange(first.size)
    after, before = logs[rows, first], logs[rows, np.maximum(first - 1, 0)]
    between = first - 1 + before / np.maximum(before - after, 1e-9)
    return np.asarray(np.where(first == 0, np.maximum(after, -1.0), np.minimum(between, MOST)))


def _beyond(mean: Array, variance: Array, counts: Array) -> Array:
    """Mean excess over so many of a negative binomial number of this mean and variance."""
    spread = np.maximum(variance, 1.0001 * mean)
    p = mean / spread
    r = mean * p / (1 - p)
    # E[(D - A)+] = mean P(D' >= A) - A P(D > A), D' of one success more.
    above = betainc(counts + 1.0, r, 1 - p)
    above_next = betainc(np.maximum(counts, 1e-9), r + 1.0, 1 - p)
    return np.asarray(np.maximum(mean * above_next - counts * above, 0.0))
