"""Aliases of a pool of steady volumes: their demands solved together, and all others that fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from planner.demand import Candidate, Candidates, DeviceModel, Target, candidates_of_pools, read_volumes
from planner.demand.drawn_pool import all_volumes
from planner.demand.kinds import COARSE, POISSON, STEADY
from planner.demand.pooled import read_pools
from planner.demand.priors import FAR_FROM_SATURATED
from planner.demand.read import steady_volumes
from planner.demand.words import milliseconds
from planner.devices import Performance, Pool, solve_pools
from planner.errors import ConvergenceError, PlannerError
from planner.interval import Interval
from planner.measurements import Run
from planner.render.text import from_to
from planner.results import Array, Integers, by_key
from planner.sizing.answer import UNEQUAL, AliasAnswer, NamedDemand
from planner.sizing.bounds import NORMAL_90, Correction, spaced
from planner.sizing.bursty_pool import all_at_once, row_of
from planner.sizing.comparison import Gain, gains, own_gains
from planner.sizing.fewest import excess_of, fewest, first_guess, most_useful, surely_misses
from planner.sizing.own_rates import at_own_rates
from planner.sizing.sized import ReadCache, Sized, curve
from planner.sizing.volume import classic_aliases
from planner.sizing.volumes import (
    alike,
    each_volume,
    fitted,
    grouped,
    grown,
    means,
    own_rates,
    pool_of,
    rates_differ,
    think_in_use,
)
from planner.sizing.wording import of_pool
from planner.units import readable

if TYPE_CHECKING:
    from planner.calibrate import Fit

MOST_CARRIED: Final = 0.9  # of the time of all aliases, by volumes whose bases cannot carry them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrownDemand:
    """A steady demand grown and grouped: one pool, or two with the whole numbers of requesters around."""

    pools: tuple[Pool, ...]
    shares: tuple[float, ...] = (1.0,)
    groups: tuple[Integers, ...] = ()
    error: float = 0.0

    @classmethod
    def of(cls, asked: Sequence[tuple[Candidate, Run, float]]) -> list[GrownDemand]:
        """Grow and group demands of measurements, each by its growth, all side by side."""
        sides = [grown(demand.pool, growth) for demand, _, growth in asked]
        found = iter(
            grouped(
                [side for pools, _ in sides for side in pools],
                [run.most_aliases for (pools, _), (_, run, _) in zip(sides, asked, strict=True) for _ in pools],
            )
        )  # fmt: skip
        demands = []
        for pools, shares in sides:
            classes, groups, errors = zip(*islice(found, len(pools)), strict=True)
            demands.append(cls(pools=classes, shares=tuple(shares), groups=groups, error=max(errors)))
        return demands

    @property
    def main(self) -> Pool:
        """The pool of the larger share."""
        return self.pools[int(np.argmax(self.shares))]

    def most_useful(self, most: int) -> int:
        """Largest count worth trying on either side, up to `most`."""
        return max(most_useful(each, most) for each in self.pools)

    def surely_misses(self, target: Target, aliases: int) -> bool:
        """Whether so many aliases are known to miss the target on both sides."""
        return all(surely_misses(each, target, aliases) for each in self.pools)

    @property
    def classes(self) -> Integers:
        """Class of each volume in it."""
        return self.groups[int(np.argmax(self.shares))]


def solved(
    demands: Sequence[GrownDemand], counts: Sequence[Array], *, marks: bool = False
) -> list[Performance | PlannerError]:
    """Every demand at counts of its own, all side by side."""
    flat = solve_pools(
        [pool for each in demands for pool in each.pools],
        [some for each, some in zip(demands, counts, strict=True) for _ in each.pools],
        marks=marks,
    )
    rows = iter(flat)
    return [interpolated([next(rows) for _ in each.pools], each.shares) for each in demands]


def interpolated(
    rows: Sequence[Performance | PlannerError], shares: Sequence[float]
) -> Performance | PlannerError:
    """Figures between two whole numbers of requesters, classes as of the larger share; why, where one has none."""
    known = [each for each in rows if isinstance(each, Performance)]
    if len(known) < len(rows):
        return next(each for each in rows if not isinstance(each, Performance))
    if len(known) == 1:
        return known[0]
    (few, many), (a, b) = known, shares
    means = {
        name: a * getattr(few, name) + b * getattr(many, name)
        for name in ("io_rate", "queued", "no_alias", "tries", "fails")
    }
    busy = a * few.io_rate * few.service_time + b * many.io_rate * many.service_time
    return replace(known[int(np.argmax(shares))], service_time=busy / means["io_rate"], **means)


class ReadPool(NamedTuple):
    """Measurements of a pool, by how much its demand grows, and its steady demands, the preferred one first.

    `left_out` says which measurements they do not explain; `enough` is as in `planner.sizing.need`.
    """

    runs: tuple[Run, ...]
    growth: float
    demands: Sequence[Candidate]
    left_out: tuple[str, ...]
    enough: int | None


class SizedPool(Sized):
    """A pool with its steady demands: `preferred` is the first one grown, `measured` the same as it was.

    `made` makes many at once; their ranges are found at once by `others_together`.
    """

    decided = "steady demand"
    unread: PlannerError | None = None  # why others cannot be counted: no answer with the aliases in use
    here: Performance | None = None  # the model with the aliases in use, where it is solved
    other_counts: list[int] | None = None  # of `alternatives`, where they were found

    def __init__(
        self, read: ReadPool, device_model: DeviceModel, target: Target, preferred: GrownDemand, measured: GrownDemand
    ) -> None:  # fmt: skip
        super().__init__(read.runs, device_model, target, read.growth)
        self.demands, self.left_out, self.enough = read.demands, read.left_out, read.enough
        self.preferred, self.measured = preferred, measured
        self.residual, self.grouping_error = self.demands[0].residual, preferred.error

    @classmethod
    def made(cls, read: Sequence[ReadPool], device_model: DeviceModel, target: Target) -> list[SizedPool]:
        """Grow and group the preferred demands of many pools, and find the counts by one measurement, side by side."""
        measured = GrownDemand.of([(each.demands[0], each.runs[-1], 0.0) for each in read])
        ahead = iter(
            GrownDemand.of([(each.demands[0], each.runs[-1], each.growth) for each in read if each.growth])
        )
        sized = [
            cls(each, device_model, target, next(ahead) if each.growth else now, now)
            for each, now in zip(read, measured, strict=True)
        ]  # fmt: skip
        _count_together([each for each in sized if len(each.runs) == 1])
        return sized

    @cached_property
    def guess(self) -> int:
        """Where the search begins."""
        if self.found_count is not None:
            return self.found_count
        return min(first_guess(self.preferred.main), self.run.most_aliases)

    def model(self, counts: Array, *, measured: bool = False) -> Performance:
        """By the preferred demand."""
        (rows,) = solved([self.measured if measured else self.preferred], [counts], marks=True)
        if isinstance(rows, PlannerError):
            raise rows
        return rows

    @cached_property
    def grown(self) -> list[GrownDemand]:
        """All demands, grown."""
        others = GrownDemand.of([(each, self.run, self.growth) for each in self.demands[1:]])
        return [self.preferred, *others]

    @cached_property
    def together_count(self) -> int | None:
        """Where nothing waits that would show how much bursts come together."""
        run = self.run
        if not run.queue_known or run.bases == 1 or not self.target.of_waits or len(self.runs) > 1:
            return None
        if (run.aliases and run.total_queue.value > 0) or not np.isnan(run.together).any():
            return None
        (read,) = read_pools(
            [row_of(run)._replace(aliases=0)], device_model=self.device_model, growth=self.growth, many=1
        )
        found = all_at_once(read, self.target, self.count)
        return min(found, run.aliases) if run.aliases else found  # nothing waits with those

    @property
    def has_think_times(self) -> bool:
        """Whether a class is closed: its think time was read by the model as well, which is known to its error only."""
        return any(not math.isnan(part.think_time) for part in self.preferred.main.classes)

    @cached_property
    def moved(self) -> list[GrownDemand]:
        """The preferred demand at both ends of what calibration and error of the model allow."""
        if self.has_think_times and self.here is None:
            self.here = self.model(self.aliases_now)
        return self._moved(self.preferred.main, self.here)

    def _moved(self, pool: Pool, here: Performance | None) -> list[GrownDemand]:
        found = []
        if here is not None and self.has_think_times:
            found = moved_think_times(
                pool, NORMAL_90 * self.device_model.model_error * here.volume_responses[0]
            )
        return [GrownDemand(pools=(each,)) for each in (*found, *moved_devices(pool, self.device_model))]

    @cached_property
    def moved_before(self) -> dict[str, Array]:
        """By all of `moved`; none where one of them has no answer."""
        (here,) = solved([self.measured], [self.aliases_now], marks=True)
        if isinstance(here, PlannerError):
            return {}
        moved = self._moved(self.measured.main, here)
        rows = [
            each for each in solved(moved, [self.aliases_now] * len(moved)) if isinstance(each, Performance)
        ]
        if len(rows) < len(moved):
            return {}
        with np.errstate(divide="ignore", invalid="ignore"):  # where a queue grows without bound
            return {
                name: np.log(np.array([getattr(each, name)[0] for each in rows]) / getattr(here, name)[0])
                for name in ("io_rate", "response_time")
            }

    @property
    def alternatives(self) -> list[GrownDemand]:
        """`grown` after the first, and `moved`."""
        return [*self.grown[1:], *self.moved]

    @cached_property
    def around(self) -> tuple[Integers, list[Performance | PlannerError]]:
        """Some counts, and what all `alternatives` do with them."""
        few = some_counts(self.sweep[0].aliases.size - 1, self.count, [run.aliases for run in self.runs])
        return few, solved(self.alternatives, [few.astype(np.float64)] * len(self.alternatives))

    def bracket(self, k: int, demand: GrownDemand) -> tuple[int, int, int]:
        """Of one of `alternatives`, by its place: the largest count worth trying, those known to miss and to meet."""
        most, low = self.window(demand)
        missed, met = most if demand.surely_misses(self.target, most) else low, most + 1
        if "around" in self.__dict__ and isinstance(rows := self.around[1][k], Performance):
            few, ok = self.around[0], excess_of(self.target, rows) <= 1.0  # solved for the bands
            met = int(few[np.argmax(ok)]) if ok.any() else met
            missed = int(few[~ok][few[~ok] < met].max(initial=-1))
        return most, missed, met

    def window(self, demand: GrownDemand) -> tuple[int, int]:
        """Largest count worth trying, and the largest that is not: all counts, or those that decide on `enough`."""
        most = demand.most_useful(self.run.most_aliases)
        if self.enough is None:
            return most, -1
        beside = 1 if self.residual > 1.0 else 0  # by which the range is wider
        most = min(most, self.enough + beside)
        return most, min(self.enough - beside, most) - 1

    def beyond(self, demand: GrownDemand) -> int | None:
        """The count where none of the window meets the target: one more; None where it holds all worth trying."""
        most, _ = self.window(demand)
        return most + 1 if most < demand.most_useful(self.run.most_aliases) else None

    def others(self) -> list[int]:
        """Counts of `alternatives`: as many as there can be where none do."""
        if self.other_counts is None:
            others_together([self])
        if self.unread is not None:
            raise self.unread
        assert self.other_counts is not None
        return self.other_counts

    def bands(self, rows: Performance, model: Performance) -> Iterator[tuple[Array, ...]]:
        """Over the demands and what calibration and error of the model allow."""
        last = rows.aliases.size - 1
        few, around = self.around
        there = few <= last
        few = few[there]
        solved_there = [each.some(there) if isinstance(each, Performance) else None for each in around]
        many = len(self.grown) - 1
        others = [each for each in solved_there[:many] if each is not None]
        moved = [each for each in solved_there[many:] if each is not None]
        if len(moved) < len(self.moved):
            moved = []
        for name in ("io_rate", "response_time"):
            of: Callable[[Performance], Array] = attrgetter(name)
            chosen, plain = of(rows), of(model)
            values = np.array([chosen, *(between(of(each), chosen, few) for each in others)])
            ends = np.array([between(of(each), plain, few) for each in moved]).reshape(len(moved), last + 1)
            yield values, plain, ends

    def each_alone(self) -> int | None:
        """Of the volumes of the preferred demand, each with aliases of its own."""
        return classic_aliases(self.preferred.main, self.target) if self.run.pool else None

    def gains(self, rows: Performance, count: int) -> tuple[Gain, ...]:
        """What each class of volumes gets."""
        found = gains(self.preferred.main, rows, min(self.run.aliases, rows.aliases.size - 1), count)
        if self.run.own and not self.growth:
            found = own_gains(found, self.run, self.preferred.classes)
        return found

    def named(self, count: int, rows: Performance) -> tuple[NamedDemand, ...]:
        """Every demand in words, with its own count and rate."""
        few, around = self.around
        at = int(np.flatnonzero(few == count)[0])
        rates = [float(rows.io_rate[count])]
        rates += [
            float(each.io_rate[at]) if isinstance(each, Performance) else math.nan
            for each in around[: len(self.grown) - 1]
        ]
        counts = [count, *self.others()]
        return tuple(_named(*each) for each in zip(self.demands, counts, rates, strict=False))

    def sentences(self, answer: AliasAnswer) -> tuple[Sequence[str], Sequence[str], bool]:
        """What was left out, who gains, how volumes were grouped."""
        more = of_pool(answer, self.run.bases, len(self.preferred.main.classes))
        return [*self.left_out, *more], (), len(answer.readings) > 1


def _with_aliases_in_use(sized: Sequence[SizedPool]) -> list[Performance | PlannerError]:
    """What the model has where it was measured; unbounded next to instability, if no queue is known to correct to."""
    found = solved([each.measured for each in sized], [each.aliases_now for each in sized])
    for k, each in enumerate(sized):
        if isinstance(found[k], ConvergenceError) and not each.run.queue_known and not each.has_think_times:
            rate, service = np.array([[each.run.total_rate.value], [each.run.mean_service.value]])
            found[k] = curve(each.aliases_now, rate, service, np.array([math.inf]))
    return found


def _count_together(sized: Sequence[SizedPool]) -> None:
    """Find the counts of many pools of one measurement each side by side, as each would find its own."""
    if not sized:
        return
    ready = []
    for each, rows in zip(sized, _with_aliases_in_use(sized), strict=True):
        each.unsolved = rows if isinstance(rows, PlannerError) else None
        if isinstance(rows, Performance):
            if not each.growth:
                each.here = rows
            each.correction = Correction.of(rows, each.runs, each.growth)
            ready.append(each)

    def solve(places: Sequence[int], counts: Sequence[Array]) -> list[Performance | PlannerError]:
        rows = solved([ready[k].preferred for k in places], counts)
        return [
            ready[k].correction.applied(one) if isinstance(one, Performance) else one
            for k, one in zip(places, rows, strict=True)
        ]

    windows = [each.window(each.preferred) for each in ready]
    # What was measured decides between more and less than the aliases in use.
    bounds = [each.bounds(*(each.run.total_queue.value,) * 2) for each in ready]
    most = [min(limit, met) for (limit, _), (_, met) in zip(windows, bounds, strict=True)]
    # a measured queue corrects the model: only without one does the model alone say that a count misses
    sure = [
        not each.run.queue_known and each.preferred.surely_misses(each.target, last)
        for each, last in zip(ready, most, strict=True)
    ]
    missed = [
        last if surely else max(min(low, last - 1), misses)
        for surely, (_, low), (misses, _), last in zip(sure, windows, bounds, most, strict=True)
    ]
    found = fewest(
        solve, ready[0].target if ready else Target(), [each.guess for each in ready], most, missed
    )
    for each, count, last, (limit, _), (misses, _) in zip(ready, found, most, windows, bounds, strict=True):
        more = count is None or isinstance(count, ConvergenceError)  # that one next to instability
        said = (each.beyond(each.preferred) if more else None) or count
        if said is None and last <= misses < each.run.most_aliases:
            said = misses + 1  # by the demand nobody waits, with what was measured some did
        if isinstance(said, int):
            each.found_count = said
        each.unsolved = said if isinstance(said, ConvergenceError) else None
        each.none_does = said is None and last == limit


def others_together(sized: Sequence[SizedPool]) -> None:
    """Find the counts of all other demands and models of many pools side by side, as each would find its own."""
    later = [each for each in sized if each.has_think_times and each.here is None]
    for each, rows in zip(
        later, solved([each.preferred for each in later], [each.aliases_now for each in later]), strict=True
    ):
        if isinstance(rows, Performance):
            each.here = rows
        else:
            each.unread = rows
    ready = [each for each in sized if each.unread is None]
    asked = [(other, each.run, each.growth) for each in ready for other in each.demands[1:]]
    others = iter(GrownDemand.of(asked))
    for each in ready:
        each.grown = [each.preferred, *islice(others, len(each.demands) - 1)]
    pairs = [(each, k, demand) for each in ready for k, demand in enumerate(each.alternatives)]
    counts = fewest(
        lambda places, counts: solved([pairs[k][2] for k in places], counts), sized[0].target,
        [each.count + first_guess(demand.main) - first_guess(each.preferred.main) for each, _, demand in pairs],
        *zip(*(each.bracket(k, demand) for each, k, demand in pairs), strict=True),
    ) if pairs else []  # fmt: skip
    found = iter(
        count if isinstance(count, int) else each.beyond(demand) or each.run.most_aliases
        for (each, _, demand), count in zip(pairs, counts, strict=True)
    )
    for each in ready:
        each.other_counts = list(islice(found, len(each.alternatives)))


def size_pools(
    cases: Sequence[tuple[Run, ...]], device_model: DeviceModel, target: Target, growth: Sequence[float],
    known: ReadCache, *, ranges: bool = True, enough: Sequence[int | None] | None = None,
) -> list[SizedPool | PlannerError | None]:  # fmt: skip
    """Read and count pools by steady demand together, without `ranges` by the preferred demand only.

    None where steady demand explains nothing, or has no solution where volumes that are each read alone may have one.
    """
    found: list[SizedPool | PlannerError | None] = [None] * len(cases)
    read: dict[int, list[Candidate]] = {}
    left_out: dict[int, tuple[str, ...]] = {}
    together, alone = [], []
    unshared, steady = _read_steady(cases, device_model)
    for k, runs in enumerate(cases):
        if not steady[k]:
            continue
        if len({each.aliases for each in runs}) > 1 and rates_differ(runs):
            try:
                fits, left_out[k] = fitted(runs, device_model)
            except PlannerError as problem:
                found[k] = problem
                continue
            read[k] = [_of_fit(each, runs[-1], device_model) for each in fits]
        elif runs[-1].aliases and (runs[-1].queue_known or len(runs) == 1):
            together.append(k)
        elif not runs[-1].queue_known:
            # Rates and service times alone are an offered load: open arrivals at the measured rates.
            offered = pool_of(device_model, runs[-1].service.value, arrival_rate=runs[-1].io_rate.value)
            read[k] = [Candidate(pool=offered)]
        else:
            alone.append(k)
    present = [unshared[k] if len(cases[k]) == 1 else _unshared(cases[k][-1]) for k in alone]
    read |= zip(alone, _alone(present, device_model, ranges=ranges), strict=True)
    in_use = _read_in_use([cases[k][-1] for k in together], device_model, known, ranges=ranges)
    read |= zip(together, in_use, strict=True)
    pools = {
        k: ReadPool(cases[k], growth[k], read[k], left_out.get(k, ()), enough[k] if enough else None)
        for k in sorted(read) if read[k]
    }  # fmt: skip
    for k, pool in zip(pools, SizedPool.made([*pools.values()], device_model, target), strict=True):
        if not (pool.unsolved and pool.run.queue_known):
            found[k] = pool
    return found


def _read_steady(
    cases: Sequence[Sequence[Run]], device_model: DeviceModel
) -> tuple[dict[int, Unshared], list[bool]]:
    """Groups of equal volumes of cases measured without aliases, and whether steady demand may explain each case."""
    unshared: dict[int, Unshared] = {}
    steady = [True] * len(cases)
    for k, runs in enumerate(cases):
        known = [run for run in runs if run.queue_known]
        if known and known[-1].come_together:
            steady[k] = False
            continue
        run = min(known, key=lambda each: each.aliases, default=None)
        if run is not None and not run.aliases:
            unshared[k] = _unshared(run)
        elif run is not None and run is not runs[-1]:  # else decided by its demands
            ((preferred, *_),) = candidates_of_pools([run], device_model)
            steady[k] = run.total_queue.value <= 0 or preferred.fits
    if unshared:
        columns, parts = all_volumes([each[:3] for each in unshared.values()])
        calm, saturated = steady_volumes(*columns, device_model=device_model)
        for k, part in zip(unshared, parts, strict=True):
            # Nobody knows what a volume that never idles would ask for, unless another row shows it.
            unknown = len(cases[k]) == 1 and bool(saturated[part].any())
            steady[k] = bool(calm[part].all()) and not unknown and not _denied(cases[k], device_model)
    return unshared, steady


def _denied(runs: Sequence[Run], device_model: DeviceModel) -> bool:
    """Whether more waits with aliases than volumes, measured without any, would have if independent."""
    known = [run for run in runs if run.queue_known]
    others = [run for run in known if run.aliases]
    if not others or known[-1].bases == 1 or rates_differ(known):
        return False
    (read,) = read_pools(
        [row_of(next(run for run in known if not run.aliases))], device_model=device_model, many=1
    )
    return any(read.denies(row_of(each)) for each in others)


def _named(demand: Candidate, count: int | None, io_rate: float) -> NamedDemand:
    """The demand of all volumes in words."""
    people, think, arrival_rate, _ = each_volume(demand.pool)
    closed = ~np.isnan(people)
    parts = []
    if closed.any():
        between_ios = milliseconds(float(think[closed].min()), float(think[closed].max()))
        many = _range_of(people[closed])
        noun = "requester" if many == "1" else "requesters"
        parts.append(f"{many} {noun} a volume with {between_ios} between I/Os")
    if not closed.all():
        parts.append(f"open arrivals, {_range_of(arrival_rate[~closed])}/s a volume")
    same = closed.all() and np.unique(people).size == 1
    return NamedDemand(
        kind="closed" if closed.all() else "open" if not closed.any() else UNEQUAL,
        words=" and ".join(parts), weight=None, count=count, io_rate=io_rate,
        population=float(people[0]) if same else None,
        think_time=float(think.mean()) if same and think.max() < 1.02 * think.min() else None,
    )  # fmt: skip


def _range_of(values: Array) -> str:
    return from_to(readable(float(values.min())), readable(float(values.max())))


def moved_think_times(pool: Pool, off: Array) -> list[Pool]:
    """The pool with longer and with shorter think times, by `off` [s] of each class."""
    return [
        replace(
            pool,
            classes=tuple(
                replace(part, think_time=max(part.think_time + sign * float(each), 0.01 * part.think_time))
                for part, each in zip(pool.classes, off, strict=True)
            ),
        )
        for sign in (1.0, -1.0)
    ]


def moved_devices(pool: Pool, device_model: DeviceModel) -> list[Pool]:
    """The pool at both ends of what the calibration of the model allows, two an axis: upper end first."""
    ends = (device_model.moved(axis, sign * NORMAL_90) for axis in device_model.axes for sign in (1.0, -1.0))
    return [replace(pool, **each.parameters) for each in ends]


def some_counts(last: int, recommended: int, in_use: Sequence[int]) -> Integers:
    """Counts at which other demands and models are solved; figures are interpolated between them."""
    near = [recommended + step for step in (-1, 0, 1)]
    wanted = {*np.linspace(0, last, 5).round().astype(int).tolist(), *near, *in_use}
    return np.array(sorted(k for k in wanted if 0 <= k <= last), dtype=np.int64)


def between(values: Array, chosen: Array, few: Integers) -> Array:
    """Values at every count from those at a few: the logarithm of their ratio to the chosen ones is interpolated.

    Where the chosen ones have no end, the logarithm of the values is.
    """
    counts, known, bounded = np.arange(chosen.size), np.isfinite(chosen), np.isfinite(values)
    if not bounded.any():
        return np.full(chosen.shape, np.inf)
    found = np.exp(np.interp(counts, few[bounded], np.log(values[bounded])))
    both = bounded & known[few]
    if both.any():
        ratio = np.interp(counts, few[both], np.log(values[both] / chosen[few[both]]))
        found = np.where(known, np.exp(ratio) * np.where(known, chosen, 1.0), found)
    unbounded = counts < few[bounded][0] if not bounded.all() else np.zeros(counts.shape, dtype=bool)
    return np.where(unbounded, np.inf, found)


Unshared = tuple[Interval, Interval, Interval, Integers]


def _unshared(run: Run) -> Unshared:
    """Rate, service and queue of groups of volumes that the digits cannot tell apart, and the group of each volume."""
    groups = alike(run)
    rate, service, queued = (means(each, groups) for each in (run.io_rate, run.service, run.queued))
    return rate, service, spaced(queued), groups


def _alone(unshared: Sequence[Unshared], device_model: DeviceModel, *, ranges: bool) -> list[list[Candidate]]:
    """Without aliases each volume is read for itself; volumes that the digits cannot tell apart, as their mean."""
    if not unshared:
        return []
    columns, parts = all_volumes([each[:3] for each in unshared])
    read = read_volumes(*columns, device_model=device_model, layout=COARSE.only(STEADY))
    order, many = _fitting(read)
    found = []
    for part, (*_, groups) in zip(parts, unshared, strict=True):
        opened = bool((read.layout.kind[order[part, 0]] == POISSON).any())
        places = _picked(int(many[part].max()), opened=opened)
        rows = np.arange(part.start, part.stop)[groups]
        found.append(
            [
                _of_columns(read, rows, order[rows, np.minimum(k, many[rows] - 1)], device_model)
                for k in places[: None if ranges else 1]
            ]
        )
    return found


def _of_columns(read: Candidates, rows: Integers, columns: Integers, device_model: DeviceModel) -> Candidate:
    """A demand of one pool, of each volume the row that it is read in, and the column."""
    here, opened = (rows, columns), read.layout.kind[columns] == POISSON
    alone = read.service_time[here]
    think = np.maximum(read.demands.think[here], 1e-6) * alone  # think time of a service time
    pool = pool_of(
        device_model, alone, population=np.where(opened, np.nan, read.demands.population[here]),
        think_time=np.where(opened, np.nan, think), arrival_rate=np.where(opened, read.rows.rate[rows], np.nan),
    )  # fmt: skip
    return Candidate(pool=pool, residual=float(np.nan_to_num(read.residual[here]).max()))


def _picked(many: int, *, opened: bool) -> Integers:
    """Places of six of many demands, evenly spread, and of the smallest population after open arrivals."""
    smallest = min(int(opened), many - 1)
    return np.unique([smallest, *np.linspace(0, many - 1, min(many, 6)).round().astype(np.int64)])


def _fitting(read: Candidates) -> tuple[Integers, Integers]:
    """Columns of the steady candidates of each row that fit, the preferred one first, and how many these are.

    It is the nearest where none fits. Open arrivals are preferred far from saturation, else the fewest requesters; of
    two on either side of the measurement, both of residual 1, the likelier one, as for a volume alone. One requester
    never waits: it comes last where there is a queue.
    """
    residual = np.where(np.isfinite(read.residual), read.residual, np.inf)
    fits = residual <= 1.0
    fits[np.arange(read.volumes), residual.argmin(axis=1)] |= ~fits.any(axis=1)
    late, last = 1e300, 1e301  # after all numbers of requesters
    opened = np.where(read.rows.rate * read.rows.service < FAR_FROM_SATURATED, 0.0, late)
    people = np.where(read.layout.kind == POISSON, opened[:, None], read.demands.population)
    beside = residual.min(axis=1) >= 1.0
    people[beside] = -read.weight[beside]
    people[(read.rows.queue_low > 0.0)[:, None] & (read.demands.population == 1.0)] = last
    return np.argsort(np.where(fits, people, np.inf), axis=1, kind="stable"), fits.sum(axis=1)


def _read_in_use(
    runs: Sequence[Run], device_model: DeviceModel, known: ReadCache, *, ranges: bool
) -> list[list[Candidate]]:
    """Steady demands of pools with aliases at work, read where not `known`; none where nothing steady explains one."""
    new = {id(run): run for run in runs if (id(run), ranges) not in known.steady}
    cases: list[tuple[Run, Candidate]] = []
    for run, demands in zip(
        new.values(), candidates_of_pools([*new.values()], device_model, ranges=ranges), strict=True
    ):
        # A queue with aliases in use distinguishes steady demand from bursty; without one, steady demand is the least.
        waits = run.queue_known and run.total_queue.value > 0
        opened = math.isinf(demands[0].requesters)
        bursty = waits and (not demands[0].fits or (opened and _crowded(run, device_model)))
        if not bursty:
            cases += [(run, demands[k]) for k in _picked(len(demands), opened=opened)]
    thinks = think_in_use([(each.pool, run.aliases, own_rates(run)) for run, each in cases])
    of_run = by_key((id(run), (run, each, think)) for (run, each), think in zip(cases, thinks, strict=True))
    for name in new:
        known.steady[name, ranges] = _in_use(of_run.get(name, ()), device_model)
    # What equal volumes do not explain, unequal ones may.
    left = [run for name, run in new.items() if not known.steady[name, ranges] and run.bases > 1]
    for run, own in zip(left, at_own_rates(left, device_model), strict=True):
        known.steady[id(run), ranges] = [*own[: None if ranges else 1]]
    return [known.steady[id(run), ranges] for run in runs]


def _crowded(run: Run, device_model: DeviceModel) -> bool:
    """Whether what bases cannot carry takes nearly all aliases: open arrivals, if volumes were equal, say nothing."""
    return run.beyond_bases(gap=device_model.redrive_time) > MOST_CARRIED * run.aliases


def _in_use(
    demands: Sequence[tuple[Run, Candidate, Array | PlannerError]], device_model: DeviceModel
) -> list[Candidate]:
    """Aliases at work: the volumes were read together, as if equal, by the pool's own solution; now at their rates.

    Demands without a solution at these rates are left out; none where the preferred one, the first, has none.
    """
    found: list[Candidate] = []
    for run, read, think in demands:
        if isinstance(think, PlannerError):
            if not found:
                break
            continue
        (part,) = read.pool.classes
        pool = pool_of(
            device_model, np.full(run.bases, read.pool.service_time), think_time=think, population=part.population,
            arrival_rate=own_rates(run) if math.isnan(part.population) else math.nan,
        )  # fmt: skip
        found.append(Candidate(pool=pool, residual=read.residual))
    return found


def _of_fit(item: Fit, run: Run, device_model: DeviceModel) -> Candidate:
    """A fit to several runs: every volume asks for the same."""
    service, think = np.full(run.bases, item.value("service_time")), item.value("think_time")
    return Candidate(pool=pool_of(device_model, service, population=item.population, think_time=think))
