"""The law of the queue at one busy-base volume of an open pool, given its mean and how many wait in the pool."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.results import Array

LONGEST: Final = 3000
"""Longest queue of one volume that is told apart."""
DENSE_NODES: Final = 12
SPARSE_NODES: Final = 36
MAX_NEWTON: Final = 60
CLOSE: Final = 1e-9
TINY: Final = float(np.finfo(float).tiny)
POISSON: Final = 1e9
"""Parameter of the negative binomial that stands for a Poisson law."""


def nodes(longest: int) -> Array:
    """Lengths of the pool's queue at which the law is evaluated; between them it is interpolated in the logarithm.

    Parameters
    ----------
    longest : int
        Largest number waiting in the pool [1].

    Returns
    -------
    ndarray
        Increasing whole numbers from 1 to `longest` [1].
    """
    dense = np.arange(1.0, min(DENSE_NODES, longest) + 1.0)
    if longest <= DENSE_NODES:
        return dense
    sparse = np.round(np.geomspace(DENSE_NODES + 1.0, max(longest, DENSE_NODES + 1), SPARSE_NODES))
    return np.unique(np.concatenate([dense, sparse]))


def own_queue_waiting(volumes: Array, busy: Array, queue: Array, waiting: Array, pick_rate: Array) -> Array:
    """Probability that the own queue of a busy-base volume is not empty.

    Alone, the queue would be a birth-death process drained by its base (rate 1) and by aliases (`pick_rate` for each that
    waits): ``P(j) ~ theta^j / prod_{i<=j} (1 + i c)``, with theta such that the mean is right. That the pool has Q waiting
    weighs it by the chance that the other volumes have Q - j, taken as negative binomial with their mean a and the
    excess E of their variance over it, r = a^2 / E: ``prod_{i<=j} r (Q - i + 1) / (Q - i + r)``.

    Parameters
    ----------
    volumes : ndarray
        Volumes of each class, shape (classes,) [1].
    busy : ndarray
        Probability that a base is busy, shape (classes, Q) [1].
    queue : ndarray
        Mean waiting at one volume, shape (classes, Q) [1].
    waiting : ndarray
        Waiting in the pool, shape (Q,) [1].
    pick_rate : ndarray
        Rate c at which aliases take one of the waiting I/Os, relative to the rate of a base, shape (Q,) [1].

    Returns
    -------
    ndarray
        Probabilities, shape (classes, Q) [1].
    """
    mean = np.clip(queue / np.maximum(busy, CLOSE), TINY, waiting * (1.0 - CLOSE))
    bare = [_bare_law(each, waiting, pick_rate) for each in mean]
    variance = np.array([_tilted(law, each)[1] for law, each in zip(bare, mean, strict=True)])
    excess = busy * (variance + mean**2) - queue**2 - queue
    others = np.maximum(volumes @ queue - queue, CLOSE)
    others_excess = volumes @ excess - excess
    chance = np.empty_like(mean)
    for k, law in enumerate(bare):
        spread = others_excess[k] > CLOSE * others[k]
        r = np.where(spread, others[k] ** 2 / np.where(spread, others_excess[k], 1.0), POISSON)
        left = np.maximum(waiting[:, None] - np.arange(law.shape[1] - 1.0), 0.0)  # Q - i + 1
        weight = (
            np.log(np.maximum(left, TINY))
            + np.log(r)[:, None]
            - np.log(np.maximum(left - 1.0, 0.0) + r[:, None])
        )
        law[:, 1:] += np.cumsum(weight, axis=1)
        chance[k] = 1.0 - _tilted(law, mean[k])[0]
    return chance


def _bare_law(mean: Array, waiting: Array, pick_rate: Array) -> Array:
    """Logarithm of the birth-death law without theta, -inf beyond Q, shape (Q, j)."""
    longest = int(min(waiting.max(), LONGEST, 40.0 * np.ceil(mean.max()) + 40.0))
    j = np.arange(longest + 1.0)
    law = -np.cumsum(np.log1p(pick_rate[:, None] * j), axis=1)
    law[j > waiting[:, None]] = -np.inf
    return law


def _tilted(law: Array, mean: Array) -> tuple[Array, Array]:
    """Tilt each law to its mean by Newton steps in ln theta; the probability of 0 and the variance, shape (Q,)."""
    j = np.arange(float(law.shape[1]))
    log_theta = np.log(mean) - np.log1p(mean) - law[:, 1] if law.shape[1] > 1 else np.zeros_like(mean)
    probability, variance = np.empty_like(law), np.empty_like(mean)
    for _ in range(MAX_NEWTON):
        exponent = law + log_theta[:, None] * j
        probability = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        probability /= probability.sum(axis=1, keepdims=True)
        reached = probability @ j
        variance = probability @ (j * j) - reached**2
        gap = np.log(mean / np.maximum(reached, TINY))
        if float(np.abs(gap).max()) < CLOSE:
            break
        log_theta += np.clip(gap * reached / np.maximum(variance, TINY), -2.0, 2.0)
    return probability[:, 0], variance
