"""A pool beside what it was: a count beside the aliases in use, and which of its volumes gain from more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from planner import render
from planner.devices import Performance, Pool
from planner.measurements import Run
from planner.quantity import column
from planner.render.text import ENOUGH, SHORT, SPARE, UNKNOWN
from planner.results import Integers
from planner.units import MILLISECOND, readable


def in_use_now(then: int, last: int | None) -> int:
    """Aliases in use by now: in the `last` of several intervals, where that is another one."""
    return then if last is None else last


class Count(NamedTuple):
    """A count of aliases, its range, and the aliases in use; whether the load is `small`, too quiet to matter."""

    needed: int | None
    low: int | None
    high: int | None
    in_use: int
    small: bool = False

    @property
    def too_quiet(self) -> bool:
        """Whether it lacks only what the digits of next to no load seem to ask for."""
        return self.small and (self.needed or 0) > self.in_use

    @property
    def verdict(self) -> str:
        """Spare only where even the upper end of the range is below what is in use."""
        if self.needed is None or self.high is None:
            return UNKNOWN
        if self.needed > self.in_use:
            return ENOUGH if self.small else SHORT
        return SPARE if self.high < self.in_use else ENOUGH

    @property
    def missing(self) -> int:
        """Aliases to add; below zero where there are more than needed."""
        return (self.needed or 0) - self.in_use

    @property
    def spare(self) -> int:
        """Aliases beyond the upper end of the range."""
        return self.in_use - (self.high or 0)

    @property
    def change(self) -> int:
        """Aliases to add where it is short; below zero those to spare; 0 where those in use are enough."""
        return {SHORT: self.missing, SPARE: -self.spare}.get(self.verdict, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What one volume of a class gets from the recommended aliases."""

    volumes: int  # equal volumes
    rate_before: float  # I/O rate of one of them with the aliases in use and with the recommended ones [1/s]
    rate_after: float
    response_before: float  # its response time [s]
    response_after: float

    @property
    def gains(self) -> bool:
        """Whether the I/Os are answered noticeably sooner."""
        return self.response_after < 0.995 * self.response_before

    def __str__(self) -> str:
        """Say it in words."""
        head = render.counted(self.volumes, "volume")
        if not self.gains:
            return (
                f"{head} at {readable(self.rate_before)}/s {'gains' if self.volumes == 1 else 'gain'} nothing"
            )
        before, after = readable(self.rate_before), readable(self.rate_after)
        rates = f"at {before}" if before == after else f"from {before} to {after}"
        return f"{head} {rates}/s, {_shown(self.response_before)} to {_shown(self.response_after)} ms"


GAINS: Final = (
    column("volumes"), column("io_rate_before", of="rate_before"), column("io_rate_after", of="rate_after"),
    *(column(name, "ms", of=name) for name in ("response_before", "response_after")),
)  # fmt: skip


def _shown(response: float) -> str:
    return readable(response / MILLISECOND, 2, zeros=True)


def gains(pool: Pool, rows: Performance, in_use: int, recommended: int) -> tuple[Gain, ...]:
    """Compare each class of volumes with the aliases in use and with the recommended ones."""
    return tuple(
        Gain(
            volumes=part.volumes,
            rate_before=float(rows.volume_rates[in_use, k]),
            rate_after=float(rows.volume_rates[recommended, k]),
            response_before=float(rows.volume_responses[in_use, k]),
            response_after=float(rows.volume_responses[recommended, k]),
        )
        for k, part in enumerate(pool.classes)
    )


def own_gains(found: Sequence[Gain], run: Run, classes: Integers) -> tuple[Gain, ...]:
    """The same from what was measured of the volumes of each class, `classes` of each volume."""
    measured = []
    for k, gain in enumerate(found):
        members = np.flatnonzero(classes == k)
        rates = run.io_rate.value[members]
        before = float(rates.mean())
        # Rates alone are offered: the model has them as they are, and less only where they saturate.
        response, change = gain.response_before, 1.0
        if run.queue_known:
            response = float(np.average(run.responses[members], weights=rates))
            change = before / gain.rate_before
        measured.append(
            replace(gain, rate_before=before, rate_after=gain.rate_after * change, response_before=response)
        )
    return tuple(measured)


def helped(rows: Performance, in_use: int, recommended: int) -> bool:
    """Whether more aliases bring anything: not where most of the wait only turns into service."""
    if recommended <= in_use:
        return True
    before, after = float(rows.response_time[in_use]), float(rows.response_time[recommended])
    # A twentieth of rate or response of the whole is worth a device number, less is not.
    faster = float(rows.io_rate[recommended]) > 1.05 * float(rows.io_rate[in_use])
    if not math.isfinite(before) or faster or after < 0.95 * before:
        return True
    gone = float(rows.wait_time[in_use] - rows.wait_time[recommended])
    grown = float(rows.service_time[recommended] - rows.service_time[in_use])
    return grown <= gone / 2
