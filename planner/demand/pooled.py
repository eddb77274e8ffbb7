"""Pools of unequal, partly bursty volumes: what each asks of the aliases, summed.

With unlimited servers volumes do not touch each other: volume v has n_v I/Os present and asks aliases for O_v =
(n_v - 1)+ of them. Their sum
has mean M and variance V, and peakedness z = V / M. Hayward (Fredericks 1980): A aliases serve it as A / z servers
serve Poisson
traffic M / z, queue = z x queue of M/M/c at real-valued c. Without aliases the volumes are alone again and each has
its own queue.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc, gammaln

from planner.demand import chains, kinds, priors
from planner.demand.bursty import (
    MOST_ALIASES,
    AliasTarget,
    Prediction,
    Readings,
    make_rows,
    read_rows,
    read_volumes,
)
from planner.demand.kinds import COARSE
from planner.demand.law import Law
from planner.interval import Interval
from planner.results import Array

LEVELS: Final = 160  # I/Os present of one volume
STRONG: Final = 4.0  # load while on from which phases are left out: unlimited servers would not hold them
SATURATED_WAIT: Final = 3.0  # service times: what is asked of a volume that never idles
LOW, HIGH = 0.6, 1.8  # of the count
MOST_IN_USE: Final = 600  # aliases that a convolution follows
LEAST_WEIGHT: Final = 1e-3
MULTIPLES: Final = (-4.0, 8.0)  # logarithms: of the queue of Poisson arrivals, or of the queue measured
HALVINGS_IN_USE: Final = (8, 7)  # before and after the rates are those without aliases
AGAIN: Final = 1.5  # how far the second search goes, in the logarithm
LONGEST_WAIT: Final = 12.0  # service times, without aliases; longer ones read as phases of overload
LARGEST_LOAD: Final = 0.97
TRIMMED_AT: Final = 0.75  # weighted share of the readings of a volume that count, those that ask least first
HALVINGS: Final = 30


def present(readings: Readings, levels: int) -> Array:
    """Law of the I/Os present with unlimited servers, (levels + 1, volumes, readings); nan where unused."""
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
    return np.asarray(on * (1 + back))


def _requester_busy(demands: kinds.Demands, mean: Array, growth: Array) -> Array:
    """Base busy y while active: y = (1 - y) (N - n + y) s / Z, with n - y I/Os at aliases."""
    active = np.where(np.isfinite(demands.active), demands.active, 1.0)
    idle = np.maximum(demands.population - mean / np.maximum(active, 1e-12), 0.0)
    think = demands.think / growth
    half = (1 - idle - think) / 2
    return active * np.clip(half + np.sqrt(half**2 + idle), 0.0, 1.0)


def alias_law(law: Array, busy: Array) -> Array:
    """Law of the aliases in use from that of the I/Os present: with n present the base is busy with chance n / (n + d).

    The one number d is such that the base is busy as often as it is; I/Os on aliases stay there when the base
    becomes free.
    """
    n = np.arange(law.shape[0])[:, None, None]
    low, high = np.full(busy.shape, -20.0), np.full(busy.shape, 20.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        more = np.sum(law * n / (n + np.exp(middle)), axis=0) > busy
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    with_base = law * n / (n + np.exp(low))
    found: Array = law - with_base
    found[:-1] += with_base[1:]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolReadings:
    """What the volumes of one pool ask of its aliases; arrays (volumes,).

    Attributes
    ----------
    readings : Readings
        Of its volumes, as they would be without aliases.
    in_use, measured : int, float
        Aliases at the time, and the I/Os queued then [1].
    usage : ndarray
        Law of the aliases that each volume uses where there are enough, (aliases + 1, volumes).
    variance : ndarray
        Of that number, the mean over the readings.
    busy, rate, service : ndarray
        Mean I/Os in service, rate [1/s] and service time [s] then.
    lone : ndarray
        Service time of a lone I/O [s].
    alone, alone_rate : ndarray
        I/Os queued [1] and rate [1/s] without aliases.
    """

    readings: Readings
    in_use: int
    measured: float
    usage: Array
    variance: Array
    busy: Array
    rate: Array
    lone: Array
    alone: Array
    alone_rate: Array

    @property
    def steady(self) -> bool:
        """Whether every volume is steady as far as the digits show: such a pool has exact solutions."""
        return bool(self.readings.steady.all())

    @property
    def saturated(self) -> bool:
        """Whether a volume never idles, so that its demand is unknown."""
        return bool(self.readings.saturated.any())

    @property
    def open_above(self) -> bool:
        """Whether nothing waits with the aliases in use: the demand may be anything that they hold."""
        return self.in_use > 0 and bool((self.readings.rows.queue_low <= 0).all())

    @property
    def mean_usage(self) -> Array:
        """Mean aliases that each volume uses where there are enough, (volumes,)."""
        return np.arange(self.usage.shape[0]) @ self.usage

    @property
    def peakedness(self) -> float:
        """Variance of the aliases in use over their mean, at least 1 (Wilkinson 1956)."""
        return float(max(1.0, self.variance.sum() / max(self.mean_usage.sum(), 1e-300)))

    def queued(self, aliases: ArrayLike) -> Array:
        """Mean I/Os queued in the whole pool.

        Hayward's queue, z times that of M/M/c with load M / z and A / z servers, misses rare crowds; what a
        convolution of
        the volumes finds beyond A misses how long a crowd stays. Their sum is kept, and never more than without
        aliases.

        Parameters
        ----------
        aliases : array_like of int
            Numbers of aliases, (counts,).

        Returns
        -------
        ndarray, shape (counts,)
            I/Os queued [1].
        """
        asked = np.atleast_1d(np.asarray(aliases, dtype=float))
        z, mean = self.peakedness, max(float(self.mean_usage.sum()), 1e-12)
        total = np.ones(1)
        for volume in self.usage.T:
            total = np.convolve(total, volume)[:MOST_IN_USE]
        held = np.arange(total.size)
        beyond = np.maximum(held - asked[:, None], 0.0) @ total
        found: Array = np.minimum(z * erlang_queue(mean / z, asked / z) + beyond, self.alone.sum())
        return found

    def predict(self, aliases: ArrayLike) -> PoolPrediction:
        """Figures of the whole pool; between none and enough aliases the rates follow the queue.

        Parameters
        ----------
        aliases : array_like of int
            Numbers of aliases, (counts,).

        Returns
        -------
        PoolPrediction
            Arrays (counts,).
        """
        queue = self.queued(aliases)
        left = np.clip(queue / max(float(self.alone.sum()), 1e-300), 0.0, 1.0)
        rate = left * self.alone_rate.sum() + (1 - left) * self.rate.sum()
        alone = float((self.alone_rate * self.readings.rows.service).sum() / self.alone_rate.sum())
        service = left * alone + (1 - left) * float(self.busy.sum() / self.rate.sum())
        return PoolPrediction(rate=rate, queue=queue, service=service, wait=queue / rate)

    def volume_queues(self, aliases: ArrayLike) -> Array:
        """I/Os queued at each volume: all in proportion to what they ask beyond their base.

        Parameters
        ----------
        aliases : array_like of int
            Numbers of aliases, (counts,).

        Returns
        -------
        ndarray, shape (volumes, counts)
            I/Os queued [1].
        """
        total = self.queued(aliases)
        left = np.clip(total / max(float(self.alone.sum()), 1e-300), 0.0, 1.0)
        crowd = self.variance + self.mean_usage**2
        many = crowd / max(float(crowd.sum()), 1e-300)
        few = self.alone / max(float(self.alone.sum()), 1e-300)
        share = many[:, None] * (1 - left) + few[:, None] * left
        return np.asarray(share * total)

    def point_and_range(self, target: AliasTarget | None = None) -> tuple[int, int, int]:
        """Count and range: from .6 to 1.8 times the count.

        Parameters
        ----------
        target : AliasTarget, optional
            By default wait at most 5 % of service, over the whole pool.

        Returns
        -------
        tuple of int
            Count, low and high end; at most as many as there are addresses beside the bases.
        """
        target = target or AliasTarget()
        last = max(MOST_ALIASES + 1 - self.readings.volumes, 0)
        met = target.met(self.predict(np.arange(last + 1)))
        point = int(np.argmax(met)) if met.any() else last
        low, high = int(LOW * point), int(np.ceil(HIGH * point))
        if self.in_use and not self.readings.growth:
            if self.met_in_use(target):
                point, high = min(point, self.in_use), min(high, self.in_use)
            elif self.missed_in_use(target):
                point, low = max(point, self.in_use + 1), max(low, self.in_use + 1)
        return point, min(low, point), min(max(high, point + 1 if point else 1), last)

    def met_in_use(self, target: AliasTarget) -> bool:
        """Whether the measurement itself, at the upper end of its digits, meets the target."""
        return self._reached(target, self.readings.rows.queue_high)

    def missed_in_use(self, target: AliasTarget) -> bool:
        """Whether it misses the target even at the lower end of its digits."""
        return not self._reached(target, np.maximum(self.readings.rows.queue_low, 0.0))

    def _reached(self, target: AliasTarget, queues: Array) -> bool:
        rows = self.readings.rows
        rate, queue = np.array([rows.rate.sum()]), np.array([queues.sum()])
        service = (rows.rate * rows.service).sum() / rate
        return bool(target.met(PoolPrediction(rate=rate, wait=queue / rate, service=service, queue=queue))[0])


def read_pool(
    io_rate: Interval, service: Interval, queued: Interval, *, aliases: int = 0, law: Law, growth: float = 0.0
) -> PoolReadings:
    """Read the volumes of one pool and what they ask of its aliases.

    An I/O takes an alias where its base is busy, and stays there. With enough aliases volume v uses a_v of them;
    their laws follow
    from the readings of the volume with unlimited servers. The pool is then queued(A) of `PoolReadings`. Without
    aliases
    in use every volume is read for itself. With A in use the volumes are read as if without aliases, each with the same
    multiple of the wait of Poisson arrivals, such that the pool with A aliases has the queue that was measured.

    Parameters
    ----------
    io_rate, service, queued : Interval
        Of every volume, (volumes,) [1/s], [s], [I/Os].
    aliases : int, optional
        Of the pool, in use at the time.
    law : Law
        Inflation and redrive gap of the devices.
    growth : float, optional
        Share by which the demand grows.

    Returns
    -------
    PoolReadings
        Counts are totals of the pool.

    Raises
    ------
    InputError
        As of `read_volumes`.

    References
    ----------
    Fredericks (1980), Congestion in blocking systems, BSTJ 59, for Hayward's approximation; Wilkinson (1956),
    Theories for toll traffic
    engineering, BSTJ 35.
    """
    if aliases == 0:
        read = read_volumes(io_rate, service, queued, law=law)
        return _combined(read.grown(growth) if growth else read, 0, float(read.rows.queue.sum()))
    rows = make_rows(io_rate, service, queued, 0)
    measured = float(max(rows.queue.sum(), rows.queue_high.sum() / 6))

    rate, alone = rows.rate.copy(), rows.service.copy()
    shown = np.maximum(rows.queue, rows.queue_high / 3)
    found: PoolReadings | None = None
    low, high = MULTIPLES
    middle, there = 0.0, measured
    for halvings in HALVINGS_IN_USE:
        poisson = open_queue(rate * alone, law.redrive_time / alone)
        longest = np.maximum(LONGEST_WAIT * rate * alone, poisson)
        for _ in range(halvings):
            middle = 0.5 * (low + high)
            queue = np.where(
                middle < 0, np.exp(middle) * poisson, np.maximum(poisson, np.exp(middle) * shown)
            )
            queue = np.minimum(queue, longest)
            asked = replace(rows, rate=rate, service=alone, queue=queue, queue_low=queue, queue_high=queue)
            found = _combined(read_rows(asked, law, COARSE, priors.ONE_ROW), aliases, float(rows.queue.sum()))
            there = float(found.queued([aliases])[0])
            low, high = (low, middle) if there > measured else (middle, high)
        assert found is not None
        # Rate and service were measured with the aliases in use, the readings are of volumes without.
        left = min(there / max(float(found.alone.sum()), 1e-300), 1.0)
        rate = rate * rows.rate / (left * found.alone_rate + (1 - left) * found.rate)
        alone = rows.service / np.maximum(found.busy / found.rate / found.lone, 1.0) ** (1 - left)
        low, high = max(middle - AGAIN, MULTIPLES[0]), min(middle + AGAIN, MULTIPLES[1])
    assert found is not None
    if growth:
        found = _combined(found.readings.grown(growth), aliases, found.measured)
    return replace(
        found, readings=replace(found.readings, rows=replace(rows, devices=np.ones_like(rows.rate)))
    )


def open_queue(load: Array, gap: Array) -> Array:
    """Queue of Poisson arrivals at one device, the load held below saturation."""
    load = np.minimum(load, LARGEST_LOAD / (1 + gap))
    one = np.ones_like(load)
    found: Array = chains.batches(chains.Station(most=1, inflation=0.0, gap=gap), load, one, one).queue[0]
    return found


def erlang_queue(load: float, servers: Array) -> Array:
    """Mean queue of M/M/c at real-valued c; inf where the load is not below it."""
    inside = servers > load
    c = np.where(inside, servers, load + 1.0)
    log_b = c * np.log(load) - load - gammaln(c + 1) - np.log(gammaincc(c + 1, load))
    blocked = np.exp(log_b)
    delayed = blocked / (1 - load / c * (1 - blocked))
    return np.where(inside, delayed * load / (c - load), np.inf)


def _combined(readings: Readings, in_use: int, measured: float) -> PoolReadings:
    """Combine the readings of the volumes of one pool, read as without aliases."""
    readings = _bounded(readings)
    steady = np.isin(readings.layout.kind, kinds.STEADY)
    strong = (readings.layout.kind == kinds.ON_OFF) & (readings.layout.number >= STRONG)
    weight = np.where((readings.steady[:, None] & ~steady) | strong, 0.0, readings.weight)
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, readings.weight)
    weight = np.where(weight >= LEAST_WEIGHT, weight, 0.0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    levels = LEVELS
    laws = np.nan_to_num(present(replace(readings, weight=weight), levels))
    laws[0] = np.where(weight > 0, laws[0], 1.0)
    usage = alias_law(laws, np.where(weight > 0, base_busy(readings, laws), 0.0))
    n = np.arange(levels + 1)
    mean, square = (np.tensordot(n**power, usage, axes=1) for power in (1, 2))
    weight = _trimmed(weight, square)
    steps = chains.Station(most=levels, inflation=readings.law.inflation, gap=np.zeros(1)).steps
    busy, rate = np.tensordot(n, laws, axes=1), np.tensordot(steps, laws, axes=1) / readings.service_time
    alone = replace(readings, weight=weight).predict([0])
    bounded = np.where(np.isfinite(alone.queue[..., 0]), alone.queue[..., 0], 0.0)

    def over_readings(values: Array) -> Array:
        return np.asarray(np.nansum(weight * np.where(weight > 0, values, 0.0), axis=1))

    queue = (
        readings.rows.queue
        if readings.growth == 0
        else np.maximum(over_readings(bounded), readings.rows.queue)
    )
    return PoolReadings(
        readings=readings, in_use=in_use, measured=measured, usage=np.einsum("nvk,vk->nv", usage, weight),
        variance=over_readings(square - mean**2), busy=over_readings(busy), rate=over_readings(rate),
        lone=over_readings(readings.service_time), alone=queue,
        alone_rate=over_readings(alone.rate[..., 0]),
    )  # fmt: skip


def _trimmed(weight: Array, size: Array) -> Array:
    """Weights without the readings that ask most of the aliases: a few unlikely ones would rule the mean of a pool."""
    order = np.argsort(np.where(weight > 0, size, np.inf), axis=1)
    below = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1) - np.take_along_axis(
        weight, order, axis=1
    )
    kept = np.zeros_like(weight)
    np.put_along_axis(kept, order, (below < TRIMMED_AT).astype(float), axis=1)
    kept *= weight
    found: Array = kept / kept.sum(axis=1, keepdims=True)
    return found


def _bounded(readings: Readings) -> Readings:
    """Volumes that never idle are read with a wait of three services: what they ask beyond is unknown."""
    saturated = np.flatnonzero(readings.saturated)
    if saturated.size == 0 or readings.growth:
        return readings
    waits = readings.rows.queue / (readings.rows.rate * readings.rows.service)
    waits[saturated] = SATURATED_WAIT
    found = readings.with_queues(np.arange(readings.volumes), waits)
    return replace(found, rows=readings.rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolPrediction(Prediction):
    """A `Prediction` of a whole pool: arrays (counts,)."""
