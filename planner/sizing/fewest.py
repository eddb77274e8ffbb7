"""The smallest number of aliases that meets a target: of many pools at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from planner.demand import Target
from planner.devices import Performance, Pool
from planner.errors import ConvergenceError, PlannerError
from planner.results import Array, Integers
from planner.units import MOST_ALIASES

HALVE_EVERY: Final = 4
"""Rounds after which an interval of counts is halved, should straight lines lead nowhere."""

Answer = int | PlannerError | None
"""A count; None where no count meets the target."""


def first_guess(pool: Pool) -> int:
    """Guess the count: the mean of the aliases in use if there were any number of them, and two deviations."""
    mean, variance, _ = unlimited(pool)
    return round(mean + 2.0 * math.sqrt(variance)) if math.isfinite(mean) else MOST_ALIASES


def surely_misses(pool: Pool, target: Target, aliases: int) -> bool:
    """Whether these, and any fewer, miss the target: the mean in use with any number, less the count, wait at least."""
    if not target.of_waits or target.response is not None:
        return False
    mean, _, rate = unlimited(pool)
    busy, queue = np.array([[pool.bases + aliases], [max(mean - aliases, 0.0)]])
    return not target.met(np.array([rate]), busy / rate, queue).any()


def unlimited(pool: Pool) -> tuple[float, float, float]:
    """Mean and variance of the aliases in use, and rate [1/s], with any number of them; inf where inflation saturates.

    Of the n I/Os of an open volume, which end at ``n / (1 + inflation (n - 1))``, the distribution is negative
    binomial, with mean ``load / (1 - inflation load)`` and a variance larger by the same factor (else Poisson). Closed
    volumes are taken without inflation, with which they have no fewer I/Os.
    """
    mean = variance = rate = 0.0
    for part, service in zip(pool.classes, pool.service_times, strict=True):
        spread = 1.0
        if math.isnan(part.population):
            load = part.arrival_rate * service
            rate += part.volumes * part.arrival_rate
            slowed = pool.inflation * load
            if slowed >= 1.0:
                return math.inf, math.inf, rate
            spread = 1.0 / (1.0 - slowed)
            idle = math.exp(math.log1p(-slowed) / pool.inflation) if pool.inflation else math.exp(-load)
            load *= spread
        else:
            share = service / (service + part.think_time)
            load, idle = part.population * share, (1.0 - share) ** part.population
            rate += part.volumes * load / service
        each = part.volumes * max(load - 1.0 + idle, 0.0)
        mean, variance = mean + each, variance + each * spread
    return mean, variance, rate


def most_useful(pool: Pool, most: int) -> int:
    """Largest count worth trying: an alias for every requester but the first of each volume, if there are addresses."""
    closed = all(not math.isnan(part.population) for part in pool.classes)
    enough = sum(part.volumes * (part.population - 1) for part in pool.classes) if closed else math.inf
    return int(min(most, enough))


def excess_of(target: Target, rows: Performance) -> Array:
    """What is reached over what is allowed, a count each."""
    return target.excess(rows.io_rate, rows.service_time, rows.queued, rows.no_alias, rows.fails)


Solve = Callable[[Sequence[int], Sequence[Array]], Sequence[Performance | PlannerError]]
"""Curves of some of the demands, by their places, at counts of their own."""


def fewest(
    solve: Solve,
    target: Target,
    guess: Sequence[int],
    most: Sequence[int],
    missed: Sequence[int] | int = -1,
    met: Sequence[int] | int = MOST_ALIASES + 1,
) -> list[Answer]:
    """Find the smallest count of each demand that meets the target, up to `most`; more aliases never make it worse.

    Each round solves one count of every demand that is still open, all together. Between two counts the logarithm of
    the excess over the target is nearly a straight line, beyond them it falls about as the chance of that many in use.
    `missed` and `met` are counts that are known to do so, -1 and more than `most` where none is.
    """
    limit = np.asarray(most, dtype=np.int64)
    low, high = np.minimum(missed, limit), np.minimum(met, limit + 1)
    at_low, at_high = np.full((2, limit.size), np.nan)
    least, largest = np.minimum(low + 1, limit), np.maximum(np.minimum(high - 1, limit), 0)
    count = np.clip(np.asarray(guess, dtype=np.int64), least, np.maximum(least, largest))
    slope = 1.0 / np.sqrt(count + 1.0)
    problems: list[PlannerError | None] = [None] * limit.size
    below = np.zeros_like(limit)  # how far below a count without a solution one is asked, in its place
    rounds = 0
    while places := np.flatnonzero(high - low > 1).tolist():
        asked = count - below
        for k, rows in zip(
            places, solve(places, [asked[[k]].astype(np.float64) for k in places]), strict=True
        ):
            if isinstance(rows, PlannerError):
                problems[k] = rows
                below[k] = max(2 * below[k], 1)
                if not isinstance(rows, ConvergenceError):
                    low[k], high[k], below[k] = limit[k], limit[k] + 1, 0
                elif (
                    below[k] > count[k]
                    or (count[k] == limit[k] and math.isinf(rows.residual))
                    or (count[k] - below[k] <= low[k] and not math.isnan(at_low[k]))
                ):
                    # nothing below is solved: next to instability more aliases are needed
                    low[k], at_low[k], below[k] = count[k], math.inf, 0
                continue
            excess = float(excess_of(target, rows)[0])
            found = math.inf if math.isnan(excess) else math.log(min(max(excess, 1e-9), 1e9))
            if found <= 0.0:
                high[k], at_high[k] = asked[k], found
            else:
                low[k], at_low[k] = count[k], found
            below[k] = 0
        rounds += 1
        following = _following(low, high, limit, at_low, at_high, slope, rounds)
        count = np.where(below > 0, count, following)
    return [problems[k] if high[k] > limit[k] else int(high[k]) for k in range(limit.size)]


def _following(
    low: Integers, high: Integers, limit: Integers, at_low: Array, at_high: Array, slope: Array, rounds: int
) -> Integers:
    """Count to try next, between one that misses the target and one that meets it or is out of reach."""
    upward, downward = high > limit, np.isnan(at_low)
    with np.errstate(invalid="ignore", divide="ignore"):
        # excesses far from 1 say little of the distance
        far = np.maximum(2.0, np.where(upward, low, high) / 4.0)
        least = 2.0 ** max(rounds - HALVE_EVERY, 0)  # from afar in doubled steps, whatever the slope
        up = low + np.maximum(np.ceil(np.minimum(at_low / slope, far)), least)
        down = high - np.maximum(np.ceil(np.minimum(-at_high / slope, far)), least)
        # Below an excess of exp(-4) a straight line no longer holds: queues end faster.
        line = low + np.ceil((high - low) * at_low / (at_low - np.maximum(at_high, -4.0)))
    middle = (low + high) // 2
    between = middle if rounds % HALVE_EVERY == 0 else np.where(np.isfinite(line), line, middle)
    found = np.where(upward, np.where(np.isnan(up), middle, up), np.where(downward, down, between))
    found = np.clip(np.nan_to_num(found, nan=0.0), low + 1, np.maximum(high - 1, low + 1))
    return np.asarray(np.minimum(found, limit), dtype=np.int64)
