"""M/G/c: the mean wait by published closed forms and exactly, its distribution where it is known.

All functions take waits in units of the service time, flat arrays, stable scenarios with at least two servers.

M/D/c near saturation, c (rho - 1 - ln rho) up to .5: the roots of z^c = exp(lambda (z - 1)) inside the unit circle,
z_k = -W(-rho w_k e^-rho) / rho with Lambert's W and the c-th roots of one w_k (Crommelin 1932; Franx 2001),

    Lq = lambda / (2 (c - lambda)) - lambda / 2 - (c - 1) / 2 + sum Re 1 / (1 - z_k),
    P(no delay) = (c - lambda) / product (1 - z_k).

These formulas lose digits at light load. There the random walk of arrivals less departures gives series of positive
terms (Spitzer 1956): Lq = sum over m of E[(N_m - m c)^+] / m and -ln P(no delay) = sum P(N_m >= m c) / m with N_m
Poisson of mean m lambda; terms fall like exp(-m c (rho - 1 - ln rho)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc, gammaln, lambertw, poch, xlogy

from planner.errors import InputError
from planner.queueing import checks
from planner.queueing._delays import GeneralDelay, batches
from planner.queueing._phases import branch_shares, mixed_erlang, open_in_phases
from planner.queueing._roots import increasing_root
from planner.queueing.erlang import FEW, erlang_c, log_poisson
from planner.queueing.single_station import Steady
from planner.results import Array, quantity


def allen_cunneen(exponential: Array, scv: Array) -> Array:
    """W = (1 + scv)/2 W_M: Lee and Longton (1959), as Allen (1990) popularized it."""
    return (1 + scv) / 2 * exponential


def cosmetatos_1975(exponential: Array, scv: Array, load: Array, servers: Array) -> Array:
    """W = scv W_M + (1 - scv) W_D with Cosmetatos's explicit M/D/c wait; the mixture dates from 1976."""
    light: Array = (1 - load / servers) * (servers - 1) * (np.sqrt(4 + 5 * servers) - 2) / (16 * load)
    return scv * exponential + (1 - scv) * exponential / 2 * (1 + light)


def kimura_1986(exponential: Array, deterministic: Array, scv: Array) -> Array:
    """W = (1 + scv) / ((1 - scv)/W_D + 2 scv/W_M)."""
    return (1 + scv) / ((1 - scv) / deterministic + 2 * scv / exponential)


def boxma_cohen_huffels_1979(exponential: Array, deterministic: Array, scv: Array, servers: Array) -> Array:
    """W = (1 + scv) W_D W_M / (2 alpha W_D + (1 - alpha) W_M).

    alpha = ((1 + scv) / gamma - c - 1) / (c - 1), gamma the mean of the shortest of c residual services.
    """
    alpha = ((1 + scv) / least_residual(scv, servers) - servers - 1) / (servers - 1)
    return (1 + scv) * deterministic * exponential / (2 * alpha * deterministic + (1 - alpha) * exponential)


def takahashi_1977(exponential: Array, deterministic: Array, scv: Array) -> Array:
    """W = (E S^alpha / Gamma(1 + alpha))^(1 / (alpha - 1)) W_M, with the alpha that makes M/D/c exact."""
    wanted = np.log(exponential / deterministic)
    alpha = increasing_root(
        lambda a, goal: gammaln(1 + a) / (a - 1) - goal,
        np.full(scv.shape, 1e-9),
        np.full(scv.shape, 3.0),
        (wanted,),
    )
    near = 1e-6  # at 1 the formula divides by 0
    alpha = np.where(np.abs(alpha - 1) < near, 1 + near, alpha)
    return np.exp((_log_moment(alpha, scv) - gammaln(1 + alpha)) / (alpha - 1)) * exponential


def _log_moment(alpha: Array, scv: Array) -> Array:
    """Ln E S^alpha of the two-moment distribution with mean 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        branches = np.logaddexp(*((1 - alpha) * np.log(2 * share) for share in branch_shares(scv)))
        above: Array = gammaln(1 + alpha) + branches - np.log(2)
    stages, short, rate = mixed_erlang(np.minimum(scv, 1.0))
    shorter = np.maximum(stages - 1, 1)
    below = np.log(short * poch(shorter, alpha) + (1 - short) * poch(stages, alpha))
    below -= alpha * np.log(rate)
    return np.asarray(np.where(scv > 1, above, below))


def least_residual(scv: Array, servers: Array) -> Array:
    """Mean of the shortest of c residual services (mean service 1): integral of (1 - G_e)^c, by the trapezoidal rule.

    t = exp(v - exp(-v)) / c maps the half line to the line, where the integrand falls doubly exponentially. G_e is
    the distribution of the residual time of a service in progress; its range is that of the longer branch.
    """
    nodes = np.arange(-4.6, max(8.6, 4.1 + np.log1p(scv.max(initial=0.0))), 0.15)
    time = np.exp(nodes - np.exp(-nodes))
    weight = time * (1 + np.exp(-nodes)) * (nodes[1] - nodes[0])
    result = np.empty_like(scv)
    for chosen, tail in ((scv > 1, _residual_branches), (scv <= 1, _residual_stages)):
        v, c = scv[chosen, None], servers[chosen, None]
        result[chosen] = (tail(time / c, v) ** c) @ weight / servers[chosen]
    return result


def _residual_branches(time: Array, scv: Array) -> Array:
    first, second = branch_shares(scv)
    return np.asarray(np.exp(-2 * first * time) + np.exp(-2 * second * time)) / 2


def _residual_stages(time: Array, scv: Array) -> Array:
    stages, short, rate = mixed_erlang(scv)
    x = time * rate
    return (short * _integrated_tail(x, stages - 1) + (1 - short) * _integrated_tail(x, stages)) / rate


def _integrated_tail(x: Array, stages: Array) -> Array:
    """Integral from x of the tail of an Erlang distribution with unit rate; zero stages take no time."""
    some = np.maximum(stages, 1)
    fewer = np.where(stages > 1, gammaincc(np.maximum(stages - 1, 1), x), 0.0)
    return np.where(stages > 0, np.maximum(stages * gammaincc(some, x) - x * fewer, 0.0), 0.0)


def deterministic(load: Array, servers: Array, most: int = 1_000_000) -> tuple[Array, Array]:
    """Queue length and delay probability of stable M/D/c, 0 < load < servers, with at most `most` terms or roots."""
    queue, delay = np.empty_like(load), np.empty_like(load)
    rho = load / servers
    exponent = servers * (rho - 1 - np.log(rho))
    # With this exponent each term falls by e^-0.5 or more; below e^-42 terms are negligible.
    fast = 0.5
    short = exponent >= fast
    for chosen, size, solve in (
        (short, 1 + np.ceil(42.0 / np.maximum(exponent, fast)), _by_series),
        (~short, np.floor(servers / 2), _by_roots),
    ):
        index = np.flatnonzero(chosen)
        if index.size and float(size[index].max()) > most:
            wanted = f"at most {2 * most} with constant service near saturation"
            raise InputError("servers", float(servers[index].max()), wanted)
        for batch in batches(size[index]):
            part = index[batch]
            queue[part], delay[part] = solve(load[part], servers[part], int(size[part].max()))
    return queue, delay


def _by_roots(load: Array, servers: Array, pairs: int) -> tuple[Array, Array]:
    rho = load / servers
    k = np.arange(1, pairs + 1)
    c = servers[:, None]
    # Roots come in conjugate pairs k and c - k; k = c / 2 has no partner, k above c / 2 is padding.
    weight = np.where(2 * k < c, 2.0, np.where(2 * k == c, 1.0, 0.0))
    unit = np.exp(2j * np.pi * k / c)
    gap = 1 + lambertw(-(rho * np.exp(-rho))[:, None] * unit) / rho[:, None]  # 1 - z_k
    inverse = (weight * (1 / gap).real).sum(1)
    queue = load / (2 * (servers - load)) - load / 2 - (servers - 1) / 2 + inverse
    no_delay = (servers - load) * np.exp(-(weight * np.log(np.abs(gap))).sum(1))
    return queue, 1 - no_delay


def _by_series(load: Array, servers: Array, terms: int) -> tuple[Array, Array]:
    m = np.arange(1, terms + 1)
    mean, k = load[:, None] * m, servers[:, None] * m
    few = np.minimum(k, FEW)
    at = np.where(k > FEW, log_poisson(np.maximum(k, FEW), mean), xlogy(few, mean) - mean - gammaln(few + 1))
    equal, above = np.exp(at), gammainc(k + 1, mean)
    excess = mean * equal - (k - mean) * above  # E (N - k)^+
    queue = (np.maximum(excess, 0) / m).sum(1)
    return queue, -np.expm1(-((equal + above) / m).sum(1))


Names = NDArray[np.str_]

# Every closed form takes W_M, W_D (or ones), scv, load and servers; waits in units of the service time.
CLOSED_FORMS: Final[dict[str, tuple[bool, Callable[..., Array]]]] = {
    "allen_cunneen": (False, lambda m, d, v, a, c: allen_cunneen(m, v)),
    "cosmetatos_1975": (False, lambda m, d, v, a, c: cosmetatos_1975(m, v, a, c)),
    "kimura_1986": (True, lambda m, d, v, a, c: kimura_1986(m, d, v)),
    "boxma_cohen_huffels_1979": (True, lambda m, d, v, a, c: boxma_cohen_huffels_1979(m, d, v, c)),
    "takahashi_1977": (True, lambda m, d, v, a, c: takahashi_1977(m, d, v)),
}
METHODS: Final = ("auto", "exact", *CLOSED_FORMS)
# The most accurate closed forms on either side of scv 1, where both are exact, so that there is no jump.
BEST_BELOW, BEST_ABOVE = "takahashi_1977", "boxma_cohen_huffels_1979"

# Largest observed relative error of the wait for scv up to 1, 2, 4 and 10, against "exact" for 2 to 16 servers,
# utilization .3 to .99 and scv from .25; other regions were not compared.
COMPARED_SCV: Final = (1.0, 2.0, 4.0, 10.0)
LEAST_COMPARED_SCV: Final = 0.25
MOST_COMPARED_SERVERS: Final = 16
KNOWN_ERRORS: Final[dict[str, tuple[float, ...]]] = {
    "exact": (0.0, 0.0, 0.0, 0.0),
    "allen_cunneen": (0.27, 0.41, 1.17, 3.32),
    "cosmetatos_1975": (0.14,),  # refused above scv 1
    "kimura_1986": (0.053, 0.019, 0.081, 0.325),
    "boxma_cohen_huffels_1979": (0.031, 0.019, 0.044, 0.235),
    "takahashi_1977": (0.024, 0.033, 0.076, 0.135),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneralSteady(Steady):
    """Steady state of M/G/c, with the method behind each element.

    `known_error` is the largest observed relative error of `wait_time` in this region: 0 where exact, NaN where no
    comparison was made; `method` is "exact" or the name of the closed form.
    """

    known_error: Array = quantity("known error")
    method: Names


@checks.documented
def mgc(
    arrival_rate: ArrayLike, service_time: ArrayLike, servers: ArrayLike, scv: ArrayLike, method: str = "auto"
) -> GeneralSteady:
    """Steady state of M/G/c, with the two-moment distribution of service for `scv`.

    "exact" is M/D/c by its roots for scv 0, Pollaczek and Khinchine for one server, M/M/c for scv 1, and else the
    matrix-geometric solution of M/PH/c. "auto" takes the exact solution where that is a closed form or a series (scv 0,
    scv 1, one server), else `takahashi_1977` for scv below 1 and `boxma_cohen_huffels_1979` above. Two moments do not
    determine M/G/c: with two or more servers, distributions of equal mean and scv differ by tens of percent.

    Parameters
    ----------
    scv : array_like
        Squared coefficient of variation of service: deterministic at 0, Erlang-k at 1/k, mixed Erlang below 1,
        hyperexponential with balanced means above 1.
    method : str, optional
        "auto", "exact", "allen_cunneen", "cosmetatos_1975", "kimura_1986", "boxma_cohen_huffels_1979" or
        "takahashi_1977".

    Returns
    -------
    GeneralSteady
        In the broadcast shape; the closed forms give Erlang's C as delay probability. Where the load is not below the
        servers, `stable` is False and waits are infinite.

    Raises
    ------
    InputError
        An argument outside its domain, an unknown method, "exact" with too many phases for the chain, or
        constant service with more than 2,000,000 servers near saturation.

    References
    ----------
    Crommelin (1932); Pollaczek (1930); Neuts, Matrix-Geometric Solutions (1981), chapter 3; Boxma, Cohen and
    Huffels, Operations Research 27 (1979); Takahashi (1977); Kimura, Operations Research 34 (1986); Cosmetatos,
    INFOR 13 (1975); Tijms, Stochastic Models (1994), section 4.3, compares them.

    Examples
    --------
    >>> steady = mgc(1.6, 1.0, 2, [0, 0.5, 1, 2])
    >>> steady.wait_time.round(3).tolist()
    [0.903, 1.34, 1.778, 2.633]
    >>> steady.method.tolist()[:2]
    ['exact', 'takahashi_1977']
    """
    InputError.unless_one_of("method", method, METHODS)
    rate, s, c, v = checks.arguments(
        arrival_rate=arrival_rate, service_time=service_time, servers=servers, scv=scv
    )
    if method == "cosmetatos_1975" and (v > 1).any():
        raise InputError(
            "scv", float(v.max()), "at most 1 for cosmetatos_1975, whose waits turn negative above"
        )
    load = rate * s
    wait, delay, name = normalized_wait(load.ravel(), c.ravel(), v.ravel(), method)
    wait, delay, name = wait.reshape(load.shape), delay.reshape(load.shape), name.reshape(load.shape)
    stable, busy = load < c, np.minimum(load, c)
    delays = None
    if (name == "exact").all():
        delays = GeneralDelay(load=load, servers=c.copy(), scv=v.copy(), service=s.copy())
    return GeneralSteady(
        throughput=np.minimum(rate, c / s),
        utilization=busy / c,
        delay_probability=delay,
        queue_length=np.where(stable, wait * load, np.inf),
        in_gap=np.zeros_like(load),
        in_service=busy,
        wait_time=wait * s,
        service_time=s.copy(),
        known_error=known_error(name, load / c, c, v),
        stable=stable,
        method=name,
        delays=delays,
    )


def normalized_wait(
    load: Array, servers: Array, scv: Array, method: str = "auto"
) -> tuple[Array, Array, Names]:
    """Wait in units of the service time, delay probability and method, for checked flat arrays."""
    stable = (load < servers) & (load > 0)
    wait = np.where(load < servers, 0.0, np.inf)
    delay = np.where(load < servers, 0.0, 1.0)
    simple = (scv == 0) | (scv == 1) | (servers == 1)
    exact = np.ones(load.shape, dtype=bool) if method == "exact" else simple & (method == "auto")
    closed = np.where(scv < 1, BEST_BELOW, BEST_ABOVE) if method == "auto" else np.full(scv.shape, method)
    name = np.where(exact, "exact", closed)
    solvers = [(exact & simple, _simple), (exact & ~simple, _matrix_geometric)]
    solvers += [(name == form, partial(_closed, method=form)) for form in CLOSED_FORMS]
    for chosen, solve in solvers:
        index = np.flatnonzero(stable & chosen)
        if index.size:
            wait[index], delay[index] = solve(load[index], servers[index], scv[index])
    return wait, delay, name


def _simple(load: Array, c: Array, scv: Array) -> tuple[Array, Array]:
    """M/M/c, M/D/c and, by Pollaczek and Khinchine, M/G/1."""
    delay = erlang_c(load, c)
    wait = delay / (c - load) * np.where(c == 1, (1 + scv) / 2, 1.0)
    index = np.flatnonzero((scv == 0) & (c > 1))
    if index.size:
        queue, delay[index] = deterministic(load[index], c[index])
        wait[index] = queue / load[index]
    return wait, delay


def _matrix_geometric(load: Array, c: Array, scv: Array) -> tuple[Array, Array]:
    wait, delay = np.empty_like(load), np.empty_like(load)
    for part, _, solution in open_in_phases(load, np.ones_like(load), c, scv):
        throughput, _, waiting, _, delay[part], _ = solution.sums
        wait[part] = waiting / throughput
    return wait, delay


def _closed(load: Array, c: Array, scv: Array, method: str) -> tuple[Array, Array]:
    """Wait and delay by a closed form; for one server, by Pollaczek and Khinchine."""
    delay = erlang_c(load, c)
    exponential = delay / (c - load)
    needs, form = CLOSED_FORMS[method]
    wait = exponential * (1 + scv) / 2
    least = 1e-280  # in service times; below that W_D underflows and the forms have no digits
    several = np.flatnonzero((c > 1) & (exponential > least))
    regular = np.ones(several.size)
    if needs:
        regular = deterministic(load[several], c[several])[0] / load[several]
        fixed = scv[several] == 0  # there the form is exactly W_D
        wait[several[fixed]] = regular[fixed]
        usable = ~fixed & (regular > least)
        regular = regular[usable]
        several = np.asarray(several[usable])
    if several.size:
        wait[several] = form(exponential[several], regular, scv[several], load[several], c[several])
    return wait, delay


def known_error(name: Names, utilization: Array, servers: Array, scv: Array) -> Array:
    """Largest observed error relative to the exact solution, from `KNOWN_ERRORS`."""
    low, high = (0.3, 0.99)
    compared = (servers <= MOST_COMPARED_SERVERS) & (utilization >= low) & (utilization <= high)
    compared &= (scv >= LEAST_COMPARED_SCV) & (scv <= COMPARED_SCV[-1])
    column = np.searchsorted(COMPARED_SCV, np.minimum(scv, COMPARED_SCV[-1]))
    error = np.full(utilization.shape, np.nan)
    for method, errors in KNOWN_ERRORS.items():
        error = np.where(name == method, np.take(errors, column, mode="clip"), error)
    return np.where(compared | (name == "exact"), error, np.nan)
