"""From rows of averages to the free number of each reading: where its queue is the measured one.

The unit of time is the service time of a lone I/O, S0: measured service / growth of the reading, found in a few passes.
With c devices in use a reading must reproduce load X S0 and queue Q at c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.demand import chains, kinds
from planner.demand.kinds import Demands, Layout
from planner.results import Array

Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

FREE: Final = {
    kinds.BATCHES: ("batch", 1e-6, 1e4),
    kinds.MIXED: ("batch", 1e-6, 1e4),
    kinds.LONG: ("batch", 1e-6, 1e4),
    kinds.FIXED: ("batch", 1e-6, 2e3),
    kinds.PERIODIC: ("batch", 1e-6, 2e3),
    kinds.ON_OFF: ("on_time", 1e-4, 1e8),
    kinds.VARIABLE: ("ratio", 1e-3, 1e3),
}
THINK: Final = (1e-7, 1e9)
PASSES: Final = 3  # to the service time of a lone I/O, with aliases in use
IDLE: Final = (1e-5, 1e7)  # idle capacity over load
STEPS: Final = 60
NEAR: Final = 1e-10  # in the logarithm of a queue, or in half digits
CROWDED: Final = 0.8  # share of the elements still sought below which the others are left out
EDGE: Final = 1e-6  # strain within which what is found lies on the edge of the digits
NARROW: Final = 1e-10  # in the logarithm of a free number
SLACK: Final = 0.04  # a wait that requesters without think time reach but for rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredRows:
    """What was measured, (volumes,): rate [1/s], service [s], queue and its ends [I/Os], devices in use."""

    rate: Array
    service: Array
    queue: Array
    queue_low: Array
    queue_high: Array
    service_low: Array
    service_high: Array
    rate_low: Array
    rate_high: Array
    devices: Array

    def of(self, index: object) -> MeasuredRows:
        """Some of them."""
        return MeasuredRows(**{item.name: getattr(self, item.name)[index] for item in fields(self)})


def root(of: Callable[[Indices], Callable[[Array], Array]], low: Array, high: Array) -> tuple[Array, Flags]:
    """Zeros of increasing functions, and whether they lie between the ends: inverse quadratic (Chandrupatla 1997)."""
    place = np.arange(low.size)
    function = of(place)
    b, a = low.copy(), high.copy()
    at_b, at_a = function(b), function(a)
    found = (at_b <= 0) & (at_a >= 0)
    c, at_c = a.copy(), at_a.copy()
    best = np.where(at_b > 0, low, high)
    share = np.full(low.shape, 0.5)
    open_yet = found
    for _ in range(STEPS):
        if open_yet.sum() < CROWDED * place.size:
            place = place[open_yet]
            a, b, c, at_a, at_b, at_c, share = (each[open_yet] for each in (a, b, c, at_a, at_b, at_c, share))
            function, open_yet = of(place), np.ones(place.size, dtype=bool)
        if not place.size:
            break
        guess = a + share * (b - a)
        value = function(guess)
        same = np.sign(value) == np.sign(at_a)
        c, at_c = np.where(same, a, b), np.where(same, at_a, at_b)
        b, at_b = np.where(same, b, a), np.where(same, at_b, at_a)
        a, at_a = guess, value
        nearer = np.abs(at_a) < np.abs(at_b)
        best[place[open_yet]] = np.where(nearer, a, b)[open_yet]
        width = np.abs(b - a)
        open_yet = open_yet & (np.where(nearer, np.abs(at_a), np.abs(at_b)) >= NEAR) & (width >= NARROW)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            x, y = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
            bent = (1 - np.sqrt(1 - x) < y) & (y < np.sqrt(x))
            step = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            step += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
            margin = np.minimum(0.5, 0.25 * NARROW / width)
        share = np.where(bent & np.isfinite(step), step, 0.5)
        share = np.clip(share, margin, 1 - margin)
    return best, found


def invert(rows: MeasuredRows, layout: Layout, inflation: float, gap_time: float) -> tuple[Demands, Array]:
    """Demands that reproduce every row, and the service time of a lone I/O [s], (volumes, readings)."""
    shape = (rows.rate.size, layout.kind.size)
    demands = Demands.empty(shape)
    service = np.broadcast_to(rows.service[:, None], shape).copy()
    for kind in np.unique(layout.kind).tolist():
        where = layout.columns(kind)
        width = where.stop - where.start
        number, own = (np.tile(each[where], shape[0]) for each in (layout.number, layout.own))
        found, alone = _one_kind(kind, number, own, repeated(rows, width), inflation, gap_time)
        for key, value in found.items():
            getattr(demands, key)[:, where] = value.reshape(shape[0], width)
        service[:, where] = alone.reshape(shape[0], width)
    return demands, service


def repeated(rows: MeasuredRows, times: int) -> MeasuredRows:
    """Each volume so many times."""
    return MeasuredRows(**{item.name: np.repeat(getattr(rows, item.name), times) for item in fields(rows)})


def _one_kind(
    kind: int, number: Array, own: Array, rows: MeasuredRows, inflation: float, gap_time: float
) -> tuple[dict[str, Array], Array]:
    """Parameters of one kind at every element, nan where it cannot reach the row, and the lone service time."""
    alone = rows.service.copy()
    several = (rows.devices > 1) & (inflation > 0)
    steady = kind in kinds.STEADY
    passes = np.where(
        several, PASSES, 2 if steady and gap_time > 0 else 1
    )  # each its own, whatever stands beside it
    found = {item.name: np.full(alone.shape, np.nan) for item in fields(Demands)}
    for k in range(int(passes.max(initial=1))):
        some = np.flatnonzero(passes > k)
        theirs = rows.of(some)
        gap = gap_time / alone[some]
        station = chains.DeviceStation(most=int(rows.devices.max()), inflation=inflation, gap=gap)
        part, good = _inverted(kind, number[some], own[some], theirs, theirs.rate * alone[some], station)
        rate, _, busy = kinds.one_kind(kind, station, part).at(theirs.devices)
        if steady:  # S0 = (X S0) / X, within the digits of the service time
            alone[some] = rate / theirs.rate
        else:
            served = good & (busy > 0) & (rate > 0)
            growth = np.where(served & several[some], busy / np.maximum(rate, 1e-300), 1.0)
            alone[some] = theirs.service / growth
        for key, value in part.items():
            found[key][some] = np.where(good, value, np.nan)
    return found, alone


def _inverted(
    kind: int, number: Array, own: Array, rows: MeasuredRows, load: Array, station: chains.DeviceStation
) -> tuple[dict[str, Array], Flags]:
    one = np.ones_like(load)
    nothing = {item.name: np.full(load.shape, np.nan) for item in fields(Demands)}
    if kind in (kinds.CLOSED, kinds.ACTIVE):
        return _requesters(kind, number, own, rows, load, station)
    part = {**nothing, "load": own * load, "single": (1 - own) * load}
    if kind == kinds.POISSON:
        return _balanced(part, "load", rows, station)
    good = load < station.over[rows.devices.astype(np.int64) - 1, np.arange(load.size)]
    part["share"] = number if kind in (kinds.BATCHES, kinds.MIXED, kinds.LONG) else part["share"]
    part["even"] = number if kind == kinds.PERIODIC else part["even"]
    if kind == kinds.ON_OFF:
        good &= number > 1.02 * load
        part["on_load"] = np.where(good, number, 2 * load + 1)
    target = np.log(np.maximum(rows.queue, 1e-12))
    name, least, most = FREE[kind]
    offset = 1.0 if name == "batch" else 0.0

    def of(some: Indices) -> Callable[[Array], Array]:
        theirs, devices, own_target, at = (
            _some(part, some),
            rows.devices[some],
            target[some],
            station.of(some),
        )

        def excess(free: Array) -> Array:
            theirs[name] = offset + np.exp(free)
            _, queue, _ = kinds.one_kind(kind, at, theirs).at(devices)
            return np.asarray(np.minimum(np.log(np.maximum(queue, 1e-300)), 700.0) - own_target)

        return excess

    free, found = root(of, np.log(least) * one, np.log(most) * one)
    part[name] = offset + np.exp(free)
    return part, good & found


def _requesters(
    kind: int, number: Array, own: Array, rows: MeasuredRows, load: Array, station: chains.DeviceStation
) -> tuple[dict[str, Array], Flags]:
    """Requesters whose think time gives the wait; always active ones must give the rate as well, within the digits."""
    single, one = (1 - own) * load, np.ones_like(load)
    _, opened, _ = chains.batches(station, single, one, one).at(rows.devices)
    wait = np.maximum(rows.queue - opened, 0.0) / (own * load)
    people = fewest(wait, load, rows, station, steady=kind == kinds.CLOSED)
    scale = np.maximum(1.0, people / 10)
    people = people + np.round(number * scale)
    part = {item.name: np.full(load.shape, np.nan) for item in fields(Demands)}
    part["population"], part["active"], part["single"] = people, one, single
    if kind == kinds.CLOSED:
        return _balanced(part, "think", rows, station)
    target = np.log(np.maximum(wait, 1e-12))

    longer = chains.with_open(station, single)[rows.devices.astype(np.int64) - 1, np.arange(load.size)]

    def theirs(think: Array, some: Indices, at: chains.DeviceStation) -> tuple[Array, Array]:
        rate, queue, _ = chains.requesters(at, people[some], think, one[some]).at(rows.devices[some])
        return rate, queue * longer[some]

    def of(some: Indices) -> Callable[[Array], Array]:
        at = station.of(some)

        def excess(free: Array) -> Array:
            rate, queue = theirs(np.exp(-free), some, at)
            return np.log(np.maximum(queue, 1e-300)) - np.log(np.maximum(rate, 1e-300)) - target[some]

        return excess

    low, high = (np.full(load.shape, np.log(end)) for end in THINK)
    free, found = root(of, -high, -low)
    part["think"] = np.exp(-free)
    rate, queue = theirs(part["think"], np.arange(load.size), station)
    near = queue / np.maximum(rate, 1e-300) > wait * (1 - SLACK)
    part["active"] = own * load / np.maximum(rate, 1e-300)
    good = (found | near) & (part["active"] <= 1 + SLACK) & (wait > 0)
    part["active"] = np.minimum(part["active"], 1.0)
    return part, good


def _balanced(
    part: dict[str, Array], name: str, rows: MeasuredRows, station: chains.DeviceStation
) -> tuple[dict[str, Array], Flags]:
    """Steady readings have one free number for two measured: it strains the digits of service and queue alike."""
    kind = kinds.POISSON if name == "load" else kinds.CLOSED
    here = rows.devices.astype(np.int64) - 1, np.arange(rows.rate.size)
    most = station.over[here]

    def number(free: Array, most: Array) -> Array:
        return most / (1 + np.exp(-free)) if name == "load" else np.exp(-free)

    def of(some: Indices) -> Callable[[Array], Array]:
        theirs, at, measured, own_most = _some(part, some), station.of(some), rows.of(some), most[some]

        def excess(free: Array) -> Array:
            theirs[name] = number(free, own_most)
            figures = kinds.one_kind(kind, at, theirs).at(measured.devices)
            of_service, of_queue = strains(*figures, measured)
            return np.clip(of_service + of_queue, -1e9, 1e9)

        return excess

    low, high = (np.full(rows.rate.shape, np.log(end)) for end in (IDLE if name == "load" else THINK))
    free, _ = root(of, -high, -low)
    part[name] = number(free, most)
    return part, np.ones(rows.rate.shape, dtype=bool)


def _some(part: dict[str, Array], some: Indices) -> dict[str, Array]:
    """Parameters of some elements."""
    return {key: value[some] for key, value in part.items()}


def strains(rate: Array, queue: Array, busy: Array, rows: MeasuredRows) -> tuple[Array, Array]:
    """How far service and queue of a guess lie off, in half widths of what the digits leave open."""
    return (
        _strain(busy / rows.rate, rows.service_low, rows.service, rows.service_high),
        _strain(queue, rows.queue_low, rows.queue, rows.queue_high),
    )


def _strain(guess: Array, low: Array, value: Array, high: Array) -> Array:
    half = np.where(guess >= value, high - value, value - low)
    found: Array = (guess - value) / np.maximum(half, np.maximum(1e-6 * np.abs(value), 1e-9))
    return found


def on_edge(strain: Array) -> Array:
    """Strains, exactly 1 where but for rounding: there lies one requester, who never waits, and fits a queue of .00."""
    return np.where(np.abs(strain - 1.0) <= EDGE, 1.0, strain)


def fewest(
    wait: Array, load: Array, rows: MeasuredRows, station: chains.DeviceStation, *, steady: bool
) -> Array:
    """Fewest requesters that can wait so long, thinking not at all: (N - c) / rate of c busy devices."""
    c = rows.devices
    over = station.over[c.astype(np.int64) - 1, np.arange(c.size)]
    if steady:
        present = np.maximum(rows.queue_low, 0.0) + rows.rate * rows.service_low
        return np.asarray(np.maximum(np.ceil(present - 1e-9), 1.0))
    found: Array = np.maximum(c + np.ceil(wait * over * (1 - SLACK) - 1e-9), c + 1.0)
    return found
