"""A pool beside its alternatives: what classic PAV would take for the same target, and which volumes gain."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner import render
from planner.devices import Performance, Pool, Volume
from planner.sizing.target import Target
from planner.units import MILLISECOND

MOST_OF_ONE_VOLUME: Final = 32  # aliases that a search for a single volume tries
A_FEW: Final = 2
LEAST_GAIN: Final = 0.005  # of the response time; less is no gain


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What one volume of a class gets from the recommended aliases.

    Attributes
    ----------
    volumes : int
        Equal volumes.
    rate_before, rate_after : float
        I/O rate of one of them with the aliases in use and with the recommended ones [1/s].
    response_before, response_after : float
        Its response time [s].
    """

    volumes: int
    rate_before: float
    rate_after: float
    response_before: float
    response_after: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data with unit suffixes.

        Returns
        -------
        dict
            Keys for JSON.
        """
        return {
            "volumes": self.volumes,
            "io_rate_before": self.rate_before,
            "io_rate_after": self.rate_after,
            "response_before_ms": self.response_before / MILLISECOND,
            "response_after_ms": self.response_after / MILLISECOND,
        }

    def __str__(self) -> str:
        """Say it in words."""
        head = render.counted(self.volumes, "volume")
        if self.response_after >= (1 - LEAST_GAIN) * self.response_before:
            return f"{head} at {self.rate_before:.0f}/s gain nothing"
        return (
            f"{head} from {self.rate_before:.0f} to {self.rate_after:.0f}/s, "
            f"{_shown(self.response_before)} to {_shown(self.response_after)} ms"
        )


def _shown(response: float) -> str:
    return render.format_value(response / MILLISECOND, 2)


def gains(pool: Pool, rows: Performance, in_use: int, recommended: int) -> tuple[Gain, ...]:
    """Compare each class of volumes with the aliases in use and with the recommended ones.

    Parameters
    ----------
    pool : Pool
        The pool.
    rows : Performance
        Solved for each count from 0.
    in_use, recommended : int
        The two counts.

    Returns
    -------
    tuple of Gain
        One a class of volumes.
    """
    return tuple(
        Gain(
            volumes=part.volumes,
            rate_before=float(rows.volume_rates[in_use, k]),
            rate_after=float(rows.volume_rates[recommended, k]),
            response_before=float(rows.volume_responses[in_use, k]),
            response_after=float(rows.volume_responses[recommended, k]),
        )
        for k, part in enumerate(pool.classes)
    )


def classic_aliases(pool: Pool, target: Target) -> int | None:
    """Count the aliases that the same volumes would take with classic PAV, each volume with its own.

    Parameters
    ----------
    pool : Pool
        The volumes and what they are asked for.
    target : Target
        What each volume must meet; a target for the queue of the pool is shared out evenly.

    Returns
    -------
    int or None
        Aliases of all volumes; None where a volume cannot meet the target.
    """
    if target.queued is not None:
        target = replace(target, queued=target.queued / pool.bases)
    total = 0
    for part in pool.classes:
        volume = Volume(
            demand=replace(part, volumes=1),
            service_time=pool.service_time,
            inflation=pool.inflation,
            redrive_time=pool.redrive_time,
        )
        most = MOST_OF_ONE_VOLUME if math.isnan(part.population) else int(part.population) - 1
        count = _fewest_of_one(volume, target, min(most, MOST_OF_ONE_VOLUME))
        if count is None:
            return None
        total += part.volumes * count
    return total


def _fewest_of_one(volume: Volume, target: Target, most: int) -> int | None:
    """Fewest aliases of one volume, a few counts at a time: it seldom takes many."""
    for first in range(0, most + 1, A_FEW):
        met = target.met(volume.solve(np.arange(first, min(first + A_FEW, most + 1), dtype=np.float64)))
        if met.any():
            return first + int(np.argmax(met))
    return None
