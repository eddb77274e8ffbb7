"""Unequal volumes: grouping into classes of nearly equal ones, and its error."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing.pools.pool import check_pools
from planner.queueing.pools.solve import solve_pools
from planner.results import Array, Integers

CLASSES: Final = ("volumes", "population", "think_time", "arrival_rate", "service_time")


@dataclass(frozen=True, kw_only=True, eq=False)
class VolumeGroups:
    """Classes of nearly equal volumes."""

    group: Integers  # class of each volume, shape (volumes,)
    rate: Array  # arrival rate of each volume, or one over its think time, shape (volumes,) [1/s]
    volumes: Array  # volumes of each class, shape (classes,) [1]
    population: Array  # of each class, mean over its volumes, nan where it does not apply, shape
    think_time: Array
    arrival_rate: Array
    service_time: Array  # of each class, mean over the I/Os of its volumes
    kind: Integers  # kind of each class: classes of one kind differ by their rate alone, shape

    def at_own_rate(self, values: Array) -> Array:
        """Interpolate values of classes to each volume, linearly in the rate between classes of one kind."""
        result = np.array(values[..., self.group])
        class_rate = np.where(np.isnan(self.arrival_rate), 1.0 / self.think_time, self.arrival_rate)
        for kind in np.unique(self.kind):
            classes = np.flatnonzero(self.kind == kind)[::-1]  # by rising rate
            if classes.size == 1:
                continue
            members = np.flatnonzero(self.kind[self.group] == kind)
            right = np.clip(np.searchsorted(class_rate[classes], self.rate[members]), 1, classes.size - 1)
            low, high = classes[right - 1], classes[right]
            part = (self.rate[members] - class_rate[low]) / (class_rate[high] - class_rate[low])
            finite = np.isfinite(values[..., low]) & np.isfinite(values[..., high])
            step = np.subtract(values[..., high], values[..., low], out=np.zeros(finite.shape), where=finite)
            line = np.maximum(values[..., low] + part * step, 0.0)
            result[..., members] = np.where(finite, line, result[..., members])
        return result

    def arguments(self) -> dict[str, Array]:
        """Arguments of `alias_pool`."""
        names = CLASSES[:-1] if np.isnan(self.service_time).any() else CLASSES
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedPool:
    """A pool of unequal volumes by classes."""

    groups: VolumeGroups  # which volume is in which class
    wait_time: Array  # mean wait of each volume, interpolated at its own rate, shape (volumes,)
    error: float  # largest change of a volume's wait in the last refinement of classes


def group_volumes(
    *,
    population: ArrayLike | None = None,
    think_time: ArrayLike | None = None,
    arrival_rate: ArrayLike | None = None,
    service_time: ArrayLike | None = None,
    spread: float,
) -> VolumeGroups:
    """Group volumes with similar rates and service times.

    Volumes are sorted by service time, if given: from the longest down, a kind accepts volumes until they differ by
    more than `spread` times its longest. Within a kind they are sorted by rate (open: the arrival rate; closed: one
    over the think time, for equal populations only). From the busiest down, a class accepts volumes until their rates
    differ by more than `spread` times the larger of its highest rate and the mean rate. Rate and service time of a
    class are means over its volumes and over their I/Os, which preserves the load.

    >>> groups = group_volumes(arrival_rate=[100.0, 400.0, 105.0, 95.0], spread=0.1)
    >>> groups.volumes.tolist(), groups.arrival_rate.tolist(), groups.group.tolist()
    ([1.0, 3.0], [400.0, 100.0], [1, 0, 1, 1])
    """
    given = next((each for each in (arrival_rate, population) if each is not None), None)
    if given is None:
        raise InputError("arrival_rate", None, "population and think time, or arrival rate, of each volume")
    if not spread >= 0.0:
        raise InputError("spread", spread, "a number, 0 or more")
    each = check_pools(
        volumes=np.ones(np.size(given)),
        service_time=1.0 if service_time is None else service_time,
        population=population,
        think_time=think_time,
        arrival_rate=arrival_rate,
    )
    own = None if service_time is None else each.service_time[0]
    return classes_of(each.population[0], each.think_time[0], each.arrival_rate[0], own, spread=spread)


def classes_of(
    population: Array,
    think_time: Array,
    arrival_rate: Array,
    service_time: Array | None = None,
    *,
    spread: float,
) -> VolumeGroups:
    """Group volumes as `group_volumes` does, without checking the arguments; nan where they do not apply."""
    closed_each = np.isfinite(population)
    rate = np.where(closed_each, 1.0 / np.where(closed_each, think_time, 1.0), arrival_rate)
    requesters = np.where(closed_each, population, -1.0)
    kinds = [np.flatnonzero(requesters == number) for number in np.unique(requesters)[::-1]]
    if service_time is not None:
        kinds = [part for members in kinds for part in _within(service_time, members, spread)]
    classes = [_within(rate, members, spread) for members in kinds]
    group = np.empty(rate.size, dtype=np.int64)
    for k, members in enumerate(joined := [members for kind in classes for members in kind]):
        group[members] = k
    count = np.array([members.size for members in joined], dtype=np.float64)
    mean, people = (np.bincount(group, weights=each) / count for each in (rate, requesters))
    closed = people > 0.0
    service = np.full(count.shape, np.nan)
    if service_time is not None:
        service[:] = [_mean_service(service_time[members], rate[members]) for members in joined]
    return VolumeGroups(
        group=group,
        rate=rate,
        volumes=count,
        population=np.where(closed, people, np.nan),
        think_time=np.where(closed, 1.0 / np.where(closed, mean, 1.0), np.nan),
        arrival_rate=np.where(closed, np.nan, mean),
        service_time=service,
        kind=np.repeat(np.arange(len(kinds)), [len(kind) for kind in classes]),
    )


def _within(values: Array, members: Integers, spread: float) -> list[Integers]:
    """Split volumes, from the largest value down, where they differ by more than `spread` allows."""
    floor = float(values[members].mean())
    groups: list[list[int]] = []
    top = np.inf
    for volume in members[np.argsort(-values[members], kind="stable")].tolist():
        if top == np.inf or top - values[volume] > spread * max(top, floor):
            groups.append([])
            top = float(values[volume])
        groups[-1].append(volume)
    return [np.array(group, dtype=np.int64) for group in groups]


def _mean_service(service: Array, rate: Array) -> float:
    """Mean over the I/Os of some volumes; over the volumes if there are no I/Os."""
    if np.all(service == service[0]) or not rate.any():
        return float(service.mean())
    return float(service @ rate / rate.sum())


def group_pools(
    aliases: ArrayLike,
    pools: Sequence[Mapping[str, ArrayLike]],
    *,
    tolerance: float = 0.01,
    most_classes: int = 16,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> list[GroupedPool | None]:
    """Group the volumes of pools into as few classes as the tolerance allows, all pools side by side.

    The spread of the classes is halved until no volume's wait changes by more than the tolerance, or there would be too
    many classes; the last change is the estimated error of grouping. The wait of a volume is interpolated at its own
    rate, and a class keeps the load of its volumes: the remaining error is of second order in the spread, about a third
    of the last change.

    A pool has figures of each volume as `group_volumes` takes them, its service time one for all or one for each, and
    its own number of aliases, inflation and redrive time, shape (pools,). None stands for one without a solution.

    >>> rates = [300.0 + i for i in range(20)] + [700.0] * 4
    >>> (grouped,) = group_pools([8], [{"service_time": 1.3e-3, "arrival_rate": rates}])
    >>> grouped.groups.volumes.tolist(), grouped.error < 0.01
    ([4.0, 12.0, 8.0], True)
    """
    if not tolerance > 0.0:
        raise InputError("tolerance", tolerance, "a number above 0")
    each_of = [np.broadcast_to(each, len(pools)) for each in (aliases, inflation, redrive_time)]
    service = np.array([np.asarray(each["service_time"]).mean() for each in pools])
    found: list[GroupedPool | None] = [None] * len(pools)
    steps = [_finer(each, tolerance, most_classes) for each in pools]
    asked = {k: next(each) for k, each in enumerate(steps)}
    while asked:
        at = np.array(list(asked))
        finer = {}
        waits = _waits(list(asked.values()), service[at], *(each[at] for each in each_of))
        for k, wait in zip(asked, waits, strict=True):
            try:
                if wait is not None:
                    finer[k] = steps[k].send(wait)
            except StopIteration as last:
                found[k] = last.value
        asked = finer
    return found


def _waits(
    pools: Sequence[VolumeGroups], service: Array, aliases: Array, inflation: Array, redrive_time: Array
) -> list[Array | None]:
    """Mean wait of each class of each pool; None where one has no solution."""
    most = max(each.volumes.size for each in pools)
    rows: dict[str, Any] = {name: np.full((len(pools), most), np.nan) for name in CLASSES}
    rows["volumes"][:], rows["service_time"][:] = 0.0, service[:, None]
    for k, each in enumerate(pools):
        for name, values in each.arguments().items():
            rows[name][k, : values.size] = values
    try:
        solved = solve_pools(aliases, **rows, inflation=inflation, redrive_time=redrive_time)
    except InputError:
        if len(pools) == 1:
            return [None]
        ones = [slice(k, k + 1) for k in range(len(pools))]
        return [
            w for k in ones for w in _waits(pools[k], service[k], aliases[k], inflation[k], redrive_time[k])
        ]
    waits = zip(solved.wait_time, pools, solved.converged, strict=True)
    return [wait[: each.volumes.size] if known else None for wait, each, known in waits]


def _finer(
    volumes: Mapping[str, ArrayLike], tolerance: float, most_classes: int
) -> Generator[VolumeGroups, Array, GroupedPool]:
    """Classes to solve, each to be answered with their waits; at last those that are fine enough."""
    service = np.asarray(volumes["service_time"], dtype=np.float64)
    rows = {name: each for name, each in volumes.items() if name != "service_time" or service.ndim}
    spread, equal, error = 1.0, 1e-3, np.inf
    groups = group_volumes(**rows, spread=spread)
    wait = groups.at_own_rate((yield groups))
    while error > tolerance:
        if spread < equal:  # now all volumes of a class are equal
            error = 0.0
            break
        spread *= 0.5
        finer = group_volumes(**rows, spread=spread)
        if finer.volumes.size > most_classes:
            break
        if finer.volumes.size > groups.volumes.size:
            groups, before = finer, wait
            wait = groups.at_own_rate((yield groups))
            error = _largest_change(before, wait, service)
    return GroupedPool(groups=groups, wait_time=wait, error=error)


def _largest_change(before: Array, after: Array, service_time: Array) -> float:
    """Largest relative change of a wait; 0 where both are infinite."""
    both = np.isfinite(before) & np.isfinite(after)
    change = np.full(before.shape, np.inf)
    change[np.isinf(before) & np.isinf(after)] = 0.0
    least = np.broadcast_to(0.01 * service_time, after.shape)[both]  # a shorter wait counts as this one
    change[both] = np.abs(after[both] - before[both]) / np.maximum(after[both], least)
    return float(change.max())
