"""How the waiting I/Os of a pool lie on its volumes: what one volume has tells about the others.

Given that Q I/Os wait, the volumes are taken as independent but for their sum: a volume is idle with weight 1, and busy
with j I/Os behind its base with weight ``x theta^j / prod_{i<=j} (1 + i A/Q)``, since aliases take each waiting I/O at
rate A/Q and the base one at rate 1; where it is closed, with s requesters to spare, times ``prod_{i<j} (1 - i/s)``.
x and theta of each class are such that it is busy, and queues, as given. For two volumes, and for Q = 1, the sum alone
decides how they depend on each other: there the law is exact.

Every expectation is a coefficient of a polynomial, read off by discrete Fourier transforms on a circle so small that
what wraps around is negligible.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.queueing.pools.open_field.queue_weights import Weights, at_each, met_by, octaves, volumes_apart
from planner.results import Array

WRAP: Final = float(np.log(1e10))
"""Logarithm of how much smaller that is which wraps around."""
LONGEST_STEP: Final = 1.0
"""Change of ln x and of ln theta in a step at most."""
SURELY: Final = 1e-9
"""Chance of being idle, and mean queue, below which they are not told from 0."""
STILL: Final = 1e-10
"""Variance below which a number is taken as constant."""
SINGULAR: Final = 1e-9
"""Added to the diagonal of the correlations, since the common theta of all classes is nearly free."""
NOISE: Final = 1e-14
"""Least sum over the circle that it is divided by."""
FAR: Final = 3.0
"""Factor between what the law has and what it should have beyond which the direction of a step is certain."""
SURE_STEP: Final = 0.5
"""Change of ln x or ln theta in a step whose direction is certain, at least."""
NEAR: Final = 0.03
"""Distance of the law from what it should be within which it is used and improved by the way."""
MAX_STEPS: Final = 30
"""Steps to the law of the queue in one pass at most."""
LOST_AFTER: Final = 10
"""Steps after which a queue that is not near yet begins again beside its neighbors."""


@dataclass(frozen=True, eq=False)
class QueueLaw:
    """What the law says at some queues."""

    busy: Array  # Probability that a volume is busy, and its mean queue, shape (classes, queues) [1]
    mean: Array
    with_queue: Array  # Probability that a busy volume has a queue, shape (classes, queues) [1]
    # Chance that another volume, of class i, has no queue where one of class k has none, relative to its chance
    # at all, shape (k, i, queues) [1]
    none_beside_none: Array
    # Mean queue of a volume of class k where another, of class i, has none, relative to its mean at all, shape
    # (k, i, queues) [1]
    mean_beside_none: Array
    # Mean queue of another volume, of class i, as an I/O that waits at one of class k sees it, shape (k, i,
    # queues) [1]
    mean_seen: Array

    def distance(self, busy: Array, mean: Array) -> Array:
        """How far it is at each queue from what it should be, shape (queues,)."""
        off_mean = np.abs(self.mean - mean) / np.maximum(mean, 1.0)
        off = np.maximum(np.abs(self.busy - busy), off_mean).max(axis=0)
        return np.where(np.isfinite(off), off, np.inf)

    def replaced(self, some: NDArray[np.bool_], by: QueueLaw) -> QueueLaw:
        """That of another one at some of the queues."""
        if not some.any():
            return self
        names = [item.name for item in fields(self)]
        return QueueLaw(*(np.where(some, getattr(by, name), getattr(self, name)) for name in names))


def fitted_queue_law(
    queues: Array,
    aliases: ArrayLike,
    volumes: Array,
    weights: Weights,
    busy: Array,
    mean: Array,
    likely: NDArray[np.bool_],
    most: int = MAX_STEPS,
) -> tuple[QueueLaw, Weights]:
    """Improve the weights until the law of the likely queues is near what it should be, and once at least."""
    law, following = queue_law(queues, aliases, volumes, weights, busy, mean)
    off = law.distance(busy, mean)
    nearest = law, weights, off
    for step in range(1, most + 1):
        lost = ~(off < NEAR) & likely
        if not lost.any():
            break
        if step % LOST_AFTER == 0 and not lost.all():
            found = met_by(following.part(~lost).at(queues, queues[~lost]), queues, aliases, volumes)
            following = following.replaced(lost, found)
        weights = following
        law, following = queue_law(queues, aliases, volumes, weights, busy, mean)
        off = law.distance(busy, mean)
        nearer = off < nearest[2]
        nearest = (
            nearest[0].replaced(nearer, law),
            nearest[1].replaced(nearer, weights),
            np.where(nearer, off, nearest[2]),
        )
    lost = ~(off < NEAR)
    return law.replaced(lost, nearest[0]), following.replaced(lost, nearest[1])


def queue_law(
    queues: Array, aliases: ArrayLike, volumes: Array, weights: Weights, busy: Array, mean: Array
) -> tuple[QueueLaw, Weights]:
    """Evaluate the law, and improve its weights by one step of Newton's method."""
    classes = volumes.size
    law = QueueLaw(
        *np.zeros((3, classes, queues.size)),
        *np.zeros((3, classes, classes, queues.size)),
    )
    steps = np.zeros((2 * classes, queues.size))
    by_queue = at_each(aliases, queues)
    for part, points in octaves(queues):
        sums = _Sums.of(queues[part], by_queue[..., part], volumes, weights.part(part), points)
        sums.write(law, queues[part], part)
        steps[:, part] = sums.newton(queues[part], volumes, busy[:, part], mean[:, part])
    return law, weights.moved(steps)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Expectations under the law; of one volume of class k, or of one of k and another of i, by queue."""

    idle: Array
    none: Array
    mean: Array
    square: Array
    idle_idle: Array
    idle_mean: Array
    mean_mean: Array
    apart_mean: Array
    apart_variance: Array

    @classmethod
    def of(cls, queue: Array, aliases: Array, volumes: Array, weights: Weights, points: int) -> _Sums:
        """Sum over the circle."""
        log_busy, weight, rest, count = volumes_apart(queue, aliases, weights)
        whole = rest[:, :, 0] + weight.sum(axis=2)
        apart_mean = weight @ count / whole
        apart_variance = weight @ count**2 / whole - apart_mean**2
        weight *= np.exp(-WRAP / points * count)
        volume = rest + np.fft.rfft(weight, points)
        mean = np.fft.rfft(weight * count, points) / volume
        square = np.fft.rfft(weight * count**2, points) / volume
        product = _product(volume, volumes, queue, points)
        idle = rest / volume
        at_idle, at_mean = product * idle, product * mean
        chance = at_idle.real.sum(axis=2)
        return cls(
            idle=chance,
            none=chance * (1.0 + np.exp(log_busy[:, :, 0])),
            mean=at_mean.real.sum(axis=2),
            square=(product * square).real.sum(axis=2),
            idle_idle=_pairs(at_idle, idle),
            idle_mean=_pairs(at_idle, mean),
            mean_mean=_pairs(at_mean, mean),
            apart_mean=apart_mean,
            apart_variance=apart_variance,
        )

    def write(self, law: QueueLaw, queue: Array, part: slice) -> None:
        """Into the arrays of the law."""
        idle = np.maximum(self.idle, SURELY)
        mean = np.maximum(self.mean, SURELY)
        law.busy[:, part] = 1.0 - self.idle
        law.mean[:, part] = self.mean
        law.with_queue[:, part] = np.clip((1.0 - self.none) / np.maximum(1.0 - self.idle, SURELY), 0.0, 1.0)
        law.none_beside_none[:, :, part] = np.clip(self.idle_idle / (idle[:, None] * idle), 0.0, 1.0)
        beside = np.swapaxes(self.idle_mean, 0, 1) / (mean[:, None] * idle)
        law.mean_beside_none[:, :, part] = np.maximum(beside, 0.0)
        law.mean_seen[:, :, part] = np.clip(self.mean_mean / mean[:, None], 0.0, queue)

    def newton(self, queue: Array, volumes: Array, busy: Array, mean: Array) -> Array:
        """Step of ln x and ln theta, shape (2 classes, queues).

        The derivatives are covariances with the number busy and the queue of each class. All theta together are free;
        they are set so that volumes on their own would have the queue on average, where the sums are best.
        """
        classes = volumes.size
        others = (volumes - np.eye(classes))[:, :, None]
        idle, own = self.idle, np.arange(classes)
        derivative = np.zeros((2, classes, 2, classes, queue.size))
        derivative[0, :, 0] = others * (self.idle_idle - idle[:, None] * idle)
        derivative[0, :, 1] = -others * (self.idle_mean - idle[:, None] * self.mean)
        derivative[1, :, 0] = -others * (np.swapaxes(self.idle_mean, 0, 1) - self.mean[:, None] * idle)
        derivative[1, :, 1] = others * (self.mean_mean - self.mean[:, None] * self.mean)
        derivative[0, own, 0, own] += (1.0 - idle) * idle
        derivative[0, own, 1, own] += self.mean * idle
        derivative[1, own, 0, own] += self.mean * idle
        derivative[1, own, 1, own] += self.square - self.mean**2
        derivative[1, :, 1] += (volumes[:, None] * self.apart_variance) / volumes.sum()
        missing = (queue - volumes @ self.apart_mean) / volumes.sum()
        gap = np.array(
            [
                np.maximum(idle, SURELY) - np.maximum(1.0 - busy, SURELY),
                np.maximum(mean, SURELY) - np.maximum(self.mean, SURELY) + missing,
            ]
        )
        matrix = np.moveaxis(derivative.reshape(2 * classes, 2 * classes, queue.size), 2, 0)
        right = gap.reshape(2 * classes, queue.size).T
        variance = np.einsum("qii->qi", matrix)
        moves = variance > STILL
        per_size = np.where(moves, 1.0 / np.sqrt(np.maximum(variance, STILL)), 0.0)
        matrix = matrix * (per_size[:, :, None] * per_size[:, None, :])
        matrix += np.where(moves, SINGULAR, 1.0)[:, :, None] * np.eye(2 * classes)
        step = np.linalg.solve(matrix, (right * per_size)[:, :, None])[:, :, 0] * per_size
        most = np.full((2 * classes, queue.size), LONGEST_STEP)
        spread = np.maximum(volumes @ self.apart_variance, STILL)
        most[classes:] = np.minimum(LONGEST_STEP, queue / spread)  # the mean moves by a queue at most
        step = np.clip(step.T, -most, most)
        has, wanted = np.concatenate([1.0 - idle, self.mean]), np.concatenate([busy, mean])
        step = np.where(has * FAR < wanted, np.maximum(step, SURE_STEP), step)
        return np.asarray(np.where(has > FAR * wanted, np.minimum(step, -SURE_STEP), step))


def _product(
    volume: NDArray[np.complex128], volumes: Array, queue: Array, points: int
) -> NDArray[np.complex128]:
    """All volumes together, weighed such that its sum over half of the circle is 1 and picks the queue."""
    turns = queue[:, None] * np.arange(points // 2 + 1) % points
    phase = np.exp(2j * np.pi * turns / points)
    phase[:, 1:-1] *= 2.0  # the other half of the circle
    logarithm = np.einsum("k,kqp->qp", volumes, np.log(volume))  # BLAS would start threads
    product = np.exp(logarithm - logarithm[:, :1].real) * phase
    return np.asarray(product / np.maximum(product.real.sum(axis=1), NOISE)[:, None])


def _pairs(left: NDArray[np.complex128], right: NDArray[np.complex128]) -> Array:
    """Sums over the circle for every pair of classes."""
    one, other = np.swapaxes(left, 0, 1), np.moveaxis(right, 0, 2)
    if one.shape[1] == 1:
        return np.asarray((left * right).real.sum(axis=2))[None]
    return np.moveaxis(one.real @ other.real - one.imag @ other.imag, 0, 2)
