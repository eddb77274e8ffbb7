"""Paging devices for a page rate: how many of each kind, their response time, and CP's processor time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from planner import render, style
from planner.advice.paging_load import (
    LIKELY,
    ROUNDING,
    Load,
    PagingKind,
    PagingOutcome,
    carried_by,
    fewest,
    fewest_of,
    kinds,
    missing,
    outcome,
    random_note,
)
from planner.answer import Answer, nested
from planner.devices.paging import PagingDevice
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.quantity import column
from planner.queueing import checks
from planner.render.text import from_to
from planner.units import MILLISECOND, given, readable

LARGEST_COUNT: Final = 255  # devices: our assumption of where a search ends, unless a count is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A kind and its answer: `outcome`, or None with the `reason`; `processors` that CP uses for its paging.

    `least` and `most` are the devices needed at the ends of the 90 % interval of the model, None where no number is
    enough; `response` [s] and `busy` (utilization) have their own intervals.
    """

    kind: PagingKind
    outcome: PagingOutcome | None
    processors: float
    reason: str = ""
    least: int | None = None
    most: int | None = None
    response: Interval | None = None
    busy: Interval | None = None

    @property
    def span(self) -> str | None:
        """Devices needed, 90 % interval, for people."""
        if self.least is None:
            return None
        if self.most is None:
            return f"{self.least:,} or more, or none"
        return from_to(self.least, self.most)

    @property
    def serves(self) -> str:
        """Whether the devices (any number if no count) are enough over the 90 % interval: yes, perhaps or no."""
        count = self.outcome.count if self.outcome else math.inf
        if self.least is None or count < self.least:
            return "no"
        return "perhaps" if self.most is None or count < self.most else "yes"

    @property
    def feasible(self) -> bool:
        """Whether the kind carries the page rate within the target."""
        return self.outcome is not None and not self.reason

    @property
    def words(self) -> str:
        """The count with its kind, and its range unless that is a single number."""
        assert self.outcome is not None
        beside = f" ({self.span}, {style.NINETY})" if self.span and self.least != self.most else ""
        return f"{self.outcome.count} {self.kind.name}{beside}"

    @property
    def given(self) -> str:
        """The installed devices with their response time, its range, and how many are needed."""
        at = self.response
        assert self.outcome is not None
        assert at is not None
        low, value, high = (readable(each / MILLISECOND) for each in at)
        return (
            f"{self.outcome.count} {self.kind.name}, response {value} ms ({low} to {high}, {style.NINETY}), needed "
            f"{self.span}"
        )

    @property
    def warning(self) -> str:
        """Warning of an extrapolation; else empty."""
        at = self.outcome
        if at is None or not self.feasible or at.requests <= self.kind.most_requests * (1 + 1e-9):
            return ""
        return (
            f"{self.kind.name}: {readable(at.requests)} requests outstanding per device; at most "
            f"{readable(self.kind.most_requests)} were measured."
        )

    @property
    def found(self) -> PagingOutcome | None:
        """The outcome, or None if the devices are saturated."""
        at = self.outcome
        return at if at is not None and (self.feasible or math.isfinite(at.response_time)) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingAnswer(Answer):
    """Devices that carry a page rate.

    `load`: the demand; `choices`: one per kind of device; `speeds`, `devices` (`count`): as in `paging_devices`.
    """

    PICTURE: ClassVar[str] = "planner.advice.pictures:draw_paging"

    COLUMNS: ClassVar = (
        column("kind", "", "kind", of="kind.name"), column("count", "", "devices", 0, "found.count"),
        column("range", "", style.NINETY, of="span"), column("serves"),
        column("response", "ms", "response", 2, "found.response_time"),
        column("response_low", "ms", "from", 2, "response.low"),
        column("response_high", "ms", "to", 2, "response.high"),
        column("utilization", "", "busy", 2, "found.utilization"),
        column("utilization_low", "", "from", 2, "busy.low"), column("utilization_high", "", "to", 2, "busy.high"),
        column("requests_per_device", "", "req/dev", 2, "found.requests"),
        column("processors", "", "CP processors", 2, lambda each: each.found and each.processors),
        column("cp", "us/page", "CP time", 2, "kind.device.cp_time"),
        column("cp_system", "us/page", "of system", 2, "kind.device.cp_system_time"),
        column("machine", "", "measured on", of="kind.machine"),
        column("release", "", "release", of=lambda each: each.kind.model.environment["release"]),
        column("channel", "", "channel", of=lambda each: each.kind.model.environment["channel"]),
    )  # fmt: skip
    ROWS: ClassVar = "choices"
    PARTS: ClassVar = (
        ("", "kind count range serves response response_low response_high"),
        ("", "kind utilization utilization_low utilization_high requests_per_device processors"),
        ("", "kind cp cp_system machine release channel"),
    )  # fmt: skip
    FIGURES: ClassVar = (
        column("page_rate", of="load.page_rate"), column("guests", of="load.guests"),
        column("target", "ms", of="load.target"),
        nested("devices", "choices", (*COLUMNS, column("count_low", of="least"), column("count_high", of="most"),
                                      *map(column, ("feasible", "reason", "warning")))),
        column("cheapest"),
    )  # fmt: skip

    load: Load
    choices: tuple[Choice, ...]
    speeds: Mapping[str, float]
    devices: int | None = None

    @property
    def cheapest(self) -> str | None:
        """Kind with the least CP time, or None if the times of different machines cannot be compared."""
        feasible = [choice for choice in self.choices if choice.feasible]
        if len({choice.kind.machine for choice in feasible} - set(self.speeds)) > 1:
            return None
        return min(feasible, key=lambda choice: choice.processors).kind.name

    @property
    def headline(self) -> str:
        """The demand, and how many devices of each kind it needs."""
        load = self.load
        asked = f"{given(load.page_rate)} {'page' if load.page_rate == 1 else 'pages'}/s"
        if load.guests is not None:
            asked += f" of {render.counted(load.guests, 'guest')} with a fault read and a page write outstanding each"
        found = [
            choice.words if self.devices is None else choice.given
            for choice in self.choices
            if choice.feasible
        ]
        return f"{asked}, response at most {load.within}: {', or '.join(found)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a kind has no answer, extrapolations, why several small devices, the cheapest kind."""
        lines = [f"{choice.kind.name}: {choice.reason}." for choice in self.choices if choice.reason]
        lines += [choice.warning for choice in self.choices if choice.warning]
        lines += [*self.load.assumptions, self._several()]
        if self.load.guests is not None:
            served = [(each.kind, each.outcome) for each in self.choices if each.feasible]
            lines += random_note([(kind, at.count, self.load) for kind, at in served if at])
        if sum(choice.feasible for choice in self.choices) > 1:
            lines.append(self._cost())
        return tuple(lines)

    def _several(self) -> str:
        choice = next(choice for choice in self.choices if choice.feasible)
        device = choice.kind.device
        return (
            f"Several small volumes beat a large one: each {choice.kind.name} device, whatever its size, works on "
            f"{render.counted(device.queue_depth, 'transfer')} at a time and carries at most "
            f"{readable(device.capacity)} pages/s; this rate needs at least {carried_by(device, self.load):.0f}."
        )

    def _cost(self) -> str:
        if self.cheapest is not None:
            scaled = ", ".join(f"{machine}={given(factor)}" for machine, factor in self.speeds.items())
            return f"Cheapest in CP processor time: {self.cheapest}{f' (with {scaled})' if scaled else ''}."
        return (
            "Processor times are those of each kind's own test machine and cannot be compared across machines; "
            "--cpu-speed MACHINE=FACTOR gives the ratio of their speeds."
        )


def paging_devices(
    load: Load,
    *,
    names: Sequence[str] = (),
    count: int | None = None,
    speeds: Mapping[str, float] | None = None,
) -> PagingAnswer:
    """Number of paging devices of each kind that a page rate needs.

    Parameters
    ----------
    load : Load
        Page rate, guests and target.
    names : sequence of str, optional
        Kinds of device; all if empty.
    count : int, optional
        Devices installed; if None, the smallest sufficient number is found.
    speeds : mapping, optional
        By machine, how many times faster its processor is than that of the machines without an entry.

    Returns
    -------
    PagingAnswer
        One choice per kind.

    Raises
    ------
    InputError
        An unknown kind or machine.
    InfeasibleError
        No kind carries the page rate or meets the target, or the guests have too few requests outstanding.
    """
    found = kinds(names)
    factors = dict(speeds or {})
    machines = sorted({kind.machine for kind in found})
    count = None if count is None else int(checks.count("count", count))
    for machine, factor in factors.items():
        checks.positive("speeds", factor)
        InputError.unless_one_of("speeds", machine, machines)
    _require_carried(found, load, LARGEST_COUNT if count is None else count)
    choices = tuple(_choose(kind, load, count, factors.get(kind.machine, 1.0)) for kind in found)
    if not any(choice.feasible for choice in choices):
        raise InfeasibleError("; ".join(f"{choice.kind.name}: {choice.reason}" for choice in choices))
    return PagingAnswer(load=load, choices=choices, speeds=factors, devices=count)


def _require_carried(found: Sequence[PagingKind], load: Load, count: int) -> None:
    """Refuse a page rate that this number of devices of any kind cannot carry."""
    needed = {kind.name: carried_by(kind.device, load) for kind in found}
    if min(needed.values()) > count:
        would = ", ".join(f"{number:,.0f} {name}" for name, number in needed.items())
        raise InfeasibleError(
            f"{given(load.page_rate)} pages/s are more than {render.counted(count, 'device')} of any "
            f"kind can carry; at least {would} are needed"
        )


def _choose(kind: PagingKind, load: Load, count: int | None, speed: float) -> Choice:
    """One kind: the fewest devices, or the installed ones, and why they do not meet the target."""
    device = kind.device
    at = fewest(device, load) if count is None else outcome(device, load, count)
    reason = ""
    if at is None:
        reason = missing(device, load)
    elif count is None and at.count > LARGEST_COUNT:
        reason = f"{at.count:,} devices would be needed, and the search ends at {LARGEST_COUNT}"
        at = None
    elif math.isinf(at.response_time):
        reason = f"saturated; {_wanted(device, load)}"
    elif at.response_time > load.target_of(device) * (1 + ROUNDING):
        response = readable(at.response_time / MILLISECOND)
        reason = f"response {response} ms with {render.counted(at.count, 'device')}; {_wanted(device, load)}"
    spent = load.page_rate * device.cp_time * speed
    choice = Choice(kind=kind, outcome=at, processors=spent, reason=reason)
    least, most = (fewest_of(kind.possible, load, share) for share in LIKELY)
    if at is None:
        return replace(choice, least=least, most=most)
    if not reason and count is None:  # the estimate is the likeliest, not the middle one
        least, most = min(least or at.count, at.count), most and max(most, at.count)
    busy, within = kind.within(load, at.count)
    return replace(choice, least=least, most=most, response=within, busy=busy)


def _wanted(device: PagingDevice, load: Load) -> str:
    best = fewest(device, load)
    if best is None:
        return missing(device, load)
    return f"{render.counted(best.count, 'device')} would be needed"
