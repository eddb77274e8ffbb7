"""Bases whose service is not exponential: how fast a busy base ends, by the I/Os beyond it.

Whoever finds a base busy meets the rest of a service, and the I/Os beyond a base tell how long that service already
lasts: with regular service a base with many I/Os beyond it is about to end, with irregular service it is probably in
the midst of a long one. So the base ends at a rate that depends on d, which its phases give without any constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.queueing._elimination import dwell_times, stationary
from planner.queueing._phase_type import phase_count, phase_type
from planner.queueing.pools.field.volume_law import VolumeRates, arrival_rates
from planner.queueing.pools.pool import TINY, CheckedPool
from planner.results import Array

LEAST_SCV: Final = 1.0 / 20.0
"""Service more regular than this is answered as this, with 20 stages: the wait is 5 % too long at most."""
OWN_DEVIATIONS: Final = 3.0
"""Standard deviations of independent volumes up to which D tells of the bases of an open class."""


@dataclass(frozen=True, eq=False)
class ServicePhases:
    """Service of a device in exponential phases, of mean 1 without the gap."""

    start: Array  # Probability of the phase in which the service of an arrival begins, shape (phases,) [1]
    restart: Array  # The same for an I/O that waited, shape (phases,) [1]
    moves: Array  # Rates from phase to phase, shape (phases, phases) [1/service time]
    leaves: Array  # Rates of ending the service, shape (phases,) [1/service time]
    gaps: int = 0  # Phases that are no service yet: 1 with a gap, which comes first, else 0 [1]


def service_phases(scv: float, gap: float = 0.0) -> ServicePhases:
    """Phases of the two-moment law, preceded by a gap where an I/O waited."""
    asked = np.array([max(scv, LEAST_SCV)])
    law = phase_type(asked, int(phase_count(asked)[0]))
    start, moves, leaves = law.start[0], law.moves[0], law.leaves[0]
    if gap == 0.0:
        return ServicePhases(start, start, moves, leaves)
    restart = np.zeros(start.size + 1)
    restart[0] = 1.0
    with_gap = np.pad(moves, ((1, 0), (1, 0)))
    with_gap[0, 1:] = start / gap
    return ServicePhases(np.append(0.0, start), restart, with_gap, np.append(0.0, leaves), 1)


def _blocks(
    pool: CheckedPool, k: int, rates: VolumeRates, service: ServicePhases
) -> tuple[Array, Array, Array]:
    """Rates between states within each d, from d to d - 1, shape (d, states, states), and to d + 1, shape (d,)."""
    size, phases = rates.alias_ends.size, service.start.size
    idle_arrivals, busy_arrivals = arrival_rates(pool, k, size)
    rises = np.append(busy_arrivals[:-1], 0.0)
    picks = rates.base_picks / (rates.base_picks + rates.base_idles)
    ends = rates.base_pace[:, None] * service.leaves
    local, down = np.zeros((2, size, 1 + phases, 1 + phases))
    diagonal = np.eye(phases)
    local[:, 0, 1:] = idle_arrivals[:, None] * service.start
    local[:, 1:, 0] = (1.0 - picks)[:, None] * ends
    local[:, 1:, 1:] = rates.base_pace[:, None, None] * service.moves
    down[:, 0, 0] = rates.idle_alias_ends
    down[:, 1:, 1:] = rates.alias_ends[:, None, None] * diagonal
    down[:, 1:, 1:] += (picks[:, None] * ends)[:, :, None] * service.restart
    return local, down, rises


def base_hazard(pool: CheckedPool, k: int, rates: VolumeRates) -> Array:
    """How much faster than on average a busy base ends, by the I/Os beyond it.

    The chain of (base idle or in a phase, d) is that of `volume_law`, with a busy base in phases that pass at
    `base_pace`. It climbs by one d at a time and is solved from the largest d down, ``law[d+1] = law[d] R[d]``.
    """
    service = service_phases(pool.scv)
    local, down, rises = _blocks(pool, k, rates, service)
    size, states = local.shape[:2]
    climbs, seen = [], np.zeros((states, states))
    for d in range(size - 1, 0, -1):
        climb = np.zeros((states, states))  # an idle base does not let d rise
        climb[1:] = rises[d - 1] * dwell_times((local[d] + seen)[None], down[d].sum(axis=1)[None])[0, 1:]
        climbs.append(climb)
        seen = climb @ down[d]
    law = stationary((local[0] + seen)[None])[0]
    hazard = np.empty(size)
    for d in range(size):
        if d > 0:
            law = law @ climbs.pop()
        law /= law.sum()
        hazard[d] = law[1:] @ service.leaves / law[1:].sum()
    return hazard


def hazard_given_total(
    hazard: Array, weight_busy: Array, total: Array, mean: float, deviation: float
) -> Array:
    """The same for an open class, given D.

    As far as D varies with volumes that are independent it tells of their bases. What goes beyond `OWN_DEVIATIONS`
    is the queue of the whole pool: however long that is, a base ends at its mean rate on average, so that the pool is
    stable just where its devices serve the load.
    """
    own = OWN_DEVIATIONS * deviation
    average = np.maximum(weight_busy @ hazard, TINY)
    at_own = float(np.interp(mean + own, total, average))
    share = own / np.maximum(total - mean, own)
    held = np.where(total - mean > own, 1.0 + (at_own - 1.0) * share, average)
    return np.asarray(hazard * (held / average)[:, None])
