"""Largest page rate, or number of guests, that given paging devices carry within a response time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from planner import render, style
from planner.advice.paging_load import (
    LIKELY,
    Load,
    PagingKind,
    PagingOutcome,
    fewest,
    kinds,
    meets,
    missing,
    outcome,
    random_note,
    smallest,
)
from planner.answer import Answer, tabled
from planner.devices.paging import PagingDevice
from planner.errors import InfeasibleError, InputError
from planner.quantity import column
from planner.queueing import checks
from planner.units import given, readable

HALVINGS: Final = 40  # of all that the devices carry, to the step of a page rate
MOST_GUESTS: Final = 1_000_000  # where the search ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How much `devices` carry: pages/s of `guests` (None: random arrivals), or guests of `per_guest` [1/s] each."""

    devices: int
    guests: int | None = None
    per_guest: float | None = None
    target: float | None = None
    scv: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an invalid number of devices or rate per guest."""
        checks.count("devices", self.devices)
        if self.per_guest is not None:
            checks.positive("per_guest", self.per_guest, "1/s")

    def load(self, amount: float) -> Load:
        """Load of an `amount` of guests or of pages per second."""
        guests = self.guests if self.per_guest is None else int(amount)
        rate = amount if self.per_guest is None else int(amount) * self.per_guest
        return Load(page_rate=rate, guests=guests, target=self.target, scv=self.scv)

    def meets(self, device: PagingDevice, amount: float, share: float = 1.0) -> bool:
        """Whether at least `share` of the possible devices carry the amount within the target."""
        return bool(meets(device, self.load(amount), self.devices).mean() >= share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Capacity of a kind: `amount` [1/s] or guests, `low` to `high` 90 %, `outcome`; or the `reason` for none."""

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

    question: Question  # devices, guests and target
    rows: tuple[Capacity, ...]  # one per kind of device

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
        """One row per kind: capacity, its 90 % interval, and the devices at that load."""
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
        """Why a kind has no answer, and assumptions."""
        load = self.question.load(1.0)
        lines = [f"{row.kind.name}: {row.reason}." for row in self.rows if row.reason]
        if load.guests is not None:
            lines.append("Each guest has a fault read and a page write outstanding.")
            at = self.question
            lines += random_note([
                (row.kind, at.devices, at.load(row.amount)) for row in self.feasible if row.amount is not None
            ])  # fmt: skip
        return (*lines, *load.assumptions)


def paging_capacity(question: Question, *, names: Sequence[str] = ()) -> PagingCapacity:
    """Pages per second, or guests, that the installed devices carry within a response time.

    >>> found = paging_capacity(Question(devices=4, guests=20, target=4e-3), names=["eckd"])
    >>> 5000 < found.rows[0].amount < 6000
    True
    """
    if question.guests is not None and question.per_guest is not None:
        problem = "none: with a page rate per guest, the number of guests is the answer"
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
    """Largest amount that at least `share` of the possible devices carry within the target."""
    full = at.devices * float(np.max(device.capacity))
    if at.per_guest is None:
        step = full * 0.5**HALVINGS
        return step * (smallest(lambda k: not at.meets(device, step * k, share), 1, 2**HALVINGS) - 1)
    many = math.floor(full / at.per_guest) + 1
    most = min(many, MOST_GUESTS)
    found = smallest(lambda guests: not at.meets(device, guests, share), 1, most)
    if found == most < many:
        raise InputError(
            "per_guest", at.per_guest, f"a larger rate: this one carries {most:,} guests or more", "1/s"
        )
    return float(found - 1)


def _reason(kind: PagingKind, at: Question) -> str:
    """Why a kind carries nothing, and what is needed."""
    device, alone = kind.device, at.load(1.0)
    if at.per_guest is None or alone.target_of(device) < device.service_time:
        return missing(device, alone)
    best = fewest(device, alone)
    if best is None:
        most = 2 * device.pages_per_transfer / device.service_time
        return f"one guest can drive at most {readable(most)} pages/s, fewer than {given(at.per_guest)}"
    return f"one guest of {given(at.per_guest)} pages/s needs {render.counted(best.count, 'device')}"
