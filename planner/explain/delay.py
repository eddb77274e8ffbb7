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

SERVERS = Quantity("servers", "servers", symbol=c, whole=True, low=1, high=MOST, default="2")
UTILIZATION = Equation(rho, a / c, "load of one server")
BLOCKING = Equation(
    blocking,
    (a**c / factorial(c)) / Sum(a**k / factorial(k), (k, 0, c)),
    "probability that all servers were busy if nobody could wait (Erlang's B)",
)
DELAY = Equation(
    delay, Piecewise((blocking / (1 - rho * (1 - blocking)), rho < 1), (1, True)), "delay probability"
)


def _erlang_c(exact: Exact) -> tuple[Equation, ...]:
    return (UTILIZATION, BLOCKING, DELAY)


def _erlang_c_numerical(values: Mapping[str, float]) -> dict[str, float]:
    load, servers = values["offered_load"], values["servers"]
    return {"B": float(queueing.erlang_b(load, servers)), "C": float(queueing.erlang_c(load, servers))}


def mmc_equations(exact: Exact) -> tuple[Equation, ...]:
    """Steps of M/M/c, the first four up to the delay probability."""
    return (
        Equation(a, arrivals * service, "offered load in erlang"),
        UTILIZATION,
        BLOCKING,
        DELAY,
        Equation(wait, Piecewise((delay * service / (c - a), a < c), (oo, True)), "wait time", "s"),
        Equation(queue, arrivals * wait, "queue length, by Little's law"),
        Equation(response, wait + service, "response time", "s"),
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
    inputs=(Quantity("offered_load", "offered load in erlang", symbol=a, low=0, default="0.98"), SERVERS),
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
        Quantity("arrival_rate", "arrival rate", "1/s", symbol=arrivals, default="755/s"),
        Quantity("service_time", "service time", "s", symbol=service, low=TINY, default="1.3ms"),
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
