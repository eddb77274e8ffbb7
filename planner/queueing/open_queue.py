"""M/M/c: Poisson arrivals at a group of servers, with inflation of the service time and redrive gaps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.queueing import checks
from planner.queueing._birth_death import open_with_inflation
from planner.queueing._erlang import inverse_blocking
from planner.queueing._laws import ExponentialDelay
from planner.queueing._phases import open_with_gaps
from planner.queueing.steady import Steady
from planner.results import Array

BLOCK: Final = 16_384  # scenarios at a time: their vectors stay in the cache


def mmc(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    *,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> Steady:
    """Steady state of M/M/c.

    Lq = C rho / (1 - rho), W = C S / (c (1 - rho)) with rho = lambda S / c and Erlang's C. With inflation the
    total rate of m requests in service is m / (S (1 + inflation (m - 1))); a redrive gap follows a service only
    if a request waits.

    Parameters
    ----------
    arrival_rate : array_like
        Arrivals lambda [1/s]; 0 is allowed.
    service_time : array_like
        Mean service time S of a request served alone [s].
    servers : array_like
        Servers c.
    inflation : array_like, optional
        Relative growth of the service time with each further request in service.
    redrive_time : array_like, optional
        Mean gap before a server starts a request that had to wait [s].

    Returns
    -------
    Steady
        In the broadcast shape; where the load reaches the capacity `stable` is False, waits and queues are
        infinite and the throughput is the capacity, that of servers that never idle.

    Raises
    ------
    InputError
        An argument outside its domain, or a gap with more than the servers its chain can hold.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.5; for the gaps Neuts, Matrix-Geometric Solutions (1981).

    Examples
    --------
    >>> steady = mmc(600, 1.3e-3, [1, 2])
    >>> (steady.wait_time * 1e3).round(2).tolist()
    [4.61, 0.23]
    >>> (steady.response_quantile(0.9) * 1e3).round(2).tolist()
    [13.61, 3.47]
    """
    rate, s, c, i, g = checks.broadcast(
        arrival_rate=checks.nonnegative("arrival_rate", arrival_rate, "1/s"),
        service_time=checks.positive("service_time", service_time, "s"),
        servers=checks.count("servers", servers),
        inflation=checks.nonnegative("inflation", inflation),
        redrive_time=checks.nonnegative("redrive_time", redrive_time, "s"),
    )
    shape = rate.shape
    rate, s, c = (a.ravel() for a in (rate, s, c))
    values = _plain(rate, s, c)
    in_gap = np.broadcast_to(0.0, c.shape)
    inflated, gapped = bool(i.any()), bool(g.any())
    if inflated or gapped:
        in_gap = np.zeros(c.shape)
        i, g = i.ravel(), g.ravel()
        for index, solve, given in (
            (np.flatnonzero((i > 0) & (g == 0) & (rate > 0)), open_with_inflation, (rate, s, c, i)),
            (np.flatnonzero((g > 0) & (rate > 0)), open_with_gaps, (rate, s, c, i, g)),
        ):
            if index.size:
                sums, stable = solve(*(a[index] for a in given))
                in_gap[index] = sums[3]
                values[:, index] = _fields(sums, c[index], stable)
    throughput, in_service, utilization, delay, queue, wait, service = values.reshape(7, *shape)
    law = None if gapped else ExponentialDelay(delay=delay, wait=wait, service=service, plain=not inflated)
    return Steady(
        throughput=throughput,
        utilization=utilization,
        delay_probability=delay,
        queue_length=queue,
        in_gap=in_gap.reshape(shape),
        in_service=in_service,
        wait_time=wait,
        service_time=service,
        stable=np.isfinite(wait),
        law=law,
    )


def _plain(rate: Array, s: Array, c: Array) -> Array:
    """Closed form without inflation and gaps.

    Rows: throughput, in service, utilization, delay probability, queue length, wait, service time.
    """
    values = np.empty((7, rate.size))
    load = np.multiply(rate, s, out=values[1])
    inverse = inverse_blocking(load, c)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start in range(0, rate.size, BLOCK):
            part = slice(start, start + BLOCK)
            _plain_block(rate[part], s[part], c[part], inverse[part], values[:, part])
    return values


def _plain_block(rate: Array, s: Array, c: Array, inverse: Array, values: Array) -> None:
    """Fill in the rows; a saturated scenario is one whose load is c and whose spare capacity is nothing."""
    throughput, load, utilization, delay, queue, wait, service = values
    np.minimum(load, c, out=load)
    np.divide(c, s, out=throughput)
    np.minimum(rate, throughput, out=throughput)
    spare = np.subtract(c, load, out=utilization)
    np.multiply(spare, inverse, out=delay)
    delay += load
    np.divide(c, delay, out=delay)
    np.divide(delay, spare, out=queue)
    np.multiply(queue, s, out=wait)
    queue *= load
    np.divide(load, c, out=utilization)
    service[:] = s


def _fields(sums: Array, c: Array, stable: NDArray[np.bool_]) -> Array:
    """Rows of `_plain` from what a chain was summed to."""
    throughput, busy, queue, _, delay, service = sums
    wait = np.where(stable, queue / throughput, np.inf)
    return np.stack([throughput, busy, busy / c, delay, queue, wait, service])
