"""Closed forms for the mean wait of M/G/c from that of M/M/c and M/D/c, each under the name of its author.

All take waits in units of the service time, flat arrays, stable scenarios with at least two servers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import gammaincc, gammaln, poch

from planner.queueing._phase_type import mixed_erlang
from planner.queueing._roots import increasing_root
from planner.results import Array

NODES: Final = np.arange(-4.6, 8.6, 0.15)  # of the double exponential rule for half a line
NEAR_ONE: Final = 1e-6  # distance of an exponent from 1, where the formula divides by 0, that is kept


def allen_cunneen(exponential: Array, scv: Array) -> Array:
    """W = (1 + scv)/2 W_M: Lee and Longton (1959), as Allen (1990) popularized it."""
    return (1 + scv) / 2 * exponential


def cosmetatos_1975(exponential: Array, scv: Array, load: Array, servers: Array) -> Array:
    """W = scv W_M + (1 - scv) W_D with his explicit M/D/c wait; the mixture is of 1976."""
    light: Array = (1 - load / servers) * (servers - 1) * (np.sqrt(4 + 5 * servers) - 2) / (16 * load)
    return scv * exponential + (1 - scv) * exponential / 2 * (1 + light)


def kimura_1986(exponential: Array, deterministic: Array, scv: Array) -> Array:
    """W = (1 + scv) / ((1 - scv)/W_D + 2 scv/W_M)."""
    return (1 + scv) / ((1 - scv) / deterministic + 2 * scv / exponential)


def boxma_cohen_huffels_1979(exponential: Array, deterministic: Array, scv: Array, servers: Array) -> Array:
    """W = (1 + scv) W_D W_M / (2 alpha W_D + (1 - alpha) W_M).

    alpha = ((1 + scv) / gamma - c - 1) / (c - 1), gamma the mean of the least of c residual services.
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
    alpha = np.where(np.abs(alpha - 1) < NEAR_ONE, 1 + NEAR_ONE, alpha)
    return np.exp((_log_moment(alpha, scv) - gammaln(1 + alpha)) / (alpha - 1)) * exponential


def _log_moment(alpha: Array, scv: Array) -> Array:
    """Ln E S^alpha of the two-moment law with mean 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
        branches = first * (2 * first) ** -alpha + (1 - first) * (2 - 2 * first) ** -alpha
        above = gammaln(1 + alpha) + np.log(branches)
    stages, short, rate = mixed_erlang(np.minimum(scv, 1.0))
    shorter = np.maximum(stages - 1, 1)
    below = np.log(short * poch(shorter, alpha) + (1 - short) * poch(stages, alpha))
    below = below - alpha * np.log(rate)
    return np.where(scv > 1, above, below)


def least_residual(scv: Array, servers: Array) -> Array:
    """Mean of the least of c residual services (mean service 1): integral of (1 - G_e)^c, by a trapezoid rule.

    t = exp(v - exp(-v)) / c turns the half line into one on which the integrand falls doubly exponentially. G_e is
    the law of what is left of a service that is seen under way.
    """
    time = np.exp(NODES - np.exp(-NODES))
    weight = time * (1 + np.exp(-NODES)) * (NODES[1] - NODES[0])
    result = np.empty_like(scv)
    for chosen, tail in ((scv > 1, _residual_branches), (scv <= 1, _residual_stages)):
        v, c = scv[chosen, None], servers[chosen, None]
        result[chosen] = (tail(time / c, v) ** c) @ weight / servers[chosen]
    return result


def _residual_branches(time: Array, scv: Array) -> Array:
    skew: Array = np.sqrt((scv - 1) / (scv + 1))
    return (np.exp(-time * (1 + skew)) + np.exp(-time * (1 - skew))) / 2


def _residual_stages(time: Array, scv: Array) -> Array:
    stages, short, rate = mixed_erlang(scv)
    x = time * rate
    return (short * _integrated_tail(x, stages - 1) + (1 - short) * _integrated_tail(x, stages)) / rate


def _integrated_tail(x: Array, stages: Array) -> Array:
    """Integral from x of the tail of an Erlang law with unit rate; zero stages take no time."""
    some = np.maximum(stages, 1)
    fewer = np.where(stages > 1, gammaincc(np.maximum(stages - 1, 1), x), 0.0)
    return np.where(stages > 0, np.maximum(stages * gammaincc(some, x) - x * fewer, 0.0), 0.0)
