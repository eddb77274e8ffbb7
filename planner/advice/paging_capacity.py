"""What paging spaces on given devices hold and carry, over a load that varies."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from planner import library, render, style
from planner.answer import Answer, tabled
from planner.calibrate.error_bar import interval
from planner.devices.paging import PagingDevice, PagingPerformance
from planner.errors import InfeasibleError, InputError
from planner.quantity import column
from planner.queueing import checks
from planner.results import Array
from planner.units import MILLISECOND, given, readable

PAGING_KINDS: Final = ("eckd", "emulated-fba", "xiv-serialized", "xiv-concurrent")
LONGEST_RESPONSE: Final = 2.0  # default target, in service times: wait as long as service
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
        asked = {"outstanding": self.most_requests, "think_time": 0.0, "arrival_rate": math.nan, "scv": 1.0}
        low, rate, high = interval("page_rate", self.model, [asked])[0]
        return float(low / rate), float(high / rate)


def kinds(names: Sequence[str] = ()) -> list[PagingKind]:
    """Read the shipped kinds of paging device in the order asked for, all where `names` is empty."""
    found = []
    for name in dict.fromkeys([names] if isinstance(names, str) else names or PAGING_KINDS):
        InputError.unless_one_of("kind", name, PAGING_KINDS)
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

    def __post_init__(self) -> None:
        """Refuse what is no load."""
        for name, unit in (("page_rate", "1/s"), ("target", "s")):
            if (value := getattr(self, name)) is not None:
                checks.positive(name, value, unit)
        if self.guests is not None:
            checks.count("guests", self.guests)

    @property
    def requests(self) -> int | None:
        """Requests outstanding or about to come back; None where pages come at random."""
        # a fault read that the guest waits for, and the page write that makes room for it
        return None if self.guests is None else 2 * self.guests

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was taken for granted, in sentences."""
        random = (
            "Pages are taken to come at random. All runs had guests that wait for their pages (--guests), which "
            "queue less."
        )
        free = "No response time was asked for (--target): the wait may be as long as the service."
        return (*([random] if self.guests is None else []), *([free] if self.target is None else []))

    @property
    def within(self) -> str:
        """The target in words."""
        return "twice the service time" if self.target is None else f"{given(self.target / MILLISECOND)} ms"

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
    """Solve a number of devices that requests are dealt to evenly; response inf where they do not carry the load."""
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
        """Whether the response time stays within the target where the guests think for the rest of a round."""
        if self.round_time <= target:
            return self.excess(0.0) >= -ROUNDING
        return self.response(self.at(self.round_time - target)) <= target * (1 + ROUNDING)

    def response(self, solved: PagingPerformance) -> float:
        """Response time over all devices by Little's law, exact however long the guests think [s]."""
        return float(self.devices @ solved.requests) / float(self.devices @ solved.transfer_rate)

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
            response_time=self.response(solved),
            requests=float(self.devices @ solved.requests) / self.count,
        )


def meets(device: PagingDevice, load: Load, count: int) -> bool:
    """Whether a number of devices carries the page rate within the target."""
    target = load.target_of(device)
    # At any rate, if ever so little, requests wait but for a server each.
    waits = load.requests is None or load.requests > count * device.queue_depth
    if target < device.service_time or (waits and target == device.service_time):
        return False
    if load.requests is None:
        return outcome(device, load, count).response_time <= target
    return _Dealt(device=device, load=load, count=count, requests=load.requests).meets(target)


def curve(device: PagingDevice, load: Load, count: int) -> tuple[Array, Array]:
    """Page rates that a number of devices can have [1/s], rising, and the response time at each [s]."""
    if load.requests is None:
        busy = np.append(np.linspace(0.001, 0.9, 60), 1 - np.geomspace(0.1, 1e-4, 60)[1:])
        rates = count * device.capacity * busy
        return rates, np.asarray(device.open(rates / count, scv=load.scv).response_time)
    dealt = _Dealt(device=device, load=load, count=count, requests=load.requests)
    think = device.service_time * np.append(np.geomspace(1e4, 1e-3, 120), 0.0)
    each = load.requests // min(count, load.requests)
    solved = device.closed(np.array([[each], [each + 1]]), think, scv=load.scv)
    rates = dealt.devices @ solved.page_rate
    return rates, load.requests * device.pages_per_transfer / rates - think


def fewest(device: PagingDevice, load: Load) -> PagingOutcome | None:
    """Find the smallest number of devices that carries the page rate within the target; None where none does."""
    least = max(1, int(carried_by(device, load)))
    most = 2**40 if load.requests is None else load.requests
    if least > most or not meets(device, load, most):
        return None
    return outcome(device, load, _smallest(lambda count: meets(device, load, count), least, most))


def _smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest whole number for which `holds`, which stays true from there on and is true at `high`."""
    return low + bisect_left(range(low, high), True, key=holds)


def missing(device: PagingDevice, load: Load) -> str:
    """What is missing where no number of devices is enough."""
    service = device.service_time
    if load.requests is not None:
        most = load.requests * device.pages_per_transfer / service
        if most < load.page_rate:
            guests = math.ceil(load.guests * load.page_rate / most) if load.guests else 0
            keep = f"{load.guests} guests keep" if load.guests != 1 else "1 guest keeps"
            return f"{keep} at most {readable(most)} pages/s under way, {guests:,} guests would be needed"
    short = "is shorter" if load.target_of(device) < service else "leaves no time for one"
    return f"a transfer takes {readable(service / MILLISECOND)} ms without any wait, the target {short}"


HALVINGS: Final = 40  # of the page rate
MOST_GUESTS: Final = 1_000_000  # where the search ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of `devices`: the most [1/s] of `guests` (None: at random), or guests of `per_guest` [1/s]."""

    devices: int
    guests: int | None = None
    per_guest: float | None = None
    target: float | None = None
    scv: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what are no devices, or no guests."""
        checks.count("devices", self.devices)
        if self.per_guest is not None:
            checks.positive("per_guest", self.per_guest, "1/s")

    def load(self, amount: float) -> Load:
        """The load of so many guests, or of so many pages a second."""
        guests = self.guests if self.per_guest is None else int(amount)
        rate = amount if self.per_guest is None else int(amount) * self.per_guest
        return Load(page_rate=rate, guests=guests, target=self.target, scv=self.scv)

    def meets(self, kind: PagingKind, amount: float, speed: float) -> bool:
        """Whether the devices carry it within the target, each `speed` times as fast as read from the report."""
        return meets(kind.device, self.load(amount).times(1 / speed), self.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """A kind and the most it carries: `amount` [1/s] or guests, `low` to `high`, 90 %; `outcome`, or the `reason`."""

    kind: PagingKind
    amount: float | None = None
    low: float = 0.0
    high: float = 0.0
    outcome: PagingOutcome | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingCapacity(Answer):
    """What paging devices carry."""

    PICTURE: ClassVar[str] = "planner.advice.pictures:draw_capacity"

    FIGURES: ClassVar = (
        column("devices", of="question.devices"), column("guests", of="question.guests"),
        column("page_rate_per_guest", of="question.per_guest"), column("target", "ms", of="question.target"),
        column("kinds", of=lambda found: found.table().records()),
        column("reasons", of=lambda found: {row.kind.name: row.reason for row in found.rows if row.reason}),
    )  # fmt: skip

    question: Question  # what was asked
    rows: tuple[Capacity, ...]  # one a kind of device

    @property
    def feasible(self) -> tuple[Capacity, ...]:
        """Kinds that meet the target."""
        return tuple(row for row in self.rows if row.amount is not None)

    @property
    def headline(self) -> str:
        """How much each kind carries, with its range."""
        at = self.question
        asked = render.counted(at.devices, "device")
        if at.per_guest is not None:
            asked += f", {given(at.per_guest)} pages/s of each guest"
        elif at.guests is not None:
            asked += f", {render.counted(at.guests, 'guest')}"
        what = "pages/s" if at.per_guest is None else "guests"
        parts = [
            f"{readable(row.amount or 0.0)} {what} by {row.kind.name} ({readable(row.low)} to {readable(row.high)}, "
            f"{style.NINETY})"
            for row in self.feasible
        ]
        return f"{asked}, response at most {at.load(1.0).within}: up to {', or '.join(parts)}."

    def table(self) -> render.Table:
        """One row a kind: how much, its 90 % interval, and what the devices do then."""
        name, unit = ("page_rate", "1/s") if self.question.per_guest is None else ("guests", "")
        columns = (
            column("kind", of="kind.name"), column(name, unit, "at most", 0, "amount"),
            column(f"{name}_low", unit, "from", 0, lambda row: row.amount and row.low),
            column(f"{name}_high", unit, "to", 0, lambda row: row.amount and row.high),
            column("response", "ms", "", 2, "outcome.response_time"),
            column("utilization", "", "busy", 2, "outcome.utilization"),
            column("machine", "", "measured on", of="kind.machine"),
        )  # fmt: skip
        return tabled(self.rows, columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a kind has no answer, what was assumed."""
        load = self.question.load(1.0)
        lines = [f"{row.kind.name}: {row.reason}." for row in self.rows if row.reason]
        if load.guests is not None:
            lines.append("Each guest has a fault read and a page write outstanding.")
        return (*lines, *load.assumptions)


def paging_capacity(question: Question, *, names: Sequence[str] = ()) -> PagingCapacity:
    """Ask how many pages a second, or how many guests, the devices that there are carry within a response time.

    Examples
    --------
    >>> found = paging_capacity(Question(devices=4, guests=20, target=4e-3), names=["eckd"])
    >>> 5000 < found.rows[0].amount < 6000
    True
    """
    if question.guests is not None and question.per_guest is not None:
        problem = "none: a page rate of each guest asks how many there can be"
        raise InputError("guests", question.guests, problem)
    rows = tuple(_row(kind, question) for kind in kinds(names))
    if all(row.amount is None for row in rows):
        raise InfeasibleError("; ".join(f"{row.kind.name}: {row.reason}" for row in rows))
    return PagingCapacity(question=question, rows=rows)


def _row(kind: PagingKind, at: Question) -> Capacity:
    least = 1.0 if at.per_guest is not None else at.devices * kind.device.capacity * 0.5**HALVINGS
    if not at.meets(kind, least, 1.0):
        return Capacity(kind=kind, reason=_reason(kind, at))
    low, amount, high = (_most(kind, at, speed) for speed in (kind.error[0], 1.0, kind.error[1]))
    done = outcome(kind.device, at.load(amount), at.devices)
    return Capacity(kind=kind, amount=amount, low=low, high=high, outcome=done)


def _most(kind: PagingKind, at: Question, speed: float) -> float:
    """Largest amount within the target."""
    full = at.devices * kind.device.capacity * speed
    if at.per_guest is None:
        low, high = 0.0, full
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if at.meets(kind, middle, speed) else (low, middle)
        return low
    many = math.floor(full / at.per_guest) + 1
    most = min(many, MOST_GUESTS)
    found = _smallest(lambda guests: not at.meets(kind, guests, speed), 1, most)
    if found == most < many:
        raise InputError(
            "per_guest", at.per_guest, f"a rate of which fewer than {most:,} guests are carried", "1/s"
        )
    return float(found - 1)


def _reason(kind: PagingKind, at: Question) -> str:
    """What is missing, and what would help."""
    device, alone = kind.device, at.load(1.0)
    if at.per_guest is None or alone.target_of(device) < device.service_time:
        return missing(device, alone)
    best = fewest(device, alone)
    if best is None:
        most = 2 * device.pages_per_transfer / device.service_time
        return f"one guest keeps at most {readable(most)} pages/s under way, fewer than {given(at.per_guest)}"
    return f"one guest of {given(at.per_guest)} pages/s takes {render.counted(best.count, 'device')}"
