"""Aliases of a pool with bursty volumes: each is read for itself, the pool is drawn from the aliases that they use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from planner.demand import DeviceModel, Target, in_words, point_and_range
from planner.demand.candidates import PredictedRows
from planner.demand.drawn_pool import HIGHEST, LOWEST, MODEL_ERROR, OPEN, DrawnPool, PoolRow, mean_service
from planner.demand.pooled import read_pool_at_several, read_pools
from planner.devices import Performance
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer, NamedDemand
from planner.sizing.bounds import NORMAL_90, ends_of, spaced
from planner.sizing.comparison import Gain
from planner.sizing.sized import ReadCache, Sized, curve, with_fails
from planner.sizing.volumes import alike
from planner.sizing.wording import of_bursty_pool

ENOUGH: Final = 16  # aliases of one volume, with which hardly anything of it waits
UNLIKELY: Final = 0.05  # weight of candidates whose queue has no end, up to which ends are the others'


class SizedDraws(Sized):
    """A pool with bursty volumes: `measured` as it was read, `pool` grown."""

    def __init__(
        self, runs: tuple[Run, ...], device_model: DeviceModel, target: Target, growth: float, pool: DrawnPool
    ) -> None:
        super().__init__(runs, device_model, target, growth)
        self.measured, self.pool = pool.before or pool, pool
        self.saturated = pool.saturated
        self.decided = "saturated" if self.saturated else "bursty demand"

    @cached_property
    def before(self) -> SizedDraws:
        """The same before the demand grew."""
        if self.pool is self.measured:
            return self
        return SizedDraws(self.runs, self.device_model, self.target, 0.0, self.measured)

    @cached_property
    def ends(self) -> tuple[int, int, int]:
        """Count and range by the draws; more demand needs no fewer, less no more."""
        found = self.pool.point_and_range(self.target)
        if self.before is self:
            return found
        point, low, high = map(max if self.growth > 0 else min, found, self.before.ends)
        return point, low, high

    @property
    def together(self) -> Interval | None:
        """As the measurements show it."""
        return self.pool.together

    @cached_property
    def together_count(self) -> int | None:
        """None where measurements show how much bursts come together, or it was declared."""
        known = self.together is not None or not np.isnan(self.run.together).any() or self.run.bases == 1
        return None if known else all_at_once(self.pool, self.target, self.count)

    @property
    def guess(self) -> int:
        """By the draws."""
        return self.ends[0]

    def model(self, counts: Array, *, measured: bool = False) -> Performance:
        """The quantile of the draws that the count is; with more demand nothing waits shorter by its service times."""
        if measured and self.before is not self:
            return self.before.model(counts)
        found = self.pool.predict(counts.astype(np.int64))
        queue = np.minimum.accumulate(found.queue)
        if self.before is not self:
            before, bound = self.before.model(counts), np.maximum if self.growth > 0 else np.minimum
            queue = bound(
                queue, before.queued * (found.rate * found.service) / (before.io_rate * before.service_time)
            )
        rows = curve(counts, found.rate, found.service, queue, self.pool.candidates.volumes)
        without, fails = (np.broadcast_to(each, counts.shape) for each in (found.no_alias, found.waits))
        return with_fails(rows, without, fails)

    def others(self) -> list[int]:
        """Ends of the range of the draws; the upper one rises with a count that the measurements have raised."""
        before, (_, low, high) = self.before, self.ends
        return [low, math.ceil(high * max(before.count / max(before.ends[0], 1), 1.0))]

    def bands(self, rows: Performance, model: Performance) -> Iterator[tuple[Array, ...]]:
        """Rate over the candidates of all volumes; response by the quantiles of the queue that bound the range.

        The error of the rate is in proportion to the part of the queue that is gone, or that fewer aliases bring back.
        """
        pool, read = self.pool, self.pool.candidates
        each = read.predict([0, ENOUGH])
        half = NORMAL_90 * _deviation(each.rate[..., 1], read.weight)
        counts, before = rows.aliases, max(float(rows.queued[0]), 1e-300)
        served = np.clip(1.0 - rows.queued / before, 0.0, 1.0)
        used = min(int(self.aliases_now[0]), counts.size - 1)
        served[:used] = served[used] - served[:used]
        least, most = np.maximum(rows.io_rate - half * served, 0.0), rows.io_rate + half * served
        if used:  # arrivals may be open, which no alias changes, or all of requesters
            now = rows.io_rate[used]
            most[:used] = np.maximum(most[:used], now)
            least[used:] = np.minimum(least[used:], now)
            if pool.may_be_open:
                most[used:] = now * (rows.io_rate[used:] / now) ** (1.0 / (1.0 - OPEN)) + half * served[used:]
        better, worse = self._queues(counts, used, each)
        lowest = np.where(counts < used, least, rows.io_rate)
        late = np.divide(worse, lowest, out=np.full(counts.shape, math.inf), where=lowest > 0.0)
        times = each.service[..., 1] * pool.rate[:, None] / pool.rate.sum()
        longer = NORMAL_90 * _deviation(times, read.weight) * served
        fast = np.minimum(rows.service_time - longer, self.least_service(rows)) + better / rows.io_rate
        slow = rows.service_time + longer + late
        ends = (least, rows.io_rate, most), (fast, rows.response_time, slow)
        for (low, chosen, high), shift in zip(ends, self._moved(each), strict=True):
            yield np.array([low, high]), chosen, chosen * np.exp(np.multiply.outer(shift, served))

    def least_service(self, rows: Performance) -> Array:
        """With aliases in use as long as now: arrivals may be open, their rate what it is."""
        used = min(int(self.aliases_now[0]), rows.aliases.size - 1)
        now = rows.service_time[used] if used else np.inf
        return np.where(rows.aliases > used, np.minimum(rows.service_time, now), rows.service_time)

    def _queues(self, counts: Array, used: int, each: PredictedRows) -> tuple[Array, Array]:
        """Shortest and longest queue of the pool, by quantiles of the draws and the error of their model.

        With more aliases than measured it is no longer than it was, with fewer no shorter, of the same demand.
        """
        pool, run = self.pool, self.run
        worse, better = (pool.queued(counts, share) for share in (HIGHEST, LOWEST))
        if used:  # with fewer the queue rises at least as it does there, being convex, and may have no end
            back = (used - counts[:used]) / used
            now, after = better[used], pool.queued(used + 1, LOWEST)[0]
            better[:used] = np.minimum(better[:used], now + used * back * (now - after))
            worse[:used] += back * NORMAL_90 * _deviation(each.queue[..., 0], pool.candidates.weight)
        worse, better = worse * math.exp(MODEL_ERROR), better * math.exp(-MODEL_ERROR)
        if not self.growth:
            worse[used + 1 :] = np.minimum(worse[used + 1 :], run.total_queue.high)
            better[:used] = np.maximum(better[:used], run.total_queue.low)
        return better, np.where(counts < run.beyond_bases(), np.inf, worse)  # if arrivals are open

    def _moved(self, each: PredictedRows) -> Array:
        """Logarithms of rate and response with enough aliases at all `ends_of` over those of `each`, (2, ends)."""
        read = self.pool.candidates
        chosen = read.weight.argmax(axis=1)
        now = np.array([each.rate, each.response])[:, np.arange(chosen.size), chosen, -1]
        figures = []
        for end in ends_of(read, chosen, self.device_model):
            later, place = end.read.predict([ENOUGH]), (np.arange(end.chosen.size), end.chosen, 0)
            moved = now.copy()
            moved[:, end.places] = later.rate[place], later.response[place]
            figures.append(np.log([moved[0].sum() / now[0].sum(), mean_service(*moved) / mean_service(*now)]))
        return np.array(figures).reshape(-1, 2).T

    def each_alone(self) -> int | None:
        """Of the volumes, each read for itself."""
        if self.run.aliases:
            return None
        each = point_and_range(self.pool.candidates, self.target)
        return None if each.unmet.any() else int(each.point.sum())

    def gains(self, rows: Performance, count: int) -> tuple[Gain, ...]:
        """What each group of volumes that the digits cannot tell apart gets."""
        run, pool = self.run, self.pool
        if not run.own or run.aliases:
            return ()
        groups = alike(run)
        queued, rate = float(rows.queued[count]), float(rows.io_rate[count])
        left = queued / max(float(rows.queued[0]), 1e-300)
        share = pool.volume_queues([count])[:, 0]
        waiting = queued * share / max(float(share.sum()), 1e-300)
        rates = run.io_rate.value + np.maximum(pool.rate - run.io_rate.value, 0.0) * (1 - left)
        rates *= rate / float(rates.sum())
        found = []
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            after = float(rates[members].mean())
            service = float(run.service.value[members].mean())
            inflated = float(pool.busy[members].sum() / max(float(pool.rate[members].sum()), 1e-300))
            inflated, wait = max(inflated, service), float(waiting[members].mean()) / after
            before = run.io_rate.value[members]
            gain = Gain(
                volumes=members.size, rate_before=float(before.mean()), rate_after=after,
                response_before=float(np.average(run.responses[members], weights=before)),
                response_after=service + (inflated - service) * (1 - left) + wait,
            )  # fmt: skip
            found.append(gain)
        return tuple(sorted(found, key=lambda gain: -gain.rate_before * gain.response_before))

    def named(self, count: int, rows: Performance) -> tuple[NamedDemand, ...]:
        """The pool as one demand."""
        read = self.pool.candidates
        bursty = int((~read.steady).sum())
        row = int(np.argmax(np.where(read.steady, -1.0, read.rows.queue)))
        which = f"{bursty} of {read.volumes} volumes bursty"
        if self.saturated:
            which = f"{int(read.saturated.sum())} of {read.volumes} volumes always busy, {bursty} bursty"
        words = f"{which}, the longest queue as if {in_words(read, row, int(np.argmax(read.weight[row])))}"
        rate = float(rows.io_rate[count])
        return (NamedDemand(kind="bursty", words=words, weight=None, count=count, io_rate=rate),)

    def sentences(self, answer: AliasAnswer) -> tuple[Sequence[str], Sequence[str], bool]:
        """How it was read, who gains."""
        return of_bursty_pool(self.runs, answer), (), True


def size_bursty_pools(
    cases: Sequence[tuple[Run, ...]], device_model: DeviceModel, target: Target, growth: Sequence[float],
    known: ReadCache,
) -> list[SizedDraws]:  # fmt: skip
    """Read pools of bursty volumes; those of one row without aliases all together."""
    tries = not target.of_waits
    for run in chain.from_iterable(cases):
        known.rows.setdefault(id(run), row_of(run))
    rows = [[known.rows[id(run)] for run in _with_queues(runs)] for runs in cases]
    first: dict[tuple[int, ...], int] = {}
    same = [first.setdefault(tuple(map(id, runs)), k) for k, runs in enumerate(cases)]
    # Each as measured and grown, next to each other: what is asked for several times is read once.
    asked = sorted({(k, share) for k, more in zip(same, growth, strict=True) for share in (0.0, more)})
    alone = [(k, share) for k, share in asked if len(rows[k]) == 1]
    read = read_pools(
        [rows[k][0] for k, _ in alone], device_model=device_model, growth=[share for _, share in alone], tries=tries,
        known=known.in_use,
    )  # fmt: skip
    found = dict(zip(alone, read, strict=True)) | {
        (k, share): read_pool_at_several(rows[k], device_model=device_model, growth=share, tries=tries)
        for k, share in asked
        if len(rows[k]) > 1
    }
    sized = []
    for runs, k, more in zip(cases, same, growth, strict=True):
        pool = replace(found[k, more], before=found[k, 0.0]) if more else found[k, more]
        sized.append(SizedDraws(runs, device_model, target, more, pool))
    return sized


def all_at_once(pool: DrawnPool, target: Target, least: int) -> int:
    """Aliases that a pool needs if the bursts of all its volumes come together, never fewer than if they do not."""
    at_once = pool.all_at_once()
    rows = at_once.predict(np.arange(at_once.queues.shape[0]))
    met = target.met(rows.rate, rows.service, rows.queue, rows.no_alias, rows.waits)
    return max(int(np.argmax(met)) if met.any() else met.size - 1, least)


def _with_queues(runs: Sequence[Run]) -> list[Run]:
    """Measurements with a queue, the latest of each count of aliases."""
    return list({run.aliases: run for run in runs if run.queue_known}.values())


def row_of(run: Run) -> PoolRow:
    """A measurement of a pool as `read_pools` takes it."""
    return PoolRow(run.io_rate, run.service, spaced(run.queued), run.aliases, run.together)


def _deviation(values: Array, weight: Array) -> float:
    """Standard deviation of the sum over the volumes, (volumes, candidates); inf where it may have no end."""
    if float(weight[np.isposinf(values)].sum()) > UNLIKELY:
        return math.inf
    known = np.isfinite(values) & (weight > 0)
    weight, values = np.where(known, weight, 0.0), np.where(known, values, 0.0)
    mean = (weight * values).sum(axis=1, keepdims=True)
    return math.sqrt(float((weight * (values - mean) ** 2).sum()))
