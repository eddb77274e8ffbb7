"""Count, range and flags from readings and their weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import bursty, kinds
from planner.results import Array

if TYPE_CHECKING:
    from planner.demand.bursty import AliasTarget, Counts, Readings

NEARLY_STEADY: Final = 1.6  # r below which the steady counts with other waits bound the range
WAIT_FACTORS: Final = (0.65, 1.5)


def quantile(values: Array, weight: Array, share: float) -> Array:
    """Weighted quantile along the last axis; values of no weight do not count."""
    values = np.where(weight > 0, values, np.inf)
    order = np.argsort(values, axis=-1, kind="stable")
    summed = np.cumsum(np.take_along_axis(weight, order, axis=-1), axis=-1)
    first = np.argmax(summed >= share * summed[..., -1:] - 1e-12, axis=-1)
    return np.take_along_axis(np.take_along_axis(values, order, axis=-1), first[..., None], axis=-1)[..., 0]


def counted(readings: Readings, target: AliasTarget) -> Counts:
    """As `Readings.point_and_range`."""
    each = readings.counts(target)
    point, low, high = _spread(readings, each, target)
    smaller = _smaller_waits(readings, target)
    taken_over = point < smaller[0]
    high = np.maximum(high, smaller[1])
    chosen = _chosen(readings, each, point)
    saturated = readings.saturated
    most = np.nanmax(np.where(readings.used, each, np.nan), axis=1)
    unmet = np.isinf(point)
    last = float(bursty.MOST_ALIASES)
    step = readings.rows.devices - 1 + bursty.FIRST_STEP
    point = np.where(saturated, np.minimum(step, last), np.minimum(point, last))
    whole = [
        np.minimum(end, last).astype(np.int64)
        for end in (point, np.minimum(low, point), np.maximum(high, point), most)
    ]
    return bursty.Counts(
        point=whole[0], low=whole[1], high=whole[2], most=whole[3], chosen=chosen,
        saturated=saturated, taken_over=np.asarray(taken_over & ~saturated),
        open_above=np.asarray((readings.rows.devices > 1) & (readings.rows.queue_low <= 0)),
        extrapolated=_extrapolated(readings, chosen, whole[0]), unmet=np.asarray(unmet & ~saturated), each=each,
    )  # fmt: skip


def _spread(readings: Readings, each: Array, target: AliasTarget) -> tuple[Array, Array, Array]:
    """Point, low and high end of the kept readings."""
    point = quantile(each, readings.weight, bursty.POINT)
    kept = readings.kept
    low = np.min(np.where(kept, each, np.inf), axis=1)
    high = np.max(np.where(kept, each, -np.inf), axis=1)
    near = readings.ratio < NEARLY_STEADY
    if near.any():
        first, second = _steady_counts(readings, target)
        low = np.where(near, np.minimum(low, first), low)
        high = np.where(near, np.maximum(high, second), high)
    return point, low, np.maximum(high, point + 1)


def _steady_counts(readings: Readings, target: AliasTarget) -> tuple[Array, Array]:
    """Counts of the steady reading with less and with more wait, where the target is a share."""
    steady = np.isin(readings.layout.kind, kinds.STEADY)
    preferred = np.argmax(np.where(steady, readings.weight, -1.0), axis=1)
    only = np.zeros_like(readings.weight)
    only[np.arange(len(only)), preferred] = 1.0
    only = np.where(
        np.isfinite(readings.service_time) & (readings.used | (readings.layout.kind == kinds.POISSON)),
        only,
        0.0,
    )
    alone = replace(readings, weight=only)
    found = []
    for factor in WAIT_FACTORS:
        scaled = {
            name: None if getattr(target, name) is None else getattr(target, name) / factor
            for name in ("wait", "queue")
        }
        counts = alone.counts(replace(target, wait_share=target.wait_share / factor, **scaled))
        found.append(counts[np.arange(len(counts)), preferred])
    less = np.where(np.isnan(found[0]), np.inf, found[0])
    more = np.where(np.isnan(found[1]), -np.inf, found[1])
    return less, more


def _smaller_waits(readings: Readings, target: AliasTarget) -> tuple[Array, Array]:
    """Largest point and high end over shorter queues, (volumes,); -inf where they are not asked."""
    nothing = np.full(readings.volumes, -np.inf)
    return nothing, nothing.copy()


def _chosen(readings: Readings, each: Array, point: Array) -> Array:
    """The likeliest reading among those with the count of the point; the preferred steady one where it has it."""
    same = (each == point[:, None]) & readings.used
    steady = np.isin(readings.layout.kind, kinds.STEADY) & readings.steady[:, None]
    return np.argmax(np.where(same, readings.weight + np.where(steady, 1.0, 0.0), -1.0), axis=1)


def _extrapolated(readings: Readings, chosen: Array, point: Array) -> Array:
    """Whether the chosen reading has more I/Os in service than the inflation was measured with."""
    if readings.law.inflation == 0:
        return np.zeros(readings.volumes, dtype=bool)
    counts = np.unique(point)
    service = readings.predict(counts).service
    rows = np.arange(readings.volumes)
    growth = service[rows, chosen, np.searchsorted(counts, point)] / readings.service_time[rows, chosen]
    limit = 1 + readings.law.inflation * (bursty.MEASURED_CONCURRENCY - 1)
    return np.asarray(growth > limit * (1 + 1e-9))
