"""Aliases of one pool: what each of its volumes asks for, solved together, under every reading that fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.demand import Law, Reading, Readings, read_volumes, readings_of_pool
from planner.demand.read import steady_volumes
from planner.devices import Performance, Pool
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import UNEQUAL, AliasAnswer, NamedReading
from planner.sizing.bounds import (
    LEAST_THINK,
    NORMAL_90,
    band,
    holding,
    measured_rate,
    measured_response,
    spaced,
    span,
)
from planner.sizing.bursty_pool import size_bursty_pool
from planner.sizing.classic import classic_aliases
from planner.sizing.comparison import (
    as_measured,
    gains,
    held_to_measurement,
    helped,
    own_gains,
    rule_of_thumb,
)
from planner.sizing.fewest import Tried, fewest
from planner.sizing.target import Target
from planner.sizing.volumes import (
    Indices,
    alike,
    each_volume,
    grouped,
    grown,
    interpolated,
    means,
    own_rates,
    pool_of,
    think_in_use,
)
from planner.sizing.wording import pool_remarks
from planner.units import MILLISECOND

if TYPE_CHECKING:
    from planner.calibrate import Fit

ROWS_BEYOND: Final = 2
CHI_SQUARE_95: Final = 3.84
MOST_READINGS: Final = 6
SOME: Final = 5  # counts at which other readings and laws are solved, beside those near the answer
LARGEST_FITTED_POPULATION: Final = 16
WORSE_IN_A_ROW: Final = 3  # populations far behind the best before the search ends
SAME_RATE: Final = 0.03  # several listings of one rate say nothing about the requesters
FAR_FROM_SATURATED: Final = 0.7  # utilization of a device below which open arrivals are preferred


def _named(reading: Reading, count: int | None, io_rate: float) -> NamedReading:
    """The demand of all volumes in words."""
    people, think, arrival_rate, _ = each_volume(reading.pool)
    closed = ~np.isnan(people)
    parts = []
    if closed.any():
        between_ios = _from_to(think[closed] / MILLISECOND)
        many = _from_to(people[closed])
        noun = "requester" if many == "1" else "requesters"
        parts.append(f"{many} {noun} a volume with {between_ios} ms between I/Os")
    if not closed.all():
        parts.append(f"open arrivals, {_from_to(arrival_rate[~closed])}/s a volume")
    same = closed.all() and np.unique(people).size == 1
    return NamedReading(
        kind="closed" if closed.all() else "open" if not closed.any() else UNEQUAL,
        words=" and ".join(parts), weight=None, count=count, io_rate=io_rate,
        population=float(people[0]) if same else None,
        think_time=float(think.mean()) if same and think.max() < SAME_THINK * think.min() else None,
    )  # fmt: skip


SAME_THINK: Final = 1.02
LEAST_SHARE: Final = 1e-6  # think time of a service time


def _from_to(values: Array) -> str:
    low, high = f"{float(values.min()):.3g}", f"{float(values.max()):.3g}"
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A reading grown and grouped: one pool, or two with the whole numbers of requesters around."""

    pools: tuple[Pool, ...]
    shares: tuple[float, ...]
    groups: tuple[Indices, ...]
    error: float

    @classmethod
    def of(cls, reading: Reading, run: Run, growth: float) -> Asked:
        """Grow and group."""
        sides, shares = grown(reading.pool, growth)
        found = [grouped(side, run.most_aliases) for side in sides]
        return cls(
            pools=tuple(pool for pool, _, _ in found), shares=tuple(shares),
            groups=tuple(group for _, group, _ in found), error=max(error for _, _, error in found),
        )  # fmt: skip

    @property
    def main(self) -> Pool:
        """The pool of the larger share."""
        return self.pools[int(np.argmax(self.shares))]

    @property
    def classes(self) -> Indices:
        """Class of each volume in it."""
        return self.groups[int(np.argmax(self.shares))]

    def solve(self, sweep: Array) -> Performance:
        """Every count."""
        return interpolated([pool.solve(sweep) for pool in self.pools], self.shares)

    def fewest(
        self, target: Target, run: Run, begin: int | None, tried: dict[int, Tried]
    ) -> tuple[int, dict[int, Tried]]:
        """The smallest count that meets the target."""
        found = [
            fewest(pool, target, run, begin, tried if len(self.pools) == 1 else {}) for pool in self.pools
        ]
        if len(found) == 1:
            return found[0]
        low, high = sorted(count for count, _ in found)
        if low == high:
            return found[0]
        met = target.met(self.solve(np.arange(low, high + 1, dtype=np.float64)))
        return low + int(np.argmax(met)) if met.any() else high, found[int(np.argmax(self.shares))][1]


def size_pool(runs: Sequence[Run], law: Law, target: Target, growth: float) -> AliasAnswer:
    """Find the smallest number of aliases of a pool that meets a target.

    Raises
    ------
    InputError
        Measurements of different systems.
    InfeasibleError
        No count that a control unit has room for meets the target.
    ConvergenceError
        The pool could not be solved.
    """
    run = runs[-1]
    if is_bursty(runs, law):
        return size_bursty_pool(runs, law, target, growth)
    read, fitted, left_out = pool_readings(runs, law)
    asked = [Asked.of(reading, run, growth) for reading in read]
    counts: list[int] = []
    begin: int | None = None
    tried: dict[int, Tried] = {}
    for each in asked:
        try:
            begin, tried = each.fewest(target, run, begin, tried)
        except InfeasibleError as error:
            raise InfeasibleError(f"{run.name}: {error}") from None
        counts.append(begin)
    recommended, rule = counts[0], run.rule_of_thumb
    recommended = held_to_measurement(recommended, run, target, growth)
    last = min(max(recommended, rule or 0, *(each.aliases for each in runs)) + ROWS_BEYOND, run.most_aliases)
    sweep = np.arange(last + 1, dtype=np.float64)
    few = some_counts(last, recommended, [run.aliases for run in runs])
    rows = asked[0].solve(sweep)
    # The fewest and the most requesters bound all figures of today; of those between only the rate is told.
    ends = read if fitted or growth else extremes(read)
    bounding = [any(each is end for end in ends) for each in read[1:]]
    there = np.array([float(recommended)])
    solved = [
        each.solve(sweep[few] if bounds else there) for each, bounds in zip(asked[1:], bounding, strict=True)
    ]
    outer = [each for each, bounds in zip(solved, bounding, strict=True) if bounds]
    rule = rule_of_thumb(run, rows, growth)
    known = () if growth else tuple(runs)
    laws = moved_pools(asked[0].main, law, rows, min(run.aliases, last))
    moved = [pool.solve(sweep[few]) for pool in laws]
    wanted = [
        needed(pool, each, target, run, recommended, tried) for pool, each in zip(laws, moved, strict=True)
    ]
    strain = 0.0 if fitted else read[0].strain
    bands = []
    for of, measured, rising in ((_io_rate, measured_rate, True), (_response, measured_response, False)):
        chosen = of(rows)
        values = np.array([chosen, *(between(of(each), chosen, few) for each in outer)])
        others = np.array([between(of(each), chosen, few) for each in moved]).reshape(len(moved), last + 1)
        seen = {each.aliases: measured(each) for each in known}
        bands.append(band(values, chosen, others, law, strain, run.aliases, seen, rising=rising))
    model = rows
    rows = as_measured(rows, known)
    bands[0] = holding(bands[0], rows.io_rate)
    low, high = span([recommended, *counts, *wanted], rule)
    if strain > 1.0:
        low, high = max(low - 1, 0), min(high + 1, run.most_aliases)
    classic = classic_aliases([asked[0].main], target)[0] if run.pool else None
    gained = gains(asked[0].main, model, min(run.aliases, last), recommended)
    if run.own and not growth:
        gained = own_gains(gained, run, asked[0].classes)
    at_it = (each.io_rate[each.aliases == recommended] for each in solved)
    rates = [float(model.io_rate[recommended]), *(float(rate[0]) for rate in at_it)]
    named = tuple(
        _named(reading, count, rate) for reading, count, rate in zip(read, counts, rates, strict=True)
    )
    helps = helped(rows, run.aliases, recommended)
    return AliasAnswer(
        name=run.name, recommended=recommended, range=(low, high), rule_of_thumb=rule, in_use=run.aliases,
        measured=tuple(each.aliases for each in runs), target=target, growth=growth, readings=named, rows=rows,
        rate=bands[0], response=bands[1], saturated=False, helps=helps, strain=strain, waiting=run.waiting,
        classic=classic, gains=gained, grouping_error=asked[0].error,
        remarks=pool_remarks(
            runs, named, recommended, helps=helps, growth=growth, classic=classic, gains=gained, pool=asked[0].main,
            error=asked[0].error, left_out=left_out,
        ),
    )  # fmt: skip


def _io_rate(rows: Performance) -> Array:
    return rows.io_rate


def _response(rows: Performance) -> Array:
    return rows.response_time


def moved_pools(pool: Pool, law: Law, rows: Performance, in_use: int) -> list[Pool]:
    """The pool at both ends of what the calibration and the error of the law allow, two an axis: upper end first.

    The law read the think times as well, from response times that it knows no better than its error.
    """
    sides = []
    for sign in (1.0, -1.0):
        parts = []
        for part, error in zip(
            pool.classes, NORMAL_90 * law.model_error * rows.volume_responses[in_use], strict=True
        ):
            longer = part.think_time + sign * float(error)
            parts.append(replace(part, think_time=max(longer, LEAST_THINK * part.think_time)))
        sides.append(replace(pool, classes=tuple(parts)))
    found = [] if all(math.isnan(part.think_time) for part in pool.classes) else sides
    for axis in law.axes:
        for sign in (1.0, -1.0):
            inflation, gap = law.moved(axis, sign * NORMAL_90)
            found.append(replace(pool, inflation=inflation, redrive_time=gap))
    return found


def some_counts(last: int, recommended: int, in_use: Sequence[int]) -> Indices:
    """Counts at which the other readings and laws are solved: between them all figures change smoothly."""
    near = [recommended + step for step in (-1, 0, 1)]
    wanted = {*np.linspace(0, last, SOME).round().astype(int).tolist(), *near, *in_use}
    return np.array(sorted(k for k in wanted if 0 <= k <= last), dtype=np.int64)


def between(values: Array, chosen: Array, few: Indices) -> Array:
    """Values at every count from those at a few: the logarithm of their ratio to the chosen reading is interpolated."""
    every = np.arange(chosen.size)
    bounded = np.isfinite(values) & np.isfinite(chosen[few])
    if not bounded.any():
        return np.full(chosen.shape, np.inf)
    ratio = np.interp(every, few[bounded], np.log(values[bounded] / chosen[few[bounded]]))
    unbounded = every < few[bounded][0] if not bounded.all() else np.zeros(every.shape, dtype=bool)
    found: Array = np.where(
        unbounded | ~np.isfinite(chosen), np.inf, np.exp(ratio) * np.where(np.isfinite(chosen), chosen, 1.0)
    )
    return found


def needed(
    pool: Pool, rows: Performance, target: Target, run: Run, begin: int, like: dict[int, Tried]
) -> int:
    """Fewest aliases under another law, of which `rows` are a few counts; as many as there can be where none do."""
    met = target.met(rows)
    counts = rows.aliases.astype(int)
    first = int(np.argmax(met)) if met.any() else -1
    if first == 0 or (first > 0 and counts[first] == counts[first - 1] + 1):
        return int(counts[first])
    try:
        return fewest(pool, target, run, begin if first < 0 else int(counts[first]) - 1, like)[0]
    except InfeasibleError:
        return run.most_aliases


def pool_readings(runs: Sequence[Run], law: Law) -> tuple[list[Reading], bool, tuple[str, ...]]:
    """What the volumes of a pool may ask for, the preferred reading first.

    Returns
    -------
    list of Reading
        At least one.
    bool
        Whether they were fitted to several runs, hence meet none exactly.
    tuple of str
        What was left out.

    Raises
    ------
    InputError
        Measurements of different systems.
    """
    check_same(runs)
    run = runs[-1]
    rates = [each.total_rate.value for each in runs]
    if len({each.aliases for each in runs}) > 1 and max(rates) > (1 + SAME_RATE) * min(rates):
        fits, left_out = fitted(runs, law)
        return [_of_fit(each, run, law) for each in fits], True, left_out
    if run.aliases:
        return _in_use(run, law), False, ()
    if not run.queue_known:
        return [_offered(run, law)], False, ()
    return _alone(run, law), False, ()


def extremes(read: Sequence[Reading]) -> list[Reading]:
    """The preferred reading, that of the fewest requesters and that of the most, open arrivals being more than any."""
    ordered = sorted(read[1:], key=lambda reading: reading.requesters)
    return [read[0], *ordered[:1], *ordered[1:][-1:]]


def check_same(runs: Sequence[Run]) -> None:
    """Refuse measurements of different systems."""
    if len({(run.bases, run.pool) for run in runs}) > 1:
        raise InputError("listings", [run.name for run in runs], "measurements of the same volumes")


def preferred_demand(run: Run, law: Law) -> Reading | None:
    """The first of `pool_readings` of one run, without the work for the others; None where the pool is bursty."""
    if not run.queue_known:
        return _in_use(run, law, 1)[0] if run.aliases else _offered(run, law)
    if run.aliases:
        readings = readings_of_pool(run, law)
        bursty = run.total_queue.value > 0 and all(reading.strain > 1.0 for reading in readings)
        return None if bursty else _in_use(run, law, 1, readings)[0]
    return _alone(run, law)[0] if is_steady(run, law) else None


def demand_in_use(run: Run, law: Law, reading: Reading) -> Reading:
    """What a reading of a pool with aliases at work asks of each of its volumes."""
    return _in_use(run, law, 1, (reading,))[0]


def is_bursty(runs: Sequence[Run], law: Law) -> bool:
    """Whether steady demand does not explain the measurement of a pool that tells most, that with fewest aliases."""
    check_same(runs)
    known = [run for run in runs if run.queue_known]
    if not known:
        return False
    run = min(known, key=lambda each: each.aliases)
    if not run.aliases:
        return not is_steady(run, law)
    return run.total_queue.value > 0 and all(reading.strain > 1.0 for reading in readings_of_pool(run, law))


def is_steady(run: Run, law: Law) -> bool:
    """Whether every volume of a pool without aliases is steady, as far as the digits show."""
    rate, service, queued, _ = _unshared(run)
    return bool(steady_volumes(rate, service, queued, law=law).all())


def _unshared(run: Run) -> tuple[Interval, Interval, Interval, Indices]:
    """Rate, service and queue of groups of volumes that the digits cannot tell apart, and the group of each volume."""
    groups = alike(run)
    rate, service, queued = (means(each, groups) for each in (run.io_rate, run.service, run.queued))
    return rate, service, spaced(queued), groups


def _read_unshared(run: Run, law: Law) -> tuple[Readings, Indices]:
    """Readings of the volumes of a pool without aliases, a row a group of volumes that the digits cannot tell apart."""
    rate, service, queued, groups = _unshared(run)
    return read_volumes(rate, service, queued, aliases=0, law=law), groups


def _alone(run: Run, law: Law) -> list[Reading]:
    """Without aliases each volume is read for itself; volumes that the digits cannot tell apart, as their mean."""
    read, groups = _read_unshared(run, law)
    rate = means(run.io_rate, groups)
    each = [_columns(read, row) for row in range(read.volumes)]
    most = max(map(len, each))
    # The smallest and the largest of many readings bound the answer; a few between them show the way.
    picked = np.unique(np.linspace(0, most - 1, min(most, MOST_READINGS)).round().astype(int))
    found = []
    for k in picked:
        columns = np.array([some[min(k, len(some) - 1)] for some in each])
        here = np.arange(read.volumes), columns
        alone = read.service_time[here]
        opened = np.array([read.kind(int(column)) == "poisson" for column in columns])
        think = np.maximum(read.demands.think[here], LEAST_SHARE) * alone
        pool = pool_of(
            law, alone[groups], population=np.where(opened, np.nan, read.demands.population[here])[groups],
            think_time=np.where(opened, np.nan, think)[groups],
            arrival_rate=np.where(opened, rate.value, np.nan)[groups],
        )  # fmt: skip
        strain = float(np.nanmax(np.nan_to_num(read.strain[here])))
        found.append(Reading(pool=pool, strain=strain))
    return found


def _offered(run: Run, law: Law) -> Reading:
    """Rates and service times alone are an offered load: open arrivals at the measured rates."""
    return Reading(pool=pool_of(law, run.service.value, arrival_rate=run.io_rate.value))


def _columns(read: Readings, volume: int) -> list[int]:
    """Steady readings of a volume that fit, the preferred one first; the nearest where none does."""
    strain = read.strain[volume]
    steady = [
        k for k in range(strain.size) if read.kind(k) in ("poisson", "closed") and math.isfinite(strain[k])
    ]
    fits = [k for k in steady if strain[k] <= 1.0]
    if not fits:
        return [min(steady, key=lambda k: float(strain[k]))]
    closed = sorted(
        (k for k in fits if read.kind(k) == "closed"), key=lambda k: float(read.demands.population[volume, k])
    )
    opened = [k for k in fits if read.kind(k) == "poisson"]
    busy = float(read.rows.rate[volume] * read.rows.service[volume])
    return [*opened, *closed] if busy < FAR_FROM_SATURATED else [*closed, *opened]


def _in_use(
    run: Run, law: Law, most: int = MOST_READINGS, readings: Sequence[Reading] | None = None
) -> list[Reading]:
    """Aliases at work: the volumes are read together, as if equal, by the pool's own solution; each at its own rate."""
    found = []
    readings = readings_of_pool(run, law) if readings is None else readings
    picked = np.unique(np.linspace(0, len(readings) - 1, min(len(readings), most)).round().astype(int))
    rates = own_rates(run)
    for k in picked:
        reading = readings[k]
        (part,) = reading.pool.classes
        alone = np.full(run.bases, reading.pool.service_time)
        if math.isnan(part.population):
            pool = pool_of(law, alone, arrival_rate=rates)
        else:
            think = think_in_use(
                part.population, part.think_time, reading.pool.service_time, run.aliases, rates, law
            )
            pool = pool_of(law, alone, population=np.full(run.bases, part.population), think_time=think)
        found.append(Reading(pool=pool, strain=reading.strain))
    return found


def _of_fit(item: Fit, run: Run, law: Law) -> Reading:
    """A fit to several runs: every volume asks for the same."""
    service, people, think = (
        np.full(run.bases, float(value))
        for value in (item.value("service_time"), item.population, item.value("think_time"))
    )
    return Reading(pool=pool_of(law, service, population=people, think_time=think))


def fitted(runs: Sequence[Run], law: Law) -> tuple[list[Fit], tuple[str, ...]]:
    """Several alias counts at once: every population whose least-squares fit is nearly as good as the best."""
    from planner.calibrate import fit, observe

    fixed = {"inflation": law.inflation, "redrive_time": law.redrive_time}
    fits: list[Fit] = []
    least = max(observe(run).fewest_requesters for run in runs)
    for population in range(least, max(least, LARGEST_FITTED_POPULATION) + 1):
        fits.append(fit(runs, population=population, fixed=fixed, intervals=False))
        behind = [item.chi_square > min(f.chi_square for f in fits) + CHI_SQUARE_95 for item in fits]
        if behind[-WORSE_IN_A_ROW:] == [True] * WORSE_IN_A_ROW:
            break
    best = min(fits, key=lambda item: item.chi_square)
    left_out = tuple(f"{name} does not belong to the other runs and was left out." for name in best.outliers)
    return [item for item in fits if item.chi_square <= best.chi_square + CHI_SQUARE_95], left_out
