"""Topic of bursty volumes: geometric batches at Poisson instants, the reading that most others lie below."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Eq, Function, Max, Piecewise, Sum, Symbol

from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

rate = Symbol("lambda", positive=True)
service = Symbol("S", positive=True)
batch = Symbol("m", positive=True)
c = Symbol("c", positive=True, integer=True)
growth = Symbol("h", nonnegative=True)
n = Symbol("n", nonnegative=True, integer=True)
pace, weight = Function("mu"), Function("p")
instants, stay, most, ratio, over, excess, total, queue, wait = sympy.symbols("a q mu_c theta T E G L_q W")


def _rate(present: sympy.Expr) -> sympy.Expr:
    """Rate at which I/Os end with so many of them at the volume, none of them waiting."""
    return present / (service * (1 + growth * Max(present - 1, 0)))


def _equations(exact: Exact) -> tuple[Equation, ...]:
    below = (n, 0, c)
    return (
        Equation(instants, rate / batch, "batches", "1/s"),
        Equation(stay, 1 - 1 / batch, "chance that one more comes with an I/O"),
        Equation(pace(n), _rate(n), "rate at which n I/Os end", "1/s", index=below),
        Equation(
            weight(n),
            Piecewise((1, Eq(n, 0)), (weight(n - 1) * (stay * pace(n - 1) + instants) / pace(n), True)),
            "weight of n I/Os at the volume",
            index=below,
        ),
        Equation(most, _rate(c), "rate with all devices busy", "1/s"),
        Equation(ratio, stay + instants / most, "ratio of weights above c"),
        Equation(over, weight(c) * ratio / (1 - ratio), "weight above c"),
        Equation(excess, over / (1 - ratio), "I/Os waiting, times the weights"),
        Equation(total, Sum(weight(n), below) + over, "sum of the weights"),
        Equation(queue, excess / total, "queue length"),
        Equation(wait, queue / rate, "wait time, by Little's law", "s"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    import numpy as np

    from planner.demand import chains

    devices = int(values["servers"])
    station = chains.DeviceStation(most=devices, inflation=values["inflation"], gap=np.zeros(1))
    load = np.array([values["arrival_rate"] * values["service_time"]])
    found = chains.batches(station, load, np.array([values["batch"]]), np.ones(1))
    queued = float(found.queue[devices - 1, 0])
    return {"L_q": queued, "W": queued / values["arrival_rate"]}


BURSTS = Topic(
    name="bursts",
    title="Bursty volumes: I/Os that come in batches",
    inputs=(
        Quantity("arrival_rate", "I/Os", "1/s", symbol=rate, low=TINY, default="100/s"),
        Quantity("service_time", "service of one alone", "s", symbol=service, low=TINY, default="1ms"),
        Quantity("batch", "mean I/Os that come together", symbol=batch, low=1, default="4"),
        Quantity("servers", "base and aliases", symbol=c, whole=True, low=1, high=MOST, default="1"),
        Quantity("inflation", "growth of service with each more in service", symbol=growth, low=0, default="0"),
    ),
    equations=_equations,
    answer=wait,
    numerical=_numerical,
    assumptions=(
        "batches of geometric size come at Poisson instants; exponential service",
        "service grows linearly with the I/Os in service at the same volume; no redrive gap",
        "one row fixes the size of the batches only if the form of the bursts is known: the same wait may come of "
        "requesters active a share of the time, of phases of overload, or of groups at regular times",
    ),
    over="arrival_rate",
    beside="servers",
    source="bulk input: Kleinrock, Queueing Systems vol. 1 (1975), section 4.5; Gross and Harris (1985), section 3.1",
)  # fmt: skip
