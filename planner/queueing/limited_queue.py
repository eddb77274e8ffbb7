"""M/M/c/K: Poisson arrivals at a group of servers with room for K requests; who finds it full is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.queueing._erlang import log_inverse_blocking
from planner.queueing._stages import LimitedRoomDelay
from planner.queueing.steady import Steady
from planner.results import Array, quantity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LimitedSteady(Steady):
    """Steady state of a station with limited room; waits and delays are those of the admitted requests.

    Attributes
    ----------
    blocking_probability : ndarray
        Share of the arrivals that find the room full and are lost.
    """

    blocking_probability: Array = quantity("blocking probability")


def mmck(
    arrival_rate: ArrayLike, service_time: ArrayLike, servers: ArrayLike, capacity: ArrayLike
) -> LimitedSteady:
    """Steady state of M/M/c/K.

    p(n) / p(c) = c! / n! a^(n - c) for n <= c and rho^(n - c) for c <= n <= K, with a = lambda S, rho = a / c. An
    admitted request waits if it finds c or more.

    Parameters
    ----------
    arrival_rate : array_like
        Arrivals lambda, the lost ones included [1/s]; 0 is allowed.
    service_time : array_like
        Mean service time S [s].
    servers : array_like
        Servers c.
    capacity : array_like
        Places K, in service and waiting; at least the servers.

    Returns
    -------
    LimitedSteady
        In the broadcast shape of the arguments; always stable.

    Raises
    ------
    InputError
        An argument outside its domain, or less capacity than servers.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.9; Gross and Harris, Fundamentals of Queueing Theory
    (1998), section 2.5.

    Examples
    --------
    >>> steady = mmck(600, 1.3e-3, 1, [1, 2, 10])
    >>> steady.blocking_probability.round(4).tolist()
    [0.4382, 0.2547, 0.0196]
    """
    rate, s, c, k = checks.broadcast(
        arrival_rate=checks.nonnegative("arrival_rate", arrival_rate, "1/s"),
        service_time=checks.positive("service_time", service_time, "s"),
        servers=checks.count("servers", servers),
        capacity=checks.count("capacity", capacity),
    )
    if (k < c).any():
        raise InputError("capacity", float(k[k < c].flat[0]), "at least as many places as servers")
    rate, s, c, k = (a.copy() for a in (rate, s, c, k))
    below, partly, waiting, full = _weights(rate * s, c, k - c)
    admitted = below + partly
    total = admitted + full
    throughput = rate * (admitted / total)
    queue = waiting / total
    delay = partly / np.where(admitted > 0, admitted, 1.0)
    busy = throughput * s
    return LimitedSteady(
        throughput=throughput,
        utilization=busy / c,
        delay_probability=delay,
        queue_length=queue,
        in_gap=np.zeros(c.shape),
        in_service=busy,
        wait_time=queue / np.where(throughput > 0, throughput, 1.0),
        service_time=s,
        stable=np.ones(c.shape, dtype=bool),
        law=LimitedRoomDelay(rate=rate, s=s, c=c, capacity=k, delay=delay),
        blocking_probability=full / total,
    )


def _weights(load: Array, c: Array, room: Array) -> tuple[Array, Array, Array, Array]:
    """Sums of p(n) over n < c and over c <= n < K, of (n - c) p(n), and p(K), in units of the largest of them.

    The states from c on are counted from p(c) where they fall, from p(K) where they rise: powers of a ratio
    sigma <= 1 either way.
    """
    with np.errstate(divide="ignore"):
        # ln of sum over n < c of p(n)/p(c) = c/a 1/B(c - 1, a)
        below = log_inverse_blocking(load, c - 1) + np.log(c) - np.log(load)
        near = np.abs(load - c) < c / 2
        slope = np.abs(np.where(near, np.log1p(np.where(near, load - c, 0) / c), np.log(load) - np.log(c)))
    rises = load > c
    slope_up = np.where(rises, slope, 0.0)
    bottom = -room * slope_up  # ln of p(c) in those units
    scale = np.maximum(below + bottom, 0.0)
    unit = np.exp(-scale)
    sums, moments = _geometric(slope, room)
    last = _power(slope, room)
    partly = np.where(rises, np.exp(-slope_up) * sums, sums) * unit
    waiting = np.where(rises, room * sums - moments, moments + room * last) * unit
    full = np.where(rises, 1.0, last) * unit
    # Without load everything is below; there the difference would be that of two infinities.
    below = np.where(np.isinf(below), 0.0, below)
    return np.exp(below + bottom - np.where(np.isinf(scale), 0.0, scale)), partly, waiting, full


def _geometric(slope: Array, terms: Array) -> tuple[Array, Array]:
    """Sums of sigma^j and of j sigma^j over j < terms, sigma = exp(-slope): by doubling, all terms positive."""
    sums, moments, length = np.zeros_like(slope), np.zeros_like(slope), np.zeros_like(slope)
    for bit in range(int(terms.max()).bit_length() - 1, -1, -1):
        power = _power(slope, length)
        moments = moments * (1 + power) + length * power * sums
        sums = sums * (1 + power)
        length = 2 * length
        odd = np.floor(terms / 2.0**bit) % 2 == 1
        power = np.where(odd, _power(slope, length), 0.0)
        moments, sums, length = moments + length * power, sums + power, length + odd
    return sums, moments


def _power(slope: Array, exponent: Array) -> Array:
    """Sigma^exponent; to the power 0 it is 1 also at no load."""
    with np.errstate(invalid="ignore"):
        return np.where(exponent > 0, np.exp(-slope * exponent), 1.0)
