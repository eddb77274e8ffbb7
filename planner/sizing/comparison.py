"""A pool beside what it was: which of its volumes gain from more aliases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from planner import render
from planner.devices import Performance, Pool
from planner.units import MILLISECOND

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
