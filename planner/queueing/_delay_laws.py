"""Laws of wait and response from exact tails and from sums of exponential stages.

Whoever finds n >= c requests at the station waits for n - c + 1 completions, each exponential of rate c/S. Own
service, exponential of rate 1/S, is a geometric number of such stages (uniformization), so that both laws are
P(T > t) = sum over l of Poisson(l; c t / S) P(K > l), K the number of stages: positive terms only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln, xlogy

from planner.queueing._roots import enclose, increasing_root
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


BATCH: Final = 500_000  # numbers of one kind held side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteSourceDelay:
    """M/M/c//N as an arrival sees it: N - 1 others, k of them thinking with weight (c Z / S)^k / k!."""

    n: Array
    z: Array
    s: Array
    c: Array
    inflation: Array
    delay: Array

    def wait_quantile(self, p: Array) -> Array:
        """Exact also with inflation: while anyone waits, all servers are busy."""
        return _quantiles(p, self, own_service=False)

    def response_quantile(self, p: Array) -> Array | None:
        """Exact without inflation, where service does not depend on who comes later."""
        return None if (self.inflation > 0).any() else _quantiles(p, self, own_service=True)

    def waiting_room(self) -> Array:
        """Largest number of stages of a wait."""
        return np.maximum(self.n - self.c, 0)

    def pace(self) -> Array:
        """Rate of one stage [1/s]."""
        busy: Array = np.minimum(self.n, self.c)
        return busy / (self.s * (1 + self.inflation * (busy - 1)))

    def log_weights(self, stages: Array) -> Array:
        """Ln of the unnormalized probability of 1, 2, ... stages."""
        thinking = self.waiting_room()[:, None] - stages
        weight = xlogy(np.maximum(thinking, 0), (self.z * self.pace())[:, None]) - gammaln(
            np.maximum(thinking, 0) + 1
        )
        return np.where(thinking >= 0, weight, -np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedRoomDelay:
    """M/M/c/K as an admitted arrival sees it: j - 1 waiting with weight rho^j, up to K - c stages."""

    rate: Array
    s: Array
    c: Array
    capacity: Array
    delay: Array

    def wait_quantile(self, p: Array) -> Array:
        """Of the admitted requests."""
        return _quantiles(p, self, own_service=False)

    def response_quantile(self, p: Array) -> Array:
        """Of the admitted requests."""
        return _quantiles(p, self, own_service=True)

    def waiting_room(self) -> Array:
        """Largest number of stages of a wait."""
        return self.capacity - self.c

    def pace(self) -> Array:
        """Rate of one stage [1/s]."""
        return self.c / self.s

    def log_weights(self, stages: Array) -> Array:
        """Ln of the unnormalized probability of 1, 2, ... stages."""
        weight = xlogy(stages, (self.rate * self.s / self.c)[:, None])
        return np.where(stages <= self.waiting_room()[:, None], weight, -np.inf)


StagedDelay = FiniteSourceDelay | LimitedRoomDelay


def _quantiles(p: Array, law: StagedDelay, *, own_service: bool) -> Array:
    """Quantiles in the broadcast shape of p and the law, some scenarios at a time."""
    names = law.__dataclass_fields__
    share, *columns = np.broadcast_arrays(p, *(getattr(law, name) for name in names))
    flat = dict(zip(names, (column.ravel() for column in columns), strict=True))
    aims = -np.log1p(-share.ravel())
    result = np.zeros(aims.size)
    room = type(law)(**flat).waiting_room()
    for part in _batches(room):
        scenario = type(law)(**{name: column[part] for name, column in flat.items()})
        stages, ratio = _stage_tails(scenario, int(room[part].max()), own_service=own_service)
        result[part] = stage_quantile(aims[part], stages, ratio) / scenario.pace()
    return result.reshape(share.shape)


def _batches(room: Array) -> Iterator[NDArray[np.int64]]:
    """Scenarios by waiting room, so that few numbers of a batch are empty."""
    order = np.argsort(room, kind="stable")
    start = 0
    while start < order.size:
        size = max(1, int(BATCH // (room[order[start]] + 1)))
        while size > 1 and size * (room[order[min(start + size, order.size) - 1]] + 1) > 2 * BATCH:
            size //= 2
        yield order[start : start + size]
        start += size


def _stage_tails(law: StagedDelay, room: int, *, own_service: bool) -> tuple[Array, Array]:
    """P(K > l) for l = 0, 1, ... and by which factor it falls beyond."""
    stages = np.arange(1, room + 1, dtype=np.float64)
    chance = np.zeros((law.c.size, room + 1))  # of exactly l = 0.. stages of waiting
    if room:
        weight = law.log_weights(stages[None, :])
        top = weight.max(1, keepdims=True)
        weight = np.exp(weight - np.where(np.isfinite(top), top, 0.0))
        total = weight.sum(1, keepdims=True)
        chance[:, 1:] = law.delay[:, None] * weight / np.where(total > 0, total, 1.0)
    waiting = np.zeros_like(chance)  # P(waiting stages > l)
    waiting[:, :-1] = np.cumsum(chance[:, :0:-1], axis=1)[:, ::-1]
    if not own_service:
        return waiting, np.zeros(law.c.size)
    chance[:, 0] = 1 - law.delay
    busy = law.c * law.pace() * law.s / law.c  # servers that pace the stages
    ratio = 1 - 1 / busy
    serving = np.zeros(law.c.size)
    for stage in range(room + 1):  # waited at most `stage` stages, not yet served within them
        serving = ratio * serving + chance[:, stage]
        waiting[:, stage] += serving
    return waiting, ratio


def stage_quantile(aim: Array, stages: Array, ratio: Array) -> Array:
    """Time in units of one stage at which the tail is exp(-aim)."""

    def excess(time: Array, row: Array, goal: Array) -> Array:
        tail = _tail(time, stages[row.astype(np.int64)], ratio[row.astype(np.int64)])
        with np.errstate(divide="ignore"):
            return -np.log(tail) - goal

    rows = np.arange(aim.size, dtype=np.float64)
    high = enclose(lambda time: excess(time, rows, aim), (stages.shape[1] + aim) / (1 - ratio))
    return increasing_root(excess, np.zeros_like(aim), high, (rows, aim)) * (stages[:, 0] > np.exp(-aim))


def _tail(time: Array, stages: Array, ratio: Array) -> Array:
    """Sum of Poisson(l; time) P(K > l), the geometric rest in closed form."""
    length = stages.shape[1]
    counts = np.arange(length, dtype=np.float64)
    poisson = np.exp(xlogy(counts, time[:, None]) - time[:, None] - gammaln(counts + 1))
    falls = np.where(ratio > 0, ratio, 1.0)
    with np.errstate(divide="ignore"):
        rest = np.log(gammainc(length, falls * time)) - (length - 1) * np.log(falls) - time * (1 - falls)
    beyond = np.where(ratio > 0, stages[:, -1] * np.exp(rest), 0.0)
    return np.asarray((poisson * stages).sum(1) + beyond)
