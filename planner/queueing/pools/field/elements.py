"""What is solved side by side: pools with one alias count each, and where the iteration stands in each of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from planner.queueing.pools.pool import Scenarios
from planner.results import Array, ArrayFields, Flags, Integers

FEW: Final = 8.0
SIZES: Final = np.array([1, *np.outer(2 ** np.arange(2, 13), [2, 3]).ravel()])
"""Numbers of D, and of d, that arrays are made for: small pools differ in size no more than has to be, since a pass of
few elements costs nearly as much as one of many (`python -m tests.bench.bench_alias_pool`)."""
NEARLY_CRITICAL: Final = 0.76
"""Offered load times inflation from which on a pool of few aliases is tried less long: most of them end nowhere."""
AT_ONCE: Final = 0.15
"""Think time, in service times, below which requesters come back as good as at once; in closed pools twice of it. The
step is steep, since what is half law, half balance agrees with neither. Throughputs of closed pools with exact chains
(`python -m tests.queueing.alias_pool.accuracy 11`) are as near with twice of it, farther with more; with less a pool
whose aliases are a few fewer than ample takes several times as many passes."""
CAREFUL: Final = 0.3
"""Least share of the way to what a pass finds that the next one begins with, where it swings; the largest once it has
failed: of 250 random pools as of `FIRST_PASSES` 46 have no answer, 88 where the second attempt takes whole steps."""
CREEPING: Final = 0.1
"""The least share after it has failed."""
FOLLOWED: Final = 2
"""Passes in which volumes follow their laws alone: flows are not known yet."""


@dataclass(frozen=True, eq=False)
class Elements(ArrayFields):
    """Pools with one alias count each; every time in units of the mean service time of the pool's volumes."""

    aliases: Array  # Shape (elements,) [1]
    volumes: Array  # Volumes of each class, shape (elements, classes) [1]
    closed: Flags  # Which classes are closed
    population: Array  # Requesters of a volume, 1 where open [1]
    think_time: Array  # 1 where open [service times]
    arrival_rate: Array  # 0 where closed [1/service time]
    service: Array  # Service time of an I/O alone [service times]
    inflation: Array  # Shape (elements,) [1]
    redrive_time: Array  # Gap of a device, shape (elements,) [service times]
    unit: Array  # Mean service time of the volumes, shape (elements,) [s]

    @classmethod
    def of_pools(cls, scenarios: Scenarios, scenario: Integers, aliases: Array) -> Elements:
        """Some scenarios with an alias count each; a class without arrivals has no volumes."""
        active, closed = scenarios.active, scenarios.closed | ~scenarios.active
        unit, own = scenarios.unit[:, None], scenarios.closed & scenarios.active
        by_class = (
            np.where(active, scenarios.volumes, 0.0),
            closed,
            np.where(own, scenarios.population, 1.0),
            np.where(own, scenarios.think_time / unit, 1.0),
            np.where(closed, 0.0, scenarios.arrival_rate * unit),
            scenarios.service,
            scenarios.inflation,
            scenarios.redrive_time / scenarios.unit,
            scenarios.unit,
        )
        rows: tuple[Any, ...] = tuple(each[scenario] for each in by_class)
        return cls(aliases, *rows)

    def with_classes(self, order: Integers) -> Elements:
        """Some classes of each element, shape (elements, classes)."""
        changed = {
            item.name: np.take_along_axis(values, order, axis=-1)
            for item in fields(self)
            if (values := getattr(self, item.name)).ndim > 1
        }
        return replace(self, **changed)

    @cached_property
    def most_of_one(self) -> Array:
        """Most I/Os of one volume, shape (elements, classes) [1]."""
        return np.where(self.closed, self.population, np.inf)

    @cached_property
    def most_beyond(self) -> Array:
        """Most I/Os that no base holds, shape (elements,) [1]."""
        each = np.where(self.volumes > 0.0, self.most_of_one - 1.0, 0.0)
        return np.asarray((self.volumes * each).sum(axis=-1))

    @cached_property
    def trusted(self) -> Array:
        """How far balances say how many I/Os of a volume are beyond its base, shape (elements, classes) [1].

        The others of a closed volume think: hardly any where they think for less than `AT_ONCE` of a service, and a
        small number has to come from the law, not from a difference.
        """
        at_once = AT_ONCE * (1.0 + self.closed.all(axis=-1, keepdims=True))
        hurried = np.where(self.closed, at_once * self.service / self.think_time, 0.0)
        return np.asarray(1.0 / (1.0 + hurried**8))

    @cached_property
    def independent(self) -> Flags:
        """Which pools have volumes that do not meet: one volume, no aliases, or one for every I/O that needs one."""
        one = self.volumes.sum(axis=-1) == 1.0
        return np.asarray(one | (self.aliases == 0.0) | (self.aliases >= self.most_beyond))

    @cached_property
    def unlimited(self) -> tuple[Array, Array]:
        """Mean and variance of the I/Os of a volume with aliases for all, nan where closed or saturated by inflation.

        They end at ``n / (1 + inflation (n - 1))`` with n in service: a negative binomial law, shape
        (elements, classes) [1].
        """
        load = self.arrival_rate * self.service
        left = 1.0 - self.inflation[:, None] * load
        mean = np.where(self.closed | (left <= 0.0), np.nan, load) / np.where(left > 0.0, left, 1.0)
        return mean, mean / np.where(left > 0.0, left, 1.0)

    @cached_property
    def most_unlimited(self) -> Array:
        """What the I/Os of a pool hardly exceed with aliases for all, nan with closed volumes, (elements,) [1]."""
        return far_above(*map(self.over_volumes, self.unlimited))

    @cached_property
    def ample(self) -> Flags:
        """Which open pools have so many aliases that nobody waits."""
        return np.asarray(self.aliases >= self.most_unlimited)

    @cached_property
    def nearly_critical(self) -> Flags:
        """Which pools have an open volume that inflation nearly saturates, and fewer aliases than ample."""
        slowed = self.inflation[:, None] * self.arrival_rate * self.service
        return np.asarray((slowed > NEARLY_CRITICAL).any(axis=-1) & ~self.ample)

    def waits_and_holds(self, totals: int) -> tuple[Array, Array]:
        """I/Os that wait, and aliases that are busy, given D = 0, 1, ..., shape (elements, D) each [1]."""
        total, aliases = np.arange(float(totals)), self.aliases[:, None]
        return np.maximum(total - aliases, 0.0), np.minimum(total, aliases)

    def over_volumes(self, values: Array) -> Array:
        """Sum over the volumes of a pool, shape (elements,)."""
        return np.asarray(np.where(self.volumes > 0.0, self.volumes * values, 0.0).sum(axis=-1))

    def arrivals(self, size: int) -> tuple[Array, Array]:
        """Arrival rates at one volume by d with the base idle, busy, shape (elements, classes, d) [1/service time]."""
        thinking = np.maximum(self.population[..., None] - np.arange(size + 1.0), 0.0)
        rate = np.where(
            self.closed[..., None], thinking / self.think_time[..., None], self.arrival_rate[..., None]
        )
        return rate[..., :-1], rate[..., 1:]


@dataclass(frozen=True, order=True)
class Size:
    """Numbers that an element is solved with."""

    totals: int  # D = 0, 1, ... [1]
    beyond: int  # d = 0, 1, ... of one volume [1]
    tilts: int  # Exponential tilts by which the sum of the others' d is found [1]


def first_sizes(elements: Elements) -> tuple[Integers, Integers]:
    """Numbers of D and of d that each element begins with; more are counted where the law says so."""
    load = offered_load(elements)
    mean = (elements.volumes * load**2 / (1.0 + load)).sum(axis=-1)
    # Standard deviations above the mean; few Poisson numbers exceed those of one volume.
    totals = np.minimum(elements.most_beyond + 1.0, mean + 8.0 * (np.sqrt(mean) + 1.0))
    few = load + 6.0 * np.sqrt(load) + 4.0
    many = np.where(elements.closed, elements.population, np.maximum(16.0, few))
    beyond = np.where(
        (load < 1.0) & ~elements.independent[:, None], np.minimum(few, elements.most_of_one), many
    )
    beyond = np.where(elements.ample[:, None], far_above(*elements.unlimited), beyond)
    beyond = np.where(elements.volumes > 0.0, beyond, 1.0).max(axis=-1)
    totals = rounded(np.where(elements.ample, elements.most_unlimited, totals))
    return totals, np.minimum(rounded(beyond), totals)


def offered_load(elements: Elements) -> Array:
    """I/Os of one volume if nobody waited, shape (elements, classes) [1]."""
    closed = elements.population * elements.service / (elements.service + elements.think_time)
    return np.where(elements.closed, closed, elements.arrival_rate * elements.service)


def far_above(mean: Array, variance: Array) -> Array:
    """What a number of such a gamma law exceeds once in a thousand million: Wilson and Hilferty (1931) [1].

    No less than FEW, which a Poisson law of mean .02 hardly exceeds: of smaller shapes their cube root is not normal.
    """
    shape, deviations = mean**2 / variance, 6.2
    return np.asarray(
        np.maximum(mean * (1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * np.sqrt(shape))) ** 3, FEW)
    )


def rounded(number: Array) -> Integers:
    """Least size of arrays that is large enough, the largest where none is."""
    return np.asarray(SIZES[np.minimum(np.searchsorted(SIZES, np.ceil(number)), SIZES.size - 1)])


@dataclass(frozen=True, eq=False)
class State(ArrayFields):
    """Where the iteration stands; D is counted from 0."""

    passes: Integers  # Passes that the element went through, shape (elements,) [1]
    again: Flags  # Whether the element has failed once, shape (elements,)
    nobody_waits: Flags  # Whether aliases are so many that volumes do not meet, shape (elements,)
    answer: Array  # Throughput, queue and I/Os in service of one volume, shape (elements, 3, classes)
    change: Array  # By which they changed in the last pass
    gain: Array  # Share of the way to what a pass finds that the next one begins with, shape (elements,) [1]
    base_gap: Array  # Mean gap per I/O of a base, of an alias, shape (elements, classes) [service times]
    alias_gap: Array
    mean_total: Array  # Mean D, and about the least and the largest that occurs, shape (elements,) [1]
    least_total: Array
    largest_total: Array
    log_tilt: Array  # Logarithms of the tilts, shape (elements, tilts) [1]
    # Rates that one busy volume with d sees: its aliases end, its base takes from its own queue, or becomes idle,
    # shape (elements, classes, d) [1/service time]
    alias_ends: Array
    base_picks: Array
    base_idles: Array
    # Of one volume given D: arrivals while idle, end of the base with an empty queue, tries and pickups, shape
    # (elements, classes, D) [1/service time]
    arrivals_given: Array
    idles_given: Array
    tries_given: Array
    picks_given: Array
    ends_idle_given: Array  # I/Os that the aliases of the pool end while it is idle
    queue_given: Array  # I/Os that wait, and that hold an alias, the same shape [1]
    held_given: Array
    ends_given: Array  # I/Os that the aliases of the pool end given D, shape (elements, D) [1/service time]

    @classmethod
    def first(cls, elements: Elements, size: Size, *, again: bool = False) -> State:
        """Where every element begins; `again` after it has failed, in smaller steps."""
        count, classes = elements.volumes.shape
        beyond, pace = np.arange(float(size.beyond)), 1.0 / elements.service[..., None]
        # Some of the I/Os beyond the base wait, but with aliases for all, where the law of one volume is known.
        ample = elements.ample[:, None, None]
        picks = np.where(ample | (beyond == 0.0), 0.0, 0.3)
        pace = pace / (1.0 + np.where(ample, elements.inflation[:, None, None] * beyond, 0.0))
        # Nothing is known yet of flows and what waits given D.
        given = {
            item.name: np.zeros((count, classes, size.totals))
            for item in fields(cls)
            if item.name.endswith("_given")
        }
        given["ends_given"] = np.zeros((count, size.totals))
        most = np.minimum(elements.most_beyond, size.totals - 1.0)
        mean, _ = elements.unlimited
        return cls(
            passes=np.zeros(count, dtype=np.int64),
            again=np.full(count, again),
            nobody_waits=np.zeros(count, dtype=bool),
            answer=np.zeros((count, 3, classes)),
            change=np.zeros((count, 3, classes)),
            gain=np.full(count, CAREFUL if again else 1.0),
            base_gap=np.zeros((count, classes)),
            alias_gap=np.zeros((count, classes)),
            mean_total=np.where(elements.ample, elements.over_volumes(mean**2 / (1.0 + mean)), 0.3 * most),
            least_total=np.zeros(count),
            largest_total=most,
            log_tilt=np.zeros((count, size.tilts)),
            alias_ends=np.where(ample, 1.0, 0.7) * beyond * pace,
            base_picks=picks * pace,
            base_idles=(1.0 - picks) * pace,
            **given,
        )

    def meet(self, elements: Elements) -> Flags:
        """Whose volumes meet, once their flows are known, shape (elements,)."""
        return (self.passes >= FOLLOWED) & ~elements.independent & ~self.nobody_waits

    def resized(self, size: Size) -> State:
        """Go on with more D, d or tilts; rates go on as they ended, those of aliases as they rose."""
        more = size.beyond - self.alias_ends.shape[-1]
        totals = size.totals - self.ends_given.shape[-1]
        changed: dict[str, Array] = {}
        for item in fields(self):
            values = getattr(self, item.name)
            if item.name in ("alias_ends", "base_picks", "base_idles"):
                values = _longer(values, more)
            elif item.name.endswith("_given"):
                values = _longer(values, totals)
            changed[item.name] = values
        # What another size changes is no swing.
        changed["change"] = np.zeros_like(self.change)
        changed["gain"] = np.where(self.again, CAREFUL, 1.0)
        if more > 0 and self.alias_ends.shape[-1] > 1:
            slope = np.maximum(self.alias_ends[..., -1:] - self.alias_ends[..., -2:-1], 0.0)
            changed["alias_ends"][..., -more:] += slope * np.arange(1.0, more + 1.0)
        if size.tilts != self.log_tilt.shape[-1]:
            changed["log_tilt"] = np.repeat(self.log_tilt[:, :1], size.tilts, axis=-1)
        return State(**changed)  # type: ignore[arg-type]  # each by its own name


def _longer(values: Array, more: int) -> Array:
    """Values that go on as they ended."""
    return np.concatenate([values, np.repeat(values[..., -1:], more, axis=-1)], axis=-1)
