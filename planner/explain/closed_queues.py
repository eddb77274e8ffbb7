"""Topics of closed queues: a few requesters at one station (M/M/c//N), and a few volumes that share aliases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import sympy
from sympy import Eq, Function, Max, Min, Piecewise, Sum, Symbol
from sympy.polys.matrices import DomainMatrix

from planner import queueing
from planner.errors import InputError
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic, by_code
from planner.quantity import Quantity

population, c = sympy.symbols("N c", positive=True, integer=True)
think, service = sympy.symbols("Z S", positive=True)
growth = Symbol("i", nonnegative=True)
n = Symbol("n", nonnegative=True, integer=True)
weight = Function("w")
total, throughput, busy, queue, wait, response = sympy.symbols("G X B L_q W R")


def _rate(present: sympy.Expr) -> sympy.Expr:
    """Rate at which requests leave with `present` requests at the station."""
    served = Min(present, c)
    return served / (service * (1 + growth * (served - 1)))


def _source_equations(exact: Exact) -> tuple[Equation, ...]:
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


FINITE_SOURCE = Topic(
    name="finite-source",
    title="M/M/c//N: a few requesters, each with one request outstanding",
    inputs=(
        Quantity("population", "requesters", symbol=population, whole=True, low=1, high=40, default="3"),
        Quantity("think_time", "between two requests", "s", symbol=think, low=TINY, default="0.2ms"),
        Quantity("service_time", "service time of a request alone", "s", symbol=service, low=TINY, default="1.3ms"),
        Quantity("servers", "servers: base and aliases", symbol=c, whole=True, low=1, high=MOST, default="1"),
        Quantity("inflation", "growth of service with each further one in service", symbol=growth, low=0, default="0"),
    ),
    equations=_source_equations,
    answer=throughput,
    numerical=by_code(queueing.finite_source, X="throughput", B="in_service", L_q="queue_length", W="wait_time",
                      R="response_time"),
    assumptions=(
        "N requesters, each waits for its answer before it thinks again",
        "think time of any distribution: only its mean counts; exponential service",
        "service grows linearly with the requests in service at the same volume",
        "no redrive gap; with one the numerical code solves a chain of levels",
    ),
    over="population",
    beside="servers",
    source="Kleinrock, Queueing Systems vol. 1 (1975), section 3.8; load-dependent service: Jackson (1963)",
)  # fmt: skip


volumes = Symbol("V", positive=True, integer=True)
aliases = Symbol("A", nonnegative=True, integer=True)
load, served, waiting = sympy.symbols("r P Q")

# A volume is (base busy, I/Os on aliases, I/Os queued); equal volumes are exchangeable, so a pool is sorted.
Volume = tuple[int, int, int]
State = tuple[Volume, ...]


def moves(state: State, pool_aliases: int, requesters: int) -> Iterator[tuple[State, Any]]:
    """List the transitions out of a state with their rates in units of 1/S, as functions of r = S/Z."""
    free = pool_aliases - sum(on_aliases for _, on_aliases, _ in state)
    in_queue = sum(queued for _, _, queued in state)
    for i, (base, held, queued) in enumerate(state):
        thinking = requesters - base - held - queued
        if thinking:
            arrived = (
                (1, held, queued) if not base else (1, held + 1, queued) if free else (1, held, queued + 1)
            )
            yield _with(state, {i: arrived}), thinking * load
        if base:
            yield _with(state, {i: (1, held, queued - 1) if queued else (0, held, 0)}), sympy.Integer(1)
        if held and not in_queue:
            yield _with(state, {i: (base, held - 1, queued)}), sympy.Integer(held)
        for j, other in enumerate(state if held else ()):
            if other[2]:  # each waiting I/O of the pool is equally likely to be next on the alias
                taken = (other[0], other[1] + 1, other[2] - 1)
                after = {i: (base, held - 1, queued), j: taken} if i != j else {i: (base, held, queued - 1)}
                yield _with(state, after), sympy.Rational(held * other[2], in_queue)


def _with(state: State, changed: Mapping[int, Volume]) -> State:
    return tuple(sorted(changed.get(i, volume) for i, volume in enumerate(state)))


@cache
def stationary(pool_volumes: int, pool_aliases: int, requesters: int, most: int = 25) -> dict[State, Any]:
    """Solve the balance equations symbolically."""
    start: State = ((0, 0, 0),) * pool_volumes
    index = {start: 0}
    rates: dict[tuple[State, State], Any] = {}
    for state in (found := [start]):
        for target, rate in moves(state, pool_aliases, requesters):
            if target not in index:
                index[target] = len(index)
                found.append(target)
            rates[state, target] = rates.get((state, target), 0) + rate
        if len(found) > most:
            pool = pool_volumes, requesters
            raise InputError("volumes, population", pool, f"a pool of at most {most} states")
    balance = sympy.zeros(len(found))
    for (source, target), rate in rates.items():
        balance[index[target], index[source]] += rate
        balance[index[source], index[source]] -= rate
    weights = DomainMatrix.from_Matrix(balance).to_field().nullspace().to_Matrix()
    return dict(zip(found, weights, strict=True))


def _counts(exact: Exact) -> Iterator[int]:
    return (int(exact[key]) for key in ("volumes", "aliases", "population"))


@cache
def _steps(pool_volumes: int, pool_aliases: int, requesters: int) -> tuple[Equation, ...]:
    weights = stationary(pool_volumes, pool_aliases, requesters)
    sums = [
        sum(weights.values()),
        sum(weight * sum(base + held for base, held, _ in state) for state, weight in weights.items()),
        sum(weight * sum(queued for _, _, queued in state) for state, weight in weights.items()),
    ]
    # Divide all three polynomials by their common factor.
    over, under = zip(*(sympy.fraction(sympy.together(each)) for each in sums), strict=True)
    scale = sympy.lcm_list(under) / sympy.gcd_list(over)
    polynomials = [sympy.expand(sympy.cancel(each * scale)) for each in sums]
    return (
        Equation(load, service / think, "service over think time"),
        Equation(total, polynomials[0], f"sum of the weights of {len(weights)} states"),
        Equation(served, polynomials[1], "sum of the weights times the I/Os in service"),
        Equation(waiting, polynomials[2], "sum of the weights times the I/Os that wait"),
        Equation(busy, served / total, "I/Os in service"),
        Equation(queue, waiting / total, "queue length"),
        Equation(throughput, busy / service, "I/O rate of the pool", "1/s"),
        Equation(wait, queue / throughput, "wait time, by Little's law", "s"),
        Equation(response, wait + service, "response time", "s"),
    )


def _states(exact: Exact) -> tuple[str, ...]:
    """Every state: for each volume, base busy, I/Os on aliases, I/Os queued."""
    found = stationary(*_counts(exact))
    shown = [" ".join("".join(map(str, volume)) for volume in state) for state in found]
    return (
        "States, three digits per volume: base busy, I/Os on aliases, I/Os queued; equal volumes are exchangeable",
        "; ".join(shown),
    )


def _pool_numerical(values: Mapping[str, float]) -> dict[str, float]:
    solve = partial(queueing.alias_pool, method="exact")
    names = {"L_q": "pool_queue_length", "X": "pool_throughput", "W": "wait_time", "R": "response_time"}
    means = by_code(solve, **names)(values)
    return {"B": means["X"] * values["service_time"], **means}


ALIAS_POOL = Topic(
    name="alias-pool",
    title="Volumes that share aliases (HyperPAV), small enough to be solved symbolically",
    inputs=(
        Quantity("volumes", "volumes", symbol=volumes, whole=True, low=1, high=6, default="2"),
        Quantity("aliases", "aliases", symbol=aliases, whole=True, low=0, high=MOST, default="1"),
        Quantity("population", "requesters", symbol=population, whole=True, low=1, high=8, default="2"),
        Quantity("think_time", "between two I/Os", "s", symbol=think, low=TINY, default="0.2ms"),
        Quantity("service_time", "service time", "s", symbol=service, low=TINY, default="1.3ms"),
    ),
    equations=lambda exact: _steps(*_counts(exact)),
    answer=throughput,
    numerical=_pool_numerical,
    assumptions=(
        "an I/O whose base is idle is served by it; else by a free alias; else it waits at its volume",
        "a base that becomes free takes the next I/O of its own queue; an alias takes any waiting I/O of the pool",
        "exponential service and think time, equal volumes, no inflation, no redrive gap",
        "larger pools, unequal volumes, inflation and gaps: planner aliases, solved numerically",
    ),
    over="aliases",
    beside="volumes",
    states=_states,
    source="overflow systems: Wilkinson (1956); the chain is lumped by the exchangeability of equal volumes",
)  # fmt: skip
