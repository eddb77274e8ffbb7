"""Aliases of a pool with bursty volumes: each is read for itself, the pool by what all of them ask of its aliases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.demand import Law, in_words, point_and_range
from planner.demand.pooled import HIGHEST, LOWEST, PoolReadings, read_pool_at_several
from planner.devices import Performance
from planner.errors import InfeasibleError, InputError
from planner.interval import Interval
from planner.measurements import Run
from planner.sizing.answer import AliasAnswer, NamedReading
from planner.sizing.bounds import NORMAL_90, holding, measured_rate, measured_response, spaced
from planner.sizing.comparison import Gain, as_measured, held_to_measurement, helped, rule_of_thumb
from planner.sizing.target import Target
from planner.sizing.volumes import Indices, alike
from planner.sizing.wording import bursty_remarks

ROWS_BEYOND: Final = 2
MANY: Final = 16  # aliases of one volume with which hardly anything of it waits


def size_bursty_pool(runs: Sequence[Run], law: Law, target: Target, growth: float) -> AliasAnswer:
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
    rows = [
        (each.io_rate, each.service, spaced(each.queued), each.aliases) for each in runs if each.queue_known
    ]
    pool = read_pool_at_several(rows, law=law, growth=growth)
    asked = target.of_readings()
    every = _rows(pool, np.arange(run.most_aliases + 1))
    if not target.met(every).any():
        raise InfeasibleError(
            f"{run.name}: no count up to {run.most_aliases} aliases meets the target ({target})"
        )
    recommended, low, high = pool.point_and_range(asked)
    recommended = held_to_measurement(recommended, run, target, growth)
    low, high = min(low, recommended), max(high, recommended)
    rule = rule_of_thumb(run, every, growth)
    ends = [low, high, *([] if rule is None else [rule])]
    last = min(max(recommended, rule or 0, *(each.aliases for each in runs)) + ROWS_BEYOND, run.most_aliases)
    model = every.first(last + 1)
    rate, response = _bands(pool, model, runs, growth)
    shown = model if growth else as_measured(model, runs)
    rate = holding(rate, shown.io_rate)
    each = point_and_range(pool.readings, asked) if not run.aliases else None
    classic = None if each is None or each.unmet.any() else int(each.point.sum())
    gains = _gains(run, pool, alike(run), recommended) if run.own and not run.aliases else ()
    helps = helped(shown, run.aliases, recommended)
    named = _named(pool, recommended, float(model.io_rate[recommended]))
    return AliasAnswer(
        name=run.name, recommended=recommended, range=(min(ends), min(max(ends), run.most_aliases)), rule_of_thumb=rule,
        in_use=run.aliases, measured=tuple(each.aliases for each in runs), target=target, growth=growth, readings=named,
        rows=shown, rate=rate, response=response, saturated=pool.saturated and not run.aliases, helps=helps, strain=0.0,
        waiting=run.waiting, classic=classic, gains=gains, grouping_error=0.0,
        remarks=bursty_remarks(
            runs, named, recommended, helps=helps, growth=growth, gains=gains, classic=classic
        ),
    )  # fmt: skip


def _rows(pool: PoolReadings, sweep: Indices) -> Performance:
    """Figures of the pool with each number of aliases."""
    found = pool.predict(sweep)
    nothing = np.full(sweep.size, np.nan)
    rate, service, queue = (
        np.asarray(each, dtype=np.float64) for each in (found.rate, found.service, found.queue)
    )
    return Performance(
        aliases=sweep.astype(np.float64), io_rate=rate, service_time=service, queued=np.minimum.accumulate(queue),
        no_alias=nothing, tries=nothing, fails=nothing, fewest_free=nothing, most_free=nothing,
        volume_rates=(rate / pool.readings.volumes)[:, None], volume_responses=(service + queue / rate)[:, None],
    )  # fmt: skip


def _bands(
    pool: PoolReadings, rows: Performance, runs: Sequence[Run], growth: float
) -> tuple[Interval, Interval]:
    """Rate over the readings of all volumes; response with more or fewer aliases, as the range of the count allows."""
    read = pool.readings
    many = read.predict([MANY]).rate[..., 0]
    known = np.isfinite(many) & (read.weight > 0)
    weight, rates = np.where(known, read.weight, 0.0), np.where(known, many, 0.0)
    mean = (weight * rates).sum(axis=1)
    half = NORMAL_90 * math.sqrt(float((weight * (rates - mean[:, None]) ** 2).sum()))
    counts, before = rows.aliases, max(float(rows.queued[0]), 1e-300)
    served = np.clip(1.0 - rows.queued / before, 0.0, 1.0)
    least, most = np.maximum(rows.io_rate - half * served, 0.0), rows.io_rate + half * served
    worse, better = (pool.queued(counts, share) for share in (HIGHEST, LOWEST))
    slow, fast = rows.service_time + worse / rows.io_rate, rows.service_time + better / rows.io_rate
    rate, response = rows.io_rate.copy(), rows.response_time.copy()
    for run in () if growth else runs:
        k = run.aliases
        if k < counts.size:
            least[k], rate[k], most[k] = measured_rate(run)
            fast[k], response[k], slow[k] = measured_response(run)
    least = np.maximum.accumulate(least)
    most = np.minimum.accumulate(most[::-1])[::-1]
    return (
        Interval(np.minimum(least, rate), rate, np.maximum(most, rate)),
        Interval(np.minimum(fast, response), response, np.maximum(slow, response)),
    )


def _gains(run: Run, pool: PoolReadings, groups: Indices, recommended: int) -> tuple[Gain, ...]:
    """What each group of volumes that the digits cannot tell apart gets, those with the longest queues first."""
    waiting = pool.volume_queues([0, recommended])
    left = float(pool.queued([recommended])[0]) / max(float(pool.alone.sum()), 1e-300)
    found = []
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        before = float(run.io_rate.value[members].mean())
        many = max(float(pool.rate[members].mean()), before)
        after = before + (many - before) * (1 - left)
        service = float(run.service.value[members].mean())
        inflated = max(
            float(pool.busy[members].sum() / max(float(pool.rate[members].sum()), 1e-300)), service
        )
        found.append(
            Gain(
                volumes=members.size, rate_before=before, rate_after=after,
                response_before=float(np.average(run.responses[members], weights=run.io_rate.value[members])),
                response_after=service + (inflated - service) * (1 - left) + float(waiting[members, 1].mean()) / after,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda gain: -gain.rate_before * gain.response_before))


def _named(pool: PoolReadings, recommended: int, io_rate: float) -> tuple[NamedReading, ...]:
    """The pool as one reading: how many volumes are bursty, and what the one that waits most does."""
    read = pool.readings
    bursty = int((~read.steady).sum())
    row = int(np.argmax(np.where(read.steady, -1.0, read.rows.queue)))
    words = (
        f"{bursty} of {read.volumes} volumes bursty, the longest queue as if "
        f"{in_words(read, row, int(np.argmax(read.weight[row])))}"
    )
    return (NamedReading(kind="bursty", words=words, weight=None, count=recommended, io_rate=io_rate),)
