"""Topics of open queues with exponential service: Erlang's delay formula and M/M/c."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Piecewise, Sum, Symbol, factorial, oo

from planner import queueing
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

a = Symbol("a", nonnegative=True)
arrivals = Symbol("lambda", nonnegative=True)
service = Symbol("S", positive=True)
c = Symbol("c", positive=True, integer=True)
k = Symbol("k", nonnegative=True, integer=True)
rho, blocking, delay, wait, queue, response = sympy.symbols("rho B C W L_q R")

SERVERS = Quantity(key="servers", symbol=c, whole=True, low=1, high=MOST, default="2", meaning="servers")
UTILIZATION = Equation(left=rho, right=a / c, meaning="load of one server")
BLOCKING = Equation(
    left=blocking,
    right=(a**c / factorial(c)) / Sum(a**k / factorial(k), (k, 0, c)),
    meaning="probability that all servers were busy if nobody could wait (Erlang's B)",
)
DELAY = Equation(
    left=delay,
    right=Piecewise((blocking / (1 - rho * (1 - blocking)), rho < 1), (1, True)),
    meaning="delay probability",
)


def _erlang_c(exact: Exact) -> tuple[Equation, ...]:
    return (UTILIZATION, BLOCKING, DELAY)


def _erlang_c_numerical(values: Mapping[str, float]) -> dict[str, float]:
    load, servers = values["offered_load"], values["servers"]
    return {"B": float(queueing.erlang_b(load, servers)), "C": float(queueing.erlang_c(load, servers))}


def mmc_equations(exact: Exact) -> tuple[Equation, ...]:
    """Steps of M/M/c, the first four up to the delay probability."""
    return (
        Equation(left=a, right=arrivals * service, meaning="offered load in erlang"),
        UTILIZATION,
        BLOCKING,
        DELAY,
        Equation(
            left=wait,
            right=Piecewise((delay * service / (c - a), a < c), (oo, True)),
            meaning="wait time",
            unit="s",
        ),
        Equation(left=queue, right=arrivals * wait, meaning="queue length, by Little's law"),
        Equation(left=response, right=wait + service, meaning="response time", unit="s"),
    )


def _mmc_numerical(values: Mapping[str, float]) -> dict[str, float]:
    steady = queueing.mmc(values["arrival_rate"], values["service_time"], values["servers"])
    load = values["arrival_rate"] * values["service_time"]
    return {
        "B": float(queueing.erlang_b(load, values["servers"])),
        "C": float(steady.delay_probability),
        "W": float(steady.wait_time),
        "L_q": float(steady.queue_length),
        "R": float(steady.response_time),
    }


ERLANG_C_TOPIC = Topic(
    name="erlang-c",
    title="Erlang's delay formula: how likely is it that a request waits",
    inputs=(
        Quantity(
            key="offered_load",
            symbol=a,
            low=0,
            default="0.98",
            meaning="offered load in erlang",
        ),
        SERVERS,
    ),
    equations=_erlang_c,
    answer=delay,
    numerical=_erlang_c_numerical,
    assumptions=(
        "Poisson arrivals from many independent requesters",
        "exponential service, the same on every server",
        "one queue for all servers, nobody gives up",
        "offered load below the servers; at or above it everybody waits",
    ),
    over="offered_load",
    beside="servers",
    source="Erlang (1917); Cooper, Introduction to Queueing Theory (1981), eq. 3.4.8",
)

MMC = Topic(
    name="mmc",
    title="M/M/c: Poisson arrivals at a group of servers",
    inputs=(
        Quantity(
            key="arrival_rate",
            symbol=arrivals,
            unit="1/s",
            default="755/s",
            meaning="arrival rate",
        ),
        Quantity(
            key="service_time", symbol=service, unit="s", low=TINY, default="1.3ms", meaning="service time"
        ),
        SERVERS,
    ),
    equations=mmc_equations,
    answer=wait,
    numerical=_mmc_numerical,
    assumptions=(
        *ERLANG_C_TOPIC.assumptions,
        "a benchmark volume is not such a queue: it has few requesters, see finite-source",
    ),
    over="arrival_rate",
    beside="servers",
    source="Kleinrock, Queueing Systems vol. 1 (1975), section 3.5",
)
