"""Steady states of single stations: M/M/c, M/M/c/K, M/M/c//N and M/PH/c//N, with inflation and redrive gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike

from planner.errors import InputError
from planner.queueing import checks
from planner.queueing._birth_death import closed_product_form, open_with_inflation
from planner.queueing._delays import ExponentialDelay, StagedDelay
from planner.queueing._phases import closed_in_phases, open_with_gaps
from planner.queueing.erlang import inverse_blocking, log_inverse_blocking
from planner.results import Array, Flags, Result, quantity


class DelayDistribution(Protocol):
    """Distribution of the wait and of the response of a station."""

    def quantile(self, p: Array, *, own_service: bool) -> Array | None:
        """Wait, or response, that a share p of the requests does not exceed [s]; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steady(Result):
    """Steady state of one queueing station, arrays in the broadcast shape of the arguments.

    `delay_probability` is seen by an arriving request; `queue_length` is the mean number waiting, including those in a
    redrive gap (`in_gap`); `utilization` is the share of time that one server is in service, without gaps;
    `service_time` includes inflation. Where the load is not below the capacity, `stable` is False and waits are
    infinite. `delays` is the distribution of waits and responses, None if unknown.
    """

    throughput: Array = quantity("throughput", "1/s")
    utilization: Array = quantity("utilization")
    delay_probability: Array = quantity("delay probability")
    queue_length: Array = quantity("queue length")
    in_gap: Array = quantity("in gap")
    in_service: Array = quantity("in service")
    wait_time: Array = quantity("wait time", "s")
    service_time: Array = quantity("service time", "s")
    stable: Flags
    delays: DelayDistribution | None = None
    derived: ClassVar[dict[str, tuple[str, str]]] = {"response_time": ("response time", "s")}

    def __post_init__(self) -> None:
        """Freeze `stable` as well."""
        Result.__post_init__(self)
        stable = np.asarray(self.stable, dtype=bool).view()
        stable.flags.writeable = False
        object.__setattr__(self, "stable", stable)

    @property
    def response_time(self) -> Array:
        """Mean time from arrival to the end of service [s]: wait plus service."""
        return self.wait_time + self.service_time

    def wait_quantile(self, p: ArrayLike) -> Array:
        """Wait that a share p of the requests does not exceed.

        Parameters
        ----------
        p : array_like
            Share of the requests, inside (0, 1); broadcasts against the result.

        Returns
        -------
        ndarray
            Wait [s]; 0 where at least that share does not wait, inf where saturated.

        Raises
        ------
        InputError
            p outside (0, 1), an unknown distribution of the wait, or more than 5,000,000 places to wait.
        """
        return self._quantile(p, "wait_quantile", own_service=False)

    def response_quantile(self, p: ArrayLike) -> Array:
        """Time within which a share p of the requests is answered.

        Parameters
        ----------
        p : array_like
            Share of the requests, inside (0, 1); broadcasts against the result.

        Returns
        -------
        ndarray
            Response time [s]; inf where saturated.

        Raises
        ------
        InputError
            p outside (0, 1), an unknown distribution of the response, or more than 5,000,000 places to wait.
        """
        return self._quantile(p, "response_quantile", own_service=True)

    def _quantile(self, p: ArrayLike, name: str, *, own_service: bool) -> Array:
        share = checks.broadcast(p=checks.probability("p", p), result=self.wait_time)[0]
        found = self.delays.quantile(share, own_service=own_service) if self.delays else None
        if found is None:
            known = "a model with a known distribution: mmc, mmck, finite_source with scv 1 and no gap, mgc by 'exact'"
            raise InputError(name, "mean values only", known)
        return found


def steady_of(sums: Array, servers: Array, delays: DelayDistribution | None = None) -> Steady:
    """Make a stable station from its sums: throughput, in service, waiting, in gap, delay, service time, (6, ...)."""
    throughput, busy, waiting, in_gap, delay, service = sums
    return Steady(
        throughput=throughput,
        utilization=busy / servers,
        delay_probability=delay,
        queue_length=waiting,
        in_gap=in_gap,
        in_service=busy,
        wait_time=waiting / throughput,
        service_time=service,
        stable=np.ones(servers.shape, dtype=bool),
        delays=delays,
    )


@checks.documented
def mmc(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    *,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> Steady:
    """Steady state of M/M/c.

    Lq = C rho / (1 - rho), W = C S / (c (1 - rho)) with rho = lambda S / c and Erlang's C. With inflation the total
    rate of m requests in service is m / (S (1 + inflation (m - 1))); a gap follows a service only if a request waits.

    Returns
    -------
    Steady
        In the broadcast shape; where the load is not below the capacity, `stable` is False, waits and queues are
        infinite and the throughput is the capacity, that of servers that are never idle.

    Raises
    ------
    InputError
        An argument outside its domain, or a gap with too many servers for its chain.

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
    rate, s, c, i, g = checks.arguments(
        arrival_rate=arrival_rate, service_time=service_time, servers=servers, inflation=inflation,
        redrive_time=redrive_time,
    )  # fmt: skip
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
    found = dict(zip(OPEN, values.reshape(7, *shape), strict=True))
    delay, wait, service = (found[name] for name in ("delay_probability", "wait_time", "service_time"))
    delays = None if gapped else ExponentialDelay(delay=delay, wait=wait, service=service, plain=not inflated)
    return Steady(**found, in_gap=in_gap.reshape(shape), stable=np.isfinite(wait), delays=delays)


OPEN: Final = (
    "throughput", "in_service", "utilization", "delay_probability", "queue_length", "wait_time", "service_time",
)  # fmt: skip


def _plain(rate: Array, s: Array, c: Array) -> Array:
    """The fields of `OPEN` for M/M/c, by blocks of scenarios that stay in the cache."""
    values, offered = np.empty((7, rate.size)), rate * s
    inverse = inverse_blocking(offered, c)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start in range(0, rate.size, checks.BLOCK):
            part = slice(start, start + checks.BLOCK)
            servers, service = c[part], s[part]
            busy = np.minimum(offered[part], servers)
            spare = servers - busy
            delay = servers / (spare * inverse[part] + busy)
            wait = delay / spare  # in service times
            values[:, part] = (
                np.minimum(rate[part], servers / service), busy, busy / servers, delay, wait * busy, wait * service,
                service,
            )  # fmt: skip
    return values


def _fields(sums: Array, c: Array, stable: Flags) -> Array:
    """Rows of `_plain` from the sums of a chain."""
    throughput, busy, queue, _, delay, service = sums
    wait = np.where(stable, queue / throughput, np.inf)
    return np.stack([throughput, busy, busy / c, delay, queue, wait, service])


@checks.documented
def finite_source(
    population: ArrayLike,
    think_time: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    *,
    scv: ArrayLike = 1.0,
    inflation: ArrayLike = 0.0,
    redrive_time: ArrayLike = 0.0,
) -> Steady:
    """Closed queue of `population` requesters at `servers` servers (M/M/c//N, machine repair).

    With n requesters at the station and m = min(n, c) of them in service,

        (N - n + 1) / Z * p(n - 1) = m / S(m) * p(n),    S(m) = S0 (1 + inflation (m - 1)),

    a product of positive terms. A redrive gap follows a service only if a request waits; it occupies the server, but
    its request still counts as waiting. With `scv` other than 1, service has phases (Erlang stages below 1, two
    balanced branches above). Their chain, with gaps, is solved exactly, up to 1,000 states per level, 200,000 in all.

    Parameters
    ----------
    scv : array_like, optional
        Squared coefficient of variation of service, above 0; 1 is exponential.

    Returns
    -------
    Steady
        In the broadcast shape of the arguments; `delay_probability` is seen by an arrival (N - 1 others).

    Raises
    ------
    InputError
        An argument outside its domain, or a chain with phases or gaps that is too large.

    References
    ----------
    Kleinrock, Queueing Systems vol. 1 (1975), section 3.8; the load-dependent form is Jackson (1963); the chains
    are solved as in Gaver, Jacobs and Latouche (1984), section 3.

    Examples
    --------
    >>> steady = finite_source(3, 0.2e-3, 1.3e-3, [1, 2, 3])
    >>> steady.throughput.round(0).tolist()
    [769.0, 1509.0, 2000.0]
    """
    n, z, s, c, cv, i, g = checks.arguments(
        population=population, think_time=think_time, service_time=service_time, servers=servers, scv=scv,
        inflation=inflation, redrive_time=redrive_time,
    )  # fmt: skip
    shape = n.shape
    # a shorter redrive gap has no effect in float64
    g = np.where(g < 1e-30 * s, 0.0, g)
    flat = [a.ravel() for a in (n, z, s, c, cv, i, g)]
    n, z, s, c, cv, i, g = flat
    # Where nobody waits, neither gaps nor more than the mean of the service matter.
    phased = (n > c) & ((cv != 1) | (g > 0)) if (cv != 1).any() or g.any() else None
    inflated = bool(i.any())
    if phased is None:
        sums = closed_product_form(n, z, s, c, i if inflated else None)
    else:
        sums = np.empty((6, n.size))
        sums[:, phased] = closed_in_phases(*(a[phased] for a in flat))
        if not phased.all():
            sums[:, ~phased] = closed_product_form(*(a[~phased] for a in (n, z, s, c, i)))
    sums, servers = sums.reshape(6, *shape), c.reshape(shape)
    if phased is not None:
        return steady_of(sums, servers)
    # The distribution keeps copies: the caller's arrays may change.
    n, z, s, i = (a.reshape(shape) for a in (n, z, s, i))
    busy = np.minimum(n, servers)
    with np.errstate(over="ignore"):  # extreme times may overflow although no quantile is needed
        stage_rate = busy / (s * (1 + i * (busy - 1)) if inflated else s)
        load = z * stage_rate
    delays = StagedDelay(
        room=n - busy,
        stage_rate=stage_rate,
        service=sums[5],
        load=load,
        delay=sums[4],
        finite=True,
        plain=not inflated,
    )
    return steady_of(sums, servers, delays)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LimitedSteady(Steady):
    """Steady state of a station with limited room; waits and delays are those of the admitted requests.

    `blocking_probability` is the share of arrivals that find the room full and are lost.
    """

    blocking_probability: Array = quantity("blocking probability")


@checks.documented
def mmck(
    arrival_rate: ArrayLike, service_time: ArrayLike, servers: ArrayLike, capacity: ArrayLike
) -> LimitedSteady:
    """Steady state of M/M/c/K.

    p(n) / p(c) = c! / n! a^(n - c) for n <= c and rho^(n - c) for c <= n <= K, with a = lambda S, rho = a / c. An
    admitted request waits if it finds c or more.

    Parameters
    ----------
    arrival_rate : array_like
        Arrivals lambda, including lost ones [1/s]; 0 is allowed.

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
    rate, s, c, k = checks.arguments(
        arrival_rate=arrival_rate, service_time=service_time, servers=servers, capacity=capacity
    )
    if (k < c).any():
        raise InputError("capacity", float(k[k < c].flat[0]), "at least as many places as servers")
    s = s.copy()  # the result keeps a copy: the caller's array may change
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
        delays=StagedDelay(
            room=k - c, stage_rate=c / s, service=s, load=rate * s / c, delay=delay, finite=False, plain=True
        ),
        blocking_probability=full / total,
    )


def _weights(load: Array, c: Array, room: Array) -> tuple[Array, Array, Array, Array]:
    """Sums of p(n) over n < c and over c <= n < K, of (n - c) p(n), and p(K), in units of the largest of them.

    States from c on are relative to p(c) if they fall, to p(K) if they rise: powers of a ratio sigma <= 1.
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
    # Without load all states are below c, and the difference would be inf - inf.
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
    """Sigma^exponent; the power 0 is 1 even without load."""
    with np.errstate(invalid="ignore"):
        return np.where(exponent > 0, np.exp(-slope * exponent), 1.0)
