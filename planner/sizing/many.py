"""The answer for the volumes of a listing: one line each, who waits, who gains, who does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from planner import render
from planner.answer import Answer
from planner.demand import Target
from planner.measurements.systems import NO_QUEUE, OWN_RESPONSE
from planner.sizing.answer import SCOPE, AliasAnswer, together
from planner.sizing.gaps import Gaps
from planner.units import MILLISECOND

GAINS: Final = "gains"
SHIFTS: Final = "wait becomes service"
SPARES: Final = "could spare"
CALM: Final = "does not wait"
LITTLE: Final = "waits little"
SATURATED: Final = "saturated"
UNKNOWN: Final = "queue not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A volume without an answer: its `name`, the `problem`, and the `exit_code` that stands for it."""

    name: str
    problem: str
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VolumesAnswer(Answer):
    """Answers for many volumes with aliases of their own, the longest wait first.

    Attributes
    ----------
    answers : tuple of AliasAnswer
        One a volume.
    unanswered : tuple of Unanswered
        Volumes without an answer.
    target : Target
        What was asked for.
    growth : float
        Share by which the demand grew first.
    remarks : tuple of str
        How the measurements were read.
    gaps : Gaps
        Volumes that could not be read.
    """

    PICTURE: ClassVar[str] = "planner.sizing.picture:draw_volumes"

    answers: tuple[AliasAnswer, ...]
    target: Target
    unanswered: tuple[Unanswered, ...] = ()
    growth: float = 0.0
    remarks: tuple[str, ...] = ()
    gaps: Gaps = field(default_factory=Gaps)

    @property
    def exit_code(self) -> int:
        """0 if every volume could be read and has an answer."""
        return max([each.exit_code for each in self.unanswered] + [self.gaps.exit_code])

    @property
    def headline(self) -> str:
        """Who gains, who waits in vain, who does not wait."""
        verdicts = [verdict(answer) for answer in self.answers]
        gaining = [a for a, v in zip(self.answers, verdicts, strict=True) if v in (GAINS, SATURATED)]
        parts = []
        if gaining:
            more = sum(a.recommended - a.in_use for a in gaining)
            low, high = (sum(max(a.range[end] - a.in_use, 0) for a in gaining) for end in (0, 1))
            word = "gains" if len(gaining) == 1 else "gain"
            parts.append(f"{len(gaining)} {word} from {more} aliases more in all ({low} to {high})")
        counts = (
            (verdicts.count(SHIFTS), "waits, but aliases do not help", "wait, but aliases do not help"),
            (verdicts.count(SPARES), "could spare some", "could spare some"),
            (verdicts.count(LITTLE), "waits little", "wait little"),
            (verdicts.count(CALM), "does not wait", "do not wait"),
            (verdicts.count(UNKNOWN), "needs none at open arrivals", "need none at open arrivals"),
            (len(self.unanswered), "has no answer", "have no answer"),
        )
        parts += [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
        total = render.counted(len(self.answers) + len(self.unanswered), "volume")
        chosen = any(answer.interval for answer in self.answers)
        when = ", each in the worst of its intervals" if chosen else ""
        first = f"{self.gaps.words}. " if self.gaps else ""
        return f"{first}{total}{when}: {', '.join(parts)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was read, what has no answer, where to look closer."""
        seen = [f"{each.name}: {each.problem}" for each in self.unanswered]
        strained = [a.name for a in self.answers if a.strain > 1.0]
        if strained:
            seen.append(f"No demand explains the measurement of {_listed(strained)}.")
        common = dict.fromkeys(
            note
            for answer in self.answers
            for note in answer.remarks.more
            if note in (NO_QUEUE, OWN_RESPONSE)
        )
        return (
            *self.gaps.notes, *seen, *self.remarks, *common, SCOPE,
            "Next: --device shows one in full, with what else its numbers could mean.",
        )  # fmt: skip

    def overview(self) -> render.Table:
        """One row a volume.

        Returns
        -------
        render.Table
            Times in milliseconds.
        """
        columns: tuple[tuple[str, str, str, int | None, Callable[[AliasAnswer], Any]], ...] = (
            ("device", "", "device", None, lambda a: a.name),
            ("in_use", "", "in use", 0, lambda a: a.in_use),
            ("recommended", "", "aliases", 0, lambda a: a.recommended),
            ("recommended_low", "", "from", 0, lambda a: a.range[0]),
            ("recommended_high", "", "to", 0, lambda a: a.range[1]),
            ("io_rate", "1/s", "I/O rate", self._decimals, lambda a: float(a.rows.io_rate[a.in_use])),
            ("io_rate_after", "1/s", "then", self._decimals, lambda a: float(a.rows.io_rate[a.recommended])),
            ("response", "ms", "response", 2, lambda a: float(a.rows.response_time[a.in_use]) / MILLISECOND),
            (
                "response_after",
                "ms",
                "then",
                2,
                lambda a: float(a.rows.response_time[a.recommended]) / MILLISECOND,
            ),
            ("queued", "", "queued", 2, lambda a: float(a.rows.queued[a.in_use])),
            ("verdict", "", "", None, verdict),
        )
        return render.Table(
            columns=tuple(
                render.Column(
                    name=name, unit=unit, values=[of(a) for a in self.answers], label=label or " ", decimals=digits
                )
                for name, unit, label, digits, of in columns
            )
        )  # fmt: skip

    @property
    def _decimals(self) -> int:
        rates = [float(answer.rows.io_rate[answer.in_use]) for answer in self.answers]
        return 0 if not rates or min(rates) >= 30.0 else 1  # noqa: PLR2004 - three digits or so

    def sections(self) -> tuple[render.Section, ...]:
        """One row a volume.

        Returns
        -------
        tuple of render.Section
            One.
        """
        caption = f"aliases: {self.target}; then: with them. Longest wait first."
        return (render.Section(table=self.overview(), caption=caption),)

    def table(self) -> render.Table:
        """The rows of all volumes, a row an alias count, with a column that names the device.

        Returns
        -------
        render.Table
            Times in milliseconds.
        """
        return together(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as ``--json`` prints it.

        Returns
        -------
        dict
            `volumes`, each as for one volume, with its `device` and `verdict`.
        """
        return {
            "headline": self.headline,
            "target": str(self.target),
            "growth": self.growth,
            "volumes_missing": len(self.gaps.volumes),
            "volumes": [{"device": a.name, "verdict": verdict(a), **a.to_dict()} for a in self.answers],
            "problems": [{"device": each.name, "problem": each.problem} for each in self.unanswered],
            "notes": list(self.notes),
        }


def verdict(answer: AliasAnswer) -> str:
    """Tell in a few words what aliases do for a volume.

    Parameters
    ----------
    answer : AliasAnswer
        Its answer.

    Returns
    -------
    str
        For a column.
    """
    if answer.saturated:
        return SATURATED
    if answer.recommended > answer.in_use:
        return GAINS if answer.helps else SHIFTS
    if answer.recommended < answer.in_use:
        return SPARES
    if answer.waiting is None:
        return UNKNOWN
    return LITTLE if answer.waiting else CALM


def in_order(answers: Sequence[AliasAnswer]) -> tuple[AliasAnswer, ...]:
    """The longest wait first.

    Parameters
    ----------
    answers : sequence of AliasAnswer
        In any order.

    Returns
    -------
    tuple of AliasAnswer
        Those that are saturated or wait longest first.
    """

    def wait(answer: AliasAnswer) -> float:
        found = float(answer.rows.wait_time[answer.in_use])
        return math.inf if math.isnan(found) else found

    return tuple(sorted(answers, key=lambda answer: -wait(answer)))


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
