"""How likely each candidate is before and after a row: a judgement on ordinary loads, since one row cannot decide.

`w` is the wait without aliases in service times, `r` the measured wait over that of Poisson arrivals (exponential).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.demand import kinds
from planner.demand.kinds import Demands, Layout
from planner.results import Array, Flags

FAR_FROM_SATURATED: Final = 0.7  # utilization below which an open candidate that fits is preferred
POISSON_RATIOS: Final = (0.6, 1.15)
STEADY_UP_TO: Final = 1.1  # r
ACTIVE_WEIGHTS: Final = (0.35, 0.25, 0.15, 0.1, 0.1, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Weights of the kinds, their decay with the size of batches and groups and the wait of requesters, their bounds.

    `python -m tests.demand.accuracy` compares the counts that they lead to with simulated volumes and pools.
    """

    batch: float = 2.0
    fixed: float = 4.0
    active: float = 12.0
    of_batches: float = 1.0
    of_mixed: float = 0.8
    of_fixed: float = 0.25
    of_periodic: float = 0.9
    of_variable: float = 4.5
    of_active: float = 0.6
    of_phases: float = 0.04
    of_strong: float = 0.5  # of the phases nearly as strong as batches
    of_long: float = 0.012
    slow: float = 200.0  # service times; shorter phases are less likely
    steady: float = 2.0  # of all others, where steady
    steady_beside: float = 0.3  # the same where mixed
    mixed_up_to: float = 1.5  # r
    variable_beside: float = 0.05  # of all others at least, hits and misses of a cache make it so
    variable_up_to: float = 12.0  # r
    slow_beside: float = 0.05  # of all others, phases that last far longer than any queue
    beside_open: float = 0.2  # of closed candidates beside a preferred open one
    nearly_open: float = 0.2  # of Poisson arrivals with another scv of service, where N requesters have 1/N
    of_beside: float = 0.4  # of requesters or groups beside open arrivals, to those alone
    dense: float = 0.45  # load above which groups would hardly leave the volume idle
    least_grouped: float = 0.25  # r below which no group can be
    many_waiting: float = 10.0  # wait from which on more requesters of one volume are less and less likely
    fewer: float = 4.0
    flush: float = 20.0  # wait from which on flushes are as likely as phases of overload
    seldom: float = 0.25  # load below which they are
    strong: float = 3.0  # load while on above which a phase is nearly a batch


ONE_ROW: Final = Scales()
TWO_ROWS: Final = Scales(batch=4.0, fixed=8.0, active=11.0, slow_beside=0.02)


def weights(
    demands: Demands, layout: Layout, wait: Array, ratio: Array, residual: Array, variable: Flags,
    scales: Scales = ONE_ROW,
) -> Array:  # fmt: skip
    """Weights of the candidates, (volumes, candidates), summing to one a volume; 0 where a candidate cannot be."""
    found = np.zeros(wait.shape)
    wait = np.where(np.isfinite(wait), wait, 1e3)
    bursts = np.exp(-(demands.batch - 1) / scales.batch)
    longer = np.exp(-(demands.batch - 1) / scales.fixed)
    r = ratio[:, None]
    grouped = np.where(demands.load > scales.dense, 0.2, 1.0)
    crowded = np.exp(-wait / scales.active - np.maximum(wait - scales.many_waiting, 0) / scales.fewer)
    flushes = np.minimum(wait / scales.flush, 1.0) ** 2
    ordinary = {
        kinds.BATCHES: scales.of_batches * bursts,
        kinds.MIXED: scales.of_mixed * bursts,
        kinds.FIXED: scales.of_fixed * longer,
        kinds.PERIODIC: scales.of_periodic
        * longer
        * np.minimum(1.0, r)
        * grouped
        * (r > scales.least_grouped),
        kinds.VARIABLE: scales.of_variable * np.exp(-np.maximum(0.0, r - 1.5) / 0.3),
        kinds.ACTIVE: scales.of_active * _requesters(layout) * crowded,
        kinds.LONG: scales.of_long * flushes * (demands.load < scales.seldom),
        kinds.ON_OFF: _phases(demands, layout, wait, scales),
    }
    for kind, each in ordinary.items():
        where = layout.columns(kind)
        found[:, where] = np.broadcast_to(each, found.shape)[:, where]
    found = np.where(np.isfinite(residual), np.nan_to_num(found, nan=0.0), 0.0) * _beside(layout, scales)
    _split(found, layout)
    column = layout.columns(kinds.VARIABLE)
    could_be = np.isfinite(residual[:, column]) & (r > 1.0) & (r < scales.variable_up_to)
    least = scales.variable_beside * found.sum(axis=1, keepdims=True)
    found[:, column] = could_be * np.maximum(found[:, column], least)
    column = layout.columns(kinds.SLOW)
    could_be = np.isfinite(residual[:, column]) & (r > 1.0)
    found[:, column] = could_be * scales.slow_beside * found.sum(axis=1, keepdims=True)
    total = found.sum(axis=1)
    steady = np.where(
        ratio <= STEADY_UP_TO, np.maximum(1.0, scales.steady * total),
        np.where((ratio <= scales.mixed_up_to) | (total <= 0), np.maximum(scales.steady_beside * total, 1e-6), 0.0),
    )  # fmt: skip
    found += steady[:, None] * steady_shares(demands, layout, residual, variable, scales)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _requesters(layout: Layout) -> Array:
    """Weight of each number of requesters, from the fewest on; finer steps share the same total."""
    known = np.cumsum([0.0, *ACTIVE_WEIGHTS])
    found = np.zeros((1, layout.kind.size))
    for own in np.unique(layout.own):
        where = (layout.kind == kinds.ACTIVE) & (layout.own == own)
        if where.any():
            steps = layout.number[where]
            ends = np.append(steps, np.inf)  # the last one stands for all beyond
            shares = np.diff(np.interp(ends, np.arange(known.size), known))
            found[:, where] = np.maximum(shares, 0.01)
    return found


def _beside(layout: Layout, scales: Scales) -> Array:
    """Candidates beside open arrivals share a fixed part of the weight; so do groups of different service."""
    found = np.where(layout.own < 1, scales.of_beside / max(np.unique(layout.own).size - 1, 1), 1.0)
    periodic = layout.kind == kinds.PERIODIC
    return np.asarray(np.where(periodic, found / max(np.unique(layout.number[periodic]).size, 1), found))


def _phases(demands: Demands, layout: Layout, wait: Array, scales: Scales) -> Array:
    load = layout.number
    slow = demands.on_time / (demands.on_time + scales.slow)
    return scales.of_phases * np.where(
        load < scales.strong, slow, scales.of_strong * np.exp(-wait / scales.active)
    )


def _split(found: Array, layout: Layout) -> None:
    """Finer steps of shares and loads have together the weight of the coarse ones."""
    for kind, coarse in ((kinds.MIXED, kinds.SHARES), (kinds.ON_OFF, kinds.ON_LOADS)):
        where = layout.columns(kind)
        found[:, where] *= len(coarse) / max(where.stop - where.start, 1)


def steady_shares(
    demands: Demands, layout: Layout, residual: Array, variable: Flags, scales: Scales
) -> Array:
    """Shares of the steady candidates in their weight, (volumes, candidates): those that fit, else the nearest."""
    steady = np.isin(layout.kind, kinds.STEADY)
    poisson = layout.kind == kinds.POISSON
    fits: Flags = steady & (residual <= 1.0)
    nearest = np.where(steady & np.isfinite(residual), residual, np.inf)
    first = np.zeros_like(fits)
    first[np.arange(len(fits)), np.argmin(nearest, axis=1)] = True
    fits = np.where(fits.any(axis=1, keepdims=True), fits, first & np.isfinite(nearest))
    people = np.where(poisson, 1.0, demands.population)
    opened = fits[:, poisson] & (demands.load[:, poisson] < FAR_FROM_SATURATED)
    share = np.where(opened & ~poisson, scales.beside_open, 1.0) * np.where(
        fits, _standing_for(layout) / people, 0.0
    )
    share = np.where(variable[:, None] & poisson & ~fits, scales.nearly_open, share)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _standing_for(layout: Layout) -> Array:
    """Whole numbers of requesters that each column stands for; 1 of other kinds."""
    found = np.ones(layout.kind.size)
    where = layout.columns(kinds.CLOSED)
    steps = layout.number[where]
    middles = (steps[1:] + steps[:-1]) / 2
    found[where] = np.diff(np.concatenate([[steps[0] - 0.5], middles, [steps[-1] + 0.5]]))
    return found
