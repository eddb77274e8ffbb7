"""The two-moment law of service as exponential phases: what `scv` means everywhere.

scv 1/k is Erlang-k; between 1/k and 1/(k - 1) a request has k - 1 or k equal stages (Tijms 1994, eq. A.3: mixed
Erlang); above 1 it takes one of two exponential branches with balanced means (hyperexponential).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.results import Array

SAME: Final = 1e-12  # relative; an scv written as 1/3 is Erlang-3
LEAST_SCV: Final = 1e-8  # with a hundred million stages nobody can tell a service from a deterministic one


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseType:
    """Service of mean 1, one element of the first axis a scenario, all with the same number of phases K.

    start : shape (scenarios, K), probability of the first phase; moves : (scenarios, K, K), rates between phases;
    leaves : (scenarios, K), rates of ending the service.
    """

    start: Array
    moves: Array
    leaves: Array

    @property
    def phases(self) -> int:
        """Number of phases K."""
        return int(self.start.shape[-1])


def phase_count(scv: Array) -> NDArray[np.int64]:
    """Phases of the law: 1 for exponential, 2 above, k for scv in [1/k, 1/(k-1)); scv above 0."""
    stages = np.ceil((1 - SAME) / np.maximum(scv, LEAST_SCV))
    return np.where(np.abs(scv - 1) <= SAME, 1, np.where(scv > 1, 2, np.maximum(stages, 2))).astype(np.int64)


def phase_type(scv: Array, phases: int) -> PhaseType:
    """Build the law for scenarios that have the same number of phases."""
    start, leaves = np.zeros((scv.size, phases)), np.zeros((scv.size, phases))
    moves = np.zeros((scv.size, phases, phases))
    if phases == 1:
        start[:], leaves[:] = 1.0, 1.0
        return PhaseType(start=start, moves=moves, leaves=leaves)
    _, short, rate = mixed_erlang(np.minimum(scv, 1.0), stages=float(phases))
    stage = np.arange(phases - 1)
    start[:, 0], start[:, 1] = 1 - short, short
    moves[:, stage, stage + 1] = rate[:, None]
    leaves[:, -1] = rate
    two = scv > 1
    skew = np.sqrt((scv[two] - 1) / (scv[two] + 1))
    start[two, 0], start[two, 1] = (1 + skew) / 2, (1 - skew) / 2
    moves[two], leaves[two] = 0.0, 2 * start[two]
    return PhaseType(start=start, moves=moves, leaves=leaves)


def mixed_erlang(scv: Array, stages: float | None = None) -> tuple[Array, Array, Array]:
    """Stages k, share of the services with k - 1 stages, and the rate of a stage, for mean 1 and 0 < scv <= 1."""
    scv = np.maximum(scv, LEAST_SCV)
    k = np.full(scv.shape, stages) if stages is not None else phase_count(scv).astype(np.float64)
    inside = np.maximum(k * (1 + scv) - k * k * scv, 0.0)
    short = np.clip((k * scv - np.sqrt(inside)) / (1 + scv), 0.0, 1.0)
    return k, short, k - short
