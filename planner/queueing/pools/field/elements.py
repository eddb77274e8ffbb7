"""Elements that are solved together, pools with one alias count each, and the state of their iteration."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from planner.queueing.pools.pool import CheckedPools
from planner.results import Array, ArrayFields, Flags, Integers

FEW: Final = 8.0
SIZES: Final = np.array([1, *np.outer(2 ** np.arange(2, 13), [2, 3]).ravel()])
"""Array sizes for D and d: only a few, so that small pools share a size, since a pass of few elements costs nearly as
much as one of many (`python -m tests.bench.bench_alias_pool`)."""
CLOSED_SIZES: Final = np.array([1, 4, 16, *np.outer(2 ** np.arange(4, 13), [2, 3]).ravel()])
"""Those of closed pools, fewer; open ones nearly saturated by inflation do not converge where D begins far above it."""
NEARLY_CRITICAL: Final = 0.76
"""Offered load times inflation above which a pool with few aliases gets fewer passes: most of them do not converge."""
AT_ONCE: Final = 0.15
"""Think time, in service times, below which requesters return practically at once; in closed pools twice that. The
transition is steep, since a mixture of distribution and balance agrees with neither. Throughputs of closed pools with
exact chains (`python -m tests.queueing.alias_pool.accuracy 11`) are as accurate with twice this value, less accurate
above; below, a pool with a few aliases fewer than ample takes several times as many passes."""
CAREFUL: Final = 0.3
"""Smallest relaxation factor between passes if they oscillate; the largest one after a failure: of 250 random pools as
for `FIRST_PASSES` 46 have no answer, 88 if the second attempt takes full steps."""
CREEPING: Final = 0.1
"""Smallest relaxation factor after a failure."""
FOLLOWED: Final = 2
"""First passes, which use only the distributions of volumes, since flows are not known yet."""


@dataclass(frozen=True, eq=False)
class PoolElements(ArrayFields):
    """Pools with one alias count each; all times in units of the mean service time of the pool's volumes."""

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
    def of_pools(cls, scenarios: CheckedPools, scenario: Integers, aliases: Array) -> PoolElements:
        """Elements of some scenarios, with an alias count each; a class without arrivals has no volumes."""
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

    def with_classes(self, order: Integers) -> PoolElements:
        """Select classes of each element, shape (elements, classes)."""
        changed = {
            item.name: np.take_along_axis(values, order, axis=-1)
            for item in fields(self)
            if (values := getattr(self, item.name)).ndim > 1
        }
        return replace(self, **changed)

    @cached_property
    def all_closed(self) -> Flags:
        """Which pools have closed volumes only, shape (elements,)."""
        return np.asarray(self.closed.all(axis=-1))

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
        """Weight of the balances, against the distribution, for the I/Os beyond the base, (elements, classes) [1].

        The other requesters of a closed volume think: very few if they think for less than `AT_ONCE` of a service, and
        such a small number must come from the distribution, not from a difference.
        """
        at_once = AT_ONCE * (1.0 + self.closed.all(axis=-1, keepdims=True))
        hurried = np.where(self.closed, at_once * self.service / self.think_time, 0.0)
        return np.asarray(1.0 / (1.0 + hurried**8))

    @cached_property
    def independent(self) -> Flags:
        """Which pools have independent volumes: one volume, no aliases, or one for every I/O that needs one."""
        one = self.volumes.sum(axis=-1) == 1.0
        return np.asarray(one | (self.aliases == 0.0) | (self.aliases >= self.most_beyond))

    @cached_property
    def unlimited(self) -> tuple[Array, Array]:
        """Mean and variance of the I/Os of a volume with unlimited aliases, nan if closed or saturated by inflation.

        They end at ``n / (1 + inflation (n - 1))`` with n in service: a negative binomial distribution, shape
        (elements, classes) [1].
        """
        load = self.arrival_rate * self.service
        left = 1.0 - self.inflation[:, None] * load
        mean = np.where(self.closed | (left <= 0.0), np.nan, load) / np.where(left > 0.0, left, 1.0)
        return mean, mean / np.where(left > 0.0, left, 1.0)

    @cached_property
    def most_unlimited(self) -> Array:
        """Upper quantile of the I/Os of a pool with unlimited aliases, nan with closed volumes, (elements,) [1]."""
        return far_above(*map(self.over_volumes, self.unlimited))

    @cached_property
    def ample(self) -> Flags:
        """Which open pools have so many aliases that no I/O waits."""
        with np.errstate(invalid="ignore"):  # pools without volumes
            return np.asarray(self.aliases >= self.most_unlimited)

    @cached_property
    def nearly_critical(self) -> Flags:
        """Which pools have an open volume nearly saturated by inflation."""
        slowed = self.inflation[:, None] * self.arrival_rate * self.service
        return np.asarray((slowed > NEARLY_CRITICAL).any(axis=-1))

    def waits_and_holds(self, totals: int) -> tuple[Array, Array]:
        """I/Os that wait, and aliases that are busy, given D = 0, 1, ..., shape (elements, D) each [1]."""
        total, aliases = np.arange(float(totals)), self.aliases[:, None]
        return np.maximum(total - aliases, 0.0), np.minimum(total, aliases)

    def over_volumes(self, values: Array) -> Array:
        """Sum over the volumes of a pool, shape (elements,)."""
        return np.asarray(np.where(self.volumes > 0.0, self.volumes * values, 0.0).sum(axis=-1))

    def arrivals(self, size: int) -> tuple[Array, Array]:
        """Arrival rates at one volume by d, base idle or busy, shape (elements, classes, d) each [1/service time]."""
        thinking = np.maximum(self.population[..., None] - np.arange(size + 1.0), 0.0)
        rate = np.where(
            self.closed[..., None], thinking / self.think_time[..., None], self.arrival_rate[..., None]
        )
        return rate[..., :-1], rate[..., 1:]


@dataclass(frozen=True, order=True)
class Size:
    """Array sizes of an element."""

    totals: int  # D = 0, 1, ... [1]
    beyond: int  # d = 0, 1, ... of one volume [1]
    tilts: int  # Exponential tilts for the distribution of the sum of the others' d [1]


def first_sizes(elements: PoolElements) -> tuple[Integers, Integers]:
    """Initial array sizes for D and d of each element; they grow if the distribution needs it."""
    load = offered_load(elements)
    mean = (elements.volumes * load**2 / (1.0 + load)).sum(axis=-1)
    # Standard deviations above the mean, rarely exceeded by a Poisson variable.
    totals = np.minimum(elements.most_beyond + 1.0, mean + 8.0 * (np.sqrt(mean) + 1.0))
    few = load + 6.0 * np.sqrt(load) + 4.0
    many = np.where(elements.closed, elements.population, np.maximum(16.0, few))
    beyond = np.where(
        (load < 1.0) & ~elements.independent[:, None], np.minimum(few, elements.most_of_one), many
    )
    beyond = np.where(elements.volumes > 0.0, beyond, 1.0).max(axis=-1)
    totals = rounded(totals, elements.all_closed)
    return totals, np.minimum(rounded(beyond, elements.all_closed), totals)


def offered_load(elements: PoolElements) -> Array:
    """I/Os of one volume without waiting, shape (elements, classes) [1]."""
    closed = elements.population * elements.service / (elements.service + elements.think_time)
    return np.where(elements.closed, closed, elements.arrival_rate * elements.service)


def far_above(mean: Array, variance: Array) -> Array:
    """Quantile of a gamma distribution with exceedance probability 1e-9: Wilson and Hilferty (1931) [1].

    At least FEW, rarely exceeded by a Poisson variable of mean .02: for smaller shapes the cube root is not normal.
    """
    shape, deviations = mean**2 / variance, 6.2
    return np.asarray(
        np.maximum(mean * (1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * np.sqrt(shape))) ** 3, FEW)
    )


def rounded(number: Array, closed: Flags | bool = False) -> Integers:
    """Smallest array size that is large enough, or the largest one."""
    fine, coarse = (
        sizes[np.minimum(np.searchsorted(sizes, np.ceil(number)), sizes.size - 1)]
        for sizes in (SIZES, CLOSED_SIZES)
    )
    return np.asarray(np.where(closed, coarse, fine))


def by_size(*numbers: Integers) -> list[tuple[Size, Integers]]:
    """Elements of each size."""
    sizes, which = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
    which = which.ravel()
    return [(Size(*row), np.flatnonzero(which == i)) for i, row in enumerate(sizes.tolist())]


@dataclass(frozen=True, eq=False)
class State(ArrayFields):
    """State of the iteration; D is counted from 0."""

    passes: Integers  # Passes so far, shape (elements,) [1]
    again: Flags  # Whether the element has failed once, shape (elements,)
    nobody_waits: Flags  # Whether there are so many aliases that volumes do not interact, shape (elements,)
    answer: Array  # Throughput, queue and I/Os in service of one volume, shape (elements, 3, classes)
    change: Array  # Change of `answer` in the last pass
    gain: Array  # Relaxation factor, shape (elements,) [1]
    base_gap: Array  # Mean gap per I/O of a base, of an alias, shape (elements, classes) [service times]
    alias_gap: Array
    mean_total: Array  # Mean D; then about the smallest and the largest that occurs, shape (elements,) [1]
    least_total: Array
    largest_total: Array
    log_tilt: Array  # Logarithms of the tilts, shape (elements, tilts) [1]
    # Rates of one busy volume with d: its aliases end, its base takes from its own queue, or becomes idle,
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
    def first(cls, elements: PoolElements, size: Size, *, again: bool = False) -> State:
        """Initial state of every element; `again` after a failure, with smaller steps."""
        count, classes = elements.volumes.shape
        beyond, end_rate = np.arange(float(size.beyond)), 1.0 / elements.service[..., None]
        picks = np.where(beyond == 0.0, 0.0, 0.3)  # some of the I/Os beyond the base wait
        # Flows and waiting I/Os given D are not known yet.
        given = {
            item.name: np.zeros((count, classes, size.totals))
            for item in fields(cls)
            if item.name.endswith("_given")
        }
        given["ends_given"] = np.zeros((count, size.totals))
        most = np.minimum(elements.most_beyond, size.totals - 1.0)
        return cls(
            passes=np.zeros(count, dtype=np.int64),
            again=np.full(count, again),
            nobody_waits=np.zeros(count, dtype=bool),
            answer=np.zeros((count, 3, classes)),
            change=np.zeros((count, 3, classes)),
            gain=np.full(count, CAREFUL if again else 1.0),
            base_gap=np.zeros((count, classes)),
            alias_gap=np.zeros((count, classes)),
            mean_total=0.3 * most,
            least_total=np.zeros(count),
            largest_total=most,
            log_tilt=np.zeros((count, size.tilts)),
            alias_ends=0.7 * beyond * end_rate,
            base_picks=picks * end_rate,
            base_idles=(1.0 - picks) * end_rate,
            **given,
        )

    def meet(self, elements: PoolElements) -> Flags:
        """Which pools have volumes that interact and known flows, shape (elements,)."""
        return (self.passes >= FOLLOWED) & ~elements.independent & ~self.nobody_waits

    def resized(self, size: Size) -> State:
        """Continue with more D, d or tilts; rates are extended by their last value, those of aliases by their slope."""
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
        # A change of size is not an oscillation.
        changed["change"] = np.zeros_like(self.change)
        changed["gain"] = np.where(self.again, CAREFUL, 1.0)
        if more > 0 and self.alias_ends.shape[-1] > 1:
            slope = np.maximum(self.alias_ends[..., -1:] - self.alias_ends[..., -2:-1], 0.0)
            changed["alias_ends"][..., -more:] += slope * np.arange(1.0, more + 1.0)
        if size.tilts != self.log_tilt.shape[-1]:
            changed["log_tilt"] = np.repeat(self.log_tilt[:, :1], size.tilts, axis=-1)
        return State(**changed)  # type: ignore[arg-type]  # each by its own name


def _longer(values: Array, more: int) -> Array:
    """Values extended by the last one."""
    return np.concatenate([values, np.repeat(values[..., -1:], more, axis=-1)], axis=-1)
