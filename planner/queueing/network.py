"""Closed networks of queues and delays: exact mean value analysis, and the bounds that need no iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.errors import InputError
from planner.queueing import checks
from planner.results import Array, Result, quantity

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Populations by class, shape (points, classes), the last class fastest; the step back of one requester."""

    points: Indices
    strides: Indices

    @classmethod
    def up_to(cls, full: Indices) -> Lattice:
        """All populations from none to the full one."""
        axes = np.meshgrid(*(np.arange(n + 1) for n in full), indexing="ij")
        strides = np.cumprod(np.append(1, full[:0:-1] + 1))[::-1]
        return cls(points=np.stack([axis.ravel() for axis in axes], axis=-1), strides=strides)

    def levels(self) -> list[Indices]:
        """Points of 1, 2, ... requesters in all."""
        total = self.points.sum(-1)
        order = np.argsort(total, kind="stable")
        return np.split(order, np.cumsum(np.bincount(total))[:-1])[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeNetwork:
    """Demands (scenarios, classes, stations), think times (scenarios, classes), servers (stations; inf a delay)."""

    demands: Array
    think: Array
    servers: Array

    def without(self, station: int) -> LatticeNetwork:
        """The same network less one station."""
        keep = np.arange(self.servers.size) != station
        return LatticeNetwork(demands=self.demands[..., keep], think=self.think, servers=self.servers[keep])


def solve(network: LatticeNetwork, lattice: Lattice) -> tuple[Array, Array]:
    """Throughput (scenarios, points, classes) and residence times (scenarios, points, classes, stations)."""
    return _solve(network, lattice, tuple(range(network.servers.size)), network, {})


Known = dict[tuple[int, ...], tuple[Array, Array]]


def _solve(
    network: LatticeNetwork, lattice: Lattice, names: tuple[int, ...], part: LatticeNetwork, known: Known
) -> tuple[Array, Array]:
    """Solve the stations `names`; each network met on the way, by its stations, is solved once."""
    if names not in known:
        multiple = np.flatnonzero((part.servers > 1) & np.isfinite(part.servers))
        fewer = {
            int(k): _solve(network, lattice, names[:k] + names[k + 1 :], part.without(int(k)), known)[0]
            for k in multiple
        }
        known[names] = _recursion(part, lattice, fewer)
    return known[names]


def _recursion(network: LatticeNetwork, lattice: Lattice, without: dict[int, Array]) -> tuple[Array, Array]:
    """The recursion over populations; `without` is the throughput of the network less a multi-server station."""
    scenarios, classes, stations = network.demands.shape
    points = len(lattice.points)
    throughput = np.zeros((scenarios, points, classes))
    residence = np.zeros((scenarios, points, classes, stations))
    queue = np.zeros((scenarios, points, stations))
    queues = np.where(np.isinf(network.servers), 0.0, 1.0)
    pace = np.where(np.isinf(network.servers), 1.0, network.servers)
    # P(j requests at a station | population), j = 0..servers - 1; the empty network has none anywhere.
    idle = {k: np.zeros((scenarios, points, int(network.servers[k]))) for k in without}
    for law in idle.values():
        law[:, 0, 0] = 1.0
    for here in lattice.levels():
        for r in range(classes):
            at = here[lattice.points[here, r] > 0]
            before = at - lattice.strides[r]
            ahead = 1 + queues * queue[:, before]
            for k, law in idle.items():
                ahead[..., k] += law[:, before, :-1] @ np.arange(law.shape[-1] - 1, 0, -1)
            residence[:, at, r] = network.demands[:, None, r] / pace * ahead
            time = network.think[:, None, r] + residence[:, at, r].sum(-1)
            with np.errstate(divide="ignore"):  # a part of a network may take no time at all
                throughput[:, at, r] = lattice.points[at, r] / time
        with np.errstate(invalid="ignore"):
            flow = throughput[:, here, :, None] * residence[:, here]
        queue[:, here] = np.where(np.isfinite(flow), flow, 0).sum(-2)
        for k, law in idle.items():
            _next_law(law, network.demands[..., k], throughput, without[k], lattice, here)
    return throughput, residence


def _next_law(
    law: Array, demand: Array, throughput: Array, without: Array, lattice: Lattice, here: Indices
) -> None:
    """P(j | n) = sum over classes of D X / j P(j - 1 | n - 1), and P(0 | n) from the network without the station."""
    first = np.argmax(lattice.points[here] > 0, axis=-1)
    before = here - lattice.strides[first]
    law[:, here, 0] = law[:, before, 0] * (throughput[:, here, first] / without[:, here, first])
    for r in range(lattice.strides.size):
        at = here[lattice.points[here, r] > 0]
        passing = demand[:, None, r] * throughput[:, at, r]
        for j in range(1, law.shape[-1]):
            law[:, at, j] += passing / j * law[:, at - lattice.strides[r], j - 1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkSteady(Result):
    """Steady state of a closed network.

    With one class the next to last axis of the station arrays, the last of the others, is the population 1, 2, ..., N;
    with several classes it is the class, all at the full population. The last axis of `queue_length`, `residence_time`
    (over all visits) and `utilization` (0 for delay stations) is the station; numbers include those in service, and the
    response time has no think time in it.
    """

    population: Array = quantity("population")
    throughput: Array = quantity("throughput", "1/s")
    response_time: Array = quantity("response time", "s")
    queue_length: Array = quantity("queue length")
    residence_time: Array = quantity("residence time", "s")
    utilization: Array = quantity("utilization")

    def quantities(self) -> dict[str, tuple[str, str]]:
        """The number of the station stands before them: the table has a row a population (or class) and station."""
        return {"station": ("", ""), **Result.quantities(self)}

    @property
    def station(self) -> NDArray[np.int64]:
        """Number of each station."""
        return np.broadcast_to(np.arange(self.queue_length.shape[-1]), self.queue_length.shape)

    def _aligned(self, name: str) -> Array:
        """Numbers of the network stand beside each of its stations."""
        values = np.asarray(getattr(self, name))
        return values if values.ndim == self.queue_length.ndim else values[..., None]


def mva(
    demands: ArrayLike, population: ArrayLike, think_time: ArrayLike = 0.0, servers: ArrayLike = 1
) -> NetworkSteady:
    """Exact mean value analysis of a closed product-form network.

    R_k(n) = D_k (1 + Q_k(n - 1)) at a queue, D_k at a delay, and with c servers D_k/c (1 + Q_k(n - 1) + sum over j < c
    - 1 of (c - 1 - j) p_k(j | n - 1)); X(n) = n / (Z + sum R_k), Q_k = X R_k. The probability of an empty station comes
    from the network without it, p_k(0 | n) = p_k(0 | n - 1) X(n) / X_without_k(n), so that nothing is subtracted.
    Several classes go over all populations up to the full one.

    Parameters
    ----------
    demands : array_like
        Visits times service time at each station [s]: shape (..., stations) for one class, (..., classes,
        stations) for several.
    population : int or sequence of int
        Requesters N, or those of each class.
    think_time : array_like, optional
        Mean time between an answer and the next request [s]; shape (...) for one class, (..., classes) for several.
    servers : array_like, optional
        Servers of each station; inf is a delay station, where nobody queues.

    Returns
    -------
    NetworkSteady
        For one class the whole curve 1..N.

    Raises
    ------
    InputError
        An argument outside its domain, no time at all in a cycle, or a network too large for its exact solution.

    References
    ----------
    Reiser and Lavenberg, Journal of the ACM 27 (1980); the empty station: Casale (2008) calls it conditional MVA.

    Examples
    --------
    >>> mva([0.2, 0.1], 4, think_time=1.0).throughput.round(3).tolist()
    [0.769, 1.494, 2.166, 2.775]
    >>> mva([[0.2, 0.1], [0.1, 0.3]], [2, 1]).throughput.round(3).tolist()
    [3.4, 1.4]
    """
    counts = checks.count("population", population, least=0)
    several = counts.ndim == 1
    if counts.ndim > 1 or counts.sum() < 1:
        raise InputError(
            "population",
            np.asarray(population).tolist(),
            "one count, or one for each class, at least 1 in all",
        )
    work = checks.nonnegative("demands", demands, "s")
    if work.ndim < 1 + several:
        raise InputError(
            "demands", work.tolist(), "a last axis for the stations" + " and one for the classes" * several
        )
    work = work if several else work[..., None, :]
    classes = np.atleast_1d(counts).astype(np.int64)
    think = checks.nonnegative("think_time", think_time, "s")
    think = think if several else think[..., None]
    shape = _shape(work, think, classes.size)
    stations = _servers(servers, work.shape[-1])
    # With a server for everybody nobody queues.
    effective = np.where(stations >= classes.sum(), np.inf, stations)
    _check_size(classes, max(math.prod(shape), 1), stations, effective)
    full = np.broadcast_to(work, (*shape, *work.shape[-2:])).reshape(-1, *work.shape[-2:])
    pause = np.broadcast_to(think, (*shape, classes.size)).reshape(-1, classes.size)
    if ((full.sum(-1) + pause <= 0) & (classes > 0)).any():
        raise InputError("demands", 0.0, "some demand or think time in every class that has requesters", "s")
    # A think time that vanishes beside the demands is none: its reciprocal would overflow.
    # of the demands, far below what float64 resolves
    pause = np.where(pause > 1e-290 * full.sum(-1), pause, 0.0)
    lattice = Lattice.up_to(classes)
    throughput, residence = solve(LatticeNetwork(demands=full, think=pause, servers=effective), lattice)
    return _result(throughput, residence, full, stations, lattice, shape, several=several)


def _check_size(
    classes: NDArray[np.int64],
    scenarios: int,
    servers: Array,
    effective: Array,
    *,
    numbers: int = 5_000_000,
    requesters: int = 100_000,
    multiple: int = 8,
) -> None:
    """Refuse what takes more than some 10 s or GB; the work doubles with each multi-server station."""
    several, left = (int(((each > 1) & np.isfinite(each)).sum()) for each in (servers, effective))
    if several > multiple:
        raise InputError("servers", several, f"at most {multiple} multi-server stations")
    laws = effective[(effective > 1) & np.isfinite(effective)].sum()
    size = int(math.prod(int(n) + 1 for n in classes) * scenarios * (servers.size + laws))
    if size > numbers:
        raise InputError("population", classes.tolist(), f"at most {numbers} numbers, not {size}")
    if int(classes.sum()) * 2**left > requesters:
        told = f"at most {requesters} requesters, half as many with each multi-server station"
        raise InputError("population", classes.tolist(), told)


def _result(
    throughput: Array, residence: Array, demands: Array, servers: Array, lattice: Lattice, shape: tuple[int, ...], *,
    several: bool,
) -> NetworkSteady:  # fmt: skip
    """Pick the curve (one class) or the full population (several)."""
    if several:
        population, throughput, residence = lattice.points[-1], throughput[:, -1], residence[:, -1]
    else:
        population, throughput, residence = lattice.points[1:, 0], throughput[:, 1:, 0], residence[:, 1:, 0]
    throughput = throughput.reshape(*shape, -1)
    residence = residence.reshape(*shape, *residence.shape[1:])
    each = throughput[..., None]
    return NetworkSteady(
        population=np.broadcast_to(population, throughput.shape),
        throughput=throughput,
        response_time=residence.sum(-1),
        queue_length=each * residence,
        residence_time=residence,
        utilization=each * demands.reshape(*shape, *demands.shape[1:]) / servers,
    )


def _shape(work: Array, think: Array, classes: int) -> tuple[int, ...]:
    """Broadcast shape of the scenarios."""
    if work.shape[-2] != classes:
        raise InputError("demands", list(work.shape), f"{classes} classes, as many as populations")
    if think.ndim and think.shape[-1] not in {1, classes}:
        raise InputError("think_time", list(think.shape), f"{classes} classes, as many as populations")
    try:
        return np.broadcast_shapes(work.shape[:-2], think.shape[:-1])
    except ValueError as error:
        told = f"demands {work.shape}, think_time {think.shape}"
        raise InputError("shapes", told, "arguments that broadcast against each other") from error


def _servers(servers: ArrayLike, stations: int) -> Array:
    given = np.asarray(servers, dtype=np.float64) if np.size(servers) else checks.count("servers", servers)
    delay = np.isposinf(given)
    checks.count("servers", np.where(delay, 1.0, given))
    if given.ndim > 1 or given.size not in {1, stations}:
        raise InputError("servers", list(given.shape), f"one count, or one for each of {stations} stations")
    return np.broadcast_to(given, (stations,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds(Result):
    """What the throughput and response time of a closed network of single queues cannot leave."""

    throughput_low: Array = quantity("least throughput", "1/s")
    throughput_high: Array = quantity("largest throughput", "1/s")
    response_low: Array = quantity("least response time", "s")
    response_high: Array = quantity("largest response time", "s")


@checks.law
def asymptotic_bounds(demands: ArrayLike, population: ArrayLike, think_time: ArrayLike = 0.0) -> Bounds:
    """Bounds of a closed network from its total and its largest demand.

    N / (Z + N D) <= X <= min(N / (Z + D), 1 / D_max) and R = N / X - Z.

    Returns
    -------
    Bounds
        In the broadcast shape of the scenarios.

    References
    ----------
    Denning and Buzen, ACM Computing Surveys 10 (1978); Lazowska et al., Quantitative System Performance (1984),
    table 5.1.

    Examples
    --------
    >>> bounds = asymptotic_bounds([0.2, 0.1], [1, 10], think_time=1.0)
    >>> bounds.throughput_high.round(3).tolist()
    [0.769, 5.0]
    """
    total, most, _, n, z = _bounded(demands, population, think_time)
    return _bounds(n / (z + n * total), np.minimum(n / (z + total), 1 / most), n, z, total)


@checks.law
def balanced_job_bounds(demands: ArrayLike, population: ArrayLike, think_time: ArrayLike = 0.0) -> Bounds:
    """Bounds of a closed network from balanced networks that are slower and faster.

    N / (Z + D + (N - 1) D_max / (1 + Z / (N D))) <= X <= min(1 / D_max, N / (Z + D + (N - 1) D_avg / (1 + Z / D))).

    Returns
    -------
    Bounds
        In the broadcast shape of the scenarios.

    References
    ----------
    Zahorjan, Sevcik, Eager and Galler, Communications of the ACM 25 (1982); Lazowska et al., Quantitative System
    Performance (1984), table 5.2.

    Examples
    --------
    >>> bounds = balanced_job_bounds([0.2, 0.1], 10, think_time=1.0)
    >>> float(bounds.throughput_low.round(3)), float(bounds.throughput_high.round(3))
    (3.774, 5.0)
    """
    total, most, mean, n, z = _bounded(demands, population, think_time)
    low = n / (z + total + (n - 1) * most / (1 + z / (n * total)))
    high = n / (z + total + (n - 1) * mean / (1 + z / total))
    return _bounds(low, np.minimum(high, 1 / most), n, z, total)


def _bounded(demands: ArrayLike, population: ArrayLike, think_time: ArrayLike) -> list[Array]:
    """Total, largest and mean demand, requesters and think time."""
    work = np.atleast_1d(checks.nonnegative("demands", demands, "s"))
    total = checks.positive("demands", work.sum(-1), "s")
    given = checks.checked(population=population, think_time=think_time)
    return checks.broadcast(demands=total, largest=work.max(-1), mean=total / work.shape[-1], **given)


def _bounds(low: Array, high: Array, n: Array, z: Array, total: Array) -> Bounds:
    """Little's law turns the throughput into the response time, which is never below the demand."""
    return Bounds(
        throughput_low=low,
        throughput_high=high,
        response_low=np.maximum(n / high - z, total),
        response_high=n / low - z,
    )
