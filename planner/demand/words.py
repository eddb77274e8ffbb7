"""A reading in words, for one sentence of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.demand import kinds
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from planner.demand.bursty import Readings


def words(readings: Readings, volume: int, reading: int) -> str:
    """The demand of one volume under one reading."""
    kind = int(readings.layout.kind[reading])
    demand = readings.demands
    service = float(readings.service_time[volume, reading])

    def number(name: str) -> float:
        return float(getattr(demand, name)[volume, reading])

    if kind == kinds.POISSON:
        return f"open arrivals, {number('load') / service:.3g}/s"
    if kind == kinds.CLOSED:
        return f"{_count(number('population'), 'requester')} with {_time(number('think') * service)} between I/Os"
    if kind == kinds.VARIABLE:
        return f"open arrivals with service times of scv {max(2 * number('ratio') - 1, 0):.2g}"
    if kind == kinds.BATCHES:
        return f"about {_together(number('batch'))} I/Os come together"
    if kind == kinds.MIXED:
        return f"{number('share'):.0%} of the I/Os come about {_together(number('batch'))} together, the others one by one"
    if kind == kinds.FIXED:
        return f"always about {_together(number('batch'))} I/Os come together"
    if kind == kinds.PERIODIC:
        return f"about {_together(number('batch'))} I/Os at once, the volume idle between"
    if kind == kinds.ACTIVE:
        return (
            f"{_count(number('population'), 'requester')}, active {number('active'):.2g} of the time".replace(
                f"{number('active'):.2g} of", f"{_percent(number('active'))} of"
            )
        )
    return (
        f"{number('on_load') / service:.3g}/s for {_time(number('on_time') * service)} at a time, "
        f"{_percent(number('load') / number('on_load'))} of the time"
    )


def _together(mean: float) -> str:
    return f"{mean:.0f}" if mean >= 9.5 else f"{mean:.2g}"  # noqa: PLR2004 - two digits


def _count(number: float, noun: str) -> str:
    shown = f"{number:.3g}"
    return f"{shown} {noun}" if shown == "1" else f"{shown} {noun}s"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "all"  # noqa: PLR2004 - rounds to 100 %


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds / MILLISECOND:.3g} ms"
