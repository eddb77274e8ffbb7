"""Draws of a pool from the aliases that its volumes use: independent ones, and bursts that come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from planner.demand import kinds
from planner.demand.candidates import Candidates
from planner.demand.device_model import DeviceModel
from planner.demand.drawn_pool import (
    HELD_TOGETHER,
    DrawnPool,
    PoolRow,
    held,
    mean_service,
    most_aliases,
)
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
from planner.demand.unlimited import AliasUse
from planner.results import Array, Integers

# Prior weight of rare bursts of all volumes, of all that come together; less where rows with aliases in use leave open
# what waits without any: of all that explains their queue, rare bursts ask for the shortest wait, the most usual one.
RARE, RARE_IN_USE = 0.03, 0.01
DRAWS: Final = 128  # in 22 random pools other draws gave the same count, ends within 2
NOTHING: Final = 1e-6  # I/Os queued, from which on more aliases are not looked at
TOGETHER: Final = 0.15  # prior weight of all shares above 0
CACHED: Final = 0.2  # prior weight of volumes whose waits all come of hits and misses of one cache
ALIKE: Final = 0.6  # spread of the waits over those of Poisson arrivals, in logarithms, that one cache leaves
SLOW: Final = 0.15  # prior weight of volumes whose rates all change slowly
SAME: Final = (kinds.VARIABLE, kinds.SLOW)  # what all volumes of a pool may be at once
SAME_DRAWS: Final = 8
LEAST_SHARE: Final = 1e-3  # of a hypothesis that counts


def drawn(use: AliasUse, most: int, many: int = DRAWS, same: int = 0) -> Array:
    """I/Os queued in the whole pool with 0 to `most` aliases, (most + 1, draws), one candidate a volume each time.

    After `many` draws come `same` more for each kind that all volumes may be at once, wherever they can: behind one
    cache, their service times varying, or at rates that change slowly.
    """
    size = _length(use)
    usage = np.fft.rfft(use.usage.T, n=size)
    product = np.ones((many + len(SAME) * same, size // 2 + 1), dtype=np.complex128)
    for which in _picked(use, many, same):
        product *= usage[which]
    chances, n = np.fft.irfft(product, n=size), np.arange(size)
    mean = chances @ n
    queues = np.maximum(mean_excess(chances, most).T, 0.0)
    some = np.count_nonzero(queues.max(axis=1) > NOTHING / 4)  # `held` is about 2 at most
    queues[:some] *= held(np.arange(float(some))[:, None], mean, chances @ n**2 - mean**2)
    return queues


def drawn_fails(use: AliasUse, most: int, many: int = DRAWS, same: int = 0) -> Array:
    """Rate of I/Os that find no alias in the same draws, (most + 1, draws) [1/s]."""
    size = _length(use)
    usage, ends = (np.fft.rfft(each.T, n=size) for each in (use.usage, use.ends))
    _, sums = one_of((usage[which], ends[which]) for which in _picked(use, many, same))
    return FAILED * np.maximum(above(np.fft.irfft(sums, n=size), most).T, 0.0)


def _length(use: AliasUse) -> int:
    """Numbers that hold all sums."""
    spread = 8 * np.sqrt(use.second_moment.sum())
    return 1 << int(np.ceil(np.log2(use.usage.shape[0] + 2 * use.in_use.sum() + spread)))


def _picked(use: AliasUse, many: int, same: int) -> Integers:
    """Candidate of each volume, (volumes, draws): those of which all are the same come last."""
    alike = [_by_weight(use.only(kind), same) for kind in SAME] if same else []
    return np.concatenate([_by_weight(use, many), *alike], axis=1)


@lru_cache(maxsize=64)
def _places(volumes: int, many: int) -> Array:
    """Of each volume the middles of equal parts of its weight in an order of their own, the same ones every time."""
    order = np.random.default_rng(many).permuted(np.tile(np.arange(many), (volumes, 1)), axis=1)
    return np.asarray((order + 0.5) / many)


def _by_weight(use: AliasUse, many: int) -> Integers:
    """Candidate of each volume, (volumes, draws), by weight, of which each volume has one in total."""
    ends = np.searchsorted(use.volume, np.arange(use.volumes), side="right")[:, None]
    summed = np.append(0.0, np.cumsum(use.weight))
    before = np.append(0.0, summed[ends[:-1]])[:, None]
    return np.minimum(np.searchsorted(summed[1:], before + _places(use.volumes, many)), ends - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCurves:
    """Queues of volumes whose bursts come together, (aliases + 1, curves); how much they do, and how likely each is.

    `fails` are the rates of I/Os that find no alias; None where nobody asked.
    """

    queues: Array
    fails: Array | None
    shares: Array
    likely: Array
    wanted: Array  # mean aliases in use where there are enough, (curves,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointUse:
    """Aliases that volumes use if their bursts come with those of others, under each hypothesis."""

    device_model: DeviceModel
    usual: tuple[AliasUse, ...] = ()  # batches, and what their candidates say in the mean
    rare: tuple[AliasUse, ...] = ()

    @classmethod
    def of(cls, candidates: Candidates, use: AliasUse) -> JointUse:
        """Of volumes whose use by themselves is known."""
        usual = in_batches(candidates).mixed, use.mixed
        return cls(
            device_model=candidates.device_model,
            usual=usual,
            rare=tuple(use.mixed for use in in_rare_bursts(candidates)),
        )


def curves_of(
    row: PoolRow, together: JointUse, each: Sequence[slice], shares: Sequence[float], *, tries: bool
) -> JointCurves:
    """Curves of each hypothesis, whose volumes stand in `each`, and each share, all equally likely.

    Volumes have the distributions of batches, or the mean of their candidates'; all at once also rare bursts.
    """
    last = most_aliases(row.rate.value.size)
    unknown = bool(np.isnan(row.together).any())
    every = [row.shares(share) for share in (shares if unknown else shares[-1:])]
    common = [(use, share, 1.0) for use in together.usual for share in every] if each else []
    # Rare bursts of all volumes: with aliases in use as far as they may come together, what waits shows the rest.
    possible = float(every[-1].mean()) if row.aliases else float(unknown and not row.come_together)
    weight = possible * (RARE_IN_USE if row.aliases else RARE)
    rare = together.rare if each and possible else ()
    common += [(use, every[-1], weight / (1 - weight) * len(common) / len(rare)) for use in rare]
    cases = [(use.of(some), share) for some in each for use, share, _ in common]
    service = mean_service(row.rate.value, row.service.value)
    share_of = np.array([share.mean() for _, share in cases])
    queues, fails = np.empty((last + 1, 0)), np.empty((last + 1, 0)) if tries else None
    if cases:
        more = HELD_TOGETHER - 1.0 if row.come_together else 0.0
        queues = (1.0 + more * share_of) * queued(cases, last, together.device_model, service)
        fails = np.array([failing(use, last, share) for use, share in cases]).T if tries else None
    return JointCurves(
        queues=queues,
        fails=fails,
        shares=share_of,
        likely=np.tile([weight for *_, weight in common], len(each)),
        wanted=np.array([use.in_use.sum() for use, _ in cases]),
    )


def counting(likely: Array) -> Integers:
    """Hypotheses that count, of their draws' weights (hypotheses, draws)."""
    share = likely.sum(axis=1) / likely.sum()
    return np.flatnonzero(share > LEAST_SHARE)


def pool_of(
    row: PoolRow, candidates: Candidates, uses: Sequence[AliasUse], alone: Sequence[Array], likely: Array, *,
    curves: JointCurves, draws: Sequence[Array] | None = None, same: int = 0,
) -> DrawnPool:  # fmt: skip
    """Draws of several hypotheses side by side, `likely` (hypotheses, draws), and curves; means over all hypotheses.

    Each hypothesis also has `same` draws for each kind in `SAME` in which all volumes are of that kind.
    """
    last = most_aliases(candidates.volumes)
    share, kept = likely.sum(axis=1) / likely.sum(), counting(likely).tolist()

    def mean(values: Sequence[Array]) -> Array:
        return np.asarray(sum(share[k] * values[k] for k in kept) / share[kept].sum())

    chosen, many = [] if row.come_together else kept, likely.shape[1]
    each = [drawn(uses[k], last, many, same) if draws is None else draws[k] for k in chosen]
    queues = np.concatenate([*each, curves.queues], axis=1)
    fails = None
    if curves.fails is not None:
        each = [drawn_fails(uses[k], last, many, same) for k in chosen]
        fails = np.concatenate([*each, curves.fails], axis=1)
    # All curves together have a set part of the weight of all draws, and so have volumes of the same kind.
    of_curves = many * likely.shape[0] / max(curves.likely.size, 1) * TOGETHER / (1 - TOGETHER)
    alike = np.array([CACHED / (1 - CACHED) * _alike(candidates), SLOW / (1 - SLOW)])
    of_alike = np.tile(np.repeat(many / max(same, 1) * alike, same), (len(chosen), 1))
    of_draws = np.append(likely[chosen], of_alike, axis=1).ravel()
    nothing = np.flatnonzero(queues.max(axis=1) <= NOTHING)
    counts = max(int(nothing[0]) + 1 if nothing.size else last + 1, row.aliases + 2)
    return DrawnPool(
        candidates=candidates, in_use=row.aliases, queues=queues[:counts],
        fails=None if fails is None else fails[:counts],
        shares=np.append(np.zeros(of_draws.size), curves.shares),
        likely=np.append(of_draws, of_curves * curves.likely),
        wanted=np.append(queues[0, : of_draws.size], curves.wanted),  # E[O] = E[(O - 0)+]
        second_moment=mean([use.second_moment for use in uses]),
        busy=mean([use.mean(use.busy) for use in uses]), rate=mean([use.mean(use.rate) for use in uses]),
        alone=_at_least(mean(alone), candidates.rows.queue.sum() if row.aliases else 0.0),
        alone_rate=mean([use.mean(use.alone_rate) for use in uses]),
    )  # fmt: skip


def _alike(candidates: Candidates) -> float:
    """How nearly the waits over those of Poisson arrivals are equal, weighed by the queues: 1 where exactly."""
    ratio, queue = np.log(np.maximum(candidates.ratio, 0.5)), candidates.rows.queue
    if not queue.sum() > 0:
        return 0.0
    mean = np.average(ratio, weights=queue)
    return float(np.exp(-np.average((ratio - mean) ** 2, weights=queue) / (2 * ALIKE**2)))


def _at_least(alone: Array, queued: float) -> Array:
    """Queues without aliases, together no shorter than was measured with them."""
    return np.asarray(alone * max(1.0, queued / max(float(alone.sum()), 1e-300)))
