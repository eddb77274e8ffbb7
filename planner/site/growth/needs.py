"""Aliases that a pool needs as its load grows, through the queueing model; the load at which a count no longer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import Law, Reading, Target, log_excess
from planner.demand.answer import POINT
from planner.demand.pooled import HIGHEST, LOWEST, PoolReadings, read_pool
from planner.demand.steady import POPULATIONS, preferred_reading
from planner.devices import Pool, VolumeClass
from planner.errors import ConvergenceError, InfeasibleError
from planner.interval import Interval
from planner.measurements.read import Measured
from planner.measurements.rows import intervals
from planner.measurements.run import ADDRESSES_PER_CONTROL_UNIT, Run
from planner.measurements.systems import pool_runs
from planner.reports import schema
from planner.site.growth.curve import NeedCurve
from planner.site.steady_table import sorts
from planner.sizing.bounds import spaced
from planner.sizing.fewest import Tried, fewest, first_guess
from planner.sizing.pool import demand_in_use, extremes, is_bursty, pool_readings
from planner.sizing.volumes import grouped_within

if TYPE_CHECKING:
    import polars as pl

NEARNESS: Final = 0.005  # of a load that a limit is met at
FIRST_STEP: Final = 1.05  # from one load to the next, then its square
INSIDE: Final = 0.05  # of a bracket, from its ends
LEAST_SOUGHT: Final = 0.05  # of the load, of bursty volumes
TWO: Final = 2
SURELY: Final = 3.0  # times the reach: a guess as high is not within it
GUESSES: Final = 30
MOST_GROWN: Final = 100.0  # times the load measured
LEAST_GROWN: Final = 1e-3
MANY: Final = 4  # loads from which on a curve pays
SPREAD: Final = 0.14  # of rates and service times within a class: .01 of the excess


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNeeds:
    """A pool in one measured hour.

    Attributes
    ----------
    name : str
        The pool.
    run : Run
        Its volumes in that hour.
    law, target
        Of the devices, and what the aliases must achieve.
    pools : tuple of Pool
        Its demand: the preferred reading, that of the fewest requesters and that of the most; none where it is bursty.
    volumes, in_use : int
        Volumes, those without I/O too, and aliases.
    """

    name: str
    run: Run
    law: Law
    target: Target
    pools: tuple[Pool, ...]
    volumes: int
    in_use: int
    _known: dict[float, Interval] = field(default_factory=dict)
    _counts: dict[float, list[float]] = field(default_factory=dict)
    _readings: dict[float, PoolReadings] = field(default_factory=dict)
    _curves: dict[int, NeedCurve | None] = field(default_factory=dict)
    _tried: dict[int, list[tuple[float, int, Tried]]] = field(default_factory=dict)
    _reals: dict[tuple[float, float], float] = field(default_factory=dict)

    @property
    def load(self) -> float:
        """I/O rate of the hour [1/s]."""
        return float(self.run.total_rate.value)

    @property
    def room(self) -> int:
        """Aliases that a control unit has addresses for."""
        return ADDRESSES_PER_CONTROL_UNIT - self.volumes

    def count(self, load: float) -> Interval:
        """Aliases needed at a load [1/s], over the readings; inf where none meets the target, nan where not solved."""
        times = min(load / self.load, MOST_GROWN)
        return Interval(0.0, 0.0, 0.0) if times < LEAST_GROWN else self._count(times)

    def counts(self, loads: Sequence[float]) -> list[Interval]:
        """The same at many loads; between two loads of one count there is no other."""
        self._draw_curves(loads)
        order = np.argsort(loads, kind="stable").tolist()
        found: dict[int, Interval] = {}

        def fill(first: int, last: int) -> None:
            for place in (first, last):
                found.setdefault(order[place], self.count(loads[order[place]]))
            if last - first > 1:
                if found[order[first]] == found[order[last]]:
                    found.update((order[place], found[order[first]]) for place in range(first, last))
                    return
                middle = (first + last) // 2
                fill(first, middle)
                fill(middle, last)

        fill(0, len(order) - 1)
        return [found[place] for place in range(len(order))]

    def _count(self, times: float) -> Interval:
        if times not in self._known:
            self._known[times] = self._steady(times) if self.pools else self._bursty(times)
        return self._known[times]

    def _steady(self, times: float) -> Interval:
        counts = [self._fewest(which, times) for which in range(len(self.pools))]
        self._counts[times] = counts
        return Interval(min(counts), counts[0], max(counts))

    def _draw_curves(self, loads: Sequence[float]) -> None:
        """Of open arrivals the needs over the load are a smooth curve."""
        many = [times for load in loads if (times := min(load / self.load, MOST_GROWN)) >= LEAST_GROWN]
        if len(many) < MANY:
            return
        middle = float(np.median(many))
        for which, pool in enumerate(self.pools):
            if which not in self._curves and all(math.isnan(part.population) for part in pool.classes):
                self._curves[which] = self._curve(which, middle, many)

    def _curve(self, which: int, middle: float, many: Sequence[float]) -> NeedCurve | None:
        """Through the needs at the least, a middle and the largest load; None where they are few or not found."""
        try:
            count, tried = fewest(grown(self.pools[which], middle), self.target, self.run)
            if count - 1 not in tried:
                return None
            self._tried[which] = [(middle, aliases, each) for aliases, each in tried.items()]
            first = (middle, count, tried[count - 1].log_excess, tried[count].log_excess)
            return NeedCurve.through(
                lambda aliases, times: self._solved(which, aliases, times), self.run.most_aliases, first, many
            )
        except (InfeasibleError, ConvergenceError):
            return None

    def _solved(self, which: int, aliases: int, times: float) -> float:
        """Logarithm of the excess over the target, its sign certain; begun from the nearest count and load solved."""

        def distance(known: tuple[float, int, Tried]) -> float:
            return abs(known[0] / times - 1.0) + abs(known[1] - aliases) / max(aliases, 1)

        before = self._tried.setdefault(which, [])
        start = min(before, key=distance)[2] if before else None
        found = Tried(grown(self.pools[which], times), aliases, self.target, start)
        before.append((times, aliases, found))
        return found.log_excess

    def _fewest(self, which: int, times: float) -> float:
        """Search between the counts that a lower and a higher load need: more load never needs less."""
        low = max((known for known in self._counts if known <= times), default=None)
        high = min((known for known in self._counts if known >= times), default=None)
        least, most = (math.nan if at is None else self._counts[at][which] for at in (low, high))
        curve = self._curves.get(which)
        try:
            if curve is not None and min(curve.nodes) <= times <= max(curve.nodes):
                return float(curve.count(times))
            if math.isfinite(least) and math.isfinite(most):
                first, last = int(least), int(most)
                while first < last:
                    middle = (first + last) // 2
                    met = self._solved(which, middle, times) <= 0.0
                    first, last = (first, middle) if met else (middle + 1, last)
                return float(last)
            begin = next((int(end) for end in (least, most) if math.isfinite(end)), None)
            return float(fewest(grown(self.pools[which], times), self.target, self.run, begin)[0])
        except InfeasibleError:
            return math.inf
        except ConvergenceError:
            return math.nan

    def _bursty(self, times: float) -> Interval:
        pool, asked = self._grown(times), self.target.of_readings()
        if not asked.met(pool.predict([self.run.most_aliases]))[0]:
            return Interval(math.inf, math.inf, math.inf)
        count, low, high = pool.point_and_range(asked)
        return Interval(float(low), float(count), float(high))

    def largest_load(self, aliases: int, most: float) -> Interval:
        """Load up to which so many aliases meet the target [1/s]; inf beyond `most`. Low is the earliest reading."""
        reach = min(most / self.load, MOST_GROWN)
        if self.pools:
            found = [self._largest(which, aliases, reach) for which in range(len(self.pools))]
            return Interval(min(found), found[0], max(found))
        # The queue of the longest draws is the first that is too much.
        return Interval(*(self._largest_bursty(share, aliases, reach) for share in (HIGHEST, POINT, LOWEST)))

    def _largest(self, which: int, aliases: int, reach: float) -> float:
        """Where the logarithm of the excess over the target, which rises with the load, is zero.

        The search begins where a guess without any solution has it: a pool far above that load is slow to solve.
        """
        pool = self.pools[which]
        guess = _guessed(pool, aliases)
        if guess > SURELY * reach:
            return math.inf
        curve = self._curves.get(which)
        if curve is not None:
            with suppress(ConvergenceError):
                found = curve.largest(aliases, reach, NEARNESS)
                if found is not None:
                    return found * self.load
        return self._crossed(lambda times: self._excess(which, aliases, times), min(guess, reach), reach)

    def _crossed(self, excess: Callable[[float], float], guess: float, reach: float) -> float:
        """Load [1/s] at which an excess that rises with it is zero, near a guess; inf where not within reach."""
        low, high = 0.0, math.inf
        at_low, at_high = -math.inf, math.inf
        times, step = guess, FIRST_STEP
        while (math.isinf(high) or high - low > NEARNESS * high) and high > LEAST_GROWN:
            found = excess(times)
            if found <= 0.0:
                if times >= reach:
                    return math.inf
                low, at_low = times, found
            else:
                high, at_high = times, found
            if low == 0.0 or math.isinf(high):
                times = min(times * step, reach) if low else times / step
                step *= step
            elif math.isfinite(at_high - at_low):
                part = min(max(at_low / (at_low - at_high), INSIDE), 1.0 - INSIDE)
                times = low * (high / low) ** part
            else:
                times = math.sqrt(low * high)
        return low * self.load

    def _excess(self, which: int, aliases: int, times: float) -> float:
        """Logarithm of the excess; a pool so near to instability that it is not solved meets no target."""
        try:
            return self._solved(which, aliases, times)
        except ConvergenceError:
            return math.inf

    def _largest_bursty(self, share: float, aliases: int, reach: float) -> float:
        """The same of bursty volumes, with a quantile of the draws: along the line through the loads that were read.

        A load far below that of today is not sought: it was passed on the first measured day.
        """
        guess = min(1.0, reach)
        self._grown(guess)
        for _ in range(GUESSES):
            known = sorted((times, self._real(times, share)) for times in self._readings)
            guess = _on_line(known, float(aliases))
            if guess > SURELY * reach:
                return math.inf
            guess = min(guess, reach)
            if any(abs(times - guess) <= NEARNESS * guess for times, _ in known):
                beyond = guess >= reach and _on_line(known, float(aliases)) > reach
                return math.inf if beyond else guess * self.load
            if guess < LEAST_SOUGHT:
                return LEAST_SOUGHT * self.load
            self._grown(guess)
        return guess * self.load

    def _real(self, times: float, share: float) -> float:
        """Real number of aliases with which a quantile of the draws just meets the target, at a load that was read."""
        if (times, share) not in self._reals:
            found = self._readings[times].predict(np.arange(self.run.most_aliases + 1), share)
            excess = log_excess(self.target, found.wait, found.service, found.queue)
            met = np.flatnonzero(excess <= 0.0)
            first = int(met[0]) if met.size else -1
            before = float(excess[first - 1] - excess[first]) if first > 0 else math.inf
            inside = first - 1 + float(excess[first - 1]) / before if first > 0 else 0.0
            self._reals[times, share] = inside if first >= 0 else math.inf
        return self._reals[times, share]

    def _grown(self, times: float) -> PoolReadings:
        if times not in self._readings:
            run = self.run
            self._readings[times] = read_pool(
                run.io_rate,
                run.service,
                spaced(run.queued),
                aliases=run.aliases,
                law=self.law,
                growth=times - 1.0,
            )
        return self._readings[times]


def _on_line(known: Sequence[tuple[float, float]], aliases: float) -> float:
    """Load at which the needs at known loads, which rise with the load, are so many: by the two loads about it.

    Beyond those that are known at most twice, or half, as far.
    """
    below = [each for each in known if each[1] <= aliases]
    above = [each for each in known if each[1] > aliases]
    if not below:
        return above[0][0] / 2
    if above and math.isinf(above[0][1]):
        return math.sqrt(below[-1][0] * above[0][0])
    if not above and (len(below) < TWO or below[-1][1] <= below[-2][1]):
        return below[-1][0] * 2
    (first, low), (second, high) = (below[-1], above[0]) if above else below[-2:]
    return first + (aliases - low) / (high - low) * (second - first)


def _guessed(pool: Pool, aliases: int) -> float:
    """Load, as a multiple, at which a guess has so many aliases: their mean and two standard deviations."""
    low, high = LEAST_GROWN, 10.0 * MOST_GROWN
    for _ in range(GUESSES):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if first_guess(_times(pool, middle)) <= aliases else (low, middle)
    return low


def _times(pool: Pool, times: float) -> Pool:
    """The same volumes at so many times the load, requesters in parts of one."""
    classes = [
        replace(part, arrival_rate=part.arrival_rate * times)
        if math.isnan(part.population)
        else replace(part, population=part.population * times)
        for part in pool.classes
    ]
    return replace(pool, classes=tuple(classes))


def grown(pool: Pool, times: float) -> Pool:
    """The same volumes at so many times the load: rates as they are, requesters rounded up to whole ones."""
    classes: list[VolumeClass] = []
    for part in pool.classes:
        if math.isnan(part.population):
            classes.append(replace(part, arrival_rate=part.arrival_rate * times))
            continue
        requesters = max(math.ceil(round(part.population * part.volumes * times, 9)), 1)
        each, more = divmod(requesters, part.volumes)
        parts = ((part.volumes - more, each), (more, each + 1))
        classes += [
            replace(part, volumes=volumes, population=float(population))
            for volumes, population in parts
            if volumes > 0 and population > 0
        ]
    return replace(pool, classes=tuple(classes))


def _steady_demands(run: Run, law: Law) -> list[Reading]:
    """The preferred demand, that of the fewest requesters and that of the most; none where the pool is bursty."""
    if not (run.aliases and run.queue_known):
        return [] if is_bursty((run,), law) else extremes(pool_readings((run,), law)[0])
    among = _possible(run, law)
    first = preferred_reading(run, law, among)
    if first is None and run.total_queue.value > 0:
        return []
    if first is None:
        return extremes(pool_readings((run,), law)[0])
    ends = [preferred_reading(run, law, {each}) for each in dict.fromkeys((min(among), max(among)))]
    others = [each for each in ends if each is not None and each.requesters != first.requesters]
    return [demand_in_use(run, law, reading) for reading in (first, *others)]


def _possible(run: Run, law: Law) -> list[float]:
    """Requesters of a volume that may explain a pool with aliases in use, inf for open arrivals; sorted from curves."""
    mean, total = run.mean_service, run.total_queue
    _, possible = sorts(
        np.atleast_1d(run.total_rate.value), Interval(*(np.atleast_1d(end) for end in mean)),
        Interval(*(np.atleast_1d(end) for end in total)), volumes=run.bases, aliases=run.aliases, law=law,
    )  # fmt: skip
    return [each for each, fits in zip((*POPULATIONS, math.inf), possible[0], strict=True) if fits]


def needs_of_pool(rows: pl.DataFrame, law: Law, target: Target) -> PoolNeeds | None:
    """Read the demand of a pool from the rows of its devices in one interval of the one table; None without I/O."""
    supply, storage = schema.empty(schema.SUPPLY), schema.empty(schema.STORAGE)
    (interval,) = intervals(Measured(devices=rows, supply=supply, storage=storage))
    ((pool,), _) = pool_runs(interval)
    if pool.run is None:
        return None
    pool.run.check()
    read = _steady_demands(pool.run, law)
    return PoolNeeds(
        name=pool.name, run=pool.run, law=law, target=target, volumes=pool.volumes, in_use=pool.aliases,
        pools=tuple(grouped_within(reading.pool, SPREAD) for reading in read),
    )  # fmt: skip
