"""A candidate in words, for one sentence of an answer."""

from __future__ import annotations

from typing import Any

from planner.demand import kinds
from planner.demand.candidates import Candidates
from planner.render.text import from_to
from planner.units import MILLISECOND, percent, readable

NOTHING = 1e-7  # seconds
ALL = 0.9995  # rounds to 100 %


def in_words(candidates: Candidates, volume: int, candidate: int) -> str:
    """One demand of a volume in a few words.

    Parameters
    ----------
    candidates : Candidates
        Of the volumes.
    volume, candidate : int
        Row and column.

    Returns
    -------
    str
        For a sentence.
    """
    service = float(candidates.service_time[volume, candidate])
    demand: Any = candidates.demands.of((volume, candidate))
    if demand.population > 0:
        always = candidates.layout.kind[candidate] == kinds.CLOSED
        return _requesters(demand, service, always=always) + _beside(demand.single / service)
    together = readable(demand.batch, digits=2)
    if together == "1":  # hardly more than one
        together = readable(demand.batch)
    said = {
        kinds.POISSON: f"open arrivals, {readable(demand.load / service)}/s",
        kinds.VARIABLE: f"open arrivals with service times of scv {readable(max(2 * demand.ratio - 1, 0))}",
        kinds.BATCHES: f"about {together} I/Os come together",
        kinds.MIXED: f"{_percent(demand.share)} of the I/Os come about {together} together, the others one by one",
        kinds.LONG: f"{_percent(demand.share)} of the I/Os come about {together} together, at times many more",
        kinds.FIXED: f"always about {together} I/Os come together",
        kinds.PERIODIC: f"about {together} I/O{'s' * (together != '1')} at once, the volume idle between"
        + _beside(demand.single / service),
        kinds.ON_OFF: f"{readable(demand.on_load / service)}/s for {_time(demand.on_time * service)} at a time, "
        f"{_percent(demand.load / demand.on_load)} of the time",
        kinds.SLOW: f"{readable(demand.on_load / service)}/s for long at a time, less between",
    }
    return said[int(candidates.layout.kind[candidate])]


def _beside(rate: float) -> str:
    return f", beside open arrivals of {readable(rate)}/s" if rate > 0 else ""


def _requesters(demand: Any, service: float, *, always: bool) -> str:
    people = readable(demand.population)
    people += " requester" if people == "1" else " requesters"
    if always:
        return f"{people} with {_time(demand.think * service)} between I/Os"
    return f"{people}, active {_percent(demand.active)} of the time"


def _percent(share: float) -> str:
    return percent(share) if share < ALL else "all"


def _time(seconds: float) -> str:
    return f"{readable(seconds)} s" if seconds >= 1 else milliseconds(seconds, seconds)


def milliseconds(shortest: float, longest: float) -> str:
    """Times from the shortest to the longest [s] in words."""
    if longest < NOTHING:
        return "no time"
    shortest = shortest if shortest >= NOTHING else 0.0
    return f"{from_to(readable(shortest / MILLISECOND), readable(longest / MILLISECOND))} ms"
