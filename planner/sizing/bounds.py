"""The 90 % error of an answer, by other candidates and possible models; the curve corrected to what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from planner.calibrate.error_bar import central, convolved
from planner.calibrate.posterior import points
from planner.demand import Candidates, DeviceModel, Target
from planner.devices import Performance
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array, Flags, Integers

NORMAL_90: Final = 1.645


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MovedVolumes:
    """Volumes at one end of what calibration and model leave open: `places` of all asked, under `chosen` alone."""

    read: Candidates
    places: Integers
    chosen: Integers


def ends_of(read: Candidates, chosen: Integers, device_model: DeviceModel) -> list[MovedVolumes]:
    """Volumes under the candidates `chosen` with think times, then models, moved to both ends of their 90 % range."""
    volumes = np.arange(chosen.size)
    only = np.zeros_like(read.weight)
    only[volumes, chosen] = 1.0
    alone, ends = replace(read, weight=only), []
    moves = np.flatnonzero(np.isfinite(read.demands.think[volumes, chosen]))
    if moves.size and device_model.model_error > 0:
        some, place = alone.of(moves), (np.arange(moves.size), chosen[moves])
        in_use, at = np.unique(some.rows.devices.astype(np.int64) - 1, return_inverse=True)
        error = (
            device_model.model_error * some.predict(in_use).response[*place, at] / some.service_time[place]
        )
        think = some.demands.think[place]
        for sign in (1.0, -1.0):
            times = some.demands.think.copy()
            times[place] = np.maximum(think + sign * NORMAL_90 * error, 0.01 * think)
            moved = replace(some, demands=replace(some.demands, think=times))
            ends.append(MovedVolumes(read=moved, places=moves, chosen=chosen[moves]))
    for axis in device_model.axes:
        for sign in (1.0, -1.0):
            moved = replace(alone, device_model=device_model.moved(axis, sign * NORMAL_90))
            ends.append(MovedVolumes(read=moved, places=volumes, chosen=chosen))
    return ends


def counts_at_ends(read: Candidates, chosen: Integers, device_model: DeviceModel, target: Target) -> Array:
    """Counts at the ends of `ends_of`, (ends, volumes): inf where none meets the target, nan where there is no end."""
    ends = ends_of(read, chosen, device_model)
    found = np.full((len(ends), chosen.size), np.nan)
    for row, end in zip(found, ends, strict=True):
        row[end.places] = end.read.counts(target)[np.arange(end.chosen.size), end.chosen]
    return found


def band(
    values: Array,
    chosen: Array,
    moved: Array,
    device_model: DeviceModel,
    residual: float,
    in_use: int,
    before: Array | None,
) -> Interval:
    """Smallest and largest value over the candidates, widened by all that calibration and error of the model allow.

    The demand was read at the count in use, so that models differ by their change from there; of demand that has grown
    since, `before` is what each model moved there, in logarithms, (moved,). Between the ends of each axis the logarithm
    is a parabola. Where a queue may grow without bound there is no upper end.
    """
    bounded = np.isfinite(values).all(axis=0) & np.isfinite(moved).all(axis=0) & np.isfinite(chosen)
    base = np.log(np.where(bounded, chosen, 1.0))
    at = min(in_use, base.size - 1)
    shifts = np.log(np.where(bounded, moved, 1.0)) - base
    shifts -= shifts[:, at, None] if before is None else np.where(np.isfinite(before), before, 0.0)[:, None]
    steps = points(256, max(len(moved) // 2, 1))  # models that stand for all that are possible
    found = np.zeros((len(steps), base.size))
    for k, (up, down) in enumerate(zip(shifts[::2], shifts[1::2], strict=True)):
        step = steps[:, k, None] / NORMAL_90
        found += step * (up - down) / 2 + step**2 * (up + down) / 2
    error = device_model.model_error * min(max(residual, 1.0), 10.0)
    low, high = central(convolved(found, error))
    least = np.minimum(values.min(axis=0), chosen) * np.exp(np.minimum(low, 0.0))
    most = np.where(bounded, np.maximum(values.max(axis=0), chosen) * np.exp(np.maximum(high, 0.0)), np.inf)
    return Interval(least, chosen.copy(), most)


def grown_share(growth: float) -> tuple[float, float]:
    """Ends of a rate over the measured one: with more demand it may rise by as much, with less fall by as much."""
    return min(1.0, 1.0 + growth), max(1.0, 1.0 + growth)


def through(
    band: Interval, known: Mapping[int, Interval], growth: float, *, rising: bool = False
) -> Interval:
    """A band set to what was measured, with its digits, at the measured counts.

    Of demand that has grown since, a rate (`rising`) lies between the measured one and that times the growth; a
    response is no shorter, and its band at least as wide as the digits. Ends of a rate do not fall with aliases.
    """
    least, value, most = band
    small, large = grown_share(growth)
    for count, interval in known.items():
        if count >= value.size or math.isnan(interval.value):
            continue
        low, middle, high = interval
        if not growth:
            least[count], value[count], most[count] = interval
        elif rising:
            least[count], most[count] = max(least[count], small * low), min(most[count], large * high)
        else:
            down, up = (value[count] * end / middle for end in (low, high))
            least[count] = max(min(least[count], down), low if growth > 0 else -np.inf)
            most[count] = min(max(most[count], up), np.inf if growth > 0 else high)
    if rising:
        least = np.maximum.accumulate(least)
        most = np.minimum.accumulate(most[::-1])[::-1]
    return Interval(np.minimum(least, value), value, np.maximum(most, value))


def holding(interval: Interval, values: Array) -> Interval:
    """The same around values that lie in it."""
    return Interval(np.minimum(interval.low, values), values, np.maximum(interval.high, values))


def reaching(interval: Interval, least: Array, most: Array) -> Interval:
    """The same with ends that reach as far as `least` and `most`, where these lie outside."""
    return Interval(np.minimum(interval.low, least), interval.value, np.maximum(interval.high, most))


def spaced(queued: Interval) -> Interval:
    """A queue whose value does not lie on an end, as sharpening by the response may leave it."""
    room = 0.02 * (queued.high - queued.low)  # of the width of an interval, to either side of its value
    room = np.where(np.isfinite(room), room, 0.0)
    low, high = np.minimum(queued.low, queued.value - room), np.maximum(queued.high, queued.value + room)
    return Interval(low, queued.value, high)


MOST: Final = float(np.log(3.0))
"""Largest correction of rows not measured, either way, in logarithms: a model further off does not fit, which the
answer says."""
NOISE: Final = 1e-6  # I/Os queued


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction:
    """What a model misses at measured counts, in logarithms; arrays (counts,) in rising order of the counts.

    Between two measured counts the logarithms are interpolated, beyond them the nearest one holds; below a measured
    count a queue moves no further than what the model misses of it. `digits` is half of the last digit of the queue
    [1]; queues are nan where not measured, `queue_models` are the model's. Without `growth` the curve has the measured
    rows; with it waits and service times are no shorter there, and rates rise by its share at most. Elsewhere no more
    than `bases` and aliases are busy.
    """

    bases: int
    counts: Array
    rates: Array
    services: Array
    queues: Array
    digits: Array
    rate_missed: Array
    service_missed: Array
    queue_missed: Array
    queue_models: Array
    growth: float

    @classmethod
    def of(cls, model: Performance, runs: Sequence[Run], growth: float) -> Self:
        """From the model at the measured counts, rising; of several measurements of one count the latest stands."""
        latest = {run.aliases: run for run in runs}
        measured = [latest[count] for count in sorted(latest)]
        rates, services, queues, digits = np.array(
            [
                (
                    run.total_rate.value, run.mean_service.value,
                    run.total_queue.value if run.queue_known else np.nan,
                    run.total_queue.high - run.total_queue.value if run.queue_known else np.nan,
                )
                for run in measured
            ]
        ).T  # fmt: skip
        with np.errstate(divide="ignore", invalid="ignore"):
            queue = np.log((queues + digits) / (model.queued + digits))
            rate, service = np.log(rates / model.io_rate), np.log(services / model.service_time)
        # Of an offered load above what can be done the model does less, which is no error of it.
        offered = np.isnan(queues) & np.isposinf(model.queued)
        rate, service = np.where(offered, 0.0, rate), np.where(offered, 0.0, service)
        return cls(
            bases=runs[-1].bases, counts=np.array(sorted(latest), dtype=np.float64), rates=rates, services=services,
            queues=queues, digits=digits, rate_missed=_bounded(rate), service_missed=_bounded(service),
            queue_missed=np.where(np.isposinf(model.queued), 0.0, _bounded(queue)),
            queue_models=np.where(np.isposinf(model.queued), queues, model.queued), growth=growth,
        )  # fmt: skip

    def applied(self, rows: Performance) -> Performance:
        """Carry a curve, its counts rising, through what was measured."""
        counts = rows.aliases
        place = np.minimum(np.searchsorted(self.counts, counts), self.counts.size - 1)
        there = self.counts[place] == counts
        rate = rows.io_rate * _factor(counts, self.counts, self.rate_missed, there)
        service = rows.service_time * _factor(counts, self.counts, self.service_missed, there)
        rate = np.minimum(rate, (self.bases + counts) / service)
        known = np.isfinite(self.queues)
        small, large = grown_share(self.growth)
        rate = self._held(rate, counts, self.counts, small * self.rates, large * self.rates)
        measured = self.services[place]
        bound = np.maximum if self.growth > 0 else np.minimum
        service = np.where(there, bound(service, measured) if self.growth else measured, service)
        busy = rate * service
        queued = self._queued(rows, busy, known, there & known[place]) if known.any() else rows.queued
        with np.errstate(invalid="ignore"):
            moved = (service + queued / rate) / rows.response_time
            responses = rows.volume_responses * np.where(np.isfinite(moved), moved, 1.0)[:, None]
        return replace(
            rows, io_rate=rate, service_time=service, queued=queued,
            volume_rates=rows.volume_rates * (rate / rows.io_rate)[:, None], volume_responses=responses,
        )  # fmt: skip

    def _queued(self, rows: Performance, busy: Array, known: Flags, there: Flags) -> Array:
        """Queues carried through the measured ones, which are `known`; `there` are the rows of these.

        After growth no I/O waits fewer service times: queues are held for each of the devices that are `busy`.
        """
        counts, queued, at = rows.aliases, rows.queued, self.counts[known]
        digits = np.interp(counts, at, self.digits[known])
        factor = _factor(counts, at, self.queue_missed[known], there)
        moved = np.maximum((queued + digits) * factor - digits, 0.0)
        # What the digits hide ends with the queue, of which the last millionth is noise.
        longest = np.where(there, np.inf, np.exp(MOST) * np.where(queued > NOISE, queued, 0.0))
        moved = np.minimum(moved, longest)
        # Below a measured count, where the queue is longer, the model is off by no more than it is there.
        off = np.interp(counts, at, self.queues[known] - self.queue_models[known])
        with np.errstate(invalid="ignore"):
            below = (counts < at[-1]) & ~there & (np.abs(off) < np.abs(moved - queued))
        moved = np.where(below, np.maximum(queued + off, 0.0), moved)
        queued = np.where(np.isfinite(queued), moved, queued)
        each = (self.queues / (self.rates * self.services))[known]
        if self.growth > 0:
            above = np.minimum(np.searchsorted(at, counts), at.size - 1)
            least = np.where(counts <= at[above], each[above] * busy, 0.0)
            return np.asarray(np.maximum.accumulate(np.maximum(queued, least)[::-1])[::-1])
        if self.growth < 0:
            below = np.maximum(np.searchsorted(at, counts, side="right") - 1, 0)
            most = np.where(counts >= at[below], each[below] * busy, np.inf)
            return np.asarray(np.minimum.accumulate(np.minimum(queued, most)))
        return -self._held(-queued, counts, at, -self.queues[known], -self.queues[known])

    def _held(self, values: Array, counts: Array, at: Array, least: Array, most: Array) -> Array:
        """Values that rise with the count, held between the ends at what was measured."""
        below = np.searchsorted(at, counts, side="right") - 1  # the last measured count up to each
        above = np.searchsorted(at, counts, side="left")  # the first one from each on
        low = np.where(below >= 0, least[np.maximum(below, 0)], -np.inf)
        high = np.where(above < at.size, most[np.minimum(above, at.size - 1)], np.inf)
        found = np.clip(values, low, np.maximum(low, high))
        if self.growth:
            return np.asarray(np.maximum.accumulate(found))
        for part in range(-1, at.size):
            inside = (below == part) & (above == part + 1)
            found[inside] = np.maximum.accumulate(found[inside])
        return np.asarray(found)


def _factor(counts: Array, at: Array, missed: Array, there: Flags) -> Array:
    """Correction of a figure at some counts from what is missed `at` the measured ones; bounded but for `there`."""
    bounded = np.interp(counts, at, np.clip(missed, -MOST, MOST))
    return np.exp(np.where(there, np.interp(counts, at, missed), bounded))


def _bounded(missed: Array) -> Array:
    return np.clip(np.nan_to_num(missed), -50.0, 50.0)
