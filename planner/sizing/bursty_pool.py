"""Aliases of a pool with bursty volumes: each read for itself, the pool by the peakedness of what all ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.demand import Law, Readings, read_volumes
from planner.demand.pooled import HIGH, LOW, PoolReadings, pooled
from planner.devices import Performance
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.measurements import Run
from planner.results import Array
from planner.sizing.answer import AliasAnswer, NamedReading
from planner.sizing.bounds import NORMAL_90, measured_rate, measured_response, spaced
from planner.sizing.comparison import Gain, as_measured, helped
from planner.sizing.target import Target
from planner.sizing.volumes import Indices, alike, means
from planner.sizing.wording import bursty_remarks

ROWS_BEYOND: Final = 2
MANY: Final = 16  # aliases of one volume with which hardly anything of it waits
STEPS: Final = 24  # of the search for the queue that the volumes would have without aliases
PASSES: Final = 3
CLOSE: Final = 0.01  # relative, of the queue with the aliases in use
MOST_QUEUE: Final = 200.0  # I/Os of one volume


def read_unshared(run: Run, law: Law) -> tuple[Readings, Indices]:
    """Readings of the volumes of a pool without aliases, a row a group of volumes that the digits cannot tell apart."""
    groups = alike(run)
    rate, service, queued = (means(each, groups) for each in (run.io_rate, run.service, run.queued))
    return read_volumes(rate, service, spaced(queued), aliases=0, law=law), groups


def read_shared(run: Run, law: Law) -> tuple[Readings, Indices]:
    """The same of a pool whose aliases are at work: the queues without them with which the pool queues as it did."""
    groups = alike(run) if run.own else np.zeros(run.bases, dtype=np.int64)
    rate, service = (means(each, groups) for each in (run.io_rate, run.service))
    found = _matched(run, law, groups, rate, service)
    faster = slower = 1.0
    for _ in range(PASSES):  # rate and service time without aliases are known once the readings are
        total = expanded(pooled(found), groups)
        rows = _rows(total, _now(found, groups), np.array([0, run.aliases]))
        slower = math.sqrt(
            slower * float(rows.service_time[1] / rows.service_time[0])
        )  # damped: another reading may
        faster = math.sqrt(faster * float(rows.io_rate[1] / rows.io_rate[0]))  # take over
        found = _matched(run, law, groups, rate * (1.0 / faster), service * (1.0 / slower))
    return found, groups


def _matched(run: Run, law: Law, groups: Indices, rate: Interval, service: Interval) -> Readings:
    """Search the queue without aliases, shared out as the measured one."""
    share = means(run.queued, groups).value
    share = share / max(float(share @ np.bincount(groups)), 1e-12)
    wanted = float(run.total_queue.value)
    low, high, total = 1e-3, MOST_QUEUE * run.bases, max(float(wanted), 0.05)
    found: Readings | None = None
    for _ in range(STEPS):
        queue = np.maximum(share * total, 1e-6)
        found = read_volumes(rate, service, Interval(0.98 * queue, queue, 1.02 * queue), aliases=0, law=law)
        here = float(expanded(pooled(found), groups).queued([run.aliases])[0])
        if abs(here / wanted - 1) < CLOSE or high < low * (1 + CLOSE):
            break
        low, high = (total, high) if here < wanted else (low, total)
        total = math.sqrt(low * high)
    assert found is not None
    return found


def _now(read: Readings, groups: Indices) -> Array:
    """Rate of each volume without aliases, the mean over its readings."""
    rate = read.predict([0]).rate[..., 0]
    return np.asarray(np.nansum(np.where(read.weight > 0, read.weight * _finite(rate), 0.0), axis=1))[groups]


def _queues(total: PoolReadings, sweep: Indices) -> Array:
    """Queue of the pool; where too few aliases say nothing of it, straight down from the one without any."""
    found = total.queued(sweep)
    before = float(total.queue.sum())
    told = np.flatnonzero((found < before * (1 - CLOSE)) & (sweep > 0))
    if told.size and sweep.size > 2:  # noqa: PLR2004 - a sweep
        first = int(told[0])
        found[:first] = np.interp(sweep[:first], [0, sweep[first]], [before, found[first]])
    return np.minimum.accumulate(found)


def expanded(found: PoolReadings, groups: Indices) -> PoolReadings:
    """Every volume as its group."""
    return replace(
        found,
        **{name: getattr(found, name)[groups] for name in ("overflow", "variance", "busy", "rate", "queue")},
    )


def size_bursty_pool(
    runs: Sequence[Run], read: Readings, groups: Indices, target: Target, growth: float
) -> AliasAnswer:
    """Find the smallest number of aliases that meets a target.

    Raises
    ------
    InputError
        A target for tries, which only supply counters tell of bursty volumes.
    InfeasibleError
        No count that a control unit has room for meets the target.
    """
    run = runs[-1]
    if target.no_alias is not None:
        raise InputError(
            "no_alias", target.no_alias,
            "a target for wait, queue or response: volumes of the pool are bursty, and only its supply counters say "
            "how many tries fail (planner aliases supply)",
        )  # fmt: skip
    grown = read.grown(growth) if growth else read
    now = _now(grown, groups) if growth or run.aliases else run.io_rate.value
    total = expanded(pooled(grown), groups)
    if growth:
        found = grown.predict([0])
        queue = np.nansum(
            np.where(grown.weight > 0, grown.weight * _finite(found.queue[..., 0]), 0.0), axis=1
        )[groups]
        total = replace(total, queue=queue)
    sweep = np.arange(run.most_aliases + 1)
    rows = _rows(total, now, sweep)
    met = target.met(rows)
    if not met.any():
        raise InfeasibleError(
            f"{run.name}: no count up to {run.most_aliases} aliases meets the target ({target})"
        )
    recommended, rule = int(np.argmax(met)), run.rule_of_thumb
    last = min(max(recommended, rule or 0, *(each.aliases for each in runs)) + ROWS_BEYOND, run.most_aliases)
    sweep, rows = sweep[: last + 1], rows.first(last + 1)
    rate, response = _bands(grown, groups, total, rows, runs, growth)
    model = rows
    rows = rows if growth else as_measured(rows, runs)
    ends = [math.floor(LOW * recommended), math.ceil(HIGH * recommended), *([] if rule is None else [rule])]
    low, high = max(min(ends), 0), min(max(*ends, recommended + 1), run.most_aliases)
    each = grown.point_and_range(target.of_readings())
    classic = None if each.unmet.any() else int(each.point[groups].sum())
    gains = _gains(run, total, model, groups, recommended, now)
    helps = helped(rows, run.aliases, recommended)
    named = _named(read, groups, recommended, float(model.io_rate[recommended]))
    return AliasAnswer(
        name=run.name, recommended=recommended, range=(low, high), rule_of_thumb=rule, in_use=run.aliases,
        measured=tuple(each.aliases for each in runs), target=target, growth=growth, readings=named, rows=rows,
        rate=rate, response=response, saturated=bool(read.saturated.any()) and run.aliases == 0, helps=helps,
        strain=0.0, waiting=run.waiting, classic=classic, gains=gains, grouping_error=0.0,
        remarks=bursty_remarks(
            runs, named, recommended, helps=helps, growth=growth, gains=gains, classic=classic
        ),
    )  # fmt: skip


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, 0.0)


def _rows(total: PoolReadings, now: Array, sweep: Indices) -> Performance:
    """Figures of the pool: queue by its peakedness; rate and service go from those without aliases to those of many."""
    queued = _queues(total, sweep)
    before = float(queued[0])
    served = 1.0 - queued / before if before > 0 else np.ones(sweep.size)
    many = float(np.maximum(total.rate, now).sum())
    rate = float(now.sum()) + (many - float(now.sum())) * served
    measured = total.readings.rows
    alone = float(np.average(measured.service, weights=measured.rate))
    inflated = float(total.busy.sum() / max(float(total.rate.sum()), 1e-300))
    service = alone + (max(inflated, alone) - alone) * served
    nothing = np.full(sweep.size, np.nan)
    return Performance(
        aliases=sweep.astype(np.float64), io_rate=rate, service_time=service, queued=queued, no_alias=nothing,
        base_rate=nothing, tries=nothing, fails=nothing, fewest_free=nothing, most_free=nothing,
        volume_rates=(rate / now.size)[:, None], volume_responses=(service + queued / rate)[:, None],
    )  # fmt: skip


def _bands(
    read: Readings,
    groups: Indices,
    total: PoolReadings,
    rows: Performance,
    runs: Sequence[Run],
    growth: float,
) -> tuple[Interval, Interval]:
    """Rate over the readings of all volumes; response with more or fewer aliases, as the range of the count allows."""
    many = read.predict([MANY]).rate[..., 0]
    weight = np.where(np.isfinite(many), read.weight, 0.0)
    mean = np.nansum(weight * _finite(many), axis=1)
    spread = np.nansum(weight * (_finite(many) - mean[:, None]) ** 2, axis=1)
    half = NORMAL_90 * math.sqrt(float(spread[groups].sum()))
    counts, before = rows.aliases, float(rows.queued[0])
    served = 1.0 - rows.queued / before if before > 0 else np.ones(counts.size)
    least, most = rows.io_rate - half * served, rows.io_rate + half * served
    worse, better = (np.minimum(total.queued(counts / share), before) for share in (HIGH, LOW))
    slow = rows.service_time + worse / rows.io_rate
    fast = rows.service_time + better / rows.io_rate
    value_rate, value_response = rows.io_rate.copy(), rows.response_time.copy()
    if not growth:
        for run in runs:
            k = run.aliases
            if k < counts.size:
                least[k], value_rate[k], most[k] = measured_rate(run)
                fast[k], value_response[k], slow[k] = measured_response(run)
    least = np.maximum.accumulate(least)
    most = np.minimum.accumulate(most[::-1])[::-1]
    return (
        Interval(np.minimum(least, value_rate), value_rate, np.maximum(most, value_rate)),
        Interval(np.minimum(fast, value_response), value_response, np.maximum(slow, value_response)),
    )


def _gains(
    run: Run, total: PoolReadings, rows: Performance, groups: Indices, recommended: int, now: Array
) -> tuple[Gain, ...]:
    """Each group of equal volumes: its own wait shrinks as the queue of the pool does."""
    if not run.own or not run.queue_known or run.aliases:
        return ()
    left = float(rows.queued[recommended] / rows.queued[0]) if rows.queued[0] > 0 else 0.0
    found = []
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        before = float(now[members].mean())
        many = max(float(total.rate[members].mean()), before)
        service = float(run.service.value[members].mean())
        inflated = max(
            float(total.busy[members].sum() / max(float(total.rate[members].sum()), 1e-300)), service
        )
        wait = float(run.queued.value[members].mean()) / before
        found.append(
            Gain(
                volumes=members.size, rate_before=before, rate_after=before + (many - before) * (1 - left),
                response_before=service + wait,
                response_after=service + (inflated - service) * (1 - left) + wait * left,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda gain: -gain.rate_before * gain.response_before))


def _named(read: Readings, groups: Indices, recommended: int, io_rate: float) -> tuple[NamedReading, ...]:
    """The pool as one reading: how many volumes are bursty, and what the one that waits most does."""
    steady = read.steady[groups]
    bursty = int((~steady).sum())
    row = int(np.argmax(np.where(read.steady, -1.0, read.rows.queue)))
    column = int(np.argmax(read.weight[row]))
    words = f"{bursty} of {steady.size} volumes bursty, the longest queue as if {read.words(row, column)}"
    return (
        NamedReading(
            kind="bursty", words=words, weight=None, count=recommended, io_rate=io_rate, population=None
        ),
    )
