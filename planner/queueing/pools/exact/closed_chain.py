"""Exact closed pools: the stationary law of the lumped chain, for every quantity of the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing._levels import stationary
from planner.queueing.pools.exact.chain_states import Drive, PoolLayout, lumped_states
from planner.queueing.pools.outcome import Outcome
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

if TYPE_CHECKING:
    from scipy import sparse

MAX_STATES = 30_000
"""States up to which a closed pool is solved exactly."""
DIRECT_STATES = 100
"""States up to which the chain is eliminated densely."""
MAX_SWEEPS = 3000
"""Sweeps of Gauss and Seidel at most."""
SETTLED = 1e-14
SETTLED_RARE = 1e-9
"""Change relative to the largest flow, and of each flow relative to itself, at which the sweeps end."""
POLISHING = 20
"""Sweeps, in positive terms alone, after a factorization that loses rare states."""
RESIDUAL = 1e-10
"""Imbalance of the flows, relative to the largest, up to which a law is an answer."""


class ChainMoves(Protocol):
    """A chain: the number of its states, and from which to which each move leads."""

    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def source(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def target(self) -> NDArray[np.int64]: ...  # noqa: D102


def layout_of(pool: CheckedPool, aliases: int) -> PoolLayout:
    """What fixes the states of a closed pool."""
    return PoolLayout(
        aliases=aliases,
        volumes=tuple(int(count) for count in pool.volumes),
        population=tuple(int(count) for count in pool.population),
        base_gap=pool.redrive_time > 0.0,
        alias_gap=pool.alias_redrive_time > 0.0,
    )


def solve_lumped(pool: CheckedPool, aliases: int, most: int = MAX_STATES) -> Outcome:
    """Solve a closed pool exactly, for exponential service, think times and gaps."""
    states = lumped_states(layout_of(pool, aliases), most)
    rates = np.array([drive_rate(pool, drive) for drive in states.drives])
    move_rates = states.weight * rates[states.drive]
    law, residual = stationary_law(states, move_rates)
    per_volume = 1.0 / pool.volumes
    at_busy = states.thinking_at_busy / pool.think_time
    fails = law @ (at_busy * (states.free == 0)[:, None]) * per_volume
    turn_rate = 1.0 / pool.service_growth(np.arange(float(states.turns.shape[0])))
    base_pickups = turn_rate @ (law @ states.turns) * per_volume / pool.service
    return Outcome(
        throughput=law @ states.thinking / pool.think_time * per_volume,
        tries=law @ at_busy * per_volume,
        fails=fails,
        queue=law @ states.queued * per_volume,
        base_pickups=base_pickups,
        alias_pickups=np.maximum(fails - base_pickups, 0.0),  # whoever fails is picked up by one of the two
        base_in_service=law @ states.base_serves * per_volume,
        alias_in_service=law @ states.alias_serves * per_volume,
        free_law=np.bincount(states.free, weights=law, minlength=aliases + 1).astype(np.float64),
        tries_by_free=np.bincount(
            states.free, weights=law * at_busy.sum(axis=1), minlength=aliases + 1
        ).astype(np.float64),
        residual=residual,
    )


def stationary_law(states: ChainMoves, move_rates: Array) -> tuple[Array, float]:
    """Stationary law of the chain and the residual of its balance equations.

    Balance is written for the flow out of each state, `flow = step @ flow`, the columns of `step` summing to
    1. Gauss-Seidel sweeps use positive terms only and need no fill-in; a chain that mixes too slowly for them
    is narrow enough to be factorized.
    """
    size = states.size
    outflow = np.bincount(states.source, weights=move_rates, minlength=size)
    from scipy import sparse

    inflow = sparse.csr_array((move_rates, (states.target, states.source)), shape=(size, size))
    step = (inflow @ sparse.diags_array(1.0 / outflow)).tocsc()
    flow = np.full(size, 1.0 / size)
    if size > DIRECT_STATES:
        flow, change = _gauss_seidel(step, flow)
        if change > SETTLED:
            flow, _ = _gauss_seidel(step, np.maximum(_direct(step, int(flow.argmax())), 0.0), POLISHING)
    else:
        flow = stationary(step.toarray().T[None])[0]
    residual = float(np.abs(flow - step @ flow).max() / flow.max())
    if not residual <= RESIDUAL:
        raise ConvergenceError("exact chain of the pool", residual, MAX_SWEEPS)
    law = np.maximum(flow, 0.0) / outflow
    return law / law.sum(), residual


def _gauss_seidel(step: sparse.csc_array, flow: Array, most: int = MAX_SWEEPS) -> tuple[Array, float]:
    """Sweep until every flow settles, the rare ones too; the flow and its last change relative to the largest."""
    from scipy import sparse
    from scipy.sparse import linalg

    size = step.shape[0]
    lower = (sparse.eye_array(size, format="csc") - sparse.tril(step, -1, format="csc")).tocsc()
    solver = linalg.splu(lower, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    upper = sparse.triu(step, format="csr")
    change = np.inf
    for _ in range(most):
        swept = solver.solve(upper @ flow)
        swept /= swept.sum()
        moved = np.abs(swept - flow)
        change = float(moved.max() / swept.max())
        settled = change <= SETTLED and bool((moved <= SETTLED_RARE * swept).all())
        flow = swept
        if settled:
            break
    return flow, change


def _direct(step: sparse.csc_array, reference: int) -> Array:
    """Solve with the flow out of one likely state set to 1."""
    from scipy import sparse
    from scipy.sparse import linalg

    size = step.shape[0]
    others = np.delete(np.arange(size), reference)
    matrix = (sparse.eye_array(size, format="csc") - step).tocsc()
    inner = matrix[:, others][others]
    right = -matrix[:, [reference]].toarray().ravel()[others]
    return np.insert(np.asarray(linalg.splu(inner.tocsc()).solve(right)), reference, 1.0)


def drive_rate(pool: CheckedPool, drive: Drive) -> float:
    """Rate of one drive of the chain."""
    kind, k, in_service = drive
    if kind == "think":
        return float(1.0 / pool.think_time[k])
    if kind == "service":
        return float(1.0 / pool.service_growth(np.array(float(in_service))) / pool.service[k])
    return 1.0 / (pool.redrive_time if kind == "base_gap" else pool.alias_redrive_time)
