"""Topic of service times of any spread: M/G/c by its simplest closed form."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Piecewise, Symbol, oo

from planner import queueing
from planner.explain import delay
from planner.explain.topic import Equation, Exact, Input, Topic
from planner.queueing.general_service import COMPARED_SCV, KNOWN_ERRORS

METHOD = "allen_cunneen"
spread = Symbol("v", nonnegative=True)
exponential, wait, queue, response = sympy.symbols("W_M W L_q R")


def _equations(exact: Exact) -> tuple[Equation, ...]:
    waits = delay.delay * delay.service / (delay.c - delay.a)
    return (
        *delay.mmc_equations(exact)[:4],
        Equation(
            left=exponential,
            right=Piecewise((waits, delay.a < delay.c), (oo, True)),
            meaning="wait time if service were exponential",
            unit="s",
        ),
        Equation(left=wait, right=exponential * (1 + spread) / 2, meaning="wait time", unit="s"),
        Equation(left=queue, right=delay.arrivals * wait, meaning="queue length, by Little's law"),
        Equation(left=response, right=wait + delay.service, meaning="response time", unit="s"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    steady = queueing.mgc(
        values["arrival_rate"], values["service_time"], values["servers"], values["scv"], method=METHOD
    )
    return {
        "W": float(steady.wait_time),
        "L_q": float(steady.queue_length),
        "R": float(steady.response_time),
    }


def _worst() -> str:
    """What is known of the error of the closed form."""
    errors = (
        f"{error:.0%} to scv {scv:g}" for scv, error in zip(COMPARED_SCV, KNOWN_ERRORS[METHOD], strict=True)
    )
    return ", ".join(errors)


MGC = Topic(
    name="mgc",
    title="M/G/c: service of any spread, by the rule of Allen and Cunneen",
    inputs=(
        *delay.MMC.inputs,
        Input(
            key="scv", symbol=spread, dimension="number", default="0.5", least=0,
            meaning="variance of service over its mean squared",
        ),
    ),
    equations=_equations,
    answer=wait,
    numerical=_numerical,
    assumptions=(
        "Poisson arrivals; one queue for all servers",
        "scv 0 is constant service, 1 exponential, above 1 a mix of short and long",
        "exact for one server (Pollaczek and Khinchine) and for scv 1",
        f"else a rule: its worst errors seen are {_worst()}",
        "queueing.mgc by itself takes a closer law, or the exact one",
        "two moments do not fix the wait of several servers: balanced means are assumed",
    ),
    source="Lee and Longton (1959); compared by Tijms, Stochastic Models (1994), section 4.3",
)  # fmt: skip
