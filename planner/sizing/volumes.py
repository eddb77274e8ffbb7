"""What each volume of a pool asks for, and the one place where volumes are grouped: on their way to the solver."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import DeviceModel
from planner.devices import Pool, VolumeClass
from planner.devices.pool import solve_pools
from planner.errors import ConvergenceError, PlannerError
from planner.interval import Interval
from planner.measurements import Run
from planner.queueing.pools.grouping import VolumeGroups, classes_of, group_pools
from planner.results import Array, Flags, Integers
from planner.sizing.fewest import first_guess

if TYPE_CHECKING:
    from planner.calibrate import Fit

FEW_CLASSES: Final = 16  # of equal volumes, up to which nothing is grouped further

CHI_SQUARE_95: Final = 3.84  # of one degree of freedom
OUT_OF_REACH: Final = 0.05  # share of a requester's time from I/O to I/O by which it may lack any to think


def pool_of(
    devices: DeviceModel | Pool, service_time: Array, *, population: ArrayLike = math.nan,
    think_time: ArrayLike = math.nan, arrival_rate: ArrayLike = math.nan,
) -> Pool:  # fmt: skip
    """The demand of each volume as a pool with a class a volume; (volumes,) or of all, nan where of the other sort.

    Its devices have inflation and gap of a model, or of another pool.
    """
    classes = _classes(*np.broadcast_arrays(1.0, population, think_time, arrival_rate, service_time))
    return Pool(classes=classes, service_time=float(service_time.mean()), **devices.parameters)


def each_volume(pool: Pool) -> tuple[Array, Array, Array, Array]:
    """Population, think time [s], arrival rate [1/s] and service time [s] of every volume, arrays (volumes,)."""
    volumes, *each = pool.columns
    population, think, rate, service = np.repeat(each, volumes.astype(np.int64), axis=1)
    return population, think, rate, service


def _classes(*columns: Array) -> tuple[VolumeClass, ...]:
    """Classes from their columns, in the order of `Pool.columns`."""
    return tuple(
        VolumeClass(volumes=int(volumes), population=n, think_time=z, arrival_rate=x, service_time=s)
        for volumes, n, z, x, s in zip(*(column.tolist() for column in columns), strict=True)
    )


def grown(pool: Pool, growth: float) -> tuple[list[Pool], list[float]]:
    """Let demand grow by a share: rates, or requesters, given as whole numbers on both sides with their shares."""
    if not growth:
        return [pool], [1.0]
    people, think, rates, service = each_volume(pool)
    rates = rates * (1 + growth)
    closed = ~np.isnan(people)
    few, many = people.copy(), people.copy()
    parts = []
    for kind in np.unique(people[closed]):
        members = np.flatnonzero(people == kind)
        members = members[np.argsort(think[members], kind="stable")]
        total = round(kind * members.size * (1 + growth), 9)
        parts.append(total - math.floor(total))
        for whole, population in ((max(math.floor(total), 1), few), (math.ceil(total), many)):
            each, more = divmod(whole, members.size)
            population[members] = each
            population[members[:more]] += 1
    sides = [
        pool_of(pool, service, population=each, think_time=think, arrival_rate=rates) for each in (few, many)
    ]
    between = [part for part in parts if part > 0]
    if not between:
        return sides[:1], [1.0]
    part = sum(between) / len(between)
    return sides, [1 - part, part]


def grouped(pools: Sequence[Pool], most_aliases: Sequence[int]) -> list[tuple[Pool, Integers, float]]:
    """Group volumes of nearly equal demand, many pools side by side; none changes another.

    Of each pool its classes, the class of each volume (-1 where idle), and the relative error of the wait.
    """
    read = [_rows(pool) for pool in pools]
    groups, errors = [classes_of(**rows, spread=1e-6) for rows, *_ in read], [0.0] * len(pools)
    many = [k for k, each in enumerate(groups) if each.volumes.size > FEW_CLASSES]
    some = [(pools[k], _of_groups(pools[k], groups[k], read[k][1])) for k in many]
    solved = group_pools(
        [min(first_guess(pool), most_aliases[k]) for k, (_, pool) in zip(many, some, strict=True)],
        [{"service_time": float(read[k][1].mean()), **read[k][0]} for k in many], tolerance=0.02,
        inflation=[pool.inflation for pool, _ in some], redrive_time=[pool.redrive_time for pool, _ in some],
    )  # fmt: skip
    for k, each in zip(many, solved, strict=True):
        if each is not None:  # else it says so itself where it is counted
            groups[k], errors[k] = each.groups, each.error
    found = []
    for pool, own, (_, service, present), error in zip(pools, groups, read, errors, strict=True):
        class_of = np.full(present.size, -1, dtype=np.int64)
        class_of[present] = own.group
        found.append((_of_groups(pool, own, service), class_of, error))
    return found


def _rows(pool: Pool) -> tuple[dict[str, Array], Array, Flags]:
    """What each volume with a demand is grouped by, its service time, and which volumes these are."""
    population, think, rate, service = each_volume(pool)
    present = np.nan_to_num(population, nan=1.0) > 0
    service = service[present]
    rows = {"population": population[present], "think_time": think[present], "arrival_rate": rate[present]}
    if np.ptp(service) > 0.02 * service.max():
        rows["service_time"] = service  # each class keeps its own
    return rows, service, present


def _of_groups(pool: Pool, groups: VolumeGroups, service: Array) -> Pool:
    own = not np.isnan(groups.service_time).any()
    classes = _classes(
        groups.volumes, groups.population, groups.think_time, groups.arrival_rate, groups.service_time
    )
    mean = float((groups.service_time if own else service).mean())
    return replace(pool, classes=classes, service_time=mean)


def alike(run: Run) -> Integers:
    """Group of each volume: those whose rates, services and queues the printed digits cannot tell apart."""
    rate, service, half = run.io_rate.value, run.service.value, run.service.high - run.service.value
    room, wait = half / service, run.queued.value / rate
    # Of each volume, in rows, those near it.
    near = np.abs(rate / rate[:, None] - 1) <= room[:, None]
    near &= np.abs(service - service[:, None]) <= half[:, None]
    near &= np.abs(wait - wait[:, None]) <= (room * (wait + service))[:, None]
    group = np.full(rate.size, -1, dtype=np.int64)
    for first in np.argsort(-rate, kind="stable").tolist():
        if group[first] < 0:
            group[near[first] & (group < 0)] = first
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def means(interval: Interval, groups: Integers) -> Interval:
    """Mean over the volumes of each group, shape (groups,)."""
    count = np.bincount(groups)
    return Interval(*(np.bincount(groups, weights=end) / count for end in interval))


def own_rates(run: Run) -> Array:
    """Rates of the volumes; the mean in place of those that the digits of the service time cannot tell from it."""
    rates: Array = run.io_rate.value
    mean = float(rates.mean())
    if not run.queue_known:
        return rates
    room = (run.service.high - run.service.value) / run.service.value
    return np.asarray(np.where(np.abs(rates / mean - 1) <= room, mean, rates))


def think_in_use(cases: Sequence[tuple[Pool, int, Array]]) -> list[Array | PlannerError]:
    """Think times at which each volume has its own rate in its pool, all pools side by side.

    Of each case a pool with one class, of the mean rate, the aliases in use, and the rates of the volumes. An error in
    place of times where it has no solution or a volume cannot reach its rate; nan where arrivals are open.
    """
    searches = [_think_in_use(pool, rates) for pool, _, rates in cases]
    found: dict[int, Array | PlannerError] = {}
    known: dict[int, Any] = dict.fromkeys(range(len(cases)))
    while known:
        asked = {}
        for k, rates in known.items():
            try:
                asked[k] = searches[k].send(rates)
            except StopIteration as last:
                found[k] = last.value
            except ConvergenceError as error:
                found[k] = error
        solved = solve_pools([*asked.values()], [np.array([cases[k][1]]) for k in asked])
        answers = dict(zip(asked, solved, strict=True))
        found |= {k: each for k, each in answers.items() if isinstance(each, PlannerError)}
        known = {k: each.volume_rates[0] for k, each in answers.items() if not isinstance(each, PlannerError)}
    return [found[k] for k in range(len(cases))]


def _think_in_use(pool: Pool, rates: Array, steps: int = 4) -> Generator[Pool, Array, Array]:
    """Pools to solve, each to be answered with the rates of its classes; at last requesters / rate - response."""
    (part,), mean = pool.classes, float(rates.mean())
    people, think_time = part.population, part.think_time
    if math.isnan(people) or np.all(rates == mean):
        return np.full(rates.size, think_time)
    nothing = np.full(rates.size, math.nan)
    # relative difference of rates within a class, where aliases are in use
    groups = classes_of(np.full(rates.size, people), 1.0 / rates, nothing, spread=0.25)
    class_rate = 1.0 / groups.think_time
    floor = 1e-3 * pool.service_time
    think = np.maximum(people / class_rate - people * rates.size / rates.sum() + think_time, floor)
    response = people / class_rate - think
    for _ in range(steps):
        open_ = nothing[: think.size]
        solved = yield replace(pool, classes=_classes(groups.volumes, groups.population, think, open_, open_))
        response = people / solved - think
        think = np.maximum(people / class_rate - response, floor)
    found = people / rates - groups.at_own_rate(response)
    lacks = -float((found * rates / people).min())
    if lacks > OUT_OF_REACH:
        raise ConvergenceError("rate of a volume", lacks, steps)
    return np.where(rates == mean, think_time, np.maximum(found, floor))


def rates_differ(runs: Sequence[Run]) -> bool:
    """Whether the I/O rate shows what requesters do with more aliases."""
    rates = [run.total_rate.value for run in runs]
    return bool(max(rates) > 1.03 * min(rates))


def fitted(runs: Sequence[Run], device_model: DeviceModel) -> tuple[list[Fit], tuple[str, ...]]:
    """Several alias counts at once: every population whose least-squares fit is nearly as good as the best."""
    from planner.calibrate import fit, observe

    fixed = {"inflation": device_model.inflation, "redrive_time": device_model.redrive_time}
    fits: list[Fit] = []
    least = max(observe(run).fewest_requesters for run in runs)
    for population in range(least, max(least, 16) + 1):
        fits.append(fit(runs, population=population, fixed=fixed, intervals=False))
        near = min(each.chi_square for each in fits) + CHI_SQUARE_95
        if all(each.chi_square > near for each in fits[-3:]):
            break
    best = min(fits, key=lambda item: item.chi_square)
    left_out = tuple(f"{name} does not belong to the other runs and was left out." for name in best.outliers)
    return [item for item in fits if item.chi_square <= best.chi_square + CHI_SQUARE_95], left_out
