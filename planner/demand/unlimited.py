"""How many aliases one volume uses where there are enough, under every candidate.

With unlimited servers volumes do not affect each other. An I/O that finds its base busy takes an alias and stays there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from planner.demand import chains, kinds
from planner.demand.candidates import Candidates
from planner.demand.kinds import Demands
from planner.results import Array, Integers

LEVELS: Final = 160  # I/Os present of one volume, and its queue where that grows without bound
STRONG: Final = 4.0  # load while on from which phases are left out: unlimited servers would not hold them
LEAST_WEIGHT: Final = 1e-3
NEVER: Final = 1e-30  # probability of a number of I/Os that is not looked at
CANDIDATES_AT_ONCE: Final = 500  # computed together: their arrays stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AliasUse:
    """Aliases that volumes use where there are enough, under each candidate with a weight: arrays (elements,).

    `volume` is whose candidate it is, in order, of `volumes`, `kind` its kind (`kinds.KINDS`); `usage` is the
    distribution of the aliases in use, (aliases + 1, elements), `ends` the rate at which I/Os end at aliases with each
    number in use [1/s], `busy` and `rate` the mean I/Os in service and the rate [1/s] then, `alone` and `alone_rate`
    queue [I/Os] and rate [1/s] without any alias.
    """

    volumes: int
    volume: Integers
    kind: Integers
    weight: Array
    usage: Array
    ends: Array
    busy: Array
    rate: Array
    alone: Array
    alone_rate: Array

    def mean(self, values: Array) -> Array:
        """Mean over the candidates, (..., volumes), of values (..., elements)."""
        return _mean(self.volume, self.weight * values, self.volumes)

    def of(self, volumes: slice) -> AliasUse:
        """Some of the volumes."""
        first, last = np.searchsorted(self.volume, [volumes.start, volumes.stop])
        part = slice(int(first), int(last))
        each = {
            item.name: getattr(self, item.name)[..., part] for item in fields(self) if item.name != "volumes"
        }
        each["volume"] = each["volume"] - volumes.start
        return AliasUse(volumes=volumes.stop - volumes.start, **each)

    def only(self, kind: int) -> AliasUse:
        """Volumes that may be of a kind have its candidates alone."""
        of_kind = self.kind == kind
        there = np.isin(self.volume, self.volume[of_kind])
        return replace(self, weight=np.where(there, 1.0 * of_kind, self.weight))

    @property
    def mixed(self) -> AliasUse:
        """One candidate a volume: the mean of its own."""
        of_candidates = ("volumes", "volume", "kind", "weight")
        names = [item.name for item in fields(self) if item.name not in of_candidates]
        each = np.arange(self.volumes)
        means = {name: self.mean(getattr(self, name)) for name in names}
        return AliasUse(
            volumes=self.volumes, volume=each, kind=np.full(each.size, -1), weight=np.ones(each.size), **means
        )

    @property
    def in_use(self) -> Array:
        """Mean aliases in use, (volumes,)."""
        return self.mean(np.arange(self.usage.shape[0]) @ self.usage)

    @property
    def second_moment(self) -> Array:
        """Mean square of the aliases in use, (volumes,)."""
        return self.mean(np.arange(self.usage.shape[0]) ** 2.0 @ self.usage)


def alias_use(candidates: Candidates) -> AliasUse:
    """Aliases that volumes, read as without any, would use; of a steady volume only steady candidates count."""
    steady = np.isin(candidates.layout.kind, kinds.STEADY)
    strong = (candidates.layout.kind == kinds.ON_OFF) & (candidates.layout.number >= STRONG)
    weight = np.where((candidates.steady[:, None] & ~steady) | strong, 0.0, candidates.weight)
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, candidates.weight)
    candidates = _weighted(candidates, weight)
    volume, column = np.nonzero(candidates.used)
    distributions, busy, flow = present(candidates, LEVELS)
    alone = candidates.predict([0])
    queue = alone.queue[volume, column, 0]
    usage, ends = alias_distribution(
        distributions, base_busy(candidates, busy, flow), _steps(candidates, LEVELS)
    )
    alone_service = candidates.service_time[volume, column]
    return AliasUse(
        volumes=candidates.volumes, volume=volume, kind=candidates.layout.kind[column],
        weight=candidates.weight[volume, column], usage=usage, ends=ends / alone_service, busy=busy,
        rate=flow / alone_service, alone=np.where(np.isfinite(queue), queue, LEVELS),
        alone_rate=alone.rate[volume, column, 0],
    )  # fmt: skip


def service_rates(candidates: Candidates) -> tuple[Array, Array, Array]:
    """Rate with enough aliases and with none [1/s], and growth of the service time with enough, (volumes,)."""
    candidates = _weighted(candidates, candidates.weight)
    volume, column = np.nonzero(candidates.used)
    weight = candidates.weight[volume, column]
    _, busy, flow = present(candidates, LEVELS)

    service, alone = candidates.service_time[volume, column], candidates.predict([0]).rate[volume, column, 0]
    free, slow, taken = (
        _mean(volume, weight * each, candidates.volumes) for each in (flow / service, alone, busy / service)
    )
    return free, slow, taken / free


def _mean(volume: Integers, values: Array, volumes: int) -> Array:
    """Sum of weighted values (..., elements) over the candidates of each volume, (..., volumes)."""
    return np.asarray(np.add.reduceat(values, np.searchsorted(volume, np.arange(volumes)), axis=-1))


def _weighted(candidates: Candidates, weight: Array) -> Candidates:
    """The candidates by other weights, those below `LEAST_WEIGHT` left out."""
    weight = np.where(weight >= LEAST_WEIGHT, weight, 0.0)
    return replace(candidates, weight=weight / weight.sum(axis=1, keepdims=True))


def _steps(candidates: Candidates, levels: int) -> Array:
    """Rate at which I/Os end with each number present [1/service time], (levels + 1,)."""
    inflation = candidates.device_model.inflation
    return chains.DeviceStation(most=levels, inflation=inflation, gap=np.zeros(1)).steps


def present(candidates: Candidates, levels: int) -> tuple[Array, Array, Array]:
    """I/Os present with unlimited servers: distribution (levels + 1, candidates), mean, rate [1/service time]."""
    volume, column = np.nonzero(candidates.used)
    kind = candidates.layout.kind[column]
    found = np.empty((levels + 1, volume.size))
    steps = _steps(candidates, levels)
    for each in np.unique(kind).tolist():
        some = np.flatnonzero(kind == each)
        found[:, some] = _distributions(each, candidates.demands.of((volume[some], column[some])), steps)
    return found, np.arange(levels + 1.0) @ found, steps @ found


def _distributions(kind: int, part: Demands, steps: Array) -> Array:
    load = chains.within_reach(part.load, steps[-1])
    levels = steps.size - 1
    if kind in (kinds.CLOSED, kinds.ACTIVE):
        return _of_requesters(part.population, part.think, part.active, steps)
    if kind == kinds.ON_OFF:
        return _of_phases(load, part.on_load, part.on_time, steps)
    if kind == kinds.SLOW:
        least, on = chains.slow_levels(load, part.on_load, part.share)
        high, low = (
            _distributions(kinds.POISSON, replace(part, load=each), steps) for each in (part.on_load, least)
        )
        return on * high + (1 - on) * low
    if kind == kinds.PERIODIC:
        n = np.arange(1, levels + 1)[:, None]
        at_least = np.clip(part.batch - n + 1, 0.0, 1.0)  # whole groups and, in proportion, one more
        busy = load / part.batch * at_least / steps[1:, None]
        return _whole(np.concatenate([np.maximum(1 - busy.sum(axis=0), 0.0)[None], busy]))
    if kind == kinds.FIXED:
        distributions = np.zeros((levels + 1, load.size))
        distributions[0] = 1.0
        whole = np.floor(part.batch)
        n = np.arange(levels + 1)[:, None]
        tail = np.clip(part.batch - n, 0.0, 1.0)  # chance of a batch of more than n
        for level in range(1, levels + 1):
            first = max(level - int(whole.max()) - 1, 0)
            head = (tail[: level - first] * distributions[first:level][::-1]).sum(axis=0)
            distributions[level] = load / part.batch * head / steps[level]
        return _whole(distributions)
    one = np.ones_like(load)
    sizes = (one, one) if kind in (kinds.POISSON, kinds.VARIABLE) else (part.batch, part.share)
    parts = chains.LONG_TAILED if kind == kinds.LONG else chains.GEOMETRIC
    return _whole(
        np.array([distribution for _, distribution in chains.batch_levels(steps, load, *sizes, parts)])
    )


def _of_requesters(population: Array, think: Array, active: Array, steps: Array) -> Array:
    whole = np.maximum(np.floor(population), 1.0)
    every, steps = steps.size, steps[: int(min(steps.size, whole.max() + 2))]
    free = np.log(np.maximum(think, chains.LEAST_THINK))

    def of(people: Array) -> Array:
        with np.errstate(divide="ignore"):
            left = np.log(np.maximum(people - np.arange(steps.size - 1)[:, None], 0.0))
        rise = left - free - np.log(steps[1:, None])
        logs = np.cumsum(np.append(np.zeros((1, people.size)), rise, axis=0), axis=0)
        return _whole(np.exp(logs - logs.max(axis=0)))

    rest = np.clip(population - whole, 0.0, 1.0)
    distribution = np.zeros((every, population.size))
    distribution[: steps.size] = active * ((1 - rest) * of(whole) + rest * of(whole + 1.0))
    distribution[0] += 1 - active
    return distribution


def _of_phases(load: Array, on_load: Array, on_time: Array, steps: Array) -> Array:
    alpha, share = 1 / on_time, np.minimum(load / on_load, 1 - 1e-9)
    beta = alpha * share / (1 - share)
    distributions, scales = np.empty((2, steps.size, load.size))
    on, off = np.ones_like(load), np.zeros_like(load)
    for level in range(steps.size - 1, -1, -1):
        if level < steps.size - 1:
            down = steps[level + 1]
            on, off = (
                down / on_load * (on + off),
                (alpha * down / on_load * (on + off) + down * off) / (beta + steps[level]),
            )
        distributions[level] = on + off
        scales[level] = large = np.maximum(on + off, 1.0)
        on, off = on / large, off / large
    with np.errstate(over="ignore"):  # far above nothing is left
        return _whole(distributions / np.cumprod(scales, axis=0))


def _whole(distributions: Array) -> Array:
    return np.asarray(distributions / distributions.sum(axis=0))


def base_busy(candidates: Candidates, mean: Array, flow: Array) -> Array:
    """Share of the time that the base of each volume serves, with unlimited aliases, (elements,)."""
    volume, column = np.nonzero(candidates.used)
    growth = np.where(flow > 0, mean / np.where(flow > 0, flow, 1.0), 1.0)
    return kinds.base_busy(
        candidates.layout.kind[column], candidates.demands.of((volume, column)), mean, growth
    )


def alias_distribution(distribution: Array, busy: Array, steps: Array) -> tuple[Array, Array]:
    """Distribution of the aliases in use, and the rate at which I/Os end at aliases with each number in use.

    They follow from the `distribution` of the I/Os present, (numbers, elements), which end at the rates `steps`, and
    the `busy` share of the base: with n present it is busy with chance n / (n + d), since I/Os on aliases stay there
    when it becomes free. The number d that gives the busy share is found by Newton's method: one over the share is
    nearly linear in d. Those with as few I/Os are computed together, without the numbers that never occur.
    """
    size = len(distribution) - np.argmax(distribution[::-1] > NEVER, axis=0)
    order = np.argsort(size, kind="stable")
    found, ends = np.zeros((2, *distribution.shape))
    for some in np.array_split(order, math.ceil(order.size / CANDIDATES_AT_ONCE)):
        last = int(size[some[-1]])
        part = distribution[:last, some]
        d = _beside_base(part, busy[some])
        n = np.arange(float(last))[:, None]
        with_base = part * n / (n + d)
        without = part - with_base
        growth = np.append(1.0, n[1:, 0] / steps[1:last])[:, None]
        ended = without * n / growth
        without[:-1] += with_base[1:]
        ended[:-1] += with_base[1:] * n[:-1] / growth[1:]
        found[:last, some], ends[:last, some] = without, ended
    return found, ends


def _beside_base(distribution: Array, busy: Array) -> Array:
    """The number d with which the base is busy for that share of the time, (elements,)."""
    n = np.arange(float(len(distribution)))[:, None]
    weight = distribution * n
    some = np.maximum(distribution[1:].sum(axis=0), 1e-300)
    wanted = np.clip(busy, 1e-12, some)
    found: Array = np.clip(weight.sum(axis=0) / some * (some / wanted - 1.0), 1e-9, 1e9)
    left = np.arange(found.size)  # what has converged rests, so that no element changes another
    for _ in range(12):  # five as a rule
        d = found[left]
        per = 1.0 / (n + d)
        parts = weight[:, left] * per
        share, slope = parts.sum(axis=0), (parts * per).sum(axis=0)
        step = share * (share / wanted[left] - 1.0) / np.maximum(slope, 1e-300)
        found[left] = np.clip(d + step, 1e-9, 1e9)
        left = left[np.abs(found[left] - d) > 1e-9 * (1.0 + d)]  # at an end nothing moves
        if not left.size:
            break
    return found
