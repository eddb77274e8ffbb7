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
            left=weight(n),
            right=Piecewise((1, Eq(n, 0)), (weight(n - 1) * (population - n + 1) / (think * _rate(n)), True)),
            meaning="weight of n requests at the station",
            index=states,
        ),
        Equation(left=total, right=Sum(weight(n), states), meaning="sum of the weights"),
        Equation(
            left=throughput,
            right=Sum(weight(n) * _rate(n), (n, 1, population)) / total,
            meaning="throughput",
            unit="1/s",
        ),
        Equation(left=busy, right=Sum(weight(n) * Min(n, c), states) / total, meaning="requests in service"),
        Equation(left=queue, right=Sum(weight(n) * Max(n - c, 0), states) / total, meaning="queue length"),
        Equation(left=wait, right=queue / throughput, meaning="wait time, by Little's law", unit="s"),
        Equation(left=response, right=population / throughput - think, meaning="response time", unit="s"),
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
        Quantity(key="population", symbol=population, whole=True, low=1, high=40, default="3", meaning="requesters"),
        Quantity(
            key="think_time", symbol=think, unit="s", low=TINY, default="0.2ms", meaning="between two requests"
        ),
        Quantity(
            key="service_time", symbol=service, unit="s", low=TINY, default="1.3ms",
            meaning="service of one alone",
        ),
        Quantity(
            key="servers", symbol=c, whole=True, low=1, high=MOST, default="1",
            meaning="servers: base and aliases",
        ),
        Quantity(
            key="inflation", symbol=growth, low=0, default="0",
            meaning="growth of service with each more in service",
        ),
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
