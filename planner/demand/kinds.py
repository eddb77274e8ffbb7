"""The kinds of demand that a row of averages may stand for, and what each does with every number of devices."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, Self

import numpy as np

from planner.demand import chains
from planner.results import Array, ArrayFields, Integers

KINDS: Final = (
    "poisson", "closed", "variable", "batches", "mixed batches", "fixed batches", "periodic", "active", "on-off",
    "long batches", "slow phases",
)  # fmt: skip
POISSON, CLOSED, VARIABLE, BATCHES, MIXED, FIXED, PERIODIC, ACTIVE, ON_OFF, LONG, SLOW = range(len(KINDS))
STEADY: Final = (POISSON, CLOSED)
SHARES: Final = (0.5,)  # of the I/Os that come in batches, mixed batches
FINE_SHARES: Final = (0.75, 0.5, 0.35, 0.2)
ON_LOADS: Final = (0.6, 0.7, 0.85, 1.0, 1.25, 1.6, 2.0, 2.5, 4.0, 8.0)
FINE_ON_LOADS: Final = (
    0.5, 0.6, 0.7, 0.85, 1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 3.2, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0,
)  # fmt: skip
CLOSED_STEPS: Final = (0, 1, 2, 3, 4, 6, 9, 13, 29)  # requesters above the fewest that reach the queue
ACTIVE_STEPS: Final = (0, 1, 2, 3, 4, 5)
FINE_ACTIVE_STEPS: Final = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22)
# Of the I/Os that come on top of the others in slow phases. Of lognormal rates (`tests.demand.accuracy --slow`) .04 to
# .15 leave the need in the range; with all I/Os it lies one below.
SLOW_SHARES: Final = (0.15,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout(ArrayFields):
    """The candidate of each column, (columns,).

    `kind`; its fixed `number` (share in batches, steps, load while on, evenness of the service); the `own` share of the
    I/Os: the others are open arrivals beside it.
    """

    kind: Integers
    number: Array
    own: Array

    def columns(self, kind: int) -> slice:
        """Columns of a kind."""
        where = np.flatnonzero(self.kind == kind)
        return slice(int(where[0]), int(where[-1]) + 1) if where.size else slice(0, 0)

    def only(self, kinds: tuple[int, ...]) -> Layout:
        """The columns of some kinds."""
        return self.of(np.isin(self.kind, kinds))


def _layout(
    steps: tuple[int, ...], shares: tuple[float, ...], loads: tuple[float, ...], even: tuple[float, ...] = (0.0,),
    beside: tuple[float, ...] = (),
) -> Layout:  # fmt: skip
    """All kinds by their fixed numbers; `even`: 0 exponential, 1 constant service; `beside`: further `own` shares."""
    long_shares = (0.6, 1.0)  # of the I/Os that come in flushes: batches of which some are far larger
    numbers: tuple[tuple[float, ...], ...] = (
        (0,), CLOSED_STEPS, (0,), (1.0,), shares, (0,), even, steps, loads, long_shares, SLOW_SHARES,
    )  # fmt: skip
    with_others = {PERIODIC: even, ACTIVE: ACTIVE_STEPS}
    columns = [
        (kind, number, own)
        for kind, alone in enumerate(numbers)
        for own in ((1.0, *beside) if kind in with_others else (1.0,))
        for number in (alone if own == 1 else with_others[kind])
    ]
    kind, number, own = zip(*columns, strict=True)
    return Layout(kind=np.array(kind), number=np.array(number, dtype=float), own=np.array(own))


COARSE: Final = _layout(ACTIVE_STEPS, SHARES, ON_LOADS)
FINE: Final = _layout(FINE_ACTIVE_STEPS, FINE_SHARES, FINE_ON_LOADS, even=(0.0, 0.6), beside=(0.7, 0.35))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demands(ArrayFields):
    """Parameters of every candidate of every volume, each (volumes, candidates), nan where the kind has none.

    `load` offered I/Os a service time, of all kinds but requesters; `batch` mean I/Os of a batch, `share` of all in
    batches; `population`, `think` [service times] and `active` share of time of requesters; `on_load` I/Os a service
    time while on and `on_time` [service times]; `ratio` of the wait to that of exponential service; `even`, from 0 for
    exponential to 1 for constant service, of groups; `single` open arrivals a service time beside requesters or groups.
    """

    load: Array
    batch: Array
    share: Array
    population: Array
    think: Array
    active: Array
    on_load: Array
    on_time: Array
    ratio: Array
    even: Array
    single: Array

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Self:
        """All unused."""
        return cls(**{item.name: np.full(shape, np.nan) for item in fields(cls)})

    def grown(self, growth: Array) -> Demands:
        """The demand grown by a share: I/Os and batches more often, more requesters, stronger phases."""
        factor = 1 + growth
        return replace(
            self,
            load=self.load * factor, population=self.population * factor, on_load=self.on_load * factor,
            single=self.single * factor,
        )  # fmt: skip


def solve(
    demands: Demands, layout: Layout, most: int, inflation: float, gap: Array, *, tries: bool = False
) -> tuple[chains.Figures, Array]:
    """Figures of candidates with 1 to `most` devices, (devices, volumes, candidates), and share of failing tries."""
    results = np.full((6, most, *gap.shape), np.nan)
    people = np.isin(layout.kind, (CLOSED, ACTIVE))
    there = np.isfinite(np.where(people, demands.population, demands.load))
    for kind in np.unique(layout.kind[there.any(axis=0)]).tolist():
        row, column = np.nonzero(there & (layout.kind == kind))
        part = demands.of((row, column))
        station = chains.DeviceStation(most=most, inflation=inflation, gap=gap[row, column])
        found = one_kind(kind, station, part)
        without = no_alias(kind, station, part, found) if tries else np.nan
        for values, each in zip(results, (*found, without), strict=True):
            values[:, row, column] = each
    *figures, shares = results
    return chains.Figures(*figures), shares


def one_kind(kind: int, station: chains.DeviceStation, part: Demands) -> chains.Figures:
    """Figures of candidates of one kind, (devices, elements)."""
    load = part.load
    if kind in (CLOSED, ACTIVE, PERIODIC):
        if kind == PERIODIC:
            found = chains.groups(station, load, part.batch, part.even)
        else:
            found = chains.requesters(station, part.population, part.think, part.active)
        return chains.beside(station, found, part.single)
    if kind == ON_OFF:
        return chains.phases(station, load, part.on_load, part.on_time)
    if kind == SLOW:
        return chains.slow_phases(station, load, part.on_load, part.share)
    if kind == FIXED:
        return chains.fixed_batches(station, load, part.batch)
    if kind == VARIABLE:
        return chains.variable(station, load, part.ratio)
    one = np.ones_like(load)
    sizes = (one, one) if kind == POISSON else (part.batch, part.share)
    return chains.batches(station, load, *sizes, chains.LONG_TAILED if kind == LONG else chains.GEOMETRIC)


def base_busy(
    kind: Integers, demands: Demands, mean: Array, growth: Array, picked: Array | float = 0.0
) -> Array:
    """Share of the time that the base is busy, (..., elements), with `mean` I/Os present of `growth` service times.

    An I/O takes the base only if it comes while the base is free: of instants of rate a each does with the chance that
    it is free, a / (1 + a); phases are a chain of four states, requesters a balance of flows. `picked` is the share of
    the time in which the base serves what had waited.
    """
    batch = np.where(np.isfinite(demands.batch), demands.batch, 1.0)
    share = np.where(np.isfinite(demands.share), demands.share, 1.0)
    instants = demands.load * (share / batch + 1 - share) * growth
    picked = np.broadcast_to(picked, instants.shape)
    found = (instants + picked) / (1 + instants)
    found = np.where(kind == PERIODIC, np.minimum(instants + picked, 1.0), found)
    phases, slow, requesters = kind == ON_OFF, kind == SLOW, np.isin(kind, (CLOSED, ACTIVE))
    for some, busy in ((phases, _phase_busy), (slow, _slow_busy), (requesters, _requester_busy)):
        found[..., some] = busy(demands.of(some), mean[..., some], growth[..., some], picked[..., some])
    return np.asarray(np.clip(found, 0.0, 1.0))


def _phase_busy(demands: Demands, mean: Array, growth: Array, picked: Array) -> Array:
    """M/M/1/1 in phases: with the base busy b1 while on and b0 while off, balances of both and of the phases."""
    on, back, _ = _on_busy(demands, growth, picked)
    return np.asarray(on * (1 + back))


def _slow_busy(demands: Demands, mean: Array, growth: Array, picked: Array) -> Array:
    """M/M/1/1 in each of two long phases; what waited is served in the stronger one."""
    least, on = chains.slow_levels(demands.load, demands.on_load, demands.share)
    low, high = least * growth, demands.on_load * growth
    return np.asarray((1 - on) * low / (1 + low) + (on * high + picked) / (1 + high))


def _on_busy(demands: Demands, growth: Array, picked: Array) -> tuple[Array, Array, Array]:
    """Share of the time on with the base busy, that off over it, and the share on; what waited is served while on."""
    alpha = growth / demands.on_time
    share = np.minimum(demands.load / demands.on_load, 1 - 1e-9)
    beta = alpha * share / (1 - share)
    rate = demands.on_load * growth
    # b0 (1 + beta) = alpha b1;  b1 (1 + alpha) = rate (share - b1) + picked + beta b0
    back = alpha / (1 + beta)
    on = (rate * share + picked) / (1 + alpha + rate - beta * back)
    return np.minimum(on, share), back, share


def _requester_busy(demands: Demands, mean: Array, growth: Array, picked: Array) -> Array:
    """Base busy y while active: y = (1 - y) (N - n + y) s / Z + what it picks up, with n - y I/Os at aliases."""
    active = np.where(np.isfinite(demands.active), demands.active, 1.0)
    idle = np.maximum(demands.population - mean / np.maximum(active, 1e-12), 0.0)
    think = demands.think / growth
    half = (1 - idle - think) / 2
    return active * np.clip(half + np.sqrt(half**2 + idle + picked / active * think), 0.0, 1.0)


def no_alias(kind: int, station: chains.DeviceStation, demands: Demands, found: chains.Figures) -> Array:
    """Share of the I/Os that find their base busy which find no alias either, (devices, elements); 1 without any."""
    rate = found.rate
    growth = np.where(np.isfinite(found.service), found.service, 1.0)
    picked = found.waits / station.devices * (growth + station.gap)
    mean = found.busy + found.gap + np.where(np.isfinite(found.queue), found.queue, 0.0)
    if kind == ON_OFF:
        on, _, share = _on_busy(demands, growth, picked)
        tried = rate * on / share
    elif kind == PERIODIC:
        tried = rate * (1 - 1 / demands.batch)
    else:
        kind_of = np.full(rate.shape[-1], kind)
        tried = rate - (base_busy(kind_of, demands, mean, growth, picked) - picked) / growth
    tried = np.clip(tried, found.waits, None)
    without = np.minimum(found.waits / np.where(tried > 0, tried, 1.0), 1.0)
    without[0] = 1.0
    return np.asarray(without)
