"""Exact open pools of one volume: levels by the number in the system, a matrix-geometric tail above A + 1."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing._levels import dwell_times, inverse_dominant
from planner.queueing.pools.exact.chain_states import LumpedStates, PoolLayout, lumped_states
from planner.queueing.pools.exact.closed_chain import drive_rate
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

MAX_STATES: Final = 1_000_000
"""More than 255 aliases can need; the largest level has 512 phases."""
MAX_DOUBLINGS: Final = 60
"""Doublings of the levels that the reduction takes at most."""
SETTLED: Final = 1e-15
"""What is left to add, at which it ends."""
RESIDUAL: Final = 1e-10
"""Imbalance of the tail up to which it is an answer."""


def solve_single_open(pool: CheckedPool, aliases: int) -> Outcome:
    """Solve one volume with Poisson arrivals exactly, for exponential service and gaps.

    Below A + 2 in the system every level has its own rates; from there on they repeat, so that
    ``law[n + 1] = law[n] R`` with the least nonnegative R of ``R^2 down + R local + up = 0`` (Neuts 1981, chapter 1).
    """
    layout = PoolLayout(aliases, (1,), (aliases + 3,), pool.redrive_time > 0.0, pool.alias_redrive_time > 0.0)
    states = lumped_states(layout, MAX_STATES)
    rates = np.array([drive_rate(pool, drive) for drive in states.drives])[states.drive] * states.weight
    arrivals = np.array([kind == "think" for kind, *_ in states.drives])[states.drive]
    rates[arrivals] = pool.arrival_rate[0]
    from scipy import sparse

    moves = sparse.csr_array((rates, (states.source, states.target)), shape=(states.size, states.size))
    levels = _levels(states, aliases + 3)

    def block(start: int, end: int) -> Array:
        return np.asarray(moves[levels[start]][:, levels[end]].toarray())

    full = aliases + 1
    ratio, residual = _tail_ratio(block(full, full + 1), block(full + 1, full + 1), block(full + 2, full + 1))
    step, steps = ratio, []
    for n in range(full, 0, -1):  # law[n] = law[n - 1] step
        inner, down = block(n, n) + step @ block(n + 1, n), block(n, n - 1)
        step = block(n - 1, n) @ dwell_times(inner[None], down.sum(axis=1)[None])[0]
        steps.append(step)
    laws = [np.ones(1)]
    for step in reversed(steps):
        laws.append(laws[-1] @ step)
    return _outcome(pool, aliases, states, levels, laws, ratio, residual)


def _levels(states: LumpedStates, most: int) -> list[NDArray[np.int64]]:
    """States of each level, in one order of phases."""
    level = most - np.rint(states.thinking[:, 0]).astype(np.int64)
    order = np.lexsort((states.alias_serves[:, 0], states.base_serves[:, 0]))
    return [order[level[order] == n] for n in range(most + 1)]


def _tail_ratio(up: Array, local: Array, down: Array) -> tuple[Array, float]:
    """R of the repeating levels, from the first-passage matrix G by cyclic reduction (Latouche and Ramaswami 1993)."""
    leaves = up.sum(axis=1) + down.sum(axis=1)
    inverse = dwell_times(local[None], leaves[None])[0]
    rise, fall = inverse @ up, inverse @ down
    passage, product = fall.copy(), rise.copy()
    for _ in range(MAX_DOUBLINGS):
        both = inverse_dominant(np.eye(rise.shape[0]) - rise @ fall - fall @ rise)
        rise, fall = both @ rise @ rise, both @ fall @ fall
        added = product @ fall
        passage += added
        product = product @ rise
        if max(float(product.max()), float(added.max())) <= SETTLED:
            break
    ratio = up @ dwell_times((local + up @ passage)[None], down.sum(axis=1)[None])[0]
    outflow = leaves + local.sum(axis=1)
    residual = float(np.abs(up + ratio @ local - ratio * outflow + ratio @ ratio @ down).max())
    if not residual <= RESIDUAL:
        raise ConvergenceError("tail of an open volume", residual, MAX_DOUBLINGS)
    return np.asarray(ratio), residual


def _outcome(
    pool: CheckedPool,
    aliases: int,
    states: LumpedStates,
    levels: list[NDArray[np.int64]],
    laws: list[Array],
    ratio: Array,
    residual: float,
) -> Outcome:
    """Sum over the levels, those of the tail in closed form."""
    full = aliases + 1
    beyond = np.linalg.inv(np.eye(ratio.shape[0]) - ratio)
    at_full = laws[full]
    with_queue = at_full @ ratio @ beyond
    law = np.zeros(states.size)
    for n in range(full):
        law[levels[n]] = laws[n]
    law[levels[full]] = at_full + with_queue
    total = law.sum()
    law /= total
    with_queue /= total
    here = levels[full]
    in_service = (states.base_serves + states.alias_serves)[here, 0]
    base_pickups = with_queue @ (states.base_serves[here, 0] / pool.service_growth(in_service))
    fails = pool.arrival_rate * law[here].sum()
    busy = states.thinking_at_busy[:, 0] > 0.0
    return Outcome(
        throughput=pool.arrival_rate.copy(),
        tries=pool.arrival_rate * float(law @ busy),
        fails=fails,
        queue=np.atleast_1d((with_queue @ beyond).sum()),
        base_pickups=np.atleast_1d(base_pickups),
        alias_pickups=np.maximum(fails - base_pickups, 0.0),
        base_in_service=law @ states.base_serves,
        alias_in_service=law @ states.alias_serves,
        free_law=np.bincount(states.free, weights=law, minlength=aliases + 1).astype(np.float64),
        tries_by_free=np.bincount(
            states.free, weights=law * busy * pool.arrival_rate[0], minlength=aliases + 1
        ).astype(np.float64),
        residual=residual,
    )
