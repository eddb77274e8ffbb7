"""Pools of unequal, partly bursty volumes: the aliases that all of them use together, under all that is possible.

With unlimited servers volumes do not affect each other: volume v uses O_v aliases, the pool their sum O. Which
candidate of a volume is true is not known, and candidates differ manyfold in the aliases they use. So a pool is drawn
many times, each time with one candidate a volume, by weight; count and range are quantiles (planner.demand.drawn_pool).
Beside these draws of independent volumes stand curves of volumes whose bursts come together (planner.demand.together),
where that is declared, or further rows or aliases in use show it.

Pools measured with aliases in use are read as if they had none: the waits of all volumes are the same multiple of those
of Poisson arrivals. Draws are taken for ten multiples, weighted by how near their queue is to the measured one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from planner.demand import chains, priors
from planner.demand.candidates import Candidates
from planner.demand.device_model import DeviceModel
from planner.demand.drawn_pool import (
    DrawnPool,
    PoolRow,
    all_volumes,
    mean_service,
    misfit,
    most_aliases,
    services,
    tie,
)
from planner.demand.inversion import MeasuredRows
from planner.demand.kinds import COARSE
from planner.demand.pool_draws import (
    DRAWS,
    SAME_DRAWS,
    JointCurves,
    JointUse,
    counting,
    curves_of,
    drawn,
    pool_of,
)
from planner.demand.read import make_rows, read_rows, read_volumes, with_queues
from planner.demand.unlimited import AliasUse, alias_use, service_rates
from planner.results import Array, by_key

ROWS_AT_ONCE: Final = 2560  # rows of volumes that are read together: from more on nothing is gained
LEAST_GONE: Final = 0.2  # share of the queue that must be gone before rates say what they are without any
MORE_SHARES: Final = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # of bursts that come together, beside none
# Of the wait of Poisson arrivals, in logarithms.
MULTIPLES: Final = np.log([0.4, 0.75, 1.0, 1.5, 2.2, 3.3, 5.5, 10.0, 20.0, 50.0])
SHARES: Final = (0.5, 1.0)  # of bursts that come together, beside none
LEAST_RISE: Final = 1e-6  # between two guesses of a rate, in logarithms, that make a line


def read_pools(
    rows: Sequence[PoolRow], *, device_model: DeviceModel, growth: ArrayLike = 0.0, many: int = DRAWS,
    tries: bool = False, known: dict[int, PoolInUse] | None = None,
) -> list[DrawnPool]:  # fmt: skip
    """Candidates of the volumes of many pools, each from one row, and draws of the pools; some hundred rows at a time.

    Without aliases in use every volume is read for itself, with some by `read_in_use`, where `known` is explained; then
    each draw is tied to the measured queue, at most threefold either way, so that only its fall with more aliases
    counts. `tries`: whether the rates of I/Os that find no alias are wanted.
    """
    share = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(rows),))
    found: dict[int, DrawnPool] = {}
    sizes = [row.rate.value.size * (MULTIPLES.size if row.aliases else 1) for row in rows]
    batch = (np.cumsum(sizes) // ROWS_AT_ONCE).tolist()
    for (_, in_use), some in by_key(((batch[k], row.aliases > 0), k) for k, row in enumerate(rows)).items():
        read = partial(read_in_use, known=known) if in_use else _read_alone
        pools = read([rows[k] for k in some], device_model, share[some], many, tries=tries)
        found.update(zip(some, pools, strict=True))
    return [found[k] for k in range(len(rows))]


def _read_alone(
    rows: Sequence[PoolRow],
    device_model: DeviceModel,
    growth: Array,
    many: int,
    shares: Sequence[float] = (),
    *,
    tries: bool = False,
) -> list[DrawnPool]:
    """Pools without aliases in use; beside independent bursts those that come together to some `shares`."""
    columns, parts = all_volumes(rows)
    read = _bounded(read_volumes(*columns, device_model=device_model))
    share = np.repeat(growth, [part.stop - part.start for part in parts])
    grown = read.grown(share) if share.any() else read
    use = alias_use(grown)
    queue = use.mean(use.alone)
    alone = np.where(
        share > 0, np.maximum(queue, read.rows.queue), np.where(share < 0, queue, read.rows.queue)
    )
    wanted = [bool(shares) or row.come_together for row in rows]
    together = JointUse.of(grown, use) if any(wanted) else JointUse(device_model=device_model)
    return [
        pool_of(
            row, grown.of(part), [use.of(part)], [alone[part]], np.ones((1, many)),
            curves=curves_of(row, together, [part] * joint, shares or (0.0,), tries=tries), same=SAME_DRAWS,
        )
        for row, part, joint in zip(rows, parts, wanted, strict=True)
    ]  # fmt: skip


def _bounded(candidates: Candidates) -> Candidates:
    """Volumes that never idle are read with a wait of three service times: their demand beyond that is unknown."""
    saturated = np.flatnonzero(candidates.saturated)
    if saturated.size == 0:
        return candidates
    waits = candidates.rows.queue / (candidates.rows.rate * candidates.rows.service)
    waits[saturated] = 3.0  # service times
    found = with_queues(candidates, np.arange(candidates.volumes), waits)
    return replace(found, rows=candidates.rows)


def read_pool_at_several(
    rows: Sequence[PoolRow], *, device_model: DeviceModel, growth: float = 0.0, tries: bool = False
) -> DrawnPool:
    """Draws of one pool measured with several numbers of aliases.

    The row with the fewest aliases is read as by `read_pools`. The other rows weigh each draw, and each share of bursts
    that come together, by how near its queues are to theirs, within the errors of the digits and of the model of the
    queue. Then its queues are multiplied by what they miss at the measured counts, at most threefold either way.
    """
    first, *others = sorted(rows, key=lambda row: row.aliases)
    if not others:
        return read_pools([first], device_model=device_model, growth=growth, tries=tries)[0]

    def read(growth: float) -> DrawnPool:
        if first.aliases:
            return read_in_use([first], device_model, np.array([growth]), DRAWS, tied=False, tries=tries)[0]
        shares = () if first.come_together else MORE_SHARES
        # Rows with aliases in use weigh the draws: by 512 of them the count of 18 random pools deviates by up to 2.8.
        return _read_alone([first], device_model, np.array([growth]), 512, shares, tries=tries)[0]

    found = read(0.0)
    likely = found.likely
    rows_of = tuple((row.aliases, make_rows(row.rate, row.service, row.queue, 0)) for row in others)
    at = first.aliases
    ties = {at: tie(_at(found, at), found.candidates.rows) if at else np.zeros(likely.size)}
    for aliases, measured in rows_of:
        likely = likely * np.exp(-0.5 * misfit(_at(found, aliases), measured) ** 2)
        ties[aliases] = tie(_at(found, aliases), measured)
    shares = _rise_shares(found, rows_of[-1][1])
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
    return _risen(replace(found, queues=queues, fails=fails, likely=likely, others=rows_of), shares)


def _at(pool: DrawnPool, aliases: int) -> Array:
    """Queues of the draws with this many aliases, (draws,)."""
    return np.asarray(pool.queues[min(aliases, pool.queues.shape[0] - 1)])


def _rise_shares(pool: DrawnPool, rows: MeasuredRows) -> tuple[float, float]:
    """Fractions of the predicted changes of rate and service time that a row with aliases shows, between 0 and 1.

    Both change from their value without aliases to that with enough in proportion to the share q of the queue that is
    gone: by the row the end value is ``(measured - (1 - q) before) / q``. One with nearly all of it shows nothing.
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


def _risen(pool: DrawnPool, shares: tuple[float, float]) -> DrawnPool:
    """The pool with these fractions of the predicted rise of rate and service time."""
    before, after = services(pool)
    rate = pool.alone_rate + (pool.rate - pool.alone_rate) * shares[0]
    service = before + (after - before) * shares[1]
    return replace(pool, rate=rate, busy=pool.busy * (service * rate.sum() / pool.busy.sum()))


class Hypotheses(NamedTuple):
    """Volumes of pools under every multiple, and the aliases that they use."""

    candidates: Candidates
    use: AliasUse
    together: JointUse

    @classmethod
    def of(cls, candidates: Candidates) -> Hypotheses:
        """Of volumes that were read as if without aliases."""
        use = alias_use(candidates)
        return cls(candidates, use, JointUse.of(candidates, use))


def read_in_use(
    rows: Sequence[PoolRow], device_model: DeviceModel, growth: Array, many: int, *, tied: bool = True,
    tries: bool = False, known: dict[int, PoolInUse] | None = None,
) -> list[DrawnPool]:  # fmt: skip
    """Read pools with aliases in use, each once for all its growths; `known` keeps them by the `id` of their row."""
    known = {} if known is None else known
    _read_now(rows, device_model, many, known, tries=tries)
    weighed = [known[id(row)] for row in rows]
    found = {
        k: one.pool(one.now, one.each, one.curves, one.draws)
        for k, one in enumerate(weighed)
        if not growth[k]
    }
    read_together = by_key((id(weighed[k].now), k) for k in np.flatnonzero(growth).tolist())
    for some in read_together.values():
        which = [np.arange(weighed[k].each[0].start, weighed[k].each[-1].stop) for k in some]
        share = np.repeat(growth[some], [part.size for part in which])
        later = Hypotheses.of(weighed[some[0]].now.candidates.of(np.concatenate(which)).grown(share))
        begin = 0
        for k in some:
            each = _multiples(rows[k], begin)
            begin = each[-1].stop
            curves = curves_of(rows[k], later.together, each, SHARES, tries=tries)
            found[k] = weighed[k].pool(later, each, curves, None)
    return [one.tied(found[k]) if tied else found[k] for k, one in enumerate(weighed)]


def _read_now(
    rows: Sequence[PoolRow], device_model: DeviceModel, many: int, known: dict[int, PoolInUse], *, tries: bool
) -> None:
    """Read the pools that are not `known` yet, as they were measured, all together."""
    apart = list({id(row): row for row in rows if id(row) not in known}.values())
    if not apart:
        return
    (rate, service, queued), parts = all_volumes(apart)
    measured = make_rows(rate, service, queued, 0)
    now = Hypotheses.of(_as_without(measured, parts, device_model))
    for row, part in zip(apart, parts, strict=True):
        begin = MULTIPLES.size * part.start
        known[id(row)] = PoolInUse.of(row, measured.of(part), begin, now, many, tries=tries)


def _multiples(row: PoolRow, begin: int) -> list[slice]:
    """Where the volumes of a pool stand with each multiple."""
    volumes = row.rate.value.size
    return [slice(begin + k * volumes, begin + (k + 1) * volumes) for k in range(MULTIPLES.size)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolInUse:
    """A pool as it was measured: its draws and curves under the hypotheses `now`, and how likely they are."""

    row: PoolRow
    rows: MeasuredRows
    now: Hypotheses
    each: list[slice]  # its volumes with each multiple
    draws: list[Array]
    curves: JointCurves
    likely: Array  # (multiples, draws and curves)

    @classmethod
    def of(
        cls, row: PoolRow, rows: MeasuredRows, begin: int, now: Hypotheses, many: int, *, tries: bool
    ) -> PoolInUse:
        """Draw the volumes that begin at `begin` of the hypotheses, and weigh each draw by the measured queue."""
        each = _multiples(row, begin)
        draws = [drawn(now.use.of(some), most_aliases(row.rate.value.size), many) for some in each]
        curves = curves_of(row, now.together, each, SHARES, tries=tries)
        of_draws = np.array([queues[row.aliases] for queues in draws])
        of_curves = curves.queues[row.aliases].reshape(MULTIPLES.size, -1)
        likely = _likely(np.concatenate([of_draws, of_curves], axis=1), rows)
        likely[:, many:] *= curves.likely.reshape(MULTIPLES.size, -1)
        return cls(row=row, rows=rows, now=now, each=each, draws=draws, curves=curves, likely=likely)

    @property
    def many(self) -> int:
        """Number of draws with each multiple."""
        return int(self.draws[0].shape[1])

    def pool(
        self, some: Hypotheses, each: Sequence[slice], curves: JointCurves, draws: Sequence[Array] | None
    ) -> DrawnPool:
        """The pool as measured or grown, `each` where its volumes stand."""
        uses = [some.use.of(part) for part in each]
        likeliest = int(np.argmax(self.likely.sum(axis=1)))
        return pool_of(
            self.row, replace(some.candidates.of(each[likeliest]), rows=self.rows), uses,
            [use.mean(use.alone) for use in uses], self.likely[:, : self.many],
            curves=replace(curves, likely=self.likely[:, self.many :].ravel()), draws=draws,
        )  # fmt: skip

    def tied(self, pool: DrawnPool) -> DrawnPool:
        """Each draw multiplied by what it misses of the measured queue."""
        at = self.row.aliases
        kept = [] if self.row.come_together else counting(self.likely[:, : self.many]).tolist()
        factor = np.exp(
            tie(np.concatenate([*(self.draws[k][at] for k in kept), self.curves.queues[at]]), self.rows)
        )
        fails = None if pool.fails is None else pool.fails * factor
        return replace(pool, queues=pool.queues * factor, fails=fails)


def _as_without(rows: MeasuredRows, parts: Sequence[slice], device_model: DeviceModel) -> Candidates:
    """Candidates without aliases of rows measured with some: of each pool for each multiple of the Poisson wait."""
    volumes = np.concatenate([np.tile(np.arange(part.start, part.stop), MULTIPLES.size) for part in parts])
    sizes = np.array([part.stop - part.start for part in parts])
    multiple = np.concatenate([np.repeat(np.exp(MULTIPLES), size) for size in sizes])
    # Pool and multiple that each row belongs to: their queues are one sum.
    group = np.repeat(np.arange(MULTIPLES.size * sizes.size), np.repeat(sizes, MULTIPLES.size))
    queued = np.repeat(np.add.reduceat(rows.queue, [part.start for part in parts]), MULTIPLES.size)
    measured = rows.of(volumes)

    def read(rate: Array, service: Array) -> Candidates:
        poisson = open_queue(rate * service, device_model.redrive_time / service)
        # Waits of more than 12 service times would be read as phases of overload.
        queue = np.minimum(multiple * poisson, np.maximum(12.0 * rate * service, poisson))
        alone = replace(measured, rate=rate, service=service, queue=queue, queue_low=queue, queue_high=queue)
        return read_rows(alone, device_model, COARSE, priors.ONE_ROW)

    def reached(candidates: Candidates) -> tuple[Array, Array, Array]:
        """Share of the queue that is left, rate with the aliases in use, growth of the service time with enough."""
        waiting = np.bincount(group, weights=candidates.rows.queue)
        left = np.minimum(queued / waiting, 1.0)[group]
        free, slow, growth = service_rates(candidates)
        return left, left * slow + (1 - left) * free, np.maximum(growth, 1.0)

    # Rate and service were measured with the aliases in use, the candidates are of volumes without: the rate is sought
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
    return np.asarray(np.exp(-0.5 * (off - off.min())))


def open_queue(load: Array, gap: Array) -> Array:
    """Queue of Poisson arrivals at one device, the load held below saturation."""
    load = np.minimum(load, 0.97 / (1 + gap))
    one = np.ones_like(load)
    station = chains.DeviceStation(most=1, inflation=0.0, gap=gap)
    return np.asarray(chains.batches(station, load, one, one).queue[0])
