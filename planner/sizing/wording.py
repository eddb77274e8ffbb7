"""What the numbers mean, in sentences: the demand that was read, what to do next, where aliases will not help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from planner import render
from planner.demand import Reading
from planner.devices import Performance, Pool
from planner.measurements import Run
from planner.sizing.comparison import Gain
from planner.units import MILLISECOND

LEAST_ERROR: Final = 0.005  # of a wait; less is negligible
UNEQUAL_SERVICE: Final = 1.25
MOST_SPELLED_OUT: Final = 2  # demands of classes
MOST_NAMED: Final = 4  # readings beside the preferred one
PATH_SHARE: Final = 1 / 3  # of the service time in pend or disconnect: the limit lies behind the volume


def why(
    run: Run,
    combined: Sequence[Sequence[Reading]],
    counts: Sequence[int],
    solved: Sequence[Performance],
    recommended: int,
) -> str:
    """Name the reading that was taken and what the others would say."""
    first = combined[0]
    text = _demand(first, run)
    if any(not reading.fits for reading in first):
        text += " (nearest: no demand fits the printed digits)"
    others = list(
        dict.fromkeys(
            f"{_short(reading)}: {count} and {rows.io_rate[recommended]:.0f}/s"
            for reading, count, rows in list(zip(combined, counts, solved, strict=True))[1:]
        )
    )
    rate = solved[0].io_rate[recommended]
    text = f"Demand: {text}; {recommended} would give {rate:.0f}/s."
    if len(others) > MOST_NAMED:
        others = [*others[: MOST_NAMED - 1], f"... {others[-1]}"]
    if others:
        text += f" The measurement also fits {', '.join(others)} with {recommended}."
    return text


def _demand(readings: Sequence[Reading], run: Run) -> str:
    """The demand of every class, or of many classes from the least to the most."""
    words = list(dict.fromkeys(reading.words() for reading in readings))
    unequal = len(readings) == len(run.classes) and any(part.rates for part in run.classes)
    closed = [reading for reading in readings if reading.population is not None]
    if len(words) <= MOST_SPELLED_OUT and (len(closed) == len(readings) or not unequal):
        return "; ".join(words)
    found = [f"{len(readings)} classes of volumes"] if len(words) > MOST_SPELLED_OUT else []
    if closed:
        people = _from_to([reading.population or 0 for reading in closed])
        think = _from_to([(reading.think_time or 0.0) / MILLISECOND for reading in closed])
        found.append(f"about {people} requesters a volume with {think} ms between I/Os")
    arrivals = [
        rate
        for k, reading in enumerate(readings)
        if reading.arrival_rate is not None
        for rate in ((unequal and run.classes[k].rates) or (reading.arrival_rate,))
    ]
    if arrivals:
        found.append(f"open arrivals, {_from_to(arrivals)}/s a volume")
    return "; ".join(found)


def _from_to(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _short(reading: Sequence[Reading]) -> str:
    kinds = {each.population for each in reading if each.population is not None}
    words = [f"{_from_to([float(kind) for kind in kinds])} requesters"] if kinds else []
    if any(each.population is None for each in reading):
        words.append("open arrivals")
    return " and ".join(words)


def beside(recommended: int, classic: int | None, gained: Sequence[Gain]) -> list[str]:
    """What classic PAV would take, and which volumes gain where they are unequal."""
    found = []
    if classic is not None and classic > recommended:
        saved = render.counted(classic - recommended, "device number")
        found.append(f"Classic PAV would take {classic} aliases for the same target: the pool saves {saved}.")
    if len(gained) > 1 and recommended > 0:
        found.append(f"Gain with {recommended}: {'; '.join(map(str, gained))}.")
    return found


def grouping(run: Run, pool: Pool, error: float) -> list[str]:
    """What taking nearly equal volumes as one class costs, and what unequal service times are taken for."""
    found = []
    if error >= LEAST_ERROR:
        classes = "1 class" if len(pool.classes) == 1 else f"{len(pool.classes)} classes"
        bound = f"about {error:.1%}" if math.isfinite(error) else "an unknown share"
        found.append(
            f"{run.bases} volumes taken as {classes}, by which the wait of a volume may be off by {bound}."
        )
    services = [part.service.value for part in run.classes]
    if max(services) > UNEQUAL_SERVICE * min(services):
        found.append(
            f"Service times differ from {min(services) / MILLISECOND:.2g} to {max(services) / MILLISECOND:.2g} ms; "
            "the pool is solved with their mean, weighted by rate."
        )
    return found


def notes(run: Run, recommended: int, growth: float, readings_left: int) -> tuple[str, ...]:
    """What to do next, and where aliases will not help."""
    found = list(run.notes)
    if growth:
        found.append(f"Demand grown by {growth:.0%} first; requesters rounded up to whole ones.")
    if recommended == 0 and run.aliases == 0:
        found.append("Aliases will not help: no I/Os are waiting.")
    if run.path_share is not None and run.path_share > PATH_SHARE:
        found.append(
            f"Pend or disconnect takes {run.path_share:.0%} of the service time: the limit lies behind the volume, "
            "in channels or storage server; look there before adding aliases."
        )
    if run.cu_wait:
        found.append("The control unit is waited for (CUWt above 0): the limit lies behind the volume.")
    if recommended > run.aliases:
        more = recommended - run.aliases
        text = f"Next: add {more} alias{'es' if more > 1 else ''} and measure again"
        tells = "; both listings together, of two alias counts, tell how many requesters there are"
        found.append(text + (tells if readings_left > 1 else "") + ".")
    elif recommended < run.aliases:
        found.append(
            f"Next: {run.aliases - recommended} of the {run.aliases} aliases in use could serve elsewhere."
        )
    elif run.aliases:
        found.append("Next: nothing; the aliases in use are enough and none is too many.")
    return tuple(found)
