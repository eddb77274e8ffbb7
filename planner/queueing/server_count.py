"""The inverse questions of M/M/c and M/G/c: the fewest servers, and the largest load, that meet a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InfeasibleError, InputError
from planner.queueing import checks
from planner.queueing._delays import log_response_tail
from planner.queueing._roots import increasing_root
from planner.queueing.erlang import inverse_blocking
from planner.queueing.general_service import normalized_wait
from planner.results import Array, Flags, Integers

Kind = Literal["wait_time", "delay_probability", "response_quantile"]


@checks.documented
def min_servers(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    *,
    scv: ArrayLike = 1.0,
    wait_time: ArrayLike | None = None,
    delay_probability: ArrayLike | None = None,
    response_quantile: tuple[ArrayLike, ArrayLike] | None = None,
) -> Integers:
    """Fewest servers with which an open queue meets a target; several targets must all be met.

    The mean wait C S / (c - a), the delay probability C and the response quantile of M/M/c all fall with c, so
    that the answer c meets the target by `mmc` and c - 1 does not. With `scv` other than 1 the model is `mgc`.

    Returns
    -------
    ndarray of int64
        Servers in the broadcast shape of all arguments.

    Raises
    ------
    InputError
        An argument outside its domain, a load above 1e15 erlang, no target, or a quantile with `scv` other than 1.
    InfeasibleError
        A quantile that no number of servers meets, because service alone takes longer.

    References
    ----------
    Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8 and 3.4.18.

    Examples
    --------
    >>> min_servers([755, 3000], 1.3e-3, wait_time=[1e-3, 1e-4]).tolist()
    [2, 7]
    >>> int(min_servers(3000, 1.3e-3, response_quantile=(0.95, 5e-3)))
    6
    """
    given = checks.checked(arrival_rate=arrival_rate, service_time=service_time, scv=scv)
    shape, (rate, s, v), targets = _prepared(given, wait_time, delay_probability, response_quantile)
    found = [_fewest(rate, s, v, target) for target in targets]
    return np.asarray(np.maximum.reduce(found).reshape(shape), dtype=np.int64)


@checks.documented
def max_load(
    service_time: ArrayLike,
    servers: ArrayLike,
    *,
    scv: ArrayLike = 1.0,
    wait_time: ArrayLike | None = None,
    delay_probability: ArrayLike | None = None,
    response_quantile: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:
    """Largest arrival rate with which an open queue meets a target; several targets must all be met.

    The root of the increasing target quantity of `mmc` (`mgc` with `scv` other than 1) over the load.

    Returns
    -------
    ndarray
        Arrival rate in the broadcast shape of all arguments [1/s]; the target is met there, up to rounding.

    Raises
    ------
    InputError
        An argument outside its domain, no target, or a quantile with `scv` other than 1.
    InfeasibleError
        A quantile that no load meets, because service alone takes longer.

    References
    ----------
    Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8 and 3.4.18, solved for the load.

    Examples
    --------
    >>> max_load(1.3e-3, [1, 2, 3], wait_time=1e-3).round(1).tolist()
    [334.4, 1014.4, 1736.3]
    """
    given = checks.checked(servers=servers, service_time=service_time, scv=scv)
    shape, (c, s, v), targets = _prepared(given, wait_time, delay_probability, response_quantile)
    found = [_largest_rate(c, s, v, target) for target in targets]
    return np.asarray(np.minimum.reduce(found).reshape(shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A target: `kind`, its limit, and for a quantile the goal -ln(1 - p) of the logarithm of the tail."""

    kind: Kind
    limit: Array
    goal: Array

    def take(self, index: Integers) -> _Target:
        """The target of some scenarios."""
        return _Target(kind=self.kind, limit=self.limit[index], goal=self.goal[index])

    def excess(self, delay: Array, wait: Array, spare: Array, s: Array) -> Array:
        """Excess of `wait` [services] over the limit, rising with the load, inf if saturated; `spare` is c - a."""
        if self.kind == "wait_time":
            return wait * s - self.limit
        if self.kind == "delay_probability":
            return np.where(spare > 0, delay - self.limit, np.inf)
        tail = log_response_tail(self.limit / s, delay, np.maximum(spare, 0))
        return np.where(spare > 0, tail + self.goal, np.inf)


def _prepared(
    given: dict[str, Array],
    wait_time: ArrayLike | None,
    delay_probability: ArrayLike | None,
    response_quantile: tuple[ArrayLike, ArrayLike] | None,
) -> tuple[tuple[int, ...], list[Array], list[_Target]]:
    """Shape of the answer, the given arrays flat, and the targets."""
    means = {"wait_time": wait_time, "delay_probability": delay_probability}
    arrays = given | checks.checked(**{name: goal for name, goal in means.items() if goal is not None})
    if response_quantile is not None:
        try:
            share, seconds = response_quantile
        except (TypeError, ValueError) as error:
            raise InputError("response_quantile", response_quantile, "a pair (p, seconds)") from error
        arrays["p"] = checks.probability("response_quantile[0]", share)
        arrays["response_quantile"] = checks.positive("response_quantile[1]", seconds, "s")
        if (given["scv"] != 1).any():
            raise InputError("scv", float(given["scv"][given["scv"] != 1].flat[0]), "1 for a quantile")
    if len(arrays) == len(given):
        raise InputError("wait_time", None, "a target: wait_time, delay_probability or response_quantile")
    broadcast = checks.broadcast(**arrays)
    flat = dict(zip(arrays, (array.ravel() for array in broadcast), strict=True))
    goal = -np.log1p(-flat["p"]) if "p" in flat else np.zeros(broadcast[0].size)
    if "p" in flat and (short := flat["response_quantile"] <= goal * flat["service_time"]).any():
        row = int(np.argmax(short))
        limit, needed = flat["response_quantile"][row], goal[row] * flat["service_time"][row]
        problem = (
            f"no number of servers answers that share within {limit:.6g} s: service takes {needed:.6g} s"
        )
        raise InfeasibleError(problem)
    targets = [_Target(kind=kind, limit=flat[kind], goal=goal) for kind in get_args(Kind) if kind in flat]
    return broadcast[0].shape, [flat[name] for name in given], targets


def _fewest(rate: Array, s: Array, v: Array, target: _Target, *, largest: float = 1e15) -> Array:
    """Fewest servers, by doubling and bisection; loads above `largest` are refused: floats skip counts there."""
    load = rate * s
    if load.max(initial=0.0) > largest:
        raise InputError("arrival_rate * service_time", float(load.max()), f"at most {largest:g}", "erlang")

    def misses(c: Array, rows: Integers) -> Flags:
        return _excess(load[rows], c, s[rows], v[rows], target.take(rows)) > 0

    low = np.floor(load)  # never enough: unstable
    step = np.ceil(np.sqrt(load)) + 1
    high: Array = low + np.where(load > 0, step, 1.0)  # without load one server meets any target
    rows = np.flatnonzero(load > 0)
    while (rows := rows[misses(high[rows], rows)]).size:
        low[rows] = high[rows]
        step[rows] *= 2
        high[rows] += step[rows]
    rows = np.flatnonzero(high - low > 1)
    while rows.size:
        middle = np.floor((low[rows] + high[rows]) / 2)
        missed = misses(middle, rows)
        low[rows] = np.where(missed, middle, low[rows])
        high[rows] = np.where(missed, high[rows], middle)
        rows = rows[high[rows] - low[rows] > 1]
    return high


def _excess(load: Array, c: Array, s: Array, v: Array, target: _Target) -> Array:
    """Excess over the target, by the arithmetic of `mmc` for scv 1 and of `mgc` else."""
    spare = c - np.minimum(load, c)
    if (v == 1).all():
        with np.errstate(divide="ignore", over="ignore"):
            delay = c / (spare * inverse_blocking(load, c) + np.minimum(load, c))
            wait = delay / spare
    else:
        wait, delay, _ = normalized_wait(load, c, v)
    return target.excess(delay, wait, spare, s)


def _largest_rate(c: Array, s: Array, v: Array, target: _Target) -> Array:
    def excess(log_rate: Array, row: Array) -> Array:
        rows = row.astype(np.int64)
        return _excess(np.exp(log_rate) * s[rows], c[rows], s[rows], v[rows], target.take(rows))

    high = np.log(c / s)
    return np.exp(
        # search down to e^-650 of the largest rate
        increasing_root(excess, high - 650.0, high, (np.arange(c.size, dtype=np.float64),))
    )
