"""What is too small to matter, and which answers say that aliases may not be the problem."""

from __future__ import annotations

from typing import Final

from planner import render
from planner.errors import InputError
from planner.measurements import Run

FLOOR: Final = 0.05  # I/Os queued, and I/Os in service (5 % busy), below which a volume does not matter
MOST_TIMES: Final = 2.0  # aliases to add over those in use
MOST_ADDED: Final = 32  # aliases
MOST_GROWTH: Final = 0.5  # of the service time
LOOK: Final = (
    "Before adding aliases look at the control unit (CUWt, other hosts), the channels (pend), the cache (disconnect), "
    "and whether one guest makes the load: more I/Os at once only queue there."
)


def checked_floor(floor: float) -> float:
    """The floor, refused where it is none."""
    if not 0.0 <= floor < float("inf"):
        raise InputError("floor", floor, "I/Os of zero or more, such as 0.05; 0 lists every volume")
    return floor


def small(queued: float, in_service: float, floor: float) -> bool:
    """Whether both I/Os waiting and I/Os in service are below the floor."""
    return queued < floor and in_service < floor


def below_floor(run: Run, floor: float = FLOOR) -> bool:
    """Whether a measurement is below the floor; a queue that was not measured does not hold it above."""
    queued = float(run.total_queue.value) if run.queue_known else 0.0
    return small(queued, float(run.io_rate.value @ run.service.value), floor)


def reasons(in_use: int, recommended: int, service_before: float, service_after: float) -> list[str]:
    """Why more aliases may not be the answer, in a few words each."""
    more = recommended - in_use
    if more <= 0:
        return []
    growth = service_after / service_before - 1.0  # nan compares as no growth
    found = []
    if in_use > 0 and more > MOST_TIMES * in_use:
        found.append(f"{render.counted(more, 'more alias', 'more aliases')}, over twice those in use")
    elif more > MOST_ADDED:
        found.append(f"{more} more aliases")
    if growth > MOST_GROWTH:
        found.append(f"the service time grows by {growth:.0%}")
    return found
