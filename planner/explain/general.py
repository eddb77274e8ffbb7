"""Topic of service times of any spread: M/G/c by the law that the numerical code answers with, and a cruder one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import sympy
from sympy import (
    Eq,
    Float,
    I,
    LambertW,
    Piecewise,
    Sum,
    Symbol,
    binomial,
    ceiling,
    exp,
    gamma,
    loggamma,
    oo,
    pi,
    sqrt,
)

from planner import queueing
from planner.errors import InputError
from planner.explain import delay
from planner.explain.topic import Equation, Exact, Topic
from planner.quantity import Quantity
from planner.queueing.general_service import BEST_ABOVE, BEST_BELOW, COMPARED_SCV, KNOWN_ERRORS

CRUDER: Final = "allen_cunneen"
LEAST_SPREAD: Final = sympy.Rational(1, 1000)  # one stage of service for each thousandth is evaluated exactly
ROUGH: Final = 0.1  # an error that is told without decimals

a, c, S, rho = delay.a, delay.c, delay.service, delay.rho
spread = Symbol("v", nonnegative=True)
stages, power = Symbol("K", positive=True, integer=True), Symbol("alpha", positive=True)
root, branch = Symbol("k", positive=True, integer=True), Symbol("j", nonnegative=True, integer=True)
exponential, roots, waiting, regular, short, moment, skew, least, share = sympy.symbols(
    "W_M r L_D W_D p m s g beta"
)
wait, crude, queue, response = sympy.symbols("W W_AC L_q R")

EXPONENTIAL: Final = Equation(
    exponential,
    Piecewise((delay.delay * S / (c - a), a < c), (oo, True)),
    "wait time if service were exponential",
    "s",
)
REGULAR: Final = (
    Equation(roots, Sum(1 / (1 + LambertW(-rho * exp(-rho) * exp(2 * pi * I * root / c)) / rho), (root, 1, c - 1)),
        "sum over the roots of constant service (Lambert's function)", digits=True),
    Equation(waiting, roots + a / (2 * (c - a)) - a / 2 - (c - 1) / 2, "queue length if service were constant",
        digits=True),
    Equation(regular, waiting / delay.arrivals, "wait time if service were constant", "s"),
)  # fmt: skip
# E S^alpha of an Erlang law of K - 1 or K stages, for a mean of one; exact for constant and for exponential service.
TAKAHASHI: Final = (
    Equation(stages, ceiling(1 / spread), "stages of a service, or one fewer"),
    Equation(short, (stages * spread - sqrt(stages * (1 + spread) - stages**2 * spread)) / (1 + spread),
        "share of the services with one fewer"),
    Equation(power, Eq(sympy.log(exponential / regular), loggamma(1 + power) / (power - 1), evaluate=False),
        "the power with which constant service is exact", bracket=(Float("1e-9"), Float(3))),
    Equation(moment, (
            short * gamma(stages - 1 + power) / gamma(stages - 1)
            + (1 - short) * gamma(stages + power) / gamma(stages)
        )
        / (stages - short) ** power, "mean of that power of a service, over that of its mean", digits=True),
    Equation(wait, exponential * (moment / gamma(1 + power)) ** (1 / (power - 1)), "wait time (Takahashi 1977)", "s"),
)  # fmt: skip
BOXMA_COHEN_HUFFELS: Final = (
    Equation(skew, sqrt((spread - 1) / (spread + 1)), "how far short and long services are apart"),
    Equation(
        least,
        Sum(binomial(c, branch) / (c + skew * (2 * branch - c)), (branch, 0, c)) / 2**c,
        "least of what is left of c services, over the service time",
        digits=True,
    ),
    Equation(share, ((1 + spread) / least - c - 1) / (c - 1), "weight of the wait with constant service"),
    Equation(
        wait,
        (1 + spread) * regular * exponential / (2 * share * regular + (1 - share) * exponential),
        "wait time (Boxma, Cohen and Huffels 1979)",
        "s",
    ),
)


def law(exact: Exact) -> tuple[Equation, ...]:
    """Steps from the wait with exponential service to the wait, those that the numerical code takes."""
    scv, servers, load = exact["scv"], exact["servers"], exact["arrival_rate"] * exact["service_time"]
    if servers == 1 or scv == 1 or not 0 < load < servers:
        meaning = "wait time (Pollaczek and Khinchine)" if servers == 1 else "wait time"
        return (Equation(wait, exponential * (1 + spread) / 2, meaning, "s"),)
    if 0 < scv < LEAST_SPREAD:
        raise InputError(
            "scv",
            float(scv),
            f"0, or at least {float(LEAST_SPREAD):g}: less is constant service all but in name",
        )
    if scv == 0:
        return *REGULAR, Equation(wait, regular, "wait time", "s")
    return *REGULAR, *(TAKAHASHI if scv < 1 else BOXMA_COHEN_HUFFELS)


def _equations(exact: Exact) -> tuple[Equation, ...]:
    return (
        *delay.mmc_equations(exact)[:4],
        EXPONENTIAL,
        *law(exact),
        Equation(queue, delay.arrivals * wait, "queue length, by Little's law"),
        Equation(response, wait + S, "response time", "s"),
        Equation(
            crude,
            exponential * (1 + spread) / 2,
            "wait time by the cruder rule of Allen and Cunneen, to compare",
            "s",
        ),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    rate, service, servers = (values[key] for key in ("arrival_rate", "service_time", "servers"))
    steady = queueing.mgc(rate, service, servers, values["scv"])
    return {
        "W_M": float(queueing.mmc(rate, service, servers).wait_time),
        "W_D": float(queueing.mgc(rate, service, servers, 0.0).wait_time),
        "W": float(steady.wait_time),
        "L_q": float(steady.queue_length),
        "R": float(steady.response_time),
        "W_AC": float(queueing.mgc(rate, service, servers, values["scv"], method=CRUDER).wait_time),
    }


def _worst(method: str, *columns: int) -> str:
    """What is known of the error of a closed form."""
    errors = ((KNOWN_ERRORS[method][k], COMPARED_SCV[k]) for k in columns)
    return ", ".join(f"{error:.{0 if error >= ROUGH else 1}%} to scv {scv:g}" for error, scv in errors)


MGC = Topic(
    name="mgc",
    title="M/G/c: service of any spread",
    inputs=(
        *delay.MMC.inputs[:2],
        # constant service has a root for each, which are summed up to many digits
        Quantity("servers", "servers", symbol=c, whole=True, low=1, high=30, default="2"),
        Quantity("scv", "variance of service over its mean squared", symbol=spread, low=0, default="0.5"),
    ),
    equations=_equations,
    answer=wait,
    numerical=_numerical,
    assumptions=(
        "Poisson arrivals; one queue for all servers",
        "scv 0 is constant service, 1 exponential, above 1 a mix of short and long",
        "exact for one server, for scv 0 and for scv 1",
        f"below scv 1 the law of Takahashi; its worst error seen: {_worst(BEST_BELOW, 0)}",
        f"above scv 1 that of Boxma, Cohen and Huffels; its worst errors seen: {_worst(BEST_ABOVE, 1, 2, 3)}",
        f"the rule of Allen and Cunneen was off by up to {_worst(CRUDER, 0, 1, 2, 3)}",
        "two moments do not fix the wait of several servers: mixed Erlang or balanced means are assumed",
    ),
    over="arrival_rate",
    beside="servers",
    source="Crommelin (1932); Takahashi (1977); Boxma, Cohen and Huffels, Operations Research 27 (1979); compared by "
    "Tijms, Stochastic Models (1994), section 4.3",
)  # fmt: skip
