"""Topics of open queues: Erlang's delay formula, M/M/c, and M/G/c by the formulas of the numerical code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import sympy
from sympy import Eq, Piecewise, Sum, Symbol, binomial, exp, factorial, gamma, loggamma, oo, pi, sqrt

from planner import queueing
from planner.errors import InputError
from planner.explain.topic import MOST, PRECISION, TINY, Equation, Exact, Topic, by_code
from planner.quantity import Quantity
from planner.queueing.general_service import BEST_ABOVE, BEST_BELOW, COMPARED_SCV, KNOWN_ERRORS

a, arrivals = sympy.symbols("a lambda", nonnegative=True)
service = Symbol("S", positive=True)
c = Symbol("c", positive=True, integer=True)
k = Symbol("k", nonnegative=True, integer=True)
rho, blocking, delay, wait, queue, response = sympy.symbols("rho B C W L_q R")

SERVERS = Quantity("servers", "servers", symbol=c, whole=True, low=1, high=MOST, default="2")
UTILIZATION = Equation(rho, a / c, "load of one server")
BLOCKING = Equation(
    blocking,
    (a**c / factorial(c)) / Sum(a**k / factorial(k), (k, 0, c)),
    "probability that all servers are busy without waiting room (Erlang's B)",
)
DELAY = Equation(
    delay, Piecewise((blocking / (1 - rho * (1 - blocking)), rho < 1), (1, True)), "delay probability"
)
MMC_WAIT = Equation(wait, Piecewise((delay * service / (c - a), a < c), (oo, True)), "wait time", "s")
AFTER_WAIT = (
    Equation(queue, arrivals * wait, "queue length, by Little's law"),
    Equation(response, wait + service, "response time", "s"),
)


def _erlang_numerical(values: Mapping[str, float]) -> dict[str, float]:
    return {"B": float(queueing.erlang_b(**values)), "C": float(queueing.erlang_c(**values))}


def mmc_equations(exact: Exact) -> tuple[Equation, ...]:
    """Steps of M/M/c, the first four up to the delay probability."""
    return (
        Equation(a, arrivals * service, "offered load in erlang"),
        UTILIZATION,
        BLOCKING,
        DELAY,
        MMC_WAIT,
        *AFTER_WAIT,
    )


def _mmc_numerical(values: Mapping[str, float]) -> dict[str, float]:
    names = {"C": "delay_probability", "W": "wait_time", "L_q": "queue_length", "R": "response_time"}
    load = values["arrival_rate"] * values["service_time"]
    return {"B": float(queueing.erlang_b(load, values["servers"])), **by_code(queueing.mmc, **names)(values)}


ERLANG_C = Topic(
    name="erlang-c",
    title="Erlang's delay formula: how likely is it that a request waits",
    inputs=(Quantity("offered_load", "offered load in erlang", symbol=a, low=0, default="0.98"), SERVERS),
    equations=lambda exact: (UTILIZATION, BLOCKING, DELAY),
    answer=delay,
    numerical=_erlang_numerical,
    assumptions=(
        "Poisson arrivals from many independent requesters",
        "exponential service, the same on every server",
        "one queue for all servers, no request gives up",
        "offered load below the servers; otherwise every request waits",
    ),
    over="offered_load",
    beside="servers",
    source="Erlang (1917); Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8",
)

MMC = Topic(
    name="mmc",
    title="M/M/c: Poisson arrivals at a group of servers",
    inputs=(
        Quantity("arrival_rate", "arrival rate", "1/s", symbol=arrivals, default="755/s"),
        Quantity("service_time", "service time", "s", symbol=service, low=TINY, default="1.3ms"),
        SERVERS,
    ),
    equations=mmc_equations,
    answer=wait,
    numerical=_mmc_numerical,
    assumptions=(
        *ERLANG_C.assumptions,
        "a benchmark volume is no such queue: it has few requesters, see finite-source",
    ),
    over="arrival_rate",
    beside="servers",
    source="Kleinrock, Queueing Systems vol. 1 (1975), section 3.5",
)


CRUDER: Final = "allen_cunneen"
LEAST_SPREAD: Final = sympy.Rational(1, 1000)  # at most 1000 stages of service are evaluated exactly
# Load of a server; the wait is a power of it, so that a smaller load needs too many digits.
LEAST_LOAD: Final = sympy.Rational(1, 10**20)
ROUGH: Final = 0.1  # an error from which on decimals are omitted

spread = Symbol("v", nonnegative=True)
stages, power = Symbol("K", positive=True, integer=True), Symbol("alpha", positive=True)
root, branch = Symbol("k", positive=True, integer=True), Symbol("j", nonnegative=True, integer=True)
exponential, crude, roots, waiting, regular = sympy.symbols("W_M W_AC r L_D W_D")
short, moment, skew, least, share = sympy.symbols("p m s g beta")

EXPONENTIAL: Final = replace(MMC_WAIT, left=exponential, meaning="wait time if service were exponential")
REGULAR: Final = (
    Equation(roots,
        Sum(1 / (1 + sympy.LambertW(-rho * exp(-rho) * exp(2 * pi * sympy.I * root / c)) / rho), (root, 1, c - 1)),
        "sum over the roots of constant service (Lambert's function)", digits=PRECISION),
    Equation(waiting, roots + a / (2 * (c - a)) - a / 2 - (c - 1) / 2, "queue length if service were constant",
        digits=PRECISION),
    Equation(regular, waiting / arrivals, "wait time if service were constant", "s"),
)  # fmt: skip
# E S^alpha of an Erlang mixture of K - 1 and K stages with mean one; exact for constant and exponential service.
TAKAHASHI: Final = (
    Equation(stages, sympy.ceiling(1 / spread), "stages of a service, or one fewer"),
    Equation(short, (stages * spread - sqrt(stages * (1 + spread) - stages**2 * spread)) / (1 + spread),
        "share of the services with one fewer"),
    Equation(power, Eq(sympy.log(exponential / regular), loggamma(1 + power) / (power - 1), evaluate=False),
        "the power with which constant service is exact", bracket=(sympy.Float("1e-9"), sympy.Float(3))),
    Equation(moment, (
            short * gamma(stages - 1 + power) / gamma(stages - 1)
            + (1 - short) * gamma(stages + power) / gamma(stages)
        )
        / (stages - short) ** power, "mean of that power of a service, over that of its mean", digits=PRECISION),
    Equation(wait, exponential * (moment / gamma(1 + power)) ** (1 / (power - 1)), "wait time (Takahashi 1977)", "s"),
)  # fmt: skip
BOXMA_COHEN_HUFFELS: Final = (
    Equation(skew, sqrt((spread - 1) / (spread + 1)), "difference of short and long services"),
    Equation(
        least,
        Sum(binomial(c, branch) / (c + skew * (2 * branch - c)), (branch, 0, c)) / 2**c,
        "mean minimum of c residual service times, over the service time",
        digits=PRECISION,
    ),
    Equation(share, ((1 + spread) / least - c - 1) / (c - 1), "weight of the wait with constant service"),
    Equation(
        wait,
        (1 + spread) * regular * exponential / (2 * share * regular + (1 - share) * exponential),
        "wait time (Boxma, Cohen and Huffels 1979)",
        "s",
    ),
)


def wait_steps(exact: Exact) -> tuple[Equation, ...]:
    """Steps from the wait with exponential service to the wait, as in the numerical code."""
    scv, servers, load = exact["scv"], exact["servers"], exact["arrival_rate"] * exact["service_time"]
    if servers == 1 or scv == 1 or not 0 < load < servers:
        meaning = "wait time (Pollaczek and Khinchine)" if servers == 1 else "wait time"
        return (Equation(wait, exponential * (1 + spread) / 2, meaning, "s"),)
    if load < LEAST_LOAD * servers:
        wanted = f"0, or a load of at least {float(LEAST_LOAD):g} per server: less is practically no load"
        raise InputError("arrival_rate", float(exact["arrival_rate"]), wanted, "1/s")
    if 0 < scv < LEAST_SPREAD:
        wanted = f"0, or at least {float(LEAST_SPREAD):g}: less is practically constant service"
        raise InputError("scv", float(scv), wanted)
    if scv == 0:
        return *REGULAR, Equation(wait, regular, "wait time", "s")
    return *REGULAR, *(TAKAHASHI if scv < 1 else BOXMA_COHEN_HUFFELS)


def _mgc_equations(exact: Exact) -> tuple[Equation, ...]:
    return (
        *mmc_equations(exact)[:4],
        EXPONENTIAL,
        *wait_steps(exact),
        *AFTER_WAIT,
        Equation(
            crude,
            exponential * (1 + spread) / 2,
            "wait time by the cruder rule of Allen and Cunneen, for comparison",
            "s",
        ),
    )


def _mgc_numerical(values: Mapping[str, float]) -> dict[str, float]:
    exponential, constant, crude = (
        by_code(partial(queueing.mgc, **more), W="wait_time")({**values, "scv": scv})["W"]
        for scv, more in ((1.0, {}), (0.0, {}), (values["scv"], {"method": CRUDER}))
    )  # fmt: skip
    found = by_code(queueing.mgc, W="wait_time", L_q="queue_length", R="response_time")(values)
    return {"W_M": exponential, "W_D": constant, **found, "W_AC": crude}


def _worst(method: str, *columns: int) -> str:
    """Largest known errors of a closed form, in words."""
    errors = ((KNOWN_ERRORS[method][k], COMPARED_SCV[k]) for k in columns)
    return ", ".join(f"{error:.{0 if error >= ROUGH else 1}%} to scv {scv:g}" for error, scv in errors)


MGC = Topic(
    name="mgc",
    title="M/G/c: service times of any variance",
    inputs=(
        *MMC.inputs[:2],
        # constant service has one root per server, summed to many digits
        Quantity("servers", "servers", symbol=c, whole=True, low=1, high=30, default="2"),
        Quantity("scv", "variance of service over its mean squared", symbol=spread, low=0, default="0.5"),
    ),
    equations=_mgc_equations,
    answer=wait,
    numerical=_mgc_numerical,
    assumptions=(
        "Poisson arrivals; one queue for all servers",
        "scv 0 is constant service, 1 exponential, above 1 a mix of short and long",
        "exact for one server, for scv 0 and for scv 1",
        f"below scv 1, the formula of Takahashi; its largest known error: {_worst(BEST_BELOW, 0)}",
        f"above scv 1, that of Boxma, Cohen and Huffels; its largest known errors: {_worst(BEST_ABOVE, 1, 2, 3)}",
        f"largest known errors of the rule of Allen and Cunneen: {_worst(CRUDER, 0, 1, 2, 3)}",
        "two moments do not determine the wait of several servers: mixed Erlang or balanced means are assumed",
    ),
    over="arrival_rate",
    beside="servers",
    source="Crommelin (1932); Takahashi (1977); Boxma, Cohen and Huffels, Operations Research 27 (1979); compared by "
    "Tijms, Stochastic Models (1994), section 4.3",
)  # fmt: skip
