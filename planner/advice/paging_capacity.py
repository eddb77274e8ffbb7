"""Paging asked the other way round: how many pages a second, or how many guests, the devices that there are carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from planner import render, style
from planner.advice.paging_load import (
    Load,
    PagingKind,
    PagingOutcome,
    fewest,
    kinds,
    meets,
    missing,
    outcome,
)
from planner.answer import Answer
from planner.errors import InfeasibleError, InputError
from planner.units import MILLISECOND

HALVINGS: Final = 40  # of the page rate
MOST_GUESTS: Final = 1_000_000  # where the search ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of `devices`: the most pages a second of `guests` (None: at random) within `target` [s].

    Or how many guests of `per_guest` pages a second each [1/s].
    """

    devices: int
    guests: int | None = None
    per_guest: float | None = None
    target: float | None = None
    scv: float = 1.0

    def load(self, amount: float) -> Load:
        """The load of so many guests, or of so many pages a second."""
        if self.per_guest is None:
            return Load(page_rate=amount, guests=self.guests, target=self.target, scv=self.scv)
        guests = int(amount)
        return Load(page_rate=guests * self.per_guest, guests=guests, target=self.target, scv=self.scv)

    def meets(self, kind: PagingKind, amount: float, speed: float) -> bool:
        """Whether the devices carry it within the target, each `speed` times as fast as read from the report."""
        return meets(kind.device, self.load(amount).times(1 / speed), self.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """A kind and the most it carries: `amount` pages a second, or guests, between `low` and `high`, 90 %.

    `outcome` is what the devices do then; None with the `reason` where they carry nothing within the target.
    """

    kind: PagingKind
    amount: float | None = None
    low: float = 0.0
    high: float = 0.0
    outcome: PagingOutcome | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingCapacity(Answer):
    """What paging devices carry.

    Attributes
    ----------
    question : Question
        What was asked.
    rows : tuple of Capacity
        One a kind of device.
    """

    PICTURE: ClassVar[str] = "planner.advice.picture_paging:draw_capacity"

    question: Question
    rows: tuple[Capacity, ...]

    @property
    def feasible(self) -> tuple[Capacity, ...]:
        """Kinds that meet the target."""
        return tuple(row for row in self.rows if row.amount is not None)

    @property
    def what(self) -> str:
        """What is counted."""
        return "pages/s" if self.question.per_guest is None else "guests"

    @property
    def headline(self) -> str:
        """How much each kind carries, with its range."""
        at = self.question
        asked = render.counted(at.devices, "device")
        if at.per_guest is not None:
            asked += f", {at.per_guest:g} pages/s of each guest"
        elif at.guests is not None:
            asked += f", {render.counted(at.guests, 'guest')}"
        within = "twice the service time" if at.target is None else f"{at.target / MILLISECOND:g} ms"
        parts = [
            f"{style.rounded(row.amount or 0.0)} {self.what} by {row.kind.name} ({style.rounded(row.low)} to "
            f"{style.rounded(row.high)}, "
            f"{style.NINETY})"
            for row in self.feasible
        ]
        return f"{asked}, response at most {within}: up to {', or '.join(parts)}."

    def table(self) -> render.Table:
        """One row a kind: how much, its 90 % interval, and what the devices do then."""
        rows = self.rows
        name, unit = ("page_rate", "1/s") if self.question.per_guest is None else ("guests", "")
        done = [row.outcome for row in rows]
        column = render.Column

        def of(pick: Callable[[Capacity], float]) -> list[float | None]:
            return [None if row.amount is None else pick(row) for row in rows]

        return render.Table(
            columns=(
                column(name="kind", unit="", values=[row.kind.name for row in rows]),
                column(name=name, unit=unit, label="at most", decimals=0, values=[row.amount for row in rows]),
                column(name=f"{name}_low", unit=unit, label="from", decimals=0, values=of(lambda row: row.low)),
                column(name=f"{name}_high", unit=unit, label="to", decimals=0, values=of(lambda row: row.high)),
                column(name="response", unit="ms", decimals=2,
                       values=[None if each is None else each.response_time / MILLISECOND for each in done]),
                column(name="utilization", unit="", label="busy", decimals=2,
                       values=[None if each is None else each.utilization for each in done]),
                column(name="machine", unit="", label="measured on", values=[row.kind.machine for row in rows]),
            )
        )  # fmt: skip

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a kind has no answer, what was assumed."""
        at = self.question
        lines = [f"{row.kind.name}: {row.reason}." for row in self.rows if row.reason]
        if at.guests is None and at.per_guest is None:
            lines.append(
                "Pages are taken to come at random. All runs had guests that wait for their pages (--guests), which "
                "queue less."
            )
        else:
            lines.append("Each guest has a fault read and a page write outstanding.")
        if at.target is None:
            lines.append("No response time was asked for (--target): the wait may be as long as the service.")
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """`devices`, the question, and one row a kind."""
        at = self.question
        return {
            "devices": at.devices,
            "guests": at.guests,
            "page_rate_per_guest": at.per_guest,
            "target_ms": None if at.target is None else at.target / MILLISECOND,
            "kinds": self.table().records(),
            "reasons": {row.kind.name: row.reason for row in self.rows if row.reason},
            "notes": list(self.notes),
        }


def paging_capacity(question: Question, *, names: Sequence[str] = ()) -> PagingCapacity:
    """Ask how many pages a second, or how many guests, the devices that there are carry within a response time.

    Parameters
    ----------
    question : Question
        Devices, guests, target.
    names : sequence of str, optional
        Kinds of device; all where empty.

    Returns
    -------
    PagingCapacity
        One row a kind.

    Raises
    ------
    InputError
        An unknown kind, or both guests and a page rate of each.
    InfeasibleError
        No kind meets the target.

    Examples
    --------
    >>> found = paging_capacity(Question(devices=4, guests=20, target=4e-3), names=["eckd"])
    >>> 5000 < found.rows[0].amount < 6000
    True
    """
    if question.guests is not None and question.per_guest is not None:
        raise InputError(
            "guests", question.guests, "none: a page rate of each guest asks how many there can be"
        )
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
    fewest, most = 0, min(math.floor(full / at.per_guest) + 1, MOST_GUESTS)
    while fewest < most - 1:
        half = (fewest + most) // 2
        fewest, most = (half, most) if at.meets(kind, half, speed) else (fewest, half)
    return float(fewest)


def _reason(kind: PagingKind, at: Question) -> str:
    """What is missing, and what would help."""
    device, alone = kind.device, at.load(1.0)
    if at.per_guest is None or alone.target_of(device) < device.service_time:
        return missing(device, alone)
    best = fewest(device, alone)
    if best is None:
        most = 2 * device.pages_per_transfer / device.service_time
        return f"one guest keeps at most {most:.0f} pages/s under way, fewer than {at.per_guest:g}"
    return f"one guest of {at.per_guest:g} pages/s takes {render.counted(best.count, 'device')}"
