"""The law of how the queue lies on open volumes, against the sums written out for a small pool."""

from itertools import product

import numpy as np

from planner.queueing.pools.open_field.queue_law import queue_law
from planner.queueing.pools.open_field.queue_weights import Weights, met_by

VOLUMES = np.array([1.0, 2.0])
CLASS = (0, 1, 1)
ALIASES = 2
LOG_BUSY = np.log([[1.4], [0.5]])
LOG_MORE = np.log([[1.0], [0.4]])
NO_END = np.full((2, 1), np.inf)


def written_out(queue):
    """Every state of the three volumes (-1 idle, else what waits behind the base) and its probability."""
    states = [s for s in product(range(-1, queue + 1), repeat=3) if sum(max(n, 0) for n in s) == queue]
    weights = []
    for state in states:
        weight = 1.0
        for k, n in zip(CLASS, state, strict=True):
            if n >= 0:
                fall = np.prod([1.0 + i * ALIASES / queue for i in range(1, n + 1)])
                weight *= np.exp(LOG_BUSY[k, 0] + n * LOG_MORE[k, 0]) / fall
        weights.append(weight)
    return np.array(states), np.array(weights) / np.sum(weights)


def test_law_is_the_sum_over_states_and_newton_finds_its_weights():
    queues = np.array([1.0, 2.0, 5.0, 9.0])
    shape = np.zeros_like(queues)
    half, zero = np.full((2, 4), 0.5), np.zeros((2, 4))
    weights = met_by(
        Weights(LOG_BUSY + shape, LOG_MORE + shape, NO_END + shape, NO_END), queues, ALIASES, VOLUMES
    )
    law, _ = queue_law(queues, ALIASES, VOLUMES, weights, half, half)
    for i, queue in enumerate(queues):
        states, chance = written_out(int(queue))
        none, waits = states <= 0, np.maximum(states, 0)
        for k, v in ((0, 0), (1, 1)):
            np.testing.assert_allclose(law.busy[k, i], chance @ (states[:, v] >= 0), rtol=1e-8)
            np.testing.assert_allclose(law.mean[k, i], chance @ waits[:, v], rtol=1e-8)
            with_queue = chance @ (states[:, v] > 0) / law.busy[k, i]
            np.testing.assert_allclose(law.with_queue[k, i], with_queue, rtol=1e-8)
        for k, j, v, w in ((0, 1, 0, 1), (1, 0, 1, 0), (1, 1, 1, 2)):
            both = chance @ (none[:, v] & none[:, w]) / (chance @ none[:, v]) / (chance @ none[:, w])
            np.testing.assert_allclose(law.none_beside_none[k, j, i], both, rtol=1e-7, atol=1e-12)
            beside = chance @ (waits[:, v] * none[:, w]) / (chance @ none[:, w]) / (chance @ waits[:, v])
            np.testing.assert_allclose(law.mean_beside_none[k, j, i], beside, rtol=1e-7)
    found = met_by(Weights(zero, zero, NO_END + zero, NO_END), queues, ALIASES, VOLUMES)
    for _ in range(12):
        again, found = queue_law(queues, ALIASES, VOLUMES, found, law.busy, law.mean)
    np.testing.assert_allclose(again.busy, law.busy, rtol=1e-7)
    np.testing.assert_allclose(again.mean, law.mean, rtol=1e-7)
