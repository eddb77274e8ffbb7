"""The same demands as plain Markov chains: states and moves one by one, solved as a linear system."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

Moves = Callable[[tuple[int, ...]], Iterable[tuple[tuple[int, ...], float]]]


def service_rate(n: int, devices: int, inflation: float, gap: float) -> float:
    """Rate of service with n I/Os at the volume."""
    if n <= devices:
        return n / (1 + inflation * (n - 1)) if n else 0.0
    return devices / (1 + inflation * (devices - 1) + gap)


def stationary(states: list[tuple[int, ...]], moves: Moves) -> np.ndarray:
    """Distribution of a chain; a move out of the states is left out."""
    index: dict[Hashable, int] = {state: k for k, state in enumerate(states)}
    rows, columns, rates = [], [], []
    for state, k in index.items():
        for target, rate in moves(state):  # type: ignore[arg-type]
            if target in index and rate > 0:
                rows += [index[target], k]
                columns += [k, k]
                rates += [rate, -rate]
    size = len(states)
    matrix = coo_matrix((rates, (rows, columns)), shape=(size, size)).tolil()
    matrix[0, :] = 1.0
    right = np.zeros(size)
    right[0] = 1.0
    return spsolve(matrix.tocsc(), right)


def figures(
    states: list[tuple[int, ...]], moves: Moves, devices: int, inflation: float, gap: float
) -> tuple[float, float, float, float]:
    """Rate, queue, in gap and in service; the first number of a state is how many I/Os are present."""
    chances = stationary(states, moves)
    present = np.array([state[0] for state in states])
    rate = sum(p * service_rate(n, devices, inflation, gap) for p, n in zip(chances, present, strict=True))
    queue = chances @ np.maximum(present - devices, 0)
    growth = 1 + inflation * (devices - 1)
    in_gap = (chances @ (present > devices)) * devices * gap / (growth + gap)
    return float(rate), float(queue), float(in_gap), float(chances @ np.minimum(present, devices) - in_gap)
