"""Laws of wait and response of M/M/c, M/M/c/K and M/M/c//N, each from its exact tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.queueing._roots import increasing_root
from planner.results import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialDelay:
    """M/M/c: a share `delay` waits, exponentially with mean wait / delay; `plain` where service does not inflate.

    All arrays have the shape of the result; times in seconds.
    """

    delay: Array
    wait: Array
    service: Array
    plain: bool

    def wait_quantile(self, p: Array) -> Array:
        """Time t at which delay exp(-t delay / wait) = 1 - p."""
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.log(self.delay) - np.log1p(-p)
            quantile = np.where(excess > 0, excess * self.wait / self.delay, 0.0)
        return np.where(np.isinf(self.wait), np.inf, quantile)

    def response_quantile(self, p: Array) -> Array | None:
        """Time at which the tail of wait plus exponential service is 1 - p."""
        if not self.plain:
            return None
        saturated = np.isinf(self.wait)
        with np.errstate(divide="ignore", invalid="ignore"):
            spare = np.where((self.delay > 0) & ~saturated, self.delay * self.service / self.wait, 1.0)
        shape = np.broadcast_shapes(p.shape, spare.shape)
        goal, delay, spare = np.broadcast_arrays(-np.log1p(-p), self.delay, spare)
        slow = np.minimum(spare, 1.0)
        high = (goal + np.log1p(goal) + 1) / slow + np.log1p(delay / slow) / slow
        reached = increasing_root(
            lambda y, aim, d, s: -log_response_tail(y, d, s) - aim, 0 * goal, high, (goal, delay, spare)
        )
        return np.where(saturated, np.inf, np.broadcast_to(reached, shape) * self.service)


def log_response_tail(y: Array, delay: Array, spare: Array) -> Array:
    """Ln P(response > y S) of M/M/c with c - a = spare: service exponential, wait exponential of rate spare.

    The tail is exp(-y) [1 + delay (1 - exp(-(spare - 1) y)) / (spare - 1)]; the smaller rate is taken out.
    """
    faster = np.abs(spare - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixed = np.where(faster * y > 0, -np.expm1(-faster * y) / faster, y)
    first = np.where(spare < 1, np.exp(-faster * y), 1.0)
    return -np.minimum(spare, 1.0) * y + np.log(first + delay * mixed)
