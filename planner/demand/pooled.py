"""Pools of unequal, partly bursty volumes: overflow of every volume from its readings, the pool by Hayward's approximation.

With unlimited servers volumes do not touch each other: volume v has n_v I/Os present and asks aliases for O_v = (n_v - 1)+ of them. Their sum
has mean M and variance V, and peakedness z = V / M. Hayward (Fredericks 1980): A aliases serve it as A / z servers serve Poisson
traffic M / z, queue = z x queue of M/M/c at real-valued c. Without aliases the volumes are alone again and each has its own queue.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, gammaln

from planner.demand import chains, kinds, priors
from planner.demand.bursty import KEPT, AliasTarget, Readings
from planner.errors import InputError
from planner.results import Array

LEVELS: Final = 255  # I/Os present of one volume, and more than there are aliases
STRONG: Final = 4.0  # load while on from which phases are left out: unlimited servers would not hold them
SATURATED_WAIT: Final = 3.0  # service times: what is asked of a volume that never idles
LOW, HIGH = 0.75, 1.35  # of the count
HALVINGS: Final = 30


def present(readings: Readings, levels: int) -> Array:
    """Law of the I/Os present with unlimited servers, (levels + 1, volumes, readings); nan where a reading is unused."""
    volumes, columns = readings.weight.shape
    found = np.full((levels + 1, volumes, columns), np.nan)
    steps = chains.Station(most=levels, inflation=readings.law.inflation, gap=np.zeros(1)).steps
    for kind in range(len(kinds.KINDS)):
        where = readings.layout.columns(kind)
        used = readings.used[:, where]
        part = {
            item.name: getattr(readings.demands, item.name)[:, where][used]
            for item in fields(readings.demands)
        }
        if used.any():
            found[:, :, where][:, used] = _laws(kind, part, steps)
    return found


def _laws(kind: int, part: dict[str, Array], steps: Array) -> Array:
    load = part["load"]
    levels = steps.size - 1
    if kind in (kinds.CLOSED, kinds.ACTIVE):
        return _of_requesters(part["population"], part["think"], part["active"], steps)
    if kind == kinds.ON_OFF:
        return _of_phases(load, part["on_load"], part["on_time"], steps)
    if kind == kinds.PERIODIC:
        n = np.arange(1, levels + 1)[:, None]
        at_least = np.clip(part["batch"] - n + 1, 0.0, 1.0)  # whole groups and, in proportion, one more
        busy = load / part["batch"] * at_least / steps[1:, None]
        return _whole(np.concatenate([np.maximum(1 - busy.sum(axis=0), 0.0)[None], busy]))
    laws = np.zeros((levels + 1, load.size))
    laws[0] = 1.0
    if kind == kinds.FIXED:
        whole = np.floor(part["batch"])
        n = np.arange(levels + 1)[:, None]
        tail = np.clip(part["batch"] - n, 0.0, 1.0)  # chance of a batch of more than n
        for level in range(1, levels + 1):
            first = max(level - int(whole.max()) - 1, 0)
            head = (tail[: level - first] * laws[first:level][::-1]).sum(axis=0)
            laws[level] = load / part["batch"] * head / steps[level]
        return _whole(laws)
    single = kind in (kinds.POISSON, kinds.VARIABLE)
    mean = np.ones_like(load) if single else part["batch"]
    share = np.ones_like(load) if single else part["share"]
    head = np.zeros_like(load)
    for level in range(1, levels + 1):
        head = (1 - 1 / mean) * head + laws[level - 1]
        laws[level] = load * (share / mean * head + (1 - share) * laws[level - 1]) / steps[level]
    return _whole(laws)


def _of_requesters(population: Array, think: Array, active: Array, steps: Array) -> Array:
    whole = np.maximum(np.floor(population), 1.0)
    laws = np.zeros((2, steps.size, population.size))
    for k in range(2):
        logs = np.zeros((steps.size, population.size))
        left = whole + k - np.arange(steps.size - 1)[:, None]
        with np.errstate(divide="ignore"):
            rise = (
                np.log(np.maximum(left, 0.0))
                - np.log(np.maximum(think, chains.LEAST_THINK))
                - np.log(steps[1:, None])
            )
        logs[1:] = np.cumsum(rise, axis=0)
        laws[k] = _whole(np.exp(logs - logs.max(axis=0)))
    rest = np.clip(population - whole, 0.0, 1.0)
    law = active * ((1 - rest) * laws[0] + rest * laws[1])
    law[0] += 1 - active
    return law


def _of_phases(load: Array, on_load: Array, on_time: Array, steps: Array) -> Array:
    alpha, share = 1 / on_time, np.minimum(load / on_load, 1 - 1e-9)
    beta = alpha * share / (1 - share)
    laws = np.zeros((steps.size, load.size))
    on, off = np.ones_like(load), np.zeros_like(load)
    for level in range(steps.size - 1, -1, -1):
        if level < steps.size - 1:
            down = steps[level + 1]
            on, off = (
                down / on_load * (on + off),
                (alpha * down / on_load * (on + off) + down * off) / (beta + steps[level]),
            )
        laws[level] = on + off
        large = np.maximum(on + off, 1.0)
        on, off = on / large, off / large
        laws /= large
    return _whole(laws)


def _whole(laws: Array) -> Array:
    return laws / laws.sum(axis=0)


def base_busy(readings: Readings, law: Array) -> Array:
    """Share of the time that the base of each volume serves, with unlimited aliases, (volumes, readings).

    An I/O takes the base only if it comes while the base is free: a loss system of one server. Of instants of rate a each takes
    the base with the chance that it is free, a / (1 + a); phases are a chain of four states, requesters a balance of flows.
    """
    demands, layout = readings.demands, readings.layout
    n = np.arange(law.shape[0])[:, None, None]
    mean = np.nansum(law * n, axis=0)
    steps = chains.Station(most=law.shape[0] - 1, inflation=readings.law.inflation, gap=np.zeros(1)).steps
    flow = np.nansum(law * steps[:, None, None], axis=0)
    growth = np.where(flow > 0, mean / np.where(flow > 0, flow, 1.0), 1.0)
    batch = np.where(np.isfinite(demands.batch), demands.batch, 1.0)
    share = np.where(np.isfinite(demands.share), demands.share, 1.0)
    instants = demands.load * (share / batch + 1 - share) * growth
    found = instants / (1 + instants)
    found = np.where(layout.kind == kinds.PERIODIC, np.minimum(instants, 1.0), found)
    found = np.where(layout.kind == kinds.ON_OFF, _phase_busy(demands, growth), found)
    requesters = np.isin(layout.kind, (kinds.CLOSED, kinds.ACTIVE))
    return np.where(requesters, _requester_busy(demands, mean, growth), found)


def _phase_busy(demands: kinds.Demands, growth: Array) -> Array:
    """M/M/1/1 in phases: with the base busy b1 while on and b0 while off, balances of both and of the phases."""
    alpha = growth / demands.on_time
    share = np.minimum(demands.load / demands.on_load, 1 - 1e-9)
    beta = alpha * share / (1 - share)
    rate = demands.on_load * growth
    # b0 (1 + beta) = alpha b1;  b1 (1 + alpha) = rate (share - b1) + beta b0
    back = alpha / (1 + beta)
    on = rate * share / (1 + alpha + rate - beta * back)
    return on * (1 + back)


def _requester_busy(demands: kinds.Demands, mean: Array, growth: Array) -> Array:
    """Base busy y while active: y = (1 - y) (N - n + y) s / Z, with n - y I/Os at aliases whether or not the base is busy."""
    active = np.where(np.isfinite(demands.active), demands.active, 1.0)
    idle = np.maximum(demands.population - mean / np.maximum(active, 1e-12), 0.0)
    think = demands.think / growth
    half = (1 - idle - think) / 2
    return active * np.clip(half + np.sqrt(half**2 + idle), 0.0, 1.0)


def alias_law(law: Array, busy: Array) -> Array:
    """Law of the aliases in use from that of the I/Os present: with n present the base is busy with chance n / (n + d).

    The one number d is such that the base is busy as often as it is; I/Os on aliases stay there when the base becomes free.
    """
    n = np.arange(law.shape[0])[:, None, None]
    low, high = np.full(busy.shape, -20.0), np.full(busy.shape, 20.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        more = np.sum(law * n / (n + np.exp(middle)), axis=0) > busy
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    with_base = law * n / (n + np.exp(low))
    found = law - with_base
    found[:-1] += with_base[1:]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolReadings:
    """What a pool asks of its aliases.

    Attributes
    ----------
    readings : Readings
        Of its volumes, as they would be without aliases.
    overflow, variance : ndarray
        Mean and variance of the I/Os that the base does not hold, with unlimited servers, (volumes,).
    busy : ndarray
        Mean I/Os in service then, (volumes,).
    rate : ndarray
        Rate then [1/s], (volumes,).
    queue : ndarray
        I/Os queued without aliases, (volumes,).
    """

    readings: Readings
    overflow: Array
    variance: Array
    busy: Array
    rate: Array
    queue: Array

    @property
    def peakedness(self) -> float:
        """Variance of the total overflow over its mean, at least 1."""
        return float(max(1.0, self.variance.sum() / max(self.overflow.sum(), 1e-300)))

    def queued(self, aliases: ArrayLike) -> Array:
        """Mean I/Os queued in the pool with each number of aliases, (counts,)."""
        z, mean = self.peakedness, float(self.overflow.sum())
        found = z * erlang_queue(mean / z, np.asarray(aliases, dtype=float) / z)
        return np.minimum(found, self.queue.sum())


def erlang_queue(load: float, servers: Array) -> Array:
    """Mean queue of M/M/c at real-valued c; inf where the load is not below it."""
    inside = servers > load
    c = np.where(inside, servers, load + 1.0)
    log_b = c * np.log(load) - load - gammaln(c + 1) - np.log(gammaincc(c + 1, load))
    blocked = np.exp(log_b)
    delayed = blocked / (1 - load / c * (1 - blocked))
    return np.where(inside, delayed * load / (c - load), np.inf)


def pooled(readings: Readings) -> PoolReadings:
    """Combine the readings of the volumes of one pool, measured without aliases."""
    saturated = np.flatnonzero(readings.saturated)
    weight = readings.weight
    steady = np.isin(readings.layout.kind, kinds.STEADY)
    strong = (readings.layout.kind == kinds.ON_OFF) & (readings.layout.number >= STRONG)
    weight = np.where(readings.steady[:, None] & ~steady, 0.0, np.where(strong, 0.0, weight))
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, readings.weight)
    weight = weight / weight.sum(axis=1, keepdims=True)
    laws = present(replace(readings, weight=weight), LEVELS)
    laws = np.nan_to_num(laws)
    n = np.arange(LEVELS + 1)[:, None, None]
    over = np.maximum(n - 1, 0)
    mean = (laws * over).sum(axis=0)
    square = (laws * over**2).sum(axis=0)
    steps = chains.Station(most=LEVELS, inflation=readings.law.inflation, gap=np.zeros(1)).steps
    rate = np.nan_to_num((laws * steps[:, None, None]).sum(axis=0) / readings.service_time)
    del saturated
    return PoolReadings(
        readings=readings, overflow=(weight * mean).sum(axis=1), variance=(weight * (square - mean**2)).sum(axis=1),
        busy=(weight * (laws * n).sum(axis=0)).sum(axis=1), rate=(weight * rate).sum(axis=1), queue=readings.rows.queue,
    )  # fmt: skip
