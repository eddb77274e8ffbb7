"""A page load on paging devices of one kind: whether they carry it, their utilization and response time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner import library, render
from planner.calibrate.error_bar import PROBABILITY, central, disturbed, possible
from planner.devices.paging import PagingDevice, PagingPerformance
from planner.devices.parameters import MODEL_ERROR
from planner.errors import InputError
from planner.interval import Interval
from planner.queueing import checks
from planner.queueing._roots import increasing_root
from planner.results import Array
from planner.units import MILLISECOND, given, is_number, readable

PAGING_KINDS: Final = ("eckd", "emulated-fba", "xiv-serialized", "xiv-concurrent")
LONGEST_RESPONSE: Final = 2.0  # default target, in service times: the wait may equal the service
ROUNDING: Final = 1e-12  # tolerance, so that rounding does not refuse a page rate that just fits
LIKELY: Final = ((1 - PROBABILITY) / 2, (1 + PROBABILITY) / 2)
"""Shares of the possible devices that meet the target at the ends of a range."""
LARGEST_DEAL: Final = 4_000  # requests, above which `at_random` would take too long


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingKind:
    """A shipped kind of paging device: `name`, `device`, and the `model` from which it was read.

    `possible` holds equally likely devices, arrays of shape (sets,): service times and pages per transfer that the fit
    allows, with the whole model error put on the service time.
    """

    name: str
    device: PagingDevice
    model: library.Model
    possible: PagingDevice = field(repr=False, compare=False)

    @property
    def machine(self) -> str:
        """Machine on which its processor times were measured."""
        return self.model.environment["machine"]

    @property
    def most_requests(self) -> float:
        """Largest number of requests per device that was measured."""
        return self.model.validity["outstanding"][1]

    def within(self, load: Load, count: int) -> tuple[Interval, Interval]:
        """Utilization and response time [s] of `count` devices, 90 %; inf where they do not carry the load."""
        best, drawn = (_solved(each, load, count) for each in (self.device, self.possible))
        return _around(best[0], drawn[0]), _around(best[1], drawn[1])


def _around(best: Array, drawn: Array) -> Interval:
    """The estimate and the central 90 % of the possible values."""
    (low,), (high,) = central(drawn[:, None])
    return Interval(float(min(low, best)), float(best), float(max(high, best)))


def kinds(names: Sequence[str] = ()) -> list[PagingKind]:
    """Read the shipped kinds of paging device in the order of `names`; all if empty."""
    found = []
    for name in dict.fromkeys([names] if isinstance(names, str) else names or PAGING_KINDS):
        InputError.unless_one_of("kind", name, PAGING_KINDS)
        model = library.read_model(f"paging-{name}")
        device, sets = PagingDevice.from_model(model), disturbed(model, possible(model, 64).sets)
        drawn: dict[str, Any] = {key: sets[key] for key in ("service_time", "pages_per_transfer")}
        drawn["service_time"] *= 1 + sets[MODEL_ERROR]
        found.append(PagingKind(name=name, device=device, model=model, possible=replace(device, **drawn)))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A page load and its target.

    `page_rate` [1/s]; `guests` that fault (None: random arrivals); `target` [s], by default twice the service time of
    each kind; `scv` is the squared coefficient of variation of a transfer's service time, which was not measured.
    """

    page_rate: float
    guests: int | None = None
    target: float | None = None
    scv: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an invalid load."""
        for name, check, unit in (
            ("page_rate", checks.positive, "1/s"), ("target", checks.positive, "s"),
            ("scv", checks.nonnegative, ""), ("guests", checks.positive, ""),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is None and name in {"target", "guests"}:
                continue
            if not is_number(value):
                raise InputError(name, value, "one number", unit)
            check(name, value, unit)
        if self.guests is not None:  # a slider gives 20.0
            object.__setattr__(self, "guests", int(checks.count("guests", self.guests)))

    @property
    def requests(self) -> int | None:
        """Requests, outstanding or in their think time; None for random arrivals."""
        # a guest waits for its fault read, and for the page write that makes room
        return None if self.guests is None else 2 * self.guests

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions, in sentences."""
        random = (
            f"Random page arrivals are assumed, one transfer at a time, with a service time of scv {given(self.scv)} "
            "(--scv); neither was measured. Bursts and batches queue longer than the range. All runs had guests that "
            "wait for their pages (--guests), which queue less."
        )
        free = "No target response time (--target): the wait may be as long as the service."
        return (*([random] if self.guests is None else []), *([free] if self.target is None else []))

    @property
    def within(self) -> str:
        """The target in words."""
        return "twice the service time" if self.target is None else f"{given(self.target / MILLISECOND)} ms"

    def target_of(self, device: PagingDevice) -> float:
        """Longest acceptable response time of a device [s]."""
        return LONGEST_RESPONSE * device.service_time if self.target is None else self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingOutcome:
    """Performance of `count` devices: `utilization`, `response_time` [s], `requests` present per device."""

    count: int
    utilization: float
    response_time: float
    requests: float


def carried_by(device: PagingDevice, load: Load) -> float:
    """Fewest devices that carry the page rate when always busy; a whole number."""
    return float(np.ceil(load.page_rate / np.max(device.capacity) * (1 - ROUNDING)))


def outcome(device: PagingDevice, load: Load, count: int) -> PagingOutcome:
    """Solve `count` devices with evenly distributed requests; response inf if they do not carry the load."""
    utilization, response, requests = map(float, _solved(device, load, count))
    return PagingOutcome(count=count, utilization=utilization, response_time=response, requests=requests)


def _solved(device: PagingDevice, load: Load, count: int) -> tuple[Array, Array, Array]:
    """Utilization, response time [s] and requests per device; `device` may hold arrays of possible devices."""
    if load.requests is None:
        alone = device.open(load.page_rate / count, scv=load.scv)
        return alone.utilization, alone.response_time, alone.requests
    return _Dealt(device=device, load=load, count=count, requests=load.requests).solved()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dealt:
    """Requests of guests distributed evenly over `count` devices: some have one more than the others."""

    device: PagingDevice  # service time and pages may be arrays of one shape; so are the results then
    load: Load
    count: int
    requests: int

    @property
    def devices(self) -> Array:
        """Number of devices with fewer requests, and of those with one more; the others are idle."""
        more = self.requests % min(self.count, self.requests)
        return np.array([min(self.count, self.requests) - more, more], dtype=np.float64)

    @property
    def round_time(self) -> Any:
        """Cycle time of a request at the page rate of the load [s]."""
        return self.requests * self.device.pages_per_transfer / self.load.page_rate

    def at(self, think_time: ArrayLike) -> PagingPerformance:
        """Solve one device of each of the two groups, on the first axis."""
        each = self.requests // min(self.count, self.requests)
        sorts = np.reshape([each, each + 1], (2, *(1,) * np.ndim(self.device.service_time)))
        return self.device.closed(sorts, think_time, scv=self.load.scv)

    def excess(self, solved: PagingPerformance) -> Array:
        """Page rate relative to the load, minus 1."""
        return np.asarray(self.devices @ solved.page_rate / self.load.page_rate - 1)

    def meets(self, target: ArrayLike) -> Array:
        """Whether the response time stays within the target if the guests think for the rest of a cycle."""
        solved = self.at(np.maximum(self.round_time - target, 0.0))
        quick = self.response(solved) <= np.asarray(target) * (1 + ROUNDING)
        return np.where(self.round_time <= target, self.excess(solved) >= -ROUNDING, quick)

    def response(self, solved: PagingPerformance) -> Array:
        """Response time over all devices by Little's law, exact for any think time [s]."""
        return np.asarray(self.devices @ solved.requests / (self.devices @ solved.transfer_rate))

    def solved(self) -> tuple[Array, Array, Array]:
        """Solve for the think time that gives the page rate."""

        def short(think: Array, service_time: Any, pages: Any) -> Array:
            device = replace(self.device, service_time=service_time, pages_per_transfer=pages)
            part = replace(self, device=device)
            return -part.excess(part.at(think))

        known = np.broadcast_arrays(self.device.service_time, self.device.pages_per_transfer)
        least = np.zeros_like(known[0])
        lacking = short(least, *known) > ROUNDING
        solved = self.at(increasing_root(short, least, np.asarray(self.round_time), known))
        return (
            np.where(lacking, 1.0, self.devices @ solved.utilization / self.count),
            np.where(lacking, np.inf, self.response(solved)),
            np.where(lacking, self.requests, self.devices @ solved.requests) / self.count,
        )

    def at_random(self, think_time: float = 0.0) -> float:
        """Page rate if each request goes to a random device, all equally likely [1/s].

        Product form: the throughput is G(N - 1) / G(N) (Buzen, CACM 16, 1973), where G(N) is the coefficient of z^N in
        e^(Zz) times the power M of the generating function of a device; both by Cauchy's formula on one circle.
        """
        from scipy.optimize import brentq

        fastest = self.count * self.device.queue_depth / self.device.service_time

        def log_generating(z: Any) -> Any:
            x = z * self.device.service_time / self.count
            one = 1 / (1 - z / fastest)
            for number in range(self.device.queue_depth, 0, -1):
                one = 1 + one * x / number
            return self.count * np.log(one) + think_time * z

        def excess(radius: float) -> float:
            """Mean number of requests, by a complex step, less that of the network."""
            return float(log_generating(radius * np.exp(1e-9j)).imag / 1e-9 - self.requests)

        radius = brentq(excess, 1e-12 * fastest, (1 - 1e-12) * fastest)
        turn = np.exp(2j * np.pi * np.linspace(0, 1, 16 * self.requests + 64, endpoint=False))
        terms = np.exp(log_generating(radius * turn) - log_generating(radius)) / turn**self.requests
        return float(self.device.pages_per_transfer * radius * (terms @ turn).real / terms.sum().real)

    @property
    def random_response(self) -> float:
        """Response time at the page rate of the load, if random devices reach it, with requests dealt to them [s]."""
        from scipy.optimize import brentq

        round_time = float(self.round_time)
        think = brentq(lambda think: self.at_random(think) - self.load.page_rate, 0.0, round_time, rtol=1e-6)
        return round_time - float(think)


def random_note(found: Sequence[tuple[PagingKind, int, Load]]) -> list[str]:
    """Note that requests are assumed evenly distributed, and what misses the target if they are not."""
    missed = []
    for kind, count, load in found:
        if load.requests is None or load.requests > LARGEST_DEAL or load.scv != 1:  # no product form
            continue
        dealt = _Dealt(device=kind.device, load=load, count=count, requests=load.requests)
        if (most := dealt.at_random()) < load.page_rate:
            missed.append(f"at most {readable(most)} pages/s on {count:,} {kind.name}")
        elif (response := dealt.random_response) > load.target_of(kind.device):
            missed.append(f"{readable(response / MILLISECOND)} ms on {count:,} {kind.name}")
    more = f": {' or '.join(missed)}" if missed else ""
    if any(load.scv != 1 for _, _, load in found):
        more = ", by how much is known for a scv of 1 only (--scv)"
    said = f"Requests are assumed evenly distributed over devices; at random devices they queue more{more}."
    return [said] if any(count > 1 for _, count, _ in found) else []


def meets(device: PagingDevice, load: Load, count: int) -> Array:
    """Whether `count` devices carry the page rate within the target, for each possible device."""
    target = load.target_of(device)
    # Requests wait at any rate, unless there is a server for each.
    waits = load.requests is None or load.requests > count * device.queue_depth
    room = np.greater(target, device.service_time) | (np.equal(target, device.service_time) & (not waits))
    if not room.any():
        return np.asarray(room)
    if load.requests is None:
        return np.asarray(room & (_solved(device, load, count)[1] <= target))
    dealt = _Dealt(device=device, load=load, count=count, requests=load.requests)
    return np.asarray(room & dealt.meets(target))


def fewest(device: PagingDevice, load: Load) -> PagingOutcome | None:
    """Find the smallest number of devices that carry the page rate within the target; None if none do."""
    count = fewest_of(device, load)
    return None if count is None else outcome(device, load, count)


def fewest_of(device: PagingDevice, load: Load, share: float = 1.0) -> int | None:
    """Find the smallest number with which at least `share` of the possible devices meet the target, or None."""
    least = max(1, int(carried_by(device, load)))
    most = 2**40 if load.requests is None else load.requests

    def enough(count: int) -> bool:
        return bool(meets(device, load, count).mean() >= share)

    return smallest(enough, least, most) if least <= most and enough(most) else None


def smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest whole number for which `holds` is true; it must be monotone and true at `high`."""
    return low + bisect_left(range(low, high), True, key=holds)


def missing(device: PagingDevice, load: Load) -> str:
    """Why no number of devices is enough."""
    service = device.service_time
    if load.requests is not None:
        most = load.requests * device.pages_per_transfer / service
        if most < load.page_rate:
            guests = math.ceil(load.guests * load.page_rate / most) if load.guests else 0
            keep = render.counted(load.guests or 0, "guest")
            return f"{keep} can drive at most {readable(most)} pages/s, {guests:,} guests would be needed"
    short = "is shorter" if load.target_of(device) < service else "leaves no time for one"
    return f"a transfer takes {readable(service / MILLISECOND)} ms without any wait, the target {short}"
