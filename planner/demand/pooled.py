"""Pools of unequal, partly bursty volumes: what all of them ask of the aliases together, with all that is possible.

With unlimited servers volumes do not touch each other: volume v asks for O_v aliases, and the pool for their sum O.
Which reading of a volume is true is not known, but what it asks of the pool differs manyfold. So a pool is drawn many
times, one reading a volume each time, by weight; count and range are quantiles (planner.demand.pool_readings). Beside
these draws of independent volumes stand those whose bursts come together (planner.demand.together), as far as that is
declared, or aliases in use and further rows show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import chains, priors
from planner.demand.kinds import COARSE
from planner.demand.law import Law
from planner.demand.pool_readings import (
    HELD,
    HELD_TOGETHER,
    PoolReadings,
    PoolRow,
    mean_service,
    misfit,
    missed_by,
    most_aliases,
    services,
)  # fmt: skip
from planner.demand.read import make_rows, read_rows, read_volumes, with_queues
from planner.demand.readings import Readings
from planner.demand.rowwise import Indices, MeasuredRows
from planner.demand.together import (
    FAILED,
    above,
    failing,
    in_batches,
    in_rare_bursts,
    mean_excess,
    one_of,
    queued,
)
from planner.demand.unlimited import AliasUse, asked, service_rates
from planner.interval import Interval
from planner.results import Array

# Prior weight of rare bursts of all volumes, of all that come together; less where rows with aliases in use leave open
# what waits without any: of all that explains their queue, rare bursts ask for the shortest wait, the most usual one.
RARE, RARE_IN_USE = 0.03, 0.01
DRAWS: Final = 128  # in 22 random pools other draws gave the same count, ends within 2
ROWS_AT_ONCE: Final = 640  # rows of volumes that are read together: what stays in a cache
NOTHING: Final = 1e-6  # I/Os queued, from which on more aliases are not looked at
# Of the wait of Poisson arrivals, in logarithms.
MULTIPLES: Final = np.log([0.4, 0.75, 1.0, 1.5, 2.2, 3.3, 5.5, 10.0, 20.0, 50.0])
LEAST_GONE: Final = 0.2  # share of the queue that must be gone before rates say what they are without any
LARGEST_TIE: Final = 3.0  # factor, either way, by which a draw is tied to the queue that was measured
SHARES: Final = (0.5, 1.0)  # of bursts that come together, beside none, where aliases are in use
MORE_SHARES: Final = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # the same where a row without any is known
TOGETHER: Final = 0.15  # prior weight of all shares above 0
LEAST_SHARE: Final = 1e-3  # of a multiple that counts
LEAST_RISE: Final = 1e-6  # between two guesses of a rate, in logarithms, that make a line


def drawn(asks: AliasUse, most: int, many: int = DRAWS) -> Array:
    """I/Os queued in the whole pool with 0 to `most` aliases, (most + 1, draws), one candidate a volume each time."""
    size = _length(asks)
    usage = np.fft.rfft(asks.usage, n=size, axis=0)
    product = np.ones((size // 2 + 1, many), dtype=np.complex128)
    for which in _picked(asks, many):
        product *= usage[:, which]
    return HELD * np.maximum(mean_excess(np.fft.irfft(product, n=size, axis=0), most), 0.0)


def drawn_fails(asks: AliasUse, most: int, many: int = DRAWS) -> Array:
    """Rate of I/Os that find no alias in the same draws, (most + 1, draws) [1/s]."""
    size = _length(asks)
    usage, ends = (np.fft.rfft(each, n=size, axis=0) for each in (asks.usage, asks.ends))
    _, sums = one_of((usage[:, which], ends[:, which]) for which in _picked(asks, many))
    return FAILED * np.maximum(above(np.fft.irfft(sums, n=size, axis=0), most), 0.0)


def _length(asks: AliasUse) -> int:
    """Numbers that hold all sums."""
    spread = 8 * np.sqrt(asks.second_moment.sum())
    return 1 << int(np.ceil(np.log2(asks.usage.shape[0] + 2 * asks.in_use.sum() + spread)))


def _picked(asks: AliasUse, many: int) -> Iterator[Indices]:
    """Candidate of each volume in turn, (draws,), by weight."""
    rng = np.random.default_rng(many)  # the same ones every time
    places = (rng.permuted(np.tile(np.arange(many), (asks.volumes, 1)), axis=1) + 0.5) / many
    ends = np.searchsorted(asks.volume, np.arange(asks.volumes + 1))
    for volume, (first, last) in enumerate(pairwise(ends.tolist())):
        which = np.searchsorted(np.cumsum(asks.weight[first:last]), places[volume])
        yield first + np.minimum(which, last - first - 1)


def read_pools(
    rows: Sequence[PoolRow], *, law: Law, growth: ArrayLike = 0.0, many: int = DRAWS, tries: bool = False
) -> list[PoolReadings]:
    """Read the volumes of many pools, each from one row, and what they ask of its aliases; some hundred rows at a time.

    Without aliases in use every volume is read for itself. With A in use the volumes are read as if without aliases,
    all of them with the same multiple of the wait of Poisson arrivals, for ten multiples; each draw counts as far as
    the queue that it has with A aliases is the measured one. Then it is tied to that queue, at most three times either
    way: what counts is how fast it falls with more aliases, and chance in the draws matters less. `tries` says
    whether the rates of I/Os that find no alias are wanted.
    """
    share = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(rows),))
    found: dict[int, PoolReadings] = {}
    batch: list[int] = []
    size = 0
    for k, row in enumerate(rows):
        batch.append(k)
        size += row.rate.value.size * (MULTIPLES.size if row.aliases else 1)
        if size >= ROWS_AT_ONCE or k == len(rows) - 1:
            for in_use, read in ((False, _read_alone), (True, _read_in_use)):
                some = [each for each in batch if bool(rows[each].aliases) == in_use]
                if some:
                    pools = read([rows[each] for each in some], law, share[some], many, tries=tries)
                    found.update(zip(some, pools, strict=True))
            size, batch = 0, []
    return [found[k] for k in range(len(rows))]


def joined(rows: Sequence[tuple[Any, ...]]) -> tuple[list[Interval], list[slice]]:
    """Rate, service and queue of the volumes of all pools, and where those of each stand."""
    columns = [
        Interval(*(np.concatenate(ends) for ends in zip(*column, strict=True)))
        for column in list(zip(*rows, strict=True))[:3]
    ]
    ends = np.cumsum([0, *(row[0].value.size for row in rows)])
    return columns, [slice(first, last) for first, last in pairwise(ends.tolist())]


def _read_alone(
    rows: Sequence[PoolRow],
    law: Law,
    growth: Array,
    many: int,
    shares: Sequence[float] = (),
    *,
    tries: bool = False,
) -> list[PoolReadings]:
    """Without aliases in use; beside independent bursts those that come together to some shares."""
    columns, parts = joined(rows)
    read = _bounded(read_volumes(*columns, law=law))
    share = np.repeat(growth, [part.stop - part.start for part in parts])
    grown = read.grown(share) if share.any() else read
    asks = asked(grown)
    queue = asks.mean(asks.alone)
    alone = np.where(
        share > 0, np.maximum(queue, read.rows.queue), np.where(share < 0, queue, read.rows.queue)
    )
    wanted = bool(shares) or any(row.joined for row in rows)
    together = Together.of(grown, asks) if wanted else Together(law=law)
    return [
        _pool(
            row, grown.of(part), [asks.of(part)], [alone[part]], np.ones((1, many)),
            curves=_curves(row, together, [part] if row.joined or shares else [], shares or (0.0,), tries=tries),
        )
        for row, part in zip(rows, parts, strict=True)
    ]  # fmt: skip


def _read_in_use(
    rows: Sequence[PoolRow], law: Law, growth: Array, many: int, *, tied: bool = True, tries: bool = False
) -> list[PoolReadings]:
    """Ten multiples of the wait of Poisson arrivals, so many draws of each, by how likely the measured queue is.

    A pool that is asked for at several growths is read once.
    """
    apart = list({id(row): row for row in rows}.values())
    (rate, service, queued), parts = joined(apart)
    measured = make_rows(rate, service, queued, 0)
    read = _as_without(measured, parts, law)
    asks = asked(read)
    together = Together.of(read, asks)
    known = {}
    for row, part in zip(apart, parts, strict=True):
        each = _multiples(MULTIPLES.size * part.start, row)
        draws = [drawn(asks.of(some), most_aliases(row.rate.value.size), many) for some in each]
        known[id(row)] = _Weighed.of(
            row, measured.of(part), each, draws, _curves(row, together, each, SHARES, tries=tries)
        )

    grown = np.flatnonzero(growth).tolist()
    later, asks_later, together_later, begin = read, asks, together, 0
    if grown:
        which = [known[id(rows[k])].stretch for k in grown]
        later = read.of(np.concatenate(which)).grown(np.repeat(growth[grown], [some.size for some in which]))
        asks_later = asked(later)
        together_later = Together.of(later, asks_later)
    found = []
    for row, share in zip(rows, growth, strict=True):
        weighed = known[id(row)]
        each, curves, of, use = weighed.each, weighed.curves, read, asks
        if share:
            each = _multiples(begin, row)
            begin, of, use = each[-1].stop, later, asks_later
            curves = _curves(row, together_later, each, SHARES, tries=tries)
        asks_of = [use.of(some) for some in each]
        shown = replace(of.of(each[weighed.likeliest]), rows=weighed.rows)
        pool = _pool(
            row, shown, asks_of, [part.mean(part.alone) for part in asks_of], weighed.likely[:, :many],
            curves=replace(curves, likely=weighed.likely[:, many:].ravel()), draws=None if share else weighed.draws,
        )  # fmt: skip
        found.append(weighed.tied(pool) if tied else pool)
    return found


def _multiples(begin: int, row: PoolRow) -> list[slice]:
    """Where the volumes of a pool stand that was read with each multiple."""
    volumes = row.rate.value.size
    return [slice(begin + k * volumes, begin + (k + 1) * volumes) for k in range(MULTIPLES.size)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weighed:
    """A pool as measured with aliases in use: `rows`; its draws and curves, and how likely they are."""

    row: PoolRow
    rows: MeasuredRows
    each: list[slice]  # its volumes with each multiple
    draws: list[Array]
    curves: Curves
    likely: Array  # (multiples, draws and curves)

    @classmethod
    def of(
        cls, row: PoolRow, rows: MeasuredRows, each: list[slice], draws: list[Array], curves: Curves
    ) -> _Weighed:
        """As far as each has the queue that was measured."""
        queues = np.array([queue[row.aliases] for queue in draws])
        both = np.concatenate([queues, curves.queues[row.aliases].reshape(MULTIPLES.size, -1)], axis=1)
        likely = _likely(both, rows)
        likely[:, queues.shape[1] :] *= curves.likely.reshape(MULTIPLES.size, -1)
        return cls(row=row, rows=rows, each=each, draws=draws, curves=curves, likely=likely)

    @property
    def likeliest(self) -> int:
        """Multiple."""
        return int(np.argmax(self.likely.sum(axis=1)))

    @property
    def stretch(self) -> Indices:
        """The volumes with all multiples."""
        return np.arange(self.each[0].start, self.each[-1].stop)

    def tied(self, pool: PoolReadings) -> PoolReadings:
        """Each draw multiplied by what it misses of the measured queue, at most three times either way."""
        many = self.draws[0].shape[1]
        kept = _counting(self.likely[:, :many]).tolist()
        drawn_there = [] if self.row.joined else [self.draws[k][self.row.aliases] for k in kept]
        there = np.concatenate([*drawn_there, self.curves.queues[self.row.aliases]])
        tie = np.exp(np.clip(-missed_by(there, self.rows)[0], -log(LARGEST_TIE), log(LARGEST_TIE)))
        fails = None if pool.fails is None else pool.fails * tie
        return replace(pool, queues=pool.queues * tie, fails=fails)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curves:
    """Queues of volumes whose bursts come together, (aliases + 1, curves); how much they do, and how likely each is.

    `fails` are the rates of I/Os that find no alias; None where nobody asked.
    """

    queues: Array
    fails: Array | None
    shares: Array
    likely: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """What volumes use if their bursts come with those of others, under each law of them."""

    law: Law
    usual: tuple[AliasUse, ...] = ()  # batches, and what their readings say in the mean
    rare: tuple[AliasUse, ...] = ()

    @classmethod
    def of(cls, readings: Readings, asks: AliasUse) -> Together:
        """Of volumes that ask so much by themselves."""
        usual = in_batches(readings).mixed, asks.mixed
        return cls(law=readings.law, usual=usual, rare=tuple(use.mixed for use in in_rare_bursts(readings)))


def _curves(
    row: PoolRow, together: Together, each: Sequence[slice], shares: Sequence[float], *, tries: bool
) -> Curves:
    """Queues under each hypothesis, `each` the volumes that it stands in, and share, all of them equally likely.

    Volumes have the distributions of batches, or what their readings say in the mean; all at once also rare bursts.
    """
    last = most_aliases(row.rate.value.size)
    unknown = bool(np.isnan(row.together).any())
    every = [row.shares(share) for share in (shares if unknown else shares[-1:])]
    common = [(use, share, 1.0) for use in together.usual for share in every] if each else []
    rare = together.rare if each and unknown and not row.joined else ()
    weight = RARE_IN_USE if row.aliases else RARE
    common += [(use, every[-1], weight / (1 - weight) * len(common) / len(rare)) for use in rare]
    cases = [(use.of(some), share) for some in each for use, share, _ in common]
    service = mean_service(row.rate.value, row.service.value)
    share_of = np.array([share.mean() for _, share in cases])
    queues, fails = np.empty((last + 1, 0)), np.empty((last + 1, 0)) if tries else None
    if cases:
        more = HELD_TOGETHER - 1.0 if row.joined else 0.0
        queues = (1.0 + more * share_of) * queued(cases, last, together.law, service)
        fails = np.array([failing(use, last, share) for use, share in cases]).T if tries else None
    return Curves(
        queues=queues,
        fails=fails,
        shares=share_of,
        likely=np.tile([weight for *_, weight in common], len(each)),
    )


def read_pool_at_several(
    rows: Sequence[PoolRow], *, law: Law, growth: float = 0.0, tries: bool = False
) -> PoolReadings:
    """Read the volumes of one pool measured with several numbers of aliases.

    The row with the fewest aliases is read as by `read_pools`; each draw, and each share of bursts that come together,
    counts as far as it has the queues that were measured with the other counts, to the error of the law of the queue
    and the digits. Then its queues are tied to the measurements next to them: multiplied by what they miss there, at
    most three times either way.
    """
    first, *others = sorted(rows, key=lambda row: row.aliases)
    if not others:
        return read_pools([first], law=law, growth=growth, tries=tries)[0]

    def read(growth: float) -> PoolReadings:
        if first.aliases:
            return _read_in_use([first], law, np.array([growth]), DRAWS, tied=False, tries=tries)[0]
        shares = () if first.joined else MORE_SHARES
        # Rows with aliases in use weigh the draws: by 512 of them the count of 18 random pools deviates by up to 2.8.
        return _read_alone([first], law, np.array([growth]), 512, shares, tries=tries)[0]

    found = read(0.0)
    likely = found.likely
    rows_of = tuple((row.aliases, make_rows(row.rate, row.service, row.queue, 0)) for row in others)
    ties = {0: np.zeros(likely.size)}
    if first.aliases:
        ties = {first.aliases: _tie(found, first.aliases, found.readings.rows)}
    for aliases, measured in rows_of:
        likely = likely * np.exp(
            -0.5 * misfit(found.queues[min(aliases, found.queues.shape[0] - 1)], measured) ** 2
        )
        ties[aliases] = _tie(found, aliases, measured)
    shares = _pace_shares(found, rows_of[-1][1])
    if growth:
        found = read(growth)
    # Between two measured counts the logarithms of what draws miss are interpolated; more aliases, less queue.
    every = np.arange(found.queues.shape[0])
    between = np.array([np.interp(every, list(ties), one) for one in np.eye(len(ties))]).T
    tied = found.queues * np.exp(between @ np.array(list(ties.values())))
    queues = np.maximum.accumulate(tied[::-1], axis=0)[::-1]
    fails = found.fails
    if fails is not None:
        fails = fails * np.divide(queues, found.queues, out=np.ones_like(queues), where=found.queues > 0)
    likely = likely / likely.max() if likely.max() > 0 else found.likely
    return _paced(replace(found, queues=queues, fails=fails, likely=likely, others=rows_of), shares)


def _tie(pool: PoolReadings, aliases: int, rows: MeasuredRows) -> Array:
    """Logarithm of what the queue of each draw is to be multiplied by with so many aliases, (draws,)."""
    missed, _ = missed_by(pool.queues[min(aliases, pool.queues.shape[0] - 1)], rows)
    return np.asarray(np.clip(-missed, -log(LARGEST_TIE), log(LARGEST_TIE)))


def _pace_shares(pool: PoolReadings, rows: MeasuredRows) -> tuple[float, float]:
    """How much of what aliases would change of rate and service time a row with aliases shows, between 0 and 1.

    Both go from their value without aliases to that with enough in proportion to the queue that is gone, q: a row says
    of the end value ``(measured - (1 - q) before) / q``. A row with nearly the whole queue says nothing.
    """
    gone = 1.0 - min(float(rows.queue.sum()) / max(float(pool.alone.sum()), 1e-300), 1.0)
    if gone < LEAST_GONE:
        return 1.0, 1.0

    def share(measured: float, before: float, read: float) -> float:
        said = (measured - before) / gone
        return min(max(said / (read - before), 0.0), 1.0) if read > before else 1.0

    rate, (before, after) = float(rows.rate.sum()), services(pool)
    return (
        share(rate, float(pool.alone_rate.sum()), float(pool.rate.sum())),
        share(mean_service(rows.rate, rows.service), before, after),
    )


def _paced(pool: PoolReadings, shares: tuple[float, float]) -> PoolReadings:
    """With so much of the rise of rate and service time."""
    before, after = services(pool)
    rate = pool.alone_rate + (pool.rate - pool.alone_rate) * shares[0]
    service = before + (after - before) * shares[1]
    return replace(pool, rate=rate, busy=pool.busy * (service * rate.sum() / pool.busy.sum()))


def _counting(likely: Array) -> Indices:
    """Hypotheses that count, of their draws' weights (hypotheses, draws)."""
    share = likely.sum(axis=1) / likely.sum()
    return np.flatnonzero(share > LEAST_SHARE)


def _pool(
    row: PoolRow, readings: Readings, asks_of: Sequence[AliasUse], alone: Sequence[Array], likely: Array, *,
    curves: Curves, draws: Sequence[Array] | None = None,
) -> PoolReadings:  # fmt: skip
    """Draws of several hypotheses side by side, `likely` (hypotheses, draws), and curves; means over all hypotheses."""
    last = most_aliases(readings.volumes)
    share, kept = likely.sum(axis=1) / likely.sum(), _counting(likely).tolist()

    def mean(values: Sequence[Array]) -> Array:
        return np.asarray(sum(share[k] * values[k] for k in kept) / share[kept].sum())

    chosen = [] if row.joined else kept
    # All curves together have a set part of the weight of all draws.
    weight = likely.shape[1] * likely.shape[0] / max(curves.likely.size, 1) * TOGETHER / (1 - TOGETHER)
    queues = np.concatenate(
        [*(drawn(asks_of[k], last, likely.shape[1]) if draws is None else draws[k] for k in chosen), curves.queues],
        axis=1,
    )  # fmt: skip
    fails = None
    if curves.fails is not None:
        fails = np.concatenate(
            [*(drawn_fails(asks_of[k], last, likely.shape[1]) for k in chosen), curves.fails], axis=1
        )
    nothing = np.flatnonzero(queues.max(axis=1) <= NOTHING)
    counts = max(int(nothing[0]) + 1 if nothing.size else last + 1, row.aliases + 2)
    return PoolReadings(
        readings=readings, in_use=row.aliases, queues=queues[:counts],
        fails=None if fails is None else fails[:counts],
        shares=np.append(np.zeros(likely[chosen].size), curves.shares),
        likely=np.append(likely[chosen], weight * curves.likely), crowd=mean([asks.second_moment for asks in asks_of]),
        busy=mean([asks.mean(asks.busy) for asks in asks_of]), rate=mean([asks.mean(asks.rate) for asks in asks_of]),
        alone=_at_least(mean(alone), readings.rows.queue.sum() if row.aliases else 0.0),
        alone_rate=mean([asks.mean(asks.alone_rate) for asks in asks_of]),
    )  # fmt: skip


def _at_least(alone: Array, queued: float) -> Array:
    """Queues without aliases, together no shorter than was measured with them."""
    return np.asarray(alone * max(1.0, queued / max(float(alone.sum()), 1e-300)))


def _as_without(rows: MeasuredRows, parts: Sequence[slice], law: Law) -> Readings:
    """Readings as if without aliases of rows measured with some; of each pool for each multiple of the Poisson wait."""
    volumes = np.concatenate([np.tile(np.arange(part.start, part.stop), MULTIPLES.size) for part in parts])
    sizes = np.array([part.stop - part.start for part in parts])
    multiple = np.concatenate([np.repeat(np.exp(MULTIPLES), size) for size in sizes])
    # Pool and multiple that each row belongs to: their queues are one sum.
    group = np.repeat(np.arange(MULTIPLES.size * sizes.size), np.repeat(sizes, MULTIPLES.size))
    queued = np.repeat(np.add.reduceat(rows.queue, [part.start for part in parts]), MULTIPLES.size)
    measured = rows.of(volumes)

    def read(rate: Array, service: Array) -> Readings:
        poisson = open_queue(rate * service, law.redrive_time / service)
        # Waits of more than 12 service times would be read as phases of overload.
        queue = np.minimum(multiple * poisson, np.maximum(12.0 * rate * service, poisson))
        alone = replace(measured, rate=rate, service=service, queue=queue, queue_low=queue, queue_high=queue)
        return read_rows(alone, law, COARSE, priors.ONE_ROW)

    def reached(readings: Readings) -> tuple[Array, Array, Array]:
        """Share of the queue that is left, rate with the aliases in use, growth of the service time with enough."""
        waiting = np.bincount(group, weights=readings.rows.queue)
        left = np.minimum(queued / waiting, 1.0)[group]
        free, slow, growth = service_rates(readings)
        return left, left * slow + (1 - left) * free, np.maximum(growth, 1.0)

    # Rate and service were measured with the aliases in use, the readings are of volumes without: the rate is sought
    # that those aliases raise to the measured one. Two guesses make a line, in logarithms.
    first = read(measured.rate, measured.service)
    left, before, growth = reached(first)
    rate = measured.rate * measured.rate / before
    second = read(rate, measured.service / growth ** (1 - left))
    left, after, growth = reached(second)
    step = along(np.log(before / measured.rate), np.log(before / after))
    rate = measured.rate * (rate / measured.rate) ** step
    return read(rate, measured.service / growth ** (1 - left))


def along(wanted: Array, risen: Array) -> Array:
    """Steps along the line through two guesses: what is wanted over what the first brought; 1 where it is level."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(risen > LEAST_RISE, wanted / risen, 1.0)
    return np.asarray(np.clip(step, 0.0, 1.5))  # not far beyond the second guess


def _likely(queues: Array, rows: MeasuredRows) -> Array:
    """How likely the queue that was measured with the aliases in use is under each draw, (multiples, draws)."""
    # Before the queue is known the usual multiple is exp(.8), with a standard deviation of 1 in its logarithm.
    off = misfit(queues, rows) ** 2 + ((MULTIPLES - 0.8) ** 2)[:, None]
    found: Array = np.exp(-0.5 * (off - off.min()))
    return found


def open_queue(load: Array, gap: Array) -> Array:
    """Queue of Poisson arrivals at one device, the load held below saturation."""
    load = np.minimum(load, 0.97 / (1 + gap))
    one = np.ones_like(load)
    found: Array = chains.batches(chains.DeviceStation(most=1, inflation=0.0, gap=gap), load, one, one).queue[
        0
    ]
    return found


def _bounded(readings: Readings) -> Readings:
    """Volumes that never idle are read with a wait of three services: what they ask beyond is unknown."""
    saturated = np.flatnonzero(readings.saturated)
    if saturated.size == 0:
        return readings
    waits = readings.rows.queue / (readings.rows.rate * readings.rows.service)
    waits[saturated] = 3.0  # service times
    found = with_queues(readings, np.arange(readings.volumes), waits)
    return replace(found, rows=readings.rows)
