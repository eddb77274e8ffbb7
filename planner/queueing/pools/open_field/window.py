"""The D of an open pool that count, from 0 on, and the queues at which the law of the volumes is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.errors import ConvergenceError
from planner.queueing.pools.open_field.balances import VolumesGiven
from planner.queueing.pools.open_field.queue_law import QueueLaw, queue_law
from planner.queueing.pools.open_field.queue_weights import Weights, met_by, some_queues
from planner.queueing.pools.pool import CheckedPool
from planner.results import Array

FIRST: Final = 30
"""I/Os waiting up to which the window reaches at first."""
LONGEST: Final = 8000
"""The same at most."""
CUT: Final = 1e-11
"""Probability of the largest D from which on the window is widened."""
SPENT: Final = 1e-20
"""Probability of the largest D below which the window is narrowed: means given so rare a D are lost in rounding."""
LOST: Final = 1e-8
"""Probability of the longest queue that is solved for up to which what is beyond does not matter."""
SLOPE_OVER: Final = 5
"""D over which the fall of the law at its end is taken."""
SPARE: Final = 1.1
"""By how much further than the law the window reaches."""


@dataclass(frozen=True, eq=False)
class OpenWindow:
    """D from 0 to the longest queue."""

    aliases: int  # Aliases of the pool [1]
    total: Array  # 0, 1, ..., shape (D,) [1]
    waiting: Array  # I/Os waiting, shape (D,) [1]
    queues: Array  # Queues above 0 at which the law of the volumes is evaluated, shape (queues,) [1]
    most: float = np.inf  # The longest queue that there can be [1]

    @classmethod
    def of(cls, aliases: int, longest: int = FIRST, most: float = np.inf) -> OpenWindow:
        """Window up to a queue."""
        longest = int(min(longest, most))
        total = np.arange(aliases + longest + 1.0)
        return cls(aliases, total, np.maximum(total - aliases, 0.0), some_queues(longest), most)

    @property
    def evaluated(self) -> NDArray[np.int64]:
        """Index of the queues at which the law is evaluated, shape (queues,)."""
        return (self.aliases + self.queues).astype(np.int64)

    def at_queues(self, values: Array) -> Array:
        """From the queues at which the law is evaluated to all above 0, by interpolation in the logarithm."""
        wanted, known = np.log(self.waiting[self.aliases + 1 :]), np.log(self.queues)
        if known.size == 1:
            return np.repeat(values, wanted.size, axis=-1)
        left = np.minimum(np.searchsorted(known, wanted, side="right"), known.size - 1) - 1
        part = (wanted - known[left]) / (known[left + 1] - known[left])
        return np.asarray(values[..., left] + part * (values[..., left + 1] - values[..., left]))

    def misfit(self, law_of_queue: QueueLaw, given: VolumesGiven, law: Array) -> float:
        """How far the law of the queue is from the busy bases and the queues that it should have, on average over D."""
        at = self.evaluated
        off = np.array([law_of_queue.busy - given.busy[:, at], law_of_queue.mean - given.queue[:, at]])
        return float((np.abs(self.at_queues(off)) @ law[self.aliases + 1 :]).max())

    def fitted(self, law: Array) -> OpenWindow:
        """As far as the law of D reaches if it goes on as it ended, three times as far at most; less where it ended."""
        longest = self.total.size - 1 - self.aliases
        if law[-1] < SPENT and longest > FIRST:
            last = int(np.flatnonzero(law > CUT)[-1]) - self.aliases
            return OpenWindow.of(self.aliases, max(int(SPARE * last) + SLOPE_OVER, FIRST), self.most)
        if law[-1] <= CUT or longest >= self.most:
            return self
        if longest >= LONGEST and law[-1] <= LOST:
            return self
        if longest >= LONGEST:
            raise ConvergenceError(
                "alias pool, nearly unstable: the law of its queue", float(law[-1]), longest
            )
        fall = float(np.log(law[-1 - SLOPE_OVER] / law[-1])) / SLOPE_OVER
        reach = longest + np.log(law[-1] / CUT) / fall if fall > 0.0 else np.inf
        return OpenWindow.of(
            self.aliases, int(min(SPARE * reach + SLOPE_OVER, 3.0 * longest, LONGEST)), self.most
        )

    def moved_to(
        self, new: OpenWindow, given: VolumesGiven, weights: Weights, volumes: Array
    ) -> tuple[VolumesGiven, Weights]:
        """Go on on another window, beyond this one by the law of the queue."""
        weights = met_by(weights.at(new.queues, self.queues), new.queues, self.aliases, volumes)
        beyond = new.given_by(weights, volumes)
        old, size = self.total.size, new.total.size
        joined = VolumesGiven(
            *(
                np.hstack([getattr(given, name), getattr(beyond, name)[:, old:]])[:, :size]
                for name in ("busy", "queue", "with_queue")
            )
        )
        return joined, weights

    def given_by(self, weights: Weights, volumes: Array) -> VolumesGiven:
        """What the law of the queue says by itself of volumes given D; nothing where no I/O waits."""
        law, _ = queue_law(self.queues, self.aliases, volumes, weights, weights.log_busy, weights.log_busy)
        none = np.zeros((volumes.size, self.aliases + 1))
        waiting = self.waiting[self.aliases + 1 :]
        return VolumesGiven(
            np.hstack([none, self.at_queues(law.busy)]),
            np.hstack([none, self.at_queues(law.mean / self.queues) * waiting]),
            np.hstack([none, self.at_queues(law.with_queue)]),
        )

    def begin(self, pool: CheckedPool) -> tuple[VolumesGiven, Weights]:
        """Where to begin: both weights are the arrivals, as in a product form, theta such that the queue is met."""
        closed = pool.closed
        rates = np.where(closed, pool.population / (pool.service + pool.think_time), pool.arrival_rate)[
            :, None
        ]
        rates = rates * pool.service[:, None]
        longest = np.where(closed, pool.population - 1.0, np.inf)[:, None]
        weights = Weights.begin(np.log(rates) + np.zeros_like(self.queues), longest)
        weights = met_by(weights, self.queues, self.aliases, pool.volumes)
        given = self.given_by(weights, pool.volumes)
        given.busy[:, : self.aliases + 1] = rates / (1.0 + rates)
        return given, weights
