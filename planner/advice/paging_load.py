"""What a number of paging devices does with a load, and the fewest that carry it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner import library
from planner.calibrate.error_bar import interval
from planner.devices.paging import PagingDevice, PagingPerformance
from planner.errors import InputError
from planner.results import Array
from planner.units import MILLISECOND

PAGING_KINDS: Final = ("eckd", "emulated-fba", "xiv-serialized", "xiv-concurrent")
REQUESTS_PER_GUEST: Final = (
    2  # a fault read that the guest waits for, and the page write that makes room for it
)
LONGEST_RESPONSE: Final = 2.0  # default target, in service times: wait as long as service
FARTHEST: Final = 2**40
ROUNDING: Final = 1e-12  # a page rate that just fits is not refused for the rounding of floating point


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingKind:
    """A shipped kind of paging device: `name`, the `device`, and the `model` that it was read from."""

    name: str
    device: PagingDevice
    model: library.Model

    @property
    def machine(self) -> str:
        """Machine that its processor times were measured on."""
        return self.model.environment["machine"]

    @property
    def most_requests(self) -> float:
        """Most requests per device that were measured."""
        return self.model.validity["outstanding"][1]

    @property
    def error(self) -> tuple[float, float]:
        """Ends of the 90 % interval of what one device carries with the requests that were measured, over its value."""
        asked = {"outstanding": self.most_requests, "think_time": 0.0, "arrival_rate": 0.0, "scv": 1.0}
        low, rate, high = interval("page_rate", self.model, [asked])[0]
        return float(low / rate), float(high / rate)


def kinds(names: Sequence[str] = ()) -> list[PagingKind]:
    """Read the shipped kinds of paging device in the order asked for, all where `names` is empty."""
    found = []
    for name in names or PAGING_KINDS:
        if name not in PAGING_KINDS:
            raise InputError("kind", name, f"one of {', '.join(PAGING_KINDS)}")
        model = library.read_model(f"paging-{name}")
        found.append(PagingKind(name=name, device=PagingDevice.from_model(model), model=model))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked for.

    `page_rate` [1/s]; `guests` that fault (None: pages come at random); `target` [s], twice the service time of each
    kind where None; `scv` is the squared coefficient of variation of a transfer's service, which no measurement gives.
    """

    page_rate: float
    guests: int | None = None
    target: float | None = None
    scv: float = 1.0

    @property
    def requests(self) -> int | None:
        """Requests outstanding or about to come back; None where pages come at random."""
        return None if self.guests is None else REQUESTS_PER_GUEST * self.guests

    def times(self, factor: float) -> Load:
        """The same for `factor` times the page rate."""
        return replace(self, page_rate=factor * self.page_rate)

    def target_of(self, device: PagingDevice) -> float:
        """Longest response time that is accepted of a device [s]."""
        return LONGEST_RESPONSE * device.service_time if self.target is None else self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingOutcome:
    """What a number of devices does: its `count`, `utilization`, `response_time` [s], `requests` present per device."""

    count: int
    utilization: float
    response_time: float
    requests: float


def carried_by(device: PagingDevice, load: Load) -> float:
    """Fewest devices that carry the page rate at all, each always busy; a whole number."""
    return math.ceil(load.page_rate / device.capacity * (1 - ROUNDING))


def outcome(device: PagingDevice, load: Load, count: int) -> PagingOutcome:
    """Solve a number of devices for a load that is spread evenly over them.

    Requests of guests are dealt evenly: some devices have one more than the others. The time between two
    requests of a guest is what makes their page rate the one asked for. Utilization 1 and an infinite response time
    where they do not carry it.
    """
    if load.requests is None:
        alone = device.open(load.page_rate / count, scv=load.scv)
        return PagingOutcome(count=count, utilization=float(alone.utilization),
                       response_time=float(alone.response_time), requests=float(alone.requests))  # fmt: skip
    return _Dealt(device=device, load=load, count=count, requests=load.requests).outcome()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dealt:
    """Requests of guests dealt evenly to a number of devices: some have one more than the others."""

    device: PagingDevice
    load: Load
    count: int
    requests: int

    @property
    def devices(self) -> Array:
        """Devices that have the fewer requests, and those that have one more; the rest idle."""
        more = self.requests % min(self.count, self.requests)
        return np.array([min(self.count, self.requests) - more, more], dtype=np.float64)

    @property
    def round_time(self) -> float:
        """Time from one request of a guest to its next at the page rate asked for [s]."""
        return self.requests * self.device.pages_per_transfer / self.load.page_rate

    def at(self, think_time: float) -> PagingPerformance:
        """One device of each sort."""
        each = self.requests // min(self.count, self.requests)
        return self.device.closed(np.array([each, each + 1]), think_time, scv=self.load.scv)

    def excess(self, think_time: float) -> float:
        """Page rate over the one asked for, less 1."""
        return float(self.devices @ self.at(think_time).page_rate) / self.load.page_rate - 1

    def meets(self, target: float) -> bool:
        """Whether the response time stays within the target: then the guests may think for the rest of a round."""
        return self.excess(max(0.0, self.round_time - target)) >= -ROUNDING

    def outcome(self) -> PagingOutcome:
        """Solve for the think time that gives the page rate."""
        from scipy.optimize import brentq

        most = self.excess(0.0)
        if most < -ROUNDING:
            present = self.requests / self.count
            return PagingOutcome(count=self.count, utilization=1.0, response_time=math.inf, requests=present)
        think = 0.0 if most <= 0 else float(brentq(self.excess, 0.0, self.round_time, xtol=1e-15, rtol=1e-12))
        solved = self.at(think)
        return PagingOutcome(
            count=self.count,
            utilization=float(self.devices @ solved.utilization) / self.count,
            response_time=self.round_time - think,
            requests=float(self.devices @ solved.requests) / self.count,
        )


def meets(device: PagingDevice, load: Load, count: int) -> bool:
    """Whether a number of devices carries the page rate within the target."""
    target = load.target_of(device)
    if load.requests is None:
        return outcome(device, load, count).response_time <= target
    return _Dealt(device=device, load=load, count=count, requests=load.requests).meets(target)


def curve(device: PagingDevice, load: Load, count: int) -> tuple[Array, Array]:
    """Page rates that a number of devices can have [1/s], rising, and the response time at each [s]."""
    if load.requests is None:
        rates = (
            count
            * device.capacity
            * np.append(np.linspace(0.001, 0.9, 60), 1 - np.geomspace(0.1, 1e-4, 60)[1:])
        )
        return rates, np.asarray(device.open(rates / count, scv=load.scv).response_time)
    dealt = _Dealt(device=device, load=load, count=count, requests=load.requests)
    think = device.service_time * np.append(np.geomspace(1e4, 1e-3, 120), 0.0)
    each = load.requests // min(count, load.requests)
    solved = device.closed(np.array([[each], [each + 1]]), think, scv=load.scv)
    rates = dealt.devices @ solved.page_rate
    return rates, load.requests * device.pages_per_transfer / rates - think


def fewest(device: PagingDevice, load: Load) -> PagingOutcome | None:
    """Find the smallest number of devices that carries the page rate within the target.

    None where no number does: the target lies below the service time, or too few requests are outstanding.
    """
    target = load.target_of(device)
    least = max(1, int(carried_by(device, load)))
    most = FARTHEST if load.requests is None else load.requests

    unreachable = target <= device.service_time if load.requests is None else target < device.service_time
    if unreachable or least > most or not meets(device, load, most):
        return None
    return outcome(device, load, _smallest(lambda count: meets(device, load, count), least, most))


def _smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest whole number for which `holds`, which stays true from there on and is true at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def missing(device: PagingDevice, load: Load) -> str:
    """What is missing where no number of devices is enough."""
    service = device.service_time
    if load.requests is not None:
        most = load.requests * device.pages_per_transfer / service
        if most < load.page_rate:
            guests = math.ceil(load.guests * load.page_rate / most) if load.guests else 0
            keep = f"{load.guests} guests keep" if load.guests != 1 else "1 guest keeps"
            return f"{keep} at most {most:.0f} pages/s under way, {guests} guests would be needed"
    return f"a transfer takes {service / MILLISECOND:.2f} ms without any wait, the target is shorter"
