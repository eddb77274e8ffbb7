"""How much the bursts of a pool's volumes come together: one number, from 0 (independent) to 1 (all at once).

With unlimited servers volume v has U_v aliases in use, of distribution F_v, whatever the others do. A Gaussian copula
joins them: U_v = F_v^-1(Phi(sqrt(r) G + sqrt(1 - r) e_v)), with G common to the pool and e_v a volume's own. No figure
of a volume alone depends on r; the sum O of the aliases in use has the same mean for every r, its tail grows with r.

What lies beyond A aliases queues, and stays longer than unlimited servers would hold it. Of a batch of X exponential
services they hold X - D - D ln(X / D) beyond D, the integral of (X exp(-t) - D)+; D devices work it off one by one,
(X - D)^2 / 2D. The second over the first is R = 1 + 2m / D to a few percent, for any exponential tail of sizes, with
m = E[O - A | O > A], the mean of what lies beyond while something does. With A aliases and the bases of V volumes
R = (A + 2m) / (A + V). Where the n I/Os of a volume slow each other, s = 1 + h (n - 1), both drain less fast, and with
the gap g of a device that begins the next one R becomes R (s + g) / (s + (R - 1) h n), with n = (A + V) / V.

Given G the volumes are independent: their distributions are convolved, and averaged over G by the trapezoidal rule.
With r = 1 all are quantiles of one uniform number, and the sum of their inverse distributions is exact.
What comes at all volumes at once is a batch, so that with r above 0 volumes have the distributions of batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from planner.demand import inversion, kinds
from planner.demand.candidates import Candidates
from planner.demand.device_model import DeviceModel
from planner.demand.kinds import Demands, Layout
from planner.demand.read import effective_queue
from planner.demand.unlimited import AliasUse, alias_use
from planner.results import Array

Spectrum = NDArray[np.complex128]
FAILED: Final = 1.08  # I/Os without alias, of those with unlimited servers: what waits holds them longer
LEAST_TAIL: Final = 1e-12  # of a distribution
RARE_SHARES: Final = (0.3, 0.15)  # of the I/Os of a volume that come in rare bursts of all of them


def in_batches(candidates: Candidates) -> AliasUse:
    """What volumes use if their bursts come with those of others: then they are batches, where there are any."""
    batches = candidates.layout.kind == kinds.BATCHES
    there = (candidates.weight[:, batches] > 0).any(axis=1, keepdims=True)
    return alias_use(replace(candidates, weight=np.where(there, 1.0 * batches, candidates.weight)))


def in_rare_bursts(candidates: Candidates) -> list[AliasUse]:
    """What volumes use if most I/Os are steady and bursts rare, large, of long tails, for each of `RARE_SHARES`."""
    rows, width = candidates.rows, len(RARE_SHARES)
    known = np.isfinite(rows.queue_high) & ~candidates.steady & ~candidates.saturated
    rare = Layout(kind=np.full(width, kinds.LONG), number=np.array(RARE_SHARES), own=np.ones(width))
    queue = np.where(known, effective_queue(rows), 0.0)
    demands, service = inversion.invert(replace(rows, queue=queue), rare, candidates.device_model)
    growth = np.broadcast_to(candidates.growth, known.shape)[:, None]
    every = replace(
        candidates,
        layout=Layout.joined([candidates.layout, rare]),
        demands=Demands.joined([candidates.demands, demands.grown(growth)], axis=-1),
        service_time=np.concatenate([candidates.service_time, service], axis=1),
    )
    found = []
    for there in (known[:, None] & np.isfinite(demands.batch)).T[:, :, None] * np.eye(width)[:, None]:
        left = np.where(there.any(axis=1, keepdims=True), 0.0, candidates.weight)
        found.append(alias_use(replace(every, weight=np.concatenate([left, there], axis=1))))
    return found


def queued(
    cases: Sequence[tuple[AliasUse, ArrayLike]], most: int, device_model: DeviceModel, service: float
) -> Array:
    """I/Os queued with 0 to `most` aliases where bursts come together to a share, (most + 1, cases).

    Each case is what the volumes of the pool use, and the share, one or one a volume.
    """
    found = [_joint(_distributions(use)[0], share) for use, share in cases]
    chances = np.zeros((len(cases), max(each.size for each in found)))
    for row, each in zip(chances, found, strict=True):
        row[: each.size] = each
    excess, longer = mean_excess(chances, most), above(chances, most)
    mean = np.divide(excess, longer, out=np.zeros_like(excess), where=longer > 0)
    aliases = np.arange(most + 1.0)
    active = 1.0 + np.array([[np.mean(np.asarray(share)) * (use.volumes - 1)] for use, share in cases])
    each = (aliases + active) / active
    growth = 1.0 + device_model.inflation * (each - 1.0)
    ratio = np.maximum((aliases + 2.0 * mean) / (aliases + active), 1.0)
    slowed = (growth + device_model.redrive_time / service) / (
        growth + (ratio - 1.0) * device_model.inflation * each
    )
    return np.asarray(excess * ratio * slowed).T


def beyond(use: AliasUse, most: int, share: ArrayLike) -> Array:
    """E[(O - A)+] [I/Os] for 0 to `most` aliases, (most + 1,), where bursts come together to a share."""
    (distributions,) = _distributions(use)
    return mean_excess(_joint(distributions, share), most)


def failing(use: AliasUse, most: int, share: ArrayLike) -> Array:
    """Rate of I/Os that find no alias, (most + 1,) [1/s]: as many as end at aliases while more than A are in use."""
    distributions, ends = _distributions(use, use.ends)
    return above(FAILED * _joint(distributions, share, ends), most)


def _distributions(use: AliasUse, *values: Array) -> tuple[Array, ...]:
    """Distribution of the aliases in use of each volume, (numbers, volumes), and means of values given this many."""
    every = np.array([use.mean(each) for each in (use.usage, *values)])
    distributions, *others = every[:, : int(np.flatnonzero(every[0].max(axis=1) > LEAST_TAIL)[-1]) + 1]
    return distributions / distributions.sum(axis=0), *(
        np.divide(each, distributions, out=np.zeros_like(distributions), where=distributions > 0)
        for each in others
    )


def _joint(distributions: Array, share: ArrayLike, rates: Array | None = None) -> Array:
    """Chances of O = 0, 1, 2, ...; with the `rates` at which I/Os end at each volume, their rate at each O."""
    shares = np.broadcast_to(np.asarray(share, dtype=np.float64), distributions.shape[1:])
    return (
        _all_at_once(distributions, rates) if (shares >= 1.0).all() else _partly(distributions, shares, rates)
    )


def above(rates: Array, most: int) -> Array:
    """Sums of values of O above A, (..., numbers), for A from 0 to `most`, (..., most + 1)."""
    found = np.zeros((*rates.shape[:-1], max(rates.shape[-1], most + 1)))
    found[..., : rates.shape[-1] - 1] = np.cumsum(rates[..., :0:-1], axis=-1)[..., ::-1]
    return found[..., : most + 1]


def mean_excess(chances: Array, most: int) -> Array:
    """E[(O - A)+] for A from 0 to `most`, (..., most + 1), from the chances of O = 0, 1, ..., (..., numbers)."""
    longer = np.cumsum(chances[..., ::-1], axis=-1)[..., ::-1]
    return above(longer, most)  # chances of n and more, summed over n above A


def _all_at_once(distributions: Array, rates: Array | None = None) -> Array:
    """Chances of 0, 1, 2, ... aliases in use by volumes that all follow one uniform number.

    As that number rises it passes the ends of the chances of all volumes one by one, and O rises by 1 at each.
    """
    ends = np.minimum(np.cumsum(distributions, axis=0), 1.0)[:-1].ravel()
    order = np.argsort(ends, kind="stable")
    chances = np.diff(ends[order], prepend=0.0, append=1.0)
    if rates is None:
        return chances
    rises = np.diff(rates, axis=0).ravel()[order]
    return np.asarray(chances * np.cumsum(np.append(rates[0].sum(), rises)))


def _partly(distributions: Array, shares: Array, rates: Array | None = None) -> Array:
    """The same for volumes that are independent given a common normal number."""
    # With a share of 1 beside smaller ones the sum over G would have steps.
    shares = np.minimum(shares, 0.99)
    largest = float(shares.max())
    # Half of this step moves a mean by less than 1e-5.
    nodes = np.arange(-5.0, 6.0, 0.8 * np.sqrt(1.0 - largest)) if largest > 0.0 else np.zeros(1)
    weights = np.exp(-(nodes**2) / 2)
    at = ndtri(np.minimum(np.cumsum(distributions, axis=0), 1.0)).T[:, None]
    at[..., -1] = np.inf
    common, own = (np.sqrt(each)[:, None, None] for each in (shares, 1.0 - shares))
    given = np.diff(ndtr((at - common * nodes[:, None]) / own), prepend=0.0)  # (volumes, nodes, numbers)
    distribution = np.zeros(distributions.shape[1] * (distributions.shape[0] - 1) + 1)
    longest = np.minimum(_hardly_exceeded(given, np.log(weights) - np.log(LEAST_TAIL)), distribution.size)
    lengths = 2 ** np.ceil(np.log2(longest + 1)).astype(np.int64)
    for length in np.unique(lengths).tolist():
        some = lengths == length
        parts = np.fft.rfft(given[:, some], n=length)
        if rates is None:
            product = np.prod(parts, axis=0)
        else:
            ends = np.fft.rfft(given[:, some] * rates.T[:, None], n=length)
            product = one_of(zip(parts, ends, strict=True))[1]
        found = np.fft.irfft(weights[some] / weights.sum() @ product, n=length)[: distribution.size]
        distribution[: found.size] += found
    return np.maximum(distribution, 0.0)


def _hardly_exceeded(distributions: Array, unlikely: Array) -> Array:
    """What sums over the first axis exceed with a chance of at most ``exp(-unlikely)``, (...,): Chernoff's bound.

    ``P(S >= n) <= E[exp(t S)] exp(-t n)`` for every t above 0, of which the least n counts.
    """
    rates = 0.5 ** np.arange(1.0, 9.0)
    powers = np.exp(np.arange(float(distributions.shape[-1]))[:, None] * rates)
    return np.asarray(((np.log(distributions @ powers).sum(axis=0) + unlikely[:, None]) / rates).min(axis=-1))


def one_of(pairs: Iterable[tuple[Spectrum, Spectrum]]) -> tuple[Spectrum, Spectrum]:
    """Product of all first parts, and the sum of the products in which one of them is the second part."""
    product, sums = np.ones(1, dtype=np.complex128), np.zeros(1, dtype=np.complex128)
    for first, second in pairs:
        product, sums = product * first, sums * first + product * second
    return product, sums
