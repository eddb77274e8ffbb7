"""Closed networks of queues and delays: of one class for every population, and of several, also with open classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import _linearizer, checks
from planner.queueing._product_form import Network, StationGroup, multi_server_rates
from planner.results import Array, Integers, Result, quantity

LARGEST_EXACT: Final = 1_000  # points of the population lattice
LARGEST_POPULATION: Final = 400  # requesters of an exact network; float64 overflows above that

Method = Literal["auto", "exact", "linearizer"]
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MulticlassSteady(Result):
    """Steady state of a closed network of several classes.

    `throughput` and `response_time` (without think time) have the shape (..., classes); `queue_length` (including those
    in service) and `residence_time` [s] over all visits (..., classes, stations); `utilization` of one server
    (including open requests, 0 for delay stations) and `open_number`, the mean open requests at all stations of a
    group, (..., stations). `exact` says whether it is the exact solution.
    """

    throughput: Array = quantity("throughput", "1/s")
    response_time: Array = quantity("response time", "s")
    queue_length: Array
    residence_time: Array
    utilization: Array
    open_number: Array
    exact: bool


def closed_network(
    demands: ArrayLike,
    population: ArrayLike,
    think_time: ArrayLike = 0.0,
    servers: ArrayLike = 1,
    *,
    copies: ArrayLike = 1,
    open_load: ArrayLike = 0.0,
    method: Method = "auto",
) -> MulticlassSteady:
    """Solve closed networks of several classes over groups of equal stations.

    X_r = G(N - e_r) / G(N), with G the convolution of the weights of all groups; the weights of a group of M equal
    stations are the coefficients of the M-th power of the generating function of one. Open requests at a station
    multiply the ways to have n closed ones there.

    Parameters
    ----------
    demands : array_like, shape (..., classes, stations)
        Visits times service time of a request at all stations of each group together [s].
    population : array_like, shape (..., classes)
        Requesters of each class.
    think_time : array_like, shape (..., classes), optional
        Mean time between an answer and the next request [s].
    servers : array_like, shape (..., stations), optional
        Servers of one station of a group; any number of at least 1 without open requests, inf for a delay.
    copies : array_like, shape (..., stations), optional
        Equal stations of a group, visited evenly.
    open_load : array_like, shape (..., stations), optional
        Rate times service time of open requests at each single station [erlang].
    method : {"auto", "exact", "linearizer"}, optional
        "auto" is the exact solution up to 1,000 populations and 400 requesters, else the Linearizer.

    Returns
    -------
    MulticlassSteady
        In the broadcast shape of the scenarios.

    Raises
    ------
    InputError
        An argument outside its domain, a station saturated by open requests, or a network too large to solve exactly.
    ConvergenceError
        The Linearizer did not converge.

    Notes
    -----
    Exact for exponential service that is the same for all classes at a station, or processor sharing. The Linearizer's
    error of the throughput is at most 5 % of the exact solution in our tests.

    References
    ----------
    Buzen, Communications of the ACM 16 (1973); Reiser and Kobayashi, IBM Journal of Research and Development 19
    (1975), for open classes; Chandy and Neuse, Communications of the ACM 25 (1982), for the Linearizer.

    Examples
    --------
    >>> steady = closed_network([[0.2, 0.1], [0.1, 0.3]], [2, 1])
    >>> steady.throughput.round(3).tolist(), steady.exact
    ([3.4, 1.4], True)
    """
    InputError.unless_one_of("method", method, get_args(Method))
    case = _Case.of(demands, population, think_time, servers, copies, open_load)
    small = small_enough(case.full)
    if method == "exact" and not small:
        wanted = f"at most {LARGEST_EXACT} populations and {LARGEST_POPULATION} requesters"
        raise InputError("population", case.full.max(axis=0).tolist(), wanted)
    exact = small and method != "linearizer"
    throughput, queue, opened = case.solve(exact=exact)
    shape, classes = case.shape, case.full.shape[-1]
    per_class, stations = throughput.reshape(*shape, classes), case.demands.shape[-1]
    queue = queue.reshape(*shape, classes, stations)
    with np.errstate(divide="ignore", invalid="ignore"):
        residence = np.where(per_class[..., None] > 0, queue / per_class[..., None], 0.0)
    busy = (throughput[..., None] * case.demands).sum(1) / case.copies + case.load
    return MulticlassSteady(
        throughput=per_class,
        response_time=residence.sum(-1),
        queue_length=queue,
        residence_time=residence,
        utilization=(busy / case.servers).reshape(*shape, stations),
        open_number=opened.reshape(*shape, stations),
        exact=exact,
    )


def small_enough(full: Array) -> bool:
    """Whether the exact solution is small enough for every scenario, `full` (scenarios, classes)."""
    points = math.prod(int(n) + 1 for n in full.max(axis=0))
    return bool(points <= LARGEST_EXACT and full.sum(-1).max() <= LARGEST_POPULATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Checked arguments, scenarios along the first axis."""

    demands: Array
    full: Array
    think: Array
    servers: Array
    copies: Array
    load: Array
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls, demands: ArrayLike, population: ArrayLike, think_time: ArrayLike, servers: ArrayLike, copies: ArrayLike,
        open_load: ArrayLike,
    ) -> _Case:  # fmt: skip
        """Check the arguments and broadcast the scenarios."""
        work = checks.nonnegative("demands", demands, "s")
        counts = checks.count("population", population, least=0)
        if work.ndim < 2 or counts.ndim < 1 or work.shape[-2] != counts.shape[-1]:  # noqa: PLR2004 - classes, stations
            raise InputError(
                "demands",
                list(work.shape),
                "axes (..., classes, stations), and as many classes as populations",
            )
        given = checks.servers(servers)
        many = checks.count("copies", copies)
        load = checks.nonnegative("open_load", open_load, "erlang")
        think = checks.nonnegative("think_time", think_time, "s")
        classes, stations = work.shape[-2:]
        rows = {
            "demands": (work, (classes, stations)), "full": (counts, (classes,)), "think": (think, (classes,)),
            "servers": (given, (stations,)), "copies": (many, (stations,)), "load": (load, (stations,)),
        }  # fmt: skip
        try:
            shape = np.broadcast_shapes(*(a.shape[: -len(own)] for a, own in rows.values()))
            flat = {
                name: np.broadcast_to(a, (*shape, *own)).reshape(-1, *own) for name, (a, own) in rows.items()
            }
        except ValueError as error:
            raise InputError(
                "shapes", list(work.shape), "arguments that broadcast against each other"
            ) from error
        if ((flat["demands"].sum(-1) + flat["think"] <= 0) & (flat["full"] > 0)).any():
            raise InputError(
                "demands", 0.0, "some demand or think time in every class that has requesters", "s"
            )
        _check_open(flat["servers"], flat["load"])
        return cls(shape=shape, **flat)

    def groups(self, at: slice) -> list[StationGroup]:
        """The groups of some scenarios."""
        most = int(self.full[at].sum(-1).max())
        return [
            StationGroup(
                demand=self.demands[at, :, k],
                service_rates=multi_server_rates(self.servers[at, k], most, self.load[at, k]),
                copies=self.copies[at, k],
                load=self.load[at, k],
            )
            for k in range(self.demands.shape[-1])
        ]

    def solve(self, *, exact: bool) -> tuple[Array, Array, Array]:
        """Solve block by block, to bound memory."""
        size = math.prod(int(n) + 1 for n in self.full.max(axis=0)) if exact else 64
        block = max(1, 2_000_000 // size)  # numbers of one block of scenarios
        parts: list[Sequence[Array]] = []
        for start in range(0, len(self.full), block):
            at = slice(start, start + block)
            if exact:
                parts.append(Network.of(self.full[at], self.think[at], self.groups(at)).solve())
            else:
                parts.append(_linearizer.solve(self.full[at], self.think[at], self.groups(at))[:3])
        throughput, queue, opened = (np.concatenate(each) for each in zip(*parts, strict=True))
        return throughput, queue, opened


def _check_open(servers: Array, load: Array) -> None:
    """Refuse open requests that saturate a station, or a fraction of a server with open requests."""
    if (load >= servers).any():
        worst = int(np.argmax(load / servers))
        raise InputError(
            "open_load", float(load.ravel()[worst]), f"below {servers.ravel()[worst]:g} servers", "erlang"
        )
    most = 5_000
    parts = (load > 0) & ((servers != np.rint(servers)) | (np.isfinite(servers) & (servers > most)))
    if parts.any():
        wanted = f"a whole number of at most {most}, or inf, with open requests"
        raise InputError("servers", float(servers[parts][0]), wanted)
