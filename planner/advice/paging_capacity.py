"""What paging spaces on given devices hold and carry, over a load that varies."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from planner import library, render, style
from planner.answer import Answer, tabled
from planner.calibrate.error_bar import PROBABILITY, central, law_errors, possible
from planner.devices.paging import PagingDevice, PagingPerformance
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.quantity import column
from planner.queueing import checks
from planner.queueing._roots import increasing_root
from planner.results import Array
from planner.units import MILLISECOND, given, readable

PAGING_KINDS: Final = ("eckd", "emulated-fba", "xiv-serialized", "xiv-concurrent")
LONGEST_RESPONSE: Final = 2.0  # default target, in service times: wait as long as service
ROUNDING: Final = 1e-12  # a page rate that just fits is not refused for the rounding of floating point
LIKELY: Final = (
    (1 - PROBABILITY) / 2,
    (1 + PROBABILITY) / 2,
)  # shares of the possible devices at the ends of a range


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingKind:
    """A shipped kind of paging device: `name`, the `device`, and the `model` that it was read from.

    `possible`, arrays of shape (sets,): equally likely devices, of all that the fit allows of service time and pages
    per transfer, each with the error of the law on its service time, which stands for whatever slows the device.
    """

    name: str
    device: PagingDevice
    model: library.Model
    possible: PagingDevice = field(repr=False, compare=False)

    @property
    def machine(self) -> str:
        """Machine that its processor times were measured on."""
        return self.model.environment["machine"]

    @property
    def most_requests(self) -> float:
        """Most requests per device that were measured."""
        return self.model.validity["outstanding"][1]

    def within(self, load: Load, count: int) -> tuple[Interval, Interval]:
        """Utilization and response time [s] of a number of devices, 90 %; inf where they do not carry the load."""
        busy, response = (
            _around(best, drawn)
            for best, drawn in zip(
                _solved(self.device, load, count)[:2], _solved(self.possible, load, count)[:2], strict=True
            )
        )
        return busy, response


def _around(best: Array, drawn: Array) -> Interval:
    """The estimate within the central 90 % of the possible."""
    (low,), (high,) = central(drawn[:, None])
    return Interval(float(min(low, best)), float(best), float(max(high, best)))


def kinds(names: Sequence[str] = ()) -> list[PagingKind]:
    """Read the shipped kinds of paging device in the order asked for, all where `names` is empty."""
    found = []
    for name in dict.fromkeys([names] if isinstance(names, str) else names or PAGING_KINDS):
        InputError.unless_one_of("kind", name, PAGING_KINDS)
        model = library.read_model(f"paging-{name}")
        device, sets = PagingDevice.from_model(model), possible(model, 64).sets
        slower = np.maximum(1 + law_errors(model.fit), 0.01)[:, None]
        times, pages = np.broadcast_arrays(slower * sets["service_time"], sets["pages_per_transfer"])
        drawn: dict[str, Any] = {"service_time": times.ravel(), "pages_per_transfer": pages.ravel()}
        found.append(PagingKind(name=name, device=device, model=model, possible=replace(device, **drawn)))
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
    return float(np.ceil(load.page_rate / np.max(device.capacity) * (1 - ROUNDING)))


def outcome(device: PagingDevice, load: Load, count: int) -> PagingOutcome:
    """Solve a number of devices that requests are dealt to evenly; response inf where they do not carry the load."""
    utilization, response, requests = map(float, _solved(device, load, count))
    return PagingOutcome(count=count, utilization=utilization, response_time=response, requests=requests)


def _solved(device: PagingDevice, load: Load, count: int) -> tuple[Array, Array, Array]:
    """Utilization, response time [s] and requests per device, of one device or of as many as its arrays hold."""
    if load.requests is None:
        alone = device.open(load.page_rate / count, scv=load.scv)
        return alone.utilization, alone.response_time, alone.requests
    return _Dealt(device=device, load=load, count=count, requests=load.requests).solved()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dealt:
    """Requests of guests dealt evenly to a number of devices: some have one more than the others."""

    device: PagingDevice  # its service time and pages may be arrays of one shape, as is what follows
    load: Load
    count: int
    requests: int

    @property
    def devices(self) -> Array:
        """Devices that have the fewer requests, and those that have one more; the rest idle."""
        more = self.requests % min(self.count, self.requests)
        return np.array([min(self.count, self.requests) - more, more], dtype=np.float64)

    @property
    def round_time(self) -> Any:
        """Time from one request of a guest to its next at the page rate asked for [s]."""
        return self.requests * self.device.pages_per_transfer / self.load.page_rate

    def at(self, think_time: ArrayLike) -> PagingPerformance:
        """One device of each sort, on the first axis."""
        each = self.requests // min(self.count, self.requests)
        sorts = np.reshape([each, each + 1], (2, *(1,) * np.ndim(self.device.service_time)))
        return self.device.closed(sorts, think_time, scv=self.load.scv)

    def excess(self, solved: PagingPerformance) -> Array:
        """Page rate over the one asked for, less 1."""
        return np.asarray(self.devices @ solved.page_rate / self.load.page_rate - 1)

    def meets(self, target: ArrayLike) -> Array:
        """Whether the response time stays within the target where the guests think for the rest of a round."""
        solved = self.at(np.maximum(self.round_time - target, 0.0))
        quick = self.response(solved) <= np.asarray(target) * (1 + ROUNDING)
        return np.where(self.round_time <= target, self.excess(solved) >= -ROUNDING, quick)

    def response(self, solved: PagingPerformance) -> Array:
        """Response time over all devices by Little's law, exact however long the guests think [s]."""
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

    @property
    def at_random(self) -> float:
        """Page rate of requests that return at once to any device, each as likely [1/s].

        Product form: the throughput of a station is G(N - 1) / G(N), and G, of N requests, the convolution of
        1 / (1 2 ... c c c ...) over all stations (Buzen, CACM 16, 1973); N / (N + M - 1) of the most at M stations of
        one place. The weights are scaled to add up to 1, with the mean N / M, and so G does not overflow.
        """
        number, places = np.arange(self.requests + 1), self.device.queue_depth
        scale = self.requests / (self.requests + self.count)
        each = np.cumprod(np.append(1.0, scale * places / np.minimum(number[1:], places)))
        each /= each.sum()
        together = np.eye(1, len(number))[0]
        for digit in f"{self.count:b}":  # powers by squaring
            together = np.convolve(together, together)[: len(number)]
            if digit == "1":
                together = np.convolve(together, each)[: len(number)]
        return float(self.count * self.device.capacity * scale * together[-2] / together[-1])


def random_note(found: Sequence[tuple[PagingDevice, str, int, Load]]) -> str:
    """Say that requests are dealt evenly, and how many pages of what was found remain if they are not."""
    fewer = []
    for device, name, count, load in found:
        if load.requests is None or load.requests * count > LARGEST_DEAL:
            continue
        rate = _Dealt(device=device, load=load, count=count, requests=load.requests).at_random
        if rate < load.page_rate:
            fewer.append(f"{readable(rate)} pages/s on {count:,} {name}")
    most = f": at most {' or '.join(fewer)}" if fewer else ""
    return f"Requests are taken to be dealt evenly over the devices; at random devices they queue more{most}."


def meets(device: PagingDevice, load: Load, count: int) -> Array:
    """Whether a number of devices carries the page rate within the target, of each of its arrays."""
    target = load.target_of(device)
    # At any rate, if ever so little, requests wait but for a server each.
    waits = load.requests is None or load.requests > count * device.queue_depth
    room = np.greater(target, device.service_time) | (np.equal(target, device.service_time) & (not waits))
    if not room.any():
        return np.asarray(room)
    if load.requests is None:
        return np.asarray(room & (_solved(device, load, count)[1] <= target))
    dealt = _Dealt(device=device, load=load, count=count, requests=load.requests)
    return np.asarray(room & dealt.meets(target))


def fewest(device: PagingDevice, load: Load) -> PagingOutcome | None:
    """Find the smallest number of devices that carries the page rate within the target; None where none does."""
    count = fewest_of(device, load)
    return None if count is None else outcome(device, load, count)


def fewest_of(device: PagingDevice, load: Load, share: float = 1.0) -> int | None:
    """Find the smallest number with which at least `share` of the devices in the arrays meet the target, or None."""
    least = max(1, int(carried_by(device, load)))
    most = 2**40 if load.requests is None else load.requests

    def enough(count: int) -> bool:
        return bool(meets(device, load, count).mean() >= share)

    if least > most or not enough(most):
        return None
    return _smallest(enough, least, most)


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


LARGEST_DEAL: Final = 2_000_000  # requests times devices, for a number of what is dealt at random
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

    def meets(self, device: PagingDevice, amount: float, share: float = 1.0) -> bool:
        """Whether they carry it within the target as at least `share` of the devices in the arrays of one."""
        return bool(meets(device, self.load(amount), self.devices).mean() >= share)


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
            found = [(row.kind, row.amount) for row in self.feasible if row.amount is not None]
            at = self.question
            lines.append(
                random_note([(kind.device, kind.name, at.devices, at.load(amount)) for kind, amount in found])
            )
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
    if not at.meets(kind.device, least):
        return Capacity(kind=kind, reason=_reason(kind, at))
    amount = _most(kind.device, at)
    high, low = (_most(kind.possible, at, share) for share in LIKELY)
    done = outcome(kind.device, at.load(amount), at.devices)
    return Capacity(kind=kind, amount=amount, low=min(low, amount), high=max(high, amount), outcome=done)


def _most(device: PagingDevice, at: Question, share: float = 1.0) -> float:
    """Largest amount within the target, as at least `share` of the devices in the arrays of one carry."""
    full = at.devices * float(np.max(device.capacity))
    if at.per_guest is None:
        low, high = 0.0, full
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if at.meets(device, middle, share) else (low, middle)
        return low
    many = math.floor(full / at.per_guest) + 1
    most = min(many, MOST_GUESTS)
    found = _smallest(lambda guests: not at.meets(device, guests, share), 1, most)
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
