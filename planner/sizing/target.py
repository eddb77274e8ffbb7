"""What aliases must achieve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.demand import AliasTarget, PredictedRows
from planner.devices import Performance
from planner.results import Array
from planner.units import MILLISECOND

DEFAULT_WAIT_SHARE: Final = 0.05  # of the service time: queueing is gone


class Reached(Protocol):
    """What a target is held against, shape (counts,) each."""

    @property
    def service_time(self) -> Array:
        """Mean service time [s]."""

    @property
    def wait_time(self) -> Array:
        """Mean wait [s]."""

    @property
    def response_time(self) -> Array:
        """Mean service plus wait [s]."""

    @property
    def queued(self) -> Array:
        """Mean I/Os queued."""

    @property
    def no_alias(self) -> Array:
        """Share of tries that find no alias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed(AliasTarget):
    """Wait as a listing has it, queue / rate: without the redrive gap."""

    def met(self, rows: PredictedRows) -> NDArray[np.bool_]:
        """Where the target is met; False where a reading is unused."""
        wait = rows.queue / rows.rate
        given = ((wait, self.wait), (wait + rows.service, self.response), (rows.queue, self.queue))
        limits = [(value, limit) for value, limit in given if limit is not None]
        if not limits:
            return np.asarray(wait <= self.wait_share * rows.service)
        return np.asarray(np.logical_and.reduce([value <= limit for value, limit in limits]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the aliases must achieve; all that are given must hold.

    With none given, the mean wait is at most 5 % of the service time.

    Attributes
    ----------
    wait, response : float or None
        Largest mean wait and response time [s].
    queued : float or None
        Largest mean number of I/Os queued, of the whole volume or pool.
    no_alias : float or None
        Largest share of tries that find no alias.
    """

    wait: float | None = None
    response: float | None = None
    queued: float | None = None
    no_alias: float | None = None

    def excess(self, rows: Reached) -> Array:
        """Tell for each alias count by how much the target is missed.

        Parameters
        ----------
        rows : Performance or the like
            Shape (counts,).

        Returns
        -------
        ndarray, shape (counts,)
            Largest ratio of what is reached to what is allowed; at most 1 where the target is met.
        """
        limits = {
            "wait_time": self.wait,
            "response_time": self.response,
            "queued": self.queued,
            "no_alias": self.no_alias,
        }
        if all(limit is None for limit in limits.values()):
            return np.asarray(rows.wait_time / (DEFAULT_WAIT_SHARE * rows.service_time))
        ratios = [
            np.divide(values, limit) if limit else np.where(values <= 0.0, 0.0, np.inf)
            for values, limit in ((getattr(rows, name), limit) for name, limit in limits.items())
            if limit is not None
        ]
        return np.asarray(np.max(ratios, axis=0))

    def met(self, rows: Performance) -> NDArray[np.bool_]:
        """Tell for each alias count whether the target is met.

        Parameters
        ----------
        rows : Performance
            Shape (counts,).

        Returns
        -------
        ndarray of bool, shape (counts,)
            True where it is.
        """
        return self.excess(rows) <= 1.0

    def of_readings(self) -> AliasTarget:
        """The same for readings of demand; a share of tries without alias is not theirs to say.

        Returns
        -------
        AliasTarget
            As `planner.demand` takes it.
        """
        return _Listed(wait=self.wait, response=self.response, queue=self.queued)

    def __str__(self) -> str:
        """Say the target in words."""
        words = [
            f"wait at most {self.wait / MILLISECOND:g} ms" if self.wait is not None else "",
            f"response at most {self.response / MILLISECOND:g} ms" if self.response is not None else "",
            f"at most {self.queued:g} I/Os queued" if self.queued is not None else "",
            f"at most {self.no_alias:.3g} of the tries without alias" if self.no_alias is not None else "",
        ]
        return (
            " and ".join(filter(None, words)) or f"wait at most {DEFAULT_WAIT_SHARE:.0%} of the service time"
        )


def log_excess(target: Target, wait: Array, service: Array, queue: Array) -> Array:
    """Logarithm of what is reached over what is allowed."""
    limits = ((wait, target.wait), (wait + service, target.response), (queue, target.queued))
    ratios = [np.divide(value, limit) for value, limit in limits if limit]
    excess = np.max(ratios, axis=0) if ratios else wait / (DEFAULT_WAIT_SHARE * service)
    return np.asarray(np.log(np.clip(excess, 1e-12, 1e12)))
