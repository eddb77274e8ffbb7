"""A reading in words, for one sentence of an answer."""

from __future__ import annotations

from dataclasses import fields

from planner.demand import kinds
from planner.demand.kinds import Demands
from planner.demand.readings import Readings
from planner.units import MILLISECOND

NOTHING = 1e-7  # seconds


def in_words(readings: Readings, volume: int, reading: int) -> str:
    """One demand of a volume in a few words.

    Parameters
    ----------
    readings : Readings
        Of the volumes.
    volume, reading : int
        Row and column.

    Returns
    -------
    str
        For a sentence.
    """
    service = float(readings.service_time[volume, reading])
    number = {
        item.name: float(getattr(readings.demands, item.name)[volume, reading]) for item in fields(Demands)
    }
    if number["population"] > 0:
        always = readings.layout.kind[reading] == kinds.CLOSED
        return _requesters(number, service, always=always) + _beside(number["single"] / service)
    together = _together(number["batch"])
    said = {
        kinds.POISSON: f"open arrivals, {number['load'] / service:.3g}/s",
        kinds.VARIABLE: f"open arrivals with service times of scv {max(2 * number['ratio'] - 1, 0):.2g}",
        kinds.BATCHES: f"about {together} I/Os come together",
        kinds.MIXED: f"{_percent(number['share'])} of the I/Os come about {together} together, the others one by one",
        kinds.LONG: f"{_percent(number['share'])} of the I/Os come about {together} together, at times many more",
        kinds.FIXED: f"always about {together} I/Os come together",
        kinds.PERIODIC: f"about {together} I/Os at once, the volume idle between"
        + _beside(number["single"] / service),
        kinds.ON_OFF: f"{number['on_load'] / service:.3g}/s for {_time(number['on_time'] * service)} at a time, "
        f"{_percent(number['load'] / number['on_load'])} of the time",
    }
    return said[int(readings.layout.kind[reading])]


def _beside(rate: float) -> str:
    return f", beside open arrivals of {rate:.3g}/s" if rate > 0 else ""


def _requesters(number: dict[str, float], service: float, *, always: bool) -> str:
    people = f"{number['population']:.3g}"
    people += " requester" if people == "1" else " requesters"
    if always:
        return f"{people} with {_time(number['think'] * service)} between I/Os"
    return f"{people}, active {_percent(number['active'])} of the time"


def _together(mean: float) -> str:
    return f"{mean:.0f}" if mean >= 9.5 else f"{mean:.2g}"  # noqa: PLR2004 - two digits


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "all"  # noqa: PLR2004 - rounds to 100 %


def _time(seconds: float) -> str:
    if seconds < NOTHING:
        return "no time"
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds / MILLISECOND:.3g} ms"
