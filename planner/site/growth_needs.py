"""Aliases that a pool needs as its load grows, through the queueing model; the load at which a count no longer does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import Law
from planner.devices import Pool, VolumeClass
from planner.errors import ConvergenceError, InfeasibleError
from planner.interval import Interval
from planner.measurements import Rows, Run, pool_runs
from planner.measurements.run import ADDRESSES_PER_CONTROL_UNIT
from planner.reports.schema import VOLUME
from planner.sizing.fewest import Tried, fewest
from planner.sizing.pool import Asked, extremes, meanings_of
from planner.sizing.target import Target

if TYPE_CHECKING:
    import polars as pl

NEARNESS: Final = 0.005  # of a load that a limit is met at
CLIMB: Final = 1.25  # from one load to the next
MOST_GROWN: Final = 100.0  # times the load measured


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNeeds:
    """A pool in one measured hour.

    Attributes
    ----------
    name : str
        The pool.
    run : Run
        Its volumes in that hour.
    pools : tuple of Pool
        Its demand: the preferred reading, that of the fewest requesters and that of the most; one where they agree.
    target : Target
        What its aliases must achieve.
    volumes : int
        Volumes, those without I/O too.
    load : float
        I/O rate of the hour [1/s].
    """

    name: str
    run: Run
    pools: tuple[Pool, ...]
    target: Target
    volumes: int
    load: float

    @property
    def in_use(self) -> int:
        """Aliases in use."""
        return self.run.aliases

    @property
    def room(self) -> int:
        """Aliases that a control unit has addresses for."""
        return ADDRESSES_PER_CONTROL_UNIT - self.volumes

    def count(self, load: float) -> Interval:
        """Aliases needed at a load [1/s], over the readings; inf where none meets the target, nan where it is not solved."""
        times = min(load / self.load, MOST_GROWN)
        if times <= 0:
            return Interval(0.0, 0.0, 0.0)
        counts = [self._fewest(grown(pool, times)) for pool in self.pools]
        return Interval(float(np.min(counts)), counts[0], float(np.max(counts)))

    def _fewest(self, pool: Pool) -> float:
        try:
            return float(fewest(pool, self.target, self.run)[0])
        except InfeasibleError:
            return math.inf
        except ConvergenceError:
            return math.nan

    def largest_load(self, aliases: int, most: float) -> Interval:
        """Load up to which so many aliases meet the target [1/s]; inf beyond `most`. Low is the earliest reading."""
        loads = [self._largest(pool, aliases, most) for pool in self.pools]
        return Interval(min(loads), loads[0], max(loads))

    def _largest(self, pool: Pool, aliases: int, most: float) -> float:
        """Climb to the first load that is too much, then bisect: far beyond it a pool is unstable and slow to solve."""
        low, high, most_grown = 0.0, 1.0, min(most / self.load, MOST_GROWN)
        while self._met(grown(pool, high), aliases):
            if high >= most_grown:
                return math.inf
            low, high = high, min(high * CLIMB, most_grown)
        while high - low > NEARNESS * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self._met(grown(pool, middle), aliases) else (low, middle)
        return low * self.load

    def _met(self, pool: Pool, aliases: int) -> bool:
        """Whether the target is met; a pool so near to instability that it is not solved meets none."""
        try:
            return Tried(pool, aliases, self.target).log_excess <= 0.0
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
    """Read the demand of a pool from the rows of its volumes in one hour; None without I/O.

    `rows` has a row a volume: device or label, pool, pool_aliases, interval, and numbers as in the one table.
    """
    import polars as pl

    table = Rows(rows.with_columns(kind=pl.lit(VOLUME)))
    (found,), _ = pool_runs(table)
    if found.run is None:
        return None
    meanings = extremes(meanings_of([found.run], law)[0])
    return PoolNeeds(
        name=found.name,
        run=found.run,
        pools=tuple(Asked.of(meaning, found.run, law, 0.0).main for meaning in meanings),
        target=target,
        volumes=found.volumes,
        load=float(found.run.total_rate.value),
    )
