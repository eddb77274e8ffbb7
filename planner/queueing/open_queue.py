"""M/M/c: Poisson arrivals at a group of servers, with inflation of the service time and redrive gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from planner.queueing import checks
from planner.queueing.erlang import erlang_c
from planner.queueing.gaps import Station, capacity, open_with_gaps
from planner.queueing.steady import Steady
from planner.results import Array


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
        infinite and the throughput is the capacity.

    Raises
    ------
    InputError
        An argument outside its domain.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.5; for the gaps see `planner.queueing.gaps`.

    Examples
    --------
    >>> steady = mmc(600, 1.3e-3, [1, 2])
    >>> (steady.wait_time * 1e3).round(2).tolist()
    [4.61, 0.23]
    """
    rate, s, c, i, g = checks.broadcast(
        arrival_rate=checks.nonnegative("arrival_rate", arrival_rate, "1/s"),
        service_time=checks.positive("service_time", service_time, "s"),
        servers=checks.count("servers", servers),
        inflation=checks.nonnegative("inflation", inflation),
        redrive_time=checks.nonnegative("redrive_time", redrive_time, "s"),
    )
    shape = rate.shape
    plain = ((i == 0) & (g == 0)) | (rate == 0)
    if plain.all():
        return _plain(rate, s, c)
    simple = _plain(rate, s, c)
    values = np.stack([getattr(simple, name) for name in _NAMES]).reshape(len(_NAMES), -1)
    index = np.flatnonzero(~plain)
    picked = [a.ravel()[index] for a in (rate, s, c, i, g)]
    values[:, index] = _chain(*picked)
    fields = dict(zip(_NAMES, values.reshape(-1, *shape), strict=True))
    return Steady(**{**fields, "stable": fields["stable"].astype(bool)})


_NAMES = (
    "throughput", "utilization", "delay_probability", "queue_length", "in_gap", "in_service", "wait_time",
    "service_time", "stable",
)  # fmt: skip


def _plain(rate: Array, s: Array, c: Array) -> Steady:
    """Closed form without inflation and gaps."""
    load = rate * s
    stable = load < c
    delay = erlang_c(load, c)
    spare = np.where(stable, c - load, 1.0)
    wait = np.where(stable, delay * s / spare, np.inf)
    busy = np.minimum(load, c)
    return Steady(
        throughput=np.where(stable, rate, c / s),
        utilization=busy / c,
        delay_probability=delay,
        queue_length=np.where(stable, delay * load / spare, np.inf),
        in_gap=np.zeros(rate.shape),
        in_service=busy,
        wait_time=wait,
        service_time=np.broadcast_to(s, rate.shape),
        stable=stable,
    )


def _chain(rate: Array, s: Array, c: Array, i: Array, g: Array) -> Array:
    """Level chain of the scenarios with inflation or gaps; saturated ones at their capacity."""
    # A gap of one millionth of the service time stands for none: its effect is below what inflation can state.
    station = Station(service=s, servers=c, inflation=i, gap=np.maximum(g, 1e-6 * s))
    largest = capacity(station)
    stable = rate < largest
    values = np.full((len(_NAMES), len(rate)), np.inf)
    full = s * (1 + i * (c - 1))
    for row, saturated in (
        (0, largest), (1, largest * full / c), (2, 1.0), (4, c - largest * full), (5, largest * full), (7, full),
        (8, 0.0),
    ):  # fmt: skip
        values[row] = saturated
    if stable.any():
        part = Station(service=s[stable], servers=c[stable], inflation=i[stable], gap=station.gap[stable])
        steady = Steady.from_sums(open_with_gaps(rate[stable], part), c[stable])
        values[:, stable] = np.stack([getattr(steady, name) for name in _NAMES])
    return values
