"""Topic of scaling: the Universal Scalability Law."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Piecewise, Symbol, oo, sqrt

from planner import queueing
from planner.explain.topic import TINY, Equation, Exact, Topic
from planner.quantity import Quantity

n = Symbol("n", positive=True)
gamma = Symbol("gamma", positive=True)
alpha = Symbol("alpha", nonnegative=True)
beta = Symbol("beta", nonnegative=True)
throughput, share, peak = sympy.symbols("X E n_max")


def _equations(exact: Exact) -> tuple[Equation, ...]:
    return (
        Equation(throughput, gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1)), "throughput", "1/s"),
        Equation(share, throughput / (gamma * n), "share of what n that never wait would do"),
        Equation(
            peak,
            Piecewise((sqrt((1 - alpha) / beta), beta > 0), (oo, True)),
            "concurrency beyond which throughput falls",
        ),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    rate = float(queueing.usl(values["n"], values["gamma"], values["alpha"], values["beta"]))
    return {"X": rate, "E": rate / (values["gamma"] * values["n"])}


USL = Topic(
    name="usl",
    title="The Universal Scalability Law: throughput over concurrency",
    inputs=(
        Quantity("n", "processors or requesters", symbol=n, low=1, default="12"),
        Quantity("gamma", "throughput of one", "1/s", symbol=gamma, low=TINY, default="53/s"),
        Quantity("alpha", "contention: serial share", symbol=alpha, low=0, default="0.01"),
        Quantity("beta", "coherency of each pair", symbol=beta, low=0, default="0.0005"),
    ),
    equations=_equations,
    answer=throughput,
    numerical=_numerical,
    assumptions=(
        "gamma, alpha and beta are fitted to measurements, see queueing.fit_usl",
        "alpha above zero and beta zero is Amdahl's law: throughput never exceeds gamma/alpha",
        "both zero: linear scaling",
        "three parameters and few points: a fit says little outside its measurements",
    ),
    over="n",
    source="Gunther, Guerrilla Capacity Planning (2007), eq. 4.31; Amdahl (1967)",
)
