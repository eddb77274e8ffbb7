"""What one volume asks of aliases where there are enough of them: how many it uses, under every reading.

With unlimited servers volumes do not touch each other. An I/O that finds its base busy takes an alias and stays there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from planner.demand import chains, kinds
from planner.demand.readings import Readings
from planner.results import Array

LEVELS: Final = 160  # I/Os present of one volume
STRONG: Final = 4.0  # load while on from which phases are left out: unlimited servers would not hold them
LEAST_WEIGHT: Final = 1e-3
HALVINGS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AliasUse:
    """What volumes ask of aliases where there are enough, under each reading with a weight; (volumes, readings).

    `usage` is the law of the aliases in use, (aliases + 1, volumes, readings), `busy` the mean I/Os in service, `rate`
    the rate then [1/s], `alone` and `alone_rate` queue [I/Os] and rate [1/s] without any alias.
    """

    weight: Array
    usage: Array
    busy: Array
    rate: Array
    alone: Array
    alone_rate: Array

    def mean(self, values: Array) -> Array:
        """Mean over the readings, (volumes,)."""
        return np.asarray(np.where(self.weight > 0, self.weight * values, 0.0).sum(axis=1))

    def of(self, volumes: slice) -> AliasUse:
        """Some of the volumes."""
        return AliasUse(
            usage=self.usage[:, volumes],
            **{item.name: getattr(self, item.name)[volumes] for item in fields(self) if item.name != "usage"},
        )

    @property
    def crowd(self) -> Array:
        """Mean square of the aliases in use, (volumes,)."""
        square = np.tensordot(np.arange(self.usage.shape[0]) ** 2.0, self.usage, axes=1)
        return self.mean(square)


def asked(readings: Readings) -> AliasUse:
    """What volumes that were read as without aliases would use; of a steady volume only steady readings count."""
    steady = np.isin(readings.layout.kind, kinds.STEADY)
    strong = (readings.layout.kind == kinds.ON_OFF) & (readings.layout.number >= STRONG)
    weight = np.where((readings.steady[:, None] & ~steady) | strong, 0.0, readings.weight)
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, readings.weight)
    weight = np.where(weight >= LEAST_WEIGHT, weight, 0.0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    readings = replace(readings, weight=weight)
    laws = present(readings, LEVELS)
    used = weight > 0
    busy = base_busy(readings, laws)
    usage = np.zeros_like(laws)
    usage[0] = 1.0
    usage[:, used] = alias_law(laws[:, used], busy[used])
    alone = readings.predict([0])
    queue = alone.queue[..., 0]
    n, steps = _numbers(readings)
    return AliasUse(
        weight=weight, usage=usage, busy=np.tensordot(n, laws, axes=1),
        rate=np.tensordot(steps, laws, axes=1) / readings.service_time,
        alone=np.where(np.isfinite(queue), queue, 0.0), alone_rate=alone.rate[..., 0],
    )  # fmt: skip


def paces(readings: Readings) -> tuple[Array, Array, Array]:
    """Rate with enough aliases and with none [1/s], and growth of the service time with enough, (volumes,)."""
    weight = np.where(readings.weight >= LEAST_WEIGHT, readings.weight, 0.0)
    readings = replace(readings, weight=weight / weight.sum(axis=1, keepdims=True))
    laws = present(readings, LEVELS)
    n, steps = _numbers(readings)
    busy, flow = np.tensordot(n, laws, axes=1), np.tensordot(steps, laws, axes=1)

    def mean(values: Array) -> Array:
        return np.asarray(np.nansum(readings.weight * np.where(readings.used, values, 0.0), axis=1))

    free = mean(flow / readings.service_time)
    return free, mean(readings.predict([0]).rate[..., 0]), mean(busy / readings.service_time) / free


def _numbers(readings: Readings) -> tuple[Array, Array]:
    n = np.arange(LEVELS + 1.0)
    return n, chains.DeviceStation(most=LEVELS, inflation=readings.law.inflation, gap=np.zeros(1)).steps


def present(readings: Readings, levels: int) -> Array:
    """Law of the I/Os present with unlimited servers, (levels + 1, volumes, readings); nan where unused."""
    volumes, columns = readings.weight.shape
    found = np.full((levels + 1, volumes, columns), np.nan)
    steps = chains.DeviceStation(most=levels, inflation=readings.law.inflation, gap=np.zeros(1)).steps
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
    law: Array = active * ((1 - rest) * laws[0] + rest * laws[1])
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
    return np.asarray(laws / laws.sum(axis=0))


def base_busy(readings: Readings, law: Array) -> Array:
    """Share of the time that the base of each volume serves, with unlimited aliases, (volumes, readings).

    An I/O takes the base only if it comes while the base is free: a loss system of one server. Of instants of rate
    a each takes
    the base with the chance that it is free, a / (1 + a); phases are a chain of four states, requesters a balance
    of flows.
    """
    demands, layout = readings.demands, readings.layout
    n = np.arange(law.shape[0])[:, None, None]
    mean = np.nansum(law * n, axis=0)
    steps = chains.DeviceStation(
        most=law.shape[0] - 1, inflation=readings.law.inflation, gap=np.zeros(1)
    ).steps
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
    return np.asarray(on * (1 + back))


def _requester_busy(demands: kinds.Demands, mean: Array, growth: Array) -> Array:
    """Base busy y while active: y = (1 - y) (N - n + y) s / Z, with n - y I/Os at aliases."""
    active = np.where(np.isfinite(demands.active), demands.active, 1.0)
    idle = np.maximum(demands.population - mean / np.maximum(active, 1e-12), 0.0)
    think = demands.think / growth
    half = (1 - idle - think) / 2
    return active * np.clip(half + np.sqrt(half**2 + idle), 0.0, 1.0)


def alias_law(law: Array, busy: Array) -> Array:
    """Law of the aliases in use from that of the I/Os present, (numbers, ...), and the busy share of the base.

    With n present the base is busy with chance n / (n + d). The one number d is such that the base is busy as often as
    it is; I/Os on aliases stay there when the base becomes free.
    """
    n = np.arange(law.shape[0], dtype=np.float64).reshape(-1, *(1,) * busy.ndim)
    low, high = np.full(busy.shape, -20.0), np.full(busy.shape, 20.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        more = np.sum(law * (n / (n + np.exp(middle))), axis=0) > busy
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    with_base = law * (n / (n + np.exp(low)))
    found: Array = law - with_base
    found[:-1] += with_base[1:]
    return found
