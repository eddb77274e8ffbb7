"""Closed networks of queues and delays: exact mean value analysis of one class, for every population up to N."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.results import Array, Integers, Result, quantity

Known = dict[tuple[int, ...], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkSteady(Result):
    """Steady state of a closed network for every number of requesters.

    The last axis of `queue_length`, `residence_time` (over all visits) and `utilization` (0 for delay stations) is the
    station, the one before it the population 1, 2, ..., N, which is the last axis of the other arrays. Numbers include
    requests in service; the response time does not include think time.
    """

    population: Array = quantity("population")
    throughput: Array = quantity("throughput", "1/s")
    response_time: Array = quantity("response time", "s")
    queue_length: Array = quantity("queue length")
    residence_time: Array = quantity("residence time", "s")
    utilization: Array = quantity("utilization")

    def quantities(self) -> dict[str, tuple[str, str]]:
        """Station number first: the table has a row per population and station."""
        return {"station": ("", ""), **Result.quantities(self)}

    @property
    def station(self) -> Integers:
        """Number of each station."""
        return np.broadcast_to(np.arange(self.queue_length.shape[-1]), self.queue_length.shape)

    def _aligned(self, name: str) -> Array:
        """Repeat numbers of the network for each of its stations."""
        values = np.asarray(getattr(self, name))
        return values if values.ndim == self.queue_length.ndim else values[..., None]


def mva(
    demands: ArrayLike, population: int, think_time: ArrayLike = 0.0, servers: ArrayLike = 1
) -> NetworkSteady:
    """Exact mean value analysis of a closed product-form network of one class; `closed_network` takes several.

    R_k(n) = D_k (1 + Q_k(n - 1)) at a queue, D_k at a delay, and with c servers D_k/c (1 + Q_k(n - 1) + sum over j < c
    - 1 of (c - 1 - j) p_k(j | n - 1)); X(n) = n / (Z + sum R_k), Q_k = X R_k. The probability of an empty station comes
    from the network without it, p_k(0 | n) = p_k(0 | n - 1) X(n) / X_without_k(n), so that nothing is subtracted.

    Parameters
    ----------
    demands : array_like, shape (..., stations)
        Visits times service time at each station [s].
    population : int
        Requesters N.
    think_time : array_like, shape (...), optional
        Mean time between an answer and the next request [s].
    servers : array_like, shape (stations,), optional
        Servers of each station; inf for a delay station.

    Returns
    -------
    NetworkSteady
        The whole curve 1..N.

    Raises
    ------
    InputError
        An argument outside its domain, a cycle that takes no time, or a network too large for the exact solution.

    References
    ----------
    Reiser and Lavenberg, Journal of the ACM 27 (1980); the empty station: Casale (2008) calls it conditional MVA.

    Examples
    --------
    >>> mva([0.2, 0.1], 4, think_time=1.0).throughput.round(3).tolist()
    [0.769, 1.494, 2.166, 2.775]
    """
    count = checks.count("population", population)
    if count.ndim:
        raise InputError("population", count.tolist(), "one count; closed_network takes one of each class")
    most, work = int(count), checks.nonnegative("demands", demands, "s")
    if work.ndim < 1:
        raise InputError("demands", work.tolist(), "a last axis for the stations")
    total, pause = checks.broadcast(
        demands=work.sum(-1), think_time=checks.nonnegative("think_time", think_time, "s")
    )
    stations = _servers(servers, work.shape[-1])
    # With a server for every requester there is no queue.
    effective = np.where(stations >= most, np.inf, stations)
    _check_size(most, total.size, stations, effective)
    if (total + pause <= 0).any():
        raise InputError("demands", 0.0, "some demand or think time in every cycle", "s")
    # A think time negligible relative to the demands counts as zero: its reciprocal would overflow.
    pause = np.where(pause > 1e-290 * total, pause, 0.0)
    full = np.broadcast_to(work, (*total.shape, stations.size))
    throughput, residence = _solve(
        full.reshape(-1, stations.size), pause.ravel(), effective, most, tuple(range(stations.size)), {}
    )
    throughput = throughput[:, 1:].reshape(*total.shape, most)
    residence = residence[:, 1:].reshape(*throughput.shape, stations.size)
    each = throughput[..., None]
    return NetworkSteady(
        population=np.broadcast_to(np.arange(1, most + 1), throughput.shape),
        throughput=throughput,
        response_time=residence.sum(-1),
        queue_length=each * residence,
        residence_time=residence,
        utilization=each * full[..., None, :] / stations,
    )


def _check_size(
    population: int,
    scenarios: int,
    servers: Array,
    effective: Array,
    *,
    numbers: int = 5_000_000,
    requesters: int = 100_000,
    multiple: int = 8,
) -> None:
    """Refuse networks that take more than about 10 s or several GB; each multi-server station doubles the work."""
    several, left = (int(((each > 1) & np.isfinite(each)).sum()) for each in (servers, effective))
    if several > multiple:
        raise InputError("servers", several, f"at most {multiple} multi-server stations")
    probabilities = effective[(effective > 1) & np.isfinite(effective)].sum()
    if population * 2**left > requesters:
        wanted = f"at most {requesters} requesters, half as many with each multi-server station"
        raise InputError("population", population, wanted)
    if population > (most := int(numbers / max(scenarios * (servers.size + probabilities), 1)) - 1):
        wanted = (
            f"at most {max(most, 0)} requesters with {scenarios * servers.size} stations in all scenarios"
        )
        raise InputError("population", population, wanted)


def _servers(servers: ArrayLike, stations: int) -> Array:
    given = checks.servers(servers)
    checks.count("servers", np.where(np.isposinf(given), 1.0, given))
    if given.ndim > 1 or given.size not in {1, stations}:
        raise InputError("servers", list(given.shape), f"one count, or one for each of {stations} stations")
    return np.broadcast_to(given, (stations,))


def _solve(
    demands: Array, think: Array, servers: Array, most: int, names: tuple[int, ...], known: Known
) -> tuple[Array, Array]:
    """Solve the network of the stations `names`; each subnetwork is solved once and kept in `known`."""
    if names not in known:
        here = list(names)
        multiple = np.flatnonzero((servers[here] > 1) & np.isfinite(servers[here])).tolist()
        fewer = {
            k: _solve(demands, think, servers, most, names[:k] + names[k + 1 :], known)[0] for k in multiple
        }
        known[names] = _recursion(demands[:, here], think, servers[here], most, fewer)
    return known[names]


def _recursion(
    demands: Array, think: Array, servers: Array, most: int, without: dict[int, Array]
) -> tuple[Array, Array]:
    """Throughput (scenarios, most + 1) and residence times (scenarios, most + 1, stations) from none to all requesters.

    `without` is the throughput of the network less a multi-server station.
    """
    scenarios, stations = demands.shape
    throughput, residence = np.zeros((scenarios, most + 1)), np.zeros((scenarios, most + 1, stations))
    queue = np.zeros((scenarios, stations))
    queues = np.where(np.isinf(servers), 0.0, 1.0)
    most_served = np.where(np.isinf(servers), 1.0, servers)
    # P(j requests at a station), j = 0..servers - 1; all stations of the empty network are empty.
    idle = {k: np.eye(1, int(servers[k])).repeat(scenarios, axis=0) for k in without}
    for n in range(1, most + 1):
        ahead = 1 + queues * queue
        for k, distribution in idle.items():
            ahead[:, k] += distribution[:, :-1] @ np.arange(distribution.shape[-1] - 1, 0, -1)
        residence[:, n] = demands / most_served * ahead
        with np.errstate(divide="ignore"):  # a part of a network may take no time
            throughput[:, n] = n / (think + residence[:, n].sum(-1))
        with np.errstate(invalid="ignore"):
            flow = throughput[:, n, None] * residence[:, n]
        queue = np.where(np.isfinite(flow), flow, 0.0)
        for k, distribution in idle.items():
            # P(j | n) = D X / j P(j - 1 | n - 1), and P(0 | n) from the network without the station
            passing = demands[:, k] * throughput[:, n]
            distribution[:, 1:] = (
                passing[:, None] / np.arange(1, distribution.shape[-1]) * distribution[:, :-1]
            )
            distribution[:, 0] *= throughput[:, n] / without[k][:, n]
    return throughput, residence
