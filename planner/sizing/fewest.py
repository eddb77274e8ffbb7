"""The search for the fewest aliases that meet a target: few counts are solved, the excess over the target leads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from planner.devices import Performance, Pool
from planner.errors import InfeasibleError
from planner.measurements import Run
from planner.sizing.target import Target
from planner.units import MILLISECOND

LARGEST_EXCESS: Final = 1e12
LEAST_EXCESS: Final = 1e-12
LEAST_SLOPE: Final = 0.05  # of the logarithm of the excess, for each alias
BISECT_EVERY: Final = 4
TWO: Final = 2  # counts that make a line
SPREAD_OF_COUNTS: Final = 2.0  # standard deviations of the aliases wanted that a first guess allows for


def first_guess(pool: Pool) -> int:
    """Guess the count: the mean of the aliases in use if there were any number of them, and two deviations."""
    mean = _mean_in_use(pool)
    return round(mean + SPREAD_OF_COUNTS * math.sqrt(mean))


def _mean_in_use(pool: Pool) -> float:
    """Aliases in use on average if there were any number of them."""
    mean = 0.0
    for part, service in zip(pool.classes, pool.service_times, strict=True):
        if math.isnan(part.population):
            load = part.arrival_rate * service
            idle = math.exp(-load)
        else:
            share = service / (service + part.think_time)
            load, idle = part.population * share, (1.0 - share) ** part.population
        mean += part.volumes * max(load - 1.0 + idle, 0.0)
    return mean


class Tried:
    """One alias count of a pool, solved.

    Parameters
    ----------
    pool : Pool
        The pool.
    aliases : int
        Its aliases.
    target : Target
        What they must achieve.

    Attributes
    ----------
    log_excess : float
        Logarithm of the excess over the target.
    """

    def __init__(self, pool: Pool, aliases: int, target: Target) -> None:
        self._rows = pool.solve([aliases])
        excess = float(target.excess(self._rows)[0])
        self.log_excess = math.log(min(max(excess, LEAST_EXCESS), LARGEST_EXCESS))

    def settled(self) -> Performance:
        """Its rows."""
        return self._rows


def fewest(
    pool: Pool, target: Target, run: Run, begin: int | None = None, like: Mapping[int, Tried] | None = None
) -> tuple[int, dict[int, Tried]]:
    """Find the smallest count that meets the target.

    More aliases never make the excess larger, so that one count that meets the target and one below it that does not
    settle it. Between two counts the logarithm of the excess is nearly a straight line.
    """
    limit = most_useful(pool, run)
    tried: dict[int, Tried] = {}
    like = like or {}
    usual = _slope(like, _usual_slope(pool))
    low, high = -1, limit + 1  # one that does not meet the target, one that does or is out of reach
    count = min(max(first_guess(pool) if begin is None else begin, 0), limit)
    for step in range(2 * (limit + 2)):
        tried[count] = Tried(pool, count, target)
        if tried[count].log_excess <= 0.0:
            high = count
        else:
            low = count
        if high - low <= 1:
            break
        known = {each: found.log_excess for each, found in tried.items()}
        slope = _slope(tried, usual)
        count = next_count(known, low, high, limit, slope, bisect=step % BISECT_EVERY == BISECT_EVERY - 1)
    if high > limit:
        raise InfeasibleError(
            f"no count up to {limit} aliases meets the target ({target}); {_reached(tried[limit].settled())}"
        )
    return high, tried


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
    """Largest count worth trying: an alias for every requester but the first of each volume, if there are addresses."""
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    return int(min(run.most_aliases, enough))


def next_count(
    known: dict[int, float], low: int, high: int, limit: int, slope: float, *, bisect: bool
) -> int:
    """Count to try next: where a straight line meets the target, inside of what is still open."""
    if low < 0:  # nothing has missed the target yet
        return max(high - max(math.ceil(-known[high] / slope), 1), 0)
    if high > limit:  # nothing has met it yet
        far = math.ceil(known[low] / slope) if known[low] < math.log(LARGEST_EXCESS) else low // 2
        return min(low + max(far, 1), limit)
    # Upward from counts without bound, too: what is nearly unstable takes long to solve.
    if bisect or known[low] >= math.log(LARGEST_EXCESS):
        return (low + high + 1) // 2
    line = low + (high - low) * known[low] / (known[low] - known[high])
    return min(max(round(line), low + 1), high - 1)


def _usual_slope(pool: Pool) -> float:
    """Fall of the logarithm of the excess with one alias more, as of the chance of so many in use, nearly Poisson."""
    mean = _mean_in_use(pool)
    return math.log((first_guess(pool) + 1.0) / mean) if mean > 0.0 else math.inf


def _slope(tried: Mapping[int, Tried], otherwise: float) -> float:
    """By how much the logarithm of the excess falls with one alias more, from the two counts nearest to the target."""
    known = {count: found.log_excess for count, found in tried.items()}
    nearest = sorted(sorted(known, key=lambda count: abs(known[count]))[:2])
    if len(nearest) < TWO:
        return otherwise
    first, second = nearest
    return max((known[first] - known[second]) / (second - first), LEAST_SLOPE)
