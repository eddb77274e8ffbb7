"""Aliases that a pool needs as its load grows, through the queueing model; the load at which a count no longer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import Law
from planner.devices import Pool, VolumeClass
from planner.errors import ConvergenceError, InfeasibleError
from planner.interval import Interval
from planner.measurements.read import Measured
from planner.measurements.rows import intervals
from planner.measurements.run import ADDRESSES_PER_CONTROL_UNIT, Run
from planner.measurements.systems import pool_runs
from planner.reports import schema
from planner.sizing.bursty_pool import size_bursty_pool
from planner.sizing.fewest import Tried, fewest
from planner.sizing.pool import Asked, extremes, is_bursty, pool_readings
from planner.sizing.target import Target

if TYPE_CHECKING:
    import polars as pl

NEARNESS: Final = 0.005  # of a load that a limit is met at
CLIMB: Final = 1.25  # from one load to the next
MOST_GROWN: Final = 100.0  # times the load measured
LEAST_GROWN: Final = 1e-3


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
        near = min(self._known, key=lambda known: abs(known - times), default=None)
        begin = math.nan if near is None else self._known[near].value
        counts = [self._fewest(grown(pool, times), begin) for pool in self.pools]
        return Interval(min(counts), counts[0], max(counts))

    def _fewest(self, pool: Pool, begin: float) -> float:
        """Search from a count that a load near by needs."""
        try:
            return float(fewest(pool, self.target, self.run, int(begin) if math.isfinite(begin) else None)[0])
        except InfeasibleError:
            return math.inf
        except ConvergenceError:
            return math.nan

    def _bursty(self, times: float) -> Interval:
        try:
            found = size_bursty_pool((self.run,), self.law, self.target, times - 1.0)
        except InfeasibleError:
            return Interval(math.inf, math.inf, math.inf)
        low, high = found.range
        return Interval(float(low), float(found.recommended), float(high))

    def largest_load(self, aliases: int, most: float) -> Interval:
        """Load up to which so many aliases meet the target [1/s]; inf beyond `most`. Low is the earliest reading."""
        if self.count(most).high <= aliases:
            return Interval(math.inf, math.inf, math.inf)
        if self.pools:
            found = [self._largest(partial(self._met, pool, aliases), most) for pool in self.pools]
            return Interval(min(found), found[0], max(found))
        ends = ("high", "value", "low")  # the highest count is the first that is too much
        return Interval(*(self._largest(partial(self._enough, end, aliases), most) for end in ends))

    def _enough(self, end: str, aliases: int, times: float) -> bool:
        return bool(getattr(self._count(times), end) <= aliases)

    def _largest(self, met: Callable[[float], bool], most: float) -> float:
        """Climb to the first load that is too much, then bisect: beyond it a pool is unstable and slow to solve."""
        low, high, most_grown = 0.0, 1.0, min(most / self.load, MOST_GROWN)
        while met(high):
            if high >= most_grown:
                return math.inf
            low, high = high, min(high * CLIMB, most_grown)
        while high - low > NEARNESS * high and high > LEAST_GROWN:
            middle = (low + high) / 2
            low, high = (middle, high) if met(middle) else (low, middle)
        return low * self.load

    def _met(self, pool: Pool, aliases: int, times: float) -> bool:
        """Whether the target is met; a pool so near to instability that it is not solved meets none."""
        try:
            return Tried(grown(pool, times), aliases, self.target).log_excess <= 0.0
        except ConvergenceError:
            return False


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


def read_pool(rows: pl.DataFrame, law: Law, target: Target) -> PoolNeeds | None:
    """Read the demand of a pool from the rows of its devices in one interval of the one table; None without I/O."""
    supply, storage = schema.empty(schema.SUPPLY), schema.empty(schema.STORAGE)
    (interval,) = intervals(Measured(devices=rows, supply=supply, storage=storage))
    ((pool,), _) = pool_runs(interval)
    if pool.run is None:
        return None
    pool.run.check()
    bursty = is_bursty((pool.run,), law)
    read = [] if bursty else extremes(pool_readings((pool.run,), law)[0])
    return PoolNeeds(
        name=pool.name, run=pool.run, law=law, target=target, volumes=pool.volumes, in_use=pool.aliases,
        pools=tuple(Asked.of(reading, pool.run, 0.0).main for reading in read),
    )  # fmt: skip
