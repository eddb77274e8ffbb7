"""Topic of the closed queue: a fixed number of requesters that think, wait and are served (M/M/c//N)."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Eq, Function, Max, Min, Piecewise, Sum, Symbol

from planner import queueing
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

population = Symbol("N", positive=True, integer=True)
think = Symbol("Z", positive=True)
service = Symbol("S", positive=True)
c = Symbol("c", positive=True, integer=True)
growth = Symbol("i", nonnegative=True)
n = Symbol("n", nonnegative=True, integer=True)
weight = Function("w")
total, throughput, busy, queue, wait, response = sympy.symbols("G X B L_q W R")


def _rate(present: sympy.Expr) -> sympy.Expr:
    """Rate at which requests leave with n of them at the station."""
    served = Min(present, c)
    return served / (service * (1 + growth * (served - 1)))


def _equations(exact: Exact) -> tuple[Equation, ...]:
    states = (n, 0, population)
    return (
        Equation(
            weight(n),
            Piecewise((1, Eq(n, 0)), (weight(n - 1) * (population - n + 1) / (think * _rate(n)), True)),
            "weight of n requests at the station",
            index=states,
        ),
        Equation(total, Sum(weight(n), states), "sum of the weights"),
        Equation(throughput, Sum(weight(n) * _rate(n), (n, 1, population)) / total, "throughput", "1/s"),
        Equation(busy, Sum(weight(n) * Min(n, c), states) / total, "requests in service"),
        Equation(queue, Sum(weight(n) * Max(n - c, 0), states) / total, "queue length"),
        Equation(wait, queue / throughput, "wait time, by Little's law", "s"),
        Equation(response, population / throughput - think, "response time", "s"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    steady = queueing.finite_source(
        values["population"],
        values["think_time"],
        values["service_time"],
        values["servers"],
        inflation=values["inflation"],
    )
    return {
        "X": float(steady.throughput),
        "B": float(steady.in_service),
        "L_q": float(steady.queue_length),
        "W": float(steady.wait_time),
        "R": float(steady.response_time),
    }


FINITE_SOURCE = Topic(
    name="finite-source",
    title="M/M/c//N: a few requesters, each with one request outstanding",
    inputs=(
        Quantity("population", "requesters", symbol=population, whole=True, low=1, high=40, default="3"),
        Quantity("think_time", "between two requests", "s", symbol=think, low=TINY, default="0.2ms"),
        Quantity("service_time", "service of one alone", "s", symbol=service, low=TINY, default="1.3ms"),
        Quantity("servers", "servers: base and aliases", symbol=c, whole=True, low=1, high=MOST, default="1"),
        Quantity("inflation", "growth of service with each more in service", symbol=growth, low=0, default="0"),
    ),
    equations=_equations,
    answer=throughput,
    numerical=_numerical,
    assumptions=(
        "N requesters, each waits for its answer before it thinks again",
        "think time of any law: only its mean counts; exponential service",
        "service grows linearly with the requests in service at the same volume",
        "no redrive gap; with one the numerical code solves a chain of levels",
    ),
    over="population",
    beside="servers",
    source="Kleinrock, Queueing Systems vol. 1 (1975), section 3.8; load-dependent service: Jackson (1963)",
)  # fmt: skip
