"""The search for the fewest aliases that meet a target: few counts are solved, the excess over the target leads."""

from __future__ import annotations

import math
from typing import Final

from planner.devices import Performance, Pool
from planner.errors import InfeasibleError
from planner.measurements import Run
from planner.sizing.target import Target
from planner.units import MILLISECOND

LARGEST_EXCESS: Final = 1e12
LEAST_EXCESS: Final = 1e-12
USUAL_SLOPE: Final = 0.5  # of the logarithm of the excess, for each alias
LEAST_SLOPE: Final = 0.05
BISECT_EVERY: Final = 4
SPREAD_OF_COUNTS: Final = 2.0  # standard deviations of the aliases wanted that a first guess allows for


def first_guess(pool: Pool) -> int:
    """Guess the count: the mean of the aliases in use if there were any number of them, and two deviations.

    Parameters
    ----------
    pool : Pool
        The pool.

    Returns
    -------
    int
        A count to begin a search with.
    """
    mean = 0.0
    for part in pool.classes:
        if math.isnan(part.population):
            load = part.arrival_rate * pool.service_time
            idle = math.exp(-load)
        else:
            share = pool.service_time / (pool.service_time + part.think_time)
            load, idle = part.population * share, (1.0 - share) ** part.population
        mean += part.volumes * max(load - 1.0 + idle, 0.0)
    return round(mean + SPREAD_OF_COUNTS * math.sqrt(mean))


def fewest(
    pool: Pool, target: Target, run: Run, begin: int | None = None
) -> tuple[int, dict[int, Performance]]:
    """Find the smallest count that meets the target.

    More aliases never make the excess larger, so that one count that meets the target and one below it that does not
    settle it. Between two counts the logarithm of the excess is nearly a straight line.

    Parameters
    ----------
    pool : Pool
        The pool.
    target : Target
        What must be achieved.
    run : Run
        The measurement, for the addresses that there are.
    begin : int, optional
        Count to begin with; guessed where None.

    Returns
    -------
    int
        The count.
    dict
        What was solved on the way, one element each, by count.

    Raises
    ------
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        The pool could not be solved.
    """
    limit = most_useful(pool, run)
    solved: dict[int, Performance] = {}
    known: dict[int, float] = {}
    low, high = -1, limit + 1  # one that does not meet the target, one that does or is out of reach
    count = min(max(first_guess(pool) if begin is None else begin, 0), limit)
    for step in range(2 * (limit + 2)):
        solved[count] = pool.solve([float(count)])
        excess = float(target.excess(solved[count])[0])
        known[count] = math.log(min(max(excess, LEAST_EXCESS), LARGEST_EXCESS))
        if excess <= 1.0:
            high = count
        else:
            low = count
        if high - low <= 1:
            break
        count = _next(known, low, high, limit, bisect=step % BISECT_EVERY == BISECT_EVERY - 1)
    if high > limit:
        raise InfeasibleError(
            f"no count up to {limit} aliases meets the target ({target}); {_reached(solved[limit])}"
        )
    return high, solved


def _reached(rows: Performance) -> str:
    """What the largest count comes to."""
    count, wait = int(rows.aliases[0]), float(rows.wait_time[0]) / MILLISECOND
    if not math.isfinite(wait):
        return f"with {count} a queue still grows without bound: base and aliases of a volume cannot serve its load"
    service = float(rows.service_time[0]) / MILLISECOND
    return (
        f"with {count} the wait is {wait:.3g} ms, the response {wait + service:.3g} ms of which {service:.3g} ms are "
        "service, which aliases do not shorten"
    )


def most_useful(pool: Pool, run: Run) -> int:
    """Largest count worth trying: an alias for every requester but the first of each volume, if there are addresses.

    Parameters
    ----------
    pool : Pool
        The pool.
    run : Run
        The measurement.

    Returns
    -------
    int
        A count.
    """
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    return int(min(run.most_aliases, enough))


def _next(known: dict[int, float], low: int, high: int, limit: int, *, bisect: bool) -> int:
    """Count to try next: where a straight line meets the target, inside of what is still open."""
    slope = _slope(known)
    if low < 0:  # nothing has missed the target yet
        return max(high - max(math.ceil(-known[high] / slope), 1), 0)
    if high > limit:  # nothing has met it yet
        far = math.ceil(known[low] / slope) if known[low] < math.log(LARGEST_EXCESS) else low // 2
        return min(low + max(far, 1), limit)
    if bisect or known[low] >= math.log(LARGEST_EXCESS):
        return (low + high) // 2
    line = low + (high - low) * known[low] / (known[low] - known[high])
    return min(max(round(line), low + 1), high - 1)


def _slope(known: dict[int, float]) -> float:
    """By how much the logarithm of the excess falls with one alias more, from the two counts nearest to the target."""
    nearest = sorted(sorted(known, key=lambda count: abs(known[count]))[:2])
    if len(nearest) == 1:
        return USUAL_SLOPE
    first, second = nearest
    return max((known[first] - known[second]) / (second - first), LEAST_SLOPE)
