"""Chains of levels, eliminated without subtraction and solved by blocks.

The diagonal of a generator is minus the sum of the rates out of a state. Formed as that sum, never as a difference, it
stays accurate for rare states too (Grassmann, Taksar and Heyman 1985). Every function takes the rates between different
states of many chains; values on the diagonal are ignored.

With A_n the local block of level n, D_n its rates down, U_n the transitions of an arrival and lambda_n the arrival
rate, all levels above n act on it through

    S_n = A_n + lambda_n U_n (-S_{n+1})^-1 D_{n+1},    p_{n+1} = lambda_n p_n U_n (-S_{n+1})^-1

(Gaver, Jacobs and Latouche 1984, section 3). The diagonal of S_n is minus the sum of the rates out, so that no
digits cancel. Above level c the blocks of an open station repeat: p_{n+1} = p_n R.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from planner.errors import ConvergenceError
from planner.results import Array

Blocks = Callable[[int], tuple[Array, Array]]  # of a level: the rates within it, and down
LARGE: Final = 1e200
"""Weight relative to the first state above which weights are rescaled to avoid overflow."""


def stationary(moves: Array) -> Array:
    """Stationary distributions of chains from the rates between states, by state reduction, without subtraction.

    If a state never leads back to the states before it, those have no weight.
    """
    work = moves.copy()
    back = np.ones(work.shape[:-1])
    for last in range(work.shape[-1] - 1, 0, -1):
        back[:, last] = work[:, last, :last].sum(-1)
        work[:, :last, last] /= np.where(back[:, last] > 0.0, back[:, last], 1.0)[:, None]
        work[:, :last, :last] += work[:, :last, last, None] * work[:, last, None, :last]
    distribution = np.ones(work.shape[:-1])
    for state in range(1, work.shape[-1]):
        distribution[:, state] = (distribution[:, :state] * work[:, :state, state]).sum(-1)
        kept = back[:, state] <= 0.0
        distribution[kept, :state], distribution[kept, state] = 0.0, 1.0
        if (distribution[:, state] > LARGE).any():
            # much rarer states are negligible
            distribution[:, : state + 1] /= np.maximum(distribution[:, state, None], 1.0)
    return np.asarray(distribution / distribution.sum(-1, keepdims=True))


def dwell_times(moves: Array, leaves: Array) -> Array:
    """Mean times in the states of a level before it is left, by the state of entry.

    The inverse of a matrix with `moves` off its diagonal and dominant rows, by LAPACK unless rounding loses a pivot.
    """
    try:
        times = inverse_dominant(closed_by(moves.copy(), leaves[..., None]))
    except np.linalg.LinAlgError:
        return _dwell_long(moves, leaves)
    return times if (times >= 0).all() else _dwell_long(moves, leaves)


def _dwell_long(moves: Array, leaves: Array) -> Array:
    """As `dwell_times`, by elimination that uses the rates out of the level and so needs no subtraction.

    Grassmann, Taksar and Heyman (1985); Alfa, Xue and Ye (2002). A level that is rarely left keeps its digits.
    """
    size = moves.shape[-1]
    work, leaves, pivots = moves.copy(), leaves.copy(), np.empty_like(leaves)
    for k in range(size):
        onward, pivot = work[:, k, k + 1 :], pivots[:, k]
        pivot[:] = onward.sum(-1) + leaves[:, k]
        share = work[:, k + 1 :, k]
        share /= pivot[:, None]
        work[:, k + 1 :, k + 1 :] += share[:, :, None] * onward[:, None, :]
        leaves[:, k + 1 :] += share * leaves[:, k, None]
    times = np.broadcast_to(np.eye(size), moves.shape).copy()
    for k in range(1, size):
        times[:, k] += (work[:, k, None, :k] @ times[:, :k])[:, 0]
    for k in range(size - 1, -1, -1):
        times[:, k] += (work[:, k, None, k + 1 :] @ times[:, k + 1 :])[:, 0]
        times[:, k] /= pivots[:, k, None]
    return times


def inverse_dominant(dominant: Array) -> Array:
    """Inverse of matrices with dominant rows and only the diagonal positive; no element of it is negative.

    The transposed matrix is dominant by columns, so that elimination swaps no rows and adds only like signs.
    """
    return np.asarray(np.linalg.inv(dominant.swapaxes(-1, -2)).swapaxes(-1, -2), dtype=np.float64)


def closed_by(off_diagonal: Array, down: Array) -> Array:
    """Minus S of a level, with the rates out on its diagonal."""
    k = np.arange(off_diagonal.shape[-1])
    off_diagonal[:, k, k] = 0.0
    closed = -off_diagonal
    closed[:, k, k] = off_diagonal.sum(-1) + down.sum(-1)
    return closed


def level_ratios(
    blocks: Blocks, rise: Callable[[int, Array], Array], top: int, seen: Array | None = None
) -> list[Array]:
    """p_n over p_{n-1} for n up to `top`: `rise` gives lambda U times a matrix, `seen` what levels above `top` add."""
    found: list[Array] = []
    for level in range(top, 0, -1):
        local, down = blocks(level)
        found.append(rise(level - 1, dwell_times(local if seen is None else local + seen, down.sum(-1))))
        seen = found[-1] @ down
    return found[::-1]


CYCLES: Final = 60  # of logarithmic reduction; each doubles the number of levels


def tail_ratio(up: Array, local: Array, down: Array, *, settled: float = 1e-15) -> tuple[Array, Array, Array]:
    """R of repeating levels, p_{n+1} = p_n R, and two integrals over the time until the first visit to the level below.

    These are the mean times in the states, and the mean of the number of levels above, integrated over the time: up
    times the first is R (I - R)^-1, times the second R (I - R)^-2 1. R comes from G, the state at that first visit. All
    by logarithmic reduction (Latouche and Ramaswami 1993) over 1, 2, 4, ... levels up or down.
    """
    time = dwell_times(local, (up + down).sum(-1))
    rise, fall, area = time @ up, time @ down, time.sum(-1, keepdims=True)
    passage, product, times, areas = fall.copy(), rise.copy(), time, area
    step = np.inf
    for cycle in range(CYCLES):
        both = dwell_times(rise @ fall + fall @ rise, (rise @ rise + fall @ fall).sum(-1))
        lift = 2.0**cycle * time.sum(-1, keepdims=True)
        area = both @ (area + lift + rise @ (area + 2 * lift) + fall @ area)
        time = both @ (time + (rise + fall) @ time)
        times, areas = times + product @ time, areas + product @ area
        rise, fall = both @ (rise @ rise), both @ (fall @ fall)
        more = product @ fall
        passage, product = passage + more, product @ rise
        step = float(np.abs(more).max())
        if step < settled:
            return np.asarray(up @ dwell_times(local + up @ passage, down.sum(-1))), times, areas
    raise ConvergenceError("logarithmic reduction of an open queue", step, CYCLES)
