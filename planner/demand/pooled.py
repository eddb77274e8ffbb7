"""Pools of unequal, partly bursty volumes: what all of them ask of the aliases together, with all that is possible.

With unlimited servers volumes do not touch each other: volume v asks for O_v aliases, and the pool for their sum O.
Which reading of a volume is true is not known, but what it asks of the pool differs manyfold. So a pool is drawn many
times, one reading a volume each time, by weight; count and range are quantiles (planner.demand.pool_readings). Beside
these draws of independent volumes stand those whose bursts come together (planner.demand.together), as far as that is
declared, or aliases in use and further rows show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from planner.demand.law import Law
from planner.demand.pool_draws import DRAWS, SAME_DRAWS, Together, curves_of, pool_of
from planner.demand.pool_in_use import MULTIPLES, PoolInUse, read_in_use
from planner.demand.pool_readings import PoolReadings, PoolRow, joined, mean_service, misfit, services, tie
from planner.demand.read import make_rows, read_volumes, with_queues
from planner.demand.readings import Readings
from planner.demand.rowwise import MeasuredRows
from planner.demand.unlimited import asked
from planner.results import Array

ROWS_AT_ONCE: Final = 2560  # rows of volumes that are read together: from more on nothing is gained
LEAST_GONE: Final = 0.2  # share of the queue that must be gone before rates say what they are without any
MORE_SHARES: Final = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # of bursts that come together, beside none


def read_pools(
    rows: Sequence[PoolRow], *, law: Law, growth: ArrayLike = 0.0, many: int = DRAWS, tries: bool = False,
    known: dict[int, PoolInUse] | None = None,
) -> list[PoolReadings]:  # fmt: skip
    """Read the volumes of many pools, each from one row, and what they ask of its aliases; some hundred rows at a time.

    Without aliases in use every volume is read for itself. With A in use the volumes are read as if without aliases,
    all of them with the same multiple of the wait of Poisson arrivals, for ten multiples; each draw counts as far as
    the queue that it has with A aliases is the measured one. Then it is tied to that queue, at most three times either
    way: what counts is how fast it falls with more aliases, and chance in the draws matters less. `tries` says
    whether the rates of I/Os that find no alias are wanted; `known` is as of `read_in_use`.
    """
    share = np.broadcast_to(np.asarray(growth, dtype=np.float64), (len(rows),))
    found: dict[int, PoolReadings] = {}
    batch: list[int] = []
    size = 0
    for k, row in enumerate(rows):
        batch.append(k)
        size += row.rate.value.size * (MULTIPLES.size if row.aliases else 1)
        if size >= ROWS_AT_ONCE or k == len(rows) - 1:
            for in_use, read in ((False, _read_alone), (True, partial(read_in_use, known=known))):
                some = [each for each in batch if bool(rows[each].aliases) == in_use]
                if some:
                    pools = read([rows[each] for each in some], law, share[some], many, tries=tries)
                    found.update(zip(some, pools, strict=True))
            size, batch = 0, []
    return [found[k] for k in range(len(rows))]


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
        pool_of(
            row, grown.of(part), [asks.of(part)], [alone[part]], np.ones((1, many)),
            curves=curves_of(row, together, [part] if row.joined or shares else [], shares or (0.0,), tries=tries),
            same=SAME_DRAWS,
        )
        for row, part in zip(rows, parts, strict=True)
    ]  # fmt: skip


def _bounded(readings: Readings) -> Readings:
    """Volumes that never idle are read with a wait of three services: what they ask beyond is unknown."""
    saturated = np.flatnonzero(readings.saturated)
    if saturated.size == 0:
        return readings
    waits = readings.rows.queue / (readings.rows.rate * readings.rows.service)
    waits[saturated] = 3.0  # service times
    found = with_queues(readings, np.arange(readings.volumes), waits)
    return replace(found, rows=readings.rows)


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
            return read_in_use([first], law, np.array([growth]), DRAWS, tied=False, tries=tries)[0]
        shares = () if first.joined else MORE_SHARES
        # Rows with aliases in use weigh the draws: by 512 of them the count of 18 random pools deviates by up to 2.8.
        return _read_alone([first], law, np.array([growth]), 512, shares, tries=tries)[0]

    found = read(0.0)
    likely = found.likely
    rows_of = tuple((row.aliases, make_rows(row.rate, row.service, row.queue, 0)) for row in others)
    ties = {0: np.zeros(likely.size)}
    if first.aliases:
        ties = {first.aliases: tie(_at(found, first.aliases), found.readings.rows)}
    for aliases, measured in rows_of:
        likely = likely * np.exp(-0.5 * misfit(_at(found, aliases), measured) ** 2)
        ties[aliases] = tie(_at(found, aliases), measured)
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


def _at(pool: PoolReadings, aliases: int) -> Array:
    """Queues of the draws with so many aliases, (draws,)."""
    return np.asarray(pool.queues[min(aliases, pool.queues.shape[0] - 1)])


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
