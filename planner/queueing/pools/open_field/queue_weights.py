"""Weights of one volume by what waits behind its base, and the queues of the pool at which they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.results import Array

EVERY: Final = 12
"""Queues up to which every one has its law; from there on it is interpolated in the logarithm."""
PER_OCTAVE: Final = 4
"""Queues an octave beyond those."""
FEWEST_POINTS: Final = 32
"""Points of a transform at least."""
STEEPEST: Final = 60.0
"""Bound on the change of ln theta."""
CLOSE: Final = 0.03
"""Relative error of the mean queue at which all theta are met."""
FLAT: Final = 1e-9
"""Least slope that it is divided by."""
MAX_STEPS: Final = 60
"""Steps to that at most."""
LEAST_SHARE: Final = 0.02
"""Least share of the requesters of a volume that is counted on to think."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters of the law at some queues, shape (classes, queues) each."""

    log_busy: Array  # ln x, of a busy volume without a queue [1]
    log_more: Array  # ln theta, of each I/O more; the law does not change when all classes change alike [1]
    # Mean requesters of a busy volume that neither its base nor an alias serves, inf for open classes [1]
    spare: Array
    longest: Array  # The longest queue of one volume, inf for open classes, shape (classes, 1) [1]

    @classmethod
    def begin(cls, log_rates: Array, longest: Array) -> Weights:
        """Both weights are the arrivals, as in a product form."""
        return cls(log_rates, log_rates, longest + np.zeros_like(log_rates), longest)

    def part(self, part: slice | NDArray[np.bool_]) -> Weights:
        """Weights at some of the queues."""
        return Weights(self.log_busy[:, part], self.log_more[:, part], self.spare[:, part], self.longest)

    def moved(self, by: Array) -> Weights:
        """Both weights changed by some steps, shape (2 classes, queues)."""
        classes = self.longest.size
        return replace(self, log_busy=self.log_busy + by[:classes], log_more=self.log_more + by[classes:])

    def replaced(self, some: NDArray[np.bool_], by: Weights) -> Weights:
        """Weights of others at some of the queues."""
        return replace(
            self,
            log_busy=np.where(some, by.log_busy, self.log_busy),
            log_more=np.where(some, by.log_more, self.log_more),
        )

    def at(self, wanted: Array, known: Array) -> Weights:
        """Weights at other queues, by interpolation in their logarithm."""
        at, nodes = np.log(wanted), np.log(known)
        log_busy, log_more, spare = (
            np.array([np.interp(at, nodes, row) for row in rows])
            for rows in (self.log_busy, self.log_more, self.spare)
        )
        return Weights(log_busy, log_more, spare, self.longest)


def some_queues(longest: int) -> Array:
    """Queues at which the law is evaluated."""
    first = np.arange(1.0, min(EVERY, longest) + 1.0)
    octaves = max(np.log2(longest / EVERY), 0.0)
    later = EVERY * 2.0 ** np.linspace(0.0, octaves, 1 + int(np.ceil(PER_OCTAVE * octaves)))
    return np.unique(np.concatenate([first, np.rint(later[1:])]))


def met_by(weights: Weights, queues: Array, aliases: ArrayLike, volumes: Array) -> Weights:
    """Change all theta alike, such that volumes on their own would have each queue on average."""
    log_more = weights.log_more.copy()
    by_queue = at_each(aliases, queues)
    for part, _ in octaves(queues):
        queue = queues[part]
        low, high = np.full(queue.size, -STEEPEST), np.full(queue.size, STEEPEST)
        shift, some = np.zeros(queue.size), weights.part(part)
        for _ in range(MAX_STEPS):
            moved = replace(some, log_more=some.log_more + shift)
            _, weight, rest, count = volumes_apart(queue, by_queue[..., part], moved)
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
    return replace(weights, log_more=log_more)


def octaves(queues: Array) -> Iterator[tuple[slice, int]]:
    """Group queues by the points that their transforms need."""
    points = np.maximum(FEWEST_POINTS, 2.0 ** np.ceil(np.log2(2.0 * queues + 2.0))).astype(np.int64)
    starts = np.flatnonzero(np.diff(points, prepend=0))
    for start, end in zip(starts, [*starts[1:], queues.size], strict=True):
        yield slice(int(start), int(end)), int(points[start])


def at_each(aliases: ArrayLike, queues: Array) -> Array:
    """Aliases at each queue, shape (queues,) or (classes, queues)."""
    given = np.asarray(aliases, dtype=np.float64)
    return np.broadcast_to(given, (*given.shape[:-1], queues.size))


def volumes_apart(queue: Array, aliases: Array, weights: Weights) -> tuple[Array, Array, Array, Array]:
    """Weights of volumes on their own, scaled for each class and queue to 1 at most."""
    count = np.arange(queue[-1] + 1.0)
    log_busy = weights.log_busy[:, :, None]
    falling = np.cumsum(np.log1p(count * (aliases / queue)[..., None]), axis=-1)
    exponent = log_busy + weights.log_more[:, :, None] * count - falling
    closed = np.flatnonzero(np.isfinite(weights.longest[:, 0]))
    if closed.size:
        fewer = 1.0 - count[:-1] / np.maximum(weights.spare[closed, :, None], LEAST_SHARE)
        exponent[closed, :, 1:] += np.cumsum(np.log(np.maximum(fewer, LEAST_SHARE)), axis=2)
    possible = (count <= queue[:, None]) & (count <= weights.longest[:, :, None])
    exponent = np.where(possible, exponent, -np.inf)
    largest = np.maximum(exponent.max(axis=2), 0.0)[:, :, None]
    return log_busy, np.exp(exponent - largest), np.exp(-largest), count
