"""The draws of a pool: queue, failing tries, count and range with any number of aliases.

With A aliases R E[(O - A)+] I/Os are queued: what unlimited servers would hold beyond A, R times as much since it
stays longer. R is that of Poisson arrivals at many servers, A being b standard deviations above E[O]: (a / b) / (f(b)
- b F(-b)) with a = 1 / (1 + b F(b) / f(b)), f and F the normal density and distribution (Halfin and Whitt, Operations
Research 29, 1981): 1.3 at b = 3, 1.6 at 2, 2.0 at 1.5; with less bases help. Without aliases every volume has its
measured queue. A aliases take away at most the share A / E[O] of it, and of the rise of the rate, where E[O] would be
in use if there were enough; above a measured count, the same share of what is left there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from planner.demand.candidates import Candidates, PredictedRows
from planner.demand.inversion import MeasuredRows
from planner.demand.read import UNIFORM, make_rows
from planner.demand.target import Target
from planner.demand.together import beyond, failing, in_batches, queued
from planner.demand.unlimited import alias_use
from planner.interval import Interval
from planner.results import Array, Integers
from planner.units import MOST_ALIASES

LEAST_SPARE: Final = 1.5  # standard deviations of the aliases in use; with less to spare bases help
# Of what `together.queued` says, where nothing measured shows how far bursts come together: its upper end, so that the
# need lies below the count. In 48 simulated pools, striped and page writes, at the count that they need .25 to 1.6 (80
# % of them), in the median .5 with scv of service 1, .9 with .5, 1.6 with .25: services that are alike hold batches.
HELD_TOGETHER: Final = 1.5
LOWEST, HIGHEST = 0.1, 0.98  # quantiles of the queue that bound the range
# Of the count, above (with aliases at work below as well): the error of the model of the queue.
WIDER: Final = 0.2
MODEL_ERROR: Final = 0.35  # of a queue with aliases at work, in its logarithm
OF_ONE: Final = 0.68  # quantile of independent draws of one row
OF_SHARES: Final = 0.5  # quantile of draws of which some come together
OF_SEVERAL: Final = 0.6  # the same of several rows, which hardly tell batches of one size from geometric ones
OPEN: Final = 0.5  # weight of open arrivals, of a rate with more aliases than in use, beside requesters
LARGEST_TIE: Final = 3.0  # factor, either way, by which a draw is tied to the queue that was measured
NO_QUEUE: Final = 1e-9  # I/Os: what is next to nothing where a queue has no digits
DENIED: Final = 2.0  # standard deviations of the model of the queue


class PoolRow(NamedTuple):
    """Rate, service and queue of the volumes of a pool, arrays (volumes,), and its aliases in use.

    `together` is how much the bursts of each volume come together with those of others, (volumes,); nan where unknown.
    """

    rate: Interval
    service: Interval
    queue: Interval
    aliases: int = 0
    together: Array | float = np.nan

    def shares(self, unknown: float) -> Array:
        """The same with a number for those that are not known, (volumes,)."""
        known = np.broadcast_to(np.asarray(self.together, dtype=np.float64), self.rate.value.shape)
        return np.where(np.isnan(known), unknown, known)

    @property
    def come_together(self) -> bool:
        """Whether bursts of some volumes are known to come together."""
        return bool((np.nan_to_num(self.together) > 0.0).any())


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnPool:
    """Draws of one pool, one candidate a volume each; arrays (volumes,) where nothing else is said."""

    candidates: Candidates  # of its volumes, as they would be without aliases
    in_use: int  # aliases at the time
    queues: Array  # I/Os queued in the whole pool in each draw, (aliases + 1, draws) [1]
    shares: Array  # how much the bursts of its volumes come together in each draw, (draws,)
    likely: Array  # weight of each draw, (draws,)
    wanted: Array  # mean aliases in use in each draw where there are enough, (draws,)
    second_moment: Array  # mean square of the aliases that each volume uses where there are enough
    busy: Array  # mean I/Os in service and rate [1/s] then
    rate: Array
    alone: Array  # I/Os queued [1] and rate [1/s] without aliases
    alone_rate: Array
    fails: Array | None = None  # rate of I/Os that find no alias, as `queues` [1/s]; None where nobody asked
    others: tuple[tuple[int, MeasuredRows], ...] = ()
    before: DrawnPool | None = None  # of the demand as measured, where it has grown since

    @property
    def saturated(self) -> bool:
        """Whether a volume never idles, so that its demand is unknown: aliases in use or another row would show it."""
        return not self.in_use and not self.others and bool(self.candidates.saturated.any())

    @property
    def open_above(self) -> bool:
        """Whether nothing waits with the aliases in use: the demand may be anything that they hold."""
        return self.in_use > 0 and bool((self.candidates.rows.queue_low <= 0).all())

    @property
    def may_be_open(self) -> bool:
        """Whether no row shows if more aliases than in use raise the rate: that of open arrivals is what it is."""
        return self.in_use > 0 and not self.others

    @cached_property
    def _ordered(self) -> tuple[Array, Array]:
        """Queues of the draws in rising order at each count, and the weight of all draws up to each."""
        counts = np.arange(len(self.queues))[:, None]
        place, left = self._not_carried(counts, self.wanted)
        measured = self._known[place]
        whole = np.where(measured, self.queues[measured[:, 0]], self.alone.sum())
        return self._sorted(np.maximum(self.queues, whole * left))

    @cached_property
    def _known(self) -> Integers:
        """0 and the measured counts, rising."""
        return np.unique([0, self.in_use, *dict(self.others)])

    def _last_known(self, counts: Integers) -> Integers:
        """Place of the largest known count up to each."""
        return np.searchsorted(self._known, counts, side="right") - 1

    def _not_carried(self, counts: Integers, wanted: Array | float) -> tuple[Integers, Array]:
        """Place of the largest known count up to each, and the share of the queue there that remains at least."""
        place = self._last_known(counts)
        measured = self._known[place]
        return place, np.clip((wanted - counts) / np.maximum(wanted - measured, 1e-300), 0.0, 1.0)

    @cached_property
    def _ordered_fails(self) -> tuple[Array, Array]:
        """The same of the rates of I/Os that find no alias."""
        assert self.fails is not None
        return self._sorted(self.fails)

    def _sorted(self, values: Array) -> tuple[Array, Array]:
        order = np.argsort(values, axis=1)  # equal ones in any order: a quantile is one of them
        return np.take_along_axis(values, order, axis=1), np.cumsum(self.likely[order], axis=1)

    def _quantile(self, ordered: tuple[Array, Array], counts: Integers, share: ArrayLike) -> Array:
        values, weights = (each[np.minimum(counts, len(each) - 1)] for each in ordered)
        reached = np.multiply.outer(share, weights[:, -1]) - 1e-12
        first = np.argmax(weights >= reached[..., None], axis=-1)
        return np.asarray(values[np.arange(counts.size), first])

    def queued(self, aliases: ArrayLike, share: ArrayLike | None = None) -> Array:
        """I/Os queued in the whole pool, (..., counts): quantiles of the draws, never more than without aliases.

        E[(O - A)+] is convex in A: between known counts no more than on a straight line.
        """
        counts = np.atleast_1d(np.asarray(aliases, dtype=np.int64))
        share = self.point if share is None else share
        known, place = self._known, self._last_known(counts)
        values, ends = (self._at_most(each, share) for each in (counts, known))
        after = np.minimum(place + 1, known.size - 1)
        part = (counts - known[place]) / np.maximum(known[after] - known[place], 1)
        return np.asarray(np.minimum(values, (1.0 - part) * ends[..., place] + part * ends[..., after]))

    def _at_most(self, counts: Integers, share: ArrayLike) -> Array:
        """Quantiles of the queue, no longer than without aliases."""
        most = self.alone.sum()
        found = np.minimum(self._quantile(self._ordered, counts, share), most)
        return np.asarray(np.where(counts == 0, most, found))

    def predict(self, aliases: ArrayLike, share: ArrayLike | None = None) -> PredictedRows:
        """Figures of the whole pool, (..., counts).

        Between measured counts rates and service times rise as the queue ends; beyond the last one by the share of the
        whole rise that still waited there, and to no more than what enough aliases would bring.
        """
        counts = np.atleast_1d(np.asarray(aliases, dtype=np.int64))
        share = self.point if share is None else share
        queue = self.queued(counts, share)
        place, kept = self._not_carried(counts, np.average(self.wanted, weights=self.likely))
        before = self._at_most(self._known, share)  # as `queued`: these are the ends of its lines
        after = np.append(before[..., 1:], np.zeros((*before.shape[:-1], 1)), axis=-1)
        gone = before[..., place] - np.maximum(queue, before[..., place] * kept)
        gone = np.clip(gone / np.maximum(before - after, 1e-300)[..., place], 0.0, 1.0)
        waiting = before[..., -1:]

        def risen(known: Array, enough: float, each_queued: float) -> Array:
            rise = np.minimum(waiting * max(each_queued, 0.0), max(enough - known[-1], 0.0))
            ends = np.append(np.broadcast_to(known[1:], after[..., 1:].shape), known[-1] + rise, axis=-1)
            return np.asarray(known[place] + gone * (ends[..., place] - known[place]))

        rates, times = self._at_known
        cost, slower = self._each_queued
        rate = risen(rates, float(self.rate.sum()), cost)
        if self.may_be_open:
            rate = np.where(counts > self.in_use, rates[-1] ** OPEN * rate ** (1.0 - OPEN), rate)
        service = risen(times, services(self)[1], slower)
        if self.fails is None:
            return PredictedRows(rate=rate, queue=queue, service=service)
        fails, tries = (self._quantile(self._ordered_fails, each, share) for each in (counts, 0 * counts))
        fails = np.minimum(fails, tries)
        without = np.where(
            counts == 0, 1.0, np.divide(fails, tries, out=np.zeros_like(fails), where=tries > 0)
        )
        return PredictedRows(rate=rate, queue=queue, service=service, waits=fails, no_alias=without)

    @cached_property
    def _at_known(self) -> tuple[Array, Array]:
        """Rate, grown with the demand, and service time at each of the known counts [1/s, s]."""
        rows = {self.in_use: self.candidates.rows, **dict(self.others)}
        counts = self._known[1:].tolist()
        rates = [float(rows[count].rate.sum()) * self._grown(count) for count in counts]
        times = [mean_service(rows[count].rate, rows[count].service) for count in counts]
        return np.array([self.alone_rate.sum(), *rates]), np.array([services(self)[0], *times])

    def _grown(self, count: int) -> float:
        """Growth factor of the rate at a count, between 1 and that of the demand; the latter where `before` is None."""
        most = float(np.average(1.0 + self.candidates.growth, weights=self.candidates.rows.rate))
        if self.before is None:
            return most
        cost, _ = self._each_queued
        now, then = (
            max(each.rate.sum() - cost * each.queued(count)[0], each.alone_rate.sum())
            for each in (self, self.before)
        )
        return float(np.clip(now / then, min(most, 1.0), max(most, 1.0)))

    @property
    def _each_queued(self) -> tuple[float, float]:
        """By how much each queued I/O lowers the rate [1/s] and the service time [s], of the demand as measured.

        N requesters of cycle Z + S have the rate (N - Q) / (Z + S): the loss by each that waits does not depend on N.
        """
        of = self.before or self
        (slow, fast), queue = services(of), max(float(of.alone.sum()), 1e-300)
        return float(of.rate.sum() - of.alone_rate.sum()) / queue, (fast - slow) / queue

    def volume_queues(self, aliases: ArrayLike) -> Array:
        """I/Os queued at each volume, (volumes, counts), in proportion to what each sends beyond its base."""
        total = self.queued(aliases)
        left = np.clip(total / max(float(self.alone.sum()), 1e-300), 0.0, 1.0)
        many = self.second_moment / max(float(self.second_moment.sum()), 1e-300)
        few = self.alone / max(float(self.alone.sum()), 1e-300)
        share = many[:, None] * (1 - left) + few[:, None] * left
        return np.asarray(share * total)

    @property
    def point(self) -> float:
        """Quantile of the draws that is the count."""
        return OF_SEVERAL if self.others else OF_SHARES if self.in_use else OF_ONE

    @property
    def together(self) -> Interval | None:
        """How much the bursts come together, as the measurements show it; None where nothing does."""
        if not self.others and (not self.in_use or self.open_above):
            return None
        order = np.argsort(self.shares, kind="stable")
        weight = np.cumsum(self.likely[order]) / self.likely.sum()
        ends = (float(self.shares[order][np.searchsorted(weight, end)]) for end in (0.05, 0.5, 0.95))
        return Interval(*ends)

    def all_at_once(self) -> DrawnPool:
        """The same if the bursts of all volumes came together."""
        last = most_aliases(self.candidates.volumes)
        use = in_batches(self.candidates)
        rows = self.candidates.rows
        service = mean_service(rows.rate, rows.service)
        queues = HELD_TOGETHER * queued([(use, 1.0)], last, self.candidates.device_model, service)
        fails = None if self.fails is None else failing(use, last, 1.0)[:, None]
        one = np.ones(1)
        return replace(
            self, queues=queues, fails=fails, shares=one, likely=one, wanted=use.in_use.sum() * one
        )

    def denies(self, row: PoolRow) -> bool:
        """Whether a row with more aliases has a longer queue than volumes that are independent."""
        use, aliases = alias_use(self.candidates), np.array([float(row.aliases)])
        spread = (use.second_moment - use.in_use**2).sum()
        queue = held(aliases, use.in_use.sum(), spread) * beyond(use, row.aliases, 0.0)[-1:]
        rows = make_rows(row.rate, row.service, row.queue, 0)
        return bool(misfit(queue, rows)[0] < -DENIED)

    def point_and_range(self, target: Target | None = None) -> tuple[int, int, int]:
        """Count, low and high end; at most as many as there are addresses beside the bases."""
        target = target or Target()
        last = most_aliases(self.candidates.volumes)
        ahead = self.predict(np.arange(len(self.queues)), (self.point, LOWEST, HIGHEST))
        met = target.met(ahead.rate, ahead.service, ahead.queue, ahead.no_alias, ahead.waits)
        point, low, high = np.where(met.any(axis=1), np.argmax(met, axis=1), last).tolist()
        more = int(np.ceil(WIDER * point))
        low, high = max(low - more, 0) if self.in_use or self.others else low, high + more
        measured = ((self.in_use, self.candidates.rows), *self.others) if target.of_waits else ()
        least, largest = self.candidates.growth.min(), self.candidates.growth.max()
        for in_use, rows in measured:
            # At the upper end of its digits a measurement meets the target, or at the lower end it misses it; demand
            # that shrinks needs no more then, one that grows no fewer.
            if in_use and largest <= 0.0 and _reached(target, rows, rows.queue_high):
                point, high = min(point, in_use), min(high, in_use)
            elif least >= 0.0 and not _reached(target, rows, np.maximum(rows.queue_low, 0.0)):
                point, low = max(point, in_use + 1), max(low, in_use + 1)
        return point, min(low, point), min(max(high, point + 1), last)


def held(aliases: Array, mean: Array | float, variance: Array | float) -> Array:
    """I/Os queued over those that unlimited servers would hold beyond the aliases; 1 without any."""
    spare = (aliases - mean) / np.sqrt(np.maximum(variance, NO_QUEUE))
    b = np.clip(spare, LEAST_SPARE, 6.0)
    density = np.exp(-0.5 * b * b) / math.sqrt(2.0 * math.pi)
    waits = 1.0 / (1.0 + b * ndtr(b) / density)
    return np.asarray(np.where(aliases > 0, waits / (b * (density - b * ndtr(-b))), 1.0))


def all_volumes(rows: Sequence[tuple[Any, ...]]) -> tuple[list[Interval], list[slice]]:
    """Rate, service and queue of the volumes of all pools, and where those of each stand."""
    columns = [
        Interval(*(np.concatenate(ends) for ends in zip(*column, strict=True)))
        for column in list(zip(*rows, strict=True))[:3]
    ]
    ends = np.cumsum([0, *(row[0].value.size for row in rows)])
    return columns, [slice(first, last) for first, last in pairwise(ends.tolist())]


def most_aliases(volumes: int) -> int:
    """As many as there are addresses beside the bases."""
    return max(MOST_ALIASES + 1 - volumes, 0)


def mean_service(rate: Array, service: Array) -> float:
    """Mean service time of the I/Os of a pool [s]."""
    return float((rate * service).sum() / rate.sum())


def _reached(target: Target, rows: MeasuredRows, queues: Array) -> bool:
    """Whether a measurement with such queues meets the target."""
    rate, queue = np.array([rows.rate.sum()]), np.array([queues.sum()])
    service = np.array([mean_service(rows.rate, rows.service)])
    return bool(target.met(rate, service, queue)[0])


def misfit(queues: Array, rows: MeasuredRows) -> Array:
    """By how many standard deviations queues of the whole pool miss the measured one."""
    missed, error = missed_by(queues, rows)
    return missed / error


def missed_by(queues: Array, rows: MeasuredRows) -> tuple[Array, Array]:
    """Logarithm of queues of the whole pool over the measured one, beside the digits, and its standard deviation."""
    measured = rows.queue.sum()
    digits = max(np.sqrt((((rows.queue_high - rows.queue) * UNIFORM) ** 2).sum()), NO_QUEUE)
    error = np.hypot(MODEL_ERROR, digits / (measured + digits))
    return np.log((queues + digits) / (measured + digits)), error


def tie(queues: Array, rows: MeasuredRows) -> Array:
    """Logarithm of the factors that make queues of the whole pool the measured one, within `LARGEST_TIE`."""
    missed, _ = missed_by(queues, rows)
    return np.asarray(np.clip(-missed, -np.log(LARGEST_TIE), np.log(LARGEST_TIE)))


def services(pool: DrawnPool) -> tuple[float, float]:
    """Mean service time without aliases and with enough [s]."""
    alone = mean_service(pool.alone_rate, pool.candidates.rows.service)
    return alone, float(pool.busy.sum() / pool.rate.sum())
