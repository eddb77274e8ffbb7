"""From rows of averages to the free number of each candidate: where its queue is the measured one.

The unit of time is the service time of a lone I/O, S0: measured service time over the candidate's inflation, found in
a few passes. With c devices in use a candidate must reproduce load X S0 and queue Q at c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from planner.demand import chains, kinds
from planner.demand.device_model import DeviceModel
from planner.demand.kinds import Demands, Layout
from planner.interval import Interval
from planner.queueing._roots import increasing_root
from planner.results import Array, ArrayFields, Flags, Integers

FREE: Final = {  # the free number of each kind, and the ends between which it is looked for
    kinds.POISSON: ("load", 1e-5, 1e7),  # by the idle capacity over the load
    kinds.CLOSED: ("think", 1e-7, 1e9),
    kinds.ACTIVE: ("think", 1e-7, 1e9),
    kinds.BATCHES: ("batch", 1e-6, 1e4),
    kinds.MIXED: ("batch", 1e-6, 1e4),
    kinds.LONG: ("batch", 1e-6, 1e4),
    kinds.FIXED: ("batch", 1e-6, 2e3),
    kinds.PERIODIC: ("batch", 1e-6, 2e3),
    kinds.ON_OFF: ("on_time", 1e-4, 1e8),
    kinds.VARIABLE: ("ratio", 1e-3, 1e3),
    kinds.SLOW: ("on_load", 1e-9, 1e9),  # by its excess over the load, over the idle capacity then
}
TOLERANCE: Final = 1e-10  # of the function whose zero is looked for
NEAR: Final = 0.1  # between the free numbers of two passes, in logarithms
SLACK: Final = 0.04  # a wait that requesters without think time reach but for rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredRows(ArrayFields):
    """What was measured, (volumes,): rate [1/s], service [s], queue and its ends [I/Os], devices in use."""

    rate: Array
    service: Array
    queue: Array
    queue_low: Array
    queue_high: Array
    service_low: Array
    service_high: Array
    devices: Array


def root(
    function: Callable[[Array, Integers], Array], low: Array, high: Array, guess: Array | None = None
) -> tuple[Array, Flags]:
    """Zeros of an increasing function of a number and its place, sought next to a `guess` first; which were found."""
    least, most = low, high
    if guess is not None:
        least, most = np.maximum(guess - NEAR, low), np.minimum(guess + NEAR, high)

    def settled(free: Array, some: Array) -> Array:
        found = function(free, some.astype(np.int64))
        return np.where(np.abs(found) < TOLERANCE, 0.0, found)

    best = increasing_root(settled, least, most, [np.arange(float(low.size))])
    found = (best > least) & (best < most)
    missed = np.flatnonzero(~found)
    if guess is not None and missed.size:
        best[missed], found[missed] = root(
            lambda free, some: function(free, missed[some]), low[missed], high[missed]
        )
    return best, found


def invert(rows: MeasuredRows, layout: Layout, device_model: DeviceModel) -> tuple[Demands, Array]:
    """Demands that reproduce every row, and the service time of a lone I/O [s], (volumes, candidates)."""
    shape = (rows.rate.size, layout.kind.size)
    demands, service = Demands.empty(shape), np.empty(shape)
    for kind in np.unique(layout.kind).tolist():
        row, column = np.nonzero(np.tile(layout.kind == kind, (shape[0], 1)))
        found, service[row, column] = _one_kind(kind, layout.of(column), rows.of(row), device_model)
        for item in fields(found):
            getattr(demands, item.name)[row, column] = getattr(found, item.name)
    return demands, service


def _one_kind(
    kind: int, layout: Layout, rows: MeasuredRows, device_model: DeviceModel
) -> tuple[Demands, Array]:
    """Parameters of one kind at every element, nan where it cannot reach the row, and the lone service time."""
    alone = rows.service.copy()
    several = (rows.devices > 1) & (device_model.inflation > 0)
    steady = kind in kinds.STEADY
    # Each its own number of passes, whatever stands beside it.
    passes = np.where(several, 3, 2 if steady and device_model.redrive_time > 0 else 1)
    found, free = Demands.empty(alone.shape), np.full(alone.shape, np.nan)
    for k in range(int(passes.max(initial=1))):
        some = np.flatnonzero(passes > k)
        theirs = rows.of(some)
        gap = device_model.redrive_time / alone[some]
        station = chains.DeviceStation(
            most=int(rows.devices.max()), inflation=device_model.inflation, gap=gap
        )
        guess = free[some] if k else None
        part, good, free[some] = _inverted(
            kind, layout.of(some), theirs, theirs.rate * alone[some], station, guess
        )
        rate, _, busy = kinds.one_kind(kind, station, part).at(theirs.devices)
        if steady:  # S0 = (X S0) / X, within the digits of the service time
            alone[some] = rate / theirs.rate
        else:
            served = good & (busy > 0) & (rate > 0) & several[some]
            alone[some] = theirs.service / np.where(served, busy / np.maximum(rate, 1e-300), 1.0)
        for item in fields(found):
            getattr(found, item.name)[some] = np.where(good, getattr(part, item.name), np.nan)
    return found, alone


def _ends(kind: int, many: int) -> tuple[Array, Array]:
    """Logarithms of the ends between which the free number of a kind is looked for."""
    _, least, most = FREE[kind]
    return np.full(many, np.log(least)), np.full(many, np.log(most))


def _inverted(
    kind: int, layout: Layout, rows: MeasuredRows, load: Array, station: chains.DeviceStation, guess: Array | None
) -> tuple[Demands, Flags, Array]:  # fmt: skip
    """Parameters with which a kind has the measured queue, where there are such, and the free number's logarithm."""
    number, own = layout.number, layout.own
    if kind in (kinds.CLOSED, kinds.ACTIVE):
        return _requesters(kind, layout, rows, load, station, guess)
    part = replace(Demands.empty(load.shape), load=own * load, single=(1 - own) * load)
    if kind == kinds.POISSON:
        return _balanced(kind, part, rows, station, guess)
    most = station.over[chains.own(rows.devices)]
    good = load < most
    if kind in (kinds.BATCHES, kinds.MIXED, kinds.LONG, kinds.SLOW):
        part = replace(part, share=number)
    elif kind == kinds.PERIODIC:
        part = replace(part, even=number)
    elif kind == kinds.ON_OFF:
        good &= number > 1.02 * load
        part = replace(part, on_load=np.where(good, number, 2 * load + 1))
    target = np.log(np.maximum(rows.queue, 1e-12))
    name = FREE[kind][0]

    def value(free: Array, load: Array, most: Array) -> Array:
        if kind == kinds.SLOW:  # between the load and what the devices serve
            return np.asarray(load + np.maximum(most - load, 0.0) / (1 + np.exp(-free)))
        return np.asarray(np.exp(free) + (name == "batch"))

    def excess(free: Array, some: Integers) -> Array:
        guess = replace(part.of(some), **{name: value(free, part.load[some], most[some])})
        _, queue, _ = kinds.one_kind(kind, station.of(some), guess).at(rows.devices[some])
        return np.asarray(np.minimum(np.log(np.maximum(queue, 1e-300)), 700.0) - target[some])

    free, found = root(excess, *_ends(kind, load.size), guess)
    return replace(part, **{name: value(free, part.load, most)}), good & found, free


def _requesters(
    kind: int, layout: Layout, rows: MeasuredRows, load: Array, station: chains.DeviceStation, guess: Array | None
) -> tuple[Demands, Flags, Array]:  # fmt: skip
    """Requesters whose think time gives the wait; always active ones must give the rate as well, within the digits."""
    own, one = layout.own, np.ones_like(load)
    single = (1 - own) * load
    _, opened, _ = chains.batches(station, single, one, one).at(rows.devices)
    wait = np.maximum(rows.queue - opened, 0.0) / (own * load)
    people = fewest(wait, load, rows, station, steady=kind == kinds.CLOSED)
    scale = np.maximum(1.0, people / 10)
    people = people + np.round(layout.number * scale)
    part = replace(Demands.empty(load.shape), population=people, active=one, single=single)
    if kind == kinds.CLOSED:
        return _balanced(kind, part, rows, station, guess)
    target = np.log(np.maximum(wait, 1e-12))
    longer = chains.with_open(station, single)[chains.own(rows.devices)]

    def theirs(free: Array, some: Integers) -> tuple[Array, Array]:
        found = chains.requesters(station.of(some), people[some], np.exp(-free), one[some])
        rate, queue, _ = found.at(rows.devices[some])
        return rate, queue * longer[some]

    def excess(free: Array, some: Integers) -> Array:
        rate, queue = theirs(free, some)
        return np.log(np.maximum(queue, 1e-300)) - np.log(np.maximum(rate, 1e-300)) - target[some]

    low, high = _ends(kind, load.size)
    free, found = root(excess, -high, -low, guess)
    think = np.exp(-free)
    rate, queue = theirs(free, np.arange(load.size))
    near = queue / np.maximum(rate, 1e-300) > wait * (1 - SLACK)
    active = own * load / np.maximum(rate, 1e-300)
    good = (found | near) & (active <= 1 + SLACK) & (wait > 0)
    return replace(part, think=think, active=np.minimum(active, 1.0)), good, free


def _balanced(
    kind: int, part: Demands, rows: MeasuredRows, station: chains.DeviceStation, guess: Array | None
) -> tuple[Demands, Flags, Array]:
    """Steady candidates have one free number for two measured ones: the residuals of service and queue cancel."""
    most = station.over[chains.own(rows.devices)]

    def guessed(part: Demands, free: Array, most: Array) -> Demands:
        if kind == kinds.POISSON:
            return replace(part, load=most / (1 + np.exp(-free)))
        return replace(part, think=np.exp(-free))

    def excess(free: Array, some: Integers) -> Array:
        measured = rows.of(some)
        found = kinds.one_kind(kind, station.of(some), guessed(part.of(some), free, most[some]))
        of_service, of_queue = strains(*found.at(measured.devices), measured)
        return np.clip(of_service + of_queue, -1e9, 1e9)

    low, high = _ends(kind, most.size)
    free, _ = root(excess, -high, -low, guess)
    return guessed(part, free, most), np.ones(most.shape, dtype=bool), free


def strains(rate: Array, queue: Array, busy: Array, rows: MeasuredRows) -> tuple[Array, Array]:
    """Normalized residuals of service time and queue of a guess: 1 is half of the width of the rounding."""
    service = Interval(rows.service_low, rows.service, rows.service_high) / rows.service
    return (
        service.residual(busy / (rows.rate * rows.service)),
        Interval(rows.queue_low, rows.queue, rows.queue_high).residual(queue),
    )


def on_edge(residual: Array) -> Array:
    """Residuals, exactly 1 where next to it: one requester, who never waits, lies there at a queue of .00 and fits."""
    return np.where(np.isclose(residual, 1.0, rtol=0.0, atol=1e-6), 1.0, residual)


def fewest(
    wait: Array, load: Array, rows: MeasuredRows, station: chains.DeviceStation, *, steady: bool
) -> Array:
    """Fewest requesters that can wait that long without think time: N - c wait for c busy devices."""
    c, over = rows.devices, station.over[chains.own(rows.devices)]
    if steady:
        present = np.maximum(rows.queue_low, 0.0) + rows.rate * rows.service_low
        return np.asarray(np.maximum(np.ceil(present - 1e-9), 1.0))
    return np.asarray(np.maximum(c + np.ceil(wait * over * (1 - SLACK) - 1e-9), c + 1.0))
