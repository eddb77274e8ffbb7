"""Topic of the alias pool, small enough that its Markov chain is solved in symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import sympy
from sympy import Symbol
from sympy.polys.matrices import DomainMatrix

from planner import queueing
from planner.errors import InputError
from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

MOST_STATES: Final = 25

volumes = Symbol("V", positive=True, integer=True)
aliases = Symbol("A", nonnegative=True, integer=True)
population = Symbol("N", positive=True, integer=True)
think = Symbol("Z", positive=True)
service = Symbol("S", positive=True)
load, total, served, waiting = sympy.symbols("r G P Q")
busy, queue, throughput, wait, response = sympy.symbols("B L_q X W R")

# A volume is (base busy, I/Os on aliases, I/Os queued); equal volumes are exchangeable, so a pool is sorted.
Volume = tuple[int, int, int]
State = tuple[Volume, ...]


def moves(state: State, pool_aliases: int, requesters: int) -> Iterator[tuple[State, Any]]:
    """List the ways out of a state with their rates in units of 1/S, as functions of r = S/Z."""
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


def stationary(pool_volumes: int, pool_aliases: int, requesters: int) -> dict[State, Any]:
    """Solve the balance equations in symbols."""
    start: State = ((0, 0, 0),) * pool_volumes
    index = {start: 0}
    rates: dict[tuple[State, State], Any] = {}
    for state in (found := [start]):
        for target, rate in moves(state, pool_aliases, requesters):
            if target not in index:
                index[target] = len(index)
                found.append(target)
            rates[state, target] = rates.get((state, target), 0) + rate
        if len(found) > MOST_STATES:
            raise InputError(
                "volumes, population", (pool_volumes, requesters), f"a pool of at most {MOST_STATES} states"
            )
    balance = sympy.zeros(len(found))
    for (source, target), rate in rates.items():
        balance[index[target], index[source]] += rate
        balance[index[source], index[source]] -= rate
    weights = DomainMatrix.from_Matrix(balance).to_field().nullspace().to_Matrix()
    return dict(zip(found, weights, strict=True))


def _equations(exact: Exact) -> tuple[Equation, ...]:
    return _steps(*(int(exact[key]) for key in ("volumes", "aliases", "population")))


@cache
def _steps(pool_volumes: int, pool_aliases: int, requesters: int) -> tuple[Equation, ...]:
    weights = stationary(pool_volumes, pool_aliases, requesters)
    all_weights = sum(weights.values())
    in_service = sum(
        weight * sum(base + held for base, held, _ in state) for state, weight in weights.items()
    )
    queued = sum(weight * sum(queued for _, _, queued in state) for state, weight in weights.items())
    # One common factor is taken out of all three polynomials.
    common = sympy.gcd_list([sympy.numer(sympy.together(each)) for each in (all_weights, in_service, queued)])
    scale = (
        sympy.lcm_list([sympy.denom(sympy.together(each)) for each in (all_weights, in_service, queued)])
        / common
    )
    polynomials = [sympy.expand(sympy.cancel(each * scale)) for each in (all_weights, in_service, queued)]
    return (
        Equation(load, service / think, "service over think time"),
        Equation(total, polynomials[0], f"sum of the weights of {len(weights)} states"),
        Equation(served, polynomials[1], "the same, each weight times the I/Os in service"),
        Equation(waiting, polynomials[2], "the same, each weight times the I/Os that wait"),
        Equation(busy, served / total, "I/Os in service"),
        Equation(queue, waiting / total, "queue length"),
        Equation(throughput, busy / service, "I/O rate of the pool", "1/s"),
        Equation(wait, queue / throughput, "wait time, by Little's law", "s"),
        Equation(response, wait + service, "response time", "s"),
    )


def _states(exact: Exact) -> tuple[str, ...]:
    """Every state: of each volume whether its base is busy, its I/Os on aliases, its I/Os queued."""
    found = stationary(*(int(exact[key]) for key in ("volumes", "aliases", "population")))
    shown = [" ".join("".join(map(str, volume)) for volume in state) for state in found]
    return (
        "of each volume three digits: base busy, I/Os on aliases, I/Os queued; equal volumes are exchangeable",
        "; ".join(shown),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    pool = queueing.alias_pool(
        int(values["aliases"]),
        volumes=int(values["volumes"]),
        population=int(values["population"]),
        think_time=values["think_time"],
        service_time=values["service_time"],
        method="exact",
    )
    return {
        "B": float((pool.base_in_service + pool.alias_in_service) @ pool.volumes),
        "L_q": float(pool.pool_queue_length),
        "X": float(pool.pool_throughput),
        "W": float(pool.wait_time[0]),
        "R": float(pool.response_time[0]),
    }


ALIAS_POOL = Topic(
    name="alias-pool",
    title="Volumes that share aliases (HyperPAV), small enough to be solved in symbols",
    inputs=(
        Quantity("volumes", "volumes", symbol=volumes, whole=True, low=1, high=6, default="2"),
        Quantity("aliases", "aliases", symbol=aliases, whole=True, low=0, high=MOST, default="1"),
        Quantity("population", "requesters", symbol=population, whole=True, low=1, high=8, default="2"),
        Quantity("think_time", "between two I/Os", "s", symbol=think, low=TINY, default="0.2ms"),
        Quantity("service_time", "service time", "s", symbol=service, low=TINY, default="1.3ms"),
    ),
    equations=_equations,
    answer=throughput,
    numerical=_numerical,
    assumptions=(
        "an I/O whose base is idle is served by it; else by a free alias; else it waits at its volume",
        "a base that ends takes the next I/O of its own queue; an alias takes any waiting I/O of the pool",
        "exponential service and think time, equal volumes, no inflation, no redrive gap",
        "larger pools, unequal volumes, inflation and gaps: planner aliases, solved numerically",
    ),
    over="aliases",
    beside="volumes",
    states=_states,
    source="overflow systems: Wilkinson (1956); the chain is lumped by the exchangeability of equal volumes",
)  # fmt: skip
