"""M/D/c exactly: queue length and delay probability, mean service 1.

At most half a unit of exponent per server group: the roots of z^c = exp(lambda (z - 1)) inside the unit circle,
z_k = -W(-rho w_k e^-rho) / rho with Lambert's W and the c-th roots of one w_k (Crommelin 1932; Franx 2001),

    Lq = lambda / (2 (c - lambda)) - lambda / 2 - (c - 1) / 2 + sum Re 1 / (1 - z_k),
    P(no delay) = (c - lambda) / product (1 - z_k).

They cancel at light load. There the random walk of arrivals less departures gives series of positive terms
(Spitzer 1956): Lq = sum over m of E[(N_m - m c)^+] / m and -ln P(no delay) = sum P(N_m >= m c) / m with N_m
Poisson of mean m lambda, whose terms fall like exp(-m c (rho - 1 - ln rho)).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import gammainc, gammaln, lambertw, xlogy

from planner.errors import InputError
from planner.queueing._erlang import FEW, log_poisson
from planner.results import Array

SERIES_FROM: Final = 0.5  # exponent c (rho - 1 - ln rho) of the first term: e^-0.5 a term or better
NEGLIGIBLE: Final = 42.0  # exponent beyond which a term is nothing beside the first
BATCH: Final = 500_000  # numbers held side by side
MOST_TERMS: Final = 1_000_000  # roots, or terms of a series, of one scenario


def deterministic(load: Array, servers: Array) -> tuple[Array, Array]:
    """Queue length and delay probability of stable scenarios, 0 < load < servers, in flat arrays."""
    queue, delay = np.empty_like(load), np.empty_like(load)
    rho = load / servers
    exponent = servers * (rho - 1 - np.log(rho))
    for chosen, size, solve in (
        (exponent >= SERIES_FROM, 1 + np.ceil(NEGLIGIBLE / np.maximum(exponent, SERIES_FROM)), _by_series),
        (exponent < SERIES_FROM, np.floor(servers / 2), _by_roots),
    ):
        index = np.flatnonzero(chosen)
        if index.size and float(size[index].max()) > MOST_TERMS:
            told = f"at most {2 * MOST_TERMS} with constant service near saturation"
            raise InputError("servers", float(servers[index].max()), told)
        order = index[np.argsort(size[index], kind="stable")]
        start = 0
        while start < order.size:
            # The sizes rise: as many scenarios as the largest of them lets into a batch, at least one.
            ahead = order[start : start + max(1, int(BATCH // max(size[order[start]], 1)))]
            fits = np.arange(1, ahead.size + 1) * size[ahead] <= 2 * BATCH
            part = ahead[: max(1, int(fits.sum()))]
            queue[part], delay[part] = solve(load[part], servers[part], int(size[part].max()))
            start += part.size
    return queue, delay


def _by_roots(load: Array, servers: Array, pairs: int) -> tuple[Array, Array]:
    rho = load / servers
    k = np.arange(1, pairs + 1)
    c = servers[:, None]
    # Roots come in conjugate pairs k and c - k; k = c / 2 stands alone, k above c / 2 belongs to nobody.
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
