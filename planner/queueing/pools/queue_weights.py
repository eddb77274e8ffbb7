"""Weights of one volume by what waits behind its base, and the queues of the pool at which they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.results import Array

EVERY: Final = 12
"""Queues up to which every one has its law; from there on it is interpolated in the logarithm."""
PER_OCTAVE: Final = 4
FEWEST_POINTS: Final = 32
STEEPEST: Final = 60.0
"""Bound on the change of ln theta."""
CLOSE: Final = 0.03
FLAT: Final = 1e-9
MAX_STEPS: Final = 60


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters of the law at some queues, shape (classes, queues) each.

    Attributes
    ----------
    log_busy : ndarray
        ln x, of a busy volume without a queue [1].
    log_more : ndarray
        ln theta, of each I/O more; the law does not change when all classes change alike [1].
    """

    log_busy: Array
    log_more: Array


def some_queues(longest: int) -> Array:
    """Queues at which the law is evaluated.

    Parameters
    ----------
    longest : int
        The longest queue [1].

    Returns
    -------
    ndarray
        1, 2, ... and later on some in each octave, shape (queues,) [1].
    """
    first = np.arange(1.0, min(EVERY, longest) + 1.0)
    octaves = max(np.log2(longest / EVERY), 0.0)
    later = EVERY * 2.0 ** np.linspace(0.0, octaves, 1 + int(np.ceil(PER_OCTAVE * octaves)))
    return np.unique(np.concatenate([first, np.rint(later[1:])]))


def met_by(weights: Weights, queues: Array, aliases: int, volumes: Array) -> Weights:
    """Change all theta alike, such that volumes on their own would have each queue on average.

    Parameters
    ----------
    weights : Weights
        Weights at these queues.
    queues, aliases, volumes
        Queues above 0, rising, shape (queues,) [1]; aliases [1]; volumes of each class, shape (classes,) [1].

    Returns
    -------
    Weights
        Those with which the law is computed best.
    """
    log_more = weights.log_more.copy()
    for part, _ in octaves(queues):
        queue = queues[part]
        low, high = np.full(queue.size, -STEEPEST), np.full(queue.size, STEEPEST)
        shift = np.zeros(queue.size)
        for _ in range(MAX_STEPS):
            moved = Weights(weights.log_busy[:, part], weights.log_more[:, part] + shift)
            _, weight, rest, count = volumes_apart(queue, aliases, moved)
            whole = rest[:, :, 0] + weight.sum(axis=2)
            mean = weight @ count / whole
            missing = queue - volumes @ mean
            if float(np.abs(missing / queue).max()) < CLOSE:
                break
            low, high = np.where(missing > 0.0, shift, low), np.where(missing > 0.0, high, shift)
            slope = volumes @ (weight @ count**2 / whole - mean**2)
            newton = shift + missing / np.maximum(slope, FLAT)
            inside = (low <= newton) & (newton <= high)
            shift = np.where(inside, newton, 0.5 * (low + high))
        log_more[:, part] += shift
    return Weights(weights.log_busy, log_more)


def octaves(queues: Array) -> Iterator[tuple[slice, int]]:
    """Group queues by the points that their transforms need.

    Parameters
    ----------
    queues : ndarray
        Rising, shape (queues,) [1].

    Yields
    ------
    tuple of (slice, int)
        Some of the queues, and the points.
    """
    points = np.maximum(FEWEST_POINTS, 2.0 ** np.ceil(np.log2(2.0 * queues + 2.0))).astype(np.int64)
    starts = np.flatnonzero(np.diff(points, prepend=0))
    for start, end in zip(starts, [*starts[1:], queues.size], strict=True):
        yield slice(int(start), int(end)), int(points[start])


def volumes_apart(queue: Array, aliases: int, weights: Weights) -> tuple[Array, Array, Array, Array]:
    """Weights of volumes on their own, scaled for each class and queue to 1 at most.

    Parameters
    ----------
    queue : ndarray
        I/Os waiting in the pool, shape (queues,) [1].
    aliases : int
        Aliases [1].
    weights : Weights
        At these queues.

    Returns
    -------
    tuple of ndarray
        ln x, weights of busy volumes by what is behind the base, of idle ones, shape (classes, queues, numbers or 1),
        and the numbers behind the base, shape (numbers,).
    """
    count = np.arange(queue[-1] + 1.0)
    log_busy = weights.log_busy[:, :, None]
    falling = np.cumsum(np.log1p(count * (aliases / queue)[:, None]), axis=1)
    exponent = log_busy + weights.log_more[:, :, None] * count - falling
    exponent = np.where(count <= queue[:, None], exponent, -np.inf)
    largest = np.maximum(exponent.max(axis=2), 0.0)[:, :, None]
    return log_busy, np.exp(exponent - largest), np.exp(-largest), count
