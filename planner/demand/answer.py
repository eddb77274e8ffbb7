"""Count, range and flags from candidates and their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.demand import kinds
from planner.demand.candidates import MEASURED_CONCURRENCY, Candidates
from planner.demand.read import poisson_queue, with_queues
from planner.demand.target import Target
from planner.results import Array, ArrayFields, Flags, Integers
from planner.units import MOST_ALIASES

POINT: Final = 0.645  # quantile of the counts: too few costs more than too many
OF_SEVERAL: Final = 0.55  # the same where other rows have decided
NEARLY_STEADY: Final = 1.6  # r below which the steady counts with other waits bound the range
LEAST_WEIGHT: Final = 1e-6
KEPT_OF_BEST: Final = 0.03
LARGE: Final = 6  # aliases from which a range of several rows is wider
RATIOS: Final = np.array([0.5, 0.8, 1.0, 1.09, 1.49, 1.59, 2.9])  # r where the rules change
WAITS: Final = (*(3.0 * 1.25**k for k in range(11)), *(28.0 * 1.5**k for k in range(1, 8)))  # service times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts(ArrayFields):
    """How many aliases each volume needs, the aliases in use included; arrays (volumes,).

    * `point`, `low` and `high`: the count and its range, 0 to 255; a saturated row has the first step as its point.
    * `most`: largest count of any candidate however unlikely: what batches of that wait would take.
    * `chosen`: the candidate to print and predict from, column of the candidates.
    * `saturated`: the demand is unknown: the volume never idles.
    * `taken_over`: the point is smaller than at a shorter wait, since another candidate took over.
    * `open_above`: nothing waits with the aliases in use: the demand may be less bursty, or anything that they hold.
    * `extrapolated`: more I/Os in service than the inflation was measured with.
    * `unmet`: the target is out of reach for the chosen candidate with every address.
    * `each`: count under each candidate, inf where no count meets the target, nan where unused, (volumes, candidates).
    """

    point: Integers
    low: Integers
    high: Integers
    most: Integers
    chosen: Integers
    saturated: Flags
    taken_over: Flags
    open_above: Flags
    extrapolated: Flags
    unmet: Flags
    each: Array


def quantile(values: Array, weight: Array, share: float) -> Array:
    """Weighted quantile along the last axis; values of no weight do not count."""
    values = np.where(weight > 0, values, np.inf)
    order = np.argsort(values, axis=-1, kind="stable")
    summed = np.cumsum(np.take_along_axis(weight, order, axis=-1), axis=-1)
    first = np.argmax(summed >= share * summed[..., -1:] - 1e-12, axis=-1)
    return np.take_along_axis(np.take_along_axis(values, order, axis=-1), first[..., None], axis=-1)[..., 0]


def point_and_range(candidates: Candidates, target: Target | None = None, *, ranges: bool = True) -> Counts:
    """Count, range and what must be said of them.

    Parameters
    ----------
    candidates : Candidates
        Of one row of averages a volume, or of several.
    target : Target, optional
        By default wait at most 5 % of service.
    ranges : bool, optional
        Whether `low`, `high`, `most` and `taken_over` are wanted; else they are of the likeliest candidates alone.

    Returns
    -------
    Counts
        For every volume.
    """
    target = target or Target()
    each = candidates.counts(target)
    if candidates.others:
        point, low, high = _of_several(candidates, each, target)
        taken_over = np.zeros(candidates.volumes, dtype=bool)
    else:
        point, low, high = _spread(candidates, each, target, ranges=ranges)
        long = candidates.rows.queue > WAITS[0] * candidates.rows.rate * candidates.rows.service
        before = _shorter_queues(candidates, target, long | ranges)
        taken_over = point < before[0]
        # Between two of the waits asked a long queue needs no more than at these, whatever candidate is likeliest.
        high = np.where(long, before[1], np.maximum(high, before[1]))
        point = np.where(long, np.minimum(point, high), point)
    saturated = candidates.saturated & (len(candidates.others) == 0)
    most = np.nanmax(np.where(candidates.weight > LEAST_WEIGHT, each, np.nan), axis=1)
    last = float(MOST_ALIASES)
    unmet = np.isinf(point)
    step = candidates.in_use + 3
    point = np.where(saturated, np.minimum(step, last), np.minimum(point, last))
    ends = point, np.minimum(low, point), np.maximum(high, point), np.maximum(most, high)
    whole = [np.minimum(end, last).astype(np.int64) for end in ends]
    chosen = _chosen(candidates, each, point)
    return Counts(
        point=whole[0], low=whole[1], high=whole[2], most=whole[3], chosen=chosen, saturated=saturated,
        taken_over=np.asarray(taken_over & ~saturated), open_above=candidates.open_above,
        extrapolated=_extrapolated(candidates, chosen, whole[0]), unmet=np.asarray(unmet & ~saturated), each=each,
    )  # fmt: skip


def _spread(
    candidates: Candidates, each: Array, target: Target, *, ranges: bool = True
) -> tuple[Array, Array, Array]:
    """Point, low and high end of the kept candidates of one row; without `ranges` the point alone is exact."""
    point = quantile(each, candidates.weight, POINT)
    low, high = _ends(candidates.kept, each)
    near = (candidates.ratio < NEARLY_STEADY) & ranges
    if near.any():
        first, second = _steady_counts(candidates.of(near), target)
        low[near] = np.minimum(low[near], first)
        high[near] = np.maximum(high[near], second)
    return point, low, np.maximum(high, point + 1)


def _ends(kept: Flags, each: Array) -> tuple[Array, Array]:
    """Least and largest count of the kept candidates."""
    return np.where(kept, each, np.inf).min(axis=1), np.where(kept, each, -np.inf).max(axis=1)


def _of_several(candidates: Candidates, each: Array, target: Target) -> tuple[Array, Array, Array]:
    """Point and range where rows at other counts weigh the candidates; the measured rows bound them."""
    weight = candidates.weight
    point = quantile(each, weight, OF_SEVERAL)
    low, high = _ends(weight >= KEPT_OF_BEST * weight.max(axis=1, keepdims=True), each)
    step = np.where(point >= LARGE, 2.0, 1.0)
    most_missed, least_met = candidates.bounds(target)
    met = np.isfinite(least_met)
    low = np.where(met, low - step, low)
    high = high + step
    point = np.clip(point, most_missed + 1, np.maximum(least_met, most_missed + 1))
    low = np.clip(low, np.maximum(most_missed + 1, 0), point)
    return point, low, np.maximum(np.minimum(high, least_met), point)


def _steady_counts(candidates: Candidates, target: Target) -> tuple[Array, Array]:
    """Counts of the steady candidate with less and with more wait, where the target is a share."""
    steady = np.isin(candidates.layout.kind, kinds.STEADY)
    preferred = np.argmax(np.where(steady, candidates.weight, -1.0), axis=1)
    rows = np.arange(preferred.size)
    there = np.isfinite(candidates.service_time) & (
        candidates.used | (candidates.layout.kind == kinds.POISSON)
    )
    only = np.zeros_like(candidates.weight)
    only[rows, preferred] = there[rows, preferred]
    alone = replace(candidates, weight=only)
    less, more = (alone.counts(target.with_waits(factor))[rows, preferred] for factor in (0.65, 1.5))
    # Without a candidate there is no bound of it.
    return np.where(np.isnan(less), np.inf, less), np.where(np.isnan(more), -np.inf, more)


def _shorter_queues(candidates: Candidates, target: Target, of: Flags) -> tuple[Array, Array]:
    """Largest point over shorter queues, and largest high end over those and the next longer one; (volumes,).

    Both are -inf where there is none, and of volumes that are not asked for (`of`).
    """
    point, high = (np.full(candidates.volumes, -np.inf) for _ in range(2))
    rows = candidates.rows
    wait = (rows.queue / (rows.rate * rows.service))[:, None]
    poisson = poisson_queue(rows, candidates.device_model) / (rows.rate * rows.service)
    poisson = np.where(candidates.ratio > 0.0, poisson, np.inf)[:, None]
    fixed = np.tile(WAITS, (candidates.volumes, 1))
    below = np.concatenate([poisson * RATIOS < wait, fixed < wait], axis=1)
    next_one = (
        (fixed >= wait) & (np.append(np.zeros_like(wait), fixed[:, :-1], axis=1) < wait) & (wait > WAITS[0])
    )
    asked = below | np.append(np.zeros(poisson.shape + RATIOS.shape, dtype=bool)[:, 0], next_one, axis=1)
    volume, which = np.nonzero(asked & of[:, None])
    if volume.size == 0:
        return point, high
    waits = np.append(np.where(np.isfinite(poisson), poisson, 0.0) * RATIOS, fixed, axis=1)
    shorter = with_queues(candidates, volume, waits[volume, which])
    shorter = replace(shorter, weight=np.where(shorter.kept, shorter.weight, 0.0))
    points, _, highs = _spread(shorter, shorter.counts(target), target)
    smaller = below[volume, which]
    np.maximum.at(point, volume[smaller], points[smaller])
    np.maximum.at(high, volume, highs)
    return point, high


def _chosen(candidates: Candidates, each: Array, point: Array) -> Integers:
    """The likeliest candidate of those with the count of the point: a preferred steady one first, then an open one."""
    same = (each == point[:, None]) & candidates.used
    same = np.where(same.any(axis=1, keepdims=True), same, candidates.used)
    steady = np.isin(candidates.layout.kind, kinds.STEADY) & candidates.steady[:, None]
    first = np.where(steady, 2.0, 0.0)
    if not candidates.others:
        requesters = np.isin(candidates.layout.kind, (kinds.CLOSED, kinds.ACTIVE))
        first = first + np.where(requesters, 0.0, 1.0) * ~candidates.steady[:, None]
    return np.asarray(np.argmax(np.where(same, candidates.weight + first, -np.inf), axis=1))


def _extrapolated(candidates: Candidates, chosen: Integers, point: Integers) -> Flags:
    """Whether the chosen candidate has more I/Os in service than the inflation was measured with."""
    if candidates.device_model.inflation == 0:
        return np.zeros(candidates.volumes, dtype=bool)
    counts = np.unique(point)
    service = candidates.predict(counts).service
    rows = np.arange(candidates.volumes)
    growth = service[rows, chosen, np.searchsorted(counts, point)] / candidates.service_time[rows, chosen]
    limit = 1 + candidates.device_model.inflation * (MEASURED_CONCURRENCY - 1)
    return np.asarray(growth > limit * (1 + 1e-9))
